#include "value/render_value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// --- conversions

/** A wider field is this wide: a record is one line of text. */
enum { MAX_WIDTH = 1 << 20 };

/** What stands between % and the letters of a conversion. */
struct layout {
	bool left, plus, space, alternate, zero;
	bool has_precision;
	size_t width, precision;
};

static size_t take_size(struct str s, size_t *at)
{
	size_t n = 0;
	for (; *at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9'; ++*at)
		n = n < MAX_WIDTH ? n * 10 + (size_t)(s.p[*at] - '0') : n;
	return n < MAX_WIDTH ? n : MAX_WIDTH;
}

static struct layout layout_parse(struct str how)
{
	struct layout l = {0};
	size_t i = 0;
	for (bool is_flag = true; i < how.n && is_flag; i += is_flag) {
		switch (how.p[i]) {
		case '-':
			l.left = true;
			break;
		case '+':
			l.plus = true;
			break;
		case ' ':
			l.space = true;
			break;
		case '#':
			l.alternate = true;
			break;
		case '0':
			l.zero = true;
			break;
		default:
			is_flag = false;
		}
	}
	l.width = take_size(how, &i);
	if (i < how.n && how.p[i] == '.') {
		i++;
		l.has_precision = true;
		l.precision = take_size(how, &i);
	}
	return l;
}

static void add_repeated(struct strbuf *out, char c, size_t n)
{
	char block[64];
	memset(block, c, sizeof(block));
	for (; n > sizeof(block); n -= sizeof(block))
		strbuf_add(out, block, sizeof(block));
	strbuf_add(out, block, n);
}

/** Widens what stands in @out from @start on. */
static void widen(const struct layout *l, size_t start, struct strbuf *out)
{
	size_t n = out->n - start;
	if (n >= l->width)
		return;
	size_t more = l->width - n;
	add_repeated(out, ' ', more);
	if (l->left)
		return;
	memmove(out->p + start + more, out->p + start, n);
	memset(out->p + start, ' ', more);
}

void render_lay_out(struct str how, size_t start, struct strbuf *out)
{
	if (!how.n)
		return;
	struct layout l = layout_parse(how);
	if (l.has_precision && out->n - start > l.precision) {
		out->n = start + l.precision;
		out->p[out->n] = '\0';
	}
	widen(&l, start, out);
}

void render_quoted(struct str s, struct strbuf *out)
{
	strbuf_addc(out, '"');
	while (s.n) {
		size_t n = 0;
		while (n < s.n && s.p[n] != '"' && s.p[n] != '\\' && s.p[n] != '\n' &&
		       s.p[n] != '\t')
			n++;
		strbuf_add_printable(out, str_slice(s, 0, n));
		if (n < s.n)
			strbuf_addz(out, s.p[n] == '"'	  ? "\\\""
					 : s.p[n] == '\\' ? "\\\\"
					 : s.p[n] == '\n' ? "\\n"
							  : "\\t");
		s = str_from_offset(s, n + 1);
	}
	strbuf_addc(out, '"');
}

// --- numbers

int64_t render_narrow(int64_t value, unsigned bits, bool is_signed)
{
	if (!bits || bits >= 64)
		return value;
	uint64_t low = (uint64_t)value & ((UINT64_C(1) << bits) - 1);
	if (is_signed && low >> (bits - 1))
		low |= ~UINT64_C(0) << bits;
	return (int64_t)low;
}

enum { MAX_DIGITS = 24 };

/** Digits of @v, those of 0 too, in @room from the end on. */
static struct str digits_of(uint64_t v, char letter, char room[MAX_DIGITS])
{
	const char *set = letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned bits = letter == 'o' ? 3 : letter == 'x' || letter == 'X' ? 4 : 0;
	char *end = room + MAX_DIGITS, *p = end;
	if (!bits)
		p = str_decimal(v, end);
	for (bool more = bits; more; v >>= bits, more = v)
		*--p = set[v & ((1u << bits) - 1)];
	return (struct str){p, (size_t)(end - p)};
}

/** @digits with @sign, which may be 0x, in front, as @l has it (C11 7.21.6.1). */
static void add_digits(const struct layout *l, const char *sign, struct str digits,
		       struct strbuf *out)
{
	size_t start = out->n, n_sign = strlen(sign), n_zeros = 0;
	if (l->has_precision)
		n_zeros = l->precision > digits.n ? l->precision - digits.n : 0;
	else if (l->zero && !l->left && l->width > n_sign + digits.n)
		n_zeros = l->width - n_sign - digits.n;
	strbuf_add(out, sign, n_sign);
	add_repeated(out, '0', n_zeros);
	strbuf_adds(out, digits);
	widen(l, start, out);
}

/** @digits are of @is_zero; @l is not empty. */
static void lay_out_number(struct layout l, char letter, bool is_minus, bool is_zero,
			   struct str digits, struct strbuf *out)
{
	const char *sign = "";
	if (l.has_precision && !l.precision && is_zero)
		digits.n = 0;
	if (letter == 'd')
		sign = is_minus ? "-" : l.plus ? "+" : l.space ? " " : "";
	else if (l.alternate && !is_zero && letter == 'x')
		sign = "0x";
	else if (l.alternate && !is_zero && letter == 'X')
		sign = "0X";
	// An octal number gets one more digit, where it does not begin with 0 already.
	bool is_octal = l.alternate && letter == 'o' && !(is_zero && digits.n);
	if (is_octal && (!l.has_precision || l.precision <= digits.n)) {
		l.has_precision |= !l.zero || l.left || l.width <= digits.n;
		l.precision = digits.n + 1;
	}
	add_digits(&l, sign, digits, out);
}

static void add_char(struct str how, char c, struct strbuf *out)
{
	size_t start = out->n;
	strbuf_addc(out, c);
	if (!how.n)
		return;
	struct layout l = layout_parse(how);
	widen(&l, start, out);
}

/** Null as glibc has it. */
static void add_pointer(struct str how, uint64_t v, struct strbuf *out)
{
	char room[MAX_DIGITS];
	size_t start = out->n;
	struct layout l = layout_parse(how);
	if (v) {
		add_digits(&l, "0x", digits_of(v, 'x', room), out);
		return;
	}
	strbuf_addz(out, "(nil)");
	widen(&l, start, out);
}

void render_address(uint64_t address, struct strbuf *out)
{
	char room[MAX_DIGITS];
	strbuf_addz(out, "0x");
	strbuf_adds(out, digits_of(address, 'x', room));
}

void render_number(struct str how, char letter, unsigned bits, int64_t value, struct strbuf *out)
{
	char room[MAX_DIGITS];
	if (letter == 'i')
		letter = 'd';
	value = render_narrow(value, bits, letter == 'd');
	if (letter == 'c') {
		add_char(how, (char)value, out);
		return;
	}
	if (letter == 'p') {
		add_pointer(how, (uint64_t)value, out);
		return;
	}
	bool is_minus = letter == 'd' && value < 0;
	struct str digits =
	    digits_of(is_minus ? 0 - (uint64_t)value : (uint64_t)value, letter, room);
	if (how.n) {
		lay_out_number(layout_parse(how), letter, is_minus, !value, digits, out);
		return;
	}
	if (is_minus)
		strbuf_addc(out, '-');
	strbuf_adds(out, digits);
}

static void add_integer(int64_t value, bool is_signed, struct strbuf *out)
{
	render_number((struct str){0}, is_signed ? 'd' : 'u', 64, value, out);
}

// --- doubles

/** A decimal number: digits * 10^exponent. */
struct decimal {
	uint64_t digits;
	int exponent;
};

/** The @n digits that are nearest to @v, which is positive. */
static struct decimal nearest(double v, int n)
{
	char text[64];
	snprintf(text, sizeof(text), "%.*e", n - 1, v);
	struct decimal d = {0};
	const char *p = text;
	for (; *p && *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			d.digits = d.digits * 10 + (uint64_t)(*p - '0');
	d.exponent = (*p ? atoi(p + 1) : 0) - (n - 1);
	return d;
}

static bool reads_back(struct decimal d, double v, bool is_single)
{
	char text[64];
	snprintf(text, sizeof(text), "%llue%d", (unsigned long long)d.digits, d.exponent);
	return is_single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v;
}

/**
 * The shortest number that reads back as @v, which is positive. DBL_DIG digits survive the way into
 * a double and back, so fewer need not be tried, except where doubles have fewer bits. Below a power
 * of two the next double is nearer than above it: the number above the nearest one may read back
 * where that one does not.
 */
static struct decimal shortest(double v, bool is_single)
{
	int most = is_single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
	int n = is_single ? FLT_DIG : DBL_DIG;
	if (v < (is_single ? (double)FLT_MIN : DBL_MIN))
		n = 1;
	for (; n < most; n++) {
		struct decimal d = nearest(v, n), above = {d.digits + 1, d.exponent};
		if (reads_back(d, v, is_single))
			return d;
		if (reads_back(above, v, is_single))
			return above;
	}
	return nearest(v, most);
}

static void add_decimal(struct decimal d, struct strbuf *out)
{
	char room[MAX_DIGITS];
	for (; d.digits % 10 == 0; d.digits /= 10)
		d.exponent++;
	struct str s = digits_of(d.digits, 'u', room);
	int exponent = d.exponent + (int)s.n - 1; // of the first digit
	if (exponent < -4 || exponent >= 16) {
		strbuf_addc(out, s.p[0]);
		if (s.n > 1)
			strbuf_addc(out, '.');
		strbuf_adds(out, str_from_offset(s, 1));
		strbuf_addf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
		return;
	}
	if (exponent < 0) {
		strbuf_addz(out, "0.");
		add_repeated(out, '0', (size_t)(-exponent - 1));
		strbuf_adds(out, s);
		return;
	}
	size_t whole = (size_t)exponent + 1;
	strbuf_adds(out, str_slice(s, 0, whole));
	if (whole > s.n)
		add_repeated(out, '0', whole - s.n);
	if (whole < s.n)
		strbuf_addc(out, '.');
	strbuf_adds(out, str_from_offset(s, whole));
}

void render_double(double v, bool is_single, struct strbuf *out)
{
	if (signbit(v))
		strbuf_addc(out, '-');
	v = fabs(v);
	// Up to there each integer is a number of its own.
	double integers = is_single ? 0x1p24 : 0x1p53;
	if (isnan(v))
		strbuf_addz(out, "nan");
	else if (isinf(v))
		strbuf_addz(out, "inf");
	else if (v < integers && v == (double)(int64_t)v)
		add_integer((int64_t)v, true, out);
	else
		add_decimal(shortest(v, is_single), out);
}

// --- names

/**
 * Whether the values of an enum are bits that come together: all of them are powers of two (or 0), at
 * least two of them, one is 4 or more. {0, 1, 2} are three states.
 */
static bool is_flags(const struct enumtab *t)
{
	size_t n = 0;
	uint64_t all = 0;
	for (size_t i = 0; i < t->n_items; i++) {
		uint64_t v = (uint64_t)render_narrow(t->items[i].value, t->size * 8, false);
		if (v & (v - 1))
			return false;
		n += v != 0;
		all |= v;
	}
	return n >= 2 && all >= 4;
}

/** A|B|0x40; false, with nothing added, where @value has no bit that has a name. */
static bool add_flags(const struct enumtab *t, int64_t value, struct strbuf *out)
{
	uint64_t rest = (uint64_t)render_narrow(value, t->size * 8, false), all = rest;
	size_t start = out->n;
	for (size_t i = 0; i < t->n_items; i++) {
		uint64_t v = (uint64_t)render_narrow(t->items[i].value, t->size * 8, false);
		if (!v || !(all & v))
			continue;
		if (out->n > start)
			strbuf_addc(out, '|');
		strbuf_add_printable(out, t->items[i].text);
		rest &= ~v;
	}
	if (out->n == start)
		return false;
	if (rest)
		strbuf_addf(out, "|0x%llx", (unsigned long long)rest);
	return true;
}

bool render_enum(const struct enumtab *names, int64_t value, struct strbuf *out)
{
	value = render_narrow(value, names->size * 8, names->is_signed);
	const struct enumtab_item *item = enumtab_get(names, value);
	if (item) {
		strbuf_add_printable(out, item->text);
		return true;
	}
	if (!(names->is_signed && value < 0) && is_flags(names) && add_flags(names, value, out))
		return true;
	add_integer(value, names->is_signed, out);
	return false;
}

// --- times

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // the format is the script's
static size_t format_time(char *to, size_t room, const char *format, const struct tm *tm)
{
	return strftime(to, room, format, tm);
}
#pragma GCC diagnostic pop

/** One conversion of strftime(), or %f, which it does not have: six digits of a second. */
static void add_time_part(struct str conversion, const struct tm *tm, int micro, struct strbuf *out)
{
	char format[16], text[256];
	if (str_eq(conversion, STR("%f"))) {
		strbuf_addf(out, "%06d", micro);
	} else if (conversion.n < sizeof(format)) {
		memcpy(format, conversion.p, conversion.n);
		format[conversion.n] = '\0';
		strbuf_add(out, text, format_time(text, sizeof(text), format, tm));
	}
}

void render_time(const struct render *how, struct str format, int64_t ns, struct strbuf *out)
{
	int64_t wall = ns + how->offset;
	int64_t in_second = wall % 1000000000 + (wall % 1000000000 < 0 ? 1000000000 : 0);
	time_t seconds = (time_t)((wall - in_second) / 1000000000);
	struct tm tm;
	localtime_r(&seconds, &tm);
	while (format.n) {
		struct str plain = str_slice(format, 0, str_find(format, '%'));
		strbuf_adds(out, plain);
		format = str_from_offset(format, plain.n);
		size_t n = format.n ? 1 : 0;
		while (n < format.n && strchr("_-0^#EO123456789", format.p[n]))
			n++;
		add_time_part(str_slice(format, 0, n + 1), &tm, (int)(in_second / 1000), out);
		format = str_from_offset(format, n + 1);
	}
}
