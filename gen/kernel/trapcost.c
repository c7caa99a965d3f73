#include "kernel/trapcost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "process/proc.h"

enum {
	HITS = 15,
	CACHE =
	    2
	    << 20, // bytes that push what the kernel needs for a hit out of the caches next to a processor
};

static const struct trapcost_ns usual = {800, 10000};

/**
 * Functions whose first instruction the kernel does itself, as it does that of a USDT probe, or has to single-step
 * (kernel/breakpoint.h). Not in C: a compiler's flags may put another one before it.
 */
void trapcost_emulated_site(void);
void trapcost_stepped_site(void);
#if defined(__x86_64__)
#define STEPPED "test %eax, %eax"
#else
#define STEPPED "nop"
#endif
#define SITE(name, instruction)                                                                    \
	__asm__(".pushsection .text\n.globl " name "\n.hidden " name "\n.type " name               \
		", %function\n" name ":\n" instruction "\nret\n.size " name ", .-" name            \
		"\n.popsection\n")
SITE("trapcost_emulated_site", "nop");
SITE("trapcost_stepped_site", STEPPED);

static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}

/** The median: some were interrupted. @is_cold: after other work than that of the kernel. */
static double median_ns(void (*hit)(void), bool is_cold)
{
	static unsigned char memory[CACHE];
	double ns[HITS];
	for (int i = 0; i < HITS; i++) {
		for (size_t at = 0; is_cold && at < CACHE; at += 64)
			*(volatile unsigned char *)&memory[at] += 1;
		int64_t from = clock_ns(CLOCK_MONOTONIC);
		hit();
		ns[i] = (double)(clock_ns(CLOCK_MONOTONIC) - from);
	}
	qsort(ns, HITS, sizeof(*ns), compare);
	return ns[HITS / 2];
}

struct place {
	uintptr_t address;
	uint64_t offset; // in the program's file
};

/** From the first object that is loaded, which is the program. */
static int take_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;
	uintptr_t at = place->address - info->dlpi_addr;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && at >= p->p_vaddr && at - p->p_vaddr < p->p_filesz)
			place->offset = at - p->p_vaddr + p->p_offset;
	}
	return 1;
}

/** The kernel's number of the kind of event that a uprobe is; -1: it has none. */
static int uprobe_type(void)
{
	char text[16] = "";
	int type = -1;
	file_start(NULL, "/sys/bus/event_source/devices/uprobe/type", text, sizeof(text) - 1);
	sscanf(text, "%d", &type);
	return type;
}

/** A uprobe at @offset of our own program, with a BPF program that does nothing; -1: this process may not. */
static int open_uprobe(uint64_t offset)
{
	static const struct bpf_insn nothing[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int type = uprobe_type();
	attr.type = (uint32_t)type;
	attr.config1 = (uintptr_t)PROCFS "/self/exe"; // uprobe_path, perf_event_open(2)
	attr.config2 = offset;			      // probe_offset
	int event = type < 0 || !offset
			? -1
			: (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	// Without a program the kernel makes a sample of each hit, which takes longer.
	int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "btgen_cost", "GPL", nothing, 2, NULL);
	if (program < 0 || event < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, program) != 0) {
		close(event);
		event = -1;
	}
	close(program);
	return event;
}

static double measure(void (*hit)(void), double usual_ns)
{
	struct place place = {.address = (uintptr_t)hit};
	dl_iterate_phdr(take_object, &place);
	double without = median_ns(hit, false);
	int event = open_uprobe(place.offset);
	if (event < 0)
		return usual_ns;
	// Programs that hit probes all the time, and others between whose hits is work of their own: half of each.
	double with = (median_ns(hit, false) + median_ns(hit, true)) / 2;
	close(event);
	return with > without ? with - without : usual_ns;
}

void trapcost_begin(struct trapcost *t)
{
	int ends[2];
	pid_t parent = getpid();
	*t = (struct trapcost){0};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return;
	t->child = fork();
	if (t->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct trapcost_ns ns = usual;
		if (getppid() == parent)
			ns = (struct trapcost_ns){measure(trapcost_emulated_site, usual.emulated),
						  measure(trapcost_stepped_site, usual.stepped)};
		_exit(write(ends[1], &ns, sizeof(ns)) != sizeof(ns));
	}
	close(ends[1]);
	t->result = ends[0];
	if (t->child < 0) {
		close(ends[0]);
		t->child = 0;
	}
}

bool trapcost_read(struct trapcost *t, struct trapcost_ns *ret)
{
	ssize_t n = t->child ? read(t->result, ret, sizeof(*ret)) : 0;
	bool is_open = n < 0 && errno == EAGAIN;
	if (n != sizeof(*ret))
		*ret = usual;
	if (!is_open)
		trapcost_end(t);
	return !is_open;
}

void trapcost_end(struct trapcost *t)
{
	if (!t->child)
		return;
	close(t->result);
	kill(t->child, SIGKILL);
	while (waitpid(t->child, NULL, 0) < 0 && errno == EINTR)
		;
	t->child = 0;
}
