#include "doctor/privilege.h"

#include <signal.h>

#include "dialect/dialect.h"

bool allowed_to_run(struct arena *a, struct diag *d, const struct privilege *p, unsigned version)
{
	uint64_t needed = privilege_needed(version), missing = privilege_missing(p, version);
	if (p->is_unknown)
		return true;
	if (p->user != 0 && !needed) {
		diag_error(d, NULL,
			   "tracing needs root with bpftrace " DIALECT_FMT
			   ": use sudo (-n prints the program "
			   "without it)",
			   DIALECT_ARG(version));
		return diag_note(
		    d, NULL, "bpftrace 0.25 and newer need only capabilities: see bpftrace.sh(8)");
	}
	if (!missing)
		return true;
	struct str list = privilege_names(a, missing);
	if (p->user == 0)
		return diag_error(d, NULL, "root lacks " STR_FMT " here, which tracing needs",
				  STR_ARG(list));
	return diag_error(d, NULL,
			  "tracing needs root, or " STR_FMT ": " STR_FMT
			  " %s missing (-n prints the program without)",
			  STR_ARG(privilege_names(a, needed)), STR_ARG(list),
			  missing & (missing - 1) ? "are" : "is");
}

/** Up to 0.23 bpftrace finds another way to make a uprobe, in which no semaphore is raised. */
static bool check_semaphores(struct diag *d, const struct privilege *p, const struct bind *b)
{
	if (dialect_has_libbpf_usdt(b->given->version) || privilege_may_uprobe(p))
		return true;
	for (size_t i = 0; i < b->found.script.clauses.n && b->found.clauses; i++) {
		const struct attach_clause *c = b->found.clauses[i];
		for (size_t k = 0; k < c->probes.n; k++) {
			const struct sdt_probe *probe = c->probes.v[k].probe;
			if (sdt_semaphore(probe))
				return diag_error(
				    d, NULL,
				    STR_FMT ":" STR_FMT " would never fire: bpftrace " DIALECT_FMT
					    " needs CAP_SYS_ADMIN to raise its semaphore",
				    STR_ARG(probe->provider), STR_ARG(probe->name),
				    DIALECT_ARG(b->given->version));
		}
	}
	return true;
}

/** 0.27 asks with kill() whether the process of -p lives, and takes a refusal for its end. */
static bool check_kill(struct diag *d, const struct privilege *p, const struct bind *b)
{
	bool is_other = p->is_unknown || p->user != (long)geteuid(); // who may have other rights
	if (!b->given->proc || !dialect_takes_capabilities(b->given->version) || is_other ||
	    privilege_has(p, CAPABLE_KILL) || kill(b->given->proc->pid, 0) == 0 || errno != EPERM)
		return true;
	return diag_error(d, NULL,
			  "process %d (" STR_FMT ") belongs to another user: without CAP_KILL, "
			  "bpftrace " DIALECT_FMT " would treat it as exited",
			  b->given->proc->pid, STR_ARG(proc_name(b->given->proc)),
			  DIALECT_ARG(b->given->version));
}

bool allowed_to_attach(struct diag *d, const struct privilege *p, const struct bind *b,
		       bool has_pid)
{
	return check_semaphores(d, p, b) && (!has_pid || check_kill(d, p, b));
}

static bool has_uprobe(const struct bind *b)
{
	for (size_t i = 0; i < b->found.script.clauses.n && b->found.clauses; i++)
		if (b->found.clauses[i]->has_uprobe)
			return true;
	return false;
}

void allowed_note(struct diag *d, const struct privilege *p, const struct bind *b)
{
	if (p->is_unknown)
		return;
	if (has_uprobe(b) && !privilege_may_uprobe(p))
		diag_note(d, NULL,
			  "this kernel requires CAP_SYS_ADMIN to trace functions of programs");
	else if (dialect_reads_by_processor(b->given->version) &&
		 !privilege_has(p, CAPABLE_IPC_LOCK) && !privilege_has(p, CAPABLE_SYS_RESOURCE))
		diag_note(d, NULL,
			  "CAP_IPC_LOCK is missing: the buffers of bpftrace " DIALECT_FMT
			  " may be more than "
			  "`ulimit -l` allows",
			  DIALECT_ARG(b->given->version));
}
