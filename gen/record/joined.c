#include "record/joined.h"

#include "lang/vocabulary.h"

enum { MAX_TEXT = 65536, MAX_FIELDS = 4096 };

/** A record like any other, but for being made of several. */
struct joined_line {
	struct arena arena;
	struct record record; // its shape: NULL when nothing is known of it
	struct shape shape;   // of `record`: MARK until there is a piece that has another
	VEC(struct shape_field) fields;
	VEC(int64_t) numbers;
	VEC(struct str) texts;
	struct strbuf text;
};

static void free_line(struct joined_line *l)
{
	strbuf_fini(&l->text);
	arena_fini(&l->arena);
	free(l);
}

void joined_fini(struct joined *j)
{
	while (j->n)
		free_line(j->lines[--j->n]);
}

static void end_line(struct joined *j, size_t i)
{
	struct joined_line *l = j->lines[i];
	j->n--;
	memmove(&j->lines[i], &j->lines[i + 1], (j->n - i) * sizeof(j->lines[0]));
	l->shape.fields = l->fields.v;
	l->shape.n_fields = l->fields.n;
	shape_make_keys(&l->arena, &l->shape);
	l->record.numbers = l->numbers.v;
	l->record.texts = l->texts.v;
	j->put(j->ctx, l->record.shape ? &l->record : NULL, strbuf_str(&l->text));
	free_line(l);
}

void joined_copy_head(struct arena *a, const struct record *r, struct record *ret)
{
	*ret = *r;
	ret->comm = str_copy(a, r->comm);
	ret->probe = str_copy(a, r->probe);
	ret->numbers = NULL;
	ret->texts = NULL;
}

static void begin_line(struct joined *j, const struct record *r)
{
	if (j->n == JOINED_MAX)
		end_line(j, 0);
	struct joined_line *l = base_new(struct joined_line);
	if (r) {
		joined_copy_head(&l->arena, r, &l->record);
		l->shape = (struct shape){.style = SHAPE_MARK,
					  .probe = r->shape->probe,
					  .is_event = r->shape->is_event,
					  .has_since = r->shape->has_since};
		l->record.shape = &l->shape;
	}
	j->lines[j->n++] = l;
}

/** A timer fires between any two of a thread's instructions, between two printf() of a clause, too. */
static bool is_timer(struct str probe)
{
	enum provider_when when =
	    vocabulary_provider(str_slice(probe, 0, str_find(probe, ':')))->when;
	return when == WHEN_TIMER || when == WHEN_COUNT;
}

/** The line that this thread has begun on this processor, or j->n. */
static size_t find_line(const struct joined *j, const struct record *r)
{
	size_t i = 0;
	for (; i < j->n; i++) {
		const struct joined_line *l = j->lines[i];
		struct str begun = l->record.probe;
		if (!r && !l->record.shape)
			break;
		if (r && l->record.shape && l->record.head.tid == r->head.tid &&
		    l->record.head.cpu == r->head.cpu &&
		    (str_eq(begun, r->probe) || (!is_timer(begun) && !is_timer(r->probe))))
			break;
	}
	return i;
}

static void add_fields(const struct joined *j, struct joined_line *l, const struct record *r)
{
	size_t n_numbers, n_texts, n_first, n_head;
	const struct shape *s = r->shape;
	if (s->style == SHAPE_MARK)
		return;
	l->shape.style = s->style;
	shape_count(j->shapes, s, &n_numbers, &n_texts);
	shape_count_head(j->shapes, s, &n_first, &n_head);
	n_numbers -= n_first;
	n_texts -= n_head;
	for (size_t i = 0; i < s->n_fields; i++)
		vec_push(&l->arena, &l->fields, s->fields[i]);
	for (size_t i = 0; i < n_numbers; i++)
		vec_push(&l->arena, &l->numbers, r->numbers[i]);
	for (size_t i = 0; i < n_texts; i++)
		vec_push(&l->arena, &l->texts, str_copy(&l->arena, r->texts[i]));
}

void joined_add(struct joined *j, const struct record *r, struct str text)
{
	size_t at = find_line(j, r);
	if (at < j->n && text.n > 1 && text.p[0] == '\n') {
		end_line(j, at);
		at = j->n;
		text = str_from_offset(text, 1);
	}
	bool is_whole = str_has_suffix(text, STR("\n"));
	if (at == j->n && is_whole) {
		j->put(j->ctx, r, text);
		return;
	}
	if (at == j->n) {
		begin_line(j, r);
		at = j->n - 1;
	}
	struct joined_line *l = j->lines[at];
	strbuf_adds(&l->text, text);
	if (r)
		add_fields(j, l, r);
	if (is_whole || l->text.n > MAX_TEXT || l->fields.n > MAX_FIELDS)
		end_line(j, at);
}

bool joined_has(const struct joined *j, const struct record *r)
{
	return find_line(j, r) < j->n;
}

void joined_end_unknown(struct joined *j)
{
	size_t i = find_line(j, NULL);
	if (i < j->n)
		end_line(j, i);
}

void joined_end(struct joined *j)
{
	while (j->n)
		end_line(j, 0);
}
