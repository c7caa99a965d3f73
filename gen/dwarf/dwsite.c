#include "dwarf/dwsite.h"

#include <dwarf.h>

#include "elf/debugfile.h"
#include "dwarf/dwfilter.h"
#include "dwarf/dwline.h"
#include "dwarf/dwsplit.h"
#include "elf/demangle.h"

/** Some seconds. Large programs need less than a hundredth of it. */
enum { MAX_SPENT = 1 << 26 };

static void spend(struct dwsrc *src, uint64_t n)
{
	src->n_spent += n;
	if (src->n_spent < MAX_SPENT || src->is_spent)
		return;
	src->is_spent = true;
	diag_warning(src->diag, diag_at({.file = src->img->display_path}),
		     "too many sites in too much debug information: functions and source lines of "
		     "the rest are not looked up");
}

void dwsite_spend(struct dwsrc *src, uint64_t n_visits_before)
{
	spend(src, src->n_visits - n_visits_before);
}

bool dwsite_is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

bool dwsite_may_read_lines(struct dwsrc *src, Dwarf_Die *unit)
{
	enum { ROW = 10 }; // 700 MB of rows are as much as all the rest may take
	uint64_t n = dwline_rows(src, unit);
	spend(src, n < MAX_SPENT ? n * ROW : MAX_SPENT);
	return !src->is_spent;
}

static bool has_pcs(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

bool dwsite_listed_unit(struct dwsrc *src, uint64_t pc, Dwarf_Die *ret)
{
	struct debuginfo *di;
	if (src->is_spent || !img_debuginfo(src->img, &di))
		return false;
	Dwarf_Addr at = pc - di->bias;
	uint64_t n_units = 0;
	// .debug_aranges answers at once; clang does not write it.
	if (!dwarf_addrdie(di->dwarf, at, ret)) {
		Dwarf_CU *cu = NULL;
		Dwarf_Die unit;
		int found = 0;
		while (found != 1 &&
		       dwarf_get_units(di->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
			found = dwarf_haspc(&unit, at);
			n_units++;
		}
		spend(src, n_units);
		if (found != 1)
			return false;
		*ret = unit;
	}
	return true;
}

/**
 * Out-of-line functions are children of the unit or of a namespace; the function of a lambda may be
 * anywhere, also below a function that is somewhere else. @everywhere: look there, too.
 */
static bool find_function(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, Dwarf_Addr at,
			  bool everywhere, unsigned depth, Dwarf_Die *ret)
{
	if (depth >= DWSRC_MAX_DEPTH)
		return false;
	for (Dwarf_Die die = {0}; dwsrc_next_child(src, w, parent, &die);) {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram && has_pcs(&die) && dwarf_haspc(&die, at) > 0) {
			*ret = die;
			return true;
		}
		bool enter = everywhere
				 ? dwarf_haschildren(&die) > 0 && tag != DW_TAG_enumeration_type &&
				       tag != DW_TAG_subroutine_type
				 : tag == DW_TAG_namespace;
		if (enter && find_function(src, w, &die, at, everywhere, depth + 1, ret))
			return true;
	}
	return false;
}

/** Adds the blocks and inlined functions below @parent that hold the address, outermost first. */
static void descend(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, struct dwsite *s)
{
	Dwarf_Die found[DWSRC_MAX_DEPTH], at = *parent;
	size_t n = 0;
	for (bool hit = true; hit && n < DWSRC_MAX_DEPTH;) {
		hit = false;
		for (Dwarf_Die die = {0}; !hit && dwsrc_next_child(src, w, &at, &die);) {
			int tag = dwarf_tag(&die);
			hit = (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
			      dwarf_haspc(&die, s->at) > 0;
			if (hit)
				found[n++] = at = die;
		}
	}
	while (n-- > 0)
		vec_push(src->arena, &s->dies, found[n]);
}

/** Adds the inlined functions at the address that have no instruction, from the blocks around it. */
static void find_empty(struct dwsrc *src, struct dwsite *s)
{
	for (size_t i = 0; i < s->dies.n; i++) {
		Dwarf_Die parent = s->dies.v[i];
		struct dwwalk w = {0};
		for (Dwarf_Die die = {0}; dwsrc_next_child(src, &w, &parent, &die);) {
			Dwarf_Addr low, high;
			if (dwarf_tag(&die) == DW_TAG_inlined_subroutine &&
			    dwarf_lowpc(&die, &low) == 0 && low == s->at &&
			    dwarf_highpc(&die, &high) == 0 && high == low)
				vec_push(src->arena, &s->empty, die);
		}
	}
}

struct str dwsite_written(struct dwsrc *src, const struct dwsite *s)
{
	return s->end ? dwname_whole(src, dwsrc_origin(s->dies.v[s->end - 1])) : STR("");
}

unsigned dwsite_line_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute at;
	Dwarf_Word ret;
	return dwarf_attr_integrate(die, name, &at) && dwarf_formudata(&at, &ret) == 0
		   ? (unsigned)ret
		   : 0;
}

static bool is_lambda(Dwarf_Die *die)
{
	return str_has_prefix(str_from(dwsrc_name(die)), STR("operator()"));
}

/** What has the place where the function @die is declared: gcc tells that of a lambda's type alone. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
	enum { OBJECT_TYPES = 4 }; // the pointer, const, its target
	Dwarf_Attribute at;
	Dwarf_Die type;
	if (dwarf_hasattr_integrate(&die, DW_AT_decl_line) || !is_lambda(&die) ||
	    !dwarf_attr_integrate(&die, DW_AT_object_pointer, &at) ||
	    !dwarf_formref_die(&at, &type))
		return die;
	for (int i = 0; i < OBJECT_TYPES && dwsrc_follow(&type, DW_AT_type);)
		i++;
	return type;
}

/** 0: there is none. */
static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	uint64_t ret;
	return dwsrc_number(die, name, &ret) ? ret : 0;
}

/**
 * gcc splits a function: its begin may be inlined elsewhere, and the rest is "inlined" into the function itself,
 * as if called where it is declared. That is no copy: who enters it has entered the function.
 */
static bool is_rest_of(Dwarf_Die *inlined, Dwarf_Die *function)
{
	if (!function || dwarf_tag(inlined) != DW_TAG_inlined_subroutine)
		return false;
	Dwarf_Die one = dwsrc_origin(*inlined), other = dwsrc_origin(*function);
	return one.addr == other.addr &&
	       number_of(inlined, DW_AT_call_line) == number_of(&one, DW_AT_decl_line) &&
	       number_of(inlined, DW_AT_call_column) == number_of(&one, DW_AT_decl_column);
}

size_t dwsite_function_of(const struct dwsite *s, size_t i)
{
	while (i + 1 < s->dies.n && !dwsite_is_function(&s->dies.v[i]))
		i++;
	return i;
}

/** Without folders: the file that the attribute @name has; empty: none is known. */
static struct str file_of(struct dwsrc *src, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;
	Dwarf_Files *files;
	Dwarf_Word i;
	size_t n;
	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &i) != 0 ||
	    !dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    !dwsite_may_read_lines(src, &unit) || dwarf_getsrcfiles(&unit, &files, &n) != 0 ||
	    i >= n)
		return STR("");
	return str_base(str_from(dwarf_filesrc(files, i, NULL, NULL)));
}

struct str dwsite_decl_file(struct dwsrc *src, Dwarf_Die *die)
{
	Dwarf_Die declaration = declaration_of(*die);
	return file_of(src, &declaration, DW_AT_decl_file);
}

/** May the line be part of the function @die, and is that declared after line *@last? */
static bool has_line(struct dwsrc *src, const struct dwsite *s, Dwarf_Die *die, unsigned *last)
{
	Dwarf_Die declaration = declaration_of(*die);
	unsigned line = s->row.line, declared = dwsite_line_of(&declaration, DW_AT_decl_line),
		 call = dwsite_line_of(die, DW_AT_call_line);
	if (declared <= *last || declared > line ||
	    !str_eq(file_of(src, &declaration, DW_AT_decl_file), s->row.file))
		return false;
	// The line that calls a lambda comes after it, and is not part of it.
	bool is_after = call == line || (call < line && is_lambda(die));
	if (declared < call && is_after && str_eq(file_of(src, die, DW_AT_call_file), s->row.file))
		return false;
	*last = declared;
	return true;
}

/** Is function @i of the site the one that was asked for? Of lines the one that is declared last. */
static bool is_asked(struct dwsrc *src, struct dwsite *s, size_t i, const struct dwasked *asked,
		     unsigned *last)
{
	Dwarf_Die *die = &s->dies.v[i];
	if (asked->how == DWASKED_ADDRESS)
		return !s->end;
	if (asked->how == DWASKED_ENTRY && !asked->name.n)
		return i + 1 == s->dies.n;
	if (asked->how == DWASKED_ENTRY) {
		const char *symbol = dwsrc_symbol(die);
		return !s->end && str_eqz(asked->name, *symbol ? symbol : dwsrc_name(die));
	}
	return has_line(src, s, die, last);
}

/** Functions of a unit as they were written, outside of others. */
struct dwwritten {
	VEC(Dwarf_Die) list;
};

static void add_written(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, unsigned depth,
			struct dwwritten *ret)
{
	for (Dwarf_Die die = {0};
	     depth < DWSRC_MAX_DEPTH && dwsrc_next_child(src, w, parent, &die);) {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram && !dwarf_hasattr(&die, DW_AT_abstract_origin) &&
		    !dwsrc_flag(&die, DW_AT_declaration))
			vec_push(src->arena, &ret->list, die);
		else if (dwname_is_scope(tag))
			add_written(src, w, &die, depth + 1, ret);
	}
}

/**
 * The function that the line is part of, of the units of those around: declared in its file, the last before it, but after
 * *@last. Nothing is left of it where it is not around: a row of the line table without a scope.
 */
static void find_lost(struct dwsrc *src, struct dwsite *s, unsigned last)
{
	const Dwarf_Die *found = NULL;
	for (size_t i = 0; i < s->dies.n; i++) {
		Dwarf_Die origin = dwsrc_origin(s->dies.v[i]), unit;
		if (!dwsite_is_function(&origin) || !dwarf_diecu(&origin, &unit, NULL, NULL))
			continue;
		Dwarf_Die declaration = declaration_of(origin);
		if (dwsite_line_of(&declaration, DW_AT_decl_line) > s->row.line &&
		    str_eq(dwsite_decl_file(src, &origin), s->row.file))
			return; // lines out of order, of #line
		struct dwwritten *of = map_get_ptr(&src->written, unit.addr);
		if (!of) {
			struct dwwalk w = {0};
			of = arena_new(src->arena, struct dwwritten);
			map_put_ptr(src->arena, &src->written, unit.addr, of);
			add_written(src, &w, &unit, 0, of);
		}
		for (size_t k = 0; k < of->list.n; k++)
			if (has_line(src, s, &of->list.v[k], &last))
				found = &of->list.v[k];
	}
	if (found)
		vec_push(src->arena, &s->empty, *found);
}

static void choose(struct dwsrc *src, struct dwsite *s, const struct dwasked *asked)
{
	unsigned last = 0;
	size_t first = 0, end = s->dies.n;
	s->end = 0;
	s->gone = NULL;
	for (size_t i = 0; i < s->dies.n; i++) {
		if (!dwsite_is_function(&s->dies.v[i]))
			continue;
		if (is_asked(src, s, i, asked, &last)) {
			s->first = first;
			s->end = i + 1;
		}
		first = i + 1;
	}
	s->empty.n = 0;
	if (asked->how == DWASKED_LINE) {
		find_empty(src, s);
		find_lost(src, s, last);
	}
	for (size_t i = 0; i < s->empty.n; i++)
		if (has_line(src, s, &s->empty.v[i], &last))
			s->gone = &s->empty.v[i];
	if (!s->end) {
		s->first = 0;
		s->end = dwsite_function_of(s, 0) + 1;
	}
	s->function = str_from(dwsrc_name(&s->dies.v[s->end - 1]));
	s->caller = s->end < end && !is_rest_of(&s->dies.v[s->end - 1], &s->dies.v[end - 1])
			? str_from(dwsrc_name(&s->dies.v[end - 1]))
			: STR("");
}

static void find_line(struct dwsrc *src, struct dwsite *s)
{
	int line;
	Dwarf_Line *l = dwarf_getsrc_die(&s->unit, s->at);
	const char *path = l ? dwarf_linesrc(l, NULL, NULL) : NULL;
	Dwarf_Addr begin;
	s->is_body = l && dwarf_lineaddr(l, &begin) == 0 && begin == s->at &&
		     dwarf_lineprologueend(l, &s->is_body) == 0 && s->is_body;
	if (!path || dwarf_lineno(l, &line) != 0 || line <= 0)
		return;
	s->line = (unsigned)line;
	s->full_path = path;
	s->file = str_from(path);
	// Most programs are built in one directory, and their files are known by the path from there.
	const char *dir = dwsrc_string(&s->unit, DW_AT_comp_dir);
	struct str d = str_from(dir);
	if (d.n > 1 && str_has_prefix(s->file, d) && s->file.n > d.n && s->file.p[d.n] == '/')
		s->file = str_from_offset(s->file, d.n + 1);
	else if (path[0] != '/' && dir)
		s->full_path = arena_printf(src->arena, "%s/%s", dir, path);
	while (str_take(&s->file, STR("./")))
		;
}

static bool find(struct dwsrc *src, const struct dwasked *asked, struct dwsite *ret)
{
	struct debuginfo *di;
	Dwarf_Die function, split;
	if (!img_debuginfo(src->img, &di))
		return false;
	ret->at = ret->pc - di->bias;
	if (!dwsite_listed_unit(src, ret->pc, &ret->unit))
		return false;
	bool has_lines = dwsite_may_read_lines(src, &ret->unit);
	if (dwsplit_unit(src, &ret->unit, &split) && split.cu)
		ret->unit = split;
	if (has_lines)
		find_line(src, ret);
	bool is_line = asked->how == DWASKED_LINE && asked->name.n;
	ret->row.file = str_base(is_line ? asked->name : ret->file);
	ret->row.line = is_line ? asked->line : ret->line;
	struct dwwalk w = {0}, w2 = {0}, down = {0};
	if (!find_function(src, &w, &ret->unit, ret->at, false, 0, &function) &&
	    !find_function(src, &w2, &ret->unit, ret->at, true, 0, &function))
		return false;
	descend(src, &down, &function, ret);
	vec_push(src->arena, &ret->dies, function);
	choose(src, ret, asked);
	return true;
}

bool dwsite_at(struct dwsrc *src, uint64_t pc, const struct dwasked *asked, struct dwsite *ret)
{
	static const struct dwasked innermost = {.how = DWASKED_ADDRESS};
	*ret = (struct dwsite){.pc = pc};
	if (!dwsrc_open(src))
		return false;
	uint64_t n_before = src->n_visits;
	bool found = find(src, asked ? asked : &innermost, ret);
	dwsite_spend(src, n_before);
	return found;
}

struct str dwsite_source(struct dwsrc *src, uint64_t pc)
{
	struct arena *a = src->img->arena;
	struct dwsite site;
	Dwarf_Die unit, split;
	if (!dwsite_listed_unit(src, pc, &unit))
		return STR("");
	if (dwsplit_unit(src, &unit, &split) && split.cu)
		unit = split;
	const char *dir = dwsrc_string(&unit, DW_AT_comp_dir);
	const char *name = dwarf_diename(&unit);
	if (name && strcmp(name, "<artificial>") == 0) // link-time optimisation: of several files
		name =
		    dwsite_at(src, pc, NULL, &site) && site.file.n ? str_dup(a, site.file) : NULL;
	return name ? str_printf(a, "%s/%s", dir ? dir : "", name) : STR("");
}

bool dwsite_is_from(struct dwsrc *src, uint64_t pc, struct str pattern)
{
	struct str path = dwsite_source(src, pc);
	return path.n &&
	       str_glob(str_printf(src->img->arena, "*/" STR_FMT, STR_ARG(pattern)), path);
}

/** DWARF 5, section 2.18: of several pieces the first is entered; an entry may be an offset there. */
bool dwsite_entry(Dwarf_Die *die, Dwarf_Addr *ret)
{
	Dwarf_Attribute at;
	Dwarf_Addr base, first = 0, end;
	Dwarf_Word off;
	bool has_low = dwarf_lowpc(die, &base) == 0;
	bool has_first = has_low || dwarf_ranges(die, 0, &base, &first, &end) > 0;
	first = has_low ? base : first;
	if (!dwarf_attr(die, DW_AT_entry_pc, &at)) {
		*ret = first;
		return has_first;
	}
	if (dwarf_formaddr(&at, ret) == 0)
		return true;
	*ret = first + (dwarf_formudata(&at, &off) == 0 ? off : 0);
	return has_first;
}

// --- lines ---

/**
 * gcc and clang describe all calls (DWARF 5, section 3.3.1.5) of optimized functions. gcc also marks all
 * functions without calls, and does not mark some optimized ones: the options that it records decide.
 */
static void find_optimized(Dwarf_Die *unit, Dwarf_Die *function, struct dwrows *ret)
{
	const char *z = dwsrc_string(unit, DW_AT_producer), *by = z ? z : "";
	bool has_options = strncmp(by, "GNU", 3) == 0 && strstr(by, " -g");
	bool has_all_calls = dwarf_hasattr_integrate(function, DW_AT_call_all_calls) ||
			     dwarf_hasattr_integrate(function, DW_AT_GNU_all_call_sites);
	ret->is_optimized = has_options ? strstr(by, " -O") && !strstr(by, " -O0") : has_all_calls;
	ret->may_be_optimized = ret->is_optimized || (!has_options && !strstr(by, "clang version"));
}

/** Where the call @die returns to; false: it is none, or does not return here. */
static bool read_return(Dwarf_Die *die, Dwarf_Addr *ret)
{
	Dwarf_Attribute at;
	int tag = dwarf_tag(die);
	if (tag == DW_TAG_call_site)
		return dwarf_attr(die, DW_AT_call_return_pc, &at) && dwarf_formaddr(&at, ret) == 0;
	return tag == DW_TAG_GNU_call_site && !dwarf_hasattr(die, DW_AT_GNU_tail_call) &&
	       dwarf_lowpc(die, ret) == 0;
}

/** The first code in @parent after @begin that a call returns to, or that is another block's. */
static uint64_t find_stored(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent,
			    Dwarf_Addr begin, unsigned depth)
{
	uint64_t ret = UINT64_MAX;
	for (Dwarf_Die die = {0};
	     depth < DWSRC_MAX_DEPTH && dwsrc_next_child(src, w, parent, &die);) {
		int tag = dwarf_tag(&die);
		Dwarf_Addr at;
		bool is_block = tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine;
		bool has = is_block ? dwsite_entry(&die, &at) : read_return(&die, &at);
		if (has && at > begin && at < ret)
			ret = at;
		else if (is_block && has && at <= begin) {
			uint64_t in = find_stored(src, w, &die, begin, depth + 1);
			ret = in < ret ? in : ret;
		}
	}
	return ret;
}

uint64_t dwsite_stored_from(struct dwsrc *src, const struct dwsite *s, Dwarf_Die *die)
{
	struct dwwalk w = {0};
	Dwarf_Addr begin;
	uint64_t ret = dwsite_entry(die, &begin) ? find_stored(src, &w, die, begin, 0) : UINT64_MAX;
	return ret == UINT64_MAX ? ret : ret + (s->pc - s->at);
}

bool dwsite_rows(struct dwsrc *src, const struct dwsite *s, struct dwrows *ret)
{
	Dwarf_Die unit = s->unit, function;
	Dwarf_Lines *lines;
	Dwarf_Addr entry, at;
	uint64_t marked = 0;
	size_t n;
	*ret = (struct dwrows){0};
	if (!s->dies.n || !dwsite_may_read_lines(src, &unit) ||
	    dwarf_getsrclines(&unit, &lines, &n) != 0)
		return false;
	function = s->dies.v[s->dies.n - 1];
	if (!dwsite_entry(&function, &entry))
		return false;
	ret->entry = entry + (s->pc - s->at);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		bool ends, is_marked;
		int line;
		if (dwarf_lineaddr(l, &at) != 0 || dwarf_lineendsequence(l, &ends) != 0 || ends ||
		    dwarf_haspc(&function, at) <= 0 || dwarf_lineno(l, &line) != 0)
			continue;
		const char *path = dwarf_linesrc(l, NULL, NULL);
		struct dwrow row = {at + (s->pc - s->at), str_base(str_from(path)), (unsigned)line};
		vec_push(src->arena, &ret->list, row);
		if (!marked && at >= entry && dwarf_lineprologueend(l, &is_marked) == 0 &&
		    is_marked)
			marked = row.pc;
	}
	find_optimized(&unit, &function, ret);
	// The compiler's end of the prologue, or the first row after that of the entry
	const struct dwrow *r = vec_find(struct dwrow, one, &ret->list, one->pc > ret->entry);
	ret->body = marked > ret->entry ? marked : r ? r->pc : UINT64_MAX;
	return ret->list.n > 0;
}

// --- inlined copies ---
//
// Each is a DW_TAG_inlined_subroutine in the code that it has become a part of, and refers to the function
// as it was written (DWARF 5, section 3.3.8). A function of a header is written in each unit that includes
// it: those are the same when name, file and line are. All copies of a unit are collected at once.

struct dwcopies {
	struct map units;   // place of a unit's top DIE: it has been looked at
	struct map origins; // place of a function's DIE -> struct dwinlined
	struct map known;   // name, file and line of a function -> the same
	VEC(const struct dwinlined *) list;
	bool has_all;	  // units
	struct map words; // whose functions have been collected
	unsigned n_words;
};

// dwarf_decl_file() aborts where a .dwo file has no line table.
static struct dwinlined *inlined_of(struct dwsrc *src, Dwarf_Die die)
{
	Dwarf_Die origin = dwsrc_origin(die);
	struct dwinlined *ret = map_get_ptr(&src->copies->origins, origin.addr);
	if (ret)
		return ret;
	Dwarf_Die declaration = declaration_of(origin);
	struct str name = str_from(dwarf_diename(&origin));
	struct str symbol = str_from(dwsrc_symbol(&origin));
	symbol = symbol.n ? symbol : name;
	struct str key = str_printf(src->arena, STR_FMT " %u:%u " STR_FMT, STR_ARG(symbol),
				    dwsite_line_of(&declaration, DW_AT_decl_line),
				    dwsite_line_of(&declaration, DW_AT_decl_column),
				    STR_ARG(file_of(src, &declaration, DW_AT_decl_file)));
	ret = map_get(&src->copies->known, key);
	if (!ret) {
		ret = arena_new(src->arena, struct dwinlined);
		ret->name = name;
		ret->symbol = symbol;
		ret->written = dwname_whole(src, origin);
		map_put(src->arena, &src->copies->known, key, ret);
		vec_push(src->arena, &src->copies->list, ret);
	}
	map_put_ptr(src->arena, &src->copies->origins, origin.addr, ret);
	return ret;
}

static void add_copy(struct dwsrc *src, struct dwinlined *to, Dwarf_Die *die, struct str caller)
{
	enum { MOST = sizeof(to->callers) / sizeof(to->callers[0]) };
	struct debuginfo *di;
	Dwarf_Addr at;
	to->n++;
	if (img_debuginfo(src->img, &di) && dwsite_entry(die, &at))
		vec_push(src->arena, &to->entries, at + di->bias);
	for (size_t i = 0; i < to->n_callers && i < MOST; i++)
		if (str_eq(to->callers[i], caller))
			return;
	if (to->n_callers < MOST)
		to->callers[to->n_callers] = caller;
	to->n_callers++;
}

/**
 * Are they constructors or destructors of one class, which its declaration has once, and is it the part of @one to
 * call @other? gcc calls copies of any of them 4, so that in one that does not give memory back such a copy may be
 * another object's.
 */
static bool may_call_variant(Dwarf_Die *one, Dwarf_Die *other)
{
	Dwarf_Die a = dwsrc_origin(*one), b = dwsrc_origin(*other);
	struct str from = str_from(dwsrc_symbol(one)), to = str_from(dwsrc_symbol(other));
	size_t at = demangle_find_variant(from, to);
	dwsrc_follow(&a, DW_AT_specification);
	dwsrc_follow(&b, DW_AT_specification);
	return at && a.addr == b.addr && from.p[at] < to.p[at] &&
	       (from.p[at] == '0' || to.p[at] != '4');
}

/** Is the copy @die around one of another variant, or does it call one? That counts. */
static bool leads_to_variant(struct dwsrc *src, Dwarf_Die *die)
{
	struct dwwalk w = {0};
	for (Dwarf_Die child = {0}, to; dwsrc_next_child(src, &w, die, &child);) {
		int tag = dwarf_tag(&child);
		to = child;
		if ((tag == DW_TAG_inlined_subroutine ||
		     (tag == DW_TAG_call_site && dwsrc_follow(&to, DW_AT_call_origin)) ||
		     (tag == DW_TAG_GNU_call_site && dwsrc_follow(&to, DW_AT_abstract_origin))) &&
		    may_call_variant(die, &to))
			return true;
	}
	return false;
}

/** Is it no copy of a function that is called there, but a piece of what is around it, or what is in it? */
static bool is_part(struct dwsrc *src, Dwarf_Die *inlined, Dwarf_Die *function)
{
	return is_rest_of(inlined, function) || leads_to_variant(src, inlined) ||
	       (function && dwarf_tag(function) == DW_TAG_subprogram &&
		may_call_variant(function, inlined));
}

/** Has the linker dropped @function, as an object file before has the same? Its address is 0 then, or nobody's. */
static bool is_dropped(struct dwsrc *src, Dwarf_Die *function)
{
	struct debuginfo *di;
	Dwarf_Addr at;
	uint64_t off;
	char byte;
	return img_debuginfo(src->img, &di) && dwsite_entry(function, &at) &&
	       (!at || !img_read_code(src->img, at + di->bias, &byte, 1, &off));
}

/**
 * Copies in @parent, which is in @function; NULL: it is in none. gcc writes the code of a lambda, and of a method of a
 * local class, into the class (@is_local), inside the function as it was written or its code.
 */
static void collect(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, Dwarf_Die *function,
		    bool is_local, unsigned depth)
{
	if (depth >= DWSRC_MAX_DEPTH)
		return;
	for (Dwarf_Die die = {0}; dwsrc_next_child(src, w, parent, &die);) {
		int tag = dwarf_tag(&die);
		bool is_function = dwsite_is_function(&die);
		if (tag == DW_TAG_subprogram && is_dropped(src, &die))
			continue;
		bool is_written = is_function && !has_pcs(&die);
		if (is_written && tag == DW_TAG_inlined_subroutine)
			continue;
		if (tag == DW_TAG_inlined_subroutine && !is_part(src, &die, function))
			add_copy(src, inlined_of(src, die), &die,
				 function ? str_from(dwsrc_name(function)) : STR("?"));
		if (is_function)
			collect(src, w, &die, is_written ? NULL : &die, true, depth + 1);
		else if (tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
			 (is_local && (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)))
			collect(src, w, &die, function, is_local, depth + 1);
	}
}

static void collect_unit(struct dwsrc *src, Dwarf_Die *unit)
{
	struct dwwalk w = {0};
	if (map_add_ptr(src->arena, &src->copies->units, unit->addr))
		collect(src, &w, unit, NULL, false, 0);
}

static void collect_all(struct dwsrc *src)
{
	struct debuginfo *di;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	if (src->copies->has_all || !img_debuginfo(src->img, &di))
		return;
	src->copies->has_all = true;
	uint64_t n_before = src->n_visits;
	while (!src->is_spent &&
	       dwarf_get_units(di->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		bool is_split = dwsplit_unit(src, &unit, &split) && split.cu;
		collect_unit(src, is_split ? &split : &unit);
	}
	dwsite_spend(src, n_before);
}

bool dwsite_has_body(struct dwsrc *src, uint64_t pc)
{
	struct dwsite site;
	struct dwwalk w = {0};
	if (!dwsite_at(src, pc, NULL, &site))
		return false;
	Dwarf_Die *function = &site.dies.v[site.dies.n - 1];
	for (Dwarf_Die child = {0}; dwsrc_next_child(src, &w, function, &child);)
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine &&
		    may_call_variant(function, &child))
			return true;
	return false;
}

/** Copies of functions that @fits, in whose name or symbol @word comes first. */
static void collect_named(struct dwsrc *src, struct str word, dwfilter_fits_fn *fits, void *ctx)
{
	enum { MANY = 4 }; // to search for so many costs as much as to collect all
	struct dwcopies *c = src->copies;
	uint64_t n_before = src->n_visits;
	if (c->has_all || map_get(&c->words, word))
		return;
	if ((c->n_words++ >= MANY && !dwfilter_is_large(src)) ||
	    !dwfilter_functions(src, word, fits, ctx, collect_unit))
		collect_all(src);
	else
		dwsite_spend(src, n_before);
}

static bool has_word(void *ctx, struct dwsrc *src, Dwarf_Die *function)
{
	(void)src;
	return str_eq(*(struct str *)ctx, dwsrc_word(str_from(dwsrc_name(function))));
}

static bool begin_copies(struct dwsrc *src)
{
	if (!src->copies)
		src->copies = arena_new(src->arena, struct dwcopies);
	return dwsrc_open(src);
}

const struct dwinlined *dwsite_inlined_at(struct dwsrc *src, uint64_t pc)
{
	struct dwsite site;
	if (!begin_copies(src) || !dwsite_at(src, pc, NULL, &site))
		return NULL;
	Dwarf_Die origin = dwsrc_origin(site.dies.v[site.dies.n - 1]);
	struct str word = dwsrc_word(str_from(dwarf_diename(&origin)));
	if (dwfilter_is_large(src)) {
		collect_unit(src, &site.unit);
	} else {
		collect_named(src, word, has_word, &word);
		map_add(src->arena, &src->copies->words, word);
	}
	const struct dwinlined *ret = inlined_of(src, origin);
	return ret->n ? ret : NULL;
}

const struct dwinlined *dwsite_inlined_next(struct dwsrc *src, struct str word,
					    dwfilter_fits_fn *fits, void *ctx, size_t *i)
{
	if (!begin_copies(src))
		return NULL;
	if (!*i)
		collect_named(src, word, fits, ctx);
	return dwsite_inlined_known(src, i);
}

const struct dwinlined *dwsite_inlined_known(const struct dwsrc *src, size_t *i)
{
	while (src->copies && *i < src->copies->list.n) {
		const struct dwinlined *d = src->copies->list.v[(*i)++];
		if (d->n)
			return d;
	}
	return NULL;
}

const struct dwinlined *dwsite_inlined_named(struct dwsrc *src, struct str pattern, bool *is_large,
					     size_t *i)
{
	const struct dwinlined *d;
	if (!*i && (!begin_copies(src) || !dwfilter_may_have(src, dwsrc_word(pattern))))
		return NULL;
	if (is_large && dwfilter_is_large(src))
		*is_large = true;
	else
		collect_all(src);
	while ((d = dwsite_inlined_known(src, i)))
		if (str_glob(pattern, d->name) || str_glob(pattern, d->symbol) ||
		    str_glob(pattern, d->written))
			return d;
	return NULL;
}
