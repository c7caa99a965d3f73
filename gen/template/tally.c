// Scripts that count the probes of a skeleton, or time what lies between two of them.
#include "template/skeleton.h"

static bool is_builtin(struct str word)
{
	return str_eqz(word, "comm") || str_eqz(word, "pid") || str_eqz(word, "tid");
}

static bool report_no_argument(const struct skeleton *sk, const struct skeleton_probe *p,
			       struct str word)
{
	struct strbuf names = {0};
	for (size_t i = 0; i < p->n_fields; i++)
		strbuf_addf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(p->fields[i].shape.name));
	diag_error(sk->diag, NULL, STR_FMT " has no argument '" STR_FMT "'", STR_ARG(p->label),
		   STR_ARG(word));
	diag_note(sk->diag, NULL,
		  "a key is probe, comm, pid, tid or an argument; that probe has %s" STR_FMT,
		  names.n ? "" : "none", STR_ARG(strbuf_str(&names)));
	strbuf_fini(&names);
	return false;
}

/** A key of a map, in the user's words, at probe @p. */
static bool write_key(const struct skeleton *sk, const struct skeleton_probe *p, struct str word,
		      struct code *out)
{
	if (is_builtin(word)) {
		code_text(out, word);
		return true;
	}
	if (str_eqz(word, "probe")) {
		code_word(out, skeleton_quote_label(sk, p));
		return true;
	}
	const struct skeleton_field *f = skeleton_find_field(sk->arena, p, word);
	if (!f)
		return report_no_argument(sk, p, word);
	bool has_value;
	skeleton_is_text(f, &has_value);
	const char *why = f->shape.value.how == VALUE_HIDDEN ? "bpftrace cannot read it here"
			  : value_is_real(&f->shape.value)   ? "it is a floating-point number"
			  : !has_value			     ? "it is a struct or an array"
							     : NULL;
	if (why)
		return diag_error(sk->diag, NULL, STR_FMT ": '" STR_FMT "' cannot be a key: %s",
				  STR_ARG(p->label), STR_ARG(word), why);
	skeleton_write_shown(f, out);
	return true;
}

static bool write_keys(const struct skeleton *sk, const struct skeleton_probe *p, struct str words,
		       struct code *out)
{
	bool good = true;
	while (words.n) {
		good &= write_key(sk, p, str_take_until(&words, ','), out);
		code_z(out, words.n ? ", " : "");
	}
	return good;
}

/** A key of a map is a string for all probes, or for none: @p against @first. */
static bool check_kind(const struct skeleton *sk, const struct skeleton_probe *first,
		       const struct skeleton_probe *p, struct str word)
{
	const struct skeleton_field *f = skeleton_find_field(sk->arena, first, word);
	const struct skeleton_field *g = skeleton_find_field(sk->arena, p, word);
	bool has_value, is_text = f && skeleton_is_text(f, &has_value);
	if (is_builtin(word) || !f || !g || skeleton_is_text(g, &has_value) == is_text)
		return true;
	return diag_error(sk->diag, NULL,
			  "'" STR_FMT "' cannot be a key of both: it is a %s in " STR_FMT
			  " and a %s in " STR_FMT,
			  STR_ARG(word), is_text ? "string" : "number", STR_ARG(first->label),
			  is_text ? "number" : "string", STR_ARG(p->label));
}

/** The same for all probes of @sk and each of @keys. */
static bool check_kinds(const struct skeleton_probe *first, const struct skeleton *sk,
			struct str keys)
{
	bool good = true;
	while (good && keys.n) {
		struct str word = str_take_until(&keys, ',');
		for (size_t i = 0; good && i < sk->probes.n; i++)
			good = check_kind(sk, first, &sk->probes.v[i], word);
	}
	return good;
}

bool tally_takes_arguments(struct str keys)
{
	while (keys.n) {
		struct str word = str_take_until(&keys, ',');
		if (!is_builtin(word) && !str_eqz(word, "probe"))
			return true;
	}
	return false;
}

/** `{ @count[enum_name(FUNCTIONS, @place), comm] = count(); }` */
static void write_named_count(struct str keys, const char *place, struct code *out)
{
	code_z(out, "{\n\t@count[");
	while (keys.n) {
		struct str word = str_take_until(&keys, ',');
		if (str_eqz(word, "probe"))
			code_f(out, "enum_name(" SHAPE_FUNCTIONS ", %s)", place);
		else
			code_text(out, word);
		code_z(out, keys.n ? ", " : "");
	}
	code_z(out, "] = count();\n}\n");
}

/** One clause for most functions of each kind. */
static bool write_merged_counts(const struct skeleton *sk, const struct skeleton_points *points,
				struct str keys, struct code *out)
{
	struct skeleton_points some = *points;
	if (!skeleton_check_clauses(sk, points->n + points->n_rest, SKELETON_MAX_FUNCTIONS))
		return false;
	for (; some.v < points->v + points->n; some.v += some.n) {
		const char *kind = some.v->kind;
		some.n = 0;
		while (some.v + some.n < points->v + points->n && some.v[some.n].kind == kind)
			some.n++;
		skeleton_write_points(&some, kind, out);
		write_named_count(keys, skeleton_place(points, kind), out);
	}
	for (size_t i = 0; i < points->n_rest; i++) {
		skeleton_write_head(points->rest[i].p, NULL, out);
		write_named_count(keys, arena_printf(sk->arena, "%" PRId64, points->rest[i].number),
				  out);
	}
	return true;
}

bool tally_write_counts(const struct skeleton *sk, struct str keys, struct shapes *run,
			struct code *out)
{
	struct skeleton_points points;
	bool good = check_kinds(&sk->probes.v[0], sk, keys);
	code_z(out, "// Event counts. Written by btgen as a starting point.\n#pragma gate\n");
	if (good && skeleton_merge(sk, run, &points))
		return write_merged_counts(sk, &points, keys, out);
	good = good &&
	       (!sk->may_merge || skeleton_check_clauses(sk, sk->probes.n, SKELETON_MAX_FUNCTIONS));
	for (size_t i = 0; good && i < sk->probes.n; i++) {
		const struct skeleton_probe *p = &sk->probes.v[i];
		skeleton_write_head(p, sk->filter, out);
		code_z(out, "{\n\t@count[");
		good &= write_keys(sk, p, keys, out);
		code_z(out, "] = count();\n}\n");
	}
	return good;
}

/** Lines of a script, with @key for ? and @open, before a condition, for ~; each after @indent. */
static void add_lines(const char *lines, const char *indent, const struct code *key,
		      const char *open, struct code *out)
{
	for (const char *c = lines; *c; c++) {
		if (c == lines || c[-1] == '\n')
			code_z(out, indent);
		if (*c == '?')
			code_code(out, key);
		else if (*c == '~')
			code_z(out, open);
		else
			code_f(out, "%c", *c);
	}
}

/** In the user's words, in the map of operations under way. */
static bool write_start_key(const struct skeleton *sk, const struct skeleton_probe *p,
			    struct str word, struct code *out)
{
	if (str_eqz(word, "probe"))
		return diag_error(sk->diag, NULL,
				  "'probe' cannot be a key: START and DONE are different probes");
	if (!str_eqz(word, "pid") && !str_eqz(word, "tid")) // others may be shared
		code_z(out, "pid, ");
	return write_key(sk, p, word, out);
}

// A start without an entry found no room, or another thread with the same key ended meanwhile. A key is not
// kept in a variable: 0.17 does not find a string again that way.
static const char start_lines[] =
    "if (~@start[?] != 0) {\n"
    "\t@unpaired[\"started again before it was done\"] = count();\n"
    "}\n"
    "@start[?] = nsecs;\n"
    "if (~@start[?] == 0) {\n"
    "\t@unpaired[\"start not kept: @start is full, or another thread was done\"] = count();\n"
    "}\n";

// What has not ended must not be taken for this one.
static const char other_lines[] = "\tif (@start[?] != 0) {\n"
				  "\t\tdelete(@start[?]);\n"
				  "\t}\n";

static const char done_lines[] =
    "$start = @start[?];\n"
    "if ($start != 0) {\n"
    "\tdelete(@start[?]);\n"
    "}\n"
    "if (~$start != 0) {\n"
    "\t$us = (int64)((uint64)((int64)nsecs - (int64)$start) / (uint64)1000);\n";

static const char bucket_lines[] = "\tBUCKET($us)\n"
				   "\t@us_buckets[$low, $high] = count();\n";

static const char max_lines[] = "\t@us_max = max((uint64)$us);\n";

static const char by_lines[] = "\t@count[?] = count();\n"
			       "\t@us[?] = hist((uint64)$us);\n"
			       "\t@us_max[?] = max((uint64)$us);\n";

static const char unpaired_lines[] = " else if (~$start == 0) {\n"
				     "\t\t@unpaired[\"done without a start\"] = count();\n"
				     "\t}";

/** @open: in front of the condition of what is counted; "" or "@gate > 2 && " */
static bool write_start(const struct skeleton *sk, const struct skeleton_probe *p, struct str word,
			const char *open, struct code *out)
{
	struct condition *filter = sk->filter;
	struct code room = {0};
	bool good = write_start_key(sk, p, word, &room);
	const struct skeleton_field *f =
	    is_builtin(word) ? NULL : skeleton_find_field(sk->arena, p, word);
	bool is_text = f && f->shape.value.how == VALUE_STRING;
	skeleton_write_head(p, NULL, out);
	code_z(out, "{\n");
	if (filter) {
		condition_write(filter, p, "\tif (!(", ")) {\n", out);
		add_lines(other_lines, "\t", &room, open, out);
		code_z(out, "\t} else ");
	}
	if (is_text) {
		code_f(out, "%sif (*(uint8 *)", filter ? "" : "\t");
		skeleton_write_value(f, true, out);
		code_z(out, " == 0) {\n"
			    "\t\t@unpaired[\"the key is empty, or was not readable\"] = count();\n"
			    "\t} else ");
	}
	code_z(out, filter || is_text ? "{\n" : "");
	add_lines(start_lines, filter || is_text ? "\t\t" : "\t", &room, open, out);
	code_z(out, filter || is_text ? "\t}\n}\n" : "}\n");
	code_fini(&room);
	return good;
}

/** @by: words of --by; empty: one histogram of all, with percentiles, which @is_live needs, too */
static bool write_done(const struct skeleton *sk, const struct skeleton_probe *p, struct str word,
		       struct str by, bool is_live, const char *open, struct code *out)
{
	struct code key = {0}, of = {0};
	bool good = write_start_key(sk, p, word, &key) && write_keys(sk, p, by, &of);
	skeleton_write_head(p, NULL, out);
	code_z(out, "{\n");
	add_lines(done_lines, "\t", &key, open, out);
	add_lines(by.n && !is_live ? "" : bucket_lines, "\t", &of, open, out);
	add_lines(by.n ? by_lines : max_lines, "\t", &of, open, out);
	code_z(out, "\t}");
	// Where there is a filter, those that have no start are those that it does not let pass.
	if (!sk->filter)
		add_lines(unpaired_lines, "", &key, open, out);
	code_z(out, "\n}\n");
	code_fini(&key);
	code_fini(&of);
	return good;
}

/** A probe cannot be both. */
static bool check_apart(const struct skeleton *start, const struct skeleton *done)
{
	for (size_t i = 0; i < start->probes.n; i++)
		for (size_t k = 0; k < done->probes.n; k++)
			if (start->probes.v[i].file == done->probes.v[k].file &&
			    str_eq(start->probes.v[i].label, done->probes.v[k].label))
				return diag_error(start->diag, NULL,
						  STR_FMT " is both the start and the end",
						  STR_ARG(start->probes.v[i].label));
	return true;
}

bool tally_write_latency(const struct skeleton *start, const struct skeleton *done, struct str key,
			 struct str by, bool is_live, const struct shapes *run, struct code *out)
{
	const char *open =
	    run ? arena_printf(start->arena, "%s > %u && ", run->gate, GATE_SETTLES) : "";
	bool good = check_apart(start, done) && check_kinds(&start->probes.v[0], start, key) &&
		    check_kinds(&start->probes.v[0], done, key);
	for (struct str rest = by; good && rest.n;)
		good = check_kinds(&done->probes.v[0], done, str_take_until(&rest, ','));
	code_z(out, "// Latency in microseconds. Written by btgen as a starting point.\n"
		    "// percentiles.py adds percentiles to its output.\n"
		    "\n"
		    "#pragma gate\n"
		    "#include <buckets.bt>\n");
	if (run)
		code_f(out, "BEGIN\n{\n\t%s = (uint64)0;\n}\n", run->gate);
	// In this order: before 0.24 the type of @start must be known where it is read.
	for (size_t i = 0; good && i < start->probes.n; i++)
		good = write_start(start, &start->probes.v[i], key, open, out);
	for (size_t i = 0; good && i < done->probes.n; i++)
		good = write_done(done, &done->probes.v[i], key, by, is_live, open, out);
	code_z(out,
	       is_live ? "\ninterval:s:1\n{\n\tprint(@us_buckets);\n\tprintf(\"\");\n}\n" : "");
	code_z(out, "\nEND\n{\n\tclear(@start);\n");
	code_z(out, is_live && by.n ? "\tclear(@us_buckets);\n}\n" : "}\n");
	return good;
}
