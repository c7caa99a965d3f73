// libFuzzer entry: any text through the preprocessor, the script parser and the printer. Nothing may crash, and
// what was printed must be cut into the same tokens again: nothing runs together, nothing is lost.
#include <stdlib.h>
#include <string.h>

#include "text/pp.h"
#include "lang/script.h"

#include "../unit/lexfile.h"
#include "../unit/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A slash in an attach point is cut by itself, elsewhere it may be part of an operator: compare the bytes. */
static void add_bytes(struct strbuf *b, const struct token *list)
{
	for (const struct token *t = list; t->kind != TOK_EOF; t = t->next)
		strbuf_adds(b, t->text);
}

static void must_read_again(struct arena *a, const struct token *out, const struct src_file *main)
{
	struct diag d;
	struct program p = {0};
	struct strbuf before = {0}, after = {0};
	struct token *again;
	diag_init(&d, fopen("/dev/null", "w"));
	for (const struct token *t = out; t->kind != TOK_EOF; t = t->next)
		if (t->kind == TOK_DIRECTIVE || t->kind == TOK_OTHER ||
		    (t->attach && t->from_macro))
			goto out; // cut otherwise on purpose, an error for bpftrace, only known by its macro
	emit_tokens(out, main, &p);
	lex_file(a, &d, src_from_text(a, STR("again"), strbuf_str(&p.text)), &again);
	add_bytes(&before, out);
	add_bytes(&after, again);
	if (!str_eq(strbuf_str(&before), strbuf_str(&after))) {
		fprintf(stderr, "printed:\n%s\nbefore: %s\nafter:  %s\n", p.text.p ? p.text.p : "",
			before.p ? before.p : "", after.p ? after.p : "");
		abort();
	}
out:
	program_fini(&p);
	strbuf_fini(&before);
	strbuf_fini(&after);
	fclose(d.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	if (!null)
		null = fopen("/dev/null", "w");
	struct arena a = {0};
	struct diag d;
	struct pp pp;
	struct script s;
	diag_init(&d, null);
	pp_init(&pp, &a, &d);
	pp_predefine(&pp, "__BPFTRACE__", "17");
	struct str text = {(const char *)data, size};
	if (pp_file(&pp, src_from_text(&a, STR("fuzz.bt"), text))) {
		script_parse(&a, &d, pp.out, &s);
		if (str_find(text, '\0') == text.n && !str_contains(text, STR("#!")))
			must_read_again(&a, pp.out, pp.files.v[0]);
	}
	arena_fini(&a);
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
