// The keys of maps, named when the map is printed.
//
// `@count[usym(arg0)]` and `@count[enum_name(state, args.s)]` become numbers under bpftrace.sh, if all
// uses of the map can be written with that key; so is a key of an enum's type. Who reads the printed
// map (record/mapentry.h) has the names, also of what has been unloaded, and numbers for what has none.
#include "emit/emit_priv.h"
#include "sema/enumname.h"
#include "sema/table.h"
#include "record/mapentry.h"

/** What all uses of a map have in one place of the key, or as its value. */
struct part {
	struct value is;
	bool is_call; // the key names it: it is to become a number
};

struct keyed {
	const struct bind *b;
	struct str name;
	size_t clause; // that a use is in
	VEC(struct part) parts;
	bool is_seen;	  // a use with a key
	bool is_fixed;	  // some use cannot be written with another key
	bool is_disputed; // uses have different keys
	struct value value;
	bool has_value; // some use tells what that is
};

/** What @e is where a map is printed; without a type: not known. */
static struct value shape_of_value(const struct bind *b, const struct expr *e)
{
	struct ctype *t = e ? ctype_strip(e->type) : NULL;
	struct value ret = {0};
	switch (e ? e->kind : EXPR_OPEN) {
	case EXPR_NUMBER:
		ret.names = enumtab_of(b->arena, t);
		bool is_signed = e->sign != SIGN_UNSIGNED &&
				 (!t || t->kind != CTYPE_INT || t->size != 8 || t->is_signed);
		ret.type =
		    t && t->kind == CTYPE_POINTER ? &value_address : value_integer(64, is_signed);
		break;
	case EXPR_TEXT:
		ret.how = VALUE_TEXT;
		break;
	case EXPR_TUPLE:
		ret.how = VALUE_TUPLE;
		ret.n_parts = e->n_elements;
		ret.parts = arena_array(b->arena, struct value, ret.n_parts + 1);
		for (size_t i = 0; i < ret.n_parts; i++)
			ret.parts[i] = shape_of_value(b, e->elements[i]);
		break;
	default:
		break;
	}
	return ret;
}

/** The same of @n; a time that is written out is a text, though it be digits. */
static struct value shape_of_node(const struct bind *b, const struct node *n)
{
	n = node_ungrouped(n);
	if (node_is(n, NODE_CALL, "strftime"))
		return (struct value){.how = VALUE_TEXT};
	struct value ret = shape_of_value(b, n->expr);
	size_t i = 0;
	if (n->kind == NODE_TUPLE && ret.how == VALUE_TUPLE && ret.n_parts == node_count(n)) {
		struct value *parts = arena_array(b->arena, struct value, ret.n_parts + 1);
		for (const struct node *c = n->child; c; c = c->next)
			parts[i++] = shape_of_node(b, c);
		ret.parts = parts;
	}
	return ret;
}

static struct part part_of(const struct bind *b, size_t clause, struct node *n)
{
	const struct enumtab *names;
	n = node_ungrouped(n);
	if (naming_is_usym(b, clause, n))
		return (struct part){{.type = &value_code}, true};
	if (table_names_of(b, clause, n, &names) && names)
		return (struct part){{.type = value_integer(64, true), .names = names}, true};
	struct part ret = {shape_of_node(b, n), false};
	ret.is.has_variable = value_is_address(&ret.is) && naming_has_addresses(b, clause);
	return ret;
}

/** What both are: an unsigned number of 64 bits, if one is (sema/store.h). */
static struct value common(const struct value *a, const struct value *b)
{
	struct value ret = *a;
	bool are_numbers = a->how == VALUE_PLAIN && b->how == VALUE_PLAIN && a->type && b->type;
	if (!value_is_alike(a, b) && are_numbers && (value_is_unsigned(a) || value_is_unsigned(b)))
		return (struct value){.type = value_integer(64, false)};
	if (!value_is_alike(a, b))
		return (struct value){0};
	if (value_is_unsigned(b))
		ret.type = b->type;
	ret.has_variable &= b->has_variable;
	return ret;
}

/** What two uses have in one place. */
static void join(struct keyed *k, struct part *was, const struct part *part)
{
	bool is_one = was->is_call == part->is_call && value_is_alike(&was->is, &part->is);
	k->is_fixed |= !is_one && (was->is_call || part->is_call);
	was->is = was->is_call == part->is_call ? common(&was->is, &part->is) : (struct value){0};
	was->is_call &= is_one;
}

static void look_at_key(struct keyed *k, const struct use *m)
{
	size_t n = 0;
	for (struct node *c = m->node->child; c; c = c->next, n++) {
		struct part part = part_of(k->b, k->clause, c);
		if (!k->is_seen)
			vec_push(k->b->arena, &k->parts, part);
		else if (n < k->parts.n)
			join(k, &k->parts.v[n], &part);
	}
	k->is_disputed |= k->is_seen && n != k->parts.n;
	k->is_seen = true;
}

/** What a map is assigned; NULL: it is counted up or down. */
static struct value value_of(const struct bind *b, const struct node *n)
{
	if (!n || (n->kind == NODE_CALL && vocabulary_word(node_text(n))->is_total))
		return (struct value){.type = value_integer(64, true)};
	return shape_of_node(b, n);
}

/** What all uses assign: the names of one enum are none for the values of another. */
static void look_at_value(struct keyed *k, const struct node *n)
{
	struct value v = value_of(k->b, n);
	if (n && k->has_value && node_ungrouped(n)->kind == NODE_NUMBER)
		return; // one that is written out may be of any type
	k->value = k->has_value ? common(&k->value, &v) : v;
	k->has_value = true;
}

static struct map_shape shape_of(struct keyed *k)
{
	struct arena *a = k->b->arena;
	struct map_shape shape = {.name = str_printf(a, "@" STR_FMT, STR_ARG(k->name)),
				  .keys = arena_array(a, struct value, k->parts.n + 1),
				  .n_keys = k->parts.n};
	for (size_t i = 0; i < k->parts.n; i++) {
		shape.keys[i] = k->parts.v[i].is;
		if (k->is_fixed && k->parts.v[i].is_call) // bpftrace has the name
			shape.keys[i] = (struct value){.how = VALUE_TEXT};
		k->b->made->names_code |=
		    value_is_code(&shape.keys[i]) || shape.keys[i].has_variable;
	}
	shape.value = k->value;
	return shape;
}

static void look_at_use(struct keyed *k, const struct use *m)
{
	if (m->node->child)
		look_at_key(k, m);
	else // what looks at no keys
		k->is_fixed |= !(m->does & (USE_EMPTIES | USE_PRINT));
	if (m->does & USE_WRITES)
		look_at_value(k, m->value);
}

/** Can the printed key be cut into its parts? Stacks have several lines, and two strings any commas. */
static bool can_be_cut(const struct keyed *k)
{
	size_t n_texts = 0;
	for (size_t i = 0; i < k->parts.n; i++) {
		const struct value *v = &k->parts.v[i].is;
		if (v->how == VALUE_PLAIN && !v->type)
			return false;
		n_texts += v->how == VALUE_TEXT;
	}
	return n_texts < 2;
}

static void take_map(struct emitter *e, struct str name, const struct map *clauses)
{
	const struct bind *b = e->b;
	struct keyed *k = arena_new(e->arena, struct keyed);
	*k = (struct keyed){.b = b, .name = name};
	for (const struct use *u = uses_of_map(&b->found.uses, name); u; u = u->next) {
		k->clause = (size_t)(uintptr_t)map_get_ptr(clauses, u->clause) - 1;
		look_at_use(k, u);
	}
	if (k->is_disputed)
		k->parts.n = 0;
	k->is_fixed |= !can_be_cut(k);
	if (!k->is_fixed && k->parts.n)
		map_put(e->arena, &e->keys, name, k);
	vec_push(b->arena, &b->made->map_shapes, shape_of(k));
}

void key_find_all(struct emitter *e)
{
	const struct bind *b = e->b;
	struct arena own = {0};
	struct map clauses = {0}; // -> index + 1
	for (size_t i = 0; e->makes_records && i < b->found.script.clauses.n; i++)
		map_put_ptr(&own, &clauses, b->found.script.clauses.v[i],
			    (void *)(uintptr_t)(i + 1));
	for (struct map_entry *m = NULL;
	     e->makes_records && (m = map_next(&b->found.uses.maps, m));)
		if (!table_names(b, m->key))
			take_map(e, m->key, &clauses);
	arena_fini(&own);
}

const struct text *key_part(struct emitter *e, const struct node *map, const struct node *n,
			    size_t i)
{
	const struct keyed *k = map_get(&e->keys, map->name ? map->name->text : STR(""));
	if (!k || i >= k->parts.n || !k->parts.v[i].is_call)
		return NULL;
	const struct node *plain = node_ungrouped(n), *value = plain->last_child;
	// Before 0.24 a map that only a later clause fills can be added to, but neither cast nor
	// named.
	return made(e, n, "(%s)(%n%s)", node_is(plain, NODE_CALL, "usym") ? "uint64" : "int64",
		    emit(e, value, WANT_VALUE), value->kind == NODE_MAP ? " + 0" : "");
}
