#include "cmd/trace.h"

static enum record_kind record_kind_of(enum skeleton_kind kind)
{
	switch (kind) {
	case SKELETON_HIDDEN:
		return RECORD_HIDDEN;
	case SKELETON_SIGNED:
		return RECORD_SIGNED;
	case SKELETON_UNSIGNED:
		return RECORD_UNSIGNED;
	case SKELETON_HEX:
		return RECORD_HEX;
	case SKELETON_CODE:
		return RECORD_CODE;
	case SKELETON_BOOL:
		return RECORD_BOOL;
	case SKELETON_CHAR:
		return RECORD_CHAR;
	case SKELETON_STRING:
		return RECORD_STRING;
	case SKELETON_ENUM:
		return RECORD_ENUM;
	case SKELETON_FLOAT:
		return RECORD_FLOAT;
	case SKELETON_DOUBLE:
		return RECORD_DOUBLE;
	}
	return RECORD_HEX;
}

static void fill_field(struct arena *a, const struct skeleton_field *f, struct record_field *ret)
{
	struct ctype *t = ctype_strip(f->arg->type);
	*ret = (struct record_field){.name = f->name,
				     .kind = record_kind_of(f->kind),
				     .size = f->arg->size,
				     .is_pointer = t && t->kind == CTYPE_POINTER,
				     .is_signed = f->arg->is_signed};
	// Sites that pass it in different widths: the type knows its own.
	if (f->arg->sizes_differ) {
		ret->size = t ? (unsigned)t->size : 0;
		ret->is_signed = t && t->is_signed;
	}
	if (f->kind != SKELETON_ENUM)
		return;
	struct record_enumerator *names =
	    arena_array(a, struct record_enumerator, f->names.n_items + 1);
	for (size_t i = 0; i < f->names.n_items; i++)
		names[i] =
		    (struct record_enumerator){f->names.items[i].value, f->names.items[i].name};
	ret->names = names;
	ret->n_names = f->names.n_items;
}

bool trace_make(struct arena *a, struct diag *d, struct targetfiles *files, unsigned version,
		const char *const *patterns, size_t n, bool json, struct records **records,
		struct str *program)
{
	struct skeleton sk;
	if (!skeleton_collect(&sk, a, d, files, version, patterns, n))
		return false;
	struct record_probe *probes = arena_array(a, struct record_probe, sk.probes.n);
	for (size_t i = 0; i < sk.probes.n; i++) {
		const struct skeleton_probe *p = &sk.probes.v[i];
		probes[i].name = str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(p->probe->provider),
					    STR_ARG(p->probe->name));
		probes[i].n_fields = p->n_fields;
		probes[i].fields = arena_array(a, struct record_field, p->n_fields + 1);
		for (size_t k = 0; k < p->n_fields; k++)
			fill_field(a, &p->fields[k], &probes[i].fields[k]);
	}
	*records = arena_new(a, struct records);
	records_init(*records, probes, sk.probes.n, json);
	struct strbuf text;
	strbuf_init(&text);
	const struct records *r = *records;
	struct skeleton_marks marks = {r->start, r->sep, r->end, r->counts};
	skeleton_write_records(&sk, &marks, &text);
	*program = strbuf_take(&text, a);
	return true;
}
