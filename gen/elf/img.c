#include "elf/img.h"

#include <elf.h>
#include <gelf.h>

#include "base/file.h"
#include "elf/note.h"

// Large programs built with -ffunction-sections have some 100,000 sections before they are linked.
#define MAX_SECTIONS (1u << 20)
#define MAX_BUILD_ID 64
// What is read of one file, decompressed, in all; and what libdw may make of its compressed debug sections
#define MAX_READ ((uint64_t)448 << 20)
#define MAX_ODD ((uint64_t)16 << 20)
#define MAX_UNPACKED ((uint64_t)512 << 20)
// Deflate cannot shrink by more than this, so a header that claims more lies.
#define MAX_RATIO 1032
// Of <elf.h> since glibc 2.37
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

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

/** The header of section @index, its name as an offset; false past the end of the table. */
static bool decode_section(const struct img *img, unsigned index, struct img_section *ret,
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

static bool bad_file(struct img *img, const char *what)
{
	return diag_error(img->diag, &(struct diag_place){.file = img->display_path}, "%s", what);
}

/** The file has @size bytes from @off on. */
static bool has_bytes(const struct img *img, uint64_t off, uint64_t size)
{
	return off <= img->size && size <= img->size - off;
}

/** gABI, "ELF Header" and "ELF Identification"; elf_memory() sees no more of the file. */
static bool read_ehdr(struct img *img, GElf_Ehdr *h)
{
	char bytes[sizeof(Elf64_Ehdr)];
	size_t n = img->size < sizeof(bytes) ? (size_t)img->size : sizeof(bytes);
	if (!n)
		return bad_file(img, "the file is empty");
	if (!file_read_at(img->fd, bytes, n, 0))
		return bad_file(img, "the file cannot be read");
	if (n >= 2 && memcmp(bytes, "#!", 2) == 0)
		return bad_file(img, "a script, not an ELF file: give the program that runs it");
	if (n < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return bad_file(img, "not an ELF file");

	static const char truncated[] = "the file is truncated: it ends inside its ELF header";
	if (n < EI_NIDENT)
		return bad_file(img, truncated);
	if (bytes[EI_CLASS] != ELFCLASS32 && bytes[EI_CLASS] != ELFCLASS64)
		return bad_file(img, "invalid ELF header: neither 32 nor 64 bit");
	if (bytes[EI_DATA] != ELFDATA2LSB && bytes[EI_DATA] != ELFDATA2MSB)
		return bad_file(img, "invalid ELF header: unknown byte order");
	img->is64 = bytes[EI_CLASS] == ELFCLASS64;
	img->big = bytes[EI_DATA] == ELFDATA2MSB;

	Elf *header = elf_memory(bytes, n);
	bool good = gelf_getehdr(header, h) != NULL;
	elf_end(header);
	img->type = h->e_type;
	img->machine = h->e_machine;
	img->entry = h->e_entry;
	if (!good)
		return bad_file(img, n < (img->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))
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
	if (!has_bytes(img, off, n * entry))
		return diag_error(img->diag, &at,
				  "the file is truncated: its %s are at 0x%" PRIx64
				  ", it has 0x%" PRIx64 " bytes",
				  what, off, img->size);
	return true;
}

/** The number of sections, checked. Where e_shnum is 0, section 0 has it in its sh_size: gABI, "ELF Header". */
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
			return bad_file(img, "the file cannot be read");
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
		return bad_file(img, "the file cannot be read");
	if (img->n_sections &&
	    (elf_getshdrnum(img->elf, &n_sections) != 0 || n_sections != img->n_sections ||
	     !gelf_getshdr(elf_getscn(img->elf, 0), &first) ||
	     elf_getshdrstrndx(img->elf, &img->names_index) != 0))
		return bad_file(img, "the section headers cannot be read");
	uint64_t n = h->e_phnum == PN_XNUM && img->n_sections ? first.sh_info : h->e_phnum;
	if (!h->e_phoff || !n)
		return true;
	if (!check_table(img, "program headers", h->e_phoff, n, ELF_T_PHDR, h->e_phentsize))
		return false;
	if (elf_getphdrnum(img->elf, &n_phdrs) != 0 || n_phdrs != n ||
	    !gelf_getphdr(img->elf, 0, &segment))
		return bad_file(img, "the program headers cannot be read");
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
			if (!decode_section(img, i, &s, &name) || s.type != SHT_NOTE ||
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
		if (!size || size > 1 << 16 || !has_bytes(img, off, size))
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
		bad_file(img, "not a regular file");
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
	return file_start(path, ret, EI_CLASS + 1).n == EI_CLASS + 1 &&
	       memcmp(ret, ELFMAG, SELFMAG) == 0;
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

// --- sections, and what is at an address

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
	    !decode_section(img, (unsigned)img->names_index, &s, &name))
		return bad_file(img, "invalid ELF header: no section holds the section names");
	s.name = STR(".shstrtab");
	if (!img_read_section(img, &s))
		return false;
	img->names = s.data;
	return img->names.n > 0;
}

bool img_header_at(struct img *img, unsigned index, struct img_section *ret)
{
	uint32_t off;
	if (!index || index >= img->n_sections || !decode_section(img, index, ret, &off))
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
	if (!ret->gnu)
		img_read_word(&r, img); // alignment
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

/** By a handle of its own: elf_compress() changes the header that it sees, and elf_end() takes libelf's copy away. */
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
	if (!has_bytes(img, s->off, s->size))
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
	       diag_warning(
		   img->diag, &at,
		   "its debug information is compressed with zstd, which this libelf cannot "
		   "read: update elfutils to 0.190, or make a copy with objcopy "
		   "--decompress-debug-sections");
}

/** Steps through the segments of which the program may do all of @flags: gABI, "Program Header". */
static bool next_segment(struct img *img, unsigned *i, unsigned flags, GElf_Phdr *ret)
{
	while (*i < img->n_phdrs && gelf_getphdr(img->elf, (int)(*i)++, ret))
		if (ret->p_type == PT_LOAD && (ret->p_flags & flags) == flags)
			return true;
	return false;
}

/** Up to @n bytes at @addr of the segment @p, which has that address. */
static size_t read_segment(struct img *img, const GElf_Phdr *p, uint64_t addr, void *buf, size_t n)
{
	uint64_t in = addr - p->p_vaddr;
	if (n > p->p_filesz - in)
		n = (size_t)(p->p_filesz - in);
	if (!has_bytes(img, p->p_offset, in) || !has_bytes(img, p->p_offset + in, n))
		return 0;
	return file_read_at(img->fd, buf, n, p->p_offset + in) ? n : 0;
}

static bool find_segment(struct img *img, unsigned flags, uint64_t addr, GElf_Phdr *ret)
{
	for (unsigned i = 0; next_segment(img, &i, flags, ret);)
		if (addr >= ret->p_vaddr && addr - ret->p_vaddr < ret->p_filesz)
			return true;
	return false;
}

size_t img_read_code(struct img *img, uint64_t addr, void *buf, size_t n, uint64_t *off)
{
	GElf_Phdr p;
	if (!find_segment(img, PF_X, addr, &p))
		return 0;
	*off = p.p_offset + (addr - p.p_vaddr);
	return read_segment(img, &p, addr, buf, n);
}

size_t img_read_bytes(struct img *img, uint64_t addr, void *buf, size_t n, bool *is_constant)
{
	GElf_Phdr p;
	if (!find_segment(img, 0, addr, &p))
		return 0;
	*is_constant = !(p.p_flags & PF_W);
	return read_segment(img, &p, addr, buf, n);
}

bool img_find_data(struct img *img, uint64_t addr, uint64_t *off)
{
	const uint64_t page = 4096;
	GElf_Phdr p;
	for (unsigned i = 0; next_segment(img, &i, PF_W, &p);) {
		// The last page is the file's up to its end.
		uint64_t end = (p.p_vaddr + p.p_filesz + page - 1) & ~(page - 1);
		if (addr < p.p_vaddr || addr >= end)
			continue;
		*off = p.p_offset + (addr - p.p_vaddr);
		return true;
	}
	return false;
}

bool img_load_bias(struct img *img, uint64_t start, uint64_t offset, uint64_t *ret)
{
	GElf_Phdr p;
	for (unsigned i = 0; next_segment(img, &i, PF_X, &p);) {
		// A mapping starts at a page, up to 64 KiB of it before the segment.
		if (offset + 65536 <= p.p_offset ||
		    (offset > p.p_offset && offset - p.p_offset >= p.p_filesz))
			continue;
		*ret = start - (p.p_vaddr - p.p_offset + offset);
		return true;
	}
	return false;
}

const char *img_short_id(struct arena *a, struct str id)
{
	enum { SHOWN = 6 };
	return str_dup(a, str_hex(a, str_slice(id, 0, SHOWN)));
}
