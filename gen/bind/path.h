/**
 * path - how the program names a file, so that bpftrace attaches to it exactly once.
 *
 * Measured: with -p only /proc/PID/root/... attaches once in every version and from every mount
 * namespace, and only while that name leads to the mapped file; without -p the links of /proc do,
 * whatever happened to the file. Quotes are honoured by all versions, except around a few bytes.
 */
#pragma once

#include "bind/bind.h"

/** stat() of @path, which need not end in a NUL. */
bool path_stat(struct str path, struct stat *ret);
/**
 * A *@path without a slash is searched as bpftrace does it, and becomes the path of what it finds: the
 * first file of that name in the directories of $PATH. What is in the current directory, too, and what may be a
 * library, is left to bpftrace. False, with an error at @at, when there is none.
 */
bool path_search(const struct bind *b, const struct token *at, struct str *path);
/**
 * Is @tf one of the files that @path (a field of an attach point) means: all for __EXE__, the mapped library for
 * its short name, as libc or libc.so.6, else the mapped file of that name?
 */
bool path_means(const struct targetfile *tf, struct str path);
/**
 * The file's name for an attach point, quoted if need be; NULL with an error at @at when there is
 * none. found.scope becomes BIND_BY_FILTER when it does not work together with bpftrace's -p.
 */
const char *path_of(struct bind *b, const struct targetfile *tf, const struct token *at);

/** What a message calls the file of an attach point: the target for "__EXE__". */
const char *path_shown(const struct bind *b, struct str path);
/** With " or its libraries", where those were searched, too. */
const char *path_searched(const struct bind *b, struct str path);
/**
 * What the file of an attach point does not have is in @tf of the target: notes how it is found there. @provider: empty
 * for functions. Returns false.
 */
bool path_note_elsewhere(const struct bind *b, const struct targetfile *tf, struct str kind,
			 struct str provider, struct str name);
