#include "doctor/finding.h"

#include "base/json.h"

static const char *const states[] = {"ok", "warning", "error"};

void finding_add(struct findings *f, enum finding_state state, const char *name, const char *remedy,
		 const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	struct str text = str_from(arena_vprintf(f->arena, fmt, ap));
	va_end(ap);
	vec_push(f->arena, &f->list,
		 (struct finding){.state = state,
				  .about = f->about,
				  .name = name,
				  .text = text,
				  .remedy = str_copy(f->arena, str_from(remedy))});
	f->n_errors += state == FINDING_ERROR;
}

void findings_print(const struct findings *f, FILE *out)
{
	struct strbuf b = {0};
	const char *about = NULL;
	vec_each(const struct finding, x, &f->list) {
		if (x->about != about)
			strbuf_addf(&b, "%s%s\n", about ? "\n" : "", x->about);
		about = x->about;
		strbuf_addf(&b, "  %-7s  ", states[x->state]);
		strbuf_add_printable(&b, x->text);
		if (x->remedy.n) {
			strbuf_addz(&b, ": ");
			strbuf_add_printable(&b, x->remedy);
		}
		strbuf_addc(&b, '\n');
		strbuf_adds(&b, x->messages);
	}
	fwrite(b.p, 1, b.n, out);
	strbuf_fini(&b);
}

void findings_print_json(const struct findings *f, FILE *out)
{
	struct strbuf b = {0};
	struct json j = {.out = &b};
	json_open(&j, NULL, '[');
	vec_each(const struct finding, x, &f->list) {
		json_open_line(&j, "");
		json_str(&j, "about", str_from(x->about));
		json_str(&j, "name", str_from(x->name));
		json_str(&j, "state", str_from(states[x->state]));
		json_str(&j, "text", x->text);
		json_str_or_null(&j, "remedy", x->remedy);
		strbuf_adds(json_value(&j, "messages"), x->messages.n ? x->messages : STR("[]"));
		json_close(&j, '}');
	}
	json_close_lines(&j);
	fwrite(b.p, 1, b.n, out);
	strbuf_fini(&b);
}
