#include "bind/constant.h"

#include <inttypes.h>

#include "bind/typeuse.h"

/** "arg12", "sarg3" */
static bool is_arg(struct str s)
{
	size_t n = str_has_prefix(s, STR("sarg")) ? 4 : 3;
	if ((n == 3 && !str_has_prefix(s, STR("arg"))) || s.n <= n || s.n > n + 2)
		return false;
	for (size_t i = n; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

/**
 * What some bpftrace from 0.17 to 0.27 takes a bare word for: builtin variables, functions without arguments (which 0.24
 * and newer take without parentheses, too), keywords.
 */
static bool is_bpftrace_word(struct str s)
{
	static const char *const words[] = {
	    "args",	"cgroup",   "comm",	   "cpid",
	    "cpu",	"ctx",	    "curtask",	   "default_str_length",
	    "elapsed",	"func",	    "gid",	   "has_cpid",
	    "jiffies",	"kstack",   "leader_comm", "leader_tid",
	    "ncpus",	"nsecs",    "numaid",	   "pcomm",
	    "pid",	"ppid",	    "probe",	   "probetype",
	    "rand",	"retval",   "tid",	   "uid",
	    "usermode", "username", "ustack",	   "if",
	    "else",	"while",    "for",	   "unroll",
	    "return",	"break",    "continue",	   "let",
	    "comptime", "config",   "sizeof",	   "offsetof",
	    "typeof",	"typeinfo", "struct",	   "union",
	    "enum",	"true",	    "false",	   NULL};
	return str_is_any(s, words) || is_arg(s) || typeuse_is_builtin(s);
}

/** Words that mean something to one function only: kstack(perf), nsecs(tai), pid(init), ntop(AF_INET, x). */
static bool is_mode(const struct token *function, const struct token *paren, struct str s)
{
	static const char *const stack[] = {"bpftrace", "perf", "raw", "build_id", NULL};
	static const char *const clock[] = {"boot", "monotonic", "tai", "sw_tai", NULL};
	static const char *const ns[] = {"curr_ns", "init", NULL};
	static const char *const family[] = {"AF_INET", "AF_INET6", NULL};
	if (!function || !tok_is(paren, "("))
		return false;
	if (tok_is(function, "kstack") || tok_is(function, "ustack"))
		return str_is_any(s, stack);
	if (tok_is(function, "pid") || tok_is(function, "tid"))
		return str_is_any(s, ns);
	return (tok_is(function, "nsecs") && str_is_any(s, clock)) ||
	       (tok_is(function, "ntop") && str_is_any(s, family));
}

/** `RED` or `a::b::RED`. */
struct name {
	struct token *first, *last;
	struct str text;
	bool has_scopes;
};

/** `::` is one token or two; the one behind it, or NULL. */
static struct token *behind_scope(struct token *t)
{
	if (tok_is(t, "::"))
		return t->next;
	return tok_is(t, ":") && tok_is(t->next, ":") && !t->next->space ? t->next->next : NULL;
}

/** The name that starts at @t, which may be its first `::`; false when none does. */
static bool read_name(struct arena *a, struct token *t, struct name *ret)
{
	struct token *next = behind_scope(t);
	struct token *word = next ? next : t;
	struct name n = {t, word, word->text, next != NULL};
	if (word->kind != TOK_IDENT)
		return false;
	while ((next = behind_scope(n.last->next)) && next->kind == TOK_IDENT) {
		n.text = str_from(
		    arena_printf(a, STR_FMT "::" STR_FMT, STR_ARG(n.text), STR_ARG(next->text)));
		n.last = next;
		n.has_scopes = true;
	}
	*ret = n;
	return true;
}

/** A name that can only be a value: not a call, a member, a map, a variable or a type's name. */
static bool is_value(const struct token *before, const struct name *n)
{
	static const char *const not_behind[] = {"@", ".", "->", "struct", "union", "enum", "::"};
	if (n->text.p[0] == '$' || tok_is(n->last->next, "("))
		return false;
	for (size_t i = 0; before && i < sizeof(not_behind) / sizeof(not_behind[0]); i++)
		if (tok_is(before, not_behind[i]))
			return false;
	return n->has_scopes || !is_bpftrace_word(n->text);
}

static void collect_own(struct bind *b, struct map *own)
{
	for (struct map_entry *e = NULL; (e = map_next(b->header_names, e));)
		map_add(b->arena, own, e->key);
	for (size_t i = 0; i < b->script.definitions.n; i++) {
		struct script_range r = b->script.definitions.v[i].range;
		for (struct token *t = r.first; t; t = t->next) {
			if (t->kind == TOK_IDENT)
				map_add(b->arena, own, t->text);
			if (t == r.last)
				break;
		}
	}
}

static struct str number(struct arena *a, int64_t value, const struct ctype *of)
{
	if (value >= 0)
		return str_from(arena_printf(a, "%" PRId64, value));
	if (of && !of->is_signed)
		return str_from(arena_printf(a, "0x%" PRIx64, (uint64_t)value));
	return str_from(arena_printf(a, "(%" PRId64 ")", value));
}

static void put_number(struct bind *b, struct name *n, int64_t value, const struct ctype *of)
{
	n->first->text = number(b->arena, value, of);
	n->first->kind = value < 0 ? TOK_OTHER : TOK_NUMBER;
	n->first->next = n->last->next;
}

/** From behind @open up to @end. */
static bool fold_range(struct bind *b, struct token *open, const struct token *end,
		       const struct map *own)
{
	const struct token *function = NULL, *before = open;
	bool good = true;
	for (struct token *t = open->next; t != end; function = before, before = t, t = t->next) {
		int64_t value;
		struct ctype *of = NULL;
		struct name n;
		if (!read_name(b->arena, t, &n))
			continue;
		bool wanted = is_value(before, &n) && !is_mode(function, before, n.text) &&
			      !map_get(own, n.text);
		if (wanted && lookup_enumerator(b->lookup, n.text, &value, &of)) {
			put_number(b, &n, value, of);
		} else if (wanted && n.has_scopes) { // no bpftrace has such names
			struct diag_place at = tok_place(n.last);
			good = lookup_say_unknown(b->lookup, &at, "type or enumerator", n.text,
						  DWFIND_TYPES | DWFIND_ENUMERATOR);
			t = n.last;
		}
	}
	return good;
}

bool constant_fold(struct bind *b)
{
	struct map own = {0};
	bool good = true;
	if (!bind_lookup(b))
		return true;
	collect_own(b, &own);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		if (typeuse_is_kernel_clause(c))
			continue; // a kernel name may be meant there, and bpftrace finds those itself
		bind_lookup_from(b, i);
		if (c->predicate.first)
			good &= fold_range(b, c->predicate_open, c->predicate_close, &own);
		good &= fold_range(b, c->body.first, c->body.last, &own);
	}
	return good;
}
