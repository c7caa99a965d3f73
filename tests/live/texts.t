#!/usr/bin/env bash
# A text is one key, wherever it comes from: a literal, a choice, a variable. The program prints each key that it means.
# A script limits its own strings.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/app.c" <<'END_C'
#include <btgen/usdt.h>
#include <stdio.h>

static void say(const char *map, const char *text) { printf("@%s[%s]\n", map, text); }

int main(void)
{
	const char *sp = "beta gamma";
	if (getchar() != 'x')
		return 1;
	for (int i = 0; i < 5; i++) {
		USDT_PROBE(t, literal, i);
		say("literal", i == 1 ? "one" : "other");
		USDT_PROBE(t, choice, i);
		say("literal", i == 2 ? "one" : "other");
		USDT_PROBE(t, variable, i);
		say("variable", "one"), say("variable", i == 2 ? "one" : "other");
		say("again", i == 2 ? "one" : "other"), say("again", "a longer text");
		USDT_PROBE(t, part, i);
		say("part", i == 2 ? "x, 1" : "yyyy, 1"), say("part", "x, 1");
		USDT_PROBE(t, map, i);
		say("map", i == 1 ? "x" : "yyy"), say("map", "x");
		USDT_PROBE(t, inner, i);
		say("inner", i > 3 ? "big" : i > 1 ? "middle" : "low");
		USDT_PROBE(t, read, i, sp);
		say("read", i > 2 ? sp : "none"), say("read", "none");
		USDT_PROBE(t, name, i);
		say("name", i > 2 ? "app" : "none"), say("name", "none");
		USDT_PROBE(t, copied, i);
		say("first", "app"), say("second", "app"), say("third", "app");
	}
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
END_C
gcc -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
cat >"$tmp/keys.bt" <<'END'
usdt:__EXE__:t:literal { if (args.i == 1) { @literal["one"] = count(); } else { @literal["other"] = count(); } }
usdt:__EXE__:t:choice { @literal[args.i == 2 ? "one" : "other"] = count(); }
usdt:__EXE__:t:variable { $x = args.i == 2 ? "one" : "other"; @variable["one"] = count(); @variable[$x] = count();
	@again[$x] = count(); @again["a longer text"] = count(); }
usdt:__EXE__:t:part { @part[args.i == 2 ? "x" : "yyyy", 1] = count(); @part["x", 1] = count(); }
usdt:__EXE__:t:map { @held[1] = args.i == 1 ? "x" : "yyy"; @map[@held[1]] = count(); @map["x"] = count(); }
usdt:__EXE__:t:inner { @inner[args.i > 3 ? "big" : args.i > 1 ? "middle" : "low"] = count(); }
usdt:__EXE__:t:read { @read[args.i > 2 ? str(args.sp) : "none"] = count(); @read["none"] = count(); }
usdt:__EXE__:t:name { @name[args.i > 2 ? comm : "none"] = count(); @name["none"] = count(); }
usdt:__EXE__:t:copied { $c = comm; @first[$c] = count(); @second[$c] = count(); @third[$c]++; printf("%s\n", $c); }
interval:s:100 { clear(@held); }
END
live_start "$tmp/app"
live_round $live_pid "$tmp/keys.bt"
grep '^@' "$tmp/answers" | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/\2: \1/' | sort >"$tmp/want"
grep '^@' "$tmp/trace" | sort >"$tmp/got"
for map in literal variable again part map inner read name first second third; do
	is "$(grep "^@$map\[" "$tmp/got")" "$(grep "^@$map\[" "$tmp/want")" "keys of @$map are those that the program says"
done
is "$(grep -cx app "$tmp/trace")" 5 "a variable that was a key has its text still"

echo 'usdt:__EXE__:t:choice /@n[args.i == 2 ? "one" : "other"] < 3/ { @n["one"]++; }' >"$tmp/where.bt"
like "$("$btgen" check --for 0.23 -x "$tmp/app" "$tmp/where.bt" 2>&1)" "where.bt:1:27: error: .*as a key here" \
	"a choice where no statement can be in front of it is refused at its place"

# What compares strings is a number: in a choice, a sum, a key beside numbers
cat >"$tmp/compare.bt" <<'END_BT'
usdt:__EXE__:t:read /args.i == 0/ { $n = args.i - 1; $c = $n < 0 ? strncmp(str(args.sp, 16), "beta", 4) == 0 : 7;
	$d = $n < 0 ? 7 : strncmp(str(args.sp, 16), "beta", 4); $e = $n < 0 ? str(args.sp, 16) != "beta" : 7; printf("%d %d %d\n", $c, $d, $e); }
usdt:__EXE__:t:read /args.i == 0/ { $c = args.i == 0 ? strcontains(str(args.sp, 16), "gam") : 7; printf("%d\n", $c); }
usdt:__EXE__:t:read /args.i == 0/ { @s = sum(strcontains(str(args.sp, 16), "gam")); @m = max(strcontains(str(args.sp, 16), "no")); }
usdt:__EXE__:t:read /args.i == 0/ { @k[strcontains(str(args.sp, 16), "gam")] = 1; @k[args.i + 5] = 2; }
usdt:__EXE__:t:read /args.i == 0/ { @p = strcontains(str(args.sp, 16), "gam") + 3; }
END_BT
for part in 1,2 3 4 5 6; do
	live_start "$tmp/app"
	sed -n "${part}p" "$tmp/compare.bt" >"$tmp/part.bt"
	live_trace $live_pid "$tmp/part.bt" || continue
	live_say x
	exec 8>&-
	live_wait
	grep . "$tmp/trace"
done | sort >"$tmp/compared"
printf '%s\n' '1 7 1' 1 '@s: 1' '@m: 0' '@k[1]: 1' '@k[5]: 2' '@p: 4' | sort >"$tmp/wanted"
is "$(cat "$tmp/compared")" "$(cat "$tmp/wanted")" "a comparison of strings is 0 or 1 in a choice, a sum and a key"

# A text as the only key of a map that is added to: bpftrace reads it twice.
for body in '$s = str(args.sp); @v[$s] += 2; @v[$s] -= -3;' '@v[args.i == 0 ? "yes" : "no"] |= 6;' '$s = comm; @v[$s] = 5; @v[$s] /= 2; @v[$s]++;'; do
	live_start "$tmp/app"
	live_trace $live_pid -e "usdt:__EXE__:t:read /args.i == 0/ { $body }"
	live_say x
	exec 8>&-
	live_wait
	grep . "$tmp/trace"
done >"$tmp/compared"
is "$(cat "$tmp/compared")" $'@v[beta gamma]: 5\n@v[yes]: 6\n@v[app]: 3' "a text is a key in @map[text] += x, too"

# In a loop the first round frees it: with a second key it is copied.
for loop in 'unroll (2) { @n[args.i == 0 ? "one" : "two"] += 1; }' '$s = comm; unroll (2) { @n[$s] += 1; }' '$i = 0; while ($i < 2) { $i++; $s = comm; @n[$s] = 1; }'; do
	like "$("$btgen" check --for 0.17 -x "$tmp/app" -e "usdt:__EXE__:t:read { $loop }" 2>&1)" ':1:[0-9]+: error: bpftrace 0.17 frees a string that is the only key of a map' \
		"0.17 is not given a text as the only key in a loop: $loop"
done
live_start "$tmp/app"
live_trace $live_pid -e 'usdt:__EXE__:t:read /args.i == 0/ { unroll (2) { @n[args.i == 0 ? "one" : "two", 0] += 1; } }'
live_say x
exec 8>&-
live_wait
is "$(grep . "$tmp/trace" | sort)" "@n[one, 0]: 2" "a text is one of two keys in a loop"

# settings BLOCK WANT: what the script prints of "beta gamma" with a config block
settings() {
	live_start "$tmp/app"
	echo "config = { $1 } usdt:__EXE__:t:read /args.i == 0/ { printf(\"%s\\n\", str(args.sp)); }" >"$tmp/set.bt"
	live_trace $live_pid "$tmp/set.bt" || return 1
	live_say x
	exec 8>&-
	live_wait
	is "$(cat "$tmp/trace")" "$2" "config = { $1 }"
}
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
if [ "$version" -ge 23 ]; then
	cut='beta gam'
	[ "$version" -ge 27 ] || cut='beta ga' # its end counts
	settings 'max_strlen = 8' "$cut..."
	settings 'BPFTRACE_MAX_STRLEN = 0x8; max_map_keys = 3' "$cut..."
	settings 'max_strlen = 8; str_trunc_trailer = "~"' "$cut~"
	settings 'max_strlen = 16; str_trunc_trailer = "~"' "beta gamma"
else
	skip "settings of a config block" "bpftrace 0.$version has none"
fi
done_testing
