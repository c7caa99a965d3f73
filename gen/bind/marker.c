#include "bind/marker.h"

#include <string.h>

#include "bind/call.h"
#include "bind/edit.h"

struct marker {
	const char *name;
	bool known;
	struct str value;
};

enum { N_MARKERS = 3 };

static void get_markers(const struct bind *b, struct marker *ret)
{
	ret[0] = (struct marker){"__EXE__", b->images != NULL, STR("")};
	if (b->images)
		ret[0].value = b->images->files.v[0].path;
	ret[1] = (struct marker){"__PID__", b->proc != NULL, STR("")};
	ret[2] = (struct marker){"__COMM__", b->proc != NULL, STR("")};
	if (b->proc) {
		ret[1].value = str_from(arena_printf(b->arena, "%d", b->proc->pid));
		ret[2].value = b->proc->comm;
	}
}

static bool say_unknown(struct bind *b, const struct token *t, const struct marker *m)
{
	struct diag_place place = tok_place(t);
	if (map_get(&b->said_unknown, STR("__EXE__")) ||
	    !map_add(b->arena, &b->said_unknown, str_from(m->name)))
		return false;
	if (str_eqz(str_from(m->name), "__EXE__"))
		return diag_error(b->diag, &place,
				  "%s needs a target: give a PID, or a file with -x", m->name);
	return diag_error(b->diag, &place, "%s needs a process: give a PID%s", m->name,
			  b->images ? " instead of a file" : "");
}

/** The first marker in @s; its offset in *@off. */
static const struct marker *find_in(struct str s, const struct marker *markers, size_t *off)
{
	const struct marker *first = NULL;
	for (int i = 0; i < N_MARKERS; i++) {
		const char *hit = memmem(s.p, s.n, markers[i].name, strlen(markers[i].name));
		if (hit && (!first || (size_t)(hit - s.p) < *off)) {
			first = &markers[i];
			*off = (size_t)(hit - s.p);
		}
	}
	return first;
}

/** In a format a % would be a conversion, and versions differ in how they take %%. */
static bool is_format(const struct token *before, const struct token *paren)
{
	return before && paren && tok_is(paren, "(") && call_takes_format(before);
}

static bool check_format(struct bind *b, const struct token *t, const struct marker *m)
{
	struct diag_place place = tok_place(t);
	return str_find(m->value, '%') == m->value.n ||
	       diag_error(b->diag, &place, "the value of %s has a %% sign: print it with %%s",
			  m->name);
}

static bool replace_in_string(struct bind *b, struct token *t, const struct marker *markers,
			      bool format)
{
	struct str rest = t->text;
	size_t off = 0;
	const struct marker *m = find_in(rest, markers, &off);
	if (!m)
		return true;
	struct strbuf text;
	strbuf_init(&text);
	bool good = true;
	for (; m && good; m = find_in(rest, markers, &off)) {
		good = m->known || say_unknown(b, t, m);
		good = good && (!format || check_format(b, t, m));
		struct str quoted = edit_quote(b->arena, m->value);
		strbuf_adds(&text, str_slice(rest, 0, off));
		strbuf_adds(&text, str_slice(quoted, 1, quoted.n - 2));
		rest = str_from_offset(rest, off + strlen(m->name));
	}
	strbuf_adds(&text, rest);
	t->text = str_copy(b->arena, strbuf_str(&text));
	strbuf_fini(&text);
	return good;
}

bool marker_replace_all(struct bind *b, struct token *list)
{
	struct marker markers[N_MARKERS];
	get_markers(b, markers);
	bool good = true;
	const struct token *before = NULL, *prev = NULL;
	for (struct token *t = list; t && t->kind != TOK_EOF;
	     before = prev, prev = t, t = t->next) {
		if (t->kind == TOK_STRING)
			good &= replace_in_string(b, t, markers, is_format(before, prev));
		if (t->kind != TOK_IDENT)
			continue;
		for (int i = 0; i < N_MARKERS; i++) {
			if (!str_eqz(t->text, markers[i].name))
				continue;
			if (!markers[i].known) {
				good = say_unknown(b, t, &markers[i]);
				continue;
			}
			if (is_format(before, prev))
				good &= check_format(b, t, &markers[i]);
			t->text = edit_quote(b->arena, markers[i].value);
			t->kind = TOK_STRING;
		}
	}
	return good;
}
