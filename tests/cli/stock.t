#!/usr/bin/env bash
# A bare name that one of btgen's own scripts has does not mean a file that somebody else can have put there.
. "$(dirname "$0")/../lib.sh"
sh=$top/scripts/bpftrace.sh
unset SUDO_UID

mkdir "$tmp/strange" "$tmp/mine"
for dir in strange mine; do
	printf 'BEGIN { printf("of %s"); }\n' $dir | tee "$tmp/$dir/files.bt" >"$tmp/$dir/new.bt"
	cp "$tmp/$dir/new.bt" "$tmp/$dir/buckets.bt"
done
chmod 777 "$tmp/strange"
at() { # DIR COMMAND...: what it prints, in that folder
	(cd "$tmp/$1" && shift && "$@") 2>&1
}
error="btgen: error: script 'files.bt' is ambiguous: $tmp/strange/files.bt (everyone can write to the directory) or btgen's own $top/bpf/files.bt
btgen: note: write './files.bt' for the first, the whole path for the second"
for command in expand check "bundle -x /bin/true" "run -n" "diff /bin/true /bin/true"; do
	# shellcheck disable=SC2086
	is "$(at strange "$btgen" $command files.bt)" "$error" "$command: both files are named, and none is taken"
done
is "$(at strange "$sh" -n files.bt)" "$error" "bpftrace.sh"
is "$(at strange "$sh" -h files.bt)" "$error" "bpftrace.sh -h"
like "$(at strange "$btgen" expand files)" "'files' is ambiguous: $tmp/strange/files.bt" "without .bt, too"
at strange "$btgen" expand files.bt >/dev/null
is $? 1 "it is an error"
is "$(at strange "$btgen" expand ./files.bt)" 'BEGIN { printf("of strange"); }' "./ says that the file here is meant"
is "$(at strange "$btgen" expand -v ./files.bt | head -n 1)" "btgen: note: script './files.bt' is $tmp/strange/files.bt" "-v says which file it is"
is "$(at strange "$btgen" expand -v "$top/bpf/files.bt" | head -n 1)" "btgen: note: script '$top/bpf/files.bt' is $top/bpf/files.bt" "the whole path is btgen's own"
is "$(at strange "$btgen" expand new.bt)" 'BEGIN { printf("of strange"); }' "a name that no script of btgen's has is the file here"

is "$(at mine "$btgen" expand files.bt)" 'BEGIN { printf("of mine"); }' "in a folder of one's own the file there is meant"
is "$(at mine "$btgen" expand -v files 2>&1 | head -n 1)" "btgen: note: script 'files' is $tmp/mine/files.bt" "... which -v says"
like "$(at mine "$btgen" expand -v malloc 2>&1 | head -n 1)" "script 'malloc' is $top/bpf/malloc.bt" "... and of one of btgen's own"
is "$(at mine "$btgen" expand -v files ./new | grep -o ' is /.*')" " is $tmp/mine/files.bt
 is $tmp/mine/new.bt" "... and of each of several"
is "$(cd "$top/bpf" && "$btgen" expand -v files 2>&1 | head -n 1)" "btgen: note: script 'files' is $top/bpf/files.bt" "in the folder of the scripts they are one"
chmod 666 "$tmp/mine/files.bt"
like "$(at mine "$btgen" expand files.bt)" 'mine/files.bt \(everyone can write to it\) or' "a file that others can write"

include='#include "buckets.bt"
BEGIN { }'
like "$(at strange "$btgen" expand -e "$include")" \
	"^<command line>:1:10: error: \"buckets.bt\" is ambiguous: the current directory's \(everyone can write to the directory\) or $top/bpf/buckets.bt" \
	"-e includes none, either"
like "$(at mine "$btgen" expand -e "$include")" 'of mine' "... but one's own"
printf '%s\n' "$include" >"$tmp/strange/with.bt"
like "$(at strange "$btgen" expand ./with.bt)" 'of strange' "a template's is the one beside it"

if [ "$(id -u)" = 0 ]; then
	chmod 755 "$tmp/strange"
	chmod 644 "$tmp/mine/files.bt"
	chown -R 65534:65534 "$tmp/strange"
	like "$(at strange "$btgen" expand files)" 'files.bt \(uid 65534 owns it\) or' "a file of another user"
	chown 0 "$tmp/strange/files.bt"
	like "$(at strange "$btgen" expand files)" 'files.bt \(uid 65534 owns the directory\) or' "a folder of another user"
	is "$(SUDO_UID=65534 at strange "$btgen" expand files)" 'BEGIN { printf("of strange"); }' "who calls sudo is no other user"
	chmod 775 "$tmp/mine" && chgrp 65534 "$tmp/mine"
	like "$(at mine "$btgen" expand files)" 'files.bt \(gid 65534 can write to the directory\) or' "a group"
	is "$(SUDO_UID=65534 at mine "$btgen" expand files)" 'BEGIN { printf("of mine"); }' "a user's private group has his number"
	chgrp 0 "$tmp/mine"
	is "$(at mine "$btgen" expand files)" 'BEGIN { printf("of mine"); }' "root's group is root"
fi
done_testing
