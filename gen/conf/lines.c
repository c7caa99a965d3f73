#include "conf/lines.h"

#include "base/file.h"

enum { MAX_LIST = 1 << 20 };

bool lines_open(struct arena *a, struct diag *d, const char *path, const char *what,
		struct lines *ret)
{
	const char *why;
	uint64_t size;
	*ret = (struct lines){.at.file = str_copy(a, str_from(path))};
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return diag_error(d, &ret->at, "%s", why);
	// To its end, whatever its size is: that of a file of /proc is 0.
	struct strbuf text = {0};
	int error = file_read_rest(fd, MAX_LIST, &text) ? 0 : errno;
	close(fd);
	bool is_small = text.n <= MAX_LIST;
	ret->rest = strbuf_take(&text, a);
	if (error)
		return diag_error(d, &ret->at, "cannot be read: %s", strerror(error));
	if (!is_small)
		return diag_error(d, &ret->at, "larger than 1 MiB: not a list %s", what);
	return str_find(ret->rest, '\0') == ret->rest.n ||
	       diag_error(d, &ret->at, "has a NUL byte: not a list %s", what);
}

bool lines_next(struct lines *l)
{
	l->text = STR("");
	while (!l->text.n && l->rest.n) {
		struct str line = l->at.source = str_take_line(&l->rest);
		l->at.line++;
		size_t i = str_find(line, '#'); // a comment, after a blank
		while (i < line.n && i && str_trim(str_slice(line, i - 1, 1)).n)
			i += 1 + str_find(str_from_offset(line, i + 1), '#');
		l->text = str_trim(str_slice(line, 0, i));
	}
	return l->text.n > 0;
}
