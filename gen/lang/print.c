#include "lang/print.h"

struct printer {
	struct arena *arena;
	struct token **end; // of the list
};

static void put(struct printer *p, struct token t)
{
	struct token *copy = arena_new(p->arena, struct token);
	*copy = t;
	copy->next = NULL;
	*p->end = copy;
	p->end = &copy->next;
}

static void print(struct printer *p, const struct node *n)
{
	const struct node *child = n->child;
	if (n->is_changed) {
		struct token t = *n->first;
		t.kind = TOK_OTHER;
		t.text = n->text;
		if (n->text.n)
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
	struct strbuf b;
	strbuf_init(&b);
	const struct token *list = print_tokens(a, n);
	for (const struct token *t = list; t->kind != TOK_EOF; t = t->next) {
		if (t != list)
			strbuf_adds(&b, t->before);
		strbuf_adds(&b, t->text);
	}
	return strbuf_take(&b, a);
}
