#include "lock/lock_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "bind/namedarg.h"
#include "lang/print.h"
#include "sema/exprtype.h"
#include "sema/targettype.h"
#include "sema/enumname.h"
#include "sema/table.h"

enum { MAX_NESTING = 20 }; // arrays of arrays; corrupt ones have no end
enum { MAX_NAME = 1000 };  // bytes of one name or type; hostile files have longer ones

// --- facts as text ---

/**
 * @s, which a stranger's file may have chosen, without what has a meaning in a lock. A @is_word has
 * no blanks either.
 */
struct str lock_name(struct arena *a, struct str s, bool is_word)
{
	struct str plain = str_printable(a, str_slice(s, 0, MAX_NAME));
	struct strbuf b;
	strbuf_init(&b);
	for (size_t i = 0; i < plain.n; i++)
		if (plain.p[i] == '#' || plain.p[i] == '=' || (is_word && plain.p[i] == ' '))
			strbuf_addf(&b, "\\x%02x", (unsigned char)plain.p[i]);
		else
			strbuf_addc(&b, plain.p[i]);
	return strbuf_take(&b, a);
}

/** gcc's names of C's integers, and those of clang; qualifiers, which a tracer need not know. */
static const char *const respelled[][2] = {
    {"const ", ""},
    {"const", ""},
    {"volatile ", ""},
    {"volatile", ""},
    {"long long unsigned int", "unsigned long long"},
    {"long unsigned int", "unsigned long"},
    {"short unsigned int", "unsigned short"},
    {"long long int", "long long"},
    {"long int", "long"},
    {"short int", "short"},
    {"__int128 unsigned", "unsigned __int128"},
    {"_Bool", "bool"},
};

static bool is_word(struct str s, size_t at)
{
	return at < s.n && str_is_made_of(str_slice(s, at, 1), ALPHABET_WORD);
}

/** A type as every compiler spells it. */
static struct str type_name(struct arena *a, struct str s)
{
	struct strbuf b;
	strbuf_init(&b);
	s = str_slice(s, 0, 2 * MAX_NAME);
	for (size_t i = 0, n; i < s.n; i += n) {
		struct str as = str_slice(s, i, n = 1);
		for (size_t k = 0; k < sizeof(respelled) / sizeof(respelled[0]) && n == 1; k++) {
			struct str was = str_from(respelled[k][0]);
			if (!str_has_prefix(str_from_offset(s, i), was) ||
			    (i && is_word(s, i - 1)) ||
			    (is_word(was, was.n - 1) && is_word(s, i + was.n)))
				continue;
			as = str_from(respelled[k][1]);
			n = was.n;
		}
		strbuf_adds(&b, as);
	}
	struct str name = lock_name(a, strbuf_str(&b), false);
	strbuf_fini(&b);
	return name;
}

static struct str type_text(struct arena *a, const struct ctype *t)
{
	return t ? type_name(a, ctype_spell(a, t)) : STR("?");
}

static struct str count_text(struct arena *a, uint64_t n, const char *what)
{
	return str_printf(a, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

struct str lock_size(struct arena *a, struct ctype *t)
{
	uint64_t size;
	return ctype_size(t, &size) ? count_text(a, size, "byte") : STR("?");
}

struct str lock_probe(const struct bind *b, const struct attach_match *m)
{
	unsigned n = 0;
	while (namedarg_at(b, m, n))
		n++;
	return count_text(b->arena, n, "argument");
}

struct str lock_arg_name(struct arena *a, const struct probearg *arg)
{
	return arg->has_name ? lock_name(a, arg->name, true) : STR("?");
}

struct str lock_arg(struct arena *a, const struct probearg *arg)
{
	bool is_sized = arg->size && !arg->sizes_differ;
	const char *sign = !is_sized	    ? "?"
			   : arg->is_float  ? "floating-point"
			   : arg->is_signed ? "signed"
					    : "unsigned";
	return str_printf(a, STR_FMT ", %s, " STR_FMT ", " STR_FMT,
			  STR_ARG(is_sized ? count_text(a, arg->size, "byte") : STR("?")), sign,
			  STR_ARG(lock_arg_name(a, arg)),
			  STR_ARG(type_text(a, arg->is_kind ? NULL : arg->type)));
}

struct str lock_member(struct arena *a, const struct ctype_place *p)
{
	struct str type = type_text(a, p->type);
	if (p->bit_size)
		return str_printf(a, "at bit %" PRIu64 ", " STR_FMT ", " STR_FMT, p->bit_off,
				  STR_ARG(count_text(a, p->bit_size, "bit")), STR_ARG(type));
	return str_printf(a, "at offset %" PRIu64 ", " STR_FMT ", " STR_FMT, p->off,
			  STR_ARG(lock_size(a, p->type)), STR_ARG(type));
}

struct str lock_enumerator(struct arena *a, bool is_signed, int64_t value)
{
	return is_signed ? str_printf(a, "%" PRId64, value)
			 : str_printf(a, "%" PRIu64, (uint64_t)value);
}

// --- what a script relies on ---

struct collector {
	const struct bind *b;
	const struct attach_clause *clause;
	size_t i; // its number
};

static void add(struct lock *l, const struct diag_place *at, struct str value, const char *format,
		...) __attribute__((format(printf, 4, 5)));
static void add(struct lock *l, const struct diag_place *at, struct str value, const char *format,
		...)
{
	va_list ap;
	va_start(ap, format);
	struct str key = str_from(arena_vprintf(l->arena, format, ap));
	va_end(ap);
	struct lock_fact *first = map_get(&l->facts, key), *last = first;
	for (struct lock_fact *f = first; f; last = f, f = f->next)
		if (str_eq(f->value, value))
			return;
	struct lock_fact *f = arena_new(l->arena, struct lock_fact);
	*f = (struct lock_fact){.key = key, .value = value, .at = *at};
	if (last)
		last->next = f;
	else
		map_put(l->arena, &l->facts, key, f);
}

static struct str probe_text(struct arena *a, const struct sdt_probe *p)
{
	return str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(lock_name(a, p->provider, true)),
			  STR_ARG(lock_name(a, p->name, true)));
}

static void add_probe(struct collector *k, const struct attach_match *m)
{
	struct arena *a = k->b->arena;
	const struct script_clause *c = k->clause->clause;
	struct diag_place at = tok_place(c->node->first);
	struct str probe = probe_text(a, m->probe);
	add(k->b->given->lock, &at, lock_probe(k->b, m), "probe " STR_FMT, STR_ARG(probe));
	for (size_t i = 0; i < c->args.n; i++) {
		const struct probearg *arg = namedarg_at(k->b, m, c->args.v[i].n);
		at = tok_place(c->args.v[i].token);
		if (arg)
			add(k->b->given->lock, &at, lock_arg(a, arg), "argument " STR_FMT " %u",
			    STR_ARG(probe), c->args.v[i].n);
	}
}

/** uprobe:__EXE__:NAME; a pattern names no function. */
static void add_function(struct collector *k, const struct script_attach *at)
{
	if (!provider_is_function(at->provider) || at->absent || at->fields.n != 2)
		return;
	bool is_target = str_eqz(at->fields.v[0], "__EXE__");
	for (size_t i = 0; i < k->b->given->files->list.n; i++)
		is_target |= str_eq(at->fields.v[0], k->b->given->files->list.v[i].path);
	struct str name = str_slice(at->fields.v[1], 0, str_find(at->fields.v[1], '+'));
	struct diag_place place = tok_place(at->node->first);
	if (is_target && str_is_made_of(name, ALPHABET_SYMBOL))
		add(k->b->given->lock, &place, STR(LOCK_THERE), "function " STR_FMT,
		    STR_ARG(lock_name(k->b->arena, name, true)));
}

/** What @t is called in the program, without qualifiers; NULL for a type without a name. */
static struct ctype *named_type(struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	if (!bare || bare->name.n)
		return bare;
	while (t->kind == CTYPE_CONST || t->kind == CTYPE_VOLATILE)
		t = t->of;
	return t->kind == CTYPE_TYPEDEF ? t : NULL;
}

/**
 * `id` of `s->id`, and the type of *s. Where that has no name, its own place is a part of the path:
 * `pos.x`, `list[0].x`. NULL when nothing is known.
 */
static struct ctype *find_path(struct arena *a, struct node *n, struct str *path)
{
	*path = STR("");
	for (;; n = n->child) {
		n = node_ungrouped(n);
		bool is_index = n->kind == NODE_INDEX;
		if (!is_index && n->kind != NODE_MEMBER)
			return NULL;
		bool has_dot = path->n && path->p[0] != '[';
		*path = str_printf(a, STR_FMT "%s" STR_FMT,
				   STR_ARG(is_index ? STR("[0]") : n->name->text),
				   has_dot ? "." : "", STR_ARG(*path));
		struct ctype *of = n->child->expr ? n->child->expr->type : NULL;
		struct ctype *pointer = ctype_strip(of);
		bool is_pointer = pointer && pointer->kind == CTYPE_POINTER;
		struct ctype *t = is_index ? NULL : named_type(is_pointer ? pointer->of : of);
		if (t || is_pointer)
			return t;
	}
}

static void add_member(struct collector *k, const struct node *at, struct ctype *in,
		       struct str path)
{
	struct arena *a = k->b->arena;
	struct diag_place place = tok_place(at->first);
	struct ctype_place where;
	struct ctype *unused;
	struct str bad;
	if (in && ctype_resolve(in, path, &where, &bad, &unused))
		add(k->b->given->lock, &place, lock_member(a, &where),
		    "member " STR_FMT " " STR_FMT, STR_ARG(type_text(a, in)),
		    STR_ARG(lock_name(a, path, true)));
}

/** print(*p), of which each member is printed. */
static void add_members(struct collector *k, const struct node *n)
{
	struct ctype *t = named_type(n->expr->type), *bare = ctype_strip(t);
	if (!bare || !ctype_is_aggregate(bare) || !ctype_complete(bare))
		return;
	for (size_t i = 0; i < bare->n_members; i++)
		if (bare->members[i].name.n)
			add_member(k, n, t, bare->members[i].name);
}

/** Of `s->pos.x`, where s->pos has no type that could be named, is `s->pos` no fact of its own. */
static bool is_unnamed(struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	for (unsigned i = 0; i < MAX_NESTING && bare && bare->kind == CTYPE_ARRAY; i++) {
		t = bare->of;
		bare = ctype_strip(t);
	}
	return bare && ctype_is_aggregate(bare) && !named_type(t);
}

static void add_enumerator(struct collector *k, const struct node *n)
{
	struct arena *a = k->b->arena;
	struct ctype *of;
	int64_t value;
	struct str text = print_text(a, n);
	if (targettype_defines(k->b, text) ||
	    !lookup_enumerator(bind_lookup(k->b), text, &value, &of))
		return;
	const struct token *last = n->last;
	struct diag_place at = tok_place(n->first);
	add(k->b->given->lock, &at, lock_enumerator(a, of->is_signed, value),
	    "enum " STR_FMT " " STR_FMT,
	    STR_ARG(of->name.n ? type_name(a, of->name) : STR(LOCK_UNNAMED)),
	    STR_ARG(lock_name(a, of->name.n ? last->text : text, true)));
}

/** sizeof(T), offsetof(T, m) */
static void add_size(struct collector *k, const struct node *n)
{
	struct arena *a = k->b->arena;
	struct targettype_name name;
	struct ctype *t;
	struct diag_place at = tok_place(n->first);
	if (!n->child || !targettype_find(k->b, k->clause, n->child, &name, &t) || name.stars ||
	    !targettype_is_whole(n->child, &name))
		return;
	if (tok_is(n->name, "sizeof"))
		add(k->b->given->lock, &at, lock_size(a, t), "sizeof " STR_FMT,
		    STR_ARG(type_name(a, name.name)));
	else if (n->child->next)
		add_member(k, n, named_type(t), print_text(a, n->child->next));
}

static void add_names(const struct bind *b, const struct enumtab *tab, const struct diag_place *at)
{
	for (size_t n = 0; n < tab->n_items; n++)
		add(b->given->lock, at,
		    lock_enumerator(b->arena, tab->is_signed, tab->items[n].value),
		    "enum " STR_FMT " " STR_FMT, STR_ARG(type_name(b->arena, tab->name)),
		    STR_ARG(lock_name(b->arena, tab->items[n].name, true)));
}

/** enum_name(T, x): all names of T. */
static void add_enum_name(struct collector *k, const struct node *call)
{
	struct diag_place at = tok_place(call->child->first);
	const struct enumtab *tab = enumname_lookup(k->b, k->i, call);
	if (tab)
		add_names(k->b, tab, &at);
}

static bool add_node(void *ctx, struct node *n, struct node *parent)
{
	struct collector *k = ctx;
	const struct expr *e = n->expr;
	if (n->kind == NODE_CALL && (tok_is(n->name, "sizeof") || tok_is(n->name, "offsetof")))
		add_size(k, n);
	if (node_is(n, NODE_CALL, "enum_name") && n->child)
		add_enum_name(k, n);
	if (!e)
		return true;
	struct str path;
	if (n->kind == NODE_MEMBER && e->in && !is_unnamed(e->type)) {
		struct ctype *in = find_path(k->b->arena, n, &path);
		add_member(k, n, in, path);
	} else if (n->kind == NODE_NAME && e->enumerator_of) {
		add_enumerator(k, n);
	}
	if (e->kind == EXPR_AGGREGATE && e->type && parent && parent->kind == NODE_CALL)
		add_members(k, n);
	return true;
}

void lock_add_script(const struct bind *b)
{
	struct collector k = {.b = b};
	if (!bind_lookup(b))
		return; // no target
	for (; k.i < b->found.script.clauses.n; k.i++) {
		k.clause = b->found.clauses[k.i];
		bind_lookup_from(b, k.i);
		for (size_t n = 0; n < k.clause->probes.n; n++)
			add_probe(&k, &k.clause->probes.v[n]);
		for (size_t n = 0; n < k.clause->clause->attach.n && !k.clause->is_wrong; n++)
			add_function(&k, &k.clause->clause->attach.v[n]);
		node_walk(k.clause->clause->node, add_node, &k);
	}
}

void lock_add_tables(const struct bind *b)
{
	for (size_t i = 0; i < b->made->tables.n; i++)
		add_names(b, &b->made->tables.v[i].names, &b->made->tables.v[i].place);
}

// --- the file ---

static int by_text(const void *x, const void *y)
{
	return str_compare(*(const struct str *)x, *(const struct str *)y);
}

bool lock_write(const struct lock *l, struct diag *d, const char *path)
{
	struct arena *a = l->arena;
	VEC(struct str) lines = {0};
	for (struct map_entry *e = NULL; (e = map_next(&l->facts, e));)
		for (const struct lock_fact *f = e->value; f; f = f->next)
			vec_push(a, &lines,
				 str_printf(a, STR_FMT " = " STR_FMT "\n", STR_ARG(f->key),
					    STR_ARG(f->value)));
	if (lines.n)
		qsort(lines.v, lines.n, sizeof(*lines.v), by_text);
	struct strbuf text;
	strbuf_init(&text);
	strbuf_addz(&text, LOCK_FORMAT LOCK_VERSION "\n");
	for (size_t i = 0; i < lines.n; i++)
		strbuf_adds(&text, lines.v[i]);
	struct diag_place at = {.file = str_from(path)};
	bool good = text.n <= LOCK_MAX
			? outfile_write(a, d, path, strbuf_str(&text))
			: diag_error(d, &at,
				     "the lock would be larger than 1 MiB: write one for "
				     "fewer scripts");
	strbuf_fini(&text);
	return good;
}
