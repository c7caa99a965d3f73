#include "lock/lock_priv.h"

#include "base/file.h"
#include "base/outfile.h"
#include "bind/namedarg.h"
#include "elf/debugfile.h"
#include "lang/print.h"
#include "sema/arg_fact.h"
#include "sema/targettype.h"
#include "sema/enumname.h"
#include "record/mapentry.h"
#include "record/shape.h"
#include "sema/result.h"

enum { MAX_NESTING = 20 }; // arrays of arrays; corrupt ones have no end
enum { MAX_NAME = 1000 };  // bytes of one name or type; hostile files have longer ones

// --- facts as text ---

struct str lock_name(struct arena *a, struct str s, bool is_word)
{
	struct str plain = str_printable(a, str_slice(s, 0, MAX_NAME));
	struct strbuf b = {0};
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
	struct strbuf b = {0};
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

struct str lock_probe(struct arena *a, const struct probeargs *pa)
{
	struct str most = count_text(a, pa->n_args, "argument");
	return pa->n_args_least == pa->n_args
		   ? most
		   : str_printf(a, "%zu to " STR_FMT, pa->n_args_least, STR_ARG(most));
}

/** A list of documented probes, and size and kind alone, tell nothing of the build. */
static bool is_typed(const struct probearg *arg)
{
	return arg->type && !arg->is_kind && arg->from != PROBEARG_LISTED;
}

struct str lock_arg_name(struct arena *a, const struct probearg *arg)
{
	return arg->has_name && arg->from != PROBEARG_LISTED ? lock_name(a, arg->name, true)
							     : STR("?");
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
			  STR_ARG(type_text(a, is_typed(arg) ? arg->type : NULL)));
}

struct str lock_type(struct arena *a, struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	struct str what = bare && bare->kind == CTYPE_INT
			      ? str_from(bare->is_signed ? "signed" : "unsigned")
			      : type_text(a, bare);
	return str_printf(a, STR_FMT ", " STR_FMT, STR_ARG(lock_size(a, t)), STR_ARG(what));
}

struct str lock_result(struct arena *a, struct ctype *t)
{
	return str_printf(a, STR_FMT ", " STR_FMT, STR_ARG(lock_size(a, t)),
			  STR_ARG(type_text(a, t)));
}

struct str lock_parameter(struct arena *a, int number, struct ctype *t)
{
	return str_printf(a, "arg%d, " STR_FMT, number, STR_ARG(lock_result(a, t)));
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

// --- facts ---

struct lock_fact *lock_add(struct lock *l, const struct diag_place *at, struct str key,
			   struct str value)
{
	struct lock_fact *f = map_get(&l->facts, key), *last = NULL;
	for (; f && !str_eq(f->value, value); f = f->next)
		last = f;
	if (!f) {
		f = arena_new(l->arena, struct lock_fact);
		*f = (struct lock_fact){.key = key, .value = value, .at = *at};
		if (last)
			last->next = f;
		else
			map_put(l->arena, &l->facts, key, f);
	}
	if (l->script && !(f->scripts.n && f->scripts.v[f->scripts.n - 1] == l->script))
		vec_push(l->arena, &f->scripts, l->script);
	return f;
}

/** "KIND SUBJECT NAME"; @name may be empty. */
static struct lock_fact *add(struct lock *l, struct diag_place at, const char *kind,
			     struct str subject, struct str name, struct str value)
{
	struct arena *a = l->arena;
	struct str key = str_printf(a, "%s " STR_FMT "%s" STR_FMT, kind, STR_ARG(subject),
				    name.n ? " " : "", STR_ARG(lock_name(a, name, true)));
	return lock_add(l, &at, key, value);
}

static struct str probe_text(struct arena *a, const struct sdt_probe *p)
{
	return str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(lock_name(a, p->provider, true)),
			  STR_ARG(lock_name(a, p->name, true)));
}

static void add_argument(struct lock *l, struct diag_place at, struct str probe, size_t n,
			 const struct probearg *arg)
{
	add(l, at, "argument", probe, str_printf(l->arena, "%zu", n), lock_arg(l->arena, arg));
}

// --- what a tracer sees of a build ---

static const struct diag_place nowhere;

static struct str enum_text(struct arena *a, struct str name)
{
	return name.n ? type_name(a, name) : STR(LOCK_UNNAMED);
}

/** All names of the enum @t, also those that have the value of another one. */
static void add_enum(struct lock *l, const struct ctype *t, struct diag_place at)
{
	struct str name = enum_text(l->arena, t->name);
	for (size_t i = 0; i < t->n_values; i++)
		add(l, at, "enum", name, t->values[i].name,
		    lock_enumerator(l->arena, t->is_signed, t->values[i].value));
}

void lock_add_build(struct lock *l, struct targetfiles *files)
{
	vec_each(struct targetfile, tf, &files->list) {
		const struct sdt_list *list = targetfile_probes(files, tf);
		for (size_t k = 0; k < list->n_probes; k++) {
			struct str probe = probe_text(l->arena, &list->probes[k]);
			struct probeargs pa;
			struct img *unused;
			probeargs_read(&tf->bin, files->signatures, &list->probes[k], &pa);
			add(l, nowhere, "probe", probe, STR(""), lock_probe(l->arena, &pa))
			    ->signature = probearg_list(l->arena, pa.args, pa.n_args);
			for (size_t n = 0; n < pa.n_args; n++) {
				const struct probearg *arg = &pa.args[n];
				add_argument(l, nowhere, probe, n, arg);
				struct ctype *t = is_typed(arg) ? ctype_strip(arg->type) : NULL;
				if (t && t->kind == CTYPE_ENUM && t->name.n && ctype_complete(t))
					add_enum(l, t, nowhere);
				if (!l->untyped.n && !is_typed(arg) &&
				    !img_debugfile(tf->bin.img, &unused))
					l->untyped = tf->path;
			}
		}
	}
}

// --- what a script relies on ---

struct collector {
	const struct bind *b;
	struct lock *lock;
	const struct attach_clause *clause;
	size_t i;	    // its number
	struct map printed; // structs, as wholes
};

static void add_probe(struct collector *k, const struct attach_match *m)
{
	const struct bind *b = k->b;
	const struct script_clause *c = k->clause->clause;
	struct str probe = probe_text(b->arena, m->probe);
	const struct probeargs *pa = namedarg_all(b, m);
	add(k->lock, tok_place(c->node->first), "probe", probe, STR(""), lock_probe(b->arena, pa));
	for (size_t i = 0; i < c->args.n; i++)
		if (c->args.v[i].n < pa->n_args)
			add_argument(k->lock, tok_place(c->args.v[i].token), probe, c->args.v[i].n,
				     &pa->args[c->args.v[i].n]);
}

/** NAME of uprobe:__EXE__:NAME, which has nothing else; a pattern names no function. */
static bool find_function(struct collector *k, const struct script_attach *at, struct str *name)
{
	if (!provider_is_function(at->provider) || at->absent || at->fields.n != 2)
		return false;
	bool is_target = str_eqz(at->fields.v[0], "__EXE__");
	for (size_t i = 0; i < k->b->given->files->list.n; i++)
		is_target |= str_eq(at->fields.v[0], k->b->given->files->list.v[i].path);
	*name = str_slice(at->fields.v[1], 0, str_find(at->fields.v[1], '+'));
	bool is_function = is_target && str_is_made_of(*name, ALPHABET_SYMBOL);
	*name = lock_name(k->b->arena, *name, true);
	return is_function;
}

/** A function, and which of its parameters the clause reads. */
static void add_function(struct collector *k, const struct script_attach *at)
{
	const struct script_clause *c = k->clause->clause;
	struct str name;
	if (!find_function(k, at, &name))
		return;
	add(k->lock, tok_place(at->node->first), "function", name, STR(""), STR(LOCK_THERE));
	for (size_t i = 0; i < c->named_args.n && k->clause->params; i++) {
		const struct token *use = c->named_args.v[i]->name;
		unsigned n;
		const struct probearg *arg = namedarg_find(k->b, k->clause, use, &n);
		if (arg)
			add(k->lock, tok_place(use), "parameter", name, arg->name,
			    lock_parameter(k->lock->arena, (int)n, arg->type));
	}
}

/** retval: what the functions of the clause return. */
static void add_result(struct collector *k, const struct node *n)
{
	const struct script_clause *c = k->clause->clause;
	struct ctype *t = result_type(k->b, k->clause);
	struct str name;
	for (size_t i = 0; i < c->attach.n && t; i++)
		if (find_function(k, &c->attach.v[i], &name))
			add(k->lock, tok_place(n->first), "result", name, STR(""),
			    lock_result(k->b->arena, t));
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

/**
 * The type of a typedef of a number or pointer: only if it is the same is the typedef the same in another
 * build. int32_t and the like need none.
 */
static void add_typedef(struct collector *k, const struct node *n, struct ctype *t)
{
	while (t && (t->kind == CTYPE_CONST || t->kind == CTYPE_VOLATILE))
		t = t->of;
	struct ctype *bare = ctype_strip(t);
	if (bare && t->kind == CTYPE_TYPEDEF && !ctype_is_aggregate(bare) &&
	    !str_glob(STR("int*_t"), t->name) && !str_glob(STR("uint*_t"), t->name))
		add(k->lock, tok_place(n->first), "type", type_text(k->b->arena, t), STR(""),
		    lock_type(k->b->arena, t));
}

static void add_member(struct collector *k, const struct node *at, struct ctype *in,
		       struct str path)
{
	struct arena *a = k->b->arena;
	struct ctype_place where;
	struct ctype *unused;
	struct str bad;
	if (!in || !ctype_resolve(in, path, &where, &bad, &unused))
		return;
	add(k->lock, tok_place(at->first), "member", type_text(a, in), path,
	    lock_member(a, &where));
	add_typedef(k, at, where.type);
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

/** A value of type @t, whose names are facts if it is printed. */
static void note_enum(struct collector *k, const struct node *n, struct ctype *t)
{
	struct lock *l = k->lock;
	struct ctype *bare = ctype_strip(t);
	if (!bare || bare->kind != CTYPE_ENUM || !ctype_complete(bare) || !bare->n_values ||
	    map_get(&l->valued, bare->values[0].name))
		return;
	struct diag_place *at = arena_new(l->arena, struct diag_place);
	*at = tok_place(n->first);
	map_put(l->arena, &l->valued, bare->values[0].name, at);
}

/**
 * print(*p): each member of @t is printed, and of the structs in it. @path leads to it from @in, the
 * nearest struct around it that has a name.
 */
static void add_members(struct collector *k, const struct node *n, struct ctype *in,
			struct str path, struct ctype *t, unsigned depth)
{
	struct arena *a = k->b->arena;
	struct ctype *bare = ctype_strip(t), *named;
	for (; depth < MAX_NESTING && bare && bare->kind == CTYPE_ARRAY; depth++) {
		path = str_printf(a, STR_FMT "[0]", STR_ARG(path));
		t = bare->of;
		bare = ctype_strip(t);
	}
	if (depth >= MAX_NESTING || !bare || !ctype_is_aggregate(bare) || !ctype_complete(bare) ||
	    !map_add_ptr(a, &k->printed, bare))
		return;
	if ((named = named_type(t)))
		path = STR("");
	in = named ? named : in;
	list_each(const struct ctype_member, m, bare->members, bare->n_members) {
		struct str to = str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(path),
					   path.n && m->name.n ? "." : "", STR_ARG(m->name));
		if (m->name.n && !is_unnamed(m->type))
			add_member(k, n, in, to);
		note_enum(k, n, m->type);
		add_members(k, n, in, to, m->type, depth + 1);
	}
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
	add(k->lock, tok_place(n->first), "enum", enum_text(a, of->name),
	    of->name.n ? last->text : text, lock_enumerator(a, of->is_signed, value));
}

/** sizeof(T), offsetof(T, m) */
static void add_size(struct collector *k, const struct node *n)
{
	struct arena *a = k->b->arena;
	struct targettype_name name;
	struct ctype *t;
	struct ctype *of = n->child && n->child->expr ? named_type(n->child->expr->type) : NULL;
	if (of && ctype_is_aggregate(ctype_strip(of)) && tok_is(n->name, "sizeof"))
		add(k->lock, tok_place(n->first), "sizeof", type_text(a, of), STR(""),
		    lock_size(a, of)); // of what an expression is
	if (!n->child || !targettype_find(k->b, k->clause, n->child, &name, &t) || name.stars ||
	    !targettype_is_whole(n->child, &name))
		return;
	if (tok_is(n->name, "sizeof"))
		add(k->lock, tok_place(n->first), "sizeof", type_name(a, name.name), STR(""),
		    lock_size(a, t));
	else if (n->child->next)
		add_member(k, n, named_type(t), print_text(a, n->child->next));
}

/** p + 1, p[i], p++: the size of what @n counts in. */
static void add_step(struct collector *k, const struct node *n)
{
	bool is_index = n->kind == NODE_INDEX;
	if (!is_index && !(node_operator(n) & OP_MOVE) && !node_is_step(n))
		return;
	const struct expr *e = is_index || !n->expr ? n->child->expr : n->expr;
	struct ctype *pointer = e ? ctype_strip(e->type) : NULL;
	struct ctype *of =
	    pointer && pointer->kind == CTYPE_POINTER ? named_type(pointer->of) : NULL;
	if (of && ctype_is_aggregate(ctype_strip(of)))
		add(k->lock, tok_place(n->first), "sizeof", type_text(k->b->arena, of), STR(""),
		    lock_size(k->b->arena, of));
}

static void add_names(struct lock *l, const struct enumtab *tab, struct diag_place at)
{
	for (size_t n = 0; n < tab->n_items; n++)
		add(l, at, "enum", enum_text(l->arena, tab->name), tab->items[n].name,
		    lock_enumerator(l->arena, tab->is_signed, tab->items[n].value));
}

static void add_node(struct collector *k, struct node *n)
{
	const struct expr *e = n->expr;
	if (n->kind == NODE_CALL && (tok_is(n->name, "sizeof") || tok_is(n->name, "offsetof")))
		add_size(k, n);
	const struct enumtab *names =
	    node_is(n, NODE_CALL, "enum_name") && n->child ? enumname_lookup(k->b, k->i, n) : NULL;
	if (names) // enum_name(T, x): all names of T
		add_names(k->lock, names, tok_place(n->child->first));
	if ((n->kind == NODE_NAME || n->kind == NODE_CALL) && tok_is(n->name, "retval"))
		add_result(k, n);
	add_step(k, n);
	if (!e)
		return;
	note_enum(k, n, arg_fact_enum(k->b, e));
	const struct expr *from =
	    n->kind == NODE_INDEX || node_is(n, NODE_UNARY, "*") ? n->child->expr : NULL;
	struct ctype *place = from ? ctype_strip(from->type) : NULL; // a pointer or an array
	if (place)
		add_typedef(k, n, place->of);
	else if (!arg_fact_of(k->b, e))
		add_typedef(k, n, e->type);
	struct str path;
	if (n->kind == NODE_MEMBER && e->in && !is_unnamed(e->type)) {
		struct ctype *in = find_path(k->b->arena, n, &path);
		add_member(k, n, in, path);
	} else if (n->kind == NODE_NAME && e->enumerator_of) {
		add_enumerator(k, n);
	}
	if (e->kind == EXPR_AGGREGATE && e->type && n->parent->kind == NODE_CALL)
		add_members(k, n, NULL, STR(""), e->type, 0);
}

void lock_add_script(const struct bind *b)
{
	struct collector k = {.b = b, .lock = b->given->lock};
	if (!bind_lookup(b))
		return; // no target
	for (; k.i < b->found.script.clauses.n; k.i++) {
		k.clause = b->found.clauses[k.i];
		bind_lookup_from(b, k.i);
		for (size_t n = 0; n < k.clause->probes.n; n++)
			add_probe(&k, &k.clause->probes.v[n]);
		for (size_t n = 0; n < k.clause->clause->attach.n && !k.clause->is_wrong; n++)
			add_function(&k, &k.clause->clause->attach.v[n]);
		struct node *clause = k.clause->clause->node;
		for (struct node *n = clause; n; n = node_next(clause, n))
			add_node(&k, n);
	}
}

/** Where the script has a value of the enum whose first enumerator is @name, or where it begins. */
static struct diag_place place_of(const struct bind *b, struct str name)
{
	const struct diag_place *at = map_get(&b->given->lock->valued, name);
	return at ? *at : tok_place(b->found.script.program->first);
}

/** Of an enum, or of those in a struct that is printed. */
static void add_names_of_type(const struct bind *b, struct ctype *t, struct map *seen)
{
	struct ctype *bare = ctype_strip(t);
	while (bare && bare->kind == CTYPE_ARRAY) {
		t = bare->of;
		bare = ctype_strip(t);
	}
	if (!bare || !ctype_complete(bare) || !map_add_ptr(b->arena, seen, bare))
		return;
	if (bare->kind == CTYPE_ENUM && bare->n_values)
		add_enum(b->given->lock, bare, place_of(b, bare->values[0].name));
	if (ctype_is_aggregate(bare))
		list_each(const struct ctype_member, m, bare->members, bare->n_members)
			add_names_of_type(b, m->type, seen);
}

static void add_names_of_values(const struct bind *b, const struct value *values, size_t n,
				struct map *seen)
{
	for (size_t i = 0; i < n; i++) {
		const struct enumtab *names = values[i].names;
		if (names && names->n_items && map_add_ptr(b->arena, seen, names))
			add_names(b->given->lock, names, place_of(b, names->items[0].name));
		else if (values[i].how == VALUE_PLAIN && !names)
			add_names_of_type(b, values[i].type, seen);
		add_names_of_values(b, values[i].parts, values[i].n_parts, seen);
	}
}

void lock_add_names(const struct bind *b)
{
	struct map seen = {0};
	for (size_t i = 0; i < b->made->tables.n; i++)
		add_names(b->given->lock, &b->made->tables.v[i].names, b->made->tables.v[i].place);
	if (!b->given->shapes)
		return; // nothing is printed
	vec_each(const struct shape, s, &b->given->shapes->list)
		for (size_t i = 0; i < s->n_fields; i++) {
			const struct shape_field *f = &s->fields[i];
			if (s->style != SHAPE_FORMAT || f->as.letter == 's')
				add_names_of_values(b, &f->value, 1, &seen);
		}
	vec_each(const struct map_shape, m, &b->made->map_shapes) {
		add_names_of_values(b, m->keys, m->n_keys, &seen);
		add_names_of_values(b, &m->value, 1, &seen);
	}
}

// --- the file ---

static int by_text(const void *x, const void *y)
{
	return str_compare(*(const struct str *)x, *(const struct str *)y);
}

static struct str text_of(const struct lock *l)
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
	struct strbuf text = {0};
	strbuf_addz(&text, LOCK_FORMAT LOCK_VERSION "\n");
	for (size_t i = 0; i < lines.n; i++)
		strbuf_adds(&text, lines.v[i]);
	return strbuf_take(&text, a);
}

bool lock_write(const struct lock *l, struct diag *d, const char *path)
{
	struct str text = text_of(l);
	if (text.n <= LOCK_MAX)
		return outfile_write(l->arena, d, "--lock", path, text);
	return diag_error(d, diag_at({.file = str_from(path)}),
			  "the lock would be larger than 1 MiB: write one for fewer scripts");
}

enum lock_state lock_look(const struct lock *l, struct diag *d, const char *path)
{
	struct diag_place at = {.file = str_from(path)};
	struct str format = STR(LOCK_FORMAT);
	struct strbuf old = {0};
	uint64_t size;
	const char *why;
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0 && errno != EACCES) // missing, no regular file: the write reports what is wrong
		return LOCK_EMPTY;
	bool is_read = fd >= 0 && file_read_rest(fd, LOCK_MAX, &old);
	if (fd >= 0)
		close(fd);
	struct str text = strbuf_str(&old);
	enum lock_state state = LOCK_UNUSABLE;
	if (!is_read)
		diag_error(d, &at, "cannot be read: %s", fd < 0 ? why : strerror(errno));
	else if (!text.n)
		state = LOCK_EMPTY;
	else if (!str_has_prefix(text, format))
		diag_error(d, &at, "not a lock, and not overwritten: its first line is not \"%s\"",
			   LOCK_FORMAT LOCK_VERSION);
	else
		state = str_eq(text, text_of(l)) ? LOCK_EQUAL : LOCK_DIFFERENT;
	strbuf_fini(&old);
	return state;
}
