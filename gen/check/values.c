// What functions are called with: how many arguments, and of which kind each is.
#include "check/check_priv.h"

#include "sema/argument.h"

#include "bind/namedarg.h"
#include "lang/vocabulary.h"
#include "dialect/dialect.h"

/** One argument of a call. */
struct argument {
	struct checker *k;
	const struct node *call, *value;
	const char *function, *text; // as they are written
	enum word_wants wants;
	enum expr_kind kind;
	struct meaning m;
};

/** "a string", for what is of another kind than the function takes. */
static const char *kind_text(const struct argument *x)
{
	static const char *const kinds[] = {[EXPR_NUMBER] = "a number",
					    [EXPR_TEXT] = "a string",
					    [EXPR_SHOWN] = "a stack, a symbol or the like",
					    [EXPR_BYTES] = "a buffer",
					    [EXPR_TUPLE] = "a tuple",
					    [EXPR_AGGREGATE] = "a struct or array",
					    [EXPR_AGGREGATION] = "what another map counts"};
	struct ctype *t = x->m.plain;
	if (x->kind == EXPR_NUMBER && check_is_string(t))
		return x->wants == WANTS_TEXT ? "the address of one" : "the address of a string";
	if (x->kind == EXPR_NUMBER && t && t->kind == CTYPE_POINTER)
		return "an address";
	return kinds[x->kind];
}

/** What each takes, as words and as kinds. */
static const struct {
	const char *takes;
	unsigned kinds;
} wanted[] = {
    [WANTS_NUMBER] = {"a number", 1 << EXPR_NUMBER | 1 << EXPR_AGGREGATION},
    [WANTS_SAMPLE] = {"a number", 1 << EXPR_NUMBER},
    [WANTS_TEXT] = {"a string", 1 << EXPR_TEXT},
    [WANTS_STRING] = {"the address of a string", 1 << EXPR_NUMBER},
    [WANTS_STRINGS] = {"the address of an array of strings (char **)", 1 << EXPR_NUMBER},
    [WANTS_BYTES] = {"an address or an array",
		     1 << EXPR_NUMBER | 1 << EXPR_AGGREGATE | 1 << EXPR_TEXT},
    [WANTS_HOST] = {"a number or an array of 4 or 16 bytes",
		    1 << EXPR_NUMBER | 1 << EXPR_AGGREGATE | 1 << EXPR_TEXT},
    [WANTS_CODE] = {"the address of a function", 1 << EXPR_NUMBER},
    [WANTS_KERNEL] = {"an address in the kernel", 1 << EXPR_NUMBER | 1 << EXPR_AGGREGATE},
    [WANTS_STACK] = {"a map or a stack", 1 << EXPR_SHOWN},
};

static enum diag_level level_of(const struct argument *x)
{
	return x->m.type ? check_level(&x->m) : DIAG_ERROR;
}

/** str() of a text is that text from 0.25 on, and of a char array in memory always. */
static bool is_text_again(const struct argument *x)
{
	const struct expr *e = x->value->expr;
	if (x->wants != WANTS_STRING)
		return false;
	return (x->kind == EXPR_TEXT && dialect_takes_str_of_text(x->k->b->given->version)) ||
	       ((e->is_place || e->is_value) && check_is_byte_array(ctype_strip(e->type)));
}

/** False, with an error, for what bpftrace itself would refuse. */
static bool check_kind(const struct argument *x)
{
	const char *remedy = "";
	struct arena *a = x->k->b->arena;
	if (!wanted[x->wants].takes || (wanted[x->wants].kinds >> x->kind & 1) ||
	    is_text_again(x) || x->kind == EXPR_OPEN || x->kind == EXPR_MIXED)
		return true;
	if (x->wants == WANTS_TEXT && check_is_string(x->m.plain))
		remedy = arena_printf(a, ": use str(%s)", x->text);
	else if (x->wants == WANTS_STRING && x->kind == EXPR_TEXT)
		remedy = " already: drop str()";
	check_report(x->k, x->value, "call", level_of(x), "%s() takes %s, but this is %s%s",
		     x->function, wanted[x->wants].takes, kind_text(x), remedy);
	return false;
}

/** What is no address for sure; NULL for what may be one. */
static const char *no_address(const struct argument *x)
{
	const struct ctype *t = x->m.plain;
	const struct node *value = node_ungrouped(x->value);
	if (check_is_floating(&x->m))
		return "the bits of a floating-point number";
	if (t && t->kind == CTYPE_ENUM)
		return "an enum";
	if (t && t->kind == CTYPE_BOOL)
		return "a bool";
	if (t && t->kind == CTYPE_INT && t->size == 1 && t->is_char)
		return "a character";
	unsigned size = 0; // of an argument of a stripped file that is known, too
	if (t && t->kind == CTYPE_INT)
		size = (unsigned)t->size;
	else if (!t && x->value->expr->arg_of && !x->value->expr->is_mixed)
		argument_sign(x->k->b, x->value->expr->arg_of, x->value->expr->arg, &size);
	if (size && size < 8)
		return arena_printf(x->k->b->arena, "a number of %u byte%s", size,
				    size == 1 ? "" : "s");
	const struct word *word =
	    value->kind == NODE_NAME ? vocabulary_word(value->name->text) : NULL;
	return word && word->gives == GIVES_COUNT && !word->is_wide ? "a number" : NULL;
}

/** How to print what is no string. */
static const char *how_to_print(const struct argument *x)
{
	const struct ctype *t = x->m.plain;
	if (x->wants != WANTS_STRING)
		return "";
	if (check_is_floating(&x->m))
		return ": -t prints its value";
	if (t && t->kind == CTYPE_ENUM)
		return arena_printf(x->k->b->arena, ": use enum_name(" STR_FMT ", %s) for its name",
				    STR_ARG(t->name), x->text);
	return t && t->is_char ? ": print it with %c" : ": print it with %d";
}

/** A number of 8 bytes that nothing says to be an address, neither its type nor its name. */
static bool is_bare_number(const struct argument *x)
{
	static const char *const hints[] = {"ptr",  "addr", "buf",  "str", "name",
					    "path", "text", "data", "msg", NULL};
	const struct probearg *arg = argument_of(x->k->b, x->value->expr);
	const struct node *value = node_ungrouped(x->value);
	struct str name = arg ? arg->name : STR("");
	if (!arg && value->kind == NODE_MEMBER)
		name = value->name->text;
	if (x->m.plain->kind != CTYPE_INT || x->m.is_guess || !name.n ||
	    check_is_address_word(x->m.type))
		return false;
	for (size_t i = 0; hints[i]; i++)
		if (str_contains(name, str_from(hints[i])))
			return false;
	return true;
}

static bool is_empty(struct ctype *t)
{
	t = ctype_strip(t);
	if (!t || t->kind != CTYPE_STRUCT || !ctype_complete(t))
		return false;
	for (size_t i = 0; i < t->n_members; i++)
		if (!is_empty(t->members[i].type))
			return false;
	return true;
}

/** The first thing in @t that is no struct; bases that are empty are nowhere. */
static struct ctype *first_in(struct ctype *t)
{
	enum { MAX_NESTING = 20 }; // a corrupt one may hold itself
	for (unsigned n = 0;
	     n < MAX_NESTING && t && t->kind == CTYPE_STRUCT && ctype_complete(t) && t->n_members;
	     n++) {
		size_t i = 0;
		while (i + 1 < t->n_members && is_empty(t->members[i].type))
			i++;
		t = ctype_strip(t->members[i].type);
	}
	return ctype_element(t);
}

/** A pointer to something that has a type, which is neither bytes nor begins with any. */
static bool leads_elsewhere(struct ctype *pointer)
{
	const struct ctype *to = first_in(ctype_pointee(pointer));
	return to && (to->kind == CTYPE_POINTER || to->kind == CTYPE_ENUM ||
		      (to->kind == CTYPE_INT && to->size > 1));
}

static const char *how_to_follow(const struct argument *x)
{
	struct ctype *to = ctype_pointee(x->m.plain);
	// A std::string is some structs around the pointer.
	bool is_wrapped = to->kind == CTYPE_STRUCT && check_is_string(first_in(to)) &&
			  ctype_strip(to->members[0].type)->kind == CTYPE_STRUCT;
	if (to->kind == CTYPE_STRUCT && !is_wrapped)
		return "name one of its members";
	if (is_wrapped || to->kind == CTYPE_POINTER)
		return arena_printf(x->k->b->arena, "str(*(uint64 *)%s) reads what that points to",
				    x->text);
	return arena_printf(x->k->b->arena, "*(uint%u *)%s is the number there",
			    (unsigned)to->size * 8, x->text);
}

/** str() of what is an address, or may be one. */
static void check_string(const struct argument *x)
{
	struct arena *a = x->k->b->arena;
	if (x->wants != WANTS_STRING || !x->m.plain || x->m.is_guess)
		return;
	if (is_bare_number(x))
		check_report(x->k, x->value, "call", DIAG_WARNING,
			     "str() of a number that is not an address: print it with %%d");
	else if (leads_elsewhere(x->m.plain))
		check_report(x->k, x->value, "call", DIAG_WARNING,
			     "str() reads a string, and this points to " STR_FMT ": %s",
			     STR_ARG(ctype_spell(a, ctype_strip(x->m.type)->of)), how_to_follow(x));
}

/** What reads memory, or names what is there. */
static void check_address(const struct argument *x)
{
	const char *what = no_address(x);
	struct ctype *t = x->m.plain;
	bool is_programs = t && t->kind == CTYPE_POINTER && x->value->expr->arg_of;
	if (what)
		check_report(x->k, x->value, "call", level_of(x), "%s() takes %s, but this is %s%s",
			     x->function, wanted[x->wants].takes, what, how_to_print(x));
	else if (x->wants == WANTS_KERNEL && is_programs)
		check_report(
		    x->k, x->value, "call", level_of(x),
		    "%s() takes an address in the kernel, but this is one in the program%s",
		    x->function, tok_is(x->call->name, "ksym") ? ": use usym()" : "");
	else if (x->wants == WANTS_STRINGS && check_is_string(t))
		check_report(x->k, x->value, "call", level_of(x),
			     "%s() takes %s, but this is the address of one string: use str(%s)",
			     x->function, wanted[x->wants].takes, x->text);
	else
		check_string(x);
}

/** From 0.24 on it is no number; in a script that has a target it becomes one (emit/number.c). */
static bool is_truth(const struct checker *k, const struct node *n)
{
	static const char *const names[] = {"==", "!=", "<", ">", "<=", ">=", "&&", "||", NULL};
	n = node_ungrouped(n);
	return dialect_has_bool(k->b->given->version) && !k->b->given->files &&
	       (node_is(n, NODE_UNARY, "!") ||
		(n->kind == NODE_BINARY && tok_is_any(n->name, names)));
}

/** What may be below 0, for those that take it for unsigned. */
static void check_minus(const struct argument *x)
{
	unsigned v = x->k->b->given->version;
	bool is_extreme = tok_is(x->call->name, "min") || tok_is(x->call->name, "max");
	if (is_extreme && dialect_loses_minus(v) && x->value->expr->sign == SIGN_SIGNED &&
	    x->value->kind != NODE_NUMBER)
		check_report(x->k, x->value, "call", DIAG_WARNING,
			     "%s() of bpftrace " DIALECT_FMT
			     " is wrong for negative numbers: if there are none, write (uint64)%s",
			     x->function, DIALECT_ARG(v), x->text);
}

/** What some versions count wrong, or lose: hardly a script has such numbers, nor can one know. */
static void check_range(const struct argument *x)
{
	unsigned v = x->k->b->given->version;
	const struct expr *e = x->value->expr;
	const char *why = NULL;
	if (tok_is(x->call->name, "max") && dialect_loses_negative_max(v) && e->sign == SIGN_SIGNED)
		why = "prints nothing if all numbers are negative";
	else if (tok_is(x->call->name, "min") && dialect_has_narrow_samples(v) && e->is_wide)
		why = "loses numbers from 4294967296 on";
	else if (tok_is(x->call->name, "hist") && dialect_has_narrow_samples(v) && e->is_wide)
		why = "counts numbers from 4294967296 on in [2G, 4G)";
	bool is_certain = node_is(x->value, NODE_NAME, "nsecs");
	if (why)
		check_report(x->k, x->value, "range", is_certain ? DIAG_WARNING : DIAG_OFF,
			     "%s() of bpftrace " DIALECT_FMT " %s", x->function, DIALECT_ARG(v),
			     why);
}

/** hist(), sum() and the like of a number. */
static void check_sample(const struct argument *x)
{
	struct ctype *t = x->m.plain;
	if (is_truth(x->k, x->value))
		check_report(x->k, x->value, "call", DIAG_ERROR,
			     "%s() takes a number, but from bpftrace 0.24 on this is a bool: use "
			     "(%s) ? 1 : 0",
			     x->function, x->text);
	else if (check_is_floating(&x->m))
		check_report(x->k, x->value, "floating-point", level_of(x),
			     "%s() takes the bits of a floating-point number for an integer",
			     x->function);
	else if (check_is_string(t))
		check_report(x->k, x->value, "string-address", DIAG_WARNING,
			     "%s() of the address of a string: count by the string itself, as in "
			     "@[str(%s)] = count()",
			     x->function, x->text);
	else if (t && t->kind == CTYPE_POINTER)
		check_report(x->k, x->value, "call", DIAG_WARNING,
			     "%s() of an address: if you mean it, cast it, as in (uint64)%s",
			     x->function, x->text);
	else if (x->value->expr->kind == EXPR_NUMBER) {
		check_minus(x);
		check_range(x);
	}
}

/** An address in place of what is there. */
static void check_host(const struct argument *x)
{
	struct ctype *t = x->m.plain;
	bool is_text = x->value->kind == NODE_STRING || node_is(x->value, NODE_CALL, "str");
	if (is_text)
		check_report(x->k, x->value, "call", DIAG_ERROR,
			     "ntop() takes %s, but this is a string", wanted[WANTS_HOST].takes);
	else if (x->kind == EXPR_NUMBER && t && t->kind == CTYPE_POINTER)
		check_report(x->k, x->value, "call", level_of(x),
			     "ntop() takes %s, but this is its address: use ntop(*(uint32 *)%s)",
			     wanted[WANTS_HOST].takes, x->text);
}

/** buf() of something whose size bpftrace does not know. */
static void check_bytes(const struct argument *x)
{
	uint64_t size;
	struct ctype *t = x->m.plain;
	bool has_size = t && t->kind == CTYPE_ARRAY && ctype_size(t, &size);
	if (!tok_is(x->call->name, "buf") || x->value->next || x->kind == EXPR_AGGREGATE ||
	    (has_size && !ctype_strip(t->of)->is_char)) {
		if (x->kind == EXPR_NUMBER)
			check_address(x);
		return;
	}
	check_report(x->k, x->value, "call", level_of(x), "buf() needs a length here: buf(%s, %u)",
		     x->text, has_size ? (unsigned)size : 16);
}

// --- what must be written as it is ---

/** Known only when a probe fires: what a macro or a newer bpftrace may compute before is not. */
static bool is_computed(const struct node *n)
{
	unsigned i;
	if (n->kind == NODE_NAME)
		return vocabulary_arg_number(n->name->text, &i) ||
		       vocabulary_word(n->name->text)->gives != GIVES_OTHER;
	return n->kind == NODE_MAP || n->kind == NODE_MEMBER || n->kind == NODE_CALL ||
	       n->kind == NODE_VARIABLE;
}

static void check_literal_number(const struct argument *x)
{
	bool is_mode = x->value->kind == NODE_NAME && x->value->expr &&
		       (x->value->expr->enumerator_of || x->value->expr->is_substituted);
	if (node_is(x->value, NODE_UNARY, "-") && x->value->child->kind == NODE_NUMBER)
		check_report(x->k, x->value, "call", DIAG_ERROR,
			     "%s() takes no negative number here", x->function);
	else if (x->value->kind == NODE_STRING || (is_computed(x->value) && !is_mode))
		check_report(x->k, x->value, "call", DIAG_ERROR, "%s() takes a literal number here",
			     x->function);
}

/**
 * str($1) is right for what becomes a number when the script is compiled: kaddr(), reg(). printf() and
 * time() up to 0.23, and strftime() on all, print "str" then (measured).
 */
static void check_literal_text(const struct argument *x)
{
	const struct node *n = x->value;
	if (vocabulary_word(node_text(x->call))->gives == GIVES_NUMBER &&
	    node_is(n, NODE_CALL, "str") && n->child && !n->child->next &&
	    n->child->kind == NODE_PARAMETER)
		return;
	if (x->value->kind == NODE_NUMBER || (is_computed(x->value) && x->kind != EXPR_OPEN))
		check_report(
		    x->k, x->value, "call", DIAG_ERROR, "%s() takes a string literal here%s",
		    x->function,
		    tok_is(x->call->name, "printf") && x->kind == EXPR_TEXT
			? arena_printf(x->k->b->arena, ": use printf(\"%%s\", %s)", x->text)
			: "");
}

// --- maps ---

static void check_map(const struct argument *x)
{
	const char *remedy = "";
	struct arena *a = x->k->b->arena;
	bool is_map = x->value->kind == NODE_MAP;
	if (is_map && !x->value->child)
		return;
	if (is_map && tok_is(x->call->name, "clear"))
		remedy = arena_printf(a, ": use delete(%s)", x->text);
	else if (is_map && tok_is(x->call->name, "zero"))
		remedy = arena_printf(a, ": use %s = 0", x->text);
	else if (is_map && tok_is(x->call->name, "has_key"))
		remedy = ": its key is the second argument, as in has_key(@x, tid)";
	if (check_missing_sigil(x->k, x->value))
		return; // known.c says it
	check_report(x->k, x->value, "call", DIAG_ERROR, "%s() takes a whole map, but this is %s%s",
		     x->function, is_map ? "one of its values" : "none", remedy);
}

/** delete(@x[k]), delete(@x, k), delete(@x) */
static void check_entry(const struct argument *x)
{
	const struct node *map = x->value->kind == NODE_INDEX ? x->value->child : x->value;
	if (check_missing_sigil(x->k, map))
		return; // the same
	if (x->value->kind != NODE_MAP)
		check_report(x->k, x->value, "call", DIAG_ERROR,
			     "delete() takes a map with its key, as in @x[key]");
	else if (!x->value->next && check_lacks_key(x->k, x->value))
		check_report(
		    x->k, x->call, "call", DIAG_ERROR,
		    "%s has keys: name one, as in delete(%s[tid]), or use clear(%s) for all of "
		    "them",
		    x->text, x->text, x->text);
}

// --- calls ---

static void check_argument(struct argument *x)
{
	const struct expr *e = x->value->expr;
	bool is_whole_map = x->value->kind == NODE_MAP && !x->value->child;
	x->kind = e ? e->kind : EXPR_OPEN;
	if (x->kind == EXPR_NUMBER || x->kind == EXPR_TEXT || x->kind == EXPR_AGGREGATE)
		check_meaning(x->k, x->value, &x->m);
	if (x->wants == WANTS_CONSTANT)
		check_literal_number(x);
	else if (x->wants == WANTS_LITERAL)
		check_literal_text(x);
	else if (x->wants == WANTS_MAP)
		check_map(x);
	else if (x->wants == WANTS_ENTRY)
		check_entry(x);
	else if ((x->wants == WANTS_STACK && is_whole_map) || !check_kind(x) ||
		 x->kind == EXPR_OPEN || x->kind == EXPR_MIXED)
		return;
	else if (x->wants == WANTS_BYTES)
		check_bytes(x);
	else if (x->wants == WANTS_HOST)
		check_host(x);
	else if (x->wants == WANTS_SAMPLE)
		check_sample(x);
	else if (x->kind == EXPR_NUMBER && x->wants != WANTS_NUMBER && x->wants != WANTS_ANY &&
		 x->wants != WANTS_TEXT && x->wants != WANTS_STACK)
		check_address(x);
}

/** The bounds of lhist(x, from, to, step), where all are numbers. */
static void check_bounds(struct checker *k, const struct node *call)
{
	uint64_t at[3];
	const struct node *bound = call->child->next;
	const struct node *first = bound;
	for (size_t i = 0; i < 3; i++, bound = bound->next)
		if (bound->kind != NODE_NUMBER || !str_to_u64(node_text(bound), &at[i]))
			return;
	if (at[0] >= at[1])
		check_report(k, first, "call", DIAG_ERROR,
			     "the range of lhist() is empty: %llu is not below %llu",
			     (unsigned long long)at[0], (unsigned long long)at[1]);
	else if (!at[2] || at[2] > at[1] - at[0])
		check_report(
		    k, first->next->next, "call", DIAG_ERROR,
		    "the step of lhist() must be between 1 and %llu, the range that it divides",
		    (unsigned long long)(at[1] - at[0]));
	else if ((at[1] - at[0]) / at[2] > 1000)
		check_report(
		    k, first->next->next, "call", DIAG_ERROR,
		    "lhist() has at most 1000 buckets, and these would be %llu: use a step of "
		    "at least %llu",
		    (unsigned long long)((at[1] - at[0]) / at[2]),
		    (unsigned long long)((at[1] - at[0] - 1) / 1000 + 1));
}

/** What is only for some numbers, or some arguments, of one function. */
static void check_special(struct checker *k, const struct node *call)
{
	const struct node *value = call->child, *second = value ? value->next : NULL;
	uint64_t bits;
	if (tok_is(call->name, "lhist"))
		check_bounds(k, call);
	if (tok_is(call->name, "hist") && second && second->kind == NODE_NUMBER &&
	    str_to_u64(node_text(second), &bits) && bits > 5)
		check_report(k, second, "call", DIAG_ERROR,
			     "the second argument of hist() must be between 0 and 5");
	if (tok_is(call->name, "print") && second && (value->kind != NODE_MAP || value->child))
		check_report(k, second, "call", DIAG_ERROR,
			     "only print() of a whole map takes a number of entries");
	if (tok_is(call->name, "print")) {
		struct meaning m;
		bool is_known = check_meaning(k, value, &m);
		if (is_known && check_is_floating(&m))
			check_report(
			    k, value, "floating-point", check_level(&m),
			    "print() shows the bits of a floating-point number: -t prints its "
			    "value");
		else if (is_known && check_is_string(m.plain))
			check_report(
			    k, value, "string-address", DIAG_WARNING,
			    "print() shows the address of a string: use print(str(%s)) for its "
			    "text",
			    check_text(k, value));
	}
}

/** Of another number bpftrace speaks, but not of more than it can take of what takes many. */
static bool has_all_arguments(struct checker *k, const struct node *call, const struct word *word)
{
	unsigned n = 0;
	const struct node *at = call;
	for (const struct node *value = call->child; value; value = value->next)
		if (n++ == word->most)
			at = value;
	if (n > word->most && word->most == WORD_MANY) {
		struct diag_place place = tok_place(at->first);
		k->good &= diag_finding(k->b->diag, "call", DIAG_ERROR, &place,
					"%s() takes %u to %u arguments, not %u", word->name,
					word->least, word->most, n);
	}
	return n >= word->least && n <= word->most;
}

static void check_call(struct checker *k, const struct node *call)
{
	const struct word *word = vocabulary_word(call->name->text);
	if (!word->is_counted || script_has_function(&k->b->found.script, call->name->text) ||
	    !has_all_arguments(k, call, word))
		return;
	size_t i = 0;
	unsigned n_before = k->b->diag->n_errors;
	for (const struct node *value = call->child; value; value = value->next, i++) {
		bool is_family = word->wants[0] == WANTS_HOST && value->next;
		struct argument x = {.k = k,
				     .call = call,
				     .value = value,
				     .function = word->name,
				     .text = check_text(k, value)};
		if (i < sizeof(word->wants) / sizeof(word->wants[0]) && !is_family)
			x.wants = word->wants[i];
		check_argument(&x);
		if (k->b->diag->n_errors != n_before)
			return; // what is behind it may only have slipped
	}
	check_special(k, call);
}

// --- strings by their address ---

/** Is it the address of a string, which is declared or inferred to be one? */
static bool is_string_address(struct checker *k, const struct node *n)
{
	struct meaning m;
	return n->expr && n->expr->kind == EXPR_NUMBER && check_meaning(k, n, &m) &&
	       check_is_string(m.plain);
}

static void check_key(struct checker *k, const struct node *map, const struct node *key)
{
	struct str name = map->name ? map->name->text : STR("");
	for (const struct node *c = key->kind == NODE_TUPLE ? key->child : NULL; c; c = c->next)
		check_key(k, map, c);
	if (!is_string_address(k, key))
		return;
	// Of an entry that is looked up or deleted by its key the address stands for what is there.
	const struct use *u = uses_of_map(&k->b->found.uses, name);
	while (u && !(u->node->child && !(u->does & USE_WRITES)))
		u = u->next;
	if (!u)
		check_report(k, key, "string-address", DIAG_WARNING,
			     "this key is the address of a string: use str(%s)",
			     check_text(k, key));
}

static void check_texts_compared(struct checker *k, const struct node *n)
{
	const struct node *left = node_ungrouped(n->child), *right = node_ungrouped(n->child->next);
	if (is_string_address(k, left) && is_string_address(k, right))
		check_report(
		    k, left, "string-address", DIAG_WARNING,
		    "two addresses are compared, not the strings there: use str(%s) %s str(%s)",
		    check_text(k, left), str_dup(k->b->arena, n->name->text), check_text(k, right));
}

// --- floating-point members ---

/** bpftrace refuses them, wherever they stand but in sizeof(). */
static void check_floating_member(struct checker *k, const struct node *n,
				  const struct node *parent)
{
	const struct expr *e = n->expr;
	struct ctype *t = e && e->is_place ? ctype_strip(e->type) : NULL;
	bool is_named =
	    parent->kind == NODE_TYPEOF ||
	    (parent->kind == NODE_CALL && vocabulary_word(parent->name->text)->takes == TAKES_TYPE);
	if (!t || t->kind != CTYPE_FLOAT || t->size > 8 || is_named)
		return;
	const char *bits = "";
	if (e->via_pointer)
		bits = arena_printf(k->b->arena, ": its bits are *(uint%u *)((uint64)%s + %llu)",
				    (unsigned)t->size * 8, check_text(k, n->child),
				    (unsigned long long)e->offset);
	check_report(k, n, "floating-point", DIAG_ERROR, "bpftrace cannot read a " STR_FMT "%s",
		     STR_ARG(t->name), bits);
}

void check_values(struct checker *k, struct node *n, struct node *parent)
{
	if (n->kind == NODE_MEMBER)
		check_floating_member(k, n, parent);
	if (n->kind == NODE_CALL)
		check_call(k, n);
	if (n->kind == NODE_MAP)
		for (const struct node *key = n->child; key; key = key->next)
			check_key(k, n, key);
	if (node_is(n, NODE_BINARY, "==") || node_is(n, NODE_BINARY, "!="))
		check_texts_compared(k, n);
}

// --- strings that are cut ---

bool check_strings(const struct bind *b)
{
	if (!b->made->longest_at || b->made->longest_string < b->made->max_strlen)
		return true;
	struct diag_place at = tok_place(b->made->longest_at);
	bool fits_alone = dialect_strlen_ceiling(b->given->version, 1) > b->made->longest_string;
	return diag_finding(
	    b->diag, "string-cut", DIAG_WARNING, &at,
	    "strings of up to %u characters are cut at %u, the most that bpftrace " DIALECT_FMT " "
	    "can hold%s",
	    b->made->longest_string, b->made->max_strlen - 1, DIALECT_ARG(b->given->version),
	    fits_alone ? " of several at once: print them one by one" : "");
}
