/**
 * funcargs - the parameters of a function, and which of its argument registers each is in when it is
 * entered.
 *
 * The debug information of optimized code has it (DW_AT_location at the function's first instruction);
 * elsewhere the calling convention does: System V's for x86-64, section 3.2.3, AArch64's AAPCS64, section
 * 6.8.2. If neither is certain, such as after a struct that is passed by value, the register is not known.
 */
#pragma once

#include "dwarf/dwsrc.h"
#include "probe/probearg.h"

struct funcarg {
	struct probearg arg; /**< its name is empty where it has none */
	int number; /**< of the argument register, argN of a uprobe; -1: in none, or not known */
	/**
	 * Where the debug information has no location for it: the register that callers put it into if
	 * the function uses it; -1: not known. Clang 19 and 21 have none in functions that return a
	 * struct in memory; nor is there one for a parameter that is not used, which callers do not set.
	 */
	int expected;
	/**
	 * The argument register that has its address, of a class that has a destructor or copies itself in its
	 * own way: C++ ABI for Itanium, 3.1.2.3. -1: none, or not known.
	 */
	int address;
	/** The first of the argument registers that a class of the C++ library is passed in; -1: likewise. */
	int spread;
	/** Its location for the whole function holds at the entry, too; else the function stores it there. */
	bool is_there;
};

struct funcargs {
	struct str function;
	VEC(struct funcarg) list;
	/**
	 * What it returns in the register that retval of a uretprobe is, a reference as a pointer; NULL:
	 * no number or pointer of at most 8 bytes, or not known.
	 */
	struct ctype *result;
	bool is_void;  /**< it returns nothing */
	bool is_float; /**< it returns a floating-point number, which retval is not */
};

/** Those of the function at link-time address @addr; false, silently, where nothing is known. */
bool funcargs_read(struct dwsrc *src, uint64_t addr, struct funcargs *ret);
/** The parameter of that name; NULL: none. */
const struct funcarg *funcargs_find(const struct funcargs *f, struct str name);
/** DWARF's number of the register that argument @number is passed in; -1 after the last. */
int funcargs_register(unsigned machine, int number);
/** `put(struct store *s, int n)`, in @a. */
struct str funcargs_declaration(struct arena *a, const struct funcargs *f);
