#!/usr/bin/env bash
# Programs of Rust: arguments of functions, members of slices in registers, and probes as the crates `probe` and `usdt` write them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
command -v rustc >/dev/null || skip_all "no rustc (tests/obj/pieces.t has such debug information, written by hand)"
[ "$(uname -m)" = x86_64 ] || skip_all "operands are those of x86-64"

cat >"$tmp/app.rs" <<'END'
#![allow(named_asm_labels)]
use std::hint::black_box;
pub struct Store { pub pad: u64, pub hits: u64 }
pub struct Wide { pub x: u64, pub y: i64 }
#[derive(Clone, Copy)] pub enum Kind { Red, Green = 5 }
#[inline(never)] pub fn put(id: u32, len: usize, ok: bool, kind: Kind) -> u64 { black_box(id as u64 + len as u64 + ok as u64 + kind as u64) }
#[inline(never)] pub fn text(s: &str, n: i32) -> u64 { black_box(s.bytes().map(u64::from).sum::<u64>() + n as u64) }
#[inline(never)] pub fn get(st: &mut Store, key: &[u8]) -> u64 { st.hits += key.len() as u64; black_box(st.hits) }
#[inline(never)] pub fn wide(w: Wide) -> u64 { black_box(w.x.wrapping_add(w.y as u64)) }

#[cfg(probes)] macro_rules! note {
	($flags:literal, $name:literal, $semaphore:literal, $args:literal) => {
		concat!(".pushsection .note.stapsdt, \"", $flags, "\", \"note\"
	.balign 4
	.4byte 992f-991f, 994f-993f, 3
991:	.asciz \"stapsdt\"
992:	.balign 4
993:	.8byte 990b, _.stapsdt.base, ", $semaphore, "
	.asciz \"app\"
	.asciz \"", $name, "\"
	.asciz \"", $args, "\"
994:	.balign 4
	.popsection
	.ifndef _.stapsdt.base
	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat
	.weak _.stapsdt.base
	.hidden _.stapsdt.base
_.stapsdt.base: .space 1
	.size _.stapsdt.base, 1
	.popsection
	.endif")
	};
}
/// `probe`: each argument is an isize, in AT&T's syntax. `usdt`: a semaphore, and the width of each type, in Intel's.
#[cfg(probes)] #[inline(never)] fn fire(count: u32, name: *const u8, left: i64) {
	use std::arch::asm;
	extern "C" { static __usdt_sema_app_done: u16; }
	unsafe {
		asm!("990: nop", note!("?", "step", "0", "-8@{0} -8@{1} -8@{2}"),
			in(reg) count as isize, in(reg) name as isize, in(reg) left as isize, options(att_syntax));
		if (&raw const __usdt_sema_app_done).read_volatile() != 0 {
			asm!("990: nop
	.ifndef __usdt_sema_app_done
	.pushsection .probes, \"aw\", \"progbits\"
	.weak __usdt_sema_app_done
	.hidden __usdt_sema_app_done
__usdt_sema_app_done: .zero 2
	.type __usdt_sema_app_done, @object
	.size __usdt_sema_app_done, 2
	.popsection
	.endif", note!("", "done", "__usdt_sema_app_done", "4@{0:e} 8@{1:r}"),
				in(reg) count, in(reg) name, options(nomem, nostack, preserves_flags));
		}
	}
}
fn main() {
	let words = String::from("some words of a text\0");
	let mut store = Store { pad: 1, hits: 40 };
	for i in 0..3u32 {
		let kind = if i == 1 { Kind::Green } else { Kind::Red };
		let (from, to) = (black_box(i as usize), black_box(8 + i as usize));
		println!("put {} {} {} {}", i * 7, 1000 + to, (i == 1) as u8, kind as u8);
		put(black_box(i * 7), 1000 + to, black_box(i == 1), black_box(kind));
		println!("text {} {} {}", &words[from..to], to - from, -5 - i as i32);
		text(&words[from..to], black_box(-5 - i as i32));
		println!("get {} {}", store.hits, to - from);
		get(black_box(&mut store), &words.as_bytes()[from..to]);
		println!("wide {} {}", u64::MAX - i as u64, -9 - i as i64);
		wide(black_box(Wide { x: u64::MAX - i as u64, y: -9 - i as i64 }));
		#[cfg(probes)] {
			println!("step {} {} {}", i + 3, words.trim_end_matches('\0'), -8 - i as i64);
			fire(black_box(i + 3), words.as_ptr(), black_box(-8 - i as i64));
		}
	}
}
END
cat >"$tmp/app.bt" <<'END'
uprobe:__EXE__:app::put { printf("put %d %lu %d %d\n", args.id, args.len, args.ok, (uint8)args.kind); }
uprobe:__EXE__:app::text { printf("text %s %lu %d\n", str(args.s.data_ptr, args.s.length), args.s.length, args.n); }
uprobe:__EXE__:app::get { printf("get %lu %lu\n", args.st->hits, args.key.length); }
uprobe:__EXE__:app::wide { printf("wide %lu %ld\n", args.w.x, args.w.y); }
END
compare() { # FLAGS...: what is traced is what the program says
	rustc --cap-lints allow -g "$@" -o "$tmp/app" "$tmp/app.rs" 2>"$tmp/errors" || { skip "$*" "this rustc does not build it"; return; }
	"$top/scripts/bpftrace.sh" -q -c "$tmp/app" -o "$tmp/trace" "$tmp/app.bt" >"$tmp/answers" 2>&1
	is "$(grep . "$tmp/trace")" "$(grep . "$tmp/answers")" "rustc $*: what functions are called with"
}
compare -Copt-level=1
compare -Copt-level=2
compare -Copt-level=3 -Clto=fat -Ccodegen-units=1
rustc --cap-lints allow -g -o "$tmp/app" "$tmp/app.rs" || exit 1
like "$("$btgen" check -x "$tmp/app" -e 'uprobe:__EXE__:app::put { print(args.len); }' 2>&1)" \
	'note: the nearest place where it can be read is _ZN3app3put[0-9a-zA-Z]+\+0x[0-9a-f]+ \(.*app.rs:6\), with vars.NAME$' \
	"of what is not optimized the place where an argument can be read is said"

if ! rustc --cap-lints allow -g -O --cfg probes -o "$tmp/app" "$tmp/app.rs" 2>"$tmp/errors"; then
	skip "probes" "this rustc does not build them"
else
	is "$("$btgen" probes -x "$tmp/app" 2>/dev/null | sed 's/  not attachable by .* 4@e[a-z]*, and by address it raises no semaphore$//')" \
		"app:step(int64_t arg0, int64_t arg1, i64 left)
app:done(uint32_t arg0, uint64_t arg1)" "probes: they are listed with what is known of their arguments"
	"$top/scripts/bpftrace.sh" -q -c "$tmp/app" -o "$tmp/trace" \
		-e 'usdt:__EXE__:app:step { printf("step %d %s %ld\n", args.0, str(args.1), args.left); }' >"$tmp/answers" 2>&1
	is "$(grep . "$tmp/trace")" "$(grep '^step' "$tmp/answers")" "probes: those of the crate \`probe\` are read"
	like "$("$btgen" check -x "$tmp/app" -e 'usdt:__EXE__:app:done { print(args.0); }' 2>&1)" \
		'error: bpftrace .* cannot (read|attach).*' "probes: arguments of the crate \`usdt\` are refused"
fi
done_testing
