/**
 * skeleton - a script for probes that nobody has written one for.
 *
 * Takes the probes of the target that match some patterns and decides how each argument is best
 * shown: strings quoted, enums by name, pointers in hex, numbers with their sign. Out of that comes
 * an editable template (`btgen skeleton`), or a program that prints records for marks/records.h to
 * decode (`bpftrace.sh -t`): numbers and raw strings between separators that no traced program can
 * know, so that whatever is in a string cannot be taken for anything else.
 *
 *	struct skeleton sk;
 *	if (skeleton_collect(&sk, a, d, files, version, patterns, n))
 *		skeleton_write_template(&sk, &out);
 */
#ifndef TEMPLATE_SKELETON_H
#define TEMPLATE_SKELETON_H

#include "bind/targetfile.h"
#include "ctype/enumtab.h"
#include "probe/probeargs.h"

enum skeleton_kind {
	SKELETON_HIDDEN, /**< this bpftrace cannot read it */
	SKELETON_SIGNED,
	SKELETON_UNSIGNED,
	SKELETON_HEX,  /**< pointers, and 8 bytes of which nothing is known */
	SKELETON_CODE, /**< pointers to functions */
	SKELETON_BOOL,
	SKELETON_CHAR,
	SKELETON_STRING,
	SKELETON_ENUM,
	SKELETON_FLOAT,	 /**< the bits of a float in an integer */
	SKELETON_DOUBLE, /**< likewise */
};

struct skeleton_field {
	struct str name;
	enum skeleton_kind kind;
	const struct probearg *arg;
	unsigned index;	      /**< N of argN */
	bool by_name;	      /**< a template can say args.NAME */
	struct str enum_name; /**< of SKELETON_ENUM, without the keyword */
	struct enumtab names; /**< likewise */
};

struct skeleton_probe {
	struct targetfile *file;
	const struct sdt_probe *probe;
	bool needs_path; /**< other files have a probe of that name, too */
	struct probeargs args;
	struct skeleton_field *fields; /**< the arguments without those that are listed constants */
	size_t n_fields;
};

struct skeleton {
	struct arena *arena;
	struct diag *diag;
	struct targetfiles *files;
	unsigned version; /**< of bpftrace */
	VEC(struct skeleton_probe) probes;
	struct map known; /**< addresses of those in the lists of files */
	struct map named; /**< "provider:name" -> 1 + index of the first one in `probes` */
};

/**
 * Finds the probes that match any of @patterns, each NAME or PROVIDER:NAME with * and ?. Probes
 * that this bpftrace cannot attach to are left out with a warning; a pattern that matches nothing
 * is an error.
 */
bool skeleton_collect(struct skeleton *ret, struct arena *a, struct diag *d,
		      struct targetfiles *files, unsigned version, const char *const *patterns,
		      size_t n);
/** A template with a clause for each probe. */
void skeleton_write_template(const struct skeleton *sk, struct strbuf *out);
/** What no traced program can know. */
struct skeleton_marks {
	const char *start, *sep, *end;
	const char *counts; /**< a map's name with its @ */
};
/**
 * A template that prints records: start, number of the probe, nsecs, pid, tid, comm, then the
 * fields, each behind `sep`; a string is two fields, its address and its text; last `end` and a
 * newline. Hidden fields are left out. The map `counts` has the number of events of each probe.
 */
void skeleton_write_records(const struct skeleton *sk, const struct skeleton_marks *marks,
			    struct strbuf *out);

#endif
