#include "base/diag.h"

#include <string.h>

void diag_init(struct diag *d, FILE *out)
{
	*d = (struct diag){.out = out};
}

/** The line and a caret below the place; tabs are kept so that the caret stands under its byte. */
static void add_excerpt(struct strbuf *b, const struct diag_place *at)
{
	struct str line = at->source;
	while (line.n && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == '\n'))
		line.n--;
	if (!line.n || !at->col || at->col > line.n + 1 || line.n > 500)
		return;

	strbuf_addz(b, "    ");
	for (size_t i = 0; i < line.n;) {
		size_t tab = str_find(str_from_offset(line, i), '\t');
		strbuf_add_printable(b, str_slice(line, i, tab));
		i += tab;
		if (i < line.n) {
			strbuf_addc(b, '\t');
			i++;
		}
	}
	strbuf_addz(b, "\n    ");
	for (size_t i = 0; i + 1 < at->col; i++) {
		unsigned char c = (unsigned char)line.p[i];
		if (c == '\t')
			strbuf_addc(b, '\t');
		else if (c < 0x20 || c == 0x7f)
			strbuf_addz(b, "    "); // shown as \xNN
		else if ((c & 0xc0) != 0x80)
			strbuf_addc(b, ' ');
	}
	strbuf_addc(b, '^');
	for (unsigned i = 1; i < at->len && at->col - 1 + i < line.n; i++)
		strbuf_addc(b, '~');
	strbuf_addc(b, '\n');
}

static __attribute__((format(printf, 4, 0))) void
say(struct diag *d, const struct diag_place *at, const char *level, const char *fmt, va_list ap)
{
	struct strbuf msg, b;
	if (!d->out)
		return;
	strbuf_init(&msg);
	strbuf_init(&b);
	strbuf_vaddf(&msg, fmt, ap);
	if (at && at->file.n) {
		strbuf_add_printable(&b, at->file);
		if (at->line)
			strbuf_addf(&b, ":%u", at->line);
		if (at->line && at->col)
			strbuf_addf(&b, ":%u", at->col);
		strbuf_addz(&b, ": ");
	} else {
		strbuf_addz(&b, "btgen: ");
		at = NULL;
	}
	strbuf_addf(&b, "%s: ", level);
	strbuf_add_printable(&b, strbuf_str(&msg));
	strbuf_addc(&b, '\n');
	if (at)
		add_excerpt(&b, at);
	// One write for a whole message, so that messages of several processes do not mix.
	fwrite(b.p, 1, b.n, d->out);
	fflush(d->out);
	strbuf_fini(&msg);
	strbuf_fini(&b);
}

bool diag_error(struct diag *d, const struct diag_place *at, const char *fmt, ...)
{
	d->last_hidden = d->n_errors++ >= DIAG_MAX_ERRORS;
	if (d->n_errors == DIAG_MAX_ERRORS + 1 && d->out)
		fprintf(d->out, "btgen: error: too many errors; the rest are not shown\n");
	if (d->last_hidden)
		return false;
	va_list ap;
	va_start(ap, fmt);
	say(d, at, "error", fmt, ap);
	va_end(ap);
	return false;
}

bool diag_warning(struct diag *d, const struct diag_place *at, const char *fmt, ...)
{
	d->n_warnings++;
	d->last_hidden = d->quiet;
	if (d->last_hidden)
		return false;
	va_list ap;
	va_start(ap, fmt);
	say(d, at, "warning", fmt, ap);
	va_end(ap);
	return false;
}

bool diag_note(struct diag *d, const struct diag_place *at, const char *fmt, ...)
{
	if (d->last_hidden)
		return false;
	va_list ap;
	va_start(ap, fmt);
	say(d, at, "note", fmt, ap);
	va_end(ap);
	return false;
}
