#include "lang/print.h"

static void put(const struct token *t, bool is_first, struct strbuf *out)
{
	if (!is_first)
		strbuf_adds(out, t->before);
	strbuf_adds(out, t->text);
}

static void print(const struct node *n, bool is_first, struct strbuf *out)
{
	const struct node *child = n->child;
	for (const struct token *t = n->first;; t = t->next) {
		if (child && child->first == t) {
			print(child, is_first, out);
			t = child->last;
			child = child->next;
		} else {
			put(t, is_first, out);
		}
		is_first = false;
		if (t == n->last)
			break;
	}
}

void print_node(const struct node *n, struct strbuf *out)
{
	if (n->first && n->last)
		print(n, true, out);
}
