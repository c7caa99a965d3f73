#include "lang/print.h"

/** Tokens go into a list, or into a text. */
struct printer {
	struct arena *arena;
	struct token **end; // of the list; NULL: there is
	struct strbuf text;
	bool has_text; // what stands before the first token is not part of it
};

static void put(struct printer *p, struct token t)
{
	t.next = NULL;
	if (p->end) {
		struct token *copy = arena_alloc(p->arena, sizeof(*copy));
		*copy = t;
		*p->end = copy;
		p->end = &copy->next;
		return;
	}
	if (p->has_text)
		strbuf_adds(&p->text, t.before);
	strbuf_adds(&p->text, t.text);
	p->has_text = true;
}

static void print(struct printer *p, const struct node *n)
{
	const struct node *child = n->child;
	if (n->is_changed) {
		struct token t = *n->first;
		t.kind = TOK_OTHER;
		t.text = *n->text;
		if (t.text.n)
			put(p, t);
		return;
	}
	for (const struct token *t = n->first;; t = t->next) {
		if (child && child->first == t) {
			print(p, child);
			t = child->last;
			child = child->next;
		} else {
			put(p, *t);
		}
		if (t == n->last)
			break;
	}
}

struct token *print_tokens(struct arena *a, const struct node *n)
{
	struct token *list = NULL;
	struct printer p = {.arena = a, .end = &list};
	if (n->first && n->last)
		print(&p, n);
	*p.end = arena_new(a, struct token);
	return list;
}

struct str print_text(struct arena *a, const struct node *n)
{
	struct printer p = {.arena = a};
	if (n->first && n->last)
		print(&p, n);
	return strbuf_take(&p.text, a);
}
