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
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/proc.h"

#define USUAL_NS 500 // of a breakpoint: make bench, row hits
#define HITS 1000
#define ROUNDS 5 // the fastest is meant: others were interrupted

/** As the site of a probe: a nop. */
static __attribute__((noinline)) void site(void)
{
	__asm__ volatile("nop");
}

static uint64_t time_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static double hit_ns(void)
{
	double least = 1e18;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = time_ns();
		for (int i = 0; i < HITS; i++)
			site();
		double ns = (double)(time_ns() - from) / HITS;
		least = ns < least ? ns : least;
	}
	return least;
}

/** Where site() is in the program's file, from the first object that is loaded, which is the program. */
static int take_object(struct dl_phdr_info *info, size_t size, void *ret)
{
	uintptr_t at = (uintptr_t)site - info->dlpi_addr;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && at >= p->p_vaddr && at - p->p_vaddr < p->p_filesz)
			*(uint64_t *)ret = at - p->p_vaddr + p->p_offset;
	}
	return 1;
}

/** The kernel's number of the kind of event that a uprobe is; -1: it has none. */
static int uprobe_type(void)
{
	char text[16] = "";
	int type = -1;
	int fd = open("/sys/bus/event_source/devices/uprobe/type", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%d", &type);
	if (fd >= 0)
		close(fd);
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

static double measure(void)
{
	uint64_t offset = 0;
	dl_iterate_phdr(take_object, &offset);
	double without = hit_ns();
	int event = open_uprobe(offset);
	if (event < 0)
		return USUAL_NS;
	double with = hit_ns();
	close(event);
	return with > without ? with - without : USUAL_NS;
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
		double ns = getppid() == parent ? measure() : 0;
		_exit(write(ends[1], &ns, sizeof(ns)) != sizeof(ns));
	}
	close(ends[1]);
	t->result = ends[0];
	if (t->child < 0) {
		close(ends[0]);
		t->child = 0;
	}
}

double trapcost_end(struct trapcost *t)
{
	double ns;
	if (!t->child)
		return USUAL_NS;
	if (read(t->result, &ns, sizeof(ns)) != sizeof(ns))
		ns = USUAL_NS;
	close(t->result);
	kill(t->child, SIGKILL);
	while (waitpid(t->child, NULL, 0) < 0 && errno == EINTR)
		;
	t->child = 0;
	return ns;
}
