/* A stand-in for bpftrace that has as many records as one likes, as fast as they are read, STEP ns apart. What it fires is soak.c's.
 *
 *	stream --version
 *	stream PROGRAM N STEP	the records that PROGRAM, a file, would print: its mark, and a value for each conversion
 *	stream - N STEP		the lines that --time since is to make of them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The value of an argument of printf(): \1 and \2 are the number and the time of the record. */
static const char *value_of(const char *argument, size_t n)
{
	static const struct {
		const char *word, *value;
	} known[] = {{"->id", "\1"}, {"nsecs", "\2"}, {"record_key", "42"}, {"comm", "soak"}};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (memmem(argument, n, known[i].word, strlen(known[i].word)))
			return known[i].value;
	return "1";
}

/* "@mark<1,%ld,...;%lu>" and its arguments -> the record with \1 and \2. */
static void make(const char *program, char *mark, char *record)
{
	const char *at = strstr(program, "<1,"), *form = at, *end = strstr(at, "\\n\", "),
		   *argument = end + 5;
	while (form[-1] != '"')
		form--;
	sprintf(mark, "%.*s<0;42>\n", (int)(at - form), form);
	for (; form < end; form++) {
		if (*form != '%') {
			*record++ = *form;
			continue;
		}
		form += form[1] == 'l' ? 2 : 1;
		size_t n = strcspn(argument, ",\n");
		record = stpcpy(record, value_of(argument, n));
		argument += n + 2;
	}
	strcpy(record, "\n");
}

static char *put(char *to, long number, int digits)
{
	char text[24], *p = text + sizeof(text);
	for (; number || digits > 0; number /= 10, digits--)
		*--p = (char)('0' + number % 10);
	memcpy(to, p, (size_t)(text + sizeof(text) - p));
	return to + (text + sizeof(text) - p);
}

int main(int argc, char **argv)
{
	static char program[1 << 20], record[4096] = "\3 hit \1 RUNNING\n", mark[64];
	static char out[1 << 16];
	if (argc == 2)
		return puts("bpftrace v0.24.0") < 0;
	long n = atol(argv[2]), step = atol(argv[3]);
	if (strcmp(argv[1], "-") != 0) {
		FILE *f = fopen(argv[1], "r");
		if (!f || !fread(program, 1, sizeof(program) - 1, f))
			return 1;
		make(program, mark, record);
		fputs("Attached 1 probe\n", stderr);
		fputs(mark, stdout);
	}
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	long start = t.tv_sec * 1000000000 + t.tv_nsec;
	for (long i = 0; i < n; i++) {
		char *p = out;
		for (const char *r = record; *r; r++) {
			long since = i * step;
			if (*r == '\1')
				p = put(p, i + 1, 1);
			else if (*r == '\2')
				p = put(p, start + since, 1);
			else if (*r == '\3')
				p = put(stpcpy(put(p, since / 1000000000, 1), "."),
					since % 1000000000, 9);
			else
				*p++ = *r;
		}
		fwrite(out, 1, (size_t)(p - out), stdout);
	}
	return fflush(stdout) != 0;
}
