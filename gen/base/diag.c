#include "base/diag.h"

#include "base/json.h"
#include "base/progress.h"

void diag_init(struct diag *d, FILE *out)
{
	const char *never = getenv("NO_COLOR"), *term = getenv("TERM");
	*d = (struct diag){.out = out};
	d->is_coloured =
	    out && isatty(fileno(out)) && !(never && *never) && term && strcmp(term, "dumb") != 0;
}

// Those of gcc.
#define PLAIN "\033[0m"
#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define GREEN "\033[1;32m"
#define MAGENTA "\033[1;35m"
#define CYAN "\033[1;36m"

static void paint(const struct diag *d, struct strbuf *b, const char *colour)
{
	strbuf_addz(b, d->is_coloured ? colour : "");
}

/** The line and a caret below the place; tabs are kept so that the caret is under its byte. */
static void add_excerpt(const struct diag *d, struct strbuf *b, const struct diag_place *at)
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
	paint(d, b, GREEN);
	strbuf_addc(b, '^');
	for (unsigned i = 1; i < at->len && at->col - 1 + i < line.n; i++)
		strbuf_addc(b, '~');
	paint(d, b, PLAIN);
	strbuf_addc(b, '\n');
}

static const struct {
	const char *word, *colour;
} levels[] = {[DIAG_NOTE] = {"note", CYAN},
	      [DIAG_WARNING] = {"warning", MAGENTA},
	      [DIAG_ERROR] = {"error", RED}};

static void add_text(struct diag *d, struct strbuf *b, const struct diag_place *at,
		     enum diag_level level, const char *name, struct str text)
{
	paint(d, b, BOLD);
	if (at) {
		strbuf_add_printable(b, at->file);
		if (at->line)
			strbuf_addf(b, ":%u", at->line);
		if (at->line && at->col)
			strbuf_addf(b, ":%u", at->col);
		strbuf_addz(b, ": ");
	} else {
		strbuf_addz(b, "btgen: ");
	}
	paint(d, b, levels[level].colour);
	strbuf_addf(b, "%s: ", levels[level].word);
	paint(d, b, PLAIN);
	strbuf_add_printable(b, text);
	for (size_t i = 0; level != DIAG_NOTE && !d->is_for_all && i < d->n_versions; i++)
		strbuf_addf(b, "%s%s%s", i ? ", " : " (", d->for_versions[i],
			    i + 1 < d->n_versions ? "" : ")");
	if (name)
		strbuf_addf(b, "  [%s]", name);
	strbuf_addc(b, '\n');
	if (at)
		add_excerpt(d, b, at);
}

void diag_end_json(struct diag *d)
{
	if (d->in_json) {
		json_close(d->json, ']');
		json_close(d->json, '}');
	}
	d->in_json = false;
}

/** A note is an element of "notes" of the message before it, or a message where there is none. */
static void add_json(struct diag *d, const struct diag_place *at, enum diag_level level,
		     const char *name, struct str text)
{
	struct json *j = d->json;
	bool is_inner = level == DIAG_NOTE && d->in_json;
	if (is_inner) {
		json_open(j, NULL, '{');
	} else {
		diag_end_json(d);
		json_open_line(j, "  ");
	}
	json_str_or_null(j, "file", at ? at->file : STR(""));
	json_printf(j, "line", "%u", at ? at->line : 0);
	json_printf(j, "col", "%u", at && at->line ? at->col : 0);
	json_printf(j, "end", "%u",
		    at && at->line && at->col ? at->col + (at->len ? at->len : 1) : 0);
	if (!is_inner) {
		json_str(j, "severity", str_from(levels[level].word));
		json_str_or_null(j, "name", str_from(name));
	}
	json_str(j, "text", text);
	if (d->for_versions && !is_inner) {
		json_open(j, "versions", '[');
		for (size_t i = 0; i < d->n_versions; i++)
			json_str(j, NULL, str_from(d->for_versions[i]));
		json_close(j, ']');
	}
	if (is_inner) {
		json_close(j, '}');
		return;
	}
	json_open(j, "notes", '[');
	d->in_json = true;
}

static void write_message(struct diag *d, const struct diag_place *at, enum diag_level level,
			  const char *name, struct str text)
{
	struct strbuf b = {0};
	if (at && !at->file.n)
		at = NULL;
	if (d->log) {
		struct diag_message m = {
		    .level = level, .name = name, .text = str_copy(d->log->arena, text)};
		if (at) {
			// The name of a source file is the binary's, which may be closed by then.
			m.at = *at;
			m.at.file = str_copy(d->log->arena, at->file);
		}
		vec_push(d->log->arena, &d->log->messages, m);
		return;
	}
	if (d->json) {
		add_json(d, at, level, name, text);
		return;
	}
	add_text(d, &b, at, level, name, text);
	progress_clear();
	// One write for a whole message, so that messages of several processes do not mix.
	fwrite(b.p, 1, b.n, d->out);
	fflush(d->out);
	strbuf_fini(&b);
}

static bool is_repeated(struct diag *d, const struct diag_place *at, enum diag_level level,
			struct str text)
{
	return d->once && at && level != DIAG_NOTE &&
	       !map_add(d->once->arena, &d->once->seen,
			str_printf(d->once->arena, STR_FMT ":%u:%u:" STR_FMT, STR_ARG(at->file),
				   at->line, at->col, STR_ARG(text)));
}

static __attribute__((format(printf, 5, 0))) void
report_formatted(struct diag *d, const struct diag_place *at, enum diag_level level,
		 const char *name, const char *fmt, va_list ap)
{
	struct strbuf msg = {0};
	if (!d->out && !d->json && !d->log)
		return;
	strbuf_vaddf(&msg, fmt, ap);
	if (is_repeated(d, at, level, strbuf_str(&msg))) {
		d->last_hidden = true;
		strbuf_fini(&msg);
		return;
	}
	write_message(d, at, level, name, strbuf_str(&msg));
	strbuf_fini(&msg);
	if (!at || !at->macro.file.n)
		return;
	struct diag_place call = {.file = at->macro.file,
				  .line = at->macro.line,
				  .col = at->macro.col,
				  .len = at->macro.len,
				  .source = at->macro.source};
	write_message(d, &call, DIAG_NOTE, NULL, STR("in the expansion of this macro"));
}

void diag_show(struct diag *d, const struct diag_message *m)
{
	if (d->out || d->json)
		write_message(d, &m->at, m->level, m->name, m->text);
}

/** Counts a message, which may be one too many to be shown. */
static void count(struct diag *d, enum diag_level level)
{
	if (level == DIAG_WARNING) {
		d->n_warnings++;
		d->last_hidden = d->quiet;
		return;
	}
	d->last_hidden = !d->json && !d->log && d->n_errors >= DIAG_MAX_ERRORS;
	d->n_errors++;
	if (d->last_hidden && d->n_errors == DIAG_MAX_ERRORS + 1 && d->out)
		fprintf(d->out, "btgen: error: too many errors; the rest are not shown\n");
}

/** What the user has chosen for the findings called @name. */
static enum diag_level level_of(const struct diag *d, const char *name, enum diag_level level)
{
	bool is_off = false;
	for (size_t i = 0; i < d->n_choices; i++)
		if (strcmp(d->choices[i].name, name) == 0)
			is_off = !d->choices[i].is_on;
	if (is_off)
		return DIAG_OFF;
	if (d->is_forced)
		return DIAG_WARNING;
	return d->is_strict || level == DIAG_ERROR ? DIAG_ERROR : DIAG_WARNING;
}

bool diag_report(struct diag *d, enum diag_level level, const char *name,
		 const struct diag_place *at, const char *fmt, ...)
{
	if (d->warns) {
		level = level == DIAG_ERROR ? DIAG_WARNING : level;
		d = d->warns;
	}
	if (name)
		level = level_of(d, name, level);
	else if (level == DIAG_WARNING && d->is_strict)
		level = DIAG_ERROR;
	if (level == DIAG_OFF)
		d->last_hidden = true;
	else if (level != DIAG_NOTE)
		count(d, level);
	va_list ap;
	va_start(ap, fmt);
	if (!d->last_hidden)
		report_formatted(d, at, level, name, fmt, ap);
	va_end(ap);
	return name && level != DIAG_ERROR;
}
