#include "process/resident.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"

#define MAX_FILE_BYTES (16u << 20)
#define MAX_PROCESS_BYTES (64u << 20)
#define MAX_SEEN 65536 // then forgotten: to read a process again does no harm
#define LIMIT_MS 1000
#define AGAIN_MS 100	      // a fork for many short-lived processes, not for each
#define KILLED_MS 100	      // one that waits for a disk ends later, and is nobody's then
#define FUSE_MAGIC 0x65735546 // FUSE_SUPER_MAGIC of the kernel

void resident_add_file(struct resident *r, dev_t dev, ino_t ino, struct str name)
{
	if (!vec_any(const struct resident_file, f, &r->files, f->dev == dev && f->ino == ino))
		vec_push(r->arena, &r->files, (struct resident_file){dev, ino, name});
}

void resident_add_process(struct resident *r, int pid)
{
	if (!r->files.n)
		return;
	if (r->seen.n == MAX_SEEN) {
		arena_fini(&r->of_seen);
		r->of_seen = (struct arena){0};
		r->seen = (struct map){0};
	}
	if (map_add_u64(&r->of_seen, &r->seen, (uint64_t)pid))
		vec_push(r->arena, &r->pids, pid);
}

// --- in the child

/** A file system in user space may never answer, and would keep the process from mapping memory meanwhile. */
static bool is_answered(const struct proc *p, const struct proc_file *f)
{
	struct statfs fs;
	return f->open_path.n && statfs(str_dup(p->arena, f->open_path), &fs) == 0 &&
	       fs.f_type != FUSE_MAGIC;
}

static uint64_t read_mapping(const struct proc_mapping *m, int mem, uint64_t most)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), n = 0;
	char byte;
	for (uint64_t at = m->start; at < m->end && n < most; at += page)
		n += pread(mem, &byte, 1, (off_t)at) == 1 ? page : 0;
	return n;
}

/** Data first: code, which may be all there is room for, has literals only where the linker did not part them. */
static uint64_t read_file(const struct proc *p, const struct proc_file *f, int mem, uint64_t most)
{
	uint64_t n = 0;
	for (int has_code = 0; has_code <= 1; has_code++)
		vec_each(const struct proc_mapping, m, &p->mappings)
			if (m->is_constant && m->is_code == has_code &&
			    str_eq(m->path, f->mapped_as))
				n += read_mapping(m, mem, most - n);
	return n;
}

static uint64_t read_files(const struct resident *r, const struct proc *p, int mem)
{
	uint64_t n = 0;
	vec_each(const struct proc_file, f, &p->files) {
		uint64_t room = MAX_PROCESS_BYTES - n;
		if (f->have_id &&
		    vec_any(const struct resident_file, wanted, &r->files,
			    wanted->dev == f->dev && wanted->ino == f->ino) &&
		    is_answered(p, f))
			n += read_file(p, f, mem, room < MAX_FILE_BYTES ? room : MAX_FILE_BYTES);
	}
	return n;
}

/**
 * The memory is opened before the process is looked at: it is that of the program that runs then,
 * whatever becomes of the PID.
 */
static void read_process(const struct resident *r, int pid, struct resident_sum *sum)
{
	struct arena a = {0};
	struct diag silent;
	struct proc *p;
	diag_init(&silent, NULL);
	int mem = proc_open_file(PROCFS, pid, "mem");
	if (mem >= 0 && proc_open(&a, &silent, PROCFS, pid, &p)) {
		bool is_another =
		    r->one && r->one->pid == p->pid && r->one->start_time != p->start_time;
		uint64_t n = is_another ? 0 : read_files(r, p, mem);
		sum->bytes += n;
		sum->n_processes += n > 0;
		proc_close(p);
	}
	if (mem >= 0)
		close(mem);
	arena_fini(&a);
}

/** To look closely at each process of a machine takes too long. */
static bool may_map(const struct resident *r, int pid)
{
	struct arena a = {0};
	struct str maps;
	bool may = false;
	proc_read(&a, PROCFS, pid, "maps", &maps);
	vec_each(const struct resident_file, f, &r->files)
		may |= str_contains(maps, f->name);
	arena_fini(&a);
	return may;
}

static void read_all(const struct resident *r, struct resident_sum *sum)
{
	struct arena a = {0};
	size_t n;
	const int *pids = proc_list(&a, PROCFS, &n);
	for (size_t i = 0; i < n && r->has_all; i++)
		if (pids[i] != getpid() && pids[i] != getppid() && may_map(r, pids[i]))
			read_process(r, pids[i], sum);
	vec_each(const int, pid, &r->pids)
		read_process(r, *pid, sum);
	arena_fini(&a);
}

static _Noreturn void work(const struct resident *r, int report, pid_t parent)
{
	struct resident_sum sum = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	file_close_all_but(&report, 1);
	if (getppid() == parent)
		read_all(r, &sum);
	sum.ms = (unsigned)(clock_ms() - r->begun);
	_exit(write(report, &sum, sizeof(sum)) != (ssize_t)sizeof(sum));
}

// --- in the parent

void resident_begin(struct resident *r)
{
	int ends[2];
	pid_t parent = getpid();
	r->begun = clock_ms();
	if (r->child || !r->files.n || !(r->pids.n || r->has_all) || pipe2(ends, O_CLOEXEC) != 0)
		return;
	r->child = fork();
	if (r->child == 0)
		work(r, ends[1], parent);
	close(ends[1]);
	r->report = ends[0];
	if (r->child < 0) {
		r->child = 0;
		close(r->report);
	}
	r->pids.n = 0;
	r->has_all = false;
}

static bool is_done(const struct resident *r, int ms)
{
	struct pollfd fd = {.fd = r->report, .events = POLLIN};
	return poll(&fd, 1, ms) > 0;
}

/** It is done, or has had its time. */
static void reap(struct resident *r)
{
	struct resident_sum sum;
	if (is_done(r, 0) && read(r->report, &sum, sizeof(sum)) == (ssize_t)sizeof(sum))
		r->sum = sum;
	kill(r->child, SIGKILL);
	for (int i = 0; i < KILLED_MS && waitpid(r->child, NULL, WNOHANG) == 0; i++)
		usleep(1000);
	close(r->report);
	r->child = 0;
}

void resident_wait(struct resident *r)
{
	while (r->child) {
		unsigned long spent = clock_ms() - r->begun;
		if (spent >= LIMIT_MS || is_done(r, (int)(LIMIT_MS - spent)))
			reap(r);
	}
}

void resident_step(struct resident *r)
{
	if (r->child && (is_done(r, 0) || clock_ms() - r->begun >= LIMIT_MS))
		reap(r);
	if (!r->child && r->pids.n && clock_ms() - r->begun >= AGAIN_MS)
		resident_begin(r);
}

void resident_end(struct resident *r)
{
	if (r->child)
		reap(r);
	arena_fini(&r->of_seen);
	*r = (struct resident){.report = -1};
}
