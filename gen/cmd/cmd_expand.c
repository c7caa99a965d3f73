/** btgen expand - print the program that a template becomes, and facts about it. */

#include "base/json.h"
#include "base/outfile.h"
#include "cmd/expand.h"
#include "dialect/dialect.h"
#include "sema/expr.h"

static const struct cmd_option list[] = {
    EXPAND_PROCESS_ROW("look names up in this process"),
    EXPAND_FILE_ROW("look names up in this file"),
    {0, "at", "PATH", CMD_STRING(struct expand_request, at),
     "where FILE is on the machine that runs the program, if not at FILE"},
    EXPAND_FAMILY_ROWS,
    EXPAND_SCRIPT_ROWS,
    EXPAND_OUT_ROW("write to FILE, which is replaced only on success"),
    EXPAND_VERSION_ROW("write for this version of bpftrace [the one installed, else 0.17]"),
    EXPAND_JSON_ROW("print the program with its file, functions, probes and maps, as JSON"),
    EXPAND_VERBOSE_ROW("report the files chosen"),
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen expand [OPTION]... SCRIPT... [-- ARG...]\n"
	     "Print the bpftrace program that the templates expand to. Needs neither root nor\n"
	     "bpftrace.\n"
	     "\n",
    .list = list,
    .operand = expand_add_script,
};

/** Is attach point @to in the file at @path, not in one whose path only has that in it? */
static bool is_in(struct arena *a, struct str to, struct str path)
{
	return str_contains(to, str_printf(a, ":" STR_FMT ":", STR_ARG(path))) ||
	       str_contains(to, str_printf(a, ":\"" STR_FMT "\":", STR_ARG(path)));
}

/** The functions of its file that the program attaches to by their names. */
static void add_functions(struct json *j, struct arena *a, const struct expansion *x)
{
	json_open(j, "functions", '[');
	vec_each(struct script_clause *const, c, &x->bind.found.script.clauses)
		vec_each(const struct script_attach, at, &(*c)->attach)
			vec_each(const struct str, to, &at->bound) {
				struct str name = str_last(*to, ':');
				if (provider_is_function(at->provider) &&
				    is_in(a, *to, x->files.list.v[0].path) &&
				    !isdigit((unsigned char)*name.p))
					json_bytes(j, NULL, name);
			}
	json_close(j, ']');
}

/** The file of the target: its path there, where it was read, its build ID and where that is in it. */
static void add_file(struct json *j, struct arena *a, struct expansion *x)
{
	const struct targetfile *f = &x->files.list.v[0];
	struct img *img = targetfile_open(&x->files, &x->files.list.v[0]);
	json_open(j, "file", '{');
	json_bytes(j, "path", f->path);
	json_bytes(j, "read", f->open_path);
	json_str_or_null(j, "build_id", img ? str_hex(a, img->build_id) : STR(""));
	json_printf(j, "build_id_offset", "%" PRIu64, img ? img->build_id_off : 0);
	add_functions(j, a, x);
	json_close(j, '}');
}

/** The USDT probes of the target that the program attaches to, PROVIDER:NAME. */
static void add_probes(struct json *j, struct arena *a, const struct bind *b)
{
	struct map seen = {0};
	json_open(j, "probes", '[');
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		vec_each(const struct attach_match, m, &b->found.clauses[i]->probes) {
			struct str name =
			    str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(m->probe->provider),
				       STR_ARG(m->probe->name));
			if (map_add(a, &seen, name))
				json_bytes(j, NULL, name);
		}
	json_close(j, ']');
}

/** What the uses of a map make of it. */
struct summary {
	struct str function; /**< that aggregates into it, or empty */
	bool has_key;
	bool is_signed;	 /**< a number that it aggregates can be negative */
	bool is_cleared; /**< END empties it, or that is not known */
};

static void look_at_use(const struct use *u, struct summary *m)
{
	static const char *const functions[] = {"count", "sum",	 "min",	  "max",     "avg",
						"stats", "hist", "lhist", "tseries", NULL};
	const struct node *call = u->value;
	m->has_key |= u->node->kind == NODE_MAP && u->node->child;
	m->is_cleared |=
	    (u->does & USE_OPAQUE) || ((u->does & USE_EMPTIES) && use_is_in(u, WHEN_END));
	if (!call || call->kind != NODE_CALL || !tok_is_any(call->name, functions))
		return;
	const struct expr *e = call->child ? call->child->expr : NULL;
	m->function = call->name->text;
	m->is_signed |= call->child && (!e || (e->sign != SIGN_NONE && e->sign != SIGN_UNSIGNED));
}

static void add_maps(struct json *j, const struct uses *uses)
{
	json_open(j, "maps", '[');
	for (struct map_entry *e = NULL; (e = map_next(&uses->maps, e));) {
		struct summary m = {0};
		for (const struct use *u = uses_of_map(uses, e->key); u; u = u->next)
			look_at_use(u, &m);
		json_open(j, NULL, '{');
		json_str(j, "name", e->key);
		json_str_or_null(j, "function", m.function);
		json_bool(j, "key", m.has_key);
		json_bool(j, "signed", m.is_signed);
		json_bool(j, "cleared", m.is_cleared);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/** What must be set for bpftrace; the user's own setting is kept. */
static void add_environment(struct json *j, const struct bind *b)
{
	unsigned v = b->given->version;
	json_open(j, "environment", '{');
	if (b->made->max_strlen)
		json_printf(j, dialect_strlen_variable(v), "\"%u\"", b->made->max_strlen);
	if (dialect_closes_descriptors(v))
		json_str(j, "GLIBC_TUNABLES", STR(DIALECT_FILLS_MEMORY));
	json_close(j, '}');
	json_bool(j, "kernel_types_by_number", dialect_finds_types_by_number(v));
}

static struct str write_json(struct arena *a, struct expansion *x)
{
	struct strbuf text = {0};
	struct json j = {.out = &text};
	const struct bind *b = &x->bind;
	json_open(&j, NULL, '{');
	json_printf(&j, "version", "\"" DIALECT_FMT "\"", DIALECT_ARG(b->given->version));
	json_bytes(&j, "program", strbuf_str(&x->program.text));
	json_bool(&j, "unsafe", b->found.unsafe != NULL);
	add_environment(&j, b);
	if (x->files.list.n)
		add_file(&j, a, x);
	else
		json_null(&j, "file");
	add_probes(&j, a, b);
	add_maps(&j, &b->found.uses);
	json_close(&j, '}');
	strbuf_addc(&text, '\n');
	return strbuf_take(&text, a);
}

int cmd_expand(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct expand_request req = {.arena = a, .given.is_bare = true};
	struct expansion x = {0};
	int status = expand_read_options(&options, "expand", argc, argv, &req);
	if (status < 0 && req.at && !req.exe)
		status = cmd_usage_error("--at needs -x FILE");
	if (status >= 0)
		return status;
	expand_choose_version(a, d, &req);
	bool good = expand_choose_cgroup(d, &req) && expand_run(a, d, &req, &x) &&
		    outfile_write(a, d, "-o", req.out,
				  req.json ? write_json(a, &x) : strbuf_str(&x.program.text));
	expand_close(&x);
	return good ? CMD_OK : CMD_INPUT;
}
