/** process/proc: real processes of ours, and a /proc of our own for what cannot be had otherwise. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "process/proc.h"

static struct arena arena;
static char *said;
static size_t said_n;

/** Opens @pid below @procfs; what was said is in `said`. */
static struct proc *try(const char *procfs, int pid)
{
	struct diag d;
	struct proc *p;
	free(said);
	FILE *out = open_memstream(&said, &said_n);
	diag_init(&d, out);
	bool good = proc_open(&arena, &d, procfs, pid, &p);
	fclose(out);
	return good ? p : NULL;
}

static bool said_has(const char *text)
{
	bool good = strstr(said, text);
	if (!good)
		tap_show("said", (struct str){said, said_n});
	return good;
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
}

static void test_self(void)
{
	struct proc *p = try("/proc", getpid());
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe));
	ok(p, "our own process can be opened");
	is_str(p->files.v[0].path, (struct str){exe, (size_t)n}, "the executable comes first");
	ok(p->files.v[0].start && p->files.v[0].end > p->files.v[0].start,
	   "its executable mapping is known");
	bool libc = false, twice = false;
	for (size_t i = 0; i < p->files.n; i++) {
		libc |= str_contains(p->files.v[i].path, STR("libc.so.6"));
		for (size_t j = 0; j < i; j++)
			twice |= str_eq(p->files.v[i].path, p->files.v[j].path);
		ok(p->files.v[i].open_path.n && access(p->files.v[i].open_path.p, R_OK) == 0,
		   "file %zu can be read by its open_path", i);
	}
	ok(libc, "libc is among the mapped files");
	ok(!twice, "no file is listed twice");
	ok(proc_is_same(p), "it is still the same process");
	proc_close(p);
}

/** Process 2 is one, unless this is a container. */
static bool sees_kernel_threads(void)
{
	char comm[16] = "";
	FILE *f = fopen("/proc/2/comm", "r");
	bool is_one = f && fgets(comm, sizeof(comm), f) && strcmp(comm, "kthreadd\n") == 0;
	if (f)
		fclose(f);
	return is_one;
}

static void test_children(void)
{
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	struct proc *p = try("/proc", child);
	ok(p && proc_is_same(p), "a living child is the same process");
	kill(child, SIGKILL);
	siginfo_t info;
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	ok(!proc_is_same(p), "a child that ended is not the same any more, even as a zombie");
	ok(!try("/proc", child), "a zombie is refused");
	ok(said_has("zombie"), "and the message says what it is");
	waitpid(child, NULL, 0);
	ok(!try("/proc", child), "a PID that nobody has is refused");
	ok(said_has("no process has PID"), "and the message says so");
	proc_close(p);
	if (sees_kernel_threads()) {
		ok(!try("/proc", 2), "a kernel thread is refused");
		ok(said_has("kernel thread"), "and the message says what it is");
	} else {
		ok(true, "a kernel thread is refused # SKIP no kernel threads to be seen");
	}
}

/** A running copy of `sleep` whose file is then removed, under a name with a newline in it. */
static void test_deleted(void)
{
	char dir[] = "/tmp/btgen-proc-XXXXXX", path[128], cmd[256];
	ok(mkdtemp(dir) != NULL, "a private folder can be made");
	snprintf(path, sizeof(path), "%s/sl\neep", dir);
	snprintf(cmd, sizeof(cmd), "cp /bin/sleep \"%s\"", path);
	ok(system(cmd) == 0, "sleep can be copied to a name with a newline");
	pid_t child = fork();
	if (child == 0) {
		execl(path, "sleep", "1000", (char *)NULL);
		_exit(127);
	}
	struct proc *p = NULL;
	for (int i = 0; i < 60000; i++) { // until the exec has happened
		p = try("/proc", child);
		if (p && !str_eqz(p->comm, "proc.t"))
			break;
		usleep(10000);
	}
	is_str(p->files.v[0].path, str_from(path), "a newline in a path is read as it is");
	ok(!p->files.v[0].is_deleted && str_eqz(p->files.v[0].host_path, path),
	   "its path in our namespace is known");
	proc_close(p);

	unlink(path);
	p = try("/proc", child);
	ok(p && p->files.v[0].is_deleted && !p->files.v[0].host_path.n,
	   "a removed executable is known as deleted");
	ok(access(p->files.v[0].open_path.p, R_OK) == 0, "and can be read all the same");
	proc_close(p);

	snprintf(cmd, sizeof(cmd), "cp /bin/true \"%s\"", path);
	ok(system(cmd) == 0, "another program takes its name");
	p = try("/proc", child);
	ok(p && p->files.v[0].is_deleted && !p->files.v[0].host_path.n,
	   "the new file is not taken for the running one");
	proc_close(p);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(path);
	rmdir(dir);
}

/** A /proc made by hand: a name with `) R` in it, and a PID whose start time changes. */
static void test_fake(void)
{
	char root[] = "/tmp/btgen-proc-XXXXXX", dir[64];
	ok(mkdtemp(root) != NULL, "a folder for a /proc of ours");
	snprintf(dir, sizeof(dir), "%s/77", root);
	mkdir(dir, 0700);
	write_file(dir, "stat",
		   "77 (a) Z 0 (b) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0\n");
	write_file(dir, "status", "Name:\ta) Z 0 (b\nTgid:\t77\n");
	write_file(dir, "comm", "a) Z 0 (b\n");
	write_file(dir, "maps", "");
	char link[96];
	snprintf(link, sizeof(link), "%s/exe", dir);
	ok(symlink("/bin/sh", link) == 0, "with an executable");
	struct proc *p = try(root, 77);
	ok(p && p->start_time == 4242, "a name with brackets does not confuse the fields");
	ok(p && proc_is_same(p), "the process is the same while its start time is");
	write_file(dir, "stat", "77 (x) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4243 0 0\n");
	ok(!proc_is_same(p), "another start time is another process: the PID was reused");
	write_file(dir, "status", "Name:\tx\nTgid:\t70\n");
	ok(!try(root, 77) && said_has("is a thread of process 70"), "a thread's id is refused");
	char cmd[128];
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	ok(system(cmd) == 0, "cleaned up");
}

static void fake_process(const char *root, int pid, int parent, const char *exe, const char *name)
{
	char dir[64], text[128];
	snprintf(dir, sizeof(dir), "%s/%d", root, pid);
	mkdir(dir, 0700);
	snprintf(text, sizeof(text), "%d (%s) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n",
		 pid, name, parent);
	write_file(dir, "stat", text);
	snprintf(text, sizeof(text), "%s\n", name);
	write_file(dir, "comm", text);
	snprintf(text, sizeof(text), "%s/exe", dir);
	if (symlink(exe, text) != 0)
		ok(false, "a link to an executable");
}

/** A server that forks: 10 has started 11 and 12; 13 runs something else, and 14 is another server. */
static void test_same_exe(void)
{
	char root[] = "/tmp/btgen-proc-XXXXXX", cmd[128];
	ok(mkdtemp(root) != NULL, "a folder for processes of ours");
	fake_process(root, 12, 10, "/bin/sh", "worker) S 1");
	fake_process(root, 10, 1, "/bin/sh", "master");
	fake_process(root, 11, 10, "/bin/sh", "worker");
	fake_process(root, 13, 10, "/bin/ls", "worker");
	fake_process(root, 14, 1, "/bin/sh", "server");
	struct proc p = {.procfs = root, .pid = 10};
	ok(proc_count_children(&p) == 2, "children that run the same file are counted");
	int pids[] = {12, 11, 10}, both[] = {14, 11, 10};
	ok(proc_parents_first(root, pids, 3) == 1 && pids[0] == 10, "the parent comes first");
	ok(proc_parents_first(root, both, 3) == 2 && both[2] == 11, "... and all that have none");
	size_t n;
	int *found = proc_find_named(&arena, root, "ls", &n);
	ok(n == 1 && found[0] == 13, "a process is found by the name of its executable");
	found = proc_find_named(&arena, root, "worker) S 1", &n);
	ok(n == 1 && found[0] == 12, "... and by that of its main thread");
	fake_process(root, 15, 1, "/bin/ls", "sh");
	proc_find_named(&arena, root, "sh", &n);
	ok(n == 4, "what only calls itself so is not meant where an executable has the name");
	proc_find_named(&arena, root, "work", &n);
	ok(n == 0, "... of which a part is not enough");
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	ok(system(cmd) == 0, "cleaned up");
}

int main(void)
{
	test_self();
	test_children();
	test_deleted();
	test_fake();
	test_same_exe();
	arena_fini(&arena);
	free(said);
	return done();
}
