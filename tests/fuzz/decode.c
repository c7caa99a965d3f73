// libFuzzer entry: any bytes as what a program prints. In pieces of sizes that the bytes choose, with bpftrace at rest behind
// some, they must come to the same records and lines as in one piece.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What is decoded goes to `text`. */
struct run {
	struct strbuf text;
	struct shapes *shapes;
};

static void add_text(struct strbuf *out, struct str s)
{
	strbuf_addf(out, " %zu:", s.n);
	strbuf_adds(out, s);
}

static void add_record(void *ctx, const struct record *r)
{
	struct run *run = ctx;
	struct shapes headless = *run->shapes;
	size_t n_numbers, n_texts;
	headless.has_head = false;
	shape_count(&headless, r->shape, &n_numbers, &n_texts);
	strbuf_addf(&run->text, "[%zu %" PRId64 " %" PRId64, (size_t)(r->shape - headless.list.v),
		    r->head.ns, r->head.tid);
	add_text(&run->text, r->comm);
	add_text(&run->text, r->probe);
	for (size_t i = 0; i < n_numbers; i++)
		strbuf_addf(&run->text, " %" PRId64, r->numbers[i]);
	for (size_t i = 0; i < n_texts; i++)
		add_text(&run->text, r->texts[i]);
	strbuf_addc(&run->text, ']');
}

static void add_line(void *ctx, struct str line)
{
	struct run *run = ctx;
	strbuf_adds(&run->text, line);
	strbuf_addc(&run->text, '\n');
}

static void add_part(void *ctx, struct str text)
{
	struct run *run = ctx;
	strbuf_adds(&run->text, text);
}

static struct str decode(struct arena *a, struct str bytes, bool in_pieces)
{
	static const struct decode_handler handler = {add_record, add_line, add_part};
	static struct shape_field fields[] = {{.divisor = 0}, {.value = {.how = VALUE_STRING}}};
	struct shapes shapes = {
	    .arena = a, .has_head = bytes.n & 1, .start = "@0<", .counts = "@c"};
	struct run run = {.shapes = &shapes};
	struct decoder d;
	vec_push(a, &shapes.list, (struct shape){.is_counted = true});
	vec_push(a, &shapes.list,
		 (struct shape){.fields = fields, .n_fields = 1, .probe = {"a", 1}});
	vec_push(a, &shapes.list, (struct shape){.fields = fields, .n_fields = 2});
	decode_init(&d, &shapes, &handler, &run);
	for (size_t i = 0, n; i < bytes.n; i += n) {
		unsigned char c = (unsigned char)bytes.p[i];
		n = in_pieces ? (size_t)1 + c % 16 : bytes.n;
		char *copy = malloc(n); // its own, so that a read past it shows
		struct str piece = str_slice(bytes, i, n);
		if (!copy)
			exit(1);
		memcpy(copy, piece.p, piece.n);
		decode_add(&d, (struct str){copy, piece.n});
		free(copy);
		if (in_pieces && c % 3 == 0)
			decode_idle(&d);
	}
	decode_end(&d);
	struct decode_sum sum = decode_sum(&d);
	strbuf_addf(&run.text, "%" PRIu64 " %" PRIu64, sum.n_fired, sum.n_events);
	decode_fini(&d);
	return strbuf_take(&run.text, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct str bytes = {(const char *)data, size};
	struct str whole = decode(&a, bytes, false), pieces = decode(&a, bytes, true);
	if (!str_eq(whole, pieces)) {
		fprintf(stderr, "whole:     " STR_FMT "\nin pieces: " STR_FMT "\n", STR_ARG(whole),
			STR_ARG(pieces));
		abort();
	}
	arena_fini(&a);
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
