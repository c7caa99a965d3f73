/** btgen embed - keeps the types of a program's probes in the program, for when it is stripped. */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"
#include "btf/typenote.h"
#include "cmd/cmd.h"
#include "probe/probeargs.h"

struct options {
	bool verbose;
};

static const struct cmd_option list[] = {
    {'v', "verbose", NULL, CMD_FLAG(struct options, verbose),
     "report what was kept, and its size in bytes"},
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen embed [-v] FILE...\n"
	     "Store the probe types of each FILE, an executable or shared library with debug\n"
	     "information, in the FILE itself: kinds of arguments and names of enumerators,\n"
	     "but no members of structs. They are not loaded, and survive strip. Run it after\n"
	     "linking. $OBJCOPY is the objcopy to use.\n"
	     "\n",
    .list = list,
};

/** What is to be kept of a file. */
struct kept {
	struct typenote_text *text;
	size_t n_sites, n_args, n_typed;
};

/** One site of one probe. */
struct place {
	const struct sdt_probe *probe;
	const struct probesite *site;
};

static int by_address(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	uint64_t p = x->site->site->pc, q = y->site->site->pc;
	return p < q ? -1 : p > q;
}

/** A string that is in an array is kept as the array: so long can it be. */
static struct ctype *with_length(struct arena *a, struct ctype *t, uint64_t n)
{
	struct ctype *pointer = ctype_strip(t);
	if (!n || !pointer || pointer->kind != CTYPE_POINTER)
		return t;
	struct ctype *array = ctype_new(a, CTYPE_ARRAY, "", 0, false);
	array->has_size = false;
	array->of = pointer->of;
	array->has_count = true;
	array->count = n;
	return array;
}

static bool add_place(struct arena *a, const struct place *p, struct kept *ret)
{
	size_t n = p->site->n_args;
	struct typenote_arg *args = arena_array(a, struct typenote_arg, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct probearg *arg = &p->site->args[i];
		args[i].name = arg->has_name ? arg->name : (struct str){0};
		if (!arg->type || arg->is_kind)
			continue;
		args[i].type = with_length(a, arg->type, arg->string_max);
		ret->n_typed++;
	}
	ret->n_args += n;
	ret->n_sites++;
	return typenote_add(ret->text, p->site->site->pc, p->probe->provider, p->probe->name, args,
			    n);
}

/** The sites of all probes, in order. */
static struct place *find_places(struct binary *b, const struct sdt_list *probes)
{
	struct arena *a = b->img->arena;
	struct place *places = arena_array(a, struct place, probes->n_sites + 1);
	size_t n = 0;
	for (size_t i = 0; i < probes->n_probes; i++) {
		struct probeargs *args = arena_new(a, struct probeargs);
		probeargs_read(b, NULL, &probes->probes[i], args);
		for (size_t k = 0; k < args->n_sites; k++)
			places[n++] = (struct place){&probes->probes[i], &args->sites[k]};
	}
	if (n)
		qsort(places, n, sizeof(*places), by_address);
	return places;
}

static bool collect(struct binary *b, const struct sdt_list *probes, struct kept *ret)
{
	struct img *img = b->img;
	struct diag_place at = {.file = img->display_path};
	struct place *places = find_places(b, probes);
	ret->text = typenote_new(img->arena);
	bool good = ret->text != NULL;
	for (size_t i = 0; good && i < probes->n_sites; i++)
		good = add_place(img->arena, &places[i], ret);
	if (!good)
		return diag_error(img->diag, &at, "its types cannot be written as BTF");
	if (!ret->n_typed && ret->n_args)
		return diag_error(img->diag, &at,
				  "no argument types found: it has no debug information (build "
				  "with -g, and embed before strip)");
	return true;
}

// --- into the file

/** @text as a file without a name. */
static int put_aside(struct str text)
{
	int fd = memfd_create("btgen", 0);
	if (fd >= 0 && write(fd, text.p, text.n) != (ssize_t)text.n) {
		close(fd);
		return -1;
	}
	return fd;
}

static const char *objcopy(void)
{
	const char *name = getenv("OBJCOPY");
	return name && *name ? name : "objcopy";
}

/** Runs objcopy, which says itself what is wrong. */
static bool run_objcopy(struct arena *a, struct diag *d, const char *path, const char *note,
			const char *out)
{
	const char *argv[] = {objcopy(),
			      "--remove-section",
			      TYPENOTE_SECTION,
			      "--add-section",
			      arena_printf(a, TYPENOTE_SECTION "=%s", note),
			      "--set-section-flags",
			      TYPENOTE_SECTION "=contents,readonly",
			      *path == '-' ? arena_printf(a, "./%s", path) : path,
			      out,
			      NULL};
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[0], (char *const *)argv);
		_exit(errno == ENOENT ? 127 : 126);
	}
	int status = -1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	struct diag_place at = {.file = str_from(path)};
	bool is_named = strcmp(argv[0], "objcopy") != 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return diag_error(d, &at, "%s not found: %s", argv[0],
				  is_named ? "OBJCOPY names it" : "install binutils");
	return diag_error(d, &at, "%s failed: the file is unchanged", argv[0]);
}

/** What objcopy has written to @fd, if it is what we meant. */
static bool take_over(struct arena *a, struct diag *d, const char *path, int fd)
{
	struct stat st;
	struct img *img = NULL;
	struct diag_place at = {.file = str_from(path)};
	int copy = dup(fd);
	if (fstat(fd, &st) != 0 || copy < 0)
		return diag_error(d, &at, "cannot be copied: %s", strerror(errno));
	bool good = st.st_size > 0 && img_open_fd(a, d, copy, at.file, at.file, &img);
	struct typenote *note = good ? typenote_read(img) : NULL;
	typenote_free(note);
	if (good)
		img_close(img);
	else if (st.st_size <= 0)
		close(copy);
	if (!note)
		return diag_error(d, &at, "%s did not write the types: the file is unchanged",
				  objcopy());
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return diag_error(d, &at, "cannot be copied: %s", strerror(errno));
	good = outfile_replace(a, d, path, (struct str){p, (size_t)st.st_size});
	munmap(p, (size_t)st.st_size);
	return good;
}

static bool put_into(struct arena *a, struct diag *d, const char *path, struct str section)
{
	char in[FILE_PATH_OF], out[FILE_PATH_OF];
	int note = put_aside(section), copy = put_aside((struct str){0});
	bool good = note >= 0 && copy >= 0;
	if (good) {
		file_path_of(note, in);
		file_path_of(copy, out);
		good = run_objcopy(a, d, path, in, out) && take_over(a, d, path, copy);
	} else {
		diag_error(d, NULL, "no memory for a copy of %s", path);
	}
	if (note >= 0)
		close(note);
	if (copy >= 0)
		close(copy);
	return good;
}

// --- the command

/** Why this file cannot have it; NULL: it can. */
static const char *why_not(const struct img *img)
{
	if (img->type != ET_EXEC && img->type != ET_DYN)
		return "is not a program or shared library: embed after linking";
	if (!img->is64)
		return "is a 32-bit file";
	return img->big == (__BYTE_ORDER == __BIG_ENDIAN) ? NULL : "has a different byte order";
}

static bool embed(struct arena *a, struct diag *d, const char *path, bool verbose)
{
	struct img *img;
	struct sdt_list probes;
	struct diag_place at = {.file = str_from(path)};
	if (!img_open(a, d, path, at.file, &img))
		return false;
	struct binary b;
	binary_init(&b, img);
	struct kept kept = {0};
	struct str section = {0};
	bool good = !why_not(img) || diag_error(d, &at, "%s", why_not(img));
	good = good && sdt_read(img, &probes);
	if (good && !probes.n_sites)
		good = diag_error(d, &at, "has no probes");
	good = good && collect(&b, &probes, &kept);
	if (good)
		section = typenote_bytes(kept.text);
	binary_close(&b);
	good = good && put_into(a, d, path, section);
	if (good && verbose)
		printf("%s: types of %zu of %zu arguments at %zu site%s, %zu bytes\n", path,
		       kept.n_typed, kept.n_args, kept.n_sites, kept.n_sites == 1 ? "" : "s",
		       section.n);
	typenote_text_free(kept.text);
	return good;
}

int cmd_embed(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {0};
	int status = cmd_read_options(&options, a, argc, argv, &o);
	if (status >= 0)
		return status;
	if (optind == argc)
		return cmd_usage_error("give a FILE");
	status = CMD_OK;
	for (int i = optind; i < argc; i++)
		if (!embed(a, d, argv[i], o.verbose))
			status = CMD_INPUT;
	return status;
}
