#!/usr/bin/env bash
# btgen diff: two builds of a program, what changed between them, and for which scripts that matters.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, btgen, top: lib.sh

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#ifdef VALUES
enum mode { OFF, STARTING, ON, LATE };
#else
enum mode { OFF, ON };
#endif
#ifdef OFFSETS
struct job { long id; long extra; char name[16]; enum mode mode; };
#elif defined(SWAP)
struct job { long id; char name[16]; enum mode mode; unsigned high : 4, low : 4; };
#else
struct job { long id; char name[16]; enum mode mode; unsigned low : 4, high : 4; };
#endif
#ifdef TYPES
typedef unsigned count_t;
#else
typedef int count_t;
#endif
int main(int argc, char **argv)
{
	struct job job = {.id = argc, .name = "first", .mode = ON}, *j = &job;
	count_t n = (count_t)argc;
#ifdef NAMES
	struct job *task = j;
	USDT_PROBE(app, start, task, n);
#elif defined(ORDER)
	USDT_PROBE(app, start, n, j);
#elif defined(COUNT)
	USDT_PROBE(app, start, j, n, argv);
#else
	USDT_PROBE(app, start, j, n);
#endif
	USDT_PROBE(app, mode, USDT_ARG(j->mode, "mode"));
#ifndef PROBES
	USDT_PROBE(app, stop);
#else
	USDT_PROBE(app, halt, argc);
#endif
	(void)argv;
	return 0;
}
END
for v in SAME SWAP VALUES OFFSETS TYPES NAMES ORDER COUNT PROBES; do
	"${CC:-gcc}" -O1 -g -D$v -I"$top/include" -o "$tmp/$v" "$tmp/app.c" || skip_all "no compiler"
done
"${CC:-gcc}" -O0 -g -I"$top/include" -o "$tmp/old" "$tmp/app.c"
strip -o "$tmp/stripped" "$tmp/old"
cd "$tmp" || exit

# run ARGS...: leaves $out (standard output) and $status
run() {
	out=$("$btgen" diff --for 0.17 "$@" 2>"$tmp/err")
	status=$?
}
says() { # CLAIM WANT ARGS...: status, newline, output
	local claim=$1 want=$2
	shift 2
	run "$@"
	is "$status
$out" "$want" "$claim" || sed 's/^/# /' "$tmp/err"
}
says "another optimisation is no difference" "0
" old SAME
says "nor is what a stripped build cannot say" "0
" old stripped
says "enumerators with other values, new ones" "1
enum mode: ON was 1, is 2
enum mode: STARTING is new: 1
enum mode: LATE is new: 3" old VALUES
says "an argument with another type" "1
probe app:start: arg1 was signed, is unsigned" old TYPES
says "another name" "1
probe app:start: arg0 was called j, is called task" old NAMES
says "another order" "1
probe app:start: j was arg0, is arg1
probe app:start: n was arg1, is arg0" old ORDER
says "another number" "1
probe app:start had (struct job *j, count_t n), has (struct job *j, count_t n, char **argv)" old COUNT
says "probes that came and went" "1
probe app:stop is gone
probe app:halt is new: (int argc)" old PROBES
says "a struct is no argument: nothing is said of its members" "0
" old OFFSETS

echo 'usdt:__EXE__:app:start { printf("%d %s\n", args.j->mode, str(args.j->name)); }' >member.bt
echo 'usdt:__EXE__:app:mode /args.mode == ON/ { printf("on\n"); }' >enum.bt
echo 'usdt:__EXE__:app:start { printf("%d\n", (int32)arg1); }' >number.bt
echo 'usdt:__EXE__:app:stop { printf("stop\n"); }' >stop.bt
says "with a script that needs nothing of it the same changes are status 0" "0
enum mode: ON was 1, is 2
enum mode: STARTING is new: 1
enum mode: LATE is new: 3" old VALUES number.bt stop.bt
run old VALUES enum.bt
is "$status" 1 "a script that uses an enumerator relies on its value"
like "$out" '^enum mode: ON was 1, is 2  \[used by enum.bt\]$' "and is named"
run old OFFSETS member.bt
is "$status" 1 "a script that reads a member relies on its offset"
is "$out" "struct job: mode was at offset 24, is at offset 32  [used by member.bt]
struct job: name was at offset 8, is at offset 16  [used by member.bt]" "of the members that it reads"
echo 'usdt:__EXE__:app:start { print(args.j->low); }' >bits.bt
says "two members that changed places" "1
struct job: low was at bit 224, is at bit 228  [used by bits.bt]" old SWAP bits.bt
echo 'usdt:__EXE__:app:m* { @[probe, enum_name(mode, arg0)] = count(); }' >names.bt
says "a script that prints an enum's names relies on new ones" "1
enum mode: ON was 1, is 2  [used by names.bt]
enum mode: STARTING is new: 1  [used by names.bt]
enum mode: LATE is new: 3  [used by names.bt]" old VALUES names.bt
run old OFFSETS number.bt enum.bt stop.bt
is "$status" 0 "others do not"
run old TYPES number.bt
is "$status" 1 "a script that uses an argument by its number relies on its type"
like "$out" '^probe app:start: arg1 .* \[used by number.bt\]$' "and the change says so"
run old TYPES member.bt
is "$status" 0 "one that uses another argument does not"
run old ORDER number.bt
is "$status" 1 "arguments in another order"
run old PROBES stop.bt
is "$status $(tail -n 1 <<<"$out")" "1 script stop.bt no longer works" "a probe that is gone"
like "$(cat err)" 'stop.bt:1:1: error: .*PROBES has no probe app:stop' "with the reason"
run old NAMES member.bt
is "$status" 1 "args.NAME of a name that is gone"
run old PROBES number.bt
is "$status" 0 "a script for another probe does not mind"

# what only a script makes matter: functions, structs in structs, sites
cat >parts.c <<'END'
#include <btgen/usdt.h>
#ifdef OTHER
typedef struct { int y, x; } pos_t;
typedef unsigned count_t;
typedef long wide_t;
__attribute__((noinline, noclone)) long helper(int m, int n) { return m - n; }
#define helper(n) helper(2, n)
#else
typedef struct { int x, y; } pos_t;
typedef int count_t, wide_t;
__attribute__((noinline, noclone)) int helper(int n) { return n + 2; }
#endif
struct part { pos_t pos[2]; struct { short a, b; } pair; count_t count; wide_t *wide; };
int main(int argc, char **argv)
{
	struct part part = {.pair.a = (short)helper(argc)}, *p = &part;
	USDT_PROBE(app, part, p, argc);
#ifdef OTHER
	USDT_PROBE(app, part, p);
#endif
	return argv == 0;
}
END
"${CC:-gcc}" -O1 -g -I"$top/include" -o parts parts.c && "${CC:-gcc}" -O1 -g -DOTHER -I"$top/include" -o others parts.c
says "a probe with a second site, which has fewer arguments" "1
probe app:part had 2 arguments, has 1 to 2 arguments" parts others
echo 'BEGIN { } uprobe:__EXE__:helper { @ = count(); }' >function.bt
run parts others function.bt
is "$status" 0 "a script that only counts calls does not rely on how they are made"
echo 'uprobe:__EXE__:helper { @[args.n] = count(); } uretprobe:__EXE__:helper { @r = retval; }' >calls.bt
run parts others calls.bt
is "$status
$(grep calls <<<"$out")" "1
function helper: n was arg0, is arg1  [used by calls.bt]
result of helper was 4 bytes, int, is 8 bytes, long  [used by calls.bt]" "one that reads parameters and results does"
for use in 'args.p->count' '*args.p->wide' 'args.p->wide[1]' 'sizeof(*args.p->wide)' '((wide_t *)arg0)[1]' '(count_t)arg1'; do
	echo "usdt:__EXE__:app:part { print($use); }" >typedef.bt
	run parts others typedef.bt
	word=count_t change="was signed, is unsigned"
	[[ $use != *wide* ]] || word=wide_t change="was 4 bytes, is 8 bytes"
	is "$(grep '^type' <<<"$out")" "type $word $change  [used by typedef.bt]" "a typedef that $use leads to is another number"
done
echo 'usdt:__EXE__:app:part { print(*args.p); }' >whole.bt
run parts others whole.bt
is "$(grep pos_t <<<"$out")" "pos_t: x was at offset 0, is at offset 4  [used by whole.bt]
pos_t: y was at offset 4, is at offset 0  [used by whole.bt]" "one that prints a struct relies on those in it"

run --json old COUNT number.bt
is "$status $(/usr/bin/python3 -c '
import json, sys
print(json.load(sys.stdin))' <<<"$out")" "1 [{'change': 'arguments', 'subject': 'app:start', 'was': 'struct job *j, count_t n', 'is': 'struct job *j, count_t n, char **argv', 'scripts': ['number.bt']}]" \
	"--json"
run --json old PROBES
is "$(/usr/bin/python3 -c '
import json, sys
for c in json.load(sys.stdin):
    print(c["subject"], repr(c["was"]), repr(c["is"]))' <<<"$out")" "app:stop '' None
app:halt None 'int argc'" "... a probe without arguments is \"\", one that is not there null"
run --json old SAME
is "$status $out" "0 []" "an empty array when nothing changed"
run -q old PROBES
is "$status $out" "1 " "-q says nothing"

trouble() { # CLAIM MESSAGE ARGS...
	local claim=$1 want=$2
	shift 2
	run "$@"
	is "$status $out$(cat err)" "2 $want" "$claim"
}
trouble "a file that is not there is trouble" "nothing: error: cannot open it: no such file" old nothing
trouble "so is one that is no program" "$tmp/app.c: error: not an ELF file" app.c old
trouble "so is one file only" "btgen diff: give the two files to compare: OLD NEW
Try 'btgen diff --help'." old
run old SAME missing.bt
is "$status" 2 "a script that is not there"
echo 'usdt:__EXE__:app:nothing { }' >bad.bt
run old SAME bad.bt
is "$status" 2 "a script that did not work with the old build either"
done_testing
