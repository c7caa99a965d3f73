#include "record/decode.h"

#include "lang/vocabulary.h"

/** Bytes of the longest record: a traced program that forges START must not make us wait forever. */
enum { MAX_RECORD = 1 << 18, MAX_PIECE = 1 << 16 };

/** A number takes two bytes at least, and a text with its TERM three: no more of them fit. */
enum { MAX_NUMBERS = MAX_RECORD / 2, MAX_TEXTS = MAX_RECORD / 3 };

void decode_init(struct decoder *d, struct shapes *shapes, const struct decode_handler *handler,
		 void *ctx)
{
	size_t most_numbers = 1, most_texts = 1, n = shapes->list.n;
	*d = (struct decoder){.shapes = shapes, .handler = handler, .ctx = ctx};
	d->n_numbers = arena_array(shapes->arena, size_t, n);
	d->n_texts = arena_array(shapes->arena, size_t, n);
	for (size_t i = 0; i < n; i++) {
		shape_count(shapes, &shapes->list.v[i], &d->n_numbers[i], &d->n_texts[i]);
		most_numbers = d->n_numbers[i] > most_numbers ? d->n_numbers[i] : most_numbers;
		most_texts = d->n_texts[i] > most_texts ? d->n_texts[i] : most_texts;
	}
	most_numbers = most_numbers < MAX_NUMBERS ? most_numbers : MAX_NUMBERS;
	most_texts = most_texts < MAX_TEXTS ? most_texts : MAX_TEXTS;
	d->numbers = arena_array(shapes->arena, int64_t, most_numbers);
	d->texts = arena_array(shapes->arena, struct str, most_texts);
}

void decode_fini(struct decoder *d)
{
	strbuf_fini(&d->pending);
	strbuf_fini(&d->probe);
}

/** What a piece of a record turned out to be. */
enum found { COMPLETE, NEED_MORE, INVALID };

/** Reads a 64-bit decimal number, signed or not, at *@at, which moves after it. NEED_MORE: more digits may come. */
static inline enum found read_number(struct str s, size_t *at, int64_t *ret)
{
	const char *p = s.p + *at, *end = s.p + s.n;
	bool is_negative = p < end && *p == '-';
	p += is_negative;
	const char *first = p;
	uint64_t v = 0, before = 0;
	for (; p < end && (unsigned char)(*p - '0') < 10; p++) {
		before = v;
		v = v * 10 + (unsigned char)(*p - '0');
	}
	// 19 digits always fit; nothing is printed with more than 20.
	bool is_beyond = p - first > 20 || (p - first == 20 && v / 10 != before);
	if (is_beyond || (is_negative && v > (uint64_t)1 << 63))
		return INVALID;
	if (p == end)
		return NEED_MORE;
	*ret = (int64_t)(is_negative ? 0 - v : v);
	*at = (size_t)(p - s.p);
	return p > first ? COMPLETE : INVALID;
}

/** The same for a number with @before in front of it. */
static inline enum found read_marked_number(struct str s, char before, size_t *at, int64_t *ret)
{
	size_t from = *at + 1;
	if (*at == s.n)
		return NEED_MORE;
	if (s.p[*at] != before)
		return INVALID;
	enum found found = read_number(s, &from, ret);
	*at = found == COMPLETE ? from : *at;
	return found;
}

static enum found read_numbers(struct decoder *d, struct str s)
{
	struct decode_progress *r = &d->progress;
	enum found found = COMPLETE;
	int64_t number;
	if (!r->shape) {
		found = read_number(s, &r->at, &number);
		if (found != COMPLETE)
			return found;
		if (number < 0 || (uint64_t)number >= d->shapes->list.n)
			return INVALID;
		r->shape = &d->shapes->list.v[number];
	}
	size_t at = r->at, n = r->n_numbers, all = d->n_numbers[r->shape - d->shapes->list.v];
	while (n < all && (found = read_marked_number(s, ',', &at, &d->numbers[n])) == COMPLETE)
		n++;
	r->at = at;
	r->n_numbers = n;
	return found;
}

/** Only the first record sets KEY; in any other one it is a forgery. */
static bool is_key(struct decoder *d, int64_t key)
{
	if (d->progress.shape->style != SHAPE_KEY)
		return !d->has_key || key == d->key;
	bool is_first = !d->has_key;
	d->key = is_first ? key : d->key;
	return is_first;
}

/** @after: the byte after the key */
static enum found read_key(struct decoder *d, struct str s, char after)
{
	struct decode_progress *r = &d->progress;
	size_t end = r->at;
	int64_t key;
	if (r->n_key)
		return COMPLETE;
	enum found found = read_marked_number(s, ';', &end, &key);
	if (found != COMPLETE)
		return found;
	if (s.p[end] != after || !is_key(d, key))
		return INVALID;
	r->key = r->at + 1;
	r->n_key = end - r->key;
	r->at = r->text = end + (after == ';');
	return COMPLETE;
}

/** Reads a text and its TERM. Only its size is kept, as its bytes move when more come. */
static enum found read_text(struct decode_progress *r, struct str s, struct str *ret)
{
	for (;; r->at++) {
		const char *p = memchr(s.p + r->at, '<', s.n - r->at);
		r->at = p ? (size_t)(p - s.p) : s.n;
		if (s.n - r->at < r->n_key + 2)
			return NEED_MORE;
		if (memcmp(s.p + r->at + 1, s.p + r->key, r->n_key) == 0 &&
		    s.p[r->at + 1 + r->n_key] == '>')
			break;
	}
	ret->n = r->at - r->text;
	r->at = r->text = r->at + r->n_key + 2;
	return COMPLETE;
}

static enum found read_texts(struct decoder *d, struct str s)
{
	struct decode_progress *r = &d->progress;
	size_t n = d->n_texts[r->shape - d->shapes->list.v];
	enum found found = COMPLETE;
	if (n || shapes_has_key(d->shapes))
		found = read_key(d, s, n ? ';' : '>');
	while (found == COMPLETE && r->n_texts < n) {
		found = read_text(r, s, &d->texts[r->n_texts]);
		r->n_texts += found == COMPLETE;
	}
	return found;
}

/**
 * A probe as shapes have it: `usdt:/path:provider:name` is "provider:name", `uprobe:/path:function`
 * "uprobe:function".
 */
static struct str without_path(struct decoder *d, struct str probe)
{
	struct str kind = str_slice(probe, 0, str_find(probe, ':'));
	struct str rest = str_from_offset(probe, kind.n + 1);
	size_t path = str_find(rest, ':');
	if (!str_has_prefix(rest, STR("/")) || path == rest.n)
		return probe;
	rest = str_from_offset(rest, path + 1);
	if (vocabulary_provider(kind)->place == PLACE_USDT)
		return rest;
	strbuf_clear(&d->probe);
	strbuf_addf(&d->probe, STR_FMT ":" STR_FMT, STR_ARG(kind), STR_ARG(rest));
	return strbuf_str(&d->probe);
}

/** The head of a record, before the fields of @r, in the order of record/shape.h. */
static void read_head(struct decoder *d, struct record *r)
{
	if (r->shape->has_since)
		r->since = r->head.ns = *r->numbers++;
	for (size_t i = 0; i < HEAD_NUMBERS; i++)
		if (shape_has_number(d->shapes, r->shape, &head_numbers[i]))
			memcpy((char *)&r->head + head_numbers[i].at, r->numbers++,
			       sizeof(int64_t));
	if (!d->shapes->has_head)
		return;
	r->comm = *r->texts++;
	if (!r->shape->probe.n)
		r->probe = without_path(d, *r->texts++);
}

static void pass_record(struct decoder *d, struct str s)
{
	struct decode_progress *r = &d->progress;
	struct record record = {
	    .shape = r->shape, .probe = r->shape->probe, .numbers = d->numbers, .texts = d->texts};
	const char *p = s.p + r->key + r->n_key + 1;
	for (size_t i = 0; i < r->n_texts; i++) {
		d->texts[i].p = p;
		p += d->texts[i].n + r->n_key + 2;
	}
	read_head(d, &record);
	r->shape->n_events++;
	d->handler->record(d->ctx, &record);
}

/** Takes the record off *s that START is in front of, if it is one. */
static enum found parse_record(struct decoder *d, struct str start, struct str *s)
{
	struct decode_progress *r = &d->progress;
	struct str most = str_slice(*s, 0, MAX_RECORD);
	if (!r->at)
		r->at = start.n;
	enum found found = read_numbers(d, most);
	if (found == COMPLETE)
		found = read_texts(d, most);
	if (found == COMPLETE && r->at < most.n && most.p[r->at] != '>')
		found = INVALID;
	if (found == COMPLETE && most.n - r->at < 2)
		found = NEED_MORE;
	if (found == COMPLETE && most.p[r->at + 1] != '\n')
		found = INVALID;
	if (found == NEED_MORE && most.n < MAX_RECORD)
		return NEED_MORE;
	if (found == COMPLETE) {
		if (r->shape->style == SHAPE_KEY)
			d->has_key = true;
		else
			pass_record(d, *s);
		*s = str_from_offset(*s, r->at + 2);
		d->is_inside = false;
	}
	*r = (struct decode_progress){0};
	return found == COMPLETE ? COMPLETE : INVALID;
}

/** @counts[3]: 42 */
static bool handle_count_line(struct decoder *d, struct str line)
{
	struct shapes *all = d->shapes;
	uint64_t number, n;
	if (d->is_inside || !str_take(&line, str_from(all->counts)) || !str_take(&line, STR("[")) ||
	    !str_take_number(&line, &number) || !str_take(&line, STR("]: ")) ||
	    !str_take_number(&line, &n) || line.n || number >= all->list.n)
		return false;
	all->list.v[number].n_fired = n > all->first_count ? n - all->first_count : 0;
	return true;
}

/** @name: 42 */
static bool is_line_of(const struct decoder *d, const char *name, struct str line)
{
	struct str map = str_from(name);
	return !d->is_inside && str_has_prefix(line, map) &&
	       str_has_prefix(str_from_offset(line, map.n), STR(":"));
}

static void pass_part(struct decoder *d, struct str s)
{
	if (!s.n)
		return;
	d->handler->part(d->ctx, s);
	d->is_inside = true;
}

/** How many of the last bytes of @s may be the beginning of START? Its '@' is only there. */
static size_t count_started(struct str s, struct str start)
{
	struct str tail = str_from_offset(s, s.n - (s.n < start.n ? s.n : start.n - 1));
	const char *at = memrchr(tail.p, '@', tail.n);
	size_t n = at ? (size_t)(tail.p + tail.n - at) : 0;
	return n && memcmp(at, start.p, n) == 0 ? n : 0;
}

/**
 * A warning of 0.20 to 0.23 quotes the statement of the program, which has START, too: in a format,
 * with a % or a \ where a record has a value or its end. NEED_MORE: what follows START has not come.
 */
static enum found look_quoted(struct str after)
{
	uint64_t number;
	str_take_number(&after, &number);
	if (after.n < 2)
		return NEED_MORE;
	return after.p[1] == '%' || after.p[1] == '\\' ? COMPLETE : INVALID;
}

/** Where in @line, from @at on, the next START is that may be a record's; else the line's end. */
static size_t find_start(struct str line, size_t at, struct str start, enum found *quoted)
{
	for (;; at += start.n) {
		const char *p = memmem(line.p + at, line.n - at, start.p, start.n);
		*quoted = INVALID;
		if (!p)
			return line.n;
		at = (size_t)(p - line.p);
		*quoted = look_quoted(str_from_offset(line, at + start.n));
		if (*quoted != COMPLETE)
			return at;
	}
}

/** Cuts the bytes before the next START, or a line if that is nearer, off *s. False: their end has not come yet. */
static bool cut_other(struct decoder *d, struct str start, struct str *s)
{
	struct str rest = str_from_offset(*s, d->n_looked);
	struct str line = str_slice(*s, 0, d->n_looked + str_find(rest, '\n'));
	enum found quoted;
	size_t n = find_start(line, d->n_looked, start, &quoted);
	bool is_found = n < line.n;
	if (!is_found && line.n == s->n)
		n -= count_started(*s, start);
	if ((!is_found || quoted == NEED_MORE) && line.n == s->n && s->n < MAX_RECORD) {
		d->n_looked = n;
		return false;
	}
	d->n_looked = 0;
	if (is_found || line.n == s->n) {
		pass_part(d, str_slice(*s, 0, n));
		*s = str_from_offset(*s, n);
		return true;
	}
	if (!handle_count_line(d, line) && !is_line_of(d, d->shapes->key, line) &&
	    !is_line_of(d, d->shapes->gate, line))
		d->handler->line(d->ctx, line);
	d->is_inside = false;
	*s = str_from_offset(*s, line.n + 1);
	return true;
}

/** Passes on what is whole in front of @s; the rest is returned. @all: it has no more to come. */
static struct str decode_bytes(struct decoder *d, struct str s, bool all)
{
	struct str start = str_from(d->shapes->start);
	while (s.n) {
		if (d->n_looked || !str_has_prefix(s, start)) {
			if (!cut_other(d, start, &s))
				break;
			continue;
		}
		enum found found = parse_record(d, start, &s);
		// A text that was cut off at the end may have bytes of a record in it.
		if (found == NEED_MORE && (!all || d->progress.n_key))
			break;
		if (found == COMPLETE)
			continue;
		d->progress = (struct decode_progress){0};
		d->n_looked = start.n; // this one is text
	}
	return s;
}

/** What is pending now ends as it does, and begins with @rest. */
static void keep(struct decoder *d, struct str rest)
{
	struct strbuf *b = &d->pending;
	if (rest.n == b->n)
		return;
	memmove(b->p, rest.p, rest.n);
	b->n = rest.n;
	b->p[rest.n] = '\0';
}

void decode_add(struct decoder *d, struct str bytes)
{
	while (bytes.n) {
		struct str piece = str_slice(bytes, 0, MAX_PIECE);
		bytes = str_from_offset(bytes, piece.n);
		strbuf_adds(&d->pending, piece);
		keep(d, decode_bytes(d, strbuf_str(&d->pending), false));
	}
}

/** Are the bytes that have come of it those of @name? */
static bool begins_as(struct str s, const char *name)
{
	size_t n = strlen(name);
	return memcmp(s.p, name, s.n < n ? s.n : n) == 0;
}

void decode_idle(struct decoder *d)
{
	struct str s = strbuf_str(&d->pending);
	bool is_counter = begins_as(s, d->shapes->counts) || begins_as(s, d->shapes->key) ||
			  begins_as(s, d->shapes->gate);
	if (!d->n_looked || (!d->is_inside && is_counter))
		return; // nothing, or a line of our own maps
	pass_part(d, str_slice(s, 0, d->n_looked));
	keep(d, str_from_offset(s, d->n_looked));
	d->n_looked = 0;
}

void decode_end(struct decoder *d)
{
	pass_part(d, decode_bytes(d, strbuf_str(&d->pending), true));
	decode_drop(d);
}

void decode_drop(struct decoder *d)
{
	strbuf_clear(&d->pending);
	d->progress = (struct decode_progress){0};
	d->n_looked = 0;
}

struct decode_sum decode_sum(const struct decoder *d)
{
	struct decode_sum sum = {0};
	vec_each(const struct shape, s, &d->shapes->list) {
		if (!s->is_counted)
			continue;
		sum.n_fired += s->n_fired;
		sum.n_events += s->n_events;
		sum.n_lost += s->n_fired > s->n_events ? s->n_fired - s->n_events : 0;
	}
	return sum;
}
