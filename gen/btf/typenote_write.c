#include "btf/typenote.h"

#include <bpf/btf.h>

#include "base/map.h"
#include "btf/kbtf.h"

enum { NOTE_TYPES = 4, MAX_DEPTH = 16 };

struct typenote_text {
	struct arena *arena;
	struct btf *btf; /**< libbpf's; owned */
	struct map ids;	 /**< what a type is made of -> its number */
	struct strbuf sites;
	uint32_t n_sites;
};

struct typenote_text *typenote_new(struct arena *a)
{
	struct typenote_text *text = arena_new(a, struct typenote_text);
	text->arena = a;
	text->btf = btf__new_empty();
	return text->btf ? text : NULL;
}

void typenote_text_free(struct typenote_text *text)
{
	if (!text)
		return;
	btf__free(text->btf);
	strbuf_fini(&text->sites);
}

// --- types: one of a kind; numbers below 0 are libbpf's errors, 0 is void, and what is not known

static int add_type(struct typenote_text *w, struct ctype *t, unsigned depth);

/** BTF has no classes, and no enums with a scope: see docs/usdt-notes.md. */
static const char *tag_name(struct typenote_text *w, const struct ctype *t)
{
	return arena_printf(w->arena, "%s" STR_FMT, t->is_class || t->is_scoped ? "class " : "",
			    STR_ARG(t->name));
}

static int add_enum(struct typenote_text *w, struct ctype *t)
{
	int id = btf__add_enum64(w->btf, tag_name(w, t), (uint32_t)t->size, t->is_signed);
	for (size_t i = 0; id >= 0 && ctype_complete(t) && i < t->n_values; i++) {
		int err = btf__add_enum64_value(w->btf, str_dup(w->arena, t->values[i].name),
						(uint64_t)t->values[i].value);
		id = err ? err : id;
	}
	return id;
}

static int add_array(struct typenote_text *w, const struct ctype *t, int of)
{
	int index = add_type(w, ctype_new(w->arena, CTYPE_INT, "int", 4, true), 0);
	uint32_t n = t->has_count && t->count <= UINT32_MAX ? (uint32_t)t->count : 0;
	return index < 0 ? index : btf__add_array(w->btf, index, of, n);
}

static int add_node(struct typenote_text *w, struct ctype *t, int of)
{
	switch (t->kind) {
	case CTYPE_INT:
	case CTYPE_BOOL:
		// BTF knows one of these of an integer; that it is a char, its name says.
		return btf__add_int(w->btf, str_dup(w->arena, t->name), t->size,
				    t->kind == CTYPE_BOOL ? BTF_INT_BOOL
				    : t->is_signed	  ? BTF_INT_SIGNED
							  : 0);
	case CTYPE_FLOAT:
		return btf__add_float(w->btf, str_dup(w->arena, t->name), t->size);
	case CTYPE_ENUM:
		return add_enum(w, t);
	case CTYPE_STRUCT:
	case CTYPE_UNION:
		return btf__add_fwd(w->btf, t->name.n ? tag_name(w, t) : KBTF_UNNAMED,
				    t->kind == CTYPE_UNION ? BTF_FWD_UNION : BTF_FWD_STRUCT);
	case CTYPE_ARRAY:
		return add_array(w, t, of);
	case CTYPE_POINTER:
		return btf__add_ptr(w->btf, of);
	case CTYPE_TYPEDEF:
		return btf__add_typedef(w->btf, str_dup(w->arena, t->name), of);
	case CTYPE_CONST:
		return btf__add_const(w->btf, of);
	case CTYPE_VOLATILE:
		return btf__add_volatile(w->btf, of);
	case CTYPE_FUNC:
		return btf__add_func_proto(w->btf, of);
	default:
		return 0;
	}
}

/** Two types with one key are one. */
static struct str key_of(struct typenote_text *w, struct ctype *t, int of)
{
	struct strbuf key = {0};
	strbuf_addf(&key, "%d %d %llu %d%d%d%d %llu " STR_FMT, t->kind, of,
		    (unsigned long long)t->size, t->is_signed, t->is_char, t->is_class,
		    t->is_scoped, (unsigned long long)t->count, STR_ARG(t->name));
	for (size_t i = 0; t->kind == CTYPE_ENUM && ctype_complete(t) && i < t->n_values; i++)
		strbuf_addf(&key, " " STR_FMT "=%lld", STR_ARG(t->values[i].name),
			    (long long)t->values[i].value);
	return strbuf_take(&key, w->arena);
}

static int add_type(struct typenote_text *w, struct ctype *t, unsigned depth)
{
	if (!t || depth >= MAX_DEPTH)
		return 0;
	// What an aggregate holds is not here, and nothing else of it leads on.
	int of = ctype_is_aggregate(t) || t->kind == CTYPE_ENUM ? 0 : add_type(w, t->of, depth + 1);
	if (of < 0)
		return of;
	struct str key = key_of(w, t, of);
	uintptr_t known = (uintptr_t)map_get(&w->ids, key);
	if (known)
		return (int)known;
	int id = add_node(w, t, of);
	if (id > 0)
		map_put(w->arena, &w->ids, key, (void *)(uintptr_t)id);
	return id;
}

// --- sites

/** The function @name with these arguments; one for all sites that have the same. */
static int add_function(struct typenote_text *w, const char *name, const struct typenote_arg *args,
			size_t n)
{
	int types[TYPENOTE_MAX_ARGS];
	struct strbuf key = {0};
	strbuf_addz(&key, name);
	for (size_t i = 0; i < n; i++) {
		types[i] = add_type(w, args[i].type, 0);
		strbuf_addf(&key, " %d " STR_FMT, types[i], STR_ARG(args[i].name));
	}
	struct str text = strbuf_take(&key, w->arena);
	uintptr_t known = (uintptr_t)map_get(&w->ids, text);
	if (known)
		return (int)known;
	int proto = btf__add_func_proto(w->btf, 0);
	for (size_t i = 0; proto > 0 && i < n; i++) {
		int err =
		    types[i] < 0
			? types[i]
			: btf__add_func_param(w->btf, str_dup(w->arena, args[i].name), types[i]);
		proto = err ? err : proto;
	}
	int id = proto > 0 ? btf__add_func(w->btf, name, BTF_FUNC_STATIC, proto) : proto;
	if (id > 0)
		map_put(w->arena, &w->ids, text, (void *)(uintptr_t)id);
	return id;
}

bool typenote_add(struct typenote_text *w, uint64_t pc, struct str provider, struct str probe,
		  const struct typenote_arg *args, size_t n)
{
	char *name = arena_printf(w->arena, STR_FMT ":" STR_FMT, STR_ARG(provider), STR_ARG(probe));
	int id = n <= TYPENOTE_MAX_ARGS ? add_function(w, name, args, n) : -1;
	if (id <= 0)
		return false;
	uint32_t function = (uint32_t)id;
	strbuf_add(&w->sites, &pc, sizeof(pc));
	strbuf_add(&w->sites, &function, sizeof(function));
	w->n_sites++;
	return true;
}

struct str typenote_bytes(const struct typenote_text *w)
{
	struct strbuf b = {0};
	uint32_t n_btf;
	const void *btf = btf__raw_data(w->btf, &n_btf);
	if (!btf)
		return (struct str){0};
	uint32_t n_desc = (uint32_t)(sizeof(w->n_sites) + w->sites.n + n_btf);
	uint32_t head[] = {sizeof("btgen"), n_desc, NOTE_TYPES};
	strbuf_add(&b, head, sizeof(head));
	strbuf_add(&b, "btgen\0\0", 8);
	strbuf_add(&b, &w->n_sites, sizeof(w->n_sites));
	strbuf_adds(&b, strbuf_str(&w->sites));
	strbuf_add(&b, btf, n_btf);
	while (b.n % 4)
		strbuf_addc(&b, '\0');
	return strbuf_take(&b, w->arena);
}
