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
done_testing
