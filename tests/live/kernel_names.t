#!/usr/bin/env bash
# A struct of the program that the kernel has one of the same name of, beside a tracepoint with arguments: each
# clause reads its own, and sizeof is the program's.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
[ -e /sys/kernel/tracing/available_events ] || [ -e /sys/kernel/debug/tracing/available_events ] ||
	skip_all "tracefs is not mounted here and cannot be"

cat >"$tmp/k.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
struct list_head { int weight; int color; };
struct device { int id; struct list_head link; struct device *parent; };
int main(void)
{
	struct device root = {1, {10, 20}, NULL}, child = {2, {-30, 40}, &root};
	char c;
	while (read(0, &c, 1) == 1) {
		USDT_PROBE(test, device, &child);
		write(1, "12345", 5);
	}
}
E2
gcc -O2 -g -w -I"$top/include" -o "$tmp/k" "$tmp/k.c" || exit 1
cat >"$tmp/k.bt" <<'E2'
usdt:__EXE__:device {
	$d = (struct device *)arg0;
	printf("device %d %d %d parent %d %d size %d %d\n", $d->id, $d->link.weight, $d->link.color,
	       $d->parent->id, $d->parent->link.weight, sizeof(struct device), sizeof(struct list_head));
}
tracepoint:syscalls:sys_enter_write /pid == __PID__ && args->fd == 1/ {
	printf("write %d bytes\n", args->count);
}
E2
live_start "$tmp/k"
ok "the program is accepted and attached" live_trace "$live_pid" "$tmp/k.bt"
printf x >&8
exec 8>&-
live_wait
is "$(grep . "$tmp/trace")" "device 2 -30 40 parent 1 10 size 24 8
write 5 bytes" "the program's structs and the tracepoint's arguments are both right"
done_testing
