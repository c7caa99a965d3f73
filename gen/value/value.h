/**
 * value - what a value is, on its way from a probe to a line of text or to JSON.
 *
 * The C type is the kind: a number of so many bits, true or false, a character, an address (a pointer), a
 * function's (a pointer to one), an enumerator, a float, a struct. `how` has what no C type expresses, such
 * as a text that bpftrace makes, a time, or one of two values. Fields of records, members of structs, and
 * keys and values of maps are all such values, and value/show.h shows them: one walk, and two sinks, text
 * and JSON.
 *
 * A record has numbers of 64 bits and texts for each value; a conversion of printf() is no part of it but a
 * struct value_conversion beside it, which JSON ignores.
 *
 *	struct value v = {.type = state, .names = enumtab_of(&arena, state)};
 *	int64_t number = 4;
 *	value_text(&how, &v, (struct value_data){&number, NULL}, VALUE_RAW, &out);	// RUNNING
 *	value_json(&how, &v, (struct value_data){&number, NULL}, VALUE_RAW, &j);
 *							// {"name": "RUNNING", "value": 4}
 */
#pragma once

#include "ctype/enumtab.h"

enum value_how {      // and what of it travels
	VALUE_PLAIN,  /**< by its type: a number; of structs and arrays, see `n_bytes` */
	VALUE_STRING, /**< a pointer to characters: a number, its address, and a text */
	VALUE_TEXT,   /**< a text */
	VALUE_SYMBOL, /**< a text: a function's name, or its address as 0x5634 where bpftrace has no name */
	VALUE_STACK,   /**< a text: frames on lines of their own; see `n_frames` */
	VALUE_TIME,    /**< a number: ns; `literal` is the format, of strftime() */
	VALUE_CHOICE,  /**< a number, the condition; then what `parts`, yes and no, have */
	VALUE_TUPLE,   /**< what `parts` have; of maps */
	VALUE_LITERAL, /**< nothing: `literal` */
	VALUE_HIDDEN,  /**< nothing: it cannot be read */
};

/** What a number has been kept as: x + VALUE_SHIFT, VALUE_SHIFT - x, divided as a signed sum, or as the stats() of an avg(). */
enum value_shift { VALUE_UNSHIFTED, VALUE_RAISED, VALUE_MIRRORED, VALUE_AVERAGE, VALUE_STATS };
#define VALUE_SHIFT ((int64_t)1 << 62)

struct value {
	enum value_how how;
	struct ctype *type; /**< of VALUE_PLAIN; NULL: of a map, of which nothing is known */
	const struct enumtab *names; /**< for its numbers; NULL: the enumerators of its type */
	/** Of a struct, union or array: its address travels, and so much of it, 8 bytes a number. */
	size_t n_bytes;
	bool has_text; /**< of std::string: a text travels, too, ctype/cxxclass.h */
	/**
	 * Of a stack that may begin at the first instruction of a function: at most so many. Two numbers
	 * travel, the address of the probe and, if it is there, the one that the function returns to.
	 */
	unsigned n_frames;
	struct str literal;
	struct value *parts;
	size_t n_parts;
	bool can_be_cut;	/**< of VALUE_TEXT: bpftrace cuts it where it is too long */
	enum value_shift shift; /**< of a map: of max(), min(), avg(), stats() */
	bool has_variable;	/**< of an address: in the target, where its variables may be */
};

/** What travels of a value; each part takes its own from the front. */
struct value_data {
	const int64_t *numbers;
	const struct str *texts;
};

/** Flags, width and precision of a format, %-5ld; empty: none. */
struct value_conversion {
	struct str how; /**< between % and the letters: flags, width, precision */
	char letter;	/**< d i u x X o c p s r; %lld is d */
	unsigned bits;	/**< of a number: those that count */
};

// Types that nobody declared.
/** Of 8, 16, 32 or 64 @bits; static. */
struct ctype *value_integer(unsigned bits, bool is_signed);
/** The same, maybe an address: -t shows it in hexadecimal. */
struct ctype *value_untyped(unsigned bits);
extern struct ctype value_char, value_bool, value_float, value_double;
extern struct ctype value_bits;	   /**< 64 bits, signed or not: in hexadecimal everywhere */
extern struct ctype value_address; /**< void * */
extern struct ctype value_code;	   /**< void (*)() */

/** Questions about VALUE_PLAIN; false of all else. */
bool value_is_number(const struct value *v); /**< a struct is none, what is not known neither */
bool value_is_integer(const struct value *v);
bool value_is_unsigned(const struct value *v); /**< an integer of 64 bits, without a sign */
bool value_is_real(const struct value *v);
bool value_is_address(const struct value *v); /**< and no function's */
bool value_is_code(const struct value *v);
bool value_has_parts(const struct value *v); /**< a struct, union or array */

/** Of the same kind, with the same names? Integers may have other sizes and signs. */
bool value_is_alike(const struct value *a, const struct value *b);
/** Adds how many numbers and texts travel. */
void value_count(const struct value *v, size_t *n_numbers, size_t *n_texts);
/** Takes @v's off *rest. Returns it, or what was chosen of it, whose own begin at *ret. */
const struct value *value_next(const struct value *v, struct value_data *rest,
			       struct value_data *ret);
