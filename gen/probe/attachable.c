#include "probe/attachable.h"

#include "dialect/dialect.h"
#include "usdt/sdtarg.h"

bool attachable_has_name(const struct sdt_probe *p, unsigned version)
{
	return dialect_can_name(version, p->provider, p->name);
}

struct str attachable_why_not(struct arena *a, unsigned machine, const struct sdt_probe *p,
			      unsigned version)
{
	bool by_libbpf = dialect_has_libbpf_usdt(version);
	if (!attachable_has_name(p, version))
		return STR("its name has characters that an attach point cannot have");
	for (size_t i = 0; by_libbpf && i < p->n_sites; i++) {
		struct sdtarg *args;
		size_t n;
		if (p->sites[i].doubt == SDT_NO_CODE)
			return STR("the file has no code at one of its sites");
		sdtarg_parse(a, machine, p->sites[i].args, &args, &n);
		for (size_t k = 0; k < n; k++) {
			if (args[k].is_beyond_libbpf && sdtarg_has_odd_size(&args[k]))
				return str_printf(a, "it cannot read arg%zu, which has %u bytes", k,
						  args[k].size);
			if (args[k].is_beyond_libbpf)
				return str_printf(a,
						  "it cannot read the location of arg%zu, " STR_FMT,
						  k, STR_ARG(str_printable(a, args[k].text)));
		}
	}
	return STR("");
}

bool attachable_by_all(const struct sdt_probe *p, const struct probeargs *pa)
{
	bool good = attachable_has_name(p, DIALECT_OLDEST);
	for (size_t i = 0; i < pa->n_sites && good; i++) {
		good = p->sites[i].doubt != SDT_NO_CODE;
		for (size_t k = 0; k < pa->sites[i].n_args; k++)
			good &= !pa->sites[i].args[k].operand.is_beyond_libbpf;
	}
	return good;
}
