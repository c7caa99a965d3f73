#include "convert/convert.h"

#include <stdlib.h>

#include "base/arena.h"
#include "convert/capture.h"
#include "convert/folded.h"
#include "convert/timeline.h"

struct convert {
	struct diag *diag;
	struct str file;
	struct timeline *timeline; /**< one of these */
	struct folded *folded;
	struct capture_clock clock;
	struct strbuf part; /**< a line whose end has not come */
	uint32_t line;	    /**< that was read last */
	bool has_failed;
};

static const char *const names[] = {"perfetto", "folded"};

bool convert_find(const char *name, enum convert_format *ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum convert_format)i;
			return true;
		}
	return false;
}

struct convert *convert_new(enum convert_format format, const char *map, struct diag *d,
			    const char *file)
{
	struct convert *c = calloc(1, sizeof(*c));
	if (!c)
		base_oom();
	c->diag = d;
	c->file = str_from(file);
	if (format == CONVERT_PERFETTO)
		c->timeline = timeline_new();
	else
		c->folded = folded_new(map);
	return c;
}

void convert_free(struct convert *c)
{
	if (!c)
		return;
	timeline_free(c->timeline);
	folded_free(c->folded);
	strbuf_fini(&c->part);
	free(c);
}

static bool take_line(struct convert *c, struct str line, struct strbuf *out)
{
	struct capture_line l;
	c->line++;
	if (!str_trim(line).n || c->has_failed)
		return !c->has_failed;
	bool good = capture_read(&c->clock, line, &l);
	if (good && c->timeline)
		good = timeline_line(c->timeline, &l, out);
	else if (good)
		folded_line(c->folded, &l);
	if (good)
		return true;
	struct diag_place at = {.file = c->file, .line = c->line};
	c->has_failed = true;
	return diag_error(c->diag, &at, "is no line of -f json");
}

bool convert_take(struct convert *c, struct str bytes, struct strbuf *out)
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
	return !c->has_failed;
}

bool convert_end(struct convert *c, struct strbuf *out)
{
	struct capture_line l;
	struct diag_place at = {.file = c->file, .line = c->line + 1};
	struct str rest = strbuf_str(&c->part);
	if (!c->has_failed && str_trim(rest).n) {
		if (capture_read(&c->clock, rest, &l))
			take_line(c, rest, out);
		else
			diag_warning(c->diag, &at, "the last line is cut off, and left out");
	}
	if (c->has_failed)
		return false;
	if (c->folded)
		return folded_end(c->folded, c->diag, out);
	timeline_end(c->timeline, c->diag, out);
	return true;
}
