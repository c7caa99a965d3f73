// libFuzzer entry: any bytes as what /proc says of a process, and as the list of names that it writes itself (perf-PID.map). NUL
// bytes separate the files stat, status, maps, comm and the list.
#include <inttypes.h>

#include "fuzz.h"
#include "process/proc.h"
#include "value/perfmap.h"

enum { PID = 42, LIST = 4 };

static const char *const names[] = {"42/stat", "42/status", "42/maps", "42/comm",
				    "42/root/tmp/perf-42.map"};

static void use_process(struct proc *p)
{
	proc_name(p);
	proc_count_children(p);
	for (size_t i = 0; i < p->files.n; i++) {
		proc_has_mapped(p, &p->files.v[i], p->files.v[i].offset + 1, i % 2);
		proc_has_successor(p, &p->files.v[i]);
	}
	if (!proc_is_same(p))
		fuzz_fail("another process", p->comm);
}

/** As the process writes it: a part, more of it, and another list. */
static void use_list(const struct proc *p, const char *path, struct str list)
{
	struct perfmap map;
	struct diag quiet;
	diag_init(&quiet, NULL);
	perfmap_init(&map, &quiet, p);
	for (size_t round = 0; round < 3; round++) {
		fuzz_write(path, round == 2 ? str_from_offset(list, list.n - list.n / 3)
					    : str_slice(list, 0, list.n / (2 - round)));
		perfmap_read(&map);
		for (uint64_t addr = 0x1000; addr; addr <<= 3)
			if (str_find(perfmap_find(&map, addr), '\n') < perfmap_find(&map, addr).n)
				fuzz_fail("a name over several lines", list);
	}
	perfmap_fini(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *folder;
	static struct arena stays;
	struct arena a = {0};
	struct fuzz_said said;
	struct str rest = {(const char *)data, size}, files[LIST + 1];
	struct proc *p;
	if (!folder) {
		folder = fuzz_folder(&stays, "42");
		mkdir(arena_printf(&a, "%s/42/root", folder), 0700);
		mkdir(arena_printf(&a, "%s/42/root/tmp", folder), 0700);
		if (symlink("/proc/self/exe", arena_printf(&a, "%s/42/exe", folder)) != 0)
			exit(1);
	}
	for (size_t i = 0; i <= LIST; i++) {
		files[i] = str_slice(rest, 0, i == LIST ? rest.n : str_find(rest, '\0'));
		rest = str_from_offset(rest, files[i].n + 1);
		fuzz_write(arena_printf(&a, "%s/%s", folder, names[i]), files[i]);
	}
	fuzz_listen(&said);
	if (proc_open(&a, &said.diag, folder, PID, &p)) {
		use_process(p);
		proc_close(p);
	}
	const struct proc it = {
	    .root = str_from(arena_printf(&a, "%s/42/root", folder)), .ns_pid = PID, .pidfd = -1};
	use_list(&it, arena_printf(&a, "%s/%s", folder, names[LIST]), files[LIST]);
	fuzz_must_be_printable(&said);
	arena_fini(&a);
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
