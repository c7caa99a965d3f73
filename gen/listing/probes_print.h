/**
 * probes_print - lists of probes, for people and for programs.
 *
 * The text has a line for each probe: its declaration, then remarks. The long one (-v) adds its places and
 * operands. The JSON is one array of
 *
 *	{file, provider, name, semaphore, counter, doc, attachable, why_not,
 *	 args: [{name, type, from, size, signed, float, unit, doc, string_max, other_names, differs}],
 *	 sites: [{address, offset, semaphore, doubt, function, inlined_into, file, line,
 *		  args: [{name, type, from, size, signed, float, place, expression}]}]}
 *
 * Addresses are strings "0x...", and what is not there or not known is null.
 */
#pragma once

#include "probe/probeargs.h"

/** What is known about one probe beyond its notes. */
struct probes_extra {
	struct probeargs args;
	bool has_counter;
	unsigned counter;   /**< of the semaphore, in the process: how many tracers are attached */
	struct str why_not; /**< why the bpftrace at hand cannot attach; empty: it can */
	unsigned bpftrace;  /**< the version that was asked about; 0: none was, or none is here */
};

/** A file that was looked at. */
struct probes_file {
	struct str path;  /**< for people */
	unsigned machine; /**< EM_* */
	bool is_deleted;
	bool has_moved_code; /**< struct proc_file has it */
	struct sdt_list probes;
	struct binary bin;	    /**< open while the list is made */
	bool is_mapped;		    /**< by a process, `bias` is valid */
	uint64_t bias;		    /**< address in the process - link-time address */
	int pid;		    /**< of that process */
	struct probes_extra *extra; /**< one for each probe; NULL for the short list */
};

/** The line of @p in the short list, through @b, which is written when there is enough of it. */
void probes_print_line(FILE *out, struct strbuf *b, struct arena *scratch,
		       const struct sdt_probe *p, const struct probes_extra *x);
/** Everything, in words and as declarations; needs `extra`. */
void probes_print_verbose(FILE *out, const struct probes_file *files, size_t n_files);
void probes_print_json(FILE *out, const struct probes_file *files, size_t n_files);

/** As %#x, which is a third of the time of a long list. */
void probes_add_hex(struct strbuf *b, uint64_t v);
/** @text, printable, between @before and @after; nothing where it is empty. */
void probes_add_text(struct strbuf *b, const char *before, struct str text, const char *after);
/** "2 sites", "no sites" */
void probes_add_count(struct strbuf *b, size_t n, const char *what);
/** `app:state(int old, enum state new)`, printable */
void probes_add_signature(struct strbuf *b, struct arena *a, const struct sdt_probe *p,
			  const struct probeargs *pa);
/** The line above the probes of @f; after an empty one if it is not the @first. */
void probes_add_file(struct strbuf *b, const struct probes_file *f, bool first);
/** The same above @n of @what. */
void probes_add_heading(struct strbuf *b, struct str path, const char *what, size_t n, bool first);

/** lines_print.c, `bpftrace.sh -l WHO FILE:LINE[-LINE]`: the source lines that can be probed. */
struct source_lines {
	struct str text; /**< as it was given */
	struct str file;
	unsigned first, last;
};

/**
 * Prints those of @lines that have code in @bin, with their functions, @verbose: and addresses. Errors but
 * that @bin does not have the source file; then false.
 */
bool lines_print(struct arena *a, struct diag *d, struct binary *bin,
		 const struct source_lines *lines, bool verbose);
