#include "dwarf/dwslim.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/deflate.h"
#include "base/file.h"
#include "base/reader.h"

static const char *const wanted[] = {".debug_info",	".debug_abbrev",      ".debug_str",
				     ".debug_line_str", ".debug_str_offsets", NULL};
static const char *const unwanted[] = {".gnu_debugaltlink", ".debug_types", ".debug_addr",
				       ".debug_info.dwo", NULL};
enum { N_WANTED = 5, MAX_PLAIN = 1 << 30 };

/** The sections to take; false when there is nothing to gain, or the file is of another kind. */
static bool choose(struct img *file, struct img_section *ret, size_t *ret_n)
{
	struct img_section s;
	bool compressed = false;
	*ret_n = 0;
	if (file->type == ET_REL)
		return false;
	for (unsigned i = 1; img_next_header(file, &i, &s);) {
		if (str_is_any(s.name, unwanted))
			return false;
		if (!str_is_any(s.name, wanted) || s.type != SHT_PROGBITS)
			continue;
		if (*ret_n == N_WANTED)
			return false;
		compressed |= (s.flags & SHF_COMPRESSED) != 0;
		ret[(*ret_n)++] = s;
	}
	return compressed && *ret_n >= 2;
}

static void put(uint8_t *p, uint64_t v, unsigned size, bool big)
{
	for (unsigned i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

/** gABI chapter 4: the fields of a section header, in the order that both classes share. */
static void put_section(uint8_t *p, const struct img *file, uint32_t name, uint32_t type,
			uint64_t off, uint64_t size)
{
	unsigned w = file->is64 ? 8 : 4;
	put(p, name, 4, file->big);
	put(p + 4, type, 4, file->big);
	put(p + 8 + 2 * w, off, w, file->big);	 // after flags and address, both 0
	put(p + 8 + 3 * w, size, w, file->big);	 // then link and info
	put(p + 8 + 4 * w + 8, 1, w, file->big); // alignment
}

/**
 * Bytes of @s when it is decompressed; false for what zlib cannot, and for claims that no zlib
 * stream can keep.
 */
static bool plain_size(const struct img *file, const struct img_section *s, uint64_t *ret,
		       size_t *header)
{
	*ret = s->size;
	*header = 0;
	if (!(s->flags & SHF_COMPRESSED))
		return s->size < MAX_PLAIN;
	// gABI, "Section Compression": type, (reserved,) size, alignment.
	uint8_t head[sizeof(Elf64_Chdr)];
	*header = file->is64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	if (s->size < *header || !file_read_at(file->fd, head, *header, s->off))
		return false;
	struct reader r;
	reader_init(&r, head, *header, file->big);
	if (reader_u32(&r) != ELFCOMPRESS_ZLIB)
		return false;
	reader_skip(&r, file->is64 ? 4 : 0);
	*ret = reader_uint(&r, file->is64 ? 8 : 4);
	return *ret < MAX_PLAIN &&
	       *ret / 1040 <= s->size; // deflate does not shrink more than 1032 to 1
}

/** The contents of @s into the @n bytes at @to. */
static bool fill(const struct img *file, const struct img_section *s, uint8_t *to, uint64_t n,
		 size_t header)
{
	if (!header)
		return file_read_at(file->fd, to, n, s->off);
	size_t in = s->size - header;
	uint8_t *packed = malloc(in + 1);
	if (!packed)
		base_oom();
	bool good = file_read_at(file->fd, packed, in, s->off + header) &&
		    deflate_unpack(packed, in, to, n);
	free(packed);
	return good;
}

/**
 * An ELF image of @n empty sections and their names; malloc'ed. The contents follow each other from
 * *@ret_off on.
 */
static uint8_t *frame(const struct img *file, const struct str *names, const uint64_t *sizes,
		      size_t n, size_t *ret, size_t *ret_off)
{
	size_t header = file->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	size_t entry = file->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	size_t table = (n + 2) * entry, total = header + table, text_n = 1 + sizeof(".shstrtab");
	for (size_t i = 0; i < n; i++) {
		total += sizes[i];
		text_n += names[i].n + 1;
	}
	total += text_n;
	uint8_t *p = calloc(1, total);
	if (!p)
		base_oom();
	unsigned w = file->is64 ? 8 : 4;
	memcpy(p, ELFMAG, SELFMAG);
	p[EI_CLASS] = file->is64 ? ELFCLASS64 : ELFCLASS32;
	p[EI_DATA] = file->big ? ELFDATA2MSB : ELFDATA2LSB;
	p[EI_VERSION] = EV_CURRENT;
	put(p + 16, file->type, 2, file->big);
	put(p + 18, file->machine, 2, file->big);
	put(p + 20, EV_CURRENT, 4, file->big);
	put(p + 24 + 2 * w, header, w, file->big); // e_shoff
	uint8_t *tail = p + 24 + 3 * w + 4;
	put(tail, header, 2, file->big);     // e_ehsize
	put(tail + 6, entry, 2, file->big);  // e_shentsize
	put(tail + 8, n + 2, 2, file->big);  // e_shnum
	put(tail + 10, n + 1, 2, file->big); // e_shstrndx
	size_t off = header + table, name = 1;
	uint8_t *text = p + total - text_n;
	*ret_off = off;
	for (size_t i = 0; i < n; i++) {
		put_section(p + header + (i + 1) * entry, file, (uint32_t)name, SHT_PROGBITS, off,
			    sizes[i]);
		memcpy(text + name, names[i].p, names[i].n);
		off += sizes[i];
		name += names[i].n + 1;
	}
	memcpy(text + name, ".shstrtab", sizeof(".shstrtab"));
	put_section(p + header + (n + 1) * entry, file, (uint32_t)name, SHT_STRTAB, total - text_n,
		    text_n);
	*ret = total;
	return p;
}

/** NULL when one of the sections cannot be had. */
static char *build(const struct img *file, const struct img_section *sections, size_t n,
		   size_t *ret)
{
	uint64_t sizes[N_WANTED];
	size_t heads[N_WANTED], off;
	struct str names[N_WANTED];
	for (size_t i = 0; i < n; i++) {
		const struct img_section *s = &sections[i];
		names[i] = s->name;
		if (s->off > file->size || s->size > file->size - s->off ||
		    !plain_size(file, s, &sizes[i], &heads[i]))
			return NULL;
	}
	uint8_t *p = frame(file, names, sizes, n, ret, &off);
	for (size_t i = 0; i < n; i++) {
		if (!fill(file, &sections[i], p + off, sizes[i], heads[i])) {
			free(p);
			return NULL;
		}
		off += sizes[i];
	}
	return (char *)p;
}

/** Takes over @image. */
static Dwarf *open_image(char *image, size_t size, Elf **ret)
{
	if (elf_version(EV_CURRENT) == EV_NONE) {
		free(image);
		return NULL;
	}
	Elf *elf = elf_memory(image, size);
	Dwarf *dbg = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (!dbg) {
		elf_end(elf);
		free(image);
		return NULL;
	}
	*ret = elf;
	return dbg;
}

Dwarf *dwslim_open(struct img *file, Elf **ret)
{
	struct img_section sections[N_WANTED];
	size_t n, size;
	*ret = NULL;
	char *image = choose(file, sections, &n) ? build(file, sections, n, &size) : NULL;
	return image ? open_image(image, size, ret) : NULL;
}

void dwslim_close(Dwarf *dbg, Elf *elf)
{
	size_t size;
	char *image = elf ? elf_rawfile(elf, &size) : NULL;
	if (dbg)
		dwarf_end(dbg);
	elf_end(elf);
	free(image);
}
