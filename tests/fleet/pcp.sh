# Sourced after lib.sh: a Performance Co-Pilot of the test's own, on ports and in folders of its own, without root's services.
#
#   pcp_prepare                             what is missing skips the whole file
#   pcp_bundle NAME -x FILE SCRIPT          what the bpftrace agent is to run, a bundle; or: cp x.bt "$pcp_autostart"
#   pcp_start [HOST]                        pmcd and the agent; the host's name in what they say
#   wait_for pcp_has bpftrace.scripts.x.data.map '"key"'
#   pcp pmrep ...                           any program of PCP's, on that pmcd
#   pcp_own_postgresql                      a server that postgresql_start is to take: scripts see no other
#   pcp_stop
#
# Its folder is $pcp_dir; logs are in $pcp_dir/log.
# shellcheck shell=bash disable=SC2034,SC2154

pcp_dir='' pcp_tree='' pcp_autostart='' pcp_pmcd='' pcp_port=''

# free_port: one of 127.0.0.1 that nobody listens on now
free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# pcp PROGRAM ARG...: with the configuration, the libraries and the modules of that tree
pcp() {
	local program=$1 bin
	shift
	for bin in usr/bin usr/lib/pcp/bin; do
		[ ! -x "$pcp_tree/$bin/$program" ] || break
	done
	set -- env -C "$pcp_dir" PCP_CONF="$pcp_dir/pcp.conf" PMCD_PORT="$pcp_port" PMCD_SOCKET="$pcp_dir/pmcd.socket" PMCD_CONNECT_TIMEOUT=30 \
		PMCD_REQUEST_TIMEOUT=30 LD_LIBRARY_PATH="$pcp_tree/usr/lib" \
		PYTHONPATH="$pcp_tree/usr/lib/python3/dist-packages" PATH="/usr/bin:/bin:/usr/sbin:/sbin:$pcp_tree/usr/bin" \
		BPFTRACE="$(command -v "$bpftrace")" "$pcp_tree/$bin/$program" "$@"
	[ "$BASHPID" = $$ ] || exec "$@" # in the background $! is the program's
	"$@"
}

pcp_prepare() {
	local var value
	pcp_tree=$("$top/tests/fleet/install.sh" pcp 2>"$tmp/install") || skip_all "no PCP to be had: $(tail -n 1 "$tmp/install")"
	pcp_dir=$tmp/pcp pcp_port=$(free_port)
	pcp_autostart=$pcp_dir/pmdas/bpftrace/autostart
	mkdir -p "$pcp_autostart" "$pcp_dir"/{log,run,tmp}
	chmod 755 "$pcp_autostart"
	sed -E "s,=/(etc|usr|var|run)\b,=$pcp_tree/\1,; s,^(PCP_AWK_PROG)=.*,\1=awk," "$pcp_tree/etc/pcp.conf" >"$pcp_dir/pcp.conf"
	while read -r var value; do
		sed -i "s|^$var=.*|$var=$value|" "$pcp_dir/pcp.conf"
	done <<-EOF
		PCP_PMDAS_DIR $pcp_dir/pmdas
		PCP_RUN_DIR $pcp_dir/run
		PCP_LOG_DIR $pcp_dir/log
		PCP_TMP_DIR $pcp_dir/tmp
		PCP_TMPFILE_DIR $pcp_dir/tmp
		PCP_USER root
		PCP_GROUP root
	EOF
	printf 'root { bpftrace 151:*:* }\n' >"$pcp_dir/root_bpftrace"
	pcp pmnsmerge "$pcp_tree/usr/lib/pcp/pmns/root_pmcd" "$pcp_dir/root_bpftrace" "$pcp_dir/pmns" || skip_all "PCP does not run here"
	printf '[bpftrace]\nbpftrace_path = %s\n' "${pcp_bpftrace:-$top/scripts/pcp-bpftrace.py}" >"$pcp_dir/pmdas/bpftrace/bpftrace.conf"
	cat >"$pcp_dir/pmcd.conf" <<-EOF
		pmcd 2 dso pmcd_init $pcp_tree/usr/lib/pcp/pmdas/pmcd/pmda_pmcd.so
		bpftrace 151 pipe binary /usr/bin/python3 $pcp_tree/usr/lib/pcp/pmdas/bpftrace/pmdabpftrace.python
		[access]
		allow "local:*" : all;
	EOF
}

# pcp_bundle NAME ARG...: the bundle of these
pcp_bundle() {
	local version
	version=$("$bpftrace" --version | sed -n 's/^bpftrace v\(0\.[0-9]*\).*/\1/p')
	"$btgen" bundle --pcp --for "$version" -W no-table -o "$pcp_autostart/$1.bt" "${@:2}" 2>"$tmp/bundle-said" || sed 's/^/# /' "$tmp/bundle-said"
}

pcp_start() {
	pcp pmcd -f -i 127.0.0.1 -s "$pcp_dir/pmcd.socket" -c "$pcp_dir/pmcd.conf" -n "$pcp_dir/pmns" -l "$pcp_dir/log/pmcd.log" \
		-U root -q 30 -t 30 -H "${1-$(uname -n)}" &
	pcp_pmcd=$!
	own $pcp_pmcd
	wait_for pcp pminfo -f pmcd.numagents >/dev/null 2>&1
}

# pcp_has METRIC REGEX: of what pminfo -f prints
pcp_has() { pcp pminfo -f "$1" 2>&1 | grep -qE -- "$2"; }

# pcp_value METRIC: of the metric bpftrace.scripts.METRIC, which has no instances
pcp_value() { pcp pminfo -f "bpftrace.scripts.$1" | sed -n 's/^ *value //p'; }

# pcp_attached NAME...: the bpftraces of these scripts wait for events, as they do when all is attached
pcp_attached() {
	local name child
	for name; do
		child=$(pgrep -P "$(pcp_value "$name.pid")" 2>/dev/null) && grep -qE '^(22|232|281) ' "/proc/$child/syscall" || return
	done
}

# pcp_own_postgresql: before postgresql_start: its server is a copy, for a script is attached to a file, and sees all servers of it
pcp_own_postgresql() {
	local bin
	bin=$(pg_config --bindir 2>/dev/null) || bin=$(dirname "$(compgen -G '/usr/lib/postgresql/*/bin/postgres' | tail -n 1)")
	[ -x "$bin/postgres" ] || skip_all "needs a PostgreSQL server"
	mkdir -p "$tmp/own$bin" "$tmp/path"
	cp "$bin"/{postgres,initdb,pgbench} "$tmp/own$bin"
	ln -s /usr/share "$tmp/own/usr/share" # which it looks for beside its own folder
	ln -s "${bin%/bin}/lib" "$tmp/own${bin%/bin}/lib"
	printf '#!/bin/sh\necho %s\n' "$tmp/own$bin" >"$tmp/path/pg_config"
	chmod +x "$tmp/path/pg_config"
	PATH=$tmp/path:$PATH
}

# pcp_stop: the agent stops its scripts, which takes a moment
pcp_stop() {
	kill "$pcp_pmcd"
	wait "$pcp_pmcd" 2>/dev/null
}
