#!/usr/bin/env bash
# #pragma optional: what the target does not have is left out, with a note; what is not optional is an error.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

# expand [OPTION...]: the program for the template on stdin; messages in $tmp/err
# shellcheck disable=SC2120 # no options yet
expand() {
	cat >"$tmp/t.bt"
	"$btgen" expand -x "$targets/nvmf_tgt" --for 0.17 "$@" "$tmp/t.bt" 2>"$tmp/err"
}

# squeezed: without blanks that mean nothing, the path short
squeezed() { sed "s|$targets/||g" | tr -s ' \n\t' ' ' | sed 's/^ //; s/ $//'; }

is "$(expand <<'END' | squeezed
#pragma optional
usdt:__EXE__:spdk:nvmf_tgt_state { printf("%d\n", arg1); }
usdt:__EXE__:spdk:from_next_year /arg9 == 1/ { printf("%s\n", str(arg5)); }
uprobe:__EXE__:removed_function { @n = count(); }
END
)" 'usdt:nvmf_tgt:spdk:nvmf_tgt_state { printf("%d\n", arg1); }' "clauses whose probe or function is missing are left out"
is "$(cat "$tmp/err")" \
	"btgen: note: dropped, as $targets/nvmf_tgt lacks them: from_next_year, removed_function" \
	"one note names them"

for list in 'old, usdt:__EXE__:msg_exec, usdt:__EXE__:timerfd_exec' \
	'msg_exec, usdt:__EXE__:old, usdt:__EXE__:older, usdt:__EXE__:timerfd_exec' \
	'old, usdt:__EXE__:older, usdt:__EXE__:msg_exec, usdt:__EXE__:old, usdt:__EXE__:timerfd_exec, usdt:__EXE__:older' \
	'msg_exec, usdt:__EXE__:timerfd_exec, usdt:__EXE__:old, usdt:__EXE__:older'; do
	is "$(expand <<<"#pragma optional
usdt:__EXE__:$list { @n = count(); }" | squeezed)" \
		'usdt:nvmf_tgt:spdk:msg_exec, usdt:nvmf_tgt:spdk:timerfd_exec { @n = count(); }' \
		"of several attach points the others stay: $list"
done

is "$(expand <<'END' | squeezed
#pragma optional from_* removed_function
usdt:__EXE__:spdk:from_next_year, uprobe:__EXE__:removed_function { }
usdt:__EXE__:msg_exec { @n = count(); }
END
)" 'usdt:nvmf_tgt:spdk:msg_exec { @n = count(); }' "with names and patterns"
expand >/dev/null <<'END'
#pragma optional from_*
usdt:__EXE__:msg_exec { }
usdt:__EXE__:spdk:msg_exeq { }
END
is $? 1 "a probe that no pattern names is still an error"
like "$(cat "$tmp/err")" "t.bt:3:1: error: .*no probe spdk:msg_exeq" "... at its place"

printf '#pragma optional\nusdt:__EXE__:spdk:gone { }\n' >"$tmp/part.bt"
is "$(expand <<'END' | squeezed
#include "part.bt"
usdt:__EXE__:msg_exec { @n = count(); }
END
)" 'usdt:nvmf_tgt:spdk:msg_exec { @n = count(); }' "it holds in an included file that says so"
expand >/dev/null <<'END'
#include "part.bt"
usdt:__EXE__:spdk:gone_too { }
END
like "$? $(cat "$tmp/err")" '^1 .*no probe spdk:gone_too' "... and not in the one that includes it"

expand >/dev/null <<'END'
#pragma optional
BEGIN { printf("waiting\n"); }
usdt:__EXE__:spdk:gone { }
interval:s:1 { print(1); }
END
like "$? $(cat "$tmp/err")" '^1 .*has none of the probes of this script.*: gone' \
	"a script of which nothing is left would wait for ever: an error"
is "$(expand <<'END' | squeezed
#pragma optional
usdt:__EXE__:spdk:gone { }
tracepoint:syscalls:sys_enter_fsync { @n = count(); }
END
)" 'tracepoint:syscalls:sys_enter_fsync { @n = count(); }' "... but a tracepoint is something to wait for"
expand >/dev/null <<'END'
#pragma optional "gone"
usdt:__EXE__:msg_exec { }
END
like "$? $(cat "$tmp/err")" '^1 .*t.bt:1:18: error: #pragma optional takes names' "what is no name is an error, at its place"

# The table of an enum that only a clause left out would read is left out as well.
unlike "$(expand <<'END'
#pragma optional
usdt:__EXE__:msg_exec { @n = count(); }
usdt:__EXE__:spdk:gone { printf("%s\n", @target[arg1]); }
END
)" '@target' "a clause that is left out asks for no table"

# bpftrace refuses a map that is never set: what others say about one that only a clause left out sets goes, too.
is "$(expand <<'EOT' | squeezed
#pragma optional
BEGIN { @x = 1; }
usdt:__EXE__:spdk:gone { @start[pid] = nsecs; @name[pid] = str(arg1); @size = hist(arg2); @n[1]++; @lone = 5; @both = 1; }
usdt:__EXE__:spdk:nvmf_tgt_state /@start[pid]/ { @end[pid, @x] = nsecs; delete(@start[pid]); }
usdt:__EXE__:spdk:msg_exec /@end[pid, 1]/ { @x = 2; }
usdt:__EXE__:spdk:timerfd_exec /@start[@lone] == 0 || @lone/ {
	printf("%s %d\n", @name[pid], @n[@x]);
	if (@start[pid] != 0) { delete(@start[pid]) }
	@both = 2; print(@size, 10); print(@both);
}
interval:s:1 { print(@size); clear(@size) }
END { clear(@start); clear(@name); zero(@size); clear(@end); clear(@x); }
EOT
)" 'BEGIN { @x = 1; } usdt:nvmf_tgt:spdk:timerfd_exec /0 == 0 || 0/ { printf("%s %d\n", "", 0); if (0 != 0) { } @both = 2; print(@both); } interval:s:1 { } END { clear(@x); }' \
	"maps that nothing sets any more: clauses that wait for them, clear, delete, zero and print of them go; else they are 0 or \"\""
is "$(cat "$tmp/err")" "btgen: note: dropped, as $targets/nvmf_tgt lacks them: gone
btgen: note: also dropped (they depend on maps that only those clauses set): nvmf_tgt_state, msg_exec" "the notes name both"

is "$(expand --for 0.23 <<'EOT' | squeezed
#pragma optional
usdt:__EXE__:spdk:gone { @start[pid] = nsecs; }
usdt:__EXE__:spdk:msg_exec { @n = count(); }
interval:s:1 { for ($kv : @start) { printf("%d\n", $kv.1); } print(@n); }
EOT
)" 'usdt:nvmf_tgt:spdk:msg_exec { @n = count(); } interval:s:1 { print(@n); }' "a loop over one goes, too"

done_testing
