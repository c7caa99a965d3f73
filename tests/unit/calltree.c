/** calltree: what a live program cannot be made to do at will: lost records, stacks above others, a TID used again. */
#include "record/calltree.h"

#include <string.h>

#include "tap.h"

#ifdef __x86_64__
enum { POPPED = 8 };
#else
enum { POPPED = 0 };
#endif
enum { TRAMPOLINE = 0x7ffff000, CALLER = 0x401234, FIELDS = 2 };

static struct arena arena;
static struct shapes shapes;
static struct strbuf out;

static void put(void *ctx, const struct record *head, struct str text, struct str fields)
{
	(void)ctx, (void)head, (void)fields;
	strbuf_adds(&out, text);
	strbuf_addc(&out, '\n');
}

static void add_shape(enum shape_style style, const char *probe)
{
	vec_push(&arena, &shapes.list, ((struct shape){.style = style, .probe = str_from(probe)}));
}

static struct calltree *start(void)
{
	static const struct render render;
	static const struct calltree_config config = {.render = &render};
	strbuf_clear(&out);
	return calltree_new(&config, &shapes, put, NULL);
}

/** "f" is entered, "f;" returns, "f<" is entered by a jump, "*" is longjmp() to there. */
static void take(struct calltree *t, const char *what, int pid, int64_t us, int64_t frame)
{
	static const char *const names = "fgh";
	bool is_return = what[1] == ';';
	size_t shape = *what == '*' ? 6 : (size_t)(strchr(names, *what) - names) * 2 + is_return;
	int64_t numbers[FIELDS] = {frame + (is_return ? POPPED : 0),
				   what[1] == '<' ? TRAMPOLINE : CALLER};
	struct record r = {.shape = &shapes.list.v[shape],
			   .head = {.ns = us * 1000, .pid = pid, .tid = 7},
			   .comm = STR("app"),
			   .probe = shapes.list.v[shape].probe,
			   .numbers = numbers};
	calltree_add(t, &r);
}

/** What was printed, without the thread's column. */
static struct str end(struct calltree *t)
{
	static char text[4096];
	char *to = text;
	calltree_end(t);
	calltree_free(t);
	struct str rest = strbuf_str(&out);
	while (rest.n) {
		struct str line = str_take_line(&rest);
		to += snprintf(to, (size_t)(text + sizeof(text) - to), STR_FMT "|" STR_FMT "\n", 10,
			       line.p, STR_ARG(str_from_offset(line, 12 + 16 + 2)));
	}
	return str_from(text);
}

static void test_loss(void)
{
	struct calltree *t = start();
	take(t, "f", 1, 10, 1000);
	take(t, "g", 1, 12, 900);
	take(t, "h", 1, 15, 900); // the return of g was lost
	take(t, "h;", 1, 17, 900);
	take(t, "g;", 1, 18, 950); // and here its entry
	take(t, "f;", 1, 20, 1000);
	take(t, "f", 1, 30, 1000);
	is_str(end(t),
	       STR("          |f() {\n"
		   "          |  g(); /* no return seen */\n"
		   "  2.000 us|  h();\n"
		   "          |  } /* g: entry not seen */\n"
		   " 10.000 us|} /* f */\n"
		   "          |f(); /* open at the end */\n"),
	       "lost records: what is not known is marked, and the rest is right");
}

static void test_jumps(void)
{
	struct calltree *t = start();
	take(t, "f", 1, 10, 1000);
	take(t, "g", 1, 12, 900);
	take(t, "h<", 1, 13, 900);
	take(t, "*", 1, 15, 950);
	take(t, "h", 1, 16, 800); // lower than g was
	take(t, "h;", 1, 17, 800);
	take(t, "*", 1, 18, INT64_MAX); // what nobody could read
	take(t, "f;", 1, 20, 1000);
	is_str(end(t),
	       STR("          |f() {\n"
		   "          |  g() {\n"
		   "  2.000 us|    h(); /* tail call */ /* left by longjmp */\n"
		   "  3.000 us|  } /* g: left by longjmp */\n"
		   "  1.000 us|  h();\n"
		   " 10.000 us|} /* f */\n"),
	       "longjmp() leaves what is below its target at once, a tail call does not");
}

static void test_stacks(void)
{
	struct calltree *t = start();
	take(t, "f", 1, 10, 1000);
	take(t, "g", 1, 11, 100); // a stack below
	take(t, "g;", 1, 12, 100);
	take(t, "g", 1, 13, 2000); // one above
	take(t, "g;", 1, 14, 2000);
	take(t, "f;", 1, 15, 1000);
	is_str(end(t),
	       STR("          |f() {\n"
		   "  1.000 us|  g();\n"
		   "          |} /* f: no return seen */\n"
		   "  1.000 us|g();\n"
		   "          |} /* f: entry not seen */\n"),
	       "another stack: below it is within; above it closes what it interrupts, which is "
	       "marked");
}

static void test_threads(void)
{
	struct calltree *t = start();
	take(t, "f", 1, 10, 1000);
	take(t, "g", 2, 11, 900); // another process has the TID
	take(t, "g;", 2, 12, 900);
	is_str(end(t),
	       STR("          |f(); /* no return seen */\n"
		   "  1.000 us|g();\n"),
	       "a TID that another process gets begins anew");
}

int main(void)
{
	shapes.arena = &arena;
	shapes.has_head = true;
	add_shape(SHAPE_ENTRY, "uprobe:f");
	add_shape(SHAPE_RETURN, "uretprobe:f");
	add_shape(SHAPE_ENTRY, "uprobe:g");
	add_shape(SHAPE_RETURN, "uretprobe:g");
	add_shape(SHAPE_ENTRY, "uprobe:h");
	add_shape(SHAPE_RETURN, "uretprobe:h");
	add_shape(SHAPE_JUMP, "uprobe:longjmp");
	test_loss();
	test_jumps();
	test_stacks();
	test_threads();
	strbuf_fini(&out);
	arena_fini(&arena);
	return done();
}
