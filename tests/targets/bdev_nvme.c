// NVMe controllers that are connected to, and their disks as block devices: attach, reset, loss, detach.
//
// What fires when, and what is held, is that of SPDK's module/bdev/nvme/bdev_nvme.c; its functions have their names
// here. The other end is the target of this same program (ctrlr.c). A reset, a namespace and a channel each hold a
// reference. Seconds are as long as --second says, and only waits count as time gone by, so that a slow machine
// makes no other number of attempts.
#include "nvmf.h"
#include "probes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

USDT_DOC(spdk, bdev_nvme_create_qpair, "a thread connects a queue pair to an NVMe controller");
USDT_DOC(spdk, bdev_nvme_ctrlr_reconnect,
	 "an attempt to connect to an NVMe controller again begins");
USDT_DOC(spdk, bdev_nvme_ctrlr_reconnect_delay,
	 "the wait after a failed attempt is over, the next one follows");
USDT_DOC(spdk, bdev_nvme_ctrlr_release, "something lets go of an NVMe controller");
USDT_DOC(spdk, bdev_nvme_ctrlr_delete, "an NVMe controller is deleted: nothing holds it any more");
USDT_DOC(spdk, bdev_nvme_ctrlr_reset, "a reset of an NVMe controller has ended its queue pairs");
USDT_DOC(spdk, bdev_nvme_destruct, "a namespace of an NVMe controller stops being a block device");

#define ADMIN_POLL_US 1000000
#define LOST_POLL_US 10000
// The polls in which a lost admin queue is about to fail, before the one in which it has.
#define LOST_POLLS 2

unsigned nvme_second_us = 10000;

#define NAME_LEN_MAX 31

struct nvme_path_id {
	struct spdk_nvme_transport_id trid;
};

// Has one path here; SPDK may have several, each a struct nvme_ctrlr.
struct nvme_bdev_ctrlr {
	char *name;
	struct {
		struct nvme_ctrlr *tqh_first;
	} ctrlrs;
};

// A controller is its own I/O device: a channel to it is a queue pair.
struct nvme_ctrlr {
	struct nvme_ctrlr *next;
	struct nvme_path_id *active_path_id, path_id;
	struct {
		struct nvme_ctrlr *tqe_next;
	} tailq; // of its nbdev_ctrlr
	struct nvme_bdev_ctrlr *nbdev_ctrlr;
	struct nvmf_conn proto; // a copy of it is each connection
	uint32_t reconnect_delay_sec, ctrlr_loss_timeout_sec, waited_sec;
	struct spdk_bdev *disk;
	uint32_t nsid;
	_Atomic int ref;
	_Atomic uint64_t qids; // in use
	struct spdk_poller *adminq_timer, *reconnect_delay_timer;
	uint64_t admin_id; // of the admin queue's connection; 0: none
	unsigned lost_polls;
	bool is_connected, is_resetting, is_destructed, is_unregistered;
	bool is_awaited; // the command is over when the controller is
	void (*disconnected)(
	    struct nvme_ctrlr *nvme_ctrlr); // what follows when the admin queue is gone
	unsigned io_conns;		    // connections for I/O, of all threads

	// the command under way
	op_done done;
	void *ctx;
};

struct nvme_qpair {
	uint16_t id;
	uint64_t conn_id;
};

static struct nvme_ctrlr *ctrlrs;
static bool is_stopping;

static struct nvme_ctrlr *find_ctrlr(const char *name)
{
	struct nvme_ctrlr *c = ctrlrs;
	while (c && strcmp(c->nbdev_ctrlr->name, name))
		c = c->next;
	return c;
}

static void command_done(struct nvme_ctrlr *c, const char *error)
{
	op_done done = c->done;
	if (c->is_awaited)
		return;
	c->done = NULL;
	if (done)
		done(c->ctx, error);
}

/* references */

static void nvme_ctrlr_unregister_cb(void *io_device);
static void nvme_ctrlr_disconnect(struct nvme_ctrlr *c, void (*then)(struct nvme_ctrlr *));
static void _nvme_ctrlr_delete(struct nvme_ctrlr *nvme_ctrlr);

static void nvme_ctrlr_put_ref(struct nvme_ctrlr *nvme_ctrlr)
{
	int ref = nvme_ctrlr->ref;
	PROBE(bdev_nvme_ctrlr_release, nvme_ctrlr->nbdev_ctrlr->name, ref);
	if (--nvme_ctrlr->ref == 0)
		spdk_io_device_unregister(nvme_ctrlr, nvme_ctrlr_unregister_cb);
}

static void _nvme_ctrlr_put_ref(void *ctx)
{
	nvme_ctrlr_put_ref(ctx);
}

/* queue pairs for I/O: a channel each */

static void io_count(void *ctx)
{
	((struct nvme_ctrlr *)ctx)->io_conns++;
}

static void io_closed(struct nvmf_conn *conn, const char *error)
{
	struct nvme_ctrlr *c = conn->ctx;
	(void)error;
	if (--c->io_conns)
		return;
	// A controller is attached when what looked at its disk has let go of it.
	if (c->is_unregistered)
		nvme_ctrlr_disconnect(c, _nvme_ctrlr_delete);
	else if (!c->is_resetting && !c->is_destructed)
		command_done(c, NULL);
}

static void bdev_nvme_create_qpair(struct nvme_ctrlr *nvme_ctrlr, struct nvme_qpair *qpair)
{
	if (!nvme_ctrlr->is_connected)
		return;
	// The first that is free; one that is made again keeps its own. There are at most 63 threads.
	for (uint16_t id = 1; !qpair->id; id++)
		if (!(atomic_fetch_or(&nvme_ctrlr->qids, 1ull << id) >> id & 1))
			qpair->id = id;
	uint64_t thread_id = spdk_thread_get_id(spdk_get_thread());
	PROBE(bdev_nvme_create_qpair, nvme_ctrlr->nbdev_ctrlr->name, qpair->id, thread_id);
	struct nvmf_conn conn = nvme_ctrlr->proto;
	conn.qid = qpair->id;
	conn.connected = NULL;
	conn.closed = io_closed;
	spdk_thread_send_msg(nvmf_tgt_get_thread(), io_count, nvme_ctrlr);
	qpair->conn_id = nvmf_conn_open(&conn);
}

static int bdev_nvme_create_ctrlr_channel_cb(void *io_device, void *ctx)
{
	struct nvme_ctrlr *nvme_ctrlr = io_device;
	nvme_ctrlr->ref++;
	bdev_nvme_create_qpair(nvme_ctrlr, ctx);
	return 0;
}

static void bdev_nvme_destroy_ctrlr_channel_cb(void *io_device, void *ctx)
{
	struct nvme_qpair *qpair = ctx;
	struct nvme_ctrlr *nvme_ctrlr = io_device;
	UNTIL(2201, PROBE(bdev_nvme_destroy_qpair, nvme_ctrlr->nbdev_ctrlr->name, qpair->id));
	nvmf_conn_close(qpair->conn_id);
	atomic_fetch_and(&nvme_ctrlr->qids, ~(1ull << qpair->id));
	spdk_thread_send_msg(nvmf_tgt_get_thread(), _nvme_ctrlr_put_ref, nvme_ctrlr);
}

/* the admin queue, and what happens when it is lost */

static void bdev_nvme_failover_ctrlr(struct nvme_ctrlr *nvme_ctrlr);

static void bdev_nvme_clear_io_path_cache(struct spdk_io_channel_iter *i)
{
	spdk_for_each_channel_continue(i, 0);
}

static void bdev_nvme_clear_io_path_caches_done(struct spdk_io_channel_iter *i, int status)
{
	(void)status;
	nvme_ctrlr_put_ref(spdk_io_channel_iter_get_ctx(i));
}

static int bdev_nvme_poll_adminq(void *arg)
{
	struct nvme_ctrlr *c = arg;
	if (!c->lost_polls || is_stopping)
		return 0;
	if (--c->lost_polls) {
		c->ref++;
		spdk_for_each_channel(c, bdev_nvme_clear_io_path_cache, c,
				      bdev_nvme_clear_io_path_caches_done);
	} else {
		spdk_poller_unregister(&c->adminq_timer);
		c->adminq_timer = spdk_poller_register(bdev_nvme_poll_adminq, c, ADMIN_POLL_US);
		bdev_nvme_failover_ctrlr(c);
	}
	return 1;
}

static void attached(struct nvme_ctrlr *c);
static void attach_failed(struct nvme_ctrlr *c, const char *error);
static void bdev_nvme_reconnect_ctrlr_poll(struct nvme_ctrlr *nvme_ctrlr, bool success);

static void admin_connected(struct nvmf_conn *conn)
{
	struct nvme_ctrlr *c = conn->ctx;
	c->is_connected = true;
	c->proto.cntlid = conn->cntlid;
	if (c->disk)
		bdev_nvme_reconnect_ctrlr_poll(c, true);
	else
		attached(c);
}

static void admin_closed(struct nvmf_conn *conn, const char *error)
{
	struct nvme_ctrlr *c = conn->ctx;
	void (*disconnected)(struct nvme_ctrlr *) = c->disconnected;
	c->admin_id = 0;
	c->is_connected = false;
	c->disconnected = NULL;
	if (disconnected) {
		disconnected(c);
	} else if (error && c->disk) {
		bdev_nvme_reconnect_ctrlr_poll(c, false);
	} else if (error) {
		attach_failed(c, error);
	} else if (!is_stopping) {
		c->lost_polls = LOST_POLLS + 1;
		spdk_poller_unregister(&c->adminq_timer);
		c->adminq_timer = spdk_poller_register(bdev_nvme_poll_adminq, c, LOST_POLL_US);
	}
}

static void admin_connect(struct nvme_ctrlr *c)
{
	struct nvmf_conn conn = c->proto;
	conn.connected = admin_connected;
	conn.closed = admin_closed;
	c->admin_id = nvmf_conn_open(&conn);
}

// Goes on with @then when there is no admin queue any more.
static void nvme_ctrlr_disconnect(struct nvme_ctrlr *c, void (*then)(struct nvme_ctrlr *))
{
	if (c->admin_id) {
		c->disconnected = then;
		nvmf_conn_close(c->admin_id);
	} else {
		then(c);
	}
}

/* attach */

void bdev_nvme_attach_controller(const char *name, const struct nvme_path *path, op_done done,
				 void *ctx)
{
	struct nvmf_conn proto = {.next = NULL};
	struct spdk_nvme_transport_id *trid = &proto.trid;
	if (strlen(name) > NAME_LEN_MAX) {
		done(ctx, "the name is too long");
		return;
	}
	if (find_ctrlr(name)) {
		done(ctx, "a controller of that name exists");
		return;
	}
	if (!nvmf_parse_trtype(path->trtype, &trid->trtype)) {
		done(ctx, "unknown transport: tcp, rdma, fc or vfiouser");
		return;
	}
	struct nvme_ctrlr *c = calloc(1, sizeof(*c));
	struct nvme_bdev_ctrlr *nbdev = calloc(1, sizeof(*nbdev));
	if (!c || !nbdev || !(nbdev->name = strdup(name)))
		abort();
	snprintf(trid->traddr, sizeof(trid->traddr), "%s", path->traddr);
	snprintf(trid->trsvcid, sizeof(trid->trsvcid), "%s",
		 path->trsvcid ? path->trsvcid : "4420");
	snprintf(proto.subnqn, sizeof(proto.subnqn), "%s", path->subnqn);
	snprintf(proto.hostnqn, sizeof(proto.hostnqn), "%s", path->hostnqn);
	proto.ctx = c;
	c->proto = proto;
	c->path_id.trid = *trid;
	c->active_path_id = &c->path_id;
	c->nbdev_ctrlr = nbdev;
	nbdev->ctrlrs.tqh_first = c;
	c->reconnect_delay_sec = path->reconnect_delay_sec;
	c->ctrlr_loss_timeout_sec = path->ctrlr_loss_timeout_sec;
	c->nsid = 1;
	c->ref = 2; // the list's and the namespace's
	c->done = done;
	c->ctx = ctx;
	struct nvme_ctrlr **at = &ctrlrs;
	while (*at)
		at = &(*at)->next;
	*at = c;
	admin_connect(c);
}

static void forget(struct nvme_ctrlr *c)
{
	struct nvme_ctrlr **at = &ctrlrs;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	free(c->nbdev_ctrlr->name);
	free(c->nbdev_ctrlr);
	free(c);
}

static void attach_failed(struct nvme_ctrlr *c, const char *error)
{
	op_done done = c->done;
	void *ctx = c->ctx;
	forget(c);
	done(ctx, error);
}

static void attached(struct nvme_ctrlr *c)
{
	struct spdk_bdev *disk = calloc(1, sizeof(*disk));
	if (!disk)
		abort();
	snprintf(disk->name, sizeof(disk->name), "%sn1", c->nbdev_ctrlr->name);
	disk->block_size = 512;
	disk->blocks = 1 << 20;
	disk->module = c;
	c->disk = disk;
	spdk_io_device_register(c, bdev_nvme_create_ctrlr_channel_cb,
				bdev_nvme_destroy_ctrlr_channel_cb, sizeof(struct nvme_qpair));
	c->adminq_timer = spdk_poller_register(bdev_nvme_poll_adminq, c, ADMIN_POLL_US);
	bdev_register(disk, NULL,
		      NULL); // what looks at it makes a queue pair: io_closed() ends the command
}

/* reset: every queue pair goes, the controller connects again, every queue pair comes back */

static void bdev_nvme_start_ctrlr_destruct(struct nvme_ctrlr *nvme_ctrlr);
static int bdev_nvme_reconnect_delay_timer_expired(void *ctx);

static bool bdev_nvme_check_ctrlr_loss_timeout(const struct nvme_ctrlr *c)
{
	// A disk that a subsystem has would be taken from it first; this program keeps it.
	return c->ctrlr_loss_timeout_sec && c->waited_sec >= c->ctrlr_loss_timeout_sec &&
	       !c->disk->uses;
}

// The end of an attempt. SPDK has no probe for it: scripts attach to the function.
#if SPDK_RELEASE < 2309
#define bdev_nvme_reset_ctrlr_complete bdev_nvme_reset_complete
#endif
TRACED void bdev_nvme_reset_ctrlr_complete(struct nvme_ctrlr *nvme_ctrlr, bool success);
void bdev_nvme_reset_ctrlr_complete(struct nvme_ctrlr *nvme_ctrlr, bool success)
{
	bool is_over = success || !nvme_ctrlr->reconnect_delay_sec;
	bool is_lost = !is_over && bdev_nvme_check_ctrlr_loss_timeout(nvme_ctrlr);

	PROBE_LOG("reset_ctrlr_complete()", log_str(nvme_ctrlr->nbdev_ctrlr->name),
		  log_uint(success));
	nvme_ctrlr->is_resetting = false;
	if (success)
		nvme_ctrlr->waited_sec = 0;
	nvme_ctrlr_put_ref(nvme_ctrlr);
	if (is_lost) {
		bdev_nvme_start_ctrlr_destruct(nvme_ctrlr);
	} else if (!is_over && !is_stopping) {
		nvme_ctrlr->waited_sec += nvme_ctrlr->reconnect_delay_sec;
		nvme_ctrlr->reconnect_delay_timer = spdk_poller_register(
		    bdev_nvme_reconnect_delay_timer_expired, nvme_ctrlr,
		    (uint64_t)nvme_ctrlr->reconnect_delay_sec * nvme_second_us);
	}
	command_done(nvme_ctrlr, success ? NULL : "the controller could not be connected");
}

static void bdev_nvme_reset_create_qpairs_done(struct spdk_io_channel_iter *i, int status)
{
	bdev_nvme_reset_ctrlr_complete(spdk_io_channel_iter_get_ctx(i), !status);
}

static void bdev_nvme_reset_create_qpair(struct spdk_io_channel_iter *i)
{
	bdev_nvme_create_qpair(spdk_io_channel_iter_get_ctx(i),
			       spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i)));
	spdk_for_each_channel_continue(i, 0);
}

static void bdev_nvme_reconnect_ctrlr_poll(struct nvme_ctrlr *nvme_ctrlr, bool success)
{
	if (success)
		spdk_for_each_channel(nvme_ctrlr, bdev_nvme_reset_create_qpair, nvme_ctrlr,
				      bdev_nvme_reset_create_qpairs_done);
	else
		bdev_nvme_reset_ctrlr_complete(nvme_ctrlr, false);
}

__attribute__((noinline)) static void bdev_nvme_reconnect_ctrlr(struct nvme_ctrlr *nvme_ctrlr)
{
	SINCE(2209, PROBE(bdev_nvme_ctrlr_reconnect, nvme_ctrlr->nbdev_ctrlr->name));
	admin_connect(nvme_ctrlr);
}

static int bdev_nvme_reconnect_delay_timer_expired(void *ctx)
{
	struct nvme_ctrlr *nvme_ctrlr = ctx;
	SINCE(2209, PROBE(bdev_nvme_ctrlr_reconnect_delay, nvme_ctrlr->nbdev_ctrlr->name));
	spdk_poller_unregister(&nvme_ctrlr->reconnect_delay_timer);
	nvme_ctrlr->ref++;
	nvme_ctrlr->is_resetting = true;
	bdev_nvme_reconnect_ctrlr(nvme_ctrlr);
	return 1;
}

#if SPDK_RELEASE >= 2409
static void bdev_nvme_reset_destroy_qpair_done(struct nvme_ctrlr *nvme_ctrlr, void *ctx, int status)
{
	(void)ctx;
#else
static void bdev_nvme_reset_destroy_qpair_done(struct spdk_io_channel_iter *i, int status)
{
	struct nvme_ctrlr *nvme_ctrlr = spdk_io_channel_iter_get_io_device(i);
#endif
	(void)status;
	SINCE(2209, PROBE(bdev_nvme_ctrlr_reset, nvme_ctrlr->nbdev_ctrlr->name));
	nvme_ctrlr_disconnect(nvme_ctrlr, bdev_nvme_reconnect_ctrlr);
}

static void bdev_nvme_reset_destroy_qpair(struct spdk_io_channel_iter *i)
{
	struct nvme_qpair *q = spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i));
	nvmf_conn_close(q->conn_id);
	spdk_for_each_channel_continue(i, 0);
}

#if SPDK_RELEASE >= 2409
// What is done at the end gets the controller, not the iterator.
static void nvme_ctrlr_for_each_channel_done(struct spdk_io_channel_iter *i, int status)
{
	void (**done)(struct nvme_ctrlr *, void *, int) = spdk_io_channel_iter_get_ctx(i);
	(*done)(spdk_io_channel_iter_get_io_device(i), NULL, status);
}

static void _bdev_nvme_reset_ctrlr(void *ctx)
{
	static void (*done)(struct nvme_ctrlr *, void *, int) = bdev_nvme_reset_destroy_qpair_done;
	spdk_for_each_channel(ctx, bdev_nvme_reset_destroy_qpair, &done,
			      nvme_ctrlr_for_each_channel_done);
}
#else
static void _bdev_nvme_reset_ctrlr(void *ctx)
{
	spdk_for_each_channel(ctx, bdev_nvme_reset_destroy_qpair, NULL,
			      bdev_nvme_reset_destroy_qpair_done);
}
#endif

static void bdev_nvme_failover_ctrlr(struct nvme_ctrlr *nvme_ctrlr)
{
	if (nvme_ctrlr->is_resetting || nvme_ctrlr->is_destructed)
		return;
	nvme_ctrlr->ref++;
	nvme_ctrlr->is_resetting = true;
	_bdev_nvme_reset_ctrlr(nvme_ctrlr);
}

void bdev_nvme_reset_controller(const char *name, op_done done, void *ctx)
{
	struct nvme_ctrlr *c = find_ctrlr(name);
	if (!c || c->is_destructed || c->is_resetting) {
		done(ctx,
		     c ? "the controller is being reset or deleted" : "no controller of that name");
		return;
	}
	c->done = done;
	c->ctx = ctx;
	c->lost_polls = 0;
	c->ref++;
	c->is_resetting = true;
	if (c->reconnect_delay_timer) { // it waits: the next attempt is made now
		spdk_poller_unregister(&c->reconnect_delay_timer);
		bdev_nvme_reconnect_ctrlr(c);
	} else {
		spdk_thread_send_msg(nvmf_tgt_get_thread(), _bdev_nvme_reset_ctrlr, c);
	}
}

/* detach: the disk goes first, then the controller */

static void _nvme_ctrlr_delete(struct nvme_ctrlr *nvme_ctrlr)
{
	PROBE(bdev_nvme_ctrlr_delete, nvme_ctrlr->nbdev_ctrlr->name);
	op_done done = nvme_ctrlr->done;
	void *ctx = nvme_ctrlr->ctx;
	forget(nvme_ctrlr);
	if (done)
		done(ctx, NULL);
}

void bdev_nvme_wait_deleted(const char *name, op_done done, void *ctx)
{
	struct nvme_ctrlr *c = find_ctrlr(name);
	if (!c) {
		done(ctx, NULL);
		return;
	}
	c->done = done;
	c->ctx = ctx;
	c->is_awaited = true;
}

static void nvme_ctrlr_unregister_cb(void *io_device)
{
	struct nvme_ctrlr *nvme_ctrlr = io_device;
	spdk_poller_unregister(&nvme_ctrlr->reconnect_delay_timer);
	spdk_poller_unregister(&nvme_ctrlr->adminq_timer);
	nvme_ctrlr->is_unregistered = true;
	if (!nvme_ctrlr->io_conns)
		nvme_ctrlr_disconnect(nvme_ctrlr, _nvme_ctrlr_delete);
}

static void disk_gone(void *ctx, const char *error)
{
	(void)error;
	nvme_ctrlr_put_ref(ctx);
}

static void bdev_nvme_destruct(void *ctx)
{
	struct nvme_ctrlr *nvme_ctrlr = ctx;
	PROBE(bdev_nvme_destruct, nvme_ctrlr->nbdev_ctrlr->name, nvme_ctrlr->nsid);
	bdev_unregister(nvme_ctrlr->disk, disk_gone, nvme_ctrlr);
}

static void bdev_nvme_start_ctrlr_destruct(struct nvme_ctrlr *nvme_ctrlr)
{
	nvme_ctrlr->is_destructed = true;
	spdk_thread_send_msg(nvmf_tgt_get_thread(), bdev_nvme_destruct, nvme_ctrlr);
	nvme_ctrlr_put_ref(nvme_ctrlr);
}

void bdev_nvme_detach_controller(const char *name, op_done done, void *ctx)
{
	struct nvme_ctrlr *c = find_ctrlr(name);
	const char *error = NULL;
	if (!c)
		error = "no controller of that name";
	else if (c->is_destructed || c->is_resetting)
		error = "the controller is being reset or deleted";
	else if (c->disk->uses)
		error = "its bdev is in use";
	if (error) {
		done(ctx, error);
		return;
	}
	c->done = done;
	c->ctx = ctx;
	bdev_nvme_start_ctrlr_destruct(c);
}

void bdev_nvme_stop(void)
{
	is_stopping = true;
	for (struct nvme_ctrlr *c = ctrlrs; c; c = c->next)
		spdk_poller_unregister(&c->reconnect_delay_timer);
}

struct fini_op {
	op_done done;
	void *ctx;
};

static void detach_next(void *ctx, const char *error)
{
	struct fini_op *op = ctx;
	(void)error;
	if (ctrlrs) {
		bdev_nvme_detach_controller(ctrlrs->nbdev_ctrlr->name, detach_next, op);
		return;
	}
	op->done(op->ctx, NULL);
	free(op);
}

void bdev_nvme_fini(op_done done, void *ctx)
{
	struct fini_op *op = malloc(sizeof(*op));
	if (!op)
		abort();
	*op = (struct fini_op){done, ctx};
	detach_next(op, NULL);
}
