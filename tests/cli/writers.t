#!/usr/bin/env bash
# Each command that writes a file, onto each kind of file: a name given by mistake, or one that another user has prepared for root, harms nothing.
# The rows are in writers.py.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
enum color { RED, GREEN };
struct job { int id; enum color color; };
int main(int n, char **v)
{
	struct job job = {n, GREEN};
	USDT_PROBE(app, push, job.id, job.color);
	return v == 0;
}
END
gcc -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
chmod 755 "$tmp" # another user's rows
can_trace || : # btgen test skips its case elsewhere
guard python3 "$top/tests/writers.py" "$tmp" files "$@"
