#include "bind/edit.h"

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
