/**
 * Files are written while another user changes what their names mean: root's file, to which links and hard links lead
 * now and then, is never touched. And what a path leads to.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/outfile.h"
#include "tap.h"

enum { STRANGER = 65534, TRIES = 2000, MOST_MS = 5000 };

static struct arena arena;
static struct diag silent;
static char folder[] = "/tmp/btgen-outfile.XXXXXX";

static const char *in(const char *name)
{
	return arena_printf(&arena, "%s/%s", folder, name);
}

static struct str contents(const char *path)
{
	static char text[64];
	return file_start(path, text, sizeof(text));
}

/** Changes what d/out is, again and again: as who owns d, where the kernel does not protect hard links. */
static void change(void)
{
	const char *out = in("d/out"), *next = in("d/next"), *victim = in("victim");
	for (;;) {
		if (symlink(victim, next) == 0)
			rename(next, out);
		unlink(out);
		if (link(victim, out) == 0)
			unlink(out);
		int fd = open(out, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd >= 0)
			close(fd);
		unlink(out);
	}
}

/** One that grows in its place, as the data of a trace; the next run of it goes on. */
static bool grow(const char *path)
{
	struct outfile o, next = {.fd = -1, .dir = -1};
	bool good = outfile_open(&arena, &silent, "-o", path, &o) &&
		    outfile_empty(&arena, &silent, &o) && file_write_all(o.fd, STR("new\n")) &&
		    outfile_open(&arena, &silent, "-o", path, &next) &&
		    outfile_resume(&silent, &next, &o.st) && file_write_all(next.fd, STR("more\n"));
	outfile_close(&o);
	outfile_close(&next);
	return good;
}

static void test_race(void)
{
	const char *victim = in("victim"), *out = in("d/out");
	struct stat before, after;
	unsigned n_good = 0, n = 0;
	int fd = open(victim, O_WRONLY | O_CREAT, 0600);
	if (geteuid() != 0 || fd < 0 || write(fd, "old\n", 4) != 4 || close(fd) != 0 ||
	    mkdir(in("d"), 0755) != 0 || chown(in("d"), STRANGER, STRANGER) != 0) {
		ok(true, "no file of root's is written to # SKIP needs root");
		return;
	}
	stat(victim, &before);
	pid_t changer = fork();
	if (changer == 0)
		change();
	unsigned long end = clock_ms() + MOST_MS;
	for (; n < TRIES && clock_ms() < end; n++) {
		n_good += grow(out);
		n_good += outfile_write(&arena, &silent, "-o", out, STR("new\n"));
		outfile_notify(&silent, "--ready-file", out, STR("ready\n"));
	}
	kill(changer, SIGKILL);
	waitpid(changer, NULL, 0);
	stat(victim, &after);
	printf("# %u tries, %u of %u written\n", n, n_good, 2 * n);
	is_str(contents(victim), STR("old\n"),
	       "no file of root's is written to, whatever the name is at any moment");
	ok(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
	       before.st_mode == after.st_mode && before.st_uid == after.st_uid,
	   "... nor changed otherwise");
	ok(n_good > 0 && n_good < 2 * n, "some were written and some were refused");
}

static void test_resume(void)
{
	const char *path = in("grows");
	ok(grow(path), "a file grows in its place");
	is_str(contents(path), STR("new\nmore\n"), "... and the next trace goes on after it");
	struct outfile o;
	ok(outfile_open(&arena, &silent, "-o", path, &o), "it is opened once more");
	is_str(contents(path), STR("new\nmore\n"), "... without a change");
	ok(outfile_empty(&arena, &silent, &o), "... until it is wanted");
	is_str(contents(path), STR(""), "... and is empty then");
	outfile_close(&o);
}

static void test_notify(void)
{
	const char *path = in("fifo");
	unsigned n = silent.n_warnings;
	ok(mkfifo(path, 0600) == 0, "a FIFO that nobody reads");
	outfile_notify(&silent, "--ready-file", path, STR("ready\n"));
	ok(silent.n_warnings == n + 1, "... is not waited for, but is a warning");
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	chmod(folder, 0755);
	test_race();
	test_resume();
	test_notify();
	ok(system(arena_printf(&arena, "rm -r %s", folder)) == 0, "cleaned up");
	arena_fini(&arena);
	return done();
}
