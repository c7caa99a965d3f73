/**
 * path - how the program names a file, so that bpftrace attaches to it exactly once.
 *
 * Measured: with -p only /proc/PID/root/... attaches once in every version and from every mount
 * namespace, and only while that name leads to the mapped file; without -p the links of /proc do,
 * whatever happened to the file. Quotes are honoured by all versions, except around a few bytes.
 */
#ifndef BIND_PATH_H
#define BIND_PATH_H

#include "bind/bind.h"

/**
 * The file's name for an attach point, quoted if need be; NULL with an error at @at when there is
 * none. b->scope becomes BIND_BY_FILTER when it does not work together with bpftrace's -p.
 */
const char *path_of(struct bind *b, const struct targetfile *tf, const struct token *at);

#endif
