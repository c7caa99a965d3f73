// What this bpftrace computes wrong in silence, and btgen cannot write in another way.
#include "check/check_priv.h"

#include <elf.h>

#include "dialect/dialect.h"

static bool is_tuple(const struct node *n)
{
	return n->expr && n->expr->kind == EXPR_TUPLE;
}

static void check_tuples(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	if (!dialect_compares_tuples_by_address(v) || !(node_operator(n) & OP_EQUALITY) ||
	    (!is_tuple(n->child) && !is_tuple(n->child->next)))
		return;
	check_report_at(k, n->name, "version", DIAG_ERROR,
			"bpftrace " DIALECT_FMT
			" compares the addresses of tuples: compare their elements",
			DIALECT_ARG(v));
}

static bool fires_in_program(const struct attach_clause *c, bool at_returns)
{
	return vec_any(const struct script_attach, at, &c->clause->attach,
		       at->provider->whose == OF_FILE &&
			   (!at_returns || at->provider->place == PLACE_RETURN));
}

static void check_find(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	if (!node_is(n, NODE_CALL, "find") || !dialect_finds_nothing(v) ||
	    script_has_function(&k->b->found.script, n->name->text) ||
	    !fires_in_program(k->clause, false))
		return;
	check_report_at(k, n->first, "version", DIAG_ERROR,
			"find() of bpftrace " DIALECT_FMT
			" reads 0 in a usdt probe or uprobe: use has_key() and @map[key]",
			DIALECT_ARG(v));
}

/** strlen(args.name) */
static void check_text_pointer(struct checker *k, const struct node *n)
{
	static const char *const words[] = {"strlen", "strcap", "strstr", NULL};
	unsigned v = k->b->given->version;
	if (n->kind != NODE_CALL || !str_is_any(n->name->text, words) ||
	    !dialect_reads_kernel_texts(v) ||
	    script_has_function(&k->b->found.script, n->name->text))
		return;
	for (const struct node *arg = n->child; arg; arg = arg->next) {
		const struct ctype *t = arg->expr ? ctype_strip(arg->expr->type) : NULL;
		if (t && t->kind == CTYPE_POINTER)
			check_report(k, arg, "version", DIAG_ERROR,
				     STR_FMT "() of bpftrace " DIALECT_FMT
					     " reads a pointer as one of the kernel's: use str()",
				     STR_ARG(n->name->text), DIALECT_ARG(v));
	}
}

static void check_unwatch(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	if (node_is(n, NODE_CALL, "unwatch") && dialect_dies_of_unwatch(v) &&
	    !script_has_function(&k->b->found.script, n->name->text))
		check_report_at(k, n->first, "version", DIAG_ERROR,
				"unwatch() ends bpftrace " DIALECT_FMT " by a signal",
				DIALECT_ARG(v));
}

/** zero(@m) of averages: nothing is divided by 0 if a number follows before the map is printed. */
static void check_zero(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	const struct node *map = n->child;
	if (!node_is(n, NODE_CALL, "zero") || !map || map->kind != NODE_MAP ||
	    !dialect_dies_of_zeroed_averages(v))
		return;
	const struct use *u = uses_of_map(&k->b->found.uses, map->name ? map->name->text : STR(""));
	for (; u; u = u->next) {
		const struct node *value = u->value ? node_ungrouped(u->value) : NULL;
		if (!value ||
		    !(node_is(value, NODE_CALL, "avg") || node_is(value, NODE_CALL, "stats")))
			continue;
		check_report_at(k, n->first, "version", DIAG_WARNING,
				"zero() of " STR_FMT "() ends bpftrace " DIALECT_FMT
				" by a signal when it is printed: use clear()",
				STR_ARG(value->name->text), DIALECT_ARG(v));
		return;
	}
}

static void check_func(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	if (!node_is(n, NODE_NAME, "func") || n->is_changed || !dialect_names_caller(v) ||
	    !fires_in_program(k->clause, true))
		return;
	check_report_at(k, n->first, "version", DIAG_ERROR,
			"func of a uretprobe is the calling function in bpftrace " DIALECT_FMT
			": use probe",
			DIALECT_ARG(v));
}

/** lhist(x, 0, 95, 10) */
static void check_lhist(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	struct constant c[3];
	size_t i = 0;
	if (!node_is(n, NODE_CALL, "lhist") || !dialect_cuts_last_interval(v) || !n->child)
		return;
	for (const struct node *arg = n->child->next; arg && i < 3; arg = arg->next, i++)
		if (node_fold(arg, NODE_FOLDS, &c[i].bits))
			c[i].is_negative = false;
		else if (!check_constant(k, arg, &c[i]) || c[i].is_negative)
			return;
	if (i < 3 || !c[2].bits || c[1].bits <= c[0].bits)
		return;
	uint64_t rest = (c[1].bits - c[0].bits) % c[2].bits;
	if (rest)
		check_report_at(k, n->first, "version", DIAG_WARNING,
				"bpftrace " DIALECT_FMT " shows values from %" PRIu64 " to %" PRIu64
				" as [%" PRIu64 ", ...): make the range a multiple of the step",
				DIALECT_ARG(v), c[1].bits - rest, c[1].bits - 1, c[1].bits);
}

/** ("text", macaddr(p)) */
static void check_macaddr_in_tuple(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	const struct node *mac = NULL;
	bool has_number = false;
	for (const struct node *c = n->child; c; c = c->next) {
		has_number |= c->expr && c->expr->kind == EXPR_NUMBER;
		if (node_is(node_ungrouped(c), NODE_CALL, "macaddr"))
			mac = c;
	}
	if (n->kind == NODE_TUPLE && mac && !has_number && dialect_aborts_on_macaddr_in_tuple(v))
		check_report(
		    k, mac, "version", DIAG_ERROR,
		    "bpftrace " DIALECT_FMT
		    " aborts on a tuple of macaddr() and strings alone: add a number to it",
		    DIALECT_ARG(v));
}

/** buf(p, 220), buf(array) */
static void check_buf(struct checker *k, const struct node *n)
{
	enum { MOST = 256 }; // of all versions
	unsigned v = k->b->given->version, most = dialect_strlen_ceiling(v, 1);
	struct constant length = {0};
	uint64_t size = 0;
	const struct node *p = n->child, *given = p ? p->next : NULL;
	if (!node_is(n, NODE_CALL, "buf") || !p ||
	    (given ? !check_constant(k, given, &length)
		   : !p->expr || p->expr->kind == EXPR_NUMBER || !ctype_size(p->expr->type, &size)))
		return;
	if (size > MOST)
		check_report(k, p, "limit", DIAG_ERROR,
			     "buf() reads up to %d bytes, and this array has %" PRIu64
			     ": give it a length",
			     MOST, size);
	else if (length.bits > most && length.bits <= MOST)
		check_report(k, given, "string-cut", DIAG_WARNING,
			     "bpftrace " DIALECT_FMT
			     " reads %u bytes at once: read the rest with a buf() of its own",
			     DIALECT_ARG(v), most);
}

/** @m[array] */
static void check_array_key(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	for (const struct node *key = n->kind == NODE_MAP ? n->child : NULL; key; key = key->next) {
		const struct ctype *t = key->expr ? ctype_strip(key->expr->type) : NULL;
		const struct ctype *of = t && t->kind == CTYPE_ARRAY ? ctype_strip(t->of) : NULL;
		if (of && ctype_is_number(of) && !of->is_signed &&
		    key->expr->kind == EXPR_AGGREGATE && dialect_prints_signed_arrays(v))
			check_report(k, key, "sign", DIAG_WARNING,
				     "bpftrace " DIALECT_FMT
				     " prints the elements of an array in a key as signed: use "
				     "them one by one",
				     DIALECT_ARG(v));
	}
}

/** (1, @count), @m[@count] */
static void check_aggregation(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	bool is_tuple = n->kind == NODE_TUPLE;
	if (!is_tuple && n->kind != NODE_MAP)
		return;
	for (const struct node *c = n->child; c; c = c->next) {
		const struct node *map = node_ungrouped(c);
		const struct use *u = map->kind == NODE_MAP && map->name
					  ? uses_of_map(&k->b->found.uses, map->name->text)
					  : NULL;
		bool is_stats = false;
		if (!c->expr || c->expr->kind != EXPR_AGGREGATION)
			continue;
		for (; u; u = u->next)
			is_stats |=
			    u->value && node_is(node_ungrouped(u->value), NODE_CALL, "stats");
		if (is_tuple && dialect_reads_own_share(v))
			check_report(
			    k, c, "version", DIAG_ERROR,
			    "bpftrace " DIALECT_FMT
			    " puts one processor's share of it into a tuple: print it alone",
			    DIALECT_ARG(v));
		else if (!is_tuple && dialect_aborts_on_counted_key(v))
			check_report(k, c, "version", DIAG_ERROR,
				     "an aggregation as a key ends bpftrace " DIALECT_FMT
				     " by a signal",
				     DIALECT_ARG(v));
		else if (is_tuple && is_stats && dialect_empties_stats(v))
			check_report(k, c, "version", DIAG_ERROR,
				     "bpftrace " DIALECT_FMT
				     " puts zeros into a tuple for stats(): print it alone",
				     DIALECT_ARG(v));
	}
}

static void check_uaddr(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	const struct targetfiles *files = k->b->given->files;
	if (!node_is(n, NODE_CALL, "uaddr") || !dialect_has_fixed_addresses(v) || !files ||
	    !k->clause->has_user || !n->child || n->child->kind != NODE_STRING)
		return;
	const struct targetfile *f = k->clause->probes.n ? k->clause->probes.v[0].file
				     : files->list.n	 ? &files->list.v[0]
							 : NULL;
	if (f && f->bin.img && f->bin.img->type == ET_DYN)
		check_report_at(k, n->first, "version", DIAG_ERROR,
				"uaddr() of bpftrace " DIALECT_FMT
				" does not know where a position-independent file is mapped: use "
				"vars.NAME",
				DIALECT_ARG(v));
}

void check_broken(struct checker *k, struct node *n)
{
	if (k->b->given->is_any_version)
		return;
	check_uaddr(k, n);
	if (n->kind == NODE_BINARY)
		check_tuples(k, n);
	check_find(k, n);
	check_text_pointer(k, n);
	check_unwatch(k, n);
	check_zero(k, n);
	check_func(k, n);
	check_lhist(k, n);
	check_buf(k, n);
	check_macaddr_in_tuple(k, n);
	check_array_key(k, n);
	check_aggregation(k, n);
}
