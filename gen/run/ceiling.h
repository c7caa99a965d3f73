/** ceiling - what a trace may cost before it is ended. */
#pragma once

#include "base/diag.h"
#include "kernel/cost.h"

/** 0: any amount. */
struct ceiling {
	double share; /**< of one processor */
	double rate;  /**< hits of probes a second */
};

/** Was it above between the last two reads of @cost? */
bool ceiling_is_reached(const struct ceiling *most, const struct cost *cost);
/** Reports that, as an error, and which probes cost what. */
void ceiling_report(struct diag *d, const struct ceiling *most, const struct cost *cost);
/** Reports, at the end, what the trace has cost; @is_result: to stdout, as nothing else is wanted. */
void ceiling_report_account(const struct cost *cost, bool is_result);
/** Reports that cost_begin() has failed with @error; @is_result: as an error, as nothing else is wanted. */
void ceiling_report_unknown(struct diag *d, const struct ceiling *most, bool is_result, int error);
