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
#pragma once

#include "lang/script.h"

struct use {
	struct str name;
	const struct script_clause *clause;
	struct node *node;	/**< NODE_MAP or NODE_VARIABLE; or a NODE_OPAQUE that names it */
	const struct token *at; /**< where the name is */
	unsigned does;		/**< USE_* */
	bool is_whole; /**< all of a map: print(@m), delete(@m, key), a loop over it, USE_OPAQUE */
	struct node *value;	/**< what is assigned to it, or NULL */
	const struct node *let; /**< the `let` or loop of the variable; NULL: all of the clause */
	struct use *next;	/**< of the same name */
};

/** A map, or a variable of one clause. */
struct used_name {
	struct use *first, *last;
	unsigned does; /**< what all uses do */
};

struct uses {
	struct arena *arena;
	struct map maps;      /**< name, without @ -> struct used_name */
	struct map variables; /**< clause -> struct map: $name -> struct used_name */
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
