#!/usr/bin/env bash
# Large scripts: the memory that a check takes must not grow with the square of their length.
. "$(dirname "$0")/../lib.sh"

# repeat N TEXT: N lines of it, each with its number for #
repeat() {
	local i
	for ((i = 1; i <= $1; i++)); do
		printf '%s\n' "${2//\#/$i}"
	done
}

# peak SCRIPT: MiB that its check takes
peak() {
	python3 - "$btgen" "$1" <<'PYTHON'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "check", "--for", "0.23", sys.argv[2]], stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PYTHON
}

# "$build" may be one with AddressSanitizer, which takes ten times as much.
most=500
{
	repeat 2500 'kprobe:a_function_with_quite_a_long_name_#,'
	echo 'kprobe:last { @ = count(); }'
} >"$tmp/probes.bt"
ok "a clause with 2500 probes" test "$(peak "$tmp/probes.bt")" -lt $most
repeat 2500 "interval:s:# { \$unused# = 1; print(\$unset#); }" >"$tmp/clauses.bt"
ok "2500 clauses, each with a variable that is not set, and one that is not read" test \
	"$(peak "$tmp/clauses.bt")" -lt $most
{
	echo 'BEGIN {'
	repeat 4000 "\$unused# = 1;"
	echo '}'
} >"$tmp/variables.bt"
ok "4000 variables in one clause" test "$(peak "$tmp/variables.bt")" -lt $most
done_testing
