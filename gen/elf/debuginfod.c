#include "elf/debuginfod.h"

#include <signal.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/progress.h"

#define PATIENCE_S 2 // before a line reports the wait

static struct {
	char text[512];
	size_t n;
	unsigned long waited; // ms
	bool is_silent;	      // it was waited for in vain
} servers;

static void report_wait(int sig)
{
	(void)sig;
	ssize_t ignored = write(STDERR_FILENO, servers.text, servers.n);
	(void)ignored;
}

int debuginfod_find(struct diag *d, Dwfl_Module *module, struct str name)
{
	struct arena a = {0};
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct sigaction old, new = {.sa_handler = report_wait, .sa_flags = SA_RESTART};
	struct itimerval patience = {.it_value = {.tv_sec = PATIENCE_S}}, none = {0};
	if (servers.is_silent || !urls)
		return -1;
	int n = snprintf(servers.text, sizeof(servers.text),
			 "btgen: waiting for the debug information of " STR_FMT " from %s\n",
			 STR_ARG(str_printable(&a, str_base(name))),
			 str_dup(&a, str_printable(&a, str_from(urls))));
	arena_fini(&a);
	servers.n = (size_t)n < sizeof(servers.text) ? (size_t)n : sizeof(servers.text) - 1;
	servers.text[servers.n - 1] = '\n';
	progress_clear();
	sigaction(SIGALRM, &new, &old);
	if (!d->quiet && d->out)
		setitimer(ITIMER_REAL, &patience, NULL);
	unsigned long begun = clock_ms();
	char *path = NULL;
	int fd = dwfl_standard_find_debuginfo(module, NULL, NULL, 0, NULL, NULL, 0, &path);
	unsigned long waited = clock_ms() - begun;
	free(path);
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &old, NULL);
	servers.waited += waited;
	servers.is_silent = fd < 0 && waited >= 1000 * PATIENCE_S;
	return fd;
}

bool debuginfod_is_silent(void)
{
	return servers.is_silent;
}

unsigned long debuginfod_waited(void)
{
	unsigned long waited = servers.waited;
	servers.waited = 0;
	return waited;
}
