/**
 * codeattach - attach points of functions and source lines, bound to places in the code.
 *
 * A function that its symbol finds alone keeps it, `uprobe:PATH:put`, as do patterns and what only
 * bpftrace looks up. All else is attached to by address, which every bpftrace takes for that of the
 * link, of programs of any kind: `uprobe:PATH:0x11a0, uprobe:PATH:0x11c4`.
 */
#pragma once

#include "bind/bind.h"
#include "probe/codeplace.h"

/** Binds @at, a uprobe or uretprobe, and adds its places to @ret; false after an error. */
bool codeattach_bind(struct bind *b, struct script_attach *at, struct attach_clause *ret);
/** Has a file that @at means what it names? */
bool codeattach_finds(const struct bind *b, const struct script_attach *at);
/** Can the symbol table answer? Not for addresses and names of C++. */
bool codeattach_is_symbol(struct str name);
/** May a clause be at @line of @file, whose places are @s? False after an error. */
bool codeattach_check_line(struct diag *d, const struct diag_place *at, struct str file,
			   unsigned line, const struct codeplace_lines *s);
/** `a(), b() and 2 others`, in @a. */
const char *codeattach_callers(struct arena *a, const struct dwinlined *d);

/** The function of @img whose name is more like @wanted than *@best; of C++ one of that name in another scope, too. */
struct str codeattach_nearest(struct arena *a, struct img *img, struct str wanted, unsigned *best);
