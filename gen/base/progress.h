/**
 * progress - a line on the terminal for what takes longer than a second: what, and for how long.
 *
 * There is one line, of this process. It goes when something else is said (base/diag.h); who prints a
 * result takes it away before. Where stderr is no terminal there is none.
 *
 *	for (i = 0; i < n; i++) {
 *		progress_step("reading debug information");
 *		...
 *	}
 *	progress_clear();
 */
#pragma once

/** @what, a literal, goes on. Costs some 30 ns. */
void progress_step(const char *what);
/** Takes the line away, until the next step. */
void progress_clear(void);
/** From now on there is none: -q. */
void progress_off(void);
