#include "text/src.h"

#include <fcntl.h>

#include "base/file.h"

static void index_lines(struct arena *a, struct src_file *f)
{
	uint32_t n = 1;
	for (size_t i = 0; i < f->text.n; i++)
		n += f->text.p[i] == '\n';
	f->lines = arena_array(a, uint32_t, n);
	f->n_lines = n;
	n = 1;
	for (uint32_t i = 0; i < f->text.n; i++)
		if (f->text.p[i] == '\n')
			f->lines[n++] = i + 1;
}

struct src_file *src_from_text(struct arena *a, struct str name, struct str text)
{
	struct src_file *f = arena_new(a, struct src_file);
	f->name = str_copy(a, name);
	f->dir = str_dir(f->name); // "." for a plain name, "/" for a name in the root
	while (f->dir.n > 1 && f->dir.p[f->dir.n - 1] == '/')
		f->dir.n--;
	f->dir = f->dir.n ? f->dir : STR(".");
	f->text = str_copy(a, str_slice(text, 0, SRC_MAX_SIZE));
	index_lines(a, f);
	return f;
}

static bool refuse(struct diag *d, const struct diag_place *at, struct str name, const char *why)
{
	return diag_error(d, at, "cannot read \"" STR_FMT "\": %s", STR_ARG(name), why);
}

/** Reads and closes @fd. */
static bool load_file(struct arena *a, struct diag *d, int fd, struct str name,
		      const struct diag_place *at, struct src_file **ret)
{
	struct strbuf b = {0};
	struct stat st = {0};
	bool good = fstat(fd, &st) == 0 && file_read_rest(fd, SRC_MAX_SIZE, &b);
	int err = errno;
	close(fd);

	size_t nul = str_find(strbuf_str(&b), '\0');
	if (!good) {
		refuse(d, at, name, strerror(err));
	} else if (b.n > SRC_MAX_SIZE) {
		good = refuse(d, at, name, "it is larger than 16 MiB");
	} else if (nul < b.n) {
		good = diag_error(d, at, "cannot read \"" STR_FMT "\": a NUL byte at offset %zu",
				  STR_ARG(name), nul);
	} else {
		*ret = src_from_text(a, name, strbuf_str(&b));
		(*ret)->dev = st.st_dev;
		(*ret)->ino = st.st_ino;
	}
	strbuf_fini(&b);
	return good;
}

bool src_load(struct arena *a, struct diag *d, const char *path, struct str name,
	      struct src_file **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? refuse(d, NULL, name, strerror(errno))
		      : load_file(a, d, fd, name, NULL, ret);
}

bool src_include(struct arena *a, struct diag *d, const char *path, struct str name,
		 const struct diag_place *at, struct src_file **ret)
{
	uint64_t size;
	const char *why;
	int fd = file_open(NULL, path, &size, &why);
	return fd < 0 ? refuse(d, at, name, errno == EINVAL ? why : strerror(errno))
		      : load_file(a, d, fd, name, at, ret);
}

/** Index of the line that holds @off. */
static uint32_t line_index(const struct src_file *f, uint32_t off)
{
	uint32_t lo = 0, hi = f->n_lines;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (f->lines[mid] <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void src_position(struct src_loc loc, unsigned *line, unsigned *col)
{
	*line = *col = 0;
	if (!loc.file)
		return;
	uint32_t i = line_index(loc.file, loc.off);
	*line = i + 1;
	*col = loc.off - loc.file->lines[i] + 1;
}

unsigned src_line(struct src_loc loc)
{
	return loc.file ? line_index(loc.file, loc.off) + 1 : 0;
}

struct diag_place src_place(struct src_loc loc, size_t len)
{
	for (size_t i = 0; loc.file && i < loc.file->n_quotes; i++) {
		const struct src_quote *q = &loc.file->quotes[i];
		uint32_t into = loc.off - q->off;
		if (into >= q->n)
			continue;
		into = q->is_same ? into : 0;
		size_t rest = q->of_n - into;
		return src_place((struct src_loc){q->of.file, q->of.off + into},
				 len < rest ? len : rest);
	}
	struct diag_place at = {.file = STR("btgen"), .len = len ? (unsigned)len : 1};
	if (!loc.file)
		return at;
	at.file = loc.file->name;
	src_position(loc, &at.line, &at.col);
	uint32_t start = loc.file->lines[at.line - 1];
	bool is_last = at.line == loc.file->n_lines;
	size_t end = is_last ? loc.file->text.n : loc.file->lines[at.line] - 1;
	at.source = str_slice(loc.file->text, start, end - start);
	return at;
}
