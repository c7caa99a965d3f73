/**
 * enumtab - the table that turns an enum's numbers into names.
 *
 * One entry for each value; the first name of a value is its name, later ones are aliases. With a
 * prefix stripped the names are what a reader wants to see: NVMF_TGT_RUNNING is RUNNING.
 *
 *	struct enumtab t;
 *	if (enumtab_lookup(lk, STR("nvmf_tgt_state"), &t)) {
 *		enumtab_strip(&t, STR("NVMF_TGT_"));
 *		enumtab_print(&b, STR("target"), &t);
 *	}
 *
 * A table is printed as assignments to a map. The key of a negative value of an enum narrower than
 * 64 bits is printed twice, sign-extended and zero-extended: bpftrace reads arguments the one way
 * and members the other.
 */
#pragma once

#include "code/code.h"
#include "ctype/lookup.h"

struct enumtab_item {
	struct str name;    /**< as in the program, prefix included */
	struct str text;    /**< the name without the prefix; state::ON of an enum class */
	int64_t value;	    /**< of an unsigned 64-bit enum: its bits */
	struct str aliases; /**< other names of the same value, ", " between; may be empty */
};

struct enumtab {
	struct str name; /**< the type, with its scopes; as asked for an enum without a tag */
	unsigned size;	 /**< bytes */
	bool is_signed;
	struct str
	    of_code; /**< its values are addresses of functions, whose names are after this: "uprobe:" */
	struct enumtab_item *items; /**< in the order of the program */
	size_t n_items;
	struct map by_value; /**< of items; a table made by hand has none and is searched */
};

/** Looks an enum up in all sources of @lk; silent if it does not exist: lookup_report_unknown() reports that. */
bool enumtab_lookup(struct lookup *lk, struct str name, struct enumtab *ret);
/** @name of @t's as C++ source has it: of an enum class only with its scopes, ns::state::ON. */
struct str enumtab_scoped(struct arena *a, const struct ctype *t, struct str name);
/** From an enum type, or a typedef of one; false when it is none, or only declared. */
bool enumtab_from_type(struct arena *a, struct ctype *t, struct enumtab *ret);
/** The same, in @a; NULL also when it has no enumerators. */
const struct enumtab *enumtab_of(struct arena *a, struct ctype *t);
/**
 * Takes a prefix from the shown names: the first one of @prefixes, `A_` or `A_B_|A_`, that a name
 * begins with. A name that is nothing else keeps it.
 */
void enumtab_strip(struct enumtab *t, struct str prefixes);
/** The item of @value, or NULL. */
const struct enumtab_item *enumtab_get(const struct enumtab *t, int64_t value);

/** Writes `@MAP[KEY] = "TEXT";` with @indent before and @end after each. */
void enumtab_print(struct code *b, struct str map, const struct enumtab *t, const char *indent,
		   const char *end);
