#!/usr/bin/env bash
# longjmp.bt: as many jumps as a program made, from where and to where it made them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# resume() jumps to a place that was set before the trace began.
cat >"$tmp/app.c" <<'END'
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

static jmp_buf early, place;
static sigjmp_buf with_mask;

void __attribute__((noinline)) fail(int value) { longjmp(place, value); }
void __attribute__((noinline)) fail_with_mask(int value) { siglongjmp(with_mask, value); }
void __attribute__((noinline)) resume(int value) { longjmp(early, value); }

int __attribute__((noinline)) parse(void)
{
	volatile int n = 0;
	int got = _setjmp(place);
	n += got;
	if (got < 3)
		fail(got ? got + 1 : 0);
	return n;
}

int __attribute__((noinline)) parse_with_mask(void)
{
	int got = sigsetjmp(with_mask, 1);
	if (got == 0)
		fail_with_mask(-7);
	return got;
}

int main(void)
{
	char c;
	int from = setjmp(early);
	while (read(0, &c, 1) == 1 && c != 'q') {
		if (from == 0)
			resume(5);
		from = 0;
		int one = parse(), two = parse_with_mask();
		dprintf(1, "done %d %d\n", one, two);
	}
}
END
gcc -O1 -fno-omit-frame-pointer -rdynamic -o "$tmp/app" "$tmp/app.c" 2>"$tmp/err" || skip_all "gcc failed: $(head -n 1 "$tmp/err")"
live_start "$tmp/app"
ok "it attaches" live_trace -D LINES $live_pid longjmp.bt
printf xxxx >&8
wait_for eval '[ "$(grep -c done "$tmp/answers")" = 2 ]'
live_wait INT
is $live_rc 0 "^C is status 0"
is "$(cat "$tmp/answers")" "done 6 -7
done 6 -7" "the program jumped twice from 1 to 3, and with -7"
early=main
[ "$(uname -m)" = x86_64 ] || early='0x0'
round="resume jumps to $early with 5
fail jumps to parse with 1
fail jumps to parse with 2
fail jumps to parse with 3
fail_with_mask jumps to parse_with_mask with -7"
is "$(sed -n 's/^[0-9]*\.[0-9]*: [0-9]* \(.*jumps.*\)/\1/p' "$tmp/trace")" "$round
$round" "each jump, in order: from where, to where, with which value"
is "$(grep '^@jumps' "$tmp/trace" | sort)" "@jumps[fail, parse, 1]: 2
@jumps[fail, parse, 2]: 2
@jumps[fail, parse, 3]: 2
@jumps[fail_with_mask, parse_with_mask, -7]: 2
@jumps[resume, $early, 5]: 2" "and as many in the map"
is "$(grep '^@set' "$tmp/trace" | sort)" "@set[parse]: 2
@set[parse_with_mask]: 2" "places that were set, each once"
like "$(tr '\n' ' ' <"$tmp/trace")" '@stacks\[resume, +(_|sig)?longjmp\+0 .*main\+[0-9]+ ' "the stack of a jump"
live_quit
is_sample longjmp.bt

done_testing
