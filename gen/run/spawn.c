#include "run/spawn.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "target/proc.h"

// The breakpoint that holds the program at its entry point.
#if defined(__x86_64__)
#define BREAK_MASK 0xfful
#define BREAK_INSN 0xccul // int3; the program counter stands behind it
#define PC_AFTER_BREAK 1
#define PC_OF(regs) ((regs).rip)
#elif defined(__aarch64__)
#define BREAK_MASK 0xfffffffful
#define BREAK_INSN 0xd4200000ul // brk #0; the program counter stands at it
#define PC_AFTER_BREAK 0
#define PC_OF(regs) ((regs).pc)
#endif

#ifdef BREAK_INSN
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

/** Waits until the program stops for us with SIGTRAP; other signals are passed on to it. */
static bool wait_for_trap(pid_t pid)
{
	for (;;) {
		int status;
		if (waitpid(pid, &status, 0) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (!WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGTRAP)
			return true;
		if (ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status)) != 0)
			return false;
	}
}

static bool run_to(pid_t pid, uint64_t entry)
{
	errno = 0;
	long word = ptrace(PTRACE_PEEKTEXT, pid, entry, 0);
	if (errno)
		return false;
	long trap = (long)(((unsigned long)word & ~BREAK_MASK) | BREAK_INSN);
	if (ptrace(PTRACE_POKETEXT, pid, entry, trap) != 0 || ptrace(PTRACE_CONT, pid, 0, 0) != 0 ||
	    !wait_for_trap(pid) || ptrace(PTRACE_POKETEXT, pid, entry, word) != 0)
		return false;
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};
	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov) != 0 ||
	    PC_OF(regs) != entry + PC_AFTER_BREAK)
		return false;
	PC_OF(regs) = entry;
	return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov) == 0;
}
#endif

/** From the stop at exec to the entry point; left stopped by SIGSTOP, no longer traced by us. */
static bool hold_at_entry(struct arena *a, pid_t pid)
{
	if (!wait_for_trap(pid))
		return false;
#ifdef BREAK_INSN
	uint64_t entry = read_entry(a, pid);
	if (entry && !run_to(pid, entry))
		return false;
#else
	(void)a; // elsewhere it is held right after exec: probes in libraries are not mapped yet
#endif
	return ptrace(PTRACE_DETACH, pid, 0, SIGSTOP) == 0;
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

/** In the child: becomes the program; on failure sends errno through @report. */
static void become(char **argv, int report)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGXFSZ, SIG_DFL); // which only btgen ignores
	// It would stay stopped for ever if we were killed before it is released.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
		execvp(argv[0], argv);
	int err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

bool spawn_held(struct arena *a, struct diag *d, const char *command, struct spawned *ret)
{
	*ret = (struct spawned){0};
	wordexp_t words;
	if (!split_words(d, command, &words))
		return false;
	int report[2];
	if (pipe2(report, O_CLOEXEC) != 0) {
		wordfree(&words);
		return diag_error(d, NULL, "-c: %s", strerror(errno));
	}
	pid_t pid = fork();
	if (pid == 0)
		become(words.we_wordv, report[1]);
	close(report[1]);
	int err = pid < 0 ? errno : 0;
	const char *name = arena_strdup(a, words.we_wordv[0]);
	wordfree(&words);

	// The pipe closes at exec: by then either the program is there or errno has come.
	if (pid > 0 && read(report[0], &err, sizeof(err)) != (ssize_t)sizeof(err))
		err = 0;
	close(report[0]);
	if (err) {
		if (pid > 0)
			waitpid(pid, NULL, 0);
		return diag_error(d, NULL, "-c: %s cannot be run: %s", name, strerror(err));
	}
	ret->pid = pid;
	ret->held = hold_at_entry(a, pid);
	if (!ret->held) {
		spawn_end(ret);
		return diag_error(d, NULL,
				  "-c: %s cannot be stopped at its first instruction (it is "
				  "set-uid, or exited at once)",
				  name);
	}
	return true;
}

void spawn_release(struct spawned *s)
{
	if (s->held)
		kill(s->pid, SIGCONT);
	s->held = false;
}

void spawn_end(struct spawned *s)
{
	if (!s->pid)
		return;
	if (s->held) // nothing of it has run: there is nothing to wind up
		kill(s->pid, SIGKILL);
	for (int i = 0; waitpid(s->pid, NULL, WNOHANG) == 0; i++) {
		if (i == 0)
			kill(s->pid, SIGTERM);
		if (i == 200)
			kill(s->pid, SIGKILL);
		usleep(10000);
	}
	s->pid = 0;
}
