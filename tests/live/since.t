#!/usr/bin/env bash
# #pragma time since: before each line of that script the time since BEGIN, as bpftrace's own elapsed has it, and once.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
int main(void)
{
	for (int i = 1; i <= 3; i++)
		USDT_PROBE(app, it, i);
	return 0;
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
printf 'of a file\n' >"$tmp/file"
cat >"$tmp/timed.bt" <<E2
#pragma time since
usdt:__EXE__:app:it
{
	printf("%lu elapsed\n", elapsed);
	printf("in"); printf(" %d ", args.i); printf("pieces\n");
	printf("two\nlines\n");
	print(args.i);
	cat("$tmp/file");
	@m = 7; print(@m);
}
END { printf("end\n"); }
E2
echo 'usdt:__EXE__:app:it { printf("another script\n"); @other = count(); }' >"$tmp/other.bt"
want=$(for i in 1 2 3; do
	printf 'T: N elapsed\nT: in %d pieces\nT: two\nT: lines\nT: %d\nT: of a file\nT: @m: 7\nanother script\n' $i $i
done
printf "end\n@m: 7\n@other: 3\n")
# shown: the trace, with N for what elapsed is, T for times like those of the pragma and H for others
shown() {
	grep . "$tmp/trace" | sed -E 's/^[0-9]+\.[0-9]{6}: /T: /; s/^[0-9.:]{10,} (\[.*:it: |\[.*END: )?/H: /; s/^(T: |H: )?[0-9]+ elapsed/\1N elapsed/'
}
# trace OPTION...: both scripts. On one processor: without -s, 0.17 prints one processor's events after the other's.
trace() {
	taskset -c "$cpu" "$live_sh" -q "$@" -c "$tmp/app" "$tmp/timed.bt" "$tmp/other.bt" >"$tmp/trace" 2>"$tmp/messages"
}

trace
is "$(shown)" "$want" "each line has the time, those of several pieces one, those of END, of maps at the end and of another script none" ||
	sed 's/^/# /' "$tmp/messages"
# What a clause reads of the clock lies between the times of its first line and of the next.
ok "it is the time since BEGIN that bpftrace's elapsed is" python3 - "$tmp/trace" <<'END'
import re, sys
line = re.compile(r"(\d+)\.(\d{6}): (?:(\d+) elapsed)?")
n = last = 0
for at in filter(None, map(line.match, open(sys.argv[1]))):
    us = int(at[1]) * 1000000 + int(at[2])
    if us < last:
        sys.exit(f"{us} us, after {last}")
    last = us
    if at[3]:
        n += 1
        if us > int(at[3]) // 1000:
            sys.exit(f"{us} us, but {at[3]} ns had passed only then")
        last = int(at[3]) // 1000
sys.exit(n != 3)
END

trace --time none
is "$(shown)" "${want//T: /}" "--time none drops it"
for time in since mono wall; do
	trace --time $time
	is "$(shown)" "$(sed '/^@/!{s/^T: //; s/^/H: /}' <<<"$want")" "--time $time replaces it"
done
trace -s
is "$(shown)" "$(sed '/^@/!{s/^T: //; s/^/H: /}' <<<"$want")" "-s replaces it"
trace -s -f json
is "$(python3 -c '
import json, sys
for record in map(json.loads, open(sys.argv[1])):
    if "text" in record:
        print("\n".join(("T: " if "time" in record else "") + line for line in record["text"].split("\n")))' "$tmp/trace" |
	sed -E 's/[0-9]+ elapsed/N elapsed/')" "$(grep -v '@' <<<"$want" | sed -E 's/^(T: )?/T: /')" "in JSON the time is a member, and no part of the text"

# For bpftrace alone
cat >"$tmp/alone.bt" <<'E2'
#pragma time since
BEGIN
{
	printf("%lu elapsed\n", elapsed);
	printf("in"); printf(" %d ", 2); printf("pieces\n");
	if (pid) { printf("yes\n"); } else { printf("no\n"); }
	exit();
}
END { printf("end\n"); }
E2
"$live_sh" -n "$tmp/alone.bt" >"$tmp/program.bt" 2>"$tmp/messages"
"$bpftrace" "$tmp/program.bt" 2>/dev/null | grep -v '^Attach' >"$tmp/trace"
is "$(shown)" "T: N elapsed
T: in 2 pieces
T: yes
end" "-n: bpftrace alone prints it, too"
"$live_sh" -n --time none "$tmp/alone.bt" >"$tmp/program.bt"
not_ok "-n --time none: not" grep -q '06lu' "$tmp/program.bt"

done_testing
