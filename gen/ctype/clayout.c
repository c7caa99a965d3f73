#include "ctype/clayout.h"

#include "base/map.h"
#include "ctype/cname.h"

/** clang refuses arrays much larger than this; no program has such a struct. */
#define MAX_SIZE (UINT64_C(1) << 31)
enum { MAX_DEPTH = 32, MAX_FIELDS = 1 << 16, MAX_NAMELESS = 1 << 12 };

static void add_remark(struct arena *a, struct clayout *l, const char *fmt, struct str name)
{
	struct strbuf b = {0};
	strbuf_add_printable(&b, name);
	strbuf_addf(&b, " %s", fmt);
	vec_push(a, &l->remarks, strbuf_take(&b, a));
}

static bool gather(struct arena *a, struct ctype *t, uint64_t at, unsigned level, bool for_bpftrace,
		   struct clayout *l)
{
	if (level > MAX_DEPTH)
		return false;
	struct str *names = cname_members(a, t, for_bpftrace);
	for (size_t i = 0; i < t->n_members; i++) {
		struct ctype_member *m = &t->members[i];
		struct ctype *in = ctype_strip(m->type);
		uint64_t size = 0;
		if (m->off > MAX_SIZE || l->fields.n > MAX_FIELDS)
			return false;
		if (m->is_base && in && ctype_is_aggregate(in) && ctype_complete(in)) {
			if (!gather(a, in, at + m->off * 8, level + 1, for_bpftrace, l))
				return false;
			continue;
		}
		struct clayout_field f = {
		    .name = names[i],
		    .own_name = m->name,
		    .type = m->type,
		    .bit_off = at + (m->bit_size ? m->bit_off : m->off * 8),
		    .is_bitfield = m->bit_size > 0,
		    .level = level,
		    .order = l->fields.n,
		    .is_empty =
			in && ctype_is_aggregate(in) && ctype_complete(in) && !in->n_members,
		};
		bool known = ctype_size(m->type, &size);
		if (size > MAX_SIZE)
			return false;
		f.bits = m->bit_size ? m->bit_size : size * 8;
		// An array without a length has no size; anything else without one is only declared.
		f.is_bytes =
		    !known && !(in && in->kind == CTYPE_ARRAY && ctype_size(in->of, &size));
		vec_push(a, &l->fields, f);
	}
	return true;
}

static int by_place(const void *x, const void *y)
{
	const struct clayout_field *a = x, *b = y;
	if (a->bit_off != b->bit_off)
		return a->bit_off < b->bit_off ? -1 : 1;
	// Members of no size first: they end where the next one begins.
	if (!a->bits != !b->bits)
		return a->bits ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/** What C sees of @f: its name, or the names inside of an anonymous struct or union. */
static void add_names(struct arena *a, const struct clayout_field *f, bool for_bpftrace,
		      struct map *ret, unsigned *left)
{
	struct ctype *in = ctype_strip(f->type);
	if (f->name.n)
		map_add(a, ret, f->name);
	if (f->name.n || !in || !ctype_is_aggregate(in) || f->level > MAX_DEPTH || !*left)
		return;
	--*left;
	struct str *names = cname_members(a, in, for_bpftrace);
	for (size_t i = 0; i < in->n_members; i++) {
		struct clayout_field inner = {
		    .name = names[i], .type = in->members[i].type, .level = f->level + 1};
		if (ctype_complete(in))
			add_names(a, &inner, for_bpftrace, ret, left);
	}
}

/**
 * Of two members with one name that of the derived class stays, then the first; an anonymous one
 * goes with any of its names. Members of empty classes hide others, too, and then go: their place
 * may be another one's.
 */
static bool drop_hidden(struct arena *a, struct clayout *l, bool for_bpftrace)
{
	struct map best = {0}, *names = arena_array(a, struct map, l->fields.n);
	bool is_needed = false;
	for (size_t i = 0; i < l->fields.n; i++)
		is_needed |= l->fields.v[i].level > 0 || l->fields.v[i].is_empty;
	if (!is_needed)
		return true;
	unsigned left = MAX_NAMELESS; // corrupt types contain each other many times over
	for (size_t i = 0; i < l->fields.n; i++) {
		struct clayout_field *f = &l->fields.v[i];
		add_names(a, f, for_bpftrace, &names[i], &left);
		for (struct map_entry *e = NULL; (e = map_next(&names[i], e));) {
			const struct clayout_field *o = map_get(&best, e->key);
			if (!o || f->level < o->level)
				map_put(a, &best, e->key, f);
		}
	}
	size_t n = 0;
	for (size_t i = 0; i < l->fields.n; i++) {
		struct clayout_field f = l->fields.v[i];
		struct str hidden = {0};
		for (struct map_entry *e = NULL; (e = map_next(&names[i], e));)
			if (map_get(&best, e->key) != &l->fields.v[i])
				hidden = e->key;
		if (hidden.n)
			add_remark(a, l, "of a base is hidden by another member: padding",
				   f.name.n ? f.own_name : hidden);
		else if (f.is_empty && f.name.n)
			add_remark(a, l, "is empty: omitted", f.own_name);
		else if (!f.is_empty)
			l->fields.v[n++] = f;
	}
	l->fields.n = n;
	return left > 0;
}

/** Where each member must end: at the next one, not counting those of no size at its own place. */
static uint64_t *find_ends(struct arena *a, const struct clayout *l)
{
	uint64_t *ends = arena_array(a, uint64_t, l->fields.n);
	for (size_t i = l->fields.n; i-- > 0;) {
		const struct clayout_field *f = &l->fields.v[i], *next = f + 1;
		if (i + 1 == l->fields.n)
			ends[i] = l->size * 8;
		else
			ends[i] =
			    next->bit_off > f->bit_off || next->bits ? next->bit_off : ends[i + 1];
	}
	return ends;
}

static bool refuse(const char **why, const char *reason)
{
	*why = reason;
	return false;
}

static bool settle_struct(struct arena *a, struct clayout *l, const char **why)
{
	uint64_t end = l->size * 8, *ends = find_ends(a, l);
	size_t n = 0;
	for (size_t i = 0; i < l->fields.n; i++) {
		struct clayout_field *f = &l->fields.v[i];
		uint64_t next = ends[i];
		if (f->bit_off > end || (f->bits && f->bit_off + f->bits > end))
			return refuse(why, "a member lies past its end");
		if (f->is_bytes) {
			f->bits = (next - f->bit_off) & ~UINT64_C(7);
			add_remark(a, l, "has a type that is only declared: bytes", f->own_name);
		} else if (f->bits && f->bit_off + f->bits > next) {
			f->bits = (next - f->bit_off) & ~UINT64_C(7);
			f->is_bytes = true;
			add_remark(a, l, "shares bytes with the next member", f->own_name);
		}
		if (f->is_bytes && (!f->bits || f->bit_off % 8))
			continue; // nothing left of it
		if (!f->is_bitfield && f->bit_off % 8)
			return refuse(why, "a member does not start at a byte boundary");
		l->fields.v[n++] = *f;
	}
	l->fields.n = n;
	return true;
}

static bool settle_union(struct arena *a, struct clayout *l, const char **why)
{
	size_t n = 0;
	vec_each(struct clayout_field, f, &l->fields) {
		if (f->bits > l->size * 8)
			return refuse(why, "a member is larger than the union");
		if (f->is_bytes || f->bit_off) {
			add_remark(a, l, "cannot be written in a union: omitted", f->own_name);
			continue;
		}
		l->fields.v[n++] = *f;
	}
	l->fields.n = n;
	return true;
}

bool clayout_of(struct arena *a, struct ctype *t, bool for_bpftrace, struct clayout *ret,
		const char **why)
{
	*ret = (struct clayout){0};
	if (!ctype_complete(t) || !ctype_size(t, &ret->size))
		return refuse(why, "its definition or size is unknown");
	if (ret->size > MAX_SIZE)
		return refuse(why, "it is larger than 2 GiB");
	bool is_sound = gather(a, t, 0, 0, for_bpftrace, ret);
	if (!is_sound && ret->fields.n > MAX_FIELDS)
		return refuse(why, "it has more than 65536 members");
	if (!is_sound || !drop_hidden(a, ret, for_bpftrace))
		return refuse(why, "its members are corrupt");
	if (t->kind == CTYPE_UNION)
		return settle_union(a, ret, why);
	if (ret->fields.n)
		qsort(ret->fields.v, ret->fields.n, sizeof(*ret->fields.v), by_place);
	return settle_struct(a, ret, why);
}
