#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/progress.h"

static bool say(struct diag *d, const char *path)
{
	return diag_error(d, diag_at({.file = str_from(path)}), "cannot be written: %s",
			  strerror(errno));
}

/** The private file of this process: one at a time. */
static const char *volatile pending;

static void on_signal(int sig)
{
	if (pending)
		unlink(pending);
	raise(sig); // SA_RESETHAND: this ends us
}

/** Whoever is ended while writing leaves nothing behind; signals that are ignored or handled stay so. */
static void set_pending(const char *temp)
{
	static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
	struct sigaction old, new = {.sa_handler = temp ? on_signal : SIG_DFL,
				     .sa_flags = temp ? (int)SA_RESETHAND : 0};
	pending = temp;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &old) == 0 &&
		    old.sa_handler == (temp ? SIG_DFL : on_signal))
			sigaction(ends[i], &new, NULL);
}

/** A private file beside @path, which links lead to. */
static bool begin_beside(struct arena *a, struct diag *d, const char *path, mode_t mode,
			 struct outfile *ret)
{
	char *real = realpath(path, NULL); // the link stays, and the file is replaced
	ret->path = real ? arena_strdup(a, real) : path;
	free(real);
	ret->temp = arena_printf(a, "%s.XXXXXX", ret->path);
	ret->mode = mode;
	ret->fd = mkostemp(ret->temp, O_CLOEXEC);
	if (ret->fd < 0)
		return say(d, path);
	set_pending(ret->temp);
	return true;
}

bool outfile_begin(struct arena *a, struct diag *d, const char *path, struct outfile *ret)
{
	struct stat st;
	progress_clear();
	*ret = (struct outfile){.path = "standard output", .fd = STDOUT_FILENO};
	if (!path || strcmp(path, "-") == 0)
		return true;
	if (!outfile_check(d, path))
		return false;
	if (stat(path, &st) == 0) {
		if (S_ISREG(st.st_mode))
			return begin_beside(a, d, path, st.st_mode & 0777, ret);
		ret->path = path;
		ret->fd = open(path, O_WRONLY | O_CLOEXEC);
		return ret->fd >= 0 || say(d, path);
	}
	if (errno != ENOENT)
		return say(d, path);
	mode_t mask = umask(0);
	umask(mask);
	return begin_beside(a, d, path, 0666 & ~mask, ret);
}

bool outfile_add(struct diag *d, struct outfile *o, struct str text)
{
	if (!o->has_failed && !file_write_all(o->fd, text)) {
		say(d, o->path);
		o->has_failed = true;
	}
	return !o->has_failed;
}

bool outfile_end(struct diag *d, struct outfile *o, bool is_wanted)
{
	bool good = !o->has_failed && is_wanted;
	bool is_right = !o->temp || !good || fchmod(o->fd, o->mode) == 0;
	if (o->fd != STDOUT_FILENO)
		is_right = close(o->fd) == 0 && is_right;
	if (o->temp && good)
		is_right = is_right && rename(o->temp, o->path) == 0;
	if (good && !is_right)
		say(d, o->path);
	good &= is_right;
	if (o->temp && !good)
		unlink(o->temp);
	set_pending(NULL);
	return good;
}

bool outfile_check(struct diag *d, const char *path)
{
	char start[4];
	return !str_eqz(file_start(NULL, path, start, sizeof(start)), "\177ELF") ||
	       diag_error(d, diag_at({.file = str_from(path)}),
			  "is a program or library: not overwritten");
}

bool outfile_is_same(const char *path, const char *other)
{
	struct stat a, b;
	return stat(path, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool outfile_write(struct arena *a, struct diag *d, const char *path, struct str text)
{
	struct outfile o;
	if (!outfile_begin(a, d, path, &o))
		return false;
	outfile_add(d, &o, text);
	return outfile_end(d, &o, true);
}

bool outfile_may_write(struct arena *a, struct diag *d, const char *option, const char *path)
{
	struct stat st;
	const char *slash = strrchr(path, '/');
	const char *dir = slash == path ? "/"
			  : slash	? arena_strndup(a, path, (size_t)(slash - path))
					: ".";
	if (stat(path, &st) == 0) {
		errno = EISDIR;
		if (!S_ISDIR(st.st_mode) && access(path, W_OK) == 0)
			return true;
	} else if (errno == ENOENT) {
		if (access(dir, F_OK) != 0)
			return diag_error(d, NULL, "%s: no such directory: %s", option, dir);
		if (access(dir, W_OK | X_OK) == 0)
			return true;
	}
	return diag_error(d, NULL, "%s: cannot write %s: %s", option, path, strerror(errno));
}
