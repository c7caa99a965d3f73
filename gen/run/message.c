#include "run/message.h"

#include "lang/vocabulary.h"
#include "kernel/tracefs.h"

void messages_fini(struct messages *m)
{
	strbuf_fini(&m->c_errors);
	strbuf_fini(&m->key);
	arena_fini(&m->arena);
}

/** Is all of @s as one of @patterns? */
static bool is_like_any(struct str s, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (str_glob(str_from(*patterns), s))
			return true;
	return false;
}
#define is_like(s, ...) is_like_any(s, (const char *const[]){__VA_ARGS__, NULL})

// --- A line, taken apart

/** "FILE:2:17-20: ERROR: text" or "FILE:2-4: ERROR: text" */
struct message {
	bool is_program;	  /**< its file is the program, else bpftrace's own script */
	unsigned line, last_line; /**< from 1 */
	unsigned col, end;	  /**< from 1, in bytes, @end after the last; 0: whole lines */
	bool is_error;		  /**< else a warning */
	struct str text;
};

static bool read_number(struct str *s, unsigned *ret)
{
	uint64_t n;
	bool good = str_take_number(s, &n) && n <= INT_MAX;
	*ret = good ? (unsigned)n : 0;
	return good;
}

static bool parse_file(const struct messages *m, struct str *line, struct message *ret)
{
	ret->is_program = str_take(line, str_from(m->program_name));
	if (!ret->is_program && str_has_prefix(*line, STR("stdlib/")))
		*line = str_from_offset(*line, str_find(*line, ':'));
	else if (!ret->is_program)
		return false;
	return str_take(line, STR(":"));
}

/** False when @line is none. */
static bool parse_message(const struct messages *m, struct str line, struct message *ret)
{
	*ret = (struct message){0};
	if (!parse_file(m, &line, ret) || !read_number(&line, &ret->line))
		return false;
	ret->last_line = ret->line;
	if (str_take(&line, STR("-"))) {
		if (!read_number(&line, &ret->last_line))
			return false;
	} else if (!str_take(&line, STR(":")) || !read_number(&line, &ret->col) ||
		   !str_take(&line, STR("-")) || !read_number(&line, &ret->end)) {
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

/** Does @name end the attach point @run, before a possible predicate? */
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
	if (str_take(&rest, STR("_loc")) && !read_number(&rest, &site))
		return false;
	return word.n > run.n && str_take(&rest, STR("_")) && read_number(&rest, ret) && !rest.n;
}

/**
 * Is @word of a message another spelling of @run? bpftrace shortens paths ("lb.so:lib:f"), or has the
 * name of a program: then *@number is the one in it.
 */
static bool is_match(struct str run, struct str word, unsigned *number)
{
	for (struct str s = word; str_has(s, ":"); str_take_until(&s, ':')) {
		// "/bin/sh::name", of a usdt probe without a provider
		bool is_short = s.p > word.p + 1 && s.p[0] == ':' &&
				str_contains(run, str_slice(word, 0, (size_t)(s.p - word.p) - 1));
		if (is_name_of(run, str_from_offset(s, is_short)))
			return true;
	}
	return is_function_of(run, word, number);
}

/** A text outside of braces, of tokens that touch each other: an attach point is one. */
struct point {
	struct str text;		   // without quotes
	const struct linemap_entry *first; // of its tokens
	unsigned line, len;
	unsigned number; // as bpftrace counts attach points; 0: it is none
	unsigned again;	 // as LLVM counts functions of a name that it has already; 0: the first
};

struct message_points {
	VEC(struct point) list;
	struct map seen; // attach points
};

/** LLVM has the second function of a name as "usdt:app:p.1", and so on, whatever their names. */
static unsigned cut_count(struct str *word)
{
	size_t n = word->n;
	unsigned ret = 0;
	while (n && isdigit((unsigned char)word->p[n - 1]))
		n--;
	struct str digits = str_from_offset(*word, n);
	if (n && word->p[n - 1] == '.' && read_number(&digits, &ret))
		word->n = n - 1;
	return ret;
}

/** Does one of the words of @text mean @p? *@is_numbered: by its number. */
static bool is_named(const struct point *p, struct str text, bool *is_numbered)
{
	bool is_it = false;
	while (text.n) {
		struct str word = trim_word(str_take_until(&text, ' '));
		unsigned number = 0, again = cut_count(&word);
		bool is_its = is_match(p->text, word, &number);
		is_it |= is_its;
		*is_numbered |=
		    is_its && (again ? again == p->again : number && number == p->number);
	}
	return is_it;
}

static bool is_mark(const struct linemap *map, const struct linemap_entry *e, char c)
{
	return e->n == 1 && !e->is_words && map->text.p[e->at] == c;
}

/** The tokens from entry @i on that touch each other, as one text. Returns the entry after them. */
static size_t add_run(const struct linemap *map, size_t i, struct strbuf *ret)
{
	strbuf_clear(ret);
	do {
		const struct linemap_entry *e = &map->entries.v[i++], *next = e + 1;
		for (const char *c = map->text.p + e->at; c < map->text.p + e->at + e->n; c++)
			if (*c != '"')
				strbuf_addc(ret, *c);
		if (i == map->entries.n || next->line != e->line || next->at != e->at + e->n ||
		    map->text.p[next->at] == ' ' || // btgen's predicate
		    is_mark(map, next, '{') || is_mark(map, next, '}') || is_mark(map, next, ','))
			return i;
	} while (true);
}

/** Those of the program, found once. */
static const struct message_points *points_of(struct messages *m)
{
	int depth = 0;
	unsigned n_attach = 0, n_again = 0;
	struct strbuf run = {0};
	if (m->points || !m->map)
		return m->points;
	m->points = arena_new(&m->arena, struct message_points);
	for (size_t i = 0, next; i < m->map->entries.n; i = next) {
		const struct linemap_entry *e = &m->map->entries.v[i], *last;
		bool is_outside = depth == 0;
		next = add_run(m->map, i, &run);
		last = &m->map->entries.v[next - 1];
		depth += is_mark(m->map, e, '{') - is_mark(m->map, e, '}');
		if (!is_outside)
			continue;
		struct point p = {.text = str_copy(&m->arena, strbuf_str(&run)),
				  .first = e,
				  .line = e->line,
				  .len = (unsigned)(last->col + last->n - e->col)};
		size_t n_word = 0; // BEGIN, which may be written with its block, interval:s:1
		while (n_word < p.text.n && isalnum((unsigned char)p.text.p[n_word]))
			n_word++;
		if (vocabulary_provider(str_slice(p.text, 0, n_word))->name) {
			p.number = ++n_attach;
			if (!map_add(&m->arena, &m->points->seen, p.text))
				p.again = ++n_again;
		}
		vec_push(&m->arena, &m->points->list, p);
	}
	strbuf_fini(&run);
	return m->points;
}

/**
 * The one on or below @line that @text names, of clauses on one probe that with its number; else the
 * one that begins @last_line; NULL: none.
 */
static const struct point *find_point(struct messages *m, unsigned line, unsigned last_line,
				      struct str text)
{
	const struct message_points *all = points_of(m);
	const struct point *named = NULL, *at_line = NULL;
	bool is_numbered = false;
	for (size_t i = 0; all && i < all->list.n; i++) {
		const struct point *p = &all->list.v[i];
		if (p->line < line)
			continue;
		if (is_named(p, text, &is_numbered) && (!named || is_numbered))
			named = p;
		if (is_numbered)
			break;
		if (!at_line && p->line == last_line && p->first->bol &&
		    isalpha((unsigned char)p->text.p[0]))
			at_line = p;
	}
	return named ? named : at_line;
}

/** Of no file: what it was made from has none. */
static struct diag_place place_of(const struct linemap_entry *e, unsigned len)
{
	if (!e || !e->of->use.file)
		return (struct diag_place){0};
	const struct token *t = e->of;
	bool exact = !e->is_ours && t->use.file == t->loc.file && t->use.off == t->loc.off;
	struct diag_place at = src_place(t->use, exact && len ? len : e->n);
	if (at.source.n && at.col - 1 + at.len > at.source.n)
		at.len = at.col <= at.source.n ? (unsigned)at.source.n - at.col + 1 : 1;
	return at;
}

/** 0.17 and 0.23 have an attach point begin with the blank before it, and 0.17 an if with the line. */
static const struct linemap_entry *find_column(const struct linemap *map, unsigned line,
					       unsigned col)
{
	const struct linemap_entry *e = linemap_find(map, line, col);
	size_t at = e && e->line == line && col >= e->col ? e->at + (col - e->col) : map->text.n;
	if (at < map->text.n && map->text.p[at] == ' ')
		return linemap_find(map, line, col + 1);
	const struct linemap_entry *first = vec_find(const struct linemap_entry, one, &map->entries,
						     one->line == line && one->of->use.file);
	return col == 1 && first ? first : e;
}

/** The place in a template that @msg means. */
static struct diag_place find_place(struct messages *m, const struct message *msg, bool *is_ours)
{
	unsigned len = msg->end > msg->col ? msg->end - msg->col : 0;
	const struct point *p =
	    msg->col ? NULL : find_point(m, msg->line, msg->last_line, msg->text);
	const struct linemap_entry *e = p ? p->first
					: msg->col
					    ? find_column(m->map, msg->line, msg->col)
					    : vec_find(const struct linemap_entry, one,
						       &m->map->entries, one->line >= msg->line);
	// What a statement was made of keeps its place; bpftrace reports a cast around it there, too.
	*is_ours = e && e->is_ours &&
		   (e->is_words || str_contains(msg->text, STR(" being cast to type: ")));
	return place_of(e, p ? p->len : len);
}

// --- One cause, one message

/**
 * "KIND NAME at PLACE" in a buffer that stays: bpftrace may go on for days, and say the same each
 * minute. @at may be NULL.
 */
static struct str cause(struct messages *m, const char *kind, struct str name,
			const struct diag_place *at)
{
	strbuf_clear(&m->key);
	strbuf_addf(&m->key, "%s " STR_FMT, kind, STR_ARG(name));
	if (at)
		strbuf_addf(&m->key, " at " STR_FMT ":%u:%u", STR_ARG(at->file), at->line, at->col);
	return strbuf_str(&m->key);
}

/** True when there was no such cause before. */
static bool is_first(struct messages *m, struct str key)
{
	return !map_get(&m->causes, key) &&
	       map_add(&m->arena, &m->causes, str_copy(&m->arena, key));
}

/**
 * The name of an error that is about a name alone, as `Undefined map: @x` and `Cannot resolve
 * unknown type "struct x"`; empty for others.
 */
static struct str unknown_name(struct str text)
{
	size_t colon = str_find(text, ':'), quote = str_find(text, '"');
	if (!is_like(text, "Undefined *", "Unknown *", "Cannot resolve unknown type *",
		     "Cannot cast to *"))
		return STR("");
	return trim_word(str_trim(str_from_offset(text, (colon < quote ? colon : quote) + 1)));
}

/**
 * Members of one thing that has none, "Can not access field 'x' on expression of type 'int64'": what
 * it is called where it is used. Empty for other errors.
 */
static struct str memberless(const struct diag_place *at, struct str text)
{
	struct str s = str_from_offset(at->source, at->col ? at->col - 1 : 0);
	s = str_slice(s, 0, str_find(s, '-')); // of "->"
	return str_has_prefix(text, STR("Can not access field ")) ? str_take_until(&s, '.')
								  : STR("");
}

/** Was an error of the same cause reported before? */
static bool is_known(struct messages *m, const struct diag_place *at, struct str text)
{
	bool is_new =
	    is_first(m, at->file.n ? cause(m, "error", STR(""), at) : cause(m, "text", text, NULL));
	struct str name = unknown_name(text);
	if (!name.n)
		name = memberless(at, text);
	if (name.n)
		is_new &= is_first(m, cause(m, "name", name, NULL));
	return !is_new;
}

/** "tracepoint not found: a:b", and 0.27's "No matches for tracepoint a:b." */
static struct str missing_tracepoint(struct str text)
{
	bool is_it = is_like(text, "tracepoint* not found: *", "No matches for tracepoint *");
	return trim_word(is_it ? str_last(text, ' ') : STR(""));
}

static bool lacks_tracefs(struct str text)
{
	return (missing_tracepoint(text).n || str_contains(text, STR("available_events"))) &&
	       !tracefs_is_mounted();
}

/** Does @text have the whole word @word? */
static bool has_word(struct str text, struct str word)
{
	for (const char *p; text.n && (p = memmem(text.p, text.n, word.p, word.n));) {
		text = str_from_offset(text, (size_t)(p - text.p) + word.n);
		if (!text.n || (!isalnum((unsigned char)*text.p) && *text.p != '_'))
			return true;
	}
	return false;
}

/** "Unknown function: foo" and "Unknown identifier: 'foo'" */
static void note_spelling(struct messages *m, struct str text)
{
	bool is_name = is_like(text, "Unknown identifier*");
	struct str name =
	    is_name || is_like(text, "Unknown function*") ? unknown_name(text) : STR("");
	const char *near = name.n ? vocabulary_nearest(name) : NULL;
	for (const char *sign = "$@"; is_name && name.n && *sign; sign++) {
		const char *word = arena_printf(&m->arena, "%c" STR_FMT, *sign, STR_ARG(name));
		near = has_word(m->program, str_from(word)) ? word : near;
	}
	if (near && !str_eqz(name, near)) // a version that is too old has another vocabulary
		diag_note(m->diag, NULL, "did you mean %s?", near);
	else if (is_name && !near)
		diag_note(m->diag, NULL, "a variable begins with $, a map with @");
}

static const char lost_counts[] =
    "the counts of one CPU are lost: another CPU created the same map key at that moment";

/** Always reported. The last: 0.17 closed a descriptor that was a probe's, which then saw nothing. */
static bool is_loss(struct str text)
{
	return is_like(text, "Map full*", lost_counts, "failed to close perf event FDs*");
}

static void report_error(struct messages *m, const struct diag_place *at, struct str text)
{
	m->n_errors++;
	m->has_loss |= is_loss(text);
	if (!lacks_tracefs(text)) {
		diag_error(m->diag, at, "bpftrace: " STR_FMT, STR_ARG(text));
		note_spelling(m, text);
		if (missing_tracepoint(text).n)
			tracefs_note_missing(m->diag, missing_tracepoint(text));
	} else if (is_first(m, cause(m, "tracefs", STR(""), NULL))) {
		diag_error(m->diag, at,
			   "bpftrace %s because tracefs is not mounted: mount -t tracefs tracefs "
			   "/sys/kernel/tracing",
			   at->file.n ? "finds no tracepoints" : "cannot run a script");
	}
}

static void hold_message(struct messages *m, struct message_held *h, const struct diag_place *at,
			 struct str text)
{
	*h = (struct message_held){.text = str_copy(&m->arena, text), .at = *at};
}

/** Was it shown before, while the program runs? Then it is counted. */
static bool is_repeated(struct messages *m, const struct diag_place *at, struct str text)
{
	if (!m->is_running)
		return false;
	struct str key = cause(m, "text", text, at);
	struct message_held *held = map_get(&m->repeated, key);
	if (held)
		return ++held->n;
	held = arena_new(&m->arena, struct message_held);
	hold_message(m, held, at, text);
	map_put(&m->arena, &m->repeated, str_copy(&m->arena, key), held);
	return false;
}

/** @n times, of which 0 is the first. */
static void warn(struct messages *m, const struct diag_place *at, struct str text, unsigned long n)
{
	bool was_quiet = m->diag->quiet;
	m->diag->quiet = was_quiet && !is_loss(text);
	if (n)
		diag_warning(m->diag, at, "%lu times more: bpftrace: " STR_FMT, n, STR_ARG(text));
	else
		diag_warning(m->diag, at, "bpftrace: " STR_FMT, STR_ARG(text));
	m->diag->quiet = was_quiet;
}

void messages_end(struct messages *m)
{
	for (struct map_entry *e = NULL; (e = map_next(&m->repeated, e));) {
		const struct message_held *held = e->value;
		if (held->n)
			warn(m, &held->at, held->text, held->n);
	}
}

static void handle_error(struct messages *m, const struct diag_place *at, struct str text)
{
	m->last_hidden = true;
	// The type of an expression that bpftrace does not understand: a consequence of another error.
	if (is_like(text, "*'none'*", "*(none *", "*(none)*", "* none *", "* none")) {
		if (!m->follow_up.text.n)
			hold_message(m, &m->follow_up, at, text);
	} else if (!is_known(m, at, text)) {
		report_error(m, at, text);
		m->last_hidden = false;
	}
}

/**
 * Drops warnings without a remedy: about 0.27's own address spaces, about delete() as a statement, which
 * older versions want, about a cast that other versions need, about arithmetic that is C's here, and
 * (@is_ours) about a generated cast.
 */
static void handle_warning(struct messages *m, const struct diag_place *at, struct str text,
			   bool is_ours)
{
	bool is_idle =
	    is_ours || is_like(text, "Addrspace mismatch", "Return value discarded.",
			       "Unnecessary cast: *", "signed operands for '*' can lead to *",
			       "Expression of type: uint64 being cast to *");
	if (str_eqz(text, "File exists")) // of BPF_NOEXIST: 0.20 to 0.23 only have the error number
		text = str_from(lost_counts);
	m->has_loss |= is_loss(text);
	bool is_hidden = is_idle || (m->diag->quiet && !is_loss(text));
	bool is_known = at->file.n && map_get(&m->causes, cause(m, "error", STR(""), at));
	m->last_hidden = is_hidden || is_known || is_repeated(m, at, text);
	if (!m->withheld.text.n && is_hidden)
		hold_message(m, &m->withheld, at, text);
	if (!m->last_hidden)
		warn(m, at, text, 0);
}

static bool handle_placed(struct messages *m, struct str line)
{
	struct message msg;
	bool is_ours;
	if (!m->map || !parse_message(m, line, &msg))
		return false;
	m->skip_excerpt = msg.col ? 2 : msg.is_program ? 0 : msg.last_line + 1 - msg.line;
	if (!msg.text.n && !msg.is_error) {
		m->skip_excerpt = 6; // strcontains()'s up to 0.23: the verifier has the last word
		return true;
	}
	bool is_origin = str_eqz(msg.text, "expanded from");
	if (!msg.is_program) {
		if (!is_origin)
			hold_message(m, &m->inner, &(struct diag_place){0}, msg.text);
		return true;
	}
	struct diag_place at = find_place(m, &msg, &is_ours);
	if (is_origin && m->inner.text.n) {
		msg.text = m->inner.text;
		is_origin = false;
	}
	m->inner.text = STR("");
	// The operands of a comparison that it has reported are in its text.
	bool is_operand = is_like(msg.text, "left (*", "right (*");
	// The place where the variable was declared.
	bool is_earlier = is_like(msg.text, "This is the *", "Initial declaration");
	if (is_earlier && !m->last_hidden)
		diag_note(m->diag, &at, "bpftrace: " STR_FMT, STR_ARG(msg.text));
	else if (is_origin || is_operand || is_earlier)
		return true;
	else if (msg.is_error)
		handle_error(m, &at, msg.text);
	else
		handle_warning(m, &at, msg.text, is_ours);
	return true;
}

// --- The rest

/** A message that is passed on as it is. */
static void pass_on(struct messages *m, struct str line)
{
	// The latter: the second line of 0.23's, where it looked for kernel headers.
	bool is_warning = is_like(line, "WARNING: *", "modprobe kheaders *");
	if (m->diag->quiet && is_warning)
		return;
	m->n_errors += str_has_prefix(line, STR("ERROR: "));
	m->passed_on |= !is_warning;
	struct strbuf b = {0};
	strbuf_add_printable(&b, line);
	strbuf_addc(&b, '\n');
	fwrite(b.p, 1, b.n, m->diag->out);
	fflush(m->diag->out);
	strbuf_fini(&b);
}

/** An error or warning without a place that names an attach point; LLVM's name a function. */
static bool handle_unplaced(struct messages *m, struct str line)
{
	bool is_error =
	    str_take(&line, STR("ERROR: ")) || str_take(&line, STR("error: <unknown>:0:0: "));
	bool is_warning = !is_error && str_take(&line, STR("WARNING: "));
	const struct point *p = find_point(m, 1, 0, line);
	struct diag_place at = place_of(p ? p->first : NULL, p ? p->len : 0);
	if (is_error && (at.file.n || lacks_tracefs(line)))
		handle_error(m, &at, line);
	else if (is_warning && at.file.n)
		handle_warning(m, &at, line, false);
	else
		return false;
	return true;
}

/**
 * A message of clang about a definition of the program. Newer bpftraces try several times, each time with
 * more of the kernel's types, and may succeed in the end: so nothing is reported before the last attempt
 * has failed. A repeated message begins the next attempt.
 */
static bool hold_definition_message(struct messages *m, struct str line)
{
	if (!str_has_prefix(line, STR("definitions.h:")))
		return false;
	struct str whole = str_printf(&m->arena, STR_FMT "\n", STR_ARG(line));
	if (str_contains(strbuf_str(&m->c_errors), whole))
		strbuf_clear(&m->c_errors);
	strbuf_adds(&m->c_errors, whole);
	return true;
}

/**
 * The line of @program (from 1) that is @line of "definitions.h", as bpftrace calls the C part of a
 * program; 0: there is none. It passes the definitions and # lines to clang as one text: each definition
 * unchanged, one after the other, without anything between them, after one line of its own.
 */
static unsigned find_definition_line(struct str program, unsigned line)
{
	unsigned at = 1; // the line that bpftrace puts first
	unsigned number = 0;
	int depth = 0;
	while (program.n) {
		struct str text = str_trim(str_take_line(&program));
		bool is_macro = str_has_prefix(text, STR("#"));
		bool is_part = depth > 0 || is_macro ||
			       is_like(text, "struct *", "struct\t*", "struct{*", "union *",
				       "union\t*", "union{*", "enum *", "enum\t*", "enum{*");
		number++;
		at += is_part;
		if (is_part && at == line)
			return number;
		// Strings do not occur in definitions.
		for (size_t i = 0; is_part && !is_macro && i < text.n; i++)
			depth += (text.p[i] == '{') - (text.p[i] == '}');
		if (depth < 0)
			depth = 0;
	}
	return 0;
}

/** "definitions.h:5:2: error: text" */
static void report_definition_message(struct messages *m, struct str line)
{
	struct str rest = str_from_offset(line, str_find(line, ':') + 1);
	struct message msg = {.end = 0};
	struct diag_place at = {0};
	unsigned l;
	bool is_ours, is_placed = read_number(&rest, &l) && str_take(&rest, STR(":")) &&
				  read_number(&rest, &msg.col) && str_take(&rest, STR(": "));
	str_take(&rest, STR("fatal "));
	msg.line = find_definition_line(m->program, l);
	if (is_placed && str_take(&rest, STR("error: ")) && msg.line && m->map)
		at = find_place(m, &msg, &is_ours);
	if (at.file.n)
		handle_error(m, &at, rest);
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

static bool is_of_program(struct str program, struct str line)
{
	while (program.n)
		if (str_eq(str_take_line(&program), line))
			return true;
	return false;
}

/**
 * bpftrace shows the line, 0.27 all lines of a place, and a row of ~ below it; we have shown the template's.
 * bcc, in 0.23 and older, complains several times of an operand that it cannot parse, of any probe of
 * a file: "Parse error:", the operands, a row. What reads such an argument is an error or shown as `?`
 * before bpftrace is started.
 */
static bool is_excerpt(struct messages *m, struct str line)
{
	bool is_row = is_like(str_trim(line), "~*", "-*^"), is_bcc = str_eqz(line, "Parse error:");
	if (is_like(line, "ERROR: *", "WARNING: *", "HINT: *"))
		m->skip_excerpt = 0; // it has shown less
	bool is_skipped = is_row || is_bcc || m->skip_excerpt || is_of_program(m->program, line);
	m->skip_excerpt = is_bcc ? 1 : is_row || !m->skip_excerpt ? 0 : m->skip_excerpt - 1;
	return is_skipped;
}

/**
 * Messages about nothing wrong. Kernels from 5.11 on account BPF memory by cgroup, so the
 * limit that bpftrace may not raise is not used. And without tracefs no probe was made through
 * uprobe_events, so there is none to take out of it: bpftrace 0.17 and 0.23 try all the same.
 */
static bool is_noise(struct str line)
{
	if (is_like(
		line, "*couldn't set RLIMIT_MEMLOCK for bpftrace*",
		"*: Addrspace is not set", // in its own code
		// It leaves out the losses of one processor.
		"WARNING: Total lost event count: *",
		// Only kernel functions are meant, and one that cannot be traced is an error of its own.
		"WARNING: Could not read functions from *",
		// bind/by_address.h knows that there is a whole instruction.
		"WARNING: Could not determine instruction boundary for *",
		// To keep the symbols of those that will have ended, which it does for names of files only.
		"WARNING: Unable to get pids for *",
		// 0.20 and 0.21 print these for every script, newer ones another text where a script fails
		"WARNING: Could not find kernel headers in  or . To *",
		"WARNING: Could not find kernel headers in * or /lib/modules/*"))
		return true;
	bool detach = is_like(line, "ERROR: failed to detach probe: u*",
			      "WARNING: failed to detach probe: u*",
			      "open(*/uprobe_events): No such file or directory*");
	return detach && access("/sys/kernel/tracing/uprobe_events", F_OK) != 0 &&
	       access("/sys/kernel/debug/tracing/uprobe_events", F_OK) != 0;
}

void messages_add(struct messages *m, struct str line)
{
	if (is_noise(line) || handle_placed(m, line) || is_excerpt(m, line) ||
	    hold_definition_message(m, line))
		return;
	if (str_take(&line, STR("HINT: "))) { // 0.27's advice, after the excerpt
		if (!m->last_hidden)
			diag_note(m->diag, NULL, STR_FMT, STR_ARG(line));
		return;
	}
	// After the messages of the last attempt, if that failed.
	bool gives_up = is_like(line, "Clang parse error",
				"ERROR: Include headers with missing type definitions*");
	if (gives_up)
		report_definition_messages(m);
	// A message after other errors that adds nothing.
	bool adds_nothing = gives_up || is_like(line, "", "ERROR: Loading BPF object(s) failed.",
						"Use --unsafe to force attachment*");
	if ((m->n_errors && adds_nothing) || handle_unplaced(m, line))
		return;
	pass_on(m, line);
}

bool messages_add_data(struct messages *m, struct str line)
{
	struct message msg;
	if (parse_message(m, line, &msg) && msg.is_program) {
		messages_add(m, line);
		m->skip_excerpt = 0;
		m->data_lines = msg.col ? 3 : 1;
		m->wants_helper = true;
		return true;
	}
	if (m->wants_helper && !str_has_prefix(line, STR("Additional Info - helper: ")))
		m->data_lines = 0;
	m->wants_helper = false;
	return m->data_lines && m->data_lines--;
}

void messages_explain_failure(struct messages *m, int status)
{
	if (!m->n_errors)
		report_definition_messages(m); // 0.17 has nothing to add to some
	if (m->passed_on || m->n_errors || m->diag->n_errors)
		return;
	const struct message_held *held = m->follow_up.text.n ? &m->follow_up
					  : m->inner.text.n   ? &m->inner
							      : &m->withheld;
	if (held->text.n)
		report_error(m, &held->at, held->text);
	else
		diag_error(m->diag, NULL, "bpftrace ended with status %d", status);
}
