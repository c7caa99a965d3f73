// Controllers: what a host that connects gets. Its queue pairs are spread over the poll groups.
//
// The order of probes is that of SPDK's lib/nvmf/ctrlr.c and nvmf.c: a poll group takes the queue pair before its
// CONNECT command says which one it is; a controller belongs to the thread of its admin queue pair, which adds
// those for I/O as well; it leaves its subsystem when its last queue pair is gone, and is destroyed then.
#include "nvmf.h"
#include "probes.h"

#include <stdatomic.h>
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
	struct spdk_thread *thread;
	char hostnqn[NVMF_NAME_MAX];
	uint16_t cntlid;
	uint16_t n_qpairs;	     // touched by its thread
	struct nvmf_conn *last_conn; // of the queue pair that was the last one
};

static struct nvmf_conn *conns; // of the first thread

/* the host's end */

static struct nvmf_conn *find_conn(uint64_t id)
{
	struct nvmf_conn *c = conns;
	while (c && c->id != id)
		c = c->next;
	return c;
}

static void conn_end(struct nvmf_conn *conn, const char *error)
{
	struct nvmf_conn **at = &conns;
	while (*at != conn)
		at = &(*at)->next;
	*at = conn->next;
	conn->closed(conn, error);
	free(conn);
}

static void conn_closed(void *arg)
{
	struct nvmf_conn *conn = arg;
	conn_end(conn, conn->is_connected ? NULL : "the connection was lost");
}

static void nvmf_conn_closed(struct nvmf_conn *conn)
{
	spdk_thread_send_msg(nvmf_tgt_get_thread(), conn_closed, conn);
}

// The socket is closed, which the poll group sees.
static void close_qpair(void *arg)
{
	struct spdk_nvmf_qpair *q = nvmf_poll_group_here()->qpairs;
	while (q && q->conn->id != (uintptr_t)arg)
		q = q->next;
	if (q)
		spdk_nvmf_qpair_disconnect(q);
}

static void conn_close(void *arg)
{
	struct nvmf_conn *conn = find_conn((uintptr_t)arg);
	if (!conn || conn->is_closing)
		return;
	conn->is_closing = true;
	if (conn->is_connected) // else as soon as it is
		spdk_thread_send_msg(conn->thread, close_qpair, arg);
}

void nvmf_conn_close(uint64_t id)
{
	spdk_thread_send_msg(nvmf_tgt_get_thread(), conn_close, (void *)(uintptr_t)id);
}

static void conn_connected(void *arg)
{
	struct nvmf_conn *conn = arg;
	conn->is_connected = true;
	if (conn->is_closing)
		spdk_thread_send_msg(conn->thread, close_qpair, (void *)(uintptr_t)conn->id);
	else if (conn->connected)
		conn->connected(conn);
}

/* the target's end: a message to the thread that each step belongs to */

static void nvmf_ctrlr_send_connect_rsp(void *arg)
{
	struct spdk_nvmf_qpair *qpair = arg;
	if (qpair->ctrlr)
		spdk_thread_send_msg(nvmf_tgt_get_thread(), conn_connected, qpair->conn);
	else
		spdk_nvmf_qpair_disconnect(qpair);
	nvmf_qpair_connected(qpair);
}

static void nvmf_ctrlr_add_qpair(struct spdk_nvmf_ctrlr *ctrlr, struct spdk_nvmf_qpair *qpair)
{
	PROBE_TICKS(nvmf_ctrlr_add_qpair, qpair, qpair->qid, ctrlr->subsys->subnqn, ctrlr->hostnqn);
	ctrlr->n_qpairs++;
	spdk_thread_send_msg(qpair->thread, nvmf_ctrlr_send_connect_rsp, qpair);
}

static void nvmf_ctrlr_add_admin_qpair(void *arg)
{
	struct spdk_nvmf_qpair *qpair = arg;
	nvmf_ctrlr_add_qpair(qpair->ctrlr, qpair);
}

static void nvmf_subsystem_add_ctrlr(void *arg)
{
	struct spdk_nvmf_qpair *qpair = arg;
	struct spdk_nvmf_ctrlr *ctrlr = qpair->ctrlr;
	struct spdk_nvmf_subsystem *subsystem = ctrlr->subsys;

	ctrlr->cntlid = qpair->conn->cntlid = ++subsystem->last_cntlid;
	struct spdk_nvmf_ctrlr **at = &subsystem->ctrlrs;
	while (*at)
		at = &(*at)->next;
	*at = ctrlr;
	PROBE(nvmf_subsystem_add_ctrlr, subsystem->subnqn, ctrlr, ctrlr->hostnqn);
	spdk_thread_send_msg(ctrlr->thread, nvmf_ctrlr_add_admin_qpair, qpair);
}

static void nvmf_ctrlr_create(struct spdk_nvmf_qpair *qpair, struct spdk_nvmf_subsystem *subsystem)
{
	struct spdk_nvmf_ctrlr *ctrlr = calloc(1, sizeof(*ctrlr));
	if (!ctrlr)
		abort();
	uint64_t thread_id = spdk_thread_get_id(qpair->thread);
	PROBE_TICKS(nvmf_ctrlr_create, ctrlr, subsystem->subnqn, thread_id);
	ctrlr->subsys = subsystem;
	ctrlr->thread = qpair->thread;
	snprintf(ctrlr->hostnqn, sizeof(ctrlr->hostnqn), "%s", qpair->conn->hostnqn);
	qpair->ctrlr = ctrlr;
	spdk_thread_send_msg(nvmf_tgt_get_thread(), nvmf_subsystem_add_ctrlr, qpair);
}

static void nvmf_ctrlr_add_io_qpair(void *arg)
{
	struct spdk_nvmf_qpair *qpair = arg;
	struct spdk_nvmf_ctrlr *ctrlr = qpair->ctrlr;
	uint64_t thread_id = spdk_thread_get_id(ctrlr->thread);

	PROBE_TICKS(nvmf_ctrlr_add_io_qpair, ctrlr, qpair, qpair->qid, thread_id);
	// Its only request: nobody reads or writes here.
	UNTIL(2601, PROBE_TICKS(nvmf_request_io_exec_path, (struct spdk_nvmf_request *)qpair,
				qpair->conn->trid.traddr, qpair->conn->trid.trsvcid));
	if (ctrlr->n_qpairs) {
		nvmf_ctrlr_add_qpair(ctrlr, qpair);
	} else { // on its way out
		qpair->ctrlr = NULL;
		spdk_thread_send_msg(qpair->thread, nvmf_ctrlr_send_connect_rsp, qpair);
	}
}

// Finds the controller; on the first thread, which its subsystem belongs to.
static void nvmf_ctrlr_find(void *arg)
{
	struct spdk_nvmf_qpair *qpair = arg;
	struct spdk_nvmf_subsystem *subsystem = nvmf_subsystem_find(qpair->conn->subnqn);
	struct spdk_nvmf_ctrlr *ctrlr = subsystem ? subsystem->ctrlrs : NULL;
	while (ctrlr && ctrlr->cntlid != qpair->conn->cntlid)
		ctrlr = ctrlr->next;
	qpair->ctrlr = ctrlr;
	if (ctrlr)
		spdk_thread_send_msg(ctrlr->thread, nvmf_ctrlr_add_io_qpair, qpair);
	else
		spdk_thread_send_msg(qpair->thread, nvmf_ctrlr_send_connect_rsp, qpair);
}

struct new_qpair {
	struct spdk_nvmf_qpair *qpair;
	struct spdk_nvmf_subsystem *subsystem;
};

static void _nvmf_poll_group_add(void *arg)
{
	struct new_qpair n = *(struct new_qpair *)arg;
	struct spdk_nvmf_qpair *qpair = n.qpair;
	free(arg);
	nvmf_poll_group_add(nvmf_poll_group_here(), qpair);
	// The CONNECT command
	qpair->qid = qpair->conn->qid;
	if (qpair->qid)
		spdk_thread_send_msg(nvmf_tgt_get_thread(), nvmf_ctrlr_find, qpair);
	else
		nvmf_ctrlr_create(qpair, n.subsystem);
}

static bool is_allowed(const struct spdk_nvmf_subsystem *s, const char *hostnqn)
{
	const struct nvmf_host *h = s->hosts;
	while (h && strcmp(h->nqn, hostnqn))
		h = h->next;
	return s->allow_any_host || h;
}

static bool listens_at(const struct spdk_nvmf_subsystem *s,
		       const struct spdk_nvme_transport_id *trid)
{
	const struct nvmf_listener *l = s->listeners;
	while (l && (l->trid.trtype != trid->trtype || strcmp(l->trid.traddr, trid->traddr) ||
		     strcmp(l->trid.trsvcid, trid->trsvcid)))
		l = l->next;
	return l;
}

static void conn_open(void *arg)
{
	struct nvmf_conn *conn = arg;
	struct spdk_nvmf_subsystem *s = nvmf_subsystem_find(conn->subnqn);
	conn->next = conns;
	conns = conn;
	if (!s || !listens_at(s, &conn->trid) || s->destroyed) {
		conn_end(conn, "nobody of that name listens there");
		return;
	}
	if (!is_allowed(s, conn->hostnqn)) {
		conn_end(conn, "the subsystem does not allow that host");
		return;
	}
	struct spdk_nvmf_qpair *qpair = calloc(1, sizeof(*qpair));
	struct new_qpair *n = malloc(sizeof(*n));
	if (!qpair || !n)
		abort();
	qpair->conn = conn;
	qpair->thread = conn->thread = nvmf_tgt_next_group();
	*n = (struct new_qpair){qpair, s};
	spdk_thread_send_msg(qpair->thread, _nvmf_poll_group_add, n);
}

uint64_t nvmf_conn_open(const struct nvmf_conn *conn)
{
	static _Atomic uint64_t last_id;
	struct nvmf_conn *c = malloc(sizeof(*c));
	if (!c)
		abort();
	*c = *conn;
	uint64_t id = c->id = ++last_id;
	spdk_thread_send_msg(nvmf_tgt_get_thread(), conn_open, c);
	return id;
}

/* the end of a controller */

static void _nvmf_ctrlr_destruct(void *arg)
{
	struct spdk_nvmf_ctrlr *ctrlr = arg;
	uint64_t thread_id = spdk_thread_get_id(ctrlr->thread);
	UNTIL(2605, PROBE_TICKS(nvmf_ctrlr_destruct, ctrlr, ctrlr->subsys->subnqn, thread_id));
	SINCE(2609, PROBE_TICKS(nvmf_ctrlr_destruct, ctrlr, thread_id));
	nvmf_conn_closed(ctrlr->last_conn);
	free(ctrlr);
}

static void nvmf_ctrlr_destruct(void *arg)
{
	struct spdk_nvmf_ctrlr *ctrlr = arg;
	struct spdk_nvmf_subsystem *subsystem = ctrlr->subsys;

	PROBE(nvmf_subsystem_remove_ctrlr, subsystem->subnqn, ctrlr, ctrlr->hostnqn);
	struct spdk_nvmf_ctrlr **at = &subsystem->ctrlrs;
	while (*at != ctrlr)
		at = &(*at)->next;
	*at = ctrlr->next;
	spdk_thread_send_msg(ctrlr->thread, _nvmf_ctrlr_destruct, ctrlr);
	nvmf_subsystem_ctrlr_gone(subsystem);
}

static void _nvmf_ctrlr_free_from_qpair(void *arg)
{
	struct nvmf_conn *conn = arg;
	struct spdk_nvmf_ctrlr *ctrlr = conn->ctrlr;
	if (--ctrlr->n_qpairs) {
		nvmf_conn_closed(conn);
		return;
	}
	ctrlr->last_conn = conn;
	spdk_thread_send_msg(nvmf_tgt_get_thread(), nvmf_ctrlr_destruct, ctrlr);
}

void nvmf_qpair_fini_complete(struct spdk_nvmf_ctrlr *ctrlr, struct nvmf_conn *conn)
{
	conn->ctrlr = ctrlr;
	if (ctrlr)
		spdk_thread_send_msg(ctrlr->thread, _nvmf_ctrlr_free_from_qpair, conn);
	else
		nvmf_conn_closed(conn);
}

/* hosts of the commands `connect` and `disconnect` */

struct host {
	struct host *next;
	struct nvmf_conn proto;
	uint64_t ids[QPAIRS_MAX]; // 0: none, or lost
	unsigned n, want;
	op_done done; // the command under way
	void *ctx;
};

static struct host *hosts;

static void host_done(struct host *h, const char *error)
{
	op_done done = h->done;
	h->done = NULL;
	if (done)
		done(h->ctx, error);
}

static bool host_close_next(struct host *h)
{
	for (unsigned i = h->n; i-- > 0;) {
		if (h->ids[i]) {
			nvmf_conn_close(h->ids[i]);
			return true;
		}
	}
	return false;
}

static void host_closed(struct nvmf_conn *conn, const char *error)
{
	struct host *h = conn->ctx;
	bool is_any = false;
	h->ids[conn->qid] = 0;
	h->want = 0;
	for (unsigned i = 0; i < h->n; i++)
		is_any |= h->ids[i] != 0;
	if (is_any && h->done)
		host_close_next(h);
	if (is_any)
		return;
	struct host **at = &hosts;
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	host_done(h, error);
	free(h);
}

static void host_connected(struct nvmf_conn *conn)
{
	struct host *h = conn->ctx;
	h->proto.cntlid = conn->cntlid;
	if (h->n >= h->want) {
		host_done(h, NULL);
		return;
	}
	h->proto.qid = h->n;
	h->ids[h->n++] = nvmf_conn_open(&h->proto);
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
	else if (!s->listeners)
		error = "the subsystem has no listener";
	else if (io_qpairs + 1 > QPAIRS_MAX)
		error = "at most 63 queue pairs for I/O";
	if (error) {
		done(ctx, error);
		return;
	}
	struct host *h = calloc(1, sizeof(*h));
	if (!h)
		abort();
	h->proto = (struct nvmf_conn){.trid = s->listeners->trid,
				      .connected = host_connected,
				      .closed = host_closed,
				      .ctx = h};
	snprintf(h->proto.hostnqn, sizeof(h->proto.hostnqn), "%s", hostnqn);
	snprintf(h->proto.subnqn, sizeof(h->proto.subnqn), "%s", subnqn);
	h->want = io_qpairs + 1;
	h->done = done;
	h->ctx = ctx;
	h->next = hosts;
	hosts = h;
	h->ids[h->n++] = nvmf_conn_open(&h->proto);
}

void nvmf_op_disconnect(const char *hostnqn, const char *subnqn, op_done done, void *ctx)
{
	struct host *h = hosts;
	while (h &&
	       (strcmp(h->proto.hostnqn, hostnqn) || (subnqn && strcmp(h->proto.subnqn, subnqn))))
		h = h->next;
	if (!h) {
		done(ctx, "no such host is connected");
		return;
	}
	h->done = done;
	h->ctx = ctx;
	if (!host_close_next(h))
		host_done(h, NULL);
}
