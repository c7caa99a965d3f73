#include "cmd/cmd.h"

#include "dialect/dialect.h"
#include "process/proc.h"
#include "process/python.h"

static char own_name[32] = "btgen";
static char **words; // of the command line
static int n_words;
static word_list taken; // options, each as --NAME or --NAME=VALUE

void cmd_begin(const char *command)
{
	const char *as = getenv("BTGEN_CALLED_AS");
	if (as && strcmp(as, "bpftrace.sh") == 0)
		snprintf(own_name, sizeof(own_name), "%s", as);
	else
		snprintf(own_name, sizeof(own_name), "btgen %s", command);
	unsetenv("BTGEN_CALLED_AS"); // a btgen in the command of -c is called by another name
}

int cmd_usage_error(const char *fmt, ...)
{
	struct strbuf msg = {0}, shown = {0};
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf(&msg, fmt, ap);
	va_end(ap);
	strbuf_add_printable(&shown, strbuf_str(&msg));
	fprintf(stderr, "%s: %s\nTry '%s --help'.\n", own_name, shown.p ? shown.p : "", own_name);
	strbuf_fini(&shown);
	strbuf_fini(&msg);
	return CMD_USAGE;
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

int cmd_parse_version(const char *value, unsigned *ret)
{
	if (!dialect_parse(str_from(value), ret))
		return cmd_usage_error("--for: '%s' is not a version of bpftrace", value);
	if (*ret < DIALECT_OLDEST)
		return cmd_usage_error("--for: bpftrace %s is too old: 0.%u or newer is needed",
				       value, DIALECT_OLDEST);
	return -1;
}

const char *cmd_next_word(void)
{
	return optind < n_words && words[optind][0] != '-' ? words[optind++] : NULL;
}

/** The value can be omitted: "[=N]". */
static bool is_optional(const struct cmd_option *o)
{
	return o->value && *o->value == '[';
}

enum { COLUMNS = 80, HELP_COLUMN = 26, MAX_OPTIONS = 64, LONG = 256, LONG_HELP = LONG - 1 };

static void print_option(const struct cmd_option *o)
{
	const char *text = o->help;
	char letter[] = {'-', o->letter, '\0'};
	if (!o->letter && !o->name) {
		printf("\n%s\n", text);
		return;
	}
	int at = printf("  %s%s%s%s%s", o->letter ? letter : "    --",
			o->letter && o->name ? ", --" : "", o->name ? o->name : "",
			o->value && !is_optional(o) ? " " : "", o->value ? o->value : "");
	if (at > HELP_COLUMN - 2)
		at = printf("\n") - 1;
	for (; *text; at = 0) {
		size_t n = strlen(text);
		if (n > COLUMNS - HELP_COLUMN)
			for (n = COLUMNS - HELP_COLUMN; n && text[n] != ' ';)
				n--;
		printf("%*s%.*s\n", HELP_COLUMN - at, "", (int)n, text);
		text += n + (text[n] == ' ');
	}
}

static void print_help(const struct cmd_options *o, bool is_short)
{
	static const struct cmd_option own[] = {
	    {'h', NULL, "SCRIPT", CMD_CALL(NULL), "describe SCRIPT: usage, options, sample output"},
	    {'h', "help", NULL, CMD_CALL(NULL), "this text"},
	    {'h', "help", NULL, CMD_CALL(NULL), "show the common options; --help shows all"},
	};
	fputs(o->usage, stdout);
	fputs(is_short ? "\n" : "", stdout);
	for (const struct cmd_option *i = o->list; i->help; i++)
		if (!is_short || (i->letter && strchr(o->daily, i->letter)))
			print_option(i);
	if (o->page && !is_short)
		print_option(&own[0]);
	print_option(&own[o->daily ? 2 : 1]);
	fputs(o->notes && !is_short ? o->notes : "", stdout);
}

/** For -h and --help. */
static int help(const struct cmd_options *o, void *ctx, bool is_short)
{
	const char *word = o->page ? cmd_next_word() : NULL;
	if (word)
		return o->page(ctx, word);
	print_help(o, is_short && o->daily);
	return CMD_OK;
}

/** The long option nearest to @word, which begins with --; or NULL. */
static const char *nearest(const struct cmd_options *o, struct arena *a, const char *word)
{
	const char *near = NULL;
	unsigned best = UINT_MAX;
	struct str name = str_slice(str_from(word), 2, strcspn(word, "=") - 2);
	for (const struct cmd_option *i = o->list; i->help; i++)
		if (i->name && (str_is_nearer(name, str_from(i->name), &best) ||
				(!near && name.n && str_has_prefix(str_from(i->name), name))))
			near = arena_printf(a, "--%s", i->name);
	return str_is_nearer(name, STR("help"), &best) ? "--help" : near;
}

/** For getopt's '?' and ':'. */
static int bad_option(const struct cmd_options *o, struct arena *a, const char *word, int opt)
{
	if (opt == ':')
		return cmd_usage_error("option '%s' needs a value", word);
	if (strncmp(word, "--", 2) != 0)
		return cmd_usage_error("unknown option '-%c'", optopt);
	if (optopt)
		return cmd_usage_error("option '%.*s' takes no value", (int)strcspn(word, "="),
				       word);
	const char *near = nearest(o, a, word);
	return cmd_usage_error("unknown option '%s'%s%s%s", word, CMD_NEAR(near));
}

static int apply_option(const struct cmd_option *o, struct arena *a, void *ctx, const char *value)
{
	void *to = (char *)ctx + o->at;
	if (o->name)
		vec_push(
		    a, &taken,
		    arena_printf(a, "--%s%s%s", o->name, value ? "=" : "", value ? value : ""));
	bool is_path = o->value && (strcmp(o->value, "FILE") == 0 || strcmp(o->value, "DIR") == 0);
	if (is_path && !*value)
		return cmd_usage_error("option '--%s' needs a value", o->name);
	if (o->kind == CMD_IS_CALL)
		return o->call(ctx, value);
	if (o->kind == CMD_IS_VERSION)
		return cmd_parse_version(value, to);
	uint64_t n = 0;
	if (o->kind == CMD_IS_NUMBER &&
	    (!str_to_u64(str_from(value), &n) || n < o->least || n > o->most))
		return cmd_usage_error("--%s: '%s' is not a number from %u to %u", o->name, value,
				       o->least, o->most);
	if (o->kind == CMD_IS_NUMBER)
		*(unsigned *)to = (unsigned)n;
	else if (o->kind == CMD_IS_FLAG)
		*(bool *)to = true;
	else if (o->kind == CMD_IS_TEXT)
		*(const char **)to = value ? value : ""; // "[=N]"
	else
		vec_push(a, (word_list *)to, value);
	return -1;
}

/** What getopt_long() wants to have. */
struct for_getopt {
	char letters[2 * MAX_OPTIONS + 4];
	struct option longs[MAX_OPTIONS + 2];
	const struct cmd_option *by_letter[LONG];
};

static void report_getopt(struct for_getopt *g, const struct cmd_options *o)
{
	char *letters = stpcpy(g->letters, "-:h");
	struct option *longs = g->longs;
	*longs++ = (struct option){"help", no_argument, NULL, LONG_HELP};
	for (int i = 0; o->list[i].help; i++) {
		const struct cmd_option *row = &o->list[i];
		int has = is_optional(row) ? optional_argument
			  : row->value	   ? required_argument
					   : no_argument;
		if (i == MAX_OPTIONS)
			abort(); // a table that has outgrown it
		if (row->letter) {
			g->by_letter[(unsigned char)row->letter] = row;
			*letters++ = row->letter;
			letters = stpcpy(letters, row->value ? ":" : "");
		}
		if (row->name)
			*longs++ = (struct option){row->name, has, NULL, LONG + i};
	}
}

int cmd_read_options(const struct cmd_options *o, struct arena *a, int argc, char **argv, void *ctx)
{
	struct for_getopt g = {0};
	report_getopt(&g, o);
	const char *letters = g.letters + !o->operand; // with - in front an operand is option 1
	int status = -1, opt;
	words = argv;
	n_words = argc;
	opterr = 0;
	while (status < 0 && (opt = getopt_long(argc, argv, letters, g.longs, NULL)) != -1) {
		if (opt == 1)
			status = o->operand(ctx, optarg);
		else if (opt == 'h' || opt == LONG_HELP)
			status = help(o, ctx, opt == 'h');
		else if (opt == '?' || opt == ':')
			status = bad_option(o, a, argv[optind - 1], opt);
		else
			status = apply_option(opt < LONG ? g.by_letter[opt] : &o->list[opt - LONG],
					      a, ctx, optarg);
	}
	for (int i = optind; status < 0 && !o->operand && i < argc; i++)
		if (!*argv[i])
			status = cmd_usage_error("an argument is empty");
	return status;
}

int cmd_become_python(struct arena *a, struct diag *d, const char *program, char **operands)
{
	word_list all = {0};
	const char *self = proc_own_exe(a).p;
	vec_push(a, &all, self ? self : "btgen");
	for (size_t i = 0; i < taken.n; i++)
		vec_push(a, &all, taken.v[i]);
	vec_push(a, &all, "--");
	for (; *operands; operands++)
		vec_push(a, &all, *operands);
	vec_push(a, &all, NULL);
	fflush(stdout);
	return python_become(a, d, program, (const char *const *)all.v);
}
