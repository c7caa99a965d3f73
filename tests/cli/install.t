#!/usr/bin/env bash
# make install and uninstall: what is installed works by itself, and goes again.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
unset BTGEN # the installed wrapper must find the installed btgen

dest="$tmp/a folder/it's"
prefix=$dest/opt/btgen
mkdir -p "$tmp/elsewhere"
cd "$tmp/elsewhere" || exit

# The checkout's config.mak says /usr/local or something else; the prefix is ours here.
run_make() {
	make -s -C "$top" BUILD="$build" PREFIX=/opt/btgen DESTDIR="$dest" "$@" >"$tmp/make.log" 2>&1
}

ok "make install into a DESTDIR with a blank and a quote" run_make install
is "$(cd "$dest" && find . -type f ! -path './opt/btgen/*')" "" "nothing is put beside the prefix"
is "$(find "$prefix/bin" -type f -perm 755 -printf '%f\n' | sort)" "$(printf '%s\n' btgen bpftrace.sh btgen-report qpair-lifetime | sort)" "the commands"
is "$(cd "$prefix/share/btgen" && find bpf -type f | sort)" "$(cd "$top" && find bpf -type f | sort)" "all scripts and tables"
is "$(cd "$prefix/share/btgen" && find babeltrace -type f)" babeltrace/bt_plugin_btgen.py "the plugin of babeltrace2, in a folder of its own"
is "$(cd "$prefix/include" && find . -type f | sort)" "$(cd "$top/include" && find . -type f | sort)" "all headers"
is "$(cd "$prefix/share/man" && find . -type f | sort)" "./man1/btgen-report.1
./man1/btgen.1
./man1/qpair-lifetime.1
./man3/btgen-usdt.3
./man5/btgen-template.5
./man8/bpftrace.sh.8" "a manual page in each section"
is "$(find "$dest" -type f ! -perm 644 ! -path '*/bin/*' ! -name '*.py')" "" "everyone may read them"

is "$("$prefix/bin/bpftrace.sh" --version)" "$("$btgen" --version)" "the installed bpftrace.sh finds the installed btgen"
ok "and through a symbolic link" ln -s "$prefix/bin/bpftrace.sh" "$tmp/link"
is "$("$tmp/link" --version)" "$("$btgen" --version)" "... which may be anywhere"
"$prefix/bin/btgen" expand -x "$targets/nvmf_tgt" nvmf >"$tmp/installed" 2>&1
is $? 0 "the installed btgen finds its scripts and its list of enum tables"
is "$("$prefix/bin/btgen-report" --help | head -n 1)" "usage: btgen-report [-h] [-o FILE] [--events N] [--source DIR] CAPTURE [AFTER]" "btgen-report is there"
echo '{"text": "of the installed one"}' >"$tmp/capture.json"
"$prefix/bin/btgen-report" "$tmp/capture.json" 2>"$tmp/said"
is "$? $(grep -c 'of the installed one' "$tmp/capture.html")" "0 1" "... and finds the page that it fills in"
ok "and makes the same program as the checkout's" \
	cmp "$tmp/installed" <("$btgen" expand -x "$targets/nvmf_tgt" nvmf)

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <sys/sdt.h>
#include <folly/tracing/StaticTracepoint.h>
int main(int argc, char **argv) { USDT_PROBE(app, begin, argc, argv); DTRACE_PROBE1(app, end, argc); FOLLY_SDT(app, out); return 0; }
END
ok "a program is compiled with the installed headers" \
	gcc -g -I"$prefix/include" -I"$prefix/include/btgen/compat" -o "$tmp/app" "$tmp/app.c"
is "$("$prefix/bin/btgen" probes -x "$tmp/app" | grep -c '^app:')" 3 "and its probes are listed"


# pkg-config and CMake; a package is unpacked elsewhere than it was configured for, and so is found there
is "$(cd "$prefix/share" && find pkgconfig cmake -type f | sort)" "cmake/btgen/btgen-config-version.cmake
cmake/btgen/btgen-config.cmake
pkgconfig/btgen.pc" "what tells pkg-config and CMake of them"
if command -v pkg-config >/dev/null; then
	pc() { PKG_CONFIG_PATH=$prefix/share/pkgconfig pkg-config "$@" btgen; }
	is "$(pc --modversion)" "$("$btgen" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')" "pkg-config: the version is that of btgen"
	is "$(pc --cflags | xargs),$(pc --libs | xargs),$(pc --variable=compatdir)" "-I/opt/btgen/include,,/opt/btgen/include/btgen/compat" \
		"pkg-config: the folders are those of the prefix, without DESTDIR; nothing is linked"
else
	skip "pkg-config" "no pkg-config"
fi
if command -v cmake >/dev/null; then
	mkdir "$tmp/cmake" && cp "$tmp/app.c" "$tmp/cmake/"
	cat >"$tmp/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(app C)
find_package(btgen ${WANTED} REQUIRED)
add_executable(app app.c)
target_link_libraries(app PRIVATE btgen::sdt)
if(EMBED)
  btgen_embed(app)
endif()
END
	# cmake_app OPTION...: how many probes its program has, or why it is not built
	cmake_app() {
		rm -rf "$tmp/cmake/build"
		{ cmake -S "$tmp/cmake" -B "$tmp/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" "$@" && cmake --build "$tmp/cmake/build"; } \
			>"$tmp/cmake/log" 2>&1 || { grep -m 1 -oE 'configuration file.*compatible.*|rror: .*' "$tmp/cmake/log"; return; }
		readelf -n "$tmp/cmake/build/app" | grep -c NT_STAPSDT
	}
	is "$(cmake_app) $(cmake_app -DWANTED=0.1 -DBTGEN_USDT=OFF)" "3 0" \
		"CMake: both headers are found where the package is, and an option compiles the probes out"
	is "$(cmake_app -DWANTED=99 | grep -o compatible) $(cmake_app -DWANTED=0.99 | grep -o compatible)" "compatible compatible" \
		"CMake: a later version than there is, is not found"
	is "$(cmake_app) $(grep -c Warning "$tmp/cmake/log")" "3 0" "CMake: without a warning"
	sum=$(cksum <"$tmp/cmake/build/app")
	is "$(cmake_app -DEMBED=ON) $(cksum <"$tmp/cmake/build/app")" "3 $sum" "CMake: btgen_embed() does nothing to the program"
	like "$(tr -s ' \n' ' ' <"$tmp/cmake/log")" 'CMake Warning at .* btgen_embed\(app\) does nothing: btgen embed was removed. Keep the debug' "... and warns"
else
	skip "CMake" "no cmake"
fi
is "$(cd "$prefix/share/bash-completion/completions" && for name in *; do cmp "$name" "$top/scripts/completion.bash" && echo "$name"; done)" \
	"bpftrace.sh
btgen" "completion for bash, by the names of the commands"
is "$(cd "$prefix/share" && cmp zsh/site-functions/_btgen "$top/scripts/completion.zsh" && for name in fish/vendor_completions.d/*; do
	cmp "$name" "$top/scripts/completion.fish" && echo "${name##*/}"
done)" "bpftrace.sh.fish
btgen.fish" "... for zsh and fish"

is "$(cd "$prefix/share/doc/btgen" && find . -type f | sort)" \
	"$(cd "$top" && find ./README.md ./CONTRIBUTING.md ./LICENSE ./docs -type f ! -path './docs/man/*' | sort)" \
		"the documents, where README.md says, and the lab"
cat >"$tmp/links.py" <<'END'
"""Prints the links of the Markdown files below the folders given that lead to nothing, and how many it followed."""
import os
import re
import sys

n = 0
for top in sys.argv[1:]:
    for folder, _, names in os.walk(top):
        for name in (name for name in names if name.endswith(".md")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if not re.match("[a-z]+:", link):
                    n += 1
                    if not os.path.exists(os.path.join(folder, link)):
                        print(os.path.join(folder, name), link)
print("many" if n > 80 else n)
END
is "$(python3 "$tmp/links.py" "$prefix/share/doc/btgen" "$prefix/share/btgen")" many "every link of the installed documents leads somewhere"
# The lab's README has the commands for a folder without a checkout.
mkdir "$tmp/lab"
sed -n '/^    mkdir scripts build/,/^$/s/^    //p' "$top/docs/lab/README.md" | sed "s|/usr/local/|\"\$PREFIX\"/|" >"$tmp/lab.sh"
(cd "$tmp/lab" && unset BUILD MAKEFLAGS MAKEOVERRIDES MFLAGS &&
	PREFIX=$prefix PATH=$prefix/bin:$PATH bash -e "$tmp/lab.sh") >"$tmp/lab.out" 2>&1
is "$? $(grep -i error "$tmp/lab.out")" "0 " "a folder for the lab is made of what is installed, as its page says"
is "$(cd "$tmp/lab" && build/btgen probes -x build/lab/users | head -n 1) $(cd "$tmp/lab" && scripts/bpftrace.sh --version)" \
	"users:found(char *login, char *home, __uid_t pw_uid)  a name was looked up, and there is such a user $("$btgen" --version)" "and the commands of its pages work there"
ok "all its programs are built" test "$(find "$tmp/lab/build/lab" -type f | wc -l)" = 9

if can_trace; then
	WRAPPER=$prefix/bin/bpftrace.sh "$top/tests/demo.sh" >"$tmp/demo" 2>&1
	is $? 0 "the demo, run by the installed bpftrace.sh, prints the states of two threads" || sed 's/^/#   /' "$tmp/demo"
	like "$(cat "$tmp/demo")" "a folder/it's/opt/btgen/bin/bpftrace.sh [0-9]+ nvmf.bt" "... it was the installed one"
else
	skip_tracing "the demo, run by the installed bpftrace.sh"
fi

mkdir -p "$prefix/share/other" && echo mine >"$prefix/share/other/file" && echo mine >"$prefix/bin/mine"
ok "make uninstall" run_make uninstall
is "$(cd "$prefix" && find . -type f | sort)" "./bin/mine
./share/other/file" "leaves the files of others, and none of ours"
is "$(find "$prefix" -name '*btgen*')" "$prefix" "nor a folder"
ok "make uninstall again has nothing to do" run_make uninstall

# GNU's names. Each installation goes into a folder of its own, which find looks at.
# gnu NAME VARIABLE=DIR...: make install into $tmp/NAME; a path of a variable begins with it
gnu() {
	local name=$1
	shift
	make -s -C "$top" BUILD="$build" DESTDIR="$tmp/$name" "$@" install >"$tmp/make.log" 2>&1
}
# The directories that hold what an installation is known by.
landed() {
	(cd "$tmp/$1" && find . -name btgen -type f -path '*bin*' -o -name enums.conf -o -name usdt.h -o -name btgen.1 -type f -o -name README.md -path '*btgen/README.md' -o -name _btgen) | sed 's/^\.//' | sort
}
below() {
	printf '%s\n' "$1/bin/btgen" "$1/include/btgen/usdt.h" "$1/share/btgen/bpf/enums.conf" "$1/share/doc/btgen/README.md" \
		"$1/share/man/man1/btgen.1" "$1/share/zsh/site-functions/_btgen"
}
gnu lower prefix=/opt/x
is "$? $(landed lower)" "0 $(below /opt/x)" "make install prefix=DIR installs there"
gnu both PREFIX=/opt/y prefix=/opt/x
is "$? $(landed both)" "0 $(below /opt/x)" "... and prefix is stronger than PREFIX"
gnu unused prefix=/opt/x libdir=/opt/x/lib64 sysconfdir=/etc localstatedir=/var
is "$? $(landed unused)" "0 $(below /opt/x)" "directories that nothing is put into are taken without complaint"
gnu exec prefix=/opt/x exec_prefix=/opt/x datarootdir=/opt/x/share
is "$? $(landed exec)" "0 $(below /opt/x)" "exec_prefix and datarootdir are taken"
all=(prefix=/opt/x bindir=/srv/x/sbin datadir=/srv/x/share includedir=/srv/h mandir=/srv/m docdir=/srv/d/btgen)
gnu each "${all[@]}"
is "$? $(landed each)" "0 /srv/d/btgen/README.md
/srv/h/btgen/usdt.h
/srv/m/man1/btgen.1
/srv/x/sbin/btgen
/srv/x/share/btgen/bpf/enums.conf
/srv/x/share/zsh/site-functions/_btgen" "each directory can be chosen, datadir being what btgen's is in"
is "$(cd "$tmp/each" && find . -path './opt*')" "" "... and then nothing is below the prefix"
ok "btgen finds its scripts there" cmp "$tmp/installed" <("$tmp/each/srv/x/sbin/btgen" expand -x "$targets/nvmf_tgt" nvmf)
is "$(python3 "$tmp/links.py" "$tmp/each/srv/d" "$tmp/each/srv/x")" many "the links of the documents lead somewhere"
is "$(sed -n 's/^includedir=//p' "$tmp/each/srv/x/share/pkgconfig/btgen.pc")" /srv/h "pkg-config is told of another includedir"
ok "... and CMake" grep -q '/\.\./h"' "$tmp/each/srv/x/share/cmake/btgen/btgen-config.cmake"
mkdir -p "$tmp/each/srv/d/btgen/empty" "$tmp/each/srv/x/share/cmake/btgen" && touch "$tmp/each/srv/"{d/btgen/mine,x/share/mine,x/share/cmake/btgen/mine}
ok "make uninstall takes the same names" make -s -C "$top" BUILD="$build" DESTDIR="$tmp/each" "${all[@]}" uninstall
is "$(cd "$tmp/each" && find . ! -type d | sort) $(find "$tmp/each" -name empty -printf %f)" "./srv/d/btgen/mine
./srv/x/share/cmake/btgen/mine
./srv/x/share/mine empty" "... and leaves what others have put beside ours"

# refused REGEX CLAIM VARIABLE=DIR...: make install and uninstall
refused() {
	local regex=$1 claim=$2
	shift 2
	gnu refused "$@"
	is "$? $(find "$tmp/refused" 2>/dev/null)" "2 " "$claim is refused, and nothing is installed"
	like "$(cat "$tmp/make.log")" "$regex" "... with what is wrong"
	not_ok "... by uninstall, too" make -s -C "$top" BUILD="$build" DESTDIR="$tmp/refused" "$@" uninstall 2>/dev/null
}
refused 'finds its scripts in .*/opt/x/share/btgen.*, not in /srv/data/btgen: give' "a datadir in which btgen would not find its scripts" prefix=/opt/x datadir=/srv/data
refused "bindir=/opt/a b/bin: not an absolute path" "a prefix with a blank" prefix='/opt/a b'
refused 'mandir=share/man: not an absolute path' "a relative directory" prefix=/opt/x mandir=share/man
done_testing
