#include "probe/argsrc.h"

#include <ctype.h>

#include "probe/argmacro.h"
#include "probe/argtype.h"
#include "usdt/argname.h"

/** A call does not start further above its line, nor is it longer. */
enum { LINES_ABOVE = 8, MAX_CALL = 8192, MAX_PARENS = 64 };

/**
 * PostgreSQL's and systemtap's dtrace scripts make QUERY__START of query__start, with a prefix, _
 * for __.
 */
static bool is_macro_of(struct str word, struct str probe)
{
	size_t i = word.n, k = probe.n;
	while (i && k) {
		char want = probe.p[--k];
		if (want == '-' || (want == '_' && k && probe.p[k - 1] == '_')) {
			k -= want == '_';
			want = '_';
		}
		if (word.p[--i] != toupper((unsigned char)want))
			return false;
	}
	return k == 0 && i > 0 && word.p[i - 1] == '_';
}

/** The probe's call that starts on a line. */
struct found_call {
	struct argmacro_call call;
	unsigned n; // more than one is ambiguous, and treated as none
};

/** A word with what is between the parentheses behind it; false when they are not closed. */
static bool read_call(struct str word, struct str open, struct argmacro_call *ret)
{
	size_t close = argname_close(open);
	if (close == open.n)
		return false;
	*ret = (struct argmacro_call){word, str_slice(open, 1, close - 1)};
	return true;
}

/** Calls that start on the first line of @text, with their end on line @n_lines or later. */
static void find_call(struct str text, unsigned n_lines, struct str probe, struct found_call *ret)
{
	struct argmacro_call open[MAX_PARENS], call;
	struct str rest = {text.p, text.n < MAX_CALL ? text.n : MAX_CALL}, before = {0};
	size_t depth = 0;
	unsigned line = 1;
	while (rest.n) {
		char c = rest.p[0];
		struct str behind = argname_skip_token(rest), word = {rest.p, rest.n - behind.n};
		struct str next = str_trim(behind);
		bool is_word = isalpha((unsigned char)c) || c == '_', is_call = false;
		if (c == '\n' && line++ && depth == 0)
			return;
		if (c == '(') {
			if (depth == MAX_PARENS)
				return;
			open[depth++] = (struct argmacro_call){before, rest};
		} else if (c == ')' && depth) {
			depth--;
		} else if (is_word && str_eq(word, probe) && depth && next.n &&
			   (next.p[0] == ',' || next.p[0] == ')')) { // NAME(..., probe, a, b)
			is_call = read_call(open[depth - 1].macro, open[depth - 1].args, &call);
		} else if (is_word && is_macro_of(word, probe) && next.n && next.p[0] == '(') {
			is_call = read_call(word, next, &call);
		}
		// The call must reach the site's line.
		unsigned end = line;
		for (const char *p = word.p; is_call && p < call.args.p + call.args.n; p++)
			end += *p == '\n';
		if (is_call && end >= n_lines) {
			ret->n++;
			ret->call = call;
		}
		for (size_t i = 1; i < word.n; i++)
			line += word.p[i] == '\n';
		if (c != ' ' && c != '\t' && c != '\n')
			before = word;
		rest = behind;
	}
}

static bool is_literal(struct str expr)
{
	struct str s = expr;
	while (s.n && (s.p[0] == '-' || s.p[0] == '(' || s.p[0] == ' '))
		s = str_from_offset(s, 1);
	return s.n && (isdigit((unsigned char)s.p[0]) || s.p[0] == '"' || s.p[0] == '\'');
}

bool argsrc_read(struct argloc *l, struct str probe, struct argsrc_arg *ret, size_t max,
		 size_t *ret_n)
{
	struct arena *a = l->src->arena;
	*ret_n = 0;
	if (!l->scope->line || !l->scope->full_path)
		return false;
	struct str text = argmacro_source(l->src, l->scope->full_path);
	struct found_call found = {0};
	for (unsigned up = 0; up <= LINES_ABOVE && up < l->scope->line && !found.n; up++) {
		struct str at = text;
		for (unsigned line = l->scope->line - up; line > 1 && at.n; line--)
			str_take_line(&at);
		if (!at.n)
			return false;
		find_call(at, up + 1, probe, &found);
	}
	struct str *parts = arena_alloc(a, max * sizeof(*parts));
	size_t n;
	if (found.n != 1 || !argmacro_operands(l, &found.call, probe, parts, max, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct argname_arg arg = {0};
		ret[i] = (struct argsrc_arg){0};
		if (!parts[i].n)
			continue;
		argname_parse(a, parts[i], &arg);
		ret[i] = (struct argsrc_arg){.expr = arg.expr,
					     .name = arg.name,
					     .type = argtype_of_value(a, argsrc_type(l, arg.expr)),
					     .is_literal = is_literal(arg.expr),
					     .var = argloc_variable(l, arg.expr)};
	}
	*ret_n = n;
	return true;
}
