#!/usr/bin/env bash
# btgen in place of bpftrace, by the script of docs/bare-bpftrace.md: called as test suites of other projects call bpftrace, with
# paths as $1 and $2 of a script, or with -p and -e, it prints what bpftrace prints. The oracle: the program's own numbers.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$top/tests/live.sh"

BTGEN_BPFTRACE=$(command -v "$bpftrace")
export BTGEN_BPFTRACE
mkdir "$tmp/bin"
sed -n 's/^    //p' "$top/docs/bare-bpftrace.md" >"$tmp/bin/bpftrace"
chmod +x "$tmp/bin/bpftrace"

# A queue in the program, and a search in a library: a round is 10 of both, whose depths and clients are below.
cat >"$tmp/app.c" <<'END'
#include <sys/sdt.h>
#include <unistd.h>
void search(void);
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1) {
		for (int i = 0; i < 10; i++) {
			unsigned long client = i / 2;
			int op = i, depth = i % 4;
			STAP_PROBE3(app-queue, work_q__enqueue, client, op, depth);
			search();
			STAP_PROBE2(app-queue, work_q__dequeue, client, op);
		}
		if (write(1, "done\n", 5) != 5)
			return 1;
	}
	return 0;
}
END
cat >"$tmp/lib.c" <<'END'
#include <sys/sdt.h>
void search(void);
void search(void)
{
	STAP_PROBE(app-queue, search__entry);
	STAP_PROBE(app-queue, search__return);
}
END
gcc -O1 -g -fPIC -shared -I"$top/include/btgen/compat" -o "$tmp/libapp.so" "$tmp/lib.c" &&
	gcc -O1 -g -I"$top/include/btgen/compat" -o "$tmp/app" "$tmp/app.c" -L"$tmp" -lapp -Wl,-rpath,"$tmp" || exit 1
cat >"$tmp/paths.bt" <<'E'
#!/usr/bin/env bpftrace
usdt:$1:app-queue:work_q__enqueue { @depth = lhist(arg2, 0, 4, 1); @at[arg0, arg1] = nsecs / 1000; }
usdt:$2:app-queue:search__entry { @start[tid] = nsecs; }
usdt:$2:app-queue:search__return /@start[tid]/ { @took = hist(nsecs - @start[tid]); delete(@start[tid]); }
usdt:$1:app-queue:work_q__dequeue /@at[arg0, arg1]/ { @clients[arg0] = count(); delete(@at[arg0, arg1]); }
END { clear(@at); clear(@start); }
E
text="usdt:$tmp/app:work_q__enqueue { @n = count(); @max = max(arg2); @min = min(arg2); printf(\"ENQ %d %d\\n\", arg0, arg1); delete(@no[arg0]); }
usdt:$tmp/libapp.so:search__entry { @s = count(); @no[99] = 1; } interval:s:99 { exit(); }"

# instead ARG...: bpftrace with these arguments, of which PID is the program's, while the program does a round
instead() {
	live_start "$tmp/app"
	: >"$tmp/messages"
	PATH=$tmp/bin:$PATH bpftrace "${@/#PID/$live_pid}" >"$tmp/trace" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	wait_for eval "grep -qE 'Attach(ing|ed) [0-9]+ probe' $tmp/messages || ! kill -0 $live_tracer" 2>/dev/null || sed 's/^/# /' "$tmp/messages"
	printf x >&8
	live_done
}

instead "$tmp/paths.bt" "$tmp/app" "$tmp/libapp.so"
is "$(sed -n '/^@/s/ *$//p' "$tmp/trace" | sort)" "$(printf '%s\n' '@clients['{0..4}']: 2' @depth: @took:)" "paths as \$1 and \$2: the maps"
is "$(histogram depth) $(histogram took)" "10 10" "... and the histograms"
instead -p PID -e "$text"
is "$(grep -E '^(@|ENQ)' "$tmp/trace" | sort)" "$(sort < <(printf '%s\n' '@max: 3' '@min: 0' '@n: 10' '@no[99]: 1' '@s: 10' && printf 'ENQ %d %d\n' {0,0,0,1,1,2,1,3,2,4,2,5,3,6,3,7,4,8,4,9}))" \
	"-p and -e: each event once"
is "$(grep -vE '^(@|ENQ|$)' "$tmp/trace")" "" "... and no statements of the program, which 0.23 quotes with its warnings about delete()"
is "$(PATH=$tmp/bin:$PATH bpftrace -e 'BEGIN { printf("%d %s\n", $1, str($2)); exit(); }' 4711 x 2>/dev/null)" "4711 x" "-e: what is behind it are its arguments"
printf 'BEGIN { printf("%%d\\n", $1); exit(); }\n' >"$tmp/one.bt"
is "$(PATH=$tmp/bin:$PATH bpftrace -q "$tmp/one.bt" 4711 2>/dev/null)" 4711 "a script behind an option, too"
sed -i 's/\$1:/$3:/' "$tmp/paths.bt"
PATH=$tmp/bin:$PATH bpftrace "$tmp/paths.bt" "$tmp/app" "$tmp/libapp.so" >"$tmp/trace" 2>"$tmp/messages"
is $? 1 "a path that is missing is an error"
not_ok "... and nothing says that it is attached" grep -q Attached "$tmp/messages"
like "$(<"$tmp/messages")" 'paths.bt:2:1: error: \$3 has no value' "... and the place is that in the script"
done_testing
