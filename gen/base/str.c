#include "base/str.h"

struct str str_from(const char *z)
{
	return (struct str){z ? z : "", z ? strlen(z) : 0};
}

struct str str_from_offset(struct str s, size_t off)
{
	if (off > s.n)
		off = s.n;
	return (struct str){off ? s.p + off : s.p, s.n - off}; // NULL + 0 is undefined in C11
}

struct str str_slice(struct str s, size_t off, size_t n)
{
	s = str_from_offset(s, off);
	if (n < s.n)
		s.n = n;
	return s;
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

int str_compare(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;
	return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool str_eqz(struct str a, const char *z)
{
	return (a.n ? *a.p : '\0') == *z && str_eq(a, str_from(z)); // most differ at once
}

bool str_is_any(struct str s, const char *const *words)
{
	char first = s.n ? s.p[0] : '\0';
	for (; *words; words++)
		if (**words == first && str_eqz(s, *words))
			return true;
	return false;
}

bool str_has_prefix(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_slice(s, 0, prefix.n), prefix);
}

bool str_take(struct str *s, struct str prefix)
{
	if (!str_has_prefix(*s, prefix))
		return false;
	*s = str_from_offset(*s, prefix.n);
	return true;
}

struct str str_take_until(struct str *s, char end)
{
	struct str part = str_slice(*s, 0, str_find(*s, end));
	*s = str_from_offset(*s, part.n + 1);
	return part;
}

bool str_take_number(struct str *s, uint64_t *ret)
{
	size_t n = 0;
	bool fits = true;
	*ret = 0;
	for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++) {
		unsigned digit = (unsigned)(s->p[n] - '0');
		fits &= *ret <= (UINT64_MAX - digit) / 10;
		*ret = *ret * 10 + digit;
	}
	*s = str_from_offset(*s, n);
	return n && fits;
}

struct str str_take_line(struct str *s)
{
	return str_take_until(s, '\n');
}

bool str_has(struct str s, const char *chars)
{
	for (; *chars; chars++)
		if (str_find(s, *chars) < s.n)
			return true;
	return false;
}

bool str_has_suffix(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_from_offset(s, s.n - suffix.n), suffix);
}

size_t str_find(struct str s, char c)
{
	const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;
	return hit ? (size_t)(hit - s.p) : s.n;
}

struct str str_last(struct str s, char c)
{
	const char *hit = s.n ? memrchr(s.p, c, s.n) : NULL;
	return str_from_offset(s, hit ? (size_t)(hit - s.p) + 1 : 0);
}

struct str str_dir(struct str path)
{
	return str_slice(path, 0, path.n - str_base(path).n);
}

struct str str_base(struct str path)
{
	return str_last(path, '/');
}

bool str_contains(struct str s, struct str part)
{
	return part.n == 0 || (s.n && memmem(s.p, s.n, part.p, part.n));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

struct str str_trim(struct str s)
{
	while (s.n && is_blank(s.p[0]))
		s = str_from_offset(s, 1);
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

char *str_dup(struct arena *a, struct str s)
{
	return arena_strndup(a, s.p, s.n);
}

struct str str_copy(struct arena *a, struct str s)
{
	return (struct str){str_dup(a, s), s.n};
}

struct str str_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	struct str s = str_from(arena_vprintf(a, fmt, ap));
	va_end(ap);
	return s;
}

bool str_take_escape(struct str *s, unsigned *ret)
{
	static const char letters[] = "abfnrtv\\\"'", values[] = "\a\b\f\n\r\t\v\\\"'";
	static const char digits[] = "0123456789abcdef";
	const char *letter = s->n ? memchr(letters, s->p[0], sizeof(letters) - 1) : NULL;
	bool is_hex = s->n && s->p[0] == 'x';
	unsigned base = is_hex ? 16 : 8, v = 0;
	size_t first = is_hex, n = first;
	for (; !letter && n < s->n && n < 3; n++) {
		const char *digit = memchr(digits, tolower((unsigned char)s->p[n]), base);
		if (!digit)
			break;
		v = v * base + (unsigned)(digit - digits);
	}
	if (!letter && n == first)
		return false;
	*ret = letter ? (unsigned char)values[letter - letters] : v;
	*s = str_from_offset(*s, letter ? 1 : n);
	return true;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
	unsigned base = 10;
	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 32) == 'x') {
		base = 16;
		s = str_from_offset(s, 2);
	} else if (s.n > 1 && s.p[0] == '0') {
		base = 8;
		s = str_from_offset(s, 1);
	}
	if (s.n == 0)
		return false;
	uint64_t v = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : 99;
		if ((c | 32) >= 'a' && (c | 32) <= 'f')
			d = (unsigned)((c | 32) - 'a') + 10;
		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return false;
	}
	*ret = v;
	return true;
}

bool str_glob(struct str pattern, struct str s)
{
	// The usual two-pointer match: remember the last *, and on a mismatch let it take one byte more.
	size_t p = 0, i = 0, star = SIZE_MAX, mark = 0;
	while (i < s.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			mark = i;
		} else if (p < pattern.n && (pattern.p[p] == '?' || pattern.p[p] == s.p[i])) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

#define DISTANCE_MAX 128 // longer names are not compared: no one mistypes those by hand

/** No fewer edits lie between them: one edit changes how often two letters occur, at most. */
static unsigned least_distance(struct str a, struct str b)
{
	int16_t counts[32] = {0};
	for (size_t i = 0; i < a.n; i++)
		counts[a.p[i] & 31]++;
	for (size_t i = 0; i < b.n; i++)
		counts[b.p[i] & 31]--;
	unsigned sum = 0;
	for (unsigned i = 0; i < 32; i++)
		sum += (unsigned)(counts[i] < 0 ? -counts[i] : counts[i]);
	return (sum + 1) / 2;
}

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
	size_t gap = a.n > b.n ? a.n - b.n : b.n - a.n;
	if (a.n > DISTANCE_MAX || b.n > DISTANCE_MAX || gap > limit || least_distance(a, b) > limit)
		return limit + 1;

	unsigned rows[3][DISTANCE_MAX + 1];
	unsigned *before = rows[0], *prev = rows[1], *cur = rows[2];
	for (size_t j = 0; j <= b.n; j++)
		before[j] = prev[j] = (unsigned)j;
	for (size_t i = 1; i <= a.n; i++) {
		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= b.n; j++) {
			unsigned d = prev[j - 1] + (a.p[i - 1] != b.p[j - 1]);
			if (prev[j] + 1 < d)
				d = prev[j] + 1;
			if (cur[j - 1] + 1 < d)
				d = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] &&
			    a.p[i - 2] == b.p[j - 1] && before[j - 2] + 1 < d)
				d = before[j - 2] + 1;
			cur[j] = d;
		}
		unsigned *t = before;
		before = prev;
		prev = cur;
		cur = t;
	}
	return prev[b.n] > limit ? limit + 1 : prev[b.n];
}

/**
 * So many edits are still a slip: a third of the longer word, rounded down between words that differ
 * by a letter in length. Two of four letters would make any short word any other.
 */
static unsigned near_limit(struct str wanted, struct str guess)
{
	enum { SHORTEST = 3, MOST = 6 };
	size_t longer = wanted.n > guess.n ? wanted.n : guess.n;
	size_t gap = longer - (wanted.n < guess.n ? wanted.n : guess.n);
	if (longer < SHORTEST)
		return 0;
	size_t allowed = gap <= 1 ? longer / 3 : (longer + 2) / 3;
	return allowed < MOST ? (unsigned)allowed : MOST;
}

bool str_is_nearer(struct str wanted, struct str guess, unsigned *best)
{
	unsigned allowed = near_limit(wanted, guess);
	if (allowed >= *best)
		allowed = *best ? *best - 1 : 0;
	unsigned d = str_distance(wanted, guess, allowed);
	if (d > allowed)
		return false;
	*best = d;
	return true;
}

/** Is each : of @s one of two, followed by a word? */
static bool is_scoped(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != ':')
			continue;
		if (i + 2 >= s.n || s.p[i + 1] != ':' || s.p[i + 2] == ':')
			return false;
		i++;
	}
	return true;
}

bool str_is_made_of(struct str s, enum alphabet which)
{
	static const char *const extra[] = {
	    [ALPHABET_WORD] = "",
	    [ALPHABET_SCOPED_WORD] = ":",
	    [ALPHABET_TYPE] = ":<>,* &()-",
	    [ALPHABET_PATH] = "./+-",
	    [ALPHABET_QUOTED_PATH] = "./+- ",
	    [ALPHABET_PROBE_NAME] = ".-\\",
	    [ALPHABET_LABEL] = ".-+:$@",
	    [ALPHABET_SYMBOL] = ".$@",
	    [ALPHABET_SYMBOLS] = ".$@*",
	    [ALPHABET_ATTACH_FIELD] = ".*+?[]",
	    [ALPHABET_NAME_PATTERN] = ".$*?+-",
	};
	// A bit for each of the letters, digits and _.
	static const uint32_t word[8] = {0, 0x03ff0000, 0x87fffffe, 0x07fffffe};
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (word[c >> 5] >> (c & 31) & 1)
			continue;
		bool is_utf8 = c >= 0x80 && which == ALPHABET_NAME_PATTERN;
		if (!is_utf8 && (!c || !strchr(extra[which], c)))
			return false;
	}
	return s.n > 0 && (which != ALPHABET_SCOPED_WORD || is_scoped(s));
}

bool str_is_ident(struct str s)
{
	return str_is_made_of(s, ALPHABET_WORD) && !(s.p[0] >= '0' && s.p[0] <= '9');
}

bool str_is_digits(struct str s)
{
	size_t n = 0;
	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return n && n == s.n;
}

struct str str_to_ident(struct arena *a, struct str s)
{
	char *p = str_dup(a, s);
	for (size_t i = 0; i < s.n; i++)
		if (!str_is_made_of(str_slice(s, i, 1), ALPHABET_WORD) ||
		    (!i && !str_is_ident(str_slice(s, 0, 1))))
			p[i] = '_';
	return (struct str){p, s.n};
}

void strbuf_fini(struct strbuf *b)
{
	free(b->p);
	*b = (struct strbuf){0};
}

void strbuf_clear(struct strbuf *b)
{
	b->n = 0;
	if (b->p)
		b->p[0] = '\0';
}

void strbuf_grow(struct strbuf *b, size_t more)
{
	if (more > SIZE_MAX / 4 || b->n > SIZE_MAX / 4)
		base_oom();
	size_t cap = b->cap ? b->cap : 256;
	while (cap < b->n + more + 1)
		cap *= 2;
	b->p = base_realloc(b->p, cap);
	b->cap = cap;
}

char *str_decimal(uint64_t v, char *end)
{
	static const char pairs[] =
	    "0001020304050607080910111213141516171819202122232425262728293031"
	    "3233343536373839404142434445464748495051525354555657585960616263"
	    "6465666768697071727374757677787980818283848586878889909192939495"
	    "96979899";
	for (; v >= 100; v /= 100) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
	}
	if (v >= 10)
		*--end = pairs[v * 2 + 1];
	*--end = v >= 10 ? pairs[v * 2] : (char)('0' + v);
	return end;
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	strbuf_reserve(b, 64); // mostly enough, which saves formatting it twice
	va_copy(again, ap);
	int n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, again);
	va_end(again);
	if (n < 0)
		base_oom();
	if ((size_t)n >= b->cap - b->n) {
		strbuf_reserve(b, (size_t)n);
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
	}
	b->n += (size_t)n;
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf(b, fmt, ap);
	va_end(ap);
}

struct str strbuf_str(const struct strbuf *b)
{
	return (struct str){b->p ? b->p : "", b->n};
}

struct str strbuf_take(struct strbuf *b, struct arena *a)
{
	struct str s = str_copy(a, strbuf_str(b));
	strbuf_fini(b);
	return s;
}

/**
 * Length of the UTF-8 sequence at @p (Unicode 15 table 3-7: no overlong forms, no surrogates), 0
 * when there is none.
 */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	static const struct {
		unsigned char lead_lo, lead_hi, second_lo, second_hi, len;
	} forms[] = {
	    {0x00, 0x7f, 0, 0, 1},	 {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (p[0] < forms[i].lead_lo || p[0] > forms[i].lead_hi)
			continue;
		if (n < forms[i].len)
			return 0;
		if (forms[i].len > 1 && (p[1] < forms[i].second_lo || p[1] > forms[i].second_hi))
			return 0;
		for (size_t k = 2; k < forms[i].len; k++)
			if (p[k] < 0x80 || p[k] > 0xbf)
				return 0;
		return forms[i].len;
	}
	return 0;
}

/** The character that the @len bytes of a valid UTF-8 sequence stand for. */
static unsigned code_point(const unsigned char *p, size_t len)
{
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned c = p[0] & first[len];
	for (size_t k = 1; k < len; k++)
		c = c << 6 | (p[k] & 0x3f);
	return c;
}

/**
 * C1 controls (U+0080..U+009F) can drive a terminal just as C0 ones do, Unicode's bidirectional
 * controls (its annex 9) let a name show what it is not, U+2028 and U+2029 end a line in JavaScript, and the
 * tag characters (U+E0000..U+E007F) are letters that nobody sees.
 */
static bool is_control(unsigned c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

typedef unsigned char sixteen __attribute__((vector_size(16)));

static bool are_plain(const char *p)
{
	sixteen v;
	memcpy(&v, p, sizeof(v));
	// Signed, bytes beyond ASCII are less than a blank.
	sixteen special = (sixteen)((v == '"') | (v == '\\') | (v == 0x7f)) |
			  (sixteen)((signed char __attribute__((vector_size(16))))v < 0x20);
	uint64_t halves[2];
	memcpy(halves, &special, sizeof(halves));
	return !(halves[0] | halves[1]);
}

/** How many bytes at the front of @s need no escape anywhere? Of most text all. */
static size_t count_plain(struct str s)
{
	size_t n = 0;
	for (; n + sizeof(sixteen) <= s.n; n += sizeof(sixteen))
		if (!are_plain(s.p + n))
			break;
	if (s.n >= sizeof(sixteen) && s.n - n < sizeof(sixteen) &&
	    are_plain(s.p + s.n - sizeof(sixteen)))
		return s.n;
	while (n < s.n && s.p[n] >= 0x20 && s.p[n] < 0x7f && s.p[n] != '"' && s.p[n] != '\\')
		n++;
	return n;
}

/** Adds them, and returns how many. */
static size_t add_plain(struct strbuf *b, struct str s)
{
	size_t n = count_plain(s);
	if (n)
		strbuf_add(b, s.p, n);
	return n;
}

void strbuf_add_printable(struct strbuf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	for (size_t i = add_plain(b, s); i < s.n; i += add_plain(b, str_from_offset(s, i))) {
		size_t len = utf8_len(p + i, s.n - i);
		if (len && !is_control(code_point(p + i, len))) {
			strbuf_add(b, p + i, len);
			i += len;
			continue;
		}
		for (size_t k = 0; k < (len ? len : 1); k++)
			strbuf_addf(b, "\\x%02x", p[i + k]);
		i += len ? len : 1;
	}
}

void strbuf_add_printable_lines(struct strbuf *b, struct str s)
{
	while (s.n) {
		size_t n = 0;
		while (n < s.n && s.p[n] != '\n' && s.p[n] != '\t')
			n++;
		strbuf_add_printable(b, str_slice(s, 0, n));
		strbuf_adds(b, str_slice(s, n, 1));
		s = str_from_offset(s, n + 1);
	}
}

/** As UTF-16 has it (RFC 8259, section 7): beyond U+FFFF two of them. */
static void add_json_control(struct strbuf *b, unsigned c)
{
	if (c > 0xffff) {
		strbuf_addf(b, "\\u%04x", 0xd7c0 + (c >> 10));
		c = 0xdc00 | (c & 0x3ff);
	}
	strbuf_addf(b, "\\u%04x", c);
}

void strbuf_add_json(struct strbuf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	strbuf_addc(b, '"');
	for (size_t i = add_plain(b, s); i < s.n; i += add_plain(b, str_from_offset(s, i))) {
		size_t len = utf8_len(p + i, s.n - i);
		if (!len) {
			strbuf_addz(b, "\xef\xbf\xbd");
			i++;
			continue;
		}
		if (p[i] == '"' || p[i] == '\\')
			strbuf_addf(b, "\\%c", p[i]);
		else if (is_control(code_point(p + i, len)))
			add_json_control(b, code_point(p + i, len));
		else
			strbuf_add(b, p + i, len);
		i += len;
	}
	strbuf_addc(b, '"');
}

static bool is_utf8_from(struct str s, size_t i)
{
	const unsigned char *p = (const unsigned char *)s.p;
	for (size_t len; i < s.n; i += len) {
		len = p[i] < 0x80 ? 1 : utf8_len(p + i, s.n - i);
		if (!len)
			return false;
	}
	return true;
}

bool str_is_utf8(struct str s)
{
	return is_utf8_from(s, count_plain(s));
}

bool strbuf_add_json_utf8(struct strbuf *b, struct str s)
{
	size_t n = count_plain(s);
	if (n < s.n) {
		if (!is_utf8_from(s, n))
			return false;
		strbuf_add_json(b, s);
		return true;
	}
	strbuf_reserve(b, n + 2);
	b->p[b->n] = '"';
	if (n)
		memcpy(b->p + b->n + 1, s.p, n);
	b->p[b->n + 1 + n] = '"';
	b->n += n + 2;
	b->p[b->n] = '\0';
	return true;
}

struct str str_hex(struct arena *a, struct str bytes)
{
	struct strbuf b = {0};
	for (size_t i = 0; i < bytes.n; i++)
		strbuf_addf(&b, "%02x", (unsigned char)bytes.p[i]);
	return strbuf_take(&b, a);
}

struct str str_printable(struct arena *a, struct str s)
{
	struct strbuf b = {0};
	strbuf_add_printable(&b, s);
	return strbuf_take(&b, a);
}

struct str str_join(struct arena *a, const struct str *v, size_t n, const char *between)
{
	struct strbuf b = {0};
	for (size_t i = 0; i < n; i++) {
		strbuf_addz(&b, i ? between : "");
		strbuf_adds(&b, v[i]);
	}
	return strbuf_take(&b, a);
}
