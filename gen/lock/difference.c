#include "lock/difference.h"

#include <inttypes.h>

#include "bind/bind.h"
#include "ctype/enumtab.h"
#include "elf/debugfile.h"

static struct change *add(struct difference *df, enum change_kind kind, struct str subject)
{
	vec_push(df->arena, &df->changes, (struct change){.kind = kind, .subject = subject});
	return &df->changes.v[df->changes.n - 1];
}

static struct str signature(struct arena *a, const struct probeargs *pa)
{
	struct strbuf b;
	strbuf_init(&b);
	for (size_t i = 0; i < pa->n_args; i++) {
		strbuf_addz(&b, i ? ", " : "");
		strbuf_adds(&b, probearg_declaration(a, &pa->args[i]));
	}
	return strbuf_take(&b, a);
}

static void compare_arg(struct difference *df, struct str subject, unsigned n,
			const struct probearg *was, const struct probearg *is)
{
	struct arena *a = df->arena;
	struct change *c;
	// A type that one side does not know says nothing; sizes are always known.
	bool known = was->type && is->type && !was->is_kind && !is->is_kind;
	bool types = known && !str_eq(ctype_spell(a, was->type), ctype_spell(a, is->type));
	bool sizes = !was->sizes_differ && !is->sizes_differ &&
		     (was->size != is->size || was->is_signed != is->is_signed ||
		      was->is_float != is->is_float);
	if (types || sizes) {
		c = add(df, CHANGE_TYPE, subject);
		c->arg = n;
		c->was = probearg_declaration(a, was);
		c->is = probearg_declaration(a, is);
	}
	if (was->has_name && is->has_name && !str_eq(was->name, is->name)) {
		c = add(df, CHANGE_NAME, subject);
		c->arg = n;
		c->was = was->name;
		c->is = is->name;
	}
}

/** The enumerators of two enums of one name, once for each name. */
static void compare_enum(struct difference *df, struct map *seen, struct ctype *was,
			 struct ctype *is)
{
	struct arena *a = df->arena;
	struct enumtab x, y;
	struct ctype *tx = ctype_strip(was), *ty = ctype_strip(is);
	if (!tx || !ty || tx->kind != CTYPE_ENUM || ty->kind != CTYPE_ENUM ||
	    !enumtab_from_type(a, was, &x) || !enumtab_from_type(a, is, &y))
		return;
	struct str subject = ctype_spell(a, was);
	if (!str_eq(subject, ctype_spell(a, is)) || !map_add(a, seen, subject))
		return;
	if (!ctype_complete(tx) || !ctype_complete(ty))
		return;
	struct map values = {0};
	for (size_t i = 0; i < ty->n_values; i++)
		map_put(a, &values, ty->values[i].name, &ty->values[i]);
	for (size_t i = 0; i < tx->n_values; i++) {
		const struct ctype_value *v = &tx->values[i];
		const struct ctype_value *now = map_get(&values, v->name);
		if (now && now->value == v->value) {
			map_remove(&values, v->name);
			continue;
		}
		struct change *c = add(df, now ? CHANGE_ENUM_VALUE : CHANGE_ENUM_REMOVED, subject);
		c->was = str_printf(a, STR_FMT " = %" PRId64, STR_ARG(v->name), v->value);
		if (!now)
			continue;
		c->is = str_printf(a, STR_FMT " = %" PRId64, STR_ARG(v->name), now->value);
		map_remove(&values, v->name);
	}
	for (struct map_entry *e = NULL; (e = map_next(&values, e));) {
		const struct ctype_value *v = e->value;
		add(df, CHANGE_ENUM_ADDED, subject)->is =
		    str_printf(a, STR_FMT " = %" PRId64, STR_ARG(v->name), v->value);
	}
}

static void compare_probe(struct difference *df, struct map *enums, struct str subject,
			  const struct probeargs *was, const struct probeargs *is)
{
	if (was->n_args != is->n_args || was->n_args_least != is->n_args_least) {
		struct change *c = add(df, CHANGE_COUNT, subject);
		c->was = signature(df->arena, was);
		c->is = signature(df->arena, is);
	}
	for (size_t i = 0; i < was->n_args && i < is->n_args; i++) {
		compare_arg(df, subject, (unsigned)i, &was->args[i], &is->args[i]);
		compare_enum(df, enums, was->args[i].type, is->args[i].type);
	}
}

/** Is a type of an argument not known because @tf has no debug information? */
static void note_untyped(const struct targetfile *tf, const struct probeargs *pa, struct str *ret)
{
	struct img *file;
	for (size_t i = 0; i < pa->n_args && !ret->n; i++)
		if ((!pa->args[i].type || pa->args[i].is_kind) &&
		    !img_debugfile(tf->bin.img, &file))
			*ret = tf->path;
}

static const struct sdt_probe *find_probe(struct targetfiles *s, const struct sdt_probe *like,
					  struct targetfile **ret)
{
	for (size_t i = 0; i < s->list.n; i++) {
		*ret = &s->list.v[i];
		const struct sdt_probe *p = sdt_find_same(targetfile_probes(s, *ret), like);
		if (p)
			return p;
	}
	return NULL;
}

static struct str probe_name(struct arena *a, const struct sdt_probe *p)
{
	return str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(p->provider), STR_ARG(p->name));
}

void difference_find(struct difference *df, struct arena *a, struct targetfiles *before,
		     struct targetfiles *after)
{
	struct map enums = {0};
	*df = (struct difference){.arena = a};
	for (size_t i = 0; i < before->list.n; i++) {
		struct targetfile *tf = &before->list.v[i], *other;
		const struct sdt_list *list = targetfile_probes(before, tf);
		for (size_t k = 0; k < list->n_probes; k++) {
			const struct sdt_probe *p = &list->probes[k];
			const struct sdt_probe *q = find_probe(after, p, &other);
			struct probeargs was, is;
			probeargs_read(&tf->bin, before->signatures, p, &was);
			if (!q) {
				add(df, CHANGE_PROBE_REMOVED, probe_name(a, p))->was =
				    signature(a, &was);
				continue;
			}
			probeargs_read(&other->bin, after->signatures, q, &is);
			note_untyped(tf, &was, &df->untyped[0]);
			note_untyped(other, &is, &df->untyped[1]);
			compare_probe(df, &enums, probe_name(a, p), &was, &is);
		}
	}
	for (size_t i = 0; i < after->list.n; i++) {
		struct targetfile *tf = &after->list.v[i], *other;
		const struct sdt_list *list = targetfile_probes(after, tf);
		for (size_t k = 0; k < list->n_probes; k++) {
			struct probeargs is;
			if (find_probe(before, &list->probes[k], &other))
				continue;
			probeargs_read(&tf->bin, after->signatures, &list->probes[k], &is);
			add(df, CHANGE_PROBE_ADDED, probe_name(a, &list->probes[k]))->is =
			    signature(a, &is);
		}
	}
}

/** A clause that attaches to a probe. */
struct probe_use {
	const struct attach_clause *clause;
	struct probe_use *next;
};

/** "provider:name" -> struct probe_use, of all clauses of @b. */
static struct map uses_of(struct arena *a, const struct bind *b)
{
	struct map uses = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct attach_clause *c = b->found.clauses[i];
		for (size_t k = 0; k < c->probes.n; k++) {
			struct str name = probe_name(a, c->probes.v[k].probe);
			struct probe_use *use = arena_new(a, struct probe_use);
			*use = (struct probe_use){c, map_get(&uses, name)};
			map_put(a, &uses, name, use);
		}
	}
	return uses;
}

/** The clause attaches to the probe of the change: does it use the argument that it is about? */
static bool relies(const struct attach_clause *c, const struct change *ch)
{
	if (ch->kind == CHANGE_PROBE_REMOVED)
		return true;
	if (ch->kind != CHANGE_TYPE && ch->kind != CHANGE_NAME && ch->kind != CHANGE_COUNT)
		return false;
	for (size_t i = 0; i < c->clause->args.n; i++)
		if (ch->kind == CHANGE_COUNT || c->clause->args.v[i].n == ch->arg)
			return true;
	return false;
}

size_t difference_mark(struct difference *df, const struct bind *b, const char *script)
{
	struct map uses = uses_of(df->arena, b);
	size_t n = 0;
	for (size_t i = 0; i < df->changes.n; i++) {
		struct change *ch = &df->changes.v[i];
		const struct probe_use *use = map_get(&uses, ch->subject);
		while (use && !relies(use->clause, ch))
			use = use->next;
		if (use)
			vec_push(df->arena, &ch->scripts, script);
		n += use != NULL;
	}
	return n;
}
