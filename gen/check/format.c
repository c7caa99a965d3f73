#include "check/check_priv.h"

#include <string.h>

#include "lang/format.h"
#include "out/dialect.h"

/**
 * The flag in @conversion that bpftrace before 0.24 does not know, 0 when there is none: it looks
 * for `% -? digits . digits letters` and leaves printing to C's printf(), which takes an argument
 * for these, too (measured: "%d% core:%d" printed "7ore:" and a number from nowhere).
 */
static char unknown_flag(struct str conversion)
{
	for (size_t i = 1; i < conversion.n; i++)
		if (strchr("+ #", conversion.p[i]))
			return conversion.p[i];
	return 0;
}

static bool say_unknown_flag(struct bind *b, const struct token *format, size_t at, size_t end)
{
	struct str conversion = str_slice(format->text, at, end - at);
	struct diag_place place = tok_place(format);
	place.col += (unsigned)at;
	place.len = (unsigned)conversion.n;
	return diag_check(b->diag, "format", DIAG_ERROR, &place,
			  "bpftrace 0.%u does not know the flag '%c' of \"" STR_FMT
			  "\" and would print garbage: write %%%% for a percent sign",
			  b->version, unknown_flag(conversion), STR_ARG(conversion));
}

/** What stands behind the last conversion that bpftrace knows is text to printf(), too. */
static bool check_conversions(struct bind *b, const struct token *format)
{
	struct str text = format->text;
	struct conversion bad = {0};
	for (struct conversion c = {0}; format_next(text, &c);) {
		if (!strchr("hlLqjztdiouxXeEfFgGaAcspnCSm", c.letter))
			continue; // "5%, ": no conversion to anybody
		bool known = !unknown_flag(str_slice(text, c.at, c.end - c.at));
		if (known && bad.end)
			return say_unknown_flag(b, format, bad.at, bad.end);
		if (!known && !bad.end)
			bad = c;
	}
	return true;
}

struct flags {
	struct bind *b;
	bool good;
};

static bool visit_flags(void *ctx, struct node *n, struct node *parent)
{
	struct flags *f = ctx;
	const struct node *format = format_find(n);
	(void)parent;
	if (format)
		f->good &= check_conversions(f->b, format->name);
	return true;
}

bool check_flags(struct bind *b, const struct script_clause *c)
{
	struct flags f = {b, true};
	if (!dialect_has_own_printf(b->version))
		node_walk(c->node, visit_flags, &f);
	return f.good;
}

// --- a conversion and its value ---

/** One conversion of a format, and what it is given. */
struct given {
	struct checker *k;
	const struct node *value;
	struct str conversion; // "%-5d"
	struct diag_place at;  // of the value
	struct meaning m;
};

static bool is_integral(char letter)
{
	return strchr("diuxX", letter) != NULL;
}

/** %s of a number. */
static void check_text_of_number(struct given *g)
{
	struct bind *b = g->k->b;
	const char *text = check_text(g->k, g->value);
	struct ctype *t = g->m.plain;
	if (check_is_string(t)) {
		g->k->good &=
		    diag_check(b->diag, "format", DIAG_ERROR, &g->at,
			       "%%s needs the text, and this is its address: use str(%s)", text);
	} else if (t && t->kind == CTYPE_ENUM) {
		g->k->good &= diag_check(b->diag, "format", DIAG_ERROR, &g->at,
					 "%%s of a number: use %%d, or enum_name(" STR_FMT
					 ", %s) for its name",
					 STR_ARG(t->name), text);
	} else {
		g->k->good &=
		    diag_check(b->diag, "format", DIAG_ERROR, &g->at, "%%s of a number: use %%d");
	}
	check_note_origin(g->k, g->value);
}

static bool is_plain_number(const struct ctype *t)
{
	return t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL;
}

/** uintptr_t, or a typedef that may stand for what has no other name. */
static bool is_address_word(const struct ctype *t)
{
	for (; t && t->kind == CTYPE_TYPEDEF; t = t->of)
		if (str_contains(t->name, STR("ptr")) || str_contains(t->name, STR("addr")))
			return true;
	return false;
}

/** Is its type the program's? An address that a script reads by itself, *(uint64 *)(arg0 + 8), is a number to bpftrace. */
static bool is_given(const struct node *value)
{
	return value->expr->arg_of || value->expr->in;
}

/** %d and the like, %p, %c of a number whose type is known. */
static void check_number_of(struct given *g, char letter)
{
	struct bind *b = g->k->b;
	struct ctype *t = g->m.plain;
	struct str conversion = g->conversion;
	if (check_is_floating(&g->m) && strchr("diuc", letter)) {
		g->k->good &=
		    diag_check(b->diag, "floating-point", check_level(&g->m), &g->at,
			       STR_FMT " prints the bits of a floating-point number, of "
				       "which bpftrace knows nothing: -t prints its value",
			       STR_ARG(conversion));
	} else if (check_is_string(t) && letter != 'p') { // %p asks for the address
		g->k->good &= diag_check(b->diag, "string-address", DIAG_WARNING, &g->at,
					 STR_FMT " prints the address of a string: use %%s with "
						 "str(%s) for its text",
					 STR_ARG(conversion), check_text(g->k, g->value));
	} else if (t && t->kind == CTYPE_POINTER && strchr("diuc", letter)) {
		g->k->good &= diag_check(b->diag, "format", DIAG_WARNING, &g->at,
					 STR_FMT " of a pointer: use %%p", STR_ARG(conversion));
	} else if (letter == 'p' && t && is_plain_number(t) && is_given(g->value) &&
		   !is_address_word(g->m.type)) {
		g->k->good &= diag_check(b->diag, "format", DIAG_WARNING, &g->at,
					 "%%p of a number that is no pointer: use %%d or %%x");
	} else {
		return;
	}
	check_note_origin(g->k, g->value);
}

static void check_given(struct given *g, char letter)
{
	enum expr_kind kind = g->value->expr ? g->value->expr->kind : EXPR_OPEN;
	bool is_text = kind == EXPR_TEXT || kind == EXPR_SHOWN;
	if (kind == EXPR_OPEN || kind == EXPR_MIXED)
		return;
	check_meaning(g->k, g->value, &g->m);
	if (letter == 's' && kind == EXPR_NUMBER)
		check_text_of_number(g);
	else if (is_text && (is_integral(letter) || letter == 'p' || letter == 'c'))
		g->k->good &= diag_check(g->k->b->diag, "format", DIAG_ERROR, &g->at,
					 STR_FMT " of a text: use %%s", STR_ARG(g->conversion));
	else if (kind == EXPR_NUMBER && (is_integral(letter) || letter == 'p' || letter == 'c'))
		check_number_of(g, letter);
}

void check_format(struct checker *k, struct node *n, struct node *parent)
{
	const struct node *format = format_find(n);
	struct conversion c = {0};
	(void)parent;
	if (!format)
		return;
	struct str text = format->name->text;
	for (const struct node *value = format->next; value && format_next(text, &c);
	     value = value->next) {
		struct given g = {.k = k,
				  .value = value,
				  .conversion = str_slice(text, c.at, c.end - c.at),
				  .at = tok_place(value->first)};
		check_given(&g, c.letter);
	}
}
