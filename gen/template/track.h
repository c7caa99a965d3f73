/**
 * track - `#pragma track`: what the records of a script are on a timeline (btgen-template(5)).
 *
 *	#pragma track PROBE[, PROBE]... [by "TRACK"] ACTION...
 *	ACTION, on the track of the name, or on that of the thread: state "NAME" | begin "NAME" | end | slice "NAME" lasting FIELD ns|us|ms|s |
 *	        call "NAME"
 */
#ifndef TEMPLATE_TRACK_H
#define TEMPLATE_TRACK_H

#include "bind/bind.h"

/** Reads them all into b->tracks, a JSON array; false after an error, which is said. */
bool track_collect(struct bind *b);

#endif
