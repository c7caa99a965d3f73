#include "value/render_value.h"

#include <float.h>
#include <math.h>
#include <time.h>

// --- conversions

/** A wider field is this wide: a record is one line of text. */
enum { MAX_WIDTH = 1 << 20 };

/** Flags, width and precision of a conversion. */
struct layout {
	bool left, plus, space, alternate, zero;
	bool has_precision;
	size_t width, precision;
};

static size_t parse_size(struct str s, size_t *at)
{
	size_t n = 0;
	for (; *at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9'; ++*at)
		n = n < MAX_WIDTH ? n * 10 + (size_t)(s.p[*at] - '0') : n;
	return n < MAX_WIDTH ? n : MAX_WIDTH;
}

static struct layout layout_parse(struct str how)
{
	static const char flags[] = "-+ #0";
	struct layout l = {0};
	bool *const all[] = {&l.left, &l.plus, &l.space, &l.alternate, &l.zero};
	size_t i = 0;
	for (const char *f; i < how.n && how.p[i] && (f = strchr(flags, how.p[i])); i++)
		*all[f - flags] = true;
	l.width = parse_size(how, &i);
	l.has_precision = i < how.n && how.p[i] == '.';
	i += l.has_precision;
	l.precision = parse_size(how, &i);
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

/** Widens the text in @out from @start on. */
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

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/** What is rare is left to C. */
static void add_as_c(const struct layout *l, char letter, int64_t value, struct strbuf *out)
{
	char format[16];
	snprintf(format, sizeof(format), "%%%s%s%s%s%s*.*l%c", l->left ? "-" : "",
		 l->plus ? "+" : "", l->space ? " " : "", l->alternate ? "#" : "",
		 l->zero ? "0" : "", letter);
	strbuf_addf(out, format, (int)l->width, l->has_precision ? (int)l->precision : -1,
		    (long)value);
}
#pragma GCC diagnostic pop

void render_address(uint64_t address, struct strbuf *out)
{
	char room[MAX_DIGITS];
	strbuf_addz(out, "0x");
	strbuf_adds(out, digits_of(address, 'x', room));
}

void render_number(struct str how, char letter, unsigned bits, int64_t value, struct strbuf *out)
{
	char room[MAX_DIGITS];
	struct layout l = layout_parse(how);
	size_t start = out->n;
	bool is_signed = letter == 'd' || letter == 'i', is_pointer = letter == 'p';
	value = render_narrow(value, bits, is_signed);
	bool is_minus = is_signed && value < 0, is_null = is_pointer && !value;
	l.alternate |= is_pointer;
	letter = is_pointer ? 'x' : letter;
	if (letter == 'c' || is_null) {
		strbuf_adds(out, is_null ? STR("(nil)") : (struct str){&(char){(char)value}, 1});
	} else if (l.plus || l.space || l.alternate || l.has_precision) {
		add_as_c(&l, letter, value, out);
	} else {
		struct str digits =
		    digits_of(is_minus ? 0 - (uint64_t)value : (uint64_t)value, letter, room);
		if (is_minus)
			strbuf_addc(out, '-');
		if (l.zero && !l.left && l.width > digits.n + is_minus)
			add_repeated(out, '0', l.width - digits.n - is_minus);
		strbuf_adds(out, digits);
	}
	widen(&l, start, out);
}

static void add_integer(int64_t value, bool is_signed, struct strbuf *out)
{
	render_number((struct str){0}, is_signed ? 'd' : 'u', 64, value, out);
}

// --- floating-point numbers

static bool reads_back(const char *text, long double v, size_t size)
{
	return size == sizeof(float)	? strtof(text, NULL) == (float)v
	       : size == sizeof(double) ? strtod(text, NULL) == (double)v
					: strtold(text, NULL) == v;
}

void render_real(long double v, size_t size, struct strbuf *out)
{
	char text[64];
	bool is_single = size == sizeof(float);
	int n = is_single ? FLT_DIG : DBL_DIG;
	int most = is_single		    ? FLT_DECIMAL_DIG
		   : size == sizeof(double) ? DBL_DECIMAL_DIG
					    : LDBL_DECIMAL_DIG;
	// Up to there each integer is a number of its own.
	bool is_small = fabsl(v) < (is_single ? 0x1p24L : 0x1p53L);
	if (is_small && v == (long double)(int64_t)v && !(v == 0 && signbit(v))) {
		add_integer((int64_t)v, true, out);
		return;
	}
	// So many digits survive the way into a number and back, except where it has fewer bits.
	if (fabsl(v) < (is_single ? (long double)FLT_MIN : (long double)DBL_MIN))
		n = 1;
	do
		snprintf(text, sizeof(text), "%.*Lg", n, v);
	while (n++ < most && !reads_back(text, v, size));
	strbuf_addz(out, text);
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
	char format[16], text[256] = "";
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
