#!/usr/bin/env bash
# Instructions that Linux does not probe: bare bpftrace ends of one, with all its probes. btgen names the place, or does without it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the prefixes are those of x86-64"
cd "$tmp" || exit 1
cat >app.c <<'END'
#include <stdio.h>
long total;
/* As gcc -O2 compiles __atomic_add_fetch() at the beginning of a function */
__asm__(".text\n.globl get_ref\n.type get_ref,@function\nget_ref: lock addq $1, total(%rip)\n ret\n.size get_ref,.-get_ref\n"
	".globl get_far\n.type get_far,@function\nget_far: .byte 0x3e\n addq $1, total(%rip)\n ret\n.size get_far,.-get_far\n");
void get_ref(void), get_far(void);
/* gcc -march=native begins functions with AVX: Linux refuses vmovdqu when it loads, takes the 7f of a store for a jump, the c2 of vcmpps
   for ret, and the 90 of vpgatherdd for nop. */
__asm__(".data\nfrom: .quad 5, 6\n.globl to\nto: .quad 0, 0\n.text\n.globl vec_load\n.type vec_load,@function\nvec_load: vmovdqu from(%rip), %xmm0\n ret\n.size vec_load,.-vec_load\n"
	".globl vec_store\n.type vec_store,@function\nvec_store: vmovdqu %xmm0, to(%rip)\n ret\n.size vec_store,.-vec_store\n"
	".globl vec_same\n.type vec_same,@function\nvec_same: vcmpps $0, %xmm0, %xmm0, %xmm1\n ret\n.size vec_same,.-vec_same\n"
	".globl vec_gather\n.type vec_gather,@function\nvec_gather: vpgatherdd %xmm3, (%rdi,%xmm2,4), %xmm1\n ret\n.size vec_gather,.-vec_gather\n"
	".globl vec_add\n.type vec_add,@function\nvec_add: vaddpd %xmm0, %xmm0, %xmm1\n ret\n.size vec_add,.-vec_add\n");
void vec_load(void), vec_store(void), vec_same(void), vec_add(void);
extern long to;
__attribute__((noinline)) void get_plain(void) { __asm__ volatile(""); total++; }
int main(void)
{
	for (int i = 0; i < 5; i++) {
		get_ref(), get_ref();
		get_far();
		get_plain();
	}
	if (HAS_AVX)
		vec_load(), vec_store(), vec_same(), vec_add();
	printf("%ld %ld\n", to, total);
}
END
grep -qw avx /proc/cpuinfo && avx=1 || avx=0
gcc -g -O2 -DHAS_AVX=$avx -o app app.c || exit 1
is "$(./app)" "$((5 * avx)) 20" "the program counts them all"

run() { guard "$live_sh" --bpftrace "$bpftrace" -c ./app -o trace "$@" >out 2>messages; }
for name in get_ref get_far; do
	guard "$bpftrace" -e "uprobe:./app:$name { @ = count(); }" -c ./app >bare 2>&1 </dev/null
	not_ok "$name: bare bpftrace does not trace it" grep -q '^@: [1-9]' bare
	not_ok "... nor btgen" run -e "BEGIN { printf(\"begins\\n\"); }
uprobe:__EXE__:$name { @ = count(); }"
	like "$(cat messages)" "2:1: error: $name cannot be traced: Linux cannot probe an instruction with a (lock|segment) prefix" "... which says where and why"
	is "$(cat trace 2>/dev/null)" "" "... before anything is traced"
done
ok "a pattern has the others" run -e 'uprobe:__EXE__:get_* { @ = count(); }'
is "$(grep '^@' trace)" "@: 5" "... all their calls"
like "$(cat messages)" 'warning: 2 of 3 places of get_\* are not traced, as Linux cannot probe an instruction with a [a-z]* prefix: get_(ref|far)' "... and which not is said"
ok "-t of a pattern, too" run -t 'uprobe:get_*' --count
like "$(cat trace)" 'get_plain.*5' "... all calls of the others"
like "$(cat messages)" 'warning: 2 functions of get_\* are skipped' "... and how many are skipped"
not_ok "-t of one" run -t uprobe:get_ref
like "$(cat messages)" "the functions that match 'uprobe:get_ref' cannot be traced: Linux cannot probe an instruction with a lock prefix" "... which says why not"
ok "a call tree" run --calls 'get_*'
is "$(grep -c get_plain trace)" 5 "... of the others"
not_ok "an address" run -e "uprobe:__EXE__:0x$(nm app | sed -n 's/^0*\([0-9a-f]*\) T get_ref/\1/p') { @ = count(); }"
like "$(cat messages)" 'cannot probe an instruction with a lock prefix' "... says so, too"
if [ $avx = 1 ]; then
	for name in vec_load vec_store vec_same vec_gather; do
		not_ok "$name: an AVX instruction" run -t uprobe:$name
		like "$(cat messages)" "the functions that match 'uprobe:$name' cannot be traced: Linux cannot probe this AVX instruction" "... which Linux refuses, or does not execute"
	done
	ok "a pattern of functions" run -t 'uprobe:vec_*' --count
	like "$(cat trace)" 'vec_add.*1' "... has those of other AVX instructions"
	is "$(cat out)" "5 20" "... and the program does what it does without a trace"
else
	skip "AVX instructions" "this processor has none"
fi
ok "a pattern of all that the file has" run -e 'uprobe:__EXE__:* { @ = count(); }'
like "$(grep '^@' trace)" '^@: ([6-9]|1[0-9])$' "... main() and others among it, and none without a size, of which bpftrace would end"
cat >plain.c <<'END'
int main(void) { return 0; }
END
gcc -O0 -o plain plain.c || exit 1
all_of_plain() { "$live_sh" --bpftrace "$bpftrace" -e 'uprobe:__EXE__:* { @ = count(); }' -c ./plain >trace 2>messages; }
ok "a pattern that matches functions without a size, as gcc's own" all_of_plain
like "$(grep '^@' trace)" '^@: [1-9]' "... is traced"
tm=$("$live_sh" -n --bpftrace "$bpftrace" -e 'uprobe:__EXE__:*tm_clones { @ = count(); }' -x ./plain 2>&1)
case $("$bpftrace" --version) in
*v0.17.*)
	like "$(cat messages)" "warning: bpftrace cannot attach to [1-9] of the functions \*: no size in the symbol table" "... without them"
	like "$tm" "error: bpftrace cannot attach to 2 of the functions \*tm_clones: no size" "no other matches: an error"
	;;
*)
	like "$tm" '^uprobe:.*tm_clones' "two of them"
	ok "--unsafe allows one" guard "$live_sh" --bpftrace "$bpftrace" --unsafe -e 'uprobe:__EXE__:frame_dummy { @ = count(); }' -c ./plain -o trace
	is "$(grep '^@' trace)" "@: 1" "... its calls"
	;;
esac
for kind in uprobe uretprobe; do
	not_ok "$kind: one of them by its name" run -e "BEGIN { printf(\"begins\\n\"); }
$kind:__EXE__:frame_dummy { @ = count(); }"
	like "$(cat messages)" "2:1: error: bpftrace cannot attach to frame_dummy: no size in the symbol table" "... is an error at its place"
done
done_testing
