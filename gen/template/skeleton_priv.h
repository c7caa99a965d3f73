/** What the parts of skeleton share: probes (skeleton.c) and functions (skeleton_functions.c). */
#pragma once

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
