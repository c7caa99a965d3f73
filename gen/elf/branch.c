#include "elf/branch.h"

#include <elf.h>

#include "elf/imgsym.h"

/** Of a function that only leads to another one; and entries of a PLT, each of which is a walk over all. */
enum { MOST_CODE = 4096, MOST_ENTRIES = 64 };

static int32_t read_i32(const uint8_t *p)
{
	int32_t ret;
	memcpy(&ret, p, sizeof(ret));
	return ret;
}

/** The name of the symbol number @index of .dynsym; empty: it has none. */
static struct str name_of(struct img *img, uint64_t index)
{
	struct img_section symbols, names;
	if (!img_find_section(img, ".dynsym", &symbols) ||
	    !img_find_section(img, ".dynstr", &names) ||
	    index >= symbols.data.n / sizeof(Elf64_Sym))
		return STR("");
	struct reader r;
	reader_init(&r, symbols.data.p + index * sizeof(Elf64_Sym), sizeof(Elf64_Sym), img->big);
	uint32_t at = reader_u32(&r);
	reader_init(&r, names.data.p, names.data.n, img->big);
	reader_skip(&r, at);
	struct str ret = reader_cstr(&r);
	return r.err ? STR("") : ret;
}

/** Is @target the function that the loader puts into the word at link-time address @slot? */
static bool slot_leads_to(struct img *img, uint64_t slot, uint64_t target)
{
	struct img_section s;
	uint64_t found;
	if (!img_find_section(img, ".rela.plt", &s))
		return false;
	struct reader r;
	reader_init(&r, s.data.p, s.data.n / sizeof(Elf64_Rela) * sizeof(Elf64_Rela), img->big);
	while (!reader_at_end(&r)) {
		uint64_t at = reader_u64(&r), info = reader_u64(&r);
		reader_skip(&r, sizeof(uint64_t));
		if (at == slot)
			return img_find_function(img, name_of(img, ELF64_R_SYM(info)), &found) &&
			       found == target;
	}
	return false;
}

/** Is @at the function, or its entry in the PLT: a jump by a word, after what marks a target of jumps? */
static bool is_target(struct img *img, uint64_t at, uint64_t target, unsigned *n_entries)
{
	uint8_t code[16];
	uint64_t off;
	if (at == target)
		return true;
	size_t n = img_read_code(img, at, code, sizeof(code), &off), i = 0;
	if (n < sizeof(code))
		return false;
	i += memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0; // endbr64
	i += code[i] == 0xf2;				       // bnd
	return code[i] == 0xff && code[i + 1] == 0x25 && ++*n_entries <= MOST_ENTRIES &&
	       slot_leads_to(img, at + i + 6 + (uint64_t)(int64_t)read_i32(code + i + 2), target);
}

/** Intel's manual, volume 2: call and jmp with four bytes, a conditional jump, at the end jmp with one. */
static bool leads_on_x86(struct img *img, const uint8_t *code, size_t n, uint64_t addr,
			 uint64_t target)
{
	unsigned n_entries = 0;
	for (size_t i = 0; i + 5 <= n; i++) {
		bool is_near = code[i] == 0xe8 || code[i] == 0xe9 ||
			       (i && code[i - 1] == 0x0f && (code[i] & 0xf0) == 0x80);
		if (is_near &&
		    is_target(img, addr + i + 5 + (uint64_t)(int64_t)read_i32(code + i + 1), target,
			      &n_entries))
			return true;
	}
	return n >= 2 && code[n - 2] == 0xeb &&
	       addr + n + (uint64_t)(int64_t)(int8_t)code[n - 1] == target;
}

/** Arm's manual, B and BL: 26 bits of words. */
static bool leads_on_arm(const uint8_t *code, size_t n, uint64_t addr, uint64_t target)
{
	for (size_t i = 0; i + 4 <= n; i += 4) {
		uint32_t word = (uint32_t)read_i32(code + i);
		int64_t by = (int64_t)((uint64_t)word << 38) >> 36;
		if ((word & 0x7c000000) == 0x14000000 && addr + i + (uint64_t)by == target)
			return true;
	}
	return false;
}

bool branch_leads_to(struct img *img, uint64_t addr, uint64_t size, uint64_t target)
{
	uint64_t off;
	size_t most = size < MOST_CODE ? size : MOST_CODE;
	uint8_t *code = arena_array(img->arena, uint8_t, most + 1);
	size_t n = img_read_code(img, addr, code, most, &off);
	return img->machine == EM_X86_64    ? leads_on_x86(img, code, n, addr, target)
	       : img->machine == EM_AARCH64 ? leads_on_arm(code, n, addr, target)
					    : false;
}
