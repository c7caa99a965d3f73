#include "elf/img.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/debugfile.h"
#include "elf/debuginfo.h"
#include "elf/imgpriv.h"

// Large programs built with -ffunction-sections have some 100,000 sections before they are linked.
#define MAX_SECTIONS (1u << 20)
#define MAX_BUILD_ID 64

/** The fields of an ELF header that matter here. */
struct ehdr {
	uint64_t phoff, shoff;
	unsigned phentsize, phnum, shentsize, shnum, shstrndx;
};

struct diag_place img_place(struct img *img, struct str section, uint64_t off)
{
	const char *file =
	    arena_printf(img->arena, STR_FMT ":" STR_FMT "+0x%" PRIx64, STR_ARG(img->shown),
			 STR_ARG(str_slice(section, 0, 100)), off);
	return (struct diag_place){.file = str_from(file)};
}

// The fields of all headers follow each other in the same order in both classes, but for p_flags.
uint64_t img_read_word(struct reader *r, const struct img *img)
{
	return img->is64 ? reader_u64(r) : reader_u32(r);
}

bool img_decode_section(const struct img *img, unsigned index, struct img_section *ret,
			uint32_t *name)
{
	size_t entry = img->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct str bytes = str_slice(img->shdrs, index * entry, entry);
	struct reader r;
	reader_init(&r, bytes.p, bytes.n, img->big);
	*name = reader_u32(&r);
	*ret = (struct img_section){.index = index, .name = STR(""), .data = STR("")};
	ret->type = reader_u32(&r);
	ret->flags = img_read_word(&r, img);
	ret->addr = img_read_word(&r, img);
	ret->off = img_read_word(&r, img);
	ret->size = img_read_word(&r, img);
	ret->link = reader_u32(&r);
	return !r.err;
}

struct phdr img_decode_phdr(const struct img *img, unsigned index)
{
	size_t entry = img->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	struct str bytes = str_slice(img->phdrs, index * entry, entry);
	struct reader r;
	struct phdr p = {0};
	reader_init(&r, bytes.p, bytes.n, img->big);
	p.type = reader_u32(&r);
	if (img->is64)
		p.flags = reader_u32(&r);
	p.off = img_read_word(&r, img);
	p.vaddr = img_read_word(&r, img);
	img_read_word(&r, img); // physical address
	p.filesz = img_read_word(&r, img);
	img_read_word(&r, img); // size in memory
	if (!img->is64)
		p.flags = reader_u32(&r);
	if (r.err)
		memset(&p, 0, sizeof(p));
	return p;
}

bool img_bad_file(struct img *img, const char *what)
{
	return diag_error(img->diag, &(struct diag_place){.file = img->shown}, "%s", what);
}

bool img_has_bytes(const struct img *img, uint64_t off, uint64_t size)
{
	return off <= img->size && size <= img->size - off;
}

static bool read_ehdr(struct img *img, struct ehdr *h)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
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
	if (n < EI_NIDENT)
		return img_bad_file(img, "the file is truncated: it ends inside its ELF header");

	unsigned file_class = bytes[EI_CLASS], order = bytes[EI_DATA];
	if (file_class != ELFCLASS32 && file_class != ELFCLASS64)
		return img_bad_file(img, "the ELF header is broken: neither 32 nor 64 bit");
	if (order != ELFDATA2LSB && order != ELFDATA2MSB)
		return img_bad_file(img, "the ELF header is broken: unknown byte order");
	img->is64 = file_class == ELFCLASS64;
	img->big = order == ELFDATA2MSB;

	struct reader r;
	reader_init(&r, bytes, n, img->big);
	reader_skip(&r, EI_NIDENT);
	img->type = reader_u16(&r);
	img->machine = reader_u16(&r);
	reader_u32(&r);		// version
	img_read_word(&r, img); // entry
	h->phoff = img_read_word(&r, img);
	h->shoff = img_read_word(&r, img);
	reader_u32(&r); // flags
	reader_u16(&r); // size of this header
	h->phentsize = reader_u16(&r);
	h->phnum = reader_u16(&r);
	h->shentsize = reader_u16(&r);
	h->shnum = reader_u16(&r);
	h->shstrndx = reader_u16(&r);
	if (r.err)
		return img_bad_file(img, "the file is truncated: it ends inside its ELF header");
	return true;
}

/** Reads a table of @n entries; @what names it in messages. */
static bool read_table(struct img *img, const char *what, uint64_t off, uint64_t n, size_t entry,
		       unsigned claimed, struct str *ret)
{
	if (claimed != entry)
		return diag_error(img->diag, &(struct diag_place){.file = img->shown},
				  "the ELF header is broken: %s of %u bytes, not %zu", what,
				  claimed, entry);
	if (n > MAX_SECTIONS)
		return diag_error(img->diag, &(struct diag_place){.file = img->shown},
				  "the ELF header is broken: %" PRIu64 " %s", n, what);
	uint64_t size = n * entry;
	if (!img_has_bytes(img, off, size))
		return diag_error(img->diag, &(struct diag_place){.file = img->shown},
				  "the file is truncated: its %s are at 0x%" PRIx64
				  ", it has 0x%" PRIx64 " bytes",
				  what, off, img->size);
	char *bytes = arena_alloc(img->arena, size + 1);
	if (!file_read_at(img->fd, bytes, size, off))
		return img_bad_file(img, "the file cannot be read");
	*ret = (struct str){bytes, size};
	return true;
}

/** Both header tables, with gABI's escapes for counts that do not fit into 16 bits. */
static bool read_tables(struct img *img, const struct ehdr *h)
{
	size_t shdr_size = img->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	size_t phdr_size = img->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t n_sections = h->shnum, n_phdrs = h->phnum;
	img->names_index = h->shstrndx;
	if (h->shoff) {
		struct img_section first;
		uint32_t info = 0, name;
		if (!read_table(img, "section headers", h->shoff, 1, shdr_size, h->shentsize,
				&img->shdrs))
			return false;
		img_decode_section(img, 0, &first, &name);
		struct reader r;
		reader_init(&r, img->shdrs.p, img->shdrs.n, img->big);
		reader_skip(&r, img->is64 ? 44 : 28); // sh_info
		info = reader_u32(&r);
		if (!n_sections)
			n_sections = first.size;
		if (h->shstrndx == SHN_XINDEX)
			img->names_index = first.link;
		if (n_phdrs == PN_XNUM)
			n_phdrs = info;
		if (!read_table(img, "section headers", h->shoff, n_sections, shdr_size,
				h->shentsize, &img->shdrs))
			return false;
		img->n_sections = (unsigned)n_sections;
	}
	if (h->phoff && n_phdrs) {
		if (!read_table(img, "program headers", h->phoff, n_phdrs, phdr_size, h->phentsize,
				&img->phdrs))
			return false;
		img->n_phdrs = (unsigned)n_phdrs;
	}
	return true;
}

/** The build-id in the notes @bytes, or false. */
static bool scan_build_id(struct img *img, struct str bytes)
{
	struct reader r;
	reader_init(&r, bytes.p, bytes.n, img->big);
	while (!reader_at_end(&r)) {
		uint32_t namesz = reader_u32(&r), descsz = reader_u32(&r), type = reader_u32(&r);
		struct str name = reader_bytes(&r, namesz);
		reader_align(&r, 4);
		struct str desc = reader_bytes(&r, descsz);
		reader_align(&r, 4);
		if (r.err || type != NT_GNU_BUILD_ID || !str_eq(name, (struct str){"GNU", 4}))
			continue;
		if (!desc.n || desc.n > MAX_BUILD_ID)
			return false;
		img->build_id = desc;
		return true;
	}
	return false;
}

/** Looks in note sections first: in a separate debug file the program headers describe another file. */
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
			struct phdr p = img_decode_phdr(img, i - img->n_sections);
			if (p.type != PT_NOTE)
				continue;
			off = p.off;
			size = p.filesz;
		}
		if (!size || size > 1 << 16 || !img_has_bytes(img, off, size))
			continue;
		char *bytes = arena_alloc(img->arena, size);
		if (file_read_at(img->fd, bytes, size, off) &&
		    scan_build_id(img, (struct str){bytes, size}))
			return;
	}
}

bool img_open_fd(struct arena *a, struct diag *d, int fd, struct str path, struct str shown,
		 struct img **ret)
{
	struct img *img = arena_new(a, struct img);
	*img = (struct img){.arena = a, .diag = d, .fd = fd, .build_id = STR("")};
	img->path = str_copy(a, path);
	img->shown = str_copy(a, shown);
	struct stat st;
	struct ehdr h = {0};
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		img_bad_file(img, "not a regular file");
	} else {
		img->size = (uint64_t)st.st_size;
		if (read_ehdr(img, &h) && read_tables(img, &h)) {
			find_build_id(img);
			*ret = img;
			return true;
		}
	}
	img_close(img);
	return false;
}

bool img_open(struct arena *a, struct diag *d, const char *path, struct str shown, struct img **ret)
{
	const char *why;
	uint64_t size;
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return diag_error(d, &(struct diag_place){.file = shown}, "cannot open it: %s",
				  why);
	return img_open_fd(a, d, fd, str_from(path), shown, ret);
}

bool img_is_elf(const char *path)
{
	const char *why;
	uint64_t size;
	char magic[SELFMAG];
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return false;
	bool is_elf = file_read_at(fd, magic, SELFMAG, 0) && memcmp(magic, ELFMAG, SELFMAG) == 0;
	close(fd);
	return is_elf;
}

void img_close(struct img *img)
{
	if (!img)
		return;
	if (img->types_fini)
		img->types_fini(img->types);
	debuginfo_close(img);
	debugfile_close(img);
	if (img->fd >= 0)
		close(img->fd);
	img->fd = -1;
}

void img_set_root(struct img *img, struct str root, struct str path)
{
	img->root = str_copy(img->arena, root);
	img->root_path = str_copy(img->arena, path);
}
