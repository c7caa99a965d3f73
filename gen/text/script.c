#include "text/script.h"

#include <string.h>

/** No bpftrace takes that many; what comes after this looks at the inside of each bracket. */
enum { MAX_NESTING = 500 };

/** A bracket that is open. */
struct bracket {
	struct token *open;
	struct str callee; /**< the name before a parenthesis */
	size_t map;	   /**< 1 + index of the map use whose key this is */
};

struct parser {
	struct arena *arena;
	struct diag *diag;
	struct script *script;
	VEC(struct bracket) open;
};

static bool is_opener(const struct token *t)
{
	return tok_is(t, "(") || tok_is(t, "[") || tok_is(t, "{");
}

static bool is_closer(const struct token *t)
{
	return tok_is(t, ")") || tok_is(t, "]") || tok_is(t, "}");
}

static bool error_at(struct parser *p, const struct token *t, const char *what,
		     const struct token *other)
{
	struct diag_place at = tok_place(t);
	diag_error(p->diag, &at, "this \"" STR_FMT "\" %s", STR_ARG(t->text), what);
	if (other) {
		struct diag_place there = tok_place(other);
		diag_note(p->diag, &there, "the innermost open bracket is here");
	}
	return false;
}

/** Opens or closes a bracket at @t, if it is one. */
static bool follow_bracket(struct parser *p, struct token *t, const struct token *prev)
{
	if (is_opener(t)) {
		struct bracket b = {.open = t};
		if (p->open.n == MAX_NESTING)
			return error_at(p, t, "is nested too deeply", NULL);
		if (prev && prev->kind == TOK_IDENT)
			b.callee = prev->text;
		vec_push(p->arena, &p->open, b);
	} else if (is_closer(t)) {
		if (!p->open.n)
			return error_at(p, t, "closes nothing", NULL);
		struct token *open = p->open.v[p->open.n - 1].open;
		char want = tok_is(open, "(") ? ')' : tok_is(open, "[") ? ']' : '}';
		if (t->text.p[0] != want)
			return error_at(p, t, "does not fit what is open", open);
		p->open.n--;
	}
	return true;
}

static bool check_closed(struct parser *p)
{
	if (!p->open.n)
		return true;
	return error_at(p, p->open.v[p->open.n - 1].open, "is not closed", NULL);
}

/** The bracket that closes @open; NULL after an error. */
static struct token *find_close(struct parser *p, struct token *open)
{
	struct token *prev = NULL;
	p->open.n = 0;
	for (struct token *t = open; t->kind != TOK_EOF; prev = t, t = t->next) {
		if (!follow_bracket(p, t, prev))
			return NULL;
		if (!p->open.n)
			return t;
	}
	check_closed(p);
	return NULL;
}

static void add_opaque(struct parser *p, struct token *first, struct token *last)
{
	struct script_range r = {first, last};
	vec_push(p->arena, &p->script->opaque, r);
}

/** argN: false for other names, and for numbers that no probe can have. */
static bool arg_number(struct str name, unsigned *ret)
{
	if (!str_has_prefix(name, STR("arg")) || name.n < 4 || name.n > 6)
		return false;
	*ret = 0;
	for (size_t i = 3; i < name.n; i++) {
		if (name.p[i] < '0' || name.p[i] > '9')
			return false;
		*ret = *ret * 10 + (unsigned)(name.p[i] - '0');
	}
	return name.n == 4 || name.p[3] != '0';
}

static bool is_assignment(const struct token *t)
{
	static const char *const ops[] = {
	    "=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
	return tok_is_any(t, ops);
}

static bool is_name_of_map(const struct token *at)
{
	return tok_is(at, "@") && at->next->kind == TOK_IDENT && !at->next->space;
}

/** A use of a map at the @; whether it is assigned to shows when its key has been read. */
static void add_map(struct parser *p, struct script_clause *c, struct token *at,
		    const struct token *prev)
{
	static const char *const eraser[] = {"clear", "delete", "zero"};
	struct script_map_use u = {.at = at, .name = STR("")};
	struct token *end = at;
	if (is_name_of_map(at)) {
		end = at->next;
		u.name = end->text;
	}
	if (tok_is(end->next, "[")) {
		u.has_key = true;
		u.open = end->next;
	}
	u.is_set = is_assignment(end->next) || (prev && (tok_is(prev, "++") || tok_is(prev, "--")));
	u.is_written = u.is_set;
	const struct bracket *in = p->open.n ? &p->open.v[p->open.n - 1] : NULL;
	for (size_t i = 0; in && i < 3; i++)
		u.is_written |= tok_is(in->open, "(") && str_eqz(in->callee, eraser[i]);
	vec_push(p->arena, &c->maps, u);
}

/** A bracket that is a map's key: remembers it when it opens, completes the map's use when it closes. */
static void follow_key(struct parser *p, struct script_clause *c, struct token *t)
{
	if (tok_is(t, "[")) {
		if (c->maps.n && c->maps.v[c->maps.n - 1].open == t)
			p->open.v[p->open.n - 1].map = c->maps.n;
	} else if (tok_is(t, "]") && p->open.v[p->open.n - 1].map) {
		struct script_map_use *u = &c->maps.v[p->open.v[p->open.n - 1].map - 1];
		u->close = t;
		u->is_set |= is_assignment(t->next);
		u->is_written |= u->is_set;
	}
}

static void note_name(struct parser *p, struct script_clause *c, struct token *t,
		      const struct token *prev)
{
	unsigned n;
	if (prev && (tok_is(prev, ".") || tok_is(prev, "->") || is_name_of_map(prev)))
		return; // a member, or a map's name
	if (arg_number(t->text, &n)) {
		struct script_arg arg = {t, n};
		vec_push(p->arena, &c->args, arg);
	} else if (tok_is(t, "args")) {
		struct script_named_arg arg = {.args = t};
		if (tok_is(t->next, ".") || tok_is(t->next, "->"))
			arg.name = t->next->next;
		else if (t->next->kind == TOK_NUMBER && t->next->text.p[0] == '.')
			arg.name = t->next;
		if (arg.name && (arg.name->kind == TOK_IDENT || arg.name->kind == TOK_NUMBER))
			vec_push(p->arena, &c->named_args, arg);
	}
}

/** Takes note of what the tokens from @first on use, up to @end or, when that is NULL, a closing brace. */
static struct token *scan(struct parser *p, struct script_clause *c, struct token *first,
			  const struct token *end)
{
	struct token *prev = NULL, *t = first;
	p->open.n = 0;
	for (; t != end && t->kind != TOK_EOF; prev = t, t = t->next) {
		if (tok_is(t, "]") && p->open.n)
			follow_key(p, c, t);
		if (!follow_bracket(p, t, prev))
			return NULL;
		if (tok_is(t, "["))
			follow_key(p, c, t);
		else if (tok_is(t, "@"))
			add_map(p, c, t, prev);
		else if (t->kind == TOK_IDENT)
			note_name(p, c, t, prev);
		if (!end && !p->open.n)
			return t;
	}
	return check_closed(p) ? t : NULL;
}

/** The text of the tokens from @first to before @end, blanks between them as one. */
static struct str field_text(struct parser *p, const struct token *first, const struct token *end)
{
	if (first == end)
		return STR("");
	if (first->next == end)
		return first->kind == TOK_STRING ? lex_string_value(p->arena, first) : first->text;
	struct strbuf b;
	strbuf_init(&b);
	for (const struct token *t = first; t != end; t = t->next) {
		if (t != first && t->space)
			strbuf_addc(&b, ' ');
		strbuf_adds(&b, t->text);
	}
	struct str r = str_copy(p->arena, strbuf_str(&b));
	strbuf_fini(&b);
	return r;
}

/** The attach point from @first to @last. */
static void add_attach(struct parser *p, struct script_clause *c, struct token *first,
		       struct token *last)
{
	struct script_attach a = {.range = {first, last}};
	const struct token *start = first, *end = last->next;
	bool is_kind = true;
	for (const struct token *t = first;; t = t->next) {
		if (t != end && !tok_is(t, ":"))
			continue;
		struct str text = field_text(p, start, t);
		if (is_kind)
			a.kind = text;
		else
			vec_push(p->arena, &a.fields, text);
		is_kind = false;
		if (t == end)
			break;
		start = t->next;
	}
	vec_push(p->arena, &c->attach, a);
}

/** Attach points, up to the predicate or the body, which is returned; the end when there is none. */
static struct token *attach_points(struct parser *p, struct script_clause *c, struct token *t)
{
	struct token *first = NULL, *last = NULL;
	unsigned depth = 0;
	for (;; t = t->next) {
		bool slash = tok_is(t, "/") && !t->attach;
		bool end = t->kind == TOK_EOF || tok_is(t, "{") || slash;
		bool comma = depth == 0 && tok_is(t, ",");
		if ((end || comma) && first) {
			add_attach(p, c, first, last);
			first = NULL;
		}
		if (end)
			return t;
		if (comma || t->kind == TOK_DIRECTIVE)
			continue;
		if (tok_is(t, "("))
			depth++;
		else if (tok_is(t, ")") && depth)
			depth--;
		first = first ? first : t;
		last = t;
	}
}

/** The slash before the body; NULL when the predicate does not end in one. */
static struct token *predicate_end(struct token *open)
{
	struct token *prev = open;
	for (struct token *t = open->next; t->kind != TOK_EOF; prev = t, t = t->next)
		if (tok_is(t, "{"))
			return prev != open && tok_is(prev, "/") ? prev : NULL;
	return NULL;
}

static bool clause(struct parser *p, struct token **t)
{
	struct script_clause c = {0};
	struct token *first = *t;
	*t = attach_points(p, &c, *t);
	if (tok_is(*t, "/")) {
		c.predicate_open = *t;
		c.predicate_close = predicate_end(*t);
		if (!c.predicate_close)
			return error_at(
			    p, *t, "begins a predicate that has no closing slash before a {", NULL);
		struct token *from = c.predicate_open->next;
		if (from != c.predicate_close) {
			c.predicate.first = from;
			if (!scan(p, &c, from, c.predicate_close))
				return false;
			for (struct token *k = from; k != c.predicate_close; k = k->next)
				c.predicate.last = k;
		}
		*t = c.predicate_close->next;
	}
	if ((*t)->kind == TOK_EOF) {
		if (c.attach.n)
			add_opaque(p, first, c.attach.v[c.attach.n - 1].range.last);
		return true;
	}
	c.body.first = *t;
	c.body.last = scan(p, &c, *t, NULL);
	if (!c.body.last)
		return false;
	vec_push(p->arena, &p->script->clauses, c);
	*t = c.body.last->next;
	return true;
}

/** Skips __attribute__((...)) and the like. */
static struct token *skip_attributes(struct parser *p, struct token *t)
{
	while (t && (tok_is(t, "__attribute__") || tok_is(t, "__packed"))) {
		t = t->next;
		if (tok_is(t, "(")) {
			t = find_close(p, t);
			t = t ? t->next : NULL;
		}
	}
	return t;
}

/** struct, union or enum: a definition, or a declaration that is left alone. */
static bool definition(struct parser *p, struct token **t)
{
	struct script_definition d = {.range.first = *t, .kind = (*t)->text, .tag = STR("")};
	struct token *at = skip_attributes(p, (*t)->next);
	if (!at)
		return false;
	if (at->kind == TOK_IDENT) {
		d.tag = at->text;
		at = at->next;
	}
	struct token *last = at;
	while (!tok_is(at, "{") && !tok_is(at, ";") && at->kind != TOK_EOF) {
		last = at; // enum E : type
		at = at->next;
	}
	if (!tok_is(at, "{")) {
		add_opaque(p, d.range.first,
			   tok_is(at, ";")	   ? at
			   : last->kind == TOK_EOF ? *t
						   : last);
		*t = at;
		return true;
	}
	d.range.last = find_close(p, at);
	if (!d.range.last)
		return false;
	at = skip_attributes(p, d.range.last->next);
	if (!at)
		return false;
	if (tok_is(at, ";")) {
		d.range.last = at; // bpftrace does without
	} else if (at->kind == TOK_IDENT && tok_is(at->next, ";")) {
		d.range.last = at->next; // struct { ... } name;
	}
	vec_push(p->arena, &p->script->definitions, d);
	*t = d.range.last->next;
	return true;
}

/** A construct that ends with its block, or with a semicolon before any block. */
static bool opaque(struct parser *p, struct token **t)
{
	struct token *first = *t, *last = *t;
	for (struct token *at = *t; at->kind != TOK_EOF; at = at->next) {
		last = at;
		if (tok_is(at, ";"))
			break;
		if (!is_opener(at) && !is_closer(at))
			continue;
		last = find_close(p, at);
		if (!last)
			return false;
		if (tok_is(at, "{"))
			break;
		at = last;
	}
	add_opaque(p, first, last);
	*t = last->next;
	return true;
}

static bool is_opaque(const struct token *t)
{
	static const char *const blocks[] = {"macro",  "fn",	 "let",	  "import", "typedef",
					     "extern", "static", "const", NULL};
	if (tok_is(t, "config") && tok_is(t->next, "="))
		return true;
	// A probe's name is followed by a colon, a comma or a brace.
	return tok_is_any(t, blocks) && !tok_is(t->next, ":") && !tok_is(t->next, ",") &&
	       !tok_is(t->next, "{");
}

bool script_parse(struct arena *a, struct diag *d, struct token *tokens, struct script *ret)
{
	static const char *const kinds[] = {"struct", "union", "enum", NULL};
	struct parser p = {.arena = a, .diag = d, .script = ret};
	*ret = (struct script){0};
	for (struct token *t = tokens; t->kind != TOK_EOF;) {
		if (tok_is(t, ";") || t->kind == TOK_DIRECTIVE) {
			t = t->next;
		} else if (is_closer(t)) {
			return error_at(&p, t, "closes nothing", NULL);
		} else if (tok_is_any(t, kinds)) {
			if (!definition(&p, &t))
				return false;
		} else if (is_opaque(t)) {
			if (!opaque(&p, &t))
				return false;
		} else if (!clause(&p, &t)) {
			return false;
		}
	}
	return true;
}

const struct token *script_token_before(const struct script_clause *c, const struct token *t)
{
	const struct token *starts[2] = {c->predicate_open, c->body.first};
	for (int i = 0; i < 2; i++)
		for (const struct token *p = starts[i]; p && p->kind != TOK_EOF; p = p->next) {
			if (p->next == t)
				return p;
			if (p == (i == 0 ? c->predicate_close : c->body.last))
				break;
		}
	return NULL;
}
