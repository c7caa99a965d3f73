// dwjump against libdw's own way to a DIE, on this program: the same DIEs, and nothing is left changed.
#include <dwarf.h>
#include <string.h>

#include "tap.h"
#include "dwarf/dwjump.h"

static bool is_same(Dwarf_Die *a, Dwarf_Die *b)
{
	Dwarf_Attribute at_a, at_b;
	Dwarf_Die type_a, type_b;
	const char *name_a = dwarf_diename(a), *name_b = dwarf_diename(b);
	if (a->addr != b->addr || a->cu == b->cu || dwarf_dieoffset(a) != dwarf_dieoffset(b) ||
	    dwarf_tag(a) != dwarf_tag(b) || name_a != name_b)
		return false;
	bool has_type = dwarf_attr(a, DW_AT_type, &at_a) && dwarf_formref_die(&at_a, &type_a);
	if (has_type != (dwarf_attr(b, DW_AT_type, &at_b) && dwarf_formref_die(&at_b, &type_b)))
		return false;
	return !has_type ||
	       (type_a.addr == type_b.addr && dwarf_tag(&type_a) == dwarf_tag(&type_b));
}

/** Compares the top of unit @i; false when it cannot be reached by a jump. */
static bool try_unit(struct dwunits *u, size_t i, unsigned *n, unsigned *wrong)
{
	const struct dwunit_span *span = &u->units.v[i];
	struct reader r;
	struct dwheader h;
	Dwarf_Die top, die, got;
	reader_init(&r, u->info.p + span->off, span->end - span->off, u->big);
	dwunits_read_header(&r, &h);
	uint64_t off = span->off + reader_offset(&r);
	// First, since libdw must not have been there before.
	if (!dwjump_die(u, span, off, &got))
		return false;
	if (!dwarf_offdie(u->src->dbg, off, &top) || !is_same(&got, &top))
		++*wrong;
	for (int rc = dwarf_child(&top, &die); rc == 0; rc = dwarf_siblingof(&die, &die), ++*n)
		*wrong += !dwjump_die(u, span, dwarf_dieoffset(&die), &got) || !is_same(&got, &die);
	return true;
}

int main(void)
{
	struct arena arena;
	struct diag diag;
	struct img *img;
	struct dwsrc *src = NULL;
	struct dwunits u;
	unsigned n = 0, wrong = 0, reached = 0, refused = 0;
	arena_init(&arena);
	diag_init(&diag, stdout);
	if (!img_open(&arena, &diag, "/proc/self/exe", STR("this"), &img) ||
	    !(src = dwsrc_new(img)) || !dwsrc_open(src, NULL) || !dwunits_open(src, &u) ||
	    u.units.n < 20) {
		ok(true, "jumps # SKIP this program has not enough debug information");
		return done();
	}
	ok(!dwjump_die(&u, &u.units.v[0], 11, &(Dwarf_Die){0}), "a small file needs no jumps");
	src->acts_large = 1;
	dwunits_open(src, &u);
	ok(u.units.n == 0 && dwunits_list_all(&u),
	   "units of a large file are listed when asked for");
	if (!u.map || !dwjump_die(&u, &u.units.v[1], u.units.v[1].off + 12, &(Dwarf_Die){0})) {
		ok(true, "jumps # SKIP the kernel cannot (MADV_POPULATE_WRITE)");
		return done();
	}
	for (size_t i = 2; i < u.units.n; i += 4 + i % 2)
		reached += try_unit(&u, i, &n, &wrong);
	ok(n > 300 && !wrong, "%u DIEs of %u units, forward: %u are not those of libdw", n, reached,
	   wrong);
	reached = 0;
	for (size_t i = u.units.n; i-- > 0;)
		if (try_unit(&u, i, &n, &wrong))
			reached++;
		else
			refused++;
	ok(reached > 10 && !wrong, "and of %u units backward: %u", reached, wrong);
	ok(refused > 0, "%u units take more handles than there are", refused);
	ok(memcmp(u.info.p, u.map + u.map_skip, u.info.n) == 0, "no byte has changed");
	dwunits_close(&u);
	dwsrc_free(src);
	img_close(img);
	arena_fini(&arena);
	return done();
}
