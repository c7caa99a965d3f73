/**
 * change - a node becomes something else.
 *
 * What is put in a node's place is a row of pieces: text, and nodes as they are printed
 * (lang/print.h), each with its own place in the template. Nothing is cut into tokens again, and
 * the tokens of the template stay what they are. A node may be a piece of several others, and of
 * its own replacement, where it stands for what it was before.
 *
 *	change(a, n, "(int64)(int32)%n", n);
 *	change(a, n, "%n ? %n : 0", change_text(a, n, "%t == \"\"", name), value);
 *
 * In a format, %n is a struct node *, %s a const char *, %t a struct str, %u an uint64_t; anything
 * else is text.
 */
#ifndef LANG_CHANGE_H
#define LANG_CHANGE_H

#include "base/arena.h"
#include "lang/tree.h"

/** @n is printed as @format says from now on; its kind, children and type stay. */
void change(struct arena *a, struct node *n, const char *format, ...);
/** A new node that stands where @at does. */
struct node *change_text(struct arena *a, const struct node *at, const char *format, ...);
/** @n is a leaf of another kind now, and @text is all of it: a number, string, name or variable. */
void change_leaf(struct arena *a, struct node *n, enum node_kind kind, struct str text);
/** What @n is now, for pieces of pieces that take its place. */
struct node *change_copy(struct arena *a, const struct node *n);
/**
 * @child is the last one of @parent now: a statement of a block, or what stands behind all else of
 * a program.
 */
void change_append(struct node *parent, struct node *child);
/** @child stands before @next, a child of @program that the script has, and nothing else does so. */
void change_insert(struct node *program, struct node *child, struct node *next);
/** @statement is the first one of @block now. */
void change_prepend(struct node *block, struct node *statement);
/**
 * @n is not printed any more, what its parent has around it is; and whoever walks the tree finds
 * nothing in it.
 */
void change_remove(struct node *n);

#endif
