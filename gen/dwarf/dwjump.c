#include "dwarf/dwjump.h"

#include <dwarf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** Bytes of a header of DWARF 5, 32 bit; no unit is as short with a DIE in it. */
enum { HEADER = 12, LONGEST = 0xfffffff0 - 1 };

/** The bytes are private to this process, and may be written: libdw maps files so, and not other memory. */
static bool make_writable(uint8_t *p)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)p & ~(page - 1);
	return madvise((void *)from, (uintptr_t)p + HEADER - from, MADV_POPULATE_WRITE) == 0;
#else
	(void)p;
	return false;
#endif
}

/** Reads unit @u into @jump's handle, with one unit in the place of those between the last one there and @u. */
static bool enter(struct dwunits *s, struct dwjump *jump, const struct dwunit_span *u, uint64_t off,
		  Dwarf_Die *ret)
{
	uint8_t *p = (uint8_t *)s->info.p + jump->end, saved[HEADER], header[HEADER] = {0};
	uint64_t length = u->off - jump->end;
	bool far = length > 0;
	if (far) {
		length -= 4;
		if (length < HEADER || length > LONGEST || !make_writable(p))
			return false;
		for (unsigned i = 0; i < 4; i++)
			header[i] = (uint8_t)(length >> (s->big ? 24 - 8 * i : 8 * i));
		header[s->big ? 5 : 4] = 5;
		header[6] = DW_UT_compile;
		header[7] = 8;
		memcpy(saved, p, HEADER);
		memcpy(p, header, HEADER);
	}
	bool found = dwarf_offdie(jump->dbg, off, ret) != NULL;
	if (far)
		memcpy(p, saved, HEADER);
	jump->end = u->end;
	return found && dwarf_dieoffset(ret) - dwarf_cuoffset(ret) == u->off;
}

bool dwjump_die(struct dwunits *s, const struct dwunit_span *u, uint64_t off, Dwarf_Die *ret)
{
	struct dwunit_span *unit = &s->units.v[u - s->units.v];
	if (unit->jump)
		return dwarf_offdie(s->jumps[unit->jump - 1].dbg, off, ret) != NULL;
	if (!s->map)
		return false;
	// A handle goes forward only.
	unsigned i = 0;
	while (i < s->n_jumps && s->jumps[i].end > u->off)
		i++;
	if (i == DWUNITS_JUMPS)
		return false;
	if (i == s->n_jumps) {
		Dwarf *dbg = dwarf_begin_elf(dwarf_getelf(s->src->dbg), DWARF_C_READ, NULL);
		if (!dbg)
			return false;
		s->jumps[s->n_jumps++] = (struct dwjump){.dbg = dbg};
	}
	if (!enter(s, &s->jumps[i], u, off, ret))
		return false;
	unit->jump = (uint8_t)(i + 1);
	return true;
}
