// Types: how a cast names them, and the definitions before the program.

#include "ctype/cname.h"
#include "ctype/cprint.h"
#include "emit/emit_priv.h"
#include "lang/print.h"
#include "sema/targettype.h"

struct str types_pointer(struct emitter *e, struct ctype *type)
{
	struct str name, tag;
	struct ctype *to = targettype_pointee(type, &name);
	if (!to)
		return STR("");
	if (!ctype_is_aggregate(to))
		return str_printf(e->arena, "%sint%u *", to->is_signed ? "" : "u",
				  (unsigned)to->size * 8);
	if (!ctype_complete(to)) {
		if (!targettype_is_scripts(e->b, to->name))
			return STR("");
		tag = to->name; // the program only declares it, the script defines it
	} else if (!closure_add(&e->types, to, name, &tag)) {
		return STR("");
	}
	return str_printf(e->arena, "%s " STR_FMT " *",
			  to->kind == CTYPE_UNION ? "union" : "struct",
			  STR_ARG(word_spell(e->arena, tag).s));
}

static bool is_taken(void *ctx, struct str tag)
{
	const struct emitter *e = ctx;
	return targettype_is_taken(e->b, tag);
}

static bool follow(void *ctx, struct ctype *owner, const struct ctype_member *m)
{
	const struct emitter *e = ctx;
	(void)owner;
	return targettype_is_accessed(e->b, m->name);
}

/** A number type as every bpftrace spells it: "int32", or "int64)(int32" to extend by the sign. */
static const char *scalar_name(struct arena *a, struct ctype *t, bool is_bare)
{
	bool is_signed = t->is_signed && t->kind != CTYPE_BOOL;
	if (!ctype_is_word(t->size))
		return NULL;
	unsigned bits = (unsigned)t->size * 8;
	if (is_signed && bits < 64 && !is_bare)
		return arena_printf(a, "int64)(int%u", bits);
	return arena_printf(a, "%sint%u", is_signed ? "" : "u", bits);
}

/** Adds the definition of a type of the target; the name becomes `struct tag`, or a number type. */
static bool use_type(struct emitter *e, const struct node *n, bool is_cast,
		     const struct targettype_name *name, struct ctype *t, struct str *ret)
{
	struct arena *a = e->arena;
	unsigned stars = name->stars;
	const char *spelling = NULL;
	t = ctype_strip(t);
	if (t && t->kind == CTYPE_POINTER && ctype_strip(t->of)) { // a typedef of a pointer
		t = ctype_strip(t->of);
		stars++;
	}
	if (t && ctype_is_aggregate(t)) {
		struct str tag;
		if (!closure_add(&e->types, t, targettype_bare(name->name), &tag))
			return false;
		spelling =
		    arena_printf(a, "%s " STR_FMT, t->kind == CTYPE_UNION ? "union" : "struct",
				 STR_ARG(word_spell(a, tag).s));
	} else if (ctype_is_number(t)) {
		spelling = scalar_name(a, t, stars || !is_cast);
	}
	static const char all[] = "********";
	if (!spelling || stars >= sizeof(all))
		return true;
	struct str rest = STR(""); // const, [4]
	for (const struct token *p = name->end; p != n->last->next; p = p->next)
		rest = str_printf(a, STR_FMT " " STR_FMT, STR_ARG(rest), STR_ARG(p->text));
	*ret = str_printf(a, "%s%s%s" STR_FMT, spelling, stars ? " " : "",
			  all + sizeof(all) - 1 - stars, STR_ARG(rest));
	return true;
}

/** May the type at @n be one of the kernel's: in its clauses, and of what curtask leads to? */
static bool may_be_kernel(const struct emitter *e, const struct node *n)
{
	for (const struct node *p = n->next; p; p = node_next(n->next, p))
		if (node_is(p, NODE_NAME, "curtask"))
			return true;
	return targettype_is_kernel_clause(e->clause->clause);
}

/** No type of the target has this name: bpftrace knows it, or reports it. */
static bool miss(struct emitter *e, const struct targettype_name *name, const struct node *n)
{
	const struct bind *b = e->b;
	if (!targettype_is_kernel(b, name->name)) {
		lookup_report_unknown(bind_lookup(b), tok_at(name->last), "type", name->name,
				      NAME_TYPES);
		if (may_be_kernel(e, n))
			targettype_note_kernel(b);
		return false;
	}
	bool of_kernel = n->next && node_is(n->next, NODE_NAME, "curtask"); // a cast of curtask
	if (e->clause->has_user && !e->clause->has_other && !of_kernel &&
	    map_add(b->arena, &e->reported_types, name->name))
		return diag_finding(b->diag, "kernel-type", DIAG_WARNING, tok_at(name->last),
				    "%s has no " STR_FMT ": using the kernel's",
				    bind_target_name(b), STR_ARG(name->name));
	return true;
}

bool types_spell(struct emitter *e, const struct node *n, bool is_cast, struct str *ret)
{
	const struct bind *b = e->b;
	struct targettype_name name = {0};
	struct ctype *type;
	*ret = STR("");
	if (targettype_find(b, e->clause, n, &name, &type))
		return use_type(e, n, is_cast, &name, type, ret);
	e->has_other_types |= !vocabulary_type(name.name);
	if (!name.has_keyword || targettype_is_scripts(b, targettype_bare(name.name)) ||
	    (targettype_is_kernel_clause(e->clause->clause) && targettype_is_kernel(b, name.name)))
		return true;
	return miss(e, &name, n);
}

bool types_need_kernel(const struct emitter *e)
{
	const struct bind *b = e->b;
	const struct script *s = &b->found.script;
	bool needs = e->has_other_types || b->given->has_family || s->definitions.n ||
		     b->found.pp->n_c_headers || !b->given->files;
	for (size_t i = 0; i < s->clauses.n; i++)
		needs |= targettype_is_kernel_clause(s->clauses.v[i]);
	for (const struct node *n = s->program; n; n = node_next(s->program, n))
		needs |= node_is(n, NODE_NAME, "curtask") || node_is(n, NODE_NAME, "ctx");
	return needs;
}

/** `offsetof(TYPE, path)` as a number. */
static bool fold_offset(const struct bind *b, const struct node *call, struct ctype *type,
			struct str *ret)
{
	const struct node *path = call->child->next;
	struct ctype_place place;
	struct ctype *in;
	struct str bad;
	if (!ctype_resolve(type, print_text(b->arena, path), &place, &bad, &in))
		return diag_error(b->diag, tok_at(path->first), STR_FMT " has no member " STR_FMT,
				  STR_ARG(ctype_spell(b->arena, in)), STR_ARG(bad));
	if (place.bit_size)
		return diag_error(b->diag, tok_at(path->first),
				  "a bitfield has no offset in bytes");
	*ret = str_printf(b->arena, "%" PRIu64, place.off);
	return true;
}

bool types_fold(struct emitter *e, const struct node *call, struct str *ret)
{
	const struct bind *b = e->b;
	const struct node *first = call->child;
	struct targettype_name name;
	struct ctype *type;
	uint64_t size = 8;
	bool is_size = tok_is(call->name, "sizeof");
	*ret = STR("");
	if (!first || !(is_size ? !first->next : tok_is(call->name, "offsetof") && first->next) ||
	    !targettype_find(b, e->clause, first, &name, &type))
		return true; // a kernel type, or reported when its tag is resolved
	if (!targettype_is_whole(first, &name))
		return true;
	if (!is_size)
		return name.stars || fold_offset(b, call, type, ret);
	if (name.stars || ctype_size(type, &size))
		*ret = str_printf(b->arena, "%" PRIu64, size);
	return true;
}

bool types_has_room(const struct emitter *e, struct str word)
{
	const struct bind *b = e->b;
	struct str spelled = cname_ident(b->arena, word, true);
	return str_is_ident(word) && str_eq(spelled, word) && !vocabulary_is_builtin(word) &&
	       !targettype_is_scripts(b, word) && !targettype_defines(b, word) &&
	       !b->found.pp->n_c_headers && !targettype_is_kernel_word(b, word);
}

void types_begin(struct emitter *e)
{
	struct closure_options opt = {
	    .follow = follow, .is_taken = is_taken, .ctx = e, .for_bpftrace = true};
	closure_init(&e->types, e->arena, e->b->diag, &opt);
}

void types_prepend(struct emitter *e, struct token **program, const struct code *text)
{
	struct token *added = arena_new(e->arena, struct token);
	if (!code_str(text).n)
		return;
	*added = (struct token){.kind = TOK_DIRECTIVE,
				.text = str_trim(str_copy(e->arena, code_str(text))),
				.bol = true,
				.from_macro = true,
				.next = *program};
	*program = added;
}

bool types_define(struct emitter *e, struct token **program)
{
	struct code text = {0};
	bool good = cprint_definitions(&text, &e->types, false);
	if (good)
		types_prepend(e, program, &text);
	code_fini(&text);
	return good;
}
