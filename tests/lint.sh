#!/usr/bin/env bash
# make lint: the layers, the formatting and what static analysers say. Exits 1 when anything is found.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
found=0

complain() {
	printf '%s\n' "$*"
	found=1
}

# layer NAME ALLOWED...: files of gen/NAME may include only these folders and files (and their own)
layer() {
	local name=$1 file inc dir
	shift
	while IFS=: read -r file inc; do
		dir=${inc%%/*}
		[[ $dir == "$name" || " $* " == *" $dir "* || " $* " == *" $inc "* ]] ||
			complain "$file: layer $name must not include \"$inc\""
	done < <(grep -Ho '^#include "[a-z0-9_]*/[^"]*"' "gen/$name"/*.[ch] | sed 's/#include "\(.*\)"/\1/')
}

echo '== layers'
layer base
layer code base
layer elf base
layer process base elf
layer text base
layer ctype base code
layer dwarf base elf ctype
layer btf base elf ctype
layer conf base ctype
layer usdt base elf
layer source base elf conf dwarf usdt/argname.h text/pp.h
layer probe base elf ctype conf dwarf btf usdt source lang/parse.h dialect/dialect.h
layer lang base text
layer bind base code process elf ctype dwarf usdt probe text lang dialect/dialect.h
layer sema base code ctype btf conf usdt probe text/constant.h lang bind dialect/dialect.h
layer check base ctype conf usdt probe lang bind sema dialect/dialect.h
layer emit base code ctype process/cgroup.h probe text lang bind sema check/check.h record/shape.h record/mapentry.h dialect/dialect.h
layer lock base elf ctype conf probe lang bind sema record/shape.h record/mapentry.h
layer template base code elf ctype usdt probe lang bind sema check lock emit record/shape.h dialect/dialect.h
layer dialect base code text
layer value base elf process ctype dwarf kernel/callchain.h
layer record base elf/demangle.h ctype value lang/vocabulary.h
layer convert base process/proc.h process/python.h record/stamp.h
layer kernel base process
layer run base process text kernel dialect value record convert lang/vocabulary.h
layer setup base elf/img.h process usdt lang bind kernel run/output.h dialect/dialect.h
layer listing base code usdt probe text lang dialect/dialect.h
layer doctor base elf process usdt probe bind run dialect/dialect.h

# A folder is to be read as a whole; a file is understood after those that it includes.
for folder in gen/*/; do
	n=$(git ls-files "$folder" | wc -l)
	[ "$n" -le 25 ] || complain "$folder has $n files: more than 25 are two folders"
done
out=$(python3 tests/circles.py) || complain "$out"

echo '== names of targets go through gen/code'
out=$(python3 tests/names.py) || complain "$out"
out=$(python3 tests/words.py) || complain "$out"

echo "== who reads /proc"
# process/proc does. base/file names descriptors of ours, bind/path writes paths into programs, elf/debugfile has one that
# cannot exist, and asks how much memory btgen itself has; base/clock asks which time namespace btgen is in.
while read -r line; do
	complain "$line: only process/proc reads /proc"
done < <(grep -nE '"[^"]*/proc[/"]' gen/*/*.c | grep -vE '^gen/(process/proc|base/file|base/clock|bind/path|elf/debugfile)\.c:|#include')

echo '== nobody behind the parser writes a node'
# The members of struct node are const for all but these, and a cast would take that away.
makers='lang/(parse|parse_expression|parse_statement|script|change)|sema/exprtype'
while read -r line; do
	complain "$line: only the parser, lang/change and exprtype make nodes"
done < <(grep -nE 'TREE_IS_MADE_HERE|\(struct node \*\*|memcpy\([^;]*node' gen/*/*.[ch] | grep -vE "^gen/(($makers)\.c|lang/tree\.h):")

echo '== program text is made in emit/'
# And by who writes whole scripts (-t), by what reads an operand by its registers, which check/ asks for, too, and
# by the wire between programs and record/. What check/ says may show some.
while read -r line; do
	complain "$line: only emit/ and the writers of scripts make program text"
done < <(grep -nE '"[^"]*(\(u?int(8|16|32|64)\)|\*\(u?int[^_]* \*|@btgen|printf\(\\")|arena_new\([^,]*, struct token\)|"emit/text\.h"' gen/*/*.[ch] |
	grep -vE '^gen/((emit|check|lang|text)/|record/shape\.c:|bind/argread\.|template/(skeleton|skeleton_calls|tally)\.c:)')

echo '== kinds of probes'
# Who writes programs names some, the patterns of -t have two, a command has the name of one, a note offers one, a list begins with it; /proc/self is none.
writers='cmd/main|bind/attach|emit/(clause|traced)|cmd/cmd_(bundle|expand|probes)|listing/lines_print|template/skeleton(_functions|_lines)?|process/proc'
kinds=$(sed -nE 's/^\t\{"(\w+)", .*WHEN_.*/\1/p' gen/lang/vocabulary.c | paste -sd '|')
[ -n "$kinds" ] || complain 'gen/lang/vocabulary.c: no kinds of probes found'
while read -r line; do
	complain "$line: what a kind of probe is like is a column of struct provider"
done < <(grep -nE "\"($kinds)[\":]" gen/*/*.c | grep -vE "^gen/(lang/vocabulary|$writers)\.c:|^[^:]*:[0-9]+:\s*(/?\*|//)")

echo '== versions of bpftrace'
# DWARF's, below 10, are another matter.
while read -r line; do
	complain "$line: a difference between versions is a row of gen/dialect/dialect.h"
done < <(grep -nE '\b(v|version)\)? *([<>]=?|[=!]=) *(1[7-9]|[2-9][0-9]|[0-9]{4})\b|\b(1[7-9]|[2-9][0-9]|[0-9]{4}) *([<>]=?|[=!]=) *[a-z>.-]*\b(v|version)\b' gen/*/*.[ch] |
	grep -v '^gen/dialect/')
while IFS= read -r line; do
	complain "$line: name bpftrace's own issue after the row, or 'not reported' and a program in docs/dev/bpftrace-reports.md"
done < <(grep -HnE '^QUIRK\(\w+, .*\)$' gen/dialect/dialect.h)

# What a member of no type points to is another layer's, which the includes do not show.
while IFS= read -r line; do
	complain "$line: an image must not carry what another layer knows"
done < <(grep -HnE '^\s+((const )?void \*\w+|void \(\*\w+\)\(.*\));' gen/elf/*.h)

echo '== subjects of commits'
while IFS= read -r line; do
	[ ${#line} -le 72 ] || complain "\"$line\": a subject has at most 72 characters"
	[[ $line =~ ^([a-z0-9_./,\ -]+:|Merge|Revert)\  ]] || complain "\"$line\": a subject is \"area: imperative\""
done < <(git log -n 20 --format=%s)

echo '== files that nobody wrote'
while read -r size name; do
	complain "$name: $size bytes: what is made, or a memory dump, is not kept here"
done < <(git ls-files -z | xargs -0 -r stat -c '%s %n' -- 2>/dev/null | awk '$1 > 400000')

echo '== formatting'
mapfile -t sources < <(git ls-files 'gen/*.[ch]' 'tests/unit/*.[ch]' 'tests/targets/*.[ch]')
clang-format --dry-run --Werror "${sources[@]}" || found=1

echo '== python'
# What Python 3.12 and newer warn of on each run: programs and tests without .py, too
out=$({ git ls-files '*.py' && git ls-files -z | xargs -0 awk '/^#!.*python/ { print FILENAME } { nextfile }'; } | sort -u | python3 -W error::DeprecationWarning -W error::SyntaxWarning -c '
import ast, sys
for path in sys.stdin.read().split():
    ast.parse(open(path).read(), path)' 2>&1) || complain "$out"

echo '== shell'
mapfile -t shells < <(git ls-files -z | xargs -0 grep -lE '^#!.*\b(ba)?sh\b' -- | grep -v '^tests/')
shellcheck "${shells[@]}" scripts/completion.bash || found=1
# Tests split words and join commands on purpose; there only warnings count.
mapfile -t shells < <(git ls-files -z tests | xargs -0 grep -lE '^#!.*\b(ba)?sh\b' --)
shellcheck -S warning -e SC1091,SC2154 "${shells[@]}" || found=1

echo '== manual pages'
mandoc -T lint -W warning docs/man/* || found=1

echo '== cppcheck'
cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability --inline-suppr \
	--suppress=unknownMacro -j2 -Igen gen || found=1

echo '== gcc -fanalyzer'
out=$(printf '%s\0' gen/*/*.c | xargs -0 -n 1 -P "$(nproc)" \
	"${CC:-gcc}" -std=gnu11 -O1 -fanalyzer -D_GNU_SOURCE -DBTGEN_VERSION='""' -DBTGEN_BPFTRACE='""' -Igen -c -o /dev/null 2>&1)
[ -z "$out" ] || complain "$out"

[ $found = 0 ] && echo 'lint: clean'
exit $found
