#include "bind/path.h"

#include "dialect/dialect.h"

bool path_stat(struct str path, struct stat *ret)
{
	char z[4096];
	if (path.n >= sizeof(z))
		return false;
	memcpy(z, path.p, path.n);
	z[path.n] = '\0';
	return stat(z, ret) == 0;
}

static bool is_file(struct str path)
{
	struct stat st;
	return path_stat(path, &st) && S_ISREG(st.st_mode);
}

bool path_search(const struct bind *b, const struct token *at, struct str *path)
{
	struct str name = *path;
	bool is_here = is_file(name);
	if (!name.n || str_eqz(name, "__EXE__") || str_has(name, "/*$"))
		return true;
	const char *directories = getenv("PATH");
	for (struct str left = str_from(directories ? directories : ""); left.n;) {
		struct str directory = str_take_until(&left, ':');
		struct str full =
		    str_printf(b->arena, STR_FMT "/" STR_FMT, STR_ARG(directory), STR_ARG(name));
		if (!is_file(full))
			continue;
		if (!is_here)
			*path = full;
		return true;
	}
	if (str_has_prefix(name, STR("lib")) || str_contains(name, STR(".so")))
		return true;
	diag_error(b->diag, tok_at(at), "no program " STR_FMT " in $PATH", STR_ARG(name));
	if (name.n == strlen("__EXE__") && strncasecmp(name.p, "__EXE__", name.n) == 0)
		diag_note(b->diag, NULL, "did you mean __EXE__?");
	if (is_here)
		diag_note(b->diag, NULL, "the file in this directory is ./" STR_FMT, STR_ARG(name));
	return false;
}

/** @path, which is of ALPHABET_PATH; libstdc++ in quotes, because 0.17 takes ++ for an operator. */
static const char *plain_path(struct arena *a, struct str path)
{
	return str_find(path, '+') < path.n ? str_dup(a, word_quote(a, path).s) : str_dup(a, path);
}

/**
 * Quotes do not take the meaning from the special ones: a star in them still matches other files as
 * well. Control bytes can only be written as they are, and the program is shown on terminals.
 */
static bool is_quotable(struct arena *a, struct str path)
{
	return !str_has(path, ":\\*[?") && str_eq(path, str_printable(a, path));
}

/** libc is libc.so.6 or libc-2.31.so, and a name with a dot is that of a file. */
static bool is_library(struct str path, struct str name)
{
	struct str base = str_base(path);
	if (str_find(name, '/') < name.n || !str_has_prefix(name, STR("lib")))
		return false;
	if (str_find(name, '.') < name.n)
		return str_eq(base, name);
	return str_take(&base, name) &&
	       (str_has_prefix(base, STR(".so")) ||
		(base.n > 1 && base.p[0] == '-' && base.p[1] >= '0' && base.p[1] <= '9'));
}

bool path_means(const struct targetfile *tf, struct str path)
{
	if (str_eqz(path, "__EXE__") || (tf->mapped && is_library(tf->path, path)))
		return !tf->is_named;
	// The script may name the file by any of its paths: what counts is the inode.
	const struct proc_file *f = tf->mapped;
	struct stat st, own;
	if (!path_stat(path, &st) || (f && !f->have_id))
		return str_eq(path, tf->path);
	if (f)
		return st.st_dev == f->dev && st.st_ino == f->ino;
	return path_stat(tf->open_path, &own) && st.st_dev == own.st_dev && st.st_ino == own.st_ino;
}

const char *path_of(struct bind *b, const struct targetfile *tf, const struct token *at)
{
	const struct proc_file *f = tf->mapped;
	struct arena *a = b->arena;
	// Given a PID, bpftrace looks for the file among those that the process has mapped now.
	if (tf->is_named && b->found.scope == BIND_BY_PID)
		b->found.scope = BIND_BY_FILTER;
	struct str path = f && f->host_path.n ? f->host_path : tf->path;
	bool follow = b->given->proc && f && b->found.scope != BIND_HOST;

	if (follow && f->root_path.n && str_is_made_of(f->root_path, ALPHABET_PATH))
		return plain_path(a, f->root_path);
	if (!follow && (!f || f->host_path.n)) {
		if (str_is_made_of(path, ALPHABET_PATH))
			return plain_path(a, path);
		if (is_quotable(a, path))
			return str_dup(a, word_quote(a, path).s);
	}
	if (!f) {
		diag_error(b->diag, tok_at(at),
			   STR_FMT ": bpftrace does not accept paths with : \\ * ? [ or bytes that "
				   "are not printable UTF-8: use a hard link",
			   STR_ARG(path));
		return NULL;
	}
	if (follow)
		b->found.scope = BIND_BY_FILTER;
	if (!f->start)
		return arena_printf(a, "/proc/%d/exe", b->given->proc->pid);
	return arena_printf(a, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, b->given->proc->pid,
			    f->start, f->end);
}

const char *path_shown(const struct bind *b, struct str path)
{
	const struct targetfile *tf =
	    vec_find(struct targetfile, f, &b->given->files->list, path_means(f, path));
	return str_eqz(path, "__EXE__")
		   ? bind_target_name(b)
		   : str_dup(b->arena, str_printable(b->arena, tf ? tf->path : path));
}

const char *path_searched(const struct bind *b, struct str path)
{
	bool is_all = b->given->proc && str_eqz(path, "__EXE__");
	return arena_printf(b->arena, "%s%s", path_shown(b, path),
			    is_all ? " or its libraries" : "");
}

bool path_note_elsewhere(const struct bind *b, const struct targetfile *tf, struct str kind,
			 struct str provider, struct str name)
{
	return diag_note(b->diag, NULL,
			 STR_FMT " has it: write " STR_FMT ":__EXE__:" STR_FMT "%s" STR_FMT
				 ", which searches all files of the process",
			 STR_ARG(str_printable(b->arena, tf->path)), STR_ARG(kind),
			 STR_ARG(provider), provider.n ? ":" : "", STR_ARG(name));
}
