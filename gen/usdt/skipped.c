#include "usdt/skipped.h"

#include "base/json.h"

void skipped_match(struct skipped *s, struct arena *a, const struct sdt_probe *p)
{
	map_add_ptr(a, &s->matched, p);
}

void skipped_add(struct skipped *s, struct arena *a, const struct sdt_probe *p, struct str why)
{
	skipped_match(s, a, p);
	if (map_add_ptr(a, &s->seen, p))
		vec_push(a, &s->list, ((struct skipped_probe){p, str_copy(a, why)}));
}

/** "app:a, app:b, app:c and 5 more": those that are too many, or the others; their number in @n. */
static struct str list_names(const struct skipped *s, struct arena *a, bool is_over, size_t *n,
			     const struct skipped_probe **first)
{
	enum { SHOWN = 3 };
	struct str text = STR("");
	*n = 0;
	vec_each(const struct skipped_probe, p, &s->list) {
		if (!p->why.n != is_over || (*n)++ >= SHOWN)
			continue;
		*first = *n == 1 ? p : *first;
		text = str_printf(a, STR_FMT "%s" STR_FMT ":" STR_FMT, STR_ARG(text),
				  text.n ? ", " : "", STR_ARG(p->probe->provider),
				  STR_ARG(p->probe->name));
	}
	return *n > SHOWN ? str_printf(a, STR_FMT " and %zu more", STR_ARG(text), *n - SHOWN)
			  : text;
}

void skipped_report(const struct skipped *s, struct arena *a, struct diag *d, const char *bpftrace)
{
	const struct skipped_probe *first = NULL;
	size_t n_over, n_bad;
	bool was_quiet = d->quiet;
	struct str over = list_names(s, a, true, &n_over, &first),
		   bad = list_names(s, a, false, &n_bad, &first);
	const char *text = "", *help = s->instead ? arena_printf(a, " (%s can)", s->instead) : "";
	if (!s->list.n)
		return;
	if (n_bad)
		text = arena_printf(a, "%s cannot attach to " STR_FMT "%s: %s" STR_FMT, bpftrace,
				    STR_ARG(bad), help, n_bad > 1 ? "of the first, " : "",
				    STR_ARG(first->why));
	if (n_over)
		text = arena_printf(a,
				    "%s%s%s attaches to at most %u at once, without " STR_FMT
				    ": name fewer, or trace the rest in another run",
				    text, n_bad ? "; " : "", bpftrace, s->most, STR_ARG(over));
	d->quiet = false;
	diag_warning(d, NULL, "%zu of %zu probes %s skipped: %s", s->list.n, s->matched.n,
		     s->list.n == 1 ? "is" : "are", text);
	d->quiet = was_quiet;
}

struct str skipped_json(const struct skipped *s, struct arena *a, const char *bpftrace)
{
	struct strbuf out = {0};
	struct json j = {.out = &out};
	if (!s->list.n)
		return STR("");
	json_open(&j, NULL, '[');
	vec_each(const struct skipped_probe, p, &s->list) {
		json_open(&j, NULL, '{');
		json_str(&j, "probe",
			 str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(p->probe->provider),
				    STR_ARG(p->probe->name)));
		json_str(&j, "reason",
			 p->why.n ? str_printf(a, "%s cannot attach to it: " STR_FMT, bpftrace,
					       STR_ARG(p->why))
				  : str_printf(a, "%s attaches to at most %u probes at once",
					       bpftrace, s->most));
		json_close(&j, '}');
	}
	json_close(&j, ']');
	return strbuf_take(&out, a);
}
