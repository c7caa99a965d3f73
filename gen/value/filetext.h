/**
 * filetext - strings and functions in the files of the processes that a trace of several has events of.
 *
 * value/codename.h has the files of one process. Here each process is opened when a string of it is
 * first asked for, by the PID of its record. A PID is only a number: a process that was started after
 * the record is another one.
 *
 *	struct filetext *t = filetext_new(true);
 *	struct codename *names = filetext_names(t, record->pid, record->ns);
 *	filetext_free(t);
 */
#pragma once

#include "value/codename.h"

struct filetext;

/** @has_pids: records have PIDs as we know them; else nothing is known of any. */
struct filetext *filetext_new(bool has_pids);
/** NULL: the process that had the PID at @ns (CLOCK_BOOTTIME) cannot be looked at, or not any more. */
struct codename *filetext_names(struct filetext *t, int64_t pid, int64_t ns);
/** NULL is fine. */
void filetext_free(struct filetext *t);
