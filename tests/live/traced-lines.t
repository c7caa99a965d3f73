#!/usr/bin/env bash
# -t uprobe:FILE:LINE prints the variables of a source line: the program itself prints on that line what they are.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/values.c" <<'END'
#include <stdio.h>
enum mood { MOOD_GOOD, MOOD_BAD };
struct item { char name[4]; int v[3]; unsigned short small; };
static volatile long sink;
__attribute__((noinline)) long work(int n, const char *who, enum mood m)
{
	struct item b = { "abcd", { n, n + 1, -n }, (unsigned short)n };
	char buf[16];
	short grid[2][3] = { { 1, 2, (short)n } };
	unsigned long total = (unsigned long)n * 1000000007UL;
	_Bool odd = n & 1;
	double half = n / 2.0;
	static float quarter;
	quarter = (float)n / 4;
	snprintf(buf, sizeof(buf), "%s-%d", who, n);
	if (n == -2)
		snprintf(buf, sizeof(buf), "0123456789abcde");
	sink += (long)total + buf[0] + grid[1][0] + b.small + odd + m + (long)half; /* line 18 */
	printf("n=%d who=\"%s\" m=%s b={name = \"%.4s\", v = {%d, %d, %d}, small = %d} buf=\"%s\" grid={{%d, %d, %d}, {0, 0, 0}} total=%lu odd=%s half=%g quarter=%g\n",
	       n, who, m ? "MOOD_BAD" : "MOOD_GOOD", b.name, b.v[0], b.v[1], b.v[2], b.small, buf, grid[0][0], grid[0][1], grid[0][2], total, odd ? "true" : "false", half, quarter);
	return sink;
}
static inline __attribute__((always_inline)) int twice(int x)
{
	int y = x * 2;
	sink += y; /* line 26 */
	return y;
}
__attribute__((noinline)) int one(int n) { return twice(n) + 1; }
__attribute__((noinline)) int other(int n) { return twice(n + 10) + 2; }
int main(void)
{
	setlinebuf(stdout);
	getchar();
	for (int n = -3; n < 4; n++)
		work(n, n < 0 ? "less" : "more", n & 1 ? MOOD_BAD : MOOD_GOOD);
	for (int n = 0; n < 3; n++)
		printf("line 26: x=%d y=%d\nline 26: x=%d y=%d\n", n, n * 2, n + 10, (n + 10) * 2), one(n), other(n);
	puts("done");
}
END
gcc -g -O0 -o "$tmp/app" "$tmp/values.c" || exit 1
live_start "$tmp/app"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
if [ "$version" -lt 20 ]; then
	guard "$live_sh" -t uprobe:values.c:18 "$live_pid" 2>"$tmp/messages"
	is $? 1 "a bpftrace that attaches only to entries: an error"
	is "$(sed 's/bpftrace 0\.[0-9]*/bpftrace/' "$tmp/messages")" "btgen: error: bpftrace attaches only to function entries: values.c:18 is inside a function" "... that says why"
	done_testing
	exit
fi
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	$compiler -g -O0 -o "$tmp/app" "$tmp/values.c" || exit 1
	live_start "$tmp/app"
	ok "$compiler: it attaches" live_trace -t uprobe:values.c:18 -t uprobe:__EXE__:values.c:26 "$live_pid"
	echo >&8
	live_wait
	is "$(sed -n 's/.* uprobe:values\.c:18 //p' "$tmp/trace")" "$(grep '^n=' "$tmp/answers")" "$compiler: parameters, then locals, structs and arrays with what they have"
	is "$(sed -n 's/.* uprobe:values\.c:26 /line 26: /p' "$tmp/trace")" "$(grep '^line 26' "$tmp/answers")" "$compiler: at the inlined copies, each with its own"
done

# A line of a header that is in the program and in its library.
printf '%s\n' 'static __attribute__((noinline)) int tick(int q)' '{' '	int z = q + 1;' '	return z;' '}' >"$tmp/tick.h"
printf '#include "tick.h"\nint lib(int n) { return tick(n); }\n' >"$tmp/lib.c"
cat >"$tmp/both.c" <<'END'
#include "tick.h"
#include <stdio.h>
int lib(int n);
int main(void)
{
	setlinebuf(stdout);
	getchar();
	for (int i = 0; i < 4; i++)
		printf("q=%d z=%d\nq=%d z=%d\n", i, tick(i), 10 * i, lib(10 * i));
	puts("done");
}
END
gcc -g -O0 -fPIC -shared -o "$tmp/libtick.so" "$tmp/lib.c" && gcc -g -O0 -o "$tmp/both" "$tmp/both.c" -L"$tmp" -ltick -Wl,-rpath,"$tmp" || exit 1
for patterns in "-t uprobe:tick.h:4" "-t uprobe:__EXE__:tick.h:4 -t uprobe:libtick.so:tick.h:4"; do
	live_start "$tmp/both"
	# shellcheck disable=SC2086
	ok "$patterns: it attaches" live_trace $patterns "$live_pid"
	echo >&8
	live_wait
	is "$(sed -n 's/.* uprobe:tick\.h:4 //p' "$tmp/trace" | sort)" "$(grep '^q=' "$tmp/answers" | sort)" "... in both files"
done

# As a script that can be edited, as JSON, counted, filtered.
live_start "$tmp/app"
"$live_sh" -n -t uprobe:values.c:18 "$live_pid" >"$tmp/made.bt" 2>"$tmp/messages"
ok "the script of -n attaches" live_trace "$live_pid" "$tmp/made.bt"
echo >&8
live_wait
is "$(sed -n 's/.* uprobe:values\.c:18 //p' "$tmp/trace" | sed 's/ grid=0x[0-9a-f]*//')" "$(grep '^n=' "$tmp/answers" | sed 's/ grid={{[^}]*}, {[^}]*}}//; s/odd=true/odd=1/; s/odd=false/odd=0/; s/ half=.*//')" \
	"and prints the same, but for arrays of numbers, of which it has the address"
live_start "$tmp/app"
ok "a filter attaches" live_trace -f json --filter 'm == MOOD_BAD && b.v[0] > 0' -t uprobe:values.c:18 "$live_pid"
echo >&8
live_wait
is "$(grep -o '"fields": {.*' "$tmp/trace" | grep -o '"n": -\?[0-9]*\|"b": {.*}, "buf"' | tr '\n' ' ')" \
	'"n": 1 "b": {"name": "abcd", "v": [1, 2, -1], "small": 1}, "buf" "n": 3 "b": {"name": "abcd", "v": [3, 4, -3], "small": 3}, "buf" ' "of events by a member and an enumerator, as JSON"
cat >"$tmp/text.cc" <<'END'
#include <cstdio>
#include <string>
#include <string_view>
__attribute__((noinline)) size_t job(int n, const std::string &owner)
{
	std::string name = owner + std::to_string(n), copy = n % 2 ? "short" : "a text that is too long for the object: " + name;
	std::string_view view = copy;
	const char *text = name.c_str();
	setlinebuf(stdout); /* line 9 */
	printf("n=%d owner=\"%s\" name=\"%s\" copy=\"%s\" view=\"%s\" text=\"%s\"\n", n, owner.c_str(), name.c_str(), copy.c_str(), view.data(), text);
	return view.size();
}
int main()
{
	getchar();
	for (int n = 0; n < 6; n++)
		job(n, n < 3 ? "desk-a" : "desk-b");
	puts("done");
}
END
g++ -std=c++17 -g -O0 -o "$tmp/text" "$tmp/text.cc" || exit 1
for condition in 'name == "desk-a2"' '"short" == copy' 'view != "short"' 'owner == "desk-b"' 'text == "desk-b4"' 'str(name) == "desk-a0"' 'name == text && n > 1'; do
	live_start "$tmp/text"
	ok "--filter '$condition' attaches" live_trace --filter "$condition" -t uprobe:text.cc:9 "$live_pid"
	echo >&8
	live_wait
	case $condition in
	name*a2*) lines='n=2 ' ;;
	*short\"\ ==*) lines='copy="short"' ;;
	view*) lines='copy="a' ;;
	owner*) lines='owner="desk-b"' ;;
	text*) lines='n=4 ' ;;
	str*) lines='n=0 ' ;;
	*) lines='n=[2-9]' ;;
	esac
	is "$(sed -n 's/.* uprobe:text\.cc:9 //p' "$tmp/trace")" "$(grep -- "$lines" "$tmp/answers")" "... by the text of a line's string"
done

live_start "$tmp/app"
said() { "$live_sh" -t "$1" "$live_pid" 2>&1 | head -1; }
is "$(said uprobe:values.c:14000)" "btgen: error: values.c:14000 has no code, and no line after it has any" "a line after the last one"
is "$(said uprobe:values.c:4)" "btgen: error: values.c:4 has no code: the next line that has some is 6" "a line without code"
is "$(said uprobe:value.c:4)" "btgen: error: no file has debug information (-g) of value.c" "a file that is none"
is "$(said uretprobe:values.c:18)" "btgen: error: a source line has no return" "uretprobe"
is "$(guard "$live_sh" -t uprobe:values.c:18-20 "$live_pid" 2>&1 | tail -1)" "btgen: error: -t traces one line of values.c, not 18 to 20" "several lines are not one"
is "$(guard "$live_sh" -t uprobe:values.c:0 "$live_pid" 2>&1 | tail -1)" "btgen: error: values.c:0: the first line of a file is 1" "nor is line 0"
is "$(guard "$live_sh" -t uprobe:values.c:18 --count=grid "$live_pid" 2>&1 | tail -1)" "btgen: error: uprobe:values.c:18: 'grid' cannot be a key: it is a struct or an array" "an array is no key"
is "$(guard "$live_sh" -t uprobe:values.c:18 --filter 'half > 1' "$live_pid" 2>&1 | head -1)" "--filter:1:1: error: bpftrace cannot read a double: -t prints its value" "nor is a double compared"
is "$(guard "$live_sh" -t uprobe:values.c:18 --count=half "$live_pid" 2>&1 | tail -1)" "btgen: error: uprobe:values.c:18: 'half' cannot be a key: it is a floating-point number" "or a key"
is "$("$live_sh" -l "$live_pid" values.c:18)" "uprobe:values.c:18  work()" "-l prints the pattern"
done_testing
