#include "bind/call.h"

#include <string.h>

bool call_prints(const struct token *function)
{
	// errorf and warnf came with 0.25; fail() is for what is known when the program is compiled.
	static const char *const names[] = {"printf", "system", "cat",	"errorf",
					    "warnf",  "debugf", "fail", NULL};
	return tok_is_any(function, names);
}

bool call_takes_format(const struct token *function)
{
	static const char *const times[] = {"time", "strftime", NULL};
	return call_prints(function) || tok_is_any(function, times);
}

bool call_parse(struct token *t, struct call *ret)
{
	*ret = (struct call){.first = t};
	if (!call_prints(t) || !tok_is(t->next, "(") || t->next->next->kind != TOK_STRING)
		return false;
	ret->format = t->next->next;
	t = ret->format->next;
	while (tok_is(t, ",")) {
		if (ret->n_args == CALL_MAX_ARGS)
			return false;
		struct call_arg *arg = &ret->args[ret->n_args++];
		*arg = (struct call_arg){.first = t->next};
		int depth = 0;
		for (t = t->next; t->kind != TOK_EOF; t = t->next) {
			if (depth == 0 && (tok_is(t, ",") || tok_is(t, ")")))
				break;
			depth += tok_is(t, "(") + tok_is(t, "[") - tok_is(t, ")") - tok_is(t, "]");
			arg->last = t;
		}
		if (!arg->last)
			return false;
	}
	ret->last = t;
	return tok_is(t, ")");
}

bool call_next_conversion(struct str format, size_t *at, size_t *end)
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
