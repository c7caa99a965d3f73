#include "source/defines.h"

#include <dwarf.h>

#include "base/file.h"
#include "elf/debugfile.h"

/** Of one image so many bytes are read, with so many for each directive and file; then no more. */
enum {
	MAX_SOURCE = 16 << 20,
	MAX_READ = 64 << 20,
	DIRECTIVE_COST = 16,
	FILE_COST = 256,
	MAX_DEPTH = 200,
};

struct directive {
	enum { DEFINE, UNDEF, INCLUDE, IFNDEF, IF, ENDIF } kind;
	bool is_certain; /**< in no #if */
	unsigned line;
	struct str text; /**< after the word, with the lines that it continues on */
};

struct source_file {
	struct str path, text; /**< the text is empty when there is none to be believed */
	bool is_missing;
	VEC(struct directive) list;
};

/** A definition of a name, or its end. */
struct event {
	const struct directive *at;
	const struct source_file *file;
	unsigned line; /**< of the unit's source: that of the #include that leads to it */
	bool is_certain;
};

struct events {
	VEC(struct event) v;
};

struct defines_unit {
	struct dwsrc *src;
	struct map names;	      /**< -> struct events */
	struct map read, read_surely; /**< files, whatever conditions are and without any */
	struct map headers; /**< by the name in an #include -> where struct source_file * is */
	VEC(const struct source_file *) files; /**< of the unit */
	VEC(struct str) roots;		       /**< folders that headers are included from */
	struct map has_root;
	unsigned line, depth;
};

// --- source files

static bool is_newer(const struct stat *source, int binary)
{
	struct stat st;
	if (fstat(binary, &st) != 0)
		return true;
	return source->st_mtim.tv_sec != st.st_mtim.tv_sec
		   ? source->st_mtim.tv_sec > st.st_mtim.tv_sec
		   : source->st_mtim.tv_nsec > st.st_mtim.tv_nsec;
}

static struct str read_text(struct dwsrc *src, struct str path, bool *is_missing)
{
	struct str text = {0};
	uint64_t size;
	const char *why;
	const char *root = src->img->root.n ? str_dup(src->arena, src->img->root) : NULL;
	int fd = file_open(root, str_dup(src->arena, path), &size, &why);
	struct stat st;
	struct debuginfo *di;
	*is_missing = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
	if (fd >= 0 && size && size <= MAX_SOURCE && src->n_read + size <= MAX_READ &&
	    fstat(fd, &st) == 0 && img_debuginfo(src->img, &di) && !is_newer(&st, src->img->fd) &&
	    !is_newer(&st, di->file->fd)) {
		char *p = arena_alloc(src->arena, size);
		if (file_read_at(fd, p, size, 0))
			text = (struct str){p, size};
		src->n_read += size;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

size_t defines_line(struct str s, int *depth, struct strbuf *ret)
{
	char quote = '\0'; // of a comment to the end of the line: a newline
	size_t i = 0, n = 1;
	for (; i < s.n && s.p[i] != '\n'; i += n) {
		struct str here = str_from_offset(s, i);
		char c = s.p[i], next = i + 1 < s.n ? s.p[i + 1] : '\0';
		bool is_comment = !quote && c == '/' && next == '*', is_shown = quote != '\n';
		n = 1;
		if (c == '\\' && next) {
			n = str_has_prefix(here, STR("\\\r\n")) ? 3 : 2;
			is_shown &= here.p[n - 1] != '\n';
		} else if (is_comment) {
			const char *end =
			    here.n > 2 ? memmem(here.p + 2, here.n - 2, "*/", 2) : NULL;
			n = end ? (size_t)(end + 2 - here.p) : here.n;
		} else if (quote) {
			quote = c == quote ? '\0' : quote;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '/' && next == '/') {
			quote = '\n';
			is_shown = false;
		} else {
			*depth += (c == '(') - (c == ')' && *depth > 0);
		}
		if (ret && is_shown)
			strbuf_adds(ret, is_comment ? STR(" ") : str_slice(here, 0, n));
	}
	return i;
}

static struct str word_of(struct str s)
{
	size_t n = 0;
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_' || s.p[n] == '$'))
		n++;
	return str_slice(s, 0, n);
}

static bool read_directive(struct str line, struct directive *ret)
{
	static const char *const words[] = {"define", "undef", "include", "ifndef",
					    "if",     "ifdef", "endif"};
	line = str_trim(line);
	if (!str_take(&line, STR("#")))
		return false;
	line = str_trim(line);
	struct str word = word_of(line);
	ret->text = str_trim(str_from_offset(line, word.n));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!str_eqz(word, words[i]))
			continue;
		ret->kind = i > IF ? i - 1 : i;
		return true;
	}
	return false;
}

struct str defines_path(char buf[DEFINES_PATH], struct str dir, struct str name, bool is_absolute)
{
	size_t n = 0;
	if (dir.n + name.n + 2 > DEFINES_PATH)
		return (struct str){0};
	for (struct str rest = dir; rest.n || name.n;) {
		struct str part = str_take_until(&rest, '/');
		bool is_up =
		    str_eqz(part, "..") &&
		    (is_absolute || (n && !str_has_suffix((struct str){buf, n}, STR("/.."))));
		while (is_up && n && buf[--n] != '/')
			;
		if (part.n && !is_up && !str_eqz(part, ".")) {
			buf[n++] = '/';
			memcpy(buf + n, part.p, part.n);
			n += part.n;
		}
		if (!rest.n) {
			rest = name;
			name = (struct str){0};
		}
	}
	return str_from_offset((struct str){buf, n}, !is_absolute);
}

/** The directives of @s. An include guard is no condition. */
static void read_directives(struct arena *a, struct source_file *s)
{
	unsigned line = 1, n_conds = 0, n_guards = 0;
	for (struct str rest = s->text; rest.n;) {
		int depth = 0;
		struct str text = {rest.p, defines_line(rest, &depth, NULL)};
		struct directive d = {.line = line}, *last = s->list.n ? &s->list.v[0] : NULL;
		if (read_directive(text, &d)) {
			n_guards |= d.kind == DEFINE && s->list.n == 1 && last->kind == IFNDEF &&
				    str_eq(word_of(d.text), word_of(last->text));
			n_conds += d.kind == IF || d.kind == IFNDEF;
			n_conds -= d.kind == ENDIF && n_conds;
			d.is_certain = n_conds <= n_guards;
			vec_push(a, &s->list, d);
		}
		for (size_t i = 0; i <= text.n && i < rest.n; i++)
			line += rest.p[i] == '\n';
		rest = str_from_offset(rest, text.n + 1);
	}
}

/** The file @path as defines_path() makes it. */
static const struct source_file *source_of(struct dwsrc *src, struct str path)
{
	struct source_file *s = map_get(&src->sources, path);
	if (s)
		return s;
	s = arena_new(src->arena, struct source_file);
	s->path = str_copy(src->arena, path);
	map_put(src->arena, &src->sources, s->path, s);
	src->n_read += FILE_COST;
	s->text = read_text(src, path, &s->is_missing);
	read_directives(src->arena, s);
	return s;
}

/** The file that a unit whose folder is @dir calls @name. */
static const struct source_file *source_in(struct dwsrc *src, const char *dir, const char *name)
{
	char buf[DEFINES_PATH];
	struct str folder = name[0] == '/' || !dir ? STR("") : str_from(dir);
	return source_of(src, defines_path(buf, folder, str_from(name), true));
}

// --- where headers are

/** The relative path that @d includes, or empty. */
static struct str included_name(const struct directive *d, bool *is_quoted)
{
	struct str text = d->kind == INCLUDE ? d->text : STR("");
	*is_quoted = text.n && text.p[0] == '"';
	if (!text.n || (text.p[0] != '<' && !*is_quoted))
		return (struct str){0};
	struct str name = str_from_offset(text, 1);
	size_t end = str_find(name, *is_quoted ? '"' : '>');
	return end < name.n && name.p[0] != '/' ? str_slice(name, 0, end) : (struct str){0};
}

/** To compare a text with @n others. */
static void spend_compared(struct dwsrc *src, struct str text, size_t n)
{
	src->n_read += n * (1 + text.n / 64) / 8;
}

static void add_root(struct defines_unit *u, struct str root)
{
	if (map_add(u->src->arena, &u->has_root, root))
		vec_push(u->src->arena, &u->roots, root);
}

/** Where @path, which ends in /@name, was included from. */
static bool is_root_of(struct str path, struct str name, struct str *root)
{
	*root = str_slice(path, 0, path.n - name.n - 1);
	return path.n > name.n + 1 && path.p[root->n] == '/' && str_has_suffix(path, name);
}

/** The files of the unit, and the folders that show when these include each other. */
static void find_roots(struct defines_unit *u, Dwarf_Die *unit, const char *dir)
{
	struct dwsrc *src = u->src;
	Dwarf_Files *files;
	size_t n = 0;
	bool is_quoted;
	struct str root;
	struct map seen = {0};
	if (dir)
		add_root(u, source_in(src, NULL, dir)->path);
	if (dwarf_getsrcfiles(unit, &files, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n && src->n_read < MAX_READ; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);
		if (path)
			vec_push(src->arena, &u->files, source_in(src, dir, path));
	}
	for (size_t i = 0; i < u->files.n; i++)
		for (size_t k = 0; k < u->files.v[i]->list.n && src->n_read < MAX_READ; k++) {
			const struct directive *d = &u->files.v[i]->list.v[k];
			struct str name = included_name(d, &is_quoted);
			if (!name.n || !map_add(src->arena, &seen, name))
				continue;
			spend_compared(src, name, u->files.n);
			for (size_t j = 0; j < u->files.n && src->n_read < MAX_READ; j++)
				if (is_root_of(u->files.v[j]->path, name, &root))
					add_root(u, root);
		}
}

/** A name with .. may lead anywhere. */
static const struct source_file *look(const struct defines_unit *u, struct str dir, struct str name)
{
	char buf[DEFINES_PATH];
	struct str path = defines_path(buf, dir, name, true);
	bool is_inside = !str_contains(name, STR(".."));
	if (!is_inside)
		spend_compared(u->src, path, u->roots.n);
	for (size_t i = 0; i < u->roots.n && !is_inside; i++)
		is_inside = str_has_prefix(path, u->roots.v[i]) && path.p[u->roots.v[i].n] == '/';
	const struct source_file *s = is_inside ? source_of(u->src, path) : NULL;
	return s && !s->is_missing ? s : NULL;
}

/** A file of the unit, else one below a root; NULL if there is none or several. */
static const struct source_file *find_below_roots(const struct defines_unit *u, struct str name)
{
	const struct source_file *found = NULL;
	bool is_opened = false;
	struct str root;
	for (size_t i = 0; i < u->files.n + u->roots.n && u->src->n_read < MAX_READ; i++) {
		bool is_file = i < u->files.n;
		if (is_file ? !is_root_of(u->files.v[i]->path, name, &root) : is_opened)
			continue;
		is_opened |= is_file;
		const struct source_file *s =
		    look(u, is_file ? root : u->roots.v[i - u->files.n], name);
		if (s && found && s != found)
			return NULL;
		found = s ? s : found;
	}
	return found;
}

/** The header that @d, an #include of @from, means, or NULL. */
static const struct source_file *find_header(struct defines_unit *u, const struct source_file *from,
					     const struct directive *d)
{
	bool is_quoted;
	struct str name = included_name(d, &is_quoted);
	const struct source_file *found = is_quoted ? look(u, str_dir(from->path), name) : NULL;
	if (found || !name.n)
		return found;
	const struct source_file **known = map_get(&u->headers, name);
	if (!known) {
		known = arena_new(u->src->arena, const struct source_file *);
		*known = find_below_roots(u, name);
		map_put(u->src->arena, &u->headers, name, known);
		u->src->n_read += u->files.n + u->roots.n;
	}
	return *known;
}

// --- definitions

static void add_event(struct defines_unit *u, const struct source_file *s,
		      const struct directive *d, bool is_certain)
{
	struct arena *a = u->src->arena;
	struct str name = word_of(d->text);
	struct events *events = map_get(&u->names, name);
	if (!events) {
		events = arena_new(a, struct events);
		map_put(a, &u->names, name, events);
	}
	vec_push(a, &events->v, (struct event){d, s, u->depth ? u->line : d->line, is_certain});
}

/** Each file is read once, and again if no condition is in the way any more. */
static void follow(struct defines_unit *u, const struct source_file *s, bool is_certain)
{
	if (u->depth >= MAX_DEPTH || map_get(&u->read_surely, s->path) ||
	    !map_add(u->src->arena, is_certain ? &u->read_surely : &u->read, s->path))
		return;
	for (size_t i = 0; i < s->list.n && u->src->n_read < MAX_READ; i++) {
		const struct directive *d = &s->list.v[i];
		const struct source_file *header = find_header(u, s, d);
		u->src->n_read += DIRECTIVE_COST;
		u->line = u->depth ? u->line : d->line;
		if (d->kind == DEFINE || d->kind == UNDEF)
			add_event(u, s, d, is_certain && d->is_certain);
		if (!header)
			continue;
		u->depth++;
		follow(u, header, is_certain && d->is_certain);
		u->depth--;
	}
}

/** From the file @start on. */
static const struct defines_unit *read_unit(struct dwsrc *src, const struct source_file *start,
					    Dwarf_Die *unit, const char *dir)
{
	struct str key = str_printf(src->arena, "%p " STR_FMT, unit->addr, STR_ARG(start->path));
	struct defines_unit *u = map_get(&src->macros, key);
	if (u)
		return u;
	u = arena_new(src->arena, struct defines_unit);
	u->src = src;
	map_put(src->arena, &src->macros, key, u);
	if (!start->text.n)
		return u;
	find_roots(u, unit, dir);
	follow(u, start, true);
	return u;
}

struct str defines_beside(struct dwsrc *src, const char *path, Dwarf_Die *unit, struct str name)
{
	char buf[DEFINES_PATH];
	const char *dir = dwsrc_string(unit, DW_AT_comp_dir);
	struct str folder = str_dir(source_in(src, NULL, path)->path), text = {0};
	bool is_missing = true;
	for (unsigned i = 0; i < 2 && is_missing && src->n_read < MAX_READ; i++) {
		const struct source_file *s = source_of(src, defines_path(buf, folder, name, true));
		text = s->text;
		is_missing = s->is_missing;
		folder = str_from(dir ? dir : "");
	}
	src->n_read += text.n;
	return text;
}

bool defines_open(struct dwsrc *src, const struct dwsite *site, struct defines *ret)
{
	Dwarf_Die unit = site->unit;
	const char *name = dwarf_diename(&unit), *dir = dwsrc_string(&unit, DW_AT_comp_dir);
	*ret = (struct defines){.file = source_in(src, NULL, site->full_path), .line = site->line};
	ret->text = ret->file->text;
	if (!ret->text.n)
		return false;
	const struct source_file *start = name ? source_in(src, dir, name) : ret->file;
	ret->unit = read_unit(src, start, &unit, dir);
	ret->is_start = start == ret->file;
	// A header that the unit's source does not lead to, or a file of LTO's unit of many.
	if (!map_get(&ret->unit->read_surely, ret->file->path) &&
	    !map_get(&ret->unit->read, ret->file->path)) {
		ret->unit = read_unit(src, ret->file, &unit, dir);
		ret->is_start = true;
	}
	return src->n_read < MAX_READ;
}

size_t defines_find(const struct defines *at, struct str name, struct str **ret)
{
	struct arena *a = at->unit->src->arena;
	VEC(struct str) texts = {0};
	const struct events *events = map_get(&at->unit->names, name);
	bool may_be_none = true;
	for (size_t i = 0; events && i < events->v.n && texts.n < DEFINES_MAX; i++) {
		if (!defines_spend(at, 1 + texts.n))
			break;
		const struct event *e = &events->v.v[i];
		bool is_new = e->at->kind == DEFINE;
		if ((at->is_start && e->line > at->line) ||
		    (e->file == at->file && e->at->line > at->line))
			continue;
		may_be_none =
		    e->is_certain ? e->at->kind == UNDEF : may_be_none || e->at->kind == UNDEF;
		for (size_t k = 0; k < texts.n; k++)
			is_new &= !str_eq(texts.v[k], e->at->text);
		if (is_new)
			vec_push(a, &texts, e->at->text);
	}
	if (may_be_none)
		vec_push(a, &texts, (struct str){0});
	*ret = texts.v;
	return texts.n;
}

bool defines_spend(const struct defines *at, size_t n)
{
	at->unit->src->n_read += n;
	return at->unit->src->n_read < MAX_READ;
}
