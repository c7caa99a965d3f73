#include <sys/socket.h>

#include "ctype/cxxclass.h"
#include "dialect/dialect.h"
#include "emit/emit_priv.h"
#include "lang/format.h"

/** %d, %u and %x print only 32 bits; %ld and the like print narrower values correctly, too. */
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
 * `%%` after the last conversion becomes `%`: bpftrace before 0.24 prints the rest of a format verbatim. It
 * stays if a single % would be a conversion together with the next letter.
 */
static struct str fix_percent_escapes(struct emitter *e, const struct node *format,
				      struct str whole)
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
		return text; // the script of a host stays unchanged
	text = widen_format(e, format);
	return tok_is(call->name, "printf") && !dialect_has_own_printf(e->b->given->version)
		   ? fix_percent_escapes(e, format, text)
		   : text;
}

/** sizeof() and offsetof(): from 0.23 on bpftrace counts one byte too many for a char array. */
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
	bool is_number = tok_is(n->name, "sizeof") && x && x->width != WIDTH_LITERAL &&
			 !x->bit_size && e->b->given->files;
	if (!digits.n && is_number && expr_width(x))
		digits = str_printf(e->arena, "%u", expr_width(x) / 8);
	return digits.n ? emit_constant(e, n, digits) : NULL;
}

bool emit_is_comm_of_task(const struct node *n)
{
	bool is_comm = n->kind == NODE_MEMBER && tok_is(n->name, "comm");
	while (is_comm && n->kind == NODE_MEMBER)
		n = n->child;
	return is_comm && node_is(n, NODE_NAME, "curtask");
}

/**
 * str() of a char array in a struct that a variable or map holds: to bpftrace it is a string, and str()
 * of it is empty.
 */
static const struct text *emit_str_of_value(struct emitter *e, const struct node *n)
{
	const struct node *array = n->child;
	uint64_t size;
	if (tok_is(n->name, "str") && array && !array->next && emit_is_comm_of_task(array) &&
	    dialect_refuses_arrays_as_text(e->b->given->version))
		return text_format(e, n, "%n", emit(e, array, WANT_VALUE));
	if (!tok_is(n->name, "str") || !array || !array->expr->is_value || !array->expr->type ||
	    !place_is_char_array(ctype_strip(array->expr->type), true, &size))
		return NULL;
	if (array->next)
		e->good = diag_error(e->b->diag, tok_at(n->first),
				     "str() with a length cannot be used on a copy of a struct: "
				     "read the member through a pointer");
	return text_format(e, n, "%n", emit(e, array, WANT_STRING));
}

/** str() of a std::string or std::string_view, or of a pointer or reference to one: so much of its text as it is long. */
static const struct text *emit_str_of_class(struct emitter *e, const struct node *n)
{
	const struct node *of = n->child;
	const struct expr *x = of ? of->expr : NULL;
	struct ctype *to = x ? ctype_pointee(ctype_as_pointer(e->arena, x->type)) : NULL;
	struct cxxclass c;
	if (!tok_is(n->name, "str") || !x || of->next || !e->b->given->files)
		return NULL;
	if (!(to && cxxclass_read(to, &c)) && !(x->is_place && cxxclass_read(x->type, &c)))
		return NULL;
	if (c.kind != CXXCLASS_TEXT)
		return NULL;
	const struct text *at = emit(e, of, to ? WANT_VALUE : WANT_ADDRESS);
	const char *end = dialect_counts_end_of_text(e->b->given->version) ? " + 1" : "";
	e->n_strings++;
	e->n_reads++;
	return text_format(e, n,
			   "str(*(uint64 *)((uint64)(%n) + %u), *(uint64 *)((uint64)(%n) + %u)%t)",
			   at, c.first.off, at, c.second.off, str_from(end));
}

static enum want wants_of_call(const struct emitter *e, const struct node *n,
			       const struct node *child)
{
	const struct word *word = vocabulary_word(n->name->text);
	enum word_takes takes = word->takes;
	const struct ctype *t = child->expr ? ctype_strip(child->expr->type) : NULL;
	if (child != n->child)
		return emit_wants(e, n, child);
	// As in C, an array decays to its address.
	if (t && t->kind == CTYPE_ARRAY &&
	    (word->wants[0] == WANTS_STRINGS ||
	     (word->wants[0] == WANTS_BYTES && child->next && child->expr->is_place)))
		return WANT_ADDRESS;
	return takes == TAKES_POINTER	 ? WANT_POINTER
	       : takes == TAKES_WHOLE	 ? WANT_WHOLE
	       : takes == TAKES_TYPE	 ? WANT_TYPE
	       : !tok_is(n->name, "str") ? emit_wants(e, n, child)
	       : child->next		 ? WANT_STRING_PART
					 : WANT_STRING;
}

/** Is its first argument a mode, a word with a meaning only there: kstack(perf)? */
static bool is_mode(const struct node *call)
{
	const struct node *first = call->child;
	return first && first->kind == NODE_NAME && first->first == first->last &&
	       str_is_any(node_text(first), vocabulary_word(call->name->text)->modes);
}

/**
 * The N of str(p, N), a number of characters: 0.17 and 0.23 end by a signal if it is unsigned and has
 * fewer than 64 bits.
 */
static const struct text *emit_length(struct emitter *e, const struct node *n, const struct text *t)
{
	uint64_t value;
	bool counts_end = dialect_counts_end_of_text(e->b->given->version);
	const struct node *cast = node_ungrouped(n);
	// LLVM compares a value cast to 32 bits in 32 bits, from which the verifier derives no bounds of 64.
	bool is_cut = t->repr == REPR_NARROW && cast->kind == NODE_CAST &&
		      ctype_strip(cast->expr->type)->size == 4;
	if (t->repr == REPR_NARROW)
		t = number_make(e, n, t, false);
	if (is_cut)
		t = text_format(e, n, "(%n & %u)", t, (uint64_t)INT32_MAX);
	bool is_refused = node_is(n, NODE_UNARY, "-") && n->child->kind == NODE_NUMBER;
	if (!counts_end || is_refused || (n->expr && n->expr->kind == EXPR_TEXT))
		return t;
	return n->kind == NODE_NUMBER && str_to_u64(node_text(n), &value)
		   ? text_format(e, n, "%u", value + 1)
		   : text_format(e, n, "%c + 1", t);
}

/** The maximum of `lhist(x, 0, 10 * 10, 10)`, @t, as digits. */
static const struct text *emit_folded(struct emitter *e, const struct node *n, const struct text *t)
{
	uint64_t value;
	bool folds = dialect_folds_constants(e->b->given->version);
	return !folds && n->kind != NODE_NUMBER && node_fold(n, NODE_FOLDS, &value)
		   ? text_format(e, n, "%u", value)
		   : t;
}

static const struct text *emit_plain_call(struct emitter *e, const struct node *n)
{
	if (emit_is_has_cpid(e, n))
		return emit_instead(e, n, text_format(e, n, "(__builtin_cpid != 0)"));
	bool prints = format_find(n) != NULL;
	enum word_gives gives = vocabulary_word(n->name->text)->gives;
	const struct text **children = emit_children(e, n, wants_of_call);
	const struct text *shifted =
	    gives == GIVES_AGGREGATION && n->child ? store_shifted(e, n, children[0]) : NULL;
	size_t i = 0;
	if (shifted)
		return shifted;
	if (is_mode(n))
		// AF_INET and AF_INET6, which bpftrace knows from headers only, as numbers.
		children[0] = tok_is(n->child->first, "AF_INET")
				  ? text_format(e, n->child, "%u", (uint64_t)AF_INET)
			      : tok_is(n->child->first, "AF_INET6")
				  ? text_format(e, n->child, "%u", (uint64_t)AF_INET6)
				  : emit_verbatim(e, n->child);
	if (prints)
		children[0] =
		    text_format(e, n->child, "%t", since_format(e, n, emit_format(e, n, n->child)));
	if (tok_is(n->name, "print") && n->child)
		emit_warn_of_copy(e, n->child, IS_PRINTED);
	for (const struct node *c = n->child; c && !prints && !tok_is(n->name, "print");
	     c = c->next, i++)
		if (gives == GIVES_AGGREGATION && i > 0)
			children[i] = emit_folded(e, c, children[i]);
		else if (gives == GIVES_AGGREGATION)
			children[i] = store_sample(e, n, c, children[i]);
		else if (i > 0) // else it is the map of delete(@m, key)
			children[i] = number_for_store(e, c, children[i]);
		else if (tok_is(n->name, "print"))
			children[i] = number_of_bool(e, c, children[i]);
	// A parameter has the type of its argument, and two truths add up to one.
	bool is_macro = e->b->given->files && script_macro(&e->b->found.script, n);
	i = 0;
	for (const struct node *c = n->child; c && is_macro; c = c->next, i++)
		if (children[i]->is_bool)
			children[i] = number_make(e, c, children[i], true);
	if (tok_is(n->name, "str") && n->child && n->child->next)
		children[1] = emit_length(e, n->child->next, children[1]);
	if (node_is(n, NODE_CALL, "str")) {
		e->n_strings++;
		e->n_reads++;
	}
	bool is_swap = node_is(n, NODE_CALL, "bswap") && n->child && e->good;
	if (is_swap)
		children[0] = emit_cut_to_width(e, n->child, children[0]);
	struct text *t = emit_with_children(e, n, children);
	if (is_swap)
		t->repr = children[0]->repr == REPR_NARROW ? REPR_NARROW : REPR_UNSIGNED;
	return t;
}

/** Counts the strings that @n prints at once: see sema/strings.h. */
static void count_strings(struct emitter *e, const struct node *n, unsigned strings, bool reads)
{
	if (!strings)
		return;
	strings += e->in_loop > 0; // the loop counter stays on the stack
	strings += strings_beside(&e->beside, n);
	strings -= !reads; // it needs no buffer of its own
	if (strings > e->most_strings)
		e->most_strings = strings;
}

const struct text *emit_call(struct emitter *e, const struct node *n)
{
	const struct text *t = fold_size(e, n);
	unsigned strings = e->n_strings, reads = e->n_reads;
	const struct node *was = e->in_key;
	struct name_lookup found;
	if (format_find(n)) // in a block: no part of the key
		e->in_key = NULL;
	if (!t)
		t = emit_str_of_value(e, n);
	if (!t)
		t = emit_str_of_class(e, n);
	if (!t && name_find(e, n, &found))
		t = name_emit(e, n, &found);
	// A macro may use only the maps that it is given.
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
