#include "dwarf/dwstatement.h"

#include <dwarf.h>

#include "elf/debugfile.h"
#include "dwarf/dwsite.h"

struct finder {
	struct dwsrc *src;
	struct str file;
	unsigned first, last;
	uint64_t bias;
	struct map seen;  // address and line
	struct map names; // of this unit: libdw's name of a file that is meant
	struct dwstatements *ret;
};

/** @dir/@path without . and .. in it. */
static struct str whole_path(struct arena *a, struct str dir, struct str path)
{
	struct str parts[64], ret = STR("");
	size_t n = 0;
	if (!str_has_prefix(path, STR("/")) && dir.n)
		path = str_printf(a, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(path));
	bool is_absolute = str_has_prefix(path, STR("/"));
	for (struct str rest = path; rest.n;) {
		struct str part = str_slice(rest, 0, str_find(rest, '/'));
		rest = str_from_offset(rest, part.n + 1);
		if (!part.n || str_eqz(part, "."))
			continue;
		if (n == sizeof(parts) / sizeof(parts[0]))
			return path;
		if (str_eqz(part, "..") && n && !str_eqz(parts[n - 1], ".."))
			n--;
		else
			parts[n++] = part;
	}
	for (size_t i = 0; i < n; i++)
		ret = str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(ret), i || is_absolute ? "/" : "",
				 STR_ARG(parts[i]));
	return ret;
}

static bool ends_in(struct str path, struct str file)
{
	while (str_take(&file, STR("./")))
		;
	return str_eq(path, file) || (str_has_suffix(path, file) && path.n > file.n && file.n &&
				      (file.p[0] == '/' || path.p[path.n - file.n - 1] == '/'));
}

/** Names of @unit's files that are meant; false when it has none. */
static bool find_files(struct finder *f, Dwarf_Die *unit)
{
	Dwarf_Attribute at;
	Dwarf_Files *files;
	size_t n;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &at));
	f->names = (struct map){0};
	if (!dwsite_may_read_lines(f->src, unit) || dwarf_getsrcfiles(unit, &files, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *name = dwarf_filesrc(files, i, NULL, NULL);
		struct str path = str_from(name);
		size_t slash = f->file.n;
		while (slash && f->file.p[slash - 1] != '/')
			slash--;
		if (!name || !str_has_suffix(path, str_from_offset(f->file, slash)))
			continue;
		path = whole_path(f->src->arena, str_from(dir), path);
		if (!ends_in(path, f->file))
			continue;
		map_put_ptr(f->src->arena, &f->names, name, str_dup(f->src->arena, path));
	}
	return f->names.n > 0;
}

/** The innermost block or function around @addr, or NULL. */
static const void *block_at(struct finder *f, uint64_t addr)
{
	struct dwsite site;
	uint64_t n_before = f->src->n_visits;
	bool found = dwsite_at(f->src, addr, &site) && site.dies.n;
	dwsite_spend(f->src, n_before);
	return found ? site.dies.v[0].addr : NULL;
}

struct row {
	uint64_t addr;
	unsigned line;	  // 0: another file's, or the end of a sequence
	const char *path; // of the file that is meant, or NULL
};

static void read_row(struct finder *f, Dwarf_Line *l, bool is_end, struct row *ret)
{
	Dwarf_Addr addr = 0;
	int line = 0;
	const char *name = dwarf_linesrc(l, NULL, NULL);
	ret->path = name ? map_get_ptr(&f->names, name) : NULL;
	dwarf_lineaddr(l, &addr);
	dwarf_lineno(l, &line);
	ret->addr = addr + f->bias;
	ret->line = ret->path && !is_end && line > 0 ? (unsigned)line : 0;
}

/** The file that has code at @r is the one that is meant, unless there was another. */
static void note_file(struct finder *f, const struct row *r)
{
	struct str path = str_from(r->path);
	if (!f->ret->file.n)
		f->ret->file = path;
	else if (!str_eq(path, f->ret->file))
		f->ret->other = path;
}

static void add_row(struct finder *f, const struct row *r, const struct row *before)
{
	uint64_t off;
	char byte;
	// Of functions that the linker has removed there is no code.
	if (!img_read_code(f->src->img, r->addr, &byte, 1, &off))
		return;
	note_file(f, r);
	if (r->line > f->last && (!f->ret->next || r->line < f->ret->next))
		f->ret->next = r->line;
	if (r->line < f->first || r->line > f->last)
		return;
	struct str key = str_printf(f->src->arena, "%llx %u", (unsigned long long)r->addr, r->line);
	if (!map_add(f->src->arena, &f->seen, key))
		return;
	if (before->line == r->line && before->path == r->path &&
	    block_at(f, before->addr) == block_at(f, r->addr))
		return;
	vec_push(f->src->arena, &f->ret->list, (struct dwstatement){r->addr, r->line});
}

static void find_in_unit(struct finder *f, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;
	struct row before = {0};
	if (!unit->cu || !find_files(f, unit) || dwarf_getsrclines(unit, &lines, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		bool begins = false, is_end = false;
		struct row r;
		if (!l || dwarf_linebeginstatement(l, &begins) != 0 ||
		    dwarf_lineendsequence(l, &is_end) != 0 || (!begins && !is_end))
			continue;
		read_row(f, l, is_end, &r);
		if (r.line)
			add_row(f, &r, &before);
		before = r;
	}
}

void dwstatement_find(struct dwsrc *src, struct str file, unsigned first, unsigned last,
		      struct dwstatements *ret)
{
	struct debuginfo *di;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	*ret = (struct dwstatements){0};
	if (!file.n || !dwsrc_open_whole(src) || !img_debuginfo(src->img, &di))
		return;
	struct finder f = {
	    .src = src, .file = file, .first = first, .last = last, .bias = di->bias, .ret = ret};
	while (!src->is_spent && dwarf_get_units(di->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		find_in_unit(&f, &unit);
}
