#include "bind/edit.h"

static struct token *make_token(struct arena *a, struct str text, struct src_loc use)
{
	struct token *t = arena_new(a, struct token);
	t->kind = TOK_OTHER;
	t->text = text;
	t->use = use;
	t->space = !str_has_prefix(text, STR(",")) && !str_has_prefix(text, STR(")"));
	t->from_macro = true;
	return t;
}

void edit_replace(struct script_range *r, struct str text)
{
	struct token *t = r->first;
	t->next = r->last->next;
	t->kind = TOK_OTHER;
	t->text = text;
	r->last = t;
}

struct token *edit_insert_after(struct arena *a, struct token *t, struct str text)
{
	struct token *added = make_token(a, text, t->use);
	added->next = t->next;
	t->next = added;
	return added;
}

/** The link that points at @t. */
static struct token **link_to(struct token **list, const struct token *t)
{
	while (*list && *list != t)
		list = &(*list)->next;
	return list;
}

void edit_append(struct arena *a, struct token **list, struct str text)
{
	while (*list && (*list)->kind != TOK_EOF)
		list = &(*list)->next;
	struct token *added = make_token(a, text, (struct src_loc){0});
	added->bol = true;
	added->next = *list;
	*list = added;
}

void edit_remove(struct token **list, struct script_range r)
{
	struct token **link = link_to(list, r.first);
	if (*link)
		*link = r.last->next;
}

void edit_move_after(struct token **list, struct script_range r, struct token *after)
{
	edit_remove(list, r);
	r.last->next = after->next;
	after->next = r.first;
}

struct str edit_quote(struct arena *a, struct str text)
{
	struct strbuf b;
	strbuf_init(&b);
	strbuf_addc(&b, '"');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if (c == '"' || c == '\\')
			strbuf_addf(&b, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			strbuf_addf(&b, "\\x%02x", c);
		else
			strbuf_addc(&b, (char)c);
	}
	strbuf_addc(&b, '"');
	struct str s = str_copy(a, strbuf_str(&b));
	strbuf_fini(&b);
	return s;
}
