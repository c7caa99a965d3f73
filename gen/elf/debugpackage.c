#include "elf/debugpackage.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ask.h"
#include "base/file.h"

#define RPM "/usr/bin/rpm"
#define LISTS "/var/lib/dpkg/info"

// A Debian with everything has 60,000 packages, and the list of the largest 2 MB.
enum { MAX_LISTS = 100000, LARGEST_LIST = 16 << 20 };

static bool read_list(const char *root, const char *name, struct strbuf *ret)
{
	uint64_t size = 0;
	const char *why;
	char path[sizeof(LISTS) + sizeof(((struct dirent *)0)->d_name) + 1];
	snprintf(path, sizeof(path), "%s/%s", LISTS, name);
	int fd = file_open(*root ? root : NULL, path, &size, &why);
	strbuf_clear(ret);
	strbuf_addc(ret, '\n');
	char *text = fd >= 0 && size && size <= LARGEST_LIST ? malloc(size) : NULL;
	bool good = text && file_read_at(fd, text, size, 0);
	if (good)
		strbuf_add(ret, text, size);
	free(text);
	if (fd >= 0)
		close(fd);
	return good;
}

/** The package whose list has @path; empty when none has. */
static struct str find_list(struct arena *a, const char *root, struct str path)
{
	struct str found = {0}, suffix = STR(".list");
	DIR *dir = opendir(arena_printf(a, "%s%s", root, LISTS));
	struct strbuf lines = {0};
	// /usr/lib/x and /lib/x are one file where / is merged into /usr, and either may be listed.
	if (str_has_prefix(path, STR("/usr/")))
		path = str_from_offset(path, 4);
	struct str line = str_printf(a, "\n" STR_FMT "\n", STR_ARG(path));
	struct str usr_line = str_printf(a, "\n/usr" STR_FMT "\n", STR_ARG(path));
	unsigned n = 0;
	for (struct dirent *e; dir && !found.n && n < MAX_LISTS && (e = readdir(dir)); n++) {
		struct str name = str_from(e->d_name);
		if (!str_has_suffix(name, suffix) || !read_list(root, e->d_name, &lines) ||
		    (!str_contains(strbuf_str(&lines), line) &&
		     !str_contains(strbuf_str(&lines), usr_line)))
			continue;
		name.n -= suffix.n;
		found = str_copy(a, str_slice(name, 0, str_find(name, ':'))); // libc6:amd64
	}
	if (dir)
		closedir(dir);
	strbuf_fini(&lines);
	return found;
}

struct str debugpackage_install(struct arena *a, const char *root, struct str path)
{
	struct str name = find_list(a, root, path);
	if (name.n && str_is_made_of(name, ALPHABET_PATH))
		return str_printf(a, "install the package " STR_FMT "-dbgsym or " STR_FMT "-dbg",
				  STR_ARG(name), STR_ARG(name));
	if (*root || access(RPM, X_OK) != 0 || !str_is_made_of(path, ALPHABET_PATH))
		return STR("");
	// Of its database only rpm itself can read all forms; its messages in English are not taken for the
	// name of a package.
	static const char *const env[] = {"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
	const char *argv[] = {RPM, "-qf", "--queryformat", "%{NAME}\\n", str_dup(a, path), NULL};
	name = ask_program(a, argv, env);
	if (!str_is_made_of(name, ALPHABET_PATH)) // a sentence is no name
		return STR("");
	return str_printf(a, "dnf debuginfo-install " STR_FMT, STR_ARG(name));
}
