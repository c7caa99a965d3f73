/**
 * marker - __EXE__, __PID__ and __COMM__ outside of attach points.
 *
 * A marker by itself becomes a string literal (__PID__ was a number to the preprocessor already);
 * inside a string it is replaced and escaped. One in a comment stays.
 */
#pragma once

#include "bind/bind.h"

/**
 * To be called when the attach points are bound; an error for a marker whose value is not known.
 */
bool marker_replace_all(const struct bind *b);
