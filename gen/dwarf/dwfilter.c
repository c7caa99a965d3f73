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
 * 3. Walk the other units with libdw, and those whose types may have their names in other DIEs
 *    (DW_AT_specification).
 *
 * dwfind.c lets libdw walk all units of what is not plain: object files, split units, type units, files
 * of dwz. The tests compare with such a walk for all names of many files.
 */
#include "dwarf/dwfilter.h"

#include <dwarf.h>
#include <endian.h>
#include <gelf.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/progress.h"
#include "elf/debugfile.h"

struct unit {
	Dwarf_Die die; /**< the top one */
	uint64_t off, end;
	uint8_t off_size;
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
	VEC(struct unit) units; /**< in order */
	VEC(uint32_t) offsets;	/**< of the name that is asked for, in sections of strings */
	struct dwplaces hits;	/**< where a unit has the name, as far as it was asked */
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

/** False when some section shows that the debug information is of another kind. */
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
		struct unit u;
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
	bool is_any;  /**< nothing is known: every unit may have the name */
	bool is_word; /**< the name may go on, but not with a letter: put<int> */
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

/** The next place of @pass, or in.n. The last pass is the set's. */
static size_t next_place(const struct search *s, unsigned pass, struct str in, size_t from)
{
	return pass < s->n ? next_word(&s->words[pass], in.p, in.n, from)
			   : next_of_set(s, in.p, in.n, from);
}

static unsigned n_passes(const struct search *s)
{
	return s->n + (s->set != NULL);
}

/** Adds the offsets of the name, which has its NUL unless @is_word, in a section of strings. */
static void add_offsets(struct dwindex *ix, struct str section, struct str name, bool is_word)
{
	struct str rest = section;
	const char *p;
	while (rest.n && (p = memmem(rest.p, rest.n, name.p, name.n))) {
		uint32_t off = (uint32_t)(p - section.p);
		rest = str_from_offset(section, (size_t)off + 1);
		if (!is_word || !dwsrc_word(str_slice(section, off + name.n, 1)).n)
			vec_push(ix->src->arena, &ix->offsets, off);
	}
}

/** The first word is the name itself, the others are its offsets. */
static void search_begin(struct dwindex *ix, struct str name, bool is_word, struct search *s)
{
	struct str z = {str_dup(ix->src->arena, name), name.n + !is_word};
	*s = (struct search){.big = ix->big};
	s->is_any = ix->str.n + ix->line_str.n + ix->str_offsets.n > MAX_SEARCHED;
	if (s->is_any)
		return;
	ix->offsets.n = 0;
	add_offsets(ix, ix->str, z, is_word);
	add_offsets(ix, ix->line_str, z, is_word);
	add_word(s, z.p, z.n);
	if (ix->offsets.n < (is_word ? 2 : MAX_WORDS)) {
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

static int compare_hits(const void *a, const void *b)
{
	const struct dwplace *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

/** Adds the places of @pass in @in, which is at @off, to ix->hits; the first one, or all. */
static void add_hits(struct dwindex *ix, const struct search *s, unsigned pass, struct str in,
		     uint64_t off, bool all)
{
	for (size_t at = 0; (at = next_place(s, pass, in, at)) < in.n; at++) {
		vec_push(ix->src->arena, &ix->hits.list, (struct dwplace){off + at});
		if (!all)
			return;
	}
}

/**
 * Where the bytes from @off to @end have the name or an offset of it, into ix->hits: one place, or all. False when
 * there is none.
 */
static bool find_hits(struct dwindex *ix, const struct search *s, uint64_t off, uint64_t end,
		      bool all)
{
	enum { PIECE = 1 << 16, OVERLAP = sizeof(s->words->bytes) - 1 };
	char buf[PIECE];
	size_t n;
	ix->hits.list.n = 0;
	for (;; off += n - OVERLAP) {
		n = end - off < PIECE ? (size_t)(end - off) : PIECE;
		// Touching all of a mapping takes as much memory, and more time than reading it.
		const char *p = ix->fd < 0 ? ix->info.p + off : buf;
		if (p == buf && !file_read_at(ix->fd, buf, n, ix->info_off + off))
			vec_push(ix->src->arena, &ix->hits.list,
				 (struct dwplace){off}); // it has shrunk
		else
			for (unsigned pass = 0; pass < n_passes(s); pass++)
				add_hits(ix, s, pass, (struct str){p, n}, off, all);
		if (off + n == end || (ix->hits.list.n && !all))
			break;
	}
	if (ix->hits.list.n > 1)
		qsort(ix->hits.list.v, ix->hits.list.n, sizeof(*ix->hits.list.v), compare_hits);
	return ix->hits.list.n > 0;
}

/** The unit's table of .debug_str_offsets (section 7.26) seems to have one of the offsets. */
static bool table_has_name(struct dwindex *ix, const struct search *s, const struct unit *u)
{
	Dwarf_Die top = u->die;
	Dwarf_Attribute at;
	Dwarf_Word base = 2 * u->off_size; // libdw's default
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
		if (next_place(s, pass, table, 0) < table.n)
			return true;
	return r.err || left > ix->str_offsets.n;
}

// --- Finding

/** Some abbreviation of a type leaves the name to another DIE. */
static bool types_refer(struct unit *u)
{
	size_t length = 0;
	Dwarf_Abbrev *ab;
	for (Dwarf_Off off = 0;; off += length) {
		ab = dwarf_getabbrev(&u->die, off, &length);
		if (!ab || ab == DWARF_END_ABBREV)
			return !ab;
		unsigned name, form;
		if (!dwname_kind_of_tag((int)dwarf_getabbrevtag(ab)))
			continue;
		for (size_t i = 0; dwarf_getabbrevattr(ab, i, &name, &form, NULL) == 0; i++)
			if (name == DW_AT_specification || name == DW_AT_abstract_origin)
				return true;
	}
}

/** The DIE whose name is at @at, if it seems to begin @back bytes before. */
static bool hit_before(struct dwindex *ix, uint64_t at, unsigned back, struct dwhit *ret)
{
	Dwarf_Attribute name;
	*ret = (struct dwhit){.n_scopes = 0};
	if (!dwarf_offdie(ix->src->dbg, at - back, &ret->die) ||
	    !dwarf_attr(&ret->die, DW_AT_name, &name) ||
	    name.valp != (unsigned char *)ret->die.addr + back)
		return false;
	ret->kind = dwname_kind_of_tag(dwarf_tag(&ret->die));
	ret->name = str_from(dwarf_diename(&ret->die));
	ret->is_decl = dwsrc_flag(&ret->die, DW_AT_declaration);
	return true;
}

/**
 * Is each place of the name in the unit a known definition? It is in most units that include a
 * header, and a walk to the DIE takes longer. The name follows the abbreviation's number, or, as
 * clang has it, a type or a byte after that.
 */
static bool are_known(struct dwindex *ix, const struct unit *u, const struct dwquery *q, void *ctx)
{
	enum { MOST = 6 };
	vec_each(const struct dwplace, p, &ix->hits.list) {
		bool is_known = false;
		for (unsigned back = 1; back <= MOST && p->at >= u->off + back && !is_known;
		     back++) {
			struct dwhit hit;
			is_known = hit_before(ix, p->at, back, &hit) && hit.kind & q->name.kinds &&
				   !hit.is_decl && namequery_is_last(&q->name, hit.name) &&
				   q->is_known(ctx, &hit);
		}
		if (!is_known)
			return false;
	}
	return true;
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
	search_begin(ix, name, false, &s);
	for (size_t i = 0; i < ix->units.n && ix->units.v[i].off < most && goes_on; i++) {
		progress_step("reading debug information");
		struct unit *u = &ix->units.v[i];
		bool has = s.is_any || table_has_name(ix, &s, u);
		bool has_hits = !has && find_hits(ix, &s, u->off, u->end, true);
		if (!has && !has_hits && !(ix->has_far_names && types_refer(u)))
			continue;
		*in_body = true; // who knows
		if (has_hits && q->is_known && !ix->has_far_names && are_known(ix, u, q, ctx))
			continue;
		const struct dwplaces *only = has_hits && !types_refer(u) ? &ix->hits : NULL;
		ix->n_walked += u->end - u->off;
		goes_on = dwname_walk_unit(src, &u->die, only, q->name.kinds, dwname_filter, &f);
	}
	free(s.set);
	// The name of a template may be spaced otherwise.
	return f.n_passed || !memchr(name.p, '<', name.n);
}

// --- Functions

struct named {
	struct dwindex *ix;
	dwfilter_fits_fn *fits;
	void *ctx;
};

/** Is some function below @parent one that fits? */
static bool has_function(const struct named *f, struct dwwalk *w, Dwarf_Die *parent, unsigned depth)
{
	struct dwsrc *src = f->ix->src;
	if (depth >= DWSRC_MAX_DEPTH)
		return false;
	for (Dwarf_Die die = {0}; dwsrc_next_child(src, w, parent, &die);)
		if ((dwarf_tag(&die) == DW_TAG_subprogram && f->fits(f->ctx, src, &die)) ||
		    has_function(f, w, &die, depth + 1))
			return true;
	return false;
}

bool dwfilter_functions(struct dwsrc *src, struct str word, dwfilter_fits_fn *fits, void *ctx,
			dwfilter_unit_fn *fn)
{
	struct dwindex *ix = open_index(src);
	struct named f = {ix, fits, ctx};
	struct search s;
	// Shorter words are everywhere.
	if (!ix->is_plain || ix->has_far_names || word.n < 3)
		return false;
	search_begin(ix, word, true, &s);
	for (size_t i = 0; i < ix->units.n && !src->is_spent; i++) {
		progress_step("reading debug information");
		struct unit *u = &ix->units.v[i];
		bool has = s.is_any || table_has_name(ix, &s, u);
		struct dwwalk w = {.only = &ix->hits};
		if (has ||
		    (find_hits(ix, &s, u->off, u->end, true) && has_function(&f, &w, &u->die, 0)))
			fn(src, &u->die);
	}
	free(s.set);
	return true;
}

/**
 * A separate file whose names are all in .debug_str: in no other file (dwz, split units), and not in .debug_info, as
 * Go's and those of less than four characters are.
 */
static bool has_one_list(const struct dwsrc *src, struct img *file)
{
	static const char *const others[] = {".gnu_debugaltlink", ".debug_sup", ".debug_addr"};
	struct img_section unused;
	bool has = file != src->img && !img_find_header(src->img, ".gopclntab", &unused);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && has; i++)
		has = !img_find_header(file, others[i], &unused);
	return has;
}

bool dwfilter_open_for(struct dwsrc *src, struct str text)
{
	struct img *file;
	struct img_section names;
	bool lacks = !src->dbg && text.n >= 4 && img_debugfile(src->img, &file) &&
		     has_one_list(src, file) && img_find_header(file, ".debug_str", &names) &&
		     names.flags & SHF_COMPRESSED && img_read_section(file, &names) &&
		     names.data.n <= MAX_SEARCHED && names.data.n &&
		     !memmem(names.data.p, names.data.n, text.p, text.n);
	return !lacks && dwsrc_open(src);
}

struct str dwfilter_strings(struct dwsrc *src)
{
	return open_index(src)->str;
}

bool dwfilter_may_have(struct dwsrc *src, struct str text)
{
	struct dwindex *ix = open_index(src);
	const struct str *in[] = {&ix->str, &ix->line_str};
	bool is_large = ix->str.n + ix->line_str.n + ix->info.n > MAX_SEARCHED;
	bool has = !ix->is_plain || !text.n || is_large;
	struct search s = {.big = ix->big};
	for (size_t i = 0; i < 2 && !has; i++)
		has = in[i]->n && memmem(in[i]->p, in[i]->n, text.p, text.n);
	if (!has)
		add_word(&s, text.p, text.n);
	return has || find_hits(ix, &s, 0, ix->info.n, false);
}
