#include "sema/targettype.h"

#include <inttypes.h>
#include <unistd.h>

#include "bind/bind.h"
#include "lang/print.h"
#include "dialect/dialect.h"
#include "ctype/cname.h"
#include "ctype/cprint.h"
#include "btf/kbtf.h"

struct targettype {
	const struct bind *b;
	struct closure closure;
	struct kbtf *kernel; // NULL when it has no BTF
	bool kernel_tried;
	struct map accessed;  // names of members that are read: pointers among them are followed
	struct map own;	      // tags that the template defines
	struct map own_names; // words in its definitions and its headers' enumerators
	bool avoids_program;  // no tag of the program's may be in the bpftrace program
	struct map said;      // tags that are the kernel's
};

static bool is_keyword(const struct token *t)
{
	return tok_is(t, "struct") || tok_is(t, "union") || tok_is(t, "enum");
}

/**
 * From the < at @t to its >, which the parser has seen, as compilers write it in a type's name.
 * Returns the >.
 */
static struct token *add_template(struct token *t, struct strbuf *name)
{
	unsigned depth = 0;
	for (const struct token *prev = t;; prev = t, t = t->next) {
		bool is_word = t->kind == TOK_IDENT || t->kind == TOK_NUMBER;
		unsigned closes = tok_is(t, ">>") ? 2 : tok_is(t, ">");
		if (tok_is(prev, ",") || ((is_word || tok_is(t, "*")) && prev->kind == TOK_IDENT))
			strbuf_addc(name, ' ');
		for (unsigned i = 0; i < closes; i++)
			strbuf_addz(name, name->p[name->n - 1] == '>' ? " >" : ">");
		if (!closes)
			strbuf_adds(name, t->text);
		depth += tok_is(t, "<");
		depth -= closes;
		if (!depth)
			return t;
	}
}

/** The type name that starts at @t and goes to before @end at most; false when none does. */
static bool read_name(struct arena *a, struct token *t, const struct token *end,
		      struct targettype_name *ret)
{
	struct strbuf name;
	strbuf_init(&name);
	if (tok_is(t, "class") && t->next != end) // as C++ does, by the name alone
		t = t->next;
	if (is_keyword(t)) {
		ret->has_keyword = true;
		strbuf_adds(&name, t->text);
		strbuf_addc(&name, ' ');
		t = t->next;
	}
	bool good = t->kind == TOK_IDENT && t->text.p[0] != '$';
	if (good) {
		strbuf_adds(&name, t->text);
		ret->last = t;
		// C++ scopes: `::` is one token of ours or two colons.
		for (t = t->next; tok_is(t, "::") || (tok_is(t, ":") && tok_is(t->next, ":"));) {
			t = tok_is(t, "::") ? t->next : t->next->next;
			if (t->kind != TOK_IDENT)
				break;
			strbuf_addf(&name, "::" STR_FMT, STR_ARG(t->text));
			ret->last = t;
			t = t->next;
		}
		if (t != end && tok_is(t, "<")) {
			ret->last = add_template(t, &name);
			t = ret->last->next;
		}
		for (; tok_is(t, "*"); t = t->next)
			ret->stars++;
		ret->end = t;
		ret->name = str_copy(a, strbuf_str(&name));
	}
	strbuf_fini(&name);
	return good;
}

bool targettype_read(struct arena *a, const struct node *n, struct targettype_name *ret)
{
	struct token *t = n->first;
	*ret = (struct targettype_name){0};
	if (n->kind != NODE_TYPE && n->kind != NODE_NAME)
		return false;
	while (t != n->last && (tok_is(t, "const") || tok_is(t, "volatile")))
		t = t->next;
	return read_name(a, t, n->last->next, ret);
}

bool targettype_is_whole(const struct node *n, const struct targettype_name *name)
{
	return name->end == n->last->next;
}

struct ctype *targettype_builtin(struct arena *a, struct str name)
{
	const struct type_word *word = vocabulary_type(name);
	if (!word->size)
		return NULL;
	struct ctype *t = arena_new(a, struct ctype);
	*t = (struct ctype){.kind = CTYPE_INT, .name = name, .size = word->size, .has_size = true};
	t->is_signed = word->is_signed;
	t->is_char = str_eqz(name, "char");
	return t;
}

bool targettype_is_own(const struct bind *b, struct str name)
{
	return map_get(&b->found.types->own, name) != NULL;
}

bool targettype_defines(const struct bind *b, struct str name)
{
	return map_get(&b->found.types->own_names, name) != NULL;
}

/** What @type points at, with what it is called by; NULL for what no cast can name. */
static struct ctype *named_pointee(struct ctype *type, struct str *name)
{
	struct ctype *t = ctype_strip(type);
	if (!t || t->kind != CTYPE_POINTER)
		return NULL;
	struct ctype *to = t->of, *bare = ctype_strip(to);
	while (to && (to->kind == CTYPE_CONST || to->kind == CTYPE_VOLATILE))
		to = to->of;
	if (!to || !bare)
		return NULL;
	uint64_t size;
	*name = bare->name;
	if (ctype_is_aggregate(bare)) {
		// std::string is a basic_string<...>, which no definition of ours can have as its
		// tag.
		if (!str_is_made_of(*name, ALPHABET_SCOPED_WORD) && to->kind == CTYPE_TYPEDEF)
			*name = to->name;
		return str_is_made_of(*name, ALPHABET_SCOPED_WORD) ? bare : NULL;
	}
	bool number = bare->kind == CTYPE_INT || bare->kind == CTYPE_ENUM ||
		      bare->kind == CTYPE_BOOL || bare->kind == CTYPE_POINTER;
	return number && ctype_size(bare, &size) && size && size <= 8 && !(size & (size - 1))
		   ? bare
		   : NULL;
}

bool targettype_can_point(struct ctype *type)
{
	struct str name;
	return named_pointee(type, &name) != NULL;
}

struct str targettype_pointer(const struct bind *b, struct ctype *type)
{
	struct str name, tag;
	struct ctype *to = named_pointee(type, &name);
	if (!to)
		return STR("");
	if (!ctype_is_aggregate(to))
		return str_printf(b->arena, "%sint%u *", to->is_signed ? "" : "u",
				  (unsigned)to->size * 8);
	if (!ctype_complete(to)) {
		if (!targettype_is_own(b, to->name))
			return STR("");
		tag = to->name; // the program only declares it, the script defines it
	} else if (!closure_add(&b->found.types->closure, to, name, &tag)) {
		return STR("");
	}
	return str_printf(b->arena, "%s " STR_FMT " *",
			  to->kind == CTYPE_UNION ? "union" : "struct",
			  STR_ARG(word_spell(b->arena, tag).s));
}

static struct kbtf *kernel_btf(struct targettype *r)
{
	if (!r->kernel_tried && access(KBTF_KERNEL, R_OK) == 0 &&
	    !kbtf_open(r->b->arena, r->b->diag, KBTF_KERNEL, &r->kernel))
		r->kernel = NULL;
	r->kernel_tried = true;
	return r->kernel;
}

static struct str bare_name(struct str name)
{
	size_t blank = str_find(name, ' ');
	return blank < name.n ? str_from_offset(name, blank + 1) : name;
}

static bool kernel_has(struct targettype *r, struct str name)
{
	struct kbtf *k = kernel_btf(r);
	return k && kbtf_has_tag(k, bare_name(name));
}

/**
 * The tag cannot be given to a definition. Where those of the program cannot, all of ours begin in
 * a way that hardly any of its own do, so that few have to be looked up.
 */
static bool is_taken(void *ctx, struct str tag)
{
	struct targettype *r = ctx;
	struct ctype *unused;
	if (map_get(&r->own, tag) || kernel_has(r, tag))
		return true;
	if (r->b->found.pp->n_c_headers && !str_has_prefix(tag, STR(CLOSURE_PREFIX)))
		return true; // what they define is not known here
	if (!r->avoids_program)
		return false;
	struct lookup *lk = bind_lookup(r->b);
	return !str_has_prefix(tag, STR(CLOSURE_PREFIX)) ||
	       (lk && lookup_type(lk, tag, NAME_TYPES, &unused));
}

bool targettype_is_free(const struct bind *b, struct str name)
{
	struct kbtf *k = kernel_btf(b->found.types);
	struct str spelled = cname_ident(b->arena, name, true);
	return str_is_ident(name) && str_eq(spelled, name) && !vocabulary_is_builtin(name) &&
	       !map_get(&b->found.types->own, name) && !map_get(&b->found.types->own_names, name) &&
	       !b->found.pp->n_c_headers &&
	       !(k && (kbtf_has_tag(k, name) || kbtf_has_enumerator(k, name)));
}

bool targettype_reserve(const struct bind *b, struct str tag)
{
	return closure_reserve(&b->found.types->closure, tag);
}

static bool follow(void *ctx, struct ctype *owner, const struct ctype_member *m)
{
	const struct targettype *r = ctx;
	(void)owner;
	return map_get(&r->accessed, m->name) != NULL;
}

/**
 * The words that stand for a number type in every bpftrace: "int32", or "int64)(int32" to carry the
 * sign.
 */
static const char *scalar_name(const struct bind *b, struct ctype *t, bool is_bare)
{
	bool is_signed = t->is_signed && t->kind != CTYPE_BOOL;
	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return NULL;
	unsigned bits = (unsigned)t->size * 8;
	if (is_signed && bits < 64 && !is_bare)
		return arena_printf(b->arena, "int64)(int%u", bits);
	return arena_printf(b->arena, "%sint%u", is_signed ? "" : "u", bits);
}

/**
 * The definition of the target's type is wanted; the name becomes `struct tag`, or a number type.
 */
static bool use_type(struct targettype *r, const struct node *n, bool is_cast,
		     const struct targettype_name *name, struct ctype *t, struct str *ret)
{
	struct arena *a = r->b->arena;
	unsigned stars = name->stars;
	const char *spelling = NULL;
	t = ctype_strip(t);
	if (t && t->kind == CTYPE_POINTER && ctype_strip(t->of)) { // a typedef of a pointer
		t = ctype_strip(t->of);
		stars++;
	}
	if (t && ctype_is_aggregate(t)) {
		struct str tag;
		if (!closure_add(&r->closure, t, bare_name(name->name), &tag))
			return false;
		spelling =
		    arena_printf(a, "%s " STR_FMT, t->kind == CTYPE_UNION ? "union" : "struct",
				 STR_ARG(word_spell(a, tag).s));
	} else if (t && (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL)) {
		spelling = scalar_name(r->b, t, stars || !is_cast);
	}
	static const char all[] = "********";
	if (!spelling || stars >= sizeof(all))
		return true;
	struct str rest = STR(""); // const, [4]
	for (const struct token *p = name->end; p != n->last->next; p = p->next)
		rest = str_printf(a, STR_FMT " " STR_FMT, STR_ARG(rest), STR_ARG(p->text));
	*ret = str_printf(a, "%s%s%s" STR_FMT, spelling, stars ? " " : "",
			  all + sizeof(all) - 1 - stars, STR_ARG(rest));
	return true;
}

/**
 * Probes of the kernel, where a kernel type is meant; everything else runs beside the target's
 * code.
 */
bool targettype_is_kernel_clause(const struct script_clause *c)
{
	for (size_t i = 0; i < c->attach.n; i++)
		if (c->attach.v[i].provider->memory == MEMORY_KERNEL)
			return true;
	return false;
}

/** No type of the target's is called so: bpftrace knows it, or will say that it does not. */
static bool miss(struct targettype *r, const struct attach_clause *c,
		 const struct targettype_name *name, const struct node *n)
{
	const struct bind *b = r->b;
	struct diag_place place = tok_place(name->last);
	if (!kernel_has(r, name->name))
		return lookup_say_unknown(bind_lookup(b), &place, "type", name->name, NAME_TYPES);
	bool of_kernel = n->next && node_is(n->next, NODE_NAME, "curtask"); // a cast of that
	if (c->has_user && !c->has_other && !of_kernel && map_add(b->arena, &r->said, name->name))
		return diag_check(b->diag, "kernel-type", DIAG_WARNING, &place,
				  "%s has no " STR_FMT ": using the kernel's", bind_target_name(b),
				  STR_ARG(name->name));
	return true;
}

bool targettype_find(const struct bind *b, const struct attach_clause *c, const struct node *n,
		     struct targettype_name *name, struct ctype **ret)
{
	struct targettype *r = b->found.types;
	struct lookup *lk = bind_lookup(b);
	return lk && targettype_read(r->b->arena, n, name) &&
	       !map_get(&r->own, bare_name(name->name)) &&
	       (name->has_keyword || !vocabulary_type(name->name)) &&
	       !(targettype_is_kernel_clause(c->clause) && kernel_has(r, name->name)) &&
	       lookup_type(lk, name->name, NAME_TYPES, ret);
}

bool targettype_spell(const struct bind *b, const struct attach_clause *c, const struct node *n,
		      bool is_cast, struct str *ret)
{
	struct targettype *r = b->found.types;
	struct targettype_name name = {0};
	struct ctype *type;
	*ret = STR("");
	if (targettype_find(b, c, n, &name, &type))
		return use_type(r, n, is_cast, &name, type, ret);
	if (!name.has_keyword || map_get(&r->own, bare_name(name.name)) ||
	    (targettype_is_kernel_clause(c->clause) && kernel_has(r, name.name)))
		return true;
	return miss(r, c, &name, n);
}

/** `offsetof(TYPE, path)` as a number. */
static bool fold_offset(const struct bind *b, const struct node *call, struct ctype *type,
			struct str *ret)
{
	const struct node *path = call->child->next;
	struct diag_place at = tok_place(path->first);
	struct ctype_place place;
	struct ctype *in;
	struct str bad;
	if (!ctype_resolve(type, print_text(b->arena, path), &place, &bad, &in))
		return diag_error(b->diag, &at, STR_FMT " has no member " STR_FMT,
				  STR_ARG(ctype_spell(b->arena, in)), STR_ARG(bad));
	if (place.bit_size)
		return diag_error(b->diag, &at, "a bitfield has no offset in bytes");
	*ret = str_printf(b->arena, "%" PRIu64, place.off);
	return true;
}

bool targettype_fold(const struct bind *b, const struct attach_clause *c, const struct node *call,
		     struct str *ret)
{
	const struct node *first = call->child;
	struct targettype_name name;
	struct ctype *type;
	uint64_t size = 8;
	bool is_size = tok_is(call->name, "sizeof");
	*ret = STR("");
	if (!first || !(is_size ? !first->next : tok_is(call->name, "offsetof") && first->next) ||
	    !targettype_find(b, c, first, &name, &type))
		return true; // a kernel type, or reported when its tag is resolved
	if (!targettype_is_whole(first, &name))
		return true;
	if (!is_size)
		return name.stars || fold_offset(b, call, type, ret);
	if (name.stars || ctype_size(type, &size))
		*ret = str_printf(b->arena, "%" PRIu64, size);
	return true;
}

/** What a member of such a name points at must be defined: the template may go on from there. */
static bool collect_accessed(void *ctx, struct node *n, struct node *parent)
{
	struct targettype *r = ctx;
	(void)parent;
	if (n->kind == NODE_MEMBER)
		map_add(r->b->arena, &r->accessed, n->name->text);
	return true;
}

static bool has_function_clause(const struct script *s)
{
	for (size_t i = 0; i < s->clauses.n; i++)
		for (size_t k = 0; k < s->clauses.v[i]->attach.n; k++)
			if (provider_is_function(s->clauses.v[i]->attach.v[k].provider))
				return true;
	return false;
}

/**
 * The template's own tags, too, become other ones than the program's, in its definitions and
 * wherever they are used.
 */
static void rename_own(struct targettype *r, struct token *list)
{
	struct arena *a = r->b->arena;
	struct map renamed = {0};
	for (size_t i = 0; i < r->b->found.script.definitions.n; i++) {
		struct str *tag = arena_new(a, struct str),
			   own = script_tag(r->b->found.script.definitions.v[i]);
		*tag = str_printf(a, CLOSURE_PREFIX STR_FMT, STR_ARG(own));
		while (is_taken(r, *tag))
			*tag = str_printf(a, STR_FMT "_", STR_ARG(*tag));
		map_put(a, &renamed, own, tag);
		map_add(a, &r->own, *tag);
	}
	for (struct token *t = list; t->kind != TOK_EOF; t = t->next) {
		const struct str *tag = is_keyword(t) ? map_get(&renamed, t->next->text) : NULL;
		if (tag)
			t->next->text = *tag;
	}
}

static void collect_own(struct targettype *r)
{
	struct arena *a = r->b->arena;
	for (size_t i = 0; i < r->b->found.script.definitions.n; i++) {
		const struct node *d = r->b->found.script.definitions.v[i];
		map_add(a, &r->own, script_tag(d));
		for (const struct token *t = d->first; t != d->last; t = t->next)
			if (t->kind == TOK_IDENT)
				map_add(a, &r->own_names, t->text);
	}
	for (struct map_entry *e = NULL; (e = map_next(&r->b->found.pp->header_tags, e));)
		map_add(a, &r->own, e->key);
	for (struct map_entry *e = NULL; (e = map_next(&r->b->found.pp->header_names, e));)
		map_add(a, &r->own_names, e->key);
}

void targettype_begin(struct bind *b)
{
	struct targettype *r = b->found.types = arena_new(b->arena, struct targettype);
	struct closure_options opt = {
	    .follow = follow, .is_taken = is_taken, .ctx = r, .for_bpftrace = true};
	r->b = b;
	r->avoids_program = dialect_prefers_program_types(b->given->version) &&
			    has_function_clause(&b->found.script);
	closure_init(&r->closure, b->arena, b->diag, &opt);
	collect_own(r);
	if (r->avoids_program)
		rename_own(r, b->found.script.program->first);
	node_walk(b->found.script.program, collect_accessed, r);
}

void targettype_prepend(struct arena *a, struct token **list, struct str text)
{
	struct token *added = arena_new(a, struct token);
	*added = (struct token){
	    .kind = TOK_DIRECTIVE, .text = text, .bol = true, .from_macro = true, .next = *list};
	(*list)->bol = true;
	*list = added;
}

bool targettype_define(const struct bind *b, struct token **list)
{
	struct targettype *r = b->found.types;
	struct cprint_options opt = {0};
	struct code text;
	code_init(&text);
	bool good = cprint_definitions(&text, &r->closure, &opt);
	if (good && code_str(&text).n)
		targettype_prepend(b->arena, list, str_trim(str_copy(b->arena, code_str(&text))));
	code_fini(&text);
	return good;
}

void targettype_end(const struct bind *b)
{
	if (b->found.types)
		kbtf_close(b->found.types->kernel);
}
