/**
 * sdt - the USDT probes of an ELF file, out of its .note.stapsdt section.
 *
 * Each note is one *site*: an address with a nop, the provider and name of its probe, where its
 * arguments are at that address, and the address of a semaphore (0: none). One probe has as many
 * sites as the compiler made of its macro. Format: systemtap's <sys/sdt.h>, "note layout";
 * addresses are link-time ones and are moved by the difference between the .stapsdt.base section
 * and the base that the note recorded (prelink).
 *
 * A tracer writes a breakpoint over the byte at a site. Where that byte is not a nop it would
 * change the program, so each site is compared with the file's code, and one that does not look
 * right carries a doubt.
 *
 *	struct sdt_list list;
 *	if (sdt_read(img, &list))
 *		for (const struct sdt_probe *p = NULL; (p = sdt_find(&list, STR(""), STR("nvmf_*"), p));) ...
 */
#pragma once

#include "elf/img.h"

enum sdt_doubt {
	SDT_SURE,      /**< there is a nop */
	SDT_UNCHECKED, /**< a machine whose nops we do not know */
	SDT_NOT_A_NOP, /**< there is another instruction */
	SDT_NO_CODE, /**< the file has no code there: an object file, a debug file, or code that the linker dropped */
	SDT_NO_BASE, /**< the linker lost the base that the note recorded: tracers will move the address wrongly */
};

struct sdt_site {
	uint64_t pc;	    /**< address of the nop, moved to where the section is now */
	uint64_t off;	    /**< the same as a file offset; 0 when the file has no code there */
	uint64_t semaphore; /**< address of the counter, moved likewise, or 0 */
	uint64_t note;	    /**< offset of the note in its section */
	struct str args;    /**< argument string as in the note, e.g. "-4@%ebx 8@16(%rsp)" */
	enum sdt_doubt doubt;
};

struct sdt_probe {
	struct str provider, name; /**< raw bytes of the note, without NUL, not empty */
	struct sdt_site *sites;	   /**< in the order of the notes */
	size_t n_sites;
};

struct sdt_list {
	struct sdt_probe *probes; /**< in order of first appearance */
	size_t n_probes, n_sites;
	size_t n_broken;    /**< notes that were reported and skipped */
	struct map by_name; /**< for sdt_find_named() */
};

/**
 * All probes of @img; an empty list when it has no such section. A broken note is reported with its
 * place and skipped; false only when nothing could be read. Sites in doubt are warned about, once
 * for each kind.
 */
bool sdt_read(struct img *img, struct sdt_list *ret);
/** A clause such as "the instruction there is not a nop"; NULL for SDT_SURE and SDT_UNCHECKED. */
const char *sdt_doubt_text(enum sdt_doubt doubt);

/**
 * The first probe after @after (NULL: from the start) that @provider and @name match: equal, or
 * patterns with * and ?; an empty provider matches all. NULL when there is none.
 */
struct sdt_probe *sdt_find(const struct sdt_list *list, struct str provider, struct str name,
			   const struct sdt_probe *after);
/** The probe of that provider and name, which are no patterns; or NULL. */
struct sdt_probe *sdt_find_named(const struct sdt_list *list, struct str provider, struct str name);
/** How many different places the sites of a probe have for their arguments. */
unsigned sdt_count_places(struct arena *a, const struct sdt_probe *p);
/** The probe's own semaphore is that of its first site that has one; sites can differ. 0: none. */
uint64_t sdt_semaphore(const struct sdt_probe *p);
/**
 * For "did you mean": the probe nearest to what was asked for, if it is nearer than *@best (start
 * with UINT_MAX; a walk over several files keeps it). Also finds the right name under another
 * provider. False: nothing nearer.
 */
bool sdt_find_nearest(const struct sdt_list *list, struct str provider, struct str name,
		      unsigned *best, const struct sdt_probe **ret);
/**
 * Bytes of the nop at @code, with its prefixes: 0x90, or 0f 1f with a ModRM byte and what that asks for
 * (Intel SDM volume 2, 2.1.3 and NOP; long forms are used as sites, too); 0: it is none.
 */
size_t sdt_x86_nop(const uint8_t *code, size_t n);
