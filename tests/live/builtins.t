#!/usr/bin/env bash
# The words of bpftrace's language give what C, /proc and the kernel's own files give, wherever they stand: printed, in a filter, a
# key, an aggregation, a macro and a loop; with -f json and in what `-n` prints, too, under bpftrace alone.
# shellcheck source=tests/lib.sh disable=SC2016
. "$(dirname "$0")/../lib.sh"
need_tracing
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
choose_seed 1
RANDOM=$SEED # which other word each one meets

# The program under test prints the table: a word a line, as
#
#	SINCE|KIND|NAME|VALUE|EXPRESSION|STATEMENTS
#
# what the EXPRESSION (NAME, where it is empty), after the STATEMENTS, is worth from bpftrace 0.SINCE on. KIND: number, text, truth;
# name: a text that bpftrace makes when it prints it, and that nothing can be compared with.
cat >"$tmp/who.c" <<'E2'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <btgen/usdt.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
struct inner { int before, after; };
struct obj {
	const char *name, *at;
	uint8_t mac[6], ip6[16];
	uint32_t ip4;
	char left[8], right[8];
	struct inner inner;
};
static struct obj obj = { "who is it", NULL, { 0x18, 0xc0, 0x4d, 8, 0x2e, 0xbb }, { 0x20, 1, 0xd, 0xb8, [15] = 1 }, 0,
			  "abcdef", "abcxyz", { 3, 7 } };
uint32_t landmark = 77;

// What a line of a file of the kernel has in front of, or after, a word
static unsigned long symbol(const char *name)
{
	char line[256], type, of[128];
	unsigned long at = 0;
	FILE *f = fopen("/proc/kallsyms", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %c %127s", &at, &type, of) == 3 && strcmp(of, name) == 0)
			break;
	if (f)
		fclose(f);
	return at;
}
static const char *line_of(const char *path, const char *prefix)
{
	static char line[256];
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, prefix, strlen(prefix)) == 0)
			break;
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = 0;
	return line + strlen(prefix);
}

__attribute__((noinline)) static void tick(struct obj *o, int cpu, unsigned long ticks)
{
	USDT_PROBE(who, tick, o, cpu, ticks);
}

int main(void)
{
	cpu_set_t one;
	char path[64], host[64];
	unsigned cpu, node;
	sched_getaffinity(0, sizeof(one), &one);
	cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	syscall(SYS_getcpu, &cpu, &node, NULL);
	prctl(PR_SET_NAME, "who is it");
	obj.ip4 = htonl(0xc0a80701);
	obj.at = (char *)&landmark;

	printf("0|number|pid|%d\n0|number|tid|%ld\n0|number|uid|%d\n", getpid(), syscall(SYS_gettid), getuid());
	printf("0|number|gid|%d\n0|number|cpu|%u\n0|number|numaid|%u\n24|number|ppid|%d\n", getgid(), cpu, node, getppid());
	printf("26|number|leader_tid|%d\n24|number|ncpus|%ld\n24|number|usermode|1\n", getpid(), sysconf(_SC_NPROCESSORS_CONF));
	printf("0|text|comm|who is it\n26|text|leader_comm|who is it\n0|name|username|%s\n25|text|probetype|usdt\n", getpwuid(getuid())->pw_name);
	snprintf(path, sizeof(path), "/proc/%d/comm", getppid());
	printf("25|text|pcomm|%s\n25|truth|has_cpid|0\n", line_of(path, ""));
	printf("0|name|func|tick\n");

	// Symbols and addresses
	printf("0|number|kaddr|%lu|kaddr(\"schedule\") - kaddr(\"_text\")\n", symbol("schedule") - symbol("_text"));
	printf("0|name|ksym|schedule|ksym(kaddr(\"schedule\"))\n");
	printf("24|truth|uaddr|1|uaddr(\"landmark\") == args.o->at\n");
	printf("0|number|kptr|%d|((struct task_struct *)kptr(curtask))->tgid\n", getpid());
	printf("0|text|of_kernel|who is it|str(curtask->comm)\n");
	printf("20|truth|jiffies|1|jiffies >= args.ticks && jiffies < args.ticks + 3600 * 1000\n");
	printf("0|truth|rand|1|$one != $two && $one < 4294967296|$one = rand; $two = rand;\n");

	// Hosts and bytes
	printf("0|name|ntop|%s|ntop(args.o->ip4)\n", inet_ntop(AF_INET, &obj.ip4, host, sizeof(host)));
	printf("0|name|ntop6|%s|ntop(AF_INET6, args.o->ip6)\n", inet_ntop(AF_INET6, obj.ip6, host, sizeof(host)));
	printf("0|name|macaddr|%02X:%02X:%02X:%02X:%02X:%02X|macaddr(args.o->mac)\n", obj.mac[0], obj.mac[1], obj.mac[2], obj.mac[3], obj.mac[4], obj.mac[5]);
	inet_pton(AF_INET, "192.168.7.1", &obj.ip4);
	printf("0|number|pton|%d|$four[0] * 256 + $four[3]|$four = pton(\"192.168.7.1\");\n", ((uint8_t *)&obj.ip4)[0] * 256 + ((uint8_t *)&obj.ip4)[3]);
	printf("19|number|pton_number|%u|(uint32)pton(\"10.2.3.4\")\n", inet_addr("10.2.3.4"));

	// Texts
	printf("0|truth|strncmp|%d|strncmp(str(args.o->name), \"whose\", 3) == 0\n", strncmp(obj.name, "whose", 3) == 0);
	printf("0|truth|strncmp_4|%d|strncmp(str(args.o->name), \"whose\", 4) == 0\n", strncmp(obj.name, "whose", 4) == 0);
	printf("0|truth|strcontains|%d|strcontains(str(args.o->name, 16), \"is\")\n", strstr(obj.name, "is") != NULL);
	printf("25|number|strlen|%zu|strlen(str(args.o->name))\n", strlen(obj.name));
	printf("25|number|strlen_array|%zu|strlen(args.o->left)\n", strlen(obj.left));
	printf("25|number|strcap|%zu|strcap(\"abcdef\")\n", sizeof("abcdef"));
	printf("25|number|strstr|%td|strstr(str(args.o->name), \"is\")\n", strstr(obj.name, "is") - obj.name);
	printf("25|truth|strstr_none|1|strstr(str(args.o->name), \"us\") < 0\n");
	printf("25|truth|memcmp|%d|memcmp(args.o->left, args.o->right, 3) == 0\n", memcmp(obj.left, obj.right, 3) == 0);
	printf("25|truth|memcmp_less|%d|memcmp(args.o->left, args.o->right, 4) < 0\n", memcmp(obj.left, obj.right, 4) < 0);
	printf("25|text|syscall_name|openat|syscall_name(%d)\n", SYS_openat);
	printf("26|name|signal_name|%s|signal_name(9)\n", strsignal(9));
	printf("27|text|str_concat|%s or not|str_concat(str(args.o->name), \" or not\")\n", obj.name);
	printf("25|number|default_str_length|1100\n27|number|config|1100|config().max_strlen\n");

	// What bpftrace knows of an expression
	printf("24|truth|true|1\n24|truth|false|0\n");
	printf("25|truth|is_array|1|is_array(args.o->mac)\n25|truth|is_array_not|0|is_array(args.cpu)\n");
	printf("25|truth|is_str|1|is_str(str(args.o->name))\n25|truth|is_str_not|0|is_str(args.cpu)\n");
	printf("25|truth|is_literal|1|is_literal(5)\n25|truth|is_literal_not|0|is_literal(args.cpu)\n");
	printf("25|truth|is_unsigned_integer|1|is_unsigned_integer(args.ticks)\n25|truth|is_unsigned_integer_not|0|is_unsigned_integer(args.cpu)\n");
	printf("26|truth|is_err|1|is_err((uint64)-%d)\n26|truth|is_err_not|0|is_err(args.o)\n", 4095);
	printf("25|truth|kfunc_exist|0|kfunc_exist(\"no_such_function\")\n25|truth|kfunc_allowed|0|kfunc_allowed(\"no_such_function\")\n");
	printf("27|number|container_of|%d|container_of(&args.o->inner.after, typeof(struct inner), after)->before\n", obj.inner.before);

	// Maps and options
	// 0.20 to 0.23 need a kernel with function tracing for len()
	printf("24|number|len|2|len(@of_len)|@of_len[1] = 1; @of_len[2] = 1;\n");
	printf("24|number|getopt|5|getopt(\"five\", 5)\n");
	fflush(stdout);
	for (;;) {
		tick(&obj, cpu, strtoul(line_of("/proc/timer_list", "jiffies: "), NULL, 10));
		usleep(50000);
	}
}
E2
sed -i 's/#include <string.h>/#include <stdlib.h>\n&/' "$tmp/who.c"
gcc -g -O1 -I"$top/include" -o "$tmp/who" "$tmp/who.c" || exit 1
"$tmp/who" >"$tmp/said" &
who=$!
own $who
wait_for grep -q getopt "$tmp/said"

# script: a clause for each word, with its value in each place, and one that it filters; what they must print goes to $tmp/want,
# and what is printed of it in JSON, to $tmp/fields
script() {
	local since kind word value text before letter literal quoted parts=0 at mate_value mate
	local -a mates # numbers and truths without statements before them
	mapfile -t mates < <(awk -F '|' -v OFS='|' -v v="$version" '$1 <= v && $2 ~ /number|truth/ && !$6 { print $4, $5 ? $5 : $3 }' "$tmp/said")
	echo '#define SAME(x) x'
	[ "$version" -lt 25 ] || echo 'config = { max_strlen = 1100 }'
	while IFS='|' read -r since kind word value text before; do
		[ "$since" -le "$version" ] || continue
		text=${text:-$word} letter=%d literal=$value quoted=$value at=usdt:__EXE__:who:tick
		[ "$word" != func ] || at=uprobe:__EXE__:tick
		case $kind in
		text | name) letter=%s literal="\"$value\"" quoted="\"$value\"" ;;
		esac
		printf '%s /@done_%s == 0/ {\n\t%s\n' $at "$word" "$before"
		printf '\tprintf("%s printed %s\\n", %s);\n\tprintf("%s macro %s\\n", SAME(%s));\n' "$word" "$letter" "$text" "$word" "$letter" "$text"
		printf '%s\n' "$word printed $value" "$word macro $value" >&3
		case $kind$value in
		truth1) echo "$word true" ;;
		truth0) echo "$word false" ;;
		*) echo "$word $quoted" ;;
		esac >&4
		case $kind in
		name) ;;
		truth)
			printf '\tif (%s) { printf("%s compared 1\\n"); } else { printf("%s compared 0\\n"); }\n' "$text" "$word" "$word"
			echo "$word compared $value" >&3
			;;
		*)
			printf '\tif ((%s) == %s) { printf("%s compared\\n"); }\n' "$text" "$literal" "$word"
			printf '\t$i = 0; while ($i < 2) { $i++; if ((%s) == %s) { @loop_%s = $i; } }\n' "$text" "$literal" "$word"
			printf '%s\n' "$word compared" "@loop_$word: 2" >&3
			;;
		esac
		if [ "$kind" != name ]; then
			printf '\t@key_%s[%s] = 1; @pair_%s[%s, 7] = 1; @value_%s = %s;\n' "$word" "$text" "$word" "$text" "$word" "$text"
			printf '%s\n' "@key_${word}[$value]: 1" "@pair_${word}[$value, 7]: 1" "@value_$word: $value" >&3
			printf '%s\n' "@key_${word}[$quoted] 1" "@pair_${word}[$quoted, 7] 1" "@value_$word $quoted" >&4
		fi
		if [ "$kind" = number ] || [ "$kind" = truth ]; then
			printf '\t@sum_%s = sum(%s);\n' "$word" "$text"
			echo "@sum_$word: $value" >&3
			echo "@sum_$word $value" >&4
		fi
		printf '\t@done_%s = 1; @parts++;\n}\n' "$word"
		parts=$((parts + 1))
		if [ "$kind" != name ] && [ -z "$before" ]; then
			printf '%s /(%s) == %s && @seen_%s == 0/ { @seen_%s = 1; @parts++; printf("%s filtered\\n");\n' \
				$at "$text" "$literal" "$word" "$word" "$word"
			if [ "$kind" != text ]; then
				IFS='|' read -r mate_value mate <<<"${mates[RANDOM % ${#mates[@]}]}"
				printf '\t@both_%s[%s, %s] = (%s) > (%s) ? 5 : 3;\n' "$word" "$mate" "$text" "$text" "$mate"
				echo "@both_${word}[$mate_value, $value]: $((value > mate_value ? 5 : 3))" >&3
			fi
			echo '}'
			echo "$word filtered" >&3
			parts=$((parts + 1))
		fi
	done <"$tmp/said" 3>"$tmp/wanted" 4>"$tmp/quoted"
	echo "usdt:__EXE__:who:tick { @of_ticks++; if (@parts == $parts || @of_ticks == 400) { exit(); } }" # bare bpftrace attaches one clause after another
	sort "$tmp/wanted" >"$tmp/want"
	sort "$tmp/quoted" >"$tmp/fields"
}
script >"$tmp/who.bt"

# judge CLAIM: what is in $tmp/out
judge() {
	grep -vE '^$|^@(done|seen|parts|of)' "$tmp/out" | sort >"$tmp/got"
	ok "$1: $(wc -l <"$tmp/want") values are those that the program and /proc know" cmp -s "$tmp/want" "$tmp/got" || diff "$tmp/want" "$tmp/got" | head -n 40 | sed 's/^/# /'
}
guard "$btgen" run -q --bpftrace "$bpftrace" -p $who "$tmp/who.bt" >"$tmp/out" 2>"$tmp/err" || sed 's/^/# /' "$tmp/err"
judge "a trace"
"$btgen" run -n --bpftrace "$bpftrace" -p $who "$tmp/who.bt" >"$tmp/alone.bt" 2>"$tmp/err" || sed 's/^/# /' "$tmp/err"
guard "$bpftrace" -q -p $who "$tmp/alone.bt" >"$tmp/out" 2>"$tmp/err" || sed 's/^/# /' "$tmp/err"
judge "bpftrace alone"

# In JSON each value is a number, a string, true or false of its own.
guard "$btgen" run -q -f json --bpftrace "$bpftrace" -p $who "$tmp/who.bt" >"$tmp/out" 2>"$tmp/err" || sed 's/^/# /' "$tmp/err"
python3 - "$tmp/out" >"$tmp/got" <<'E2'
import json, sys
def line(record):
    if "fields" in record and " printed " in record["text"]:
        yield record["text"].split()[0] + " " + " ".join(json.dumps(v) for v in record["fields"].values())
    for entry in record.get("entries", []):
        key = entry.get("key")
        at = record["map"] + ("" if key is None else json.dumps(key))
        if record["map"].split("_")[0] in ("@value", "@key", "@pair", "@sum"):
            yield at + " " + json.dumps(entry["value"])
for text in open(sys.argv[1], encoding="utf-8"):
    for one in line(json.loads(text)):
        print(one)
E2
sort -o "$tmp/got" "$tmp/got"
ok "JSON: $(wc -l <"$tmp/fields") values are the same" cmp -s "$tmp/fields" "$tmp/got" || diff "$tmp/fields" "$tmp/got" | head -n 40 | sed 's/^/# /'
done_testing
