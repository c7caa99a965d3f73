/**
 * vocabulary - the words of bpftrace's language, in one place.
 *
 * What a word means is asked here; docs/dev/tour.md has the two lists by name elsewhere. Which version of bpftrace
 * knows which word is in its manuals: docs/language.md, docs/stdlib.md and man/adoc/bpftrace.adoc
 * of each release.
 *
 *	const struct provider *p = vocabulary_provider(STR("ur"));
 *	if (p->memory == MEMORY_KERNEL) ...
 */
#pragma once

#include "base/str.h"

/** When a clause runs. */
enum provider_when {
	WHEN_EVENT, /**< whenever something happens */
	WHEN_COUNT, /**< after so many events, between any two instructions */
	WHEN_TIMER, /**< as time passes, between any two instructions */
	WHEN_ONCE,  /**< for each thing that there is, as the trace begins */
	WHEN_BEGIN,
	WHEN_END,
};

/** Whose events it is that a clause runs for. */
enum provider_whose {
	OF_MACHINE, /**< every process', unless bpftrace filters them by its -p */
	OF_PROCESS, /**< that of -p; every process' without it */
	OF_FILE,    /**< those of whoever runs the file that the attach point names */
	OF_TRACE,   /**< the trace's own */
};

/** Where in code that is. */
enum provider_place {
	PLACE_OTHER,
	PLACE_NONE, /**< nowhere: there are no arguments */
	PLACE_USDT,
	PLACE_TRACEPOINT,
	PLACE_ENTRY,  /**< of a function */
	PLACE_RETURN, /**< of a function */
};

/** Whose types a struct's name means in a clause, and whose memory its pointers lead to. */
enum provider_memory {
	MEMORY_UNKNOWN,
	MEMORY_PROGRAM, /**< the traced program's, as in all clauses that are not the kernel's */
	MEMORY_KERNEL,
};

/** A kind of probe. */
struct provider {
	const char *name, *short_name; /**< short_name may be NULL */
	enum provider_when when;
	enum provider_whose whose;
	enum provider_place place;
	enum provider_memory memory;
	bool is_typed;	    /**< a function whose arguments bpftrace knows by name and type */
	unsigned since;	    /**< the bpftrace that brought it; 0: they all have it */
	const char *before; /**< what older ones call it; or NULL */
};

/**
 * The provider that is called @word, in full or for short. One that is not known has no name, and may
 * fire anywhere.
 */
const struct provider *vocabulary_provider(struct str word);

/** The one for functions of programs, and for code at any address of a file. */
const struct provider *vocabulary_function_probe(void);

/** Is it one of a function in a file? */
bool provider_is_function(const struct provider *p);

/** The full name of a provider that is spelled like @word; NULL for none. */
const char *vocabulary_nearest_provider(struct str word);

/** What a function does with its first argument, where that matters. */
enum word_takes {
	TAKES_VALUE,
	TAKES_FORMAT,	   /**< of printf's kind */
	TAKES_TIME_FORMAT, /**< of strftime's */
	TAKES_WHOLE, /**< an array or struct as it is, or a pointer: with another size it is another value */
	TAKES_POINTER, /**< a pointer of its type, where it is one */
	TAKES_TYPE,    /**< or an expression */
};

enum word_gives {
	GIVES_OTHER,
	GIVES_COUNT, /**< a number that is never negative */
	GIVES_TRUTH, /**< likewise, 0 or 1: true or false to bpftrace from 0.24 on */
	GIVES_TEXT,
	GIVES_NUMBER, /**< any other */
	GIVES_SHOWN,  /**< what is only printed, with %s: stacks, symbols, addresses of hosts */
	GIVES_BYTES,  /**< what is only printed, with %r */
	GIVES_AGGREGATION, /**< what only a map can hold: count() and the like */
};

/** What an argument of a function must be. */
enum word_wants {
	WANTS_ANY,
	WANTS_SAMPLE,	/**< a number that a map counts or adds up */
	WANTS_CONSTANT, /**< a number that is written there */
	WANTS_LITERAL,	/**< a text that is written there */
	WANTS_STRING,	/**< the address of a string */
	WANTS_STRINGS,	/**< the address of an array of such addresses */
	WANTS_BYTES,	/**< an address, or an array in a struct */
	WANTS_HOST,	/**< of a host, as a number or an array */
	WANTS_CODE,	/**< the address of a function */
	WANTS_KERNEL,	/**< an address in the kernel */
};

/** What comes of evaluating something once more; each may do what those before it do. */
enum effect {
	EFFECT_NONE,	/**< the same value, all through a clause */
	EFFECT_READS,	/**< what is in memory or in a map by then */
	EFFECT_CLOCK,	/**< a later time */
	EFFECT_RANDOM,	/**< any value */
	EFFECT_CHANGES, /**< something is changed, printed or sent once more */
};

/** What is done with a map or a variable: several of them for `$x = @m++`, or for a map that print() is given. */
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

/** The argument that a function shows in another way: a JSON member of a call is named after that. */
enum word_shows { SHOWS_NONE, SHOWS_FIRST, SHOWS_LAST };

/** A builtin or a function. */
struct word {
	const char *name;
	unsigned since; /**< the bpftrace that brought it; 0: they all have it */
	bool is_bare;	/**< it is a value without brackets */
	enum word_takes takes;
	enum word_gives gives;
	enum effect effect;
	enum word_shows shows;
	unsigned does;	      /**< USE_*: with the map that it is given first, not with its value */
	bool prints;	      /**< among the data of a trace */
	bool is_unsafe;	      /**< bpftrace allows it with --unsafe only */
	bool is_total;	      /**< an aggregation of which a number is printed */
	bool of_process;      /**< differs between processes */
	bool is_wide;	      /**< a number of more than 32 bits */
	const char *modes[5]; /**< what means something as its argument only: kstack(perf) */
	enum word_wants wants[4]; /**< of a function */
};

/** For a word that is none, or of which nothing needs to be known, all is 0, but a call of it may change anything. */
const struct word *vocabulary_word(struct str word);

/** The bpftrace that brought a setting of a config block, `max_strlen` or `BPFTRACE_MAX_STRLEN`; 0 for none. */
unsigned vocabulary_setting(struct str name);
/** Is @word that setting? As bpftrace has it, in any case and with BPFTRACE_ in front or without. */
bool vocabulary_is_setting(struct str word, const char *name);

/** The builtin or function nearest to @word, which is none; NULL for none that is near. */
const char *vocabulary_nearest(struct str word);

/** The name of something that every clause has (pid, nsecs, arg0 ...), so that (pid) is never a cast. */
bool vocabulary_is_builtin(struct str word);

/** sarg0, sarg1 ...: arguments on the stack. */
bool vocabulary_is_stack_arg(struct str word);

/** Types that bpftrace knows by themselves. */
struct type_word {
	const char *names[7];
	unsigned size; /**< bytes of a number, else 0 */
	bool is_signed;
	bool is_reserved; /**< nothing else can have such a name */
};

/** NULL for what is none. */
const struct type_word *vocabulary_type(struct str word);

/** Is it a word that begins a type anywhere: struct, int32, unsigned, string ...? */
bool vocabulary_is_type_word(struct str word);

/** The N of argN; false for other names, and for numbers that no probe can have. */
bool vocabulary_arg_number(struct str word, unsigned *ret);
