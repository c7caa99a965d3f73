/**
 * edit - changes to the token list of a program.
 *
 * Text that btgen puts in becomes one TOK_OTHER token; its `use` is the place of the template token that it
 * stands for or beside, so that an error in it is told there. Everything is in the arena.
 */
#ifndef BIND_EDIT_H
#define BIND_EDIT_H

#include "lang/script.h"

/** Replaces the range by @text; @r->first stays and holds it. */
void edit_replace(struct script_range *r, struct str text);
/** Puts @text behind @t, on the same line; returns the new token. */
struct token *edit_insert_after(struct arena *a, struct token *t, struct str text);
/**
 * Cuts @text into tokens and puts them behind @t; returns the range. For text that later steps must understand: casts,
 * member accesses.
 */
struct script_range edit_insert_lexed(struct arena *a, struct token *t, struct str text);
/** Adds @text at the end of the list @list (of pp->out), on a line of its own. */
void edit_append(struct arena *a, struct token **list, struct str text);
/** Puts the tokens of @text in the place of the range, which then spans them; its first token stays the first. */
void edit_replace_lexed(struct arena *a, struct script_range *r, struct str text);
/** The range as text. */
struct str edit_text(struct arena *a, const struct token *first, const struct token *last);
/** The bracket @c that closes @open, an @o; NULL when none does. */
struct token *edit_closing(struct token *open, const char *o, const char *c);
/** Puts @text before all others, on lines of its own. */
void edit_prepend(struct arena *a, struct token **list, struct str text);
/** Takes the range out of @list. */
void edit_remove(struct token **list, struct script_range r);
/** Takes the range out of @list and puts it behind @after. */
void edit_move_after(struct token **list, struct script_range r, struct token *after);
/** The text as a bpftrace string literal, quotes included; bytes that are not printable ASCII as \xNN. */
struct str edit_quote(struct arena *a, struct str text);

#endif
