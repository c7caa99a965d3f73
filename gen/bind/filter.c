#include "bind/filter.h"

#include <inttypes.h>

#include "dialect/dialect.h"
#include "process/cgroup.h"

/**
 * The processes that are traced are the keys of a map. A child of one is, too, that was made before
 * sched_process_fork was attached.
 */
#define FAMILY "@btgen_traced"
#define IS_OF_FAMILY "(" FAMILY "[pid] || " FAMILY "[(uint64)curtask->real_parent->tgid])"

/** "pid == 42", or "(pid == 42 || pid == 43)" */
static const char *is_traced(const struct bind *b)
{
	const char *test = "";
	if (b->given->has_family)
		return IS_OF_FAMILY;
	if (!b->given->cgroup && b->given->n_pids <= 1)
		return arena_printf(b->arena, "pid == %d", b->given->proc->pid);
	for (size_t i = 0; !b->given->cgroup && i < b->given->n_pids; i++)
		test = arena_printf(b->arena, "%s%spid == %d", test, i ? " || " : "",
				    b->given->pids[i]);
	for (size_t i = 0; b->given->cgroup && i < b->given->cgroup->ids.n; i++)
		test = arena_printf(b->arena, "%s%scgroup == %" PRIu64, test, i ? " || " : "",
				    b->given->cgroup->ids.v[i]);
	return arena_printf(b->arena, "(%s)", test);
}

/**
 * Who is in the map. The tracepoints name tasks: threads come and go with them, and nobody asks for
 * their numbers. A process is freed when its last thread has ended and it was waited for, its first
 * thread may exit long before.
 */
void filter_follow_family(const struct bind *b, struct str *begin, struct str *clauses,
			  struct str *end)
{
	struct strbuf text;
	strbuf_init(&text);
	for (size_t i = 0; i < b->given->n_pids; i++)
		strbuf_addf(&text, FAMILY "[%d] = 1; ", b->given->pids[i]);
	*begin = strbuf_take(&text, b->arena);
	*clauses = STR("tracepoint:sched:sched_process_fork /" IS_OF_FAMILY "/ "
		       "{ " FAMILY "[(uint64)args->child_pid] = 1; } "
		       "tracepoint:sched:sched_process_free /" FAMILY "[(uint64)args->pid]/ "
		       "{ delete(" FAMILY "[(uint64)args->pid]); }");
	*end = STR("clear(" FAMILY ");");
}

/**
 * Measured with 0.17, 0.23 and 0.27: before 0.23 a script gets the PIDs of the first namespace, since
 * then those of bpftrace's own, and 0 for processes of the namespaces below it unless it is the first.
 */
struct str filter_why_blind(struct arena *a, unsigned version, const struct proc *p)
{
	struct str ours = proc_namespace(a, p->procfs, 0, "pid");
	struct str its = proc_namespace(a, p->procfs, p->pid, "pid");
	if (!ours.n || str_eqz(ours, PROC_FIRST_PID_NAMESPACE))
		return STR("");
	if (dialect_has_host_pids(version))
		return str_printf(a,
				  "bpftrace " DIALECT_FMT
				  " knows processes by the PIDs of the host, and this "
				  "container has others: trace from the host (docker run "
				  "--pid=host), or with bpftrace 0.23",
				  DIALECT_ARG(version));
	if (its.n && !str_eq(ours, its))
		return str_printf(a,
				  "process %d is in a container below this one, and to bpftrace "
				  "its PID is 0 here: trace it from the host, or from inside",
				  p->pid);
	return STR("");
}

bool filter_check(const struct bind *b)
{
	struct str why = b->given->cgroup
			     ? STR("")
			     : filter_why_blind(b->arena, b->given->version, b->given->proc);
	struct str ours = proc_namespace(b->arena, b->given->proc->procfs, 0, "pid");
	if (why.n)
		return diag_error(
		    b->diag, NULL,
		    "the events of process %d cannot be told from those of others: " STR_FMT,
		    b->given->proc->pid, STR_ARG(why));
	if (b->given->has_family && ours.n && !str_eqz(ours, PROC_FIRST_PID_NAMESPACE))
		return diag_error(
		    b->diag, NULL,
		    "--children: the kernel reports them by the PIDs of the host, and "
		    "this container has others: trace from the host (docker run "
		    "--pid=host)");
	return true;
}

static bool needs_filter(const struct bind *b, const struct attach_clause *c)
{
	if (!b->given->proc || b->found.scope == BIND_HOST)
		return false;
	return b->found.scope == BIND_BY_FILTER
		   ? c->has_user
		   : c->has_uprobe && dialect_lets_uprobes_through(b->given->version);
}

bool filter_find(const struct bind *b, const struct attach_clause *c, const char **ret)
{
	*ret = NULL;
	if (!needs_filter(b, c))
		return true;
	struct diag_place place = tok_place(c->clause->attach.v[0].node->first);
	if (c->has_other)
		return diag_error(b->diag, &place,
				  "this clause mixes probes of the process, which need a "
				  "filter by PID here, with others: write two clauses");
	*ret = is_traced(b);
	return true;
}
