#include "suite/cases.h"

#include <stdio.h>

/** A # in a description begins a directive. */
static struct str tap_name(struct arena *a, struct str name)
{
	struct strbuf b = {0};
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '#' || name.p[i] == '\\')
			strbuf_addc(&b, '\\');
		strbuf_addc(&b, name.p[i]);
	}
	return str_printable(a, strbuf_take(&b, a));
}

void report_add(struct arena *a, struct report *all, const struct report_result *r)
{
	struct str name = tap_name(a, r->name);
	vec_push(a, &all->results, *r);
	printf("%sok %zu - " STR_FMT "%s%s\n", r->why ? "not " : "", all->results.n, STR_ARG(name),
	       r->skipped ? " # SKIP " : "",
	       r->skipped ? str_dup(a, str_printable(a, str_from(r->skipped))) : "");
	if (r->why)
		printf("# %s\n", str_dup(a, str_printable(a, str_from(r->why))));
	for (struct str rest = r->more; r->why && rest.n;) {
		struct str line = str_printable(a, str_take_line(&rest));
		printf("#   " STR_FMT "\n", STR_ARG(line));
	}
	fflush(stdout);
}

size_t report_count_failures(const struct report *all)
{
	size_t n = 0;
	for (size_t i = 0; i < all->results.n; i++)
		n += all->results.v[i].why != NULL;
	return n;
}

/** In an attribute or between tags. What XML 1.0 cannot have is a question mark. */
static void add_xml(struct strbuf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == '&' || c == '<' || c == '>' || c == '"')
			strbuf_addf(b, "&#%d;", c);
		else
			strbuf_addc(b, c < ' ' && c != '\n' && c != '\t' ? '?' : (char)c);
	}
}

static void add_attribute(struct arena *a, struct strbuf *b, const char *name, struct str value)
{
	strbuf_addf(b, " %s=\"", name);
	add_xml(b, str_printable(a, value));
	strbuf_addc(b, '"');
}

struct str report_junit(struct arena *a, const struct report *all)
{
	size_t n_skipped = 0;
	struct strbuf b = {0};
	for (size_t i = 0; i < all->results.n; i++)
		n_skipped += all->results.v[i].skipped != NULL;
	strbuf_addf(&b,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<testsuites>\n<testsuite name=\"btgen test\" tests=\"%zu\" failures=\"%zu\" "
		    "skipped=\"%zu\">\n",
		    all->results.n, report_count_failures(all), n_skipped);
	vec_each(const struct report_result, r, &all->results) {
		strbuf_addz(&b, "<testcase");
		add_attribute(a, &b, "classname", str_from(r->file));
		add_attribute(a, &b, "name", r->name);
		strbuf_addf(&b, " time=\"%.3f\">", r->seconds);
		if (r->skipped) {
			strbuf_addz(&b, "<skipped");
			add_attribute(a, &b, "message", str_from(r->skipped));
			strbuf_addz(&b, "/>");
		} else if (r->why) {
			strbuf_addz(&b, "<failure");
			add_attribute(a, &b, "message", str_from(r->why));
			strbuf_addc(&b, '>');
			for (struct str rest = r->more; rest.n;) {
				add_xml(&b, str_printable(a, str_take_line(&rest)));
				strbuf_addc(&b, '\n');
			}
			strbuf_addz(&b, "</failure>");
		}
		strbuf_addz(&b, "</testcase>\n");
	}
	strbuf_addz(&b, "</testsuite>\n</testsuites>\n");
	return strbuf_take(&b, a);
}
