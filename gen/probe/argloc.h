/**
 * argloc - which variables can have been a probe's argument: those that are where the operand is.
 *
 * Looks at the variables and parameters of the innermost function around a site, and at the globals
 * of its unit. A variable is a candidate when its location at that address is the operand (a
 * register; memory at the same register and offset, the frame being known from the unwind table);
 * so is a member at that offset of what a pointer variable in the base register points to, and a
 * global for a symbol. Only types of the operand's size and sign are candidates. Constants have
 * none.
 *
 *	struct argloc at;
 *	argloc_init(&at, src, &scope);
 *	struct argloc_candidates c = {0};
 *	argloc_find(&at, &operand, &c);
 */
#pragma once

#include "usdt/sdtarg.h"
#include "ctype/ctype.h"
#include "dwarf/dwsite.h"
#include "probe/locexpr.h"

struct argloc_candidate {
	struct str name;    /**< of the variable or of the last member */
	struct ctype *type; /**< as argtype_of_value() gives it */
};

struct argloc_candidates {
	VEC(struct argloc_candidate) list;
};

/** Where a variable is at one address. */
struct argloc_var {
	struct str name;
	struct ctype *type; /**< as declared */
	enum { ARGLOC_NOWHERE, ARGLOC_REG, ARGLOC_MEM, ARGLOC_STATIC } kind;
	int reg;	/**< number in DWARF; of ARGLOC_MEM the base */
	int64_t off;	/**< ARGLOC_MEM: bytes from the base; ARGLOC_STATIC: address */
	unsigned block; /**< how many scopes out of the innermost it is declared */
	unsigned line;	/**< where it is declared, or 0 */
	Dwarf_Die die;
	uint64_t part_off, part_size; /**< the bytes of it that are asked for; size 0: all */
	struct locexpr at; /**< all that is known of the place: kinds are what arguments can be */
	bool
	    is_everywhere; /**< one place is said of all its scope, also where it has no value yet */
};

struct argloc {
	struct dwsrc *src;
	const struct dwsite *scope;
	VEC(struct argloc_var) vars; /**< innermost block first */
	struct locexpr_frame frame;
};

/** Reads the variables of the function that is meant at the site; @outwards: also of those that it is inlined into. */
void argloc_init(struct argloc *ret, struct dwsrc *src, const struct dwsite *scope, bool outwards);
/** Only the frame there. */
void argloc_begin(struct argloc *ret, struct dwsrc *src, const struct dwsite *scope);
/** The same of another address of its function, whose frame may be elsewhere; @scope is filled for @ret. */
void argloc_move(const struct argloc *l, uint64_t pc, struct dwsite *scope, struct argloc *ret);
/** Where @v is at the address of @l, which may be another one than where @v was found. */
void argloc_locate(struct argloc *l, struct argloc_var *v);
/** Adds the candidates for @operand, each name and type once. */
void argloc_find(struct argloc *l, const struct sdtarg *operand, struct argloc_candidates *ret);
/**
 * The innermost variable @name of the function that is declared before the site's line, or NULL.
 * Without a type if several can be meant.
 */
const struct argloc_var *argloc_variable(const struct argloc *l, struct str name);
/**
 * The global, static or extern variable @name of the site's unit, by its name or by its symbol, which
 * becomes its name; false when it has none.
 */
bool argloc_global(struct argloc *l, struct str *name, struct ctype **ret);
/**
 * The variable of that name of the unit and its namespaces, with its place where the unit defines it; false
 * when there is none, or several.
 */
bool argloc_find_global(struct argloc *l, struct str name, struct argloc_var *ret);
/**
 * Is a name that is no variable of the function's own a global one, by the rules of the language? Not
 * where classes and namespaces are searched before: in members, lambdas, functions of a namespace.
 */
bool argloc_names_globals(struct argloc *l);
