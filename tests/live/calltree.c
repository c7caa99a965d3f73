// The program of calltree.t: calls at random, and its own log of them, as the tree must have it. A line a thread's event:
// E entered, T entered by a tail call, L left, J left by longjmp, D too deep
// for a return probe, N open at the end; the function; CLOCK_BOOTTIME in ns.
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { MOST = 4096, DEEP = 64, JUMPS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;

static __thread struct {
	unsigned seed;
	int budget, depth, n_jumps;
	const char *open[MOST];
	struct {
		jmp_buf buf;
		int depth;
	} jumps[JUMPS];
	char log[1 << 18];
	size_t n;
} me;

static void say(char what, const char *name)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	me.n += (size_t)snprintf(me.log + me.n, sizeof(me.log) - me.n, "%c %d %s %lld\n", what, gettid(), name,
				 t.tv_sec * 1000000000ll + t.tv_nsec);
}

static void flush(void)
{
	pthread_mutex_lock(&lock);
	fwrite(me.log, 1, me.n, stdout);
	fflush(stdout);
	me.n = 0;
	pthread_mutex_unlock(&lock);
}

static void enter(const char *name, char how)
{
	say(how, name);
	me.open[me.depth++] = name;
}

static void leave(void)
{
	me.depth--;
	say(me.depth >= DEEP ? 'D' : 'L', me.open[me.depth]);
}

static unsigned draw(unsigned n)
{
	me.seed = me.seed * 1103515245 + 12345;
	return (me.seed >> 16) % n;
}

void app_f0(char how);
void app_f1(char how);
void app_f2(char how);
void app_tail(char how);
void app_again(char how);
static void (*const functions[])(char) = {app_f0, app_f1, app_f2, app_tail, app_again};

// Not traced, and of other sizes: what is called from here is below what a jump has left.
NOINLINE static void mid_call(unsigned which)
{
	volatile char *room = alloca(16 + draw(4) * 200);
	room[0] = 1;
	functions[which]('E');
	sink += room[0];
}

NOINLINE static void work(void)
{
	for (unsigned n = draw(4); n-- && me.budget > 0 && me.depth < 30;) {
		me.budget--;
		if (draw(2))
			mid_call(draw(5));
		else
			functions[draw(5)]('E');
	}
	if (me.n_jumps && draw(8) == 0) {
		int at = (int)draw((unsigned)me.n_jumps);
		while (me.depth > me.jumps[at].depth)
			say('J', me.open[--me.depth]);
		me.n_jumps = at + 1;
		longjmp(me.jumps[at].buf, 1);
	}
}

#define BODY(name)                                                                                                             \
	enter(name, how);                                                                                                      \
	work();                                                                                                                \
	leave();                                                                                                               \
	__asm__ volatile("")
NOINLINE void app_f0(char how) { BODY("app_f0"); }
NOINLINE void app_f1(char how)
{
	volatile char room[300];
	room[0] = how;
	BODY("app_f1");
	sink += room[0];
}
NOINLINE void app_f2(char how)
{
	volatile int n = me.n_jumps;
	enter("app_f2", how);
	if (n < JUMPS) {
		me.jumps[n].depth = me.depth;
		me.n_jumps++;
		if (setjmp(me.jumps[n].buf) == 0)
			work();
		me.n_jumps = n;
	}
	mid_call(draw(2));
	work();
	leave();
	__asm__ volatile("");
}
// It ends when what it jumps to does: leave() is called there for both.
NOINLINE void app_last(char how)
{
	enter("app_last", how);
	work();
	leave();
	leave();
	__asm__ volatile("");
}
NOINLINE void app_tail(char how)
{
	enter("app_tail", how);
	app_last('T');
}
NOINLINE void app_again(char how)
{
	enter("app_again", how);
	if (me.budget-- > 0 && draw(3))
		app_again('E');
	leave();
	__asm__ volatile("");
}
NOINLINE void app_deep(int n)
{
	enter("app_deep", 'E');
	if (n)
		app_deep(n - 1);
	leave();
	__asm__ volatile("");
}
NOINLINE void app_forever(void)
{
	say('E', "app_forever");
	say('N', "app_forever");
	flush();
	puts("done");
	fflush(stdout);
	for (char c; read(0, &c, 1) == 1;)
		;
	_exit(0);
}
NOINLINE void app_exits(void)
{
	say('E', "app_exits");
	say('N', "app_exits");
	flush();
	pthread_exit(NULL);
}
NOINLINE void app_handler(int sig)
{
	enter("app_handler", 'E');
	app_f0('E');
	leave();
	sink += sig;
}
NOINLINE void app_signals(void)
{
	enter("app_signals", 'E');
	raise(SIGUSR1);
	app_f0('E');
	leave();
	__asm__ volatile("");
}
// On a stack below the thread's: where it is above, Linux forgets the return probes of what was interrupted, and SIGILL follows.
static void on_stack(void *stack)
{
	stack_t alt = {.ss_sp = stack, .ss_size = 65536};
	struct sigaction act = {.sa_handler = app_handler, .sa_flags = SA_ONSTACK};
	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &act, NULL);
}

static void *run(void *seed)
{
	me.seed = (unsigned)(size_t)seed;
	for (int i = 0; i < 20; i++) {
		me.budget = 40;
		functions[draw(5)]('E');
	}
	if ((size_t)seed % 10 == 0)
		app_exits();
	flush();
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	char c;
	while (read(0, &c, 1) != 1)
		;
	me.seed = seed;
	app_deep(100);
	on_stack(malloc(65536));
	app_signals();
	pthread_t threads[12];
	for (size_t i = 0; i < 12; i++) {
		pthread_create(&threads[i], NULL, run, (void *)(seed * 1000 + i));
		if (i % 4 == 3)
			for (size_t k = i - 3; k <= i; k++)
				pthread_join(threads[k], NULL);
	}
	run((void *)(size_t)(seed * 1000 + 99));
	app_forever();
	return 0;
}
