// The target: its state machine, its poll groups' threads, its transports.
#include "nvmf.h"
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

USDT_DOC(spdk, nvmf_tgt_state, "the target enters a state, before it does the work of that state");
USDT_DOC(spdk, nvmf_tgt_add_transport,
	 "a transport (TCP, RDMA...) was created and added to the target");
USDT_DOC(spdk, nvmf_tgt_pause_polling, "poll groups are told to stop polling");
USDT_DOC(spdk, nvmf_tgt_resume_polling, "poll groups are told to poll again");

#define DISCOVERY_NQN "nqn.2014-08.org.nvmexpress.discovery"

unsigned nvmf_delay_us = 300;

static enum nvmf_tgt_state g_tgt_state;
static struct spdk_nvmf_tgt *g_tgt;
static struct spdk_thread *g_tgt_thread;

static struct {
	struct spdk_thread **threads;
	uint32_t count, ready, next;
} groups;

static struct {
	op_done done;
	void *ctx;
	struct spdk_nvmf_subsystem *at; // the subsystem that is started or stopped
} op;

void nvmf_delay(void)
{
	struct timespec ts = {nvmf_delay_us / 1000000, nvmf_delay_us % 1000000 * 1000L};
	nanosleep(&ts, NULL);
}

struct spdk_nvmf_tgt *nvmf_tgt_get(void)
{
	return g_tgt;
}

struct spdk_nvmf_tgt *nvmf_tgt_find(const char *name)
{
	struct spdk_nvmf_tgt *tgt = g_tgt;
	while (tgt && name && strcmp(tgt->name, name))
		tgt = tgt->next;
	return tgt;
}

struct spdk_thread *nvmf_tgt_get_thread(void)
{
	return g_tgt_thread;
}

struct spdk_thread *nvmf_tgt_next_group(void)
{
	return groups.threads[groups.next++ % groups.count];
}

static void nvmf_tgt_advance_state(void);

static void enter(enum nvmf_tgt_state state)
{
	g_tgt_state = state;
	nvmf_tgt_advance_state();
}

static void finished(const char *error)
{
	op_done done = op.done;
	op.done = NULL;
	done(op.ctx, error);
}

/* start */

static struct spdk_nvmf_tgt *target_new(const char *name)
{
	struct spdk_nvmf_tgt *tgt = calloc(1, sizeof(*tgt));
	if (!tgt)
		abort();
	snprintf(tgt->name, sizeof(tgt->name), "%s", name);
	return tgt;
}

void nvmf_create_target(const char *name, op_done done, void *ctx)
{
	if (nvmf_tgt_find(name)) {
		done(ctx, "a target of that name exists");
		return;
	}
	struct spdk_nvmf_tgt *tgt = target_new(name);
	tgt->next = g_tgt->next;
	g_tgt->next = tgt;
	done(ctx, NULL);
}

static void create_target(void)
{
	g_tgt = target_new("nvmf_tgt");
	spdk_io_device_register(g_tgt, nvmf_poll_group_create_cb, nvmf_poll_group_destroy_cb,
				sizeof(struct spdk_nvmf_poll_group));
	struct spdk_nvmf_subsystem *discovery =
	    nvmf_subsystem_create(g_tgt, DISCOVERY_NQN, SPDK_NVMF_SUBTYPE_DISCOVERY_CURRENT);
	if (!discovery)
		abort();
	discovery->allow_any_host = true;
	enter(NVMF_TGT_INIT_CREATE_POLL_GROUPS);
}

static void nvmf_tgt_create_poll_group_done(void *arg)
{
	(void)arg;
	if (++groups.ready == groups.count)
		enter(NVMF_TGT_INIT_START_SUBSYSTEMS);
}

static void nvmf_tgt_create_poll_group(void *arg)
{
	(void)arg;
	spdk_get_io_channel(g_tgt);
	spdk_thread_send_msg(g_tgt_thread, nvmf_tgt_create_poll_group_done, NULL);
}

static void create_poll_groups(void)
{
	groups.count = reactor_count();
	groups.threads = calloc(groups.count, sizeof(*groups.threads));
	if (!groups.threads)
		abort();
	for (uint32_t i = 0; i < groups.count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "nvmf_tgt_poll_group_%03u", i);
		groups.threads[i] = spdk_thread_create(name, reactor_lcore(i));
		spdk_thread_send_msg(groups.threads[i], nvmf_tgt_create_poll_group, NULL);
	}
}

static void start_next_subsystem(void *ctx, const char *error)
{
	(void)ctx;
	if (error) {
		enter(NVMF_TGT_ERROR);
		return;
	}
	struct spdk_nvmf_subsystem *s = op.at;
	if (!s) {
		enter(NVMF_TGT_RUNNING);
		return;
	}
	op.at = s->next;
	nvmf_subsystem_set_state(s, SPDK_NVMF_SUBSYSTEM_ACTIVE, start_next_subsystem, NULL);
}

/* stop */

static void stop_next_subsystem(void *ctx, const char *error)
{
	(void)ctx;
	(void)error; // a subsystem that cannot stop now is destroyed later on all the same
	struct spdk_nvmf_subsystem *s = op.at;
	if (!s) {
		enter(NVMF_TGT_FINI_STOP_LISTEN);
		return;
	}
	op.at = s->next;
	nvmf_subsystem_set_state(s, SPDK_NVMF_SUBSYSTEM_INACTIVE, stop_next_subsystem, NULL);
}

static void destroy_next_subsystem(void *ctx, const char *error)
{
	(void)ctx;
	(void)error;
	struct spdk_nvmf_tgt *tgt = g_tgt;
	while (tgt->next && !tgt->subsystems)
		tgt = tgt->next;
	if (tgt->subsystems)
		nvmf_subsystem_destroy(tgt->subsystems, destroy_next_subsystem, NULL);
	else
		enter(NVMF_TGT_FINI_DESTROY_POLL_GROUPS);
}

static void nvmf_tgt_destroy_poll_group_done(void *arg)
{
	(void)arg;
	if (--groups.ready == 0)
		enter(NVMF_TGT_FINI_DESTROY_TARGET);
}

static void nvmf_tgt_poll_group_exit(void *arg)
{
	(void)arg;
	spdk_thread_exit(spdk_get_thread());
	spdk_thread_send_msg(g_tgt_thread, nvmf_tgt_destroy_poll_group_done, NULL);
}

static void nvmf_tgt_destroy_poll_group(void *arg)
{
	(void)arg;
	struct spdk_io_channel *ch = spdk_get_io_channel(g_tgt);
	nvmf_poll_group_destroy_qpairs(spdk_io_channel_get_ctx(ch));
	spdk_put_io_channel(ch);
	spdk_put_io_channel(ch); // the one of nvmf_tgt_create_poll_group
	// Behind the message that ends the channel.
	spdk_thread_send_msg(spdk_get_thread(), nvmf_tgt_poll_group_exit, NULL);
}

static void tgt_destroyed(void *io_device)
{
	struct spdk_nvmf_tgt *tgt = io_device;
	while (tgt->transports) {
		struct spdk_nvmf_transport *t = tgt->transports;
		tgt->transports = t->next;
		free(t);
	}
	while (tgt) {
		struct spdk_nvmf_tgt *next = tgt->next;
		free(tgt);
		tgt = next;
	}
	g_tgt = NULL;
	free(groups.threads);
	groups.threads = NULL;
	enter(NVMF_TGT_STOPPED);
}

// Fires the probe of the state that was entered, then does its work.
static void nvmf_tgt_advance_state(void)
{
	PROBE(nvmf_tgt_state, g_tgt_state);
	nvmf_delay();
	switch (g_tgt_state) {
	case NVMF_TGT_INIT_NONE:
		enter(NVMF_TGT_INIT_CREATE_TARGET);
		break;
	case NVMF_TGT_INIT_CREATE_TARGET:
		create_target();
		break;
	case NVMF_TGT_INIT_CREATE_POLL_GROUPS:
		create_poll_groups();
		break;
	case NVMF_TGT_INIT_START_SUBSYSTEMS:
		op.at = g_tgt->subsystems;
		start_next_subsystem(NULL, NULL);
		break;
	case NVMF_TGT_RUNNING:
		finished(NULL);
		break;
	case NVMF_TGT_FINI_STOP_SUBSYSTEMS:
		op.at = g_tgt->subsystems;
		stop_next_subsystem(NULL, NULL);
		break;
	case NVMF_TGT_FINI_STOP_LISTEN:
		enter(NVMF_TGT_FINI_DESTROY_SUBSYSTEMS);
		break;
	case NVMF_TGT_FINI_DESTROY_SUBSYSTEMS:
		destroy_next_subsystem(NULL, NULL);
		break;
	case NVMF_TGT_FINI_DESTROY_POLL_GROUPS:
		for (uint32_t i = 0; i < groups.count; i++)
			spdk_thread_send_msg(groups.threads[i], nvmf_tgt_destroy_poll_group, NULL);
		break;
	case NVMF_TGT_FINI_DESTROY_TARGET:
		spdk_io_device_unregister(g_tgt, tgt_destroyed);
		break;
	case NVMF_TGT_STOPPED:
		finished(NULL);
		break;
	case NVMF_TGT_ERROR:
		finished("the target cannot start");
		break;
	}
}

void nvmf_tgt_start(op_done done, void *ctx)
{
	g_tgt_thread = spdk_get_thread();
	op.done = done;
	op.ctx = ctx;
	enter(NVMF_TGT_INIT_NONE);
}

void nvmf_tgt_stop(op_done done, void *ctx)
{
	op.done = done;
	op.ctx = ctx;
	enter(NVMF_TGT_FINI_STOP_SUBSYSTEMS);
}

/* transports */

bool nvmf_parse_trtype(const char *name, enum spdk_nvme_transport_type *ret)
{
	static const struct {
		const char *name;
		enum spdk_nvme_transport_type type;
	} types[] = {
	    {"tcp", SPDK_NVME_TRANSPORT_TCP},
	    {"rdma", SPDK_NVME_TRANSPORT_RDMA},
	    {"fc", SPDK_NVME_TRANSPORT_FC},
	    {"vfiouser", SPDK_NVME_TRANSPORT_VFIOUSER},
	};
	for (size_t i = 0; name && i < sizeof(types) / sizeof(*types); i++) {
		if (!strcasecmp(name, types[i].name)) {
			*ret = types[i].type;
			return true;
		}
	}
	return false;
}

struct walk {
	struct spdk_nvmf_transport *transport;
	op_done done;
	void *ctx;
};

static struct walk *walk_new(struct spdk_nvmf_transport *transport, op_done done, void *ctx)
{
	struct walk *w = malloc(sizeof(*w));
	if (!w)
		abort();
	*w = (struct walk){transport, done, ctx};
	return w;
}

static void walk_done(struct spdk_io_channel_iter *i, int status)
{
	struct walk *w = spdk_io_channel_iter_get_ctx(i);
	w->done(w->ctx, status ? "a poll group failed" : NULL);
	free(w);
}

static void nvmf_tgt_add_transport_on_pg(struct spdk_io_channel_iter *i)
{
	struct walk *w = spdk_io_channel_iter_get_ctx(i);
	nvmf_transport_poll_group_create(w->transport);
	spdk_for_each_channel_continue(i, 0);
}

void nvmf_create_transport(const char *trtype, op_done done, void *ctx)
{
	enum spdk_nvme_transport_type type;
	if (!nvmf_parse_trtype(trtype, &type)) {
		done(ctx, "unknown transport: tcp, rdma, fc or vfiouser");
		return;
	}
	struct spdk_nvmf_transport **at = &g_tgt->transports;
	for (; *at; at = &(*at)->next) {
		if ((*at)->type == type) {
			done(ctx, "the transport exists");
			return;
		}
	}
	struct spdk_nvmf_transport *transport = calloc(1, sizeof(*transport));
	if (!transport)
		abort();
	transport->type = type;
	*at = transport;
	PROBE_TICKS(nvmf_tgt_add_transport, transport, g_tgt->name);
	spdk_for_each_channel(g_tgt, nvmf_tgt_add_transport_on_pg, walk_new(transport, done, ctx),
			      walk_done);
}

static void pause_on_pg(struct spdk_io_channel_iter *i)
{
	nvmf_poll_group_set_polling(spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i)),
				    false);
	spdk_for_each_channel_continue(i, 0);
}

static void resume_on_pg(struct spdk_io_channel_iter *i)
{
	nvmf_poll_group_set_polling(spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i)),
				    true);
	spdk_for_each_channel_continue(i, 0);
}

void nvmf_tgt_pause_polling(op_done done, void *ctx)
{
	SINCE(2301, PROBE_TICKS(nvmf_tgt_pause_polling, g_tgt, g_tgt->name));
	if (g_tgt->is_paused) {
		done(ctx, "polling is paused");
		return;
	}
	g_tgt->is_paused = true;
	spdk_for_each_channel(g_tgt, pause_on_pg, walk_new(NULL, done, ctx), walk_done);
}

void nvmf_tgt_resume_polling(op_done done, void *ctx)
{
	SINCE(2301, PROBE_TICKS(nvmf_tgt_resume_polling, g_tgt, g_tgt->name));
	if (!g_tgt->is_paused) {
		done(ctx, "polling is not paused");
		return;
	}
	g_tgt->is_paused = false;
	spdk_for_each_channel(g_tgt, resume_on_pg, walk_new(NULL, done, ctx), walk_done);
}
