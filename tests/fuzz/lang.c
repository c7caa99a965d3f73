// libFuzzer entry: any text as a template, through the parser. The tree must be sound: a node's children lie within it, in
// order and apart, and it prints what the preprocessor left, byte for byte. Then it is bound, its types are found, it is
// checked, what it relies on is listed and the rules are applied: nothing may crash, and what comes of it is written out.
// With a program's path in $FUZZ_TARGET that is what names are looked up in, else there is no target.
#include "fuzz.h"
#include "lock/lock.h"
#include "template/template.h"
#include "text/program.h"
#include "lang/parse.h"
#include "lang/print.h"

static void must_be_sound(const struct node *n)
{
	const struct node *child = n->child;
	for (const struct token *t = n->first; child; t = t->next) {
		if (child->first == t) {
			if (child->height >= n->height || child->parent != n)
				abort();
			t = child->last;
			child = child->next;
		}
		if (child && t == n->last)
			abort();
	}
}

static void must_print_itself(struct arena *a, const struct node *program, const struct token *out)
{
	struct strbuf want = {0};
	struct str got = {0};
	for (const struct token *t = out; t->kind != TOK_EOF; t = t->next) {
		if (t != out)
			strbuf_adds(&want, t->before);
		strbuf_adds(&want, t->text);
	}
	if (out->kind != TOK_EOF)
		got = print_text(a, program);
	if (!str_eq(strbuf_str(&want), got)) {
		fprintf(stderr, "read:    %s\nprinted: " STR_FMT "\n", want.p ? want.p : "",
			STR_ARG(got));
		abort();
	}
	strbuf_fini(&want);
}

static void parse_and_bind(struct arena *a, struct diag *d, struct pp *pp, unsigned version)
{
	struct node *program = parse_program(a, d, pp->out);
	if (!program)
		return;
	for (const struct node *n = program; n; n = node_next(program, n))
		must_be_sound(n);
	must_print_itself(a, program, pp->out);
	struct lock lock = {.arena = a};
	struct bind_given given = {.version = version, .files = fuzz_target(), .lock = &lock};
	struct bind_made made = {0};
	struct bind_cache cache = {0};
	struct bind b = {a, d, &given, .made = &made, .cache = &cache};
	struct program text = {0};
	made.program = &text;
	template_bind(&b, pp);
	lock_add_names(&b);
	program_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned versions[] = {17, 23, 27};
	static FILE *null;
	if (!null)
		null = fopen("/dev/null", "w");
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct arena a = {0};
		struct diag d;
		struct pp pp;
		diag_init(&d, null);
		pp_init(&pp, &a, &d);
		pp_predefine(&pp, "__BPFTRACE__", i == 0 ? "17" : i == 1 ? "23" : "27");
		struct str text = {(const char *)data, size};
		if (pp_file(&pp, src_from_text(&a, STR("fuzz.bt"), text)))
			parse_and_bind(&a, &d, &pp, versions[i]);
		arena_fini(&a);
	}
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
