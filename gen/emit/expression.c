#include "emit/emit.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "emit/emit_priv.h"
#include "lang/format.h"
#include "lang/print.h"
#include "lang/vocabulary.h"
#include "sema/strings.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"

enum { MAX_TEXT = 32768 }; // of one expression, which may stand several times in what it becomes

bool emit_fits(struct emitter *e, const struct node *n, const struct text *t)
{
	if (e->good && t->size > MAX_TEXT)
		e->good = diag_error(e->b->diag, tok_at(n->first),
				     "expression is too complex: move part of it into a variable");
	return e->good;
}

// --- as it is written ---

static bool is_tight(enum node_kind kind)
{
	switch (kind) {
	case NODE_NUMBER:
	case NODE_NAME:
	case NODE_VARIABLE:
	case NODE_CALL:
	case NODE_MEMBER:
	case NODE_INDEX:
	case NODE_CAST:
	case NODE_UNARY:
	case NODE_GROUP:
	case NODE_MAP:
		return true;
	default:
		return false;
	}
}

struct text *emit_whole(struct emitter *e, const struct node *n)
{
	struct text *t = text_new(e->arena, n->first, !n->is_changed);
	if (n->is_changed)
		text_add_words(e->arena, t, *n->text);
	else if (n->last)
		text_add_tokens(e->arena, t, n->first, n->last, e->names);
	t->is_whole = !n->is_changed;
	return t;
}

void emit_until(struct emitter *e, struct text *t, const struct token *from,
		const struct token *end)
{
	const struct token *last = from;
	if (from == end)
		return;
	while (last->next != end)
		last = last->next;
	text_add_tokens(e->arena, t, from, last, e->names);
}

/** What has no children: a word, a number. */
static struct text *emit_leaf(struct emitter *e, const struct node *n)
{
	struct text *t = emit_whole(e, n);
	t->held = number_held(e, n, NULL);
	t->is_truth = n->expr && n->expr->is_truth;
	t->is_tight = is_tight(n->kind);
	t->is_number = n->kind == NODE_NUMBER;
	return t;
}

struct text *emit_written(struct emitter *e, const struct node *n,
			  const struct text *const *children)
{
	bool is_whole = true;
	size_t i = 0;
	for (const struct node *c = n->child; c; c = c->next)
		is_whole &= children[i++]->is_whole;
	struct text *t =
	    is_whole || n->is_changed ? emit_whole(e, n) : text_new(e->arena, n->first, true);
	if (!is_whole && !n->is_changed) {
		const struct token *from = n->first, *end = n->last->next;
		i = 0;
		for (const struct node *c = n->child; c; c = c->next) {
			emit_until(e, t, from, c->first);
			text_add(e->arena, t, children[i++]);
			from = c->last->next;
		}
		emit_until(e, t, from, end);
	}
	bool is_inner = n->kind == NODE_GROUP || n->kind == NODE_COMPTIME;
	bool is_choice = n->kind == NODE_TERNARY && n->child->next->next;
	t->held = number_held(e, n, children);
	t->is_truth = is_inner	  ? children[0]->is_truth
		      : is_choice ? children[1]->is_truth && children[2]->is_truth
				  : n->expr && n->expr->is_truth;
	t->is_tight = is_tight(n->kind);
	t->has_lines = n->kind == NODE_BLOCK;
	return t;
}

const struct text **emit_children(struct emitter *e, const struct node *n,
				  enum want (*wants)(const struct emitter *e, const struct node *n,
						     const struct node *child))
{
	size_t i = 0;
	const struct text **children =
	    arena_array(e->arena, const struct text *, node_count(n) + 1);
	for (const struct node *c = n->child; c; c = c->next)
		children[i++] = emit(e, c, wants ? wants(e, n, c) : WANT_VALUE);
	return children;
}

/** What most nodes want of their children. */
static enum want wants(const struct emitter *e, const struct node *n, const struct node *child)
{
	bool is_first = n->child == child;
	switch (n->kind) {
	case NODE_MEMBER:
	case NODE_TUPLE:
	case NODE_LET:
		return WANT_POINTER;
	case NODE_INDEX:
		return is_first ? WANT_POINTER : WANT_VALUE;
	case NODE_TERNARY: // of one in it the number is enough
		return is_first			     ? WANT_VALUE
		       : child->kind == NODE_TERNARY ? WANT_ADDRESS
						     : WANT_POINTER;
	case NODE_ASSIGN:
		return is_first ? WANT_VALUE : WANT_POINTER;
	case NODE_UNARY:
		return tok_is(n->name, "*") ? WANT_POINTER : WANT_VALUE;
	case NODE_BINARY: // a pointer that is moved
		return node_operator(n) & OP_MOVE			      ? WANT_POINTER
		       : node_operator(n) & (OP_ORDER | OP_QUOTIENT | OP_SHR) ? WANT_SIGN
									      : WANT_VALUE;
	case NODE_CALL:
		return script_macro(&e->b->found.script, n) ? WANT_POINTER : WANT_VALUE;
	default:
		return WANT_VALUE;
	}
}

// --- pointers and structs ---

const struct text *emit_asked(struct emitter *e, const struct node *n, const struct text *t)
{
	const struct ctype *type = n->expr ? ctype_strip(n->expr->type) : NULL;
	bool is_named = node_is_named(n);
	// bpftrace has no ! of a pointer in any version, and 0.17 neither && and || nor a condition.
	if (!e->good || !e->b->given->files || !type || type->kind != CTYPE_POINTER || is_named)
		return t;
	struct text *asked = made(e, n, "(uint64)%c", t);
	asked->is_tight = true;
	asked->held = HELD_UNSIGNED;
	return asked;
}

/** Bit-fields: what bpftrace makes of those of a whole struct is out of our hands. */
static void warn_of_bits(struct emitter *e, const struct node *n, enum copied how)
{
	if (ctype_has_bitfields(n->expr->type))
		diag_finding(e->b->diag, "bitfield", DIAG_WARNING, tok_at(n->first),
			     "bpftrace %s the bitfields of a whole " STR_FMT
			     " wrong: name the members one by one",
			     how == IS_PRINTED ? "prints" : "keeps",
			     STR_ARG(ctype_spell(e->arena, ctype_strip(n->expr->type))));
}

/** A struct in a map that bpftrace prints. */
static void refuse_last_text(struct emitter *e, const struct node *n)
{
	unsigned v = e->b->given->version;
	const struct node *map = n->parent;
	while (map && map->kind != NODE_MAP && map->kind != NODE_ASSIGN && map->kind != NODE_CALL)
		map = map->parent;
	if (map && map->kind == NODE_ASSIGN)
		map = map->child;
	bool is_map = map && map->kind == NODE_MAP;
	if (!dialect_aborts_on_last_text(v) || !map || map->kind == NODE_VARIABLE ||
	    !ctype_ends_in_text(n->expr->type) ||
	    (is_map && map->name &&
	     (uses_do_with_map(&e->b->found.uses, map->name->text) & USE_CLEAR)))
		return;
	e->good &= diag_finding(e->b->diag, "limit", DIAG_ERROR, tok_at(n->first),
				"bpftrace " DIALECT_FMT " aborts when it prints a whole " STR_FMT
				", in which a string is last",
				DIALECT_ARG(v),
				STR_ARG(ctype_spell(e->arena, ctype_strip(n->expr->type))));
	diag_note(e->b->diag, NULL,
		  is_map ? "keep its members one by one, or clear() the map in END"
			 : "name its members one by one");
}

void emit_warn_of_copy(struct emitter *e, const struct node *n, enum copied how)
{
	unsigned v = e->b->given->version;
	if (!n->expr || !n->expr->type)
		return;
	warn_of_bits(e, n, how);
	refuse_last_text(e, n);
	if (how == IS_ELEMENT || dialect_prints_floats(v) || !ctype_has_floats(n->expr->type))
		return;
	struct str what = ctype_spell(e->arena, ctype_strip(n->expr->type));
	if (how == IS_PRINTED)
		e->good &=
		    diag_finding(e->b->diag, "floating-point", DIAG_ERROR, tok_at(n->first),
				 "bpftrace " DIALECT_FMT " cannot print a whole " STR_FMT
				 ", which has floating-point members: name the others one by one",
				 DIALECT_ARG(v), STR_ARG(what));
	else
		diag_finding(e->b->diag, "floating-point", DIAG_WARNING, tok_at(n->first),
			     "bpftrace " DIALECT_FMT " cannot print a whole " STR_FMT
			     ", which has floating-point members: clear() the map in END",
			     DIALECT_ARG(v), STR_ARG(what));
}

// --- choices, conditions and operators ---

/** A choice of pointers, of which bpftrace takes what comes for 0. */
static const struct text *choose_pointer(struct emitter *e, const struct node *n, enum want want,
					 const struct text **children)
{
	struct ctype *to = ctype_pointee(n->expr->type);
	struct str name = STR("");
	if (to && ctype_is_aggregate(to))
		name = types_pointer(e, n->expr->type);
	if (!name.n || !n->child->next->next || !e->good)
		return NULL;
	const struct text *choice =
	    number_sums_choice(e, n)
		? made(e, n, "((uint64)!!(%n) * (uint64)%c + (uint64)!(%n) * (uint64)%c)",
		       children[0], children[1], children[0], children[2])
		: made(e, n, "(%n ? (uint64)%c : (uint64)%c)", children[0], children[1],
		       children[2]);
	struct text *t =
	    want == WANT_ADDRESS ? made(e, n, "%n", choice) : made(e, n, "(%t)%n", name, choice);
	t->is_tight = true;
	emit_fits(e, n, t);
	return t;
}

static bool is_kept(const struct emitter *e, const struct node *n, unsigned depth);

/** Is what the name @n is assigned a key elsewhere? */
static bool name_is_kept(const struct emitter *e, const struct node *n, unsigned depth)
{
	enum { MOST_NAMES = 8 }; // one is assigned to another so many times, perhaps in a circle
	const struct use *u = depth < MOST_NAMES ? emit_uses(e, n) : NULL;
	while (u && (u->value || !is_kept(e, u->node, depth)))
		u = u->next;
	return u || depth == MOST_NAMES;
}

/** Is the text @n a key, or kept where it may become one? */
static bool is_kept(const struct emitter *e, const struct node *n, unsigned depth)
{
	const struct node *in = n->parent;
	for (; in && (in->kind == NODE_GROUP || (in->kind == NODE_TERNARY && in->child != n));
	     in = in->parent)
		n = in;
	if (!in || (in->kind != NODE_ASSIGN && in->kind != NODE_LET))
		return in &&
		       (in->kind == NODE_MAP || in->kind == NODE_TUPLE ||
			node_is(in, NODE_CALL, "delete") || node_is(in, NODE_CALL, "has_key"));
	return in->child != n && name_is_kept(e, in->child, depth + 1);
}

/** The statements in front of the one that @n is in; NULL after an error: nothing can be there. */
static struct text *before_statement(struct emitter *e, const struct node *n, const char *what)
{
	if (e->print)
		return e->print->before;
	unsigned v = e->b->given->version;
	e->good &= diag_finding(e->b->diag, "key", DIAG_ERROR, tok_at(n->first),
				"bpftrace " DIALECT_FMT " cannot use %s as a key here",
				DIALECT_ARG(v), what);
	diag_note(e->b->diag, NULL, "use an if inside of a clause instead");
	return NULL;
}

/** A text that is to be kept: as long as any other that it stands beside. */
static const char *empty_text(struct emitter *e)
{
	if (!dialect_reads_past_variables(e->b->given->version))
		return "\"\"";
	// The variable, and what it is copied to or from, stay on the stack.
	e->n_kept += 2;
	if (e->most_strings < e->n_kept + 1)
		e->most_strings = e->n_kept + 1;
	return "str(0)";
}

/** `$text = ""; if (c) { $text = x; } else { $text = y; }` in front of the statement, and $text. */
static const struct text *keep_choice(struct emitter *e, const struct node *n,
				      const struct text **children)
{
	struct text *before = before_statement(e, n, "a choice of strings");
	struct str name = emit_new_variable(e, STR("$text"));
	if (before)
		text_add(e->arena, before,
			 made(e, n, "%t = %s; if (%n) { %t = %n; } else { %t = %n; } ", name,
			      empty_text(e), children[0], name, children[1], name, children[2]));
	struct text *t = made(e, n, "%t", name);
	t->is_tight = true;
	return t;
}

/**
 * A variable that is the only key of a map and used elsewhere, too: a copy of it, for bpftrace uses its storage
 * for something else from there on.
 */
static const struct text *copy_key(struct emitter *e, const struct node *n, const struct text *t)
{
	const struct node *key = node_ungrouped(n);
	size_t reads = 0;
	if (!dialect_reads_past_variables(e->b->given->version) || key->kind != NODE_VARIABLE ||
	    n->next || n->parent->child != n || !key->expr ||
	    (key->expr->kind != EXPR_TEXT && key->expr->kind != EXPR_SHOWN))
		return t;
	for (const struct use *u = emit_uses(e, key); u; u = u->next)
		reads += !u->value;
	struct text *before = reads > 1 ? before_statement(e, n, "a variable") : NULL;
	if (!before)
		return t;
	struct str name = emit_new_variable(e, STR("$key"));
	if (key->expr->kind == EXPR_TEXT)
		text_add(e->arena, before, made(e, n, "%t = %s; ", name, empty_text(e)));
	text_add(e->arena, before, made(e, n, "%t = %n; ", name, t));
	return made(e, n, "%t", name);
}

static const struct text *emit_ternary(struct emitter *e, const struct node *n, enum want want)
{
	const struct text **children = emit_children(e, n, wants), *t = NULL;
	children[0] = emit_asked(e, n->child, children[0]);
	// A choice of words has buffers, which others have not.
	e->n_strings += n->child->next->kind == NODE_STRING;
	if (n->child->next->next)
		t = number_choice(e, n, children);
	if (!t)
		t = choose_pointer(e, n, want, children);
	if (!t && e->good && n->expr && n->expr->kind == EXPR_TEXT && n->child->next->next &&
	    dialect_leaves_texts_open(e->b->given->version) && is_kept(e, n, 0))
		t = keep_choice(e, n, children);
	return t ? t : emit_written(e, n, children);
}

/** `&x->m`: a pointer of its type, which is a number where no cast can name it. */
static const struct text *emit_address(struct emitter *e, const struct node *n)
{
	const struct text *at = emit(e, n->child, WANT_ADDRESS);
	struct str name = types_pointer(e, n->expr->type);
	struct text *t = name.n ? made(e, n, "((%t)(%n))", name, at) : made(e, n, "(%n)", at);
	t->is_tight = true;
	return t;
}

/** -x, x + y, x = y, (T)x */
static const struct text *emit_operator(struct emitter *e, const struct node *n)
{
	bool is_pair = node_operator(n) & OP_LOGIC;
	const struct text **children = emit_children(e, n, wants);
	if (is_pair || node_is(n, NODE_UNARY, "!"))
		children[0] = emit_asked(e, n->child, children[0]);
	if (is_pair)
		children[1] = emit_asked(e, n->child->next, children[1]);
	if (n->kind == NODE_ASSIGN && n->child->kind == NODE_MAP)
		emit_warn_of_copy(e, n->child->next, IS_KEPT);
	if (node_is(n, NODE_ASSIGN, "="))
		name_warn_of_copy(e, n->child->next);
	const struct text *t = e->good ? number_operator(e, n, children) : NULL;
	return t ? t : emit_written(e, n, children);
}

/** `let $s : enum state = x`: to bpftrace it is a number, with the sign that the type has. */
static const struct text *emit_let(struct emitter *e, const struct node *n)
{
	const struct node *type = n->child->next, *value = type ? type->next : NULL;
	const struct text **children = emit_children(e, n, wants);
	const struct ctype *t = ctype_strip(n->child->expr->type);
	struct targettype_name name;
	if (type)
		name_warn_of_copy(e, n->last_child);
	if (e->good && type && !value && type->kind != NODE_TYPE && type->kind != NODE_TYPEOF)
		children[1] = store_value(e, n->child, type, children[1]);
	bool is_cut =
	    e->b->given->files && store_is_integer(t) && dialect_mixes_signs(e->b->given->version);
	if (e->good && type && type->kind == NODE_TYPE && ctype_is_number(t) &&
	    targettype_read(e->arena, type, &name) && (is_cut || !vocabulary_type(name.name))) {
		if (value && is_cut)
			children[2] = store_cut(e, t, value, children[2]);
		else if (value)
			children[2] = made(e, value, "(%s)%c", t->is_signed ? "int64" : "uint64",
					   children[2]);
		children[1] = made(e, type, "%s", t->is_signed ? "int64" : "uint64");
	}
	return emit_written(e, n, children);
}

static const struct text *emit_tuple(struct emitter *e, const struct node *n)
{
	const struct text **children = emit_children(e, n, wants);
	size_t i = 0;
	for (const struct node *c = n->child; c; c = c->next, i++) {
		emit_warn_of_copy(e, c, IS_ELEMENT);
		children[i] = store_element(e, n, i, c, children[i]);
	}
	return emit_written(e, n, children);
}

// --- names and types ---

static struct text *number_of(struct emitter *e, const struct node *n, struct str digits)
{
	struct text *t = made(e, n, "%t", digits);
	uint64_t value = 0;
	t->is_number = true;
	t->is_tight = true;
	str_to_u64(digits, &value);
	t->held = number_held_literal(e, value);
	return t;
}

static struct str number_text(struct arena *a, int64_t value, const struct ctype *of)
{
	if (value >= 0)
		return str_printf(a, "%" PRId64, value);
	if (of && !of->is_signed)
		return str_printf(a, "0x%" PRIx64, (uint64_t)value);
	return str_printf(a, "(%" PRId64 ")", value);
}

/**
 * An enumerator of the target: `arg1 == NVMF_TGT_RUNNING` becomes `arg1 == 4`, `ns::color::red` 1. No bpftrace
 * knows the name, and a number cannot clash with one of the kernel's. Names that bpftrace, the template or a kernel
 * probe's clause gives a meaning are left alone. Where units differ, a clause means what its own probes' units have.
 */
static bool find_enumerator(struct emitter *e, const struct node *n, struct str *ret,
			    bool *is_negative)
{
	const struct bind *b = e->b;
	int64_t value;
	struct ctype *of = NULL;
	struct str name = print_text(b->arena, n);
	bool has_scopes = n->first != n->last;
	*ret = STR("");
	// A kernel name may be meant there, and bpftrace finds those itself.
	if (!b->memory->lookup || targettype_is_kernel_clause(e->clause->clause) ||
	    (!has_scopes && (vocabulary_is_builtin(name) || vocabulary_type(name))) ||
	    targettype_defines(b, name))
		return false;
	str_take(&name, STR("::"));
	if (lookup_enumerator(b->memory->lookup, name, &value, &of)) {
		*ret = number_text(b->arena, value, of);
		*is_negative = value < 0;
		return true;
	}
	if (has_scopes) // no bpftrace has such names
		e->good &=
		    lookup_report_unknown(b->memory->lookup, tok_at(n->last), "type or enumerator",
					  name, NAME_TYPES | NAME_ENUMERATOR);
	return false;
}

/** @t, which may be others' too, in the place of @n. */
static const struct text *stand_for(struct emitter *e, const struct node *n, const struct text *t)
{
	struct text *ret = arena_new(e->arena, struct text);
	*ret = *t;
	ret->held = t->held ? t->held : number_held(e, n, NULL);
	ret->is_truth = n->expr && n->expr->is_truth;
	ret->is_tight = true;
	return ret;
}

/** A word: a builtin, an argument, an enumerator. */
static const struct text *emit_name(struct emitter *e, const struct node *n, enum want want)
{
	const struct text *t = NULL;
	struct str digits = STR("");
	bool is_negative = false;
	if (n->expr && n->expr->is_substituted) // an enumerator of that name is not meant
		return emit_leaf(e, n);
	if (node_is(n, NODE_NAME, "retval") && n->expr && n->expr->type)
		t = argument_retval(e, n);
	else
		t = argument_numbered(e, n, want);
	struct str probe = e->clause ? e->clause->by_address : STR("");
	if (probe.n && tok_is(n->name, "probe"))
		return made(e, n, "%t", lex_quote(e->arena, probe));
	if (probe.n && tok_is(n->name, "probetype"))
		return made(e, n, "\"%t\"", str_slice(probe, 0, str_find(probe, ':')));
	if (!t && find_enumerator(e, n, &digits, &is_negative) && !is_negative)
		return number_of(e, n, digits);
	if (!t && digits.n)
		t = made(e, n, "%t", digits);
	// What bpftrace itself is to find: an enumerator or, in sizeof(), a type.
	e->has_other_types |= !t && !vocabulary_is_builtin(node_text(n));
	return t ? stand_for(e, n, t) : emit_leaf(e, n);
}

static const struct text *emit_type(struct emitter *e, const struct node *n, bool is_cast)
{
	struct str spelling;
	e->good &= types_spell(e, n, is_cast, &spelling);
	return spelling.n ? made(e, n, "%t", spelling) : emit_whole(e, n);
}

static const struct text *emit_cast(struct emitter *e, const struct node *n)
{
	const struct text *children[] = {n->child->kind == NODE_TYPE ? emit_type(e, n->child, true)
								     : emit(e, n->child, WANT_TYPE),
					 emit(e, n->child->next, WANT_VALUE)};
	const struct text *t = e->good ? number_operator(e, n, children) : NULL;
	return t ? t : emit_written(e, n, children);
}

static const struct text *emit_map(struct emitter *e, const struct node *n)
{
	size_t i = 0;
	const struct node *was = e->in_key;
	unsigned before = e->n_strings;
	struct name_lookup found;
	if (name_find(e, n, &found))
		return name_emit(e, n, &found);
	const struct text **children =
	    arena_array(e->arena, const struct text *, node_count(n) + 1);
	e->in_key = n->child ? n : was;
	for (const struct node *c = n->child; c; c = c->next, i++) {
		children[i] = key_part(e, n, c, i);
		emit_warn_of_copy(e, c, IS_KEPT);
		if (!children[i])
			children[i] = store_key(e, n, i, c, emit(e, c, WANT_VALUE));
		children[i] = copy_key(e, c, children[i]);
	}
	e->in_key = was;
	unsigned strings = e->n_strings - before;
	strings += strings ? e->in_loop > 0 : 0; // what the loop counts with stays on the stack
	if (strings > e->most_strings)
		e->most_strings = strings;
	if (n->name && map_get(&e->holders, n->name->text)) {
		e->n_strings += STRINGS_OF_MAP;
		e->n_reads++;
	}
	return emit_written(e, n, children);
}

// --- calls ---

/**
 * %d, %u and %x print 32 bits of what has more; %ld and the like print narrower values right, too.
 */
static struct str widen_format(struct emitter *e, const struct node *format)
{
	struct conversion c = {0};
	struct strbuf text = {0};
	size_t done = 0;
	struct str all = node_text(format);
	for (const struct node *arg = format->next; arg && format_next(all, &c); arg = arg->next) {
		bool has_width = c.end < 2 || strchr("lhz", all.p[c.end - 2]);
		if (!arg->expr || !expr_prints_wide(arg->expr, c.letter) || has_width ||
		    !strchr("diuxX", c.letter))
			continue;
		strbuf_adds(&text, str_slice(all, done, c.end - 1 - done));
		strbuf_addc(&text, 'l');
		done = c.end - 1;
	}
	strbuf_adds(&text, str_from_offset(all, done));
	return strbuf_take(&text, e->arena);
}

/**
 * `%%` behind the last value: bpftrace before 0.24 prints what stands there as it is. One that would
 * be a conversion, with what follows it, is left alone.
 */
static struct str mend_percent(struct emitter *e, const struct node *format, struct str whole)
{
	struct conversion c = {0};
	struct strbuf text = {0};
	for (const struct node *arg = format->next; arg && format_next(whole, &c); arg = arg->next)
		;
	strbuf_adds(&text, str_slice(whole, 0, c.end));
	for (size_t i = c.end; i < whole.n; i++) {
		strbuf_addc(&text, whole.p[i]);
		if (!str_has_prefix(str_from_offset(whole, i), STR("%%")))
			continue;
		i++;
		if (isalnum((unsigned char)whole.p[i + 1]) || strchr("-.%", whole.p[i + 1]))
			strbuf_addc(&text, whole.p[i]);
	}
	return strbuf_take(&text, e->arena);
}

struct str emit_format(struct emitter *e, const struct node *call, const struct node *format)
{
	struct str text = node_text(format);
	if (!e->b->given->files)
		return text; // a host's script stays as it is
	text = widen_format(e, format);
	return tok_is(call->name, "printf") && !dialect_has_own_printf(e->b->given->version)
		   ? mend_percent(e, format, text)
		   : text;
}

/** sizeof() and offsetof(): from 0.23 on bpftrace counts a byte more for a char array. */
static const struct text *fold_size(struct emitter *e, const struct node *n)
{
	const struct expr *x = n->child ? n->child->expr : NULL;
	uint64_t size;
	struct str digits = STR("");
	if (tok_is(n->name, "sizeof") && x && (x->is_place || x->is_value) && !x->bit_size &&
	    ctype_size(x->type, &size))
		digits = str_printf(e->arena, "%" PRIu64, size);
	else
		e->good &= types_fold(e, n, &digits);
	return digits.n ? number_of(e, n, digits) : NULL;
}

/**
 * str() of a char array in a struct that is held as a value: to bpftrace it is a string, and str()
 * of it nothing.
 */
static const struct text *emit_str_of_value(struct emitter *e, const struct node *n)
{
	const struct node *array = n->child;
	uint64_t size;
	if (!tok_is(n->name, "str") || !array || !array->expr->is_value || !array->expr->type ||
	    !place_is_char_array(ctype_strip(array->expr->type), true, &size))
		return NULL;
	if (array->next)
		e->good = diag_error(e->b->diag, tok_at(n->first),
				     "str() with a length cannot be used on a copy of a struct: "
				     "read the member through a pointer");
	return made(e, n, "%n", emit(e, array, WANT_STRING));
}

static enum want wants_of_call(const struct emitter *e, const struct node *n,
			       const struct node *child)
{
	const struct word *word = vocabulary_word(n->name->text);
	enum word_takes takes = word->takes;
	const struct ctype *t = child->expr ? ctype_strip(child->expr->type) : NULL;
	if (child != n->child)
		return wants(e, n, child);
	// As in C, an array stands for its address.
	if (word->wants[0] == WANTS_STRINGS && t && t->kind == CTYPE_ARRAY)
		return WANT_ADDRESS;
	return tok_is(n->name, "uptr")	 ? WANT_POINTER
	       : takes == TAKES_WHOLE	 ? WANT_WHOLE
	       : takes == TAKES_TYPE	 ? WANT_TYPE
	       : !tok_is(n->name, "str") ? wants(e, n, child)
	       : child->next		 ? WANT_STRING_PART
					 : WANT_STRING;
}

/** What means something as this argument only: kstack(perf). */
static bool is_mode(const struct node *call)
{
	const struct node *first = call->child;
	return first && first->kind == NODE_NAME && first->first == first->last &&
	       str_is_any(node_text(first), vocabulary_word(call->name->text)->modes);
}

/**
 * The N of str(p, N) is a number of characters. 0.17 and 0.23 end by a signal where it has fewer than 64 bits
 * and no sign.
 */
static const struct text *emit_length(struct emitter *e, const struct node *n, const struct text *t)
{
	uint64_t value;
	bool counts_end = dialect_counts_end_of_text(e->b->given->version);
	const struct node *cast = node_ungrouped(n);
	// LLVM compares what a cast cuts to 32 bits in 32 bits, from which the verifier learns no bounds of 64.
	bool is_cut = t->held == HELD_NARROW && cast->kind == NODE_CAST &&
		      ctype_strip(cast->expr->type)->size == 4;
	if (t->held == HELD_NARROW)
		t = number_make(e, n, t, false);
	if (is_cut)
		t = made(e, n, "(%n & %u)", t, (uint64_t)INT32_MAX);
	bool is_refused = node_is(n, NODE_UNARY, "-") && n->child->kind == NODE_NUMBER;
	if (!counts_end || is_refused || (n->expr && n->expr->kind == EXPR_TEXT))
		return t;
	return n->kind == NODE_NUMBER && str_to_u64(node_text(n), &value)
		   ? made(e, n, "%u", value + 1)
		   : made(e, n, "%c + 1", t);
}

static const struct text *emit_plain_call(struct emitter *e, const struct node *n)
{
	bool prints = format_find(n) != NULL;
	enum word_gives gives = vocabulary_word(n->name->text)->gives;
	const struct text **children = emit_children(e, n, wants_of_call);
	size_t i = 0;
	if (is_mode(n))
		children[0] = emit_whole(e, n->child);
	if (prints)
		children[0] = made(e, n->child, "%t", emit_format(e, n, n->child));
	if (tok_is(n->name, "print") && n->child)
		emit_warn_of_copy(e, n->child, IS_PRINTED);
	for (const struct node *c = n->child; c && !prints && !tok_is(n->name, "print");
	     c = c->next, i++)
		if (gives == GIVES_AGGREGATION)
			children[i] = store_sample(e, n, c, children[i]);
		else if (i > 0) // else it is the map of delete(@m, key)
			children[i] = number_kept(e, c, children[i], false);
	if (tok_is(n->name, "str") && n->child && n->child->next)
		children[1] = emit_length(e, n->child->next, children[1]);
	if (node_is(n, NODE_CALL, "str")) {
		e->n_strings++;
		e->n_reads++;
	}
	return emit_written(e, n, children);
}

/** @n prints so many strings at once: see sema/strings.h. */
static void count_strings(struct emitter *e, const struct node *n, unsigned strings, bool reads)
{
	if (!strings)
		return;
	strings += e->in_loop > 0; // what the loop counts with stays on the stack
	strings += strings_beside(&e->beside, n);
	strings -= !reads; // it needs no buffer of its own
	if (strings > e->most_strings)
		e->most_strings = strings;
}

static const struct text *emit_call(struct emitter *e, const struct node *n)
{
	const struct text *t = fold_size(e, n);
	unsigned strings = e->n_strings, reads = e->n_reads;
	const struct node *was = e->in_key;
	struct name_lookup found;
	if (format_find(n)) // in a block: no part of the key
		e->in_key = NULL;
	if (!t)
		t = emit_str_of_value(e, n);
	if (!t && name_find(e, n, &found))
		t = name_emit(e, n, &found);
	// A macro may name no map but those that it is given.
	if (!t && e->print && e->makes_records && e->body->kind != NODE_MACRO)
		t = record_emit(e, n);
	if (!t && format_find(n))
		t = name_print(e, n);
	if (!t)
		t = emit_plain_call(e, n);
	e->in_key = was;
	if (tok_is(n->name, "printf"))
		count_strings(e, n, e->n_strings - strings, e->n_reads > reads);
	return t;
}

// --- all of them ---

static const struct text *emit_other(struct emitter *e, const struct node *n)
{
	return emit_written(e, n, emit_children(e, n, wants));
}

/** if (c) { x } else { y }, which is a statement or a value. */
static const struct text *emit_if(struct emitter *e, const struct node *n)
{
	const struct text **children = emit_children(e, n, wants);
	size_t i = 0;
	for (const struct node *c = n->child; c; c = c->next, i++)
		if (c->kind != NODE_BLOCK)
			children[i] = emit_asked(e, c, children[i]);
	return emit_written(e, n, children);
}

/** args.NAME, or what is no place: its sign is that of the argument. */
static const struct text *emit_member(struct emitter *e, const struct node *n, enum want want)
{
	const struct text *t = argument_named(e, n, want);
	if (!t)
		t = place_behind_args(e, n);
	return t ? stand_for(e, n, t) : emit_other(e, n);
}

const struct text *emit(struct emitter *e, const struct node *n, enum want want)
{
	const struct expr *x = n->expr;
	if (!e->good || (n->is_changed && n->kind == NODE_OPAQUE))
		return emit_whole(e, n);
	if (x && (x->is_place || x->is_value) &&
	    (n->kind == NODE_MEMBER || n->kind == NODE_INDEX || n->kind == NODE_GROUP ||
	     n->kind == NODE_UNARY))
		return place_emit(e, n, want);
	switch (n->kind) {
	case NODE_MEMBER:
		return emit_member(e, n, want);
	case NODE_GROUP:
		return emit_written(e, n, (const struct text *[]){emit(e, n->child, want)});
	case NODE_NAME:
		return emit_name(e, n, want);
	case NODE_TYPE:
		return emit_type(e, n, false);
	case NODE_VARIABLE:
		e->n_strings += x && x->kind == EXPR_TEXT;
		return emit_leaf(e, n);
	case NODE_MAP:
		return emit_map(e, n);
	case NODE_CALL:
		return emit_call(e, n);
	case NODE_CAST:
		return emit_cast(e, n);
	case NODE_TERNARY:
		return emit_ternary(e, n, want);
	case NODE_UNARY:
		if (tok_is(n->name, "&") && x && x->type)
			return emit_address(e, n);
		return emit_operator(e, n);
	case NODE_BINARY:
	case NODE_ASSIGN:
		return emit_operator(e, n);
	case NODE_TUPLE:
		return emit_tuple(e, n);
	case NODE_LET:
		return emit_let(e, n);
	case NODE_IF:
		return emit_if(e, n);
	case NODE_BLOCK:
	case NODE_EXPRESSION:
	case NODE_WHILE:
	case NODE_FOR:
		return statement_emit(e, n);
	default:
		return n->child ? emit_other(e, n) : emit_leaf(e, n);
	}
}
