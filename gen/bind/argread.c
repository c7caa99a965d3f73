#include "bind/argread.h"

#include <elf.h>
#include <inttypes.h>

#include "bind/byaddress.h"
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

static const char *register_of(struct arena *a, struct img *img, struct str name, bool parts)
{
	return img->machine == EM_AARCH64 ? arm64_register_of(a, name, parts)
					  : x86_register_of(name, parts);
}

struct search {
	struct str name;
	uint64_t addr;
	bool is_found, is_ambiguous;
};

static bool try_symbol(void *ctx, const struct img_symbol *sym)
{
	struct search *s = ctx;
	if (!str_eq(sym->name, s->name))
		return true;
	s->is_ambiguous |= s->is_found && sym->addr != s->addr;
	s->is_found = true;
	s->addr = sym->addr;
	return !s->is_ambiguous;
}

/**
 * How far behind the site at @pc the symbol is, wherever the file is loaded; statics of several
 * units may have one name.
 */
static bool distance_to(struct img *img, uint64_t pc, struct str symbol, uint64_t *ret)
{
	struct search s = {.name = symbol};
	img_walk_symbols(img, try_symbol, &s);
	*ret = s.addr - pc;
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
	uint64_t disp = (uint64_t)arg->disp, distance;
	if (arg->symbol.n && !arg->base.n && !arg->index.n &&
	    distance_to(img, pc, arg->symbol, &distance)) {
		base = img->machine == EM_AARCH64 ? "pc" : "ip";
		disp += distance;
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
		is_needed |= byaddress_is(b, &c->probes.v[i]);
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
