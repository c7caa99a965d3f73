/**
 * dwinfer - which variable, or member of one, a probe's operand is: its name and type where the program says neither.
 *
 * The note of a probe says where an argument's value is at the probe's address, the debug information says where
 * variables are. When they are at the same place, of the same size, and nothing else is, the argument is that
 * variable. An operand in memory at a register that holds a pointer to a struct is the member at that offset.
 *
 *	struct dwinfer got;
 *	if (dwinfer_operand(&arena, &code, EM_X86_64, &arg, &got))
 *		use(got.name, got.type);
 *
 * It never guesses: two variables at one place of which neither is nearer give no name, and a type only if they have the
 * same. An expression that was computed into a register is no variable, and is not found.
 */
#ifndef TYPES_DWINFER_H
#define TYPES_DWINFER_H

#include "image/sdtarg.h"
#include "types/dwcode.h"

struct dwinfer {
	struct str
	    name; /**< "subsystem", or for a member its own name; empty when only the type is known */
	struct str path;    /**< the same in full: "subsystem->state" */
	struct ctype *type; /**< never NULL */
};

/** False when nothing is at the operand's place, or too much. */
bool dwinfer_operand(struct arena *a, const struct dwcode *code, unsigned machine,
		     const struct sdtarg *arg, struct dwinfer *ret);
/** DWARF number of a general register as the assembler spells it, any width ("eax", "r8d", "w0", "sp"); -1 for others. */
int dwinfer_register(unsigned machine, struct str name);

#endif
