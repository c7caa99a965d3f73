#include "bind/optional.h"

#include "dialect/dialect.h"
#include "lang/change.h"

/**
 * Maps that nothing sets any more, because the clauses that did are left out. bpftrace refuses a program that reads or
 * clears a map which it never sets: so the uses of such maps in other clauses go as well. A clause whose predicate is
 * one goes, clear(), delete(), zero() and print() of one go, and loops over it; elsewhere it is 0, or "" for text.
 */
struct deadmap {
	struct uses uses; /**< of all clauses, also of those that are left out */
	struct map dead;  /**< name -> struct use: what set it */
};

static void deadmap_find(const struct bind *b, const bool *gone, struct deadmap *m)
{
	struct map out = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		if (gone[i])
			map_add_ptr(b->arena, &out, b->found.script.clauses.v[i]);
	m->dead = (struct map){0};
	for (struct map_entry *e = NULL; (e = map_next(&m->uses.maps, e));) {
		struct use *set = NULL;
		bool stays = false;
		for (struct use *u = ((struct used_name *)e->value)->first; u; u = u->next) {
			bool is_out = map_get_ptr(&out, u->clause);
			stays |= !is_out && (u->does & USE_MAY_SET);
			if (is_out && (u->does & USE_MAY_SET) && !set)
				set = u;
		}
		if (set && !stays)
			map_put(b->arena, &m->dead, e->key, set);
	}
}

/** What set the map @n, if it is one that nothing sets any more; or NULL. */
static const struct use *find_dead(const struct deadmap *m, const struct node *n)
{
	return n && n->kind == NODE_MAP ? map_get(&m->dead, n->name ? n->name->text : STR(""))
					: NULL;
}

/** A statement that is about nothing but such a map. */
static bool is_about(const struct deadmap *m, const struct node *n)
{
	const struct node *call = n->kind == NODE_EXPRESSION ? n->child : NULL;
	if (n->kind == NODE_FOR)
		return find_dead(m, n->child->next);
	return call && call->kind == NODE_CALL &&
	       (vocabulary_word(node_text(call))->does & ~USE_READ) && find_dead(m, call->child);
}

static void rewrite(const struct deadmap *dead, struct node *clause)
{
	for (struct node *n = clause; n; n = node_next(clause, n)) {
		const struct use *set = find_dead(dead, n);
		// What is never set reads as "" where the map would have held text, else as 0.
		const struct node *value = set ? set->value : NULL;
		bool text =
		    value &&
		    (value->kind == NODE_STRING ||
		     (value->name && vocabulary_word(value->name->text)->gives == GIVES_TEXT));
		if (is_about(dead, n))
			change_remove(n, n->first, n->last);
		else if (set)
			change_leaf(dead->uses.arena, n, text ? NODE_STRING : NODE_NUMBER,
				    text ? STR("\"\"") : STR("0"));
	}
}

// --- what is left out

/** The name that starts at @t, whose tokens (`nvmf_` `*`) have no blank between; *@end: the token after it. */
static struct str take_name(const struct bind *b, const struct token *t, const struct token **end)
{
	struct str name = t->text;
	for (t = t->next; t->kind != TOK_EOF && !t->space; t = t->next)
		name = str_printf(b->arena, STR_FMT STR_FMT, STR_ARG(name), STR_ARG(t->text));
	*end = t;
	return name;
}

/** Is this token of a config block @word? "warn" on all versions, and the bare word from 0.24 on; older ones report it. */
/** In any case: for bpftrace 0.23 to judge, which takes only lower case. */
static bool is_setting(const struct token *t, const char *word)
{
	struct str text = t->text;
	if (t->kind == TOK_STRING)
		text = str_slice(text, 1, text.n - 2);
	return text.n == strlen(word) && strncasecmp(text.p, word, text.n) == 0;
}

/** config = { missing_probes = "ignore" }: as in bpftrace, a script can do without any of them. */
static void collect_setting(struct bind *b)
{
	for (const struct node *n = b->found.script.program->child; n; n = n->next)
		for (const struct token *t = n->first; n->kind == NODE_CONFIG && t != n->last;
		     t = t->next) {
			if (!vocabulary_is_setting(t->text, "missing_probes") ||
			    !tok_is(t->next, "="))
				continue;
			const struct token *value = t->next->next;
			struct bind_optional o = {.is_quiet = is_setting(value, "ignore")};
			if (o.is_quiet || is_setting(value, "warn"))
				vec_push(b->arena, &b->found.optionals, o);
		}
}

bool optional_collect(struct bind *b)
{
	bool good = true;
	collect_setting(b);
	vec_each(const struct pp_pragma, p, &b->found.pp->pragmas) {
		if (!tok_is(p->tokens, "optional"))
			continue;
		struct bind_optional o = {.file = p->loc.file};
		const struct token *t = p->tokens->next;
		o.is_quiet = tok_is(t, "-") && tok_is(t->next, "q") && t->next->next->space;
		if (o.is_quiet)
			t = t->next->next;
		if (t->kind == TOK_EOF)
			vec_push(b->arena, &b->found.optionals, o);
		while (t->kind != TOK_EOF) {
			struct diag_place place = tok_place(t);
			o.name = take_name(b, t, &t);
			if (str_is_made_of(o.name, ALPHABET_NAME_PATTERN))
				vec_push(b->arena, &b->found.optionals, o);
			else
				good = diag_error(b->diag, &place,
						  "#pragma optional takes names of probes or "
						  "functions, separated by blanks");
		}
	}
	return good;
}

/** @is_quiet: and as one that most builds lack? */
static bool covers(const struct bind *b, const struct script_attach *at, struct str name,
		   bool is_quiet)
{
	return vec_any(const struct bind_optional, o, &b->found.optionals,
		       (!o->file || o->file == at->node->first->use.file) &&
			   o->is_quiet >= is_quiet && (!o->name.n || str_glob(o->name, name)));
}

bool optional_covers(const struct bind *b, const struct script_attach *at, struct str name)
{
	return covers(b, at, name, false);
}

bool optional_is_alternative(const struct bind *b, const struct script_clause *c,
			     const struct script_attach *at, struct str name)
{
	return covers(b, at, name, true) &&
	       vec_any(const struct script_attach, other, &c->attach, other < at && !other->absent);
}

/**
 * Removes an attach point with a comma: the one before it if an attach point stays there, else the one
 * after it.
 */
static void drop_attach(const struct script_attach *before, struct node *n)
{
	struct token *first = before ? before->node->last->next : n->first, *last = n->last;
	while (!before && last->next != n->next->first)
		last = last->next;
	change_remove(n, first, last);
}

/** Probes and functions that were left out, each once. */
static void add_name(const struct bind *b, struct map *names, const struct script_attach *at)
{
	map_add(b->arena, names, at->fields.v[at->fields.n - 1]);
}

/** "probe_a, probe_b" */
static const char *name_list(const struct bind *b, const struct map *names, size_t most)
{
	struct strbuf text = {0};
	size_t n = 0;
	for (struct map_entry *e = NULL; n < most && (e = map_next(names, e)); n++)
		strbuf_addf(&text, "%s" STR_FMT, n ? ", " : "", STR_ARG(e->key));
	if (n < names->n)
		strbuf_addf(&text, " and %zu more", names->n - n);
	const char *list = arena_printf(b->arena, STR_FMT, STR_ARG(strbuf_str(&text)));
	strbuf_fini(&text);
	return list;
}

/** Names of what was left out. */
struct left_out {
	struct map names, unattachable;
	struct map noted;   // those of `names` that the user hears of
	struct map waiting; // for maps that only those clauses set
	bool has_usdt;	    // in `noted`
};

/** Drops what is absent in @c; true when nothing is left of it. */
static bool drop_from_clause(const struct bind *b, struct script_clause *c, struct left_out *out)
{
	size_t kept = 0, absent = 0;
	for (size_t i = 0; i < c->attach.n; i++)
		absent += c->attach.v[i].absent;
	bool whole = absent > 0 && absent == c->attach.n;
	vec_each(const struct script_attach, at, &c->attach) {
		if (!at->absent) {
			c->attach.v[kept++] = *at;
			continue;
		}
		add_name(b, at->unattachable ? &out->unattachable : &out->names, at);
		if (!at->unattachable && !covers(b, at, at->fields.v[at->fields.n - 1], true)) {
			add_name(b, &out->noted, at);
			out->has_usdt |= at->provider->place == PLACE_USDT;
		}
		if (!whole)
			drop_attach(kept ? at - 1 : NULL, at->node);
	}
	if (!whole)
		c->attach.n = kept;
	return whole;
}

/**
 * Takes out the clauses that wait for a map which nothing sets any more; true when there were any.
 */
static bool drop_waiting(const struct bind *b, struct deadmap *dead, bool *gone, struct map *names)
{
	bool any = false;
	deadmap_find(b, gone, dead);
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		struct script_clause *c = b->found.script.clauses.v[i];
		const struct node *predicate = script_predicate(c);
		if (gone[i] || !predicate || !find_dead(dead, predicate->child))
			continue;
		for (size_t k = 0; k < c->attach.n; k++)
			add_name(b, names, &c->attach.v[k]);
		gone[i] = any = true;
	}
	return any;
}

/** What the clauses that stay say about maps of those that do not. */
static void settle_maps(const struct bind *b, bool *gone, struct map *names)
{
	struct deadmap dead;
	bool is_any = false;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		is_any |= gone[i];
	if (!is_any)
		return;
	uses_find(b->arena, &b->found.script, &dead.uses);
	while (drop_waiting(b, &dead, gone, names))
		;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		if (!gone[i])
			rewrite(&dead, b->found.script.clauses.v[i]->node);
}

/** Is a USDT probe left, as one of the C library is? */
static bool keeps_usdt(const struct bind *b)
{
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		if (vec_any(const struct script_attach, at, &c->attach,
			    at->provider->place == PLACE_USDT))
			return true;
	}
	return false;
}

/** The file that ends the program: others are included. */
static struct str script_name(const struct bind *b)
{
	struct str file = tok_place(b->found.script.program->last).file;
	return str_has_suffix(file, STR(".bt")) ? str_base(file) : STR("this script");
}

bool optional_drop(struct bind *b)
{
	struct left_out out = {0};
	bool *gone = arena_array(b->arena, bool, b->found.script.clauses.n);
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		gone[i] = drop_from_clause(b, b->found.script.clauses.v[i], &out);
	settle_maps(b, gone, &out.waiting);
	bind_remove_clauses(b, gone);
	size_t n_events = 0;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		n_events += script_has_event(b->found.script.clauses.v[i]);
	bool good = true;
	// Of a script that fits nothing here, a few names tell which one it is.
	if (out.names.n && !n_events) {
		b->given->files->n_missing++;
		good = diag_error(b->diag, NULL, "%s has none of the probes of " STR_FMT ": %s",
				  bind_target_name(b), STR_ARG(script_name(b)),
				  name_list(b, &out.names, 4));
		bind_note_no_probes(b);
	} else if (out.unattachable.n && !n_events) {
		good = diag_error(
		    b->diag, NULL,
		    "bpftrace " DIALECT_FMT " can attach to none of the probes of this script, "
		    "all of which are optional: %s",
		    DIALECT_ARG(b->given->version), name_list(b, &out.unattachable, 4));
	} else if (out.noted.n) {
		diag_note(b->diag, NULL, "skipped, not in %s: %s", bind_target_name(b),
			  name_list(b, &out.noted, SIZE_MAX));
		if (out.has_usdt && !keeps_usdt(b))
			bind_note_no_probes(b);
	}
	if (good && out.waiting.n)
		diag_note(b->diag, NULL,
			  "also skipped (they depend on maps that only those clauses set): %s",
			  name_list(b, &out.waiting, SIZE_MAX));
	return good;
}
