// A subsystem: its life, and the changes of its state, which every poll group takes part in.
#include "nvmf.h"
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

USDT_DOC(spdk, nvmf_subsystem_create, "a subsystem is created");
USDT_DOC(spdk, nvmf_subsystem_destroy, "a subsystem is destroyed");
USDT_DOC(spdk, nvmf_subsystem_change_state,
	 "a change of a subsystem's state begins; poll groups are told next");
USDT_DOC(spdk, nvmf_subsystem_change_state_done,
	 "all poll groups are done, or one failed, and the subsystem has its new state");
USDT_DOC(spdk, nvmf_pg_change_state, "a poll group begins its part of a change of state");
USDT_DOC(spdk, nvmf_pg_change_state_done, "a poll group is done with its part");

struct spdk_nvmf_subsystem *nvmf_subsystem_find(const char *subnqn)
{
	struct spdk_nvmf_subsystem *s = nvmf_tgt_get()->subsystems;
	while (s && strcmp(s->subnqn, subnqn))
		s = s->next;
	return s;
}

struct spdk_nvmf_subsystem *nvmf_subsystem_create(struct spdk_nvmf_tgt *tgt, const char *subnqn,
						  enum spdk_nvmf_subtype subtype)
{
	struct spdk_nvmf_subsystem **at = &tgt->subsystems;
	for (; *at; at = &(*at)->next)
		if (!strcmp((*at)->subnqn, subnqn))
			return NULL;
	struct spdk_nvmf_subsystem *subsystem = calloc(1, sizeof(*subsystem));
	if (!subsystem)
		abort();
	snprintf(subsystem->subnqn, sizeof(subsystem->subnqn), "%s", subnqn);
	subsystem->tgt = tgt;
	subsystem->subtype = subtype;
	subsystem->max_nsid = NVMF_NS_MAX;
	*at = subsystem;
	PROBE(nvmf_subsystem_create, subsystem->subnqn);
	return subsystem;
}

static void free_hosts(struct nvmf_host **hosts)
{
	while (*hosts) {
		struct nvmf_host *h = *hosts;
		*hosts = h->next;
		free(h);
	}
}

void nvmf_subsystem_ctrlr_gone(struct spdk_nvmf_subsystem *subsystem)
{
	op_done done = subsystem->destroyed;
	void *ctx = subsystem->destroyed_ctx;
	if (!done || subsystem->ctrlrs)
		return;
	struct spdk_nvmf_subsystem **at = &subsystem->tgt->subsystems;
	while (*at != subsystem)
		at = &(*at)->next;
	*at = subsystem->next;

	// No probe tells of the listeners and hosts that go with their subsystem.
	while (subsystem->listeners) {
		struct nvmf_listener *l = subsystem->listeners;
		subsystem->listeners = l->next;
		free(l);
	}
	free_hosts(&subsystem->hosts);
	for (int i = 1; i <= NVMF_NS_MAX; i++) {
		struct spdk_nvmf_ns *ns = subsystem->ns[i];
		if (!ns)
			continue;
		ns->bdev->uses--;
		free_hosts(&ns->hosts);
		free(ns);
	}
	free(subsystem);
	done(ctx, NULL);
}

void nvmf_subsystem_destroy(struct spdk_nvmf_subsystem *subsystem, op_done done, void *ctx)
{
	PROBE(nvmf_subsystem_destroy, subsystem->subnqn);
	subsystem->destroyed = done;
	subsystem->destroyed_ctx = ctx;
	nvmf_subsystem_ctrlr_gone(subsystem);
}

/* changes of state */

struct subsystem_state_change_ctx {
	struct spdk_nvmf_subsystem *subsystem;
	enum spdk_nvmf_subsystem_state requested_state, original_state;
	op_done done;
	void *ctx;
};

static void subsystem_state_change_done(struct spdk_io_channel_iter *i, int status)
{
	struct subsystem_state_change_ctx *ctx = spdk_io_channel_iter_get_ctx(i);
	struct spdk_nvmf_subsystem *subsystem = ctx->subsystem;

	nvmf_delay();
	subsystem->state = status ? ctx->original_state : ctx->requested_state;
	PROBE(nvmf_subsystem_change_state_done, subsystem->subnqn, ctx->requested_state,
	      ctx->original_state, status);
	ctx->done(ctx->ctx, status ? "a poll group refused the change of state" : NULL);
	free(ctx);
}

static void subsystem_state_change_continue(struct spdk_io_channel_iter *i, int status)
{
	struct subsystem_state_change_ctx *ctx = spdk_io_channel_iter_get_ctx(i);
	uint64_t thread_id = spdk_thread_get_id(spdk_get_thread());

	PROBE(nvmf_pg_change_state_done, ctx->subsystem->subnqn, ctx->requested_state, thread_id);
	spdk_for_each_channel_continue(i, status);
}

static void subsystem_state_change_on_pg(struct spdk_io_channel_iter *i)
{
	struct subsystem_state_change_ctx *ctx = spdk_io_channel_iter_get_ctx(i);
	struct spdk_nvmf_poll_group *group =
	    spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i));
	uint64_t thread_id = spdk_thread_get_id(spdk_get_thread());

	PROBE(nvmf_pg_change_state, ctx->subsystem->subnqn, ctx->requested_state, thread_id);
	nvmf_delay();
	struct spdk_nvmf_subsystem *subsystem = ctx->subsystem;
	bool is_new = subsystem->state == SPDK_NVMF_SUBSYSTEM_ACTIVATING;
	bool good = nvmf_poll_group_set_state(group, subsystem, ctx->requested_state);
	subsystem_state_change_continue(i, good ? 0 : -22);
	if (is_new)
		nvmf_poll_group_added_subsystem(subsystem);
}

// The state on the way from @from to @to.
static enum spdk_nvmf_subsystem_state transition(enum spdk_nvmf_subsystem_state from,
						 enum spdk_nvmf_subsystem_state to)
{
	switch (to) {
	case SPDK_NVMF_SUBSYSTEM_INACTIVE:
		return SPDK_NVMF_SUBSYSTEM_DEACTIVATING;
	case SPDK_NVMF_SUBSYSTEM_ACTIVE:
		return from == SPDK_NVMF_SUBSYSTEM_PAUSED ? SPDK_NVMF_SUBSYSTEM_RESUMING
							  : SPDK_NVMF_SUBSYSTEM_ACTIVATING;
	case SPDK_NVMF_SUBSYSTEM_PAUSED:
		return SPDK_NVMF_SUBSYSTEM_PAUSING;
	default:
		return SPDK_NVMF_SUBSYSTEM_NUM_STATES;
	}
}

void nvmf_subsystem_set_state(struct spdk_nvmf_subsystem *subsystem,
			      enum spdk_nvmf_subsystem_state requested_state, op_done done,
			      void *arg)
{
	PROBE(nvmf_subsystem_change_state, subsystem->subnqn, requested_state, subsystem->state);
	if (subsystem->state == requested_state) {
		done(arg, NULL);
		return;
	}
	struct subsystem_state_change_ctx *ctx = malloc(sizeof(*ctx));
	if (!ctx)
		abort();
	*ctx = (struct subsystem_state_change_ctx){subsystem, requested_state, subsystem->state,
						   done, arg};
	subsystem->state = transition(subsystem->state, requested_state);
	nvmf_delay();
	spdk_for_each_channel(subsystem->tgt, subsystem_state_change_on_pg, ctx,
			      subsystem_state_change_done);
}

void spdk_nvmf_subsystem_pause(struct spdk_nvmf_subsystem *subsystem, uint32_t nsid, op_done cb_fn,
			       void *cb_arg)
{
	PROBE_LOG("subsystem_pause()", log_str(subsystem->subnqn), log_uint(nsid));
	nvmf_subsystem_set_state(subsystem, SPDK_NVMF_SUBSYSTEM_PAUSED, cb_fn, cb_arg);
}
