/**
 * The end at once. To detach a uprobe takes the kernel 20 to 90 ms, and bpftrace detaches one after the other before it
 * runs END and prints its maps: seconds for fifty probes. What another process has open, too, is not detached by its
 * close(). So btgen copies bpftrace's attachments when the trace is to end; a process of its own, btgen-detach in the
 * process list, keeps the copies until bpftrace has ended, and detaches them with its own end.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/**
 * Keeps the attachments of the bpftrace @pid, which goes on to run their programs until it has ended and some time
 * longer: nothing may come of that (GATE_CLOSED). False: some cannot be copied (no right to, no room for descriptors),
 * and are detached by bpftrace as ever.
 */
bool hold_attachments(pid_t pid);
