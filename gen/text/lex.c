#include "text/lex.h"

static bool is_ident_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_ident_char(char c)
{
	return is_ident_start(c) || is_digit(c);
}

static bool is_high(char c)
{
	return (unsigned char)c >= 0x80;
}

/** Bytes of the line splice at @pos: a backslash, blanks that one cannot see, a newline. 0 when it is none. */
static uint32_t splice_len(const struct lexer *lx, uint32_t pos)
{
	const char *p = lx->file->text.p;
	uint32_t end = (uint32_t)lx->file->text.n, i = pos + 1;
	while (i < end &&
	       (p[i] == ' ' || p[i] == '\t' || p[i] == '\r' || p[i] == '\f' || p[i] == '\v'))
		i++;
	return i < end && p[i] == '\n' ? i + 1 - pos : 0;
}

/** The byte at *@pos, which is moved over line splices first; NUL at the end. */
static char peek_byte(const struct lexer *lx, uint32_t *pos)
{
	const char *p = lx->file->text.p;
	uint32_t end = (uint32_t)lx->file->text.n;
	while (*pos < end && p[*pos] == '\\') {
		uint32_t n = splice_len(lx, *pos);
		if (!n)
			break;
		*pos += n;
	}
	return *pos < end ? p[*pos] : '\0';
}

static bool at_end(const struct lexer *lx, uint32_t pos)
{
	return pos >= lx->file->text.n;
}

void lexer_init(struct lexer *lx, struct arena *a, struct diag *d, const struct src_file *f)
{
	*lx = (struct lexer){.arena = a, .diag = d, .file = f, .bol = true, .word_may_start = true};
	if (str_has_prefix(f->text, STR("\xef\xbb\xbf")))
		lx->pos = 3;
	if (str_has_prefix(str_from_offset(f->text, lx->pos), STR("#!")))
		lx->pos += (uint32_t)lexer_rest_of_line(lx).n;
}

static void complain(struct lexer *lx, uint32_t pos, const char *what)
{
	if (lx->quiet)
		return;
	lx->failed = true;
	diag_error(lx->diag, diag_at(src_place((struct src_loc){lx->file, pos}, 1)), "%s", what);
}

/** From the star that opens a comment to after its end. */
static void skip_block_comment(struct lexer *lx, uint32_t start)
{
	lx->pos++;
	for (;;) {
		lx->pos += (uint32_t)str_find(str_from_offset(lx->file->text, lx->pos), '*');
		if (at_end(lx, lx->pos)) {
			complain(lx, start, "unterminated comment");
			return;
		}
		uint32_t next = ++lx->pos;
		if (peek_byte(lx, &next) == '/') {
			lx->pos = next + 1;
			return;
		}
	}
}

/** Moves over blanks and comments; false at the newline that ends a directive. */
static bool skip_blanks(struct lexer *lx, bool *space)
{
	for (;;) {
		uint32_t pos = lx->pos;
		char c = peek_byte(lx, &pos);
		if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
			lx->pos = pos + 1;
		} else if (c == '\n') {
			if (lx->in_directive)
				return false;
			lx->pos = pos + 1;
			lx->bol = true;
		} else if (c == '/' && lx->word != LEX_WORD_ATTACH) {
			uint32_t next = pos + 1;
			char d = peek_byte(lx, &next);
			if (d != '/' && d != '*')
				return true;
			lx->pos = next;
			// To its newline; a backslash before that continues it in C, not in bpftrace.
			if (d == '/')
				lx->pos += (uint32_t)lexer_rest_of_line(lx).n;
			else
				skip_block_comment(lx, pos);
		} else {
			return true;
		}
		*space = true;
		lx->word = LEX_WORD_NONE; // a blank ends an attach point
		lx->word_may_start = true;
	}
}

/** Finds the end of a quoted text that opens at @pos, or, with false, of its line if that is first. */
static bool scan_quoted(const struct lexer *lx, uint32_t pos, char quote, uint32_t *end)
{
	bool is_escaped = false;
	for (*end = pos + 1;; ++*end) {
		char c = peek_byte(lx, end);
		if (at_end(lx, *end) || c == '\n')
			return false;
		if (c == quote && !is_escaped)
			break;
		is_escaped = c == '\\' && !is_escaped;
	}
	++*end;
	return true;
}

/**
 * A string without an end takes the rest of the line, and one error. An apostrophe may be part of a path;
 * if one has no end, those after it on the line (it took them for escaped) have none.
 */
static uint32_t scan_quote(struct lexer *lx, uint32_t pos, char quote, enum tok_kind *kind)
{
	uint32_t end = pos;
	*kind = quote == '"' ? TOK_STRING : TOK_CHAR;
	if ((quote == '"' || pos >= lx->unquoted_to) && scan_quoted(lx, pos, quote, &end))
		return end;
	*kind = TOK_OTHER;
	if (quote == '"') {
		complain(lx, pos, "this string is not terminated on its line");
		return end;
	}
	if (end > lx->unquoted_to)
		lx->unquoted_to = end;
	return pos + 1;
}

static bool is_dot(const struct lexer *lx, uint32_t pos)
{
	return peek_byte(lx, &pos) == '.';
}

/**
 * A pp-number (C11 6.4.8): it takes letters, digits, dots and a sign after an exponent letter.
 * bpftrace's have no dots: the range 0..N is three tokens, of which N may be a macro, and $t.1.name
 * are two members.
 */
static uint32_t scan_number(const struct lexer *lx, uint32_t pos)
{
	uint32_t end = pos;
	bool is_member = is_dot(lx, pos);
	char last = '\0';
	for (;;) {
		char c = peek_byte(lx, &pos);
		bool sign = (c == '+' || c == '-') &&
			    (last == 'e' || last == 'E' || last == 'p' || last == 'P');
		bool dot = c == '.' && (!last || !(is_member || is_dot(lx, pos + 1)));
		if (!is_ident_char(c) && !dot && !sign)
			return end;
		last = c;
		end = ++pos;
	}
}

/** The longest punctuator at @pos, as its end; @pos itself when there is none. */
static uint32_t scan_punct(const struct lexer *lx, uint32_t pos)
{
	static const char *const longer[] = {"...", "<<=", ">>=", "->", "++", "--", "<<", ">>",
					     "<=",  ">=",  "==",  "!=", "&&", "||", "*=", "/=",
					     "%=",  "+=",  "-=",  "&=", "^=", "|=", "##", ".."};
	char c = peek_byte(lx, &pos);
	if (c == '\0' || !strchr("[](){}.&*+-~!/%<>^|?:;=,#@", c))
		return pos;
	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++) {
		uint32_t p = pos;
		const char *z = longer[i];
		for (; *z && peek_byte(lx, &p) == *z; z++)
			p++;
		if (!*z)
			return p;
	}
	return pos + 1;
}

/** Where the token that starts at @pos ends, and what it is. */
static uint32_t scan_token(struct lexer *lx, uint32_t pos, enum tok_kind *kind)
{
	bool attach = lx->word == LEX_WORD_ATTACH;
	char c = peek_byte(lx, &pos);
	uint32_t end = pos, next = pos + 1;

	if (is_ident_start(c)) {
		*kind = TOK_IDENT;
		while (is_ident_char(peek_byte(lx, &pos)))
			end = ++pos;
		return end;
	}
	if (is_digit(c) || (c == '.' && is_digit(peek_byte(lx, &next)))) {
		*kind = TOK_NUMBER;
		return scan_number(lx, pos);
	}
	if (c == '"' || (c == '\'' && !attach))
		return scan_quote(lx, pos, c, kind);
	if (is_high(c)) {
		*kind = TOK_OTHER;
		for (end = pos; !at_end(lx, end) && is_high(lx->file->text.p[end]);)
			end++;
		return end;
	}
	*kind = TOK_PUNCT;
	if (attach && (c == '/' || c == '*'))
		return pos + 1; // no two of them may look like a comment's end or an operator
	end = scan_punct(lx, pos);
	if (end != pos)
		return end;
	*kind = TOK_OTHER;
	return pos + 1;
}

/** The spelling between two offsets without line splices: a view when there are none. */
static struct str spelling(const struct lexer *lx, uint32_t start, uint32_t end)
{
	struct str raw = str_slice(lx->file->text, start, end - start);
	if (str_find(raw, '\\') == raw.n || str_find(raw, '\n') == raw.n)
		return raw;
	char *p = arena_alloc(lx->arena, raw.n + 1);
	size_t n = 0;
	for (uint32_t pos = start; pos < end;) {
		p[n] = peek_byte(lx, &pos);
		if (pos++ < end)
			n++;
	}
	p[n] = '\0';
	return (struct str){p, n};
}

/** Does a blank, or the end, follow? */
static bool is_blank(const struct lexer *lx)
{
	uint32_t pos = lx->pos;
	char c = peek_byte(lx, &pos);
	return c == '\0' || c == ' ' || (c >= '\t' && c <= '\r');
}

/** Follows words towards attach points: `name` `:` with nothing between, outside of braces. */
static void follow_word(struct lexer *lx, struct token *t)
{
	char c = t->kind == TOK_PUNCT ? t->text.p[0] : '\0';
	if (lx->word == LEX_WORD_ATTACH) {
		// A path may be anything else; these end it as they do for bpftrace.
		if (t->text.n == 1 && (c == ',' || c == '{' || c == '}' || c == ')' || c == ';'))
			lx->word = LEX_WORD_NONE;
		else
			t->attach = true;
	} else if (lx->braces > 0) {
		lx->word = LEX_WORD_NONE;
	} else if ((t->kind == TOK_IDENT || t->kind == TOK_STRING || c == '*') &&
		   (lx->word_may_start || (lx->word == LEX_WORD_NAME && !t->space))) {
		lx->word = LEX_WORD_NAME; // of a provider, which 0.17 takes with * in it, too
	} else if (lx->word == LEX_WORD_NAME && c == ':' && !t->space && !is_blank(lx)) {
		lx->word = LEX_WORD_ATTACH;
		t->attach = true;
	} else {
		lx->word = LEX_WORD_NONE;
	}
	lx->word_may_start =
	    lx->word != LEX_WORD_ATTACH && t->text.n == 1 && c != '\0' && strchr(",};(", c);
	if (c == '{')
		lx->braces++;
	else if (c == '}' && lx->braces > 0)
		lx->braces--;
}

/** Blanks and comments from @start to @end without line splices, with as many newlines. */
static struct str gap(const struct lexer *lx, uint32_t start, uint32_t end)
{
	struct str raw = str_slice(lx->file->text, start, end - start);
	if (str_find(raw, '\\') == raw.n)
		return raw;
	struct strbuf b = {0};
	char comment = '\0', last = '\0'; // '/' or '*' inside one; the byte before
	unsigned newlines = 0;		  // of splices, to be written where they part nothing
	for (uint32_t pos = start; pos < end;) {
		uint32_t at = pos;
		char c = comment == '/' ? lx->file->text.p[pos] : peek_byte(lx, &pos);
		for (; at < pos && at < end; at++)
			newlines += lx->file->text.p[at] == '\n';
		if (pos >= end)
			break;
		pos++;
		if (last == '/' && !comment && (c == '/' || c == '*')) {
			comment = c;
			strbuf_addc(&b, c);
			last = '\0';
			continue;
		}
		bool parted = (last == '/' && !comment) || (last == '*' && comment == '*');
		for (; newlines && !parted && comment != '/'; newlines--)
			strbuf_addc(&b, '\n');
		strbuf_addc(&b, c);
		if ((comment == '/' && c == '\n') || (comment == '*' && last == '*' && c == '/')) {
			comment = '\0';
			c = '\0';
		}
		last = c;
	}
	for (; newlines; newlines--)
		strbuf_addc(&b, '\n');
	return strbuf_take(&b, lx->arena);
}

void lexer_next(struct lexer *lx, struct token *ret)
{
	uint32_t start = lx->pos;
	bool space = false;
	bool more = skip_blanks(lx, &space);
	uint32_t pos = lx->pos;
	peek_byte(lx, &pos);

	*ret = (struct token){.bol = lx->bol, .space = space || lx->bol};
	// Without a blank there can be only a line splice, which may stand inside an attach point.
	ret->before = ret->space ? gap(lx, start, pos) : str_slice(lx->file->text, pos, 0);
	ret->loc = ret->use = (struct src_loc){lx->file, pos};
	if (!more || at_end(lx, pos)) {
		ret->text = str_slice(lx->file->text, pos, 0);
		if (more)
			lx->pos = pos;
		return;
	}
	enum tok_kind kind;
	lx->pos = scan_token(lx, pos, &kind);
	ret->kind = kind;
	ret->text = spelling(lx, pos, lx->pos);
	lx->bol = false;
	// bpftrace's macros do not reach names of maps.
	ret->no_expand = lx->after_at && !ret->space && !str_has_prefix(ret->text, STR("$"));
	lx->after_at = tok_is(ret, "@");
	follow_word(lx, ret);
}

struct token *lexer_list(struct lexer *lx)
{
	struct token *list, *t, **tail = &list;
	do {
		t = arena_new(lx->arena, struct token);
		lexer_next(lx, t);
		*tail = t;
		tail = &t->next;
	} while (t->kind != TOK_EOF);
	return list;
}

struct str lexer_rest_of_line(const struct lexer *lx)
{
	struct str rest = str_from_offset(lx->file->text, lx->pos);
	return str_slice(rest, 0, str_find(rest, '\n'));
}

bool lex_one(struct arena *a, struct str text, struct token *ret)
{
	struct src_file f = {.text = text};
	struct lexer lx = {.arena = a, .file = &f, .quiet = true, .braces = 1};
	struct token rest;
	lexer_next(&lx, ret);
	lexer_next(&lx, &rest);
	ret->loc = ret->use = (struct src_loc){0};
	return ret->kind != TOK_EOF && ret->before.n == 0 && rest.kind == TOK_EOF &&
	       ret->text.n == text.n;
}
