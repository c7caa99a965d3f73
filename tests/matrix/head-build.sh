#!/bin/sh
# In the bare Debian of head.sh: builds the bpftrace whose source is in /bpftrace, in /bpftrace-build.
# It is built with the suite's libbpf, as Debian's is: the newest compilers may not build the one that it brings along.
set -eu

if [ ! -e /build-dep ]; then
	sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
	apt-get -q update
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends build-dep bpftrace
	: >/build-dep
fi
cmake -S /bpftrace -B /bpftrace-build -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DENABLE_MAN=OFF -DUSE_SYSTEM_LIBBPF=ON
make -C /bpftrace-build -j"$(nproc)" bpftrace
