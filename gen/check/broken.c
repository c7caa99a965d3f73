// What this bpftrace computes wrong in silence, and btgen cannot write in another way.
#include "check/check_priv.h"

#include <elf.h>
#include <inttypes.h>

#include "lang/vocabulary.h"
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

static bool fires_for(const struct attach_clause *c, bool (*is)(const struct provider *p))
{
	return vec_any(const struct script_attach, at, &c->clause->attach, is(at->provider));
}

static bool is_of_program(const struct provider *p)
{
	return p->whose == OF_FILE;
}

static bool is_return(const struct provider *p)
{
	return p->whose == OF_FILE && p->place == PLACE_RETURN;
}

static void check_find(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	if (!node_is(n, NODE_CALL, "find") || !dialect_finds_nothing(v) ||
	    script_has_function(&k->b->found.script, n->name->text) ||
	    !fires_for(k->clause, is_of_program))
		return;
	check_report_at(k, n->first, "version", DIAG_ERROR,
			"find() of bpftrace " DIALECT_FMT
			" reads 0 in a usdt probe or uprobe: use has_key() and @map[key]",
			DIALECT_ARG(v));
}

static void check_func(struct checker *k, const struct node *n)
{
	unsigned v = k->b->given->version;
	if (!node_is(n, NODE_NAME, "func") || n->is_changed || !dialect_names_caller(v) ||
	    !fires_for(k->clause, is_return))
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
	for (const struct node *arg = n->child->next; arg && i < 3; arg = arg->next)
		if (!check_constant(k, arg, &c[i++]) || c[i - 1].is_negative)
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
	check_func(k, n);
	check_lhist(k, n);
}
