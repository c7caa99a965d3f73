# Rows of values against C: scripts NAME.bt and NAME.rows below $tmp and the program $tmp/numbers, both made by numbermodel.py.
# shellcheck shell=bash

# traced PART: what the script printed of its rows, and what the program says of them
traced() {
	live_start "$tmp/numbers"
	live_trace "$live_pid" "$tmp/$1.bt" || return 1
	live_say x
	exec 8>&-
	live_wait
	[ ! -e "$tmp/$1.rows" ] || sort "$tmp/answers" | join "$tmp/$1.rows" - >"$tmp/want"
	# Of the maps of some parts each is a row: its only key, or its value.
	sed -E 's/^@(shown[a-z]+)([0-9]+)\[(.*)\]: 1$/\1.\2 \3/; s/^@(shown[a-z]+)([0-9]+): \(?([<>]= )?(-?[0-9]+)(, 1\))?$/\1.\2 \4/' "$tmp/trace" |
		grep -E '^[a-z]+\.[0-9]+ ' | sort >"$tmp/got"
}

# wrong PART: each wrong value with the text of its row
wrong() {
	diff "$tmp/want" "$tmp/got" | sed -n 's/^[<>] //p' | cut -d' ' -f1 | sort -u | head -n "${SHOW:-20}" | while read -r row; do
		printf '# %s is %s, not %s: %s\n' "$row" "$(sed -n "s/^$row //p" "$tmp/want")" "$(sed -n "s/^$row //p" "$tmp/got")" \
			"$(grep -E "\"$row |@${row/./}( |\[)" "$tmp/$1.bt" | head -n 1)"
	done
	return 1
}

# rows_check PART...: a third of them, or those of PARTS
rows_check() {
	local part
	for part in ${PARTS-"$@"}; do
		[ -n "${PARTS-}" ] || in_third || continue
		ok "$part: the program is accepted and attached" traced "$part" || continue
		ok "$part: $(wc -l <"$tmp/want") values are those of C" cmp -s "$tmp/want" "$tmp/got" || wrong "$part"
	done
}
