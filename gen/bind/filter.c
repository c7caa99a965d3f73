#include "bind/filter.h"

#include "dialect/dialect.h"

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
				  " uses host PIDs, and this container has its own: trace from the "
				  "host (docker run --pid=host), or with bpftrace 0.23",
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
		    "cannot tell the events of process %d from those of other processes: " STR_FMT,
		    b->given->proc->pid, STR_ARG(why));
	if (b->given->has_family && ours.n && !str_eqz(ours, PROC_FIRST_PID_NAMESPACE))
		return diag_error(b->diag, NULL,
				  "--children: the kernel reports host PIDs, and this container "
				  "has its own: trace from the host (docker run --pid=host)");
	return true;
}

bool filter_find(const struct bind *b, const struct attach_clause *c, bool *ret)
{
	bool is_by_filter = b->found.scope == BIND_BY_FILTER;
	*ret = b->given->proc && b->found.scope != BIND_HOST &&
	       (is_by_filter ? c->has_user
			     : c->has_uprobe && dialect_lets_uprobes_through(b->given->version));
	if (!*ret || !c->has_other)
		return true;
	return diag_error(b->diag, tok_at(c->clause->attach.v[0].node->first),
			  "this clause mixes probes of the process, which need a "
			  "filter by PID here, with others: write two clauses");
}
