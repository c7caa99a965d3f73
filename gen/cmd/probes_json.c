/** The list of probes for programs; the form is described in probes_print.h. */
#include "cmd/probes_print.h"

static void add_key(struct strbuf *b, const char *key)
{
	strbuf_addf(b, "\"%s\": ", key);
}

static void add_text(struct strbuf *b, const char *key, struct str text)
{
	add_key(b, key);
	if (text.n)
		strbuf_add_json(b, text);
	else
		strbuf_addz(b, "null");
	strbuf_addz(b, ", ");
}

static void add_address(struct strbuf *b, const char *key, uint64_t v, bool known)
{
	add_key(b, key);
	if (known) {
		strbuf_addc(b, '"');
		probes_add_hex(b, v);
		strbuf_addz(b, "\", ");
	} else {
		strbuf_addz(b, "null, ");
	}
}

static void add_number(struct strbuf *b, const char *key, uint64_t v, bool known)
{
	add_key(b, key);
	if (known)
		strbuf_addf(b, "%llu, ", (unsigned long long)v);
	else
		strbuf_addz(b, "null, ");
}

/** A list is closed without the comma that its last member left. */
static void end_list(struct strbuf *b, char c)
{
	if (b->n >= 2 && b->p[b->n - 2] == ',')
		b->p[b->n -= 2] = '\0';
	strbuf_addc(b, c);
}

static void add_bool(struct strbuf *b, const char *key, bool v)
{
	strbuf_addf(b, "\"%s\": %s, ", key, v ? "true" : "false");
}

static void add_arg(struct strbuf *b, struct arena *a, const struct probearg *arg, bool of_site)
{
	strbuf_addc(b, '{');
	add_text(b, "name", arg->name);
	add_text(b, "type", arg->type ? ctype_spell(a, arg->type) : (struct str){0});
	add_text(b, "from", str_from(probearg_from_text(arg->from)));
	add_number(b, "size", arg->size, arg->size != 0);
	add_bool(b, "signed", arg->is_signed);
	add_bool(b, "float", arg->is_float);
	if (of_site) {
		add_text(b, "place", arg->operand.place);
		add_text(b, "expression", arg->expr);
	} else {
		add_text(b, "unit", arg->unit);
		add_text(b, "doc", arg->doc);
		add_number(b, "string_max", arg->string_max, arg->string_max != 0);
		strbuf_addz(b, "\"other_names\": [");
		for (size_t i = 0; i < arg->other_names.n; i++) {
			strbuf_add_json(b, arg->other_names.v[i]);
			strbuf_addz(b, ", ");
		}
		end_list(b, ']');
		strbuf_addz(b, ", ");
		add_text(b, "differs",
			 arg->types_differ   ? STR("type")
			 : arg->sizes_differ ? STR("size")
			 : arg->is_optional  ? STR("count")
					     : (struct str){0});
	}
	end_list(b, '}');
	strbuf_addz(b, ", ");
}

static void add_site(struct strbuf *b, struct arena *a, const struct probesite *s)
{
	const struct sdt_site *site = s->site;
	const char *doubt = sdt_doubt_text(site->doubt);
	strbuf_addc(b, '{');
	add_address(b, "address", site->pc, true);
	add_address(b, "offset", site->off, site->off != 0);
	add_address(b, "semaphore", site->semaphore, site->semaphore != 0);
	add_text(b, "doubt", str_from(doubt));
	add_text(b, "function", s->function);
	add_text(b, "inlined_into", s->caller);
	add_text(b, "file", s->file);
	add_number(b, "line", s->line, s->line != 0);
	strbuf_addz(b, "\"args\": [");
	for (size_t i = 0; i < s->n_args; i++)
		add_arg(b, a, &s->args[i], true);
	end_list(b, ']');
	strbuf_addz(b, "}, ");
}

/** One probe may have as many sites as a file has room for: what is written needs no memory any more. */
enum { FLUSH_BYTES = 1 << 20 };

static void add_probe(struct strbuf *b, FILE *out, struct arena *a, const struct probes_file *f,
		      size_t k)
{
	const struct sdt_probe *p = &f->probes.probes[k];
	const struct probes_extra *x = &f->extra[k];
	uint64_t semaphore = probes_semaphore(p);
	strbuf_addc(b, '{');
	add_text(b, "file", f->path);
	add_text(b, "provider", p->provider);
	add_text(b, "name", p->name);
	add_address(b, "semaphore", semaphore, semaphore != 0);
	add_number(b, "counter", x->counter, x->has_counter);
	add_text(b, "doc", x->args.doc);
	if (x->is_unsaid)
		strbuf_addz(b, "\"attachable\": null, ");
	else
		add_bool(b, "attachable", !x->why_not.n);
	add_text(b, "why_not", x->why_not);
	strbuf_addz(b, "\"args\": [");
	for (size_t i = 0; i < x->args.n_args; i++)
		add_arg(b, a, &x->args.args[i], false);
	end_list(b, ']');
	strbuf_addz(b, ", \"sites\": [");
	for (size_t i = 0; i < x->args.n_sites; i++) {
		if (b->n > FLUSH_BYTES) {
			fwrite(b->p, 1, b->n, out);
			strbuf_clear(b);
		}
		add_site(b, a, &x->args.sites[i]);
	}
	end_list(b, ']');
	strbuf_addc(b, '}');
}

void probes_print_json(FILE *out, const struct probes_file *files, size_t n_files)
{
	const char *between = "[\n";
	struct strbuf b;
	strbuf_init(&b);
	for (size_t i = 0; i < n_files; i++)
		for (size_t k = 0; k < files[i].probes.n_probes; k++) {
			struct arena scratch;
			arena_init(&scratch);
			strbuf_addz(&b, between);
			between = ",\n";
			add_probe(&b, out, &scratch, &files[i], k);
			fwrite(b.p, 1, b.n, out);
			strbuf_clear(&b);
			arena_fini(&scratch);
		}
	fputs(between[0] == '[' ? "[]\n" : "\n]\n", out);
	strbuf_fini(&b);
}
