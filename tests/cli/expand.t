#!/usr/bin/env bash
# What a template becomes: `btgen expand` as a user sees it. Most cases are in tests/cli/templates; here is what needs files,
# options or several answers.
. "$(dirname "$0")/../lib.sh"

tgt=$targets/nvmf_tgt
lib=$targets/libnvmf.so

# expand TEXT [OPTION...]: the program for the demo target on 0.17
expand() {
	local text=$1
	shift
	"$btgen" expand --for 0.17 -x "$tgt" "$@" -e "$text" 2>"$tmp/err"
}

cat >"$tmp/t.bt" <<'E2'
#!/usr/bin/env bpftrace
// __EXE__ in a comment stays
#define STAMP(what) printf("%s\n", what)

BEGIN { STAMP("__EXE__"); /* kept */ }

usdt:__EXE__:spdk:nvmf_tgt_state
/arg1 > 2/
{
	@n = count();	// columns stay, too
}
E2
is "$("$btgen" expand --for 0.17 -x "$tgt" "$tmp/t.bt")" "
// __EXE__ in a comment stays


BEGIN { printf(\"%s\\n\", \"$tgt\"); /* kept */ }

usdt:$tgt:spdk:nvmf_tgt_state
/arg1 > 2/
{
	@n = count();	// columns stay, too
}" "lines keep their numbers, comments stay, markers are replaced outside of comments"

is "$("$btgen" expand --for 0.17 -x "$lib" -e 'usdt:__EXE__:nvmf_tgt_state, usdt:__EXE__:nvmf_ctrlr_create { }')" \
	"usdt:$lib:spdk:nvmf_tgt_state, usdt:$lib:spdk:nvmf_ctrlr_create { }" "several attach points in one clause"
is "$("$btgen" expand --for 0.23 -x "$tgt" -e 'usdt:__EXE__:nvmf_tgt_state { $c = (uint8)arg1; $c = (uint8)arg0; print($c); }' | grep -o '= ([a-z0-9]*)')" \
	$'= (uint8)\n= (uint8)' "what a variable gets twice with one type keeps that type"
out=$(expand 'usdt:__EXE__:nvmf_tgt_state { printf("%s", @target[arg1]); }')
is "$(grep -cE '^BEGIN \{$|^	@target\[(0\] = "NONE"|4\] = "RUNNING");$' <<<"$out")" 3 "a listed map gets its table in BEGIN, a name a line"
like "$out" '^END \{ clear\(@target\); \}$' "and is cleared in END"
unlike "$(expand 'usdt:__EXE__:nvmf_tgt_state { }')" "BEGIN|END" "a script that uses no table gets none"
out=$(expand 'BEGIN { printf("hi"); } usdt:__EXE__:nvmf_tgt_state { printf("%s", @target[arg1]); } END { printf("bye"); }')
like "$out" '^	@target\[11\] = "ERROR"; printf\("hi"\); \}' "a table joins the script's own BEGIN"
like "$out" 'END \{ printf\("bye"\); clear\(@target\); \}$' "and its END"
like "$(expand 'usdt:__EXE__:nvmf_tgt_state { printf("%s", @target[arg1]); @n++; } END { print(@n) }')" \
	'usdt.* END \{ print\(@n\); clear\(@target\); \}$' "also when its last statement has no semicolon"
like "$(expand 'usdt:__EXE__:nvmf_tgt_state { printf("%s", @target[arg1]); } END { $x = if (pid) { 1 } else { 2 } }' -W no-version)" \
	'END \{ \$x = if \(pid\) \{ 1 \} else \{ 2 \}; clear' "or is one that ends in a brace"
is "$(expand 'BEGIN { printf("a") } BEGIN { if (1) { } } BEGIN { }')" 'BEGIN { printf("a"); if (1) { if (1) { } } if (1) { } }' \
	"several BEGINs become one, whatever ends them"
is "$(expand 'BEGIN { $a = 1; $a_2 = 2; } BEGIN { $a = 3; $b = $a; $a_3 = $a; }')" \
	'BEGIN { $a = 1; $a_2 = 2; if (1) { $a_4 = 3; $b_2 = $a_4; $a_3_2 = $a_4; } }' \
	"and a variable of one gets a name there that none of them has"
expand 'END { if (1) { return; } } END { }' >/dev/null
is $? 1 "a return in an END that others follow is an error"
like "$(cat "$tmp/err")" "1:16: error: this would also skip the next END" "which says why"
like "$(expand 'usdt:__EXE__:nvmf_tgt_state { printf("%s", @target[arg1]); @n++; } END { if (@n) { return; } print(@n); }')" \
	'END \{ clear\(@target\); if \(@n\)' "a table is cleared first in an END that may end early"

out=$(expand '#pragma enum @mine enum spdk_nvmf_subsystem_state SPDK_NVMF_SUBSYSTEM_
usdt:__EXE__:nvmf_tgt_state { @x[@mine[arg1 & 7]] = count(); }')
like "$out" '@mine\[2\] = "ACTIVE"' "#pragma enum fills a map of any name"

is "$(expand '#if __BPFTRACE__ >= 23
new
#else
interval:s:1 { exit(); }
#endif
' | grep .)" "interval:s:1 { exit(); }" "__BPFTRACE__ is the version in #if"
is "$(expand 'interval:s:PERIOD { exit(); }' -D PERIOD=5)" "interval:s:5 { exit(); }" "-D defines a macro in attach points too"
is "$(expand 'BEGIN { $p = (uint64 *)0; @a = MINUS-1; @b = 7 SLASH*$p; }' -D MINUS=- -D SLASH=/)" \
	'BEGIN { $p = (uint64 *)0; @a = - -1; @b = 7 / *$p; }' \
	"what a macro leaves and what stands behind it are no operator or comment together"
is "$("$btgen" expand -e 'BEGIN /pid == __PID__ || tid == __PID__/ { exit(); }' 2>&1)" \
	"btgen: error: <command line> needs a process: give its PID or name, or -x FILE for every process of a program" "a marker that has no value is said once"
printf '#pragma option PERIOD 1 "seconds"\n#ifdef DEBUG\n#endif\ninterval:s:PERIOD { exit(); }\n' >"$tmp/option.bt"
is "$("$btgen" expand -D PERIODS=5 "$tmp/option.bt" 2>&1 | grep .)" "btgen: warning: -D PERIODS: the script has no such option
btgen: note: did you mean PERIOD?
interval:s:1 { exit(); }" "-D of an option that a script does not have is noticed"
is "$("$btgen" expand -D PERIOD=5 -D DEBUG "$tmp/option.bt" 2>&1 | grep .)" "interval:s:5 { exit(); }" \
	"... and of what it has or asks for is not"
for value in abc '' '"5"' '5 6' '3 +' 1.5 10ms; do
	is "$("$btgen" expand -D "PERIOD=$value" "$tmp/option.bt" 2>&1 | head -n 1)" \
		"$tmp/option.bt:1:16: error: -D PERIOD: expected a number (default 1), not \"${value}\"" \
			"an option that is a number cannot be \"$value\""
done
for value in -5 '(2 + 3) * 4' 1e3 1_000 0x10 OTHER; do
	is "$("$btgen" expand -D "PERIOD=$value" -D OTHER=7 -e '#pragma option PERIOD 1 "a number"
#if OTHER
#endif
BEGIN { @ = PERIOD; }' 2>&1 | grep .)" "BEGIN { @ = ${value/OTHER/7}; }" "it can be $value"
done
is "$("$btgen" expand -D 'NAME=abc' -e '#pragma option NAME "x" "a text"
BEGIN { @ = NAME; }' 2>&1 | grep .)" "BEGIN { @ = abc; }" "one whose default is a text can be anything"
is "$(expand 'BEGIN { exit(); }' -D DEBUG 2>&1)" "BEGIN { exit(); }" "... nor in a script that declares no options"

# A % in a value must not become a conversion.
cp "$tgt" "$tmp/100%d"
percent() { "$btgen" expand --for 0.27 -x "$tmp/100%d" -e "$1" 2>&1; }
for call in 'printf("__EXE__")' 'printf(__EXE__)' 'cat("__EXE__")' 'strftime("__EXE__", 0)' 'time("__EXE__")' \
	'errorf("__EXE__")' 'warnf(__EXE__)'; do
	like "$(percent "BEGIN { $call; }")" 'error: the value of __EXE__ has a % sign: print it with %s' "$call"
done
like "$(percent 'BEGIN { printf("%s", "__EXE__"); print(__EXE__); }')" '/100%d"\); print\("' "as an argument it may have one"

# One name, two definitions: the one beside the probe is meant.
cat >"$tmp/a.c" <<'E2'
struct cfg { int a, b; } ga;
void other(void);
int main(void) { ga.a = 1; other(); return 0; }
E2
cat >"$tmp/b.c" <<'E2'
#include <btgen/usdt.h>
struct cfg { long x; int b; } gb;
void other(void);
void other(void) { gb.b = 2; USDT_PROBE(test, hit, &gb); }
E2
gcc -O2 -g -I"$top/include" -o "$tmp/cfg" "$tmp/a.c" "$tmp/b.c"
out=$("$btgen" expand -x "$tmp/cfg" -e 'usdt:__EXE__:hit { printf("%d", offsetof(struct cfg, b)); }' 2>&1)
like "$out" 'printf\("%d", 8\)' "of two structs of one name, the one of the unit with the probe is used"
unlike "$out" warning "without a warning, because it is known"

echo old >"$tmp/out"
"$btgen" expand -x "$tgt" -o "$tmp/out" -e 'usdt:__EXE__:nosuch { }' 2>/dev/null
is "$(cat "$tmp/out")" old "-o: an error leaves the file as it was"
cp "$tgt" "$tmp/program"
printf 'BEGIN { }\n' >"$tmp/own.bt"
ln -sf own.bt "$tmp/link.bt"
for command in "expand -e BEGIN{}" "types -x $tgt spdk_nvmf_tgt" "enums -x $tgt nvmf_tgt_state:m" "run -e BEGIN{}"; do
	if [[ $command == run* ]] && ! can_trace; then
		skip_tracing "run -o: a program is not overwritten"
		skip_tracing "... which is said"
		continue
	fi
	set -f
	# shellcheck disable=SC2086
	out=$("$btgen" $command -o "$tmp/program" 2>&1)
	is "$? $(cmp "$tgt" "$tmp/program" 2>&1)" "1 " "${command%% *} -o: a program is not overwritten"
	like "$out" 'error: -o: .*/program is a program or library: not overwritten' "... which is said"
	set +f
done
like "$("$btgen" expand "$tmp/link.bt" -o "$tmp/own.bt" 2>&1)" "error: -o: $tmp/own.bt is the script itself" "-o: nor is the script"
is "$(cat "$tmp/own.bt")" 'BEGIN { }' "... which is as it was"
"$btgen" expand -x "$tgt" -o "$tmp/out" -e 'interval:s:1 { exit(); }'
is "$(cat "$tmp/out")" "interval:s:1 { exit(); }" "-o: success replaces it"
is "$(find "$tmp" -maxdepth 1 -name 'out*' | wc -l)" 1 "and nothing else is left in the folder"
is "$("$top/scripts/bpftrace.sh" -n -e 'interval:s:1 { exit(); }')" "interval:s:1 { exit(); }" "bpftrace.sh -n prints the program"

# Lines for bpftrace's clang
is "$(expand '#pragma pack(1)
#include <a.h>
#pragma pack()
struct s { int x; }; BEGIN { exit(); }
#include <b.h>
END { }')" '#pragma pack(1)
#include <a.h>
#pragma pack()
struct s { int x; };
#include <b.h>
BEGIN { exit(); }
END { }' "C headers stay where they stand among definitions, and come before the first clause"
is "$(expand '#define A 1
#define F(x, ...) x + __VA_ARGS__
#include <a.h>
#undef A
BEGIN { exit(); }' | grep .)" '#define A 1
#define F(x, ...) x + __VA_ARGS__
#include <a.h>
#undef A
BEGIN { exit(); }' "what is defined before a header is put before it"
is "$(expand '#ifdef DEBUG
#endif
#undef MINE
#define MINE 1
#if MINE && !defined(OTHER) && defined(__linux__) && __CHAR_BIT__ == 8
BEGIN { exit(); }
#endif' | grep .)" '#undef MINE
BEGIN { exit(); }' "without headers #if adds nothing to the program"
expand 'BEGIN { exit(); }
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 0, 0)
#endif'
like "$(cat "$tmp/err")" ':2:27: error: no macro of this name is defined' "a macro with arguments that #if does not know is an error"
expand '#if __clang_major__ > 14
#endif
BEGIN { exit(); }'
like "$(cat "$tmp/err")" ':1:5: error: only bpftrace knows the value of __clang_major__' "so is a value that each bpftrace has another of"
expand 'BEGIN {
#include <errno.h>
exit(); }'
like "$(cat "$tmp/err")" ':2:2: error: #include of a C header cannot be inside braces' "and a header in a body"

# --json: what goes with a program.
json() { python3 -c 'import json, sys; x = json.load(sys.stdin); print(eval(sys.argv[1], {"x": x}))' "$1" <"$tmp/json"; }
printf '#include <btgen/usdt.h>\nint work(int n);\n__attribute__((noipa)) int work(int n) { USDT_PROBE(app, hit, n); return n; }\nint main(int n, char **v) { return work(n) + !v; }\n' >"$tmp/app.c"
gcc -g -Wl,--build-id -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
"$btgen" expand --json --for 0.23 -x "$tmp/app" --at /opt/app -e 'uprobe:__EXE__:work { @ = count(); } usdt:__EXE__:hit { @n[arg0] = sum(-1); @u = sum(pid); } END { clear(@n); }' >"$tmp/json"
is "$(json 'x["file"]["build_id"]')" "$(readelf -n "$tmp/app" | sed -n 's/.*Build ID: //p')" "--json: the build ID is readelf's"
is "$(json 'x["file"]["build_id_offset"], len(x["file"]["build_id"]) // 2' | tr -d '(),' | { read -r at n; od -A n -v -t x1 -j "$at" -N "$n" "$tmp/app" | tr -d ' \n'; })" \
	"$(json 'x["file"]["build_id"]')" "... and it is at its offset"
is "$(json 'x["file"]["path"], x["file"]["read"], x["file"]["functions"], x["probes"], x["version"], x["unsafe"]')" \
	"('/opt/app', '$tmp/app', ['work'], ['app:hit'], '0.23', False)" "... with the functions, probes and the path of --at"
is "$(json '[(m["name"], m["function"], m["key"], m["signed"], m["cleared"]) for m in x["maps"]]')" \
	"[('', 'count', False, False, False), ('n', 'sum', True, True, True), ('u', 'sum', False, False, False)]" "... and the maps"
is "$(json 'x["program"]')" "$("$btgen" expand --for 0.23 -x "$tmp/app" --at /opt/app -e 'uprobe:__EXE__:work { @ = count(); } usdt:__EXE__:hit { @n[arg0] = sum(-1); @u = sum(pid); } END { clear(@n); }')" \
	"... and the program that expand prints"
"$btgen" expand --json -e 'BEGIN { exit(); }' >"$tmp/json"
is "$(json 'x["file"], x["maps"], x["probes"]')" "(None, [], [])" "... without a file there is none"
done_testing
