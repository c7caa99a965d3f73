#include "lock/lock_priv.h"

#include "bind/namedarg.h"
#include "conf/lines.h"
#include "elf/img.h"

enum { MAX_LINE = 16384 }; // four names, escaped

struct comparison;

/** A line of the file: "argument app:req 1 = 4 bytes, signed, n, int". */
struct line {
	const struct kind *kind;
	struct str key, subject, name, value; // subject: "app:req", name: "1" or empty
	struct diag_place at;
};

struct kind {
	const char *word;
	bool has_name;		      // the key ends in that of a part of the subject
	unsigned n_fields;	      // of the value
	const char *before, *between; // how a message calls it: subject and name are behind these
	/** What it is in the target now; false when it is gone, which is reported. */
	bool (*find)(struct comparison *c, const struct line *line, struct str *now);
};

struct comparison {
	const struct bind *b;
	struct map said;	 // what is gone, each once
	unsigned n;		 // differences that were reported
	bool is_asked, is_empty; // the target has no types at all, which is reported
	bool good;
};

/** Of a line, or without @has_name of its subject. */
static struct str what_text(struct arena *a, const struct line *line, bool has_name)
{
	const struct kind *k = line->kind;
	return str_printf(a, "%s" STR_FMT "%s" STR_FMT, k->before, STR_ARG(line->subject),
			  has_name ? k->between : "", STR_ARG(has_name ? line->name : STR("")));
}

static bool say_gone(struct comparison *c, const struct line *line, struct str what)
{
	if (!map_add(c->b->arena, &c->said, what))
		return false;
	c->n++;
	c->good &= diag_check(c->b->diag, "lock", DIAG_ERROR, &line->at, STR_FMT " is gone",
			      STR_ARG(what));
	return false;
}

static bool find_match(struct comparison *c, const struct line *line, struct attach_match *ret)
{
	size_t colon = str_find(line->subject, ':');
	struct str provider = str_slice(line->subject, 0, colon),
		   name = str_from_offset(line->subject, colon + 1);
	for (size_t i = 0; i < c->b->given->files->list.n; i++) {
		struct targetfile *tf = &c->b->given->files->list.v[i];
		*ret = (struct attach_match){
		    tf, sdt_find(targetfile_probes(c->b->given->files, tf), provider, name, NULL)};
		if (ret->probe)
			return true;
	}
	return say_gone(c, line, what_text(c->b->arena, line, false));
}

static bool find_probe(struct comparison *c, const struct line *line, struct str *now)
{
	struct attach_match m;
	if (!find_match(c, line, &m))
		return false;
	*now = lock_probe(c->b, &m);
	return true;
}

static bool find_argument(struct comparison *c, const struct line *line, struct str *now)
{
	struct attach_match m;
	uint64_t n;
	if (!find_match(c, line, &m))
		return false;
	const struct probearg *arg = str_to_u64(line->name, &n) && n < SDTARG_MAX
					 ? namedarg_at(c->b, &m, (unsigned)n)
					 : NULL;
	*now = arg ? lock_arg(c->b->arena, arg) : STR("");
	return true;
}

static bool find_function(struct comparison *c, const struct line *line, struct str *now)
{
	uint64_t unused;
	*now = STR(LOCK_THERE);
	for (size_t i = 0; i < c->b->given->files->list.n; i++) {
		struct img *img =
		    targetfile_open(c->b->given->files, &c->b->given->files->list.v[i]);
		if (img && img_find_function(img, line->subject, &unused))
			return true;
	}
	return say_gone(c, line, what_text(c->b->arena, line, true));
}

static void ignore_name(void *ctx, unsigned kind, struct str name)
{
	(void)ctx;
	(void)kind;
	(void)name;
}

/** A file without debug information says nothing of types: that is one error, not one for each. */
static bool has_types(struct comparison *c)
{
	struct lookup *lk = bind_lookup(c->b);
	if (!c->is_asked) {
		c->is_empty = true;
		for (size_t i = 0; i < lk->sources.n; i++)
			c->is_empty &= !lk->sources.v[i]->ops->walk(lk->sources.v[i], NAME_TYPES,
								    ignore_name, NULL);
		// A script that needs types has said so.
		if (c->is_empty && !c->b->diag->n_errors)
			lookup_walk(lk, NAME_TYPES, ignore_name, NULL);
	}
	c->is_asked = true;
	c->good &= !c->is_empty;
	return !c->is_empty;
}

static bool find_type(struct comparison *c, const struct line *line, unsigned kinds,
		      struct ctype **ret)
{
	if (lookup_type(bind_lookup(c->b), line->subject, kinds, ret))
		return true;
	if (str_find(line->subject, '<') < line->subject.n)
		return false; // compilers spell vec<unsigned long> in different ways
	return has_types(c) && say_gone(c, line, what_text(c->b->arena, line, false));
}

static bool find_enumerator(struct comparison *c, const struct line *line, struct str *now)
{
	struct arena *a = c->b->arena;
	struct ctype *t;
	int64_t value;
	bool is_named = !str_eqz(line->subject, LOCK_UNNAMED);
	if (is_named && !find_type(c, line, NAME_ENUM | NAME_TYPEDEF, &t))
		return false;
	if (!is_named && lookup_enumerator(bind_lookup(c->b), line->name, &value, &t)) {
		*now = lock_enumerator(a, t->is_signed, value);
		return true;
	}
	t = is_named ? ctype_strip(t) : NULL;
	bool has_values = t && t->kind == CTYPE_ENUM && ctype_complete(t);
	for (size_t i = 0; has_values && i < t->n_values; i++) {
		if (!str_eq(lock_name(a, t->values[i].name, true), line->name))
			continue;
		*now = lock_enumerator(a, t->is_signed, t->values[i].value);
		return true;
	}
	return has_types(c) && say_gone(c, line, what_text(a, line, true));
}

static bool find_member(struct comparison *c, const struct line *line, struct str *now)
{
	struct ctype *t, *unused;
	struct ctype_place place;
	struct str bad;
	if (!find_type(c, line, NAME_TYPES, &t))
		return false;
	if (!ctype_resolve(t, line->name, &place, &bad, &unused))
		return say_gone(c, line, what_text(c->b->arena, line, true));
	*now = lock_member(c->b->arena, &place);
	return true;
}

static bool find_size(struct comparison *c, const struct line *line, struct str *now)
{
	struct ctype *t;
	if (!find_type(c, line, NAME_TYPES, &t))
		return false;
	*now = lock_size(c->b->arena, t);
	return true;
}

static const struct kind kinds[] = {
    {"argument", true, 4, "probe ", ": arg", find_argument},
    {"enum", true, 1, "enum ", ": ", find_enumerator},
    {"function", false, 1, "function ", "", find_function},
    {"member", true, 3, "", ": ", find_member},
    {"probe", false, 1, "probe ", "", find_probe},
    {"sizeof", false, 1, "size of ", "", find_size},
};

/** The next one of @n fields of @rest, of which the last is a type and may have commas. */
static struct str take_field(struct str *rest, unsigned n)
{
	size_t end = rest->n;
	for (size_t i = 0; n > 1 && i < rest->n && end == rest->n; i++)
		if (str_has_prefix(str_from_offset(*rest, i), STR(", ")))
			end = i;
	struct str field = str_slice(*rest, 0, end);
	*rest = str_from_offset(*rest, end + 2);
	return field;
}

/** A mask of the fields that differ, which are written to @was and @is, if they are not NULL. */
static unsigned find_differences(const struct line *line, struct str now, struct strbuf *was,
				 struct strbuf *is)
{
	unsigned mask = 0;
	struct str old = line->value;
	for (unsigned n = line->kind->n_fields; n; n--) {
		struct str x = take_field(&old, n), y = take_field(&now, n);
		if (str_eq(x, y) || str_eqz(x, "?") || str_eqz(y, "?"))
			continue;
		if (was)
			strbuf_addf(was, "%s" STR_FMT, mask ? ", " : "", STR_ARG(x));
		if (is)
			strbuf_addf(is, "%s" STR_FMT, mask ? ", " : "", STR_ARG(y));
		mask |= 1U << (line->kind->n_fields - n);
	}
	return mask;
}

static bool is_same(const struct line *line, struct str now)
{
	return !find_differences(line, now, NULL, NULL);
}

enum { FIELD_NAME = 2 }; // of an argument

/** The argument that the line names has another number now: says so. */
static bool say_moved(struct comparison *c, const struct line *line, struct str now)
{
	struct attach_match m;
	struct str name = {0}, other = {0}, old = line->value;
	for (unsigned i = 0; i <= FIELD_NAME; i++) {
		name = take_field(&old, line->kind->n_fields - i);
		other = take_field(&now, line->kind->n_fields - i);
	}
	if (str_eqz(name, "?") || str_eq(name, other) || !find_match(c, line, &m))
		return false;
	const struct probearg *arg;
	for (unsigned n = 0; (arg = namedarg_at(c->b, &m, n)); n++) {
		if (!str_eq(lock_arg_name(c->b->arena, arg), name))
			continue;
		c->good &= diag_check(c->b->diag, "lock", DIAG_ERROR, &line->at,
				      STR_FMT ": " STR_FMT " was arg" STR_FMT ", is arg%u",
				      STR_ARG(what_text(c->b->arena, line, false)), STR_ARG(name),
				      STR_ARG(line->name), n);
		return true;
	}
	return false;
}

static void say_difference(struct comparison *c, const struct line *line, struct str now)
{
	struct strbuf was, is;
	struct str what = what_text(c->b->arena, line, true);
	bool is_argument = line->kind->find == find_argument;
	if (is_argument && say_moved(c, line, now)) {
		c->n++;
		return;
	}
	if (!now.n) {
		say_gone(c, line, what);
		return;
	}
	strbuf_init(&was);
	strbuf_init(&is);
	bool is_name = find_differences(line, now, &was, &is) == 1U << FIELD_NAME && is_argument;
	c->n++;
	bool has = line->kind->find == find_probe; // arguments
	c->good &= diag_check(c->b->diag, "lock", is_name ? DIAG_WARNING : DIAG_ERROR, &line->at,
			      STR_FMT " %s " STR_FMT ", %s " STR_FMT, STR_ARG(what),
			      is_name ? "was called"
			      : has   ? "had"
				      : "was",
			      STR_ARG(strbuf_str(&was)),
			      is_name ? "is called"
			      : has   ? "has"
				      : "is",
			      STR_ARG(strbuf_str(&is)));
	strbuf_fini(&was);
	strbuf_fini(&is);
}

static void compare_line(struct comparison *c, const struct line *line)
{
	struct lock_fact *first = map_get(&c->b->given->lock->facts, line->key);
	struct str now;
	for (struct lock_fact *f = first; f; f = f->next) {
		f->is_locked = true;
		if (is_same(line, f->value))
			return;
	}
	if (first)
		now = first->value;
	else if (!line->kind->find(c, line, &now) || is_same(line, now))
		return;
	say_difference(c, line, now);
	if (first) {
		first->at.source = first->at.macro.file = STR(""); // one line for each
		diag_note(c->b->diag, &first->at, "it is used here");
	}
}

/** A mistake in the file itself. */
static bool parse_line(const struct lines *l, struct diag *d, struct line *ret)
{
	struct str text = l->text;
	size_t equals = str_find(text, '='), blank = str_find(text, ' ');
	*ret = (struct line){.at = l->at};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eqz(str_slice(text, 0, blank), kinds[i].word))
			ret->kind = &kinds[i];
	if (text.n > MAX_LINE)
		return diag_error(d, &l->at, "the line is too long: not a lock of btgen check");
	if (!ret->kind)
		return diag_error(d, &l->at,
				  "unknown word \"" STR_FMT "\": not a lock of btgen check",
				  STR_ARG(str_slice(text, 0, blank < 40 ? blank : 40)));
	ret->key = str_trim(str_slice(text, 0, equals));
	ret->value = str_trim(str_from_offset(text, equals + 1));
	ret->subject = str_from_offset(ret->key, blank + 1);
	if (ret->kind->has_name) {
		while (ret->subject.n && ret->subject.p[ret->subject.n - 1] != ' ')
			ret->subject.n--;
		ret->name = str_from_offset(ret->key, blank + 1 + ret->subject.n);
		ret->subject = str_trim(ret->subject);
	}
	return (ret->subject.n && ret->value.n && (ret->name.n || !ret->kind->has_name)) ||
	       diag_error(d, &l->at, "expected \"%s ... = ...\"", ret->kind->word);
}

static bool open_file(struct arena *a, struct diag *d, const char *path, struct lines *l)
{
	if (!lines_open(a, d, path, "of facts", l))
		return false;
	struct str format = STR(LOCK_FORMAT);
	lines_next(l);
	if (str_eqz(l->text, LOCK_FORMAT LOCK_VERSION))
		return true;
	if (!str_has_prefix(l->text, format))
		return diag_error(d, &l->at,
				  "not a lock: its first line is not \"%s\" (btgen check --lock "
				  "writes one)",
				  LOCK_FORMAT LOCK_VERSION);
	return diag_error(
	    d, &l->at,
	    "a lock of version " STR_FMT ", and this btgen reads %s: write it anew with --lock",
	    STR_ARG(str_slice(str_from_offset(l->text, format.n), 0, 20)), LOCK_VERSION);
}

/** Of a lock without differences: what the scripts rely on by now. */
static void warn_of_new(struct comparison *c, const char *path)
{
	const struct lock_fact *first = NULL;
	unsigned n = 0;
	for (struct map_entry *e = NULL; (e = map_next(&c->b->given->lock->facts, e));) {
		const struct lock_fact *f = e->value;
		first = f->is_locked || first ? first : f;
		n += !f->is_locked;
	}
	if (!first)
		return;
	struct diag_place at = {.file = str_from(path)};
	c->good &= diag_check(c->b->diag, "lock", DIAG_WARNING, &at,
			      "the scripts rely on more than the lock has (%u fact%s): write it "
			      "anew with --lock",
			      n, n == 1 ? "" : "s");
	diag_note(c->b->diag, &first->at, "the first is " STR_FMT, STR_ARG(first->key));
}

bool lock_compare(const struct bind *b, const char *path)
{
	struct comparison c = {.b = b, .good = true};
	struct lines l;
	struct line line;
	if (!b->given->files)
		return true; // the script could not be read, which is reported
	if (!open_file(b->arena, b->diag, path, &l))
		return false;
	bind_lookup(b);
	dwtypes_ask_from(b->memory->dwarf, b->memory->all_near);
	while (lines_next(&l)) {
		if (!parse_line(&l, b->diag, &line))
			return false;
		// It takes time to find what is not there: not for what is not shown.
		if (b->diag->json || b->diag->n_errors <= DIAG_MAX_ERRORS)
			compare_line(&c, &line);
	}
	if (!c.n)
		warn_of_new(&c, path);
	return c.good;
}
