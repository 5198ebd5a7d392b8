/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.c - a short array of entries, oldest first, each one interval or several merged.
 *
 *   entries   [1..4] [5] [6..7] [8]        cursors: numbers of the next interval a consumer wants
 *
 * Invariant: a cursor stands at the first interval of an entry or behind the last one, and so does
 * the one of a take that is under way. What is merged without the mutex is looked at again before
 * it takes the place of its parts: where a cursor has come in between, it is thrown away.
 */
#include "core/windows.h"

#include <pthread.h>
#include <string.h>

#include "model/snapshot_merge.h"

struct entry {
    struct smp_snapshot *snapshot; /* held */
    uint64_t first;                /* numbers of intervals */
    uint64_t last;
    unsigned mark; /* a consumer that will take up to last and no further; 0: none */
};

struct consumer {
    unsigned id;   /* 0: free */
    uint64_t next; /* the first interval it has not had */
    bool is_taking;
    uint64_t taking; /* where is_taking: the last interval of its window */
};

struct smp_windows {
    struct smp_quota *quota;
    pthread_mutex_t mutex;  /* guards all below; a leaf: nothing is called while it is held */
    pthread_cond_t changed; /* a take or a merge has ended */
    struct entry entries[SMP_MAX_WAITING + 1];
    size_t count;
    struct consumer consumers[SMP_MAX_CONSUMERS];
    unsigned last_id;
    uint64_t next; /* the number of the next interval */
    bool is_compacting;
    bool is_asked_to_shed;
    uint64_t dropped;
};

/* Snapshots taken out of the entries, or held beside them, to be let go of without the mutex. */
struct held {
    struct smp_snapshot *snapshots[SMP_MAX_WAITING + 1];
    size_t count;
    uint64_t first;
    uint64_t last;
};

static void lock(struct smp_windows *windows)
{
    (void)pthread_mutex_lock(&windows->mutex);
}

static void unlock(struct smp_windows *windows)
{
    (void)pthread_mutex_unlock(&windows->mutex);
}

static void release_held(struct held *held)
{
    for (size_t i = 0; i < held->count; i++)
        smp_snapshot_release(held->snapshots[i]);
    held->count = 0;
}

/* What a merged one may take; 0: as much as it needs. */
static size_t tree_bytes(const struct smp_windows *windows)
{
    return windows->quota == NULL ? 0 : windows->quota->limit_bytes / SMP_WAITING_SHARE;
}

static enum smp_status merge_held(struct smp_windows *windows, const struct held *held,
                                  size_t max_tree_bytes, struct smp_snapshot **out)
{
    return smp_snapshot_merge_within(windows->quota,
                                     (const struct smp_snapshot *const *)held->snapshots,
                                     held->count, max_tree_bytes, out);
}

/* --- all below, down to public, with the mutex held --- */

static struct consumer *find_consumer(struct smp_windows *windows, unsigned id)
{
    for (size_t i = 0; id != 0 && i < SMP_MAX_CONSUMERS; i++) {
        if (windows->consumers[i].id == id)
            return &windows->consumers[i];
    }
    return NULL;
}

/* The first interval that somebody still wants. */
static uint64_t first_wanted(const struct smp_windows *windows)
{
    uint64_t first = windows->next;

    for (size_t i = 0; i < SMP_MAX_CONSUMERS; i++) {
        const struct consumer *consumer = &windows->consumers[i];
        if (consumer->id != 0 && consumer->next < first)
            first = consumer->next;
    }
    return first;
}

static void remove_entries(struct smp_windows *windows, size_t at, size_t count)
{
    memmove(&windows->entries[at], &windows->entries[at + count],
            (windows->count - at - count) * sizeof(windows->entries[0]));
    windows->count -= count;
}

/* Moves what nobody wants any more to unwanted, which has room for all. */
static void trim(struct smp_windows *windows, struct held *unwanted)
{
    const uint64_t wanted = first_wanted(windows);
    size_t count = 0;

    while (count < windows->count && windows->entries[count].last < wanted)
        unwanted->snapshots[unwanted->count++] = windows->entries[count++].snapshot;
    remove_entries(windows, 0, count);
}

/* Must the entry stay apart from the one after it? */
static bool is_boundary(struct smp_windows *windows, size_t at)
{
    const struct entry *entry = &windows->entries[at];
    const struct consumer *marker = find_consumer(windows, entry->mark);

    if (marker != NULL && marker->next <= entry->last)
        return true;
    for (size_t i = 0; i < SMP_MAX_CONSUMERS; i++) {
        const struct consumer *consumer = &windows->consumers[i];
        if (consumer->id != 0 && (consumer->next == entry->last + 1 ||
                                  (consumer->is_taking && consumer->taking == entry->last)))
            return true;
    }
    return false;
}

/* Holds the entries [at, at + count). */
static void hold_entries(struct smp_windows *windows, size_t at, size_t count, struct held *out)
{
    out->count = 0;
    for (size_t i = at; i < at + count; i++)
        out->snapshots[out->count++] = smp_snapshot_hold(windows->entries[i].snapshot);
    out->first = windows->entries[at].first;
    out->last = windows->entries[at + count - 1].last;
}

/* The oldest entries, two at least, that may be merged. False: there are none. */
static bool hold_run(struct smp_windows *windows, struct held *out)
{
    for (size_t at = 0; at < windows->count; at++) {
        size_t count = 1;
        while (at + count < windows->count && !is_boundary(windows, at + count - 1))
            count++;
        if (count > 1) {
            hold_entries(windows, at, count, out);
            return true;
        }
    }
    return false;
}

/* Entries only ever go from the front: where the first one of a run is there, all are. */
static bool is_still_run(struct smp_windows *windows, size_t at, size_t count)
{
    if (at == windows->count)
        return false;
    for (size_t i = at; i + 1 < at + count; i++) {
        if (is_boundary(windows, i))
            return false;
    }
    return true;
}

/* Puts merged in the place of a run. False: it is none any more. */
static bool replace_run(struct smp_windows *windows, const struct held *run,
                        struct smp_snapshot *merged, struct held *unwanted)
{
    size_t at = 0;

    while (at < windows->count && windows->entries[at].first != run->first)
        at++;
    if (!is_still_run(windows, at, run->count))
        return false;
    for (size_t i = 0; i < run->count; i++)
        unwanted->snapshots[unwanted->count++] = windows->entries[at + i].snapshot;
    windows->entries[at].snapshot = merged;
    windows->entries[at].last = run->last;
    windows->entries[at].mark = windows->entries[at + run->count - 1].mark;
    remove_entries(windows, at + 1, run->count - 1);
    return true;
}

/* Where what a consumer has not had begins; count: there is nothing. */
static size_t first_entry(const struct smp_windows *windows, const struct consumer *consumer)
{
    size_t at = 0;

    while (at < windows->count && windows->entries[at].first < consumer->next)
        at++;
    return at;
}

/* What a consumer wants, up to until. False: nothing. */
static bool hold_window(struct smp_windows *windows, const struct consumer *consumer,
                        uint64_t until, struct held *out)
{
    const size_t at = first_entry(windows, consumer);
    size_t count = 0;

    while (at + count < windows->count && windows->entries[at + count].last <= until)
        count++;
    if (count > 0)
        hold_entries(windows, at, count, out);
    return count > 0;
}

/* Waits until nobody takes for it. NULL: there is no such consumer, or no longer. */
static struct consumer *await_consumer(struct smp_windows *windows, unsigned id)
{
    struct consumer *consumer = find_consumer(windows, id);

    while (consumer != NULL && consumer->is_taking) {
        (void)pthread_cond_wait(&windows->changed, &windows->mutex);
        consumer = find_consumer(windows, id);
    }
    return consumer;
}

/* --- public: life --- */

enum smp_status smp_windows_create(struct smp_quota *quota, struct smp_windows **out)
{
    struct smp_windows *windows = smp_alloc(quota, sizeof(*windows));

    if (windows == NULL)
        return SMP_ENOMEM;
    windows->quota = quota;
    windows->next = 1;
    if (pthread_mutex_init(&windows->mutex, NULL) != 0)
        goto no_mutex;
    if (pthread_cond_init(&windows->changed, NULL) != 0)
        goto no_changed;
    *out = windows;
    return SMP_OK;
no_changed:
    (void)pthread_mutex_destroy(&windows->mutex);
no_mutex:
    smp_free(quota, windows);
    return SMP_ENOMEM;
}

void smp_windows_destroy(struct smp_windows *windows)
{
    if (windows == NULL)
        return;
    for (size_t i = 0; i < windows->count; i++)
        smp_snapshot_release(windows->entries[i].snapshot);
    (void)pthread_cond_destroy(&windows->changed);
    (void)pthread_mutex_destroy(&windows->mutex);
    smp_free(windows->quota, windows);
}

/* --- public: consumers --- */

enum smp_status smp_windows_open(struct smp_windows *windows, unsigned *consumer)
{
    enum smp_status status = SMP_EQUOTA;

    lock(windows);
    for (size_t i = 0; i < SMP_MAX_CONSUMERS && status != SMP_OK; i++) {
        if (windows->consumers[i].id != 0)
            continue;
        windows->consumers[i] =
            (struct consumer){ .id = ++windows->last_id, .next = windows->next };
        *consumer = windows->last_id;
        status = SMP_OK;
    }
    unlock(windows);
    return status;
}

void smp_windows_close(struct smp_windows *windows, unsigned consumer)
{
    struct held unwanted = { .count = 0 };

    lock(windows);
    struct consumer *at = await_consumer(windows, consumer);
    if (at != NULL) {
        *at = (struct consumer){ 0 };
        trim(windows, &unwanted);
        (void)pthread_cond_broadcast(&windows->changed);
    }
    unlock(windows);
    release_held(&unwanted);
}

/* Holds what is to be taken; then nobody else takes for the consumer until end_take. */
static enum smp_status begin_take(struct smp_windows *windows, unsigned id, uint64_t until,
                                  struct held *window, struct consumer **out)
{
    enum smp_status status = SMP_OK;

    lock(windows);
    struct consumer *consumer = await_consumer(windows, id);
    if (consumer == NULL) {
        status = SMP_EINVAL;
    } else if (!hold_window(windows, consumer, until, window)) {
        status = SMP_ESTATE;
    } else {
        consumer->is_taking = true;
        consumer->taking = window->last;
        *out = consumer;
    }
    unlock(windows);
    return status;
}

/* The window is taken whole; or without memory, where *taken is NULL, its oldest part as it is now.
 */
static void end_take(struct smp_windows *windows, struct consumer *consumer,
                     const struct held *window, struct smp_snapshot **taken, struct held *unwanted)
{
    lock(windows);
    if (*taken != NULL) {
        consumer->next = window->last + 1;
    } else {
        const size_t at = first_entry(windows, consumer);
        if (at < windows->count && windows->entries[at].last <= window->last) {
            *taken = smp_snapshot_hold(windows->entries[at].snapshot);
            consumer->next = windows->entries[at].last + 1;
        }
    }
    consumer->is_taking = false;
    trim(windows, unwanted);
    (void)pthread_cond_broadcast(&windows->changed);
    unlock(windows);
}

enum smp_status smp_windows_take(struct smp_windows *windows, unsigned consumer, uint64_t until,
                                 struct smp_snapshot **out)
{
    struct held window = { .count = 0 };
    struct held unwanted = { .count = 0 };
    struct smp_snapshot *taken = NULL;
    struct consumer *taker = NULL;
    enum smp_status status = begin_take(windows, consumer, until, &window, &taker);

    if (status != SMP_OK)
        return status;
    if (window.count == 1)
        taken = smp_snapshot_hold(window.snapshots[0]);
    else
        status = merge_held(windows, &window, 0, &taken);
    end_take(windows, taker, &window, &taken, &unwanted);
    release_held(&window);
    release_held(&unwanted);
    if (taken == NULL)
        return status;
    *out = taken;
    return SMP_OK;
}

/* --- public: the sampler --- */

bool smp_windows_has_room(struct smp_windows *windows)
{
    bool has_room;

    lock(windows);
    has_room = windows->count < SMP_MAX_WAITING;
    unlock(windows);
    return has_room;
}

uint64_t smp_windows_append(struct smp_windows *windows, struct smp_snapshot *interval,
                            unsigned mark)
{
    struct held unwanted = { .count = 0 };
    uint64_t number;

    lock(windows);
    number = windows->next++;
    windows->entries[windows->count++] =
        (struct entry){ .snapshot = interval, .first = number, .last = number, .mark = mark };
    trim(windows, &unwanted);
    unlock(windows);
    release_held(&unwanted);
    return number;
}

/* --- public: keeping it short --- */

bool smp_windows_is_long(struct smp_windows *windows)
{
    bool is_long;

    lock(windows);
    is_long = windows->count > SMP_MAX_APART;
    unlock(windows);
    return is_long;
}

static bool begin_compact(struct smp_windows *windows, struct held *run)
{
    bool begins;

    lock(windows);
    while (windows->is_compacting)
        (void)pthread_cond_wait(&windows->changed, &windows->mutex);
    begins = hold_run(windows, run);
    windows->is_compacting = begins;
    unlock(windows);
    return begins;
}

/* True: there is one entry less at least. */
static bool compact_run(struct smp_windows *windows)
{
    struct held run = { .count = 0 };
    struct held unwanted = { .count = 0 };
    struct smp_snapshot *merged = NULL;
    bool is_shorter;

    if (!begin_compact(windows, &run))
        return false;
    const enum smp_status status = merge_held(windows, &run, tree_bytes(windows), &merged);
    lock(windows);
    windows->is_compacting = false;
    is_shorter = status == SMP_OK && replace_run(windows, &run, merged, &unwanted);
    (void)pthread_cond_broadcast(&windows->changed);
    unlock(windows);
    release_held(&run);
    release_held(&unwanted);
    if (!is_shorter)
        smp_snapshot_release(merged);
    return is_shorter;
}

/* Whoever wanted it goes on with the next one. */
static bool drop_oldest(struct smp_windows *windows)
{
    struct smp_snapshot *oldest = NULL;

    lock(windows);
    if (windows->count > 0) {
        const struct entry entry = windows->entries[0];
        remove_entries(windows, 0, 1);
        for (size_t i = 0; i < SMP_MAX_CONSUMERS; i++) {
            if (windows->consumers[i].next <= entry.last)
                windows->consumers[i].next = entry.last + 1;
        }
        windows->dropped += entry.last - entry.first + 1;
        oldest = entry.snapshot;
    }
    unlock(windows);
    smp_snapshot_release(oldest);
    return oldest != NULL;
}

bool smp_windows_shed(struct smp_windows *windows)
{
    return compact_run(windows) || drop_oldest(windows);
}

void smp_windows_ask_to_shed(struct smp_windows *windows)
{
    lock(windows);
    windows->is_asked_to_shed = true;
    unlock(windows);
}

static bool take_asked_to_shed(struct smp_windows *windows)
{
    bool is_asked;

    lock(windows);
    is_asked = windows->is_asked_to_shed;
    windows->is_asked_to_shed = false;
    unlock(windows);
    return is_asked;
}

void smp_windows_compact(struct smp_windows *windows)
{
    while (smp_windows_is_long(windows) && compact_run(windows))
        ;
    if (take_asked_to_shed(windows))
        (void)smp_windows_shed(windows);
}

uint64_t smp_windows_dropped(struct smp_windows *windows)
{
    uint64_t dropped;

    lock(windows);
    dropped = windows->dropped;
    unlock(windows);
    return dropped;
}
