#include "doctor/machine.h"

#include <stdio.h>

#include "base/file.h"
#include "dialect/dialect.h"
#include "process/proc.h"

/** Kernels, as dialect_parse() reads the first two numbers of a version. */
enum {
	KERNEL_OLDEST = 4009,	     // what bpftrace asks for
	KERNEL_UPROBE_PMU = 4017,    // uprobes without tracefs
	KERNEL_CGROUP_MEMORY = 5011, // BPF memory is not locked memory any more
	KERNEL_NUMBERS_TYPES = 5011, // its BTF has a number, as that of modules
};

/** Is there such a file below /sys, which may be read? Its beginning, trimmed, in *@ret unless NULL. */
static bool read_sys(const struct machine *m, const char *path, struct str *ret)
{
	char text[256];
	struct str start = file_start(m->root, path, text, sizeof(text));
	if (ret)
		*ret = str_trim(str_copy(m->out->arena, start));
	return start.p != NULL;
}

/** A line of /proc, trimmed; empty when it cannot be read. */
static struct str read_proc(const struct machine *m, const char *path)
{
	return proc_text(m->out->arena, m->procfs, path);
}

/** Is such a file system mounted there? Lines of mounts are "device directory type options 0 0". */
static bool is_mounted(const struct machine *m, const char *type, const char *directory)
{
	struct str mounts = read_proc(m, "self/mounts");
	struct str wanted = str_printf(m->out->arena, " %s %s ", directory, type);
	return str_contains(mounts, wanted);
}

// --- the kernel

static void examine_kernel(struct machine *m)
{
	struct str release = read_proc(m, "sys/kernel/osrelease");
	struct findings *f = m->out;
	if (!dialect_parse(release, &m->kernel))
		return finding_add(f, FINDING_WARNING, "kernel", NULL,
				   "the version of the kernel cannot be read");
	if (m->kernel < KERNEL_OLDEST)
		finding_add(f, FINDING_ERROR, "kernel", "update it",
			    "Linux " STR_FMT " is older than 4.9, the oldest that bpftrace runs on",
			    STR_ARG(release));
	else
		finding_add(f, FINDING_OK, "kernel", NULL, "Linux " STR_FMT, STR_ARG(release));
	if (!read_proc(m, "sys/kernel/unprivileged_bpf_disabled").n)
		finding_add(f, FINDING_ERROR, "bpf", "boot a kernel with CONFIG_BPF_SYSCALL",
			    "this kernel has no BPF");
}

static void examine_uprobes(struct machine *m)
{
	struct findings *f = m->out;
	if (m->kernel < KERNEL_UPROBE_PMU)
		return;
	if (!read_sys(m, "/sys/bus/event_source/devices/uprobe/type", NULL))
		finding_add(f, FINDING_ERROR, "uprobes", "boot a kernel with CONFIG_UPROBE_EVENTS",
			    "no uprobes: programs cannot be traced");
	else if (!read_sys(m, "/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", NULL))
		finding_add(f, FINDING_WARNING, "uprobes", "update it to Linux 4.20 or newer",
			    "this kernel does not raise the semaphores of probes: some probes may "
			    "not fire");
	else
		finding_add(f, FINDING_OK, "uprobes", NULL,
			    "the kernel has uprobes, with semaphores");
}

static void examine_btf(struct machine *m)
{
	static const char remedy[] = "boot a kernel with CONFIG_DEBUG_INFO_BTF";
	if (read_sys(m, "/sys/kernel/btf/vmlinux", NULL))
		finding_add(m->out, FINDING_OK, "btf", NULL,
			    "the kernel has the types of its structs (BTF)%s",
			    m->found.version && m->kernel < KERNEL_NUMBERS_TYPES &&
				    dialect_finds_types_by_number(m->found.version)
				? ", which bpftrace 0.17 finds before Linux 5.11 by "
				  "BPFTRACE_BTF=/sys/kernel/btf/vmlinux only: bpftrace.sh sets it"
				: "");
	else if (dialect_has_libbpf_usdt(m->found.version))
		finding_add(m->out, FINDING_ERROR, "btf", remedy,
			    "/sys/kernel/btf/vmlinux does not exist: bpftrace " DIALECT_FMT
			    " cannot read arguments of USDT probes",
			    DIALECT_ARG(m->found.version));
	else
		finding_add(
		    m->out, FINDING_WARNING, "btf", remedy,
		    "/sys/kernel/btf/vmlinux does not exist: scripts cannot read kernel structs, "
		    "and bpftrace 0.24 and newer cannot read arguments of USDT probes");
}

static void examine_jit(struct machine *m)
{
	// Readable by root only, and in the first network namespace.
	struct str on = read_proc(m, "sys/net/core/bpf_jit_enable");
	if (str_eqz(on, "0"))
		finding_add(m->out, FINDING_WARNING, "jit", "sysctl net.core.bpf_jit_enable=1",
			    "BPF programs are interpreted, not compiled (JIT): each event costs "
			    "the traced program more");
	else if (on.n)
		finding_add(m->out, FINDING_OK, "jit", NULL,
			    "the kernel compiles BPF programs (JIT)");
}

static void examine_tracefs(struct machine *m)
{
	static const char remedy[] = "mount -t tracefs tracefs /sys/kernel/tracing";
	// debugfs mounts it below itself when it is looked for, unless the kernel has given that up.
	if (is_mounted(m, "tracefs", "/sys/kernel/tracing") ||
	    is_mounted(m, "tracefs", "/sys/kernel/debug/tracing") ||
	    read_sys(m, "/sys/kernel/debug/tracing/available_events", NULL))
		finding_add(m->out, FINDING_OK, "tracefs", NULL, "tracefs is mounted");
	else if (dialect_has_libbpf_usdt(m->found.version))
		finding_add(m->out, FINDING_ERROR, "tracefs", remedy,
			    "tracefs is not mounted: bpftrace " DIALECT_FMT " cannot run a script",
			    DIALECT_ARG(m->found.version));
	else
		finding_add(m->out, FINDING_WARNING, "tracefs", remedy,
			    "tracefs is not mounted: there are no tracepoints, and bpftrace 0.24 "
			    "and newer cannot run a script");
}

static void examine_lockdown(struct machine *m)
{
	struct str modes;
	if (!read_sys(m, "/sys/kernel/security/lockdown", &modes))
		return; // securityfs is not mounted, or the kernel cannot be locked down
	if (str_contains(modes, STR("[confidentiality]")))
		finding_add(
		    m->out, FINDING_ERROR, "lockdown", "boot with lockdown=integrity",
		    "kernel lockdown is in confidentiality mode, in which bpftrace refuses to run");
	else
		finding_add(m->out, FINDING_OK, "lockdown", NULL,
			    "kernel lockdown is %s, which does not limit tracing",
			    str_contains(modes, STR("[integrity]")) ? "in integrity mode" : "off");
}

// --- what this user may do

/** Of a user that is not root. */
static void examine_user(struct machine *m, uint64_t missing)
{
	struct findings *f = m->out;
	const struct privilege *p = &m->privilege;
	uint64_t needed = privilege_needed(m->found.version);
	if (!needed)
		finding_add(f, FINDING_ERROR, "root", "use sudo",
			    "bpftrace up to 0.24 traces as root only: user %ld cannot inspect "
			    "processes of other users, or whether the kernel compiles BPF programs",
			    p->user);
	else if (missing)
		finding_add(f, FINDING_ERROR, "root", "use sudo",
			    "user %ld lacks " STR_FMT " of " STR_FMT ", which bpftrace " DIALECT_FMT
			    " needs when it is not root",
			    p->user, STR_ARG(privilege_names(f->arena, missing)),
			    STR_ARG(privilege_names(f->arena, needed)),
			    DIALECT_ARG(m->found.version));
	else
		finding_add(f, FINDING_OK, "root", NULL,
			    "user %ld has the capabilities that bpftrace " DIALECT_FMT " needs",
			    p->user, DIALECT_ARG(m->found.version));
}

/** Without CAP_SYS_ADMIN: what is still possible depends on the kernel and on bpftrace. */
static void examine_admin(struct machine *m)
{
	unsigned v = m->found.version;
	if (!privilege_has(&m->privilege, CAPABLE_SYS_ADMIN))
		finding_add(m->out, FINDING_WARNING, "admin",
			    m->privilege.user == 0 ? "docker run --cap-add SYS_ADMIN" : NULL,
			    "CAP_SYS_ADMIN is missing: bpftrace " DIALECT_FMT
			    " needs it to trace %s on newer kernels",
			    DIALECT_ARG(v),
			    dialect_has_libbpf_usdt(v) ? "functions of programs"
						       : "probes with semaphores");
}

static void examine_privileges(struct machine *m)
{
	struct findings *f = m->out;
	const struct privilege *p = &m->privilege;
	uint64_t missing = privilege_missing(p, m->found.version);
	unsigned long n_users = 0;
	const char *map = str_dup(f->arena, read_proc(m, "self/uid_map"));
	if (p->user == 0 && sscanf(map, "%*u %*u %lu", &n_users) == 1 && n_users < UINT32_MAX)
		return finding_add(f, FINDING_ERROR, "root", "run it as root of the host",
				   "this is root of a user namespace (a rootless container), which "
				   "the kernel does not let load BPF programs");
	if (p->user != 0)
		examine_user(m, missing);
	else if (missing)
		finding_add(f, FINDING_ERROR, "root",
			    "docker run --privileged, or --cap-add SYS_ADMIN --cap-add SYS_PTRACE",
			    "root lacks " STR_FMT
			    " or CAP_SYS_ADMIN: bpftrace cannot attach to anything",
			    STR_ARG(privilege_names(f->arena, missing)));
	if (missing || (p->user != 0 && !privilege_needed(m->found.version)))
		return;
	examine_admin(m);
	if (!privilege_has(p, CAPABLE_SYS_PTRACE))
		finding_add(
		    f, FINDING_WARNING, "root", "docker run --cap-add SYS_PTRACE",
		    "CAP_SYS_PTRACE is missing: most processes of other users cannot be inspected");
	else if (p->user == 0 && privilege_has(p, CAPABLE_SYS_ADMIN))
		finding_add(f, FINDING_OK, "root", NULL,
			    "this is root, with the capabilities that tracing needs");
}

/** Two settings that are often taken for the reason why tracing fails. */
static void examine_settings(struct machine *m)
{
	struct str paranoid = read_proc(m, "sys/kernel/perf_event_paranoid");
	struct str disabled = read_proc(m, "sys/kernel/unprivileged_bpf_disabled");
	const struct privilege *p = &m->privilege;
	bool is_allowed = (p->user == 0 || privilege_needed(m->found.version)) &&
			  !privilege_missing(p, m->found.version);
	if (paranoid.n && disabled.n && is_allowed)
		finding_add(m->out, FINDING_OK, "sysctl", NULL,
			    "kernel.perf_event_paranoid=" STR_FMT
			    " and kernel.unprivileged_bpf_disabled=" STR_FMT
			    " limit other users only",
			    STR_ARG(paranoid), STR_ARG(disabled));
}

/** The line of the limit is "Max locked memory  SOFT  HARD  bytes". */
static void examine_memory(struct machine *m)
{
	unsigned long long limit = 0; // unlimited, or not known
	struct str line = proc_status_value(read_proc(m, "self/limits"), STR("Max locked memory"));
	sscanf(str_dup(m->out->arena, line), "%llu", &limit);
	if (m->kernel >= KERNEL_CGROUP_MEMORY ||
	    privilege_has(&m->privilege, CAPABLE_SYS_RESOURCE) || !limit)
		return;
	finding_add(m->out, FINDING_WARNING, "memlock", "ulimit -l unlimited",
		    "before Linux 5.11, BPF maps and buffers are locked memory, which is limited "
		    "to %llu KiB here, and bpftrace may not raise that",
		    limit / 1024);
}

/** Measured: 0.23 and 0.27 give a script the PIDs of the namespace that the process is in. */
static void examine_pid_namespace(struct machine *m)
{
	struct str name = proc_namespace(m->out->arena, m->procfs, 0, "pid");
	if (name.n && !str_eqz(name, PROC_FIRST_PID_NAMESPACE) && m->found.version &&
	    dialect_has_host_pids(m->found.version))
		finding_add(
		    m->out, FINDING_WARNING, "container",
		    "trace from the host, or docker run --pid=host",
		    "this container has its own PIDs, but pid and tid of bpftrace " DIALECT_FMT
		    " are those of the host",
		    DIALECT_ARG(m->found.version));
}

// --- bpftrace

/** What a user of these versions meets sooner or later, and btgen cannot make good. */
static const struct defect {
	unsigned from, to; /**< versions */
	const char *text, *remedy;
} defects[] = {
    {0, 18, "reports too few lost events, and prints lines out of order by some milliseconds",
     "install 0.19 or newer"},
    {0, 17, "loses numbers from 4294967296 on in min()", "install 0.18 or newer"},
    {0, 19, "shows no max() of numbers that are all negative", "install 0.20 or newer"},
    {20, 21, "treats negative numbers as unsigned in min() and max()", "install 0.21.2 or newer"},
    {20, 23, "can miss the first event of a key that it counts", "install 0.24 or newer"},
    {24, UINT32_MAX,
     "cannot attach to a probe that has a semaphore, and a float or a variable at a fixed address "
     "among its arguments",
     "use 0.23 for these"},
};

static void examine_version(struct machine *m)
{
	struct findings *f = m->out;
	unsigned v = m->found.version;
	if (v < DIALECT_OLDEST) {
		finding_add(f, FINDING_ERROR, "bpftrace", "install 0.17 or newer",
			    "%s is version " DIALECT_FMT ", which is too old", m->found.path,
			    DIALECT_ARG(v));
		return;
	}
	finding_add(f, FINDING_OK, "bpftrace", NULL, "bpftrace " DIALECT_FMT " at %s%s",
		    DIALECT_ARG(v), m->found.path,
		    v > DIALECT_NEWEST ? ", newer than those that btgen was tested with" : "");
	finding_add(
	    f, FINDING_OK, "limits", NULL,
	    "limits of bpftrace " DIALECT_FMT " are strings of %u bytes%s; enums of more than %u "
	    "names delay the start",
	    DIALECT_ARG(v), dialect_strlen_ceiling(v, 1),
	    dialect_has_libbpf_usdt(v) ? " and 256 USDT probes at once" : "", dialect_max_table(v));
	unsigned oldest = dialect_oldest_kernel(v);
	if (m->kernel >= KERNEL_OLDEST && m->kernel < oldest)
		finding_add(f, FINDING_WARNING, "kernel", "use 0.23 on this kernel",
			    "bpftrace " DIALECT_FMT
			    " is built for Linux %u.%u and newer, and warns about it in each trace",
			    DIALECT_ARG(v), oldest / 1000, oldest % 1000);
	for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++)
		if (v >= defects[i].from && v <= defects[i].to)
			finding_add(f, FINDING_WARNING, "defect", defects[i].remedy,
				    "bpftrace " DIALECT_FMT " %s", DIALECT_ARG(v), defects[i].text);
}

static void examine_bpftrace(struct machine *m, int found)
{
	if (found == RUN_NOT_FOUND)
		finding_add(
		    m->out, FINDING_ERROR, "bpftrace",
		    "install it with your package manager, or give its path with --bpftrace",
		    "bpftrace not found%s%s", m->found.path ? " at " : "",
		    m->found.path ? m->found.path : "");
	else if (found)
		finding_add(m->out, FINDING_ERROR, "bpftrace", "install it again",
			    "%s cannot be run, or reports no bpftrace version", m->found.path);
	else
		examine_version(m);
}

void machine_examine(struct machine *m)
{
	int found = bpftrace_find(m->out->arena, &(struct diag){0}, m->bpftrace, false, &m->found);
	if (!read_proc(m, "self/status").n)
		return finding_add(m->out, FINDING_ERROR, "proc",
				   arena_printf(m->out->arena, "mount -t proc proc %s", m->procfs),
				   "%s is not mounted", m->procfs);
	privilege_read(m->out->arena, m->procfs, m->found.path, &m->privilege);
	examine_kernel(m);
	examine_jit(m);
	if (is_mounted(m, "sysfs", "/sys")) {
		examine_uprobes(m);
		examine_btf(m);
		examine_tracefs(m);
		examine_lockdown(m);
	} else {
		finding_add(m->out, FINDING_ERROR, "sys", "mount -t sysfs sysfs /sys",
			    "/sys is not mounted");
	}
	examine_privileges(m);
	examine_settings(m);
	examine_memory(m);
	examine_pid_namespace(m);
	examine_bpftrace(m, found);
}
