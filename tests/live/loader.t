#!/usr/bin/env bash
# loader.bt: libraries that a program loads, as it sees them appear in its own list of libraries.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# libplugin needs libpart, whose constructor takes 20 ms and loads libinner by itself.
cat >"$tmp/inner.c" <<'END'
int inner = 1;
END
cat >"$tmp/part.c" <<'END'
#include <dlfcn.h>
#include <unistd.h>
int part = 1;
__attribute__((constructor)) static void prepare(void)
{
	usleep(20000);
	dlopen(INNER, RTLD_NOW);
}
END
cat >"$tmp/plugin.c" <<'END'
extern int part;
int plugin(void) { return part; }
END
cat >"$tmp/app.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <iconv.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int known;

// Prints the libraries behind the first @known of the list.
static int show(struct dl_phdr_info *info, size_t size, void *n)
{
	(void)size;
	if (++*(int *)n > known)
		dprintf(1, "+ %s\n", info->dlpi_name);
	return 0;
}

static void __attribute__((noinline)) load(const char *name)
{
	int n = 0;
	void *h = dlopen(name, RTLD_NOW);
	dprintf(1, "%s %s\n", name, h ? "loaded" : "failed");
	dl_iterate_phdr(show, &n);
	known = n;
	if (h) {
		char c;
		if (read(0, &c, 1) != 1)
			return;
		dlsym(h, "plugin");
		dlsym(h, "no_such_function");
		dprintf(1, "the next malloc: %s\n", dlsym(RTLD_NEXT, "malloc") ? "found" : dlerror());
		dlopen(name, RTLD_NOW);
		dlclose(h);
		dlclose(h);
	}
}

int main(int argc, char **argv)
{
	char c;
	known = 0;
	if (argc > 1 && read(0, &c, 1) == 1) {
		int all = 0;
		known = 1 << 30;
		dl_iterate_phdr(show, &all);
		known = all;
		load(argv[1]);
		load("no_such_library.so");
		iconv_t conversion = iconv_open("UTF-8", "EUC-JP");
		if (conversion != (iconv_t)-1)
			iconv_close(conversion);
		else
			dprintf(1, "no conversion\n");
		dprintf(1, "done\n");
		return read(0, &c, 1) < 0;
	}
}
END
(cd "$tmp" && gcc -shared -fPIC -o libinner.so inner.c && gcc -shared -fPIC -DINNER="\"$tmp/libinner.so\"" -o libpart.so part.c &&
	gcc -shared -fPIC -o libplugin.so plugin.c -L. -lpart -Wl,-rpath,"$tmp" &&
		gcc -O1 -fno-optimize-sibling-calls -o app app.c) 2>"$tmp/err" ||
	skip_all "gcc failed: $(head -n 1 "$tmp/err")"
live_start "$tmp/app" "$tmp/libplugin.so"
ok "it attaches" live_trace $live_pid loader.bt
printf x >&8
# Who called is looked up when it is printed: the library must still be there.
printed() { grep -q '< dlopen .*/libplugin' "$tmp/trace"; }
wait_for printed
printf x >&8
live_done

events=$(sed -nE "s/^[0-9]+\.[0-9]{6}: $live_pid //p" "$tmp/trace")
# A loader with probes tells what the C library itself brings: conversions.
conversions=$(grep '+ .*/gconv/' <<<"$events")
events=$(grep -v '/gconv/' <<<"$events")
is "$(grep -E '^[0-9] [>+]|^[0-9] < dlopen 0x0|finds no' <<<"$events" | sed -E 's/: [0-9]+ us.*//')" "1 > dlopen for load
2 > dlopen for prepare
2 + $tmp/libinner.so
1 + $tmp/libplugin.so
1 + $tmp/libpart.so
0 dlsym finds no no_such_function
1 > dlopen for load
1 > dlclose $tmp/libplugin.so for load
1 > dlclose $tmp/libplugin.so for load
1 > dlopen for load
1 < dlopen 0x0 no_such_library.so" "calls, for whom, with the libraries that each brought, those of a constructor's own call apart"
is "$(grep -oE '\+ .*' <<<"$events" | sort)" "$(sed -n '/libplugin.so loaded/,/no_such_library/p' "$tmp/answers" | grep '^+' | sort)" \
	"the program found as many new libraries in its list"
like "$events" '^2 < dlopen 0x[0-9a-f]{6,} [^ ]*/libinner.so: ' "the name of the inner one, which nobody had read before"
read -r all map < <(sed -nE 's/^1 < dlopen 0x[0-9a-f]{6,} [^ ]*\/libplugin.so: ([0-9]+) us, ([0-9]+) of them to map$/\1 \2/p' <<<"$events" | head -n 1)
ok "the constructor's 20 ms are in the call's time and not in that of mapping (${all:-no} us, ${map:-no})" \
	test "${map:-0}" -gt 0 -a $((${all:-0} - ${map:-0})) -ge 20000
like "$events" '^1 < dlopen 0x[0-9a-f]{6,} [^ ]*/libplugin.so: [0-9]+ us, 0 of them to map$' \
	"a second dlopen() of the same library maps nothing"
is "$(sed -nE 's/^1 < dlclose [0-9]+ us, //p' <<<"$events")" "still in use
unloaded" "the first dlclose() only takes back a use, the second one unloads"
excuse=()
if grep -q '^no conversion' "$tmp/answers"; then
	skip "what iconv() loads" "the C library's conversions are not installed"
	excuse=(-x 'the C library itself')
else
	like "$events" '^the C library itself loads or unloads: [0-9]+ us$' "what iconv() loads"
	if grep -q map_complete <(readelf -n /lib*/ld-linux*.so.* 2>/dev/null); then
		like "$conversions" '^0 \+ /.*EUC-JP' "its name, from a loader with probes"
	else
		skip "its name" "this loader has no probes"
	fi
fi
is "$(grep '^@' "$tmp/trace" | sort)" "@symbols[malloc]: 1
@symbols[no_such_function]: 1
@symbols[plugin]: 1" "symbols that were looked up; its own maps are not printed"

like "$(cat "$tmp/answers")" 'the next malloc: found' "dlsym() tells its callers apart as without a tracer"

is_sample loader.bt ${excuse[@]+"${excuse[@]}"}

done_testing
