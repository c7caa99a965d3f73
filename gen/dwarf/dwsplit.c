#include "dwarf/dwsplit.h"

#include <dwarf.h>
#include <gelf.h>

#include "base/file.h"
#include "elf/debugfile.h"
#include "dwarf/dwsrc_priv.h"

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
	const char *name = dwsrc_string(skeleton, DW_AT_dwo_name);
	name = name ? name : dwsrc_string(skeleton, DW_AT_GNU_dwo_name);
	return name ? str_from(name) : dwsrc_unit_name(skeleton);
}

enum { MAX_PLACES = 2 };

/**
 * Where libdw looks for the file of @skeleton, which it does by itself: beside the file with the
 * skeleton, and in the directory of the compilation. Returns how many there are.
 */
static unsigned find_places(struct arena *a, struct dwsrc *src, Dwarf_Die *skeleton,
			    const char *ret[MAX_PLACES])
{
	struct img *file;
	char link[FILE_PATH_OF], beside[4096];
	struct str name = dwsplit_name(skeleton);
	ret[0] = str_dup(a, name);
	if (name.n && name.p[0] == '/')
		return 1;
	file_path_of(img_debugfile(src->img, &file) ? file->fd : src->img->fd, link);
	ssize_t n = readlink(link, beside, sizeof(beside));
	struct str directory = str_dir((struct str){beside, n > 0 ? (size_t)n : 0});
	const char *dir = dwsrc_string(skeleton, DW_AT_comp_dir);
	ret[0] = arena_printf(a, STR_FMT STR_FMT, STR_ARG(directory), STR_ARG(name));
	ret[1] = arena_printf(a, STR_FMT "%s/" STR_FMT,
			      STR_ARG(dir && *dir == '/' ? STR("") : directory), dir ? dir : ".",
			      STR_ARG(name));
	return 2;
}

/**
 * False for what libdw would wait for or fill the memory with: FIFOs, devices, and ELF files that
 * are too large. What cannot be opened or is no ELF file costs nothing; libdw goes on to the next
 * place.
 */
static bool may_open(struct arena *a, const char *path)
{
	struct diag quiet;
	struct img *img;
	const char *why;
	uint64_t size;
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return errno != EINVAL; // which is neither a file nor a directory
	char magic[SELFMAG];
	if (!file_read_at(fd, magic, SELFMAG, 0) || memcmp(magic, ELFMAG, SELFMAG) != 0) {
		close(fd);
		return true;
	}
	diag_init(&quiet, NULL);
	if (!img_open_fd(a, &quiet, fd, str_from(path), str_from(path), &img))
		return false;
	bool good = img_check_unpacked(img);
	img_close(img);
	return good;
}

/** Asked once for each skeleton. */
static bool may_look(struct dwsrc *src, Dwarf_Die *skeleton)
{
	static const char YES[] = "yes", NO[] = "no";
	const char *known = map_get_ptr(&src->splits, skeleton->addr);
	if (known)
		return known == YES;
	struct arena a = {0};
	const char *places[MAX_PLACES];
	bool good = true;
	unsigned n = find_places(&a, src, skeleton, places);
	for (unsigned i = 0; i < n && good; i++)
		good = may_open(&a, places[i]);
	arena_fini(&a);
	map_put_ptr(src->arena, &src->splits, skeleton->addr, (void *)(uintptr_t)(good ? YES : NO));
	return good;
}

bool dwsplit_unit(struct dwsrc *src, Dwarf_Die *unit, Dwarf_Die *ret)
{
	uint8_t kind;
	*ret = (Dwarf_Die){0};
	if (dwarf_cu_info(unit->cu, NULL, &kind, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    kind != DW_UT_skeleton)
		return false;
	if (may_look(src, unit))
		dwarf_cu_info(unit->cu, NULL, NULL, NULL, ret, NULL, NULL, NULL);
	return true;
}

void dwsplit_add_missing(struct dwsrc *src, Dwarf_Die *skeleton)
{
	struct str name = dwsplit_name(skeleton);
	if (map_get(&src->missing, name))
		return;
	const char *places[MAX_PLACES], *why = GONE;
	unsigned n = find_places(src->arena, src, skeleton, places);
	for (unsigned i = 0; i < n; i++)
		if (access(places[i], F_OK) == 0)
			why = UNREADABLE;
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

void dwsplit_report_missing(struct dwsrc *src)
{
	struct str name;
	unsigned n = count(src, GONE, &name);
	if (n)
		diag_note(
		    src->diag, NULL,
		    "the types of %u units are in split files that are missing, e.g. \"" STR_FMT
		    "\"",
		    n, STR_ARG(name));
	n = count(src, UNREADABLE, &name);
	if (n)
		diag_note(
		    src->diag, NULL,
		    "the types of %u units are in split files that cannot be read, e.g. \"" STR_FMT
		    "\": from another build, corrupt, too large, or with type units (build without "
		    "-fdebug-types-section)",
		    n, STR_ARG(name));
	const struct img *img = src->img;
	const char *dwp = arena_printf(src->arena, STR_FMT ".dwp", STR_ARG(img->path));
	if (src->missing.n && access(dwp, R_OK) == 0)
		diag_note(src->diag, NULL,
			  STR_FMT ".dwp exists but lacks them, or this elfutils cannot read it "
				  "(0.192 can): keep the .dwo files",
			  STR_ARG(img->display_path));
}
