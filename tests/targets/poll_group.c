// Poll groups: each core's own view of the subsystems, and the queue pairs it serves.
#include "nvmf.h"
#include "probes.h"

#include <stdlib.h>

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

static bool nvmf_poll_group_add_subsystem(struct spdk_nvmf_poll_group *group,
					  struct spdk_nvmf_subsystem *subsystem)
{
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_poll_group_add_subsystem, thread_id, subsystem->subnqn);
	struct nvmf_sgroup *sgroup = calloc(1, sizeof(*sgroup));
	if (!sgroup)
		return false;
	sgroup->subsystem = subsystem;
	sgroup->state = SPDK_NVMF_SUBSYSTEM_ACTIVE;
	*find_sgroup(group, subsystem) = sgroup;
	return update_namespaces(sgroup);
}

static void nvmf_poll_group_remove_subsystem(struct spdk_nvmf_poll_group *group,
					     struct spdk_nvmf_subsystem *subsystem)
{
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_poll_group_remove_subsystem, group, thread_id, subsystem->subnqn);
	struct nvmf_sgroup **at = find_sgroup(group, subsystem), *sgroup = *at;
	if (!sgroup)
		return;
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
	PROBE_TICKS(nvmf_poll_group_add_qpair, qpair, thread_id);
	PROBE(nvmf_transport_poll_group_add, qpair, qpair->qid, thread_id);
	qpair->next = group->qpairs;
	group->qpairs = qpair;
}

static void nvmf_transport_qpair_fini(struct spdk_nvmf_qpair *qpair)
{
	PROBE(nvmf_transport_qpair_fini, qpair);
	free(qpair);
}

void nvmf_poll_group_remove(struct spdk_nvmf_poll_group *group, struct spdk_nvmf_qpair *qpair)
{
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_qpair_disconnect, qpair, thread_id);
	PROBE_TICKS(nvmf_poll_group_drain_qpair, qpair, thread_id);
	nvmf_delay(); // requests that are still under way would end now
	PROBE_TICKS(nvmf_poll_group_remove_qpair, qpair, thread_id);
	PROBE(nvmf_transport_poll_group_remove, qpair, qpair->qid, thread_id);
	for (struct spdk_nvmf_qpair **at = &group->qpairs; *at; at = &(*at)->next) {
		if (*at == qpair) {
			*at = qpair->next;
			break;
		}
	}
	nvmf_transport_qpair_fini(qpair);
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
	nvmf_poll_group_set_polling(group, true);
	return 0;
}

static void nvmf_tgt_destroy_poll_group_qpairs(struct spdk_nvmf_poll_group *group)
{
	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_destroy_poll_group_qpairs, thread_id);
	while (group->qpairs)
		nvmf_poll_group_remove(group, group->qpairs);
}

void nvmf_poll_group_destroy_cb(void *io_device, void *ctx)
{
	struct spdk_nvmf_poll_group *group = ctx;
	(void)io_device;

	uint64_t thread_id = here();
	PROBE_TICKS(nvmf_destroy_poll_group, thread_id);
	nvmf_tgt_destroy_poll_group_qpairs(group);
	nvmf_poll_group_set_polling(group, false);
	while (group->sgroups) {
		struct nvmf_sgroup *sgroup = group->sgroups;
		group->sgroups = sgroup->next;
		free(sgroup);
	}
}
