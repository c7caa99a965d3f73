/** btgen check - what is wrong with a script, before anything is attached. */

#include "base/json.h"
#include "base/outfile.h"
#include "lock/lock.h"
#include "cmd/expand.h"
#include "dialect/dialect.h"

/** 0.17,0.23 */
static int parse_versions(void *request, const char *value)
{
	struct expand_request *req = request;
	req->versions.n = 0;
	for (struct str left = str_from(value); left.n || !req->versions.n;) {
		size_t comma = str_find(left, ',');
		const char *one = str_dup(req->arena, str_slice(left, 0, comma));
		int status = cmd_parse_version(one, &req->given.version);
		if (status >= 0)
			return status;
		vec_push(req->arena, &req->versions, req->given.version);
		left = str_from_offset(left, comma + 1);
	}
	return -1;
}

static const struct cmd_option list[] = {
    EXPAND_PROCESS_ROW("check against this process, given by PID or name"),
    EXPAND_FILE_ROW("check against this file"),
    EXPAND_SCRIPT_ROWS,
    {0, "for", "VERSION[,VERSION...]", CMD_CALL(parse_versions),
     "check for these versions of bpftrace [the one installed, else 0.17]"},
    EXPAND_JSON_ROW("print findings as one JSON array"),
    {0, "lock", "FILE", CMD_STRING(struct expand_request, lock),
     "write a lock file, the facts that the scripts rely on; compare with one that exists"},
    {0, "update", NULL, CMD_FLAG(struct expand_request, update),
     "with --lock: rewrite a lock file that differs"},
    {0, "against", "FILE", CMD_STRING(struct expand_request, against),
     "report differences from a lock file"},
    EXPAND_VERBOSE_ROW("report the files chosen"),
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen check [OPTION]... SCRIPT... [-- ARG...]\n"
	     "Report mistakes in the templates. Attaches nothing; needs neither root nor\n"
	     "bpftrace. With --lock or --against each SCRIPT is checked on its own; otherwise\n"
	     "all are parts of one program.\n"
	     "Exit status: 0 no errors, 1 errors.\n"
	     "\n",
    .list = list,
    .operand = expand_add_script,
};

static int parse(int argc, char **argv, struct expand_request *req)
{
	int status = expand_read_options(&options, "check", argc, argv, req);
	if (status >= 0 || (!req->lock && !req->against && !req->update))
		return status;
	if (req->versions.n > 1)
		return cmd_usage_error("--lock and --against need one version: --for " DIALECT_FMT,
				       DIALECT_ARG(req->given.version));
	if (req->lock && req->against)
		return cmd_usage_error("give --lock or --against, not both");
	if (req->update && !req->lock)
		return cmd_usage_error("--update needs --lock");
	if (!req->exe && !req->pids.n)
		return cmd_usage_error("give the program, with -x or -p");
	return -1;
}

static bool expand(struct arena *a, struct diag *d, const struct expand_request *req,
		   struct expansion *x)
{
	return expand_as_run(a, d, req, x) && expand_check_reach(d, req, x, DIAG_WARNING);
}

/** Each script by itself, and what they rely on together. */
static bool check_lock(struct arena *a, struct diag *d, const struct expand_request *req,
		       struct expansion *x)
{
	struct lock lock = {.arena = a};
	struct expand_request one = *req;
	bool good = true;
	if (!expand_spares_scripts(d, req, "--lock", req->lock))
		return false;
	one.given.lock = &lock;
	one.sources.n = 1;
	for (size_t i = 0; i < req->sources.n; i++) {
		one.sources.v = &req->sources.v[i];
		expand_close(x);
		good &= expand(a, d, &one, x);
		lock_add_names(&x->bind);
	}
	enum lock_state state = req->lock ? lock_look(&lock, d, req->lock) : LOCK_DIFFERENT;
	if (state == LOCK_EMPTY || (state == LOCK_DIFFERENT && req->update))
		return good && lock_write(&lock, d, req->lock);
	if (state != LOCK_DIFFERENT)
		return good && state == LOCK_EQUAL;
	unsigned n_before = d->n_errors + d->n_warnings;
	d->is_strict = req->strict;
	d->is_forced = req->forced;
	good &= lock_check(&x->bind, req->lock ? req->lock : req->against);
	if (!req->lock || d->n_errors + d->n_warnings == n_before)
		return good;
	diag_note(d, diag_at({.file = str_from(req->lock)}), "is unchanged: --update rewrites it");
	return false;
}

/** A message with its notes, and the versions that it applies to. */
struct shared {
	struct diag_message *messages;
	size_t n;
	VEC(const char *) versions;
};

/** Messages with equal keys are one: all text, but for the number of the version. */
static struct str shared_key(struct arena *a, const struct shared *s, const char *version)
{
	struct str name = str_printf(a, "bpftrace %s", version);
	struct strbuf b = {0};
	list_each(const struct diag_message, m, s->messages, s->n) {
		strbuf_addf(&b, "%d %u:%u ", (int)m->level, m->at.line, m->at.col);
		strbuf_adds(&b, m->at.file);
		strbuf_addf(&b, " %s ", m->name ? m->name : "");
		for (size_t at = 0; at < m->text.n; at++) {
			bool is_name = str_has_prefix(str_from_offset(m->text, at), name);
			strbuf_addc(&b, is_name ? '*' : m->text.p[at]);
			at += is_name ? name.n - 1 : 0;
		}
		strbuf_addc(&b, '\n');
	}
	return strbuf_take(&b, a);
}

/** Adds what @log has to @all, by shared_key(): each message once. */
static void merge(struct arena *a, struct map *all, const struct diag_log *log, const char *version)
{
	for (size_t i = 0; i < log->messages.n;) {
		struct shared *s = arena_new(a, struct shared);
		*s = (struct shared){.messages = &log->messages.v[i], .n = 1};
		while (i + s->n < log->messages.n && s->messages[s->n].level == DIAG_NOTE)
			s->n++;
		i += s->n;
		struct str key = shared_key(a, s, version);
		struct shared *known = map_get(all, key);
		if (!known)
			map_put(a, all, key, known = s);
		if (!known->versions.n || known->versions.v[known->versions.n - 1] != version)
			vec_push(a, &known->versions, version);
	}
}

static void show_merged(struct diag *d, const struct map *all, size_t n_versions)
{
	for (struct map_entry *e = NULL; (e = map_next(all, e));) {
		const struct shared *s = e->value;
		d->for_versions = s->versions.v;
		d->n_versions = s->versions.n;
		d->is_for_all = s->versions.n >= n_versions;
		for (size_t k = 0; k < s->n; k++)
			diag_show(d, &s->messages[k]);
	}
	d->for_versions = NULL;
	d->n_versions = 0;
	d->is_for_all = false;
}

/** For several versions: a message that applies to more of them is printed once. */
static bool check_versions(struct arena *a, struct diag *d, const struct expand_request *req,
			   struct expansion *x)
{
	struct expand_request one = *req;
	struct map all = {0};
	bool good = true;
	for (size_t i = 0; i < req->versions.n; i++) {
		struct diag_log log = {.arena = a};
		one.given.version = req->versions.v[i];
		expand_close(x);
		d->n_errors = 0; // or nothing would be made for the next
		d->log = &log;
		good &= expand(a, d, &one, x);
		d->log = NULL;
		merge(a, &all, &log, arena_printf(a, DIALECT_FMT, DIALECT_ARG(one.given.version)));
	}
	show_merged(d, &all, req->versions.n);
	return good;
}

static bool check_all(struct arena *a, struct diag *d, const struct expand_request *req,
		      struct expansion *x)
{
	if (req->versions.n > 1)
		return check_versions(a, d, req, x);
	return req->lock || req->against ? check_lock(a, d, req, x) : expand(a, d, req, x);
}

/** The findings as one array; true unless writing fails. */
static bool check_to_json(struct arena *a, struct diag *d, const struct expand_request *req,
			  struct expansion *x)
{
	struct strbuf text = {0};
	struct json j = {.out = &text};
	json_open(&j, NULL, '[');
	d->json = &j;
	bool good = check_all(a, d, req, x);
	diag_end_json(d);
	d->json = NULL;
	json_close_lines(&j);
	good &= outfile_write(a, d, NULL, NULL, strbuf_str(&text));
	strbuf_fini(&text);
	return good;
}

int cmd_check(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct expand_request req = {.arena = a};
	struct expansion x = {0};
	int status = parse(argc, argv, &req);
	if (status >= 0)
		return status;
	expand_choose_version(a, d, &req);
	bool good = req.json ? check_to_json(a, d, &req, &x) : check_all(a, d, &req, &x);
	expand_close(&x);
	return good ? CMD_OK : CMD_INPUT;
}
