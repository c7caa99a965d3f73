// Feeds one file to everything that reads types and probes: the ELF reader, libdw, the filter, the model, the printer,
// the notes and what is around their sites, kernel BTF.
//
// Built with clang -fsanitize=fuzzer it is a libFuzzer target; with -DFUZZ_MUTATE it is a program that makes its own damage:
//
//	types FILE ROUNDS SEED	changes bytes in FILE's .debug_*, .note.* and .BTF sections ROUNDS times and reads each result
//
// Nothing is expected but that it comes back, soon, with an error or without.
#include <elf.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bind/argread.h"
#include "probe/argsrc.h"
#include "probe/codeplace.h"
#include "ctype/closure.h"
#include "ctype/cprint.h"
#include "ctype/enumtab.h"
#include "ctype/lookup.h"
#include "dwarf/context.h"
#include "dwarf/dwfind.h"
#include "dwarf/dwtypes.h"
#include "btf/kbtf.h"
#include "probe/probeargs.h"
#include "value/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_NAMES = 24 };

struct names {
	struct arena *arena;
	struct str v[MAX_NAMES];
	size_t n, seen;
};

/** The first names, and then some of the others. */
static bool add_name(void *ctx, const struct dwhit *hit)
{
	struct names *names = ctx;
	size_t i = names->n < MAX_NAMES ? names->n++ : names->seen % 61 % MAX_NAMES;
	if (names->seen++ % 3 == 0 || i + 1 == names->n)
		names->v[i] = dwhit_name(names->arena, hit);
	return names->seen < 2000;
}

/** What is around some code, and could have been a probe's argument there. */
static void use_site(struct arena *a, struct dwsrc *src, uint64_t pc)
{
	struct dwsite site;
	struct argloc at;
	struct argloc_candidates found = {0};
	struct sdtarg *args;
	size_t n;
	if (!dwsite_at(src, pc, NULL, &site))
		return;
	argloc_init(&at, src, &site, true);
	sdtarg_parse(a, EM_X86_64,
		     STR("8@%rdi -4@%eax -4@8(%rsp) 8@(%rbx) 4@total.1(%rip) 8@$name"), &args, &n);
	for (size_t i = 0; i < n; i++)
		argloc_find(&at, &args[i], &found);
	// And where its variables are, there and at the lines of the function.
	struct dwrows rows;
	struct dwsite moved;
	struct argloc there;
	struct argloc_var v;
	dwsite_rows(src, &site, &rows);
	for (size_t i = 0; i < at.vars.n && i < 8; i++) {
		argloc_move(&at, rows.list.n ? rows.list.v[i % rows.list.n].pc : pc + i, &moved,
			    &there);
		v = at.vars.v[i];
		for (v.part_size = 0; v.part_size <= 8;
		     v.part_size += v.part_size ? v.part_size : 1) {
			v.part_off = pc % 16;
			argloc_locate(&there, &v);
			if (v.at.steps.n)
				argread_location(a, src->img, pc, &v.at, (unsigned)v.part_size);
		}
		dwsite_decl_file(src, &v.die);
		argloc_find_global(&at, v.name, &v);
	}
	for (size_t i = 0; i < at.vars.n && i < 8; i++)
		argsrc_string_max(&at, str_from(arena_printf(a, STR_FMT "->name[1]",
							     STR_ARG(at.vars.v[i].name))));
}

/** As records have it: all of it or less, whatever the type says. */
static void show_type(struct ctype *t)
{
	enum { N = 64 };
	static const uint64_t words[4] = {0, 0x4141000a22ff5c27, 0x80, ~UINT64_C(0)};
	int64_t numbers[1 + N];
	struct render how = {0};
	struct strbuf b = {0};
	for (size_t i = 0; i <= N; i++)
		numbers[i] = (int64_t)(i ? words[i / 2 % 4] : 8192);
	for (size_t n = 0; n <= N * 8; n = n * 3 + 1) {
		struct value v = {.type = t, .n_bytes = n};
		struct value_data d = {.numbers = numbers};
		struct json j = {.out = &b};
		if (!value_has_parts(&v))
			break;
		strbuf_clear(&b);
		value_text(&how, &v, d, VALUE_RAW, &b);
		strbuf_clear(&b);
		value_json(&how, &v, d, VALUE_RAW, &j);
		if (!str_is_utf8(strbuf_str(&b)))
			abort();
	}
	strbuf_fini(&b);
}

static void use_type(struct lookup *lk, struct closure *c, struct str name)
{
	struct ctype *t, *in;
	struct str tag, bad;
	struct ctype_place place;
	int64_t v;
	if (lookup_type(lk, name, NAME_TYPES, &t)) {
		closure_add(c, t, name, &tag);
		ctype_resolve(t, STR("a.b[2].c"), &place, &bad, &in);
		ctype_spell(lk->arena, t);
		show_type(t);
	} else {
		lookup_report_unknown(lk, NULL, "type", name, NAME_TYPES);
	}
	struct enumtab tab;
	if (enumtab_lookup(lk, name, &tab))
		enumtab_strip(&tab, STR("A"));
	lookup_enumerator(lk, name, &v, &t);
}

static bool follow_all(void *ctx, struct ctype *owner, const struct ctype_member *m)
{
	(void)ctx, (void)owner, (void)m;
	return true;
}

static void use_probes(struct arena *a, struct binary *b)
{
	struct sdt_list list;
	struct probeargs pa;
	if (!sdt_read(b->img, &list))
		return;
	for (size_t i = 0; i < list.n_probes && i < 8; i++) {
		if (list.probes[i].n_sites > 64)
			continue; // tests/obj/many.t is about those
		probeargs_read(b, NULL, &list.probes[i], &pa);
		for (size_t k = 0; k < pa.n_args; k++)
			probearg_declaration(a, &pa.args[k]);
		sdt_find_named(&list, list.probes[i].provider, list.probes[i].name);
	}
}

/** What names of functions and source lines mean. */
static void use_places(struct arena *a, struct binary *b)
{
	struct dwunit u = {0};
	struct codeplaces places;
	struct codeplace_lines statements;
	const struct dwinlined *d;
	struct dwsrc *all = dwsrc_new(b->img); // b->src looks for each by name
	size_t n = 0;
	for (size_t i = 0; dwsite_inlined_named(all, STR("*"), NULL, &i);)
		;
	for (size_t i = 0; n < 4 && (d = dwsite_inlined_known(all, &i)); n++) {
		codeplace_function(a, b, d->name, &places);
		codeplace_inlined(a, b, d->symbol, &places);
		for (size_t k = 0; k < places.list.n && k < 4; k++)
			codeplace_where(a, b, places.list.v[k].addr, true);
	}
	for (n = 0; n < 4 && b->src->dbg && dwsrc_next_unit(b->src, &u); n++)
		codeplace_find_lines(b->src, str_from(dwarf_diename(&u.die)), 1,
				     n % 2 ? 9 : UINT_MAX, &statements);
}

static void find_btf(void *ctx, unsigned kind, struct str name)
{
	struct type_source *btf = ctx;
	struct namequery q;
	struct ctype *t;
	(void)kind;
	if (namequery_parse(name, NAME_TYPES, &q) && (t = btf->ops->find(btf, &q)))
		ctype_complete(t);
}

static void use_btf(struct arena *a, struct diag *d, const char *path)
{
	struct kbtf *k;
	struct lookup lk;
	int64_t value;
	struct ctype *of;
	if (!kbtf_open(a, d, path, &k))
		return;
	lookup_init(&lk, a, d);
	lookup_add(&lk, kbtf_source(k));
	lookup_walk(&lk, NAME_TYPES, find_btf, kbtf_source(k));
	lookup_enumerator(&lk, STR("A"), &value, &of);
	kbtf_close(k);
}

static void read_all(const char *path, uint64_t entry, FILE *out)
{
	struct arena arena = {0};
	struct diag diag;
	struct lookup lk;
	struct dwtypes images;
	struct img *img;
	diag_init(&diag, out);
	lookup_init(&lk, &arena, &diag);
	dwtypes_init(&images, &arena, &diag);
	lookup_add(&lk, &images.source);
	if (img_open(&arena, &diag, path, STR("input"), &img)) {
		struct binary bin;
		binary_init(&bin, img);
		struct dwsrc *src = bin.src;
		dwtypes_add(&images, src);
		struct names names = {.arena = &arena};
		if (dwsrc_open(src)) {
			dwname_walk(src, NAME_TYPES | NAME_ENUMERATOR, add_name, &names);
			// Half of them as a large file.
			src->acts_large = names.n / 2 % 2;
		}
		struct closure_options opt = {.follow = follow_all, .for_bpftrace = names.n % 2};
		struct closure c;
		closure_init(&c, &arena, &diag, &opt);
		// Asked from nowhere, from the code, and from code that was named.
		struct context near = {.is_asked = names.n / 4 % 2};
		for (uint64_t pc = 0; pc < 64; pc += 16)
			context_add(&arena, &near, &(struct context_place){.src = src, .addr = entry + pc});
		for (size_t i = 0; i < names.n; i++) {
			images.context = i % 3 ? &near : NULL;
			use_type(&lk, &c, names.v[i]);
		}
		use_type(&lk, &c, STR("no_such_name"));
		for (uint64_t pc = 0; pc < 4 && src->dbg; pc++)
			use_site(&arena, src, entry + pc);
		use_probes(&arena, &bin);
		use_places(&arena, &bin);
		struct code b = {0};
		cprint_definitions(&b, &c, true);
		code_fini(&b);
		binary_close(&bin);
	}
	use_btf(&arena, &diag, path);
	arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		null = fopen("/dev/null", "w");
	}
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	// Where the program's code is, by its header; in other files any place is as good.
	uint64_t entry = 0;
	if (size >= sizeof(Elf64_Ehdr))
		memcpy(&entry, data + offsetof(Elf64_Ehdr, e_entry), sizeof(entry));
	read_all(path, entry, null);
	return 0;
}

#ifdef FUZZ_MUTATE
static uint64_t state;

/** xorshift64* (Vigna 2016): the same damage for the same seed, everywhere. */
static uint64_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1du;
}

struct span {
	size_t off, n;
};

static size_t find_spans(const uint8_t *p, size_t n, struct span *ret, size_t max)
{
	const Elf64_Ehdr *eh = (const void *)p;
	const Elf64_Shdr *sh = (const void *)(p + eh->e_shoff);
	const char *names = (const char *)p + sh[eh->e_shstrndx].sh_offset;
	size_t count = 0;
	for (unsigned i = 1; i < eh->e_shnum && count < max; i++)
		if ((strncmp(names + sh[i].sh_name, ".debug_", 7) == 0 ||
		     strncmp(names + sh[i].sh_name, ".note.", 6) == 0 ||
		     strcmp(names + sh[i].sh_name, ".BTF") == 0) &&
		    sh[i].sh_size && sh[i].sh_offset + sh[i].sh_size <= n &&
		    strcmp(names + sh[i].sh_name, ".debug_line") != 0)
			ret[count++] = (struct span){sh[i].sh_offset, sh[i].sh_size};
	return count;
}

int main(int argc, char **argv)
{
	FILE *f = argc == 4 ? fopen(argv[1], "rb") : NULL;
	if (!f)
		return 2;
	static uint8_t original[1 << 22], copy[1 << 22];
	size_t n = fread(original, 1, sizeof(original), f);
	fclose(f);
	struct span spans[16];
	size_t n_spans = find_spans(original, n, spans, 16);
	long rounds = atol(argv[2]);
	uint64_t seed = strtoull(argv[3], NULL, 0);
	for (long i = 0; i < rounds && n_spans; i++) {
		state = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15u + 1;
		memcpy(copy, original, n);
		unsigned changes = 1 + (unsigned)(next_random() % 12);
		for (unsigned k = 0; k < changes; k++) {
			// Half of the changes go to the first span, .debug_info or what the linker put first.
			struct span s = spans[next_random() % n_spans];
			uint8_t *at = copy + s.off + next_random() % s.n;
			static const uint8_t nasty[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x10, 0x16};
			*at = next_random() % 2 ? nasty[next_random() % sizeof(nasty)]
						: (uint8_t)next_random();
		}
		if (getenv("FUZZ_SHOW"))
			fprintf(stderr, "round %ld\n", i);
		if (getenv("FUZZ_SAVE")) {
			FILE *out = fopen(getenv("FUZZ_SAVE"), "wb");
			if (!out || fwrite(copy, 1, n, out) != n || fclose(out) != 0)
				return 2;
		}
		alarm(600); // a hang ends it
		LLVMFuzzerTestOneInput(copy, n);
	}
	printf("%ld inputs read\n", rounds);
	return 0;
}
#endif
