/**
 * bdev - block devices: null disks, and the disks of NVMe controllers.
 *
 * Everything here belongs to the first light thread, except the channels, which belong to theirs.
 * An operation that takes time ends by calling an `op_done`, on the thread that started it.
 */
#ifndef BDEV_H
#define BDEV_H

#include "thread.h"

/** @error: NULL, or what went wrong: a constant text. */
typedef void (*op_done)(void *ctx, const char *error);

struct spdk_bdev {
	struct spdk_bdev *next;
	char name[64];
	uint64_t blocks;
	uint32_t block_size;
	void *module;  // the I/O device below
	uint32_t uses; // subsystems that have it as a namespace
	op_done gone;  // who waits for its end
	void *gone_ctx;
};

/** Makes a disk known: probed for a partition table and a volume store, then @done. Takes @bdev over. */
void bdev_register(struct spdk_bdev *bdev, op_done done, void *ctx);
/** Frees the disk; @done after its last channel is gone. */
void bdev_unregister(struct spdk_bdev *bdev, op_done done, void *ctx);
struct spdk_bdev *bdev_get_by_name(const char *name);
void bdev_init(void);
void bdev_fini(void);

void bdev_null_create(const char *name, uint64_t mib, uint32_t block_size, op_done done, void *ctx);
void bdev_null_delete(const char *name, op_done done, void *ctx);

struct nvme_path {
	const char *trtype, *traddr, *trsvcid, *subnqn, *hostnqn;
	// Seconds, as nvme_second_us has them: between attempts to connect again (0: one only), and until it is given up (0: never).
	uint32_t reconnect_delay_sec, ctrlr_loss_timeout_sec;
};

/** What a second of a path is, in microseconds. */
extern unsigned nvme_second_us;

void bdev_nvme_attach_controller(const char *name, const struct nvme_path *path, op_done done,
				 void *ctx);
void bdev_nvme_reset_controller(const char *name, op_done done, void *ctx);
void bdev_nvme_detach_controller(const char *name, op_done done, void *ctx);
/** Ends when there is no controller of that name any more: it was lost. */
void bdev_nvme_wait_deleted(const char *name, op_done done, void *ctx);
/** From here on nothing that is lost is connected again: the targets may go. */
void bdev_nvme_stop(void);
/** Detaches all, in the order they were attached. */
void bdev_nvme_fini(op_done done, void *ctx);

#endif
