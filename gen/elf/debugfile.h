/**
 * debugfile - the file that holds an image's debug information, itself or a separate one, and libdw's
 * handles of it.
 *
 * A stripped program points at its debug file in two ways: by build-id
 * (/usr/lib/debug/.build-id/ab/cdef.debug) and by .gnu_debuglink (a file name and a CRC). Both are
 * searched, below the image's root first (img_set_root), and what is found is taken only if its
 * build-id, or else its CRC, is the right one. debuginfod is asked last, through libdw, and only
 * when DEBUGINFOD_URLS is set.
 *
 * libdwfl opens it, so that alternate files (dwz) and relocations of object files are taken care of; once, and
 * kept until img_close():
 *
 *	struct debuginfo *di;
 *	if (!img_debuginfo(img, &di))
 *		return debugfile_report_missing(img, NULL, "enum color");
 *	... dwarf_nextcu(di->dwarf, ...)
 *
 * libdw maps files: when one shrinks meanwhile, the process ends with a message and status 1
 * instead of SIGBUS.
 */
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "elf/img.h"

/**
 * The image with .debug_info for @img: @img itself or its debug file, which stays open as long as @img.
 * False, without a message, if there is none: debugfile_report_missing() reports why.
 */
bool img_debugfile(struct img *img, struct img **ret);
/** Has @img DWARF in the file itself? */
bool img_has_dwarf(struct img *img);
/** The separate debug file even when it has only symbols, or when @img has .debug_info itself. */
bool img_separate_file(struct img *img, struct img **ret);
/**
 * Reports that @img has no debug information, where it was looked for and what helps; @wanted_for:
 * "enum color", or NULL; @at, where that is wanted, or NULL. Returns false.
 */
bool debugfile_report_missing(struct img *img, const struct diag_place *at, const char *wanted_for);
/** Notes, if that is so, that @img is stripped of its symbols, and what helps. */
void debugfile_note_stripped(struct img *img);

struct debuginfo {
	Dwarf *dwarf;	     /**< NULL when only symbols were found */
	Dwarf_Addr bias;     /**< link-time address of the image = address in `dwarf` + bias */
	Dwfl_Module *module; /**< one module, at the image's link-time addresses */
	struct img *file; /**< the image that holds the DWARF: the image itself or its debug file */
	Dwfl *dwfl;
	bool ready;
	bool reported_unread; /**< by imgsym.c: .gnu_debugdata cannot be read */
};

/** False, without a message, if there is no DWARF; debugfile_report_missing() reports why. */
bool img_debuginfo(struct img *img, struct debuginfo **ret);
/** The module alone, e.g. for symbols; it needs no DWARF. False when libdwfl refuses the file. */
bool debuginfo_open_module(struct img *img, struct debuginfo **ret);
/** How many symbols libdwfl has, .gnu_debugdata's too, which it unpacks as far as 256 MiB of memory go. */
int debuginfo_count_symbols(struct debuginfo *di);
