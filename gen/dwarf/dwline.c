#include "dwarf/dwline.h"

#include <dwarf.h>
#include <gelf.h>

/** Of .debug_line in @elf; empty where it has none. */
static struct str find_section(Elf *elf)
{
	static const char *const names_of_lines[] = {".debug_line", ".zdebug_line",
						     ".debug_line.dwo", NULL};
	size_t names;
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return STR("");
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		const char *name =
		    gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		if (!str_is_any(str_from(name), names_of_lines))
			continue;
		Elf_Data *data = elf_rawdata(scn, NULL);
		return (struct str){data ? data->d_buf : NULL,
				    data && data->d_buf ? data->d_size : 0};
	}
	return STR("");
}

static struct str section_of(struct dwsrc *src, Dwarf *dbg)
{
	struct str *s = map_get_ptr(&src->line_parts, dbg);
	if (!s) {
		s = arena_new(src->arena, struct str);
		*s = find_section(dwarf_getelf(dbg));
		map_put_ptr(src->arena, &src->line_parts, dbg, s);
	}
	return *s;
}

/** Signed ones are as long. libdw reads no more than ten bytes, whatever the last one is. */
static uint64_t read_leb(struct reader *r)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;
	for (unsigned shift = 0; shift < 70 && byte & 0x80; shift += 7) {
		byte = reader_u8(r);
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
	}
	return value;
}

/** False when its length is not that of what is in it, which is what libdw goes by. */
static bool skip_extended(struct reader *r)
{
	uint64_t n = read_leb(r);
	size_t start = reader_offset(r);
	switch (reader_u8(r)) {
	case DW_LNE_end_sequence:
		break;
	case DW_LNE_set_discriminator:
		read_leb(r);
		break;
	case DW_LNE_define_file:
		reader_cstr(r);
		for (unsigned i = 0; i < 3; i++)
			read_leb(r);
		break;
	case DW_LNE_set_address:
		reader_skip(r, n == 5 ? 4 : 8);
		break;
	default:
		reader_skip(r, n - 1);
	}
	return r->err || reader_offset(r) - start == n;
}

/** Of the program @r, whose standard opcodes have so many operands. */
static uint64_t count_rows(struct reader *r, struct str operands)
{
	uint64_t n = 0;
	while (!reader_at_end(r) && !r->err && n < DWLINE_MOST) {
		uint8_t op = reader_u8(r);
		n += op > operands.n || op <= DW_LNS_copy;
		if (op == 0) {
			if (!skip_extended(r))
				return UINT64_MAX;
		} else if (op == DW_LNS_fixed_advance_pc && op <= operands.n) {
			reader_skip(r, 2);
		} else if (op <= operands.n) {
			for (uint8_t i = (uint8_t)operands.p[op - 1]; i; i--)
				read_leb(r);
		}
	}
	return n;
}

static uint64_t count_table(struct str table, bool big)
{
	struct reader r;
	reader_init(&r, table.p, table.n, big);
	uint64_t n = reader_u32(&r);
	bool is_64 = n == UINT32_MAX;
	table = reader_bytes(&r, is_64 ? reader_u64(&r) : n);
	reader_init(&r, table.p, table.n, big);
	unsigned version = reader_u16(&r);
	reader_skip(&r, version >= 5 ? 2 : 0); // sizes of addresses
	uint64_t header = is_64 ? reader_u64(&r) : reader_u32(&r);
	struct str rest = str_from_offset(table, reader_offset(&r));
	reader_skip(&r, version >= 4 ? 5 : 4);
	uint8_t first_special = reader_u8(&r);
	struct str operands = reader_bytes(&r, first_special ? first_special - 1 : 0);
	if (r.err || header > rest.n)
		return 0; // libdw refuses it
	reader_init(&r, rest.p + header, rest.n - header, big);
	n = count_rows(&r, operands);
	return n == UINT64_MAX ? n : n + header;
}

uint64_t dwline_rows(struct dwsrc *src, Dwarf_Die *unit)
{
	uint64_t off;
	GElf_Ehdr ehdr;
	Dwarf *dbg = dwarf_cu_getdwarf(unit->cu);
	if (!dbg || !gelf_getehdr(dwarf_getelf(dbg), &ehdr))
		return 0;
	if (!dwsrc_number(unit, DW_AT_stmt_list, &off))
		off = 0; // where a split unit has one (appendix F.2)
	struct str table = str_from_offset(section_of(src, dbg), off);
	if (!table.n || !map_add_ptr(src->arena, &src->lines, table.p))
		return 0;
	return count_table(table, ehdr.e_ident[EI_DATA] == ELFDATA2MSB);
}
