#include "usdt/sdtarg.h"

#include <elf.h>

// --- the operand after "SIZE@": AT&T syntax of x86, and aarch64 syntax
//
// A small grammar for each machine, read from left to right without going back. What it does not
// read to the last byte it refuses: half an operand would be a wrong address.

// @c is what is left of an operand.

static void skip_blanks(struct str *c)
{
	while (str_take(c, STR(" ")) || str_take(c, STR("\t")))
		;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/** What assemblers take in a symbol's name, where a digit may stand first here. */
static struct str read_word(struct str *c)
{
	struct str word = {c->p, 0};
	for (; c->n && (isalnum((unsigned char)c->p[0]) || memchr("_.$@", c->p[0], 4) ||
			(unsigned char)c->p[0] >= 0x80);
	     word.n++)
		*c = str_from_offset(*c, 1);
	return word;
}

/**
 * A sum of numbers and at most one symbol, which must not be subtracted. False if there is none, or if a
 * number does not fit; an unsigned 64-bit number is its bits, but only by itself.
 */
static bool read_sum(struct str *c, int64_t *value, struct str *symbol)
{
	bool large = false;
	int64_t sum = 0;
	struct str sym = STR("");
	for (unsigned terms = 0;; terms++) {
		bool minus = str_take(c, STR("-"));
		if (!minus && !str_take(c, STR("+")) && terms)
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
	uint64_t n;
	return str_take(&s, str_from(prefix)) && str_to_u64(s, &n) && n < limit &&
	       (s.n == 1 || s.p[0] != '0');
}

/**
 * Number of an x86-64 register in DWARF (psABI, figure 3.36), of any part of it, or -1. r8 to r15 (to
 * r31 with APX) may have a suffix for their low bytes.
 */
static int x86_register(struct str s)
{
	static const char *const names[8][6] = {
	    {"rax", "eax", "ax", "al", "ah"}, {"rdx", "edx", "dx", "dl", "dh"},
	    {"rcx", "ecx", "cx", "cl", "ch"}, {"rbx", "ebx", "bx", "bl", "bh"},
	    {"rsi", "esi", "si", "sil"},      {"rdi", "edi", "di", "dil"},
	    {"rbp", "ebp", "bp", "bpl"},      {"rsp", "esp", "sp", "spl"},
	};
	for (int i = 0; i < 8; i++)
		if (str_is_any(s, names[i]))
			return i;
	uint64_t n;
	if (s.n > 2 && memchr("dwbl", s.p[s.n - 1], 4))
		s.n--;
	return str_take(&s, STR("r")) && s.n && s.p[0] != '0' && str_to_u64(s, &n) && n >= 8 &&
		       n < 32
		   ? (int)n
		   : -1;
}

/** One that no bpftrace knows: ah and the like, and the further 16 of APX. */
static bool x86_is_odd_register(struct str s)
{
	return x86_register(s) > 15 || (s.n == 2 && s.p[1] == 'h');
}

static bool x86_is_general(struct str s, bool is64)
{
	bool is_32bit = s.n && s.p[0] != 'r' && !(s.n == 3 && s.p[2] == 'l'); // no sil
	return x86_register(s) >= 0 && (is64 || is_32bit);
}

/** %NAME; parentheses belong to %st(1). */
static struct str x86_read_register(struct str *c)
{
	if (!str_take(c, STR("%")))
		return STR("");
	struct str s = read_word(c);
	if (str_eqz(s, "st") && c->n >= 3 && c->p[0] == '(' && c->p[2] == ')') {
		s.n += 3;
		*c = str_from_offset(*c, 3);
	}
	return s;
}

/** (BASE,INDEX,SCALE), each of which can be absent, but not all. */
static bool x86_read_parentheses(struct str *c, bool is64, struct sdtarg *arg)
{
	arg->base = x86_read_register(c);
	if (arg->base.n && !x86_is_general(arg->base, is64) && !str_eqz(arg->base, "rip") &&
	    !str_eqz(arg->base, "eip"))
		return false;
	if (str_take(c, STR(","))) {
		arg->index = x86_read_register(c);
		if (!x86_is_general(arg->index, is64))
			return false;
		arg->scale = 1;
		if (str_take(c, STR(","))) {
			if (!c->n || !memchr("1248", c->p[0], 4))
				return false;
			arg->scale = (unsigned)(c->p[0] - '0');
			*c = str_from_offset(*c, 1);
		}
	} else if (!arg->base.n) {
		return false;
	}
	return str_take(c, STR(")"));
}

static bool x86_read_memory(struct str *c, bool is64, struct sdtarg *arg)
{
	bool has_sum = c->n && c->p[0] != '(';
	if (has_sum && !read_sum(c, &arg->disp, &arg->symbol))
		return false;
	if (str_take(c, STR("("))) {
		if (!x86_read_parentheses(c, is64, arg))
			return false;
		// An assembler takes sym(%rip) as the symbol itself, not as a distance from the instruction.
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

static bool x86_read(struct str *c, bool is64, struct sdtarg *arg)
{
	if (str_take(c, STR("$"))) {
		if (!read_sum(c, &arg->disp, &arg->symbol))
			return false;
		arg->kind = arg->symbol.n ? SDTARG_ADDR : SDTARG_CONST;
		return true;
	}
	if (!c->n || c->p[0] != '%')
		return x86_read_memory(c, is64, arg);

	struct str reg = x86_read_register(c);
	if (str_take(c, STR(":"))) {
		if (!is_one_of(reg, "fs", "gs"))
			return false;
		arg->segment = reg;
		return x86_read_memory(c, is64, arg);
	}
	bool is_vector = is_numbered(reg, "xmm", 32) || is_numbered(reg, "ymm", 32) ||
			 is_numbered(reg, "zmm", 32) ||
			 is_one_of(reg, "st", "st(0)", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)",
				   "st(6)", "st(7)");
	arg->is_float |= is_vector; // or the note has an f
	arg->kind = SDTARG_REG;
	arg->base = reg;
	return is_vector || x86_is_general(reg, is64);
}

/** Number of an AArch64 register in DWARF (ABI for DWARF, section 4.1), or -1; that of sp is 31. */
static int arm64_register(struct str s)
{
	uint64_t n;
	if (is_one_of(s, "sp", "wsp"))
		return 31;
	bool is_known = is_numbered(s, "x", 31) || is_numbered(s, "w", 31);
	return is_known && str_to_u64(str_from_offset(s, 1), &n) ? (int)n : -1;
}

int sdtarg_register(unsigned machine, struct str name)
{
	if (machine == EM_X86_64)
		return x86_is_odd_register(name) ? -1 : x86_register(name);
	return machine == EM_AARCH64 ? arm64_register(name) : -1;
}

/** , lsl 3   , sxtw   , uxtw #2: how an index register is extended and shifted. */
static bool arm64_read_shift(struct str *c, struct sdtarg *arg)
{
	bool narrow = arg->index.p[0] == 'w';
	skip_blanks(c);
	if (!str_take(c, STR(",")))
		return !narrow;
	skip_blanks(c);
	struct str how = read_word(c);
	if (!(narrow ? is_one_of(how, "uxtw", "sxtw") : is_one_of(how, "lsl", "sxtx", "uxtx")))
		return false;
	arg->index_signed = str_eqz(how, "sxtw");
	skip_blanks(c);
	str_take(c, STR("#"));
	if (!c->n || c->p[0] == ']')
		return how.p[0] != 'l';
	if (c->p[0] < '0' || c->p[0] > '4')
		return false;
	arg->scale = 1u << (c->p[0] - '0');
	*c = str_from_offset(*c, 1);
	return true;
}

/** [BASE], [BASE, NUMBER], [BASE, INDEX, lsl 2], [BASE, #:lo12:SYMBOL]; the [ has been read. */
static bool arm64_read_memory(struct str *c, struct sdtarg *arg)
{
	skip_blanks(c);
	arg->base = read_word(c);
	if (arm64_register(arg->base) < 0 || arg->base.p[0] == 'w')
		return false;
	skip_blanks(c);
	if (str_take(c, STR(","))) {
		skip_blanks(c);
		bool hash = str_take(c, STR("#"));
		if (str_take(c, STR(":lo12:"))) {
			if (!read_sum(c, &arg->disp, &arg->symbol) || !arg->symbol.n)
				return false;
			arg->base = STR("");
		} else if (hash || (c->n && (is_digit(c->p[0]) || c->p[0] == '-'))) {
			if (!read_sum(c, &arg->disp, &arg->symbol) || arg->symbol.n)
				return false;
		} else {
			arg->index = read_word(c);
			arg->scale = 1;
			int n = arm64_register(arg->index);
			if (n < 0 || n == 31 || !arm64_read_shift(c, arg))
				return false;
		}
		skip_blanks(c);
	}
	arg->kind = SDTARG_MEM;
	// What follows the bracket in [x0]! and [x0], 8 changes the register: the caller refuses a rest.
	return str_take(c, STR("]"));
}

static bool arm64_read(struct str *c, struct sdtarg *arg)
{
	if (str_take(c, STR("[")))
		return arm64_read_memory(c, arg);

	struct str start = *c;
	struct str word = read_word(c);
	if (!c->n && is_one_of(word, "xzr", "wzr")) {
		arg->kind = SDTARG_CONST;
		return true;
	}
	static const char *const vectors[] = {"b", "h", "s", "d", "q", "v"};
	bool is_vector = false;
	for (size_t i = 0; !c->n && i < sizeof(vectors) / sizeof(vectors[0]); i++)
		is_vector |= is_numbered(word, vectors[i], 32);
	arg->is_float |= is_vector; // or the note has an f
	if (!c->n && (is_vector || arm64_register(word) >= 0)) {
		arg->kind = SDTARG_REG;
		arg->base = word;
		return true;
	}

	*c = start;
	bool hash = str_take(c, STR("#"));
	if (!read_sum(c, &arg->disp, &arg->symbol) || (hash && arg->symbol.n))
		return false;
	arg->kind = arg->symbol.n ? SDTARG_ADDR : SDTARG_CONST;
	return true;
}

/**
 * Fills in the kind and the fields of @arg (zeroed, with its size) for @place; a constant goes to `disp`.
 * False when it is not understood: @arg is then half written.
 */
static bool read_place(unsigned machine, struct str place, struct sdtarg *arg)
{
	bool good = false;
	if (!place.n)
		return false;
	if (machine == EM_X86_64 || machine == EM_386)
		good = x86_read(&place, machine == EM_X86_64, arg);
	else if (machine == EM_AARCH64)
		good = arm64_read(&place, arg);
	return good && !place.n;
}

// --- operands

/** Reads [-]SIZE[f]@ at the start of @s; returns its length, 0 if @s does not start so. */
static size_t read_size(struct str s, struct sdtarg *arg)
{
	unsigned size = 0;
	bool is_signed = s.n && s.p[0] == '-';
	size_t start = is_signed, i = start;
	for (; i < s.n && i < start + 6 && is_digit(s.p[i]); i++)
		size = size * 10 + (unsigned)(s.p[i] - '0');
	bool is_float = i > start && i < s.n && s.p[i] == 'f';
	i += is_float;
	if (i == start || i >= s.n || s.p[i] != '@')
		return 0;
	arg->size = size;
	arg->is_signed = is_signed;
	arg->is_float = is_float;
	return i + 1;
}

static struct sdtarg parse_one(unsigned machine, struct str text)
{
	struct sdtarg arg = {
	    .base = STR(""), .index = STR(""), .symbol = STR(""), .segment = STR("")};
	arg.text = text;
	size_t n = read_size(text, &arg);
	arg.place = str_from_offset(text, n);

	struct sdtarg full = arg;
	if ((n && !arg.size) || !read_place(machine, arg.place, &full))
		return arg;
	if (full.kind == SDTARG_CONST) {
		// What the program passed, when a compiler wrote this for it.
		unsigned shift = full.size && full.size < 8 ? 64 - full.size * 8 : 0;
		uint64_t bits = (uint64_t)full.disp << shift;
		full.value = full.is_signed ? (int64_t)bits >> shift : (int64_t)(bits >> shift);
		full.disp = 0;
	}
	return full;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/** Takes the first word off @rest; empty when there is none. A blank inside brackets does not end it. */
static struct str next_word(struct str *rest)
{
	const char *p = rest->p, *end = rest->p + rest->n;
	unsigned depth = 0;
	while (p < end && is_blank(*p))
		p++;
	const char *start = p;
	for (; p < end && (depth || !is_blank(*p)); p++) {
		if (*p == '(' || *p == '[')
			depth++;
		else if ((*p == ')' || *p == ']') && depth)
			depth--;
	}
	*rest = (struct str){p, (size_t)(end - p)};
	return (struct str){start, (size_t)(p - start)};
}

size_t sdtarg_split(struct str args, struct str ret[static SDTARG_MAX + 1])
{
	size_t n = 0;
	bool open = false; // the operand before has a size: what has none is still of it
	args = str_trim(args);
	for (struct str rest = args, word; (word = next_word(&rest)).n;) {
		struct sdtarg ignored;
		bool has_size = read_size(word, &ignored) > 0;
		if (open && !has_size) {
			ret[n - 1].n = (size_t)(word.p + word.n - ret[n - 1].p);
			continue;
		}
		open = has_size;
		if (n == SDTARG_MAX) {
			ret[n++] = (struct str){word.p, (size_t)(args.p + args.n - word.p)};
			break;
		}
		ret[n++] = word;
	}
	return n;
}

/**
 * What bcc's and libbpf's parsers for aarch64 read: 5, x0, sp, [x0] and [sp, 16], and bcc [x0, x1],
 * too. They know no 32-bit names, no zero register, no #5 and no shifted index (bcc: measured with
 * bpftrace 0.17.0; libbpf: by its source).
 */
static bool arm64_is_plain(const struct sdtarg *arg)
{
	unsigned size = arg->size;
	bool is_base = arg->base.n && (arg->base.p[0] == 'x' || str_eqz(arg->base, "sp"));
	if ((size != 1 && size != 2 && size != 4 && size != 8) || arg->is_float)
		return false;
	if (arg->kind == SDTARG_CONST) { // decimal, as compilers write it
		struct str digits = arg->place;
		str_take(&digits, STR("-"));
		return str_is_digits(digits);
	}
	if (arg->kind == SDTARG_MEM && arg->index.n) // nothing but the bracket after it
		return arg->index.p + arg->index.n == arg->place.p + arg->place.n - 1;
	return (arg->kind == SDTARG_REG || arg->kind == SDTARG_MEM) && is_base && !arg->symbol.n &&
	       !memchr(arg->place.p, '#', arg->place.n);
}

/** bcc for aarch64 reads [x0] as x0: measured with 0.17.0, an address for the value. */
static bool arm64_is_bare(const struct sdtarg *arg)
{
	return arg->kind == SDTARG_MEM && !memchr(arg->place.p, ',', arg->place.n);
}

bool sdtarg_has_odd_size(const struct sdtarg *arg)
{
	return arg->text.n > arg->place.n && arg->size != 1 && arg->size != 2 && arg->size != 4 &&
	       arg->size != 8;
}

/** A form that neither parser for x86 reads. Measured with bpftrace 0.17.0, 0.23.2 and 0.27.1. */
static bool x86_is_odd(const struct sdtarg *arg)
{
	return arg->kind == SDTARG_SEGMENT || (arg->index.n && !arg->base.n) ||
	       x86_is_odd_register(arg->base) || x86_is_odd_register(arg->index);
}

/** After such an operand bcc reads no others (measured with 0.17.0 and 0.23.2). */
static bool stops_bcc(unsigned machine, const struct sdtarg *arg)
{
	if (machine == EM_AARCH64)
		return arg->bcc_misreads && !arm64_is_bare(arg);
	// It takes %xmm0 for a register, until it looks for it, and G(%rip) for an address, whose symbol
	// is a word of C in front of a bracket; a size that it has no type for ends bpftrace, but only
	// where the argument is read.
	bool has_plain_symbol =
	    str_is_made_of(arg->symbol, ALPHABET_WORD) && memchr(arg->place.p, '(', arg->place.n);
	return arg->kind == SDTARG_UNKNOWN || arg->kind == SDTARG_ADDR || x86_is_odd(arg) ||
	       (arg->symbol.n && !has_plain_symbol) ||
	       (arg->is_float && memchr(arg->text.p, 'f', arg->text.n - arg->place.n)) ||
	       (arg->is_float && arg->base.n && !str_has_prefix(arg->base, STR("xmm")));
}

/** Who reads the @n @args of one site? */
static void ask_parsers(unsigned machine, struct sdtarg *args, size_t n)
{
	bool is_over = false, is_arm64 = machine == EM_AARCH64;
	list_each(struct sdtarg, arg, args, n) {
		bool is_odd = arg->kind == SDTARG_UNKNOWN || arg->is_float || arg->symbol.n > 0 ||
			      sdtarg_has_odd_size(arg) ||
			      (is_arm64 ? !arm64_is_plain(arg) : x86_is_odd(arg));
		// On x86 libbpf reads decimal numbers only, and needs a size.
		arg->is_beyond_libbpf =
		    is_odd ||
		    (is_arm64 ? arg->index.n > 0
			      : arg->text.n == arg->place.n || str_contains(arg->place, STR("0x")));
		arg->after_bcc_stops = is_over;
		arg->bcc_misreads = is_over || is_odd || (is_arm64 && arm64_is_bare(arg));
		is_over |= stops_bcc(machine, arg);
	}
}

void sdtarg_parse(struct arena *a, unsigned machine, struct str args, struct sdtarg **ret,
		  size_t *ret_n)
{
	struct str texts[SDTARG_MAX + 1];
	size_t n = sdtarg_split(args, texts);
	*ret = arena_array(a, struct sdtarg, n ? n : 1);
	*ret_n = n;
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = i < SDTARG_MAX ? parse_one(machine, texts[i])
					   : (struct sdtarg){.text = texts[i], .place = texts[i]};
	ask_parsers(machine, *ret, n);
}

/** "sym + x21 + x1 * 8 - 16" */
static void describe_address(struct strbuf *b, const struct sdtarg *arg)
{
	bool first = true;
	const struct str terms[] = {arg->symbol, arg->base, arg->index};
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		if (!terms[i].n)
			continue;
		strbuf_addz(b, first ? "" : " + ");
		strbuf_add_printable(b, terms[i]);
		first = false;
	}
	if (arg->index.n && arg->scale != 1)
		strbuf_addf(b, " * %u", arg->scale);
	uint64_t disp = (uint64_t)arg->disp;
	if (first)
		strbuf_addf(b, "%" PRId64, arg->disp);
	else if (arg->disp)
		strbuf_addf(b, " %c %" PRIu64, arg->disp < 0 ? '-' : '+',
			    arg->disp < 0 ? -disp : disp);
}

void sdtarg_describe(struct strbuf *b, const struct sdtarg *arg)
{
	if (arg->is_float)
		strbuf_addz(b, "float, ");
	else if (arg->size)
		strbuf_addz(b, arg->is_signed ? "signed, " : "unsigned, ");
	if (arg->size)
		strbuf_addf(b, "%u byte%s, ", arg->size, arg->size == 1 ? "" : "s");
	switch (arg->kind) {
	case SDTARG_CONST:
		if (arg->is_signed || arg->value >= 0)
			strbuf_addf(b, "constant %" PRId64, arg->value);
		else
			strbuf_addf(b, "constant %" PRIu64, (uint64_t)arg->value);
		break;
	case SDTARG_REG:
		strbuf_addz(b, "in ");
		strbuf_add_printable(b, arg->base);
		break;
	case SDTARG_MEM:
		strbuf_addz(b, "at ");
		describe_address(b, arg);
		break;
	case SDTARG_SEGMENT:
		strbuf_addz(b, "in thread-local memory (");
		strbuf_adds(b, arg->segment);
		strbuf_addz(b, ") at ");
		describe_address(b, arg);
		break;
	case SDTARG_ADDR:
		strbuf_addz(b, "the address ");
		describe_address(b, arg);
		break;
	case SDTARG_UNKNOWN:
		strbuf_addz(b, "in an unknown form");
		break;
	}
}
