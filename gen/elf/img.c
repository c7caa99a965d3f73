#include "elf/img.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/img_priv.h"
#include "elf/note.h"

// Large programs built with -ffunction-sections have some 100,000 sections before they are linked.
#define MAX_SECTIONS (1u << 20)
#define MAX_BUILD_ID 64

struct diag_place img_place(struct img *img, struct str section, uint64_t off)
{
	const char *file =
	    arena_printf(img->arena, STR_FMT ":" STR_FMT "+0x%" PRIx64, STR_ARG(img->display_path),
			 STR_ARG(str_slice(section, 0, 100)), off);
	return (struct diag_place){.file = str_from(file)};
}

uint64_t img_read_word(struct reader *r, const struct img *img)
{
	return img->is64 ? reader_u64(r) : reader_u32(r);
}

bool img_decode_section(const struct img *img, unsigned index, struct img_section *ret,
			uint32_t *name)
{
	GElf_Shdr s;
	if (!gelf_getshdr(elf_getscn(img->elf, index), &s))
		return false;
	*ret = (struct img_section){.index = index,
				    .name = STR(""),
				    .type = s.sh_type,
				    .addr = s.sh_addr,
				    .off = s.sh_offset,
				    .size = s.sh_size,
				    .flags = s.sh_flags,
				    .link = s.sh_link,
				    .data = STR("")};
	*name = s.sh_name;
	return true;
}

bool img_bad_file(struct img *img, const char *what)
{
	return diag_error(img->diag, &(struct diag_place){.file = img->display_path}, "%s", what);
}

bool img_has_bytes(const struct img *img, uint64_t off, uint64_t size)
{
	return off <= img->size && size <= img->size - off;
}

/** gABI, "ELF Header" and "ELF Identification"; elf_memory() sees no more of the file. */
static bool read_ehdr(struct img *img, GElf_Ehdr *h)
{
	char bytes[sizeof(Elf64_Ehdr)];
	size_t n = img->size < sizeof(bytes) ? (size_t)img->size : sizeof(bytes);
	if (!n)
		return img_bad_file(img, "the file is empty");
	if (!file_read_at(img->fd, bytes, n, 0))
		return img_bad_file(img, "the file cannot be read");
	if (n >= 2 && memcmp(bytes, "#!", 2) == 0)
		return img_bad_file(img,
				    "a script, not an ELF file: give the program that runs it");
	if (n < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return img_bad_file(img, "not an ELF file");

	static const char truncated[] = "the file is truncated: it ends inside its ELF header";
	if (n < EI_NIDENT)
		return img_bad_file(img, truncated);
	if (bytes[EI_CLASS] != ELFCLASS32 && bytes[EI_CLASS] != ELFCLASS64)
		return img_bad_file(img, "invalid ELF header: neither 32 nor 64 bit");
	if (bytes[EI_DATA] != ELFDATA2LSB && bytes[EI_DATA] != ELFDATA2MSB)
		return img_bad_file(img, "invalid ELF header: unknown byte order");
	img->is64 = bytes[EI_CLASS] == ELFCLASS64;
	img->big = bytes[EI_DATA] == ELFDATA2MSB;

	Elf *header = elf_memory(bytes, n);
	bool good = gelf_getehdr(header, h) != NULL;
	elf_end(header);
	img->type = h->e_type;
	img->machine = h->e_machine;
	if (!good)
		return img_bad_file(img, n < (img->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))
					     ? truncated
					     : "invalid ELF header: unknown version");
	return true;
}

/** Does the file have all @n entries of a table? @what names it in messages. */
static bool check_table(struct img *img, const char *what, uint64_t off, uint64_t n, Elf_Type type,
			unsigned claimed)
{
	struct diag_place at = {.file = img->display_path};
	size_t entry =
	    img->is64 ? elf64_fsize(type, 1, EV_CURRENT) : elf32_fsize(type, 1, EV_CURRENT);
	if (claimed != entry)
		return diag_error(img->diag, &at, "invalid ELF header: %s of %u bytes, not %zu",
				  what, claimed, entry);
	if (n > MAX_SECTIONS)
		return diag_error(img->diag, &at, "invalid ELF header: %" PRIu64 " %s", n, what);
	if (!img_has_bytes(img, off, n * entry))
		return diag_error(img->diag, &at,
				  "the file is truncated: its %s are at 0x%" PRIx64
				  ", it has 0x%" PRIx64 " bytes",
				  what, off, img->size);
	return true;
}

/**
 * The number of sections, checked. Where e_shnum is 0, section 0 has it in its sh_size: gABI, "ELF
 * Header".
 */
static bool count_sections(struct img *img, const GElf_Ehdr *h)
{
	uint8_t size[8];
	uint64_t n = h->e_shnum;
	if (!h->e_shoff)
		return true;
	if (!check_table(img, "section headers", h->e_shoff, n ? n : 1, ELF_T_SHDR, h->e_shentsize))
		return false;
	if (!n) {
		struct reader r;
		uint64_t in =
		    img->is64 ? offsetof(Elf64_Shdr, sh_size) : offsetof(Elf32_Shdr, sh_size);
		reader_init(&r, size, img->is64 ? 8 : 4, img->big);
		if (!file_read_at(img->fd, size, img->is64 ? 8 : 4, h->e_shoff + in))
			return img_bad_file(img, "the file cannot be read");
		n = img_read_word(&r, img);
	}
	img->n_sections = n <= MAX_SECTIONS ? (unsigned)n : 0;
	return check_table(img, "section headers", h->e_shoff, n, ELF_T_SHDR, h->e_shentsize);
}

/** Gives the file to libelf; its tables are read once, here. */
static bool read_tables(struct img *img, const GElf_Ehdr *h)
{
	GElf_Shdr first = {0};
	GElf_Phdr segment;
	size_t n_sections = 0, n_phdrs = 0;
	img->elf = elf_begin(img->fd, ELF_C_READ, NULL);
	if (elf_kind(img->elf) != ELF_K_ELF)
		return img_bad_file(img, "the file cannot be read");
	if (img->n_sections &&
	    (elf_getshdrnum(img->elf, &n_sections) != 0 || n_sections != img->n_sections ||
	     !gelf_getshdr(elf_getscn(img->elf, 0), &first) ||
	     elf_getshdrstrndx(img->elf, &img->names_index) != 0))
		return img_bad_file(img, "the section headers cannot be read");
	uint64_t n = h->e_phnum == PN_XNUM && img->n_sections ? first.sh_info : h->e_phnum;
	if (!h->e_phoff || !n)
		return true;
	if (!check_table(img, "program headers", h->e_phoff, n, ELF_T_PHDR, h->e_phentsize))
		return false;
	if (elf_getphdrnum(img->elf, &n_phdrs) != 0 || n_phdrs != n ||
	    !gelf_getphdr(img->elf, 0, &segment))
		return img_bad_file(img, "the program headers cannot be read");
	img->n_phdrs = (unsigned)n;
	return true;
}

/** The build-id in the notes @bytes, or false. */
static bool scan_build_id(struct img *img, struct str bytes)
{
	struct reader r;
	struct note note;
	reader_init(&r, bytes.p, bytes.n, img->big);
	while (note_next(&r, &note)) {
		if (note.type != NT_GNU_BUILD_ID || !str_eqz(note.owner, "GNU"))
			continue;
		if (note.desc.n && note.desc.n <= MAX_BUILD_ID)
			img->build_id = note.desc;
		return img->build_id.n > 0;
	}
	return false;
}

/**
 * ld --build-id leaves a note of type NT_GNU_BUILD_ID. Looks in note sections first: in a separate
 * debug file the program headers describe another file.
 */
static void find_build_id(struct img *img)
{
	for (unsigned i = 1; i < img->n_sections + img->n_phdrs; i++) {
		uint64_t off, size;
		if (i < img->n_sections) {
			struct img_section s;
			uint32_t name;
			if (!img_decode_section(img, i, &s, &name) || s.type != SHT_NOTE ||
			    !(s.flags & SHF_ALLOC))
				continue;
			off = s.off;
			size = s.size;
		} else {
			GElf_Phdr p;
			if (!gelf_getphdr(img->elf, (int)(i - img->n_sections), &p) ||
			    p.p_type != PT_NOTE)
				continue;
			off = p.p_offset;
			size = p.p_filesz;
		}
		if (!size || size > 1 << 16 || !img_has_bytes(img, off, size))
			continue;
		char *bytes = arena_alloc(img->arena, size);
		if (file_read_at(img->fd, bytes, size, off) &&
		    scan_build_id(img, (struct str){bytes, size})) {
			img->build_id_off = off + (uint64_t)(img->build_id.p - bytes);
			return;
		}
	}
}

bool img_open_fd(struct arena *a, struct diag *d, int fd, struct str path, struct str display_path,
		 struct img **ret)
{
	struct img *img = arena_new(a, struct img);
	*img = (struct img){.arena = a, .diag = d, .fd = fd, .build_id = STR("")};
	img->path = str_copy(a, path);
	img->display_path = str_copy(a, display_path);
	struct stat st;
	GElf_Ehdr h = {0};
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		img_bad_file(img, "not a regular file");
	} else {
		img->size = (uint64_t)st.st_size;
		elf_version(EV_CURRENT);
		if (read_ehdr(img, &h) && count_sections(img, &h) && read_tables(img, &h)) {
			find_build_id(img);
			*ret = img;
			return true;
		}
	}
	img_close(img);
	return false;
}

bool img_open(struct arena *a, struct diag *d, const char *path, struct str display_path,
	      struct img **ret)
{
	const char *why;
	uint64_t size;
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return diag_error(d, &(struct diag_place){.file = display_path},
				  "cannot open it: %s", why);
	return img_open_fd(a, d, fd, str_from(path), display_path, ret);
}

/** The beginning of an ELF file: its magic and its class. */
static bool read_ident(const char *path, char ret[EI_CLASS + 1])
{
	const char *why;
	uint64_t size;
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return false;
	bool is_elf = file_read_at(fd, ret, EI_CLASS + 1, 0) && memcmp(ret, ELFMAG, SELFMAG) == 0;
	close(fd);
	return is_elf;
}

bool img_is_elf(const char *path)
{
	char ident[EI_CLASS + 1];
	return read_ident(path, ident);
}

bool img_is_32bit(const char *path)
{
	char ident[EI_CLASS + 1];
	return read_ident(path, ident) && ident[EI_CLASS] == ELFCLASS32;
}

void img_close(struct img *img)
{
	if (!img)
		return;
	if (img->close_debug)
		img->close_debug(img);
	elf_end(img->elf);
	img->elf = NULL;
	if (img->fd >= 0)
		close(img->fd);
	img->fd = -1;
}

void img_set_root(struct img *img, struct str root, struct str path)
{
	img->root = str_copy(img->arena, root);
	img->root_path = str_copy(img->arena, path);
}
