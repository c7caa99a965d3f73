#!/usr/bin/env bash
# Structs shown out of their bytes: 200 random ones, with gdb as the judge; what C++ adds, against what the program says.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, build: lib.sh
show=$build/tests/unit/aggregate.t
random=$top/tests/obj/aggregate.py

if command -v gdb >/dev/null; then
	python3 "$random" make 200 13 "$tmp"
	# Numbers of a position-independent file are not yet those of its memory.
	gcc -g -w -Wno-packed-bitfield-compat -no-pie -o "$tmp/judge" "$tmp/structs.c" || skip_all "no compiler"
	LC_ALL=C gdb -nx -batch -ex 'set width 0' -ex 'set print repeats unlimited' -ex 'set print elements unlimited' \
		-ex 'set print symbol off' -ex 'set host-charset ASCII' -ex 'set target-charset ASCII' -x "$tmp/gdb.txt" \
		"$tmp/judge" >"$tmp/gdb.out" 2>&1
	for compile in 'gcc -g' 'gcc -gdwarf-2 -gstrict-dwarf' 'clang -g'; do
		if ! command -v "${compile%% *}" >/dev/null; then
			tap_result 0 "$compile # SKIP not installed"
			continue
		fi
		$compile -w -Wno-packed-bitfield-compat -Wno-unknown-warning-option -o "$tmp/structs" "$tmp/structs.c"
		"$show" "$tmp/structs" <"$tmp/asked.txt" >"$tmp/ours"
		is "$(python3 "$random" compare "$tmp" "$tmp/ours" 2>&1)" "200 of 200" "random structs are shown as gdb does ($compile)"
	done
else
	tap_result 0 "random structs # SKIP no gdb"
fi

# What C++ adds. The program says the address and the bytes of its own object.
cat >"$tmp/cxx.cc" <<'END'
#include <stdio.h>
#include <string>
#include <string_view>
namespace ns {
enum class color { red, green };
struct tag {};
struct base {
	int x = 1;
	virtual ~base() {}
};
struct object : base, tag {
	static int n;
	std::string text = "short", reserved = "kept", empty, none;
	std::string longer = std::string(40, 'x');
	std::string_view view = "elsewhere", inside = text, nothing;
	color c = color::green;
	int &reference = n;
	int base::*member = &base::x;
	char fifteen[15] = {'1', '2', '3', '4', '5', '6', '7', '8', '9', '0', '1', '2', '3', '4', '5'};
};
int object::n = 7;
}
int main()
{
	static ns::object o;
	o.reserved.reserve(100);
	o.none.reserve(100);
	printf("ns::object %p ", (void *)&o);
	for (size_t i = 0; i < sizeof(o); i++)
		printf("%02x", ((unsigned char *)&o)[i]);
	printf("\n");
}
END
if g++ -std=c++17 -g -o "$tmp/cxx" "$tmp/cxx.cc" 2>"$tmp/log"; then
	"$tmp/cxx" >"$tmp/cxx.said"
	"$show" "$tmp/cxx" <"$tmp/cxx.said" | sed 's/0x[0-9a-f]*/0xN/g' >"$tmp/ours"
	is "$(head -1 "$tmp/ours")" '{<ns::base> = {_vptr.base = 0xN, x = 1}, text = "short", reserved = {size = 4, ...}, empty = "", none = "", longer = {size = 40, ...}, view = {size = 9, ...}, inside = "short", nothing = "", c = ns::color::green, reference = 0xN, member = {...}, fifteen = "123456789012345"}' \
		"C++: bases, and strings whose text lies in the object"
	is "$(tail -1 "$tmp/ours")" '{"<ns::base>": {"_vptr.base": "0xN", "x": 1}, "text": "short", "reserved": {"size": 4, "...": true}, "empty": "", "none": "", "longer": {"size": 40, "...": true}, "view": {"size": 9, "...": true}, "inside": "short", "nothing": "", "c": {"name": "ns::color::green", "value": 1}, "reference": "0xN", "member": {"...": true}, "fifteen": "123456789012345"}' \
		"the same as JSON"
	sed 's/ 0x[0-9a-f]* / 0x10000 /' "$tmp/cxx.said" | "$show" "$tmp/cxx" | head -1 >"$tmp/ours"
	like "$(cat "$tmp/ours")" ' text = \{size = 5, ...\}, ' "the text of a copy that has been moved is elsewhere"
else
	tap_result 0 "C++ # SKIP no compiler"
fi
done_testing
