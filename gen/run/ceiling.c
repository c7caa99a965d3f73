#include "run/ceiling.h"

/** A lower cost disturbs no process, however little it ran. */
#define LEAST_SHARE 0.01

static bool is_above_share(const struct ceiling *most, const struct cost *cost)
{
	double least = most->share < LEAST_SHARE ? most->share : LEAST_SHARE;
	double share = most->share * cost_available(cost);
	return most->share && cost_share(cost, false) > (share > least ? share : least);
}

bool ceiling_is_reached(const struct ceiling *most, const struct cost *cost)
{
	return is_above_share(most, cost) || (most->rate && cost_rate(cost) > most->rate);
}

/** Of the time between the last two reads, or if @all of the whole trace; @out: with @prefix before each line. */
static void report_probes(const struct cost *cost, bool all, FILE *out, const char *prefix)
{
	struct strbuf lines = {0};
	cost_write_text(cost, all, &lines);
	for (struct str rest = strbuf_str(&lines); rest.n;) {
		struct str line = str_take_line(&rest);
		fprintf(out, "%s  " STR_FMT "\n", prefix, STR_ARG(line));
	}
	strbuf_fini(&lines);
}

void ceiling_report(struct diag *d, const struct ceiling *most, const struct cost *cost)
{
	double available = cost_available(cost);
	if (is_above_share(most, cost))
		diag_error(d, NULL,
			   "the trace was stopped: it takes an estimated %.0f %% of %s, and "
			   "--max-cost is %g %%",
			   100 * cost_share(cost, false) / available,
			   available == 1 ? "a processor"
					  : "what its process runs, which waits for a processor",
			   100 * most->share);
	else
		diag_error(d, NULL,
			   "the trace was stopped: its probes fire %.0f times a second, and "
			   "--max-rate is %.0f",
			   cost_rate(cost), most->rate);
	report_probes(cost, false, stderr, "btgen: ");
}

void ceiling_report_account(const struct cost *cost, bool is_result)
{
	FILE *out = is_result ? stdout : stderr;
	const char *prefix = is_result ? "" : "btgen: ";
	fprintf(out, "%scost: %.2f %% of a processor (estimated)\n", prefix,
		100 * cost_share(cost, true));
	report_probes(cost, true, out, prefix);
}

void ceiling_report_unknown(struct diag *d, const struct ceiling *most, bool is_result, int error)
{
	const char *why = error == EPERM    ? "this needs CAP_SYS_ADMIN"
			  : error == ENOENT ? "bpftrace has no BPF programs (is it a wrapper?)"
					    : strerror(error);
	if (is_result)
		diag_error(d, NULL, "cannot measure the cost of the trace: %s", why);
	else if (most->share || most->rate)
		diag_warning(d, NULL,
			     "--max-cost is not enforced: cannot measure the cost of the trace: %s",
			     why);
	else
		diag_note(d, NULL, "cannot measure the cost of the trace: %s", why);
}
