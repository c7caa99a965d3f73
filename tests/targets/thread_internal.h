/** thread_internal - what thread.c, reactor.c and scheduler.c know about each other. */
#ifndef THREAD_INTERNAL_H
#define THREAD_INTERNAL_H

#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>

struct thread_msg {
	struct thread_msg *next;
	spdk_msg_fn fn;
	void *ctx;
};

// A descriptor that a thread waits for: a timer of its own, or anything that can be read.
struct spdk_poller {
	struct spdk_poller *next;
	char name[64];
	int fd;
	bool is_timer;
	spdk_poller_fn fn;
	void *arg;
	struct spdk_thread *thread;
};

struct spdk_thread {
	struct spdk_thread *next;	  // of all threads, by id; under thread_list_lock
	struct spdk_thread *reactor_next; // of one reactor's; touched by that reactor only
	uint64_t id;
	char name[32];
	_Atomic uint32_t lcore;

	pthread_mutex_t lock; // of the queue
	struct thread_msg *first, **last;

	// Touched by its reactor only.
	struct spdk_poller *pollers;
	struct spdk_thread_stats stats, seen; // ever, and at the scheduler's last round
	bool has_exited;

	struct spdk_io_channel *channels; // under thread_list_lock
};

// One lock for everything that several threads look at: the list of them, the devices, who has a channel.
extern pthread_mutex_t thread_list_lock;
extern struct spdk_thread *thread_list; // by id

/** @p, which is not NULL: ends the program when memory is out. */
void *must(void *p);

/** Runs the messages that are queued; how many. */
int thread_poll(struct spdk_thread *thread);
void thread_run_poller(struct spdk_poller *poller, bool interrupt_mode);
void thread_free(struct spdk_thread *thread);

// Called on a thread's reactor.
void reactor_add_poller(struct spdk_poller *poller);
void reactor_remove_poller(struct spdk_poller *poller);

void reactor_add_thread(struct spdk_thread *thread);
void reactor_wake(uint32_t lcore);
/** Hands @thread_id over to @to, if it is still on @from. */
void reactor_move_thread(uint64_t thread_id, uint32_t from, uint32_t to);
/** Fills @ret on the reactor of core @lcore (its caller): the figures since the last call. */
void reactor_get_info(uint32_t lcore, struct spdk_scheduler_core_info *ret);

#endif
