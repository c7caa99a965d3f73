#include "probe/attachable.h"

#include <elf.h>

#include "dialect/dialect.h"
#include "elf/imgsym.h"

bool attachable_has_name(const struct sdt_probe *p, unsigned version)
{
	return dialect_can_name(version, p->provider, p->name);
}

/** The first operand that libbpf does not read, in words; empty where it reads them all. */
static struct str find_unreadable(struct arena *a, unsigned machine, const struct sdt_probe *p)
{
	for (size_t i = 0; i < p->n_sites; i++) {
		struct sdtarg *args;
		size_t n;
		sdtarg_parse(a, machine, p->sites[i].args, &args, &n);
		for (size_t k = 0; k < n; k++) {
			if (args[k].is_beyond_libbpf && sdtarg_has_odd_size(&args[k]))
				return str_printf(a, "it cannot read arg%zu, which has %u bytes", k,
						  args[k].size);
			if (args[k].is_beyond_libbpf)
				return str_printf(a,
						  "it cannot read the location of arg%zu, " STR_FMT,
						  k, STR_ARG(str_printable(a, args[k].text)));
		}
	}
	return STR("");
}

/** The symbols of the code at an address; and whether the first of such a name is of other code, in any part. */
struct covering {
	struct arena *arena;
	uint64_t addr;
	struct map names, seen;
	struct str shadowed; // the name
};

static bool add_covering(void *ctx, const struct img_symbol *sym)
{
	struct covering *c = ctx;
	if (c->addr - sym->addr < sym->size)
		map_add(c->arena, &c->names, sym->name);
	return true;
}

static bool find_first(void *ctx, const struct img_symbol *sym)
{
	struct covering *c = ctx;
	if (map_get(&c->names, sym->name) && map_add(c->arena, &c->seen, sym->name) &&
	    c->addr - sym->addr >= sym->size)
		c->shadowed = sym->name;
	return !c->shadowed.n;
}

struct str attachable_shadow(struct arena *a, struct img *img, uint64_t addr)
{
	struct covering c = {.arena = a, .addr = addr};
	img_walk(img, IMG_VARIABLES, add_covering, &c);
	for (int own = 1; own >= 0 && c.names.n && !c.shadowed.n; own--) {
		c.seen = (struct map){0};
		img_walk(img, IMG_VARIABLES | (own ? IMG_OWN : IMG_OTHERS), find_first, &c);
	}
	return c.shadowed;
}

/** What a program that must not have return probes refers to. */
static const struct {
	const char *symbol, *what, *unless;
	bool is_of_others; // who defines it does not use it
} dangers[] = {
    {"__gxx_personality_v0", "C++ exceptions", "none is thrown through the traced functions",
     false},
    {"rust_eh_personality", "Rust panics", "none passes the traced functions", false},
    {"runtime.morestack", "Go stacks, which move", "no stack moves meanwhile", false},
    {"makecontext", "coroutines", "none runs meanwhile", true}, // the C library's
    {"make_fcontext", "coroutines", "none runs meanwhile", false},
};

const char *attachable_danger(struct img *img, const char **unless)
{
	for (size_t i = 0; i < sizeof(dangers) / sizeof(dangers[0]); i++)
		if (img_has_symbol(img, str_from(dangers[i].symbol), dangers[i].is_of_others)) {
			*unless = dangers[i].unless;
			return dangers[i].what;
		}
	return NULL;
}

/**
 * Linux 4.1 to 6.18 looks up the opcode of an AVX instruction as if it had one byte: it refuses those
 * that good_insns_64 does not have, and takes others for what they are not. Measured on 6.18: a store that has the opcode of a
 * jump and a gather that has the one of nop are not executed, and the program goes on without them; one that has that of
 * ret or popf ends it by a signal.
 */
static bool is_bad_avx(uint8_t opcode)
{
	static const uint8_t refused[] = {
	    0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x62,
	    0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xcc, 0xcd, 0xce, 0xcf, 0xd4, 0xd5, 0xd6, 0xe4,
	    0xe5, 0xe6, 0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb};
	// Jumps, nop, popf, and four kinds of ret.
	static const uint8_t taken[] = {0xe8, 0xe9, 0xeb, 0x90, 0x9d, 0xc2, 0xc3, 0xca, 0xcb};
	return (opcode & 0xf0) == 0x70 || memchr(taken, opcode, sizeof(taken)) ||
	       memchr(refused, opcode, sizeof(refused));
}

const char *attachable_refusal(struct img *img, uint64_t addr, bool is_return)
{
	enum { LONGEST = 15 }; // bytes of an instruction
	uint8_t code[LONGEST];
	uint64_t off;
	size_t n = img->machine == EM_X86_64 ? img_read_code(img, addr, code, LONGEST, &off) : 0;
	if (is_return && addr == img->entry)
		return "a return probe there changes the program's arguments";
	for (size_t i = 0; i < n; i++) {
		switch (code[i]) {
		case 0xf0:
			return "Linux cannot probe an instruction with a lock prefix";
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			return "Linux cannot probe an instruction with a segment prefix";
		case 0x64: // %fs and %gs
		case 0x65:
		case 0x66: // sizes, repetitions
		case 0x67:
		case 0xf2:
		case 0xf3:
			continue;
		case 0xc5: // VEX and EVEX
		case 0xc4:
		case 0x62:
			i += code[i] == 0xc5 ? 2 : code[i] == 0xc4 ? 3 : 4;
			return i < n && is_bad_avx(code[i])
				   ? "Linux cannot probe this AVX instruction"
				   : NULL;
		default:
			return NULL;
		}
	}
	return NULL;
}

bool attachable_site(struct arena *a, struct img *img, const struct sdt_site *s, uint64_t *ret,
		     bool *is_unsafe)
{
	*is_unsafe = !img_covers(img, s->pc, true);
	*ret = *is_unsafe ? s->off : s->pc;
	return !attachable_shadow(a, img, s->pc).n &&
	       (!*is_unsafe || s->pc == s->off ||
		!(img_covers(img, s->pc, false) || img_covers(img, s->off, false)));
}

/** Why its sites cannot be attached to by their addresses. */
static struct str why_not_by_address(struct arena *a, struct img *img, const struct sdt_probe *p,
				     struct str unreadable)
{
	for (size_t i = 0; i < p->n_sites; i++) {
		uint64_t address;
		bool is_unsafe;
		if (p->sites[i].semaphore)
			return str_printf(a, STR_FMT ", and by address it raises no semaphore",
					  STR_ARG(unreadable));
		if (p->sites[i].doubt == SDT_NOT_A_NOP ||
		    !attachable_site(a, img, &p->sites[i], &address, &is_unsafe))
			return str_printf(a, STR_FMT ", and by address it may attach to other code",
					  STR_ARG(unreadable));
	}
	return STR("");
}

struct str attachable_why_not(struct arena *a, struct img *img, const struct sdt_probe *p,
			      unsigned version)
{
	if (!attachable_has_name(p, version))
		return STR("its name has characters that an attach point cannot have");
	if (!dialect_has_libbpf_usdt(version))
		return STR("");
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].doubt == SDT_NO_CODE)
			return STR("the file has no code at one of its sites");
	struct str unreadable = find_unreadable(a, img->machine, p);
	return unreadable.n ? why_not_by_address(a, img, p, unreadable) : unreadable;
}

bool attachable_by_address(struct arena *a, unsigned machine, const struct sdt_probe *p,
			   unsigned version)
{
	return dialect_has_libbpf_usdt(version) && find_unreadable(a, machine, p).n > 0;
}

bool attachable_by_all(const struct sdt_probe *p, const struct probeargs *pa)
{
	bool good = attachable_has_name(p, DIALECT_OLDEST);
	for (size_t i = 0; i < pa->n_sites && good; i++) {
		good = p->sites[i].doubt != SDT_NO_CODE;
		for (size_t k = 0; k < pa->sites[i].n_args; k++)
			good &= !pa->sites[i].args[k].operand.is_beyond_libbpf;
	}
	return good;
}
