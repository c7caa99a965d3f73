#include "emit/text.h"

struct text *text_new(struct arena *a, const struct token *at, bool is_written)
{
	struct text *t = arena_new(a, struct text);
	t->at = at;
	t->is_written = is_written;
	return t;
}

static void add_piece(struct arena *a, struct text *to, struct piece piece)
{
	struct piece *p = arena_new(a, struct piece);
	*p = piece;
	if (to->last)
		to->last->next = p;
	else
		to->pieces = p;
	to->last = p;
}

/** Parts may be repeated, and contain repeated parts: the size can overflow. */
static void add_size(struct text *to, size_t n)
{
	to->size = n < UINT32_MAX - to->size ? to->size + (uint32_t)n : UINT32_MAX;
}

void text_add(struct arena *a, struct text *to, const struct text *part)
{
	if (!part->pieces)
		return;
	add_piece(a, to, (struct piece){.kind = PIECE_TEXT, .text = part});
	add_size(to, part->size);
}

void text_add_words(struct arena *a, struct text *to, struct str words)
{
	if (!words.n)
		return;
	add_piece(a, to, (struct piece){.words = words.p, .n = (uint32_t)words.n});
	add_size(to, words.n);
}

void text_add_tokens(struct arena *a, struct text *to, const struct token *from,
		     const struct token *last, const struct map *names)
{
	struct piece piece = {.kind = PIECE_TOKENS, .token = from, .n = 1};
	to->names = names ? names : to->names;
	for (; from != last; from = from->next, piece.n++)
		add_size(to, from->text.n + 1);
	add_size(to, last->text.n + 1);
	add_piece(a, to, piece);
}

void text_add_at(struct arena *a, struct text *to, const struct text *part,
		 const struct token *lead)
{
	struct token *kept = arena_new(a, struct token);
	struct text *at = text_new(a, kept, false), *same = arena_new(a, struct text);
	*kept = *lead;
	*same = *part;
	same->is_multiline = true;
	text_add(a, at, same);
	text_add(a, to, at);
}

/** Adds the collected words to @t, and clears them. */
static void flush(struct arena *a, struct text *t, struct strbuf *words)
{
	text_add_words(a, t, str_copy(a, strbuf_str(words)));
	strbuf_clear(words);
}

struct text *text_make(struct arena *a, const struct token *at, const char *format, ...)
{
	struct text *t = text_new(a, at, false);
	const struct text *part;
	struct strbuf words = {0};
	va_list ap;
	va_start(ap, format);
	for (const char *p = format; *p; p++) {
		if (*p != '%') {
			strbuf_addc(&words, *p);
			continue;
		}
		switch (*++p) {
		case 'n':
			flush(a, t, &words);
			text_add(a, t, va_arg(ap, const struct text *));
			break;
		case 'c':
			part = va_arg(ap, const struct text *);
			strbuf_addz(&words, part->needs_no_parens ? "" : "(");
			flush(a, t, &words);
			text_add(a, t, part);
			strbuf_addz(&words, part->needs_no_parens ? "" : ")");
			break;
		case 's':
			strbuf_addz(&words, va_arg(ap, const char *));
			break;
		case 't':
			strbuf_adds(&words, va_arg(ap, struct str));
			break;
		case 'u':
			strbuf_addf(&words, "%" PRIu64, va_arg(ap, uint64_t));
			break;
		default:
			strbuf_addc(&words, *p);
		}
	}
	va_end(ap);
	flush(a, t, &words);
	strbuf_fini(&words);
	return t;
}

// --- printing ---

struct printer {
	text_put *put;
	void *ctx;
	struct token lead; // the next token gets its line and blanks
	bool has_lead;
};

static void print_token(struct printer *p, struct token t, const struct token *of)
{
	if (p->has_lead) {
		t.before = p->lead.before;
		t.space = p->lead.space;
		t.bol = p->lead.bol;
	}
	p->has_lead = false;
	p->put(p->ctx, &t, of);
}

/** A template token inside generated text: without its own line break, for a copy must not repeat that. */
static struct token moved_token(const struct token *t)
{
	struct token moved = *t;
	moved.loc = (struct src_loc){0};
	moved.space |= moved.bol;
	moved.before = moved.space ? STR(" ") : STR("");
	moved.bol = false;
	moved.from_macro = true;
	return moved;
}

static void set_lead(struct printer *p, struct token lead)
{
	p->lead = lead;
	p->has_lead = true;
}

static void print_tokens(struct printer *p, const struct text *of, const struct piece *piece,
			 bool is_moved)
{
	const struct token *t = piece->token;
	for (uint32_t i = 0; i < piece->n; i++, t = t->next) {
		struct token one = is_moved ? moved_token(t) : *t;
		const struct str *name = of->names ? map_get(of->names, t->text) : NULL;
		if (name)
			one.text = *name;
		print_token(p, one, t);
	}
}

static void print_part(struct printer *p, const struct text *t, bool is_moved)
{
	if (!t->is_written && !p->has_lead && t->pieces)
		set_lead(p, is_moved ? moved_token(t->at) : *t->at);
	for (const struct piece *piece = t->pieces; piece; piece = piece->next) {
		if (!t->is_written && !p->has_lead)
			set_lead(p, (struct token){0});
		if (piece->kind == PIECE_TEXT)
			print_part(p, piece->text,
				   t->is_written ? is_moved : !piece->text->is_multiline);
		else if (piece->kind == PIECE_TOKENS)
			print_tokens(p, t, piece, is_moved);
		else if (piece->kind == PIECE_WORDS)
			print_token(p,
				    (struct token){.kind = TOK_OTHER,
						   .text = {piece->words, piece->n},
						   .use = t->at->use,
						   .from_macro = true},
				    t->at);
	}
}

void text_print(const struct text *t, text_put *fn, void *ctx)
{
	struct printer p = {.put = fn, .ctx = ctx};
	print_part(&p, t, false);
}

static void append_words(void *ctx, const struct token *t, const struct token *of)
{
	struct strbuf *text = ctx;
	(void)of;
	if (text->n)
		strbuf_adds(text, t->before);
	strbuf_adds(text, t->text);
}

struct str text_str(struct arena *a, const struct text *t)
{
	struct strbuf text = {0};
	text_print(t, append_words, &text);
	return strbuf_take(&text, a);
}

static bool consume_words(struct str words, struct str *rest)
{
	size_t n = words.n < rest->n ? words.n : rest->n;
	bool same = memcmp(words.p, rest->p, n) == 0;
	*rest = str_from_offset(*rest, n);
	return same;
}

/** Removes from @rest the words that @t begins with; false if the two differ. */
static bool consume_prefix(const struct text *t, struct str *rest)
{
	bool same = true;
	for (const struct piece *p = t->pieces; p && same && rest->n; p = p->next) {
		const struct token *of = p->kind == PIECE_TOKENS ? p->token : NULL;
		if (p->kind == PIECE_TEXT)
			same = consume_prefix(p->text, rest);
		else if (p->kind == PIECE_WORDS)
			same = consume_words((struct str){p->words, p->n}, rest);
		for (uint32_t i = 0; of && i < p->n && same; i++, of = of->next)
			same = consume_words(of->text, rest);
	}
	return same;
}

bool text_has_prefix(const struct text *t, const char *z)
{
	struct str rest = str_from(z);
	return consume_prefix(t, &rest) && !rest.n;
}
