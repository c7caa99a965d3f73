#include "convert/rules.h"

#include <inttypes.h>

#include "convert/jsonread.h"

/** @value, a string, in @a. */
static struct str text_of(struct arena *a, struct str value)
{
	struct strbuf b = {0};
	jsonread_add_text(jsonread_inside(value), &b);
	return strbuf_take(&b, a);
}

static bool read_kind(struct str word, enum rule_kind *ret)
{
	static const char *const words[] = {"state", "begin", "end", "slice", "call"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eqz(word, words[i])) {
			*ret = (enum rule_kind)i;
			return true;
		}
	return false;
}

static bool read_rule(struct arena *a, struct str object, struct rule *ret)
{
	struct str unit = jsonread_get(object, "unit");
	*ret = (struct rule){
	    .probe = text_of(a, jsonread_get(object, "probe")),
	    .lasting = text_of(a, jsonread_get(object, "lasting")),
	    // These go into JSON as they are.
	    .by = str_copy(a, jsonread_inside(jsonread_get(object, "by"))),
	    .name = str_copy(a, jsonread_inside(jsonread_get(object, "name"))),
	    .unit = !unit.n || str_eqz(unit, "\"ns\"") ? 1
		    : str_eqz(unit, "\"us\"")	       ? 1000
		    : str_eqz(unit, "\"ms\"")	       ? 1000000
						       : 1000000000,
	};
	return read_kind(jsonread_inside(jsonread_get(object, "kind")), &ret->kind);
}

bool rules_read(struct arena *a, struct str capture, struct rules *ret)
{
	struct str tracks = jsonread_get(capture, "tracks"), object;
	struct jsonread list = jsonread_of(tracks);
	struct rule rule;
	ret->list.n = 0;
	if (!tracks.n)
		return capture.p[0] == '{';
	jsonread_open(&list, '[');
	while (jsonread_element(&list, &object)) {
		if (!read_rule(a, object, &rule))
			return false;
		vec_push(a, &ret->list, rule);
	}
	return jsonread_is_done(&list);
}

/** Empty: there is none of that name. */
static struct str find_field(const struct capture_line *l, struct str name)
{
	struct jsonread r = jsonread_of(l->fields);
	struct str key, value;
	jsonread_open(&r, '{');
	while (jsonread_member(&r, &key, &value))
		if (str_eq(key, name))
			return value;
	return STR("");
}

/** Also what each record has: pid, tid, cpu, comm, probe, text. False: there is none of that name. */
static bool add_field(const struct capture_line *l, struct str key, struct strbuf *out)
{
	struct str value = find_field(l, key);
	if (value.n)
		strbuf_adds(out, capture_words(value));
	else if (str_eqz(key, "text"))
		strbuf_adds(out, capture_words(l->text));
	else if (str_eqz(key, "comm"))
		strbuf_adds(out, l->comm);
	else if (str_eqz(key, "probe"))
		strbuf_adds(out, l->probe);
	else if (str_eqz(key, "pid"))
		strbuf_addf(out, "%" PRId64, l->pid);
	else if (str_eqz(key, "tid"))
		strbuf_addf(out, "%" PRId64, l->tid);
	else if (str_eqz(key, "cpu"))
		strbuf_addf(out, "%" PRId64, l->cpu);
	else
		return false;
	return true;
}

bool rules_expand(struct str text, const struct capture_line *l, struct strbuf *out)
{
	while (text.n) {
		strbuf_adds(out, str_take_until(&text, '{'));
		size_t close = str_find(text, '}');
		if (close == text.n) // no more braces
			return true;
		if (!add_field(l, str_slice(text, 0, close), out))
			return false;
		text = str_from_offset(text, close + 1);
	}
	return true;
}

bool rules_duration(const struct rule *rule, const struct capture_line *l, int64_t *ret)
{
	const int64_t most = INT64_C(1000000000) * 1000000000; // 31 years
	if (!jsonread_integer(find_field(l, rule->lasting), ret) || *ret < 0 ||
	    *ret > most / rule->unit)
		return false;
	*ret *= rule->unit;
	return true;
}
