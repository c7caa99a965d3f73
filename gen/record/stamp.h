/**
 * stamp - times of events as text: of the wall, since the machine was started, since the first event.
 *
 *	struct stamp s = {.offset = CLOCK_REALTIME - CLOCK_BOOTTIME in ns};
 *	stamp_wall(&s, ns, 9, out);	// 12:00:01.000123456
 *	stamp_rfc3339(&s, ns, out);	// 2026-01-31T12:00:01.000123456+01:00
 *	stamp_seconds(ns, 9, out);	// 4711.000123456
 */
#pragma once

#include "base/str.h"

struct stamp {
	int64_t offset; /**< CLOCK_REALTIME - CLOCK_BOOTTIME in ns */
	int64_t second; /**< that `text` and `zone` are of; 0: of none */
	char text[24];	/**< 2026-01-31T12:00:01, local time */
	char zone[8];	/**< +01:00 */
};

/** @ns of CLOCK_BOOTTIME as local time, with @digits of the second's fraction: 6 or 9. */
void stamp_wall(struct stamp *s, int64_t ns, unsigned digits, struct strbuf *out);
/** The same with date and zone, and 9 digits. */
void stamp_rfc3339(struct stamp *s, int64_t ns, struct strbuf *out);
enum { STAMP_SECOND = 1000000000 };
/** @ns, which may be negative, as seconds. */
void stamp_seconds(int64_t ns, unsigned digits, struct strbuf *out);
/** As few digits as it has. */
void stamp_signed(int64_t value, struct strbuf *out);
/** @value with zeros in front so that there are at least @digits. Of a million lines a second each has some. */
void stamp_number(uint64_t value, unsigned digits, struct strbuf *out);
