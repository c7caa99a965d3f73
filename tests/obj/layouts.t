#!/usr/bin/env bash
# Of 200 structs, 200 enums and 200 unions (or all there are) of each input, chosen by a seed, every size, offset and
# enumerator is the one that gdb sees, and what btgen types --assert prints compiles with it. Each input says how many were
# compared and what was refused for which reason.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/obj/layouts.sh
. "$(dirname "$0")/layouts.sh"
command -v gdb >/dev/null || skip_all "no gdb"

libc=$(ldconfig -p | sed -n 's/.*libc\.so\.6.*=> //p' | head -n 1)
for input in "libc $libc 270" "python3.11 /usr/bin/python3.11 240"; do
	in_third || continue
	read -r claim file least <<<"$input"
	if [ -r "$file" ] && "$btgen" types -x "$file" -l >/dev/null 2>&1; then
		compare "$claim" "$file" "$least"
	else
		skip "$claim" "no $claim debug package"
	fi
done

# A C++ program with namespaces, templates, bases and the standard library's types, however it is stored
python3 "$(dirname "$0")/cxx_types.py" "${TYPES_SEED:-42}" >"$tmp/types.cc"

build() { # COMPILER FLAGS -> $tmp/p; compiled and linked in $tmp, where .dwo files are left
	# shellcheck disable=SC2086
	(cd "$tmp" && rm -f p p.o ./*.dwo && $1 $2 -w -c -o p.o types.cc && $1 $2 -w -o p p.o) 2>"$tmp/cc.err"
}

for compiler in g++ clang++; do
	for flags in -gdwarf-4 -gdwarf-5 "-gdwarf-4 -gsplit-dwarf" "-gdwarf-5 -gsplit-dwarf" "-gdwarf-4 -fdebug-types-section" \
		"-gdwarf-5 -fdebug-types-section" "-g -gz" "-g -O2 -flto"; do
		in_third || continue
		if command -v $compiler >/dev/null && build $compiler "$flags"; then
			compare "C++, $compiler $flags" "$tmp/p" 380
		else
			skip "C++, $compiler $flags" "cannot be built: $(head -n 1 "$tmp/cc.err")"
		fi
	done
	if [ $compiler = clang++ ] && build $compiler "-gdwarf-5 -gsplit-dwarf -fdebug-types-section"; then
		compare "C++, clang++ split with type units" "$tmp/p" 400
	fi
	if ! command -v $compiler >/dev/null || ! build $compiler -g; then
		continue
	fi
	# dwz refuses what clang makes of DWARF 5 (.debug_addr).
	if command -v dwz >/dev/null && { [ $compiler = g++ ] || build $compiler -gdwarf-4; } &&
		cp "$tmp/p" "$tmp/q1" && cp "$tmp/p" "$tmp/q2" && dwz -m "$tmp/common.debug" -h "$tmp/q1" "$tmp/q2" 2>"$tmp/cc.err"; then
		compare "C++, $compiler and dwz with an alternate file" "$tmp/q1" 400
	else
		skip "C++, $compiler and dwz" "no dwz, or it refuses: $(head -n 1 "$tmp/cc.err")"
	fi
	build $compiler -g
	objcopy --only-keep-debug "$tmp/p" "$tmp/p.debug"
	strip -o "$tmp/stripped" "$tmp/p" && objcopy --add-gnu-debuglink="$tmp/p.debug" "$tmp/stripped"
	compare "C++, $compiler, stripped with .gnu_debuglink" "$tmp/stripped" 400
done
done_testing
