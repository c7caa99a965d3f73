#include "lower/lower_priv.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "bind/argread.h"
#include "bind/bind.h"
#include "lower/constant.h"
#include "lower/division.h"
#include "lower/exprtype.h"
#include "lang/format.h"
#include "bind/namedarg.h"
#include "lower/targettype.h"
#include "lang/change.h"
#include "lang/print.h"
#include "lang/vocabulary.h"
#include "out/dialect.h"
#include "ctype/cname.h"

enum { MAX_TEXT = 32768 }; // of one expression, which may stand several times in what it becomes

static void lower_children(struct lowerer *lo, struct node *n)
{
	for (struct node *c = n->child; c && lo->good; c = c->next)
		lower_node(lo, c, n);
}

bool lower_fits(struct lowerer *lo, const struct node *n)
{
	struct diag_place at = tok_place(n->first);
	if (lo->good && n->size > MAX_TEXT)
		lo->good = diag_error(
		    lo->b->diag, &at,
		    "the code for this becomes too long: keep a part of it in a variable");
	return lo->good;
}

bool lower_is_number_type(const struct ctype *t)
{
	return t && (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL);
}

/** A pointer is asked whether it is NULL: a number in that place. */
static void ask_pointer(struct lowerer *lo, struct node *n)
{
	const struct ctype *t = n->expr ? ctype_strip(n->expr->type) : NULL;
	bool is_named = n->kind == NODE_MEMBER && node_is(n->child, NODE_NAME, "args");
	if (lo->good && lo->b->files && t && t->kind == CTYPE_POINTER && !is_named)
		change(lo->b->arena, n, "(uint64)(%n)", n);
}

/**
 * bpftrace has no ! of a pointer in any version, and 0.17 neither && and || nor a condition
 * (measured).
 */
static void lower_asked(struct lowerer *lo, struct node *n)
{
	bool is_pair = node_is(n, NODE_BINARY, "&&") || node_is(n, NODE_BINARY, "||");
	if (n->kind == NODE_TERNARY || is_pair || node_is(n, NODE_UNARY, "!"))
		ask_pointer(lo, n->child);
	if (is_pair)
		ask_pointer(lo, n->child->next);
	for (struct node *c = n->child; c && n->kind == NODE_IF; c = c->next)
		if (c->kind != NODE_BLOCK)
			ask_pointer(lo, c);
}

/** bpftrace takes what comes of a choice of pointers for 0. */
static void lower_ternary(struct lowerer *lo, struct node *n, const struct node *parent)
{
	struct arena *a = lo->b->arena;
	struct node *yes = n->child->next, *no = yes->next;
	struct str name = STR("");
	struct ctype *to = ctype_pointee(n->expr->type);
	lower_children(lo, n);
	lower_asked(lo, n);
	if (no)
		lower_choice(lo, n);
	if (to && ctype_is_aggregate(to))
		name = targettype_pointer(lo->b, n->expr->type);
	if (!name.n || !no || !lo->good)
		return;
	bool is_inner = parent->kind == NODE_TERNARY && parent->child != n;
	const struct node *choice =
	    lower_sums_choice(lo, n)
		? change_text(a, n,
			      "((uint64)!!(%n) * (uint64)(%n) + (uint64)!(%n) * (uint64)(%n))",
			      n->child, yes, n->child, no)
		: change_text(a, n, "(%n ? (uint64)(%n) : (uint64)(%n))", n->child, yes, no);
	if (is_inner)
		change(a, n, "%n", choice);
	else
		change(a, n, "(%t)%n", name, choice);
}

/** Operators whose result depends on the sign of what they are applied to. */
static bool minds_sign(const struct node *n)
{
	static const char *const operators[] = {"<", ">", "<=", ">=", "/", "%", ">>", NULL};
	return n->kind == NODE_BINARY && tok_is_any(n->name, operators);
}

/**
 * What must stand before argN: bpftrace before 0.24 takes every one for an unsigned 64-bit number,
 * `arg2 < 0` is never true. From 0.24 on it takes it for a signed one. Where sites disagree it has
 * the value with the sign of each.
 */
static const char *arg_cast(struct lowerer *lo, unsigned i, bool is_kept_unsigned)
{
	struct bind *b = lo->b;
	unsigned size;
	enum sign sign = exprtype_arg_sign(b, lo->clause, i, &size);
	if (dialect_has_signed_args(b->version))
		return is_kept_unsigned && sign == SIGN_UNSIGNED && size == 8 ? "(uint64)" : "";
	if (sign != SIGN_SIGNED)
		return "";
	return size && size < 8 ? arena_printf(b->arena, "(int64)(int%u)", size * 8) : "(int64)";
}

static void lower_arg(struct lowerer *lo, struct node *n, const struct node *parent)
{
	const struct attach_clause *c = lo->clause;
	unsigned i;
	if (!vocabulary_arg_number(n->name->text, &i) || c->has_other || c->has_uprobe)
		return;
	struct str place, text = argread_find(lo->b, c, i, &place);
	const char *cast = arg_cast(lo, i, minds_sign(parent));
	if (text.n)
		change(lo->b->arena, n, "%t", text);
	else if (*cast)
		change(lo->b->arena, n, "%sarg%u", cast, (uint64_t)i);
}

/**
 * Is the value followed, or kept where it may be followed later? Other uses are those of a number.
 */
static bool is_followed(const struct bind *b, const struct node *n, const struct node *parent)
{
	switch (parent->kind) {
	case NODE_CALL:
		return script_macro(&b->script, parent) != NULL;
	case NODE_MEMBER:
	case NODE_TUPLE:
	case NODE_LET:
		return true;
	case NODE_INDEX:
	case NODE_TERNARY:
		return (parent->child == n) == (parent->kind == NODE_INDEX);
	case NODE_ASSIGN:
		return parent->child != n;
	case NODE_UNARY:
		return tok_is(parent->name, "*");
	case NODE_BINARY: // a pointer that is moved
		return tok_is(parent->name, "+") || tok_is(parent->name, "-");
	default:
		return false;
	}
}

/** `retval`, whose type exprtype has found: the sign of a number, the members behind a pointer. */
static void lower_retval(struct lowerer *lo, struct node *n)
{
	struct arena *a = lo->b->arena;
	struct ctype *t = ctype_strip(n->expr->type);
	struct str pointer = targettype_pointer(lo->b, n->expr->type);
	if (t->kind == CTYPE_POINTER && pointer.n)
		change(a, n, "((%t)retval)", pointer);
	else if (lower_is_number_type(t) && t->size < 8)
		change(a, n, "(%sint64)(%sint%u)retval", t->is_signed ? "" : "u",
		       t->is_signed ? "" : "u", t->size * 8);
	else if (lower_is_number_type(t) && t->is_signed)
		change(a, n, "(int64)retval");
}

/** args.name, with or without brackets around it, is argN; false for what is none of a usdt probe or function. */
static bool lower_named(struct lowerer *lo, struct node *n, const struct node *parent)
{
	struct arena *a = lo->b->arena;
	struct node *name = node_ungrouped(n);
	unsigned i;
	const struct probearg *arg =
	    name->kind == NODE_MEMBER && node_is(name->child, NODE_NAME, "args")
		? namedarg_find(lo->b, lo->clause, name->name, &i)
		: NULL;
	if (!arg)
		return false;
	struct ctype *t = ctype_strip(arg->type);
	struct str pointer =
	    is_followed(lo->b, n, parent) ? targettype_pointer(lo->b, arg->type) : STR("");
	struct str place, text = argread_find(lo->b, lo->clause, i, &place);
	const char *cast = "";
	if (pointer.n)
		cast = arena_printf(a, "(" STR_FMT ")", STR_ARG(pointer));
	else if ((arg->sizes_differ || lo->clause->params) && lower_is_number_type(t) &&
		 t->size <= 8 && t->size > 0)
		cast = arena_printf(a, "(%sint64)(%sint%u)", t->is_signed ? "" : "u",
				    t->is_signed ? "" : "u", (unsigned)t->size * 8);
	else if (!arg->sizes_differ && !text.n && !lo->clause->params)
		cast = arg_cast(lo, i,
				minds_sign(parent) ||
				    (t && t->kind == CTYPE_INT && !t->is_signed && t->size == 8));
	if (!text.n)
		text = str_printf(a, "arg%u", i);
	change(a, name, pointer.n ? "(%s%t)" : "%s%t", cast, text);
	return true;
}

/** `sizeof(x)` is a number: from 0.23 on bpftrace counts a byte more for a char array. */
static bool fold_sizeof(struct lowerer *lo, struct node *n)
{
	const struct expr *e = n->child ? n->child->expr : NULL;
	uint64_t size;
	if (!tok_is(n->name, "sizeof") || !e || !(e->is_place || e->is_value) || e->bit_size ||
	    !ctype_size(e->type, &size)) {
		lo->good = targettype_fold(lo->b, lo->clause, n);
		return n->kind == NODE_NUMBER;
	}
	change_leaf(lo->b->arena, n, NODE_NUMBER, str_printf(lo->b->arena, "%" PRIu64, size));
	return true;
}

/**
 * str() of a char array in a struct that is held as a value: to bpftrace it is a string, and str()
 * of it nothing.
 */
static bool lower_str_of_value(struct lowerer *lo, struct node *n)
{
	const struct node *array = n->child;
	uint64_t size;
	if (!tok_is(n->name, "str") || !array || !array->expr->is_value || !array->expr->type ||
	    !lower_is_char_array(ctype_strip(array->expr->type), true, &size))
		return false;
	struct diag_place at = tok_place(n->first);
	if (array->next) {
		lo->good = diag_error(lo->b->diag, &at,
				      "str() with a length cannot be used on a copy of a struct: "
				      "read the member through a pointer");
		return true;
	}
	lower_children(lo, n);
	change(lo->b->arena, n, "%n", array);
	return true;
}

/** `let $s : enum state = x`: to bpftrace it is a number, with the sign that the type has. */
static void lower_let(struct lowerer *lo, struct node *n)
{
	struct arena *a = lo->b->arena;
	struct node *type = n->child->next, *value = type ? type->next : NULL;
	lower_children(lo, n);
	struct ctype *t = ctype_strip(n->child->expr->type);
	struct targettype_name name;
	if (!lo->good || !type || type->kind != NODE_TYPE || !lower_is_number_type(t) ||
	    !targettype_read(a, type, &name) || vocabulary_type(name.name))
		return;
	const char *to = t->is_signed ? "int64" : "uint64";
	if (value)
		change(a, value, "(%s)(%n)", to, value);
	change(a, type, "%s", to);
}

static bool is_kept_in_map(const struct node *n, const struct node *parent)
{
	return parent->kind == NODE_ASSIGN && parent->child->kind == NODE_MAP && parent->child != n;
}

/** print(*p), @m = *p: what bpftrace makes of the bitfields in there is out of our hands. */
static void warn_of_copied_bits(struct lowerer *lo, const struct node *n, const struct node *parent)
{
	bool prints = node_is(parent, NODE_CALL, "print") && parent->child == n;
	bool is_kept = is_kept_in_map(n, parent);
	bool is_element = parent->kind == NODE_TUPLE;
	if ((!prints && !is_kept && !is_element) || !ctype_has_bitfields(n->expr->type))
		return;
	struct diag_place at = tok_place(n->first);
	diag_check(lo->b->diag, "bitfield", DIAG_WARNING, &at,
		   "bpftrace %s the bitfields of a whole " STR_FMT
		   " wrong: name the members one by one",
		   prints ? "prints" : "keeps",
		   STR_ARG(ctype_spell(lo->b->arena, ctype_strip(n->expr->type))));
}

/**
 * %d, %u and %x print 32 bits of what has more; %ld and the like print narrower values right, too.
 */
static void widen_format(struct lowerer *lo, struct node *n)
{
	struct node *format = lo->b->files ? format_find(n) : NULL;
	struct conversion c = {0};
	struct strbuf text;
	size_t done = 0;
	if (!format)
		return;
	struct str rest = node_text(format);
	strbuf_init(&text);
	for (const struct node *arg = format->next; arg && format_next(rest, &c); arg = arg->next) {
		bool has_width = c.end < 2 || strchr("lhz", rest.p[c.end - 2]);
		if (!arg->expr || !arg->expr->is_wide || has_width || !strchr("diuxX", c.letter))
			continue;
		strbuf_adds(&text, str_slice(rest, done, c.end - 1 - done));
		strbuf_addc(&text, 'l');
		done = c.end - 1;
	}
	strbuf_adds(&text, str_from_offset(rest, done));
	if (done)
		change_leaf(lo->b->arena, format, NODE_STRING,
			    str_copy(lo->b->arena, strbuf_str(&text)));
	strbuf_fini(&text);
}

/**
 * `%%` behind the last value: bpftrace before 0.24 prints what stands there as it is. One that would
 * be a conversion, with what follows it, is left alone.
 */
static void lower_percent(struct lowerer *lo, struct node *n)
{
	struct node *format = dialect_has_own_printf(lo->b->version) ? NULL : format_find(n);
	struct conversion c = {0};
	struct strbuf text;
	if (!format || !lo->b->files || !tok_is(n->name, "printf"))
		return; // a host's script stays as it is
	struct str whole = node_text(format);
	for (const struct node *arg = format->next; arg && format_next(whole, &c); arg = arg->next)
		;
	strbuf_init(&text);
	strbuf_adds(&text, str_slice(whole, 0, c.end));
	for (size_t i = c.end; i < whole.n; i++) {
		strbuf_addc(&text, whole.p[i]);
		if (!str_has_prefix(str_from_offset(whole, i), STR("%%")))
			continue;
		i++;
		if (isalnum((unsigned char)whole.p[i + 1]) || strchr("-.%", whole.p[i + 1]))
			strbuf_addc(&text, whole.p[i]);
	}
	if (text.n < whole.n)
		change_leaf(lo->b->arena, format, NODE_STRING,
			    str_copy(lo->b->arena, strbuf_str(&text)));
	strbuf_fini(&text);
}

/** print(*p), @m = *p of a struct with floating-point numbers. */
static void refuse_floats(struct lowerer *lo, const struct node *n, const struct node *parent)
{
	unsigned v = lo->b->version;
	bool prints = node_is(parent, NODE_CALL, "print") && parent->child == n;
	if ((!prints && !is_kept_in_map(n, parent)) || dialect_prints_floats(v) ||
	    !ctype_has_floats(n->expr->type))
		return;
	struct diag_place at = tok_place(n->first);
	struct str what = ctype_spell(lo->b->arena, ctype_strip(n->expr->type));
	if (prints)
		lo->good =
		    diag_check(lo->b->diag, "floating-point", DIAG_ERROR, &at,
			       "bpftrace " DIALECT_FMT " cannot print a whole " STR_FMT
			       ", which has floating-point members: name the others one by one",
			       DIALECT_ARG(v), STR_ARG(what));
	else
		diag_check(lo->b->diag, "floating-point", DIAG_WARNING, &at,
			   "bpftrace " DIALECT_FMT " cannot print a whole " STR_FMT
			   ", which has floating-point members: clear() the map in END",
			   DIALECT_ARG(v), STR_ARG(what));
}

void lower_node(struct lowerer *lo, struct node *n, const struct node *parent)
{
	if (!lo->good)
		return;
	if (n->expr && n->expr->type) {
		refuse_floats(lo, n, parent);
		warn_of_copied_bits(lo, n, parent);
	}
	if (lower_named(lo, n, parent))
		return;
	bool is_step = n->kind == NODE_MEMBER || n->kind == NODE_INDEX || n->kind == NODE_GROUP ||
		       n->kind == NODE_UNARY;
	if (n->expr && (n->expr->is_place || n->expr->is_value) && is_step) {
		lower_place(lo, n, parent);
	} else if (n->kind == NODE_LET) {
		lower_let(lo, n);
	} else if (n->kind == NODE_TERNARY) {
		lower_ternary(lo, n, parent);
	} else if (n->kind == NODE_TYPE) {
		lo->good = targettype_lower(lo->b, lo->clause, n, parent);
	} else if (n->kind == NODE_NAME && n->expr && n->expr->is_substituted) {
		return; // an enumerator of that name is not meant
	} else if (node_is(n, NODE_NAME, "retval") && n->expr && n->expr->type) {
		lower_retval(lo, n);
	} else if (n->kind == NODE_NAME) {
		lower_arg(lo, n, parent);
		lo->good = n->is_changed || constant_lower(lo->b, lo->clause, n, parent);
	} else if (n->kind != NODE_CALL || (!fold_sizeof(lo, n) && !lower_str_of_value(lo, n))) {
		if (n->kind == NODE_CALL) {
			widen_format(lo, n);
			lower_percent(lo, n);
		}
		lower_children(lo, n);
		lower_asked(lo, n);
		lower_operator(lo, n);
		lower_truth(lo, n, parent);
	}
}

/** A declaration without a body holds nothing to look into. */
static bool find_opaque(void *ctx, struct node *n, struct node *parent)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	struct node **found = ctx;
	if (!*found && n->kind == NODE_OPAQUE && !n->is_changed &&
	    !(parent->kind == NODE_PROGRAM && tok_is_any(n->first, tags)))
		*found = n;
	return !*found;
}

/**
 * Says once that what a newer bpftrace may take is not understood here; an older one refuses it,
 * and says so itself.
 */
static void warn_of_opaque(struct bind *b, struct node *program)
{
	struct node *found = NULL;
	if (b->version > DIALECT_NEWEST)
		node_walk(program, find_opaque, &found);
	if (!found)
		return;
	struct diag_place at = tok_place(found->first);
	diag_warning(b->diag, &at,
		     "unknown syntax (btgen knows bpftrace's language up to 0.%u): passed on "
		     "unchanged and unchecked",
		     DIALECT_NEWEST);
}

bool lower_program(struct bind *b)
{
	struct lowerer lo = {.b = b, .good = true};
	warn_of_opaque(b, b->script.program);
	bool good = true;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		lo.clause = &b->clauses[i];
		lo.good = true;
		bind_lookup_from(b, i);
		lower_children(&lo, b->script.clauses.v[i].node);
		good &= lo.good;
	}
	return good;
}
