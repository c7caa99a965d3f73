// How many strings a program prints at once, and how long each may then be.
#include "sema/strings.h"

#include "tap.h"
#include "dialect/dialect.h"
#include "template/template.h"
#include "text/pp.h"

static struct arena arena;
static struct diag diag;

/** Bytes that each string may have in the program that bpftrace 0.21 is given: fewer, the more there are. */
static unsigned limit(const char *text)
{
	struct pp pp;
	struct bind_given given = {.version = 21, .is_generated = true};
	struct bind_made made = {0};
	struct bind_cache cache = {0};
	struct bind b = {&arena, &diag, &given, .made = &made, .cache = &cache};
	pp_init(&pp, &arena, &diag);
	if (!pp_file(&pp, src_from_text(&arena, STR("t.bt"), str_from(text))) ||
	    !template_bind(&b, &pp))
		return 9999;
	return made.max_strlen;
}

int main(void)
{
	diag_init(&diag, stderr);

	is_num(limit("BEGIN { printf(\"x\"); }"), 146, "a program without strings");
	is_num(limit("BEGIN { printf(\"%s %d\", str(arg0), 1); printf(\"%s\", str(arg1)); }"), 110,
	       "two strings in two calls do not meet on the stack");
	is_num(limit("BEGIN { printf(\"%s\", str(arg0)); } END { printf(\"%s%s\", str(arg0), "
		     "str(arg1, (4 + 3))); }"),
	       88, "the call with the most of them counts");
	is_num(limit("BEGIN { if (1) { printf(\"%s%s%s\", str(arg0), str(arg1), str(arg2)); } $x = "
		     "str(arg4); }"),
	       64, "calls inside of blocks count, and so does a variable that holds a string");
	is_num(limit("BEGIN { $x = str(arg4); printf(\"%s\", str(arg0)); $x = str(arg4); } "
		     "END { $y = 1; }"),
	       88, "once, in its clause");
	is_num(limit("BEGIN { if (str(arg0) == \"a\") { printf(\"%s\", str(arg1)); } "
		     "else { printf(\"%s%s\", str(arg1), str(arg1)); } }"),
	       73, "the string of a condition is kept while what it decides about is run");
	is_num(limit("BEGIN { if (str(arg0) == \"a\") { exit(); } printf(\"%s\", str(arg1)); }"),
	       110, "but not behind");
	is_num(limit("#define S str(arg0)\nBEGIN { printf(\"%s%s\", S, S); }"), 88,
	       "macros are looked into");
	is_num(limit("BEGIN { @a[pid] = str(arg0); } END { printf(\"%s\", @a[pid]); }"), 73,
	       "a map that holds a string counts as three");
	is_num(limit("BEGIN { @a = str(arg0); } END { printf(\"%s\", @a); }"), 73,
	       "so does one without a key");
	is_num(limit("BEGIN { @a[1] = \"X\"; } END { printf(\"%s%s\", @a[1], @a[2]); }"), 146,
	       "a table of literals takes little");

	is_num(limit("BEGIN { while ($i < 3) { printf(\"%s\", str(arg0)); } printf(\"%s\", "
		     "str(arg1)); }"),
	       88, "one in a loop counts one more");
	is_num(limit("BEGIN { while ($i < 3) { $i++; } printf(\"%s\", str(arg1)); }"), 110,
	       "one behind a loop does not");
	is_num(
	    limit("BEGIN { @a[str(arg0), pid, str(arg1)] = count(); printf(\"%s\", str(arg0)); }"),
	    88, "the strings of a key meet on the stack, too");

	is_num(dialect_max_strlen(23, 9), 1024, "from 0.23 on strings are not on the stack");
	is_num(dialect_max_strlen(17, 0), 200, "200 characters is the most before");
	is_num(dialect_max_strlen(17, 2), 150, "two share the stack");
	is_num(dialect_max_strlen(17, 3), 100, "so do three");
	is_num(dialect_max_strlen(17, 8), 64, "never less than bpftrace's default");
	is_num(dialect_printed_strlen(17, 2, 96), 120, "a record of -t holds two of 120");
	is_num(dialect_printed_strlen(17, 6, 160), 40, "or six of 40");
	is_num(dialect_printed_strlen(23, 6, 160), 1024, "or of 1024 from 0.23 on");

	arena_fini(&arena);
	return done();
}
