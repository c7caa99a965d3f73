#!/usr/bin/env bash
# -l lists functions with their parameters, and the lines of a source file: what nm and readelf say that there is, as it can be pasted.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/mx.cc" <<'END'
#include <btgen/usdt.h>
#include <cstdio>
#include <unistd.h>
struct order {
	int id;
	double price;
};
namespace mx {
struct book {
	order orders[10];
	int n;
	__attribute__((noinline)) int submit(const order &o, const char *who) { USDT_PROBE(mx, put, o.id, who); orders[n++ % 10] = o; return n; }
	__attribute__((noinline)) int submit(int id) { return submit({id, 1.5}, "nobody"); }
};
struct level {
	int v;
	__attribute__((always_inline)) int take(int x) { __asm__ volatile(""); return x - v; }
};
struct op {
	int k;
	__attribute__((noinline)) int operator()(int x) const { __asm__ volatile(""); return x + k; }
};
template <typename T> __attribute__((noinline)) T twice(T x) { __asm__ volatile("" : "+r"(x)); return x + x; }
} // namespace mx
extern "C" __attribute__((noinline)) unsigned c_name(char *text, unsigned n)
{
	__asm__ volatile("" : : "r"(text));
	return n;
}

int main(int argc, char **argv)
{
	static mx::book b;
	mx::op op = {argc};
	mx::level level = {argc};
	char c;
	while (read(0, &c, 1) == 1)
		printf("%d\n", b.submit(mx::twice(argc)) + (int)mx::twice(3UL) + level.take(*argv[0]) + (int)c_name(argv[0], op(1)));
}
END
cd "$tmp" && g++ -O1 -g -fno-ipa-sra -fno-ipa-cp -I"$top/include" -o app mx.cc || exit 1
list() { "$btgen" probes "$@" 2>&1; }

is "$(list -x app 'uprobe:mx::*' | sort)" 'uprobe:mx::book::submit(struct mx::book *const this, const struct order *o, const char *who)
uprobe:mx::book::submit(struct mx::book *const this, int id)
uprobe:mx::op::operator()(const struct mx::op *const this, int x)
uprobe:mx::twice<int>(int x)
uprobe:mx::twice<unsigned long>(long unsigned int x)' "functions of a namespace: overloads, members and instances, with their parameters"
is "$(list -x app uretprobe:c_name)" "uretprobe:c_name(char *text, unsigned int n)  returns unsigned int" "a return has its type"
# A function without a size in the symbol table cannot be probed: _start, _init
is "$(list -x app 'uprobe:*' | grep -c '^uprobe:')" "$(nm -S --defined-only app | awk '$3 ~ /^[tTW]$/ && NF == 4 && $4 !~ /stapsdt/ { print $1 }' | sort -u | wc -l)" \
	"all of them: as many as nm has addresses of functions"
# ... and means as many functions as nm has of that name
while read -r line; do
	name=$(sed 's/operator()/operator@/; s/(.*//; s/operator@/operator()/' <<<"$line")
	"$btgen" run -n -x app -t "$name" >"$tmp/program" 2>&1
	case $name in
	usdt:*) n=1 ;;
	*) n=$(nm -C app | cut -d' ' -f3- | sed 's/^/ /; s/$/(/' | grep -cF " ${name#uprobe:}(") ;;
	esac
	is "$? $(grep -c "^${name%%:*}:" "$tmp/program")" "0 $n" "it can be pasted: $name"
done < <("$top/scripts/bpftrace.sh" -l -x app 'uprobe:mx::*' uprobe:main uprobe:c_name '*')
is "$(list -x app 'uprobe:mx::nothing*')" "btgen: error: no function matches 'uprobe:mx::nothing*'" "a pattern without a function: an error"
like "$("$btgen" run -n --latency uprobe:mx::level::take uprobe:c_name -x app 2>&1)" "note: take\(\) is inlined in main\(\)" "an inlined function by its scopes"
is "$(list -x app mx::book::submit)" "btgen: error: no probe matches 'mx::book::submit'
btgen: note: it is a function: use 'uprobe:mx::book::submit'" "a function that is taken for a probe"
is "$(list -x app put 'uprobe:c_*')" "uprobe:c_name(char *text, unsigned int n)
mx:put(int id, const char *who)" "probes and functions"
strip -o bare app
cat >"$tmp/one.c" <<'END'
__attribute__((noinline)) static int same(int one) { __asm__ volatile(""); return one; }
int two(char *p);
int main(int argc, char **argv) { return same(argc) + two(argv[0]); }
END
cat >"$tmp/two.c" <<'END'
__attribute__((noinline)) static int same(char *other) { __asm__ volatile(""); return *other; }
int two(char *p) { return same(p); }
END
gcc -O1 -g -fno-ipa-sra -fno-ipa-cp -o names one.c two.c
both=$'uprobe:same(char *other)\nuprobe:same(int one)'
is "$(list -x names 'uprobe:sam*' | sort)" "$both" "two functions of one name"
is "$(list -x names uprobe:same | sort)" "$both" "... by that name"
is "$(list -x names nowhere.c uprobe:same | sort)" "btgen: error: no file has debug information (-g) of nowhere.c
$both" "an error about one pattern hides none of another"
like "$(list -x bare uprobe:c_name)" "note: $tmp/bare is stripped: functions that it does not export have no names" "a stripped file says why there are none"
mkfifo in
./app <in &
pid=$!
own $pid
exec 8>in
wait_for grep -qs libc /proc/$pid/maps
is "$(list -p $pid 'uprobe:c_*' uprobe:twice | sed "s|$tmp|DIR|; /note:/d")" "btgen: error: no function matches 'uprobe:twice'
DIR/app: 1 function
uprobe:c_name(char *text, unsigned int n)" "of a process each file has its heading"
exec 8>&-

lines() { sed -nE 's/^uprobe:mx\.cc:([0-9]+) .*/\1/p' | sort -un; }
is "$(list -x app mx.cc | lines)" "$(readelf --debug-dump=decodedline app | awk '$1 == "mx.cc" && $2 ~ /^[0-9]+$/ && $NF == "x" { print $2 }' | sort -un)" \
	"a source file: the lines that readelf has"
is "$(list -x app nowhere.cc)" "btgen: error: no file has debug information (-g) of nowhere.cc" "one that the program has not"
is "$("$btgen" probes --json -x app mx.cc uprobe:main 2>&1)" "btgen: error: --json lists probes, not functions or source lines" "--json has neither"
done_testing
