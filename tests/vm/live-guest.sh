#!/bin/bash
# The first process of the machine that live.sh starts: runs live tests in the checkout, which is on the disk that is mounted on
# /mnt. That disk's folder vm has the job (variables of bash) and gets the results: for each test NAME.t the files NAME.out and
# NAME.err, and its status in NAME.status.
. /mnt/vm/job # top bpftrace limit tests

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
[ -z "$bpftrace" ] || export BTGEN_BPFTRACE=$bpftrace
mkdir -p /dev/pts /dev/shm "$top"
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs run /run
mount -t tracefs tracing /sys/kernel/tracing
mount -t debugfs debug /sys/kernel/debug
mount -t cgroup2 cgroup /sys/fs/cgroup
ln -sf /proc/self/fd /dev/fd
ulimit -l unlimited
hostname vm
ip link set lo up
mount --move /mnt "$top"
if [ -n "$bpftrace" ]; then
	mkdir -p "${bpftrace%/*}"
	mount -o ro -L bpftrace "${bpftrace%/*}"
fi
results=$top/vm
cd "$top" || exit

echo "guest: Linux $(uname -r), $("${bpftrace:-bpftrace}" --version)"
for test in $tests; do
	name=${test##*/}
	name=${name%.*}
	[ ! -e "$results/$name.status" ] || continue # of a machine before this one
	timeout -k 30 "$limit" bash "$test" >"$results/$name.out" 2>"$results/$name.err" </dev/null
	echo $? >"$results/$name.status"
	echo "guest: $(cut -d ' ' -f 1 /proc/uptime) s: $name: status $(cat "$results/$name.status")"
	sync
done
echo "guest: done"
sync
echo o >/proc/sysrq-trigger
sleep 60
