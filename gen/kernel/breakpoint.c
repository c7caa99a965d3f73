#include "kernel/breakpoint.h"

#include <bpf/bpf.h>
#include <dirent.h>

#include "base/file.h"
#include "process/proc.h"

enum { MOST_BYTES = 8 };

#if defined(__x86_64__)
/** The kernel's own; others of the same length are stepped. */
static const char nops[][MOST_BYTES + 1] = {
    "\x90",
    "\x66\x90",
    "\x0f\x1f\x00",
    "\x0f\x1f\x40\x00",
    "\x0f\x1f\x44\x00\x00",
    "\x66\x0f\x1f\x44\x00\x00",
    "\x0f\x1f\x80\x00\x00\x00\x00",
    "\x0f\x1f\x84\x00\x00\x00\x00\x00",
};

static bool is_nop(const uint8_t *code)
{
	for (size_t i = 0; i < sizeof(nops) / sizeof(nops[0]); i++)
		if (memcmp(code, nops[i], i + 1) == 0)
			return true;
	return false;
}

/** Is the instruction one that the kernel does itself? */
static bool is_emulated(const uint8_t *code)
{
	if (*code == 0x41) // push %r8 to %r15
		return (code[1] & 0xf8) == 0x50;
	if (*code == 0x0f && (code[1] & 0xf0) == 0x80) // jcc
		return true;
	return is_nop(code) || (*code & 0xf8) == 0x50 || (*code & 0xf0) == 0x70 || *code == 0xe8 ||
	       *code == 0xe9 || *code == 0xeb;
}
#else
static bool is_emulated(const uint8_t *code)
{
	(void)code;
	return true; // not measured
}
#endif

struct reading {
	struct arena *arena;
	pid_t pid;
	breakpoints *ret;
	struct str path; // the last one
	int file;	 // or -1
};

/** 1 or 0; 0.5 if the file does not say. */
static double stepped_at(struct reading *r, struct str path, uint64_t offset)
{
	uint8_t code[MOST_BYTES];
	uint64_t size;
	const char *why;
	if (!str_eq(r->path, path)) {
		if (r->file >= 0)
			close(r->file);
		r->path = str_copy(r->arena, path);
		r->file = file_open(NULL, str_dup(r->arena, path), &size, &why);
	}
	if (r->file < 0 || !file_read_at(r->file, code, sizeof(code), offset))
		return 0.5;
	return is_emulated(code) ? 0 : 1;
}

static void add(struct reading *r, struct breakpoint one, struct str path, uint64_t offset)
{
	one.place = str_printf(r->arena, STR_FMT ":%" PRIu64, STR_ARG(path), offset);
	one.stepped = stepped_at(r, path, offset);
	vec_push(r->arena, r->ret, one);
}

/** A perf event. */
static bool read_event(struct reading *r, int fd)
{
	char path[4096] = "";
	uint32_t n = sizeof(path), program = 0, kind = 0;
	unsigned long long offset = 0, addr;
	if (bpf_task_fd_query(r->pid, fd, 0, path, &n, &program, &kind, &offset, &addr) != 0 ||
	    (kind != BPF_FD_TYPE_UPROBE && kind != BPF_FD_TYPE_URETPROBE))
		return false;
	add(r, (struct breakpoint){.program = program, .is_return = kind == BPF_FD_TYPE_URETPROBE},
	    str_from(path), offset);
	return true;
}

/** A link to many places, which /proc/PID/fdinfo has since Linux 6.17, below "cookie offset ref_ctr_offset". */
static void read_link(struct reading *r, struct str text)
{
	struct breakpoint one = {0};
	struct str path = STR("");
	while (text.n) {
		struct str line = str_take_line(&text), rest = line;
		uint64_t offset;
		if (str_take(&rest, STR("link_type:\turetprobe_multi")))
			one.is_return = true;
		else if (str_take(&rest, STR("prog_id:\t")) && str_to_u64(rest, &offset))
			one.program = (uint32_t)offset;
		else if (str_take(&rest, STR("path:\t")))
			path = rest;
		rest = str_trim(str_from_offset(line, str_find(line, '\t')));
		if (path.n && str_take(&rest, STR("0x")) &&
		    sscanf(str_dup(r->arena, rest), "%" SCNx64, &offset) == 1)
			add(r, one, path, offset);
	}
}

void breakpoint_read(struct arena *a, pid_t pid, breakpoints *ret)
{
	struct reading r = {.arena = a, .pid = pid, .ret = ret, .file = -1};
	int directory = proc_open_file(PROCFS, pid, "fdinfo");
	DIR *dir = directory < 0 ? NULL : fdopendir(directory);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct str text;
		if (!read_event(&r, atoi(e->d_name)) &&
		    proc_read(a, PROCFS, pid, arena_printf(a, "fdinfo/%s", e->d_name), &text))
			read_link(&r, text);
	}
	if (dir)
		closedir(dir);
	if (r.file >= 0)
		close(r.file);
}
