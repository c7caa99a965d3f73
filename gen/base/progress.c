#include "base/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/** What is not shown before, how often it is, and a pause behind which something else begins. */
enum { PATIENCE_MS = 1000, REFRESH_MS = 200, PAUSE_MS = 500 };

static struct {
	const char *what;
	unsigned long since, last,
	    shown; /**< ms: its first step, the last one, and what is on the screen */
	bool is_off, is_shown;
} line;

void progress_step(const char *what, uint64_t done, uint64_t total)
{
	if (line.is_off)
		return;
	unsigned long now = clock_ms();
	if (!line.what || strcmp(what, line.what) != 0 || now > line.last + PAUSE_MS) {
		line.is_off |= !isatty(STDERR_FILENO);
		line.what = what;
		line.since = now;
	}
	line.last = now;
	if (now < line.since + PATIENCE_MS || now < line.shown + REFRESH_MS)
		return;
	if (total)
		fprintf(stderr, "\r\033[Kbtgen: %s: %u %%", what,
			(unsigned)((double)done * 100 / (double)total));
	else
		fprintf(stderr, "\r\033[Kbtgen: %s: %lu s", what, (now - line.since) / 1000);
	fflush(stderr);
	line.shown = now;
	line.is_shown = true;
}

void progress_clear(void)
{
	if (line.is_shown)
		fputs("\r\033[K", stderr);
	line.is_shown = false;
}

void progress_off(void)
{
	progress_clear();
	line.is_off = true;
}
