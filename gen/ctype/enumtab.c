#include "ctype/enumtab.h"

/** bpftrace 0.17 takes string literals of up to 63 bytes. */
enum { MAX_TEXT = 63 };

struct str enumtab_scoped(struct arena *a, const struct ctype *t, struct str name)
{
	if (!t->is_scoped || !t->name.n)
		return name;
	return str_printf(a, STR_FMT "::" STR_FMT, STR_ARG(t->name), STR_ARG(name));
}

bool enumtab_from_type(struct arena *a, struct ctype *t, struct enumtab *ret)
{
	t = ctype_strip(t);
	if (!t || t->kind != CTYPE_ENUM || !ctype_complete(t))
		return false;
	*ret =
	    (struct enumtab){.name = t->name, .size = (unsigned)t->size, .is_signed = t->is_signed};
	ret->items = arena_array(a, struct enumtab_item, t->n_values);
	list_each(const struct ctype_value, v, t->values, t->n_values) {
		struct enumtab_item *first = map_get_u64(&ret->by_value, (uint64_t)v->value);
		if (first) {
			first->aliases =
			    str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(first->aliases),
				       first->aliases.n ? ", " : "", STR_ARG(v->name));
			continue;
		}
		struct enumtab_item *item = &ret->items[ret->n_items++];
		*item =
		    (struct enumtab_item){v->name, enumtab_scoped(a, t, v->name), v->value, {0}};
		map_put_u64(a, &ret->by_value, (uint64_t)v->value, item);
	}
	return true;
}

const struct enumtab *enumtab_of(struct arena *a, struct ctype *t)
{
	struct enumtab *tab = arena_new(a, struct enumtab);
	return enumtab_from_type(a, t, tab) && tab->n_items ? tab : NULL;
}

bool enumtab_lookup(struct lookup *lk, struct str name, struct enumtab *ret)
{
	struct ctype *t;
	if (!lookup_type(lk, name, NAME_ENUM | NAME_TYPEDEF, &t) ||
	    !enumtab_from_type(lk->arena, t, ret))
		return false;
	if (!ret->name.n)
		ret->name = name;
	return true;
}

/** @name without the first of the prefixes A|B|C that it has; @other if it has none. */
static struct str without_prefix(struct str name, struct str prefixes, struct str other)
{
	while (prefixes.n) {
		size_t bar = str_find(prefixes, '|');
		struct str prefix = str_slice(prefixes, 0, bar);
		if (prefix.n && str_has_prefix(name, prefix) && name.n > prefix.n)
			return str_from_offset(name, prefix.n);
		prefixes = str_from_offset(prefixes, bar + 1);
	}
	return other;
}

void enumtab_strip(struct enumtab *t, struct str prefixes)
{
	list_each(struct enumtab_item, item, t->items, t->n_items)
		item->text = without_prefix(item->name, prefixes,
					    without_prefix(item->text, prefixes, item->text));
}

const struct enumtab_item *enumtab_get(const struct enumtab *t, int64_t value)
{
	if (t->by_value.n)
		return map_get_u64(&t->by_value, (uint64_t)value);
	for (size_t i = 0; i < t->n_items; i++)
		if (t->items[i].value == value)
			return &t->items[i];
	return NULL;
}

static void add_item(struct code *b, struct str map, const struct enumtab *t, int64_t key,
		     struct str text, const char *indent, const char *end)
{
	code_f(b, "%s@", indent);
	code_ident(b, map);
	code_f(b, t->is_signed && key < 0 ? "[%" PRId64 "] = " : "[%" PRIu64 "] = ", (uint64_t)key);
	code_string(b, text, MAX_TEXT);
	code_f(b, ";%s", end);
}

void enumtab_print(struct code *b, struct str map, const struct enumtab *t, const char *indent,
		   const char *end)
{
	list_each(const struct enumtab_item, item, t->items, t->n_items) {
		add_item(b, map, t, item->value, item->text, indent, end);
		if (!t->is_signed || item->value >= 0 || t->size == 0 || t->size >= 8)
			continue;
		uint64_t narrow = (uint64_t)item->value & ((UINT64_C(1) << t->size * 8) - 1);
		if (!enumtab_get(t, (int64_t)narrow))
			add_item(b, map, t, (int64_t)narrow, item->text, indent, end);
	}
}
