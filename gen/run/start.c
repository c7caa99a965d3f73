#include "run/start.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "dialect/dialect.h"
#include "run/ready.h"

#define NUMBER_LENGTH 24
#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

struct starting {
	struct arena *arena;
	struct diag *diag;
	const struct run_config *cfg;
};

/** A file for bpftrace, which has no name and is read as @path, /proc/self/fd/N; -1 after an error. */
static int make_file(const char *name, struct str text, char path[FILE_PATH_OF])
{
	int fd = memfd_create(name, 0); // inherited on purpose
	if (fd >= 0 && (!file_write_all(fd, text) || lseek(fd, 0, SEEK_SET) != 0)) {
		int err = errno;
		close(fd);
		errno = err;
		return -1;
	}
	file_path_of(fd, path);
	return fd;
}

static char **make_argv(struct starting *s, const char *program)
{
	const struct run_config *cfg = s->cfg;
	VEC(char *) argv = {0};
	vec_push(s->arena, &argv, (char *)cfg->bpftrace->path);
	if (cfg->pass_pid) {
		vec_push(s->arena, &argv, (char *)"-p");
		vec_push(s->arena, &argv, arena_printf(s->arena, "%d", cfg->proc->pid));
	}
	if (cfg->is_unsafe)
		vec_push(s->arena, &argv, (char *)"--unsafe");
	if (dialect_hides_losses(cfg->bpftrace->version))
		vec_push(s->arena, &argv, (char *)"-k");
	vec_push(s->arena, &argv, (char *)program);
	bool dashed = false;
	for (char **arg = cfg->args; arg && *arg; arg++)
		dashed |= **arg == '-';
	if (dashed)
		vec_push(s->arena, &argv, (char *)"--");
	for (char **arg = cfg->args; arg && *arg; arg++)
		vec_push(s->arena, &argv, *arg);
	vec_push(s->arena, &argv, NULL);
	return argv.v;
}

/** Must this bpftrace get the path of the kernel's types? */
static bool must_name_types(unsigned version)
{
	enum { KERNEL_NUMBERS_TYPES = 5011 };
	struct utsname name;
	unsigned kernel;
	return dialect_finds_types_by_number(version) && uname(&name) == 0 &&
	       dialect_parse(str_from(name.release), &kernel) && kernel < KERNEL_NUMBERS_TYPES &&
	       access(KERNEL_TYPES, R_OK) == 0; // 0.17 does not survive a name that is none
}

/** Types of a kernel that has none, for a bpftrace that else searches them in vain. */
static struct str no_types(void)
{
	static const struct {
		struct btf_header header;
		char strings[4]; // the empty one
	} types = {{.magic = BTF_MAGIC,
		    .version = BTF_VERSION,
		    .hdr_len = sizeof(types.header),
		    .str_len = sizeof(types.strings)},
		   ""};
	return (struct str){(const char *)&types, sizeof(types)};
}

/**
 * The size of its buffer, the limits of strings, and one table of symbols for the process instead
 * of one for each look-up: making it takes 0.17 10 ms, and its bcc closes a descriptor at random
 * each time (one of a module that has no file, as [uprobes]), so that maps came out empty in every
 * tenth run. What the user has set is left alone.
 */
static void set_environment(const struct run_config *cfg)
{
	unsigned version = cfg->bpftrace->version;
	char number[NUMBER_LENGTH], path[FILE_PATH_OF];
	if (cfg->max_strlen) {
		snprintf(number, sizeof(number), "%u", cfg->max_strlen);
		setenv(dialect_strlen_variable(version), number, 0);
	}
	setenv("BPFTRACE_STR_TRUNC_TRAILER", "", 0);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned pages = dialect_buffer_pages(version, cpus > 0 ? (unsigned)cpus : 1);
	snprintf(number, sizeof(number), "%u", pages);
	if (pages)
		setenv("BPFTRACE_PERF_RB_PAGES", number, 0);
	if (version < BPFTRACE_SAYS_ATTACHED)
		setenv(READY_ATTACHED, "1", 1);
	if (must_name_types(version))
		setenv("BPFTRACE_BTF", KERNEL_TYPES, 0);
	else if (!cfg->needs_kernel_types && dialect_searches_kernel_types(version) &&
		 make_file("btgen-types", no_types(), path) >= 0)
		setenv("BPFTRACE_BTF", path, 0);
	if (dialect_rebuilds_symbols(version) && cfg->proc)
		setenv("BPFTRACE_CACHE_USER_SYMBOLS", "1", 0);
	if (dialect_closes_descriptors(version))
		setenv("GLIBC_TUNABLES", DIALECT_FILLS_MEMORY, 0);
}

/** In the child: becomes bpftrace. */
static void become_bpftrace(struct starting *s, char **argv, int out, int err, pid_t parent)
{
	// A process group of its own: ^C reaches bpftrace once, through us, and not twice.
	setpgid(0, 0);
	// Until there is a guard. A signal that bpftrace handles: KILL within a detach would leave breakpoints.
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(RUN_NOT_RUNNABLE);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	// What we inherited as ignored (SIGINT in a shell's background process) must reach bpftrace
	// when we send it.
	static const int heard[] = {SIGPIPE, SIGINT, SIGTERM, SIGQUIT, SIGXFSZ};
	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++)
		signal(heard[i], SIG_DFL);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	set_environment(s->cfg);
	execv(argv[0], argv);
	dprintf(STDERR_FILENO, "btgen: error: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? RUN_NOT_FOUND : RUN_NOT_RUNNABLE);
}

bool start_bpftrace(struct arena *a, struct diag *d, const struct run_config *cfg,
		    struct started *ret)
{
	struct starting s = {a, d, cfg};
	char program_name[FILE_PATH_OF];
	int program = make_file("btgen-program", cfg->program, program_name);
	if (program < 0)
		return diag_error(d, NULL, "cannot pass the program to bpftrace: %s",
				  strerror(errno));
	ret->program_name = arena_strdup(a, program_name);
	int out[2], err[2];
	char **argv = make_argv(&s, ret->program_name);
	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
		return diag_error(d, NULL, "cannot create a pipe: %s", strerror(errno));
	pid_t parent = getpid();
	ret->pid = fork();
	if (ret->pid == 0)
		become_bpftrace(&s, argv, out[1], err[1], parent);
	close(program);
	close(out[1]);
	close(err[1]);
	ret->out = out[0];
	ret->err = err[0];
	if (ret->pid < 0) {
		ret->pid = 0;
		return diag_error(d, NULL, "cannot start bpftrace: %s", strerror(errno));
	}
	return true;
}
