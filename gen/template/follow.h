/**
 * follow - structs behind the pointers that a skeleton prints: bpftrace.sh -t PATTERN --deep N.
 *
 * A pointer argument becomes what it leads to (o={id = 4, next = 0x55d0c0001234}), one level; with
 * more, so does each pointer in there, as a field of its own (o->next={id = 5, ...}).
 */
#ifndef TEMPLATE_FOLLOW_H
#define TEMPLATE_FOLLOW_H

#include "template/skeleton.h"

/**
 * @levels: how many. What a record has no room for stays a pointer, or is a part of the struct.
 */
void follow_pointers(struct skeleton *sk, unsigned levels);

#endif
