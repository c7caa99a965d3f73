/**
 * capture - one line of `bpftrace.sh -f json` (docs/records.md), its members as views of the line.
 *
 *	struct capture_line l;
 *	if (!capture_read(&clock, line, &l)) complain();
 *	else if (l.fields.n) ...
 */
#ifndef CONVERT_CAPTURE_H
#define CONVERT_CAPTURE_H

#include "base/str.h"

/** Lines of one second have the same date: it is read once. */
struct capture_clock {
	char date[32];	/**< 2026-01-31T12:00:01 and +01:00, of the line before */
	int64_t second; /**< since 1970, UTC */
};

/** What a line does not have is empty; values are JSON as it stands there. */
struct capture_line {
	bool has_time;
	int64_t ns;		/**< since 1970, UTC */
	int64_t pid, tid, cpu;	/**< 0 without */
	struct str comm, probe; /**< capture_words() of them */
	struct str text, fields;
	struct str map;	    /**< between its quotes, with the @ */
	struct str entries; /**< of the map */
	struct str lost;
	struct str capture; /**< how it was made: the first line */
};

/** False: it is no such line. A kind of line that is not known has no member at all. */
bool capture_read(struct capture_clock *clock, struct str line, struct capture_line *ret);

/** The `wall` of a capture's first line, as `ns`; false where there is none. */
bool capture_start(struct str capture, int64_t *ret);
/**
 * A value as people say it, escaped as in JSON but without quotes: a string, an enumerator's name, a
 * number. Empty for what is more than one thing.
 */
struct str capture_words(struct str value);

/** header.c: the first line of a capture, where, when and with what it was made (docs/records.md). */
struct header {
	struct str boot_id; /**< or empty */
	struct str program; /**< the name of the one that is traced, or empty */
	struct str script;  /**< its name, as the user has it; empty: none */
	struct str tracks;  /**< a JSON array, or empty */
	struct str skipped; /**< likewise: probes that are not traced */
	int64_t offset;	    /**< CLOCK_REALTIME - CLOCK_BOOTTIME in ns, with which times are made */
};

/** Adds the line. */
void header_write(const struct header *h, struct strbuf *out);

#endif
