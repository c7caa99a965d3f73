#!/usr/bin/env bash
# In C the type of each argument has a name, usdt_type__PROVIDER__NAME__K, in the debug information: pahole writes types into
# .BTF by name only. C++ and the drop-in have none. Nothing of it is a warning.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

cat >"$tmp/both.h" <<'END'
#include <btgen/usdt.h>
#define SDT_USE_VARIADIC
#include <btgen/compat/sys/sdt.h>
struct item { unsigned flags : 3; char name[8]; };
static inline __attribute__((always_inline)) void seen(struct item *it) { USDT_PROBE(app, seen, it); }
int other(struct item *it);
END
cat >"$tmp/main.c" <<'END'
#include "both.h"
static int handle(int x) { return x; }
USDT_SEMA_DEFINE(mine);
int main(int argc, char **argv)
{
	struct item it = {2, "widget"};
	seen(&it);
	USDT_PROBE(app, twice, argc);
	USDT_PROBE(app, twice, argc);
	USDT_PROBE(app, kinds, it.flags, it.name, handle, (void *)argv, USDT_ARG(argc + 1, "next"));
	USDT_PROBE_LAZY(app, lazy, it.name);
	USDT_PROBE_SEMA(mine, app, own, argc);
	USDT_PROBE(app, none);
	STAP_PROBE1(drop-in, my-name, argc);
	return other(&it);
}
END
cat >"$tmp/other.c" <<'END'
#include "both.h"
int other(struct item *it)
{
	seen(it);
	return 0;
}
END
cp "$tmp/main.c" "$tmp/main.cc"
cp "$tmp/other.c" "$tmp/other.cc"

# named FILE: the names of such types in the debug information, each with what it leads to
named() {
	/usr/bin/python3 - "$1" <<'END'
import sys
from elftools.elf.elffile import ELFFile
def name(die):
    if die is None:
        return "void"
    of = die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None
    if die.tag == "DW_TAG_pointer_type":
        return name(of) + " *"
    if die.tag == "DW_TAG_subroutine_type":
        return "function"
    return die.attributes["DW_AT_name"].value.decode()
found = set()
for cu in ELFFile(open(sys.argv[1], "rb")).get_dwarf_info().iter_CUs():
    for die in cu.iter_DIEs():
        if die.tag == "DW_TAG_typedef" and die.attributes["DW_AT_name"].value.startswith(b"usdt_type__app"):
            found.add("%s = %s" % (name(die), name(die.get_DIE_from_attribute("DW_AT_type"))))
print("\n".join(sorted(found)))
END
}
want='usdt_type__app__kinds__1 = BITS *
usdt_type__app__kinds__2 = char * *
usdt_type__app__kinds__3 = function * *
usdt_type__app__kinds__4 = void * *
usdt_type__app__kinds__5 = int *
usdt_type__app__lazy__1 = char * *
usdt_type__app__own__1 = int *
usdt_type__app__seen__1 = item * *
usdt_type__app__twice__1 = int *'
/usr/bin/python3 -c 'import elftools' 2>/dev/null || skip_all "no pyelftools for the oracle (python3-pyelftools)"
for cc in gcc clang g++ clang++; do
	command -v $cc >/dev/null || { skip "$cc" "no $cc"; continue; }
	x=c names=${want/BITS/int}
	[ $cc != clang ] || names=${want/BITS/unsigned int}
	case $cc in *++) x=cc names= ;; esac
	for opt in -O0 -O2; do
		for more in '' -DUSDT_DISABLE; do
			$cc $opt $more -g -Wall -Wextra -Wshadow -Wunused-local-typedefs -Werror -I"$top/include" -o "$tmp/app" "$tmp/main.$x" "$tmp/other.$x" \
				>"$tmp/log" 2>&1
			is "$? $(head -n 3 "$tmp/log")" "0 " "$cc $opt $more: no warning"
		done
		$cc $opt -g -I"$top/include" -o "$tmp/app" "$tmp/main.$x" "$tmp/other.$x" 2>"$tmp/log"
		is "$(named "$tmp/app")" "$names" "$cc $opt: names of types${names:+, of each argument}"
	done
done
done_testing
