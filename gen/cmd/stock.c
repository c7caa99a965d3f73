// Our own ("stock") scripts: which file a script's name on the command line means, their list, their pages.
#include "cmd/expand.h"

#include <dirent.h>
#include <regex.h>

#include "base/file.h"

/** @name with each of its @from, '-' or '_', as the other: our own scripts had both in their names. */
static const char *respell(struct arena *a, const char *name, char from)
{
	char *other = arena_strdup(a, name);
	for (char *c = other; *c; c++)
		if (*c == from)
			*c = from == '-' ? '_' : '-';
	return other;
}

/** @path, or with ".bt" added; NULL: neither exists. */
static const char *find_at(struct arena *a, const char *path)
{
	if (access(path, F_OK) == 0)
		return path;
	path = arena_printf(a, "%s.bt", path);
	return access(path, F_OK) == 0 ? path : NULL;
}

static const char *find_own(struct arena *a, const char *name)
{
	const char *dir = expand_script_dir(a);
	const char *names[] = {name, respell(a, name, '_'), respell(a, name, '-')};
	const char *path = NULL;
	for (size_t i = 0; i < 3 && !path && dir && *name != '/'; i++)
		path = find_at(a, arena_printf(a, "%s/%s", dir, names[i]));
	return path;
}

const char *stock_find(struct arena *a, const char *name)
{
	const char *path = find_at(a, name);
	return path ? path : find_own(a, name);
}

bool stock_choose(struct arena *a, struct diag *d, const char *name, const char **ret)
{
	*ret = stock_find(a, name);
	const char *own = strchr(name, '/') || !*ret ? NULL : find_own(a, name);
	const char *why = own && strcmp(own, *ret) != 0 ? file_why_foreign(a, *ret) : NULL;
	char here[PATH_MAX], stock[PATH_MAX];
	if (!why || !realpath(*ret, here) || !realpath(own, stock) || strcmp(here, stock) == 0)
		return true;
	diag_error(d, NULL, "script '%s' is ambiguous: %s (%s) or btgen's own %s", name, here, why,
		   stock);
	return diag_note(d, NULL, "write './%s' for the first, the whole path for the second",
			 *ret);
}

/** Adds what the part in brackets of @pattern matches in @text, each once. */
static void add_matches(struct arena *a, const char *text, const char *pattern, word_list *ret)
{
	regex_t re;
	regmatch_t m[2];
	if (regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE) != 0)
		base_oom();
	for (int flags = 0; regexec(&re, text, 2, m, flags) == 0; flags = REG_NOTBOL) {
		size_t n = (size_t)(m[1].rm_eo - m[1].rm_so), i = 0;
		const char *found = arena_strndup(a, text + m[1].rm_so, n);
		while (i < ret->n && strcmp(ret->v[i], found) != 0)
			i++;
		if (i == ret->n)
			vec_push(a, ret, found);
		text += m[0].rm_eo;
	}
	regfree(&re);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** The lines of -L; a file without a page is for #include. */
static bool read_list(struct arena *a, struct diag *d, word_list *ret)
{
	const char *dir = expand_script_dir(a);
	DIR *directory = dir ? opendir(dir) : NULL;
	struct src_file *f;
	if (!directory)
		return diag_error(d, NULL, "the directory of btgen's own scripts is missing");
	for (struct dirent *e; (e = readdir(directory));) {
		const char *path = arena_printf(a, "%s/%s", dir, e->d_name);
		struct str name = str_from(e->d_name);
		word_list purpose = {0};
		if (!str_has_suffix(name, STR(".bt")) || !src_load(a, d, path, name, &f) ||
		    !str_contains(f->text, STR("\n * TRACES")))
			continue;
		add_matches(a, f->text.p, "^ \\* [^ ]*\\.bt - (.*)$", &purpose);
		if (purpose.n)
			vec_push(
			    a, ret,
			    arena_printf(a, "%-17.*s %s", (int)name.n - 3, name.p, purpose.v[0]));
	}
	closedir(directory);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_bytes);
	return true;
}

bool stock_list(struct arena *a)
{
	struct diag d;
	word_list lines = {0};
	diag_init(&d, stderr);
	bool good = read_list(a, &d, &lines);
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.v[i]);
	return good && fflush(stdout) == 0;
}

const char *stock_near(struct arena *a, const char *name)
{
	struct diag d;
	word_list lines = {0};
	const char *near = NULL;
	unsigned best = UINT_MAX;
	struct str wanted = str_from(name);
	if (str_has_suffix(wanted, STR(".bt")))
		wanted.n -= 3;
	diag_init(&d, stderr);
	if (expand_script_dir(a))
		read_list(a, &d, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		struct str line = str_from(lines.v[i]),
			   own = str_slice(line, 0, str_find(line, ' '));
		if (str_is_nearer(wanted, own, &best))
			near = arena_printf(a, STR_FMT ".bt", STR_ARG(own));
	}
	return near;
}

static void print_section(struct arena *a, const char *title, const word_list *lines)
{
	if (lines->n)
		printf("\n%s\n", title);
	for (size_t i = 0; i < lines->n; i++)
		printf("  " STR_FMT "\n", STR_ARG(str_printable(a, str_from(lines->v[i]))));
}

/** `#pragma option NAME VALUE "help"` as `-D NAME  help  [VALUE]`, or NULL. */
static const char *page_option(struct arena *a, struct str line)
{
	char name[64], value[64];
	const char *text = str_dup(a, line), *from = strchr(text, '"'), *to = strrchr(text, '"');
	if (!str_take(&line, STR("#pragma option ")) ||
	    sscanf(text, "#pragma option %63s %63s", name, value) != 2)
		return NULL;
	return arena_printf(a, "-D %-12s %.*s  [%s]", name, from < to ? (int)(to - from - 1) : 0,
			    from ? from + 1 : "", value);
}

/** Prints the header of a script, its first comment; the rest is left in @text. */
static void print_header(struct arena *a, struct str *text)
{
	if (!str_has_prefix(*text, STR("/*")))
		return;
	str_take_line(text);
	while (text->n) {
		struct str line = str_take_line(text);
		if (str_contains(line, STR("*/")))
			return;
		if (str_take(&line, STR(" *")))
			str_take(&line, STR(" "));
		printf(STR_FMT "\n", STR_ARG(str_printable(a, line)));
	}
}

static void print_page(struct arena *a, struct str text)
{
	word_list options = {0}, probes = {0};
	struct strbuf body = {0}; // without comments
	print_header(a, &text);
	while (text.n) {
		struct str line = str_take_line(&text);
		const char *option = page_option(a, line),
			   *slashes = memmem(line.p, line.n, "//", 2);
		if (option)
			vec_push(a, &options, option);
		strbuf_add(&body, line.p, slashes ? (size_t)(slashes - line.p) : line.n);
		strbuf_addc(&body, '\n');
	}
	add_matches(a, strbuf_take(&body, a).p, "^([a-z]+:[^[:space:]]*[^[:space:],])", &probes);
	print_section(a, "OPTIONS", &options);
	print_section(a, "PROBES", &probes);
}

bool stock_page(struct arena *a, const char *name)
{
	struct diag d;
	struct src_file *f;
	const char *path;
	diag_init(&d, stderr);
	if (!expand_find_script(a, &d, name, true, &path) ||
	    !src_load(a, &d, path, str_from(path), &f))
		return false;
	print_page(a, f->text);
	return fflush(stdout) == 0;
}
