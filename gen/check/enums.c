// An enum's values beside the names of another.
#include "check/check_priv.h"

#include "sema/targettype.h"
#include "sema/table.h"

/** Is @n a value of an enum whose names are known? */
static bool is_of_enum(struct checker *k, const struct node *n, struct meaning *ret)
{
	return check_meaning(k, n, ret) && ret->plain && ret->plain->kind == CTYPE_ENUM &&
	       ctype_complete(ret->plain) && ret->plain->n_values;
}

/** C takes enums without a name for lists of numbers, and units may have different versions of one enum. */
static bool is_other(const struct meaning *m, struct ctype *of)
{
	bool has_name = m->plain->name.n || m->type->kind == CTYPE_TYPEDEF;
	return of && of->name.n && has_name && !str_eq(of->name, m->plain->name) &&
	       !ctype_is_same(of, m->plain);
}

static struct str spell(struct checker *k, const struct meaning *m)
{
	return ctype_spell(k->b->arena, m->plain->name.n ? m->plain : m->type);
}

// --- names of another enum ---

static bool find_enum(struct checker *k, struct str name, struct ctype **ret)
{
	struct lookup *lk = bind_lookup_from(k->b, k->i);
	if (!lk || !lookup_type(lk, name, NAME_ENUM | NAME_TYPEDEF, ret))
		return false;
	*ret = ctype_strip(*ret);
	return *ret && (*ret)->kind == CTYPE_ENUM && ctype_complete(*ret);
}

/** "@target[arg1]" where there is a table of that enum, else "enum_name(tgt_state, arg1)". */
static const char *right_names(struct checker *k, const struct node *value, const struct meaning *m)
{
	struct arena *a = k->b->arena;
	for (size_t i = 0; i < k->b->found.tables.n; i++) {
		struct ctype *of;
		const struct bind_table *t = &k->b->found.tables.v[i];
		if (find_enum(k, t->type, &of) && ctype_is_same(of, m->plain))
			return arena_printf(a, "@" STR_FMT "[%s]", STR_ARG(t->map),
					    check_text(k, value));
	}
	struct str name = m->plain->name.n ? m->plain->name : ctype_spell(a, m->type);
	return arena_printf(a, "enum_name(" STR_FMT ", %s)", STR_ARG(name), check_text(k, value));
}

/** A number's name: @t[value], enum_name(t, value). */
struct look_up {
	const char *who;
	struct str type, prefix;
	struct node *value;
};

static bool find_look_up(struct checker *k, struct node *n, struct look_up *ret)
{
	struct targettype_name type;
	const struct bind_table *t =
	    n->kind == NODE_MAP && n->name ? check_table_of(k, n->name->text) : NULL;
	*ret = (struct look_up){.who = "enum_name()", .value = n->last_child};
	if (t && n->child && !n->child->next) {
		ret->who = arena_printf(k->b->arena, "@" STR_FMT, STR_ARG(t->map));
		ret->type = t->type;
		ret->prefix = t->prefix;
		return true;
	}
	if (!node_is(n, NODE_CALL, "enum_name") || !n->child || n->child->next != ret->value ||
	    !targettype_read(k->b->arena, n->child, &type))
		return false;
	ret->type = type.name;
	return true;
}

static void check_look_up(struct checker *k, struct node *n)
{
	struct look_up l;
	struct meaning m;
	struct ctype *of;
	if (!find_look_up(k, n, &l) || !check_meaning(k, l.value, &m) || !m.plain)
		return;
	struct str type = l.type;
	str_take(&type, STR("enum "));
	// If it is called so it is the same, and debug information need not be read to see that.
	if (str_eq(type, m.plain->name) || str_eq(type, m.type->name) ||
	    (m.plain->kind != CTYPE_ENUM && m.plain->kind != CTYPE_POINTER) ||
	    !find_enum(k, l.type, &of))
		return;
	const char *text = check_text(k, l.value);
	struct str names = ctype_spell(k->b->arena, of);
	if (m.plain->kind == CTYPE_POINTER)
		check_report(k, l.value, "enum", check_level(&m),
			     "%s maps values of " STR_FMT ", but %s is a pointer", l.who,
			     STR_ARG(names), text);
	else if (is_of_enum(k, l.value, &m) && is_other(&m, of))
		check_report(k, l.value, "enum", check_level(&m),
			     "%s maps values of " STR_FMT ", but %s has type " STR_FMT ": use %s",
			     l.who, STR_ARG(names), text, STR_ARG(spell(k, &m)),
			     right_names(k, l.value, &m));
}

// --- comparisons ---

static bool has_value(const struct ctype *t, uint64_t bits)
{
	for (size_t i = 0; i < t->n_values; i++)
		if ((uint64_t)t->values[i].value == bits)
			return true;
	return false;
}

/** 1, 2, 3, 4 without a gap: no flags that are combined. */
static bool is_counted(const struct ctype *t)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	for (size_t i = 0; i < t->n_values; i++) {
		int64_t v = t->values[i].value;
		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	if (most < 3 || (uint64_t)most - (uint64_t)least >= t->n_values)
		return false;
	for (int64_t v = least; v <= most; v++)
		if (!has_value(t, (uint64_t)v))
			return false;
	return true;
}

/** 0 and -1 stand for no value at all; flags are combined. */
static bool may_have(const struct ctype *t, const struct constant *c)
{
	uint64_t all = 0;
	if (c->bits == 0 || c->bits == UINT64_MAX || has_value(t, c->bits))
		return true;
	if (c->is_negative || is_counted(t))
		return false;
	for (size_t i = 0; i < t->n_values; i++)
		if (((uint64_t)t->values[i].value & ~c->bits) == 0)
			all |= (uint64_t)t->values[i].value;
	return all == c->bits;
}

static void note_nearest(struct checker *k, const struct ctype *t, struct str name)
{
	const struct ctype_value *near = NULL;
	unsigned best = UINT32_MAX;
	for (size_t i = 0; i < t->n_values; i++)
		if (str_is_nearer(name, t->values[i].name, &best))
			near = &t->values[i];
	if (near && str_is_made_of(near->name, ALPHABET_SCOPED_WORD))
		diag_note(k->b->diag, NULL, "did you mean " STR_FMT "%s" STR_FMT "?",
			  STR_ARG(t->is_scoped ? t->name : STR("")), t->is_scoped ? "::" : "",
			  STR_ARG(near->name));
}

/** `state == OTHER_ON`: once for each value and enum, not for each branch of a chain. */
static void check_enumerator(struct checker *k, const struct node *value, const struct meaning *m,
			     const struct node *name)
{
	struct arena *a = k->b->arena;
	struct ctype *of = name->expr->enumerator_of;
	if (!is_other(m, of))
		return;
	for (size_t i = 0; i < m->plain->n_values; i++)
		if (str_eq(m->plain->values[i].name, name->last->text)) // scopes aside
			return;
	if (!map_add(a, &k->said,
		     str_printf(a, "enum %zu %s " STR_FMT, k->i, check_text(k, value),
				STR_ARG(of->name))))
		return;
	check_report_at(k, name->first, "enum", DIAG_WARNING,
			"%s has type " STR_FMT ", but %s has type " STR_FMT, check_text(k, value),
			STR_ARG(spell(k, m)), check_text(k, name), STR_ARG(ctype_spell(a, of)));
	note_nearest(k, m->plain, name->last->text);
	check_note_origin(k, value);
}

/** `state == 99` */
static void check_number_of_enum(struct checker *k, const struct node *value,
				 const struct meaning *m, const struct node *number,
				 const struct constant *c)
{
	if (may_have(m->plain, c))
		return;
	check_report_at(k, number->first, "enum", DIAG_WARNING,
			"%s has type " STR_FMT ", which has no %s", check_text(k, value),
			STR_ARG(spell(k, m)), check_text(k, number));
	check_note_origin(k, value);
}

/** `state == RUNING`: bpftrace reports an unknown word, without a suggestion. */
static void check_unknown(struct checker *k, const struct node *value, const struct meaning *m,
			  const struct node *name)
{
	unsigned best = UINT32_MAX;
	bool is_near = false;
	for (size_t i = 0; i < m->plain->n_values; i++)
		is_near |= str_is_nearer(node_text(name), m->plain->values[i].name, &best);
	if (!is_near || vocabulary_is_builtin(node_text(name)) || name->expr->type ||
	    name->expr->is_substituted)
		return;
	check_report_at(k, name->first, "enum", DIAG_WARNING,
			"%s has type " STR_FMT ", which has no %s", check_text(k, value),
			STR_ARG(spell(k, m)), check_text(k, name));
	note_nearest(k, m->plain, node_text(name));
}

static void check_both(struct checker *k, const struct node *left, const struct meaning *l,
		       const struct node *right)
{
	struct meaning r;
	if (!is_of_enum(k, right, &r) || !is_other(l, r.plain))
		return;
	check_report_at(k, right->first, "enum", DIAG_WARNING,
			"%s has type " STR_FMT ", but %s has type " STR_FMT, check_text(k, left),
			STR_ARG(spell(k, l)), check_text(k, right), STR_ARG(spell(k, &r)));
	check_note_origin(k, left);
}

static void check_comparison(struct checker *k, unsigned op, struct node *left, struct node *right)
{
	struct node *name = node_ungrouped(right);
	struct meaning m;
	struct constant c;
	if (!(op & (OP_COMPARISON | OP_BIT_AND)) || !is_of_enum(k, left, &m))
		return;
	if (name->expr && name->expr->enumerator_of)
		check_enumerator(k, left, &m, name);
	else if ((op & OP_EQUALITY) && check_constant(k, right, &c))
		check_number_of_enum(k, left, &m, right, &c);
	else if (name->kind == NODE_NAME)
		check_unknown(k, left, &m, name);
}

/** `@target[arg1] == "RUNING"`; "" is what a number without a name has. */
static void check_text_of_enum(struct checker *k, struct node *names, const struct node *text)
{
	struct enumtab tab;
	struct look_up l;
	struct ctype *of;
	struct str near = STR(""), quoted = text->kind == NODE_STRING ? node_text(text) : near;
	unsigned best = UINT32_MAX;
	if (quoted.n <= 2 || !find_look_up(k, node_ungrouped(names), &l) ||
	    !find_enum(k, l.type, &of) || !enumtab_from_type(k->b->arena, of, &tab))
		return;
	enumtab_strip(&tab, l.prefix);
	struct str wanted = str_slice(quoted, 1, quoted.n - 2);
	for (size_t i = 0; i < tab.n_items; i++) {
		if (str_eq(tab.items[i].text, wanted))
			return;
		if (str_eq(tab.items[i].name, wanted)) { // a prefix is taken off
			near = tab.items[i].text;
			break;
		}
		if (str_is_nearer(wanted, tab.items[i].text, &best))
			near = tab.items[i].text;
	}
	check_report_at(k, text->first, "enum", DIAG_WARNING, "%s is never \"" STR_FMT "\"",
			check_text(k, names), STR_ARG(wanted));
	if (near.n && str_is_made_of(near, ALPHABET_SCOPED_WORD))
		diag_note(k->b->diag, NULL, "did you mean \"" STR_FMT "\"?", STR_ARG(near));
}

/** `let $x : enum state = args.mode` */
static void check_let(struct checker *k, struct node *n)
{
	struct node *type = n->child->next, *value = type ? type->next : NULL;
	struct meaning to;
	if (!value || type->kind != NODE_TYPE || !is_of_enum(k, n->child, &to))
		return;
	struct node *name = node_ungrouped(value);
	if (name->expr && name->expr->enumerator_of)
		check_enumerator(k, n->child, &to, name);
	else
		check_both(k, n->child, &to, value);
}

void check_enums(struct checker *k, struct node *n)
{
	struct meaning m;
	if (n->kind == NODE_LET)
		check_let(k, n);
	if (n->kind == NODE_MAP || n->kind == NODE_CALL)
		check_look_up(k, n);
	if (n->kind != NODE_BINARY)
		return;
	struct node *left = n->child, *right = left->next;
	check_comparison(k, node_operator(n), left, right);
	check_comparison(k, node_operator(n), right, left);
	if (!(node_operator(n) & OP_EQUALITY))
		return;
	if (is_of_enum(k, left, &m))
		check_both(k, left, &m, right);
	check_text_of_enum(k, left, right);
	check_text_of_enum(k, right, left);
}
