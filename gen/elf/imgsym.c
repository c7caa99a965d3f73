#include "elf/imgsym.h"

#include <elf.h>
#include <string.h>

#include "base/reader.h"
#include "elf/debugfile.h"

/** Where a walk goes to; `go_on` turns false when it wants no more. */
struct walk {
	bool objects;	   // variables, too
	bool own, others;  // of the image itself only, or of none of its own
	struct str wanted; // not empty: any symbol of this name, and no others
	bool undefined;	   // if it is another file's
	bool (*fn)(void *ctx, const struct img_symbol *sym);
	void *ctx;
	bool go_on;
};

static void walk_symbol(struct walk *w, struct str name, unsigned info, unsigned section,
			uint64_t addr, uint64_t size)
{
	// The low four bits are the type in both classes.
	unsigned type = info & 0xf;
	bool wanted =
	    type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_OBJECT && w->objects);
	if (w->wanted.n ? (w->undefined && section != SHN_UNDEF) ||
			      !str_eq(str_slice(name, 0, str_find(name, '@')), w->wanted)
			: !wanted || section == SHN_UNDEF || !name.n)
		return;
	// The others are the binding.
	struct img_symbol sym = {.name = str_slice(name, 0, str_find(name, '@')),
				 .addr = addr,
				 .size = size,
				 .is_local = info >> 4 == STB_LOCAL,
				 .is_ifunc = type == STT_GNU_IFUNC};
	if (sym.name.n)
		w->go_on = w->fn(w->ctx, &sym);
}

/** One symbol table of @img itself, gABI "Symbol Table". */
static void walk_table(struct img *img, const char *section, struct walk *w)
{
	struct img_section table, strings;
	if (!w->go_on || !img_find_section(img, section, &table) || !table.data.n)
		return;
	if (!img_header_at(img, table.link, &strings) || strings.type != SHT_STRTAB) {
		struct diag_place at = img_place(img, table.name, 0);
		diag_error(img->diag, &at, "the symbol table has no string table");
		return;
	}
	if (!img_read_section(img, &strings))
		return;

	size_t entry = img->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct reader r;
	reader_init(&r, table.data.p, table.data.n / entry * entry, img->big);
	while (w->go_on && !reader_at_end(&r)) {
		uint64_t addr = 0, size = 0;
		uint32_t name = reader_u32(&r);
		if (!img->is64) {
			addr = reader_u32(&r);
			size = reader_u32(&r);
		}
		unsigned info = reader_u8(&r);
		reader_u8(&r); // visibility
		unsigned index = reader_u16(&r);
		if (img->is64) {
			addr = reader_u64(&r);
			size = reader_u64(&r);
		}
		if (name >= strings.data.n)
			continue;
		const char *p = strings.data.p + name;
		struct str s = {p, strnlen(p, strings.data.n - name)};
		walk_symbol(w, s, info, index, addr, size);
	}
}

/**
 * The xz-compressed symbol table that Fedora leaves in stripped programs (GDB's manual,
 * "MiniDebugInfo"); libdwfl unpacks it.
 */
static void walk_gnu_debugdata(struct img *img, struct walk *w)
{
	struct img_section s;
	struct debuginfo *di;
	if (!w->go_on || !img_find_header(img, ".gnu_debugdata", &s) || !img_check_unpacked(img) ||
	    !debuginfo_open_module(img, &di))
		return;
	int n = debuginfo_count_symbols(di);
	// libdwfl says nothing of symbols that it cannot unpack: those of .dynsym are then all.
	size_t entry = img->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t n_dynamic = img_find_header(img, ".dynsym", &s) ? s.size / entry : 0;
	if ((n < 0 || (uint64_t)n <= n_dynamic) && !di->reported_unread) {
		di->reported_unread = true;
		diag_warning(img->diag, &(struct diag_place){.file = img->display_path},
			     "its .gnu_debugdata adds no symbols: empty, corrupt or too large");
	}
	for (int i = 0; i < n && w->go_on; i++) {
		GElf_Sym sym;
		GElf_Addr addr;
		GElf_Word section;
		const char *name =
		    dwfl_module_getsym_info(di->module, i, &sym, &addr, &section, NULL, NULL);
		if (name)
			walk_symbol(w, str_from(name), sym.st_info, section, addr, sym.st_size);
	}
}

/** .dynsym first, as its section is before that of .symtab: so bcc walks them. */
static void walk_all(struct img *img, struct walk w)
{
	struct img_section s;
	struct img *separate;
	bool stripped = !img_find_header(img, ".symtab", &s) || s.type == SHT_NOBITS;
	if (!w.others)
		walk_table(img, ".dynsym", &w);
	if (!w.others && !stripped)
		walk_table(img, ".symtab", &w);
	if (!w.go_on || !stripped || w.own)
		return;
	if (img_separate_file(img, &separate) && img_find_header(separate, ".symtab", &s))
		walk_table(separate, ".symtab", &w);
	else
		walk_gnu_debugdata(img, &w);
}

void img_walk_functions(struct img *img, bool (*fn)(void *ctx, const struct img_symbol *sym),
			void *ctx)
{
	walk_all(img, (struct walk){.fn = fn, .ctx = ctx, .go_on = true});
}

void img_walk_symbols(struct img *img, bool (*fn)(void *ctx, const struct img_symbol *sym),
		      void *ctx)
{
	walk_all(img, (struct walk){.objects = true, .fn = fn, .ctx = ctx, .go_on = true});
}

void img_walk_part(struct img *img, bool own, bool (*fn)(void *ctx, const struct img_symbol *sym),
		   void *ctx)
{
	walk_all(
	    img,
	    (struct walk){
		.objects = true, .own = own, .others = !own, .fn = fn, .ctx = ctx, .go_on = true});
}

static bool take_any(void *ctx, const struct img_symbol *sym)
{
	(void)sym;
	*(bool *)ctx = true;
	return false;
}

bool img_has_symbol(struct img *img, struct str name, bool undefined)
{
	bool found = false;
	walk_all(img, (struct walk){.wanted = name,
				    .undefined = undefined,
				    .fn = take_any,
				    .ctx = &found,
				    .go_on = true});
	return found;
}

/** A symbol that is looked for: by its name, or by what it has to do with an address. */
struct wanted {
	enum { BY_NAME, STARTS_AT, STARTS_GLOBAL_AT, COVERS } how;
	struct str name;
	bool found;
	uint64_t addr;
};

static bool match(void *ctx, const struct img_symbol *sym)
{
	struct wanted *w = ctx;
	bool starts = sym->addr == w->addr;
	w->found = w->how == BY_NAME	 ? str_eq(sym->name, w->name)
		   : w->how == COVERS	 ? w->addr - sym->addr < sym->size
		   : w->how == STARTS_AT ? starts
					 : starts && !sym->is_local;
	if (w->found && w->how == BY_NAME)
		w->addr = sym->addr;
	return !w->found;
}

bool img_find_function(struct img *img, struct str name, uint64_t *ret)
{
	struct wanted w = {.name = name};
	img_walk_functions(img, match, &w);
	if (w.found)
		*ret = w.addr;
	return w.found;
}

bool img_is_function(struct img *img, uint64_t addr)
{
	struct wanted w = {.how = STARTS_AT, .addr = addr};
	img_walk_functions(img, match, &w);
	return w.found;
}

bool img_is_local(struct img *img, uint64_t addr)
{
	struct wanted w = {.how = STARTS_GLOBAL_AT, .addr = addr};
	img_walk_functions(img, match, &w);
	return !w.found;
}

bool img_covers(struct img *img, uint64_t addr, bool own)
{
	struct wanted w = {.how = COVERS, .addr = addr};
	walk_all(img,
		 (struct walk){.objects = true, .own = own, .fn = match, .ctx = &w, .go_on = true});
	return w.found;
}

bool img_find_ifunc_slot(struct img *img, uint64_t addr, uint64_t *ret)
{
	struct img_section s;
	uint32_t wanted = img->machine == EM_AARCH64 ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE;
	for (unsigned i = 1; img->is64 && img_next_header(img, &i, &s);) {
		if (s.type != SHT_RELA || !img_read_section(img, &s))
			continue;
		struct reader r;
		size_t entry = sizeof(Elf64_Rela);
		reader_init(&r, s.data.p, s.data.n / entry * entry, img->big);
		while (!reader_at_end(&r)) {
			uint64_t slot = reader_u64(&r), info = reader_u64(&r);
			if (reader_u64(&r) != addr || (uint32_t)info != wanted)
				continue;
			*ret = slot;
			return true;
		}
	}
	return false;
}
