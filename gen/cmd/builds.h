/**
 * builds - which processes are traced: those that were given, by the program that they run.
 *
 * A name can be that of several programs, and of several builds of one: a file that was replaced while
 * older processes go on, or each container's own. Each build has its own types, so each is expanded by
 * itself, and traced by a bpftrace of its own.
 *
 *	struct builds b = {.arena = a, .diag = d, .bpftrace = bt, .options = o};
 *	builds_sort(&b, o);
 *	builds_skip_without_probes(&b, o);
 *	if (builds_expand(&b)) ...b.list.v[0].x...
 */
#pragma once

#include "cmd/run_options.h"

/** The processes of one build. */
struct build {
	struct run_options options; /**< for these */
	struct expansion x;
	struct output_share share;
	const char *note; /**< for the message that it is attached to */
};

struct builds {
	struct arena *arena;
	struct diag *diag;
	const struct bpftrace *bpftrace;
	const struct run_options *options; /**< for all of them */
	VEC(struct build) list;
};

/** The processes of @o, by the file that they run. */
void builds_sort(struct builds *b, struct run_options *o);
/** They are one program of which several builds run. */
bool builds_are_one_program(struct builds *b);
/**
 * Warns that the processes @pids of one program are not what a name means: they are @fate, "not traced", as
 * their program @why, "has none of the probes".
 */
void builds_report_left(struct diag *d, struct arena *a, const int *pids, size_t n,
			const char *fate, const char *why);
/**
 * Of those that were found by a name, which anybody can take, the ones without the probes are not meant, if
 * there are others; and each gets the patterns of -t that it has.
 */
void builds_skip_without_probes(struct builds *b, struct run_options *o);
/** Each build's program; an error in the script is reported once, not for each. */
bool builds_expand(struct builds *b);
/** Sets the headings that distinguish the builds in the output, which they write to @share. */
void builds_set_headings(struct builds *b, const struct output_share *share);

/** The build-id of the program, in @a; empty where it has none. */
struct str build_id_of(struct arena *a, struct expansion *x);
/** Its first bytes, in hex. */
const char *build_short_id(struct arena *a, struct expansion *x);
/** What goes before the lines of a build, as tail has it for several files. @id: its, in hex */
struct str build_heading(struct arena *a, const struct run_options *o, struct expansion *x,
			 const char *id);

/** cmd_probes.c: what `bpftrace.sh -l` lists, as `btgen probes` does; the kind of each probe is in front of it. */
struct probes_request {
	word_list files, processes; /**< paths; PIDs and names */
	word_list patterns;
	const char *bpftrace; /**< that would attach, or NULL */
	bool verbose, json;
};
/** The exit status. */
int probes_list(struct arena *a, struct diag *d, const struct probes_request *request);
