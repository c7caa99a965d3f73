#include "bind/constant.h"

#include <inttypes.h>

#include "bind/typeuse.h"

/** What bpftrace 0.17 to 0.27 itself takes a bare word for: its builtin variables and keywords. */
static bool is_bpftrace_word(struct str s)
{
	static const char *const words[] = {"args",
					    "arg0",
					    "arg1",
					    "arg2",
					    "arg3",
					    "arg4",
					    "arg5",
					    "arg6",
					    "arg7",
					    "arg8",
					    "arg9",
					    "arg10",
					    "arg11",
					    "sarg0",
					    "sarg1",
					    "sarg2",
					    "sarg3",
					    "sarg4",
					    "sarg5",
					    "sarg6",
					    "sarg7",
					    "sarg8",
					    "sarg9",
					    "cgroup",
					    "comm",
					    "cpid",
					    "cpu",
					    "ctx",
					    "curtask",
					    "elapsed",
					    "func",
					    "gid",
					    "jiffies",
					    "kstack",
					    "ncpus",
					    "nsecs",
					    "numaid",
					    "pcomm",
					    "pid",
					    "ppid",
					    "probe",
					    "rand",
					    "retval",
					    "tid",
					    "uid",
					    "uaddr",
					    "username",
					    "usermode",
					    "ustack",
					    "if",
					    "else",
					    "while",
					    "for",
					    "unroll",
					    "return",
					    "break",
					    "continue",
					    "let",
					    "in",
					    "sizeof",
					    "offsetof",
					    "struct",
					    "union",
					    "enum",
					    "BEGIN",
					    "END",
					    "begin",
					    "end",
					    "bpftrace",
					    "perf",
					    "true",
					    "false",
					    "us",
					    "ms",
					    "s",
					    "hz",
					    "ns",
					    "boot",
					    "tai",
					    "sw_tai",
					    "monotonic",
					    "raw",
					    "symbolize_address",
					    "import",
					    "macro",
					    "fn",
					    "config",
					    "subprog",
					    "stdin",
					    "stdout",
					    "NULL",
					    "AF_INET",
					    "AF_INET6",
					    "typeof",
					    "build_id",
					    "typeinfo",
					    "map_key"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eqz(s, words[i]))
			return true;
	return typeuse_is_builtin(s);
}

/** A word that can only be a value: not a call, a member, a map, a variable or a type's name. */
static bool is_value(const struct token *before, const struct token *t)
{
	static const char *const not_behind[] = {"@", ".", "->", "struct", "union", "enum", "::"};
	if (t->kind != TOK_IDENT || t->text.p[0] == '$' || tok_is(t->next, "(") ||
	    tok_is(t->next, "::"))
		return false;
	for (size_t i = 0; before && i < sizeof(not_behind) / sizeof(not_behind[0]); i++)
		if (tok_is(before, not_behind[i]))
			return false;
	return !is_bpftrace_word(t->text);
}

static void collect_own(struct bind *b, struct map *own)
{
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

/** From behind @open up to @end. */
static void fold_range(struct bind *b, struct token *open, const struct token *end,
		       const struct map *own)
{
	const struct token *before = open;
	for (struct token *t = open->next; t != end; before = t, t = t->next) {
		int64_t value;
		struct ctype *of = NULL;
		if (is_value(before, t) && !map_get(own, t->text) &&
		    lookup_enumerator(bind_lookup(b), t->text, &value, &of)) {
			t->text = number(b->arena, value, of);
			t->kind = value < 0 ? TOK_OTHER : TOK_NUMBER;
		}
	}
}

void constant_fold(struct bind *b)
{
	struct map own = {0};
	if (!bind_lookup(b))
		return;
	collect_own(b, &own);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		if (typeuse_is_kernel_clause(c))
			continue; // a kernel name may be meant there, and bpftrace finds those itself
		if (c->predicate.first)
			fold_range(b, c->predicate_open, c->predicate_close, &own);
		fold_range(b, c->body.first, c->body.last, &own);
	}
}
