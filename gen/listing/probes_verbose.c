/** btgen probes -v: each probe as a declaration, with all that is known about it. */
#include "listing/probes_print.h"
#include "dialect/dialect.h"

/** Two blanks or more after the text from @from on, up to column @width of it. */
static void pad_from(struct strbuf *b, size_t from, size_t width)
{
	size_t n = 0;
	for (size_t i = from; i < b->n; i++)
		n += ((unsigned char)b->p[i] & 0xc0) != 0x80;
	for (strbuf_addz(b, "  "); n < width; n++)
		strbuf_addc(b, ' ');
}

/** Remarks after an argument: the origin of its type, its doc, oddities. */
static void add_remarks(struct strbuf *b, const struct probearg *arg)
{
	strbuf_addz(b, probearg_from_text(arg->from));
	probes_add_text(b, ", in ", arg->unit, "");
	if (arg->string_max)
		strbuf_addf(b, ", at most %llu bytes", (unsigned long long)arg->string_max);
	if (arg->is_constant)
		strbuf_addf(b, ", constant %llu: -t omits it", (unsigned long long)arg->constant);
	if (arg->types_differ)
		strbuf_addz(b, "; sites disagree about its type");
	if (arg->sizes_differ)
		strbuf_addz(b, "; sites disagree about its size or signedness");
	if (arg->is_optional)
		strbuf_addz(b, "; not at all sites");
	for (size_t i = 0; i < arg->other_names.n; i++)
		probes_add_text(b, i ? ", " : "; elsewhere called ", arg->other_names.v[i], "");
	probes_add_text(b, "; documented as ", arg->listed_name, "");
	probes_add_text(b, ": ", arg->doc, "");
}

static void add_site(struct strbuf *b, const struct probesite *s)
{
	strbuf_addz(b, "    ");
	probes_add_hex(b, s->site->pc);
	probes_add_text(b, "  ", s->function, "()");
	probes_add_text(b, ", inlined into ", s->caller, "()");
	probes_add_text(b, "  ", s->file, "");
	if (s->file.n && s->line)
		strbuf_addf(b, ":%u", s->line);
	if (s->site->off) {
		strbuf_addz(b, "  file offset ");
		probes_add_hex(b, s->site->off);
	}
	const char *doubt = sdt_doubt_text(s->site->doubt);
	if (doubt)
		strbuf_addf(b, "  (%s)", doubt);
	strbuf_addc(b, '\n');
	for (size_t i = 0; i < s->n_args; i++) {
		strbuf_addf(b, "        arg%-2zu  ", i);
		size_t from = b->n;
		strbuf_add_printable(b, s->args[i].operand.text);
		pad_from(b, from, 18);
		sdtarg_describe(b, &s->args[i].operand);
		strbuf_addc(b, '\n');
	}
}

static void add_semaphore(struct strbuf *b, const struct sdt_probe *p, const struct probes_extra *x)
{
	uint64_t semaphore = sdt_semaphore(p);
	if (!semaphore)
		return;
	strbuf_addz(b, "    semaphore ");
	probes_add_hex(b, semaphore);
	size_t n_without = 0, n_others = 0;
	for (size_t i = 0; i < p->n_sites; i++) {
		n_without += !p->sites[i].semaphore;
		n_others += p->sites[i].semaphore && p->sites[i].semaphore != semaphore;
	}
	if (n_others)
		strbuf_addf(b, ", another at %zu of %zu sites", n_others, p->n_sites);
	if (n_without)
		strbuf_addf(b, ", none at %zu of %zu sites", n_without, p->n_sites);
	if (x->has_counter)
		strbuf_addf(b, ", in the process now %u (%s)", x->counter,
			    x->counter ? "traced" : "not traced");
	strbuf_addc(b, '\n');
}

static void add_probe(struct strbuf *b, struct arena *a, const struct sdt_probe *p,
		      const struct probes_extra *x)
{
	const struct probeargs *pa = &x->args;
	probes_add_signature(b, a, p, pa);
	strbuf_addc(b, '\n');
	probes_add_text(b, "    ", pa->doc, "\n");
	probes_add_text(b, "    probes.conf is not used: ", pa->unlisted, "\n");
	size_t width = 0;
	for (size_t i = 0; i < pa->n_args; i++) {
		size_t n = probearg_declaration(a, &pa->args[i]).n;
		width = n > width && n <= 48 ? n : width;
	}
	for (size_t i = 0; i < pa->n_args; i++) {
		strbuf_addf(b, "    arg%-2zu  ", i);
		size_t from = b->n;
		strbuf_add_printable(b, probearg_declaration(a, &pa->args[i]));
		pad_from(b, from, width);
		add_remarks(b, &pa->args[i]);
		strbuf_addc(b, '\n');
	}
	add_semaphore(b, p, x);
	if (x->why_not.n) {
		strbuf_addf(b, "    bpftrace " DIALECT_FMT, DIALECT_ARG(x->bpftrace));
		probes_add_text(b, " cannot attach: ", x->why_not, "\n");
	}
	strbuf_addz(b, "  ");
	probes_add_count(b, pa->n_sites, "site");
	strbuf_addz(b, ":\n");
	for (size_t i = 0; i < pa->n_sites; i++)
		add_site(b, &pa->sites[i]);
}

void probes_print_verbose(FILE *out, const struct probes_file *files, size_t n_files)
{
	struct strbuf b = {0};
	bool first = true;
	for (size_t i = 0; i < n_files; i++) {
		const struct sdt_list *list = &files[i].probes;
		if (!list->n_probes)
			continue;
		probes_add_file(&b, &files[i], first);
		first = false;
		for (size_t k = 0; k < list->n_probes; k++) {
			struct arena scratch = {0};
			add_probe(&b, &scratch, &list->probes[k], &files[i].extra[k]);
			fwrite(b.p, 1, b.n, out);
			strbuf_clear(&b);
			arena_fini(&scratch);
		}
	}
	strbuf_fini(&b);
}
