#include "convert/capture.h"

#include <time.h>

#include "convert/jsonread.h"

enum { DATE = 19, FRACTION = 10, ZONE = 6 }; // 2026-01-31T12:00:01 .000123456 +01:00

static bool read_number(struct str s, int *ret)
{
	*ret = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*ret = *ret * 10 + (s.p[i] - '0');
	}
	return true;
}

/** Of a date and a zone as capture_clock has them. */
static bool read_second(struct str s, int64_t *ret)
{
	struct tm t = {0};
	int hours, minutes;
	char sign = s.p[DATE];
	bool good = read_number(str_slice(s, 0, 4), &t.tm_year) &&
		    read_number(str_slice(s, 5, 2), &t.tm_mon) &&
		    read_number(str_slice(s, 8, 2), &t.tm_mday) &&
		    read_number(str_slice(s, 11, 2), &t.tm_hour) &&
		    read_number(str_slice(s, 14, 2), &t.tm_min) &&
		    read_number(str_slice(s, 17, 2), &t.tm_sec) &&
		    read_number(str_slice(s, DATE + 1, 2), &hours) &&
		    read_number(str_slice(s, DATE + 4, 2), &minutes) &&
		    (sign == '+' || sign == '-') && s.p[10] == 'T';
	if (!good || t.tm_year < 1970 || t.tm_year > 2200) // ns since 1970 have 63 bits
		return false;
	t.tm_year -= 1900;
	t.tm_mon--;
	*ret = timegm(&t) - (sign == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
	return true;
}

/** RFC 3339 with nine digits behind the point. */
static bool read_time(struct capture_clock *clock, struct str s, int64_t *ret)
{
	char date[sizeof(clock->date)] = "";
	int fraction;
	if (s.n != DATE + FRACTION + ZONE || s.p[DATE] != '.' ||
	    !read_number(str_slice(s, DATE + 1, FRACTION - 1), &fraction))
		return false;
	memcpy(date, s.p, DATE);
	memcpy(date + DATE, s.p + DATE + FRACTION, ZONE);
	if (memcmp(date, clock->date, sizeof(date)) != 0 &&
	    !read_second((struct str){date, DATE + ZONE}, &clock->second))
		return false;
	memcpy(clock->date, date, sizeof(date));
	*ret = clock->second * 1000000000 + fraction;
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
			good &= jsonread_integer(value, &ret->pid);
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
