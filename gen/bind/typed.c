#include "bind/typed.h"

#include <inttypes.h>
#include <string.h>

#include "bind/edit.h"
#include "bind/typeuse.h"

enum { MAX_DEPTH = 40 }; // nesting of brackets in one expression

struct typer {
	struct bind *b;
	struct map own;	      // tags that the template defines: bpftrace's own business
	struct map maps;      // map -> struct ctype of what was assigned to it
	struct map variables; // the same for the variables of the clause
	struct map done;      // tokens (their addresses) that need no second look
	bool rewriting;	      // the first pass only learns the types of maps
	bool good;
	unsigned depth;
};

/** A chain: where it stands, what its value is, and how to get at it by address. */
struct chain {
	struct token *first, *last;
	struct ctype *type; // NULL: not known
	bool is_value;	    // a member of a struct that bpftrace holds as a value
	bool is_place;	    // something in memory: the rest holds
	struct str base;    // text of a pointer to the aggregate that the last steps are in
	struct str offset;  // text that is added to it: "24" or "24 + (uint64)($i) * 8"
	unsigned bit_size;  // of a bitfield, else 0
	unsigned bit_shift; // where it starts in the byte at offset
	bool by_address;    // bpftrace cannot follow the last steps: read it by address
};

static bool parse_unary(struct typer *ty, struct token *t, struct chain *ret);
static void settle(struct typer *ty, struct token *open, const struct token *end);
static void settle_chain(struct typer *ty, struct chain *c);

static struct ctype *pointee(struct ctype *t)
{
	t = ctype_strip(t);
	return t && t->kind == CTYPE_POINTER ? ctype_strip(t->of) : NULL;
}

static struct token *closing(struct token *open, const char *o, const char *c)
{
	int depth = 0;
	for (struct token *t = open; t->kind != TOK_EOF && t->kind != TOK_DIRECTIVE; t = t->next) {
		depth += tok_is(t, o) - tok_is(t, c);
		if (depth == 0)
			return t;
	}
	return NULL;
}

/** The type of `(TYPE)` at @paren, if the target has it; @end is the closing parenthesis. */
static bool parse_cast(struct typer *ty, struct token *paren, struct ctype **type,
		       struct token **end)
{
	struct typeuse_name n;
	struct arena *a = ty->b->arena;
	*type = NULL;
	if (!tok_is(paren, "(") || !typeuse_parse(a, paren->next, &n) || !tok_is(n.end, ")"))
		return false;
	*end = n.end;
	if (typeuse_is_builtin(n.name))
		return true;
	struct str bare =
	    n.has_keyword ? str_from_offset(n.name, str_find(n.name, ' ') + 1) : n.name;
	if (map_get(&ty->own, bare))
		return n.has_keyword;
	if (!lookup_type(bind_lookup(ty->b), n.name, DWFIND_TYPES, type))
		return n.has_keyword; // `(name)` without a keyword is an expression then
	for (unsigned i = 0; i < n.stars; i++) {
		struct ctype *p = arena_new(a, struct ctype);
		*p =
		    (struct ctype){.kind = CTYPE_POINTER, .size = 8, .has_size = true, .of = *type};
		*type = p;
	}
	return true;
}

static struct str chain_text(struct typer *ty, const struct chain *c)
{
	return edit_text(ty->b->arena, c->first, c->last);
}

/** `name`, `name(args)`, `name[key]`: an operand whose type we do not know, or a variable's or map's, which we may. */
static bool parse_operand(struct typer *ty, struct token *t, struct chain *ret)
{
	struct map *known = NULL;
	struct str name = t->text;
	*ret = (struct chain){.first = t, .last = t};
	if (tok_is(t, "@")) {
		if (t->next->kind == TOK_IDENT && !t->next->space)
			ret->last = t = t->next;
		known = &ty->maps;
		name = t->text;
	} else if (t->kind == TOK_IDENT) {
		known = t->text.p[0] == '$' ? &ty->variables : NULL;
	} else if (t->kind != TOK_NUMBER) {
		return false;
	}
	if (known == &ty->maps && tok_is(t->next, "[")) {
		struct token *end = closing(t->next, "[", "]");
		if (!end)
			return false;
		settle(ty, t->next, end);
		ret->last = end;
	} else if (t->kind == TOK_IDENT && !known && tok_is(t->next, "(")) {
		struct token *end = closing(t->next, "(", ")");
		if (!end)
			return false;
		ret->last = end;
	}
	ret->type = known ? map_get(known, name) : NULL;
	return true;
}

/** `->name` or `.name` */
static bool step_member(struct typer *ty, struct chain *c, struct token *op, bool arrow)
{
	struct arena *a = ty->b->arena;
	struct token *name = op->next;
	struct ctype *in = arrow ? pointee(c->type) : ctype_strip(c->type);
	if (name->kind != TOK_IDENT || !in || !ctype_is_aggregate(in))
		return false;
	struct ctype_place place;
	struct str bad;
	struct ctype *where;
	if (!ctype_complete(in))
		return false;
	if (!ctype_resolve(in, name->text, &place, &bad, &where)) {
		struct diag_place at = tok_place(name);
		struct str near = ctype_nearest_member(in, name->text);
		diag_error(ty->b->diag, &at, STR_FMT " has no member " STR_FMT,
			   STR_ARG(ctype_spell(a, in)), STR_ARG(name->text));
		if (near.n)
			diag_note(ty->b->diag, NULL, "did you mean " STR_FMT "?", STR_ARG(near));
		ty->good = false;
		return false;
	}
	if (arrow) {
		// What lies before is a pointer's value, to be read as a whole; from here on it is an offset.
		c->base = c->by_address ? c->base : chain_text(ty, c);
		c->offset = str_from(arena_printf(a, "%" PRIu64, place.off));
	} else if (c->is_place) {
		c->offset =
		    str_from(arena_printf(a, STR_FMT " + %" PRIu64, STR_ARG(c->offset), place.off));
	}
	c->type = place.type;
	c->bit_size = place.bit_size;
	c->bit_shift = (unsigned)(place.bit_off % 8);
	c->is_place |= arrow;
	c->is_value = !c->is_place;
	c->last = name;
	return true;
}

static struct str address(struct typer *ty, const struct chain *c)
{
	return str_from(arena_printf(ty->b->arena, "(uint64)(" STR_FMT ") + " STR_FMT,
				     STR_ARG(c->base), STR_ARG(c->offset)));
}

/** A pointer that must itself be read by address, before it is followed. */
static void settle_pointer(struct typer *ty, struct chain *c)
{
	if (c->by_address && pointee(c->type))
		c->base = str_from(arena_printf(ty->b->arena, "*(uint64 *)(" STR_FMT ")",
						STR_ARG(address(ty, c))));
}

static struct str text_between(struct arena *a, struct token *open, const struct token *close)
{
	const struct token *last = open->next;
	while (last->next != close)
		last = last->next;
	return edit_text(a, open->next, last);
}

static bool is_constant(const struct token *open, const struct token *close)
{
	return open->next->kind == TOK_NUMBER && open->next->next == close;
}

/**
 * `[index]` of a pointer. bpftrace itself takes constants only, and then knows a number's sign, but not that of a
 * member behind.
 */
static bool step_element(struct typer *ty, struct chain *c, struct token *open, struct token *close)
{
	struct ctype *element = pointee(c->type);
	bool constant = is_constant(open, close);
	uint64_t size;
	if (!element || open->next == close || element->kind == CTYPE_ARRAY ||
	    !ctype_size(element, &size))
		return false;
	if (constant && !c->by_address && !ctype_is_aggregate(element) &&
	    element->kind != CTYPE_POINTER)
		return false;
	settle_pointer(ty, c);
	c->base = c->by_address ? c->base : chain_text(ty, c);
	c->offset = str_from(arena_printf(ty->b->arena, "(uint64)(" STR_FMT ") * %" PRIu64,
					  STR_ARG(text_between(ty->b->arena, open, close)), size));
	c->by_address |= !constant;
	c->is_place = true;
	c->is_value = false;
	c->type = pointee(c->type);
	c->bit_size = 0;
	c->last = close;
	return true;
}

/** `[index]` of an array in memory. bpftrace itself takes constants of one-dimensional arrays only. */
static bool step_index(struct typer *ty, struct chain *c, struct token *open)
{
	struct arena *a = ty->b->arena;
	struct ctype *array = ctype_strip(c->type);
	struct token *close = closing(open, "[", "]");
	uint64_t size, n;
	if (close)
		settle(ty, open, close);
	if (close && array && array->kind == CTYPE_POINTER)
		return step_element(ty, c, open, close);
	if (!close || !array || array->kind != CTYPE_ARRAY || !c->is_place || open->next == close ||
	    !ctype_size(array->of, &size))
		return false;
	struct ctype *element = ctype_strip(array->of);
	bool constant = is_constant(open, close) && str_to_u64(open->next->text, &n);
	if (constant && array->has_count && n >= array->count) {
		struct diag_place at = tok_place(open->next);
		diag_error(ty->b->diag, &at, "the array has %" PRIu64 " elements", array->count);
		ty->good = false;
		return false;
	}
	bool simple = constant && array->has_count && element && element->kind != CTYPE_ARRAY &&
		      !(element->kind == CTYPE_INT && element->size == 1);
	struct str index = text_between(a, open, close);
	c->offset = str_from(arena_printf(a, STR_FMT " + (uint64)(" STR_FMT ") * %" PRIu64,
					  STR_ARG(c->offset), STR_ARG(index), size));
	c->by_address |= !simple;
	c->type = array->of;
	c->bit_size = 0;
	c->last = close;
	return true;
}

static void parse_postfix(struct typer *ty, struct chain *c)
{
	for (;;) {
		struct token *op = c->last->next;
		bool arrow = tok_is(op, "->");
		if (arrow)
			settle_pointer(ty, c);
		if (arrow || tok_is(op, ".")) {
			if (!step_member(ty, c, op, arrow))
				return;
		} else if (!tok_is(op, "[") || !step_index(ty, c, op)) {
			return;
		}
	}
}

/** `( expression )`, a cast, or an operand; with what follows it. */
static bool parse_primary(struct typer *ty, struct token *t, struct chain *ret)
{
	if (!tok_is(t, "("))
		return parse_operand(ty, t, ret);
	struct token *end = closing(t, "(", ")");
	struct chain inner;
	if (!end || end == t->next)
		return false;
	*ret = (struct chain){.first = t, .last = end};
	if (parse_unary(ty, t->next, &inner) && inner.last->next == end) {
		*ret = inner;
		ret->first = t;
		ret->last = end;
	} else {
		settle(ty, t, end);
	}
	return true;
}

/** `*operand`: the struct or pointer that a pointer leads to. Of others bpftrace knows all there is to know. */
static bool parse_deref(struct typer *ty, struct token *star, struct chain *ret)
{
	struct chain operand;
	if (!parse_unary(ty, star->next, &operand))
		return false;
	*ret = (struct chain){.first = star, .last = operand.last, .type = pointee(operand.type)};
	if (!ret->type || (!ctype_is_aggregate(ret->type) && ret->type->kind != CTYPE_POINTER)) {
		ret->type = NULL;
		return true;
	}
	settle_pointer(ty, &operand);
	ret->is_place = true;
	ret->by_address = operand.by_address;
	ret->base = operand.by_address ? operand.base : chain_text(ty, &operand);
	ret->offset = STR("0");
	return true;
}

static bool parse_unary(struct typer *ty, struct token *t, struct chain *ret)
{
	struct ctype *type;
	struct token *end;
	if (ty->depth >= MAX_DEPTH)
		return false;
	ty->depth++;
	bool good;
	if (parse_cast(ty, t, &type, &end)) {
		struct chain operand;
		good = parse_unary(ty, end->next, &operand);
		if (good)
			settle_chain(ty, &operand);
		if (good)
			*ret = (struct chain){.first = t, .last = operand.last, .type = type};
	} else if (tok_is(t, "*")) {
		good = parse_deref(ty, t, ret);
	} else {
		good = parse_primary(ty, t, ret);
		if (good)
			parse_postfix(ty, ret);
	}
	ty->depth--;
	return good;
}

/** An array of char, or of any bytes when @bytes. */
static bool is_char_array(struct ctype *t, bool bytes, uint64_t *n)
{
	t = ctype_strip(t);
	if (!t || t->kind != CTYPE_ARRAY || !t->has_count)
		return false;
	struct ctype *of = ctype_strip(t->of);
	*n = t->count;
	return of && of->kind == CTYPE_INT && of->size == 1 && (of->is_char || bytes);
}

/** Functions that want the array itself. */
static bool wants_array(const struct token *function)
{
	static const char *const names[] = {"buf", "sizeof", "ntop", "macaddr", "kptr", "uptr"};
	for (size_t i = 0; function && i < sizeof(names) / sizeof(names[0]); i++)
		if (tok_is(function, names[i]))
			return true;
	return false;
}

/**
 * A char array as a string of its whole length. From 0.22 on str(p, N) delivers N-1 characters; before, N.
 * @function and @paren are the two tokens before the chain.
 */
static struct str read_string(struct typer *ty, const struct chain *c, uint64_t n,
			      const struct token *function, const struct token *paren)
{
	struct arena *a = ty->b->arena;
	uint64_t length = ty->b->version >= 22 ? n + 1 : n;
	bool in_str = tok_is(paren, "(") && function && tok_is(function, "str");
	if (n > ty->b->longest_string)
		ty->b->longest_string = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
	if (in_str && !tok_is(c->last->next, ")")) // str(p->name, 8)
		return address(ty, c);
	return str_from(
	    arena_printf(a, in_str ? STR_FMT ", %" PRIu64 : "str(" STR_FMT ", %" PRIu64 ")",
			 STR_ARG(address(ty, c)), length));
}

static struct str read_number(struct typer *ty, const struct chain *c, const struct ctype *t,
			      struct str value)
{
	struct arena *a = ty->b->arena;
	uint64_t sign = (uint64_t)1 << (c->bit_size ? c->bit_size - 1 : 0);
	if (c->bit_size && t->is_signed && ty->b->version >= 24) {
		return str_from(arena_printf(a,
					     "(((int64)(" STR_FMT ") ^ %" PRIu64 ") - %" PRIu64 ")",
					     STR_ARG(value), sign, sign));
	}
	if (c->bit_size && t->is_signed) {
		return str_from(arena_printf(
		    a, "(int64)(((uint64)(" STR_FMT ") ^ %" PRIu64 ") - (uint64)%" PRIu64 ")",
		    STR_ARG(value), sign, sign));
	}
	if (t->is_signed && t->size < 8)
		return str_from(arena_printf(a, "(int64)(int%u)" STR_FMT, (unsigned)t->size * 8,
					     STR_ARG(value)));
	return value;
}

/** The bits of a bitfield as an unsigned number, by address. Empty when no number of 8 bytes holds them. */
static struct str bits_at_address(struct typer *ty, const struct chain *c)
{
	unsigned bytes = 1;
	while (bytes * 8 < c->bit_shift + c->bit_size)
		bytes *= 2;
	if (bytes > 8)
		return STR("");
	uint64_t mask = c->bit_size < 64 ? ((uint64_t)1 << c->bit_size) - 1 : UINT64_MAX;
	return str_from(arena_printf(ty->b->arena,
				     "(((uint64)*(uint%u *)(" STR_FMT ") >> %u) & %" PRIu64 ")",
				     bytes * 8, STR_ARG(address(ty, c)), c->bit_shift, mask));
}

/** What the chain must become, or an empty text when bpftrace reads it right. */
static struct str rewrite(struct typer *ty, const struct chain *c, const struct token *function,
			  const struct token *paren)
{
	struct arena *a = ty->b->arena;
	uint64_t n;
	struct ctype *t = ctype_strip(c->type);
	if (!t || (tok_is(paren, "(") && function && tok_is(function, "sizeof")))
		return STR(""); // a cast has another size
	bool in_str = tok_is(paren, "(") && function && tok_is(function, "str");
	if (is_char_array(t, in_str, &n)) {
		if (n == 0 || c->is_value || (tok_is(paren, "(") && wants_array(function)))
			return STR("");
		return read_string(ty, c, n, function, paren);
	}
	bool number = t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL;
	if (c->by_address && !c->bit_size && (number || t->kind == CTYPE_POINTER) &&
	    (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8)) {
		const char *value = arena_printf(a, "*(uint%u *)(" STR_FMT ")",
						 (unsigned)t->size * 8, STR_ARG(address(ty, c)));
		struct str name = pointee(t) && ctype_is_aggregate(pointee(t))
				      ? typeuse_pointer_text(a, t)
				      : STR("");
		if (name.n) // its value may be kept and followed
			return str_from(arena_printf(a, "(" STR_FMT ")(%s)", STR_ARG(name), value));
		return read_number(ty, c, t, str_from(value));
	}
	if (number && c->by_address && c->bit_size) {
		struct str bits = bits_at_address(ty, c);
		return bits.n ? read_number(ty, c, t, bits) : bits;
	}
	if (!number || !t->is_signed || (!c->bit_size && t->size >= 8))
		return STR("");
	return read_number(ty, c, t, chain_text(ty, c));
}

/** Where the value of an assignment that starts at @t has its type: behind the `?` of a choice. */
static struct token *typed_part(struct token *t)
{
	int depth = 0;
	for (struct token *p = t; p->kind != TOK_EOF && depth >= 0 && !tok_is(p, ";");
	     p = p->next) {
		depth += tok_is(p, "(") + tok_is(p, "[") + tok_is(p, "{") - tok_is(p, ")") -
			 tok_is(p, "]") - tok_is(p, "}");
		if (depth == 0 && tok_is(p, "?"))
			return p->next;
	}
	return t;
}

/**
 * `$v = chain;` or `@m[k] = chain;`: the target of the assignment gets the type. Also of `chain + 1`, and of a choice,
 * whose parts bpftrace wants to be of one type.
 */
static void learn(struct typer *ty, struct token *target, struct token *value)
{
	static const char *const behind[] = {";", "}", "+", "-", ":"};
	struct chain c;
	if (!parse_unary(ty, typed_part(value), &c) || !c.type)
		return;
	struct ctype *t = ctype_strip(c.type), *p = pointee(t);
	bool ends = false;
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++)
		ends |= tok_is(c.last->next, behind[i]);
	if (!t || !ends ||
	    !(ctype_is_aggregate(t) || (p && (ctype_is_aggregate(p) || p->kind == CTYPE_POINTER))))
		return;
	if (target->text.p[0] == '$')
		map_put(ty->b->arena, &ty->variables, target->text, c.type);
	else
		map_put(ty->b->arena, &ty->maps, target->text, c.type);
}

/** An assignment that starts at @t; its value, or NULL. */
static struct token *assigned_value(struct token *t, struct token **target)
{
	*target = t;
	if (tok_is(t, "@")) {
		if (t->next->kind == TOK_IDENT && !t->next->space)
			*target = t = t->next;
		if (tok_is(t->next, "["))
			t = closing(t->next, "[", "]");
	} else if (t->kind != TOK_IDENT || t->text.p[0] != '$') {
		return NULL;
	}
	return t && tok_is(t->next, "=") ? t->next->next : NULL;
}

/** The parenthesis of a call starts no expression: its arguments are looked at one by one. */
static bool starts_chain(const struct token *before, const struct token *t)
{
	static const char *const words[] = {"if", "while", "return", "else"};
	bool call = before->kind == TOK_IDENT;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		call &= !tok_is(before, words[i]);
	return (tok_is(t, "(") && !call) || tok_is(t, "@") ||
	       (t->kind == TOK_IDENT && t->text.p[0] == '$');
}

static struct str address_of(const struct token *const *t)
{
	return (struct str){(const char *)t, sizeof(*t)};
}

static bool is_done(const struct typer *ty, const struct token *t)
{
	return map_get(&ty->done, address_of(&t)) != NULL;
}

static void set_done(struct typer *ty, const struct token *t)
{
	map_add(ty->b->arena, &ty->done, str_copy(ty->b->arena, address_of(&t)));
}

/** Puts what @c must become in its place; the tokens before it tell what it is given to. */
static void replace_chain(struct typer *ty, struct chain *c, const struct token *function,
			  const struct token *before)
{
	struct script_range whole = {c->first, c->last};
	struct str text = STR("");
	if (ty->rewriting && (c->is_place || c->is_value))
		text = rewrite(ty, c, function, before);
	if (!text.n)
		return;
	edit_replace_lexed(ty->b->arena, &whole, text);
	c->last = whole.last;
	for (const struct token *t = whole.first;; t = t->next) {
		set_done(ty, t);
		if (t == whole.last)
			return;
	}
}

/** The operand of a cast is text of what follows the cast: it must be right before that is taken. */
static void settle_chain(struct typer *ty, struct chain *c)
{
	if (!is_done(ty, c->first))
		replace_chain(ty, c, NULL, c->first);
}

/** `sizeof(chain)` is a number: from 0.23 on bpftrace counts a byte more for a char array. */
static bool fold_sizeof(struct typer *ty, struct token *word)
{
	struct token *open = word->next;
	struct token *close = tok_is(open, "(") ? closing(open, "(", ")") : NULL;
	struct chain c;
	uint64_t size;
	if (!close || !starts_chain(open, open->next) || !parse_unary(ty, open->next, &c) ||
	    c.last->next != close || !c.is_place || c.bit_size || !ctype_size(c.type, &size))
		return false;
	struct script_range whole = {word, close};
	edit_replace_lexed(ty->b->arena, &whole,
			   str_from(arena_printf(ty->b->arena, "%" PRIu64, size)));
	return true;
}

/** From behind @open up to @end, both of which stay what they are. */
static void walk_range(struct typer *ty, struct token *open, const struct token *end)
{
	const struct token *function = NULL, *before = open;
	for (struct token *t = open->next; t != end; function = before, before = t, t = t->next) {
		if (ty->rewriting && tok_is(t, "sizeof") && fold_sizeof(ty, t))
			continue;
		struct token *target, *value = assigned_value(t, &target);
		if (value)
			learn(ty, target, value);
		struct chain c;
		if (!ty->rewriting || is_done(ty, t) || !starts_chain(before, t) ||
		    !parse_unary(ty, t, &c) || !(c.is_place || c.is_value))
			continue;
		replace_chain(ty, &c, function, before);
		t = c.last;
	}
}

/** The same for brackets inside of a chain, which become part of its text; once. */
static void settle(struct typer *ty, struct token *open, const struct token *end)
{
	if (!ty->rewriting || is_done(ty, open))
		return;
	set_done(ty, open);
	walk_range(ty, open, end);
}

static bool is_user_clause(const struct script_clause *c)
{
	static const char *const kinds[] = {"usdt",  "U",   "uprobe",	"u", "uretprobe", "ur",
					    "BEGIN", "END", "interval", "i", "profile",	  "p"};
	for (size_t i = 0; i < c->attach.n; i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (str_eqz(c->attach.v[i].kind, kinds[k]))
				return true;
	return false;
}

static void walk_clauses(struct typer *ty)
{
	for (size_t i = 0; i < ty->b->script.clauses.n; i++) {
		struct script_clause *c = &ty->b->script.clauses.v[i];
		if (!is_user_clause(c))
			continue;
		ty->variables = (struct map){0};
		if (c->predicate.first)
			walk_range(ty, c->predicate_open, c->predicate_close);
		walk_range(ty, c->body.first, c->body.last);
	}
}

bool typed_rewrite(struct bind *b)
{
	struct typer ty = {.b = b, .good = true};
	if (!bind_lookup(b))
		return true;
	for (size_t i = 0; i < b->script.definitions.n; i++)
		map_add(b->arena, &ty.own, b->script.definitions.v[i].tag);
	walk_clauses(&ty); // a map may be read above the clause that fills it
	if (!ty.good)
		return false;
	ty.rewriting = true;
	walk_clauses(&ty);
	return ty.good;
}
