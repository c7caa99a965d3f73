#include "dwarf/dwunits.h"

#include <dwarf.h>
#include <gelf.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/debugfile.h"

/** Bytes that are mapped at once, or more if more are asked for; of so many libdw's mapping serves as well. */
enum { VIEW = 33 << 16, SMALL = 16 << 20 };

static bool take_section(struct dwunits *s, Elf_Scn *scn, const char *name)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
	    {"debug_info", offsetof(struct dwunits, info)},
	    {"debug_abbrev", offsetof(struct dwunits, abbrev)},
	    {"debug_str", offsetof(struct dwunits, str)},
	    {"debug_line_str", offsetof(struct dwunits, line_str)},
	    {"debug_str_offsets", offsetof(struct dwunits, str_offsets)},
	};
	name += name[0] == '.';
	name += name[0] == 'z';
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strcmp(name, wanted[i].name) != 0)
			continue;
		struct str *to = (struct str *)((char *)s + wanted[i].at);
		Elf_Data *data = elf_rawdata(scn, NULL);
		GElf_Shdr shdr;
		if (!data || to->n || !gelf_getshdr(scn, &shdr) || shdr.sh_flags & SHF_COMPRESSED)
			return false; // twice: an object file with groups
		*to = (struct str){data->d_buf, data->d_buf ? data->d_size : 0};
	}
	return strcmp(name, "debug_types") != 0 && strcmp(name, "gnu_debugaltlink") != 0;
}

/**
 * Where the file has .debug_info, when libdw's bytes of it are those: a compressed one is not, nor what libdw relocated.
 */
static void find_in_file(struct dwunits *s)
{
	struct img *file;
	struct img_section at;
	s->file = -1;
	if (!s->src->slim && img_debugfile(s->src->img, &file) &&
	    img_find_header(file, ".debug_info", &at) && !(at.flags & SHF_COMPRESSED) &&
	    at.size == s->info.n && at.off <= file->size && at.size <= file->size - at.off) {
		s->file = file->fd;
		s->info_off = at.off;
	}
}

static bool take_sections(struct dwunits *s)
{
	Elf *elf = dwarf_getelf(s->src->dbg);
	GElf_Ehdr ehdr;
	size_t names;
	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_type == ET_REL ||
	    elf_getshdrstrndx(elf, &names) != 0)
		return false;
	s->big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	s->swapped = s->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	bool has_addr = false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		const char *name =
		    gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		if (!name || shdr.sh_type == SHT_NOBITS)
			continue;
		has_addr |= strcmp(name, ".debug_addr") == 0;
		if (!take_section(s, scn, name))
			return false;
	}
	// GNU's split units of DWARF 4 have .debug_addr and look like plain ones otherwise; clang 14 writes it for
	// plain units of DWARF 5, too: there the header tells.
	struct reader r;
	reader_init(&r, s->info.p, s->info.n, s->big);
	reader_skip(&r, reader_u32(&r) == UINT32_MAX ? 8 : 0);
	return s->info.n && (!has_addr || reader_u16(&r) >= 5);
}

static bool read_header(struct reader *r, struct dwheader *h)
{
	h->length = reader_u32(r);
	h->off_size = 4;
	if (h->length == UINT32_MAX) {
		h->off_size = 8;
		h->length = reader_u64(r);
	}
	h->start = reader_offset(r);
	h->version = reader_u16(r);
	h->type = DW_UT_compile;
	// Type units are left to libdw: stand-ins in other units have no name to look for.
	if (h->version >= 5) {
		h->type = reader_u8(r);
		h->addr_size = reader_u8(r);
		h->abbrev_off = reader_uint(r, h->off_size);
		if (h->type != DW_UT_compile && h->type != DW_UT_partial)
			return false;
	} else {
		h->abbrev_off = reader_uint(r, h->off_size);
		h->addr_size = reader_u8(r);
	}
	return !r->err && h->version >= 2 && h->version <= 5 && h->addr_size <= 8;
}

bool dwunits_read_header(struct reader *r, struct dwheader *h)
{
	return read_header(r, h) && h->length <= (uint64_t)(r->end - r->start) - h->start;
}

/** From now on the bytes are looked at in pieces, where that is possible. */
static void map_info(struct dwunits *s)
{
	if (s->file < 0)
		return;
	uint64_t from = s->info_off & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	s->map_skip = (size_t)(s->info_off - from);
	s->map_n = s->map_skip + s->info.n;
	void *p = mmap(NULL, s->map_n, PROT_READ, MAP_PRIVATE, s->file, (off_t)from);
	s->map = p == MAP_FAILED ? NULL : p;
	if (s->map)
		madvise(p, s->map_n, MADV_SEQUENTIAL); // for a file that is not in memory yet
}

void dwview_drop(const struct dwunits *s, struct dwview *v)
{
	if (v->n)
		madvise(s->map + v->off, v->n, MADV_DONTNEED);
	*v = (struct dwview){0};
}

const uint8_t *dwunits_view(const struct dwunits *s, struct dwview *v, uint64_t off, size_t n)
{
	if (!s->map)
		return (const uint8_t *)s->info.p + off;
	uint64_t at = s->map_skip + off;
	if (at < v->off || at - v->off > v->n || v->n - (at - v->off) < n) {
		dwview_drop(s, v);
		uint64_t from = at & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
		uint64_t size = at + n - from > VIEW ? at + n - from : VIEW;
		size = size < s->map_n - from ? size : s->map_n - from;
		*v = (struct dwview){from, size};
	}
	return s->map + at;
}

void dwunits_prepare(struct dwunits *s, uint64_t off)
{
#ifdef MADV_POPULATE_WRITE
	if (!s->map)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), last = 0;
	for (; s->n_prepared < s->units.n && s->units.v[s->n_prepared].off <= off;
	     s->n_prepared++) {
		uintptr_t at = (uintptr_t)s->info.p + s->units.v[s->n_prepared].off;
		at &= ~(page - 1);
		// Of a private mapping that is written to, a page comes alone. Where this fails, it only costs memory.
		if (at != last)
			madvise((void *)at, page, MADV_POPULATE_WRITE);
		last = at;
	}
#else
	(void)s, (void)off;
#endif
}

bool dwunits_list_next(struct dwunits *s, const uint8_t *p, size_t n)
{
	struct reader r;
	struct dwheader h;
	uint64_t off = s->listed;
	if (s->is_listed || s->is_refused)
		return false;
	reader_init(&r, p, n, s->big);
	// The length is checked here: the reader has only the header.
	if (!read_header(&r, &h) || h.length > s->info.n - off - h.start ||
	    h.start + h.length < reader_offset(&r)) {
		s->is_refused = true;
		return false;
	}
	s->listed = off + h.start + h.length;
	s->is_listed = s->listed == s->info.n;
	vec_push(s->src->arena, &s->units,
		 (struct dwunit_span){.off = off,
				      .end = s->listed,
				      .abbrev_off = h.abbrev_off,
				      .version = (uint8_t)h.version,
				      .addr_size = (uint8_t)h.addr_size,
				      .off_size = (uint8_t)h.off_size});
	return true;
}

bool dwunits_list_all(struct dwunits *s)
{
	while (!s->is_listed && !s->is_refused) {
		uint8_t buf[DWUNITS_HEADER];
		uint64_t left = s->info.n - s->listed;
		size_t n = left < DWUNITS_HEADER ? (size_t)left : DWUNITS_HEADER;
		const uint8_t *p = s->map ? buf : (const uint8_t *)s->info.p + s->listed;
		if (s->map && !file_read_at(s->file, buf, n, s->info_off + s->listed))
			s->is_refused = true;
		else
			dwunits_list_next(s, p, n);
	}
	return !s->is_refused;
}

bool dwunits_open(struct dwsrc *src, struct dwunits *ret)
{
	*ret = (struct dwunits){.src = src};
	if (src->files.n != 1 || !take_sections(ret))
		return false;
	find_in_file(ret);
	if (ret->info.n > SMALL || src->acts_large)
		map_info(ret);
	return ret->map || dwunits_list_all(ret);
}

void dwunits_close(struct dwunits *s)
{
	while (s->n_jumps > 0)
		dwarf_end(s->jumps[--s->n_jumps].dbg);
	if (s->map)
		munmap(s->map, s->map_n);
	s->map = NULL;
}
