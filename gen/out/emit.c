#include "out/emit.h"

#include <string.h>

struct writer {
	struct arena *arena;
	struct program *p;
	const struct src_file *main;
	uint32_t line, col; // of the next byte
	bool in_definition;
};

void program_init(struct program *p)
{
	*p = (struct program){0};
	strbuf_init(&p->text);
}

void program_fini(struct program *p)
{
	strbuf_fini(&p->text);
}

static void put(struct writer *w, struct str s)
{
	strbuf_adds(&w->p->text, s);
	for (size_t i = 0; i < s.n; i++) {
		w->col++;
		if (s.p[i] == '\n') {
			w->line++;
			w->col = 1;
		}
	}
}

/** What stands before @t on its own line: the text behind the last newline. */
static struct str indent_of(const struct token *t)
{
	struct str s = t->before;
	for (size_t i = s.n; i > 0; i--)
		if (s.p[i - 1] == '\n')
			return str_from_offset(s, i);
	return s;
}

static bool is_blank_only(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != ' ' && s.p[i] != '\t')
			return false;
	return true;
}

/** Directives have lines of their own. */
static bool ends_line(const struct token *t, const struct token *prev)
{
	return t->kind == TOK_DIRECTIVE || (prev && prev->kind == TOK_DIRECTIVE);
}

/** Comments and line breaks before @t, as written, when they fit: same file, nothing displaced. */
static bool put_before_verbatim(struct writer *w, const struct token *t, const struct token *prev,
				unsigned line)
{
	if (w->in_definition || t->from_macro || t->loc.file != w->main)
		return false;
	// bpftrace 0.17 reads `a:b` as a path, and a slash with only a comment behind it as a
	// predicate's end.
	if (prev && !t->attach &&
	    ((tok_is(prev, ":") && !t->before.n) ||
	     (tok_is(prev, "/") && !is_blank_only(t->before))))
		return false;
	unsigned newlines = 0;
	for (size_t i = 0; i < t->before.n; i++) {
		newlines += t->before.p[i] == '\n';
		if (t->before.p[i] == '\\' || t->before.p[i] == '\r')
			return false; // a line splice: the text would not mean the same
	}
	if (w->line + newlines != line || (!newlines && ends_line(t, prev) && w->col > 1))
		return false;
	put(w, t->before);
	return true;
}

static void put_before(struct writer *w, const struct token *t, const struct token *prev)
{
	bool of_main = t->use.file && t->use.file == w->main;
	unsigned line = 0, col = 0;
	if (of_main)
		src_position(t->use, &line, &col);
	if (of_main && put_before_verbatim(w, t, prev, line))
		return;

	if (of_main && w->line < line) {
		while (w->line < line)
			put(w, STR("\n"));
	} else if ((t->bol || ends_line(t, prev)) && w->col > 1) {
		put(w, STR("\n"));
	}
	if (w->col == 1) {
		struct str indent = indent_of(t);
		if (t->bol && is_blank_only(indent))
			put(w, indent);
	} else if (prev && (t->space || t->bol || tok_needs_space(prev, t))) {
		put(w, STR(" "));
	}
}

/** A definition is what stands between struct/union/enum at the top level and its closing brace. */
static bool starts_definition(const struct token *t)
{
	return tok_is(t, "struct") || tok_is(t, "union") || tok_is(t, "enum");
}

void emit_tokens(struct arena *a, const struct token *tokens, const struct src_file *main,
		 struct program *p)
{
	struct writer w = {.arena = a, .p = p, .main = main, .line = 1, .col = 1};
	const struct token *prev = NULL;
	int depth = 0;

	for (const struct token *t = tokens; t && t->kind != TOK_EOF; prev = t, t = t->next) {
		if (depth == 0)
			w.in_definition =
			    starts_definition(t) || (w.in_definition && !tok_is(prev, "}"));
		put_before(&w, t, prev);
		vec_push(a, &p->map.entries,
			 (struct linemap_entry){w.line, w.col, (uint32_t)t->text.n, t});
		put(&w, t->text);
		if (tok_is(t, "{"))
			depth++;
		else if (tok_is(t, "}") && depth > 0)
			depth--;
	}
	if (w.col > 1)
		put(&w, STR("\n"));
}

const struct token *linemap_find(const struct linemap *m, unsigned line, unsigned col)
{
	size_t lo = 0, hi = m->entries.n; // the first entry behind the position
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct linemap_entry *e = &m->entries.v[mid];
		if (e->line > line || (e->line == line && e->col > col))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo ? m->entries.v[lo - 1].token : NULL;
}

const struct token *linemap_find_line(const struct linemap *m, unsigned line)
{
	for (size_t i = 0; i < m->entries.n; i++)
		if (m->entries.v[i].line >= line)
			return m->entries.v[i].token;
	return NULL;
}
