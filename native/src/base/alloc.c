/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <assert.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Relaxed: the counters guard no other data; only their own values matter. */
#define RELAXED memory_order_relaxed

enum { FIRST_ITEMS = 64 };

static _Atomic size_t live_bytes;

/* Set after refuser_self, so that one acquire load of the pointer sees both. */
static _Atomic(smp_alloc_refuser *) refuser_seam;
static void *refuser_self;

static bool is_refused(size_t bytes)
{
    smp_alloc_refuser *refuser = atomic_load_explicit(&refuser_seam, memory_order_acquire);

    return refuser != NULL && refuser(refuser_self, bytes);
}

static void raise_peak(struct smp_quota *quota, size_t used)
{
    size_t peak = atomic_load_explicit(&quota->peak, RELAXED);

    while (used > peak) {
        if (atomic_compare_exchange_weak_explicit(&quota->peak, &peak, used, RELAXED, RELAXED))
            return;
    }
}

void smp_quota_init(struct smp_quota *quota, size_t limit_bytes)
{
    quota->limit_bytes = limit_bytes;
    atomic_init(&quota->used, 0);
    atomic_init(&quota->peak, 0);
    atomic_init(&quota->refused, 0);
    atomic_init(&quota->holders, 1);
}

struct smp_quota *smp_quota_create(size_t limit_bytes)
{
    struct smp_quota *quota = smp_alloc(NULL, sizeof(*quota));

    if (quota != NULL)
        smp_quota_init(quota, limit_bytes);
    return quota;
}

struct smp_quota *smp_quota_hold(struct smp_quota *quota)
{
    if (quota != NULL)
        atomic_fetch_add_explicit(&quota->holders, 1, RELAXED);
    return quota;
}

void smp_quota_release(struct smp_quota *quota)
{
    if (quota == NULL)
        return;
    /* Acquire: the writes of all other holders happen before the last one frees it. */
    if (atomic_fetch_sub_explicit(&quota->holders, 1, memory_order_acq_rel) == 1)
        smp_free(NULL, quota);
}

size_t smp_quota_used(const struct smp_quota *quota)
{
    return atomic_load_explicit(&quota->used, RELAXED);
}

size_t smp_quota_refusals(const struct smp_quota *quota)
{
    return atomic_load_explicit(&quota->refused, RELAXED);
}

/* Compare-exchange: adding first and subtracting on refusal could refuse another thread because of
 * bytes that no thread holds. */
static bool take_from_session(struct smp_quota *quota, size_t bytes)
{
    size_t used = atomic_load_explicit(&quota->used, RELAXED);

    do {
        if (bytes > quota->limit_bytes - used) {
            atomic_fetch_add_explicit(&quota->refused, 1, RELAXED);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&quota->used, &used, used + bytes, RELAXED,
                                                    RELAXED));
    raise_peak(quota, used + bytes);
    return true;
}

bool smp_quota_take(struct smp_quota *quota, size_t bytes)
{
    if (quota != NULL && !take_from_session(quota, bytes))
        return false;
    atomic_fetch_add_explicit(&live_bytes, bytes, RELAXED);
    return true;
}

void smp_quota_give(struct smp_quota *quota, size_t bytes)
{
    if (quota != NULL)
        atomic_fetch_sub_explicit(&quota->used, bytes, RELAXED);
    atomic_fetch_sub_explicit(&live_bytes, bytes, RELAXED);
}

/* A size beyond the limit is refused without calling malloc. */
static bool exceeds_limit(struct smp_quota *quota, size_t size)
{
    if (quota == NULL || size <= quota->limit_bytes)
        return false;
    atomic_fetch_add_explicit(&quota->refused, 1, RELAXED);
    return true;
}

/* Charges a new piece. If the quota refuses, frees the piece and returns NULL. */
static void *charge_piece(struct smp_quota *quota, void *piece)
{
    if (piece == NULL)
        return NULL;
    if (!smp_quota_take(quota, malloc_usable_size(piece))) {
        free(piece);
        return NULL;
    }
    return piece;
}

void *smp_alloc(struct smp_quota *quota, size_t size)
{
    assert(size > 0);
    if (is_refused(size) || exceeds_limit(quota, size))
        return NULL;
    return charge_piece(quota, calloc(1, size));
}

/* A piece that fits into its old place needs no further charge, so the quota is not checked. */
static void *shrink(struct smp_quota *quota, void *piece, size_t size, size_t before)
{
    void *smaller = realloc(piece, size);

    if (smaller == NULL)
        return NULL;
    const size_t after = malloc_usable_size(smaller);
    assert(after <= before);
    smp_quota_give(quota, before - after);
    return smaller;
}

/* Not realloc: the real size is known only after malloc, and if the quota refuses it, the old piece
 * must still exist. Both pieces are charged during the copy. */
static void *grow_piece(struct smp_quota *quota, void *piece, size_t size, size_t before)
{
    if (exceeds_limit(quota, size))
        return NULL;
    void *bigger = charge_piece(quota, malloc(size));
    if (bigger == NULL)
        return NULL;
    if (piece != NULL) {
        memcpy(bigger, piece, before);
        smp_free(quota, piece);
    }
    return bigger;
}

void *smp_realloc(struct smp_quota *quota, void *piece, size_t size)
{
    assert(size > 0);
    if (is_refused(size))
        return NULL;

    const size_t before = piece == NULL ? 0 : malloc_usable_size(piece);
    if (size <= before)
        return shrink(quota, piece, size, before);
    return grow_piece(quota, piece, size, before);
}

void *smp_grow_items(struct smp_quota *quota, void *items, size_t *capacity, size_t needed,
                     size_t item_bytes)
{
    const size_t before = *capacity;
    size_t after = before > 0 ? before : FIRST_ITEMS;
    char *grown = NULL;

    if (needed <= before)
        return items;
    while (after < needed)
        after *= 2;
    grown = smp_realloc(quota, items, after * item_bytes);
    if (grown == NULL)
        return NULL;
    memset(grown + before * item_bytes, 0, (after - before) * item_bytes);
    *capacity = after;
    return grown;
}

void smp_free(struct smp_quota *quota, void *piece)
{
    if (piece == NULL)
        return;
    smp_quota_give(quota, malloc_usable_size(piece));
    free(piece);
}

char *smp_strndup(struct smp_quota *quota, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = smp_alloc(quota, length + 1);
    if (copy == NULL)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    return copy; /* smp_alloc wrote the NUL */
}

void *smp_map_reserve(size_t bytes)
{
    if (is_refused(bytes))
        return NULL;

    void *base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

bool smp_map_commit(struct smp_quota *quota, void *at, size_t bytes)
{
    if (is_refused(bytes) || !smp_quota_take(quota, bytes))
        return false;
    if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) {
        smp_quota_give(quota, bytes);
        return false;
    }
    return true;
}

bool smp_map_decommit(struct smp_quota *quota, void *at, size_t bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

    if (mmap(at, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED)
        return false;
    smp_quota_give(quota, bytes);
    return true;
}

void smp_map_release(struct smp_quota *quota, void *base, size_t reserved, size_t committed)
{
    if (base == NULL)
        return;
    (void)munmap(base, reserved);
    smp_quota_give(quota, committed);
}

size_t smp_alloc_live_bytes(void)
{
    return atomic_load_explicit(&live_bytes, RELAXED);
}

void smp_alloc_set_refuser(smp_alloc_refuser *refuser, void *self)
{
    refuser_self = self;
    atomic_store_explicit(&refuser_seam, refuser, memory_order_release);
}
