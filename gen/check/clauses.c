// Clauses that are written twice, and what they are attached to.
#include "check/check_priv.h"

#include "lang/print.h"
#include "dialect/dialect.h"

static struct str text_of(struct checker *k, const struct node *n)
{
	return print_text(k->arena, n);
}

/** An event of it would run the clause twice; 0.21 to 0.23 do not even load the program. */
static void check_attach_points(struct checker *k, const struct script_clause *c)
{
	unsigned v = k->b->given->version;
	bool is_refused = dialect_refuses_same_probes(v);
	const char *refused =
	    arena_printf(k->arena, "bpftrace " DIALECT_FMT " cannot load that", DIALECT_ARG(v));
	struct map seen = {0};
	for (size_t i = 0; i < c->attach.n && c->attach.n > 1; i++) {
		const struct node *n = c->attach.v[i].node;
		if (map_add(k->arena, &seen, text_of(k, n)))
			continue;
		check_report_at(k, n->first, "duplicate", is_refused ? DIAG_ERROR : DIAG_WARNING,
				"duplicate probe in the list: %s",
				is_refused ? refused : "the clause would run twice");
		return;
	}
}

static struct str long_text(struct checker *k, const struct script_attach *at)
{
	return script_long_form(k->arena, at, text_of(k, at->node));
}

/** Of a clause that is for it alone, and no pattern. */
struct single {
	struct str text;
	const struct node *node;
};

struct singles {
	VEC(struct single) list; // sorted
};

static int compare_singles(const void *a, const void *b)
{
	const struct single *x = a, *y = b;
	int order = str_compare(x->text, y->text);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static void find_singles(struct checker *k, struct singles *ret)
{
	for (size_t i = 0; i < k->b->found.script.clauses.n; i++) {
		const struct script_clause *c = k->b->found.script.clauses.v[i];
		struct str text = c->attach.n == 1 ? long_text(k, &c->attach.v[0]) : STR("");
		if (text.n && !str_has(text, "*?"))
			vec_push(k->arena, &ret->list, (struct single){text, c->attach.v[0].node});
	}
	if (ret->list.n)
		qsort(ret->list.v, ret->list.n, sizeof(*ret->list.v), compare_singles);
}

/** One that @pattern has, too; or NULL. */
static const struct node *find_in_pattern(const struct singles *s, struct str pattern)
{
	size_t star = str_find(pattern, '*'), mark = str_find(pattern, '?');
	struct str start = str_slice(pattern, 0, star < mark ? star : mark);
	size_t lo = 0, hi = s->list.n; // the first one that is not less than what begins it
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (str_compare(s->list.v[mid].text, start) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->list.n && str_has_prefix(s->list.v[lo].text, start); lo++)
		if (str_glob(pattern, s->list.v[lo].text))
			return s->list.v[lo].node;
	return NULL;
}

/** Patterns that bpftrace is to resolve, and that cannot be written as a list: see emit/join.h. */
static void check_patterns(struct checker *k, const struct singles *s,
			   const struct script_clause *c)
{
	for (size_t i = 0; i < c->attach.n; i++) {
		const struct node *n = c->attach.v[i].node;
		struct str text = long_text(k, &c->attach.v[i]);
		const struct node *other = str_has(text, "*?") ? find_in_pattern(s, text) : NULL;
		if (!other)
			continue;
		check_report_at(
		    k, n->first, "duplicate", DIAG_ERROR,
		    "this pattern includes a probe that another clause names: bpftrace " DIALECT_FMT
		    " would run one clause for both; list the probes instead",
		    DIALECT_ARG(k->b->given->version));
		diag_note(k->b->diag, tok_at(other->first), "the other one is here");
		return;
	}
}

/** Word for word the same as one before it: @seen has those by their text. */
static void check_clause(struct checker *k, struct map *seen, const struct node *n)
{
	struct str text = text_of(k, n);
	const struct node *before = map_get(seen, text);
	if (!before) {
		map_put(k->arena, seen, text, (void *)n);
		return;
	}
	check_report_at(k, n->first, "duplicate", DIAG_WARNING,
			"duplicate clause: both run for each event");
	diag_note(k->b->diag, tok_at(before->first), "the first one is here");
}

static bool selects_process(const struct node *n)
{
	bool is_member =
	    n->kind == NODE_MEMBER && // args->prev_pid, args->comm
	    (str_contains(node_text(n), STR("pid")) || str_contains(node_text(n), STR("comm")));
	return n->kind == NODE_OPAQUE || n->kind == NODE_PREDICATE || n->kind == NODE_IF ||
	       n->kind == NODE_TERNARY || is_member ||
	       ((n->kind == NODE_NAME || n->kind == NODE_CALL) &&
		vocabulary_word(node_text(n))->of_process);
}

bool check_tells_processes(const struct script_clause *c)
{
	return node_find(c->node, selects_process);
}

/** Interrupts come while any process runs, and completions with them. */
static bool is_interrupt(const struct script_attach *at)
{
	static const char *const groups[] = {"irq", "napi", NULL};
	static const char *const names[] = {"block_rq_complete", "block_bio_complete",
					    "nvme_complete_rq", NULL};
	return at->provider->place == PLACE_TRACEPOINT && at->fields.n == 2 &&
	       (str_is_any(at->fields.v[0], groups) || str_is_any(at->fields.v[1], names));
}

/**
 * A script that is for one process, and -p: up to 0.23 it keeps nothing of the kernel's to the
 * process (measured with tracepoint, profile, software and iter), from 0.24 on all. A watchpoint
 * is set for the process of -p, or for every one.
 */
static void check_scope(struct checker *k, const struct script_clause *c)
{
	const struct bind *b = k->b;
	bool has_pid = b->found.scope == BIND_BY_PID,
	     is_filtered = has_pid && dialect_filters_kernel(b->given->version);
	if (!b->given->proc || b->found.scope == BIND_HOST || !c->attach.n)
		return;
	vec_each(const struct script_attach, at, &c->attach) {
		if (is_filtered && is_interrupt(at)) {
			check_report_at(k, at->node->first, "scope", DIAG_WARNING,
					"this fires in interrupts, in any process, and only those "
					"in process %d are traced: #pragma scope host traces all",
					b->given->proc->pid);
			return;
		}
		bool is_for_all = at->provider->whose == OF_MACHINE
				      ? !is_filtered
				      : at->provider->whose == OF_PROCESS && !has_pid;
		if (!is_for_all || !at->provider->name || check_tells_processes(c))
			continue;
		if (at->provider->when == WHEN_ONCE)
			check_report_at(
			    k, at->node->first, "scope", DIAG_WARNING,
			    "this covers the whole machine, not only process %d: test ctx, as in "
			    "/ctx->task->tgid == __PID__/, or write #pragma scope host",
			    b->given->proc->pid);
		else
			check_report_at(k, at->node->first, "scope", DIAG_WARNING,
					"this fires for every process: add /pid == __PID__/, or "
					"write #pragma scope host");
		return;
	}
}

void check_clauses(struct checker *k)
{
	struct map seen = {0};
	struct singles singles = {0};
	bool confuses_lists = dialect_confuses_lists(k->b->given->version);
	if (confuses_lists)
		find_singles(k, &singles);
	for (size_t i = 0; i < k->b->found.script.clauses.n; i++) {
		const struct script_clause *c = k->b->found.clauses[i]->clause;
		check_attach_points(k, c);
		if (confuses_lists)
			check_patterns(k, &singles, c);
		check_scope(k, c);
		if (c->attach.n)
			check_clause(k, &seen, c->node);
	}
}
