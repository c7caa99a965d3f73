#include "conf/enumconf.h"

#include "conf/lines.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/** The next word of @line from *@pos on; empty at the end. */
static struct str next_word(struct str line, size_t *pos)
{
	size_t i = *pos;
	while (i < line.n && is_blank(line.p[i]))
		i++;
	size_t start = i;
	// Blanks inside template arguments belong to the name.
	unsigned nest = 0;
	for (; i < line.n && (nest || !is_blank(line.p[i])); i++) {
		if (line.p[i] == '<')
			nest++;
		else if (line.p[i] == '>' && nest)
			nest--;
	}
	*pos = i;
	return str_slice(line, start, i - start);
}

const struct enumconf_entry *enumconf_find(const struct enumconf *c, struct str map)
{
	return vec_find(const struct enumconf_entry, e, &c->entries, str_eq(e->map, map));
}

static bool parse_line(struct arena *a, struct diag *d, const struct lines *l, struct enumconf *ret)
{
	struct diag_place at = l->at;
	struct str line = l->text, words[4];
	size_t pos = 0, cols[4];
	unsigned n = 0;
	while (n < 4) {
		words[n] = next_word(line, &pos);
		cols[n] = (size_t)(words[n].p - at.source.p) + 1;
		if (!words[n].n)
			break;
		// `enum x` is one name; the keyword says nothing that the table does not.
		if (n != 1 || !str_eq(words[n], STR("enum")))
			n++;
	}
	at.col = (unsigned)cols[n - 1];
	at.len = (unsigned)words[n - 1].n;
	if (n == 1)
		return diag_error(d, &at, "a table is MAP TYPE [PREFIX]: the type is missing");
	if (n == 4)
		return diag_error(d, &at, "a table is MAP TYPE [PREFIX]: unexpected word");
	struct str map = words[0];
	at.col = (unsigned)cols[0];
	at.len = (unsigned)words[0].n;
	if (map.p[0] == '@')
		map = str_from_offset(map, 1);
	if (!str_is_ident(map))
		return diag_error(d, &at, "\"" STR_FMT "\" is not the name of a map",
				  STR_ARG(words[0]));
	const struct enumconf_entry *before = enumconf_find(ret, map);
	if (before && before->is_named)
		return true; // the command line goes before the list
	if (before)
		return diag_error(d, &at, "map \"" STR_FMT "\" is listed twice", STR_ARG(map));
	at.col = (unsigned)cols[1];
	at.len = (unsigned)words[1].n;
	struct enumconf_entry e = {map, words[1], {0}, at, false};
	if (n == 3)
		e.prefix = words[2];
	vec_push(a, &ret->entries, e);
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
