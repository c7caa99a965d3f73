// What can be asked of a single token, or of two neighbours.
#include "text/lex.h"

bool tok_is(const struct token *t, const char *z)
{
	return (t->kind == TOK_IDENT || t->kind == TOK_PUNCT) && str_eqz(t->text, z);
}

bool tok_is_any(const struct token *t, const char *const *words)
{
	for (; *words; words++)
		if (tok_is(t, *words))
			return true;
	return false;
}

struct diag_place tok_place(const struct token *t)
{
	struct diag_place at = src_place(t->loc, t->text.n);
	if (!t->from_macro)
		return at;
	struct diag_place call = src_place(t->use, 1);
	at.macro.file = call.file;
	at.macro.source = call.source;
	at.macro.line = call.line;
	at.macro.col = call.col;
	at.macro.len = call.len;
	return at;
}

bool tok_needs_space(const struct token *prev, const struct token *next)
{
	if (!prev->text.n || !next->text.n || prev->kind == TOK_DIRECTIVE ||
	    next->kind == TOK_DIRECTIVE || (prev->attach && next->attach))
		return false;
	char c = next->text.p[0];
	bool word =
	    next->kind == TOK_IDENT || (next->kind == TOK_NUMBER && c != '.') ||
	    (next->kind == TOK_OTHER && (isalnum((unsigned char)c) || c == '_' || c == '$'));

	switch (prev->kind) {
	case TOK_IDENT:
		return word || next->kind == TOK_CHAR || next->kind == TOK_STRING;
	case TOK_NUMBER:
		return word || (c == '.' && prev->text.p[0] != '.') || c == '+' || c == '-' ||
		       next->kind == TOK_CHAR; // .0.0 are elements of a tuple
	case TOK_PUNCT:
		break;
	case TOK_OTHER:
		return prev->text.p[0] == '\\' && c == '\n';
	default:
		return false;
	}

	// A punctuator's last byte, and those that would go on with it. bpftrace up to 0.22 reads a colon
	// and a word as part of a path, in bodies too.
	static const char *const longer[] = {
	    ">>=", "<<=", "&&=", "||=", "++=",	"--=>", "==",	  "!=",
	    "*=",  "%=",  "^=",	 "..",	"//*=", "##",	":-./*+$"};
	char p = prev->text.p[prev->text.n - 1];
	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++)
		if (c && longer[i][0] == p && strchr(longer[i] + 1, c))
			return true;
	return (p == ':' && word) || (p == '.' && next->kind == TOK_NUMBER);
}

struct str lex_string_value(struct arena *a, const struct token *t)
{
	struct str s = t->text;
	if (s.n < 2 || s.p[0] != '"')
		return s;
	s = str_slice(s, 1, s.n - 2);
	if (str_find(s, '\\') == s.n)
		return s;

	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;
	while (s.n) {
		unsigned v = (unsigned char)s.p[0];
		bool is_escape = v == '\\';
		s = str_from_offset(s, 1);
		if (is_escape)
			str_take_escape(&s, &v);
		out[n++] = (char)v;
	}
	out[n] = '\0';
	return (struct str){out, n};
}

struct str lex_quote(struct arena *a, struct str text)
{
	struct strbuf b = {0};
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
	return strbuf_take(&b, a);
}
