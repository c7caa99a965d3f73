#include "bind/signs.h"

#include "bind/edit.h"
#include "image/sdtarg.h"
#include "out/dialect.h"

/** Bytes of argument @n when it is signed and narrow at every site of every probe of the clause; else 0. */
static unsigned narrow_size(struct bind *b, const struct attach_clause *c, unsigned n)
{
	unsigned size = 0;
	for (size_t i = 0; i < c->probes.n; i++) {
		const struct attach_match *m = &c->probes.v[i];
		for (size_t k = 0; k < m->probe->n_sites; k++) {
			struct sdtarg *args;
			size_t n_args;
			sdtarg_parse(b->arena, m->image->img->machine, m->probe->sites[k].args,
				     &args, &n_args);
			if (n >= n_args || !args[n].is_signed || args[n].is_float ||
			    (size && args[n].size != size))
				return 0;
			size = args[n].size;
		}
	}
	return size == 1 || size == 2 || size == 4 ? size : 0;
}

void signs_extend(struct bind *b, struct attach_clause *c)
{
	if (dialect_has_libbpf_usdt(b->version) || c->has_other || c->has_uprobe)
		return;
	for (size_t i = 0; i < c->clause->args.n; i++) {
		struct script_arg *use = &c->clause->args.v[i];
		unsigned size = narrow_size(b, c, use->n);
		if (!size)
			continue;
		struct script_range r = {use->token, use->token};
		edit_replace_lexed(
		    b->arena, &r,
		    str_from(arena_printf(b->arena, "(int64)(int%u)arg%u", size * 8, use->n)));
	}
}
