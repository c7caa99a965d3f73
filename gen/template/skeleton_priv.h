/** What the parts of skeleton share: probes (skeleton.c), functions (skeleton_functions.c) and lines (skeleton_lines.c). */
#pragma once

#include "bind/namedvar.h"
#include "template/skeleton.h"

/** How f->arg is shown; hidden when not @is_readable. */
void skeleton_shape_field(struct skeleton *sk, struct skeleton_field *f, bool is_readable);
/** Adds @p, which has everything but the answer whether it needs a path. */
void skeleton_add(struct skeleton *sk, struct skeleton_probe *p);
/** Adds the functions that match uprobe:[FILE:]NAME, uretprobe:[FILE:]NAME, or of --calls [FILE:]NAME; false after an error. */
bool skeleton_add_functions(struct skeleton *sk, struct str pattern);
/** The return of the function @p, with its result as a field. */
struct skeleton_probe skeleton_return_of(struct skeleton *sk, const struct skeleton_probe *p);
/**
 * Adds a shape, and writes the block of a clause that prints a record of it: @more numbers of btgen's, which are @n_own,
 * and the fields of @p.
 */
void skeleton_write_record(const struct skeleton *sk, const struct skeleton_probe *p,
			   enum shape_style style, size_t n_own, const char *more,
			   struct shapes *ret, struct code *out);
/** Of which bpftrace knows curtask. */
bool skeleton_has_kernel_types(void);
/** Adds the variable @v of the place to what @p prints. */
void skeleton_add_variable(struct skeleton *sk, struct skeleton_probe *p, const struct namedvar *v);
/** Adds the probe of uprobe:FILE:LINE. False, without an error, where @pattern is none; *@good: it is added, else an error. */
bool skeleton_add_line(struct skeleton *sk, struct str pattern, bool *good);
