// Clauses: which are written as one, their predicates, and what is added to BEGIN and END.
#include "bind/filter.h"
#include "sema/table.h"
#include "check/check.h"
#include "emit/emit.h"
#include "emit/emit_priv.h"
#include "emit/join.h"
#include "lang/print.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"
#include "record/shape.h"

struct program_writer {
	struct emitter e;
	written_clauses clauses;
	const struct written *begin, *end; /**< the clauses of BEGIN and END alone; or NULL */
	/** `BEGIN, END { }`: both become clauses of their own. */
	const struct written *listed_begin, *listed_end;
};

// --- additions to BEGIN and END ---

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

/** The first clause written for BEGIN (or END); @is_listed: also one that has it in a list. NULL: there is none. */
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

/**
 * Else it may be a pointer: a predicate may be one, but up to 0.17 neither a condition of if() nor an
 * operand of &&, which it becomes.
 */
static bool is_number(const struct node *n)
{
	const struct ctype *t = n->expr ? ctype_strip(n->expr->type) : NULL;
	return n->expr && n->expr->kind == EXPR_NUMBER && (!t || t->kind != CTYPE_POINTER);
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
	since_find(e, c);
	if (n->kind != NODE_CLAUSE) {
		w->all = emit_with_children(e, n, emit_children(e, n, NULL));
		return;
	}
	e->n_variables = count_variables(e->b, c);
	if (predicate && predicate->child) {
		const struct text *t = emit(e, predicate->child, WANT_VALUE);
		w->predicate = emit_with_children(e, predicate, &t);
		w->condition = is_number(predicate->child)
				   ? t
				   : text_format(e, predicate->child, "(uint64)%c", t);
	} else if (predicate) {
		struct text *t = text_new(e->arena, predicate->first->next, true);
		w->predicate = emit_verbatim(e, predicate);
		emit_until(e, t, predicate->first->next, predicate->last);
		w->condition = t->pieces ? t : NULL;
	}
	e->in_body = c->attach.n > 0;
	w->statements = emit_children(e, n->last_child, NULL);
	w->block = emit_with_children(e, n->last_child, w->statements);
}

// --- blocks of several ---

/** The place of generated text beside @t: @t without the line and comments before it. */
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

/** Adds the statements of @w. */
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

/** Adds the semicolon that the last statement of a block may lack, and no second one. */
static void end_statement(struct emitter *e, struct text *to, const struct written *w)
{
	const struct node *block = w->clause->node->last_child;
	const struct node *last = block->last_child, *value = last ? last->last_child : NULL;
	const struct text *const *t = w->statements;
	for (const struct node *c = block->child; c && c->next; c = c->next)
		t++;
	struct str text = last ? text_str(e->arena, *t) : STR("");
	// In 0.27 an assignment may end in a brace.
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
	t->is_multiline = true;
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

/** @w with its attach points, or those of @attach. */
static const struct text *write_whole(struct emitter *e, const struct written *w,
				      const struct text *block, const struct text *predicate,
				      struct str attach)
{
	const struct script_clause *c = w->clause;
	const struct node *n = c->node;
	size_t k = 0;
	const char *tail = "";
	const struct text *none = text_format(e, n, "");
	if (w->test && predicate && w->condition)
		predicate = text_make(e->arena, script_predicate(c)->first, "/ %s && (%n)/",
				      w->test, w->condition);
	else if (w->test)
		tail = arena_printf(e->arena, " /%s/", w->test);
	if (attach.n)
		return text_format(e, n, "%t%s %n %n", attach, tail, predicate ? predicate : none,
				   block);
	const struct text **children =
	    arena_array(e->arena, const struct text *, node_count(n) + 1);
	for (const struct node *a = n->child; a; a = a->next, k++) {
		if (a->kind == NODE_PREDICATE) {
			children[k] = predicate ? predicate : none;
		} else if (!a->next) {
			children[k] = block;
		} else {
			children[k] = emit_verbatim(e, a);
			if (a == c->attach.v[c->attach.n - 1].node && *tail)
				children[k] = text_format(e, a, "%n%s", children[k], tail);
		}
	}
	return emit_with_children(e, n, children);
}

/** The attach points of a list that stay in it; false if all of them do. */
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

static const struct text *write_variants(struct program_writer *p, const struct written *w)
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
	// Once for each attach point that has a clause of its own elsewhere, and once for the rest.
	vec_each(const struct str, points, &w->splits) {
		const struct text *one = write_whole(e, w, block, predicate, *points);
		all = all ? text_format(e, c->node, "%n %n", all, one) : one;
	}
	return all;
}

// --- the program ---

/** When: of the provider of one of the attach points. */
static bool has_when(const struct script_clause *c, enum provider_when when)
{
	return vec_any(const struct script_attach, at, &c->attach, at->provider->when == when);
}

/**
 * Adds the gate (record/shape.h): #pragma gate opens it for all probes at once, and of any program btgen closes it
 * before bpftrace detaches. A clause of the end, too, would not run any more.
 */
static void add_gate(struct emitter *e)
{
	const struct bind *b = e->b;
	struct shapes *shapes = b->given->shapes;
	bool has_events = false, can_close = true;
	if (!shapes || !shapes->can_gate)
		return;
	vec_each(struct script_clause *const, c, &b->found.script.clauses) {
		bool has_event = script_has_event(*c);
		has_events |= has_event;
		can_close &= !has_when(*c, WHEN_END) || (!has_event && !has_when(*c, WHEN_TIMER));
	}
	shapes->has_gate = b->found.has_gate || (has_events && can_close);
}

/** What lets an event of @c count; NULL: nothing is asked. */
static const char *gate_test(const struct bind *b, const struct script_clause *c)
{
	bool has_event = script_has_event(c);
	if (!b->given->shapes || !b->given->shapes->has_gate ||
	    (!has_event && !has_when(c, WHEN_TIMER)))
		return NULL;
	return arena_printf(b->arena, "%s %s %d", b->given->shapes->gate,
			    has_event && b->found.has_gate ? ">" : "!=", GATE_CLOSED);
}

/** The test of each clause: the event is the target's, and the gate is open. */
static bool find_tests(struct program_writer *p)
{
	const struct bind *b = p->e.b;
	bool good = true, has_filter = false, asks;
	vec_each(struct written, w, &p->clauses) {
		const char *gate = gate_test(b, w->clause);
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
				map_add(e->arena, &e->string_maps, m->key);
}

/** For readers tables are on lines of their own. */
static bool puts_tables_on_lines(const struct emitter *e)
{
	return !e->makes_records && str_find(e->begin, '\n') < e->begin.n;
}

/** A generated BEGIN or END; @list: the clause that has it in a list, or NULL. */
static const struct text *write_made(struct emitter *e, bool is_end, const struct written *list)
{
	struct text *t = text_new(e->arena, beside(e, NULL), false);
	struct text *own = text_format(e, e->b->found.script.program, " ");
	bool is_many = !is_end && puts_tables_on_lines(e);
	bool is_first = !is_end || (list && join_early_end(list->clause));
	const struct text *added = text_format(
	    e, e->b->found.script.program, is_many ? "\n\t%t" : " %t", is_end ? e->end : e->begin);
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
 * Adds the first clause, after a generated BEGIN: bpftrace 0.23 must know a map's type before the map is
 * part of a key.
 */
static void add_after_begin(struct program_writer *p, struct text *to, const struct node *clause,
			    const struct text *t)
{
	struct token lead = *clause->first;
	text_add_at(p->e.arena, to, write_made(&p->e, false, p->listed_begin), &lead);
	if (!lead.before.n && !puts_tables_on_lines(&p->e))
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
			text_add(e->arena, t, emit_verbatim(e, c));
			continue;
		}
		const struct text *one = write_variants(p, w);
		if (w++ == p->clauses.v && family.n)
			one = text_format(e, c, "%t %n", family, one);
		if (makes_begin && c->kind == NODE_CLAUSE && one->pieces) {
			add_after_begin(p, t, c, one);
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

struct sink {
	struct program_sink to;
	bool is_after_definitions; /**< the next token starts a line */
};

static void put_token(void *ctx, const struct token *t, const struct token *of)
{
	struct sink *s = ctx;
	struct token copy = *t;
	copy.bol |= s->is_after_definitions;
	s->is_after_definitions = false;
	program_put(&s->to, &copy, of);
}

/** Prints the definitions and the program. */
static bool print_program(struct emitter *e, const struct text *t)
{
	struct sink s = {.is_after_definitions = false};
	struct token *before = NULL;
	tables_define(e, &before);
	if (!types_define(e, &before))
		return false;
	if (!e->b->made->program)
		return true;
	program_begin(&s.to, e->b->made->program, e->b->given->main);
	for (; before; before = before->next) {
		program_put(&s.to, before, before);
		s.is_after_definitions = true;
	}
	text_print(t, put_token, &s);
	program_end(&s.to, NULL);
	return true;
}

bool emit_program(const struct bind *b)
{
	struct program_writer p = {
	    .e = {.b = b,
		  .arena = b->arena,
		  .makes_records = b->given->shapes && !b->given->is_generated}};
	struct emitter *e = &p.e;
	struct str family = STR(""), begin, end;
	bool good = true;
	add_gate(e);
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
	if (b->given->shapes && b->given->shapes->has_gate)
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
	// The strings of the program are as long as fits.
	b->made->max_strlen = strings_limit(b, e->most_strings);
	if (b->given->shapes && b->made->printed_strlen < b->made->max_strlen)
		b->made->max_strlen = b->made->printed_strlen;
	if (!check_strings(b))
		return false;
	b->made->needs_kernel_types = types_need_kernel(e);
	return print_program(e, write_program(&p, family));
}

struct str emit_new_variable(struct emitter *e, struct str name)
{
	return join_new_variable(e->arena, &e->variables, name);
}
