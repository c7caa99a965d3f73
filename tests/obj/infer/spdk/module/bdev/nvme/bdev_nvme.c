/* Probes as SPDK writes them, and one of a user's own. For each byte of its input a controller is reset, and a line has what
 * reset_complete() was given. */
#include <stdio.h>

#include "spdk/nvme.h"
#include "spdk/env.h"
#include "spdk_internal/usdt.h"

#define KEEP __attribute__((noinline))
#define CTRLR_NAME(ctrlr) ((ctrlr)->nbdev_ctrlr->name)
#define QPAIR_MAX 4

struct spdk_thread {
	uint64_t id;
};

struct spdk_nvme_qpair {
	uint16_t qid;
};

struct nvme_bdev_ctrlr {
	char *name;
	struct nvme_bdev_ctrlr *next;
};

struct nvme_path_id {
	struct spdk_nvme_transport_id trid;
	uint64_t last_failed_tsc;
};

enum nvme_reset_state { NVME_RESET_NONE, NVME_RESET_RUNNING, NVME_RESET_DONE };

struct nvme_ctrlr {
	int ref;
	enum nvme_reset_state state;
	struct nvme_bdev_ctrlr *nbdev_ctrlr;
	struct nvme_path_id *active_path_id;
	struct spdk_thread *thread;
	struct spdk_nvme_qpair qpairs[QPAIR_MAX];
	unsigned short n_qpairs;
	bool destruct;
};

typedef void (*msg_fn)(void *ctx);

volatile int sink;

uint64_t spdk_get_ticks(void)
{
	return (uint64_t)sink;
}

KEEP uint64_t spdk_thread_get_id(const struct spdk_thread *thread)
{
	return thread->id;
}

KEEP uint16_t spdk_nvme_qpair_get_id(struct spdk_nvme_qpair *qpair)
{
	return qpair->qid;
}

KEEP static void create_qpair(struct nvme_ctrlr *nvme_ctrlr, struct spdk_nvme_qpair *qpair)
{
	SPDK_DTRACE_PROBE3(bdev_nvme_create_qpair, nvme_ctrlr->nbdev_ctrlr->name,
			   spdk_nvme_qpair_get_id(qpair),
			   spdk_thread_get_id(nvme_ctrlr->thread));
	SPDK_DTRACE_PROBE2_TICKS(bdev_nvme_add_qpair, qpair, spdk_thread_get_id(nvme_ctrlr->thread));
	SPDK_DTRACE_PROBE3(bdev_nvme_first_qpair, nvme_ctrlr->qpairs, &nvme_ctrlr->qpairs[1], nvme_ctrlr->qpairs[0].qid);
	sink += qpair->qid + nvme_ctrlr->n_qpairs;
}

KEEP static void reset_complete(struct nvme_ctrlr *nvme_ctrlr, bool success)
{
	SPDK_DTRACE_PROBE4(bdev_nvme_ctrlr_reset_done, nvme_ctrlr->nbdev_ctrlr->name, success,
			   &nvme_ctrlr->active_path_id->trid, nvme_ctrlr->ref);
	SPDK_DTRACE_PROBE3(bdev_nvme_path, nvme_ctrlr->active_path_id->trid.trtype, nvme_ctrlr->active_path_id->trid.traddr,
			   nvme_ctrlr->active_path_id->trid.trsvcid);
	printf("%s success=%s trsvcid=%s ref=%d state=%d\n", nvme_ctrlr->nbdev_ctrlr->name, success ? "true" : "false",
	       nvme_ctrlr->active_path_id->trid.trsvcid, nvme_ctrlr->ref, nvme_ctrlr->state);
}

KEEP static void change_state(struct nvme_ctrlr *nvme_ctrlr, enum nvme_reset_state requested)
{
	enum nvme_reset_state before = nvme_ctrlr->state;

	SPDK_DTRACE_PROBE3(bdev_nvme_change_state, CTRLR_NAME(nvme_ctrlr), requested, before);
	nvme_ctrlr->state = requested;
	SPDK_DTRACE_PROBE3_TICKS(bdev_nvme_change_state_done, CTRLR_NAME(nvme_ctrlr), nvme_ctrlr->state,
				 spdk_thread_get_id(nvme_ctrlr->thread));
	sink += before;
}

KEEP static void release(struct nvme_ctrlr *nvme_ctrlr)
{
	int rc = --nvme_ctrlr->ref;

	SPDK_DTRACE_PROBE2(bdev_nvme_ctrlr_release, nvme_ctrlr->nbdev_ctrlr->name, nvme_ctrlr->ref);
	if (rc <= 0) {
		SPDK_DTRACE_PROBE1(bdev_nvme_ctrlr_delete, nvme_ctrlr->nbdev_ctrlr->name);
		SPDK_DTRACE_PROBE2(bdev_nvme_ctrlr_last, nvme_ctrlr, nvme_ctrlr->destruct);
	}
	sink += rc;
}

KEEP static void exec(msg_fn fn, void *ctx)
{
	SPDK_DTRACE_PROBE2(msg_exec, fn, ctx);
	fn(ctx);
}

static void poll(void *ctx)
{
	struct nvme_ctrlr *nvme_ctrlr = ctx;
	const char *name = nvme_ctrlr->nbdev_ctrlr->name;

	SPDK_DTRACE_PROBE_TICKS(bdev_nvme_poll_start);
	SPDK_DTRACE_PROBE1_TICKS(bdev_nvme_poll, name);
	SPDK_DTRACE_PROBE(bdev_nvme_poll_end);
	sink += *name;
}

int main(void)
{
	struct spdk_thread thread = {7};
	struct nvme_bdev_ctrlr name = {"Nvme0", NULL};
	struct nvme_path_id path = {{"TCP", SPDK_NVME_TRANSPORT_TCP, "127.0.0.1", "4420"}, 0};
	struct nvme_ctrlr ctrlr = {.ref = 3, .nbdev_ctrlr = &name, .active_path_id = &path, .thread = &thread, .n_qpairs = 1};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; getchar() != EOF; i++) {
		create_qpair(&ctrlr, &ctrlr.qpairs[i % QPAIR_MAX]);
		change_state(&ctrlr, i % 2 ? NVME_RESET_DONE : NVME_RESET_RUNNING);
		reset_complete(&ctrlr, i % 2);
		exec(poll, &ctrlr);
		ctrlr.ref += 2;
		release(&ctrlr);
	}
	return 0;
}
