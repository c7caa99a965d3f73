/**
 * mapline - maps as bpftrace prints them, turned into JSON.
 *
 *	@start[4, abc]: 17
 *	@us[READ]:
 *	[2, 4)                 1 |@@@@@                    |
 *
 *	{"map": "@start", "entries": [{"key": [4, "abc"], "value": 17}]}
 *	{"map": "@us", "entries": [{"key": ["READ"], "histogram": [{"min": 2, "max": 3, "count": 1}]}]}
 *
 * What the text leaves open, such as the end of a key that contains commas, is decided by the facts about
 * the script's maps. If it stays open, the entry is one string, marked as such.
 *
 *	if (mapline_add(m, line))
 *		return;
 *	if (has_taken)
 *		mapline_json(m, &how, &j);	// closes the map; this line may begin another
 *	if (mapline_add(m, line))
 *		return;
 *	// a line of something else
 */
#pragma once

#include "base/json.h"
#include "record/mapentry.h"
#include "value/render_value.h"

struct mapline;

/** @maps are all of the script; they live as long as it. */
struct mapline *mapline_new(const struct map_shape *maps, size_t n);
void mapline_free(struct mapline *m);
/**
 * Takes a line of the output that is no record. False: it belongs to no map, or to another than the
 * one that is open.
 */
bool mapline_add(struct mapline *m, struct str line);
/** May the map whose entry begins on @line have strings in it, as far as is known? */
bool mapline_has_text(const struct mapline *m, struct str line);
/** Adds members "map" and "entries", of lines that were taken, to an open object; closes the map. */
void mapline_json(struct mapline *m, const struct render *how, struct json *j);
/**
 * A line of text, taken or not: addresses of functions and numbers of enumerators get their names. Of a
 * frame of a stack nothing is added until the stack has ended, nor of a key with a newline in it until that has.
 */
void mapline_name(struct mapline *m, const struct render *how, struct str line, struct strbuf *out);
/** Has a key begun that has no end yet? */
bool mapline_has_part(const struct mapline *m);
/** Its lines as they are, without the last newline: no more of them comes. */
void mapline_take_part(struct mapline *m, struct strbuf *out);
