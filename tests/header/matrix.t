#!/usr/bin/env bash
# gcc and clang, C11 C17 C++11 C++20, -O0 -O1 -O2 -O3 -Os -flto, PIE, static, shared: types and names are the declared ones
# in each, and for a sample a tracer prints the values that the program printed.
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
combos=()
for cc in gcc clang g++ clang++; do
	command -v $cc >/dev/null || { skip "$cc" "no $cc"; continue; }
	case $cc in *++) stds="c++11 c++20" ;; *) stds="c11 c17" ;; esac
	for std in $stds; do
		for opt in -O0 -O1 -O2 -O3 -Os "-O2 -flto"; do
			for link in pie static shared; do
				combos+=("$cc $std ${opt##* } $link")
				printf '%s\0' "$cc.$std.${opt##* }.$link" $cc $std "$opt" $link
			done
		done
	done
done >"$tmp/list"
(cd "$tmp" && INC=$top/include xargs -0 -n 5 -P "$(nproc)" ./build <list)
find "$tmp" -maxdepth 1 -name '*.pie' -o -maxdepth 1 -name '*.static' -o -maxdepth 1 -name '*.shared' | sort >"$tmp/built"
xargs -n 20 -P "$(nproc)" "$here/probes.py" <"$tmp/built" || ok "the oracle reads every file" false

xargs -n 20 -P "$(nproc)" "$here/sites.py" "$btgen" <"$tmp/built" || ok "btgen reads every file" false

ran=0 failed=()
for combo in "${combos[@]}"; do
	name=${combo// /.} cc=${combo%% *}
	if [ ! -e "$tmp/$name" ]; then
		failed+=("$combo: does not compile: $(head -n 3 "$tmp/$name.log")")
	elif ! got=$(sed 's/ [^ ]*:[0-9]*$//' "$tmp/$name.probes" | sort -u) || ! diff <(echo "$got") "$tmp/want.$cc" >"$tmp/diff"; then
		failed+=("$combo: $(head -n 6 "$tmp/diff")")
	elif [ "$(readelf -n "$tmp/$name" 2>&1 >/dev/null | grep -c 'arning\|rror')" != 0 ]; then
		failed+=("$combo: readelf -n complains")
	elif ! diff "$tmp/$name.sites" <(sed -E 's/\[USDT_ARG\(([^,]*),[^]]*\]/[\1]/g' "$tmp/$name.probes" | LC_ALL=C sort) >"$tmp/diff"; then
		failed+=("$combo: btgen probes differs from the oracle: $(head -n 6 "$tmp/diff")")
	fi
	ran=$((ran + 1))
done
is "$(printf '%s\n' "${failed[@]:0:5}")" "" "declared types and names, exactly, in each of $ran combinations, and btgen says the same"

printf '# %d combinations ran\n' "$ran"

# A tracer's values (bpftrace 0.17 reads arg0 to arg5).
# shellcheck disable=SC2016 # $ is awk's and bpftrace's
script() {
	sed "s|^m:|usdt:$1:m:|" <<'END'
m:integers { printf("integers %d %d %d %d %d %u\n", (int8)arg0, (uint8)arg1, (int16)arg2, (uint16)arg3, (int32)arg4, (uint32)arg5); }
m:longs { printf("longs %ld %lu %d %c\n", arg0, arg1, (uint8)arg2, (int8)arg3); }
m:fixed { printf("fixed %ld %u %d %u %lu %d\n", arg0, (uint32)arg1, (int8)arg2, (uint16)arg3, arg4, (int32)arg5); }
m:pointers { printf("pointers %s %s %p\n", str(arg0), str(arg1), arg2); }
m:places { printf("places %d %ld %ld %d %ld\n", (int32)arg0, arg1, arg2, (int32)arg3, arg4); }
m:bits { printf("bits %d %d %lu\n", (int32)arg0, (int32)arg1, arg2); }
m:enums { printf("enums %d %d %d\n", (int32)arg0, (int32)arg1, (int32)arg2); }
m:n12 { printf("n12 %d %d\n", (int32)arg0, (int32)arg5); }
m:floats { printf("floats %x %lx\n", (uint32)arg0, arg1); }
m:named { printf("named %d %d\n", (int32)arg0, (int32)arg1); }
m:inlined { printf("inlined %s %d\n", str(arg0), (int32)arg1); }
END
}
if can_trace; then
	for name in gcc.c11.-O0.pie gcc.c17.-O2.static gcc.c11.-flto.pie clang.c11.-O2.pie clang.c17.-O0.static g++.c++20.-O3.pie clang++.c++11.-Os.pie; do
		[ -x "$tmp/$name" ] || { skip "$name: values" "not built"; continue; }
		"$tmp/$name" >"$tmp/plain" 2>"$tmp/err"
		is "$(cat "$tmp/err")" "evaluated 0" "$name: the lazy argument is not evaluated while nobody traces"
		script "$tmp/$name" >"$tmp/s.bt"
		sed -i "s|usdt:$tmp/$name:|usdt:\"$tmp/$name\":|" "$tmp/s.bt" # g++: a path with ++ is quoted
		timeout 60 bpftrace -o "$tmp/out" "$tmp/s.bt" -c "$tmp/$name" >"$tmp/ran" 2>"$tmp/err"
		grep -v '^method\|^lambda\|^Attaching\|^$' "$tmp/ran" >"$tmp/want"
		is "$(grep -v '^Attaching\|^$' "$tmp/out" | sort)" "$(sort "$tmp/want")" "$name: a tracer prints the values that the program printed"
	done
else
	skip "a tracer prints the values that the program printed" "tracing needs root and bpftrace"
fi
done_testing
