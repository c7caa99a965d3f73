#!/usr/bin/env bash
# A probe of one's own by SPDK's macros, as SPDK's guide has it: a line in bdev_nvme.c, a clause in nvme.bt, build, trace. Its
# arguments have names and types without a list. The oracle: what the program writes.
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$top/tests/live.sh"
echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1 || skip_all "no <sys/sdt.h> (systemtap-sdt-dev)"

cp -r "$top/tests/obj/infer/spdk" "$tmp/spdk"
cd "$tmp/spdk/module/bdev/nvme" || exit 1
sed -i '/^KEEP static void reset_complete/,/^}/s/^\tprintf(/\tSPDK_DTRACE_PROBE4(bdev_nvme_ctrlr_own, nvme_ctrlr->nbdev_ctrlr->name, success,\n\t\t\t   \&nvme_ctrlr->active_path_id->trid, nvme_ctrlr->ref);\n&/' bdev_nvme.c
cp "$top/bpf/nvme.bt" "$tmp/numbers.bt"
cp "$top/bpf/nvme.bt" "$tmp/names.bt"
cat >>"$tmp/numbers.bt" <<'E'
usdt:__EXE__:bdev_nvme_ctrlr_own {
	printf("%s success=%s ref=%d\n", str(arg1), arg2 ? "true" : "false", (int32)arg4);
}
E
cat >>"$tmp/names.bt" <<'E'
usdt:__EXE__:bdev_nvme_ctrlr_own {
	printf("%s success=%s trsvcid=%s ref=%d\n", str(args.name), args.success ? "true" : "false", str(args.trid->trsvcid), args.ref);
}
usdt:__EXE__:bdev_nvme_change_state { printf("%s -> %s\n", enum_name(nvme_reset_state, args.before), enum_name(nvme_reset_state, args.requested)); }
E

# traced ARG...: the lines of the trace, while the program does its work three times
traced() {
	: >"$tmp/out"
	live_start "$tmp/bdev_nvme"
	live_trace "${@/PID/$live_pid}" || return 1
	printf xxx >&8
	exec 8>&-
	live_wait
	[ $live_rc = 0 ] || cat "$tmp/messages"
}
# lines TEXT: of the trace, without the time that nvme.bt has before each
lines() { grep -e "$1" "$tmp/trace" | sed -E 's/^[0-9]+\.[0-9]{6}: //'; }
for build in {gcc,clang}\ -O{0,2}; do
	read -r cc level <<<"$build"
	command -v "$cc" >/dev/null || continue
	"$cc" -g "$level" -w -I../../../include -o "$tmp/bdev_nvme" bdev_nvme.c || ok "$build: compiles" false
	said=$("$tmp/bdev_nvme" <<<xx)
	traced PID "$tmp/names.bt"
	is "$(lines success)" "${said// state=?}" "$build: by names, with a member of a struct"
	is "$(lines '->' | tail -n 1)" "NVME_RESET_DONE -> NVME_RESET_RUNNING" "$build: ... and enumerators"
	traced PID "$tmp/numbers.bt"
	is "$(lines success)" "$(sed 's/ trsvcid=4420//; s/ state=.*//' <<<"$said")" "$build: by numbers, as SPDK's scripts have it"
	traced -t bdev_nvme_ctrlr_own PID
	is "$(sed -n 's/.*own name="Nvme0" success=\([a-z]*\) trid=0x[0-9a-f]* ref=\([0-9]*\).*/\1 \2/p' "$tmp/trace")" \
		"$(sed 's/.*success=\([a-z]*\) .*ref=\([0-9]*\) .*/\1 \2/' <<<"$said")" "$build: -t has names, and not what the macro adds"
done
done_testing
