#include "convert/capture.h"

#include <time.h>

#include "convert/jsonread.h"

enum { DATE = 19, FRACTION = 10, ZONE = 6 }; // 2026-01-31T12:00:01 .000123456 +01:00

/** Of a date and a zone as capture_clock has them. */
static bool read_second(const char *date, int64_t *ret)
{
	struct tm t = {0};
	const char *end = strptime(date, "%Y-%m-%dT%H:%M:%S%z", &t); // which skips blanks
	long east = t.tm_gmtoff;
	if (!end || *end || strchr(date, ' ') || t.tm_year < 70 || // ns since 1970 have 63 bits
	    t.tm_year > 300)
		return false;
	*ret = timegm(&t) - east;
	return true;
}

/** RFC 3339 with nine digits behind the point. */
static bool read_time(struct capture_clock *clock, struct str s, int64_t *ret)
{
	char date[sizeof(clock->date)] = "";
	struct str fraction = str_slice(s, DATE + 1, FRACTION - 1);
	uint64_t ns;
	if (s.n != DATE + FRACTION + ZONE || s.p[DATE] != '.' || !str_take_number(&fraction, &ns) ||
	    fraction.n)
		return false;
	memcpy(date, s.p, DATE);
	memcpy(date + DATE, s.p + DATE + FRACTION, ZONE);
	if (memcmp(date, clock->date, sizeof(date)) != 0 && !read_second(date, &clock->second))
		return false;
	memcpy(clock->date, date, sizeof(date));
	*ret = clock->second * 1000000000 + (int64_t)ns;
	return true;
}

bool capture_start(struct str capture, int64_t *ret)
{
	struct capture_clock clock = {0};
	return read_time(&clock, jsonread_inside(jsonread_get(capture, "wall")), ret);
}

struct str capture_words(struct str value)
{
	struct jsonread r = jsonread_of(value);
	struct str key, v;
	char first = value.n ? value.p[0] : '\0';
	if (first == '"')
		return jsonread_inside(value);
	if (first != '{')
		return first == '[' ? STR("") : value;
	// {"name": "RUNNING", "value": 4}, {"text": "a", "hex": "61"}
	jsonread_open(&r, '{');
	while (jsonread_member(&r, &key, &v)) {
		bool is_word = v.n && v.p[0] == '"';
		if (is_word && (str_eqz(key, "name") || str_eqz(key, "text")))
			return jsonread_inside(v);
		if (str_eqz(key, "value"))
			return capture_words(v); // 4, "18446744073709551615"
	}
	return STR("");
}

bool capture_read(struct capture_clock *clock, struct str line, struct capture_line *ret)
{
	struct jsonread r = jsonread_of(line);
	struct str key, value;
	bool good = true;
	*ret = (struct capture_line){0};
	if (!jsonread_open(&r, '{'))
		return false;
	while (jsonread_member(&r, &key, &value)) {
		if (str_eqz(key, "time"))
			good &= ret->has_time = read_time(clock, jsonread_inside(value), &ret->ns);
		else if (str_eqz(key, "pid"))
			good &= str_eqz(value, "null") || jsonread_integer(value, &ret->pid);
		else if (str_eqz(key, "tid"))
			good &= jsonread_integer(value, &ret->tid);
		else if (str_eqz(key, "cpu"))
			good &= jsonread_integer(value, &ret->cpu);
		else if (str_eqz(key, "comm"))
			ret->comm = capture_words(value);
		else if (str_eqz(key, "probe"))
			ret->probe = capture_words(value);
		else if (str_eqz(key, "text"))
			ret->text = value;
		else if (str_eqz(key, "fields"))
			ret->fields = value;
		else if (str_eqz(key, "map"))
			ret->map = jsonread_inside(value);
		else if (str_eqz(key, "entries"))
			ret->entries = value;
		else if (str_eqz(key, "lost"))
			ret->lost = value;
		else if (str_eqz(key, "capture"))
			ret->capture = value;
	}
	bool has_objects =
	    (!ret->fields.n || ret->fields.p[0] == '{') && (!ret->lost.n || ret->lost.p[0] == '{');
	return good && has_objects && jsonread_is_done(&r) && str_is_utf8(line);
}
