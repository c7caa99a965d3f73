// `#pragma time since` for bpftrace alone: a printf() that begins a line of its clause prints the time, too.
//
//	$us = elapsed / (uint64)1000; printf("%lu.%06lu: opens %s\n", $us / (uint64)1000000, $us % (uint64)1000000, ...);
#include "emit/emit_priv.h"
#include "emit/record_priv.h"

static bool prints(const struct node *n)
{
	return n->kind == NODE_CALL && vocabulary_word(node_text(n))->prints;
}

/** May a line be open after @call, which prints? All but printf() and time() end theirs. */
static bool leaves_open(struct arena *a, const struct node *call, bool open)
{
	const struct node *format = call->child;
	struct str text;
	if (!format || (!tok_is(call->name, "printf") && !tok_is(call->name, "time")))
		return false;
	if (format->kind != NODE_STRING)
		return true;
	text = node_text(format);
	if (!printfield_literal(a, str_slice(text, 1, text.n - 2), false, &text))
		return true;
	return text.n ? !str_has_suffix(text, STR("\n")) : open;
}

static bool walk(struct emitter *e, const struct node *n, bool open);

/** if or ?: conditions, each with what is run then; without a last one of no condition, maybe nothing is. */
static bool walk_choice(struct emitter *e, const struct node *n, bool open)
{
	unsigned count = node_count(n), i = 0;
	bool after = count % 2 == 0 && open;
	for (const struct node *c = n->child; c; c = c->next, i++)
		if (i % 2 || i + 1 == count)
			after |= walk(e, c, open);
	return after;
}

/** May a line be open after @n, if one may be @open before it? */
static bool walk(struct emitter *e, const struct node *n, bool open)
{
	if (prints(n)) {
		if (!open && tok_is(n->name, "printf") && n->child &&
		    n->child->kind == NODE_STRING && !str_eqz(node_text(n->child), "\"\""))
			map_add_ptr(e->arena, &e->line_starts, n);
		return leaves_open(e->arena, n, open);
	}
	if (n->kind == NODE_IF || n->kind == NODE_TERNARY)
		return walk_choice(e, n, open);
	bool is_loop = n->kind == NODE_WHILE || n->kind == NODE_FOR;
	// A loop's end comes before its beginning.
	for (const struct node *c = is_loop ? n->child : NULL; c && !open; c = node_next(n, c))
		open = prints(c) && leaves_open(e->arena, c, false);
	for (const struct node *c = n->child; c; c = c->next)
		open = walk(e, c, open);
	return open;
}

void since_find(struct emitter *e, const struct script_clause *c)
{
	if (!e->makes_records && bind_prints_since(e->b, c))
		walk(e, c->node, false);
}

struct str since_format(struct emitter *e, const struct node *call, struct str format)
{
	struct print_statement *p = e->print;
	if (!p || !map_get_ptr(&e->line_starts, call))
		return format;
	if (!e->since.n)
		e->since = emit_new_variable(e, STR("$us"));
	if (!p->has_since)
		text_add(e->arena, p->before,
			 text_format(e, call, "%t = elapsed / (uint64)1000; ", e->since));
	p->has_since = true;
	return str_printf(e->arena,
			  "\"%%lu.%%06lu: " STR_FMT ", " STR_FMT " / (uint64)1000000, " STR_FMT
			  " %% (uint64)1000000",
			  STR_ARG(str_from_offset(format, 1)), STR_ARG(e->since),
			  STR_ARG(e->since));
}
