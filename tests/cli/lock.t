#!/usr/bin/env bash
# btgen check --lock and --against: what a script relies on, and which builds no longer have it.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, btgen, top, targets: lib.sh

cat >"$tmp/app.c" <<'END'
#ifdef PLAIN
#include <sys/sdt.h>
#define USDT_PROBE2 DTRACE_PROBE2
#define USDT_PROBE3 DTRACE_PROBE3
#else
#include <btgen/usdt.h>
#define USDT_PROBE2 USDT_PROBE
#define USDT_PROBE3 USDT_PROBE
#endif
#include <stdint.h>
#ifdef ENUM
enum state { IDLE, STARTING, BUSY };
#elif defined(MORE)
enum state { IDLE, BUSY, FAILED, LATE };
#else
enum state { IDLE, BUSY, FAILED };
#endif
#ifdef WIDTH
typedef uint64_t serial_t;
#elif defined(SIGN)
typedef int32_t serial_t;
#else
typedef uint32_t serial_t;
#endif
enum { LIMIT = 8 };
typedef struct { int x, y; } pos_t;
struct job {
	unsigned long id;
#ifdef MEMBER
	long extra;
#endif
#ifdef RENAMED
	enum state phase;
#else
	enum state state;
#endif
	struct { short a, b; } pair[2];
	pos_t pos;
	union { int number; float real; };
#ifdef BITS
	unsigned high : 4, low : 4;
#else
	unsigned low : 4, high : 4;
#endif
	char name[16];
#ifdef LARGER
	char more[64];
#endif
};
#ifdef TYPE
struct other { long id; };
#endif
#ifndef FUNCTION
__attribute__((noinline)) int helper(int n) { return n + LIMIT; }
#else
__attribute__((noinline)) int assist(int n) { return n + LIMIT; }
#define helper assist
#endif
int main(int argc, char **argv)
{
	static struct job job = {.id = 1, .name = "first"};
	serial_t serial = (serial_t)argc;
	int result = helper(argc);
#ifdef QUALIFIED
	char *const text = argv[0];
	const volatile struct job *j = &job;
#else
	const char *text = argv[0];
	struct job *j = &job;
#endif
#ifdef ORDER
	USDT_PROBE3(app, job, text, serial, j);
#elif defined(COUNT)
	USDT_PROBE2(app, job, j, serial);
#elif defined(NAME)
	const char *label = text;
	USDT_PROBE3(app, job, j, serial, label);
#elif defined(TYPE)
	struct other *other = (struct other *)j;
	USDT_PROBE3(app, job, j, serial, USDT_ARG(other, "text"));
#else
	USDT_PROBE3(app, job, j, serial, text);
#endif
#ifndef PROBE
	USDT_PROBE2(app, done, j, result);
#endif
	return 0;
}
END
cat >"$tmp/script.bt" <<'END'
usdt:__EXE__:app:job
{
	$j = (struct job *)arg0;
	printf("%d %d %s %d %d\n", $j->id, arg1, str(arg2), $j->pos.x, $j->pair[1].b);
	printf("%d %d %s\n", $j->low, $j->number, str($j->name));
	@size = sizeof(struct job);
	@y = offsetof(struct job, pos.y);
	if ($j->state == BUSY) { @busy = count(); }
	if ($j->id > LIMIT) { @many = count(); }
}
usdt:__EXE__:app:done { printf("%s %d\n", enum_name(state, args.j->state), args.result); }
uprobe:__EXE__:helper { @calls = count(); }
END
cd "$tmp" || exit
for v in BASE ENUM MORE WIDTH SIGN MEMBER RENAMED BITS LARGER FUNCTION ORDER COUNT NAME TYPE PROBE; do
	"${CC:-gcc}" -O1 -g -D$v -I"$top/include" -o "$v" app.c || skip_all "no compiler"
done

# check ARG...: leaves $said and $status
check() {
	said=$("$btgen" check --for 0.23 "$@" 2>&1)
	status=$?
}

check -x BASE --lock base.lock script.bt
is "$status$said" 0 "a lock is written without a word"
is "$(cat base.lock)" "btgen-lock 1
argument app:done 0 = 8 bytes, unsigned, j, struct job *
argument app:done 1 = 4 bytes, signed, result, int
argument app:job 0 = 8 bytes, unsigned, j, struct job *
argument app:job 1 = 4 bytes, unsigned, serial, serial_t
argument app:job 2 = 8 bytes, unsigned, text, char *
enum state BUSY = 1
enum state FAILED = 2
enum state IDLE = 0
enum {...} LIMIT = 8
function helper = there
member pos_t x = at offset 0, 4 bytes, int
member struct job id = at offset 0, 8 bytes, unsigned long
member struct job low = at bit 256, 4 bits, unsigned int
member struct job name = at offset 33, 16 bytes, char[16]
member struct job number = at offset 28, 4 bytes, int
member struct job pair[0].b = at offset 14, 2 bytes, short
member struct job pos = at offset 20, 8 bytes, pos_t
member struct job pos.y = at offset 24, 4 bytes, int
member struct job state = at offset 8, 4 bytes, enum state
probe app:done = 2 arguments
probe app:job = 3 arguments
sizeof struct job = 56 bytes" "it has what the script relies on, a line each"
cat >oracle.c <<'END'
#include <stddef.h>
#include <stdio.h>
#define main unused
#include "app.c"
#undef main
int main(void)
{
	printf("%zu %zu %zu %zu %zu", offsetof(struct job, name), offsetof(struct job, number), offsetof(struct job, pair[0].b),
	       offsetof(struct job, pos.y), sizeof(struct job));
}
END
"${CC:-gcc}" -w -I"$top/include" -I. -o oracle oracle.c
is "$(./oracle)" "33 28 14 24 56" "the places are those of the compiler"
for v in 0.17 0.27; do
	"$btgen" check --for $v -x BASE --lock $v.lock script.bt
	ok "the same with bpftrace $v" cmp base.lock $v.lock
done

# --- builds of the same source ---

same() { # BUILD COMMAND...
	"${@:2}" -I"$top/include" -o "$1" app.c || return
	check -x "$1" --against base.lock script.bt
	is "$status$said" 0 "no difference: ${*:2}"
	check -x "$1" --lock other.lock --update script.bt
	ok "and the lock is the same" cmp base.lock other.lock
}
same again "${CC:-gcc}" -O1 -g
same O0 "${CC:-gcc}" -O0 -g
same O2 "${CC:-gcc}" -O2 -g
same qualified "${CC:-gcc}" -O1 -g -DQUALIFIED
same dwarf4 "${CC:-gcc}" -O2 -gdwarf-4 -fPIE -pie
same dwz "${CC:-gcc}" -O0 -g -gz
if command -v clang >/dev/null; then
	same clang0 clang -O0 -g
	same clang2 clang -O2 -g
else
	skip "no difference: clang" "clang is missing"
fi

# --- other builds ---

# differs BUILD CLAIM WANT: the findings named [lock] and their notes, without the places in the lock
differs() {
	check -x "$1" --against base.lock script.bt
	is "$status
$(grep -E '\[lock\]$|used here$' <<<"$said" | sed 's/^base.lock:[0-9]*: //')" "1
$3" "$2"
}
differs ENUM "an enumerator with another value, and one that is gone" \
	"error: enum state: BUSY was 1, is 2  [lock]
script.bt:8:19: note: it is used here
error: enum state: FAILED is gone  [lock]"
like "$said" '^base.lock:7: error: enum state: BUSY' "a difference is at its line of the lock"
differs ORDER "arguments in another order" \
	"error: probe app:job: j was arg0, is arg2  [lock]
script.bt:3:21: note: it is used here
error: probe app:job: text was arg2, is arg0  [lock]
script.bt:4:47: note: it is used here"
differs WIDTH "a type of the same name and another width" \
	"error: probe app:job: arg1 was 4 bytes, is 8 bytes  [lock]
script.bt:4:37: note: it is used here"
differs SIGN "another sign" \
	"error: probe app:job: arg1 was unsigned, is signed  [lock]
script.bt:4:37: note: it is used here"
differs TYPE "another type" \
	"error: probe app:job: arg2 was char *, is struct other *  [lock]
script.bt:4:47: note: it is used here"
differs COUNT "an argument less" \
	"error: probe app:job: arg2 is gone  [lock]
error: probe app:job had 3 arguments, has 2 arguments  [lock]
script.bt:1:1: note: it is used here"
differs MEMBER "members at other offsets" \
	"error: struct job: low was at bit 256, is at bit 320  [lock]
script.bt:5:23: note: it is used here
error: struct job: name was at offset 33, is at offset 41  [lock]
script.bt:5:48: note: it is used here
error: struct job: number was at offset 28, is at offset 36  [lock]
script.bt:5:32: note: it is used here
error: struct job: pair[0].b was at offset 14, is at offset 22  [lock]
script.bt:4:65: note: it is used here
error: struct job: pos was at offset 20, is at offset 28  [lock]
script.bt:4:54: note: it is used here
error: struct job: pos.y was at offset 24, is at offset 32  [lock]
script.bt:7:7: note: it is used here
error: struct job: state was at offset 8, is at offset 16  [lock]
script.bt:8:6: note: it is used here
error: size of struct job was 56 bytes, is 64 bytes  [lock]
script.bt:6:10: note: it is used here"
differs BITS "bits at another place" \
	"error: struct job: low was at bit 256, is at bit 260  [lock]
script.bt:5:23: note: it is used here"
differs LARGER "a struct that has grown" \
	"error: size of struct job was 56 bytes, is 120 bytes  [lock]
script.bt:6:10: note: it is used here"
differs RENAMED "a member that is called otherwise" \
	"error: struct job: state is gone  [lock]"
differs PROBE "a probe that is gone is one difference, whatever was read of it" \
	"error: probe app:done is gone  [lock]"
differs FUNCTION "a function that is gone" \
	"error: function helper is gone  [lock]"

{ echo '#pragma optional'; cat script.bt; } >optional.bt
check -x PROBE --against base.lock optional.bt
is "$status
$(grep -v note: <<<"$said")" "1
base.lock:2: error: probe app:done is gone  [lock]" "a script that can do without the probe works, and the difference is reported"

check -x NAME --against base.lock script.bt
is "$status
$said" "0
base.lock:6: warning: probe app:job: arg2 was called text, is called label  [lock]
script.bt:4:47: note: it is used here" "another name alone is a warning"
check -x MORE --against base.lock script.bt
is "$status
$said" "0
base.lock: warning: the scripts rely on 1 fact that the lock lacks: rewrite it with --lock and --update  [lock]
script.bt:11:53: note: the first is enum state LATE
    usdt:__EXE__:app:done { printf(\"%s %d\\n\", enum_name(state, args.j->state), args.result); }
                                                        ^~~~~" "so is what the lock does not have yet"
check -x ENUM --against base.lock -W no-lock script.bt
is "$status$said" 0 "-W no-lock: nothing is compared"
check -x ENUM --against base.lock --force script.bt
is "$status $(grep -c 'warning: enum state' <<<"$said")" "0 2" "--force: warnings"
check -x MORE --against base.lock -W error script.bt
is "$status" 1 "-W error: warnings are errors"
check --json -x WIDTH --against base.lock script.bt
is "$status $(python3 -c '
import json, sys
for f in json.load(sys.stdin):
	print(f["file"], f["line"], f["severity"], f["name"], f["text"], [(n["file"], n["line"], n["col"]) for n in f["notes"]])' <<<"$said")" \
	"1 base.lock 5 error lock probe app:job: arg1 was 4 bytes, is 8 bytes [('script.bt', 4, 37)]" "--json has the same"

# The names that a script prints, in whatever way, and the size of what a pointer counts in.
for printed in 'printf("%s", args.j->state)' '$s = args.j->state; printf("%d %s", 1, $s)' '@s = args.j->state' '@n[1, args.j->state] = count()' 'print(*args.j)'; do
	echo "usdt:__EXE__:app:done { $printed; }" >prints.bt
	rm -f prints.lock
	check -x BASE --lock prints.lock prints.bt
	check -x ENUM --against prints.lock prints.bt
	is "$status $(grep -c 'error: enum state' <<<"$said") $(grep -c '^prints.bt:1:[0-9]*: note: it is used here' <<<"$said")" "1 2 1" "$printed relies on the names"
	"$btgen" diff -q BASE ENUM prints.bt
	is $? 1 "... so does btgen diff find"
done
cat >unnamed.c <<'END'
#include <btgen/usdt.h>
typedef enum { OFF = FIRST, ON } power_t;
int main(int argc, char **argv) { power_t p = (power_t)argc; (void)argv; USDT_PROBE(app, power, p); return 0; }
END
gcc -g -DFIRST=0 -I"$top/include" -o unnamed0 unnamed.c && gcc -g -DFIRST=3 -I"$top/include" -o unnamed3 unnamed.c || exit 1
echo 'usdt:__EXE__:app:power { @[args.p] = count(); }' >power.bt
check -x unnamed0 --lock power.lock power.bt
check -x unnamed3 --against power.lock power.bt
is "$status $(grep -c 'error: enum {...}: O' <<<"$said")" "1 2" "... of an enum that only a typedef names, too"
echo 'usdt:__EXE__:app:done { printf("%d %d", args.j->state, args.j->state == BUSY); }' >prints.bt
rm -f prints.lock
check -x BASE --lock prints.lock prints.bt
is "$status $(grep '^enum' prints.lock)" "0 enum state BUSY = 1" "... %d and a comparison do not"
for step in '(args.j + 1)->id' '$j[1].id' '($j++)->id'; do
	echo "usdt:__EXE__:app:done { \$j = args.j; printf(\"%d\", $step); }" >step.bt
	rm -f step.lock
	check -x BASE --lock step.lock step.bt
	is "$status $(grep -c '^sizeof struct job = ' step.lock)" "0 1" "$step relies on the size of the struct"
done

# --- several scripts, other programs ---

echo 'usdt:__EXE__:app:done { @state[args.j->state] = count(); }' >second.bt
echo 'usdt:__EXE__:app:job { @state = arg1; print(((struct job *)arg0)->pos); }' >third.bt
check -x BASE --lock two.lock second.bt third.bt
is "$status$said
$(grep -E '^(enum|member|argument app:job)' two.lock)" "0
argument app:job 0 = 8 bytes, unsigned, j, struct job *
argument app:job 1 = 4 bytes, unsigned, serial, serial_t
enum state BUSY = 1
enum state FAILED = 2
enum state IDLE = 0
member pos_t x = at offset 0, 4 bytes, int
member pos_t y = at offset 4, 4 bytes, int
member struct job pos = at offset 20, 8 bytes, pos_t
member struct job state = at offset 8, 4 bytes, enum state" "each script by itself: @state is two maps; print() relies on all members"
check -x LARGER --against two.lock second.bt third.bt
is "$status$said" 0 "what lies behind the members that are read does not matter"

echo 'uprobe:__EXE__:helper { @[args.n] = count(); } uretprobe:__EXE__:helper { @r = retval; }' >calls.bt
check -x BASE --lock calls.lock calls.bt
is "$status$said
$(sed 1d calls.lock)" "0
function helper = there
parameter helper n = arg0, 4 bytes, int
result helper = 4 bytes, int" "of a function the parameters and the result that are read"
sed -i 's/arg0, 4 bytes, int/arg2, 8 bytes, long/; s/helper = 4 bytes/helper = 2 bytes/; $a parameter helper m = arg1, 4 bytes, int' calls.lock
for script in calls.bt second.bt; do
	check -x BASE --against calls.lock $script
	is "$status
$(grep error: <<<"$said")" "1
calls.lock:3: error: function helper: n was arg2, 8 bytes, long, is arg0, 4 bytes, int  [lock]
calls.lock:4: error: result of helper was 2 bytes, is 4 bytes  [lock]
calls.lock:5: error: function helper: m is gone  [lock]" "... differ, as $script or the program itself tells"
done

cat >cxx.cc <<'END'
#include <btgen/usdt.h>
namespace ns {
enum class color : signed char { red = -1, green = 2 };
enum { LOOSE = 7 };
struct base { long id; };
template <typename T, int N> struct box { T v; unsigned long n; };
class job : public base {
public:
	box<unsigned long, 3> b;
	color c;
};
}
int main(int argc, char **)
{
	static ns::job j;
	ns::job *p = &j;
	int x = argc + ns::LOOSE;
	USDT_PROBE(app, go, p, x);
	return 0;
}
END
cat >cxx.bt <<'END'
usdt:__EXE__:app:go
{
	printf("%d %d %d\n", args.p->id, args.p->b.v, args.p->c == ns::color::red);
	if (args.x == ns::LOOSE) { @s = sizeof(ns::job); }
}
END
if g++ -O0 -g -I"$top/include" -o cxx cxx.cc; then
	"$btgen" check -x cxx --lock cxx.lock cxx.bt
	is "$(sed 1d cxx.lock)" "argument app:go 0 = 8 bytes, unsigned, p, class ns::job *
argument app:go 1 = 4 bytes, signed, x, int
enum ns::color red = -1
enum {...} ns::LOOSE = 7
member class ns::job b = at offset 8, 16 bytes, struct ns::box<unsigned long, 3>
member class ns::job c = at offset 24, 1 byte, enum ns::color
member class ns::job id = at offset 0, 8 bytes, long
member struct ns::box<unsigned long, 3> v = at offset 0, 8 bytes, unsigned long
probe app:go = 2 arguments
sizeof ns::job = 32 bytes" "C++: scopes, bases and templates"
	sed -i s/:go/:gone/ cxx.bt
	check -x cxx --against cxx.lock cxx.bt
	unlike "$said" '\[lock\]' "what a script that fails did not come to is looked up"
	clang++ -O2 -g -I"$top/include" -o cxx2 cxx.cc 2>/dev/null && sed -i s/:gone/:go/ cxx.bt &&
		check -x cxx2 --against cxx.lock cxx.bt && is "$status$said" 0 "clang++ spells types in its own way"
fi

if "${CC:-gcc}" -DPLAIN -O0 -g -o plain app.c 2>/dev/null; then
	cat >plain.bt <<'END'
usdt:__EXE__:app:job { printf("%d %d %s\n", ((struct job *)arg0)->id, arg1, str(arg2)); }
END
	"$btgen" check -x plain --lock plain.lock plain.bt
	"${CC:-gcc}" -DPLAIN -O2 -g -o plain2 app.c
	check -x plain2 --against plain.lock plain.bt
	is "$status$said" 0 "probes of sys/sdt.h: another optimisation is no difference"
	"${CC:-gcc}" -DPLAIN -DORDER -O2 -g -o plain3 app.c
	check -x plain3 --against plain.lock plain.bt
	like "$said" 'error: probe app:job: j was arg0, is arg2' "another order is one"
	strip -o plain4 plain
	check -x plain4 --against plain.lock plain.bt
	is "$status $(grep -c 'error:' <<<"$said")$(grep -c '\[lock\]' <<<"$said")" "1 10" \
		"without debug information nothing of types is known: one error, no difference"
else
	skip "probes of sys/sdt.h" "it is missing"
fi

cd "$top" || exit
"$btgen" check -x "$targets/nvmf_tgt" --lock "$tmp/nvmf.lock" bpf/nvmf.bt
check -x "$targets/libnvmf.so" --against "$tmp/nvmf.lock" bpf/nvmf.bt
is "$status$said" 0 "nvmf.bt: a static and a shared build do not differ"
"$targets/nvmf_tgt_shared" -r "$tmp/rpc" >"$tmp/log" 2>&1 &
own $!
wait_for test -S "$tmp/rpc"
check -p $! --against "$tmp/nvmf.lock" bpf/nvmf.bt
is "$status$said" 0 "nor does a process of it"

# --- docs/lock.md ---

"$btgen" check -x "$targets/nvmf_tgt" --lock "$tmp/nvmf.lock" --update bpf/nvmf.bt bpf/sched.bt
is "$(sed -n '/^    btgen-lock/,/^$/s/^    //p' docs/lock.md | grep -vxF -f "$tmp/nvmf.lock")" "" "the lines of docs/lock.md are those of nvmf_tgt"
(cd "$tmp" && sed -i 's/RUNNING = 4/RUNNING = 3/; s/add_listener 1 = .*/add_listener 2 = 8 bytes, unsigned, subnqn, char */
	s/core_info lcore = at offset 32/core_info lcore = at offset 24/' nvmf.lock && cp -r "$top/bpf" . &&
	"$btgen" check -x "$targets/nvmf_tgt" --against nvmf.lock bpf/nvmf.bt bpf/sched.bt >said 2>&1)
places='s/:[0-9:]*: (note|error)/: \1/' # scripts are edited
is "$(sed -E "$places" "$tmp/said")" "$(sed -n '/^    nvmf.lock:/,/^$/s/^    //p' docs/lock.md | sed -E "$places")" "and so are its differences"
cd "$tmp" || exit

# --- names and files of strangers ---

python3 - <<'END'
data = open("BASE", "rb").read()
open("evil", "wb").write(data.replace(b"FAILED", b"A\n=1\x1b#"))
END
"$btgen" check -x evil --lock evil.lock script.bt
is "$(sed -n 7p evil.lock)" 'enum state A\x0a\x3d1\x1b\x23 = 2' "a name from a hostile file stays in its line"
check -x evil --against evil.lock script.bt
is "$status$said" 0 "and is found again"

hostile() { # CLAIM WANT: of the lock on standard input
	cat >hostile.lock
	check -x BASE --against hostile.lock script.bt
	is "$status $(cat -v <<<"$said")" "1 hostile.lock$2" "$1"
}
hostile "a lock that is too large" ": error: larger than 1 MiB: not a list of facts" < <(head -c 1500000 /dev/zero | tr '\0' a)
hostile "NULs" ": error: has a NUL byte: not a list of facts" < <(head -c 3000 /dev/zero)
hostile "an empty file" ': error: not a lock: its first line is not "btgen-lock 1" (btgen check --lock writes one)' </dev/null
hostile "another file" ':1: error: not a lock: its first line is not "btgen-lock 1" (btgen check --lock writes one)' <<<'int main(void)'
hostile "a newer lock" ':1: error: lock file of version 2, but this btgen reads 1: rewrite it with --lock and --update' <<<'btgen-lock 2'
hostile "a long line" ':2: error: the line is too long: not a lock of btgen check' < <(echo btgen-lock 1; head -c 100000 /dev/zero | tr '\0' a)
hostile "a word that is none" ':2: error: unknown word "\x1b[31mx": not a lock of btgen check' <<<$'btgen-lock 1\n\e[31mx y = 1'
hostile "a line that lacks a word" ':2: error: expected "enum ... = ..."' <<<$'btgen-lock 1\nenum state = 1'
hostile "names that are none" ':2: error: probe *:* is gone  [lock]
hostile.lock:3: error: probe app is gone  [lock]
hostile.lock:4: error: probe app:job: arg99999999999999999999 is gone  [lock]
hostile.lock:5: error: struct job: .. is gone  [lock]
hostile.lock:6: error: struct job: pair[99999999999].a is gone  [lock]
hostile.lock:7: error: state: x is gone  [lock]
hostile.lock:8: error: enum job is gone  [lock]
hostile.lock:9: error: size of enum is gone  [lock]
hostile.lock:10: error: function * is gone  [lock]
hostile.lock:11: error: enum {...}: * is gone  [lock]' <<'END'
btgen-lock 1
probe *:* = 3
probe app = 1
argument app:job 99999999999999999999 = 1
member struct job .. = 1, 2, 3
member struct job pair[99999999999].a = 1
member state x = 1
enum job x = 1
sizeof enum = 4
function * = there
enum {...} * = 1
END
for n in 6000 24000; do
	{
		echo btgen-lock 1
		seq -f 'member struct s%.0f x = 1, 2, 3' $n
	} >many.$n.lock
done
linear "a lock full of what is not there: time in proportion" 1 6000 "$btgen" check --json -x BASE --against "many.{}.lock" script.bt
is "$(grep -c 'is gone' "$tmp/out")" 24000 "... and each line is reported"

cp script.bt kept.bt
check -x BASE --lock script.bt script.bt
is "$status $said" "1 btgen: error: --lock: script.bt is the script itself" "a lock does not replace the script"
ok "which is as it was" cmp script.bt kept.bt
# A file that exists is a reference: nothing but --update rewrites it, and only if it is a lock.
cp base.lock kept.lock
touch -d @1 kept.lock
check -x BASE --lock kept.lock script.bt
is "$status$said $(stat -c %Y kept.lock)" "0 1" "--lock with an equal lock: status 0, and it is not written"
check -x ENUM --against kept.lock script.bt
differences=$said
check -x ENUM --lock kept.lock script.bt
is "$status
$said" "1
$differences
kept.lock: note: is unchanged: --update rewrites it" "--lock with one that differs: the differences that --against prints, and status 1"
ok "... and it is as it was" cmp base.lock kept.lock
check -x MORE --lock kept.lock script.bt
is "$status $(grep -c 'rely on 1 fact' <<<"$said") $(cmp base.lock kept.lock)" "1 1 " "... also one that lacks facts"
check --json -x ENUM --lock kept.lock script.bt
is "$status $(python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["notes"][-1]["text"])' <<<"$said")" "1 is unchanged: --update rewrites it" "... in JSON"
check -x ENUM --lock kept.lock --update script.bt
is "$status$said" 0 "--update rewrites it"
check -x ENUM --against kept.lock script.bt
is "$status$said" 0 "... with the facts of this build"
sed '1s/1/2/' base.lock >newer.lock
check -x BASE --lock newer.lock script.bt
is "$status $(head -n 1 newer.lock)" "1 btgen-lock 2" "a lock of another version stays"
check -x BASE --lock newer.lock --update script.bt
is "$status $(cmp base.lock newer.lock)" "0 " "... up to --update"
for update in '' --update; do
	cp /etc/passwd passwd
	# shellcheck disable=SC2086
	check -x BASE --lock passwd $update script.bt
	is "$status $said $(cmp /etc/passwd passwd)" '1 passwd: error: not a lock, and not overwritten: its first line is not "btgen-lock 1" ' "what is no lock stays${update:+, with --update, too}"
done
: >empty.lock
check -x BASE --lock empty.lock script.bt
is "$status$said $(cmp base.lock empty.lock)" "0 " "an empty file is written"
check -x BASE --update script.bt
is "$status" 2 "--update without --lock"
check -x BASE --lock app.lock --against base.lock script.bt
is "$status" 2 "--lock or --against"
check --lock app.lock script.bt
is "$status" 2 "a lock needs a program"
echo 'usdt:__EXE__:app:none {}' >wrong.bt
check -x BASE --lock wrong.lock wrong.bt
is "$status $(ls wrong.lock 2>/dev/null)" "1 " "no lock is written for a script with errors"
done_testing
