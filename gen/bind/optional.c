#include "bind/optional.h"

#include "bind/edit.h"
#include "bind/unset.h"

/** The name that starts at @t, whose tokens (`nvmf_` `*`) have no blank between; the token behind it in @end. */
static struct str take_name(struct bind *b, const struct token *t, const struct token **end)
{
	const struct token *last = t;
	while (last->next->kind != TOK_EOF && !last->next->space)
		last = last->next;
	*end = last->next;
	return edit_text(b->arena, t, last);
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			       (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
		if (!is_word && c != '*' && c != '?' && c != '.' && c != '$')
			return false;
	}
	return s.n > 0;
}

bool optional_collect(struct bind *b, const struct pp *pp)
{
	bool good = true;
	for (size_t i = 0; i < pp->pragmas.n; i++) {
		const struct pp_pragma *p = &pp->pragmas.v[i];
		if (!tok_is(p->tokens, "optional"))
			continue;
		struct bind_optional o = {.file = p->loc.file};
		const struct token *t = p->tokens->next;
		if (t->kind == TOK_EOF)
			vec_push(b->arena, &b->optionals, o);
		while (t->kind != TOK_EOF) {
			struct diag_place place = tok_place(t);
			o.name = take_name(b, t, &t);
			if (is_name(o.name))
				vec_push(b->arena, &b->optionals, o);
			else
				good = diag_error(b->diag, &place,
						  "#pragma optional takes names of probes or "
						  "functions, with blanks between");
		}
	}
	return good;
}

bool optional_covers(const struct bind *b, const struct script_attach *at, struct str name)
{
	for (size_t i = 0; i < b->optionals.n; i++) {
		const struct bind_optional *o = &b->optionals.v[i];
		if (o->file == at->range.first->use.file && (!o->name.n || str_glob(o->name, name)))
			return true;
	}
	return false;
}

/** Takes attach point @i of @c, with one comma, out of @list; there are others. */
static void drop_attach(struct token **list, struct script_clause *c, size_t i)
{
	struct script_range r = c->attach.v[i].range;
	if (i + 1 < c->attach.n) {
		while (r.last->next != c->attach.v[i + 1].range.first)
			r.last = r.last->next;
	} else {
		r.first = c->attach.v[i - 1].range.last->next;
	}
	edit_remove(list, r);
	for (size_t k = i + 1; k < c->attach.n; k++)
		c->attach.v[k - 1] = c->attach.v[k];
	c->attach.n--;
}

/** Probes and functions that were left out, each once. */
static void add_name(struct bind *b, struct map *names, const struct script_attach *at)
{
	map_add(b->arena, names, at->fields.v[at->fields.n - 1]);
}

/** "probe_a, probe_b" */
static const char *name_list(struct bind *b, const struct map *names, size_t most)
{
	struct strbuf text;
	strbuf_init(&text);
	size_t n = 0;
	for (struct map_entry *e = NULL; n < most && (e = map_next(names, e)); n++)
		strbuf_addf(&text, "%s" STR_FMT, n ? ", " : "", STR_ARG(e->key));
	if (n < names->n)
		strbuf_addf(&text, " and %zu more", names->n - n);
	const char *list = arena_printf(b->arena, STR_FMT, STR_ARG(strbuf_str(&text)));
	strbuf_fini(&text);
	return list;
}

static struct script_range whole_clause(const struct script_clause *c)
{
	return (struct script_range){c->attach.v[0].range.first, c->body.last};
}

/** Drops what is absent in @c; true when nothing is left of it. */
static bool drop_from_clause(struct bind *b, struct token **list, struct script_clause *c,
			     struct map *names)
{
	size_t absent = 0;
	for (size_t i = 0; i < c->attach.n; i++)
		absent += c->attach.v[i].absent;
	bool whole = absent > 0 && absent == c->attach.n;
	for (size_t i = 0; i < c->attach.n;) {
		if (!c->attach.v[i].absent) {
			i++;
			continue;
		}
		add_name(b, names, &c->attach.v[i]);
		if (whole)
			i++;
		else
			drop_attach(list, c, i);
	}
	if (whole)
		edit_remove(list, whole_clause(c));
	return whole;
}

/** Does the clause wait for something, other than for time to pass? */
static bool is_event(const struct script_clause *c)
{
	for (size_t i = 0; i < c->attach.n; i++) {
		const struct provider *p = c->attach.v[i].provider;
		if (!p || (p->kind != PROVIDER_BEGIN && p->kind != PROVIDER_END &&
			   p->kind != PROVIDER_TIME))
			return true;
	}
	return false;
}

/** Takes out the clauses that wait for a map which nothing sets any more; true when there were any. */
static bool drop_waiting(struct bind *b, struct token **list, struct unset *unset, bool *gone,
			 struct map *names)
{
	bool any = false;
	unset->stay = (struct map){0};
	for (size_t i = 0; i < b->script.clauses.n; i++)
		if (!gone[i])
			unset_keep_clause(b, unset, &b->script.clauses.v[i]);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		struct script_clause *c = &b->script.clauses.v[i];
		if (gone[i] || !unset_is_awaited(unset, c))
			continue;
		for (size_t k = 0; k < c->attach.n; k++)
			add_name(b, names, &c->attach.v[k]);
		edit_remove(list, whole_clause(c));
		unset_add_clause(b, unset, c);
		gone[i] = any = true;
	}
	return any;
}

/** What the clauses that stay say about maps of those that do not. */
static void settle_maps(struct bind *b, struct token **list, bool *gone, struct map *names)
{
	struct unset unset = {0};
	for (size_t i = 0; i < b->script.clauses.n; i++)
		if (gone[i])
			unset_add_clause(b, &unset, &b->script.clauses.v[i]);
	if (!unset.names.n)
		return;
	while (drop_waiting(b, list, &unset, gone, names))
		;
	for (size_t i = 0; i < b->script.clauses.n; i++)
		if (!gone[i])
			unset_rewrite(b, &unset, list, &b->script.clauses.v[i]);
}

bool optional_drop(struct bind *b, struct token **list)
{
	struct map names = {0}, waiting = {0};
	bool *gone = arena_array(b->arena, bool, b->script.clauses.n);
	for (size_t i = 0; i < b->script.clauses.n; i++)
		gone[i] = drop_from_clause(b, list, &b->script.clauses.v[i], &names);
	settle_maps(b, list, gone, &waiting);
	size_t kept = 0, n_events = 0;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		if (gone[i])
			continue;
		n_events += is_event(&b->script.clauses.v[i]);
		b->script.clauses.v[kept] = b->script.clauses.v[i];
		b->clauses[kept] = b->clauses[i];
		b->clauses[kept].clause = &b->script.clauses.v[kept];
		kept++;
	}
	b->script.clauses.n = kept;
	bool good = true;
	// Of a script that fits nothing here, a few names tell which one it is.
	if (names.n && !n_events) {
		good = diag_error(b->diag, NULL,
				  "%s has none of the probes of this script, all of which are "
				  "optional: %s",
				  bind_target_name(b), name_list(b, &names, 4));
		bind_note_no_probes(b);
	} else if (names.n) {
		diag_note(b->diag, NULL, "left out, %s does not have them: %s", bind_target_name(b),
			  name_list(b, &names, SIZE_MAX));
	}
	if (good && waiting.n)
		diag_note(b->diag, NULL,
			  "left out with them, as nothing sets what they wait for: %s",
			  name_list(b, &waiting, SIZE_MAX));
	return good;
}
