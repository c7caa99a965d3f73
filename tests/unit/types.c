// The type model, tried on this program's own debug information: the compiler's offsetof is the oracle.
#include <stddef.h>

#include "tap.h"
#include "ctype/closure.h"
#include "ctype/cname.h"
#include "ctype/cprint.h"
#include "conf/enumconf.h"
#include "ctype/enumtab.h"
#include "ctype/lookup.h"
#include "dwarf/dwtypes.h"

enum fruit { FRUIT_NONE = -1, FRUIT_APPLE, FRUIT_PEAR = 40, FRUIT_LAST = 0x7fffffff };
enum wide_fruit { WIDE_A = 1, WIDE_B = 0xffffffffffffffffull };
struct point {
	int x, y;
};
typedef struct {
	struct point lo, hi;
} box_t;
struct shape {
	char tag;
	union {
		long id;
		struct {
			short a;
			short b;
		};
	};
	box_t boxes[3][4];
	struct shape *next;
	const struct point *where;
	unsigned bits : 5, more : 9;
	enum fruit fruit;
	char tail[];
};
struct request {
	int linux_;
	struct shape *s;
};
// What is used only here must be in the debug information all the same.
struct shape the_shape;
struct request the_request;
enum fruit the_fruit;
enum wide_fruit the_wide_fruit;

static struct arena arena;
static struct diag diag;
static struct lookup lk;
static char said[4096];

static struct ctype *find(const char *name)
{
	struct ctype *t = NULL;
	lookup_type(&lk, str_from(name), NAME_TYPES, &t);
	return t;
}

static void test_paths(void)
{
	static const struct {
		const char *path;
		size_t off;
	} cases[] = {
	    {"tag", offsetof(struct shape, tag)},
	    {"id", offsetof(struct shape, id)},
	    {"b", offsetof(struct shape, b)},
	    {"boxes", offsetof(struct shape, boxes)},
	    {"boxes[2][3].hi.y", offsetof(struct shape, boxes[2][3].hi.y)},
	    {"boxes[1].", SIZE_MAX},
	    {"boxes[3]", SIZE_MAX},
	    {"boxes[2][4]", SIZE_MAX},
	    {"boxes[0x1][ 1 ].lo", offsetof(struct shape, boxes[1][1].lo)},
	    {"where", offsetof(struct shape, where)},
	    {"where.x", SIZE_MAX},
	    {"tail[7]", offsetof(struct shape, tail) + 7},
	    {"tag.x", SIZE_MAX},
	    {".tag", SIZE_MAX},
	    {"tag.", SIZE_MAX},
	    {"boxes[", SIZE_MAX},
	    {"boxes[x]", SIZE_MAX},
	    {"boxes[-1]", SIZE_MAX},
	    {"boxes[18446744073709551615]", SIZE_MAX},
	    {"nothing", SIZE_MAX},
	};
	struct ctype *shape = find("struct shape");
	if (!ok(shape != NULL, "a struct is found by its tag"))
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ctype_place at;
		struct str bad;
		struct ctype *in;
		bool good = ctype_resolve(shape, str_from(cases[i].path), &at, &bad, &in);
		if (cases[i].off == SIZE_MAX)
			ok(!good, "there is no shape.%s", cases[i].path);
		else
			ok(good && at.off == cases[i].off, "offset of shape.%s", cases[i].path);
	}
	struct ctype_place at;
	struct str bad;
	struct ctype *in;
	ok(ctype_resolve(shape, STR("more"), &at, &bad, &in) && at.bit_size == 9 &&
	       at.bit_off == offsetof(struct shape, where) * 8 + 64 + 5,
	   "a bitfield has its place in bits");
	ok(!ctype_resolve(shape, STR("boxes[1][2].hi.z"), &at, &bad, &in) && str_eqz(bad, "z") &&
	       str_eqz(in->name, "point"),
	   "what does not fit is told, and where");
	is_str(ctype_nearest_member(shape, STR("boxs")), STR("boxes"), "the nearest member");
	uint64_t size;
	ok(ctype_size(find("box_t"), &size) && size == sizeof(box_t), "size of a typedef");
	ok(find("shape") == shape && find("struct  shape") == shape, "the keyword is optional");
	ok(!find("union shape") && !find("enum shape"), "a wrong keyword finds nothing");
	ctype_resolve(shape, STR("where"), &at, &bad, &in);
	is_str(ctype_spell(&arena, at.type), STR("const struct point *"), "a pointer is spelled");
	ctype_resolve(shape, STR("boxes"), &at, &bad, &in);
	is_str(ctype_spell(&arena, at.type), STR("box_t[3][4]"), "an array is spelled");
}

static void test_enums(void)
{
	int64_t v;
	struct ctype *of;
	ok(lookup_enumerator(&lk, STR("FRUIT_PEAR"), &v, &of) && v == FRUIT_PEAR &&
	       str_eqz(of->name, "fruit"),
	   "an enumerator has its value and its enum");
	ok(lookup_enumerator(&lk, STR("FRUIT_NONE"), &v, &of) && v == -1, "a negative one");
	ok(lookup_enumerator(&lk, STR("WIDE_B"), &v, &of) && (uint64_t)v == UINT64_MAX &&
	       !of->is_signed,
	   "one of 64 bits");
	ok(!lookup_enumerator(&lk, STR("FRUIT_"), &v, &of), "part of a name is no name");
	is_str(lookup_nearest(&lk, STR("FRUIT_PAER"), NAME_ENUMERATOR), STR("FRUIT_PEAR"),
	       "the nearest enumerator");
	struct enumtab t;
	ok(enumtab_lookup(&lk, STR("fruit"), &t) && t.n_items == 4 && t.is_signed && t.size == 4,
	   "an enum becomes a table");
	enumtab_strip(&t, STR("FRUIT_"));
	is_str(enumtab_get(&t, FRUIT_APPLE)->text, STR("APPLE"), "the prefix is stripped");
	ok(!enumtab_get(&t, 41), "a value without a name has none");
	// Many questions switch to the index: the answers stay the same.
	for (int i = 0; i < 5; i++)
		ok(lookup_enumerator(&lk, STR("FRUIT_PEAR"), &v, &of) && v == 40 && !find("nosuch"),
		   "question %d has the same answer", i);
}

static bool follow_all(void *ctx, struct ctype *owner, const struct ctype_member *m)
{
	(void)ctx, (void)owner, (void)m;
	return true;
}

static bool is_kernels(void *ctx, struct str tag)
{
	(void)ctx;
	return str_eqz(tag, "request");
}

static void test_closure(void)
{
	struct closure c;
	struct closure_options opt = {
	    .follow = follow_all, .is_taken = is_kernels, .for_bpftrace = true};
	closure_init(&c, &arena, &diag, &opt);
	struct str tag;
	ok(closure_add(&c, find("request"), STR("request"), &tag), "a struct and its needs");
	is_str(tag, STR("user_request"), "a tag that the kernel has is renamed");
	struct str order[4] = {{0}};
	for (size_t i = 0; i < c.defs.n && i < 4; i++)
		order[i] = c.defs.v[i]->tag;
	is_num((long long)c.defs.n, 4, "request, shape, box_t and point are defined");
	is_str(order[0], STR("user_request"), "what is pointed to may come later");
	is_str(order[1], STR("point"), "what is embedded comes before");
	is_str(order[2], STR("box_t"), "... a struct that only a typedef names, too");
	is_str(order[3], STR("shape"), "... what embeds it");
	struct code b = {0};
	ok(cprint_definitions(&b, &c, false), "they can be printed");
	struct str text = code_str(&b);
	ok(str_contains(text,
			STR("\tint linux_;\n\tunsigned char _gap0[4];\n\tstruct shape *s;\n")),
	   "members, gaps and typed pointers");
	ok(str_contains(text, STR("struct box_t boxes[3][4];")), "arrays keep their dimensions");
	code_fini(&b);

	closure_init(&c, &arena, &diag, &(struct closure_options){.for_bpftrace = true});
	ok(closure_add(&c, find("shape"), STR("shape"), &tag) && c.defs.n == 3,
	   "nothing is followed unless asked");
	ok(!closure_add(&c, find("int"), STR("int"), &tag), "an int has no definition");
}

static void test_names(void)
{
	static const struct {
		const char *name, *c, *bpf;
	} cases[] = {
	    {"plain", "plain", "plain"},
	    {"int", "int_", "int_"},
	    {"unroll", "unroll", "unroll_"},
	    {"int32", "int32", "int32_"},
	    {"linux", "linux_", "linux_"},
	    {"a::b", "a__b", "a__b"},
	    {"v<int, 3>", "v_int_3_", "v_int_3_"},
	    {"_vptr.X", "_vptr_X", "_vptr_X"},
	    {"1st", "_1st", "_1st"},
	    {"_gap0", "_gap0_", "_gap0_"},
	    {"_gapx", "_gapx", "_gapx"},
	    {"", "", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_str(cname_ident(&arena, str_from(cases[i].name), false), str_from(cases[i].c),
		       "spelled for C");
		is_str(cname_ident(&arena, str_from(cases[i].name), true), str_from(cases[i].bpf),
		       "spelled for bpftrace");
	}
	struct ctype_member m[] = {
	    {.name = STR("a.b")}, {.name = STR("a_b")}, {.name = STR("a-b")}, {.name = STR("")}};
	struct ctype t = {.kind = CTYPE_STRUCT, .members = m, .n_members = 4};
	struct str *names = cname_members(&arena, &t, true);
	is_str(names[1], STR("a_b"), "a member that needs no respelling keeps its name");
	ok(str_eqz(names[0], "a_b_2") && str_eqz(names[2], "a_b_3") && !names[3].n,
	   "respelled ones differ from it and from each other");
}

static void test_queries(void)
{
	static const struct {
		const char *text;
		unsigned n;
		const char *last;
	} cases[] = {
	    {"a", 1, "a"},
	    {" struct a ", 1, "a"},
	    {"::a::b", 2, "b"},
	    {"std::vector<ns::x, a<b::c>>::iterator", 3, "iterator"},
	    {"ns::(anonymous namespace)::x", 3, "x"},
	    {"", 0, ""},
	    {"a::", 0, ""},
	    {"::", 0, ""},
	    {"a::::b", 0, ""},
	    {"struct ", 1, "struct"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct namequery q;
		bool good = namequery_parse(str_from(cases[i].text), NAME_TYPES, &q);
		ok(good == (cases[i].n > 0) &&
		       (!good || (q.n_parts == cases[i].n &&
				  str_eqz(q.parts[q.n_parts - 1], cases[i].last))),
		   "\"%s\" is cut into %u parts", cases[i].text, cases[i].n);
	}
	struct enumconf conf = {0};
	ok(enumconf_add_option(&arena, &diag, STR("ns::E:map:P_"), &conf) &&
	       enumconf_add_option(&arena, &diag, STR("std::a::b"), &conf) && conf.entries.n == 2,
	   "tables asked for by name");
	is_str(conf.entries.v[0].type, STR("ns::E"), ":: does not separate");
	is_str(conf.entries.v[0].map, STR("map"), "the map's name");
	is_str(conf.entries.v[0].prefix, STR("P_"), "the prefix");
	is_str(conf.entries.v[1].map, STR("std__a__b"), "a map's name is made from the type's");
}

int main(void)
{
	FILE *out = fmemopen(said, sizeof(said), "w");
	diag_init(&diag, out);
	lookup_init(&lk, &arena, &diag);
	struct img *img;
	if (!img_open(&arena, &diag, "/proc/self/exe", STR("self"), &img))
		return 1;
	struct dwtypes images;
	dwtypes_init(&images, &arena, &diag);
	struct dwsrc *src = dwsrc_new(img);
	dwtypes_add(&images, src);
	lookup_add(&lk, &images.source);
	if (!dwsrc_open(src)) {
		printf("1..0 # SKIP built without -g\n");
		return 0;
	}
	test_queries();
	test_names();
	test_paths();
	test_enums();
	test_closure();
	img_close(img);
	fclose(out);
	arena_fini(&arena);
	return done();
}
