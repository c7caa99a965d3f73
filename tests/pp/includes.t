#!/usr/bin/env bash
# Where #include looks, and what becomes of C headers: those are for bpftrace to read.
. "$(dirname "$0")/../lib.sh"

cd "$tmp" || exit 1
mkdir -p a/sub b 'odd "name'
echo 'in a' >a/x.bt
echo 'in b' >b/x.bt
echo 'in b' >b/y.bt
echo 'in sub' >a/sub/x.bt
touch a/types.h b/other.h 'odd "name/z.h'
pp() { "$build/tests/ppcat" "$@" 2>&1 | grep .; }

is "$(pp -Ib -e '#include "a/x.bt"')" "in a" '"..." starts from the folder of the text'
is "$(pp -Ib -Ia -e '#include "x.bt"')" "in b" "then come the -I folders, in their order"
is "$(pp -Ia -Ib -e '#include <x.bt>')" "in a" "which are all there is for <...>"
printf '#include "x.bt"\n#include "../x.bt"\n' >a/sub/both.bt
is "$(pp -Ib a/sub/both.bt)" $'in sub\nin a' "a file's own folder is that file's, not that of the first one"
is "$(pp -e "#include \"$tmp/b/y.bt\"")" "in b" "an absolute path is taken as it is"
like "$(pp -Ia -Inone -e '#include <z.bt>')" 'looked in a' "what is not found is an error with the folders looked in"

is "$(pp -Ia -e '#include <types.h>
BEGIN')" "#include \"$(realpath a/types.h)\"
BEGIN" "a C header that we find is named by its absolute path"
echo '#include "../../b/other.h"' >a/sub/h.bt
is "$(pp -e '#include "a/sub/h.bt"')" "#include \"$(realpath b/other.h)\"" "also when an included file asks for it"
is "$(pp -e '#include <linux/sched.h>
#include "net/sock.h"')" '#include <linux/sched.h>
#include "net/sock.h"' "one that we do not find is left as it is"
like "$(pp -e '#include "odd \"name/z.h"' -I'odd "name' -e '#include <z.h>')" \
	'error: the path cannot be written into a program' "a path with a quote is refused"

mkfifo pipe
{ echo '#pragma once' && echo piped; } >pipe &
own $!
is "$(pp pipe)" piped "a template may come through a pipe"
like "$(pp a)" 'cannot read "a": Is a directory' "a folder is no template"
like "$(pp missing.bt)" 'cannot read "missing.bt": No such file' "a missing one is named"
is "$(: >empty && "$build/tests/ppcat" empty && echo fine)" fine "an empty one is an empty program"
done_testing
