#!/usr/bin/env bash
# The manual pages: every option that a command's --help names is in its list, in both forms, and no other.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# The words with which the lines of an option table begin: `  -o, --output FILE   write there` is -o and --output
help_options() {
	sed -nE 's/^ {2,6}(-.*)/\1/p' | sed -E 's/ {2,}.*//' | grep -oE -- '(^|[ ,])--?[a-zA-Z][a-z-]*' | tr -d ' ,' | sort -u
}

man_options() {
	grep -oE 'Fl -?[a-zA-Z][a-z-]*' "$1" | sed 's/^Fl /-/' | sort -u
}

# Of a list's lines, .It Fl p , -pid , x , Fl -exe Ar file, each option
list_options() { # PAGE HEADING
	awk -v heading="$2" '
		/^\.S[sh] / { is_there = $0 == heading }
		is_there && $1 == ".It" {
			for (i = 2; i <= NF; i++)
				if ($i == "Fl")
					is_option = 1
				else if ($i ~ /^[A-Z][a-z]$/)
					is_option = 0
				else if (is_option && $i ~ /^-?[a-zA-Z][a-z-]*$/)
					print "-" $i
			is_option = 0
		}' "$top/docs/man/$1" | sort -u
}

# A command may list an option that the page has described before by its short form alone: its long form.
described=$(sed '/^\.Ss btgen expand/,$d' "$top/docs/man/btgen.1" | grep -oE 'Fl [a-zA-Z] , Fl -[a-z-]+' | sed 's/^Fl /-/; s/ , Fl / -/')
command_options() { # CMD
	list_options btgen.1 ".Ss btgen $1" | awk 'NR == FNR { long[$1] = $2; next } { print } $1 in long { print long[$1] }' <(echo "$described") - | sort -u
}

for cmd in $("$btgen" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
	"$btgen" "$cmd" --help | help_options >"$tmp/$cmd"
	[ "$cmd" = run ] || cat "$tmp/$cmd" # which is bpftrace.sh(8)
	ok "btgen(1) has a section about $cmd" grep -q "^\.Ss btgen $cmd\$" "$top/docs/man/btgen.1"
	ok "... and a synopsis" test "$(sed '/^\.Sh DESC/q' "$top/docs/man/btgen.1" | grep -x -A 1 '\.Nm' | grep -cx "\.Cm $cmd")" = 1
	[ "$cmd" = run ] || is "$(command_options "$cmd")" "$(grep -vxE -- '-h|--help' "$tmp/$cmd")" "... and lists its options"
done >"$tmp/out"
grep -E '^((not )?ok|# ) ' "$tmp/out"
{
	grep '^-' "$tmp/out"
	echo --version
} | sort -u >"$tmp/btgen"
is "$(man_options "$top/docs/man/btgen.1" | comm -13 - "$tmp/btgen")" "" "btgen(1) describes every option of --help"
is "$(man_options "$top/docs/man/btgen.1" | comm -23 - <(sort -u "$tmp/btgen" "$tmp/run"))" "" "... and no other, but those of bpftrace.sh"

"$top/scripts/bpftrace.sh" --help | help_options >"$tmp/wrapper"
is "$(man_options "$top/docs/man/bpftrace.sh.8" | grep -vx -- -- | comm -13 - "$tmp/wrapper")" "" \
	"bpftrace.sh(8) describes every option of --help"
is "$(list_options bpftrace.sh.8 '.Sh OPTIONS')" "$(cat "$tmp/wrapper")" "... and lists it, in both forms"
is "$(man_options "$top/docs/man/bpftrace.sh.8" | grep -vx -- -- | comm -23 - "$tmp/wrapper")" "" "... and no other"
is "$(man_options "$top/docs/man/btgen-report.1" | grep -vxE -- '-(f|-stack)')" "$("$top/scripts/btgen-report" --help | help_options)" \
	"btgen-report(1) describes the options of its --help"
is "$(grep -ohE '\.Xr (btgen[a-z-]*|bpftrace\.sh) [1-8]' "$top"/docs/man/* | sort -u | while read -r _ name section; do
	[ -e "$top/docs/man/$name.$section" ] || echo "$name($section)"
done)" "" "pages refer to pages that are there"

# Ql, Qq and Op last to the end of their line: words that follow would be in the quotes or brackets, too. All of a pragma is quoted.
is "$(cd "$top/docs/man" && grep -nE '^\.(It|Pq) .*((Ql|Qq) .* (No|Cm) |Op .* , Fl )' ./* | grep -v 'It Ql #pragma ')" "" \
	"quotes and brackets end before the words after them"

# Several things of one kind are quoted each by itself, or not at all.
is "$(cd "$top/docs/man" && grep -nE '^\.(It |Pq )?(Ql|Qq|Dq) [^ ]+ , [^ ]' ./*)" "" "no two things are in one pair of quotes"

# Each macro of the header that a program may use is explained.
is "$(sed '/^#ifndef BTGEN_USDT_H/,$d' "$top/include/btgen/usdt.h" | grep -oE '\bUSDT_[A-Z_]+' | sort -u |
	while read -r name; do grep -q "\\b$name\\b" "$top/docs/man/btgen-usdt.3" || echo "$name"; done)" "" \
	"btgen-usdt(3) names every macro that the header offers"
done_testing
