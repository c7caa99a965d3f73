// Names of enumerators for bpftrace alone: tables of them, and a number where one has no name.
//
// A map that lacks a key gives "": a state without a name would be printed as nothing. So in a
// printf() whose %s has a name of a table, `@target[arg1]` or `c ? @target[arg1] : "none"`, the number
// is printed when the name is missing. bpftrace cannot convert a number to a string; up to 0.23 its
// printf passes formats to C's, where %.0ld prints nothing for 0:
//
//	printf("%s%.0ld", @target[arg1], @target[arg1] == "" ? (int64)(arg1) : 0)
//
// From 0.24 on %.0ld prints "0", and the statement is written once for each case, under an if. So
// is a choice, in all versions: the kernel refuses 0.17's code for a choice of strings, and 0.23
// dies of conditional expressions three deep. A key whose value may differ when it is read again
// (memory, a clock, rand, n++) is kept in a variable.
#include "emit/emit_priv.h"
#include "lang/format.h"
#include "sema/arg_fact.h"
#include "sema/table.h"
#include "dialect/dialect.h"

#define MAX_CASES 32 // copies of one call

/** The value of a %s: a value, a name or a choice. */
struct shown {
	const struct node *node;
	const struct text *text; /**< of a value; NULL: a name or a choice */
	struct name_lookup name; /**< of a table, .. */
	const struct text *key, *read;
	bool is_steady; /**< .. whose key may be read again */
	const struct text *condition;
	struct shown *yes, *no; /**< of a choice */
};

/** An argument after the format. */
struct argument {
	struct shown is;
	struct conversion how; /**< its own; ends where the last one did when there is none */
	// In one of the cases:
	const struct text *now;
	const char *letters; /**< instead of the s of its %s */
};

/** A call that prints names. */
struct naming {
	struct emitter *e;
	const struct node *call;
	struct str format;
	VEC(struct argument) args;
	bool splits;	/**< missing names are a case of their own */
	unsigned level; /**< of nested cases */
};

// --- look-ups ---

bool name_find(struct emitter *e, const struct node *n, struct name_lookup *ret)
{
	if (node_is(n, NODE_CALL, "enum_name")) {
		ret->map = enumname_of_call(e->b, e->i, n);
		ret->key = ret->map.n ? n->child->next : NULL;
		e->good &= ret->map.n > 0;
		return ret->map.n > 0;
	}
	bool is_table = n->kind == NODE_MAP && n->name && map_get(&e->tables, n->name->text);
	// bpftrace refuses two keys.
	*ret = (struct name_lookup){is_table ? n->name->text : STR(""), n->child};
	bool is_lookup = is_table && n->child && !n->child->next;
	if (is_table && !is_lookup)
		map_add(e->arena, &e->tables_used, n->name->text);
	return is_lookup;
}

static const struct text *emit_key(struct emitter *e, const struct name_lookup *found)
{
	const struct node *was = e->in_key;
	e->in_key = NULL;
	const struct text *key = emit(e, found->key, WANT_VALUE);
	e->in_key = was;
	return number_of_bool(e, found->key, key);
}

static const struct text *read_table(struct emitter *e, const struct node *n, struct str map,
				     const struct text *key)
{
	struct text *t = n->kind == NODE_MAP ? emit_with_children(e, n, &key)
					     : text_format(e, n, "@%t[%n]", map, key);
	map_add(e->arena, &e->tables_used, map);
	e->n_strings += n->kind != NODE_MAP;
	t->needs_no_parens = true;
	return t;
}

static bool is_same(const struct node *a, const struct node *b)
{
	const struct token *t = a->first, *u = b->first;
	for (; str_eq(t->text, u->text); t = t->next, u = u->next)
		if (t == a->last || u == b->last)
			return t == a->last && u == b->last;
	return false;
}

/** `@count[@state[key]]`: all values without a name share the empty key. */
static void warn_of_key(struct emitter *e, const struct node *n, const struct name_lookup *name)
{
	struct diag_place at = tok_place(n->first);
	bool is_reported = false;
	for (const struct node *c = e->in_key->child; c; c = c->next)
		is_reported |= is_same(c, name->key); // the number is in the key, too
	// Or the script compares the name, also of a map that is a macro's parameter.
	for (const struct node *m = e->body; m && !is_reported; m = node_next(e->body, m))
		is_reported = m->kind == NODE_MAP && m->name && str_eq(m->name->text, name->map) &&
			      (node_operator(m->parent) & OP_EQUALITY);
	if (!is_reported)
		vec_push(e->arena, &e->unnamed, (struct unnamed_value){at, true});
}

const struct text *name_emit(struct emitter *e, const struct node *n,
			     const struct name_lookup *found)
{
	if (e->in_key)
		warn_of_key(e, n, found);
	return read_table(e, n, found->map, emit_key(e, found));
}

// --- printed values ---

/** The name that %s prints of the number @n; a choice may have one on each side. */
static bool find_number(struct emitter *e, const struct node *n, struct name_lookup *ret)
{
	struct ctype *t = arg_fact_enum(e->b, n->expr), *plain = ctype_strip(t);
	if (t)
		*ret = (struct name_lookup){
		    enumname_table(e->b, plain->name.n ? plain->name : t->name, t, n->first), n};
	return t != NULL;
}

/** Is @n, or one side of it, a name of a table or, with @is_shown, a number that has one? */
static bool is_name(struct emitter *e, const struct node *n, bool is_shown)
{
	struct name_lookup unused;
	n = node_ungrouped(n);
	if (n->kind == NODE_TERNARY && n->child->next->next &&
	    (is_name(e, n->child->next, is_shown) || is_name(e, n->last_child, is_shown)))
		return true;
	return (is_shown && arg_fact_enum(e->b, n->expr)) || node_is(n, NODE_CALL, "enum_name") ||
	       name_find(e, n, &unused);
}

bool name_is_in(struct emitter *e, const struct node *n)
{
	return is_name(e, n, true);
}

static void emit_shown(struct emitter *e, const struct node *n, struct shown *ret)
{
	n = node_ungrouped(n);
	*ret = (struct shown){.node = n};
	bool is_number = find_number(e, n, &ret->name);
	struct safe_word tag;
	if (is_number || name_find(e, n, &ret->name)) {
		const struct node *key = ret->name.key;
		ret->key = emit_key(e, &ret->name);
		if (tables_cast(e, &ret->name, &tag)) {
			ret->text = text_format(e, n, "(enum %t)%c", tag.s, ret->key);
			return;
		}
		map_add(e->arena, &e->tables_used, ret->name.map);
		ret->read = is_number ? text_format(e, n, "@%t[%n]", ret->name.map, ret->key)
				      : read_table(e, n, ret->name.map, ret->key);
		e->n_strings += is_number;
		ret->is_steady = expr_effect(key) == EFFECT_NONE;
	} else if (e->good && name_is_in(e, n)) {
		ret->condition = emit_null_test(e, n->child, emit(e, n->child, WANT_VALUE));
		ret->yes = arena_new(e->arena, struct shown);
		ret->no = arena_new(e->arena, struct shown);
		emit_shown(e, n->child->next, ret->yes);
		emit_shown(e, n->last_child, ret->no);
	} else {
		ret->text = emit(e, n, WANT_VALUE);
	}
}

static unsigned cases_of(const struct naming *p, const struct shown *s)
{
	if (s->yes)
		return cases_of(p, s->yes) + cases_of(p, s->no);
	return s->read && p->splits ? 2 : 1;
}

/** The format in one of the cases. */
static struct str case_format(const struct naming *p)
{
	struct strbuf format = {0};
	size_t done = 0;
	vec_each(const struct argument, arg, &p->args) {
		if (!arg->letters)
			continue;
		strbuf_adds(&format, str_slice(p->format, done, arg->how.end - 1 - done));
		strbuf_addz(&format, arg->letters);
		done = arg->how.end;
	}
	strbuf_adds(&format, str_from_offset(p->format, done));
	return since_format(p->e, p->call, strbuf_take(&format, p->e->arena));
}

/** For C's printf: the name, then the number if there is no name, else 0. */
#define NAME_AND_NUMBER "s%.0ld"

static struct text *name_and_number(const struct naming *p, const struct shown *s,
				    const struct text *name, const struct text *key)
{
	return text_format(p->e, s->node, "%n, %n == \"\" ? (int64)%c : 0", name, name, key);
}

/** Writes argument @i and those after it, in all cases. */
static const struct text *make_cases(struct naming *p, size_t i);

/** The cases in which argument @i is @now. */
static const struct text *make_with(struct naming *p, size_t i, const struct text *now,
				    const char *letters)
{
	p->args.v[i].now = now;
	p->args.v[i].letters = letters;
	return make_cases(p, i + 1);
}

/** The beginning of a line in a block, @level deep. */
static struct str new_line(unsigned level)
{
	static const char tabs[] = "\n\t\t\t\t\t\t\t";
	return str_slice(STR(tabs), 0, level + 2);
}

/** `if (TEST) { YES } else { NO }`; both sides were written one level deeper. */
static const struct text *write_if(const struct naming *p, const struct node *n,
				   const struct text *test, const struct text *yes,
				   const struct text *no)
{
	struct str in = new_line(p->level + 1), out = new_line(p->level);
	return text_format(p->e, n, "if (%n) {%t%n%t} else {%t%n%t}", test, in, yes, out, in, no,
			   out);
}

static const struct text *make_name(struct naming *p, size_t i, const struct shown *s)
{
	struct emitter *e = p->e;
	struct text *all = s->is_steady ? text_format(e, s->node, "") : NULL;
	const struct text *key = s->key, *name = s->read, *shown;
	if (!all) {
		struct str variable = emit_new_variable(e, STR("$key"));
		all = text_format(e, s->node, "%t = (int64)%c; ", variable, key);
		struct text *kept = text_format(e, s->node, "%t", variable);
		kept->needs_no_parens = true;
		key = kept;
		name = text_format(e, s->node, "@%t[%t]", s->name.map, variable);
	}
	if (p->splits) {
		p->level++;
		shown = make_with(p, i, text_format(e, s->node, "(int64)%c", key), "ld");
		const struct text *named = make_with(p, i, name, NULL);
		p->level--;
		shown =
		    write_if(p, s->node, text_format(e, s->node, "%n == \"\"", name), shown, named);
	} else {
		shown = make_with(p, i, name_and_number(p, s, name, key), NAME_AND_NUMBER);
	}
	text_add(e->arena, all, shown);
	return all;
}

static const struct text *make_shown(struct naming *p, size_t i, const struct shown *s)
{
	if (s->text)
		return make_with(p, i, s->text, NULL);
	if (s->read)
		return make_name(p, i, s);
	p->level++;
	const struct text *yes = make_shown(p, i, s->yes), *no = make_shown(p, i, s->no);
	p->level--;
	return write_if(p, s->node, s->condition, yes, no);
}

static const struct text *make_cases(struct naming *p, size_t i)
{
	if (i < p->args.n)
		return make_shown(p, i, &p->args.v[i].is);
	struct text *call =
	    text_format(p->e, p->call, "%t(%t", p->call->name->text, case_format(p));
	for (size_t k = 0; k < p->args.n; k++) {
		text_add_words(p->e->arena, call, STR(", "));
		text_add(p->e->arena, call, p->args.v[k].now);
	}
	text_add_words(p->e->arena, call, STR(");"));
	return call;
}

/** Fills in p->args; returns the number of cases, 0 if no name is read from a table. */
static unsigned read_arguments(struct naming *p, bool *is_simple)
{
	struct emitter *e = p->e;
	struct conversion how = {0};
	const struct node *format = format_find(p->call);
	unsigned cases = 0;
	for (const struct node *n = format->next; n; n = n->next) {
		bool is_string = format_next(p->format, &how) && how.letter == 's';
		struct argument arg = {.how = how};
		if (is_string)
			emit_shown(e, n, &arg.is);
		else
			arg.is.text = emit(e, n, WANT_VALUE);
		if (!arg.is.text) {
			*is_simple &= arg.is.read && arg.is.is_steady;
			cases = cases ? cases : 1;
			if (cases <= MAX_CASES)
				cases *= cases_of(p, &arg.is);
		}
		vec_push(e->arena, &p->args, arg);
	}
	return cases;
}

static bool prints_names(struct emitter *e, const struct node *call)
{
	struct conversion how = {0};
	const struct node *format = format_find(call);
	for (const struct node *n = format->next; n && format_next(node_text(format), &how);
	     n = n->next)
		if (how.letter == 's' && name_is_in(e, n))
			return true;
	return false;
}

/** One call: it has only names, whose keys can be read again. */
static const struct text *write_simple(struct naming *p)
{
	struct emitter *e = p->e;
	const struct text **children = arena_array(e->arena, const struct text *, p->args.n + 1);
	for (size_t i = 0; i < p->args.n; i++) {
		struct argument *arg = &p->args.v[i];
		const struct shown *s = &arg->is;
		arg->letters = s->text ? NULL : NAME_AND_NUMBER;
		children[i + 1] = s->text ? s->text : name_and_number(p, s, s->read, s->key);
	}
	children[0] = text_format(e, p->call->child, "%t", case_format(p));
	return emit_with_children(e, p->call, children);
}

const struct text *name_print(struct emitter *e, const struct node *call)
{
	struct naming p = {
	    .e = e, .call = call, .splits = dialect_has_own_printf(e->b->given->version)};
	bool is_simple = !p.splits;
	if (!prints_names(e, call))
		return NULL;
	p.format = emit_format(e, call, format_find(call));
	unsigned cases = read_arguments(&p, &is_simple);
	if (is_simple || !cases)
		return write_simple(&p);
	if (!e->print || e->print->value != call)
		e->good = diag_error(e->b->diag, tok_at(call->first),
				     "a call that prints an enumerator's name cannot be part of an "
				     "expression: make it a statement, inside an if");
	else if (cases > MAX_CASES)
		e->good =
		    diag_error(e->b->diag, tok_at(call->first),
			       "too many enumerator names in one call for bpftrace " DIALECT_FMT
			       ": use several calls",
			       DIALECT_ARG(e->b->given->version));
	if (!e->good)
		return NULL;
	e->print->is_done = true;
	return make_cases(&p, 0);
}

// --- copies ---

static bool looks_up(const struct node *n)
{
	return n->kind == NODE_MAP || node_is(n, NODE_CALL, "enum_name");
}

/**
 * `$name = @state[key];`: no number can replace a missing name in a variable. No warning if the script
 * compares it.
 */
void name_warn_of_copy(struct emitter *e, const struct node *value)
{
	struct diag_place at = tok_place(value->first);
	value = node_ungrouped(value);
	if (is_name(e, value, false) &&
	    !(value->kind == NODE_TERNARY && node_find(value->child, looks_up)))
		vec_push(e->arena, &e->unnamed, (struct unnamed_value){at, false});
}

void name_warn_of_unnamed(struct emitter *e)
{
	vec_each(const struct unnamed_value, kept, &e->unnamed) {
		if (kept->is_key)
			diag_finding(e->b->diag, "table", DIAG_WARNING, &kept->at,
				     "all values without an enumerator share the key \"\": add the "
				     "number to the key");
		else
			diag_finding(
			    e->b->diag, "table", DIAG_WARNING, &kept->at,
			    "values without an enumerator print as \"\" here: look the name "
			    "up in printf() itself to get the number");
	}
}
