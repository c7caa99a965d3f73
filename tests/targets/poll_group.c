// Poll groups: each core's own view of the subsystems, and the queue pairs it serves.
#include "nvmf.h"
#include "probes.h"

#include <stdlib.h>
#include <string.h>

USDT_DOC(spdk, nvmf_transport_poll_group_create, "a poll group gets its part of a transport");
USDT_DOC(spdk, nvmf_poll_group_remove_subsystem, "a subsystem is removed from a poll group");
USDT_DOC(spdk, nvmf_poll_group_add_subsystem, "a subsystem is added to a poll group");
USDT_DOC(spdk, nvmf_poll_group_add_qpair, "a poll group is given a queue pair of a new connection");
USDT_DOC(spdk, nvmf_transport_poll_group_add,
	 "the transport's part of the poll group takes the queue pair");
USDT_DOC(spdk, nvmf_qpair_disconnect, "a queue pair is about to be disconnected");
USDT_DOC(spdk, nvmf_poll_group_drain_qpair,
	 "a queue pair that is going waits for its last requests");
USDT_DOC(spdk, nvmf_poll_group_remove_qpair, "a queue pair leaves its poll group");
USDT_DOC(spdk, nvmf_transport_poll_group_remove,
	 "the transport's part of the poll group lets the queue pair go");
USDT_DOC(spdk, nvmf_transport_qpair_fini,
	 "the transport frees a queue pair: the pointer means nothing from here on");
USDT_DOC(spdk, nvmf_create_poll_group, "a thread gets its poll group");
USDT_DOC(spdk, nvmf_destroy_poll_group, "a poll group is destroyed");
USDT_DOC(spdk, nvmf_destroy_poll_group_qpairs,
	 "all queue pairs of a poll group are to be disconnected, because it is destroyed");

#define POLL_US 250000

static uint64_t here(void)
{
	return spdk_thread_get_id(spdk_get_thread());
}

struct spdk_nvmf_poll_group *nvmf_poll_group_here(void)
{
	// Every poll group's thread holds its channel; this takes and gives back one more reference.
	struct spdk_io_channel *ch = spdk_get_io_channel(nvmf_tgt_get());
	spdk_put_io_channel(ch);
	return spdk_io_channel_get_ctx(ch);
}

static int nvmf_poll_group_poll(void *arg)
{
	struct spdk_nvmf_poll_group *group = arg;
	return group->qpairs != NULL;
}

void nvmf_poll_group_set_polling(struct spdk_nvmf_poll_group *group, bool on)
{
	if (on && !group->poller)
		group->poller = spdk_poller_register(nvmf_poll_group_poll, group, POLL_US);
	else if (!on)
		spdk_poller_unregister(&group->poller);
}

void nvmf_transport_poll_group_create(struct spdk_nvmf_transport *transport)
{
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_transport_poll_group_create, transport, thread_id);
}

static struct nvmf_sgroup **find_sgroup(struct spdk_nvmf_poll_group *group,
					const struct spdk_nvmf_subsystem *subsystem)
{
	struct nvmf_sgroup **at = &group->sgroups;
	while (*at && (*at)->subsystem != subsystem)
		at = &(*at)->next;
	return at;
}

// A channel for every namespace that the subsystem has now, none for those that it lost.
static bool update_namespaces(struct nvmf_sgroup *sgroup)
{
	for (int i = 1; i <= NVMF_NS_MAX; i++) {
		struct spdk_nvmf_ns *ns = sgroup->subsystem->ns[i];
		struct spdk_io_channel **ch = &sgroup->ns_ch[i];
		if (ns && !*ch && !(*ch = spdk_get_io_channel(ns->bdev)))
			return false;
		if (!ns && *ch) {
			spdk_put_io_channel(*ch);
			*ch = NULL;
		}
	}
	return true;
}

// As in nvmf_poll_group_add_subsystem(): fires when all is done, the callback too.
void nvmf_poll_group_added_subsystem(struct spdk_nvmf_subsystem *subsystem)
{
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_poll_group_add_subsystem, thread_id, subsystem->subnqn);
}

static bool nvmf_poll_group_add_subsystem(struct spdk_nvmf_poll_group *group,
					  struct spdk_nvmf_subsystem *subsystem)
{
	struct nvmf_sgroup *sgroup = calloc(1, sizeof(*sgroup));
	if (!sgroup)
		return false;
	sgroup->subsystem = subsystem;
	sgroup->state = SPDK_NVMF_SUBSYSTEM_ACTIVE;
	*find_sgroup(group, subsystem) = sgroup;
	return update_namespaces(sgroup);
}

static bool is_match(const struct nvmf_qpair_filter *f, const struct spdk_nvmf_qpair *q)
{
	const struct spdk_nvme_transport_id *trid = &q->conn->trid;
	return (!f->subsystem || !strcmp(q->conn->subnqn, f->subsystem->subnqn)) &&
	       (!f->hostnqn || !strcmp(q->conn->hostnqn, f->hostnqn)) &&
	       (!f->trid ||
		(f->trid->trtype == trid->trtype && !strcmp(f->trid->traddr, trid->traddr) &&
		 !strcmp(f->trid->trsvcid, trid->trsvcid)));
}

static void disconnect_qpairs(struct spdk_nvmf_poll_group *group,
			      const struct nvmf_qpair_filter *filter)
{
	for (struct spdk_nvmf_qpair *q = group->qpairs, *next; q; q = next) {
		next = q->next;
		if (is_match(filter, q))
			spdk_nvmf_qpair_disconnect(q);
	}
}

static void nvmf_poll_group_remove_subsystem(struct spdk_nvmf_poll_group *group,
					     struct spdk_nvmf_subsystem *subsystem)
{
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_poll_group_remove_subsystem, group, thread_id, subsystem->subnqn);
	struct nvmf_sgroup **at = find_sgroup(group, subsystem), *sgroup = *at;
	if (!sgroup)
		return;
	struct nvmf_qpair_filter filter = {.subsystem = subsystem};
	disconnect_qpairs(group, &filter);
	*at = sgroup->next;
	for (int i = 1; i <= NVMF_NS_MAX; i++)
		if (sgroup->ns_ch[i])
			spdk_put_io_channel(sgroup->ns_ch[i]);
	free(sgroup);
}

bool nvmf_poll_group_set_state(struct spdk_nvmf_poll_group *group,
			       struct spdk_nvmf_subsystem *subsystem,
			       enum spdk_nvmf_subsystem_state state)
{
	struct nvmf_sgroup *sgroup = *find_sgroup(group, subsystem);

	switch (state) {
	case SPDK_NVMF_SUBSYSTEM_INACTIVE:
		nvmf_poll_group_remove_subsystem(group, subsystem);
		return true;
	case SPDK_NVMF_SUBSYSTEM_ACTIVE:
		if (!sgroup)
			return nvmf_poll_group_add_subsystem(group, subsystem);
		sgroup->state = state;
		return update_namespaces(sgroup);
	case SPDK_NVMF_SUBSYSTEM_PAUSED:
		if (!sgroup)
			return false;
		sgroup->state = state;
		return true;
	default:
		return false;
	}
}

/* queue pairs */

void nvmf_poll_group_add(struct spdk_nvmf_poll_group *group, struct spdk_nvmf_qpair *qpair)
{
	uint64_t thread_id = here();
	PROBE(nvmf_transport_poll_group_add, qpair, qpair->qid, thread_id);
	PROBE_TICKS(nvmf_poll_group_add_qpair, qpair, thread_id);
	qpair->is_connecting = true;
	qpair->next = group->qpairs;
	group->qpairs = qpair;
}

static void nvmf_transport_qpair_fini(struct spdk_nvmf_qpair *qpair)
{
	PROBE(nvmf_transport_qpair_fini, qpair);
	free(qpair);
}

// As in _nvmf_qpair_destroy(): out of the group, out of its transport's part, freed; then the controller is told.
static void nvmf_qpair_destroy(struct spdk_nvmf_qpair *qpair)
{
	struct spdk_nvmf_ctrlr *ctrlr = qpair->ctrlr;
	struct nvmf_conn *conn = qpair->conn;
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_poll_group_remove_qpair, qpair, thread_id);
	PROBE(nvmf_transport_poll_group_remove, qpair, qpair->qid, thread_id);
	struct spdk_nvmf_qpair **at = &nvmf_poll_group_here()->qpairs;
	while (*at != qpair)
		at = &(*at)->next;
	*at = qpair->next;
	nvmf_transport_qpair_fini(qpair);
	nvmf_qpair_fini_complete(ctrlr, conn);
}

void spdk_nvmf_qpair_disconnect(struct spdk_nvmf_qpair *qpair)
{
	if (qpair->is_disconnected)
		return;
	qpair->is_disconnected = true;
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_qpair_disconnect, qpair, thread_id);
	// Only one with requests under way is drained: CONNECT, or an admin queue's requests for events.
	if (qpair->is_connecting || !qpair->qid) {
		PROBE_TICKS(nvmf_poll_group_drain_qpair, qpair, thread_id);
		nvmf_delay();
	}
	if (!qpair->is_connecting)
		nvmf_qpair_destroy(qpair);
}

void nvmf_qpair_connected(struct spdk_nvmf_qpair *qpair)
{
	qpair->is_connecting = false;
	if (qpair->is_disconnected)
		nvmf_qpair_destroy(qpair);
}

struct disconnect_op {
	const struct nvmf_qpair_filter *filter;
	op_done done;
	void *ctx;
};

static void nvmf_disconnect_qpairs_on_pg(struct spdk_io_channel_iter *i)
{
	struct disconnect_op *op = spdk_io_channel_iter_get_ctx(i);
	disconnect_qpairs(spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i)), op->filter);
	spdk_for_each_channel_continue(i, 0);
}

static void nvmf_disconnect_qpairs_done(struct spdk_io_channel_iter *i, int status)
{
	struct disconnect_op *op = spdk_io_channel_iter_get_ctx(i);
	(void)status;
	op->done(op->ctx, NULL);
	free(op);
}

void nvmf_disconnect_qpairs(const struct nvmf_qpair_filter *filter, op_done done, void *ctx)
{
	struct disconnect_op *op = malloc(sizeof(*op));
	if (!op)
		abort();
	*op = (struct disconnect_op){filter, done, ctx};
	spdk_for_each_channel(nvmf_tgt_get(), nvmf_disconnect_qpairs_on_pg, op,
			      nvmf_disconnect_qpairs_done);
}

/* the group itself: it lives as long as its thread's channel to the target */

int nvmf_poll_group_create_cb(void *io_device, void *ctx)
{
	struct spdk_nvmf_poll_group *group = ctx;

	group->tgt = io_device;
	group->thread = spdk_get_thread();
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_create_poll_group, thread_id);
	for (struct spdk_nvmf_transport *t = group->tgt->transports; t; t = t->next)
		nvmf_transport_poll_group_create(t);
	for (struct spdk_nvmf_subsystem *s = group->tgt->subsystems; s; s = s->next) {
		nvmf_poll_group_add_subsystem(group, s);
		nvmf_poll_group_added_subsystem(s);
	}
	nvmf_poll_group_set_polling(group, true);
	return 0;
}

// Before the thread gives its channel back, which ends the group.
void nvmf_poll_group_destroy_qpairs(struct spdk_nvmf_poll_group *group)
{
	struct nvmf_qpair_filter all = {0};
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_destroy_poll_group_qpairs, thread_id);
	disconnect_qpairs(group, &all);
}

void nvmf_poll_group_destroy_cb(void *io_device, void *ctx)
{
	struct spdk_nvmf_poll_group *group = ctx;
	(void)io_device;

	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_destroy_poll_group, thread_id);
	nvmf_poll_group_set_polling(group, false);
	while (group->sgroups) {
		struct nvmf_sgroup *sgroup = group->sgroups;
		group->sgroups = sgroup->next;
		free(sgroup);
	}
}
