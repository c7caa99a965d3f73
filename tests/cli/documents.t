#!/usr/bin/env bash
# The documents: files and functions that they name exist, links work, and sentences are short and plain.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit

# A word in backquotes is a path when it has a slash and begins with a folder of ours or of gen/, a file when it is a name and
# an ending, a function when it ends in (). A path may be a pattern; NAME in it stands for anything.
for doc in docs/dev/tour.md docs/dev/new-bpftrace.md CONTRIBUTING.md; do
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
is "$(awk -F'|' '/^\| [0-9]+ /{ if ($2 > 12) print }' docs/dev/tour.md)" "" "no walk has more than twelve stops"

# Comments name files, too. These are of bpftrace, libbpf and Linux, or stand for others.
is "$(
	python3 - <<'END'
import glob, re
others = ("linux/", "kernel/", "usdt.c", "usdt.bpf.h", "definitions.h", "cmd_NAME.c")
known = [path for folder in ("gen", "tests", "scripts", "include") for path in glob.glob(folder + "/**", recursive=True)]
for path in glob.glob("gen/*/*.[ch]"):
    with open(path) as file:
        comments = " ".join(re.findall(r"/\*.*?\*/|//[^\n]*", file.read(), re.S))
    for name in re.findall(r"(?<![\w./<*-])[a-z][\w./-]*\.(?:[cht]|py|sh)\b", comments):
        if not name.removeprefix("include/").startswith(others) and not any(("/" + k).endswith("/" + name) for k in known):
            print(path, name)
END
)" "" "comments of gen/ name files that are there"

# The first page is short, and docs/README.md leads to every page and manual.
ok "README.md has at most 120 lines" test "$(wc -l <README.md)" -le 120
is "$(cd docs && for page in *.md man/* */README.md; do
	case $page in README.md) ;; *) grep -qF "]($page)" README.md || echo "$page" ;; esac
done)" "" "docs/README.md names every page"

# Links lead to files and headings that are there.
mapfile -t pages < <(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*')
is "$(tests/links.py "${pages[@]}")" "" "every link of ${#pages[@]} pages leads somewhere"

# What a user reads is short sentences in plain English: tests/prose.py has the length and the habits. One page is made of
# the messages of btgen. A sentence that is to stay as it is goes here.
mapfile -t pages < <(printf '%s\n' README.md docs/*.md docs/*/*.md docs/man/* | grep -vE 'docs/checks\.md')
exceptions=()
is "$(tests/prose.py "${pages[@]}" | grep -vF "$(printf '%s\n' "${exceptions[@]:-no exception}")")" "" \
	"README, pages and manuals: no long sentence, no clumsy one (tests/prose.py)"
ok "... with at most 20 exceptions" test "${#exceptions[@]}" -le 20
printf 'It says what is meant.\n\n- The text behind it stands there.\n' >"$tmp/page.md"
is "$(tests/prose.py "$tmp/page.md" | sed -E 's/.*:([0-9]+): ([^:]*):.*/\1 \2/')" "1 says/tells, for reports
3 behind, for after
3 stands, for is" "which it would find"

# The table of layers is what lint checks.
table=$(sed -nE 's/^\| `gen\/([a-z]+)` \|.*\| (.*) \|$/\1 \2/p' CONTRIBUTING.md | tr -d ',`' | sed 's/ nothing$//' | grep -v '^cmd ')
lint=$(sed -n 's/^layer \([a-z]\)/\1/p' tests/lint.sh)
pairs() { awk '{ print $1, "-"; for (i = 2; i <= NF; i++) print $1, $i }' | sort; }
is "$(pairs <<<"$table")" "$(pairs <<<"$lint")" "CONTRIBUTING.md and lint.sh know the same layers, and what each may include"
done_testing
