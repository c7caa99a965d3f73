#include "bind/format.h"

#include <string.h>

bool format_is_of(const struct token *function)
{
	// errorf and warnf came with 0.25; fail() is for what is known when the program is compiled.
	static const char *const names[] = {"printf", "system", "cat",	"errorf",
					    "warnf",  "debugf", "fail", NULL};
	return tok_is_any(function, names);
}

bool format_is_of_any(const struct token *function)
{
	static const char *const times[] = {"time", "strftime", NULL};
	return format_is_of(function) || tok_is_any(function, times);
}

struct node *format_find(const struct node *call)
{
	bool prints = call->kind == NODE_CALL && format_is_of(call->name);
	return prints && call->child && call->child->kind == NODE_STRING ? call->child : NULL;
}

bool format_next(struct str format, struct conversion *c)
{
	for (size_t i = c->end; i < format.n; i++) {
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
		c->at = i;
		c->end = e < format.n ? e + 1 : e;
		c->letter = format.p[c->end - 1];
		return true;
	}
	return false;
}
