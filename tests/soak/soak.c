/* A service that runs for long: its events are numbered from 1, BURST of them, then a millisecond's rest.
 *
 *	soak BURST [N]		N events, or until SIGTERM; then a line with how many there were
 *	soak BURST N wait	not before it is traced
 *
 * Of its two builds, -DFIRST= -DMORE= and -DFIRST='NONE, ' -DMORE='long pad;', the states have other numbers, the struct another layout.
 */
#include <btgen/usdt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum state { FIRST IDLE, RUNNING };
struct request { MORE long id; enum state state; };
static volatile sig_atomic_t is_over;
static void end(int signal)
{
	(void)signal;
	is_over = 1;
}
int main(int argc, char **argv)
{
	struct request r = {.id = 0, .state = RUNNING};
	long burst = atol(argv[1]), most = argc > 2 ? atol(argv[2]) : 0;
	struct sigaction action = {.sa_handler = end};
	sigaction(SIGTERM, &action, NULL);
	while (argc > 3 && !is_over && !USDT_ENABLED(app, hit))
		usleep(1000);
	if (argc > 3)
		usleep(20000); // the kernel counts the trace before it sets the breakpoint
	while (!is_over && (!most || r.id < most)) {
		r.id++;
		USDT_PROBE_LAZY(app, hit, (struct request *)&r);
		if (r.id % burst == 0)
			usleep(1000);
	}
	printf("%d %ld\n", (int)getpid(), r.id);
	return 0;
}
