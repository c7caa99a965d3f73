/**
 * elfmake - writes small ELF files with USDT notes, for tests: both classes, both byte orders, and damage on purpose.
 *
 *	struct elfmake e = elfmake_default();
 *	elfmake_note(&e, &e.notes, text_addr, e.base_addr, 0, "p", "n", "8@%rax");
 *	int fd = elfmake_open(&e);	// a memfd; e.path leads to it
 */
#ifndef ELFMAKE_H
#define ELFMAKE_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"

enum { ELFMAKE_TEXT_ADDR = 0x1000, ELFMAKE_BASE_ADDR = 0x3000 };

struct elfmake {
	bool is64, big;
	unsigned machine, type;
	struct strbuf text;   /**< code at ELFMAKE_TEXT_ADDR */
	struct strbuf notes;  /**< first .note.stapsdt */
	struct strbuf notes2; /**< a second section of that name; none when empty */
	bool has_base, text_is_nobits;
	uint64_t base_addr;	     /**< where .stapsdt.base is */
	unsigned note_type;	     /**< SHT_* of the first section */
	uint64_t note_flags;	     /**< SHF_* of it */
	uint64_t note_size;	     /**< sh_size when not 0, instead of the right one */
	uint64_t note_offset;	     /**< sh_offset when not 0 */
	unsigned shstrndx;	     /**< when not 0 */
	const char *note_name;	     /**< name of the section */
	char path[40];		     /**< set by elfmake_open() */
	uint64_t notes_at, shdrs_at; /**< file offsets, set by elfmake_open() */
};

static inline struct elfmake elfmake_default(void)
{
	struct elfmake e = {.is64 = true, .machine = EM_X86_64, .type = ET_DYN, .has_base = true};
	e.base_addr = ELFMAKE_BASE_ADDR;
	e.note_type = SHT_NOTE;
	e.note_name = ".note.stapsdt";
	for (int i = 0; i < 64; i++)
		strbuf_addc(&e.text, '\x90');
	return e;
}

static inline void elfmake_fini(struct elfmake *e, int fd)
{
	strbuf_fini(&e->text);
	strbuf_fini(&e->notes);
	strbuf_fini(&e->notes2);
	if (fd >= 0)
		close(fd);
}

/** An integer of @size bytes in the file's byte order. */
static inline void elfmake_int(const struct elfmake *e, struct strbuf *b, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		strbuf_addc(b, (char)(v >> 8 * (e->big ? size - 1 - i : i)));
}

static inline void elfmake_word(const struct elfmake *e, struct strbuf *b, uint64_t v)
{
	elfmake_int(e, b, v, e->is64 ? 8 : 4);
}

static inline void elfmake_align(struct strbuf *b, size_t to)
{
	while (b->n % to)
		strbuf_addc(b, '\0');
}

/** A note with any header and description. */
static inline void elfmake_raw_note(const struct elfmake *e, struct strbuf *b, uint32_t namesz,
				    uint32_t descsz, uint32_t type, const char *name,
				    struct str desc)
{
	elfmake_int(e, b, namesz, 4);
	elfmake_int(e, b, descsz, 4);
	elfmake_int(e, b, type, 4);
	strbuf_add(b, name, strlen(name) + 1);
	elfmake_align(b, 4);
	strbuf_adds(b, desc);
	elfmake_align(b, 4);
}

static inline void elfmake_note(const struct elfmake *e, struct strbuf *b, uint64_t pc,
				uint64_t base, uint64_t semaphore, const char *provider,
				const char *name, const char *args)
{
	struct strbuf desc = {0};
	elfmake_word(e, &desc, pc);
	elfmake_word(e, &desc, base);
	elfmake_word(e, &desc, semaphore);
	strbuf_add(&desc, provider, strlen(provider) + 1);
	strbuf_add(&desc, name, strlen(name) + 1);
	strbuf_add(&desc, args, strlen(args) + 1);
	elfmake_raw_note(e, b, 8, (uint32_t)desc.n, 3, "stapsdt", strbuf_str(&desc));
	strbuf_fini(&desc);
}

struct elfmake_section {
	const char *name;
	unsigned type;
	uint64_t flags, addr, off, size;
};

static inline void elfmake_shdr(const struct elfmake *e, struct strbuf *b, uint32_t name,
				const struct elfmake_section *s)
{
	elfmake_int(e, b, name, 4);
	elfmake_int(e, b, s->type, 4);
	elfmake_word(e, b, s->flags);
	elfmake_word(e, b, s->addr);
	elfmake_word(e, b, s->off);
	elfmake_word(e, b, s->size);
	elfmake_int(e, b, 0, 4);
	elfmake_int(e, b, 0, 4);
	elfmake_word(e, b, 4);
	elfmake_word(e, b, 0);
}

/** The bytes of the file. */
static inline struct strbuf elfmake_bytes(struct elfmake *e)
{
	size_t ehdr = e->is64 ? 64 : 52, phdr = e->is64 ? 56 : 32, shdr = e->is64 ? 64 : 40;
	struct strbuf body = {0}, names = {0}, table = {0}, file = {0};
	struct elfmake_section s[7] = {{.name = ""}};
	size_t n = 1, start = ehdr + phdr;

	s[n++] = (struct elfmake_section){".text",
					  e->text_is_nobits ? SHT_NOBITS : SHT_PROGBITS,
					  SHF_ALLOC | SHF_EXECINSTR,
					  ELFMAKE_TEXT_ADDR,
					  start + body.n,
					  e->text.n};
	if (!e->text_is_nobits)
		strbuf_adds(&body, strbuf_str(&e->text));
	if (e->has_base)
		s[n++] = (struct elfmake_section){".stapsdt.base", SHT_PROGBITS,   SHF_ALLOC,
						  e->base_addr,	   start + body.n, 1};
	elfmake_align(&body, 8);
	e->notes_at = start + body.n;
	s[n++] = (struct elfmake_section){e->note_name,
					  e->note_type,
					  e->note_flags,
					  0,
					  e->note_offset ? e->note_offset : e->notes_at,
					  e->note_size ? e->note_size : e->notes.n};
	strbuf_adds(&body, strbuf_str(&e->notes));
	if (e->notes2.n) {
		elfmake_align(&body, 8);
		s[n++] = (struct elfmake_section){".note.stapsdt", SHT_NOTE,   0, 0,
						  start + body.n,  e->notes2.n};
		strbuf_adds(&body, strbuf_str(&e->notes2));
	}
	size_t names_index = n++;
	s[names_index] = (struct elfmake_section){".shstrtab", SHT_STRTAB, 0, 0, start + body.n, 0};
	uint32_t name_off[7];
	for (size_t i = 0; i < n; i++) {
		name_off[i] = (uint32_t)names.n;
		strbuf_add(&names, s[i].name, strlen(s[i].name) + 1);
	}
	s[names_index].size = names.n;
	strbuf_adds(&body, strbuf_str(&names));
	elfmake_align(&body, 8);
	e->shdrs_at = start + body.n;
	for (size_t i = 0; i < n; i++)
		elfmake_shdr(e, &table, name_off[i], &s[i]);

	strbuf_add(&file, ELFMAG, SELFMAG);
	strbuf_addc(&file, e->is64 ? ELFCLASS64 : ELFCLASS32);
	strbuf_addc(&file, e->big ? ELFDATA2MSB : ELFDATA2LSB);
	strbuf_addc(&file, EV_CURRENT);
	strbuf_add(&file, "\0\0\0\0\0\0\0\0\0", 9);
	elfmake_int(e, &file, e->type, 2);
	elfmake_int(e, &file, e->machine, 2);
	elfmake_int(e, &file, EV_CURRENT, 4);
	elfmake_word(e, &file, 0);
	elfmake_word(e, &file, ehdr);
	elfmake_word(e, &file, e->shdrs_at);
	elfmake_int(e, &file, 0, 4);
	elfmake_int(e, &file, ehdr, 2);
	elfmake_int(e, &file, phdr, 2);
	elfmake_int(e, &file, 1, 2);
	elfmake_int(e, &file, shdr, 2);
	elfmake_int(e, &file, n, 2);
	elfmake_int(e, &file, e->shstrndx ? e->shstrndx : names_index, 2);

	elfmake_int(e, &file, PT_LOAD, 4);
	if (e->is64)
		elfmake_int(e, &file, PF_R | PF_X, 4);
	elfmake_word(e, &file, s[1].off);
	elfmake_word(e, &file, ELFMAKE_TEXT_ADDR);
	elfmake_word(e, &file, ELFMAKE_TEXT_ADDR);
	elfmake_word(e, &file, e->text_is_nobits ? 0 : e->text.n);
	elfmake_word(e, &file, e->text.n);
	if (!e->is64)
		elfmake_int(e, &file, PF_R | PF_X, 4);
	elfmake_word(e, &file, 0x1000);

	strbuf_adds(&file, strbuf_str(&body));
	strbuf_adds(&file, strbuf_str(&table));
	strbuf_fini(&body);
	strbuf_fini(&names);
	strbuf_fini(&table);
	return file;
}

/** The file in memory; -1 when that fails. */
static inline int elfmake_open(struct elfmake *e)
{
	struct strbuf file = elfmake_bytes(e);
	int fd = memfd_create("elfmake", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, file.p, file.n) != (ssize_t)file.n) {
		close(fd);
		fd = -1;
	}
	snprintf(e->path, sizeof(e->path), "/proc/self/fd/%d", fd);
	strbuf_fini(&file);
	return fd;
}

/** @bytes as a zlib stream of one stored block (RFC 1950, 1951): compression that needs no library. */
static inline void elfmake_zlib(struct strbuf *b, struct str bytes)
{
	uint32_t lo = 1, hi = 0;
	for (size_t i = 0; i < bytes.n; i++) {
		lo = (lo + (unsigned char)bytes.p[i]) % 65521;
		hi = (hi + lo) % 65521;
	}
	const unsigned char head[] = {0x78,
				      0x01,
				      0x01,
				      (unsigned char)bytes.n,
				      (unsigned char)(bytes.n >> 8),
				      (unsigned char)~bytes.n,
				      (unsigned char)(~bytes.n >> 8)};
	const unsigned char sum[] = {(unsigned char)(hi >> 8), (unsigned char)hi,
				     (unsigned char)(lo >> 8), (unsigned char)lo};
	strbuf_add(b, head, sizeof(head));
	strbuf_adds(b, bytes);
	strbuf_add(b, sum, sizeof(sum));
}

#endif
