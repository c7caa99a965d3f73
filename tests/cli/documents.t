#!/usr/bin/env bash
# What docs/tour.md, docs/new-bpftrace.md and CONTRIBUTING.md say of the source is there: files, and functions in the files named before them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit

# A word in backquotes is a path when it has a slash and begins with a folder of ours or of gen/, a file when it is a name and
# an ending, a function when it ends in (). A path may be a pattern; NAME in it stands for anything.
for doc in docs/tour.md docs/new-bpftrace.md CONTRIBUTING.md; do
	n=0 missing='' file=''
	while read -r word; do
		case $word in
		*' '*) continue ;;
		gen/* | tests/* | scripts/* | docs/* | bpf/* | include/*)
			compgen -G "${word//NAME/*}" >/dev/null || missing+=" $word"
			file=$word
			;;
		[a-z]*/*.[ch]) [ -e "gen/$word" ] || missing+=" $word" ;;
		*[a-z]'()')
			# shellcheck disable=SC2086 # CONTRIBUTING may name a function of any file
			grep -qE "^[a-z].*\b${word%()}\(" ${file:-gen/*/*.[ch] tests/lib.sh} || missing+=" $word in $file"
			;;
		*.[ch] | *.t | *.sh | *.py | *.md)
			[ -e "$word" ] || [ -n "$(find gen tests docs -name "${word//NAME/*}" -print -quit)" ] || missing+=" $word"
			;;
		*) continue ;;
		esac
		n=$((n + 1))
	done < <(grep -v '^    ' "$doc" | grep -oE '`[^`]+`' | tr -d '`')
	is "$missing" "" "$doc: the files and functions that it names are there"
	ok "$doc names some ($n)" test $n -gt 20
done
is "$(awk -F'|' '/^\| [0-9]+ /{ if ($2 > 12) print }' docs/tour.md)" "" "no walk has more than twelve stops"

# The first page is short, and docs/README.md leads to every page and manual.
ok "README.md has at most 120 lines" test "$(wc -l <README.md)" -le 120
is "$(cd docs && for page in *.md man/* */README.md; do
	case $page in README.md) ;; *) grep -qF "]($page)" README.md || echo "$page" ;; esac
done)" "" "docs/README.md names every page"

# The table of layers is what lint checks.
table=$(sed -nE 's/^\| `gen\/([a-z]+)` \|.*\| (.*) \|$/\1 \2/p' CONTRIBUTING.md | tr -d ',`' | sed 's/ nothing$//' | grep -v '^cmd ')
lint=$(sed -n 's/^layer \([a-z]\)/\1/p' tests/lint.sh)
pairs() { awk '{ print $1, "-"; for (i = 2; i <= NF; i++) print $1, $i }' | sort; }
is "$(pairs <<<"$table")" "$(pairs <<<"$lint")" "CONTRIBUTING.md and lint.sh know the same layers, and what each may include"
done_testing
