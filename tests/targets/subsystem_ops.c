// What the commands do to a subsystem: listeners, namespaces, hosts. Most are done while it is paused.
#include "nvmf.h"
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

USDT_DOC(spdk, nvmf_subsystem_add_ns, "a namespace was added to a subsystem");
USDT_DOC(spdk, nvmf_subsystem_add_listener, "a subsystem listens at an address");
USDT_DOC(spdk, nvmf_subsystem_remove_listener, "a subsystem no longer listens at an address");
USDT_DOC(spdk, spdk_nvmf_ns_add_host, "a namespace is made visible to a host");
USDT_DOC(spdk, spdk_nvmf_ns_remove_host, "a namespace is hidden from a host");
USDT_DOC(spdk, nvmf_subsystem_add_host, "a host is allowed to connect to a subsystem");
USDT_DOC(spdk, nvmf_subsystem_remove_host, "a host is no longer allowed to connect");

// One command: pause the subsystem, change it, resume it.
struct paused_op {
	struct spdk_nvmf_subsystem *subsystem;
	const char *(*change)(struct paused_op *op); // NULL, or what is wrong
	const char *error;
	op_done done;
	void *ctx;

	// what the change is about
	struct spdk_nvme_transport_id trid;
	struct nvmf_qpair_filter lost; // queue pairs to disconnect after it
	struct spdk_bdev *bdev;
	uint32_t nsid;
	char hostnqn[NVMF_NAME_MAX];
};

static void resumed(void *ctx, const char *error)
{
	struct paused_op *op = ctx;
	op->done(op->ctx, op->error ? op->error : error);
	free(op);
}

static void changed(void *ctx, const char *error)
{
	struct paused_op *op = ctx;
	(void)error;
	nvmf_subsystem_set_state(op->subsystem, SPDK_NVMF_SUBSYSTEM_ACTIVE, resumed, op);
}

static void paused(void *ctx, const char *error)
{
	struct paused_op *op = ctx;
	op->error = error ? error : op->change(op);
	if (op->lost.subsystem && !op->error)
		nvmf_disconnect_qpairs(&op->lost, changed, op);
	else
		changed(op, NULL);
}

static struct paused_op *op_new(const char *subnqn, op_done done, void *ctx)
{
	struct spdk_nvmf_subsystem *subsystem = nvmf_subsystem_find(subnqn);
	if (!subsystem) {
		done(ctx, "no subsystem of that name");
		return NULL;
	}
	struct paused_op *op = calloc(1, sizeof(*op));
	if (!op)
		abort();
	op->subsystem = subsystem;
	op->done = done;
	op->ctx = ctx;
	return op;
}

static void op_fail(struct paused_op *op, const char *error)
{
	op->done(op->ctx, error);
	free(op);
}

static void op_run(struct paused_op *op, const char *(*change)(struct paused_op *))
{
	op->change = change;
	spdk_nvmf_subsystem_pause(op->subsystem, op->nsid, paused, op);
}

static bool is_nqn(const char *name)
{
	return !strncmp(name, "nqn.", 4) && strlen(name) < NVMF_NAME_MAX;
}

/* create and delete */

TRACED int spdk_nvmf_subsystem_set_allow_any_host(struct spdk_nvmf_subsystem *subsystem,
						  bool allow_any_host);
int spdk_nvmf_subsystem_set_allow_any_host(struct spdk_nvmf_subsystem *subsystem,
					   bool allow_any_host)
{
	PROBE_LOG("subsystem_set_allow_any_host()", log_str(subsystem->subnqn),
		  log_uint(allow_any_host));
	subsystem->allow_any_host = allow_any_host;
	return 0;
}

void nvmf_op_create_subsystem(const char *subnqn, const char *tgt, const char *sn, bool any_host,
			      uint32_t max_ns, op_done done, void *ctx)
{
	if (!nvmf_tgt_find(tgt)) {
		done(ctx, "no target of that name");
		return;
	}
	if (!is_nqn(subnqn)) {
		done(ctx, "an NQN starts with nqn. and has at most 223 characters");
		return;
	}
	if (max_ns > NVMF_NS_MAX) {
		done(ctx, "at most 32 namespaces");
		return;
	}
	struct spdk_nvmf_subsystem *s =
	    nvmf_subsystem_create(nvmf_tgt_find(tgt), subnqn, SPDK_NVMF_SUBTYPE_NVME);
	if (!s) {
		done(ctx, "a subsystem of that name exists");
		return;
	}
	snprintf(s->sn, sizeof(s->sn), "%s", sn ? sn : "00000000000000000000");
	spdk_nvmf_subsystem_set_allow_any_host(s, any_host);
	s->max_nsid = max_ns ? max_ns : NVMF_NS_MAX;
	nvmf_subsystem_set_state(s, SPDK_NVMF_SUBSYSTEM_ACTIVE, done, ctx);
}

static void destroyed(void *ctx, const char *error)
{
	op_fail(ctx, error);
}

static void stopped(void *ctx, const char *error)
{
	struct paused_op *op = ctx;
	if (error)
		op_fail(op, error);
	else
		nvmf_subsystem_destroy(op->subsystem, destroyed, op);
}

void nvmf_op_delete_subsystem(const char *subnqn, op_done done, void *ctx)
{
	struct paused_op *op = op_new(subnqn, done, ctx);
	if (!op)
		return;
	if (op->subsystem->subtype != SPDK_NVMF_SUBTYPE_NVME)
		op_fail(op, "the discovery subsystem stays");
	else
		nvmf_subsystem_set_state(op->subsystem, SPDK_NVMF_SUBSYSTEM_INACTIVE, stopped, op);
}

/* listeners */

static bool parse_trid(struct spdk_nvme_transport_id *trid, const char *trtype, const char *traddr,
		       const char *trsvcid)
{
	return nvmf_parse_trtype(trtype, &trid->trtype) && traddr &&
	       snprintf(trid->traddr, sizeof(trid->traddr), "%s", traddr) <
		   (int)sizeof(trid->traddr) &&
	       snprintf(trid->trsvcid, sizeof(trid->trsvcid), "%s", trsvcid ? trsvcid : "4420") <
		   (int)sizeof(trid->trsvcid);
}

static struct nvmf_listener **find_listener(struct spdk_nvmf_subsystem *s,
					    const struct spdk_nvme_transport_id *trid)
{
	struct nvmf_listener **at = &s->listeners;
	while (*at &&
	       ((*at)->trid.trtype != trid->trtype || strcmp((*at)->trid.traddr, trid->traddr) ||
		strcmp((*at)->trid.trsvcid, trid->trsvcid)))
		at = &(*at)->next;
	return at;
}

static const char *add_listener(struct paused_op *op)
{
	struct spdk_nvmf_subsystem *subsystem = op->subsystem;
	struct nvmf_listener **at = find_listener(subsystem, &op->trid);
	if (*at)
		return "the listener exists";
	struct nvmf_listener *l = calloc(1, sizeof(*l));
	if (!l)
		abort();
	l->trid = op->trid;
	*at = l;
	struct spdk_nvme_transport_id *trid = &l->trid;
	PROBE(nvmf_subsystem_add_listener, subsystem->subnqn, trid->trtype, trid->traddr,
	      trid->trsvcid);
	return NULL;
}

static const char *remove_listener(struct paused_op *op)
{
	struct spdk_nvmf_subsystem *subsystem = op->subsystem;
	struct nvmf_listener **at = find_listener(subsystem, &op->trid), *l = *at;
	if (!l)
		return "no such listener";
	struct spdk_nvme_transport_id *trid = &l->trid;
	PROBE(nvmf_subsystem_remove_listener, subsystem->subnqn, trid->trtype, trid->traddr,
	      trid->trsvcid);
	*at = l->next;
	free(l);
	op->lost = (struct nvmf_qpair_filter){.subsystem = subsystem, .trid = &op->trid};
	return NULL;
}

static void listener_op(const char *subnqn, const char *trtype, const char *traddr,
			const char *trsvcid, const char *(*change)(struct paused_op *),
			op_done done, void *ctx)
{
	struct paused_op *op = op_new(subnqn, done, ctx);
	if (!op)
		return;
	if (!parse_trid(&op->trid, trtype, traddr, trsvcid)) {
		op_fail(op, "-t tcp|rdma|fc|vfiouser, -a ADDRESS and -s SERVICE are needed");
		return;
	}
	struct spdk_nvmf_transport *t = nvmf_tgt_get()->transports;
	while (t && t->type != op->trid.trtype)
		t = t->next;
	if (!t)
		op_fail(op, "no such transport: nvmf_create_transport comes first");
	else
		op_run(op, change);
}

void nvmf_op_add_listener(const char *subnqn, const char *trtype, const char *traddr,
			  const char *trsvcid, op_done done, void *ctx)
{
	listener_op(subnqn, trtype, traddr, trsvcid, add_listener, done, ctx);
}

void nvmf_op_remove_listener(const char *subnqn, const char *trtype, const char *traddr,
			     const char *trsvcid, op_done done, void *ctx)
{
	listener_op(subnqn, trtype, traddr, trsvcid, remove_listener, done, ctx);
}

/* namespaces */

static const char *add_ns(struct paused_op *op)
{
	struct spdk_nvmf_subsystem *subsystem = op->subsystem;
	uint32_t nsid = op->nsid;

	for (uint32_t i = 1; !nsid && i <= subsystem->max_nsid; i++)
		if (!subsystem->ns[i])
			nsid = i;
	if (!nsid || nsid > subsystem->max_nsid || subsystem->ns[nsid])
		return "no room for the namespace";
	struct spdk_nvmf_ns *ns = calloc(1, sizeof(*ns));
	if (!ns)
		abort();
	ns->nsid = nsid;
	ns->bdev = op->bdev;
	ns->bdev->uses++;
	subsystem->ns[nsid] = ns;
	PROBE(nvmf_subsystem_add_ns, subsystem->subnqn, ns->nsid);
	return NULL;
}

void nvmf_op_add_ns(const char *subnqn, const char *bdev, uint32_t nsid, op_done done, void *ctx)
{
	struct paused_op *op = op_new(subnqn, done, ctx);
	if (!op)
		return;
	op->bdev = bdev_get_by_name(bdev);
	op->nsid = nsid;
	if (!op->bdev)
		op_fail(op, "no bdev of that name");
	else
		op_run(op, add_ns);
}

static struct spdk_nvmf_ns *find_ns(struct paused_op *op)
{
	return op->nsid && op->nsid <= NVMF_NS_MAX ? op->subsystem->ns[op->nsid] : NULL;
}

TRACED int spdk_nvmf_subsystem_remove_ns(struct spdk_nvmf_subsystem *subsystem, uint32_t nsid);
int spdk_nvmf_subsystem_remove_ns(struct spdk_nvmf_subsystem *subsystem, uint32_t nsid)
{
	struct spdk_nvmf_ns *ns = nsid && nsid <= NVMF_NS_MAX ? subsystem->ns[nsid] : NULL;
	PROBE_LOG("subsystem_remove_ns()", log_str(subsystem->subnqn), log_uint(nsid));
	if (!ns)
		return -1;
	subsystem->ns[nsid] = NULL;
	ns->bdev->uses--;
	while (ns->hosts) {
		struct nvmf_host *h = ns->hosts;
		ns->hosts = h->next;
		free(h);
	}
	free(ns);
	return 0;
}

static const char *remove_ns(struct paused_op *op)
{
	return spdk_nvmf_subsystem_remove_ns(op->subsystem, op->nsid) ? "no such namespace" : NULL;
}

void nvmf_op_remove_ns(const char *subnqn, uint32_t nsid, op_done done, void *ctx)
{
	struct paused_op *op = op_new(subnqn, done, ctx);
	if (!op)
		return;
	op->nsid = nsid;
	// As if the subsystem was busy the first time.
	UNTIL(2605, PROBE(nvmf_ns_change, op->nsid, op->subsystem->subnqn));
	op_run(op, remove_ns);
}

/* hosts: no pause is needed to let one in or keep it out, but a namespace is changed while paused */

static struct nvmf_host **find_host(struct nvmf_host **hosts, const char *nqn)
{
	while (*hosts && strcmp((*hosts)->nqn, nqn))
		hosts = &(*hosts)->next;
	return hosts;
}

static struct nvmf_host *host_new(const char *nqn)
{
	struct nvmf_host *h = calloc(1, sizeof(*h));
	if (!h)
		abort();
	snprintf(h->nqn, sizeof(h->nqn), "%s", nqn);
	return h;
}

void nvmf_op_add_host(const char *subnqn, const char *hostnqn, op_done done, void *ctx)
{
	struct spdk_nvmf_subsystem *subsystem = nvmf_subsystem_find(subnqn);
	if (!subsystem || !is_nqn(hostnqn)) {
		done(ctx, subsystem ? "that is no NQN" : "no subsystem of that name");
		return;
	}
	struct nvmf_host **at = find_host(&subsystem->hosts, hostnqn);
	if (*at) {
		done(ctx, "the host is allowed already");
		return;
	}
	struct nvmf_host *host = *at = host_new(hostnqn);
	PROBE(nvmf_subsystem_add_host, subsystem->subnqn, host->nqn);
	done(ctx, NULL);
}

static void disconnected(void *ctx, const char *error)
{
	op_fail(ctx, error);
}

void nvmf_op_remove_host(const char *subnqn, const char *hostnqn, op_done done, void *ctx)
{
	struct spdk_nvmf_subsystem *subsystem = nvmf_subsystem_find(subnqn);
	struct nvmf_host **at = subsystem ? find_host(&subsystem->hosts, hostnqn) : NULL;
	if (!at || !*at) {
		done(ctx, subsystem ? "no host of that name" : "no subsystem of that name");
		return;
	}
	struct nvmf_host *host = *at;
	*at = host->next;
	PROBE(nvmf_subsystem_remove_host, subsystem->subnqn, host->nqn);
	free(host);
	struct paused_op *op = op_new(subnqn, done, ctx);
	snprintf(op->hostnqn, sizeof(op->hostnqn), "%s", hostnqn);
	op->lost = (struct nvmf_qpair_filter){.subsystem = subsystem, .hostnqn = op->hostnqn};
	nvmf_disconnect_qpairs(&op->lost, disconnected, op);
}

static const char *ns_add_host(struct paused_op *op)
{
	const char *hostnqn = op->hostnqn;
	uint32_t flags = 0;
	SINCE(2405, PROBE(spdk_nvmf_ns_add_host, op->subsystem->subnqn, op->nsid, hostnqn, flags));
	struct spdk_nvmf_ns *ns = find_ns(op);
	if (!ns)
		return "no such namespace";
	struct nvmf_host **at = find_host(&ns->hosts, hostnqn);
	if (!*at)
		*at = host_new(hostnqn);
	return NULL;
}

static const char *ns_remove_host(struct paused_op *op)
{
	const char *hostnqn = op->hostnqn;
	uint32_t flags = 0;
	SINCE(2405,
	      PROBE(spdk_nvmf_ns_remove_host, op->subsystem->subnqn, op->nsid, hostnqn, flags));
	struct spdk_nvmf_ns *ns = find_ns(op);
	if (!ns)
		return "no such namespace";
	struct nvmf_host **at = find_host(&ns->hosts, hostnqn), *host = *at;
	if (host) {
		*at = host->next;
		free(host);
	}
	return NULL;
}

void nvmf_op_ns_host(const char *subnqn, uint32_t nsid, const char *hostnqn, bool add, op_done done,
		     void *ctx)
{
	if (!is_nqn(hostnqn)) {
		done(ctx, "that is no NQN");
		return;
	}
	struct paused_op *op = op_new(subnqn, done, ctx);
	if (!op)
		return;
	op->nsid = nsid;
	snprintf(op->hostnqn, sizeof(op->hostnqn), "%s", hostnqn);
	op_run(op, add ? ns_add_host : ns_remove_host);
}
