#include "base/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/** Delay before it is shown, interval, and a pause after which a new step begins. */
enum { PATIENCE_MS = 1000, REFRESH_MS = 200, PAUSE_MS = 500 };

static struct {
	const char *what;
	unsigned long since, last,
	    shown; /**< in ms: first step, last step, what is on the screen */
	bool is_off, is_shown;
} line;

void progress_step(const char *what)
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
	fprintf(stderr, "\r\033[Kbtgen: %s: %lu s", what, (now - line.since) / 1000);
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
