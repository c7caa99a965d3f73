#!/usr/bin/env bash
# java.bt: the collections that the virtual machine's own log has, its classes, its threads.
# Uses the first Java under /usr/lib/jvm that has a compiler and probes.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
home=
for dir in /usr/lib/jvm/*; do
	if [ -x "$dir/bin/javac" ] && readelf -n "$dir/lib/server/libjvm.so" 2>/dev/null | grep -q 'Provider: hotspot'; then
		home=$dir
		break
	fi
done
[ -n "$home" ] || skip_all "no Java with a compiler and probes in /usr/lib/jvm (openjdk-17-jdk-headless has both)"

cat >"$tmp/App.java" <<'END'
import java.io.*;
import java.util.*;

public class App {
	static class Late {
		static int n = 1;
	}
	static final Object lock = new Object();

	// A thread that ends takes locks of its group and of itself: nobody else may want them then.
	static void waitForEnd(Thread t) {
		while (t != null && t.isAlive())
			java.util.concurrent.locks.LockSupport.parkNanos(1000000);
	}

	static class Worker extends Thread {
		final Thread before;
		Worker(int i, Thread before) {
			super("worker-" + i);
			this.before = before;
		}
		public void run() {
			synchronized (lock) {
			}
			waitForEnd(before);
		}
	}

	static int twice(int i) {
		return 2 * i;
	}

	static long work() throws Exception {
		Class.forName("jdk.internal.event.X509CertificateEvent"); // the flight recorder's: made twice
		List<byte[]> keep = new ArrayList<>();
		for (int i = 0; i < 60000; i++) {
			byte[] b = new byte[1024];
			if (twice(i) % 200 == 0)
				keep.add(b);
		}
		System.gc();
		System.gc();
		Thread[] threads = new Thread[3];
		synchronized (lock) {
			for (int i = 0; i < 3; i++) {
				threads[i] = new Worker(i, i > 0 ? threads[i - 1] : null);
				threads[i].start();
			}
			for (Thread t : threads)
				while (t.getState() != Thread.State.BLOCKED)
					Thread.sleep(1);
			Thread.sleep(20);
		}
		for (Thread t : threads)
			waitForEnd(t);
		for (Thread t : threads)
			System.out.println("lock " + lock.getClass().getName().length() + " is waited for by " + t.getId());
		return keep.size() + Late.n;
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		java.util.concurrent.locks.LockSupport.parkNanos(1); // so that it is loaded, which takes locks, too
		System.out.println("ready");
		while (in.readLine() != null)
			System.out.println("done " + work());
	}
}
END
"$home/bin/javac" -J-XX:-UsePerfData -d "$tmp" "$tmp/App.java" >"$tmp/err" 2>&1 || skip_all "javac failed: $(head -n 1 "$tmp/err")"

for collector in Serial G1; do
	options=(-D CLASSES) compile=-Xint
	[ $collector = Serial ] || options+=(-D COMPILES) compile=-Xmixed
	rm -f "$tmp/answers" "$tmp"/*.log
	live_start "$home/bin/java" -XX:-UsePerfData -Xmx64m $compile -XX:+Use${collector}GC -XX:+DTraceMonitorProbes -Xlog:gc:file="$tmp/gc.log" \
		-Xlog:class+load:file="$tmp/class.log" -cp "$tmp" App
	wait_for grep -q ready "$tmp/answers"
	not_ok "the virtual machine leaves no file beside the test's" test -e "/tmp/hsperfdata_$(id -un)/$live_pid"
	live_trace "${options[@]}" $live_pid java.bt
	pauses=$(grep -c Pause "$tmp/gc.log") classes=$(wc -l <"$tmp/class.log")
	live_say work
	wait_for grep -q 'done' "$tmp/answers"
	wait_for eval "[ \$(grep -c ends: '$tmp/trace') = 3 ]"
	cp "$tmp/class.log" "$tmp/class-then.log"
	live_wait INT
	is $live_rc 0 "$collector: ^C is status 0"
	exec 8>&-
	wait_end "$live_pid"

	own=$(grep Pause "$tmp/gc.log" | tail -n +$((pauses + 1)) | sed 's/.*Pause Full.*/full: 1/; s/.*Pause Young.*/full: 0/')
	is "$(sed -n 's/.*collection took .* us, \(full: .\)$/\1/p' "$tmp/trace")" "$own" \
		"$collector: the collections of the machine's own log, in order ($(wc -l <<<"$own"))"
	is "$(histogram gc_us)" "$(wc -l <<<"$own")" "$collector: each has its time in the histogram"
	like "$(grep -c 'full: 1' <<<"$own")" '^[2-9]' "$collector: among them the two that the program asked for"
	is "$(sed -n 's/^@classes: //p' "$tmp/trace")" "$(tail -n +$((classes + 1)) "$tmp/class-then.log" | wc -l)" \
		"$collector: as many classes were loaded as its log has"
	is "$(sed -nE 's/^[0-9.]+: class (.*)/\1/p' "$tmp/trace" | tr /+ .. | sort)" \
		"$(tail -n +$((classes + 1)) "$tmp/class-then.log" | sed -E 's/^(\[[^]]*\])+ ([^ ]+).*/\2/' | tr /+ .. | sort)" \
		"$collector: by name"
	is "$(sed -nE 's/^[0-9.]+: thread [0-9]+ (starts|ends): (worker-.)/\1 \2/p' "$tmp/trace" | sort)" "ends worker-0
ends worker-1
ends worker-2
starts worker-0
starts worker-1
starts worker-2" "$collector: threads that start and end, by name"
	is "$(histogram blocked_us)" 3 "$collector: three threads waited for the lock that the first one had"
done
is_sample java.bt

# Without a script: names and types of OpenJDK's documentation. Each text is as long as the machine says.
live_start "$home/bin/java" -XX:-UsePerfData -Xmx64m -XX:+UseSerialGC -XX:+DTraceMonitorProbes -cp "$tmp" App
wait_for grep -q ready "$tmp/answers"
ok "it attaches without a script" live_trace -t thread__start -t mem__pool__gc__begin -t vmops__begin -t gc__begin \
	-t monitor__contended__enter -t thread__park__begin $live_pid
live_say work
wait_for grep -q 'done' "$tmp/answers"
wait_for eval "[ \$(grep -c 'name=\"worker-' '$tmp/trace') = 3 ]"
live_wait INT
exec 8>&-
wait_end "$live_pid"
is "$(sed -n 's/.*thread__start name="\(worker-.\)" name_len=8 .* is_daemon=false$/\1/p' "$tmp/trace" | sort | tr '\n' ' ')" \
	"worker-0 worker-1 worker-2 " "-t prints names of threads as strings"
# With the debug package the names are those of the JVM's variables.
like "$(cat "$tmp/trace")" ' hotspot:gc__begin (is_)?full=true$' "truth values by name"
like "$(cat "$tmp/trace")" ' manager="[A-Za-z ]+" manager_len=[0-9]+ pool="Tenured Gen" pool_len=11 initial_size=[0-9]+' "pools of memory"
is "$(sed -nE 's/.*contended__enter (java_thread_id|jtid)=([0-9]+) monitor=0x[0-9a-f]+ (class_name|bytes)=0x[0-9a-f]+ (class_name_)?len=([0-9]+)$/lock \5 is waited for by \2/p' \
	"$tmp/trace" | sort)" "$(grep '^lock' "$tmp/answers" | sort)" "who waits for a lock: Java's numbers of the threads, and as long a name of its class"
like "$(grep -c 'thread__park__begin parker=0x[0-9a-f]* is_absolute=0 time=1000000$' "$tmp/trace")" '^[1-9]' \
	"threads that are parked, for as long as the program says"
is "$(grep -oE '"[^"]*" [a-z]+_len=[0-9]+' "$tmp/trace" | sort -u | awk -F '["=]' 'length($2) != $4')" "" "each text whole, and no more"

done_testing
