#include "types/dwsplit.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

/** What is in dwsrc's map of missing files. */
static const char GONE[] = "gone", UNREADABLE[] = "unreadable";

bool dwsplit_is_whole(Dwarf_Die *split)
{
	static const char *const names[] = {".debug_info.dwo", ".debug_types.dwo"};
	Dwarf *dbg = dwarf_cu_getdwarf(split->cu);
	Elf *elf = dbg ? dwarf_getelf(dbg) : NULL;
	unsigned n[2] = {0};
	size_t strings;
	if (!elf || elf_getshdrstrndx(elf, &strings) != 0)
		return false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		const char *name =
		    gelf_getshdr(scn, &shdr) ? elf_strptr(elf, strings, shdr.sh_name) : NULL;
		for (unsigned i = 0; i < 2 && name; i++)
			n[i] += strcmp(name, names[i]) == 0;
	}
	return n[0] <= 1 && n[1] <= 1;
}

struct str dwsplit_name(Dwarf_Die *skeleton)
{
	Dwarf_Attribute at;
	const char *name = NULL;
	if (dwarf_attr(skeleton, DW_AT_dwo_name, &at) ||
	    dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &at))
		name = dwarf_formstring(&at);
	return name ? str_from(name) : dwsrc_unit_name(skeleton);
}

/** Where libdw looks for it: in the folder of the compilation, and beside the program. */
static bool is_there(struct dwsrc *src, Dwarf_Die *skeleton, struct str name)
{
	Dwarf_Attribute at;
	const char *dir = NULL;
	struct arena *a = src->arena;
	if (dwarf_attr(skeleton, DW_AT_comp_dir, &at))
		dir = dwarf_formstring(&at);
	if (access(str_dup(a, name), R_OK) == 0)
		return true;
	if (dir && access(arena_printf(a, "%s/" STR_FMT, dir, STR_ARG(name)), R_OK) == 0)
		return true;
	struct str path = src->img->path;
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	return access(arena_printf(a, STR_FMT STR_FMT, STR_ARG(path), STR_ARG(name)), R_OK) == 0;
}

void dwsplit_add_missing(struct dwsrc *src, Dwarf_Die *skeleton)
{
	struct str name = dwsplit_name(skeleton);
	if (map_get(&src->missing, name))
		return;
	const char *why = is_there(src, skeleton, name) ? UNREADABLE : GONE;
	map_put(src->arena, &src->missing, name, (void *)(uintptr_t)why);
	src->n_missing++;
}

void dwsplit_say_missing(struct dwsrc *src)
{
	unsigned n_gone = 0, n_unreadable = 0;
	struct str gone = {0}, unreadable = {0};
	for (struct map_entry *e = NULL; (e = map_next(&src->missing, e));) {
		bool is_gone = e->value == (void *)(uintptr_t)GONE;
		unsigned *n = is_gone ? &n_gone : &n_unreadable;
		if (!(*n)++)
			*(is_gone ? &gone : &unreadable) = e->key;
	}
	if (n_gone)
		diag_note(src->diag, NULL,
			  "%u units keep their types in split files that are not there, e.g. "
			  "\"" STR_FMT "\"",
			  n_gone, STR_ARG(gone));
	if (n_unreadable)
		diag_note(
		    src->diag, NULL,
		    "%u units keep their types in split files that this libdw (%s) does not "
		    "read, e.g. \"" STR_FMT
		    "\": they are of another build, or have type units (-fdebug-types-section)",
		    n_unreadable, dwfl_version(NULL), STR_ARG(unreadable));
	const struct img *img = src->img;
	const char *dwp = arena_printf(src->arena, STR_FMT ".dwp", STR_ARG(img->path));
	if (src->n_missing && access(dwp, R_OK) == 0)
		diag_note(src->diag, NULL,
			  STR_FMT ".dwp is there, but this libdw (%s) does not read such files",
			  STR_ARG(img->shown), dwfl_version(NULL));
}
