/**
 * render_value - one value as text: C's conversions, names of enumerators and functions.
 *
 * All add to a buffer. Nothing here knows records; render.h has what is made of these.
 *
 *	render_number(STR("-8"), 'x', 32, -1, &out);	// "ffffffff", as of printf("%-8x", -1)
 *	render_real(9.99, sizeof(double), &out);		// "9.99"
 */
#pragma once

#include "ctype/enumtab.h"
#include "value/filetext.h"

/** What is needed to show values. */
struct render {
	struct codename *names; /**< of the process; NULL: addresses of functions are numbers */
	size_t longest; /**< bytes of the longest string that bpftrace can hold; 0: not known */
	int64_t offset; /**< CLOCK_REALTIME - CLOCK_BOOTTIME in ns */
	bool is_for_terminal; /**< what is not the script's own text has no control characters */
	/** Of several processes, instead: the strings in the files of that with @pid at @ns; or NULL. */
	struct filetext *texts;
	int64_t pid, ns; /**< of the record that is shown */
};

/** Formats the text in @out from @start on as printf("%-20.3s") does: @how is "-20.3". */
void render_lay_out(struct str how, size_t start, struct strbuf *out);
/**
 * A number as C's printf() has it. @how: flags, width, precision; @letter: d i u x X o c p; of
 * @value the low @bits count (0: all of them). %p of 0 is (nil), as of glibc.
 */
void render_number(struct str how, char letter, unsigned bits, int64_t value, struct strbuf *out);
/** 0x0, 0x55d0c0001234 */
void render_address(uint64_t address, struct strbuf *out);
/** The low @bits of @value (0: all of them) as a number of that width. */
int64_t render_narrow(int64_t value, unsigned bits, bool is_signed);
/**
 * The name of @value: NAME; A|B, or A|0x40 with a rest, of an enum of flags, where a bit has a name;
 * else a number. Flags are at least two powers of two, one of them 4 or more (and 0): {0, 1, 2} are
 * three states. A negative number of a signed enum is no sum of flags. False: it has no name.
 */
bool render_enum(const struct enumtab *names, int64_t value, struct strbuf *out);
/**
 * Of a float, double or long double of @size bytes the fewest decimal digits that read back as the same
 * number: 9.99, inf, -nan.
 */
void render_real(long double v, size_t size, struct strbuf *out);
/** As C writes a string: quotes around it, \" \\ \n \t and \xNN in it. */
void render_quoted(struct str s, struct strbuf *out);
/** @ns of CLOCK_BOOTTIME as local time: strftime()'s @format, and %f for six digits of a second. */
void render_time(const struct render *how, struct str format, int64_t ns, struct strbuf *out);
