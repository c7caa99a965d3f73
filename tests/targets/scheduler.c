// The dynamic scheduler: looks at the figures of every core, moves idle threads to the main core.
#include "thread_internal.h"
#include "probes.h"

#include <stdlib.h>

USDT_DOC(spdk, dynsched_balance, "the scheduler begins a round");
USDT_DOC(spdk, dynsched_core_info,
	 "the scheduler looks at the figures of a core; once a core and round");
USDT_DOC(spdk, dynsched_move,
	 "the scheduler says where a thread is to run: in each round, mostly where it is");

// A thread that was busy for less than this part of a round is idle.
#define IDLE_PERCENT 20

static struct {
	bool is_running;
	struct spdk_scheduler_core_info *cores;
	struct spdk_thread *thread; // who asked
	spdk_msg_fn done;
	void *ctx;
	struct spdk_poller *poller;
} round_;

static void end_round(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < reactor_count(); i++)
		free(round_.cores[i].thread_infos);
	free(round_.cores);
	round_.cores = NULL;
	round_.is_running = false;
	if (round_.done)
		round_.done(round_.ctx);
}

static uint32_t busy_percent(const struct spdk_thread_stats *s)
{
	uint64_t all = s->busy_tsc + s->idle_tsc;
	return all ? (uint32_t)(s->busy_tsc * 100 / all) : 0;
}

// As in _move_thread() of SPDK's dynamic scheduler: asked also for a thread that is to stay, which the probe tells too.
static void move_thread(struct spdk_scheduler_thread_info *thread_info, uint32_t dst_core)
{
	PROBE(dynsched_move, thread_info, dst_core);
	if (thread_info->lcore == dst_core)
		return;
	PROBE_LOG("move()", log_uint(thread_info->thread_id), log_uint(thread_info->lcore),
		  log_uint(dst_core));
	reactor_move_thread(thread_info->thread_id, thread_info->lcore, dst_core);
	thread_info->lcore = dst_core;
}

// Idle threads go to the main core first, then each busy one finds its core: here it stays where it is.
static void balance_threads(bool is_idle)
{
	for (uint32_t i = 0; i < reactor_count(); i++) {
		struct spdk_scheduler_core_info *core = &round_.cores[i];
		for (uint32_t j = 0; j < core->threads_count; j++) {
			struct spdk_scheduler_thread_info *info = &core->thread_infos[j];
			if ((busy_percent(&info->current_stats) < IDLE_PERCENT) == is_idle)
				move_thread(info, is_idle ? round_.cores[0].lcore : info->lcore);
		}
	}
}

static void balance(void *arg1, void *arg2)
{
	(void)arg1;
	(void)arg2;
	uint32_t count = reactor_count();

	// SPDK's count is the highest core's number and one.
	uint32_t cores_count = reactor_lcore(count - 1) + 1;
	PROBE(dynsched_balance, cores_count);
	for (uint32_t n = 0; n < count; n++) {
		struct spdk_scheduler_core_info *cores_info = &round_.cores[n];
		uint32_t i = cores_info->lcore;
		PROBE(dynsched_core_info, i, cores_info);
	}
	balance_threads(true);
	balance_threads(false);
	spdk_thread_send_msg(round_.thread, end_round, NULL);
}

// Runs on each reactor in turn, so that every figure is read by its owner.
static void gather_metrics(void *arg1, void *arg2)
{
	uint32_t i = (uintptr_t)arg1;
	(void)arg2;

	reactor_get_info(reactor_lcore(i), &round_.cores[i]);
	if (i + 1 < reactor_count())
		spdk_event_call(reactor_lcore(i + 1), gather_metrics, (void *)(uintptr_t)(i + 1),
				NULL);
	else
		spdk_event_call(reactor_lcore(0), balance, NULL, NULL);
}

bool scheduler_balance(spdk_msg_fn done, void *ctx)
{
	if (round_.is_running)
		return false;
	round_.cores = calloc(reactor_count(), sizeof(*round_.cores));
	if (!round_.cores)
		return false;
	round_.is_running = true;
	round_.thread = spdk_get_thread();
	round_.done = done;
	round_.ctx = ctx;
	spdk_event_call(reactor_lcore(0), gather_metrics, NULL, NULL);
	return true;
}

static int scheduler_tick(void *arg)
{
	(void)arg;
	return scheduler_balance(NULL, NULL);
}

void scheduler_set_period(uint64_t period_us)
{
	spdk_poller_unregister(&round_.poller);
	if (!period_us)
		return;
	round_.poller = spdk_poller_register(scheduler_tick, NULL, period_us);
	scheduler_balance(NULL, NULL); // the first at once
}
