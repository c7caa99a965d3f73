#!/usr/bin/env bash
# -f json: each line holds the schema, and its values are those that the program says it passed.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
python=$(python_with "jsonschema; jsonschema.Draft202012Validator") || skip_all "python3-jsonschema is missing, or older than 4.0"

cat >"$tmp/values.c" <<'E2'
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
enum mode { OFF, ON = 3, BAD = -1 };
enum bits { READ = 1, WRITE = 2, SYNC = 8 };
static uint64_t state = 42;
static uint64_t next(void)
{
	state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
	uint64_t v = state * 0x2545f4914f6cdd1dull;
	return v >> v % 61;
}
static FILE *out;
static void say(const char *key, const char *s)
{
	fprintf(out, "%s ", key);
	while (*s)
		fprintf(out, "%02x", (unsigned char)*s++);
	fputc('\n', out);
}
__attribute__((noinline)) static void step(long n)
{
	int8_t i8 = next();
	int16_t i16 = next();
	int32_t i32 = next();
	int64_t i64 = next() * (next() % 2 ? 1 : -1);
	uint8_t u8 = next();
	uint16_t u16 = next();
	uint32_t u32 = next();
	uint64_t u64 = n % 5 ? next() : ~next();
	enum mode mode = (enum mode)(next() % 5) - 1;
	enum bits bits = next() % 16;
	bool flag = next() % 2;
	static const char *const odd[] = {"", "a, b", "x]: 3", "one\ntwo\n\nthree", "\n@by[1, 2]: 77\n", "5", ", ", "]:",
					  "y]: 3\nz", "l\nLost 9 events\nm", "\xff\xc3\xa9", "[2, 4)                 1 |@@@@|", "(1, 2"};
	static char s[40], line[200];
	size_t size = next() % sizeof(s);
	for (size_t i = 0; i < size; i++)
		s[i] = 1 + (n % 2 ? next() % 255 : (n * 7 + i) % 255);
	s[size] = 0;
	if (n < sizeof(odd) / sizeof(*odd))
		strcpy(s, odd[n]);
	USDT_PROBE(values, signed, n, i8, i16, i32, i64);
	USDT_PROBE(values, unsigned, n, u8, u16, u32, u64);
	USDT_PROBE(values, text, n, s, mode, bits, flag, USDT_ARG((void *)(size_t)(n % 3 * 4096), "p"));
	fprintf(out, "signed %ld %d %d %d %ld\n", n, i8, i16, i32, i64);
	snprintf(line, sizeof(line), "%ld [%5d|%-6d|%08d|%ld]", n, i8, i16, i32, i64);
	say("line", line);
	fprintf(out, "unsigned %ld %u %u %u %lu\n", n, u8, u16, u32, u64);
	snprintf(line, sizeof(line), "%ld [%03u|%x|%lu|%lx]", n, u8, u16, (long)u32, u64);
	say("line", line);
	fprintf(out, "text %ld %d %d %d %ld\n", n, mode, bits, flag, n % 3 * 4096);
	say("string", s);
}
int main(int argc, char **argv)
{
	out = fopen(argv[1], "w");
	getchar();
	for (long n = 0; n < 300; n++)
		step(n);
	fclose(out);
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return argc - 2;
}
E2
gcc -O1 -g -I"$top/include" -o "$tmp/values" "$tmp/values.c" 2>"$tmp/err" || { cat "$tmp/err"; exit 1; }
cat >"$tmp/values.bt" <<'E2'
usdt:__EXE__:values:signed {
	printf("%ld [%5d|%-6d|%08d|%ld]\n", args.n, args.i8, args.i16, args.i32, args.i64);
	@sum = sum(args.i32); @min = min(args.i16); @max = max(args.i64); @avg = avg(args.i8); @stats[args.n % 2] = stats(args.i8);
	@last = args.i64; @by[args.i8, args.n % 3] = count();
}
usdt:__EXE__:values:unsigned {
	printf("%ld [%03u|%x|", args.n, args.u8, args.u16);
	printf("%lu|%lx]\n", args.u32, args.u64);
	@hist[args.n % 2] = hist(args.u16); @lhist = lhist(args.u8, 0, 200, 50); @wide[args.n % 5] = args.u64; @from[args.u64] = args.n;
}
usdt:__EXE__:values:text {
	printf("%ld %s %s %04x %d %p %c\n", args.n, str(args.s), enum_name(mode, args.mode), args.bits, args.flag, args.p, 65 + args.n % 26);
	@text[str(args.s)] = count(); @both[str(args.s), args.n] = args.n; @said = str(args.s); @named[enum_name(mode, args.mode)] = count();
	@pair[args.n % 7] = (args.n, ("a, b", args.n % 3)); @at[args.p] = args.mode;
}
interval:ms:200 { @ticks++; print(@ticks); print(@by); printf("tick %d\n", @ticks); }
E2
live_start "$tmp/values" "$tmp/log"
ok "a script with printf(), maps and print() attaches" live_trace -f json $live_pid "$tmp/values.bt"
printf x >&8
wait_for grep -q 'done' "$tmp/answers"
wait_for grep -q '"tick 3"' "$tmp/trace"
exec 8>&-
live_wait
is $live_rc 0 "it ends with the program, status 0"
"$python" "$top/tests/schema.py" "$tmp/trace" >"$tmp/said"
is "$?$(grep -v '^[0-9]* record' "$tmp/said")" 0 "each line holds the schema"
printf '# %s\n' "$(tail -n 1 "$tmp/said")"
compare() { "$python" "$top/tests/live/json_values.py" "$tmp/trace" "$tmp/log" "$1" 2>&1; }
is "$("$live_sh" -q -f json -e 'BEGIN { $x = 1; printf("%s%s%s", $x ? " of t" : "", $x ? "read" : "write", $x ? comm : ""); exit(); }' |
	jq -c 'select(.text) | .text[:9], (.fields | keys | length)')" '" of tread"
2' "a choice of a word and nothing is part of the text alone"
is "$("$live_sh" -q -f json -e 'BEGIN { $u = (uint32)4000000000; $i = (int32)2000000000; printf("%u %d %d", $u * $u, $u * 2, -$i - $i); exit(); }' $$ |
	jq -c 'select(.text) | .text, (.fields | map(.))')" '"16000000000000000000 8000000000 -4000000000"
["16000000000000000000",8000000000,-4000000000]' "numbers of more than 32 bits are whole, in the text and as fields"
is "$("$live_sh" -q -e 'BEGIN { $u = (uint32)4000000000; $q = (uint32)5; $i = (int32)-5; $i++; printf("%u %u %x %x", $q - $u, $q - $u - 1, pid - tid - 2, $i); exit(); }')" \
	"294967301 294967300 fffffffe fffffffc" "%u and %x of differences print 32 bits"
is "$(compare records)" "" "the fields of all records, and their text, are what the program passed"
is "$(compare maps)" "" "so are the maps at the end: counts, sums, histograms, keys with brackets and newlines"
is "$(compare prints)" "" "what an interval prints is there, with its time, in order"
"$btgen" run -q -f json --bpftrace "$bpftrace" -e 'BEGIN { @k[strftime("%Y", nsecs)] = 1; @v = strftime("%Y", nsecs);
	@t[1, strftime("%Y", nsecs)] = (1, strftime("%Y", nsecs)); exit(); }' </dev/null 2>/dev/null | grep '"map"' | sort >"$tmp/times"
is "$(cat "$tmp/times")" "$(sed "s/YEAR/\"$(date +%Y)\"/g" <<-E3
	{"map": "@k", "entries": [{"key": [YEAR], "value": 1}]}
	{"map": "@t", "entries": [{"key": [1, YEAR], "value": [1, YEAR]}]}
	{"map": "@v", "entries": [{"value": YEAR}]}
E3
)" "what strftime() makes is a string in maps, also where it is all digits"

printf '%s\n' '#include <unistd.h>' 'struct s { int two[2]; unsigned char four[2]; };' \
	'__attribute__((noipa)) int leaf(struct s *s) { return s->two[0]; }' '__attribute__((noipa)) int root(struct s *s) { return leaf(s) + 1; }' \
	'int main(void) { struct s s = {{-1, 70000}, {200, 7}}; return root(&s) + root(&s); }' >"$tmp/arrays.c"
gcc -g -O0 -fno-omit-frame-pointer -o "$tmp/arrays" "$tmp/arrays.c" || exit 1
"$live_sh" -q -f json -c "$tmp/arrays" -e 'uprobe:__EXE__:leaf { printf("from %s", ustack); @k[args.s->two] = 1; @v = args.s->two; @u = args.s->four; }' \
	>"$tmp/arrays.json" 2>/dev/null
is "$(jq -c 'select(.map) | .map, .entries' "$tmp/arrays.json" | paste -sd' ')" \
	'"@k" [{"key":[[-1,70000]],"value":1}] "@u" [{"value":[200,7]}] "@v" [{"value":[-1,70000]}]' "arrays in maps are arrays"
is "$(jq -c 'select(.text) | .fields.ustack | type, (length > 2)' "$tmp/arrays.json" | sort -u | paste -sd' ')" '"array" true' \
	"a stack that a printf() prints is an array of its frames"
"$python" "$top/tests/schema.py" "$tmp/arrays.json" >"$tmp/said"
is "$?$(grep -v '^[0-9]* record' "$tmp/said")" 0 "... which the schema allows"
done_testing
