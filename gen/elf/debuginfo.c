#include "elf/debuginfo.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/reader.h"
#include "elf/img_priv.h"

/** What libdwfl may take for unpacked symbols; those of the largest programs are some 50 MB. */
#define MAX_SYMBOLS ((rlim_t)256 << 20)

/** libdwfl never has to find the file itself: it was given. */
static int no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		  char **file_name, Elf **elf)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)file_name, (void)elf;
	return -1;
}

/**
 * The name and build-id in .gnu_debugaltlink of @file, as dwz writes them: the name ends in NUL.
 */
static bool read_altlink(struct img *file, struct str *name, struct str *id)
{
	struct img_section s;
	if (!img_find_section(file, ".gnu_debugaltlink", &s))
		return false;
	struct reader r;
	reader_init(&r, s.data.p, s.data.n, file->big);
	*name = reader_cstr(&r);
	*id = str_from_offset(s.data, reader_offset(&r));
	return !r.err && id->n;
}

/**
 * Called for the debug file and, with the name that .gnu_debugaltlink holds, for the alternate one.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)name, (void)base, (void)file_name, (void)crc;
	struct img *img = *userdata, *file;
	struct str alt, id;
	if (!img)
		return -1;
	if (link && img_debugfile(img, &file) && read_altlink(file, &alt, &id) &&
	    str_eqz(alt, link)) {
		struct str path;
		int fd = debugfile_open_alternate(file, link, id, &path);
		if (fd >= 0)
			*found = strdup(str_dup(img->arena, path));
		return fd;
	}
	if (!img_separate_file(img, &file))
		return -1;
	int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		*found = strdup(str_dup(img->arena, file->path));
	return fd;
}

// libdw's own search is kept away from the disk: ours checks what it finds and does not leave the
// root.
static char no_folder[] =
    "/proc/none"; // ENOENT: any other error ends libdwfl's search, debuginfod included
static char *no_folders = no_folder;
static const Dwfl_Callbacks callbacks = {
    .find_elf = no_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_folders,
};

/** A file that libdw maps was cut short under it. */
static void on_sigbus(int sig)
{
	(void)sig;
	static const char text[] = "btgen: error: a file shrank while it was read\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(1);
}

static void catch_sigbus(void)
{
	struct sigaction old, new = {.sa_handler = on_sigbus};
	if (sigaction(SIGBUS, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGBUS, &new, NULL);
}

bool debuginfo_open_module(struct img *img, struct debuginfo **ret)
{
	if (!img->debuginfo) {
		struct debuginfo *di = img->debuginfo = arena_new(img->arena, struct debuginfo);
		catch_sigbus();
		di->dwfl = dwfl_begin(&callbacks);
		int fd = fcntl(img->fd, F_DUPFD_CLOEXEC, 3);
		const char *path = str_dup(img->arena, img->path);
		if (di->dwfl && fd >= 0) {
			dwfl_report_begin(di->dwfl);
			// Base 0 and its own p_vaddr: module addresses are link-time addresses.
			di->module = dwfl_report_elf(di->dwfl, path, path, fd, 0, true);
			dwfl_report_end(di->dwfl, NULL, NULL);
		}
		if (!di->module && fd >= 0)
			close(fd);
		if (di->module) {
			void **userdata;
			dwfl_module_info(di->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
			*userdata = img;
		}
	}
	*ret = img->debuginfo;
	return img->debuginfo->module != NULL;
}

bool img_debuginfo(struct img *img, struct debuginfo **ret)
{
	struct img *file;
	struct debuginfo *di;
	if (!img_debugfile(img, &file) || !debuginfo_open_module(img, &di))
		return false;
	if (!di->ready) {
		di->ready = true;
		di->file = file;
		di->dwarf = dwfl_module_getdwarf(di->module, &di->bias);
	}
	*ret = di;
	return di->dwarf != NULL;
}

/** Bytes of this program's data, as RLIMIT_DATA counts them (proc(5), statm); 0: not known. */
static rlim_t data_in_use(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (!f || fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int debuginfo_count_symbols(struct debuginfo *di)
{
	// xz makes 7000 bytes of one, and what comes out may be packed again: only memory itself
	// can be the limit.
	struct rlimit old, scarce;
	rlim_t used = data_in_use();
	if (!used || getrlimit(RLIMIT_DATA, &old) != 0)
		return dwfl_module_getsymtab(di->module);
	scarce = old;
	if (used + MAX_SYMBOLS < old.rlim_cur)
		scarce.rlim_cur = used + MAX_SYMBOLS;
	setrlimit(RLIMIT_DATA, &scarce);
	int n = dwfl_module_getsymtab(di->module);
	setrlimit(RLIMIT_DATA, &old);
	return n;
}

int debuginfo_ask_servers(struct debuginfo *di)
{
	char *path = NULL;
	int fd = dwfl_standard_find_debuginfo(di->module, NULL, NULL, 0, NULL, NULL, 0, &path);
	free(path);
	return fd;
}

void debuginfo_close(struct img *img)
{
	if (img->debuginfo && img->debuginfo->dwfl)
		dwfl_end(img->debuginfo->dwfl);
	img->debuginfo = NULL;
}
