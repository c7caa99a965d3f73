#include "check/check_priv.h"

#include "bind/namedarg.h"
#include "lang/print.h"
#include "probe/argtype.h"
#include "sema/arg_fact.h"
#include "sema/table.h"

/** Compilers write such a type; any other word of a file is not repeated to the user. */
static bool is_spelled_well(const struct ctype *t)
{
	enum { MAX_NESTING = 20 }; // a pointer may lead to itself there
	for (unsigned i = 0; t && i < MAX_NESTING; t = t->of, i++)
		if (t->name.n && !str_is_made_of(t->name, ALPHABET_TYPE))
			return false;
	return true;
}

bool check_meaning(struct checker *k, const struct node *n, struct meaning *ret)
{
	const struct expr *e = n->expr;
	*ret = (struct meaning){0};
	if (e)
		ret->type = arg_fact_type(k->b, e, &ret->is_guess);
	if (!is_spelled_well(ret->type))
		ret->type = NULL;
	ret->plain = ctype_strip(ret->type);
	return ret->type != NULL;
}

enum diag_level check_level(const struct meaning *m)
{
	return m->is_guess ? DIAG_WARNING : DIAG_ERROR;
}

bool check_is_byte_array(const struct ctype *plain)
{
	struct ctype *of = plain && plain->kind == CTYPE_ARRAY ? ctype_strip(plain->of) : NULL;
	return of && of->kind == CTYPE_INT && of->size == 1;
}

bool check_is_floating(const struct meaning *m)
{
	for (const struct ctype *t = m->type; t; t = t->kind == CTYPE_TYPEDEF ? t->of : NULL)
		if (t->kind == CTYPE_FLOAT || argtype_is_bits(t))
			return true;
	return m->plain && m->plain->kind == CTYPE_FLOAT;
}

void check_note_origin(struct checker *k, const struct node *n)
{
	const struct expr *e = n->expr;
	const struct probearg *arg = e ? arg_fact_of(k->b, e) : NULL;
	n = node_ungrouped(n);
	if (e && e->in && e->type && n->kind == NODE_MEMBER)
		diag_note(k->b->diag, NULL, STR_FMT " is " STR_FMT " in " STR_FMT,
			  STR_ARG(n->name->text), STR_ARG(ctype_spell(k->arena, e->type)),
			  STR_ARG(ctype_spell(k->arena, e->in)));
	if (!arg)
		return;
	struct str file;
	unsigned line;
	const struct sdt_probe *probe = e->arg_of->probes.v[0].probe;
	namedarg_site(k->b, &e->arg_of->probes.v[0], &file, &line);
	struct diag_place at = {.file = file, .line = line};
	diag_note(k->b->diag, &at, "arg%u of " STR_FMT ":" STR_FMT " is " STR_FMT " (%s)", e->arg,
		  STR_ARG(probe->provider), STR_ARG(probe->name),
		  STR_ARG(probearg_declaration(k->arena, arg)), probearg_from_text(arg->from));
}

const char *check_text(struct checker *k, const struct node *n)
{
	return str_dup(k->arena, print_text(k->arena, n));
}

/** Not 1e6 and 010, which versions read differently. */
static bool read_literal(const struct node *n, struct constant *ret)
{
	struct str text = node_text(n);
	bool is_octal = text.n > 1 && text.p[0] == '0' && (text.p[1] | 32) != 'x';
	ret->is_negative = false;
	return !is_octal && str_to_u64(text, &ret->bits);
}

bool check_constant(struct checker *k, const struct node *n, struct constant *ret)
{
	struct ctype *of;
	int64_t value;
	n = node_ungrouped(n);
	if (n->kind == NODE_NUMBER)
		return read_literal(n, ret);
	if (node_is(n, NODE_UNARY, "-") && n->child->kind == NODE_NUMBER) {
		bool good = read_literal(n->child, ret) && ret->bits <= (uint64_t)1 << 63;
		ret->bits = -ret->bits;
		ret->is_negative = ret->bits != 0;
		return good;
	}
	if (!n->expr || !n->expr->enumerator_of ||
	    !lookup_enumerator(k->b->cache->lookup, print_text(k->b->arena, n), &value, &of))
		return false;
	*ret = (struct constant){(uint64_t)value, value < 0 && of && of->is_signed};
	return true;
}

static void report(struct checker *k, const struct token *t, const char *name,
		   enum diag_level level, const char *fmt, va_list args)
{
	const char *text = arena_vprintf(k->arena, fmt, args);
	k->good &= diag_finding(k->b->diag, name, level, tok_at(t), "%s", text);
}

void check_report(struct checker *k, const struct node *n, const char *name, enum diag_level level,
		  const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	report(k, n->first, name, level, fmt, args);
	va_end(args);
	check_note_origin(k, n);
}

void check_report_at(struct checker *k, const struct token *t, const char *name,
		     enum diag_level level, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	report(k, t, name, level, fmt, args);
	va_end(args);
}

bool check_is_address_word(const struct ctype *t)
{
	for (; t && t->kind == CTYPE_TYPEDEF; t = t->of)
		if (str_contains(t->name, STR("ptr")) || str_contains(t->name, STR("addr")))
			return true;
	return false;
}

const struct bind_table *check_table_of(struct checker *k, struct str name)
{
	return vec_find(const struct bind_table, t, &k->b->found.tables, str_eq(t->map, name));
}

/** How often a word that begins with @ or $ is there. */
struct word_count {
	size_t in_text, in_program;
	bool in_macro;
};

static struct word_count *word_count(struct checker *k, struct map *words, struct str word)
{
	struct word_count *count = map_get(words, word);
	if (!count) {
		count = arena_new(k->arena, struct word_count);
		map_put(k->arena, words, word, count);
	}
	return count;
}

static void count_in_text(struct checker *k, struct map *words, struct str text)
{
	for (size_t i = 0, n; i < text.n; i += n) {
		n = 1;
		if (text.p[i] != '@' && text.p[i] != '$')
			continue;
		while (i + n < text.n && str_is_made_of(str_slice(text, i + n, 1), ALPHABET_WORD))
			n++;
		word_count(k, words, str_slice(text, i, n))->in_text++;
	}
}

static void count_in_program(struct checker *k, struct map *words, const struct src_file *file)
{
	for (const struct token *t = k->b->found.pp->out; t; t = t->next) {
		bool is_map = tok_is(t, "@") && t->next;
		struct str names[] = {t->text, is_map ? t->next->text : STR("")};
		if (!t->text.n || (t->text.p[0] != '@' && t->text.p[0] != '$'))
			continue;
		if (is_map)
			names[1] = str_printf(k->arena, "@" STR_FMT, STR_ARG(names[1]));
		for (size_t i = 0; i < (is_map ? 2u : 1u); i++) {
			struct word_count *count = word_count(k, words, names[i]);
			count->in_macro |= t->from_macro;
			count->in_program += t->loc.file == file;
		}
	}
}

size_t check_count_hidden(struct checker *k, const struct src_file *file, const char *word)
{
	if (!file)
		return 0;
	struct map *words = map_get_ptr(&k->words, file);
	if (!words) {
		words = arena_new(k->arena, struct map);
		map_put_ptr(k->arena, &k->words, file, words);
		count_in_text(k, words, file->text);
		count_in_program(k, words, file);
	}
	const struct word_count *count = word_count(k, words, str_from(word));
	if (count->in_macro)
		return 1; // other uses of the macro are not known
	return count->in_text > count->in_program ? count->in_text - count->in_program : 0;
}
