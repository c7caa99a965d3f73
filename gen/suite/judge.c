// Whether what was printed is what a case expects.
#include "suite/cases.h"

#include <inttypes.h>
#include <regex.h>

#include "base/file.h"
#include <unistd.h>

/** How many lines fit; those up to and with the first that does are taken from *@rest. */
static uint64_t count(const struct expect *e, struct str *rest)
{
	struct arena a = {0};
	regex_t re;
	uint64_t n = 0;
	struct str text = *rest;
	if (e->kind == EXPECT_REGEX && regcomp(&re, e->text.p, REG_EXTENDED | REG_NOSUB) != 0)
		return 0;
	while (text.n) {
		struct str line = str_take_line(&text);
		bool fits = e->kind == EXPECT_REGEX
				? regexec(&re, str_dup(&a, line), 0, NULL, 0) == 0
				: str_contains(line, e->text);
		if (!fits)
			continue;
		if (!n++)
			*rest = text;
	}
	arena_fini(&a);
	if (e->kind == EXPECT_REGEX)
		regfree(&re);
	return n;
}

static bool is_whole(struct arena *a, const struct expect *e, struct str output, const char **why)
{
	uint64_t size;
	int fd = file_open(NULL, e->text.p, &size, why);
	if (fd < 0)
		return false;
	char *bytes = arena_alloc(a, output.n + 1);
	bool good = size == output.n && file_read_at(fd, bytes, output.n, 0) &&
		    str_eq((struct str){bytes, output.n}, output);
	close(fd);
	*why = "the output differs";
	return good;
}

const struct expect *judge_find_missing(struct arena *a, const struct suite_case *c,
					struct str output, const char **why)
{
	struct str rest = output;
	vec_each(const struct expect, e, &c->expects) {
		struct str all = output;
		bool is_ordered = e->kind == EXPECT_TEXT || e->kind == EXPECT_REGEX, good = true;
		if (e->kind == EXPECT_FILE) {
			good = is_whole(a, e, output, why);
		} else {
			uint64_t n = count(e, is_ordered ? &rest : &all);
			good = e->kind == EXPECT_NONE ? n == 0 : n >= e->n;
			all = output;
			*why = e->kind == EXPECT_NONE ? "found"
			       : e->kind == EXPECT_LEAST
				   ? arena_printf(a, "found in %" PRIu64 " line%s", n,
						  n == 1 ? "" : "s")
			       : count(e, &all) ? "not found after the line of the previous EXPECT"
						: "not found";
		}
		if (!good)
			return e;
	}
	return NULL;
}
