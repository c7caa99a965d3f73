# Sourced by tests: what btgen types prints, held against gdb and compilers.
# shellcheck shell=bash disable=SC2154

layouts_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sample=${TYPES_SAMPLE:-200}

# choose FILE: names of up to $sample structs, enums and unions each, in $tmp/kinds. Names of lambdas are no names.
choose() {
	local kind
	"$btgen" types -x "$1" -l 2>"$tmp/err" | grep -vE '<lambda|\{lambda|_ZNK?[0-9]' >"$tmp/all"
	for kind in struct enum union; do
		grep "^$kind " "$tmp/all" | shuf --random-source=<(yes 42) -n "$sample"
	done >"$tmp/kinds"
}

# compare CLAIM FILE LEAST [DIRECTORY]: sizes, offsets and enumerators are gdb's, and so they are in the printed C, which
# gcc and clang compile. A damaged input must not pass: at least LEAST types are compared.
compare() {
	local claim=$1 file=$2 least=$3 dir=${4:-$tmp} cc rc=0 refused=0
	rm -f "$tmp/want" "$tmp/asserts.c" "$tmp/h.h"
	choose "$file"
	mapfile -t names <"$tmp/kinds"
	"$btgen" types -x "$file" --json "${names[@]}" 2>"$tmp/err" | python3 "$layouts_here/btgen_layout.py" >"$tmp/got"
	"$btgen" types -x "$file" --assert --keep-going -o "$tmp/h.h" "${names[@]}" 2>"$tmp/err"
	cp "$tmp/kinds" "$tmp/names"
	# gdb knows C++ types without their keyword only
	grep -q :: "$tmp/kinds" && sed -i -E 's/^(struct|union|enum) //' "$tmp/names"
	sed -i -E 's/^class /struct /' "$tmp/got"
	(cd "$dir" && gdb -nx -batch -ex "python names, out = '$tmp/names', '$tmp/want'" -x "$layouts_here/gdb_layout.py" "$file") >"$tmp/gdb.err" 2>&1
	python3 "$layouts_here/gdb_verdict.py" "$tmp/kinds" "$tmp/want" "$tmp/got" "$tmp/err" "$tmp/h.h" "$tmp/asserts.c" >"$tmp/verdict" || rc=1
	grep '^#' "$tmp/verdict" | cut -c 1-400
	local n
	n=$(sed -n 's/^# \([0-9]*\) structs, \([0-9]*\) enums, \([0-9]*\) unions.*/\1+\2+\3/p' "$tmp/verdict")
	[ $((${n:-0})) -ge "$least" ] || { rc=1 && printf '#   only %s of at least %s compared: %s\n' "${n:-0}" "$least" "$(head -n 2 "$tmp/err" "$tmp/gdb.err")"; }
	tap_result $rc "$claim: layouts and values equal gdb's"
	rc=0
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		$cc -w -fsyntax-only "$tmp/asserts.c" >"$tmp/cc.err" 2>&1 || { rc=1 && sed 's/^/#   /' "$tmp/cc.err" | head -n 8; }
	done
	n=$(cat "$tmp/h.h" "$tmp/asserts.c" 2>/dev/null | grep -c _Static_assert)
	[ "$n" -ge "$least" ] || rc=1
	refused=$(grep -c 'cannot be written' "$tmp/err")
	[ "$refused" = 0 ] || sed -n '/cannot be written/s/^/#   /p' "$tmp/err" | head -n 5
	tap_result $rc "$claim: ... and those of the printed C, for gcc and clang ($n assertions)"
}
