#include "bind/check.h"

#include "image/sdtarg.h"
#include "out/dialect.h"

static bool say_unattachable(struct bind *b, const struct script_attach *at,
			     const struct attach_match *m, const struct sdtarg *arg)
{
	struct diag_place place = src_place(at->range.first->use, 1); // its text is btgen's by now
	return diag_error(
	    b->diag, &place,
	    "bpftrace 0.%u cannot attach to " STR_FMT ":" STR_FMT ": it cannot read the place of "
	    "one argument, " STR_FMT " (0.23 and older can attach, and read the others)",
	    b->version, STR_ARG(m->probe->provider), STR_ARG(m->probe->name), STR_ARG(arg->text));
}

/** It would print a number, and the number would be wrong. */
static bool say_unreadable(struct bind *b, const struct script_arg *use,
			   const struct attach_match *m, const struct sdtarg *arg)
{
	struct diag_place place = tok_place(use->token);
	return diag_error(b->diag, &place,
			  "bpftrace 0.%u cannot read arg%u of " STR_FMT ":" STR_FMT
			  ": it is at " STR_FMT,
			  b->version, use->n, STR_ARG(m->probe->provider), STR_ARG(m->probe->name),
			  STR_ARG(str_printable(b->arena, arg->place)));
}

static bool check_site(struct bind *b, const struct attach_clause *c, const struct attach_match *m,
		       const struct sdt_site *site)
{
	struct sdtarg *args;
	size_t n;
	bool good = true;
	sdtarg_parse(b->arena, m->image->img->machine, site->args, &args, &n);
	if (dialect_has_libbpf_usdt(b->version))
		for (size_t i = 0; i < n; i++)
			if (sdtarg_is_beyond_libbpf(&args[i]))
				return say_unattachable(b, &c->clause->attach.v[0], m, &args[i]);

	for (size_t i = 0; i < c->clause->args.n; i++) {
		const struct script_arg *use = &c->clause->args.v[i];
		struct diag_place place = tok_place(use->token);
		if (use->n >= n) {
			good = diag_error(
			    b->diag, &place,
			    "there is no arg%u: probe " STR_FMT ":" STR_FMT " has %zu argument%s%s",
			    use->n, STR_ARG(m->probe->provider), STR_ARG(m->probe->name), n,
			    n == 1 ? "" : "s", n ? ", counted from arg0" : "");
		} else if (use->n > dialect_max_arg(b->version)) {
			good = diag_error(
			    b->diag, &place,
			    "bpftrace 0.%u reads arg0 to arg%u only (0.24 reads up to arg11)",
			    b->version, dialect_max_arg(b->version));
		} else if (args[use->n].is_float) {
			good = diag_error(b->diag, &place,
					  "arg%u of " STR_FMT ":" STR_FMT
					  " is a floating-point number, which bpftrace cannot read",
					  use->n, STR_ARG(m->probe->provider),
					  STR_ARG(m->probe->name));
		} else if (!dialect_has_libbpf_usdt(b->version) &&
			   sdtarg_is_beyond_bcc(&args[use->n])) {
			good = say_unreadable(b, use, m, &args[use->n]);
		}
	}
	return good;
}

bool check_arguments(struct bind *b, const struct attach_clause *c)
{
	for (size_t i = 0; i < c->probes.n; i++) {
		const struct attach_match *m = &c->probes.v[i];
		// One complaint for each probe is enough: sites mostly fail alike.
		for (size_t k = 0; k < m->probe->n_sites; k++)
			if (!check_site(b, c, m, &m->probe->sites[k]))
				return false;
	}
	return true;
}

/** How many different places the sites of a probe have for their arguments. */
static unsigned count_places(struct bind *b, const struct sdt_probe *p)
{
	struct map places = {0};
	for (size_t i = 0; i < p->n_sites; i++)
		map_add(b->arena, &places, p->sites[i].args);
	return (unsigned)places.n;
}

bool check_number(struct bind *b)
{
	unsigned n_probes = 0, n_places = 0, most = dialect_max_usdt(b->version);
	b->n_programs = b->n_attach;
	for (size_t i = 0; i < b->script.clauses.n; i++)
		for (size_t k = 0; k < b->clauses[i].probes.n; k++) {
			const struct sdt_probe *p = b->clauses[i].probes.v[k].probe;
			b->n_programs += (unsigned)p->n_sites - 1;
			n_places += count_places(b, p);
			n_probes++;
		}
	if (n_places <= most)
		return true;
	diag_error(b->diag, NULL, "bpftrace 0.%u can attach to %u probes at once, and these are %u",
		   b->version, most, n_probes);
	if (n_places > n_probes)
		diag_note(
		    b->diag, NULL,
		    "one counts again for each place that other sites have its arguments in: %u",
		    n_places);
	return diag_note(b->diag, NULL, "name fewer of them; bpftrace 0.23 can attach to all");
}
