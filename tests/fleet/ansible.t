#!/usr/bin/env bash
# docs/fleet/pcp.yml: Ansible puts bundles on hosts, which here are folders, and on none whose program is another build.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root, for chroot"
command -v ansible-playbook >/dev/null || skip_all "scripts/pkgdep.sh --fleet installs ansible"
tree=$("$top/tests/fleet/install.sh" host 2>"$tmp/install") || skip_all "no host to be had: $(tail -n 1 "$tmp/install")"
app=/usr/sbin/nvmf_tgt

# host NAME BUILD: a copy of the tree, by links, with that build of nvmf_tgt, a bpftrace, and what PCP's package has
hosts=$(mktemp -d "${tree%/*}/hosts.XXXXXX") || skip_all "$tree cannot be copied"
trap 'rm -rf "$hosts"; tap_cleanup' EXIT
host() {
	local root=$hosts/$1
	cp -al "$tree" "$root"
	cp "$targets/$2" "$root$app"
	mkdir -p "$root/etc/pcp/bpftrace" "$root/etc/pcp/pmcd" "$root/var/lib/pcp/pmdas/bpftrace" "$root/root/.ansible"
	printf '#!/bin/sh\necho bpftrace v0.23.2\n' >"$root/usr/bin/bpftrace"
	chmod 755 "$root/usr/bin/bpftrace"
	printf '[bpftrace]\n# Path to bpftrace executable\nbpftrace_path = bpftrace\n\n[dynamic_scripts]\nenabled = false\n' >"$root/etc/pcp/bpftrace/bpftrace.conf"
	printf 'pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so\n' >"$root/etc/pcp/pmcd/pmcd.conf"
	printf '%s ansible_connection=community.general.chroot ansible_host=%s ansible_python_interpreter=/usr/bin/python3\n' \
		"$1" "$root" >>"$tmp/inventory"
}
host one nvmf_tgt
host two nvmf_tgt
printf 'bpftrace 151 pipe binary python3 /var/lib/pcp/pmdas/bpftrace/pmdabpftrace.python\n' >>"$hosts/two/etc/pcp/pmcd/pmcd.conf"
chroot "$hosts/one" /usr/bin/python3 -c 'open("/dev/null")' 2>"$tmp/err" || skip_all "no chroot here: $(tail -n 1 "$tmp/err")"

# bundle SCRIPT: it, for that file, as if it were where the hosts have it
mkdir "$tmp/scripts"
bundle() {
	"$btgen" bundle --pcp --for 0.23 -W no-table -x "$targets/nvmf_tgt" "$1" 2>/dev/null |
		sed "s,$targets/nvmf_tgt,$app,g" >"$tmp/scripts/$(basename "$1" .bt).bt"
}
bundle "$top/docs/fleet/nvmf_states.bt"
bundle "$top/bpf/nvmf_timeout.bt"

# play: the playbook; its last lines, a host each: NAME OK CHANGED FAILED
play() {
	ANSIBLE_PIPELINING=1 ANSIBLE_LOCAL_TEMP=$tmp/ansible ANSIBLE_NOCOLOR=1 ANSIBLE_RETRY_FILES_ENABLED=0 guard ansible-playbook -i "$tmp/inventory" \
		-e ansible_become=false -e with_system=false -e scripts="$tmp/scripts" -e adapter="$top/scripts/pcp-bpftrace.py" \
		"$top/docs/fleet/pcp.yml" >"$tmp/play" 2>&1 </dev/null
	sed -nE 's/^(one|two) .*ok=([0-9]+) +changed=([0-9]+) .*failed=([0-9]+).*/\1 changed \3 failed \4/p' "$tmp/play"
}
is "$(play | sed 's/changed [1-9][0-9]*/changed/')" "one changed failed 0
two changed failed 0" "the playbook changes both hosts" || sed 's/^/# /' "$tmp/play"
for name in one two; do
	root=$hosts/$name
	is "$(cd "$root/etc/pcp/bpftrace/autostart" && stat -c '%n %U %a' ./*)" "./nvmf_states.bt root 644
./nvmf_timeout.bt root 644" "$name: the bundles are in the agent's folder, nobody else's to write"
	ok "$name: ... as they were made" diff -r "$tmp/scripts" "$root/etc/pcp/bpftrace/autostart"
	is "$(grep -n bpftrace_path "$root/etc/pcp/bpftrace/bpftrace.conf")" "3:bpftrace_path = /usr/local/libexec/btgen/pcp-bpftrace.py" \
		"$name: the agent runs our program in bpftrace's place"
	ok "$name: ... which is there" test -x "$root/usr/local/libexec/btgen/pcp-bpftrace.py"
done
ok "the agent is installed where pmcd does not know it" test -e "$hosts/one/var/lib/pcp/pmdas/bpftrace/.NeedInstall"
not_ok "... and not where it does" test -e "$hosts/two/var/lib/pcp/pmdas/bpftrace/.NeedInstall"
is "$(play)" "one changed 0 failed 0
two changed 0 failed 0" "a second time it changes nothing" || sed 's/^/# /' "$tmp/play"

# Another build on one of them, another version of a script, one script less
cp "$targets/nvmf_tgt_shared" "$hosts/two$app"
cp -r "$hosts/two/etc/pcp/bpftrace/autostart" "$tmp/before"
echo '// a newer one' >>"$tmp/scripts/nvmf_states.bt"
rm "$tmp/scripts/nvmf_timeout.bt"
is "$(play)" "one changed 2 failed 0
two changed 0 failed 1" "a host with another build fails, and only that" || sed 's/^/# /' "$tmp/play"
like "$(cat "$tmp/play")" "$app is not the build that this script is for \(build ID [0-9a-f]{40}" "... with the reason"
ok "... and keeps what it had" diff -r "$tmp/before" "$hosts/two/etc/pcp/bpftrace/autostart"
ok "the other has what it was to have, without the script that is no more" diff -r "$tmp/scripts" "$hosts/one/etc/pcp/bpftrace/autostart"
done_testing
