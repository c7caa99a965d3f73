/**
 * str - views of text, and a growable buffer to write text into.
 *
 * A `struct str` does not own its bytes and need not end in NUL: it points into a source file, a
 * mapped ELF section or the arena, and lives as long as they do. `struct strbuf` owns heap memory
 * until strbuf_fini(). This header includes vec.h, arena.h and the headers of the C library that most
 * files need; a file leaves out what another of its headers includes.
 *
 *	struct str s = STR("usdt:a:b");
 *	if (str_has_prefix(s, STR("usdt:")))
 *		printf(STR_FMT "\n", STR_ARG(str_from_offset(s, 5)));
 */
#pragma once

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

struct str {
	const char *p;
	size_t n; /**< bytes */
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
/** For printf: STR_FMT with STR_ARG(s). */
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p

/** A view of the NUL-terminated @z; NULL gives the empty view. */
struct str str_from(const char *z);
/** The rest of @s from byte @off on; empty when @off is past the end. */
struct str str_from_offset(struct str s, size_t off);
/** @n bytes of @s from @off on, cut at the end of @s. */
struct str str_slice(struct str s, size_t off, size_t n);
bool str_eq(struct str a, struct str b);
/** Less than 0, 0, or more: in the order of their bytes. */
int str_compare(struct str a, struct str b);
bool str_eqz(struct str a, const char *z);
/** Equal to one of @words, which end in NULL. */
bool str_is_any(struct str s, const char *const *words);
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
/** Removes @prefix from @s; false, and @s stays, if it does not begin with that. */
bool str_take(struct str *s, struct str prefix);
/** Removes the decimal digits at the start of @s; false if there are none, or they need more than 64 bits. */
bool str_take_number(struct str *s, uint64_t *ret);
/** Removes the first line of @s, and returns it without its newline. */
struct str str_take_line(struct str *s);
/** What is before the first @end, which is taken off with it; all of @s where there is none. */
struct str str_take_until(struct str *s, char end);
/** Is one of @chars in @s? */
bool str_has(struct str s, const char *chars);
/** Offset of the first @c in @s, or s.n when there is none. */
size_t str_find(struct str s, char c);
/** @path up to its last /, with it; empty without one. */
struct str str_dir(struct str path);
/** The part after the last @c in @s; all of @s if there is none. */
struct str str_last(struct str s, char c);
/** @path without its directory. */
struct str str_base(struct str path);
bool str_contains(struct str s, struct str part);
/** @s without blanks, tabs, carriage returns and newlines at both ends. */
struct str str_trim(struct str s);
/** A NUL-terminated copy in @a. */
char *str_dup(struct arena *a, struct str s);
/** A copy in @a as a view. */
struct str str_copy(struct arena *a, struct str s);
/** Formatted text in @a. */
struct str str_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/**
 * Removes the escape after a \ from *@s: a letter, quote or \, up to three octal digits, or x and two
 * hexadecimal ones (C11 6.4.4.4). False, and @s stays, for any other.
 */
bool str_take_escape(struct str *s, unsigned *ret);
/** Decimal, 0x or 0 (octal) number that fills all of @s; false when it does not or overflows. */
bool str_to_u64(struct str s, uint64_t *ret);
/** A shell-like pattern with * and ? and nothing else, against all of @s. */
bool str_glob(struct str pattern, struct str s);
/**
 * How many single-byte edits (insert, delete, replace, swap of neighbours) lead from @a to @b, for
 * "did you mean"; @limit + 1 when there are more than @limit.
 */
unsigned str_distance(struct str a, struct str b, unsigned limit);
/**
 * True when @guess is near enough to @wanted to be offered instead of it: no more edits apart than a
 * third of the longer one's letters, 6 at most. *best is the distance to beat.
 */
bool str_is_nearer(struct str wanted, struct str guess, unsigned *best);
/** Which ASCII bytes may stand in a text that comes from a stranger and becomes part of a program. */
enum alphabet {
	ALPHABET_WORD,	      /**< letters, digits and _; all others have these as well */
	ALPHABET_SCOPED_WORD, /**< ns::name */
	ALPHABET_TYPE,	      /**< what compilers write: pair<int const*, (kind)-1> */
	ALPHABET_PATH,	      /**< without quotes in an attach point of every bpftrace */
	ALPHABET_QUOTED_PATH, /**< between quotes in a template */
	ALPHABET_PROBE_NAME,  /**< of a USDT probe, without quotes in an attach point */
	ALPHABET_LABEL,	  /**< of an event, in a format as it is: provider:name, uprobe:function */
	ALPHABET_SYMBOL,  /**< of a symbol table, with its version */
	ALPHABET_SYMBOLS, /**< a pattern for such */
	ALPHABET_ATTACH_FIELD, /**< without quotes after the path of an attach point */
	ALPHABET_NAME_PATTERN  /**< for names of probes and functions; UTF-8 is theirs, too */
};
/** All of @s is of @which, and there is something. */
bool str_is_made_of(struct str s, enum alphabet which);
/** An identifier, as C and bpftrace have it: a word that does not begin with a digit. */
bool str_is_ident(struct str s);
/** Decimal digits, at least one. */
bool str_is_digits(struct str s);
/** @s in @a with a _ for every byte that an identifier cannot have there. */
struct str str_to_ident(struct arena *a, struct str s);

/** Empty as {0}. */
struct strbuf {
	char *p; /**< NUL-terminated when not NULL; owned */
	size_t n, cap;
};

void strbuf_fini(struct strbuf *b);
void strbuf_clear(struct strbuf *b);
/** Makes room for @more bytes and a NUL. */
void strbuf_grow(struct strbuf *b, size_t more);
static inline void strbuf_reserve(struct strbuf *b, size_t more)
{
	if (!b->p || more >= b->cap - b->n)
		strbuf_grow(b, more);
}
static inline void strbuf_add(struct strbuf *b, const void *p, size_t n)
{
	strbuf_reserve(b, n);
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
}
static inline void strbuf_addc(struct strbuf *b, char c)
{
	strbuf_reserve(b, 1);
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
}
static inline void strbuf_adds(struct strbuf *b, struct str s)
{
	strbuf_add(b, s.p, s.n);
}
static inline void strbuf_addz(struct strbuf *b, const char *z)
{
	strbuf_add(b, z, strlen(z)); // which the compiler knows of a literal
}
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Writes the decimal digits of @v, 20 at most, in front of @end; returns where they begin. */
char *str_decimal(uint64_t v, char *end);
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
/** The contents; valid until the next change of @b. */
struct str strbuf_str(const struct strbuf *b);
/** The contents as a copy in @a; @b ends as by strbuf_fini(). */
struct str strbuf_take(struct strbuf *b, struct arena *a);

/**
 * Adds @s with control characters, invisible ones, and bytes that are not valid UTF-8, as \xNN: for text from strangers
 * on a terminal.
 */
void strbuf_add_printable(struct strbuf *b, struct str s);
/** The same for text that may have lines and columns: newlines and tabs stay. */
void strbuf_add_printable_lines(struct strbuf *b, struct str s);
/** Adds @s as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void strbuf_add_json(struct strbuf *b, struct str s);
/** The same; false, with nothing added, where @s is not UTF-8. */
bool strbuf_add_json_utf8(struct strbuf *b, struct str s);
/** Well-formed UTF-8 (Unicode 3.9, table 3-7): no surrogates, nothing longer than needed. */
bool str_is_utf8(struct str s);
/** The printable form of @s, in @a. */
struct str str_printable(struct arena *a, struct str s);
/** "3f2a": the bytes in hexadecimal. */
struct str str_hex(struct arena *a, struct str bytes);

/** The @n of @v, with @between between two of them, in @a. */
struct str str_join(struct arena *a, const struct str *v, size_t n, const char *between);
