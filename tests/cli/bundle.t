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
	is "$(grep -oE '^  --?[a-zB-]+' <<<"$help" | tr -d ' \n')" "-o-f-p-c-q-v-k-B--no-warnings--unsafe--usdt-file-activation-h" "$sh: and lists each option"
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

# --- one bundle a build ---

mkdir "$tmp/builds"
for n in 1 2; do
	{
		printf '#include <btgen/usdt.h>\nenum state { %s IDLE, RUNNING };\n' "$([ $n = 1 ] || echo NONE,)"
		printf 'struct request { %s int id; enum state state; };\nint main(int n, char **v) {\n' "$([ $n = 1 ] || echo long pad\;)"
		printf 'struct request r = {.id = n, .state = v ? RUNNING : IDLE};\nUSDT_PROBE(app, hit, (struct request *)&r);\nreturn %d;\n}\n' $n
	} >"$tmp/app.c"
	gcc -g -Wl,--build-id -I"$top/include" -o "$tmp/builds/app-1.$n" "$tmp/app.c" || exit 1
	"$btgen" bundle --for 0.17 -x "$tmp/builds/app-1.$n" --at "$tmp/installed" \
		-e 'usdt:__EXE__:hit { printf("%d %s\n", args.r->id, enum_name(state, args.r->state)); }' -o "$tmp/app-1.$n.sh" || exit 1
done
# a bpftrace that prints its program
printf '%s\n' '#!/bin/sh' '[ "$1" != --version ] || exec echo bpftrace v0.17.0' 'cat "$1"' >"$tmp/bpftrace"
for n in 1 2; do
	cp "$tmp/builds/app-1.$n" "$tmp/installed"
	is "$(BPFTRACE=$tmp/bpftrace sh "$tmp/app-1.$n.sh" | grep -cE 'pad|NONE')" "$((2 * (n - 1)))" "build $n gets the layout and the names of its own"
	other=$((3 - n))
	is "$(BPFTRACE=$tmp/bpftrace sh "$tmp/app-1.$other.sh" 2>&1; echo $?)" \
		"error: $tmp/installed is not the build that this script is for (build ID $(readelf -n "$tmp/builds/app-1.$other" | sed -n 's/.*Build ID: //p'))
1" "... and is refused by the other's"
done
cp "$tmp/builds/app-1.1" "$tmp/"$'app\e[2J'
"$btgen" bundle --for 0.17 -x "$tmp/"$'app\e[2J' -e 'BEGIN { exit(); }' -o "$tmp/esc.sh"
like "$(BPFTRACE=/none sh "$tmp/esc.sh" --help)" 'Trace every process of .*/app\\x1b\[2J with' "a stranger's name is made printable"
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
	printf '%s\n' '#!/bin/sh' '[ "$1" != --version ] || exec echo bpftrace v0.27.0' 'echo "$@"' >"$tmp/bpftrace"
	for n in bare full; do
		"$btgen" bundle --for 0.27 -x "$tmp/$n" "$tmp/more.bt" -o "$tmp/$n.sh"
		said+="$n: $(BPFTRACE=$tmp/bpftrace sh "$tmp/$n.sh" -q) "
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
echo 'int answer(void) __asm__("_Z6answerl"); __attribute__((noipa)) int answer(void) { return 1; } int main(void) { return answer(); }' |
	gcc -g -Wl,--build-id -o "$tmp/clone" -xc - || exit 1 # as of C++
"$btgen" bundle --for 0.23 -x "$tmp/clone" -e 'uprobe:__EXE__:answer { @ = count(); }' -o "$tmp/clone.sh"
strip "$tmp/clone"
is "$(BPFTRACE=/bin/false sh "$tmp/clone.sh" 2>&1)" "warning: $tmp/clone is stripped: without a debug file it has no function _Z6answerl
error: /bin/false cannot be run" "of a stripped build the functions that are gone"
like "$("$btgen" bundle -x "$tmp/builds/app-1.1" -x "$tmp/builds/app-1.2" -e 'BEGIN { }' 2>&1)" '^btgen bundle: -x: one file at a time' "two builds are an error"
like "$("$btgen" bundle -x "$tmp/builds" -e 'BEGIN { }' 2>&1)" "^$tmp/builds: error: cannot open it: is a directory" "so is a directory"
echo 'BEGIN { exit(); }' >"$tmp/-more.bt"
ok "a script whose name begins with -" sh -c 'cd "$1" && "$2" bundle --for 0.23 -x builds/app-1.1 -- -more.bt >/dev/null' sh "$tmp" "$btgen"
done_testing
