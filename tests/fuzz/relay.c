// libFuzzer entry: any bytes as what bpftrace says. The first byte chooses its version and options. A line that begins with > goes
// to its standard output, with = too, but as the data of a running program, others to its standard error; an empty one: it
// rests. Our messages are for a terminal, and data of a bpftrace that says nothing there come out as they went in.
#include "fuzz.h"
#include "../unit/tokens.h"
#include "run/relay.h"
#include "text/pp.h"

static const char script[] = "#define M(x) x + nosuch\n"
			     "struct s { int a; };\n"
			     "usdt:/bin/sh:lib:f, uprobe:/bin/sh:g /pid == 1/ {\n"
			     "\t@x[comm] = count(); printf(\"%d\\n\", M(arg0));\n"
			     "}\n"
			     "interval:s:1 { print(@x); }\n";

static void say_all(struct relay *r, struct str bytes, struct strbuf *data)
{
	while (bytes.n) {
		size_t n = str_find(bytes, '\n');
		struct str line = str_slice(bytes, 0, n + 1);
		char first = line.p[0];
		bytes = str_from_offset(bytes, line.n);
		if (first == '>') {
			strbuf_adds(data, str_from_offset(line, 1));
			relay_stdout(r, str_from_offset(line, 1));
		} else if (first == '=') {
			messages_add_data(&r->messages, str_slice(line, 1, n - 1));
		} else if (first == '\n') {
			relay_stdout_idle(r);
		} else {
			relay_stderr(r, line);
		}
		r->messages.is_running = r->attached;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char how = size ? data[0] : 0;
	struct arena a = {0};
	struct fuzz_said said;
	struct pp pp;
	struct program program = {0};
	struct relay r;
	struct strbuf want = {0};
	fuzz_listen(&said);
	pp_init(&pp, &a, &said.diag);
	if (!pp_file(&pp, src_from_text(&a, STR("fuzz.bt"), str_from(script))))
		exit(1);
	emit_tokens(pp.out, pp.files.v[0], &program);
	relay_init(&r, &said.diag, how & 1 ? &program.map : NULL, "/proc/self/fd/3");
	r.messages.program = strbuf_str(&program.text);
	r.stdout_has_messages = how & 2;
	r.holds_messages = how & 4;
	said.diag.quiet = how & 8;
	say_all(&r, str_from_offset((struct str){(const char *)data, size}, 1), &want);
	relay_release(&r);
	relay_end(&r);
	messages_end(&r.messages);
	messages_explain_failure(&r.messages, how & 16 ? 1 : 134);
	if (!r.stdout_has_messages && !str_eq(strbuf_str(&r.out), strbuf_str(&want)))
		fuzz_fail("other data", strbuf_str(&r.out));
	relay_fini(&r);
	program_fini(&program);
	strbuf_fini(&want);
	fuzz_must_be_printable(&said);
	arena_fini(&a);
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
