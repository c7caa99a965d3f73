#include "doctor/facts.h"

#include "dialect/dialect.h"

static void add_version(struct json *j, const char *key, unsigned version)
{
	if (version)
		json_printf(j, key, "\"" DIALECT_FMT "\"", DIALECT_ARG(version));
	else
		json_null(j, key);
}

static void add_capabilities(struct json *j, const char *key, uint64_t set)
{
	json_open(j, key, '[');
	for (const char *name; (name = privilege_next_name(&set));)
		json_str(j, NULL, str_from(name));
	json_close(j, ']');
}

static void add_rights(struct json *j, const struct privilege *p, unsigned version)
{
	json_open(j, "rights", '{');
	if (p->user >= 0)
		json_printf(j, "user", "%ld", p->user);
	else
		json_null(j, "user");
	json_bool(j, "known", !p->is_unknown);
	add_capabilities(j, "has", p->set);
	add_capabilities(j, "needed", privilege_needed(version));
	add_capabilities(j, "missing", privilege_missing(p, version));
	json_bool(j, "functions", privilege_may_uprobe(p));
	json_close(j, '}');
}

static void add_limits(struct json *j, unsigned v)
{
	unsigned kernel = dialect_oldest_kernel(v);
	json_open(j, "limits", '{');
	json_printf(j, "string", "%u", dialect_strlen_ceiling(v, 1));
	json_printf(j, "enum", "%u", dialect_max_table(v));
	if (dialect_max_usdt(v) != UINT_MAX)
		json_printf(j, "probes_at_once", "%u", dialect_max_usdt(v));
	else
		json_null(j, "probes_at_once");
	json_printf(j, "kernel", "\"%u.%u\"", kernel / 1000, kernel % 1000);
	json_bool(j, "takes_capabilities", dialect_takes_capabilities(v));
	json_bool(j, "has_libbpf_usdt", dialect_has_libbpf_usdt(v));
	json_bool(j, "has_host_pids", dialect_has_host_pids(v));
	json_bool(j, "finds_types_by_number", dialect_finds_types_by_number(v));
	json_close(j, '}');
}

static void add_defects(struct json *j, unsigned version)
{
	json_open(j, "defects", '[');
	for (const struct dialect_defect *d = dialect_defects; d->text; d++)
		if (version && dialect_is_within(version, d->from, d->to)) {
			json_open(j, NULL, '{');
			json_str(j, "text", str_from(d->text));
			json_str(j, "remedy", str_from(d->remedy));
			json_close(j, '}');
		}
	json_close(j, ']');
}

unsigned facts_add_machine(struct arena *a, struct json *j, const char *procfs, const char *wanted)
{
	struct diag_log log = {.arena = a};
	struct diag d = {.log = &log};
	struct bpftrace bt;
	struct privilege may;
	int status = bpftrace_find(a, &d, wanted, false, &bt);
	privilege_read(a, procfs, bt.path, &may);
	json_open(j, "bpftrace", '{');
	json_bytes(j, "path", str_from(bt.path));
	add_version(j, "version", bt.version);
	json_printf(j, "status", "%d", status);
	json_bool(j, "is_too_old", bt.version && bt.version < DIALECT_OLDEST);
	json_bool(j, "is_newer", bt.version > DIALECT_NEWEST);
	add_version(j, "oldest", DIALECT_OLDEST);
	json_close(j, '}');
	if (!status)
		allowed_to_run(a, &d, &may, bt.version);
	json_str_or_null(j, "obstacle", log.messages.n ? log.messages.v[0].text : STR(""));
	add_rights(j, &may, bt.version);
	add_limits(j, bt.version);
	add_defects(j, bt.version);
	return bt.version;
}
