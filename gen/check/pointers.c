// What is followed as a pointer, and what it leads to in the program.
#include "check/check_priv.h"

#include "sema/arg_fact.h"

#include "bind/namedarg.h"

enum { MAX_NESTING = 20 };     // of structs that begin with structs
enum { MAX_LOOKED_AT = 1000 }; // of them, where all of a union's members begin it
enum { FIRST_PAGE = 4096 };    // where nothing lies

static bool is_named_alike(struct ctype *a, struct ctype *b)
{
	return a->name.n || b->name.n ? str_eq(a->name, b->name) : ctype_is_same(a, b);
}

/**
 * Is @inner @outer, or a base class of it, or what it or one of its first members begins with?
 * *@left: how many may still be looked at; then it may be.
 */
static bool begins_with(struct ctype *outer, struct ctype *inner, unsigned depth, unsigned *left)
{
	outer = ctype_element(outer);
	if (!outer || !ctype_is_aggregate(outer) || depth > MAX_NESTING || !ctype_complete(outer))
		return false;
	if (!*left || is_named_alike(outer, inner))
		return true;
	(*left)--;
	list_each(const struct ctype_member, m, outer->members, outer->n_members)
		if ((m->off == 0 || m->is_base) && begins_with(m->type, inner, depth + 1, left))
			return true;
	return false;
}

/** "family" of sin_family */
static struct str without_prefix(struct str name)
{
	size_t at = str_find(name, '_');
	return at + 1 < name.n ? str_from_offset(name, at + 1) : name;
}

/**
 * Structs that stand for each other without one in the other begin with the same member: `NodeTag
 * type` of all of PostgreSQL's nodes, sa_family and sin_family of addresses.
 */
static bool begin_alike(const struct ctype *a, const struct ctype *b)
{
	if (!a->n_members || !b->n_members)
		return true;
	const struct ctype_member *m = &a->members[0], *n = &b->members[0];
	return ctype_is_same(m->type, n->type) &&
	       str_eq(without_prefix(m->name), without_prefix(n->name));
}

/** May what is declared to be a @declared be read as a @meant? */
static bool may_be(struct ctype *declared, struct ctype *meant)
{
	unsigned left = MAX_LOOKED_AT;
	return !ctype_is_aggregate(declared) || !ctype_complete(declared) ||
	       !ctype_complete(meant) || begins_with(declared, meant, 0, &left) ||
	       begins_with(meant, declared, 0, &left) || begin_alike(declared, meant);
}

/** What no pointer fits in, whatever else it may hold. */
static bool is_too_narrow(const struct ctype *t)
{
	return t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL ||
	       (t->kind == CTYPE_INT && t->has_size && t->size < 8);
}

/** @value points to a member of @to that is not its first: how to come from there to the whole. */
static void note_container(struct checker *k, struct node *value, struct ctype *to,
			   struct ctype *of)
{
	struct arena *a = k->arena;
	list_each(const struct ctype_member, m, to->members, to->n_members) {
		struct ctype *t = ctype_strip(m->type);
		if (!t || !ctype_is_aggregate(t) || !str_is_ident(m->name) ||
		    !is_named_alike(t, of))
			continue;
		struct str whole = ctype_spell(a, to);
		diag_note(k->b->diag, NULL,
			  "its member " STR_FMT " is one: write (" STR_FMT
			  " *)((uint64)%s - offsetof(" STR_FMT ", " STR_FMT "))",
			  STR_ARG(m->name), STR_ARG(whole), check_text(k, value), STR_ARG(whole),
			  STR_ARG(m->name));
		return;
	}
}

/** `(struct a *)x`, of which something is read. */
static void check_cast(struct checker *k, struct node *cast)
{
	struct node *value = cast->child->next;
	struct arena *a = k->arena;
	struct meaning m;
	struct ctype *to = cast->expr ? ctype_pointee(cast->expr->type) : NULL;
	if (!to || !ctype_is_aggregate(to) || !check_meaning(k, value, &m) || !m.plain)
		return;
	struct ctype *of = ctype_pointee(m.plain);
	if (is_too_narrow(m.plain)) {
		check_report_at(k, cast->first, "pointer", check_level(&m),
				"%s is not a pointer: it has type " STR_FMT, check_text(k, value),
				STR_ARG(ctype_spell(a, m.type)));
	} else if (of && of->kind == CTYPE_POINTER && ctype_strip(of->of) &&
		   ctype_is_same(ctype_strip(of->of), to)) {
		check_report_at(k, cast->first, "pointer", check_level(&m),
				"%s is " STR_FMT ", a pointer to a pointer: use *%s",
				check_text(k, value), STR_ARG(ctype_spell(a, m.type)),
				check_text(k, value));
	} else if (of && !may_be(of, to)) {
		check_report_at(k, cast->first, "pointer", check_level(&m),
				"%s points to " STR_FMT ", not to " STR_FMT, check_text(k, value),
				STR_ARG(ctype_spell(a, of)), STR_ARG(ctype_spell(a, to)));
		note_container(k, value, to, of);
	} else {
		return;
	}
	check_note_origin(k, value);
}

/** `let $p : struct a * = x`, where the type acts as a cast. */
static void check_let(struct checker *k, struct node *n)
{
	struct node *type = n->child->next, *value = type ? node_ungrouped(type->next) : NULL;
	struct meaning m;
	if (!value || type->kind != NODE_TYPE || value->kind == NODE_CAST)
		return;
	struct ctype *to = n->child->expr ? ctype_pointee(n->child->expr->type) : NULL;
	struct ctype *of = check_meaning(k, value, &m) ? ctype_pointee(m.plain) : NULL;
	if (!to || !of || !ctype_is_aggregate(to) || may_be(of, to))
		return;
	check_report(k, value, "pointer", check_level(&m),
		     "%s points to " STR_FMT ", not to " STR_FMT, check_text(k, value),
		     STR_ARG(ctype_spell(k->arena, of)), STR_ARG(ctype_spell(k->arena, to)));
}

/** args.name or a cast of argN, with which bpftrace can follow it. */
static const char *as_pointer(struct checker *k, const struct node *value, const struct meaning *m)
{
	const struct probearg *arg = arg_fact_of(k->b, value->expr);
	if (arg && arg->has_name)
		return arena_printf(k->arena, "args." STR_FMT, STR_ARG(arg->name));
	return arena_printf(k->arena, "((" STR_FMT ")%s)", STR_ARG(ctype_spell(k->arena, m->type)),
			    check_text(k, value));
}

/** `arg0->member`, `$x[1]` of a number. @how: "->member" or "[...]" */
static void check_used_number(struct checker *k, const struct node *of, const char *how)
{
	struct meaning m;
	bool is_index = *how == '[';
	const struct expr *e = of->expr;
	if (!e || e->kind != EXPR_NUMBER)
		return;
	if (!check_meaning(k, of, &m) || !m.plain) {
		// An argument without a type, in a program without debug information.
		if (e->arg_of && !e->is_mixed && !e->type)
			k->good &= !namedarg_report_stripped(
			    &e->arg_of->probes.v[0], tok_at(of->first),
			    arena_printf(k->arena, "what %s points to", check_text(k, of)));
		return;
	}
	struct ctype *to = ctype_pointee(m.plain);
	bool is_pointer = m.plain->kind == CTYPE_POINTER;
	bool has_some = is_index ? is_pointer : to && ctype_is_aggregate(to);
	bool may_have = is_pointer && (!to || to->kind == CTYPE_VOID);
	if (!of->expr->type && has_some)
		check_report(k, of, "pointer", DIAG_ERROR,
			     "bpftrace treats %s as a number: write %s%s", check_text(k, of),
			     as_pointer(k, of, &m), how);
	else if (!has_some && !may_have)
		check_report(k, of, "pointer", DIAG_ERROR,
			     "%s has type " STR_FMT ", which has no %s", check_text(k, of),
			     STR_ARG(ctype_spell(k->arena, m.type)),
			     is_index ? "elements" : "members");
}

static void check_member(struct checker *k, const struct node *n)
{
	const struct node *of = node_ungrouped(n->child);
	// `(*arg0).member` is `arg0->member`, where nothing is known of `*arg0` itself.
	if (node_is(of, NODE_UNARY, "*") && !(of->expr && of->expr->type))
		of = node_ungrouped(of->child);
	if (n->name->kind == TOK_IDENT)
		check_used_number(k, of,
				  arena_printf(k->arena, "->" STR_FMT, STR_ARG(n->name->text)));
}

/** `*x` of a number; of argN, of which bpftrace reads 8 bytes. */
static void check_pointee(struct checker *k, struct node *of)
{
	struct meaning m;
	uint64_t size;
	if (!of->expr || of->expr->kind != EXPR_NUMBER || !check_meaning(k, of, &m) || !m.plain)
		return;
	struct ctype *to = ctype_pointee(m.plain);
	if (is_too_narrow(m.plain))
		check_report(k, of, "pointer", check_level(&m),
			     "%s is not a pointer: it has type " STR_FMT, check_text(k, of),
			     STR_ARG(ctype_spell(k->arena, m.type)));
	else if (!of->expr->type && to && ctype_size(to, &size) && size < 8)
		check_report(k, of, "pointer", check_level(&m),
			     "bpftrace treats %s as a number and reads 8 bytes there: write *%s",
			     check_text(k, of), as_pointer(k, of, &m));
}

/** What is followed, or kept where it will be. */
static void check_followed(struct checker *k, struct node *value)
{
	value = value ? node_ungrouped(value) : NULL;
	// After a struct, at (struct b *)(p + 1), is another type.
	if (value && value->kind == NODE_CAST && value->child->next &&
	    node_ungrouped(value->child->next)->kind != NODE_BINARY)
		check_cast(k, value);
}

/** `pointer == 5`, but not 0, -1 and addresses. */
static void check_address(struct checker *k, const struct token *op, struct node *value,
			  struct node *other)
{
	struct meaning m, with;
	struct constant c;
	if (!check_meaning(k, value, &m) || !m.plain || m.plain->kind != CTYPE_POINTER)
		return;
	if (check_constant(k, other, &c)) {
		bool is_hex = str_has_prefix(node_ungrouped(other)->first->text, STR("0x"));
		struct ctype *to = ctype_pointee(m.plain);
		// 1 is a marker in places: SIG_IGN, (void *)1.
		if (is_hex || c.is_negative || c.bits == 0 || c.bits >= FIRST_PAGE - 1 ||
		    (c.bits == 1 && (!to || to->kind == CTYPE_VOID || to->kind == CTYPE_FUNC)))
			return;
		check_report_at(k, op, "pointer", DIAG_WARNING,
				"%s is a pointer, but is compared with %s", check_text(k, value),
				check_text(k, other));
	} else if (check_meaning(k, other, &with) && with.plain && is_too_narrow(with.plain)) {
		check_report_at(k, op, "pointer", DIAG_WARNING,
				"%s is a pointer, but is compared with %s, which has type " STR_FMT,
				check_text(k, value), check_text(k, other),
				STR_ARG(ctype_spell(k->arena, with.type)));
	} else {
		return;
	}
	check_note_origin(k, value);
}

void check_pointers(struct checker *k, struct node *n)
{
	switch (n->kind) {
	case NODE_MEMBER:
		check_followed(k, n->child);
		check_member(k, n);
		break;
	case NODE_INDEX:
		check_followed(k, n->child);
		check_used_number(k, node_ungrouped(n->child), "[...]");
		break;
	case NODE_UNARY:
		if (!tok_is(n->name, "*"))
			break;
		check_followed(k, n->child);
		check_pointee(k, node_ungrouped(n->child));
		break;
	case NODE_ASSIGN:
		if (tok_is(n->name, "="))
			check_followed(k, n->child->next);
		break;
	case NODE_LET:
		check_followed(k, n->last_child);
		check_let(k, n);
		break;
	case NODE_BINARY:
		if (!(node_operator(n) & OP_COMPARISON))
			break;
		check_address(k, n->name, n->child, n->child->next);
		check_address(k, n->name, n->child->next, n->child);
		break;
	default:
		break;
	}
}
