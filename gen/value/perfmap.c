#include "value/perfmap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { MAX_BYTES = 64 << 20, MAX_NAME = 1024 };

void perfmap_init(struct perfmap *m, struct arena *a, const struct proc *proc)
{
	*m = (struct perfmap){.arena = a, .proc = proc};
}

/** Hexadecimal digits and a blank. */
static bool take_hex(struct str *s, uint64_t *ret)
{
	struct str word = str_slice(*s, 0, str_find(*s, ' '));
	char digits[20] = "";
	char *end;
	if (!word.n || word.n == s->n || word.n >= sizeof(digits))
		return false;
	memcpy(digits, word.p, word.n);
	*ret = strtoull(digits, &end, 16);
	*s = str_from_offset(*s, word.n + 1);
	return *end == '\0';
}

static void take_line(struct perfmap *m, struct str line)
{
	struct perfmap_entry e;
	if (take_hex(&line, &e.addr) && take_hex(&line, &e.size) && line.n) {
		e.name = str_copy(m->arena, str_slice(line, 0, MAX_NAME));
		vec_push(m->arena, &m->entries, e);
	}
}

void perfmap_read(struct perfmap *m)
{
	struct arena a;
	uint64_t size;
	const char *why;
	arena_init(&a);
	const char *path = arena_printf(&a, "/tmp/perf-%d.map", m->proc->ns_pid);
	int fd = file_open(str_dup(&a, m->proc->root), path, &size, &why);
	if (fd >= 0 && size < m->done) { // written anew
		m->done = 0;
		m->entries.n = 0;
	}
	if (fd >= 0 && size > m->done && size <= MAX_BYTES) {
		struct str text = {arena_alloc(&a, size - m->done), size - m->done};
		if (!file_read_at(fd, (char *)text.p, text.n, m->done))
			text.n = 0;
		for (size_t nl; (nl = str_find(text, '\n')) < text.n;) {
			take_line(m, str_slice(text, 0, nl));
			text = str_from_offset(text, nl + 1);
			m->done += nl + 1;
		}
	}
	if (fd >= 0)
		close(fd);
	arena_fini(&a);
}

struct str perfmap_find(const struct perfmap *m, uint64_t addr)
{
	for (size_t i = m->entries.n; i-- > 0;)
		if (addr - m->entries.v[i].addr < m->entries.v[i].size)
			return m->entries.v[i].name;
	return STR("");
}
