#include "usdt/sdt.h"

#include <elf.h>

#include "elf/note.h"

#define NT_STAPSDT 3
// The largest programs have some thousand sites and strings of some hundred bytes; beyond these a file lies.
#define MAX_SITES (1u << 17)
#define MAX_BROKEN 1000
#define MAX_STRING (1u << 16)

/** A site as its note was met; those of one probe need not follow each other. */
struct found {
	struct found *next;
	struct sdt_probe *probe;
	struct sdt_site site;
};

/** The first site of each doubt, and how many there are. */
struct doubtful {
	struct diag_place at;
	uint64_t pc;
	size_t n;
};

struct notes {
	struct img *img;
	struct sdt_list *list;
	struct img_section section; /**< the one that is being read */
	bool has_base;
	bool wants_base;   /**< a note has its address: not in Folly's, nor in some of lld */
	uint64_t base;	   /**< where .stapsdt.base is now */
	uint64_t max_addr; /**< highest address of the file's class */
	struct found *first, **last;
	struct doubtful doubtful[SDT_NO_BASE + 1];
};

static bool bad_note(struct notes *n, uint64_t off, const char *what)
{
	struct diag_place at = img_place(n->img, n->section.name, off);
	n->list->n_broken++;
	return diag_error(n->img->diag, &at, "%s", what);
}

const char *sdt_doubt_text(enum sdt_doubt doubt)
{
	static const char *const texts[] = {
	    [SDT_NOT_A_NOP] = "the instruction there is not a nop",
	    [SDT_NO_CODE] = "the file has no code there",
	    [SDT_NO_BASE] = "the linker dropped the base address recorded in its note"};
	return texts[doubt];
}

size_t sdt_x86_nop(const uint8_t *code, size_t n)
{
	size_t i = 0;
	while (i < n && (code[i] == 0x66 || code[i] == 0x2e))
		i++;
	if (i < n && code[i] == 0x90)
		return i + 1;
	if (i + 2 >= n || code[i] != 0x0f || code[i + 1] != 0x1f)
		return 0;
	unsigned mod = code[i + 2] >> 6, rm = code[i + 2] & 7;
	bool has_sib = mod != 3 && rm == 4;
	return i + 3 + has_sib + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
}

static enum sdt_doubt check_code(struct img *img, uint64_t pc, uint64_t *off)
{
	static const uint8_t arm64_nop[] = {0x1f, 0x20, 0x03, 0xd5}; // little-endian in every file
	uint8_t code[10];
	if (img->machine != EM_X86_64 && img->machine != EM_386 && img->machine != EM_AARCH64)
		return img_read_code(img, pc, code, 1, off) ? SDT_UNCHECKED : SDT_NO_CODE;
	size_t n = img_read_code(img, pc, code, sizeof(code), off);
	if (!n)
		return SDT_NO_CODE;
	bool nop = img->machine == EM_AARCH64 ? n >= 4 && memcmp(code, arm64_nop, 4) == 0
					      : sdt_x86_nop(code, n) > 0;
	return nop ? SDT_SURE : SDT_NOT_A_NOP;
}

/** The two strings follow each other in the note, so the key is a view of both and the NUL between them. */
static struct str key_of(const struct sdt_probe *p)
{
	return (struct str){p->provider.p, p->provider.n + 1 + p->name.n};
}

static void add_site(struct notes *n, struct str provider, struct str name, struct sdt_site site)
{
	struct arena *a = n->img->arena;
	struct map *by_name = &n->list->by_name;
	struct sdt_probe probe = {.provider = provider, .name = name};
	struct sdt_probe *p = map_get(by_name, key_of(&probe));
	if (!p) {
		p = arena_new(a, struct sdt_probe);
		*p = probe;
		map_put(a, by_name, key_of(&probe), p);
	}
	p->n_sites++;
	n->list->n_sites++;
	struct found *f = arena_alloc(a, sizeof(*f));
	*f = (struct found){.probe = p, .site = site};
	*n->last = f;
	n->last = &f->next;

	struct doubtful *d = &n->doubtful[site.doubt];
	if (!d->n++) {
		d->at = img_place(n->img, n->section.name, site.note);
		d->pc = site.pc;
	}
}

/**
 * The description of a note (_SDT_ASM_BODY of <sys/sdt.h>): the site, .stapsdt.base as it was when
 * the note was written, and the semaphore, each as wide as the file's class; provider, name and
 * operands, each ended by a NUL.
 */
static bool read_site(struct notes *n, uint64_t off, struct str desc)
{
	struct img *img = n->img;
	struct reader r;
	reader_init(&r, desc.p, desc.n, img->big);
	uint64_t pc = img_read_word(&r, img), base = img_read_word(&r, img);
	uint64_t semaphore = img_read_word(&r, img);
	if (r.err)
		return bad_note(n, off, "the note is too short for its three addresses");
	struct str provider = reader_cstr(&r), name = reader_cstr(&r), args = reader_cstr(&r);
	if (r.err)
		return bad_note(n, off, "a string in the note is not terminated");
	if (!provider.n || !name.n)
		return bad_note(n, off,
				provider.n ? "the probe has no name" : "the probe has no provider");
	if (desc.n > MAX_STRING)
		return bad_note(n, off, "the strings of the note are too long");

	struct sdt_site site = {.pc = pc, .semaphore = semaphore, .note = off, .args = args};
	// A note of an object file whose .stapsdt.base was dropped (--gc-sections, or a section
	// group kept from another file) has 0 for it: the difference would move the site out of the
	// program.
	n->wants_base |= base != 0;
	bool lost_base = n->has_base && n->base && !base && img->type != ET_REL;
	if (n->has_base && !lost_base) {
		site.pc = (pc + (n->base - base)) & n->max_addr;
		if (semaphore)
			site.semaphore = (semaphore + (n->base - base)) & n->max_addr;
	}
	// A linker that drops a function writes 0 where its notes had an address.
	site.doubt = pc && img->type != ET_REL ? check_code(img, site.pc, &site.off) : SDT_NO_CODE;
	if (lost_base)
		site.doubt = SDT_NO_BASE;
	add_site(n, provider, name, site);
	return true;
}

static void read_section(struct notes *n)
{
	struct reader r;
	struct note note;
	reader_init(&r, n->section.data.p, n->section.data.n, n->img->big);
	while (note_next(&r, &note)) {
		if (note.type != NT_STAPSDT || !str_eqz(note.owner, "stapsdt"))
			continue;
		if (n->list->n_sites == MAX_SITES || n->list->n_broken == MAX_BROKEN) {
			bad_note(
			    n, note.off,
			    n->list->n_broken == MAX_BROKEN
				? "too many malformed notes; the rest of the section is not read"
				: "too many notes; the rest of the section is not read");
			return;
		}
		read_site(n, note.off, note.desc);
	}
	if (r.err)
		bad_note(n, note.off,
			 note.has_header ? "the note runs past the end of the section"
					 : "the section ends inside the header of a note");
}

static void warn(struct notes *n, enum sdt_doubt doubt, const char *what)
{
	const struct doubtful *d = &n->doubtful[doubt];
	if (!d->n)
		return;
	if (d->n == 1)
		diag_warning(n->img->diag, &d->at, "the site at 0x%" PRIx64 " %s", d->pc, what);
	else
		diag_warning(n->img->diag, &d->at, "the site at 0x%" PRIx64 " (and %zu more) %s",
			     d->pc, d->n - 1, what);
}

static void warn_about_doubts(struct notes *n)
{
	struct diag_place file = {.file = n->img->display_path};
	size_t n_sites = n->list->n_sites;
	if (!n_sites)
		return;
	if (n->img->type == ET_REL) {
		diag_warning(n->img->diag, &file,
			     "an object file: its probes have no addresses until it is linked");
		return;
	}
	if (!n->has_base && n->wants_base)
		diag_warning(n->img->diag, &file,
			     "no section .stapsdt.base (did the linker drop it?): addresses of "
			     "probes are taken as recorded");
	if (n->doubtful[SDT_NO_CODE].n == n_sites)
		diag_warning(
		    n->img->diag, &file,
		    "no code at any site: is it a separate debug file? Trace the program itself");
	else
		warn(n, SDT_NO_CODE, "has no code: it cannot be traced");
	warn(n, SDT_NOT_A_NOP, "is not a nop: tracing it can crash the program");
	warn(n, SDT_NO_BASE,
	     "has lost its base address (linked without .stapsdt.base?): tracers will put their "
	     "breakpoint elsewhere and can crash the program");
}

/** The probes in the order of the notes, each with its sites together. */
static void make_list(struct notes *n)
{
	struct sdt_list *list = n->list;
	struct sdt_site *site = arena_array(n->img->arena, struct sdt_site, list->n_sites + 1);
	list->probes = arena_array(n->img->arena, struct sdt_probe, list->by_name.n + 1);
	for (struct map_entry *e = NULL; (e = map_next(&list->by_name, e));) {
		struct sdt_probe *p = e->value;
		p->sites = site;
		site += p->n_sites;
		e->value = &list->probes[list->n_probes];
		list->probes[list->n_probes++] = *p;
	}
	for (struct found *f = n->first; f; f = f->next)
		*f->probe->sites++ = f->site;
}

bool sdt_read(struct img *img, struct sdt_list *ret)
{
	*ret = (struct sdt_list){0};
	struct notes n = {.img = img, .list = ret};
	n.last = &n.first;
	n.max_addr = img->is64 ? UINT64_MAX : UINT32_MAX;
	struct img_section s;
	n.has_base = img_find_header(img, ".stapsdt.base", &s);
	n.base = n.has_base ? s.addr : 0;

	size_t n_sections = 0, n_read = 0;
	for (unsigned i = 1; img_next_header(img, &i, &s);) {
		if (!str_eqz(s.name, ".note.stapsdt") || s.type == SHT_NOBITS)
			continue;
		n_sections++;
		if (!img_read_section(img, &s))
			continue;
		n_read++;
		n.section = s;
		read_section(&n);
	}
	if (n_sections && !n_read)
		return false;

	make_list(&n);
	warn_about_doubts(&n);
	return true;
}

struct sdt_probe *sdt_find_named(const struct sdt_list *list, struct str provider, struct str name)
{
	struct strbuf key = {0};
	strbuf_adds(&key, provider);
	strbuf_addc(&key, '\0');
	strbuf_adds(&key, name);
	struct sdt_probe *p = map_get(&list->by_name, strbuf_str(&key));
	strbuf_fini(&key);
	return p;
}

static bool is_pattern(struct str s)
{
	return str_find(s, '*') < s.n || str_find(s, '?') < s.n;
}

struct sdt_probe *sdt_find(const struct sdt_list *list, struct str provider, struct str name,
			   const struct sdt_probe *after)
{
	if (provider.n && !is_pattern(provider) && !is_pattern(name)) {
		struct sdt_probe *p = sdt_find_named(list, provider, name);
		return p && (!after || p > after) ? p : NULL; // it is the only one
	}
	for (size_t i = after ? (size_t)(after - list->probes) + 1 : 0; i < list->n_probes; i++) {
		struct sdt_probe *p = &list->probes[i];
		if ((!provider.n || str_glob(provider, p->provider)) && str_glob(name, p->name))
			return p;
	}
	return NULL;
}

unsigned sdt_count_places(struct arena *a, const struct sdt_probe *p)
{
	struct map places = {0};
	if (p->n_sites < 2)
		return (unsigned)p->n_sites;
	for (size_t i = 0; i < p->n_sites; i++)
		map_add(a, &places, p->sites[i].args);
	return (unsigned)places.n;
}

bool sdt_find_nearest(const struct sdt_list *list, struct str provider, struct str name,
		      unsigned *best, const struct sdt_probe **ret)
{
	bool found = false;
	list_each(const struct sdt_probe, p, list->probes, list->n_probes) {
		unsigned limit = *best, d = 0;
		if (!str_eq(name, p->name) && !str_is_nearer(name, p->name, &limit))
			continue;
		if (!str_eq(name, p->name))
			d = limit;
		// A wrong provider costs at most 2, so that the right name under it is still offered.
		if (provider.n && !str_eq(provider, p->provider))
			d += str_distance(provider, p->provider, 1);
		if (d >= *best)
			continue;
		*best = d;
		*ret = p;
		found = true;
	}
	return found;
}

uint64_t sdt_semaphore(const struct sdt_probe *p)
{
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].semaphore)
			return p->sites[i].semaphore;
	return 0;
}
