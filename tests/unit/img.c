/** Reads ELF files: this program itself (its own addresses are the oracle), and things that are no ELF files. */
#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/debugfile.h"
#include "elf/imgsym.h"
#include "tap.h"

static struct arena arena;
static struct diag diag;
static char *said;
static size_t said_n;

__attribute__((noinline, used)) int a_function_of_ours(int x);
int a_function_of_ours(int x)
{
	return x + 1;
}

static void listen(void)
{
	if (diag.out)
		fclose(diag.out);
	free(said);
	said = NULL;
	diag_init(&diag, open_memstream(&said, &said_n));
}

/** What was said since listen(). */
static struct str heard(void)
{
	fflush(diag.out);
	return (struct str){said, said_n};
}

static void refuses(const char *path, const char *message, const char *claim)
{
	struct img *img;
	listen();
	bool opened = img_open(&arena, &diag, path, STR("x"), &img);
	ok(!opened && diag.n_errors == 1, "%s: refused once", claim);
	is_str(heard(), str_from(message), claim);
}

static void refuses_bytes(const void *bytes, size_t n, const char *message, const char *claim)
{
	char path[] = "/tmp/btgen-img.XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		ok(false, "cannot write %s", path);
	close(fd);
	refuses(path, message, claim);
	unlink(path);
}

static int own_base(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	*(uint64_t *)ret = info->dlpi_addr;
	return 1; // the program itself comes first
}

static void own_program(void)
{
	struct img *img;
	struct img_section s;
	uint64_t base = 0, addr = 0, off = 0;
	listen();
	if (!ok(img_open(&arena, &diag, "/proc/self/exe", STR("self"), &img), "opens itself"))
		return;
	dl_iterate_phdr(own_base, &base);

	ok(img->is64 == (sizeof(void *) == 8), "the class is that of its pointers");
	ok(img_find_section(img, ".text", &s) && s.data.n == s.size && s.flags & SHF_EXECINSTR,
	   "the section .text is there, with its bytes");
	ok(!img_find_section(img, ".no.such", &s), "a section that is not there is not found");
	ok(img_find_section(img, ".bss", &s) && !s.data.n, ".bss has no contents");

	ok(img_find_function(img, STR("a_function_of_ours"), &addr) &&
	       base + addr == (uint64_t)(uintptr_t)a_function_of_ours,
	   "a function has the address that the program itself knows");
	ok(!img_find_function(img, STR("no_such_function_here"), &addr),
	   "a function that is not there is not found");
	img_find_function(img, STR("a_function_of_ours"), &addr);
	uint8_t code[8], in_file[8];
	ok(img_read_code(img, addr, code, 8, &off) == 8 &&
	       memcmp(code, (const void *)a_function_of_ours, 8) == 0,
	   "code read at an address is the code that runs");
	ok(pread(img->fd, in_file, 8, (off_t)off) == 8 && memcmp(in_file, code, 8) == 0,
	   "the file has the same bytes at the offset of that address");
	ok(!img_read_code(img, UINT64_MAX, code, 8, &off), "there is no code at the last address");

	struct debuginfo *di;
	if (ok(img_debuginfo(img, &di), "its debug information is found")) {
		ok(di->file == img && di->bias == 0, "in the file itself, not moved");
		Dwarf_Addr bias;
		Dwarf_Die *cu = dwfl_module_addrdie(di->module, addr, &bias);
		Dwarf_Die *scopes = NULL;
		int n = cu ? dwarf_getscopes(cu, addr - bias, &scopes) : 0;
		ok(n > 0 && dwarf_diename(&scopes[0]) &&
		       strcmp(dwarf_diename(&scopes[0]), "a_function_of_ours") == 0,
		   "it knows the function at that address");
		free(scopes);
	}
	is_num(diag.n_errors, 0, "nothing was complained about");
	img_close(img);
}

static void not_elf(void)
{
	char dir[] = "/tmp/btgen-img-dir.XXXXXX", fifo[64];
	if (!mkdtemp(dir))
		return;
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	mkfifo(fifo, 0600);
	refuses("/no/such/file", "x: error: cannot open it: no such file\n", "a missing file");
	refuses(dir, "x: error: cannot open it: is a directory\n", "a directory");
	refuses(fifo, "x: error: cannot open it: is not a regular file\n", "a FIFO, at once");
	refuses("/dev/null", "x: error: cannot open it: is not a regular file\n", "a device");
	unlink(fifo);
	rmdir(dir);

	refuses_bytes("", 0, "x: error: the file is empty\n", "an empty file");
	refuses_bytes("hello", 5, "x: error: not an ELF file\n", "a text");
	refuses_bytes("\177EL", 3, "x: error: not an ELF file\n", "half a magic number");
	refuses_bytes("#!/bin/sh\n", 10,
		      "x: error: a script, not an ELF file: give the program that runs it\n",
		      "a script");
}

static void broken_headers(void)
{
	Elf64_Ehdr h = {.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = 1};
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	h.e_shentsize = sizeof(Elf64_Shdr);
	h.e_phentsize = sizeof(Elf64_Phdr);
	refuses_bytes(&h, 63, "x: error: the file is truncated: it ends inside its ELF header\n",
		      "63 bytes of a header");

	Elf64_Ehdr b = h;
	b.e_ident[EI_CLASS] = 3;
	refuses_bytes(&b, sizeof(b), "x: error: invalid ELF header: neither 32 nor 64 bit\n",
		      "a class of its own");
	b = h;
	b.e_ident[EI_DATA] = 0;
	refuses_bytes(&b, sizeof(b), "x: error: invalid ELF header: unknown byte order\n",
		      "no byte order");
	b = h;
	b.e_ident[EI_VERSION] = 0;
	refuses_bytes(&b, sizeof(b), "x: error: invalid ELF header: unknown version\n",
		      "no version");
	b = h;
	b.e_shoff = 64;
	b.e_shnum = 1;
	refuses_bytes(&b, sizeof(b),
		      "x: error: the file is truncated: its section headers are at 0x40, it has "
		      "0x40 bytes\n",
		      "section headers past the end");
	b.e_shoff = UINT64_MAX - 8;
	refuses_bytes(&b, sizeof(b),
		      "x: error: the file is truncated: its section headers are at "
		      "0xfffffffffffffff7, it has 0x40 bytes\n",
		      "section headers whose end overflows");
	b.e_shoff = 0;
	b.e_phoff = 32;
	b.e_phnum = 9;
	refuses_bytes(&b, sizeof(b),
		      "x: error: the file is truncated: its program headers are at 0x20, it has "
		      "0x40 bytes\n",
		      "program headers past the end");
	b.e_phentsize = 0;
	refuses_bytes(&b, sizeof(b),
		      "x: error: invalid ELF header: program headers of 0 bytes, not 56\n",
		      "program headers of no size");

	struct {
		Elf64_Ehdr h;
		Elf64_Shdr first;
	} many = {h, {.sh_size = UINT64_MAX}};
	many.h.e_shoff = sizeof(h);
	refuses_bytes(&many, sizeof(many),
		      "x: error: invalid ELF header: 18446744073709551615 section headers\n",
		      "a number of sections that no file can hold");
}

static bool sh(const char *dir, const char *command)
{
	char line[1000];
	snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", dir, command);
	return system(line) == 0;
}

/** @file has the static function of the program below at the address that the unstripped one gives. */
static void has_function(const char *dir, const char *file, const char *claim)
{
	struct img *full, *img;
	uint64_t want = 0, got = 1;
	char path[100];
	listen();
	snprintf(path, sizeof(path), "%s/full", dir);
	if (img_open(&arena, &diag, path, STR("full"), &full)) {
		img_find_function(full, STR("hidden"), &want);
		img_close(full);
	}
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (img_open(&arena, &diag, path, STR("x"), &img)) {
		ok(want && img_find_function(img, STR("hidden"), &got) && got == want, "%s", claim);
		img_close(img);
	}
	is_num(diag.n_errors, 0, claim);
}

/** Functions that only a separate symbol table knows. */
static void stripped_symbols(void)
{
	char dir[] = "/tmp/btgen-img-sym.XXXXXX";
	if (!mkdtemp(dir))
		return;
	bool built =
	    sh(dir, "echo 'static __attribute__((noinline)) int hidden(int x) { return x + 1; }"
		    "int main(int c, char **v) { (void)v; return hidden(c); }' >a.c && "
		    "${CC:-gcc} -O1 -g -o full a.c && objcopy --only-keep-debug full full.debug && "
		    "objcopy --strip-all --add-gnu-debuglink=full.debug full linked && "
		    "objcopy --strip-all full bare");
	if (!built) {
		printf("ok %d - stripped programs # SKIP no compiler or objcopy here\n", ++tap_n);
	} else {
		has_function(dir, "full", "a static function in .symtab");
		has_function(dir, "linked", "a static function that only the debug file knows");
		struct img *img;
		uint64_t addr;
		char path[100];
		listen();
		snprintf(path, sizeof(path), "%s/bare", dir);
		if (img_open(&arena, &diag, path, STR("bare"), &img)) {
			ok(!img_find_function(img, STR("hidden"), &addr),
			   "a static function that nothing knows is not found");
			img_close(img);
		}
		if (sh(dir, "objcopy --strip-debug full mini && xz -k mini && "
			    "objcopy --add-section .gnu_debugdata=mini.xz bare fedora"))
			has_function(dir, "fedora", "a static function in .gnu_debugdata");
		else
			printf("ok %d - .gnu_debugdata # SKIP no xz here\n", ++tap_n);
	}
	sh(dir, "rm -f a.c full full.debug linked bare mini mini.xz fedora");
	rmdir(dir);
}

int main(void)
{
	own_program();
	not_elf();
	broken_headers();
	stripped_symbols();
	listen();
	fclose(diag.out);
	free(said);
	arena_fini(&arena);
	return done();
}
