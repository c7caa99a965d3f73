/**
 * note - the notes of a section or segment, one after the other.
 *
 * gABI, "Note Section": namesz, descsz, type, the owner's name and the description, each padded. The gABI
 * pads to 8 bytes in a file of 64 bit, but no tool does: notes are padded to 4 in both classes (.balign 4
 * in <sys/sdt.h>, as the kernel, gdb and readelf expect), but for NT_GNU_PROPERTY_TYPE_0, which has a
 * section and a segment of its own, aligned to 8. There the sizes are multiples of 8, so that 4 reads
 * these, too.
 *
 *	struct note note;
 *	while (note_next(&r, &note))
 *		use(&note);
 *	if (r.err) ...		// at note.off
 *
 * libelf's gelf_getnote() does the same for bytes that libelf has read, but it cannot tell a
 * malformed note from the end.
 */
#pragma once

#include "base/reader.h"

struct note {
	size_t off;	  /**< of the note in what is read */
	unsigned type;	  /**< NT_*, by the owner's own count */
	struct str owner; /**< without its NUL */
	size_t desc_off;  /**< of the description */
	struct str desc;  /**< a view */
	bool has_header;  /**< of a broken note: it ends after its header */
};

/** False at the end, or, with r->err set, if a note runs past it: the one at ret->off. */
bool note_next(struct reader *r, struct note *ret);
