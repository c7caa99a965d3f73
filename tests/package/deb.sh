#!/bin/sh
# Builds the Debian packages of the unpacked source in FOLDER, in a bare Debian that it may install packages in: what the source
# asks for and nothing else. Then they are installed, and must work, and built again, and must be the same.
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
# packaging/debian/tests, as Debian runs them; 2: some were skipped
get install autopkgtest
rc=0
autopkgtest --no-built-binaries ../*.deb "$PWD" -- null >../autopkgtest.log 2>&1 || rc=$?
sed -n '/summary$/,$p' ../autopkgtest.log
[ $rc = 0 ] || [ $rc = 2 ] || {
	tail -n 40 ../autopkgtest.log
	exit 1
}
rm ../autopkgtest.log

# Built again, by another user, elsewhere, in another language and time zone: the same packages
mkdir -p /again/elsewhere
cp -R "$PWD" /again/elsewhere/
cd "/again/elsewhere/${1##*/}"
umask 027
rm -f ../*.deb
LC_ALL=C.UTF-8 TZ=Pacific/Kiritimati HOME=/root DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -us -uc
for deb in ../*.deb; do
	cmp "$deb" "$1/../${deb##*/}"
done
