// Lines for bpftrace's clang: C headers, what they may ask of the template, and what the template
// asks of them.
#include "text/constant.h"
#include "text/pp_priv.h"

#define MAX_SCAN_DEPTH 64

void pp_c_line(struct pp *pp, const struct token *at, const char *fmt, ...)
{
	va_list ap;
	struct token *t = arena_new(pp->arena, struct token);
	va_start(ap, fmt);
	t->text = str_from(arena_vprintf(pp->arena, fmt, ap));
	va_end(ap);
	t->kind = TOK_DIRECTIVE;
	t->bol = t->space = true;
	t->loc = at->loc;
	t->use = at->use;
	vec_push(pp->arena, &pp->c_lines, (struct pp_c_line){t, pp->tail});
}

/** The parameters of a macro as its definition spells them. */
static void add_params(struct strbuf *b, const struct macro *m)
{
	strbuf_addc(b, '(');
	for (unsigned i = 0; i < m->n_params; i++) {
		bool is_rest = m->variadic && i + 1 == m->n_params;
		strbuf_addz(b, i ? ", " : "");
		if (!is_rest || m->named_rest)
			strbuf_adds(b, m->params[i]);
		strbuf_addz(b, is_rest ? "..." : "");
	}
	strbuf_addc(b, ')');
}

void pp_c_macros(struct pp *pp, const struct token *include)
{
	struct strbuf b = {0};
	for (struct map_entry *e = NULL; (e = map_next(&pp->macros, e));) {
		struct macro *m = e->value;
		if (m->predefined || m->in_program)
			continue;
		m->in_program = true;
		strbuf_clear(&b);
		if (m->kind == MACRO_FUNCTION)
			add_params(&b, m);
		for (size_t i = 0; i < m->n_body; i++) {
			strbuf_addz(&b, !i || m->body[i].space ? " " : "");
			strbuf_adds(&b, m->body[i].text);
		}
		pp_c_line(pp, include, "#define " STR_FMT STR_FMT, STR_ARG(m->name),
			  STR_ARG(strbuf_str(&b)));
	}
	strbuf_fini(&b);
}

/** Once for each header that has been read since: the next one may bring it. */
static bool is_asked(struct pp *pp, struct str what)
{
	const char *key = arena_printf(pp->arena, "%u " STR_FMT, pp->n_c_headers, STR_ARG(what));
	return !map_add(pp->arena, &pp->guessed, str_from(key));
}

/** Names that C keeps for compilers, but for our own markers. */
static bool is_compilers(struct str name)
{
	static const char *const ours[] = {"__PID__", "__EXE__", "__COMM__", NULL};
	return str_has_prefix(name, STR("__")) && !str_has_prefix(name, STR("__ARCH_")) &&
	       !str_is_any(name, ours);
}

void pp_c_confirm_undefined(struct pp *pp, const struct token *name)
{
	if ((!pp->n_c_headers && !is_compilers(name->text)) || is_asked(pp, name->text))
		return;
	pp_c_line(pp, name, "#ifdef " STR_FMT, STR_ARG(name->text));
	pp_c_line(pp, name,
		  "#error #if does not know " STR_FMT ", a macro of %s: use it in a clause, or "
		  "ask for a macro of your own",
		  STR_ARG(name->text), pp->n_c_headers ? "a C header" : "the compiler");
	pp_c_line(pp, name, "#endif");
}

void pp_c_confirm_header(struct pp *pp, const struct token *at, struct str name, bool angled,
			 bool is_there)
{
	const char *header =
	    arena_printf(pp->arena, angled ? "<" STR_FMT ">" : "\"" STR_FMT "\"", STR_ARG(name));
	if (is_asked(pp, str_from(header)))
		return;
	pp_c_line(pp, at, "#if %s__has_include(%s)", is_there ? "!" : "", header);
	pp_c_line(pp, at, "#error __has_include(%s) is %s for bpftrace, %s for #if", header,
		  is_there ? "0" : "1", is_there ? "1" : "0");
	pp_c_line(pp, at, "#endif");
}

// --- what a header defines, without preprocessing it ---

struct scan {
	struct pp *pp;
	const struct src_file *file;
	struct lexer lex;
	unsigned depth;
	bool has_condition; /**< an #if, #else or #endif was read */
};

static struct token **push_token(struct arena *a, struct token **tail, const struct token *t)
{
	*tail = arena_new(a, struct token);
	**tail = *t;
	(*tail)->next = NULL;
	return &(*tail)->next;
}

/** From after #define to the end of the line. */
static void scan_macro(struct scan *s, struct token *t)
{
	struct token *body = NULL, **tail = &body;
	lexer_next(&s->lex, t);
	struct str name = str_copy(s->pp->arena, t->text);
	bool has_parameters = str_has_prefix(lexer_rest_of_line(&s->lex), STR("("));
	while (t->kind != TOK_EOF) {
		lexer_next(&s->lex, t);
		tail = push_token(s->pp->arena, tail, t);
	}
	constant_add_macro(s->pp->arena, &s->pp->header_names, name, has_parameters ? NULL : body);
}

/** #include and #define; the rest of the line is read over. */
static void scan_directive(struct scan *s)
{
	struct pp *pp = s->pp;
	struct token t;
	s->lex.in_directive = true;
	lexer_next(&s->lex, &t);
	if (tok_is(&t, "include")) {
		struct str line = str_trim(lexer_rest_of_line(&s->lex));
		bool quoted = line.n && line.p[0] == '"';
		struct str name = str_from_offset(line, line.n ? 1 : 0);
		name = str_slice(name, 0, str_find(name, quoted ? '"' : '>'));
		const char *path = pp_find_header(pp, name, quoted ? s->file : NULL);
		if (path)
			pp_c_scan(pp, path, s->depth + 1);
	} else if (tok_is(&t, "define")) {
		scan_macro(s, &t);
	} else if (tok_is(&t, "undef")) {
		lexer_next(&s->lex, &t);
		constant_add_macro(pp->arena, &pp->header_names, t.text, NULL);
	} else {
		s->has_condition |= str_has_prefix(t.text, STR("if")) ||
				    str_has_prefix(t.text, STR("el")) || tok_is(&t, "endif");
	}
	while (t.kind != TOK_EOF)
		lexer_next(&s->lex, &t);
	s->lex.in_directive = false;
}

/** The next token that is no directive's. */
static void scan_next(struct scan *s, struct token *t)
{
	for (;;) {
		s->lex.braces = 1; // there are no attach points
		lexer_next(&s->lex, t);
		if (!t->bol || !tok_is(t, "#"))
			return;
		scan_directive(s);
	}
}

/** From after `{` to the `}` */
static void scan_enumerators(struct scan *s, struct token *t)
{
	struct arena *a = s->pp->arena;
	struct token *list = NULL, **tail = &list;
	const struct token end = {.kind = TOK_EOF}, condition = {.kind = TOK_DIRECTIVE};
	do {
		s->has_condition = false;
		scan_next(s, t);
		if (s->has_condition)
			tail = push_token(a, tail, &condition);
		tail = push_token(a, tail, t);
	} while (t->kind != TOK_EOF && !tok_is(t, "}"));
	push_token(a, tail, &end);
	constant_add_enum(a, &s->pp->header_names, list);
}

/** From struct, union or enum on, up to the brace or to what makes it no definition. */
static void scan_definition(struct scan *s, struct token *t)
{
	bool is_enum = tok_is(t, "enum");
	struct str tag = STR("");
	unsigned depth = 0;
	for (scan_next(s, t); t->kind == TOK_IDENT || depth || tok_is(t, "("); scan_next(s, t)) {
		if (t->kind == TOK_EOF)
			return;
		depth = depth + tok_is(t, "(") - tok_is(t, ")");
		if (!depth && t->kind == TOK_IDENT && !tok_is(t, "__attribute__"))
			tag = str_copy(s->pp->arena, t->text);
	}
	if (!tok_is(t, "{"))
		return;
	if (tag.n)
		map_add(s->pp->arena, &s->pp->header_tags, tag);
	if (is_enum)
		scan_enumerators(s, t);
}

void pp_c_scan(struct pp *pp, const char *path, unsigned depth)
{
	struct scan s = {.pp = pp, .depth = depth};
	struct src_file *f;
	struct token t;
	if (depth > MAX_SCAN_DEPTH || !map_add(pp->arena, &pp->scanned, str_from(path)))
		return;
	if (!src_include(pp->arena, pp->diag, path, str_from(path), NULL, &f)) {
		pp->failed = true;
		return;
	}
	if (!pp_spend_bytes(pp, f->text.n))
		return;
	s.file = f;
	lexer_init(&s.lex, pp->arena, pp->diag, f);
	s.lex.quiet = true;
	scan_next(&s, &t);
	while (t.kind != TOK_EOF) {
		if (tok_is(&t, "struct") || tok_is(&t, "union") || tok_is(&t, "enum"))
			scan_definition(&s, &t);
		else
			scan_next(&s, &t);
	}
}
