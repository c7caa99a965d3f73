#include "bind/chain.h"

#include <inttypes.h>

#include "bind/edit.h"
#include "bind/typeuse.h"

enum { MAX_DEPTH = 40 };    // nesting of brackets in one expression
enum { MAX_MEMBERS = 256 }; // a->b->c ...: each is written with all before it

struct ctype *chain_pointee(struct ctype *t)
{
	t = ctype_strip(t);
	return t && t->kind == CTYPE_POINTER ? ctype_strip(t->of) : NULL;
}

struct token *chain_closing(struct token *open, const char *o, const char *c)
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
static bool parse_cast(struct chain_parser *parser, struct token *paren, struct ctype **type,
		       struct token **end)
{
	struct typeuse_name n;
	struct arena *a = parser->b->arena;
	*type = NULL;
	if (!tok_is(paren, "(") || !typeuse_parse(a, paren->next, &n) || !tok_is(n.end, ")"))
		return false;
	*end = n.end;
	if (typeuse_is_builtin(n.name))
		return true;
	struct str bare =
	    n.has_keyword ? str_from_offset(n.name, str_find(n.name, ' ') + 1) : n.name;
	if (map_get(&parser->own, bare))
		return n.has_keyword;
	if (!lookup_type(bind_lookup(parser->b), n.name, DWFIND_TYPES, type))
		return n.has_keyword; // `(name)` without a keyword is an expression then
	for (unsigned i = 0; i < n.stars; i++) {
		struct ctype *p = arena_new(a, struct ctype);
		*p =
		    (struct ctype){.kind = CTYPE_POINTER, .size = 8, .has_size = true, .of = *type};
		*type = p;
	}
	return true;
}

struct str chain_text(struct arena *a, const struct chain *c)
{
	return edit_text(a, c->first, c->last);
}

/** `name`, `name(args)`, `name[key]`: an operand whose type we do not know, or a variable's or map's, which we may. */
static bool parse_operand(struct chain_parser *parser, struct token *t, struct chain *ret)
{
	struct map *known = NULL;
	struct str name = t->text;
	*ret = (struct chain){.first = t, .last = t};
	if (tok_is(t, "@")) {
		if (t->next->kind == TOK_IDENT && !t->next->space)
			ret->last = t = t->next;
		known = &parser->maps;
		name = t->text;
	} else if (t->kind == TOK_IDENT) {
		known = t->text.p[0] == '$' ? &parser->variables : NULL;
	} else if (t->kind != TOK_NUMBER) {
		return false;
	}
	if (known == &parser->maps && tok_is(t->next, "[")) {
		struct token *end = chain_closing(t->next, "[", "]");
		if (!end)
			return false;
		parser->settle(parser, t->next, end);
		ret->last = end;
	} else if (t->kind == TOK_IDENT && !known && tok_is(t->next, "(")) {
		struct token *end = chain_closing(t->next, "(", ")");
		if (!end)
			return false;
		ret->last = end;
	}
	struct token *element = ret->last->next; // `.0` of a tuple
	if (known && element->kind == TOK_NUMBER && element->text.p[0] == '.') {
		name = str_from(arena_printf(parser->b->arena, STR_FMT STR_FMT, STR_ARG(name),
					     STR_ARG(element->text)));
		ret->last = element;
	}
	ret->type = known ? map_get(known, name) : NULL;
	return true;
}

/**
 * Where a bitfield is read by address: in the unit of its type if it lies in one, which is never outside of the
 * aggregate; else (packed) from its first byte on, byte by byte. Returns the offset.
 */
static uint64_t place_bits(struct ctype *in, const struct ctype_place *place, struct chain *c)
{
	uint64_t unit = 0, size, at;
	ctype_size(place->type, &unit);
	c->bit_bytes = (unsigned)unit;
	if (unit == 1 || unit == 2 || unit == 4 || unit == 8) {
		at = place->bit_off / (unit * 8) * unit;
		c->bit_shift = (unsigned)(place->bit_off - at * 8);
		if (c->bit_shift + c->bit_size <= unit * 8 && ctype_size(in, &size) &&
		    at + unit <= size)
			return at;
	}
	c->bit_bytes = 0;
	c->bit_shift = (unsigned)(place->bit_off % 8);
	return place->bit_off / 8;
}

/** `->name` or `.name` */
static bool step_member(struct chain_parser *parser, struct chain *c, struct token *op, bool arrow)
{
	struct arena *a = parser->b->arena;
	struct token *name = op->next;
	struct ctype *in = arrow ? chain_pointee(c->type) : ctype_strip(c->type);
	if (name->kind != TOK_IDENT || !in || !ctype_is_aggregate(in))
		return false;
	struct ctype_place place;
	struct str bad;
	struct ctype *where;
	if (!ctype_complete(in))
		return false;
	if (c->n_members++ == MAX_MEMBERS) {
		struct diag_place at = tok_place(name);
		parser->good = false;
		return diag_error(parser->b->diag, &at, "more than %d members in a row",
				  MAX_MEMBERS);
	}
	if (!ctype_resolve(in, name->text, &place, &bad, &where)) {
		struct diag_place at = tok_place(name);
		struct str near = ctype_nearest_member(in, name->text);
		diag_error(parser->b->diag, &at, STR_FMT " has no member " STR_FMT,
			   STR_ARG(ctype_spell(a, in)), STR_ARG(name->text));
		if (near.n)
			diag_note(parser->b->diag, NULL, "did you mean " STR_FMT "?",
				  STR_ARG(near));
		parser->good = false;
		return false;
	}
	c->bit_size = place.bit_size;
	if (c->bit_size)
		place.off = place_bits(in, &place, c);
	if (arrow) {
		// What lies before is a pointer's value, to be read as a whole; from here on it is an offset.
		c->base = c->by_address ? c->base : chain_text(parser->b->arena, c);
		c->offset = str_from(arena_printf(a, "%" PRIu64, place.off));
	} else if (c->is_place) {
		c->offset =
		    str_from(arena_printf(a, STR_FMT " + %" PRIu64, STR_ARG(c->offset), place.off));
	}
	c->type = place.type;
	c->is_place |= arrow;
	c->is_value = !c->is_place;
	c->last = name;
	return true;
}

struct str chain_address(struct arena *a, const struct chain *c)
{
	return str_from(arena_printf(a, "(uint64)(" STR_FMT ") + " STR_FMT, STR_ARG(c->base),
				     STR_ARG(c->offset)));
}

/** A pointer that must itself be read by address, before it is followed. */
static void settle_pointer(struct chain_parser *parser, struct chain *c)
{
	if (c->by_address && chain_pointee(c->type))
		c->base = str_from(arena_printf(parser->b->arena, "*(uint64 *)(" STR_FMT ")",
						STR_ARG(chain_address(parser->b->arena, c))));
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
static bool step_element(struct chain_parser *parser, struct chain *c, struct token *open,
			 struct token *close)
{
	struct arena *a = parser->b->arena;
	struct ctype *element = chain_pointee(c->type);
	bool constant = is_constant(open, close);
	uint64_t size;
	if (!element || open->next == close || element->kind == CTYPE_ARRAY ||
	    !ctype_size(element, &size))
		return false;
	if (constant && !c->by_address && !ctype_is_aggregate(element) &&
	    element->kind != CTYPE_POINTER)
		return false;
	settle_pointer(parser, c);
	c->base = c->by_address ? c->base : chain_text(a, c);
	c->offset = str_from(arena_printf(a, "(uint64)(" STR_FMT ") * %" PRIu64,
					  STR_ARG(text_between(a, open, close)), size));
	c->by_address |= !constant;
	c->is_place = true;
	c->is_value = false;
	c->type = chain_pointee(c->type);
	c->bit_size = 0;
	c->last = close;
	return true;
}

/** `[index]` of an array in memory. bpftrace itself takes constants of one-dimensional arrays only. */
static bool step_index(struct chain_parser *parser, struct chain *c, struct token *open)
{
	struct arena *a = parser->b->arena;
	struct ctype *array = ctype_strip(c->type);
	struct token *close = chain_closing(open, "[", "]");
	uint64_t size, n;
	if (close)
		parser->settle(parser, open, close);
	if (close && array && array->kind == CTYPE_POINTER)
		return step_element(parser, c, open, close);
	if (!close || !array || array->kind != CTYPE_ARRAY || !c->is_place || open->next == close ||
	    !ctype_size(array->of, &size))
		return false;
	struct ctype *element = ctype_strip(array->of);
	bool constant = is_constant(open, close) && str_to_u64(open->next->text, &n);
	if (constant && array->has_count && n >= array->count) {
		struct diag_place at = tok_place(open->next);
		diag_error(parser->b->diag, &at, "the array has %" PRIu64 " elements",
			   array->count);
		parser->good = false;
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

static void parse_postfix(struct chain_parser *parser, struct chain *c)
{
	for (;;) {
		struct token *op = c->last->next;
		bool arrow = tok_is(op, "->");
		if (arrow)
			settle_pointer(parser, c);
		if (arrow || tok_is(op, ".")) {
			if (!step_member(parser, c, op, arrow))
				return;
		} else if (!tok_is(op, "[") || !step_index(parser, c, op)) {
			return;
		}
	}
}

/** `( expression )`, a cast, or an operand; with what follows it. */
static bool parse_primary(struct chain_parser *parser, struct token *t, struct chain *ret)
{
	if (!tok_is(t, "("))
		return parse_operand(parser, t, ret);
	struct token *end = chain_closing(t, "(", ")");
	struct chain inner;
	if (!end || end == t->next)
		return false;
	*ret = (struct chain){.first = t, .last = end};
	if (chain_parse(parser, t->next, &inner) && inner.last->next == end) {
		*ret = inner;
		ret->first = t;
		ret->last = end;
	} else {
		parser->settle(parser, t, end);
	}
	return true;
}

/** `*operand`: the struct or pointer that a pointer leads to. Of others bpftrace knows all there is to know. */
static bool parse_deref(struct chain_parser *parser, struct token *star, struct chain *ret)
{
	struct chain operand;
	if (!chain_parse(parser, star->next, &operand))
		return false;
	*ret = (struct chain){
	    .first = star, .last = operand.last, .type = chain_pointee(operand.type)};
	if (!ret->type || (!ctype_is_aggregate(ret->type) && ret->type->kind != CTYPE_POINTER)) {
		ret->type = NULL;
		return true;
	}
	settle_pointer(parser, &operand);
	ret->is_place = true;
	ret->by_address = operand.by_address;
	ret->base = operand.by_address ? operand.base : chain_text(parser->b->arena, &operand);
	ret->offset = STR("0");
	return true;
}

bool chain_parse(struct chain_parser *parser, struct token *t, struct chain *ret)
{
	struct ctype *type;
	struct token *end;
	if (parser->depth >= MAX_DEPTH)
		return false;
	parser->depth++;
	bool good;
	if (parse_cast(parser, t, &type, &end)) {
		struct chain operand;
		good = chain_parse(parser, end->next, &operand);
		if (good)
			parser->settle_operand(parser, &operand);
		if (good)
			*ret = (struct chain){.first = t, .last = operand.last, .type = type};
	} else if (tok_is(t, "*")) {
		good = parse_deref(parser, t, ret);
	} else {
		good = parse_primary(parser, t, ret);
		if (good)
			parse_postfix(parser, ret);
	}
	parser->depth--;
	return good;
}
