#!/usr/bin/env bash
# Whole structs that a script prints: random ones, with gdb as the judge; each way to name one; what does not fit.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck disable=SC2154 # tmp, top: lib.sh
random=$top/tests/obj/aggregate.py

# whole FILE: of each line of JSON what was printed, and below it the first field
whole() { python3 -c 'import json, sys
for line in [*open(sys.argv[1])][1:]:
	r = json.loads(line)
	print(r["text"], json.dumps(list(r["fields"].values())[0]), sep="\n")' "$1"; }

if command -v gdb >/dev/null; then
	python3 "$random" make 60 5 "$tmp"
	{
		grep -v '^int main' "$tmp/structs.c"
		printf '#include <%s>\n' stdio.h sys/mman.h
		for ((i = 0; i < 60; i++)); do
			echo "__attribute__((noinline)) void visit$i(struct s$i *p) { asm volatile(\"\" :: \"r\"(p) : \"memory\"); }"
		done
		echo 'int main(int argc, char **argv) { (void)argv;'
		for ((i = 0; i < 60; i++)); do
			printf 'if (argc > 1) printf("%%d %%zu\\n", %d, sizeof(struct s%d));\n' $i $i
		done
		# BPF reads what is in memory: pages that the program has never read itself may not be.
		echo 'if (argc > 1 || mlockall(MCL_CURRENT) || getchar() == EOF) return 0;'
		for ((i = 0; i < 60; i++)); do
			echo "visit$i(p$i);"
		done
		echo 'puts("done"); fflush(stdout); while (getchar() != EOF) ; return 0; }'
	} >"$tmp/app.c"
	"${CC:-gcc}" -g -w -no-pie -Wno-packed-bitfield-compat -o "$tmp/app" "$tmp/app.c" 2>/dev/null || skip_all "no compiler"
	# 0.17 prints some 300 bytes beside a record's head
	"$tmp/app" sizes | awk '$2 <= 300 { print $1 }' | head -20 >"$tmp/chosen"
	while read -r i; do
		echo "print *p$i" >&3
		echo "uprobe:__EXE__:visit$i { print(*(struct s$i *)arg0); }"
	done <"$tmp/chosen" >"$tmp/random.bt" 3>"$tmp/gdb.txt"
	LC_ALL=C gdb -nx -batch -ex 'set width 0' -ex 'set print repeats unlimited' -ex 'set print elements unlimited' \
		-ex 'set print symbol off' -ex 'set host-charset ASCII' -ex 'set target-charset ASCII' -x "$tmp/gdb.txt" \
		"$tmp/app" >"$tmp/gdb.out" 2>&1
	live_start "$tmp/app"
	live_round $live_pid -f json "$tmp/random.bt"
	whole "$tmp/trace" >"$tmp/ours"
	is "$(python3 "$random" compare "$tmp" "$tmp/ours" 2>&1)" "20 of 20" "random structs of a process are shown as gdb does"
else
	tap_result 0 "random structs # SKIP no gdb"
fi

# At the end of the last page there is memory of nobody.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
enum state { IDLE, RUNNING = 4 };
enum mode { READ = 1, WRITE = 2, SYNC = 4 };
struct pos { short x, y; };
struct object {
	int id;
	char name[10];
	struct pos pos, track[3];
	int row[3];
	struct object *next;
	void (*done)(int);
	double load;
	enum state state;
	enum mode mode;
	unsigned low : 3;
	int high : 5;
	uint8_t mac[6];
};
struct odd { char name[7]; int n; } __attribute__((packed));
struct tiny { char c[3]; };
struct large { struct object objects[20]; };
struct node { int id; struct pos pos; struct { struct node *next; } links; void (*free)(int); };
static void finish(int x) { (void)x; }
int main(void)
{
	static struct large large;
	static struct object other = {.id = 5, .name = "other"};
	static struct object object = {4, "a \"b\"", {1, -2}, {{1, 2}, {3, 4}, {5, 6}}, {7, 8, 9}, &other, finish, 9.99,
		RUNNING, READ | SYNC, 5, -3, {0, 0x11, 0xff}};
	static struct node nodes[3] = {{1, {1, -1}, {&nodes[1]}, finish}, {2, {2, -2}, {&nodes[2]}, NULL}, {3, {3, -3}, {NULL}, NULL}};
	struct tiny *none = NULL;
	char *page = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	struct odd *odd = (struct odd *)(page + 4096 - sizeof(*odd));
	struct tiny *tiny = (struct tiny *)((char *)odd - sizeof(*tiny));
	memcpy(odd, &(struct odd){"edge", -70000}, sizeof(*odd));
	memcpy(tiny, "xyz", 3);
	for (int i = 0; i < 20; i++)
		large.objects[i].id = 100 + i;
	getchar();
	USDT_PROBE(app, seen, USDT_ARG(&object, "o"), USDT_ARG(odd, "odd"), USDT_ARG(tiny, "tiny"), USDT_ARG(&large, "large"));
	USDT_PROBE(app, list, USDT_ARG(&nodes[0], "head"), 7, USDT_ARG(none, "none"), USDT_ARG(other.name, "name"));
	puts("done");
	fflush(stdout);
	return getchar() != EOF;
}
END
"${CC:-gcc}" -g -O1 -I"$top/include" -o "$tmp/app" "$tmp/app.c" || skip_all "no compiler"
object='{id = 4, name = "a \"b\"", pos = {x = 1, y = -2}, track = {{x = 1, y = 2}, {x = 3, y = 4}, {x = 5, y = 6}}, row = {7, 8, 9}, next = 0xN, done = 0xN <finish>, load = 9.99, state = RUNNING, mode = READ|SYNC, low = 5, high = -3, mac = "\x00\x11\xff"}'
none='pos = {x = 0, y = 0}, track = {{x = 0, y = 0}, {x = 0, y = 0}, {x = 0, y = 0}}, row = {0, 0, 0}, next = 0x0, done = 0x0, load = 0, state = IDLE, mode = 0, low = 0, high = 0, mac = ""}'

cat >"$tmp/app.bt" <<'END'
usdt:__EXE__:app:seen {
	$at = args.o;
	print(*args.o);
	printf("[%-18s] [%18s] %d\n", $at->pos, $at->row, $at->id);
	printf("%s %s\n", *args.odd, *args.tiny);
	print(args.o->track[1]); print($at->track);
	print(*$at->next);
	@o[tid] = $at;
	printf("%s\n", @o[tid]->pos);
	$null = (struct object *)0;
	print(*$null); print($null->pos);
	if ($at->id == 4) { $inner = $at->next; printf("%s|%s\n", $inner->pos, $at->pos); }
	delete(@o[tid]);
}
END
live_start "$tmp/app"
live_round $live_pid "$tmp/app.bt"
is "$(sed 's/0x[0-9a-f]\{2,\}/0xN/g' "$tmp/trace")" "$object
[{x = 1, y = -2}   ] [         {7, 8, 9}] 4
{name = \"edge\", n = -70000} {c = \"xyz\"}
{x = 3, y = 4}
{{x = 1, y = 2}, {x = 3, y = 4}, {x = 5, y = 6}}
{id = 5, name = \"other\", $none
{x = 1, y = -2}
0x0
{...}
{x = 0, y = 0}|{x = 1, y = -2}" "a struct by its pointer, a member, an element, through a map; a null pointer"

live_start "$tmp/app"
live_round $live_pid -f json -e 'usdt:__EXE__:app:seen { printf("%s and %s, %s\n", *args.tiny, args.o->pos, str(args.o->name)); }'
is "$(sed '/^{"capture"/d; s/.*"text"/"text"/' "$tmp/trace")" \
	'"text": "{c = \"xyz\"} and {x = 1, y = -2}, a \"b\"", "fields": {"tiny": {"c": "xyz"}, "pos": {"x": 1, "y": -2}, "name": "a \"b\""}}' \
	"in JSON structs are objects, beside what else is printed"

# Two of them share what room there is; the small one is whole.
live_start "$tmp/app"
live_round $live_pid -e 'usdt:__EXE__:app:seen { printf("%s %s\n", *args.large, *args.odd); }'
like "$(cat "$tmp/trace")" '^\{objects = \{\{id = 100, .*\}, \{id = 101, .*\.\.\.\}+ \{name = "edge", n = -70000\}$' "what does not fit is ..."
not_ok "and is said to be all there is nowhere" grep -q 'id = 119' "$tmp/trace"

# -t
deep() {
	live_start "$tmp/app"
	live_round $live_pid "$@" -t app:list
	sed '/^{"capture"/d; s/.*app:list//; s/.*"fields"/"fields"/; s/0x[0-9a-f]\{2,\}/0xN/g' "$tmp/trace" >"$tmp/listed"
}
deep --deep 0
is "$(cat "$tmp/listed")" ' head=0xN arg1=7 none=0x0 name="other"' "without --deep a pointer is an address"
deep --deep 1
is "$(cat "$tmp/listed")" ' head={id = 1, pos = {x = 1, y = -1}, links = {next = 0xN}, free = 0xN <finish>} arg1=7 none=0x0 name="other"' \
	"--deep 1: a pointer is what it leads to"
deep --deep 3 -f json
is "$(cat "$tmp/listed")" '"fields": {"head": {"id": 1, "pos": {"x": 1, "y": -1}, "links": {"next": "0xN"}, "free": "finish"}, "arg1": 7, "none": null, "name": "other", "head->links.next": {"id": 2, "pos": {"x": 2, "y": -2}, "links": {"next": "0xN"}, "free": null}, "head->links.next->links.next": {"id": 3, "pos": {"x": 3, "y": -3}, "links": {"next": null}, "free": null}}}' \
	"--deep 3: and what pointers in there lead to"
live_start "$tmp/app"
live_round $live_pid --deep 9 -t 'app:*'
is "$(grep -o 'app:[a-z]*' "$tmp/trace" | tr '\n' ' ')" "app:seen app:list " "as many levels as fit"
"$live_sh" -n --deep 1 -t app:list -x "$tmp/app" >"$tmp/list.bt"
live_start "$tmp/app"
live_round $live_pid "$tmp/list.bt"
is "$(sed 's/.*app:list//; s/0x[0-9a-f]\{2,\}/0xN/g' "$tmp/trace")" ' head={id = 1, pos = {x = 1, y = -1}, links = {next = 0xN}, free = 0xN <finish>} arg1=7 none=0x0 name="other"' \
	"the script that -n prints shows the same"

# bpftrace 0.17 searches the kernel's types for each member, which takes it longer than all else: where the script has none of
# these, there are none.
cat >"$tmp/says" <<END
#!/bin/sh
[ "\$1" = --version ] || echo "\${BPFTRACE_BTF-the kernel's}" >"$tmp/told"
exec "$bpftrace" "\$@"
END
chmod +x "$tmp/says"
live_start "$tmp/app"
told() { # SCRIPT: which types bpftrace gets, and what it prints
	BTGEN_BPFTRACE=$tmp/says "$live_sh" -q -p $live_pid -e "BEGIN { $1 exit(); }" >"$tmp/out" 2>&1 || sed 's/^/# /' "$tmp/out"
	printf '%s: %s\n' "$(sed 's|^/proc/self/fd/[0-9]*$|none|' "$tmp/told")" "$(tr -d '\n' <"$tmp/out")"
}
case $("$bpftrace" --version) in *v0.17.*) none=none ;; *) none="the kernel's" ;; esac
is "$(told '$p = (struct node *)0; printf("%d", $p->id);')" "$none: 0" "a script without types of the kernel: 0.17 is given none"
is "$(told 'printf("%d", curtask->tgid > 0);')" "the kernel's: 1" "with curtask it has the kernel's"
is "$(told 'printf("%d", ((struct task_struct *)curtask)->tgid > 0);')" "the kernel's: 1" "with a struct of the kernel, too"
is "$(told 'printf("%d", BPF_MAP_TYPE_ARRAY);')" "the kernel's: 2" "with an enumerator of the kernel"
is "$(told 'printf("%d", sizeof(atomic_t));')" "the kernel's: 4" "with one of its types in sizeof()"
is "$(told 'printf("a"); } interval:ms:50 { printf("%d", ctx->sample_period >= 0);')" "the kernel's: a1" "with ctx"
is "$(BPFTRACE_BTF=/sys/kernel/btf/vmlinux told '$p = (struct node *)0; printf("%d", $p->id);')" "/sys/kernel/btf/vmlinux: 0" "what the user sets is left alone"
exec 8>&-

# A UUID is what uuid.UUID() says it is; what only has its name, or its size, is what it was.
cat >"$tmp/uuid.c" <<'END'
#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
struct spdk_uuid { union { uint8_t raw[16]; } u; };
struct guid { uint8_t raw[16]; };
struct halves_uuid { uint8_t a[8], b[8]; };
struct text_uuid { char text[16]; };
struct all { struct spdk_uuid id, none; struct guid guid; struct halves_uuid halves; struct text_uuid text; };
int main(void)
{
	struct all all = {.text = {"xyz"}, .guid = {{1}}, .halves = {{2}, {3}}};
	for (int i = 0; i < 16; i++)
		all.id.u.raw[i] = (uint8_t)(i * 17 + 3);
	getchar();
	USDT_PROBE(app, all, (struct all *)&all, (struct spdk_uuid *)&all.id);
	puts("done");
	fflush(stdout);
	while (getchar() != EOF) ;
}
END
gcc -g -O0 -I"$top/include" -o "$tmp/uuid" "$tmp/uuid.c" || exit 1
uuid=$(python3 -c 'import uuid; print(uuid.UUID(bytes=bytes(i * 17 + 3 & 255 for i in range(16))))')
none=00000000-0000-0000-0000-000000000000
live_start "$tmp/uuid"
live_round $live_pid --deep 1 -t app:all
is "$(sed 's/.*app:all //' "$tmp/trace")" "all={id = $uuid, none = $none, guid = {raw = \"\\x01\"}, halves = {a = \"\\x02\", b = \"\\x03\"}, text = {text = \"xyz\"}} id=$uuid" "--deep: a UUID is text"
live_start "$tmp/uuid"
live_round $live_pid --deep 1 -f json -t app:all
is "$(jq -c 'select(.fields) | .fields | [.id, .all.id, .all.none, .all.text]' "$tmp/trace")" "[\"$uuid\",\"$uuid\",\"$none\",{\"text\":\"xyz\"}]" "... in JSON a string"

# One whose only member is itself, as no compiler makes it, ends.
printf '#include <btgen/usdt.h>\nstruct in { unsigned char b[16]; };\nstruct own_uuid { struct in i; };\nint main(void) { static struct own_uuid u; USDT_PROBE(app, own, (struct own_uuid *)&u); return 0; }\n' >"$tmp/own.c"
gcc -g -O1 -dA -I"$top/include" -S -o "$tmp/own.s" "$tmp/own.c" &&
	awk '/DW_TAG_structure_type\)/ && match($0, /DIE \(0x[0-9a-f]+/) { die = substr($0, RSTART + 5, RLENGTH - 5) } /DW_AT_name: "own_uuid"/ { own = die } own && /# DW_AT_type/ && !done { $2 = own; done = 1 } { print }' "$tmp/own.s" >"$tmp/self.s" &&
	gcc -o "$tmp/self" "$tmp/self.s" || exit 1
timeout -s KILL 30 "$live_sh" --bpftrace "$bpftrace" -q -c "$tmp/self" --deep 1 -t app:own >"$tmp/trace" 2>"$tmp/messages"
like "$?$(cat "$tmp/trace")" '^0.*app:own u=\{i = \{i = \{.*\.\.\.' "a UUID in itself is cut"
# Pointers to pointers, which are numbers to bpftrace, lead to structs as in C.
cat >"$tmp/twice.c" <<'END'
#include <btgen/usdt.h>
struct item { int id; const char *name; };
struct list { struct item **all; };
int main(void)
{
	struct item items[] = {{7, "seven"}, {-8, "eight"}}, *all[] = {&items[0], &items[1]};
	struct list list = {all};
	struct list *l = &list;
	struct item ***deep = &list.all;
	int number = -5, *n = &number, **numbers = &n;
	USDT_PROBE(app, twice, (struct item **)all, l, deep, numbers);
	return 0;
}
END
gcc -g -O1 -I"$top/include" -o "$tmp/twice" "$tmp/twice.c" || exit 1
is "$(timeout -s KILL 60 "$live_sh" --bpftrace "$bpftrace" -q -c "$tmp/twice" -e 'usdt:__EXE__:app:twice {
	$n = args.l->all != 0; $x = args.all; $y = *$x; $z = args.l->all[1]; $z = args.all[$n];
	printf("%d %s %d %d %s %d %d\n", (*args.all)->id, str(args.all[1]->name), args.all[$n]->id, (**args.all).id, str($y->name), $z->id, *args.all == args.l->all[0]);
	printf("%d %d %d %d\n", (**args.deep)->id, args.deep[0][1]->id, **args.numbers, args.numbers[0][0]);
}' 2>&1)" "7 eight -8 7 seven -8 1
7 -8 -5 -5" "a pointer to pointers to structs"
done_testing
