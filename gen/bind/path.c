#include "bind/path.h"

#include <inttypes.h>

#include "out/dialect.h"

/** @path, which is of ALPHABET_PATH; libstdc++ in quotes, because 0.17 takes ++ for an operator. */
static const char *plain_path(struct arena *a, struct str path)
{
	return str_find(path, '+') < path.n ? str_dup(a, dialect_quote(a, path)) : str_dup(a, path);
}

/**
 * Quotes do not take the meaning from the special ones: a star in them still matches other files as
 * well. Control bytes can only be written as they are, and the program is shown on terminals.
 */
static bool is_quotable(struct arena *a, struct str path)
{
	static const char special[] = {':', '\\', '*', '[', '?'};
	for (size_t i = 0; i < sizeof(special); i++)
		if (str_find(path, special[i]) < path.n)
			return false;
	return str_eq(path, str_printable(a, path));
}

const char *path_of(struct bind *b, const struct targetfile *tf, const struct token *at)
{
	const struct proc_file *f = tf->mapped;
	struct arena *a = b->arena;
	struct str path = f && f->host_path.n ? f->host_path : tf->path;
	bool follow = b->proc && f && b->scope != BIND_HOST;

	if (follow && f->root_path.n && str_is_made_of(f->root_path, ALPHABET_PATH))
		return plain_path(a, f->root_path);
	if (!follow && (!f || f->host_path.n)) {
		if (str_is_made_of(path, ALPHABET_PATH))
			return plain_path(a, path);
		if (is_quotable(a, path))
			return str_dup(a, dialect_quote(a, path));
	}
	if (!f) {
		struct diag_place place = tok_place(at);
		diag_error(b->diag, &place,
			   STR_FMT ": bpftrace accepts no path with any of : \\ * ? [ or bytes "
				   "that are not printable UTF-8: use a hard link",
			   STR_ARG(path));
		return NULL;
	}
	if (follow)
		b->scope = BIND_BY_FILTER;
	if (!f->start)
		return arena_printf(a, "/proc/%d/exe", b->proc->pid);
	return arena_printf(a, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, b->proc->pid, f->start,
			    f->end);
}
