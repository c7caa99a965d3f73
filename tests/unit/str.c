// str: the edit distance, with its shortcuts, against the textbook's table on strings of few letters; what is escaped.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tap.h"

enum { LEN = 24 };

/** Optimal string alignment, the whole table. */
static unsigned slow_distance(struct str a, struct str b)
{
	unsigned t[LEN + 1][LEN + 1];
	for (size_t i = 0; i <= a.n; i++) {
		for (size_t k = 0; k <= b.n; k++) {
			if (!i || !k) {
				t[i][k] = (unsigned)(i + k);
				continue;
			}
			unsigned d = t[i - 1][k - 1] + (a.p[i - 1] != b.p[k - 1]);
			d = t[i - 1][k] + 1 < d ? t[i - 1][k] + 1 : d;
			d = t[i][k - 1] + 1 < d ? t[i][k - 1] + 1 : d;
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] &&
			    a.p[i - 2] == b.p[k - 1] && t[i - 2][k - 2] + 1 < d)
				d = t[i - 2][k - 2] + 1;
			t[i][k] = d;
		}
	}
	return t[a.n][b.n];
}

static struct str some(char *buf, const char *letters)
{
	size_t n = (size_t)rand() % LEN, of = strlen(letters);
	for (size_t i = 0; i < n; i++)
		buf[i] = letters[(size_t)rand() % of];
	return (struct str){buf, n};
}

static void test_near(void)
{
	static const struct {
		const char *wanted, *guess;
		bool is_near;
	} pairs[] = {
	    {"mian", "main", true},
	    {"mian", "nan", false},
	    {"ring", "range", false},
	    {"ring", "int", false},
	    {"ring", "rings", true},
	    {"strnig", "string", true},
	    {"nosuch", "such", true},
	    {"nosuch", "nothing", false},
	    {"nvmf_tgt_stat", "nvmf_tgt_state", true},
	    {"nvme_tgt_stat", "nvmf_target_state", true},
	    {"spdk_get_thread", "spdk_thread_get", false},
	    {"al", "all", true},
	    {"x", "y", false},
	    {"pd", "id", false},
	    {"same", "same", true},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		unsigned best = UINT_MAX;
		struct str wanted = str_from(pairs[i].wanted), guess = str_from(pairs[i].guess);
		ok(str_is_nearer(wanted, guess, &best) == pairs[i].is_near, "%s is %s for %s",
		   pairs[i].guess, pairs[i].is_near ? "offered" : "not offered", pairs[i].wanted);
	}
	unsigned best = 1;
	ok(!str_is_nearer(STR("mian"), STR("main"), &best), "a guess as near is no nearer");
}

/** Adds @s as JSON, without the quotes. */
static void add_inner_json(struct strbuf *b, struct str s)
{
	struct strbuf one = {0};
	strbuf_add_json(&one, s);
	strbuf_adds(b, str_slice(strbuf_str(&one), 1, one.n - 2));
	strbuf_fini(&one);
}

/** Eight bytes are looked at at once: each byte at each place is what it is by itself. */
static void test_bytes(void)
{
	unsigned wrong = 0;
	for (unsigned c = 0; c < 256 * LEN; c++) {
		char text[LEN], byte = (char)(c / LEN);
		size_t at = c % LEN;
		struct str s = {text, LEN}, alone = {&byte, 1};
		struct strbuf got = {0}, want = {0};
		memset(text, at % 2 ? 'a' : '~', LEN);
		struct str before = str_slice(s, 0, at), after = str_from_offset(s, at + 1);
		text[at] = byte;
		add_inner_json(&got, s);
		strbuf_add_printable(&got, s);
		strbuf_adds(&want, before);
		add_inner_json(&want, alone);
		strbuf_adds(&want, after);
		strbuf_adds(&want, before);
		strbuf_add_printable(&want, alone);
		strbuf_adds(&want, after);
		wrong += !str_eq(strbuf_str(&got), strbuf_str(&want)) ||
			 str_is_utf8(s) != str_is_utf8(alone);
		strbuf_fini(&got);
		strbuf_fini(&want);
	}
	is_num(wrong, 0, "each byte is escaped wherever it stands in a text");
}

static void test_growth(void)
{
	unsigned wrong = 0;
	for (int n = 0; n < 600; n++) {
		char want[1300];
		struct strbuf b = {0};
		strbuf_addf(&b, "%*d", n, 7);
		strbuf_addc(&b, 'c');
		strbuf_addf(&b, "%s%*d", "", n, 8);
		snprintf(want, sizeof(want), "%*dc%*d", n, 7, n, 8);
		wrong += !str_eqz(strbuf_str(&b), want) || b.p[b.n];
		strbuf_fini(&b);
	}
	is_num(wrong, 0, "a buffer grows with what is formatted into it");
}

int main(void)
{
	static const char *const letters[] = {"ab", "abc_", "nosuchame_t", "\xff\xdf_?@`"};
	unsigned wrong = 0, near = 0;
	srand(7);
	for (unsigned i = 0; i < 40000; i++) {
		char a[LEN], b[LEN];
		struct str s = some(a, letters[i % 4]), t = some(b, letters[i % 4]);
		unsigned limit = (unsigned)rand() % 8, d = slow_distance(s, t);
		near += d <= limit;
		wrong += str_distance(s, t, limit) != (d > limit ? limit + 1 : d);
	}
	ok(wrong == 0, "str_distance is that of the table (%u wrong)", wrong);
	ok(near > 1000, "in %u cases within the limit", near);

	// U+202E, right-to-left override; U+009B, a control sequence's start; an e with an accent stays.
	struct strbuf b = {0};
	strbuf_add_printable(&b, STR("a\xe2\x80\xae"
				     "b\xc2\x9b\xc3\xa9"));
	ok(str_eqz(strbuf_str(&b), "a\\xe2\\x80\\xaeb\\xc2\\x9b\xc3\xa9"),
	   "what turns or drives a terminal is shown as bytes");
	strbuf_clear(&b);
	strbuf_add_json(&b, STR("a\xe2\x80\xae"
				"b\xc2\x9b\xc3\xa9"));
	ok(str_eqz(strbuf_str(&b), "\"a\\u202eb\\u009b\xc3\xa9\""), "... in JSON by its number");
	strbuf_clear(&b);
	// U+2028 and U+2029 end a line in some readers; U+E0041 is a letter A that nobody sees.
	strbuf_add_printable(&b, STR("a\xe2\x80\xa8\xe2\x80\xa9\xf3\xa0\x81\x81"));
	ok(str_eqz(strbuf_str(&b), "a\\xe2\\x80\\xa8\\xe2\\x80\\xa9\\xf3\\xa0\\x81\\x81"),
	   "so is what ends a line elsewhere, and what nobody sees");
	strbuf_clear(&b);
	strbuf_add_json(&b, STR("a\xe2\x80\xa8\xe2\x80\xa9\xf3\xa0\x81\x81"));
	ok(str_eqz(strbuf_str(&b), "\"a\\u2028\\u2029\\udb40\\udc41\""),
	   "... in JSON by numbers of UTF-16");
	strbuf_fini(&b);

	unsigned n_hostile = 0, n_high = 0, n_word = 0;
	for (unsigned which = ALPHABET_WORD; which <= ALPHABET_NAME_PATTERN; which++)
		for (unsigned c = 0; c < 256; c++) {
			char name[] = {'a', (char)c};
			bool good = str_is_made_of((struct str){name, 2}, which);
			// In an attach point without quotes a backslash ends nothing.
			bool is_said = which == ALPHABET_PROBE_NAME && c == '\\';
			n_hostile += good && !is_said &&
				     (c < ' ' || memchr("\"'\\`;{}#%!|=~\x7f", (int)c, 14));
			n_high += good && c >= 0x80 && which != ALPHABET_NAME_PATTERN;
			n_word += good && which == ALPHABET_WORD;
		}
	ok(n_hostile == 0, "no alphabet has a byte that ends a string, a path or a statement");
	ok(n_high == 0, "... nor one that is not ASCII, but that of patterns");
	ok(n_word == 63, "a word is of 63 bytes");
	ok(str_is_made_of(STR("a::b"), ALPHABET_SCOPED_WORD) &&
	       !str_is_made_of(STR("x:PWN"), ALPHABET_SCOPED_WORD) &&
	       !str_is_made_of(STR("a::"), ALPHABET_SCOPED_WORD) &&
	       !str_is_made_of(STR("a:::b"), ALPHABET_SCOPED_WORD),
	   "a scope ends with two colons");
	ok(!str_is_made_of(STR(""), ALPHABET_TYPE), "nothing is of no alphabet");
	test_near();
	test_bytes();
	test_growth();
	return done();
}
