/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie_mark.h - the upper 16 bits of the cookies that signals carry: which core sent it.
 *
 * Several cores may be mapped at one time: a redeployed application may bring another version, and
 * the handler of the core before stays installed. A mark is the address of the core's own static
 * data in units of 1 MB. A file takes more than that, so cores within 32 GB have different marks,
 * and a late signal of one means nothing to another. (In units of pages, marks would repeat after
 * 128 MB, some ten files.) The top bit is set, which no pointer of other code has.
 *
 * Threads  any; async-signal-safe.
 */
#ifndef SMP_HANDLER_COOKIE_MARK_H
#define SMP_HANDLER_COOKIE_MARK_H

#include <stdint.h>

/* of: static data of this core, always the same. */
static inline uint64_t smp_cookie_mark(const void *of)
{
    enum { UNIT_SHIFT = 20, TOP_BIT = 0x8000, OTHER_BITS = 0x7fff };

    return TOP_BIT | (((uintptr_t)of >> UNIT_SHIFT) & OTHER_BITS);
}

#endif
