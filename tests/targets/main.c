// nvmf_tgt: a program to trace, shaped like an SPDK target. Options, start and end.
#include "nvmf.h"
#include "probes.h"
#include "rpc.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
    "Usage: nvmf_tgt [OPTION]...\n"
    "\n"
    "  -m MASK            cores, as a bit mask [0x1]; 0xC: two, called 2 and 3 (they are not "
    "bound)\n"
    "  -t N               the cores 0 to N-1\n"
    "  -r PATH            commands come from a UNIX socket at PATH [stdin]\n"
    "  --wait             nothing starts before the line `start`\n"
    "  --log FILE         a line for every probe that fires, with the values it was given\n"
    "  --interrupt-mode   timers and descriptors fire their probes too\n"
    "  --delay USEC       what a step of a state change takes [300]\n"
    "  --second USEC      what a second takes of those that a command's option counts [10000]\n"
    "  -h, --help         this text\n"
    "\n"
    "Commands: `help` lists them. Each is answered by a line, `ok` or `error: ...`. End: `quit`.\n";

static int exit_code;

static void nvme_gone(void *ctx, const char *error)
{
	(void)error;
	bdev_fini();
	rpc_done(ctx, NULL);
	rpc_fini();
	scheduler_set_period(0);
	reactors_stop();
}

static void tgt_stopped(void *ctx, const char *error)
{
	(void)error;
	bdev_nvme_fini(nvme_gone, ctx);
}

void spdk_app_stop(void)
{
	bdev_nvme_stop();
	nvmf_tgt_stop(tgt_stopped, NULL);
}

static void tgt_started(void *ctx, const char *error)
{
	(void)ctx;
	if (error) {
		fprintf(stderr, "nvmf_tgt: %s\n", error);
		exit_code = 1;
		spdk_app_stop();
		return;
	}
	printf("nvmf_tgt: running, %u poll group%s\n", reactor_count(),
	       reactor_count() == 1 ? "" : "s");
	fflush(stdout);
	rpc_start();
}

static void app_start(void *ctx)
{
	bdev_init();
	nvmf_tgt_start(tgt_started, ctx);
}

static uint64_t parse_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	char *end;
	errno = 0;
	uint64_t v = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || v < min || v > max) {
		fprintf(stderr, "nvmf_tgt: %s: '%s' is not a number that fits\n", option, text);
		exit(2);
	}
	return v;
}

int main(int argc, char **argv)
{
	enum { OPT_WAIT = 256, OPT_LOG, OPT_INTERRUPT, OPT_DELAY, OPT_SECOND };
	static const struct option options[] = {
	    {"wait", no_argument, NULL, OPT_WAIT},
	    {"log", required_argument, NULL, OPT_LOG},
	    {"interrupt-mode", no_argument, NULL, OPT_INTERRUPT},
	    {"delay", required_argument, NULL, OPT_DELAY},
	    {"second", required_argument, NULL, OPT_SECOND},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	uint64_t mask = 1;
	const char *path = NULL, *log = NULL;
	bool wait = false, interrupt_mode = false;

	for (int c; (c = getopt_long(argc, argv, "m:t:r:h", options, NULL)) != -1;) {
		switch (c) {
		case 'm':
			mask = parse_number("-m", optarg, 1, UINT64_MAX);
			break;
		case 't':
			mask = UINT64_MAX >> (64 - parse_number("-t", optarg, 1, 64));
			break;
		case 'r':
			path = optarg;
			break;
		case OPT_WAIT:
			wait = true;
			break;
		case OPT_LOG:
			log = optarg;
			break;
		case OPT_INTERRUPT:
			interrupt_mode = true;
			break;
		case OPT_DELAY:
			nvmf_delay_us = (unsigned)parse_number("--delay", optarg, 0, 1000000);
			break;
		case OPT_SECOND:
			nvme_second_us = (unsigned)parse_number("--second", optarg, 1, 1000000);
			break;
		case 'h':
			fputs(usage_text, stdout);
			return 0;
		default:
			fputs("Try 'nvmf_tgt --help'.\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "nvmf_tgt: what is '%s'?\nTry 'nvmf_tgt --help'.\n", argv[optind]);
		return 2;
	}
	if (log && !probe_log_open(log)) {
		fprintf(stderr, "nvmf_tgt: %s: %s\n", log, strerror(errno));
		return 1;
	}
	if (!rpc_open(path)) {
		fprintf(stderr, "nvmf_tgt: %s: %s\n", path ? path : "stdin", strerror(errno));
		return 1;
	}
	if (wait && !rpc_wait_for_start()) {
		rpc_fini();
		probe_log_close();
		return 0;
	}
	if (!reactors_init(mask, interrupt_mode)) {
		perror("nvmf_tgt: reactors");
		return 1;
	}
	struct spdk_thread *app = spdk_thread_create("app_thread", reactor_lcore(0));
	spdk_thread_send_msg(app, app_start, NULL);
	if (!reactors_run()) {
		perror("nvmf_tgt: threads");
		return 1;
	}
	reactors_fini();
	probe_log_close();
	return exit_code;
}
