#include "dwarf/dwslim.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/deflate.h"
#include "base/file.h"

static const char *const wanted[] = {".debug_info",	".debug_abbrev",      ".debug_str",
				     ".debug_line_str", ".debug_str_offsets", NULL};
static const char *const unwanted[] = {".gnu_debugaltlink", ".debug_types", ".debug_addr",
				       ".debug_info.dwo", NULL};
enum {
	N_WANTED = 5,
	MAX_PLAIN = 1 << 30,
	HOST_DATA = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB
};

/** The sections to take; false when there is nothing to gain, or the file is of another kind. */
static bool choose(struct img *file, struct img_section *ret, size_t *ret_n)
{
	struct img_section s;
	bool compressed = false;
	*ret_n = 0;
	if (file->type == ET_REL || !file->is64 || file->big != (HOST_DATA == ELFDATA2MSB))
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

/** The contents of @s, decompressed, into the @n bytes at @to. */
static bool fill(const struct img *file, const struct img_section *s, uint8_t *to, uint64_t n)
{
	if (!(s->flags & SHF_COMPRESSED))
		return file_read_at(file->fd, to, n, s->off);
	size_t in = s->size - sizeof(Elf64_Chdr);
	uint8_t *packed = malloc(in + 1);
	if (!packed)
		base_oom();
	bool good = file_read_at(file->fd, packed, in, s->off + sizeof(Elf64_Chdr)) &&
		    deflate_unpack(packed, in, to, n);
	free(packed);
	return good;
}

/** Of an image with @n sections, before the first and the last one (gABI chapter 4). */
static void put_header(const struct img *file, size_t n, Elf64_Ehdr *header)
{
	*header = (Elf64_Ehdr){
	    .e_ident = {[EI_CLASS] = ELFCLASS64, [EI_DATA] = HOST_DATA, [EI_VERSION] = EV_CURRENT},
	    .e_type = (Elf64_Half)file->type,
	    .e_machine = (Elf64_Half)file->machine,
	    .e_version = EV_CURRENT,
	    .e_shoff = sizeof(*header),
	    .e_ehsize = sizeof(*header),
	    .e_shentsize = sizeof(Elf64_Shdr),
	    .e_shnum = (Elf64_Half)(n + 2),
	    .e_shstrndx = (Elf64_Half)(n + 1)};
	memcpy(header->e_ident, ELFMAG, SELFMAG);
}

/**
 * An ELF image of the @n sections and of their names, malloc'ed; NULL when one of them cannot be had.
 */
static char *build(struct img *file, const struct img_section *sections, size_t n, size_t *ret)
{
	static const char names_name[] = ".shstrtab";
	uint64_t sizes[N_WANTED];
	size_t off = sizeof(Elf64_Ehdr) + (n + 2) * sizeof(Elf64_Shdr), name = 1;
	size_t n_names = 1 + sizeof(names_name);
	*ret = off + n_names;
	for (size_t i = 0; i < n; i++) {
		if (!img_inflated_size(file, &sections[i], &sizes[i]) || sizes[i] >= MAX_PLAIN)
			return NULL;
		n_names += sections[i].name.n + 1;
		*ret += sizes[i] + sections[i].name.n + 1;
	}
	char *image = calloc(1, *ret);
	if (!image)
		base_oom();
	char *names = image + *ret - n_names;
	Elf64_Ehdr *header = (void *)image;
	Elf64_Shdr *section = (void *)(header + 1);
	put_header(file, n, header);
	for (size_t i = 0; i < n; i++) {
		const struct img_section *s = &sections[i];
		*++section = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
					  .sh_type = SHT_PROGBITS,
					  .sh_offset = off,
					  .sh_size = sizes[i],
					  .sh_addralign = 1};
		if (!fill(file, s, (uint8_t *)image + off, sizes[i])) {
			free(image);
			return NULL;
		}
		memcpy(names + name, s->name.p, s->name.n);
		off += sizes[i];
		name += s->name.n + 1;
	}
	*++section = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
				  .sh_type = SHT_STRTAB,
				  .sh_offset = off,
				  .sh_size = n_names,
				  .sh_addralign = 1};
	memcpy(names + name, names_name, sizeof(names_name));
	return image;
}

Dwarf *dwslim_open(struct img *file, Elf **ret)
{
	struct img_section sections[N_WANTED];
	size_t n, size;
	char *image = choose(file, sections, &n) ? build(file, sections, n, &size) : NULL;
	Elf *elf = image ? elf_memory(image, size) : NULL;
	Dwarf *dbg = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (!dbg) {
		elf_end(elf);
		free(image);
	}
	*ret = dbg ? elf : NULL;
	return dbg;
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
