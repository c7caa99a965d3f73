#include "lang/print.h"

struct printer {
	struct arena *arena;
	struct token **end; // of the list
	struct token lead;  // what the next token has before it is this one's
	bool has_lead;
};

static void add(struct printer *p, struct token t)
{
	struct token *copy = arena_new(p->arena, struct token);
	if (p->has_lead) {
		t.before = p->lead.before;
		t.space = p->lead.space;
		t.bol = p->lead.bol;
	}
	p->has_lead = false;
	*copy = t;
	copy->next = NULL;
	*p->end = copy;
	p->end = &copy->next;
}

/**
 * A token of what has changed: it is ours, and stands for what was at its place. Its line is made
 * once, not with each copy.
 */
static struct token moved(const struct token *t)
{
	struct token moved = *t;
	moved.loc = (struct src_loc){0};
	moved.space |= moved.bol;
	moved.before = moved.space ? STR(" ") : STR("");
	moved.bol = false;
	moved.from_macro = true;
	return moved;
}

static void add_text(struct printer *p, struct str text, const struct token *at)
{
	add(p, (struct token){.kind = TOK_OTHER, .text = text, .use = at->use, .from_macro = true});
}

static void set_lead(struct printer *p, struct token lead)
{
	p->lead = lead;
	p->has_lead = true;
}

static void print(struct printer *p, const struct node *n, bool is_moved);

static void print_pieces(struct printer *p, const struct node *n, bool is_moved)
{
	if (!p->has_lead && n->pieces)
		set_lead(p, is_moved ? moved(n->first) : *n->first);
	for (const struct piece *piece = n->pieces; piece; piece = piece->next) {
		if (!p->has_lead)
			set_lead(p, (struct token){0});
		if (piece->node)
			print(p, piece->node,
			      piece->node->kind != NODE_BLOCK); // which keeps its lines
		else
			add_text(p, piece->text, n->first);
	}
}

static void print_children(struct printer *p, const struct node *child, bool is_moved)
{
	for (; child; child = child->next)
		print(p, child, is_moved);
}

static void print_own(struct printer *p, const struct token *t, bool is_moved)
{
	add(p, is_moved ? moved(t) : *t);
}

static void print(struct printer *p, const struct node *n, bool is_moved)
{
	const struct node *child = n->child;
	if (n->is_changed) {
		print_pieces(p, n, is_moved);
	} else if (n->is_extended) {
		print_own(p, n->first, is_moved);
		print_children(p, child, is_moved);
		print_own(p, n->last, is_moved);
	} else {
		for (const struct token *t = n->first;; t = t->next) {
			if (child && !child->last && child->next->first == t) { // inserted
				struct token lead = *t;
				print(p, child, is_moved);
				lead.before = lead.before.n ? lead.before : STR(" ");
				set_lead(p, lead);
				child = child->next;
			}
			if (child && child->first == t) {
				print(p, child, is_moved);
				t = child->last;
				child = child->next;
			} else {
				print_own(p, t, is_moved);
			}
			if (t == n->last)
				break;
		}
		print_children(p, child, is_moved); // that were appended
	}
}

struct token *print_tokens(struct arena *a, const struct node *n)
{
	struct token *list = NULL;
	struct printer p = {.arena = a, .end = &list};
	if (n->first && n->last)
		print(&p, n, false);
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
