/**
 * nonce - a number that no string of a traced program can contain, for marks in what a program
 * prints.
 */
#ifndef MARKS_NONCE_H
#define MARKS_NONCE_H

#include <stdint.h>

/** Random; another one at each call. */
uint64_t nonce_make(void);

#endif
