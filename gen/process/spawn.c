#include "process/spawn.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <wordexp.h>

#include "process/proc.h"

// The breakpoint that holds the program at its entry point.
#if defined(__x86_64__)
#define BREAK_MASK 0xfful
#define BREAK_INSN 0xccul // int3; the program counter is after it
#define PC_AFTER_BREAK 1
#define PC_OF(regs) ((regs).rip)
#elif defined(__aarch64__)
#define BREAK_MASK 0xfffffffful
#define BREAK_INSN 0xd4200000ul // brk #0; the program counter is at it
#define PC_AFTER_BREAK 0
#define PC_OF(regs) ((regs).pc)
#endif

/** AT_ENTRY of the process's auxiliary vector (getauxval(3)), 0 when it cannot be read. */
static uint64_t read_entry(struct arena *a, pid_t pid)
{
	struct str auxv;
	uint64_t pair[2] = {AT_NULL};
	proc_read(a, PROCFS, pid, "auxv", &auxv);
	for (; auxv.n >= sizeof(pair); auxv = str_from_offset(auxv, sizeof(pair))) {
		memcpy(pair, auxv.p, sizeof(pair));
		if (pair[0] == AT_ENTRY)
			return pair[1];
	}
	return 0;
}

/**
 * The breakpoint at the entry point of @t, which is stopped. Where there is none, it is held as it is. A uprobe that another
 * trace has there keeps each trap of that address from us.
 */
static bool set_break(pid_t tid, struct spawned_task *t, uint64_t entry)
{
	errno = 0;
	t->word = ptrace(PTRACE_PEEKTEXT, tid, entry, 0);
	if (errno || ((unsigned long)t->word & BREAK_MASK) == BREAK_INSN)
		return false;
	long trap = (long)(((unsigned long)t->word & ~BREAK_MASK) | BREAK_INSN);
	t->entry = ptrace(PTRACE_POKETEXT, tid, entry, trap) == 0 ? entry : 0;
	return t->entry != 0;
}

/** Has @t stopped at its breakpoint? That is gone then. */
static bool step_back(pid_t tid, struct spawned_task *t)
{
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};
	if (!t->entry || ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) != 0 ||
	    PC_OF(regs) != t->entry + PC_AFTER_BREAK ||
	    ptrace(PTRACE_POKETEXT, tid, t->entry, t->word) != 0)
		return false;
	PC_OF(regs) = t->entry;
	t->entry = 0;
	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov) == 0;
}

static struct spawned_task *find_task(struct spawned *s, pid_t tid)
{
	for (size_t i = 0; i < s->tasks.n; i++)
		if (s->tasks.v[i].tid == tid)
			return &s->tasks.v[i];
	vec_push(s->arena, &s->tasks, (struct spawned_task){.tid = tid});
	return &s->tasks.v[s->tasks.n - 1];
}

static void forget_task(struct spawned *s, pid_t tid)
{
	*find_task(s, tid) = s->tasks.v[s->tasks.n - 1];
	s->tasks.n--;
	if (tid == s->pid)
		s->pid = 0;
}

/** Is one of the tasks left? A thread that calls exec() goes on as the first one, and its own is gone. */
static bool has_tasks(const struct spawned *s)
{
	for (size_t i = 0; i < s->tasks.n; i++)
		if (syscall(SYS_tkill, s->tasks.v[i].tid, 0) == 0)
			return true;
	return false;
}

/**
 * The next task that has stopped or ended, with its status; 0: there is none any more, or with @briefly
 * none for 10 ms. Any child is asked, as a new task may stop before its parent's event names it. But
 * children that are not ours, which a shell has left to us by exec(), are not waited for.
 */
static pid_t wait_for_task(struct spawned *s, bool briefly, int *status)
{
	const struct timespec look = {.tv_nsec = 10000000};
	sigset_t child, old;
	pid_t tid;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &old);
	for (bool is_over = false;
	     (tid = waitpid(-1, status, WNOHANG | __WALL)) == 0 && !is_over && has_tasks(s);
	     is_over = briefly)
		sigtimedwait(&child, NULL, &look);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return tid > 0 ? tid : 0;
}

/** The next stop of any task, with its status; 0: there is none any more. */
static pid_t wait_for_stop(struct spawned *s, int *status)
{
	while (s->tasks.n) {
		pid_t tid = wait_for_task(s, false, status);
		if (tid && WIFSTOPPED(*status))
			return tid;
		if (tid)
			forget_task(s, tid);
		else
			s->tasks.n = 0;
	}
	return 0;
}

/** @tid goes on from a stop that is not ours to keep: with its signal, or stopped by one as it would be. */
static void go_on(struct spawned *s, pid_t tid, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);
	unsigned long child;
	if ((event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	     event == PTRACE_EVENT_CLONE) &&
	    ptrace(PTRACE_GETEVENTMSG, tid, 0, &child) == 0)
		find_task(s, (pid_t)child);
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		ptrace(PTRACE_LISTEN, tid, 0, 0);
	else
		ptrace(PTRACE_CONT, tid, 0, event ? 0 : sig);
}

/** Is this the stop at which a program is held? */
static bool is_held(struct spawned *s, pid_t tid, int status)
{
	struct spawned_task *t = find_task(s, tid);
	bool is_exec = status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
	uint64_t entry = is_exec ? read_entry(s->arena, tid) : 0;
	if (is_exec) {
		s->is_early = entry && !set_break(tid, t, entry);
		return !entry || s->is_early;
	}
	return status >> 8 == SIGTRAP && step_back(tid, t);
}

/** All run until one is at its entry point; false when they have ended. */
static bool hold(struct spawned *s)
{
	int status;
	for (pid_t tid; (tid = wait_for_stop(s, &status)); go_on(s, tid, status)) {
		s->target = tid;
		s->held = is_held(s, tid, status);
		if (s->held)
			return true;
	}
	s->target = 0;
	return false;
}

static bool split_words(struct diag *d, const char *command, wordexp_t *words)
{
	switch (wordexp(command, words, WRDE_NOCMD)) {
	case 0:
		if (words->we_wordc)
			return true;
		wordfree(words);
		return diag_error(d, NULL, "-c: the command is empty");
	case WRDE_BADCHAR:
	case WRDE_CMDSUB:
		return diag_error(d, NULL,
				  "-c: %s: pipes, redirections and substitutions need a shell: "
				  "-c \"sh -c '...'\"",
				  command);
	case WRDE_SYNTAX:
		return diag_error(d, NULL, "-c: %s: unterminated quote", command);
	default:
		return diag_error(d, NULL, "-c: %s: cannot be split into words", command);
	}
}

/** In the child: becomes the program once @go ends; on failure sends errno through @report. */
static void become(char **argv, int go, int report)
{
	char c;
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGXFSZ, SIG_DFL); // which only btgen ignores
	// It would stay stopped for ever if we were killed before it is released.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &c, 1) == 1)
		execvp(argv[0], argv);
	int err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/** Starts it, traced by us. Returns 0, or the errno of what failed. */
static int start(struct spawned *s, char **argv)
{
	// Nobody would let them go on if we were killed.
	long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
		       PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	int go[2], report[2], err = 0;
	if (pipe2(go, O_CLOEXEC) != 0)
		return errno;
	if (pipe2(report, O_CLOEXEC) != 0) {
		err = errno;
		close(go[0]);
		close(go[1]);
		return err;
	}
	s->pid = fork();
	if (s->pid == 0) {
		close(go[1]);
		become(argv, go[0], report[1]);
	}
	close(go[0]);
	close(report[1]);
	if (s->pid < 0 || ptrace(PTRACE_SEIZE, s->pid, 0, options) != 0 ||
	    write(go[1], "x", 1) != 1)
		err = errno;
	close(go[1]);
	if (!err) {
		find_task(s, s->pid);
		bool is_there = hold(s);
		while (is_there && s->target != s->pid) // what a library of it runs first
			is_there = spawn_next(s);
		if (!is_there && read(report[0], &err, sizeof(err)) != (ssize_t)sizeof(err))
			err = ECHILD;
	} else if (s->pid > 0) {
		waitpid(s->pid, NULL, 0);
		s->pid = 0;
	}
	close(report[0]);
	return err;
}

bool spawn_held(struct arena *a, struct diag *d, const char *command, struct spawned *ret)
{
	*ret = (struct spawned){.arena = a, .target_fd = -1};
	wordexp_t words;
	if (!split_words(d, command, &words))
		return false;
	const char *name = arena_strdup(a, words.we_wordv[0]);
	int err = start(ret, words.we_wordv);
	wordfree(&words);
	if (err == ECHILD)
		return diag_error(d, NULL,
				  "-c: %s cannot be stopped at its first instruction (it exited at "
				  "once)",
				  name);
	return !err || diag_error(d, NULL, "-c: %s cannot be run: %s", name, strerror(err));
}

// --- what the command starts

bool spawn_is_wrapper(const struct spawned *s)
{
	static const char *const wrappers[] = {
	    "chrt",    "doas",	  "env",     "ionice",	"nice",	   "nohup",  "nsenter",
	    "numactl", "prlimit", "runuser", "setpriv", "setsid",  "stdbuf", "su",
	    "sudo",    "taskset", "time",    "timeout", "unshare", NULL};
	static const char *const shells[] = {"bash", "dash", "ksh", "sh", "zsh", NULL};
	struct str comm, args, exe = proc_exe_name(s->arena, PROCFS, s->target);
	if (!proc_read(s->arena, PROCFS, s->target, "comm", &comm) ||
	    !proc_read(s->arena, PROCFS, s->target, "cmdline", &args))
		return false;
	comm = str_trim(comm);
	// What a shell runs is in its arguments, or it is a script, after which the process is called.
	bool has_words = false;
	for (size_t n = str_find(args, '\0') + 1; n < args.n;
	     n += str_find(str_from_offset(args, n), '\0') + 1)
		has_words |= args.p[n] != '-' && args.p[n] != '\0';
	return str_is_any(comm, wrappers) ||
	       (str_is_any(exe, shells) && (has_words || !str_is_any(comm, shells)));
}

bool spawn_next(struct spawned *s)
{
	s->held = false;
	ptrace(PTRACE_CONT, s->target, 0, 0);
	return hold(s);
}

/** One whose first thread has ended: it comes to no stop, and its other threads are let go each. */
static bool is_zombie(struct spawned *s, pid_t tid)
{
	struct str status;
	return !proc_read(s->arena, PROCFS, tid, "status", &status) ||
	       str_has_prefix(proc_status_value(status, STR("State:")), STR("Z"));
}

void spawn_reap(struct spawned *s)
{
	for (size_t i = s->ended.n; i-- > 0;)
		if (waitpid(s->ended.v[i], NULL, WNOHANG | __WALL) != 0)
			s->ended.v[i] = s->ended.v[--s->ended.n];
}

/** What has ended comes to no stop. */
static void move_ended(struct spawned *s)
{
	for (size_t i = s->tasks.n; i-- > 0;) {
		pid_t tid = s->tasks.v[i].tid;
		if (tid != s->target && is_zombie(s, tid)) {
			vec_push(s->arena, &s->ended, tid);
			forget_task(s, tid);
		}
	}
}

void spawn_keep(struct spawned *s)
{
	int status;
	move_ended(s);
	vec_each(const struct spawned_task, t, &s->tasks)
		if (t->tid != s->target)
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	// Those that they make meanwhile begin with a stop, too, and any may end before it.
	for (; s->tasks.n > 1; move_ended(s)) {
		pid_t tid = wait_for_task(s, true, &status);
		if (!tid)
			continue;
		if (!WIFSTOPPED(status)) {
			forget_task(s, tid);
			continue;
		}
		if (status >> 16 != PTRACE_EVENT_STOP) {
			go_on(s, tid, status);
			continue;
		}
		ptrace(PTRACE_DETACH, tid, 0, 0);
		pid_t command = s->pid;
		forget_task(s, tid);
		s->pid = command; // it may run on
	}
	s->tasks.n = 0;
	spawn_reap(s);
	if (s->target != s->pid)
		s->target_fd = (int)syscall(SYS_pidfd_open, s->target, 0);
}

void spawn_release(struct spawned *s)
{
	if (s->held)
		ptrace(PTRACE_DETACH, s->target, 0, 0);
	s->held = false;
}

// --- the end

static void send_all(const struct spawned *s, int sig)
{
	if (s->pid)
		kill(s->pid, sig);
	if (s->target_fd >= 0)
		syscall(SYS_pidfd_send_signal, s->target_fd, sig, NULL, 0);
}

/** The program that was started by the command runs. */
static bool has_target(const struct spawned *s)
{
	struct pollfd fd = {.fd = s->target_fd, .events = POLLIN};
	return s->target_fd >= 0 && poll(&fd, 1, 0) == 0;
}

/**
 * The command, if it has not ended. What else was traced by us is waited for as well: a process is
 * not gone for its parent before that.
 */
static bool has_command(struct spawned *s)
{
	int status;
	for (pid_t tid; (tid = waitpid(-1, &status, WNOHANG | __WALL)) > 0;)
		if (tid == s->pid && !WIFSTOPPED(status))
			s->pid = 0;
	return s->pid != 0;
}

/** What is held, and those that wait for it: nothing of it has run, there is nothing to wind up. */
static void drop_held(struct spawned *s)
{
	int status;
	if (s->pid)
		find_task(s, s->pid);
	find_task(s, s->target);
	for (size_t i = 0; i < s->tasks.n; i++)
		syscall(SYS_tkill, s->tasks.v[i].tid, SIGKILL);
	for (pid_t tid; (tid = wait_for_task(s, false, &status));)
		if (WIFSTOPPED(status)) // one that has just been made
			syscall(SYS_tkill, tid, SIGKILL);
	s->pid = 0;
}

/** Of a command whose program has ended by itself: it goes on, as without us, until ^C. */
static void wait_for_command(struct spawned *s, const sigset_t *ends)
{
	enum { LOOK_NS = 10000000, SAID_AFTER = 100 };
	const struct timespec look = {.tv_nsec = LOOK_NS};
	int sig = 0;
	for (int i = 0; sig <= 0 && s->target_fd >= 0 && !has_target(s) && has_command(s); i++) {
		if (i == SAID_AFTER)
			fprintf(stderr,
				"btgen: the trace has ended; the command is still running\n");
		sig = sigtimedwait(ends, NULL, &look);
	}
}

void spawn_end(struct spawned *s, const sigset_t *ends)
{
	enum { LOOK_US = 10000, MERCY = 200 };
	if (!s->arena)
		return;
	if (s->held)
		drop_held(s);
	wait_for_command(s, ends);
	for (int i = 0; has_command(s) || has_target(s); i++) {
		if (i == 0)
			send_all(s, SIGTERM);
		if (i == MERCY)
			send_all(s, SIGKILL);
		usleep(LOOK_US);
	}
	if (s->target_fd >= 0)
		close(s->target_fd);
	*s = (struct spawned){.target_fd = -1};
}
