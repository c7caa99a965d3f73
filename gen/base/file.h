/**
 * file - opening files that a stranger may have prepared.
 *
 * A path that comes from another process can name a FIFO, a device, a directory or a link that leads
 * out of that process's file system. Only regular files are opened, no open ever waits, and below a
 * root no link leads out.
 *
 *	const char *why;
 *	int fd = file_open("/proc/42/root", "/usr/lib/x.so", &size, &why);
 *	if (fd < 0) diag_error(d, NULL, "%s: %s", path, why);
 */
#pragma once

#include <sys/stat.h>

#include "base/diag.h"

/**
 * A descriptor (close-on-exec, read-only) of the regular file @path, and its size in bytes. With
 * @root (may be NULL) the path is resolved as if @root were "/": openat2(2), RESOLVE_IN_ROOT. On
 * failure -1, errno is set and
 * *@why is a text such as "is a directory" that needs no freeing.
 */
int file_open(const char *root, const char *path, uint64_t *size, const char **why);
/**
 * The first bytes of a file in @buf, up to @n; those of a file of /sys are all there at once. Its `p` is NULL when it
 * cannot be opened.
 */
struct str file_start(const char *path, char *buf, size_t n);
/** Adds to @ret what is left to read of @fd, up to @most bytes and some; false with errno. */
bool file_read_rest(int fd, size_t most, struct strbuf *ret);
/** Reads exactly @n bytes from offset @off; false when the file ends before that or cannot be read. */
bool file_read_at(int fd, void *buf, size_t n, uint64_t off);
/** Writes all of @text at the offset of @fd; false with errno. */
bool file_write_all(int fd, struct str text);

/**
 * How somebody else than root and the user can change @path, a file, or put another in its place:
 * "uid 1001 owns the directory". The user is who runs this, or called sudo(8). NULL: nobody can.
 */
const char *file_why_foreign(struct arena *a, const char *path);
/** The same of one file, which @what names: "the directory". */
const char *file_why_foreign_stat(struct arena *a, const struct stat *st, const char *what);
/** A user ID: root's, of who runs this, or of who called sudo(8). */
bool file_is_trusted(uint64_t id);

/** Bytes of a path to an open file, see file_path_of(). */
enum { FILE_PATH_OF = 32 };
/** A path that leads to the file which @fd, a descriptor of ours, has open: for interfaces that take only a path. */
void file_path_of(int fd, char ret[FILE_PATH_OF]);
/** Closes all of this process but @kept, which it sorts: inherited pipes would never end for who waits. */
void file_close_all_but(int *kept, size_t n);
