#include "probe/argsrc.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "usdt/argname.h"
#include "elf/debuginfo.h"
#include "probe/argtype.h"

/** A source file is not larger; a call does not start further above its line, nor is it longer. */
enum { MAX_SOURCE = 16 << 20, LINES_ABOVE = 8, MAX_CALL = 8192, MAX_PARENS = 64, MAX_PARTS = 32 };

static bool is_newer(const struct stat *source, int binary)
{
	struct stat st;
	if (fstat(binary, &st) != 0)
		return true;
	return source->st_mtim.tv_sec != st.st_mtim.tv_sec
		   ? source->st_mtim.tv_sec > st.st_mtim.tv_sec
		   : source->st_mtim.tv_nsec > st.st_mtim.tv_nsec;
}

/**
 * The text of source file @path, or empty: not there, not a file, changed after the program was
 * built.
 */
static struct str source_text(struct dwsrc *src, const char *path)
{
	struct str *known = map_get(&src->sources, str_from(path)), text = {0};
	if (known)
		return *known;
	uint64_t size;
	const char *why;
	const char *root = src->img->root.n ? str_dup(src->arena, src->img->root) : NULL;
	int fd = file_open(root, path, &size, &why);
	struct stat st;
	struct debuginfo *di;
	if (fd >= 0 && size && size <= MAX_SOURCE && fstat(fd, &st) == 0 &&
	    img_debuginfo(src->img, &di) && !is_newer(&st, src->img->fd) &&
	    !is_newer(&st, di->file->fd)) {
		char *p = arena_alloc(src->arena, size);
		if (file_read_at(fd, p, size, 0))
			text = (struct str){p, size};
	}
	if (fd >= 0)
		close(fd);
	struct str *copy = arena_new(src->arena, struct str);
	*copy = text;
	map_put(src->arena, &src->sources, str_from(arena_strdup(src->arena, path)), copy);
	return text;
}

/** @text from line @line on; empty when it has fewer. */
static struct str from_line(struct str text, unsigned line)
{
	while (line > 1 && text.n) {
		text = str_from_offset(text, str_find(text, '\n') + 1);
		line--;
	}
	return text;
}

/**
 * PostgreSQL's and systemtap's dtrace scripts make QUERY__START of query__start, with a prefix, _
 * for __.
 */
static bool is_macro_of(struct str word, struct str probe)
{
	size_t i = word.n, k = probe.n;
	while (i && k) {
		char want = probe.p[--k];
		if (want == '-' || (want == '_' && k && probe.p[k - 1] == '_')) {
			k -= want == '_';
			want = '_';
		}
		if (word.p[--i] != toupper((unsigned char)want))
			return false;
	}
	return k == 0 && i > 0 && word.p[i - 1] == '_';
}

/** The call that a line holds: the text between its parentheses, or behind the probe's name. */
struct call {
	struct str args;
	bool has_args;
	unsigned
	    n; /**< matching calls on the line; more than one is ambiguous, and treated as none */
};

static void look_at_word(struct str word, struct str behind, struct str outer, struct str probe,
			 struct call *ret)
{
	struct str rest = str_trim(behind);
	if (str_eq(word, probe) && outer.n) {
		// NAME(..., probe, a, b): up to the parenthesis that closes the call.
		size_t close = argname_close(outer);
		const char *end = outer.p + close;
		if (close == outer.n || end < rest.p)
			return;
		struct str args = {rest.p, (size_t)(end - rest.p)};
		if (args.n && args.p[0] != ',')
			return;
		ret->n++;
		ret->has_args = args.n > 0;
		ret->args = str_from_offset(args, 1);
	} else if (is_macro_of(word, probe) && rest.n && rest.p[0] == '(') {
		size_t close = argname_close(rest);
		if (close == rest.n)
			return;
		ret->n++;
		ret->args = str_trim(str_slice(rest, 1, close - 1));
		ret->has_args = ret->args.n > 0;
	}
}

/** Calls that start on the first line of @text, with their end on line @n_lines or later. */
static void find_call(struct str text, unsigned n_lines, struct str probe, struct call *ret)
{
	struct str open[MAX_PARENS], rest = {text.p, text.n < MAX_CALL ? text.n : MAX_CALL};
	size_t depth = 0;
	unsigned line = 1;
	while (rest.n) {
		char c = rest.p[0];
		struct str behind = argname_skip_token(rest), word = {rest.p, rest.n - behind.n};
		if (c == '\n' && line++ && depth == 0)
			return;
		if (c == '(') {
			if (depth == MAX_PARENS)
				return;
			open[depth++] = rest;
		} else if (c == ')' && depth) {
			depth--;
		} else if (isalpha((unsigned char)c) || c == '_') {
			// The call must reach the site's line.
			struct call found = {0};
			look_at_word(word, behind, depth ? open[depth - 1] : (struct str){0}, probe,
				     &found);
			unsigned end = line;
			for (const char *p = word.p; found.n && p < found.args.p + found.args.n;
			     p++)
				end += *p == '\n';
			if (found.n && end >= n_lines) {
				found.n += ret->n;
				*ret = found;
			}
		}
		for (size_t i = 1; i < word.n; i++)
			line += word.p[i] == '\n';
		rest = behind;
	}
}

/** An identifier and nothing else: which variable? */
static const struct argloc_var *plain_variable(struct argloc *l, struct str expr)
{
	for (size_t i = 0; i < l->vars.n; i++)
		if (str_eq(l->vars.v[i].name, expr) &&
		    (!l->vars.v[i].line || l->vars.v[i].line <= l->scope->line))
			return &l->vars.v[i];
	return NULL;
}

static bool is_literal(struct str expr)
{
	struct str s = expr;
	while (s.n && (s.p[0] == '-' || s.p[0] == '(' || s.p[0] == ' '))
		s = str_from_offset(s, 1);
	return s.n && (isdigit((unsigned char)s.p[0]) || s.p[0] == '"' || s.p[0] == '\'');
}

bool argsrc_read(struct argloc *l, struct str probe, struct argsrc_arg *ret, size_t max,
		 size_t *ret_n)
{
	*ret_n = 0;
	if (!l->scope->line || !l->scope->full_path)
		return false;
	struct str text = source_text(l->src, l->scope->full_path);
	struct call call = {0};
	for (unsigned up = 0; up <= LINES_ABOVE && up < l->scope->line && !call.n; up++) {
		struct str at = from_line(text, l->scope->line - up);
		if (!at.n)
			return false;
		find_call(at, up + 1, probe, &call);
	}
	if (call.n != 1)
		return false;
	struct str parts[MAX_PARTS];
	size_t n = call.has_args ? argname_split(call.args, parts, MAX_PARTS) : 0;
	if (n > MAX_PARTS || n > max)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct argname_arg arg;
		argname_parse(l->src->arena, parts[i], &arg);
		ret[i] = (struct argsrc_arg){
		    .expr = arg.expr,
		    .name = arg.name,
		    .type = argtype_of_value(l->src->arena, argsrc_type(l, arg.expr)),
		    .is_literal = is_literal(arg.expr),
		    .var = plain_variable(l, arg.expr)};
	}
	*ret_n = n;
	return true;
}
