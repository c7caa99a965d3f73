#include "run/keep.h"

#include "base/json.h"

#define BLOCK_SIZE ((size_t)64 << 10)
#define BLOCK_MS 1000 // at most, and a sixteenth of what is wanted

struct block {
	struct block *next;
	unsigned long last; // of its newest line
	size_t n, n_lines;
	char bytes[];
};

struct keep {
	unsigned long ms, block_ms;
	size_t size, used; // bytes of all blocks
	struct block *oldest, *newest, *taken;
	struct strbuf open;	   // lines of the next block
	size_t n_lines;		   // of these
	unsigned long first, last; // of these
	uint64_t n_dropped;
};

void keep_report_missing(void)
{
	static const char line[] =
	    "btgen: SIGUSR1 ignored: only a trace with --keep prints on it\n";
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		return;
}

struct keep *keep_new(unsigned long ms, size_t size)
{
	struct keep *k = base_new(struct keep);
	k->ms = ms;
	k->block_ms = ms / 16 < BLOCK_MS ? ms / 16 : BLOCK_MS;
	k->size = size;
	return k;
}

/** The oldest block, which there is, out of the list. */
static struct block *unlink_oldest(struct keep *k)
{
	struct block *b = k->oldest;
	k->oldest = b->next;
	k->used -= sizeof(*b) + b->n;
	return b;
}

static void drop_oldest(struct keep *k)
{
	struct block *b = unlink_oldest(k);
	k->n_dropped += b->n_lines;
	free(b);
}

void keep_free(struct keep *k)
{
	if (!k)
		return;
	while (k->oldest)
		free(unlink_oldest(k));
	free(k->taken);
	strbuf_fini(&k->open);
	free(k);
}

/** The open lines become the newest block, for which others make room. */
static void close_block(struct keep *k)
{
	struct str lines = strbuf_str(&k->open);
	size_t size = sizeof(struct block) + lines.n;
	if (!lines.n)
		return;
	while (k->oldest && k->used + size > k->size - BLOCK_SIZE)
		drop_oldest(k);
	struct block *b = malloc(size);
	if (!b)
		base_oom();
	*b = (struct block){.last = k->last, .n = lines.n, .n_lines = k->n_lines};
	memcpy(b->bytes, lines.p, lines.n);
	if (k->oldest)
		k->newest->next = b;
	else
		k->oldest = b;
	k->newest = b;
	k->used += size;
	strbuf_clear(&k->open);
	k->n_lines = 0;
}

void keep_add(struct keep *k, unsigned long now, struct str lines)
{
	while (lines.n) {
		struct str line = lines;
		str_take_line(&lines);
		line.n -= lines.n; // with its newline
		if (k->open.n && (k->open.n + line.n > BLOCK_SIZE || now - k->first > k->block_ms))
			close_block(k);
		if (!k->open.n)
			k->first = now;
		k->last = now;
		strbuf_adds(&k->open, line);
		k->n_lines++;
	}
}

bool keep_next(struct keep *k, unsigned long now, struct str *piece, uint64_t *n_lines)
{
	close_block(k);
	while (k->oldest && k->oldest->last + k->ms < now)
		drop_oldest(k);
	free(k->taken);
	k->taken = k->oldest ? unlink_oldest(k) : NULL;
	if (!k->taken)
		return false;
	*piece = (struct str){k->taken->bytes, k->taken->n};
	*n_lines += k->taken->n_lines;
	return true;
}

uint64_t keep_dropped(struct keep *k)
{
	uint64_t n = k->n_dropped;
	k->n_dropped = 0;
	return n;
}

struct str keep_heading(struct arena *a, struct str heading, const char *why)
{
	struct str end = STR("}}\n");
	struct strbuf b = {0};
	struct json j = {&b, true};
	if (!str_has_suffix(heading, end))
		return str_printf(a, "==> " STR_FMT " <==\n",
				  STR_ARG(str_printable(a, str_from(why))));
	strbuf_adds(&b, str_slice(heading, 0, heading.n - end.n));
	json_str(&j, "trigger", str_from(why));
	strbuf_adds(&b, end);
	return strbuf_take(&b, a);
}
