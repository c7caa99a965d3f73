#!/usr/bin/env bash
# Keys of maps that are addresses of a program's variables are their names; those of the heap and the stack, and numbers, stay.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Says "WHAT ADDRESS" of each address that it passes to the probe, as a pointer and as a number.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct lock { long owner, n; };
void take_other(void);
void take(const char *what, const void *lock);

struct lock log_lock;
static struct lock locks[4], namesake;
static const struct lock constant = {1, 2};

__attribute__((noinline)) void take(const char *what, const void *address)
{
	const struct lock *lock = address;
	USDT_PROBE(app, take, lock, (long)lock);
	printf("%s %p\n", what, address);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	void *plugin = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	void *heap = malloc(100);
	char line[64], *stack = line;
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n")) {
		if (!strcmp(line, "own\n")) {
			take("global", &log_lock);
			take("array", locks);
			take("element", &locks[2]);
			take("member", &locks[2].n);
			take("constant", &constant);
			take("namesake", &namesake);
			take_other();
			take("function", (void *)take);
			take("heap", heap);
			take("stack", stack);
			take("null", NULL);
		} else if (!strcmp(line, "load\n")) {
			plugin = dlopen(argv[1], RTLD_NOW);
			take("loaded", dlsym(plugin, "plugged"));
		} else { // the heap's pages are then where the library was
			char *lock = dlsym(plugin, "plugged"), *page = (char *)((long)lock & -4096L);
			int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
			dlclose(plugin);
			if (mmap(page, 4096, PROT_READ | PROT_WRITE, flags, -1, 0) == page)
				take("mapped", lock);
		}
		puts("done");
		fflush(stdout);
	}
	free(heap);
	return 0;
}
END
cat >"$tmp/other.c" <<'END'
struct lock { long owner, n; };
void take_other(void);
void take(const char *what, const void *lock);
static struct lock namesake;
void take_other(void) { take("other", &namesake); take("other_member", &namesake.n); }
END
gcc -g -O1 -I"$top/include" -o "$tmp/app" "$tmp/app.c" "$tmp/other.c" -ldl || exit 1
printf 'long plugged[8] = {1};\n' | gcc -shared -fPIC -x c -o "$tmp/plugin.so" - || exit 1
cat >"$tmp/keys.bt" <<'END'
usdt:__EXE__:app:take
{
	@takes[args.lock] = count();
	@us[args.lock, arg1 & 15] = hist(5);
	@numbers[arg1] = count();
	@last[args.lock] = args.lock;
	@copied[@last[args.lock]] = count();
	@cast[(uint64 *)arg0] = count();
}
END

# address WHAT: of what the program passed; decimal WHAT: the same as bpftrace prints a number
address() { sed -n "s/^$1 //p" "$tmp/answers"; }
decimal() { printf '%d' "$(address "$1")"; }
# keys MAP: those in $tmp/trace
keys() { sed -nE "s/^@$1\[(.*)\]:( .*)?$/\1/p" "$tmp/trace" | sort; }
lines() { printf '%s\n' "$@" | sort; }
done_n() { [ "$(grep -c '^done' "$tmp/answers")" = "$1" ]; }
# traced COMMAND... -- ARG...: the program is told so while it is traced, and still there when the maps are printed
traced() {
	local n=0
	local -a commands=()
	while [ "$1" != -- ]; do
		commands+=("$1")
		shift
	done
	live_trace "${@:2}" || return
	for command in "${commands[@]}"; do
		live_say "$command"
		wait_for done_n $((n += 1))
	done
	sleep 0.2 # what is mapped is not looked up all the time
	live_wait INT
	live_quit
}

live_start "$tmp/app"
ok "it is traced" traced own -- $live_pid "$tmp/keys.bt"
named=(log_lock locks locks+32 locks+40 constant "namesake ($(address namesake))" "namesake ($(address other))"
	"namesake ($(address other))+8" take)
is "$(keys takes)" "$(lines "${named[@]}" "$(decimal heap)" "$(decimal stack)" 0)" \
	"variables, what is inside of them, and functions have names; two of one name have their addresses; the heap and the stack stay"
like "$(keys us)" '^locks\+32, [08]$' "as one key of several, of a histogram"
is "$(keys copied | grep -c lock)" 4 "a pointer that another map has"
is "$(keys cast)" "$(lines "${named[@]}" "$(address heap)" "$(address stack)" 0x0)" "one that a cast makes"
unlike "$(keys numbers)" '[a-z]' "a number is none"
unlike "$(sed -n 's/^@last.*: //p' "$tmp/trace")" 'lock' "nor is a value"

live_start "$tmp/app"
ok "it is traced" traced own -- -f json $live_pid "$tmp/keys.bt"
is "$(python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    if o.get("map") == "@takes":
        print("\n".join(sorted(json.dumps(e["key"]) for e in o["entries"])))' <"$tmp/trace")" \
	"$(for key in log_lock locks locks+32 locks+40 constant "namesake ($(address namesake))" "namesake ($(address other))" \
		"namesake ($(address other))+8" take "$(address heap)" "$(address stack)"; do printf '["%s"]\n' "$key"; done |
		cat - <(echo '[null]') | LC_ALL=C sort)" "in JSON a name is a string, an address what it was"

live_start "$tmp/app" "$tmp/plugin.so"
live_trace $live_pid "$tmp/keys.bt"
live_say own load
wait_for done_n 2
live_quit
live_wait
like "$(keys takes)" '^locks\+32$' "after the program's end, too"

live_start "$tmp/app" "$tmp/plugin.so"
ok "it is traced" traced load -- $live_pid "$tmp/keys.bt"
is "$(keys takes)" plugged "a variable of a library that was loaded later"
live_start "$tmp/app" - "$tmp/plugin.so"
ok "it is traced" traced unload -- $live_pid "$tmp/keys.bt"
is "$(keys takes)" "$(decimal mapped)" "what is where an unloaded library was has none of its names"

live_start "$tmp/app"
ok "it is traced" traced own -- -x "$tmp/app" -e '#pragma scope host
usdt:__EXE__:app:take { @takes[args.lock] = count(); }'
unlike "$(keys takes)" '[a-z]' "of all processes of a program nothing is named: each has its own addresses"
done_testing
