#include "cmd/cmd.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/dialect.h"

int cmd_usage_error(const char *name, const char *fmt, ...)
{
	struct strbuf msg, shown;
	strbuf_init(&msg);
	strbuf_init(&shown);
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf(&msg, fmt, ap);
	va_end(ap);
	strbuf_add_printable(&shown, strbuf_str(&msg));
	const char *text = shown.p ? shown.p : "", *as = getenv("BTGEN_CALLED_AS");
	if (as && strcmp(as, "bpftrace.sh") == 0)
		fprintf(stderr, "%s: %s\nTry '%s --help'.\n", as, text, as);
	else
		fprintf(stderr, "btgen %s: %s\nTry 'btgen %s --help'.\n", name, text, name);
	strbuf_fini(&shown);
	strbuf_fini(&msg);
	return CMD_USAGE;
}

/** For getopt's '?' and ':'. */
static int bad_option(const char *name, char **argv, int opt)
{
	const char *word = argv[optind - 1];
	if (opt == ':')
		return cmd_usage_error(name, "option '%s' needs a value", word);
	if (optopt && strncmp(word, "--", 2) != 0)
		return cmd_usage_error(name, "unknown option '-%c'", optopt);
	return cmd_usage_error(name, "unknown option '%s'", word);
}

bool cmd_parse_pid(const char *text, int *ret)
{
	uint64_t v;
	struct str s = str_from(text);
	if (!s.n || s.p[0] == '0' || !str_to_u64(s, &v) || v > INT_MAX)
		return false;
	*ret = (int)v;
	return true;
}

int cmd_take_version(const char *command, const char *value, unsigned *ret)
{
	if (!dialect_parse(str_from(value), ret))
		return cmd_usage_error(command, "--for: '%s' is not a version of bpftrace", value);
	return -1;
}

enum { MAX_OPTIONS = 48, HELP_COLUMN = 25 };

static const struct cmd_option help_option = {'h', "help", NULL, "this text"};

/** The value may be left out: "[=N]". */
static bool is_optional(const struct cmd_option *o)
{
	return o->value && *o->value == '[';
}

static void print_option(const struct cmd_option *o)
{
	bool is_short = o->letter < CMD_FOR;
	char letter[] = {'-', (char)o->letter, '\0'};
	int n = printf("  %s%s%s%s%s", is_short ? letter : "    --",
		       is_short && o->name ? ", --" : "", o->name ? o->name : "",
		       o->value && !is_optional(o) ? " " : "", o->value ? o->value : "");
	printf("%*s%s\n", HELP_COLUMN - n, "", o->help);
}

static void print_help(const struct cmd_options *o)
{
	fputs(o->usage, stdout);
	for (const struct cmd_option *i = o->list; i->letter; i++)
		print_option(i);
	print_option(&help_option);
	fputs(o->notes ? o->notes : "", stdout);
}

/** What getopt_long() wants to have. */
struct for_getopt {
	char letters[2 * MAX_OPTIONS + 4];
	struct option longs[MAX_OPTIONS + 1];
	size_t n_letters, n_longs;
};

static void tell_getopt(struct for_getopt *g, const struct cmd_option *o)
{
	if (o->letter < CMD_FOR)
		g->letters[g->n_letters++] = (char)o->letter;
	if (o->letter < CMD_FOR && o->value)
		g->letters[g->n_letters++] = ':';
	if (o->name)
		g->longs[g->n_longs++] = (struct option){o->name,
							 is_optional(o) ? optional_argument
							 : o->value	? required_argument
									: no_argument,
							 NULL, o->letter};
}

int cmd_read_options(const struct cmd_options *o, int argc, char **argv, void *ctx)
{
	struct for_getopt g = {.letters = "-:"};
	g.n_letters = strlen(g.letters);
	for (size_t i = 0; o->list[i].letter; i++) {
		if (i == MAX_OPTIONS - 1)
			abort(); // a table that has outgrown it
		tell_getopt(&g, &o->list[i]);
	}
	tell_getopt(&g, &help_option);
	const char *letters = g.letters + !o->in_order; // with - in front an operand is option 1
	int status = -1, letter;
	opterr = 0;
	while (status < 0 && (letter = getopt_long(argc, argv, letters, g.longs, NULL)) != -1) {
		if (letter == 'h') {
			print_help(o);
			return CMD_OK;
		}
		status = letter == '?' || letter == ':' ? bad_option(argv[0], argv, letter)
							: o->take(ctx, argv[0], letter, optarg);
	}
	return status;
}
