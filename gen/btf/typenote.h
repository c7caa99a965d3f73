/**
 * typenote - the types of probes' arguments, kept in the program itself: .note.btgen.types.
 *
 * `btgen embed` of 0.1 wrote it out of the debug information, and it stays after strip: BTF, which names
 * enumerators and has no members of structs, and for each site a function prototype with the types of its
 * arguments. Nothing writes it any more; it is read until 0.3. Format: docs/dev/old-notes.md. A malformed note
 * is skipped in silence, as if it did not exist.
 *
 *	struct typenote *note = typenote_read(img);	// binary.h does it once
 *	if (note && typenote_find(note, site->pc, probe->provider, probe->name, &args, &n_args))
 *		...
 *	typenote_free(note);
 */
#pragma once

#include "ctype/source.h"
#include "elf/img.h"

/** Arguments of a site: the macros take no more. */
enum { TYPENOTE_MAX_ARGS = 12 };

struct typenote_arg {
	struct str name;    /**< empty: not known */
	struct ctype *type; /**< NULL: not known. A string that is in an array is an array here */
};

struct typenote;

/** That of @img, in its arena; NULL when there is none. */
struct typenote *typenote_read(struct img *img);
/** Gives back what libbpf has of it; NULL is fine. */
void typenote_free(struct typenote *note);
/** The arguments of the site at @pc, in the arena; false when it has none of that probe. */
bool typenote_find(const struct typenote *note, uint64_t pc, struct str provider, struct str probe,
		   struct typenote_arg **ret, size_t *n);
/** Its types by name; owned by @note. */
struct type_source *typenote_source(struct typenote *note);
