#include "usdt/sdtarg_priv.h"

#include <elf.h>
#include <string.h>

/** What is left of an operand. */
struct cursor {
	const char *p, *end;
};

static bool at_end(const struct cursor *c)
{
	return c->p == c->end;
}

static bool accept(struct cursor *c, char ch)
{
	if (at_end(c) || *c->p != ch)
		return false;
	c->p++;
	return true;
}

static bool accept_text(struct cursor *c, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	return true;
}

static void skip_blanks(struct cursor *c)
{
	while (accept(c, ' ') || accept(c, '\t'))
		;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/** What assemblers take in a symbol's name; a digit not at its start. */
static bool is_symbol_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.' || c == '$' || c == '@' || (unsigned char)c >= 0x80;
}

static struct str read_word(struct cursor *c)
{
	const char *start = c->p;
	while (!at_end(c) && is_symbol_char(*c->p))
		c->p++;
	return (struct str){start, (size_t)(c->p - start)};
}

/**
 * A sum of numbers and at most one symbol, which must not be subtracted. False when there is none,
 * or when a number does not fit; an unsigned 64-bit number is its bits, but only when it stands
 * alone.
 */
static bool read_sum(struct cursor *c, int64_t *value, struct str *symbol)
{
	bool large = false;
	int64_t sum = 0;
	struct str sym = STR("");
	for (unsigned terms = 0;; terms++) {
		bool minus = accept(c, '-');
		if (!minus && !accept(c, '+') && terms)
			break;
		struct str word = read_word(c);
		uint64_t n;
		if (!word.n || word.p[0] == '@' || large)
			return false;
		if (!is_digit(word.p[0])) {
			if (sym.n || minus)
				return false;
			sym = word;
			continue;
		}
		if (!str_to_u64(word, &n))
			return false;
		if (n > INT64_MAX && !(minus && n == (uint64_t)1 << 63)) {
			if (minus || terms)
				return false;
			large = true;
			sum = (int64_t)n;
		} else if (__builtin_add_overflow(sum, (int64_t)(minus ? -n : n), &sum)) {
			return false;
		}
	}
	if (sym.n && large)
		return false;
	*value = sum;
	*symbol = sym;
	return true;
}

/** True when @s is one of the words that follow. */
#define is_one_of(s, ...) str_is_any(s, (const char *const[]){__VA_ARGS__, NULL})

/** @s is @prefix and a decimal number below @limit. */
static bool is_numbered(struct str s, const char *prefix, unsigned limit)
{
	size_t n = strlen(prefix);
	if (!str_has_prefix(s, (struct str){prefix, n}) || s.n == n || s.n > n + 2)
		return false;
	unsigned v = 0;
	for (size_t i = n; i < s.n; i++) {
		if (!is_digit(s.p[i]) || (s.p[i] == '0' && s.n - n > 1 && i == n))
			return false;
		v = v * 10 + (unsigned)(s.p[i] - '0');
	}
	return v < limit;
}

/** The two letters at @p: ax, bx, cx, dx, si, di, bp, sp */
static bool x86_is_word_register(const char *p)
{
	if (p[1] == 'x')
		return p[0] >= 'a' && p[0] <= 'd';
	return (p[1] == 'i' && (p[0] == 's' || p[0] == 'd')) ||
	       (p[1] == 'p' && (p[0] == 'b' || p[0] == 's'));
}

/** r8 to r15 (to r31 with APX), whole or with a suffix for their low bytes */
static bool x86_is_numbered(struct str s)
{
	uint64_t n;
	if (s.n > 2 && memchr("dwbl", s.p[s.n - 1], 4))
		s.n--;
	s = str_from_offset(s, 1);
	return is_digit(s.p[0]) && s.p[0] != '0' && str_to_u64(s, &n) && n >= 8 && n < 32;
}

static bool x86_is_general(struct str s, bool is64)
{
	if (s.n == 2 && s.p[0] != 'r')
		return x86_is_word_register(s.p) ||
		       ((s.p[1] == 'l' || s.p[1] == 'h') && s.p[0] >= 'a' && s.p[0] <= 'd');
	if (s.n < 2 || s.n > 4)
		return false;
	if (s.p[0] == 'r')
		return is64 && (x86_is_numbered(s) || (s.n == 3 && x86_is_word_register(s.p + 1)));
	if (s.n != 3)
		return false;
	return s.p[0] == 'e' ? x86_is_word_register(s.p + 1)
			     : is64 && is_one_of(s, "sil", "dil", "bpl", "spl");
}

static bool x86_is_float(struct str s)
{
	return is_numbered(s, "xmm", 32) || is_numbered(s, "ymm", 32) ||
	       is_numbered(s, "zmm", 32) ||
	       is_one_of(s, "st", "st(0)", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)",
			 "st(7)");
}

/** %NAME; parentheses belong to %st(1). */
static struct str x86_read_register(struct cursor *c)
{
	if (!accept(c, '%'))
		return STR("");
	struct str s = read_word(c);
	if (str_eqz(s, "st") && c->end - c->p >= 3 && c->p[0] == '(' && c->p[2] == ')') {
		s.n += 3;
		c->p += 3;
	}
	return s;
}

/** (BASE,INDEX,SCALE), each of which can be absent, but not all. */
static bool x86_read_parentheses(struct cursor *c, bool is64, struct sdtarg *arg)
{
	arg->base = x86_read_register(c);
	if (arg->base.n && !x86_is_general(arg->base, is64) && !str_eqz(arg->base, "rip") &&
	    !str_eqz(arg->base, "eip"))
		return false;
	if (accept(c, ',')) {
		arg->index = x86_read_register(c);
		if (!x86_is_general(arg->index, is64))
			return false;
		arg->scale = 1;
		if (accept(c, ',')) {
			if (at_end(c) || !memchr("1248", *c->p, 4))
				return false;
			arg->scale = (unsigned)(*c->p++ - '0');
		}
	} else if (!arg->base.n) {
		return false;
	}
	return accept(c, ')');
}

static bool x86_read_memory(struct cursor *c, bool is64, struct sdtarg *arg)
{
	bool has_sum = !at_end(c) && *c->p != '(';
	if (has_sum && !read_sum(c, &arg->disp, &arg->symbol))
		return false;
	if (accept(c, '(')) {
		if (!x86_read_parentheses(c, is64, arg))
			return false;
		// An assembler takes sym(%rip) as the symbol itself, not as a distance from the
		// instruction.
		if (arg->symbol.n && (str_eqz(arg->base, "rip") || str_eqz(arg->base, "eip")))
			arg->base = STR("");
	} else if (!has_sum || (!arg->symbol.n && !arg->segment.n) ||
		   x86_is_general(arg->symbol, is64)) {
		// A number alone is an address in AT&T syntax and a constant in Intel's, "rax" a
		// symbol and a register: we cannot tell.
		return false;
	}
	arg->kind = arg->segment.n ? SDTARG_SEGMENT : SDTARG_MEM;
	return true;
}

static bool x86_read(struct cursor *c, bool is64, struct sdtarg *arg)
{
	if (accept(c, '$')) {
		if (!read_sum(c, &arg->disp, &arg->symbol))
			return false;
		arg->kind = arg->symbol.n ? SDTARG_ADDR : SDTARG_CONST;
		return true;
	}
	if (at_end(c) || *c->p != '%')
		return x86_read_memory(c, is64, arg);

	struct str reg = x86_read_register(c);
	if (accept(c, ':')) {
		if (!is_one_of(reg, "fs", "gs"))
			return false;
		arg->segment = reg;
		return x86_read_memory(c, is64, arg);
	}
	if (!x86_is_general(reg, is64)) {
		if (!x86_is_float(reg))
			return false;
		arg->is_float = true;
	}
	arg->kind = SDTARG_REG;
	arg->base = reg;
	return true;
}

/** x0 to x30 and sp: what an address can start from. */
static bool arm64_is_address(struct str s)
{
	return is_numbered(s, "x", 31) || str_eqz(s, "sp");
}

/** , lsl 3   , sxtw   , uxtw #2: how an index register is extended and shifted. */
static bool arm64_read_shift(struct cursor *c, struct sdtarg *arg)
{
	bool narrow = arg->index.p[0] == 'w';
	skip_blanks(c);
	if (!accept(c, ','))
		return !narrow;
	skip_blanks(c);
	struct str how = read_word(c);
	if (!(narrow ? is_one_of(how, "uxtw", "sxtw") : is_one_of(how, "lsl", "sxtx", "uxtx")))
		return false;
	arg->index_signed = str_eqz(how, "sxtw");
	skip_blanks(c);
	accept(c, '#');
	if (at_end(c) || *c->p == ']')
		return how.p[0] != 'l';
	if (*c->p < '0' || *c->p > '4')
		return false;
	arg->scale = 1u << (*c->p++ - '0');
	return true;
}

/** [BASE], [BASE, NUMBER], [BASE, INDEX, lsl 2], [BASE, #:lo12:SYMBOL]; the [ has been read. */
static bool arm64_read_memory(struct cursor *c, struct sdtarg *arg)
{
	skip_blanks(c);
	arg->base = read_word(c);
	if (!arm64_is_address(arg->base))
		return false;
	skip_blanks(c);
	if (accept(c, ',')) {
		skip_blanks(c);
		bool hash = accept(c, '#');
		if (accept_text(c, ":lo12:")) {
			if (!read_sum(c, &arg->disp, &arg->symbol) || !arg->symbol.n)
				return false;
			arg->base = STR("");
		} else if (hash || (!at_end(c) && (is_digit(*c->p) || *c->p == '-'))) {
			if (!read_sum(c, &arg->disp, &arg->symbol) || arg->symbol.n)
				return false;
		} else {
			arg->index = read_word(c);
			arg->scale = 1;
			if (!is_numbered(arg->index, "x", 31) && !is_numbered(arg->index, "w", 31))
				return false;
			if (!arm64_read_shift(c, arg))
				return false;
		}
		skip_blanks(c);
	}
	arg->kind = SDTARG_MEM;
	// What follows the bracket in [x0]! and [x0], 8 changes the register: the caller refuses a
	// rest.
	return accept(c, ']');
}

static bool arm64_read(struct cursor *c, struct sdtarg *arg)
{
	if (accept(c, '['))
		return arm64_read_memory(c, arg);

	struct cursor start = *c;
	struct str word = read_word(c);
	if (at_end(c) && is_one_of(word, "xzr", "wzr")) {
		arg->kind = SDTARG_CONST;
		return true;
	}
	if (at_end(c) &&
	    (arm64_is_address(word) || is_numbered(word, "w", 31) || str_eqz(word, "wsp"))) {
		arg->kind = SDTARG_REG;
		arg->base = word;
		return true;
	}
	static const char *const vectors[] = {"b", "h", "s", "d", "q", "v"};
	for (size_t i = 0; at_end(c) && i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		if (!is_numbered(word, vectors[i], 32))
			continue;
		arg->kind = SDTARG_REG;
		arg->base = word;
		arg->is_float = true;
		return true;
	}

	*c = start;
	bool hash = accept(c, '#');
	if (!read_sum(c, &arg->disp, &arg->symbol) || (hash && arg->symbol.n))
		return false;
	arg->kind = arg->symbol.n ? SDTARG_ADDR : SDTARG_CONST;
	return true;
}

bool sdtarg_read_place(unsigned machine, struct str place, struct sdtarg *arg)
{
	struct cursor c = {place.p, place.p + place.n};
	bool good = false;
	if (at_end(&c))
		return false;
	if (machine == EM_X86_64 || machine == EM_386)
		good = x86_read(&c, machine == EM_X86_64, arg);
	else if (machine == EM_AARCH64)
		good = arm64_read(&c, arg);
	return good && at_end(&c);
}
