# Sourced by the tests of this folder after lib.sh and live.sh. SOAK_SECONDS is what all of them take together (1200); a minute tries them.
#
#	sleep $(percent 40)			# 40 % of it
#	watch $live_tracer			# from now on; to be ended by
#	stays_flat CLAIM			# the process is gone: memory, descriptors, processes and files did not grow
#	account CLAIM FIRED [in-order] <FILE	# all lines are whole, each number once, and lines and losses are FIRED
# shellcheck shell=bash disable=SC2034,SC2154
soak=$top/tests/soak
mkdir "$tmp/files"
export TMPDIR=$tmp/files
hit='usdt:__EXE__:hit { printf("hit %ld %s\n", args.r->id, args.r->state); }'

build() { gcc -O2 -g -I"$top/include" "$@" "$soak/soak.c"; }
build -DFIRST= -DMORE= -o "$tmp/first" && build -DFIRST='NONE, ' -DMORE='long pad;' -o "$tmp/second" || exit 1

percent() { echo $((${SOAK_SECONDS:-1200} * $1 / 100)); }

watch() {
	rm -f "$tmp/samples"
	python3 "$soak/watch.py" "$1" "$TMPDIR" "$tmp/samples" 8>&- &
	watcher=$!
	own $watcher
}
stays_flat() {
	wait $watcher
	is "$(python3 "$soak/watch.py" "$tmp/samples" 2>&1 | grep -v '^#')" "" "$1: memory, descriptors, processes and files do not grow"
	python3 "$soak/watch.py" "$tmp/samples" 2>&1 | grep '^#'
}

lost() { sed -nE 's/^btgen: warning: ([0-9]+) of [0-9]+ events were lost.*/\1/p' "$tmp/messages"; }
account() {
	local said
	said=$(python3 "$soak/account.py" ${3+"$3"})
	is "$((${said% *} + $(lost) + 0)) ${said#* }" "$2 0" "$1: ${said% *} lines, $(($(lost) + 0)) lost"
}
