#include "bind/unknown.h"

#include "bind/call.h"
#include "bind/choice.h"
#include "bind/edit.h"
#include "out/dialect.h"

#define MAX_CASES 32 // copies of one call

/** A call that prints names. */
struct printing {
	struct bind *b;
	struct call call;
	struct choice *args[CALL_MAX_ARGS]; // NULL: nothing in it needs to be looked at
	unsigned n_cases;		    // 0: no name is printed
	bool is_simple; // only names, with keys that may be read again: the call can stay one
	bool splits;	// a case by itself for names that are missing
};

/** Into how many cases does one argument make the call? */
static unsigned cases_of(const struct choice *c, bool splits)
{
	if (c->kind == CHOICE_EITHER)
		return cases_of(c->yes, splits) + cases_of(c->no, splits);
	return c->kind == CHOICE_NAME && splits ? 2 : 1;
}

/** A call that prints names for %s? */
static bool parse_printing(struct bind *b, struct token *t, const struct map *tables,
			   struct fresh *fresh, struct printing *ret)
{
	*ret = (struct printing){.b = b, .splits = dialect_has_own_printf(b->version)};
	if (!call_parse(t, &ret->call))
		return false;
	struct str format = ret->call.format->text;
	size_t at = 0, end = 0;
	ret->is_simple = !ret->splits;
	for (size_t i = 0; i < ret->call.n_args; i++, at = end) {
		const struct call_arg *arg = &ret->call.args[i];
		if (!call_next_conversion(format, &at, &end))
			break; // bpftrace will say that there are too many
		if (format.p[end - 1] != 's')
			continue;
		struct choice *c = choice_parse(fresh, tables, arg->first, arg->last);
		if (c->kind == CHOICE_PLAIN)
			continue;
		ret->args[i] = c;
		ret->is_simple &= c->kind == CHOICE_NAME && c->is_steady;
		ret->n_cases = ret->n_cases ? ret->n_cases : 1;
		if (ret->n_cases <= MAX_CASES)
			ret->n_cases *= cases_of(c, ret->splits);
	}
	return ret->n_cases;
}

/** For C's printf, behind the name: the number if that is missing, else 0. */
static struct str number_or_0(struct arena *a, const struct choice *c)
{
	return str_from(arena_printf(a, STR_FMT " == \"\" ? (int64)(" STR_FMT ") : 0",
				     STR_ARG(choice_name(a, c)), STR_ARG(c->key)));
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
		if (!p->args[i])
			continue;
		strbuf_addz(&format, "%.0ld");
		edit_insert_after(
		    a, c->args[i].last,
		    str_from(arena_printf(a, ", " STR_FMT, STR_ARG(number_or_0(a, p->args[i])))));
	}
	strbuf_adds(&format, str_from_offset(rest, done));
	c->format->text = str_copy(a, strbuf_str(&format));
	strbuf_fini(&format);
}

/** What an argument is in one of the cases. */
struct outcome {
	struct str text;
	const char *conversion; // instead of the s of its %s; NULL: as it is
};

static void write_case(const struct printing *p, const struct outcome *out, struct strbuf *ret)
{
	struct str format = p->call.format->text;
	struct strbuf args;
	strbuf_init(&args);
	strbuf_addf(ret, STR_FMT "(", STR_ARG(p->call.first->text));
	size_t at = 0, end = 0, done = 0;
	for (size_t i = 0; i < p->call.n_args; i++) {
		if (call_next_conversion(format, &at, &end)) {
			const char *other = out[i].conversion;
			strbuf_adds(ret, str_slice(format, done, end - done - (other != NULL)));
			strbuf_addz(ret, other ? other : "");
			done = at = end;
		}
		strbuf_addf(&args, ", " STR_FMT, STR_ARG(out[i].text));
	}
	strbuf_adds(ret, str_from_offset(format, done));
	strbuf_adds(ret, strbuf_str(&args));
	strbuf_addz(ret, "); ");
	strbuf_fini(&args);
}

static void write_cases(const struct printing *p, size_t i, struct outcome *out,
			struct strbuf *ret);

/** Argument @i is what @c is; then the arguments behind it. */
static void write_choice(const struct printing *p, size_t i, const struct choice *c,
			 struct outcome *out, struct strbuf *ret)
{
	struct arena *a = p->b->arena;
	struct str name = {0};
	if (c->kind == CHOICE_NAME) {
		name = choice_name(a, c);
		if (!c->is_steady)
			strbuf_addf(ret, STR_FMT " = (int64)(" STR_FMT "); ", STR_ARG(c->key),
				    STR_ARG(edit_text(a, c->key_first, c->key_last)));
	}
	if (c->kind == CHOICE_EITHER) {
		strbuf_addf(ret, "if (" STR_FMT ") { ",
			    STR_ARG(edit_text(a, c->if_first, c->if_last)));
		write_choice(p, i, c->yes, out, ret);
		strbuf_addz(ret, "} else { ");
		write_choice(p, i, c->no, out, ret);
		strbuf_addz(ret, "} ");
	} else if (c->kind == CHOICE_NAME && p->splits) {
		const char *number = arena_printf(a, "(int64)(" STR_FMT ")", STR_ARG(c->key));
		strbuf_addf(ret, "if (" STR_FMT " == \"\") { ", STR_ARG(name));
		out[i] = (struct outcome){str_from(number), "ld"};
		write_cases(p, i + 1, out, ret);
		strbuf_addz(ret, "} else { ");
		out[i] = (struct outcome){name, NULL};
		write_cases(p, i + 1, out, ret);
		strbuf_addz(ret, "} ");
	} else if (c->kind == CHOICE_NAME) {
		const char *both = arena_printf(a, STR_FMT ", " STR_FMT, STR_ARG(name),
						STR_ARG(number_or_0(a, c)));
		out[i] = (struct outcome){str_from(both), "s%.0ld"};
		write_cases(p, i + 1, out, ret);
	} else {
		out[i] = (struct outcome){edit_text(a, c->first, c->last), NULL};
		write_cases(p, i + 1, out, ret);
	}
}

static void write_cases(const struct printing *p, size_t i, struct outcome *out, struct strbuf *ret)
{
	struct choice plain = {.kind = CHOICE_PLAIN};
	if (i == p->call.n_args) {
		write_case(p, out, ret);
		return;
	}
	plain.first = p->call.args[i].first;
	plain.last = p->call.args[i].last;
	write_choice(p, i, p->args[i] ? p->args[i] : &plain, out, ret);
}

/** The whole statement under ifs; returns its last token. */
static struct token *split_cases(struct printing *p)
{
	struct outcome out[CALL_MAX_ARGS] = {0};
	struct strbuf text;
	strbuf_init(&text);
	write_cases(p, 0, out, &text);
	struct token *last = p->call.last;
	if (tok_is(last->next, ";"))
		last = last->next;
	struct script_range whole = {p->call.first, last};
	edit_replace_lexed(p->b->arena, &whole, str_trim(strbuf_str(&text)));
	strbuf_fini(&text);
	return whole.last;
}

/** @before may be ours: a brace with an `if`. */
static bool is_statement(const struct token *before, const struct call *c)
{
	return (str_has_suffix(before->text, STR("{")) || str_has_suffix(before->text, STR("}")) ||
		tok_is(before, ";")) &&
	       (tok_is(c->last->next, ";") || tok_is(c->last->next, "}"));
}

/** Returns the last token of what stands there now; NULL after an error. */
static struct token *rewrite(struct printing *p, const struct token *before)
{
	struct bind *b = p->b;
	struct diag_place at = tok_place(p->call.first);
	if (p->is_simple) {
		add_numbers(p);
		return p->call.last;
	}
	if (!is_statement(before, &p->call))
		diag_error(b->diag, &at,
			   "names of an enum are printed inside of an expression: make this call a "
			   "statement of its own, under an if");
	else if (p->n_cases > MAX_CASES)
		diag_error(b->diag, &at,
			   "too many names of enums in one call for bpftrace 0.%u: use several "
			   "calls",
			   b->version);
	else
		return split_cases(p);
	return NULL;
}

/** The last token of the value that @equals assigns; NULL for none. */
static struct token *end_of_value(struct token *equals)
{
	struct token *last = NULL;
	int depth = 0;
	for (struct token *t = equals->next; t->kind != TOK_EOF; last = t, t = t->next) {
		depth += tok_is(t, "(") + tok_is(t, "[") - tok_is(t, ")") - tok_is(t, "]");
		if (depth < 0 || tok_is(t, ";") || tok_is(t, "}"))
			break;
	}
	return last;
}

/** `$name = @state[key];`: nothing can be put in a variable for a name that is missing. A script may look itself. */
static void warn_of_copy(struct bind *b, struct token *equals, const struct map *tables,
			 struct fresh *fresh)
{
	struct token *last = tok_is(equals, "=") ? end_of_value(equals) : NULL;
	if (!last)
		return;
	const struct choice *c = choice_parse(fresh, tables, equals->next, last);
	for (const struct token *t = c->if_first; t && c->kind == CHOICE_EITHER; t = t->next) {
		if (tok_is(t, "@"))
			return;
		if (t == c->if_last)
			break;
	}
	struct diag_place at = tok_place(equals->next);
	if (c->kind != CHOICE_PLAIN)
		diag_warning(
		    b->diag, &at,
		    "this is empty for a value that has no name: look the name up where it "
		    "is printed, and it is the number then");
}

/** Some element of the key between @open and @close is the number that the table's @key stands for. */
static bool has_element(struct arena *a, struct token *open, const struct token *close,
			struct str key)
{
	int depth = 0;
	struct token *first = open->next;
	for (struct token *t = first, *last = open; first != close; last = t, t = t->next) {
		if (t == close || (depth == 0 && tok_is(t, ","))) {
			if (first != t && str_eq(edit_text(a, first, last), key))
				return true;
			if (t == close)
				return false;
			first = t->next;
		}
		depth += tok_is(t, "(") + tok_is(t, "[") - tok_is(t, ")") - tok_is(t, "]");
	}
	return false;
}

/** Does the script look itself whether @table has a name? */
static bool is_guarded(const struct script_clause *c, struct str table)
{
	for (struct token *t = c->attach.v[0].range.first; t && t != c->body.last; t = t->next) {
		struct token *open =
		    tok_is(t, "@") && str_eq(t->next->text, table) ? t->next->next : NULL;
		struct token *close =
		    open && tok_is(open, "[") ? edit_closing(open, "[", "]") : NULL;
		if (close && (tok_is(close->next, "==") || tok_is(close->next, "!=")))
			return true;
	}
	return false;
}

/** `@count[@state[key]]`: values without a name have one key together, which is empty. */
static void warn_of_keys(struct bind *b, const struct script_clause *c, const struct map *tables)
{
	struct token *open = NULL, *close = NULL; // of the key that this is in
	for (struct token *t = c->body.first; t && t != c->body.last; t = t->next) {
		struct token *name = t->next;
		if (t == close)
			open = close = NULL;
		if (!tok_is(t, "@"))
			continue;
		bool has_name = name->kind == TOK_IDENT && !name->space;
		struct token *bracket = has_name ? name->next : name;
		struct token *end = tok_is(bracket, "[") ? edit_closing(bracket, "[", "]") : NULL;
		bool is_table = has_name && map_get(tables, name->text);
		if (end && !is_table && !open) {
			open = bracket;
			close = end;
			t = bracket;
		} else if (end && is_table && open && bracket->next != end) {
			struct token *last = bracket->next;
			while (last->next != end)
				last = last->next;
			struct diag_place at = t->loc.file ? tok_place(t) : src_place(t->use, 1);
			if (!has_element(b->arena, open, close,
					 edit_text(b->arena, bracket->next, last)) &&
			    !is_guarded(c, name->text))
				diag_warning(
				    b->diag, &at,
				    "values that have no name fall together under an empty "
				    "key here: put the number in the key, too");
			t = end;
		}
	}
}

bool unknown_rewrite(struct bind *b, const struct map *tables)
{
	struct fresh fresh;
	bool good = true;
	fresh_init(&fresh, b->arena, &b->script);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		struct script_range body = b->script.clauses.v[i].body;
		if (b->script.clauses.v[i].attach.n)
			warn_of_keys(b, &b->script.clauses.v[i], tables);
		struct token *before = body.first;
		while (before->next != body.last && before->next->kind != TOK_EOF) {
			struct printing p;
			struct token *t = before->next, *last = t;
			warn_of_copy(b, t, tables, &fresh);
			if (parse_printing(b, t, tables, &fresh, &p))
				last = rewrite(&p, before);
			good &= last != NULL;
			before = last ? last : t;
		}
	}
	return good;
}
