/**
 * sdtarg_priv - the operand after "SIZE@": AT&T syntax of x86, and aarch64 syntax.
 *
 * A small grammar for each machine, read from left to right without going back. What it does not
 * read to the last byte it refuses: half an operand would be a wrong address.
 */
#ifndef USDT_SDTARG_PRIV_H
#define USDT_SDTARG_PRIV_H

#include "usdt/sdtarg.h"

/**
 * Fills in the kind and the fields of @arg (zeroed, with its size) that @place stands for; a
 * constant goes to `disp`. False when it is not understood: @arg is then half written.
 */
bool sdtarg_read_place(unsigned machine, struct str place, struct sdtarg *arg);

#endif
