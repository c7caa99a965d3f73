#include "btf/kbtf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

enum { MAX_DEPTH = 64, MAX_NAMES = 16 << 20 };

/** A typenote has this in front of the name of a class or a scoped enum, which BTF has not. */
#define CLASS "class "
/** What it calls a declaration without a name. */
#define UNNAMED "(unnamed)"

struct kbtf {
	struct type_source source; /**< first: it is one */
	struct ctype_loader loader;
	struct arena *arena;
	struct diag *diag;
	struct btf *btf;      /**< libbpf's; owned */
	struct ctype **types; /**< by id, as they are asked for */
	uint32_t n_types;
	unsigned depth;
	unsigned pointer_size;
	unsigned n_compared; /**< searches that compare types at this moment */
	struct map warned;   /**< names that have several definitions, said */
	struct map enumerators;
	bool has_enumerators, has_typedefs; // they were listed
	struct map tags;     /**< of structs, unions and enums, once somebody asked */
	struct map typedefs; /**< name -> kbtf_types, once somebody asked */
};

static bool complete(struct ctype_loader *loader, struct ctype *t);
static const struct type_source_ops ops;

static int be_quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

/** Section .BTF of an ELF file, read by btgen: libbpf trusts the file. False after an error. */
static bool parse_elf(struct arena *a, struct diag *d, const char *path, struct btf *base,
		      struct btf **ret)
{
	struct img *img;
	struct img_section s;
	*ret = NULL;
	if (!img_open(a, d, path, str_from(path), &img))
		return false;
	if (img_find_section(img, ".BTF", &s) && s.data.n && s.data.n <= UINT32_MAX)
		*ret = base ? btf__parse_split(path, base) : btf__new(s.data.p, (uint32_t)s.data.n);
	else
		errno = ENODATA;
	if (*ret && !base)
		btf__set_pointer_size(*ret, img->is64 ? 8 : 4);
	int err = errno;
	img_close(img);
	errno = err;
	return true;
}

static struct kbtf *new_source(struct arena *a, struct diag *d, struct str file, struct btf *btf)
{
	struct kbtf *k = arena_new(a, struct kbtf);
	k->source.ops = &ops;
	k->loader.complete = complete;
	k->arena = a;
	k->diag = d;
	k->source.file = file;
	k->btf = btf;
	k->n_types = btf__type_cnt(btf);
	k->types = arena_array(a, struct ctype *, k->n_types);
	k->pointer_size = btf__pointer_size(btf) == 4 ? 4 : 8;
	return k;
}

static bool open_file(struct arena *a, struct diag *d, const char *path, struct btf *base,
		      struct kbtf **ret)
{
	libbpf_set_print(be_quiet); // its messages name neither file nor remedy; ours do
	struct btf *btf = NULL;
	errno = 0;
	bool elf = img_is_elf(path);
	if (elf && !parse_elf(a, d, path, base, &btf))
		return false;
	if (!elf)
		btf = base ? btf__parse_split(path, base) : btf__parse(path, NULL);
	if (!btf) {
		int err = errno;
		struct diag_place at = {.file = str_from(path)};
		if (err == ENODATA || err == ENOENT)
			return diag_error(d, &at, "%s",
					  err == ENOENT ? "no such file" : "no BTF in it");
		if (!err || err >= __LIBBPF_ERRNO__START)
			return diag_error(d, &at, "not a BTF file");
		return diag_error(d, &at, "BTF cannot be read: %s", strerror(err));
	}
	*ret = new_source(a, d, str_copy(a, str_from(path)), btf);
	return true;
}

bool kbtf_open(struct arena *a, struct diag *d, const char *path, struct kbtf **ret)
{
	return open_file(a, d, path, NULL, ret);
}

bool kbtf_open_split(struct kbtf *base, const char *path, struct kbtf **ret)
{
	return open_file(base->arena, base->diag, path, base->btf, ret);
}

/** Offset of the name of enumerator @i. */
static uint32_t enumerator_at(const struct btf_type *bt, unsigned i)
{
	return btf_is_enum64(bt) ? btf_enum64(bt)[i].name_off : btf_enum(bt)[i].name_off;
}

/** Takes the name at @off off *@left; false when it is longer. */
static bool spend_name(struct kbtf *k, uint32_t off, size_t *left)
{
	const char *z = btf__name_by_offset(k->btf, off);
	size_t n = z ? strnlen(z, *left + 1) : 0;
	if (n > *left)
		return false;
	*left -= n;
	return true;
}

/** The names of all types and enumerators together. In corrupt BTF any number of them may share a long one. */
static bool names_fit(struct kbtf *k, size_t max)
{
	for (uint32_t id = 1; id < k->n_types; id++) {
		const struct btf_type *bt = btf__type_by_id(k->btf, id);
		if (!bt || !spend_name(k, bt->name_off, &max))
			return false;
		for (unsigned i = 0; btf_is_any_enum(bt) && i < btf_vlen(bt); i++)
			if (!spend_name(k, enumerator_at(bt, i), &max))
				return false;
	}
	return true;
}

struct kbtf *kbtf_open_bytes(struct img *img, struct str bytes)
{
	libbpf_set_print(be_quiet);
	struct btf *btf = bytes.n <= UINT32_MAX ? btf__new(bytes.p, (uint32_t)bytes.n) : NULL;
	if (!btf)
		return NULL;
	btf__set_pointer_size(btf, 8);
	struct kbtf *k = new_source(img->arena, img->diag, img->display_path, btf);
	if (names_fit(k, MAX_NAMES))
		return k;
	kbtf_close(k);
	return NULL;
}

/** Where types and names end, which follow the header. */
static uint64_t end_of_unit(struct str bytes, bool big)
{
	struct reader r;
	reader_init(&r, bytes.p, bytes.n, big);
	reader_skip(&r, offsetof(struct btf_header, hdr_len));
	uint64_t header = reader_u32(&r), end = 0;
	for (int i = 0; i < 2; i++) {
		uint64_t off = reader_u32(&r), len = reader_u32(&r);
		end = off + len > end ? off + len : end;
	}
	return header + end;
}

struct kbtf *kbtf_open_program(struct img *img)
{
	struct img_section s;
	if (!img->is64 || !img_find_section(img, ".BTF", &s) ||
	    end_of_unit(s.data, img->big) != s.data.n)
		return NULL;
	return kbtf_open_bytes(img, s.data);
}

void kbtf_close(struct kbtf *k)
{
	if (k)
		btf__free(k->btf);
}

static struct str name_at(struct kbtf *k, uint32_t off)
{
	return str_from(btf__name_by_offset(k->btf, off));
}

static uint32_t id_of(const struct ctype *t)
{
	return (uint32_t)(uintptr_t)t->origin;
}

// --- one BTF type into one ctype

static struct ctype *load(struct kbtf *k, uint32_t id);

static void set_size(struct ctype *t, uint64_t size)
{
	t->size = size;
	t->has_size = true;
}

/** An enum, a struct or a union: its inside waits for ctype_complete(). */
static void load_named(struct kbtf *k, const struct btf_type *bt, struct ctype *t)
{
	unsigned kind = btf_kind(bt);
	bool is_class = str_take(&t->name, STR(CLASS));
	if (str_eqz(t->name, UNNAMED))
		t->name.n = 0;
	t->loader = &k->loader;
	t->is_complete = false;
	t->is_decl = kind == BTF_KIND_FWD;
	if (!t->is_decl)
		set_size(t, bt->size);
	if (t->is_decl)
		t->kind = btf_kflag(bt) ? CTYPE_UNION : CTYPE_STRUCT;
	else if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION)
		t->kind = kind == BTF_KIND_STRUCT ? CTYPE_STRUCT : CTYPE_UNION;
	else
		t->kind = CTYPE_ENUM;
	t->is_class = is_class && t->kind == CTYPE_STRUCT;
	if (t->kind != CTYPE_ENUM)
		return;
	t->is_scoped = is_class;
	t->is_signed = btf_kflag(bt);
	// Before LLVM 15 and pahole 1.24 the flag was never set: a negative value shows the sign, too.
	if (kind == BTF_KIND_ENUM && bt->size == 4)
		for (unsigned i = 0; i < btf_vlen(bt); i++)
			t->is_signed |= btf_enum(bt)[i].val < 0;
}

static void load_kind(struct kbtf *k, const struct btf_type *bt, struct ctype *t)
{
	switch (btf_kind(bt)) {
	case BTF_KIND_INT:
		set_size(t, bt->size);
		t->kind =
		    btf_int_encoding(bt) & BTF_INT_BOOL && t->size == 1 ? CTYPE_BOOL : CTYPE_INT;
		t->is_signed = btf_int_encoding(bt) & BTF_INT_SIGNED;
		t->is_char = t->size == 1 && str_eq(t->name, STR("char"));
		return;
	case BTF_KIND_FLOAT:
		t->kind = CTYPE_FLOAT;
		set_size(t, bt->size);
		return;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		load_named(k, bt, t);
		return;
	case BTF_KIND_ARRAY:
		t->kind = CTYPE_ARRAY;
		t->of = load(k, btf_array(bt)->type);
		t->has_count = true; // BTF has [0] for arrays without a length
		t->count = btf_array(bt)->nelems;
		return;
	case BTF_KIND_PTR:
		t->kind = CTYPE_POINTER;
		set_size(t, k->pointer_size);
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		t->kind = CTYPE_TYPEDEF;
		break;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
		t->kind = btf_kind(bt) == BTF_KIND_CONST ? CTYPE_CONST : CTYPE_VOLATILE;
		break;
	case BTF_KIND_FUNC_PROTO:
		t->kind = CTYPE_FUNC;
		break;
	default:
		return;
	}
	t->of = load(k, bt->type);
}

static struct ctype *load(struct kbtf *k, uint32_t id)
{
	const struct btf_type *bt = id ? btf__type_by_id(k->btf, id) : NULL;
	if (!bt || id >= k->n_types)
		return NULL;
	if (k->types[id])
		return k->types[id];
	struct ctype *t = k->types[id] = arena_new(k->arena, struct ctype);
	t->kind = CTYPE_OPAQUE;
	t->is_complete = true;
	t->origin = (void *)(uintptr_t)id;
	t->name = name_at(k, bt->name_off);
	t->unit = k->source.file;
	if (k->depth >= MAX_DEPTH)
		return t;
	k->depth++;
	load_kind(k, bt, t);
	k->depth--;
	return t;
}

static void read_members(struct kbtf *k, const struct btf_type *bt, struct ctype *t)
{
	t->n_members = btf_vlen(bt);
	t->members = arena_array(k->arena, struct ctype_member, t->n_members);
	for (unsigned i = 0; i < t->n_members; i++) {
		struct ctype_member *m = &t->members[i];
		const struct btf_member *bm = &btf_members(bt)[i];
		m->name = name_at(k, bm->name_off);
		m->type = load(k, bm->type);
		uint64_t bit = btf_member_bit_offset(bt, i);
		m->bit_size = btf_member_bitfield_size(bt, i);
		// Old producers keep a bitfield's size and place in its integer type.
		struct ctype *in = ctype_strip(m->type);
		const struct btf_type *it = in ? btf__type_by_id(k->btf, id_of(in)) : NULL;
		if (!btf_kflag(bt) && it && btf_is_int(it) &&
		    (btf_int_bits(it) != it->size * 8 || btf_int_offset(it))) {
			m->bit_size = btf_int_bits(it);
			bit += btf_int_offset(it);
		}
		if (m->bit_size)
			m->bit_off = bit;
		m->off = bit / 8;
		if (t->kind == CTYPE_STRUCT && i)
			ctype_fix_bitfield(m - 1, m);
	}
}

static void read_values(struct kbtf *k, const struct btf_type *bt, struct ctype *t)
{
	t->n_values = btf_vlen(bt);
	t->values = arena_array(k->arena, struct ctype_value, t->n_values);
	for (unsigned i = 0; i < t->n_values; i++) {
		struct ctype_value *v = &t->values[i];
		v->name = name_at(k, enumerator_at(bt, i));
		if (btf_is_enum64(bt))
			v->value = (int64_t)btf_enum64_value(&btf_enum64(bt)[i]);
		else
			v->value = t->is_signed ? btf_enum(bt)[i].val
						: (int64_t)(uint32_t)btf_enum(bt)[i].val;
	}
}

/** BTF does not say where types come from. */
static void report_difference(struct kbtf *k, struct str name, const struct ctype *first,
			      const struct ctype *other)
{
	struct diag_place at = {.file = k->source.file};
	if (map_add(k->arena, &k->warned, str_copy(k->arena, name)))
		diag_warning(k->diag, &at,
			     "\"" STR_FMT
			     "\" is defined differently by types %u and %u; the first is used",
			     STR_ARG(name), id_of(first), id_of(other));
}

/** @first, or @t when there is none yet; false once nothing can be learnt from others. */
static bool compare_definition(struct kbtf *k, struct str name, struct ctype *t,
			       struct ctype **first)
{
	// A type may be asked for while others are compared; in corrupt BTF without end.
	bool compares = k->n_compared < MAX_DEPTH;
	if (!*first) {
		*first = t;
		return compares;
	}
	k->n_compared++;
	bool same = ctype_is_same(*first, t);
	k->n_compared--;
	if (!same)
		report_difference(k, name, *first, t);
	return same;
}

/** The kind of a definition; 0: it is none. */
static unsigned kind_of(const struct btf_type *bt)
{
	switch (btf_kind(bt)) {
	case BTF_KIND_STRUCT:
		return NAME_STRUCT;
	case BTF_KIND_UNION:
		return NAME_UNION;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return btf_vlen(bt) ? NAME_ENUM : 0; // none: a forward declaration
	case BTF_KIND_TYPEDEF:
		return NAME_TYPEDEF;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
		return NAME_BASE;
	default:
		return 0;
	}
}

/** Is @name, or what is called @inner in its scope, meant by @q? Only typenote's have scopes. */
static bool is_meant(const struct namequery *q, struct str name, struct str inner)
{
	struct namequery have;
	if (!namequery_parse(name, NAME_TYPES, &have))
		return false;
	return inner.n
		   ? namequery_fits(q, inner, have.parts, have.n_parts)
		   : namequery_fits(q, have.parts[have.n_parts - 1], have.parts, have.n_parts - 1);
}

static bool has_name(struct kbtf *k, const struct btf_type *bt, const struct namequery *q)
{
	const char *z = btf__name_by_offset(k->btf, bt->name_off);
	if (z && strncmp(z, CLASS, sizeof(CLASS) - 1) == 0)
		z += sizeof(CLASS) - 1;
	if (q->n_parts > 1)
		return z && strchr(z, ':') && is_meant(q, str_from(z), (struct str){0});
	struct str name = q->parts[0];
	return z && strncmp(z, name.p, name.n) == 0 && z[name.n] == '\0';
}

static struct ctype *find_by_kind(struct kbtf *k, const struct namequery *q, unsigned kinds)
{
	struct ctype *first = NULL;
	for (uint32_t id = 1; id < k->n_types; id++) {
		const struct btf_type *bt = btf__type_by_id(k->btf, id);
		if (bt && kind_of(bt) & kinds && has_name(k, bt, q) &&
		    !compare_definition(k, q->parts[q->n_parts - 1], load(k, id), &first))
			break;
	}
	return first;
}

static bool complete(struct ctype_loader *loader, struct ctype *t)
{
	struct kbtf *k = (struct kbtf *)((char *)loader - offsetof(struct kbtf, loader));
	const struct btf_type *bt = btf__type_by_id(k->btf, id_of(t));
	if (t->is_decl) {
		unsigned kind = namequery_tag(t);
		struct namequery q;
		struct ctype *def =
		    namequery_parse(t->name, kind, &q) ? find_by_kind(k, &q, kind) : NULL;
		if (!def || !ctype_complete(def))
			return false;
		t->is_decl = false;
		t->size = def->size;
		t->has_size = true;
		t->members = def->members;
		t->n_members = def->n_members;
	} else if (t->kind == CTYPE_ENUM) {
		read_values(k, bt, t);
	} else {
		read_members(k, bt, t);
	}
	t->is_complete = true;
	return true;
}

// --- by name

static struct ctype *find_type(struct type_source *source, const struct namequery *q)
{
	struct kbtf *k = (struct kbtf *)source;
	unsigned tags = q->kinds & (NAME_TAGS);
	struct ctype *t = tags ? find_by_kind(k, q, tags) : NULL;
	struct ctype *other = tags == q->kinds ? NULL : find_by_kind(k, q, q->kinds & ~tags);
	if (!t || !other || ctype_is_same(t, other))
		return t ? t : other;
	// In C the name alone is the typedef; whether one unit had both is not recorded.
	if ((q->kinds & NAME_TYPES) != NAME_TYPES)
		return t;
	struct diag_place at = {.file = k->source.file};
	if (map_add(k->arena, &k->warned, str_copy(k->arena, q->text)))
		diag_warning(k->diag, &at,
			     "\"" STR_FMT "\" is both a typedef and a tag; the typedef is used",
			     STR_ARG(q->text));
	return other;
}

/** Its last part is one of @t's: is it written as it must be? */
static bool has_enumerator(const struct ctype *t, const struct namequery *q)
{
	struct str name = q->parts[q->n_parts - 1];
	if (q->n_parts > 1 && t->name.n && is_meant(q, t->name, name))
		return true; // ns::E::A
	struct namequery scope;
	if (t->is_scoped)
		return false;
	if (!t->name.n || !namequery_parse(t->name, NAME_ENUM, &scope))
		return q->n_parts == 1;
	return namequery_fits(q, name, scope.parts, scope.n_parts - 1); // ns::A
}

static struct ctype *find_enumerator(struct type_source *source, const struct namequery *q,
				     int64_t *value)
{
	struct kbtf *k = (struct kbtf *)source;
	struct ctype *of = NULL;
	for (uint32_t id = 1; id < k->n_types; id++) {
		const struct btf_type *bt = btf__type_by_id(k->btf, id);
		if (!bt || !btf_is_any_enum(bt))
			continue;
		for (unsigned i = 0; i < btf_vlen(bt); i++) {
			if (!str_eq(name_at(k, enumerator_at(bt, i)), q->parts[q->n_parts - 1]))
				continue;
			struct ctype *t = load(k, id);
			if (!t || !ctype_complete(t))
				return NULL;
			if (!has_enumerator(t, q))
				continue;
			if (of && *value != t->values[i].value) {
				report_difference(k, q->parts[0], of, t);
				return of;
			}
			if (!of) {
				*value = t->values[i].value;
				of = t;
			}
		}
	}
	return of;
}

static struct str nearest(struct type_source *source, const struct namequery *q)
{
	struct kbtf *k = (struct kbtf *)source;
	struct str best = {0}, wanted = q->parts[q->n_parts - 1];
	unsigned distance = UINT32_MAX;
	for (uint32_t id = 1; id < k->n_types && distance; id++) {
		const struct btf_type *bt = btf__type_by_id(k->btf, id);
		struct str name =
		    bt && kind_of(bt) & q->kinds ? name_at(k, bt->name_off) : (struct str){0};
		if (name.n && str_is_nearer(wanted, name, &distance))
			best = name;
	}
	return best;
}

static bool walk(struct type_source *source, unsigned kinds, type_source_name_fn *fn, void *ctx)
{
	struct kbtf *k = (struct kbtf *)source;
	for (uint32_t id = 1; id < k->n_types; id++) {
		const struct btf_type *bt = btf__type_by_id(k->btf, id);
		unsigned kind = bt ? kind_of(bt) & kinds : 0;
		struct str name = kind ? name_at(k, bt->name_off) : (struct str){0};
		if (name.n)
			fn(ctx, kind, name);
	}
	return true;
}

static const struct type_source_ops ops = {
    .find = find_type, .find_enumerator = find_enumerator, .nearest = nearest, .walk = walk};

struct type_source *kbtf_source(struct kbtf *k)
{
	return &k->source;
}

bool kbtf_function(struct kbtf *k, uint32_t id, size_t max, struct kbtf_function *ret)
{
	const struct btf_type *bt = btf__type_by_id(k->btf, id);
	if (!bt || !btf_is_func(bt))
		return false;
	const struct btf_type *proto = btf__type_by_id(k->btf, bt->type);
	if (!proto || !btf_is_func_proto(proto) || btf_vlen(proto) > max)
		return false;
	ret->name = name_at(k, bt->name_off);
	ret->n_params = btf_vlen(proto);
	ret->params = arena_array(k->arena, struct ctype_member, ret->n_params + 1);
	for (size_t i = 0; i < ret->n_params; i++) {
		ret->params[i].name = name_at(k, btf_params(proto)[i].name_off);
		ret->params[i].type = load(k, btf_params(proto)[i].type);
	}
	return true;
}

const kbtf_types *kbtf_typedefs(struct kbtf *k, struct str name)
{
	// Asked for each argument of a program's probes.
	for (uint32_t id = 1; id < k->n_types && !k->has_typedefs; id++) {
		const struct btf_type *bt = btf__type_by_id(k->btf, id);
		if (!bt || !btf_is_typedef(bt))
			continue;
		struct str key = name_at(k, bt->name_off);
		kbtf_types *same = map_get(&k->typedefs, key);
		if (!same)
			map_put(k->arena, &k->typedefs, key,
				same = arena_new(k->arena, kbtf_types));
		vec_push(k->arena, same, load(k, id));
	}
	k->has_typedefs = true;
	return map_get(&k->typedefs, name);
}

bool kbtf_has_tag(struct kbtf *k, struct str tag)
{
	// A script asks for each of its tags: all of the kernel's are listed once.
	if (!k->tags.n)
		for (uint32_t id = 1; id < k->n_types; id++) {
			const struct btf_type *bt = btf__type_by_id(k->btf, id);
			struct str name = bt && kind_of(bt) & NAME_TAGS ? name_at(k, bt->name_off)
									: (struct str){0};
			if (name.n)
				map_add(k->arena, &k->tags, name);
		}
	return map_get(&k->tags, tag) != NULL;
}

bool kbtf_has_enumerator(struct kbtf *k, struct str name)
{
	// Likewise.
	for (uint32_t id = 1; id < k->n_types && !k->has_enumerators; id++) {
		const struct btf_type *bt = btf__type_by_id(k->btf, id);
		for (uint16_t i = 0; bt && btf_is_any_enum(bt) && i < btf_vlen(bt); i++)
			map_add(k->arena, &k->enumerators, name_at(k, enumerator_at(bt, i)));
	}
	k->has_enumerators = true;
	return map_get(&k->enumerators, name) != NULL;
}
