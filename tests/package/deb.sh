#!/bin/sh
# Builds the Debian packages of the unpacked source in FOLDER, in a bare Debian that it may install packages in: what the source
# asks for and nothing else. Then they are installed, and must work.
set -eu
export DEBIAN_FRONTEND=noninteractive
export DEBCONF_NOWARNINGS=yes
get() { apt-get -qq -y --no-install-recommends "$@"; }
cd "$1"
get update
get install dpkg-dev
get build-dep ./
# As the build machines do it: no root, no home
chown -R nobody:nogroup ..
su -s /bin/sh nobody -c 'HOME=/nonexistent dpkg-buildpackage -us -uc'
get install ../*.deb
printf '#include <btgen/usdt.h>\nint main(int n, char **v) { USDT_PROBE(app, hit, n, v[0]); return 0; }\n' >/app.c
gcc -g -o /app /app.c
btgen check -x /app -e 'usdt:__EXE__:app:hit { printf("%d %s\n", args.n, str(arg1)); }'
bpftrace.sh -h malloc | grep -q 'C library'
test "btgen $(sed -n 's/^Version: //p' /usr/share/pkgconfig/btgen.pc)" = "$(btgen --version)"
