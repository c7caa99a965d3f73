#include "bind/path.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "bind/edit.h"

bool path_is_plain(struct str s, const char *extra)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !strchr(extra, s.p[i]))
			return false;
	return s.n > 0;
}

/** @path, which path_is_plain(); libstdc++ in quotes, because 0.17 takes ++ for an operator. */
static const char *plain_path(struct arena *a, struct str path)
{
	return str_dup(a, str_find(path, '+') < path.n ? edit_quote(a, path) : path);
}

/** Quotes do not take the meaning from these: a star in them still matches other files as well. */
static bool is_quotable(struct str path)
{
	static const char special[] = {':', '\\', '\n', '*', '[', '?'};
	for (size_t i = 0; i < sizeof(special); i++)
		if (str_find(path, special[i]) < path.n)
			return false;
	return true;
}

const char *path_of(struct bind *b, const struct image *im, const struct token *at)
{
	const struct proc_file *f = im->mapped;
	struct arena *a = b->arena;
	struct str path = f && f->host_path.n ? f->host_path : im->path;
	bool follow = b->proc && f && !b->host_scope;

	if (follow && f->root_path.n && path_is_plain(f->root_path, "_./+-"))
		return plain_path(a, f->root_path);
	if (!follow && (!f || f->host_path.n)) {
		if (path_is_plain(path, "_./+-"))
			return plain_path(a, path);
		if (is_quotable(path))
			return str_dup(a, edit_quote(a, path));
	}
	if (!f) {
		struct diag_place place = tok_place(at);
		diag_error(b->diag, &place,
			   STR_FMT
			   ": bpftrace cannot be given a path with one of : \\ * ? [ or a newline: "
			   "use a symbolic link",
			   STR_ARG(path));
		return NULL;
	}
	b->no_pid = true;
	if (!f->start)
		return arena_printf(a, "/proc/%d/exe", b->proc->pid);
	return arena_printf(a, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, b->proc->pid, f->start,
			    f->end);
}
