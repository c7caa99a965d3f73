#!/usr/bin/env bash
# The list of probes is what readelf -n says, for every file of this machine that has probes.
#
# Two programs are built here from systemtap's header, so that there is always something to compare; the second one
# has several sites, a semaphore, and one probe of each kind of operand that gcc writes at -O2.
. "$(dirname "$0")/../lib.sh"
command -v readelf >/dev/null || skip_all "readelf is not installed"

cat >"$tmp/few.c" <<'END'
#include <sys/sdt.h>
int main(int argc, char **argv)
{
	DTRACE_PROBE(few, none);
	DTRACE_PROBE2(few, two, argc, argv);
	return 0;
}
END
cat >"$tmp/many.c" <<'END'
#define SDT_USE_VARIADIC 1
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
unsigned short many_guarded_semaphore __attribute__((section(".probes")));
unsigned short many_several_semaphore __attribute__((section(".probes")));
unsigned short many_all_semaphore __attribute__((section(".probes")));
unsigned short many_memory_semaphore __attribute__((section(".probes")));
struct point { signed char c; short s; long l[4]; } points[8];
static int counter;
static inline __attribute__((always_inline)) void several(long a, unsigned char b)
{
	STAP_PROBE2(many, several, a, b);
}
long work(int i, struct point *p, double d)
{
	if (many_guarded_semaphore)
		STAP_PROBE1(many, guarded, i);
	several(i, 200);
	several(p->l[i & 3], p->c);
	STAP_PROBE12(many, all, i, p, p->c, p->s, p->l[i & 3], points[i].s, counter, -1, 0xffffffffu,
		     (char)i, &points[2], counter++);
	STAP_PROBE3(many, memory, points[3].l[1], p->l[i], d);
	return p->l[0];
}
int main(int argc, char **argv)
{
	several(argc, 1);
	return (int)work(argc, &points[argc], argc * 0.5) + !argv;
}
END
n=0
try_build() { # PROGRAM COMPILER FLAGS...: what this machine cannot build is not compared
	n=$((n + 1))
	local program=$1
	shift
	"$@" -g -o "$tmp/$program.$n" "$tmp/$program.c" 2>/dev/null || rm -f "$tmp/$program.$n"
}
# The header is the same for every machine; a cross compiler does not look where Debian has it.
mkdir -p "$tmp/include/sys"
for header in $(echo '#include <sys/sdt.h>' | ${CC:-gcc} -M -x c - 2>/dev/null | tr ' ' '\n' | grep '/sys/sdt'); do
	cp "$header" "$tmp/include/sys"
done
for program in few many; do
	for opt in -O0 -O2; do
		try_build $program "${CC:-gcc}" $opt
		try_build $program "${CC:-gcc}" $opt -static
		try_build $program "${CC:-gcc}" $opt -fno-pie -no-pie
		try_build $program "${CC:-gcc}" $opt -m32
		try_build $program clang $opt
		try_build $program aarch64-linux-gnu-gcc $opt -I"$tmp/include" -nostdlib -shared -fPIC
		try_build $program aarch64-linux-gnu-gcc $opt -I"$tmp/include" -nostdlib -static -mbig-endian
	done
done

cat >"$tmp/compare.py" <<'END'
import collections, json, os, re, stat, struct, subprocess, sys

btgen, tmp = sys.argv[1], sys.argv[2]
FOLDERS = ["/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local", "/opt", tmp] + sys.argv[3:]
MOST = 400  # files compared; more only take time

def has_notes(path):
    """Looks for the section's name without any library."""
    try:
        with open(path, "rb") as f:
            h = f.read(64)
            if h[:4] != b"\x7fELF" or len(h) < 64 or h[4] not in (1, 2) or h[5] not in (1, 2):
                return False
            order = "<" if h[5] == 1 else ">"
            if h[4] == 2:
                shoff, = struct.unpack_from(order + "Q", h, 40)
                size, num, index = struct.unpack_from(order + "HHH", h, 58)
            else:
                shoff, = struct.unpack_from(order + "I", h, 32)
                size, num, index = struct.unpack_from(order + "HHH", h, 46)
            if not shoff or index >= num:
                return False
            f.seek(shoff + index * size)
            s = f.read(size)
            off, length = struct.unpack_from(order + ("QQ" if h[4] == 2 else "II"), s, 24 if h[4] == 2 else 16)
            f.seek(off)
            return b"\0.note.stapsdt\0" in f.read(min(length, 1 << 20))
    except (OSError, struct.error):
        return False

def candidates():
    seen = set()
    for folder in FOLDERS:
        for where, folders, files in os.walk(folder):
            folders[:] = [f for f in folders if not os.path.islink(os.path.join(where, f))]
            for name in sorted(files):
                path = os.path.join(where, name)
                st = os.lstat(path)
                # Opening each of 100,000 headers and scripts would be most of this test's time.
                likely = st.st_mode & 0o111 or ".so" in name or name.endswith(".debug")
                if not stat.S_ISREG(st.st_mode) or not likely or (st.st_dev, st.st_ino) in seen:
                    continue
                seen.add((st.st_dev, st.st_ino))
                if st.st_size > 1000 and has_notes(path):
                    yield path

def base_address(path):
    """Where .stapsdt.base is now."""
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, errors="replace").stdout
    m = re.search(r"\.stapsdt\.base\s+\S+\s+([0-9a-f]+)", text)
    return int(m.group(1), 16) if m else None

def by_readelf(path):
    text = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, errors="replace").stdout
    base, sites = base_address(path), []
    notes = re.findall(r"Provider: (.*)\n\s*Name: (.*)\n\s*Location: (\S+), Base: (\S+), Semaphore: (\S+)\n\s*Arguments:(.*)", text)
    mask = (1 << 64) - 1 if "ELF64" in subprocess.run(["readelf", "-h", path], capture_output=True, text=True).stdout else (1 << 32) - 1
    for provider, name, pc, b, sema, args in notes:
        pc, b, sema = int(pc, 16), int(b, 16), int(sema, 16)
        move = (base - b) if base is not None else 0
        sites.append((provider, name, pc + move & mask, (sema + move & mask) if sema else 0, " ".join(args.split())))
    return sites

def by_btgen(path):
    run = subprocess.run([btgen, "probes", "--json", "-x", path], capture_output=True, text=True)
    sites = []
    for p in json.loads(run.stdout):
        if p["file"] != path:
            raise ValueError("wrong file " + p["file"])
        for s in p["sites"]:
            args = []
            for a in s["args"]:
                size = "" if a["size"] is None else "%s%d%s@" % ("-" if a["signed"] else "", a["size"], "f" if a["float"] and "f@" in a["place"] else "")
                args.append(size + a["place"])
            sites.append((p["provider"], p["name"], int(s["address"], 16), int(s["semaphore"] or "0", 16), " ".join(args), s["doubt"]))
    return run.returncode, run.stderr, sites

by_file = {}
files = sites = bad = debug = as_expected = 0
order_ok = True
for path in candidates():
    if files == MOST:
        break
    want = by_readelf(path)
    by_file[path] = len(want)
    status, said, got = by_btgen(path)
    files += 1
    sites += len(want)
    plain = [g[:5] for g in got]
    # The float mark is not in readelf's way of asking, so it is taken out of both.
    want = [w[:4] + (re.sub(r"(\d)f@", r"\1@", w[4]),) for w in want]
    if collections.Counter(plain) != collections.Counter(want) or status != 0:
        bad += 1
        print("# %s: status %d, %s" % (path, status, said.strip()))
        for side, extra in (("btgen only", collections.Counter(plain) - collections.Counter(want)), ("readelf only", collections.Counter(want) - collections.Counter(plain))):
            for e in list(extra)[:5]:
                print("#   %s: %s" % (side, e))
    if not all(a == b for a, b in zip(dict.fromkeys((w[0], w[1]) for w in want), dict.fromkeys((g[0], g[1]) for g in got))):
        order_ok = False
        print("# %s: another order" % path)
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, errors="replace").stdout
    if re.search(r"\.text\s+NOBITS", sections):
        debug += 1
        as_expected += "a separate debug file?" in said and all(g[5] for g in got)
    elif said or any(g[5] for g in got):
        print("# %s: %s" % (path, said.strip()))
    else:
        as_expected += 1
largest = sorted(by_file, key=by_file.get, reverse=True)[:8]
print("# most sites: " + ", ".join("%s %d" % (os.path.basename(f), by_file[f]) for f in largest))
print("# %d files (%d of them separate debug files), %d sites compared" % (files, debug, sites))
print("RESULT %d %d %d %d %d" % (files, sites, bad, order_ok, as_expected))
END
python3 "$tmp/compare.py" "$btgen" "$tmp" "$build" "$targets" >"$tmp/result" || cat "$tmp/result"
grep '^#' "$tmp/result"
read -r _ files sites bad order expected < <(grep '^RESULT' "$tmp/result")
ok "there were programs with probes to compare" test "${files:-0}" -gt 0 -a "${sites:-0}" -gt 10
is "${bad:-none}" 0 "every site is as readelf has it: provider, name, address, semaphore, arguments"
is "${order:-0}" 1 "probes come in the order of the notes"
is "${expected:-0}" "${files:-1}" "every site of a real program is a nop; a separate debug file is said to be one"
unread=$(for f in "$tmp"/many.*[0-9]; do "$btgen" probes -v -x "$f" 2>&1 | grep 'not understood'; done)
is "$unread" "" "every operand that gcc and clang wrote for these programs is understood"
done_testing
