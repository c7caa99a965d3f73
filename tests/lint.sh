#!/usr/bin/env bash
# make lint: the layers, the formatting and what static analysers say. Exits 1 when anything is found.
set -uo pipefail
cd "$(dirname "$0")/.."
found=0

complain() {
	printf '%s\n' "$*"
	found=1
}

# layer NAME ALLOWED...: files of gen/NAME may include only these folders (and their own)
layer() {
	local name=$1 file inc dir
	shift
	while IFS=: read -r file inc; do
		dir=${inc%%/*}
		[[ $dir == "$name" || " $* " == *" $dir "* ]] ||
			complain "$file: layer $name must not include \"$inc\""
	done < <(grep -Ho '^#include "[a-z0-9_]*/[^"]*"' "gen/$name"/*.[ch] | sed 's/#include "\(.*\)"/\1/')
}

echo '== layers'
layer base
layer target base
layer image base
layer types base image
layer text base
layer bind base target image types text
layer out base text
layer run base target text out

echo '== formatting'
mapfile -t sources < <(git ls-files 'gen/*.[ch]' 'gen/**/*.[ch]' 'tests/unit/*.[ch]' | sort -u)
clang-format --dry-run --Werror "${sources[@]}" || found=1

echo '== shell'
mapfile -t shells < <(git ls-files | xargs grep -lE '^#!.*\b(ba)?sh\b' --)
shellcheck -e SC1091,SC2154 "${shells[@]}" || found=1

echo '== cppcheck'
cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability --inline-suppr \
	--suppress=unknownMacro -j2 -Igen gen || found=1

echo '== gcc -fanalyzer'
for file in gen/*.c gen/*/*.c; do
	out=$(${CC:-gcc} -std=gnu11 -O1 -fanalyzer -D_GNU_SOURCE -DBTGEN_VERSION='""' -Igen -c -o /dev/null "$file" 2>&1)
	[ -z "$out" ] || complain "$out"
done

[ $found = 0 ] && echo 'lint: clean'
exit $found
