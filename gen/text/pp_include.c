// #include: which file it is, whether bpftrace or btgen reads it, and how deep.
#include "text/pp_priv.h"

#include "base/file.h"

struct header {
	struct str name;
	bool angled;
	struct token at; /**< for messages */
};

/** Tokens from `<` on up to `>`, spelled out; false when there is no `>`. */
static bool angled_name(struct pp *pp, struct header *h)
{
	struct toklist l = {0};
	struct token *t;
	while (!tok_is(t = pp_next_raw(pp), ">")) {
		if (t->kind == TOK_EOF)
			return false;
		list_add(&l, t);
	}
	h->name = pp_spell(pp, l.head);
	h->angled = true;
	return true;
}

static bool header_name(struct pp *pp, const struct token *include, struct header *h)
{
	struct lexer *lex = &pp->level->lex;
	struct token t;
	pp_lex(pp, &t);
	h->at = t;
	h->angled = t.kind == TOK_PUNCT && t.text.p[0] == '<';
	if (t.kind == TOK_STRING) {
		h->name = str_slice(t.text, 1, t.text.n - 2);
	} else if (h->angled) {
		lex->pos = t.loc.off + 1;
		struct str line = lexer_rest_of_line(lex);
		h->name = str_slice(line, 0, str_find(line, '>'));
		if (h->name.n == line.n)
			return pp_error(pp, &t, "this < has no >");
		lex->pos += (uint32_t)h->name.n + 1;
	} else if (t.kind == TOK_OTHER && t.text.p[0] == '"') {
		return false; // reported by the lexer
	} else {
		return pp_error(pp, include, "#include needs \"name\" or <name>");
	}
	pp_no_more(pp, pp_line(pp), "include");
	return true;
}

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/** @name in the directory of the file that includes it: spelled as that file's name is. */
static char *beside(struct pp *pp, struct str name, const struct src_file *from)
{
	struct str dir = str_dir(from->name);
	if (!dir.n && !str_eqz(from->dir, "."))
		return arena_printf(pp->arena, STR_FMT "/" STR_FMT, STR_ARG(from->dir),
				    STR_ARG(name));
	return arena_printf(pp->arena, STR_FMT STR_FMT, STR_ARG(dir), STR_ARG(name));
}

const char *pp_find_header(struct pp *pp, struct str name, const struct src_file *from)
{
	if (!name.n || str_find(name, '\0') < name.n)
		return NULL;
	if (name.p[0] == '/') {
		char *path = str_dup(pp->arena, name);
		return is_file(path) ? path : NULL;
	}
	if (from) {
		char *path = beside(pp, name, from);
		if (is_file(path))
			return path;
	}
	for (size_t i = 0; i < pp->dirs.n; i++) {
		char *path = arena_printf(pp->arena, "%s/" STR_FMT, pp->dirs.v[i], STR_ARG(name));
		if (is_file(path))
			return path;
	}
	return NULL;
}

/** The path of the file meant, or NULL. */
static const char *find_header(struct pp *pp, const struct header *h)
{
	return pp_find_header(pp, h->name, h->angled ? NULL : pp->level->file);
}

static void not_found(struct pp *pp, const struct header *h)
{
	diag_error(pp->diag, tok_at(&h->at), "cannot find \"" STR_FMT "\"", STR_ARG(h->name));
	if (h->name.n && h->name.p[0] != '/') {
		if (!h->angled)
			diag_note(pp->diag, NULL,
				  "looked in " STR_FMT
				  " (the directory of the file that includes it)",
				  STR_ARG(pp->level->file->dir));
		for (size_t i = 0; i < pp->dirs.n; i++)
			diag_note(pp->diag, NULL, "looked in %s", pp->dirs.v[i]);
		if (h->angled && !pp->dirs.n)
			diag_note(pp->diag, NULL, "no directory to look in: give one with -I");
	}
	pp_notes(pp);
	pp->failed = true;
}

/** A C header is for bpftrace: the directive is kept, with the absolute path where we know it. */
static void keep_c_header(struct pp *pp, const struct token *include, const struct header *h,
			  const char *path)
{
	char real[PATH_MAX];
	bool is_found = path && realpath(path, real);
	struct str name = is_found ? str_from(real) : h->name;
	bool angled = h->angled && !is_found;
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] < 0x20 || name.p[i] == '"') {
			pp_error(pp, &h->at, "the path cannot be written into a program: " STR_FMT,
				 STR_ARG(name));
			return;
		}
	if (pp->braces > 0) {
		pp_error(pp, include, "#include of a C header cannot be inside braces");
		return;
	}
	pp_c_macros(pp, include);
	pp_c_line(pp, &h->at, angled ? "#include <" STR_FMT ">" : "#include \"" STR_FMT "\"",
		  STR_ARG(name));
	pp->n_c_headers++;
	if (is_found)
		pp_c_scan(pp, str_dup(pp->arena, name), 0);
}

struct str pp_file_id(struct pp *pp, const struct src_file *f)
{
	return str_printf(pp->arena, "%llu:%llu", (unsigned long long)f->dev,
			  (unsigned long long)f->ino);
}

static bool may_enter(struct pp *pp, const struct token *include, const struct src_file *f)
{
	if (map_get(&pp->once, pp_file_id(pp, f)))
		return false;
	bool again = false;
	for (struct pp_level *l = pp->level; l; l = l->outer)
		again |= l->file->dev == f->dev && l->file->ino == f->ino;
	if (pp->depth >= PP_MAX_DEPTH) {
		pp->fatal = true;
		pp_error(pp, include,
			 again ? "\"" STR_FMT "\" includes itself recursively"
			       : "#include of \"" STR_FMT "\" is nested too deeply",
			 STR_ARG(f->name));
		return false;
	}
	if (++pp->n_includes > PP_MAX_INCLUDES) {
		pp->fatal = true;
		pp_error(pp, include, "more than %u files are included", PP_MAX_INCLUDES);
		return false;
	}
	return true;
}

/** What -e includes by a bare name is no file of somebody else's where the directories of -I have one. */
static bool check_whose(struct pp *pp, const struct header *h, const char *path)
{
	bool is_bare = !pp->level->file->ino && str_find(h->name, '/') == h->name.n;
	const char *listed = is_bare ? pp_find_header(pp, h->name, NULL) : NULL;
	const char *why = listed && strcmp(listed, path) ? file_why_foreign(pp->arena, path) : NULL;
	return !why || pp_error(pp, &h->at,
				"\"" STR_FMT "\" is ambiguous: the current directory's (%s) or %s",
				STR_ARG(h->name), why, listed);
}

void pp_include(struct pp *pp, const struct token *name)
{
	struct header h = {0};
	if (!header_name(pp, name, &h)) {
		pp->failed = true;
		return;
	}
	const char *path = find_header(pp, &h);
	if (path && !check_whose(pp, &h, path))
		return;
	if (str_has_suffix(h.name, STR(".h"))) {
		keep_c_header(pp, name, &h, path);
		return;
	}
	if (!path) {
		not_found(pp, &h);
		return;
	}
	struct str key = str_from(path);
	struct src_file *f = map_get(&pp->loaded, key);
	if (!f) {
		if (!src_include(pp->arena, pp->diag, path, key, tok_at(&h.at), &f)) {
			pp_notes(pp);
			pp->failed = true;
			return;
		}
		map_put(pp->arena, &pp->loaded, key, f);
		vec_push(pp->arena, &pp->files, f);
	}
	if (!may_enter(pp, name, f))
		return;
	pp->depth++;
	pp_enter_file(pp, f, name->loc);
	pp->depth--;
}

/**
 * Is there such a C header where compilers look? What bpftrace was built to do is its own: it is
 * asked afterwards.
 */
static bool compiler_has(struct pp *pp, struct str name)
{
	static const char *const dirs[] = {
		"/usr/local/include",
		"/usr/include",
#if defined(__x86_64__)
		"/usr/include/x86_64-linux-gnu"
#elif defined(__aarch64__)
		"/usr/include/aarch64-linux-gnu"
#endif
	};
	static const char *const own[] = {"stddef.h", "stdbool.h", "stdarg.h", "float.h", NULL};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (is_file(arena_printf(pp->arena, "%s/" STR_FMT, dirs[i], STR_ARG(name))))
			return true;
	return str_is_any(name, own);
}

struct token *pp_has_include(struct pp *pp, const struct token *name)
{
	struct header h = {0};
	bool good = tok_is(pp_next_raw(pp), "(");
	if (good) {
		struct token *t = pp_next(pp);
		if (t->kind == TOK_STRING)
			h.name = str_slice(t->text, 1, t->text.n - 2);
		else
			good = tok_is(t, "<") && angled_name(pp, &h);
	}
	if (!good || !tok_is(pp_next_raw(pp), ")")) {
		pp_error(pp, name, "__has_include needs (\"name\") or (<name>)");
		return NULL;
	}
	bool is_there = find_header(pp, &h) != NULL;
	if (!is_there && str_has_suffix(h.name, STR(".h"))) {
		is_there = compiler_has(pp, h.name);
		pp_c_confirm_header(pp, name, h.name, h.angled, is_there);
	}
	return pp_truth(pp, name, is_there);
}
