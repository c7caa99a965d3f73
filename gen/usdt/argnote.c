#include "usdt/argnote.h"

#include "elf/note.h"

enum { NOTE_SITE = 1, NOTE_TEXT = 2, NOTE_DOC = 3 };

/** The macro takes 12; a text with more is not one of ours. */
enum { MAX_ARGS = 12 };

/** Strings of one text: more than that no one writes, and each of its sites would be shown with them. */
enum { MAX_TEXT = 1 << 14 };

/** A type 2 note, which many sites may refer to. */
struct text {
	uint64_t off; /**< of its description */
	uint32_t id;
	unsigned line;
	struct str provider, probe, file, args;
	bool is_parsed;
	struct argname_arg *parsed;
	size_t n_parsed;
};

struct argnotes {
	struct arena *arena;
	VEC(struct text) texts;	   /**< in the order of the section, so sorted by `off` */
	VEC(struct argnote) sites; /**< sorted by_site() */
	struct map docs;	   /**< "provider\0probe" -> struct str */
};

static void add_text(struct argnotes *n, uint64_t off, struct reader *r)
{
	struct text t = {.off = off};
	t.id = reader_u32(r);
	t.line = reader_u32(r);
	t.provider = reader_cstr(r);
	t.probe = reader_cstr(r);
	t.file = reader_cstr(r);
	t.args = reader_cstr(r);
	if (!r->err && reader_offset(r) <= MAX_TEXT)
		vec_push(n->arena, &n->texts, t);
}

/** A text comes before its sites, so that it is known already. */
static void add_site(struct argnotes *n, uint64_t off, struct reader *r)
{
	uint64_t pc = reader_u64(r);
	int32_t back = (int32_t)reader_u32(r);
	uint32_t id = reader_u32(r);
	if (r->err || !pc)
		return;
	// Older headers end here.
	uint64_t kinds = reader_u32(r);
	kinds |= (uint64_t)reader_u32(r) << 24;
	uint64_t to = off + (uint64_t)(int64_t)back;
	size_t i = vec_first_from(&n->texts, off, to);
	const struct text *t = i < n->texts.n ? &n->texts.v[i] : NULL;
	if (!t || t->off != to || t->id != id)
		return;
	vec_push(n->arena, &n->sites,
		 (struct argnote){.pc = pc,
				  .id = id,
				  .kinds = r->err ? 0 : kinds,
				  .line = t->line,
				  .provider = t->provider,
				  .probe = t->probe,
				  .file = t->file,
				  .text = (size_t)(t - n->texts.v)});
}

static void add_doc(struct argnotes *n, struct reader *r)
{
	struct str provider = reader_cstr(r), probe = reader_cstr(r), sentence = reader_cstr(r);
	if (r->err)
		return;
	struct str *value = arena_new(n->arena, struct str);
	*value = argname_literal(n->arena, sentence);
	// The two strings follow each other, so that the key is a view of both and of the NUL between them.
	if (value->n)
		map_put(n->arena, &n->docs, (struct str){provider.p, provider.n + 1 + probe.n},
			value);
}

static void read_section(struct argnotes *n, struct str data, bool big)
{
	struct reader r;
	struct note note;
	reader_init(&r, data.p, data.n, big);
	while (note_next(&r, &note)) {
		struct reader d;
		reader_init(&d, note.desc.p, note.desc.n, big);
		if (!str_eqz(note.owner, "btgen"))
			continue;
		if (note.type == NOTE_SITE)
			add_site(n, note.desc_off, &d);
		else if (note.type == NOTE_TEXT)
			add_text(n, note.desc_off, &d);
		else if (note.type == NOTE_DOC)
			add_doc(n, &d);
	}
}

/** Many probes may be at one address, where no argument has to be fetched between them. */
static int by_site(const void *a, const void *b)
{
	const struct argnote *x = a, *y = b;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	int order = str_compare(x->probe, y->probe);
	return order ? order : str_compare(x->provider, y->provider);
}

struct argnotes *argnote_read(struct img *img)
{
	struct argnotes *n = arena_new(img->arena, struct argnotes);
	struct img_section s;
	n->arena = img->arena;
	if (!img_find_section(img, ".note.btgen", &s))
		return n;
	read_section(n, s.data, img->big);
	if (n->sites.n)
		qsort(n->sites.v, n->sites.n, sizeof(*n->sites.v), by_site);
	return n;
}

/** Cuts the text of the macro call; the first piece is the probe's name. */
static void parse_args(struct arena *a, struct text *t)
{
	struct str parts[MAX_ARGS + 2];
	size_t count = argname_split(t->args, parts, MAX_ARGS + 2);
	t->is_parsed = true;
	if (count < 2 || count > MAX_ARGS + 1)
		return;
	t->n_parsed = count - 1;
	t->parsed = arena_array(a, struct argname_arg, t->n_parsed);
	for (size_t i = 0; i < t->n_parsed; i++)
		argname_parse(a, parts[i + 1], &t->parsed[i]);
}

struct argnote *argnote_find(struct argnotes *notes, uint64_t pc, struct str provider,
			     struct str probe)
{
	struct argnote key = {.pc = pc, .provider = provider, .probe = probe};
	struct argnote *n = notes->sites.n ? bsearch(&key, notes->sites.v, notes->sites.n,
						     sizeof(*notes->sites.v), by_site)
					   : NULL;
	if (!n)
		return NULL;
	struct text *t = &notes->texts.v[n->text];
	if (!t->is_parsed)
		parse_args(notes->arena, t);
	n->args = t->parsed;
	n->n_args = t->n_parsed;
	return n;
}

static struct str joined_name(struct arena *a, const struct argnote *n)
{
	return str_printf(a, STR_FMT "__" STR_FMT, STR_ARG(n->provider), STR_ARG(n->probe));
}

bool argnote_is_only(const struct argnotes *notes, const struct argnote *site)
{
	struct str name = joined_name(notes->arena, site);
	return !vec_any(const struct argnote, n, &notes->sites,
			n->provider.n != site->provider.n &&
			    n->provider.n + n->probe.n == site->provider.n + site->probe.n &&
			    str_eq(joined_name(notes->arena, n), name));
}

struct str argnote_doc(const struct argnotes *notes, struct str provider, struct str probe)
{
	if (!notes->docs.n)
		return (struct str){0};
	char *key = arena_printf(notes->arena, STR_FMT "%c" STR_FMT, STR_ARG(provider), '\0',
				 STR_ARG(probe));
	struct str *s = map_get(&notes->docs, (struct str){key, provider.n + 1 + probe.n});
	return s ? *s : (struct str){0};
}
