#include "names/printcall_priv.h"

#include <string.h>

#include "bind/beginend.h"
#include "bind/join.h"
#include "lang/change.h"
#include "lang/print.h"
#include "lower/exprtype.h"
#include "lower/strings.h"
#include "out/dialect.h"

// --- calls ---

/** The next conversion; %rx and %rh have a letter more. */
static bool next_conversion(struct str format, struct conversion *c, struct str *letters)
{
	if (!format_next(format, c))
		return false;
	size_t at = c->end - 1;
	if (c->letter == 'r' && c->end < format.n && strchr("xh", format.p[c->end]))
		c->end++;
	*letters = str_slice(format, at, c->end - at);
	return true;
}

static bool shape_printf(struct printing *g)
{
	struct node *format = format_find(g->call);
	struct conversion c = {.end = 1};
	struct node *before = NULL;
	struct str text = format ? format->name->text : STR(""), letters;
	size_t done = 1, n = 0;
	if (!format || !str_has_suffix(text, STR("\"")))
		return false;
	for (struct node *arg = format->next; arg; arg = arg->next)
		n++;
	struct str body = str_slice(text, 0, text.n - 1);
	g->shape.fields = arena_array(g->arena, struct shape_field, n + 1);
	for (struct node *arg = format->next; arg; arg = arg->next) {
		struct shape_field *f = &g->shape.fields[g->shape.n_fields++];
		if (!next_conversion(body, &c, &letters))
			return false;
		*f = (struct shape_field){.letters = letters};
		printfield_convert(body, &c, arg->expr, f);
		if (!printfield_literal(g->arena, str_slice(body, done, c.at - done), true,
					&f->before) ||
		    !printfield_add(g, arg, f))
			return false;
		if (before)
			printfield_join(g, before, f - 1, arg, f);
		before = arg;
		done = c.end;
	}
	return !format_next(body, &c) &&
	       printfield_literal(g->arena, str_from_offset(body, done), true, &g->shape.after);
}

/** print(x) of a number, text or struct: `printf("%d\n", x)`. */
static bool shape_print(struct printing *g)
{
	struct node *value = g->call->child;
	g->shape.fields = arena_new(g->arena, struct shape_field);
	g->shape.n_fields = 1;
	g->shape.after = STR("\n");
	return value && !value->next && printfield_print(g, value, g->shape.fields);
}

static struct node *word(struct printing *g, const char *name)
{
	struct node *n = change_text(g->arena, g->call, "");
	change_leaf(g->arena, n, NODE_NAME, str_from(name));
	return n;
}

/** time("%H:%M:%S"): the time of the event, where bpftrace has that of its own reading. */
static bool shape_time(struct printing *g)
{
	struct node *format = g->call->child;
	struct str text = format ? node_text(format) : STR("");
	struct shape_field *f = arena_new(g->arena, struct shape_field);
	*f = (struct shape_field){
	    .name = STR("time"), .kind = FIELD_TIME, .letter = 's', .literal = STR("%H:%M:%S\n")};
	if (format &&
	    (format->kind != NODE_STRING || format->next ||
	     !printfield_literal(g->arena, str_slice(text, 1, text.n - 2), false, &f->literal)))
		return false;
	g->shape.fields = f;
	g->shape.n_fields = 1;
	vec_push(g->arena, &g->numbers, word(g, "nsecs"));
	return true;
}

/** What bpftrace prints itself gets a mark in front of it, which tells whose it is. */
static bool shape_mark(struct printing *g)
{
	static const char *const printers[] = {"print",	 "cat",	 "system", "join",
					       "printf", "time", NULL};
	const struct node *map = g->call->child;
	g->shape = (struct shape){.style = SHAPE_MARK, .probe = g->shape.probe};
	shape_count(g->p->b->shapes, &g->shape, &g->numbers.n, &g->texts.n); // the head
	g->structs.n = 0;
	if (tok_is(g->call->name, "print") && map && map->kind == NODE_MAP && map->name)
		g->shape.map = map->name->text;
	return g->p->b->shapes->has_head && tok_is_any(g->call->name, printers);
}

// --- records ---

/** "spdk:nvmf_tgt_state", "uprobe:main", "interval:s:1"; empty where a clause has several. */
static struct str probe_of(struct bind *b, const struct attach_clause *c)
{
	const struct script_clause *clause = c->clause;
	if (clause->attach.n != 1)
		return STR("");
	const struct script_attach *at = &clause->attach.v[0];
	if (c->probes.n == 1)
		return str_printf(b->arena, STR_FMT ":" STR_FMT,
				  STR_ARG(c->probes.v[0].probe->provider),
				  STR_ARG(c->probes.v[0].probe->name));
	struct str text = str_trim(print_text(b->arena, at->node));
	if (c->probes.n || str_find(text, '*') < text.n || str_find(text, '?') < text.n)
		return STR("");
	if (at->fields.n == 2 && provider_is_function(at->provider))
		return str_printf(b->arena, STR_FMT ":" STR_FMT, STR_ARG(at->kind),
				  STR_ARG(at->fields.v[at->fields.n - 1]));
	return text;
}

static bool is_begin_or_end(const struct script_clause *c)
{
	return c->attach.n == 1 && c->attach.v[0].provider->when >= WHEN_BEGIN;
}

static struct node *key_variable(struct printing *g)
{
	struct node *n = change_text(g->arena, g->call, "");
	change_leaf(g->arena, n, NODE_VARIABLE, g->p->key);
	return n;
}

/** The arguments in the order in which they travel, as children of the call and as its text. */
static struct node *write_call(struct printing *g, size_t number)
{
	const struct shapes *all = g->p->b->shapes;
	struct arena *a = g->arena;
	struct node *call = g->call, *format = change_text(a, call, ""), *args;
	struct strbuf text;
	strbuf_init(&text);
	strbuf_addc(&text, '"');
	shape_write_format(all, number, &text);
	strbuf_addc(&text, '"');
	change_leaf(a, format, NODE_STRING, strbuf_take(&text, a));
	call->child = call->last_child = NULL;
	change_append(call, format);
	for (size_t i = 0; i < g->numbers.n; i++)
		change_append(call, g->numbers.v[i]);
	change_append(call, key_variable(g));
	for (size_t i = 0; i < g->texts.n; i++) {
		change_append(call, g->texts.v[i]);
		change_append(call, key_variable(g));
	}
	args = change_text(a, call, "%n", format);
	for (struct node *n = format->next; n; n = n->next)
		args = change_text(a, call, "%n, %n", args, n);
	// Their addresses are lowered with the call, and read in front of it.
	for (size_t i = 0; i < g->structs.n; i++)
		change_append(call, g->structs.v[i]);
	return change_text(a, call, "printf(%n)", args);
}

static bool count_map(void *ctx, struct node *n, struct node *parent)
{
	(void)parent;
	*(unsigned *)ctx += n->kind == NODE_MAP;
	return true;
}

/** How long strings may be where all that is printed must fit on a small stack. */
static void limit_strings(const struct printing *g)
{
	struct bind *b = g->p->b;
	unsigned strings = 0, n_maps = 1;	// that of KEY
	node_walk(g->call, count_map, &n_maps); // each is looked up by a key that is there, too
	unsigned bytes = (unsigned)(g->numbers.n + g->p->n_variables + n_maps + 1) * 8;
	for (size_t i = 0; i < g->texts.n; i++) {
		unsigned n = strings_printed(g->texts.v[i]);
		strings += n;
		bytes += n ? 8 : 24; // KEY, and a name of 16 bytes
	}
	unsigned beside =
	    strings ? strings_beside(b->arena, b->clauses[g->p->clause].clause->node, g->call) : 0;
	strings += beside;
	bytes += beside * 16; // a literal that it is compared with
	unsigned n = dialect_printed_strlen(b->version, strings, bytes);
	// From 0.23 on there is room for as long a string as is read anywhere.
	if (strings && dialect_prints_from_stack(b->version) && n < b->printed_strlen)
		b->printed_strlen = n;
}

static void rename_call(struct arena *a, struct node *call)
{
	struct token *t = arena_new(a, struct token);
	*t = *call->name;
	t->text = STR("printf");
	call->name = t;
}

/** `$at = ADDRESS; ` for each struct, behind @before. */
static struct node *keep_addresses(struct printing *g, struct node *before)
{
	for (size_t i = 0; i < g->structs.n; i++) {
		struct node *n = g->structs.v[i];
		n->expr->gives_address = true;
		before = change_text(g->arena, g->p->statement, "%n%t = %n; ", before,
				     g->p->addresses.v[i], n);
	}
	return before;
}

/** The call, or for a mark a call in front of its statement, prints a record of this shape. */
static void record(struct printing *g)
{
	struct printer *p = g->p;
	struct shapes *all = p->b->shapes;
	struct arena *a = g->arena;
	struct node *before = change_text(a, p->statement, "");
	bool is_mark = g->shape.style == SHAPE_MARK;
	size_t number = all->list.n;
	limit_strings(g);
	// What is a part of an expression is not always called.
	g->shape.is_counted =
	    !is_mark && g->is_statement && !is_begin_or_end(p->b->clauses[p->clause].clause);
	vec_push(all->arena, &all->list, g->shape);
	if (g->shape.is_counted)
		before = change_text(a, p->statement, "%s[%u] = count(); ", all->counts,
				     (uint64_t)number);
	if (!p->has_key)
		before = change_text(a, p->statement, "%n%t = %s; ", before, p->key, all->key);
	p->has_key = true;
	before = keep_addresses(g, before);
	if (is_mark) {
		g->call = change_copy(a, g->call);
		before = change_text(a, p->statement, "%n%n; ", before, write_call(g, number));
	} else {
		change(a, g->call, "%n", write_call(g, number));
		rename_call(a, g->call);
	}
	change(a, p->statement, "%n%n", before, p->statement);
}

static void add_head(struct printing *g)
{
	static const char *const words[] = {"nsecs", "cpu", "pid", "tid"};
	if (!g->p->b->shapes->has_head)
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		vec_push(g->arena, &g->numbers, word(g, words[i]));
	vec_push(g->arena, &g->texts, word(g, "comm"));
	if (!g->shape.probe.n)
		vec_push(g->arena, &g->texts, word(g, "probe"));
}

static bool make_shape(struct printing *g)
{
	const struct token *name = g->call->name;
	add_head(g);
	return (tok_is(name, "printf") && shape_printf(g)) ||
	       (tok_is(name, "print") && shape_print(g)) ||
	       (tok_is(name, "time") && shape_time(g)) || shape_mark(g);
}

static bool is_print(struct node *n)
{
	static const char *const names[] = {"cat",    "join", "print", "printf",
					    "system", "time", NULL};
	n = node_ungrouped(n);
	return n->kind == NODE_TERNARY || (n->kind == NODE_CALL && tok_is_any(n->name, names));
}

/** @call as a statement of its own. */
static struct node *make_statement(struct arena *a, struct node *call)
{
	struct node *n = change_text(a, call, "%n;", call);
	n->kind = NODE_EXPRESSION;
	n->child = n->last_child = call;
	call->next = NULL;
	return n;
}

/** `c ? printf(x) : printf(y);` is `if (c) { printf(x); } else { printf(y); }`. */
static void make_if(struct arena *a, struct node *statement)
{
	struct node *choice = node_ungrouped(statement->child), *condition = choice->child;
	struct node *yes = choice->kind == NODE_TERNARY ? condition->next : NULL;
	struct node *no = yes ? yes->next : NULL;
	if (!no || (!is_print(yes) && !is_print(no)))
		return;
	yes = make_statement(a, node_ungrouped(yes));
	no = make_statement(a, node_ungrouped(no));
	change(a, statement, "if (%n) { %n } else { %n }", condition, yes, no);
	statement->kind = NODE_IF;
	statement->child = condition;
	condition->next = yes;
	yes->next = statement->last_child = no;
}

static bool visit(void *ctx, struct node *n, struct node *parent)
{
	struct printer *p = ctx;
	if (n->kind == NODE_EXPRESSION)
		make_if(p->b->arena, n);
	if (n->kind == NODE_EXPRESSION) {
		p->statement = n;
		p->has_key = false;
	}
	if (n->kind != NODE_CALL || !p->statement)
		return true;
	struct bind *b = p->b;
	struct printing g = {.p = p, .arena = b->arena, .call = n};
	g.is_statement = parent == p->statement;
	g.shape.probe = probe_of(b, &b->clauses[p->clause]);
	if (make_shape(&g))
		record(&g);
	return true;
}

static bool count_variable(void *ctx, struct node *n, struct node *parent)
{
	struct printer *p = ctx;
	bool is_set =
	    (n->kind == NODE_ASSIGN || n->kind == NODE_LET) && n->child->kind == NODE_VARIABLE;
	(void)parent;
	if (is_set && map_add(p->b->arena, &p->set, n->child->name->text))
		p->n_variables++;
	return true;
}

void printcall_rewrite(struct bind *b)
{
	struct printer p = {.b = b, .variables = join_variables(b)};
	if (!b->shapes || b->is_own)
		return;
	p.key = join_new_variable(b, &p.variables, STR("$record_key"));
	for (; p.clause < b->script.clauses.n; p.clause++) {
		struct script_clause *c = &b->script.clauses.v[p.clause];
		p.statement = NULL;
		p.n_variables = 0;
		p.set = (struct map){0};
		node_walk(c->node, count_variable, &p);
		if (c->attach.n)
			node_walk(c->node->last_child, visit, &p);
	}
}

void printcall_begin(struct bind *b)
{
	struct shapes *all = b->shapes;
	struct strbuf text;
	if (!all || all->list.n < 2)
		return;
	strbuf_init(&text);
	strbuf_addf(&text, " %s = (rand << 32) | rand; printf(\"", all->key);
	shape_write_format(all, 0, &text);
	strbuf_addf(&text, "\", %s);", all->key);
	all->first_count = dialect_misses_first_count(b->version);
	for (size_t i = 0; i < all->list.n; i++)
		if (all->first_count && all->list.v[i].is_counted)
			strbuf_addf(&text, " %s[%zu] = count();", all->counts, i);
	beginend_add_begin(b, strbuf_str(&text));
	strbuf_fini(&text);
}
