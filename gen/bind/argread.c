#include "bind/argread.h"

#include <elf.h>
#include <inttypes.h>

#include "out/dialect.h"

/**
 * What bpftrace calls the register that @name is, or with @parts is a part of: "r13" of r13d. Empty for ah, and for what holds no
 * whole numbers.
 */
static const char *register_of(struct str name, bool parts)
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

/** The address of what is in memory; NULL when it is not counted from a register. */
static const char *address_of(struct arena *a, const struct sdtarg *arg)
{
	const char *base = register_of(arg->base, false), *index = register_of(arg->index, false);
	if (!base || arg->symbol.n || (arg->index.n && !index))
		return NULL;
	const char *sum = arena_printf(a, "reg(\"%s\")", base);
	if (index)
		sum = arena_printf(a, "%s + reg(\"%s\") * %u", sum, index, arg->scale);
	uint64_t disp = (uint64_t)arg->disp;
	return arena_printf(a, "%s %c %" PRIu64, sum, arg->disp < 0 ? '-' : '+',
			    arg->disp < 0 ? -disp : disp);
}

/** Its bits, of which more than its size may be there. */
static const char *bits_of(struct arena *a, const struct sdtarg *arg)
{
	const char *from;
	switch (arg->kind) {
	case SDTARG_CONST:
		return arena_printf(a, "(%" PRId64 ")", arg->value);
	case SDTARG_REG:
		from = register_of(arg->base, true);
		return from ? arena_printf(a, "reg(\"%s\")", from) : NULL;
	case SDTARG_MEM:
		from = address_of(a, arg);
		return from ? arena_printf(a, "*(uint%u *)(%s)", arg->size * 8, from) : NULL;
	default:
		return NULL;
	}
}

struct str argread_text(struct arena *a, unsigned machine, const struct sdtarg *arg)
{
	unsigned size = arg->size;
	bool is_known = size == 1 || size == 2 || size == 4 || size == 8;
	const char *bits = NULL, *sign = arg->is_signed ? "" : "u";
	if (machine == EM_X86_64 && is_known && !arg->is_float)
		bits = bits_of(a, arg);
	if (!bits)
		return STR("");
	return str_from(size == 8
			    ? arena_printf(a, "(%sint64)%s", sign, bits)
			    : arena_printf(a, "(%sint64)(%sint%u)%s", sign, sign, size * 8, bits));
}

bool argread_join(struct arena *a, unsigned machine, const struct sdtarg *arg, struct str *text)
{
	struct str before = *text;
	*text = argread_text(a, machine, arg);
	return text->n && (!before.n || str_eq(before, *text));
}

struct str argread_find(struct bind *b, const struct attach_clause *c, unsigned n,
			struct str *place)
{
	struct str text = STR("");
	if (c->has_other || c->has_uprobe || n <= dialect_max_arg(b->version) ||
	    dialect_has_libbpf_usdt(b->version))
		return text;
	for (size_t i = 0; i < c->probes.n; i++) {
		const struct attach_match *m = &c->probes.v[i];
		unsigned machine = m->image->img->machine;
		for (size_t k = 0; k < m->probe->n_sites; k++) {
			struct sdtarg *args;
			size_t n_args;
			sdtarg_parse(b->arena, machine, m->probe->sites[k].args, &args, &n_args);
			if (n >= n_args)
				return STR("");
			*place = args[n].text;
			if (!argread_join(b->arena, machine, &args[n], &text))
				return STR("");
		}
	}
	return text;
}
