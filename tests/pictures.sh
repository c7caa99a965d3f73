#!/usr/bin/env bash
# make pictures: the pictures of README.md and docs/pictures.md, of real runs on this machine: docs/pictures/*.png. Root, 30 seconds.
# Needs what tests/fleet/report.t does, and a PostgreSQL server.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
export live_partly=yes # not yet
# shellcheck source=tests/live.sh
. "$(dirname "$0")/live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/postgresql.sh"
# In a mount namespace with tracefs, which offcpu.bt needs
[ -n "${BTGEN_IN_TRACEFS-}" ] || exec "$top/tests/matrix/tracefs.sh" "$0"
need_tracing
out=$top/docs/pictures
mkdir -p "$out"

# capture NAME ARG...: as live_trace, into $tmp/NAME.json
capture() {
	local file=$tmp/$1.json
	shift
	rm -f "$tmp/ready"
	"$live_sh" -s -o "$file" --ready-file "$tmp/ready" "$@" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	wait_for test -s "$tmp/ready" || { cat "$tmp/messages" >&2; exit 1; }
}

# picture NAME SELECTOR [JS]: that part of NAME's page
picture() {
	"$top/scripts/btgen-report" "$tmp/$1.json" || exit
	TMPDIR=$tmp /usr/bin/python3 "$top/tests/browser.py" --width 900 --run "${3-0}" --shot "$out/$1.png" --of "$2" "$tmp/$1.html" |
		jq -r '.errors[]'
	ls -l "$out/$1.png"
}

live_nvmf nvmf_tgt
capture timeline "$live_pid" nvmf.bt
live_say start
cat "$targets/cnode1.txt" >&8
sleep 0.01
live_quit
live_wait
picture timeline '#lanes'

postgresql_start query__start
pgbench -i -q -s 2 -h "$tmp/db" -U tester postgres >/dev/null 2>&1
capture latencies $postmaster postgresql.bt
pgbench -n -h "$tmp/db" -U tester -c 4 -j 2 -T 5 postgres >"$tmp/pgbench" 2>&1
live_wait INT
postgresql_stop
picture latencies '#heat'

cat >"$tmp/app.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define CALL __attribute__((noinline)) static void
CALL read_body(int n) { usleep(300 + 200 * (n % 4)); __asm__(""); }
CALL write_log(void) { pthread_mutex_lock(&lock); usleep(400); pthread_mutex_unlock(&lock); __asm__(""); }
CALL query_backend(int n) { usleep(500 * (n % 3)); __asm__(""); }
CALL look_up(int n) { if (n % 3) query_backend(n); write_log(); __asm__(""); }
CALL handle_request(int n) { read_body(n); look_up(n); __asm__(""); }
CALL sync_pages(void) { usleep(2500); __asm__(""); }
CALL flush_cache(void) { sync_pages(); write_log(); __asm__(""); }
static void *worker(void *p) { pthread_setname_np(pthread_self(), "worker"); for (long i = (long)p;; i++) handle_request(i); return 0; }
static void *flusher(void *p) { pthread_setname_np(pthread_self(), "flusher"); for (;;) flush_cache(); return p; }
int main(void)
{
	pthread_t t;
	for (long i = 0; i < 3; i++)
		pthread_create(&t, 0, worker, (void *)i);
	pthread_create(&t, 0, flusher, 0);
	return read(0, &t, 1);
}
END
gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread -o "$tmp/app" "$tmp/app.c" || exit
live_start "$tmp/app"
capture stacks "$live_pid" offcpu.bt
sleep 3
live_wait INT
exec 8>&-
picture stacks '#trees'
