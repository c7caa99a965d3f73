#include "sema/targettype.h"

#include "dialect/dialect.h"
#include "ctype/closure.h"
#include "btf/kbtf.h"

struct targettype {
	const struct bind *b;
	struct kbtf *kernel; // NULL: it has no BTF
	bool kernel_tried;
	struct map accessed;  // names of members that are read: pointers among them are followed
	struct map own;	      // tags that the template defines
	struct map own_names; // words in its definitions and its headers' macros and enumerators
	struct map constants; // those that are constants
	bool avoids_program;  // tags of the program must not be used
};

static bool is_keyword(const struct token *t)
{
	return tok_is(t, "struct") || tok_is(t, "union") || tok_is(t, "enum");
}

/** From the < at @t to its >, which the parser has found, spelled as compilers do in a type's name. Returns the >. */
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

/** Reads the type name that starts at @t, up to @end at most; false: there is none. */
static bool read_name(struct arena *a, struct token *t, const struct token *end,
		      struct targettype_name *ret)
{
	struct strbuf name = {0};
	if (tok_is(t, "class") && t->next != end) // C++ refers to it by the name alone
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
		// C++ scopes: `::` is one token or two colons.
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
	struct ctype *t = ctype_new(a, CTYPE_INT, "", word->size, word->is_signed);
	t->name = name;
	t->is_char = str_eqz(name, "char");
	return t;
}

bool targettype_is_scripts(const struct bind *b, struct str name)
{
	return map_get(&b->found.types->own, name) != NULL;
}

bool targettype_defines(const struct bind *b, struct str name)
{
	return map_get(&b->found.types->own_names, name) != NULL;
}

bool targettype_is_constant(const struct bind *b, struct str name)
{
	return map_get(&b->found.types->constants, name) != NULL;
}

bool targettype_constant(const struct bind *b, struct str name, struct constant_value *ret)
{
	return constant_find(&b->found.types->constants, name, 0, ret);
}

bool targettype_is_accessed(const struct bind *b, struct str member)
{
	return map_get(&b->found.types->accessed, member) != NULL;
}

struct ctype *targettype_pointee(struct ctype *type, struct str *name)
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
		// std::string is a basic_string<...>, which cannot be the tag of a definition.
		if (!str_is_made_of(*name, ALPHABET_SCOPED_WORD) && to->kind == CTYPE_TYPEDEF)
			*name = to->name;
		return str_is_made_of(*name, ALPHABET_SCOPED_WORD) ? bare : NULL;
	}
	bool is_number = ctype_is_number(bare) || bare->kind == CTYPE_POINTER;
	return is_number && ctype_size(bare, &size) && ctype_is_word(size) ? bare : NULL;
}

uint64_t targettype_stride(struct ctype *type)
{
	struct ctype *t = ctype_strip(type);
	struct str unused;
	uint64_t size;
	return t && t->kind == CTYPE_POINTER && !targettype_pointee(type, &unused) &&
		       ctype_size(t->of, &size)
		   ? size
		   : 0;
}

static struct kbtf *kernel_btf(struct targettype *r)
{
	if (!r->kernel_tried && access(KBTF_KERNEL, R_OK) == 0 &&
	    !kbtf_open(r->b->arena, r->b->diag, KBTF_KERNEL, &r->kernel))
		r->kernel = NULL;
	r->kernel_tried = true;
	return r->kernel;
}

struct str targettype_bare(struct str name)
{
	size_t blank = str_find(name, ' ');
	return blank < name.n ? str_from_offset(name, blank + 1) : name;
}

bool targettype_is_kernel(const struct bind *b, struct str name)
{
	struct targettype *r = b->found.types;
	struct kbtf *k = kernel_btf(r);
	return k && kbtf_has_tag(k, targettype_bare(name));
}

void targettype_note_kernel(const struct bind *b)
{
	if (access(KBTF_KERNEL, R_OK) != 0)
		diag_note(b->diag, NULL,
			  KBTF_KERNEL " cannot be read here: if it is one of the kernel's types, "
				      "bpftrace does not find it either");
}

bool targettype_is_kernel_word(const struct bind *b, struct str word)
{
	struct kbtf *k = kernel_btf(b->found.types);
	return k && (kbtf_has_tag(k, word) || kbtf_has_enumerator(k, word));
}

bool targettype_is_taken(const struct bind *b, struct str tag)
{
	struct targettype *r = b->found.types;
	struct ctype *unused;
	if (map_get(&r->own, tag) || targettype_is_kernel(b, tag))
		return true;
	if (r->b->found.pp->n_c_headers && !str_has_prefix(tag, STR(CLOSURE_PREFIX)))
		return true; // unknown definitions
	if (!r->avoids_program)
		return false;
	struct lookup *lk = bind_lookup(r->b);
	return !str_has_prefix(tag, STR(CLOSURE_PREFIX)) ||
	       (lk && lookup_type(lk, tag, NAME_TYPES, &unused));
}

bool targettype_is_kernel_clause(const struct script_clause *c)
{
	return vec_any(const struct script_attach, at, &c->attach,
		       at->provider->memory == MEMORY_KERNEL);
}

bool targettype_find(const struct bind *b, const struct attach_clause *c, const struct node *n,
		     struct targettype_name *name, struct ctype **ret)
{
	struct targettype *r = b->found.types;
	struct lookup *lk = bind_lookup(b);
	return lk && targettype_read(r->b->arena, n, name) &&
	       !map_get(&r->own, targettype_bare(name->name)) &&
	       (name->has_keyword || !vocabulary_type(name->name)) &&
	       !(targettype_is_kernel_clause(c->clause) && targettype_is_kernel(b, name->name)) &&
	       lookup_type(lk, name->name, NAME_TYPES, ret);
}

static bool has_function_clause(const struct script *s)
{
	for (size_t i = 0; i < s->clauses.n; i++)
		if (vec_any(const struct script_attach, at, &s->clauses.v[i]->attach,
			    provider_is_function(at->provider)))
			return true;
	return false;
}

/** Renames tags of the template, in its definitions and uses, that the program has, too. */
static void rename_script_tags(struct targettype *r, struct token *list)
{
	struct arena *a = r->b->arena;
	struct map renamed = {0};
	for (size_t i = 0; i < r->b->found.script.definitions.n; i++) {
		struct str *tag = arena_new(a, struct str),
			   own = script_tag(r->b->found.script.definitions.v[i]);
		*tag = str_printf(a, CLOSURE_PREFIX STR_FMT, STR_ARG(own));
		while (targettype_is_taken(r->b, *tag))
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

static void collect_script_tags(struct targettype *r)
{
	struct arena *a = r->b->arena;
	for (size_t i = 0; i < r->b->found.script.definitions.n; i++) {
		const struct node *d = r->b->found.script.definitions.v[i];
		map_add(a, &r->own, script_tag(d));
		for (const struct token *t = d->first; t != d->last; t = t->next)
			if (t->kind == TOK_IDENT)
				map_add(a, &r->own_names, t->text);
		const struct token *open = d->first;
		while (open != d->last && !tok_is(open, "{"))
			open = open->next;
		if (tok_is(d->first, "enum") && open != d->last)
			constant_add_enum(a, &r->constants, open->next);
	}
	for (struct map_entry *e = NULL; (e = map_next(&r->b->found.pp->header_tags, e));)
		map_add(a, &r->own, e->key);
	for (struct map_entry *e = NULL; (e = map_next(&r->b->found.pp->header_names, e));) {
		map_add(a, &r->own_names, e->key);
		map_put(a, &r->constants, e->key, e->value);
	}
}

void targettype_begin(struct bind *b)
{
	struct targettype *r = b->found.types = arena_new(b->arena, struct targettype);
	r->b = b;
	r->avoids_program = dialect_prefers_program_types(b->given->version) &&
			    has_function_clause(&b->found.script);
	collect_script_tags(r);
	if (r->avoids_program)
		rename_script_tags(r, b->found.script.program->first);
	// Pointees of members of such a name must be defined: the template may dereference them.
	const struct node *program = b->found.script.program;
	for (const struct node *n = program; n; n = node_next(program, n))
		if (n->kind == NODE_MEMBER)
			map_add(b->arena, &r->accessed, n->name->text);
}

void targettype_end(const struct bind *b)
{
	if (b->found.types)
		kbtf_close(b->found.types->kernel);
}
