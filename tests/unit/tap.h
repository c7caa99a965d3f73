/** tap - the few lines that a unit test needs: claims in words, printed as TAP. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"

static int tap_n, tap_failed;

/** One claim: @good says whether it holds. */
static inline bool ok(bool good, const char *claim, ...)
{
	va_list ap;
	va_start(ap, claim);
	printf("%sok %d - ", good ? "" : "not ", ++tap_n);
	vprintf(claim, ap);
	putchar('\n');
	va_end(ap);
	tap_failed += !good;
	return good;
}

static inline void tap_show(const char *label, struct str s)
{
	struct strbuf b = {0};
	strbuf_add_printable(&b, s);
	printf("#   %s \"" STR_FMT "\"\n", label, STR_ARG(strbuf_str(&b)));
	strbuf_fini(&b);
}

/** The two texts are equal; both are shown when not. */
static inline bool is_str(struct str got, struct str want, const char *claim)
{
	if (ok(str_eq(got, want), "%s", claim))
		return true;
	tap_show("got ", got);
	tap_show("want", want);
	return false;
}

static inline bool is_num(long long got, long long want, const char *claim)
{
	if (ok(got == want, "%s", claim))
		return true;
	printf("#   got  %lld\n#   want %lld\n", got, want);
	return false;
}

/** How many times longer @work takes for 4 * @n than for @n: processor time, of each the least of three. */
static inline double tap_growth(void (*work)(void *ctx, size_t n), void *ctx, size_t n)
{
	double least[2] = {0};
	for (int i = 0; i < 6; i++) {
		clock_t start = clock();
		work(ctx, i % 2 ? 4 * n : n);
		double took = (double)(clock() - start) + 1;
		if (i < 2 || took < least[i % 2])
			least[i % 2] = took;
	}
	return least[1] / least[0];
}

/** Last line of main(). */
static inline int done(void)
{
	printf("1..%d\n", tap_n);
	fflush(stdout);
	return tap_failed ? 1 : 0;
}

#endif
