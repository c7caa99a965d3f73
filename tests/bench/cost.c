// What one run of a command costs. A program of its own, since a process begins with the peak memory of who starts it.
//
//	cost SECONDS COMMAND [ARG]...
//
// Prints CPU time (user + system, with children) and elapsed time in microseconds, peak memory in kB and the exit status; -1
// when the command was killed after SECONDS. Its output is thrown away.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile pid_t child;
static volatile sig_atomic_t is_late;

static void on_alarm(int sig)
{
	(void)sig;
	is_late = 1;
	kill(child, SIGKILL);
}

static long long micros(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	struct rusage use;
	int status;
	if (argc < 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &a);
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	signal(SIGALRM, on_alarm);
	alarm((unsigned)atoi(argv[1]));
	if (child < 0 || wait4(child, &status, 0, &use) != child)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%lld %lld %ld %d\n", micros(use.ru_utime) + micros(use.ru_stime),
	       (b.tv_sec - a.tv_sec) * 1000000LL + (b.tv_nsec - a.tv_nsec) / 1000, use.ru_maxrss,
	       is_late		   ? -1
	       : WIFEXITED(status) ? WEXITSTATUS(status)
				   : 128);
	return 0;
}
