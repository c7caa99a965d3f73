#include "lang/print.h"

struct printer {
	struct strbuf text;
	bool is_line; // blanks and comments are one blank
};

static void append_token(struct printer *p, struct str before, struct str text)
{
	if (p->text.n) // without the blanks before the first token
		strbuf_adds(&p->text, p->is_line && before.n ? STR(" ") : before);
	strbuf_adds(&p->text, text);
}

static void print_node(struct printer *p, const struct node *n)
{
	const struct node *child = n->child;
	if (n->is_changed) {
		if (n->text->n)
			append_token(p, n->first->before, *n->text);
		return;
	}
	for (const struct token *t = n->first;; t = t->next) {
		if (child && child->first == t) {
			print_node(p, child);
			t = child->last;
			child = child->next;
		} else {
			append_token(p, t->before, t->text);
		}
		if (t == n->last)
			break;
	}
}

static struct str print_as(struct arena *a, const struct node *n, bool is_line)
{
	struct printer p = {.is_line = is_line};
	if (n->first && n->last)
		print_node(&p, n);
	return strbuf_take(&p.text, a);
}

struct str print_text(struct arena *a, const struct node *n)
{
	return print_as(a, n, false);
}

struct str print_line(struct arena *a, const struct node *n)
{
	return print_as(a, n, true);
}
