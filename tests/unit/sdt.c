/** Reads USDT notes from files made here: every class and byte order, prelink, doubts, and each kind of damage. */
#include <stdio.h>

#include "elfmake.h"
#include "usdt/sdt.h"
#include "tap.h"

static struct arena arena;
static struct diag diag;
static char *said;
static size_t said_n;

/** Reads the file of @e; *@list stays valid. False when nothing was read. */
static bool read_file(struct elfmake *e, struct sdt_list *list)
{
	if (diag.out)
		fclose(diag.out);
	free(said);
	said = NULL;
	diag_init(&diag, open_memstream(&said, &said_n));
	*list = (struct sdt_list){0};
	int fd = elfmake_open(e);
	struct img *img;
	bool good = img_open(&arena, &diag, e->path, STR("x"), &img);
	if (good) {
		good = sdt_read(img, list);
		img_close(img);
	}
	fflush(diag.out);
	elfmake_fini(e, fd);
	return good;
}

/** The list as text: "p:n pc[+sema] args; ..." with a ? for each doubt. */
static struct str show(const struct sdt_list *list)
{
	struct strbuf b = {0};
	for (size_t i = 0; i < list->n_probes; i++) {
		const struct sdt_probe *p = &list->probes[i];
		strbuf_addf(&b, "%s" STR_FMT ":" STR_FMT, i ? "; " : "", STR_ARG(p->provider),
			    STR_ARG(p->name));
		for (size_t k = 0; k < p->n_sites; k++) {
			const struct sdt_site *s = &p->sites[k];
			strbuf_addf(&b, " 0x%llx%s", (unsigned long long)s->pc,
				    sdt_doubt_text(s->doubt) ? "?" : "");
			if (s->semaphore)
				strbuf_addf(&b, "+0x%llx", (unsigned long long)s->semaphore);
			strbuf_addf(&b, " [" STR_FMT "]", STR_ARG(s->args));
		}
	}
	return strbuf_take(&b, &arena);
}

/** Reads @e and compares the list and what was said; @want_said "" for nothing. */
static void reads(struct elfmake *e, const char *want, const char *want_said, const char *claim)
{
	struct sdt_list list;
	read_file(e, &list);
	is_str(show(&list), str_from(want), claim);
	is_str((struct str){said, said_n}, str_from(want_said), claim);
}

static void every_kind_of_file(void)
{
	static const struct {
		bool is64, big;
		unsigned machine;
		const char *claim;
	} kinds[] = {
	    {true, false, EM_X86_64, "64 bit, little-endian, x86-64"},
	    {false, false, EM_386, "32 bit, little-endian, i386"},
	    {true, false, EM_AARCH64, "64 bit, little-endian, aarch64"},
	    {true, true, EM_AARCH64, "64 bit, big-endian, aarch64"},
	    {true, true, EM_S390, "64 bit, big-endian, s390x"},
	    {false, true, EM_PPC, "32 bit, big-endian, PowerPC"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct elfmake e = elfmake_default();
		e.is64 = kinds[i].is64;
		e.big = kinds[i].big;
		e.machine = kinds[i].machine;
		if (e.machine == EM_AARCH64) {
			strbuf_clear(&e.text);
			for (int k = 0; k < 16; k++)
				strbuf_add(&e.text, "\x1f\x20\x03\xd5", 4);
		}
		elfmake_note(&e, &e.notes, 0x1004, 0x3000, 0, "spdk", "start", "-4@$5 8@%rax");
		elfmake_note(&e, &e.notes, 0x1008, 0x3000, 0x4002, "spdk", "stop", "");
		elfmake_note(&e, &e.notes, 0x100c, 0x3000, 0, "spdk", "start", "-4@$6 8@%rbx");
		reads(&e,
		      "spdk:start 0x1004 [-4@$5 8@%rax] 0x100c [-4@$6 8@%rbx]; "
		      "spdk:stop 0x1008+0x4002 []",
		      "", kinds[i].claim);
	}
}

static void where_things_are(void)
{
	struct elfmake e = elfmake_default();
	struct sdt_list list;
	elfmake_note(&e, &e.notes, 0x1004, 0x3000, 0, "p", "n", "");
	elfmake_note(&e, &e.notes, 0x1008, 0x3000, 0, "p", "m", "");
	size_t second = e.notes.n / 2;
	read_file(&e, &list);
	ok(list.n_probes == 2 && list.n_sites == 2, "two probes, two sites");
	// The text is the first thing after the headers of 64 and 56 bytes.
	ok(list.n_probes == 2 && list.probes[1].sites[0].off == 64 + 56 + 8,
	   "a site has its offset in the file");
	ok(list.n_probes == 2 && list.probes[1].sites[0].note == second,
	   "and the offset of its note in the section");

	e = elfmake_default();
	e.base_addr = 0x3000;
	elfmake_note(&e, &e.notes, 0x41001004, 0x41003000, 0x41004002, "p", "n", "");
	reads(&e, "p:n 0x1004+0x4002 []", "", "addresses and semaphore move down with the base");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x4, 0x2000, 0x3002, "p", "n", "");
	elfmake_note(&e, &e.notes, 0x4, 0x2000, 0, "p", "n", "");
	reads(&e, "p:n 0x1004+0x4002 [] 0x1004 []", "",
	      "they move up; a semaphore that is not there does not move");

	e = elfmake_default();
	e.is64 = false;
	e.machine = EM_386;
	elfmake_note(&e, &e.notes, 0xfffff004, 0x1000, 0, "p", "n", "");
	reads(&e, "p:n 0x1004 []", "", "a 32-bit address wraps at 32 bits");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1004, 0x3000, 0, "p", "n", "1");
	elfmake_note(&e, &e.notes2, 0x1008, 0x3000, 0, "p", "n", "2");
	elfmake_note(&e, &e.notes2, 0x100c, 0x3000, 0, "q", "n", "");
	reads(&e, "p:n 0x1004 [1] 0x1008 [2]; q:n 0x100c []", "",
	      "two sections of that name are read as one");

	e = elfmake_default();
	elfmake_raw_note(&e, &e.notes, 4, 20, NT_GNU_BUILD_ID, "GNU",
			 (struct str){"01234567890123456789", 20});
	elfmake_raw_note(&e, &e.notes, 8, 4, 4, "stapsdt", STR("abcd"));
	elfmake_note(&e, &e.notes, 0x1004, 0x3000, 0, "p", "n", "");
	reads(&e, "p:n 0x1004 []", "", "other notes in the section are none of our business");

	e = elfmake_default();
	reads(&e, "", "", "an empty section has no probes");
	e = elfmake_default();
	e.note_name = ".note.other";
	elfmake_note(&e, &e.notes, 0x1004, 0x3000, 0, "p", "n", "");
	reads(&e, "", "", "a file without the section has no probes");
	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1004, 0x3000, 0, "a\001\"b", "c\n\xff", "");
	reads(&e, "a\001\"b:c\n\xff 0x1004 []", "", "names are kept byte by byte");
}

static void is_a_nop(const char *code, size_t n, const char *claim)
{
	struct elfmake e = elfmake_default();
	strbuf_clear(&e.text);
	strbuf_add(&e.text, code, n);
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	reads(&e, "p:n 0x1000 []", "", claim);
}

static void is_no_nop(unsigned machine, const char *code, size_t n, const char *claim)
{
	struct elfmake e = elfmake_default();
	e.machine = machine;
	strbuf_clear(&e.text);
	strbuf_add(&e.text, code, n);
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	reads(&e, "p:n 0x1000? []",
	      "x:.note.stapsdt+0x0: warning: the site at 0x1000 is not a nop: tracing it can crash "
	      "the program\n",
	      claim);
}

static void doubts(void)
{
	is_a_nop("\x90", 1, "the one-byte nop");
	is_a_nop("\x66\x90", 2, "the two-byte nop");
	is_a_nop("\x0f\x1f\x44\x00\x00", 5, "the five-byte nop");
	is_a_nop("\x66\x0f\x1f\x44\x00\x00", 6, "the six-byte nop");
	is_a_nop("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, "the ten-byte nop");
	is_no_nop(EM_X86_64, "\xcc\x90", 2, "int3 is not a nop");
	is_no_nop(EM_X86_64, "\x0f", 1, "half an instruction at the end of the code is not a nop");
	is_no_nop(EM_X86_64, "\xf3\x90", 2, "pause is not a nop");
	is_no_nop(EM_386, "\x55\x90", 2, "push is not a nop on i386");
	is_no_nop(EM_AARCH64, "\xd5\x03\x20\x1f", 4, "aarch64 code is little-endian");
	is_no_nop(EM_AARCH64, "\x1f\x20\x03", 3, "a nop of three bytes is none on aarch64");

	struct elfmake e = elfmake_default();
	strbuf_clear(&e.text);
	strbuf_adds(&e.text, STR("UUUU"));
	for (int i = 0; i < 3; i++)
		elfmake_note(&e, &e.notes, 0x1001 + (unsigned)i, 0x3000, 0, "p", "n", "");
	reads(&e, "p:n 0x1001? [] 0x1002? [] 0x1003? []",
	      "x:.note.stapsdt+0x0: warning: the site at 0x1001 (and 2 more) is not a nop: tracing "
	      "it can crash the program\n",
	      "several doubtful sites are one warning");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	elfmake_note(&e, &e.notes, 0x9000, 0x3000, 0, "p", "n", "");
	reads(
	    &e, "p:n 0x1000 [] 0x9000? []",
	    "x:.note.stapsdt+0x34: warning: the site at 0x9000 has no code: it cannot be traced\n",
	    "a site outside the code");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	elfmake_note(&e, &e.notes, 0, 0x2000, 0, "p", "dropped", "");
	reads(
	    &e, "p:n 0x1000 []; p:dropped 0x1000? []",
	    "x:.note.stapsdt+0x34: warning: the site at 0x1000 has no code: it cannot be traced\n",
	    "address 0 is code that the linker dropped");

	e = elfmake_default();
	e.text_is_nobits = true;
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	reads(&e, "p:n 0x1000? []",
	      "x: warning: no code at any site: is it a separate debug file? Trace the program "
	      "itself\n",
	      "a debug file has the notes and no code");

	e = elfmake_default();
	e.type = ET_REL;
	e.base_addr = 0;
	elfmake_note(&e, &e.notes, 0, 0, 0, "p", "n", "8@%rax");
	reads(&e, "p:n 0x0? [8@%rax]",
	      "x: warning: an object file: its probes have no addresses until it is linked\n",
	      "an object file");

	e = elfmake_default();
	e.has_base = false;
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	reads(&e, "p:n 0x1000 []",
	      "x: warning: no section .stapsdt.base (did the linker drop it?): addresses of probes "
	      "are taken as recorded\n",
	      "no .stapsdt.base: nothing is moved, and that is said");

	e = elfmake_default();
	e.has_base = false;
	elfmake_note(&e, &e.notes, 0x1000, 0, 0, "p", "n", "");
	reads(&e, "p:n 0x1000 []", "", "no .stapsdt.base, and no note that was written with one");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0, 0x4002, "p", "n", "");
	reads(&e, "p:n 0x1000?+0x4002 []",
	      "x:.note.stapsdt+0x0: warning: the site at 0x1000 has lost its base address (linked "
	      "without .stapsdt.base?): tracers will put their breakpoint elsewhere and can crash "
	      "the program\n",
	      "a note whose base is 0 does not move, and that is said");
}

/** A good note, the damaged one, a good note: the good ones are read, the damage is one error. */
static void damage(const char *name_of_desc, uint32_t namesz, uint32_t descsz, size_t desc_n,
		   const char *desc, bool last_is_read, const char *message, const char *claim)
{
	struct elfmake e = elfmake_default();
	struct sdt_list list;
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "first", "");
	elfmake_raw_note(&e, &e.notes, namesz, descsz, 3, name_of_desc, (struct str){desc, desc_n});
	elfmake_note(&e, &e.notes, 0x1001, 0x3000, 0, "p", "last", "");
	read_file(&e, &list);
	is_str(show(&list),
	       last_is_read ? STR("p:first 0x1000 []; p:last 0x1001 []") : STR("p:first 0x1000 []"),
	       claim);
	is_str((struct str){said, said_n}, str_from(message), claim);
	ok(list.n_broken == 1 && diag.n_errors == 1, "%s: one broken note, one error", claim);
}

#define ADDRESSES "\0\x10\0\0\0\0\0\0\0\x30\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static void broken_notes(void)
{
	damage("stapsdt", 8, 20, 20, ADDRESSES, true,
	       "x:.note.stapsdt+0x38: error: the note is too short for its three addresses\n",
	       "a short note");
	damage("stapsdt", 8, 0, 0, "", true,
	       "x:.note.stapsdt+0x38: error: the note is too short for its three addresses\n",
	       "an empty note");
	damage("stapsdt", 8, 24, 24, ADDRESSES, true,
	       "x:.note.stapsdt+0x38: error: a string in the note is not terminated\n",
	       "no strings");
	damage("stapsdt", 8, 32, 32, ADDRESSES "provider", true,
	       "x:.note.stapsdt+0x38: error: a string in the note is not terminated\n",
	       "a provider without end");
	damage("stapsdt", 8, 28, 28, ADDRESSES "p\0na", true,
	       "x:.note.stapsdt+0x38: error: a string in the note is not terminated\n",
	       "a name without end");
	damage("stapsdt", 8, 32, 32, ADDRESSES "p\0n\0 8@%", true,
	       "x:.note.stapsdt+0x38: error: a string in the note is not terminated\n",
	       "arguments without end");
	damage("stapsdt", 8, 28, 28, ADDRESSES "\0n\0", true,
	       "x:.note.stapsdt+0x38: error: the probe has no provider\n", "an empty provider");
	damage("stapsdt", 8, 28, 28, ADDRESSES "p\0\0", true,
	       "x:.note.stapsdt+0x38: error: the probe has no name\n", "an empty name");
	damage("stapsdt", 8, 4096, 28, ADDRESSES "p\0n", false,
	       "x:.note.stapsdt+0x38: error: the note runs past the end of the section\n",
	       "a note longer than the section");
	damage("stapsdt", 8, UINT32_MAX, 28, ADDRESSES "p\0n", false,
	       "x:.note.stapsdt+0x38: error: the note runs past the end of the section\n",
	       "a size that overflows when it is rounded up");
	damage("stapsdt", UINT32_MAX, 28, 28, ADDRESSES "p\0n", false,
	       "x:.note.stapsdt+0x38: error: the note runs past the end of the section\n",
	       "an owner's name longer than the section");

	struct elfmake e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	strbuf_add(&e.notes, "\x08\0\0\0\x10\0\0", 7);
	reads(&e, "p:n 0x1000 []",
	      "x:.note.stapsdt+0x34: error: the section ends inside the header of a note\n",
	      "half a header at the end");

	e = elfmake_default();
	char *long_args = arena_alloc(&arena, 70000);
	memset(long_args, '8', 69999);
	long_args[69999] = '\0';
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", long_args);
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "m", "");
	reads(&e, "p:m 0x1000 []",
	      "x:.note.stapsdt+0x0: error: the strings of the note are too long\n",
	      "70000 bytes of arguments");

	struct sdt_list list;
	e = elfmake_default();
	for (int i = 0; i < 3000; i++)
		elfmake_raw_note(&e, &e.notes, 8, 0, 3, "stapsdt", STR(""));
	read_file(&e, &list);
	ok(list.n_broken == 1001 && diag.n_errors == 1001,
	   "after 1000 broken notes the rest is not read");
	e = elfmake_default();
	for (int i = 0; i < 140000; i++)
		elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	read_file(&e, &list);
	ok(list.n_sites == 1 << 17 && list.n_broken == 1 && diag.n_errors == 1,
	   "after 131072 notes the rest is not read");
}

static void broken_sections(void)
{
	struct elfmake e = elfmake_default();
	struct sdt_list list;
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	e.note_size = 0x100000;
	ok(!read_file(&e, &list), "a section longer than the file: nothing is read");
	is_str((struct str){said, said_n},
	       STR("x:.note.stapsdt+0x0: error: the section (0x100000 bytes at 0xb8) runs past the "
		   "end of the file\n"),
	       "and that is said");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	e.note_offset = UINT64_MAX - 8;
	reads(
	    &e, "",
	    "x:.note.stapsdt+0x0: error: the section (0x34 bytes at 0xfffffffffffffff7) runs past "
	    "the end of the file\n",
	    "a section whose end overflows");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	elfmake_note(&e, &e.notes2, 0x1001, 0x3000, 0, "p", "m", "");
	e.note_size = UINT64_MAX;
	reads(
	    &e, "p:m 0x1001 []",
	    "x:.note.stapsdt+0x0: error: the section (0xffffffffffffffff bytes at 0xb8) runs past "
	    "the end of the file\n",
	    "of two sections the good one is read");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	e.note_type = SHT_NOBITS;
	reads(&e, "", "", "a section without contents has no probes");

	e = elfmake_default();
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "p", "n", "");
	e.shstrndx = 77;
	reads(&e, "", "x: error: invalid ELF header: no section holds the section names\n",
	      "section names in a section that does not exist");
}

/** A compressed section: header of its class, then zlib. */
static void compressed(bool is64, bool big, uint32_t type, uint64_t claimed, bool cut,
		       const char *want, const char *want_said, const char *claim)
{
	struct elfmake e = elfmake_default();
	struct strbuf notes = {0};
	e.is64 = is64;
	e.big = big;
	e.machine = is64 ? EM_X86_64 : EM_386;
	elfmake_note(&e, &notes, 0x1000, 0x3000, 0, "p", "n", "8@%rax");
	e.note_flags = SHF_COMPRESSED;
	elfmake_int(&e, &e.notes, type, 4);
	if (is64)
		elfmake_int(&e, &e.notes, 0, 4);
	elfmake_word(&e, &e.notes, claimed ? claimed : notes.n);
	elfmake_word(&e, &e.notes, 4);
	if (!cut)
		elfmake_zlib(&e.notes, strbuf_str(&notes));
	strbuf_fini(&notes);
	reads(&e, want, want_said, claim);
}

static void compressed_sections(void)
{
	compressed(true, false, ELFCOMPRESS_ZLIB, 0, false, "p:n 0x1000 [8@%rax]", "",
		   "compressed, 64 bit");
	compressed(false, false, ELFCOMPRESS_ZLIB, 0, false, "p:n 0x1000 [8@%rax]", "",
		   "compressed, 32 bit");
	compressed(true, true, ELFCOMPRESS_ZLIB, 0, false, "p:n 0x1000 [8@%rax]", "",
		   "compressed, big-endian");
	compressed(true, false, 77, 0, false, "",
		   "x:.note.stapsdt+0x0: error: the section has an unknown compression type (77)\n",
		   "compressed in a way of its own");
	compressed(true, false, ELFCOMPRESS_ZLIB, UINT64_MAX, false, "",
		   "x:.note.stapsdt+0x0: error: the compressed section claims 18446744073709551615 "
		   "bytes, too many for its size of 91\n",
		   "a claim that no zlib stream can keep");
	compressed(true, false, ELFCOMPRESS_ZLIB, 0, true, "",
		   "x:.note.stapsdt+0x0: error: the section cannot be decompressed: cannot "
		   "decompress data\n",
		   "a header without a stream");
}

static void finding(void)
{
	struct elfmake e = elfmake_default();
	struct sdt_list list;
	elfmake_note(&e, &e.notes, 0x1000, 0x3000, 0, "spdk", "nvmf_start", "");
	elfmake_note(&e, &e.notes, 0x1001, 0x3000, 0, "spdk", "nvmf_stop", "");
	elfmake_note(&e, &e.notes, 0x1002, 0x3000, 0, "libc", "setjmp", "");
	elfmake_note(&e, &e.notes, 0x1003, 0x3000, 0, "rtld", "setjmp", "");
	elfmake_note(&e, &e.notes, 0x1004, 0x3000, 0, "odd", "a*b", "");
	read_file(&e, &list);

	static const struct {
		struct str provider, name;
		size_t n;
	} queries[] = {
	    {STR("spdk"), STR("nvmf_start"), 1},
	    {STR(""), STR("setjmp"), 2},
	    {STR("libc"), STR("setjmp"), 1},
	    {STR("*"), STR("nvmf_*"), 2},
	    {STR("s?dk"), STR("*"), 2},
	    {STR("spdk"), STR("setjmp"), 0},
	    {STR(""), STR("a*b"), 1},
	    {STR(""), STR("setjm"), 0},
	};
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		size_t n = 0;
		for (struct sdt_probe *p = NULL;
		     (p = sdt_find(&list, queries[i].provider, queries[i].name, p));)
			n++;
		ok(n == queries[i].n, "\"" STR_FMT "\":" STR_FMT " matches %zu",
		   STR_ARG(queries[i].provider), STR_ARG(queries[i].name), queries[i].n);
	}

	static const struct {
		struct str provider, name;
		const char *want;
	} mistakes[] = {
	    {STR(""), STR("nvmf_strat"), "spdk:nvmf_start"},
	    {STR("spkd"), STR("nvmf_stop"), "spdk:nvmf_stop"},
	    {STR("rtl"), STR("setjmp"), "rtld:setjmp"},
	    {STR("postgresql"), STR("nvmf_stop"), "spdk:nvmf_stop"},
	    {STR(""), STR("something_else"), ""},
	};
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		unsigned best = UINT32_MAX;
		const struct sdt_probe *p = NULL;
		bool found =
		    sdt_find_nearest(&list, mistakes[i].provider, mistakes[i].name, &best, &p);
		char *got = found ? arena_printf(&arena, STR_FMT ":" STR_FMT, STR_ARG(p->provider),
						 STR_ARG(p->name))
				  : arena_strdup(&arena, "");
		is_str(str_from(got), str_from(mistakes[i].want),
		       arena_printf(&arena, STR_FMT ":" STR_FMT " is near \"%s\"",
				    STR_ARG(mistakes[i].provider), STR_ARG(mistakes[i].name),
				    mistakes[i].want));
	}
}

int main(void)
{
	every_kind_of_file();
	where_things_are();
	doubts();
	broken_notes();
	broken_sections();
	compressed_sections();
	finding();
	if (diag.out)
		fclose(diag.out);
	free(said);
	arena_fini(&arena);
	return done();
}
