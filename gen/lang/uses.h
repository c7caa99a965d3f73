/**
 * uses - every place where a script names a map or a variable, and what is done with it there.
 *
 * A map belongs to the whole program, and what one clause sets another reads; a variable belongs to
 * one clause. So what is to be known of one is asked of all its places, which stand in one list, in
 * the order of the script:
 *
 *	for (const struct use *u = uses_of_map(&b->found.uses, STR("start")); u; u = u->next)
 *		if (u->does & USE_SET) look_at(u->value);
 *
 * The lists are made once, of the script as it was written, when its clauses are bound and those
 * that the target has no probes for are gone. (What is to go depends on maps that these clauses
 * set: only there, bind/optional.c makes lists of its own before.)
 */
#ifndef LANG_USES_H
#define LANG_USES_H

#include "lang/script.h"

/** What is done: several of them for `$x = @m++`, or for a map that print() is given. */
enum use_does {
	USE_READ = 1 << 0,
	USE_SET = 1 << 1,    /**< `=`, let; `@on == 1;`, too, which was to be one */
	USE_ADD = 1 << 2,    /**< ++, --, += and the like */
	USE_DELETE = 1 << 3, /**< delete(@m, key), delete(@m[key]) */
	USE_CLEAR = 1 << 4,
	USE_ZERO = 1 << 5,
	USE_PRINT = 1 << 6,
	USE_LOOP = 1 << 7, /**< for: a map that it goes through, a variable that it sets */
	/** A macro, or a function that is not known, gets it, and may do anything with it. */
	USE_GIVEN = 1 << 8,
	USE_OPAQUE = 1 << 9, /**< in what is not understood: likewise */

	USE_WRITES = USE_SET | USE_ADD | USE_OPAQUE,
	USE_MAY_SET = USE_WRITES | USE_GIVEN,
	USE_EMPTIES = USE_CLEAR | USE_ZERO,
};

struct use {
	struct str name;
	const struct script_clause *clause;
	struct node *node;	   /**< NODE_MAP or NODE_VARIABLE; or a NODE_OPAQUE that names it */
	const struct node *parent; /**< of the node */
	const struct token *at;	   /**< where the name is */
	unsigned does;		   /**< USE_* */
	bool is_whole; /**< all of a map: print(@m), delete(@m, key), a loop over it, USE_OPAQUE */
	struct node *value; /**< what is assigned to it, or NULL */
	struct use *next;   /**< of the same name */
};

/** A map, or a variable of one clause. */
struct used_name {
	struct use *first, *last;
	unsigned does; /**< what all uses do */
};

struct uses {
	struct arena *arena;
	struct map maps; /**< name, without @ -> struct used_name */
	struct map
	    variables; /**< address of a clause -> struct map: name, with $ -> struct used_name */
	/** Something of the program is not at hand or not understood: it may use any map. */
	bool is_open;
	/** A clause was taken out: what it did is not here, and no mistake of the script. */
	bool is_cut;
};

void uses_find(struct arena *a, const struct script *s, struct uses *ret);

/** The first use of the map, or NULL. */
const struct use *uses_of_map(const struct uses *u, struct str name);
/** What all uses of the map do, USE_*. */
unsigned uses_do_with_map(const struct uses *u, struct str name);
/** The variables of @c: name, with $ -> struct used_name. In a macro, its parameters are some. */
const struct map *uses_variables(const struct uses *u, const struct script_clause *c);

/** Is the clause of @u one that runs once, when the trace begins or ends? */
bool use_is_in(const struct use *u, enum provider_when when);

#endif
