#include "usdt/sdtarg.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "usdt/sdtarg_priv.h"

/** What the program passed, when a compiler wrote @v for it. */
static int64_t extend(int64_t v, unsigned size, bool is_signed)
{
	if (!size || size >= 8)
		return v;
	unsigned shift = 64 - size * 8;
	uint64_t bits = (uint64_t)v << shift;
	return is_signed ? (int64_t)bits >> shift : (int64_t)(bits >> shift);
}

/** Length of [-]SIZE[f]@ at the start of @s, and what it says; 0 when @s does not start so. */
static size_t read_size(struct str s, struct sdtarg *arg)
{
	unsigned size = 0;
	size_t i = 0;
	bool is_signed = s.n && s.p[0] == '-', is_float = false;
	i += is_signed;
	size_t start = i;
	for (; i < s.n && i < start + 6 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		size = size * 10 + (unsigned)(s.p[i] - '0');
	if (i == start)
		return 0;
	if (i < s.n && s.p[i] == 'f') {
		is_float = true;
		i++;
	}
	if (i >= s.n || s.p[i] != '@')
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
	if ((n && !arg.size) || !sdtarg_read_place(machine, arg.place, &full))
		return arg;
	if (full.kind == SDTARG_CONST) {
		full.value = extend(full.disp, full.size, full.is_signed);
		full.disp = 0;
	}
	return full;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/**
 * Takes the first word off @rest; empty when there is none. A blank inside brackets does not end
 * it.
 */
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

/** Decimal digits, with a sign or without one: a constant as compilers write it. */
static bool is_decimal(struct str s)
{
	size_t i = s.n && s.p[0] == '-';
	bool is_some = i < s.n;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return is_some && i == s.n;
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
	if (arg->kind == SDTARG_CONST)
		return is_decimal(arg->place);
	if (arg->kind == SDTARG_MEM && arg->index.n) // nothing but the bracket behind it
		return arg->index.p + arg->index.n == arg->place.p + arg->place.n - 1;
	return (arg->kind == SDTARG_REG || arg->kind == SDTARG_MEM) && is_base && !arg->symbol.n &&
	       !memchr(arg->place.p, '#', arg->place.n);
}

/** Of [x0] bcc for aarch64 says that it is x0: measured with 0.17.0, an address for the value. */
static bool arm64_is_bare(const struct sdtarg *arg)
{
	return arg->kind == SDTARG_MEM && !memchr(arg->place.p, ',', arg->place.n);
}

bool sdtarg_has_odd_size(const struct sdtarg *arg)
{
	return arg->text.n > arg->place.n && arg->size != 1 && arg->size != 2 && arg->size != 4 &&
	       arg->size != 8;
}

/** One that neither knows: ah and the like, and the further 16 of APX. */
static bool x86_is_odd_register(struct str s)
{
	uint64_t n = 0;
	for (size_t i = 1; s.n && s.p[0] == 'r' && i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		n = n * 10 + (uint64_t)(s.p[i] - '0');
	return n > 15 || (s.n == 2 && s.p[1] == 'h');
}

/** A word of C in front of a bracket: all that bcc takes for a symbol. */
static bool x86_has_plain_symbol(const struct sdtarg *arg)
{
	return str_is_made_of(arg->symbol, ALPHABET_WORD) &&
	       memchr(arg->place.p, '(', arg->place.n) != NULL;
}

/** A form that neither parser for x86 reads. Measured with bpftrace 0.17.0, 0.23.2 and 0.27.1. */
static bool x86_is_odd(const struct sdtarg *arg)
{
	return arg->kind == SDTARG_SEGMENT || (arg->index.n && !arg->base.n) ||
	       x86_is_odd_register(arg->base) || x86_is_odd_register(arg->index);
}

/** libbpf reads decimal numbers only, and needs a size. */
static bool x86_is_beyond_libbpf(const struct sdtarg *arg)
{
	return arg->text.n == arg->place.n || memmem(arg->place.p, arg->place.n, "0x", 2) != NULL;
}

/** After such an operand bcc reads none of those behind it (measured with 0.17.0 and 0.23.2). */
static bool stops_bcc(unsigned machine, const struct sdtarg *arg)
{
	if (machine == EM_AARCH64)
		return arg->is_beyond_bcc && !arm64_is_bare(arg);
	// It takes %xmm0 for a register, until it looks for it, and G(%rip) for an address; a size
	// that it has no type for ends bpftrace, but only where the argument is read.
	return arg->kind == SDTARG_UNKNOWN || arg->kind == SDTARG_ADDR || x86_is_odd(arg) ||
	       (arg->symbol.n && !x86_has_plain_symbol(arg)) ||
	       (arg->is_float && memchr(arg->text.p, 'f', arg->text.n - arg->place.n)) ||
	       (arg->is_float && arg->base.n && !str_has_prefix(arg->base, STR("xmm")));
}

/** Who reads the @n @args of one site? */
static void ask_parsers(unsigned machine, struct sdtarg *args, size_t n)
{
	bool is_over = false, is_arm64 = machine == EM_AARCH64;
	for (size_t i = 0; i < n; i++) {
		struct sdtarg *arg = &args[i];
		bool is_odd = arg->kind == SDTARG_UNKNOWN || arg->is_float || arg->symbol.n > 0 ||
			      sdtarg_has_odd_size(arg) ||
			      (is_arm64 ? !arm64_is_plain(arg) : x86_is_odd(arg));
		arg->is_beyond_libbpf =
		    is_odd || (is_arm64 ? arg->index.n > 0 : x86_is_beyond_libbpf(arg));
		arg->is_behind = is_over;
		arg->is_beyond_bcc = is_over || is_odd || (is_arm64 && arm64_is_bare(arg));
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
