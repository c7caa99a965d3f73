#include "bind/edit.h"

/** Cuts @text into tokens and puts them behind @t; returns the range. */
static struct script_range insert_lexed(struct arena *a, struct token *t, struct str text)
{
	struct diag none;
	diag_init(&none, stderr); // our own text: it has no mistakes to tell
	struct lexer lx;
	lexer_init(&lx, a, &none, src_from_text(a, STR("<btgen>"), text));
	lx.braces = 1; // as in a body: nothing in it is an attach point
	struct script_range r = {t, t};
	for (;;) {
		struct token *added = arena_new(a, struct token);
		lexer_next(&lx, added);
		if (added->kind == TOK_EOF)
			break;
		added->loc = (struct src_loc){0};
		added->use = t->use;
		added->bol = false;
		added->from_macro = true;
		added->next = r.last->next;
		r.last->next = added;
		if (r.first == t)
			r.first = added;
		r.last = added;
	}
	return r;
}

void edit_replace_lexed(struct arena *a, struct script_range *r, struct str text)
{
	struct token *first = r->first, *behind = r->last->next;
	struct script_range added = insert_lexed(a, first, text);
	// The first new token is told in the old one's place, so that whoever points at that has a valid list.
	first->kind = added.first->kind;
	first->text = added.first->text;
	first->loc = (struct src_loc){0};
	first->from_macro = true;
	first->next = added.first->next;
	r->last = added.last == added.first ? first : added.last;
	r->last->next = behind;
}

struct str edit_text(struct arena *a, const struct token *first, const struct token *last)
{
	struct strbuf b;
	strbuf_init(&b);
	const struct token *before = NULL;
	for (const struct token *t = first;; before = t, t = t->next) {
		if (t != first && (t->space || t->bol || tok_needs_space(before, t)))
			strbuf_addc(&b, ' ');
		strbuf_adds(&b, t->text);
		if (t == last)
			break;
	}
	struct str s = str_copy(a, strbuf_str(&b));
	strbuf_fini(&b);
	return s;
}

void edit_prepend(struct arena *a, struct token **list, struct str text)
{
	struct token *added = arena_new(a, struct token);
	*added = (struct token){
	    .kind = TOK_DIRECTIVE, .text = text, .bol = true, .from_macro = true, .next = *list};
	*list = added;
	if (added->next)
		added->next->bol = true;
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
