/*
 * load - what host-wide scripts can see of a program: files, processes, signals, threads, names, sleeps, samples of its code
 *
 * It waits for a line first, so that whoever traces it is there before anything happens. All of it happens ROUNDS times, and the
 * number of each event follows from that.
 */
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static void *thread(void *unused)
{
	return unused;
}

static void touch_files(const char *self)
{
	struct stat st;
	char buf[64];
	int pipefd[2];
	int fd = open(self, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) || read(fd, buf, sizeof(buf)) < 0 || pipe(pipefd))
		exit(1);
	if (write(pipefd[1], buf, sizeof(buf)) < 0 || read(pipefd[0], buf, sizeof(buf)) < 0)
		exit(1);
	close(fd);
	close(pipefd[0]);
	close(pipefd[1]);
	fd = open("written", O_WRONLY | O_CREAT | O_TRUNC, 0600); // to the disk, where there is one
	if (fd < 0 || write(fd, buf, sizeof(buf)) < 0 || fsync(fd))
		exit(1);
	close(fd);
	if (open("/nonexistent/file", O_RDONLY) >= 0 || !stat("/nonexistent/file", &st))
		exit(1);
}

static void start_others(const char *self)
{
	pthread_t t;
	pid_t child = fork();

	if (!child) {
		execl("/bin/true", "true", self, (char *)NULL);
		_exit(127);
	}
	kill(child, 0);
	waitpid(child, NULL, 0);
	if (!pthread_create(&t, NULL, thread, NULL))
		pthread_join(t, NULL);
}

/** Runs for 0.3 s, of which a script that samples sees some: on an idle machine it would see itself at most. */
static void run(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC * 3 / 10;

	while (clock() < end)
		;
}

int main(int argc, char **argv)
{
	struct timespec ms = {.tv_nsec = 1000000};
	struct addrinfo *found;
	char line[16];

	if (argc < 1 || !fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		touch_files(argv[0]);
		start_others(argv[0]);
		nanosleep(&ms, NULL);
		if (setuid(getuid()))
			return 1;
		if (!getaddrinfo("localhost", NULL, NULL, &found))
			freeaddrinfo(found);
		void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 1;
		*(char *)p = 1;
		munmap(p, 1 << 20);
	}
	run();
	return 0;
}
