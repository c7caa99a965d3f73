#include "source/call.h"

#include "source/defines.h"
#include "text/pp.h"
#include "usdt/argname.h"

/**
 * Lines above the site's in which its call can start, and bytes of a call. The other limits are for
 * sources of strangers: macros that a call can reach, ambiguous ones of which each definition is
 * tried, expansions, and tokens and bytes of each.
 */
enum {
	LINES_ABOVE = 8,
	MAX_CALL = 8192,
	MAX_PARTS = 32,
	MAX_MACROS = 500,
	MAX_CHOICES = 4,
	MAX_TRIES = 32,
	MAX_TOKENS = 20000,
	MAX_MADE = 1 << 20
};

struct parts {
	struct call_part v[MAX_PARTS];
	size_t n;
};

/** Lines of a source file, and how they expand. */
struct call {
	struct arena *arena;
	struct defines at;
	struct str text, probe;
	struct {
		struct str name, text;
	} choices[MAX_CHOICES]; // definitions of ambiguous macros that are being tried
	size_t n_choices;
	unsigned n_tries, n_found;
	bool is_unsure; // several calls of the probe, or too much to try
	struct parts parts;
};

// --- expansion

/** A macro that makes a probe: called with provider, name or name, number, and its arguments. */
static bool is_probe_macro(struct str macro)
{
	static const char *const names[] = {"DTRACE_PROBE",
					    "STAP_PROBE",
					    "STAP_PROBEV",
					    "USDT_PROBE",
					    "USDT_PROBE_LAZY",
					    "FOLLY_SDT",
					    "FOLLY_SDT_WITH_SEMAPHORE",
					    "USDT",
					    "LIBC_PROBE",
					    NULL};
	while (macro.n && isdigit((unsigned char)macro.p[macro.n - 1]))
		macro.n--; // the number of operands
	return str_is_any(macro, names);
}

/** What @name can be, or the one of these that is tried. */
static size_t find_definition(const struct call *c, struct str name, struct str **ret)
{
	for (size_t i = 0; i < c->n_choices; i++)
		if (str_eq(c->choices[i].name, name)) {
			*ret = (struct str *)&c->choices[i].text;
			return 1;
		}
	return defines_find(&c->at, name, ret);
}

/** Makes `@ NAME`, which is not C, of an ambiguous macro: what has an @ is not known. */
static void add_unknown(struct strbuf *b, struct str name, const struct str *texts, size_t n)
{
	bool is_called = true; // each definition has parameters
	for (size_t i = 0; i < n; i++)
		is_called &= !texts[i].n || (texts[i].n > name.n && texts[i].p[name.n] == '(');
	strbuf_addf(b,
		    is_called ? "#define " STR_FMT "(...) @ " STR_FMT " (__VA_ARGS__)\n"
			      : "#define " STR_FMT " @ " STR_FMT "\n",
		    STR_ARG(name), STR_ARG(name));
}

/** Definitions of all macros that the call can reach. */
static void add_definitions(struct call *c, struct arena *a, struct strbuf *b)
{
	struct map seen = {0};
	VEC(struct str) pending = {0};
	size_t n_macros = 0;
	vec_push(a, &pending, c->text);
	for (size_t i = 0; i < pending.n; i++) {
		for (struct str rest = pending.v[i]; rest.n && !c->is_unsure;) {
			struct str word = argname_take_token(&rest), *texts;
			if (!str_is_ident(word) || is_probe_macro(word) || !map_add(a, &seen, word))
				continue;
			size_t n = find_definition(c, word, &texts);
			n_macros += n > 1 || texts[0].n;
			c->is_unsure = n_macros > MAX_MACROS || b->n + texts[0].n > MAX_MADE / 2;
			if (n > 1) {
				add_unknown(b, word, texts, n);
			} else if (texts[0].n && !c->is_unsure) {
				strbuf_addz(b, "#define ");
				defines_line(texts[0], &(int){0}, b);
				strbuf_addc(b, '\n');
				vec_push(a, &pending, texts[0]);
			}
		}
	}
}

/** A number of the macro that makes the call, and not of one that it is given, as ENOENT in PROBE(ENOENT). */
static bool is_added(const struct token *t)
{
	if (t->kind != TOK_NUMBER || !t->from_macro || !t->loc.file)
		return false;
	struct str text = str_last(str_slice(t->loc.file->text, 0, t->loc.off), '\n');
	bool is_macro = str_take(&text, STR("#define "));
	argname_take_token(&text);
	return is_macro && str_has_prefix(text, STR("(")); // it has parameters
}

/** The tokens from after @before up to @end. */
static struct call_part read_part(struct arena *a, const struct token *before,
				  const struct token *end)
{
	const struct token *first = before->next;
	struct call_part ret = {.is_known = true};
	struct strbuf b = {0};
	for (const struct token *t = first; t != end; t = t->next) {
		bool is_mark = tok_is(t, "@");
		ret.is_known &= !is_mark;
		strbuf_addz(&b, b.n && t->space && !is_mark ? " " : "");
		if (!is_mark)
			strbuf_adds(&b, t->text);
	}
	ret.is_added = first->next == end && is_added(first);
	ret.text = strbuf_take(&b, a);
	return ret;
}

/** The operands of the probe's call whose macro is @name; false when it is none. */
static bool read_call(const struct call *c, const struct token *name, struct parts *ret)
{
	size_t n = 0, where = str_eqz(name->text, "LIBC_PROBE") ? 0 : 1;
	const struct token *last = name->next;
	unsigned depth = 0;
	ret->n = 0;
	if (name->kind != TOK_IDENT || !is_probe_macro(name->text) || !tok_is(last, "("))
		return false;
	for (const struct token *t = last->next; t->kind != TOK_EOF; t = t->next) {
		bool is_end = !depth && tok_is(t, ")");
		if (is_end || (!depth && tok_is(t, ","))) {
			if (n == where &&
			    !(last->next->next == t && str_eq(last->next->text, c->probe)))
				return false;
			if (n >= 2 && ret->n < MAX_PARTS)
				ret->v[ret->n++] = read_part(c->arena, last, t);
			n++;
			last = t;
		}
		if (is_end)
			return n == ret->n + 2;
		depth = depth + tok_is(t, "(") - tok_is(t, ")");
	}
	return false;
}

/** What several ways to read the call agree about. */
static void merge_parts(struct call *c, const struct parts *found)
{
	if (!c->n_found++) {
		c->parts = *found;
		return;
	}
	c->parts.n = found->n == c->parts.n ? found->n : 0;
	for (size_t i = 0; i < c->parts.n; i++)
		if (!str_eq(c->parts.v[i].text, found->v[i].text))
			c->parts.v[i] = (struct call_part){0};
}

static void expand(struct call *c);

/** Tries each definition of the first ambiguous macro. */
static void choose(struct call *c, const struct token *t)
{
	struct str *texts;
	while (t->kind != TOK_EOF && !tok_is(t, "@"))
		t = t->next;
	if (t->kind == TOK_EOF || c->n_choices == MAX_CHOICES)
		return;
	size_t n = find_definition(c, t->next->text, &texts), k = c->n_choices++;
	c->choices[k].name = t->next->text;
	for (size_t i = 0; i < n && n > 1; i++) {
		c->choices[k].text = texts[i];
		if (texts[i].n)
			expand(c);
	}
	c->n_choices--;
}

static void expand(struct call *c)
{
	struct arena a = {0};
	struct strbuf text = {0};
	struct diag silent = {0};
	struct pp pp;
	struct parts parts, found = {.n = 0};
	unsigned n = 0;
	add_definitions(c, &a, &text);
	strbuf_addf(&text, "; " STR_FMT, STR_ARG(c->text)); // what follows is no directive
	pp_init(&pp, &a, &silent);
	pp.macros = (struct map){0}; // __LINE__ is not the one of this text
	pp.braces = MAX_CALL;	     // no attach points in there
	pp.n_tokens = PP_MAX_TOKENS - MAX_TOKENS;
	pp.n_bytes = PP_MAX_BYTES - MAX_MADE;
	pp_file(&pp, src_from_text(&a, STR("source"), strbuf_str(&text)));
	c->is_unsure |=
	    !defines_spend(&c->at, pp.n_tokens - (PP_MAX_TOKENS - MAX_TOKENS) + text.n) ||
	    pp.fatal || c->n_tries++ >= MAX_TRIES;
	for (const struct token *t = pp.out; t->kind != TOK_EOF && !c->is_unsure; t = t->next)
		if (read_call(c, t, &parts) && !n++)
			found = parts;
	c->is_unsure |= n > 1;
	if (n == 1)
		merge_parts(c, &found);
	else if (!c->is_unsure)
		choose(c, pp.out);
	strbuf_fini(&text);
	arena_fini(&a);
}

// --- calls

/**
 * The first line of @text and those in which its parentheses close, in one; false if there are fewer
 * than @n_lines, or if one is a directive.
 */
static bool read_lines(struct arena *a, struct str text, unsigned n_lines, struct str *ret)
{
	struct strbuf b = {0};
	size_t n = 0;
	unsigned n_read = 0;
	int depth = 0;
	bool good = true;
	do {
		struct str rest = str_from_offset(text, n);
		good = rest.n && !str_has_prefix(str_trim(rest), STR("#"));
		n += defines_line(rest, &depth, &b) + 1;
		strbuf_addc(&b, ' ');
	} while (good && depth > 0);
	for (size_t i = 0; i < n && i < text.n; i++)
		n_read += text.p[i] == '\n';
	*ret = strbuf_take(&b, a);
	return good && n_read >= n_lines;
}

const struct call_part *call_read(struct dwsrc *src, const struct dwsite *site, struct str probe,
				  size_t n)
{
	struct call c = {.arena = src->arena, .probe = probe};
	if (!site->line || !site->full_path || !defines_open(src, site, &c.at))
		return NULL;
	struct str text = c.at.text, at;
	size_t start = 0;
	defines_spend(&c.at, text.n / 16); // for its lines
	for (unsigned line = 1; line < site->line && start < text.n; start++)
		line += text.p[start] == '\n';
	at = str_from_offset(text, start);
	for (unsigned up = 0; up <= LINES_ABOVE && up < site->line && !c.n_found; up++) {
		if (up) { // from the line before that at which the rest of the text begins
			size_t before = text.n - at.n;
			const char *end = before > 1 ? memrchr(text.p, '\n', before - 1) : NULL;
			at = str_from_offset(text, end ? (size_t)(end + 1 - text.p) : 0);
		}
		if (read_lines(c.arena, str_slice(at, 0, MAX_CALL), up + 1, &c.text))
			expand(&c);
		if (c.is_unsure)
			return NULL;
	}
	if (!c.n_found || c.parts.n != n)
		return NULL;
	struct call_part *ret = arena_array(c.arena, struct call_part, n);
	memcpy(ret, c.parts.v, n * sizeof(*ret));
	return ret;
}
