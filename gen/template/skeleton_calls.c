#include "template/skeleton_priv.h"

#include "emit/emit.h"
#include "probe/attachable.h"

static bool check_file(const struct skeleton *sk, struct targetfile *tf)
{
	const char *unless;
	struct img *img = targetfile_open(sk->files, tf);
	const char *what = img ? attachable_danger(img, &unless) : NULL;
	if (!what || sk->diag->is_forced) // codeattach.c warns
		return true;
	diag_error(sk->diag, NULL, STR_FMT " has %s: a return probe can crash the program",
		   STR_ARG(tf->path), what);
	return diag_note(sk->diag, NULL, "use --force if %s", unless);
}

bool skeleton_has_kernel_types(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

bool skeleton_calls_are_safe(const struct skeleton *sk)
{
	struct map seen = {0};
	bool good = true;
	for (size_t i = 0; i < sk->probes.n; i++)
		if (map_add_ptr(sk->arena, &seen, sk->probes.v[i].file))
			good &= check_file(sk, sk->probes.v[i].file);
	return good;
}

/**
 * The stack pointer that longjmp() of glibc is to set, out of its buffer, which is rotated by 17 bits and
 * mixed with a secret of the thread, at 0x30 in its control block.
 */
#define TARGET                                                                                     \
	", (*(uint64 *)(arg0 + 48) >> 17 | *(uint64 *)(arg0 + 48) << 47) ^ "                       \
	"*(uint64 *)uptr(curtask->thread.fsbase + 0x30)"

/** Can that be read? Another libc has another buffer. */
static bool may_trace_jumps(struct skeleton *sk)
{
#ifdef __x86_64__
	return skeleton_has_kernel_types() &&
	       targetfile_with(sk->files, STR("gnu_get_libc_version"), NULL, &(uint64_t){0});
#else
	return false;
#endif
}

/** Where longjmp() leads to: all that is below that has been left. Old glibcs have another one in libpthread. */
static void write_jumps(struct skeleton *sk, struct shapes *ret, struct code *out)
{
	static const char *const names[] = {"longjmp", "__longjmp_chk"};
	bool has = may_trace_jumps(sk);
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]) && has; k++) {
		bool is_first = true;
		struct skeleton_probe p = {.kind = sk->probes.v[0].kind};
		while ((p.file = targetfile_with(sk->files, str_from(names[k]), p.file,
						 &(uint64_t){0}))) {
			p.what = word_ident(sk->arena, str_from(names[k]), "", 0);
			p.label = str_printf(sk->arena, "%s:%s", p.kind, names[k]);
			p.needs_path = !is_first;
			is_first = false;
			skeleton_write_head(&p, NULL, out);
			skeleton_write_record(sk, &p, SHAPE_JUMP, 1, TARGET, ret, out);
		}
	}
	if (!has)
		diag_note(sk->diag, NULL,
			  "longjmp() is not traced: calls that it leaves stay open until their "
			  "place on the stack is used again");
}

// A filter is about entries; where the tree is made, the returns of others are dropped.
/** One clause for all entries and one for all returns, whose records have func. */
static void write_merged(struct skeleton *sk, const struct skeleton_points *points,
			 struct shapes *ret, struct code *out)
{
	struct skeleton_probe entry = {.kind = points->v[0].kind};
	struct skeleton_probe back = {.kind = skeleton_return_of(sk, &points->v[0]).kind};
	skeleton_write_points(points, entry.kind, out);
	skeleton_write_record(sk, &entry, SHAPE_ENTRY, 2, ", reg(\"sp\"), " EMIT_CALLER, ret, out);
	skeleton_write_points(points, back.kind, out);
	skeleton_write_record(sk, &back, SHAPE_RETURN, 1, ", reg(\"sp\")", ret, out);
}

bool skeleton_write_calls(struct skeleton *sk, struct shapes *ret, struct code *out)
{
	struct skeleton_points points;
	code_z(out, "#pragma gate\n");
	bool is_merged = skeleton_merge(sk, ret, &points);
	if (!is_merged)
		points = (struct skeleton_points){.n_rest = sk->probes.n};
	else
		write_merged(sk, &points, ret, out);
	if (!sk->calls->max_functions &&
	    !skeleton_check_clauses(sk, points.n + points.n_rest, SKELETON_MAX_CALLS))
		return diag_note(sk->diag, NULL, "--max-functions %zu traces them all",
				 sk->probes.n);
	for (size_t i = 0; i < points.n_rest; i++) {
		struct skeleton_probe entry = is_merged ? *points.rest[i].p : sk->probes.v[i];
		struct skeleton_probe back = skeleton_return_of(sk, &entry);
		skeleton_write_head(&entry, sk->filter, out);
		if (!sk->calls->has_args)
			entry.n_fields = back.n_fields = 0;
		skeleton_write_record(sk, &entry, SHAPE_ENTRY, 2, ", reg(\"sp\"), " EMIT_CALLER,
				      ret, out);
		skeleton_write_head(&back, NULL, out);
		skeleton_write_record(sk, &back, SHAPE_RETURN, 1, ", reg(\"sp\")", ret, out);
	}
	write_jumps(sk, ret, out);
	return true;
}

void skeleton_write_calls_template(struct skeleton *sk, struct code *out)
{
	code_z(out, "// Entries and returns of functions: time, thread, stack pointer. Written by "
		    "btgen as a starting point.\n#pragma gate\n");
	for (size_t i = 0; i < sk->probes.n; i++) {
		struct skeleton_probe both[] = {sk->probes.v[i],
						skeleton_return_of(sk, &sk->probes.v[i])};
		for (size_t k = 0; k < 2; k++) {
			skeleton_write_head(&both[k], k ? NULL : sk->filter, out);
			code_z(out, "{ printf(\"%lu %d %lx %s\\n\", nsecs, tid, reg(\"sp\"), ");
			code_word(out, word_quote(sk->arena, both[k].label));
			code_z(out, "); }\n");
		}
	}
}
