#!/usr/bin/env bash
# python.bt: functions in the order in which a known program runs them, its collections and its imports.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# The system's own: another one in PATH may be built without probes.
python=$(readlink -f /usr/bin/python3 2>/dev/null || command -v python3)
readelf -n "$python" 2>/dev/null | grep -q 'Provider: python' || skip_all "$python was built without probes (--with-dtrace)"

# Does its work on each line it reads, and says what the collector did by its own account.
cat >"$tmp/app.py" <<'END'
import gc, sys
gc.disable()
sys.setprofile(slice) # 3.11 fires its function probes only then

def leaf(n):
    return n

def middle(n):
    leaf(n)
    return leaf(n + 1)

class Shop:
    def open(self):
        middle(1)
        try:
            self.fail()
        except ValueError:
            pass

    def fail(self):
        raise ValueError("no")

def numbers():
    yield 1
    yield 2

def work():
    Shop().open()
    list(numbers())

def make_cycles():
    for i in range(100):
        a = []
        a.append(a)

def account():
    return [(s["collections"], s["collected"]) for s in gc.get_stats()]

print("ready", flush=True)
for line in sys.stdin:
    work()
    sys.setprofile(None)
    before = account()
    for generation in 0, 1, 2, 2:
        make_cycles()
        gc.collect(generation)
    for n, (old, new) in enumerate(zip(before, account())):
        print("gc", n, new[0] - old[0], new[1] - old[1])
    import colorsys
    try:
        import no_such_module
    except ImportError:
        pass
    print("done", flush=True)
END

live_start "$python" -I "$tmp/app.py"
wait_for grep -q ready "$tmp/answers"
ok "it attaches" live_trace -D FLOW $live_pid python.bt
live_say work
wait_for grep -q 'done' "$tmp/answers"
wait_for grep -q no_such_module "$tmp/trace"
live_wait INT
is $live_rc 0 "^C is status 0"
exec 8>&-
wait_end "$live_pid"

functions=()
version=$("$python" -c 'import sys; print(*sys.version_info[:2])')
if [ "$version" = "3 12" ] || [ "$version" = "3 13" ] || [ "$version" = "3 14" ]; then
	skip "functions" "Python 3.12 to 3.14 have no function probes"
	functions=(-x " [<>] " -x "@(calls|total_us)")
else
	is "$(sed -nE "s|^[0-9.]+: $live_pid ([0-9]+ > [^ ]+) \($tmp/app.py:[0-9]+\)|\1|p; s|^[0-9.]+: $live_pid ([0-9]+ < (leaf\|middle\|open\|fail\|numbers\|work)) [0-9]+ us|\1|p" "$tmp/trace")" \
		"1 > work
2 > open
3 > middle
4 > leaf
4 < leaf
4 > leaf
4 < leaf
3 < middle
3 > fail
3 < fail
2 < open
2 > numbers
2 < numbers
2 > numbers
2 < numbers
2 > numbers
2 < numbers
1 < work" "the functions of the program, in the order in which they ran, as deep as they were"
	is "$(sed -nE "s|^@calls\[$tmp/app.py, (.*)\]: |\1 |p" "$tmp/trace" | sort)" "fail 1
leaf 2
middle 1
numbers 3
open 1
work 1" "and how often each was called"
	like "$(grep total_us "$tmp/trace")" "app.py, work\]: [0-9]+$" "and how long it took"
fi
is "$(for n in 0 1 2; do echo "gc $n $(histogram "gc_us[$n]") $(sed -n "s/^@gc_objects\[$n\]: //p" "$tmp/trace")"; done)" \
	"$(grep ^gc "$tmp/answers")" "collections and objects by generation, as the gc module counted them"
is "$(sed -nE 's/^[0-9.]+: [0-9]+ (import (colorsys|no_such_module)) [0-9]+ us, (found: .)/\1 \3/p' "$tmp/trace")" \
	"import colorsys found: 1
import no_such_module found: 0" "imports, found or not"
is_sample python.bt ${functions[@]+"${functions[@]}"}

# As it is called without options.
rm -f "$tmp/answers"
live_start "$python" -I "$tmp/app.py"
wait_for grep -q ready "$tmp/answers"
ok "it attaches without options, too" live_trace $live_pid python.bt
live_say work
wait_for grep -q 'done' "$tmp/answers"
live_wait INT
exec 8>&-
wait_end "$live_pid"
[ ${#functions[@]} -gt 0 ] || like "$(cat "$tmp/trace")" "^@calls\[$tmp/app.py, leaf\]: 2$" "and counts"
unlike "$(cat "$tmp/trace")" ' leaf ' "without a line for each call"
[ ${#functions[@]} -gt 0 ] || unlike "$(cat "$tmp/trace")" '^no function calls' "and without a complaint"

# A program as it is: none of its calls reach the probes.
sed -i '/^sys.setprofile/d' "$tmp/app.py"
rm -f "$tmp/answers"
live_start "$python" -I "$tmp/app.py"
wait_for grep -q ready "$tmp/answers"
ok "it attaches to a program without a profile function" live_trace $live_pid python.bt
live_say work
wait_for grep -q 'done' "$tmp/answers"
live_wait INT
exec 8>&-
wait_end "$live_pid"
if [ "$version" = "3 11" ]; then
	like "$(cat "$tmp/trace")" '^no function calls were seen: Python 3.11 reports them only .* sys.setprofile\(\)' \
		"and says why no function is shown"
	unlike "$(cat "$tmp/trace")" '^@called' "without a map of its own use"
else
	skip "why no function is shown" "only Python 3.11 needs a profile function"
fi

done_testing
