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

void fields_read(struct str object, struct fields *ret)
{
	struct jsonread r = jsonread_of(object);
	ret->n = 0;
	if (!object.n || !jsonread_open(&r, '{'))
		return;
	while (ret->n < sizeof(ret->list) / sizeof(ret->list[0]) &&
	       jsonread_member(&r, &ret->list[ret->n].key, &ret->list[ret->n].value))
		ret->n++;
}

/** Also what each record has: pid, tid, cpu, comm, probe, text. False: there is none of that name. */
static bool find_field(const struct fields *f, const struct capture_line *l, struct str key,
		       struct strbuf *out)
{
	for (size_t i = 0; i < f->n; i++)
		if (str_eq(f->list[i].key, key)) {
			strbuf_adds(out, capture_words(f->list[i].value));
			return true;
		}
	if (str_eqz(key, "text"))
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

bool rules_expand(struct str text, const struct fields *f, const struct capture_line *l,
		  struct strbuf *out)
{
	while (text.n) {
		strbuf_adds(out, str_take_until(&text, '{'));
		size_t close = str_find(text, '}');
		if (close == text.n) // no more braces
			return true;
		if (!find_field(f, l, str_slice(text, 0, close), out))
			return false;
		text = str_from_offset(text, close + 1);
	}
	return true;
}

bool rules_duration(const struct rule *rule, const struct fields *f, int64_t *ret)
{
	const int64_t most = INT64_C(1000000000) * 1000000000; // 31 years
	for (size_t i = 0; i < f->n; i++) {
		if (!str_eq(f->list[i].key, rule->lasting))
			continue;
		if (!jsonread_integer(f->list[i].value, ret) || *ret < 0 ||
		    *ret > most / rule->unit)
			return false;
		*ret *= rule->unit;
		return true;
	}
	return false;
}
