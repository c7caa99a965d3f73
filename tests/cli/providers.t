#!/usr/bin/env bash
# Every kind of clause: which are the program's, by whatever name bpftrace knows them.
. "$(dirname "$0")/../lib.sh"

tgt=$targets/nvmf_tgt

expand() {
	"$btgen" expand --for 0.27 -x "$tgt" -e "$1" 2>"$tmp/err"
}

body='{ $s = (struct spdk_nvmf_subsystem *)1; printf("%s", str($s->subnqn)); }'
want='str((uint64)$s + '
for kind in BEGIN END begin end interval:s:1 i:s:1 profile:hz:9 p:hz:9 software:faults:1 s:faults:1 hardware:cache-misses:1 \
	h:cache-misses:1 watchpoint:0x1000:8:w w:0x1000:8:w asyncwatchpoint:0x1000:8:w aw:0x1000:8:w self:signal:SIGUSR1 \
	usdt:__EXE__:spdk:nvmf_tgt_state U:__EXE__:spdk:nvmf_tgt_state uprobe:__EXE__:main u:__EXE__:main ur:__EXE__:main; do
	like "$(expand "$kind $body")" "$(printf '%s' "$want" | sed 's/[()$+]/\\&/g')" \
		"$kind: a char array of the program's struct is read at its address"
done
for kind in kprobe:f k:f kretprobe:f kr:f fentry:f f:f fexit:f fr:f tracepoint:a:b t:a:b rawtracepoint:a rt:a iter:task it:task; do
	like "$(expand "$kind { print(NVMF_TGT_RUNNING); }")" 'print\(NVMF_TGT_RUNNING\)' \
		"$kind: the program's enumerators mean nothing in a clause of the kernel"
done

like "$(expand 'begin { printf("%s", @subsystem[2]); }')" '@subsystem\[7\] = "NUM_STATES"; if \(@subsystem\[2\] == ""\)' \
	"a table is filled before the statements of a clause that is called begin"
is "$(expand 'begin { @a = 1; } end { clear(@a); }')" 'BEGIN { @a = 1; } END { clear(@a); }' \
	"begin and end are spelled as every version knows them"
like "$(expand 'struct b { int x; } __attribute__((packed)) uprobe:__EXE__:main '"$body")" 'str\(\(uint64\)' \
	"an attribute without a semicolon does not hide the clause behind it"
is "$(expand 'BEGIN /{ $a = 1; $a }/ { @ = 1; }')" 'BEGIN /{ $a = 1; $a }/ { @ = 1; }' "a predicate may be a block"

done_testing
