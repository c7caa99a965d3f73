#!/usr/bin/env bash
# Names and types that nobody declared are right where they are shown: whatever macros, scopes and optimizers do to a probe's
# arguments, with the source at hand, without it, and with one that has changed.
#
# The oracle: the same source built with the header that declares the types, which the compiler's own arithmetic fills.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh
here=$top/tests/obj
echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1 || skip_all "no <sys/sdt.h> (systemtap-sdt-dev)"

mkdir "$tmp/unlisted"
cp "$btgen" "$tmp/unlisted/btgen"
cp "$here/infer/wrappers.c" "$here/infer/scopes.cc" "$tmp"
python3 "$here/infer/forms.py" >"$tmp/forms.c"
python3 "$here/infer/forms.py" count >"$tmp/count.c"
cd "$tmp" || exit 1
declare -A right

# A member that a macro took is named by its place; the declared name is of "(r)->len". spdk_get_ticks() has a name in the source only.
expected='^(mm:(len: arg0 is called len|req: arg0 is called name)|spdk:[a-z_]*: arg0 is called ticks), not arg0$'
# compare WHAT: what is inferred for ./inferred against ./declared
compare() {
	local out
	unlisted/btgen probes --json -x inferred >inferred.json
	"$here/args.py" declared.json inferred.json >out
	out=$(sed '$d' out | grep -vE "$expected")
	is "$out" "" "$*: every type and name that is shown is right"
	read -r types _ _ names _ _ all _ <<<"$(tail -n 1 out)"
	right[$*]="$types types, $names names of $all"
}

for build in "gcc forms.c" "gcc count.c" "gcc wrappers.c" "g++ scopes.cc" "clang forms.c" "clang count.c" "clang wrappers.c" "clang++ scopes.cc"; do
	read -r cc file <<<"$build"
	if ! command -v "$cc" >/dev/null; then
		skip "$build" "no $cc"
		continue
	fi
	for level in -O0 -O2 -O3 -Os "-O2 -flto"; do
		[[ $cc$level == clang*lto ]] && continue # one linker plugin more
		in_third || continue
		# shellcheck disable=SC2086 # several options
		"$cc" $level -g -w -I"$top/include/btgen/compat" -I"$top/include" -o declared "$file" 2>errors &&
			"$cc" $level -g -w -o inferred "$file" 2>errors || ok "$build $level: compiles" false
		"$btgen" probes --json -x declared >declared.json
		compare "$build $level"
		mv "$file" away
		compare "$build $level, no source"
		mv away "$file"
	done
done
for build in gcc clang; do
	command -v $build >/dev/null && $build -O0 -g -w -o inferred wrappers.c &&
		like "$(unlisted/btgen probes -x inferred)" 'word\(nameless \*this\)' "$build: this is a name like others in C"
done
for build in "${!right[@]}"; do echo "# $build: ${right[$build]}"; done | LC_ALL=C sort

# As many as before are known: what is right must not be the price of nothing wrong.
known() { # BUILD LEAST CLAIM
	local words
	[ -n "${right[$1]-}" ] || return 0 # not in this third
	read -r -a words <<<"${right[$1]}"
	ok "$1: $3" test $((words[0] * 100 / words[5])) -ge "$2"
}
known "gcc forms.c -O2, no source" 33 "a third of the types is known"
for build in {gcc,clang}\ {forms,count}.c\ {-O0,-O2}; do
	known "$build" 96 "all types but those of what is computed are known"
done

# Macros that are defined otherwise by -D, which nobody knows: no wrong type. Names are those of the expanded text here, of the
# unexpanded there.
total=0
for seed in {1..20}; do
	python3 "$here/infer/macros.py" $seed >macros.c
	read -r -a options < <(printf -- '-DD%d -DD%d -O%d' $((seed % 5)) $((seed % 3)) $((seed % 2 * 2)))
	gcc -g -w "${options[@]}" -I"$top/include/btgen/compat" -I"$top/include" -o declared macros.c 2>errors &&
		gcc -g -w "${options[@]}" -o inferred macros.c 2>errors || continue # a member of a cast to a pointer to nothing
	"$btgen" probes --json -x declared >declared.json
	unlisted/btgen probes --json -x inferred >inferred.json
	"$here/args.py" declared.json inferred.json | grep -v 'is called' >out
	is "$(sed '$d' out)" "" "macros.py $seed: every type that is shown is right"
	total=$((total + $(sed -n '$s/ types.*//p' out)))
done
ok "... and some are known ($total)" [ $total -gt 60 ]

# SPDK's own macros: a header that has nothing else, found below the folder of another, with an #else part that is empty.
cp -r "$here/infer/spdk" spdk
for build in {gcc,clang}\ {-O0,-O2}\ -gdwarf-{4,5}{,\ -g3}; do
	read -r cc options <<<"$build"
	command -v "$cc" >/dev/null || continue
	in_third || continue
	# shellcheck disable=SC2086 # several options
	(cd spdk/module/bdev/nvme && "$cc" -g $options -w -I"$top/include/btgen/compat" -I"$top/include" -I../../../include -c -o "$tmp/declared.o" bdev_nvme.c &&
		"$cc" -g $options -w -I../../../include -c -o "$tmp/inferred.o" bdev_nvme.c) && "$cc" -o declared declared.o && "$cc" -o inferred inferred.o
	"$btgen" probes --json -x declared >declared.json
	compare "spdk, $build"
	is "${right[spdk, $build]}" "43 types, 27 names of 43" "spdk, $build: all of them are known"
done
like "$(unlisted/btgen probes -v -x inferred)" 'bdev_nvme_ctrlr_reset_done.int arg0, char \*name, _Bool success, struct spdk_nvme_transport_id \*trid, int ref.
 *arg0 .*constant 0: -t omits it' "what the macro adds is known to be no argument of the caller's"
cat >passed.c <<'END'
#include <sys/sdt.h>
#define NOT_FOUND 2
#define FAILED(fd, error) DTRACE_PROBE3(app, failed, 7, fd, error)
int main(int argc, char **argv) { (void)argv; FAILED(argc, NOT_FOUND); DTRACE_PROBE1(app, ended, NOT_FOUND); return 0; }
END
gcc -O1 -g -w -o inferred passed.c
is "$(unlisted/btgen probes -v -x inferred | sed -n 's/.*constant \(.*\): -t omits it/\1/p')" 7 "a number that the macro is given is not what it adds"
mv spdk/include/spdk_internal/usdt.h away.h
unlike "$(unlisted/btgen probes -v -x inferred)" 'bool success' "without the header it is not known what the macro passes"

# A source that was changed since and has kept its time: what the places of variables contradict is not believed.
gcc -O2 -g -w -I"$top/include/btgen/compat" -I"$top/include" -o declared wrappers.c
gcc -O2 -g -w -o inferred wrappers.c
"$btgen" probes --json -x declared >declared.json
sed -i 's/direct, r, n, text/direct, text, n, r/; s/members, r->id, r->kind/members, r->kind, r->id/' wrappers.c
touch -d 2001-01-01 wrappers.c
compare "a source that has changed"

# Nor is another header of its name taken for one that was changed.
mkdir mine other
echo '#define TRACE(r) DTRACE_PROBE2(app, hit, (r)->name, (r)->next)' >mine/trace.h
echo '#define TRACE(r) DTRACE_PROBE2(app, hit, (r)->next, (r)->name)' >other/trace.h
echo 'struct req { char *name; struct req *next; };' >other/types.h
cat >mine/app.c <<'END'
#include <sys/sdt.h>
#include "types.h"
#include "trace.h"
int main(int argc, char **argv) { struct req r = {argv[argc]}, *p = &r; TRACE(p); return 0; }
END
(cd mine && gcc -g -w -I../other -o ../inferred app.c)
is "$(unlisted/btgen probes -x inferred)" "app:hit(char *arg0, struct req *arg1)" "of two headers of one name, the one beside the source"
touch -d tomorrow mine/trace.h
is "$(unlisted/btgen probes -x inferred)" "app:hit(uint64_t arg0, uint64_t arg1)" "... and none when it has changed since"

# What a name of the file is where a class or a namespace has it, too, is none of the file's.
if command -v g++ >/dev/null; then
	g++ -O1 -g -w -o inferred scopes.cc
	unlike "$(unlisted/btgen probes -v -x inferred)" 'method.*Queue' "a member is not taken for the global of its name"
fi

# A variable hides the type of its name, and C writes expressions that bpftrace has other words for.
cat >casts.c <<'END'
#include <sys/sdt.h>
typedef int state;
typedef struct { long id; } ctx;
state kept;
long sink;
__attribute__((noinline)) char **find(char *text, int c) { return text[0] == c ? &text + sink : 0; }
__attribute__((noinline)) void work(int state, char *text, long double real, ctx *pid)
{
	DTRACE_PROBE3(app, hidden, (state), (state) & 3, text);
	DTRACE_PROBE3(app, words, (char const *)text, (ctx *)pid, (pid)->id);
	DTRACE_PROBE3(app, texts, "one" "two", find(text, ','), *find("a" "b", 'a'));
	DTRACE_PROBE2(app, wide, (long double)real, (unsigned long int)state);
	sink += state + *text + (long)real + pid->id;
}
int main(int argc, char **argv) { ctx c = {argc}; kept = argc; work(argc, argv[0], argc, &c); return 0; }
END
gcc -O0 -g -w -o inferred casts.c
is "$(unlisted/btgen probes -x inferred)" "app:hidden(int state, int32_t arg1, char *text)
app:words(const char *text, ctx *pid, long int arg2)
app:texts(char *arg0, char **arg1, char *arg2)
app:wide(long double real, long unsigned int state)" "casts, constants and strings as C has them"

# A file of a stranger: macros that hold each other, and so often that following them all would take days.
python3 - <<'END' >loop.c
print("#include <sys/sdt.h>\n#define LOOP(n, x) " + "LOOP(n, x) " * 400 + "DTRACE_PROBE1(loop, n, x)\n#undef LOOP\n#define LOOP(n, x) DTRACE_PROBE1(loop, n, x)")
print("int main(int argc, char **argv) { (void)argv; LOOP(up, argc); return 0; }")
END
gcc -O1 -g -w -o inferred loop.c
sed -i '/^#undef/,/^#define/d' loop.c
touch -d 2001-01-01 loop.c
like "$(guard unlisted/btgen probes -v -x inferred)" 'up\(int argc\)' "macros that hold each other without end"

# Headers of a stranger: what is outside of the folders that the unit knows is not opened, and no header costs much.
mkdir -p hostile/src outside
echo '#define OUTSIDE(n, a) DTRACE_PROBE1(hostile, n, (char *)(a))' >outside/outside.h
echo '#define INSIDE(n, a) DTRACE_PROBE1(hostile, n, (char *)(a))' >hostile/src/inside.h
cat >hostile/src/hostile.c <<'END'
#include <sys/sdt.h>
#include "../../outside/outside.h"
#include "inside.h"
int main(int argc, char **argv) { INSIDE(inside, argv[0] + argc); OUTSIDE(outside, argv[0] + 2 * argc); return 0; }
END
(cd hostile/src && gcc -O1 -g -w -o ../../inferred hostile.c)
like "$(unlisted/btgen probes -x inferred)" 'inside\(char \*' "a header of the unit's folder is read"
like "$(unlisted/btgen probes -x inferred)" 'outside\(uint64_t arg0' "one in another folder is not"
mkfifo hostile/src/fifo.h hostile/src/fifo
# bounded NAME TYPE: what is known when stdin is that header
bounded() {
	cat >hostile/src/inside.h
	touch -d 2001-01-01 hostile/src/*.[ch]
	is "$(limit_memory 1000000; guard unlisted/btgen probes -x inferred 2>&1; echo "status $?")" "hostile:inside($2arg0)
hostile:outside(uint64_t arg0)
status 0" "$1"
}
bounded "headers that include each other and whatever they find" 'char *' < <(python3 - <<'END'
print('#include "inside.h"\n' * 1000, '#include "/etc/passwd"\n#include "../../../../../../../../etc/passwd"\n#include "fifo.h"\n#include "hostile.c"')
print('\n'.join('#include <a%d.h>' % i for i in range(20000)))
print('#define INSIDE(n, a) DTRACE_PROBE1(hostile, n, (char *)(a))')
END
)
bounded "an #include behind a comment that goes on" 'char *' <<END
#define INSIDE(n, a) /*
#include "$tmp/hostile/src/fifo"
*/ DTRACE_PROBE1(hostile, n, (char *)(a)) // \\
#include "$tmp/hostile/src/fifo"
END
bounded "a macro that doubles itself" "uint64_t " < <(python3 - <<'END'
print('#define G0(a) a + a\n' + '\n'.join('#define G%d(a) G%d(a) + G%d(a)' % (i, i - 1, i - 1) for i in range(1, 60)))
print('#define INSIDE(n, a) DTRACE_PROBE1(hostile, n, (char *)G59(a))')
END
)
bounded "macros with many definitions each" "uint64_t " < <(python3 - <<'END'
print('#define INSIDE(n, a) C0(n, a)')
for i in range(40):
    print('\n'.join(['#ifdef X%d' % i] + ['#define C%d(n, a) C%d(n, a) %d' % (i, i + 1, k) for k in range(20)] + ['#endif']))
print('#define C40(n, a) DTRACE_PROBE1(hostile, n, (char *)(a))')
END
)
bounded "a macro with very many definitions" "uint64_t " < <(python3 - <<'END'
print('#if 0\n' + '\n'.join('#define INSIDE(n, a) DTRACE_PROBE1(hostile, n, a %d)' % i for i in range(200000)) + '\n#endif')
END
)
bounded "quotes, comments and lines without an end" 'char *' < <(python3 - <<'END'
print('#define INSIDE(n, a) DTRACE_PROBE1(hostile, n, (char *)(a))')
print('"\\"' * 2000000 + "\n" + "'\n" * 1000000 + '/* ' * 500000 + '*/\n' + '#define A\\\n' * 200000)
END
)
bounded "a header that is too large" "uint64_t " < <(echo '#define INSIDE(n, a) DTRACE_PROBE1(hostile, n, (char *)(a))'; head -c 17000000 /dev/zero)

# Debug information of a stranger: very many files of one name, in as many folders.
for n in 6000 24000; do
	{
		echo '#include <sys/sdt.h>'
		for ((i = 0; i < n / 2; i++)); do printf '#ifdef NEVER\n#include "x.h"\n#endif\n'; done
		echo 'int main(int argc, char **argv) { DTRACE_PROBE1(files, many, argc); return 0; }'
	} >files.$n.c
	gcc -O1 -g -gdwarf-5 -S files.$n.c
	python3 - $n <<'END'
import re, sys
name, n = f"files.{sys.argv[1]}.s", int(sys.argv[1])
text = open(name).read()
first = 1 + max(int(n) for n in re.findall(r"^\t\.file (\d+) ", text, re.M))
files = "".join('\t.file %d "/nowhere/%d/x.h"\n' % (first + i, i) for i in range(n))
open(name, "w").write(text.replace("\t.ident", files + "\t.ident"))
END
	gcc -o inferred.$n files.$n.s
done
linear "very many folders: time in proportion" 0 6000 unlisted/btgen probes -x 'inferred.{}'
is "$(cat "$tmp/out")" "files:many(int argc)" "... and the name"
done_testing
