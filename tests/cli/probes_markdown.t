#!/usr/bin/env bash
# btgen probes --markdown: the reference of probes, and that the one in docs/ is up to date.
#
# After a change: build/btgen probes --markdown -x tests/targets/nvmf_tgt >docs/probes-nvmf_tgt.md
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1

# sections: what stands below each heading on one line with it, in the order of the headings
sections() { awk '/^## / { print text; text = "" } { text = text " | " $0 } END { print text }' | sort; }

if readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk'; then
	got=$("$btgen" probes --markdown --scripts bpf -x tests/targets/nvmf_tgt 2>&1)
	# Each compiler lays functions out in another order, which is that of the probes.
	is "$(sections <<<"$got")" "$(sections <docs/probes-nvmf_tgt.md)" "docs/probes-nvmf_tgt.md is what the program under test has"
	is "$(grep -c '^Fires when: ' <<<"$got") $(grep -c '^## ' <<<"$got")" "50 50" "each of its 50 probes says when it fires"
	# Scripts by another way: the attach points that can be seen with the naked eye.
	for script in nvmf nvme sched; do
		is "$(awk -v s="\`$script.bt\`" '/^## /{p=$2} /^- used by: /&&index($0,s){gsub(/`/,"",p);print p}' <<<"$got" | sort)" \
			"$(sed -nE 's/^usdt:__EXE__:(spdk:[a-z_]+).*/\1/p' bpf/$script.bt | sort -u)" \
				"the probes that $script.bt is named at are those it has"
	done
else
	skip "docs/probes-nvmf_tgt.md" "built with --without-usdt"
fi

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
USDT_DOC(app, lazy, "*never* | <b>on</b> a_b _c_ `d`");
int main(int argc, char **argv)
{
	USDT_PROBE_LAZY(app, lazy, USDT_ARG(argc, "count", "of | words", "1"), argv[0]);
	USDT_PROBE(app, plain);
	USDT_PROBE(other, lazy, argc);
	return 0;
}
END
"${CC:-gcc}" -O1 -g -Iinclude -o "$tmp/app" "$tmp/app.c" || exit 1
mkdir "$tmp/bt"
echo '#define P(n) usdt:__EXE__:app:n
P(lazy) { }' >"$tmp/bt/b.bt"
echo 'usdt:__EXE__:pl* { } // usdt:__EXE__:app:lazy' >"$tmp/bt/a.bt"
echo 'usdt:__EXE__:app:lazy { }' >"$tmp/bt/c.txt"
# entry PROBE: what the reference says about it
entry() {
	(cd "$tmp" && "$btgen" probes --markdown --scripts bt -x app "$1" 2>&1) | sed 1,2d
}
is "$(entry app:lazy)" '## `app:lazy`

Fires when: \*never\* \| \<b>on\</b> a_b \_c\_ \`d\`

| | type | name | |
|---|---|---|---|
| arg0 | `int` | `count` | of \| words; in 1 |
| arg1 | `char *` | `argv` |  |

- in: `main()` of '"$tmp/app.c"'
- used by: `b.bt`
- has a semaphore: the program knows when it is traced' "markup in names and sentences is text"
is "$(entry app:plain)" '## `app:plain`

No arguments.

- in: `main()` of '"$tmp/app.c"'
- used by: `a.bt`' "scripts count by their attach points after preprocessing, patterns too"
unlike "$(entry other:lazy)" 'used by' "those of another provider do not"
echo 'usdt:__EXE__:app:lazy {' >"$tmp/bt/b.bt"
got=$("$btgen" probes --markdown --scripts "$tmp/bt" -x "$tmp/app" 2>&1)
is $? 1 "a script that cannot be read: status 1"
like "$got" 'b.bt:1:[0-9]+: error: ' "and an error that says where"

mkdir "$tmp/empty"
# How long strings can be, where the compiler knows: arrays of char, wherever they are; of several sites the longest.
cat >"$tmp/long.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
struct user { char name[24], *home; unsigned char key[8]; struct { char text[3][10]; } lines; };
static char greeting[] = "hello";
int main(int argc, char **argv)
{
	struct user u = {.home = argv[0]}, *p = &u;
	char local[argc > 100 ? 1 : 40], fixed[40] = "";
	local[0] = 0;
	USDT_PROBE(len, known, p->name, USDT_ARG(u.lines.text[argc - 1], "line"), greeting, fixed, *(&u.name));
	USDT_PROBE(len, unknown, p->home, argv[0], "literal", u.key, local, &u.name[2], fixed + 1);
	USDT_PROBE(len, most, u.name);
	USDT_PROBE(len, most, fixed);
	USDT_PROBE(len, some, u.name);
	USDT_PROBE(len, some, u.home);
	return fixed[0] + local[0];
}
END
for cc in gcc clang g++; do
	command -v $cc >/dev/null || { skip "$cc: lengths of strings" "no $cc"; continue; }
	x=c
	[ $cc != g++ ] || x=c++
	$cc -O1 -g -w -x $x -Iinclude -o "$tmp/long" "$tmp/long.c" || ok "$cc compiles" false
	is "$("$btgen" probes --markdown --scripts "$tmp/empty" -x "$tmp/long" |
		sed -n 's/^## //p; s/^| arg\([0-9]\).* at most \([0-9]* bytes\).*/\1: \2/p')" '`len:known`
0: 23 bytes
1: 9 bytes
2: 5 bytes
3: 39 bytes
4: 23 bytes
`len:unknown`
`len:most`
0: 39 bytes
`len:some`' "$cc: the length of a string in an array of char, and of no other"
done
got=$("$btgen" probes --markdown --scripts "$tmp/none" -x "$tmp/app" 2>&1)
is "$?:$got" "1:btgen: error: cannot read the folder $tmp/none: No such file or directory" "a folder that is not there is an error"
done_testing
