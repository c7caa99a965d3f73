#!/usr/bin/env bash
# The command line of a bundle, in any shell: a bpftrace that prints its arguments is given only what is right.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

app="$tmp/it's \$app"
printf 'int main(int argc, char **argv) { return argc + !argv; }\n' >"$tmp/app.c"
gcc -g -Wl,--build-id -o "$app" "$tmp/app.c" || exit 1
"$btgen" bundle --for 0.23 -x "$app" -e 'uprobe:__EXE__:main { exit(); }' -o "$tmp/bundle.sh" || exit 1
# shellcheck disable=SC2016 # for that shell
printf '%s\n' '#!/bin/sh' '[ "$1" != --version ] || exec echo bpftrace v0.23.2' 'printf "<%s>" "$@"' >"$tmp/bpftrace"
chmod +x "$tmp/bpftrace"

# bundle ARG...: its output, what it reports and its status
bundle() {
	# shellcheck disable=SC2086
	BPFTRACE=$tmp/bpftrace $sh "$tmp/bundle.sh" "$@" 2>&1
	printf ' %d\n' $?
}
# wrong WHY ARG...
wrong() { is "$(bundle "${@:2}")" "error: $1"$'\n'"Try '--help'."$'\n 2' "$sh: ${*:2}"; }

for sh in dash "bash --posix" bash "busybox sh"; do
	if ! command -v "${sh%% *}" >/dev/null; then
		skip "$sh" "no ${sh%% *}"
		continue
	fi
	is "$(bundle)" "</dev/fd/3> 0" "$sh: no option"
	is "$(bundle -qo 'a b' -f json -p12 -c './app -x' -kv -B line --unsafe --no-warnings --usdt-file-activation --)" \
		"<-qo><a b><-f><json><-p12><-c><./app -x><-kv><-B><line><--unsafe><--no-warnings><--usdt-file-activation><--></dev/fd/3> 0" \
		"$sh: bpftrace gets its options as they are"
	help=$(bundle --help)
	is "$(sed -n '2p;$p' <<<"$help")" "Trace every process of $app with bpftrace 0.23; ^C ends the trace.
 0" "$sh: --help names what is traced"
	is "$(bundle -q -h)" "$help" "$sh: -h is the same"
	is "$(grep -oE '^  --?[a-zB-]+' <<<"$help" | tr -d ' \n')" "-o-f-p-c-q-v-k-B--no-warnings--unsafe--usdt-file-activation--builds-h" "$sh: and lists each option"
	for letter in o f p c B; do
		wrong "option '-$letter' needs a value" -q -$letter
	done
	wrong "unknown option '-z'" -z
	wrong "unknown option '-d'" -qd
	wrong "unknown option '--output'" --output
	wrong "unknown option '--help=all'" --help=all
	wrong "-f: unknown format 'xml': text or json" -f xml
	wrong "-f: unknown format 'json ': text or json" -f 'json '
	wrong "-B: unknown mode '': full, none or line" -B ''
	for pid in 12x 0 -1 '' '1 2'; do
		wrong "-p: '$pid' is not a process ID" -p "$pid"
	done
	wrong "unexpected argument 'app.bt'" -q app.bt
	wrong "unexpected argument '5'" -- 5
done

rm "$app"
sh='sh'
wrong "unknown option '-z'" -z # before what the machine lacks
ok "--help needs neither the program nor bpftrace" env BPFTRACE=/none sh "$tmp/bundle.sh" --help >"$tmp/help"
grep -E '^(not )?ok' "$tmp/help"

# --- many builds in one ---

mkdir "$tmp/builds"
for n in 1 2 3 4 5 6 7 8; do
	# the same but in 4 and in 7: another struct, another enum
	{
		printf '#include <btgen/usdt.h>\nenum state { %s IDLE, RUNNING };\n' "$([ $n != 7 ] || echo NONE,)"
		printf 'struct request { %s int id; enum state state; };\nint main(int n, char **v) {\n' "$([ $n != 4 ] || echo long pad\;)"
		printf 'struct request r = {.id = n, .state = v ? RUNNING : IDLE};\nUSDT_PROBE(app, hit, (struct request *)&r);\nreturn %d;\n}\n' $n
	} >"$tmp/app.c"
	gcc -g -Wl,--build-id -I"$top/include" -o "$tmp/builds/app-1.$n" "$tmp/app.c" || exit 1
done
echo 'no program' >"$tmp/builds/README"
script='usdt:__EXE__:hit { printf("%d %s\n", args.r->id, enum_name(state, args.r->state)); }'
"$btgen" bundle --for 0.17 -x "$tmp/builds" --at "$tmp/installed" -e "$script" -o "$tmp/all.sh"
is $? 0 "-x with a directory: the programs in it are builds of one"
is "$(BPFTRACE=/none sh "$tmp/all.sh" --builds)" "$(for n in 1 2 3 4 5 6 7 8; do
	printf '%s %s\n' "$(readelf -n "$tmp/builds/app-1.$n" | sed -n 's/.*Build ID: //p')" "$tmp/builds/app-1.$n"
done)" "--builds lists them"
esc=$tmp/$'esc \e[2J'
mkdir "$esc" && cp "$tmp/builds/app-1.1" "$esc/"$'app\e]0;x\a'
"$btgen" bundle --for 0.17 -x "$esc/"$'app\e]0;x\a' -x "$tmp/builds/app-1.2" --at "$tmp/installed" -e "$script" -o "$tmp/esc.sh"
is "$? $(BPFTRACE=/none sh "$tmp/esc.sh" --builds | sed -n "1s|.* $tmp/||p")" '0 esc \x1b[2J/app\x1b]0;x\x07' "... with a stranger's name made printable"
# a bpftrace that prints its program
printf '%s\n' '#!/bin/sh' '[ "$1" != --version ] || exec echo bpftrace v0.17.0' 'cat "$1"' >"$tmp/bpftrace"
for n in 1 4 7 8; do
	cp "$tmp/builds/app-1.$n" "$tmp/installed"
	"$btgen" bundle --for 0.17 -x "$tmp/builds/app-1.$n" --at "$tmp/installed" -e "$script" -o "$tmp/one.sh"
	for sh in dash "bash --posix" "busybox sh"; do
		command -v "${sh%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		is "$(BPFTRACE=$tmp/bpftrace $sh "$tmp/all.sh")" "$(BPFTRACE=$tmp/bpftrace $sh "$tmp/one.sh")" "$sh: build $n gets the program of its own bundle"
	done
done
ok "which differ" test "$(grep -c pad "$tmp/all.sh")" = 1 -a "$(grep -c NONE "$tmp/all.sh")" = 1
one=$(wc -c <"$tmp/one.sh") all=$(wc -c <"$tmp/all.sh")
ok "eight builds of three kinds are smaller than three bundles ($one and $all bytes)" test "$all" -lt $((3 * one))
cp /bin/true "$tmp/installed"
is "$(BPFTRACE=$tmp/bpftrace sh "$tmp/all.sh" 2>&1; echo $?)" "error: $tmp/installed is none of the builds that this script is for (--builds lists them)
1" "another build is refused"
# Long programs that differ where they begin and where they end: the time and memory are not those of a table of all their lines.
{
	echo 'usdt:__EXE__:hit { printf("%d\n", RUNNING);'
	seq -f '@ = %.0f;' 20000
	echo 'printf("%d\n", RUNNING); }'
} >"$tmp/long.bt"
(limit_memory 600000 && exec "$btgen" bundle --for 0.17 -x "$tmp/builds/app-1.1" -x "$tmp/builds/app-1.7" --at "$tmp/installed" "$tmp/long.bt" -o "$tmp/long.sh")
is $? 0 "two builds of a long script"
for n in 1 7; do
	cp "$tmp/builds/app-1.$n" "$tmp/installed"
	"$btgen" bundle --for 0.17 -x "$tmp/installed" "$tmp/long.bt" -o "$tmp/one.sh"
	ok "build $n gets its own" test "$(BPFTRACE=$tmp/bpftrace sh "$tmp/long.sh")" = "$(BPFTRACE=$tmp/bpftrace sh "$tmp/one.sh")"
done
# --unsafe, which a probe by address in a stripped program needs, is not for a build that may have something else that needs it.
if [ "$(uname -m)" = x86_64 ]; then
	cat >"$tmp/site.c" <<'END'
#define SITE(name, args) \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,0,0\n.asciz \"app\"\n.asciz \"" name \
			 "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n")
int main(void) { SITE("odd", "8f@%xmm0"); SITE(MORE, "-4@%edi"); return 0; }
END
	gcc -DMORE='"none"' -no-pie -Wl,--build-id -s -o "$tmp/bare" "$tmp/site.c" || exit 1
	gcc -DMORE='"more"' -no-pie -Wl,--build-id -o "$tmp/full" "$tmp/site.c" || exit 1
	printf '#pragma optional -q more\nusdt:__EXE__:odd { @ = count(); }\nusdt:__EXE__:more { system("id"); }\n' >"$tmp/more.bt"
	"$btgen" bundle --for 0.27 -x "$tmp/bare" -x "$tmp/full" --at "$tmp/installed" "$tmp/more.bt" -o "$tmp/all.sh"
	printf '%s\n' '#!/bin/sh' '[ "$1" != --version ] || exec echo bpftrace v0.27.0' 'echo "$@"' >"$tmp/bpftrace"
	for n in bare full; do
		cp "$tmp/$n" "$tmp/installed"
		said+="$n: $(BPFTRACE=$tmp/bpftrace sh "$tmp/all.sh" -q) "
	done
	is "$said" "bare: --unsafe -q /dev/fd/3 full: -q /dev/fd/3 " "only the build that needs --unsafe gets it"
fi
# What a stripped file lacks is said of its own functions, not of those of a library beside it.
mkdir "$tmp/sbin" "$tmp/sbin/app-libs"
printf 'int main(void) { return 0; }\n' >"$tmp/app.c"
printf 'int inside(int n) { return n + 1; }\n' >"$tmp/lib.c"
gcc -g -Wl,--build-id -o "$tmp/sbin/app" "$tmp/app.c" && gcc -shared -fPIC -g -o "$tmp/sbin/app-libs/lib.so" "$tmp/lib.c" || exit 1
"$btgen" bundle --for 0.23 -x "$tmp/sbin/app" -e "uprobe:$tmp/sbin/app-libs/lib.so:inside { exit(); }" -o "$tmp/lib.sh"
strip "$tmp/sbin/app"
unlike "$(BPFTRACE=/none sh "$tmp/lib.sh" 2>&1)" 'no function' "a function of a library whose path begins like the program's"
# A function that only the other build has by that name is not missed.
for n in i l; do # as of C++
	echo "int answer(void) __asm__(\"_Z6answer$n\"); __attribute__((noipa)) int answer(void) { return 1; } int main(void) { return answer(); }" |
		gcc -g -Wl,--build-id -o "$tmp/clone-$n" -xc - || exit 1
done
"$btgen" bundle --for 0.23 -x "$tmp/clone-i" -x "$tmp/clone-l" --at "$tmp/installed" -e 'uprobe:__EXE__:answer { @ = count(); }' -o "$tmp/all.sh"
strip -o "$tmp/installed" "$tmp/clone-l"
is "$(BPFTRACE=/bin/false sh "$tmp/all.sh" 2>&1)" "warning: $tmp/installed is stripped: without a debug file it has no function _Z6answerl
error: /bin/false cannot be run" "of a stripped build the functions that are gone"
like "$("$btgen" bundle -x "$tmp/builds" -e "$script" 2>&1)" '^btgen bundle: several builds need --at PATH' "several builds and no path are an error"
mkdir "$tmp/empty"
like "$("$btgen" bundle -x "$tmp/empty" --at /x -e "$script" 2>&1)" "^btgen bundle: -x: no program in $tmp/empty" "so is a directory without programs"
out=$("$btgen" bundle --for 0.17 -x "$tmp/builds/app-1.1" -x /bin/true --at /x -e "$script" 2>&1)
is "$? $(tail -n 1 <<<"$out")" "1 btgen: note: this is for /bin/true" "a build without the probe: the error names it"
done_testing
