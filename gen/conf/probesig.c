#include "conf/probesig.h"

#include "conf/lines.h"

enum { MAX_ARGS = 12, MAX_KEY = 255 };

/** Of a probe. */
struct sig_line {
	struct str args;	 /**< what is between the parentheses */
	struct str file, source; /**< the place of the line, */
	unsigned line;		 /**< shorter than a diag_place */
	bool is_read;
	const struct probesig *sig; /**< with is_read, and of `other`; NULL: all are wrong */
	struct sig_line *other;	    /**< the line before it of the same probe, or NULL */
};

/** What a type is called, and under which name the debug information of gcc knows it. */
static const struct {
	const char *spelling, *name;
	enum ctype_kind kind;
	unsigned size;
	bool is_signed;
} types[] = {
    {"int", "int", CTYPE_INT, 4, true},
    {"unsigned int", "unsigned int", CTYPE_INT, 4, false},
    {"unsigned", "unsigned int", CTYPE_INT, 4, false},
    {"long", "long int", CTYPE_INT, 8, true},
    {"unsigned long", "long unsigned int", CTYPE_INT, 8, false},
    {"short", "short int", CTYPE_INT, 2, true},
    {"unsigned short", "short unsigned int", CTYPE_INT, 2, false},
    {"unsigned char", "unsigned char", CTYPE_INT, 1, false},
    {"signed char", "signed char", CTYPE_INT, 1, true},
    {"bool", "_Bool", CTYPE_BOOL, 1, false},
    {"size_t", "size_t", CTYPE_INT, 8, false},
    {"int8_t", "int8_t", CTYPE_INT, 1, true},
    {"int16_t", "int16_t", CTYPE_INT, 2, true},
    {"int32_t", "int32_t", CTYPE_INT, 4, true},
    {"int64_t", "int64_t", CTYPE_INT, 8, true},
    {"uint8_t", "uint8_t", CTYPE_INT, 1, false},
    {"uint16_t", "uint16_t", CTYPE_INT, 2, false},
    {"uint32_t", "uint32_t", CTYPE_INT, 4, false},
    {"uint64_t", "uint64_t", CTYPE_INT, 8, false},
};

/**
 * `enum NAME`, `struct NAME *`: shells, argsig.h puts what the program has in their place. An enum
 * whose enumerators are listed is that one.
 */
static struct ctype *declare_type(struct arena *a, const struct probesigs *list, struct str text)
{
	bool is_enum = str_has_prefix(text, STR("enum "));
	bool is_pointer = str_has_prefix(text, STR("struct ")) && str_has_suffix(text, STR(" *"));
	struct str name = str_from_offset(text, is_enum ? 5 : 7);
	if (is_pointer)
		name = str_slice(name, 0, name.n - 2);
	if (!(is_enum || is_pointer) || !str_is_ident(name))
		return NULL;
	struct ctype *t = is_enum ? probesig_find_enum(list, name) : NULL;
	if (t)
		return t;
	t = arena_new(a, struct ctype);
	*t = (struct ctype){
	    .kind = is_enum ? CTYPE_ENUM : CTYPE_STRUCT, .name = name, .is_decl = true};
	return is_enum ? t : ctype_new_pointer(a, t, 8);
}

static struct ctype *make_type(struct arena *a, const struct probesigs *list, struct str text)
{
	if (str_eqz(text, "void *"))
		return ctype_new_pointer(a, NULL, 8);
	bool is_const = str_eqz(text, "const char *");
	if (is_const || str_eqz(text, "char *")) {
		struct ctype *c = ctype_new_char(a, true);
		return ctype_new_pointer(a, is_const ? ctype_new_of(a, CTYPE_CONST, c) : c, 8);
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (str_eqz(text, types[i].spelling))
			return ctype_new(a, types[i].kind, types[i].name, types[i].size,
					 types[i].is_signed);
	return declare_type(a, list, text);
}

// One for each spelling: a list has hundreds of arguments of a few types.
struct ctype *probesig_type(struct probesigs *s, struct str text)
{
	text = str_trim(text);
	struct ctype *t = map_get(&s->types, text);
	if (!t && (t = make_type(s->arena, s, text)))
		map_put(s->arena, &s->types, text, t);
	return t;
}

/** `RESULT (*NAME)()` */
static bool parse_function(struct arena *a, struct probesigs *s, struct str text,
			   struct probesig_arg *ret)
{
	size_t open = str_find(text, '(');
	struct str result = str_trim(str_slice(text, 0, open)), name = str_from_offset(text, open);
	if (!str_take(&name, STR("(*")) || !str_has_suffix(name, STR(")()")))
		return false;
	bool is_void = str_eqz(result, "void");
	struct ctype *of = is_void ? NULL : probesig_type(s, result);
	ret->name = str_slice(name, 0, name.n - 3);
	ret->type = ctype_new_pointer(a, ctype_new_of(a, CTYPE_FUNC, of), 8);
	return str_is_ident(ret->name) && (of || is_void);
}

/** `TYPE NAME`, or a number: the macro of the probe adds it. */
static bool parse_arg(struct arena *a, struct diag *d, const struct diag_place *at, struct str text,
		      struct probesigs *s, struct probesig_arg *ret)
{
	text = str_trim(text);
	ret->is_constant = str_to_u64(text, &ret->value);
	if (ret->is_constant)
		ret->type = probesig_type(s, STR("int"));
	if (ret->is_constant || parse_function(a, s, text, ret))
		return true;
	size_t n = text.n;
	while (n && str_is_made_of(str_slice(text, n - 1, 1), ALPHABET_WORD))
		n--;
	ret->name = str_from_offset(text, n);
	ret->type = probesig_type(s, str_slice(text, 0, n));
	if (ret->type && str_is_ident(ret->name))
		return true;
	return diag_error(d, at, "\"" STR_FMT "\" is not TYPE NAME", STR_ARG(text));
}

/** `NAME`, `NAME = NUMBER`; @ret has the value that it gets without one. */
static bool parse_enumerator(struct str text, struct ctype_value *ret)
{
	uint64_t value;
	size_t equals = str_find(text, '=');
	ret->name = str_trim(str_slice(text, 0, equals));
	if (equals == text.n)
		return str_is_ident(ret->name);
	struct str number = str_trim(str_from_offset(text, equals + 1));
	bool is_negative = str_take(&number, STR("-"));
	if (!str_to_u64(number, &value) || value > INT32_MAX)
		return false;
	ret->value = is_negative ? -(int64_t)value : (int64_t)value;
	return str_is_ident(ret->name);
}

/** `enum NAME { A, B = 5, C };`, signed where one of its values is. */
static bool parse_enum(struct arena *a, struct diag *d, const struct diag_place *at,
		       struct str line, struct probesigs *ret)
{
	size_t open = str_find(line, '{');
	struct str name = str_trim(str_slice(line, 5, open - 5));
	if (!str_has_suffix(line, STR("};")) || !str_is_ident(name))
		return diag_error(d, at, "expected enum NAME { A, B = NUMBER, ... };");
	struct ctype *t = ctype_new(a, CTYPE_ENUM, "", 4, false);
	struct ctype_value v = {.value = -1};
	struct str rest = str_slice(line, open + 1, line.n - open - 3);
	t->name = name;
	t->values = arena_array(a, struct ctype_value, line.n / 2);
	do {
		size_t comma = str_find(rest, ',');
		v.value++;
		if (!parse_enumerator(str_slice(rest, 0, comma), &v))
			return diag_error(d, at, "\"" STR_FMT "\" is not NAME or NAME = NUMBER",
					  STR_ARG(str_trim(str_slice(rest, 0, comma))));
		t->is_signed |= v.value < 0;
		t->values[t->n_values++] = v;
		rest = str_from_offset(rest, comma + 1);
	} while (rest.n);
	map_put(a, &ret->enums, name, t);
	return true;
}

static bool parse_args(struct probesigs *s, const struct sig_line *l, struct probesig *sig)
{
	struct diag_place at = {.file = l->file, .line = l->line, .source = l->source};
	struct str rest = str_trim(l->args);
	struct probesig_arg args[MAX_ARGS] = {0};
	while (rest.n) {
		size_t comma = str_find(rest, ',');
		if (sig->n_args == MAX_ARGS)
			return diag_error(s->diag, &at, "more than %d arguments", MAX_ARGS);
		if (!parse_arg(s->arena, s->diag, &at, str_slice(rest, 0, comma), s,
			       &args[sig->n_args++]))
			return false;
		rest = str_from_offset(rest, comma + 1);
	}
	sig->args = arena_array(s->arena, struct probesig_arg, sig->n_args);
	memcpy(sig->args, args, sig->n_args * sizeof(*args));
	return true;
}

static bool parse_line(const struct lines *l, struct probesigs *s)
{
	struct str line = l->text;
	if (str_has_prefix(line, STR("enum ")) && str_find(line, '{') < line.n)
		return parse_enum(s->arena, s->diag, &l->at, line, s);
	size_t open = str_find(line, '('), close = line.n - 1;
	struct str key = str_trim(str_slice(line, 0, open));
	if (key.n > MAX_KEY || open >= close || line.p[close] != ')' || str_find(key, ':') == key.n)
		return diag_error(s->diag, &l->at, "expected provider:name(TYPE NAME, ...)");
	struct sig_line *new = arena_alloc(s->arena, sizeof(*new));
	*new = (struct sig_line){.args = str_slice(line, open + 1, close - open - 1),
				 .file = l->at.file,
				 .source = l->at.source,
				 .line = l->at.line,
				 .other = map_get(&s->probes, key)};
	map_put(s->arena, &s->probes, key, new);
	return true;
}

bool probesig_load(struct arena *a, struct diag *d, const char *path, struct probesigs *ret)
{
	struct lines l;
	ret->arena = a;
	ret->diag = d;
	if (!lines_open(a, d, path, "of probes", &l))
		return false;
	bool good = true;
	while (lines_next(&l))
		good &= parse_line(&l, ret);
	return good;
}

/** The signatures of @line and of the others of its probe that are right, the last one first. */
static const struct probesig *read_lines(struct probesigs *s, struct sig_line *line)
{
	const struct probesig **end = &line->sig;
	for (struct sig_line *l = line; l && !line->is_read; l = l->other) {
		struct probesig *sig = arena_new(s->arena, struct probesig);
		if (!parse_args(s, l, sig))
			continue;
		*end = sig;
		end = &sig->other;
	}
	line->is_read = true;
	return line->sig;
}

const struct probesig *probesig_find(struct probesigs *s, struct str provider, struct str name)
{
	char key[MAX_KEY];
	size_t n = provider.n + 1 + name.n;
	if (!s || n > sizeof(key))
		return NULL;
	memcpy(key, provider.p, provider.n);
	key[provider.n] = ':';
	memcpy(key + provider.n + 1, name.p, name.n);
	struct sig_line *line = map_get(&s->probes, (struct str){key, n});
	return line ? read_lines(s, line) : NULL;
}

struct ctype *probesig_find_enum(const struct probesigs *s, struct str name)
{
	return s ? map_get(&s->enums, name) : NULL;
}
