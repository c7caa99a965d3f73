#!/bin/bash
# Traces a running program with a bpftrace template: finds btgen, reads the command line, hands over.
set -euo pipefail

# Root runs this, with a PATH that may have the current folder in it: the system's own, whatever lies there.
awk() { command -p awk "$@"; }
cat() { command -p cat; }
dirname() { command -p dirname "$@"; }
readlink() { command -p readlink "$@"; }
sort() { command -p sort; }

usage() {
	cat <<'EOF'
Usage: bpftrace.sh [OPTION]... PID|NAME SCRIPT.bt... [-- ARG...]
       bpftrace.sh [OPTION]... -x FILE SCRIPT.bt... every process of a program, later ones too
       bpftrace.sh [OPTION]... -c COMMAND SCRIPT.bt...
       bpftrace.sh [OPTION]... SCRIPT.bt...         scripts for the whole host
       bpftrace.sh [OPTION]... -t PATTERN PID|NAME  every event of the probes that match, no script
       bpftrace.sh [OPTION]... --latency START DONE PID|NAME
       bpftrace.sh -l PID|NAME|FILE [PATTERN]...    what can be traced
       bpftrace.sh -L                               the scripts there are
       bpftrace.sh -h SCRIPT                        what one shows, its options, a sample

EXAMPLES
  bpftrace.sh `pidof nvmf_tgt` nvmf.bt              states and events by name
  bpftrace.sh -o trace.txt `pidof app` app.bt       data to a file, messages stay here
  bpftrace.sh -n `pidof app` app.bt                 print the program and stop
  bpftrace.sh -e 'usdt:__EXE__:query__start { printf("%s\n", str(arg0)); }' PID
  bpftrace.sh -x /usr/bin/php8.2 php.bt             all that run it, and those that will
  bpftrace.sh -c './app --fast' app.bt              trace from the first instruction
  bpftrace.sh -t 'nvmf_*' `pidof nvmf_tgt`          each event with its arguments, named and typed
  bpftrace.sh -l `pidof app` 'nvmf_*'               its probes and their arguments

OPTIONS
  -o FILE           write the data to FILE (as does BPF_OUTFILE); untouched if nothing is attached
  -n                print the program and stop
  --echo            print what runs, and go on
  -e TEXT           template text instead of a file
  -t PATTERN        every event of the probes that match, instead of a script; uprobe:NAME, uretprobe:FILE:NAME: of functions
  --deep N          with -t: structs that pointers lead to, N levels
  --stack           with -t: the user stack behind each event
  --filter CONDITION
                    with -t, --latency: only events for which it holds, as 'args.len > 4096'
  --count[=KEY,...] with -t: how many events of each KEY: probe [that], comm, pid, tid, an argument
  --latency START DONE
                    how long from probe START to probe DONE: a histogram with percentiles
  --key KEY         with --latency: what the two have in common [tid]
  -f text|json      how lines are printed; json, also with -o FILE.json: one object a line;
                    -f perfetto: a timeline, -f folded: stacks for a flame graph
  -D NAME[=VALUE]   define a macro
  -I DIR            search DIR for #include
  -c COMMAND        start COMMAND and trace it
  -W NAME|no-NAME|error
                    show findings called NAME, or not; make warnings errors
  --force           run in spite of findings that are errors
  -w                wait until a program of that NAME runs
  --follow          when the process ends, wait for the next of its name, and go on
  -x FILE           trace every process that runs or maps FILE, from now on
  --children        trace the processes, too, that those given fork
  --cgroup PATH     of the NAME given, or all: the processes in this cgroup, later ones too
  -q                no messages but errors, lost events and skipped probes
  -v                say which files were chosen and what is run
  -s                in the order of time; each line with time, CPU, PID, TID and probe
  --time wall|mono|since
                    the time in front of each line: of day, since boot, since the first
  -T SECONDS, -N N  end the trace after SECONDS, after N lines of events, as ^C does
  --strict          lost events or skipped probes are an error: exit status 3
  --bpftrace PATH   the bpftrace to use
  --ready-file FILE, --ready-fd N
                    write a line there once all probes are attached
  -l                list the probes, a line each; with -v: places, sources, operands, semaphores, too
  --json            with -l: all about them, as one JSON array
  -L                list the scripts, a line each
  -h SCRIPT         the page of a script
  -h, --help        this text
  --version         btgen's

A script is looked for as given, then in the current folder, then among btgen's own scripts, with or
without .bt, where - and _ are alike; ./SCRIPT is the one here. ^C ends the trace and prints its maps.
ENVIRONMENT: BPF_OUTFILE as -o, ECHO_PROGRAM=1 prints the program and goes on,
USE_CMDLINE_BPF_PROGRAM=1 takes SCRIPT as the text of a finished program.
EXIT STATUS: bpftrace's own; 1 wrong input, 2 wrong usage, 3 events lost with --strict, 126/127 bpftrace
cannot be run / is missing.
EOF
}

usage_error() {
	printf "bpftrace.sh: %s\nTry 'bpftrace.sh --help'.\n" "$1" >&2
	exit 2
}

# find_btgen: the one that belongs to this script (checkout or installation), or $BTGEN
find_btgen() {
	local here
	here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
	if [ -n "${BTGEN-}" ]; then
		printf '%s' "$BTGEN"
	elif [ -x "$here/btgen" ]; then
		printf '%s' "$here/btgen"
	elif [ -x "$here/../build/btgen" ]; then
		printf '%s' "$here/../build/btgen"
	elif [ -f "$here/../Makefile" ]; then
		printf 'bpftrace.sh: btgen is not built: run make in %s\n' "$(dirname -- "$here")" >&2
		return 1
	elif [[ $(command -v btgen) == /* ]]; then
		command -v btgen
	else
		printf 'bpftrace.sh: btgen not found beside %s\n' "${BASH_SOURCE[0]}" >&2
		return 1
	fi
}

main() {
	local -a run=() pids=() scripts=() script_args=() words=()
	local list=no json=no texts=0 command=no what='' bpftrace='' word opt value
	local out=${BPF_OUTFILE-}

	while [ $# -gt 0 ]; do
		word=$1
		shift
		value=
		case $word in
		--)
			script_args=("$@")
			break
			;;
		--count | --count=*) # whose value may be left out
			run+=("$word")
			continue
			;;
		--*=*)
			opt=${word%%=*}
			value=${word#*=}
			set -- "$value" "$@"
			;;
		-[oeDIctfxWTN]?*)
			opt=${word:0:2}
			set -- "${word:2}" "$@"
			;;
		-[nqsvwhlL]?*)
			opt=${word:0:2}
			set -- "-${word:2}" "$@"
			;;
		*) opt=$word ;;
		esac
		case $opt in
		-o | -e | -D | -I | -c | -t | -f | -x | -W | -T | -N | --time | --deep | --filter | --latency | --key | --cgroup | --bpftrace | --ready-file | --ready-fd)
			[ $# -gt 0 ] || usage_error "option '$opt' needs a value"
			case $opt in
			-o) out=$1 ;;
			-c) command=yes what='the command' run+=(-c "$1") ;;
			-x) what=$1 run+=(-x "$1") ;;
			--bpftrace) bpftrace=$1 run+=("$opt" "$1") ;;
			--cgroup) what=$1 run+=("$opt" "$1") ;;
			-e | -t) texts=1 run+=("$opt" "$1") ;;
			--latency)
				[ $# -gt 1 ] || usage_error "--latency needs two probes: START DONE"
				texts=1 run+=(--latency "$1" "$2")
				shift
				;;
			*) run+=("$opt" "$1") ;;
			esac
			shift
			;;
		--json) json=yes ;;
		-n | -q | -s | -v | -w | --children | --follow | --echo | --force | --strict | --stack) run+=("$opt") ;;
		-l) list=yes ;;
		-L)
			list_scripts
			return
			;;
		-h | --help)
			if [ $# -gt 0 ]; then show_script "$1"; else usage; fi
			return
			;;
		--version) run=(--version) && break ;;
		-p | --pid | -p*) usage_error "give the PID without -p: bpftrace.sh PID SCRIPT" ;;
		-*) usage_error "unknown option '$word'" ;;
		*)
			[ -n "${word//[,[:space:]]/}" ] ||
				usage_error "an empty argument in place of a PID or a script: is the program running?"
			# `pidof` gives several words, or one in quotes; behind a script a number is a script's name.
			if [[ ${#scripts[@]} = 0 && $word =~ ^[0-9[:space:],]*$ ]]; then
				read -ra words <<<"${word//[,[:space:]]/ }"
				pids+=("${words[@]}")
			elif [[ ${#scripts[@]} != 0 && $word =~ ^[0-9]+$ && -d /proc/$word && ! -e $word ]]; then
				usage_error "the PID goes before the script: bpftrace.sh $word ${scripts[0]}"
			else
				scripts+=("$word")
			fi
			;;
		esac
	done

	local btgen
	btgen=$(find_btgen) || exit 127
	if [ "${run[*]-}" = --version ]; then
		exec "$btgen" --version
	fi
	[ $list = yes ] || [ $json = no ] || usage_error "--json is for -l: a trace as JSON is -f json"
	if [ $list = yes ]; then
		list_probes
	fi
	if [ ${#scripts[@]} = 0 ] && [ $texts = 0 ]; then
		[ ${#pids[@]} = 0 ] || what="process ${pids[*]}"
		[ -n "$what" ] || usage_error "give a process and a script"
		usage_error "give a script to run on $what"
	fi
	for word in ${pids[@]+"${pids[@]}"}; do
		run+=(-p "$word")
	done
	[ -z "$out" ] || run+=(-o "$out")
	[ -z "${ECHO_PROGRAM-}" ] || run+=(--echo)
	[ -z "${USE_CMDLINE_BPF_PROGRAM-}" ] || run+=(--raw)
	[ $command = no ] || [ ${#pids[@]} = 0 ] || usage_error "-c starts the process: it cannot be used with a PID"
	export BTGEN_CALLED_AS=bpftrace.sh # in what btgen says about options
	exec "$btgen" run ${run[@]+"${run[@]}"} ${scripts[@]+"${scripts[@]}"} -- ${script_args[@]+"${script_args[@]}"}
}

# script_dir: where btgen's own scripts are (checkout or installation)
script_dir() {
	local here dir
	here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
	for dir in "$here/../bpf" "$here/../share/btgen/bpf"; do
		if [ -d "$dir" ]; then
			readlink -f -- "$dir"
			return
		fi
	done
	printf "bpftrace.sh: there is no folder with scripts beside %s\n" "$here" >&2
	return 1
}

# list_scripts: -L: name and purpose of each; a file without a TRACES section is a part to include
list_scripts() {
	local dir
	dir=$(script_dir) || exit 1
	awk 'FNR == 2 { line = substr($0, 4) }
		/^ \* TRACES/ { split(line, part, ".bt - "); printf "%-17s %s\n", part[1], part[2] }
		/^ \*\// { nextfile }' "$dir"/*.bt | LC_ALL=C sort
}

# show_script SCRIPT: -h SCRIPT: its header, and what can be told from its text
show_script() {
	local file dir btgen
	dir=$(script_dir) || exit 1
	btgen=$(find_btgen) || exit 127
	file=$("$btgen" expand --which -- "$1") || exit 1
	awk '
		function section(title, list, n,    i) {
			if (n) print "\n" title
			for (i = 1; i <= n; i++) print "  " list[i]
		}
		FNR == NR { if (NF && !/^#/) table[$1] = $2; next }
		FNR == 1 && /^\/\*/ { header = 1; next }
		header && /\*\// { header = 0; next }
		header { sub(/^ \* ?/, ""); print; next }
		/^#pragma option / {
			help = $0
			sub(/^[^"]*"/, "", help)
			sub(/"[^"]*$/, "", help)
			option[++options] = sprintf("-D %-12s %s  [%s]", $3, help, $4)
		}
		/^#pragma scope host/ { scope[1] = "the whole machine; a PID only says where __EXE__ is" }
		{ sub(/\/\/.*/, "") }
		/__PID__/ && 1 in scope { scope[1] = "the whole machine, where the script itself looks for the process given" }
		/^[a-z]+:[^ ]/ && !seen[$1]++ { gsub(/,$/, ""); probe[++probes] = $1 }
		{
			text = $0
			while (match(text, /@[a-z_]+\[/)) {
				name = substr(text, RSTART + 1, RLENGTH - 2)
				if (name in table && !seen[name]++) {
					enum[++enums] = name
					if (length(name) > width) width = length(name)
				}
				text = substr(text, RSTART + RLENGTH)
			}
			text = $0
			while (match(text, /(struct|union) [a-zA-Z_0-9]+ \*/)) {
				name = substr(text, RSTART, RLENGTH - 2)
				if (!seen[name]++) type[++types] = name
				text = substr(text, RSTART + RLENGTH)
			}
		}
		END {
			section("OPTIONS", option, options)
			section("SCOPE OF THE TRACE", scope, length(scope))
			for (i = 1; i <= enums; i++) enum[i] = sprintf("@%-" width "s  enum %s", enum[i], table[enum[i]])
			section("ENUMS", enum, enums)
			section("TYPES", type, types)
			section("PROBES", probe, probes)
		}' "$dir/enums.conf" "$file"
}

# list_probes: -l [-v | --json] PID|NAME|FILE [PATTERN]...; uses main's variables
list_probes() {
	local -a args=()
	[ -z "$bpftrace" ] || args+=(--bpftrace "$bpftrace")
	[[ " ${run[*]-} " != *' -v '* ]] || args+=(-v)
	[ $json = no ] || args+=(--json)
	if [ ${#pids[@]} -gt 0 ]; then
		for word in "${pids[@]}"; do
			args+=(-p "$word")
		done
	elif [ ${#scripts[@]} -gt 0 ]; then
		if [ -e "${scripts[0]}" ]; then args+=(-x); else args+=(-p); fi
		args+=("${scripts[0]}")
		scripts=("${scripts[@]:1}")
	else
		usage_error "-l: give a process or a file"
	fi
	exec "$btgen" probes "${args[@]}" -- ${scripts[@]+"${scripts[@]}"}
}

main "$@"
