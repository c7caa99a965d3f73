#include "setup/attached.h"

#include "bind/attach.h"
#include "setup/semaphores.h"

/** "usdt:app:query", "uprobe:main", "interval:s:1": an attach point without its file. */
static struct str name_of(struct arena *a, const struct script_attach *at)
{
	bool has_file = at->provider->whose == OF_FILE;
	struct str name = at->kind;
	for (size_t i = has_file && at->fields.n > 1; i < at->fields.n; i++)
		name = str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(name), STR_ARG(at->fields.v[i]));
	return str_printable(a, name);
}

struct str attached_list(struct arena *a, const struct bind *b)
{
	enum { SHOWN = 3 };
	struct map names = {0};
	struct str list = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		vec_each(const struct script_attach, at, &c->attach) {
			if (at->provider->whose == OF_TRACE)
				continue;
			struct str name = name_of(a, at);
			if (map_add(a, &names, name) && names.n <= SHOWN)
				list = str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(list),
						  list.n ? ", " : "", STR_ARG(name));
		}
	}
	if (names.n > SHOWN)
		return str_printf(a, STR_FMT " and %zu other%s were", STR_ARG(list),
				  names.n - SHOWN, names.n - SHOWN == 1 ? "" : "s");
	return names.n ? str_printf(a, STR_FMT "%s", STR_ARG(list), names.n == 1 ? " was" : " were")
		       : list;
}

struct cost_list {
	struct arena *arena;
	struct map seen;
	cost_names names;
};

static void add_cost_name(struct cost_list *l, struct str name, struct str program,
			  const struct provider *p, double n_extra)
{
	bool has_trap = p->memory == MEMORY_PROGRAM && p->place != PLACE_NONE;
	unsigned n = has_trap + (has_trap && p->place == PLACE_RETURN);
	if (map_add(l->arena, &l->seen, program.n ? program : name))
		vec_push(l->arena, &l->names, (struct cost_name){name, program, n, n_extra});
}

/** Functions and lines are places in the code: each is "uprobe:4515" there, or has a symbol. */
static void add_places(struct cost_list *l, const struct script_attach *at)
{
	struct str name = name_of(l->arena, at);
	for (size_t i = 0; i < at->bound.n; i++) {
		struct str place = str_last(at->bound.v[i], ':');
		uint64_t addr;
		if (str_to_u64(place, &addr))
			place = str_printf(l->arena, "%llu", (unsigned long long)addr);
		add_cost_name(
		    l, name,
		    str_printf(l->arena, "%s:" STR_FMT, at->provider->name, STR_ARG(place)),
		    at->provider, 0);
	}
	if (!at->bound.n)
		add_cost_name(l, name, STR(""), at->provider, 0);
}

/** The probe @m of @at, which is attached to once for each site if it is by address. */
static void add_usdt_cost(struct cost_list *l, const struct bind *b, const struct script_attach *at,
			  const struct attach_match *m)
{
	struct str name = str_printf(l->arena, STR_FMT ":" STR_FMT ":" STR_FMT, STR_ARG(at->kind),
				     STR_ARG(m->probe->provider), STR_ARG(m->probe->name));
	struct str program = STR("");
	unraised_list raised = {0};
	size_t n_raised = semaphores_find_unraised(l->arena, b, m, &raised);
	for (size_t i = 0; i < (attach_is_by_address(b, m) ? m->probe->n_sites : 1); i++) {
		if (attach_is_by_address(b, m))
			program = attach_program(l->arena, m, &m->probe->sites[i]);
		add_cost_name(l, name, program, at->provider,
			      (double)n_raised / (double)m->probe->n_sites);
	}
}

cost_names attached_cost_names(struct arena *a, const struct bind *b)
{
	struct cost_list list = {.arena = a};
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		const struct attach_clause *bound = b->found.clauses[i];
		vec_each(const struct script_attach, at, &c->attach) {
			bool is_usdt = at->provider->place == PLACE_USDT;
			for (size_t m = 0; is_usdt && m < bound->probes.n; m++)
				add_usdt_cost(&list, b, at, &bound->probes.v[m]);
			if (!is_usdt || !bound->probes.n)
				add_places(&list, at);
		}
	}
	return list.names;
}
