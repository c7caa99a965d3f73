#!/usr/bin/env bash
# Clauses for lists beside clauses for one probe of the list: each runs its own code, once for each event.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/app.c" <<'EOF'
#include <unistd.h>
#include <btgen/usdt.h>
#define NOIPA __attribute__((noinline))
NOIPA void take(int n);
NOIPA void take(int n) { USDT_PROBE(app, one, n); }
NOIPA void give(int n);
NOIPA void give(int n) { USDT_PROBE(app, two, n); }
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1 && c != 'q')
		for (int n = 0; n < 3; n++) {
			take(n);
			give(n);
		}
	return 0;
}
EOF
"${CC:-gcc}" -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c"

# counts SCRIPT: its maps after two rounds, sorted
counts() {
	printf '%s\n' "$1" >"$tmp/script.bt"
	live_start "$tmp/app"
	live_trace $live_pid "$tmp/script.bt" || fail "it is attached" "$(cat "$tmp/messages")"
	printf xx >&8
	live_quit
	wait "$live_tracer"
	sort "$tmp/trace" | grep '^@'
}

kinds=(usdt uprobe)
one=('usdt:__EXE__:app:one' 'uprobe:__EXE__:take')
two=('usdt:__EXE__:app:two' 'uprobe:__EXE__:give')
for i in 0 1; do
	is "$(counts "${one[i]} { @a = count(); }
${one[i]}, ${two[i]} { @b = count(); }")" $'@a: 6\n@b: 12' "${kinds[i]}: one alone, then both"
	is "$(counts "${two[i]}, ${one[i]} /arg0 > 0/ { @b = count(); }
${two[i]} { @a = count(); }
${one[i]} { @c = sum(arg0); }")" $'@a: 6\n@b: 8\n@c: 6' "${kinds[i]}: both with a predicate, then each alone"
done
is "$(counts 'usdt:__EXE__:app:* { @all[probe] = count(); } usdt:__EXE__:app:two { @two = count(); }' | sed 's/usdt:.*:app/app/')" \
	$'@all[app:one]: 6\n@all[app:two]: 6\n@two: 6' "a pattern, and one of what it matches"
is "$(counts 'interval:ms:50 { @fast++; } interval:ms:50, interval:ms:60 { @both++; }
usdt:__EXE__:app:* { @n++; } END { printf("%d\n", @both >= @fast); clear(@both); clear(@fast); }')" '@n: 12' "intervals"
done_testing
