#!/usr/bin/env bash
# The scripts of bpf/ with -f json: each line holds the schema, and everything that they print is a record or a map.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
python=$(python_with "jsonschema; jsonschema.Draft202012Validator") || skip_all "python3-jsonschema is missing, or older than 4.0"

# holds SCRIPT [ARG...]: what it has printed into $tmp/trace
holds() {
	local said
	said=$("$python" "$top/tests/schema.py" "$tmp/trace" 2>&1)
	like "$said" '^[0-9]+ record [0-9]+ map [0-9]+ loss 0 line$' "$*"
	unlike "$said" '^0 record 0 map' "$* prints something"
	printf '# %s\n' "$said"
}

# --- what a C++ program does

cat >"$tmp/work.cc" <<'E2'
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdexcept>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jmp_buf back;
static void *contend(void *)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		void *p = malloc(100000 + i);
		usleep(2000);
		free(p);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
static void fail(int i)
{
	if (i % 2)
		throw std::runtime_error("odd \"one\"");
	throw i;
}
static void files()
{
	char a[10], b[10];
	struct iovec v[2] = {{a, sizeof(a)}, {b, sizeof(b)}};
	int fd = open("/proc/self/stat", O_RDONLY), ends[2];
	if (readv(fd, v, 2) < 0 || pipe(ends) || write(ends[1], "text", 4) != 4)
		abort();
	readv(ends[0], v, 2);
	close(fd);
	open("/no/such/\xff\n\"file", O_RDONLY);
	close(-1);
}
int main()
{
	pthread_t id[2];
	for (pthread_t &t : id)
		pthread_create(&t, NULL, contend, NULL);
	for (volatile int i = 0; i < 10; i++) {
		try {
			fail(i);
		} catch (int) {
		} catch (const std::exception &) {
		}
		if (!setjmp(back))
			longjmp(back, i + 1);
		files();
	}
	void *lib = dlopen("libm.so.6", RTLD_NOW), *none = dlopen("no.so", RTLD_NOW);
	if (none || !dlsym(lib, "cos"))
		return 1;
	dlclose(lib);
	for (pthread_t t : id)
		pthread_join(t, NULL);
	return 0;
}
E2
g++ -g -O1 -fno-omit-frame-pointer -pthread -o "$tmp/work" "$tmp/work.cc" 2>"$tmp/err" || { cat "$tmp/err"; exit 1; }
while read -r -a words; do
	in_third || continue
	ok "${words[*]} runs" guard "$live_sh" -q -f json -o "$tmp/trace" -c "$tmp/work" "${words[@]}"
	holds "${words[*]}"
done <<'E2'
-D LINES exceptions.bt
mutex.bt
malloc.bt
arenas.bt
-D LINES longjmp.bt
loader.bt
files.bt
readv.bt
syscalls.bt
-D SLOW_US=1000 syscall-latency.bt
-D MIN_US=100 offcpu.bt
E2

# --- an NVMe-oF target

if readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk'; then
	while read -r -a words; do
		in_third || continue
		live_nvmf nvmf_tgt --interrupt-mode
		ok "${words[*]} runs" live_tour -f json $live_pid "${words[@]}"
		holds "${words[*]}"
	done <<-'E2'
	nvmf.bt
	spdk.bt
	send_msg.bt
	sched.bt
	qpair.bt
	-D all -D LINES intr-wakeups.bt
	-s nvmf.bt
	-t *
	E2
fi
done_testing
