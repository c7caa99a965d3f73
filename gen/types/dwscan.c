#include "types/dwscan.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/reader.h"
#include "types/dwabbrev.h"

/** More places in .debug_str than this, and every unit is looked at. */
enum { MAX_NEEDLES = 8, MAX_HITS = 1 << 16 };

struct unit {
	uint64_t off, end; /**< in .debug_info, header included */
	bool is_candidate;
};

struct dwscan {
	struct dwsrc *src;
	struct str info, abbrev, str, line_str, str_offsets;
	bool big;
	VEC(struct unit) units;
	struct dwabbrevs abbrevs;
};

// --- opening: the sections, as libdw left them (decompressed), and the list of units

static bool take_section(struct dwscan *s, Elf_Scn *scn, const char *name)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
	    {"debug_info", offsetof(struct dwscan, info)},
	    {"debug_abbrev", offsetof(struct dwscan, abbrev)},
	    {"debug_str", offsetof(struct dwscan, str)},
	    {"debug_line_str", offsetof(struct dwscan, line_str)},
	    {"debug_str_offsets", offsetof(struct dwscan, str_offsets)},
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

static bool take_sections(struct dwscan *s)
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

struct header {
	unsigned version, off_size, addr_size, type;
	uint64_t abbrev_off;
	uint64_t length_end; /**< one past the unit */
};

/** DWARF 5 section 7.5.1; the reader ends at the unit's first DIE. */
static bool read_header(struct reader *r, struct header *h)
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

static bool list_units(struct dwscan *s)
{
	struct reader r;
	reader_init(&r, s->info.p, s->info.n, s->big);
	while (!reader_at_end(&r)) {
		struct header h;
		uint64_t off = reader_offset(&r);
		if (!read_header(&r, &h) || h.length_end <= off || h.length_end < reader_offset(&r))
			return false;
		vec_push(s->src->arena, &s->units, (struct unit){off, h.length_end, false});
		reader_skip(&r, h.length_end - reader_offset(&r));
	}
	return s->units.n > 0;
}

struct dwscan *dwscan_open(struct dwsrc *src)
{
	if (src->scan || src->no_scan)
		return src->scan;
	struct dwscan *s = arena_new(src->arena, struct dwscan);
	s->src = src;
	s->abbrevs.arena = src->arena;
	if (src->files.n == 1 && take_sections(s) && list_units(s))
		src->scan = s;
	else
		src->no_scan = true;
	return src->scan;
}

// --- the needle: which units can have the name

/** The next place of the 4 bytes @needle in @hay from @from on, or hay.n. */
static size_t find_word(struct str hay, size_t from, const char needle[4])
{
#ifdef __SSE2__
	__m128i first = _mm_set1_epi8(needle[0]), last = _mm_set1_epi8(needle[3]);
	__m128i second = _mm_set1_epi8(needle[1]);
	for (; from + 32 <= hay.n; from += 16) {
		const char *p = hay.p + from;
		__m128i a = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), first);
		__m128i b = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 1)), second);
		__m128i c = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 3)), last);
		unsigned mask = (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(a, b), c));
		for (; mask; mask &= mask - 1) {
			unsigned i = (unsigned)__builtin_ctz(mask);
			if (memcmp(p + i, needle, 4) == 0)
				return from + i;
		}
	}
#endif
	const char *hit = from < hay.n ? memmem(hay.p + from, hay.n - from, needle, 4) : NULL;
	return hit ? (size_t)(hit - hay.p) : hay.n;
}

static struct unit *unit_at(struct dwscan *s, uint64_t off)
{
	size_t lo = 0, hi = s->units.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (s->units.v[mid].end <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->units.n ? &s->units.v[lo] : NULL;
}

static void put_word(struct dwscan *s, uint32_t v, char ret[4])
{
	for (unsigned i = 0; i < 4; i++)
		ret[i] = (char)(v >> (s->big ? 24 - 8 * i : 8 * i));
}

/** Marks the units with @needle in them; a unit that has it once is not searched further. */
static void mark_word(struct dwscan *s, const char needle[4])
{
	for (size_t at = 0; (at = find_word(s->info, at, needle)) < s->info.n;) {
		struct unit *u = unit_at(s, at);
		if (!u)
			return;
		u->is_candidate = true;
		at = u->end;
	}
}

static void mark_inline(struct dwscan *s, struct str name_with_nul)
{
	for (size_t at = 0; at < s->info.n;) {
		const char *hit =
		    memmem(s->info.p + at, s->info.n - at, name_with_nul.p, name_with_nul.n);
		struct unit *u = hit ? unit_at(s, (uint64_t)(hit - s->info.p)) : NULL;
		if (!u)
			return;
		u->is_candidate = true;
		at = u->end;
	}
}

static void mark_all(struct dwscan *s, bool candidate)
{
	for (size_t i = 0; i < s->units.n; i++)
		s->units.v[i].is_candidate = candidate;
}

/**
 * Linkers merge a string into the tail of another, so every place where the name ends a string counts. With
 * .debug_str_offsets (strx forms) the offset may be in that section instead, and the DIE has only an index.
 */
static void mark_candidates(struct dwscan *s, struct str name)
{
	mark_all(s, false);
	struct str z = {arena_strndup(s->src->arena, name.p, name.n), name.n + 1};
	uint32_t needles[MAX_NEEDLES];
	unsigned n = 0;
	const char *sections[2] = {s->str.n ? s->str.p : "", s->line_str.n ? s->line_str.p : ""};
	size_t sizes[2] = {s->str.n, s->line_str.n};
	for (unsigned k = 0; k < 2; k++) {
		const char *p = sections[k], *end = p + sizes[k];
		while (sizes[k] && p < end && (p = memmem(p, (size_t)(end - p), z.p, z.n))) {
			size_t off = (size_t)(p - sections[k]);
			if (n == MAX_NEEDLES || off > UINT32_MAX) {
				mark_all(s, true);
				return;
			}
			needles[n++] = (uint32_t)off;
			p++;
		}
	}
	for (unsigned i = 0; i < n; i++) {
		char word[4];
		put_word(s, needles[i], word);
		if (s->str_offsets.n && find_word(s->str_offsets, 0, word) < s->str_offsets.n) {
			mark_all(s, true);
			return;
		}
		mark_word(s, word);
	}
	mark_inline(s, z);
}

// --- walking a unit

struct scan_walk {
	struct dwscan *s;
	const struct dwquery *q;
	struct str wanted;	/**< last part of the name */
	VEC(struct dwhit) hits; /**< of the unit that is read */
	struct header h;
	const uint8_t *unit, *p, *end;
	uint64_t str_base; /**< DW_AT_str_offsets_base, or after its header */
	struct str scopes[DWSRC_MAX_DEPTH];
	bool has_failed; /**< damage, or something that it does not know */
	bool is_c;	 /**< no types inside of types in this language */
};

struct die {
	const struct dwabbrev *ab;
	uint64_t off; /**< in .debug_info */
	bool is_decl;
	unsigned name_form; /**< 0: none */
	uint64_t name_at;   /**< value of the form, or place in .debug_info for an inline one */
	const uint8_t *sibling;
};

static uint64_t get_uleb(struct scan_walk *w)
{
	uint64_t v = 0;
	for (unsigned shift = 0; w->p < w->end; shift += 7) {
		uint8_t b = *w->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
	w->has_failed = true;
	return 0;
}

static uint64_t get_uint(struct scan_walk *w, unsigned size)
{
	if ((size_t)(w->end - w->p) < size) {
		w->has_failed = true;
		return 0;
	}
	uint64_t v = 0;
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)w->p[i] << 8 * (w->s->big ? size - 1 - i : i);
	w->p += size;
	return v;
}

static void skip(struct scan_walk *w, uint64_t n)
{
	if ((uint64_t)(w->end - w->p) < n)
		w->has_failed = true;
	else
		w->p += n;
}

static void skip_string(struct scan_walk *w)
{
	const uint8_t *nul = memchr(w->p, 0, (size_t)(w->end - w->p));
	if (!nul)
		w->has_failed = true;
	else
		w->p = nul + 1;
}

static void read_name(struct scan_walk *w, unsigned form, struct die *d)
{
	d->name_form = form;
	switch (form) {
	case DW_FORM_string:
		d->name_at = (uint64_t)(w->p - (const uint8_t *)w->s->info.p);
		skip_string(w);
		break;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
		d->name_at = get_uint(w, w->h.off_size);
		break;
	case DW_FORM_strx:
		d->name_at = get_uleb(w);
		break;
	default: // strx1 to strx4
		d->name_at = get_uint(w, form - DW_FORM_strx1 + 1);
	}
}

static void run_step(struct scan_walk *w, const struct dwstep *step, struct die *d)
{
	switch (step->op) {
	case DWOP_SKIP:
		skip(w, step->n);
		break;
	case DWOP_LEB:
		get_uleb(w);
		break;
	case DWOP_STRING:
		skip_string(w);
		break;
	case DWOP_BLOCK1:
		skip(w, get_uint(w, 1));
		break;
	case DWOP_BLOCK2:
		skip(w, get_uint(w, 2));
		break;
	case DWOP_BLOCK4:
		skip(w, get_uint(w, 4));
		break;
	case DWOP_BLOCK:
		skip(w, get_uleb(w));
		break;
	case DWOP_NAME:
		read_name(w, step->n, d);
		break;
	case DWOP_SIBLING: {
		uint64_t to = step->n ? get_uint(w, step->n) : get_uleb(w);
		// Only forward and inside of the unit: anything else is damage, which libdw may describe.
		if (to > (uint64_t)(w->end - w->unit) || w->unit + to <= w->p)
			w->has_failed = true;
		else
			d->sibling = w->unit + to;
		break;
	}
	case DWOP_DECL:
		d->is_decl |= get_uint(w, 1) != 0;
		break;
	default:
		break;
	}
}

/** The next DIE at w->p; false at the end of a list of siblings, and on damage. */
static bool next_die(struct scan_walk *w, struct die *d)
{
	d->off = (uint64_t)(w->p - (const uint8_t *)w->s->info.p);
	uint64_t code = w->p < w->end ? get_uleb(w) : 0;
	if (!code || w->has_failed)
		return false;
	const struct dwabbrevs *t = &w->s->abbrevs;
	if (code >= t->by_code.n || !t->by_code.v[code].is_known) {
		w->has_failed = true;
		return false;
	}
	const struct dwabbrev *ab = &t->by_code.v[code];
	d->ab = ab;
	d->is_decl = ab->is_decl;
	d->name_form = 0;
	d->sibling = NULL;
	const struct dwstep *step = &t->steps.v[ab->first], *last = step + ab->n;
	for (; step < last; step++)
		run_step(w, step, d);
	return !w->has_failed;
}

static void skip_children(struct scan_walk *w, const struct die *d)
{
	if (!d->ab->has_children)
		return;
	if (d->sibling) {
		w->p = d->sibling;
		return;
	}
	for (uint64_t depth = 1; depth;) {
		struct die child;
		if (next_die(w, &child)) {
			if (child.sibling && child.ab->has_children)
				w->p = child.sibling;
			else
				depth += child.ab->has_children;
		} else if (w->has_failed || w->p >= w->end) {
			return;
		} else {
			depth--;
		}
	}
}

static struct str string_at(struct str section, uint64_t off)
{
	if (off >= section.n)
		return (struct str){0};
	size_t n = section.n - off;
	const char *nul = memchr(section.p + off, 0, n);
	return (struct str){section.p + off, nul ? (size_t)(nul - section.p - off) : 0};
}

static struct str name_of(struct scan_walk *w, const struct die *d)
{
	switch (d->name_form) {
	case 0:
		return (struct str){0};
	case DW_FORM_string:
		return string_at(w->s->info, d->name_at);
	case DW_FORM_strp:
		return string_at(w->s->str, d->name_at);
	case DW_FORM_line_strp:
		return string_at(w->s->line_str, d->name_at);
	default: {
		uint64_t at;
		struct str table = w->s->str_offsets;
		if (__builtin_mul_overflow(d->name_at, w->h.off_size, &at) ||
		    __builtin_add_overflow(at, w->str_base, &at) || at >= table.n ||
		    table.n - at < w->h.off_size) {
			w->has_failed = true;
			return (struct str){0};
		}
		struct reader r;
		reader_init(&r, table.p + at, w->h.off_size, w->s->big);
		return string_at(w->s->str, reader_uint(&r, w->h.off_size));
	}
	}
}

/** Equal to the wanted name; exact, as the needle is. */
static bool has_name(struct scan_walk *w, const struct die *d)
{
	const struct str *section = NULL;
	if (d->name_form == DW_FORM_strp)
		section = &w->s->str;
	else if (d->name_form == DW_FORM_string)
		section = &w->s->info;
	else
		return str_eq(name_of(w, d), w->wanted);
	// Most names differ in their first bytes: no strlen.
	size_t n = w->wanted.n;
	return d->name_at < section->n && section->n - d->name_at > n &&
	       memcmp(section->p + d->name_at, w->wanted.p, n) == 0 &&
	       section->p[d->name_at + n] == '\0';
}

/** Name of a scope; what has none of its own may have one elsewhere. */
static struct str scope_name(struct scan_walk *w, const struct die *d, Dwarf_Die *die)
{
	if (d->name_form || (!d->ab->has_spec && !d->ab->has_signature))
		return name_of(w, d);
	return str_from(dwarf_offdie(w->s->src->dbg, d->off, die) ? dwsrc_name(die) : NULL);
}

/** Keeps a hit until the unit is done: a unit that turns out to be beyond us is walked with libdw instead. */
static void keep(struct scan_walk *w, const struct die *d, uint64_t owner, unsigned kind,
		 unsigned depth)
{
	struct arena *a = w->s->src->arena;
	struct dwhit hit = {
	    .kind = kind, .name = w->wanted, .n_scopes = depth, .scopes = w->scopes};
	hit.is_decl = d->is_decl || d->ab->has_signature;
	struct str outer[DWSRC_MAX_DEPTH];
	Dwarf *dbg = w->s->src->dbg;
	if (!dwarf_offdie(dbg, d->off, &hit.die) ||
	    (owner && !dwarf_offdie(dbg, owner, &hit.owner))) {
		w->has_failed = true;
		return;
	}
	if (d->ab->has_spec || (!d->name_form && d->ab->has_signature)) {
		const char *name = dwsrc_name(&hit.die);
		if (!name || !str_eqz(w->wanted, name))
			return;
		if (d->ab->has_spec)
			hit.n_scopes = dwquery_outer_scopes(&hit.die, outer);
		if (d->ab->has_spec)
			hit.scopes = outer;
	}
	if (!dwquery_fits(w->q, &hit))
		return;
	struct str *copy = arena_array(a, struct str, hit.n_scopes);
	if (hit.n_scopes)
		memcpy(copy, hit.scopes, hit.n_scopes * sizeof(*copy));
	hit.scopes = copy;
	vec_push(a, &w->hits, hit);
}

static void scan_children(struct scan_walk *w, uint64_t owner, unsigned depth);

/** A scope that completes a declaration: its inside belongs to the scopes of that. */
static void scan_outside(struct scan_walk *w, const struct die *d)
{
	struct str saved[DWSRC_MAX_DEPTH];
	Dwarf_Die die;
	memcpy(saved, w->scopes, sizeof(saved));
	struct str name = scope_name(w, d, &die);
	unsigned depth =
	    dwarf_offdie(w->s->src->dbg, d->off, &die) ? dwquery_outer_scopes(&die, w->scopes) : 0;
	w->scopes[depth] = name;
	scan_children(w, 0, depth + 1);
	memcpy(w->scopes, saved, sizeof(saved));
}

static void scan_inside(struct scan_walk *w, const struct die *d, unsigned depth)
{
	Dwarf_Die die;
	bool room = depth + 1 < DWSRC_MAX_DEPTH;
	if (d->ab->tag == DW_TAG_enumeration_type && w->q->kinds & DWFIND_ENUMERATOR && room) {
		bool scoped = d->ab->has_enum_class;
		if (scoped)
			w->scopes[depth] = scope_name(w, d, &die);
		scan_children(w, d->off, depth + scoped);
	} else if (!dwquery_is_scope(d->ab->tag) || !room ||
		   (w->is_c && d->ab->tag != DW_TAG_namespace)) {
		skip_children(w, d);
	} else if (d->ab->has_spec) {
		scan_outside(w, d);
	} else {
		w->scopes[depth] = scope_name(w, d, &die);
		scan_children(w, 0, depth + 1);
	}
}

static void scan_children(struct scan_walk *w, uint64_t owner, unsigned depth)
{
	struct die d;
	while (next_die(w, &d)) {
		unsigned kind = dwquery_kind_of_tag(d.ab->tag);
		bool elsewhere = !d.name_form && (d.ab->has_spec || d.ab->has_signature);
		if (kind == DWFIND_ENUMERATOR && !owner)
			continue; // damage: outside of any enum
		if (kind & w->q->kinds && (elsewhere || has_name(w, &d)))
			keep(w, &d, owner, kind, depth);
		if (d.ab->has_children)
			scan_inside(w, &d, depth);
		if (w->has_failed)
			return;
	}
}

/** One unit: its hits are in w->hits, or has_failed is set. */
static void scan_unit(struct scan_walk *w, const struct unit *u)
{
	struct dwscan *s = w->s;
	struct reader r;
	reader_init(&r, s->info.p + u->off, u->end - u->off, s->big);
	w->hits.n = 0;
	w->has_failed = !read_header(&r, &w->h) ||
			!dwabbrevs_compile(&s->abbrevs, s->abbrev, s->big, w->h.abbrev_off,
					   w->h.version, w->h.addr_size, w->h.off_size);
	if (w->has_failed)
		return;
	w->unit = (const uint8_t *)s->info.p + u->off;
	w->p = r.p;
	w->end = (const uint8_t *)s->info.p + u->end;
	Dwarf_Die top;
	Dwarf_Attribute at;
	Dwarf_Word base;
	struct die d;
	if (!dwarf_offdie(s->src->dbg, (uint64_t)(w->p - (const uint8_t *)s->info.p), &top)) {
		w->has_failed = true;
		return;
	}
	// The table's header is as long as a unit's length, a version and padding.
	w->str_base = 2 * w->h.off_size;
	if (dwarf_attr(&top, DW_AT_str_offsets_base, &at) && dwarf_formudata(&at, &base) == 0)
		w->str_base = base;
	w->is_c = dwsrc_is_c(&top);
	if (next_die(w, &d) && d.ab->has_children)
		scan_children(w, 0, 0);
}

struct refit {
	const struct dwquery *q;
	dwfind_fn *fn;
	void *ctx;
};

static bool refit_hit(void *ctx, const struct dwhit *hit)
{
	struct refit *f = ctx;
	return !dwquery_fits(f->q, hit) || f->fn(f->ctx, hit);
}

bool dwscan_find(struct dwscan *s, const struct dwquery *q, dwfind_fn *fn, void *ctx)
{
	struct scan_walk w = {.s = s, .q = q, .wanted = q->parts[q->n_parts - 1]};
	struct refit f = {q, fn, ctx};
	bool any = false;
	mark_candidates(s, w.wanted);
	for (size_t i = 0; i < s->units.n; i++) {
		const struct unit *u = &s->units.v[i];
		if (!u->is_candidate)
			continue;
		scan_unit(&w, u);
		if (w.has_failed) {
			Dwarf_Die top;
			struct reader r;
			struct header h;
			reader_init(&r, s->info.p + u->off, u->end - u->off, s->big);
			if (read_header(&r, &h) &&
			    dwarf_offdie(s->src->dbg, u->off + reader_offset(&r), &top) &&
			    !dwfind_unit(s->src, &top, q->kinds, refit_hit, &f))
				return true;
			any = true;
			continue;
		}
		for (size_t k = 0; k < w.hits.n; k++)
			if (!fn(ctx, &w.hits.v[k]))
				return true;
		any |= w.hits.n > 0;
	}
	// Template arguments may be spaced otherwise than they were asked for: that takes a walk.
	return any || !memchr(w.wanted.p, '<', w.wanted.n);
}
