#include "ctype/ctype.h"

enum { MAX_DEPTH = 64 };

bool ctype_complete(struct ctype *t)
{
	if (t->is_complete)
		return true;
	if (t->is_failed || !t->loader)
		return false;
	if (!t->loader->complete(t->loader, t)) {
		t->is_failed = true;
		return false;
	}
	return t->is_complete;
}

struct ctype *ctype_new(struct arena *a, enum ctype_kind kind, const char *name, uint64_t size,
			bool is_signed)
{
	struct ctype *t = arena_new(a, struct ctype);
	t->kind = kind;
	t->name = str_from(name);
	t->size = size;
	t->is_signed = is_signed;
	t->has_size = t->is_complete = true;
	return t;
}

struct ctype *ctype_new_pointer(struct arena *a, struct ctype *to, uint64_t size)
{
	struct ctype *t = ctype_new(a, CTYPE_POINTER, "", size, false);
	t->of = to;
	return t;
}

struct ctype *ctype_new_of(struct arena *a, enum ctype_kind kind, struct ctype *of)
{
	struct ctype *t = ctype_new(a, kind, "", 0, false);
	t->has_size = false;
	t->of = of;
	return t;
}

struct ctype *ctype_new_char(struct arena *a, bool is_signed)
{
	struct ctype *t = ctype_new(a, CTYPE_INT, "char", 1, is_signed);
	t->is_char = true;
	return t;
}

struct ctype *ctype_strip(struct ctype *t)
{
	for (unsigned i = 0; t && i < MAX_DEPTH; i++) {
		if (t->kind != CTYPE_TYPEDEF && t->kind != CTYPE_CONST && t->kind != CTYPE_VOLATILE)
			return t->kind == CTYPE_VOID ? NULL : t;
		t = t->of;
	}
	return NULL;
}

struct ctype *ctype_element(struct ctype *t)
{
	enum { MAX_DIMENSIONS = 64 };
	unsigned n = 0;
	t = ctype_strip(t);
	while (t && t->kind == CTYPE_ARRAY && n++ < MAX_DIMENSIONS)
		t = ctype_strip(t->of);
	return t && t->kind == CTYPE_ARRAY ? NULL : t;
}

bool ctype_size(struct ctype *t, uint64_t *ret)
{
	uint64_t factor = 1;
	for (unsigned i = 0; i < MAX_DEPTH; i++) {
		t = ctype_strip(t);
		if (!t || t->kind == CTYPE_FUNC)
			return false;
		// A declaration learns its size when its definition is found.
		if (!t->has_size && ctype_is_aggregate(t))
			ctype_complete(t);
		if (t->has_size || t->kind != CTYPE_ARRAY)
			return t->has_size && !__builtin_mul_overflow(factor, t->size, ret);
		if (!t->has_count || __builtin_mul_overflow(factor, t->count, &factor))
			return false;
		t = t->of;
	}
	return false;
}

bool ctype_is_aggregate(const struct ctype *t)
{
	return t->kind == CTYPE_STRUCT || t->kind == CTYPE_UNION;
}

/** How many members a comparison may look at: in corrupt debug information types may contain themselves. */
enum { MAX_SAME = 1 << 17 };

struct comparison {
	unsigned n, depth;
};

static bool is_same(struct comparison *c, struct ctype *a, struct ctype *b);

/** The name of a pointee's type; a pointer to an unknown type matches any. */
static bool is_same_pointee(struct ctype *a, struct ctype *b)
{
	a = ctype_strip(a);
	b = ctype_strip(b);
	if (!a || !b)
		return true;
	if (a->kind != b->kind)
		return false;
	return ctype_is_aggregate(a)  ? str_eq(a->name, b->name)
	       : a->kind == CTYPE_INT ? a->size == b->size && a->is_signed == b->is_signed
				      : true;
}

/** Types of members, by what they hold in place. */
static bool is_same_value(struct comparison *c, struct ctype *a, struct ctype *b)
{
	a = ctype_strip(a);
	b = ctype_strip(b);
	if (a == b || !a || !b)
		return a == b;
	if (a->kind != b->kind)
		return false;
	if (a->kind == CTYPE_POINTER || a->kind == CTYPE_REFERENCE)
		return is_same_pointee(a->of, b->of);
	if (a->kind == CTYPE_ARRAY)
		return a->has_count == b->has_count && a->count == b->count &&
		       is_same_value(c, a->of, b->of);
	if (ctype_is_aggregate(a))
		return is_same(c, a, b);
	return a->size == b->size && a->is_signed == b->is_signed;
}

static bool is_same(struct comparison *c, struct ctype *a, struct ctype *b)
{
	if (!ctype_complete(a) || !ctype_complete(b))
		return true; // nothing to compare with
	if (a->kind != b->kind || a->size != b->size || a->is_signed != b->is_signed ||
	    a->n_members != b->n_members || a->n_values != b->n_values)
		return false;
	c->n += (unsigned)(a->n_members + a->n_values);
	if (c->n > MAX_SAME || c->depth >= MAX_DEPTH)
		return false;
	bool same = true;
	c->depth++;
	for (size_t i = 0; i < a->n_members && same; i++) {
		const struct ctype_member *m = &a->members[i], *n = &b->members[i];
		same = str_eq(m->name, n->name) && m->off == n->off && m->bit_off == n->bit_off &&
		       m->bit_size == n->bit_size && is_same_value(c, m->type, n->type);
	}
	c->depth--;
	for (size_t i = 0; i < a->n_values && same; i++)
		same = str_eq(a->values[i].name, b->values[i].name) &&
		       a->values[i].value == b->values[i].value;
	return same;
}

static bool is_whole(const struct ctype *t)
{
	return ctype_is_aggregate(t) || t->kind == CTYPE_ENUM;
}

bool ctype_is_same_count(struct ctype *a, struct ctype *b, unsigned *n)
{
	struct comparison c = {0};
	a = ctype_strip(a);
	b = ctype_strip(b);
	if (a == b || !a || !b)
		return a == b;
	bool same = is_whole(a) ? is_same(&c, a, b) : is_same_value(&c, a, b);
	struct ctype *to = ctype_pointee(a), *to2 = ctype_pointee(b);
	if (same && to && to2 && is_whole(to))
		same = is_same(&c, to, to2);
	*n += c.n;
	return same;
}

bool ctype_is_same(struct ctype *a, struct ctype *b)
{
	unsigned n = 0;
	return ctype_is_same_count(a, b, &n);
}

static void spell(struct strbuf *b, const struct ctype *t, unsigned depth);

/** int[3][4]: the element, then its dimensions from the outermost on. */
static void spell_array(struct strbuf *b, const struct ctype *t, const char *mark, unsigned depth)
{
	const struct ctype *element = t;
	for (unsigned i = 0; i < MAX_DEPTH && element && element->kind == CTYPE_ARRAY; i++)
		element = element->of;
	spell(b, element, depth + 1);
	strbuf_addz(b, mark);
	for (unsigned i = 0; i < MAX_DEPTH && t && t->kind == CTYPE_ARRAY; i++, t = t->of) {
		if (t->has_count)
			strbuf_addf(b, "[%llu]", (unsigned long long)t->count);
		else
			strbuf_addz(b, "[]");
	}
}

static void spell_pointer(struct strbuf *b, const struct ctype *t, unsigned depth)
{
	const struct ctype *of = t->of;
	bool is_pointer = t->kind == CTYPE_POINTER;
	if (of && of->kind == CTYPE_FUNC) {
		spell(b, of->of, depth + 1);
		strbuf_addz(b, " (*)()");
		return;
	}
	if (of && of->kind == CTYPE_ARRAY) {
		spell_array(b, of, is_pointer ? " (*)" : " (&)", depth);
		return;
	}
	spell(b, of, depth + 1);
	if (b->n && b->p[b->n - 1] != '*')
		strbuf_addc(b, ' ');
	strbuf_addc(b, is_pointer ? '*' : '&');
}

static void spell(struct strbuf *b, const struct ctype *t, unsigned depth)
{
	if (!t || t->kind == CTYPE_VOID || depth > MAX_DEPTH) {
		strbuf_addz(b, "void");
		return;
	}
	switch (t->kind) {
	case CTYPE_CONST:
	case CTYPE_VOLATILE: {
		const char *word = t->kind == CTYPE_CONST ? "const" : "volatile";
		bool is_suffix = t->of && t->of->kind == CTYPE_POINTER;
		if (!is_suffix)
			strbuf_addf(b, "%s ", word);
		spell(b, t->of, depth + 1);
		if (is_suffix)
			strbuf_addf(b, "%s", word);
		return;
	}
	case CTYPE_POINTER:
	case CTYPE_REFERENCE:
		spell_pointer(b, t, depth);
		return;
	case CTYPE_ARRAY:
		spell_array(b, t, "", depth);
		return;
	case CTYPE_FUNC:
		spell(b, t->of, depth + 1);
		strbuf_addz(b, " ()");
		return;
	case CTYPE_ENUM:
		strbuf_addz(b, "enum ");
		break;
	case CTYPE_STRUCT:
		strbuf_addz(b, t->is_class ? "class " : "struct ");
		break;
	case CTYPE_UNION:
		strbuf_addz(b, "union ");
		break;
	default:
		break;
	}
	if (t->name.n)
		strbuf_adds(b, t->name);
	else
		strbuf_addz(b, "{...}");
}

struct str ctype_spell(struct arena *a, const struct ctype *t)
{
	struct strbuf b = {0};
	spell(&b, t, 0);
	return strbuf_take(&b, a);
}

/** Own members first, then those of anonymous members and bases, as C++ hides names. */
static bool find_member(struct ctype *t, struct str name, struct ctype_place *ret, unsigned depth)
{
	if (depth > MAX_DEPTH || !ctype_complete(t))
		return false;
	list_each(struct ctype_member, m, t->members, t->n_members) {
		if (!m->name.n || m->is_base || !str_eq(m->name, name))
			continue;
		*ret = (struct ctype_place){m->type, m->off, m->bit_off, m->bit_size, t};
		return true;
	}
	list_each(struct ctype_member, m, t->members, t->n_members) {
		struct ctype *in = ctype_strip(m->type);
		if ((m->name.n && !m->is_base) || !in || !ctype_is_aggregate(in) ||
		    !find_member(in, name, ret, depth + 1))
			continue;
		ret->off += m->off;
		ret->bit_off += m->off * 8;
		return true;
	}
	return false;
}

/** "[2]" at the start of @path, of @ret's array; false when it does not fit. @bad is the text. */
static bool resolve_index(struct str path, struct ctype_place *ret, struct str *bad)
{
	struct ctype *array = ctype_strip(ret->type);
	size_t close = str_find(path, ']');
	uint64_t index, size, add;
	*bad = str_slice(path, 0, close + 1);
	if (!array || array->kind != CTYPE_ARRAY || close >= path.n ||
	    !str_to_u64(str_trim(str_slice(path, 1, close - 1)), &index) ||
	    !ctype_size(array->of, &size) ||
	    (array->has_count && array->count && index >= array->count) ||
	    __builtin_mul_overflow(index, size, &add) ||
	    __builtin_add_overflow(ret->off, add, &ret->off))
		return false;
	ret->type = array->of;
	return true;
}

/** "a" at the start of @path, of @ret's struct, up to the next . or [; likewise. */
static bool resolve_member(struct str path, struct ctype_place *ret, struct str *bad)
{
	struct ctype *aggregate = ctype_strip(ret->type);
	struct ctype_place next;
	size_t dot = str_find(path, '.'), bracket = str_find(path, '[');
	*bad = str_slice(path, 0, dot < bracket ? dot : bracket);
	if (ret->bit_size || !aggregate || !ctype_is_aggregate(aggregate) || !bad->n ||
	    !find_member(aggregate, *bad, &next, 0))
		return false;
	next.off += ret->off;
	next.bit_off += ret->off * 8;
	*ret = next;
	return true;
}

bool ctype_resolve(struct ctype *t, struct str path, struct ctype_place *ret, struct str *bad,
		   struct ctype **in)
{
	*ret = (struct ctype_place){.type = t};
	*bad = path;
	for (struct str rest = path; rest.n; rest = str_from_offset(rest, bad->n)) {
		bool is_first = rest.n == path.n, is_dot = rest.p[0] == '.';
		bool is_index = rest.p[0] == '[';
		*in = ctype_strip(ret->type);
		*bad = is_dot ? path : rest;
		// Between members there is a dot, and it has one on each side.
		if (is_dot ? is_first || rest.n == 1 : !is_index && !is_first)
			return false;
		if (is_dot)
			rest = str_from_offset(rest, 1);
		if (is_index ? !resolve_index(rest, ret, bad) : !resolve_member(rest, ret, bad))
			return false;
	}
	if (!ret->bit_size)
		ret->bit_off = 0;
	return true;
}

static void nearest(struct ctype *t, struct str name, struct str *best, unsigned *distance,
		    unsigned depth)
{
	if (depth > MAX_DEPTH || !ctype_complete(t))
		return;
	list_each(struct ctype_member, m, t->members, t->n_members) {
		struct ctype *in = ctype_strip(m->type);
		if (m->name.n && !m->is_base) {
			if (str_is_nearer(name, m->name, distance))
				*best = m->name;
		} else if (in && ctype_is_aggregate(in)) {
			nearest(in, name, best, distance, depth + 1);
		}
	}
}

struct str ctype_nearest_member(struct ctype *t, struct str name)
{
	struct str best = {0};
	unsigned distance = UINT32_MAX;
	t = ctype_strip(t);
	if (t && ctype_is_aggregate(t))
		nearest(t, name, &best, &distance, 0);
	return best;
}

// --- what is in it

enum { MAX_NESTING = 20 }; // of structs in structs that are looked into

struct ctype *ctype_pointee(struct ctype *t)
{
	t = ctype_strip(t);
	return t && t->kind == CTYPE_POINTER ? ctype_strip(t->of) : NULL;
}

bool ctype_is_number(const struct ctype *t)
{
	return t && (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL);
}

bool ctype_is_text(struct ctype *t)
{
	t = ctype_pointee(t);
	return t && t->kind == CTYPE_INT && t->is_char;
}

struct ctype *ctype_as_pointer(struct arena *a, struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	return bare && bare->kind == CTYPE_REFERENCE && bare->of ? ctype_new_pointer(a, bare->of, 8)
								 : t;
}

bool ctype_is_word(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/** Does @fits say so of any member of @t, or of what is in one? */
static bool has_member(struct ctype *t, bool (*fits)(const struct ctype_member *m), unsigned depth)
{
	t = ctype_element(t);
	if (!t || !ctype_is_aggregate(t) || depth > MAX_NESTING || !ctype_complete(t))
		return false;
	for (size_t i = 0; i < t->n_members; i++)
		if (fits(&t->members[i]) || has_member(t->members[i].type, fits, depth + 1))
			return true;
	return false;
}

void ctype_fix_bitfield(const struct ctype_member *before, struct ctype_member *m)
{
	uint64_t end = before->bit_off + before->bit_size, size;
	if (!before->bit_size || m->bit_size || end % 8 == 0 || m->off != end / 8 ||
	    !ctype_is_number(ctype_strip(m->type)) || !ctype_size(m->type, &size) || size > 8)
		return;
	m->bit_off = end;
	m->bit_size = (unsigned)size * 8;
}

static bool is_bitfield(const struct ctype_member *m)
{
	return m->bit_size > 0;
}

/** float and double; others are bytes to bpftrace. */
static bool is_float(const struct ctype_member *m)
{
	struct ctype *t = ctype_element(m->type);
	return t && t->kind == CTYPE_FLOAT && t->size <= 8;
}

static bool is_code(const struct ctype_member *m)
{
	struct ctype *to = ctype_pointee(ctype_element(m->type));
	return to && to->kind == CTYPE_FUNC;
}

bool ctype_has_code(struct ctype *t)
{
	return has_member(t, is_code, 0);
}

bool ctype_has_bitfields(struct ctype *t)
{
	return has_member(t, is_bitfield, 0);
}

bool ctype_has_floats(struct ctype *t)
{
	return has_member(t, is_float, 0);
}

static bool ends_in_text(struct ctype *t, unsigned depth)
{
	uint64_t size;
	t = ctype_element(t);
	if (!t || !ctype_is_aggregate(t) || depth > MAX_NESTING || !ctype_complete(t))
		return false;
	list_each(const struct ctype_member, m, t->members, t->n_members) {
		struct ctype *of = ctype_element(m->type);
		bool is_text = of && of->kind == CTYPE_INT && of->is_char &&
			       ctype_strip(m->type)->kind == CTYPE_ARRAY;
		size = 0;
		ctype_size(m->type, &size); // 0 of one without a size, which is last
		if ((is_text && m->off + size >= t->size) || ends_in_text(m->type, depth + 1))
			return true;
	}
	return false;
}

bool ctype_ends_in_text(struct ctype *t)
{
	return ends_in_text(t, 0);
}
