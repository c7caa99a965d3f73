/** The list of probes for programs; the form is described in probes_print.h. */
#include "listing/probes_print.h"

#include "base/json.h"

static void add_address(struct json *j, const char *key, uint64_t v, bool known)
{
	struct strbuf *b = json_value(j, key);
	strbuf_addz(b, known ? "\"" : "null");
	if (known) {
		probes_add_hex(b, v);
		strbuf_addc(b, '"');
	}
}

/** 0: not known */
static void add_number(struct json *j, const char *key, unsigned v)
{
	if (v)
		json_printf(j, key, "%u", v);
	else
		json_null(j, key);
}

static void add_arg(struct json *j, struct arena *a, const struct probearg *arg, bool of_site)
{
	json_open(j, NULL, '{');
	json_str_or_null(j, "name", arg->name);
	json_str_or_null(j, "type", arg->type ? ctype_spell(a, arg->type) : (struct str){0});
	json_str_or_null(j, "from", str_from(probearg_from_text(arg->from)));
	add_number(j, "size", arg->size);
	json_bool(j, "signed", arg->is_signed);
	json_bool(j, "float", arg->is_float);
	if (of_site) {
		json_str_or_null(j, "place", arg->operand.place);
		json_str_or_null(j, "expression", arg->expr);
	} else {
		json_str_or_null(j, "unit", arg->unit);
		json_str_or_null(j, "doc", arg->doc);
		add_number(j, "string_max", arg->string_max);
		json_open(j, "other_names", '[');
		for (size_t i = 0; i < arg->other_names.n; i++)
			json_str(j, NULL, arg->other_names.v[i]);
		json_close(j, ']');
		json_str_or_null(j, "differs",
				 arg->types_differ   ? STR("type")
				 : arg->sizes_differ ? STR("size")
				 : arg->is_optional  ? STR("count")
						     : (struct str){0});
	}
	json_close(j, '}');
}

static void add_site(struct json *j, struct arena *a, const struct probesite *s)
{
	const struct sdt_site *site = s->site;
	json_open(j, NULL, '{');
	add_address(j, "address", site->pc, true);
	add_address(j, "offset", site->off, site->off != 0);
	add_address(j, "semaphore", site->semaphore, site->semaphore != 0);
	json_str_or_null(j, "doubt", str_from(sdt_doubt_text(site->doubt)));
	json_str_or_null(j, "function", s->function);
	json_str_or_null(j, "inlined_into", s->caller);
	json_str_or_null(j, "file", s->file);
	add_number(j, "line", s->line);
	json_open(j, "args", '[');
	for (size_t i = 0; i < s->n_args; i++)
		add_arg(j, a, &s->args[i], true);
	json_close(j, ']');
	json_close(j, '}');
}

/** One probe may have as many sites as a file has room for: what is written needs no memory any more. */
enum { FLUSH_BYTES = 1 << 20 };

static void flush(struct json *j, FILE *out)
{
	fwrite(j->out->p, 1, j->out->n, out);
	strbuf_clear(j->out);
}

static void add_probe(struct json *j, FILE *out, struct arena *a, const struct probes_file *f,
		      size_t k)
{
	const struct sdt_probe *p = &f->probes.probes[k];
	const struct probes_extra *x = &f->extra[k];
	uint64_t semaphore = sdt_semaphore(p);
	json_open_line(j, "");
	json_str_or_null(j, "file", f->path);
	json_str_or_null(j, "provider", p->provider);
	json_str_or_null(j, "name", p->name);
	add_address(j, "semaphore", semaphore, semaphore != 0);
	if (x->has_counter)
		json_printf(j, "counter", "%u", x->counter);
	else
		json_null(j, "counter");
	json_str_or_null(j, "doc", x->args.doc);
	if (!x->bpftrace)
		json_null(j, "attachable");
	else
		json_bool(j, "attachable", !x->why_not.n);
	json_str_or_null(j, "why_not", x->why_not);
	json_open(j, "args", '[');
	for (size_t i = 0; i < x->args.n_args; i++)
		add_arg(j, a, &x->args.args[i], false);
	json_close(j, ']');
	json_open(j, "sites", '[');
	for (size_t i = 0; i < x->args.n_sites; i++) {
		if (j->out->n > FLUSH_BYTES)
			flush(j, out);
		add_site(j, a, &x->args.sites[i]);
	}
	json_close(j, ']');
	json_close(j, '}');
}

void probes_print_json(FILE *out, const struct probes_file *files, size_t n_files)
{
	struct strbuf b = {0};
	struct json j = {.out = &b};
	json_open(&j, NULL, '[');
	for (size_t i = 0; i < n_files; i++)
		for (size_t k = 0; k < files[i].probes.n_probes; k++) {
			struct arena scratch = {0};
			add_probe(&j, out, &scratch, &files[i], k);
			flush(&j, out);
			arena_fini(&scratch);
		}
	json_close_lines(&j);
	flush(&j, out);
	strbuf_fini(&b);
}
