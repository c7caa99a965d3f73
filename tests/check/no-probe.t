#!/usr/bin/env bash
# docs/no-probe.md: `btgen check` says nothing about its scripts. PostgreSQL with debug information is not at hand: a model of its
# functions stands for it, with the same names, types and lines.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/heapam.c" <<'END'
struct name { char data[64]; };
struct attribute { struct name attname; };
struct tupdesc { int natts; struct attribute attrs[3]; };
struct class { struct name relname; };
struct relation { struct class *rd_rel; struct tupdesc *rd_att; };
struct full_xid { unsigned long value; };
struct vis_state { struct full_xid definitely_needed, maybe_needed; };
struct proc { int pid; };
struct proc_array { int numProcs; int pgprocnos[3]; };
static struct proc procs[3], *allProcs = procs;
static struct proc_array array, *procArray = &array;
volatile long sink;
static inline __attribute__((always_inline)) void HeapDetermineColumnsInfo(const struct relation *relation)
{
	struct tupdesc *tupdesc = relation->rd_att;
	int attrnum = 1;
#line 4359
	sink = attrnum + tupdesc->natts;
}
int heap_update(struct relation *relation, unsigned long newtupsize, unsigned long pagefree)
{
	HeapDetermineColumnsInfo(relation);
#line 3747
	if (newtupsize <= pagefree)
#line 3945
		sink = 1;
	else
#line 3951
		sink = 0;
	return 0;
}
_Bool GlobalVisTestIsRemovableXid(struct vis_state *state, unsigned xid) { return xid < state->maybe_needed.value; }
void heap_page_prune(void) { sink++; }
void heap_page_prune_opt(struct relation *relation, int buffer) { sink += buffer; }
void pgstat_count_heap_update(struct relation *rel, _Bool hot) { sink += hot; }
#line 1 "procarray.c"
void GetSnapshotData(void);
void GetSnapshotData(void)
{
	for (int pgxactoff = 0; pgxactoff < procArray->numProcs; pgxactoff++) {
		unsigned xid = (unsigned)pgxactoff;
#line 2399
		sink += xid + (unsigned)allProcs[0].pid;
	}
}
int main(void) { return 0; }
END
gcc -g -o "$tmp/postgres" "$tmp/heapam.c" || exit 1

# A command that the page shows to fail is wrong on purpose. An offset in a function is that of the real one.
python3 - "$top/tests/live" "$top/docs/no-probe.md" "$tmp" <<'END' || exit 1
import re, shlex, sys
sys.path.insert(0, sys.argv[1])
import lab
lines, commands = lab.read_page(sys.argv[2])
scripts, patterns = [], []
for text, start, end in commands:
    for words in (shlex.split(part) for part in re.findall(r"bpftrace\.sh (?:[^';]|'[^']*')*", text)):
        if "-e" in words and not any("error: " in line for line in lines[start:end]):
            scripts.append(re.sub(r":heap_update\+0x\w+", "@heapam.c:3747", words[words.index("-e") + 1]))
        patterns += [words[i + 1] for i, word in enumerate(words) if word == "--calls"]
for i, script in enumerate(scripts):
    open("%s/%02d.bt" % (sys.argv[3], i), "w").write(script + "\n")
open(sys.argv[3] + "/calls", "w").write("\n".join(patterns) + "\n")
END
for script in "$tmp"/*.bt; do
	for version in 0.23 0.27; do
		is "$("$btgen" check --for $version -x "$tmp/postgres" "$script" 2>&1)" "" "$version: $(grep . "$script" | tail -n 1)"
	done
done
ok "the page has six scripts and more" test -e "$tmp/05.bt"
while read -r pattern; do
	# shellcheck disable=SC2053 # a pattern
	while read -r _ _ name; do [[ $name != $pattern ]] || break; done < <(nm "$tmp/postgres")
	ok "--calls $pattern: such a function is there" test -n "$name"
done <"$tmp/calls"
done_testing
