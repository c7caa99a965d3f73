#include "bind/by_address.h"

#include "bind/attach.h"
#include "bind/path.h"
#include "dialect/dialect.h"
#include "lang/change.h"
#include "probe/attachable.h"

struct splitter {
	const struct bind *b;
	const struct script_clause *clause;
	VEC(struct attach_match) matches;
	VEC(const struct script_attach *) points; /**< that have them */
	bool *is_gone;				  /**< attach points that have no other probe */
	struct token **end;			  /**< of what is written */
};

static void write_tokens(struct splitter *s, const struct token *first, const struct token *last)
{
	s->end = change_copy(s->b->arena, s->end, first, last);
}

static void write_token(struct splitter *s, const struct token *at, enum tok_kind kind,
			struct str text)
{
	struct token t = {.kind = kind, .text = text, .loc = at->loc, .use = at->use};
	t.attach = at->attach;
	write_tokens(s, &t, &t);
}

/** Predicate and block. */
static void write_rest(struct splitter *s)
{
	const struct script_clause *c = s->clause;
	const struct node *last = c->attach.v[c->attach.n - 1].node;
	write_tokens(s, last->last->next, c->node->last);
}

/** The same clause for a single probe; its file is named where another one has a probe of that name. */
static void write_by_address(struct splitter *s, const struct script_attach *at,
			     const struct attach_match *m)
{
	struct token **first = s->end;
	unsigned n_same = 0;
	vec_each(struct targetfile, tf, &s->b->given->files->list)
		n_same += path_means(tf, at->fields.v[0]) &&
			  sdt_find_named(targetfile_probes(s->b->given->files, tf),
					 m->probe->provider, m->probe->name);
	const struct str parts[] = {n_same > 1 ? m->file->path : at->fields.v[0],
				    m->probe->provider, m->probe->name};
	write_token(s, at->node->first, TOK_IDENT, at->kind);
	(*first)->bol = (*first)->space = true;
	(*first)->before = STR("\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		write_token(s, at->node->first, TOK_PUNCT, STR(":"));
		write_token(s, at->node->first, TOK_STRING, lex_quote(s->b->arena, parts[i]));
	}
	write_rest(s);
}

/** The clause for the probes that stay in it, if there are any. */
static void write_others(struct splitter *s)
{
	const struct script_clause *c = s->clause;
	bool is_first = true;
	for (size_t i = 0; i < c->attach.n; i++) {
		const struct node *n = c->attach.v[i].node;
		if (s->is_gone[i])
			continue;
		if (!is_first)
			write_token(s, n->first, TOK_PUNCT, STR(","));
		write_tokens(s, n->first, n->last);
		is_first = false;
	}
	if (!is_first)
		write_rest(s);
}

/** Finds the probes of one attach point. Are there others, or none?. */
static bool find_by_address(struct splitter *s, const struct script_attach *at)
{
	const struct bind *b = s->b;
	bool has_other = false;
	size_t n = s->matches.n;
	if (at->provider->place != PLACE_USDT || at->missing.n || at->fields.n < 2 ||
	    at->fields.n > 3)
		return true;
	for (struct attach_match m = {0}; attach_next(b, at, &m);) {
		if (!attach_is_by_address(b, &m) || attach_why_not(b, &m).n) {
			has_other = true;
			continue;
		}
		vec_push(b->arena, &s->matches, m);
		vec_push(b->arena, &s->points, at);
	}
	return has_other || s->matches.n == n;
}

/** Writes @c anew in place of *@link; false where it can stay as it is. */
static bool split_clause(const struct bind *b, const struct script_clause *c, struct token **link)
{
	struct splitter s = {.b = b, .clause = c, .end = link};
	struct token *after = c->node->last->next;
	const struct script_attach *at = c->attach.v;
	s.is_gone = arena_array(b->arena, bool, c->attach.n);
	for (size_t i = 0; i < c->attach.n; i++)
		s.is_gone[i] = !find_by_address(&s, &c->attach.v[i]);
	bool is_alone = c->attach.n == 1 && s.matches.n == 1 && s.is_gone[0];
	if (!s.matches.n || (is_alone && !str_contains(at->fields.v[at->fields.n - 1], STR("*"))))
		return false;
	write_others(&s);
	for (size_t i = 0; i < s.matches.n; i++)
		write_by_address(&s, s.points.v[i], &s.matches.v[i]);
	*s.end = after;
	return true;
}

bool by_address_split(const struct bind *b, struct pp *pp)
{
	struct bind silent = *b;
	struct token **link = &pp->out;
	bool is_changed = false;
	silent.diag = arena_new(b->arena, struct diag);
	if (!b->given->files || !dialect_has_libbpf_usdt(b->given->version) ||
	    !attach_add_files(&silent))
		return false;
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		while (c->attach.n && *link != c->node->first)
			link = &(*link)->next;
		is_changed |= c->attach.n && split_clause(&silent, c, link);
	}
	return is_changed;
}

// --- when all is bound ---

struct finish {
	struct bind *b;
	bool in_macro, good;
};

/** What a clause of uprobes has, and one of usdt has not. */
static void check_word(struct finish *f, const struct node *n)
{
	if (n->kind == NODE_NAME &&
	    (str_has_prefix(node_text(n), STR("sarg")) || tok_is(n->name, "func")))
		f->good = diag_error(f->b->diag, tok_at(n->first), "usdt probes have no " STR_FMT,
				     STR_ARG(node_text(n)));
	if (f->in_macro && (node_is(n, NODE_NAME, "probe") || node_is(n, NODE_NAME, "probetype")))
		f->good =
		    diag_error(f->b->diag, tok_at(n->first),
			       "btgen does not know " STR_FMT " in a macro: pass it as an argument",
			       STR_ARG(node_text(n)));
}

static void check_words(struct finish *f, const struct node *clause)
{
	for (const struct node *n = clause; n; n = node_next(clause, n))
		check_word(f, n);
}

static bool report_unsafe(struct finish *f, const struct token *t, struct str what)
{
	diag_error(f->b->diag, tok_at(t),
		   STR_FMT " cannot be used together with " STR_FMT ":" STR_FMT
			   ": bpftrace attaches to that with --unsafe only",
		   STR_ARG(what), STR_ARG(f->b->found.unsafe->provider),
		   STR_ARG(f->b->found.unsafe->name));
	return f->good = false;
}

/** --unsafe is for our attach points: what else it allows the script must not have, unless the user allows it, too. */
static void check_unsafe(struct finish *f)
{
	const struct script *s = &f->b->found.script;
	for (const struct node *n = s->program; n; n = node_next(s->program, n))
		if (n->kind == NODE_IMPORT)
			report_unsafe(f, n->first, STR("import"));
		else if (n->kind == NODE_CALL && vocabulary_word(n->name->text)->is_unsafe)
			report_unsafe(
			    f, n->first,
			    str_printf(f->b->arena, STR_FMT "()", STR_ARG(n->name->text)));
	for (size_t i = 0; i < s->clauses.n; i++)
		vec_each(const struct script_attach, at, &s->clauses.v[i]->attach) {
			struct str name = at->fields.n ? at->fields.v[at->fields.n - 1] : STR("");
			bool is_function = at->provider->place == PLACE_ENTRY ||
					   at->provider->place == PLACE_RETURN;
			if (is_function && (at->provider->memory == MEMORY_KERNEL ||
					    str_find(name, '+') < name.n ||
					    (name.n && isdigit((unsigned char)name.p[0]))))
				report_unsafe(f, at->node->first, name);
		}
}

/** As bpftrace would say it: "usdt:/usr/bin/app:app:global". */
static struct str name_of(const struct bind *b, const struct script_attach *at,
			  const struct sdt_probe *p)
{
	struct str path = str_from_offset(at->bound.v[0], str_find(at->bound.v[0], ':') + 1);
	path.n = (size_t)((const char *)memrchr(path.p, ':', path.n) - path.p);
	if (path.p[0] == '"')
		path = lex_string_value(b->arena, &(struct token){.text = path});
	return str_printf(b->arena, "%s:" STR_FMT ":" STR_FMT ":" STR_FMT, at->provider->name,
			  STR_ARG(path), STR_ARG(p->provider), STR_ARG(p->name));
}

bool by_address_finish(struct bind *b)
{
	struct finish f = {.b = b, .good = true};
	bool found = false;
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		struct attach_clause *c = b->found.clauses[i];
		if (c->probes.n != 1 || !attach_is_by_address(b, &c->probes.v[0]))
			continue;
		c->by_address = name_of(b, &c->clause->attach.v[0], c->probes.v[0].probe);
		check_words(&f, c->clause->node);
		found = true;
	}
	f.in_macro = true;
	for (size_t i = 0; found && i < b->found.script.clauses.n; i++)
		if (b->found.script.clauses.v[i]->node->kind != NODE_CLAUSE)
			check_words(&f, b->found.script.clauses.v[i]->node);
	if (b->found.unsafe && !b->given->is_unsafe)
		check_unsafe(&f);
	return f.good;
}
