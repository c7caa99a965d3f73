/** btgen types - definitions of named types and of all they embed, as C. */

#include "base/json.h"
#include "base/outfile.h"
#include "cmd/cmd_source.h"
#include "ctype/cprint.h"
#include "elf/imgsym.h"

static const char usage[] =
    "Usage: btgen types -x FILE NAME...\n"
    "       btgen types -p PID --bpftrace 'struct spdk_nvmf_subsystem'\n"
    "       btgen types --btf vmlinux --assert task_struct | gcc -xc -fsyntax-only -\n"
    "\n"
    "Print C definitions of the named structs, unions and enums and of everything\n"
    "that they embed by value, with the layout that the program's debug information\n"
    "records. Names may be typedefs and C++ names (ns::Outer::Inner, vec<int>).\n"
    "\n";

struct types_cmd {
	struct cmd_source source;
	unsigned follow;
	bool asserts, bpftrace, json, keep_going, list;
	const char *at;
	struct map steps;     /**< address of a ctype -> pointers away from what was asked for */
	struct kbtf *running; /**< the kernel's types, or NULL */
	struct map renamed;   /**< tags that it has, too */
};

/** Pointers are followed a number of steps: the distance of a type is kept when it is first met. */
static bool follow(void *ctx, struct ctype *owner, const struct ctype_member *m)
{
	struct types_cmd *cmd = ctx;
	struct arena *a = cmd->source.arena;
	// 1 + distance; unknown: embedded in the last
	uintptr_t steps = (uintptr_t)map_get_ptr(&cmd->steps, owner);
	if (!steps)
		steps = 1;
	if (steps > cmd->follow)
		return false;
	struct ctype *t = m->type;
	while (t &&
	       (t->kind == CTYPE_POINTER || t->kind == CTYPE_REFERENCE || t->kind == CTYPE_ARRAY ||
		t->kind == CTYPE_TYPEDEF || t->kind == CTYPE_CONST || t->kind == CTYPE_VOLATILE))
		t = t->of;
	if (t && !map_get_ptr(&cmd->steps, t))
		map_put_ptr(a, &cmd->steps, t, (void *)(steps + 1));
	return true;
}

/** With two structs of one tag bpftrace takes sizeof from the kernel's. */
static bool is_kernels(void *ctx, struct str tag)
{
	struct types_cmd *cmd = ctx;
	if (!kbtf_has_tag(cmd->running, tag))
		return false;
	if (map_add(cmd->source.arena, &cmd->renamed, str_copy(cmd->source.arena, tag)))
		diag_warning(cmd->source.diag, NULL,
			     "the kernel also has a type " STR_FMT
			     ": this one is printed as " CLOSURE_PREFIX STR_FMT,
			     STR_ARG(tag), STR_ARG(tag));
	return true;
}

static void json_size(struct json *j, struct ctype *t)
{
	uint64_t size;
	if (t && ctype_size(t, &size))
		json_printf(j, "size", "%" PRIu64, size);
}

static void json_member(struct json *j, struct arena *a, const struct ctype_member *m)
{
	json_open_line(j, "  ");
	json_str(j, "name", m->name);
	json_str(j, "type", ctype_spell(a, m->type));
	json_printf(j, "offset", "%" PRIu64, m->off);
	if (m->bit_size) {
		json_printf(j, "bit_offset", "%" PRIu64, m->bit_off);
		json_printf(j, "bit_size", "%u", m->bit_size);
	}
	json_size(j, m->type);
	if (m->is_base)
		json_bool(j, "base", true);
	json_close(j, '}');
}

static void json_type(struct json *j, struct arena *a, struct str name, struct ctype *t)
{
	struct ctype *s = ctype_strip(t);
	json_open_line(j, " ");
	json_str(j, "name", s && s->name.n ? s->name : name);
	json_str(j, "type", s ? ctype_spell(a, s) : STR("void"));
	json_size(j, s);
	if (s && s->unit.n)
		json_str(j, "unit", s->unit);
	if (s && ctype_is_aggregate(s) && ctype_complete(s)) {
		json_open(j, "members", '[');
		for (size_t i = 0; i < s->n_members; i++)
			json_member(j, a, &s->members[i]);
		json_close(j, ']');
	}
	if (s && s->kind == CTYPE_ENUM && ctype_complete(s)) {
		json_open(j, "values", '[');
		for (size_t i = 0; i < s->n_values; i++) {
			json_open(j, NULL, '{');
			json_str(j, "name", s->values[i].name);
			json_printf(j, "value", s->is_signed ? "%" PRId64 : "%" PRIu64,
				    s->values[i].value);
			json_close(j, '}');
		}
		json_close(j, ']');
	}
	json_close(j, '}');
}

/** A typedef that was asked for by name is there under that name in plain C. */
static void print_typedef(struct code *b, struct closure *c, struct ctype *t)
{
	const char *type = cprint_type_name(c, t->of);
	struct str as = str_from(type);
	if (!as.n || str_eq(as, t->name) || !str_is_ident(t->name))
		return;
	code_f(b, "typedef %s%s", type, type[as.n - 1] == '*' ? "" : " ");
	code_ident(b, t->name);
	code_z(b, ";\n");
}

struct list {
	struct types_cmd *cmd;
	char **patterns;
	int n;
	struct map names;  /**< "struct foo", in the order of the file -> "struct " */
	struct strbuf buf; /**< the name at hand: most come many times */
};

static void add_name(void *ctx, unsigned kind, struct str name)
{
	static const char *const words[] = {"struct ", "union ", "enum ", "", ""};
	struct list *l = ctx;
	struct arena *a = l->cmd->source.arena;
	const char *word = words[__builtin_ctz(kind)];
	bool fits = l->n == 0;
	for (int i = 0; i < l->n && !fits; i++)
		fits = str_glob(str_from(l->patterns[i]), name);
	if (!fits)
		return;
	strbuf_clear(&l->buf);
	strbuf_addz(&l->buf, word);
	strbuf_adds(&l->buf, name);
	if (!map_get(&l->names, strbuf_str(&l->buf)))
		map_put(a, &l->names, str_copy(a, strbuf_str(&l->buf)), (char *)word);
}

/** The first two members of what --json prints of a type. */
static void print_names_json(struct strbuf *b, const struct map *names)
{
	struct json j = {.out = b};
	json_open(&j, NULL, '[');
	for (struct map_entry *e = NULL; (e = map_next(names, e));) {
		json_open_line(&j, " ");
		json_str(&j, "name", str_from_offset(e->key, strlen(e->value)));
		json_str(&j, "type", e->key);
		json_close(&j, '}');
	}
	json_close_lines(&j);
}

static bool list_names(struct types_cmd *cmd, char **patterns, int n)
{
	struct cmd_source *s = &cmd->source;
	struct list l = {.cmd = cmd, .patterns = patterns, .n = n};
	bool any = lookup_walk(&s->lookup, NAME_TYPES, add_name, &l);
	strbuf_fini(&l.buf);
	struct strbuf b = {0};
	if (cmd->json)
		print_names_json(&b, &l.names);
	for (struct map_entry *e = NULL; !cmd->json && (e = map_next(&l.names, e));) {
		strbuf_add_printable(&b, e->key);
		strbuf_addc(&b, '\n');
	}
	bool is_none = any && !l.names.n;
	for (int i = 0; i < n && is_none; i++)
		any = diag_error(s->diag, NULL, "no type matches '%s'", patterns[i]);
	any = any && outfile_write(s->arena, s->diag, "-o", s->out, strbuf_str(&b));
	strbuf_fini(&b);
	return any;
}

/** Finds the function of --at and with it the unit that is preferred. */
static bool prefer(struct types_cmd *cmd)
{
	struct dwtypes *t = &cmd->source.images;
	uint64_t addr;
	for (size_t i = 0; i < t->images.n; i++)
		if (img_find_function(t->images.v[i]->img, str_from(cmd->at), &addr))
			return dwtypes_ask_at(t, t->images.v[i], addr) ||
			       diag_error(t->diag, NULL,
					  "--at: no debug information about function \"%s\"",
					  cmd->at);
	return diag_error(t->diag, NULL, "--at: no function \"%s\"", cmd->at);
}

struct output {
	struct closure c;
	struct json j;
	VEC(struct ctype *) typedefs;
};

/** Adds the type of that name; false after an error. */
static bool add_type(struct types_cmd *cmd, struct output *o, struct str name)
{
	struct cmd_source *s = &cmd->source;
	struct ctype *t;
	struct str tag;
	if (!lookup_type(&s->lookup, name, NAME_TYPES, &t))
		return lookup_report_unknown(&s->lookup, NULL, "type", name, NAME_TYPES);
	if (cmd->json) {
		json_type(&o->j, s->arena, name, t);
		return true;
	}
	// A typedef of a pointer means its pointee.
	struct ctype *target = ctype_strip(t);
	for (int k = 0; target && target->kind == CTYPE_POINTER && k < 8; k++)
		target = ctype_strip(target->of);
	bool has_definition = target && (ctype_is_aggregate(target) || target->kind == CTYPE_ENUM);
	if (has_definition && !closure_add(&o->c, target, t->name, &tag))
		return false;
	if (t->kind == CTYPE_TYPEDEF && !cmd->bpftrace)
		vec_push(s->arena, &o->typedefs, t);
	else if (!has_definition)
		diag_warning(s->diag, NULL,
			     "\"" STR_FMT "\" is not a struct, union or enum: nothing to define",
			     STR_ARG(name));
	return true;
}

static bool run(struct types_cmd *cmd, char **names, int n)
{
	struct cmd_source *s = &cmd->source;
	if (!cmd_source_open(s) || (cmd->at && !prefer(cmd)))
		return false;
	if (cmd->list)
		return list_names(cmd, names, n);
	struct closure_options opt = {
	    .follow = cmd->follow ? follow : NULL, .ctx = cmd, .for_bpftrace = cmd->bpftrace};
	// For definitions that bpftrace is to have beside its own of the kernel.
	if (cmd->bpftrace && !s->btf && access(KBTF_KERNEL, R_OK) == 0 &&
	    kbtf_open(s->arena, s->diag, KBTF_KERNEL, &cmd->running))
		opt.is_taken = is_kernels;
	struct strbuf b = {0};
	struct code text = {0};
	struct output o = {.j = {.out = &b}};
	closure_init(&o.c, s->arena, s->diag, &opt);
	int n_good = 0;
	json_open(&o.j, NULL, '[');
	for (int i = 0; i < n; i++)
		n_good += add_type(cmd, &o, str_from(names[i]));
	json_close_lines(&o.j);
	bool good = n_good == n;
	if (!cmd->json)
		good &= cprint_definitions(&text, &o.c, cmd->asserts);
	for (size_t i = 0; i < o.typedefs.n; i++)
		print_typedef(&text, &o.c, o.typedefs.v[i]);
	if (good || (cmd->keep_going && n_good))
		good = outfile_write(s->arena, s->diag, "-o", s->out,
				     cmd->json ? strbuf_str(&b) : code_str(&text));
	strbuf_fini(&b);
	code_fini(&text);
	kbtf_close(cmd->running);
	return good;
}

static const struct cmd_option list[] = {
    CMD_SOURCE_ROWS("types"),
    {0, "at", "FUNCTION", CMD_STRING(struct types_cmd, at),
     "if source files define a name differently, use the definition in FUNCTION's file"},
    {0, "follow", "N", CMD_NUMBER(struct types_cmd, follow, 0, 100),
     "also define the types that pointers lead to, N levels deep (default 0: void *)"},
    {0, "assert", NULL, CMD_FLAG(struct types_cmd, asserts),
     "add _Static_assert for every size and offset"},
    {0, "bpftrace", NULL, CMD_FLAG(struct types_cmd, bpftrace),
     "write only what every bpftrace accepts: no enums or typedefs, names respelled"},
    {0, "keep-going", NULL, CMD_FLAG(struct types_cmd, keep_going),
     "omit types that cannot be written, and exit 0 if any could"},
    {'l', "list", NULL, CMD_FLAG(struct types_cmd, list),
     "list the names of types that match the patterns (* and ?)"},
    {0, "json", NULL, CMD_FLAG(struct types_cmd, json),
     "print a JSON array of the types instead of C"},
    {'v', "verbose", NULL, CMD_FLAG(struct types_cmd, source.images.verbose),
     "report the definitions of a name that were not compared"},
    {0},
};

static const struct cmd_options options = {.usage = usage, .list = list};

int cmd_types(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct types_cmd cmd = {.source = {.arena = a, .diag = d}};
	int status = cmd_source_read(&cmd.source, &options, "types", argc, argv), n = argc - optind;
	if (status >= 0)
		return status;
	if (cmd.list && (cmd.at || cmd.follow || cmd.asserts || cmd.bpftrace || cmd.keep_going))
		return cmd_usage_error("-l lists names only: it excludes --at, --follow, --assert, "
				       "--bpftrace and --keep-going");
	if (cmd.json && (cmd.asserts || cmd.bpftrace))
		return cmd_usage_error("--json excludes --assert and --bpftrace, which are for C");
	if (!n && !cmd.list)
		return cmd_usage_error("give names of types");
	status = run(&cmd, argv + optind, n) ? CMD_OK : CMD_INPUT;
	cmd_source_close(&cmd.source);
	return status;
}
