#include <sys/time.h>

#include "base/progress.h"
#include "kernel/kernelmap.h"
#include "run/ready.h"
#include "run/run_priv.h"

#define SETTLING_MS 50	    // what --latency times is mostly shorter
#define SLOW_START_MS 30000 // a busy machine may take 10 s

bool run_target_called_exec(const struct runner *r)
{
	return r->cfg->ends_with && !proc_runs_same_file(r->cfg->ends_with);
}

void run_report_exec(struct runner *r)
{
	diag_error(r->diag, NULL, "process %d called exec() during setup: try again",
		   r->cfg->ends_with->pid);
}

/** Before events count. */
static void wait_for_pages(struct runner *r)
{
	struct resident *pages = r->cfg->resident;
	if (!pages)
		return;
	resident_wait(pages);
	if (r->cfg->is_verbose && !r->cfg->quiet)
		diag_note(r->diag, NULL,
			  "read-only data mapped for the trace: %" PRIu64
			  " kB of %u process%s, in %u ms",
			  pages->sum.bytes >> 10, pages->sum.n_processes,
			  pages->sum.n_processes == 1 ? "" : "es", pages->sum.ms);
}

/** From here on events count. */
static bool open_gate(struct runner *r)
{
	struct timespec settling = {.tv_nsec = SETTLING_MS * 1000000};
	bool good = true;
	if (r->cfg->gate && r->cfg->is_gate_shut) {
		r->gate = kernelmap_open(r->stop.pid, r->cfg->gate);
		good = r->gate >= 0;
	}
	if (good && r->cfg->under_way) {
		good = kernelmap_set_unless(r->gate, GATE_CLOSED, GATE_SETTLES);
		nanosleep(&settling, NULL);
	}
	good = good && (r->gate < 0 || kernelmap_set_unless(r->gate, GATE_CLOSED, GATE_OPEN));
	r->ready_at = clock_ms();
	if (good)
		return true;
	diag_error(r->diag, NULL, "cannot set bpftrace's map %s, which starts the counting: %s",
		   r->cfg->gate, strerror(errno));
	run_give_up(r);
	return false;
}

static void open_cost(struct runner *r)
{
	if (!r->counts_cost)
		return;
	// Of several processes the probes fire in others that run the same file, too.
	int only = r->cfg->pass_pid && !r->cfg->has_family ? r->cfg->proc->pid : 0;
	r->has_cost = cost_open(&r->cost, r->stop.pid, &r->cfg->cost_names, only);
	if (!r->has_cost && !r->cfg->quiet)
		ceiling_report_unknown(r->diag, &r->cfg->ceiling, r->cfg->is_estimate, errno);
	r->cost_at = clock_ms();
}

/** Also of one that has exited, until its parent has waited for it. */
void run_look_at_user(struct runner *r)
{
	const struct proc *p = r->cfg->ends_with;
	struct arena a = {0};
	uid_t uid = p && proc_start_time(p->procfs, p->pid) == p->start_time
			? proc_uid(&a, p->procfs, p->pid, PROC_UID_REAL)
			: (uid_t)-1;
	r->user = uid != (uid_t)-1 ? uid : r->user;
	arena_fini(&a);
}

void run_become_ready(struct runner *r)
{
	progress_clear();
	// bpftrace knows a process by its PID alone: only now that it is attached can we tell
	// whether the PID still belonged to the process that was looked at, and whether that still
	// runs the same program.
	const struct proc *proc = r->cfg->ends_with;
	r->ready = true;
	r->ready_at = clock_ms();
	relay_release(&r->relay);
	r->relay.messages.is_running = true;
	r->loss = kernelmap_open(r->stop.pid, NULL);
	run_look_at_user(r);
	if (!output_begin(r->arena, r->diag, &r->output)) {
		run_give_up(r);
	} else if (proc && proc_is_replaced(proc)) {
		diag_error(r->diag, NULL,
			   "process %d (" STR_FMT
			   ") has exited and its PID was reused: the new process is not traced",
			   proc->pid, STR_ARG(proc_name(proc)));
		run_give_up(r);
	} else if (proc && !proc_is_same(proc)) {
		return; // reported at the end
	} else if (run_target_called_exec(r)) {
		run_report_exec(r);
		run_give_up(r);
	} else {
		run_begin_output(r);
		wait_for_pages(r);
		if (!open_gate(r))
			return;
		open_cost(r);
		ready_report(r->diag, r->cfg);
		// SIGALRM comes when the trace is to end; 0 lets none come.
		unsigned long ms = r->cfg->duration;
		struct itimerval t = {.it_value = {.tv_sec = (time_t)(ms / 1000),
						   .tv_usec = (suseconds_t)(ms % 1000 * 1000)}};
		setitimer(ITIMER_REAL, &t, NULL);
	}
}

/** Reports when bpftrace does not get to its events, whatever it waits for. */
void run_report_slow_start(struct runner *r)
{
	if (!r->started_at || clock_ms() - r->started_at < SLOW_START_MS)
		return;
	r->started_at = 0;
	progress_clear();
	if (!r->cfg->quiet)
		fprintf(stderr, "btgen: bpftrace (PID %d) has not attached yet\n", r->stop.pid);
}

/** By bpftrace's own word; those to come may choose another, but will wait for events. */
bool run_is_attached(const struct runner *r)
{
	return r->relay.attached ||
	       (!r->relay.stdout_has_messages && ready_is_waiting(r->stop.pid));
}
