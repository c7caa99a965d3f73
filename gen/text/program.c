#include "text/program.h"

void program_fini(struct program *p)
{
	strbuf_fini(&p->text);
	free(p->map.entries.v);
}

static void write_text(struct program_sink *w, struct str s)
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

/** Is @t the rest of an attach point that a line splice parts? There a blank or a newline would end it. */
static bool is_spliced(const struct token *prev, const struct token *t)
{
	return prev && t->attach && !t->space && !t->bol && !prev->from_macro && !t->from_macro;
}

/** Must a blank be put between the two? What touches in the template may, with two exceptions. */
static bool needs_blank(const struct program_sink *w, const struct token *prev,
			const struct token *t)
{
	if (is_spliced(prev, t))
		return false;
	bool touches = !t->before.n && !prev->from_macro && !t->from_macro &&
		       prev->loc.file == t->loc.file && prev->loc.off + prev->text.n == t->loc.off;
	// bpftrace 0.17 reads `a:b` in a body as a path, and slashes cut from one may be there.
	if (touches && !(w->depth > 0 && tok_is(prev, ":")) && !tok_is(prev, "/"))
		return false;
	return tok_needs_space(prev, t);
}

/** @gap without the carriage returns of its lines; false when it has others, or line splices. */
static bool clean_gap(struct str gap, struct strbuf *ret)
{
	for (size_t i = 0; i < gap.n; i++) {
		char c = gap.p[i];
		bool ends = c == '\r' && i + 1 < gap.n && gap.p[i + 1] == '\n';
		if (c == '\\' || (c == '\r' && !ends))
			return false;
		if (!ends)
			strbuf_addc(ret, c);
	}
	return true;
}

/** May the blanks and comments before @t stand there as they are? */
static bool keeps_gap(const struct program_sink *w, const struct token *t, const struct token *prev)
{
	if (w->in_definition || (t->from_macro && !t->bol))
		return false;
	if (!prev || is_blank_only(t->before))
		return !prev || t->before.n || !needs_blank(w, prev, t);
	// For 0.17 a slash followed only by a comment ends a predicate.
	return !tok_is(prev, "/") || t->attach;
}

/** Comments and line breaks before @t, as written, when they fit: same file, nothing displaced. */
static bool put_before_verbatim(struct program_sink *w, const struct token *t,
				const struct token *prev, unsigned line)
{
	struct strbuf gap = {0};
	unsigned newlines = 0;
	// In an attach point a comment that touches a word could become part of a path.
	if (prev && w->depth == 0 && !tok_is(prev, ";") && !tok_is(prev, "}") &&
	    str_has_prefix(t->before, STR("/")))
		strbuf_addc(&gap, ' ');
	bool fits = keeps_gap(w, t, prev) && clean_gap(t->before, &gap);
	for (size_t i = 0; i < gap.n; i++)
		newlines += gap.p[i] == '\n';
	fits =
	    fits && w->line + newlines == line && (newlines || !ends_line(t, prev) || w->col == 1);
	if (fits)
		write_text(w, strbuf_str(&gap));
	strbuf_fini(&gap);
	return fits;
}

static void put_before(struct program_sink *w, const struct token *t, const struct token *prev)
{
	bool of_main = t->use.file && t->use.file == w->main;
	unsigned line = 0, col = 0;
	if (of_main)
		src_position(t->use, &line, &col);
	if (of_main && put_before_verbatim(w, t, prev, line))
		return;
	if (of_main && w->line < line && !is_spliced(prev, t)) {
		while (w->line < line)
			write_text(w, STR("\n"));
	} else if ((t->bol || ends_line(t, prev)) && w->col > 1) {
		write_text(w, STR("\n"));
	}
	if (w->col == 1) {
		struct str indent = str_last(t->before, '\n');
		if (t->bol && is_blank_only(indent))
			write_text(w, indent);
	} else if (prev && (t->space || t->bol || needs_blank(w, prev, t))) {
		write_text(w, STR(" "));
	}
}

/** Not in an arena, where the old copies of a vector that grows would stay. */
static void add_entry(struct linemap *m, struct linemap_entry e)
{
	if (m->entries.n == m->entries.cap) {
		m->entries.cap = m->entries.cap ? 2 * m->entries.cap : 256;
		m->entries.v = base_realloc(m->entries.v, m->entries.cap * sizeof(e));
	}
	m->entries.v[m->entries.n++] = e;
}

void program_begin(struct program_sink *w, struct program *p, const struct src_file *main)
{
	*w = (struct program_sink){.p = p, .main = main, .line = 1, .col = 1};
}

void program_put(struct program_sink *w, const struct token *t, const struct token *of)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	w->in_definition = w->in_definition && (w->depth > 0 || !tok_is(w->prev, "}"));
	put_before(w, t, w->prev);
	// A definition goes from its tag at the top level to its closing brace.
	w->in_definition |= w->depth == 0 && tok_is_any(t, tags);
	add_entry(&w->p->map, (struct linemap_entry){.line = w->line,
						     .col = w->col,
						     .at = (uint32_t)w->p->text.n,
						     .n = (uint32_t)t->text.n,
						     .is_ours = !t->loc.file,
						     .is_words = t->kind == TOK_OTHER,
						     .bol = t->bol,
						     .of = of});
	write_text(w, t->text);
	if (tok_is(t, "{"))
		w->depth++;
	else if (tok_is(t, "}") && w->depth > 0)
		w->depth--;
	w->last = *t;
	w->prev = &w->last;
}

void program_end(struct program_sink *w, const struct token *end)
{
	if (end && end->use.file == w->main && end->before.n)
		put_before_verbatim(w, end, w->prev, src_line(end->use));
	if (w->col > 1)
		write_text(w, STR("\n"));
	w->p->map.text = strbuf_str(&w->p->text);
}

const struct linemap_entry *linemap_find(const struct linemap *m, unsigned line, unsigned col)
{
	size_t lo = 0, hi = m->entries.n; // the first entry after the position
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct linemap_entry *e = &m->entries.v[mid];
		if (e->line > line || (e->line == line && e->col > col))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo ? &m->entries.v[lo - 1] : NULL;
}
