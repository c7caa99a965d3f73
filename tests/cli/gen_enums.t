#!/usr/bin/env bash
# make gen-enums: the tables of a program have the names and numbers of its source, as its compiler sees them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

gen_enums() {
	make -s --no-print-directory -C "$top" BUILD="$build" gen-enums "$@" 2>"$tmp/err"
}

# A C program that prints a table of each enum in bpf/enums.conf, out of the target's own headers
{
	printf '#include <stdio.h>\n#include "nvmf.h"\nint main(void)\n{\n'
	grep -v '^ *#' "$top/bpf/enums.conf" | while read -r map type prefix; do
		[ -n "$map" ] || continue
		sed -n "/^enum $type {/,/^}/{s/\\/\\*.*\\*\\///;s/^[[:space:]]*\\([A-Z_0-9]*\\).*/\\1/p}" "$targets"/*.h | grep . |
			while read -r name; do
				text=$name
				IFS='|' read -ra words <<<"$prefix"
				for word in "${words[@]}"; do # the first that fits
					[ "$text" != "$name" ] || text=${name#"$word"}
				done
				printf 'printf("@%s[%%lld] = \\"%s\\";\\n", (long long)%s);\n' "$map" "$text" "$name"
			done
	done
	printf 'return 0;\n}\n'
} >"$tmp/print.c"
gcc -I"$targets" -I"$top/include" -DUSDT_DISABLE -o "$tmp/print" "$tmp/print.c" || skip_all "the target's headers do not compile"
"$tmp/print" | sort >"$tmp/want"
is "$(grep -oE '^@(subsystem|target|trtype)' "$tmp/want" | sort -u | tr '\n' ' ')" "@subsystem @target @trtype " \
	"the headers have enums that bpf/enums.conf lists"

is "$(gen_enums EXE="$targets/nvmf_tgt" | sed -n 's/^\t@/@/p' | grep -v 4294967 | sort)" "$(cat "$tmp/want")" \
	"the tables of nvmf_tgt are what a C program prints"
is "$(grep -E '(error|warning):' "$tmp/err" | grep -v 'in this program; skipped')" "" "... without a complaint"
mkdir "$tmp/it's a folder"
cp "$targets/nvmf_tgt" "$tmp/it's a folder"
gen_enums EXE="$tmp/it's a folder/nvmf_tgt" OUT="$tmp/it's a folder/enums.bt"
is "$(sed -n 's/^\t@/@/p' "$tmp/it's a folder/enums.bt" | grep -v 4294967 | sort)" "$(cat "$tmp/want")" \
	"OUT= writes them to a file, whatever its folder is called"
printf 'state nvmf_tgt_state\n' >"$tmp/my.conf"
is "$(gen_enums EXE="$targets/nvmf_tgt" CONF="$tmp/my.conf" | grep -c '@state\[.*"NVMF_TGT_')" \
	"$(grep -c '@target' "$tmp/want")" "CONF= takes another list"

gen_enums
is $? 2 "without EXE it is a mistake in the command line"
like "$(cat "$tmp/err")" '^make gen-enums: say which program: EXE=path' "... and the message says what to say"
not_ok "a program without debug information fails" gen_enums EXE="$(command -v true)" OUT="$tmp/none"
not_ok "... and writes nothing" test -e "$tmp/none"
if can_trace; then
	like "$("$bpftrace" -e "$(cat "$tmp/it's a folder/enums.bt") interval:ms:1 { exit(); }" 2>&1)" 'Attach(ing|ed) [0-9]+ probe' \
		"bpftrace accepts what was written"
else
	skip_tracing "bpftrace accepts what was written"
fi
done_testing
