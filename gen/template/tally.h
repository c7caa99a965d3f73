/**
 * tally - scripts that count the probes of a skeleton, or time what lies between two of them.
 *
 * bpftrace.sh --count and --latency are these scripts, run; with -n they are printed, as a starting point.
 */
#ifndef TEMPLATE_TALLY_H
#define TEMPLATE_TALLY_H

#include "template/skeleton.h"

/**
 * A script that counts the events of each key. @keys: a list of them with commas between, each
 * `probe`, `comm`, `pid`, `tid` or the name of an argument that all probes have. False: a key that
 * makes no sense is reported.
 */
bool tally_write_counts(const struct skeleton *sk, struct str keys, struct code *out);
/**
 * A script that measures the time from each event of @start that @filter lets pass, if it is not NULL,
 * to the next one of @done with the same @key, which is as above but no list, in microseconds: a
 * histogram with percentiles. Events that have no other are counted. @run: it is run by btgen, with a
 * gate (record/shape.h) that settles; NULL: it is to be read and edited.
 */
bool tally_write_latency(const struct skeleton *start, const struct skeleton *done, struct str key,
			 struct condition *filter, const struct shapes *run, struct code *out);

#endif
