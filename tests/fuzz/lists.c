// libFuzzer entry: any bytes as each of the lists that people write: enums.conf, probes.conf, and with a program in $FUZZ_TARGET
// a lock file (docs/lock.md), which is compared with it. What is wrong in them is an error that a terminal can show.
#include <sys/mman.h>

#include "bind/bind.h"
#include "conf/enumconf.h"
#include "conf/probesig.h"
#include "fuzz.h"
#include "lock/lock.h"
#include "template/template.h"

static void use_enums(struct arena *a, struct diag *d, const char *path, struct str text)
{
	struct enumconf conf = {0};
	enumconf_load(a, d, path, &conf);
	enumconf_add_option(a, d, str_take_line(&text), &conf);
	for (size_t i = 0; i < conf.entries.n; i++)
		if (!conf.entries.v[i].map.n || !conf.entries.v[i].type.n)
			fuzz_fail("a table without a name", text);
}

static void use_probes(struct arena *a, struct diag *d, const char *path)
{
	struct probesigs list = {0};
	probesig_load(a, d, path, &list);
	for (struct map_entry *e = NULL; (e = map_next(&list.probes, e));) {
		size_t colon = str_find(e->key, ':');
		const struct probesig *sig = probesig_find(&list, str_slice(e->key, 0, colon),
							   str_from_offset(e->key, colon + 1));
		for (; sig; sig = sig->other)
			for (size_t i = 0; i < sig->n_args; i++)
				if (!sig->args[i].is_constant &&
				    (!sig->args[i].type || !str_is_ident(sig->args[i].name)))
					fuzz_fail("a parameter without type or name", e->key);
	}
}

/** @has_script: beside what a script relies on, which takes ten times as long. */
static void use_lock(struct arena *a, struct diag *d, const char *path, bool has_script)
{
	static const char script[] =
	    "usdt:__EXE__:spdk:nvmf_tgt_state { @a[enum_name(nvmf_tgt_state, arg1)] = "
	    "sizeof(struct spdk_thread); }\n"
	    "uprobe:__EXE__:main { @b = NVMF_TGT_RUNNING; }\n";
	struct lock lock = {.arena = a};
	struct bind_given given = {.version = 27, .files = fuzz_target(), .lock = &lock};
	struct bind_made made = {0};
	struct bind_cache cache = {0};
	struct bind b = {a, d, &given, .made = &made, .cache = &cache};
	struct pp pp;
	pp_init(&pp, a, d);
	if (has_script && given.files) {
		if (!pp_file(&pp, src_from_text(a, STR("fuzz.bt"), str_from(script))) ||
		    !template_bind(&b, &pp))
			fuzz_fail("the script is wrong", str_from(script));
		lock_add_names(&b);
	}
	lock_check(&b, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct arena a = {0};
	struct fuzz_said said;
	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	fuzz_listen(&said);
	const char *path = arena_printf(&a, "/proc/self/fd/%d", fd);
	fuzz_write(path, (struct str){(const char *)data, size});
	use_enums(&a, &said.diag, path, (struct str){(const char *)data, size});
	use_probes(&a, &said.diag, path);
	use_lock(&a, &said.diag, path, size % 16 == 0);
	fuzz_must_be_printable(&said);
	arena_fini(&a);
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
