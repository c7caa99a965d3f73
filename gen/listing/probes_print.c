#include "listing/probes_print.h"

#include "dialect/dialect.h"

void probes_add_hex(struct strbuf *b, uint64_t v)
{
	char text[18], *p = text + sizeof(text);
	do
		*--p = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	*--p = 'x';
	*--p = '0';
	strbuf_add(b, p, (size_t)(text + sizeof(text) - p));
}

void probes_add_text(struct strbuf *b, const char *before, struct str text, const char *after)
{
	if (!text.n)
		return;
	strbuf_addz(b, before);
	strbuf_add_printable(b, text);
	strbuf_addz(b, after);
}

void probes_add_count(struct strbuf *b, size_t n, const char *what)
{
	strbuf_addf(b, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

void probes_add_signature(struct strbuf *b, struct arena *a, const struct sdt_probe *p,
			  const struct probeargs *pa)
{
	strbuf_add_printable(b, p->provider);
	strbuf_addc(b, ':');
	strbuf_add_printable(b, p->name);
	strbuf_addc(b, '(');
	strbuf_add_printable(b, probearg_list(a, pa->args, pa->n_args));
	strbuf_addc(b, ')');
}

/** The remarks after a declaration, each after two blanks. */
static void add_remarks(struct strbuf *b, const struct sdt_probe *p, const struct probes_extra *x)
{
	const char *doubt = NULL; // the first one about a site
	for (size_t i = 0; i < p->n_sites && !doubt; i++)
		doubt = sdt_doubt_text(p->sites[i].doubt);
	if (p->n_sites != 1) {
		strbuf_addz(b, "  ");
		probes_add_count(b, p->n_sites, "site");
	}
	const char *before = ": elsewhere ";
	for (size_t i = 0; i < x->args.n_args; i++)
		for (size_t k = 0; k < x->args.args[i].other_names.n; k++, before = ", ") {
			strbuf_addf(b, "%sarg%zu is ", before, i);
			strbuf_add_printable(b, x->args.args[i].other_names.v[k]);
		}
	if (doubt)
		strbuf_addf(b, "  (%s)", doubt);
	probes_add_text(b, "  ", x->args.doc, "");
	if (!x->why_not.n)
		return;
	strbuf_addz(b, "  not attachable");
	if (x->bpftrace)
		strbuf_addf(b, " by bpftrace " DIALECT_FMT, DIALECT_ARG(x->bpftrace));
	probes_add_text(b, ": ", x->why_not, "");
}

void probes_add_heading(struct strbuf *b, struct str path, const char *what, size_t n, bool first)
{
	strbuf_addz(b, first ? "" : "\n");
	strbuf_add_printable(b, path);
	strbuf_addz(b, ": ");
	probes_add_count(b, n, what);
	strbuf_addc(b, '\n');
}

void probes_add_file(struct strbuf *b, const struct probes_file *f, bool first)
{
	struct arena a = {0};
	struct str path =
	    f->is_deleted ? str_printf(&a, STR_FMT " (deleted)", STR_ARG(f->path)) : f->path;
	probes_add_heading(b, path, "probe", f->probes.n_probes, first);
	arena_fini(&a);
}

void probes_print_line(FILE *out, struct strbuf *b, struct arena *scratch,
		       const struct sdt_probe *p, const struct probes_extra *x)
{
	probes_add_signature(b, scratch, p, &x->args);
	add_remarks(b, p, x);
	strbuf_addc(b, '\n');
	if (b->n < 8192) // written in large pieces: a list of some hundred probes is a few of them
		return;
	fwrite(b->p, 1, b->n, out);
	strbuf_clear(b);
}
