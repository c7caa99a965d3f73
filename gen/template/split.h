/**
 * split - lists of attach points that an old bpftrace mixes up with other clauses.
 *
 * bpftrace 0.17 finds the code of a list by the name of each probe in it. Where another clause is for one
 * of them alone, it runs that one's code for both (uprobe, tracepoint, interval), or loads nothing
 * (usdt). Such a probe leaves the list, and gets the list's code in a clause of its own:
 *
 *	uprobe:x:f { A }  uprobe:x:f, uprobe:x:g { B }
 *	uprobe:x:f { A }  uprobe:x:g { B }  uprobe:x:f { B }
 */
#ifndef TEMPLATE_SPLIT_H
#define TEMPLATE_SPLIT_H

#include "bind/bind.h"

/** After join_same_probes(), when no clause changes any more but by a filter (bind/filter.h). */
void split_lists(struct bind *b);

#endif
