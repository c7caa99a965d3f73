/**
 * finding - what `btgen doctor` has found: each a line in words, with what to do about it.
 *
 * An error is what makes tracing impossible, a warning what makes it worse than it could be. What
 * nothing is known of is not mentioned.
 *
 *	struct findings f = {.arena = &arena, .about = "machine"};
 *	finding_add(&f, FINDING_WARNING, "jit", "sysctl net.core.bpf_jit_enable=1",
 *		    "BPF programs are interpreted");
 *	findings_print(&f, stdout);	// warning  BPF programs are interpreted: sysctl net.core...
 */
#ifndef DOCTOR_FINDING_H
#define DOCTOR_FINDING_H

#include <stdio.h>

#include "base/str.h"
#include "base/vec.h"

enum finding_state { FINDING_OK, FINDING_WARNING, FINDING_ERROR };

struct finding {
	enum finding_state state;
	const char *about; /**< what was looked at: "machine", "process", "script" */
	const char *name;  /**< of what is looked for; the same in every release, for programs */
	struct str text, remedy; /**< bytes of strangers in them; the remedy may be empty */
	struct str
	    messages; /**< what stands below, as it is printed: text or a JSON array; or empty */
};

struct findings {
	struct arena *arena;
	const char *about; /**< of those that come next */
	unsigned n_errors;
	VEC(struct finding) list;
};

/** @name is a literal. @remedy: what to do, or NULL; it is copied. */
void finding_add(struct findings *f, enum finding_state state, const char *name, const char *remedy,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** A line each: "warning  TEXT: REMEDY", below the name of what they are about. */
void findings_print(const struct findings *f, FILE *out);
/** One array of {"about", "name", "state", "text", "remedy", "messages"}. */
void findings_print_json(const struct findings *f, FILE *out);

#endif
