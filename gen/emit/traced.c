// The filter each clause needs for the traced processes, and the map of a family: processes and those they fork.

#include "emit/emit_priv.h"
#include "process/cgroup.h"

/**
 * The keys of this map are the traced processes. A child that was forked before sched_process_fork was
 * attached is added, too.
 */
#define FAMILY "@btgen_traced"
#define IS_OF_FAMILY "(" FAMILY "[pid] || " FAMILY "[(uint64)curtask->real_parent->tgid])"

/** "pid == 42", or "(pid == 42 || pid == 43)" */
const char *traced_test(const struct bind *b)
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
 * Keeps the map. The tracepoints report tasks, so threads are added and removed, too, but never looked up.
 * A process is freed when its last thread has ended and it was waited for; its first thread may exit long
 * before.
 */
void traced_follow_family(const struct bind *b, struct str *begin, struct str *clauses,
			  struct str *end)
{
	struct strbuf text = {0};
	for (size_t i = 0; i < b->given->n_pids; i++)
		strbuf_addf(&text, FAMILY "[%d] = 1; ", b->given->pids[i]);
	*begin = strbuf_take(&text, b->arena);
	*clauses = STR("tracepoint:sched:sched_process_fork /" IS_OF_FAMILY "/ "
		       "{ " FAMILY "[(uint64)args->child_pid] = 1; } "
		       "tracepoint:sched:sched_process_free /" FAMILY "[(uint64)args->pid]/ "
		       "{ delete(" FAMILY "[(uint64)args->pid]); }");
	*end = STR("clear(" FAMILY ");");
}
