// What functions are called with, where bpftrace takes it and does something else, or ends with a signal.
#include "check/check_priv.h"

#include "ctype/cxxclass.h"
#include "sema/arg_fact.h"

#include "bind/namedarg.h"
#include "dialect/dialect.h"

/** One argument of a call. */
struct argument {
	struct checker *k;
	const struct node *call, *value;
	const char *function, *text; // as they are written
	enum word_wants wants;
	struct meaning m;
};

/** What each takes, in words. */
static const char *const wanted[] = {
    [WANTS_STRING] = "the address of a string",
    [WANTS_STRINGS] = "the address of an array of strings (char **)",
    [WANTS_BYTES] = "an address or an array",
    [WANTS_HOST] = "a number or an array of 4 or 16 bytes",
    [WANTS_CODE] = "the address of a function",
    [WANTS_KERNEL] = "an address in the kernel",
};

static enum diag_level level_of(const struct argument *x)
{
	return x->m.type ? check_level(&x->m) : DIAG_ERROR;
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
		arg_fact_sign(x->k->b, x->value->expr->arg_of, x->value->expr->arg, &size);
	if (size && size < 8)
		return arena_printf(x->k->b->arena, "a number of %u byte%s", size,
				    size == 1 ? "" : "s");
	const struct word *word =
	    value->kind == NODE_NAME ? vocabulary_word(value->name->text) : NULL;
	bool is_count = word && (word->gives == GIVES_COUNT || word->gives == GIVES_TRUTH);
	return is_count && !word->is_wide ? "a number" : NULL;
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

/** A number of 8 bytes that neither its type nor its name marks as an address. */
static bool is_bare_number(const struct argument *x)
{
	static const char *const hints[] = {"ptr",  "addr", "buf",  "str", "name",
					    "path", "text", "data", "msg", NULL};
	const struct probearg *arg = arg_fact_of(x->k->b, x->value->expr);
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
	struct cxxclass c;
	if (cxxclass_read(ctype_pointee(pointer), &c) && c.kind == CXXCLASS_TEXT)
		return false; // of which str() reads the text
	return to && (to->kind == CTYPE_POINTER || to->kind == CTYPE_ENUM ||
		      (to->kind == CTYPE_INT && to->size > 1));
}

static const char *how_to_follow(const struct argument *x)
{
	struct ctype *to = ctype_pointee(x->m.plain);
	// A std::string is some structs around the pointer.
	bool is_wrapped = to->kind == CTYPE_STRUCT && ctype_is_text(first_in(to)) &&
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
			     x->function, wanted[x->wants], what, how_to_print(x));
	else if (x->wants == WANTS_KERNEL && is_programs)
		check_report(
		    x->k, x->value, "call", level_of(x),
		    "%s() takes an address in the kernel, but this is one in the program%s",
		    x->function, tok_is(x->call->name, "ksym") ? ": use usym()" : "");
	else if (x->wants == WANTS_STRINGS && ctype_is_text(t))
		check_report(x->k, x->value, "call", level_of(x),
			     "%s() takes %s, but this is the address of one string: use str(%s)",
			     x->function, wanted[x->wants], x->text);
	else
		check_string(x);
}

/** hist(), sum() and the like of a number. */
static void check_sample(const struct argument *x)
{
	struct ctype *t = x->m.plain;
	if (check_is_floating(&x->m))
		check_report(x->k, x->value, "floating-point", level_of(x),
			     "%s() takes the bits of a floating-point number for an integer",
			     x->function);
	else if (ctype_is_text(t))
		check_report(x->k, x->value, "string-address", DIAG_WARNING,
			     "%s() of the address of a string: count by the string itself, as in "
			     "@[str(%s)] = count()",
			     x->function, x->text);
	else if (t && t->kind == CTYPE_POINTER)
		check_report(x->k, x->value, "call", DIAG_WARNING,
			     "%s() of an address: if you mean it, cast it, as in (uint64)%s",
			     x->function, x->text);
}

/** Four characters are an address to bpftrace, and to 0.27 so is what a buffer begins with. */
static void check_wrapped(const struct argument *x)
{
	const struct expr *e = x->value->expr;
	bool is_text = x->value->kind == NODE_STRING || node_is(x->value, NODE_CALL, "str");
	bool is_buffer = e && e->kind == EXPR_BYTES && tok_is(x->call->name, "macaddr");
	if (is_buffer || (x->wants == WANTS_HOST && is_text))
		check_report(x->k, x->value, "call", DIAG_ERROR, "%s() takes %s, but this is a %s",
			     x->function, wanted[x->wants], is_buffer ? "buffer" : "string");
}

/** An address in place of what is there. */
static void check_host(const struct argument *x)
{
	struct ctype *t = x->m.plain;
	if (t && t->kind == CTYPE_POINTER)
		check_report(x->k, x->value, "call", level_of(x),
			     "ntop() takes %s, but this is its address: use ntop(*(uint32 *)%s)",
			     wanted[WANTS_HOST], x->text);
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

/** 0.27 aborts where hist() is given another one, and takes 2^63 for a negative one in lhist(). */
static void check_literal_number(const struct argument *x)
{
	struct constant c;
	bool is_mode = x->value->kind == NODE_NAME && x->value->expr &&
		       (x->value->expr->enumerator_of || x->value->expr->is_substituted);
	if (check_constant(x->k, x->value, &c) && c.bits > INT64_MAX)
		check_report(x->k, x->value, "call", DIAG_ERROR,
			     "%s() takes no number below 0 or above %lld here", x->function,
			     (long long)INT64_MAX);
	else if (x->value->kind == NODE_STRING || (is_computed(x->value) && !is_mode))
		check_report(x->k, x->value, "call", DIAG_ERROR, "%s() takes a literal number here",
			     x->function);
}

/**
 * str($1) is right for what becomes a number when the script is compiled: kaddr(), reg(). printf() and
 * time() up to 0.23, and strftime() on all, print "str" then; 0.27 crashes at reg() and cgroup_path() of
 * what is none (measured).
 */
static void check_literal_text(const struct argument *x)
{
	const struct node *n = x->value;
	if (vocabulary_word(node_text(x->call))->gives == GIVES_NUMBER &&
	    node_is(n, NODE_CALL, "str") && n->child && !n->child->next &&
	    n->child->kind == NODE_PARAMETER)
		return;
	// A macro may be a literal.
	bool is_known = n->expr && n->expr->kind != EXPR_OPEN && !n->expr->is_substituted;
	if (n->kind == NODE_NUMBER || (is_computed(n) && is_known))
		check_report(x->k, n, "call", DIAG_ERROR, "%s() takes a string literal here",
			     x->function);
}

// --- calls ---

static void check_argument(struct argument *x)
{
	const struct expr *e = x->value->expr;
	if (x->wants == WANTS_CONSTANT)
		check_literal_number(x);
	else if (x->wants == WANTS_LITERAL)
		check_literal_text(x);
	check_wrapped(x);
	// bpftrace reports non-numbers.
	if (!e || e->kind != EXPR_NUMBER)
		return;
	check_meaning(x->k, x->value, &x->m);
	if (e->width == WIDTH_DIFFERS && tok_is(x->call->name, "bswap"))
		check_report(x->k, x->value, "call", DIAG_WARNING,
			     "%s holds numbers of different widths, of which bswap() swaps 64 "
			     "bits: cast it, as in bswap((uint16)%s)",
			     x->text, x->text);
	if (x->wants == WANTS_SAMPLE)
		check_sample(x);
	else if (x->wants == WANTS_HOST)
		check_host(x);
	else if (wanted[x->wants])
		check_address(x);
}

/** print() of a number that means something else. */
static void check_print(struct checker *k, const struct node *value)
{
	struct meaning m;
	if (!check_meaning(k, value, &m))
		return;
	if (check_is_floating(&m))
		check_report(k, value, "floating-point", check_level(&m),
			     "print() shows the bits of a floating-point number: -t prints its "
			     "value");
	else if (ctype_is_text(m.plain))
		check_report(k, value, "string-address", DIAG_WARNING,
			     "print() shows the address of a string: use print(str(%s)) for its "
			     "text",
			     check_text(k, value));
}

/** `__BPFTRACE__ >= 23` */
static bool is_version_test(const struct node *n)
{
	return (node_operator(n) & OP_ORDER) && n->child->kind == NODE_NUMBER &&
	       n->last_child->kind == NODE_NUMBER;
}

static void check_call(struct checker *k, const struct node *call)
{
	const struct word *word = vocabulary_word(call->name->text);
	size_t i = 0, most = sizeof(word->wants) / sizeof(word->wants[0]);
	unsigned n_before = k->b->diag->n_errors;
	if (script_has_function(&k->b->found.script, call->name->text))
		return;
	for (const struct node *value = call->child; value && i < most; value = value->next, i++) {
		bool is_family = word->wants[0] == WANTS_HOST && value->next;
		struct argument x = {.k = k,
				     .call = call,
				     .value = value,
				     .function = word->name,
				     .text = check_text(k, value),
				     .wants = is_family ? WANTS_ANY : word->wants[i]};
		check_argument(&x);
		if (k->b->diag->n_errors != n_before)
			return; // the values after it may only have slipped
	}
	if (tok_is(call->name, "print") && call->child)
		check_print(k, call->child);
	if (!tok_is(call->name, "str") || !call->child || !call->child->next)
		return;
	// The length counted a NUL in some versions, for which scripts add 1.
	const struct node *sum = node_ungrouped(call->child->next);
	if (node_is(sum, NODE_BINARY, "+") && node_find(sum->last_child, is_version_test))
		check_report(k, sum->last_child, "call", DIAG_WARNING,
			     "str() reads as many characters on every bpftrace: this adds one");
}

// --- strings by their address ---

/** Is it the address of a string, which is declared or inferred to be one? */
static bool is_string_address(struct checker *k, const struct node *n)
{
	struct meaning m;
	return n->expr && n->expr->kind == EXPR_NUMBER && check_meaning(k, n, &m) &&
	       ctype_is_text(m.plain);
}

/**
 * The call of strerror() or cgroup_path() that @n is, or that its variable or map is assigned; NULL for none.
 * Through @depth variables at most.
 */
static const struct node *find_named_later(const struct checker *k, const struct node *n,
					   unsigned depth)
{
	static const char *const words[] = {"strerror", "cgroup_path", NULL};
	const struct use *u = NULL;
	n = node_ungrouped(n);
	if (n->kind == NODE_CALL && tok_is_any(n->name, words))
		return n;
	if (n->kind == NODE_MAP)
		u = uses_of_map(&k->b->found.uses, n->name ? n->name->text : STR(""));
	if (n->kind == NODE_VARIABLE) {
		const struct used_name *name =
		    map_get(uses_variables(&k->b->found.uses, k->clause->clause), node_text(n));
		u = name ? name->first : NULL;
	}
	const struct node *found = NULL;
	for (; u && depth && !found; u = u->next)
		if ((u->does & USE_SET) && u->value)
			found = find_named_later(k, u->value, depth - 1);
	return found;
}

/** bpftrace ends by a signal when it prints the map. */
static void check_named_key(struct checker *k, const struct node *map, const struct node *key)
{
	unsigned v = k->b->given->version;
	bool is_alone = !map->child->next && node_ungrouped(key)->kind != NODE_TUPLE;
	const struct node *call = NULL;
	if (!k->b->given->is_any_version &&
	    (is_alone ? dialect_aborts_on_named_key(v) : dialect_aborts_on_named_part(v)))
		call = find_named_later(k, key, 3);
	if (call)
		check_report(k, key, "version", DIAG_ERROR,
			     "bpftrace " DIALECT_FMT " cannot print " STR_FMT
			     "() as a key: use %s, its argument",
			     DIALECT_ARG(v), STR_ARG(call->name->text),
			     call->child ? check_text(k, call->child) : "errno");
}

static void check_key(struct checker *k, const struct node *map, const struct node *key)
{
	check_named_key(k, map, key);
	struct str name = map->name ? map->name->text : STR("");
	for (const struct node *c = key->kind == NODE_TUPLE ? key->child : NULL; c; c = c->next)
		check_key(k, map, c);
	if (!is_string_address(k, key))
		return;
	// To look up or delete an entry, the address identifies it.
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
static void check_floating_member(struct checker *k, const struct node *n)
{
	const struct expr *e = n->expr;
	struct ctype *t = e && e->is_place ? ctype_strip(e->type) : NULL;
	bool is_named = n->parent->kind == NODE_TYPEOF ||
			(n->parent->kind == NODE_CALL &&
			 vocabulary_word(n->parent->name->text)->takes == TAKES_TYPE);
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

void check_values(struct checker *k, struct node *n)
{
	if (n->kind == NODE_MEMBER)
		check_floating_member(k, n);
	if (n->kind == NODE_CALL)
		check_call(k, n);
	if (n->kind == NODE_MAP)
		for (const struct node *key = n->child; key; key = key->next)
			check_key(k, n, key);
	if (node_operator(n) & OP_EQUALITY)
		check_texts_compared(k, n);
}

// --- strings that are cut ---

/** May it be a string of @length characters? */
static bool may_be_long(const struct node *n, uint64_t length)
{
	n = node_ungrouped(n);
	uint64_t size;
	bool is_name = n->kind == NODE_VARIABLE || n->kind == NODE_MAP;
	if (!node_is(n, NODE_CALL, "str") || !n->child)
		return is_name && n->expr && n->expr->kind == EXPR_TEXT;
	const struct node *most = n->child->next;
	if (most)
		return most->kind != NODE_NUMBER || !str_to_u64(node_text(most), &size) ||
		       size >= length;
	const struct ctype *t = n->child->expr ? ctype_strip(n->child->expr->type) : NULL;
	return !t || t->kind != CTYPE_ARRAY || t->count >= length;
}

static bool check_cut_compared(const struct bind *b, const struct node *n)
{
	unsigned most = b->made->max_strlen - 1;
	if (!(node_operator(n) & OP_EQUALITY) || !may_be_long(n->child, most) ||
	    !may_be_long(n->child->next, most))
		return true;
	return diag_finding(b->diag, "string-cut", DIAG_WARNING, tok_at(n->name),
			    "bpftrace " DIALECT_FMT
			    " compares the first %u characters of these strings: use 0.23 or newer "
			    "for longer ones",
			    DIALECT_ARG(b->given->version), most);
}

bool check_strings(const struct bind *b)
{
	const struct node *program = b->found.script.program;
	bool good = true;
	if (dialect_prints_from_stack(b->given->version) && b->made->max_strlen && b->given->files)
		for (const struct node *n = program; n; n = node_next(program, n))
			good &= check_cut_compared(b, n);
	if (!b->made->longest_at || b->made->longest_string < b->made->max_strlen)
		return good;
	bool fits_alone = dialect_strlen_ceiling(b->given->version, 1) > b->made->longest_string;
	return good &
	       diag_finding(b->diag, "string-cut", DIAG_WARNING, tok_at(b->made->longest_at),
			    "strings of up to %u characters are truncated to %u, the most that "
			    "bpftrace " DIALECT_FMT " "
			    "can hold%s",
			    b->made->longest_string, b->made->max_strlen - 1,
			    DIALECT_ARG(b->given->version),
			    fits_alone ? " of several at once: print them one by one" : "");
}
