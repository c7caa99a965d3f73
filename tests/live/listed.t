#!/usr/bin/env bash
# Programs that others built, without their sources: what -t prints with the names and types of bpf/probes.conf is what the
# program says itself, in its own words or in its log. PostgreSQL, PHP, Ruby and Java are in the tests of their scripts.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# has FILE NAME: it has a probe of that name
has() { readelf -n "$1" 2>/dev/null | grep -q "Name: $2\$"; }

# events: the lines of the trace from the probe's name on
events() { sed 's/^[^]]*] //' "$tmp/trace"; }

# said: of these events those that the program says it has had, in $tmp/own
said() { events | sed -E "${1-}" | grep -xFf "$tmp/own"; }

# --- C++ exceptions
cat >"$tmp/app.cc" <<'END'
#include <cstdio>
#include <typeinfo>

struct Oops { int code; };

template <class T> static void say(const char *what, const T &e)
{
	printf("libstdcxx:%s object=%p type=%p\n", what, (const void *)&e, (const void *)&typeid(T));
}

int main()
{
	getchar();
	for (int i = 0; i < 3; i++) {
		try {
			try {
				throw Oops{i};
			} catch (const Oops &e) {
				say("throw", e);
				say("catch", e);
				say("rethrow", e);
				throw;
			}
		} catch (const Oops &e) {
			say("catch", e);
		}
	}
	puts("done");
	fflush(stdout);
	getchar();
}
END
libstdcxx=
g++ -O1 -o "$tmp/app" "$tmp/app.cc" 2>"$tmp/err" &&
	libstdcxx=$(ldd "$tmp/app" | sed -n 's/.*libstdc++.* => \([^ ]*\) .*/\1/p')
if has "${libstdcxx:-/}" catch; then
	live_start "$tmp/app"
	live_round -t 'libstdcxx:*' $live_pid
	grep ^libstdcxx "$tmp/answers" >"$tmp/own"
	is "$(events)" "$(cat "$tmp/own")" "libstdc++: each throw, catch and rethrow, its object and type, as the program has them"
else
	skip "libstdc++" "no C++ compiler, or a library without probes"
fi

# --- the C library and its loader: one that has probes runs the program, which was linked with the system's
cat >"$tmp/app.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond;
static jmp_buf env;

static void *start(void *arg)
{
	return (char *)arg + 1;
}

static void jump(void)
{
	if (!setjmp(env))
		longjmp(env, 4711);
	printf("libc:setjmp env=%p val=0\n", (void *)env);
	printf("libc:longjmp env=%p val=4711\nlibc:longjmp_target env=%p val=4711\n", (void *)env, (void *)env);
}

static void lock(void)
{
	void *m = &mutex, *c = &cond, *r = &rwlock;
	pthread_mutex_init(&mutex, NULL);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	printf("libc:mutex_init mutex=%p\nlibc:mutex_entry mutex=%p\nlibc:mutex_acquired mutex=%p\n", m, m, m);
	printf("libc:mutex_release mutex=%p\n", m);
	pthread_cond_init(&cond, NULL);
	pthread_cond_signal(&cond);
	pthread_cond_broadcast(&cond);
	pthread_cond_destroy(&cond);
	printf("libc:cond_init cond=%p cond_attr=0x0\nlibc:cond_signal cond=%p\nlibc:cond_broadcast cond=%p\n", c, c, c);
	printf("libc:cond_destroy cond=%p\n", c);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	printf("libc:rdlock_entry rwlock=%p\nlibc:rdlock_acquire_read rwlock=%p\nlibc:rwlock_unlock rwlock=%p\n", r, r, r);
	printf("libc:wrlock_entry rwlock=%p\nlibc:wrlock_acquire_write rwlock=%p\nlibc:rwlock_unlock rwlock=%p\n", r, r, r);
}

static void thread(void)
{
	pthread_t t;
	void *result;
	pthread_create(&t, NULL, start, &mutex);
	pthread_join(t, &result);
	printf("libc:pthread_create newthread=%p attr=0x0 arg=%p\n", (void *)&t, (void *)&mutex);
	printf("libc:pthread_start pd=0x%lx arg=%p\n", (unsigned long)t, (void *)&mutex);
	printf("libc:pthread_join threadid=%lu\n", (unsigned long)t);
	printf("libc:pthread_join_ret threadid=%lu result=0 pd_result=%p\n", (unsigned long)t, result);
}

static void tune(void)
{
	mallopt(M_MMAP_THRESHOLD, 200000);
	mallopt(M_MMAP_THRESHOLD, 300000);
	printf("libc:memory_mallopt param_number=%d value=200000\n", M_MMAP_THRESHOLD);
	printf("libc:memory_mallopt param_number=%d value=300000\n", M_MMAP_THRESHOLD);
}

static void load(void)
{
	struct link_map *map = dlopen("libm.so.6", RTLD_NOW);
	void *debug = NULL;
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			debug = (void *)d->d_un.d_ptr;
	printf("rtld:map_start lmid=0 r_debug=%p\nrtld:map_complete lmid=0 r_debug=%p new=%p\n", debug, debug, (void *)map);
	printf("rtld:reloc_start lmid=0 r_debug=%p\nrtld:reloc_complete lmid=0 r_debug=%p new=%p\n", debug, debug, (void *)map);
	if (map)
		dlclose(map);
	printf("rtld:unmap_start lmid=0 r_debug=%p\nrtld:unmap_complete lmid=0 r_debug=%p\n", debug, debug);
}

int main(void)
{
	getchar();
	jump();
	lock();
	thread();
	tune();
	load();
	puts("done");
	fflush(stdout);
	getchar();
}
END
gcc -O1 -o "$tmp/app" "$tmp/app.c" 2>"$tmp/err"
libc='' loader=
for file in ${BTGEN_TEST_LIBC-} /lib/*-linux-gnu/libc.so.6 /lib64/libc.so.6 "${BTGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/btgen}"/bpftrace-*/lib/libc.so.6; do
	for ld in "${file%/*}"/ld-linux-*.so.* "${file%/*}/elf/ld.so"; do
		[ -z "$libc" ] && has "$file" longjmp && has "$ld" map_start && libc=$file loader=$ld
	done
done
if [ -n "$libc" ] && [ -x "$tmp/app" ]; then
	probes=()
	for name in setjmp longjmp longjmp_target mutex_init mutex_entry mutex_acquired mutex_release 'cond_*' rdlock_entry \
		rdlock_acquire_read wrlock_entry wrlock_acquire_write rwlock_unlock pthread_create pthread_start pthread_join \
		pthread_join_ret memory_mallopt; do
		probes+=(-t "libc:$name")
	done
	for name in map_start map_complete reloc_start reloc_complete unmap_start unmap_complete; do
		probes+=(-t "rtld:$name")
	done
	live_start "$loader" --library-path "${libc%/*}" "$tmp/app"
	live_round "${probes[@]}" $live_pid
	grep -E '^(libc|rtld):' "$tmp/answers" >"$tmp/own"
	# With debug information it is the loader's own variables that give the names.
	is "$(said 's/ pc=.*//; s/ start_routine=[^ ]*//; s/ nsid=/ lmid=/; s/ r=/ r_debug=/; s/ map=/ new=/' | sort)" "$(sort "$tmp/own")" \
		"C library, loader: jumps, locks, threads, malloc's parameters, libraries as the program has them"
else
	skip "C library, loader" "no C compiler, or no C library with probes (BTGEN_TEST_LIBC can name one)"
fi

# --- Python
cat >"$tmp/app.py" <<'END'
import gc, sys

def say(event, **values):
	print('python:%s %s' % (event, ' '.join('%s=%s' % (k, '"%s"' % v if isinstance(v, str) else v) for k, v in values.items())))

def leaf(n):
	code = sys._getframe().f_code
	say('function__entry', filename=code.co_filename, funcname=code.co_name, lineno=code.co_firstlineno)
	say('function__return', filename=code.co_filename, funcname=code.co_name, lineno=code.co_firstlineno + 4)
	return n + 1

class Ring:
	def __init__(self):
		self.self = self

sys.stdin.read(1)
sys.setprofile(lambda *a: None) # Python 3.11 reports the calls of functions only then
leaf(1)
sys.setprofile(None)
gc.collect()
for i in range(7):
	Ring()
say('gc__start', generation=1)
say('gc__done', collected=gc.collect(1))
say('import__find__load__start', modulename='part')
import part
say('import__find__load__done', modulename='part', found=1)
print('done', flush=True)
sys.stdin.read(1)
END
python=$(readlink -f /usr/bin/python3)
if has "${python:-/}" gc__done; then
	: >"$tmp/part.py"
	live_start "$python" -B "$tmp/app.py"
	calls='-t function__entry -t function__return' without='^$'
	has "$python" function__entry || calls='' without=^python:function__ # Python 3.13
	# shellcheck disable=SC2086 # several options
	live_round $calls -t gc__start -t gc__done -t 'import__find__load__*' $live_pid
	grep ^python "$tmp/answers" | grep -v "$without" >"$tmp/own"
	is "$(said | grep -v generation=2)" "$(cat "$tmp/own")" "Python: calls, collections and imports as the program has them, in order"
else
	skip "Python" "no /usr/bin/python3, or one without probes"
fi

# --- libvirt: the library logs what its probes fire for, under the same names
libvirt=$(ldd "$(command -v virsh)" 2>/dev/null | sed -n 's/.*libvirt\.so.* => \([^ ]*\) .*/\1/p')
if has "${libvirt:-/}" object_new; then
	log=$tmp/libvirt.log
	live_start /usr/bin/env LIBVIRT_DEBUG=debug LIBVIRT_LOG_OUTPUTS="1:file:$log" virsh -c test:///default
	wait_for grep -q classname=virDomainObj "$log"
	ok "libvirt: it attaches" live_trace -t object_new -t object_dispose -t 'libvirt:event_glib_*' $live_pid
	before=$(wc -l <"$log")
	live_say 'connect test:///default' list quit
	exec 8>&-
	wait_end "$live_pid"
	live_wait
	tail -n +$((before + 1)) "$log" | sed -nE 's/.* : (OBJECT_NEW|OBJECT_DISPOSE|EVENT_GLIB_[A-Z_]*): /libvirt:\L\1\E /p' |
		sed -E 's/\(nil\)/0x0/g; s/=-1/=18446744073709551615/g; s/ interval=/ frequency=/; s/ classname=(.*)/ klassname="\1"/' >"$tmp/own"
	like "$(wc -l <"$tmp/own")" '^[2-9][0-9]' "libvirt: its log has objects and timers"
	is "$(events | sort)" "$(sort "$tmp/own")" "libvirt: each of them is there, with its values"
else
	skip "libvirt" "no virsh (libvirt-clients), or a library without probes"
fi

# --- SystemTap: which commands it runs
stap=$(command -v stap)
if has "${stap:-/}" stap_system__start; then
	ok "stap: it attaches" live_trace -x "$stap" -t 'stap_system__*' -t pass0__start -t pass6__end
	"$stap" -vv -p2 -e 'probe begin { exit() }' >"$tmp/stap.log" 2>&1
	wait_for grep -q pass6__end "$tmp/trace"
	live_wait INT
	sed -nE 's/^Running (.*)/stap:stap_system__start command="\1"/p; s/^Spawn waitpid result .*: (.*)/stap:stap_system__complete ret=\1/p' \
		"$tmp/stap.log" >"$tmp/own"
	like "$(cat "$tmp/own")" '^stap:stap_system__start command="rm -rf ' "stap: it says that it removes its folder"
	is "$(said 's/ pid=.*//; s/command=" /command="/')" "$(cat "$tmp/own")" "stap: the commands that it says it runs, and what they end with"
	is "$(events | sed -n 's/.*pass.* session=//p' | uniq | wc -l)" 1 "stap: one session in all passes"
else
	skip "stap" "no stap (systemtap), or one without probes"
fi

done_testing
