// printf(), print() and time() of a program that is run: they print records.
//
// Each becomes a printf() of raw values in the form of record/shape.h. Its shape has what record/ needs
// to make text or JSON of them: conversions, names of enumerators and functions, positions of values.
//
//	printf("%s %d\n", enum_name(state, args.s), pid);
//	@fired_9f3c[4] = count(); printf("@9f3c<4,%ld,%ld>\n", args.s, pid);
//
// A call that is not understood (a format that is no literal, a wrong number of values, the body of a
// macro) is left as it is, and printed by bpftrace.
#include "emit/record_priv.h"

#include "lang/print.h"
#include "sema/exprtype.h"
#include "dialect/dialect.h"

// --- calls ---

/** The next conversion; %rx and %rh have one letter more. */
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
	size_t done = 1;
	if (!format || !str_has_suffix(text, STR("\"")))
		return false;
	struct str body = str_slice(text, 0, text.n - 1);
	g->shape.fields = arena_array(g->arena, struct shape_field, node_count(g->call));
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

/** The fields of @n, a tuple's elements one by one; @text: what is between the last one and the next. */
static bool shape_value(struct printing *g, struct node *n, struct strbuf *text)
{
	struct node *in = node_ungrouped(n);
	bool good = true;
	if (in->kind != NODE_TUPLE) {
		struct shape_field *f = &g->shape.fields[g->shape.n_fields++];
		good = printfield_print(g, n, f);
		f->before = strbuf_take(text, g->arena);
		return good;
	}
	strbuf_addc(text, '(');
	for (struct node *c = in->child; c && good; c = c->next) {
		// bpftrace prints a tuple with a struct or an array in it itself.
		good = (!c->expr || c->expr->kind != EXPR_AGGREGATE) && shape_value(g, c, text);
		strbuf_addz(text, c->next ? ", " : ")");
	}
	return good;
}

/** print(x) of a number, text, struct or tuple: `printf("%d\n", x)`. */
static bool shape_print(struct printing *g)
{
	struct node *value = g->call->child;
	struct strbuf text = {0};
	size_t n = 0;
	for (const struct node *c = g->call; c; c = node_next(g->call, c))
		n++;
	g->shape.fields = arena_array(g->arena, struct shape_field, n);
	bool good = value && !value->next && shape_value(g, value, &text);
	strbuf_addc(&text, '\n');
	g->shape.after = strbuf_take(&text, g->arena);
	return good;
}

/** time("%H:%M:%S"): the time of the event; bpftrace prints the time at which it reads the event. */
static bool shape_time(struct printing *g)
{
	struct node *format = g->call->child;
	struct str text = format ? node_text(format) : STR("");
	struct shape_field *f = arena_new(g->arena, struct shape_field);
	*f = (struct shape_field){.name = STR("time"),
				  .value = {.how = VALUE_TIME, .literal = STR("%H:%M:%S\n")}};
	if (format && (format->kind != NODE_STRING || format->next ||
		       !printfield_literal(g->arena, str_slice(text, 1, text.n - 2), false,
					   &f->value.literal)))
		return false;
	g->shape.fields = f;
	g->shape.n_fields = 1;
	vec_push(g->arena, &g->numbers, (struct passed){.words = STR("nsecs")});
	return true;
}

/** Output of bpftrace itself: a mark before it identifies the call. */
static bool shape_mark(struct printing *g)
{
	const struct shapes *all = g->e->b->given->shapes;
	const struct node *map = g->call->child;
	g->shape = (struct shape){
	    .style = SHAPE_MARK, .probe = g->shape.probe, .has_since = g->shape.has_since};
	shape_count(all, &g->shape, &g->numbers.n, &g->texts.n); // the head
	g->structs.n = 0;
	if (tok_is(g->call->name, "print") && map && map->kind == NODE_MAP && map->name)
		g->shape.map = map->name->text;
	return (all->has_head || g->shape.has_since || (all->has_limit && !g->shape.map.n)) &&
	       vocabulary_word(node_text(g->call))->prints;
}

// --- records ---

/** "spdk:nvmf_tgt_state", "uprobe:main", "interval:s:1"; empty where a clause has several. */
static struct str probe_of(const struct bind *b, const struct attach_clause *c)
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
	if (c->probes.n || str_has(text, "*?"))
		return STR("");
	if (at->fields.n >= 2 && provider_is_function(at->provider))
		return str_printf(b->arena, STR_FMT ":" STR_FMT, STR_ARG(at->kind),
				  STR_ARG(script_attach_name(b->arena, at)));
	return text;
}

static void add_passed(struct printing *g, struct text *call, const struct passed *p)
{
	struct emitter *e = g->e;
	text_add_words(g->arena, call, STR(", "));
	if (!p->node)
		text_add_words(g->arena, call, p->words);
	else
		text_add(g->arena, call, emit(e, p->node, WANT_VALUE));
}

/** The printf() with its arguments in the order of record/shape.h. */
static struct text *write_call(struct printing *g, size_t number)
{
	struct arena *a = g->arena;
	struct text *call = text_format(g->e, g->call, "");
	struct passed key = {.words = g->e->key};
	struct strbuf text = {0};
	strbuf_addz(&text, "printf(\"");
	shape_write_format(g->e->b->given->shapes, number, &text);
	strbuf_addc(&text, '"');
	text_add_words(a, call, strbuf_take(&text, a));
	for (size_t i = 0; i < g->numbers.n; i++)
		add_passed(g, call, &g->numbers.v[i]);
	add_passed(g, call, &key);
	for (size_t i = 0; i < g->texts.n; i++) {
		add_passed(g, call, &g->texts.v[i]);
		add_passed(g, call, &key);
	}
	text_add_words(a, call, STR(")"));
	return call;
}

/** Limits strings where all that is printed must fit on a small stack. */
static void limit_strings(const struct printing *g)
{
	const struct bind *b = g->e->b;
	unsigned strings = 0, n_maps = 1; // that of KEY
	for (const struct node *n = g->call; n; n = node_next(g->call, n))
		n_maps += n->kind == NODE_MAP; // the key of each look-up is on the stack, too
	unsigned bytes = (unsigned)(g->numbers.n + g->e->n_variables + n_maps + 1) * 8;
	for (size_t i = 0; i < g->texts.n; i++) {
		unsigned n = strings_printed(g->texts.v[i].node);
		strings += n;
		bytes += n ? 8 : 24; // KEY, and a name of 16 bytes
	}
	unsigned beside = strings ? strings_beside(&g->e->beside, g->call) : 0;
	strings += beside;
	bytes += beside * 16; // a literal that it is compared with
	unsigned n = dialect_printed_strlen(b->given->version, strings, bytes);
	// From 0.23 on the longest string read anywhere always fits.
	if (strings && dialect_prints_from_stack(b->given->version) && n < b->made->printed_strlen)
		b->made->printed_strlen = n;
}

/** The call that prints a record of this shape; for a mark NULL: that call goes before the statement. */
static const struct text *write_record(struct printing *g)
{
	struct emitter *e = g->e;
	struct print_statement *p = e->print;
	struct shapes *all = e->b->given->shapes;
	bool is_mark = g->shape.style == SHAPE_MARK;
	size_t number = all->list.n;
	limit_strings(g);
	const struct script_clause *c = e->clause->clause;
	bool is_end = c->attach.n == 1 && c->attach.v[0].provider->when >= WHEN_BEGIN;
	// A part of an expression is not always evaluated.
	g->shape.is_counted = !is_mark && !is_end && p->value == g->call;
	g->shape.is_event = !is_end && !g->shape.map.n;
	vec_push(all->arena, &all->list, g->shape);
	if (g->shape.is_counted)
		text_add(
		    g->arena, p->before,
		    text_format(e, g->call, "%s[%u] = count(); ", all->counts, (uint64_t)number));
	if (!p->has_key)
		text_add(g->arena, p->before,
			 text_format(e, g->call, "%t = %s; ", e->key, all->key));
	p->has_key = true;
	for (size_t i = 0; i < g->structs.n; i++)
		text_add(g->arena, p->before,
			 text_format(g->e, g->structs.v[i], "%t = %n; ", g->e->at.v[i],
				     emit(g->e, g->structs.v[i], WANT_ADDRESS)));
	struct text *call = write_call(g, number);
	if (!is_mark)
		return call;
	text_add(g->arena, p->before, text_format(e, g->call, "%n; ", call));
	return NULL;
}

/** See record/shape.h. */
static void add_head(struct printing *g)
{
	const struct shapes *all = g->e->b->given->shapes;
	if (g->shape.has_since)
		vec_push(g->arena, &g->numbers, (struct passed){.words = STR("elapsed")});
	for (const struct head_number *n = head_numbers; n < head_numbers + HEAD_NUMBERS; n++)
		if (shape_has_number(all, &g->shape, n))
			vec_push(g->arena, &g->numbers,
				 (struct passed){.words = str_from(n->word)});
	if (!all->has_head)
		return;
	vec_push(g->arena, &g->texts, (struct passed){.words = STR("comm")});
	if (!g->shape.probe.n)
		vec_push(g->arena, &g->texts, (struct passed){.words = STR("probe")});
}

const struct text *record_emit(struct emitter *e, const struct node *call)
{
	struct printing g = {.e = e, .arena = e->arena, .call = call};
	g.shape.probe = probe_of(e->b, e->clause);
	g.shape.has_since = bind_prints_since(e->b, e->clause->clause);
	add_head(&g);
	const struct token *name = call->name;
	bool good = (tok_is(name, "printf") && shape_printf(&g)) ||
		    (tok_is(name, "print") && shape_print(&g)) ||
		    (tok_is(name, "time") && shape_time(&g)) || shape_mark(&g);
	return good ? write_record(&g) : NULL;
}

void record_begin(struct emitter *e)
{
	struct shapes *all = e->b->given->shapes;
	struct strbuf text = {0};
	if (!all || all->list.n < 2)
		return;
	strbuf_addf(&text, " %s = (rand << 32) | rand; printf(\"", all->key);
	shape_write_format(all, 0, &text);
	strbuf_addf(&text, "\", %s);", all->key);
	all->first_count = dialect_misses_first_count(e->b->given->version);
	// A loop: statements for 41 of them took a sixth of the time to compile nvmf.bt.
	const char *n = all->counts + 1;
	if (all->first_count)
		strbuf_addf(&text, " $%s = 0; while ($%s < %zu) { $%s++; %s[$%s] = count(); }", n,
			    n, all->list.n - 1, n, all->counts, n);
	clause_add_begin(e, strbuf_take(&text, e->arena));
}
