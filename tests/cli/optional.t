#!/usr/bin/env bash
# #pragma optional holds in the file that says so. What it does there is in tests/cli/templates/optional.cases.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

# expand: the program for the template on stdin; messages in $tmp/err
expand() {
	cat >"$tmp/t.bt"
	"$btgen" expand -x "$targets/nvmf_tgt" --for 0.17 "$tmp/t.bt" 2>"$tmp/err"
}

printf '#pragma optional\nusdt:__EXE__:spdk:gone { }\n' >"$tmp/part.bt"
is "$(expand <<'END' | grep .
#include "part.bt"
usdt:__EXE__:msg_exec { @n = count(); }
END
)" "usdt:$targets/nvmf_tgt:spdk:msg_exec { @n = count(); }" "it holds in an included file that says so"
expand >/dev/null <<'END'
#include "part.bt"
usdt:__EXE__:spdk:gone_too { }
END
like "$? $(cat "$tmp/err")" '^1 .*no probe spdk:gone_too' "... and not in the one that includes it"

# The program has none of its own; its library has.
printf '#include <btgen/usdt.h>\nvoid f(void);\nvoid f(void) { USDT_PROBE(mine, hit, 1); }\n' >"$tmp/mine.c"
printf '#include <unistd.h>\nvoid f(void);\nint main(void) { f(); return (int)sleep(1000); }\n' >"$tmp/main.c"
gcc -shared -fPIC -I"$top/include" -o "$tmp/libmine.so.1" "$tmp/mine.c" && gcc -o "$tmp/main" "$tmp/main.c" "$tmp/libmine.so.1" || exit 1
"$tmp/main" &
own $!
while ! grep -q libmine /proc/$!/maps; do :; done
# noted CLAUSE: how often it is asked whether the program was built with probes
noted() { "$btgen" expand -p $! --for 0.17 -e $'#pragma optional\nusdt:__EXE__:gone { }\n'"$1" 2>&1 | grep -c 'no USDT probes at all'; }
is "$(noted 'interval:s:1 { }')" 1 "a program without any is asked about"
# Any case, as bpftrace 0.27 has it, and with its prefix.
for setting in 'missing_probes = "warn"' 'missing_probes=WARN' 'Missing_Probes = "Ignore"' 'BPFTRACE_MISSING_PROBES = "IGNORE"'; do
	out=$("$btgen" expand -p $! --for 0.27 -e "config = { $setting } uprobe:__EXE__:nosuch { print(1); } uprobe:__EXE__:main { print(2); }" 2>&1)
	is "$? $(grep -c 'error:' <<<"$out")" "0 0" "$setting"
done
is "$(noted 'usdt:libmine:hit { }')" 0 "... not where those of a library are traced"
done_testing
