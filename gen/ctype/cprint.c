#include "ctype/cprint.h"

#include "ctype/clayout.h"
#include "ctype/cname.h"

enum { MAX_DEPTH = 32, MAX_TEXT = 64 << 20 };

struct printer {
	struct code *b;
	struct closure *c;
	const char *why; /**< reason of a failure */
	unsigned n_gaps;
};

static const char *integer_name(const struct ctype *t, uint64_t size, bool for_bpftrace)
{
	static const char *const names[][2] = {{"unsigned char", "signed char"},
					       {"unsigned short", "short"},
					       {"unsigned int", "int"},
					       {"unsigned long long", "long long"},
					       {"unsigned __int128", "__int128"}};
	if (size == 1 && t->is_char)
		return "char";
	for (size_t i = 0; i < (for_bpftrace ? 4 : 5); i++)
		if (size == 1u << i)
			return names[i][t->is_signed];
	return NULL;
}

static const char *float_name(const struct ctype *t, bool for_bpftrace)
{
	if (t->size == 4 && str_eq(t->name, STR("float")))
		return "float";
	if (t->size == 8 && (str_eq(t->name, STR("double")) || str_eq(t->name, STR("long double"))))
		return "double";
	if (!for_bpftrace && t->size == 16 && str_eq(t->name, STR("long double")))
		return "long double";
	return NULL;
}

static const char *keyword(const struct ctype *t)
{
	return t->kind == CTYPE_UNION ? "union" : t->kind == CTYPE_ENUM ? "enum" : "struct";
}

/** C gives an enum 4 bytes when its values fit, else 8; any other size cannot be had by its name. */
static uint64_t natural_enum_size(const struct ctype *t)
{
	for (size_t i = 0; i < t->n_values; i++) {
		int64_t v = t->values[i].value;
		if (t->is_signed ? v < INT32_MIN || v > INT32_MAX : (uint64_t)v > UINT32_MAX)
			return 8;
	}
	return 4;
}

/**
 * The name of @t as a C type, with stars for pointers; NULL when C has no word for it (then it is
 * bytes) or when it is an array or a struct without a name.
 */
static const char *name_of(struct closure *c, struct ctype *t, unsigned depth)
{
	t = ctype_strip(t);
	if (!t || depth > MAX_DEPTH)
		return NULL;
	struct cdef *def;
	bool bpf = c->opt.for_bpftrace;
	switch (t->kind) {
	case CTYPE_INT:
		return integer_name(t, t->size, bpf);
	case CTYPE_BOOL:
		return "_Bool";
	case CTYPE_FLOAT:
		return float_name(t, bpf);
	case CTYPE_ENUM:
		def = bpf ? NULL : closure_get(c, t);
		if (def && def->state == CLOSURE_DONE && natural_enum_size(t) == t->size)
			return arena_printf(c->arena, "enum " STR_FMT,
					    STR_ARG(word_spell(c->arena, def->tag).s));
		return t->has_size ? integer_name(t, t->size, bpf) : NULL;
	case CTYPE_STRUCT:
	case CTYPE_UNION:
		def = closure_get(c, t);
		return def ? arena_printf(c->arena, "%s " STR_FMT, keyword(t),
					  STR_ARG(word_spell(c->arena, def->tag).s))
			   : NULL;
	case CTYPE_POINTER:
	case CTYPE_REFERENCE: {
		if (t->size != 8)
			return integer_name(&(struct ctype){0}, t->size, bpf);
		struct ctype *to = ctype_strip(t->of);
		const char *name = to && to->kind != CTYPE_FUNC ? name_of(c, to, depth + 1) : NULL;
		if (!name) // bpftrace 0.27 aborts of a map with a `void *` in it
			return bpf ? "char *" : "void *";
		size_t n = str_from(name).n;
		return arena_printf(c->arena, name[n - 1] == '*' ? "%s*" : "%s *", name);
	}
	default:
		return NULL;
	}
}

const char *cprint_type_name(struct closure *c, struct ctype *t)
{
	return name_of(c, t, 0);
}

static void indent(struct printer *p, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		code_z(p->b, "\t");
}

static void print_name(struct printer *p, const char *type, struct str name)
{
	code_z(p->b, type);
	char last = type[0] ? type[str_from(type).n - 1] : '*';
	if (name.n && last != '*' && last != '\t')
		code_z(p->b, " ");
	code_ident(p->b, name);
}

/** Gaps: bits up to a byte's end, whole bytes, bits in the last byte. */
static void print_gap(struct printer *p, uint64_t from, uint64_t to, unsigned depth)
{
	while (from < to) {
		uint64_t byte_end = (from + 8) & ~UINT64_C(7), end = byte_end < to ? byte_end : to;
		bool is_bits = from % 8 || end % 8;
		end = is_bits ? end : to & ~UINT64_C(7);
		indent(p, depth);
		if (is_bits)
			code_f(p->b, "unsigned char : %u;\n", (unsigned)(end - from));
		else
			code_f(p->b, "unsigned char _gap%u[%" PRIu64 "];\n", p->n_gaps++,
			       (end - from) / 8);
		from = end;
	}
}

static bool layout_of(struct printer *p, struct ctype *t, struct clayout *ret)
{
	return clayout_of(p->c->arena, t, p->c->opt.for_bpftrace, ret, &p->why);
}

static bool print_body(struct printer *p, struct ctype *t, const struct clayout *l, unsigned depth);

static bool print_bitfield(struct printer *p, const struct clayout_field *f)
{
	struct ctype *t = ctype_strip(f->type);
	const char *name = t ? name_of(p->c, t, 0) : NULL;
	uint64_t n_read = f->bit_off % 8 + f->bits;
	if (!name || f->bits > t->size * 8 || (p->c->opt.for_bpftrace && n_read > t->size * 8)) {
		// bpftrace reads whole bytes into the type, which a packed bitfield may exceed; any that holds them will do.
		name = n_read > 32 ? "unsigned long long" : "unsigned int";
		if (f->bits > 64) {
			p->why = "it has a bitfield of more than 64 bits";
			return false;
		}
	}
	code_f(p->b, "%s ", name);
	code_ident(p->b, f->name);
	code_f(p->b, " : %u;\n", (unsigned)f->bits);
	return true;
}

/** A struct or union without a name, in the place of member @f. */
static bool print_inline(struct printer *p, struct ctype *t, const struct clayout_field *f,
			 unsigned depth)
{
	struct clayout l;
	if (depth > MAX_DEPTH) {
		p->why = "it is nested too deeply";
		return false;
	}
	code_f(p->b, "%s {\n", keyword(t));
	if (!layout_of(p, t, &l) || !print_body(p, t, &l, depth + 1))
		return false;
	indent(p, depth);
	print_name(p, "}", f->name);
	return true;
}

static bool print_field(struct printer *p, const struct clayout_field *f, unsigned depth)
{
	struct code *b = p->b;
	if (code_str(b).n > MAX_TEXT) {
		p->why = "its definition is larger than 64 MiB";
		return false;
	}
	if (f->is_bytes && !f->name.n) {
		print_gap(p, f->bit_off, f->bit_off + f->bits, depth);
		return true;
	}
	indent(p, depth);
	if (f->is_bitfield)
		return print_bitfield(p, f);
	uint64_t dims[MAX_DEPTH];
	unsigned n = 0;
	struct ctype *e = ctype_strip(f->type);
	for (; e && e->kind == CTYPE_ARRAY && n < MAX_DEPTH; e = ctype_strip(e->of))
		dims[n++] = e->has_count ? e->count : 0;
	const char *name = e && !f->is_bytes ? name_of(p->c, e, 0) : NULL;
	if (name) {
		print_name(p, name, f->name);
	} else if (e && !f->is_bytes && ctype_is_aggregate(e) && e->is_complete) {
		if (!print_inline(p, e, f, depth))
			return false;
	} else {
		print_name(p, "unsigned char", f->name);
		code_f(b, "[%" PRIu64 "];\n", f->bits / 8);
		return true;
	}
	for (unsigned i = 0; i < n; i++)
		code_f(b, "[%" PRIu64 "]", dims[i]);
	code_z(b, ";\n");
	return true;
}

static bool print_body(struct printer *p, struct ctype *t, const struct clayout *l, unsigned depth)
{
	if (t->kind == CTYPE_UNION) {
		uint64_t largest = 0;
		for (size_t i = 0; i < l->fields.n; i++) {
			if (!print_field(p, &l->fields.v[i], depth))
				return false;
			uint64_t bytes = (l->fields.v[i].bits + 7) / 8;
			if (bytes > largest)
				largest = bytes;
		}
		if (largest < l->size)
			print_gap(p, 0, l->size * 8, depth);
		return true;
	}
	uint64_t at = 0;
	vec_each(const struct clayout_field, f, &l->fields) {
		print_gap(p, at, f->bit_off, depth);
		if (!print_field(p, f, depth))
			return false;
		at = f->bit_off + f->bits;
	}
	print_gap(p, at, l->size * 8, depth);
	return true;
}

/** An enumerator may be defined once in C: the second one of a name carries its enum's tag. */
static struct str enumerator_name(struct closure *c, const struct cdef *def, struct str name)
{
	struct str ident = cname_ident(c->arena, name, c->opt.for_bpftrace);
	if (!def->type->is_scoped && map_add(c->arena, &c->enumerators, ident))
		return ident;
	ident =
	    word_join(c->arena, word_spell(c->arena, def->tag), "__", word_spell(c->arena, ident))
		.s;
	while (!map_add(c->arena, &c->enumerators, ident))
		ident = str_printf(c->arena, STR_FMT "_", STR_ARG(ident));
	return ident;
}

static void print_head(struct printer *p, const struct cdef *def)
{
	code_f(p->b, "%s ", keyword(def->type));
	code_ident(p->b, def->tag);
	code_z(p->b, " {\n");
}

static void print_enum(struct printer *p, const struct cdef *def)
{
	const struct ctype *t = def->type;
	print_head(p, def);
	for (size_t i = 0; i < t->n_values; i++) {
		int64_t v = t->values[i].value;
		print_name(p, "\t", enumerator_name(p->c, def, t->values[i].name));
		code_z(p->b, " = ");
		if (!t->is_signed)
			code_f(p->b, (uint64_t)v > INT32_MAX ? "%" PRIu64 "U" : "%" PRIu64,
			       (uint64_t)v);
		else if (v == INT64_MIN)
			code_z(p->b, "-9223372036854775807 - 1");
		else
			code_f(p->b, "%" PRId64, v);
		code_z(p->b, ",\n");
	}
	if (!t->n_values) { // C wants at least one
		print_name(p, "\t", def->tag);
		code_z(p->b, "__no_values,\n");
	}
	code_z(p->b, "};\n");
}

static void assert_offsets(struct printer *p, const struct cdef *def, const struct clayout *l,
			   uint64_t at, unsigned depth)
{
	vec_each(const struct clayout_field, f, &l->fields) {
		struct ctype *e = ctype_strip(f->type);
		struct clayout inner;
		if (!f->name.n && e && ctype_is_aggregate(e) && depth < MAX_DEPTH &&
		    layout_of(p, e, &inner))
			assert_offsets(p, def, &inner, at + f->bit_off, depth + 1);
		if (!f->name.n || f->is_bitfield)
			continue;
		code_f(p->b, "_Static_assert(__builtin_offsetof(%s ", keyword(def->type));
		code_ident(p->b, def->tag);
		code_z(p->b, ", ");
		code_ident(p->b, f->name);
		code_f(p->b, ") == %" PRIu64 ", \"", (at + f->bit_off) / 8);
		code_ident(p->b, def->tag);
		code_z(p->b, ".");
		code_ident(p->b, f->name);
		code_z(p->b, "\");\n");
	}
}

static bool print_one(struct printer *p, const struct cdef *def, bool asserts)
{
	struct ctype *t = def->type;
	bool is_enum = t->kind == CTYPE_ENUM;
	struct clayout l = {0};
	p->n_gaps = 0;
	if (!is_enum && !layout_of(p, t, &l))
		return false;
	bool has_name = !str_eq(def->name, def->tag);
	for (size_t i = has_name ? 0 : 1; i <= l.remarks.n; i++) {
		code_z(p->b, "// ");
		code_comment(p->b, i ? l.remarks.v[i - 1] : def->name);
		code_z(p->b, "\n");
	}
	if (is_enum) {
		print_enum(p, def);
	} else {
		print_head(p, def);
		if (!print_body(p, t, &l, 1))
			return false;
		code_z(p->b, "};\n");
	}
	if (!asserts || (is_enum && natural_enum_size(t) != t->size))
		return true;
	code_f(p->b, "_Static_assert(sizeof(%s ", keyword(t));
	code_ident(p->b, def->tag);
	code_f(p->b, ") == %" PRIu64 ", \"", t->size);
	code_ident(p->b, def->tag);
	code_z(p->b, "\");\n");
	assert_offsets(p, def, &l, 0, 0);
	return true;
}

bool cprint_definitions(struct code *b, struct closure *c, bool asserts)
{
	struct printer p = {.b = b, .c = c};
	bool good = true;
	if (!c->defs.n)
		return true;
	code_z(b, "#pragma pack(push,1)\n");
	for (size_t i = 0; i < c->defs.n; i++) {
		const struct cdef *def = c->defs.v[i];
		if (print_one(&p, def, asserts))
			continue;
		good = diag_error(c->diag, NULL, "%s \"" STR_FMT "\" cannot be written in C: %s",
				  keyword(def->type), STR_ARG(def->name), p.why);
	}
	code_z(b, "#pragma pack(pop)\n");
	return good;
}
