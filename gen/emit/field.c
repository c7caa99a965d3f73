#include "emit/record_priv.h"

#include "lang/print.h"
#include "sema/arg_fact.h"
#include "sema/exprtype.h"
#include "sema/table.h"
#include "dialect/dialect.h"
#include "probe/probearg.h"

// --- literals ---

/** The byte of an escape, \n, \x41, \101, if all versions read it alike; 0 if not. */
static unsigned read_escape(struct str text, size_t *at)
{
	struct str rest = str_from_offset(text, *at);
	unsigned value = 0;
	if (!rest.n || !strchr("ntrx01234567\"\\", rest.p[0]) || !str_take_escape(&rest, &value))
		return 0;
	*at = text.n - rest.n;
	return value <= 255 ? value : 0;
}

bool printfield_literal(struct arena *a, struct str text, bool is_format, struct str *ret)
{
	struct strbuf out = {0};
	bool good = true;
	for (size_t i = 0; i < text.n;) {
		char c = text.p[i++];
		if (is_format && c == '%' && i < text.n && text.p[i] == '%')
			i++;
		if (c == '\\') {
			c = (char)read_escape(text, &i);
			good &= c != 0;
		}
		strbuf_addc(&out, c);
	}
	*ret = strbuf_take(&out, a);
	return good;
}

// --- conversions ---

void printfield_convert(struct str format, const struct conversion *c, const struct expr *e,
			struct shape_field *f)
{
	struct str all = str_slice(format, c->at + 1, c->end - c->at - 2);
	size_t n = all.n;
	while (n && strchr("lhz", all.p[n - 1]))
		n--;
	struct str length = str_from_offset(all, n);
	f->as.how = str_slice(all, 0, n);
	f->as.letter = c->letter;
	f->as.bits = str_eqz(length, "hh") ? 8 : str_eqz(length, "h") ? 16 : length.n ? 64 : 32;
	// bpftrace prints 32 bits of it; show all that the program has.
	if (!length.n &&
	    ((e && expr_prints_wide(e, c->letter)) || c->letter == 'p' || c->letter == 's'))
		f->as.bits = 64;
	if (c->letter == 'c')
		f->as.bits = 8;
	bool is_signed = strchr("dis", c->letter) != NULL;
	if (e && e->sign == SIGN_SIGNED)
		is_signed = true;
	else if (e && (e->sign == SIGN_UNSIGNED || e->sign == SIGN_NONE))
		is_signed = false;
	bool is_cut = length.n || c->letter == 'c' || !e || !expr_is_wide(e);
	f->value.type = value_integer(is_cut ? f->as.bits : 64, is_signed);
}

// --- names of fields ---

static struct str field_name(struct printing *g, struct node *n)
{
	struct node *subject = NULL;
	n = node_ungrouped(n);
	if (n->kind == NODE_MEMBER && n->name->kind == TOK_IDENT)
		return n->name->text;
	if (n->kind == NODE_VARIABLE)
		return str_from_offset(n->name->text, 1);
	if (n->kind == NODE_MAP)
		return n->name ? n->name->text : STR("@");
	enum word_shows shows =
	    n->kind == NODE_CALL ? vocabulary_word(node_text(n))->shows : SHOWS_NONE;
	if (n->kind == NODE_CAST || shows == SHOWS_LAST)
		subject = n->last_child;
	else if (n->kind == NODE_INDEX || node_is(n, NODE_UNARY, "*") || shows == SHOWS_FIRST)
		subject = n->child;
	if (subject)
		return field_name(g, subject);
	if (n->kind == NODE_NAME && n->expr && g->e->b->given->shapes->has_head) {
		const struct probearg *arg = arg_fact_of(g->e->b, n->expr);
		if (arg && arg->has_name)
			return arg->name;
	}
	return print_line(g->arena, n);
}

// --- names of values ---

static bool is_usym(const struct printing *g, const struct node *n)
{
	return enumname_is_usym(g->e->b, g->e->i, n);
}

/** The enum whose names an expression is printed with, and the number in *ret_value; NULL: none. */
static const struct enumtab *names_of(struct printing *g, struct node *n, struct node **ret_value)
{
	const struct enumtab *names;
	n = node_ungrouped(n);
	*ret_value = n->last_child;
	bool is_name = table_names_of(g->e->b, g->e->i, n, &names);
	if (is_name && (names || n->kind != NODE_MAP)) // a map with one key need not be a table
		return names;
	if (n->kind != NODE_CAST)
		*ret_value = n;
	return enumtab_of(g->arena, arg_fact_enum(g->e->b, n->expr));
}

/** An int that holds an unsigned enum is shown as an int where it has no name. */
static const struct enumtab *as_read(struct printing *g, const struct enumtab *names,
				     const struct node *value)
{
	struct enumtab *tab = arena_new(g->arena, struct enumtab);
	bool is_signed = value->expr && value->expr->sign == SIGN_SIGNED;
	for (size_t i = 0; i < names->n_items; i++)
		is_signed &= (uint64_t)names->items[i].value <= INT32_MAX;
	*tab = *names;
	tab->is_signed |= is_signed;
	return tab;
}

static bool has_known_sign(const struct expr *e)
{
	return e->sign != SIGN_OTHER && e->sign != SIGN_MIXED;
}

/** true, false, or an operator whose result is bool from 0.24 on. */
static bool is_bool(const struct node *n)
{
	return n->expr && n->expr->is_bool;
}

// --- values ---

static void add_number(struct printing *g, struct node *n)
{
	vec_push(g->arena, &g->numbers, (struct passed){.node = n});
}

static bool is_choice(struct printing *g, struct node *n);

/** Need bpftrace not print it? A name, a literal, or a choice with one of them. */
static bool is_light(struct printing *g, struct node *n)
{
	struct node *value;
	n = node_ungrouped(n);
	return n->kind == NODE_STRING || is_usym(g, n) || names_of(g, n, &value) || is_choice(g, n);
}

/**
 * Is it a `c ? x : y` of which the condition and both values are printed? Versions before 0.24 cannot
 * choose between strings of different lengths.
 */
static bool is_choice(struct printing *g, struct node *n)
{
	struct node *yes = n->kind == NODE_TERNARY ? n->child->next : NULL;
	bool is_one = yes && yes->next && (is_light(g, yes) || is_light(g, yes->next));
	for (struct node *c = yes; c && is_one; c = c->next)
		// Both are evaluated, whichever is chosen.
		is_one = expr_effect(c) < EFFECT_CHANGES &&
			 (is_light(g, c) || emit_is_comm_of_task(node_ungrouped(c)) ||
			  (c->expr && (c->expr->kind == EXPR_TEXT || c->expr->kind == EXPR_SHOWN)));
	return is_one;
}

static bool add_text(struct printing *g, struct node *n, struct shape_field *f);

/** Is one of the two literals empty? */
static bool is_filler(const struct value *yes, const struct value *no)
{
	return yes->how == VALUE_LITERAL && no->how == VALUE_LITERAL &&
	       (!yes->literal.n || !no->literal.n);
}

static bool add_choice(struct printing *g, struct node *n, struct shape_field *f)
{
	struct shape_field yes = {0}, no = {0};
	add_number(g, n->child);
	bool good = add_text(g, n->child->next, &yes) && add_text(g, n->last_child, &no);
	f->value = (struct value){.how = VALUE_CHOICE, .n_parts = 2};
	f->value.parts = arena_array(g->arena, struct value, 2);
	f->value.parts[0] = yes.value;
	f->value.parts[1] = no.value;
	f->is_filler = is_filler(&yes.value, &no.value);
	return good;
}

/** Adds a text that bpftrace prints, with %s or @letters. */
static bool add_printed(struct printing *g, struct node *n, struct str letters,
			struct shape_field *f)
{
	const struct node *plain = node_ungrouped(n);
	bool is_stack = (plain->kind == NODE_NAME || plain->kind == NODE_CALL) &&
			(tok_is(plain->name, "ustack") || tok_is(plain->name, "kstack"));
	bool is_symbol = !letters.n && enumname_is_symbol(g->e->b, g->e->i, plain);
	f->value.how = is_symbol		      ? VALUE_SYMBOL
		       : is_stack && f->as.how.n == 0 ? VALUE_STACK
						      : VALUE_TEXT;
	g->e->b->made->names_code |= is_symbol;
	if (f->value.how == VALUE_STACK)
		f->value.n_frames = key_stack_frames(g->e->clause, plain);
	if (f->value.n_frames) {
		vec_push(g->arena, &g->numbers, (struct passed){.words = STR(EMIT_PLACE)});
		vec_push(g->arena, &g->numbers, (struct passed){.words = STR(EMIT_CALLER)});
	}
	// A bare word, such as probe, has a limit of its own, or none.
	f->value.can_be_cut = n->expr && n->expr->kind == EXPR_TEXT && plain->kind != NODE_NAME;
	f->letters = letters;
	vec_push(g->arena, &g->texts, (struct passed){.node = n});
	return true;
}

/** Adds the value of a %s. */
static bool add_text(struct printing *g, struct node *n, struct shape_field *f)
{
	struct node *plain = node_ungrouped(n), *value = NULL;
	const struct enumtab *names;
	uint64_t size;
	if (exprtype_is_whole(plain->expr, &size)) {
		printstruct_add(g, plain, size, f);
		return true;
	}
	if (is_usym(g, plain)) {
		f->value.type = &value_code;
		g->e->b->made->names_code = true;
		add_number(g, plain->child);
		return true;
	}
	if ((names = names_of(g, plain, &value)) != NULL) {
		f->value.names = as_read(g, names, value);
		f->value.type = value_integer(names->size * 8, f->value.names->is_signed);
		f->name = field_name(g, value);
		add_number(g, value);
		return true;
	}
	if (plain->kind == NODE_STRING) {
		struct str text = node_text(plain);
		f->value.how = VALUE_LITERAL;
		f->is_filler = text.n == 2; // ""
		return printfield_literal(g->arena, str_slice(text, 1, text.n - 2), false,
					  &f->value.literal);
	}
	if (is_choice(g, plain))
		return add_choice(g, plain, f);
	if (plain->expr && plain->expr->kind == EXPR_NUMBER && has_known_sign(plain->expr)) {
		if (is_bool(plain))
			f->value.type = &value_bool;
		add_number(g, n);
		return true;
	}
	// A name that is looked up in one arm only is left to bpftrace.
	return !name_is_in(g->e, plain) && add_printed(g, n, STR(""), f);
}

/** The type of a number, for JSON, whatever its conversion. */
static void add_type(struct printing *g, const struct node *n, struct shape_field *f)
{
	struct ctype *t = n->expr ? ctype_strip(n->expr->type) : NULL;
	const struct enumtab *names;
	if (f->as.letter == 'c') {
		f->value.type = &value_char;
	} else if (f->as.letter == 'p' || (t && t->kind == CTYPE_POINTER)) {
		f->value.type = &value_address;
	} else if (is_bool(n) || (t && t->kind == CTYPE_BOOL)) {
		f->value.type = &value_bool;
	} else if ((names = enumtab_of(g->arena, t)) != NULL) {
		f->value.type = t;
		f->value.names = as_read(g, names, n);
	}
}

bool printfield_add(struct printing *g, struct node *n, struct shape_field *f)
{
	bool is_bytes = n->expr && n->expr->kind == EXPR_BYTES;
	f->name = field_name(g, n);
	if (f->as.letter == 's')
		return add_text(g, n, f);
	if (f->as.letter == 'r')
		return is_bytes && add_printed(g, n, f->letters, f);
	add_type(g, n, f);
	add_number(g, n);
	return strchr("diuxXocp", f->as.letter) != NULL;
}

/** 1000 of `x / 1000` and `x / (uint64)1000`, by the operator; 0: @n is something else. */
static int64_t divisor_of(struct node *n, const char *operator)
{
	n = node_ungrouped(n);
	if (!node_is(n, NODE_BINARY, operator))
		return 0;
	struct node *by = node_ungrouped(n->last_child);
	if (by->kind == NODE_CAST)
		by = node_ungrouped(by->last_child);
	uint64_t v;
	struct str digits = by->kind == NODE_NUMBER ? by->name->text : STR("");
	return str_to_u64(digits, &v) && v <= INT32_MAX ? (int64_t)v : 0;
}

void printfield_join(struct printing *g, struct node *n, struct shape_field *f, struct node *rest,
		     const struct shape_field *rest_f)
{
	int64_t by = divisor_of(n, "/");
	if (!value_is_integer(&f->value) || !value_is_integer(&rest_f->value) ||
	    !str_eqz(rest_f->before, ".") || by <= 1 || divisor_of(rest, "%") != by)
		return;
	struct node *whole = node_ungrouped(n)->child;
	if (!str_eq(print_line(g->arena, whole), print_line(g->arena, node_ungrouped(rest)->child)))
		return;
	f->divisor = by;
	f->name = field_name(g, whole);
}

bool printfield_print(struct printing *g, struct node *n, struct shape_field *f)
{
	const struct expr *e = n->expr;
	struct ctype *t = e ? ctype_strip(e->type) : NULL;
	uint64_t size;
	*f = (struct shape_field){.as = {.bits = 64, .letter = 's'}};
	f->value.type = value_integer(64, e && e->sign != SIGN_UNSIGNED);
	if (!e || n->kind == NODE_MAP)
		return false;
	if (is_light(g, n) || e->kind == EXPR_TEXT || exprtype_is_whole(e, &size))
		return printfield_add(g, n, f);
	if (e->kind == EXPR_BYTES) {
		f->as.letter = 'r';
		f->letters = STR("r");
		return printfield_add(g, n, f);
	}
	bool is_pointer = t && t->kind == CTYPE_POINTER;
	if (e->kind != EXPR_NUMBER || (!has_known_sign(e) && !is_pointer))
		return false;
	f->as.letter = f->value.type->is_signed ? 'd' : 'u';
	printfield_add(g, n, f);
	if (is_pointer)
		f->as.letter = 's';
	return true;
}
