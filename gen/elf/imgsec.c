/** imgsec - the sections of an image, and what is at an address. */
#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "elf/img_priv.h"

// What is read of one file, decompressed, in all; and what libdw may make of its compressed debug
// sections
#define MAX_READ ((uint64_t)448 << 20)
#define MAX_ODD ((uint64_t)16 << 20)
#define MAX_UNPACKED ((uint64_t)512 << 20)
// Deflate cannot shrink by more than this, so a header that claims more lies.
#define MAX_RATIO 1032
// Of <elf.h> since glibc 2.37
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/** The table of section names, gABI "String Table"; said once when it is broken. */
static bool read_names(struct img *img)
{
	if (img->names_read)
		return img->names.n > 0;
	img->names_read = true;
	img->names = STR("");
	if (img->names_index == SHN_UNDEF || !img->n_sections)
		return false;
	struct img_section s;
	uint32_t name;
	if (img->names_index >= img->n_sections ||
	    !img_decode_section(img, (unsigned)img->names_index, &s, &name))
		return img_bad_file(img, "invalid ELF header: no section holds the section names");
	s.name = STR(".shstrtab");
	if (!img_read_section(img, &s))
		return false;
	img->names = s.data;
	return img->names.n > 0;
}

bool img_header_at(struct img *img, unsigned index, struct img_section *ret)
{
	uint32_t off;
	if (!index || index >= img->n_sections || !img_decode_section(img, index, ret, &off))
		return false;
	if (read_names(img) && off < img->names.n) {
		const char *p = img->names.p + off;
		ret->name = (struct str){p, strnlen(p, img->names.n - off)};
	}
	return true;
}

bool img_next_header(struct img *img, unsigned *i, struct img_section *ret)
{
	if (!read_names(img))
		return false;
	return img_header_at(img, (*i)++, ret);
}

bool img_find_header(struct img *img, const char *name, struct img_section *ret)
{
	for (unsigned i = 1; img_next_header(img, &i, ret);)
		if (str_eqz(ret->name, name))
			return true;
	return false;
}

bool img_find_section(struct img *img, const char *name, struct img_section *ret)
{
	return img_find_header(img, name, ret) && img_read_section(img, ret);
}

/** Takes @size from what may be read of the file. */
static bool spend(struct img *img, const struct img_section *s, uint64_t size)
{
	struct diag_place at = img_place(img, s->name, 0);
	if (size > MAX_READ - img->n_read)
		return diag_error(img->diag, &at, "the section is too large to be read");
	img->n_read += size;
	return true;
}

/** How the bytes of a section are to be read. */
struct packing {
	unsigned type; /**< ELFCOMPRESS_* */
	uint64_t size; /**< bytes once it is decompressed, as its own header claims */
	bool gnu;      /**< .zdebug, as old tools wrote it */
	bool cut;      /**< the section ends before these are known */
};

/**
 * False when @s is not compressed. gABI, "Section Compression": type, reserved in 64 bit, size. A
 * .zdebug section has "ZLIB" and the size, big-endian in every file.
 */
static bool find_packing(struct img *img, const struct img_section *s, struct packing *ret)
{
	uint8_t head[24] = {0};
	size_t n = s->size < sizeof(head) ? (size_t)s->size : sizeof(head);
	*ret = (struct packing){.type = ELFCOMPRESS_ZLIB};
	ret->gnu = str_has_prefix(s->name, STR(".zdebug"));
	if (s->type == SHT_NOBITS || (!ret->gnu && !(s->flags & SHF_COMPRESSED)))
		return false;
	bool got = file_read_at(img->fd, head, n, s->off);
	if (ret->gnu && (!got || memcmp(head, "ZLIB", 4) != 0))
		return false;
	struct reader r;
	reader_init(&r, head, got ? n : 0, img->big || ret->gnu);
	uint32_t type = reader_u32(&r);
	if (!ret->gnu && img->is64)
		reader_u32(&r);
	ret->size = ret->gnu ? reader_u64(&r) : img_read_word(&r, img);
	ret->type = ret->gnu ? ELFCOMPRESS_ZLIB : type;
	ret->cut = r.err;
	return true;
}

static bool check_packing(struct img *img, const struct img_section *s, const struct packing *p)
{
	struct diag_place at = img_place(img, s->name, 0);
	if (p->cut)
		return diag_error(img->diag, &at, "the compressed section is truncated");
	if (p->type != ELFCOMPRESS_ZLIB && p->type != ELFCOMPRESS_ZSTD)
		return diag_error(img->diag, &at,
				  "the section has an unknown compression type (%u)", p->type);
	if (p->size / MAX_RATIO > s->size)
		return diag_error(img->diag, &at,
				  "the compressed section claims %" PRIu64
				  " bytes, too many for its size of %" PRIu64,
				  p->size, s->size);
	// Tools compress only debug sections. libelf has one copy meanwhile, and we another.
	bool odd = !str_has_prefix(s->name, STR(".debug")) && !str_has_prefix(s->name, STR(".z"));
	return spend(img, s, p->size > (odd ? MAX_ODD : MAX_READ) ? UINT64_MAX : 2 * p->size);
}

/**
 * By a handle of its own: elf_compress() changes the header that it sees, and elf_end() takes
 * libelf's copy away.
 */
static bool decompress(struct img *img, struct img_section *s, bool gnu)
{
	Elf *elf = elf_begin(img->fd, ELF_C_READ, NULL);
	Elf_Scn *scn = elf ? elf_getscn(elf, s->index) : NULL;
	Elf_Data *data = NULL;
	bool good = scn && (gnu ? elf_compress_gnu(scn, 0, 0) : elf_compress(scn, 0, 0)) >= 0 &&
		    (data = elf_rawdata(scn, NULL)) && data->d_size <= MAX_READ;
	if (good)
		s->data = str_copy(img->arena,
				   (struct str){data->d_buf ? data->d_buf : "", data->d_size});
	else
		diag_error(img->diag, &(struct diag_place){.file = img_place(img, s->name, 0).file},
			   "the section cannot be decompressed: %s", elf_errmsg(-1));
	elf_end(elf);
	return good;
}

static bool read_section(struct img *img, struct img_section *s)
{
	struct diag_place at = img_place(img, s->name, 0);
	struct packing p;
	if (!img_has_bytes(img, s->off, s->size))
		return diag_error(img->diag, &at,
				  "the section (0x%" PRIx64 " bytes at 0x%" PRIx64
				  ") runs past the end of the file",
				  s->size, s->off);
	if (find_packing(img, s, &p))
		return check_packing(img, s, &p) && decompress(img, s, p.gnu);
	if (!spend(img, s, s->size))
		return false;
	char *bytes = arena_alloc(img->arena, s->size);
	if (!file_read_at(img->fd, bytes, s->size, s->off))
		return diag_error(img->diag, &at, "the section cannot be read");
	s->data = (struct str){bytes, s->size};
	return true;
}

bool img_read_section(struct img *img, struct img_section *s)
{
	if (s->type == SHT_NOBITS || !s->size)
		return true;
	if (!img->contents)
		img->contents = arena_array(img->arena, struct str, img->n_sections);
	struct str *kept = &img->contents[s->index];
	if (!kept->p && read_section(img, s))
		*kept = s->data;
	s->data = *kept;
	return kept->p != NULL;
}

/** Nothing is read of a file with such a section, not even what it has uncompressed. */
static bool can_decompress(struct img *img, const struct img_section *s)
{
	Elf *elf = elf_begin(img->fd, ELF_C_READ, NULL);
	Elf_Scn *scn = elf ? elf_getscn(elf, s->index) : NULL;
	bool good = scn && elf_compress(scn, 0, 0) >= 0;
	elf_end(elf);
	return good;
}

bool img_check_unpacked(struct img *img)
{
	struct img_section s, zstd = {.size = 0};
	struct packing p;
	uint64_t sum = 0;
	struct diag_place at = {.file = img->display_path};
	if (img->unpack_checked)
		return !img->cannot_unpack;
	img->unpack_checked = true;
	for (unsigned i = 1; sum < MAX_UNPACKED && img_next_header(img, &i, &s);) {
		if (!find_packing(img, &s, &p))
			continue;
		sum += p.size < MAX_UNPACKED ? p.size : MAX_UNPACKED;
		if (p.type == ELFCOMPRESS_ZSTD && (!zstd.size || s.size < zstd.size))
			zstd = s;
	}
	img->cannot_unpack = sum >= MAX_UNPACKED;
	if (img->cannot_unpack)
		return diag_warning(
		    img->diag, &at,
		    "its compressed debug information is not read: it exceeds %u MiB decompressed",
		    (unsigned)(MAX_UNPACKED >> 20));
	img->cannot_unpack = zstd.size && !can_decompress(img, &zstd);
	return !img->cannot_unpack ||
	       diag_warning(img->diag, &at,
			    "its debug information is compressed with zstd, which the libelf here "
			    "cannot read: that of elfutils 0.190 can, or objcopy "
			    "--decompress-debug-sections makes a copy without it");
}

/** Steps through the executable segments: gABI, "Program Header". */
static bool next_code(struct img *img, unsigned *i, GElf_Phdr *ret)
{
	while (*i < img->n_phdrs && gelf_getphdr(img->elf, (int)(*i)++, ret))
		if (ret->p_type == PT_LOAD && ret->p_flags & PF_X)
			return true;
	return false;
}

/** A piece of the file: the sites of a library's probes lie close to each other. */
struct img_window {
	uint64_t off;
	size_t n; /**< bytes that are there */
	uint8_t bytes[8192];
};

enum { MAX_FROM_WINDOW = 64 };

/** As file_read_at(), out of the window if that has them. */
static bool read_window(struct img *img, void *buf, size_t n, uint64_t off)
{
	struct img_window *w = img->code;
	if (n > MAX_FROM_WINDOW)
		return file_read_at(img->fd, buf, n, off);
	if (!w)
		w = img->code = arena_new(img->arena, struct img_window);
	if (off < w->off || off - w->off > w->n || n > w->n - (size_t)(off - w->off)) {
		w->off = off & ~(uint64_t)63;
		w->n = sizeof(w->bytes);
		if (w->off >= img->size)
			w->n = 0;
		else if (img->size - w->off < w->n)
			w->n = (size_t)(img->size - w->off);
		if (!file_read_at(img->fd, w->bytes, w->n, w->off))
			w->n = 0;
		if (n > w->n || off - w->off > w->n - n)
			return false;
	}
	memcpy(buf, w->bytes + (off - w->off), n);
	return true;
}

/** Up to @n bytes at @addr of the segment @p, which has that address. */
static size_t read_segment(struct img *img, const GElf_Phdr *p, uint64_t addr, void *buf, size_t n)
{
	uint64_t in = addr - p->p_vaddr;
	if (n > p->p_filesz - in)
		n = (size_t)(p->p_filesz - in);
	if (!img_has_bytes(img, p->p_offset, in) || !img_has_bytes(img, p->p_offset + in, n))
		return 0;
	return read_window(img, buf, n, p->p_offset + in) ? n : 0;
}

static bool has_address(const GElf_Phdr *p, uint64_t addr)
{
	return addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz;
}

size_t img_read_code(struct img *img, uint64_t addr, void *buf, size_t n, uint64_t *off)
{
	GElf_Phdr p;
	for (unsigned i = 0; next_code(img, &i, &p);) {
		if (!has_address(&p, addr))
			continue;
		*off = p.p_offset + (addr - p.p_vaddr);
		return read_segment(img, &p, addr, buf, n);
	}
	return 0;
}

size_t img_read_bytes(struct img *img, uint64_t addr, void *buf, size_t n, bool *is_constant)
{
	GElf_Phdr p;
	for (unsigned i = 0; i < img->n_phdrs && gelf_getphdr(img->elf, (int)i, &p); i++) {
		if (p.p_type != PT_LOAD || !has_address(&p, addr))
			continue;
		*is_constant = !(p.p_flags & PF_W);
		return read_segment(img, &p, addr, buf, n);
	}
	return 0;
}

bool img_find_data(struct img *img, uint64_t addr, uint64_t *off)
{
	const uint64_t page = 4096;
	GElf_Phdr p;
	for (unsigned i = 0; i < img->n_phdrs && gelf_getphdr(img->elf, (int)i, &p); i++) {
		// The last page is the file's up to its end.
		uint64_t end = (p.p_vaddr + p.p_filesz + page - 1) & ~(page - 1);
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_W) || addr < p.p_vaddr || addr >= end)
			continue;
		*off = p.p_offset + (addr - p.p_vaddr);
		return true;
	}
	return false;
}

bool img_load_bias(struct img *img, uint64_t start, uint64_t offset, uint64_t *ret)
{
	GElf_Phdr p;
	for (unsigned i = 0; next_code(img, &i, &p);) {
		// A mapping starts at a page, up to 64 KiB of it before the segment.
		if (offset + 65536 <= p.p_offset ||
		    (offset > p.p_offset && offset - p.p_offset >= p.p_filesz))
			continue;
		*ret = start - (p.p_vaddr - p.p_offset + offset);
		return true;
	}
	return false;
}
