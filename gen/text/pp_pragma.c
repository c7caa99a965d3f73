// #pragma: once is ours to obey, pack is bpftrace's, the rest is kept for the layers that know it.
#include "text/pp_priv.h"

/** The line with its macros expanded: bpftrace will not know them. */
static void pack(struct pp *pp, const struct token *hash, const struct token *name,
		 struct token *line)
{
	if (pp->in_args) {
		pp_error(pp, name, "#pragma pack inside the arguments of a macro");
		return;
	}
	struct toklist l;
	list_init(&l);
	struct token *t;
	pp_begin_list(pp, line);
	while ((t = pp_next(pp))->kind != TOK_EOF)
		list_add(&l, t);
	pp_end_list(pp);

	struct token *d = pp_copy(pp, hash);
	d->kind = TOK_DIRECTIVE;
	d->before = STR("");
	d->text = str_from(
	    arena_printf(pp->arena, "#pragma pack" STR_FMT, STR_ARG(pp_spell(pp, l.head))));
	pp_emit(pp, d);
}

static void once(struct pp *pp)
{
	const struct src_file *f = pp->level->file;
	if (f->dev || f->ino)
		map_add(pp->arena, &pp->once,
			str_from(arena_printf(pp->arena, "%llu:%llu", (unsigned long long)f->dev,
					      (unsigned long long)f->ino)));
}

void pp_pragma(struct pp *pp, const struct token *hash, const struct token *name)
{
	static const char *const ours[] = {"enum", "scope", "require", "option", "optional"};
	struct token *line = pp_line(pp);
	if (tok_is(line, "once")) {
		once(pp);
		pp_no_more(pp, line->next, "pragma once");
		return;
	}
	if (tok_is(line, "pack")) {
		pack(pp, hash, line, line->next);
		return;
	}
	bool known = false;
	unsigned best = 2;
	const char *guess = NULL;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		known |= tok_is(line, ours[i]);
		if (str_is_nearer(line->text, str_from(ours[i]), &best))
			guess = ours[i];
	}
	if (line->kind == TOK_EOF)
		pp_warning(pp, name, "#pragma says nothing");
	else if (!known && guess)
		pp_warning(pp, line, "unknown #pragma " STR_FMT "; did you mean %s?",
			   STR_ARG(line->text), guess);
	else if (!known)
		pp_warning(pp, line, "unknown #pragma " STR_FMT, STR_ARG(line->text));
	struct pp_pragma p = {.tokens = line, .loc = hash->loc};
	vec_push(pp->arena, &pp->pragmas, p);
}
