#!/usr/bin/env bash
# What the scripts for Python, PHP, Ruby and Java print is what bare bpftrace prints of the same events, given the
# program that btgen expand makes of each.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/equal.sh
. "$(dirname "$0")/../equal.sh"
# shellcheck disable=SC2034 # equal.sh's
equal_schema=$(python_with "jsonschema; jsonschema.Draft202012Validator") || echo "# JSON is not looked at: python3-jsonschema is missing"

# has_probes PROVIDER FILE: in it, or in a library that it is linked with
has_probes() {
	{ echo "$2" && ldd "$2" | awk '$3 ~ "^/" { print $3 }'; } | xargs readelf -n 2>/dev/null | grep -q "Provider: $1\$"
}

# one PROGRAM...: starts it, which says "ready"
one() {
	equal_start "$@"
	wait_for grep -q ready "$tmp/answers"
}

# round: it does its work once
round() {
	ok "they attach" equal_attached
	live_say work
	wait_for grep -q 'done' "$tmp/answers"
	wait_for live_idle
	equal_end
}

over() {
	exec 8>&-
	wait_end "$live_pid"
}

python=$(readlink -f /usr/bin/python3)
cat >"$tmp/app.py" <<'END'
import gc, sys
gc.disable()
sys.setprofile(slice) # 3.11 fires its function probes only then

def leaf(n):
    return n

def fail():
    raise ValueError("no")

def work():
    leaf(1)
    try:
        fail()
    except ValueError:
        pass

print("ready", flush=True)
for line in sys.stdin:
    work()
    sys.setprofile(None)
    for generation in 0, 1, 2, 2:
        gc.collect(generation)
    import colorsys
    try:
        import no_such_module
    except ImportError:
        pass
    print("done", flush=True)
END
if has_probes python "$python"; then
	one "$python" -I "$tmp/app.py"
	equal_watch python -D FLOW python.bt
	round
	equal_is python -t gc_us -t total_us
	over
else
	skip "python" "$python was built without probes"
fi

cat >"$tmp/part.php" <<'END'
<?php
function included() { return 1; }
END
cat >"$tmp/app.php" <<'END'
<?php
class Shop {
	function open() { try { $this->sell(); } catch (RuntimeException $e) { } }
	function sell() { throw new RuntimeException("no"); }
}
echo "ready\n";
while (fgets(STDIN) !== false) {
	(new Shop)->open();
	require "part.php";
	included();
	echo "done\n";
}
END
if php=$(command -v php) && has_probes php "$(readlink -f "$php")"; then
	USE_ZEND_DTRACE=1 one "$php" -n "$tmp/app.php"
	equal_watch php -D FLOW php.bt
	round
	equal_is php -t total_us -t method_us
	over
else
	skip "php" "no php with probes here"
fi

cat >"$tmp/app.rb" <<'END'
class Shop
  def open
    begin
      sell
    rescue ArgumentError
    end
  end

  def sell
    raise ArgumentError, "no"
  end
end

$stdout.sync = true
TracePoint.new(:call, :return, :c_call) { }.enable
puts "ready"
while gets
  3.times { Shop.new.open }
  2.times { GC.start }
  require "English"
  puts "done"
end
END
if [ -x /usr/bin/ruby ] && has_probes ruby /usr/bin/ruby; then
	one /usr/bin/ruby --disable-gems "$tmp/app.rb"
	equal_watch ruby -D FLOW -D OBJECTS ruby.bt
	round
	equal_is ruby -t total_us -t gc_us
	over
else
	skip "ruby" "no ruby with probes here"
fi

cat >"$tmp/App.java" <<'END'
import java.io.*;
import java.util.concurrent.locks.LockSupport;

public class App {
	static final Object lock = new Object();
	static class Late { static int n = 1; }
	static int twice(int i) { return 2 * i; }

	static int work() throws Exception {
		Thread t = new Thread("worker") { public void run() { synchronized (lock) { } } };
		synchronized (lock) {
			t.start();
			while (t.getState() != Thread.State.BLOCKED)
				LockSupport.parkNanos(1000000);
		}
		t.join();
		System.gc();
		int n = 0;
		for (int i = 0; i < 100000; i++)
			n += twice(i);
		return n + Late.n;
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		System.out.println("ready");
		while (in.readLine() != null)
			System.out.println("done " + work());
	}
}
END
home=
for dir in /usr/lib/jvm/*; do
	[ ! -x "$dir/bin/javac" ] || ! has_probes hotspot "$dir/lib/server/libjvm.so" || { home=$dir && break; }
done
if [ -n "$home" ] && "$home/bin/javac" -J-XX:-UsePerfData -d "$tmp" "$tmp/App.java" >"$tmp/err" 2>&1; then
	one "$home/bin/java" -XX:-UsePerfData -Xmx64m -XX:+UseSerialGC -XX:+DTraceMonitorProbes -cp "$tmp" App
	equal_watch java -D CLASSES -D COMPILES java.bt
	ok "they attach" equal_attached
	live_say work
	wait_for grep -q 'done' "$tmp/answers"
	# Compilers still work: both see it up to the end.
	over
	equal_end target
	equal_is java -u -t '.*_us'
else
	skip "java" "no Java with a compiler and probes in /usr/lib/jvm"
fi

done_testing
