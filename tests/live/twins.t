#!/usr/bin/env bash
# Two functions of one name in a file: which of them a name or an address means to bpftrace, bpftrace alone is asked. btgen
# traces that one, with its parameters, and names the other; where it cannot know, it refuses.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cd "$tmp" || exit 1
cat >local.c <<'END'
static __attribute__((noinline)) int twin(int first, int n) { __asm__ volatile(""); return n + first; }
int by_local(int n);
int by_local(int n) { return twin(1, n); }
END
cat >global.c <<'END'
int twin(int n, int last), by_local(int n);
__attribute__((noinline)) int twin(int n, int last) { __asm__ volatile(""); return n - last; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += by_local(100);
	for (int i = 0; i < 5; i++)
		sum += twin(200, i);
	return sum & 1;
}
END
gcc -O1 -g -o plain local.c global.c && gcc -O1 -g -rdynamic -o dynamic local.c global.c && gcc -O1 -g -rdynamic -o turned global.c local.c || exit 1
for name in plain dynamic; do
	objcopy --only-keep-debug $name $name-split.debug && strip --strip-all -o $name-split $name &&
		objcopy --add-gnu-debuglink=$name-split.debug $name-split || exit 1
done

# counted: "VALUE COUNT" of the map
counted() { sed -n 's/^@\[\([0-9]*\)\]: \([0-9]*\)$/\1 \2/p'; }
for program in plain dynamic turned plain-split dynamic-split; do
	# The register of the first parameter is 1 in the local one, 200 in the global one.
	bare=$(guard "$bpftrace" -e "uprobe:$tmp/$program:twin { @[arg0] = count(); }" -c "$tmp/$program" 2>/dev/null | counted)
	case $bare in
	'1 3') own='100 3' file=local.c other=global.c ;;
	'200 5') own='200 5' file=global.c other=local.c ;;
	*) ok "bpftrace traces one of the two" false && continue ;;
	esac
	out=$("$live_sh" -c "./$program" -e 'uprobe:__EXE__:twin { @[args.n] = count(); }' 2>&1)
	if grep -q 'error: bpftrace cannot attach to twin: .*may attach to another' <<<"$out"; then
		is "$program" dynamic-split "$program: it is not known, and refused"
	else
		is "$(counted <<<"$out")" "$own" "$program: the one that bpftrace takes, with its own parameter n"
		like "$out" "warning: 1 of 2 places of twin is not traced: .*, not this: twin\(\) at .*$other:" "$program: and the other is named"
		like "$("$live_sh" -c "./$program" -t 'uprobe:twi*' 2>&1 | grep -m 1 'uprobe:twin ')" "n=${own% *}( |\$)" "$program: -t of a pattern shows its parameters"
	fi
	for line in local.c:1 global.c:2; do
		case $line in "$file"*) continue ;; esac
		like "$("$live_sh" -c "./$program" -e "uprobe:__EXE__@$line { @ = count(); }" 2>&1)" "error: bpftrace cannot attach to $line: .*may attach to another" \
			"$program: no line of the other can be traced"
	done
	# As bpftrace and the clause may be, it has both or the first.
	like "$("$live_sh" -c "./$program" -e 'uprobe:__EXE__:twi* { @[probe] = count(); }' 2>&1)" \
		'warning: 1 of these functions may not be traced: bpftrace may attach only to the first of several called twin' \
		"$program: a pattern may have one of them only, which is said"
done
done_testing
