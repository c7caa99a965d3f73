/**
 * thread - light threads that share nothing and send each other messages.
 *
 * A reactor is a thread of the kernel, one for each core asked for. A `spdk_thread` is a light thread that
 * a reactor runs: it has a queue of messages, pollers, and its own channel to every I/O device it uses.
 * State belongs to one light thread; another one that wants it changed sends a message:
 *
 *     spdk_thread_send_msg(owner, change_it, ctx);          // change_it(ctx) runs on `owner`
 *     spdk_for_each_channel(device, on_each, ctx, at_end);  // on_each on every thread that has a channel,
 *                                                           // one after the other; then at_end, back here
 *
 * The shape and the names are SPDK's, the code is this test's own. Scripts attach to the probes msg_exec,
 * timerfd_exec, interrupt_fd_process and event_exec, and to the two functions above.
 */
#ifndef THREAD_H
#define THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Functions that a tracer attaches to: never inlined, never cloned, visible in every build.
#ifdef __clang__ // has no noclone
#define TRACED __attribute__((noinline, visibility("default")))
#else
#define TRACED __attribute__((noinline, noclone, visibility("default")))
#endif

typedef void (*spdk_msg_fn)(void *ctx);
typedef int (*spdk_poller_fn)(void *ctx);
typedef void (*spdk_event_fn)(void *arg1, void *arg2);

struct spdk_thread_stats {
	uint64_t busy_tsc;
	uint64_t idle_tsc;
};

struct spdk_thread;
struct spdk_io_channel;
struct spdk_io_channel_iter;
struct spdk_poller;

/* threads */

/** A new light thread on core @lcore; ids count from 1. It is gone after spdk_thread_exit() ran on it. */
struct spdk_thread *spdk_thread_create(const char *name, uint32_t lcore);
void spdk_thread_exit(struct spdk_thread *thread);
struct spdk_thread *spdk_get_thread(void);
uint64_t spdk_thread_get_id(const struct spdk_thread *thread);
TRACED int spdk_thread_send_msg(const struct spdk_thread *thread, spdk_msg_fn fn, void *ctx);

/** Calls @fn every @period_us on this thread. */
struct spdk_poller *spdk_poller_register_named(spdk_poller_fn fn, void *arg, uint64_t period_us,
					       const char *name);
#define spdk_poller_register(fn, arg, period_us) spdk_poller_register_named(fn, arg, period_us, #fn)
/** Calls @fn on this thread whenever @fd can be read. */
struct spdk_poller *spdk_interrupt_register(int fd, spdk_poller_fn fn, void *arg, const char *name);
void spdk_poller_unregister(struct spdk_poller **poller);

/* I/O devices: any address can be one */

typedef int (*spdk_io_channel_create_cb)(void *io_device, void *ctx);
typedef void (*spdk_io_channel_destroy_cb)(void *io_device, void *ctx);
typedef void (*spdk_channel_msg)(struct spdk_io_channel_iter *i);
typedef void (*spdk_channel_for_each_cpl)(struct spdk_io_channel_iter *i, int status);

void spdk_io_device_register(void *io_device, spdk_io_channel_create_cb create_cb,
			     spdk_io_channel_destroy_cb destroy_cb, size_t ctx_size);
/** @cb runs on this thread when the last channel is gone; may be NULL. */
void spdk_io_device_unregister(void *io_device, spdk_msg_fn cb);

struct spdk_io_channel *spdk_get_io_channel(void *io_device);
void spdk_put_io_channel(struct spdk_io_channel *ch);
void *spdk_io_channel_get_ctx(struct spdk_io_channel *ch);

TRACED void spdk_for_each_channel(void *io_device, spdk_channel_msg fn, void *ctx,
				  spdk_channel_for_each_cpl cpl);
void spdk_for_each_channel_continue(struct spdk_io_channel_iter *i, int status);
void *spdk_io_channel_iter_get_io_device(struct spdk_io_channel_iter *i);
void *spdk_io_channel_iter_get_ctx(struct spdk_io_channel_iter *i);
struct spdk_io_channel *spdk_io_channel_iter_get_channel(struct spdk_io_channel_iter *i);

/* reactors */

/** One reactor for each bit of @mask (at most 64). @interrupt_mode: timers and descriptors fire their probes. */
bool reactors_init(uint64_t mask, bool interrupt_mode);
/** Runs until reactors_stop(); the first reactor is the caller. */
bool reactors_run(void);
void reactors_stop(void);
void reactors_fini(void);
uint32_t reactor_count(void);
/** The core of reactor @index. */
uint32_t reactor_lcore(uint32_t index);
void spdk_event_call(uint32_t lcore, spdk_event_fn fn, void *arg1, void *arg2);

/* scheduler */

struct spdk_scheduler_thread_info {
	uint32_t lcore;
	uint64_t thread_id;
	struct spdk_thread_stats total_stats;
	struct spdk_thread_stats current_stats;
};

struct spdk_scheduler_core_info {
	uint64_t total_idle_tsc;
	uint64_t total_busy_tsc;
	uint64_t current_idle_tsc;
	uint64_t current_busy_tsc;
	uint32_t lcore;
	uint32_t threads_count;
	bool interrupt_mode;
	struct spdk_scheduler_thread_info *thread_infos;
};

/** One round on every core; @done on this thread after it. False if a round is under way. */
bool scheduler_balance(spdk_msg_fn done, void *ctx);
/** A round every @period_us until called with 0. */
void scheduler_set_period(uint64_t period_us);

#endif
