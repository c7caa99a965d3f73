#include "lang/format.h"

#include "lang/vocabulary.h"

struct node *format_find(const struct node *call)
{
	bool prints =
	    call->kind == NODE_CALL && vocabulary_word(call->name->text)->takes == TAKES_FORMAT;
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
