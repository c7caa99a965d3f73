/*
 * Looking up types by name
 *
 * DWARF has no index of a program's types: the tables of DWARF 5 section 6.1 leave most of them
 * out, and compilers do not write them unless asked. A type is a child of a unit's top DIE, or of a
 * namespace or a class there, and DW_AT_name has its name. So "where is struct x?" means reading
 * .debug_info, 160 MB of it for a kernel. What can be done is to read less.
 *
 * 1. Units that do not have the name are skipped.
 *
 *    A DIE called x holds "x" itself (DW_FORM_string), or the offset of it in .debug_str or
 *    .debug_line_str (strp, line_strp), or the index of such an offset in .debug_str_offsets
 *    (strx): section 7.5.5. So x is looked for in the string sections, wherever a string ends in
 *    it: linkers merge a string into the tail of another. Then .debug_info is searched for these
 *    offsets, four bytes each, and for the first four of the name, at the speed of memory; unit
 *    after unit, so that a common name is found early. A unit in which none of them occurs has no
 *    DIE of that name.
 *
 *    Where one occurs, it is mostly the name of a member or a variable, or of a struct that is only
 *    declared. But in a type's DIE the name has its place: so many bytes behind the number of the
 *    DIE's abbreviation. The bytes before it tell whether this may be a type, of which kind, and
 *    whether it is a definition. A unit that has none of the kind that is asked for is skipped,
 *    too.
 *
 *    Where this proves nothing, units are read: all of them for a name with very many offsets, or a
 *    very short one; when the offset is in .debug_str_offsets, since units then have its index; and
 *    when a definition without a name may complete a declaration in another unit, which has it
 *    (DW_AT_specification as DW_FORM_ref_addr). One unit, when its types have their names behind
 *    something of variable size.
 *
 * 2. In a unit, what nobody asked for is skipped.
 *
 *    A DIE is the number of an abbreviation, and then values in the order and the forms that this
 *    abbreviation lists (section 7.5.3). Each abbreviation is compiled into steps such as "1 byte,
 *    the name as strp, 7 bytes, the sibling": a DIE then costs a few additions.
 *
 *    Types that can be named from elsewhere are at the top of a unit and in namespaces, classes,
 *    structs and unions; in C only at the top. DW_AT_sibling leads past everything else where the
 *    compiler writes it; otherwise that is read up to the 0 at its end (section 2.3). Most of it is
 *    in functions. A function may have a type of that name to itself, and the caller may want to
 *    know: when the search has met more definitions than were found, the unit is read whole.
 *
 * libdw decodes what was found, by its offset. It also takes over a unit that is corrupt or has
 * forms that are not known here, and whole files of the other kinds: relocatable objects, split
 * units, type units, files with a dwz file: dwfind.c sees to that. The tests compare the two ways
 * for all names of many files.
 */
#include "dwarf/dwscan.h"

#include <dwarf.h>
#include <endian.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/reader.h"
#include "elf/debugfile.h"

/** A unit's header, DWARF 5 section 7.5.1. */
struct header {
	uint64_t abbrev_off;
	uint32_t version;
	uint16_t addr_size, off_size; // without padding: headers are compared
};

struct unit {
	uint64_t off, dies, end; /**< in .debug_info: its header, its first DIE, the next unit */
	struct header h;
	unsigned question; /**< of which the rest is the answer: */
	uint16_t kinds;	   /**< NAME_* that may have the name; << DEFINES: that may define it */
	uint8_t n_defs[NAME_N_KINDS]; /**< definitions, by kind; 255: or more */
};
enum { DEFINES = 8, ANY_KIND = 0x3f3f };

/** How a value is read, or stepped over. */
enum op {
	OP_UNKNOWN,
	OP_SKIP,     /**< n bytes */
	OP_LEB128,   /**< a number */
	OP_STRING,   /**< up to a NUL */
	OP_BLOCK,    /**< a length of n bytes, or LEB128 for 0, and as many bytes */
	OP_NAME,     /**< DW_AT_name, its form in n */
	OP_SIBLING,  /**< DW_AT_sibling, n bytes, or LEB128 for 0 */
	OP_DECL,     /**< DW_AT_declaration, a byte */
	OP_LANG,     /**< DW_AT_language, n bytes, or LEB128 for 0 */
	OP_STR_BASE, /**< DW_AT_str_offsets_base, n bytes */
};

struct step {
	uint8_t op;
	uint32_t n;
};

struct abbrev {
	uint16_t tag, lang; /**< DW_AT_language as DW_FORM_implicit_const */
	uint8_t kind;	    /**< one of NAME_*, or 0 */
	uint8_t before;	    /**< of a type: bytes between the number and the name */
	bool is_known;	    /**< the table has this number */
	bool has_children, has_enum_class;
	bool is_decl;	   /**< DW_AT_declaration as DW_FORM_flag_present */
	uint32_t first, n; /**< its steps */
};

enum { N_FORMS = DW_FORM_addrx4 + 1 };

struct abbrevs {
	VEC(struct abbrev) by_code; /**< [0] is unused */
	VEC(struct step) steps;
	struct header of;	    /**< the units that it is for */
	struct step forms[N_FORMS]; /**< their values */
	uint64_t befores;	    /**< bits: `before` of any type */
	bool is_sure;		    /**< no type has its name elsewhere */
	bool is_good;
};

struct dwindex {
	struct dwsrc *src;
	struct str info, abbrev, str, line_str, str_offsets; /**< as libdw has them, decompressed */
	bool big;
	bool has_addr;	     /**< there is .debug_addr */
	bool is_plain;	     /**< of the kind that is read here */
	bool spec_elsewhere; /**< there may be a DW_AT_specification in another unit */
	int fd;		     /**< the file that libdw has mapped `info` from; -1: it is in memory */
	uint64_t info_off;   /**< where in that file */
	VEC(struct unit) units; /**< in order, without gaps */
	size_t n_prepared;	/**< units whose headers libdw may look at */
	struct str last_name;	/**< of the last question, with its NUL */
	unsigned question;	/**< its number */
	struct abbrevs abbrevs; /**< of the last unit that was looked at */
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
		if (!name || shdr.sh_type == SHT_NOBITS)
			continue;
		ix->has_addr |= strcmp(name, ".debug_addr") == 0;
		if (!take_section(ix, scn, name))
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
	if (ix->src->slim || (ix->info.n <= SMALL && !ix->src->acts_large))
		return;
	const char *map = elf_rawfile(elf, &size);
	if (map && ix->info.p >= map && ix->info.p < map + size &&
	    img_debugfile(ix->src->img, &file) && file->size == size) {
		ix->fd = file->fd;
		ix->info_off = (uint64_t)(ix->info.p - map);
	}
}

/**
 * @n bytes of .debug_info at @off, read into @buf when it is in a file: touching all of a mapping
 * takes as much memory, and more time than reading it. NULL when the file has shrunk.
 */
static const char *bytes_at(const struct dwindex *ix, uint64_t off, size_t n, char *buf)
{
	if (ix->fd < 0)
		return ix->info.p + off;
	return file_read_at(ix->fd, buf, n, ix->info_off + off) ? buf : NULL;
}

/**
 * Reads the header at u->off, where @left bytes are. False for another kind of unit, and when it is
 * corrupt.
 */
static bool read_header(struct reader *r, uint64_t left, struct unit *u)
{
	struct header *h = &u->h;
	unsigned type = DW_UT_compile;
	uint64_t length = reader_u32(r);
	h->off_size = 4;
	if (length == UINT32_MAX) {
		h->off_size = 8;
		length = reader_u64(r);
	}
	uint64_t start = reader_offset(r); // which the length is counted from
	h->version = reader_u16(r);
	if (h->version >= 5) {
		type = reader_u8(r);
		h->addr_size = reader_u8(r);
		h->abbrev_off = reader_uint(r, h->off_size);
	} else {
		h->abbrev_off = reader_uint(r, h->off_size);
		h->addr_size = reader_u8(r);
	}
	u->dies = u->off + reader_offset(r);
	u->end = u->off + start + length;
	return !r->err && length <= left - start && u->dies <= u->end && h->version >= 2 &&
	       h->version <= 5 && h->addr_size <= 8 &&
	       (type == DW_UT_compile || type == DW_UT_partial);
}

/** False when one of the units is of another kind, or corrupt. */
static bool list_units(struct dwindex *ix)
{
	enum { MAX_HEADER = 24 };
	struct unit u = {.end = 0};
	while (u.end < ix->info.n) {
		char buf[MAX_HEADER];
		struct reader r;
		u.off = u.end;
		uint64_t left = ix->info.n - u.off;
		size_t n = left < MAX_HEADER ? (size_t)left : MAX_HEADER;
		const char *p = bytes_at(ix, u.off, n, buf);
		if (!p)
			return false;
		reader_init(&r, p, n, ix->big);
		if (!read_header(&r, left, &u))
			return false;
		// GNU's split units of DWARF 4 have .debug_addr and look like plain ones otherwise;
		// clang 14 writes it for plain units of DWARF 5, too: there the header tells.
		if (ix->has_addr && u.h.version < 5)
			return false;
		vec_push(ix->src->arena, &ix->units, u);
	}
	return true;
}

// --- Bytes that are searched for

/**
 * The more words there are, the longer a search takes; of more than these, reading all units takes
 * less. A section may be a hole of the file, which takes memory only when it is searched.
 */
enum { MAX_WORDS = 16, MAX_SEARCHED = 512 << 20 };

enum { LANES = 16, BLOCK = 4 * LANES };
typedef uint8_t lanes __attribute__((vector_size(LANES)));

/**
 * Words of four bytes, as they are in memory, and their first and second bytes LANES times each.
 */
struct search {
	uint32_t words[MAX_WORDS];
	lanes first[MAX_WORDS], second[MAX_WORDS];
	unsigned n;
	unsigned question;
	bool is_any; /**< nothing can be told: every unit may have the name */
};

static void add_word(struct search *s, const void *bytes)
{
	const uint8_t *p = bytes;
	s->is_any |= s->n == MAX_WORDS;
	if (s->is_any)
		return;
	memcpy(&s->words[s->n], p, 4);
	s->first[s->n] = (lanes){0} + p[0];
	s->second[s->n] = (lanes){0} + p[1];
	s->n++;
}

/** The first two bytes of some word are among the BLOCK + 1 at @p. */
static inline bool may_have_word(const struct search *s, const char *p)
{
	lanes here, next, found = {0};
	uint64_t any[2];
	for (size_t i = 0; i < BLOCK; i += LANES) {
		memcpy(&here, p + i, LANES);
		memcpy(&next, p + i + 1, LANES);
		for (unsigned k = 0; k < s->n; k++)
			found |= (lanes)(here == s->first[k]) & (lanes)(next == s->second[k]);
	}
	memcpy(any, &found, sizeof(any));
	return any[0] | any[1];
}

/** The next place of a word from @from on; @n at the end. */
static size_t next_place(const struct search *s, const char *p, size_t n, size_t from)
{
	for (size_t at = from, end; at + 4 <= n; at = end) {
		end = n - at >= BLOCK + 4 ? at + BLOCK : n - 3;
		if (end == at + BLOCK && !may_have_word(s, p + at))
			continue;
		for (; at < end; at++) {
			uint32_t word;
			memcpy(&word, p + at, 4);
			for (unsigned k = 0; k < s->n; k++)
				if (word == s->words[k])
					return at;
		}
	}
	return n;
}

/** Adds the offsets of the name, which has its NUL, in a section of strings. */
static void add_offsets(struct search *s, struct str section, struct str name, bool big)
{
	struct str rest = section;
	const char *p;
	while (!s->is_any && rest.n && (p = memmem(rest.p, rest.n, name.p, name.n))) {
		uint64_t off = (uint64_t)(p - section.p);
		uint32_t word = big ? htobe32((uint32_t)off) : htole32((uint32_t)off);
		s->is_any = off > UINT32_MAX;
		add_word(s, &word);
		rest = str_from_offset(section, off + 1);
	}
}

static void search_begin(struct dwindex *ix, struct str name, struct search *s)
{
	struct str z = {str_dup(ix->src->arena, name), name.n + 1};
	if (!str_eq(ix->last_name, z)) {
		ix->question++;
		ix->last_name = z;
	}
	s->question = ix->question;
	s->n = 0;

	s->is_any = z.n < 4 || ix->spec_elsewhere ||
		    ix->str.n + ix->line_str.n + ix->str_offsets.n > MAX_SEARCHED;
	add_offsets(s, ix->str, z, ix->big);
	add_offsets(s, ix->line_str, z, ix->big);
	struct str table = ix->str_offsets;
	s->is_any |= s->n && next_place(s, table.p, table.n, 0) < table.n;
	add_word(s, z.p);
}

/** Some abbreviation seems to have a DW_AT_specification in another unit. */
static bool may_have_spec_elsewhere(struct str abbrev)
{
	struct str rest = abbrev;
	const char *p;
	if (abbrev.n > MAX_SEARCHED)
		return true;
	while (rest.n && (p = memchr(rest.p, DW_AT_specification, rest.n))) {
		rest = str_from_offset(abbrev, (size_t)(p - abbrev.p) + 1);
		if (rest.n && rest.p[0] == DW_FORM_ref_addr)
			return true;
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
		ix->spec_elsewhere = ix->is_plain && may_have_spec_elsewhere(ix->abbrev);
	}
	return ix;
}

// --- Abbreviations, DWARF 5 section 7.5.3

/** The steps over values of each form, in units with header @h: section 7.5.5 and 7.5.6. */
static void set_forms(struct step forms[N_FORMS], const struct header *h)
{
	// An address in DWARF 2, an offset since.
	unsigned ref_addr = h->version <= 2 ? h->addr_size : h->off_size;
	const struct {
		struct step step;
		uint8_t forms[8];
	} groups[] = {
	    {{OP_SKIP, 0}, {DW_FORM_flag_present, DW_FORM_implicit_const}},
	    {{OP_SKIP, 1},
	     {DW_FORM_data1, DW_FORM_ref1, DW_FORM_flag, DW_FORM_strx1, DW_FORM_addrx1}},
	    {{OP_SKIP, 2}, {DW_FORM_data2, DW_FORM_ref2, DW_FORM_strx2, DW_FORM_addrx2}},
	    {{OP_SKIP, 3}, {DW_FORM_strx3, DW_FORM_addrx3}},
	    {{OP_SKIP, 4}, {DW_FORM_data4, DW_FORM_ref4, DW_FORM_strx4, DW_FORM_addrx4}},
	    {{OP_SKIP, 8}, {DW_FORM_data8, DW_FORM_ref8, DW_FORM_ref_sig8}},
	    {{OP_SKIP, 16}, {DW_FORM_data16}},
	    {{OP_SKIP, h->addr_size}, {DW_FORM_addr}},
	    {{OP_SKIP, h->off_size}, {DW_FORM_strp, DW_FORM_line_strp, DW_FORM_sec_offset}},
	    {{OP_SKIP, ref_addr}, {DW_FORM_ref_addr}},
	    {{OP_LEB128, 0},
	     {DW_FORM_udata, DW_FORM_sdata, DW_FORM_ref_udata, DW_FORM_strx, DW_FORM_addrx,
	      DW_FORM_loclistx, DW_FORM_rnglistx}},
	    {{OP_STRING, 0}, {DW_FORM_string}},
	    {{OP_BLOCK, 0}, {DW_FORM_block, DW_FORM_exprloc}},
	    {{OP_BLOCK, 1}, {DW_FORM_block1}},
	    {{OP_BLOCK, 2}, {DW_FORM_block2}},
	    {{OP_BLOCK, 4}, {DW_FORM_block4}},
	};
	memset(forms, OP_UNKNOWN, N_FORMS * sizeof(*forms));
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		for (size_t k = 0; k < sizeof(groups[i].forms) && groups[i].forms[k]; k++)
			forms[groups[i].forms[k]] = groups[i].step;
}

/**
 * What an attribute is read by, in place of the step @over it; OP_UNKNOWN when one that matters has
 * an odd form.
 */
static struct step step_for(struct abbrev *ab, uint64_t name, uint64_t form, struct step over)
{
	bool is_string = form == DW_FORM_string || form == DW_FORM_strp ||
			 form == DW_FORM_line_strp || form == DW_FORM_strx ||
			 (form >= DW_FORM_strx1 && form <= DW_FORM_strx4);
	bool is_number = form == DW_FORM_udata || (over.op == OP_SKIP && over.n && over.n <= 4);
	bool is_wanted = ab->kind || dwname_is_scope(ab->tag);
	switch (name) {
	case DW_AT_name:
		if (is_wanted)
			over = (struct step){is_string ? OP_NAME : OP_UNKNOWN, (uint32_t)form};
		break;
	case DW_AT_sibling:
		if (form == DW_FORM_ref_udata || (form >= DW_FORM_ref1 && form <= DW_FORM_ref8))
			over.op = OP_SIBLING;
		break;
	case DW_AT_declaration:
		ab->is_decl = form == DW_FORM_flag_present;
		if (!ab->is_decl)
			over.op = form == DW_FORM_flag ? OP_DECL : OP_UNKNOWN;
		break;
	case DW_AT_language:
		if (form != DW_FORM_implicit_const)
			over.op = is_number ? OP_LANG : OP_UNKNOWN;
		break;
	case DW_AT_str_offsets_base:
		over.op = form == DW_FORM_sec_offset ? OP_STR_BASE : OP_UNKNOWN;
		break;
	case DW_AT_specification:
	case DW_AT_signature:
		// Its name is elsewhere. Today's compilers have that in plain files for functions
		// and variables alone.
		if (is_wanted)
			over.op = OP_UNKNOWN;
		break;
	default:
		ab->has_enum_class |= name == DW_AT_enum_class;
	}
	return over;
}

/** Neighbours of fixed size are one step. */
static void add_step(struct arena *a, struct abbrevs *t, struct abbrev *ab, struct step step)
{
	struct step *last = ab->n ? &t->steps.v[t->steps.n - 1] : NULL;
	if (step.op == OP_SKIP && last && last->op == OP_SKIP) {
		last->n += step.n;
	} else if (step.op != OP_SKIP || step.n) {
		vec_push(a, &t->steps, step);
		ab->n++;
	}
}

/** Takes down where the DIEs of @ab, which are types, have their names. */
static void place_name(struct abbrevs *t, struct abbrev *ab)
{
	enum { MAX_BEFORE = 63 };
	uint32_t before = 0;
	bool is_fixed = true;
	for (uint32_t i = ab->first; i < ab->first + ab->n; i++) {
		struct step step = t->steps.v[i];
		if (step.op == OP_NAME && is_fixed) {
			ab->before = (uint8_t)before;
			t->befores |= (uint64_t)1 << before;
		}
		t->is_sure &= step.op != OP_NAME || is_fixed;
		before += step.n;
		is_fixed &= step.n && step.op != OP_BLOCK && before <= MAX_BEFORE;
	}
}

/** LEB128, mostly of one byte. */
static inline uint64_t read_uleb(struct reader *r)
{
	return r->p < r->end && *r->p < 0x80 ? *r->p++ : reader_uleb(r);
}

static bool compile_abbrev(struct arena *a, struct abbrevs *t, struct reader *r, uint64_t code)
{
	enum { MAX_CODE = 1 << 16, MAX_STEPS = 1 << 20 };
	while (t->by_code.n <= code && code < MAX_CODE)
		vec_push(a, &t->by_code, (struct abbrev){0});
	uint64_t tag = read_uleb(r);
	if (code >= MAX_CODE || t->by_code.v[code].is_known || tag > UINT16_MAX)
		return false;
	struct abbrev *ab = &t->by_code.v[code];
	*ab = (struct abbrev){.tag = (uint16_t)tag, .before = UINT8_MAX, .is_known = true};
	ab->kind = (uint8_t)dwname_kind_of_tag(ab->tag);
	ab->has_children = reader_u8(r) == DW_CHILDREN_yes;
	ab->first = (uint32_t)t->steps.n;
	while (t->steps.n < MAX_STEPS && !r->err) {
		uint64_t name = read_uleb(r), form = read_uleb(r);
		int64_t value = form == DW_FORM_implicit_const ? reader_sleb(r) : 0;
		if (!name && !form) {
			if (ab->kind)
				place_name(t, ab);
			return !r->err;
		}
		if (name == DW_AT_language)
			ab->lang = (uint16_t)value;
		struct step step = form < N_FORMS ? t->forms[form] : (struct step){OP_UNKNOWN, 0};
		if (step.op != OP_UNKNOWN)
			step = step_for(ab, name, form, step);
		if (step.op == OP_UNKNOWN)
			return false;
		add_step(a, t, ab, step);
	}
	return false;
}

/**
 * Makes ix->abbrevs the table of @h; false when that is corrupt, or has a form that is not known.
 */
static bool compile_abbrevs(struct dwindex *ix, const struct header *h)
{
	struct abbrevs *t = &ix->abbrevs;
	if (t->is_good && memcmp(&t->of, h, sizeof(*h)) == 0)
		return true;
	t->by_code.n = t->steps.n = t->befores = 0;
	t->of = *h;
	set_forms(t->forms, h);
	t->is_good = false;
	// Of an offset of eight bytes the lower half is searched for, which is behind the other one
	// then.
	t->is_sure = !ix->big || h->off_size == 4;
	if (h->abbrev_off >= ix->abbrev.n)
		return false;
	struct reader r;
	reader_init(&r, ix->abbrev.p + h->abbrev_off, ix->abbrev.n - h->abbrev_off, ix->big);
	for (uint64_t code; (code = read_uleb(&r));)
		if (!compile_abbrev(ix->src->arena, t, &r, code))
			return false;
	return t->is_good = !r.err;
}

// --- Which units may have the name

/**
 * Kinds of types that may have the name at @at of a unit's @bytes, by what is before it: the number
 * of an abbreviation, a LEB128 of which only the end is known, and a few bytes.
 */
static unsigned kinds_at(const struct abbrevs *t, const char *bytes, size_t at)
{
	unsigned kinds = 0;
	for (uint64_t left = t->befores; left; left &= left - 1) {
		unsigned before = (unsigned)__builtin_ctzll(left);
		uint64_t code = 0;
		for (size_t n = 1; n <= 9 && before + n <= at; n++) {
			uint8_t byte = (uint8_t)bytes[at - before - n];
			if ((n == 1) != (byte < 0x80))
				break;
			code = code << 7 | (byte & 0x7f);
			const struct abbrev *ab = &t->by_code.v[code < t->by_code.n ? code : 0];
			if (ab->is_known && ab->before == before)
				kinds |= ab->is_decl ? ab->kind : ab->kind | ab->kind << DEFINES;
		}
	}
	return kinds;
}

/** Sets u->kinds and u->n_defs. */
static void search_unit(struct dwindex *ix, const struct search *s, struct unit *u)
{
	// Pieces overlap by what has to be looked at before a word.
	enum { PIECE = 1 << 16, OVERLAP = 80 };
	char buf[PIECE];
	size_t n, from = 0;
	bool is_any = s->is_any;
	if (u->question == s->question)
		return;
	u->question = s->question;
	u->kinds = 0;
	memset(u->n_defs, 0, sizeof(u->n_defs));
	for (uint64_t off = u->dies; !is_any; off += n - OVERLAP, from = OVERLAP - 3) {
		n = u->end - off < PIECE ? (size_t)(u->end - off) : PIECE;
		const char *p = bytes_at(ix, off, n, buf);
		is_any = !p;
		for (size_t at = from; !is_any && (at = next_place(s, p, n, at)) < n; at++) {
			is_any = !compile_abbrevs(ix, &u->h) || !ix->abbrevs.is_sure;
			unsigned kinds = is_any ? 0 : kinds_at(&ix->abbrevs, p, at);
			u->kinds |= (uint16_t)kinds;
			for (unsigned k = 0; k < NAME_N_KINDS; k++)
				if (kinds >> DEFINES >> k & 1 && u->n_defs[k] < UINT8_MAX)
					u->n_defs[k]++;
		}
		if (off + n == u->end)
			break;
	}
	if (is_any) {
		u->kinds = ANY_KIND;
		memset(u->n_defs, UINT8_MAX, sizeof(u->n_defs));
	}
}

// --- The DIEs of a unit, one after the other

struct dies {
	struct dwindex *ix;
	const struct unit *u;
	struct reader in;  /**< the unit's bytes; `err`: corrupt, or something that is not known */
	uint64_t str_base; /**< where DW_FORM_strx counts from in .debug_str_offsets */
	bool is_c;	   /**< no types inside of types in this language */
};

struct die {
	const struct abbrev *ab;
	uint64_t off; /**< in .debug_info */
	bool is_decl;
	struct str name;	/**< from there to the end of its section; empty: none */
	const uint8_t *sibling; /**< or NULL */
};

static inline uint64_t read_number(struct reader *r, unsigned n)
{
	return n == 4 ? reader_u32(r) : n ? reader_uint(r, n) : read_uleb(r);
}

static inline void skip(struct reader *r, uint64_t n)
{
	if (n > (uint64_t)(r->end - r->p))
		r->err = true;
	else
		r->p += n;
}

static struct str string_at(struct str section, uint64_t off)
{
	return off < section.n ? str_from_offset(section, off) : STR("");
}

static void read_name(struct dies *r, unsigned form, struct die *d)
{
	const struct dwindex *ix = r->ix;
	unsigned size = r->u->h.off_size;
	if (form == DW_FORM_string) {
		d->name = string_at(ix->info, r->u->off + reader_offset(&r->in));
		reader_cstr(&r->in);
	} else if (form == DW_FORM_strp || form == DW_FORM_line_strp) {
		d->name = string_at(form == DW_FORM_strp ? ix->str : ix->line_str,
				    read_number(&r->in, size));
	} else {
		struct str table = string_at(ix->str_offsets, r->str_base);
		uint64_t i =
		    read_number(&r->in, form == DW_FORM_strx ? 0 : form - DW_FORM_strx1 + 1);
		struct reader entry;
		reader_init(&entry, table.p, table.n, ix->big);
		reader_skip(&entry, i < table.n / size ? i * size : UINT64_MAX);
		d->name = string_at(ix->str, reader_uint(&entry, size));
		r->in.err |= entry.err;
	}
}

static inline void run_step(struct dies *r, struct step step, struct die *d)
{
	struct reader *in = &r->in;
	uint64_t v;
	switch (step.op) {
	case OP_SKIP:
		skip(in, step.n);
		break;
	case OP_LEB128:
		read_uleb(in);
		break;
	case OP_STRING:
		reader_cstr(in);
		break;
	case OP_BLOCK:
		skip(in, read_number(in, step.n));
		break;
	case OP_NAME:
		read_name(r, step.n, d);
		break;
	case OP_SIBLING:
		v = read_number(in, step.n);
		// Only forward and inside of the unit: anything else is corrupt, which libdw may
		// describe.
		if (v > (uint64_t)(in->end - in->start) || in->start + v <= in->p)
			in->err = true;
		else
			d->sibling = in->start + v;
		break;
	case OP_DECL:
		d->is_decl |= reader_u8(in) != 0;
		break;
	case OP_LANG:
		v = read_number(in, step.n);
		r->is_c = v <= UINT16_MAX && dwsrc_lang_is_c((int)v);
		break;
	case OP_STR_BASE:
		r->str_base = read_number(in, step.n);
		break;
	default:
		break;
	}
}

/**
 * Reads the next DIE; false at the end of a list of siblings, and, with in.err, when they are
 * corrupt.
 */
static bool next_die(struct dies *r, struct die *d)
{
	const struct abbrevs *t = &r->ix->abbrevs;
	*d = (struct die){.off = r->u->off + reader_offset(&r->in)};
	uint64_t code = r->in.p < r->in.end ? read_uleb(&r->in) : 0;
	if (!code || r->in.err)
		return false;
	if (code >= t->by_code.n || !t->by_code.v[code].is_known) {
		r->in.err = true;
		return false;
	}
	d->ab = &t->by_code.v[code];
	d->is_decl = d->ab->is_decl;
	for (uint32_t i = 0; i < d->ab->n; i++)
		run_step(r, t->steps.v[d->ab->first + i], d);
	return !r->in.err;
}

/** Steps over the children of @d, which was just read. */
static void skip_children(struct dies *r, const struct die *d)
{
	struct die child;
	unsigned depth = !d->sibling;
	if (d->sibling)
		r->in.p = d->sibling;
	while (depth > 0) {
		if (next_die(r, &child)) {
			if (child.sibling && child.ab->has_children)
				r->in.p = child.sibling;
			else
				depth += child.ab->has_children;
		} else if (r->in.err || r->in.p >= r->in.end) {
			return;
		} else {
			depth--;
		}
	}
}

/**
 * Reads the top DIE of @u; next come its children. False when there are none, and, with in.err,
 * when it is corrupt.
 */
static bool begin_unit(struct dies *r, const struct unit *u)
{
	const struct dwindex *ix = r->ix;
	struct die top;
	r->u = u;
	reader_init(&r->in, ix->info.p + u->off, u->end - u->off, ix->big);
	reader_skip(&r->in, u->dies - u->off);
	// Without DW_AT_str_offsets_base it is behind the table's header: a length, a version and
	// padding (7.26).
	r->str_base = 2 * u->h.off_size;
	r->is_c = false;
	if (!compile_abbrevs(r->ix, &u->h)) {
		r->in.err = true;
		return false;
	}
	if (!next_die(r, &top))
		return false;
	if (top.ab->lang)
		r->is_c = dwsrc_lang_is_c(top.ab->lang);
	return top.ab->has_children;
}

/** DW_AT_name of @d itself; empty when it has none. */
static struct str name_of(const struct die *d)
{
	const char *nul = d->name.n ? memchr(d->name.p, 0, d->name.n) : NULL;
	return (struct str){d->name.p, nul ? (size_t)(nul - d->name.p) : 0};
}

static bool has_name(const struct die *d, struct str name)
{
	return d->name.n > name.n && memcmp(d->name.p, name.p, name.n) == 0 &&
	       d->name.p[name.n] == '\0';
}

// --- What a unit has of the name

struct scan {
	struct dies r;
	const struct dwquery *q; /**< NULL: every name is wanted, without its DIE */
	unsigned kinds;
	struct str wanted;	/**< last part of the name */
	VEC(struct dwhit) hits; /**< of the unit that is read */
	unsigned n_defs;	/**< definitions of that name that were met in it */
	struct str scopes[DWSRC_MAX_DEPTH];
	dwname_fn *fn; /**< for every name, when there is no query */
	void *ctx;
	bool has_stopped;
};

/**
 * libdw's DIE at @off. On the way it looks at the header of each unit before that one, and for each
 * the kernel maps 16 pages of the file; but a page of a private mapping that is written to comes
 * alone. Where this fails, it only costs memory.
 */
static bool find_die(struct dwindex *ix, uint64_t off, Dwarf_Die *ret)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), last = 0;
	for (; ix->fd >= 0 && ix->n_prepared < ix->units.n; ix->n_prepared++) {
		const struct unit *u = &ix->units.v[ix->n_prepared];
		uintptr_t at = ((uintptr_t)ix->info.p + u->off) & ~(page - 1);
		if (u->off > off)
			break;
		if (at != last)
			madvise((void *)at, page, MADV_POPULATE_WRITE);
		last = at;
	}
#endif
	return dwarf_offdie(ix->src->dbg, off, ret) != NULL;
}

/** Keeps a hit until the unit is read, which may yet turn out to be corrupt. */
static void keep(struct scan *w, const struct die *d, uint64_t owner, unsigned depth)
{
	struct dwindex *ix = w->r.ix;
	struct dwhit hit = {.kind = d->ab->kind,
			    .is_decl = d->is_decl,
			    .scopes = w->scopes,
			    .n_scopes = depth,
			    .name = w->q ? w->wanted : name_of(d)};
	if (!w->q) {
		w->has_stopped = hit.name.n && !w->fn(w->ctx, &hit);
	} else if (!find_die(ix, d->off, &hit.die) || (owner && !find_die(ix, owner, &hit.owner))) {
		w->r.in.err = true;
	} else if (dwquery_fits(w->q, &hit)) {
		hit.scopes = dwhit_copy_scopes(ix->src->arena, &hit);
		vec_push(ix->src->arena, &w->hits, hit);
	}
}

static void scan_children(struct scan *w, uint64_t owner, unsigned depth);

static void scan_inside(struct scan *w, const struct die *d, unsigned depth)
{
	bool is_enum = d->ab->tag == DW_TAG_enumeration_type && w->kinds & NAME_ENUMERATOR;
	bool is_scope =
	    dwname_is_scope(d->ab->tag) && (!w->r.is_c || d->ab->tag == DW_TAG_namespace);
	if ((!is_enum && !is_scope) || depth + 1 >= DWSRC_MAX_DEPTH) {
		skip_children(&w->r, d);
	} else if (is_enum && !d->ab->has_enum_class) {
		// Enumerators of an unscoped enum belong to the scope around it.
		scan_children(w, d->off, depth);
	} else {
		w->scopes[depth] = name_of(d);
		scan_children(w, is_enum ? d->off : 0, depth + 1);
	}
}

/** @owner: the enum that they are in, or 0. */
static void scan_children(struct scan *w, uint64_t owner, unsigned depth)
{
	struct die d;
	while (!w->r.in.err && !w->has_stopped && next_die(&w->r, &d)) {
		if (d.ab->kind == NAME_ENUMERATOR && !owner)
			continue; // corrupt: outside of any enum
		if (d.ab->kind & w->kinds) {
			bool is_named = w->q && has_name(&d, w->wanted);
			w->n_defs += is_named && !d.is_decl;
			if (!w->q || is_named)
				keep(w, &d, owner, depth);
		}
		if (d.ab->has_children && owner)
			skip_children(&w->r, &d); // corrupt: an enum has no scopes
		else if (d.ab->has_children)
			scan_inside(w, &d, depth);
	}
}

/** One unit: its hits are in w->hits. False when it cannot be read here. */
static bool scan_unit(struct scan *w, const struct unit *u)
{
	w->hits.n = w->n_defs = 0;
	if (begin_unit(&w->r, u))
		scan_children(w, 0, 0);
	return !w->r.in.err;
}

/** In the unit that was just read, more definitions have the name than were met: in functions. */
static bool has_inner(struct scan *w)
{
	const struct unit *u = w->r.u;
	struct die d;
	unsigned n = 0;
	bool is_more = false;
	for (unsigned k = 0; k < NAME_N_KINDS; k++)
		if (w->kinds >> k & 1) {
			n += u->n_defs[k];
			is_more |= u->n_defs[k] == UINT8_MAX;
		}
	if (n <= w->n_defs && !is_more)
		return false;
	n = 0;
	for (unsigned depth = begin_unit(&w->r, u); depth && !w->r.in.err;) {
		if (!next_die(&w->r, &d)) {
			depth--;
			continue;
		}
		n += d.ab->kind & w->kinds && !d.is_decl && has_name(&d, w->wanted);
		depth += d.ab->has_children;
	}
	return w->r.in.err || n > w->n_defs;
}

/** A unit that cannot be read here. */
static bool walk_unit(struct dwindex *ix, const struct unit *u, unsigned kinds, dwname_fn *fn,
		      void *ctx)
{
	Dwarf_Die top;
	return !dwarf_offdie(ix->src->dbg, u->dies, &top) ||
	       dwname_walk_unit(ix->src, &top, kinds, fn, ctx);
}

/**
 * The units that begin before @most; false when none has the name and it may be spaced otherwise.
 */
static bool scan_units(struct dwindex *ix, const struct dwquery *q, uint64_t most, dwname_fn *fn,
		       void *ctx)
{
	struct str name = q->name.parts[q->name.n_parts - 1];
	struct scan w = {.r.ix = ix, .q = q, .kinds = q->name.kinds, .wanted = name};
	struct dwname_filter f = {q, fn, ctx};
	struct search search;
	bool any = false, unused = true, *in_body = q->in_body ? q->in_body : &unused;
	search_begin(ix, name, &search);
	for (size_t i = 0; i < ix->units.n && ix->units.v[i].off < most; i++) {
		struct unit *u = &ix->units.v[i];
		progress_step("reading debug information", 0, 0);
		search_unit(ix, &search, u);
		if (!(u->kinds & (q->no_decls ? w.kinds << DEFINES : w.kinds)))
			continue;
		bool is_read = scan_unit(&w, u);
		*in_body = *in_body || !is_read || has_inner(&w);
		any |= !is_read || w.hits.n;
		bool goes_on = is_read || walk_unit(ix, u, w.kinds, dwname_filter, &f);
		for (size_t k = 0; k < w.hits.n && is_read && goes_on; k++)
			goes_on = fn(ctx, &w.hits.v[k]);
		*in_body |= !goes_on; // the rest is not looked at
		if (!goes_on)
			return true;
	}
	return any || !memchr(name.p, '<', name.n);
}

bool dwscan_is_plain(struct dwsrc *src)
{
	return open_index(src)->is_plain;
}

/** Bytes of .debug_info that take some 50 ms to read. */
enum { LARGE = 64 << 20 };

bool dwscan_is_large(struct dwsrc *src)
{
	struct dwindex *ix = open_index(src);
	return ix->is_plain && (ix->info.n >= LARGE || src->acts_large);
}

bool dwscan_find(struct dwsrc *src, const struct dwquery *q, uint64_t most, dwname_fn *fn,
		 void *ctx)
{
	struct dwindex *ix = open_index(src);
	return ix->is_plain && scan_units(ix, q, most, fn, ctx);
}

void dwscan_names(struct dwsrc *src, unsigned kinds, dwname_fn *fn, void *ctx)
{
	struct dwindex *ix = open_index(src);
	struct scan w = {.r.ix = ix, .kinds = kinds, .fn = fn, .ctx = ctx};
	for (size_t i = 0; i < ix->units.n && !w.has_stopped; i++) {
		struct unit *u = &ix->units.v[i];
		progress_step("reading debug information", 0, 0);
		w.has_stopped |= !scan_unit(&w, u) && !walk_unit(ix, u, kinds, fn, ctx);
	}
}

struct str dwscan_strings(struct dwsrc *src)
{
	return open_index(src)->str;
}
