#include "conf/enumconf.h"

#include "conf/lines.h"

/** Takes the first word of @rest; empty at the end. */
static struct str next_word(struct str *rest)
{
	size_t n = 0;
	*rest = str_trim(*rest);
	// Blanks inside template arguments belong to the name.
	for (unsigned nest = 0; n < rest->n; n++) {
		char c = rest->p[n];
		if (!nest && !str_trim((struct str){&c, 1}).n)
			break;
		nest += c == '<';
		nest -= c == '>' && nest;
	}
	struct str word = str_slice(*rest, 0, n);
	*rest = str_from_offset(*rest, n);
	return word;
}

const struct enumconf_entry *enumconf_find(const struct enumconf *c, struct str map)
{
	return vec_find(const struct enumconf_entry, e, &c->entries, str_eq(e->map, map));
}

/** Where @word of the line is. */
static struct diag_place place_of(const struct lines *l, struct str word)
{
	struct diag_place at = l->at;
	at.col = (unsigned)(word.p - at.source.p) + 1;
	at.len = (unsigned)word.n;
	return at;
}

static bool parse_line(struct arena *a, struct diag *d, const struct lines *l, struct enumconf *ret)
{
	struct str rest = l->text, words[4] = {0};
	unsigned n = 0;
	// `enum x` is one name; the keyword adds nothing to the table.
	while (n < 4 && (words[n] = next_word(&rest)).n)
		n += n != 1 || !str_eqz(words[n], "enum");
	struct diag_place first = place_of(l, words[0]), last = place_of(l, words[n - 1]);
	if (n == 1)
		return diag_error(d, &last, "a table is MAP TYPE [PREFIX]: the type is missing");
	if (n == 4)
		return diag_error(d, &last, "a table is MAP TYPE [PREFIX]: unexpected word");
	struct str map = words[0];
	str_take(&map, STR("@"));
	if (!str_is_ident(map))
		return diag_error(d, &first, "\"" STR_FMT "\" is not the name of a map",
				  STR_ARG(words[0]));
	const struct enumconf_entry *before = enumconf_find(ret, map);
	if (before && before->is_named)
		return true; // the command line goes before the list
	if (before)
		return diag_error(d, &first, "map \"" STR_FMT "\" is listed twice", STR_ARG(map));
	vec_push(a, &ret->entries,
		 (struct enumconf_entry){map, words[1], words[2], place_of(l, words[1]), false});
	return true;
}

bool enumconf_load(struct arena *a, struct diag *d, const char *path, struct enumconf *ret)
{
	struct lines l;
	if (!lines_open(a, d, path, "of enums", &l))
		return false;
	bool good = true;
	while (lines_next(&l))
		good &= parse_line(a, d, &l, ret);
	return good;
}

/** Offset of the first : that is no part of ::, or the length. */
static size_t find_colon(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != ':')
			continue;
		if (i + 1 == s.n || s.p[i + 1] != ':')
			return i;
		i++;
	}
	return s.n;
}

bool enumconf_add_option(struct arena *a, struct diag *d, struct str option, struct enumconf *ret)
{
	size_t colon = find_colon(option);
	struct enumconf_entry e = {.type = str_trim(str_slice(option, 0, colon)), .is_named = true};
	struct str rest = str_from_offset(option, colon + 1);
	colon = str_find(rest, ':');
	e.map = str_slice(rest, 0, colon);
	e.prefix = str_from_offset(rest, colon + 1);
	if (str_take(&e.type, STR("enum ")))
		e.type = str_trim(e.type);
	str_take(&e.map, STR("@"));
	if (!e.type.n)
		return diag_error(d, NULL, "\"" STR_FMT "\": a table is NAME[:MAP[:PREFIX]]",
				  STR_ARG(option));
	if (!e.map.n)
		e.map = str_to_ident(a, e.type);
	if (!str_is_ident(e.map))
		return diag_error(d, NULL, "\"" STR_FMT "\" is not the name of a map",
				  STR_ARG(e.map));
	if (enumconf_find(ret, e.map))
		return diag_error(d, NULL, "map \"" STR_FMT "\" is requested twice",
				  STR_ARG(e.map));
	vec_push(a, &ret->entries, e);
	return true;
}
