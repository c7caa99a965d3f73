#include "check/check_priv.h"

#include "bind/argread.h"
#include "bind/attach.h"
#include "bind/namedarg.h"
#include "probe/attachable.h"
#include "dialect/dialect.h"

static bool check_attachable(const struct bind *b, const struct attach_clause *c,
			     const struct attach_match *m)
{
	struct str why = attach_why_not(b, m);
	if (!why.n)
		return true;
	bool good = diag_finding(
	    b->diag, "attach", DIAG_ERROR, tok_at(c->clause->attach.v[0].node->first),
	    "bpftrace " DIALECT_FMT " cannot attach to " STR_FMT ":" STR_FMT ": " STR_FMT,
	    DIALECT_ARG(b->given->version), STR_ARG(m->probe->provider), STR_ARG(m->probe->name),
	    STR_ARG(why));
	if (dialect_has_libbpf_usdt(b->given->version) &&
	    attachable_has_name(m->probe, DIALECT_OLDEST))
		diag_note(b->diag, NULL, "bpftrace 0.23 and older can attach to it");
	return good;
}

/**
 * Reports an argument of @args that bpftrace reads wrong or cannot read, or one after such an argument;
 * without the error the number would be wrong, or the probe not attached.
 */
static bool report_unreadable(const struct bind *b, const struct script_arg *use,
			      const struct attach_match *m, const struct sdtarg *args)
{
	unsigned n = use->n;
	while (args[n].after_bcc_stops && !attach_is_by_address(b, m))
		n--;
	if (n == use->n && sdtarg_has_odd_size(&args[n]))
		return diag_finding(
		    b->diag, "argument", DIAG_ERROR, tok_at(use->token),
		    "bpftrace cannot read arg%u of " STR_FMT ":" STR_FMT ": it has %u bytes", n,
		    STR_ARG(m->probe->provider), STR_ARG(m->probe->name), args[n].size);
	return diag_finding(b->diag, "argument", DIAG_ERROR, tok_at(use->token),
			    "bpftrace " DIALECT_FMT " cannot read arg%u of " STR_FMT ":" STR_FMT
			    ": %s is at " STR_FMT,
			    DIALECT_ARG(b->given->version), use->n, STR_ARG(m->probe->provider),
			    STR_ARG(m->probe->name), n == use->n ? "it" : "an argument before it",
			    STR_ARG(str_printable(b->arena, args[n].place)));
}

static void note_place(const struct bind *b, const struct script_arg *use, struct str place)
{
	if (place.n)
		diag_note(b->diag, NULL,
			  "at one site arg%u is " STR_FMT
			  ": no single expression reads it there and at the other sites",
			  use->n, STR_ARG(str_printable(b->arena, place)));
}

/** Where there is no argN, and no other way to read it at all sites. */
static bool report_no_such(const struct bind *b, const struct script_arg *use, struct str place)
{
	bool good = diag_finding(
	    b->diag, "argument", DIAG_ERROR, tok_at(use->token),
	    "bpftrace " DIALECT_FMT " reads arg0 to arg%u only (0.24 reads up to arg11)",
	    DIALECT_ARG(b->given->version), dialect_max_arg(b->given->version));
	note_place(b, use, place);
	return good;
}

/** Where there is no argN because @site has fewer arguments than others, or the probe has. */
static bool report_none(const struct bind *b, const struct script_arg *use,
			const struct attach_match *m, const struct sdt_site *site, size_t n)
{
	const struct sdt_probe *p = m->probe;
	size_t without = 0;
	for (size_t i = 0; i < p->n_sites; i++)
		without += namedarg_operands(b, m, &p->sites[i])->n <= use->n;
	if (without == p->n_sites)
		return diag_finding(b->diag, "argument", DIAG_ERROR, tok_at(use->token),
				    "there is no arg%u: probe " STR_FMT ":" STR_FMT
				    " has %zu argument%s%s",
				    use->n, STR_ARG(p->provider), STR_ARG(p->name), n,
				    n == 1 ? "" : "s", n ? ", counted from arg0" : "");
	bool good =
	    diag_finding(b->diag, "disagree", DIAG_ERROR, tok_at(use->token),
			 "there is no arg%u at %zu of the %zu sites of " STR_FMT ":" STR_FMT,
			 use->n, without, p->n_sites, STR_ARG(p->provider), STR_ARG(p->name));
	const struct probeargs *pa =
	    namedarg_at(b, m, 0) ? map_get_ptr(&b->cache->probeargs, p) : NULL;
	const struct probesite *s = pa ? &pa->sites[site - p->sites] : NULL;
	struct diag_place at = {.file = s ? s->file : STR(""), .line = s ? s->line : 0};
	diag_note(b->diag, &at, "it has %zu argument%s there", n, n == 1 ? "" : "s");
	return good;
}

static bool check_site(const struct bind *b, const struct attach_clause *c,
		       const struct attach_match *m, const struct sdt_site *site)
{
	const struct operands *o = namedarg_operands(b, m, site);
	const struct sdtarg *args = o->v;
	bool good = true;
	vec_each(const struct script_arg, use, &c->clause->args) {
		struct str far = STR("");
		if (use->n >= o->n) {
			good &= report_none(b, use, m, site, o->n);
		} else if (args[use->n].is_float) {
			good &= diag_finding(
			    b->diag, "floating-point", DIAG_ERROR, tok_at(use->token),
			    "arg%u of " STR_FMT ":" STR_FMT
			    " is a floating-point number, which bpftrace cannot read",
			    use->n, STR_ARG(m->probe->provider), STR_ARG(m->probe->name));
		} else if (attach_is_by_address(b, m)) {
			if (!argread_find(b, c, use->n, &far).n) {
				good &= report_unreadable(b, use, m, args);
				note_place(b, use, m->probe->n_sites > 1 ? far : STR(""));
			}
		} else if (use->n > dialect_max_arg(b->given->version)) {
			if (!argread_find(b, c, use->n, &far).n)
				good &= report_no_such(b, use, far);
		} else if (!dialect_has_libbpf_usdt(b->given->version) &&
			   args[use->n].bcc_misreads && !argread_find(b, c, use->n, &far).n) {
			good &= report_unreadable(b, use, m, args);
		}
	}
	return good;
}

bool check_arguments(const struct bind *b, const struct attach_clause *c)
{
	vec_each(const struct attach_match, m, &c->probes) {
		if (!check_attachable(b, c, m))
			return false;
		// One complaint for each probe is enough: sites mostly fail alike.
		for (size_t k = 0; k < m->probe->n_sites; k++)
			if (!check_site(b, c, m, &m->probe->sites[k]))
				return false;
	}
	return true;
}

/** Macros that clauses of usdt probes call, and those that these call. */
struct called {
	const struct bind *b;
	struct map seen;
	VEC(struct node *) macros;
	const struct node *in; // the one that is looked at; NULL in a clause
	bool good;
};

static void check_word(struct called *k, const struct node *n)
{
	struct arena *a = k->b->arena;
	unsigned i;
	if ((n->kind != NODE_NAME && n->kind != NODE_CALL) || script_is_parameter(k->in, n))
		return;
	struct node *macro = script_macro(&k->b->found.script, n);
	if (macro && map_add_ptr(a, &k->seen, macro))
		vec_push(a, &k->macros, macro);
	if (k->in && n->kind == NODE_NAME && vocabulary_arg_number(node_text(n), &i))
		k->good &= diag_finding(k->b->diag, "argument", DIAG_ERROR, tok_at(n->name),
					"bpftrace does not support argN of a usdt probe inside a "
					"macro: pass it as an argument");
}

static void check_words_of(struct called *k, const struct node *clause)
{
	for (const struct node *n = clause; n; n = node_next(clause, n))
		check_word(k, n);
}

bool check_macros(const struct bind *b)
{
	struct called k = {.b = b, .good = true};
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		if (vec_any(const struct script_attach, at, &c->attach,
			    at->provider->place == PLACE_USDT))
			check_words_of(&k, c->node);
	}
	for (size_t i = 0; i < k.macros.n; i++) {
		k.in = k.macros.v[i];
		check_words_of(&k, k.macros.v[i]);
	}
	return k.good;
}

bool check_number(const struct bind *b)
{
	unsigned n_probes = 0, n_places = 0, most = dialect_max_usdt(b->given->version);
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		for (size_t k = 0; k < b->found.clauses[i]->probes.n; k++) {
			unsigned n = attach_count_places(b, &b->found.clauses[i]->probes.v[k]);
			n_places += n;
			n_probes += n > 0;
		}
	if (n_places <= most)
		return true;
	// A program that is only printed can still be cut down.
	bool is_run = b->given->shapes != NULL;
	bool good = diag_finding(b->diag, "limit", is_run ? DIAG_ERROR : DIAG_WARNING, NULL,
				 "bpftrace " DIALECT_FMT
				 " can attach to at most %u probes at once, but there are %u",
				 DIALECT_ARG(b->given->version), most, n_probes);
	if (n_places > n_probes)
		diag_note(b->diag, NULL,
			  "a probe counts once for each way in which its sites pass its arguments: "
			  "%u in all",
			  n_places);
	diag_note(b->diag, NULL, "name fewer probes; bpftrace 0.23 has no such limit");
	return good;
}
