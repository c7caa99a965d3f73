#include "bind/byaddress.h"

#include <inttypes.h>

#include "bind/namedarg.h"
#include "dialect/dialect.h"
#include "probe/attachable.h"

bool byaddress_is(const struct bind *b, const struct attach_match *m)
{
	for (size_t i = 0; dialect_has_libbpf_usdt(b->given->version) && i < m->probe->n_sites;
	     i++) {
		const struct operands *o = namedarg_operands(b, m, &m->probe->sites[i]);
		for (size_t k = 0; k < o->n; k++)
			if (o->v[k].is_beyond_libbpf)
				return true;
	}
	return false;
}

unsigned byaddress_count_places(const struct bind *b, const struct attach_match *m)
{
	return byaddress_is(b, m) ? 0 : sdt_count_places(b->arena, m->probe);
}

void byaddress_bind(struct bind *b, struct script_attach *at, const struct attach_match *m,
		    const char *file)
{
	for (size_t i = 0; i < m->probe->n_sites; i++) {
		uint64_t address;
		bool is_unsafe;
		if (attachable_site(b->arena, m->file->bin.img, &m->probe->sites[i], &address,
				    &is_unsafe))
			vec_push(b->arena, &at->bound,
				 str_printf(b->arena, "%s:%s:0x%" PRIx64,
					    vocabulary_function_probe()->name, file, address));
		if (is_unsafe)
			b->found.unsafe = m->probe;
	}
}

struct str byaddress_program(struct arena *a, const struct attach_match *m,
			     const struct sdt_site *s)
{
	uint64_t address;
	bool is_unsafe;
	attachable_site(a, m->file->bin.img, s, &address, &is_unsafe);
	return str_printf(a, "%s:%" PRIu64, vocabulary_function_probe()->name, address);
}
