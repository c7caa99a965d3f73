/**
 * debuginfo - libdw's handles for an image.
 *
 * debugfile.h finds the file; this opens it with libdwfl, so that alternate files (dwz) and
 * relocations of object files are taken care of. Opened once, kept until img_close().
 *
 *	struct debuginfo *di;
 *	if (!img_debuginfo(img, &di))
 *		return debugfile_say_missing(img, NULL, "enum color");
 *	... dwarf_nextcu(di->dwarf, ...)
 *
 * libdw maps files: when one shrinks meanwhile, the process ends with a message and status 1
 * instead of SIGBUS.
 */
#ifndef ELF_DEBUGINFO_H
#define ELF_DEBUGINFO_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "elf/debugfile.h"

struct debuginfo {
	Dwarf *dwarf;	     /**< NULL when only symbols were found */
	Dwarf_Addr bias;     /**< link-time address of the image = address in `dwarf` + bias */
	Dwfl_Module *module; /**< one module, at the image's link-time addresses */
	struct img *file; /**< the image that holds the DWARF: the image itself or its debug file */
	Dwfl *dwfl;
	bool ready;
	bool reported_unread; /**< by imgsym.c: .gnu_debugdata cannot be read */
};

/** False, without a message, when there is no DWARF; debugfile_say_missing() says why. */
bool img_debuginfo(struct img *img, struct debuginfo **ret);
/** The module alone, e.g. for symbols; it needs no DWARF. False when libdwfl refuses the file. */
bool debuginfo_open_module(struct img *img, struct debuginfo **ret);
/**
 * How many symbols libdwfl has, .gnu_debugdata's too, which it unpacks as far as 256 MiB of memory
 * go.
 */
int debuginfo_count_symbols(struct debuginfo *di);
/**
 * The debug file's descriptor from the servers of DEBUGINFOD_URLS (debugfile.c decides when), or
 * -1.
 */
int debuginfo_ask_servers(struct debuginfo *di);

#endif
