#include "value/codename.h"

#include "base/clock.h"
#include "value/perfmap.h"
#include "dwarf/dwsite.h"
#include "elf/demangle.h"
#include "elf/imgsym.h"
#include "kernel/callchain.h"

enum {
	MAX_FILES = 256,     // each holds a descriptor
	MAX_MODULES = 65536, // vm.max_map_count, and more than any process needs
	LOOK_AGAIN_NS = 1000000000,
	MISSED_SHARE = 10, // of the time, at most, looking for what is not known takes a tenth
};

struct symbol {
	uint64_t addr, size;
	struct str name, raw; // as it is shown, and as the table has it
	struct str distinct;  // with its place, once it was asked for
	bool is_demangled;
	size_t order; // in its table, which a sort must not change for equal ones
};

/** A file that the process has, or had, mapped. */
struct file {
	dev_t dev;
	ino_t ino;
	struct img *img;   // NULL: it cannot be read
	struct dwsrc *src; // with it: its debug information
	bool tried;	   // its symbols were read, if it has any
	VEC(struct symbol) symbols;
};

/** Where it is mapped. */
struct module {
	uint64_t start, end; // its first executable mapping
	uint64_t bias;
	struct file *file;
	bool is_gone; // it was unloaded: what is there now may be the heap
};

struct codename {
	struct arena *arena;
	struct proc *proc;
	struct diag quiet;
	VEC(struct file *) files;
	VEC(struct module) modules;
	struct perfmap jit;
	int64_t looked_at, look_took; // ns
};

static struct file *find_file(struct codename *c, const struct proc_file *f)
{
	for (size_t i = 0; i < c->files.n; i++)
		if (c->files.v[i]->dev == f->dev && c->files.v[i]->ino == f->ino)
			return c->files.v[i];
	if (c->files.n == MAX_FILES || !f->open_path.n)
		return NULL;
	struct file *file = arena_new(c->arena, struct file);
	*file = (struct file){.dev = f->dev, .ino = f->ino};
	file->img = proc_open_image(c->arena, &c->quiet, c->proc, f);
	if (file->img) {
		file->img->offline = true; // bpftrace would lose events meanwhile
		file->src = dwsrc_new(file->img);
	}
	vec_push(c->arena, &c->files, file);
	return file;
}

static void add_module(struct codename *c, const struct proc_file *f)
{
	struct module new = {.start = f->start, .end = f->end, .file = find_file(c, f)};
	size_t kept = 0;
	if (!new.file || !new.file->img ||
	    !img_load_bias(new.file->img, f->start, f->offset, &new.bias))
		return;
	bool is_full = c->modules.n == MAX_MODULES;
	vec_each(const struct module, m, &c->modules)
		if ((m->end <= f->start || f->end <= m->start) && !(is_full && m->is_gone))
			c->modules.v[kept++] = *m;
	c->modules.n = kept;
	if (kept < MAX_MODULES)
		vec_push(c->arena, &c->modules, new);
}

static void add_modules(struct codename *c, const struct proc *p)
{
	for (size_t i = 0; i < p->files.n; i++)
		add_module(c, &p->files.v[i]);
}

/** Once it has ended, what is known must do. */
static void look_again(struct codename *c)
{
	struct arena a = {0};
	struct proc *p;
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	if (proc_open(&a, &c->quiet, c->proc->procfs, c->proc->pid, &p)) {
		bool is_same = p->start_time == c->proc->start_time;
		// One that is just ending has no memory.
		for (size_t i = 0; i < c->modules.n && is_same && p->mappings.n; i++)
			c->modules.v[i].is_gone = true;
		if (is_same)
			add_modules(c, p);
		proc_close(p);
	}
	perfmap_read(&c->jit);
	arena_fini(&a);
	c->looked_at = clock_ns(CLOCK_MONOTONIC);
	c->look_took = c->looked_at - start;
}

struct reading {
	struct arena *arena;
	struct file *file;
};

static bool add_symbol(void *ctx, const struct img_symbol *sym)
{
	const struct reading *r = ctx;
	struct symbol s = {.addr = sym->addr,
			   .size = sym->size,
			   .name = sym->name,
			   .raw = sym->name,
			   .order = r->file->symbols.n};
	vec_push(r->arena, &r->file->symbols, s);
	return true;
}

static size_t count_underscores(struct str name)
{
	size_t n = 0;
	while (n < name.n && name.p[n] == '_')
		n++;
	return n;
}

/** By address; of several names of one function the most public one last: malloc, then __libc_malloc. */
static int compare(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	size_t na = count_underscores(a->name), nb = count_underscores(b->name);
	if (na != nb)
		return na > nb ? -1 : 1;
	return a->order > b->order ? -1 : a->order < b->order;
}

/** The last one that starts at @addr or before it; NULL for none. */
static struct symbol *find_symbol(struct file *f, uint64_t addr)
{
	size_t low = addr < UINT64_MAX ? vec_first_from(&f->symbols, addr, addr + 1) : 0;
	if (!low)
		return NULL;
	// Assembly may have no size: then only its first byte is known to be its own.
	uint64_t start = f->symbols.v[low - 1].addr;
	for (size_t i = low; i-- > 0 && f->symbols.v[i].addr == start;) {
		struct symbol *s = &f->symbols.v[i];
		if (addr - start < s->size || addr == start)
			return s;
	}
	return NULL;
}

static void read_symbols(struct codename *c, struct file *f)
{
	struct reading r = {c->arena, f};
	f->tried = true;
	img_walk(f->img, IMG_VARIABLES, add_symbol, &r);
	if (f->symbols.n)
		qsort(f->symbols.v, f->symbols.n, sizeof(*f->symbols.v), compare);
}

/** The symbol of a file, and that file's place. */
static struct symbol *find_in_files(struct codename *c, uint64_t addr, const struct module **ret)
{
	const struct module *m = NULL;
	vec_each(const struct module, other, &c->modules)
		if (other->start <= addr && (!m || other->start > m->start))
			m = other;
	if (!m)
		return NULL;
	if (!m->file->tried)
		read_symbols(c, m->file);
	struct symbol *s = find_symbol(m->file, addr - m->bias);
	if (s && !s->is_demangled)
		s->name = demangle_written(c->arena, s->name);
	if (s)
		s->is_demangled = true;
	*ret = m;
	return s;
}

static struct str find_name(struct codename *c, uint64_t addr)
{
	const struct module *m;
	const struct symbol *s = find_in_files(c, addr, &m);
	return s ? s->name : perfmap_find(&c->jit, addr);
}

/** Does another function of the process have this name? */
static bool has_namesake(struct codename *c, const struct file *in, const struct symbol *s)
{
	for (size_t i = 0; i < c->files.n; i++) {
		struct file *f = c->files.v[i];
		if (f->img && !f->tried)
			read_symbols(c, f);
		for (size_t k = 0; k < f->symbols.n; k++)
			if ((f != in || f->symbols.v[k].addr != s->addr) &&
			    str_eq(f->symbols.v[k].raw, s->raw))
				return true;
	}
	return false;
}

static struct str add_place(struct codename *c, const struct module *m, const struct symbol *s)
{
	struct dwsrc *src = m->file->src;
	struct dwsite site;
	dwsite_at(src, s->addr, NULL, &site); // the line also without a function
	if (!site.line)
		return str_printf(c->arena, STR_FMT " (0x%" PRIx64 ")", STR_ARG(s->name),
				  s->addr + m->bias);
	return str_printf(c->arena, STR_FMT " (" STR_FMT ":%u)", STR_ARG(s->name),
			  STR_ARG(str_base(site.file)), site.line);
}

struct codename *codename_open(struct arena *a, struct diag *d, struct proc *proc)
{
	struct codename *c = arena_new(a, struct codename);
	*c = (struct codename){.arena = a, .proc = proc};
	diag_init(&c->quiet, NULL);
	perfmap_init(&c->jit, d, proc);
	add_modules(c, proc);
	perfmap_read(&c->jit);
	c->looked_at = clock_ns(CLOCK_MONOTONIC);
	return c;
}

struct str codename_find(struct codename *c, uint64_t addr)
{
	struct str name = find_name(c, addr);
	int64_t age = clock_ns(CLOCK_MONOTONIC) - c->looked_at;
	if (age < (name.n ? LOOK_AGAIN_NS : MISSED_SHARE * c->look_took))
		return name;
	look_again(c);
	return find_name(c, addr);
}

struct str codename_find_distinct(struct codename *c, uint64_t addr)
{
	struct str name = codename_find(c, addr);
	const struct module *m;
	struct symbol *s = find_in_files(c, addr, &m);
	if (!s)
		return name;
	if (!s->distinct.n)
		s->distinct = has_namesake(c, m->file, s) ? add_place(c, m, s) : s->name;
	return s->distinct;
}

bool codename_add_variable(struct codename *c, uint64_t addr, struct strbuf *out)
{
	if (clock_ns(CLOCK_MONOTONIC) - c->looked_at >= MISSED_SHARE * c->look_took)
		look_again(c); // the heap may be where a library was a moment ago
	const struct module *m;
	const struct symbol *s = find_in_files(c, addr, &m);
	uint64_t offset = s ? addr - m->bias - s->addr : 0;
	// Marks that linkers make have no size, and are where a variable ends.
	if (!s || m->is_gone || offset >= s->size)
		return false;
	strbuf_adds(out, codename_find_distinct(c, addr));
	if (offset)
		strbuf_addf(out, "+%" PRIu64, offset);
	return true;
}

bool codename_misses_caller(struct codename *c, uint64_t addr)
{
	char code[8];
	const struct module *m;
	codename_find(c, addr); // which looks for libraries that were loaded since
	const struct symbol *s = find_in_files(c, addr, &m);
	// A part that the compiler has moved away is jumped to, not called.
	return s && s->addr == addr - m->bias && !str_contains(s->raw, STR(".cold")) &&
	       callchain_misses_caller(
		   code, img_read_code(m->file->img, s->addr, code, sizeof(code), &(uint64_t){0}));
}

void codename_add_frame(struct codename *c, uint64_t addr, bool is_caller, struct strbuf *out)
{
	// A call that never returns may be the last instruction of its function.
	struct str name = codename_find(c, addr - is_caller);
	const struct module *m;
	const struct symbol *s = find_in_files(c, addr - is_caller, &m);
	if (s)
		strbuf_addf(out, STR_FMT "+%" PRIu64, STR_ARG(name), addr - m->bias - s->addr);
	else if (name.n)
		strbuf_adds(out, name);
	else
		strbuf_addf(out, "0x%" PRIx64, addr);
}

enum codename_text codename_find_text(struct codename *c, uint64_t addr, size_t most,
				      struct strbuf *ret)
{
	char text[1024];
	vec_each(const struct module, m, &c->modules) {
		bool is_constant;
		size_t n = img_read_bytes(m->file->img, addr - m->bias, text,
					  most < sizeof(text) ? most : sizeof(text), &is_constant);
		if (!n || !text[0])
			continue;
		strbuf_clear(ret);
		strbuf_add(ret, text, strnlen(text, n));
		return is_constant ? CODENAME_LITERAL : CODENAME_VARIABLE;
	}
	return CODENAME_NOTHING;
}

void codename_close(struct codename *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->files.n; i++)
		img_close(c->files.v[i]->img);
	perfmap_fini(&c->jit);
}
