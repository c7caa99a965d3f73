/**
 * edit - changes to the token list of a program.
 *
 * Text that btgen puts in becomes one TOK_OTHER token; its `use` is the place of the template token that it
 * stands for or beside, so that an error in it is told there. Everything is in the arena.
 */
#ifndef BIND_EDIT_H
#define BIND_EDIT_H

#include "lang/script.h"

/** Puts @text before all others, on lines of its own. */
void edit_prepend(struct arena *a, struct token **list, struct str text);
/** The text as a bpftrace string literal, quotes included; bytes that are not printable ASCII as \xNN. */
struct str edit_quote(struct arena *a, struct str text);

#endif
