#!/usr/bin/env bash
# The provider file of dtrace(1) beside a source has types and names for arguments that are computed, where nothing contradicts it.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp, btgen: lib.sh
echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1 || skip_all "no <sys/sdt.h> (systemtap-sdt-dev)"

mkdir "$tmp/src"
cd "$tmp/src" || exit 1
cat >shop_dtrace.d <<'END'
/* The shop. probe order__get(int); */
#pragma D attributes Evolving/Evolving/Common provider shop provider
provider other { probe wide(char *text, char *more); };
provider shop {
	/** @param key has no end
	 */
	probe order__get(int connid, const char *key, int keylen);
	probe order__done(int, char*);  // probe wide(int);
	probe order__count(int a);
	probe order__text(char *text, int n);
	probe order__odd(handle_t h, char *text);
	probe order__long(long long a, char *text);
	probe wide(
		unsigned long   n , unsigned
		flags);
	probe none(void);
};
END
cat >shop.c <<'END'
#include <sys/sdt.h>
typedef unsigned long handle_t;
struct item { int refs; unsigned char nkey; char data[]; };
#define KEY(it) (((char *)&((it)->data)) + 4 * ((it)->refs > 1))
volatile int sink;
__attribute__((noinline)) static void f(struct item *it, int fd, long n, handle_t h)
{
	DTRACE_PROBE3(shop, order__get, fd, KEY(it), it->nkey);
	DTRACE_PROBE2(shop, order__done, fd + 1, KEY(it));
	DTRACE_PROBE2(shop, order__count, fd + 2, KEY(it));
	DTRACE_PROBE2(shop, order__text, it, fd + 3);
	DTRACE_PROBE2(shop, order__odd, h, KEY(it));
	DTRACE_PROBE2(shop, order__long, h, KEY(it));
	DTRACE_PROBE2(shop, wide, n * 2UL, (unsigned)fd | 1);
	DTRACE_PROBE(shop, none);
	sink += fd;
}
static char memory[64];
int main(int argc, char **argv) { f((struct item *)memory, argc, argc, argc); return 0; }
END
known="order__get(int fd, const char *key, unsigned char nkey)
order__done(int arg0, char *arg1)
order__count(int32_t arg0, uint64_t arg1)
order__text(struct item *it, int32_t arg1)
order__odd(handle_t h, uint64_t arg1)
order__long(handle_t h, uint64_t arg1)
wide(unsigned long n, unsigned int flags)
none()"
sizes="order__get(int fd, uint64_t arg1, unsigned char nkey)
order__done(int32_t arg0, uint64_t arg1)
wide(uint64_t arg0, uint32_t arg1)"
probes() { "$btgen" probes -x "$1" | sed 's/^shop://; s/long unsigned int/unsigned long/'; }
computed() { probes "$1" | grep -E '^(order__(get|done)|wide)'; }

for build in {gcc,clang}\ -O{0,2}; do
	read -r cc level <<<"$build"
	command -v "$cc" >/dev/null || continue
	"$cc" -g "$level" -w -o shop shop.c || ok "$build: compiles" false
	is "$(probes shop)" "$known" "$build: what the file has and the program does not contradict"
done
like "$("$btgen" probes -v -x shop)" 'arg1 +const char \*key +listed' "it is called listed"
mkdir sub && cp shop.c sub && gcc -g -O2 -w -o inner sub/shop.c
is "$(computed inner)" "$(grep -E '^(order__(get|done)|wide)' <<<"$known")" "a file in the folder where the compiler ran"
for name in shop.d shop_probes.d probes.d dtrace.d; do
	mv shop_dtrace.d $name
	is "$(computed shop)" "$(computed inner)" "$name"
	mv $name shop_dtrace.d
done
mv shop_dtrace.d moved
is "$(computed shop)" "$sizes" "without it, sizes"
touch -d 2001-01-01 moved
mkfifo shop.d
(cat moved; yes '/* */ probe wide(char *text, char *more);' | head -c 1000000) >shop_dtrace.d
touch -d 2001-01-01 shop_dtrace.d
is "$(guard "$btgen" probes -x shop >/dev/null; echo $?)" 0 "a large file and a FIFO are no matter"
mv moved shop_dtrace.d
touch shop_dtrace.d
is "$(computed shop)" "$sizes" "a file that is newer than the program is not believed"
done_testing
