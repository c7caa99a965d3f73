#!/usr/bin/env bash
# leaks.bt, getaddrinfo.bt, fsync.bt, connect-accept.bt and tls.bt, on programs that know what they do.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# A round of each kind for the letter that it reads.
cat >"$tmp/app.c" <<'END'
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void *kept[9];

void __attribute__((noinline)) keep(int i)
{
	kept[i] = malloc(1000);
	__asm__ volatile("");
}

static void leak(void)
{
	for (volatile int i = 0; i < 5; i++)
		keep(i);
	for (volatile int i = 0; i < 10; i++)
		free(realloc(malloc(77), 99));
	kept[5] = calloc(3, 100);
	kept[6] = realloc(malloc(10), 2000);
	kept[7] = malloc(400);
	if (realloc(kept[7], (size_t)1 << 62))
		exit(1);
	realloc(malloc(88), 0);
	kept[8] = malloc(0);
}

static void look_up(void)
{
	struct addrinfo *r, numbers = {.ai_flags = AI_NUMERICHOST};
	for (int i = 0; i < 2; i++)
		if (getaddrinfo("127.0.0.1", "80", &numbers, &r) == 0)
			freeaddrinfo(r);
	printf("%d\n", getaddrinfo("no such name", NULL, &numbers, &r));
}

static void join(int family, void *address, socklen_t size)
{
	int l = socket(family, SOCK_STREAM, 0), s;
	struct sockaddr_storage peer;
	if (bind(l, address, size) || listen(l, 5) || getsockname(l, address, &size))
		exit(1);
	for (int i = 0; i < 3; i++) {
		socklen_t n = sizeof(peer);
		s = socket(family, SOCK_STREAM, 0);
		if (connect(s, address, size) != 0)
			exit(1);
		if (family != AF_UNIX) {
			getsockname(s, (struct sockaddr *)&peer, &n);
			printf("peer %d port %d\n", ntohs(((struct sockaddr_in *)&peer)->sin_port),
			       ntohs(((struct sockaddr_in *)address)->sin_port));
		}
		close(accept(l, NULL, NULL));
		close(s);
	}
	close(l);
	s = socket(family, SOCK_STREAM, 0);
	if (connect(s, address, size) == 0)
		exit(1);
	close(s);
}

static void meet(void)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "local-socket"};
	join(AF_INET, &four, sizeof(four));
	int has_six = socket(AF_INET6, SOCK_STREAM, 0);
	if (has_six >= 0 && bind(has_six, (struct sockaddr *)&six, sizeof(six)) == 0)
		join(AF_INET6, &six, sizeof(six));
	join(AF_UNIX, &local, sizeof(local));
	struct sockaddr_un hidden = {.sun_family = AF_UNIX, .sun_path = "\0hidden-socket and more"};
	struct sockaddr unspec = {.sa_family = AF_UNSPEC};
	int u = socket(AF_INET, SOCK_DGRAM, 0);
	four.sin_port = 0;
	connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&hidden, 2 + 1 + 13);
	connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&four, sizeof(four));
	if (connect(u, &unspec, sizeof(unspec)) != 0 || connect(u, NULL, sizeof(four)) == 0)
		exit(1);
}

static void store(void)
{
	int f = open("journal", O_WRONLY | O_CREAT, 0600), null = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 3; i++)
		fsync(f);
	for (int i = 0; i < 2; i++)
		fdatasync(f);
	fsync(null);
	for (int i = 0; i < 5000; i++) // some take 1 us; 300000 is further than the table of descriptors
		fsync(i % 2 ? 99 : i % 4 ? -1 : 300000);
	if (!fork())
		_exit(fsync(open("child", O_WRONLY | O_CREAT, 0600)));
	wait(NULL);
	close(f);
	close(null);
}

int main(void)
{
	for (int c; (c = getchar()) != EOF;) {
		c == 'l' ? leak() : c == 'g' ? look_up() : c == 'c' ? meet() : store();
		puts("done");
		fflush(stdout);
	}
}
END
cd "$tmp" || exit
gcc -O1 -fno-builtin -fno-omit-frame-pointer -rdynamic -o app app.c 2>err || skip_all "gcc failed: $(head -n 1 err)"

# traced LETTER SCRIPT OPTION...: one round of it
traced() {
	rm -f local-socket
	live_start "$tmp/app"
	ok "$2 attaches" live_trace "${@:3}" "$live_pid" "$2"
	printf %s "$1" >&8
	live_done
}

traced l leaks.bt
is "$(tr -d '\n' <trace | grep -oE '@bytes\[0, *[^]@]*\]: [0-9]+' | grep -E 'keep|main' | sed 's/.*: //' | sort -n | tr '\n' ' ')" "0 300 400 2000 5000 " \
	"leaks.bt: the bytes of five stacks, with what realloc() failed to grow, nothing of what was freed"
is "$(tr -d '\n' <trace | grep -oE '@blocks\[0, *[^]@]*keep[^]@]*\]: [0-9]+' | sed 's/.*: //')" 5 "... and their number"
is "$(cat messages | grep -v attached)" "" "... without a warning"
is_sample leaks.bt
BPFTRACE_MAX_MAP_KEYS=4 BPFTRACE_MAP_KEYS_MAX=4 traced l leaks.bt
kept=$(tr -d '\n' <trace | grep -oE '@blocks\[0, *[^]@]*\]: -?[0-9]+' | sed 's/.*: //' | awk '{ n += $1 } END { print n + 0 }')
ok "... with room for few blocks no more than these ($kept), and how many were left out" test "$kept" -le 4 -a "$(sed -n 's/^@left_out: //p' trace)" -gt 0
for wrong in "SLICE=0:SLICE must be 1 or more" SLICE=-1:SLICE STACK=0:STACK "STACK=128:STACK must be 1 to 127"; do
	"$live_sh" -T 1 -D "${wrong%%:*}" $$ leaks.bt >out 2>&1
	is "$? $(grep -c "error: #error ${wrong#*:}" out)" "1 1" "... no trace with -D ${wrong%%:*}"
done
traced g getaddrinfo.bt
is "$(sed -nE 's/^[0-9.]+: (.*) took [0-9]+ us, result (.*)/\1 \2/p' trace)" "127.0.0.1 0
127.0.0.1 0
no such name $(head -n 1 answers)" "getaddrinfo.bt: names and results, in order"
is "$(histogram 'us[127.0.0.1]')" 2 "... and their times"
is_sample getaddrinfo.bt
traced c connect-accept.bt
is "$(sed -nE 's/^[0-9.]+: (connects to|accepts) ([0-9.:]+) port ([0-9]+)(, [0-9]+ us, result| as) ([-0-9]+).*/\1 \3 \5/p' trace | sort | grep -v ' -' | sed 's/\(accepts .*\) .*/\1/')" \
	"$(sed -nE 's/^peer ([0-9]+) port ([0-9]+)/accepts \1\nconnects to \2 0/p' answers | sort)" "connect-accept.bt: the ports that the program has, of both ends"
is "$(grep -c 'connects to local-socket, .* result 0$' trace) $(grep -c 'accepts a local' trace) $(grep -E 'result -111$' trace | grep -cE '(port [1-9][0-9]*|local-socket),')" \
	"3 3 $(($(grep -c peer answers) / 3 + 1))" "... local sockets, and errors"
is "$(sed -nE 's/.*connects to (@.*|.* port 0|), .* (result -?[0-9]+)$/\1 \2/p' trace)" "@hidden-socket result -111
127.0.0.1 port 0 result -111" "... an abstract name, port 0, and nothing of AF_UNSPEC"
is "$(histogram connect_us)" "$(($(grep -c peer answers) + 3))" "... the times of those that succeed"
is_sample connect-accept.bt
traced f fsync.bt -D SLOW_US=1
is "$(histogram 'us[journal]') $(grep '^@errors' trace)" "5 @errors[null, 22]: 1" "fsync.bt: calls by file, errors by number"
is "$(histogram 'us[child]')" 1 "... of a child, too"
is "$(sed -E 's/^[0-9.]+: (.*) took .*/\1/; t; d' trace | grep -cvE '^(journal|null|child)$')" 0 "... no line for what is no file"
is_sample fsync.bt

if ! gcc -O1 -pthread -o tls "$top/tests/live/tls.c" -lssl -lcrypto 2>err ||
	! openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=test 2>/dev/null; then
	skip "tls.bt" "no OpenSSL to build with"
	done_testing
	exit
fi
cat key cert >both
for options in "-D TEXT=1" ""; do
	live_start ./tls both
	# shellcheck disable=SC2086
	ok "tls.bt attaches ($options)" live_trace $options "$live_pid" tls.bt
	live_say 3
	live_done
	port=$(sed -n 's/^port //p' answers)
	is "$(sed -nE "s/^[0-9.]+: (.*) bytes, peer 127.0.0.1 port $port.*/\1/p" trace | tr '\n' ' ')" \
		"writes 100 reads 100 writes 200 reads 200 writes 300 reads 300 " "tls.bt: what the client does, with its peer"
	is "$(grep -c 'peer 127.0.0.1 port' trace)" 12 "... the server, too, with its own"
	is "$(sed -nE 's/^[0-9.]+: (.* 77 bytes, peer .* port [0-9]+).*/\1/p' trace)" "writes 77 bytes, peer  port 0
reads 77 bytes, peer  port 0" "... memory has no peer, not even that of a session that was freed"
	is "$(grep -c secret trace)" "$([ -z "$options" ] && echo 0 || echo 12)" "... the plain text only if it is asked for"
done
is_sample tls.bt
done_testing
