/**
 * btgen probes --markdown: a reference of probes, to keep beside a program. Nothing in it changes
 * with each build.
 */
#include "listing/probes_print.h"
#include "listing/probes_scripts.h"

/** Text from a stranger, as it is: nothing in it is markup. */
static void add_text(struct strbuf *b, struct arena *a, struct str s)
{
	s = str_printable(a, s);
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool inside =
		    c == '_' && i && i + 1 < s.n && s.p[i - 1] != ' ' && s.p[i + 1] != ' ';
		if (inside)
			; // of a word: no markup
		else if (c == '\\' || c == '`' || c == '*' || c == '_' || c == '[' || c == '<' ||
			 c == '|' || c == '#' || c == '&')
			strbuf_addc(b, '\\');
		strbuf_addc(b, c);
	}
}

/** The same as code. No backslash makes a ` plain there, and in a table only the | needs one. */
static void add_code(struct strbuf *b, struct arena *a, struct str s)
{
	s = str_printable(a, s);
	strbuf_addc(b, '`');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '|')
			strbuf_addc(b, '\\');
		strbuf_addc(b, s.p[i] == '`' ? '\'' : s.p[i]);
	}
	strbuf_addc(b, '`');
}

/** What follows in the last column: "; " between remarks. */
static void add_remark(struct strbuf *b, bool *any, const char *text)
{
	strbuf_addf(b, "%s%s", *any ? "; " : "", text);
	*any = true;
}

static void add_arg(struct strbuf *b, struct arena *a, const struct probearg *arg, size_t k)
{
	bool any = false;
	strbuf_addf(b, "| arg%zu | ", k);
	add_code(b, a, probearg_type_text(a, arg));
	strbuf_addz(b, " | ");
	if (arg->has_name)
		add_code(b, a, arg->name);
	strbuf_addz(b, " | ");
	if (arg->doc.n) {
		add_text(b, a, arg->doc);
		any = true;
	}
	if (arg->unit.n) {
		add_remark(b, &any, "in ");
		add_text(b, a, arg->unit);
	}
	if (arg->string_max) {
		add_remark(b, &any, "a string of at most ");
		strbuf_addf(b, "%llu bytes", (unsigned long long)arg->string_max);
	}
	for (size_t i = 0; i < arg->other_names.n; i++) {
		add_remark(b, &any, "elsewhere called ");
		add_code(b, a, arg->other_names.v[i]);
	}
	if (arg->types_differ)
		add_remark(b, &any, "sites disagree about its type");
	if (arg->sizes_differ)
		add_remark(b, &any, "sites disagree about its size or signedness");
	if (arg->is_optional)
		add_remark(b, &any, "not at all sites");
	if (arg->from == PROBEARG_SIZE_ONLY)
		add_remark(b, &any, "only its size is known");
	strbuf_addz(b, " |\n");
}

/**
 * Function and file of each site, the same place once; without lines and addresses, which change
 * with every build.
 */
static void add_sites(struct strbuf *b, struct arena *a, const struct probeargs *pa)
{
	bool any = false;
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct probesite *s = &pa->sites[i];
		bool again = !s->function.n && !s->file.n;
		for (size_t k = 0; k < i && !again; k++)
			again = str_eq(pa->sites[k].function, s->function) &&
				str_eq(pa->sites[k].file, s->file);
		if (again)
			continue;
		strbuf_addz(b, any ? ", " : "- in: ");
		any = true;
		if (s->function.n)
			add_code(b, a, str_printf(a, STR_FMT "()", STR_ARG(s->function)));
		if (s->file.n) {
			strbuf_addz(b, s->function.n ? " of " : "");
			add_text(b, a, s->file);
		}
	}
	strbuf_addz(b, any ? "\n" : "");
}

static void add_scripts(struct strbuf *b, struct arena *a, const struct sdt_probe *p,
			const struct probes_scripts *scripts)
{
	struct str last = {0};
	for (size_t i = 0; i < scripts->uses.n; i++) {
		const struct probes_use *use = &scripts->uses.v[i];
		if ((last.n && str_eq(use->script, last)) ||
		    !probes_use_fits(use, p->provider, p->name))
			continue;
		strbuf_addz(b, last.n ? ", " : "- used by: ");
		add_code(b, a, use->script);
		last = use->script;
	}
	strbuf_addz(b, last.n ? "\n" : "");
}

static void add_probe(struct strbuf *b, struct arena *a, const struct sdt_probe *p,
		      const struct probeargs *pa, const struct probes_scripts *scripts)
{
	strbuf_addz(b, "\n## ");
	add_code(b, a, str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(p->provider), STR_ARG(p->name)));
	strbuf_addz(b, "\n\n");
	if (pa->doc.n) {
		strbuf_addz(b, "Fires when: ");
		add_text(b, a, pa->doc);
		strbuf_addz(b, "\n\n");
	}
	if (pa->n_args) {
		strbuf_addz(b, "| | type | name | |\n|---|---|---|---|\n");
		for (size_t i = 0; i < pa->n_args; i++)
			add_arg(b, a, &pa->args[i], i);
		strbuf_addc(b, '\n');
	} else {
		strbuf_addz(b, "No arguments.\n\n");
	}
	add_sites(b, a, pa);
	add_scripts(b, a, p, scripts);
	if (probes_semaphore(p))
		strbuf_addz(b, "- has a semaphore: the program knows when it is traced\n");
}

void probes_print_markdown(FILE *out, const struct probes_file *files, size_t n_files,
			   const struct probes_scripts *scripts)
{
	struct strbuf b;
	bool first = true;
	strbuf_init(&b);
	for (size_t i = 0; i < n_files; i++) {
		const struct sdt_list *list = &files[i].probes;
		struct arena scratch;
		if (!list->n_probes)
			continue;
		arena_init(&scratch);
		strbuf_addz(&b, first ? "# Probes of " : "\n# Probes of ");
		first = false;
		add_text(&b, &scratch, files[i].path);
		strbuf_addz(&b, "\n");
		arena_fini(&scratch);
		for (size_t k = 0; k < list->n_probes; k++) {
			arena_init(&scratch);
			add_probe(&b, &scratch, &list->probes[k], &files[i].extra[k].args, scripts);
			fwrite(b.p, 1, b.n, out);
			strbuf_clear(&b);
			arena_fini(&scratch);
		}
	}
	strbuf_fini(&b);
}
