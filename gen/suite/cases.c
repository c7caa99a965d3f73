#include "suite/cases.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>
#include <unistd.h>

#include "conf/lines.h"

#define TIMEOUT_MS 30000

/** What is read, and where. */
struct reader {
	struct arena *arena;
	struct diag *diag;
	struct suite *suite;
	unsigned line;
	struct suite_case *at; /**< the case that a line is of, or NULL */
};

static bool fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct reader *r, const char *fmt, ...)
{
	struct diag_place at = {.file = str_from(r->suite->path), .line = r->line};
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(r->arena, fmt, ap);
	va_end(ap);
	return diag_error(r->diag, &at, "%s", text);
}

/** @name as the file at @path means it: beside that, if there is such a file. */
static const char *suite_file(struct arena *a, const char *path, struct str name)
{
	const char *slash = strrchr(path, '/'), *own = str_dup(a, name);
	if (!slash || *own == '/')
		return own;
	const char *beside = arena_printf(a, "%.*s/%s", (int)(slash - path), path, own);
	return access(beside, F_OK) == 0 ? beside : own;
}

// --- a word each

struct word {
	const char *word;
	bool (*take)(struct reader *r, const struct word *w, struct str value);
	size_t at; // of a text that a case has once: where it is in there
	enum expect_kind kind;
};

static bool take_once(struct reader *r, const struct word *w, struct str value)
{
	const char **to = (const char **)((char *)r->at + w->at);
	if (*to)
		return fail(r, "given twice in one case");
	*to = to == &r->at->script ? suite_file(r->arena, r->suite->path, value)
				   : str_dup(r->arena, value);
	return true;
}

static bool take_name(struct reader *r, const struct word *w, struct str value)
{
	(void)w;
	vec_push(r->arena, &r->suite->cases,
		 (struct suite_case){
		     .name = str_copy(r->arena, value), .timeout = TIMEOUT_MS, .line = r->line});
	r->at = &r->suite->cases.v[r->suite->cases.n - 1];
	return true;
}

static bool take_patterns(struct reader *r, const struct word *w, struct str value)
{
	(void)w;
	while (value.n) {
		size_t n = str_find(value, ' ');
		vec_push(r->arena, &r->at->patterns, str_dup(r->arena, str_slice(value, 0, n)));
		value = str_trim(str_from_offset(value, n));
	}
	return true;
}

static bool take_timeout(struct reader *r, const struct word *w, struct str value)
{
	(void)w;
	uint64_t n;
	if (!str_to_u64(value, &n) || !n || n > 86400)
		return fail(r, "TIMEOUT: '" STR_FMT "' is not a number of seconds", STR_ARG(value));
	r->at->timeout = (unsigned long)n * 1000;
	return true;
}

static bool add_expect(struct reader *r, const struct word *w, uint64_t n, struct str value)
{
	vec_push(r->arena, &r->at->expects,
		 (struct expect){w->kind, str_copy(r->arena, value), n, r->line});
	return true;
}

static bool take_expect(struct reader *r, const struct word *w, struct str value)
{
	return add_expect(
	    r, w, w->kind == EXPECT_TEXT,
	    w->kind == EXPECT_FILE ? str_from(suite_file(r->arena, r->suite->path, value)) : value);
}

static bool take_least(struct reader *r, const struct word *w, struct str value)
{
	size_t n = str_find(value, ' ');
	uint64_t least;
	struct str text = str_trim(str_from_offset(value, n));
	if (!str_to_u64(str_slice(value, 0, n), &least) || !least || !text.n)
		return fail(r, "EXPECT_LEAST takes a number and a text");
	return add_expect(r, w, least, text);
}

static bool take_regex(struct reader *r, const struct word *w, struct str value)
{
	regex_t re;
	char why[128];
	int error = regcomp(&re, str_dup(r->arena, value), REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &re, why, sizeof(why));
		return fail(r, "EXPECT_REGEX: %s", why);
	}
	regfree(&re);
	return add_expect(r, w, 1, value);
}

#define ONCE(member) .take = take_once, .at = offsetof(struct suite_case, member)

static const struct word words[] = {
    {"NAME", .take = take_name},
    {"REQUIRES", ONCE(requires)},
    {"RUN", ONCE(run)},
    {"PROCESS", ONCE(process)},
    {"TRACE", .take = take_patterns},
    {"SCRIPT", ONCE(script)},
    {"PROG", ONCE(text)},
    {"AFTER", ONCE(after)},
    {"TIMEOUT", .take = take_timeout},
    {"EXPECT", .take = take_expect, .kind = EXPECT_TEXT},
    {"EXPECT_NONE", .take = take_expect, .kind = EXPECT_NONE},
    {"EXPECT_REGEX", .take = take_regex, .kind = EXPECT_REGEX},
    {"EXPECT_LEAST", .take = take_least, .kind = EXPECT_LEAST},
    {"EXPECT_FILE", .take = take_expect, .kind = EXPECT_FILE},
};
enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

// --- cases

static bool take_line(struct reader *r, struct str line)
{
	size_t n = 0;
	while (n < line.n && (isupper((unsigned char)line.p[n]) || line.p[n] == '_'))
		n++;
	struct str word = str_slice(line, 0, n), value = str_trim(str_from_offset(line, n));
	for (size_t i = 0; i < N_WORDS; i++) {
		if (!str_eqz(word, words[i].word))
			continue;
		if (!r->at && i > 0)
			return fail(r, "a case begins with NAME");
		if (!value.n)
			return fail(r, "%s needs a value", words[i].word);
		return words[i].take(r, &words[i], value);
	}
	const char *near = NULL;
	unsigned best = UINT32_MAX;
	for (size_t i = 0; i < N_WORDS; i++)
		if (str_is_nearer(word, str_from(words[i].word), &best))
			near = words[i].word;
	return fail(r, "unknown word '" STR_FMT "'%s%s%s",
		    STR_ARG(str_slice(line, 0, str_find(line, ' '))),
		    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool check_case(struct reader *r, const struct suite_case *c)
{
	r->line = c->line;
	if (!c->run == !c->process)
		return fail(r, "give a program: RUN COMMAND, or PROCESS PID or name");
	if ((c->patterns.n > 0) + (c->script != NULL) + (c->text != NULL) != 1)
		return fail(r, "give what to trace: TRACE, SCRIPT or PROG");
	if (c->process && !c->after)
		return fail(r, "PROCESS needs AFTER: the trace ends when that command exits");
	return c->expects.n || fail(r, "no EXPECT line");
}

bool suite_read(struct arena *a, struct diag *d, const char *path, struct suite *ret)
{
	struct reader r = {a, d, ret, 0, NULL};
	struct lines l;
	bool good = true;
	*ret = (struct suite){.path = path};
	if (!lines_open(a, d, path, "of cases", &l))
		return false;
	while (l.rest.n) { // not lines_next(): what is expected may have a # in it
		struct str line = str_trim(str_take_line(&l.rest));
		r.line++;
		if (line.n && line.p[0] != '#')
			good &= take_line(&r, line);
	}
	for (size_t i = 0; good && i < ret->cases.n; i++)
		good &= check_case(&r, &ret->cases.v[i]);
	r.line = 0;
	return good && (ret->cases.n || fail(&r, "no cases: a case begins with NAME"));
}
