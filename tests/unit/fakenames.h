/**
 * fakenames - stands for value/codename.c and value/filetext.c, which are of a process that runs: function 77 is
 * FUNCTION, and 79 has a name that is not UTF-8; a literal is at 0x5000, and a variable at 0x6000.
 */
#include "value/filetext.h"

struct codename {
	int unused;
};

struct str codename_find(struct codename *c, uint64_t addr)
{
	(void)c;
	return addr == 77 ? STR(FUNCTION) : addr == 79 ? STR("a\xff") : STR("");
}

struct str codename_find_distinct(struct codename *c, uint64_t addr)
{
	return codename_find(c, addr);
}

bool codename_add_variable(struct codename *c, uint64_t addr, struct strbuf *out)
{
	(void)c;
	if (addr == 0x6000 || addr == 0x6010)
		strbuf_addz(out, addr == 0x6000 ? "lock" : "a\xff+16");
	return addr == 0x6000 || addr == 0x6010;
}

enum codename_text codename_find_text(struct codename *c, uint64_t addr, size_t most,
				      struct strbuf *ret)
{
	(void)c;
	strbuf_clear(ret);
	strbuf_adds(ret, str_slice(STR("literal"), 0, most));
	return addr == 0x5000	? CODENAME_LITERAL
	       : addr == 0x6000 ? CODENAME_VARIABLE
				: CODENAME_NOTHING;
}

bool codename_misses_caller(struct codename *c, uint64_t addr)
{
	(void)c;
	return addr == 77;
}

void codename_add_frame(struct codename *c, uint64_t addr, bool is_caller, struct strbuf *out)
{
	(void)c;
	strbuf_addf(out, "%s+%u", is_caller ? "caller" : "top", (unsigned)(addr % 16));
}

/** Of the process 42 only. */
struct codename *filetext_names(struct filetext *t, int64_t pid, int64_t ns)
{
	static struct codename names;
	(void)t;
	(void)ns;
	return pid == 42 ? &names : NULL;
}
