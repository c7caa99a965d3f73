#include "bind/constant.h"

#include <inttypes.h>

#include "bind/attach.h"
#include "bind/typeuse.h"
#include "lang/change.h"
#include "lang/print.h"

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
static bool is_mode(const struct node *call, struct str s)
{
	static const char *const stack[] = {"bpftrace", "perf", "raw", "build_id", NULL};
	static const char *const clock[] = {"boot", "monotonic", "tai", "sw_tai", NULL};
	static const char *const ns[] = {"curr_ns", "init", NULL};
	static const char *const family[] = {"AF_INET", "AF_INET6", NULL};
	if (tok_is(call->name, "kstack") || tok_is(call->name, "ustack"))
		return str_is_any(s, stack);
	if (tok_is(call->name, "pid") || tok_is(call->name, "tid"))
		return str_is_any(s, ns);
	return (tok_is(call->name, "nsecs") && str_is_any(s, clock)) ||
	       (tok_is(call->name, "ntop") && str_is_any(s, family));
}

static struct str number(struct arena *a, int64_t value, const struct ctype *of)
{
	if (value >= 0)
		return str_from(arena_printf(a, "%" PRId64, value));
	if (of && !of->is_signed)
		return str_from(arena_printf(a, "0x%" PRIx64, (uint64_t)value));
	return str_from(arena_printf(a, "(%" PRId64 ")", value));
}

bool constant_lower(struct bind *b, const struct attach_clause *c, struct node *n,
		    const struct node *parent)
{
	int64_t value;
	struct ctype *of = NULL;
	struct str name = print_text(b->arena, n);
	bool has_scopes = n->first != n->last, is_argument = parent->kind == NODE_CALL;
	// A kernel name may be meant there, and bpftrace finds those itself.
	if (!b->lookup || typeuse_is_kernel_clause(c->clause) ||
	    (!has_scopes && is_bpftrace_word(name)) || typeuse_defines(b, name) ||
	    (is_argument && parent->child == n && is_mode(parent, name)))
		return true;
	if (str_has_prefix(name, STR("::")))
		name = str_from_offset(name, 2);
	if (lookup_enumerator(b->lookup, name, &value, &of)) {
		if (value < 0)
			change(b->arena, n, "%t", number(b->arena, value, of));
		else
			change_leaf(b->arena, n, NODE_NUMBER, number(b->arena, value, of));
		return true;
	}
	struct diag_place at = tok_place(n->last);
	return !has_scopes || // no bpftrace has such names
	       lookup_say_unknown(b->lookup, &at, "type or enumerator", name,
				  DWFIND_TYPES | DWFIND_ENUMERATOR);
}
