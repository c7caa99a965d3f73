/**
 * argnote - facts about its probes in a program built with btgen/usdt.h: .note.btgen.
 *
 * For a site: file and line, and its arguments as the program spells them; for a probe: the
 * sentence of USDT_DOC. The section is not loaded and survives strip. Format: docs/usdt-notes.md. A
 * pair of notes that does not hold together is skipped in silence: then the site is one of a
 * program that was not built with the header.
 *
 *	struct argnotes *notes = argnote_read(img);	// binary.h does it once
 *	const struct argnote *n = argnote_find(notes, site->pc, probe->provider, probe->name);
 */
#pragma once

#include "elf/img.h"
#include "usdt/argname.h"

struct argnote {
	uint64_t pc;	/**< link-time address of the nop */
	uint32_t id;	/**< names the variables with the types */
	uint64_t kinds; /**< see argnote_kind() */
	unsigned line;
	struct str provider, probe, file;
	size_t text;		  /**< which text has the macro's arguments */
	struct argname_arg *args; /**< filled by argnote_find(), shared by sites of one text */
	size_t n_args;
};

/** What an argument is without any type: numbers of the format. */
enum argnote_kind {
	ARGNOTE_NONE,
	ARGNOTE_NUMBER,
	ARGNOTE_CHAR,
	ARGNOTE_BOOL,
	ARGNOTE_TEXT,
	ARGNOTE_CONST_TEXT,
	ARGNOTE_POINTER,
	ARGNOTE_UTEXT, /**< where char is unsigned */
	ARGNOTE_CONST_UTEXT,
};

struct argnotes;

/** All of @img, in its arena; never NULL, empty when there are none. */
struct argnotes *argnote_read(struct img *img);
/** The note of the site at @pc, if it is about that probe; else NULL. */
struct argnote *argnote_find(struct argnotes *notes, uint64_t pc, struct str provider,
			     struct str probe);
/** No other probe's provider and name, joined by `__`, are those of @site's, too. */
bool argnote_is_only(const struct argnotes *notes, const struct argnote *site);
/** What argument @i of the site is; numbers that we do not know are among them. */
static inline enum argnote_kind argnote_kind(const struct argnote *n, size_t i)
{
	return i < 12 ? (enum argnote_kind)(n->kinds >> (4 * i) & 15) : ARGNOTE_NONE;
}
/** The sentence about a probe, or empty. */
struct str argnote_doc(const struct argnotes *notes, struct str provider, struct str probe);
