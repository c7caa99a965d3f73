/** records: what a program prints as records comes out as lines and as JSON, however it is cut and whatever is in it. */
#include "marks/records.h"

#include "tap.h"

static const struct record_enumerator modes[] = {{0, {"OFF", 3}}, {-1, {"BAD \"", 5}}};
static struct record_field fields[] = {
    {.name = {"s", 1}, .kind = RECORD_STRING, .size = 8},
    {.name = {"i", 1}, .kind = RECORD_SIGNED, .size = 2, .is_signed = true},
    {.name = {"u", 1}, .kind = RECORD_UNSIGNED, .size = 4},
    {.name = {"m", 1}, .kind = RECORD_ENUM, .size = 4, .names = modes, .n_names = 2},
    {.name = {"p", 1}, .kind = RECORD_HEX, .size = 8, .is_pointer = true},
    {.name = {"x", 1}, .kind = RECORD_HIDDEN},
};
static struct record_field code[] = {
    {.name = {"fn", 2}, .kind = RECORD_CODE, .size = 8, .is_pointer = true},
};
static struct record_probe probes[] = {
    {.name = {"a:b", 3}, .fields = fields, .n_fields = 6},
    {.name = {"a:none", 6}},
    {.name = {"a:call", 6}, .fields = code, .n_fields = 1},
};

struct codename {
	int unused;
};

/** Stands for that of marks/codename.c, which is of a process that runs: only function 77 has a name. */
struct str codename_find(struct codename *c, uint64_t addr)
{
	(void)c;
	return addr == 77 ? STR("f(\"\x1b\")") : STR("");
}

/** "<" "," ">" and "%" in @form become the markers of @r. */
static struct str record(struct arena *a, const struct records *r, struct str form)
{
	struct strbuf b;
	strbuf_init(&b);
	for (size_t i = 0; i < form.n; i++)
		if (form.p[i] == '<')
			strbuf_addz(&b, r->start);
		else if (form.p[i] == ',')
			strbuf_addz(&b, r->sep);
		else if (form.p[i] == '>')
			strbuf_addz(&b, r->end);
		else if (form.p[i] == '%')
			strbuf_addz(&b, r->counts);
		else
			strbuf_addc(&b, form.p[i]);
	return strbuf_take(&b, a);
}

/** What bpftrace can hold. */
static size_t longest;

/** Functions have names. */
static bool has_names;

/** Decodes @form, given in pieces of @step bytes; what is before the thread is cut off each line. */
static struct str decode(struct arena *a, struct str form, bool json, size_t step)
{
	struct records r;
	struct strbuf out, cut;
	strbuf_init(&out);
	strbuf_init(&cut);
	for (size_t i = 0; i < 3; i++)
		probes[i].n_events = probes[i].n_fired = 0;
	records_init(&r, probes, 3, json);
	struct codename names;
	r.names = has_names ? &names : NULL;
	r.longest = longest;
	struct str all = record(a, &r, form);
	for (size_t i = 0; i < all.n; i += step)
		records_take(&r, str_slice(all, i, step), &out);
	records_end(&r, &out);
	struct str rest = strbuf_str(&out);
	while (rest.n) {
		struct str line = str_slice(rest, 0, str_find(rest, '\n'));
		rest = str_from_offset(rest, line.n + 1);
		const char *at = memmem(line.p, line.n, json ? "\"pid\"" : "cpu", json ? 5 : 3);
		strbuf_adds(&cut, at ? str_from_offset(line, (size_t)(at - line.p)) : line);
		strbuf_addc(&cut, '\n');
	}
	struct str s = str_copy(a, strbuf_str(&cut));
	strbuf_fini(&out);
	strbuf_fini(&cut);
	records_fini(&r);
	return s;
}

int main(void)
{
	struct arena a;
	arena_init(&a);
	struct str one = STR("<0,5000,7,8,cpu \"1\",77,q\"b\\\n\x01\xff,-3,-1,4294967295,-1>\n");
	struct str text = STR("cpu \"1\"[8] a:b s=\"q\\\"b\\\\\\n\\x01\\xff\" i=-3 u=4294967295 "
			      "m=BAD \" p=0xffffffffffffffff x=?\n");
	struct str json =
	    STR("\"pid\": 7, \"tid\": 8, \"comm\": \"cpu \\\"1\\\"\", \"probe\": \"a:b\", "
		"\"args\": {\"s\": \"q\\\"b\\\\\\u000a\\u0001\xef\xbf\xbd\", \"i\": -3, "
		"\"u\": 4294967295, \"m\": \"BAD \\\"\", "
		"\"p\": \"0xffffffffffffffff\"}}\n");
	is_str(decode(&a, one, false, 1000), text, "one event as text");
	is_str(decode(&a, one, true, 1000), json, "one event as JSON");
	longest = 7;
	is_str(decode(&a, one, false, 1000),
	       STR("cpu \"1\"[8] a:b s=\"q\\\"b\\\\\\n\\x01\\xff\"... i=-3 u=4294967295 "
		   "m=BAD \" p=0xffffffffffffffff x=?\n"),
	       "a string that may have been cut says so");
	ok(str_has_suffix(decode(&a, one, true, 1000), STR("}, \"cut\": [\"s\"]}\n")),
	   "in JSON, too");
	longest = 8;
	is_str(decode(&a, one, false, 1000), text, "one that is shorter does not");
	longest = 0;
	bool same = true;
	for (size_t step = 1; step < 40; step++)
		same &= str_eq(decode(&a, one, false, step), text) &&
			str_eq(decode(&a, one, true, step), json);
	ok(same, "it may come in pieces of any size");
	is_str(decode(&a, STR("<0,5,7,8,cpu,0,,65533,7,9,0>\n"), false, 3),
	       STR("cpu[8] a:b s=(null) i=-3 u=7 m=9 p=0x0 x=?\n"),
	       "a null pointer, a number that was not extended, one without a name");
	is_str(
	    decode(&a, STR("<0,5,7,8,cpu,0,,1,7,9,0>\n"), true, 3),
	    STR("\"pid\": 7, \"tid\": 8, \"comm\": \"cpu\", \"probe\": \"a:b\", \"args\": {\"s\": "
		"null, \"i\": 1, \"u\": 7, \"m\": 9, \"p\": null}}\n"),
	    "the same as JSON");
	is_str(decode(&a, STR("hello\n\n\n<1,5,7,8,cpu>\nbye\n\n"), false, 2),
	       STR("hello\ncpu[8] a:none\nbye\n"),
	       "lines between events are passed on, empty ones not");
	is_str(
	    decode(&a, STR("hel\"lo\n<1,5,7,8,cpu>\nbye"), true, 2),
	    STR("{\"text\": \"hel\\\"lo\"}\n\"pid\": 7, \"tid\": 8, \"comm\": \"cpu\", \"probe\": "
		"\"a:none\", \"args\": {}}\n{\"text\": \"bye\"}\n"),
	    "in JSON as objects of their own");

	struct str calls = STR("<2,5,7,8,cpu,77>\n<2,5,7,8,cpu,78>\n<2,5,7,8,cpu,0>\n");
	is_str(decode(&a, calls, false, 9),
	       STR("cpu[8] a:call fn=0x4d\ncpu[8] a:call fn=0x4e\ncpu[8] a:call fn=0x0\n"),
	       "functions that nobody can name are their addresses");
	has_names = true;
	is_str(decode(&a, calls, false, 9),
	       STR("cpu[8] a:call fn=f(\"\\x1b\")\ncpu[8] a:call fn=0x4e\ncpu[8] a:call fn=0x0\n"),
	       "a function has its name, printable, and one without it its address");
	is_str(decode(&a, calls, true, 9),
	       STR("\"pid\": 7, \"tid\": 8, \"comm\": \"cpu\", \"probe\": \"a:call\", \"args\": "
		   "{\"fn\": \"f(\\\"\\u001b\\\")\"}}\n"
		   "\"pid\": 7, \"tid\": 8, \"comm\": \"cpu\", \"probe\": \"a:call\", \"args\": "
		   "{\"fn\": \"0x4e\"}}\n"
		   "\"pid\": 7, \"tid\": 8, \"comm\": \"cpu\", \"probe\": \"a:call\", \"args\": "
		   "{\"fn\": null}}\n"),
	       "the same as JSON, where a null pointer is null");
	is_str(
	    decode(&a, STR("<1,5,7,8,cpu>\nLost 41 events\n\n%[1]: 3\n%[0]: 1\n"), true, 2),
	    STR("\"pid\": 7, \"tid\": 8, \"comm\": \"cpu\", \"probe\": \"a:none\", \"args\": {}}\n"
		"{\"lost\": {\"a:b\": 1, \"a:none\": 2}}\n"),
	    "what was counted and has not come is lost, whatever bpftrace says");
	is_str(decode(&a, STR("<1,5,7,8,cpu>\n%[1]: 1\n"), true, 2),
	       STR("\"pid\": 7, \"tid\": 8, \"comm\": \"cpu\", \"probe\": \"a:none\", \"args\": "
		   "{}}\n"),
	       "nothing is said of loss when there is none");

	static const char *const broken[] = {
	    "<3,5,7,8,cpu>\n",
	    "<2,5,7,8,cpu>\n",
	    "<-1,5,7,8,cpu>\n",
	    "<1,5,7,8>\n",
	    "<1,5,7,8,cpu,1>\n",
	    "<0,5,7,8,cpu>\n",
	    "<x,5,7,8,cpu>\n",
	    "<0,5,7,8,cpu,0,a,b,c,d,e>\n",
	    "<>\n",
	};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct str got = decode(&a, str_from(broken[i]), true, 5);
		ok(str_has_prefix(got, STR("{\"text\": ")), "no event is made of %.*s",
		   (int)strlen(broken[i]) - 1, broken[i]);
	}
	ok(decode(&a, STR("<0,5,7,8,cpu"), false, 4).n > 0, "a record without an end is not lost");
	char *big = arena_alloc(&a, 600000);
	memset(big, 'x', 600000);
	big[0] = '<';
	ok(decode(&a, (struct str){big, 600000}, false, 100000).n > 500000,
	   "one that never ends is passed on");
	arena_fini(&a);
	return done();
}
