#!/usr/bin/env bash
# What the scripts for the C library and for system calls print is what bare bpftrace prints of the same events, given the program that
# btgen expand makes of each.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/equal.sh
. "$(dirname "$0")/../equal.sh"

# Blocks, arenas, mutexes, jumps, exceptions, libraries: all that these scripts have a line or a map for.
cat >"$tmp/app.cc" <<'END'
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#define APART __attribute__((noinline))

// Not a variable: only btgen names those.
static pthread_mutex_t &lock = *new pthread_mutex_t(PTHREAD_MUTEX_INITIALIZER);
static pthread_barrier_t both;
static jmp_buf place;
static void *blocks[400];

extern "C" {
APART void take(void) { pthread_mutex_lock(&lock); __asm__ volatile(""); }
APART void fail(int value) { longjmp(place, value); }
APART int parse(void) { int got = _setjmp(place); if (got < 3) fail(got ? got + 1 : 0); return got; }
APART void grow(void) { blocks[0] = realloc(blocks[0], 200000); __asm__ volatile(""); }
}
struct Oops { int code; };
namespace app { struct bad_request : std::runtime_error { using runtime_error::runtime_error; }; }
APART static void pick(int i) { if (i % 3) throw app::bad_request("x"); throw Oops{i}; }
APART static void handle(int i)
{
	try { pick(i); } catch (const Oops &) { throw; }
}

static void *worker(void *size)
{
	pthread_barrier_wait(&both);
	for (int i = 0; i < 20; i++)
		free(malloc((size_t)size));
	take();
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void work(const char *library)
{
	for (int i = 0; i < 400; i++)
		blocks[i] = i % 2 ? malloc(8 << i % 10) : calloc(i, 3);
	grow();
	for (int i = 0; i < 400; i++)
		free(blocks[i]);
	free(malloc(64 << 20));
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
	malloc_trim(0);
	pthread_t id[2];
	pthread_barrier_init(&both, NULL, 2);
	take();
	for (size_t i = 0; i < 2; i++)
		pthread_create(&id[i], NULL, worker, (void *)(100 * i + 50));
	usleep(100000);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
	parse();
	for (int i = 0; i < 12; i++) {
		try { handle(i); } catch (...) { }
	}
	void *h = dlopen(library, RTLD_NOW);
	dlopen("no_such_library.so", RTLD_NOW);
	dlsym(h, "plugin");
	dlsym(h, "no_such_function");
	// Who called is looked up when it is printed: the library must still be there.
	usleep(500000);
	dlclose(h);
	dprintf(1, "done\n");
}

int main(int argc, char **argv)
{
	char c;
	while (read(0, &c, 1) == 1 && argc == 2)
		work(argv[1]);
}
END
cat >"$tmp/plugin.c" <<'END'
#include <dlfcn.h>
int plugin = 1;
__attribute__((constructor)) static void prepare(void) { dlopen("libm.so.6", RTLD_NOW); }
END
# With C libraries of its own: a probe in the system's malloc() would fire in every process, bpftrace's too.
loader=$(readelf -lW /bin/sh | sed -n 's/.*interpreter: \(.*\)]/\1/p')
cp -L "$loader" "$tmp/ld.so"
gcc -shared -fPIC -o "$tmp/libplugin.so" "$tmp/plugin.c" && g++ -O1 -fno-builtin -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-rdynamic -pthread -Wl,-rpath,"$tmp" -o "$tmp/app" "$tmp/app.cc" 2>"$tmp/err" || skip_all "g++ failed: $(head -n 1 "$tmp/err")"
ldd "$tmp/app" | sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | xargs -I{} cp -L {} "$tmp/"
g++ -O1 -fno-builtin -fno-omit-frame-pointer -fno-optimize-sibling-calls -rdynamic -pthread -Wl,-rpath,"$tmp" \
	-Wl,--dynamic-linker="$tmp/ld.so" -o "$tmp/app" "$tmp/app.cc"
equal_start "$tmp/app" "$tmp/libplugin.so"
for script in malloc arenas mutex loader longjmp exceptions; do
	equal_watch $script -D LINES -D MIN_US=5000 $script.bt
done
ok "they attach" equal_attached
printf x >&8
wait_for grep -q 'done' "$tmp/answers"
wait_for live_idle
equal_end
equal_is malloc
equal_is arenas
equal_is mutex -t wait_us
# The symbols of a library that has just been loaded: each process has them when it has read them.
equal_is loader -m '(?<= 2 > dlopen for ).*'
equal_is longjmp
equal_is exceptions -t unwind_us
exec 8>&-
wait_end "$live_pid"

for script in nvme-latency nvme-trace; do
	skip "$script" "needs NVMe: make check-vm drives it in an emulated machine"
done
if [ ! -e /sys/kernel/tracing/events/raw_syscalls ]; then
	skip "scripts for system calls" "this kernel has no system call tracepoints, or tracefs is not mounted"
	done_testing
fi
cat >"$tmp/calls.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// On each byte that it reads: opens, reads and writes that succeed and fail, and one call that takes 30 ms.
int main(int argc, char **argv)
{
	char c, b[4096] = "";
	struct iovec v[2] = {{b, 64}, {b, sizeof(b)}};
	struct open_how how = {.flags = O_RDONLY};
	while (argc == 2 && read(0, &c, 1) == 1) {
		int out = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
		for (int i = 1; i < 5; i++)
			if (write(out, b, i * 1000) < 0)
				return 1;
		int fd = syscall(SYS_openat2, AT_FDCWD, argv[1], &how, sizeof(how));
		int none = open("/no/such/file", O_RDONLY), other = syscall(SYS_openat2, AT_FDCWD, "/no/other", &how, sizeof(how));
		while (readv(fd, v, 2) > 0)
			;
		int bad = readv(99, v, 1), written = pwrite(fd, b, 1, 0), less = pread(fd, b, 100, 50);
		usleep(30000);
		for (int i = 0; i < 7; i++)
			getppid();
		fsync(99);
		close(fd);
		close(out);
		dprintf(1, "done %d %d %d %d %d\n", none, other, bad, written, less);
	}
}
END
gcc -O1 -o "$tmp/calls" "$tmp/calls.c" || exit 1
equal_start "$tmp/calls" "$tmp/file"
equal_watch syscalls syscalls.bt
equal_watch syscall-latency -D SLOW_US=20000 syscall-latency.bt
equal_watch files files.bt
equal_watch readv readv.bt
equal_watch offcpu -D MIN_US=0 offcpu.bt
ok "they attach" equal_attached
printf x >&8
wait_for grep -q 'done' "$tmp/answers"
wait_for live_idle
equal_end
equal_is syscalls -t usecs
equal_is syscall-latency -t us -t longest_us
equal_is files
equal_is readv -t usecs
equal_is offcpu -t off_us -t wait_us
exec 8>&-
done_testing
