#include "convert/convert.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "convert/format.h"

struct convert {
	struct diag *diag;
	struct str file;
	const struct convert_format *format;
	void *state; /**< the format's */
	struct capture_clock clock;
	struct strbuf part; /**< a line whose end has not come */
	uint32_t line;	    /**< that was read last */
	bool has_records;
	uint64_t n_skipped; /**< lines that are no records */
	uint32_t first_skipped;
};

static const struct convert_format *const formats[] = {&timeline_format, &otlp_format,
						       &folded_format};

const struct convert_format *convert_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(name, formats[i]->name) == 0)
			return formats[i];
	return NULL;
}

struct convert *convert_new(const struct convert_format *format, const char *map, struct diag *d,
			    const char *file)
{
	struct convert *c = base_new(struct convert);
	c->diag = d;
	c->file = str_from(file);
	c->format = format;
	c->state = format->begin(format, map);
	return c;
}

void convert_free(struct convert *c)
{
	if (!c)
		return;
	c->format->free(c->state);
	strbuf_fini(&c->part);
	free(c);
}

static void take_line(struct convert *c, struct str line, struct strbuf *out)
{
	struct capture_line l;
	c->line++;
	if (!str_trim(line).n)
		return;
	if (capture_read(&c->clock, line, &l) && c->format->line(c->state, &l, out))
		c->has_records = true;
	else if (!c->n_skipped++)
		c->first_skipped = c->line;
}

void convert_take(struct convert *c, struct str bytes, struct strbuf *out)
{
	while (bytes.n) {
		size_t n = str_find(bytes, '\n');
		struct str line = str_slice(bytes, 0, n);
		if (n == bytes.n) {
			strbuf_adds(&c->part, bytes);
			break;
		}
		bytes = str_from_offset(bytes, n + 1);
		if (c->part.n) {
			strbuf_adds(&c->part, line);
			line = strbuf_str(&c->part);
		}
		take_line(c, line, out);
		strbuf_clear(&c->part);
	}
}

void convert_tail(const struct convert *c, struct strbuf *out)
{
	if (c->format->tail)
		c->format->tail(c->state, out);
}

bool convert_has_skipped(const struct convert *c)
{
	return c->n_skipped;
}

bool convert_end(struct convert *c, struct strbuf *out)
{
	struct capture_line l;
	struct str rest = strbuf_str(&c->part);
	struct diag_place at = {.file = c->file, .line = c->line + 1};
	if (str_trim(rest).n && (capture_read(&c->clock, rest, &l) || c->line == 0))
		take_line(c, rest, out);
	else if (str_trim(rest).n)
		diag_warning(c->diag, &at, "the last line is truncated and was skipped");
	at.line = c->first_skipped;
	if (c->n_skipped && !c->has_records)
		return diag_error(c->diag, &at, "is not a line of -f json");
	if (c->n_skipped)
		diag_warning(c->diag, &at,
			     "is not a line of -f json: skipped, %" PRIu64 " such line%s in all",
			     c->n_skipped, c->n_skipped == 1 ? "" : "s");
	return c->format->end(c->state, c->diag, out);
}
