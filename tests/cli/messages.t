#!/usr/bin/env bash
# messages.txt is the list of all that btgen says to a user, as a person has last read it. A message that is new or
# changed is read here first: next to the others, with the eyes of whoever gets it. Then MESSAGES_UPDATE=1 writes the list.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cd "$top" || exit
list=tests/cli/messages.txt
tests/messages.py >"$tmp/now"
[ -z "${MESSAGES_UPDATE-}" ] || cp "$tmp/now" "$list"
is "$(cat "$tmp/now")" "$(cat "$list")" "what btgen says is what messages.txt lists (read it, then MESSAGES_UPDATE=1 $0)"

# The form of a compiler's message: "cannot open it", not "Cannot open it."
is "$(grep -E '^(error|warning|note) +([A-Z][a-z]|.*[^.]\.$)' "$list")" "" \
	"errors, warnings and notes begin in lower case and end without a full stop"
done_testing
