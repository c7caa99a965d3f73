/**
 * typenote - the types of probes' arguments, kept in the program itself: .note.btgen.types.
 *
 * `btgen embed` writes it out of the debug information, and it stays after strip: BTF, which names
 * enumerators and has no members of structs, and for each site the function prototype that says what
 * its arguments are. Format: docs/usdt-notes.md. A note that does not hold together is skipped in
 * silence, as if it were not there.
 *
 *	struct typenote *note = typenote_read(img);	// binary.h does it once
 *	if (note && typenote_find(note, site->pc, probe->provider, probe->name, &args, &n_args))
 *		...
 *	typenote_free(note);
 */
#ifndef BTF_TYPENOTE_H
#define BTF_TYPENOTE_H

#include "ctype/source.h"
#include "elf/img.h"

#define TYPENOTE_SECTION ".note.btgen.types"

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

/** A note to be written. */
struct typenote_text;

/** NULL, without a message, when libbpf has no memory. */
struct typenote_text *typenote_new(struct arena *a);
void typenote_text_free(struct typenote_text *text);
/** Adds a site, after those at lower addresses. False, without a message, when libbpf takes no more. */
bool typenote_add(struct typenote_text *text, uint64_t pc, struct str provider, struct str probe,
		  const struct typenote_arg *args, size_t n);
/** The whole section, in this machine's byte order, in the arena; empty when there is no memory. */
struct str typenote_bytes(const struct typenote_text *text);

#endif
