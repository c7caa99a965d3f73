#include "listing/probes_scripts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/pp.h"
#include "lang/script.h"

static int is_script(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');
	return e->d_name[0] != '.' && dot && strcmp(dot, ".bt") == 0;
}

static void add_uses(struct arena *a, const struct script *s, struct str script,
		     struct probes_scripts *ret)
{
	for (size_t i = 0; i < s->clauses.n; i++)
		for (size_t k = 0; k < s->clauses.v[i]->attach.n; k++) {
			const struct script_attach *at = &s->clauses.v[i]->attach.v[k];
			if (at->provider->place != PLACE_USDT || at->fields.n < 2)
				continue;
			struct probes_use use = {.script = script,
						 .name = at->fields.v[at->fields.n - 1]};
			if (at->fields.n > 2)
				use.provider = at->fields.v[at->fields.n - 2];
			vec_push(a, &ret->uses, use);
		}
}

static bool read_script(struct arena *a, struct diag *d, const char *dir, const char *name,
			unsigned version, struct probes_scripts *ret)
{
	struct pp pp;
	struct script script;
	struct src_file *f;
	const char *path = arena_printf(a, "%s/%s", dir, name);
	pp_init(&pp, a, d);
	pp_add_dir(&pp, dir);
	pp_predefine(&pp, "__BPFTRACE__", arena_printf(a, "%u", version));
	pp_predefine(&pp, "__ARCH_X86_64__", "1");
	if (!src_load(a, d, path, str_from(path), NULL, &f) || !pp_file(&pp, f) ||
	    !script_parse(a, d, pp.out, &script))
		return false;
	add_uses(a, &script, str_from(arena_strdup(a, name)), ret);
	return true;
}

bool probes_scripts_read(struct arena *a, struct diag *d, const char *dir, unsigned version,
			 struct probes_scripts *ret)
{
	struct dirent **entries;
	*ret = (struct probes_scripts){0};
	int n = scandir(dir, &entries, is_script, alphasort);
	if (n < 0)
		return diag_error(d, NULL, "cannot read the folder %s: %s", dir, strerror(errno));
	bool good = true;
	for (int i = 0; i < n; i++) {
		good = read_script(a, d, dir, entries[i]->d_name, version, ret) && good;
		free(entries[i]);
	}
	free(entries);
	return good;
}

bool probes_use_fits(const struct probes_use *use, struct str provider, struct str name)
{
	return (!use->provider.n || str_glob(use->provider, provider)) && str_glob(use->name, name);
}
