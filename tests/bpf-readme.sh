#!/usr/bin/env bash
# Prints bpf/README.md, made of the headers of the scripts: tests/bpf-readme.sh >bpf/README.md
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../bpf"

cat <<'END'
<!-- Made by tests/bpf-readme.sh from the headers of the scripts: change those. -->
# Scripts

Each is a template: `scripts/bpftrace.sh PID SCRIPT.bt` makes it a bpftrace program for that process and runs it.
`bpftrace.sh -L` lists them, `bpftrace.sh -h SCRIPT` describes one: what it shows, how it is called, a sample
of its output, what it costs, its options and probes.

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

`enums.conf` lists the maps that are filled with the names of an enum when a script reads them and does not fill them,
like `@target` and `@subsystem` in nvmf.bt.

`probes.conf` has the signatures of well-known probes, so that their arguments have names and types in programs without debug
information or sources, too: SPDK, PostgreSQL, Python, PHP, Ruby, OpenJDK, the GNU C and C++ libraries, libvirt, SystemTap, SSSD,
MySQL, Perl, Tcl, Open vSwitch, GLib. Each section says whether it was verified, and how.

## The header of a script

The first comment of a script is its page, for people and for the tools above. After the line `NAME.bt - purpose` and some
sentences come sections, each a line in capitals with its text indented below it:

| section | says |
|---|---|
| TRACES | of which program, and how that must be built; a file without it is a part to include |
| USAGE | command lines, with what each is for |
| SAMPLE OUTPUT | of a real run, one section for each; the test of the script compares its shape with what that run prints |
| COLUMNS, MAPS | what is printed, where the sample does not say it |
| OVERHEAD | what an event costs the program, measured by `make bench-scripts` (tests/bench/overhead.sh), or why it was not |
| CAVEATS | what one must know to read the output right |

Options (`#pragma option NAME DEFAULT "help"`), the scope, enums, types and probes are not written down a second time:
`bpftrace.sh -h` takes them from the text of the script. Each script has a test with a real program in tests/live, or in
tests/vm for what needs a kernel of its own.
END
