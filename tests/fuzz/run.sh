#!/usr/bin/env bash
# Runs each libFuzzer target in a folder for some seconds, from seeds made here.
#
#   tests/fuzz/run.sh FOLDER SECONDS
set -euo pipefail

# Small ELF files with debug information of many kinds: what a linker leaves of a program without libraries.
make_seeds() {
	local dir=$1 here flags i=0
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	mkdir -p "$dir"
	for flags in -g -gdwarf-2 -gdwarf-4 '-g -gdwarf64' '-g -gz' '-g -fdebug-types-section' \
		'-gdwarf-4 -fdebug-types-section' '-g -O2 -flto'; do
		i=$((i + 1))
		# shellcheck disable=SC2086
		g++ $flags -w -nostdlib -static -Wl,-emain -o "$dir/gcc$i" -I "$here/../../include" "$here/seed.cc" \
			"$here/seed2.cc" "$here/seed3.cc" || :
	done
	gcc -gbtf -w -c -o "$dir/btf" -xc - <<<'enum e { A, B = -1 }; struct s { int a : 3; enum e e; union { struct s *n; char t[4][2]; }; }; typedef struct s s; typedef const s *p; s x; p y; int (*f)(s *, enum e);' 2>/dev/null || :
	if command -v clang++ >/dev/null; then
		clang++ -g -w -nostdlib -static -Wl,-emain -o "$dir/clang" -I "$here/../../include" "$here/seed.cc" \
			"$here/seed2.cc" "$here/seed3.cc" || :
	fi
}

# run TARGET SECONDS CORPUS OPTION...
run() {
	local target=$1 seconds=$2 corpus=$3
	shift 3
	"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix="${target%/*}/" "$@" "$corpus" 2>&1 | grep -vE '^(#|INFO)' || {
		printf 'run.sh: %s failed; the input is in %s\n' "$target" "${target%/*}" >&2
		exit 1
	}
}

main() {
	local folder=$1 seconds=$2 target corpus here f n
	local -a options
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	for target in "$folder"/*; do
		if [ ! -x "$target" ] || [ -d "$target" ]; then continue; fi
		corpus=$folder/corpus-${target##*/}
		options=()
		if [ "${target##*/}" = pp ]; then
			# The templates of the tests, and the words they are made of.
			n=0
			mkdir -p "$corpus"
			for f in "$here"/../pp/*/*.in; do
				n=$((n + 1))
				cp "$f" "$corpus/$n"
			done
			options=("-dict=$here/pp.dict")
		elif [ "${target##*/}" = lang ]; then
			# The cases of the parser, and the words of the language.
			mkdir -p "$corpus"
			cp "$here"/../../bpf/*.bt "$corpus"
			grep -hvE $'^(##|\t|$)' "$here"/../lang/programs.lang | split -a 3 -l 1 - "$corpus/program."
			grep -hvE $'^(##|\t|$)' "$here"/../lang/[es]*.lang | sed 's/.*/BEGIN { & }/' |
				split -a 3 -l 5 - "$corpus/statements."
			options=("-dict=$here/lang.dict")
		elif [ "${target##*/}" = decode ]; then
			# The records of its words.
			mkdir -p "$corpus"
			sed -n 's/^"\(@.*\)\\x0a"$/\1/p' "$here/decode.dict" | split -a 2 -l 3 - "$corpus/records."
			options=("-dict=$here/decode.dict")
		else
			make_seeds "$corpus"
		fi
		printf '=== %s, %s s\n' "${target##*/}" "$seconds"
		run "$target" "$seconds" "$corpus" ${options[@]+"${options[@]}"}
		if [ "${target##*/}" = lang ]; then
			# The same against a program: wrong scripts, and right ones.
			corpus=$folder/corpus-check
			mkdir -p "$corpus"
			cp "$here"/../../bpf/*.bt "$corpus"
			sed -n 's/^PROG //p' "$here"/../check/*.cases | split -a 3 -l 1 - "$corpus/case."
			printf '=== check, %s s\n' "$seconds"
			FUZZ_TARGET=$here/../targets/nvmf_tgt run "$target" "$seconds" "$corpus" "${options[@]}"
		fi
	done
}

main "$@"
