#!/usr/bin/env bash
# Scripts that were written for bpftrace alone, with the program's structs copied by hand and variables that get their values in
# inner blocks, as SPDK's for its scheduler is: they run, or each reason why not is told at its line.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"
version=$("$bpftrace" --version | sed -n 's/^bpftrace v0\.\([0-9]*\).*/\1/p')

cat >"$tmp/structs" <<'E2'
struct core_figures {
	uint64_t totals[2];
	uint64_t idle;
	uint64_t busy;
	uint32_t core;
	uint32_t n_threads;
	bool sleeps;
};

E2

# messages: what bpftrace.sh says of the script on standard input, without the excerpts
messages() {
	cat "$tmp/structs" - >"$tmp/try.bt"
	guard "$live_sh" -c "$targets/nvmf_tgt -m 0xC" "$tmp/try.bt" </dev/null 2>&1 | grep -o 'try.bt:.*'
}

# Variables that have a value before the block, and percent signs written %%.
cat "$tmp/structs" - >"$tmp/good.bt" <<'E2'
usdt:__EXE__:dynsched_core_info {
	$figures = (struct core_figures *)arg2;
	$percent = (uint64)0;
	if ($figures->busy > 0) {
		$percent = $figures->busy * 100 / ($figures->busy + $figures->idle);
	}
	printf("core %d %2ld%% busy, threads:%d\n", $figures->core, $percent, $figures->n_threads);
}
E2
live_nvmf nvmf_tgt --interrupt-mode
ok "a script with structs of its own runs" live_tour "$live_pid" "$tmp/good.bt"
is "$(grep -cE '^core [23] +[0-9]+% busy, threads:[0-9]$' "$tmp/trace")" "$(grep -c dynsched_core_info "$tmp/log")" \
	"a line for each core in each round"
unlike "$(cat "$tmp/messages")" "error|uint64_t|warning" "and no word about the names of C's types, which bpftrace knows"

# Before 0.22 a variable lives as long as its clause.
said=$(messages <<'E2'
usdt:__EXE__:dynsched_core_info {
	$figures = (struct core_figures *)arg2;
	if ($figures->busy > 0) {
		$percent = $figures->busy * 100 / ($figures->busy + $figures->idle);
	} else {
		$percent = 0;
	}
	printf("%d %d\n", $figures->core, $percent);
}
E2
)
if [ "$version" -lt 22 ]; then
	is "$said" "" "0.17 takes variables of inner blocks"
else
	like "$said" '^try.bt:17:36: error: bpftrace: .*\$percent$' "a variable of an inner block is an error"
fi

said=$(messages <<'E2'
usdt:__EXE__:dynsched_core_info {
	printf("core:%2d% threads:%2d\n", arg1, arg0);
	printf("%d, 100% done\n", arg1);
	printf("%d%, %d%\n", arg1, arg0);
	printf("%d%% threads %d\n", arg1, arg0);
}
E2
)
if [ "$version" -lt 24 ]; then
	is "$said" "try.bt:11:18: error: bpftrace 0.$version does not know the flag ' ' of \"% t\" and would print garbage: write %% for a percent sign  [format]" \
		"a % with a blank, a letter and a value behind it is an error"
else
	is "$said" 'try.bt:12:17: error: "% d" is a conversion, too: write %% for a percent sign  [format]' \
		"a % with a blank and a letter behind it is an error"
fi

# Behind the last value, too, where bpftrace before 0.24 prints both of them
is "$("$live_sh" -q -x "$targets/nvmf_tgt" -e 'BEGIN { printf("%d%%, %s%%|%%\t%%\n", 4, "x"); printf("100%%\n"); printf("%d%%%d%%", 1, 2); exit(); }')" \
	$'4%, x%|%\t%\n100%\n1%2%' "%% is a percent sign wherever it stands"
done_testing
