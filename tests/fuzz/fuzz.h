// What fuzz targets share: files made of bytes, messages that are looked at, a program whose names are looked up.
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "bind/targetfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_fail(const char *what, struct str text)
{
	fprintf(stderr, "%s: " STR_FMT "\n", what, STR_ARG(text));
	abort();
}

/** A folder of this process, with @name in it; the caller of the program removes $TMPDIR. */
static inline const char *fuzz_folder(struct arena *a, const char *name)
{
	const char *tmp = getenv("TMPDIR");
	char *path = arena_printf(a, "%s/btgen-fuzz.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(path) || mkdir(arena_printf(a, "%s/%s", path, name), 0700) != 0) {
		perror(path);
		exit(1);
	}
	return path;
}

static inline void fuzz_write(const char *path, struct str text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || close(fd) != 0) {
		perror(path);
		exit(1);
	}
}

/** Messages of one input. */
struct fuzz_said {
	struct diag diag;
	char *text;
	size_t n;
};

static inline void fuzz_listen(struct fuzz_said *s)
{
	diag_init(&s->diag, open_memstream(&s->text, &s->n));
}

/** Messages are lines of UTF-8, and nothing in them is for a terminal to act on. */
static inline void fuzz_must_be_printable(struct fuzz_said *s)
{
	fclose(s->diag.out);
	struct str text = {s->text, s->n};
	for (size_t i = 0; i < s->n; i++) {
		unsigned char c = (unsigned char)s->text[i];
		unsigned char next = i + 1 < s->n ? (unsigned char)s->text[i + 1] : 0;
		if ((c < 32 && c != '\n' && c != '\t') || c == 127 || (c == 0xc2 && next < 0xa0))
			fuzz_fail("control character in a message", text);
	}
	if (!str_is_utf8(text))
		fuzz_fail("a message is no UTF-8", text);
	free(s->text);
}

enum { FUZZ_RUNS_OF_A_TARGET = 256 }; // what is read of its types stays until it is closed

/** The program $FUZZ_TARGET, opened now and then: it is the same for all inputs. NULL: none. */
static inline struct targetfiles *fuzz_target(void)
{
	static struct targetfiles files;
	static struct arena arena;
	static struct diag d;
	static unsigned n_runs;
	const char *path = getenv("FUZZ_TARGET");
	for (size_t i = 0; i < files.list.n; i++) // no file's name is gone with the input before
		if (!str_has_prefix(files.list.v[i].path, STR("/")))
			fuzz_fail("a file of the target lost its name", files.list.v[i].path);
	if (!path || n_runs++ % FUZZ_RUNS_OF_A_TARGET)
		return path ? &files : NULL;
	if (n_runs > 1) {
		targetfiles_close(&files);
		arena_fini(&arena);
	}
	files = (struct targetfiles){0};
	diag_init(&d, stderr);
	if (!targetfiles_of_file(&arena, &d, path, &files))
		exit(1);
	d.out = NULL; // what is wrong in a mutated script's files is counted
	return &files;
}

#endif
