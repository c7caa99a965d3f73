#include "probe/argmacro.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/debugfile.h"
#include "usdt/argname.h"

/**
 * A source file is not larger; a call has not more parts; macros are not nested deeper. Of one image so
 * many bytes are searched for definitions, then none is found any more.
 */
enum {
	MAX_SOURCE = 16 << 20,
	MAX_PARTS = 32,
	MAX_NESTED = 4,
	MAX_BODY = 8192,
	MAX_SEARCHED = 128 << 20
};

// --- the texts of source files

static bool is_newer(const struct stat *source, int binary)
{
	struct stat st;
	if (fstat(binary, &st) != 0)
		return true;
	return source->st_mtim.tv_sec != st.st_mtim.tv_sec
		   ? source->st_mtim.tv_sec > st.st_mtim.tv_sec
		   : source->st_mtim.tv_nsec > st.st_mtim.tv_nsec;
}

struct str argmacro_source(struct dwsrc *src, const char *path)
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

// --- definitions

struct definition {
	VEC(struct str) params;
	bool is_variadic;
	struct str body;
	unsigned n; // how many there are: which of several holds is not known
};

/** `#define NAME(a, b, ...) body` behind the name, with lines that go on made one. */
static bool read_definition(struct arena *a, struct str rest, struct definition *ret)
{
	struct str parts[MAX_PARTS];
	if (!rest.n || rest.p[0] != '(')
		return false; // of no parameters
	size_t close = argname_close(rest), n;
	if (close == rest.n)
		return false;
	n = argname_split(str_slice(rest, 1, close - 1), parts, MAX_PARTS);
	if (n > MAX_PARTS)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool is_rest = str_eqz(parts[i], "...");
		ret->is_variadic |= is_rest;
		vec_push(a, &ret->params, is_rest ? STR("__VA_ARGS__") : parts[i]);
	}
	rest = str_from_offset(rest, close + 1);
	size_t end = 0;
	while (end < rest.n && (rest.p[end] != '\n' || (end && rest.p[end - 1] == '\\')))
		end++;
	if (end > MAX_BODY)
		return false;
	char *body = arena_strndup(a, rest.p, end);
	for (size_t i = 0; i < end; i++)
		if (body[i] == '\n' || (body[i] == '\\' && i + 1 < end && body[i + 1] == '\n'))
			body[i] = ' ';
	ret->body = (struct str){body, end};
	return true;
}

/** Takes blanks and a word off @line. */
static bool take_word(struct str *line, const char *word)
{
	*line = str_trim(*line);
	return str_take(line, str_from(word));
}

static void find_in_file(struct dwsrc *src, const char *path, struct str macro,
			 struct definition *ret)
{
	struct arena *a = src->arena;
	struct str text = src->n_searched < MAX_SEARCHED ? argmacro_source(src, path) : STR("");
	src->n_searched += text.n;
	while (text.n) {
		struct str here = text, line = str_take_line(&text);
		if (!take_word(&line, "#") || !take_word(&line, "define"))
			continue;
		line = str_trim(line);
		if (!str_has_prefix(line, macro))
			continue;
		struct str behind = {line.p + macro.n,
				     here.n - (size_t)(line.p + macro.n - here.p)};
		if (behind.n && (isalnum((unsigned char)behind.p[0]) || behind.p[0] == '_'))
			continue;
		if (!ret->n++ && !read_definition(a, behind, ret))
			ret->n++;
	}
}

/** `#include "name"`: beside the file that has it, or in the unit's folder. */
static void find_in_included(struct argloc *l, struct str text, struct str macro, struct map *seen,
			     struct definition *ret)
{
	struct arena *a = l->src->arena;
	const char *slash = strrchr(l->scope->full_path, '/');
	size_t n_dir = slash ? (size_t)(slash - l->scope->full_path) : 0;
	while (text.n) {
		struct str line = str_take_line(&text);
		if (!take_word(&line, "#") || !take_word(&line, "include") ||
		    !take_word(&line, "\""))
			continue;
		const char *path = arena_printf(a, "%.*s/" STR_FMT, (int)n_dir, l->scope->full_path,
						STR_ARG(str_slice(line, 0, str_find(line, '"'))));
		if (map_add(a, seen, str_from(path)))
			find_in_file(l->src, path, macro, ret);
	}
}

/** In the source file, the files that its unit knows, and those that it includes by quotes. */
static void search(struct argloc *l, struct str macro, struct definition *ret)
{
	struct map seen = {0};
	Dwarf_Files *files;
	size_t n = 0;
	const char *own = l->scope->full_path;
	map_add(l->src->arena, &seen, str_from(own));
	find_in_file(l->src, own, macro, ret);
	find_in_included(l, argmacro_source(l->src, own), macro, &seen, ret);
	Dwarf_Die unit = l->scope->unit;
	if (dwarf_getsrcfiles(&unit, &files, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);
		if (path && path[0] == '/' && map_add(l->src->arena, &seen, str_from(path)))
			find_in_file(l->src, path, macro, ret);
	}
}

/** The only definition of @macro, or NULL. */
static const struct definition *find_definition(struct argloc *l, struct str macro)
{
	struct arena *a = l->src->arena;
	struct str key = str_printf(a, "%s:" STR_FMT, l->scope->full_path, STR_ARG(macro));
	struct definition *d = map_get(&l->src->macros, key);
	if (!d) {
		d = arena_new(a, struct definition);
		search(l, macro, d);
		map_put(a, &l->src->macros, key, d);
	}
	return d->n == 1 ? d : NULL;
}

// --- calls

/** How many texts of a probe macro's call stand before those of operands; 0: it is none. */
static size_t n_before(struct str macro)
{
	static const char *const names[] = {"DTRACE_PROBE",
					    "STAP_PROBE",
					    "STAP_PROBEV",
					    "USDT_PROBE",
					    "USDT_PROBE_LAZY",
					    "FOLLY_SDT",
					    "FOLLY_SDT_WITH_SEMAPHORE",
					    "USDT",
					    "LIBC_PROBE",
					    NULL};
	while (macro.n && isdigit((unsigned char)macro.p[macro.n - 1]))
		macro.n--; // the number of operands
	return str_is_any(macro, names) ? 2 : 0;
}

/** Which part of it is the probe's name. */
static size_t where_name(struct str macro)
{
	return str_eqz(macro, "LIBC_PROBE") ? 0 : 1;
}

static struct str bare(struct str text)
{
	while ((text = str_trim(text)).n && text.p[0] == '(' && argname_close(text) == text.n - 1)
		text = str_slice(text, 1, text.n - 2);
	return text;
}

struct parts {
	struct str v[MAX_PARTS];
	size_t n;
};

static bool split(struct str args, struct parts *ret)
{
	ret->n = str_trim(args).n ? argname_split(args, ret->v, MAX_PARTS) : 0;
	return ret->n <= MAX_PARTS;
}

/** What the call passes for the text @inner of a definition's body: added to @ret. */
static bool substitute(const struct definition *d, const struct parts *given, struct str inner,
		       struct parts *ret)
{
	struct str name = bare(inner);
	size_t n_named = d->params.n - d->is_variadic;
	str_take(&name, STR("##"));
	name = str_trim(name);
	for (size_t i = 0; i < d->params.n; i++) {
		if (!str_eq(d->params.v[i], name))
			continue;
		size_t end = d->is_variadic && i == n_named ? given->n : i + 1;
		for (size_t k = i; k < end; k++) {
			if (ret->n == MAX_PARTS || k >= given->n)
				return false;
			ret->v[ret->n++] = given->v[k];
		}
		return true;
	}
	if (ret->n == MAX_PARTS)
		return false;
	ret->v[ret->n++] = (struct str){0}; // something else
	return true;
}

static bool operands(struct argloc *l, struct str macro, const struct parts *given,
		     struct str probe, unsigned depth, struct parts *ret);

/** The one probe's call in the body of a macro. */
static bool operands_of_body(struct argloc *l, const struct definition *d,
			     const struct parts *given, struct str probe, unsigned depth,
			     struct parts *ret)
{
	unsigned n_found = 0;
	l->src->n_searched += 8 * MAX_BODY; // macros that hold each other many times
	for (struct str rest = d->body; rest.n && l->src->n_searched < MAX_SEARCHED;) {
		struct str behind = argname_skip_token(rest), word = {rest.p, rest.n - behind.n};
		struct str open = str_trim(behind);
		struct parts inner, passed = {.n = 0}, found = {.n = 0};
		rest = behind;
		if (!open.n || open.p[0] != '(' ||
		    !(isalpha((unsigned char)word.p[0]) || word.p[0] == '_'))
			continue;
		size_t close = argname_close(open);
		bool good = close < open.n && split(str_slice(open, 1, close - 1), &inner);
		for (size_t i = 0; good && i < inner.n; i++) {
			size_t at = passed.n;
			good = substitute(d, given, inner.v[i], &passed);
			// The names of provider and probe may be put together here.
			if (good && n_before(word) && i == where_name(word) && !passed.v[at].n)
				passed.v[at] =
				    str_contains(inner.v[i], STR("##")) ? probe : bare(inner.v[i]);
		}
		if (!good || !operands(l, word, &passed, probe, depth + 1, &found))
			continue;
		n_found++;
		*ret = found;
	}
	return n_found == 1;
}

/** Those of macro(given). */
static bool operands(struct argloc *l, struct str macro, const struct parts *given,
		     struct str probe, unsigned depth, struct parts *ret)
{
	size_t before = n_before(macro);
	if (!before) {
		const struct definition *d = depth < MAX_NESTED ? find_definition(l, macro) : NULL;
		return d && given->n + 1 >= d->params.n &&
		       operands_of_body(l, d, given, probe, depth, ret);
	}
	if (given->n < before || !str_eq(given->v[where_name(macro)], probe))
		return false;
	ret->n = given->n - before;
	memcpy(ret->v, given->v + before, ret->n * sizeof(*ret->v));
	return true;
}

bool argmacro_operands(struct argloc *l, const struct argmacro_call *call, struct str probe,
		       struct str *ret, size_t max, size_t *n)
{
	struct parts given, found = {.n = 0};
	*n = 0;
	if (!split(call->args, &given) || !operands(l, call->macro, &given, probe, 0, &found) ||
	    found.n > max)
		return false;
	memcpy(ret, found.v, found.n * sizeof(*ret));
	*n = found.n;
	return true;
}
