#include "record/shape.h"

#include <sys/random.h>

#include "base/clock.h"

const struct head_number head_numbers[HEAD_NUMBERS] = {
    {"nsecs", STR(""), offsetof(struct head, ns), false},
    {"cpu", STR(", \"cpu\": "), offsetof(struct head, cpu), true},
    {"pid", STR(", \"pid\": "), offsetof(struct head, pid), false},
    {"tid", STR(", \"tid\": "), offsetof(struct head, tid), true},
};

/** A number that no string of a traced program can contain. */
static uint64_t make_nonce(void)
{
	uint64_t n = 0;
	if (getrandom(&n, sizeof(n), 0) == (ssize_t)sizeof(n))
		return n;
	return (uint64_t)clock_ns(CLOCK_MONOTONIC) * 0x9e3779b97f4a7c15u ^
	       (uint64_t)clock_ns(CLOCK_REALTIME);
}

void shapes_init(struct shapes *s, struct arena *a, bool has_head)
{
	uint64_t nonce = make_nonce();
	*s = (struct shapes){.arena = a, .has_head = has_head};
	snprintf(s->start, sizeof(s->start), "@%016" PRIx64 "<", nonce);
	snprintf(s->counts, sizeof(s->counts), "@fired_%016" PRIx64, nonce);
	snprintf(s->key, sizeof(s->key), "@key_%016" PRIx64, nonce);
	snprintf(s->gate, sizeof(s->gate), "@gate_%016" PRIx64, nonce);
}

void shapes_add_key(struct shapes *s)
{
	vec_push(s->arena, &s->list, (struct shape){.style = SHAPE_KEY});
}

bool shapes_has_key(const struct shapes *s)
{
	return s->list.n && s->list.v[0].style == SHAPE_KEY;
}

bool shape_has_number(const struct shapes *all, const struct shape *s,
		      const struct head_number *number)
{
	return s->style != SHAPE_KEY && (all->has_head || (s->has_since && number->finds_lines));
}

void shape_count_head(const struct shapes *all, const struct shape *s, size_t *n_numbers,
		      size_t *n_texts)
{
	*n_numbers = s->has_since;
	for (size_t i = 0; i < HEAD_NUMBERS; i++)
		*n_numbers += shape_has_number(all, s, &head_numbers[i]);
	*n_texts = all->has_head && s->style != SHAPE_KEY ? 1 + !s->probe.n : 0;
}

void shape_count(const struct shapes *all, const struct shape *s, size_t *n_numbers,
		 size_t *n_texts)
{
	shape_count_head(all, s, n_numbers, n_texts);
	for (size_t i = 0; i < s->n_fields; i++)
		value_count(&s->fields[i].value, n_numbers, n_texts);
}

void shape_make_keys(struct arena *a, struct shape *s)
{
	struct map names = {0}; // each with the number of its last key; 0: it has none
	for (size_t i = 0; i < s->n_fields; i++)
		if (!map_get(&names, s->fields[i].name))
			map_put(a, &names, s->fields[i].name, arena_new(a, size_t));
	// Fields called a, a, a_2 are a, a_3, a_2.
	list_each(struct shape_field, f, s->fields, s->n_fields) {
		size_t *n = map_get(&names, f->name);
		struct str key = f->name;
		if (++*n > 1) {
			for (; map_get(&names, key); ++*n)
				key = str_printf(a, STR_FMT "_%zu", STR_ARG(f->name), *n);
			--*n;
		}
		struct strbuf text = {0};
		strbuf_add_json(&text, key);
		f->key = strbuf_take(&text, a);
	}
}

/** All of @n bytes, fewer than 8: nothing beside them is read. */
static void write_pieces(struct str address, size_t n, struct strbuf *out)
{
	size_t done = 0;
	for (size_t size = 4; size; size /= 2) {
		if (!(n & size))
			continue;
		strbuf_addf(out, "%s((uint64)*(uint%zu *)(" STR_FMT " + %zu) << %zu)",
			    done ? " | " : "", size * 8, STR_ARG(address), done, done * 8);
		done += size;
	}
}

void shape_write_word(struct str address, size_t n_bytes, size_t i, struct strbuf *out)
{
	size_t n = n_bytes - i * 8;
	if (n >= 8)
		strbuf_addf(out, "*(uint64 *)(" STR_FMT " + %zu)", STR_ARG(address), i * 8);
	else if (n_bytes >= 8) // together with bytes that the number before has
		strbuf_addf(out, "(*(uint64 *)(" STR_FMT " + %zu) >> %zu)", STR_ARG(address),
			    n_bytes - 8, (8 - n) * 8);
	else
		write_pieces(address, n, out);
}

/** A conversion for each text of @f, with TERM. */
static void write_texts(const struct shape_field *f, struct strbuf *out)
{
	size_t n_numbers = 0, n_texts = 0;
	bool is_raw = str_has_prefix(f->letters, STR("r"));
	for (value_count(&f->value, &n_numbers, &n_texts); n_texts; n_texts--)
		strbuf_addf(out, "%%" STR_FMT "<%%lu>",
			    STR_ARG(is_raw && f->value.how == VALUE_TEXT ? f->letters : STR("s")));
}

void shape_write_format(const struct shapes *all, size_t number, struct strbuf *out)
{
	const struct shape *s = &all->list.v[number];
	size_t n_numbers, n_texts, n_first, n_head;
	shape_count(all, s, &n_numbers, &n_texts);
	shape_count_head(all, s, &n_first, &n_head);
	strbuf_addf(out, "%s%zu", all->start, number);
	for (size_t i = 0; i < n_numbers; i++)
		strbuf_addz(out, ",%ld");
	if (n_texts || shapes_has_key(all))
		strbuf_addz(out, ";%lu");
	if (n_texts)
		strbuf_addz(out, ";");
	for (; n_head > 0; n_head--)
		strbuf_addz(out, "%s<%lu>");
	for (size_t i = 0; i < s->n_fields; i++)
		write_texts(&s->fields[i], out);
	strbuf_addz(out, ">\\n");
}
