/**
 * relay - the output of bpftrace, sorted into data and messages.
 *
 * bpftrace before 0.24 prints "Attaching..." on stdout, and 0.23 also that it is attached: everything after
 * these is data (record/writer.h). Messages go to stderr (run/message.h).
 */
#pragma once

#include "run/message.h"

struct relay {
	struct messages messages; /**< what goes to stderr */
	bool stdout_has_messages; /**< bpftrace before 0.24 */
	bool seen_attaching;	  /**< "Attaching...", once, before any data */
	struct strbuf out;	  /**< data ready to be written by the owner, who clears it */
	struct strbuf out_line;	  /**< start of a line that may yet turn out to be a message */
	struct strbuf err_line;
	bool out_mid_line;	 /**< the start of the current data line has already gone */
	bool attached;		 /**< bpftrace has reported that all probes are */
	unsigned n_probes;	 /**< that bpftrace attaches, by its own count */
	bool holds_messages;	 /**< messages of bpftrace wait for relay_release() */
	struct strbuf held;	 /**< lines of stderr */
	unsigned long long lost; /**< events that bpftrace 0.24 and newer reported as lost */
};

void relay_init(struct relay *r, struct diag *d, const struct linemap *map,
		const char *program_name);
void relay_fini(struct relay *r);
/** Reports the messages that were held back; from now on none are. */
void relay_release(struct relay *r);
/** Takes bytes of bpftrace's stdout. */
void relay_stdout(struct relay *r, struct str bytes);
/** Nothing more comes for now: a line without an end is data if it cannot become a message. */
void relay_stdout_idle(struct relay *r);
/** Takes bytes of bpftrace's stderr. */
void relay_stderr(struct relay *r, struct str bytes);
/** Both streams have ended. */
void relay_end(struct relay *r);
