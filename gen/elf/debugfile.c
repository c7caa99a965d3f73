#include "elf/debugfile.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <zlib.h>

#include "base/file.h"
#include "elf/debuginfod.h"

/** Of larger files the CRC is not computed: the file beside a stranger's program may be one hole. */
#define MAX_CRC ((uint64_t)2 << 30)

/** What libdwfl may take for unpacked symbols; those of the largest programs are some 50 MB. */
#define MAX_SYMBOLS ((rlim_t)256 << 20)

/** What was searched, and found, for one image. */
struct debug_search {
	bool done;
	bool is_noted;		/**< what helps was said */
	bool is_missed;		/**< that it has none was said */
	struct img *separate;	/**< the debug file; NULL: none; owned */
	VEC(struct str) looked; /**< paths tried, and why what was there was refused */
};

/** What makes a candidate the right one: the build-id, or (when there is none) the CRC. */
struct wanted {
	struct str id; /**< empty: not known */
	bool has_crc;
	uint32_t crc;
};

bool img_has_dwarf(struct img *img)
{
	struct img_section s;
	if (!img->dwarf_checked) {
		img->dwarf_checked = true;
		img->has_dwarf = (img_find_header(img, ".debug_info", &s) ||
				  img_find_header(img, ".zdebug_info", &s)) &&
				 s.type != SHT_NOBITS && s.size && img_check_unpacked(img);
	}
	return img->has_dwarf;
}

/** The CRC of .gnu_debuglink. */
static bool file_crc(const struct img *img, uint32_t *ret)
{
	uint8_t buf[65536];
	*ret = 0;
	for (uint64_t off = 0; off < img->size; off += sizeof(buf)) {
		size_t n = img->size - off < sizeof(buf) ? (size_t)(img->size - off) : sizeof(buf);
		if (!file_read_at(img->fd, buf, n, off))
			return false;
		*ret = (uint32_t)crc32_z(*ret, buf, n);
	}
	return true;
}

/** Why @candidate is not the file that was wanted, or NULL. */
static const char *mismatch(const struct img *img, const struct img *candidate, struct wanted w)
{
	uint32_t crc;
	if (candidate->is64 != img->is64 || candidate->big != img->big ||
	    candidate->machine != img->machine)
		return "is for another machine";
	if (w.id.n && candidate->build_id.n)
		return str_eq(w.id, candidate->build_id) ? NULL : "has a different build ID";
	if (!w.has_crc)
		return "has no build ID";
	if (candidate->size > MAX_CRC)
		return "is too large for its CRC to be checked";
	if (!file_crc(candidate, &crc))
		return "cannot be read";
	return crc == w.crc ? NULL : "has a different CRC";
}

/** Of what was opened. */
static void close_all(struct img *img)
{
	if (img->debuginfo && img->debuginfo->dwfl)
		dwfl_end(img->debuginfo->dwfl);
	img->debuginfo = NULL;
	if (img->search)
		img_close(img->search->separate);
	img->search = NULL;
}

static struct debug_search *begin_search(struct img *img)
{
	img->close_debug = close_all;
	if (!img->search)
		img->search = arena_new(img->arena, struct debug_search);
	return img->search;
}

static void note_looked(struct img *img, struct str where, const char *why)
{
	struct debug_search *s = img->search;
	struct str text = where;
	if (why)
		text = str_printf(img->arena, STR_FMT " (%s)", STR_ARG(where), why);
	for (size_t i = 0; i < s->looked.n; i++)
		if (str_eq(s->looked.v[i], text))
			return;
	vec_push(img->arena, &s->looked, text);
}

/** Opens the file @path below @root (empty: ours) if it is the one that is wanted. */
static struct img *try_file(struct img *img, struct str root, const char *path, struct wanted w)
{
	const char *why;
	uint64_t size;
	struct str where = str_printf(img->arena, STR_FMT "%s", STR_ARG(root), path);
	int fd = file_open(root.n ? str_dup(img->arena, root) : NULL, path, &size, &why);
	if (fd < 0) {
		note_looked(img, where, strcmp(why, "no such file") == 0 ? NULL : why);
		return NULL;
	}

	// A broken debug file is one more place without debug information, not an error of the user's file.
	struct diag quiet;
	diag_init(&quiet, NULL);
	struct img *found = NULL;
	bool opened = img_open_fd(img->arena, &quiet, fd, where, where, &found);
	why = opened ? mismatch(img, found, w) : "is not a readable ELF file";
	note_looked(img, where, why);
	if (why) {
		img_close(opened ? found : NULL);
		return NULL;
	}
	found->diag = img->diag;
	if (root.n)
		img_set_root(found, root, str_from(path));
	return found;
}

/** /usr/lib/debug/.build-id/ab/cdef.debug, below the image's root and below ours. */
static struct img *try_build_id(struct img *img, struct wanted w)
{
	if (w.id.n < 2)
		return NULL;
	struct strbuf b = {0};
	strbuf_addz(&b, "/usr/lib/debug/.build-id/");
	for (size_t i = 0; i < w.id.n; i++)
		strbuf_addf(&b, i == 0 ? "%02x/" : "%02x", (unsigned char)w.id.p[i]);
	strbuf_addz(&b, ".debug");
	struct img *found = NULL;
	if (img->root.n)
		found = try_file(img, img->root, b.p, w);
	if (!found)
		found = try_file(img, STR(""), b.p, w);
	strbuf_fini(&b);
	return found;
}

/** The image's path without links, in the file system that its root gives. */
static struct str real_path(struct img *img)
{
	if (img->root.n)
		return img->root_path;
	char link[FILE_PATH_OF], path[4096];
	file_path_of(img->fd, link);
	ssize_t n = readlink(link, path, sizeof(path));
	if (n <= 0 || path[0] != '/')
		return img->path;
	return str_copy(img->arena, (struct str){path, (size_t)n});
}

/**
 * The file that .gnu_debuglink names: a name, padding to 4 bytes, a CRC-32 in the file's byte
 * order, and the places where it may be, in this order (GDB's manual, "Separate Debug Files").
 */
static struct img *try_debuglink(struct img *img, struct wanted w)
{
	struct img_section s;
	if (!img_find_section(img, ".gnu_debuglink", &s))
		return NULL;
	struct reader r;
	reader_init(&r, s.data.p, s.data.n, img->big);
	struct str name = reader_cstr(&r);
	reader_align(&r, 4);
	w.crc = reader_u32(&r);
	w.has_crc = true;
	// A name with a directory in it could lead anywhere; no tool writes one.
	if (r.err || !name.n || str_find(name, '/') < name.n)
		return NULL;

	static const char *const where[][2] = {{"", ""}, {"", ".debug/"}, {"/usr/lib/debug", ""}};
	struct str dir = str_dir(real_path(img));
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		char *path = arena_printf(img->arena, "%s" STR_FMT "%s" STR_FMT, where[i][0],
					  STR_ARG(dir), where[i][1], STR_ARG(name));
		struct img *found = try_file(img, img->root, path, w);
		if (found)
			return found;
	}
	return NULL;
}

// --- libdw's handles ---

/**
 * Opens the alternate debug file (dwz) called @link, of build-id @id, that the debug file @img
 * points at. Returns its descriptor and path (in the image's arena), or -1.
 */
static int open_alternate(struct img *img, const char *link, struct str id, struct str *path)
{
	begin_search(img);
	struct wanted w = {.id = id};
	struct img *found = try_build_id(img, w);
	if (!found && *link) {
		struct str dir = *link == '/' ? STR("") : str_dir(real_path(img));
		found = try_file(img, img->root,
				 arena_printf(img->arena, STR_FMT "%s", STR_ARG(dir), link), w);
	}
	if (!found)
		return -1;
	int fd = img_check_unpacked(found) ? fcntl(found->fd, F_DUPFD_CLOEXEC, 3) : -1;
	*path = found->path;
	img_close(found);
	return fd;
}

/** libdwfl never has to find the file itself: it was given. */
static int no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		  char **file_name, Elf **elf)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)file_name, (void)elf;
	return -1;
}

/** The name and build-id in .gnu_debugaltlink of @file, as dwz writes them: the name ends in NUL. */
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

/** Called for the debug file and, with the name that .gnu_debugaltlink holds, for the alternate one. */
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
		int fd = open_alternate(file, link, id, &path);
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

// libdw's own search is kept away from the disk: ours checks what it finds and does not leave the root.
// ENOENT: any other error ends libdwfl's search, debuginfod included.
static char no_directory[] = "/proc/none";
static char *no_directories = no_directory;
static const Dwfl_Callbacks callbacks = {
    .find_elf = no_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_directories,
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

bool debuginfo_open_module(struct img *img, struct debuginfo **ret)
{
	if (!img->debuginfo) {
		struct debuginfo *di = img->debuginfo = arena_new(img->arena, struct debuginfo);
		img->close_debug = close_all;
		struct sigaction old, new = {.sa_handler = on_sigbus};
		if (sigaction(SIGBUS, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(SIGBUS, &new, NULL);
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

// --- which file it is ---

/** Asks the servers of DEBUGINFOD_URLS, by libdw's own client. */
static struct img *try_debuginfod(struct img *img, struct wanted w)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfo *di;
	if (!urls || !*urls || !w.id.n || !debuginfo_open_module(img, &di))
		return NULL;
	int fd = debuginfod_find(img->diag, di->module, img->display_path);
	if (fd < 0) {
		note_looked(img, STR("the servers of DEBUGINFOD_URLS"),
			    debuginfod_is_silent() ? "no answer" : NULL);
		return NULL;
	}
	char path[FILE_PATH_OF];
	file_path_of(fd, path);
	struct img *found = try_file(img, STR(""), path, w);
	close(fd);
	return found;
}

bool img_separate_file(struct img *img, struct img **ret)
{
	struct debug_search *s = begin_search(img);
	if (!s->done) {
		s->done = true;
		struct wanted w = {.id = img->build_id};
		s->separate = try_build_id(img, w);
		if (!s->separate)
			s->separate = try_debuglink(img, w);
		if (!s->separate && !img_has_dwarf(img) && !img->offline)
			s->separate = try_debuginfod(img, w);
	}
	*ret = s->separate;
	return s->separate != NULL;
}

bool img_debugfile(struct img *img, struct img **ret)
{
	*ret = img;
	return img_has_dwarf(img) || (img_separate_file(img, ret) && img_has_dwarf(*ret));
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

static bool has_symbols(struct img *img)
{
	struct img_section s;
	return img_find_header(img, ".symtab", &s) || img_find_header(img, ".gnu_debugdata", &s);
}

static bool is_stripped(struct img *img)
{
	struct img *separate;
	return !has_symbols(img) && !(img_separate_file(img, &separate) && has_symbols(separate));
}

/** Once for each image, whatever is missing in it. */
static void note_remedy(struct img *img)
{
	struct img *separate;
	bool found = img_separate_file(img, &separate);
	struct debug_search *s = img->search;
	if (s->is_noted || img->diag->last_hidden)
		return;
	s->is_noted = true;
	struct diag_place at = {.file = img->display_path};
	if (found)
		diag_note(img->diag, &at, "its debug file " STR_FMT " has only symbols",
			  STR_ARG(separate->display_path));
	for (size_t i = 0; !found && i < s->looked.n; i++)
		diag_note(img->diag, &at, "looked for " STR_FMT, STR_ARG(s->looked.v[i]));
	const char *urls = getenv("DEBUGINFOD_URLS");
	diag_note(
	    img->diag, &at,
	    "build it with -g, or install its debug package (Debian: NAME-dbg or NAME-dbgsym, "
	    "Fedora: dnf debuginfo-install NAME)%s",
	    urls && *urls ? "" : ", or set DEBUGINFOD_URLS");
}

bool debugfile_report_missing(struct img *img, const struct diag_place *at, const char *wanted_for)
{
	struct diag_place here = {.file = img->display_path};
	const char *file = at ? str_dup(img->arena, img->display_path) : "it", *where = "";
	if (img->search && img->search->is_missed) // one cause, one error
		return false;
	if (is_stripped(img))
		where = arena_printf(img->arena, ": %s is stripped", file);
	else if (at)
		where = arena_printf(img->arena, " in %s", file);
	diag_error(img->diag, at ? at : &here, "no debug information (DWARF)%s%s%s",
		   wanted_for ? " for " : "", wanted_for ? wanted_for : "", where);
	note_remedy(img);
	img->search->is_missed = !img->diag->last_hidden;
	return false;
}

void debugfile_note_stripped(struct img *img)
{
	if (!is_stripped(img))
		return;
	diag_note(img->diag, NULL,
		  STR_FMT " is stripped: functions that it does not export have no names",
		  STR_ARG(img->display_path));
	note_remedy(img);
}
