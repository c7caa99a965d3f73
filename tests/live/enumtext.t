#!/usr/bin/env bash
# %s of a number of an enum's type is its name, wherever it comes from, under bpftrace.sh, in the program of -n and in a bundle, and
# btgen check has nothing to say of it.
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

cat >"$tmp/e.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
enum state { IDLE, READY = 5, FAILED = -2 };
typedef enum { RED, GREEN } color_t;
struct order { enum state st; color_t color; enum state all[2]; int qty; enum state *p; };
static struct order o = {READY, GREEN, {FAILED, READY}, 5, &o.all[0]};
int main(void)
{
	struct order *q = &o;
	enum state states[] = {READY, 77};
	char c;
	while (read(0, &c, 1) == 1 && c != 'x')
		;
	for (int i = 0; i < 2; i++) {
		enum state st = states[i];
		const char *name = i ? "77" : "READY";
		__asm__ volatile("" : "+r"(st));
		USDT_PROBE(en, visit, q, USDT_ARG(st, "st"), USDT_ARG(o.color, "color"));
		printf("argument %s %s GREEN\nmember READY GREEN\nelement FAILED READY FAILED\n", name, name);
		printf("variable %s %s\nmap %s\ncast %s\ncopy READY\n", name, name, name, name);
		printf("choice %s many %s\n", name, name);
	}
	puts("done");
	return 0;
}
E2
gcc -O1 -g -I"$top/include" -o "$tmp/e" "$tmp/e.c" || exit 1
cat >"$tmp/e.bt" <<'E2'
usdt:__EXE__:visit { printf("argument %s %s %s\n", args.st, arg1, args.color); }
usdt:__EXE__:visit { printf("member %s %s\n", args.q->st, args.q->color); }
usdt:__EXE__:visit { $i = 1; printf("element %s %s %s\n", args.q->all[0], args.q->all[$i], *args.q->p); }
usdt:__EXE__:visit { $s = args.st; $t = arg1; printf("variable %s %s\n", $s, $t); }
usdt:__EXE__:visit { @state[tid] = args.st; printf("map %s\n", @state[tid]); delete(@state[tid]); }
usdt:__EXE__:visit { printf("cast %s\n", (enum state)arg1); }
usdt:__EXE__:visit { $c = *args.q; printf("copy %s\n", $c.st); }
usdt:__EXE__:visit {
	printf("choice %s %s %s\n", args.q->qty > 3 ? args.st : args.q->st, args.q->qty > 3 ? "many" : args.color, args.q->qty < 3 ? "few" : args.st);
}
E2
version=$("$bpftrace" --version | grep -o '0\.[0-9]*')
is "$("$btgen" check --for "$version" -x "$tmp/e" "$tmp/e.bt" 2>&1)" "" "btgen check has nothing to say"

# same FILE HOW: it has what the program says
same() { is "$(grep -E '^[a-z]+ ' "$1" | sort)" "$(grep -v '^done' "$tmp/answers" | sort)" "$2"; }

live_start "$tmp/e"
ok "bpftrace.sh attaches" live_trace "$live_pid" "$tmp/e.bt"
live_say x
exec 8>&-
live_wait
same "$tmp/trace" "bpftrace.sh prints the names, and numbers that have none"

# bare COMMAND...: bpftrace alone, while the program does its work
bare() {
	bare_start "$@"
	live_say x
	exec 8>&-
	wait_for grep -q '^done' "$tmp/answers"
	bare_end
}
live_start "$tmp/e"
"$live_sh" -n "$live_pid" "$tmp/e.bt" >"$tmp/n.bt"
bare env BPFTRACE_MAX_STRLEN=64 "$bpftrace" "$tmp/n.bt"
same "$tmp/bare" "the program of -n does so, run by bpftrace alone"

live_start "$tmp/e"
"$btgen" bundle --for "$version" -x "$tmp/e" -o "$tmp/bundle.sh" "$tmp/e.bt"
bare env BPFTRACE="$bpftrace" sh "$tmp/bundle.sh"
same "$tmp/bare" "and so does a bundle"

# The type of such an argument is inferred where the probe does not declare it: argN has what args.argN has.
cat >"$tmp/q.c" <<'E2'
#include <sys/sdt.h>
enum state { IDLE, READY = 5 };
struct order { int n; enum state st; };
int main(void)
{
	static struct order q = { 1, READY }, *p = &q;
	DTRACE_PROBE2(app, ev, p, q.st);
	return 0;
}
E2
gcc -O1 -g -I"$top/include/btgen/compat" -I"$top/include" -o "$tmp/q" "$tmp/q.c" || exit 1
echo 'usdt:__EXE__:app:ev { printf("inferred %s %s\n", arg1, args.arg1); }' >"$tmp/q.bt"
is "$("$btgen" check --for "$version" -x "$tmp/q" "$tmp/q.bt" 2>&1)" "" "inferred: btgen check has nothing to say"
is "$("$live_sh" -q -c "$tmp/q" "$tmp/q.bt" 2>&1)" "inferred READY READY" "bpftrace.sh prints the name, and says nothing"
"$btgen" bundle --for "$version" -x "$tmp/q" -o "$tmp/q.sh" "$tmp/q.bt"
like "$(BPFTRACE=$bpftrace guard sh "$tmp/q.sh" -c "$tmp/q" 2>/dev/null)" "inferred READY READY" "so does a bundle"
# In C++ <sys/sdt.h> itself writes the notes of enums without a sign.
cat >"$tmp/sign.cc" <<'E2'
#include <sys/sdt.h>
#include <cstdio>
enum level { BAD = -3, FINE };
enum class mood : signed char { SAD = -2, GLAD = 1 };
enum class depth : long { DEEP = -5000000000L, FLAT = 7 };
__attribute__((noipa)) void step(level l, mood m, depth d)
{
	DTRACE_PROBE3(app, step, l, m, d);
	std::printf("%d %d %ld %d\n", l, (int)m, (long)d, l < 0);
}
int main()
{
	step(BAD, mood::SAD, depth::DEEP);
	step(FINE, mood::GLAD, depth::FLAT);
}
E2
if g++ -O1 -g -o "$tmp/sign" "$tmp/sign.cc" 2>/dev/null; then
	cat >"$tmp/sign.bt" <<'E2'
usdt:__EXE__:app:step { $l = args.l; @[args.l] = max(args.m); printf("%d %d %ld %d\n", $l, args.m, args.d, args.l < 0); }
usdt:__EXE__:app:step /args.l == BAD && args.m == mood::SAD && args.d == depth::DEEP/ { printf("%s %s %s\n", args.l, args.m, arg2); }
E2
	is "$("$live_sh" -q -c "$tmp/sign" "$tmp/sign.bt" 2>&1 | sed '/^$/d' | sort | uniq -c | sed 's/^ *//')" \
		"$({ "$tmp/sign" && "$tmp/sign" && echo 'BAD mood::SAD depth::DEEP' && echo '@[BAD]: -2' && echo '@[FINE]: 1'; } |
			sort | uniq -c | sed 's/^ *//')" "negative enumerators of C++ through <sys/sdt.h>: numbers, names, conditions, keys"
	is "$("$btgen" check --for "$version" -x "$tmp/sign" -e 'usdt:__EXE__:app:step /arg0 == BAD || args.m == SAD/ { @ = count(); }' 2>&1 |
		grep -oE 'without .*|did .*')" "without its sign: write args.l  [sign]
did you mean mood::SAD?" "arg0 has bpftrace's sign, and SAD a class, which warnings say"
else
	skip "negative enumerators of C++ through <sys/sdt.h>" "no <sys/sdt.h> (systemtap-sdt-dev)"
	skip "arg0 has bpftrace's sign, and SAD a class, which warnings say" "no <sys/sdt.h> (systemtap-sdt-dev)"
fi
# A table beside a struct of its name.
gcc -O1 -g -I"$top/include" -o "$tmp/wheel" "$top/tests/cli/templates/wheel.c" || exit 1
printf '%s\n' '#pragma enum wheel state' 'usdt:__EXE__:turn { printf("%s %d\n", @wheel[args.state], args.wheel->next->n); }' >"$tmp/w.bt"
"$btgen" bundle --for "$version" -x "$tmp/wheel" -o "$tmp/w.sh" "$tmp/w.bt"
like "$(BPFTRACE=$bpftrace guard sh "$tmp/w.sh" -c "$tmp/wheel" 2>&1)" "READY 3" "a table has the name of a struct"
# What an older bpftrace lacks is spelled well.
is "$("$live_sh" -q -c "$tmp/q" -e 'usdt:__EXE__:app:ev { printf("%d\n", strlen(arg0)); }' 2>&1 | grep -o 'did you mean strlen?')" "" \
	"no name is suggested for itself"

# In a key beside a stack, which bpftrace prints over several lines.
live_start "$tmp/e"
ok "maps with stacks attach" live_trace "$live_pid" -e 'usdt:__EXE__:visit { @before[args.st, args.color, ustack(1)] = count(); @after[ustack(1), args.st, 5] = count(); }'
live_say x
exec 8>&-
live_wait
is "$(grep -oE '@before\[[^ ]*, [^ ]*,|^, [^ ]*, 5\]: 1' "$tmp/trace" | sort)" "$(printf '%s\n' ', 77, 5]: 1' ', READY, 5]: 1' '@before[77, GREEN,' '@before[READY, GREEN,' | sort)" \
	"an enumerator in a key before or after a stack"
done_testing
