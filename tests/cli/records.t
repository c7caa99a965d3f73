#!/usr/bin/env bash
# What -f json prints holds its schema, and python reads out of it what was put in.
. "$(dirname "$0")/../lib.sh"

python=$(python_with "jsonschema; jsonschema.Draft202012Validator") || skip_all "python3-jsonschema is missing, or older than 4.0"

for seed in 1 2 3 4; do
	"$build/tests/unit/fieldjson.t" random $seed 500 >"$tmp/random"
	is "$("$python" "$top/tests/cli/records.py" <"$tmp/random" 2>&1)" 500 \
		"500 random records come out of JSON as they went in, and hold the schema (seed $seed)"
done

# holds LINE...: each line holds the schema
holds() {
	printf '%s\n' "$@" >"$tmp/lines"
	"$python" "$top/tests/schema.py" "$tmp/lines" >"$tmp/said"
}
head='"time": "2026-01-31T12:00:01.000000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "a", "probe": "a:b"'
ok "maps hold it" holds '{"map": "@a", "entries": []}' '{"map": "@a", "entries": [{"value": 1}]}' \
	"{$head, \"map\": \"@a\", \"entries\": [{\"key\": [1, \"a\", [\"f\", null]], \"value\": {\"name\": null, \"value\": 3}}]}" \
	'{"map": "@a", "entries": [{"key": ["a, b"], "unsplit": true, "histogram": [{"min": null, "max": -1, "count": 1}]}]}' \
	'{"map": "@a", "entries": [{"stats": {"count": 1, "average": 2, "total": "9223372036854775807"}}]}' \
	'{"map": "@a", "entries": [{"series": [{"time": "15:10:10.900000000", "value": null}]}]}'
ok "so do other lines" holds '{"text": "a"}' '{"lost": {"total": 5, "a:b": 3}}' "{$head, \"text\": \"stack\"}" \
	"{$head, \"late\": true, \"text\": \"a\", \"fields\": {\"o\": {\"id\": 1, \"l\": [1.5, \"x\"], \"...\": true}}, \"cut\": [\"o\"]}"

# A record's head is listed in head_numbers[] of gen/record/shape.c; the schema and the page name the same members.
heads() {
	"$python" - "$top/docs" "$tmp/random" <<'E2'
import json, re, sys
docs, random = sys.argv[1:]
schema = json.load(open(f"{docs}/records.schema.json"))["$defs"]
page = open(f"{docs}/records.md").read().split("**Record**")[1].split("**Map**")[0]
table = [name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall("`([a-z]+)`", row)]
line = next(line for line in open(random, errors="replace") if line.startswith("{"))
written = json.loads(line.split(', "text": ')[0] + "}")
print(*written)
print(*[name for name in schema["record"]["required"] if name != "text"])
print(*[name for name in schema["head"]["properties"] if name != "late"])
print(*table[:len(written)])
E2
}
is "$(heads | uniq -c | tr -s ' ')" " 4 time cpu pid tid comm probe" "a record's head has the members of the schema and of the page, in their order"

mapfile -t examples < <(sed -n 's/^    {/{/p' "$top/docs/records.md")
ok "and the ${#examples[@]} examples of docs/records.md" holds "${examples[@]}"

if command -v jq >/dev/null; then
	while read -r line; do
		ok "$line" test -n "$(bash -c "$line" <"$tmp/lines")"
	done < <(sed -n "s/^    \(jq .*\)/\1/p" "$top/docs/records.md")
else
	skip "the commands of docs/records.md" "jq is missing"
fi

# The schema says no, too.
while read -r claim line; do
	not_ok "${claim//_/ } does not" holds "${line//HEAD/$head}"
done <<'E2'
an_empty_object {}
a_number_beyond_2^53 {"map": "@a", "entries": [{"value": 9007199254740993, "histogram": []}]}
one_of_a_histogram {"map": "@a", "entries": [{"histogram": [{"min": 9007199254740993, "max": null, "count": 1}]}]}
a_small_number_as_a_string {"map": "@a", "entries": [{"stats": {"count": "1", "average": 2, "total": 3}}]}
an_entry_without_a_value {"map": "@a", "entries": [{"key": [1]}]}
half_a_head {"time": "2026-01-31T12:00:01.000000000+00:00", "map": "@a", "entries": []}
a_record_without_text {HEAD, "fields": {}}
a_time_of_microseconds {"time": "2026-01-31T12:00:01.000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "a", "probe": "a", "text": ""}
a_member_that_nobody_knows {HEAD, "text": "a", "fields": {}, "args": {}}
an_object_with_fields_and_no_time {"text": "a", "fields": {}}
a_loss_of_nothing {"lost": {"total": 0}}
a_name_twice {"text": "a", "text": "a"}
nan {HEAD, "text": "a", "fields": {"x": NaN}}
E2
done_testing
