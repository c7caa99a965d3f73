#!/usr/bin/env bash
# Prints bpf/README.md, made of the headers of the scripts: tests/bpf-readme.sh >bpf/README.md
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../bpf"

cat <<'END'
<!-- Made by tests/bpf-readme.sh from the headers of the scripts: change those. -->
# Scripts

Each is a template: `scripts/bpftrace.sh PID SCRIPT.bt` expands it into a bpftrace program for that process and runs it.
`bpftrace.sh -L` lists them. `bpftrace.sh -h SCRIPT` describes one: purpose, usage, sample output, cost, options and probes.

| script | traces | shows |
|---|---|---|
END
awk '
	FNR == 2 { line = substr($0, 4); text = "" }
	/^ \* TRACES/ { traces = 1; next }
	traces && /^ \*   / { text = text (text ? " " : "") substr($0, 6); next }
	traces {
		split(line, part, ".bt - ")
		printf "| [%s.bt](%s.bt) | %s | %s |\n", part[1], part[1], text, part[2]
		traces = 0
	}
	/^ \*\// { nextfile }' ./*.bt
cat <<'END'

To include in a script of your own:

END
for file in *.bt; do
	grep -q '^ \* TRACES' "$file" || sed -n '2{s/^ \* \([^ ]*\) - \(.*\)/- [\1](\1): \2/p;q}' "$file"
done
cat <<'END'

`enums.conf` lists maps that are filled with the names of an enum if a script reads them but does not fill them, such as
`@target` and `@subsystem` in nvmf.bt.

`probes.conf` has the signatures of well-known probes, so that their arguments have names and types even in programs without
debug information or sources: SPDK, PostgreSQL, Python, PHP, Ruby, OpenJDK, the GNU C and C++ libraries, libvirt, SystemTap, SSSD,
MySQL, Perl, Tcl, Open vSwitch, GLib. The comment of each section describes whether and how it was verified.

## The header of a script

The first comment of a script is its manual, for people and for the tools above. The line `NAME.bt - purpose` and a few
sentences are followed by sections, each a line in capitals with its text indented below it:

| section | content |
|---|---|
| TRACES | which program, and how it must be built; a file without this section is for inclusion |
| USAGE | command lines, with the purpose of each |
| SAMPLE OUTPUT | one section for each sample of a real run; the script's test compares its shape with the output of that run |
| COLUMNS, MAPS | explanation of the output |
| OVERHEAD | what an event costs the program, measured by `make bench-scripts` (tests/bench/overhead.sh), or why it was not |
| CAVEATS | what limits the output, and how to read it |

Options (`#pragma option NAME DEFAULT "help"`), the scope, enums, types and probes are not repeated in it: `bpftrace.sh -h` takes
them from the script. Each script has a test with a real program in tests/live, or in tests/vm if it needs a kernel of its own.
END
