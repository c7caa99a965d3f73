// The keys of maps, named when the map is printed.
//
// `@count[usym(arg0)]` and `@count[enum_name(state, args.s)]` become numbers under bpftrace.sh, if all
// uses of the map can be written with that key; so does a key of an enum's type. record/mapentry.h adds
// the names to the printed map, also of unloaded files; a value without a name stays a number.
#include "emit/emit_priv.h"
#include "bind/namedarg.h"
#include "sema/table.h"
#include "record/shape.h"

/** The common type of all uses of a map: of one part of the key, or of the value. */
struct part {
	struct value is;
	bool is_call; // of usym() or enum_name(): it becomes a number; of ustack: numbers are added
	bool is_literal;	       // of any type that can hold it
	unsigned bits;		       // of such literals
	const struct enumtab *element; // of which they are enumerators; or NULL
};

struct keyed {
	const struct bind *b;
	struct str name;
	size_t clause; // of the use at hand
	VEC(struct part) parts;
	bool is_seen;	  // a use with a key
	bool has_callers; // one where functions begin
	bool is_fixed;	  // some use cannot be written with another key
	bool is_cut;	  // what is printed can be cut into the parts
	bool is_disputed; // uses have different keys
	struct part value;
	bool has_value;	  // some use assigns one
	bool is_computed; // some use adds to it, or the like: no enumerator
};

/** How @e is printed in a map; without a type: not known. */
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

/** The same of @n; a formatted time is a text, even if it is all digits. */
static struct value shape_of_node(const struct bind *b, size_t clause, const struct node *n)
{
	n = node_ungrouped(n);
	if (enumname_is_symbol(b, clause, n))
		return (struct value){.how = VALUE_SYMBOL};
	if (node_is(n, NODE_CALL, "strftime"))
		return (struct value){.how = VALUE_TEXT};
	if ((n->kind == NODE_NAME || n->kind == NODE_CALL) && tok_is(n->name, "ustack") &&
	    enumname_has_addresses(b, clause) && !b->given->has_family)
		return (struct value){.how = VALUE_STACK};
	struct value ret = shape_of_value(b, n->expr);
	size_t i = 0;
	if (n->kind == NODE_TUPLE && ret.how == VALUE_TUPLE && ret.n_parts == node_count(n)) {
		struct value *parts = arena_array(b->arena, struct value, ret.n_parts + 1);
		for (const struct node *c = n->child; c; c = c->next)
			parts[i++] = shape_of_node(b, clause, c);
		ret.parts = parts;
	}
	return ret;
}

static struct part plain_part(const struct bind *b, size_t clause, const struct node *n)
{
	struct part ret = {.is = shape_of_node(b, clause, n)};
	n = node_ungrouped(n);
	ret.element = n->expr ? enumtab_of(b->arena, n->expr->enumerator_of) : NULL;
	ret.is_literal =
	    n->expr && n->expr->sign != SIGN_UNSIGNED && (n->kind == NODE_NUMBER || ret.element);
	ret.bits = ret.is_literal ? n->expr->bits : 0;
	return ret;
}

static bool is_one_enum(const struct enumtab *a, const struct enumtab *b)
{
	return !a || !b || str_eq(a->name, b->name);
}

/** Can @literal be a value of @number? An enum must be able to hold it, and an enumerator must be one of its own. */
static bool literal_fits(const struct part *literal, const struct part *number)
{
	const struct enumtab *names = number->is.names;
	if (!literal->is_literal || !value_is_number(&number->is) || number->is_call)
		return false;
	return !names ||
	       (is_one_enum(literal->element, names) &&
		literal->bits <= 8 * names->size - (names->is_signed && !literal->element));
}

unsigned key_stack_frames(const struct attach_clause *c, const struct node *n)
{
	uint64_t frames = SHAPE_MOST_FRAMES;
	if (!c->has_user || c->has_other || (n->kind != NODE_NAME && n->kind != NODE_CALL) ||
	    !tok_is(n->name, "ustack") ||
	    (n->child && (n->child->next || !node_fold(n->child, 0, &frames))))
		return 0;
	return frames < SHAPE_MOST_FRAMES ? (unsigned)frames : SHAPE_MOST_FRAMES;
}

static struct part part_of(const struct bind *b, size_t clause, struct node *n)
{
	const struct enumtab *names;
	n = node_ungrouped(n);
	bool is_stack =
	    enumname_has_addresses(b, clause) && key_stack_frames(b->found.clauses[clause], n);
	if (is_stack) // all frames that make it another key are shown
		return (struct part){.is = {.how = VALUE_STACK, .n_frames = SHAPE_MOST_FRAMES + 1},
				     .is_call = true};
	if (enumname_is_usym(b, clause, n))
		return (struct part){.is.type = &value_code, .is_call = true};
	if (table_names_of(b, clause, n, &names) && names)
		return (struct part){.is = {.type = value_integer(64, true), .names = names},
				     .is_call = true};
	struct part ret = plain_part(b, clause, n);
	ret.is.has_variable = value_is_address(&ret.is) && enumname_has_addresses(b, clause);
	return ret;
}

/** The common type of both: an unsigned number of 64 bits, if one is (sema/store.h). */
static struct value common_value(const struct value *a, const struct value *b)
{
	struct value ret = *a;
	bool are_numbers = a->how == VALUE_PLAIN && b->how == VALUE_PLAIN && a->type && b->type;
	bool are_signed = !value_is_unsigned(a) && !value_is_unsigned(b);
	bool are_integers = (a->names || value_is_integer(a)) && (b->names || value_is_integer(b));
	if (!value_is_alike(a, b) && are_numbers && (are_integers || !are_signed))
		return (struct value){.type = value_integer(64, are_signed)};
	if (!value_is_alike(a, b))
		return (struct value){0};
	if (value_is_unsigned(b))
		ret.type = b->type;
	ret.has_variable &= b->has_variable;
	return ret;
}

/** Merges @part, of one more use, into @was. */
static void merge_part(struct keyed *k, struct part *was, const struct part *part)
{
	if (was->is_literal && part->is_literal) {
		was->is_literal = is_one_enum(was->element, part->element);
		was->element = was->element ? was->element : part->element;
		was->bits = was->bits > part->bits ? was->bits : part->bits;
		return;
	}
	if (literal_fits(part, was))
		return;
	if (literal_fits(was, part)) {
		*was = *part;
		return;
	}
	was->is_literal = false;
	bool is_one = was->is_call == part->is_call && value_is_alike(&was->is, &part->is);
	k->is_fixed |= !is_one && (was->is_call || part->is_call);
	was->is =
	    was->is_call == part->is_call ? common_value(&was->is, &part->is) : (struct value){0};
	was->is_call &= is_one;
}

/** Is what is at the stack pointer a return address whenever @c fires? */
static bool has_callers(const struct attach_clause *c)
{
	bool has = namedarg_is_only(c, PLACE_ENTRY);
	vec_each(const struct context_place, p, &c->near.places)
		has &= p->asked.how == DWASKED_ENTRY;
	return has;
}

static void look_at_key(struct keyed *k, const struct use *m)
{
	size_t n = 0;
	for (struct node *c = m->node->child; c; c = c->next, n++) {
		struct part part = part_of(k->b, k->clause, c);
		if (!k->is_seen)
			vec_push(k->b->arena, &k->parts, part);
		else if (n < k->parts.n)
			merge_part(k, &k->parts.v[n], &part);
	}
	k->is_disputed |= k->is_seen && n != k->parts.n;
	k->is_seen = true;
	k->has_callers |= has_callers(k->b->found.clauses[k->clause]);
}

/** Merges the assigned value: different enums have no names in common. */
static void look_at_value(struct keyed *k, const struct node *n)
{
	// Without a value it is incremented or decremented.
	bool is_total = !n || (n->kind == NODE_CALL && vocabulary_word(node_text(n))->is_total);
	struct part v = is_total ? (struct part){.is.type = value_integer(64, true)}
				 : plain_part(k->b, k->clause, n);
	if (k->has_value)
		merge_part(k, &k->value, &v);
	else
		k->value = v;
	k->has_value = true;
}

/** Is an address in @v printed with the names of the program? */
static bool has_code(const struct value *v)
{
	bool has =
	    value_is_code(v) || v->has_variable || v->how == VALUE_SYMBOL || v->how == VALUE_STACK;
	for (size_t i = 0; i < v->n_parts && !has; i++)
		has = has_code(&v->parts[i]);
	return has;
}

static struct map_shape shape_of(const struct emitter *e, struct keyed *k)
{
	enum value_shift shift = store_shift(e, k->name);
	struct arena *a = k->b->arena;
	struct map_shape shape = {.name = str_printf(a, "@" STR_FMT, STR_ARG(k->name)),
				  .keys = arena_array(a, struct value, k->parts.n + 1),
				  .n_keys = k->parts.n};
	for (size_t i = 0; i < k->parts.n; i++) {
		shape.keys[i] = k->parts.v[i].is;
		bool is_stack = shape.keys[i].n_frames;
		if (k->is_fixed && is_stack)
			shape.keys[i] = (struct value){.how = VALUE_STACK};
		else if ((k->is_fixed || !k->is_cut) && !is_stack && k->parts.v[i].is_call)
			shape.keys[i] =
			    (struct value){.how = VALUE_SYMBOL}; // bpftrace prints the name
		k->b->made->names_code |= has_code(&shape.keys[i]);
	}
	shape.value = k->value.is;
	k->b->made->names_code |= has_code(&shape.value);
	if (shift == VALUE_STATS)
		shape.value = (struct value){.shift = shift};
	else if (shift == VALUE_AVERAGE)
		shape.value.shift = shift;
	else if (shift || (k->is_computed && shape.value.names))
		shape.value = (struct value){.type = value_integer(64, true), .shift = shift};
	return shape;
}

static void look_at_use(struct keyed *k, const struct use *m)
{
	if (m->node->child)
		look_at_key(k, m);
	else // a use without a key
		k->is_fixed |= !(m->does & (USE_EMPTIES | USE_PRINT));
	if (m->does & USE_WRITES)
		look_at_value(k, m->value);
	if (m->node->parent->kind == NODE_ASSIGN && m->node->parent->child == m->node)
		k->is_computed |= (node_operator(m->node->parent) & ~(unsigned)OP_BITS) != 0;
}

/** Can the printed key be cut into its parts? Stacks have several lines, and two strings any commas. */
static bool can_be_cut(const struct keyed *k)
{
	size_t n_texts = 0;
	for (size_t i = 0; i < k->parts.n; i++) {
		const struct value *v = &k->parts.v[i].is;
		if (v->n_frames || (v->how == VALUE_PLAIN && !v->type))
			return false;
		n_texts += v->how == VALUE_TEXT || v->how == VALUE_SYMBOL;
	}
	return n_texts < 2;
}

static void find_key_names(struct emitter *e, struct str name, const struct map *clauses)
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
	k->is_cut = can_be_cut(k);
	size_t n_stacks = 0;
	for (size_t i = 0; i < k->parts.n; i++)
		n_stacks += k->parts.v[i].is.n_frames > 0;
	k->is_fixed |= n_stacks > 1 || (n_stacks && !k->has_callers);
	if (!k->is_fixed && k->parts.n)
		map_put(e->arena, &e->keys, name, k);
	vec_push(b->arena, &b->made->map_shapes, shape_of(e, k));
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
			find_key_names(e, m->key, &clauses);
	arena_fini(&own);
}

const struct text *key_part(struct emitter *e, const struct node *map, const struct node *n,
			    size_t i)
{
	const struct keyed *k = map_get(&e->keys, map->name ? map->name->text : STR(""));
	bool has_stack = k && i < k->parts.n && k->parts.v[i].is.n_frames;
	if (!k || i >= k->parts.n || !k->parts.v[i].is_call || !(k->is_cut || has_stack))
		return NULL;
	if (has_stack)
		return text_format(e, n, "%s, %n",
				   has_callers(e->clause) ? EMIT_PLACE ", " EMIT_CALLER
							  : "(uint64)0, (uint64)0",
				   emit(e, n, WANT_VALUE));
	const struct node *plain = node_ungrouped(n), *value = plain->last_child;
	// Before 0.24 a map that only a later clause fills can be added to, but neither cast nor named.
	return text_format(e, n, "(%s)(%n%s)",
			   node_is(plain, NODE_CALL, "usym") ? "uint64" : "int64",
			   emit(e, value, WANT_VALUE), value->kind == NODE_MAP ? " + 0" : "");
}
