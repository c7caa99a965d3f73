/**
 * records - events that a generated program prints as records, turned into lines or JSON.
 *
 * A record is START number SEP nsecs SEP pid SEP tid SEP comm SEP field ... END newline. Numbers
 * are decimal, signed, 64 bits; a string is two fields, its address and its bytes as they are. The
 * three markers hold a number that is chosen at random for each run, so that no string of a traced
 * program can contain one: quotes, newlines and control bytes in a string stay in their string, and
 * are escaped here. Enumerators get their names here too, which costs bpftrace nothing.
 *
 *	12:00:01.000123 reactor_0[42] spdk:nvmf_tgt_state state=NVMF_TGT_RUNNING
 *	{"time": "2026-01-31T12:00:01.000123+00:00", "ns": 1234, "pid": 42, "tid": 42, "comm": "reactor_0",
 *	 "probe": "spdk:nvmf_tgt_state", "args": {"state": "NVMF_TGT_RUNNING"}}
 *
 * In JSON (one object a line) an address is a string "0x...", a null pointer null, an enumerator
 * its name or the number of what has none, a function its name or its address, a string that is not
 * UTF-8 has U+FFFD in it; what bpftrace cannot read is left out. A string that is as long as
 * bpftrace can hold has more to it: `s="abc"...`, and in JSON its name is in "cut", beside "args".
 * Anything between records is passed on, in JSON as {"text": "..."}.
 *
 * The program counts the events of each probe in a map, which bpftrace prints at its end: what was
 * counted and has not come was lost. In JSON a last line says so: {"lost": {"spdk:nvmf_tgt_state":
 * 3}}.
 */
#ifndef MARKS_RECORDS_H
#define MARKS_RECORDS_H

#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "marks/codename.h"

enum record_kind {
	RECORD_SIGNED,
	RECORD_UNSIGNED,
	RECORD_HEX,
	RECORD_CODE, /**< the address of a function */
	RECORD_BOOL,
	RECORD_CHAR,
	RECORD_STRING, /**< two fields: address, bytes */
	RECORD_ENUM,
	RECORD_FLOAT,  /**< bits of a float */
	RECORD_DOUBLE, /**< bits of a double */
	RECORD_HIDDEN, /**< no field: it cannot be read */
};

struct record_enumerator {
	int64_t value;
	struct str name;
};

struct record_field {
	struct str name;
	enum record_kind kind;
	unsigned size; /**< bytes of the value; 0: not known */
	bool is_signed;
	bool is_pointer;		       /**< of RECORD_HEX: 0 is null */
	const struct record_enumerator *names; /**< of RECORD_ENUM */
	size_t n_names;
};

struct record_probe {
	struct str name; /**< "provider:name" */
	struct record_field *fields;
	size_t n_fields;
	uint64_t n_events; /**< decoded so far */
	uint64_t n_fired;  /**< as the program has counted, known at its end */
};

struct records {
	struct record_probe *probes;
	size_t n_probes;
	bool json;
	bool has_code;		/**< some field is RECORD_CODE */
	struct codename *names; /**< of the process; may be set after records_init(); NULL: none */
	char start[24], sep[24], end[24]; /**< made by records_init() */
	char counts[32];		  /**< likewise, of the map: a key is a probe's number */
	unsigned first_count;		  /**< what a count() begins with */
	bool is_counted;		  /**< the map has come */
	unsigned long long reported_lost; /**< by bpftrace before 0.24, in lines between records */
	size_t longest; /**< bytes of the longest string that bpftrace can hold; 0: not known */
	int64_t offset; /**< CLOCK_REALTIME - CLOCK_MONOTONIC in ns */
	struct strbuf pending; /**< what has come and is not decoded yet */
};

/** Chooses the markers. @probes lives as long as @r. */
void records_init(struct records *r, struct record_probe *probes, size_t n, bool json);
void records_fini(struct records *r);
/** Takes bytes of the program's output and adds what is complete to @out. */
void records_take(struct records *r, struct str bytes, struct strbuf *out);
/**
 * Events that the probes fired, those that came, and the difference, which is never less than 0.
 */
struct records_sum {
	uint64_t n_fired, n_events, n_lost;
};
struct records_sum records_sum(const struct records *r);
/** Nothing more comes: what is left is passed on as it is. */
void records_end(struct records *r, struct strbuf *out);

#endif
