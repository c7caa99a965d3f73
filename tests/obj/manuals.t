#!/usr/bin/env bash
# Programs that are not ours, without their sources: every name and type that is inferred for an argument is the documented one.
#
# Oracles: the tables in tests/obj/manuals and below. A name is right when the manual or the program's own source has it in
# that place, a type when it is the source's or the manual's (manuals write int for size_t, and void * for any pointer).
# What runs depends on what is installed: openjdk-17-dbg is 240 MB, and Debian's C library has no probes.
# BTGEN_TEST_LIBC names the libc.so of a glibc that was configured with --enable-systemtap; BTGEN_TEST_SPDK an SPDK tree that was
# configured --with-usdt and built, static or shared, with its sources.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp, btgen: lib.sh
here=$top/tests/obj

# What bpf/probes.conf lists would be compared with the manuals that it is from.
mkdir "$tmp/unlisted"
cp "$btgen" "$tmp/unlisted/btgen"

# documented TABLE FILE NAME LEAST [ASSEMBLER]: all that is shown is in the table, and at least LEAST % of the types are known, of
# those in C: ASSEMBLER arguments are of functions that are written in assembler and have no variables
documented() {
	local types total
	"$tmp/unlisted/btgen" probes --json -x "$2" >"$tmp/inferred.json"
	"$here/args.py" "$1" "$tmp/inferred.json" >"$tmp/out"
	is "$(sed '$d' "$tmp/out")" "" "$3: every type and name that is shown is the documented one" &&
		printf '# %s: %s\n' "$3" "$(tail -n 1 "$tmp/out")"
	read -r types _ _ _ _ _ total _ < <(tail -n 1 "$tmp/out")
	ok "$3: the types of at least $4 % of the arguments are known" test $((types * 100 / (total - ${5-0}))) -ge "$4"
}

# https://docs.python.org/3.11/howto/instrumentation.html; names as in its text or its source
cat >"$tmp/python.txt" <<'TABLE'
python:function__entry char */const char *|filename, char */const char *|funcname, int|lineno
python:function__return char */const char *|filename, char */const char *|funcname, int|lineno
python:line char */const char *|filename/co_filename, char */const char *|funcname/co_name, int|lineno/line
python:gc__start int|generation
python:gc__done long/long int/Py_ssize_t|collected
python:import__find__load__start char */const char *|modulename
python:import__find__load__done char */const char *|modulename, int|found
python:audit char */const char *|event, void */PyObject *|tuple/eventArgs
TABLE
python=
for p in /usr/bin/python3.11-dbg /usr/lib/x86_64-linux-gnu/libpython3.11d.so.1.0; do
	[ -z "$python" ] && [ -e "$p" ] && "$btgen" probes -x "$p" 2>/dev/null | grep -q python: && python=$p
done
if [ -n "$python" ]; then
	documented "$tmp/python.txt" "$python" python3.11 50
else
	skip "python3.11" "no python3.11-dbg with probes"
fi

# Oracle's "DTrace Probes in HotSpot VM", and <jni.h> for the hundreds of JNI functions.
jvm=
for p in /usr/lib/jvm/*/lib/server/libjvm.so; do
	id=$(readelf -n "$p" 2>/dev/null | sed -n 's/.*Build ID: //p')
	[ -n "$id" ] && [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] && [ -e "${p%/lib/*}/include/jni.h" ] && jvm=$p
done
if [ -n "$jvm" ]; then
	{
		"$here/manuals/jni.py" "${jvm%/lib/*}/include/jni.h"
		cat "$here/manuals/hotspot.txt"
	} >"$tmp/jvm.txt"
	documented "$tmp/jvm.txt" "$jvm" libjvm 60
else
	skip "libjvm" "no libjvm.so with its debug information (openjdk-17-jdk-headless and openjdk-17-dbg of one version; 240 MB)"
fi

# The manual's chapter "Internal Probes", nptl/DESIGN-systemtap-probes.txt and elf/rtld-debugger-interface.txt. A copy with
# an old time: the library's own source, if it is at hand, is newer then and not believed.
libc=${BTGEN_TEST_LIBC:-}
for p in /lib/x86_64-linux-gnu/libc.so.6 /lib/aarch64-linux-gnu/libc.so.6 /lib64/libc.so.6; do
	[ -z "$libc" ] && [ -e "$p" ] && readelf -SW "$p" | grep -q stapsdt && libc=$p
done
if [ -n "$libc" ]; then
	cp "$libc" "$tmp/libc.so"
	touch -d 2001-01-01 "$tmp/libc.so"
	# In assembler: the three of setjmp and longjmp, with three arguments each.
	documented "$here/manuals/libc.txt" "$tmp/libc.so" libc 60 9
	rtld=$(dirname "$libc")/elf/ld.so
	if [ -e "$rtld" ]; then
		cp "$rtld" "$tmp/ld.so"
		touch -d 2001-01-01 "$tmp/ld.so"
		documented "$here/manuals/rtld.txt" "$tmp/ld.so" ld.so 40
	fi
else
	skip "libc" "libc.so.6 has no probes here, as on Debian; BTGEN_TEST_LIBC can name one that has"
fi

# What bpf/probes.conf lists of SPDK is what its sources and its debug information tell.
if [ -n "${BTGEN_TEST_SPDK:-}" ]; then
	mkdir "$tmp/spdk"
	files=() copies=()
	for p in "$BTGEN_TEST_SPDK"/build/bin/spdk_tgt "$BTGEN_TEST_SPDK"/build/lib/libspdk_*.so; do
		if "$btgen" probes -x "$p" 2>/dev/null | grep -q '^spdk:'; then
			files+=(-x "$p")
			copies+=(-x "$tmp/spdk/${p##*/}")
			strip -o "$tmp/spdk/${p##*/}" "$p"
		fi
	done
	"$tmp/unlisted/btgen" probes --json "${files[@]}" 'spdk:*' >"$tmp/inferred.json"
	"$btgen" probes --json "${copies[@]}" 'spdk:*' >"$tmp/listed.json"
	"$here/args.py" --all "$tmp/inferred.json" "$tmp/listed.json" >"$tmp/out"
	is "$(sed -E 's/^([0-9]+) types and [0-9]+ names of \1 arguments$/all/' "$tmp/out")" all \
		"SPDK: every type is listed, and those that its sources tell are the same ($(tail -n 1 "$tmp/out"))"
else
	skip "SPDK" "BTGEN_TEST_SPDK can name a built SPDK"
fi
done_testing
