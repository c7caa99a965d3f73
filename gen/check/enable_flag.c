/**
 * Probes that fire only with a flag of their program: interpreters leave those of functions out,
 * as they cost time in every call.
 *
 * Measured with Debian's PHP 8.2, OpenJDK 17, Ruby 3.1 and Python 3.11. Where a process shows how
 * it was started it is known whether the flag is set; what a program does by itself is not seen.
 */
#include "check/check_priv.h"

#include "bind/optional.h"

/** Where a process shows its flag. */
enum seen_in {
	IN_ENVIRONMENT,
	IN_COMMAND, /**< the command line, and variables that hold options */
	IN_PROGRAM, /**< a call in its code: seen only when that is on the command line */
};

struct enable_flag {
	const char *provider;
	const char *names; /**< patterns, with | between, as in `words` */
	const char *file;  /**< a pattern for the file that has them, of some versions; or NULL */
	enum seen_in where;
	const char *words; /**< one of them: it is on */
	const char *other; /**< a probe that sets the flag while it is attached to; or NULL */
	const char *what;  /**< "... fires only" */
	const char *remedy;
};

static const struct enable_flag flags[] = {
    {"php", "compile__file__*|execute__*|function__*", NULL, IN_ENVIRONMENT,
     "USE_ZEND_DTRACE=", NULL, "with USE_ZEND_DTRACE=1 in the environment of PHP",
     "PHP reads USE_ZEND_DTRACE=1 when it starts: restart it"},
    {"hotspot", "method__entry|method__return", NULL, IN_COMMAND,
     "+DTraceMethodProbes|+ExtendedDTraceProbes", NULL, "with java -XX:+DTraceMethodProbes",
     "the option slows programs down many times"},
    {"hotspot", "object__alloc", NULL, IN_COMMAND, "+DTraceAllocProbes|+ExtendedDTraceProbes", NULL,
     "with java -XX:+DTraceAllocProbes", NULL},
    {"hotspot", "monitor__*", NULL, IN_COMMAND, "+DTraceMonitorProbes|+ExtendedDTraceProbes", NULL,
     "with java -XX:+DTraceMonitorProbes", NULL},
    {"python", "function__entry|function__return", "*python3.11*", IN_PROGRAM,
     "setprofile|settrace|cProfile", "line",
     "in Python 3.11 while the program has a profile function, or python:line is traced",
     "sys.setprofile(slice) in its first line is one"},
    {"ruby", "method__entry|method__return", "*ruby-3.*", IN_PROGRAM, "TracePoint", NULL,
     "in Ruby 3 while the program has a trace point",
     "TracePoint.new(:call, :return) { }.enable in its first line is one"},
};

static const struct enable_flag *find_flag(const struct attach_match *m)
{
	array_each(const struct enable_flag, s, flags) {
		if (!str_eqz(m->probe->provider, s->provider) ||
		    (s->file && !str_glob(str_from(s->file), m->file->path)))
			continue;
		struct str names = str_from(s->names);
		while (names.n)
			if (str_glob(str_take_until(&names, '|'), m->probe->name))
				return s;
	}
	return NULL;
}

/** The value of @word ("NAME=") in an environment; empty when it is not there. */
static struct str value_of(struct str environment, const char *word)
{
	while (environment.n) {
		struct str entry = str_take_until(&environment, '\0');
		if (str_take(&entry, str_from(word)))
			return entry;
	}
	return STR("");
}

static bool has_word(const struct enable_flag *s, struct str text)
{
	struct str words = str_from(s->words);
	while (words.n)
		if (str_contains(text, str_take_until(&words, '|')))
			return true;
	return false;
}

/** Options of java that are in a file, or in none of its options. */
static bool hides_options(struct str command)
{
	static const char *const files[] = {
	    "-XX:Flags=", "-XX:VMOptionsFile=", "-XX:+ReadVMOptionsFile"};
	struct str program = str_slice(command, 0, str_find(command, '\0'));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (str_contains(command, str_from(files[i])))
			return true;
	return !str_has_suffix(program, STR("java")) ||
	       str_contains(command, (struct str){"\0@", 2});
}

enum state { ON, OFF, UNKNOWN };

static enum state state_of(const struct bind *b, const struct enable_flag *s)
{
	static const char *const options[] = {
	    "JAVA_TOOL_OPTIONS=", "_JAVA_OPTIONS=", "JDK_JAVA_OPTIONS="};
	const struct proc *p = b->given->proc;
	struct str environment, command;
	bool has_environment = proc_read(b->arena, p->procfs, p->pid, "environ", &environment);
	bool has_command = proc_read(b->arena, p->procfs, p->pid, "cmdline", &command);
	if (s->where == IN_ENVIRONMENT) {
		struct str value = value_of(environment, s->words);
		bool is_off = !value.n || str_eqz(value, "0");
		return !has_environment ? UNKNOWN : is_off ? OFF : ON;
	}
	if (has_word(s, command))
		return ON;
	if (s->where == IN_PROGRAM)
		return UNKNOWN;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (has_word(s, value_of(environment, options[i])))
			return ON;
	return has_environment && has_command && !hides_options(command) ? OFF : UNKNOWN;
}

/** Is the probe called @name of @m's file traced, too? */
static bool is_traced(const struct bind *b, const struct attach_match *m, const char *name)
{
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		vec_each(const struct attach_match, other, &b->found.clauses[i]->probes)
			if (other->file == m->file && str_eqz(other->probe->name, name) &&
			    str_eq(other->probe->provider, m->probe->provider))
				return true;
	return false;
}

/** What is matched first of @at, if it and all others that it matches have a flag. */
static const struct attach_match *find_flagged(const struct attach_clause *c,
					       const struct script_attach *at)
{
	const struct attach_match *first = NULL;
	vec_each(const struct attach_match, m, &c->probes) {
		if (!str_glob(at->fields.v[at->fields.n - 1], m->probe->name))
			continue;
		if (!find_flag(m))
			return NULL; // a pattern that has more is not about these
		first = first ? first : m;
	}
	return first;
}

/** @said: the flags that were said. */
static bool check_attach(const struct bind *b, const struct attach_clause *c,
			 const struct script_attach *at, struct map *said)
{
	const struct attach_match *m =
	    at->provider->place == PLACE_USDT && at->fields.n > 1 ? find_flagged(c, at) : NULL;
	const struct enable_flag *s = m ? find_flag(m) : NULL;
	if (!s || optional_covers(b, at, m->probe->name) || (s->other && is_traced(b, m, s->other)))
		return true;
	enum state state = state_of(b, s);
	if (state == ON || !map_add(b->arena, said, str_from(s->what)))
		return true;
	bool good = diag_finding(b->diag, "switch", DIAG_WARNING, tok_at(at->node->first),
				 STR_FMT ":" STR_FMT " %s: it fires only %s",
				 STR_ARG(m->probe->provider), STR_ARG(m->probe->name),
				 state == OFF ? "does not fire" : "may not fire", s->what);
	if (s->remedy)
		diag_note(b->diag, NULL, "%s", s->remedy);
	return good;
}

bool check_switches(const struct bind *b)
{
	struct map said = {0};
	bool good = true;
	for (size_t i = 0; b->given->proc && i < b->found.script.clauses.n; i++) {
		const struct attach_clause *c = b->found.clauses[i];
		for (size_t k = 0; k < c->clause->attach.n; k++)
			good &= check_attach(b, c, &c->clause->attach.v[k], &said);
	}
	return good;
}
