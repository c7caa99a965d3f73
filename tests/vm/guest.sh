# What the guest does: traces, known traffic, the end of the traces. Run by init; nvme.t looks at the results.
# shellcheck shell=bash
results=/tmp/results
declare -a tracers=() names=()

# controller SERIAL: its number
controller() {
	local d
	for d in /sys/class/nvme/nvme*; do
		[ "$(tr -d ' ' <"$d/serial")" != "$1" ] || echo "${d##*nvme}"
	done
}

# trace NAME OPTION... SCRIPT: in the background, its output to NAME.out and NAME.err
trace() {
	local name=$1
	shift
	set -m # else it would be started with SIGINT ignored
	/btgen/scripts/bpftrace.sh --ready-file "/tmp/ready.$name" "$@" >"$results/$name.out" 2>"$results/$name.err" </dev/null &
	tracers+=($!) names+=("$name")
	set +m
}

# wait_for COMMAND...
wait_for() {
	local end=$((SECONDS + 600))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

all_ready() {
	local name
	for name in "${names[@]}"; do
		[ -s "/tmp/ready.$name" ] || return 1
	done
}

stop() {
	local i
	kill -INT "${tracers[@]}"
	for i in "${!tracers[@]}"; do
		wait "${tracers[i]}"
		echo "${names[i]} $?" >>$results/status
	done
}

# A target for NVMe over TCP on the loopback, with a file for a namespace.
serve() {
	local subsystem=/sys/kernel/config/nvmet/subsystems/nqn.2020-01.test:one port=/sys/kernel/config/nvmet/ports/1 module
	for module in /modules/*.ko; do
		insmod "$module"
	done
	ip link set lo up
	mount -t configfs config /sys/kernel/config
	truncate -s 16M /fabric.img
	mkdir $subsystem $subsystem/namespaces/1 $port
	echo 1 >$subsystem/attr_allow_any_host
	echo 1 >$subsystem/namespaces/1/buffered_io
	echo /fabric.img >$subsystem/namespaces/1/device_path
	echo 1 >$subsystem/namespaces/1/enable
	echo tcp >$port/addr_trtype
	echo ipv4 >$port/addr_adrfam
	echo 127.0.0.1 >$port/addr_traddr
	echo 4420 >$port/addr_trsvcid
	ln -s $subsystem $port/subsystems/
}

# join NAME: as a host, one I/O queue
join() {
	echo "transport=tcp,traddr=127.0.0.1,trsvcid=4420,nr_io_queues=1,queue_size=64,nqn=$1" >/dev/nvme-fabrics
}

# apart: the kernel runs no BPF program on a processor that is just running another, or is in a system call on a map. What a
# controller's reset sends comes two at once, and one trace prints and clears its maps each second: all that is done on the
# second processor, and admin commands are completed on the first.
apart() {
	local irq pid
	echo 2 >/sys/devices/virtual/workqueue/cpumask # the reset's
	for irq in $(sed -nE 's/^ *([0-9]+):.* nvme[0-9]+q0$/\1/p' /proc/interrupts); do
		echo 1 >"/proc/irq/$irq/smp_affinity"
	done
	for pid in $(pidof bpftrace); do
		taskset -ap 2 "$pid"
	done
}

# say TEXT: when, on the console
say() {
	echo "guest: $(cut -d ' ' -f 1 /proc/uptime) s: $*"
}

# What the tests compare with: the kernel's own names for numbers.
cp /sys/kernel/btf/vmlinux $results/vmlinux.btf

data=$(controller data) twenty=$(controller twenty) slow=$(controller slow) faulty=$(controller faulty)
printf '%s\n' "data=$data" "twenty=$twenty" "slow=$slow" "faulty=$faulty" >$results/controllers

serve

# One write under way at any time, six seconds each: one begins before the traces, one ends after them.
dd if=/dev/zero of="/dev/nvme${slow}n1" bs=3072 oflag=direct 2>/dev/null &
slow_writer=$!

trace all nvme-trace.bt
trace ns2 -D CTRL_ID="$data" -D NSID=2 nvme-trace.bt
trace errors -D ERRORS=1 -D ADMIN=0 nvme-trace.bt
trace fine -D PERCENTILES=1 -D SPLIT_SIZE=1 nvme-latency.bt
trace twenty -D CTRL_ID="$twenty" -D INTERVAL=1 nvme-latency.bt
trace reads -D CTRL_ID="$data" -D NSID=1 -D ADMIN=0 -D OPCODE=2 -D SPLIT_SIZE=1 -D LBS512=1 \
	-D LAT_MIN_US=100 -D LAT_SHIFT=3 nvme-latency.bt
if wait_for all_ready; then
	say "all traces are ready"
fi
apart >/dev/null
say "traffic"

one=/dev/nvme${data}n1 two=/dev/nvme${data}n2
{
	# Opcodes that the block layer sends.
	dd if="$one" of=/dev/null bs=4096 count=8 iflag=direct
	dd if=/dev/zero of="$one" bs=4096 count=4 seek=16 oflag=direct conv=notrunc,fsync
	blkdiscard -o 1048576 -l 65536 "$one"
	dd if="$two" of=/dev/null bs=4096 count=3 iflag=direct
	dd if="$two" of=/dev/null bs=16384 count=2 iflag=direct
	dd if="$two" of=/dev/null bs=65536 count=3 iflag=direct
	dd if="$two" of=/dev/null bs=131072 count=4 iflag=direct
	echo 1 >/sys/class/nvme/nvme"$data"/rescan_controller

	# Others, with values to be found again.   opcode nsid cdw10 cdw11 cdw12 bytes
	nvmecmd io "$one" 0x01 1 0x55 0 0x40000007 4096 # write, FUA
	nvmecmd io "$one" 0x05 1 0x55 0 7 4096          # compare
	nvmecmd io "$one" 0x05 1 0x800 0 7 4096         # compare with what was written last: equal
	nvmecmd io "$one" 0x0c 1 0x100 0 15 0           # verify
	nvmecmd io "$one" 0x08 1 0x100 0 31 0           # write-zeroes
	nvmecmd io "$one" 0x02 1 0x7fffffff 0x1 0 512   # read behind the end
	nvmecmd io "$one" 0x0d 1 0 0 0 0                # resv-register: not implemented
	nvmecmd io "$one" 0x91 1 0xabc 0xdef 0x123 0    # of a vendor: not implemented
	nvmecmd admin /dev/nvme"$data" 0x02 0xffffffff 0x007f0002 0 0 512 # get-log: health
	nvmecmd admin /dev/nvme"$data" 0x02 0xffffffff 0x007f00fe 0 0 512 # get-log: none such
	nvmecmd admin /dev/nvme"$data" 0x0a 0 0x07 0 0 0  # get-features: number of queues
	nvmecmd admin /dev/nvme"$data" 0x09 0 0x0b 0x1 0 0 # set-features: events
	nvmecmd admin /dev/nvme"$data" 0x06 0 0xee 0 0 4096 # identify: none such
	nvmecmd admin /dev/nvme"$data" 0x08 0 0x12340001 0 0 0 # abort
	nvmecmd admin /dev/nvme"$data" 0xc1 0 1 2 3 0 # of a vendor

	dd if=/dev/nvme"$twenty"n1 of=/dev/null bs=4096 count=50 iflag=direct
	dd if=/dev/nvme"$faulty"n1 of=/dev/null bs=4096 skip=256 count=1 iflag=direct
	echo 1 >/sys/class/nvme/nvme"$faulty"/reset_controller

	# Over TCP, to a subsystem that is there and to one that is not.
	join nqn.2020-01.test:none
	join nqn.2020-01.test:one
	fabric=$(for d in /sys/class/nvme/nvme*; do grep -q tcp "$d/transport" && echo "${d##*nvme}"; done)
	echo "fabric=$fabric" >>$results/controllers
	wait_for test -e /dev/nvme"$fabric"n1
	dd if=/dev/nvme"$fabric"n1 of=/dev/null bs=8192 count=3 iflag=direct
	echo 1 >/sys/class/nvme/nvme"$fabric"/delete_controller
} >$results/traffic 2>&1
sleep 8 # more than a slow write
say "stop"
stop
kill $slow_writer
say "stopped"
