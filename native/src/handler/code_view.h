/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_view.h - the address ranges of the JVM's generated code, readable in signal handlers.
 *
 * A published view changes in only two ways: a piece dies (its size becomes 0), or one of up to
 * SMP_CODE_RECENT newer pieces is appended. When these are full, the writer publishes a new view
 * and frees the old one after its last reader.
 *
 *   pieces  [sorted by start ...............]  written before the view is published
 *   recent  [newest last ...|recent_count   ]  written before recent_count grows
 *
 * Threads  any, signal handlers included: no lock, no call, no allocation.
 * Cost     find: O(log n) and a pass over the recent pieces.
 */
#ifndef SMP_HANDLER_CODE_VIEW_H
#define SMP_HANDLER_CODE_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_CODE_RECENT = 128 };

#define SMP_CODE_NO_PARENT UINT32_MAX

/* CALL_SITE: the byte before a return address whose line is recorded at another pc. */
enum smp_code_kind { SMP_CODE_STUB, SMP_CODE_INTERPRETER, SMP_CODE_METHOD, SMP_CODE_CALL_SITE };

struct smp_code_piece {
    uintptr_t start;
    _Atomic uint32_t size; /* 0: dead */
    uint32_t parent;       /* index of the sorted piece that contains it */
    uint64_t id; /* a method's id, the key of a stub's name, or the pc of a call site's record */
    enum smp_code_kind kind;
};

struct smp_code_view {
    size_t count;
    _Atomic uint32_t recent_count;
    struct smp_code_view *next; /* used only by the writer */
    struct smp_code_piece recent[SMP_CODE_RECENT];
    struct smp_code_piece pieces[];
};

/* The entry for readers. */
struct smp_code_table {
    _Atomic(struct smp_code_view *) view; /* NULL while closed */
    _Atomic uint32_t readers;
    _Atomic uintptr_t low; /* all code known since open is in [low, high) */
    _Atomic uintptr_t high;
    /* The id of C1's stub that searches for the handler of an exception; 0: unknown. */
    _Atomic uint64_t exception_stub;
};

extern struct smp_code_table smp_code_table;

/* Returns the view, which may be NULL and is not freed until leave. */
static inline const struct smp_code_view *smp_code_enter(void)
{
    atomic_fetch_add(&smp_code_table.readers, 1); /* seq_cst: ordered before the load of the view */
    return atomic_load(&smp_code_table.view);
}

static inline void smp_code_leave(void)
{
    atomic_fetch_sub(&smp_code_table.readers, 1);
}

/* Returns whether address is between known code of the JVM. The code there may still be unknown,
 * because the event of a new method comes shortly after the method has begun to run. */
static inline bool smp_code_is_near(uintptr_t address)
{
    return address >= atomic_load_explicit(&smp_code_table.low, memory_order_relaxed) &&
           address < atomic_load_explicit(&smp_code_table.high, memory_order_relaxed);
}

static inline bool smp_code_holds(const struct smp_code_piece *piece, uintptr_t pc)
{
    return pc - piece->start < atomic_load_explicit(&piece->size, memory_order_relaxed);
}

static inline uint32_t smp_code_size(const struct smp_code_piece *piece)
{
    return atomic_load_explicit(&piece->size, memory_order_relaxed);
}

static inline const struct smp_code_piece *smp_code_find_sorted(const struct smp_code_view *view,
                                                                uintptr_t pc)
{
    size_t low = 0;
    size_t high = view->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (view->pieces[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t at = low > 0 ? (uint32_t)(low - 1) : SMP_CODE_NO_PARENT;
    while (at != SMP_CODE_NO_PARENT && !smp_code_holds(&view->pieces[at], pc))
        at = view->pieces[at].parent;
    return at != SMP_CODE_NO_PARENT ? &view->pieces[at] : NULL;
}

/* Returns the smallest live piece that contains pc, or NULL. view may be NULL. */
static inline const struct smp_code_piece *smp_code_find(const struct smp_code_view *view,
                                                         uintptr_t pc)
{
    if (view == NULL)
        return NULL;
    const uint32_t recent = atomic_load_explicit(&view->recent_count, memory_order_acquire);
    const struct smp_code_piece *found = smp_code_find_sorted(view, pc);
    for (uint32_t i = 0; i < recent; i++) {
        const struct smp_code_piece *piece = &view->recent[i];
        if (smp_code_holds(piece, pc) &&
            (found == NULL || smp_code_size(piece) <= smp_code_size(found)))
            found = piece;
    }
    return found;
}

#endif
