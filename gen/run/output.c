#include "run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"

struct output_turns {
	bool is_begun;	// the file holds data of this run
	bool is_part;	// the last line has no end
	unsigned owner; // whose turn the last one was, 0: nobody's yet
};

bool output_share_new(struct output_share *ret)
{
	*ret = (struct output_share){.lock = memfd_create("btgen", MFD_CLOEXEC)};
	void *shared = mmap(NULL, sizeof(struct output_turns), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ret->turns = shared == MAP_FAILED ? NULL : shared;
	return ret->lock >= 0 && ret->turns;
}

/** A lock that the kernel takes back from one that dies. */
static bool lock(const struct output_share *s, int command, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
	return fcntl(s->lock, command, &whole) == 0;
}

bool output_take_turn(struct output *o, struct strbuf *first)
{
	const struct output_share *s = o->share;
	if (!s)
		return true;
	if (!lock(s, F_SETLK, F_WRLCK))
		return false;
	if (s->turns->owner != s->self)
		strbuf_addf(first, "%s" STR_FMT, s->turns->is_part ? "\n" : "",
			    STR_ARG(s->heading));
	s->turns->owner = s->self;
	return true;
}

void output_end_turn(struct output *o)
{
	if (!o->share)
		return;
	o->share->turns->is_part = o->part != 0;
	lock(o->share, F_SETLK, F_UNLCK);
}

bool output_open(struct arena *a, struct diag *d, const char *path,
		 const struct output_share *share, struct output *ret)
{
	*ret = (struct output){.path = path, .fd = STDOUT_FILENO, .share = share};
	if (!path)
		return true;
	if (!outfile_check(d, path))
		return false;
	ret->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (ret->fd >= 0)
		return true;
	ret->is_new = errno == ENOENT;
	if (ret->is_new)
		return outfile_may_write(a, d, "-o", path);
	return diag_error(d, NULL, "-o: cannot write %s: %s", path, strerror(errno));
}

bool output_is_terminal(const char *path)
{
	struct stat st;
	if (!path)
		return isatty(STDOUT_FILENO);
	if (stat(path, &st) != 0 || !S_ISCHR(st.st_mode))
		return false; // a FIFO's reader would see an end
	int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && isatty(fd);
	if (fd >= 0)
		close(fd);
	return is;
}

static bool begin(struct diag *d, struct output *o)
{
	struct stat st;
	if (!o->path)
		return true;
	if (o->appends && o->fd >= 0)
		return true;
	if (o->is_new && o->fd < 0)
		o->fd = open(o->path,
			     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (o->appends ? 0 : O_TRUNC),
			     0666);
	else if (fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(o->fd, 0) != 0)
		return diag_error(d, NULL, "-o: cannot truncate %s: %s", o->path, strerror(errno));
	return o->fd >= 0 ||
	       diag_error(d, NULL, "-o: cannot create %s: %s", o->path, strerror(errno));
}

bool output_begin(struct diag *d, struct output *o)
{
	if (!o->share)
		return begin(d, o);
	// The first of those who share it empties the file.
	lock(o->share, F_SETLKW, F_WRLCK);
	o->appends = o->share->turns->is_begun;
	o->share->turns->is_begun = true;
	bool good = begin(d, o);
	lock(o->share, F_SETLK, F_UNLCK);
	return good;
}

ssize_t output_write(struct output *o, struct str data)
{
	size_t most = data.n < PIPE_BUF ? data.n : PIPE_BUF;
	// Whole lines, if it has one: who is killed behind it has written no half of one.
	const char *end = memrchr(data.p, '\n', most);
	ssize_t n = write(o->fd, data.p, end ? (size_t)(end + 1 - data.p) : most);
	for (ssize_t i = 0; i < n; i++)
		o->part = data.p[i] == '\n' ? 0 : o->part + 1;
	// EAGAIN: somebody else made our stdout non-blocking.
	return n < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : n;
}

bool output_is_rewritable(const struct output *o)
{
	struct stat st;
	return o->path && !o->share && !o->appends && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool output_write_whole(struct output *o, struct str data, struct str tail)
{
	if (!data.n && str_eq(tail, strbuf_str(&o->tail)))
		return true;
	// A file that is appended to ignores the place.
	int flags = fcntl(o->fd, F_GETFL);
	if (flags & O_APPEND)
		fcntl(o->fd, F_SETFL, flags & ~O_APPEND);
	struct strbuf all = {0};
	strbuf_adds(&all, data);
	strbuf_adds(&all, tail);
	bool good = lseek(o->fd, o->end, SEEK_SET) >= 0 && file_write_all(o->fd, strbuf_str(&all));
	int err = errno;
	strbuf_fini(&all);
	if (good) {
		o->end += (off_t)data.n;
		strbuf_clear(&o->tail);
		strbuf_adds(&o->tail, tail);
	} else { // where the tail was there is room for it
		if (lseek(o->fd, o->end, SEEK_SET) >= 0)
			file_write_all(o->fd, strbuf_str(&o->tail));
		if (ftruncate(o->fd, o->end + (off_t)o->tail.n) != 0)
			good = false;
	}
	errno = err;
	return good;
}

void output_cut_part(struct output *o)
{
	struct stat st;
	if (o->part && !o->share && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= o->part &&
	    lseek(o->fd, 0, SEEK_CUR) == st.st_size && // nobody else writes there
	    ftruncate(o->fd, st.st_size - o->part) == 0)
		o->part = 0;
}

bool output_close(struct output *o)
{
	int fd = o->fd;
	o->fd = -1;
	strbuf_fini(&o->tail);
	return fd <= STDERR_FILENO || close(fd) == 0;
}
