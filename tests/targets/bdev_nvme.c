// NVMe controllers of others, and their disks as block devices: attach, reset, detach.
#include "bdev.h"
#include "probes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

USDT_DOC(spdk, bdev_nvme_create_qpair, "a thread connects a queue pair to an NVMe controller");
USDT_DOC(spdk, bdev_nvme_ctrlr_reconnect,
	 "an attempt to connect to an NVMe controller again begins");
USDT_DOC(spdk, bdev_nvme_ctrlr_reconnect_delay, "that attempt failed, the next one is made later");
USDT_DOC(spdk, bdev_nvme_ctrlr_release, "something lets go of an NVMe controller");
USDT_DOC(spdk, bdev_nvme_ctrlr_delete, "an NVMe controller is deleted: nothing holds it any more");
USDT_DOC(spdk, bdev_nvme_ctrlr_reset, "an NVMe controller is reset");
USDT_DOC(spdk, bdev_nvme_destruct, "a namespace of an NVMe controller stops being a block device");

#define ADMIN_POLL_US 1000000
#define RECONNECT_DELAY_US 20000

struct nvme_bdev_ctrlr {
	char name[32];
};

// A controller is its own I/O device: a channel to it is a queue pair.
struct nvme_ctrlr {
	struct nvme_ctrlr *next;
	struct nvme_bdev_ctrlr *nbdev_ctrlr;
	char subnqn[224];
	struct spdk_bdev *disk;
	uint32_t nsid;
	int ref; // the list's and the disk's
	_Atomic uint16_t last_qid;
	struct spdk_poller *adminq_timer;
	struct spdk_poller *reconnect_timer;

	// the reset or the detach under way
	unsigned failures;
	op_done done;
	void *ctx;
};

struct nvme_qpair {
	uint16_t id;
	bool is_connected;
};

static struct nvme_ctrlr *ctrlrs;

static struct nvme_ctrlr *find_ctrlr(const char *name)
{
	struct nvme_ctrlr *c = ctrlrs;
	while (c && strcmp(c->nbdev_ctrlr->name, name))
		c = c->next;
	return c;
}

static void create_qpair(struct nvme_ctrlr *nvme_ctrlr, struct nvme_qpair *qpair)
{
	if (!qpair->id)
		qpair->id = ++nvme_ctrlr->last_qid;
	uint64_t thread_id = spdk_thread_get_id(spdk_get_thread());
	PROBE(bdev_nvme_create_qpair, nvme_ctrlr->nbdev_ctrlr->name, qpair->id, thread_id);
	qpair->is_connected = true;
}

static int bdev_nvme_create_ctrlr_channel_cb(void *io_device, void *ctx)
{
	create_qpair(io_device, ctx);
	return 0;
}

static void bdev_nvme_destroy_ctrlr_channel_cb(void *io_device, void *ctx)
{
	struct nvme_qpair *qpair = ctx;
	(void)io_device;
	qpair->is_connected = false;
}

static int bdev_nvme_poll_adminq(void *arg)
{
	struct nvme_ctrlr *nvme_ctrlr = arg;
	return nvme_ctrlr->ref > 0;
}

/* attach */

struct attach_op {
	op_done done;
	void *ctx;
};

void bdev_nvme_attach_controller(const char *name, const struct nvme_path *path, op_done done,
				 void *ctx)
{
	char disk_name[64];
	snprintf(disk_name, sizeof(disk_name), "%sn1", name);
	if (strlen(name) >= sizeof(((struct nvme_bdev_ctrlr *)0)->name)) {
		done(ctx, "the name is too long");
		return;
	}
	if (find_ctrlr(name) || bdev_get_by_name(disk_name)) {
		done(ctx, "a controller of that name exists");
		return;
	}
	struct nvme_ctrlr *c = calloc(1, sizeof(*c));
	struct nvme_bdev_ctrlr *nbdev = calloc(1, sizeof(*nbdev));
	struct spdk_bdev *disk = calloc(1, sizeof(*disk));
	if (!c || !nbdev || !disk)
		abort();
	snprintf(nbdev->name, sizeof(nbdev->name), "%s", name);
	snprintf(disk->name, sizeof(disk->name), "%s", disk_name);
	snprintf(c->subnqn, sizeof(c->subnqn), "%s", path->subnqn);
	disk->block_size = 512;
	disk->blocks = 1 << 20;
	disk->module = c;
	c->nbdev_ctrlr = nbdev;
	c->disk = disk;
	c->nsid = 1;
	c->ref = 2;
	struct nvme_ctrlr **at = &ctrlrs;
	while (*at)
		at = &(*at)->next;
	*at = c;
	spdk_io_device_register(c, bdev_nvme_create_ctrlr_channel_cb,
				bdev_nvme_destroy_ctrlr_channel_cb, sizeof(struct nvme_qpair));
	c->adminq_timer = spdk_poller_register(bdev_nvme_poll_adminq, c, ADMIN_POLL_US);
	bdev_register(disk, done, ctx);
}

/* reset: every queue pair goes, the controller connects again, every queue pair comes back */

static void reset_done(struct nvme_ctrlr *c, const char *error)
{
	op_done done = c->done;
	c->done = NULL;
	done(c->ctx, error);
}

static void bdev_nvme_reset_create_qpairs_done(struct spdk_io_channel_iter *i, int status)
{
	reset_done(spdk_io_channel_iter_get_ctx(i),
		   status ? "a queue pair did not come back" : NULL);
}

static void bdev_nvme_reset_create_qpair(struct spdk_io_channel_iter *i)
{
	create_qpair(spdk_io_channel_iter_get_ctx(i),
		     spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i)));
	spdk_for_each_channel_continue(i, 0);
}

static int bdev_nvme_reconnect_delay_timer_expired(void *arg);

static void bdev_nvme_reconnect_ctrlr(struct nvme_ctrlr *nvme_ctrlr)
{
	PROBE(bdev_nvme_ctrlr_reconnect, nvme_ctrlr->nbdev_ctrlr->name);
	if (nvme_ctrlr->failures) {
		nvme_ctrlr->failures--;
		PROBE(bdev_nvme_ctrlr_reconnect_delay, nvme_ctrlr->nbdev_ctrlr->name);
		nvme_ctrlr->reconnect_timer = spdk_poller_register(
		    bdev_nvme_reconnect_delay_timer_expired, nvme_ctrlr, RECONNECT_DELAY_US);
		return;
	}
	spdk_for_each_channel(nvme_ctrlr, bdev_nvme_reset_create_qpair, nvme_ctrlr,
			      bdev_nvme_reset_create_qpairs_done);
}

static int bdev_nvme_reconnect_delay_timer_expired(void *arg)
{
	struct nvme_ctrlr *c = arg;
	spdk_poller_unregister(&c->reconnect_timer);
	bdev_nvme_reconnect_ctrlr(c);
	return 1;
}

static void bdev_nvme_reset_destroy_qpair_done(struct spdk_io_channel_iter *i, int status)
{
	(void)status;
	bdev_nvme_reconnect_ctrlr(spdk_io_channel_iter_get_ctx(i));
}

static void bdev_nvme_reset_destroy_qpair(struct spdk_io_channel_iter *i)
{
	struct nvme_qpair *q = spdk_io_channel_get_ctx(spdk_io_channel_iter_get_channel(i));
	q->is_connected = false;
	spdk_for_each_channel_continue(i, 0);
}

void bdev_nvme_reset_controller(const char *name, unsigned failures, op_done done, void *ctx)
{
	struct nvme_ctrlr *nvme_ctrlr = find_ctrlr(name);
	if (!nvme_ctrlr) {
		done(ctx, "no controller of that name");
		return;
	}
	nvme_ctrlr->failures = failures;
	nvme_ctrlr->done = done;
	nvme_ctrlr->ctx = ctx;
	PROBE(bdev_nvme_ctrlr_reset, nvme_ctrlr->nbdev_ctrlr->name);
	spdk_for_each_channel(nvme_ctrlr, bdev_nvme_reset_destroy_qpair, nvme_ctrlr,
			      bdev_nvme_reset_destroy_qpair_done);
}

/* detach: the disk goes first, then the controller */

static void nvme_ctrlr_unregister_cb(void *io_device)
{
	struct nvme_ctrlr *c = io_device;
	op_done done = c->done;
	void *ctx = c->ctx;
	free(c->nbdev_ctrlr);
	free(c);
	done(ctx, NULL);
}

static void nvme_ctrlr_delete(struct nvme_ctrlr *nvme_ctrlr)
{
	PROBE(bdev_nvme_ctrlr_delete, nvme_ctrlr->nbdev_ctrlr->name);
	spdk_poller_unregister(&nvme_ctrlr->adminq_timer);
	spdk_io_device_unregister(nvme_ctrlr, nvme_ctrlr_unregister_cb);
}

static void nvme_ctrlr_release(struct nvme_ctrlr *nvme_ctrlr)
{
	PROBE(bdev_nvme_ctrlr_release, nvme_ctrlr->nbdev_ctrlr->name, nvme_ctrlr->ref);
	if (--nvme_ctrlr->ref == 0)
		nvme_ctrlr_delete(nvme_ctrlr);
}

static void bdev_nvme_destruct_done(void *ctx, const char *error)
{
	(void)error;
	struct nvme_ctrlr *nvme_ctrlr = ctx;
	nvme_ctrlr->disk = NULL;
	nvme_ctrlr_release(nvme_ctrlr);
	nvme_ctrlr_release(nvme_ctrlr);
}

void bdev_nvme_detach_controller(const char *name, op_done done, void *ctx)
{
	struct nvme_ctrlr *nvme_ctrlr = find_ctrlr(name);
	if (!nvme_ctrlr) {
		done(ctx, "no controller of that name");
		return;
	}
	if (nvme_ctrlr->disk->uses) {
		done(ctx, "its bdev is in use");
		return;
	}
	struct nvme_ctrlr **at = &ctrlrs;
	while (*at != nvme_ctrlr)
		at = &(*at)->next;
	*at = nvme_ctrlr->next;
	nvme_ctrlr->done = done;
	nvme_ctrlr->ctx = ctx;
	PROBE(bdev_nvme_destruct, nvme_ctrlr->disk->name, nvme_ctrlr->nsid);
	bdev_unregister(nvme_ctrlr->disk, bdev_nvme_destruct_done, nvme_ctrlr);
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
