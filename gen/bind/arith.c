#include "bind/arith.h"

#include "bind/chain.h"
#include "bind/edit.h"
#include "bind/quotient.h"
#include "bind/sign.h"
#include "bind/typeuse.h"

enum {
	MAX_DEPTH = 1200
}; // of brackets and operators in each other; script_parse() lets 500 brackets pass
enum { MAX_TEXT = 32768 }; // of one division
enum { N_ROUNDS = 4 };	   // a sign may come from a map that another clause fills

struct arith {
	struct bind *b;
	struct map
	    signs; // of variables ("3$x": that of clause 3) and maps ("@m"), as the last round found them
	struct map found; // by this round
	size_t clause;
	unsigned round;		 // the first knows nothing of what was not assigned yet
	bool rewriting;		 // the last one
	const struct token *end; // of the predicate or body, which it does not belong to
	unsigned depth;
	bool good; // false after an error
};

struct node {
	struct token *first, *last;
	enum sign sign;
	bool is_loose;	   // operators outside of brackets
	struct str target; // a variable's or map's key in `signs`, when it is one
};

static bool parse_expression(struct arith *ar, struct token *t, struct node *ret);
static bool parse_unary(struct arith *ar, struct token *t, struct node *ret);

/** All expressions from @t up to @end. */
static void walk(struct arith *ar, struct token *t, const struct token *end)
{
	struct node n;
	while (ar->good && t != end && t != ar->end && t->kind != TOK_EOF)
		t = parse_expression(ar, t, &n) ? n.last->next : t->next;
}

/** Where it stands in the template, also when it is text of ours by now. */
static struct diag_place place_of(const struct token *t)
{
	return t->loc.file ? tok_place(t) : src_place(t->use, 1);
}

/** False, said once, when @t stands in too many others. */
static bool check_depth(struct arith *ar, const struct token *t)
{
	struct diag_place at = place_of(t);
	if (ar->good && ar->depth >= MAX_DEPTH)
		ar->good = diag_error(ar->b->diag, &at, "this expression is nested too deeply");
	return ar->good;
}

// --- what is known of names ---

static enum sign sign_of_name(const struct arith *ar, struct str key)
{
	const enum sign *now = map_get(&ar->found, key), *before = map_get(&ar->signs, key);
	if (!now && !before)
		return ar->round ? SIGN_OTHER : SIGN_OPEN;
	return sign_join(now ? *now : SIGN_OPEN, before ? *before : SIGN_OPEN);
}

static void learn(struct arith *ar, struct str key, enum sign sign)
{
	enum sign *known = map_get(&ar->found, key);
	if (!known) {
		known = arena_new(ar->b->arena, enum sign);
		*known = SIGN_OPEN;
		map_put(ar->b->arena, &ar->found, key, known);
	}
	*known = sign_join(*known, sign);
}

// --- divisions ---

static bool divides(const struct token *op)
{
	return tok_is(op, "/") || tok_is(op, "%") || tok_is(op, "/=") || tok_is(op, "%=");
}

static bool shifts_right(const struct token *op)
{
	return tok_is(op, ">>") || tok_is(op, ">>=");
}

static void warn_of_mixed(struct arith *ar, const struct token *op)
{
	struct diag_place at = tok_place(op);
	if (op->loc.file)
		diag_warning(ar->b->diag, &at,
			     "bpftrace %s as if nothing were below 0, and here it is not known "
			     "what has a sign: write (int64)(...) or (uint64)(...) to say it",
			     divides(op) ? "divides" : "shifts");
}

/** The node as an operand of what stands behind a cast. */
static struct str operand_text(struct arith *ar, const struct node *n)
{
	struct arena *a = ar->b->arena;
	struct str text = edit_text(a, n->first, n->last);
	if (n->is_loose)
		return str_from(arena_printf(a, "(" STR_FMT ")", STR_ARG(text)));
	// 0.17 casts no map that a clause further down fills, but adds to it.
	if (tok_is(n->first, "@") && n->target.n)
		return str_from(arena_printf(a, "(int64)(" STR_FMT " + 0)", STR_ARG(text)));
	// Newer versions have variables and casts of less than 64 bits.
	if (sign_noted(ar->b, n->first) || n->first->kind == TOK_NUMBER ||
	    str_has_prefix(text, STR("(int64)")) || str_has_prefix(text, STR("((int64)")))
		return text;
	return str_from(arena_printf(a, "(int64)" STR_FMT, STR_ARG(text)));
}

/** What `left op right` becomes; empty when it stays as it is. */
static struct str signed_text(struct arith *ar, const struct node *left, const struct token *op,
			      const struct node *right)
{
	bool shift = shifts_right(op);
	enum sign l = left->sign, r = shift ? SIGN_NONE : right->sign;
	if (!ar->rewriting || !ar->good || (!shift && !divides(op)))
		return STR("");
	if (l == SIGN_MIXED || r == SIGN_MIXED || (r == SIGN_SIGNED && l == SIGN_OTHER))
		warn_of_mixed(ar, op);
	if (l != SIGN_SIGNED && !(r == SIGN_SIGNED && l == SIGN_NONE))
		return STR("");
	struct quotient q = {
	    .value = operand_text(ar, left),
	    .value_is_signed = l == SIGN_SIGNED,
	    .op = op->text.p[0],
	    .by = right->first->kind == TOK_NUMBER && !right->is_loose
		      ? edit_text(ar->b->arena, right->first, right->last)
		      : operand_text(ar, right),
	    .by_is_signed = r == SIGN_SIGNED,
	};
	struct str text = quotient_text(ar->b->arena, &q);
	struct diag_place at = place_of(left->first);
	if (text.n > MAX_TEXT)
		ar->good = diag_error(ar->b->diag, &at,
				      "this becomes too long: keep a part of it in a variable");
	else if ((quotient_repeats_value(&q) && !quotient_is_repeatable(left->first, left->last)) ||
		 (q.by_is_signed && !quotient_is_repeatable(right->first, right->last)))
		ar->good = diag_error(ar->b->diag, &at,
				      "to %s this as C does, it is read more than once: keep it in "
				      "a variable first",
				      shift ? "shift" : "divide");
	return ar->good ? text : STR("");
}

/** @left becomes `left op right`. */
static void combine(struct arith *ar, struct node *left, struct token *op, const struct node *right)
{
	struct str text = signed_text(ar, left, op, right);
	struct node n = {.first = left->first, .last = right->last, .is_loose = true};
	n.sign = sign_of_result(op->text, left->sign, right->sign);
	if (text.n) {
		struct script_range r = {n.first, n.last};
		edit_replace_lexed(ar->b->arena, &r, text);
		n.last = r.last;
		n.is_loose = false;
		n.sign = SIGN_SIGNED;
	}
	*left = n;
}

/** `target op= value` */
static void assign(struct arith *ar, const struct node *target, struct token *op,
		   struct node *value)
{
	struct str text = signed_text(ar, target, op, value);
	if (!str_eqz(op->text, "=") && value->sign == SIGN_NONE)
		learn(ar, target->target, SIGN_NONE); // a count: whatever else it may be
	else
		learn(ar, target->target, shifts_right(op) ? SIGN_NONE : value->sign);
	if (!text.n)
		return;
	struct script_range r = {op, value->last};
	edit_replace_lexed(ar->b->arena, &r,
			   str_from(arena_printf(ar->b->arena, "= " STR_FMT, STR_ARG(text))));
	value->last = r.last;
}

// --- operands ---

/** From @open on: brackets, with one expression in them or anything else. */
static bool parse_brackets(struct arith *ar, struct token *open, const char *o, const char *c,
			   struct node *ret)
{
	struct token *close = chain_closing(open, o, c);
	if (!close)
		return false;
	struct node inner;
	*ret = (struct node){.first = open, .last = close, .sign = SIGN_OTHER};
	if (open->next == close)
		return true;
	bool is_any = parse_expression(ar, open->next, &inner);
	bool is_one = is_any && inner.last->next == close;
	if (!is_one)
		walk(ar, is_any ? inner.last->next : open->next->next, close);
	if (is_one)
		ret->sign = inner.sign;
	return true;
}

static bool is_keyword(const struct token *t)
{
	static const char *const words[] = {"if",    "else",	 "while", "for", "unroll", "return",
					    "break", "continue", "let",	  "in",	 NULL};
	return tok_is_any(t, words);
}

/** `word`, `$variable`, `call(arguments)` */
static bool parse_word(struct arith *ar, struct token *t, struct node *ret)
{
	struct node brackets;
	*ret = (struct node){.first = t, .last = t, .sign = sign_of_word(t->text)};
	if (is_keyword(t))
		return false;
	if (t->text.p[0] == '$') {
		ret->target = str_from(
		    arena_printf(ar->b->arena, "%zu" STR_FMT, ar->clause, STR_ARG(t->text)));
		ret->sign = sign_of_name(ar, ret->target);
	} else if (tok_is(t->next, "(")) {
		if (tok_is(t, "sizeof") || tok_is(t, "offsetof")) {
			ret->last = chain_closing(t->next, "(", ")");
			return ret->last != NULL;
		}
		if (!parse_brackets(ar, t->next, "(", ")", &brackets))
			return false;
		ret->last = brackets.last;
		ret->sign = tok_is(t, "nsecs") ? SIGN_NONE : SIGN_OTHER;
	}
	return true;
}

/** `@`, `@name`, with or without a key */
static bool parse_map(struct arith *ar, struct token *t, struct node *ret)
{
	struct node brackets;
	struct str name = STR("");
	*ret = (struct node){.first = t, .last = t};
	if (t->next->kind == TOK_IDENT && !t->next->space) {
		ret->last = t->next;
		name = t->next->text;
	}
	if (tok_is(ret->last->next, "[")) {
		if (!parse_brackets(ar, ret->last->next, "[", "]", &brackets))
			return false;
		ret->last = brackets.last;
	}
	ret->target = str_from(arena_printf(ar->b->arena, "@" STR_FMT, STR_ARG(name)));
	ret->sign = sign_of_name(ar, ret->target);
	return true;
}

static bool parse_primary(struct arith *ar, struct token *t, struct node *ret)
{
	uint64_t n;
	*ret = (struct node){.first = t, .last = t, .sign = SIGN_OTHER};
	if (tok_is(t, "("))
		return parse_brackets(ar, t, "(", ")", ret);
	if (tok_is(t, "@"))
		return parse_map(ar, t, ret);
	if (t->kind == TOK_IDENT)
		return parse_word(ar, t, ret);
	if (t->kind == TOK_NUMBER && (!str_to_u64(t->text, &n) || n <= INT64_MAX))
		ret->sign = SIGN_NONE;
	return t->kind == TOK_NUMBER || t->kind == TOK_STRING || t->kind == TOK_CHAR;
}

/** Members, indices, ++ and -- behind an operand. */
static bool parse_postfix(struct arith *ar, struct node *n)
{
	for (struct token *t = n->last->next; t != ar->end; t = n->last->next) {
		struct node brackets;
		if (tok_is(t, "++") || tok_is(t, "--")) {
			n->last = t;
			if (n->target.n)
				learn(ar, n->target, SIGN_NONE);
			n->target = STR("");
			continue;
		}
		if (tok_is(t, "->") || tok_is(t, ".")) {
			n->last = t->next->kind == TOK_IDENT ? t->next : t;
		} else if (t->kind == TOK_NUMBER && t->text.p[0] == '.') {
			n->last = t; // $tuple.0
		} else if (tok_is(t, "[")) {
			if (!parse_brackets(ar, t, "[", "]", &brackets))
				return false;
			n->last = brackets.last;
		} else {
			break;
		}
		n->sign = SIGN_OTHER;
		n->target = STR("");
	}
	return true;
}

/** Is `(...` a cast? Then the sign of what it makes, and its end. */
static bool parse_cast(struct arith *ar, struct token *open, enum sign *sign, struct token **close)
{
	struct typeuse_name n;
	struct ctype *type = NULL;
	if (!tok_is(open, "(") || !typeuse_parse(ar->b->arena, open->next, &n) ||
	    !tok_is(n.end, ")"))
		return false;
	*close = n.end;
	*sign = SIGN_OTHER;
	if (typeuse_is_builtin(n.name)) {
		*sign = n.stars ? SIGN_OTHER : sign_of_builtin(n.name);
		return true;
	}
	struct lookup *lk = bind_lookup(ar->b);
	if (!lk || !lookup_type(lk, n.name, DWFIND_TYPES, &type))
		return n.has_keyword || n.stars;
	type = ctype_strip(type);
	if (type && !n.stars && (type->kind == CTYPE_INT || type->kind == CTYPE_ENUM))
		*sign = type->is_signed ? SIGN_SIGNED : type->size < 8 ? SIGN_NONE : SIGN_OTHER;
	return true;
}

static enum sign sign_behind(const struct token *op, enum sign of)
{
	if (tok_is(op, "!"))
		return SIGN_NONE;
	if (tok_is(op, "-") && of == SIGN_NONE)
		return SIGN_SIGNED;
	if (tok_is(op, "*") || tok_is(op, "&") || (tok_is(op, "~") && of == SIGN_NONE))
		return SIGN_OTHER;
	return of;
}

/** Casts and operators before an operand. */
static bool parse_prefixed(struct arith *ar, struct token *t, struct node *ret)
{
	static const char *const operators[] = {"-", "!", "~", "*", "&", "++", "--", NULL};
	struct token *close;
	enum sign sign;
	struct node operand;
	if (parse_cast(ar, t, &sign, &close) && parse_unary(ar, close->next, &operand)) {
		*ret = (struct node){.first = t, .last = operand.last, .sign = sign};
		return true;
	}
	if (tok_is_any(t, operators)) {
		if (!parse_unary(ar, t->next, &operand))
			return false;
		*ret = (struct node){.first = t, .last = operand.last};
		ret->sign = sign_behind(t, operand.sign);
		return true;
	}
	return parse_primary(ar, t, ret) && parse_postfix(ar, ret);
}

static bool parse_unary(struct arith *ar, struct token *t, struct node *ret)
{
	if (t == ar->end || t->kind == TOK_EOF || !check_depth(ar, t))
		return false;
	ar->depth++;
	bool good = parse_prefixed(ar, t, ret);
	ar->depth--;
	const enum sign *noted = good ? sign_noted(ar->b, t) : NULL;
	if (noted)
		ret->sign = *noted;
	return good;
}

// --- operators ---

/** C's, the weakest is 1; 0 for what is no operator between two operands. */
static unsigned strength(const struct token *t)
{
	static const struct {
		const char *text;
		unsigned strength;
	} all[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},	 {"==", 6},
		   {"!=", 6}, {"<", 7},	 {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
		   {">>", 8}, {"+", 9},	 {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (tok_is(t, all[i].text))
			return all[i].strength;
	return 0;
}

/** Operators of at least strength @least. */
static bool parse_binary(struct arith *ar, struct token *t, unsigned least, struct node *ret)
{
	if (!parse_unary(ar, t, ret))
		return false;
	for (;;) {
		struct token *op = ret->last->next;
		unsigned n = op == ar->end ? 0 : strength(op);
		struct node right;
		if (!n || n < least || !parse_binary(ar, op->next, n + 1, &right))
			return true;
		combine(ar, ret, op, &right);
	}
}

static bool parse_choice(struct arith *ar, struct token *t, struct node *ret)
{
	struct node yes, no;
	if (!parse_binary(ar, t, 1, ret))
		return false;
	struct token *mark = ret->last->next;
	if (mark == ar->end || !tok_is(mark, "?") || !parse_expression(ar, mark->next, &yes))
		return true;
	// What has been read is not read again, even if it turns out to be no choice.
	*ret = (struct node){.first = ret->first, .last = yes.last, .is_loose = true};
	if (!tok_is(yes.last->next, ":") || !parse_expression(ar, yes.last->next->next, &no))
		return true;
	ret->last = no.last;
	ret->sign = sign_join(yes.sign, no.sign);
	return true;
}

static bool is_assignment(const struct token *t)
{
	static const char *const all[] = {
	    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
	return tok_is_any(t, all);
}

static bool parse_expression(struct arith *ar, struct token *t, struct node *ret)
{
	struct node value;
	if (!check_depth(ar, t))
		return false;
	ar->depth++;
	bool good = parse_choice(ar, t, ret);
	struct token *op = good ? ret->last->next : NULL;
	if (good && ret->target.n && op != ar->end && is_assignment(op) &&
	    parse_expression(ar, op->next, &value)) {
		assign(ar, ret, op, &value);
		*ret = (struct node){.first = ret->first, .last = value.last, .is_loose = true};
		ret->sign = value.sign;
	}
	ar->depth--;
	return good;
}

static void round_of(struct arith *ar, unsigned round)
{
	ar->round = round;
	ar->signs = ar->found;
	ar->found = (struct map){0};
	ar->rewriting = round == N_ROUNDS;
	for (size_t i = 0; i < ar->b->script.clauses.n && ar->good; i++) {
		struct script_clause *c = &ar->b->script.clauses.v[i];
		ar->clause = i;
		bind_lookup_from(ar->b, i);
		ar->end = c->predicate_close;
		if (c->predicate.first)
			walk(ar, c->predicate_open->next, ar->end);
		ar->end = c->body.last;
		if (c->body.first)
			walk(ar, c->body.first->next, ar->end);
	}
}

bool arith_rewrite(struct bind *b)
{
	struct arith ar = {.b = b, .good = true};
	for (unsigned i = 0; i <= N_ROUNDS && ar.good; i++)
		round_of(&ar, i);
	return ar.good;
}
