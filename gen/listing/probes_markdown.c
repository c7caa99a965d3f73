/**
 * btgen probes --markdown: a reference of probes, to keep beside a program. Nothing in it changes
 * with each build.
 */
#include "code/code.h"
#include "listing/probes_print.h"
#include "listing/probes_scripts.h"

/** What follows in the last column: "; " between remarks. */
static void add_remark(struct code *b, bool *any, const char *text)
{
	code_f(b, "%s%s", *any ? "; " : "", text);
	*any = true;
}

static void add_arg(struct code *b, struct arena *a, const struct probearg *arg, size_t k)
{
	bool any = false;
	code_f(b, "| arg%zu | ", k);
	code_markdown_code(b, probearg_type_text(a, arg));
	code_z(b, " | ");
	if (arg->has_name)
		code_markdown_code(b, arg->name);
	code_z(b, " | ");
	if (arg->doc.n) {
		code_markdown(b, arg->doc);
		any = true;
	}
	if (arg->unit.n) {
		add_remark(b, &any, "in ");
		code_markdown(b, arg->unit);
	}
	if (arg->string_max) {
		add_remark(b, &any, "a string of at most ");
		code_f(b, "%llu bytes", (unsigned long long)arg->string_max);
	}
	for (size_t i = 0; i < arg->other_names.n; i++) {
		add_remark(b, &any, "elsewhere called ");
		code_markdown_code(b, arg->other_names.v[i]);
	}
	if (arg->types_differ)
		add_remark(b, &any, "sites disagree about its type");
	if (arg->sizes_differ)
		add_remark(b, &any, "sites disagree about its size or signedness");
	if (arg->is_optional)
		add_remark(b, &any, "not at all sites");
	if (arg->from == PROBEARG_SIZE_ONLY)
		add_remark(b, &any, "only its size is known");
	code_z(b, " |\n");
}

/**
 * Function and file of each site, the same place once; without lines and addresses, which change
 * with every build.
 */
static void add_sites(struct code *b, struct arena *a, const struct probeargs *pa)
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
		code_z(b, any ? ", " : "- in: ");
		any = true;
		if (s->function.n)
			code_markdown_code(b, str_printf(a, STR_FMT "()", STR_ARG(s->function)));
		if (s->file.n) {
			code_z(b, s->function.n ? " of " : "");
			code_markdown(b, s->file);
		}
	}
	code_z(b, any ? "\n" : "");
}

static void add_scripts(struct code *b, const struct sdt_probe *p,
			const struct probes_scripts *scripts)
{
	struct str last = {0};
	for (size_t i = 0; i < scripts->uses.n; i++) {
		const struct probes_use *use = &scripts->uses.v[i];
		if ((last.n && str_eq(use->script, last)) ||
		    !probes_use_fits(use, p->provider, p->name))
			continue;
		code_z(b, last.n ? ", " : "- used by: ");
		code_markdown_code(b, use->script);
		last = use->script;
	}
	code_z(b, last.n ? "\n" : "");
}

static void add_probe(struct code *b, struct arena *a, const struct sdt_probe *p,
		      const struct probeargs *pa, const struct probes_scripts *scripts)
{
	code_z(b, "\n## ");
	code_markdown_code(
	    b, str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(p->provider), STR_ARG(p->name)));
	code_z(b, "\n\n");
	if (pa->doc.n) {
		code_z(b, "Fires when: ");
		code_markdown(b, pa->doc);
		code_z(b, "\n\n");
	}
	if (pa->n_args) {
		code_z(b, "| | type | name | |\n|---|---|---|---|\n");
		for (size_t i = 0; i < pa->n_args; i++)
			add_arg(b, a, &pa->args[i], i);
		code_z(b, "\n");
	} else {
		code_z(b, "No arguments.\n\n");
	}
	add_sites(b, a, pa);
	add_scripts(b, p, scripts);
	if (probes_semaphore(p))
		code_z(b, "- has a semaphore: the program knows when it is traced\n");
}

void probes_print_markdown(FILE *out, const struct probes_file *files, size_t n_files,
			   const struct probes_scripts *scripts)
{
	struct code b;
	bool first = true;
	code_init(&b);
	for (size_t i = 0; i < n_files; i++) {
		const struct sdt_list *list = &files[i].probes;
		struct arena scratch;
		if (!list->n_probes)
			continue;
		arena_init(&scratch);
		code_z(&b, first ? "# Probes of " : "\n# Probes of ");
		first = false;
		code_markdown(&b, files[i].path);
		code_z(&b, "\n");
		arena_fini(&scratch);
		for (size_t k = 0; k < list->n_probes; k++) {
			arena_init(&scratch);
			add_probe(&b, &scratch, &list->probes[k], &files[i].extra[k].args, scripts);
			fwrite(code_str(&b).p, 1, code_str(&b).n, out);
			code_clear(&b);
			arena_fini(&scratch);
		}
	}
	code_fini(&b);
}
