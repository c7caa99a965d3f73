#include "lock/lock_priv.h"

#include "bind/namedarg.h"
#include "conf/lines.h"
#include "probe/funcargs.h"

enum { MAX_LINE = 16384 }; // four names, escaped

struct comparison;

/** A fact's key: "argument app:req 1". */
struct key {
	const struct kind *kind;
	struct str subject, name; // "app:req"; "1" or empty
};

/** What is there now of what a key names. */
enum found {
	FOUND,
	NO_SUBJECT, // no such probe, type, function
	NO_NAME,    // it has no such part
	NOT_KNOWN
};

struct kind {
	const char *word;
	bool has_name;		      // the key ends in that of a part of the subject
	unsigned n_fields;	      // of the value
	const char *before, *between; // in a message, before the subject and the name
	enum found (*find)(struct comparison *c, const struct key *key, struct str *now);
};

struct comparison {
	const struct bind *b;
	struct lock_differences *ret;
	struct map gone;	 // each once
	struct map enums;	 // that the old facts have names of
	bool is_asked, is_empty; // the target has no types at all
};

// --- what a fact is in the target ---

static bool is_of(const struct key *key, const char *word)
{
	return str_eqz(str_from(key->kind->word), word);
}

static bool find_match(struct comparison *c, const struct key *key, struct attach_match *ret)
{
	size_t colon = str_find(key->subject, ':');
	struct str provider = str_slice(key->subject, 0, colon),
		   name = str_from_offset(key->subject, colon + 1);
	vec_each(struct targetfile, tf, &c->b->given->files->list) {
		*ret = (struct attach_match){
		    tf, sdt_find_named(targetfile_probes(c->b->given->files, tf), provider, name)};
		if (ret->probe)
			return true;
	}
	return false;
}

/** A probe, or one of its arguments. */
static enum found find_of_probe(struct comparison *c, const struct key *key, struct str *now)
{
	struct attach_match m;
	uint64_t n;
	if (!find_match(c, key, &m))
		return NO_SUBJECT;
	const struct probeargs *pa = namedarg_all(c->b, &m);
	if (key->name.n && (!str_to_u64(key->name, &n) || n >= pa->n_args))
		return NO_NAME;
	*now = key->name.n ? lock_arg(c->b->arena, &pa->args[n]) : lock_probe(c->b->arena, pa);
	return FOUND;
}

/** A function, what it returns, or one of its parameters. */
static enum found find_of_function(struct comparison *c, const struct key *key, struct str *now)
{
	uint64_t addr;
	struct funcargs f;
	struct targetfile *tf = targetfile_with(c->b->given->files, key->subject, NULL, &addr);
	if (!tf)
		return NO_SUBJECT;
	*now = STR(LOCK_THERE);
	if (is_of(key, "function"))
		return FOUND;
	if (!funcargs_read(tf->bin.src, addr, &f) || (!key->name.n && !f.result))
		return NOT_KNOWN;
	if (!key->name.n)
		*now = lock_result(c->b->arena, f.result);
	size_t i = 0;
	while (key->name.n && i < f.list.n &&
	       !str_eq(lock_name(c->b->arena, f.list.v[i].arg.name, true), key->name))
		i++;
	if (key->name.n && i < f.list.n)
		*now = lock_parameter(c->b->arena, f.list.v[i].number, f.list.v[i].arg.type);
	return key->name.n && i == f.list.n ? NO_NAME : FOUND;
}

static void ignore_name(void *ctx, unsigned kind, struct str name)
{
	(void)ctx;
	(void)kind;
	(void)name;
}

/** Is a name unknown? Nothing is, where there is no debug information: that is one error. */
static enum found unless_empty(struct comparison *c, enum found found)
{
	struct lookup *lk = bind_lookup(c->b);
	if (!c->is_asked) {
		c->is_asked = c->is_empty = true;
		for (size_t i = 0; i < lk->sources.n; i++)
			c->is_empty &= !lk->sources.v[i]->ops->walk(lk->sources.v[i], NAME_TYPES,
								    ignore_name, NULL);
	}
	c->ret->has_no_types |= c->is_empty;
	return c->is_empty ? NOT_KNOWN : found;
}

static enum found find_enumerator(struct comparison *c, const struct key *key, struct ctype *t,
				  struct str *now)
{
	struct arena *a = c->b->arena;
	int64_t value;
	if (!t && lookup_enumerator(bind_lookup(c->b), key->name, &value, &t)) {
		*now = lock_enumerator(a, t->is_signed, value);
		return FOUND;
	}
	t = ctype_strip(t);
	bool has_values = t && t->kind == CTYPE_ENUM && ctype_complete(t);
	for (size_t i = 0; has_values && i < t->n_values; i++) {
		if (!str_eq(lock_name(a, t->values[i].name, true), key->name))
			continue;
		*now = lock_enumerator(a, t->is_signed, t->values[i].value);
		return FOUND;
	}
	return unless_empty(c, NO_NAME);
}

/** A type's size, a member or an enumerator. */
static enum found find_of_type(struct comparison *c, const struct key *key, struct str *now)
{
	struct ctype *t = NULL, *unused;
	struct ctype_place place;
	struct str bad;
	bool is_enum = is_of(key, "enum");
	if (!(is_enum && str_eqz(key->subject, LOCK_UNNAMED)) &&
	    !lookup_type(bind_lookup(c->b), key->subject,
			 is_enum ? NAME_ENUM | NAME_TYPEDEF : NAME_TYPES, &t))
		// Compilers spell vec<unsigned long> in different ways.
		return str_contains(key->subject, STR("<")) ? NOT_KNOWN
							    : unless_empty(c, NO_SUBJECT);
	if (is_enum)
		return find_enumerator(c, key, t, now);
	if (is_of(key, "type")) {
		*now = lock_type(c->b->arena, t);
		return FOUND;
	}
	if (key->name.n && !ctype_resolve(t, key->name, &place, &bad, &unused))
		return NO_NAME;
	*now = key->name.n ? lock_member(c->b->arena, &place) : lock_size(c->b->arena, t);
	return FOUND;
}

static const struct kind kinds[] = {
    {"argument", true, 4, "probe ", ": arg", find_of_probe},
    {"enum", true, 1, "enum ", ": ", find_of_type},
    {"function", false, 1, "function ", "", find_of_function},
    {"member", true, 3, "", ": ", find_of_type},
    {"parameter", true, 3, "function ", ": ", find_of_function},
    {"probe", false, 1, "probe ", "", find_of_probe},
    {"result", false, 2, "result of ", "", find_of_function},
    {"sizeof", false, 1, "size of ", "", find_of_type},
    {"type", false, 2, "type ", "", find_of_type},
};

/** False: no such word, or one that lacks names. */
static bool parse_key(struct str text, struct key *ret)
{
	size_t blank = str_find(text, ' ');
	*ret = (struct key){.subject = str_from_offset(text, blank + 1)};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eqz(str_slice(text, 0, blank), kinds[i].word))
			ret->kind = &kinds[i];
	if (ret->kind && ret->kind->has_name) {
		ret->name = str_last(ret->subject, ' ');
		ret->subject = str_trim(str_slice(ret->subject, 0, ret->subject.n - ret->name.n));
	}
	return ret->kind && ret->subject.n && (ret->name.n || !ret->kind->has_name);
}

// --- the comparison ---

/** The next one of @n fields of @rest, of which the last is a type and may have commas. */
static struct str next_field(struct str *rest, unsigned n)
{
	const char *end = n > 1 && rest->n ? memmem(rest->p, rest->n, ", ", 2) : NULL;
	struct str field = str_slice(*rest, 0, end ? (size_t)(end - rest->p) : rest->n);
	*rest = str_from_offset(*rest, field.n + 2);
	return field;
}

/** A mask of those of @n fields that differ, which is what is left of @was and @is. */
static unsigned find_differences(struct arena *a, unsigned n, struct str *was, struct str *is)
{
	unsigned mask = 0;
	struct str old = *was, now = *is;
	for (unsigned i = 0; i < n; i++) {
		struct str x = next_field(&old, n - i), y = next_field(&now, n - i);
		if (str_eq(x, y) || str_eqz(x, "?") || str_eqz(y, "?"))
			continue;
		*was = mask ? str_printf(a, STR_FMT ", " STR_FMT, STR_ARG(*was), STR_ARG(x)) : x;
		*is = mask ? str_printf(a, STR_FMT ", " STR_FMT, STR_ARG(*is), STR_ARG(y)) : y;
		mask |= 1U << i;
	}
	return mask;
}

enum { FIELD_NAME = 2 }; // of an argument

/** The number by now of an argument that was called as @value has it; false: no other one. */
static bool find_moved(struct comparison *c, const struct key *key, struct str value,
		       struct str now, struct str *name, unsigned *ret)
{
	struct attach_match m;
	struct str other = {0};
	const struct probearg *arg;
	for (unsigned i = 0; i <= FIELD_NAME; i++) {
		*name = next_field(&value, key->kind->n_fields - i);
		other = next_field(&now, key->kind->n_fields - i);
	}
	if (str_eqz(*name, "?") || str_eq(*name, other) || !find_match(c, key, &m))
		return false;
	for (*ret = 0; (arg = namedarg_at(c->b, &m, *ret)); ++*ret)
		if (str_eq(lock_arg_name(c->b->arena, arg), *name))
			return true;
	return false;
}

static struct str what_text(struct arena *a, const struct key *key, bool has_name)
{
	const struct kind *k = key->kind;
	return str_printf(a, "%s" STR_FMT "%s" STR_FMT, k->before, STR_ARG(key->subject),
			  has_name ? k->between : "", STR_ARG(has_name ? key->name : STR("")));
}

static void report(struct comparison *c, const struct key *key, enum lock_change change,
		   const struct lock_fact *fact, struct str text, struct str was, struct str is)
{
	bool is_probe = is_of(key, "probe") || is_of(key, "argument");
	struct lock_difference d = {
	    .change = change,
	    .kind = key->kind->word,
	    .subject = is_probe ? key->subject : what_text(c->b->arena, key, false),
	    .name = key->name,
	    .was = was,
	    .is = is,
	    .text = text,
	    .fact = fact,
	    .now = map_get(&c->b->given->lock->facts, fact->key),
	};
	vec_push(c->b->arena, &c->ret->list, d);
}

static void report_changed(struct comparison *c, const struct key *key, const struct lock_fact *old,
			   struct str was, struct str is, bool is_name)
{
	static const char *const verbs[][2] = {
	    {"was ", "is "}, {"was called ", "is called "}, {"had ", "has "}};
	const char *const *verb = verbs[is_name ? 1 : is_of(key, "probe") ? 2 : 0];
	const struct lock_fact *now = map_get(&c->b->given->lock->facts, old->key);
	bool is_whole =
	    old->signature.p && now && now->signature.p && !str_eq(old->signature, now->signature);
	if (is_whole) {
		was = old->signature;
		is = now->signature;
	}
	const char *open = is_whole ? "(" : "", *end = is_whole ? ")" : "";
	struct str text = str_printf(c->b->arena, STR_FMT " %s%s" STR_FMT "%s, %s%s" STR_FMT "%s",
				     STR_ARG(what_text(c->b->arena, key, true)), verb[0], open,
				     STR_ARG(was), end, verb[1], open, STR_ARG(is), end);
	report(c, key, is_name ? LOCK_RENAMED : LOCK_CHANGED, old, text, was, is);
}

/** Names of an enum that no script uses: where it is not known at all, there is nothing to compare. */
static bool is_seen_only(const struct lock_fact *f, const struct key *key)
{
	return is_of(key, "enum") && !f->at.file.n && !f->scripts.n;
}

static void compare_fact(struct comparison *c, const struct lock_fact *old)
{
	struct arena *a = c->b->arena;
	struct lock_fact *first = map_get(&c->b->given->lock->facts, old->key);
	struct key key;
	struct str was = old->value, is, name;
	unsigned mask = 1, n;
	if (!parse_key(old->key, &key))
		return;
	if (is_of(&key, "enum"))
		map_add(a, &c->enums, key.subject);
	for (struct lock_fact *f = first; f && mask; f = f->next) {
		struct str x = old->value, y = f->value;
		f->is_locked = true;
		mask = find_differences(a, key.kind->n_fields, &x, &y);
	}
	if (!mask)
		return;
	if (first)
		is = first->value;
	enum found found = first ? FOUND : key.kind->find(c, &key, &is);
	bool is_argument = is_of(&key, "argument") && found != NO_SUBJECT;
	if (is_argument && find_moved(c, &key, was, found == FOUND ? is : STR(""), &name, &n)) {
		struct str text = str_printf(
		    a, STR_FMT ": " STR_FMT " was arg" STR_FMT ", is arg%u",
		    STR_ARG(what_text(a, &key, false)), STR_ARG(name), STR_ARG(key.name), n);
		report(c, &key, LOCK_MOVED, old, text,
		       str_printf(a, "arg" STR_FMT, STR_ARG(key.name)), str_printf(a, "arg%u", n));
	} else if (found == NO_NAME || (found == NO_SUBJECT && !is_seen_only(old, &key))) {
		struct str what = what_text(a, &key, found == NO_NAME || !key.kind->has_name);
		if (map_add(a, &c->gone, what))
			report(c, &key, LOCK_REMOVED, old,
			       str_printf(a, STR_FMT " is gone", STR_ARG(what)),
			       old->signature.p ? old->signature : old->value, (struct str){0});
	} else if (found == FOUND && (mask = find_differences(a, key.kind->n_fields, &was, &is))) {
		report_changed(c, &key, old, was, is, is_argument && mask == 1U << FIELD_NAME);
	}
}

/** What only the other build has. An argument of a build is a part of its probe. */
static void report_added(struct comparison *c, const struct lock_fact *f)
{
	struct key key;
	if (f->is_locked || !parse_key(f->key, &key) ||
	    (!f->at.file.n && is_of(&key, "argument")) ||
	    (is_seen_only(f, &key) && !map_get(&c->enums, key.subject)))
		return;
	struct str what = what_text(c->b->arena, &key, true), is = f->value;
	if (f->signature.p)
		is = str_printf(c->b->arena, "(" STR_FMT ")", STR_ARG(f->signature));
	report(c, &key, LOCK_ADDED, f,
	       str_printf(c->b->arena, STR_FMT " is new: " STR_FMT, STR_ARG(what), STR_ARG(is)),
	       (struct str){0}, f->signature.p ? f->signature : f->value);
}

void lock_compare(const struct bind *b, struct lock *old, struct lock_differences *ret)
{
	struct comparison c = {.b = b, .ret = ret};
	bind_lookup(b);
	b->cache->dwarf->context = b->cache->all_near;
	for (struct map_entry *e = NULL; (e = map_next(&old->facts, e));)
		for (const struct lock_fact *f = e->value; f; f = f->next)
			compare_fact(&c, f);
	for (struct map_entry *e = NULL; (e = map_next(&b->given->lock->facts, e));)
		report_added(&c, e->value);
}

// --- a file ---

/** A mistake in the file itself. */
static bool read_line(const struct lines *l, struct diag *d, struct lock *ret)
{
	struct str text = l->text;
	size_t equals = str_find(text, '='), blank = str_find(text, ' ');
	struct str value = str_trim(str_from_offset(text, equals + 1));
	struct key key;
	bool good = parse_key(str_trim(str_slice(text, 0, equals)), &key) && value.n;
	if (text.n > MAX_LINE)
		return diag_error(d, &l->at, "the line is too long: not a lock of btgen check");
	if (!key.kind)
		return diag_error(d, &l->at,
				  "unknown word \"" STR_FMT "\": not a lock of btgen check",
				  STR_ARG(str_slice(text, 0, blank < 40 ? blank : 40)));
	if (!good)
		return diag_error(d, &l->at, "expected \"%s ... = ...\"", key.kind->word);
	lock_add(ret, &l->at, str_trim(str_slice(text, 0, equals)), value);
	return true;
}

static bool read_file(struct diag *d, const char *path, struct lock *ret)
{
	struct lines l;
	if (!lines_open(ret->arena, d, path, "of facts", &l))
		return false;
	struct str format = STR(LOCK_FORMAT);
	lines_next(&l);
	if (!str_has_prefix(l.text, format))
		return diag_error(d, &l.at,
				  "not a lock: its first line is not \"%s\" (btgen check --lock "
				  "writes one)",
				  LOCK_FORMAT LOCK_VERSION);
	if (!str_eqz(l.text, LOCK_FORMAT LOCK_VERSION))
		return diag_error(d, &l.at,
				  "lock file of version " STR_FMT
				  ", but this btgen reads %s: rewrite it with --lock and "
				  "--update",
				  STR_ARG(str_slice(str_from_offset(l.text, format.n), 0, 20)),
				  LOCK_VERSION);
	while (lines_next(&l))
		if (!read_line(&l, d, ret))
			return false;
	return true;
}

/** Of a lock without differences: what the scripts rely on by now. */
static bool warn_of_new(const struct bind *b, const struct lock_differences *ds, const char *path)
{
	struct diag_place at = {.file = str_from(path)};
	bool good =
	    diag_finding(b->diag, "lock", DIAG_WARNING, &at,
			 "the scripts rely on %zu fact%s that the lock lacks: rewrite it with "
			 "--lock and --update",
			 ds->list.n, ds->list.n == 1 ? "" : "s");
	diag_note(b->diag, &ds->list.v[0].fact->at, "the first is " STR_FMT,
		  STR_ARG(ds->list.v[0].fact->key));
	return good;
}

bool lock_check(const struct bind *b, const char *path)
{
	struct lock old = {.arena = b->arena};
	struct lock_differences ds = {0};
	bool good = true;
	if (!b->given->files)
		return true; // the script could not be read, which is reported
	if (!read_file(b->diag, path, &old))
		return false;
	lock_compare(b, &old, &ds);
	// A script that needs types has said so.
	if (ds.has_no_types && !b->diag->n_errors)
		lookup_walk(bind_lookup(b), NAME_TYPES, ignore_name, NULL);
	if (ds.list.n && ds.list.v[0].change == LOCK_ADDED)
		return warn_of_new(b, &ds, path);
	for (size_t i = 0; i < ds.list.n && ds.list.v[i].change != LOCK_ADDED; i++) {
		const struct lock_difference *d = &ds.list.v[i];
		good &= diag_finding(b->diag, "lock",
				     d->change == LOCK_RENAMED ? DIAG_WARNING : DIAG_ERROR,
				     &d->fact->at, STR_FMT, STR_ARG(d->text));
		if (!d->now)
			continue;
		struct diag_place at = d->now->at;
		at.source = at.macro.file = STR(""); // one line for each
		diag_note(b->diag, &at, "it is used here");
	}
	return good && !ds.has_no_types;
}
