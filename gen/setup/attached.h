/**
 * attached - what a program attaches to, for the user: in a message, and in the account of costs.
 */
#pragma once

#include "bind/bind.h"
#include "kernel/cost.h"

/** The events that it waits for, as a message has it: "usdt:app:query was", "uprobe:f, uprobe:g and 3 others were". */
struct str attached_list(struct arena *a, const struct bind *b);
/** What the clauses attach to: USDT probes by their names, others as the attach point has them. */
cost_names attached_cost_names(struct arena *a, const struct bind *b);
