#include "bind/marker.h"

#include "lang/change.h"

struct marker {
	const char *name;
	bool known;
	struct str value;
};

enum { N_MARKERS = 3 };

static void get_markers(const struct bind *b, struct marker *ret)
{
	ret[0] = (struct marker){"__EXE__", b->given->files != NULL, STR("")};
	if (b->given->files)
		ret[0].value = b->given->files->list.v[0].path;
	bool is_one = b->given->proc && (b->given->n_pids <= 1 || b->found.scope == BIND_HOST);
	ret[1] = (struct marker){"__PID__", is_one, STR("")};
	ret[2] = (struct marker){"__COMM__", is_one, STR("")};
	if (b->given->proc) {
		ret[1].value = str_printf(b->arena, "%d", b->given->proc->pid);
		ret[2].value = b->given->proc->comm;
	}
}

static bool report_unknown(const struct bind *b, const struct token *t, const struct marker *m)
{
	if (!b->given->files)
		return bind_report_no_target(b, t);
	return map_add(b->arena, &b->cache->reported_unknown, str_from(m->name)) &&
	       diag_error(b->diag, tok_at(t),
			  b->given->n_pids > 1 ? "%s refers to one process: give only that one"
					       : "%s needs a process: give a PID instead of a file",
			  m->name);
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

struct replacer {
	const struct bind *b;
	struct marker markers[N_MARKERS];
	bool good;
};

/** @t, a string or a word, with its markers replaced; false if there are none, or after an error. */
static bool replace(struct replacer *r, const struct token *t, bool is_format, struct str *ret)
{
	const struct bind *b = r->b;
	struct str rest = t->text;
	size_t off = 0;
	bool is_word = t->kind == TOK_IDENT, good = true;
	const struct marker *m = find_in(rest, r->markers, &off);
	if (!m || (is_word && !str_eqz(rest, m->name)))
		return false;
	struct strbuf text = {0};
	for (; m && good; m = find_in(rest, r->markers, &off)) {
		good = m->known || report_unknown(b, t, m);
		// In a format a % would be a conversion, and versions differ in how they take %%.
		if (good && is_format && str_has(m->value, "%"))
			good =
			    diag_error(b->diag, tok_at(t),
				       "the value of %s has a %% sign: print it with %%s", m->name);
		struct str quoted = lex_quote(b->arena, m->value);
		strbuf_adds(&text, str_slice(rest, 0, off));
		if (!is_word)
			quoted = str_slice(quoted, 1, quoted.n - 2);
		strbuf_adds(&text, quoted);
		rest = str_from_offset(rest, off + strlen(m->name));
	}
	strbuf_adds(&text, rest);
	*ret = strbuf_take(&text, b->arena);
	r->good &= good;
	return good;
}

/** What is not looked into has its strings as tokens of its own. */
static void replace_tokens(struct replacer *r, struct node *n)
{
	for (struct token *t = n->first;; t = t->next) {
		if ((t->kind == TOK_STRING || t->kind == TOK_IDENT) &&
		    replace(r, t, false, &t->text))
			t->kind = TOK_STRING;
		if (t == n->last)
			break;
	}
}

static void visit(struct replacer *r, struct node *n)
{
	const struct node *in = n->parent;
	struct str text;
	enum word_takes takes = in && in->kind == NODE_CALL && in->child == n
				    ? vocabulary_word(in->name->text)->takes
				    : TAKES_VALUE;
	bool is_format = takes == TAKES_FORMAT || takes == TAKES_TIME_FORMAT;
	if ((n->kind == NODE_OPAQUE || n->kind == NODE_CONFIG) && !n->is_changed)
		replace_tokens(r, n);
	if ((n->kind == NODE_STRING || n->kind == NODE_NAME) &&
	    replace(r, n->name, is_format, &text))
		change_leaf(r->b->arena, n, NODE_STRING, text);
}

bool marker_replace_all(const struct bind *b)
{
	struct replacer r = {.b = b, .good = true};
	get_markers(b, r.markers);
	struct node *program = b->found.script.program;
	for (struct node *n = program; n; n = node_next(program, n))
		visit(&r, n);
	return r.good;
}
