#include "probe/codeplace.h"

#include <limits.h>

#include "elf/demangle.h"
#include "elf/imgsym.h"

bool codeplace_is_piece(struct str symbol)
{
	return str_has_suffix(symbol, STR(".cold")) || str_contains(symbol, STR(".cold.")) ||
	       str_contains(symbol, STR(".part."));
}

struct finder {
	struct arena *a;
	struct str name;
	struct map addrs, exact;
	struct codeplaces *ret;
	VEC(struct codeplace) mangled; // of another name than that symbol
};

static struct str base_of(struct str symbol)
{
	return str_slice(symbol, 0, str_find(symbol, '.'));
}

static bool take_symbol(void *ctx, const struct img_symbol *sym)
{
	struct finder *f = ctx;
	struct str base = base_of(sym->name);
	bool is_exact = str_eq(sym->name, f->name), is_base = base.n && str_eq(base, f->name);
	bool may_fit = !is_base && demangle_may_fit(f->name, sym->name);
	struct str name = may_fit ? demangle_symbol(f->a, sym->name) : STR("");
	bool is_mangled = name.n && demangle_fits(f->a, f->name, name);
	if (!is_exact && !is_base && !is_mangled)
		return true;
	if (!is_exact && codeplace_is_piece(sym->name)) {
		f->ret->piece = sym->name;
		return true;
	}
	struct codeplace p = {.how = is_exact || base.n == sym->name.n ? CODEPLACE_ENTRY
								       : CODEPLACE_CLONE,
			      .addr = sym->addr,
			      .size = sym->size,
			      .is_ifunc = sym->is_ifunc,
			      .symbol = sym->name,
			      .name = name.n ? name : demangle_written(f->a, sym->name)};
	if (is_mangled) {
		vec_push(f->a, &f->mangled, p);
		return true;
	}
	if (is_exact)
		map_add_u64(f->a, &f->exact, sym->addr);
	if (map_add_u64(f->a, &f->addrs, sym->addr))
		vec_push(f->a, &f->ret->list, p);
	return true;
}

/** Copies of @d, which are at no place that is in the list already. */
static void add_copies(struct finder *f, const struct dwinlined *d)
{
	struct str name = demangle_written(f->a, d->symbol);
	f->ret->inlined = f->ret->inlined ? f->ret->inlined : d;
	for (size_t i = 0; i < d->entries.n; i++) {
		if (!map_add_u64(f->a, &f->addrs, d->entries.v[i]))
			continue;
		vec_push(f->a, &f->ret->list,
			 (struct codeplace){
			     .how = CODEPLACE_COPY, .addr = d->entries.v[i], .name = name});
		f->ret->n_inlined++;
	}
}

static bool is_meant(struct finder *f, const struct dwinlined *d)
{
	struct str name = demangle_symbol(f->a, d->symbol);
	if (str_eq(d->symbol, f->name))
		return true;
	if (name.n)
		return demangle_fits(f->a, f->name, name);
	name = d->scope.n
		   ? str_printf(f->a, STR_FMT "::" STR_FMT, STR_ARG(d->scope), STR_ARG(d->name))
		   : d->name;
	return str_eq(name, f->name);
}

bool codeplace_function(struct arena *a, struct binary *bin, struct str name,
			struct codeplaces *ret)
{
	struct finder f = {.a = a, .name = name, .ret = ret};
	const struct dwinlined *d;
	*ret = (struct codeplaces){0};
	img_walk_functions(bin->img, take_symbol, &f);
	for (size_t i = 0; !f.exact.n && i < f.mangled.n; i++)
		if (map_add_u64(a, &f.addrs, f.mangled.v[i].addr))
			vec_push(a, &ret->list, f.mangled.v[i]);
	size_t n_functions = ret->list.n;
	for (size_t i = 0; i < n_functions; i++)
		if ((d = dwsite_inlined_at(bin->src, ret->list.v[i].addr)))
			add_copies(&f, d);
	return n_functions > 0;
}

bool codeplace_inlined(struct arena *a, struct binary *bin, struct str name, struct codeplaces *ret)
{
	struct finder f = {.a = a, .name = name, .ret = ret};
	const struct dwinlined *d;
	*ret = (struct codeplaces){0};
	for (size_t i = 0; (d = dwsite_inlined_next(bin->src, &i));)
		if (is_meant(&f, d))
			add_copies(&f, d);
	return ret->inlined != NULL;
}

bool codeplace_parse_line(struct str text, struct str *file, unsigned *line)
{
	uint64_t n;
	size_t colon = text.n;
	while (colon && text.p[colon - 1] != ':')
		colon--;
	if (colon < 2 || !str_to_u64(str_from_offset(text, colon), &n) || !n || n > UINT_MAX)
		return false;
	*file = str_slice(text, 0, colon - 1);
	*line = (unsigned)n;
	return true;
}

struct str codeplace_where(struct arena *a, struct binary *bin, uint64_t addr)
{
	struct dwsite site;
	uint64_t n_before = bin->src->n_visits;
	bool found = dwsrc_open_whole(bin->src) && dwsite_at(bin->src, addr, &site);
	dwsite_spend(bin->src, n_before);
	if (!found)
		return STR("");
	struct str function = site.caller.n ? site.caller : site.function;
	return str_printf(a, STR_FMT "()%s" STR_FMT, STR_ARG(function), site.line ? " at " : "",
			  STR_ARG(site.line
				      ? str_printf(a, STR_FMT ":%u", STR_ARG(site.file), site.line)
				      : STR("")));
}
