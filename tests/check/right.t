#!/usr/bin/env bash
# Right scripts: `btgen check` says nothing about any of them, for any bpftrace that they are for. They are those of right/,
# of bpf/ (against the programs that they are for), the exercises of docs/lab, and tests/cli/host.scripts.
# A script that needs a newer bpftrace has a `#pragma require`; in right/oneliners.txt `# from VERSION` is above it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

right=$top/tests/check/right
n_right=0

# from SCRIPT: the oldest bpftrace that it is for, 17 for 0.17
from() { sed -nE 's/^#pragma require bpftrace >= 0\.([0-9]+).*/\1/p; $s/.*/17/p' "$1" | head -n 1; }

# silent CLAIM OLDEST ARG...: nothing is said about the script for any bpftrace from 0.OLDEST on. Of $lacks: which probes
# that are optional its program does not have. That 0.17 holds less of a string than an array may have is true of any.
lacks=
silent() {
	local claim=$1 oldest=$2 version said all=
	shift 2
	n_right=$((n_right + 1))
	in_third || return
	for version in 17 23 27; do
		[ "$version" -ge "$oldest" ] || continue
		said=$("$btgen" check -W no-string-cut --for 0.$version "$@" 2>&1) || said+="status $?"
		[ -z "$lacks" ] || said=$(grep -vE "$lacks" <<<"$said")
		[ -z "$said" ] || all+="0.$version: $said"$'\n'
	done
	is "$all" "" "$claim"
}

# lacks_kernel FILE: the script uses types of the kernel, which are not here
lacks_kernel() { [ ! -r /sys/kernel/btf/vmlinux ] && grep -qE 'struct (task_struct|file)\>' "$1"; }

# folder NAME TARGET...: each script of right/NAME, against each of these
folder() {
	local name=$1 script target
	shift
	for script in "$right/$name"/*.bt; do
		if lacks_kernel "$script"; then
			skip "right/$name/${script##*/}" "no /sys/kernel/btf/vmlinux here"
			continue
		fi
		for target in "$@"; do
			silent "right/$name/${script##*/} on ${target##*/}" "$(from "$script")" -x "$target" "$script"
		done
		n_right=$((n_right + 1 - $#))
	done
}

# lacks_file TEXT: one of the files that the script names is not here, which it prints
lacks_file() {
	local file
	for file in $(grep -oE 'u(ret)?probe:/[^: ]+' <<<"$1" | cut -d: -f 2); do
		[ -e "$file" ] || { echo "no $file here" && return; }
	done
	return 1
}

# Scripts for the whole machine.
oldest=17
while IFS= read -r line; do
	case $line in
	'# from '*) oldest=${line##*0.} ;;
	'#'* | '') ;;
	*) if why=$(lacks_file "$line"); then skip "$line" "$why"; else silent "$line" "$oldest" -e "$line"; fi ;;
	esac
done <"$right/oneliners.txt"
for script in "$right"/host/*.bt "$right"/language/*.bt; do
	name=right/${script#"$right/"}
	if why=$(lacks_file "$(cat "$script")"); then
		skip "$name" "$why"
	else
		silent "$name" "$(from "$script")" "$script"
	fi
done

# Programs: declared types, types from the debug information alone, and a program about which hardly anything is known.
folder nvmf "$targets/nvmf_tgt"
gcc -O2 -g -I"$top/include/btgen/compat" -o "$tmp/orders" "$right/orders/orders.c" || exit 1
orders=("$tmp/orders")
stripped=$tmp/orders
if gcc -O2 -g -o "$tmp/orders-sdt" "$right/orders/orders.c" 2>/dev/null; then
	orders+=("$tmp/orders-sdt")
	stripped=$tmp/orders-sdt
else
	skip "right/orders with inferred types" "no <sys/sdt.h> here (systemtap-sdt-dev)"
fi
strip -o "$tmp/orders-stripped" "$stripped"
folder orders "${orders[@]}"
folder stripped "$tmp/orders-stripped"
g++ -std=c++17 -O2 -g -I"$top/include" -o "$tmp/shapes" "$right/shapes/shapes.cc" || exit 1
folder shapes "$tmp/shapes"
mkfifo "$tmp/stdin"
"$tmp/shapes" <"$tmp/stdin" >"$tmp/stdout" &
process=$!
own $process
exec 3>"$tmp/stdin"
wait_for grep -q ready "$tmp/stdout"

for script in "$right"/process/*.bt; do
	silent "right/process/${script##*/}" "$(from "$script")" -p $process "$script"
done
written=$n_right

python3 -c 'import ssl, sys; print("ready", flush=True); sys.stdin.read()' <"$tmp/stdin" >"$tmp/with_ssl" 3>&- & # a program with the library
with_ssl=$!
own $with_ssl
wait_for grep -q ready "$tmp/with_ssl"

# bpf/: SPDK's, those for any process (a C++ program that waits), those of the machine, and the rest on what is installed.
# for_script NAME: what the script is for, as options; nothing when it is not here
for_script() {
	local file=
	case $1 in
	nvme-trace | nvme-latency) echo --conf "$top/bpf/enums.conf" && return ;; # the machine
	arenas | condvar | connect-accept | exceptions | files | fsync | getaddrinfo | leaks | loader | longjmp | malloc | mutex | offcpu | readv | syscalls | syscall-latency)
		echo -p $process && return ;;
	tls) echo -p $with_ssl && return ;;
	java) file=$(printf '%s\n' /usr/lib/jvm/*/lib/server/libjvm.so | head -n 1) ;;
	php) file=$(command -v php) ;;
	postgresql*) file=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | head -n 1) ;;
	python) file=/usr/bin/python3 ;;
	ruby) file=$(ldd /usr/bin/ruby 2>/dev/null | sed -n 's/.*libruby.* => \([^ ]*\).*/\1/p') ;;
	*) file=$targets/nvmf_tgt ;;
	esac
	if readelf -n "$file" 2>/dev/null | grep -q stapsdt; then echo -x "$file"; fi
}

for script in $(cd "$top/bpf" && grep -l '^ \* TRACES' ./*.bt | sed 's|^\./||; s/\.bt$//'); do
	read -ra target <<<"$(for_script "$script")"
	if [ ${#target[@]} = 0 ]; then
		skip "bpf/$script.bt" "no program with such probes here"
		continue
	fi
	if lacks_kernel "$top/bpf/$script.bt"; then
		skip "bpf/$script.bt" "no /sys/kernel/btf/vmlinux here"
		continue
	fi
	# The distribution's program may be built without some probes, or with some that no newer bpftrace attaches to, which is said: what the script asks for with a pragma.
	lacks=
	case $script in
	arenas | loader | java | php | postgresql* | python | ruby)
		if grep -q '^#pragma optional' "$top/bpf/$script.bt"; then lacks='^btgen: (note: skipped, not in .*: [a-z_, ]+|warning: [0-9]+ of [0-9]+ probes (is|are) skipped: bpftrace 0\.[0-9]+ cannot attach to .*)$'; fi ;;
	condvar) lacks='^($|    |.*: warning: [0-9]+ of these functions may not be traced: bpftrace may attach only to the first )' ;; # 0.17
	esac
	silent "bpf/$script.bt" 17 "${target[@]}" "$top/bpf/$script.bt"
	# Each option the other way round.
	flipped=()
	while read -r option default; do
		flipped+=(-D "$option=$((!default))")
	done < <(sed -nE 's/^#pragma option ([A-Za-z_0-9]+) ([01]) .*/\1 \2/p' "$top/bpf/$script.bt")
	[ ${#flipped[@]} != 0 ] || continue
	silent "bpf/$script.bt ${flipped[*]}" 17 "${target[@]}" "${flipped[@]}" "$top/bpf/$script.bt"
	n_right=$((n_right - 1))
done
exec 3>&-
lacks=
silent "SPDK's scripts as one program" 17 -x "$targets/nvmf_tgt" \
	"$top"/bpf/{nvmf,spdk,nvme,sched,qpair,intr-wakeups,send_msg}.bt
n_right=$((n_right - 1))

# docs/lab: the programs as its pages make them.
mkdir -p "$tmp/lab/build"
ln -s "$top/docs" "$top/include" "$tmp/lab/"
(cd "$tmp/lab" && make -s --no-print-directory -j2 -f docs/lab/programs/lab.mk BUILD=build lab &&
	python3 "$top/tests/check/lab_scripts.py" "$tmp/lab" docs/lab/[0-9]*.md >programs && bash -e programs) >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "0 " "the programs of docs/lab are built"
(cd "$tmp/lab" && exec build/lab/market 600) >"$tmp/market" & # whose probes are in a library
market=$!
own $market
wait_for grep -q libscale.so /proc/$market/maps
n_lab=0
while read -r page target script; do
	options=(-x "$tmp/lab/$target")
	[[ $target != */market ]] || options=(-p "$market")
	silent "docs/lab/$page: $(head -n 1 "$script")" 17 "${options[@]}" "$script"
	n_lab=$((n_lab + 1))
done <"$tmp/lab/list"
ok "all exercises of docs/lab ($n_lab)" test $n_lab -ge 14

# host.scripts: that list is about what becomes of a script, some are halves of one or for a newer bpftrace; at its end for the
# newest.
newest=17
while IFS= read -r line; do
	oldest=$newest
	case $line in
	*'!@none'* | *'sys_exit_openat /@file[tid]'* | *'block_rq_complete /@start['*) continue ;; # a map that nothing sets
	'fn '*) continue ;; # no bpftrace takes it without another option
	*'print(@x[1])'* | 'fentry:'* | 'fexit:'* | 'rawtracepoint:'* | *'offsetof('*) oldest=23 ;;
	'config = '*) newest=27 oldest=27 ;;
	esac
	silent "host.scripts: $line" "$oldest" -e "$line"
done < <(grep -vE "^(##|$|"$'\t'")" "$top/tests/cli/host.scripts")

ok "at least 180 scripts in right/ alone ($written)" test "$written" -ge 180
ok "at least 120 right scripts ($n_right)" test "$n_right" -ge 120
done_testing
