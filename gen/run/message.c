#include "run/message.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "lang/vocabulary.h"
#include "run/definitions.h"
#include "run/tracefs.h"
#include "usdt/sdtarg.h"

void messages_init(struct messages *m, struct diag *d, const struct linemap *map,
		   const char *program_name)
{
	*m = (struct messages){.diag = d, .map = map, .program_name = program_name};
	arena_init(&m->arena);
}

void messages_fini(struct messages *m)
{
	strbuf_fini(&m->c_errors);
	strbuf_fini(&m->key);
	arena_fini(&m->arena);
}

// --- A line, taken apart

/** "FILE:2:17-20: ERROR: text" or "FILE:2-4: ERROR: text" */
struct message {
	bool is_own;		  /**< its file is the program, else bpftrace's own script */
	unsigned line, last_line; /**< from 1 */
	unsigned col, end;	  /**< from 1, in bytes, @end behind the last; 0: whole lines */
	bool is_error;		  /**< else a warning */
	struct str text;
};

static bool take_number(struct str *s, unsigned *ret)
{
	size_t n = 0;
	*ret = 0;
	while (n < s->n && n < 9 && isdigit((unsigned char)s->p[n]))
		*ret = *ret * 10 + (unsigned)(s->p[n++] - '0');
	*s = str_from_offset(*s, n);
	return n > 0;
}

static bool take_file(const struct messages *m, struct str *line, struct message *ret)
{
	ret->is_own = str_take(line, str_from(m->program_name));
	if (!ret->is_own && str_has_prefix(*line, STR("stdlib/")))
		*line = str_from_offset(*line, str_find(*line, ':'));
	else if (!ret->is_own)
		return false;
	return str_take(line, STR(":"));
}

/** False when @line is none. */
static bool parse(const struct messages *m, struct str line, struct message *ret)
{
	*ret = (struct message){0};
	if (!take_file(m, &line, ret) || !take_number(&line, &ret->line))
		return false;
	ret->last_line = ret->line;
	if (str_take(&line, STR("-"))) {
		if (!take_number(&line, &ret->last_line))
			return false;
	} else if (!str_take(&line, STR(":")) || !take_number(&line, &ret->col) ||
		   !str_take(&line, STR("-")) || !take_number(&line, &ret->end)) {
		return false;
	}
	if (!str_take(&line, STR(": ")))
		return false;
	ret->is_error = str_take(&line, STR("ERROR: "));
	ret->text = line;
	return ret->is_error || str_take(&ret->text, STR("WARNING: "));
}

// --- Places

/** What no attach point ends in or begins with, but quotes and ends of sentences do. */
static struct str trim_word(struct str s)
{
	while (s.n && strchr("'\"(", s.p[0]))
		s = str_from_offset(s, 1);
	while (s.n && strchr("'\").,:", s.p[s.n - 1]))
		s.n--;
	return s;
}

/** Does @name end the attach point @run, which may have a predicate behind it? */
static bool is_name_of(struct str run, struct str name)
{
	for (size_t i = 0; name.n && i + name.n <= run.n; i++) {
		size_t end = i + name.n;
		if ((i == 0 || run.p[i - 1] == ':') && (end == run.n || run.p[end] == '/') &&
		    str_eq(str_slice(run, i, end), name))
			return true;
	}
	return false;
}

/**
 * bpftrace names a program by its probe, with _ for all that is no letter, and a number, which counts
 * the attach points of the script: "interval_s_1_2". 0.23 puts that of a site before it: "_loc0_2".
 */
static bool is_function_of(struct str run, struct str word, unsigned *ret)
{
	unsigned site;
	for (size_t i = 0; i < run.n && i < word.n; i++)
		if (word.p[i] != (isalnum((unsigned char)run.p[i]) ? run.p[i] : '_'))
			return false;
	struct str rest = str_from_offset(word, run.n);
	if (str_take(&rest, STR("_loc")) && !take_number(&rest, &site))
		return false;
	return word.n > run.n && str_take(&rest, STR("_")) && take_number(&rest, ret) && !rest.n;
}

/**
 * Is @word of a message another spelling of @run? bpftrace shortens paths ("lb.so:lib:f"), or has the
 * name of a program.
 */
static bool is_meant(struct str run, struct str word)
{
	size_t gap = 0; // "/bin/sh::name", of a usdt probe without a provider
	while (gap < word.n && !str_has_prefix(str_from_offset(word, gap), STR("::")))
		gap++;
	if (gap < word.n && str_contains(run, str_slice(word, 0, gap)) &&
	    is_name_of(run, str_from_offset(word, gap + 2)))
		return true;
	for (struct str s = word; str_find(s, ':') < s.n;
	     s = str_from_offset(s, str_find(s, ':') + 1))
		if (is_name_of(run, s))
			return true;
	unsigned number;
	return is_function_of(run, word, &number);
}

/** One of the words of @text means @run. */
static bool is_named(struct str run, struct str text)
{
	while (text.n) {
		size_t n = str_find(text, ' ');
		if (is_meant(run, trim_word(str_slice(text, 0, n))))
			return true;
		text = str_from_offset(text, n + 1);
	}
	return false;
}

/** The tokens from entry @i on that touch each other, as one text: an attach point is one. */
static size_t add_run(const struct linemap *map, size_t i, struct strbuf *ret)
{
	strbuf_clear(ret);
	do {
		const struct linemap_entry *e = &map->entries.v[i++], *next = e + 1;
		for (size_t k = 0; k < e->token->text.n; k++)
			if (e->token->text.p[k] != '"')
				strbuf_addc(ret, e->token->text.p[k]);
		if (i == map->entries.n || next->line != e->line || next->col != e->col + e->len ||
		    tok_is_any(next->token, (const char *const[]){"{", "}", ",", NULL}))
			return i;
	} while (true);
}

/** Of a text outside of braces: BEGIN, interval:s:1. */
static bool is_attach_point(struct str run)
{
	size_t colon = str_find(run, ':'), slash = str_find(run, '/');
	struct str word = str_slice(run, 0, colon < slash ? colon : slash);
	return vocabulary_provider(word)->name;
}

struct attach_found {
	const struct token *token; /**< its first one; NULL: none */
	unsigned len;
};

/** The attach point on or below @line that @text names, else the one that begins @last_line. */
static struct attach_found find_attach(const struct messages *m, unsigned line, unsigned last_line,
				       struct str text)
{
	struct attach_found fallback = {0}, found = {0};
	int depth = 0;
	struct strbuf run;
	strbuf_init(&run);
	for (size_t i = 0, next; m->map && i < m->map->entries.n && !found.token; i = next) {
		const struct linemap_entry *e = &m->map->entries.v[i];
		bool is_outside = depth == 0;
		next = add_run(m->map, i, &run);
		depth += tok_is(e->token, "{") - tok_is(e->token, "}");
		if (!is_outside || e->line < line)
			continue;
		const struct linemap_entry *last = &m->map->entries.v[next - 1];
		struct attach_found this = {e->token, last->col + last->len - e->col};
		if (!fallback.token && e->line == last_line && e->token->bol &&
		    isalpha((unsigned char)run.p[0]))
			fallback = this;
		if (is_named(strbuf_str(&run), text))
			found = this;
	}
	strbuf_fini(&run);
	return found.token ? found : fallback;
}

/** The attach points that @text names, where several clauses have the same. */
struct candidate {
	struct attach_found at;
	const struct token *clause; // its first attach point
};

struct candidates {
	VEC(struct candidate) list;
	unsigned number; /**< of the one that is meant, as bpftrace counts them; 0: not known */
	size_t meant;	 /**< its index, if the number fits */
};

static unsigned program_number(struct str run, struct str text)
{
	unsigned number = 0;
	while (text.n) {
		size_t n = str_find(text, ' ');
		if (is_function_of(run, trim_word(str_slice(text, 0, n)), &number))
			return number;
		text = str_from_offset(text, n + 1);
	}
	return 0;
}

static void find_candidates(struct messages *m, struct str text, struct candidates *ret)
{
	int depth = 0;
	unsigned n_points = 0;
	const struct token *clause = NULL;
	struct strbuf run;
	strbuf_init(&run);
	*ret = (struct candidates){0};
	for (size_t i = 0, next; i < m->map->entries.n; i = next) {
		const struct linemap_entry *e = &m->map->entries.v[i], *last;
		bool is_outside = depth == 0;
		next = add_run(m->map, i, &run);
		last = &m->map->entries.v[next - 1];
		depth += tok_is(e->token, "{") - tok_is(e->token, "}");
		if (!is_outside || !is_attach_point(strbuf_str(&run)))
			continue;
		n_points++;
		if (!i || !tok_is(e[-1].token, ","))
			clause = e->token;
		if (!is_named(strbuf_str(&run), text))
			continue;
		if (program_number(strbuf_str(&run), text) == n_points) {
			ret->number = n_points;
			ret->meant = ret->list.n;
		}
		struct attach_found at = {e->token, last->col + last->len - e->col};
		vec_push(&m->arena, &ret->list, (struct candidate){at, clause});
	}
	strbuf_fini(&run);
}

static void add_place(struct strbuf *b, struct src_loc loc, const struct src_file *file)
{
	if (loc.file != file)
		strbuf_addf(b, STR_FMT ":", STR_ARG(loc.file->name));
	strbuf_addf(b, "%u, ", src_line(loc));
}

/** The lines of all clauses that may be meant, "3, 5, 7"; how many these are. */
static size_t list_clauses(const struct messages *m, const struct candidates *c, struct strbuf *ret)
{
	size_t n = 0;
	const struct src_file *file = c->list.v[0].clause->use.file;
	for (size_t i = 0; i < c->list.n; i++) {
		struct src_loc at = c->list.v[i].clause->use;
		if (!at.file || (c->number && i != c->meant))
			continue;
		add_place(ret, at, file);
		n++;
		for (size_t k = 0; k < m->map->n_joins; k++) {
			const struct src_join *join = &m->map->joins[k];
			bool is_it = join->into.file == at.file && join->into.off == at.off;
			if (is_it && join->from.file)
				add_place(ret, join->from, file);
			n += is_it && join->from.file;
		}
	}
	return n;
}

static bool place_of(const struct token *t, unsigned len, struct diag_place *ret)
{
	if (!t || !t->use.file)
		return false;
	bool exact = t->use.file == t->loc.file && t->use.off == t->loc.off;
	*ret = src_place(t->use, exact && len ? len : t->text.n);
	if (ret->source.n && ret->col - 1 + ret->len > ret->source.n)
		ret->len = ret->col <= ret->source.n ? (unsigned)ret->source.n - ret->col + 1 : 1;
	return true;
}

/** The place in a template that @msg means; false for none: what it was made from has none. */
static bool find_place(const struct messages *m, const struct message *msg, struct diag_place *ret,
		       bool *is_ours)
{
	unsigned len = msg->end > msg->col ? msg->end - msg->col : 0;
	const struct token *t = NULL;
	if (!m->map)
		return false;
	if (msg->col) {
		t = linemap_find(m->map, msg->line, msg->col);
	} else {
		struct attach_found at = find_attach(m, msg->line, msg->last_line, msg->text);
		t = at.token ? at.token : linemap_find_line(m->map, msg->line);
		len = at.len;
	}
	// What a statement was made of keeps its place; of a cast around it bpftrace speaks there, too.
	*is_ours = t && !t->loc.file &&
		   (t->kind == TOK_OTHER || str_contains(msg->text, STR(" being cast to type: ")));
	return place_of(t, len, ret);
}

// --- One cause, one message

/** "KIND NAME" in a buffer that stays: bpftrace may go on for days, and say the same each minute. */
static struct str cause(struct messages *m, const char *kind, struct str name)
{
	strbuf_clear(&m->key);
	strbuf_addf(&m->key, "%s " STR_FMT, kind, STR_ARG(name));
	return strbuf_str(&m->key);
}

static struct str cause_at(struct messages *m, const struct diag_place *at)
{
	strbuf_clear(&m->key);
	strbuf_addf(&m->key, "at " STR_FMT ":%u:%u", STR_ARG(at->file), at->line, at->col);
	return strbuf_str(&m->key);
}

/** True when there was no such cause before. */
static bool is_first(struct messages *m, struct str key)
{
	return !map_get(&m->causes, key) &&
	       map_add(&m->arena, &m->causes, str_copy(&m->arena, key));
}

/** The type of what bpftrace does not understand: said of what such an expression is part of. */
static bool follows_from_another(struct str text)
{
	struct str none = STR("none");
	for (size_t i = 0; i + none.n <= text.n; i++)
		if (str_has_prefix(str_from_offset(text, i), none) && i > 0 &&
		    strchr("'( ", text.p[i - 1]) &&
		    (i + none.n == text.n || strchr("' )", text.p[i + none.n])))
			return true;
	return false;
}

/**
 * The name of an error that is about a name alone, as `Undefined map: @x` and `Cannot resolve
 * unknown type "struct x"`; empty for others.
 */
static struct str unknown_name(struct str text)
{
	static const char *const starts[] = {"Undefined ", "Unknown ",
					     "Cannot resolve unknown type ", "Cannot cast to "};
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (!str_has_prefix(text, str_from(starts[i])))
			continue;
		size_t colon = str_find(text, ':'), quote = str_find(text, '"');
		return trim_word(
		    str_trim(str_from_offset(text, (colon < quote ? colon : quote) + 1)));
	}
	return STR("");
}

/**
 * Members of one thing that has none, "Can not access field 'x' on expression of type 'int64'": what
 * it is called where it is used. Empty for other errors.
 */
static struct str memberless(const struct diag_place *at, struct str text)
{
	struct str s = str_from_offset(at->source, at->col ? at->col - 1 : 0);
	size_t n = 0;
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || memchr("$@_", s.p[n], 3)))
		n++;
	return str_has_prefix(text, STR("Can not access field ")) ? str_slice(s, 0, n) : STR("");
}

/** Was an error of the same cause reported before? @at may be NULL. */
static bool is_known(struct messages *m, const struct diag_place *at, struct str text)
{
	bool is_new = is_first(m, at ? cause_at(m, at) : cause(m, "text", text));
	struct str name = unknown_name(text), whole = at ? memberless(at, text) : STR("");
	if (name.n)
		is_new &= is_first(m, cause(m, "name", name));
	if (whole.n)
		is_new &= is_first(m, cause(m, "member of", whole));
	return !is_new;
}

/** "tracepoint not found: a:b", and 0.27's "No matches for tracepoint a:b." */
static struct str missing_tracepoint(struct str text)
{
	bool is_it = str_take(&text, STR("tracepoint not found: ")) ||
		     str_take(&text, STR("tracepoints not found: ")) ||
		     str_take(&text, STR("No matches for tracepoint "));
	return is_it ? trim_word(text) : STR("");
}

static bool lacks_tracefs(struct str text)
{
	bool is_it = missing_tracepoint(text).n || str_contains(text, STR("available_events"));
	return is_it && !tracefs_is_mounted();
}

/** "Unknown function: foo" and "Unknown identifier: 'foo'" */
static void note_spelling(struct messages *m, struct str text)
{
	bool is_it = str_has_prefix(text, STR("Unknown function")) ||
		     str_has_prefix(text, STR("Unknown identifier"));
	struct str name = is_it ? unknown_name(text) : STR("");
	const char *near = name.n ? vocabulary_nearest(name) : NULL;
	if (near && !str_eqz(name, near)) // a version that is too old has another vocabulary
		diag_note(m->diag, NULL, "did you mean %s?", near);
}

static void report_error(struct messages *m, const struct diag_place *at, struct str text)
{
	m->n_errors++;
	if (str_eqz(text, "stoull")) // 0.17: the function of C++ that failed
		text = STR("not a number");
	if (!lacks_tracefs(text)) {
		diag_error(m->diag, at, "bpftrace: " STR_FMT, STR_ARG(text));
		note_spelling(m, text);
		if (missing_tracepoint(text).n)
			tracefs_note_missing(m->diag, missing_tracepoint(text));
	} else if (is_first(m, cause(m, "tracefs", STR("")))) {
		diag_error(m->diag, at,
			   "bpftrace %s because tracefs is not mounted: mount -t tracefs tracefs "
			   "/sys/kernel/tracing",
			   at ? "finds no tracepoints" : "cannot run a script");
	}
}

static void hold(struct messages *m, struct message_held *h, const struct diag_place *at,
		 struct str text)
{
	*h = (struct message_held){.text = str_copy(&m->arena, text), .has_place = at != NULL};
	if (at)
		h->at = *at;
}

/** Was it shown before, while the program runs? Then it is counted. */
static bool is_repeated(struct messages *m, const struct diag_place *at, struct str text)
{
	if (!m->is_running)
		return false;
	struct str key = cause(m, "text", text);
	if (at) {
		strbuf_addf(&m->key, " at " STR_FMT ":%u:%u", STR_ARG(at->file), at->line, at->col);
		key = strbuf_str(&m->key);
	}
	size_t i = (size_t)(uintptr_t)map_get(&m->repeated_at, key);
	if (i) {
		m->repeated.v[i - 1].n++;
		return true;
	}
	struct message_repeated r = {.text = str_copy(&m->arena, text), .has_place = at};
	if (at)
		r.at = *at;
	vec_push(&m->arena, &m->repeated, r);
	map_put(&m->arena, &m->repeated_at, str_copy(&m->arena, key),
		(void *)(uintptr_t)m->repeated.n);
	return false;
}

/** What a map holds is not all that happened. */
static bool is_loss(struct str text)
{
	return str_has_prefix(text, STR("Map full")) ||
	       str_has_prefix(text, STR("what one processor counted is lost"));
}

void messages_end(struct messages *m)
{
	for (size_t i = 0; i < m->repeated.n; i++) {
		const struct message_repeated *r = &m->repeated.v[i];
		bool was_quiet = m->diag->quiet;
		m->diag->quiet = was_quiet && !is_loss(r->text);
		if (r->n)
			diag_warning(m->diag, r->has_place ? &r->at : NULL,
				     "%lu times more: bpftrace: " STR_FMT, r->n, STR_ARG(r->text));
		m->diag->quiet = was_quiet;
	}
}

static void take_error(struct messages *m, const struct diag_place *at, struct str text)
{
	m->last_hidden = true;
	if (follows_from_another(text)) {
		if (!m->follow_up.text.n)
			hold(m, &m->follow_up, at, text);
	} else if (!is_known(m, at, text)) {
		report_error(m, at, text);
		m->last_hidden = false;
	}
}

/** What 0.20 to 0.23 only have the kernel's error number for. */
static struct str in_words(struct str text)
{
	if (str_eq(text, STR("File exists"))) // of BPF_NOEXIST
		return STR("the counts of one CPU are lost: another CPU created the same map key "
			   "at that moment");
	return text;
}

/**
 * Warnings that leave nothing to do: bpftrace 0.27 says the first of its own address spaces and the
 * second of delete() as a statement, which is what older versions have. @is_ours is that of a cast
 * that we put in so that all versions read the same: not the template's business.
 */
static void take_warning(struct messages *m, const struct diag_place *at, struct str text,
			 bool is_ours)
{
	bool is_idle = is_ours || str_eq(text, STR("Addrspace mismatch")) ||
		       str_eq(text, STR("Return value discarded."));
	text = in_words(text);
	bool was_quiet = m->diag->quiet;
	m->has_loss |= is_loss(text);
	m->diag->quiet = was_quiet && !is_loss(text);
	m->last_hidden = is_idle || m->diag->quiet ||
			 (at && map_get(&m->causes, cause_at(m, at))) || is_repeated(m, at, text);
	if (!m->withheld.text.n && (is_idle || m->diag->quiet))
		hold(m, &m->withheld, at, text);
	if (!m->last_hidden)
		diag_warning(m->diag, at, "bpftrace: " STR_FMT, STR_ARG(text));
	m->diag->quiet = was_quiet;
}

/** The operands of a comparison that it has reported; they are in its text. */
static bool is_operand(struct str text)
{
	return str_has_prefix(text, STR("left (")) || str_has_prefix(text, STR("right ("));
}

/** The lines of the program that a message is about, and those behind them. */
static struct str program_lines(const struct messages *m, const struct message *msg)
{
	struct str rest = msg->is_own ? m->program : (struct str){0};
	for (unsigned i = 1; i < msg->line; i++)
		str_take_line(&rest);
	return rest;
}

static bool take_placed(struct messages *m, struct str line)
{
	struct message msg;
	struct diag_place at;
	bool is_ours = false;
	if (!m->map || !parse(m, line, &msg))
		return false;
	m->skip_excerpt = msg.col ? 2 : msg.is_own ? 0 : msg.last_line + 1 - msg.line;
	m->excerpt = STR("");
	if (!msg.col)
		m->excerpt = program_lines(m, &msg);
	bool is_origin = str_eq(msg.text, STR("expanded from"));
	if (!msg.is_own) {
		if (!is_origin) {
			hold(m, &m->inner, NULL, msg.text);
			m->inner_is_error = msg.is_error;
		}
		return true;
	}
	bool has_place = find_place(m, &msg, &at, &is_ours);
	if (is_origin && m->inner.text.n) {
		msg.text = m->inner.text;
		msg.is_error = m->inner_is_error;
		is_origin = false;
	}
	m->inner.text = STR("");
	if (is_origin && !m->last_hidden && has_place)
		diag_note(m->diag, &at, "expanded from here");
	else if (msg.is_error && !is_origin && !is_operand(msg.text))
		take_error(m, has_place ? &at : NULL, msg.text);
	else if (!msg.is_error && !is_origin)
		take_warning(m, has_place ? &at : NULL, msg.text, is_ours);
	return true;
}

// --- The rest

/** A message that is passed on as it is. */
static void pass_on(struct messages *m, struct str line)
{
	bool is_warning = str_has_prefix(line, STR("WARNING: ")) ||
			  // the second line of 0.23's, where it looked for kernel headers
			  str_has_prefix(line, STR("modprobe kheaders "));
	if (m->diag->quiet && is_warning)
		return;
	m->n_errors += str_has_prefix(line, STR("ERROR: "));
	m->passed_on |= !is_warning;
	m->skip_excerpt = 0;
	struct strbuf b;
	strbuf_init(&b);
	strbuf_add_printable(&b, line);
	strbuf_addc(&b, '\n');
	fwrite(b.p, 1, b.n, m->diag->out);
	fflush(m->diag->out);
	strbuf_fini(&b);
}

/** Without advice about bpftrace's own options, and LLVM's name and type of the function. */
static struct str essence(struct str text)
{
	static const char *const tails[] = {" (try -v)", " Use -v for full kernel error log."};
	size_t end = str_find(text, ')');
	if (str_has_prefix(text, STR("in function ")))
		text = str_trim(str_from_offset(text, end + 2));
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++)
		if (str_has_suffix(text, str_from(tails[i])))
			text.n -= strlen(tails[i]);
	return text;
}

/**
 * A program that the kernel refuses to load. Clauses on one probe may be one program, and 0.17 does
 * not number them: then all are named.
 */
static bool take_rejected(struct messages *m, struct str line)
{
	struct candidates c;
	struct diag_place at;
	struct strbuf lines;
	if (!m->map || !str_take(&line, STR("ERROR: ")) ||
	    !(str_has_prefix(line, STR("Error loading ")) ||
	      str_has_prefix(line, STR("Could not load "))))
		return false;
	find_candidates(m, line, &c);
	const struct attach_found *first = c.list.n ? &c.list.v[c.number ? c.meant : 0].at : NULL;
	if (!first || !place_of(first->token, first->len, &at))
		return false;
	strbuf_init(&lines);
	size_t n = list_clauses(m, &c, &lines);
	take_error(m, &at, essence(line));
	if (n > 1 && !m->last_hidden)
		diag_note(m->diag, NULL,
			  "the kernel rejects one of the clauses of this probe, which are at "
			  "lines %.*s",
			  (int)lines.n - 2, lines.p);
	strbuf_fini(&lines);
	return true;
}

/** An error or warning without a place that names an attach point; LLVM's name a function. */
static bool take_unplaced(struct messages *m, struct str line)
{
	struct diag_place at;
	bool is_error =
	    str_take(&line, STR("ERROR: ")) || str_take(&line, STR("error: <unknown>:0:0: "));
	bool is_warning = !is_error && str_take(&line, STR("WARNING: "));
	struct attach_found named = find_attach(m, 1, 0, line);
	bool has_place = place_of(named.token, named.len, &at);
	if (is_error && has_place)
		take_error(m, &at, essence(line));
	else if (is_warning && has_place)
		take_warning(m, &at, line, false);
	else if (is_error && lacks_tracefs(line))
		report_error(m, NULL, line);
	else
		return false;
	return true;
}

/**
 * What clang says of a definition of the program. Newer bpftraces try several times, each time with
 * more of the kernel's types, and may succeed in the end: so nothing is reported until it is known
 * that this was the last attempt. What has been said before begins the next one.
 */
static bool hold_definition_message(struct messages *m, struct str line)
{
	if (!str_has_prefix(line, STR("definitions.h:")))
		return false;
	struct strbuf whole;
	strbuf_init(&whole);
	strbuf_adds(&whole, line);
	strbuf_addc(&whole, '\n');
	if (str_contains(strbuf_str(&m->c_errors), strbuf_str(&whole)))
		strbuf_clear(&m->c_errors);
	strbuf_adds(&m->c_errors, strbuf_str(&whole));
	strbuf_fini(&whole);
	return true;
}

/** "definitions.h:5:2: error: text" */
static void report_definition_message(struct messages *m, struct str line)
{
	struct str rest = line;
	struct message msg = {.end = 0};
	unsigned l = 0;
	bool placed = str_take(&rest, STR("definitions.h:")) && take_number(&rest, &l) &&
		      str_take(&rest, STR(":")) && take_number(&rest, &msg.col) &&
		      str_take(&rest, STR(": "));
	str_take(&rest, STR("fatal "));
	bool is_error = placed && str_take(&rest, STR("error: ")), is_ours;
	struct diag_place at;
	msg.line = definitions_find_line(m->program, l);
	if (is_error && msg.line && find_place(m, &msg, &at, &is_ours))
		take_error(m, &at, rest);
	else
		pass_on(m, line);
}

static void report_definition_messages(struct messages *m)
{
	struct str rest = strbuf_str(&m->c_errors);
	while (rest.n)
		report_definition_message(m, str_take_line(&rest));
	strbuf_clear(&m->c_errors);
}

/** What bpftrace says behind the messages of the last attempt, if that failed. */
static bool gives_definitions_up(struct str line)
{
	return str_has_prefix(line, STR("ERROR: Include headers with missing type definitions")) ||
	       str_eqz(line, "Clang parse error");
}

/** What it says behind other errors: nothing that was not known. */
static bool adds_nothing(struct str line)
{
	return !line.n || gives_definitions_up(line) ||
	       str_eqz(line, "ERROR: Loading BPF object(s) failed.") ||
	       str_has_prefix(line, STR("Use --unsafe to force attachment"));
}

/** bpftrace shows the line and a row of ~ below it; we have shown the template's. */
static bool is_own_excerpt(struct messages *m, struct str line)
{
	struct str next = str_slice(m->excerpt, 0, str_find(m->excerpt, '\n'));
	bool is_next = m->excerpt.n && str_eq(line, next);
	m->excerpt = is_next ? str_from_offset(m->excerpt, next.n + 1) : (struct str){0};
	if (is_next)
		return true;
	struct str row = str_trim(line);
	size_t n = 0;
	while (n < row.n && row.p[n] == '~')
		n++;
	bool is_row = n > 0 && n == row.n, is_excerpt = is_row || m->skip_excerpt > 0;
	m->skip_excerpt -= m->skip_excerpt > 0;
	if (is_row)
		m->skip_excerpt = 0;
	return is_excerpt;
}

/** 0.27's advice, behind the excerpt */
static bool take_hint(struct messages *m, struct str line)
{
	if (!str_take(&line, STR("HINT: ")))
		return false;
	if (!m->last_hidden)
		diag_note(m->diag, NULL, STR_FMT, STR_ARG(line));
	return true;
}

/** Does @operands have one that bcc is known not to parse? */
static bool is_known_unreadable(struct messages *m, struct str operands)
{
#ifdef __aarch64__
	unsigned machine = EM_AARCH64;
#else
	unsigned machine = EM_X86_64;
#endif
	struct sdtarg *args;
	size_t n;
	bool is_known = false;
	sdtarg_parse(&m->arena, machine, operands, &args, &n);
	for (size_t i = 0; i < n; i++)
		is_known |= args[i].is_beyond_bcc;
	return is_known;
}

/**
 * bcc, in 0.23 and older, complains several times of an operand that it cannot parse, of any probe of a
 * file: "Parse error:", the operands, a row of - with a ^. What reads such an argument is an error or
 * shown as `?` before bpftrace is started.
 */
static bool take_parse_error(struct messages *m, struct str line)
{
	if (str_eqz(line, "Parse error:")) {
		m->bcc = BCC_CANNOT_PARSE;
		return true;
	}
	if (m->bcc == BCC_POINTS_AT_IT) {
		m->bcc = BCC_SAYS_NOTHING;
		return line.n && line.p[0] == '-' && line.p[line.n - 1] == '^';
	}
	if (m->bcc != BCC_CANNOT_PARSE)
		return false;
	m->bcc = BCC_SAYS_NOTHING;
	if (!is_known_unreadable(m, line)) {
		pass_on(m, STR("Parse error:"));
		return false;
	}
	m->bcc = BCC_POINTS_AT_IT;
	return true;
}

/**
 * Messages that tell of nothing wrong. Kernels from 5.11 on account BPF memory by cgroup, so the
 * limit that bpftrace may not raise is not used. And without tracefs no probe was made through
 * uprobe_events, so there is none to take out of it: bpftrace 0.17 and 0.23 try all the same.
 */
static bool is_noise(struct str line)
{
	if (str_contains(line, STR("couldn't set RLIMIT_MEMLOCK for bpftrace")))
		return true;
	if (str_has_suffix(line, STR(": Addrspace is not set"))) // in its own code
		return true;
	// It leaves out the losses of one processor.
	if (str_has_prefix(line, STR("WARNING: Total lost event count: ")))
		return true;
	// Only kernel functions are meant, and one that cannot be traced is an error of its own.
	if (str_has_prefix(line, STR("WARNING: Could not read functions from ")))
		return true;
	// 0.21 says so of every script, newer ones in other words of one that fails for want of them.
	if (str_has_prefix(line, STR("WARNING: Could not find kernel headers in ")) &&
	    str_contains(line, STR(" or /lib/modules/")))
		return true;
	// To keep the symbols of those that will have ended, which it does for names of files only.
	if (str_has_prefix(line, STR("WARNING: Unable to get pids for ")))
		return true;
	bool detach = str_has_prefix(line, STR("ERROR: failed to detach probe: u")) ||
		      str_has_prefix(line, STR("WARNING: failed to detach probe: u")) ||
		      (str_has_prefix(line, STR("open(")) &&
		       str_contains(line, STR("/uprobe_events): No such file or directory")));
	return detach && access("/sys/kernel/tracing/uprobe_events", F_OK) != 0 &&
	       access("/sys/kernel/debug/tracing/uprobe_events", F_OK) != 0;
}

void messages_take(struct messages *m, struct str line)
{
	if (is_noise(line) || take_parse_error(m, line) || take_placed(m, line) ||
	    is_own_excerpt(m, line) || hold_definition_message(m, line) || take_hint(m, line))
		return;
	if (gives_definitions_up(line))
		report_definition_messages(m);
	if ((m->n_errors && adds_nothing(line)) || take_rejected(m, line) || take_unplaced(m, line))
		return;
	pass_on(m, line);
}

bool messages_take_data(struct messages *m, struct str line)
{
	struct message msg;
	if (parse(m, line, &msg) && msg.is_own) {
		messages_take(m, line);
		m->skip_excerpt = 0;
		m->data_excerpt = msg.col ? 2 : 0;
		m->wants_helper = true;
		return true;
	}
	bool is_helper = m->wants_helper && str_has_prefix(line, STR("Additional Info - helper: "));
	bool is_excerpt = !m->wants_helper && m->data_excerpt > 0;
	m->data_excerpt -= is_excerpt;
	if (m->wants_helper && !is_helper)
		m->data_excerpt = 0;
	m->wants_helper = false;
	return is_helper || is_excerpt;
}

static void report_held(struct messages *m, const struct message_held *h)
{
	report_error(m, h->has_place ? &h->at : NULL, h->text);
}

void messages_explain_failure(struct messages *m, int status)
{
	if (m->passed_on || m->n_errors || m->diag->n_errors)
		return;
	report_definition_messages(m); // 0.17 has nothing to add to some
	if (m->passed_on || m->n_errors)
		return;
	if (m->follow_up.text.n)
		report_held(m, &m->follow_up);
	else if (m->inner.text.n)
		report_held(m, &m->inner);
	else if (m->withheld.text.n)
		report_held(m, &m->withheld);
	else
		diag_error(m->diag, NULL, "bpftrace ended with status %d", status);
}
