#!/usr/bin/env bash
# bpftrace is asked for its version once: another file, whatever it has kept of the one before, is asked again.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

export RAN=$tmp/ran XDG_RUNTIME_DIR=$tmp/run
memory=$XDG_RUNTIME_DIR/btgen-bpftrace
mkdir -m 700 "$XDG_RUNTIME_DIR"
cat >"$tmp/fake.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (getenv("REAL"))
		return execv(getenv("REAL"), argv);
	close(open(getenv("RAN"), O_WRONLY | O_CREAT, 0600));
#ifdef VERSION
	puts("bpftrace " VERSION);
#endif
	return argc < 0;
}
END
gcc -DVERSION='"v0.17.0"' -o "$tmp/old" "$tmp/fake.c" && gcc -DVERSION='"v0.23.0"' -o "$tmp/new" "$tmp/fake.c" && gcc -o "$tmp/starter" "$tmp/fake.c" || exit
printf '#!/bin/sh\nexec "$WRAPPED" "$@"\n' >"$tmp/wrapper"
chmod +x "$tmp/wrapper"
cp "$tmp/old" "$tmp/bpftrace"
cp "$tmp/old" "$tmp/stays"
sleep 3 # what was changed a moment ago is not remembered

# version FILE: which one btgen takes it for, and whether it was asked
version() {
	rm -f "$RAN"
	BTGEN_BPFTRACE=$1 "$btgen" expand -e 'BEGIN { print(__BPFTRACE__); }' | tr -dc 0-9
	if [ -e "$RAN" ]; then echo " asked"; else echo " remembered"; fi
}
is "$(version "$tmp/bpftrace")" "17 asked" "it is asked"
is "$(version "$tmp/bpftrace")" "17 remembered" "once"
is "$(stat -c %a "$memory")" 600 "nobody else can write what is remembered"
ln -s bpftrace "$tmp/link"
is "$(version "$tmp/link")" "17 remembered" "a link to it is it"
is "$(version "$tmp/new")" "23 asked" "another bpftrace is asked"
is "$(version "$tmp/bpftrace") $(version "$tmp/new")" "17 asked 23 asked" "the last one is remembered"

# Upgrades. The two have the same size.
is "$(stat -c %s "$tmp/old")" "$(stat -c %s "$tmp/new")" "two versions of one size"
version "$tmp/bpftrace" >"$tmp/out"
touch -r "$tmp/bpftrace" "$tmp/time"
cat "$tmp/new" >"$tmp/bpftrace"
touch -r "$tmp/time" "$tmp/bpftrace"
is "$(version "$tmp/bpftrace")" "23 asked" "written over in place, with the time that it had"
is "$(version "$tmp/bpftrace")" "23 asked" "... and asked again, as it could change twice in one moment"
cp -p "$tmp/old" "$tmp/bpftrace.new" && touch -r "$tmp/time" "$tmp/bpftrace.new" && mv "$tmp/bpftrace.new" "$tmp/bpftrace"
is "$(version "$tmp/bpftrace")" "17 asked" "replaced by a file with the same time"

# What only starts another one stays the same file.
export WRAPPED=$tmp/old
is "$(version "$tmp/wrapper") $(version "$tmp/wrapper")" "17 asked 17 asked" "a script is asked each time"
export WRAPPED=$tmp/new
is "$(version "$tmp/wrapper")" "23 asked" "... and may start another one"
started() { REAL=$tmp/starter1 version "$tmp/starter"; }
sed '/REAL/,+1d' "$tmp/fake.c" >"$tmp/plain.c"
gcc -DVERSION='"v0.17.0"' -o "$tmp/starter1" "$tmp/plain.c" || exit
is "$(started) $(started)" "17 asked 17 asked" "a program that starts another one, too"
gcc -DVERSION='"v0.23.0"' -o "$tmp/starter1" "$tmp/plain.c" || exit
is "$(started)" "23 asked" "... whatever that is"

# What others may have written is not believed.
remembered() { version "$tmp/stays" >"$tmp/out" && sed 's/v0.17.0/v0.23.0/' "$memory" >"$tmp/forged"; }
remembered
is "$(version "$tmp/stays")" "17 remembered" "a file that is what it was"
cat "$tmp/forged" >"$memory"
is "$(version "$tmp/stays")" "23 remembered" "what is remembered counts"
chmod 666 "$memory"
is "$(version "$tmp/stays")" "17 asked" "not where everyone can write to it"
rm "$memory" && ln -s "$tmp/forged" "$memory"
is "$(version "$tmp/stays")" "17 asked" "nor behind a link"
for text in '' x "$(head -n 1 "$tmp/forged")" "$(head -n 1 "$tmp/forged"; echo bpftrace)"; do
	printf '%s' "$text" >"$memory"
	is "$(version "$tmp/stays")" "17 asked" "nor '${text##*$'\n'}'"
done
if [ "$(id -u)" = 0 ]; then
	cat "$tmp/forged" >"$memory" && chown 65534 "$memory"
	is "$(version "$tmp/stays")" "17 asked" "nor another user's"
	rm -f "$memory"
	chown 65534 "$XDG_RUNTIME_DIR"
	version "$tmp/stays" >"$tmp/out"
	not_ok "nothing is written into another user's folder" test -e "$memory"
	chown 0 "$XDG_RUNTIME_DIR"
fi
rm -f "$memory"
chmod 777 "$XDG_RUNTIME_DIR"
version "$tmp/stays" >"$tmp/out"
not_ok "nor into one that everybody can write" test -e "$memory"
chmod 700 "$XDG_RUNTIME_DIR"
version "$tmp/stays" >"$tmp/out"
rm -f "$RAN"
"$btgen" doctor --bpftrace "$tmp/stays" >"$tmp/out" 2>&1
ok "doctor looks whether it runs" test -e "$RAN"
is "$(ls -A "$XDG_RUNTIME_DIR")" btgen-bpftrace "nothing else is left there"
done_testing
