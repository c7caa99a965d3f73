#include "types/dwunits.h"

#include <dwarf.h>
#include <gelf.h>
#include <stddef.h>
#include <string.h>

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

static bool take_sections(struct dwunits *s)
{
	Elf *elf = dwarf_getelf(s->src->dbg);
	GElf_Ehdr ehdr;
	size_t names;
	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_type == ET_REL ||
	    elf_getshdrstrndx(elf, &names) != 0)
		return false;
	s->big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
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

bool dwunits_read_header(struct reader *r, struct dwheader *h)
{
	uint64_t length = reader_u32(r);
	h->off_size = 4;
	if (length == UINT32_MAX) {
		h->off_size = 8;
		length = reader_u64(r);
	}
	uint64_t start = reader_offset(r);
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
	h->length_end = start + length;
	return !r->err && h->version >= 2 && h->version <= 5 && h->addr_size <= 8 &&
	       length <= (uint64_t)(r->end - r->start) - start;
}

static bool list_units(struct dwunits *s)
{
	struct reader r;
	reader_init(&r, s->info.p, s->info.n, s->big);
	while (!reader_at_end(&r)) {
		struct dwheader h;
		uint64_t off = reader_offset(&r);
		if (!dwunits_read_header(&r, &h) || h.length_end <= off ||
		    h.length_end < reader_offset(&r))
			return false;
		vec_push(s->src->arena, &s->units, (struct dwunit_span){off, h.length_end, false});
		reader_skip(&r, h.length_end - reader_offset(&r));
	}
	return s->units.n > 0;
}

bool dwunits_open(struct dwsrc *src, struct dwunits *ret)
{
	*ret = (struct dwunits){.src = src};
	return src->files.n == 1 && take_sections(ret) && list_units(ret);
}
