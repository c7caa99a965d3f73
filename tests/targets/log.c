// The record of what every probe was given: one line each, in the order they fired.
#include "probes.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool probe_log_on;
static FILE *log_file;

bool probe_log_open(const char *path)
{
	log_file = fopen(path, "we");
	if (!log_file)
		return false;
	setvbuf(log_file, NULL, _IOLBF, 0);
	probe_log_on = true;
	return true;
}

void probe_log_close(void)
{
	if (!log_file)
		return;
	probe_log_on = false;
	fclose(log_file);
	log_file = NULL;
}

void probe_log_write(const char *name, const struct log_arg *args, int n)
{
	flockfile(log_file);
	// The stamp is taken under the lock, so that the lines are in the order of their stamps.
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	fprintf(log_file, "%" PRIu64 "\t%ld\t%s", (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec,
		syscall(SYS_gettid), name);
	for (int i = 0; i < n; i++) {
		switch (args[i].kind) {
		case LOG_INT:
			fprintf(log_file, "\t%" PRId64, args[i].i);
			break;
		case LOG_UINT:
			fprintf(log_file, "\t%" PRIu64, args[i].u);
			break;
		case LOG_PTR:
			fprintf(log_file, "\t0x%" PRIxPTR, (uintptr_t)args[i].p);
			break;
		case LOG_STR:
			fprintf(log_file, "\t%s", args[i].s);
			break;
		}
	}
	putc('\n', log_file);
	funlockfile(log_file);
}
