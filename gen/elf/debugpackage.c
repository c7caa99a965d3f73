#include "elf/debugpackage.h"

#include <unistd.h>

#include "base/ask.h"

#define DPKG "/usr/bin/dpkg-query"
#define RPM "/usr/bin/rpm"

/** Messages in English, which are not taken for the name of a package. */
static const char *const env[] = {"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};

/** Of "libc6:amd64, libx: /lib/x.so" the first. */
static struct str ask_dpkg(struct arena *a, const char *path)
{
	// Where /lib is a link to /usr/lib packages may still have their files in /lib.
	bool in_usr = str_has_prefix(str_from(path), STR("/usr/"));
	const char *argv[] = {DPKG, "-S", path, in_usr ? path + 4 : NULL, NULL};
	struct str line = ask_program(a, argv, env);
	line = str_slice(line, 0, str_find(line, ':'));
	return str_slice(line, 0, str_find(line, ','));
}

static struct str ask_rpm(struct arena *a, const char *path)
{
	const char *argv[] = {RPM, "-qf", "--queryformat", "%{NAME}\\n", path, NULL};
	return ask_program(a, argv, env);
}

struct str debugpackage_install(struct arena *a, struct str path)
{
	// A star would be a pattern to dpkg. Nor is a sentence the name of a package.
	bool has_dpkg = access(DPKG, X_OK) == 0;
	if (!str_is_made_of(path, ALPHABET_PATH) || (!has_dpkg && access(RPM, X_OK) != 0))
		return STR("");
	const char *file = str_dup(a, path);
	struct str name = has_dpkg ? ask_dpkg(a, file) : ask_rpm(a, file);
	if (!str_is_made_of(name, ALPHABET_PATH))
		return STR("");
	if (!has_dpkg)
		return str_printf(a, "dnf debuginfo-install " STR_FMT, STR_ARG(name));
	return str_printf(a, "install the package " STR_FMT "-dbgsym or " STR_FMT "-dbg",
			  STR_ARG(name), STR_ARG(name));
}
