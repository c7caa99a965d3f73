// A time whose map is named after another unit: @ms = hist((nsecs - @start[tid]) / 1000).
#include "check/check_priv.h"

#include "lang/vocabulary.h"

static const struct unit {
	const char *name;
	const char *divisor; // of nanoseconds, for a remedy
	uint64_t nanoseconds;
	const char *words[6]; // what the names of maps have for it
} units[] = {
    {"nanoseconds", NULL, 1, {"ns", "nsec", "nsecs", "nanoseconds"}},
    {"microseconds", "1000", 1000, {"us", "usec", "usecs", "microseconds"}},
    {"milliseconds", "1000000", 1000000, {"ms", "msec", "msecs", "milliseconds"}},
    {"seconds", "1000000000", 1000000000, {"sec", "secs", "seconds"}},
};
enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

/** The unit that the last word of a map's name is, as in @read_us; NULL: none. */
static const struct unit *unit_of_name(struct str name)
{
	while (str_find(name, '_') < name.n)
		name = str_from_offset(name, str_find(name, '_') + 1);
	for (size_t i = 0; i < N_UNITS; i++)
		for (size_t w = 0; units[i].words[w]; w++)
			if (str_eqz(name, units[i].words[w]))
				return &units[i];
	return NULL;
}

/** `nsecs - x` */
static bool is_difference(const struct node *n)
{
	if (!node_is(n, NODE_BINARY, "-"))
		return false;
	const struct node *from = node_ungrouped(n->child), *what = node_ungrouped(from->next);
	return (node_is(from, NODE_NAME, "nsecs") || node_is(from, NODE_NAME, "elapsed")) &&
	       (what->kind == NODE_MAP || what->kind == NODE_VARIABLE);
}

/** The difference of two times, or a variable that holds such ones only. */
static bool is_time(const struct checker *k, const struct node *n)
{
	n = node_ungrouped(n);
	if (n->kind != NODE_VARIABLE)
		return is_difference(n);
	const struct used_name *name =
	    map_get(uses_variables(&k->b->found.uses, k->clause->clause), node_text(n));
	bool is_set = false;
	for (const struct use *u = name ? name->first : NULL; u; u = u->next) {
		if (!(u->does & USE_MAY_SET))
			continue;
		if (!u->value || !is_difference(node_ungrouped(u->value)))
			return false;
		is_set = true;
	}
	return is_set;
}

static bool read_divisor(struct checker *k, struct node *n, uint64_t *ret)
{
	static const char *const powers[] = {"1e0", "1e3", "1e6", "1e9"};
	struct constant c;
	for (size_t i = 0; i < N_UNITS; i++)
		if (n->kind == NODE_NUMBER && str_eqz(node_text(n), powers[i])) {
			*ret = units[i].nanoseconds;
			return true;
		}
	if (!check_constant(k, n, &c))
		return false;
	*ret = c.bits;
	return true;
}

/** The unit of a time that is divided by literals, (nsecs - @start[tid]) / 1000; NULL: not known. */
static const struct unit *unit_of_value(struct checker *k, struct node *n)
{
	uint64_t all = 1, by;
	for (n = node_ungrouped(n); node_is(n, NODE_BINARY, "/"); n = node_ungrouped(n->child)) {
		if (!read_divisor(k, node_ungrouped(n->child->next), &by) || by > UINT32_MAX ||
		    all > UINT32_MAX)
			return NULL;
		all *= by;
	}
	for (size_t i = 0; i < N_UNITS; i++)
		if (all == units[i].nanoseconds && is_time(k, n))
			return &units[i];
	return NULL;
}

void check_unit(struct checker *k, struct node *n, struct node *parent)
{
	(void)parent;
	if (!node_is(n, NODE_ASSIGN, "=") || n->child->kind != NODE_MAP || !n->child->name)
		return;
	struct node *value = node_ungrouped(n->last_child);
	if (value->kind == NODE_CALL &&
	    vocabulary_word(value->name->text)->gives == GIVES_AGGREGATION)
		value = value->child;
	const struct unit *named = unit_of_name(n->child->name->text);
	const struct unit *is = named && value ? unit_of_value(k, value) : NULL;
	if (!is || is == named)
		return;
	struct diag_place at = tok_place(value->first);
	k->good &= diag_check(k->b->diag, "unit", DIAG_WARNING, &at,
			      "this is in %s, and @" STR_FMT " is named for %s%s%s", is->name,
			      STR_ARG(n->child->name->text), named->name,
			      named->divisor ? ": divide nanoseconds by " : ": do not divide it",
			      named->divisor ? named->divisor : "");
}
