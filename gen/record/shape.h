/**
 * shape - the format of one printf() or print() of a program, and of its records.
 *
 * Under bpftrace.sh a program does not print lines but records: the number of the statement, and the raw
 * values. The reader (record/decode.h) has the shapes, and makes text or JSON of them, with names, times
 * and C's conversions, which no version of bpftrace has all of. A record is one line:
 *
 *	START number ["," number]... ";" KEY [";" text TERM [text TERM]...] ">" newline
 *
 * The first number is that of the shape. START contains a number chosen at random for each run. TERM is "<"
 * KEY ">", and KEY is a number of 64 bits that the kernel chooses at random when the program begins, keeps
 * in a map, and sends in the first record of all. Unlike START it is in no text that a traced program could
 * read: a string that contains START, in a record or in the key of a map that bpftrace prints, neither ends
 * nor becomes a record. All numbers are decimal and of 64 bits, printed as signed ones. The numbers and
 * texts are, in that order:
 *
 *	with `has_since`: elapsed
 *	those of head_numbers[] that shape_has_number() allows
 *	with `has_head`: comm, and the probe, where a clause has several
 *	each field in turn: see enum value_how
 *
 * The program also counts the records of each shape in a map, which bpftrace prints at its end: records
 * that were counted and have not come were lost.
 */
#pragma once

#include "value/value.h"

/** The numbers of a record's head. */
struct head {
	int64_t ns, cpu, pid, tid; /**< ns of CLOCK_BOOTTIME */
};

/** Of each, in the order in which they travel and stand in JSON. */
struct head_number {
	const char *word; /**< what the program prints */
	struct str json;  /**< its member up to the value, which the time has otherwise */
	size_t at;	  /**< in struct head */
	bool finds_lines; /**< by it the pieces of a line are found */
};

enum { HEAD_NUMBERS = sizeof(struct head) / sizeof(int64_t) };
extern const struct head_number head_numbers[HEAD_NUMBERS];

struct shape_field {
	struct str name;   /**< args.state is "state"; what has none is as written: "pid / 2" */
	struct str key;	   /**< its name as a string of JSON, see shape_make_keys() */
	struct str before; /**< the literal text before it in the format, escapes decoded */
	struct value_conversion as; /**< of a format */
	struct str letters;	    /**< of VALUE_TEXT: r, rx or rh; else it is s */
	/**
	 * This is a number divided by so much, and the next field what remains, as in "%lu.%06lu"; JSON
	 * has the number. 0: it is not.
	 */
	int64_t divisor;
	bool is_filler; /**< `x ? " of " : ""`, "": part of the text, no field of JSON */
	struct value value;
};

/** How the text of a record is made. */
enum shape_style {
	SHAPE_FORMAT, /**< as the format has it */
	SHAPE_LIST,   /**< a=1 b="text", of -t */
	SHAPE_MARK, /**< no text: it identifies the origin of the lines that bpftrace prints next itself */
	SHAPE_KEY,   /**< nothing but KEY; it has number 0 */
	SHAPE_ENTRY, /**< of --calls: the stack pointer, the return address, and arguments */
	SHAPE_RETURN, /**< likewise: the stack pointer, the result; its shape follows that of its entry */
	SHAPE_JUMP, /**< likewise: the stack pointer that longjmp() has set */
};

struct shape {
	enum shape_style style;
	struct str probe; /**< "spdk:nvmf_tgt_state"; empty: it travels */
	struct str kind;  /**< of SHAPE_ENTRY and SHAPE_RETURN, if so: "uprobe" */
	struct shape_field *fields;
	size_t n_fields;
	struct str after;  /**< the literal text after the last field */
	struct str map;	   /**< of SHAPE_MARK in front of print(@map): "map"; else empty */
	bool is_counted;   /**< the program counts these */
	bool is_event;	   /**< a line of it is one of an event: no map, and not the end */
	bool has_since;	   /**< `elapsed` travels: #pragma time since */
	uint64_t n_events; /**< that have come */
	uint64_t n_fired;  /**< as the program has counted, known at its end */
};

/** The records of one program. */
struct shapes {
	struct arena *arena;
	VEC(struct shape) list;
	bool has_head;	 /**< each record has head_numbers[], comm and probe */
	bool has_limit;	 /**< lines of events are counted, those that bpftrace prints itself, too */
	char start[24];	 /**< START */
	char counts[32]; /**< the map that counts, with its @; its key is a shape's number */
	char key[32];	 /**< the map that has KEY, with its @ */
	char gate[32];	 /**< the map that decides whether events count, with its @ */
	struct enumtab functions; /**< SHAPE_FUNCTIONS: address -> "uprobe:put" */
	bool can_gate;		  /**< the caller can set it */
	bool has_gate;		  /**< the program asks it */
	unsigned first_count;	  /**< what a count() begins with */
};

/** What `gate` has: 0 until all probes are attached; only a script with #pragma gate waits for that. */
enum {
	GATE_CLOSED = 1, /**< the end was asked for */
	/** Of --latency, for a moment: starts are kept, and nothing is counted of what began before. */
	GATE_SETTLES = 2,
	GATE_OPEN = 3,
};

/** An enum that no target has, for enum_name() in a script of btgen's own. */
#define SHAPE_FUNCTIONS "btgen_functions"

/** What a head takes of a record's room, in numbers, with comm and probe; and `has_since` without one. */
enum { SHAPE_HEAD = HEAD_NUMBERS + 8, SHAPE_SINCE = 3 };

/** Of a stack, if the script gives no number. */
enum { SHAPE_MOST_FRAMES = 127 };

/** Chooses START and the names of the maps. */
void shapes_init(struct shapes *s, struct arena *a, bool has_head);
/** Adds the shape that sends KEY, as the first one; without it a record may have any KEY, or none. */
void shapes_add_key(struct shapes *s);
bool shapes_has_key(const struct shapes *s);

/** Without a head a record has those that find its line, if that has a time. */
bool shape_has_number(const struct shapes *all, const struct shape *s,
		      const struct head_number *number);
/** How many numbers and texts a record of @s has before its fields. */
void shape_count_head(const struct shapes *all, const struct shape *s, size_t *n_numbers,
		      size_t *n_texts);
/** How many numbers and texts a record of @s has after the number of the shape. */
void shape_count(const struct shapes *all, const struct shape *s, size_t *n_numbers,
		 size_t *n_texts);
/** Of fields of one name the later ones get the keys name_2, name_3; no two have the same. */
void shape_make_keys(struct arena *a, struct shape *s);
/** Adds what bpftrace reads number @i of a struct's @n_bytes with: @address is a variable. */
void shape_write_word(struct str address, size_t n_bytes, size_t i, struct strbuf *out);
/**
 * The format of the printf() that prints records of shape @number, without quotes:
 * `@0123456789abcdef<5,%ld,%ld;%lu;%s<%lu>>
 * `. Its arguments are the numbers, KEY, and each text followed by KEY.
 */
void shape_write_format(const struct shapes *all, size_t number, struct strbuf *out);
