// Reactors: threads of the kernel that run light threads, events, and whatever their descriptors bring.
#include "thread_internal.h"
#include "probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

USDT_DOC(spdk, event_exec, "a reactor runs an event");

struct event {
	struct event *next;
	spdk_event_fn fn;
	void *arg1, *arg2;
};

struct reactor {
	uint32_t lcore;
	pthread_t pthread;
	int epoll_fd;
	int wake_fd;

	pthread_mutex_t lock; // of the events
	struct event *first, **last;

	// Touched by the reactor only.
	struct spdk_thread *threads;
	uint64_t busy_tsc, idle_tsc;
	struct spdk_thread_stats seen; // at the scheduler's last round
	bool is_stopped;
};

static struct reactor *reactors;
static uint32_t n_reactors;
static bool is_interrupt_mode;

static struct reactor *find_reactor(uint32_t lcore)
{
	for (uint32_t i = 0; i < n_reactors; i++)
		if (reactors[i].lcore == lcore)
			return &reactors[i];
	fprintf(stderr, "nvmf_tgt: no reactor on core %u\n", lcore);
	abort();
}

static void give_up(const char *what)
{
	fprintf(stderr, "nvmf_tgt: %s: %s\n", what, strerror(errno));
	abort();
}

bool reactors_init(uint64_t mask, bool interrupt_mode)
{
	n_reactors = __builtin_popcountll(mask);
	is_interrupt_mode = interrupt_mode;
	reactors = calloc(n_reactors, sizeof(*reactors));
	if (!reactors)
		return false;
	struct reactor *r = reactors;
	for (uint32_t lcore = 0; lcore < 64; lcore++) {
		if (!(mask >> lcore & 1))
			continue;
		r->lcore = lcore;
		r->last = &r->first;
		pthread_mutex_init(&r->lock, NULL);
		r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		r->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		struct epoll_event ev = {.events = EPOLLIN};
		if (r->epoll_fd < 0 || r->wake_fd < 0 ||
		    epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, r->wake_fd, &ev) < 0)
			return false;
		r++;
	}
	return true;
}

void reactors_fini(void)
{
	for (uint32_t i = 0; i < n_reactors; i++) {
		struct reactor *r = &reactors[i];
		while (r->threads) {
			struct spdk_thread *t = r->threads;
			r->threads = t->reactor_next;
			thread_free(t);
		}
		while (r->first) {
			struct event *e = r->first;
			r->first = e->next;
			free(e);
		}
		pthread_mutex_destroy(&r->lock);
		close(r->epoll_fd);
		close(r->wake_fd);
	}
	free(reactors);
	reactors = NULL;
	n_reactors = 0;
}

uint32_t reactor_count(void)
{
	return n_reactors;
}

uint32_t reactor_lcore(uint32_t index)
{
	return reactors[index].lcore;
}

void reactor_wake(uint32_t lcore)
{
	uint64_t one = 1;
	// The counter cannot overflow in practice; a full one wakes the reactor just as well.
	if (write(find_reactor(lcore)->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		give_up("eventfd");
}

void spdk_event_call(uint32_t lcore, spdk_event_fn fn, void *arg1, void *arg2)
{
	struct reactor *r = find_reactor(lcore);
	struct event *e = malloc(sizeof(*e));
	if (!e)
		give_up("event");
	*e = (struct event){.fn = fn, .arg1 = arg1, .arg2 = arg2};
	pthread_mutex_lock(&r->lock);
	*r->last = e;
	r->last = &e->next;
	pthread_mutex_unlock(&r->lock);
	reactor_wake(lcore);
}

static int run_events(struct reactor *r)
{
	int n = 0;
	for (;; n++) {
		pthread_mutex_lock(&r->lock);
		struct event *e = r->first;
		if (e) {
			r->first = e->next;
			if (!r->first)
				r->last = &r->first;
		}
		pthread_mutex_unlock(&r->lock);
		if (!e)
			return n;
		spdk_event_fn fn = e->fn;
		void *arg1 = e->arg1, *arg2 = e->arg2;
		free(e);
		SINCE(2205, PROBE(event_exec, fn, arg1, arg2));
		fn(arg1, arg2);
	}
}

// Busy is what the processor did for a thread, so that a crowded machine makes nobody look busy. All else is
// idle, and every thread's part of it is the same: together they have the core's time, as in SPDK.
static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

struct lap {
	uint64_t wall, cpu;
};

// Counts the time since *@last, which becomes now: @t's work, or (NULL) nobody's.
static void count_time(struct reactor *r, struct lap *last, struct spdk_thread *t)
{
	struct lap now = {now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_THREAD_CPUTIME_ID)};
	uint64_t all = now.wall - last->wall, busy = t ? now.cpu - last->cpu : 0, n = 0;
	if (busy > all)
		busy = all;
	*last = now;
	if (is_interrupt_mode) // nothing is counted then, as in SPDK
		return;
	r->busy_tsc += busy;
	r->idle_tsc += all - busy;
	if (t)
		t->stats.busy_tsc += busy;
	for (t = r->threads; t; t = t->reactor_next)
		n++;
	for (t = r->threads; t; t = t->reactor_next)
		t->stats.idle_tsc += (all - busy) / n;
}

static void run_threads(struct reactor *r, struct lap *last)
{
	for (struct spdk_thread **at = &r->threads; *at;) {
		struct spdk_thread *t = *at;
		int n = thread_poll(t);
		count_time(r, last, n ? t : NULL);
		if (t->has_exited) {
			*at = t->reactor_next;
			thread_free(t);
		} else {
			at = &t->reactor_next;
		}
	}
}

static void *reactor_run(void *arg)
{
	struct reactor *r = arg;
	struct lap last = {now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_THREAD_CPUTIME_ID)};

	char name[16];
	snprintf(name, sizeof(name), "reactor_%u", r->lcore);
	// The first reactor is the main thread: its name in /proc is not the program's any more, as in SPDK.
	pthread_setname_np(pthread_self(), name);

	while (!r->is_stopped) {
		// One at a time: what runs may take away the poller of the next.
		struct epoll_event ev;
		int n = epoll_wait(r->epoll_fd, &ev, 1, -1);
		if (n < 0 && errno != EINTR)
			give_up("epoll_wait");
		count_time(r, &last, NULL);
		if (n == 1 && ev.data.ptr) {
			struct spdk_poller *p = ev.data.ptr;
			struct spdk_thread *t = p->thread;
			thread_run_poller(p, is_interrupt_mode);
			count_time(r, &last, t);
		} else if (n == 1) {
			uint64_t count;
			if (read(r->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
				give_up("eventfd");
		}
		run_events(r);
		run_threads(r, &last);
	}
	return NULL;
}

bool reactors_run(void)
{
	for (uint32_t i = 1; i < n_reactors; i++) {
		int e = pthread_create(&reactors[i].pthread, NULL, reactor_run, &reactors[i]);
		if (e) {
			errno = e;
			return false;
		}
	}
	reactor_run(&reactors[0]);
	for (uint32_t i = 1; i < n_reactors; i++)
		pthread_join(reactors[i].pthread, NULL);
	return true;
}

static void stop_reactor(void *arg1, void *arg2)
{
	(void)arg2;
	((struct reactor *)arg1)->is_stopped = true;
}

void reactors_stop(void)
{
	for (uint32_t i = n_reactors; i-- > 0;)
		spdk_event_call(reactors[i].lcore, stop_reactor, &reactors[i], NULL);
}

/* the light threads of a reactor */

static void schedule_thread(void *arg1, void *arg2)
{
	struct spdk_thread *t = arg1;
	(void)arg2;
	struct reactor *r = find_reactor(t->lcore);
	struct spdk_thread **at = &r->threads;
	while (*at && (*at)->id < t->id)
		at = &(*at)->reactor_next;
	t->reactor_next = *at;
	*at = t;
	for (struct spdk_poller *p = t->pollers; p; p = p->next)
		reactor_add_poller(p);
}

void reactor_add_thread(struct spdk_thread *t)
{
	spdk_event_call(t->lcore, schedule_thread, t, NULL);
}

static void move_thread(void *arg1, void *arg2)
{
	uint64_t id = (uintptr_t)arg1;
	uint32_t from = (uintptr_t)arg2 >> 32, to = (uint32_t)(uintptr_t)arg2;
	struct reactor *r = find_reactor(from);

	for (struct spdk_thread **at = &r->threads; *at; at = &(*at)->reactor_next) {
		struct spdk_thread *t = *at;
		if (t->id != id)
			continue;
		*at = t->reactor_next;
		for (struct spdk_poller *p = t->pollers; p; p = p->next)
			reactor_remove_poller(p);
		// A message sent before this wakes the old core; the new one looks at the queue anyway.
		t->lcore = to;
		reactor_add_thread(t);
		return;
	}
}

void reactor_move_thread(uint64_t thread_id, uint32_t from, uint32_t to)
{
	uintptr_t cores = (uintptr_t)from << 32 | to;
	spdk_event_call(from, move_thread, (void *)(uintptr_t)thread_id, (void *)cores);
}

void reactor_add_poller(struct spdk_poller *p)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = p};
	// A plain file cannot be waited for; it is an error of the caller's, found at the first start.
	if (epoll_ctl(find_reactor(p->thread->lcore)->epoll_fd, EPOLL_CTL_ADD, p->fd, &ev) < 0)
		give_up("epoll_ctl");
}

void reactor_remove_poller(struct spdk_poller *p)
{
	epoll_ctl(find_reactor(p->thread->lcore)->epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
}

void reactor_get_info(uint32_t lcore, struct spdk_scheduler_core_info *ret)
{
	struct reactor *r = find_reactor(lcore);

	ret->lcore = lcore;
	ret->interrupt_mode = is_interrupt_mode;
	ret->total_busy_tsc = r->busy_tsc;
	ret->total_idle_tsc = r->idle_tsc;
	ret->current_busy_tsc = r->busy_tsc - r->seen.busy_tsc;
	ret->current_idle_tsc = r->idle_tsc - r->seen.idle_tsc;
	r->seen = (struct spdk_thread_stats){r->busy_tsc, r->idle_tsc};
	PROBE_LOG("core()", log_uint(lcore), log_uint(ret->current_busy_tsc),
		  log_uint(ret->current_idle_tsc));

	ret->threads_count = 0;
	for (struct spdk_thread *t = r->threads; t; t = t->reactor_next)
		ret->threads_count++;
	ret->thread_infos = calloc(ret->threads_count + 1, sizeof(*ret->thread_infos));
	if (!ret->thread_infos)
		give_up("scheduler");
	struct spdk_scheduler_thread_info *ti = ret->thread_infos;
	for (struct spdk_thread *t = r->threads; t; t = t->reactor_next, ti++) {
		ti->lcore = lcore;
		ti->thread_id = t->id;
		ti->total_stats = t->stats;
		ti->current_stats.busy_tsc = t->stats.busy_tsc - t->seen.busy_tsc;
		ti->current_stats.idle_tsc = t->stats.idle_tsc - t->seen.idle_tsc;
		t->seen = t->stats;
		PROBE_LOG("core_thread()", log_uint(lcore), log_uint(t->id),
			  log_uint(ti->current_stats.busy_tsc));
	}
}
