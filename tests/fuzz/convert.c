// libFuzzer entry: any bytes as a capture, into each format of btgen convert. The first byte chooses the format and the map. In one
// piece and in pieces the result is the same; a timeline is one JSON value, spans are one a line, and stacks are lines that end in a
// number.
#include "convert/convert.h"
#include "convert/jsonread.h"
#include "fuzz.h"

static const char *format_of(unsigned char how)
{
	return how & 1 ? "folded" : how & 4 ? "otlp" : "perfetto";
}

/** In pieces of @n bytes. */
static bool convert(unsigned char how, struct str bytes, size_t n, struct strbuf *out)
{
	struct fuzz_said said;
	fuzz_listen(&said);
	struct convert *c = convert_new(convert_find(format_of(how)), how & 2 ? "@s" : NULL,
					&said.diag, "capture.json");
	for (size_t i = 0; i < bytes.n; i += n) {
		struct str piece = str_slice(bytes, i, n);
		char *copy = malloc(piece.n); // its own, so that a read past it shows
		if (!copy)
			exit(1);
		memcpy(copy, piece.p, piece.n);
		convert_take(c, (struct str){copy, piece.n}, out);
		free(copy);
	}
	bool good = convert_end(c, out);
	convert_tail(c, out);
	convert_free(c);
	fuzz_must_be_printable(&said);
	return good;
}

static void must_be_json(struct str text)
{
	struct jsonread r = jsonread_of(text);
	struct str key, value;
	jsonread_open(&r, '{');
	while (jsonread_member(&r, &key, &value))
		;
	if (!jsonread_is_done(&r) || !str_is_utf8(text))
		fuzz_fail("no JSON", text);
}

static void must_be_lines(struct str text)
{
	while (text.n)
		must_be_json(str_take_line(&text));
}

static void must_be_stacks(struct str text)
{
	while (text.n) {
		struct str line = str_take_line(&text);
		size_t digits = 0;
		while (digits < line.n && strchr("0123456789", line.p[line.n - 1 - digits]))
			digits++;
		if (!digits || digits == line.n || line.p[line.n - 1 - digits] != ' ')
			fuzz_fail("no stack", line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = str_from_offset((struct str){(const char *)data, size}, 1);
	unsigned char how = size ? data[0] : 0;
	struct strbuf whole = {0}, pieces = {0};
	bool good = convert(how, bytes, bytes.n, &whole);
	if (good != convert(how, bytes, 1 + how % 16, &pieces) ||
	    (good && !str_eq(strbuf_str(&whole), strbuf_str(&pieces))))
		fuzz_fail("other in pieces", strbuf_str(&pieces));
	if (good && how & 1)
		must_be_stacks(strbuf_str(&whole));
	else if (good && how & 4)
		must_be_lines(strbuf_str(&whole));
	else if (good)
		must_be_json(strbuf_str(&whole));
	strbuf_fini(&whole);
	strbuf_fini(&pieces);
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
