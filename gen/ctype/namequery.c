#include "ctype/namequery.h"

unsigned namequery_tag(const struct ctype *t)
{
	return t->kind == CTYPE_STRUCT	? NAME_STRUCT
	       : t->kind == CTYPE_UNION ? NAME_UNION
	       : t->kind == CTYPE_ENUM	? NAME_ENUM
					: 0;
}

/** Takes the keyword from @rest; it narrows the kinds, it never widens them. */
static struct str parse_keyword(struct str rest, unsigned *kinds)
{
	static const struct {
		struct str word;
		unsigned kind;
	} keywords[] = {
	    {{"struct ", 7}, NAME_STRUCT},
	    {{"class ", 6}, NAME_STRUCT},
	    {{"union ", 6}, NAME_UNION},
	    {{"enum ", 5}, NAME_ENUM},
	};
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (str_take(&rest, keywords[i].word)) {
			*kinds &= keywords[i].kind;
			return str_trim(rest);
		}
	return rest;
}

bool namequery_parse(struct str text, unsigned kinds, struct namequery *ret)
{
	*ret = (struct namequery){.text = str_trim(text), .kinds = kinds};
	struct str rest = parse_keyword(ret->text, &ret->kinds);
	str_take(&rest, STR("::"));

	// Cut at each :: that is not inside template arguments or "(anonymous namespace)".
	size_t start = 0;
	unsigned nest = 0;
	for (size_t i = 0; i <= rest.n; i++) {
		char c = i < rest.n ? rest.p[i] : '\0';
		if (c == '<' || c == '(')
			nest++;
		else if ((c == '>' || c == ')') && nest)
			nest--;
		bool cut = i + 1 < rest.n && c == ':' && rest.p[i + 1] == ':' && nest == 0;
		if (i < rest.n && !cut)
			continue;
		struct str part = str_trim(str_slice(rest, start, i - start));
		if (!part.n || ret->n_parts == NAME_MAX_PARTS)
			return false;
		ret->parts[ret->n_parts++] = part;
		start = i += 2;
		i--;
	}
	return ret->n_parts > 0 && ret->kinds;
}

/** Equal, blanks aside when template arguments are in it. */
static bool same_name(struct str a, struct str b)
{
	if (str_eq(a, b))
		return true;
	if (!a.n || !b.n || a.p[0] != b.p[0] || !memchr(a.p, '<', a.n))
		return false;
	size_t i = 0, k = 0;
	for (;;) {
		while (i < a.n && a.p[i] == ' ')
			i++;
		while (k < b.n && b.p[k] == ' ')
			k++;
		if (i == a.n || k == b.n)
			return i == a.n && k == b.n;
		if (a.p[i++] != b.p[k++])
			return false;
	}
}

bool namequery_is_last(const struct namequery *q, struct str name)
{
	return same_name(name, q->parts[q->n_parts - 1]);
}

bool namequery_fits(const struct namequery *q, struct str name, const struct str *scopes,
		    unsigned n_scopes)
{
	if (!namequery_is_last(q, name))
		return false;
	// Scopes without a name (inline or anonymous namespaces, anonymous structs) need not be written.
	unsigned k = q->n_parts - 1;
	for (unsigned i = n_scopes; i-- > 0;) {
		struct str scope = scopes[i];
		if (k && scope.n && same_name(scope, q->parts[k - 1]))
			k--;
		else if (k && !scope.n && str_eq(q->parts[k - 1], STR("(anonymous namespace)")))
			k--;
		else if (scope.n)
			return false;
	}
	return k == 0;
}
