// The dynamic scheduler: looks at the figures of every core, moves idle threads to the main core.
#include "thread_internal.h"
#include "probes.h"

#include <stdlib.h>

USDT_DOC(spdk, dynsched_balance, "the scheduler begins a round");
USDT_DOC(spdk, dynsched_core_info,
	 "the scheduler looks at the figures of a core; once a core and round");
USDT_DOC(spdk, dynsched_move, "the scheduler moves a thread to another core");

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

static void balance_thread(struct spdk_scheduler_thread_info *info)
{
	uint32_t main_core = round_.cores[0].lcore, dst = info->lcore;

	if (info->thread_id == 1) // serves the commands
		return;
	if (busy_percent(&info->current_stats) < IDLE_PERCENT) {
		dst = main_core;
	} else if (info->lcore == main_core) {
		// Busy: to the core that has the fewest threads.
		struct spdk_scheduler_core_info *best = &round_.cores[0];
		for (uint32_t i = 1; i < reactor_count(); i++)
			if (round_.cores[i].threads_count < best->threads_count)
				best = &round_.cores[i];
		best->threads_count++;
		dst = best->lcore;
	}
	if (dst == info->lcore)
		return;
	PROBE(dynsched_move, info, dst);
	reactor_move_thread(info->thread_id, info->lcore, dst);
}

static void balance(void *arg1, void *arg2)
{
	(void)arg1;
	(void)arg2;
	uint32_t count = reactor_count();

	PROBE(dynsched_balance, count);
	for (uint32_t i = 0; i < count; i++) {
		struct spdk_scheduler_core_info *core = &round_.cores[i];
		PROBE(dynsched_core_info, i, core);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct spdk_scheduler_core_info *core = &round_.cores[i];
		// A thread put here by this very round is not in the list yet.
		uint32_t n = 0;
		while (core->thread_infos[n].thread_id)
			n++;
		for (uint32_t j = 0; j < n; j++)
			balance_thread(&core->thread_infos[j]);
	}
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
	if (period_us)
		round_.poller = spdk_poller_register(scheduler_tick, NULL, period_us);
}
