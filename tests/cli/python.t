#!/usr/bin/env bash
# Commands in Python: without /usr/bin/python3 they end before anything runs, and nothing of the user's gets into them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cd "$tmp" || exit 1
printf '#include <btgen/usdt.h>\nint main(int n, char **v) { USDT_PROBE(app, push, n); return v == 0; }\n' >app.c
gcc -g -Wl,--build-id -I"$top/include" -o app app.c || exit 1
printf '%s\n' 'NAME a' 'REQUIRES touch ran && false' 'RUN ./app' 'TRACE push' 'EXPECT 1' >app.cases
commands() {
	printf '%s\n' 'test app.cases' 'bundle -x ./app --for 0.23 -e BEGIN{exit()}' 'doctor --bpftrace /none'
}
while read -r command rest; do
	rm -f ran
	if ! unshare -m true 2>/dev/null; then
		skip "$command: no python3" "unshare is not permitted"
		continue
	fi
	# shellcheck disable=SC2016,SC2086 # for that shell; several words
	out=$(unshare -m sh -c 'mount --bind /dev/null "$(readlink -f /usr/bin/python3)" && exec "$@"' sh "$btgen" "$command" $rest 2>&1)
	like "$? $out" '^127 btgen: error: cannot run /usr/bin/python3: .*: install the package python3$' "$command: no python3 is status 127, and the message names it"
	not_ok "... and nothing has run" test -e ran
done < <(commands)
while read -r command rest; do
	# shellcheck disable=SC2086 # several words
	"$btgen" "$command" $rest >"$command.out" 2>&1
done < <(commands)
for module in json diag commandline outfile subprocess; do printf 'print("PWN")\nraise SystemExit(9)\n' >$module.py; done
while read -r command rest; do
	# shellcheck disable=SC2086
	is "$(PYTHONPATH=$tmp PYTHONSTARTUP=$tmp/json.py "$btgen" "$command" $rest 2>&1)" "$(cat "$command.out")" "$command: the user's modules are not imported"
done < <(commands)
mkdir moved moved/bin moved/share && cp "$btgen" moved/bin/ || exit 1
like "$(moved/bin/btgen test app.cases 2>&1)" "^btgen: error: btgen's program test.py is missing: install btgen again$" "a program that was not installed"
done_testing
