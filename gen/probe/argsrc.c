#include "probe/argsrc.h"

#include <ctype.h>
#include <dwarf.h>
#include <elf.h>

#include "ctype/namequery.h"
#include "dwarf/dwload.h"
#include "probe/argtype.h"
#include "source/call.h"
#include "usdt/argname.h"

enum { MAX_DEPTH = 32 };

struct reading {
	struct argloc *loc;
	struct str rest;
	unsigned depth;
	bool failed;
};

static struct ctype *fail(struct reading *r)
{
	r->failed = true;
	return NULL;
}

static void skip_blanks(struct reading *r)
{
	for (;;) {
		r->rest = str_trim(r->rest);
		if (!str_has_prefix(r->rest, STR("/*")) && !str_has_prefix(r->rest, STR("//")))
			return;
		r->rest = argname_skip_token(r->rest);
	}
}

static bool eat(struct reading *r, const char *token)
{
	skip_blanks(r);
	return str_take(&r->rest, str_from(token));
}

static bool at_word(struct reading *r)
{
	skip_blanks(r);
	return r->rest.n && (isalpha((unsigned char)r->rest.p[0]) || r->rest.p[0] == '_');
}

static struct str take_word(struct reading *r)
{
	struct str behind = argname_skip_token(r->rest);
	struct str word = {r->rest.p, r->rest.n - behind.n};
	r->rest = behind;
	return word;
}

/** Over all that is in brackets here; false: there are none, or they are not closed. */
static bool skip_brackets(struct reading *r)
{
	skip_blanks(r);
	size_t close = str_has(str_slice(r->rest, 0, 1), "([") ? argname_close(r->rest) : r->rest.n;
	bool is_closed = close < r->rest.n;
	r->rest = str_from_offset(r->rest, is_closed ? close + 1 : 0);
	return is_closed;
}

static struct ctype *parse_unary(struct reading *r);

// --- types

/** The integer types that C spells with several words, in any order. */
static struct ctype *integer_of_words(struct reading *r, struct str words)
{
	struct arena *a = r->loc->src->arena;
	bool is_unsigned = str_contains(words, STR("unsigned"));
	bool is_signed = !is_unsigned && str_contains(words, STR("signed"));
	bool is_char = str_contains(words, STR("char"));
	if (is_char && !is_unsigned && !is_signed)
		return ctype_new_char(a, r->loc->src->img->machine == EM_X86_64);
	if (is_char)
		return ctype_new(a, CTYPE_INT, is_unsigned ? "unsigned char" : "signed char", 1,
				 is_signed);
	// As clang calls them in the debug information, else as gcc does.
	static const char *const names[4][4] = {
	    {"int", "unsigned int", "int", "unsigned int"},
	    {"long", "unsigned long", "long int", "long unsigned int"},
	    {"long long", "unsigned long long", "long long int", "long long unsigned int"},
	    {"short", "unsigned short", "short int", "short unsigned int"}};
	static const unsigned sizes[] = {4, 8, 8, 2};
	size_t i = str_contains(words, STR("short")) ? 3 : 0;
	for (size_t k = 0; k < words.n && i < 2; k++)
		i += str_has_prefix(str_from_offset(words, k), STR("long"));
	struct ctype *known =
	    dwload_first(r->loc->src, str_from(names[i][is_unsigned]), NAME_BASE, NULL);
	return known ? known
		     : ctype_new(a, CTYPE_INT, names[i][2 + is_unsigned], sizes[i], !is_unsigned);
}

/**
 * `const struct x *` and the like, up to the end of @text; false when it is not the name of a known
 * type.
 */
static bool parse_type(struct reading *r, struct str text, struct ctype **ret)
{
	static const char *const integer_words[] = {"unsigned", "signed", "long", "short",
						    "int",	"char",	  NULL};
	struct arena *a = r->loc->src->arena;
	struct reading t = {.loc = r->loc, .rest = text};
	struct str base = {0};
	bool is_const = false, integers = false, is_void = false;
	unsigned kinds = 0;
	while (at_word(&t)) {
		const char *start = t.rest.p;
		struct str w = take_word(&t);
		if (str_eqz(w, "const")) {
			is_const = true;
		} else if (str_eqz(w, "volatile")) {
			return false;
		} else if (str_eqz(w, "struct") || str_eqz(w, "union") || str_eqz(w, "enum")) {
			if (base.n)
				return false;
			kinds = str_eqz(w, "struct")  ? NAME_STRUCT
				: str_eqz(w, "union") ? NAME_UNION
						      : NAME_ENUM;
		} else if (str_is_any(w, integer_words) && (!base.n || integers)) {
			base = base.n ? (struct str){base.p, (size_t)(w.p + w.n - base.p)}
				      : (struct str){start, (size_t)(w.p + w.n - start)};
			integers = true;
		} else if (str_eqz(w, "void") && !base.n) {
			is_void = true;
			base = w;
		} else if (!base.n) {
			base = w;
		} else {
			return false;
		}
	}
	if (!base.n || (is_const && integers && kinds))
		return false;
	struct ctype *type = NULL;
	if (integers)
		type = integer_of_words(r, base);
	else if (!is_void)
		type =
		    dwload_first(r->loc->src, base, kinds ? kinds : NAME_TYPEDEF | NAME_BASE, NULL);
	if (!type && !is_void)
		return false;
	if (is_const)
		type = ctype_new_of(a, CTYPE_CONST, type);
	while (eat(&t, "*"))
		type = ctype_new_pointer(a, type, 8);
	skip_blanks(&t);
	*ret = type;
	return t.rest.n == 0;
}

// --- operands

/** What @t refers to, if it is a reference; else @t. */
static struct ctype *referred(struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	return bare && bare->kind == CTYPE_REFERENCE ? bare->of : t;
}

static struct ctype *pointee(struct reading *r, struct ctype *t)
{
	t = ctype_strip(referred(t));
	if (!t || (t->kind != CTYPE_POINTER && t->kind != CTYPE_ARRAY) || !t->of)
		return fail(r);
	return t->of;
}

static struct ctype *member_of(struct reading *r, struct ctype *t)
{
	struct ctype_place place;
	struct str bad;
	struct ctype *in;
	t = ctype_strip(referred(t));
	if (!t || !at_word(r))
		return fail(r);
	struct str name = take_word(r);
	if (!ctype_is_aggregate(t) || !ctype_resolve(t, name, &place, &bad, &in) || place.bit_size)
		return fail(r);
	return place.type;
}

/** What function @name returns, if the unit knows it; in C++ there may be several. */
static struct ctype *result_of(struct reading *r, struct str name)
{
	struct dwsrc *src = r->loc->src;
	Dwarf_Die unit = r->loc->scope->unit;
	struct dwwalk w = {0};
	if (!dwsrc_is_c(&unit))
		return fail(r);
	for (Dwarf_Die die = {0}; dwsrc_next_child(src, &w, &unit, &die);)
		if (dwarf_tag(&die) == DW_TAG_subprogram &&
		    str_eqz(name, dwarf_diename(&die) ? dwarf_diename(&die) : ""))
			return dwload_type_of(src, &die);
	return fail(r);
}

/** Of the function, else a global. */
static struct ctype *variable(struct reading *r, struct str name)
{
	const struct argloc_var *v = argloc_variable(r->loc, name);
	if (v)
		return v->type ? v->type : fail(r);
	struct ctype *t;
	return argloc_names_globals(r->loc) && argloc_global(r->loc, &name, &t) ? t : fail(r);
}

static struct ctype *parse_primary(struct reading *r)
{
	if (eat(r, "(")) {
		struct ctype *t = parse_unary(r);
		return eat(r, ")") ? t : fail(r);
	}
	if (r->rest.n && r->rest.p[0] == '"') {
		struct ctype *c =
		    ctype_new_char(r->loc->src->arena, r->loc->src->img->machine == EM_X86_64);
		while (r->rest.n && r->rest.p[0] == '"') {
			take_word(r);
			skip_blanks(r);
		}
		return ctype_new_pointer(r->loc->src->arena, c, 8);
	}
	if (r->rest.n && isdigit((unsigned char)r->rest.p[0])) {
		struct str number = take_word(r);
		uint64_t v;
		return str_to_u64(number, &v) && v <= INT32_MAX
			   ? ctype_new(r->loc->src->arena, CTYPE_INT, "int", 4, true)
			   : fail(r);
	}
	if (!at_word(r))
		return fail(r);
	struct str name = take_word(r);
	skip_blanks(r);
	if (str_has_prefix(r->rest, STR("("))) {
		if (!skip_brackets(r))
			return fail(r);
		return str_eqz(name, "sizeof") ? integer_of_words(r, STR("unsigned long"))
					       : result_of(r, name);
	}
	return variable(r, name);
}

static struct ctype *parse_postfix(struct reading *r)
{
	struct ctype *t = parse_primary(r);
	while (!r->failed) {
		if (eat(r, "->")) {
			t = member_of(r, pointee(r, t));
		} else if (str_has_prefix(r->rest, STR("["))) {
			t = skip_brackets(r) ? pointee(r, t) : fail(r);
		} else if (eat(r, ".")) {
			t = member_of(r, t);
		} else {
			break;
		}
	}
	return r->failed ? NULL : t;
}

static struct ctype *parse_unary(struct reading *r)
{
	struct arena *a = r->loc->src->arena;
	struct ctype *t = NULL;
	if (++r->depth > MAX_DEPTH)
		return fail(r);
	skip_blanks(r);
	struct str open = r->rest;
	struct ctype *type;
	if (eat(r, "&")) {
		t = referred(parse_unary(r));
		t = r->failed || !t ? NULL : ctype_new_pointer(a, t, 8);
	} else if (eat(r, "*")) {
		t = parse_unary(r);
		t = r->failed ? NULL : pointee(r, t);
	} else if (str_has_prefix(open, STR("(")) && skip_brackets(r) &&
		   parse_type(r, str_slice(open, 1, open.n - r->rest.n - 2), &type)) {
		struct reading sub = {.loc = r->loc, .rest = r->rest, .depth = r->depth};
		parse_unary(&sub);
		// The operand may be anything in parentheses: the type is the cast's.
		skip_blanks(r);
		if (sub.failed && (!str_has_prefix(r->rest, STR("(")) || !skip_brackets(r)))
			return fail(r);
		r->rest = sub.failed ? r->rest : sub.rest;
		t = type;
	} else {
		r->rest = open;
		t = parse_postfix(r);
	}
	r->depth--;
	return t;
}

/** The type of C expression @expr at the site, as declared; NULL when it is void or not known. */
static struct ctype *type_of(struct argloc *l, struct str expr)
{
	struct reading r = {.loc = l, .rest = expr};
	struct ctype *t = parse_unary(&r);
	skip_blanks(&r);
	return r.failed || r.rest.n ? NULL : t;
}

uint64_t argsrc_string_max(struct argloc *l, struct str expr)
{
	struct ctype *t = ctype_strip(type_of(l, expr));
	struct ctype *of = t && t->kind == CTYPE_ARRAY && t->has_count ? ctype_strip(t->of) : NULL;
	return of && of->kind == CTYPE_INT && of->is_char && t->count ? t->count - 1 : 0;
}

// --- a call

enum { MAX_ARGS = 32 };

static bool is_literal(struct str expr)
{
	struct str s = expr;
	while (s.n && (s.p[0] == '-' || s.p[0] == '(' || s.p[0] == ' '))
		s = str_from_offset(s, 1);
	return s.n && (isdigit((unsigned char)s.p[0]) || s.p[0] == '"' || s.p[0] == '\'');
}

static struct argsrc_arg read_arg(struct argloc *l, const struct call_part *part)
{
	struct arena *a = l->src->arena;
	struct argname_arg arg;
	argname_parse(a, part->text, &arg);
	if (!part->is_known)
		return (struct argsrc_arg){.name = arg.name};
	return (struct argsrc_arg){.expr = arg.expr,
				   .name = arg.name,
				   .type = argtype_of_value(a, type_of(l, arg.expr)),
				   .is_literal = is_literal(arg.expr),
				   .is_added = part->is_added,
				   .var = argloc_variable(l, arg.expr)};
}

bool argsrc_read(struct argloc *l, struct str probe, struct argsrc_arg *ret, size_t max,
		 size_t *ret_n)
{
	struct call_part parts[MAX_ARGS];
	if (!call_read(l->src, l->scope, probe, parts, max < MAX_ARGS ? max : MAX_ARGS, ret_n))
		return false;
	for (size_t i = 0; i < *ret_n; i++)
		ret[i] = read_arg(l, &parts[i]);
	return true;
}
