#!/usr/bin/env bash
# -t 'uprobe:PATTERN': calls of functions as the program itself says them, with their parameters and results.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/app.c" <<'EOF'
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
enum state { IDLE, RUNNING = 7, BROKEN = -2 };
struct item { long id; char name[8]; };
#define NOIPA __attribute__((noinline))
volatile long sink;
static struct item item = {12, "first"};
static const char *names[] = {"IDLE", "RUNNING"};
NOIPA enum state app_numbers(int i, unsigned char c, unsigned u, long l, bool b);
NOIPA enum state app_numbers(int i, unsigned char c, unsigned u, long l, bool b)
{
	printf("uprobe:app_numbers i=%d c=%d u=%u l=%ld b=%s\n", i, c, u, l, b ? "true" : "false");
	sink += i;
	puts("uretprobe:app_numbers retval=BROKEN");
	return BROKEN;
}
NOIPA const char *app_names(const struct item *it, const char *text, enum state was, enum state now, double d);
NOIPA const char *app_names(const struct item *it, const char *text, enum state was, enum state now, double d)
{
	printf("uprobe:app_names it=%p text=\"%s\" was=%s now=%s d=?\n", (const void *)it, text, names[was != IDLE],
	       now == BROKEN ? "BROKEN" : "?");
	sink += (long)d;
	puts("uretprobe:app_names retval=\"first\"");
	return item.name;
}
NOIPA int app_less(void);
NOIPA int app_less(void)
{
	puts("uprobe:app_less\nuretprobe:app_less retval=-3");
	return -3;
}
NOIPA void app_nothing(int n);
NOIPA void app_nothing(int n)
{
	printf("uprobe:app_nothing n=%d\n", n);
	sink += n;
	puts("uretprobe:app_nothing");
}
long lib_add(int a, long b);
int main(void)
{
	char c;
	setlinebuf(stdout);
	while (read(0, &c, 1) == 1) {
		app_numbers(-5, 'x', 4000000000u, -5000000000L, true);
		app_names(&item, "text", RUNNING, BROKEN, 2.5);
		app_less();
		app_nothing(-4);
		lib_add(-1, 2);
		puts("done");
	}
	return 0;
}
EOF
cat >"$tmp/lib.c" <<'EOF'
#include <stdio.h>
long lib_add(int a, long b);
__attribute__((visibility("hidden"))) long lib_hidden(int a);
__attribute__((noinline)) long lib_hidden(int a)
{
	printf("uprobe:lib_hidden a=%d\n", a);
	__asm__ volatile("");
	return a;
}
long lib_add(int a, long b)
{
	printf("uprobe:lib_add a=%d b=%ld\n", a, b);
	return lib_hidden(a) + b;
}
EOF
gcc -O2 -g -shared -fPIC -o "$tmp/libadd.so" "$tmp/lib.c" && gcc -O2 -g -o "$tmp/app" "$tmp/app.c" "$tmp/libadd.so" || exit 1
traced() { sed 's/^[0-9:.]* *[^ ]*\[[0-9]*\] *//' "$tmp/trace"; }
look() { # SED CLAIM ARG...: what the program says, edited, is what is traced
	local edit=$1 claim=$2
	shift 2
	live_start "$tmp/app"
	ok "$claim: it attaches" live_trace "$live_pid" "$@"
	printf x >&8
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is "$(traced)" "$(sed "$edit; /^done/d" "$tmp/answers")" "$claim"
	exec 8>&-
	wait_end "$live_pid"
}
look '' "calls and results, of the program and its library, by patterns" \
	-t 'uprobe:app_*' -t 'uretprobe:app_*' -t 'uprobe:lib*.so:lib_*'
like "$("$live_sh" -n -t 'uprobe:app_na*' -x "$tmp/app")" 'printf\("%s %s\[%d\] uprobe:app_names  ?it=' "-n shows the script"
"$live_sh" -n -t 'uprobe:app_*' -t 'uretprobe:app_*' -t 'uprobe:libadd.so:lib_*' -x "$tmp/app" >"$tmp/own.bt" 2>"$tmp/errors"
like "$(cat "$tmp/errors")" "no file of the program is libadd.so" "a file that the program has not mapped"
live_start "$tmp/app"
"$live_sh" -n -t 'uprobe:app_*' -t 'uretprobe:app_*' -t 'uprobe:lib*.so:lib_*' "$live_pid" >"$tmp/own.bt"
exec 8>&-
wait_end "$live_pid"
look 's/ d=?//; s/b=true/b=1/' "that script, run" "$tmp/own.bt"
look '/n=-4/!d' "a filter" -t 'uprobe:app_nothing' --filter 'args.n < 0'

live_start "$tmp/app"
ok "counts: it attaches" live_trace -t 'uprobe:app_*' --count=probe "$live_pid"
printf xx >&8
wait_for eval '[ "$(grep -c "done" "$tmp/answers")" = 2 ]'
live_wait INT
is "$(grep -o 'uprobe:app_[a-z]*.*' "$tmp/trace" | tr -d '[]":' | sort)" \
	"$(printf 'uprobeapp_%s 2\n' less names nothing numbers)" "calls are counted"
exec 8>&-
wait_end "$live_pid"
done_testing
