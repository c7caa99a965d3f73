/**
 * attachable - may bpftrace attach to a probe, and why not.
 *
 * One probe that it cannot attach to ends the whole program, so that this is asked before one is
 * written.
 *
 *	struct str why = attachable_why_not(a, img, probe, version);
 *	if (why.n)
 *		diag_error(d, NULL, "bpftrace cannot attach to it: " STR_FMT, STR_ARG(why));
 */
#pragma once

#include "probe/probearg.h"

/** Is the probe called so that an attach point can name it? */
bool attachable_has_name(const struct sdt_probe *p, unsigned version);
/**
 * Why bpftrace cannot attach to @p of @img, to be put after "bpftrace cannot attach to it: "; empty if it
 * can. Before 0.24 bpftrace skips a site without code and an operand that it cannot read; from 0.24 on it
 * does not attach (measured with 0.17.0, 0.23.2 and 0.27.1).
 */
struct str attachable_why_not(struct arena *a, struct img *img, const struct sdt_probe *p,
			      unsigned version);
/**
 * Where it can: only by the addresses of its sites, because libbpf reads the operands of usdt attach
 * points and refuses one of them. What is at a site is then read by registers, bind/argread.h.
 */
bool attachable_by_address(struct arena *a, unsigned machine, const struct sdt_probe *p,
			   unsigned version);
/**
 * A return probe puts an address of the kernel's in the place of the caller's. What unwinds or moves the stack
 * past it ends the program: an exception through the function is terminate(), measured. What of that @img has,
 * and when it may be traced nevertheless (@unless); NULL: nothing is known of.
 */
const char *attachable_danger(struct img *img, const char **unless);
/**
 * bpftrace looks up the symbol that covers an address, and attaches by its name: to the first function of
 * that name in the file (0.17 to 0.27). In a stripped file libbcc looks into the separate one before or
 * after it, depending on the version. The name, if the first one is, or may be, other code than at
 * link-time @addr; else empty.
 */
struct str attachable_shadow(struct arena *a, struct img *img, uint64_t addr);
/**
 * The number by which `uprobe:PATH:NUMBER` means the site @s of @img. Measured with 0.27.1: it is the
 * link-time address of code that a symbol covers; of other code, which needs --unsafe, it is the offset
 * in the file. False where bpftrace may take it for the other one of the two, or goes by the symbol's name,
 * which is that of other code, too.
 */
bool attachable_site(struct arena *a, struct img *img, const struct sdt_site *s, uint64_t *ret,
		     bool *is_unsafe);
/**
 * Why no probe may be at link-time address @addr; NULL: nothing is known against it. Linux does not probe some instructions
 * (is_prefix_bad() of Linux for x86), and executes others otherwise: one such place ends bpftrace, with all its probes. At the entry
 * point argc is where functions have a return address, which a return probe (@is_return) replaces: measured.
 */
const char *attachable_refusal(struct img *img, uint64_t addr, bool is_return);
/** Can every version attach to @p, whose arguments are @pa? As attachable_why_not(), but at no cost. */
bool attachable_by_all(const struct sdt_probe *p, const struct probeargs *pa);
