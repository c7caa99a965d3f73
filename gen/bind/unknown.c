#include "bind/unknown.h"

#include <ctype.h>
#include <string.h>

#include "bind/edit.h"
#include "out/dialect.h"

#define MAX_ARGS 32 // of one printf(); more are left alone
#define MAX_NAMES 3 // tables in one printf() that is written once for each case: 8 copies

/** One argument of a printf(). */
struct arg {
	struct token *first, *last;
	struct str key; // of a table's map; empty for other arguments
};

struct call {
	struct token *first, *format, *last; // `printf` ... `)`
	struct arg args[MAX_ARGS];
	size_t n_args, n_names;
};

/** The key when the argument is `@map[key]` and nothing else, and @map a table. */
static struct str table_key(struct arena *a, const struct arg *arg, const struct map *tables)
{
	const struct token *at = arg->first, *name = at->next, *open = name->next;
	if (!tok_is(at, "@") || name->kind != TOK_IDENT || !map_get(tables, name->text) ||
	    !tok_is(open, "[") || !tok_is(arg->last, "]") || open->next == arg->last)
		return STR("");
	int depth = 0;
	const struct token *before = open;
	for (const struct token *t = open; t != arg->last; before = t, t = t->next) {
		depth += tok_is(t, "[") - tok_is(t, "]");
		if (depth == 0)
			return STR(""); // @a[1] + @b[2]
		if (tok_is(t, "++") || tok_is(t, "--"))
			return STR(""); // must not be evaluated twice
	}
	return edit_text(a, open->next, before);
}

/** Splits `printf("format", a, b)` starting at @t; false for what is not written like that. */
static bool parse_call(struct bind *b, struct token *t, const struct map *tables, struct call *ret)
{
	*ret = (struct call){.first = t, .format = t->next->next};
	if (!tok_is(t, "printf") || !tok_is(t->next, "(") || ret->format->kind != TOK_STRING)
		return false;
	t = ret->format->next;
	while (tok_is(t, ",")) {
		if (ret->n_args == MAX_ARGS)
			return false;
		struct arg *arg = &ret->args[ret->n_args++];
		*arg = (struct arg){.first = t->next};
		int depth = 0;
		for (t = t->next; t->kind != TOK_EOF; t = t->next) {
			if (depth == 0 && (tok_is(t, ",") || tok_is(t, ")")))
				break;
			depth += tok_is(t, "(") + tok_is(t, "[") - tok_is(t, ")") - tok_is(t, "]");
			arg->last = t;
		}
		if (!arg->last)
			return false;
		arg->key = table_key(b->arena, arg, tables);
		ret->n_names += arg->key.n > 0;
	}
	ret->last = t;
	return tok_is(t, ")") && ret->n_names;
}

/**
 * The next conversion of a format at or after *@at; *@end is behind its letter. False after the last one. As bpftrace
 * reads them: % - digits . digits letters.
 */
static bool next_conversion(struct str format, size_t *at, size_t *end)
{
	for (size_t i = *at; i < format.n; i++) {
		if (format.p[i] != '%')
			continue;
		size_t e = i + 1;
		if (e < format.n && format.p[e] == '%') {
			i = e;
			continue;
		}
		while (e < format.n && strchr("-+ #0123456789.", format.p[e]))
			e++;
		while (e < format.n && strchr("lhz", format.p[e]))
			e++;
		*at = i;
		*end = e < format.n ? e + 1 : e;
		return true;
	}
	return false;
}

/** For C's printf: "%s" becomes "%s%.0ld", its argument is followed by the number or 0. */
static void add_numbers(struct bind *b, struct call *c)
{
	struct strbuf format;
	strbuf_init(&format);
	struct str rest = c->format->text;
	size_t at = 0, end = 0, done = 0;
	for (size_t i = 0; i < c->n_args && next_conversion(rest, &at, &end); i++, at = end) {
		strbuf_adds(&format, str_slice(rest, done, end - done));
		done = end;
		if (!c->args[i].key.n || rest.p[end - 1] != 's')
			continue;
		strbuf_addz(&format, "%.0ld");
		struct str value = edit_text(b->arena, c->args[i].first, c->args[i].last);
		edit_insert_after(b->arena, c->args[i].last,
				  str_from(arena_printf(
				      b->arena, ", " STR_FMT " == \"\" ? (int64)(" STR_FMT ") : 0",
				      STR_ARG(value), STR_ARG(c->args[i].key))));
	}
	strbuf_adds(&format, str_from_offset(rest, done));
	c->format->text = str_copy(b->arena, strbuf_str(&format));
	strbuf_fini(&format);
}

/** The call with the names whose bit in @numbers is set printed as numbers. */
static void write_case(struct bind *b, const struct call *c, unsigned numbers, struct strbuf *ret)
{
	struct str format = c->format->text;
	struct strbuf args;
	strbuf_init(&args);
	strbuf_addz(ret, "printf(");
	size_t at = 0, end = 0, done = 0;
	unsigned name = 0;
	for (size_t i = 0; i < c->n_args; i++) {
		const struct arg *arg = &c->args[i];
		bool has_conversion = next_conversion(format, &at, &end);
		bool number = arg->key.n && (numbers & 1u << name++) && has_conversion &&
			      format.p[end - 1] == 's';
		if (has_conversion) {
			strbuf_adds(ret, str_slice(format, done, end - done - number));
			strbuf_addz(ret, number ? "ld" : "");
			done = at = end;
		}
		if (number)
			strbuf_addf(&args, ", (int64)(" STR_FMT ")", STR_ARG(arg->key));
		else
			strbuf_addf(&args, ", " STR_FMT,
				    STR_ARG(edit_text(b->arena, arg->first, arg->last)));
	}
	strbuf_adds(ret, str_from_offset(format, done));
	strbuf_adds(ret, strbuf_str(&args));
	strbuf_addz(ret, ");");
	strbuf_fini(&args);
}

/** Asks about the @k-th name and those after it. */
static void write_cases(struct bind *b, const struct call *c, unsigned k, unsigned numbers,
			struct strbuf *ret)
{
	if (k == c->n_names) {
		write_case(b, c, numbers, ret);
		return;
	}
	unsigned seen = 0;
	for (size_t i = 0; i < c->n_args; i++) {
		if (!c->args[i].key.n || seen++ != k)
			continue;
		struct str value = edit_text(b->arena, c->args[i].first, c->args[i].last);
		strbuf_addf(ret, "if (" STR_FMT " == \"\") { ", STR_ARG(value));
		write_cases(b, c, k + 1, numbers | 1u << k, ret);
		strbuf_addz(ret, " } else { ");
		write_cases(b, c, k + 1, numbers, ret);
		strbuf_addz(ret, " }");
	}
}

/** For bpftrace's own printf: the whole statement under ifs. */
static void split_cases(struct bind *b, struct call *c)
{
	struct strbuf text;
	strbuf_init(&text);
	write_cases(b, c, 0, 0, &text);
	struct token *last = c->last;
	if (tok_is(last->next, ";"))
		last = last->next;
	struct script_range whole = {c->first, last};
	edit_replace(&whole, str_copy(b->arena, strbuf_str(&text)));
	strbuf_fini(&text);
}

/** @before may be ours: a brace with an `if`. */
static bool is_statement(const struct token *before, const struct call *c)
{
	return (str_has_suffix(before->text, STR("{")) || str_has_suffix(before->text, STR("}")) ||
		tok_is(before, ";")) &&
	       (tok_is(c->last->next, ";") || tok_is(c->last->next, "}"));
}

void unknown_rewrite(struct bind *b, const struct map *tables)
{
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		struct script_range body = b->script.clauses.v[i].body;
		struct token *before = body.first;
		for (struct token *t = before->next; t != body.last && t->kind != TOK_EOF;
		     before = t, t = t->next) {
			struct call c;
			if (!parse_call(b, t, tables, &c) || !is_statement(before, &c))
				continue;
			if (!dialect_has_own_printf(b->version))
				add_numbers(b, &c);
			else if (c.n_names <= MAX_NAMES)
				split_cases(b, &c);
		}
	}
}
