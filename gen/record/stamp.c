#include "record/stamp.h"

#include <time.h>

void stamp_number(uint64_t value, unsigned digits, struct strbuf *out)
{
	char text[24], *end = text + sizeof(text), *p = str_decimal(value, end);
	while (end - p < digits)
		*--p = '0';
	strbuf_add(out, p, (size_t)(end - p));
}

void stamp_signed(int64_t value, struct strbuf *out)
{
	if (value < 0)
		strbuf_addc(out, '-');
	stamp_number(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1, out);
}

static void add_fraction(uint64_t ns, unsigned digits, struct strbuf *out)
{
	strbuf_addc(out, '.');
	stamp_number(digits == 6 ? ns / 1000 : ns, digits, out);
}

/** Local time takes a look at the zone's rules: once a second is enough. */
static void set_second(struct stamp *s, int64_t second)
{
	time_t t = (time_t)second;
	struct tm tm;
	char zone[16] = "";
	if (s->second == second)
		return;
	localtime_r(&t, &tm);
	s->second = second;
	strftime(s->text, sizeof(s->text), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm); // +0100; RFC 3339 wants a colon
	snprintf(s->zone, sizeof(s->zone), "%.3s:%.2s", zone, zone[0] ? zone + 3 : "");
}

void stamp_wall(struct stamp *s, int64_t ns, unsigned digits, struct strbuf *out)
{
	int64_t wall = ns + s->offset;
	set_second(s, wall / STAMP_SECOND);
	const char *clock = strchr(s->text, 'T');
	strbuf_addz(out, clock ? clock + 1 : s->text);
	add_fraction((uint64_t)wall % STAMP_SECOND, digits, out);
}

void stamp_rfc3339(struct stamp *s, int64_t ns, struct strbuf *out)
{
	int64_t wall = ns + s->offset;
	set_second(s, wall / STAMP_SECOND);
	strbuf_addz(out, s->text);
	add_fraction((uint64_t)wall % STAMP_SECOND, 9, out);
	strbuf_addz(out, s->zone);
}

void stamp_seconds(int64_t ns, unsigned digits, struct strbuf *out)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	if (ns < 0)
		strbuf_addc(out, '-');
	stamp_number(size / STAMP_SECOND, 1, out);
	add_fraction(size % STAMP_SECOND, digits, out);
}
