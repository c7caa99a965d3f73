/*
 * Looking up types by name
 *
 * DWARF has no index of a program's types: the tables of DWARF 5 section 6.1 leave most of them
 * out, and compilers do not write them unless asked. So "where is struct x?" means a walk of
 * .debug_info, 160 MB of it for a kernel, unless parts of it can be skipped.
 *
 * A DIE called x holds "x" itself (DW_FORM_string), the offset of "x" in .debug_str or
 * .debug_line_str (strp, line_strp), or the index of that offset in the unit's table in
 * .debug_str_offsets (strx): section 7.5.5.
 *
 * 1. Find the offsets of x in the string sections. Linkers merge a string into the tail of another,
 *    so every string that ends in x counts.
 * 2. Search each unit for these offsets and for x itself. The table of a unit with strx is searched
 *    instead. A unit without any of them has no DIE of that name.
 * 3. Most places that are found name a member or a variable. A type's name has a place in its DIE:
 *    ask libdw whether a DIE that began one, two, three bytes before this place would be a type
 *    with its name right here. The abbreviations of the unit tell how far to go back.
 * 4. Walk the unit with libdw to the DIEs that are left, past everything else: the walk tells their
 *    scopes, and which of them are not really DIEs, or types inside a function.
 *
 * Where a step proves nothing, the whole unit is walked: it has the name by strx, or its types have
 * their names after a value of variable size, or in another DIE (DW_AT_specification). dwfind.c
 * lets libdw walk all units of what is not plain: object files, split units, type units, files of
 * dwz. The tests compare with such a walk for all names of many files.
 */
#include "dwarf/dwfilter.h"

#include <dwarf.h>
#include <endian.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/reader.h"
#include "elf/debugfile.h"

struct unit {
	Dwarf_Die die; /**< the top one */
	uint64_t off, end;
	uint8_t off_size;
	bool is_read;	/**< its abbreviations were: */
	uint8_t before; /**< a type's name begins at most so many bytes after its DIE; 0: unknown */
};

struct dwindex {
	struct dwsrc *src;
	struct str info, abbrev, str, line_str, str_offsets; /**< as libdw has them, decompressed */
	bool big;
	bool is_plain;
	bool has_far_names; /**< a type may have its name in another unit */
	int fd;		    /**< the file that libdw has mapped `info` from; -1: it is in memory */
	uint64_t info_off;  /**< where in that file */
	uint64_t n_walked;  /**< bytes of units that were walked whole */
	VEC(struct unit) units;	      /**< in order */
	VEC(uint32_t) offsets;	      /**< of the name that is asked for, in sections of strings */
	VEC(uint64_t) places;	      /**< of a unit: where these are in `info` */
	VEC(const void *) candidates; /**< of a unit: DIEs that may have the name */
};

// --- Sections, and the units of .debug_info

static bool take_section(struct dwindex *ix, Elf_Scn *scn, const char *name)
{
	const struct {
		const char *name;
		struct str *to;
	} wanted[] = {{"debug_info", &ix->info},
		      {"debug_abbrev", &ix->abbrev},
		      {"debug_str", &ix->str},
		      {"debug_line_str", &ix->line_str},
		      {"debug_str_offsets", &ix->str_offsets}};
	name += name[0] == '.';
	name += name[0] == 'z'; // .zdebug_*
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strcmp(name, wanted[i].name) != 0)
			continue;
		Elf_Data *data = elf_rawdata(scn, NULL);
		GElf_Shdr shdr;
		if (!data || wanted[i].to->n || !gelf_getshdr(scn, &shdr) ||
		    shdr.sh_flags & SHF_COMPRESSED)
			return false; // twice: an object file with groups
		*wanted[i].to = (struct str){data->d_buf, data->d_buf ? data->d_size : 0};
	}
	return strcmp(name, "debug_types") != 0 && strcmp(name, "gnu_debugaltlink") != 0;
}

/** False when some section tells that the debug information is of another kind. */
static bool take_sections(struct dwindex *ix, Elf *elf)
{
	GElf_Ehdr ehdr;
	size_t names;
	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_type == ET_REL ||
	    elf_getshdrstrndx(elf, &names) != 0)
		return false;
	ix->big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		const char *name =
		    gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		if (name && shdr.sh_type != SHT_NOBITS && !take_section(ix, scn, name))
			return false;
	}
	return ix->info.n > 0;
}

/** Where the file has .debug_info, if libdw has mapped it and not made it in memory. */
static void find_in_file(struct dwindex *ix, Elf *elf)
{
	enum { SMALL = 16 << 20 }; // so much of the mapping may as well be touched
	struct img *file;
	size_t size = 0;
	ix->fd = -1;
	if (ix->info.n <= SMALL && !ix->src->acts_large)
		return;
	const char *map = elf_rawfile(elf, &size);
	if (map && ix->info.p >= map && ix->info.p < map + size &&
	    img_debugfile(ix->src->img, &file) && file->size == size) {
		ix->fd = file->fd;
		ix->info_off = (uint64_t)(ix->info.p - map);
	}
}

/**
 * libdw looks at the header of each unit, and for each the kernel maps 16 pages of the file; but a
 * page of a private mapping that is written to comes alone. Where this fails, it only costs memory.
 */
static void map_alone(const struct dwindex *ix, uint64_t off)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	if (ix->fd >= 0)
		madvise((void *)(((uintptr_t)ix->info.p + off) & ~(page - 1)), page,
			MADV_POPULATE_WRITE);
#endif
}

/** False when one of the units is of another kind, or corrupt. */
static bool list_units(struct dwindex *ix)
{
	Dwarf *dbg = ix->src->dbg;
	Dwarf_Off next;
	size_t header;
	uint8_t kind;
	for (Dwarf_Off off = 0; off < ix->info.n; off = next) {
		struct unit u = {.before = 0};
		map_alone(ix, off);
		if (dwarf_next_unit(dbg, off, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL) ||
		    next > ix->info.n || next <= off + header ||
		    !dwarf_offdie(dbg, off + header, &u.die) ||
		    dwarf_cu_info(u.die.cu, NULL, &kind, NULL, NULL, NULL, NULL, &u.off_size) ||
		    (kind != DW_UT_compile && kind != DW_UT_partial))
			return false;
		u.off = off + header;
		u.end = next;
		vec_push(ix->src->arena, &ix->units, u);
	}
	return true;
}

/**
 * .debug_str may be a hole of the file, which takes memory only when it is searched.
 */
enum { MAX_SEARCHED = 512 << 20 };

/** Some abbreviation seems to leave the name to a DIE in another unit. */
static bool may_have_far_names(struct str abbrev)
{
	struct str rest = str_from_offset(abbrev, 1);
	const char *p;
	if (abbrev.n > MAX_SEARCHED)
		return true;
	while (rest.n && (p = memchr(rest.p, DW_FORM_ref_addr, rest.n))) {
		if (p[-1] == DW_AT_specification || p[-1] == DW_AT_abstract_origin)
			return true;
		rest = str_from_offset(abbrev, (size_t)(p - abbrev.p) + 1);
	}
	return false;
}

static struct dwindex *open_index(struct dwsrc *src)
{
	if (src->index)
		return src->index;
	struct dwindex *ix = src->index = arena_new(src->arena, struct dwindex);
	Elf *elf = src->files.n == 1 ? dwarf_getelf(src->dbg) : NULL;
	ix->src = src;
	if (take_sections(ix, elf)) {
		find_in_file(ix, elf);
		ix->is_plain = list_units(ix);
		ix->has_far_names = may_have_far_names(ix->abbrev);
	}
	return ix;
}

// --- How far from the beginning of a DIE a type's name may be

/**
 * Bytes that the values before DW_AT_name of an abbreviation take at most; UINT16_MAX: nobody knows,
 * or the name is in another DIE.
 */
static unsigned bytes_before_name(Dwarf_Abbrev *ab)
{
	enum { MOST = 10 }; // of LEB128; the others have eight and less
	unsigned sum = 0, name, form;
	bool has_name = false;
	// dwarf_getattrcnt() of elfutils 0.188 counts the values of DW_FORM_implicit_const, too.
	for (size_t i = 0; dwarf_getabbrevattr(ab, i, &name, &form, NULL) == 0; i++) {
		if (name == DW_AT_specification || name == DW_AT_abstract_origin ||
		    name == DW_AT_signature)
			return UINT16_MAX;
		has_name |= name == DW_AT_name;
		if (has_name)
			continue;
		switch (form) {
		case DW_FORM_data1:
		case DW_FORM_flag:
			sum++;
			break;
		case DW_FORM_flag_present:
		case DW_FORM_implicit_const:
			break;
		case DW_FORM_block:
		case DW_FORM_block1:
		case DW_FORM_block2:
		case DW_FORM_block4:
		case DW_FORM_exprloc:
		case DW_FORM_string:
		case DW_FORM_indirect:
		case DW_FORM_data16:
			sum = UINT16_MAX;
			break;
		default:
			sum += form <= DW_FORM_addrx4 ? MOST : UINT16_MAX;
		}
	}
	return has_name ? sum : 0;
}

/** Sets u->before, once. */
static void read_abbrevs(struct unit *u)
{
	enum { MAX_CODE = 3 }; // bytes of an abbreviation's number, in LEB128
	unsigned most = 0;
	size_t length = 0;
	Dwarf_Off off = 0;
	if (u->is_read)
		return;
	u->is_read = true;
	for (;; off += length) {
		Dwarf_Abbrev *ab = dwarf_getabbrev(&u->die, off, &length);
		if (ab == DWARF_END_ABBREV)
			break;
		if (!ab || dwarf_getabbrevcode(ab) >= 1 << 7 * MAX_CODE)
			return;
		unsigned n = 0;
		if (dwname_kind_of_tag((int)dwarf_getabbrevtag(ab)))
			n = bytes_before_name(ab);
		most = n > most ? n : most;
	}
	// Of an offset of eight bytes in big-endian order the second half is searched for.
	most += MAX_CODE + u->off_size / 2;
	if (most <= UINT8_MAX)
		u->before = (uint8_t)most;
}

// --- Where the bytes of a unit have the name

/** Bytes that are searched for by the largest of them: in .debug_info small ones are common. */
struct word {
	uint8_t bytes[8];
	size_t n, rare;
};

/** A name's offsets are words, each of which takes a pass; of very many, bits of a set. */
enum { MAX_WORDS = 12 };
struct search {
	struct word words[MAX_WORDS];
	unsigned n;
	uint64_t *set;	/**< a bit for each offset; or NULL */
	uint32_t n_set; /**< of them; that of this number is 0 */
	bool big;
	bool is_any; /**< nothing can be told: every unit may have the name */
};

static void add_word(struct search *s, const void *bytes, size_t n)
{
	struct word *w = &s->words[s->n++];
	*w = (struct word){.n = n < sizeof(w->bytes) ? n : sizeof(w->bytes)};
	memcpy(w->bytes, bytes, w->n);
	for (size_t i = 1; i < w->n; i++)
		if (w->bytes[i] > w->bytes[w->rare])
			w->rare = i;
}

static size_t next_word(const struct word *w, const char *p, size_t n, size_t from)
{
	for (size_t at = from; at + w->n <= n; at++) {
		const char *found = memchr(p + at + w->rare, w->bytes[w->rare], n - w->n - at + 1);
		if (!found)
			return n;
		at = (size_t)(found - p) - w->rare;
		if (memcmp(p + at, w->bytes, w->n) == 0)
			return at;
	}
	return n;
}

static size_t next_of_set(const struct search *s, const char *p, size_t n, size_t from)
{
	for (size_t at = from; at + 4 <= n; at++) {
		uint32_t v;
		memcpy(&v, p + at, 4);
		v = s->big ? be32toh(v) : le32toh(v);
		v = v < s->n_set ? v : s->n_set; // no branch: nobody could foretell it
		if (s->set[v / 64] >> v % 64 & 1)
			return at;
	}
	return n;
}

/** The next place in @pass at or after @from; @n at the end. The last pass is the set's. */
static size_t next_place(const struct search *s, unsigned pass, const char *p, size_t n,
			 size_t from)
{
	return pass < s->n ? next_word(&s->words[pass], p, n, from) : next_of_set(s, p, n, from);
}

static unsigned n_passes(const struct search *s)
{
	return s->n + (s->set != NULL);
}

/** Adds the offsets of the name, which has its NUL, in a section of strings. */
static void add_offsets(struct dwindex *ix, struct str section, struct str name)
{
	struct str rest = section;
	const char *p;
	while (rest.n && (p = memmem(rest.p, rest.n, name.p, name.n))) {
		uint32_t off = (uint32_t)(p - section.p);
		vec_push(ix->src->arena, &ix->offsets, off);
		rest = str_from_offset(section, (size_t)off + 1);
	}
}

/** The first word is the name itself, the others are its offsets. */
static void search_begin(struct dwindex *ix, struct str name, struct search *s)
{
	struct str z = {str_dup(ix->src->arena, name), name.n + 1};
	*s = (struct search){.big = ix->big};
	s->is_any = ix->str.n + ix->line_str.n + ix->str_offsets.n > MAX_SEARCHED;
	if (s->is_any)
		return;
	ix->offsets.n = 0;
	add_offsets(ix, ix->str, z);
	add_offsets(ix, ix->line_str, z);
	add_word(s, z.p, z.n);
	if (ix->offsets.n < MAX_WORDS) {
		for (size_t i = 0; i < ix->offsets.n; i++) {
			uint32_t v = ix->offsets.v[i], word = ix->big ? htobe32(v) : htole32(v);
			add_word(s, &word, 4);
		}
		return;
	}
	s->n_set = (uint32_t)(ix->str.n > ix->line_str.n ? ix->str.n : ix->line_str.n);
	s->set = calloc(s->n_set / 64 + 1, sizeof(*s->set));
	if (!s->set)
		base_oom();
	for (size_t i = 0; i < ix->offsets.n; i++)
		s->set[ix->offsets.v[i] / 64] |= (uint64_t)1 << ix->offsets.v[i] % 64;
}

/**
 * Lists the places of a unit that have the name or an offset of it; false when the file cannot be
 * read, nobody knows how far from its DIE a name is, or there are so many places that a walk of the
 * unit takes less: an offset may be 0.
 */
static bool find_places(struct dwindex *ix, const struct search *s, struct unit *u)
{
	enum { PIECE = 1 << 16, OVERLAP = sizeof(s->words->bytes) - 1, MIN_PLACES = 64 };
	char buf[PIECE];
	size_t n;
	ix->places.n = 0;
	for (uint64_t off = u->off;; off += n - OVERLAP) {
		n = u->end - off < PIECE ? (size_t)(u->end - off) : PIECE;
		// Touching all of a mapping takes as much memory, and more time than reading it.
		const char *p = ix->fd < 0 ? ix->info.p + off : buf;
		if (p == buf && !file_read_at(ix->fd, buf, n, ix->info_off + off))
			return false; // it has shrunk
		for (unsigned pass = 0; pass < n_passes(s); pass++)
			for (size_t at = 0; (at = next_place(s, pass, p, n, at)) < n; at++) {
				vec_push(ix->src->arena, &ix->places, off + at);
				read_abbrevs(u);
				if (!u->before ||
				    ix->places.n * u->before > MIN_PLACES + (u->end - u->off) / 16)
					return false;
			}
		if (off + n == u->end)
			return true;
	}
}

/** The unit's table of .debug_str_offsets (section 7.26) seems to have one of the offsets. */
static bool table_has_name(struct dwindex *ix, const struct search *s, const struct unit *u)
{
	Dwarf_Die top = u->die;
	Dwarf_Attribute at;
	Dwarf_Word base = 2 * u->off_size; // where libdw takes it to be when nothing tells
	struct reader r;
	if (!ix->str_offsets.n || !ix->offsets.n)
		return false;
	if (dwarf_attr(&top, DW_AT_str_offsets_base, &at) && dwarf_formudata(&at, &base) != 0)
		return true;
	// The base is after a header: a length, which counts what follows it, a version and padding.
	reader_init(&r, ix->str_offsets.p, ix->str_offsets.n, ix->big);
	reader_skip(&r, base - 2 * u->off_size + (u->off_size == 8 ? 4 : 0));
	uint64_t left = u->off_size == 8 ? reader_u64(&r) : reader_u32(&r);
	struct str table = str_slice(ix->str_offsets, reader_offset(&r), left);
	for (unsigned pass = 1; pass < n_passes(s); pass++)
		if (next_place(s, pass, table.p, table.n, 0) < table.n)
			return true;
	return r.err || left > ix->str_offsets.n;
}

// --- Which DIEs of a unit may have the name

/** Lists the DIEs that would be types that @q asks for, and have their names at @place. */
static void add_candidates(struct dwindex *ix, const struct dwquery *q, const struct unit *u,
			   uint64_t place)
{
	for (unsigned n = 1; n <= u->before && place - n >= u->off; n++) {
		Dwarf_Die die = u->die;
		Dwarf_Attribute at;
		if (!dwarf_offdie(ix->src->dbg, place - n, &die) ||
		    !(dwname_kind_of_tag(dwarf_tag(&die)) & q->name.kinds) ||
		    !dwarf_attr(&die, DW_AT_name, &at))
			continue;
		size_t before = (size_t)((const char *)at.valp - (const char *)die.addr);
		if ((before == n || before + 4 == n) &&
		    !(q->no_decls && dwsrc_flag(&die, DW_AT_declaration)))
			vec_push(ix->src->arena, &ix->candidates, die.addr);
	}
}

static int compare_places(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
	return (x > y) - (x < y);
}

/** In their order, each once: pieces that are searched overlap. */
static void sort_candidates(struct dwindex *ix)
{
	const void **v = ix->candidates.v;
	size_t n = 0;
	if (ix->candidates.n > 1)
		qsort(v, ix->candidates.n, sizeof(*v), compare_places);
	for (size_t i = 0; i < ix->candidates.n; i++)
		if (!n || v[n - 1] != v[i])
			v[n++] = v[i];
	ix->candidates.n = n;
}

/** False when this cannot be told. */
static bool find_candidates(struct dwindex *ix, const struct dwquery *q, const struct search *s,
			    struct unit *u)
{
	ix->candidates.n = 0;
	if (s->is_any || table_has_name(ix, s, u) || !find_places(ix, s, u))
		return false;
	if (ix->has_far_names)
		read_abbrevs(u);
	if (ix->has_far_names && !u->before)
		return false;
	for (size_t i = 0; i < ix->places.n; i++)
		add_candidates(ix, q, u, ix->places.v[i]);
	sort_candidates(ix);
	return true;
}

// --- Finding

/** Calls the filter's function for what the unit has; false when that stopped. */
static bool find_in_unit(struct dwindex *ix, const struct search *s, struct unit *u,
			 struct dwname_filter *f, bool *in_body)
{
	Dwarf_Die top = u->die;
	unsigned kinds = f->q->name.kinds;
	if (!find_candidates(ix, f->q, s, u)) {
		*in_body = true; // who knows
		ix->n_walked += u->end - u->off;
		return dwname_walk_unit(ix->src, &top, kinds, dwname_filter, f);
	}
	if (!ix->candidates.n)
		return true;
	struct dwname_places to = {.v = ix->candidates.v, .n = ix->candidates.n};
	bool goes_on = dwname_walk_to(ix->src, &top, kinds, &to, dwname_filter, f);
	*in_body = *in_body || !goes_on || dwname_has_missed(ix->src, &top, &to);
	return goes_on;
}

uint64_t dwfilter_size(struct dwsrc *src)
{
	struct dwindex *ix = open_index(src);
	return ix->is_plain ? ix->info.n : 0;
}

/** Bytes of .debug_info that take some 50 ms to read. */
enum { LARGE = 64 << 20 };

bool dwfilter_is_large(struct dwsrc *src)
{
	return dwfilter_size(src) >= LARGE || (dwfilter_size(src) && src->acts_large);
}

bool dwfilter_find(struct dwsrc *src, const struct dwquery *q, uint64_t most, dwname_fn *fn,
		   void *ctx)
{
	struct dwindex *ix = open_index(src);
	struct str name = q->name.parts[q->name.n_parts - 1];
	struct dwname_filter f = {.q = q, .fn = fn, .ctx = ctx};
	struct search s;
	bool unused = true, *in_body = q->in_body ? q->in_body : &unused, goes_on = true;
	// By now an index of all names would have been cheaper.
	if (!ix->is_plain || (ix->n_walked > 2 * ix->info.n && !dwfilter_is_large(src)))
		return false;
	search_begin(ix, name, &s);
	for (size_t i = 0; i < ix->units.n && ix->units.v[i].off < most && goes_on; i++) {
		progress_step("reading debug information", 0, 0);
		goes_on = find_in_unit(ix, &s, &ix->units.v[i], &f, in_body);
	}
	free(s.set);
	// The name of a template may be spaced otherwise.
	return f.n_passed || !memchr(name.p, '<', name.n);
}

struct str dwfilter_strings(struct dwsrc *src)
{
	return open_index(src)->str;
}

bool dwfilter_may_have(struct dwsrc *src, struct str text)
{
	const struct dwindex *ix = open_index(src);
	const struct str *in[] = {&ix->str, &ix->line_str, &ix->info};
	bool is_large = ix->str.n + ix->line_str.n + ix->info.n > MAX_SEARCHED;
	bool has = !ix->is_plain || !text.n || is_large;
	for (size_t i = 0; i < 3 && !has; i++)
		has = in[i]->n && memmem(in[i]->p, in[i]->n, text.p, text.n);
	return has;
}
