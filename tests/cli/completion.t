#!/usr/bin/env bash
# Completion in bash, zsh and fish: what is typed, with TAB behind it, into a real one.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all "python3 is missing"
# The tools are those beside the completion: an installation of its own, since $build may be any folder.
mkdir -p "$tmp/opt/bin" "$tmp/opt/share/bash-completion/completions" "$tmp/opt/share/zsh/site-functions" \
	"$tmp/opt/share/fish/vendor_completions.d" "$tmp/a folder"
cp "$top"/scripts/bpftrace.sh "$tmp/opt/bin/" && ln -s "$btgen" "$tmp/opt/bin/btgen"
ln -s "$top" "$tmp/opt/share/btgen"
cp "$top/scripts/completion.bash" "$tmp/opt/share/bash-completion/completions/btgen"
cp "$top/scripts/completion.zsh" "$tmp/opt/share/zsh/site-functions/_btgen"
cp "$top/scripts/completion.fish" "$tmp/opt/share/fish/vendor_completions.d/btgen.fish"
cd "$tmp/a folder" || exit

cat >names.c <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
int main(void)
{
	USDT_PROBE(shop, sold, 1);
	USDT_PROBE(shop, AAAAAAAAAAAA, 1);
	USDT_PROBE(shop, BBBBBBBBBBBB, 1);
	return pause();
}
END
gcc -I"$top/include" -o plain names.c || exit
sed 's/AAAAAAAAAAAA/so$(>probe) /g; s/BBBBBBBBBBBB/so`>probe2`"/g' plain >seller
"$btgen" probes -x seller 2>&1 | grep -q "probe2" || exit
# A process has 15 characters for its name.
chmod +x seller && cp seller 'se$(>comm)ller'
./seller & own $!
seller=$!
'./se$(>comm)ller' & own $!
cat >local.bt <<'END'
#pragma option LIMIT 8 "how many"
#pragma option $(>define) 8 "a trap"
usdt:__EXE__:sold { }
END
# No process that runs beside this test is called so.
cp local.bt 'odd-two $(>file)".bt'
cp seller 'x$(>file) "y'
printf '#!/bin/sh\n>"%s/typed"\n' "$PWD" >bpftrace.sh && chmod +x bpftrace.sh && cp bpftrace.sh btgen

# line TYPED WANT CLAIM: collected, for one bash types them all
typed=() want=() claim=()
line() { typed+=("$1") want+=("$2|") claim+=("$3"); }
all_options() { "$@" --help | grep -oE '^ *(--?[a-z-]+, )?--[a-z-]+|, --[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u | paste -sd' '; }

line 'bpftrace.sh --ch<TAB>' 'bpftrace.sh --children ' "an option"
line 'bpftrace.sh --<ALL>' "bpftrace.sh $(all_options "$top/scripts/bpftrace.sh") " "all that --help has"
line 'btgen types --<ALL>' "btgen types $(all_options "$btgen" types) " "the same of a command of btgen's"
line '/usr/bin/bpftrace.sh --ch<TAB>' '/usr/bin/bpftrace.sh --children ' "the command with its path"
line 'bpftrace.sh --time <ALL>' 'bpftrace.sh --time mono none since wall ' "the values that --help lists"
line 'bpftrace.sh --time=w<TAB>' 'bpftrace.sh --time=wall ' "... behind a ="
line 'btgen convert -f <ALL>' 'btgen convert -f folded otlp perfetto ' "... of another command"
line 'bpftrace.sh -W dead-p<TAB>' 'bpftrace.sh -W dead-probe ' "findings"
line 'btgen che<TAB>' 'btgen check ' "a command"
line 'bpftrace.sh qpai<TAB>' 'bpftrace.sh qpair.bt ' "a script for the host"
line 'bpftrace.sh loc<TAB>' 'bpftrace.sh local.bt ' "... in this folder"
line 'bpftrace.sh sell<TAB>' 'bpftrace.sh seller ' "a process"
line "bpftrace.sh $seller<TAB>" "bpftrace.sh $seller " "a PID"
line 'bpftrace.sh seller qpai<TAB>' 'bpftrace.sh seller qpair.bt ' "a script behind the process"
line 'bpftrace.sh $(pidof seller) qpai<TAB>' 'bpftrace.sh $(pidof seller) qpair.bt ' "... named with pidof"
line 'bpftrace.sh -x ./seller qpai<TAB>' 'bpftrace.sh -x ./seller qpair.bt ' "... or a file"
line 'btgen run seller qpai<TAB>' 'btgen run seller qpair.bt ' "btgen run"
line 'btgen diff plain seller qpai<TAB>' 'btgen diff plain seller qpair.bt ' "operands are what the usage line says"
line 'bpftrace.sh -x ./seller -t so<TAB>' 'bpftrace.sh -x ./seller -t sold ' "a probe"
line 'bpftrace.sh -x ./seller -t sho<TAB>' 'bpftrace.sh -x ./seller -t shop:' "a provider"
line 'bpftrace.sh -x ./seller -t shop:<TAB>' 'bpftrace.sh -x ./seller -t shop:sold ' "its probes: only those that bpftrace could parse"
line "bpftrace.sh -x ./seller -t 'shop:s<TAB>" "bpftrace.sh -x ./seller -t 'shop:sold' " "... in quotes"
line 'bpftrace.sh -l ./seller so<TAB>' 'bpftrace.sh -l ./seller sold ' "of a file that is listed"
line 'btgen probes -x seller so<TAB>' 'btgen probes -x seller sold ' "btgen probes"
line 'bpftrace.sh local.bt -D <TAB>' 'bpftrace.sh local.bt -D LIMIT=' "an option of the script"
line 'bpftrace.sh odd-t<TAB>' 'bpftrace.sh odd-two\ \$\(\>file\)\".bt ' "a hostile script is quoted"
line 'bpftrace.sh odd-two\ \$\(\>file\)\".bt -D <TAB>' 'bpftrace.sh odd-two\ \$\(\>file\)\".bt -D LIMIT=' "... and its options are found"
line 'bpftrace.sh -x x<TAB>' 'bpftrace.sh -x x\$\(\>file\)\ \"y ' "a hostile file is quoted"
line 'bpftrace.sh -x $(>typed) -t s<TAB>' 'bpftrace.sh -x $(>typed) -t s' "what is typed is not run"
line 'bpftrace.sh -x "`>typed`" -t s<TAB>' 'bpftrace.sh -x "`>typed`" -t s' "... in any quotes"
line 'bpftrace.sh -$(>typed) --a$(>typed)=x "$(>typed)" --ch<TAB>' 'bpftrace.sh -$(>typed) --a$(>typed)=x "$(>typed)" --children ' "... as an option"
line 'btgen $(>typed) --ch<TAB>' 'btgen $(>typed) --ch' "... as a command"
line './bpftrace.sh --ch<TAB>' './bpftrace.sh --children ' "nor is the command, wherever it is"
line 'bpftrace.sh -T <TAB>' 'bpftrace.sh -T ' "a number is the user's"
line 'bpftrace.sh -x ./seller -t sold xyz<TAB>' 'bpftrace.sh -x ./seller -t sold xyz' "nothing where nothing is wanted"
line 'btgen run -l ./seller so<TAB>' 'btgen run -l ./seller sold ' "btgen run has all that bpftrace.sh has"
line 'bpftrace.sh --exe ./seller --trace so<TAB>' 'bpftrace.sh --exe ./seller --trace sold ' "long forms, too"
if can_trace; then
	line 'bpftrace.sh seller -t shop:<TAB>' 'bpftrace.sh seller -t shop:sold ' "probes of a process"
	line "btgen probes -p $seller so<TAB>" "btgen probes -p $seller sold " "... by its PID"
else
	skip_tracing "probes of a process"
fi

# typed_in SHELL WHERE: the lines, but those that a shell has no key for
typed_in() {
	local i n=0 lines=()
	if ! command -v "$1" >/dev/null; then
		skip "completion in $1" "no $1"
		return
	fi
	for i in "${!typed[@]}"; do
		[[ $1 != bash && ${typed[i]} == *'<ALL>'* ]] || lines+=("${typed[i]}")
	done
	printf '%s\n' "${lines[@]}" | guard "$top/tests/complete.py" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "$1 took all lines"
	mapfile -t got <"$tmp/out"
	for i in "${!typed[@]}"; do
		[[ $1 != bash && ${typed[i]} == *'<ALL>'* ]] || is "${got[n++]-}" "${want[i]}" "$1: ${claim[i]}"
	done
}
typed_in bash "$tmp/opt/share/bash-completion/completions/btgen"
typed_in zsh "$tmp/opt/share/zsh/site-functions"

# What a terminal gets of strangers' names
mkdir "$tmp/strange" "$tmp/strange/"$'x\e[2Jfolder'
for name in plain $'x\e[2J' $'x\001' $'x\xe2\x80\xae' $'x\xc2\x9b' $'x\nQy'; do touch "$tmp/strange/$name.bt"; done
listed_in() {
	local got
	if ! command -v "$1" >/dev/null; then
		skip "names in $1" "no $1"
		return
	fi
	got=$(cd "$tmp/strange" && echo 'bpftrace.sh 1 <LIST>' | guard "$top/tests/complete.py" "$@" | sed 's/.*<LIST>//')
	is "$(grep -o 'plain\.bt' <<<"$got") $(grep -oE '\\x1b\[2J|[xy]\\x01|\\xe2|\\xc2|Qy\.bt' <<<"$got")" "plain.bt " "$1: a file whose name would drive the terminal is not offered"
}
listed_in bash "$tmp/opt/share/bash-completion/completions/btgen"
listed_in zsh "$tmp/opt/share/zsh/site-functions"

# fish LINE WORD[<tab>HELP]... CLAIM: it has a command for what it would show
fish() {
	is "$(command fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$tmp/opt/share/fish/vendor_completions.d/btgen.fish" "$1" 2>&1)" \
		"$(printf '%s\n' "${@:2:$#-2}")" "fish: ${*: -1}"
}
if type -P fish >/dev/null; then
	fish 'bpftrace.sh --ch' $'--children\talso trace child processes' "an option, with its help"
	fish 'bpftrace.sh --ti' $'--time\tbegin each line with the time of day, since boot, since the first line, or with none' "... which goes on in the next line"
	fish 'bpftrace.sh --time ' mono none since wall "the values that --help lists"
	fish 'bpftrace.sh --time=w' --time=wall "... behind a ="
	fish 'btgen che' $'check\treport mistakes in a template, without attaching anything' "a command"
	fish 'bpftrace.sh -W dead-p' $'dead-probe\tprobe that cannot fire in this process' "findings"
	fish 'bpftrace.sh qpai' $'qpair.bt\tlifetimes of an SPDK target\'s queue pairs, for qpair-lifetime' "a script"
	fish "bpftrace.sh -x ./seller -t 'shop:s" shop:sold "a probe, in quotes"
	fish 'bpftrace.sh -l ./seller so' sold "... of a file that is listed"
	fish 'bpftrace.sh local.bt -D ' LIMIT= "an option of the script"
	fish 'btgen probes -x pla' plain "a file"
	fish 'btgen probes --exe=pla' --exe=plain "... behind a ="
	fish 'bpftrace.sh -x (echo >typed) -t s' "what is typed is not run"
	fish 'bpftrace.sh -T ' "a number is the user's"
else
	skip "completion in fish" "no fish"
fi
is "$(ls comm probe probe2 file define typed 2>/dev/null)" "" "nothing of the names was executed"
done_testing
