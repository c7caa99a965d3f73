#include "run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"

bool output_open(struct arena *a, struct diag *d, const char *path, struct output *ret)
{
	*ret = (struct output){.path = path, .fd = STDOUT_FILENO};
	if (!path)
		return true;
	if (!outfile_check(d, path))
		return false;
	ret->fd = open(path, O_WRONLY | O_CLOEXEC);
	if (ret->fd >= 0)
		return true;
	if (errno == ENOENT) {
		const char *slash = strrchr(path, '/');
		const char *dir = slash == path ? "/"
				  : slash	? arena_strndup(a, path, (size_t)(slash - path))
						: ".";
		ret->is_new = true;
		if (access(dir, F_OK) != 0)
			return diag_error(d, NULL, "-o: no such folder: %s", dir);
		if (access(dir, W_OK | X_OK) == 0)
			return true;
	}
	return diag_error(d, NULL, "-o: cannot write %s: %s", path, strerror(errno));
}

bool output_begin(struct diag *d, struct output *o)
{
	struct stat st;
	if (!o->path)
		return true;
	if (o->is_new && o->fd < 0)
		o->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	else if (fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(o->fd, 0) != 0)
		return diag_error(d, NULL, "-o: cannot truncate %s: %s", o->path, strerror(errno));
	return o->fd >= 0 ||
	       diag_error(d, NULL, "-o: cannot create %s: %s", o->path, strerror(errno));
}

ssize_t output_write(struct output *o, struct str data)
{
	ssize_t n = write(o->fd, data.p, data.n < PIPE_BUF ? data.n : PIPE_BUF);
	for (ssize_t i = 0; i < n; i++)
		o->part = data.p[i] == '\n' ? 0 : o->part + 1;
	// EAGAIN: somebody else made our stdout non-blocking.
	return n < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : n;
}

void output_cut_part(struct output *o)
{
	struct stat st;
	if (o->part && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= o->part &&
	    lseek(o->fd, 0, SEEK_CUR) == st.st_size && // nobody else writes there
	    ftruncate(o->fd, st.st_size - o->part) == 0)
		o->part = 0;
}

void output_close(struct output *o)
{
	if (o->fd > STDERR_FILENO)
		close(o->fd);
	o->fd = -1;
}

bool output_write_all(int fd, struct str s)
{
	while (s.n) {
		ssize_t n = write(fd, s.p, s.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		s = str_from_offset(s, (size_t)n);
	}
	return true;
}
