#include "bind/typed.h"

#include <inttypes.h>

#include "bind/chainread.h"
#include "bind/edit.h"
#include "bind/sign.h"

enum { MAX_NESTING = 20 }; // of structs in structs that are looked into
enum { MAX_TEXT = 32768 }; // of one chain, which may stand several times in what it becomes

struct typer {
	struct chain_parser parser; // first: the parser's calls come back with it
	struct bind *b;
	struct map done;	       // tokens (their addresses) that need no second look
	const struct token *map_value; // what the last assignment to a map begins with
	bool rewriting;		       // the first pass only learns the types of maps
};

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

static bool has_bitfields(struct ctype *t, unsigned depth)
{
	t = ctype_strip(t);
	while (t && t->kind == CTYPE_ARRAY)
		t = ctype_strip(t->of);
	if (!t || !ctype_is_aggregate(t) || depth > MAX_NESTING || !ctype_complete(t))
		return false;
	for (size_t i = 0; i < t->n_members; i++)
		if (t->members[i].bit_size || has_bitfields(t->members[i].type, depth + 1))
			return true;
	return false;
}

static void warn_of_copied_bits(struct typer *ty, const struct token *t, const char *does,
				struct ctype *type)
{
	struct diag_place at = tok_place(t);
	diag_warning(ty->b->diag, &at,
		     "bpftrace %s the bitfields of a whole " STR_FMT " wrong: name the members",
		     does, STR_ARG(ctype_spell(ty->b->arena, ctype_strip(type))));
}

/** Its members can be reached, now or further down. */
static bool leads_on(struct ctype *t)
{
	t = ctype_strip(t);
	struct ctype *p = chain_pointee(t);
	return t && (ctype_is_aggregate(t) ||
		     (p && (ctype_is_aggregate(p) || p->kind == CTYPE_POINTER)));
}

static void keep_type(struct typer *ty, const struct token *target, struct str name,
		      struct ctype *type)
{
	bool is_variable = target->text.p[0] == '$';
	map_put(ty->b->arena, is_variable ? &ty->parser.variables : &ty->parser.maps, name, type);
}

/** The comma or bracket behind an element of a tuple. */
static struct token *end_of_element(struct token *t, const struct token *close)
{
	int depth = 0;
	for (; t != close; t = t->next) {
		if (depth == 0 && tok_is(t, ","))
			break;
		depth += tok_is(t, "(") + tok_is(t, "[") - tok_is(t, ")") - tok_is(t, "]");
	}
	return t;
}

/** `$v = (chain, chain);`: $v.0 and $v.1 get the types. */
static void learn_tuple(struct typer *ty, struct token *target, struct token *open)
{
	struct token *close = chain_closing(open, "(", ")");
	struct chain c;
	if (!close || end_of_element(open->next, close) == close)
		return;
	struct token *t = open->next;
	for (unsigned i = 0; t != close; i++) {
		bool known = chain_parse(&ty->parser, t, &c) && c.type;
		struct token *end = end_of_element(t, close);
		if (known && c.last->next == end && leads_on(c.type))
			keep_type(ty, target,
				  str_from(arena_printf(ty->b->arena, STR_FMT ".%u",
							STR_ARG(target->text), i)),
				  c.type);
		if (known && c.last->next == end && ty->rewriting && has_bitfields(c.type, 0))
			warn_of_copied_bits(ty, t, "keeps", c.type);
		t = end == close ? close : end->next;
	}
}

/**
 * `$v = chain;` or `@m[k] = chain;`: the target of the assignment gets the type. Also of `chain + 1`, and of a choice,
 * whose parts bpftrace wants to be of one type.
 */
static void learn(struct typer *ty, struct token *target, struct token *value)
{
	static const char *const behind[] = {";", "}", "+", "-", ":"};
	struct chain c;
	if (tok_is(value, "("))
		learn_tuple(ty, target, value);
	if (!chain_parse(&ty->parser, typed_part(value), &c) || !c.type)
		return;
	bool ends = false;
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++)
		ends |= tok_is(c.last->next, behind[i]);
	if (ends && leads_on(c.type))
		keep_type(ty, target, target->text, c.type);
}

/** An assignment that starts at @t; its value, or NULL. */
static struct token *assigned_value(struct token *t, struct token **target)
{
	*target = t;
	if (tok_is(t, "@")) {
		if (t->next->kind == TOK_IDENT && !t->next->space)
			*target = t = t->next;
		if (tok_is(t->next, "["))
			t = chain_closing(t->next, "[", "]");
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

static void note_sign(struct bind *b, const struct chain *c)
{
	struct ctype *t = ctype_strip(c->type);
	if (!t || (t->kind != CTYPE_INT && t->kind != CTYPE_ENUM && t->kind != CTYPE_BOOL))
		return;
	if (t->is_signed && t->size <= 8)
		sign_note(b, c->first, SIGN_SIGNED);
	else if (t->size < 8 || (c->bit_size && c->bit_size < 64))
		sign_note(b, c->first, SIGN_NONE);
}

/** Puts what @c must become in its place; the tokens before it tell what it is given to. */
static void replace_chain(struct typer *ty, struct chain *c, const struct token *function,
			  const struct token *before)
{
	struct script_range whole = {c->first, c->last};
	struct str text = STR("");
	if (ty->rewriting && (c->is_place || c->is_value))
		text = chain_read(ty->b, c, function, before);
	if (ty->rewriting && (c->is_place || c->is_value))
		note_sign(ty->b, c);
	if (!text.n || !ty->parser.good)
		return;
	if (text.n > MAX_TEXT) {
		struct diag_place at = tok_place(c->first);
		ty->parser.good = diag_error(
		    ty->b->diag, &at, "this becomes too long: keep a part of it in a variable");
		return;
	}
	edit_replace_lexed(ty->b->arena, &whole, text);
	c->last = whole.last;
	for (const struct token *t = whole.first;; t = t->next) {
		set_done(ty, t);
		if (t == whole.last)
			return;
	}
}

/** The operand of a cast is text of what follows the cast: it must be right before that is taken. */
static void settle_operand(struct chain_parser *parser, struct chain *c)
{
	struct typer *ty = (struct typer *)parser;
	if (!is_done(ty, c->first))
		replace_chain(ty, c, NULL, c->first);
}

/** `sizeof(chain)` is a number: from 0.23 on bpftrace counts a byte more for a char array. */
static bool fold_sizeof(struct typer *ty, struct token *word)
{
	struct token *open = word->next;
	struct token *close = tok_is(open, "(") ? chain_closing(open, "(", ")") : NULL;
	struct chain c;
	uint64_t size;
	if (!close || !starts_chain(open, open->next) ||
	    !chain_parse(&ty->parser, open->next, &c) || c.last->next != close || !c.is_place ||
	    c.bit_size || !ctype_size(c.type, &size))
		return false;
	struct script_range whole = {word, close};
	edit_replace_lexed(ty->b->arena, &whole,
			   str_from(arena_printf(ty->b->arena, "%" PRIu64, size)));
	return true;
}

/** print(*p), @m = *p: what bpftrace makes of the bitfields in there is out of our hands. */
static void warn_of_bitfields(struct typer *ty, struct token *t, const struct token *function,
			      const struct token *before)
{
	bool print = tok_is(before, "(") && function && tok_is(function, "print");
	struct chain c;
	if ((!print && t != ty->map_value) || !chain_parse(&ty->parser, t, &c) || !c.type ||
	    !tok_is(c.last->next, print ? ")" : ";") || !has_bitfields(c.type, 0))
		return;
	warn_of_copied_bits(ty, t, print ? "prints" : "keeps", c.type);
}

/** From behind @open up to @end, both of which stay what they are. */
static void walk_range(struct typer *ty, struct token *open, const struct token *end)
{
	const struct token *function = NULL, *before = open;
	for (struct token *t = open->next; t != end; function = before, before = t, t = t->next) {
		if (ty->rewriting && tok_is(t, "sizeof") && fold_sizeof(ty, t))
			continue;
		struct token *target, *value = assigned_value(t, &target);
		if (value) {
			learn(ty, target, value);
			ty->map_value = target->text.p[0] == '$' ? NULL : value;
		}
		if (ty->rewriting)
			warn_of_bitfields(ty, t, function, before);
		struct chain c;
		if (!ty->rewriting || is_done(ty, t) || !starts_chain(before, t) ||
		    !chain_parse(&ty->parser, t, &c) || !(c.is_place || c.is_value))
			continue;
		replace_chain(ty, &c, function, before);
		t = c.last;
	}
}

/** The same for brackets inside of a chain, which become part of its text; once. */
static void settle(struct chain_parser *parser, struct token *open, const struct token *end)
{
	struct typer *ty = (struct typer *)parser;
	if (!ty->rewriting || is_done(ty, open))
		return;
	set_done(ty, open);
	walk_range(ty, open, end);
}

static bool is_user_clause(const struct script_clause *c)
{
	for (size_t i = 0; i < c->attach.n; i++)
		if (c->attach.v[i].provider && c->attach.v[i].provider->memory == MEMORY_PROGRAM)
			return true;
	return false;
}

static void walk_clauses(struct typer *ty)
{
	for (size_t i = 0; i < ty->b->script.clauses.n; i++) {
		struct script_clause *c = &ty->b->script.clauses.v[i];
		if (!is_user_clause(c))
			continue;
		bind_lookup_from(ty->b, i);
		ty->parser.variables = (struct map){0};
		if (c->predicate.first)
			walk_range(ty, c->predicate_open, c->predicate_close);
		walk_range(ty, c->body.first, c->body.last);
	}
}

bool typed_rewrite(struct bind *b)
{
	struct typer ty = {
	    .parser = {.b = b, .good = true, .settle = settle, .settle_operand = settle_operand},
	    .b = b};
	if (!bind_lookup(b))
		return true;
	for (size_t i = 0; i < b->script.definitions.n; i++)
		map_add(b->arena, &ty.parser.own, b->script.definitions.v[i].tag);
	walk_clauses(&ty); // a map may be read above the clause that fills it
	if (!ty.parser.good)
		return false;
	ty.rewriting = true;
	walk_clauses(&ty);
	return ty.parser.good;
}
