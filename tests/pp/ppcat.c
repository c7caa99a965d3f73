// ppcat [-DNAME[=TEXT]] [-IDIR] [-w] [-p] [-e TEXT | FILE]...: preprocesses and prints, as btgen does.
// Before the text come kept #includes; -p also prints kept pragmas, -w hides warnings.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text/pp.h"
#include "../unit/tokens.h"

static void print_pragmas(const struct pp *pp)
{
	for (size_t i = 0; i < pp->pragmas.n; i++) {
		printf("pragma");
		for (struct token *t = pp->pragmas.v[i].tokens; t->kind != TOK_EOF; t = t->next)
			printf(" " STR_FMT, STR_ARG(t->text));
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct arena a = {0};
	struct diag d;
	struct pp pp;
	bool pragmas = false, good = true;
	diag_init(&d, stderr);
	pp_init(&pp, &a, &d);
	for (int i = 1; i < argc; i++) {
		struct src_file *f;
		if (!strncmp(argv[i], "-D", 2)) {
			good &= pp_define(&pp, argv[i] + 2);
		} else if (!strncmp(argv[i], "-P", 2)) {
			pp_predefine(&pp, argv[i] + 2, "17");
		} else if (!strncmp(argv[i], "-I", 2)) {
			pp_add_dir(&pp, argv[i] + 2);
		} else if (!strcmp(argv[i], "-w")) {
			d.quiet = true;
		} else if (!strcmp(argv[i], "-p")) {
			pragmas = true;
		} else if (!strcmp(argv[i], "-e") && i + 1 < argc) {
			f = src_from_text(&a, STR("-e"), str_from(argv[++i]));
			good &= pp_file(&pp, f);
		} else {
			good &= src_load(&a, &d, argv[i], str_from(argv[i]), &f) && pp_file(&pp, f);
		}
	}
	struct program program = {0};
	if (good) {
		for (size_t i = 0; i < pp.c_lines.n; i++) // of the others gcc leaves nothing
			if (str_has_prefix(pp.c_lines.v[i].directive->text, STR("#include")))
				printf(STR_FMT "\n", STR_ARG(pp.c_lines.v[i].directive->text));
		if (pragmas)
			print_pragmas(&pp);
		emit_tokens(pp.out, pp.files.n ? pp.files.v[0] : NULL, &program);
		if (program.text.n)
			fwrite(program.text.p, 1, program.text.n, stdout);
	}
	program_fini(&program);
	arena_fini(&a);
	return good ? 0 : 1;
}
