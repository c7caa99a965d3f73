#include "convert/convert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "convert/format.h"
#include "convert/jsonread.h"

struct slow {
	int64_t most;
	struct diag silent; // a line that is none of a record is no news here
	struct convert *timeline;
	struct strbuf ended; // "NS NAME" of each slice, a line each
	struct strbuf what;
	bool has_slices;
};

bool slow_is_condition(const char *trigger, int64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	struct str rest = str_from(trigger);
	if (!str_take(&rest, STR("latency")))
		return false;
	rest = str_trim(rest);
	if (!str_take(&rest, STR(">")))
		return false;
	rest = str_trim(rest);
	char *end;
	double value = rest.n && strchr("0123456789.", *rest.p) ? strtod(rest.p, &end) : 0;
	*ns = 0;
	for (size_t i = 0; value > 0 && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0 && value * units[i].ns < 1e18)
			*ns = (int64_t)(value * units[i].ns);
	return true;
}

/** A drawing that only writes down what has ended. */
static void put(void *state, enum drawing_kind kind, const struct drawing_what *what,
		struct strbuf *out)
{
	(void)state;
	if ((kind == DRAWING_SLICE || kind == DRAWING_OVERLAP) &&
	    strcmp(what->category, "state") != 0)
		strbuf_addf(out, "%" PRId64 " " STR_FMT "\n", what->end - what->ns,
			    STR_ARG(what->name));
}

const struct drawing slow_drawing = {.put = put};

struct slow *slow_new(int64_t ns)
{
	struct slow *s = base_new(struct slow);
	s->most = ns;
	s->silent.quiet = true;
	s->timeline = convert_new(&slow_format, NULL, &s->silent, "the trace");
	return s;
}

void slow_free(struct slow *s)
{
	if (!s)
		return;
	convert_free(s->timeline);
	strbuf_fini(&s->ended);
	strbuf_fini(&s->what);
	free(s);
}

struct str slow_take(struct slow *s, struct str lines)
{
	strbuf_clear(&s->ended);
	strbuf_clear(&s->what);
	convert_take(s->timeline, lines, &s->ended);
	for (struct str rest = strbuf_str(&s->ended); rest.n;) {
		struct str name = str_take_line(&rest);
		int64_t ns = strtoll(name.p, NULL, 10);
		s->has_slices = true;
		if (ns <= s->most || s->what.n)
			continue;
		name = str_from_offset(name, str_find(name, ' ') + 1);
		jsonread_add_text(name, &s->what);
		strbuf_addf(&s->what, " took %.*f ms", ns < 10000000 ? 3 : 1, (double)ns / 1e6);
	}
	return strbuf_str(&s->what);
}

bool slow_has_slices(const struct slow *s)
{
	return s->has_slices;
}
