// -t uprobe:FILE:LINE: a source line with the variables that it has.
#include "template/skeleton_find.h"

#include "bind/codeattach.h"
#include "dialect/dialect.h"

/** PATH:FILE, PATH@FILE, __EXE__:FILE, FILE: of a source file */
static struct str take_path(struct str *file)
{
	size_t at = file->n;
	while (at && !str_has(STR(":@"), (char[]){file->p[at - 1], 0}))
		at--;
	struct str path = at ? str_slice(*file, 0, at - 1) : STR("");
	*file = str_from_offset(*file, at);
	return path;
}

static void push_line(struct skeleton *sk, struct targetfile *tf, struct safe_word file,
		      unsigned line, const struct codeplace_lines *s, bool needs_path)
{
	struct skeleton_probe p = {
	    .file = tf,
	    .kind = "uprobe",
	    .what = word_join(sk->arena, file, ":", word_ident(sk->arena, STR(""), "", line)),
	    .addr = s->list.v[0].addr,
	    .needs_path = needs_path};
	struct context_place *places = arena_array(sk->arena, struct context_place, s->list.n);
	struct namedvars vars;
	p.label = p.declaration = str_printf(sk->arena, "uprobe:" STR_FMT, STR_ARG(p.what.s));
	if (!map_add(
		sk->arena, &sk->known,
		str_printf(sk->arena, STR_FMT " " STR_FMT, STR_ARG(p.label), STR_ARG(tf->path))))
		return;
	for (size_t i = 0; i < s->list.n; i++)
		places[i] = (struct context_place){.src = tf->bin.src,
						   .addr = s->list.v[i].addr,
						   .asked = {DWASKED_LINE, str_base(file.s), line}};
	namedvar_list(sk->arena, places, s->list.n, &vars);
	p.fields = arena_array(sk->arena, struct skeleton_field, vars.list.n + 1);
	vec_each(const struct namedvar, v, &vars.list)
		skeleton_add_variable(sk, &p, v);
	skeleton_add(sk, &p);
}

/** Of all files that are meant; what is wrong with the first one's line is reported if none has it. */
static bool add_places_of_line(struct finder *f, struct str file, unsigned line)
{
	struct skeleton *sk = f->sk;
	struct codeplace_lines s, first = {0};
	struct safe_word word;
	bool is_file = false, found = false;
	if (!word_take(file, ALPHABET_PATH, &word))
		return diag_error(sk->diag, NULL, "bpftrace does not accept the path " STR_FMT,
				  STR_ARG(file));
	vec_each(struct targetfile, tf, &sk->files->list) {
		if (!finder_means(f, tf) || !targetfile_open(sk->files, tf))
			continue;
		is_file = true;
		s = (struct codeplace_lines){0};
		codeplace_find_lines(tf->bin.src, file, line, line, &s);
		first = first.file.n ? first : s;
		if (!s.list.n)
			continue;
		if (!codeattach_check_line(sk->diag, NULL, file, line, &s))
			return false;
		if (!dialect_attaches_inside(sk->version))
			return diag_error(sk->diag, NULL,
					  "bpftrace " DIALECT_FMT
					  " attaches only to function entries: " STR_FMT
					  ":%u is inside a function",
					  DIALECT_ARG(sk->version), STR_ARG(file), line);
		push_line(sk, tf, word, line, &s,
			  found || (f->file.n && tf != &sk->files->list.v[0]));
		found = true;
	}
	if (found)
		return true;
	sk->files->n_missing++;
	if (!is_file)
		return diag_error(sk->diag, NULL, "no file of the program is " STR_FMT,
				  STR_ARG(f->file));
	if (!first.file.n)
		return diag_error(sk->diag, NULL, "no file has debug information (-g) of " STR_FMT,
				  STR_ARG(file));
	return codeattach_check_line(sk->diag, NULL, file, line, &first);
}

bool skeleton_add_line(struct skeleton *sk, struct str pattern, bool *good)
{
	struct finder f = {.sk = sk, .is_return = str_has_prefix(pattern, STR("uretprobe:"))};
	struct str file;
	unsigned line, last;
	if (sk->calls || sk->is_list ||
	    !codeplace_parse_lines(str_from_offset(pattern, str_find(pattern, ':') + 1), &file,
				   &line, &last))
		return false;
	f.file = take_path(&file);
	*good = f.is_return ? diag_error(sk->diag, NULL, "a source line has no return")
		: last > line
		    ? diag_error(sk->diag, NULL, "-t traces one line of " STR_FMT ", not %u to %u",
				 STR_ARG(file), line, last)
		    : add_places_of_line(&f, file, line);
	return true;
}
