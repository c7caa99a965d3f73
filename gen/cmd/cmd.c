#include "cmd/cmd.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int cmd_bad_option(const char *name, char **argv, int opt)
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

int cmd_read_options(const struct cmd_options *o, int argc, char **argv, void *ctx)
{
	char letters[64];
	bool in_order = o->letters[0] == '-';
	snprintf(letters, sizeof(letters), "%s:%sh", in_order ? "-" : "", o->letters + in_order);
	int status = -1, letter;
	opterr = 0;
	while (status < 0 && (letter = getopt_long(argc, argv, letters, o->longs, NULL)) != -1) {
		if (letter == 'h') {
			fputs(o->help, stdout);
			return CMD_OK;
		}
		status = letter == '?' || letter == ':' ? cmd_bad_option(argv[0], argv, letter)
							: o->take(ctx, argv[0], letter, optarg);
	}
	return status;
}
