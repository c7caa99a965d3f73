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
done_testing
