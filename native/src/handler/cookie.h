/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie.h - the cookie of a signal, and the word that shows whether its request or timer still
 * exists.
 *
 *   cookie   16 bits mark │ 16 bits index │ 32 bits generation
 *   word                            generation │ 8 bits state       in each slot of a static table
 *
 * Each take of a slot starts a new generation, so older cookies match no slot.
 *
 * The mark identifies the core that sent the signal. Several cores may be mapped at the same time,
 * because a redeployed application may bring another version while the handler of the former one
 * stays installed. A mark is the address of the core's static data in units of 1 MB, which is less
 * than the size of a core. Cores within 32 GB therefore have different marks and ignore each
 * other's late signals. (In units of pages, marks would repeat after 128 MB, about ten cores.) The
 * top bit is set, unlike in pointers of other code.
 *
 * Threads  any; async-signal-safe.
 * Errors   take returns 0.
 */
#ifndef SMP_HANDLER_COOKIE_H
#define SMP_HANDLER_COOKIE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_COOKIE_MARK_SHIFT = 48,
    SMP_COOKIE_INDEX_SHIFT = 32,
    SMP_COOKIE_INDEX_MASK = 0xffff,
    SMP_COOKIE_STATE_BITS = 8,
    SMP_COOKIE_FREE = 0 /* the state of any free slot */
};

/* of: always the same static data of this core. */
static inline uint64_t smp_cookie_mark(const void *of)
{
    enum { UNIT_SHIFT = 20, TOP_BIT = 0x8000, OTHER_BITS = 0x7fff };

    return TOP_BIT | (((uintptr_t)of >> UNIT_SHIFT) & OTHER_BITS);
}

static inline uint64_t smp_cookie_of_signal(const siginfo_t *info)
{
    return (uint64_t)(uintptr_t)info->si_value.sival_ptr;
}

static inline uint32_t smp_cookie_index(uint64_t cookie)
{
    return (uint32_t)(cookie >> SMP_COOKIE_INDEX_SHIFT) & SMP_COOKIE_INDEX_MASK;
}

static inline bool smp_cookie_has(uint64_t cookie, uint64_t mark, uint32_t slots)
{
    return cookie >> SMP_COOKIE_MARK_SHIFT == mark && smp_cookie_index(cookie) < slots;
}

/* Returns the word of the cookie's slot in this state, if the slot was not taken again. */
static inline uint64_t smp_cookie_word(uint64_t cookie, unsigned state)
{
    return ((cookie & UINT32_MAX) << SMP_COOKIE_STATE_BITS) | state;
}

static inline unsigned smp_cookie_state(uint64_t word)
{
    return (unsigned)(word % (1 << SMP_COOKIE_STATE_BITS));
}

/* Takes a free slot: changes its word to a new generation and state. Returns the cookie, or 0. */
static inline uint64_t smp_cookie_take(_Atomic uint64_t *slot, uint64_t mark, uint32_t index,
                                       unsigned state)
{
    uint64_t word = atomic_load(slot);
    const uint64_t generation = ((word >> SMP_COOKIE_STATE_BITS) + 1) & UINT32_MAX;

    if (smp_cookie_state(word) != SMP_COOKIE_FREE ||
        !atomic_compare_exchange_strong(slot, &word, smp_cookie_word(generation, state)))
        return 0;
    return mark << SMP_COOKIE_MARK_SHIFT | (uint64_t)index << SMP_COOKIE_INDEX_SHIFT | generation;
}

#endif
