#include "template/template.h"

#include "bind/by_address.h"
#include "bind/attach.h"
#include "check/check.h"
#include "emit/emit.h"
#include "bind/marker.h"
#include "bind/namedarg.h"
#include "bind/namedvar.h"
#include "bind/optional.h"
#include "sema/table.h"
#include "lock/lock.h"
#include "sema/exprtype.h"
#include "sema/targettype.h"
#include "lang/change.h"
#include "dialect/dialect.h"

/** `scope target` or `scope host` */
static bool read_scope(struct bind *b, const struct token *t)
{
	if (tok_is(t, "host"))
		b->found.scope = BIND_HOST;
	else if (!tok_is(t, "target"))
		return diag_error(b->diag, tok_at(t), "#pragma scope: expected `target` or `host`");
	return true;
}

/** `require bpftrace >= 0.23` */
static bool check_required(const struct bind *b, const struct token *t)
{
	unsigned v = 0;
	if (!tok_is(t, "bpftrace") || !tok_is(t->next, ">=") ||
	    !dialect_parse(t->next->next->text, &v))
		return diag_error(b->diag, tok_at(t),
				  "#pragma require: expected `bpftrace >= 0.N`");
	return b->given->version >= v ||
	       diag_error(b->diag, tok_at(t),
			  "this script needs bpftrace " STR_FMT ", but this is " DIALECT_FMT,
			  STR_ARG(t->next->next->text), DIALECT_ARG(b->given->version));
}

/** `trigger PATTERN`: for --keep */
static bool read_trigger(struct bind *b, const struct token *t)
{
	struct strbuf pattern = {0};
	if (t->kind == TOK_EOF || b->found.trigger.n)
		return diag_error(b->diag, tok_at(t),
				  b->found.trigger.n ? "a second #pragma trigger"
						     : "#pragma trigger: expected a probe");
	for (; t->kind != TOK_EOF; t = t->next)
		strbuf_adds(&pattern, t->text);
	b->found.trigger = strbuf_take(&pattern, b->arena);
	return true;
}

/** `time since`: for the clauses of its file */
static bool read_time(struct bind *b, const struct pp_pragma *p)
{
	const struct token *t = p->tokens->next;
	if (!tok_is(t, "since") || t->next->kind != TOK_EOF)
		return diag_error(b->diag, tok_at(t), "#pragma time: expected `since`");
	vec_push(b->arena, &b->found.timed, p->loc.file);
	return true;
}

static bool read_pragmas(struct bind *b)
{
	const struct pp *pp = b->found.pp;
	bool good = true;
	for (size_t i = 0; i < pp->pragmas.n; i++) {
		const struct token *t = pp->pragmas.v[i].tokens;
		if (tok_is(t, "scope"))
			good &= read_scope(b, t->next);
		else if (tok_is(t, "require"))
			good &= check_required(b, t->next);
		else if (tok_is(t, "trigger"))
			good &= read_trigger(b, t->next);
		else if (tok_is(t, "time"))
			good &= read_time(b, &pp->pragmas.v[i]);
		else if (tok_is(t, "gate"))
			b->found.has_gate = true;
		if (tok_is(t, "gate") && t->next->kind != TOK_EOF)
			good =
			    diag_error(b->diag, tok_at(t->next), "#pragma gate takes no arguments");
	}
	return track_collect(b) && good;
}

/** Every clause is looked at, so that all mistakes are reported in one go. */
static bool bind_clauses(struct bind *b)
{
	struct attach_clause **clauses = b->found.clauses;
	bool good = check_words(b);
	good &= attach_add_files(b);
	attach_choose(b);
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		bool bound = attach_bind_clause(b, b->found.script.clauses.v[i], clauses[i]);
		clauses[i]->is_wrong = !bound || !namedarg_resolve(b, clauses[i]) ||
				       !namedvar_resolve(b, clauses[i]) ||
				       !check_arguments(b, clauses[i]);
		good &= !clauses[i]->is_wrong;
	}
	return good && optional_drop(b) && check_macros(b) && check_number(b) && check_reach(b) &&
	       check_switches(b) && by_address_finish(b);
}

/** Lines for bpftrace's clang stay where they are, but before the first clause: after it bpftrace accepts none. */
static void place_c_lines(const struct bind *b, struct pp *pp)
{
	struct token **link = &pp->out;
	for (size_t i = 0; i < pp->c_lines.n; i++) {
		struct token *line = pp->c_lines.v[i].directive;
		while (link != pp->c_lines.v[i].at && *link != b->found.script.after_c &&
		       (*link)->kind != TOK_EOF)
			link = &(*link)->next;
		// The next one may have been here, too.
		if (i + 1 < pp->c_lines.n && pp->c_lines.v[i + 1].at == link)
			pp->c_lines.v[i + 1].at = &line->next;
		line->next = *link;
		*link = line;
		link = &line->next;
	}
	change_first(b->found.script.program, pp->out);
}

/**
 * bpftrace (from 0.24 on) looks for `import "helpers.bt"` beside the script. The program that it is given lies in no
 * directory, so the path is written out in full.
 */
static void resolve_import(const struct bind *b, struct node *n)
{
	char path[PATH_MAX];
	struct token *name = n->first->next;
	if (n->kind != NODE_IMPORT || name->kind != TOK_STRING || !name->loc.file)
		return;
	struct str file = lex_string_value(b->arena, name);
	const char *beside = arena_printf(b->arena, STR_FMT "/" STR_FMT,
					  STR_ARG(name->loc.file->dir), STR_ARG(file));
	// What is not there is bpftrace's own (stdlib), or for it to miss.
	if (!file.n || file.p[0] == '/' || !realpath(beside, path))
		return;
	name->text = lex_quote(b->arena, str_copy(b->arena, str_from(path)));
	// bpftrace reads members and arguments wrongly in there as anywhere, and we cannot see where.
	if (b->given->files)
		diag_warning(b->diag, tok_at(name),
			     "macros of an imported file see no types of the target: use #include "
			     "to bring them in");
}

/** cpid and has_cpid, also written as calls: bpftrace has started no program, we have. */
static void replace_cpid(const struct bind *b, struct node *n)
{
	bool is_read = n->kind == NODE_NAME || (n->kind == NODE_CALL && !n->child);
	bool is_has = is_read && tok_is(n->name, "has_cpid");
	if (is_has)
		change_leaf(b->arena, n, NODE_NAME, STR("true"));
	else if (is_read && tok_is(n->name, "cpid"))
		change_leaf(b->arena, n, NODE_NUMBER,
			    str_printf(b->arena, "%d", b->given->proc->pid));
}

/** Moves the tokens of @n, which comes later, to *@to; returns the place after them. */
static struct token **move_node(const struct node *n, struct token **to)
{
	struct token **link = to;
	while (*link != n->first)
		link = &(*link)->next;
	*link = n->last->next;
	n->last->next = *to;
	*to = n->first;
	return &n->last->next;
}

/**
 * What a second script begins with: bpftrace takes C definitions, and one config block, in front of all clauses
 * only. True when something was moved.
 */
static bool move_heads(const struct script *s, struct pp *pp)
{
	const struct node *late_config = NULL;
	bool is_late = false, is_moved = false;
	unsigned n_configs = 0;
	struct token **to = &pp->out;
	while (*to != s->after_c && (*to)->kind != TOK_EOF)
		to = &(*to)->next;
	for (const struct node *n = s->program->child; n; n = n->next) {
		is_late |= n->kind == NODE_CLAUSE;
		n_configs += n->kind == NODE_CONFIG;
		if (is_late && n->kind == NODE_CONFIG)
			late_config = n;
		if (!is_late || n->kind != NODE_DEFINITION)
			continue;
		to = move_node(n, to);
		is_moved = true;
	}
	if (!late_config || n_configs > 1) // of two bpftrace reports the second one
		return is_moved;
	move_node(late_config, to);
	return true;
}

static bool lacks_brace(const struct token *t)
{
	long depth = 0;
	for (; t->kind != TOK_EOF; t = t->next)
		depth += tok_is(t, "{") - tok_is(t, "}");
	return depth < 0;
}

static bool bind_program(struct bind *b, struct pp *pp)
{
	b->found.pp = pp;
	if (!script_parse(b->arena, b->diag, pp->out, &b->found.script) ||
	    (move_heads(&b->found.script, pp) &&
	     !script_parse(b->arena, b->diag, pp->out, &b->found.script)) ||
	    !read_pragmas(b) || !optional_collect(b))
		return false;
	if (by_address_split(b, pp)) {
		b->diag->once = arena_new(b->arena, struct diag_once);
		b->diag->once->arena = b->arena;
		if (!script_parse(b->arena, b->diag, pp->out, &b->found.script))
			return false;
	}
	if (!b->found.script.clauses.n)
		return diag_error(b->diag, tok_at(pp->out),
				  lacks_brace(pp->out) ? "expected '{' after the attach point"
						       : "the script has no probes");
	place_c_lines(b, pp);
	struct node *program = b->found.script.program;
	for (struct node *n = program; n; n = node_next(program, n)) {
		resolve_import(b, n);
		if (b->given->is_started)
			replace_cpid(b, n);
	}
	b->found.clauses = arena_array(b->arena, struct attach_clause *, b->found.script.clauses.n);
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		b->found.clauses[i] = arena_new(b->arena, struct attach_clause);
	bool bound = bind_clauses(b); // if not, what is right so far is checked
	// The last that is written into the tree: from here on it is only read.
	bound = bound && marker_replace_all(b);
	uses_find(b->arena, &b->found.script, &b->found.uses);
	targettype_begin(b);
	if (!exprtype_find(b) || !table_find_all(b))
		return false;
	if (b->given->lock)
		lock_add_script(b);
	return (b->given->is_generated || check_script(b)) && bound && emit_program(b);
}

bool template_bind(struct bind *b, struct pp *pp)
{
	bool good = bind_program(b, pp);
	b->diag->once = NULL;
	if (!b->found.clauses)
		b->found.script.clauses.n = 0; // nothing is known of them
	targettype_end(b);
	return good;
}
