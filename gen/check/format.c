#include "check/check_priv.h"

#include "lang/format.h"
#include "sema/arg_fact.h"
#include "dialect/dialect.h"

/**
 * The flag in @conversion that bpftrace before 0.24 does not know, 0 when there is none: it looks
 * for `% -? digits . digits letters` and leaves printing to C's printf(), which takes an argument
 * for these, too (measured: "%d% core:%d" printed "7ore:" and a number from nowhere).
 */
static char unknown_flag(struct str conversion)
{
	for (size_t i = 1; i < conversion.n; i++)
		if (strchr("+ #", conversion.p[i]))
			return conversion.p[i];
	return 0;
}

/**
 * A conversion with such a flag before one that bpftrace knows: printf() also prints as text all after the
 * last conversion that it knows.
 */
static bool find_unknown_flag(struct str format, struct conversion *ret)
{
	*ret = (struct conversion){0};
	for (struct conversion c = {0}; format_next(format, &c);) {
		if (!strchr("hlLqjztdiouxXeEfFgGaAcspnCSm", c.letter))
			continue; // "5%, ": no conversion to anybody
		bool known = !unknown_flag(str_slice(format, c.at, c.end - c.at));
		if (known && ret->end)
			return true;
		if (!known && !ret->end)
			*ret = c;
	}
	return false;
}

/**
 * Of a program that is run, btgen itself prints what printf() is given, by C's rules, if it knows all
 * conversions and each has its value.
 */
static bool has_all_flags(const struct bind *b, const struct node *format)
{
	const struct node *value = format->next;
	bool is_known = b->given->shapes && tok_is(format->parent->name, "printf");
	for (struct conversion c = {0}; is_known && format_next(node_text(format), &c);) {
		is_known = value && strchr("diuoxXcpsr", c.letter);
		value = value ? value->next : NULL;
	}
	return (is_known && !value) || dialect_has_own_printf(b->given->version);
}

/** A literal format. */
struct format {
	struct checker *k;
	const struct node *node;
	struct str text;
	bool has_all; // has_all_flags()
};

static struct str text_of(const struct format *f, const struct conversion *c)
{
	return str_slice(f->text, c->at, c->end - c->at);
}

static struct diag_place place_of(const struct format *f, const struct conversion *c)
{
	struct diag_place place = tok_place(f->node->name);
	place.col += (unsigned)c->at;
	place.len = (unsigned)(c->end - c->at);
	return place;
}

/** Such a flag is an error at its %: what is printed from there on is what lies in memory. */
static bool has_unknown_flag(const struct format *f)
{
	struct conversion bad;
	if (f->has_all || !find_unknown_flag(f->text, &bad))
		return false;
	struct str conversion = text_of(f, &bad);
	struct diag_place place = place_of(f, &bad);
	f->k->good &= diag_finding(
	    f->k->b->diag, "format", DIAG_ERROR, &place,
	    "bpftrace " DIALECT_FMT " does not know the flag '%c' of \"" STR_FMT
	    "\" and would print garbage: write %%%% for a percent sign",
	    DIALECT_ARG(f->k->b->given->version), unknown_flag(conversion), STR_ARG(conversion));
	return true;
}

// --- conversions and their values ---

/** One conversion of a format, and what it is given. */
struct given {
	struct checker *k;
	const struct node *value;
	struct str conversion; // "%-5d"
	char letter;
	struct meaning m;
};

/**
 * Is @c a conversion to this bpftrace? Any other stays in the text (measured). A conversion with j, t or L
 * before its letter ends after that.
 */
static bool is_conversion(const struct format *f, struct conversion *c)
{
	bool has_own_printf = dialect_has_own_printf(f->k->b->given->version);
	char next = c->end < f->text.n ? f->text.p[c->end] : ' ';
	if (strchr(has_own_printf ? "jtL" : "jt", c->letter) && strchr("diuoxX", next)) {
		c->letter = next;
		next = ++c->end < f->text.n ? f->text.p[c->end] : ' ';
	}
	c->end += c->letter == 'r' && strchr("xh", next);
	if (has_own_printf && c->letter == 'g' && next == 'r') {
		c->end++;
		return true; // names of GFP flags
	}
	if (!f->has_all && unknown_flag(text_of(f, c)))
		return false;
	return strchr(f->has_all ? "diuoxXcpsr" : "duoxXcpsr", c->letter) != NULL;
}

static const char *why_unknown(const struct format *f, struct str conversion)
{
	char letter = conversion.p[conversion.n - 1], flag = unknown_flag(conversion);
	if (flag && !f->has_all)
		return arena_printf(f->k->arena, "the flag '%c' came with 0.24", flag);
	if (strchr("eEfFgGaA", letter))
		return "it prints no floating-point numbers";
	return letter == 'i' ? "use %d" : "use %d or %x, with a number for the width";
}

/** At conversion @c. */
static void report_conversion(const struct format *f, const struct conversion *c,
			      const char *remedy)
{
	struct diag_place place = place_of(f, c);
	f->k->good &= diag_finding(f->k->b->diag, "format", DIAG_ERROR, &place,
				   "\"" STR_FMT "\" %s", STR_ARG(text_of(f, c)), remedy);
}

/**
 * Are there as many conversions as values? If not, bpftrace reports it; a conversion or value that is not
 * what it looks like is an error here.
 */
static bool is_matched(const struct format *f)
{
	unsigned n = 0, n_values = node_count(f->node->parent) - 1;
	struct conversion odd = {0};   // the first one that this bpftrace does not know, and C does
	struct conversion blank = {0}; // the first one with a blank for a flag, which may be text
	for (struct conversion c = {0}; format_next(f->text, &c);) {
		bool is_known = is_conversion(f, &c);
		n += is_known;
		if (is_known && !blank.end && f->text.p[c.at + 1] == ' ')
			blank = c;
		if (!is_known && !odd.end && strchr("ieEfFgGaAn*duxX", c.letter)) // C's
			odd = c;
	}
	if (n > n_values && blank.end)
		report_conversion(f, &blank, "is a conversion, too: write %% for a percent sign");
	else if (n < n_values && odd.end)
		report_conversion(f, &odd,
				  arena_printf(f->k->arena, "is unknown to bpftrace: %s",
					       why_unknown(f, text_of(f, &odd))));
	return n == n_values;
}

/**
 * Is its type the program's? An address that a script reads by itself, *(uint64 *)(arg0 + 8), is a
 * number to bpftrace, and so is one that is cast to one.
 */
static bool is_given(const struct node *value)
{
	return value->expr->arg_of || value->expr->in;
}

/** What an address of that type is shown with. */
static const char *how_to_show(struct arena *a, const struct ctype *pointer, const char *text)
{
	struct ctype *to = ctype_strip(pointer->of);
	if (to && to->kind == CTYPE_FUNC)
		return arena_printf(a, "usym(%s)", text);
	if (to && (to->kind == CTYPE_STRUCT || to->kind == CTYPE_UNION) && ctype_complete(to))
		return arena_printf(a, "%%p, or print(*%s)", text);
	return "%p";
}

/**
 * %s of a number. bpftrace refuses it before 0.24, and then prints the number, as btgen's records
 * do: right unless a text or a name was meant.
 */
static void check_text_of_number(struct given *g)
{
	const char *text = check_text(g->k, g->value);
	const struct ctype *t =
	    g->value->expr->enumerator_of ? g->value->expr->enumerator_of : g->m.plain;
	enum diag_level level = check_level(&g->m);
	if (arg_fact_enum(g->k->b, g->value->expr))
		return; // its name is printed
	if (ctype_is_text(g->m.plain))
		check_report(g->k, g->value, "format", level,
			     "%%s needs a string, but this is its address: use str(%s)", text);
	else if (t && t->kind == CTYPE_ENUM)
		check_report(g->k, g->value, "format", level,
			     "%%s of a number: use %%d, or enum_name(" STR_FMT ", %s) for its name",
			     STR_ARG(t->name), text);
	else if (check_is_floating(&g->m))
		check_report(
		    g->k, g->value, "floating-point", level,
		    "bpftrace does not support floating point: %%s gets the bits; -t prints "
		    "the value");
	else if (t && t->kind == CTYPE_INT && is_given(g->value) && !g->m.is_guess &&
		 !check_is_address_word(g->m.type))
		check_report(g->k, g->value, "format", DIAG_WARNING,
			     "%%s of a number without a name: use %s", t->is_char ? "%c" : "%d");
	else if (t && t->kind == CTYPE_POINTER && is_given(g->value))
		check_report(g->k, g->value, "format", DIAG_WARNING, "%%s of an address: use %s",
			     how_to_show(g->k->b->arena, t, text));
}

/** Bits of a number that are printed by @conversion, as it is written. */
static unsigned bits_printed(struct str conversion)
{
	unsigned n_halves = 0;
	for (size_t i = 1; i < conversion.n; i++) {
		if (strchr("lzjtL", conversion.p[i]))
			return 64;
		n_halves += conversion.p[i] == 'h';
	}
	return n_halves == 0 ? 32 : n_halves == 1 ? 16 : 8;
}

/**
 * More bits than are printed. With a target %d becomes %ld where that is needed; of a host's script,
 * which stays as it is, only clocks are known to be large.
 */
static void check_width(struct given *g)
{
	const struct node *value = node_ungrouped(g->value);
	const struct ctype *t = g->m.plain;
	unsigned left = bits_printed(g->conversion), bits = g->value->expr->bits == 64 ? 64 : 0;
	if (ctype_is_number(t))
		bits = value->expr->bit_size ? value->expr->bit_size : (unsigned)t->size * 8;
	bool is_clock = value->kind == NODE_NAME &&
			(tok_is(value->name, "nsecs") || tok_is(value->name, "elapsed"));
	if (bits <= left || left == 64 || (left == 32 && (g->k->b->given->files || !is_clock)))
		return;
	check_report(g->k, g->value, "format", DIAG_WARNING,
		     STR_FMT " prints %u of %u bits: use %%%s%c", STR_ARG(g->conversion), left,
		     bits, bits == 64 ? "l" : "", g->letter);
}

/** %d and the like, %p, %c of a number whose type is known. */
static void check_number_of(struct given *g)
{
	struct checker *k = g->k;
	const struct ctype *t = g->m.plain;
	struct str conversion = g->conversion;
	if (check_is_floating(&g->m) && strchr("diuc", g->letter))
		check_report(
		    k, g->value, "floating-point", check_level(&g->m),
		    "bpftrace does not support floating point: this prints the bits; -t prints "
		    "the value");
	else if (ctype_is_text(g->m.plain) && strchr("diuc", g->letter))
		check_report(k, g->value, "string-address", DIAG_WARNING,
			     STR_FMT " prints the address of a string: use %%s with str(%s)",
			     STR_ARG(conversion), check_text(k, g->value));
	else if (t && t->kind == CTYPE_POINTER && strchr("diuc", g->letter))
		check_report(k, g->value, "format", DIAG_WARNING, STR_FMT " of a pointer: use %%p",
			     STR_ARG(conversion));
	else if (g->letter == 'p' && ctype_is_number(t) && is_given(g->value) &&
		 !check_is_address_word(g->m.type))
		check_report(k, g->value, "format", DIAG_WARNING,
			     "%%p of a number that is not a pointer: use %%d or %%x");
	else if (strchr("diuoxX", g->letter))
		check_width(g);
}

/** No str() of a number, which is reported by itself. */
static bool is_string(struct checker *k, const struct node *value)
{
	struct meaning m = {0};
	if (!node_is(value = node_ungrouped(value), NODE_CALL, "str") || !value->child)
		return true;
	check_meaning(k, value->child, &m);
	return !m.plain || ctype_is_text(m.plain);
}

static void check_given(struct given *g)
{
	enum expr_kind kind = g->value->expr ? g->value->expr->kind : EXPR_OPEN;
	const char *text = check_text(g->k, g->value);
	check_meaning(g->k, g->value, &g->m);
	if (kind == EXPR_AGGREGATE && g->letter == 's' && check_is_byte_array(g->m.plain))
		check_report(g->k, g->value, "format", check_level(&g->m),
			     STR_FMT " of an array of bytes: use %%r with buf(%s), or %%s with "
				     "str(%s)",
			     STR_ARG(g->conversion), text, text);
	if (kind == EXPR_TEXT && strchr("diuoxX", g->letter) && is_string(g->k, g->value))
		check_report(g->k, g->value, "format", DIAG_ERROR, STR_FMT " of a string: use %%s",
			     STR_ARG(g->conversion));
	if (kind != EXPR_NUMBER)
		return;
	if (g->letter == 's')
		check_text_of_number(g);
	else if (g->letter != 'r')
		check_number_of(g);
}

void check_format(struct checker *k, struct node *n)
{
	const struct node *node = format_find(n);
	if (!node)
		return;
	struct format f = {
	    .k = k, .node = node, .text = node_text(node), .has_all = has_all_flags(k->b, node)};
	if (has_unknown_flag(&f) || !is_matched(&f))
		return;
	struct conversion c = {0};
	for (const struct node *value = node->next; value && format_next(f.text, &c);) {
		if (!is_conversion(&f, &c))
			continue;
		struct given g = {
		    .k = k, .value = value, .conversion = text_of(&f, &c), .letter = c.letter};
		check_given(&g);
		value = value->next;
	}
}
