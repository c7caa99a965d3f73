#include "lang/change.h"

#include <inttypes.h>
#include <stdarg.h>

/** How many bytes @n is printed as, about: what is a piece of several counts as often. */
static size_t size_of(const struct node *n)
{
	size_t size = 0;
	const struct node *child = n->child;
	if (n->is_changed)
		return n->size;
	if (n->is_extended) {
		for (; child; child = child->next)
			size += size_of(child);
		return size + 2;
	}
	for (const struct token *t = n->first;; t = t->next) {
		if (child && child->first == t) {
			size += size_of(child);
			t = child->last;
			child = child->next;
		} else {
			size += t->text.n + 1;
		}
		if (t == n->last)
			return size;
	}
}

static void add_piece(struct arena *a, struct node *to, struct piece ***end, struct str text,
		      const struct node *node)
{
	if (!node && !text.n)
		return;
	struct piece *p = arena_new(a, struct piece);
	*p = (struct piece){.text = text, .node = node};
	**end = p;
	*end = &p->next;
	to->size += node ? size_of(node) : text.n;
}

/** Gives @to, whose place is known, its pieces. */
static void compose(struct arena *a, struct node *to, const char *format, va_list ap)
{
	struct piece *first = NULL, **end = &first;
	struct strbuf text;
	strbuf_init(&text);
	to->size = 0;
	for (const char *p = format; *p; p++) {
		if (*p != '%') {
			strbuf_addc(&text, *p);
			continue;
		}
		switch (*++p) {
		case 'n':
			add_piece(a, to, &end, str_copy(a, strbuf_str(&text)), NULL);
			strbuf_clear(&text);
			add_piece(a, to, &end, STR(""), va_arg(ap, const struct node *));
			break;
		case 's':
			strbuf_addz(&text, va_arg(ap, const char *));
			break;
		case 't':
			strbuf_adds(&text, va_arg(ap, struct str));
			break;
		case 'u':
			strbuf_addf(&text, "%" PRIu64, va_arg(ap, uint64_t));
			break;
		default:
			strbuf_addc(&text, *p);
		}
	}
	add_piece(a, to, &end, str_copy(a, strbuf_str(&text)), NULL);
	strbuf_fini(&text);
	to->pieces = first;
	to->is_changed = true;
}

struct node *change_copy(struct arena *a, const struct node *n)
{
	struct node *was = arena_new(a, struct node);
	*was = *n;
	was->next = NULL;
	return was;
}

/** In what takes its place a node is what it was. */
static void keep_old(struct arena *a, const struct node *n, struct piece *pieces)
{
	struct node *was = NULL;
	for (struct piece *p = pieces; p; p = p->next) {
		if (p->node != n)
			continue;
		was = was ? was : change_copy(a, n);
		p->node = was;
	}
}

void change(struct arena *a, struct node *n, const char *format, ...)
{
	va_list ap;
	struct node made = {.first = n->first, .last = n->last};
	va_start(ap, format);
	compose(a, &made, format, ap);
	va_end(ap);
	keep_old(a, n, made.pieces);
	n->pieces = made.pieces;
	n->size = made.size;
	n->is_changed = true;
}

struct node *change_text(struct arena *a, const struct node *at, const char *format, ...)
{
	va_list ap;
	struct node *n = arena_new(a, struct node);
	*n = (struct node){.kind = NODE_OPAQUE, .first = at->first, .last = at->last};
	va_start(ap, format);
	compose(a, n, format, ap);
	va_end(ap);
	return n;
}

void change_leaf(struct arena *a, struct node *n, enum node_kind kind, struct str text)
{
	struct token *t = arena_new(a, struct token);
	*t = *n->first;
	t->kind = kind == NODE_NUMBER ? TOK_NUMBER : kind == NODE_STRING ? TOK_STRING : TOK_IDENT;
	t->text = text;
	change(a, n, "%t", text);
	n->kind = kind;
	n->name = t;
	n->child = n->last_child = NULL;
}

void change_append(struct node *parent, struct node *child)
{
	child->next = NULL;
	if (parent->child)
		parent->last_child->next = child;
	else
		parent->child = child;
	parent->last_child = child;
	parent->is_extended = parent->kind == NODE_BLOCK;
}

void change_insert(struct node *program, struct node *child, struct node *next)
{
	struct node **at = &program->child;
	while (*at != next)
		at = &(*at)->next;
	child->last = NULL; // it has no place of its own among the program's tokens
	child->next = next;
	*at = child;
}

void change_prepend(struct node *block, struct node *statement)
{
	statement->next = block->child;
	block->child = statement;
	if (!statement->next)
		block->last_child = statement;
	block->is_extended = true;
}

void change_remove(struct node *n)
{
	n->kind = NODE_OPAQUE;
	n->child = n->last_child = NULL;
	n->pieces = NULL;
	n->size = 0;
	n->is_changed = true;
}
