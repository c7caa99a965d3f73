#include "bind/unknown.h"

#include "bind/call.h"
#include "bind/choice.h"
#include "bind/edit.h"
#include "out/dialect.h"

#define MAX_NAMES 5 // in one call that is written once for each case: 32 copies

/** A call that prints names. */
struct printing {
	struct bind *b;
	struct call call;
	struct choice *args[CALL_MAX_ARGS];
	bool has_name[CALL_MAX_ARGS]; // there may be a name in it, and its conversion is %s
	unsigned n_names;
	bool needs_statements;
};

/** A call that prints names for %s? */
static bool parse_printing(struct bind *b, struct token *t, const struct map *tables,
			   struct printing *ret)
{
	*ret = (struct printing){.b = b};
	if (!call_parse(t, &ret->call))
		return false;
	struct str format = ret->call.format->text;
	size_t at = 0, end = 0;
	for (size_t i = 0; i < ret->call.n_args; i++, at = end) {
		const struct call_arg *arg = &ret->call.args[i];
		if (!call_next_conversion(format, &at, &end))
			break; // bpftrace will say that there are too many
		ret->args[i] = choice_parse(b->arena, tables, arg->first, arg->last);
		ret->has_name[i] = format.p[end - 1] == 's' && ret->args[i]->kind != CHOICE_PLAIN;
		ret->n_names += ret->has_name[i];
		ret->needs_statements |= ret->has_name[i] && choice_needs_statements(ret->args[i]);
	}
	return ret->n_names;
}

/** The number of argument @i, when its name is missing. */
static struct str number_text(const struct printing *p, size_t i)
{
	struct arena *a = p->b->arena;
	const struct choice *c = p->args[i];
	return c->kind == CHOICE_EITHER
		   ? c->number
		   : str_from(arena_printf(a, "(int64)(" STR_FMT ")",
					   STR_ARG(edit_text(a, c->key_first, c->key_last))));
}

/** For C's printf: "%s" becomes "%s%.0ld", its argument is followed by the number or 0. */
static void add_numbers(struct printing *p)
{
	struct call *c = &p->call;
	struct arena *a = p->b->arena;
	struct strbuf format;
	strbuf_init(&format);
	struct str rest = c->format->text;
	size_t at = 0, end = 0, done = 0;
	for (size_t i = 0; i < c->n_args && call_next_conversion(rest, &at, &end); i++, at = end) {
		strbuf_adds(&format, str_slice(rest, done, end - done));
		done = end;
		if (!p->has_name[i])
			continue;
		strbuf_addz(&format, "%.0ld");
		struct str number = number_text(p, i);
		const char *text =
		    p->args[i]->kind == CHOICE_EITHER
			? arena_printf(a, ", " STR_FMT, STR_ARG(number))
			: arena_printf(a, ", " STR_FMT " == \"\" ? " STR_FMT " : 0",
				       STR_ARG(choice_name(a, p->args[i])), STR_ARG(number));
		edit_insert_after(a, c->args[i].last, str_from(text));
	}
	strbuf_adds(&format, str_from_offset(rest, done));
	c->format->text = str_copy(a, strbuf_str(&format));
	strbuf_fini(&format);
}

/** The call with the arguments in the set @numbers (bits) as numbers. */
static void write_case(const struct printing *p, uint32_t numbers, struct strbuf *ret)
{
	struct str format = p->call.format->text;
	struct strbuf args;
	strbuf_init(&args);
	strbuf_addf(ret, STR_FMT "(", STR_ARG(p->call.first->text));
	size_t at = 0, end = 0, done = 0;
	for (size_t i = 0; i < p->call.n_args; i++) {
		const struct call_arg *arg = &p->call.args[i];
		bool is_number = numbers >> i & 1;
		if (call_next_conversion(format, &at, &end)) {
			strbuf_adds(ret, str_slice(format, done, end - done - is_number));
			strbuf_addz(ret, is_number ? "ld" : "");
			done = at = end;
		}
		struct str text =
		    is_number ? number_text(p, i) : edit_text(p->b->arena, arg->first, arg->last);
		strbuf_addf(&args, ", " STR_FMT, STR_ARG(text));
	}
	strbuf_adds(ret, str_from_offset(format, done));
	strbuf_adds(ret, strbuf_str(&args));
	strbuf_addz(ret, ");");
	strbuf_fini(&args);
}

/** Asks about the arguments from @i on. A number is never 0: tables have a name for that. */
static void write_cases(const struct printing *p, size_t i, uint32_t numbers, struct strbuf *ret)
{
	while (i < p->call.n_args && !p->has_name[i])
		i++;
	if (i == p->call.n_args) {
		write_case(p, numbers, ret);
		return;
	}
	const struct choice *c = p->args[i];
	if (c->kind == CHOICE_EITHER)
		strbuf_addf(ret, "if (" STR_FMT " != 0) { ", STR_ARG(c->number));
	else
		strbuf_addf(ret, "if (" STR_FMT " == \"\") { ",
			    STR_ARG(choice_name(p->b->arena, c)));
	write_cases(p, i + 1, numbers | (uint32_t)1 << i, ret);
	strbuf_addz(ret, " } else { ");
	write_cases(p, i + 1, numbers, ret);
	strbuf_addz(ret, " }");
}

/** For bpftrace's own printf: the whole statement under ifs. */
static void split_cases(struct printing *p)
{
	struct strbuf text;
	strbuf_init(&text);
	write_cases(p, 0, 0, &text);
	struct token *last = p->call.last;
	if (tok_is(last->next, ";"))
		last = last->next;
	struct script_range whole = {p->call.first, last};
	edit_replace(&whole, str_copy(p->b->arena, strbuf_str(&text)));
	strbuf_fini(&text);
}

/** @before may be ours: a brace with an `if`. */
static bool is_statement(const struct token *before, const struct call *c)
{
	return (str_has_suffix(before->text, STR("{")) || str_has_suffix(before->text, STR("}")) ||
		tok_is(before, ";")) &&
	       (tok_is(c->last->next, ";") || tok_is(c->last->next, "}"));
}

static bool rewrite(struct printing *p, struct fresh *fresh, struct token *before)
{
	struct bind *b = p->b;
	struct diag_place at = tok_place(p->call.first);
	bool splits = dialect_has_own_printf(b->version);
	if (!is_statement(before, &p->call) && (splits || p->needs_statements))
		return diag_error(b->diag, &at,
				  "names of an enum are printed inside of an expression: make this "
				  "call a statement of its own, under an if");
	if (splits && p->n_names > MAX_NAMES)
		return diag_error(b->diag, &at,
				  "bpftrace 0.%u cannot print more than %d names of enums in one "
				  "call: use several",
				  b->version, MAX_NAMES);
	struct strbuf text;
	strbuf_init(&text);
	for (size_t i = 0; i < p->call.n_args; i++)
		if (p->has_name[i])
			choice_prepare(fresh, p->args[i], &text);
	struct str statements = str_copy(b->arena, str_trim(strbuf_str(&text)));
	strbuf_fini(&text);
	if (splits)
		split_cases(p);
	else
		add_numbers(p);
	if (statements.n)
		edit_insert_after(b->arena, before, statements)->use = p->call.first->use;
	return true;
}

bool unknown_rewrite(struct bind *b, const struct map *tables)
{
	struct fresh fresh;
	bool good = true;
	fresh_init(&fresh, b->arena, &b->script);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		struct script_range body = b->script.clauses.v[i].body;
		struct token *before = body.first;
		for (struct token *t = before->next; t != body.last && t->kind != TOK_EOF;
		     before = t, t = t->next) {
			struct printing p;
			if (parse_printing(b, t, tables, &p))
				good &= rewrite(&p, &fresh, before);
		}
	}
	return good;
}
