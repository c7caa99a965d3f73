// dwfind against a walk of everything with libdw: the same DIEs, scopes and order for every name.
//
//	dwfind.t [FILE...]	all names of these; default: some of this program, libc and python3.11
#include <dwarf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#include "dwarf/dwfind.h"
#include "dwarf/dwfilter.h"
#include "dwarf/dwsite.h"

struct hit {
	uint64_t off, owner;
	unsigned kind;
	bool is_decl;
	struct str name; // with scopes
	struct hit *next;
};

struct name {
	struct hit *first, **tail;
	unsigned kinds;
};

struct answers {
	struct arena *arena;
	struct map names; // last part -> struct name
	struct map inner; // names that are defined in functions
	struct hit *got;  // the next expected hit of the name that is asked for
	struct name *asked;
	bool good;
};

static uint64_t place(const Dwarf_Die *die)
{
	Dwarf_Die copy = *die;
	return copy.addr ? dwarf_dieoffset(&copy) : 0;
}

static bool record(void *ctx, const struct dwhit *h)
{
	struct answers *a = ctx;
	struct hit *hit = arena_new(a->arena, struct hit);
	uint64_t owner = h->kind == NAME_ENUMERATOR ? place(&h->owner) : 0;
	*hit =
	    (struct hit){place(&h->die), owner, h->kind, h->is_decl, dwhit_name(a->arena, h), NULL};
	struct name *n = map_get(&a->names, h->name);
	if (!n) {
		n = arena_new(a->arena, struct name);
		n->tail = &n->first;
		map_put(a->arena, &a->names, h->name, n);
	}
	*n->tail = hit;
	n->tail = &hit->next;
	return true;
}

static bool compare(void *ctx, const struct dwhit *h)
{
	struct answers *a = ctx;
	struct hit *want = a->got;
	uint64_t owner = h->kind == NAME_ENUMERATOR ? place(&h->owner) : 0;
	struct str name = dwhit_name(a->arena, h);
	// Scopes must be asked for: of a name without any, only those hits are expected that have none.
	while (want && str_find(want->name, ':') != want->name.n && !str_eq(want->name, name))
		want = want->next;
	if (!want || want->off != place(&h->die) || want->owner != owner || want->kind != h->kind ||
	    want->is_decl != h->is_decl || !str_eq(want->name, name)) {
		printf("#   got %s at 0x%llx\n", str_dup(a->arena, name),
		       (unsigned long long)place(&h->die));
		if (want)
			printf("#   want %s at 0x%llx\n", str_dup(a->arena, want->name),
			       (unsigned long long)want->off);
		return a->good = false;
	}
	a->got = want->next;
	return true;
}

/** Every hit of the name with these very scopes must come, in order; or every definition. */
static bool ask(struct dwsrc *src, struct answers *a, struct name *n, struct str full,
		bool no_decls)
{
	struct dwquery q;
	if (!dwquery_parse(full, NAME_TYPES | NAME_ENUMERATOR, &q))
		return true; // names that cannot be asked for, such as operators
	bool in_body = false;
	q.no_decls = no_decls;
	q.in_body = &in_body;
	struct name same = {.tail = &same.first};
	for (struct hit *h = n->first; h; h = h->next) {
		if (!str_eq(h->name, full) || (no_decls && h->is_decl))
			continue;
		struct hit *copy = arena_new(a->arena, struct hit);
		*copy = *h;
		copy->next = NULL;
		*same.tail = copy;
		same.tail = &copy->next;
	}
	a->got = same.first;
	a->good = true;
	// A name of a template that is nowhere defined takes a walk.
	if (!dwfilter_find(src, &q, UINT64_MAX, compare, a))
		return no_decls && !same.first;
	if (a->good && a->got)
		printf("#   missed %s at 0x%llx\n", str_dup(a->arena, a->got->name),
		       (unsigned long long)a->got->off);
	if (!in_body && map_get(&a->inner, q.name.parts[q.name.n_parts - 1])) {
		printf("#   missed that a function has a %s\n", str_dup(a->arena, full));
		return false;
	}
	return a->good && !a->got;
}

/** Takes down the names of types that functions have to themselves. */
static void find_inner(struct answers *a, Dwarf_Die *parent, bool in_body, unsigned depth)
{
	Dwarf_Die die;
	for (int rc = dwarf_child(parent, &die); rc == 0; rc = dwarf_siblingof(&die, &die)) {
		const char *name = dwarf_diename(&die);
		if (in_body && name && dwname_kind_of_tag(dwarf_tag(&die)) &&
		    !dwarf_hasattr(&die, DW_AT_declaration))
			map_put(a->arena, &a->inner, str_from(name), a);
		if (depth < 64)
			find_inner(a, &die, in_body || dwarf_tag(&die) == DW_TAG_subprogram,
				   depth + 1);
	}
}

static void test_file(const char *path, size_t most)
{
	struct arena arena = {0};
	struct diag diag;
	diag_init(&diag, stdout);
	struct img *img;
	if (access(path, R_OK) != 0 || !img_open(&arena, &diag, path, str_from(path), &img)) {
		ok(true, "%s # SKIP not there", path);
		arena_fini(&arena);
		return;
	}
	struct dwsrc *src = dwsrc_new(img);
	bool is_open = dwsrc_open(src);
	struct dwquery q;
	src->acts_large = true; // read in pieces, and the nearest name found among strings
	struct answers none = {.good = true};
	dwquery_parse(STR("no_such_name_anywhere"), NAME_TYPES, &q);
	if (!is_open || !dwfilter_find(src, &q, UINT64_MAX, compare, &none)) {
		ok(true, "%s # SKIP %s", path,
		   is_open ? "for libdw alone" : "no debug information");
		goto out;
	}
	ok(none.good, "%s: a name that is not there is not found", path);

	struct answers a = {.arena = &arena};
	dwname_walk(src, NAME_TYPES | NAME_ENUMERATOR, record, &a);
	struct dwunit u = {0};
	while (dwsrc_next_unit(src, &u))
		find_inner(&a, &u.die, false, 0);
	size_t step = a.names.n / most + 1, n = 0, bad = 0, i = 0;
	for (struct map_entry *e = NULL; (e = map_next(&a.names, e)); i++) {
		struct name *name = e->value;
		if (i % step)
			continue;
		n++;
		if ((!ask(src, &a, name, name->first->name, false) ||
		     !ask(src, &a, name, name->first->name, true)) &&
		    bad++ < 5)
			printf("#   wrong: %s\n", str_dup(&arena, name->first->name));
	}
	ok(n > 0 && bad == 0, "%s: %zu names are where libdw finds them", path, n);
	// With one letter changed, a name is found again among the strings.
	struct str near = {0};
	for (struct map_entry *e = NULL; !near.n && (e = map_next(&a.names, e));) {
		const struct hit *h = ((struct name *)e->value)->first;
		char *typo = str_dup(&arena, h->name);
		if (h->is_decl || h->kind != NAME_STRUCT || h->name.n < 8 || !str_is_ident(h->name))
			continue;
		typo[4] = typo[4] == 'q' ? 'j' : 'q';
		dwquery_parse(str_from(typo), NAME_TYPES, &q);
		near = dwfind_nearest(src, &q);
		ok(near.n > 0, "%s: \"%s\" is near to \"%s\"", path, typo, str_dup(&arena, near));
		break;
	}
out:
	img_close(img);
	arena_fini(&arena);
}

static bool is_same_name(void *ctx, struct dwsrc *src, Dwarf_Die *function)
{
	(void)src;
	return str_eqz(*(struct str *)ctx, dwsrc_name(function));
}

/** As many copies of @d when it alone is asked for, in units that may have it. */
static bool ask_copies(struct img *img, const struct dwinlined *d)
{
	struct dwsrc *src = dwsrc_new(img);
	const struct dwinlined *got;
	struct str name = d->name;
	for (size_t i = 0;
	     (got = dwsite_inlined_next(src, dwsrc_word(name), is_same_name, &name, &i));)
		if (str_eq(got->symbol, d->symbol) && got->n == d->n &&
		    got->entries.n == d->entries.n && got->entries.n &&
		    got->entries.v[0] == d->entries.v[0])
			return true;
	return false;
}

/** Inlined functions, against all of those that a walk over all units has found. */
static void test_copies(const char *path, size_t most)
{
	struct arena arena = {0};
	struct diag diag;
	struct img *img;
	size_t n_all = 0, n = 0, bad = 0, at = 0;
	const struct dwinlined *d;
	diag_init(&diag, stdout);
	if (!img_open(&arena, &diag, path, str_from(path), &img))
		goto out;
	struct dwsrc *src = dwsrc_new(img);
	for (size_t i = 0; dwsite_inlined_named(src, STR("*"), NULL, &i);)
		;
	for (size_t i = 0; dwsite_inlined_known(src, &i);)
		n_all++;
	for (size_t i = 0; (d = dwsite_inlined_known(src, &i));)
		if (d->entries.n && at++ % (n_all / most + 1) == 0) {
			n++;
			if (!ask_copies(img, d) && bad++ < 5)
				printf("#   wrong: %s\n", str_dup(&arena, d->name));
		}
	ok(bad == 0, "%s: copies of %zu inlined functions are found by name", path, n);
	img_close(img);
out:
	arena_fini(&arena);
}

/** A copy of this program, cut short between two looks at it: a message and an end. */
static void test_shrinking(void)
{
	struct arena arena = {0};
	struct diag diag;
	diag_init(&diag, stdout);
	struct img *img = NULL;
	struct dwsrc *src = NULL;
	char path[] = "/tmp/btgen-dwfind.XXXXXX", block[1 << 16];
	FILE *from = fopen("/proc/self/exe", "rb");
	int fd = mkstemp(path), status = 0;
	for (size_t n; from && (n = fread(block, 1, sizeof(block), from)) > 0;)
		if (write(fd, block, n) != (ssize_t)n)
			break;
	if (from)
		fclose(from);
	if (img_open(&arena, &diag, path, STR("a copy"), &img))
		src = dwsrc_new(img);
	bool is_open = src && dwsrc_open(src);
	if (is_open)
		src->acts_large = true;
	if (!is_open || ftruncate(fd, 4096) != 0) {
		ok(true, "a file that shrinks # SKIP no debug information");
	} else {
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			struct answers a = {.good = true};
			struct dwquery q;
			dup2(open("/dev/null", O_WRONLY), 2);
			dwquery_parse(STR("no_such_name_anywhere"), NAME_TYPES, &q);
			dwfilter_find(src, &q, UINT64_MAX, compare, &a);
			_exit(0);
		}
		waitpid(child, &status, 0);
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 1,
		   "a file that shrinks while it is read ends the program with status 1");
	}
	img_close(img);
	close(fd);
	unlink(path);
	arena_fini(&arena);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"/proc/self/exe",
#ifdef __aarch64__
					    "/lib/aarch64-linux-gnu/libc.so.6",
#else
					    "/lib/x86_64-linux-gnu/libc.so.6",
#endif
					    "/usr/bin/python3.11"};
	for (int i = 1; i < argc; i++)
		test_file(argv[i], SIZE_MAX);
	for (int i = 1; i < argc; i++)
		test_copies(argv[i], 100);
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
		test_file(usual[i], 400);
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
		test_copies(usual[i], 40);
	if (argc == 1)
		test_shrinking();
	return done();
}
