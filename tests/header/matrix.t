#!/usr/bin/env bash
# gcc and clang, C11 C17 C++11 C++20, -O0 -O1 -O2 -O3 -Os -flto, PIE, static, shared: types and names are the declared ones
# in a third of them (in_third), and a tracer prints the values that the program printed: in a sixth of these, or with
# MATRIX_LIVE=all in all that are built.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

here=$top/tests/header
/usr/bin/python3 -c 'import elftools' 2>/dev/null || skip_all "no pyelftools for the oracle (python3-pyelftools)"

ones() { # COUNT: that many equal arguments
	local out='' i
	for ((i = 0; i < $1; i++)); do out+="${out:+, }int [a]"; done
	printf 'm:n%d(%s) -\n' "$1" "$out"
}

common() { # the same in C and C++, but for the type of an enumerator
	cat <<'END'
m:enums(enum color [it->color], enum sign [(enum sign)(i - 2)], GREEN_T [GREEN]) -
m:fixed(int64_t [i64], uint32_t [u32], int8_t [i8], uint16_t [u16], size_t [sz], int [ci], unsigned [*vp]) -
m:floats(usdt_float_bits [USDT_BITS(f)], usdt_double_bits [USDT_BITS(d)]) -
m:inlined(const char * [it->label], int [n]) -
m:integers(signed char [sc], unsigned char [uc], short [s], unsigned short [us], int [i], unsigned [u], long [l], unsigned long [ul], long long [ll], unsigned long long [ull], char [c], _Bool [b]) -
m:lazy(int [costly(a)]) sema
m:longs(long [l], unsigned long [ul], _Bool [b], char [c]) -
m:n12(int [a], int [a + 1], int [a + 2], int [a + 3], int [a + 4], int [a + 5], int [a + 6], int [a + 7], int [a + 8], int [a + 9], int [a + 10], int [a + 11]) -
m:named(int [USDT_ARG(a % 3, "rest", "what is left", "items")], int [USDT_ARG(-a, "minus")]) -
m:places(int [global_count], long [numbers[i]], long [numbers[3]], int [42], long [-1L], uint16_t * [&it->port], uint16_t [it->port]) -
m:pointers(char * [it->name], const char * [it->label], item_t * [cit->next], handler_t [fn], function [handle], void * [ptr]) -
END
	local n
	for n in 0 1 2 3 4 5 6 7 8 9 10 11; do ones $n; done
}

common | sed 's/GREEN_T/int/' >"$tmp/c.common"
{ cat "$tmp/c.common"; echo 'm:bits(int [it->flags], int [it->delta], long long [it->wide]) -'; } | sort >"$tmp/want.gcc"
{ cat "$tmp/c.common"; echo 'm:bits(unsigned [it->flags], int [it->delta], uint64_t [it->wide]) -'; } | sort >"$tmp/want.clang"
{
	common | sed 's/GREEN_T/enum color/'
	cat <<'END'
m:bits(unsigned [it->flags], int [it->delta], uint64_t [it->wide]) -
m:generic(int [v], unsigned long [sizeof(T)]) -
m:generic(short [v], unsigned long [sizeof(T)]) -
m:generic(struct item * [v], unsigned long [sizeof(T)]) -
m:generic(unsigned long [v], unsigned long [sizeof(T)]) -
m:lambda(int [k], enum color [it->color], struct thing * [&t]) -
m:method(const struct thing * [this], int [id], enum shade [s]) -
END
} | sort >"$tmp/want.g++"
cp "$tmp/want.g++" "$tmp/want.clang++"

echo 'int run(int); int main(int argc, char **argv) { (void)argv; return run(argc); }' >"$tmp/main.c"
cp "$here/matrix.c" "$tmp/m.c"
cp "$here/matrix.c" "$tmp/m.cc"
sed 's/int run/extern "C" &/' "$tmp/main.c" >"$tmp/main.cc"
sed -i 's/^int run(int argc)/#ifdef __cplusplus\nextern "C" int run(int argc);\n#endif\n&/' "$tmp/m.cc"

# build NAME CC STD OPT LINK
cat >"$tmp/build" <<'END'
#!/bin/sh
name=$1 cc=$2 std=$3 opt=$4 link=$5
case $cc in *++) x=cc ;; *) x=c ;; esac
flags="-g -Wall -Wextra -Wshadow -pedantic -Werror -I$INC -std=$std $opt"
case $link in
pie) $cc $flags -fPIE -pie -o $name m.$x ;;
static) $cc $flags -static -o $name m.$x ;;
shared) $cc $flags -fPIC -shared -DNO_MAIN -o $name m.$x ;;
esac >$name.log 2>&1 || rm -f $name
END
chmod +x "$tmp/build"
combos=() row=-1
for cc in gcc clang g++ clang++; do
	command -v $cc >/dev/null || { skip "$cc" "no $cc"; continue; }
	case $cc in *++) stds="c++11 c++20" ;; *) stds="c11 c17" ;; esac
	for std in $stds; do
		row=$((row + 1)) level=-1
		for opt in -O0 -O1 -O2 -O3 -Os "-O2 -flto"; do
			level=$((level + 1)) link=-1
			for way in pie static shared; do
				link=$((link + 1))
				# A third has each level and each way of linking in each row; traced is a level of a row, of the next rows the others.
				is_traced=$(((row + level / 2) % 3 == 0 && (row / 3 + level + ${third/all/0}) % 2 == 0))
				[ "$third" = all ] || [ $(((row + level + link) % 3)) = "$third" ] || continue
				name=$cc.$std.${opt##* }.$way
				combos+=("$name")
				[ $is_traced = 0 ] && [ "${MATRIX_LIVE-}" != all ] || printf '%s\n' "$name" >>"$tmp/to-trace"
				printf '%s\0' "$name" $cc $std "$opt" $way
			done
		done
	done
done >"$tmp/list"
(cd "$tmp" && INC=$top/include xargs -0 -n 5 -P "$(nproc)" ./build <list)
find "$tmp" -maxdepth 1 -name '*.pie' -o -maxdepth 1 -name '*.static' -o -maxdepth 1 -name '*.shared' | sort >"$tmp/built"
export ONLY=m # what is linked statically has the probes of the C library, too, from glibc 2.43 on
xargs -n 20 -P "$(nproc)" "$here/probes.py" <"$tmp/built" || ok "the oracle reads every file" false

xargs -n 20 -P "$(nproc)" "$here/sites.py" "$btgen" <"$tmp/built" || ok "btgen reads every file" false

ran=0 failed=()
for name in "${combos[@]}"; do
	cc=${name%%.*}
	if [ ! -e "$tmp/$name" ]; then
		failed+=("$name: does not compile: $(head -n 3 "$tmp/$name.log")")
	elif ! got=$(sed 's/ [^ ]*:[0-9]*$//' "$tmp/$name.probes" | sort -u) || ! diff <(echo "$got") "$tmp/want.$cc" >"$tmp/diff"; then
		failed+=("$name: $(head -n 6 "$tmp/diff")")
	elif [ "$(readelf -n "$tmp/$name" 2>&1 >/dev/null | grep -c 'arning\|rror')" != 0 ]; then
		failed+=("$name: readelf -n complains")
	elif ! diff "$tmp/$name.sites" <(sed -E 's/\[USDT_ARG\(([^,]*),[^]]*\]/[\1]/g' "$tmp/$name.probes" |
		LC_ALL=C sort) >"$tmp/diff"; then
		failed+=("$name: btgen probes differs from the oracle: $(head -n 6 "$tmp/diff")")
	fi
	ran=$((ran + 1))
done
is "$(printf '%s\n' "${failed[@]:0:5}")" "" "declared types and names, exactly, in each of $ran combinations, and btgen says the same"

printf '# %d combinations ran\n' "$ran"

# --- after strip, in each of five ways: the kinds of arguments; the fifth is dh_strip's for a library

# strip_all FILE: into FILE.s1 to FILE.s5
strip_all() {
	strip -o "$1.s1" "$1" && strip --strip-debug -o "$1.s2" "$1" && objcopy --strip-unneeded "$1" "$1.s3" && eu-strip -o "$1.s4" "$1" &&
		strip --remove-section=.comment --remove-section=.note --strip-unneeded -o "$1.s5" "$1"
}
export -f strip_all
xargs -n 1 -P "$(nproc)" bash -c 'strip_all "$@"' - <"$tmp/built" || ok "strip takes every file" false
sed 's/.*/&.s1\n&.s2\n&.s3\n&.s4\n&.s5/' "$tmp/built" | xargs -n 50 -P "$(nproc)" "$here/sites.py" "$btgen" ||
	ok "btgen reads every stripped file" false
failed=()
while read -r f; do
	"$here/sites.py" --kinds <"$f.sites" >"$tmp/left"
	for s in "$f".s[1-5]; do
		diff "$tmp/left" "$s.sites" >"$tmp/diff" || failed+=("${s##*/}: $(head -n 4 "$tmp/diff")")
	done
	rm -f "$f".s?
done <"$tmp/built"
is "$(printf '%s\n' "${failed[@]:0:5}")" "" "after strip: kinds and names, in each of five ways"

# --- a tracer's values: up to 0.23 bpftrace reads arg0 to arg5; what is beyond them has names of its own

# script FILE VERSION LANGUAGE
# shellcheck disable=SC2016 # $ is bpftrace's
script() {
	local n
	{
		cat <<'END'
m:integers { printf("integers %d %d %d %d %d %u\n", (int8)arg0, (uint8)arg1, (int16)arg2, (uint16)arg3, (int32)arg4, (uint32)arg5); }
m:longs { printf("longs %ld %lu %d %c\n", arg0, arg1, (uint8)arg2, (int8)arg3); }
m:fixed { printf("fixed %ld %u %d %u %lu %d\n", arg0, (uint32)arg1, (int8)arg2, (uint16)arg3, arg4, (int32)arg5); }
m:pointers { printf("pointers %s %s %lx %lx %lx %lx\n", str(arg0), str(arg1), arg2, arg3, arg4, arg5); }
m:places { printf("places %d %ld %ld %d %ld %lx\n", (int32)arg0, arg1, arg2, (int32)arg3, arg4, arg5); }
m:bits { printf("bits %d %d %lu\n", (int32)arg0, (int32)arg1, arg2); }
m:enums { printf("enums %d %d %d\n", (int32)arg0, (int32)arg1, (int32)arg2); }
m:n0 { printf("n0\n"); }
m:n12 { printf("n12 %d %d\n", (int32)arg0, (int32)arg5); }
m:floats { printf("floats %x %lx\n", (uint32)arg0, arg1); }
m:named { printf("named %d %d\n", (int32)arg0, (int32)arg1); }
m:inlined { printf("inlined %s %d\n", str(arg0), (int32)arg1); }
END
		for n in 1 2 3 4 5 6 7 8 9 10 11; do
			printf 'm:n%d { printf("n%d %%d %%d\\n", (int32)arg0, (int32)arg%d); }\n' $n $n $(((n > 6 && $2 < 24 ? 6 : n) - 1))
		done
		[ "$3" = c ] || cat <<'END'
m:generic { printf("generic %lx %d\n", arg0, arg1); }
m:method { printf("method %d %d\n", (int32)arg1, (uint8)arg2); }
m:lambda { printf("lambda %d %d\n", (int32)arg0, (int32)arg1); }
END
		[ "$2" -lt 24 ] || cat <<'END'
m:integers { printf("beyond.integers %ld %lu %ld %lu %c %d\n", arg6, arg7, arg8, arg9, (int8)arg10, (uint8)arg11); }
m:fixed { printf("beyond.fixed %u\n", (uint32)arg6); }
m:places { printf("beyond.places %d\n", (uint16)arg6); }
m:n12 { printf("beyond.n12 %d %d\n", (int32)arg6, (int32)arg11); }
END
	} | sed "s|^m:|usdt:\"$1\":m:|" # quoted: g++ has a ++
}

# ticks FILE N PID: returns when the interval probe of the trace in FILE has fired N times, or its bpftrace has ended
ticks() {
	until [ "$(grep -c '^up' "$1")" -ge "$2" ] || ! kill -0 "$3" 2>/dev/null; do sleep 0.2; done
}

# live BPFTRACE VERSION NAME, in $tmp: "NAME: what is wrong", or nothing
live() {
	local bt=$1 version=$2 name=$3 program=$3 language=c out
	[[ $name != *++.* ]] || language=c++
	[[ $name != *.shared ]] || program=main.$name
	out=$name.$version
	"./$program" >"$out.plain" 2>"$out.err"
	[ "$(cat "$out.err")" = "evaluated 0" ] || echo "$name: the lazy argument is evaluated while nobody traces"
	script "$PWD/$name" "$version" $language >"$out.bt"
	if [ $program = "$name" ]; then
		guard "$bt" -o "$out.trace" "$out.bt" -c "$PWD/$name" >"$out.ran" 2>"$out.err" </dev/null
	else # -c looks for libraries before the program has loaded any
		: >"$out.trace"
		echo 'interval:ms:100 { printf("up\n"); }' >>"$out.bt"
		timeout "$PATIENCE" "$bt" -B line "$out.bt" >"$out.trace" 2>"$out.err" </dev/null &
		ticks "$out.trace" 1 $!
		"./$program" >"$out.ran" 2>/dev/null
		ticks "$out.trace" $(($(grep -c '^up' "$out.trace") + 2)) $! # the events were printed before
		kill -TERM $! && wait $!
	fi || echo "$name: bpftrace ends with status $?: $(tail -n 3 "$out.err")"
	grep -v '^Attaching\|^$' "$out.ran" | if [ "$version" -ge 24 ]; then cat; else grep -v '^beyond'; fi | sort >"$out.want"
	diff <(grep -v '^Attaching\|^up\|^$' "$out.trace" | sort) "$out.want" >"$out.diff" || echo "$name: $(head -n 4 "$out.diff")"
}
export PATIENCE
export -f live script ticks guard

if can_trace; then
	while read -r name; do
		if [ -e "$tmp/$name" ]; then printf '%s\n' "$name"; fi
	done <"$tmp/to-trace" >"$tmp/traced"
	while read -r name; do
		cc=${name%%.*} x=c
		[[ $cc != *++ ]] || x=cc
		[[ $name != *.shared ]] || (cd "$tmp" && $cc -o "main.$name" "main.$x" "./$name" "-Wl,-rpath,$tmp") ||
			ok "main.$name links" false
	done <"$tmp/traced"
	version=$("$bpftrace" --version 2>/dev/null | sed 's/^bpftrace v0\.\([0-9]*\).*/\1/')
	# Detaching waits for the kernel, not for the processor: many at once.
	(cd "$tmp" && xargs -P 12 -I '{}' "$top/tests/matrix/tracefs.sh" bash -c 'live "$@"' live "$bpftrace" \
		"$version" '{}' <traced) >"$tmp/wrong" 2>&1
	is "$(head -n 12 "$tmp/wrong")" "" \
		"bpftrace 0.$version prints the values that the program printed, in $(wc -l <"$tmp/traced") combinations"
else
	skip_tracing "a tracer prints the values that the program printed"
fi
done_testing
