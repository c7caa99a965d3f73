#include "elf/imgsym.h"

#include <elf.h>

#include "elf/debugfile.h"

/** Where a walk goes to; `go_on` turns false when it wants no more. */
struct walk {
	unsigned which; // IMG_*
	img_symbol_fn *fn;
	void *ctx;
	bool go_on;
};

static void walk_symbol(struct walk *w, struct str name, unsigned info, unsigned section,
			uint64_t addr, uint64_t size)
{
	// The low four bits are the type in both classes, the others the binding.
	unsigned type = info & 0xf;
	bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC;
	bool fits = is_code || (type == STT_OBJECT && w->which & IMG_VARIABLES);
	struct img_symbol sym = {.name = str_slice(name, 0, str_find(name, '@')),
				 .addr = addr,
				 .size = size,
				 .is_local = info >> 4 == STB_LOCAL,
				 .is_undefined = section == SHN_UNDEF,
				 .is_ifunc = type == STT_GNU_IFUNC};
	if (sym.name.n && (w->which & IMG_ANY || (fits && !sym.is_undefined)))
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
	// libdwfl does not report symbols that it cannot unpack: then those of .dynsym are all.
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

// .dynsym first, as its section is before that of .symtab: so bcc walks them.
void img_walk(struct img *img, unsigned which, img_symbol_fn *fn, void *ctx)
{
	struct walk w = {.which = which, .fn = fn, .ctx = ctx, .go_on = true};
	struct img_section s;
	struct img *separate;
	bool stripped = !img_find_header(img, ".symtab", &s) || s.type == SHT_NOBITS;
	if (!(which & IMG_OTHERS))
		walk_table(img, ".dynsym", &w);
	if (!(which & IMG_OTHERS) && !stripped)
		walk_table(img, ".symtab", &w);
	if (!w.go_on || !stripped || which & IMG_OWN)
		return;
	if (img_separate_file(img, &separate) && img_find_header(separate, ".symtab", &s))
		walk_table(separate, ".symtab", &w);
	else
		walk_gnu_debugdata(img, &w);
}

/** A symbol that is looked for: by its name, or by what it has to do with an address. */
struct wanted {
	enum { BY_NAME, UNDEFINED, STARTS_AT, STARTS_GLOBAL_AT, COVERS } how;
	struct str name;
	uint64_t addr;
	bool found;
};

static bool match(void *ctx, const struct img_symbol *sym)
{
	struct wanted *w = ctx;
	bool starts = sym->addr == w->addr, is_named = str_eq(sym->name, w->name);
	w->found = w->how == BY_NAME	 ? is_named
		   : w->how == UNDEFINED ? is_named && sym->is_undefined
		   : w->how == COVERS	 ? w->addr - sym->addr < sym->size
		   : w->how == STARTS_AT ? starts
					 : starts && !sym->is_local;
	if (w->found && w->how == BY_NAME)
		w->addr = sym->addr;
	return !w->found;
}

static bool find_symbol(struct img *img, unsigned which, struct wanted *w)
{
	img_walk(img, which, match, w);
	return w->found;
}

bool img_has_symbol(struct img *img, struct str name, bool undefined)
{
	struct wanted w = {.how = undefined ? UNDEFINED : BY_NAME, .name = name};
	return find_symbol(img, IMG_ANY, &w);
}

bool img_find_function(struct img *img, struct str name, uint64_t *ret)
{
	struct wanted w = {.how = BY_NAME, .name = name};
	bool found = find_symbol(img, IMG_FUNCTIONS, &w);
	*ret = found ? w.addr : *ret;
	return found;
}

bool img_is_function(struct img *img, uint64_t addr)
{
	return find_symbol(img, IMG_FUNCTIONS, &(struct wanted){.how = STARTS_AT, .addr = addr});
}

bool img_is_local(struct img *img, uint64_t addr)
{
	return !find_symbol(img, IMG_FUNCTIONS,
			    &(struct wanted){.how = STARTS_GLOBAL_AT, .addr = addr});
}

bool img_covers(struct img *img, uint64_t addr, bool own)
{
	unsigned which = IMG_VARIABLES | (own ? IMG_OWN : 0);
	return find_symbol(img, which, &(struct wanted){.how = COVERS, .addr = addr});
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
