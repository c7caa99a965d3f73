#include "btf/typenote.h"

#include "btf/kbtf.h"
#include "elf/note.h"

enum { NOTE_TYPES = 4 };

/** Probes of one address: of functions that a linker folded. A damaged note may have any number. */
enum { MAX_AT_ONE = 64 };

struct site {
	uint64_t pc;
	uint32_t function; /**< BTF's number of what has its name and arguments */
};

struct typenote {
	struct arena *arena;
	struct kbtf *types;
	VEC(struct site) sites; /**< sorted by address */
};

/** Sites are in order, or the note is not one of ours. */
static bool read_sites(struct typenote *note, struct reader *r)
{
	uint32_t n = reader_u32(r);
	for (uint32_t i = 0; i < n; i++) {
		struct site s = {.pc = reader_u64(r)};
		s.function = reader_u32(r);
		if (r->err || (i && s.pc < note->sites.v[i - 1].pc))
			return false;
		vec_push(note->arena, &note->sites, s);
	}
	return !r->err;
}

static struct typenote *read_note(struct img *img, struct str desc)
{
	struct reader r;
	struct typenote *note = arena_new(img->arena, struct typenote);
	note->arena = img->arena;
	reader_init(&r, desc.p, desc.n, img->big);
	if (!read_sites(note, &r))
		return NULL;
	struct str btf = str_from_offset(desc, reader_offset(&r));
	note->types = kbtf_open_bytes(img, btf);
	if (!note->types)
		return NULL;
	kbtf_source(note->types)->is_rest = true;
	return note;
}

struct typenote *typenote_read(struct img *img)
{
	struct img_section s;
	struct reader r;
	struct note n;
	if (!img->is64 || !img_find_section(img, ".note.btgen.types", &s))
		return NULL;
	reader_init(&r, s.data.p, s.data.n, img->big);
	while (note_next(&r, &n))
		if (n.type == NOTE_TYPES && str_eqz(n.owner, "btgen"))
			return read_note(img, n.desc);
	return NULL;
}

void typenote_free(struct typenote *note)
{
	if (note)
		kbtf_close(note->types);
}

bool typenote_find(const struct typenote *note, uint64_t pc, struct str provider, struct str probe,
		   struct typenote_arg **ret, size_t *n)
{
	size_t first = vec_first_from(&note->sites, pc, pc);
	for (size_t i = first; i < note->sites.n && i - first < MAX_AT_ONE; i++) {
		struct kbtf_function f;
		if (note->sites.v[i].pc != pc)
			break;
		if (!kbtf_function(note->types, note->sites.v[i].function, TYPENOTE_MAX_ARGS, &f) ||
		    !str_take(&f.name, provider) || !str_take(&f.name, STR(":")) ||
		    !str_eq(f.name, probe)) // it is called provider:probe
			continue;
		*n = f.n_params;
		*ret = arena_array(note->arena, struct typenote_arg, *n + 1);
		for (size_t k = 0; k < *n; k++)
			(*ret)[k] = (struct typenote_arg){.name = f.params[k].name,
							  .type = f.params[k].type};
		return true;
	}
	return false;
}

struct type_source *typenote_source(struct typenote *note)
{
	return kbtf_source(note->types);
}
