#!/usr/bin/env bash
# What a process does not have yet: a library that it will load, a program that it will run. A script names them by their paths.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/plugin.c" <<'END'
#include <btgen/usdt.h>
enum colour { RED, GREEN };
struct brush { long width; enum colour colour; };
int paint(struct brush *b, enum colour next)
{
	USDT_PROBE_LAZY(plugin, paint, (struct brush *)b, next);
	return (int)b->width;
}
int main(void)
{
	struct brush b = {7, GREEN};
	return paint(&b, RED) != 7;
}
END
# Loads the library at "l", calls it at "p", becomes the program at "x".
cat >"$tmp/host.c" <<'END'
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct { long width; int colour; } brush = {42, 1};
	int (*paint)(void *, int) = NULL;
	char c;
	while (argc == 3 && read(0, &c, 1) == 1) {
		if (c == 'l')
			*(void **)&paint = dlsym(dlopen(argv[1], RTLD_NOW), "paint");
		else if (c == 'p')
			paint(&brush, 0);
		else
			execl(argv[2], argv[2], (char *)NULL);
	}
	return 1;
}
END
gcc -g -O1 -I"$top/include" -shared -fPIC -o "$tmp/libplugin.so" "$tmp/plugin.c" &&
	gcc -g -O1 -I"$top/include" -o "$tmp/painter" "$tmp/plugin.c" &&
	gcc -g -O1 -o "$tmp/host" "$tmp/host.c" || exit 1

# shellcheck disable=SC2317 # wait_for calls it
has() { grep -q "$1" "$tmp/trace"; }
script="usdt:$tmp/libplugin.so:paint { printf(\"%d %s %s\\n\", args.b->width, args.b->colour, args.next); }
uprobe:$tmp/libplugin.so:paint { printf(\"paint %d\\n\", arg1); }"

live_start "$tmp/host" "$tmp/libplugin.so" "$tmp/painter"
live_start_other() { "$tmp/host" "$tmp/libplugin.so" "$tmp/painter" <<<"lp" >/dev/null & }
ok "a library that is not mapped yet: it attaches" live_trace "$live_pid" -e "$script"
like "$(cat "$tmp/messages")" "warning: process $live_pid has not mapped $tmp/libplugin.so: nothing fires until it does" "and says so"
live_start_other # another process, which is not meant
wait $!
printf lp >&8
wait_for has '^42'
live_wait INT
is "$live_rc $(sort "$tmp/trace" | paste -sd,)" "0 42 GREEN RED,paint 0" "it fires once the library is loaded, with its types"

script="usdt:$tmp/painter:plugin:paint { printf(\"%d %s %s\\n\", args.b->width, args.b->colour, args.next); }"
ok "a program that it has not become yet: it attaches" live_trace "$live_pid" -e "$script"
printf x >&8
wait_end "$live_pid"
live_wait
is "$live_rc $(cat "$tmp/trace")" "0 7 GREEN RED" "it fires when it has"
exec 8>&-

live_start "$tmp/host" "$tmp/libplugin.so" "$tmp/painter"
out=$("$live_sh" "$live_pid" -e "usdt:$tmp/libplugin.so:pain { exit(); }" 2>&1)
is "$?" 1 "a probe that the library does not have: an error"
like "$out" "^<command line>:1:1: error: no USDT probe pain in $tmp/libplugin.so$" "which names the library"
out=$("$live_sh" "$live_pid" -e "usdt:__EXE__:paint { exit(); } usdt:$tmp/libplugin.so:paint { exit(); }" 2>&1)
like "$out" "error: host \(PID $live_pid\) has no probe paint" "__EXE__ is what it has mapped, not what the script names"
exec 8>&-
done_testing
