"""btgen bundle: a shell script with a program in it, for machines where only bpftrace is.

Paths, places of arguments, layouts and numbers of enumerators are those of one build, which the script looks for in the file
before bpftrace attaches to that. The process that fires could not be asked: a page that it shares with its parent and has not
read itself, as that of the build ID, is out of BPF's reach.

With --pcp it is the program itself, for the bpftrace agent of Performance Co-Pilot. That reads variables out of a program's
text with a pattern, `@name[key] = fn(`, and takes the last that it finds of each: comments at the end are such lines.
pcp-bpftrace.py, which the agent runs in bpftrace's place, finds there what the shell script looks for.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
import commandline
import diag
import outfile

METRICS = ("count", "sum", "min", "max", "avg", "stats", "hist", "lhist")

# How the script reads its command line. What it takes are options of bpftrace, which gets them as they are; a wrong one is
# reported here, for bpftrace's own text is about bpftrace, and about files.
READ_LINE = r"""refuse() { printf 'error: %s\n' "$*" >&2 && exit 1; }
misuse() { printf "error: %s\nTry '--help'.\n" "$*" >&2 && exit 2; }
usage() {
	cat <<END
Usage: sh BUNDLE [OPTION]...
Trace every process of $shown with bpftrace $version; ^C ends the trace.
A file that replaces it, as in an upgrade, is not traced: start the trace again.

  -o FILE        write the data to FILE
  -f text|json   the format of the data
  -p PID         trace this process only
  -c COMMAND     start COMMAND and trace it only
  -q             no messages
  -v             more messages
  -k             report reads of memory that fail
  -B full|none|line  when the data is written
  --no-warnings  no warnings
  --unsafe       allow system() and the like
  --usdt-file-activation  enable semaphores by the file's path
  -h, --help     this text

ENVIRONMENT: BPFTRACE is the bpftrace to run.
END
}
read_options() {
	while getopts :o:f:p:c:qvkB:h-: option; do
		case $option-$OPTARG in
		h* | --help) usage && exit ;;
		f-text | f-json | B-full | B-none | B-line) ;;
		f*) misuse "-f: unknown format '$OPTARG': text or json" ;;
		B*) misuse "-B: unknown mode '$OPTARG': full, none or line" ;;
		p- | p-0* | p-*[!0-9]*) misuse "-p: '$OPTARG' is not a process ID" ;;
		p-*) ! grep -qF " $file (deleted)" "/proc/$OPTARG/maps" 2>/dev/null ||
			refuse "process $OPTARG runs a $shown that has been replaced: restart it" ;;
		--no-warnings | --unsafe | --usdt-file-activation) ;;
		--*) misuse "unknown option '--$OPTARG'" ;;
		:-*) misuse "option '-$OPTARG' needs a value" ;;
		\?-*) misuse "unknown option '-$OPTARG'" ;;
		esac
	done
	shift $((OPTIND - 1))
	[ $# = 0 ] || misuse "unexpected argument '$1'"
}
read_options "$@"
"""
CHECK = r"""[ -r "$file" ] || refuse "there is no $shown here"
found=$(od -A n -v -t x1 -j {offset} -N {size} "$file" | tr -d ' \n')
[ "$found" = {id} ] || refuse "$shown is not the build that this script is for (build ID {id})"
words() {{ LC_ALL=C tr '\0' '\n' <"$file"; }}
words | grep -q '\.symtab$' || for name in $functions; do
	words | grep -q "$name\$" ||
		printf 'warning: %s is stripped: without a debug file it has no function %s\n' "$shown" "$name" >&2
done
is=$("$bpftrace" --version) || refuse "$bpftrace cannot be run"
case $is in
*v$version | *v$version.* | *v$version-*) ;;
*) refuse "$is: this is for bpftrace $version" ;;
esac
"""
KERNEL_TYPES = r"""case $(uname -r) in [1-4].* | 5.[0-9].* | 5.10.*)
	[ ! -r /sys/kernel/btf/vmlinux ] ||
		export BPFTRACE_BTF="${BPFTRACE_BTF-/sys/kernel/btf/vmlinux}" ;;
esac
"""


def quote(data):
    """One word of a shell."""
    return b"'" + data.replace(b"'", b"'\\''") + b"'"


def shell_script(facts):
    file = facts["file"]
    build_id = file["build_id"]
    path = commandline.raw(file["path"])
    if not build_id:
        raise diag.error("%s has no build ID: relink it with -Wl,--build-id" % commandline.text(file["read"]))
    shown = diag.printable(commandline.text(file["path"])).encode("utf-8", "surrogateescape")
    functions = b" ".join(map(commandline.raw, file["functions"]))
    head = ["#!/bin/sh\n# Made by btgen bundle.\n", b"file=", quote(path), b"\nshown=", quote(shown),
            "\nversion=%s\nbpftrace=${BPFTRACE:-bpftrace}\nunsafe=%s\nfunctions=" % (facts["version"], "--unsafe" if facts["unsafe"] else "''"),
            quote(functions), "\n", READ_LINE, CHECK.format(offset=file["build_id_offset"], size=len(build_id) // 2, id=build_id)]
    head += ['export %s="${%s-%s}"\n' % (name, name, value) for name, value in facts["environment"].items()]
    head += [KERNEL_TYPES] if facts["kernel_types_by_number"] else []
    # The line that ends the program has a build ID: no line of it is the same.
    end = "END-" + build_id
    return head + ["exec \"$bpftrace\" $unsafe \"$@\" /dev/fd/3 3<<'%s'\n" % end, commandline.raw(facts["program"]), "\n%s\n" % end]


def suffix_of(metric):
    """The agent takes a histogram without a key, and cannot know one of equal steps from one of powers of two: the others are
    maps with a bucket in the key, which pcp-bpftrace.py makes of them."""
    if metric["function"] == "lhist":
        return "_linear"
    return "_histogram" if metric["key"] and metric["function"] == "hist" else ""


def line_of(metric):
    """The agent makes a counter, which has a rate, of count() only."""
    suffix, function = suffix_of(metric), metric["function"]
    is_counter = suffix or (function == "sum" and not metric["signed"])
    has_key = suffix or metric["key"] or function == "stats"
    return "// @%s%s%s = %s()\n" % (metric["name"], suffix, "[key]" if has_key else "", "count" if is_counter else function)


def conditions(facts):
    """What pcp-bpftrace.py looks for, and sets."""
    found = {"version": facts["version"]}
    if facts["file"]:
        file = facts["file"]
        found.update(file=commandline.text(file["path"]), offset=file["build_id_offset"], build_id=file["build_id"] or "")
    found.update((name, int(value)) for name, value in facts["environment"].items() if name.endswith("STRLEN"))
    found["by_number"] = facts["kernel_types_by_number"]
    return json.dumps(found)


def pcp_program(facts):
    metrics = [m for m in facts["maps"] if m["function"] in METRICS and not m["cleared"]]
    if not metrics:
        raise diag.error("the script has no metrics: use maps of count(), sum(), min(), max(), avg(), stats(), hist() or lhist() "
                         "that END does not clear")
    return [commandline.raw(facts["program"]), "\n// btgen %s\n" % conditions(facts),
            "// include: %s\n// custom-output-block\n" % ",".join("@" + m["name"] + suffix_of(m) for m in metrics),
            *map(line_of, metrics), "interval:s:1 { %s }\n" % " ".join("print(@%s);" % m["name"] for m in metrics)]


def run(argv):
    words = commandline.Words(argv)
    expand = [words.btgen, "expand", "--json", *[w for w in words.options if w not in words.these("output", "pcp")],
              *["./" + name if name.startswith("-") else name for name in words.operands]]
    done = subprocess.run(expand, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return done.returncode
    facts = json.loads(done.stdout.decode())
    text = pcp_program(facts) if words.has("pcp") else shell_script(facts)
    outfile.write("-o", words.value("output"), b"".join(t if isinstance(t, bytes) else t.encode() for t in text))
    return 0


diag.main(run, sys.argv)
