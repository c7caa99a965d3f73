/**
 * `#pragma track`: what the records of a script are on a timeline (btgen-template(5)).
 *
 *	#pragma track PROBE[, PROBE]... [by "TRACK"] ACTION...
 *	ACTION, on the track of the name, or on that of the thread: state "NAME" | begin "NAME" | end | gone | slice "NAME" lasting FIELD ns|us|ms|s |
 *	        call "NAME"
 */
#include "template/template.h"

#include "base/json.h"

/** Where a #pragma is read. */
struct track_line {
	const struct bind *b;
	const struct token *at;
};

static bool fail(struct track_line *r, const char *what)
{
	return diag_error(r->b->diag, tok_at(r->at), "#pragma track: expected %s", what);
}

/** A text in quotes; what is between its braces is left for the records to fill in. */
static bool parse_text(struct track_line *r, struct str *ret)
{
	struct arena *a = r->b->arena;
	if (r->at->kind != TOK_STRING)
		return fail(r, "text in quotes, such as \"{thread_id}\"");
	*ret = lex_string_value(a, r->at);
	for (struct str rest = *ret; rest.n;) {
		size_t open = str_find(rest, '{'), close = str_find(rest, '}');
		if (close < open || (open < rest.n && (close == rest.n || close == open + 1)))
			return fail(r, "the name of a field between { and }");
		rest = str_from_offset(rest, close + 1);
	}
	r->at = r->at->next;
	return true;
}

static bool accept_word(struct track_line *r, const char *word)
{
	if (!tok_is(r->at, word))
		return false;
	r->at = r->at->next;
	return true;
}

static bool is_traced(const struct bind *b, struct str probe)
{
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		vec_each(const struct script_attach, at, &c->attach) {
			struct str name = at->fields.n ? at->fields.v[at->fields.n - 1] : at->kind;
			if (str_glob(probe, name) || str_glob(name, probe))
				return true;
		}
	}
	return false;
}

/** `query__done, query__execute__done`, up to one of @ends. */
static bool parse_probes(struct track_line *r, const char *const *ends, struct map *ret)
{
	struct arena *a = r->b->arena;
	do {
		const struct token *first = r->at;
		struct str name = {0};
		while (r->at->kind != TOK_EOF && !tok_is(r->at, ",") &&
		       !(name.n && r->at->before.n && tok_is_any(r->at, ends))) {
			name = str_printf(a, STR_FMT STR_FMT, STR_ARG(name), STR_ARG(r->at->text));
			r->at = r->at->next;
		}
		if (!name.n)
			return fail(r, "the name of a probe");
		if (!is_traced(r->b, str_last(name, ':')))
			diag_warning(r->b->diag, tok_at(first),
				     "#pragma track: no clause traces " STR_FMT, STR_ARG(name));
		map_add(a, ret, name);
	} while (accept_word(r, ","));
	return true;
}

/** state "{new}" and other actions of a record on its track. */
static bool parse_action(struct track_line *r, const char *const *actions, bool is_for_any,
			 struct json *j)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};
	struct str kind = r->at->text, name;
	if (!tok_is_any(r->at, actions))
		return fail(r, "state, begin, end, gone, slice or call");
	if (is_for_any && !str_eqz(kind, "gone"))
		return fail(r, "gone: only tracks that end may have any value, {*}");
	r->at = r->at->next;
	json_str(j, "kind", kind);
	if (str_eqz(kind, "end") || str_eqz(kind, "gone"))
		return true;
	if (!parse_text(r, &name))
		return false;
	if (str_contains(name, STR("{*}")))
		return fail(r, "the name of a field between { and }");
	json_str(j, "name", name);
	if (!str_eqz(kind, "slice"))
		return true;
	if (!accept_word(r, "lasting") || r->at->kind != TOK_IDENT)
		return fail(r, "lasting, a field, and its unit: lasting took us");
	json_str(j, "lasting", r->at->text);
	r->at = r->at->next;
	if (!tok_is_any(r->at, units))
		return fail(r, "ns, us, ms or s");
	json_str(j, "unit", r->at->text);
	r->at = r->at->next;
	return true;
}

static bool parse_line(struct track_line *r, struct json *j)
{
	static const char *const words[] = {"by",   "state", "begin", "end",
					    "gone", "slice", "call",  NULL};
	struct map probes = {0};
	struct str by = {0};
	if (!parse_probes(r, words, &probes) || (accept_word(r, "by") && !parse_text(r, &by)))
		return false;
	const struct token *actions = r->at;
	for (struct map_entry *e = NULL; (e = map_next(&probes, e));) {
		r->at = actions;
		do {
			json_open(j, NULL, '{');
			json_str(j, "probe", e->key);
			if (by.n)
				json_str(j, "by", by);
			if (!parse_action(r, words + 1, str_contains(by, STR("{*}")), j))
				return false;
			json_close(j, '}');
		} while (r->at->kind != TOK_EOF);
	}
	return true;
}

bool track_collect(struct bind *b)
{
	bool good = true;
	struct strbuf text = {0};
	struct json j = {.out = &text};
	json_open(&j, NULL, '[');
	for (size_t i = 0; i < b->found.pp->pragmas.n; i++) {
		const struct token *t = b->found.pp->pragmas.v[i].tokens;
		struct track_line r = {b, t->next};
		if (tok_is(t, "track"))
			good &= parse_line(&r, &j);
	}
	json_close(&j, ']');
	b->found.tracks = strbuf_take(&text, b->arena);
	return good;
}
