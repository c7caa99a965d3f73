/*
 * What a hit of a probe costs, by kind of site. This file is compiled once for each kind (KIND is its name), and once with
 * MAIN for the loop that hits them in turns:
 *
 *	hits HITS ROUNDS	once at the start, and again for each line on stdin: for each kind a line
 *				"KIND CALL HOW NS", the median of the rounds, in nanoseconds; HOW is what is in the place of
 *				the site's nop at the end: nop, trap or call.
 */
#ifndef MAIN

#if defined(ORIGINAL)
#include <sys/sdt.h>
#define HIT(a, b) STAP_PROBE2(hits, KIND, a, b)
#elif defined(LAZY)
#include <btgen/usdt.h>
#define HIT(a, b) USDT_PROBE_LAZY(hits, KIND, a, b)
#elif defined(NONE)
#define HIT(a, b) (void)(a), (void)(b)
#else
#include <btgen/usdt.h>
#define HIT(a, b) USDT_PROBE(hits, KIND, a, b)
#endif
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

void PASTE(hit_, KIND)(long i, const char *text);
__attribute__((noinline, aligned(64))) void PASTE(hit_, KIND)(long i, const char *text)
{
	HIT(i, text);
	__asm__ volatile("" : : "r"(i), "r"(text) : "memory");
}

#else

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KINDS(X) X(none) X(original) X(one) X(lazy) FAST(X)
#ifdef __x86_64__
#define FAST(X) X(fast)
#else
#define FAST(X)
#endif

#define DECLARE(kind) void hit_##kind(long i, const char *text);
KINDS(DECLARE)

struct kind {
	const char *name;
	void (*hit)(long i, const char *text);
	const volatile uint8_t *site;
	double *samples;
};

#define ENTRY(kind) {#kind, hit_##kind, NULL, NULL},
static struct kind kinds[] = {KINDS(ENTRY)};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), LONGEST = 48 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The nop of the site, before anybody traces: the first one that the function has. */
static const volatile uint8_t *find_site(const struct kind *k)
{
#ifdef __x86_64__
	static const uint8_t one[] = {0x90}, five[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	const uint8_t *code, *nop = strcmp(k->name, "fast") == 0 ? five : one;
	memcpy(&code, &k->hit, sizeof(code));
	for (unsigned i = 0; i < LONGEST; i++)
		if (memcmp(code + i, nop, nop == five ? sizeof(five) : sizeof(one)) == 0)
			return code + i;
#else
	(void)k;
#endif
	return NULL;
}

static const char *state(const struct kind *k)
{
	if (!k->site || strcmp(k->name, "none") == 0)
		return "-";
	return *k->site == 0xcc ? "trap" : *k->site == 0xe8 ? "call" : "nop";
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(long hits, long rounds)
{
	for (long round = -1; round < rounds; round++)
		for (unsigned k = 0; k < N_KINDS; k++) {
			double start = now();
			for (long i = 0; i < hits; i++)
				kinds[k].hit(i, "text");
			if (round >= 0)
				kinds[k].samples[round] = (now() - start) / (double)hits;
		}
	for (unsigned k = 0; k < N_KINDS; k++) {
		qsort(kinds[k].samples, (size_t)rounds, sizeof(double), compare);
		printf("%s %s %.2f\n", kinds[k].name, state(&kinds[k]),
		       kinds[k].samples[rounds / 2]);
	}
	puts("done");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long hits = argc > 1 ? atol(argv[1]) : 0, rounds = argc > 2 ? atol(argv[2]) : 0;
	if (hits <= 0 || rounds <= 0)
		return 2;
	for (unsigned k = 0; k < N_KINDS; k++) {
		kinds[k].site = find_site(&kinds[k]);
		kinds[k].samples = calloc((size_t)rounds, sizeof(double));
		if (!kinds[k].samples)
			return 1;
	}
	measure(hits * 10, rounds);
	while (getchar() == '\n')
		measure(hits, rounds);
	return 0;
}
#endif
