#!/usr/bin/env bash
# The file of an attach point by a relative path, by its name in $PATH, and by a positional parameter: as __EXE__.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/app.c" <<'E2'
#include <btgen/usdt.h>
enum mood { HAPPY, SAD };
struct st { int len; enum mood mood; };
__attribute__((noinline)) int work(struct st *s) { return s->len; }
int main(void)
{
	static struct st s, *p = &s;
	USDT_PROBE(ns, enqueue, p, 1, 2);
	return work(p);
}
E2
mkdir "$tmp/bin" "$tmp/here"
gcc -g -O1 -I"$top/include" -o "$tmp/here/app" "$tmp/app.c" || exit 1
cp "$tmp/here/app" "$tmp/bin/on_path"
PATH=$PATH:$tmp/bin
cd "$tmp/here" || exit 1
app=$tmp/here/app

# said ARG...: what `check` says, without the lines of the script, and its status
said() {
	"$btgen" check --for 0.27 "$@" >"$tmp/said" 2>&1
	printf '%s\n' "$?" >>"$tmp/said"
	grep -v '^    ' "$tmp/said"
}
no_arg9='error: there is no arg9: probe ns:enqueue has 3 arguments, counted from arg0  [argument]'
where='<command line>:1'

for path in ./app ../here/app "$app" '"./app"'; do
	is "$(said -x "$app" -e "usdt:$path:ns:enqueue { print(arg9); }" | sed 's/:1:[0-9]*:/:1:/')" "$where: $no_arg9
1" "arguments are checked at $path"
	is "$(said -x "$app" -e "usdt:$path:ns:enqueue { printf(\"%d\\n\", args.p->len); }")" 0 "$path has args.NAME"
done
is "$(said -x "$app" -e 'usdt:./app:ns:enqueu { }')" "$where:1: error: $app has no probe ns:enqueu
btgen: note: did you mean ns:enqueue?
1" "a probe that a relative path does not have"
is "$(said -x "$app" -e 'uprobe:./app:wrok { }' | head -n 1)" "$where:1: error: no function wrok in $app" "a function likewise"
for how in "" "-x $app"; do
	# shellcheck disable=SC2086
	set -- $how
	is "$(said "$@" -e 'usdt:./nosuch:ns:enqueue { } uprobe:/nosuch/app:work { }')" "$where:1: error: ./nosuch does not exist
$where:30: error: /nosuch/app does not exist
1" "files that do not exist are errors${how:+ with a target}"
	is "$(said "$@" -e 'uprobe:on_path:wrok { }' | head -n 1)" "$where:1: error: no function wrok in $tmp/bin/on_path" \
		"a name is searched in \$PATH${how:+ with a target}"
	is "$(said "$@" -e 'uprobe:on_path:work { } usdt:on_path:ns:enqueue { } uprobe:libc:malloc { }')" 0 \
		"what is there is no error, what may be a library is not searched${how:+ with a target}"
	is "$(said "$@" -e 'uprobe:"./app!/lib/x.so":f { } uprobe:"./no.zip!/x.so":f { }')" "$where:32: error: ./no.zip!/x.so does not exist
1" "of a file in an archive the archive must exist${how:+ with a target}"
	is "$(said "$@" -e 'uprobe:nosuchprogram:f { }')" "$where:1: error: no program nosuchprogram in \$PATH
1" "a name that is not in it is an error${how:+ with a target}"
	is "$(said "$@" -e 'uprobe:app:work { }')" "$where:1: error: no program app in \$PATH
btgen: note: the file in this directory is ./app
1" "a file of the current folder needs ./${how:+ with a target}"
done
is "$("$btgen" expand -x "$app" -e 'uprobe:/nosuch/app:work { }' 2>&1 | head -n 1)" "$where:1: error: /nosuch/app does not exist" \
	"expand says so, too"
is "$("$btgen" expand --for 0.17 -x "$app" -e 'usdt:on_path:ns:enqueue { printf("%d\n", args.p->len); }' 2>&1 | grep -c '(struct st \*)arg0')" 1 \
	"a name in \$PATH has types"

# Positional parameters
for point in 'usdt:$1:ns:enqueue' 'usdt:$1:$2:$3' 'usdt:./a$5:ns:enqueue' 'usdt:$1:ns:en$4' 'usdt:$6:enqueue'; do
	is "$(said -x "$app" -e "$point { print(arg9); }" -- ./app ns enqueue queue pp ./app:ns | sed 's/:1:[0-9]*:/:1:/')" "$where: $no_arg9
1" "$point: its arguments are checked"
	is "$("$btgen" expand --for 0.17 -x "$app" -e "$point { printf(\"%d\\n\", args.p->len); }" -- ./app ns enqueue queue pp ./app:ns 2>&1 |
		grep '^usdt')" "$("$btgen" expand --for 0.17 -x "$app" -e 'usdt:__EXE__:ns:enqueue { printf("%d\n", args.p->len); }' | grep '^usdt')" \
		"$point is what __EXE__ would be"
done
is "$(said -x "$app" -e 'usdt:$1:ns:enqueu { }' -- ./app)" "$where:1: error: $app has no probe ns:enqueu
btgen: note: did you mean ns:enqueue?
1" "a probe that the value does not have"
is "$(said -x "$app" -e 'usdt:$1:ns:enqueue { }' -- ./nosuch)" "$where:1: error: ./nosuch does not exist
1" "a value that is no file"
is "$(said -x "$app" -e 'usdt:$1:ns:$3 { }' -- ./app)" "$where:1: error: \$3 has no value: pass it after --
1" "a parameter without a value is an error"
is "$(said -x "$app" -e 'usdt:$1:ns:enqueue { print(arg9); }' | sed 's/:1:[0-9]*:/:1:/')" "$where: $no_arg9
1" "without values the path is the target's file"
is "$(said -x "$app" -e 'usdt:$1:ns:$2 { print(arg0); }')" "$where:1: warning: not looked up: \$2 has no value; pass it after --
0" "what cannot be looked up is said"
is "$(said -x "$app" -e 'usdt:"./$1":ns:enqueue { }' -- app)" "$where:1: error: ./\$1 does not exist
1" "between quotes \$1 is text"
is "$(said -x "$app" -e 'kprobe:$1 /comm == "app"/ { }' -- vfs_read)" 0 "other kinds are bpftrace's"
printf 'usdt:$1:ns:enqueue { print(arg9); }\n' >./-odd.bt
is "$(said -x "$app" -- -odd.bt | sed 's/:1:[0-9]*:/:1:/')" "-odd.bt:1: $no_arg9
1" "a script whose name begins with - still stands after --"
# What is said of a file is looked for once: its package is in one of thousands of lists.
strip -o stripped app
for n in 1000 4000; do seq $n | sed 's|.*|uprobe:./stripped:none& { }|' >many.$n.bt; done
linear "4000 functions that a stripped file lacks: time in proportion" 1 1000 "$btgen" check --json --for 0.27 "many.{}.bt"
is "$(grep -c '"text": "no function none' "$tmp/out") $(grep -o 'is stripped: functions' "$tmp/out" | wc -l)" "4000 1" \
	"... an error for each, and one note"

# A process: its executable, and the library that has the probe.
printf '#include <btgen/usdt.h>\nvoid lib_work(int i) { USDT_PROBE(lang, entry, i); }\n' >"$tmp/lib.c"
printf 'int getchar(void); void lib_work(int); int main(void) { lib_work(1); getchar(); }\n' >"$tmp/main.c"
gcc -g -O1 -shared -fPIC -I"$top/include" -o "$tmp/liblang.so" "$tmp/lib.c" || exit 1
gcc -g -O1 -o "$tmp/main" "$tmp/main.c" -L"$tmp" -llang -Wl,-rpath,"$tmp" || exit 1
mkfifo "$tmp/in"
"$tmp/main" <"$tmp/in" &
own $!
exec 5>"$tmp/in"
wait_for grep -q liblang "/proc/$!/maps"
is "$(said -p $! -e "usdt:$tmp/main:lang:entry { }")" "$where:1: error: $tmp/main has no probe lang:entry
btgen: note: $tmp/liblang.so has it: write usdt:__EXE__:lang:entry, which searches all files of the process
1" "a probe that a library has, not the executable"
is "$(said -p $! -e "uprobe:$tmp/main:lib_work { }")" "$where:1: error: no function lib_work in $tmp/main
btgen: note: $tmp/liblang.so has it: write uprobe:__EXE__:lib_work, which searches all files of the process
1" "a function likewise"
is "$(said -p $! -e "uprobe:__EXE__:nosuch { }")" "$where:1: error: no function nosuch in main (PID $!) or its libraries
1" "libraries were searched only if __EXE__ means them"
is "$(said -p $! -e "usdt:__EXE__:lang:entry { } uprobe:__EXE__:lib_work { }")" 0 "what the notes say is right"
done_testing
