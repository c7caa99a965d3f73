#include "doctor/privilege.h"

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "base/file.h"
#include "dialect/dialect.h"

#define BIT(c) (UINT64_C(1) << (c))

/** Of those that are spoken of here, in the order of a sentence. */
static const struct {
	enum capability bit;
	const char *name;
} names[] = {
    {CAPABLE_BPF, "CAP_BPF"},
    {CAPABLE_PERFMON, "CAP_PERFMON"},
    {CAPABLE_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {CAPABLE_SYS_PTRACE, "CAP_SYS_PTRACE"},
    {CAPABLE_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
    {CAPABLE_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    {CAPABLE_KILL, "CAP_KILL"},
    {CAPABLE_IPC_LOCK, "CAP_IPC_LOCK"},
    {CAPABLE_SYS_RESOURCE, "CAP_SYS_RESOURCE"},
};

/** A line of /proc/self/status that is a set; @ret is left alone when there is none. */
static void read_set(struct arena *a, struct str status, struct str key, uint64_t *ret)
{
	struct str hex = proc_status_value(status, key);
	uint64_t set;
	if (str_to_u64(str_printf(a, "0x" STR_FMT, STR_ARG(hex)), &set))
		*ret = set;
}

/** What `setcap` has written to the file, and makes effective; false: nothing. */
static bool read_file_set(const char *path, uint64_t *ret)
{
	struct vfs_cap_data d;
	ssize_t n = getxattr(path, "security.capability", &d, sizeof(d));
	if (n < (ssize_t)XATTR_CAPS_SZ_2 || !(d.magic_etc & VFS_CAP_FLAGS_EFFECTIVE))
		return false;
	*ret = (uint64_t)d.data[1].permitted << 32 | d.data[0].permitted;
	return true;
}

void privilege_read(struct arena *a, const char *procfs, const char *bpftrace,
		    struct privilege *ret)
{
	struct str status = proc_text(a, procfs, "self/status");
	uint64_t bounding = 0, ambient = 0, of_file;
	struct stat st;
	long user;
	read_set(a, status, STR("CapBnd:"), &bounding);
	read_set(a, status, STR("CapAmb:"), &ambient);
	const char *ids = str_dup(a, proc_status_value(status, STR("Uid:")));
	*ret = (struct privilege){.user = -1};
	if (sscanf(ids, "%*d %ld", &user) == 1)
		ret->user = user;
	if (bpftrace && ret->user != 0) {
		char start[2]; // a script? What cannot be read is a program that may only be run
		ret->is_unknown = str_eqz(file_start(bpftrace, start, sizeof(start)), "#!");
		if (stat(bpftrace, &st) == 0 && st.st_mode & S_ISUID)
			ret->user = st.st_uid;
	}
	if (ret->user == 0)
		ret->set = bounding;
	else if (bpftrace && read_file_set(bpftrace, &of_file))
		ret->set = of_file & bounding;
	else
		ret->set = ambient;
}

bool privilege_has(const struct privilege *p, enum capability c)
{
	return p->set >> c & 1;
}

uint64_t privilege_needed(unsigned version)
{
	if (!dialect_takes_capabilities(version))
		return 0;
	return BIT(CAPABLE_BPF) | BIT(CAPABLE_PERFMON) | BIT(CAPABLE_DAC_READ_SEARCH) |
	       BIT(CAPABLE_DAC_OVERRIDE);
}

uint64_t privilege_missing(const struct privilege *p, unsigned version)
{
	uint64_t kernel = BIT(CAPABLE_BPF) | BIT(CAPABLE_PERFMON);
	uint64_t needed = p->user == 0 ? kernel : privilege_needed(version);
	if (privilege_has(p, CAPABLE_SYS_ADMIN))
		needed &= ~kernel;
	return needed & ~p->set;
}

const char *privilege_next_name(uint64_t *set)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (*set & BIT(names[i].bit)) {
			*set &= ~BIT(names[i].bit);
			return names[i].name;
		}
	*set = 0;
	return NULL;
}

struct str privilege_names(struct arena *a, uint64_t set)
{
	struct str list = {0};
	for (const char *name; (name = privilege_next_name(&set));) {
		const char *join = !list.n ? "" : set ? ", " : " and ";
		list = str_printf(a, STR_FMT "%s%s", STR_ARG(list), join, name);
	}
	return list;
}

bool privilege_may_uprobe(const struct privilege *p)
{
	char type[16] = ""; // of perf events that are uprobes; 0: the kernel has none
	file_start("/sys/bus/event_source/devices/uprobe/type", type, sizeof(type) - 1);
	struct perf_event_attr attr = {
	    .size = sizeof(attr), .type = (unsigned)strtoul(type, NULL, 10), .exclude_kernel = 1};
	uint64_t own = 0;
	struct arena a = {0};
	read_set(&a, proc_text(&a, PROCFS, "self/status"), STR("CapEff:"), &own);
	arena_fini(&a);
	// It is asked for this process: of another one that may do more nothing is known.
	uint64_t asked = BIT(CAPABLE_PERFMON) | BIT(CAPABLE_SYS_ADMIN);
	if (p->is_unknown || !attr.type || (p->set & asked & ~own))
		return true;
	// A uprobe of no file: refused in any case, and for lack of rights first.
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EACCES && errno != EPERM);
}
