// Block devices: the list, their channels, null disks, and what looks at a new disk.
#include "bdev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bdev_channel {
	struct spdk_io_channel *module_ch;
	struct spdk_io_channel *mgmt_ch;
};

static struct spdk_bdev *bdevs;
static char bdev_manager; // the I/O device that all bdev channels share
static char null_module;  // the one below null disks

static int no_channel_create(void *io_device, void *ctx)
{
	(void)io_device;
	(void)ctx;
	return 0;
}

static void no_channel_destroy(void *io_device, void *ctx)
{
	(void)io_device;
	(void)ctx;
}

static int bdev_channel_create(void *io_device, void *ctx)
{
	struct spdk_bdev *bdev = io_device;
	struct bdev_channel *ch = ctx;

	ch->module_ch = spdk_get_io_channel(bdev->module);
	if (!ch->module_ch)
		return -1;
	ch->mgmt_ch = spdk_get_io_channel(&bdev_manager);
	return 0;
}

static void bdev_channel_destroy(void *io_device, void *ctx)
{
	struct bdev_channel *ch = ctx;
	(void)io_device;
	spdk_put_io_channel(ch->module_ch);
	spdk_put_io_channel(ch->mgmt_ch);
}

void bdev_init(void)
{
	spdk_io_device_register(&bdev_manager, no_channel_create, no_channel_destroy, 0);
	spdk_io_device_register(&null_module, no_channel_create, no_channel_destroy, 0);
}

void bdev_fini(void)
{
	while (bdevs)
		bdev_unregister(bdevs, NULL, NULL);
	spdk_io_device_unregister(&null_module, NULL);
	spdk_io_device_unregister(&bdev_manager, NULL);
}

struct spdk_bdev *bdev_get_by_name(const char *name)
{
	struct spdk_bdev *b = bdevs;
	while (b && strcmp(b->name, name))
		b = b->next;
	return b;
}

// A module that looks at a new disk opens it and reads its first blocks. A null disk reads as zeros,
// so neither a partition table nor a volume store is ever found.
struct examine {
	op_done done;
	void *ctx;
};

static void blob_examine_done(void *arg)
{
	struct examine *ex = arg;
	if (ex->done)
		ex->done(ex->ctx, NULL);
	free(ex);
}

static void gpt_examine(struct spdk_bdev *bdev)
{
	struct spdk_io_channel *ch = spdk_get_io_channel(bdev);
	if (ch)
		spdk_put_io_channel(ch);
}

// The volume store makes an I/O device of its own for the time that it reads the super block.
static void blob_examine(struct examine *ex)
{
	spdk_io_device_register(ex, no_channel_create, no_channel_destroy, 0);
	spdk_put_io_channel(spdk_get_io_channel(ex));
	spdk_io_device_unregister(ex, blob_examine_done);
}

void bdev_register(struct spdk_bdev *bdev, op_done done, void *ctx)
{
	struct examine *ex = malloc(sizeof(*ex));
	if (!ex)
		abort();
	*ex = (struct examine){done, ctx};

	struct spdk_bdev **at = &bdevs;
	while (*at)
		at = &(*at)->next;
	*at = bdev;
	spdk_io_device_register(bdev, bdev_channel_create, bdev_channel_destroy,
				sizeof(struct bdev_channel));
	gpt_examine(bdev);
	blob_examine(ex);
}

static void bdev_destroy_cb(void *io_device)
{
	struct spdk_bdev *bdev = io_device;
	if (bdev->gone)
		bdev->gone(bdev->gone_ctx, NULL);
	free(bdev);
}

void bdev_unregister(struct spdk_bdev *bdev, op_done done, void *ctx)
{
	struct spdk_bdev **at = &bdevs;
	while (*at != bdev)
		at = &(*at)->next;
	*at = bdev->next;
	bdev->gone = done;
	bdev->gone_ctx = ctx;
	spdk_io_device_unregister(bdev, bdev_destroy_cb);
}

void bdev_null_create(const char *name, uint64_t mib, uint32_t block_size, op_done done, void *ctx)
{
	if (bdev_get_by_name(name)) {
		done(ctx, "a bdev of that name exists");
		return;
	}
	if (!mib || mib > 1 << 30 || !block_size || block_size % 512) {
		done(ctx, "a size in MiB and a block size that is a multiple of 512 are needed");
		return;
	}
	struct spdk_bdev *bdev = calloc(1, sizeof(*bdev));
	if (!bdev)
		abort();
	if (snprintf(bdev->name, sizeof(bdev->name), "%s", name) >= (int)sizeof(bdev->name)) {
		free(bdev);
		done(ctx, "the name is too long");
		return;
	}
	bdev->block_size = block_size;
	bdev->blocks = mib * 1024 * 1024 / block_size;
	bdev->module = &null_module;
	bdev_register(bdev, done, ctx);
}

void bdev_null_delete(const char *name, op_done done, void *ctx)
{
	struct spdk_bdev *bdev = bdev_get_by_name(name);
	if (!bdev || bdev->module != &null_module)
		done(ctx, "no null bdev of that name");
	else if (bdev->uses)
		done(ctx, "the bdev is in use");
	else
		bdev_unregister(bdev, done, ctx);
}
