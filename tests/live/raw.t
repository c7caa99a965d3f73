#!/usr/bin/env bash
# Finished programs (USE_CMDLINE_BPF_PROGRAM) and an environment with next to nothing in it: the ways in which programs that
# were written for another bpftrace.sh call it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

# A program of 33 clauses with tables of names, as a generator makes it: nothing in it is left to btgen. One of the
# clauses prints four strings at once, which fit on the stack of a BPF program of 0.17 with bpftrace's own limit only.
finished() {
	local path=/proc/$live_pid/root$targets/nvmf_tgt name
	cat <<-E
		BEGIN { @state[0] = "INACTIVE"; @state[2] = "ACTIVE"; @state[4] = "PAUSED"; }
		usdt:$path:nvmf_subsystem_change_state {
			printf("nvmf_subsystem_change_state %d.%06d %s from %s to %s start\n", elapsed / (uint64)1000000,
			       elapsed % (uint64)1000000, str(arg1), @state[arg3], @state[arg2]);
		}
		usdt:$path:nvmf_subsystem_change_state_done {
			printf("nvmf_subsystem_change_state_done %d.%06d %s from %s to %s %d\n", elapsed / (uint64)1000000,
			       elapsed % (uint64)1000000, str(arg1), @state[arg3], @state[arg2], arg4);
		}
		usdt:$path:nvmf_subsystem_add_listener {
			printf("nvmf_subsystem_add_listener %s %s:%s %s\n", str(arg1), str(arg3), str(arg4), @state[2]);
		}
		END { clear(@state); }
	E
	readelf -n "$targets/nvmf_tgt" | sed -n '/Provider: spdk/{n;s/.*Name: //p}' | sort -u |
		grep -E '^(spdk_)?nvmf_' | grep -vE 'subsystem_(change_state|add_listener)' | head -n 30 |
		while read -r name; do printf 'usdt:%s:%s { printf("%s\\n"); }\n' "$path" "$name" "$name"; done
}

# What each clause prints first is its probe's name.
live_nvmf nvmf_tgt
program=$(finished)
is "$(grep -c '^usdt' <<<"$program")" 33 "a program of 33 clauses"
USE_CMDLINE_BPF_PROGRAM=yes ok "USE_CMDLINE_BPF_PROGRAM: it attaches and lasts as long as the target" live_tour "$live_pid" "$program"
sed -n 's/.*printf("\([a-z_]*\).*/\1/p' <<<"$program" >"$tmp/names"
is "$(grep -o '^[a-z_]*' "$tmp/trace" | sort | uniq -c | awk '{ print $2, $1 }')" \
	"$(python3 "$top/tests/live/nvmf_lines.py" "$tmp/log" count | grep -wFf "$tmp/names")" \
	"each event is there once, by the target's own log"
is "$(grep -c '^nvmf_subsystem_change_state_done .* from INACTIVE to ACTIVE 0$' "$tmp/trace")" \
	"$(awk '$3 == "nvmf_subsystem_change_state_done" && $6 == 2 && $7 == 0 && $8 == 0' "$tmp/log" | wc -l)" \
	"and the names of states are those of the program's own tables"

# Some start it with an environment that has next to nothing in it: a shell finds commands without PATH.
found=$(env -i /bin/sh -c 'command -v bpftrace')
if [ -n "$found" ]; then
	is "$(env -i BTGEN="$btgen" BPF_OUTFILE="$tmp/out" "$live_sh" -q -e 'BEGIN { printf("begun\n"); exit(); }' \
		2>&1; grep . "$tmp/out")" \
		begun "without PATH in the environment, bpftrace is the one that a shell finds"
else
	skip "without PATH in the environment, bpftrace is the one that a shell finds" "no bpftrace in the system's folders"
fi
done_testing
