#include "bind/argread.h"

#include <elf.h>
#include <inttypes.h>

#include "bind/attach.h"
#include "bind/namedarg.h"
#include "elf/imgsym.h"
#include "dialect/dialect.h"

/**
 * What bpftrace calls the register that @name is, or with @parts is a part of: "r13" of r13d. NULL
 * for ah, and for what holds no whole numbers.
 */
static const char *x86_register_of(struct str name, bool parts)
{
	static const char *const names[][5] = {
	    {"ax", "rax", "eax", "ax", "al"},	    {"bx", "rbx", "ebx", "bx", "bl"},
	    {"cx", "rcx", "ecx", "cx", "cl"},	    {"dx", "rdx", "edx", "dx", "dl"},
	    {"si", "rsi", "esi", "si", "sil"},	    {"di", "rdi", "edi", "di", "dil"},
	    {"bp", "rbp", "ebp", "bp", "bpl"},	    {"sp", "rsp", "esp", "sp", "spl"},
	    {"r8", "r8", "r8d", "r8w", "r8b"},	    {"r9", "r9", "r9d", "r9w", "r9b"},
	    {"r10", "r10", "r10d", "r10w", "r10b"}, {"r11", "r11", "r11d", "r11w", "r11b"},
	    {"r12", "r12", "r12d", "r12w", "r12b"}, {"r13", "r13", "r13d", "r13w", "r13b"},
	    {"r14", "r14", "r14d", "r14w", "r14b"}, {"r15", "r15", "r15d", "r15w", "r15b"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t k = 1; k < (parts ? 5 : 2); k++)
			if (str_eqz(name, names[i][k]))
				return names[i][0];
	return NULL;
}

/** The same for aarch64: "r3" of x3, and of w3. */
static const char *arm64_register_of(struct arena *a, struct str name, bool parts)
{
	if (str_eqz(name, "sp") || (parts && str_eqz(name, "wsp")))
		return "sp";
	if (!name.n || (name.p[0] != 'x' && !(parts && name.p[0] == 'w')))
		return NULL;
	return arena_printf(a, "r" STR_FMT, STR_ARG(str_from_offset(name, 1)));
}

const char *argread_register(struct arena *a, unsigned machine, unsigned number)
{
	// psABI of x86-64, figure 3.36; DWARF for the Arm 64-bit Architecture, section 4.1
	static const char *const x86[] = {"ax", "dx", "cx",  "bx",  "si",  "di",  "bp",	 "sp",
					  "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
	if (machine == EM_X86_64)
		return number < 16 ? x86[number] : NULL;
	if (machine != EM_AARCH64 || number > 31)
		return NULL;
	return number == 31 ? "sp" : arena_printf(a, "r%u", number);
}

static const char *counter_of(unsigned machine)
{
	return machine == EM_AARCH64 ? "pc" : "ip";
}

static const char *register_of(struct arena *a, struct img *img, struct str name, bool parts)
{
	return img->machine == EM_AARCH64 ? arm64_register_of(a, name, parts)
					  : x86_register_of(name, parts);
}

struct search {
	struct str name;
	uint64_t addr;
	bool no_local, is_found, is_ambiguous;
};

static bool try_symbol(void *ctx, const struct img_symbol *sym)
{
	struct search *s = ctx;
	if (!str_eq(sym->name, s->name) || (s->no_local && sym->is_local))
		return true;
	s->is_ambiguous |= s->is_found && sym->addr != s->addr;
	s->is_found = true;
	s->addr = sym->addr;
	return !s->is_ambiguous;
}

bool argread_find_symbol(struct img *img, struct str symbol, bool no_local, uint64_t *ret)
{
	struct search s = {.name = symbol, .no_local = no_local};
	img_walk_symbols(img, try_symbol, &s);
	*ret = s.addr;
	return s.is_found && !s.is_ambiguous;
}

/** The index of @arg as a number of 64 bits; NULL when there is none, or none that can be read. */
static const char *index_of(struct arena *a, struct img *img, const struct sdtarg *arg)
{
	bool is_narrow = arg->index.n && arg->index.p[0] == 'w'; // of aarch64
	const char *name = register_of(a, img, arg->index, is_narrow);
	if (!name)
		return NULL;
	const char *sign = arg->index_signed ? "" : "u";
	return is_narrow ? arena_printf(a, "(%sint64)(%sint32)reg(\"%s\")", sign, sign, name)
			 : arena_printf(a, "reg(\"%s\")", name);
}

/**
 * The address that @arg, of the site at @pc, is or is at; NULL when it is counted from nothing that
 * can be read.
 */
static const char *address_of(struct arena *a, struct img *img, uint64_t pc,
			      const struct sdtarg *arg)
{
	const char *base = register_of(a, img, arg->base, false);
	const char *index = index_of(a, img, arg);
	uint64_t disp = (uint64_t)arg->disp, addr;
	if (arg->symbol.n && !arg->base.n && !arg->index.n &&
	    argread_find_symbol(img, arg->symbol, false, &addr)) {
		base = counter_of(img->machine);
		disp += addr - pc; // wherever the file is loaded
	} else if (!base || arg->symbol.n || (arg->index.n && !index)) {
		return NULL;
	}
	const char *sum = arena_printf(a, "reg(\"%s\")", base);
	if (index)
		sum = arena_printf(a, "%s + %s * %u", sum, index, arg->scale);
	bool is_below = (int64_t)disp < 0;
	return arena_printf(a, "%s %c %" PRIu64, sum, is_below ? '-' : '+',
			    is_below ? -disp : disp);
}

/** Its bits, of which more than its size may be there. */
static const char *bits_of(struct arena *a, struct img *img, uint64_t pc, const struct sdtarg *arg)
{
	const char *from;
	switch (arg->kind) {
	case SDTARG_CONST:
		return arena_printf(a, "(%" PRId64 ")", arg->value);
	case SDTARG_REG:
		from = register_of(a, img, arg->base, true);
		return from ? arena_printf(a, "reg(\"%s\")", from) : NULL;
	case SDTARG_MEM:
		from = address_of(a, img, pc, arg);
		return from ? arena_printf(a, "*(uint%u *)(%s)", arg->size * 8, from) : NULL;
	case SDTARG_ADDR:
		from = address_of(a, img, pc, arg);
		return from ? arena_printf(a, "(%s)", from) : NULL;
	default:
		return NULL;
	}
}

/**
 * The value of @arg with its sign, as an operand that a cast may stand before; empty when no
 * expression reads it.
 */
static struct str text_of(struct arena *a, struct img *img, uint64_t pc, const struct sdtarg *arg)
{
	unsigned size = arg->size;
	bool is_known = size == 1 || size == 2 || size == 4 || size == 8;
	const char *bits = NULL, *sign = arg->is_signed ? "" : "u";
	if ((img->machine == EM_X86_64 || img->machine == EM_AARCH64) && is_known && !arg->is_float)
		bits = bits_of(a, img, pc, arg);
	if (!bits)
		return STR("");
	return str_from(size == 8
			    ? arena_printf(a, "(%sint64)%s", sign, bits)
			    : arena_printf(a, "(%sint64)(%sint%u)%s", sign, sign, size * 8, bits));
}

bool argread_join(struct arena *a, struct img *img, uint64_t pc, const struct sdtarg *arg,
		  struct str *text)
{
	struct str before = *text;
	*text = text_of(a, img, pc, arg);
	return text->n && (!before.n || str_eq(before, *text));
}

bool argread_needs(unsigned version, unsigned n, const struct sdtarg *arg)
{
	return !dialect_has_libbpf_usdt(version) &&
	       (n > dialect_max_arg(version) || arg->is_beyond_bcc);
}

struct str argread_find(const struct bind *b, const struct attach_clause *c, unsigned n,
			struct str *place)
{
	struct str text = STR("");
	bool is_needed = false, is_one = true;
	*place = STR("");
	for (size_t i = 0; i < c->probes.n; i++)
		is_needed |= attach_is_by_address(b, &c->probes.v[i]);
	if (c->has_other || c->has_uprobe ||
	    (dialect_has_libbpf_usdt(b->given->version) && !is_needed))
		return text;
	for (size_t i = 0; i < c->probes.n && is_one; i++) {
		const struct attach_match *m = &c->probes.v[i];
		struct img *img = m->file->bin.img;
		for (size_t k = 0; k < m->probe->n_sites && is_one; k++) {
			const struct sdt_site *site = &m->probe->sites[k];
			const struct operands *o = namedarg_operands(b, m, site);
			if (n >= o->n)
				return STR("");
			*place = o->v[n].text;
			is_needed |= argread_needs(b->given->version, n, &o->v[n]);
			is_one = argread_join(b->arena, img, site->pc, &o->v[n], &text);
		}
	}
	return is_needed && is_one ? text : STR("");
}

// --- locations of variables ---

/** A sum of which one part is a number. */
struct operand {
	struct str text; // empty: only the number
	uint64_t off;
	bool is_tight;
};

static struct str sum_of(struct arena *a, const struct operand *o)
{
	bool is_below = (int64_t)o->off < 0;
	if (!o->text.n)
		return str_printf(a, "%" PRId64, (int64_t)o->off);
	if (!o->off)
		return o->text;
	return str_printf(a, STR_FMT " %c %" PRIu64, STR_ARG(o->text), is_below ? '-' : '+',
			  is_below ? -o->off : o->off);
}

static struct str tight_of(struct arena *a, const struct operand *o)
{
	bool is_tight = o->text.n ? o->is_tight && !o->off : (int64_t)o->off >= 0;
	return str_printf(a, is_tight ? STR_FMT : "(" STR_FMT ")", STR_ARG(sum_of(a, o)));
}

/** A place of the file; that of a program that can lie anywhere is counted from where the probe is. */
static struct operand place_of(struct arena *a, const struct img *img, uint64_t pc, uint64_t addr)
{
	if (img->type == ET_EXEC)
		return (struct operand){.off = addr};
	return (struct operand){.text = str_printf(a, "reg(\"%s\")", counter_of(img->machine)),
				.off = addr - pc,
				.is_tight = true};
}

static struct operand join(struct arena *a, enum locexpr_op op, const struct operand *x,
			   const struct operand *y)
{
	static const char *const signs[] = {
	    [LOCEXPR_ADD] = "+", [LOCEXPR_SUB] = "-", [LOCEXPR_MUL] = "*",  [LOCEXPR_AND] = "&",
	    [LOCEXPR_OR] = "|",	 [LOCEXPR_XOR] = "^", [LOCEXPR_SHL] = "<<", [LOCEXPR_SHR] = ">>"};
	if (op == LOCEXPR_ADD && (!y->text.n || !x->text.n))
		return (struct operand){.text = x->text.n ? x->text : y->text,
					.off = x->off + y->off,
					.is_tight = x->text.n ? x->is_tight : y->is_tight};
	if (op == LOCEXPR_SUB && !y->text.n)
		return (struct operand){
		    .text = x->text, .off = x->off - y->off, .is_tight = x->is_tight};
	return (struct operand){.text = str_printf(a, "(" STR_FMT " %s " STR_FMT ")",
						   STR_ARG(tight_of(a, x)), signs[op],
						   STR_ARG(tight_of(a, y))),
				.is_tight = true};
}

static struct operand apply(struct arena *a, const struct locexpr_step *s, const struct operand *x)
{
	bool is_signed = s->op == LOCEXPR_SIGNED;
	struct str text;
	if (s->op == LOCEXPR_READ)
		text = str_printf(a, "(uint64)*(uint%u *)(" STR_FMT ")", (unsigned)s->n * 8,
				  STR_ARG(sum_of(a, x)));
	else if (s->op == LOCEXPR_NOT)
		text = str_printf(a, "~(uint64)" STR_FMT, STR_ARG(tight_of(a, x)));
	else if (s->n == 64)
		return *x;
	else
		text = str_printf(a, "(%sint64)(%sint%u)" STR_FMT, is_signed ? "" : "u",
				  is_signed ? "" : "u", (unsigned)s->n, STR_ARG(tight_of(a, x)));
	return (struct operand){.text = text};
}

/** What @e, which locexpr_read() took, is at @pc. */
static struct operand operand_of(struct arena *a, const struct img *img, uint64_t pc,
				 const struct locexpr *e)
{
	struct operand stack[16] = {0};
	size_t n = 0;
	for (size_t i = 0; i < e->steps.n; i++) {
		const struct locexpr_step *step = &e->steps.v[i];
		switch (step->op) {
		case LOCEXPR_NUMBER:
			stack[n++] = (struct operand){.off = (uint64_t)step->n};
			break;
		case LOCEXPR_REGISTER:
			stack[n++] = (struct operand){
			    .text =
				str_printf(a, "reg(\"%s\")",
					   argread_register(a, img->machine, (unsigned)step->n)),
			    .is_tight = true};
			break;
		case LOCEXPR_ADDRESS:
			stack[n++] = place_of(a, img, pc, (uint64_t)step->n);
			break;
		case LOCEXPR_READ:
		case LOCEXPR_UNSIGNED:
		case LOCEXPR_SIGNED:
		case LOCEXPR_NOT:
			stack[n - 1] = apply(a, step, &stack[n - 1]);
			break;
		default:
			n--;
			stack[n - 1] = join(a, step->op, &stack[n - 1], &stack[n]);
		}
	}
	return stack[0];
}

struct str argread_location(struct arena *a, const struct img *img, uint64_t pc,
			    const struct locexpr *e, unsigned size)
{
	struct operand o = operand_of(a, img, pc, e);
	if (!e->is_place)
		return tight_of(a, &o);
	return size ? str_printf(a, "*(uint%u *)(" STR_FMT ")", size * 8, STR_ARG(sum_of(a, &o)))
		    : sum_of(a, &o);
}

struct str argread_choose(struct arena *a, unsigned machine, const struct str *texts,
			  const uint64_t *pcs, size_t n)
{
	enum { PAGE = 4096, MOST = 16 };
	struct str all = texts[0];
	size_t n_texts = 1;
	for (size_t i = 1; i < n; i++) {
		struct str at = {0};
		bool is_known = str_eq(texts[i], texts[0]);
		for (size_t k = 0; k < n && !is_known; k++) {
			bool is_same = str_eq(texts[k], texts[i]);
			is_known = is_same && k < i;
			if (!is_same && pcs[k] % PAGE == pcs[i] % PAGE)
				return STR("");
			if (is_same)
				at =
				    str_printf(a, STR_FMT "%s(reg(\"%s\") & %d) == %d", STR_ARG(at),
					       at.n ? " || " : "", counter_of(machine), PAGE - 1,
					       (int)(pcs[k] % PAGE));
		}
		if (is_known)
			continue;
		if (n_texts++ == MOST)
			return STR("");
		all = str_printf(a, "(" STR_FMT " ? (uint64)" STR_FMT " : (uint64)" STR_FMT ")",
				 STR_ARG(at), STR_ARG(texts[i]), STR_ARG(all));
	}
	return all;
}
