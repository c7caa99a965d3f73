/**
 * branch - does one function call or jump to another, directly or through the file's own PLT?
 *
 *	branch_leads_to(img, thunk.addr, thunk.size, function.addr)
 */
#pragma once

#include "elf/img.h"

/**
 * Is there a call of, or a jump to, link-time address @target in the @size bytes of code at @addr? Of x86-64
 * and AArch64; false for other machines. In x86-64 code any four bytes after the opcode count, instructions
 * are not told apart: the chance that others lead to the target is 2^-32 for each.
 */
bool branch_leads_to(struct img *img, uint64_t addr, uint64_t size, uint64_t target);
