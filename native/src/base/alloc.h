/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - the only way to the heap and to mmap; every byte is charged to a quota.
 *
 * A quota is the memory limit of one sampler session. Heap pieces are charged with what malloc
 * really gave (malloc_usable_size), mapped ranges with what was committed.
 *
 * Owns     quotas made by create, which are reference counted: pieces charged to one may outlive
 *          the session. Pieces and ranges are the caller's.
 * Threads  any; the counters are atomic.
 * Errors   NULL or false if the quota is exhausted or the system refuses: nothing has changed then.
 * Cost     malloc plus a few relaxed atomics. commit: one system call.
 */
#ifndef SMP_BASE_ALLOC_H
#define SMP_BASE_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct smp_quota {
    size_t limit_bytes;     /* constant after init */
    _Atomic size_t used;    /* bytes charged now */
    _Atomic size_t peak;    /* highest value of used */
    _Atomic size_t refused; /* how often the limit refused */
    _Atomic unsigned holders;
};

/* Creates a quota that lives while it is held; the caller has the first hold. NULL: no memory. The
 * quota's own memory is charged to no session. */
struct smp_quota *smp_quota_create(size_t limit_bytes);
/* NULL is fine. A quota made by init may be held, too; release never frees it. */
struct smp_quota *smp_quota_hold(struct smp_quota *quota);
void smp_quota_release(struct smp_quota *quota);

void smp_quota_init(struct smp_quota *quota, size_t limit_bytes);
size_t smp_quota_used(const struct smp_quota *quota);
/* Returns how often the limit has refused. */
size_t smp_quota_refusals(const struct smp_quota *quota);
/* Takes all bytes or none. used never exceeds the limit, however many threads take at once. */
bool smp_quota_take(struct smp_quota *quota, size_t bytes);
void smp_quota_give(struct smp_quota *quota, size_t bytes);

/* Returns zeroed memory, or NULL. size > 0. quota NULL: charged to the process count only. */
void *smp_alloc(struct smp_quota *quota, size_t size);
/* As realloc: if it returns NULL, the old piece is unchanged. New bytes are not zeroed. size > 0. A
 * piece that grows is charged beside the old one until the copy is done. */
void *smp_realloc(struct smp_quota *quota, void *piece, size_t size);
/* Returns the array with at least needed items: doubles it if *capacity, its length, is too small;
 * new items are zeroed. NULL: nothing has changed. items NULL of capacity 0 is fine; needed > 0. */
void *smp_grow_items(struct smp_quota *quota, void *items, size_t *capacity, size_t needed,
                     size_t item_bytes);
void smp_free(struct smp_quota *quota, void *piece);
/* Returns a copy of length bytes plus a NUL, or NULL. */
char *smp_strndup(struct smp_quota *quota, const char *text, size_t length);

/* Reserves page-aligned address space without memory (PROT_NONE), uncharged. NULL if refused. */
void *smp_map_reserve(size_t bytes);
/* Makes [at, at+bytes) of a reserved range usable, zeroed, and charges it to the quota. at and
 * bytes are page multiples. */
bool smp_map_commit(struct smp_quota *quota, void *at, size_t bytes);
/* Turns the range back into address space without memory, and returns its bytes to the quota.
 * Returns false if nothing has changed. */
bool smp_map_decommit(struct smp_quota *quota, void *at, size_t bytes);
/* Unmaps the whole range of reserved bytes and returns the committed ones to the quota. */
void smp_map_release(struct smp_quota *quota, void *base, size_t reserved, size_t committed);

/* Returns the bytes charged now, over all sessions of the process; 0 if all are closed. */
size_t smp_alloc_live_bytes(void);

/* Test seam: called before each allocation, reserve and commit; true refuses it. NULL removes it.
 * Not for production. */
typedef bool smp_alloc_refuser(void *self, size_t bytes);
void smp_alloc_set_refuser(smp_alloc_refuser *refuser, void *self);

#endif
