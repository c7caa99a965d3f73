#include "listing/probes_print.h"

#include "probe/codeplace.h"

/** `uprobe:FILE:14  only() in work()`; @verbose: `uprobe:FILE:14  0x11a4  only() in work()`. */
static struct str row(struct arena *a, struct binary *bin, const struct source_lines *lines,
		      const struct codeplace_line *at, bool verbose)
{
	struct str where = codeplace_where(a, bin, at->addr, false);
	struct str text = str_printf(a, "uprobe:" STR_FMT ":%u", STR_ARG(lines->file), at->line);
	if (verbose)
		text = str_printf(a, STR_FMT "  0x%" PRIx64, STR_ARG(text), at->addr);
	return str_printable(a, str_printf(a, STR_FMT "  " STR_FMT, STR_ARG(text), STR_ARG(where)));
}

static int by_line(const void *a, const void *b)
{
	const struct codeplace_line *x = a, *y = b;
	return x->line != y->line ? (x->line > y->line ? 1 : -1)
				  : (x->addr > y->addr) - (x->addr < y->addr);
}

bool lines_print(struct arena *a, struct diag *d, struct binary *bin,
		 const struct source_lines *lines, bool verbose)
{
	struct codeplace_lines s;
	codeplace_find_lines(bin->src, lines->file, lines->first, lines->last, &s);
	if (!s.file.n)
		return false;
	if (codeplace_is_ambiguous(d, NULL, lines->file, &s))
		return true;
	if (!s.list.n) {
		diag_error(d, NULL, STR_FMT " has no code", STR_ARG(lines->text));
		if (s.next)
			diag_note(d, NULL, "the next line that has some is %u", s.next);
	}
	if (s.list.n)
		qsort(s.list.v, s.list.n, sizeof(*s.list.v), by_line);
	struct map seen = {0};
	for (size_t i = 0; i < s.list.n; i++) {
		struct str text = row(a, bin, lines, &s.list.v[i], verbose);
		if (map_add(a, &seen, text))
			printf(STR_FMT "\n", STR_ARG(text));
	}
	return true;
}
