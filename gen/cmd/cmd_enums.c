/** btgen enums - tables of enumerator names, ready to be included by a script. */

#include "base/json.h"
#include "base/outfile.h"
#include "cmd/cmd_source.h"
#include "conf/enumconf.h"
#include "ctype/enumtab.h"

static const char usage[] =
    "Usage: btgen enums -x FILE NAME...\n"
    "       btgen enums -p PID --conf bpf/enums.conf -o enums.bt\n"
    "       btgen enums --btf vmlinux rq_end_io_ret:ret:RQ_END_IO_\n"
    "\n"
    "Print a BEGIN probe that fills a map with the names of each enum, and an END\n"
    "probe that clears it. NAME[:MAP[:PREFIX]]: an enum, the map's name (default: the\n"
    "enum's), a prefix to strip.\n"
    "\n";

struct table {
	const struct enumconf_entry *entry;
	struct enumtab tab;
};

static bool collect(struct cmd_source *s, const struct enumconf *conf, struct table *tables,
		    size_t *ret_n)
{
	VEC(const struct enumconf_entry *) skipped = {0};
	size_t n = 0;
	bool good = true;
	vec_each(const struct enumconf_entry, e, &conf->entries) {
		struct table *t = &tables[n];
		if (enumtab_lookup(&s->lookup, e->type, &t->tab)) {
			t->entry = e;
			enumtab_strip(&t->tab, e->prefix);
			n++;
			if (!t->tab.n_items)
				diag_warning(s->diag, NULL, "enum \"" STR_FMT "\" has no values",
					     STR_ARG(e->type));
		} else if (e->is_named) {
			good = lookup_report_unknown(&s->lookup, NULL, "enum", e->type,
						     NAME_ENUM | NAME_TYPEDEF);
		} else {
			vec_push(s->arena, &skipped, e);
		}
	}
	*ret_n = n;
	for (size_t i = 0; i < skipped.n && good; i++) {
		const struct enumconf_entry *e = skipped.v[i];
		if (n == 0) // none of the list: the wrong program, or no debug information
			return lookup_report_unknown(&s->lookup, &e->place, "enum", e->type,
						     NAME_ENUM | NAME_TYPEDEF);
		diag_warning(s->diag, &e->place, "no enum \"" STR_FMT "\" in this program; skipped",
			     STR_ARG(e->type));
	}
	return good;
}

static void print_script(struct code *b, const struct table *tables, size_t n)
{
	code_z(b, "// Written by btgen enums; include it in a script or pass it along.\n");
	for (size_t i = 0; i < n; i++) {
		code_z(b, "//   @");
		code_ident(b, tables[i].entry->map);
		code_z(b, ": enum ");
		code_comment(b, tables[i].tab.name);
		code_z(b, "\n");
		for (size_t k = 0; k < tables[i].tab.n_items; k++) {
			const struct enumtab_item *item = &tables[i].tab.items[k];
			if (!item->aliases.n)
				continue;
			code_z(b, "//     ");
			code_comment(b, item->name);
			code_z(b, " is also ");
			code_comment(b, item->aliases);
			code_z(b, "\n");
		}
	}
	code_z(b, "BEGIN\n{\n");
	for (size_t i = 0; i < n; i++)
		enumtab_print(b, tables[i].entry->map, &tables[i].tab, "\t", "\n");
	code_z(b, "}\n\nEND\n{\n");
	for (size_t i = 0; i < n; i++) {
		if (!tables[i].tab.n_items)
			continue;
		code_z(b, "\tclear(@");
		code_ident(b, tables[i].entry->map);
		code_z(b, ");\n");
	}
	code_z(b, "}\n");
}

static void print_json(struct strbuf *b, const struct table *tables, size_t n)
{
	struct json j = {.out = b};
	json_open(&j, NULL, '[');
	for (size_t i = 0; i < n; i++) {
		const struct enumtab *t = &tables[i].tab;
		json_open_line(&j, " ");
		json_str(&j, "enum", t->name);
		json_str(&j, "map", tables[i].entry->map);
		json_printf(&j, "size", "%u", t->size);
		json_bool(&j, "signed", t->is_signed);
		json_open(&j, "values", '[');
		list_each(const struct enumtab_item, item, t->items, t->n_items) {
			json_open_line(&j, "  ");
			json_str(&j, "name", item->name);
			json_str(&j, "text", item->text);
			json_printf(&j, "value", t->is_signed ? "%" PRId64 : "%" PRIu64,
				    (uint64_t)item->value);
			if (item->aliases.n)
				json_str(&j, "aliases", item->aliases);
			json_close(&j, '}');
		}
		json_close(&j, ']');
		json_close(&j, '}');
	}
	json_close_lines(&j);
}

struct enums_cmd {
	struct cmd_source source;
	struct enumconf conf;
	const char *file; /**< --conf or NULL */
	bool json;
};

static const struct cmd_option list[] = {
    CMD_SOURCE_ROWS("enums"),
    {0, "conf", "FILE", CMD_STRING(struct enums_cmd, file),
     "list of tables, lines of MAP TYPE [PREFIX]; missing enums are skipped"},
    {0, "json", NULL, CMD_FLAG(struct enums_cmd, json), "print a JSON array instead of a script"},
    {0},
};

static const struct cmd_options options = {.usage = usage, .list = list};

/** The tables that @names and the list are; -1, or the exit status. */
static int read_names(struct enums_cmd *cmd, char **names, int n)
{
	struct arena *a = cmd->source.arena;
	struct diag *d = cmd->source.diag;
	if (!cmd->file && n == 0)
		return cmd_usage_error("give names of enums, or --conf FILE");
	for (int i = 0; i < n; i++)
		if (!enumconf_add_option(a, d, str_from(names[i]), &cmd->conf))
			return CMD_USAGE;
	return !cmd->file || enumconf_load(a, d, cmd->file, &cmd->conf) ? -1 : CMD_INPUT;
}

static bool run(struct enums_cmd *cmd)
{
	struct cmd_source *s = &cmd->source;
	size_t n;
	struct table *tables = arena_array(s->arena, struct table, cmd->conf.entries.n);
	if (!cmd_source_open(s) || !collect(s, &cmd->conf, tables, &n))
		return false;
	struct strbuf b = {0};
	struct code script = {0};
	if (cmd->json)
		print_json(&b, tables, n);
	else
		print_script(&script, tables, n);
	bool good = outfile_write(s->arena, s->diag, "-o", s->out,
				  cmd->json ? strbuf_str(&b) : code_str(&script));
	strbuf_fini(&b);
	code_fini(&script);
	return good;
}

int cmd_enums(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct enums_cmd cmd = {.source = {.arena = a, .diag = d}};
	int status = cmd_source_read(&cmd.source, &options, "enums", argc, argv);
	if (status < 0)
		status = read_names(&cmd, argv + optind, argc - optind);
	if (status < 0)
		status = run(&cmd) ? CMD_OK : CMD_INPUT;
	cmd_source_close(&cmd.source);
	return status;
}
