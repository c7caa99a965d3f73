/**
 * Thousands of damaged copies of ELF files with probes, one after another in this process: each is read or refused, with
 * a message, in bounded time and memory. The damage is the same in every run.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "elfmake.h"
#include "elf/debugfile.h"
#include "elf/imgsym.h"
#include "usdt/sdt.h"
#include "usdt/sdtarg.h"
#include "tap.h"

enum { ROUNDS = 6000, PATIENCE = 600 };

/** xorshift64*, so that the damage does not depend on the C library. */
static uint64_t seed = 0x5eed5eed5eed5eed;
static uint64_t any(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1d;
}

static unsigned n_read, n_refused, n_complained, n_silent;

static bool count_function(void *ctx, const struct img_symbol *sym)
{
	*(size_t *)ctx += sym->name.n;
	return true;
}

/** All that this layer can be asked about a file. */
static void read_all(const char *path, FILE *out)
{
	struct arena arena = {0};
	struct diag diag;
	struct img *img;
	struct sdt_list list;
	diag_init(&diag, out);
	if (!img_open(&arena, &diag, path, STR("x"), &img)) {
		n_refused++;
		n_silent += !diag.n_errors;
		arena_fini(&arena);
		return;
	}
	n_read++;
	bool good = sdt_read(img, &list);
	n_silent += (!good || list.n_broken) && !diag.n_errors;
	n_complained += diag.n_errors || diag.n_warnings;
	size_t sum = 0;
	for (size_t i = 0; i < list.n_probes; i++)
		for (size_t k = 0; k < list.probes[i].n_sites; k++) {
			struct sdtarg *args;
			size_t n;
			sdtarg_parse(&arena, img->machine, list.probes[i].sites[k].args, &args, &n);
			struct strbuf b = {0};
			for (size_t a = 0; a < n; a++)
				sdtarg_describe(&b, &args[a]);
			sum += b.n;
			strbuf_fini(&b);
		}
	struct img_section s;
	uint64_t addr;
	for (unsigned i = 1; img_next_header(img, &i, &s);)
		sum += img_read_section(img, &s) ? s.data.n : 0;
	img_walk(img, IMG_FUNCTIONS, count_function, &sum);
	img_find_function(img, STR("main"), &addr);
	uint8_t code[16];
	img_read_code(img, any(), code, sizeof(code), &addr);
	img_close(img);
	arena_fini(&arena);
}

static void write_whole(int fd, struct str bytes)
{
	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes.p, bytes.n, 0) != (ssize_t)bytes.n)
		ok(false, "cannot write the damaged file");
}

/** One to four changes: a bit, a byte, a field of 1 to 8 bytes set to something that often hurts, or the file cut. */
static void damage(char *p, size_t *n, uint64_t shdrs_at)
{
	static const uint64_t bad[] = {0,	   1,	       UINT64_MAX,     UINT64_MAX - 7,
				       INT64_MAX,  UINT32_MAX, 0x80000000,     0xffff,
				       0x10000000, 0x7fffffff, 0xfffffffffff0, 3};
	for (unsigned i = 1 + any() % 4; i; i--) {
		size_t at = any() % *n;
		// Headers are where damage goes furthest.
		if (any() % 2)
			at = any() % 2 ? any() % 120 : shdrs_at + any() % 600;
		if (at >= *n)
			continue;
		uint64_t v = bad[any() % (sizeof(bad) / sizeof(bad[0]))];
		size_t width = (size_t)1 << any() % 4;
		switch (any() % 8) {
		case 0:
			*n = 1 + any() % *n;
			break;
		case 1:
		case 2:
			p[at] = (char)(p[at] ^ 1 << any() % 8);
			break;
		case 3:
			p[at] = (char)any();
			break;
		default:
			memcpy(p + at, &v, width < *n - at ? width : *n - at);
		}
	}
}

static void torture(struct str good, const char *claim)
{
	uint64_t shdrs_at = 0;
	if (good.n > 64)
		memcpy(&shdrs_at, good.p + (good.p[EI_CLASS] == ELFCLASS64 ? 40 : 32),
		       good.p[EI_CLASS] == ELFCLASS64 ? 8 : 4);
	FILE *nowhere = fopen("/dev/null", "w");
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	char path[40], *copy = malloc(good.n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n_read = n_refused = n_complained = n_silent = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t n = good.n;
		memcpy(copy, good.p, n);
		if (i)
			damage(copy, &n, shdrs_at);
		write_whole(fd, (struct str){copy, n});
		read_all(path, nowhere);
	}
	printf("# %s: %u read (%u with complaints), %u refused\n", claim, n_read, n_complained,
	       n_refused);
	ok(n_read > ROUNDS / 20 && n_refused > ROUNDS / 20, "%s: some are read and some refused",
	   claim);
	ok(!n_silent, "%s: nothing is skipped without a word", claim);
	free(copy);
	close(fd);
	fclose(nowhere);
}

/** A program as compilers make it: many sections, symbols, debug information. */
static bool compile(struct strbuf *bytes)
{
	char path[] = "/tmp/btgen-fuzz.XXXXXX", command[200];
	int fd = mkstemp(path);
	snprintf(command, sizeof(command),
		 "${CC:-gcc} -x c -O1 -g -gz -Iinclude -nostdlib -shared -fPIC -o %s - 2>/dev/null",
		 path);
	FILE *cc = popen(command, "w");
	if (!cc)
		return false;
	fputs("#include <btgen/usdt.h>\n"
	      "int state[4];\n"
	      "void work(int a, char *s, long i) {\n"
	      "USDT_PROBE(fuzz, one, a, s); USDT_PROBE(fuzz, two, state[i & 3]);\n"
	      "USDT_PROBE_LAZY(fuzz, three, a, s, i); USDT_PROBE(fuzz, one, a + 1, s + i); }\n"
	      "int main(void) { work(1, (char *)0, 2); return 0; }\n",
	      cc);
	bool good = pclose(cc) == 0;
	char buf[4096];
	for (ssize_t n; good && (n = read(fd, buf, sizeof(buf))) > 0;)
		strbuf_add(bytes, buf, (size_t)n);
	close(fd);
	unlink(path);
	return good && bytes->n > 64;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(PATIENCE); // a hang ends the test

	static const struct {
		bool is64, big;
		const char *claim;
	} kinds[] = {{true, false, "a 64-bit file"}, {false, true, "a 32-bit big-endian file"}};
	for (size_t i = 0; i < 2; i++) {
		struct elfmake e = elfmake_default();
		e.is64 = kinds[i].is64;
		e.big = kinds[i].big;
		for (unsigned k = 0; k < 6; k++)
			elfmake_note(&e, &e.notes, ELFMAKE_TEXT_ADDR + k, ELFMAKE_BASE_ADDR, k,
				     "provider", k & 1 ? "odd" : "even",
				     "-4@%ebx 8@16(%rsp,%rax,4)");
		elfmake_note(&e, &e.notes2, ELFMAKE_TEXT_ADDR, ELFMAKE_BASE_ADDR, 0, "p", "n",
			     "8@sym+4(%rip)");
		struct strbuf bytes = elfmake_bytes(&e);
		torture(strbuf_str(&bytes), kinds[i].claim);
		strbuf_fini(&bytes);
		elfmake_fini(&e, -1);
	}

	struct strbuf bytes = {0};
	if (compile(&bytes))
		torture(strbuf_str(&bytes), "a compiled file with compressed debug sections");
	else
		printf("ok %d - a compiled file # SKIP no compiler here\n", ++tap_n);
	strbuf_fini(&bytes);

	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
#if defined(__SANITIZE_ADDRESS__)
	printf("ok %d - memory stays bounded # SKIP the sanitizer has its own\n", ++tap_n);
#else
	printf("# at most %ld MB\n", use.ru_maxrss / 1024);
	ok(use.ru_maxrss < 200 * 1024, "memory stays bounded");
#endif
	return done();
}
