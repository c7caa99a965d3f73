#compdef btgen bpftrace.sh
# Completion of zsh for btgen and bpftrace.sh: completion.bash finds the words, with the help of each; nothing of the line is run.

local here=${${(%):-%x}:A:h} engine line
local -a got found shown how more
for engine in $here/completion.bash $here/../../bash-completion/completions/btgen; do
	[[ ! -r $engine ]] || break
done
got=("${(@f)$(bash $engine $((CURRENT - 1)) "${(@)words[1,CURRENT - 1]}" "$PREFIX" "${(@)words[CURRENT + 1,-1]}" 2>/dev/null)}")
how=(${=got[1]})
[[ $PREFIX != --*=* ]] || compset -P '*='
for line in "${(@)got[2,-1]}"; do
	found+=("${line%%$'\t'*}")
	shown+=("${(r:26:)${(V)found[-1]}} ${(V)line#*$'\t'}") # (V): a name of a stranger's may drive the terminal
done
[[ -z $how[(r)nospace] && $found[1] != */ ]] || more=(-S '')
if ((#found)); then
	compadd "${(@)more}" -l -d shown -a found
elif [[ -n $how[(r)dirnames] ]]; then
	_files -/
elif [[ -n $how[(r)default] ]]; then
	_files
fi
