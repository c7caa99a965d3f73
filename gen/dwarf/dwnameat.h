/**
 * dwnameat - whether a name, or the offset of one, that was found in the bytes of a unit belongs to a type.
 *
 * Most names of types are names of members and variables, too, and four bytes may occur by chance. But in a type's DIE the
 * name has a place: a number of bytes behind the number of its abbreviation, which the unit's table tells. So one
 * look at the bytes before it rules most units out that would have to be walked otherwise.
 *
 *	struct dwnameat c;
 *	dwnameat_init(&c, big_endian);
 *	dwnameat_enter(&c, abbrev, unit);			// once for each unit
 *	kinds |= dwnameat_kinds(&c, bytes, at, false);
 *	dwnameat_fini(&c);
 */
#ifndef DWARF_DWNAMEAT_H
#define DWARF_DWNAMEAT_H

#include "dwarf/dwabbrev.h"

struct dwunit_span;

/** Kinds (NAME_*) that may have the name, and among them those that may define it: shifted by 8. */
enum { DWNAMEAT_DEFINES = 8, DWNAMEAT_ANY = 0x3f3f };

struct dwnameat_place {
	uint16_t kinds; /**< as dwnameat_kinds() */
	bool is_inline; /**< DW_FORM_string */
	uint8_t code_n; /**< bytes of the abbreviation's number */
	uint8_t code[3];
	uint8_t before; /**< bytes between it and the name */
};

struct dwnameat {
	struct arena arena;
	struct dwabbrevs abbrevs;
	VEC(struct dwnameat_place) places;
	bool big;
	bool is_unsure; /**< the unit has DIEs whose name may be anywhere */
};

void dwnameat_init(struct dwnameat *c, bool big);
void dwnameat_fini(struct dwnameat *c);
void dwnameat_enter(struct dwnameat *c, struct str abbrev, const struct dwunit_span *u);
/** So many bytes before a name are looked at, at most. */
enum { DWNAMEAT_REACH = 48 };
/** Kinds of types that may have the name found at @at of @bytes: in full when @is_inline, or its offset. */
unsigned dwnameat_kinds(const struct dwnameat *c, struct str bytes, size_t at, bool is_inline);

#endif
