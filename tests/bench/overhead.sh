#!/usr/bin/env bash
# make bench-scripts: what the scripts in bpf/ cost the programs that they trace, for each event.
#
#   tests/bench/overhead.sh [ROW]...        all rows, or these (row_ROW below); so does BENCH='ROW ...'
#
# A row is a program that does one thing again and again. It does so without the script and with it, in turns: ROUNDS times
# (5) each. What is measured is the processor time that the process used, all of its threads: the work of a probe is done
# in the thread that meets it. A column each:
#
#   event    what is counted as one
#   itself   microseconds that it takes without the script
#   added    microseconds more with it: the median of the rounds' differences
#   from to  the least and the greatest of them
#   seen     which part of the events the script's output has; less than 99% and the row says so, as an event that
#            the kernel had to drop costs less
#   tracer   microseconds of bpftrace itself for each event, on whichever processor it runs
#   account  what the account of -v has for each event: it should be `added`
#
# NVMe disks are not needed: their scripts run on the block layer's tracepoints, see on_block.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"
set -u
work=$top/tests/bench/programs
rounds=${ROUNDS:-5}

# used PID: nanoseconds of processor time of the process, with threads that have ended (clock_getcpuclockid(3)); 0: it is gone
used() {
	python3 -c 'import sys, time
print(time.clock_gettime_ns(~int(sys.argv[1]) << 3 | 2))' "$1" 2>/dev/null || echo 0
}

# tracer_pid: bpftrace's, a child of btgen, which bpftrace.sh has become
tracer_pid() { pgrep -P "$live_tracer" | head -n 1; }

# answers: how often it said "done"
answers() { grep -c '^done' "$tmp/answers"; }
has_answers() { [ "$(answers)" -ge "$1" ]; }

# batch N: the work, N times
batch() {
	local before
	before=$(answers)
	live_say "$1"
	wait_for has_answers $((before + 1)) || { echo "$row: the program did not answer" >&2; exit 1; }
}

# batches N: as many as $repeat, for programs that cannot take more at once
repeat=1
batches() {
	for _ in $(seq $repeat); do batch "$1"; done
}

# seen REGEX: how many events the trace has: lines that match, sums of maps that match
seen() {
	awk -v re="$1" '{ sub(/ *$/, "") }
		/^@/ { on = $0 ~ re && /:$/; if ($0 ~ re && !/:$/) n += $NF; next }
		on && /^[\[(]/ { sub(/\|.*/, ""); n += $NF; next }
		$0 ~ re { n++ }
		END { print n + 0 }' "$tmp/trace"
}

# measure EVENT N PER REGEX ARG...: a row of the table. Batches of N have N times PER events, which the trace has as REGEX;
# PER 0: as many as it has; below 0: it has none of them. ARG... is what live_trace gets. The process that is measured is
# $measured, else $live_pid.
measure() {
	local event=$1 n=$2 per=$3 regex=$4 pid=${measured:-$live_pid} off on begin tracer tracer_begin time
	shift 4
	for _ in $(seq "$rounds"); do
		batch $((n / 10))
		begin=$(used "$pid")
		batches "$n"
		off=$(($(used "$pid") - begin))
		live_trace --max-cost none -v "$@" || { echo "$row: no trace" >&2; exit 1; }
		time=$(date +%s%N)
		batch $((n / 10))
		sleep 0.2
		tracer=$(tracer_pid)
		tracer_begin=$(used "${tracer:-0}")
		begin=$(used "$pid")
		batches "$n"
		on=$(($(used "$pid") - begin))
		sleep 0.5
		tracer=$(($(used "${tracer:-0}") - tracer_begin))
		time=$(($(date +%s%N) - time))
		live_wait INT
		echo "$off $on $(seen "$regex") $tracer $(account $time)"
	done >"$tmp/rounds"
	[ -z "${KEEP_RESULTS-}" ] || cp "$tmp/trace" "$tmp/messages" "$KEEP_RESULTS/"
	python3 "$top/tests/bench/overhead.py" "$event" $((n * repeat)) $((n / 10)) "$per" "$tmp/rounds"
}

# account NS: nanoseconds that the account of the trace, which lasted NS, has
account() { sed -n 's/^btgen: cost: \([0-9.]*\) % of a processor$/\1/p' "$tmp/messages" | awk -v ns="$1" '{ n = $1 / 100 * ns } END { printf "%.0f\n", n }'; }

# start KIND PROGRAM ARG...: a program that reads a number and says "done"
start() {
	rm -f "$tmp/answers"
	live_start "$@"
	wait_for test -e "$tmp/answers"
}
stop() {
	exec 8>&-
	wait "$live_pid" 2>/dev/null
}
build_calls() {
	[ -x "$tmp/calls" ] || gcc -O1 -pthread -fno-builtin -fno-omit-frame-pointer -rdynamic -o "$tmp/calls" "$work/calls.c" || exit 1
}
calls() {
	build_calls
	start "$tmp/calls" "$1"
}
# own_and_other EVENT N PER REGEX SCRIPT: two rows of a script that looks at all processes and picks one: what an event costs in
# that one, and what it costs when it is another, which does nothing
own_and_other() {
	measure "$1" "$2" "$3" "$4" "$live_pid" "$5"
	sleep 1000 8>&- &
	own $!
	measure "$1 of another process" "$2" -"$3" . $! "$5"
}

row_files() {
	calls read
	own_and_other 'read()' 20000 1 '^@reads' files.bt
	stop
	calls open
	measure 'open or close, with its line' 500 2 'opens|closes' "$live_pid" files.bt
}
row_syscalls() {
	calls read
	own_and_other 'read()' 20000 1 '^@calls.read' syscalls.bt
}
row_syscall-latency() {
	calls read
	own_and_other 'read()' 20000 1 '^@us.read' syscall-latency.bt
}
row_readv() {
	calls readv
	own_and_other 'readv()' 20000 1 '^@bytes' readv.bt
}
row_offcpu() {
	calls switch
	own_and_other 'switch' 5000 2 '^@wait_us' offcpu.bt
}
row_malloc() {
	calls malloc
	measure 'malloc() or free()' 5000 2 '^@calls.(malloc|free)' "$live_pid" malloc.bt
}
row_leaks() {
	calls malloc
	measure 'malloc() and free()' 5000 -1 '^@bytes.*keep' "$live_pid" leaks.bt
}
row_getaddrinfo() {
	calls getaddrinfo
	measure 'getaddrinfo(), with its line' 500 1 ' took ' "$live_pid" getaddrinfo.bt
}
row_connect-accept() {
	calls connect
	measure 'connect(), with its line' 500 1 'connects to' "$live_pid" connect-accept.bt
}
row_fsync() {
	calls fsync
	own_and_other 'fsync()' 5000 1 '^@us' fsync.bt
}
row_tls() {
	gcc -O1 -pthread -o "$tmp/tls" "$top/tests/live/tls.c" -lssl -lcrypto || exit 1
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tmp/key" -out "$tmp/cert" -days 2 -subj /CN=test 2>/dev/null
	cat "$tmp/key" "$tmp/cert" >"$tmp/both"
	start "$tmp/tls" "$tmp/both"
	measure 'SSL_read() or SSL_write(), with its line' 300 4 'bytes, peer' "$live_pid" tls.bt
}
row_arenas() {
	calls malloc
	measure 'malloc() and free()' 5000 1 '^@blocks' "$live_pid" arenas.bt
}
row_loader() {
	calls dlsym
	measure 'dlsym()' 5000 1 '^@symbols' "$live_pid" loader.bt
	stop
	calls dlopen
	measure 'dlopen() or dlclose(), with its lines' 300 2 '<' "$live_pid" loader.bt
}
row_longjmp() {
	calls setjmp
	measure 'setjmp() and longjmp()' 3000 1 '^@jumps' "$live_pid" longjmp.bt
	measure 'longjmp() alone' 3000 1 '^@jumps' -D SETJMP=0 "$live_pid" longjmp.bt
	measure 'setjmp() and longjmp(), with its line' 500 1 ' jumps to ' -D LINES "$live_pid" longjmp.bt
}
row_mutex() {
	calls mutex
	measure 'pthread_mutex_lock(), free' 5000 1 '^@calls' "$live_pid" mutex.bt
}
row_condvar() {
	calls condvar
	measure 'pthread_cond_clockwait(), its time over' 5000 1 '^@calls' "$live_pid" condvar.bt
}
row_exceptions() {
	g++ -O1 -fno-omit-frame-pointer -o "$tmp/throws" "$work/throws.cc" || exit 1
	start "$tmp/throws"
	measure 'throw and its catch' 1000 1 '^@throws' "$live_pid" exceptions.bt
	measure 'throw and its catch, with a line' 500 1 '^@throws' -D LINES "$live_pid" exceptions.bt
}
row_python() {
	local python
	python=$(readlink -f /usr/bin/python3)
	start "$python" -I "$work/calls.py" call
	measure 'call and return' 5000 1 '^@calls.*nothing' "$live_pid" python.bt
	measure 'call and return, with lines' 400 2 ' nothing ' -D FLOW "$live_pid" python.bt
	stop
	start "$python" -I "$work/calls.py" gc
	measure 'collection' 2000 1 '^@gc_us' "$live_pid" python.bt
}
row_ruby() {
	start /usr/bin/ruby --disable-gems "$work/calls.rb" call
	measure 'call and return' 5000 1 '^@calls.*nothing' "$live_pid" ruby.bt
	measure 'call and return, with lines' 400 2 '#nothing ' -D FLOW "$live_pid" ruby.bt
	stop
	start /usr/bin/ruby --disable-gems "$work/calls.rb" raise
	measure 'exception, with its line' 500 1 ' raises ' "$live_pid" ruby.bt
}
row_php() {
	USE_ZEND_DTRACE=1 start "$(command -v php)" -n "$work/calls.php"
	measure 'call and return' 5000 1 '^@calls.*nothing' "$live_pid" php.bt
	measure 'call and return, with lines' 400 2 ' nothing ' -D FLOW "$live_pid" php.bt
}
row_java() {
	local home dir
	for dir in /usr/lib/jvm/*; do
		[ ! -x "$dir/bin/javac" ] || ! readelf -n "$dir/lib/server/libjvm.so" 2>/dev/null | grep -q 'Provider: hotspot' || home=$dir
	done
	"${home:?no Java with probes}/bin/javac" -d "$tmp" "$work/Work.java" || exit 1
	start "$home/bin/java" -Xint -XX:+UseSerialGC -Xmx512m -cp "$tmp" Work class
	measure 'class' 400 1 '^@classes' "$live_pid" java.bt
	measure 'class, with its line' 400 1 '^@classes' -D CLASSES "$live_pid" java.bt
	stop
	start "$home/bin/java" -Xint -XX:+UseSerialGC -Xmx512m -cp "$tmp" Work thread
	measure 'start or end of a thread, with its line' 300 2 ': thread ' "$live_pid" java.bt
}

# A backend of its own, measured alone: N statements for each N it reads.
backend() {
	cat >"$tmp/session" <<-'EOF'
		#!/bin/bash
		statement=$1
		shift
		{
			echo 'SELECT pg_backend_pid();'
			while read -r n; do
				for ((i = 0; i < n; i++)); do echo "$statement"; done
				echo '\echo done'
			done
		} | "$@" | grep --line-buffered -xE 'done|[0-9]{2,}'
	EOF
	chmod +x "$tmp/session"
	start "$tmp/session" "$1" psql -X -q -At -h "$tmp/db" -U tester -d postgres
	wait_for test -s "$tmp/answers"
	measured=$(head -n 1 "$tmp/answers")
}
row_postgresql() {
	postgresql_start query__start
	backend 'SELECT;'
	measure 'statement, with its line' 500 1 ' ms SELECT' "$postmaster" postgresql.bt
	measure 'statement without a line' 4000 1 '^@statements' -D SLOW_MS=1000 "$postmaster" postgresql.bt
}
row_postgresql-waits() {
	postgresql_start query__start
	backend 'SELECT;'
	measure 'transaction' 4000 1 '^@transaction_us' "$postmaster" postgresql-waits.bt
	stop
	sql -c 'CREATE TABLE t AS SELECT generate_series(1, 20000) AS n'
	backend 'SELECT FROM t OFFSET 20000;' # its 89 blocks
	measure 'buffer' 100 89 '^@buffers' "$postmaster" postgresql-waits.bt
}

# nvmf_tgt with a subsystem and a controller; what it is told for each 1 is in $tmp/commands
target() {
	printf '%s\n' "$@" >"$tmp/commands"
	cat >"$tmp/session" <<-'EOF'
		#!/bin/bash
		{
			cat "$1"
			while read -r n; do
				for ((i = 0; i < n; i++)); do cat "$2"; done
				echo end_of_batch # no command: an error, the only one
			done
		} | "${@:3}" 2>&1 | sed -un 's/^error.*/done/p' # mawk would read until the pipe ends
	EOF
	chmod +x "$tmp/session"
	{
		sed '/^bdev_nvme_reset/,$d' "$targets/tour.txt"
		echo 'bdev_null_create null1 1000 512'
	} >"$tmp/begin"
	start "$tmp/session" "$tmp/begin" "$tmp/commands" "$targets/nvmf_tgt" -m 0x3 --interrupt-mode
	batch 1
	measured=$(pgrep -P "$live_pid" reactor_) # the main thread has that name, as in SPDK
	repeat=10
}
subsystem=nqn.2016-06.io.spdk:cnode1
row_nvmf() {
	target "nvmf_subsystem_add_ns $subsystem null1 -n 5" "nvmf_subsystem_remove_ns $subsystem 5"
	measure 'event, with its line' 20 0 'nqn' "$measured" nvmf.bt
}
row_spdk() {
	target "nvmf_subsystem_add_ns $subsystem null1 -n 5" "nvmf_subsystem_remove_ns $subsystem 5"
	measure 'event, with its line' 20 0 '^[0-9]' "$measured" spdk.bt
	measure 'event, with its line, MESSAGES=0' 20 0 '^[0-9]' -D MESSAGES=0 "$measured" spdk.bt
}
row_send_msg() {
	target "nvmf_subsystem_add_ns $subsystem null1 -n 5" "nvmf_subsystem_remove_ns $subsystem 5"
	measure 'message' 30 0 '^@send_msg' "$measured" send_msg.bt
}
row_intr-wakeups() {
	target "nvmf_subsystem_add_ns $subsystem null1 -n 5" "nvmf_subsystem_remove_ns $subsystem 5"
	measure 'message' 30 0 '^@messages' -D all "$measured" intr-wakeups.bt
	measure 'message, with its line' 20 0 'message runs' -D all -D LINES "$measured" intr-wakeups.bt
}
row_qpair() {
	local host=nqn.2014-08.org.nvmexpress:uuid:6a3ba1d7-1d5f-4b5c-a7a3-29e6ab2f4be5
	target "disconnect $host" "connect $host $subsystem -i 3"
	measure 'event, with its line' 20 0 'qpair=' "$measured" qpair.bt
}
row_nvme() {
	target 'bdev_nvme_reset_controller Nvme0'
	measure 'event, with its line' 30 0 'Nvme0' "$measured" nvme.bt
}
row_nvmf_timeout() {
	target 'bdev_nvme_reset_controller Nvme0'
	measure 'event, with its line' 30 0 ': Nvme0' "$measured" nvmf_timeout.bt
}
row_sched() {
	target 'framework_set_scheduler dynamic -p 0'
	measure 'line' 30 0 '^[0-9]' "$measured" sched.bt
}

# nvme_on_block SCRIPT: an NVMe script with the block layer's tracepoints in the place of the driver's, in $tmp/nvme. The fields
# are others of the same sizes, such that each command looks like a read of q1.
nvme_on_block() {
	mkdir -p "$tmp/nvme"
	local file
	for file in "$1" nvme-names.bt nvme-status.bt; do
		sed -E 's/tracepoint:nvme:nvme_setup_cmd/tracepoint:block:block_rq_issue/
			s/tracepoint:nvme:nvme_complete_rq/tracepoint:block:block_rq_complete/
			s/args->ctrl_id/args->dev/g; s/args->qid/(args->nr_sector >> 3)/g; s/args->opcode/(args->nr_sector >> 2)/g
			s/args->cid/(args->sector \& 0xffff)/g; s/args->nsid/args->nr_sector/g; s/args->disk/args->rwbs/g
			s/args->cdw10\[[a-z0-9]+\]/args->sector/g; s/args->result/args->sector/g; s/args->status/args->error/g
			s/args->(flags|metadata|fctype|retries)/args->ioprio/g' "$top/bpf/$file" >"$tmp/nvme/$file"
	done
}

# on_block EVENT PER REGEX OPTION... SCRIPT: a row of an NVMe script, for reads of 4 KiB from a loop device. A command's completion
# runs in nobody's thread: what the kernel says of the time of the two BPF programs is taken (kernel.bpf_stats_enabled, which
# is put back), so what the kernel needs to come to them, some 0.1 us, is not in it.
on_block() {
	local event=$1 per=$2 regex=$3 n=5000 loop stats tracer begin
	shift 3
	nvme_on_block "${!#}"
	truncate -s 64M "$tmp/image"
	loop=$(losetup -f --show "$tmp/image") || { echo "$row: no loop device" >&2; exit 1; }
	stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
	# shellcheck disable=SC2064 # these values
	trap "echo $stats >/proc/sys/kernel/bpf_stats_enabled; losetup -d $loop; tap_cleanup" EXIT
	start "$tmp/calls" direct "$loop"
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	for _ in $(seq "$rounds"); do
		live_trace "${@:1:$#-1}" "$tmp/nvme/${!#}" || { echo "$row: no trace" >&2; exit 1; }
		batch $((n / 10))
		tracer=$(tracer_pid)
		ran "$tracer" >"$tmp/ran"
		begin=$(used "$tracer")
		batch $n
		sleep 0.5
		ran "$tracer" >>"$tmp/ran"
		begin=$(($(used "$tracer") - begin))
		live_wait INT
		echo "0 $(awk 'NR == 1 { began = $1 } END { print $1 - began }' "$tmp/ran") $(seen "$regex") $begin"
	done >"$tmp/rounds"
	echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
	python3 "$top/tests/bench/overhead.py" "$event" $n $((n / 10)) "$per" "$tmp/rounds"
	stop
	losetup -d "$loop"
	trap tap_cleanup EXIT
}
# ran PID: nanoseconds that the BPF programs of a process have run
ran() { cat "/proc/$1/fdinfo/"* 2>/dev/null | awk '/^run_time_ns:/ { n += $2 } END { print n + 0 }'; }
row_nvme-trace() {
	build_calls
	on_block 'command, with its two lines' 1 ': complete ' nvme-trace.bt
	on_block 'command that is no failure, with ERRORS=1' -1 . -D ERRORS=1 nvme-trace.bt
}
row_nvme-latency() {
	build_calls
	on_block 'command' 1 '^@completed' nvme-latency.bt
	on_block 'command, with PERCENTILES=1 SPLIT_SIZE=1' 1 '^@completed' -D PERCENTILES=1 -D SPLIT_SIZE=1 nvme-latency.bt
}

main() {
	if [ "${1-}" = --row ]; then
		row=$2
		"row_$row"
		exit
	fi
	local name failed=0
	# shellcheck disable=SC2086 # a list of names
	[ $# -gt 0 ] || set -- ${BENCH:-$(declare -F | sed -n 's/^declare -f row_//p')}
	printf '%-18s %-40s %8s %8s %8s %8s %6s %8s %8s\n' "us, medians of $rounds" event itself added from to seen tracer account
	for name; do
		declare -F "row_$name" >/dev/null || { echo "overhead.sh: no row $name" >&2; exit 2; }
		printf '%s\n' "$name"
		guard "${BASH_SOURCE[0]}" --row "$name" 8>&- || failed=1
	done
	exit $failed
}
main "$@"
