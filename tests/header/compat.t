#!/usr/bin/env bash
# Programs written for systemtap's <sys/sdt.h> compile unchanged with ours: the same notes, types and names on top.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

[ -e /usr/include/sys/sdt.h ] || [ -e /usr/include/"$(gcc -dumpmachine)"/sys/sdt.h ] ||
	skip_all "no <sys/sdt.h> to compare with (systemtap-sdt-dev)"
drop_in="-I$top/include/btgen/compat"

# The shapes are those of PostgreSQL's generated probes.h, QEMU's generated headers, glibc's LIBC_PROBE and SPDK's usdt.h.
cat >"$tmp/p.c" <<'EOF'
#define _SDT_HAS_SEMAPHORES 1
#define SDT_USE_VARIADIC
#include <sys/sdt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEMA(x) extern unsigned short x##_semaphore __attribute__((unused)) __attribute__((section(".probes"))); \
	unsigned short x##_semaphore __attribute__((section(".probes")))
SEMA(postgresql_query__start);
SEMA(qemu_v_init);
SEMA(libc_mem);
SEMA(libc_noarg);
SEMA(spdk_tick);
SEMA(p_none);
SEMA(p_variadic);
SEMA(p_all);
SEMA(p_in_asm);
SEMA(p_asm_text);
#ifdef __cplusplus
}
#endif

#define TRACE_POSTGRESQL_QUERY_START_ENABLED() __builtin_expect((postgresql_query__start_semaphore), 0)
#define TRACE_POSTGRESQL_QUERY_START(arg1) DTRACE_PROBE1(postgresql, query__start, arg1)
#define QEMU_V_INIT(arg1, arg2, arg3) DTRACE_PROBE3 (qemu, v_init, arg1, arg2, arg3)
#define MODULE_NAME libc
#define STAP_PROBE0 STAP_PROBE
#define LIBC_PROBE(name, n, ...) LIBC_PROBE_1(MODULE_NAME, name, n, ## __VA_ARGS__)
#define LIBC_PROBE_1(lib, name, n, ...) STAP_PROBE##n(lib, name, ## __VA_ARGS__)
#define SPDK_DTRACE_PROBE2(name, a1, a2) DTRACE_PROBE3(spdk, name, 0, a1, a2)

enum kind { SMALL, LARGE };
struct query { const char *sql; unsigned short id; enum kind kind; };

__attribute__((noinline)) int work(struct query *q, int a, unsigned char b, const char *str, void *ptr)
{
	int r = 0;
	if (TRACE_POSTGRESQL_QUERY_START_ENABLED())
		TRACE_POSTGRESQL_QUERY_START(str);
	QEMU_V_INIT(ptr, a, (unsigned)b + 1);
	LIBC_PROBE(mem, 2, a, ptr);
	LIBC_PROBE(noarg, 0);
	SPDK_DTRACE_PROBE2(tick, str, a);
	STAP_PROBE(p, none);
	STAP_PROBEV(p, variadic, a, b);
	STAP_PROBE12(p, all, a, b, str, ptr, 1, -1L, q->kind, (short)a, (long)a, (signed char)b, q, q->id);
#ifndef __cplusplus /* the original has no asm form in C++ */
	__asm__("nop\n" STAP_PROBE_ASM(p, in_asm, STAP_PROBE_ASM_TEMPLATE(3)) "\tmovl $1, %0"
		: "=r"(r) : STAP_PROBE_ASM_OPERANDS(3, a, b, str));
	__asm__ __volatile__(STAP_PROBE_ASM(p, asm_text, 4@%eax -8@8(%rsp)));
#endif
	return r;
}

int main(int argc, char **argv)
{
	struct query q = { argv[0], 3, LARGE };
	char text[] = "select 1"; /* not a literal: a page that nobody has read yet is no string for a tracer */
	for (int i = 0; i < 3; i++)
		work(&q, argc, 200, text, argv);
	return 0;
}
EOF
cat >"$tmp/a.S" <<'EOF'
#include <sys/sdt.h>
#define LP_SIZE 8
#define RDI_LP rdi
	.text
	.globl asmfn
	.type asmfn, @function
asmfn:
	STAP_PROBE3 (libc, setjmp, LP_SIZE@%RDI_LP, -4@%esi, LP_SIZE@%rdx)
	STAP_PROBE (libc, plain)
	ret
	.size asmfn, .-asmfn
	.section .note.GNU-stack,"",@progbits
EOF
cp "$tmp/p.c" "$tmp/p.cc"

# notes FILE [sizes]: a line a note, with the arguments or only their sizes and signs
notes() {
	readelf -nW "$1" | awk -v sizes="${2-}" '
		match($0, /Provider: /) { p = substr($0, RSTART + 10) }
		match($0, /Name: /) { n = substr($0, RSTART + 6) }
		match($0, /Semaphore: /) { sema = substr($0, RSTART + 11) ~ /^0x0*$/ ? "-" : "sema" }
		match($0, /Arguments: ?/) {
			a = substr($0, RSTART + RLENGTH)
			if (sizes) gsub(/@[^ ]*/, "", a)
			print p, n, sema, a
		}'
}

cat >"$tmp/want.types" <<'EOF'
libc:mem(int [a], void * [ptr]) sema
libc:noarg() sema
libc:plain() -
libc:setjmp(? [?], ? [?], ? [?]) -
p:all(int [a], unsigned char [b], const char * [str], void * [ptr], int [1], long [-1L], enum kind [q->kind], short [(short)a], long [(long)a], signed char [(signed char)b], struct query * [q], unsigned short [q->id]) sema
p:asm_text(? [?], ? [?]) sema
p:in_asm(? [?], ? [?], ? [?]) sema
p:none() sema
p:variadic(int [a], unsigned char [b]) sema
postgresql:query__start(const char * [str]) sema
qemu:v_init(void * [ptr], int [a], unsigned [(unsigned)b + 1]) sema
spdk:tick(int [0], const char * [str], int [a]) sema
EOF

ran=0
for how in "gcc -std=gnu11 -O2" "gcc -std=c99 -O1" "gcc -O2 -fPIC -pie" "clang -std=c11 -O2" "g++ -std=c++11 -O2" "g++ -std=c++20 -O2" \
	"clang++ -std=c++20 -O2"; do
	cc=${how%% *} src=p.c
	command -v "$cc" >/dev/null || { skip "$how" "no $cc"; continue; }
	asm=("$tmp/a.S")
	case $cc in *++) src=p.cc asm=() ;; esac
	[ "$(uname -m)" = x86_64 ] || asm=()
	# shellcheck disable=SC2086
	$how -g -w -o "$tmp/real" "$tmp/$src" "${asm[@]}" &&
		$how -g -Wall -Wextra -Werror "$drop_in" -o "$tmp/ours" "$tmp/$src" "${asm[@]}" ||
		{ ok "$how compiles" false; continue; }
	is "$(notes "$tmp/ours" sizes)" "$(notes "$tmp/real" sizes)" "$how: the same notes as with the original: sizes, signs, semaphores"
	want=$(sort "$tmp/want.types")
	[ -n "${asm[*]}" ] || want=$(grep -v 'libc:plain\|setjmp' <<<"$want")
	case $cc in *++) want=$(grep -v 'asm' <<<"$want") ;; esac
	is "$("$top/tests/header/probes.py" "$tmp/ours" | sed 's/ [^ ]*:[0-9]*$//' | sort)" "$want" "$how: types and names on top"
	ran=$((ran + 1))
done
printf '# %d combinations of compiler and options ran\n' "$ran"

gcc -O2 -w "$drop_in" -DUSDT_DISABLE -o "$tmp/off" "$tmp/p.c" "$tmp/a.S"
is "$(readelf -SW "$tmp/off" | grep -c 'stapsdt\|btgen')" 0 "-DUSDT_DISABLE removes them"
gcc -O2 -fsyntax-only "$drop_in" -xc - <<<'#include <sys/sdt.h>
void f(void) { STAP_PROBE2(p, n, 1); }' 2>"$tmp/err"
like "$(cat "$tmp/err")" 'STAP_PROBE2 takes 2 arguments' "a wrong number of arguments is an error that says so"

if can_trace; then
	gcc -O2 -g "$drop_in" -o "$tmp/p" "$tmp/p.c"
	# shellcheck disable=SC2016
	guard bpftrace -o "$tmp/out" -e 'usdt:'"$tmp"'/p:postgresql:query__start { printf("%s\n", str(arg0)); }' \
		-c "$tmp/p" >/dev/null 2>&1
	is "$(grep -c 'select 1' "$tmp/out")" 3 "a tracer raises the semaphore that the program declared"
else
	skip_tracing "a tracer raises the semaphore that the program declared"
fi
done_testing
