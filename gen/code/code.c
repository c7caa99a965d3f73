#include "code/code.h"

bool word_take(struct str name, enum alphabet which, struct safe_word *ret)
{
	bool good = which != ALPHABET_QUOTED_PATH && which != ALPHABET_NAME_PATTERN &&
		    str_is_made_of(name, which);
	*ret = (struct safe_word){good ? name : STR("")};
	return good;
}

struct safe_word word_ident(struct arena *a, struct str name, const char *other, size_t n)
{
	return (struct safe_word){str_is_ident(name) ? name : str_printf(a, "%s%zu", other, n)};
}

struct safe_word word_own(const char *z)
{
	return (struct safe_word){str_from(z)};
}

struct safe_word word_spell(struct arena *a, struct str name)
{
	return (struct safe_word){str_is_ident(name) ? name : str_to_ident(a, name)};
}

struct safe_word word_number(struct arena *a, uint64_t n)
{
	return (struct safe_word){str_printf(a, "0x%llx", (unsigned long long)n)};
}

struct safe_word word_join(struct arena *a, struct safe_word first, const char *between,
			   struct safe_word second)
{
	return (struct safe_word){
	    str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(first.s), between, STR_ARG(second.s))};
}

struct safe_word word_quote(struct arena *a, struct str text)
{
	struct strbuf b = {0};
	strbuf_addc(&b, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"' || text.p[i] == '\\')
			strbuf_addc(&b, '\\');
		strbuf_addc(&b,
			    (unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f ? '?' : text.p[i]);
	}
	strbuf_addc(&b, '"');
	return (struct safe_word){strbuf_take(&b, a)};
}

void code_fini(struct code *c)
{
	strbuf_fini(&c->checked);
}

struct str code_str(const struct code *c)
{
	return strbuf_str(&c->checked);
}

void code_z(struct code *c, const char *z)
{
	strbuf_addz(&c->checked, z);
}

void code_f(struct code *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf(&c->checked, fmt, ap);
	va_end(ap);
}

void code_word(struct code *c, struct safe_word w)
{
	strbuf_adds(&c->checked, w.s);
}

void code_ident(struct code *c, struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		bool good = str_is_made_of(str_slice(name, i, 1), ALPHABET_WORD);
		strbuf_addc(&c->checked, good ? name.p[i] : '_');
	}
}

void code_text(struct code *c, struct str text)
{
	strbuf_adds(&c->checked, text);
}

void code_code(struct code *c, const struct code *other)
{
	strbuf_adds(&c->checked, code_str(other));
}

/** Without escapes of its own @text would be continued on the next line by a \ at its end. */
void code_comment(struct code *c, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		size_t n = str_find(str_from_offset(text, i), '\\');
		strbuf_add_printable(&c->checked, str_slice(text, i, n));
		i += n;
		strbuf_addz(&c->checked, i < text.n ? "\\x5c" : "");
	}
}

void code_string(struct code *c, struct str text, size_t most)
{
	bool is_cut = text.n > most;
	text = str_slice(text, 0, is_cut ? most - 2 : most);
	strbuf_addc(&c->checked, '"');
	for (size_t i = 0; i < text.n; i++) {
		char k = text.p[i];
		bool plain = k >= ' ' && k <= '~' && k != '"' && k != '\\' && k != '%';
		strbuf_addc(&c->checked, plain ? k : '?');
	}
	strbuf_addz(&c->checked, is_cut ? "..\"" : "\"");
}
