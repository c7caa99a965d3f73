// Hosts that are connected: controllers, and queue pairs spread over the poll groups.
#include "nvmf.h"
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

USDT_DOC(spdk, nvmf_subsystem_add_ctrlr, "a host's controller is added to a subsystem");
USDT_DOC(spdk, nvmf_subsystem_remove_ctrlr, "a host's controller is removed from its subsystem");
USDT_DOC(spdk, nvmf_ctrlr_add_io_qpair, "a host connects a queue pair for I/O");
USDT_DOC(spdk, nvmf_ctrlr_add_qpair,
	 "a queue pair, for admin commands or I/O, belongs to a controller now");
USDT_DOC(spdk, nvmf_ctrlr_create, "a host connects: a controller is made for it");
USDT_DOC(spdk, nvmf_ctrlr_destruct, "a host is gone: its controller is destroyed");

#define QPAIRS_MAX 64

struct spdk_nvmf_ctrlr {
	struct spdk_nvmf_ctrlr *next; // of its subsystem's
	struct spdk_nvmf_subsystem *subsys;
	char hostnqn[NVMF_NAME_MAX];
	uint16_t cntlid;
	struct spdk_nvmf_qpair *qpairs[QPAIRS_MAX]; // by qid; 0 is the admin queue
	uint16_t n_qpairs;
};

/* connect: one queue pair after the other; each goes to a poll group, to the first thread, and back */

struct connect_op {
	struct spdk_nvmf_ctrlr *ctrlr;
	struct spdk_nvmf_qpair *qpair;
	unsigned want;
	op_done done;
	void *ctx;
};

static void connect_next(void *arg);

static void nvmf_ctrlr_add_qpair(void *arg)
{
	struct connect_op *op = arg;
	struct spdk_nvmf_ctrlr *ctrlr = op->ctrlr;
	struct spdk_nvmf_qpair *qpair = op->qpair;
	uint64_t thread_id = spdk_thread_get_id(spdk_get_thread());

	if (qpair->qid)
		PROBE_TICKS(nvmf_ctrlr_add_io_qpair, ctrlr, qpair, qpair->qid, thread_id);
	PROBE_TICKS(nvmf_ctrlr_add_qpair, qpair, qpair->qid, ctrlr->subsys->subnqn, ctrlr->hostnqn);
	spdk_thread_send_msg(nvmf_tgt_get_thread(), connect_next, op);
}

static void nvmf_subsystem_add_ctrlr(void *arg)
{
	struct connect_op *op = arg;
	struct spdk_nvmf_ctrlr *ctrlr = op->ctrlr;
	struct spdk_nvmf_subsystem *subsystem = ctrlr->subsys;

	ctrlr->cntlid = ++subsystem->last_cntlid;
	struct spdk_nvmf_ctrlr **at = &subsystem->ctrlrs;
	while (*at)
		at = &(*at)->next;
	*at = ctrlr;
	PROBE(nvmf_subsystem_add_ctrlr, subsystem->subnqn, ctrlr, ctrlr->hostnqn);
	spdk_thread_send_msg(op->qpair->thread, nvmf_ctrlr_add_qpair, op);
}

static void nvmf_ctrlr_create(struct connect_op *op)
{
	struct spdk_nvmf_ctrlr *ctrlr = op->ctrlr;

	uint64_t thread_id = spdk_thread_get_id(spdk_get_thread());
	PROBE_TICKS(nvmf_ctrlr_create, ctrlr, ctrlr->subsys->subnqn, thread_id);
	spdk_thread_send_msg(nvmf_tgt_get_thread(), nvmf_subsystem_add_ctrlr, op);
}

static void _nvmf_poll_group_add(void *arg)
{
	struct connect_op *op = arg;
	nvmf_poll_group_add(nvmf_poll_group_here(), op->qpair);
	if (op->qpair->qid)
		nvmf_ctrlr_add_qpair(op);
	else
		nvmf_ctrlr_create(op);
}

static void connect_next(void *arg)
{
	struct connect_op *op = arg;
	struct spdk_nvmf_ctrlr *ctrlr = op->ctrlr;

	if (ctrlr->n_qpairs == op->want) {
		op->done(op->ctx, NULL);
		free(op);
		return;
	}
	struct spdk_nvmf_qpair *qpair = calloc(1, sizeof(*qpair));
	if (!qpair)
		abort();
	qpair->ctrlr = ctrlr;
	qpair->qid = ctrlr->n_qpairs;
	qpair->thread = nvmf_tgt_next_group();
	ctrlr->qpairs[ctrlr->n_qpairs++] = qpair;
	op->qpair = qpair;
	spdk_thread_send_msg(qpair->thread, _nvmf_poll_group_add, op);
}

static bool may_connect(const struct spdk_nvmf_subsystem *s, const char *hostnqn)
{
	const struct nvmf_host *h = s->hosts;
	while (h && strcmp(h->nqn, hostnqn))
		h = h->next;
	return s->allow_any_host || h;
}

void nvmf_op_connect(const char *hostnqn, const char *subnqn, unsigned io_qpairs, op_done done,
		     void *ctx)
{
	struct spdk_nvmf_subsystem *s = nvmf_subsystem_find(subnqn);
	const char *error = NULL;
	if (!s)
		error = "no subsystem of that name";
	else if (strlen(hostnqn) >= NVMF_NAME_MAX)
		error = "the NQN is too long";
	else if (!may_connect(s, hostnqn))
		error = "the subsystem does not allow that host";
	else if (!s->listeners)
		error = "the subsystem has no listener";
	else if (io_qpairs + 1 > QPAIRS_MAX)
		error = "at most 63 queue pairs for I/O";
	if (error) {
		done(ctx, error);
		return;
	}
	struct connect_op *op = calloc(1, sizeof(*op));
	struct spdk_nvmf_ctrlr *ctrlr = calloc(1, sizeof(*ctrlr));
	if (!op || !ctrlr)
		abort();
	ctrlr->subsys = s;
	snprintf(ctrlr->hostnqn, sizeof(ctrlr->hostnqn), "%s", hostnqn);
	*op = (struct connect_op){.ctrlr = ctrlr, .want = io_qpairs + 1, .done = done, .ctx = ctx};
	connect_next(op);
}

/* disconnect: the queue pairs go in reverse, the admin queue last, then the controller */

struct disconnect_op {
	char hostnqn[NVMF_NAME_MAX];
	bool is_any_host;
	struct spdk_nvmf_subsystem *subsystem; // NULL: every one
	struct spdk_nvmf_ctrlr *ctrlr;
	op_done done;
	void *ctx;
};

static void disconnect_next(struct disconnect_op *op);

static void nvmf_subsystem_remove_ctrlr(void *arg)
{
	struct disconnect_op *op = arg;
	struct spdk_nvmf_ctrlr *ctrlr = op->ctrlr;
	struct spdk_nvmf_subsystem *subsystem = ctrlr->subsys;

	PROBE(nvmf_subsystem_remove_ctrlr, subsystem->subnqn, ctrlr, ctrlr->hostnqn);
	struct spdk_nvmf_ctrlr **at = &subsystem->ctrlrs;
	while (*at != ctrlr)
		at = &(*at)->next;
	*at = ctrlr->next;
	free(ctrlr);
	disconnect_next(op);
}

static void nvmf_ctrlr_destruct(struct disconnect_op *op)
{
	uint64_t thread_id = spdk_thread_get_id(spdk_get_thread());
	PROBE_TICKS(nvmf_ctrlr_destruct, op->ctrlr, thread_id);
	spdk_thread_send_msg(nvmf_tgt_get_thread(), nvmf_subsystem_remove_ctrlr, op);
}

static void disconnect_qpair(void *arg);

static void _nvmf_qpair_disconnect(void *arg)
{
	struct disconnect_op *op = arg;
	struct spdk_nvmf_ctrlr *ctrlr = op->ctrlr;

	nvmf_poll_group_remove(nvmf_poll_group_here(), ctrlr->qpairs[ctrlr->n_qpairs - 1]);
	if (--ctrlr->n_qpairs)
		spdk_thread_send_msg(nvmf_tgt_get_thread(), disconnect_qpair, op);
	else
		nvmf_ctrlr_destruct(op);
}

static void disconnect_qpair(void *arg)
{
	struct disconnect_op *op = arg;
	struct spdk_nvmf_qpair *qpair = op->ctrlr->qpairs[op->ctrlr->n_qpairs - 1];
	spdk_thread_send_msg(qpair->thread, _nvmf_qpair_disconnect, op);
}

static struct spdk_nvmf_ctrlr *find_ctrlr(const struct disconnect_op *op)
{
	struct spdk_nvmf_subsystem *s = nvmf_tgt_get()->subsystems;
	for (; s; s = s->next) {
		if (op->subsystem && op->subsystem != s)
			continue;
		for (struct spdk_nvmf_ctrlr *c = s->ctrlrs; c; c = c->next)
			if (op->is_any_host || !strcmp(c->hostnqn, op->hostnqn))
				return c;
	}
	return NULL;
}

static void disconnect_next(struct disconnect_op *op)
{
	op->ctrlr = find_ctrlr(op);
	if (op->ctrlr) {
		disconnect_qpair(op);
		return;
	}
	op->done(op->ctx, NULL);
	free(op);
}

void nvmf_disconnect(const char *hostnqn, struct spdk_nvmf_subsystem *subsystem, bool must_exist,
		     op_done done, void *ctx)
{
	struct disconnect_op *op = calloc(1, sizeof(*op));
	if (!op)
		abort();
	op->subsystem = subsystem;
	op->is_any_host = !hostnqn;
	snprintf(op->hostnqn, sizeof(op->hostnqn), "%s", hostnqn ? hostnqn : "");
	op->done = done;
	op->ctx = ctx;
	if (must_exist && !find_ctrlr(op)) {
		done(ctx, "no such host is connected");
		free(op);
		return;
	}
	disconnect_next(op);
}
