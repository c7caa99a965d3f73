// Light threads: their messages and their pollers.
#include "thread_internal.h"
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

USDT_DOC(spdk, msg_exec, "a thread runs a message that was sent to it");
USDT_DOC(spdk, interrupt_fd_process, "a thread handles a descriptor that is ready: a timer's, too");
USDT_DOC(spdk, timerfd_exec, "a timer has expired and its poller runs");

pthread_mutex_t thread_list_lock = PTHREAD_MUTEX_INITIALIZER;
struct spdk_thread *thread_list;
static uint64_t last_id;

static __thread struct spdk_thread *current;

void *must(void *p)
{
	if (!p) {
		fputs("nvmf_tgt: out of memory\n", stderr);
		abort();
	}
	return p;
}

struct spdk_thread *spdk_thread_create(const char *name, uint32_t lcore)
{
	struct spdk_thread *t = must(calloc(1, sizeof(*t)));
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->lcore = lcore;
	t->last = &t->first;
	pthread_mutex_init(&t->lock, NULL);

	pthread_mutex_lock(&thread_list_lock);
	t->id = ++last_id;
	struct spdk_thread **at = &thread_list;
	while (*at)
		at = &(*at)->next;
	*at = t;
	pthread_mutex_unlock(&thread_list_lock);

	reactor_add_thread(t);
	return t;
}

void spdk_thread_exit(struct spdk_thread *t)
{
	t->has_exited = true;
}

void thread_free(struct spdk_thread *t)
{
	pthread_mutex_lock(&thread_list_lock);
	for (struct spdk_thread **at = &thread_list; *at; at = &(*at)->next) {
		if (*at == t) {
			*at = t->next;
			break;
		}
	}
	pthread_mutex_unlock(&thread_list_lock);
	for (struct thread_msg *m; (m = t->first);) {
		t->first = m->next;
		free(m);
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

struct spdk_thread *spdk_get_thread(void)
{
	return current;
}

uint64_t spdk_thread_get_id(const struct spdk_thread *t)
{
	return t->id;
}

int spdk_thread_send_msg(const struct spdk_thread *thread, spdk_msg_fn fn, void *ctx)
{
	struct spdk_thread *t = (struct spdk_thread *)thread;
	struct thread_msg *m = must(malloc(sizeof(*m)));
	*m = (struct thread_msg){.fn = fn, .ctx = ctx};

	PROBE_LOG("send_msg()", log_ptr(thread), log_ptr(fn));
	pthread_mutex_lock(&t->lock);
	*t->last = m;
	t->last = &m->next;
	uint32_t lcore = t->lcore;
	pthread_mutex_unlock(&t->lock);
	reactor_wake(lcore);
	return 0;
}

static struct thread_msg *take_msg(struct spdk_thread *t)
{
	pthread_mutex_lock(&t->lock);
	struct thread_msg *m = t->first;
	if (m) {
		t->first = m->next;
		if (!t->first)
			t->last = &t->first;
	}
	pthread_mutex_unlock(&t->lock);
	return m;
}

int thread_poll(struct spdk_thread *t)
{
	int n = 0;
	struct thread_msg *m;

	current = t;
	while ((m = take_msg(t))) {
		spdk_msg_fn fn = m->fn;
		void *arg = m->ctx;
		free(m);
		SINCE(2205, PROBE(msg_exec, fn, arg));
		fn(arg);
		n++;
	}
	current = NULL;
	return n;
}

/* pollers */

static struct spdk_poller *add_poller(struct spdk_poller p)
{
	struct spdk_poller *poller = must(malloc(sizeof(*poller)));
	*poller = p;
	poller->thread = current;
	poller->next = current->pollers;
	current->pollers = poller;
	reactor_add_poller(poller);
	return poller;
}

struct spdk_poller *spdk_poller_register_named(spdk_poller_fn fn, void *arg, uint64_t period_us,
					       const char *name)
{
	struct spdk_poller p = {.is_timer = true, .fn = fn, .arg = arg};
	snprintf(p.name, sizeof(p.name), "%s", name);
	p.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (p.fd < 0) {
		perror("nvmf_tgt: timerfd_create");
		abort();
	}
	struct itimerspec its = {.it_interval = {period_us / 1000000, period_us % 1000000 * 1000}};
	its.it_value = its.it_interval;
	timerfd_settime(p.fd, 0, &its, NULL);
	return add_poller(p);
}

struct spdk_poller *spdk_interrupt_register(int fd, spdk_poller_fn fn, void *arg, const char *name)
{
	struct spdk_poller p = {.fd = fd, .fn = fn, .arg = arg};
	snprintf(p.name, sizeof(p.name), "%s", name);
	return add_poller(p);
}

void spdk_poller_unregister(struct spdk_poller **poller)
{
	struct spdk_poller *p = *poller;
	if (!p)
		return;
	*poller = NULL;
	for (struct spdk_poller **at = &p->thread->pollers; *at; at = &(*at)->next) {
		if (*at == p) {
			*at = p->next;
			break;
		}
	}
	reactor_remove_poller(p);
	if (p->is_timer)
		close(p->fd);
	free(p);
}

static __thread bool in_interrupt;

static int interrupt_timerfd_process(void *ctx)
{
	struct spdk_poller *poller = ctx;
	spdk_poller_fn fn = poller->fn;
	void *arg = poller->arg;
	uint64_t expired;
	if (read(poller->fd, &expired, sizeof(expired)) != sizeof(expired))
		return 0;
	if (in_interrupt)
		SINCE(2205, PROBE(timerfd_exec, fn, arg));
	return fn(arg); // may unregister the poller
}

// As in _interrupt_wrapper() of SPDK's lib/thread: every descriptor that is handled, those of timers too.
void thread_run_poller(struct spdk_poller *p, bool interrupt_mode)
{
	spdk_poller_fn fn = p->is_timer ? interrupt_timerfd_process : p->fn;
	void *arg = p->is_timer ? p : p->arg;

	in_interrupt = interrupt_mode;
	current = p->thread;
	if (interrupt_mode)
		SINCE(2205, PROBE(interrupt_fd_process, p->name, p->fd, fn, arg));
	fn(arg);
	current = NULL;
}
