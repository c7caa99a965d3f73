# Completion of fish for btgen and bpftrace.sh: completion.bash finds the words, with the help of each; nothing of the line is run.

set -l here (dirname (realpath (status filename)))
for try in $here/completion.bash $here/../../bash-completion/completions/btgen
    test -r $try; and set -g __btgen_engine $try
end

function __btgen_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l got (bash $__btgen_engine (count $words) $words "$word" 2>/dev/null)
    set -l option (string match -r -- '^--[^=]*=' "$word"; or echo)
    if set -q got[2]
        printf '%s\n' $option$got[2..-1]
    else if string match -q '*dirnames*' -- $got[1]
        printf '%s\n' $option(__fish_complete_directories (string replace -r '^--[^=]*=' '' -- "$word"))
    else if string match -q '*default*' -- $got[1]
        printf '%s\n' $option(__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$word"))
    end
end

for command in btgen bpftrace.sh
    complete -c $command -f -a '(__btgen_complete)'
end
