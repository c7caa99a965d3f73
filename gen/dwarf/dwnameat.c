#include "dwarf/dwnameat.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/dwquery.h"
#include "dwarf/dwunits.h"

void dwnameat_init(struct dwnameat *c, bool big)
{
	*c = (struct dwnameat){.big = big};
	arena_init(&c->arena);
	c->abbrevs.arena = &c->arena;
	c->abbrevs.wants = dwquery_kind_of_tag;
}

void dwnameat_fini(struct dwnameat *c)
{
	arena_fini(&c->arena);
}

/** Bytes before the name in a DIE of @ab and the name's form; false when they are not always as many. */
static bool find_name(const struct dwnameat *c, const struct dwabbrev *ab, unsigned *before,
		      unsigned *form)
{
	uint64_t n = 0;
	for (uint32_t i = ab->first; i < ab->first + ab->n; i++) {
		const struct dwstep *step = &c->abbrevs.steps.v[i];
		bool fixed = step->op == DWOP_SKIP || (step->op == DWOP_SIBLING && step->n);
		*form = step->op == DWOP_NAME ? step->n : 0;
		*before = (unsigned)n;
		if (*form)
			return n <= UINT8_MAX;
		n += step->op == DWOP_DECL ? 1 : step->n;
		if ((!fixed && step->op != DWOP_DECL) || n > UINT8_MAX)
			return false;
	}
	*form = 0;
	return true;
}

static void add_place(struct dwnameat *c, uint64_t code, unsigned off_size, unsigned kind)
{
	const struct dwabbrev *ab = &c->abbrevs.by_code.v[code];
	struct dwnameat_place p = {.kinds = (uint16_t)kind};
	unsigned before, form;
	bool is_fixed = find_name(c, ab, &before, &form);
	if (is_fixed && !form) {
		// Without a name it is none of ours, unless it has it from another DIE.
		c->is_unsure |= ab->has_spec || ab->has_signature;
		return;
	}
	if (!ab->is_decl)
		p.kinds |= (uint16_t)(kind << DWNAMEAT_DEFINES);
	p.is_inline = form == DW_FORM_string;
	// What was looked for is the lower half of an offset of eight bytes.
	if (!p.is_inline && c->big && off_size == 8)
		before += 4;
	do {
		p.code[p.code_n++] = (uint8_t)((code & 0x7f) | (code > 0x7f ? 0x80 : 0));
		code >>= 7;
	} while (code && p.code_n < sizeof(p.code));
	p.before = (uint8_t)before;
	c->is_unsure |= !is_fixed || code || before + p.code_n > DWNAMEAT_REACH;
	vec_push(&c->arena, &c->places, p);
}

void dwnameat_enter(struct dwnameat *c, struct str abbrev, const struct dwunit_span *u)
{
	c->places.n = 0;
	c->is_unsure = !dwabbrevs_compile(&c->abbrevs, abbrev, c->big, u->abbrev_off, u->version,
					  u->addr_size, u->off_size);
	for (uint64_t code = 1; code < c->abbrevs.by_code.n && !c->is_unsure; code++) {
		const struct dwabbrev *ab = &c->abbrevs.by_code.v[code];
		unsigned kind = ab->is_known ? dwquery_kind_of_tag(ab->tag) : 0;
		if (kind)
			add_place(c, code, u->off_size, kind);
	}
}

unsigned dwnameat_kinds(const struct dwnameat *c, struct str bytes, size_t at, bool is_inline)
{
	if (c->is_unsure)
		return DWNAMEAT_ANY;
	unsigned kinds = 0;
	for (size_t i = 0; i < c->places.n; i++) {
		const struct dwnameat_place *p = &c->places.v[i];
		size_t back = (size_t)p->before + p->code_n;
		if (p->is_inline != is_inline || at < back)
			continue;
		const uint8_t *code = (const uint8_t *)bytes.p + at - back;
		const uint8_t *last = code + p->code_n - 1;
		// A LEB128 may be longer than it must; nobody writes such, but then its last byte is 0.
		bool padded = *last == 0 && (p->code_n > 1 || at > back) && last[-1] >= 0x80;
		if (padded || memcmp(code, p->code, p->code_n) == 0)
			kinds |= p->kinds;
	}
	return kinds;
}
