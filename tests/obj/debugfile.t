#!/usr/bin/env bash
# Where debug information is found when it is not in the program, and where it is not taken from.
#
# One program with one enum (compiled here), stripped in every way that distributions use. What shows that the right file
# was found is the enum's table.
. "$(dirname "$0")/../lib.sh"
command -v objcopy >/dev/null || skip_all "objcopy is not installed"

cat >"$tmp/prog.c" <<'END'
#include <unistd.h>
enum color { RED = 3, GREEN } color = GREEN;
static __attribute__((noinline, used)) int only_in_symtab(int x) { return x + 1; }
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 5)
		return only_in_symtab(argc);
	pause();
	return 0;
}
END
sed 's/RED = 3/RED = 9/' "$tmp/prog.c" >"$tmp/other.c"

# build DIR [FLAGS]: DIR/prog stripped, DIR/prog.debug its debug file; $id its build-id
build() {
	mkdir -p "$1"
	# shellcheck disable=SC2086 # flags are words
	${CC:-gcc} -O1 -g ${2-} -o "$1/full" "$tmp/prog.c" &&
		objcopy --only-keep-debug "$1/full" "$1/prog.debug" &&
		objcopy --strip-all "$1/full" "$1/prog"
	id=$(readelf -n "$1/full" 2>/dev/null | sed -n 's/.*Build ID: //p')
}

# link DIR: gives DIR/prog a .gnu_debuglink to the prog.debug of that moment
link() { (cd "$1" && objcopy --add-gnu-debuglink=prog.debug prog); }

# table FILE: the values of the enum, in one line, or what was said
table() {
	local text
	text=$("$btgen" enums -x "$1" color 2>&1) || {
		printf '%s\n' "$text"
		return 1
	}
	grep -o '\[[0-9]\] = "[A-Z]*"' <<<"$text" | tr -d '\n'
}
right='[3] = "RED"[4] = "GREEN"'

build "$tmp/a" || skip_all "cannot compile a program here"
like "$(table "$tmp/a/prog")" 'prog: error: no debug information \(DWARF\)' "a stripped program has none"
like "$(table "$tmp/a/prog")" "prog: note: looked for /usr/lib/debug/\.build-id/${id:0:2}/${id:2}\.debug$" \
	"the place where a package would put it is named"
like "$(table "$tmp/a/prog")" 'note: build it with -g, or install its debug package' "and what helps"

# asked SCRIPT: what is said of it for the stripped program
asked() { "$btgen" expand -x "$tmp/a/prog" -e "$1" 2>&1; }
is "$(asked 'uprobe:__EXE__:main { $a = (struct missing *)arg0; print($a->x); print(((struct missing_too *)arg1)->y); }' | grep error)" \
	"<command line>:1:1: error: no function main in $tmp/a/prog" "a stripped program has no functions"
like "$(asked 'uprobe:__EXE__:main { }')" "note: $tmp/a/prog is stripped: functions that it does not export have no names" "and is called so"
out=$(asked 'BEGIN { print(((struct missing *)1)->y); } END { print(((struct missing_too *)1)->y); }')
like "$out" "<command line>:1:24: error: no debug information \(DWARF\) for struct missing: $tmp/a/prog is stripped$" \
	"a struct that is not known is an error at the script's line"
unlike "$out" "missing_too: " "which one type shows for all"
is "$(grep -c 'note: build it with -g' <<<"$out")" 1 "what helps is said once"
link "$tmp/a"
is "$(table "$tmp/a/prog")" "$right" "a debug file beside the program"
mkdir "$tmp/a/.debug"
mv "$tmp/a/prog.debug" "$tmp/a/.debug"
is "$(table "$tmp/a/prog")" "$right" "... in .debug"
ln -s a/prog "$tmp/a-link"
is "$(table "$tmp/a-link")" "$right" "... found through a link to the program"

${CC:-gcc} -O1 -g -o "$tmp/other" "$tmp/other.c"
objcopy --only-keep-debug "$tmp/other" "$tmp/a/.debug/prog.debug"
like "$(table "$tmp/a/prog")" '/a/\.debug/prog\.debug \(has a different build ID\)$' "that of another build is refused"
printf junk >"$tmp/a/.debug/prog.debug"
like "$(table "$tmp/a/prog")" '/a/\.debug/prog\.debug \(is not a readable ELF file\)$' "and so is junk"
rm "$tmp/a/.debug/prog.debug"
mkfifo "$tmp/a/.debug/prog.debug"
like "$(table "$tmp/a/prog")" '/a/\.debug/prog\.debug \(is not a regular file\)$' "a FIFO is not waited for"

build "$tmp/crc" -Wl,--build-id=none
link "$tmp/crc"
is "$(table "$tmp/crc/prog")" "$right" "without build-id the CRC decides"
printf x >>"$tmp/crc/prog.debug"
like "$(table "$tmp/crc/prog")" '/crc/prog\.debug \(has a different CRC\)$' "a wrong CRC is refused"

build "$tmp/sym"
objcopy --strip-debug "$tmp/sym/full" "$tmp/sym/prog.debug"
link "$tmp/sym"
like "$(table "$tmp/sym/prog")" 'its debug file .*/sym/prog\.debug has only symbols$' "a debug file without DWARF is named"

build "$tmp/z" -gz
link "$tmp/z"
is "$(table "$tmp/z/prog")" "$right" "compressed debug sections"
objcopy --compress-debug-sections=zlib-gnu "$tmp/z/full" "$tmp/z/gnu"
is "$(table "$tmp/z/gnu")" "$right" "... in the old way (.zdebug)"

if ! command -v dwz >/dev/null; then
	skip "the alternate file that dwz makes" "dwz is not installed"
else
	build "$tmp/dwz"
	for n in 1 2; do
		cp "$tmp/dwz/prog.debug" "$tmp/dwz/$n.debug"
		cp "$tmp/dwz/prog" "$tmp/dwz/prog$n"
	done
	(cd "$tmp/dwz" && dwz -m common.debug -M common.debug 1.debug 2.debug 2>/dev/null &&
		mv 1.debug prog.debug && link .)
	if readelf -S "$tmp/dwz/prog.debug" 2>/dev/null | grep -q gnu_debugaltlink; then
		is "$(table "$tmp/dwz/prog")" "$right" "the alternate file that dwz makes"
	else
		skip "the alternate file that dwz makes" "dwz found nothing to share"
	fi
fi

# debuginfod: a server of the protocol's one question, here
build "$tmp/d"
mkdir -p "$tmp/www/buildid/$id"
cp "$tmp/d/prog.debug" "$tmp/www/buildid/$id/debuginfo"
python3 - "$tmp/www" >"$tmp/port" <<'END' &
import functools, http.server, sys
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
s = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=sys.argv[1]))
print(s.server_port, flush=True)
s.serve_forever()
END
own $!
wait_for test -s "$tmp/port"
export DEBUGINFOD_CACHE_PATH=$tmp/cache DEBUGINFOD_TIMEOUT=5
DEBUGINFOD_URLS="" table "$tmp/d/prog" >"$tmp/out"
like "$(cat "$tmp/out")" 'or set DEBUGINFOD_URLS$' "no server is asked unless it was named"
not_ok "... and nothing is put into its cache" test -e "$tmp/cache"
if ! ldconfig -p | grep -q libdebuginfod; then
	skip "a debuginfod server" "libdebuginfod is not installed"
else
	is "$(DEBUGINFOD_URLS="http://127.0.0.1:$(cat "$tmp/port")" table "$tmp/d/prog")" "$right" "a debuginfod server"
	rm -rf "$tmp/cache"
	objcopy --only-keep-debug "$tmp/other" "$tmp/www/buildid/$id/debuginfo"
	like "$(DEBUGINFOD_URLS="http://127.0.0.1:$(cat "$tmp/port")" table "$tmp/d/prog")" 'has a different build ID' \
		"a server's wrong answer is refused"
	rm -rf "$tmp/cache"
	python3 - >"$tmp/silent" <<'END' &
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
kept = []
while True:
    kept.append(s.accept())
END
	own $!
	wait_for test -s "$tmp/silent"
	DEBUGINFOD_URLS="http://127.0.0.1:$(cat "$tmp/silent")" table "$tmp/d/prog" >"$tmp/out"
	like "$(cat "$tmp/out")" "waiting for the debug information of prog from http://127.0.0.1:$(cat "$tmp/silent")$" "a server that does not answer is named"
	like "$(cat "$tmp/out")" 'the servers of DEBUGINFOD_URLS \(no answer\)$' "... and that it did not"
fi

# A library's debug package, compressed: read for what it has, and for nothing else. Broken, it is reported by whoever reads it.
mkdir "$tmp/package"
{
	printf 'struct lonely { int first; long second[3]; };\n'
	seq 1 300 | sed 's/.*/struct padding_& { int member_&; } padding_&;/'
	printf 'static inline __attribute__((always_inline)) int halve_it(struct lonely *l) { return l->first / 2; }\n'
	printf 'int lib_work(struct lonely *l) { return halve_it(l) + 1; }\n'
} >"$tmp/package/lib.c"
cat >"$tmp/package/main.c" <<'END'
#include <unistd.h>
struct own { int number; } own;
int lib_work(void *);
__attribute__((noinline)) int take(struct own *o) { return o->number; }
int main(void)
{
	long room[4] = {8};
	own.number = lib_work(room);
	pause();
	return take(&own);
}
END
# package COMMAND: the library's debug file, with its .debug_info as that command leaves the file info, and $user, the program
package() {
	(cd "$tmp/package" && ${CC:-gcc} -g -O1 -fPIC -shared -o liblonely.so lib.c &&
		${CC:-gcc} -g -O1 -o main main.c -L. -llonely -Wl,-rpath,"$PWD" &&
		objcopy --only-keep-debug liblonely.so lonely.plain && strip liblonely.so &&
		objcopy -O binary --only-section=.debug_info --set-section-flags .debug_info=alloc lonely.plain info && eval "$1" &&
		objcopy --update-section .debug_info=info lonely.plain && objcopy --compress-debug-sections=zlib lonely.plain lonely.debug &&
		objcopy --add-gnu-debuglink=lonely.debug liblonely.so) || return
	"$tmp/package/main" &
	user=$!
	own $user
	wait_for grep -q liblonely "/proc/$user/maps"
}
own_type='#pragma optional
uprobe:__EXE__:nowhere_at_all { print(1); }
#pragma optional off
uprobe:__EXE__:take { print(((struct own *)arg0)->number); }'
package true
whole=$("$btgen" expand -p $user --for 0.17 -e "$own_type" 2>/dev/null | sed "s/$user/PID/g")
like "$whole" 'struct user_own \*\)arg0' "a script with a type of the program's, beside a debug package"
like "$("$btgen" expand -p $user --for 0.23 -e 'uprobe:__EXE__:halve_it { print(1); }' 2>&1)" 'liblonely.so:0x[0-9a-f]+ ' \
	"a function that is only in a library's debug package"
like "$("$btgen" expand -p $user --for 0.23 -e 'uprobe:__EXE__:take { print(((struct lonely *)arg0)->second[1]); }' 2>&1)" 'second\[3\]' \
	"a type that is only there"
kill $user
package "printf '\\377\\177' | dd of=info bs=1 seek=4 conv=notrunc status=none"
like "$("$btgen" expand -p $user --for 0.23 -e 'uprobe:__EXE__:take { print(((struct lonely *)arg0)->second[1]); }' 2>&1)" \
	'debug information is corrupt' "a broken debug package that is needed is reported"
is "$("$btgen" expand -p $user --for 0.17 -e "$own_type" 2>"$tmp/err" | sed "s/$user/PID/g")" "$whole" \
	"one that is not needed makes no difference"
unlike "$(cat "$tmp/err")" corrupt "and is not read"
kill $user

# A process that sees another file system: its debug files are there, and a link does not lead out of it.
cat >"$tmp/container.py" <<'END'
import ctypes, os, sys
root, libc = sys.argv[1].encode(), ctypes.CDLL(None, use_errno=True)
def must(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), "cannot make a container")
MNT_DETACH, MS_REC, MS_PRIVATE, CLONE_NEWNS = 2, 1 << 14, 1 << 18, 0x20000
must(libc.unshare(CLONE_NEWNS))
must(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
must(libc.mount(b"none", root, b"tmpfs", 0, None))
must(os.system(sys.argv[2]))
os.chdir(root)
must(libc.syscall({"x86_64": 155}.get(os.uname().machine, 41), b".", b"."))  # pivot_root
must(libc.umount2(b".", MNT_DETACH))
os.execv("/prog", ["prog"])
END
in_container() { # SCRIPT: makes files in $tmp/root, which then is the / of $container, a running /prog
	python3 "$tmp/container.py" "$tmp/root" "cd '$tmp/root' && mkdir -p usr/lib && cp '$tmp/c/prog' . && $1" 2>"$tmp/err" &
	container=$!
	own $container
	wait_for eval 'grep -qs "^prog\$" "/proc/$container/comm" || [ ! -e "/proc/$container" ]'
	grep -qs '^prog$' "/proc/$container/comm"
}
mkdir "$tmp/root"
if [ "$(id -u)" != 0 ]; then
	skip "the debug file in a container" "needs root"
elif ! build "$tmp/c" -static 2>/dev/null; then
	skip "the debug file in a container" "cannot link statically"
elif ! in_container true; then
	skip "the debug file in a container" "$(tail -n 1 "$tmp/err")"
else
	file=usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	in_container "mkdir -p '${file%/*}' && cp '$tmp/c/prog.debug' '$file'"
	is "$("$btgen" enums -p "$container" color 2>&1 | grep -o '\[[0-9]\] = "[A-Z]*"' | tr -d '\n')" "$right" \
		"the debug file in a container"
	mkdir -p "$tmp/outside/.build-id/${id:0:2}"
	cp "$tmp/c/prog.debug" "$tmp/outside/.build-id/${id:0:2}/${id:2}.debug"
	in_container "ln -s '$tmp/outside' usr/lib/debug"
	like "$("$btgen" enums -p "$container" color 2>&1)" 'no debug information' \
		"a link in the container that leads out of it is not followed"
fi
done_testing
