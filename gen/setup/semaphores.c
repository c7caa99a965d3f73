#include "setup/semaphores.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "dialect/dialect.h"

size_t semaphores_find_unraised(struct arena *a, const struct bind *b, const struct attach_match *m,
				unraised_list *ret)
{
	struct map taken = {0};
	if (!dialect_raises_first_semaphore(b->given->version) || !unraised_count_sites(m->probe))
		return 0;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		vec_each(const struct context_place, p, &b->found.clauses[i]->near.places)
			if (p->src == m->file->bin.src)
				map_add_u64(a, &taken, p->addr);
	unraised_find(a, m->file->bin.img, m->probe, &taken, ret);
	return ret->n;
}

#define PMU "/sys/bus/event_source/devices/uprobe"

/** The number after @prefix in a file of the PMU's. */
static bool read_number(const char *name, struct str prefix, uint64_t *ret)
{
	struct arena a = {0};
	struct str text = proc_text(&a, PMU, name);
	bool good = str_take(&text, prefix) && str_take_number(&text, ret);
	arena_fini(&a);
	errno = ENOTSUP;
	return good;
}

/**
 * Raises the counter at the offset @counter of the file @path in the process @pid, -1: in all, by a uprobe without a program at
 * the instruction at @place (ref_ctr_offset of perf_event_open(2), since Linux 4.20): the kernel adds 1 to it in each process
 * that maps the file, and takes that back when the descriptor is closed. A descriptor, or -1 with errno.
 */
static int raise_counter(const char *path, uint64_t place, uint64_t counter, pid_t pid)
{
	enum { BITS = 64 };
	uint64_t type, shift;
	if (!read_number("type", STR(""), &type) ||
	    !read_number("format/ref_ctr_offset", STR("config:"), &shift))
		return -1;
	if (shift >= BITS || counter >> (BITS - shift)) {
		errno = ERANGE;
		return -1;
	}
	struct perf_event_attr attr = {
	    .type = (uint32_t)type,
	    .size = sizeof(attr),
	    .disabled = 1, // nobody reads it
	    .config = counter << shift,
	    .config1 = (uintptr_t)path,
	    .config2 = place,
	};
	return (int)syscall(SYS_perf_event_open, &attr, pid, pid > 0 ? -1 : 0, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/** Raises those of a probe for @pid; where one cannot be, the probe counts as skipped. */
static void raise_of_probe(struct diag *d, const struct bind *b, const struct attach_match *m,
			   pid_t pid, raised_list *ret)
{
	struct arena *a = b->arena;
	unraised_list list = {0};
	size_t n_failed = 0;
	int error = 0;
	semaphores_find_unraised(a, b, m, &list);
	vec_each(const struct unraised, u, &list) {
		errno = EOPNOTSUPP;
		int fd = u->place && u->counter ? raise_counter(str_dup(a, m->file->open_path),
								u->place, u->counter, pid)
						: -1;
		if (fd >= 0)
			vec_push(a, ret, fd);
		error = fd < 0 ? errno : error;
		n_failed += fd < 0;
	}
	if (list.n > n_failed && b->given->verbose && !d->quiet)
		diag_note(d, NULL,
			  STR_FMT ":" STR_FMT
				  ": semaphores that bpftrace does not raise, raised by btgen: %zu",
			  STR_ARG(m->probe->provider), STR_ARG(m->probe->name), list.n - n_failed);
	if (!n_failed)
		return;
	bool was_quiet = d->quiet;
	d->quiet = false;
	diag_warning(
	    d, NULL,
	    STR_FMT ":" STR_FMT
		    ": %zu of its %zu semaphores stay 0, so their sites do not fire: bpftrace does "
		    "not raise them, and the kernel cannot: %s",
	    STR_ARG(m->probe->provider), STR_ARG(m->probe->name), n_failed, list.n + 1,
	    strerror(error));
	d->quiet = was_quiet;
	skipped_add(&b->given->files->skipped, a, m->probe,
		    STR("some of its sites have semaphores that cannot be raised"));
}

void semaphores_raise(struct diag *d, const struct bind *b, pid_t pid, raised_list *ret)
{
	struct map seen = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		vec_each(const struct attach_match, m, &b->found.clauses[i]->probes)
			if (map_add_ptr(b->arena, &seen, m->probe))
				raise_of_probe(d, b, m, pid, ret);
}
