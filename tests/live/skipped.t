#!/usr/bin/env bash
# More probes than this bpftrace can attach to at once, and two that it cannot attach to at all, with operands that it does not read
# and semaphores: the first that fit are traced, and what is skipped is told in one line, in the capture and by the status. Up to
# 0.23 all are traced.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
python=$(python_with "jsonschema; jsonschema.Draft202012Validator") || python=
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
n=$([ "$version" -ge 24 ] && echo 300 || echo 258)

{
	echo '#include <btgen/usdt.h>'
	echo '#include <stdio.h>'
	cat <<'E2'
#define NOTE(name, place) \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,_.stapsdt.base,counter\n.asciz \"m\"\n.asciz \"" name \
			 "\"\n.asciz \"" place "\"\n994: .balign 4\n.popsection\n")
E2
	echo 'unsigned short counter; int main(void) { getchar(); for (int i = 0; i < 2; i++) {'
	for ((i = 0; i < n - 2; i++)); do echo "USDT_PROBE(m, p$i, i);"; done
	echo 'NOTE("tls", "8@%fs:own@tpoff"); NOTE("shared", "8@shared.1(%rip)");'
	echo '} puts("done"); fflush(stdout); getchar(); }'
} >"$tmp/app.c"
"${CC:-gcc}" -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1

# shellcheck disable=SC2034 # read by live.sh
[ "$(uname -m)" = x86_64 ] || skip_all "the operands are those of x86-64"
if [ "$version" -lt 24 ]; then
	live_start "$tmp/app"
	live_round -q -t 'm:*' "$live_pid"
	is "$(grep -o 'm:[a-z0-9]*' "$tmp/trace" | sort -u | wc -l) $(grep -v ' takes minutes' "$tmp/messages")" "$n " "all are traced, and nothing is said"
	done_testing
fi

# The two are the last: what counts for the limit is what can be attached to.
said="btgen: warning: 44 of 300 probes are skipped: bpftrace 0.$version cannot attach to m:tls, m:shared (bpftrace 0.23 can): of the \
first, it cannot read the location of arg0"
limit="; bpftrace 0.$version attaches to at most 256 at once, without m:p256, m:p257, m:p258 and 39 more: name fewer, or trace the \
rest in another run"
traced() { # WHAT ARG...
	local what=$1 one
	shift
	live_start "$tmp/app"
	live_round -q -f json "$@" "$live_pid"
	one=$(cat "$tmp/messages")
	is "$(wc -l <"$tmp/messages") ${one:0:${#said}} ${one: -${#limit}}" "1 $said $limit" "$what: one line, also with -q"
	is "$live_rc" 0 "$what: which is no error"
	is "$(grep -o '"probe":"m:[^"]*"\|"probe": "m:[^"]*"' <(sed 1d "$tmp/trace") | sort -u | wc -l)" 256 "$what: the first 256 are traced"
	is "$(sed -n 1p "$tmp/trace" | grep -o '"reason": *"[^"]*"' | sort | uniq -c | sed 's/^ *//;s/: "/:"/')" \
		"42 \"reason\":\"bpftrace 0.$version attaches to at most 256 probes at once\"
1 \"reason\":\"bpftrace 0.$version cannot attach to it: it cannot read the location of arg0, 8@%fs:own@tpoff, and by address it raises no semaphore\"
1 \"reason\":\"bpftrace 0.$version cannot attach to it: it cannot read the location of arg0, 8@shared.1(%rip), and by address it raises no semaphore\"" "$what: the capture lists the others"
	[ -z "$python" ] || ok "$what: as its schema has it" "$python" "$top/tests/schema.py" "$tmp/trace"
}
traced "-t 'm:*'" -t 'm:*'
traced "a script" -e 'usdt:__EXE__:m:* { printf("%d\n", 1); }'

live_start "$tmp/app"
like "$("$btgen" doctor --bpftrace "$(command -v "$bpftrace")" "$live_pid")" \
	"bpftrace 0.$version can attach to 298 of 300 USDT probes of $tmp/app, 256 at once" "doctor knows the limit"
echo >&8
live_start "$tmp/app"
ok "with --strict the others are traced, too" live_trace --strict -q -t 'm:tls' -t 'm:p1' "$live_pid"
echo >&8
wait_for grep -q 'done' "$tmp/answers"
live_wait INT
exec 8>&-
is "$live_rc" 3 "--strict: the status is 3"
live_start "$tmp/app"
live_round --strict -q -t 'm:p1' -t 'm:p2' "$live_pid"
is "$live_rc $(cat "$tmp/messages")" "0 " "not where nothing is skipped"
live_start "$tmp/app"
is "$(guard "$live_sh" -t 'm:tls' "$live_pid" 2>&1 | sed 's/, [-0-9].*//')" \
	"btgen: warning: 1 of 1 probes is skipped: bpftrace 0.$version cannot attach to m:tls (bpftrace 0.23 can): it cannot read the location of arg0
btgen: error: no probes remain to be traced" \
	"nothing that can be traced is an error, with the reason"
echo >&8
done_testing
