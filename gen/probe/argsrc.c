#include "probe/argsrc.h"

#include <dwarf.h>
#include <elf.h>

#include "dwarf/dwload.h"
#include "lang/parse.h"
#include "probe/argtype.h"
#include "source/call.h"

static struct ctype *new_char(struct dwsrc *src)
{
	return ctype_new_char(src->arena, src->img->machine == EM_X86_64);
}

/** `unsigned long` and the like, whose words C has in any order; NULL when @words are no integer. */
static struct ctype *find_integer(struct dwsrc *src, struct str words)
{
	// As clang calls them in the debug information, else as gcc does.
	static const char *const names[4][4] = {
	    {"int", "unsigned int", "int", "unsigned int"},
	    {"long", "unsigned long", "long int", "long unsigned int"},
	    {"long long", "unsigned long long", "long long int", "long long unsigned int"},
	    {"short", "unsigned short", "short int", "short unsigned int"}};
	static const unsigned sizes[] = {4, 8, 8, 2};
	static const char *const integer[] = {"unsigned", "signed", "long", "short",
					      "int",	  "char",   NULL};
	bool is_unsigned = false, is_signed = false, is_char = false;
	size_t i = 0;
	while (words.n) {
		struct str w = str_take_until(&words, ' ');
		is_unsigned |= str_eqz(w, "unsigned");
		is_signed |= str_eqz(w, "signed");
		is_char |= str_eqz(w, "char");
		i += str_eqz(w, "short") ? 3 : str_eqz(w, "long");
		if (i > 3 || !str_is_any(w, integer))
			return NULL;
	}
	if (is_char && !is_unsigned && !is_signed)
		return new_char(src);
	if (is_char)
		return ctype_new(src->arena, CTYPE_INT,
				 is_unsigned ? "unsigned char" : "signed char", 1, is_signed);
	struct ctype *known = dwload_first(src, str_from(names[i][is_unsigned]), NAME_BASE, NULL);
	return known ? known
		     : ctype_new(src->arena, CTYPE_INT, names[i][2 + is_unsigned], sizes[i],
				 !is_unsigned);
}

/** `const struct x *` and the like; NULL for void, and for what is no name of a known type. */
static struct ctype *find_type(struct argloc *l, const struct node *n)
{
	struct arena *a = l->src->arena;
	struct str name = {0};
	bool is_const = false;
	unsigned stars = 0;
	for (const struct token *t = n->first; t != n->last->next; t = t->next) {
		bool is_star = tok_is(t, "*");
		if (tok_is(t, "volatile") || (!is_star && (stars || t->kind != TOK_IDENT)))
			return NULL;
		stars += is_star;
		if (tok_is(t, "const"))
			is_const = true;
		else if (!is_star)
			name = str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(name), name.n ? " " : "",
					  STR_ARG(t->text));
	}
	bool is_void = str_eqz(name, "void"), is_one = str_find(name, ' ') == name.n;
	struct ctype *t = find_integer(l->src, name);
	if (!t && !is_void)
		t = dwload_first(l->src, name, is_one ? NAME_TYPEDEF | NAME_BASE : NAME_TYPES,
				 &l->scope->unit);
	// `(x) & 3` is no cast where x is a variable, which hides the type.
	if ((!t && !is_void) || (!stars && argloc_variable(l, name)))
		return NULL;
	if (is_const)
		t = ctype_new_of(a, CTYPE_CONST, t);
	for (; stars; stars--)
		t = ctype_new_pointer(a, t, 8);
	return t;
}

/** What @t refers to, if it is a reference; else @t. */
static struct ctype *referred(struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	return bare && bare->kind == CTYPE_REFERENCE ? bare->of : t;
}

static struct ctype *pointee(struct ctype *t)
{
	t = ctype_strip(referred(t));
	return t && (t->kind == CTYPE_POINTER || t->kind == CTYPE_ARRAY) ? t->of : NULL;
}

static struct ctype *member_of(struct ctype *t, struct str name)
{
	struct ctype_place place;
	struct str bad;
	struct ctype *in;
	t = ctype_strip(referred(t));
	bool is_found = t && ctype_is_aggregate(t) && ctype_resolve(t, name, &place, &bad, &in);
	return is_found && !place.bit_size ? place.type : NULL;
}

/** What function @name returns, if the unit knows it; in C++ there may be several. */
static struct ctype *result_of(struct argloc *l, struct str name)
{
	Dwarf_Die unit = l->scope->unit;
	struct dwwalk w = {0};
	for (Dwarf_Die die = {0}; dwsrc_is_c(&unit) && dwsrc_next_child(l->src, &w, &unit, &die);)
		if (dwarf_tag(&die) == DW_TAG_subprogram &&
		    str_eq(name, str_from(dwarf_diename(&die))))
			return dwload_type_of(l->src, &die);
	return NULL;
}

/** Of the function, else a global. */
static struct ctype *variable(struct argloc *l, struct str name)
{
	const struct argloc_var *v = argloc_variable(l, name);
	struct ctype *t;
	if (v)
		return v->type;
	return argloc_names_globals(l) && argloc_global(l, &name, &t) ? t : NULL;
}

static struct ctype *type_of_node(struct argloc *l, const struct node *n);

/** `(T)x`, where it is certain that the word in brackets is a type. */
static struct ctype *cast(struct argloc *l, const struct node *type, const struct node *x)
{
	bool is_operand = tok_is(x->first, "(") || type_of_node(l, x);
	return is_operand && type->kind == NODE_TYPE ? find_type(l, type) : NULL;
}

/** As declared; NULL when it is void or not known. */
static struct ctype *type_of_node(struct argloc *l, const struct node *n)
{
	struct arena *a = l->src->arena;
	const struct node *x = n->child;
	struct ctype *t;
	uint64_t v;
	switch (n->kind) {
	case NODE_NUMBER:
		return str_to_u64(n->name->text, &v) && v <= INT32_MAX
			   ? ctype_new(a, CTYPE_INT, "int", 4, true)
			   : NULL;
	case NODE_STRING:
		return ctype_new_pointer(a, new_char(l->src), 8);
	case NODE_NAME:
		return n->first == n->last ? variable(l, n->name->text) : NULL;
	case NODE_CALL:
		return tok_is(n->name, "sizeof") ? find_integer(l->src, STR("unsigned long"))
						 : result_of(l, n->name->text);
	case NODE_GROUP:
		return type_of_node(l, x);
	case NODE_MEMBER:
		t = type_of_node(l, x);
		return member_of(tok_is(x->last->next, "->") ? pointee(t) : t, n->name->text);
	case NODE_INDEX:
		return pointee(type_of_node(l, x));
	case NODE_UNARY:
		t = type_of_node(l, x);
		if (tok_is(n->name, "*"))
			return pointee(t);
		return t && tok_is(n->name, "&") ? ctype_new_pointer(a, referred(t), 8) : NULL;
	case NODE_CAST:
		return cast(l, x, x->next);
	default:
		return NULL;
	}
}

/** The type of C expression @expr at the site. */
static struct ctype *type_of(struct argloc *l, struct str expr)
{
	struct arena a = {0};
	const struct node *n = parse_c_expression(&a, expr);
	struct ctype *t = n ? type_of_node(l, n) : NULL;
	arena_fini(&a);
	return t;
}

uint64_t argsrc_string_max(struct argloc *l, struct str expr)
{
	struct ctype *t = ctype_strip(type_of(l, expr));
	struct ctype *of = t && t->kind == CTYPE_ARRAY && t->has_count ? ctype_strip(t->of) : NULL;
	return of && of->kind == CTYPE_INT && of->is_char && t->count ? t->count - 1 : 0;
}

// --- a call

static bool is_literal(struct str expr)
{
	struct str s = expr;
	while (s.n && (s.p[0] == '-' || s.p[0] == '(' || s.p[0] == ' '))
		s = str_from_offset(s, 1);
	return s.n && (isdigit((unsigned char)s.p[0]) || s.p[0] == '"' || s.p[0] == '\'');
}

/** `spdk_get_ticks()`, a call without arguments, is `ticks`. */
static struct str name_of_getter(struct str call)
{
	struct str name = argname_take_token(&call);
	const char *get = name.n ? memmem(name.p, name.n, "get_", 4) : NULL;
	bool is_getter = get && str_eqz(call, "()") && (get == name.p || get[-1] == '_');
	return is_getter ? str_from_offset(name, (size_t)(get + 4 - name.p)) : (struct str){0};
}

static struct argsrc_arg read_arg(struct argloc *l, const struct call_part *part)
{
	struct arena *a = l->src->arena;
	struct argname_arg arg;
	argname_parse(a, part->text, &arg);
	if (!arg.name.n)
		arg.name = name_of_getter(arg.expr);
	if (!part->is_known)
		return (struct argsrc_arg){.name = arg.name};
	return (struct argsrc_arg){.expr = arg.expr,
				   .name = arg.name,
				   .type = argtype_of_value(a, type_of(l, arg.expr)),
				   .is_literal = is_literal(arg.expr),
				   .is_added = part->is_added,
				   .var = argloc_variable(l, arg.expr)};
}

const struct argsrc_arg *argsrc_read(struct argloc *l, struct str probe, size_t n)
{
	const struct call_part *parts = call_read(l->src, l->scope, probe, n);
	struct argsrc_arg *ret = arena_array(l->src->arena, struct argsrc_arg, n);
	for (size_t i = 0; parts && i < n; i++)
		ret[i] = read_arg(l, &parts[i]);
	return parts ? ret : NULL;
}
