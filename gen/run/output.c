#include "run/output.h"

#include <fcntl.h>
#include <sys/mman.h>

struct output_turns {
	struct output_begun begun;
	bool is_part;	// the last line has no end
	unsigned owner; // who wrote last; 0: nobody
	unsigned n_writers;
};

bool output_share_new(struct output_share *ret, unsigned first)
{
	*ret = (struct output_share){.lock = memfd_create("btgen", MFD_CLOEXEC)};
	void *shared = mmap(NULL, sizeof(struct output_turns), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ret->turns = shared == MAP_FAILED ? NULL : shared;
	if (ret->turns)
		ret->turns->owner = first;
	return ret->lock >= 0 && ret->turns;
}

/** A lock that the kernel takes back from one that dies. */
static bool lock(const struct output_share *s, int command, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
	return fcntl(s->lock, command, &whole) == 0;
}

bool output_begin_turn(struct output *o, struct strbuf *first)
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
		 const struct output_share *share, struct output_begun *begun, struct output *ret)
{
	*ret = (struct output){.path = path,
			       .fd = STDOUT_FILENO,
			       .share = share,
			       .begun = share ? &share->turns->begun : begun};
	if (!path)
		return true;
	bool good = outfile_open(a, d, "-o", path, &ret->file);
	ret->fd = ret->file.fd;
	return good;
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

static bool begin_output(struct arena *a, struct diag *d, struct output *o)
{
	o->appends = o->begun->is_begun;
	if (!o->path)
		return true;
	bool good = o->appends ? outfile_resume(d, &o->file, &o->begun->file)
			       : outfile_empty(a, d, &o->file);
	o->fd = o->file.fd;
	if (good)
		*o->begun = (struct output_begun){true, o->file.st};
	return good;
}

bool output_begin(struct arena *a, struct diag *d, struct output *o)
{
	if (!o->share)
		return begin_output(a, d, o);
	// The first of those who share it empties the file.
	lock(o->share, F_SETLKW, F_WRLCK);
	bool good = begin_output(a, d, o);
	o->share->turns->n_writers++;
	lock(o->share, F_SETLK, F_UNLCK);
	return good;
}

ssize_t output_write(struct output *o, struct str data)
{
	size_t most = data.n < PIPE_BUF ? data.n : PIPE_BUF;
	// Whole lines, if there is one: if we are killed now, no half of one was written.
	const char *end = memrchr(data.p, '\n', most);
	ssize_t n = write(o->fd, data.p, end ? (size_t)(end + 1 - data.p) : most);
	for (ssize_t i = 0; i < n; i++)
		o->part = data.p[i] == '\n' ? 0 : o->part + 1;
	// EAGAIN: somebody else made our stdout non-blocking.
	return n < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : n;
}

void output_cut_part(struct output *o)
{
	struct stat st;
	bool is_shared = o->share && o->share->turns->n_writers > 1;
	if (o->part && !is_shared && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= o->part &&
	    lseek(o->fd, 0, SEEK_CUR) == st.st_size && // no other process writes there
	    ftruncate(o->fd, st.st_size - o->part) == 0)
		o->part = 0;
}

bool output_close(struct output *o)
{
	o->fd = -1;
	return !o->path || outfile_close(&o->file);
}
