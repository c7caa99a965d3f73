#include "value/perfmap.h"

#include "base/file.h"

enum { MAX_BYTES = 64 << 20, MAX_ENTRIES = 1 << 20, MAX_NAME = 1024 };

void perfmap_init(struct perfmap *m, struct diag *d, const struct proc *proc)
{
	struct arena a = {0};
	*m = (struct perfmap){
	    .diag = d, .proc = proc, .user = proc_uid(&a, proc->procfs, proc->pid, PROC_UID_FILES)};
	arena_fini(&a);
}

void perfmap_fini(struct perfmap *m)
{
	arena_fini(&m->names);
}

/** All that was read is forgotten, and its memory is free. */
static void forget(struct perfmap *m)
{
	struct perfmap was = *m;
	perfmap_fini(m);
	*m = (struct perfmap){.diag = was.diag,
			      .proc = was.proc,
			      .user = was.user,
			      .was_said = was.was_said,
			      .was_foreign = was.was_foreign};
}

/** Hexadecimal digits and a blank. */
static bool parse_hex(struct str *s, uint64_t *ret)
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

/** The bytes before what is still to be read are those that were there. */
static bool is_continued(const struct perfmap *m, int fd)
{
	char tail[sizeof(m->tail)];
	return file_read_at(fd, tail, m->n_tail, m->done - m->n_tail) &&
	       memcmp(tail, m->tail, m->n_tail) == 0;
}

/** The whole lines of @text, which follow what was read. */
static void add_lines(struct perfmap *m, struct str text)
{
	const char *start = text.p;
	for (size_t nl; (nl = str_find(text, '\n')) < text.n && m->entries.n < MAX_ENTRIES;) {
		struct perfmap_entry e;
		struct str line = str_slice(text, 0, nl);
		text = str_from_offset(text, nl + 1);
		if (!parse_hex(&line, &e.addr) || !parse_hex(&line, &e.size) || !line.n)
			continue;
		e.name = str_copy(&m->names, str_slice(line, 0, MAX_NAME));
		vec_push(&m->names, &m->entries, e);
	}
	m->is_full = str_find(text, '\n') < text.n;
	size_t n = (size_t)(text.p - start);
	if (!n)
		return;
	m->done += n;
	m->n_tail = n < sizeof(m->tail) ? n : sizeof(m->tail);
	memcpy(m->tail, text.p - m->n_tail, m->n_tail);
}

static void report_full(struct perfmap *m, const char *path)
{
	if (!m->was_said)
		diag_warning(m->diag, NULL,
			     "%s: only the first %d functions and %d MiB are read; later "
			     "functions have no name, or that of an older one at their address",
			     path, MAX_ENTRIES, MAX_BYTES >> 20);
	m->was_said = true;
}

/** As symbol__load_perf_map() of tools/perf has it. */
static bool is_trusted(const struct stat *st, uid_t user)
{
	return st->st_uid == 0 || st->st_uid == user;
}

/** Are the names of the open file believed? Else that is said once. */
static bool check_owner(struct perfmap *m, struct arena *a, int fd, const char *path)
{
	struct stat st;
	if (proc_is_same(m->proc)) // a server may become another user
		m->user = proc_uid(a, m->proc->procfs, m->proc->pid, PROC_UID_FILES);
	if (fstat(fd, &st) != 0)
		return false;
	if (is_trusted(&st, m->user))
		return true;
	if (!m->was_foreign)
		diag_warning(m->diag, NULL,
			     "%s is not read: it belongs to uid %u, neither root nor the user of "
			     "process %d",
			     path, (unsigned)st.st_uid, m->proc->pid);
	m->was_foreign = true;
	return false;
}

bool perfmap_check(struct arena *a, struct diag *d, int pid, bool shows_names)
{
	const char *const paths[] = {
	    arena_printf(a, "%s/%d/root/tmp/perf-%d.map", PROCFS, pid, proc_ns_pid(a, PROCFS, pid)),
	    arena_printf(a, "/tmp/perf-%d.map", pid),
	};
	uid_t user = proc_uid(a, PROCFS, pid, PROC_UID_FILES);
	struct stat st, last = {0};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (stat(paths[i], &st) != 0 ||
		    (st.st_dev == last.st_dev && st.st_ino == last.st_ino))
			continue;
		last = st;
		if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
			return diag_error(
			    d, NULL,
			    "%s is not a regular file, so bpftrace, which reads it for names of "
			    "process %d, may hang (it belongs to uid %u): remove it",
			    paths[i], pid, (unsigned)st.st_uid);
		if (shows_names && S_ISREG(st.st_mode) && !is_trusted(&st, user))
			diag_warning(d, NULL,
				     "%s, from which bpftrace takes names of process %d, belongs "
				     "to uid %u, neither root nor the user of that process",
				     paths[i], pid, (unsigned)st.st_uid);
	}
	return true;
}

void perfmap_read(struct perfmap *m)
{
	struct arena a = {0};
	uint64_t size;
	const char *why;
	const char *path = arena_printf(&a, "/tmp/perf-%d.map", m->proc->ns_pid);
	int fd = file_open(str_dup(&a, m->proc->root), path, &size, &why);
	if (fd >= 0 && !check_owner(m, &a, fd, path)) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0 && (size < m->done || !is_continued(m, fd)))
		forget(m);
	if (fd >= 0 && size > m->done && !m->is_full) {
		size_t n = (size < MAX_BYTES ? size : MAX_BYTES) - m->done;
		struct str text = {arena_alloc(&a, n), n};
		if (file_read_at(fd, (char *)text.p, text.n, m->done))
			add_lines(m, text);
		m->is_full |= size > MAX_BYTES;
		if (m->is_full)
			report_full(m, path);
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
