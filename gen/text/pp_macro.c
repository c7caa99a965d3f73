// Definitions of macros: #define, #undef, -D, and the macros that are always there.
#include "text/pp_priv.h"

#define MAX_PARAMS 1024

struct str pp_spell(struct pp *pp, const struct token *list)
{
	struct strbuf b = {0};
	for (const struct token *t = list; t && t->kind != TOK_EOF; t = t->next) {
		if (t != list && t->space)
			strbuf_addc(&b, ' ');
		strbuf_adds(&b, t->text);
	}
	return strbuf_take(&b, pp->arena);
}

struct token *pp_builtin(struct pp *pp, const struct macro *m, const struct token *call)
{
	struct token *t = pp_copy(pp, call);
	t->from_macro = true;
	t->kind = m->kind == MACRO_FILE ? TOK_STRING : TOK_NUMBER;
	t->text =
	    m->kind == MACRO_FILE
		? lex_quote(pp->arena, pp->level->file->name)
		: str_printf(pp->arena, "%u",
			     m->kind == MACRO_LINE ? (unsigned)src_line(call->use) : pp->counter++);
	return t;
}

void pp_add_builtins(struct pp *pp)
{
	static const struct {
		const char *name;
		enum macro_kind kind;
	} table[] = {
	    {"__FILE__", MACRO_FILE},
	    {"__LINE__", MACRO_LINE},
	    {"__COUNTER__", MACRO_COUNTER},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct macro *m = arena_new(pp->arena, struct macro);
		m->name = str_from(table[i].name);
		m->kind = table[i].kind;
		m->predefined = true;
		map_put(pp->arena, &pp->macros, m->name, m);
	}
}

/** Names that are no macros but mean something to the preprocessor. */
static bool is_reserved(struct str name)
{
	return str_eqz(name, "defined") || str_eqz(name, "__has_include") ||
	       str_eqz(name, "__VA_ARGS__") || str_eqz(name, "__VA_OPT__");
}

/** The name that #define or #undef is about; NULL after an error. */
static struct token *macro_name(struct pp *pp, struct token *t, const char *directive)
{
	if (t->kind == TOK_EOF)
		pp_error(pp, t, "#%s needs the name of a macro", directive);
	else if (t->kind != TOK_IDENT)
		pp_error(pp, t, "the name of a macro must be an identifier");
	else if (is_reserved(t->text))
		pp_error(pp, t, "\"" STR_FMT "\" cannot be a macro's name", STR_ARG(t->text));
	else
		return t;
	return NULL;
}

static int find_param(const struct macro *m, struct str name)
{
	for (unsigned i = 0; i < m->n_params; i++)
		if (str_eq(m->params[i], name))
			return (int)i;
	return -1;
}

/** From after the parenthesis of `#define f(`; returns the token after its end, NULL after an error. */
static struct token *parse_params(struct pp *pp, struct macro *m, struct token *t)
{
	VEC(struct str) params = {0};
	if (tok_is(t, ")"))
		return t->next;
	for (;;) {
		struct str name = t->text;
		if (tok_is(t, "...")) {
			m->variadic = true;
			name = STR("__VA_ARGS__");
		} else if (t->kind != TOK_IDENT || is_reserved(name)) {
			pp_error(pp, t, "expected the name of a parameter");
			return NULL;
		} else if (tok_is(t->next, "...")) {
			m->variadic = m->named_rest = true;
			t = t->next;
		}
		if (find_param(m, name) >= 0) {
			pp_error(pp, t, "duplicate macro parameter \"" STR_FMT "\"", STR_ARG(name));
			return NULL;
		}
		vec_push(pp->arena, &params, name);
		m->params = params.v;
		m->n_params = (unsigned)params.n;
		t = t->next;
		if (tok_is(t, ")"))
			return t->next;
		if (m->variadic || !tok_is(t, ",") || params.n >= MAX_PARAMS) {
			pp_error(pp, t, "%s",
				 m->variadic		  ? "expected ) after ..."
				 : params.n >= MAX_PARAMS ? "more than 1024 parameters"
							  : "the parameters lack a closing )");
			return NULL;
		}
		t = t->next;
	}
}

static bool check_body(struct pp *pp, const struct macro *m)
{
	bool function = m->kind == MACRO_FUNCTION;
	for (size_t i = 0; i < m->n_body; i++) {
		const struct token *t = &m->body[i];
		bool last = i + 1 == m->n_body;
		if (tok_is(t, "##") && (i == 0 || last))
			return pp_error(pp, t, "## cannot be at either end of a macro");
		if (function && tok_is(t, "#") && (last || m->param[i + 1] < 0))
			return pp_error(pp, t, "# is not followed by a parameter of the macro");
		if (tok_is(t, "__VA_ARGS__") && (!m->variadic || m->named_rest))
			return pp_error(
			    pp, t, "__VA_ARGS__ is valid only in a macro with variable arguments");
		if (tok_is(t, "__VA_OPT__"))
			return pp_error(pp, t, "__VA_OPT__ is not supported: use , ##__VA_ARGS__");
	}
	return true;
}

static void read_body(struct pp *pp, struct macro *m, struct token *list)
{
	VEC(struct token) body = {0};
	struct token *t = list;
	for (; t->kind != TOK_EOF; t = t->next) {
		struct token c = *t;
		c.bol = false;
		c.space = t != list && t->space;
		c.before = c.space ? STR(" ") : STR("");
		vec_push(pp->arena, &body, c);
	}
	if (tok_is(list, "/") && str_has_prefix(t->before, STR("//"))) {
		struct token at = *t;
		at.text = STR("//");
		at.loc.off -= (uint32_t)t->before.n;
		pp_warning(pp, &at, "this starts a comment, even in a path");
	}
	m->body = body.v;
	m->n_body = body.n;
	m->param = arena_array(pp->arena, int, body.n);
	for (size_t i = 0; i < body.n; i++)
		m->param[i] = body.v[i].kind == TOK_IDENT ? find_param(m, body.v[i].text) : -1;
}

/** C11 6.10.3 paragraph 2: the same definition may be repeated. */
static bool same_macro(const struct macro *a, const struct macro *b)
{
	if (a->kind != b->kind || a->variadic != b->variadic || a->named_rest != b->named_rest ||
	    a->n_params != b->n_params || a->n_body != b->n_body)
		return false;
	for (unsigned i = 0; i < a->n_params; i++)
		if (!str_eq(a->params[i], b->params[i]))
			return false;
	for (size_t i = 0; i < a->n_body; i++)
		if (a->body[i].space != b->body[i].space ||
		    !str_eq(a->body[i].text, b->body[i].text))
			return false;
	return true;
}

/** False, with an error, when @m may not replace what has its name. */
static bool may_define(struct pp *pp, const struct macro *m, const struct token *name)
{
	struct macro *old = map_get(&pp->macros, m->name);
	if (!old)
		return true;
	if (old->predefined)
		return pp_error(pp, name, "\"" STR_FMT "\" is predefined and cannot be redefined",
				STR_ARG(m->name));
	if (same_macro(old, m))
		return false;
	pp_error(pp, name, "macro \"" STR_FMT "\" is redefined differently", STR_ARG(m->name));
	return diag_note(pp->diag, diag_at(src_place(old->loc, old->name.n)),
			 "the previous definition is here");
}

void pp_define_line(struct pp *pp, struct token *line, bool predefined)
{
	struct token *name = macro_name(pp, line, "define");
	if (!name)
		return;
	struct macro *m = arena_new(pp->arena, struct macro);
	m->name = name->text;
	m->loc = name->loc;
	m->predefined = predefined;
	struct token *t = name->next;
	if (tok_is(t, "(") && !t->space) {
		m->kind = MACRO_FUNCTION;
		t = parse_params(pp, m, t->next);
		if (!t)
			return;
	} else if (t->kind != TOK_EOF && !t->space) {
		pp_warning(pp, t, "no blank after the macro's name");
	}
	read_body(pp, m, t);
	if (check_body(pp, m) && may_define(pp, m, name))
		map_put(pp->arena, &pp->macros, m->name, m);
}

void pp_define_option(struct pp *pp, const struct token *name, struct token *value)
{
	struct macro *old = map_get(&pp->macros, name->text);
	if (old && old->given) {
		old->used = true;
		return;
	}
	struct macro *m = arena_new(pp->arena, struct macro);
	m->name = name->text;
	m->loc = name->loc;
	read_body(pp, m, value);
	if (may_define(pp, m, name))
		map_put(pp->arena, &pp->macros, m->name, m);
}

void pp_undef_line(struct pp *pp, struct token *line)
{
	struct token *name = macro_name(pp, line, "undef");
	if (!name)
		return;
	struct macro *m = map_get(&pp->macros, name->text);
	if (m && m->predefined)
		pp_error(pp, name, "\"" STR_FMT "\" is predefined and cannot be undefined",
			 STR_ARG(name->text));
	else
		map_remove(&pp->macros, name->text);
	// What is not the template's own may be bpftrace's, or a C header's.
	if (!m || m->in_program)
		pp_c_line(pp, name, "#undef " STR_FMT, STR_ARG(name->text));
	map_remove(&pp->external, name->text);
	pp_no_more(pp, name->next, "undef");
}

/** Defines a macro from the line `NAME text` of a file that is none. */
static bool define_text(struct pp *pp, const char *file, struct str text, bool predefined)
{
	struct src_file *f = src_from_text(pp->arena, str_from(file), text);
	struct lexer lex;
	lexer_init(&lex, pp->arena, pp->diag, f);
	lex.in_directive = true;
	struct token *list = lexer_list(&lex);
	pp->failed = lex.failed;
	if (!lex.failed)
		pp_define_line(pp, list, predefined);
	return !pp->failed;
}

bool pp_define(struct pp *pp, const char *def)
{
	struct str s = str_from(def);
	size_t eq = str_find(s, '=');
	if (str_find(s, '\n') < s.n)
		return diag_error(pp->diag, NULL, "-D: a macro must fit on one line");
	struct str name = str_slice(s, 0, eq);
	if (!str_is_ident(str_slice(name, 0, str_find(name, '('))))
		return diag_error(pp->diag, NULL,
				  "-D " STR_FMT ": not NAME, NAME=TEXT or NAME(ARGS)=TEXT",
				  STR_ARG(s));
	struct str value = eq < s.n ? str_from_offset(s, eq + 1) : STR("1");
	char *text = arena_printf(pp->arena, STR_FMT " " STR_FMT, STR_ARG(name), STR_ARG(value));
	if (!define_text(pp, "<command line>", str_from(text), false))
		return false;
	struct macro *m = map_get(&pp->macros, str_slice(name, 0, str_find(name, '(')));
	m->given = true;
	return true;
}

bool pp_is_used(const struct pp *pp, struct str name)
{
	const struct macro *m = map_get(&pp->macros, name);
	return m && m->used;
}

void pp_warn_unused(struct pp *pp)
{
	if (!pp->options.n)
		return;
	for (struct map_entry *e = NULL; (e = map_next(&pp->macros, e));) {
		const struct macro *m = e->value;
		if (!m->given || m->used)
			continue;
		diag_warning(pp->diag, NULL, "-D " STR_FMT ": the script has no such option",
			     STR_ARG(m->name));
		struct str near = {0};
		unsigned best = UINT_MAX;
		for (size_t i = 0; i < pp->options.n; i++)
			if (str_is_nearer(m->name, pp->options.v[i].name, &best))
				near = pp->options.v[i].name;
		if (near.n)
			diag_note(pp->diag, NULL, "did you mean " STR_FMT "?", STR_ARG(near));
	}
}

void pp_add_external(struct pp *pp, const char *name, const char *value)
{
	map_put(pp->arena, &pp->external, str_from(name), (void *)(value ? value : ""));
}

void pp_predefine(struct pp *pp, const char *name, const char *text)
{
	map_remove(&pp->macros, str_from(name));
	define_text(pp, "<built-in>", str_printf(pp->arena, "%s %s", name, text), true);
}
