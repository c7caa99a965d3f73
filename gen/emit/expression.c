#include "emit/emit_priv.h"
#include "lang/print.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"

enum { MAX_TEXT = 32768 }; // of one expression, whose parts may be repeated

bool emit_fits(struct emitter *e, const struct node *n, const struct text *t)
{
	if (e->good && t->size > MAX_TEXT)
		e->good = diag_error(e->b->diag, tok_at(n->first),
				     "expression is too complex: move part of it into a variable");
	return e->good;
}

// --- as the template has it ---

static bool needs_no_parens(enum node_kind kind)
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

struct text *emit_verbatim(struct emitter *e, const struct node *n)
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

/** A node without children: a word, a number. */
static struct text *emit_leaf(struct emitter *e, const struct node *n)
{
	struct text *t = emit_verbatim(e, n);
	t->repr = number_repr(e, n, NULL);
	t->is_bool = n->expr && n->expr->is_bool;
	t->needs_no_parens = needs_no_parens(n->kind);
	t->is_number = n->kind == NODE_NUMBER;
	return t;
}

struct text *emit_with_children(struct emitter *e, const struct node *n,
				const struct text *const *children)
{
	bool is_whole = true;
	size_t i = 0;
	for (const struct node *c = n->child; c; c = c->next)
		is_whole &= children[i++]->is_whole;
	struct text *t =
	    is_whole || n->is_changed ? emit_verbatim(e, n) : text_new(e->arena, n->first, true);
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
	t->repr = number_repr(e, n, children);
	t->is_bool = is_inner	 ? children[0]->is_bool
		     : is_choice ? children[1]->is_bool && children[2]->is_bool
				 : n->expr && n->expr->is_bool;
	t->needs_no_parens = needs_no_parens(n->kind);
	t->is_multiline = n->kind == NODE_BLOCK;
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

enum want emit_wants(const struct emitter *e, const struct node *n, const struct node *child)
{
	bool is_first = n->child == child;
	switch (n->kind) {
	case NODE_MEMBER:
	case NODE_TUPLE:
	case NODE_LET:
		return WANT_POINTER;
	case NODE_INDEX:
		return is_first ? WANT_POINTER : WANT_VALUE;
	case NODE_TERNARY: // in another one the number is enough
		return is_first			     ? WANT_VALUE
		       : child->kind == NODE_TERNARY ? WANT_ADDRESS
						     : WANT_POINTER;
	case NODE_ASSIGN:
		return is_first ? WANT_VALUE : WANT_POINTER;
	case NODE_UNARY:
		return tok_is(n->name, "*") ? WANT_POINTER : WANT_VALUE;
	case NODE_BINARY: // pointer arithmetic
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

const struct text *emit_null_test(struct emitter *e, const struct node *n, const struct text *t)
{
	const struct ctype *type = n->expr ? ctype_strip(n->expr->type) : NULL;
	bool is_named = node_is_named(n);
	// bpftrace has no ! of a pointer in any version, and 0.17 neither && and || nor a condition.
	if (!e->good || !e->b->given->files || !type || type->kind != CTYPE_POINTER || is_named)
		return t;
	struct text *asked = text_format(e, n, "(uint64)%c", t);
	asked->needs_no_parens = true;
	asked->repr = REPR_UNSIGNED;
	return asked;
}

/** bpftrace gets bit-fields of a copied struct wrong. */
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

/** A choice of pointers: bpftrace computes 0 for some. */
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
		? text_format(e, n, "((uint64)!!(%n) * (uint64)%c + (uint64)!(%n) * (uint64)%c)",
			      children[0], children[1], children[0], children[2])
		: text_format(e, n, "(%n ? (uint64)%c : (uint64)%c)", children[0], children[1],
			      children[2]);
	struct text *t = want == WANT_ADDRESS ? text_format(e, n, "%n", choice)
					      : text_format(e, n, "(%t)%n", name, choice);
	t->needs_no_parens = true;
	emit_fits(e, n, t);
	return t;
}

static bool is_kept(const struct emitter *e, const struct node *n, unsigned depth);

/** Is the name @n assigned to a key elsewhere? */
static bool name_is_kept(const struct emitter *e, const struct node *n, unsigned depth)
{
	enum { MOST_NAMES = 8 }; // chain of assignments, perhaps a circle
	const struct use *u = depth < MOST_NAMES ? emit_uses(e, n) : NULL;
	while (u && (u->value || !is_kept(e, u->node, depth)))
		u = u->next;
	return u || depth == MOST_NAMES;
}

/** Is the text @n a key, or assigned to a name that is one? */
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

/** The statements before the one that @n is in; NULL after an error: none can be added there. */
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

/** The initial value of a text variable: as long as any text that it is assigned. */
static const char *empty_text(struct emitter *e)
{
	if (!dialect_reads_past_variables(e->b->given->version))
		return "\"\"";
	// The variable and the other side of each copy stay on the stack.
	e->n_kept += 2;
	if (e->most_strings < e->n_kept + 1)
		e->most_strings = e->n_kept + 1;
	return "str(0)";
}

/** $text, after `$text = ""; if (c) { $text = x; } else { $text = y; }` before the statement. */
static const struct text *keep_choice(struct emitter *e, const struct node *n,
				      const struct text **children)
{
	struct text *before = before_statement(e, n, "a choice of strings");
	struct str name = emit_new_variable(e, STR("$text"));
	if (before)
		text_add(e->arena, before,
			 text_format(e, n, "%t = %s; if (%n) { %t = %n; } else { %t = %n; } ", name,
				     empty_text(e), children[0], name, children[1], name,
				     children[2]));
	struct text *t = text_format(e, n, "%t", name);
	t->needs_no_parens = true;
	return t;
}

static bool is_in_loop(const struct node *n)
{
	while (n && n->kind != NODE_WHILE && n->kind != NODE_FOR)
		n = n->parent;
	return n != NULL;
}

/** The next round would write to what the first one has freed. */
static void report_freed(struct emitter *e, const struct node *n)
{
	e->good &= diag_finding(e->b->diag, "key", DIAG_ERROR, tok_at(n->first),
				"bpftrace " DIALECT_FMT
				" frees a string that is the only key of a map when it is used, so "
				"a loop cannot use it again",
				DIALECT_ARG(e->b->given->version));
	diag_note(e->b->diag, NULL, "give the map a second key, as in @map[$text, 0]");
}

/**
 * A copy of a variable that is the only key of a map and is used elsewhere, too: bpftrace reuses its storage
 * from there on.
 */
static const struct text *copy_key(struct emitter *e, const struct node *n, const struct text *t)
{
	const struct node *key = node_ungrouped(n);
	size_t reads = 0;
	bool is_variable = key->kind == NODE_VARIABLE;
	if (!dialect_reads_past_variables(e->b->given->version) || n->next ||
	    n->parent->child != n || !key->expr || (!is_variable && key->kind != NODE_TERNARY) ||
	    (key->expr->kind != EXPR_TEXT && key->expr->kind != EXPR_SHOWN))
		return t;
	if (is_in_loop(n))
		report_freed(e, n);
	if (!is_variable)
		return t;
	for (const struct use *u = emit_uses(e, key); u; u = u->next)
		reads += !u->value;
	reads += e->repeats_key;
	struct text *before = reads > 1 ? before_statement(e, n, "a variable") : NULL;
	if (!before)
		return t;
	struct str name = emit_new_variable(e, STR("$key"));
	if (key->expr->kind == EXPR_TEXT)
		text_add(e->arena, before, text_format(e, n, "%t = %s; ", name, empty_text(e)));
	text_add(e->arena, before, text_format(e, n, "%t = %n; ", name, t));
	return text_format(e, n, "%t", name);
}

static const struct text *emit_ternary(struct emitter *e, const struct node *n, enum want want)
{
	const struct text **children = emit_children(e, n, emit_wants), *t = NULL;
	children[0] = emit_null_test(e, n->child, children[0]);
	// A choice of string literals needs a buffer.
	e->n_strings += n->child->next->kind == NODE_STRING;
	if (n->child->next->next)
		t = number_choice(e, n, children);
	if (!t)
		t = choose_pointer(e, n, want, children);
	if (!t && e->good && n->expr && n->expr->kind == EXPR_TEXT && n->child->next->next &&
	    dialect_leaves_texts_open(e->b->given->version) && is_kept(e, n, 0))
		t = keep_choice(e, n, children);
	return t ? t : emit_with_children(e, n, children);
}

/** `&x->m`: a pointer of its type; a number if no cast can name that. */
static const struct text *emit_address(struct emitter *e, const struct node *n)
{
	const struct text *at = emit(e, n->child, WANT_ADDRESS);
	struct str name = types_pointer(e, n->expr->type);
	struct text *t =
	    name.n ? text_format(e, n, "((%t)(%n))", name, at) : text_format(e, n, "(%n)", at);
	t->needs_no_parens = true;
	return t;
}

/** -x, x + y, x = y, (T)x */
/** `@m[$s] += x` has the key twice, which is dead after the first time: see copy_key(). */
static bool repeats_key(const struct emitter *e, const struct node *n)
{
	if (n->kind != NODE_ASSIGN || node_is(n, NODE_ASSIGN, "=") || n->child->kind != NODE_MAP ||
	    !n->child->child || n->child->child->next)
		return false;
	const struct node *key = node_ungrouped(n->child->child);
	return dialect_reads_past_variables(e->b->given->version) && key->expr &&
	       (key->kind == NODE_VARIABLE || key->kind == NODE_TERNARY) &&
	       (key->expr->kind == EXPR_TEXT || key->expr->kind == EXPR_SHOWN);
}

/** The map is read into a variable, which is changed, and written. */
static const struct text *emit_read_and_store(struct emitter *e, const struct node *n)
{
	struct text *before = before_statement(e, n, "a variable");
	if (!before)
		return emit_verbatim(e, n);
	e->repeats_key = true;
	const struct text *from = emit(e, n->child, WANT_VALUE),
			  *to = emit(e, n->child, WANT_VALUE);
	e->repeats_key = false;
	struct str old = emit_new_variable(e, STR("$old"));
	text_add(e->arena, before, text_format(e, n->child, "%t = %n; ", old, from));
	struct text *value = text_format(e, n->child, "%t", old);
	value->repr = from->repr;
	const struct text *children[] = {value,
					 emit(e, n->child->next, emit_wants(e, n, n->child->next))};
	const struct text *t = e->good ? number_operator(e, n, children) : NULL;
	t = t ? t : emit_with_children(e, n, children);
	return text_format(e, n, "%n; %n = %t", t, to, old);
}

static const struct text *emit_operator(struct emitter *e, const struct node *n)
{
	if (repeats_key(e, n))
		return emit_read_and_store(e, n);
	bool is_pair = node_operator(n) & OP_LOGIC;
	const struct text **children = emit_children(e, n, emit_wants);
	if (is_pair || node_is(n, NODE_UNARY, "!"))
		children[0] = emit_null_test(e, n->child, children[0]);
	if (is_pair)
		children[1] = emit_null_test(e, n->child->next, children[1]);
	if (n->kind == NODE_ASSIGN && n->child->kind == NODE_MAP)
		emit_warn_of_copy(e, n->child->next, IS_KEPT);
	if (node_is(n, NODE_ASSIGN, "="))
		name_warn_of_copy(e, n->child->next);
	const struct text *t = e->good ? number_operator(e, n, children) : NULL;
	return t ? t : emit_with_children(e, n, children);
}

/** `let $s : enum state = x`: to bpftrace a number with the sign of the type. */
static const struct text *emit_let(struct emitter *e, const struct node *n)
{
	const struct node *type = n->child->next, *value = type ? type->next : NULL;
	const struct text **children = emit_children(e, n, emit_wants);
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
			children[2] = text_format(e, value, "(%s)%c",
						  t->is_signed ? "int64" : "uint64", children[2]);
		children[1] = text_format(e, type, "%s", t->is_signed ? "int64" : "uint64");
	}
	return emit_with_children(e, n, children);
}

static const struct text *emit_tuple(struct emitter *e, const struct node *n)
{
	const struct text **children = emit_children(e, n, emit_wants);
	size_t i = 0;
	for (const struct node *c = n->child; c; c = c->next, i++) {
		emit_warn_of_copy(e, c, IS_ELEMENT);
		children[i] = store_element(e, n, i, c, children[i]);
	}
	return emit_with_children(e, n, children);
}

// --- names and types ---

struct text *emit_constant(struct emitter *e, const struct node *n, struct str digits)
{
	struct text *t = text_format(e, n, "%t", digits);
	uint64_t value = 0;
	t->is_number = true;
	t->needs_no_parens = true;
	str_to_u64(digits, &value);
	t->repr = number_repr_of_literal(e, value);
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
 * knows the name, and a number cannot clash with a name of the kernel. Names with a meaning in bpftrace, in the
 * template or in a kernel probe's clause are left alone. If units differ, those of the clause's probes count.
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
	// It may be a kernel name, which bpftrace finds itself.
	if (!b->cache->lookup || targettype_is_kernel_clause(e->clause->clause) ||
	    (!has_scopes && (vocabulary_is_builtin(name) || vocabulary_type(name))) ||
	    targettype_defines(b, name))
		return false;
	str_take(&name, STR("::"));
	if (lookup_enumerator(b->cache->lookup, name, &value, &of)) {
		*ret = number_text(b->arena, value, of);
		*is_negative = value < 0;
		return true;
	}
	if (has_scopes) // no bpftrace has such names
		e->good &=
		    lookup_report_unknown(b->cache->lookup, tok_at(n->last), "type or enumerator",
					  name, NAME_TYPES | NAME_ENUMERATOR);
	return false;
}

const struct text *emit_instead(struct emitter *e, const struct node *n, const struct text *t)
{
	struct text *ret = arena_new(e->arena, struct text);
	*ret = *t;
	ret->repr = t->repr ? t->repr : number_repr(e, n, NULL);
	ret->is_bool = n->expr && n->expr->is_bool;
	ret->needs_no_parens = true;
	return ret;
}

bool emit_is_has_cpid(struct emitter *e, const struct node *n)
{
	return tok_is(n->name, "has_cpid") && !n->child &&
	       dialect_inverts_has_cpid(e->b->given->version);
}

/** A word: a builtin, an argument, an enumerator. */
static const struct text *emit_name(struct emitter *e, const struct node *n, enum want want)
{
	static const char *const truths[] = {"true", "false", NULL};
	const struct text *t = NULL;
	struct str digits = STR("");
	bool is_negative = false;
	if (n->expr && n->expr->is_substituted) // it is not an enumerator of that name
		return emit_leaf(e, n);
	if (emit_is_has_cpid(e, n))
		return emit_instead(e, n, text_format(e, n, "(__builtin_cpid != 0)"));
	if (e->b->given->files && tok_is_any(n->name, truths) &&
	    vocabulary_word(n->name->text)->since > e->b->given->version)
		return emit_constant(e, n, tok_is(n->name, "true") ? STR("1") : STR("0"));
	if (node_is(n, NODE_NAME, "retval") && n->expr && n->expr->type)
		t = arg_emit_retval(e, n);
	else
		t = arg_emit_numbered(e, n, want);
	unsigned i;
	if (!t && e->loop &&
	    (tok_is(n->name, "retval") || vocabulary_arg_number(n->name->text, &i)))
		t = text_format(e, n, "%t", arg_emit_word(e, n, n->name->text));
	struct str probe = e->clause ? e->clause->by_address : STR("");
	if (probe.n && tok_is(n->name, "probe"))
		return text_format(e, n, "%t", lex_quote(e->arena, probe));
	if (probe.n && tok_is(n->name, "probetype"))
		return text_format(e, n, "\"%t\"", str_slice(probe, 0, str_find(probe, ':')));
	if (!t && find_enumerator(e, n, &digits, &is_negative) && !is_negative)
		return emit_constant(e, n, digits);
	if (!t && digits.n)
		t = text_format(e, n, "%t", digits);
	// Of the script or a C header: bpftrace takes it for unsigned, an enum's name, or the other operand's type.
	struct constant_value c;
	if (!t && n->expr && n->expr->sign == SIGN_SIGNED &&
	    targettype_constant(e->b, node_text(n), &c))
		t = text_format(e, n, "(int64)%t", node_text(n));
	// Left for bpftrace to find: an enumerator or, in sizeof(), a type.
	e->has_other_types |= !t && !vocabulary_is_builtin(node_text(n));
	return t ? emit_instead(e, n, t) : emit_leaf(e, n);
}

static const struct text *emit_type(struct emitter *e, const struct node *n, bool is_cast)
{
	struct str spelling;
	e->good &= types_spell(e, n, is_cast, &spelling);
	return spelling.n ? text_format(e, n, "%t", spelling) : emit_verbatim(e, n);
}

const struct text *emit_cut_to_width(struct emitter *e, const struct node *n, const struct text *t)
{
	unsigned width = n->expr ? expr_width(n->expr) : 0;
	bool is_cut = width == 64
			  ? t->repr == REPR_UNSIGNED || t->repr == REPR_SIGNED
			  : t->repr == REPR_NARROW && (n->expr->is_place || n->kind == NODE_CAST);
	if (!width || is_cut || !e->b->given->files)
		return t;
	struct text *cut = text_format(e, n, "(uint%u)%c", (uint64_t)width, t);
	cut->repr = width < 64 ? REPR_NARROW : REPR_UNSIGNED;
	return cut;
}

static const struct text *emit_cast(struct emitter *e, const struct node *n)
{
	const struct text *array = place_decayed(e, n);
	const struct text *children[] = {n->child->kind == NODE_TYPE ? emit_type(e, n->child, true)
								     : emit(e, n->child, WANT_TYPE),
					 array ? array : emit(e, n->child->next, WANT_VALUE)};
	if (tok_is(n->child->last, "]") && n->child->next->expr->width != WIDTH_LITERAL)
		children[1] = emit_cut_to_width(e, n->child->next, children[1]);
	const struct text *t = e->good ? number_operator(e, n, children) : NULL;
	return t ? t : emit_with_children(e, n, children);
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
		children[i] = store_align(e, n, i, c, copy_key(e, c, children[i]));
	}
	e->in_key = was;
	unsigned strings = e->n_strings - before;
	strings += strings ? e->in_loop > 0 : 0; // the loop counter stays on the stack
	if (strings > e->most_strings)
		e->most_strings = strings;
	if (n->name && map_get(&e->string_maps, n->name->text)) {
		e->n_strings += STRINGS_OF_MAP;
		e->n_reads++;
	}
	return emit_with_children(e, n, children);
}

// --- by kind ---

static const struct text *emit_other(struct emitter *e, const struct node *n)
{
	return emit_with_children(e, n, emit_children(e, n, emit_wants));
}

/** if (c) { x } else { y }, which is a statement or a value. */
static const struct text *emit_if(struct emitter *e, const struct node *n)
{
	const struct text **children = emit_children(e, n, emit_wants);
	size_t i = 0;
	for (const struct node *c = n->child; c; c = c->next, i++)
		if (c->kind != NODE_BLOCK)
			children[i] = emit_null_test(e, c, children[i]);
	return emit_with_children(e, n, children);
}

const struct text *emit(struct emitter *e, const struct node *n, enum want want)
{
	const struct expr *x = n->expr;
	const struct text *t;
	if (!e->good || (n->is_changed && n->kind == NODE_OPAQUE))
		return emit_verbatim(e, n);
	if (x && (x->is_place || x->is_value) &&
	    (n->kind == NODE_MEMBER || n->kind == NODE_INDEX || n->kind == NODE_GROUP ||
	     n->kind == NODE_UNARY))
		return place_emit(e, n, want);
	switch (n->kind) {
	case NODE_MEMBER: // args.NAME, with the sign of the argument; or one that is no place
		t = arg_emit_named(e, n, want);
		t = t ? t : place_after_args(e, n);
		return t ? emit_instead(e, n, t) : emit_other(e, n);
	case NODE_GROUP:
		return emit_with_children(e, n, (const struct text *[]){emit(e, n->child, want)});
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
