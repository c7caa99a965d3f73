// Clauses: which are written as one, what their predicates ask, and what BEGIN and END get.
#include "bind/filter.h"
#include "sema/table.h"
#include "check/check.h"
#include "emit/emit.h"
#include "emit/emit_priv.h"
#include "emit/join.h"
#include "lang/print.h"
#include "sema/strings.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"
#include "record/shape.h"

struct program_writer {
	struct emitter e;
	written_clauses clauses;
	const struct written *begin, *end; /**< the clauses that only are BEGIN and END; or NULL */
	/** `BEGIN, END { }`: those are taken out of it, to be clauses of their own. */
	const struct written *listed_begin, *listed_end;
};

// --- what BEGIN and END get ---

void clause_add_begin(struct emitter *e, struct str statements)
{
	e->begin = str_printf(e->arena, STR_FMT "%s" STR_FMT, STR_ARG(str_trim(statements)),
			      e->begin.n ? " " : "", STR_ARG(e->begin));
}

void clause_add_end(struct emitter *e, struct str statements)
{
	e->end = str_printf(e->arena, STR_FMT "%s" STR_FMT, STR_ARG(e->end), e->end.n ? " " : "",
			    STR_ARG(str_trim(statements)));
}

/** The first clause that is BEGIN (or END) and is written; @is_listed: it may have that in a list. NULL: there is none. */
static const struct written *find_clause(const struct program_writer *p, enum provider_when when,
					 bool is_listed)
{
	vec_each(const struct written, w, &p->clauses)
		if (!w->is_part && (is_listed || w->clause->attach.n == 1) &&
		    vec_any(const struct script_attach, at, &w->clause->attach,
			    at->provider->when == when))
			return w;
	return NULL;
}

// --- one clause ---

static size_t count_variables(const struct bind *b, const struct script_clause *c)
{
	const struct map *all = uses_variables(&b->found.uses, c);
	size_t n = 0;
	for (struct map_entry *m = NULL; (m = map_next(all, m));)
		n += (((struct used_name *)m->value)->does & (USE_SET | USE_ADD)) != 0;
	return n;
}

static void write_clause(struct program_writer *p, struct written *w)
{
	struct emitter *e = &p->e;
	const struct script_clause *c = w->clause;
	const struct node *n = c->node, *predicate = script_predicate(c);
	e->i = (size_t)(w - p->clauses.v);
	e->clause = e->b->found.clauses[e->i];
	e->body = n;
	e->names = w->names;
	e->good = true;
	e->n_variables = 0;
	e->n_kept = 0;
	e->in_body = false;
	bind_lookup_from(e->b, e->i);
	strings_find(e->b, c, &e->beside);
	if (n->kind != NODE_CLAUSE) {
		w->all = emit_written(e, n, emit_children(e, n, NULL));
		return;
	}
	e->n_variables = count_variables(e->b, c);
	if (predicate && predicate->child) {
		w->condition = emit(e, predicate->child, WANT_VALUE);
		w->predicate = emit_written(e, predicate, &w->condition);
	} else if (predicate) {
		struct text *t = text_new(e->arena, predicate->first->next, true);
		w->predicate = emit_whole(e, predicate);
		emit_until(e, t, predicate->first->next, predicate->last);
		w->condition = t->pieces ? t : NULL;
	}
	e->in_body = c->attach.n > 0;
	w->statements = emit_children(e, n->last_child, NULL);
	w->block = emit_written(e, n->last_child, w->statements);
}

// --- blocks of several ---

/** Where text of ours stands that is put beside @t: no line or comment of the template is before it. */
static const struct token *beside(struct emitter *e, const struct token *t)
{
	struct token *at = arena_new(e->arena, struct token);
	if (t)
		at->use = t->use;
	at->bol = !t;
	at->space = true;
	at->before = t ? STR(" ") : STR("");
	return at;
}

static void add_statements(struct emitter *e, struct text *to, const struct node *block,
			   struct str statements)
{
	if (statements.n)
		text_add(e->arena, to,
			 text_make(e->arena, beside(e, block->first), "%t", statements));
}

/**
 * `if (p) { s }` of /p/ and { s }. Without a predicate the condition is 1: a block by itself is no
 * statement before 0.22.
 */
static void add_if(struct emitter *e, struct text *to, const struct written *w)
{
	const struct token *at = beside(e, w->clause->node->last_child->first);
	text_add(e->arena, to,
		 w->condition ? text_make(e->arena, at, "if (%n) %n", w->condition, w->block)
			      : text_make(e->arena, at, "if (1) %n", w->block));
}

/** What stands between the braces of @w. */
static void add_inside(struct emitter *e, struct text *to, const struct written *w)
{
	const struct node *block = w->clause->node->last_child;
	const struct token *from = block->first->next;
	const struct text *const *t = w->statements;
	for (const struct node *c = block->child; c; c = c->next) {
		emit_until(e, to, from, c->first);
		text_add(e->arena, to, *t++);
		from = c->last->next;
	}
	emit_until(e, to, from, block->last);
}

/**
 * The last statement of a block may do without its semicolon; no other may, nor has one more than
 * it needs.
 */
static void end_statement(struct emitter *e, struct text *to, const struct written *w)
{
	const struct node *block = w->clause->node->last_child;
	const struct node *last = block->last_child, *value = last ? last->last_child : NULL;
	const struct text *const *t = w->statements;
	for (const struct node *c = block->child; c && c->next; c = c->next)
		t++;
	struct str text = last ? text_str(e->arena, *t) : STR("");
	// An assignment, of which 0.27 has some that end in a brace.
	bool is_set = value && (last->kind == NODE_LET || value->kind == NODE_ASSIGN);
	if (text.n && !str_has_suffix(text, STR(";")) &&
	    (is_set || !str_has_suffix(text, STR("}"))))
		text_add_words(e->arena, to, STR(";"));
}

static const struct text *write_block(struct emitter *e, const struct written *w, struct str begin,
				      struct str end)
{
	const struct node *block = w->clause->node->last_child;
	bool is_open = !w->condition; // its last statement may lack a semicolon
	struct str first = begin;
	if (join_early_end(w->clause) && end.n) {
		first = str_printf(e->arena, STR_FMT "%s" STR_FMT, STR_ARG(end), begin.n ? " " : "",
				   STR_ARG(begin));
		end = STR("");
	}
	struct text *t = text_new(e->arena, block->first, true);
	t->has_lines = true;
	text_add_tokens(e->arena, t, block->first, block->first, NULL);
	add_statements(e, t, block, first);
	if (w->condition)
		add_if(e, t, w);
	else
		add_inside(e, t, w);
	if (is_open && (w->next || end.n))
		end_statement(e, t, w);
	for (const struct written *part = w->next; part; part = part->next)
		add_if(e, t, part);
	add_statements(e, t, block, end);
	text_add_tokens(e->arena, t, block->last, block->last, NULL);
	return t;
}

// --- whole clauses ---

/** @w with its attach points, or (in their place) those of @attach. */
static const struct text *write_whole(struct emitter *e, const struct written *w,
				      const struct text *block, const struct text *predicate,
				      struct str attach)
{
	const struct script_clause *c = w->clause;
	const struct node *n = c->node;
	size_t k = 0;
	const char *tail = "";
	const struct text *none = made(e, n, "");
	if (w->test && predicate && w->condition)
		predicate = text_make(e->arena, script_predicate(c)->first, "/ %s && (%n)/",
				      w->test, w->condition);
	else if (w->test)
		tail = arena_printf(e->arena, " /%s/", w->test);
	if (attach.n)
		return made(e, n, "%t%s %n %n", attach, tail, predicate ? predicate : none, block);
	const struct text **children =
	    arena_array(e->arena, const struct text *, node_count(n) + 1);
	for (const struct node *a = n->child; a; a = a->next, k++) {
		if (a->kind == NODE_PREDICATE) {
			children[k] = predicate ? predicate : none;
		} else if (!a->next) {
			children[k] = block;
		} else {
			children[k] = emit_whole(e, a);
			if (a == c->attach.v[c->attach.n - 1].node && *tail)
				children[k] = made(e, a, "%n%s", children[k], tail);
		}
	}
	return emit_written(e, n, children);
}

/** The attach points of a list that are not taken out of it; false where all of them stay. */
static bool find_rest(const struct program_writer *p, const struct script_clause *c,
		      struct str *ret)
{
	struct join_list points = join_points(p->e.b, c), rest = {0};
	if (points.n != c->attach.n)
		return false;
	for (size_t k = 0; k < c->attach.n; k++) {
		enum provider_when when = c->attach.v[k].provider->when;
		if (!(p->listed_begin && when == WHEN_BEGIN) &&
		    !(p->listed_end && when == WHEN_END))
			vec_push(p->e.arena, &rest, points.v[k]);
	}
	*ret = str_join(p->e.arena, rest.v, rest.n, ", ");
	return rest.n < points.n;
}

static const struct text *write(struct program_writer *p, const struct written *w)
{
	static const struct text nothing;
	struct str rest = STR("");
	struct emitter *e = &p->e;
	const struct script_clause *c = w->clause;
	if (w->all)
		return w->all;
	if (w->is_part)
		return &nothing;
	struct str first = w == p->begin ? e->begin : STR(""),
		   last = w == p->end ? e->end : STR("");
	bool is_joined = w->next || first.n || last.n;
	e->names = w->names;
	const struct text *block = is_joined ? write_block(e, w, first, last) : w->block,
			  *all = NULL;
	const struct text *predicate = is_joined && w->condition ? NULL : w->predicate;
	if (c->attach.n > 1 && find_rest(p, c, &rest))
		return rest.n ? write_whole(e, w, block, predicate, rest)
			      : text_new(e->arena, c->node->first, false);
	if (!w->splits.n)
		return write_whole(e, w, block, predicate, STR(""));
	// Once for each attach point that another clause is for alone, and once for the rest.
	vec_each(const struct str, points, &w->splits) {
		const struct text *one = write_whole(e, w, block, predicate, *points);
		all = all ? made(e, c->node, "%n %n", all, one) : one;
	}
	return all;
}

// --- the program ---

/** Events count while the caller's gate is open (record/shape.h). */
static void find_gate(const struct bind *b)
{
	if (!b->given->shapes || !b->given->shapes->can_gate || !b->found.has_gate)
		return;
	b->given->shapes->has_gate = true;
	b->made->gate = arena_printf(b->arena, "%s > %d", b->given->shapes->gate, GATE_CLOSED);
}

/** What must hold in each clause: it is the target's event, and the gate is open. */
static bool find_tests(struct program_writer *p)
{
	const struct bind *b = p->e.b;
	bool good = true, has_filter = false, asks;
	vec_each(struct written, w, &p->clauses) {
		const char *gate = script_has_event(w->clause) ? b->made->gate : NULL;
		if (w->is_part)
			continue;
		good &= filter_find(b, b->found.clauses[w - p->clauses.v], &asks);
		has_filter |= asks;
		w->test = asks ? traced_test(b) : gate;
		if (asks && gate)
			w->test = arena_printf(b->arena, "%s && %s", w->test, gate);
	}
	return (!has_filter || filter_check(b)) && good;
}

static void find_maps(struct emitter *e)
{
	const struct bind *b = e->b;
	for (size_t i = 0; i < b->found.tables.n; i++)
		map_add(e->arena, &e->tables, b->found.tables.v[i].map);
	for (struct map_entry *m = NULL; (m = map_next(&b->found.uses.maps, m));)
		for (const struct use *u = uses_of_map(&b->found.uses, m->key); u; u = u->next)
			if (u->value && strings_is_read(u->value))
				map_add(e->arena, &e->holders, m->key);
}

/** For readers tables are on lines of their own. */
static bool has_lines(const struct emitter *e)
{
	return !e->makes_records && str_find(e->begin, '\n') < e->begin.n;
}

/** A BEGIN or END that the script has not by itself; @list: the clause that has it in a list, or NULL. */
static const struct text *write_made(struct emitter *e, bool is_end, const struct written *list)
{
	struct text *t = text_new(e->arena, beside(e, NULL), false);
	struct text *own = made(e, e->b->found.script.program, " ");
	bool is_many = !is_end && has_lines(e);
	bool is_first = !is_end || (list && join_early_end(list->clause));
	const struct text *added = made(e, e->b->found.script.program, is_many ? "\n\t%t" : " %t",
					is_end ? e->end : e->begin);
	if (list)
		add_if(e, own, list);
	text_add_words(e->arena, t, is_end ? STR("END {") : STR("BEGIN {"));
	text_add(e->arena, t, is_first || !list ? added : own);
	if (list)
		text_add(e->arena, t, is_first ? own : added);
	text_add_words(e->arena, t, is_many ? STR("\n}") : STR(" }"));
	return t;
}

/**
 * The first clause, behind a BEGIN that the script has not, which is before all others: bpftrace 0.23
 * wants to know a map's type before it is part of a key.
 */
static void add_behind_begin(struct program_writer *p, struct text *to, const struct node *clause,
			     const struct text *t)
{
	struct token lead = *clause->first;
	text_add_at(p->e.arena, to, write_made(&p->e, false, p->listed_begin), &lead);
	if (!lead.before.n && !has_lines(&p->e))
		lead.before = STR(" ");
	text_add_at(p->e.arena, to, t, &lead);
}

/** All of it, in the order of the template. */
static const struct text *write_program(struct program_writer *p, struct str family)
{
	struct emitter *e = &p->e;
	const struct node *n = e->b->found.script.program;
	bool are_single = !dialect_has_many_begins(e->b->given->version);
	p->begin = find_clause(p, WHEN_BEGIN, false);
	p->end = find_clause(p, WHEN_END, false);
	bool makes_begin = !p->begin && e->begin.n, makes_end = !p->end && e->end.n;
	if (makes_begin && are_single)
		p->listed_begin = find_clause(p, WHEN_BEGIN, true);
	if (makes_end && are_single)
		p->listed_end = find_clause(p, WHEN_END, true);
	struct text *t = text_new(e->arena, n->first, true);
	const struct token *from = n->first;
	const struct written *w = p->clauses.v, *last = w + p->clauses.n;
	for (const struct node *c = n->child; c; c = c->next) {
		e->names = NULL;
		emit_until(e, t, from, c->first);
		from = c->last->next;
		if (w == last || w->clause->node != c) {
			text_add(e->arena, t, emit_whole(e, c));
			continue;
		}
		const struct text *one = write(p, w);
		if (w++ == p->clauses.v && family.n)
			one = made(e, c, "%t %n", family, one);
		if (makes_begin && c->kind == NODE_CLAUSE && one->pieces) {
			add_behind_begin(p, t, c, one);
			makes_begin = false;
		} else {
			text_add(e->arena, t, one);
		}
	}
	e->names = NULL;
	emit_until(e, t, from, n->last->next);
	if (makes_begin)
		text_add(e->arena, t, write_made(e, false, p->listed_begin));
	if (makes_end)
		text_add(e->arena, t, write_made(e, true, p->listed_end));
	return t;
}

/** The strings of the program are as long as fits. */
static bool find_string_limit(const struct emitter *e)
{
	const struct bind *b = e->b;
	b->made->max_strlen = strings_limit(b, e->most_strings);
	if (b->given->shapes && b->made->printed_strlen < b->made->max_strlen)
		b->made->max_strlen = b->made->printed_strlen;
	return check_strings(b);
}

struct sink {
	struct program_sink to;
	bool is_behind; /**< definitions: on a line of its own */
};

static void put_token(void *ctx, const struct token *t, const struct token *of)
{
	struct sink *s = ctx;
	struct token copy = *t;
	copy.bol |= s->is_behind;
	s->is_behind = false;
	program_put(&s->to, &copy, of);
}

/** Definitions, and what stands below them. */
static bool print(struct emitter *e, const struct text *t)
{
	struct sink s = {.is_behind = false};
	struct token *before = NULL;
	tables_define(e, &before);
	if (!types_define(e, &before))
		return false;
	if (!e->b->made->program)
		return true;
	program_begin(&s.to, e->b->made->program, e->b->given->main);
	for (; before; before = before->next) {
		program_put(&s.to, before, before);
		s.is_behind = true;
	}
	text_print(t, put_token, &s);
	program_end(&s.to, NULL);
	return true;
}

bool emit_program(const struct bind *b)
{
	struct program_writer p = {.e = {.b = b,
					 .arena = b->arena,
					 .makes_records = b->given->shapes && !b->given->is_own}};
	struct emitter *e = &p.e;
	struct str family = STR(""), begin, end;
	bool good = true;
	find_gate(b);
	types_begin(e);
	e->variables = join_variables(b);
	if (!join_find(b, &e->variables, &p.clauses))
		return false;
	find_maps(e);
	key_find_all(e);
	if (e->makes_records)
		e->key = emit_new_variable(e, STR("$record_key"));
	vec_each(struct written, w, &p.clauses) {
		write_clause(&p, w);
		good &= e->good;
	}
	if (!good || !tables_add(e))
		return false;
	record_begin(e);
	if (b->made->gate)
		clause_add_begin(e,
				 str_printf(b->arena, "%s = (uint64)0;", b->given->shapes->gate));
	if (!find_tests(&p))
		return false;
	if (b->given->has_family &&
	    vec_any(const struct written, w, &p.clauses,
		    w->test && b->found.clauses[w - p.clauses.v]->has_user)) {
		traced_follow_family(b, &begin, &family, &end);
		clause_add_begin(e, begin);
		clause_add_end(e, end);
	}
	if (!find_string_limit(e))
		return false;
	b->made->needs_kernel_types = types_need_kernel(e);
	return print(e, write_program(&p, family));
}

struct str emit_new_variable(struct emitter *e, struct str name)
{
	return join_new_variable(e->arena, &e->variables, name);
}
