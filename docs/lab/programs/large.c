// large [SECONDS]: moves its code to memory of its own, as programs do that put it on large pages; then ticks.
#define _GNU_SOURCE
#include <btgen/usdt.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int total;

__attribute__((noinline)) static void tick(int n)
{
	USDT_PROBE(large, tick, n);
	total += n;
}

#ifdef STAYS
#define NOT_MOVED __attribute__((noinline, section("stays"), aligned(4096)))
#else
#define NOT_MOVED __attribute__((noinline))
#endif

NOT_MOVED static void tock(int n)
{
	USDT_PROBE(large, tock, n);
	total -= n;
}

struct range {
	uintptr_t start, end;
};

// The executable's segment of code, in whole pages; the executable is the first of all objects.
static int find_code(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	struct range *code = ret;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
			code->start = (info->dlpi_addr + segment->p_vaddr) & ~4095UL;
			code->end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz + 4095) & ~4095UL;
		}
	}
	return 1;
}

// A copy of the code, put where the code was: the same bytes at the same addresses, but no longer a part of the file.
static int move_code(void)
{
	struct range code = {0};
	dl_iterate_phdr(find_code, &code);
#ifdef STAYS
	code.end = (uintptr_t)tock; // what is linked behind stays in the file
#endif
	size_t n = code.end - code.start;
	void *copy = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return 0;
	memcpy(copy, (void *)code.start, n);
	return mprotect(copy, n, PROT_READ | PROT_EXEC) == 0 &&
	       mremap(copy, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)code.start) != MAP_FAILED;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) * 10 : 10;
	if (!move_code()) {
		perror("large");
		return 1;
	}
	for (int i = 1; i <= n; i++) {
		tick(i);
		tock(i);
		usleep(100000);
	}
	return 0;
}
