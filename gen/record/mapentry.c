#include "record/mapentry.h"

/** A key that may end at more places is not split. */
enum { MAX_KEY_ENDS = 64 };

// --- what is known of maps

static void add_leaves(struct arena *a, struct map_leaves *to, const struct value *v)
{
	static const struct value number = {.type = &value_code};
	for (unsigned i = 0; i < 2 && v->n_frames; i++)
		vec_push(a, &to->list, (struct map_leaf){.value = &number, .is_frame = true});
	if (!v->n_parts) {
		vec_push(a, &to->list, (struct map_leaf){.value = v});
		return;
	}
	size_t first = to->list.n;
	for (size_t i = 0; i < v->n_parts; i++)
		add_leaves(a, to, &v->parts[i]);
	to->list.v[first].n_open++;
	to->list.v[to->list.n - 1].n_close++;
}

/** The key (1, "a") is printed as the two keys 1, "a" are. */
static void add_keys(struct arena *a, struct map_leaves *to, const struct value *keys, size_t n)
{
	if (n == 1 && keys->how == VALUE_TUPLE)
		add_keys(a, to, keys->parts, keys->n_parts);
	else
		for (size_t i = 0; i < n; i++)
			add_leaves(a, to, &keys[i]);
}

/** Is what bpftrace prints of its number not what is to be shown? */
bool mapentry_is_named(const struct value *v)
{
	return v->names || v->shift || v->has_variable || value_is_code(v) ||
	       value_is_unsigned(v) || v->how == VALUE_SYMBOL || v->how == VALUE_STACK;
}

static bool may_have_lines(const struct value *v)
{
	return !value_is_number(v) && v->how != VALUE_SYMBOL;
}

void mapentry_learn(struct arena *a, const struct map_shape *shape, struct map_known *ret)
{
	ret->shape = shape;
	add_keys(a, &ret->keys, shape->keys, shape->n_keys);
	add_leaves(a, &ret->value, &shape->value);
	ret->has_text_key = !ret->keys.list.n;
	for (size_t i = 0; i < ret->keys.list.n; i++) {
		ret->has_text_key |= may_have_lines(ret->keys.list.v[i].value);
		ret->has_names |= mapentry_is_named(ret->keys.list.v[i].value);
	}
	for (size_t i = 0; i < ret->value.list.n; i++) {
		ret->has_text_value |= may_have_lines(ret->value.list.v[i].value);
		ret->has_names |= mapentry_is_named(ret->value.list.v[i].value);
	}
}

// --- numbers

/** Reads a decimal number at the start of @s. "007", "+1" and "-0" are none. */
static bool parse_integer(struct str *s, struct map_integer *ret)
{
	struct str rest = *s;
	bool is_minus = str_take(&rest, STR("-")), has_zero = str_has_prefix(rest, STR("0"));
	size_t before = rest.n;
	uint64_t v;
	if (!str_take_number(&rest, &v) || (has_zero && (is_minus || before - rest.n > 1)) ||
	    (is_minus && v > (uint64_t)INT64_MAX + 1))
		return false;
	*ret = (struct map_integer){(int64_t)(is_minus ? 0 - v : v), is_minus};
	*s = rest;
	return true;
}

bool mapentry_to_integer(struct str s, struct map_integer *ret)
{
	return parse_integer(&s, ret) && !s.n;
}

/** The bits of what may be an address. */
bool mapentry_to_bits(struct str s, int64_t *ret)
{
	struct map_integer i;
	uint64_t v = 0;
	bool is_hex = str_has_prefix(s, STR("0x")) && str_to_u64(s, &v);
	if (!is_hex && !mapentry_to_integer(s, &i))
		return false;
	*ret = is_hex ? (int64_t)v : i.value;
	return true;
}

void mapentry_fix_stats(struct map_stats *stats)
{
	uint64_t n = (uint64_t)stats->count.value;
	stats->total.is_signed = stats->average.is_signed = false;
	stats->average.value = (int64_t)((uint64_t)stats->total.value / (n ? n : 1));
}

struct str mapentry_stats_text(const struct map_stats *stats, char *text, size_t size)
{
	size_t n = 0;
	const struct map_integer *of[] = {&stats->count, &stats->average, &stats->total};
	static const char *const names[] = {"count", ", average", ", total"};
	for (size_t i = 0; i < 3 && n < size; i++)
		n += (size_t)snprintf(text + n, size - n,
				      of[i]->is_signed ? "%s %" PRId64 : "%s %" PRIu64, names[i],
				      of[i]->value);
	return str_from(text);
}

struct str mapentry_unshift(const struct value *v, struct str s, char *text, size_t size)
{
	int64_t kept;
	struct map_stats stats;
	bool is_stats = v->shift >= VALUE_AVERAGE && mapentry_to_stats(s, &stats);
	if (is_stats)
		mapentry_fix_stats(&stats);
	if (is_stats && v->shift == VALUE_STATS) {
		snprintf(text, size, "%" PRIu64, (uint64_t)stats.average.value);
		return str_from(text);
	}
	if (is_stats)
		return mapentry_stats_text(&stats, text, size);
	if (!v->shift || v->shift == VALUE_STATS || !mapentry_to_bits(s, &kept) ||
	    !kept) // 0: zero() has been there
		return s;
	if (v->shift == VALUE_AVERAGE) // nobody knows of how many numbers
		return kept < 0 ? STR("overflow") : s;
	int64_t x = v->shift == VALUE_RAISED ? kept - VALUE_SHIFT : VALUE_SHIFT - kept;
	bool is_cut = kept == 1 || kept == INT64_MAX;
	snprintf(text, size, "%s%" PRId64, !is_cut ? "" : x < 0 ? "<= " : ">= ", x);
	return str_from(text);
}

bool mapentry_is_bool(struct str s)
{
	return str_eq(s, STR("true")) || str_eq(s, STR("false"));
}

/** May @s be such a value? An enumerator may have been named by bpftrace. */
static bool is_of_kind(struct str s, const struct value *v)
{
	int64_t bits;
	if (v->how == VALUE_STACK)
		return !s.n || s.p[0] == '\n';
	return !value_is_number(v) || mapentry_to_bits(s, &bits) ||
	       (value_is_integer(v) && mapentry_is_bool(s)) || (v->names && str_is_ident(s));
}

// --- tuples

/** The part of @s in front of ", ". */
static struct str piece_at(struct str s, size_t from)
{
	struct str rest = str_from_offset(s, from);
	const char *hit = rest.n ? memmem(rest.p, rest.n, ", ", 2) : NULL;
	return hit ? str_slice(rest, 0, (size_t)(hit - rest.p)) : rest;
}

static size_t count_pieces(struct str s)
{
	size_t n = 1;
	for (size_t at = piece_at(s, 0).n; at < s.n; n++)
		at += 2 + piece_at(s, at + 2).n;
	return n;
}

/** @s with @n of @c at its end, or at its front, taken off; false where they are not. */
static bool cut_chars(struct str *s, char c, unsigned n, bool at_end)
{
	if (s->n < n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (s->p[at_end ? s->n - 1 - i : i] != c)
			return false;
	*s = at_end ? str_slice(*s, 0, s->n - n) : str_from_offset(*s, n);
	return true;
}

static bool closes(const struct map_leaf *l, struct str s)
{
	return cut_chars(&s, ')', l->n_close, true);
}

static struct str bare(const struct map_leaf *l, struct str s)
{
	cut_chars(&s, '(', l->n_open, false);
	cut_chars(&s, ')', l->n_close, true);
	return s;
}

/**
 * In how many ways may the pieces be the leaves: 0, 1, or 2 for more. A number is one piece, a text any
 * number of them, as it may contain ", ". On return @ret[leaf * (n + 1) + piece] are those of what
 * begins there.
 */
static unsigned count_ways(const struct map_leaves *leaves, struct str s, struct strbuf *ret)
{
	size_t n = count_pieces(s), n_leaves = leaves->list.n, row = n + 1;
	struct str *pieces = calloc(n, sizeof(*pieces));
	if (!pieces)
		base_oom();
	for (size_t i = 0, at = 0; i < n; i++, at += 2) {
		pieces[i] = piece_at(s, at);
		at += pieces[i].n;
	}
	strbuf_clear(ret);
	for (size_t i = 0; i < (n_leaves + 1) * row; i++)
		strbuf_addc(ret, i == n_leaves * row + n);
	for (size_t l = n_leaves; l-- > 0;) {
		const struct map_leaf *leaf = &leaves->list.v[l];
		bool is_number = value_is_number(leaf->value);
		char *ways = ret->p + l * row;
		unsigned n_ends = 0; // of a text that reaches to piece i or further
		for (size_t i = n; i-- > 0;) {
			unsigned ends =
			    closes(leaf, pieces[i]) ? (unsigned char)ways[row + i + 1] : 0;
			n_ends = is_number ? ends : n_ends + ends < 2 ? n_ends + ends : 2;
			struct str opened = pieces[i];
			bool is_fitting = cut_chars(&opened, '(', leaf->n_open, false) &&
					  is_of_kind(bare(leaf, pieces[i]), leaf->value);
			ways[i] = (char)(is_fitting ? n_ends : 0);
		}
	}
	free(pieces);
	return (unsigned char)ret->p[0];
}

bool mapentry_walk(const struct map_leaves *leaves, struct str s, map_leaf_fn *fn, void *ctx)
{
	struct strbuf ways = {0};
	bool is_one = count_ways(leaves, s, &ways) == 1;
	size_t row = count_pieces(s) + 1, i = 0, at = 0;
	for (size_t l = 0; l < leaves->list.n && is_one; l++) {
		const struct map_leaf *leaf = &leaves->list.v[l];
		size_t end = at;
		for (bool more = true; more; i++, end += 2) {
			struct str piece = piece_at(s, end);
			end += piece.n;
			more = !closes(leaf, piece) || !ways.p[(l + 1) * row + i + 1];
		}
		struct str text = str_slice(s, at, end - 2 - at);
		fn(ctx, leaf, bare(leaf, text), l + 1 == leaves->list.n);
		at = end;
	}
	strbuf_fini(&ways);
	return is_one;
}

// --- entries

/** @colon: its offset in @text */
static void parse_value(struct str text, size_t colon, struct mapentry *e)
{
	e->value = str_from_offset(text, colon + 1);
	e->is_header = !str_take(&e->value, STR(" "));
}

size_t mapentry_find_key_end(struct str text, size_t from)
{
	for (size_t i = from; i + 1 < text.n; i++)
		if (text.p[i] == ']' && text.p[i + 1] == ':' &&
		    (i + 2 == text.n || text.p[i + 2] == ' ' || text.p[i + 2] == '\n'))
			return i;
	return text.n;
}

static bool fits(const struct map_leaves *leaves, struct str s)
{
	struct strbuf ways = {0};
	unsigned n = count_ways(leaves, s, &ways);
	strbuf_fini(&ways);
	return n > 0;
}

bool mapentry_split(const struct map_known *map, struct str text, struct mapentry *ret)
{
	size_t from = map->shape->name.n, end, n_fitting = 0;
	*ret = (struct mapentry){.is_sure = true};
	if (text.p[from] == ':') {
		parse_value(text, from, ret);
		return true;
	}
	ret->has_key = true;
	size_t n = 0;
	for (end = mapentry_find_key_end(text, ++from); end < text.n && n < MAX_KEY_ENDS; n++) {
		struct mapentry e = *ret;
		e.key = str_slice(text, from, end - from);
		parse_value(text, end + 1, &e);
		bool is_fitting =
		    (!map->keys.list.n || fits(&map->keys, e.key)) &&
		    (e.value.n ? fits(&map->value, e.value) : !value_is_number(&map->shape->value));
		if (is_fitting || !n_fitting)
			*ret = e;
		n_fitting += is_fitting;
		end = mapentry_find_key_end(text, end + 1);
	}
	ret->is_sure = n_fitting == 1 && n < MAX_KEY_ENDS;
	return n > 0;
}

/** 64K is 65536; @has: it is not "...", which has no bound. */
static bool parse_bound(struct str *s, bool *has, __int128 *ret)
{
	static const char units[] = "KMGTPE";
	struct map_integer i;
	*has = !str_take(s, STR("..."));
	if (!*has)
		return true;
	if (!parse_integer(s, &i))
		return false;
	const char *unit = s->n ? strchr(units, s->p[0]) : NULL;
	*ret = i.value;
	if (unit && *unit) {
		*ret *= (__int128)1 << (10 * (unit - units + 1));
		*s = str_from_offset(*s, 1);
	}
	return true;
}

bool mapentry_to_bucket(struct str line, struct map_bucket *ret)
{
	struct str s = str_from_offset(line, 1);
	*ret = (struct map_bucket){0};
	if (!line.n || (line.p[0] != '[' && line.p[0] != '(') ||
	    !parse_bound(&s, &ret->has_min, &ret->min))
		return false;
	if (str_take(&s, STR("]"))) {
		ret->has_max = ret->has_min;
		ret->max = ret->min;
	} else if (str_take(&s, STR(", ")) && parse_bound(&s, &ret->has_max, &ret->max) &&
		   str_take(&s, STR(")"))) {
		ret->max--;
	} else {
		return false;
	}
	s = str_trim(s);
	return parse_integer(&s, &ret->count) && str_take(&s, STR(" |")) &&
	       str_has_suffix(s, STR("|"));
}

/** "count 2, average 4, total 8", since 0.24 "{ .count = 2, .average = 4, .total = 8 }" */
bool mapentry_to_stats(struct str s, struct map_stats *ret)
{
	bool is_new = str_take(&s, STR("{ ."));
	return str_take(&s, is_new ? STR("count = ") : STR("count ")) &&
	       parse_integer(&s, &ret->count) &&
	       str_take(&s, is_new ? STR(", .average = ") : STR(", average ")) &&
	       parse_integer(&s, &ret->average) &&
	       str_take(&s, is_new ? STR(", .total = ") : STR(", total ")) &&
	       parse_integer(&s, &ret->total) && str_eq(s, is_new ? STR(" }") : STR(""));
}

/** A newline, and indented lines. */
bool mapentry_is_stack(struct str s)
{
	bool is = s.n > 1 && s.p[0] == '\n';
	for (s = str_from_offset(s, 1); s.n && is;)
		is = str_has_prefix(str_take_line(&s), STR("    "));
	return is;
}

enum map_form mapentry_form(const struct map_known *map, const struct mapentry *e)
{
	struct map_stats stats;
	struct map_bucket b;
	struct str rest = e->value;
	if (map->shape->value.how == VALUE_STACK)
		return MAP_STACK;
	if (map->shape->value.how != VALUE_PLAIN || map->shape->value.type)
		return MAP_PLAIN;
	if (mapentry_to_stats(e->value, &stats))
		return map->shape->value.shift == VALUE_STATS ? MAP_PLAIN : MAP_STATS;
	struct str first = str_take_line(&rest), second = str_take_line(&rest);
	if (!first.n && mapentry_to_bucket(second, &b))
		return MAP_HISTOGRAM;
	if (!e->is_header)
		return mapentry_is_stack(e->value) ? MAP_STACK : MAP_PLAIN;
	// The scale of a series is indented.
	return str_has_prefix(second, STR(" ")) ? MAP_SERIES : MAP_HISTOGRAM;
}
