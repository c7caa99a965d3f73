// The commands: named and used like those of SPDK's rpc.py, as far as they exist there.
#include "commands.h"
#include "nvmf.h"
#include "rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
	const char *name, *usage;
	int words; // that it needs after its name
	void (*run)(int argc, char **argv);
};

int command_split(char *line, char **argv)
{
	int argc = 0;
	char *save = NULL;
	for (char *w = strtok_r(line, " \t\r", &save); w && argc < COMMAND_ARGS_MAX - 1;
	     w = strtok_r(NULL, " \t\r", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	return argc;
}

// The word after @name, or NULL.
static const char *opt(int argc, char **argv, const char *name)
{
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], name))
			return argv[i + 1];
	return NULL;
}

static bool flag(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return false;
}

static uint32_t number(const char *s, uint32_t otherwise)
{
	return s ? (uint32_t)strtoul(s, NULL, 0) : otherwise;
}

static void create_transport(int argc, char **argv)
{
	nvmf_create_transport(opt(argc, argv, "-t"), rpc_done, NULL);
}

static void create_target(int argc, char **argv)
{
	(void)argc;
	nvmf_create_target(argv[1], rpc_done, NULL);
}

static void create_subsystem(int argc, char **argv)
{
	nvmf_op_create_subsystem(argv[1], opt(argc, argv, "-t"), opt(argc, argv, "-s"),
				 flag(argc, argv, "-a"), number(opt(argc, argv, "-m"), 0), rpc_done,
				 NULL);
}

static void delete_subsystem(int argc, char **argv)
{
	(void)argc;
	nvmf_op_delete_subsystem(argv[1], rpc_done, NULL);
}

static void add_listener(int argc, char **argv)
{
	nvmf_op_add_listener(argv[1], opt(argc, argv, "-t"), opt(argc, argv, "-a"),
			     opt(argc, argv, "-s"), rpc_done, NULL);
}

static void remove_listener(int argc, char **argv)
{
	nvmf_op_remove_listener(argv[1], opt(argc, argv, "-t"), opt(argc, argv, "-a"),
				opt(argc, argv, "-s"), rpc_done, NULL);
}

static void add_ns(int argc, char **argv)
{
	nvmf_op_add_ns(argv[1], argv[2], number(opt(argc, argv, "-n"), 0), rpc_done, NULL);
}

static void remove_ns(int argc, char **argv)
{
	(void)argc;
	nvmf_op_remove_ns(argv[1], number(argv[2], 0), rpc_done, NULL);
}

static void add_host(int argc, char **argv)
{
	(void)argc;
	nvmf_op_add_host(argv[1], argv[2], rpc_done, NULL);
}

static void remove_host(int argc, char **argv)
{
	(void)argc;
	nvmf_op_remove_host(argv[1], argv[2], rpc_done, NULL);
}

static void ns_add_host(int argc, char **argv)
{
	(void)argc;
	nvmf_op_ns_host(argv[1], number(argv[2], 0), argv[3], true, rpc_done, NULL);
}

static void ns_remove_host(int argc, char **argv)
{
	(void)argc;
	nvmf_op_ns_host(argv[1], number(argv[2], 0), argv[3], false, rpc_done, NULL);
}

static void pause_polling(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	nvmf_tgt_pause_polling(rpc_done, NULL);
}

static void resume_polling(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	nvmf_tgt_resume_polling(rpc_done, NULL);
}

static void connect_host(int argc, char **argv)
{
	nvmf_op_connect(argv[1], argv[2], number(opt(argc, argv, "-i"), 2), rpc_done, NULL);
}

static void disconnect_host(int argc, char **argv)
{
	nvmf_op_disconnect(argv[1], argc > 2 ? argv[2] : NULL, rpc_done, NULL);
}

static void null_create(int argc, char **argv)
{
	(void)argc;
	bdev_null_create(argv[1], number(argv[2], 0), number(argv[3], 0), rpc_done, NULL);
}

static void null_delete(int argc, char **argv)
{
	(void)argc;
	bdev_null_delete(argv[1], rpc_done, NULL);
}

static void nvme_attach(int argc, char **argv)
{
	struct nvme_path path = {opt(argc, argv, "-t"),		  opt(argc, argv, "-a"),
				 opt(argc, argv, "-s"),		  opt(argc, argv, "-n"),
				 opt(argc, argv, "-q"),		  number(opt(argc, argv, "-o"), 0),
				 number(opt(argc, argv, "-l"), 0)};
	const char *name = opt(argc, argv, "-b");
	if (!name || !path.trtype || !path.traddr || !path.subnqn || !path.hostnqn)
		rpc_done(NULL, "-b NAME, -t TYPE, -a ADDRESS, -n NQN and -q HOSTNQN are needed");
	else
		bdev_nvme_attach_controller(name, &path, rpc_done, NULL);
}

static void nvme_reset(int argc, char **argv)
{
	(void)argc;
	bdev_nvme_reset_controller(argv[1], rpc_done, NULL);
}

static void nvme_detach(int argc, char **argv)
{
	(void)argc;
	bdev_nvme_detach_controller(argv[1], rpc_done, NULL);
}

static void nvme_wait_deleted(int argc, char **argv)
{
	(void)argc;
	bdev_nvme_wait_deleted(argv[1], rpc_done, NULL);
}

static void balanced(void *ctx)
{
	rpc_done(ctx, NULL);
}

static void set_scheduler(int argc, char **argv)
{
	bool is_dynamic = !strcmp(argv[1], "dynamic");
	uint32_t period = number(opt(argc, argv, "-p"), is_dynamic ? 1000000 : 0);
	if (!is_dynamic && strcmp(argv[1], "static")) {
		rpc_done(NULL, "the schedulers are dynamic and static");
		return;
	}
	scheduler_set_period(period);
	if (!is_dynamic || period)
		rpc_done(NULL, NULL);
	else if (!scheduler_balance(balanced, NULL))
		rpc_done(NULL, "a round is under way");
}

static const struct command commands[] = {
    {"nvmf_create_transport", "-t tcp|rdma|fc|vfiouser", 2, create_transport},
    {"nvmf_create_target", "NAME", 1, create_target},
    {"nvmf_create_subsystem", "NQN [-t TARGET] [-a] [-s SERIAL] [-m NAMESPACES]", 1,
     create_subsystem},
    {"nvmf_delete_subsystem", "NQN", 1, delete_subsystem},
    {"nvmf_subsystem_add_listener", "NQN -t TYPE -a ADDRESS [-s SERVICE]", 1, add_listener},
    {"nvmf_subsystem_remove_listener", "NQN -t TYPE -a ADDRESS [-s SERVICE]", 1, remove_listener},
    {"nvmf_subsystem_add_ns", "NQN BDEV [-n NSID]", 2, add_ns},
    {"nvmf_subsystem_remove_ns", "NQN NSID", 2, remove_ns},
    {"nvmf_subsystem_add_host", "NQN HOSTNQN", 2, add_host},
    {"nvmf_subsystem_remove_host", "NQN HOSTNQN", 2, remove_host},
    {"nvmf_ns_add_host", "NQN NSID HOSTNQN", 3, ns_add_host},
    {"nvmf_ns_remove_host", "NQN NSID HOSTNQN", 3, ns_remove_host},
    {"nvmf_tgt_pause_polling", "", 0, pause_polling},
    {"nvmf_tgt_resume_polling", "", 0, resume_polling},
    {"connect", "HOSTNQN NQN [-i QUEUES]", 2, connect_host},
    {"disconnect", "HOSTNQN [NQN]", 1, disconnect_host},
    {"bdev_null_create", "NAME MIB BLOCKSIZE", 3, null_create},
    {"bdev_null_delete", "NAME", 1, null_delete},
    {"bdev_nvme_attach_controller",
     "-b NAME -t TYPE -a ADDRESS [-s SERVICE] -n NQN -q HOSTNQN [-l SECONDS] [-o SECONDS]", 2,
     nvme_attach},
    {"bdev_nvme_reset_controller", "NAME", 1, nvme_reset},
    {"bdev_nvme_detach_controller", "NAME", 1, nvme_detach},
    {"wait_deleted", "NAME  (a controller of bdev_nvme that will be given up)", 1,
     nvme_wait_deleted},
    {"framework_set_scheduler", "dynamic|static [-p MICROSECONDS]  (0: one round, now)", 1,
     set_scheduler},
};

#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static void help(int out)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		dprintf(out, "  %s %s\n", commands[i].name, commands[i].usage);
	dprintf(out, "  quit\n");
	rpc_done(NULL, NULL);
}

void command_run(int argc, char **argv, int out)
{
	if (!strcmp(argv[0], "help")) {
		help(out);
		return;
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (argc - 1 < commands[i].words) {
			char text[160];
			snprintf(text, sizeof(text), "usage: %s %s", commands[i].name,
				 commands[i].usage);
			rpc_done(NULL, text);
		} else {
			commands[i].run(argc, argv);
		}
		return;
	}
	rpc_done(NULL, "unknown command; try help");
}
