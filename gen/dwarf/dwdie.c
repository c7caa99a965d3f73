#include "dwarf/dwdie.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static uint64_t get_uleb(struct dwreader *r)
{
	uint64_t v = 0;
	for (unsigned shift = 0; r->p < r->end; shift += 7) {
		uint8_t b = *r->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
	r->has_failed = true;
	return 0;
}

static uint64_t get_uint(struct dwreader *r, unsigned size)
{
	if ((size_t)(r->end - r->p) < size) {
		r->has_failed = true;
		return 0;
	}
	uint64_t v = 0;
	if (size == 4) {
		uint32_t word;
		memcpy(&word, r->p, 4);
		r->p += 4;
		return r->u->swapped ? __builtin_bswap32(word) : word;
	}
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)r->p[i] << 8 * (r->u->big ? size - 1 - i : i);
	r->p += size;
	return v;
}

static void skip(struct dwreader *r, uint64_t n)
{
	if ((uint64_t)(r->end - r->p) < n)
		r->has_failed = true;
	else
		r->p += n;
}

static void skip_string(struct dwreader *r)
{
	const uint8_t *nul = memchr(r->p, 0, (size_t)(r->end - r->p));
	if (!nul)
		r->has_failed = true;
	else
		r->p = nul + 1;
}

static void read_name(struct dwreader *r, unsigned form, struct dwdie *d)
{
	d->name_form = form;
	switch (form) {
	case DW_FORM_string:
		d->name_at = r->unit_off + (uint64_t)(r->p - r->unit);
		skip_string(r);
		break;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
		d->name_at = get_uint(r, r->h.off_size);
		break;
	case DW_FORM_strx:
		d->name_at = get_uleb(r);
		break;
	default: // strx1 to strx4
		d->name_at = get_uint(r, form - DW_FORM_strx1 + 1);
	}
}

static inline void run_step(struct dwreader *r, const struct dwstep *step, struct dwdie *d)
{
	switch (step->op) {
	case DWOP_SKIP:
		skip(r, step->n);
		break;
	case DWOP_LEB:
		get_uleb(r);
		break;
	case DWOP_STRING:
		skip_string(r);
		break;
	case DWOP_BLOCK1:
		skip(r, get_uint(r, 1));
		break;
	case DWOP_BLOCK2:
		skip(r, get_uint(r, 2));
		break;
	case DWOP_BLOCK4:
		skip(r, get_uint(r, 4));
		break;
	case DWOP_BLOCK:
		skip(r, get_uleb(r));
		break;
	case DWOP_NAME:
		read_name(r, step->n, d);
		break;
	case DWOP_SIBLING: {
		uint64_t to = step->n ? get_uint(r, step->n) : get_uleb(r);
		// Only forward and inside of the unit: anything else is damage, which libdw may describe.
		if (to > (uint64_t)(r->end - r->unit) || r->unit + to <= r->p)
			r->has_failed = true;
		else
			d->sibling = r->unit + to;
		break;
	}
	case DWOP_DECL:
		d->is_decl |= get_uint(r, 1) != 0;
		break;
	case DWOP_LANG: {
		uint64_t lang = step->n ? get_uint(r, step->n) : get_uleb(r);
		r->is_c = lang <= UINT16_MAX && dwsrc_lang_is_c((int)lang);
		break;
	}
	case DWOP_STRBASE:
		r->str_base = get_uint(r, step->n);
		break;
	default:
		break;
	}
}

/** The next DIE at r->p; false at the end of a list of siblings, and on damage. */
bool dwdie_next(struct dwreader *r, struct dwdie *d)
{
	d->off = r->unit_off + (uint64_t)(r->p - r->unit);
	// Most codes are one byte.
	uint64_t code = 0;
	if (r->p < r->end)
		code = *r->p < 0x80 ? *r->p++ : get_uleb(r);
	if (!code || r->has_failed)
		return false;
	const struct dwabbrevs *t = &r->abbrevs;
	if (code >= t->by_code.n || !t->by_code.v[code].is_known) {
		r->has_failed = true;
		return false;
	}
	const struct dwabbrev *ab = &t->by_code.v[code];
	d->ab = ab;
	d->is_decl = ab->is_decl;
	d->name_form = 0;
	d->sibling = NULL;
	for (uint32_t i = 0; i < ab->n; i++)
		run_step(r, &t->steps.v[ab->first + i], d);
	return !r->has_failed;
}

void dwdie_skip_children(struct dwreader *r, const struct dwdie *d)
{
	if (!d->ab->has_children)
		return;
	if (d->sibling) {
		r->p = d->sibling;
		return;
	}
	for (uint64_t depth = 1; depth;) {
		struct dwdie child;
		if (dwdie_next(r, &child)) {
			if (child.sibling && child.ab->has_children)
				r->p = child.sibling;
			else
				depth += child.ab->has_children;
		} else if (r->has_failed || r->p >= r->end) {
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

/** A name in the unit itself. Those are short and few, and libdw's mapping of them is left alone: it would be all mapped. */
static struct str inline_name(struct dwreader *r, uint64_t off)
{
	struct str unit = {(const char *)r->unit, (size_t)(r->end - r->unit)};
	struct str s = string_at(unit, off - r->unit_off);
	if (!r->u->map || !s.n)
		return s;
	struct arena *a = r->u->src->arena;
	struct str *kept = map_get(&r->u->inline_names, s);
	if (!kept) {
		kept = arena_new(a, struct str);
		*kept = str_copy(a, s);
		map_put(a, &r->u->inline_names, *kept, kept);
	}
	return *kept;
}

struct str dwdie_name(struct dwreader *r, const struct dwdie *d)
{
	switch (d->name_form) {
	case 0:
		return (struct str){0};
	case DW_FORM_string:
		return inline_name(r, d->name_at);
	case DW_FORM_strp:
		return string_at(r->u->str, d->name_at);
	case DW_FORM_line_strp:
		return string_at(r->u->line_str, d->name_at);
	default: {
		uint64_t at;
		struct str table = r->u->str_offsets;
		if (__builtin_mul_overflow(d->name_at, r->h.off_size, &at) ||
		    __builtin_add_overflow(at, r->str_base, &at) || at >= table.n ||
		    table.n - at < r->h.off_size) {
			r->has_failed = true;
			return (struct str){0};
		}
		struct reader entry;
		reader_init(&entry, table.p + at, r->h.off_size, r->u->big);
		return string_at(r->u->str, reader_uint(&entry, r->h.off_size));
	}
	}
}

/** Equal to the wanted name; exact, as the needle is. */
bool dwdie_has_name(struct dwreader *r, const struct dwdie *d, struct str name)
{
	struct str in;
	uint64_t at = d->name_at;
	if (d->name_form == DW_FORM_strp) {
		in = r->u->str;
	} else if (d->name_form == DW_FORM_string) {
		in = (struct str){(const char *)r->unit, (size_t)(r->end - r->unit)};
		at -= r->unit_off;
	} else {
		return str_eq(dwdie_name(r, d), name);
	}
	// Most names differ in their first bytes: no strlen.
	size_t n = name.n;
	return at < in.n && in.n - at > n && memcmp(in.p + at, name.p, n) == 0 &&
	       in.p[at + n] == '\0';
}

bool dwdie_begin(struct dwreader *r, const struct dwunit_span *span, struct dwdie *top)
{
	const struct dwunits *u = r->u;
	struct reader in;
	size_t n = (size_t)(span->end - span->off);
	r->has_failed = true;
	r->unit = dwunits_view(u, &r->view, span->off, n);
	r->unit_off = span->off;
	r->span = span;
	r->end = r->unit + n;
	reader_init(&in, r->unit, (size_t)(r->end - r->unit), u->big);
	if (!dwunits_read_header(&in, &r->h) ||
	    !dwabbrevs_compile(&r->abbrevs, u->abbrev, u->big, r->h.abbrev_off, r->h.version,
			       r->h.addr_size, r->h.off_size))
		return false;
	r->p = in.p;
	r->has_failed = false;
	// The table's header is as long as a unit's length, a version and padding.
	r->str_base = 2 * r->h.off_size;
	r->is_c = false;
	if (!dwdie_next(r, top))
		return false;
	if (top->ab->lang)
		r->is_c = dwsrc_lang_is_c(top->ab->lang);
	return true;
}

void dwdie_fini(struct dwreader *r)
{
	dwview_drop(r->u, &r->view);
}
