#!/usr/bin/env bash
# A terminal as the output: what the traced program prints into it drives nothing. A pipe or file gets its bytes as they are.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

# Each of its strings as an argument, in a struct, and printed: by bytes, without an end.
cat >"$tmp/say.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
#include <string.h>
struct box { char text[24]; };
static const char *const all[] = {
    "osc \033]0;title\007 end", "cls \033[2J end", "cr \r end", "del \177 end", "c1 \233" "2J end", "c1 \302\233" "2J end",
    "bidi \342\200\256 end", "line \342\200\250 end", "bad \377\303 end", "long \300\257 end", "good \303\244\342\202\254\360\237\230\200 end",
    "tab \t end", "back\\slash \"quoted\" end", "ends \303", NULL};
int main(void)
{
	for (int i = 0; all[i]; i++) {
		struct box b = {{0}}, *box = &b;
		const char *text = all[i];
		char byte = strchr(text, ' ')[1];
		strcpy(b.text, text);
		USDT_PROBE(say, it, text, box, byte);
		puts(text);
	}
	return 0;
}
E2
gcc -O1 -g -I"$top/include" -o "$tmp/say" "$tmp/say.c" || exit 1
"$tmp/say" >"$tmp/said"

# The same as it is to be shown: what Unicode calls a control or format character or a separator of lines, and bytes that are none
cat >"$tmp/shown.py" <<'E2'
import sys
import unicodedata
for line in sys.stdin.buffer.read().decode(errors="surrogateescape").split("\n")[:-1]:
    print("".join("".join(f"\\x{byte:02x}" for byte in c.encode(errors="surrogateescape"))
                  if c != "\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in line))
E2
export LC_ALL=C.UTF-8
python3 "$tmp/shown.py" <"$tmp/said" >"$tmp/shown"
is "$(diff -a "$tmp/said" "$tmp/shown" | grep -ac '^>')" 11 "(eleven of the strings have something that would drive a terminal)"

# printed TERMINAL OPTION...: what a trace with these options prints. The program's own output goes elsewhere.
printed() {
	local terminal=()
	[ "$1" = pipe ] || terminal=("$top/tests/on_terminal.py")
	"${terminal[@]}" "$live_sh" -q "${@:2}" -c "sh -c '$tmp/say >/dev/null'" 2>"$tmp/messages" | sed '/^$/d'
}
# shows CLAIM SED OPTION...: the lines of the trace, with what SED leaves of them, are the strings, as the output wants them
shows() {
	local claim=$1 edit=$2
	shift 2
	LC_ALL=C sort "$tmp/shown" >"$tmp/want"
	printed terminal "$@" | LC_ALL=C sed -E "$edit" | LC_ALL=C sort >"$tmp/got"
	ok "$claim: a terminal gets what is printable" cmp "$tmp/got" "$tmp/want" || diff -a "$tmp/got" "$tmp/want" | cat -v | sed 's/^/# /'
	LC_ALL=C sort "$tmp/said" >"$tmp/want"
	printed pipe "$@" | LC_ALL=C sed -E "$edit" | LC_ALL=C sort >"$tmp/got"
	ok "... and a pipe gets the bytes" cmp "$tmp/got" "$tmp/want" || diff -a "$tmp/got" "$tmp/want" | cat -v | sed 's/^/# /'
}
shows "a string" '' -e 'usdt:__EXE__:it { printf("%s\n", str(arg0)); }'
shows "... in a variable, with a width" 's/ *\|$//' -e 'usdt:__EXE__:it { $s = str(arg0); printf("%-40s|\n", $s); }'
shows "... with print()" '' -e 'usdt:__EXE__:it { print(str(arg0)); }'
shows "... in a tuple" 's/^\((.*), 1\)$/\1/' -e 'usdt:__EXE__:it { print((str(arg0), 1)); }'
shows "the text of a struct" '' -e 'usdt:__EXE__:it { printf("%s\n", ((struct box *)arg1)->text); }'
shows "the key of a map" 's/^@\[(.*)\]: 1$/\1/' -e 'usdt:__EXE__:it { @[str(arg0)] = count(); }'
shows "... of which a part has a name" 's/^@\[(.*), 3\]: 1$/\1/' -e 'usdt:__EXE__:it { @[str(arg0), 3] = count(); }'
shows "the value of a map" 's/^@\[[0-9]+\]: //' -e 'usdt:__EXE__:it { @[nsecs] = str(arg0); }'
shows "a line with its head, -s" 's/^.* say:it: //' -s -e 'usdt:__EXE__:it { printf("%s\n", str(arg0)); }'
shows "a line in pieces, --time" 's/^[0-9.]* <//; s/>$//' --time mono -e 'usdt:__EXE__:it { printf("<"); printf("%s", str(arg0)); printf(">\n"); }'
shows "what is kept" '/^==>/d' --keep 60s -e 'usdt:__EXE__:it { printf("%s\n", str(arg0)); }'
shows "a file that the script prints" '/^@n: /d' -e 'BEGIN { cat("'"$tmp/said"'"); } usdt:__EXE__:it { @n = count(); } END { clear(@n); }'

is "$(printed terminal -e 'usdt:__EXE__:it { printf("%c|", arg2); }')" '\x1b|\x1b|\x0d|\x7f|\x9b|\xc2|\xe2|\xe2|\xff|\xc0|\xc3|	|"|\xc3|' "characters, one by one"
is "$(printed terminal -e 'usdt:__EXE__:it { printf("\033[1m%s\033[0m\n", str(arg0)); }' | head -n 1)" $'\033[1mosc \\x1b]0;title\\x07 end\033[0m' \
	"the script's own text drives it"
is "$(printed terminal -o /dev/stdout -e 'usdt:__EXE__:it { printf("%s\n", str(arg0)); }' | cat -v)" "$(cat -v "$tmp/shown")" "-o with a terminal's name, too"
is "$(printed terminal -f json -e 'usdt:__EXE__:it { printf("%s\n", str(arg0)); }' | jq -r 'select(.fields) | .text' | head -n 2 | cat -v)" \
	"$(head -n 2 "$tmp/said" | cat -v)" "JSON, which escapes in its own way, is the same there"
done_testing
