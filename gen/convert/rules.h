/**
 * rules - what a script says of its records by `#pragma track`: which of them begin or end what on which
 * track. A capture's first line has them (docs/records.md).
 */
#ifndef CONVERT_RULES_H
#define CONVERT_RULES_H

#include "base/vec.h"
#include "convert/capture.h"

enum rule_kind {
	RULE_STATE, /**< the track is in that state until something else is said of it */
	RULE_BEGIN, /**< something begins on it */
	RULE_END,   /**< and ends */
	RULE_SLICE, /**< something that took so long ends */
	RULE_CALL,  /**< the call that begins, of a pair of probes, is called so */
};

struct rule {
	enum rule_kind kind;
	struct str probe; /**< a pattern for what stands behind the provider */
	struct str
	    by; /**< the track's name, empty: the thread's; as `name` it is a text with {FIELD} in it */
	struct str name;
	struct str lasting; /**< of RULE_SLICE: the field */
	int64_t unit;	    /**< of that, in ns */
	bool is_missed;	    /**< a record had not what it names; */
	bool is_used;	    /**< another had */
};

struct rules {
	VEC(struct rule) list;
};

/** @capture: the object of a capture's first line. False: it has no such tracks. */
bool rules_read(struct arena *a, struct str capture, struct rules *ret);

/**
 * Adds @text with each {FIELD} of @l as capture_words() has it, also of what each record has: pid, tid, cpu,
 * comm, probe, text. False when one of them is missing.
 */
bool rules_expand(struct str text, const struct capture_line *l, struct strbuf *out);
/** How long it took, in ns; false when the record does not say. */
bool rules_duration(const struct rule *rule, const struct capture_line *l, int64_t *ret);

#endif
