#!/usr/bin/env bash
# Names and types that nobody declared are right where they are shown: whatever macros, scopes and optimizers do to a probe's
# arguments, with the source at hand, without it, and with one that has changed.
#
# The oracle: the same source built with the header that declares the types, which the compiler's own arithmetic fills.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh
here=$top/tests/obj
echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1 || skip_all "no <sys/sdt.h> (systemtap-sdt-dev)"

mkdir "$tmp/unlisted"
cp "$btgen" "$tmp/unlisted/btgen"
cp "$here/infer/wrappers.c" "$here/infer/scopes.cc" "$tmp"
python3 "$here/infer/forms.py" >"$tmp/forms.c"
cd "$tmp" || exit 1
declare -A right

# A member that a macro took is named by its place; the declared name is of "(r)->len".
expected='^mm:(len: arg0 is called len|req: arg0 is called name), not arg0$'
# compare WHAT: what is inferred for ./inferred against ./declared
compare() {
	local out
	unlisted/btgen probes --json -x inferred >inferred.json
	"$here/args.py" declared.json inferred.json >out
	out=$(sed '$d' out | grep -vE "$expected")
	is "$out" "" "$*: every type and name that is shown is right"
	read -r types _ _ names _ _ all _ <<<"$(tail -n 1 out)"
	right[$*]="$types types, $names names of $all"
}

for build in "gcc forms.c" "gcc wrappers.c" "g++ scopes.cc" "clang forms.c" "clang wrappers.c" "clang++ scopes.cc"; do
	read -r cc file <<<"$build"
	if ! command -v "$cc" >/dev/null; then
		skip "$build" "no $cc"
		continue
	fi
	for level in -O0 -O2 -O3 -Os "-O2 -flto"; do
		[[ $cc$level == clang*lto ]] && continue # one linker plugin more
		# shellcheck disable=SC2086 # several options
		"$cc" $level -g -w -I"$top/include/btgen/compat" -I"$top/include" -o declared "$file" 2>errors &&
			"$cc" $level -g -w -o inferred "$file" 2>errors || ok "$build $level: compiles" false
		"$btgen" probes --json -x declared >declared.json
		compare "$build $level"
		mv "$file" away
		compare "$build $level, no source"
		mv away "$file"
	done
done
for build in "${!right[@]}"; do echo "# $build: ${right[$build]}"; done | LC_ALL=C sort

# As many as before are known: what is right must not be the price of nothing wrong.
known() { local words; read -r -a words <<<"${right[$1]-0}"; echo $((words[0] * 100 / ${words[6]:-1})); }
ok "gcc, with the source: most types are known" test "$(known "gcc forms.c -O2")" -ge 85
ok "gcc, without: a third of them" test "$(known "gcc forms.c -O2, no source")" -ge 33

# A source that was changed since and has kept its time: what the places of variables contradict is not believed.
gcc -O2 -g -w -I"$top/include/btgen/compat" -I"$top/include" -o declared wrappers.c
gcc -O2 -g -w -o inferred wrappers.c
"$btgen" probes --json -x declared >declared.json
sed -i 's/direct, r, n, text/direct, text, n, r/; s/members, r->id, r->kind/members, r->kind, r->id/' wrappers.c
touch -d 2001-01-01 wrappers.c
compare "a source that has changed"

# What a name of the file is where a class or a namespace has it, too, is none of the file's.
if command -v g++ >/dev/null; then
	g++ -O1 -g -w -o inferred scopes.cc
	unlike "$(unlisted/btgen probes -v -x inferred)" 'method.*Queue' "a member is not taken for the global of its name"
fi

# A file of a stranger: macros that hold each other, and so often that following them all would take days.
python3 - <<'END' >loop.c
print("#include <sys/sdt.h>\n#define LOOP(n, x) " + "LOOP(n, x) " * 400 + "DTRACE_PROBE1(loop, n, x)\n#undef LOOP\n#define LOOP(n, x) DTRACE_PROBE1(loop, n, x)")
print("int main(int argc, char **argv) { (void)argv; LOOP(up, argc); return 0; }")
END
gcc -O1 -g -w -o inferred loop.c
sed -i '/^#undef/,/^#define/d' loop.c
touch -d 2001-01-01 loop.c
like "$(timeout 20 unlisted/btgen probes -v -x inferred)" 'up\(int argc\)' "macros that hold each other without end"
done_testing
