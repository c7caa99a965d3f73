#include "bind/typeuse.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bind/attach.h"
#include "bind/edit.h"
#include "out/dialect.h"
#include "types/cprint.h"
#include "types/kbtf.h"

struct resolver {
	struct bind *b;
	struct closure closure;
	struct kbtf *kernel; // NULL when it has no BTF
	bool kernel_tried;
	struct map
	    accessed; // names of members that the template reads: pointers among them are followed
	struct map own;	     // tags that the template defines
	bool avoids_program; // no tag of the program's may be in the bpftrace program
	struct map placed;   // tokens (their addresses) of names that were put there below
	struct map said;     // tags that are the kernel's
	bool in_program;     // only probes of the program are in the clause
};

static bool is_keyword(const struct token *t)
{
	return tok_is(t, "struct") || tok_is(t, "union") || tok_is(t, "enum");
}

bool typeuse_is_builtin(struct str name)
{
	static const char *const names[] = {
	    "int8",	"int16",    "int32",	"int64",   "uint8",    "uint16",    "uint32",
	    "uint64",	"void",	    "char",	"short",   "int",      "long",	    "float",
	    "double",	"signed",   "unsigned", "bool",	   "string",   "stack",	    "usym",
	    "ksym",	"u8",	    "u16",	"u32",	   "u64",      "s8",	    "s16",
	    "s32",	"s64",	    "int8_t",	"int16_t", "int32_t",  "int64_t",   "uint8_t",
	    "uint16_t", "uint32_t", "uint64_t", "size_t",  "intptr_t", "uintptr_t", "_Bool",
	    "const",	"volatile",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eqz(name, names[i]))
			return true;
	return false;
}

/** `<int, 4>` as compilers write it in a type's name; what is none adds nothing. Returns the token behind. */
static struct token *add_template(struct token *open, struct strbuf *name, struct token **last)
{
	size_t start = name->n;
	unsigned depth = 0;
	const struct token *prev = NULL;
	for (struct token *t = open; tok_is(open, "<") && t->kind != TOK_EOF;
	     prev = t, t = t->next) {
		bool is_word = t->kind == TOK_IDENT || t->kind == TOK_NUMBER;
		unsigned closes = tok_is(t, ">>") ? 2 : tok_is(t, ">");
		if (!is_word && !closes && !tok_is(t, "<") && !tok_is(t, ",") && !tok_is(t, "*") &&
		    !tok_is(t, ":"))
			break;
		depth += tok_is(t, "<");
		if (closes > depth)
			break;
		if (prev &&
		    (tok_is(prev, ",") || ((is_word || tok_is(t, "*")) && prev->kind == TOK_IDENT)))
			strbuf_addc(name, ' ');
		for (unsigned i = 0; i < closes; i++)
			strbuf_addz(name, name->p[name->n - 1] == '>' ? " >" : ">");
		if (!closes)
			strbuf_adds(name, t->text);
		depth -= closes;
		if (!depth) {
			*last = t;
			return t->next;
		}
	}
	name->n = start;
	return open;
}

bool typeuse_parse(struct arena *a, struct token *t, struct typeuse_name *ret)
{
	*ret = (struct typeuse_name){.first = t};
	struct strbuf name;
	strbuf_init(&name);
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
		t = add_template(t, &name, &ret->last);
		for (; tok_is(t, "*"); t = t->next)
			ret->stars++;
		ret->end = t;
		ret->name = str_copy(a, strbuf_str(&name));
	}
	strbuf_fini(&name);
	return good;
}

static bool is_plain_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != ':' && s.p[i] != '_' && !isalnum((unsigned char)s.p[i]))
			return false;
	return s.n > 0;
}

struct str typeuse_pointer_text(struct arena *a, struct ctype *type)
{
	struct str none = {0};
	struct ctype *t = ctype_strip(type);
	if (!t || t->kind != CTYPE_POINTER)
		return none;
	struct ctype *to = t->of, *bare = ctype_strip(to);
	while (to && (to->kind == CTYPE_CONST || to->kind == CTYPE_VOLATILE))
		to = to->of;
	if (!to || !bare)
		return none;
	if (ctype_is_aggregate(bare)) {
		const char *keyword = bare->kind == CTYPE_UNION ? "union " : "struct ";
		struct str name = bare->name;
		// std::string is a basic_string<...>, which a template cannot spell.
		if (!is_plain_name(name) && to->kind == CTYPE_TYPEDEF) {
			keyword = "";
			name = to->name;
		}
		return is_plain_name(name)
			   ? str_from(arena_printf(a, "%s" STR_FMT " *", keyword, STR_ARG(name)))
			   : none;
	}
	bool number = bare->kind == CTYPE_INT || bare->kind == CTYPE_ENUM ||
		      bare->kind == CTYPE_BOOL || bare->kind == CTYPE_POINTER;
	uint64_t size;
	if (!number || !ctype_size(bare, &size) || size > 8 || (size & (size - 1)))
		return none;
	return str_from(
	    arena_printf(a, "%sint%u *", bare->is_signed ? "" : "u", (unsigned)size * 8));
}

static struct kbtf *kernel_btf(struct resolver *r)
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

static bool kernel_has(struct resolver *r, struct str name)
{
	struct kbtf *k = kernel_btf(r);
	return k && kbtf_has_tag(k, bare_name(name));
}

/**
 * The tag cannot be given to a definition. Where those of the program cannot, all of ours begin in a way that hardly any of
 * its own do, so that few have to be looked up.
 */
static bool is_taken(void *ctx, struct str tag)
{
	struct resolver *r = ctx;
	struct ctype *unused;
	if (map_get(&r->own, tag) || kernel_has(r, tag))
		return true;
	if (r->b->has_headers && !str_has_prefix(tag, STR(CLOSURE_PREFIX)))
		return true; // who knows what they define
	if (!r->avoids_program)
		return false;
	struct lookup *lk = bind_lookup(r->b);
	return !str_has_prefix(tag, STR(CLOSURE_PREFIX)) ||
	       (lk && lookup_type(lk, tag, DWFIND_TYPES, &unused));
}

static bool follow(void *ctx, struct ctype *owner, const struct ctype_member *m)
{
	const struct resolver *r = ctx;
	(void)owner;
	return map_get(&r->accessed, m->name) != NULL;
}

/** Probes of the kernel, where a kernel type is meant; everything else runs beside the target's code. */
bool typeuse_is_kernel_clause(const struct script_clause *c)
{
	for (size_t i = 0; i < c->attach.n; i++)
		if (c->attach.v[i].provider && c->attach.v[i].provider->memory == MEMORY_KERNEL)
			return true;
	return false;
}

/** The words that stand for a number type in every bpftrace: "int32", or "int64)(int32" to carry the sign. */
static const char *scalar_name(struct bind *b, struct ctype *t, unsigned stars)
{
	bool is_signed = t->is_signed && t->kind != CTYPE_BOOL;
	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return NULL;
	unsigned bits = (unsigned)t->size * 8;
	if (is_signed && bits < 64 && !stars)
		return arena_printf(b->arena, "int64)(int%u", bits);
	return arena_printf(b->arena, "%sint%u", is_signed ? "" : "u", bits);
}

static struct str address_of(const struct token *const *t)
{
	return (struct str){(const char *)t, sizeof(*t)};
}

/** Puts @text where the name stands; it is ours, and means no type of the target any more. */
static void replace_name(struct resolver *r, const struct typeuse_name *n, const char *text)
{
	struct arena *a = r->b->arena;
	struct script_range range = {n->first, n->last};
	edit_replace_lexed(a, &range, str_from(text));
	const struct token *t = range.first;
	map_add(a, &r->placed, str_copy(a, address_of(&t)));
}

/** The definition of the target's type is wanted; the name becomes `struct tag`, or a number type. */
static bool use_type(struct resolver *r, const struct typeuse_name *n, struct ctype *t)
{
	struct bind *b = r->b;
	unsigned stars = n->stars;
	const char *pointer = "";
	t = ctype_strip(t);
	if (t && t->kind == CTYPE_POINTER && ctype_strip(t->of)) { // a typedef of a pointer
		t = ctype_strip(t->of);
		pointer = " *";
		stars++;
	}
	if (!t)
		return true;
	if (ctype_is_aggregate(t)) {
		struct str tag;
		if (!closure_add(&r->closure, t, bare_name(n->name), &tag))
			return false;
		replace_name(r, n,
			     arena_printf(b->arena, "%s " STR_FMT "%s",
					  t->kind == CTYPE_UNION ? "union" : "struct", STR_ARG(tag),
					  pointer));
		return true;
	}
	if (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL) {
		const char *name = scalar_name(b, t, stars);
		if (name)
			replace_name(r, n, arena_printf(b->arena, "%s%s", name, pointer));
	}
	return true;
}

/** `struct X` anywhere in a clause. */
static bool resolve_tag(struct resolver *r, struct token *t, bool kernel_first)
{
	struct typeuse_name n;
	struct bind *b = r->b;
	struct ctype *type;
	if (!typeuse_parse(b->arena, t, &n) || map_get(&r->own, bare_name(n.name)))
		return true;
	const struct token *key = t;
	if (map_get(&r->placed, address_of(&key)))
		return true;
	if (kernel_first && kernel_has(r, n.name))
		return true;
	struct lookup *lk = bind_lookup(b);
	if (lk && lookup_type(lk, n.name, DWFIND_TYPES, &type))
		return use_type(r, &n, type);
	struct diag_place place = tok_place(n.last);
	if (kernel_has(r, n.name) || !lk) {
		// bpftrace knows it, or will say that it does not.
		bool of_kernel = tok_is(n.end, ")") && tok_is(n.end->next, "curtask");
		if (lk && r->in_program && !of_kernel && !map_get(&r->said, n.name)) {
			map_add(b->arena, &r->said, n.name);
			diag_warning(b->diag, &place, "%s has no " STR_FMT ": this is the kernel's",
				     bind_target_name(b), STR_ARG(n.name));
		}
		return true;
	}
	return lookup_say_unknown(lk, &place, "type", n.name, DWFIND_TYPES);
}

/** `(name *)operand`: a cast to a typedef or C++ class, if the target has a type of that name. */
static bool resolve_cast(struct resolver *r, struct token *paren, bool kernel_first)
{
	struct typeuse_name n;
	struct bind *b = r->b;
	struct lookup *lk = bind_lookup(b);
	struct ctype *type;
	if (!lk || !typeuse_parse(b->arena, paren->next, &n) || n.has_keyword ||
	    !tok_is(n.end, ")") || typeuse_is_builtin(n.name) || map_get(&r->own, n.name))
		return true;
	const struct token *operand = n.end->next;
	bool is_operand = operand->kind == TOK_IDENT || operand->kind == TOK_NUMBER ||
			  tok_is(operand, "(") || tok_is(operand, "@");
	if (!is_operand || (kernel_first && kernel_has(r, n.name)))
		return true;
	return !lookup_type(lk, n.name, DWFIND_TYPES, &type) || use_type(r, &n, type);
}

static struct token *closing_paren(struct token *open)
{
	int depth = 0;
	for (struct token *t = open; t->kind != TOK_EOF; t = t->next) {
		depth += tok_is(t, "(") - tok_is(t, ")");
		if (depth == 0)
			return t;
	}
	return NULL;
}

static void replace_call(struct token *first, struct token *last, struct arena *a, uint64_t value)
{
	first->kind = TOK_NUMBER;
	first->text = str_from(arena_printf(a, "%" PRIu64, value));
	first->next = last->next;
}

/** `sizeof(TYPE)` and `offsetof(TYPE, path)` of the target's types as numbers. */
static bool fold(struct resolver *r, struct token *word, bool kernel_first)
{
	struct bind *b = r->b;
	struct lookup *lk = bind_lookup(b);
	struct typeuse_name n;
	struct ctype *type;
	struct token *end = tok_is(word->next, "(") ? closing_paren(word->next) : NULL;
	if (!lk || !end || !typeuse_parse(b->arena, word->next->next, &n) ||
	    map_get(&r->own, bare_name(n.name)) || (!n.has_keyword && typeuse_is_builtin(n.name)) ||
	    (kernel_first && kernel_has(r, n.name)))
		return true;
	if (!lookup_type(lk, n.name, DWFIND_TYPES, &type))
		return true; // a kernel type, or told when its tag is looked at
	uint64_t value = 8;
	if (tok_is(word, "sizeof")) {
		if (n.end != end || (!n.stars && !ctype_size(type, &value)))
			return true;
		replace_call(word, end, b->arena, value);
		return true;
	}
	if (n.stars || !tok_is(n.end, ","))
		return true;
	struct strbuf path;
	strbuf_init(&path);
	for (const struct token *t = n.end->next; t != end; t = t->next)
		strbuf_adds(&path, t->text);
	struct ctype_place place;
	struct ctype *in;
	struct str bad;
	bool good = ctype_resolve(type, strbuf_str(&path), &place, &bad, &in);
	if (!good) {
		struct diag_place at = tok_place(n.end->next);
		diag_error(b->diag, &at, STR_FMT " has no member " STR_FMT,
			   STR_ARG(ctype_spell(b->arena, in)), STR_ARG(bad));
	} else if (place.bit_size) {
		struct diag_place at = tok_place(n.end->next);
		good = diag_error(b->diag, &at, "a bitfield has no offset in bytes");
	} else {
		replace_call(word, end, b->arena, place.off);
	}
	strbuf_fini(&path);
	return good;
}

/** From behind @open up to @end, both of which stay what they are. */
static bool resolve_range(struct resolver *r, struct token *open, const struct token *end,
			  bool kernel_first)
{
	bool good = true;
	for (struct token *t = open->next; t != end; t = t->next) {
		if (tok_is(t, "sizeof") || tok_is(t, "offsetof"))
			good &= fold(r, t, kernel_first);
		else if (is_keyword(t))
			good &= resolve_tag(r, t, kernel_first);
		else if (tok_is(t, "(") && t->next->kind == TOK_IDENT)
			good &= resolve_cast(r, t, kernel_first);
	}
	return good;
}

/** What a member of such a name points at must be defined: the template may go on from there. */
static void collect_accessed(struct resolver *r, const struct token *open, const struct token *end)
{
	for (const struct token *t = open; t != end; t = t->next)
		if ((tok_is(t, "->") || tok_is(t, ".")) && t->next->kind == TOK_IDENT)
			map_add(r->b->arena, &r->accessed, t->next->text);
}

static bool put_definitions(struct resolver *r, struct pp *pp)
{
	struct strbuf text;
	strbuf_init(&text);
	struct cprint_options opt = {0};
	bool good = cprint_definitions(&text, &r->closure, &opt);
	if (good && text.n) {
		struct str s = str_copy(r->b->arena, strbuf_str(&text));
		edit_prepend(r->b->arena, &pp->out, str_trim(s));
	}
	strbuf_fini(&text);
	return good;
}

static bool has_function_clause(const struct script *s)
{
	for (size_t i = 0; i < s->clauses.n; i++)
		for (size_t k = 0; k < s->clauses.v[i].attach.n; k++) {
			const struct provider *p = s->clauses.v[i].attach.v[k].provider;
			if (p && (p->kind == PROVIDER_UPROBE || p->kind == PROVIDER_URETPROBE))
				return true;
		}
	return false;
}

/** The template's own tags, too, become other ones than the program's, in its definitions and wherever they are used. */
static void rename_own(struct resolver *r, struct token *list)
{
	struct arena *a = r->b->arena;
	struct map renamed = {0};
	for (size_t i = 0; i < r->b->script.definitions.n; i++) {
		struct str own = r->b->script.definitions.v[i].tag, *tag = arena_new(a, struct str);
		*tag = str_from(arena_printf(a, CLOSURE_PREFIX STR_FMT, STR_ARG(own)));
		while (is_taken(r, *tag))
			*tag = str_from(arena_printf(a, STR_FMT "_", STR_ARG(*tag)));
		map_put(a, &renamed, own, tag);
		map_add(a, &r->own, *tag);
	}
	for (struct token *t = list; t->kind != TOK_EOF; t = t->next) {
		const struct str *tag = is_keyword(t) ? map_get(&renamed, t->next->text) : NULL;
		if (tag)
			t->next->text = *tag;
	}
}

bool typeuse_resolve(struct bind *b, struct pp *pp)
{
	struct resolver r = {.b = b, .accessed = b->accessed};
	r.avoids_program =
	    dialect_prefers_program_types(b->version) && has_function_clause(&b->script);
	struct closure_options opt = {
	    .follow = follow, .is_taken = is_taken, .ctx = &r, .for_bpftrace = true};
	closure_init(&r.closure, b->arena, b->diag, &opt);
	for (size_t i = 0; i < b->script.definitions.n; i++)
		map_add(b->arena, &r.own, b->script.definitions.v[i].tag);
	if (r.avoids_program)
		rename_own(&r, pp->out);
	for (struct map_entry *e = NULL; (e = map_next(b->header_tags, e));)
		map_add(b->arena, &r.own, e->key);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		if (c->predicate.first)
			collect_accessed(&r, c->predicate_open, c->predicate_close);
		collect_accessed(&r, c->body.first, c->body.last);
	}
	bool good = true;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		struct script_clause *c = &b->script.clauses.v[i];
		bool kernel = typeuse_is_kernel_clause(c);
		r.in_program = b->clauses[i].has_user && !b->clauses[i].has_other;
		bind_lookup_from(b, i);
		if (c->predicate.first)
			good &= resolve_range(&r, c->predicate_open, c->predicate_close, kernel);
		good &= resolve_range(&r, c->body.first, c->body.last, kernel);
	}
	if (good && r.closure.defs.n + r.closure.queue.n)
		good = put_definitions(&r, pp);
	if (r.kernel)
		kbtf_close(r.kernel);
	return good;
}
