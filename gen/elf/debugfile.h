/**
 * debugfile - the file that holds an image's debug information: itself, or a separate one.
 *
 * A stripped program points at its debug file in two ways: by build-id
 * (/usr/lib/debug/.build-id/ab/cdef.debug) and by .gnu_debuglink (a file name and a CRC). Both are
 * searched, below the image's root first (img_set_root), and what is found is taken only if its
 * build-id, or else its CRC, is the right one. debuginfod is asked last, through libdw, and only
 * when DEBUGINFOD_URLS is set.
 */
#ifndef ELF_DEBUGFILE_H
#define ELF_DEBUGFILE_H

#include "elf/img.h"

/**
 * The image with .debug_info for @img: @img itself or its debug file, which stays open as long as
 * @img. False, without a message, when there is none: debugfile_say_missing() says why.
 */
bool img_debugfile(struct img *img, struct img **ret);
/** Has @img DWARF in the file itself? */
bool img_has_dwarf(struct img *img);
/** The separate debug file even when it has only symbols, or when @img has .debug_info itself. */
bool img_separate_file(struct img *img, struct img **ret);
/**
 * Says that @img has no debug information, where it was looked for and what helps; @wanted_for:
 * "enum color", or NULL; @at, where that is wanted, or NULL. Returns false.
 */
bool debugfile_say_missing(struct img *img, const struct diag_place *at, const char *wanted_for);
/** Notes, if that is so, that @img is stripped of its symbols, and what helps. */
void debugfile_note_stripped(struct img *img);
/**
 * Opens the alternate debug file (dwz) called @link, of build-id @id, that the debug file @img
 * points at. Returns its descriptor and path (in the image's arena), or -1.
 */
int debugfile_open_alternate(struct img *img, const char *link, struct str id, struct str *path);

#endif
