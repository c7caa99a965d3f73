#include "probes_print.h"

#include "image/sdtarg.h"

/** How wide a printable text is: its characters, all taken to be one column wide. */
static size_t columns(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/** Two spaces or more after a text of @n columns, so that the next one starts at column @width + 2. */
static void pad(struct strbuf *b, size_t n, size_t width)
{
	for (strbuf_addz(b, "  "); n < width; n++)
		strbuf_addc(b, ' ');
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

/** The operands of a site, printable. */
struct row {
	struct str *cell;
	struct sdtarg *args;
	size_t n;
};

static struct row site_row(struct arena *a, unsigned machine, const struct sdt_site *s)
{
	struct row c;
	sdtarg_parse(a, machine, s->args, &c.args, &c.n);
	c.cell = arena_array(a, struct str, c.n + 1);
	for (size_t i = 0; i < c.n; i++)
		c.cell[i] = str_printable(a, c.args[i].text);
	return c;
}

#define MAX_PAD 24 // a longer operand moves what follows it

static void print_site(struct strbuf *b, const struct sdt_site *s, const struct row *c,
		       const size_t *widths, size_t addr_width)
{
	strbuf_addz(b, "    ");
	probes_add_hex(b, s->pc);
	size_t end = hex_width(s->pc), column = addr_width; // where the text ends, and should end
	for (size_t i = 0; i < c->n; i++) {
		pad(b, end, column);
		strbuf_adds(b, c->cell[i]);
		end = columns(c->cell[i]);
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

void probes_add_count(struct strbuf *b, size_t n, const char *what)
{
	if (n)
		strbuf_addf(b, "%zu %s%s", n, what, n == 1 ? "" : "s");
	else
		strbuf_addf(b, "no %ss", what);
}

#define MAX_NAME 48

/** "provider:name", escaped. */
static struct str shown_name(struct arena *a, const struct sdt_probe *p)
{
	struct strbuf b;
	strbuf_init(&b);
	strbuf_add_printable(&b, p->provider);
	strbuf_addc(&b, ':');
	strbuf_add_printable(&b, p->name);
	struct str s = str_copy(a, strbuf_str(&b));
	strbuf_fini(&b);
	return s;
}

/** What follows the name, and a line for each site. */
static void print_probe(struct strbuf *b, unsigned machine, const struct sdt_probe *p)
{
	struct arena scratch;
	arena_init(&scratch);
	size_t widths[SDTARG_MAX + 1] = {0}, addr_width = 0, most = 0, fewest = SIZE_MAX;
	struct row *rows = arena_array(&scratch, struct row, p->n_sites);
	for (size_t i = 0; i < p->n_sites; i++) {
		rows[i] = site_row(&scratch, machine, &p->sites[i]);
		size_t n = hex_width(p->sites[i].pc);
		addr_width = n > addr_width ? n : addr_width;
		most = rows[i].n > most ? rows[i].n : most;
		fewest = rows[i].n < fewest ? rows[i].n : fewest;
		for (size_t k = 0; k < rows[i].n; k++) {
			n = columns(rows[i].cell[k]);
			n = n < MAX_PAD ? n : MAX_PAD;
			widths[k] = n > widths[k] ? n : widths[k];
		}
	}
	probes_add_count(b, p->n_sites, "site");
	strbuf_addz(b, ", ");
	if (fewest < most)
		strbuf_addf(b, "%zu to ", fewest);
	probes_add_count(b, most, "argument");
	strbuf_addc(b, '\n');
	for (size_t i = 0; i < p->n_sites; i++)
		print_site(b, &p->sites[i], &rows[i], widths, addr_width);
	arena_fini(&scratch);
}

static void flush(struct strbuf *b, FILE *out)
{
	if (b->n)
		fwrite(b->p, 1, b->n, out);
	strbuf_clear(b);
}

void probes_print_text(FILE *out, const struct probes_file *files, size_t n_files, bool headers)
{
	struct strbuf b;
	struct arena names;
	bool first = true;
	strbuf_init(&b);
	arena_init(&names);
	for (size_t i = 0; i < n_files; i++) {
		const struct sdt_list *list = &files[i].probes;
		if (!list->n_probes)
			continue;
		if (headers) {
			strbuf_addz(&b, first ? "" : "\n");
			strbuf_add_printable(&b, files[i].path);
			strbuf_addz(&b, files[i].is_deleted ? " (deleted): " : ": ");
			probes_add_count(&b, list->n_probes, "probe");
			strbuf_addc(&b, '\n');
		}
		first = false;
		struct str *shown = arena_array(&names, struct str, list->n_probes);
		size_t width = 0;
		for (size_t k = 0; k < list->n_probes; k++) {
			shown[k] = shown_name(&names, &list->probes[k]);
			size_t n = columns(shown[k]);
			if (n > width && n <= MAX_NAME)
				width = n;
		}
		for (size_t k = 0; k < list->n_probes; k++) {
			strbuf_adds(&b, shown[k]);
			pad(&b, columns(shown[k]), width);
			print_probe(&b, files[i].machine, &list->probes[k]);
			flush(&b, out);
		}
	}
	arena_fini(&names);
	strbuf_fini(&b);
}

uint64_t probes_semaphore(const struct sdt_probe *p)
{
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].semaphore)
			return p->sites[i].semaphore;
	return 0;
}
