// Does one kind of call N times for each line with an N that it reads, then says "done": calls KIND [FILE].
//
// direct: reads blocks of 4 KiB of FILE, past the page cache; dlopen: loads the mathematics library and unloads it; dlsym:
// looks a function up; setjmp: sets a place and jumps there;
// read, readv: from /dev/zero; open: opens and closes /dev/null; malloc: one block and its free; mutex: takes a free one
// and gives it back; condvar: a wait whose time is over; getaddrinfo: of a number; connect: to a port that is refused; fsync: of a file in memory; switch: two threads on one processor wake each other, N times each.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int zero, file, there[2], back[2];
static jmp_buf place;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static void must(int ok)
{
	if (!ok)
		exit(1);
}

static void *answer(void *arg)
{
	char c;
	while (read(there[0], &c, 1) == 1)
		must(write(back[1], &c, 1) == 1);
	return arg;
}

static void once(const char *kind)
{
	char buf[8] = "";
	if (!strcmp(kind, "read")) {
		must(read(zero, buf, 8) == 8);
	} else if (!strcmp(kind, "readv")) {
		must(readv(zero, &(struct iovec){buf, 8}, 1) == 8);
	} else if (!strcmp(kind, "open")) {
		int fd = open("/dev/null", O_RDONLY);
		must(fd >= 0);
		close(fd);
	} else if (!strcmp(kind, "malloc")) {
		void *volatile p = malloc(100);
		free(p);
	} else if (!strcmp(kind, "mutex")) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	} else if (!strcmp(kind, "condvar")) {
		struct timespec past = {0, 1};
		must(pthread_cond_clockwait(&ready, &lock, CLOCK_REALTIME, &past) == ETIMEDOUT);
	} else if (!strcmp(kind, "dlopen")) {
		void *h = dlopen("libm.so.6", RTLD_NOW);
		must(h != NULL && !dlclose(h));
	} else if (!strcmp(kind, "dlsym")) {
		must(dlsym(RTLD_DEFAULT, "getpid") != NULL);
	} else if (!strcmp(kind, "setjmp")) {
		if (!setjmp(place))
			longjmp(place, 1);
	} else if (!strcmp(kind, "getaddrinfo")) {
		struct addrinfo *r, number = {.ai_flags = AI_NUMERICHOST};
		must(!getaddrinfo("127.0.0.1", "80", &number, &r));
		freeaddrinfo(r);
	} else if (!strcmp(kind, "connect")) {
		struct sockaddr_in none = {.sin_family = AF_INET,
					   .sin_port = htons(1),
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		int s = socket(AF_INET, SOCK_STREAM, 0);
		must(connect(s, (struct sockaddr *)&none, sizeof(none)) != 0);
		close(s);
	} else if (!strcmp(kind, "fsync")) {
		file = file ? file : memfd_create("file", 0);
		must(!fsync(file));
	} else if (!strcmp(kind, "direct")) {
		static char block[4096] __attribute__((aligned(4096)));
		static unsigned long n;
		must(pread(file, block, sizeof(block), (off_t)(n++ % 4096) * 4096) ==
		     sizeof(block));
	} else {
		must(write(there[1], buf, 1) == 1 && read(back[0], buf, 1) == 1);
	}
}

int main(int argc, char **argv)
{
	char line[32];
	pthread_t t;
	must(argc == 2 || (argc == 3 && (file = open(argv[2], O_RDONLY | O_DIRECT)) >= 0));
	zero = open("/dev/zero", O_RDONLY);
	if (!strcmp(argv[1], "switch")) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(sched_getcpu(), &one);
		must(!sched_setaffinity(0, sizeof(one), &one) && !pipe(there) && !pipe(back));
		must(!pthread_create(&t, NULL, answer, NULL));
	}
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = atoi(line); i > 0; i--)
			once(argv[1]);
		must(write(1, "done\n", 5) == 5);
	}
}
