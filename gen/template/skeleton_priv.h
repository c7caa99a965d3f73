/** What the parts of skeleton share: probes (skeleton.c) and functions (skeleton_functions.c). */
#ifndef TEMPLATE_SKELETON_PRIV_H
#define TEMPLATE_SKELETON_PRIV_H

#include "template/skeleton.h"

/** How f->arg is shown; hidden when not @is_readable. */
void skeleton_shape_field(struct skeleton *sk, struct skeleton_field *f, bool is_readable);
/** Adds @p, which has everything but the answer whether it needs a path. */
void skeleton_add(struct skeleton *sk, struct skeleton_probe *p);
/** Adds the functions that match uprobe:[FILE:]NAME or uretprobe:[FILE:]NAME; false after an error. */
bool skeleton_add_functions(struct skeleton *sk, struct str pattern);

#endif
