// #pragma: once and option are ours to obey, pack is bpftrace's, the rest is kept for the layers
// that know it.
#include "text/expr.h"
#include "text/pp_priv.h"

/** The line with its macros expanded: bpftrace will not know them. */
static void pack(struct pp *pp, const struct token *hash, const struct token *name,
		 struct token *line)
{
	if (pp->in_args) {
		pp_error(pp, name, "#pragma pack cannot be inside the arguments of a macro");
		return;
	}
	struct str text = pp_spell(pp, pp_expanded_line(pp, line));
	struct token *d = pp_copy(pp, hash);
	d->kind = TOK_DIRECTIVE;
	d->before = STR("");
	d->text = str_printf(pp->arena, "#pragma pack" STR_FMT, STR_ARG(text));
	pp_emit(pp, d);
}

/** Is @list, of @n tokens, an integer? Words are not, but for other macros: an #if would take them for 0. */
static bool is_integer(struct pp *pp, const struct token *list, size_t n)
{
	bool has_macros = false, truth;
	const struct token *bad;
	const char *why;
	struct token *copy = arena_array(pp->arena, struct token, n + 1);
	for (size_t i = 0; i < n; i++, list = list->next) {
		bool is_macro = list->kind == TOK_IDENT && map_get(&pp->macros, list->text);
		if (list->kind != TOK_NUMBER && list->kind != TOK_PUNCT && !is_macro)
			return false;
		has_macros |= is_macro;
		copy[i] = *list;
		copy[i].next = &copy[i + 1];
	}
	copy[n] = (struct token){.kind = TOK_EOF};
	return n && (has_macros || expr_eval(copy, &truth, &bad, &why));
}

/**
 * -D of an option whose default is a number must be one, too: bpftrace would say so where the
 * option is used, or #if not.
 */
static void check_given(struct pp *pp, const struct token *name, const struct token *value,
			const struct macro *given)
{
	struct strbuf text = {0};
	size_t n = 0;
	for (const struct token *t = value; t->kind != TOK_EOF; t = t->next)
		n++;
	if (!is_integer(pp, value, n))
		return;
	for (size_t i = 0; i + 1 < given->n_body; i++)
		given->body[i].next = &given->body[i + 1];
	if (given->kind == MACRO_OBJECT && is_integer(pp, given->body, given->n_body))
		return;
	for (size_t i = 0; i < given->n_body; i++) {
		strbuf_addz(&text, i && given->body[i].space ? " " : "");
		strbuf_add_printable(&text, given->body[i].text);
	}
	pp_error(pp, name,
		 "-D " STR_FMT ": expected a number (default " STR_FMT "), not \"" STR_FMT "\"",
		 STR_ARG(name->text), STR_ARG(pp_spell(pp, value)), STR_ARG(strbuf_str(&text)));
	strbuf_fini(&text);
}

/** `option NAME DEFAULT "help"`, from NAME on. */
static void option(struct pp *pp, struct token *name)
{
	struct token *help = NULL, *value = name->kind == TOK_EOF ? name : name->next;
	for (struct token *t = value; t->kind != TOK_EOF; t = t->next)
		help = t;
	if (name->kind != TOK_IDENT) {
		pp_error(pp, name, "#pragma option needs NAME DEFAULT \"help\"");
		return;
	}
	if (!help || help == value) {
		// A default that is a text, without help, is as wrong: which of the two was forgotten?
		pp_error(pp, value, "option " STR_FMT " has no %s: write NAME DEFAULT \"help\"",
			 STR_ARG(name->text),
			 help && help->kind != TOK_STRING ? "help" : "default");
		return;
	}
	if (help->kind != TOK_STRING) {
		pp_error(pp, help, "option " STR_FMT ": expected its help text last, in quotes",
			 STR_ARG(name->text));
		return;
	}
	struct pp_option o = {.name = name->text, .loc = name->loc};
	o.help = lex_string_value(pp->arena, help);
	help->kind = TOK_EOF; // the default ends here
	o.value = pp_spell(pp, value);
	uintptr_t known = (uintptr_t)map_get(&pp->option_names, o.name);
	if (known) {
		const struct pp_option *old = &pp->options.v[known - 1];
		if (str_eq(old->value, o.value) && str_eq(old->help, o.help))
			return; // the file was included twice
		pp_error(pp, name, "option " STR_FMT " is redeclared differently", STR_ARG(o.name));
		diag_note(pp->diag, diag_at(src_place(old->loc, old->name.n)),
			  "the previous declaration is here");
		return;
	}
	const struct macro *given = map_get(&pp->macros, name->text);
	if (given && given->given)
		check_given(pp, name, value, given);
	pp_define_option(pp, name, value);
	vec_push(pp->arena, &pp->options, o);
	map_put(pp->arena, &pp->option_names, o.name, (void *)(uintptr_t)pp->options.n);
}

void pp_pragma(struct pp *pp, const struct token *hash, const struct token *name)
{
	static const char *const ours[] = {"enum",  "scope", "require", "option", "optional",
					   "track", "gate",  "trigger", "time"};
	struct token *line = pp_line(pp);
	if (tok_is(line, "once")) {
		const struct src_file *f = pp->level->file;
		if (f->dev || f->ino)
			map_add(pp->arena, &pp->once, pp_file_id(pp, f));
		pp_no_more(pp, line->next, "pragma once");
		return;
	}
	if (tok_is(line, "pack")) {
		pack(pp, hash, line, line->next);
		return;
	}
	if (tok_is(line, "option")) {
		option(pp, line->next);
		return;
	}
	bool known = false;
	unsigned best = 2;
	const char *guess = NULL;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		known |= tok_is(line, ours[i]);
		if (str_is_nearer(line->text, str_from(ours[i]), &best))
			guess = ours[i];
	}
	if (line->kind == TOK_EOF)
		pp_warning(pp, name, "#pragma without a name");
	else if (!known && guess)
		pp_warning(pp, line, "unknown #pragma " STR_FMT "; did you mean %s?",
			   STR_ARG(line->text), guess);
	else if (!known)
		pp_warning(pp, line, "unknown #pragma " STR_FMT, STR_ARG(line->text));
	struct pp_pragma p = {.tokens = line, .loc = hash->loc};
	vec_push(pp->arena, &pp->pragmas, p);
}
