// Tokens as text again, each on its own line where that can be.
#include "text/pp.h"

#include <string.h>

struct printer {
	struct strbuf *b;
	const struct token *prev;
	const struct src_file *file; /**< whose lines are being followed */
	long line;		     /**< of the output, from 1 */
	long shift;		     /**< output line - source line */
	int braces;
	struct strbuf scratch;
};

static void newline(struct printer *p)
{
	strbuf_addc(p->b, '\n');
	p->line++;
}

static size_t count_newlines(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

/** The blanks and newlines of @gap, a blank for each comment. */
static struct str without_comments(struct str gap, struct strbuf *ret)
{
	char comment = '\0';
	strbuf_clear(ret);
	for (size_t i = 0; i < gap.n; i++) {
		char c = gap.p[i], next = i + 1 < gap.n ? gap.p[i + 1] : '\0';
		if (!comment && c == '/') {
			comment = next;
			i++;
			strbuf_addc(ret, ' ');
		} else if (comment == '*' && c == '*' && next == '/') {
			comment = '\0';
			i++;
		} else if (!comment || c == '\n') {
			strbuf_addc(ret, c);
			comment = comment == '/' ? '\0' : comment;
		}
	}
	return strbuf_str(ret);
}

/** Writes blanks and comments without carriage returns, and without @excess of the blank lines. */
static void add_gap(struct printer *p, struct str gap, long excess)
{
	// With macros around it, a comment that touches a word could become part of an attach
	// point's path.
	if (gap.n && gap.p[0] == '/' && p->prev && p->braces == 0 &&
	    !(p->prev->text.n == 1 && strchr(";{},", p->prev->text.p[0])))
		strbuf_addc(p->b, ' ');
	bool blank = p->b->n == 0 || p->b->p[p->b->n - 1] == '\n';
	size_t line =
	    p->b->n; // where the line being written starts, to take it back when it is empty
	for (size_t i = 0; i < gap.n; i++) {
		char c = gap.p[i];
		if (c == '\r') {
			if (i + 1 < gap.n && gap.p[i + 1] == '\n')
				continue;
			c = ' '; // alone it is a blank, also between two slashes
		}
		if (c == '\n') {
			if (blank && excess > 0) {
				excess--;
				p->b->n = line;
				continue;
			}
			newline(p);
			blank = true;
			line = p->b->n;
			continue;
		}
		blank = blank && (c == ' ' || c == '\t');
		strbuf_addc(p->b, c);
	}
}

/**
 * Starts following the lines of another file; back in an earlier one its own lines are caught up
 * with.
 */
static void change_file(struct printer *p, const struct token *t, long at)
{
	if (p->prev && p->b->n && p->b->p[p->b->n - 1] != '\n')
		newline(p);
	p->file = t->use.file;
	p->shift = p->line <= at ? 0 : p->line - at;
}

/**
 * Goes to where @t stands: its line as far as that is still to come, with the blanks and comments
 * before it.
 */
static void print_gap(struct printer *p, const struct token *t, struct str gap)
{
	const struct src_loc *where = t->from_macro ? &t->use : &t->loc;
	long at = (long)src_line(*where), have = (long)count_newlines(gap);
	bool changed = where->file && where->file != p->file;

	if (changed)
		change_file(p, t, at - (at > have ? have : 0));
	if (t->kind == TOK_DIRECTIVE && !have && p->b->n && p->b->p[p->b->n - 1] != '\n')
		newline(p);
	if (!where->file || (t->attach && !t->space)) {
		add_gap(p, gap, 0);
		return;
	}
	long want = at + p->shift - p->line; // newlines that would be right
	if (want <= 0 && have > 0 && !changed && p->prev && p->prev->kind != TOK_DIRECTIVE &&
	    t->kind != TOK_DIRECTIVE) {
		gap = STR(" "); // a macro's argument once more: its lines are behind us
		have = 0;
	}
	for (long i = have; i < want; i++)
		newline(p);
	add_gap(p, gap, have > want ? have - want : 0);
}

/** Must a blank be put before @t? Only where nothing parts it from what was written last. */
static bool needs_blank(const struct printer *p, const struct token *t)
{
	const struct token *prev = p->prev;
	if (!prev || t->before.n || !p->b->n || strchr(" \t\n", p->b->p[p->b->n - 1]))
		return false;
	bool adjacent = !prev->from_macro && !t->from_macro && prev->loc.file == t->loc.file &&
			prev->loc.off + prev->text.n == t->loc.off;
	// Two that touch in the source may touch here, with two exceptions: in bodies bpftrace up
	// to 0.22 takes a colon and a word for a path, and slashes cut from a path can have ended
	// up in a body.
	if (adjacent && !(p->braces > 0 && tok_is(prev, ":")) && !tok_is(prev, "/"))
		return false;
	return tok_needs_space(prev, t);
}

static void print_token(struct printer *p, const struct token *t)
{
	struct str gap = t->before;
	// For bpftrace a slash before a slash ends a predicate, even when the second one opens a
	// comment.
	if (p->prev && tok_is(p->prev, "/"))
		gap = without_comments(gap, &p->scratch);
	print_gap(p, t, gap);
	if (needs_blank(p, t))
		strbuf_addc(p->b, ' ');
	strbuf_adds(p->b, t->text);

	if (tok_is(t, "{"))
		p->braces++;
	else if (tok_is(t, "}") && p->braces > 0)
		p->braces--;
	p->prev = t;
}

void pp_print(const struct token *list, struct strbuf *ret)
{
	struct printer p = {.b = ret, .line = 1};
	const struct token *t = list;
	for (; t && t->kind != TOK_EOF; t = t->next) {
		if (p.prev && p.prev->kind == TOK_DIRECTIVE && !count_newlines(t->before) &&
		    ret->n && ret->p[ret->n - 1] != '\n')
			newline(&p);
		print_token(&p, t);
	}
	if (t) // comments at the end
		add_gap(&p, t->before, 0);
	if (ret->n && ret->p[ret->n - 1] != '\n')
		newline(&p);
	strbuf_fini(&p.scratch);
}
