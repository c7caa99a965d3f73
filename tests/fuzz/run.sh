#!/usr/bin/env bash
# Runs each libFuzzer target in a folder for some seconds, from seeds made here. All have their turn: one that fails keeps no
# other from it, and is named at the end.
#
#   tests/fuzz/run.sh FOLDER SECONDS           NUMBERS_SECONDS=N: numbers.py, scripts.py and texts.py so long for each bpftrace, which needs root; 0: not at all
#   tests/fuzz/run.sh --seeds TARGET CORPUS    makes the seeds of one
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# cases FILE...: the texts of the parser's tests, without their trees
cases() { grep -hvE $'^(##|\t|$)' "$@"; }

seeds_pp() {
	local f n=0
	for f in "$here"/../pp/*/*.in "$here"/../pp/cases/inc/*.bt; do
		n=$((n + 1))
		cp "$f" "$1/$n"
	done
}

seeds_lang() {
	cp "$here"/../../bpf/*.bt "$1"
	cases "$here/../lang/programs.lang" | split -a 3 -l 5 - "$1/program."
	cases "$here"/../lang/[es]*.lang | sed 's/.*/BEGIN { & }/' | split -a 3 -l 10 - "$1/statements."
}

# The parser's target against a program: wrong scripts, and right ones.
seeds_check() {
	cp "$here"/../../bpf/*.bt "$1"
	sed -n 's/^PROG //p' "$here"/../check/*.cases | split -a 3 -l 1 - "$1/case."
}

# The records of its words.
seeds_decode() { sed -n 's/^"\(@.*\)\\x0a"$/\1/p' "$here/decode.dict" | split -a 2 -l 3 - "$1/records."; }

# Its words in many orders.
seeds_writer() {
	local -a words
	local i k
	mapfile -t words < <(sed -n 's/^"\(.*\)"$/\1/p' "$here/writer.dict")
	RANDOM=1
	for ((i = 0; i < 256; i++)); do
		{
			printf '%b' "\\x$(printf %x $i)"
			for ((k = 0; k < 25; k++)); do printf '%b' "${words[RANDOM % ${#words[@]}]}"; done
		} >"$1/$i"
	done
}

# Small ELF files with debug information of many kinds: what a linker leaves of a program without libraries.
seeds_types() {
	local flags i=0
	local -a seed=(-w -nostdlib -static '-Wl,-emain' -I "$here/../../include" "$here/seed.cc" "$here/seed2.cc" "$here/seed3.cc")
	for flags in -g -gdwarf-2 -gdwarf-4 '-g -gdwarf64' '-g -gz' '-g -fdebug-types-section' \
		'-gdwarf-4 -fdebug-types-section' '-g -O2 -flto'; do
		i=$((i + 1))
		# shellcheck disable=SC2086
		g++ $flags -o "$1/gcc$i" "${seed[@]}" || :
	done
	gcc -gbtf -w -c -o "$1/btf" -xc - <<<'enum e { A, B = -1 }; struct s { int a : 3; enum e e; union { struct s *n; char t[4][2]; }; }; typedef struct s s; typedef const s *p; s x; p y; int (*f)(s *, enum e);' 2>/dev/null || :
	if command -v clang++ >/dev/null; then clang++ -g -o "$1/clang" "${seed[@]}" || :; fi
}

# Lists of ours, and a lock of scripts of ours.
seeds_lists() {
	local f
	cp "$here"/../../bpf/enums.conf "$here"/lists.conf "$here"/lists.lock "$1"
	split -a 2 -l 40 "$here/../../bpf/probes.conf" "$1/probes."
	for f in "$here"/../../docs/lab/*.conf "$here"/../../docs/adding-probes/*/*.conf; do [ ! -e "$f" ] || cp "$f" "$1"; done
}

# A process of this machine, and one with all that is rare.
seeds_proc() {
	{
		for f in stat status maps comm; do cat "/proc/self/$f" && printf '\0'; done
		printf '1000 20 main\n2000 ff0 void a::b<int>(x)\n2000 10 again\nzz 1 bad\n'
	} | sed '1s/^[0-9]* /42 /; s/^Tgid:.*/Tgid:\t42/' >"$1/self"
	printf '42 (a) b) S 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1 1\n\0%b\0%b\0a\\n\n\0%b' \
		'Tgid:\t42\nNSpid:\t42\t7\n' \
		'1000-2000 r-xp 00001000 08:01 7 /bin/a b (deleted)\n2000-3000 rwxp 00000000 00:00 0\n3000-4000 r-xp 00003000 08:01 7 /bin/a b (deleted)\n4000-5000 rw-s 0 0:1 9 /dev/shm/x\\012y\n5000-6000 r-xp 0 0:0 0 [vdso]\n' \
		'1000 1000 f\n' >"$1/rare"
}

# What bpftrace says in our tests.
seeds_relay() {
	local how n=0
	for how in 00 03 0b 17 1f; do
		n=$((n + 1))
		{ printf '%b' "\\x$how" && cat "$here/relay.txt"; } >"$1/$how"
		split -a 2 -l 6 --filter="{ printf '\\x$how'; cat; } >\$FILE" "$here/relay.txt" "$1/some$n."
	done
}

# run NAME TARGET SECONDS OPTION...
run() {
	local name=$1 target=$2 seconds=$3 corpus=${2%/*}/corpus-$1 dict=$here/${2##*/}.dict
	mkdir -p "$corpus"
	"seeds_$name" "$corpus"
	printf '=== %s, %s s\n' "$name" "$seconds"
	"$target" -max_total_time="$seconds" -timeout=600 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix="${target%/*}/" ${dict:+$([ ! -e "$dict" ] || printf -- '-dict=%s' "$dict")} "$corpus" 2>&1 |
		grep -vE '^(#|INFO)'
}

# Expressions of narrow numbers and whole scripts against C, with each bpftrace
run_numbers() {
	[ "${NUMBERS_SECONDS:-$2}" != 0 ] || return 0
	printf '=== numbers, %s s for each bpftrace\n' "${NUMBERS_SECONDS:-$2}"
	if [ "$(id -u)" != 0 ]; then
		echo 'skipped: needs root'
		return
	fi
	"$here/../matrix/tracefs.sh" "$here/../matrix/run.sh" "$here/numbers.py" --seconds "${NUMBERS_SECONDS:-$2}" "$1/numbers" &&
		"$here/../matrix/tracefs.sh" "$here/../matrix/run.sh" "$here/scripts.py" --seconds "${NUMBERS_SECONDS:-$2}" "$1/numbers" &&
		"$here/../matrix/tracefs.sh" "$here/../matrix/run.sh" "$here/texts.py" --seconds "${NUMBERS_SECONDS:-$2}" "$1/numbers"
}

main() {
	local folder target name
	local -a failed=()
	if [ "${1-}" = --seeds ]; then
		mkdir -p "$3"
		"seeds_$2" "$3"
		return
	fi
	folder=$1
	TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/btgen-fuzz.XXXXXX")
	export TMPDIR
	trap 'rm -rf "$TMPDIR"' EXIT
	for target in "$here"/*.c; do
		target=$folder/$(basename "$target" .c)
		name=${target##*/}
		if [ "$name" = lists ]; then export FUZZ_TARGET=$here/../targets/nvmf_tgt; else unset FUZZ_TARGET; fi
		run "$name" "$target" "$2" || failed+=("$name")
		[ "$name" = lang ] || continue
		FUZZ_TARGET=$here/../targets/nvmf_tgt run check "$target" "$2" || failed+=(check)
	done
	run_numbers "$folder" "$2" || failed+=(numbers)
	[ ${#failed[@]} = 0 ] || {
		printf 'run.sh: failed: %s; the inputs are in %s\n' "${failed[*]}" "$folder" >&2
		exit 1
	}
}

main "$@"
