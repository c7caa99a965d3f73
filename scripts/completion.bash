# Completion of bash for btgen and bpftrace.sh. What can be completed the tools' --help and lists say; nothing is written here twice.
# completion.zsh and completion.fish run this file and show what it finds.
#
# Names of files, processes and probes are strangers'. None becomes shell code: what _btgen_offer offers has only characters
# that mean nothing to the shell, readline quotes the names of files, and the words of the line are never expanded. Nor are they
# run: the tools are those that came with this file, or in PATH.
# shellcheck shell=bash

# What is known of a word of the last completion
declare -gA _btgen_about=()

_btgen_here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# _btgen_run TOOL ARG...: of a checkout, an installation, or PATH
_btgen_run() {
	local try
	for try in "$_btgen_here/$1" "$_btgen_here/../build/$1" "$_btgen_here/../../../bin/$1" "$(type -P -- "$1")"; do
		[[ $try == /* && -f $try && -x $try ]] || continue
		shift
		timeout 3 "$try" "$@" </dev/null 2>/dev/null
		return
	done
}

# _btgen_offer: of standard input's lines, NAME or NAME<tab>TEXT, those that begin with $cur
_btgen_offer() {
	local name text
	while IFS=$'\t' read -r name text; do
		[[ $name == "$cur"* && $name && $name != *[!A-Za-z0-9_.,:=+@%/-]* ]] || continue
		COMPREPLY+=("${name#"$cut"}")
		[[ ! $text ]] || _btgen_about[$name]=$text
	done
}

# _btgen_words: the line as words, which bash also splits at : and =, and where its current one begins
_btgen_words() {
	local rest=$COMP_LINE blank i
	for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
		blank=${rest%%[![:blank:]]*}
		rest=${rest#"$blank"}
		if [[ $i = 0 || $blank || ! ${COMP_WORDS[i - 1]} ]]; then words+=(''); fi
		words[-1]+=${COMP_WORDS[i]}
		rest=${rest#"${COMP_WORDS[i]}"}
		((i != COMP_CWORD)) || cword=$((${#words[@]} - 1)) cur=${words[-1]}
	done
	cut=${COMP_WORDS[COMP_CWORD]}
	[[ $cut != [:=]* ]] || cut=
	cut=${cur%"$cut"}
}

# _btgen_plain WORD: what the shell makes of it, if that takes no expansion, and of $(pidof NAME) the NAME
_btgen_plain() {
	local pidof='^"?\$?\(pidof ([A-Za-z0-9_.+-]+)\)"?$' single="^'([^']*)'\$" double='^"([^"\$`]*)"$'
	if [[ $1 =~ $pidof ]]; then
		REPLY=${BASH_REMATCH[2]}
	elif [[ $1 =~ $single || $1 =~ $double ]]; then
		REPLY=${BASH_REMATCH[1]}
	elif [[ ${1//\\[!\\]/} == *[\'\"\$\`\\]* ]]; then
		REPLY=
	else
		REPLY=${1//\\/}
		REPLY=${REPLY/#\~\//$HOME/}
	fi
}

# _btgen_options: of a --help on standard input each option, in takes, with the names of its values; =NAME: only behind a =
_btgen_options() {
	local re='^ +(-[A-Za-z])?(, )?(--[a-z-]+)?(\[(=[^]]*)\]| ([^ ]+( [A-Z]+)*))?( {2,}(.*))?$' line text name
	local -a names=()
	while IFS= read -r line; do
		text=${line#"${line%%[! ]*}"}
		if [[ $text == -* && $line =~ $re ]]; then # -o, --output FILE
			read -ra names <<<"${BASH_REMATCH[1]} ${BASH_REMATCH[3]}"
			for name in "${names[@]}"; do
				_btgen_about[$name]=${BASH_REMATCH[9]}
				[[ ${takes[$name]+set} ]] || takes[$name]=${BASH_REMATCH[5]}${BASH_REMATCH[6]}
			done
		elif [[ $line == '                    '* ]]; then # more about that
			for name in "${names[@]}"; do _btgen_about[$name]+=" $text"; done
		else
			names=()
		fi
	done
}

# _btgen_note OPTION VALUE: what other words of the line depend on
_btgen_note() {
	_btgen_plain "$2"
	case $1 in
	-p | --pid) target=(-p "$REPLY") ;;
	-x | --exe) target=(-x "$REPLY") ;;
	-c | --command | -L) target=(none) ;;
	-e | --text | -t | --trace | --latency) text=yes ;;
	-l | --list) list=yes ;;
	esac
}

# _btgen_parse FIRST: reads the words from that on. expect: what the current one is, the name of an option's value, or option
_btgen_parse() {
	local i word opt=''
	local -a pending=()
	for ((i = $1; i < ${#words[@]}; i++)); do
		word=${words[i]}
		if [[ ${#pending[@]} -gt 0 ]]; then
			if ((i == cword)); then expect=${pending[0]}; else _btgen_note "$opt" "$word"; fi
			pending=("${pending[@]:1}")
		elif [[ $word == --*=* ]]; then
			opt=${word%%=*}
			if ((i == cword)); then
				expect=${takes[$opt]-} expect=${expect#=} cur=${word#*=} cut=${cut#"$opt="}
			else
				_btgen_note "$opt" "${word#*=}"
			fi
		elif ((i == cword)); then
			before=${#operands[@]}
			[[ $word != -* ]] || expect=option
		elif [[ $word == -- ]]; then
			((i > cword)) || expect=argument
			return
		elif [[ $word == -?* ]]; then
			opt=$word
			[[ ${takes[$opt]+set} || $opt == --* || ! ${takes[${opt:0:2}]-} ]] || opt=${word:0:2}
			_btgen_note "$opt" "${word#"$opt"}"
			[[ $opt != "$word" || ${takes[$opt]-} == =* ]] || read -ra pending <<<"${takes[$opt]-}"
		else
			_btgen_plain "$word"
			operands+=("$REPLY")
		fi
	done
}

# _btgen_processes: those of programs: a kernel thread has no command line
_btgen_processes() {
	local dir comm
	for dir in /proc/[0-9]*; do
		[[ $cur == [0-9]* ]] && comm=${dir#/proc/} || read -r comm <"$dir/comm" || continue
		if read -rN 1 <"$dir/cmdline"; then printf '%s\n' "$comm"; fi
	done 2>/dev/null | sort -u
}

# _btgen_probes: NAME and PROVIDER:, then PROVIDER:NAME
_btgen_probes() {
	[[ ${#target[@]} = 2 ]] || return
	_btgen_run btgen probes "${target[@]}" | sed -nE 's/^([A-Za-z0-9_]+):([A-Za-z0-9_]+)\(.*/\1 \2/p' |
		case $cur in
		*:*) tr ' ' : ;;
		*) sed 's/\(.*\) \(.*\)/\1:\n\2/' ;;
		esac | sort -u
}

# _btgen_defines: the -D options of the scripts that the line has
_btgen_defines() {
	local script
	for script in ${operands[@]+"${operands[@]}"}; do
		_btgen_run bpftrace.sh -h "$script" | sed -nE 's/^  -D ([A-Za-z_0-9]+) .*/\1=/p'
	done
}

# _btgen_scripts: btgen's own; files are readline's to quote. A name with a newline would be two, and one with controls (Unicode's for
# the direction of text, too) drives the terminal, or hides what it is.
_btgen_scripts() {
	local file
	compopt -o default
	_btgen_offer < <(_btgen_run bpftrace.sh -L | sed 's/  */.bt\t/')
	while IFS= read -r file; do
		COMPREPLY+=("${file#"$cut"}")
		compopt -o filenames
	done < <({ compgen -f -X '*[[:cntrl:]]*' -- "$cur" | grep -a '\.bt$' && compgen -d -X '*[[:cntrl:]]*' -- "$cur"; } |
		LC_ALL=C grep -av $'\xc2[\x80-\x9f]\\|\xd8\x9c\\|\xe2\x80[\x8e\x8f\xa8-\xae]\\|\xe2\x81[\xa6-\xa9]')
}

# _btgen_value NAME: a value that --help calls that
_btgen_value() {
	case $1 in
	option) _btgen_offer < <(printf '%s\n' "${!takes[@]}") ;;
	PID*) _btgen_offer < <(_btgen_processes) ;;&
	PATTERN | START | DONE) compopt +o default && _btgen_offer < <(_btgen_probes) ;;
	SCRIPT*) _btgen_scripts ;;
	'NAME[='*) _btgen_offer < <(_btgen_defines) ;;
	'NAME|no-NAME'*) _btgen_offer < <(_btgen_run btgen check -W help | sed -E 's/^([^ ]+) +(.*)/\1\t\2\nno-\1\tnot: \2/' && echo error) ;;
	DIR) compopt +o default -o dirnames ;;
	[a-z]*\|*) _btgen_offer <<<"${1//|/$'\n'}" ;;
	*FILE* | PATH | COMMAND | OLD | NEW | argument) ;; # readline's own way with files
	*) compopt +o default ;;
	esac
}

# _btgen_operand KIND...: the current word as an operand, of which the command has these, the last one any number of times
_btgen_operand() {
	local nth=$before
	[[ $# != 0 ]] || return
	((nth < $#)) || nth=$(($# - 1))
	shift "$nth"
	_btgen_value "${1-none}"
	[[ ${1-} != PID* || ${2-} != SCRIPT ]] || _btgen_value SCRIPT
}

_btgen() {
	local cur='' cut='' expect='' text='' list='' run='' cword=0 before=0 first=1 REPLY IFS=$' \t\n'
	local -a words=() operands=() target=() kinds=()
	local -A takes=()
	COMPREPLY=()
	_btgen_words
	[[ ${1##*/} != bpftrace.sh ]] || run=yes
	if [[ $run ]]; then
		_btgen_options < <(_btgen_run bpftrace.sh --help)
	elif ((cword == 1)); then
		_btgen_offer < <(_btgen_run btgen --help | sed -nE 's/^  ([a-z]+) +/\1\t/p' && printf '%s\n' --help --version)
		return
	else
		first=2
		[[ ${words[1]} != run ]] || run=yes
		_btgen_options < <(_btgen_run btgen "${words[1]}" --help)
		# Of a line like: Usage: btgen doctor [OPTION]... [PID|NAME] [SCRIPT]
		read -ra kinds < <(_btgen_run btgen "${words[1]}" --help | sed -E \
			's/^Usage: btgen [a-z]+//; s/ \[-- .*//; s/\([^)]*\)(\.\.\.)?|\[(OPTION|-[^]]*)\](\.\.\.)?|-x FILE//g; s/\]|\[|\.\.\.//g; q')
	fi
	_btgen_parse "$first"
	# In an open quote readline wants what is in it; with anything else that the shell expands only readline is right.
	case $expect in
	PATTERN | START | DONE) cur=${cur#[\'\"]} cut=${cut#[\'\"]} ;;
	esac
	[[ $cur != *[\'\"\\\$\`]* ]] || return

	if [[ $run ]]; then
		kinds=('PID|NAME' SCRIPT)
		[[ ! $text ]] || kinds=('PID|NAME')
		[[ ! $list ]] || kinds=('PID|NAME|FILE' PATTERN)
	fi
	if [[ ${#target[@]} -gt 0 && ${kinds[0]-} == PID* ]]; then
		kinds=("${kinds[@]:1}")
	elif [[ ${#target[@]} = 0 && ${#operands[@]} -gt 0 && ${kinds[0]-} == PID* ]]; then
		target=(-p "${operands[0]}")
		[[ ! $list || ! -e ${operands[0]} ]] || target=(-x "${operands[0]}")
	fi
	if [[ $expect ]]; then _btgen_value "$expect"; else _btgen_operand ${kinds[@]+"${kinds[@]}"}; fi
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[:=] ]] || compopt -o nospace
}

# _btgen_print NTH WORD...: of that word of the line what compopt is told, then each completion, and a tab and what is known of it
_btgen_print() {
	local word text
	local -A is=([default]=-)
	compopt() {
		for (( ; $# > 0; )); do is[$2]=${1%o} && shift 2; done
	}
	COMP_CWORD=$1 COMP_WORDS=("${@:2}") COMP_LINE="${*:2}"
	_btgen "$2"
	for word in "${!is[@]}"; do [[ ${is[$word]} != - ]] || printf '%s ' "$word"; done
	for word in "${COMPREPLY[@]}"; do
		[[ ! ${is[filenames]-} || ! -d $word ]] || word+=/
		text=${_btgen_about[$word]-}
		printf '\n%s\t%s' "$word" "${text# }"
	done
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
	_btgen_print "$@"
else
	complete -o default -F _btgen btgen bpftrace.sh
fi
