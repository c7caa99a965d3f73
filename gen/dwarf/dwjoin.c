#include "dwarf/dwjoin.h"

#include <dwarf.h>
#include <string.h>

#include "base/reader.h"
#include "dwarf/dwslim.h"
#include "dwarf/dwsplit.h"

/** One file that was opened for a skeleton; no handle: it cannot be read. */
struct joined {
	uint64_t id;
	Dwarf *dbg;
	Elf *elf;
	Dwarf_Die top;
};

enum { INFO, ABBREV, STR_OFFSETS, STR, TYPES, N_PARTS };

static const struct str part_names[N_PARTS] = {
    {".debug_info.dwo", 15}, {".debug_abbrev.dwo", 17}, {".debug_str_offsets.dwo", 22},
    {".debug_str.dwo", 14},  {".debug_types.dwo", 16},
};

static uint64_t id_of(Dwarf_Die *skeleton)
{
	uint64_t id = 0;
	uint8_t kind;
	dwarf_cu_info(skeleton->cu, NULL, &kind, NULL, NULL, &id, NULL, NULL);
	return id;
}

/** The image @path, with all sections of .dwo files; those of one name joined. */
static bool read_parts(struct dwsrc *src, const char *path, struct str parts[N_PARTS])
{
	struct img *file;
	struct img_section s;
	struct strbuf joined[2];
	bool good =
	    img_is_elf(path) && img_open(src->arena, src->diag, path, str_from(path), &file);
	if (!good)
		return false;
	strbuf_init(&joined[0]);
	strbuf_init(&joined[1]);
	for (unsigned i = 1; good && img_next_header(file, &i, &s);)
		for (unsigned k = 0; k < N_PARTS && good; k++) {
			if (!str_eq(s.name, part_names[k]))
				continue;
			good = img_read_section(file, &s);
			struct str data = s.data;
			if (good && (k == INFO || k == TYPES))
				strbuf_adds(&joined[k == TYPES], data);
			else if (good && parts[k].n)
				good = false; // which of the two belongs to which unit?
			else if (good)
				parts[k] = str_copy(src->arena, data);
		}
	parts[INFO] = str_copy(src->arena, strbuf_str(&joined[0]));
	parts[TYPES] = str_copy(src->arena, strbuf_str(&joined[1]));
	strbuf_fini(&joined[0]);
	strbuf_fini(&joined[1]);
	img_close(file);
	return good && parts[INFO].n && parts[ABBREV].n;
}

/** A handle for the parts; it must have the unit that the skeleton means. */
static bool wrap(struct dwsrc *src, const struct str parts[N_PARTS], struct joined *ret)
{
	struct str names[N_PARTS], contents[N_PARTS];
	size_t n = 0;
	for (unsigned i = 0; i < N_PARTS; i++)
		if (parts[i].n) {
			names[n] = part_names[i];
			contents[n++] = parts[i];
		}
	ret->dbg = dwslim_wrap(src->img, names, contents, n, &ret->elf);
	if (!ret->dbg)
		return false;
	Dwarf_CU *cu = NULL;
	uint8_t kind;
	while (dwarf_get_units(ret->dbg, cu, &cu, NULL, &kind, &ret->top, NULL) == 0)
		if (kind == DW_UT_split_compile && id_of(&ret->top) == ret->id)
			return true;
	dwslim_close(ret->dbg, ret->elf);
	ret->dbg = NULL;
	return false;
}

static bool open_dwo(struct dwsrc *src, Dwarf_Die *skeleton, struct joined *ret)
{
	struct str parts[N_PARTS] = {0};
	const char *path = dwsplit_path(src, skeleton);
	return path && read_parts(src, path, parts) && wrap(src, parts, ret);
}

/** Where a .dwp has unit @id: offset and size of each part. */
struct row {
	uint64_t off[N_PARTS], size[N_PARTS];
};

/** Reads .debug_cu_index; false when the unit is not there or the index is damaged. */
static bool find_row(struct str index, bool big, uint64_t id, struct row *ret)
{
	// Section numbers 1, 3 and 6 are the same in both versions of the index.
	static const unsigned number[3] = {1, 3, 6};
	struct reader r;
	reader_init(&r, index.p, index.n, big);
	uint32_t version = reader_u32(&r), n_columns = reader_u32(&r);
	uint32_t n_units = reader_u32(&r), n_slots = reader_u32(&r);
	if (version != 2 && (big ? version >> 16 : version & 0xffff) != 5)
		return false;
	uint64_t hashes = reader_offset(&r), rows = hashes + (uint64_t)n_slots * 8;
	uint64_t columns = rows + (uint64_t)n_slots * 4;
	uint64_t table = columns + (uint64_t)n_columns * 4;
	uint64_t cells = (uint64_t)n_units * n_columns;
	if (r.err || n_columns > 16 || n_slots > index.n || n_units > index.n ||
	    table + cells * 8 > index.n)
		return false;
	uint32_t row = 0;
	for (uint32_t i = 0; i < n_slots && !row; i++) {
		struct reader at;
		reader_init(&at, index.p + hashes + i * 8, 8, big);
		bool same = reader_u64(&at) == id;
		reader_init(&at, index.p + rows + i * 4, 4, big);
		uint32_t its = reader_u32(&at);
		row = same ? its : 0;
	}
	if (!row || row > n_units)
		return false;
	*ret = (struct row){.off = {0}};
	for (uint32_t c = 0; c < n_columns; c++) {
		struct reader at;
		reader_init(&at, index.p + columns + c * 4, 4, big);
		uint32_t section = reader_u32(&at);
		uint64_t cell = ((uint64_t)(row - 1) * n_columns + c) * 4;
		for (unsigned k = 0; k < 3; k++) {
			if (section != number[k])
				continue;
			reader_init(&at, index.p + table + cell, 4, big);
			ret->off[k] = reader_u32(&at);
			reader_init(&at, index.p + table + cells * 4 + cell, 4, big);
			ret->size[k] = reader_u32(&at);
		}
	}
	return true;
}

static void put_u32(char *p, uint32_t v, bool big)
{
	for (unsigned i = 0; i < 4; i++)
		p[big ? 3 - i : i] = (char)(v >> 8 * i);
}

/** Gives the unit the strings that its offsets mean, and offsets to them. */
static bool copy_strings(struct arena *a, bool big, struct str all, struct str *offsets,
			 struct str *ret)
{
	struct strbuf b;
	struct reader r;
	reader_init(&r, offsets->p, offsets->n, big);
	// DWARF 5 section 7.26: a header of 8 bytes; GNU's has none.
	uint32_t length = reader_u32(&r);
	size_t from = offsets->n >= 8 && length == offsets->n - 4 ? 8 : 0;
	char *copy = arena_strndup(a, offsets->p, offsets->n);
	bool good = length != UINT32_MAX && offsets->n % 4 == 0;
	strbuf_init(&b);
	for (size_t i = from; i < offsets->n && good; i += 4) {
		reader_init(&r, offsets->p + i, 4, big);
		uint32_t off = reader_u32(&r);
		size_t n = off < all.n ? strnlen(all.p + off, all.n - off) : 0;
		good = off < all.n && off + n < all.n && b.n < UINT32_MAX - n - 1;
		if (!good)
			break;
		put_u32(copy + i, (uint32_t)b.n, big);
		strbuf_add(&b, all.p + off, n + 1);
	}
	*offsets = (struct str){copy, offsets->n};
	*ret = strbuf_take(&b, a);
	return good;
}

/** Units share them, and an index with none of them is written, too. */
static bool has_type_units(struct img *file)
{
	struct img_section s;
	struct reader r;
	if (!img_find_section(file, ".debug_tu_index", &s))
		return img_find_header(file, ".debug_tu_index", &s);
	reader_init(&r, s.data.p, s.data.n, file->big);
	reader_skip(&r, 8);
	return reader_u32(&r) > 0 || r.err;
}

/** The .dwp file beside the program; its sections stay as long as the file is open. */
struct dwp {
	struct img *file; /**< NULL: there is none that can be read */
	struct str index, parts[N_PARTS];
};

static void read_dwp(struct dwsrc *src, struct dwp *ret)
{
	struct img_section s;
	const char *path = arena_printf(src->arena, STR_FMT ".dwp", STR_ARG(src->img->path));
	if (!img_is_elf(path) || !img_open(src->arena, src->diag, path, str_from(path), &ret->file))
		return;
	bool good =
	    !has_type_units(ret->file) && img_find_section(ret->file, ".debug_cu_index", &s);
	ret->index = good ? s.data : STR("");
	for (unsigned k = INFO; k <= STR && good; k++) {
		good = img_find_section(ret->file, part_names[k].p, &s);
		ret->parts[k] = good ? s.data : STR("");
	}
	if (!good) {
		img_close(ret->file);
		ret->file = NULL;
	}
}

/** The parts of @ret->id in the .dwp file. */
static bool open_dwp(struct dwsrc *src, struct joined *ret)
{
	struct str parts[N_PARTS] = {0};
	struct row row;
	struct dwp *dwp = src->dwp;
	if (!dwp) {
		src->dwp = dwp = arena_new(src->arena, struct dwp);
		read_dwp(src, dwp);
	}
	if (!dwp->file || !find_row(dwp->index, dwp->file->big, ret->id, &row))
		return false;
	for (unsigned k = 0; k < 3; k++) {
		if (row.off[k] > dwp->parts[k].n || row.size[k] > dwp->parts[k].n - row.off[k])
			return false;
		parts[k] = str_slice(dwp->parts[k], row.off[k], row.size[k]);
	}
	return copy_strings(src->arena, dwp->file->big, dwp->parts[STR], &parts[STR_OFFSETS],
			    &parts[STR]) &&
	       wrap(src, parts, ret);
}

Dwarf *dwjoin_open(struct dwsrc *src, Dwarf_Die *skeleton, Dwarf_Die *top)
{
	uint64_t id = id_of(skeleton);
	struct joined *j = map_get_u64(&src->joined, id);
	if (!j) {
		j = arena_new(src->arena, struct joined);
		j->id = id;
		if (!open_dwo(src, skeleton, j))
			open_dwp(src, j);
		map_put_u64(src->arena, &src->joined, id, j);
	}
	*top = j->top;
	return j->dbg;
}

void dwjoin_close(struct dwsrc *src)
{
	for (struct map_entry *e = NULL; (e = map_next(&src->joined, e));) {
		struct joined *j = e->value;
		if (j->dbg)
			dwslim_close(j->dbg, j->elf);
	}
	if (src->dwp)
		img_close(((struct dwp *)src->dwp)->file);
}
