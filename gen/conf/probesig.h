/**
 * probesig - documented signatures of probes, for programs that come without debug information.
 *
 * A text file (bpf/probes.conf), one probe a line as its manual has it, # starts a comment:
 *
 *	postgresql:query__start(const char *query)
 *
 *	spdk:nvmf_tgt_state(0, enum nvmf_tgt_state g_tgt_state)
 *	spdk:msg_exec(0, void (*fn)(), void *arg)
 *
 * Types are C's integers, bool, <stdint.h>'s, pointers to char, void or a struct, enums, and
 * functions without their parameters. A number is an argument that the probe's macro adds, always
 * the same. An enum can have its enumerators in a line before it is used:
 *
 *	enum LWLockMode { LW_EXCLUSIVE, LW_SHARED };
 *
 * A probe that has changed is listed once for each of its forms: see argsig.h.
 *
 * A line is parsed when its probe is looked up, and its errors are reported then: a list has hundreds, and
 * a program has a few of them. For the use of a list see argsig.h.
 */
#pragma once

#include "base/diag.h"
#include "ctype/ctype.h"

struct probesig_arg {
	struct str name;
	struct ctype *type; /**< a struct, or an enum that is not in `enums`, is a shell: only its
			       name is known */
	bool is_constant;   /**< a number, `value`; it has no name */
	uint64_t value;
};

struct probesig {
	struct probesig_arg *args;
	size_t n_args;
	const struct probesig *other; /**< of another version of the program, or NULL */
	bool is_of_project;	      /**< where an int can be passed as a char */
};

struct probesigs {
	struct arena *arena;
	struct diag *diag;
	struct map probes; /**< "provider:name" -> a line of the list */
	struct map enums;  /**< name -> struct ctype, of four bytes */
	struct map types;  /**< as they are spelled -> struct ctype */
};

/** Reads @path, adding to *@ret, which keeps @a and @d. */
bool probesig_load(struct arena *a, struct diag *d, const char *path, struct probesigs *ret);
/** NULL when the probe is not listed, its lines are wrong (which was reported), or @s is NULL. */
const struct probesig *probesig_find(struct probesigs *s, struct str provider, struct str name);
/** The type that a list spells so, such as `const char *`; NULL when there is none. */
struct ctype *probesig_type(struct probesigs *s, struct str text);
/** The enum whose enumerators are listed, or NULL. */
struct ctype *probesig_find_enum(const struct probesigs *s, struct str name);
