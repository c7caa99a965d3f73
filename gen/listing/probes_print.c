#include "listing/probes_print.h"

#include <string.h>

#include "usdt/sdtarg.h"

/** How wide a printable text is: its characters, all taken to be one column wide. */
static size_t columns(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/**
 * Two spaces or more after a text of @n columns, so that the next one starts at column @width + 2.
 */
static void pad(struct strbuf *b, size_t n, size_t width)
{
	static const char blanks[] = "                                                    ";
	size_t left = n < width ? width - n + 2 : 2, step;
	for (; left; left -= step) {
		step = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;
		strbuf_add(b, blanks, step);
	}
}

void probes_add_hex(struct strbuf *b, uint64_t v)
{
	char text[18], *p = text + sizeof(text);
	do
		*--p = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	*--p = 'x';
	*--p = '0';
	strbuf_add(b, p, (size_t)(text + sizeof(text) - p));
}

static size_t hex_width(uint64_t v)
{
	size_t n = 3;
	while (v >>= 4)
		n++;
	return n;
}

/** A column's text, printable, and how wide it is. */
struct cell {
	struct str text;
	size_t width;
};

static struct cell cell_of(struct arena *a, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || (unsigned char)s.p[i] >= 0x7f) {
			s = str_printable(a, s);
			return (struct cell){s, columns(s)};
		}
	return (struct cell){s, s.n}; // as nearly all are
}

/** The operands of a site. */
struct row {
	struct cell *cells;
	size_t n;
};

static struct row site_row(struct arena *a, const struct sdt_site *s)
{
	struct str texts[SDTARG_MAX + 1];
	struct row r;
	r.n = sdtarg_split(s->args, texts);
	r.cells = arena_alloc(a, (r.n + 1) * sizeof(*r.cells));
	for (size_t i = 0; i < r.n; i++)
		r.cells[i] = cell_of(a, texts[i]);
	return r;
}

#define MAX_PAD 24 // a longer operand moves what follows it

static void print_site(struct strbuf *b, const struct sdt_site *s, const struct row *r,
		       const size_t *widths, size_t addr_width)
{
	strbuf_addz(b, "    ");
	probes_add_hex(b, s->pc);
	size_t end = hex_width(s->pc), column = addr_width; // where the text ends, and should end
	for (size_t i = 0; i < r->n; i++) {
		pad(b, end, column);
		strbuf_adds(b, r->cells[i].text);
		end = r->cells[i].width;
		column = widths[i];
	}
	if (s->semaphore) {
		pad(b, end, column);
		strbuf_addz(b, "semaphore ");
		probes_add_hex(b, s->semaphore);
	}
	const char *doubt = sdt_doubt_text(s->doubt);
	if (doubt)
		strbuf_addf(b, "  (%s)", doubt);
	strbuf_addc(b, '\n');
}

static void add_number(struct strbuf *b, uint64_t v)
{
	char text[20], *p = text + sizeof(text);
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	strbuf_add(b, p, (size_t)(text + sizeof(text) - p));
}

void probes_add_count(struct strbuf *b, size_t n, const char *what)
{
	if (n)
		add_number(b, n);
	else
		strbuf_addz(b, "no");
	strbuf_addc(b, ' ');
	strbuf_addz(b, what);
	if (n != 1)
		strbuf_addc(b, 's');
}

#define MAX_NAME 48

/** "provider:name", escaped. */
static struct cell shown_name(struct arena *a, const struct sdt_probe *p)
{
	size_t n = p->provider.n + 1 + p->name.n;
	char *text = arena_alloc(a, n);
	memcpy(text, p->provider.p, p->provider.n);
	text[p->provider.n] = ':';
	memcpy(text + p->provider.n + 1, p->name.p, p->name.n);
	return cell_of(a, (struct str){text, n});
}

/** What follows the name, and a line for each site. */
static void print_probe(struct strbuf *b, const struct sdt_probe *p)
{
	struct arena scratch, *a = &scratch;
	arena_init(a);
	size_t widths[SDTARG_MAX + 1] = {0}, addr_width = 0, most = 0, fewest = SIZE_MAX;
	struct row *rows = arena_alloc(a, p->n_sites * sizeof(*rows));
	for (size_t i = 0; i < p->n_sites; i++) {
		rows[i] = site_row(a, &p->sites[i]);
		size_t n = hex_width(p->sites[i].pc);
		addr_width = n > addr_width ? n : addr_width;
		most = rows[i].n > most ? rows[i].n : most;
		fewest = rows[i].n < fewest ? rows[i].n : fewest;
		for (size_t k = 0; k < rows[i].n; k++) {
			n = rows[i].cells[k].width;
			n = n < MAX_PAD ? n : MAX_PAD;
			widths[k] = n > widths[k] ? n : widths[k];
		}
	}
	probes_add_count(b, p->n_sites, "site");
	strbuf_addz(b, ", ");
	if (fewest < most) {
		add_number(b, fewest);
		strbuf_addz(b, " to ");
	}
	probes_add_count(b, most, "argument");
	strbuf_addc(b, '\n');
	for (size_t i = 0; i < p->n_sites; i++)
		print_site(b, &p->sites[i], &rows[i], widths, addr_width);
	arena_fini(a);
}

/** Written in large pieces: a list of some hundred probes is a few of them. */
static void flush(struct strbuf *b, FILE *out, size_t piece)
{
	if (b->n < piece)
		return;
	fwrite(b->p, 1, b->n, out);
	strbuf_clear(b);
}

void probes_add_file(struct strbuf *b, const struct probes_file *f, bool first)
{
	strbuf_addz(b, first ? "" : "\n");
	strbuf_add_printable(b, f->path);
	strbuf_addz(b, f->is_deleted ? " (deleted): " : ": ");
	probes_add_count(b, f->probes.n_probes, "probe");
	strbuf_addc(b, '\n');
}

void probes_print_text(FILE *out, const struct probes_file *files, size_t n_files, bool headers)
{
	struct strbuf b;
	struct arena a;
	bool first = true;
	strbuf_init(&b);
	for (size_t i = 0; i < n_files; i++) {
		const struct sdt_list *list = &files[i].probes;
		if (!list->n_probes)
			continue;
		if (headers)
			probes_add_file(&b, &files[i], first);
		first = false;
		arena_init(&a);
		struct cell *names = arena_alloc(&a, list->n_probes * sizeof(*names));
		size_t width = 0;
		for (size_t k = 0; k < list->n_probes; k++) {
			names[k] = shown_name(&a, &list->probes[k]);
			if (names[k].width > width && names[k].width <= MAX_NAME)
				width = names[k].width;
		}
		for (size_t k = 0; k < list->n_probes; k++) {
			strbuf_adds(&b, names[k].text);
			pad(&b, names[k].width, width);
			print_probe(&b, &list->probes[k]);
			flush(&b, out, 32768);
		}
		arena_fini(&a);
	}
	flush(&b, out, 1);
	strbuf_fini(&b);
}

uint64_t probes_semaphore(const struct sdt_probe *p)
{
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].semaphore)
			return p->sites[i].semaphore;
	return 0;
}
