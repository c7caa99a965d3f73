#include "dialect/dialect.h"
#include "kernel/kernelmap.h"
#include "run/run_priv.h"

void run_count_loss(struct runner *r)
{
	r->lost = r->relay.lost + writer_result(r->cfg->writer).reported_lost;
	r->is_exact = kernelmap_read_loss(r->loss, &r->lost);
}

/** bpftrace was ended by a signal that is none of ours. */
static void report_end_signal(struct runner *r)
{
	const char *name = strsignal(r->end_signal);
	diag_error(r->diag, NULL, "bpftrace was killed by signal %d (%s)", r->end_signal, name);
	if (r->stop.is_begun && r->ready && !r->is_held)
		diag_note(r->diag, NULL,
			  "it was detaching its probes: breakpoints may remain in the traced "
			  "program; to remove them, trace it again and end with ^C");
}

/**
 * Loss is never silent: a reader of the data has to know. What is not counted, as print() of a map,
 * only the kernel has a number of.
 */
static void report_loss(struct runner *r)
{
	struct decode_sum sum = {0};
	bool was_quiet = r->diag->quiet;
	if (!r->is_full) {
		sum = writer_result(r->cfg->writer).decoded;
		run_count_loss(r);
	}
	const char *least = r->is_exact ? "" : "at least ";
	r->diag->quiet = false;
	bool is_at_end = sum.n_lost && r->is_exact && !r->lost;
	const char *how =
	    is_at_end ? "are missing, and bpftrace reports no loss: they came while the trace was "
			"ending, or another probe on the same CPU overwrote them"
	    : r->lost ? "were lost: bpftrace could not keep up"
		      : "were lost: they came while the trace was ending, or bpftrace could not "
			"keep up";
	if (sum.n_lost)
		diag_warning(r->diag, NULL, "%" PRIu64 " of %" PRIu64 " events %s", sum.n_lost,
			     sum.n_fired, how);
	else if (r->lost && sum.n_fired)
		diag_warning(r->diag, NULL,
			     "%s%llu calls of print(), clear() and the like were lost: bpftrace "
			     "could not keep up",
			     least, r->lost);
	else if (r->lost)
		diag_warning(
		    r->diag, NULL, "%s%llu events were lost: bpftrace could not keep up%s", least,
		    r->lost,
		    !r->is_exact && r->relay.stdout_has_messages && !r->cfg->map
			? " (or the traced program printed bpftrace's line \"Lost N events\": "
			  "see the data)"
			: "");
	r->diag->quiet = was_quiet;
	r->n_lost = sum.n_lost && !is_at_end ? sum.n_lost : r->lost;
}

/** What has come of it all. */
static void report_events(struct runner *r)
{
	unsigned long end = r->over_at ? r->over_at : clock_ms();
	unsigned long ms = end > r->ready_at ? end - r->ready_at : 0; // ^C may come before
	const char *time = arena_printf(r->arena, "%.*f s", ms < 1000 ? 2 : 1, (double)ms / 1000);
	struct str attached = r->cfg->attached;
	struct writer_result result = writer_result(r->cfg->writer);
	uint64_t n = result.n_events;
	bool has_events = attached.n || !r->cfg->map; // or only BEGIN, END and time that passes
	if (!result.has_data && !r->n_lost && has_events)
		fprintf(stderr, "btgen: no events: %s in %s while %s attached\n",
			result.has_ends ? "only BEGIN or END printed anything"
					: "nothing was printed",
			time, attached.n ? attached.p : "the probes were");
	else if (r->cfg->has_summary && n)
		fprintf(stderr, "btgen: %" PRIu64 " event%s in %s, %" PRIu64 " lost\n", n,
			n == 1 ? "" : "s", time, r->n_lost);
	else if (r->cfg->has_summary)
		fprintf(stderr, "btgen: traced for %s, %" PRIu64 " events lost\n", time, r->n_lost);
}

/** Also with -q: a trace that is empty for this reason looks like one of a program that did nothing. */
static void report_forks(struct runner *r)
{
	const struct proc *proc = r->cfg->ends_with;
	bool was_quiet = r->diag->quiet;
	struct writer_result result = writer_result(r->cfg->writer);
	if (!r->n_children || result.has_value)
		return;
	r->diag->quiet = false;
	diag_warning(r->diag, NULL, "%sprocess %d has forked, and %s not traced: %s",
		     result.has_data ? "" : "no events: ", proc->pid,
		     r->n_children == 1 ? "its child is" : "its children are",
		     r->cfg->names_one ? "give the child's PID" : "use --children");
	r->diag->quiet = was_quiet;
}

static void report_late(struct runner *r)
{
	uint64_t n = writer_result(r->cfg->writer).n_late;
	if (n && r->cfg->has_calls)
		diag_warning(r->diag, NULL,
			     "%" PRIu64 " event%s arrived too late for the tree: calls may "
			     "lack their entry or return",
			     n, n == 1 ? "" : "s");
	else if (n)
		diag_warning(r->diag, NULL,
			     "%" PRIu64 " line%s came after later ones had been printed: look for "
			     "\"late\"",
			     n, n == 1 ? "" : "s");
}

/** Older bpftraces say nothing when a key finds no room in a map. */
static bool has_full_maps(const struct runner *r)
{
	return writer_result(r->cfg->writer).full_maps.n &&
	       !dialect_reports_full_maps(r->cfg->bpftrace->version);
}

static void report_full_maps(struct runner *r)
{
	bool was_quiet = r->diag->quiet;
	r->diag->quiet = false;
	if (has_full_maps(r))
		diag_warning(r->diag, NULL,
			     STR_FMT ": the map is full: keys may be missing (raise %s)",
			     STR_ARG(writer_result(r->cfg->writer).full_maps),
			     dialect_map_keys_variable(r->cfg->bpftrace->version));
	r->diag->quiet = was_quiet;
}

/** How it has ended, and the status of that. */
static void report_end(struct runner *r, bool is_gone)
{
	const struct run_config *cfg = r->cfg;
	bool by_us = r->end_signal && (r->stop.sent & 1u << r->end_signal);
	if (!r->ready && r->stop.interrupts) {
		r->status = 128 + r->first_signal;
		if (!cfg->quiet)
			fprintf(stderr, "btgen: interrupted before all probes were attached\n");
	} else if (!r->ready && r->status && is_gone) {
		r->status = 1;
		diag_error(r->diag, NULL,
			   "process %d (" STR_FMT ") has exited before it could be traced",
			   cfg->ends_with->pid, STR_ARG(proc_name(cfg->ends_with)));
	} else if (!r->ready && r->status && run_target_called_exec(r)) {
		r->status = 1;
		run_report_exec(r);
	} else if (r->end_signal && !by_us) {
		report_end_signal(r);
	} else if (!r->ready && r->status) {
		messages_explain_failure(&r->relay.messages, r->status);
	} else if (is_gone && r->status == 0 && !cfg->quiet && !r->given_up) {
		fprintf(stderr, "btgen: process %d (" STR_FMT ") has exited\n", cfg->ends_with->pid,
			STR_ARG(str_printable(r->arena, proc_name(cfg->ends_with))));
	} else if (run_have_all_ended(r) && r->status == 0 && !cfg->quiet && !r->given_up) {
		fprintf(stderr, "btgen: all %zu processes have exited\n", cfg->n_all);
	}
	if (r->given_up && (r->status == 0 || by_us || r->diag->n_errors))
		r->status = r->diag->n_errors ? 1 : 0;
	bool has_loss =
	    cfg->has_skipped || r->n_lost || r->relay.messages.has_loss || has_full_maps(r);
	if (cfg->loss_fails && has_loss && r->status == 0)
		r->status = RUN_LOST;
	if (cfg->is_estimate && !r->has_cost && r->status == 0)
		r->status = 1;
	if (r->is_too_costly && (r->status == 0 || r->status == RUN_LOST))
		r->status = RUN_TOO_COSTLY;
}

/** Final reports and cleaning up once bpftrace is gone. */
void run_finish(struct runner *r)
{
	const struct run_config *cfg = r->cfg;
	bool was_ready = r->ready, is_gone = cfg->ends_with && !proc_is_same(cfg->ends_with);
	// Else it talks of a process, or a program, that is no more.
	if (r->ready || !r->status || !(is_gone || run_target_called_exec(r)))
		relay_release(&r->relay);
	if (!r->ready && r->status == 0) { // it was over before we saw it wait: a BEGIN that exits
		r->ready = true;
		if (!output_begin(r->arena, r->diag, &r->output))
			r->given_up = true;
	}
	if (r->end_signal)
		writer_drop(cfg->writer);
	if (r->has_cost && !r->over_at)
		cost_read(&r->cost);
	if (r->has_cost && cfg->has_account) { // into the output, if that is JSON
		struct strbuf account = {0};
		cost_write_json(&r->cost, &account);
		writer_set_account(cfg->writer, strbuf_take(&account, r->arena));
	}
	if (r->ready)
		run_flush_output(r, true);
	if (r->end_signal)
		output_cut_part(&r->output);
	report_loss(r);
	report_late(r);
	report_full_maps(r);
	if (was_ready && !r->given_up && r->status == 0 && !cfg->quiet)
		report_events(r);
	if (was_ready && !r->given_up && r->status == 0)
		report_forks(r);
	if (was_ready && !r->given_up && !cfg->quiet && r->n_under_way) // of --latency
		fprintf(stderr,
			"btgen: %" PRIu64
			" operation%s still in progress at the end of the trace %s not counted\n",
			r->n_under_way, r->n_under_way == 1 ? "" : "s",
			r->n_under_way == 1 ? "is" : "are");
	if (was_ready && r->is_unread && !cfg->quiet)
		fprintf(stderr, "btgen: the reader of the output exited, which ended the trace\n");
	if (r->has_cost && (cfg->is_verbose || cfg->is_estimate))
		ceiling_report_account(&r->cost, cfg->is_estimate);
	report_end(r, is_gone);
	r->is_targets_end =
	    is_gone && !r->stop.interrupts && !r->given_up && (r->status == 0 || !was_ready);
}
