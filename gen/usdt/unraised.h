/**
 * unraised - sites of a probe whose semaphore a tracer leaves at 0.
 *
 * The sites of a probe mostly share a semaphore, but each can have its own, as a macro in inlined code
 * or Rust's crates make them. bpftrace up to 0.23 raises the first site's for all of them
 * (dialect_raises_first_semaphore()), and the others never fire.
 *
 * The kernel raises a semaphore for any uprobe in the file that names it. At the site itself it accepts
 * only the one that the tracer's uprobe has; so ours is at the instruction after the nop.
 */
#pragma once

#include "usdt/sdt.h"

/** A semaphore that is to be raised. */
struct unraised {
	uint64_t semaphore; /**< its address */
	uint64_t counter;   /**< its offset in the file; 0: it is not in it */
	uint64_t place;	    /**< offset of an instruction that can have a uprobe; or 0 */
};
typedef VEC(struct unraised) unraised_list;

/** How many sites of @p do not fire. */
size_t unraised_count_sites(const struct sdt_probe *p);
/** Adds each semaphore of those once. @taken: addresses that other uprobes need. */
void unraised_find(struct arena *a, struct img *img, const struct sdt_probe *p,
		   const struct map *taken, unraised_list *ret);
