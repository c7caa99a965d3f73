/**
 * mapkey - the keys of maps, named when the map is printed.
 *
 * `@count[usym(arg0)]` and `@count[enum_name(state, args.s)]` become numbers under bpftrace.sh, if all
 * uses of the map can be written with that key; so is a key of an enum's type. Who reads the printed
 * map (record/mapentry.h) has the names, also of what has been unloaded, and numbers for what has none.
 */
#ifndef NAMES_MAPKEY_H
#define NAMES_MAPKEY_H

#include "bind/bind.h"

/**
 * Fills b->map_shapes with what is known of all maps; does nothing without b->shapes. Behind
 * exprtype_find(), and before expressions are lowered. Sets b->names_code when functions are to be
 * named.
 */
void mapkey_rewrite(struct bind *b);

#endif
