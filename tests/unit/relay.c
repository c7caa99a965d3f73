/** run/relay: what bpftrace versions print, sorted into data and messages. The samples are real output. */
#include "run/ready.h"
#include "run/relay.h"
#include "tap.h"
#include "text/pp.h"
#include "tokens.h"

static struct arena arena;
static char *said;
static size_t said_n;

struct sample {
	struct relay r;
	struct diag d;
	FILE *out;
};

static void start(struct sample *s, bool old)
{
	free(said);
	said = NULL;
	s->out = open_memstream(&said, &said_n);
	diag_init(&s->d, s->out);
	relay_init(&s->r, &s->d, NULL, "/proc/self/fd/3");
	s->r.stdout_has_messages = old;
}

static struct str finish(struct sample *s)
{
	relay_end(&s->r);
	fclose(s->out);
	struct str data = str_copy(&arena, strbuf_str(&s->r.out));
	relay_fini(&s->r);
	return data;
}

static void test_data(void)
{
	struct sample s;
	start(&s, true);
	relay_stdout(&s.r, STR("hi\nAttaching 2 probes...\nhi\nLost 12 events\nAttach"));
	relay_stdout(&s.r, STR("ing 3 probes...\n\n\n"));
	is_str(finish(&s), STR("hi\nhi\nLost 12 events\nAttaching 3 probes...\n\n\n"),
	       "before 0.24: bpftrace's message is taken out of the data, once");
	is_num(s.r.n_probes, 2, "and says how many probes there are");
	is_str((struct str){said, said_n}, STR(""), "and is not repeated as it stands");

	start(&s, true);
	relay_stdout(&s.r, STR("Attaching 2 probes...\n" READY_ATTACHED));
	relay_stdout_idle(&s.r);
	ok(!s.r.attached, "before 0.24: not yet attached");
	relay_stdout(&s.r, STR("\n" READY_ATTACHED "\n"));
	ok(s.r.attached, "and now it is, by bpftrace's own word on stdout");
	is_str(finish(&s), STR(READY_ATTACHED "\n"), "which is the program's the second time");

	start(&s, true);
	relay_stderr(&s.r, STR(READY_ATTACHED "\n"));
	ok(s.r.attached, "before 0.23 it is on stderr");
	relay_stdout(&s.r, STR("Attaching 2 probes...\nAttaching 2 probes...\nAtta"));
	is_str(strbuf_str(&s.r.out), STR("Attaching 2 probes...\nAtta"),
	       "which may be read before the message: that comes once still, and then all is data");
	finish(&s);
	is_str((struct str){said, said_n}, STR(""), "where nobody is shown it");

	start(&s, false);
	relay_stdout(&s.r, STR("Attaching 2 probes...\nLost 12 events\n"));
	relay_stderr(&s.r, STR("Attached 2 probes\nLost 7 events\nWARNING: something\n"));
	is_str(finish(&s), STR("Attaching 2 probes...\nLost 12 events\n"),
	       "from 0.24 on everything on stdout is data");
	is_num((long long)s.r.lost, 7, "and lost events are told on stderr");
	ok(s.r.attached, "Attached is understood");
	is_str((struct str){said, said_n}, STR("WARNING: something\n"),
	       "other messages go through");

	start(&s, true);
	relay_stdout(&s.r, STR("Att"));
	relay_stdout_idle(&s.r);
	is_num((long long)s.r.out.n, 0, "the start of what may be a message is held back");
	relay_stdout(&s.r, STR("ila: "));
	relay_stdout_idle(&s.r);
	is_str(strbuf_str(&s.r.out), STR("Attila: "),
	       "a line without an end goes out when nothing follows");
	relay_stdout(&s.r, STR("Attaching 2 probes...\nAttaching 2 probes...\n"));
	is_str(finish(&s), STR("Attila: Attaching 2 probes...\n"),
	       "and its rest is data whatever it says");
}

static void test_held(void)
{
	struct sample s;
	start(&s, false);
	s.r.holds_messages = true;
	relay_stderr(&s.r, STR("ERROR: no such process\n"));
	fflush(s.out);
	is_num((long long)said_n, 0, "a message can be held back");
	relay_release(&s.r);
	relay_stderr(&s.r, STR("WARNING: more\n"));
	finish(&s);
	is_str((struct str){said, said_n}, STR("ERROR: no such process\nWARNING: more\n"),
	       "until it is wanted");
}

/** A program of one template, with its line map. */
static void make_program(struct pp *pp, struct diag *d, struct program *p, const char *text)
{
	struct src_file *f = src_from_text(&arena, STR("t.bt"), str_from(text));
	pp_init(pp, &arena, d);
	pp_file(pp, f);
	*p = (struct program){0};
	emit_tokens(pp->out, f, p);
}

static void test_places(void)
{
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, true);
	make_program(&pp, &s.d, &p,
		     "#define PRINT(x) printf(\"%d\\n\", x)\n\nstruct a { int x; };\n\nstruct b "
		     "{\n\tfoo_t y;\n};\n"
		     "BEGIN {\n\tPRINT($y);\n}\n");
	s.r.messages.map = &p.map;
	s.r.messages.program = strbuf_str(&p.text);
	relay_stderr(&s.r,
		     STR("/proc/self/fd/3:9:17-19: ERROR: Undefined or undeclared variable: $y\n"
			 "    printf(\"%d\\n\", $y);\n                   ~~\n"
			 "definitions.h:4:2: error: unknown type name 'foo_t'\n"
			 "definitions.h:4:2: error: unknown type name 'foo_t'\n"
			 "Clang parse error\n"
			 "/proc/self/fd/3:1-9: ERROR: over several lines\n"
			 "/proc/self/fd/35:1:1-2: ERROR: another file\n"
			 "ERROR: no place\n"));
	finish(&s);
	is_str((struct str){said, said_n},
	       STR("t.bt:9:8: error: bpftrace: Undefined or undeclared variable: $y\n"
		   "    \tPRINT($y);\n    \t      ^~\n"
		   "t.bt:6:2: error: bpftrace: unknown type name 'foo_t'\n    \tfoo_t y;\n    "
		   "\t^~~~~\n"
		   "t.bt:3:1: error: bpftrace: over several lines\n    struct a { int x; };\n    "
		   "^~~~~~\n"
		   "/proc/self/fd/35:1:1-2: ERROR: another file\n"
		   "ERROR: no place\n"),
	       "places in the program are told as places in the template, once, with its line");
	program_fini(&p);
}

/** An excerpt has fewer lines than most, or none. */
static void test_excerpts(void)
{
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, true);
	make_program(&pp, &s.d, &p, "BEGIN {\n\t$y;\n}\n");
	s.r.messages.map = &p.map;
	s.r.messages.program = strbuf_str(&p.text);
	relay_stderr(&s.r, STR("/proc/self/fd/3:2:2-4: ERROR: first\n"
			       "ERROR: second\n"
			       "/proc/self/fd/3:2:2-4: WARNING: \n"
			       "ERROR: third\n"
			       "/proc/self/fd/3:1:1-6: ERROR: \n"
			       "BEGIN {\n~~~~~\n"
			       "something else\n"));
	finish(&s);
	is_str((struct str){said, said_n},
	       STR("t.bt:2:2: error: bpftrace: first\n    \t$y;\n    \t^~\n"
		   "ERROR: second\nERROR: third\n"
		   "t.bt:1:1: error: bpftrace: \n    BEGIN {\n    ^~~~~\n"
		   "something else\n"),
	       "errors are reported, where they follow each other without an excerpt, too");
	program_fini(&p);
}

/** bpftrace 0.27 tries to make sense of definitions several times, and complains each time. */
static void test_attempts(void)
{
	static const char both[] = "definitions.h:2:12: error: unknown type name 'foo_t'\n"
				   "definitions.h:3:12: error: unknown type name 'uint64_t'\n";
	static const char one[] = "definitions.h:2:12: error: unknown type name 'foo_t'\n";
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, false);
	make_program(&pp, &s.d, &p,
		     "struct a { foo_t x; };\nstruct b { uint64_t x; };\nBEGIN {\n\t$y;\n}\n");
	s.r.messages.map = &p.map;
	s.r.messages.program = strbuf_str(&p.text);
	relay_stderr(&s.r, str_from(both));
	relay_stderr(&s.r, str_from(both));
	relay_stderr(&s.r,
		     STR("/proc/self/fd/3:4:2-4: ERROR: Undefined or undeclared variable: $y\n"));
	relay_end(&s.r);
	messages_explain_failure(&s.r.messages, 1);
	finish(&s);
	is_str((struct str){said, said_n},
	       STR("t.bt:4:2: error: bpftrace: Undefined or undeclared variable: $y\n"
		   "    \t$y;\n    \t^~\n"),
	       "0.27: what it said of definitions that it understood in the end is not told");
	program_fini(&p);

	start(&s, false);
	make_program(&pp, &s.d, &p,
		     "struct a { foo_t x; };\nstruct b { uint64_t x; };\nBEGIN { }\n");
	s.r.messages.map = &p.map;
	s.r.messages.program = strbuf_str(&p.text);
	relay_stderr(&s.r, str_from(both));
	relay_stderr(&s.r, str_from(both));
	relay_stderr(&s.r, str_from(one));
	relay_stderr(&s.r, str_from(one));
	relay_stderr(&s.r, STR("Clang parse error\n"));
	finish(&s);
	is_str((struct str){said, said_n},
	       STR("t.bt:1:12: error: bpftrace: unknown type name 'foo_t'\n"
		   "    struct a { foo_t x; };\n               ^~~~~\n"),
	       "and of those that it gave up, what it said in the last attempt");
	program_fini(&p);

	start(&s, true);
	s.r.messages.program = STR("struct a { foo_t x; };\n");
	relay_stderr(&s.r, str_from(one));
	relay_end(&s.r);
	messages_explain_failure(&s.r.messages, 1);
	finish(&s);
	is_str((struct str){said, said_n}, str_from(one), "0.17 may end with no more than that");
}

static void test_idle_warnings(void)
{
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, false);
	make_program(&pp, &s.d, &p, "BEGIN\n/pid/\n{\n\t@a[pid] = 1;\n\tdelete(@a[pid]);\n}\n");
	s.r.messages.map = &p.map;
	relay_stderr(&s.r,
		     STR("/proc/self/fd/3:4:2-9: WARNING: Addrspace mismatch\n"
			 "    @a[pid] = 1;\n    ~~~~~~~\n"
			 "/proc/self/fd/3:2:1-6: WARNING: expanded from\n"
			 "/pid/\n~~~~~\n"
			 "/proc/self/fd/3:5:2-16: WARNING: Return value discarded.\n"
			 "    delete(@a[pid]);\n    ~~~~~~~~~~~~~~\n"
			 "/proc/self/fd/3:4:12-13: WARNING: Unnecessary cast: expression is "
			 "already of type uint64\n"
			 "    @a[pid] = 1;\n              ~\n"
			 "/proc/self/fd/3:4:12-13: WARNING: signed operands for '/' can lead to "
			 "undefined behavior (cast to unsigned to silence warning)\n"
			 "    @a[pid] = 1;\n              ~\n"
			 "/proc/self/fd/3:4:12-13: WARNING: Expression of type: uint64 being "
			 "cast to type: int64. This may cause unexpected results.\n"
			 "    @a[pid] = 1;\n              ~\n"
			 "/proc/self/fd/3:4:2-9: WARNING: something else\n"
			 "    @a[pid] = 1;\n    ~~~~~~~\n"
			 "/proc/self/fd/3:2:1-6: WARNING: expanded from\n"
			 "/pid/\n~~~~~\n"));
	finish(&s);
	is_str((struct str){said, said_n},
	       STR("t.bt:4:2: warning: bpftrace: something else\n"
		   "    \t@a[pid] = 1;\n    \t^~~~~~~\n"),
	       "warnings of 0.27 that leave nothing to do are not told, others are");
	program_fini(&p);
}

/** What a program runs into again and again is told once, and at the end how often. */
static void test_repeated(void)
{
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, false);
	make_program(&pp, &s.d, &p, "BEGIN\n{\n\t@a[pid] = 1;\n\t@b[pid] = count();\n}\n");
	s.r.messages.map = &p.map;
	s.r.messages.is_running = true;
	for (int i = 0; i < 3; i++)
		relay_stderr(&s.r, STR("/proc/self/fd/3:3:2-9: WARNING: Map full\n"
				       "\t@a[pid] = 1;\n\t~~~~~~~\n"));
	relay_stderr(&s.r, STR("/proc/self/fd/3:4:2-9: WARNING: Map full\n"
			       "\t@b[pid] = count();\n\t~~~~~~~\n"));
	messages_end(&s.r.messages);
	finish(&s);
	is_str(
	    (struct str){said, said_n},
	    STR("t.bt:3:2: warning: bpftrace: Map full\n    \t@a[pid] = 1;\n    \t^~~~~~~\n"
		"t.bt:4:2: warning: bpftrace: Map full\n    \t@b[pid] = count();\n    \t^~~~~~~\n"
		"t.bt:3:2: warning: 2 times more: bpftrace: Map full\n    \t@a[pid] = 1;\n    "
		"\t^~~~~~~\n"),
	    "a warning that comes three times is told once, and at the end how often");
	program_fini(&p);
}

/** 0.20 to 0.23 have such warnings among the data. */
static void test_warnings_in_data(void)
{
	static const char *const lines[] = {
	    "/proc/self/fd/3:4:2-9: WARNING: File exists",
	    "Additional Info - helper: map_update_elem, retcode: -17",
	    "\t@b[pid] = count();",
	    "\t       ~~~~~~~",
	};
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, false);
	make_program(&pp, &s.d, &p, "BEGIN\n{\n\t@a[pid] = 1;\n\t@b[pid] = count();\n}\n");
	s.r.messages.map = &p.map;
	s.r.messages.is_running = true;
	bool are_taken = true;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		are_taken &= messages_add_data(&s.r.messages, str_from(lines[i]));
	ok(are_taken, "a warning among the data is no data, nor are the lines behind it");
	ok(!messages_add_data(&s.r.messages, STR("@b[5]: 1")) &&
	       !messages_add_data(&s.r.messages, STR("/proc/self/fd/4:4:2-9: WARNING: no")),
	   "what follows is data, and so is what speaks of another file");
	ok(messages_add_data(&s.r.messages, STR("/proc/self/fd/3:3-4: WARNING: File exists")) &&
	       messages_add_data(&s.r.messages, STR("Additional Info - helper: f, retcode: -17")) &&
	       !messages_add_data(&s.r.messages, STR("@b[5]: 1")),
	   "a place over several lines has none of them");
	ok(messages_add_data(&s.r.messages, STR("/proc/self/fd/3:3-4: WARNING: File exists")) &&
	       !messages_add_data(&s.r.messages, STR("@b[5]: 1")) &&
	       !messages_add_data(&s.r.messages, STR("Additional Info - helper: f")),
	   "what looks otherwise ends it");
	messages_end(&s.r.messages);
	finish(&s);
	is_str((struct str){said, said_n},
	       STR("t.bt:4:2: warning: bpftrace: the counts of one CPU are lost: another CPU "
		   "created the same map key at that moment\n"
		   "    \t@b[pid] = count();\n    \t^~~~~~~\n"
		   "t.bt:3:2: warning: bpftrace: the counts of one CPU are lost: another CPU "
		   "created the same map key at that moment\n    \t@a[pid] = 1;\n    \t^\n"
		   "t.bt:3:2: warning: 1 times more: bpftrace: the counts of one CPU are lost: "
		   "another CPU created the same map key at that moment\n"
		   "    \t@a[pid] = 1;\n    \t^\n"),
	       "it is a message, at its place in the template, in words");
	ok(s.r.messages.has_loss, "... and a loss");
	program_fini(&p);
}

/** Of a probe with several places 0.27 shows the whole clause, as it stands. */
static void test_whole_clauses(void)
{
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, false);
	make_program(&pp, &s.d, &p, "BEGIN\n{\n\t@a[pid] = 1;\n\n\texit();\n}\n");
	s.r.messages.map = &p.map;
	s.r.messages.program = strbuf_str(&p.text);
	relay_stderr(&s.r, STR("/proc/self/fd/3:3:2-9: WARNING: Addrspace mismatch\n"
			       "    @a[pid] = 1;\n    ~~~~~~~\n"
			       "/proc/self/fd/3:2-6: WARNING: expanded from\n"
			       "{\n\t@a[pid] = 1;\n\n\texit();\n}\n"
			       "stdlib/base.bt:7-10: WARNING: expanded from\n"
			       "macro retval()\n{\n  __builtin_retval\n}\n"
			       "/proc/self/fd/3:2-6: WARNING: expanded from\n"
			       "Loading failed\n"));
	finish(&s);
	is_str((struct str){said, said_n}, STR("Loading failed\n"),
	       "excerpts of several lines are bpftrace's, what is behind them is not");
	program_fini(&p);
}

/** What @program's bpftrace says in @messages, and ends with. */
static void check_said(const char *program, const char *messages, const char *want,
		       const char *claim)
{
	struct sample s;
	struct pp pp;
	struct program p;
	start(&s, true);
	make_program(&pp, &s.d, &p, program);
	s.r.messages.map = &p.map;
	s.r.messages.program = strbuf_str(&p.text);
	relay_stderr(&s.r, str_from(messages));
	relay_end(&s.r);
	messages_explain_failure(&s.r.messages, 1);
	finish(&s);
	is_str((struct str){said, said_n}, str_from(want), claim);
	if (strstr(messages, "failed to close"))
		ok(s.r.messages.has_loss, "... and a loss");
	program_fini(&p);
}

static void test_attach_points(void)
{
	static const char program[] = "BEGIN\n{\n}\n\n// a:b\nkprobe:one,\nkprobe:a:b\n{\n}\n\n"
				      "usdt:\"/a b/lib.so\":lib:f /pid == 1/ { }\n"
				      "interval:s:1 { printf(\"%d\",\n\t@x); }\n";
	check_said(
	    program, "/proc/self/fd/3:3-7: ERROR: Probe does not exist: a:b\n",
	    "t.bt:7:1: error: bpftrace: Probe does not exist: a:b\n    kprobe:a:b\n"
	    "    ^~~~~~~~~~\n",
	    "0.17 and 0.23 place an attach point at the brace before it: the name is looked for");
	check_said(program, "/proc/self/fd/3:3-6: ERROR: not available for your kernel version.\n",
		   "t.bt:6:1: error: bpftrace: not available for your kernel version.\n"
		   "    kprobe:one,\n    ^~~~~~~~~~\n",
		   "without a name, what begins the last of its lines");
	check_said(program, "/proc/self/fd/3:12-13: ERROR: in a statement\n",
		   "t.bt:12:1: error: bpftrace: in a statement\n"
		   "    interval:s:1 { printf(\"%d\",\n    ^~~~~~~~\n",
		   "but a statement over several lines begins on the first");
	check_said(program, "ERROR: couldn't get argument 0 for lb.so:lib:f\n",
		   "t.bt:11:1: error: bpftrace: couldn't get argument 0 for lb.so:lib:f\n"
		   "    usdt:\"/a b/lib.so\":lib:f /pid == 1/ { }\n    ^~~~~~~~~~~~~~~~~~~~~~~~\n",
		   "an error without a place is at the probe that it names, cut as it may be");
	check_said(program,
		   "ERROR: failed to close perf event FDs for probe: usdt:/a b/lib.so:lib:f\n",
		   "t.bt:11:1: error: bpftrace: failed to close perf event FDs for probe: "
		   "usdt:/a b/lib.so:lib:f\n"
		   "    usdt:\"/a b/lib.so\":lib:f /pid == 1/ { }\n    ^~~~~~~~~~~~~~~~~~~~~~~~\n",
		   "a probe that bpftrace lost a descriptor of");
	check_said(program, "ERROR: Error loading program: interval:s:1 (try -v)\n",
		   "t.bt:12:1: error: bpftrace: Error loading program: interval:s:1 (try -v)\n"
		   "    interval:s:1 { printf(\"%d\",\n    ^~~~~~~~~~~~\n",
		   "0.17: a program that the kernel refuses");
	check_said(
	    program,
	    "ERROR: Error loading BPF program for interval_s_1_loc0_4. Use -v for full "
	    "kernel error log.\n",
	    "t.bt:12:1: error: bpftrace: Error loading BPF program for interval_s_1_loc0_4. Use -v "
	    "for full kernel error log.\n"
	    "    interval:s:1 { printf(\"%d\",\n    ^~~~~~~~~~~~\n",
	    "0.23: of a USDT probe with the number of the site");
	check_said(
	    program,
	    "ERROR: Error loading BPF program for interval_s_1_4. Use -v for full kernel "
	    "error log.\nERROR: Loading BPF object(s) failed.\n",
	    "t.bt:12:1: error: bpftrace: Error loading BPF program for interval_s_1_4. Use -v "
	    "for full kernel error log.\n"
	    "    interval:s:1 { printf(\"%d\",\n    ^~~~~~~~~~~~\n",
	    "0.23: the same, by the name of the function");
	check_said(
	    "BEGIN { }\ninterval:s:1 { }\nBEGIN { }\ninterval:s:1 { @ = 1; }\n",
	    "error: <unknown>:0:0: in function interval:s:1.2 i64 (i8*): Looks like the BPF "
	    "stack limit of 512 bytes is exceeded.\n\n\n",
	    "t.bt:4:1: error: bpftrace: in function interval:s:1.2 i64 (i8*): Looks like the "
	    "BPF stack limit of 512 bytes is exceeded.\n    interval:s:1 { @ = 1; }\n    "
	    "^~~~~~~~~~~~\n",
	    "0.17: LLVM counts what has a name that it knows");
	check_said(program,
		   "error: <unknown>:0:0: in function interval:s:1 i64 (i8*): Looks like the BPF "
		   "stack limit of 512 bytes is exceeded.\n\n\n",
		   "t.bt:12:1: error: bpftrace: in function interval:s:1 i64 (i8*): Looks like the "
		   "BPF stack limit of 512 bytes is exceeded.\n    interval:s:1 { printf(\"%d\",\n "
		   "   ^~~~~~~~~~~~\n",
		   "LLVM's errors, too");
	check_said(program, "ERROR: Unable to attach probe: uprobe:/bin/sh:1\n",
		   "ERROR: Unable to attach probe: uprobe:/bin/sh:1\n",
		   "a probe that is not in the script is not taken for one that ends alike");
}

static void test_cascades(void)
{
	check_said("BEGIN {\n\tprintf(\"%d\", @x);\n\t$y = @x;\n}\n",
		   "/proc/self/fd/3:2:15-17: ERROR: Undefined map: @x\n"
		   "\tprintf(\"%d\", @x);\n\t              ~~\n"
		   "/proc/self/fd/3:2:2-18: ERROR: printf: %d specifier expects a value of type "
		   "integer (none supplied)\n"
		   "/proc/self/fd/3:3:7-9: ERROR: Undefined map: @x\n",
		   "t.bt:2:15: error: bpftrace: Undefined map: @x\n"
		   "    \tprintf(\"%d\", @x);\n    \t             ^~\n",
		   "what follows from an error is not said, nor a name twice");
	check_said(
	    "BEGIN { @ = foo; }\n",
	    "/proc/self/fd/3:1:9-16: ERROR: Type mismatch for @: trying to assign value of type "
	    "'none' when map already has a value type 'int8'\n"
	    "/proc/self/fd/3:1:13-16: ERROR: Unknown identifier: 'foo'\n",
	    "t.bt:1:13: error: bpftrace: Unknown identifier: 'foo'\n"
	    "    BEGIN { @ = foo; }\n                ^~~\n"
	    "btgen: note: a variable begins with $, a map with @\n",
	    "0.27 says it before its cause");
	check_said(
	    "BEGIN { @ = clear(@x); }\n",
	    "/proc/self/fd/3:1:9-10: ERROR: Type mismatch for @: trying to assign value of type "
	    "'none' when map already contains a value of type 'int64'\n",
	    "t.bt:1:9: error: bpftrace: Type mismatch for @: trying to assign value of type "
	    "'none' when map already contains a value of type 'int64'\n"
	    "    BEGIN { @ = clear(@x); }\n            ^\n",
	    "when nothing else is wrong, it is the cause");
	check_said(
	    "BEGIN { $a = 1; printf(\"%d %d\", $a->x, $a->y); }\n",
	    "/proc/self/fd/3:1:33-38: ERROR: Can not access field 'x' on expression of type "
	    "'int8'\n"
	    "/proc/self/fd/3:1:33-38: ERROR: Can not access field 'x' on expression of type "
	    "'int8'\n"
	    "/proc/self/fd/3:1:40-45: ERROR: Can not access field 'y' on expression of type "
	    "'int8'\n",
	    "t.bt:1:33: error: bpftrace: Can not access field 'x' on expression of type 'int8'\n"
	    "    BEGIN { $a = 1; printf(\"%d %d\", $a->x, $a->y); }\n"
	    "                                    ^~~~~\n",
	    "members of one thing that has none, and the same a second time");
	check_said("BEGIN { prinft(\"x\"); }\n",
		   "/proc/self/fd/3:1:9-20: ERROR: Unknown function: 'prinft'\n",
		   "t.bt:1:9: error: bpftrace: Unknown function: 'prinft'\n"
		   "    BEGIN { prinft(\"x\"); }\n            ^~~~~~~~~~~\n"
		   "btgen: note: did you mean printf?\n",
		   "a function's right name is offered");
	check_said(
	    "BEGIN { delete(@a[1]); }\n",
	    "stdlib/base.bt:288:3-32: ERROR: Type mismatch for $key: trying to assign value of "
	    "type 'int8' when variable already has a type 'none'\n"
	    "  let $key : typeof(@map) = key;\n  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
	    "stdlib/base.bt:310:3-34: ERROR: expanded from\n"
	    "  __deprecated_delete(map_access)\n  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
	    "/proc/self/fd/3:1:9-22: ERROR: expanded from\n"
	    "BEGIN { delete(@a[1]); }\n        ~~~~~~~~~~~~~\n"
	    "stdlib/base.bt:288:21-25: ERROR: Undefined map: @a\n"
	    "  let $key : typeof(@map) = key;\n                    ~~~~\n"
	    "stdlib/base.bt:310:3-34: ERROR: expanded from\n"
	    "  __deprecated_delete(map_access)\n  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
	    "/proc/self/fd/3:1:9-22: ERROR: expanded from\n"
	    "BEGIN { delete(@a[1]); }\n        ~~~~~~~~~~~~~\n",
	    "t.bt:1:9: error: bpftrace: Undefined map: @a\n"
	    "    BEGIN { delete(@a[1]); }\n            ^~~~~~~~~~~~~\n",
	    "0.27: what is wrong in its own script is where that is called");
	check_said(
	    "BEGIN { if (\"a\" == 1) { } }\n",
	    "/proc/self/fd/3:1:13-21: ERROR: Type mismatch for '==': comparing string[2] with "
	    "int8\n"
	    "/proc/self/fd/3:1:13-16: ERROR: left (string[2])\n"
	    "/proc/self/fd/3:1:20-21: ERROR: right (int8)\n",
	    "t.bt:1:13: error: bpftrace: Type mismatch for '==': comparing string[2] with "
	    "int8\n    BEGIN { if (\"a\" == 1) { } }\n                ^~~~~~~~\n",
	    "the two sides of a comparison are one error");
	check_said("kprobe:nosuch { }\n",
		   "/proc/self/fd/3:1:1-14: ERROR: No matches for kprobe nosuch.\n"
		   "/proc/self/fd/3:1:1-14: WARNING: nosuch is not traceable\n",
		   "t.bt:1:1: error: bpftrace: No matches for kprobe nosuch.\n"
		   "    kprobe:nosuch { }\n    ^~~~~~~~~~~~~\n",
		   "a warning at the place of an error adds nothing");
}

int main(void)
{
	test_data();
	test_held();
	test_places();
	test_excerpts();
	test_attempts();
	test_idle_warnings();
	test_repeated();
	test_warnings_in_data();
	test_whole_clauses();
	test_attach_points();
	test_cascades();
	arena_fini(&arena);
	free(said);
	return done();
}
