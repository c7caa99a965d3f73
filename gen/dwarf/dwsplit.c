#include "dwarf/dwsplit.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

/** What is in dwsrc's map of missing files. */
static const char GONE[] = "gone", UNREADABLE[] = "unreadable";

bool dwsplit_unit(Dwarf_Die *unit, Dwarf_Die *ret)
{
	uint8_t kind;
	*ret = (Dwarf_Die){0};
	return dwarf_cu_info(unit->cu, NULL, &kind, NULL, ret, NULL, NULL, NULL) == 0 &&
	       kind == DW_UT_skeleton;
}

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

/** In the folder of the compilation, or beside the program. */
static bool is_there(struct dwsrc *src, Dwarf_Die *skeleton)
{
	Dwarf_Attribute at;
	struct arena *a = src->arena;
	struct str name = dwsplit_name(skeleton), beside = src->img->path;
	if (name.n && name.p[0] == '/')
		return access(str_dup(a, name), R_OK) == 0;
	while (beside.n && beside.p[beside.n - 1] != '/')
		beside.n--;
	const char *dir = NULL;
	if (dwarf_attr(skeleton, DW_AT_comp_dir, &at))
		dir = dwarf_formstring(&at);
	const char *path = arena_printf(a, "%s/" STR_FMT, dir ? dir : ".", STR_ARG(name));
	if (access(path, R_OK) == 0)
		return true;
	path = arena_printf(a, STR_FMT STR_FMT, STR_ARG(beside), STR_ARG(name));
	return access(path, R_OK) == 0;
}

void dwsplit_add_missing(struct dwsrc *src, Dwarf_Die *skeleton)
{
	struct str name = dwsplit_name(skeleton);
	if (map_get(&src->missing, name))
		return;
	const char *why = is_there(src, skeleton) ? UNREADABLE : GONE;
	map_put(src->arena, &src->missing, name, (void *)(uintptr_t)why);
}

/** How many files are missing for that reason, and the first of them. */
static unsigned count(const struct dwsrc *src, const char *why, struct str *first)
{
	unsigned n = 0;
	for (struct map_entry *e = NULL; (e = map_next(&src->missing, e));)
		if (e->value == why && !n++)
			*first = e->key;
	return n;
}

void dwsplit_say_missing(struct dwsrc *src)
{
	struct str name;
	unsigned n = count(src, GONE, &name);
	if (n)
		diag_note(
		    src->diag, NULL,
		    "%u units keep their types in split files that are not there, e.g. \"" STR_FMT
		    "\"",
		    n, STR_ARG(name));
	n = count(src, UNREADABLE, &name);
	if (n)
		diag_note(
		    src->diag, NULL,
		    "%u units keep their types in split files that cannot be read, e.g. \"" STR_FMT
		    "\": of another build, corrupt, or with type units (build without "
		    "-fdebug-types-section)",
		    n, STR_ARG(name));
	const struct img *img = src->img;
	const char *dwp = arena_printf(src->arena, STR_FMT ".dwp", STR_ARG(img->path));
	if (src->missing.n && access(dwp, R_OK) == 0)
		diag_note(src->diag, NULL,
			  STR_FMT
			  ".dwp is there, but does not have them, or this elfutils cannot read it "
			  "(0.192 can): keep the .dwo files",
			  STR_ARG(img->shown));
}
