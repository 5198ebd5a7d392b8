/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_queue.c - a short array of entries, oldest first. An entry is one interval or several
 * merged ones.
 *
 *   entries   [1..4] [5] [6..7] [8]        cursor: number of a reader's next interval
 *
 * If windows are kept, older entries are longer, and the oldest entry has everything that only the
 * longest window shows:
 *
 *   [1..90] [91..94] [95..98] ... [150..151] [152] [153]
 *    since   a minute each         seconds
 *
 * Invariant: each cursor, the end of a running take and the beginning of the windows point to the
 * first interval of an entry or behind the last entry. Profiles are merged without the lock. The
 * merged interval is discarded if a cursor then points between its parts.
 */
#include "engine/session/interval_queue.h"

#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "model/group_limit.h"
#include "model/profile_merge.h"

#define MINUTE_NS INT64_C(60000000000)
#define LONGEST_NS (15 * MINUTE_NS)

enum { AGE_SHARE = 4 }; /* the length of an interval is at most a quarter of its age */

struct queue_entry {
    struct smp_profile *profile; /* holds a reference */
    uint64_t first;              /* numbers of intervals */
    uint64_t last;
    unsigned mark;   /* a reader that will take exactly up to last; 0: none */
    int64_t from_ns; /* monotonic clock */
    int64_t till_ns;
};

struct queue_reader {
    unsigned id;   /* 0: free */
    uint64_t next; /* the first interval that the reader has not taken */
    bool is_taking;
    uint64_t taking; /* the last interval of the running take */
};

struct smp_interval_queue {
    struct smp_quota *quota;
    struct smp_lock lock; /* guards all below; notified when a take or a merge ends */
    struct queue_entry entries[SMP_MAX_WAITING + 1];
    size_t count;
    struct queue_reader readers[SMP_MAX_READERS];
    unsigned last_id;
    uint64_t next;   /* the number of the next interval */
    uint64_t recent; /* the first interval of the windows; 0: no windows are kept */
    int64_t till_ns; /* the end of the last interval */
    bool is_compacting;
    bool is_to_evict;
    uint64_t dropped;
    uint64_t coarse;
};

/* Profiles removed from the entries, or extra references to them. Released without the lock. */
struct held_profiles {
    struct smp_profile *profiles[SMP_MAX_WAITING + 1];
    size_t count;
    uint64_t first;
    uint64_t last;
    bool is_coarse; /* the run is longer than its age allows */
};

/* Why entries are merged. */
enum merge_reason { MERGE_FOR_LENGTH, MERGE_FOR_MEMORY };

/* Returns the beginning of the window that ends now. */
static int64_t window_from(enum smp_window window, int64_t now_ns)
{
    static const int64_t lengths_ns[SMP_WINDOW_COUNT] = {
        [SMP_WINDOW_1_MINUTE] = MINUTE_NS,
        [SMP_WINDOW_5_MINUTES] = 5 * MINUTE_NS,
        [SMP_WINDOW_15_MINUTES] = LONGEST_NS,
    };

    return window == SMP_WINDOW_START ? INT64_MIN : now_ns - lengths_ns[window];
}

/* Returns whether the time from from_ns to till_ns may be one interval at its age. */
static bool may_be_one_interval(int64_t from_ns, int64_t till_ns, int64_t now_ns)
{
    const int64_t age_ns = now_ns - till_ns;
    const int64_t length_ns = till_ns - from_ns;

    if (age_ns >= LONGEST_NS || length_ns <= SMP_WINDOW_SLOT_NS)
        return true;
    return length_ns <= MINUTE_NS && length_ns <= age_ns / AGE_SHARE;
}

static void release_held(struct held_profiles *held)
{
    for (size_t i = 0; i < held->count; i++)
        smp_profile_release(held->profiles[i]);
    held->count = 0;
}

/* Returns the limits of a merged interval. */
static struct smp_merge_limits waiting_limits(const struct smp_interval_queue *intervals)
{
    const size_t bytes = intervals->quota == NULL ? 0 : intervals->quota->limit_bytes;

    return (struct smp_merge_limits){
        .tree_bytes = bytes / SMP_WAITING_SHARE,
        .groups_bytes = bytes / SMP_WAITING_GROUPS_SHARE,
        .names_bytes = bytes / SMP_WAITING_NAMES_SHARE,
    };
}

static enum smp_status merge_held(struct smp_interval_queue *intervals,
                                  const struct held_profiles *held, struct smp_merge_limits limits,
                                  struct smp_profile **out)
{
    return smp_profile_merge_within(intervals->quota,
                                    (const struct smp_profile *const *)held->profiles, held->count,
                                    limits, out);
}

/* --- the caller holds the lock, down to "public" --- */

static struct queue_reader *find_reader(struct smp_interval_queue *intervals, unsigned id)
{
    for (size_t i = 0; id != 0 && i < SMP_MAX_READERS; i++) {
        if (intervals->readers[i].id == id)
            return &intervals->readers[i];
    }
    return NULL;
}

/* Returns the first interval that a reader or a window needs. */
static uint64_t first_wanted(const struct smp_interval_queue *intervals)
{
    uint64_t first = intervals->recent != 0 ? intervals->recent : intervals->next;

    for (size_t i = 0; i < SMP_MAX_READERS; i++) {
        const struct queue_reader *reader = &intervals->readers[i];
        if (reader->id != 0 && reader->next < first)
            first = reader->next;
    }
    return first;
}

static void remove_entries(struct smp_interval_queue *intervals, size_t at, size_t count)
{
    memmove(&intervals->entries[at], &intervals->entries[at + count],
            (intervals->count - at - count) * sizeof(intervals->entries[0]));
    intervals->count -= count;
}

/* Moves intervals that no reader or window needs to `unwanted`, which has room for all. */
static void trim_entries(struct smp_interval_queue *intervals, struct held_profiles *unwanted)
{
    const uint64_t wanted = first_wanted(intervals);
    size_t count = 0;

    while (count < intervals->count && intervals->entries[count].last < wanted)
        unwanted->profiles[unwanted->count++] = intervals->entries[count++].profile;
    remove_entries(intervals, 0, count);
}

/* Returns whether the entry must not be merged with the next one. */
static bool is_boundary(struct smp_interval_queue *intervals, size_t at)
{
    const struct queue_entry *entry = &intervals->entries[at];
    const struct queue_reader *marker = find_reader(intervals, entry->mark);

    if (entry->last + 1 == intervals->recent || (marker != NULL && marker->next <= entry->last))
        return true;
    for (size_t i = 0; i < SMP_MAX_READERS; i++) {
        const struct queue_reader *reader = &intervals->readers[i];
        if (reader->id != 0 && (reader->next == entry->last + 1 ||
                                (reader->is_taking && reader->taking == entry->last)))
            return true;
    }
    return false;
}

/* Gets references to the entries [at, at + count). */
static void hold_entries(struct smp_interval_queue *intervals, size_t at, size_t count,
                         struct held_profiles *out)
{
    out->count = 0;
    for (size_t i = at; i < at + count; i++)
        out->profiles[out->count++] = smp_profile_hold(intervals->entries[i].profile);
    out->first = intervals->entries[at].first;
    out->last = intervals->entries[at + count - 1].last;
}

static bool is_recent(const struct smp_interval_queue *intervals, size_t at)
{
    return intervals->recent != 0 && intervals->entries[at].first >= intervals->recent;
}

/* Returns whether the entries [at, at + count) together are not too long for their age. */
static bool is_short_for_age(const struct smp_interval_queue *intervals, size_t at, size_t count)
{
    return may_be_one_interval(intervals->entries[at].from_ns,
                               intervals->entries[at + count - 1].till_ns, intervals->till_ns);
}

/* Returns how many entries from `at` on may be merged; for memory, at most two of the windows. */
static size_t run_length(struct smp_interval_queue *intervals, size_t at, enum merge_reason reason)
{
    const size_t most = reason == MERGE_FOR_MEMORY && is_recent(intervals, at) ? 2 : SIZE_MAX;
    size_t count = 1;

    while (count < most && at + count < intervals->count &&
           !is_boundary(intervals, at + count - 1) &&
           (reason == MERGE_FOR_MEMORY || !is_recent(intervals, at) ||
            is_short_for_age(intervals, at, count + 1)))
        count++;
    return count;
}

/* Finds the oldest run of two or more entries that may be merged. Returns false if there is
 * none. */
static bool find_run(struct smp_interval_queue *intervals, enum merge_reason reason, size_t *at,
                     size_t *count)
{
    for (*at = 0; *at < intervals->count; (*at)++) {
        *count = run_length(intervals, *at, reason);
        if (*count > 1)
            return true;
    }
    return false;
}

static bool hold_run(struct smp_interval_queue *intervals, enum merge_reason reason,
                     struct held_profiles *out)
{
    size_t count = 0;
    size_t at = 0;

    if (!find_run(intervals, reason, &at, &count))
        return false;
    hold_entries(intervals, at, count, out);
    out->is_coarse = is_recent(intervals, at) && !is_short_for_age(intervals, at, count);
    return true;
}

/* Returns whether the windows use more than their share of the memory limit. */
static bool is_over_share(const struct smp_interval_queue *intervals)
{
    size_t bytes = 0;
    size_t count = 0;

    for (size_t i = 0; i < intervals->count; i++) {
        if (!is_recent(intervals, i))
            continue;
        bytes += smp_profile_bytes(intervals->entries[i].profile);
        count++;
    }
    return count > 1 && intervals->quota != NULL &&
           bytes > intervals->quota->limit_bytes / SMP_WINDOWS_SHARE;
}

/* Returns whether the run can still be merged. Only its first entry needs to be found, because
 * entries are removed from the front. */
static bool is_still_run(struct smp_interval_queue *intervals, size_t at, size_t count)
{
    if (at == intervals->count)
        return false;
    for (size_t i = at; i + 1 < at + count; i++) {
        if (is_boundary(intervals, i))
            return false;
    }
    return true;
}

/* Replaces a run by `merged`. Returns false if a cursor points into the run now. */
static bool replace_run(struct smp_interval_queue *intervals, const struct held_profiles *run,
                        struct smp_profile *merged, struct held_profiles *unwanted)
{
    size_t at = 0;

    while (at < intervals->count && intervals->entries[at].first != run->first)
        at++;
    if (!is_still_run(intervals, at, run->count))
        return false;
    for (size_t i = 0; i < run->count; i++)
        unwanted->profiles[unwanted->count++] = intervals->entries[at + i].profile;
    const struct queue_entry newest = intervals->entries[at + run->count - 1];
    intervals->entries[at].profile = merged;
    intervals->entries[at].last = run->last;
    intervals->entries[at].mark = newest.mark;
    intervals->entries[at].till_ns = newest.till_ns;
    intervals->coarse += run->is_coarse ? 1 : 0;
    remove_entries(intervals, at + 1, run->count - 1);
    return true;
}

/* Returns the index of the first entry that the reader has not taken, or count. */
static size_t first_entry(const struct smp_interval_queue *intervals,
                          const struct queue_reader *reader)
{
    size_t at = 0;

    while (at < intervals->count && intervals->entries[at].first < reader->next)
        at++;
    return at;
}

/* Gets references to the reader's next entries up to `until`. Returns false if there are none. */
static bool hold_unread(struct smp_interval_queue *intervals, const struct queue_reader *reader,
                        uint64_t until, struct held_profiles *out)
{
    const size_t at = first_entry(intervals, reader);
    size_t count = 0;

    while (at + count < intervals->count && intervals->entries[at + count].last <= until)
        count++;
    if (count > 0)
        hold_entries(intervals, at, count, out);
    return count > 0;
}

/* Waits for the reader's running take. Returns NULL if the reader does not exist or was closed. */
static struct queue_reader *await_reader(struct smp_interval_queue *intervals, unsigned id)
{
    struct queue_reader *reader = find_reader(intervals, id);

    while (reader != NULL && reader->is_taking) {
        smp_lock_wait(&intervals->lock);
        reader = find_reader(intervals, id);
    }
    return reader;
}

static bool is_being_taken(const struct smp_interval_queue *intervals,
                           const struct queue_entry *entry)
{
    for (size_t i = 0; i < SMP_MAX_READERS; i++) {
        const struct queue_reader *reader = &intervals->readers[i];
        if (reader->is_taking && reader->next <= entry->first && entry->last <= reader->taking)
            return true;
    }
    return false;
}

/*
 * Waits for running takes of the oldest entry, and returns whether there were any. Dropping the
 * entry during a take would free no memory, because the take holds it, and would count intervals
 * as lost that the reader gets.
 */
static bool await_takes_of_oldest(struct smp_interval_queue *intervals)
{
    bool has_waited = false;

    while (intervals->count > 0 && is_being_taken(intervals, &intervals->entries[0])) {
        smp_lock_wait(&intervals->lock);
        has_waited = true;
    }
    return has_waited;
}

/* --- public: life --- */

enum smp_status smp_interval_queue_create(struct smp_quota *quota, struct smp_interval_queue **out)
{
    struct smp_interval_queue *intervals = smp_alloc(quota, sizeof(*intervals));

    if (intervals == NULL)
        return SMP_ENOMEM;
    intervals->quota = quota;
    intervals->next = 1;
    intervals->till_ns = smp_clock_ns();
    if (smp_lock_init(&intervals->lock) != SMP_OK) {
        smp_free(quota, intervals);
        return SMP_ENOMEM;
    }
    *out = intervals;
    return SMP_OK;
}

void smp_interval_queue_destroy(struct smp_interval_queue *intervals)
{
    if (intervals == NULL)
        return;
    for (size_t i = 0; i < intervals->count; i++)
        smp_profile_release(intervals->entries[i].profile);
    smp_lock_fini(&intervals->lock);
    smp_free(intervals->quota, intervals);
}

/* --- public: readers --- */

enum smp_status smp_interval_queue_open(struct smp_interval_queue *intervals, unsigned *reader)
{
    enum smp_status status = SMP_EQUOTA;

    smp_lock_acquire(&intervals->lock);
    for (size_t i = 0; i < SMP_MAX_READERS && status != SMP_OK; i++) {
        if (intervals->readers[i].id != 0)
            continue;
        intervals->readers[i] =
            (struct queue_reader){ .id = ++intervals->last_id, .next = intervals->next };
        *reader = intervals->last_id;
        status = SMP_OK;
    }
    smp_lock_release(&intervals->lock);
    return status;
}

void smp_interval_queue_close(struct smp_interval_queue *intervals, unsigned reader)
{
    struct held_profiles unwanted = { .count = 0 };

    smp_lock_acquire(&intervals->lock);
    struct queue_reader *at = await_reader(intervals, reader);
    if (at != NULL) {
        *at = (struct queue_reader){ 0 };
        trim_entries(intervals, &unwanted);
        smp_lock_notify(&intervals->lock);
    }
    smp_lock_release(&intervals->lock);
    release_held(&unwanted);
}

/* Gets the entries to take. Other takes of this reader wait until end_reader_take. */
static enum smp_status begin_reader_take(struct smp_interval_queue *intervals, unsigned id,
                                         uint64_t until, struct held_profiles *unread,
                                         struct queue_reader **out)
{
    enum smp_status status = SMP_OK;

    smp_lock_acquire(&intervals->lock);
    struct queue_reader *reader = await_reader(intervals, id);
    if (reader == NULL) {
        status = SMP_EINVAL;
    } else if (!hold_unread(intervals, reader, until, unread)) {
        status = SMP_ESTATE;
    } else {
        reader->is_taking = true;
        reader->taking = unread->last;
        *out = reader;
    }
    smp_lock_release(&intervals->lock);
    return status;
}

/* Ends a take. Without memory to merge everything, *taken is NULL and becomes the oldest part. */
static void end_reader_take(struct smp_interval_queue *intervals, struct queue_reader *reader,
                            const struct held_profiles *unread, struct smp_profile **taken,
                            struct held_profiles *unwanted)
{
    smp_lock_acquire(&intervals->lock);
    if (*taken != NULL) {
        reader->next = unread->last + 1;
    } else {
        const size_t at = first_entry(intervals, reader);
        if (at < intervals->count && intervals->entries[at].last <= unread->last) {
            *taken = smp_profile_hold(intervals->entries[at].profile);
            reader->next = intervals->entries[at].last + 1;
        }
    }
    reader->is_taking = false;
    trim_entries(intervals, unwanted);
    smp_lock_notify(&intervals->lock);
    smp_lock_release(&intervals->lock);
}

enum smp_status smp_interval_queue_take(struct smp_interval_queue *intervals, unsigned reader,
                                        uint64_t until, struct smp_profile **out)
{
    struct held_profiles unread = { .count = 0 };
    struct held_profiles unwanted = { .count = 0 };
    struct smp_profile *taken = NULL;
    struct queue_reader *taker = NULL;
    enum smp_status status = begin_reader_take(intervals, reader, until, &unread, &taker);

    if (status != SMP_OK)
        return status;
    if (unread.count == 1)
        taken = smp_profile_hold(unread.profiles[0]);
    else
        status = merge_held(intervals, &unread, (struct smp_merge_limits){ 0 }, &taken);
    end_reader_take(intervals, taker, &unread, &taken, &unwanted);
    release_held(&unread);
    release_held(&unwanted);
    if (taken == NULL)
        return status;
    *out = smp_group_limit_apply(intervals->quota, taken, 1);
    return SMP_OK;
}

/* --- public: windows --- */

void smp_interval_queue_keep_windows(struct smp_interval_queue *intervals)
{
    smp_lock_acquire(&intervals->lock);
    if (intervals->recent == 0)
        intervals->recent = intervals->next;
    smp_lock_release(&intervals->lock);
}

void smp_interval_queue_forget_windows(struct smp_interval_queue *intervals)
{
    struct held_profiles unwanted = { .count = 0 };

    smp_lock_acquire(&intervals->lock);
    intervals->recent = 0;
    trim_entries(intervals, &unwanted);
    smp_lock_release(&intervals->lock);
    release_held(&unwanted);
}

/* Gets references to the entries of the window. Returns false if there are none. */
static bool hold_window(struct smp_interval_queue *intervals, enum smp_window window,
                        struct held_profiles *out)
{
    const int64_t from_ns = window_from(window, intervals->till_ns);
    size_t at = 0;

    while (at < intervals->count &&
           (!is_recent(intervals, at) || intervals->entries[at].till_ns <= from_ns))
        at++;
    if (at < intervals->count)
        hold_entries(intervals, at, intervals->count - at, out);
    return at < intervals->count;
}

enum smp_status smp_interval_queue_take_window(struct smp_interval_queue *intervals,
                                               enum smp_window window, struct smp_profile **out)
{
    struct held_profiles held = { .count = 0 };
    struct smp_profile *taken = NULL;
    enum smp_status status = SMP_ESTATE;

    smp_lock_acquire(&intervals->lock);
    if (hold_window(intervals, window, &held))
        status = SMP_OK;
    smp_lock_release(&intervals->lock);
    if (held.count == 1)
        taken = smp_profile_hold(held.profiles[0]);
    else if (held.count > 1)
        status = merge_held(intervals, &held, (struct smp_merge_limits){ 0 }, &taken);
    release_held(&held);
    if (status == SMP_OK)
        *out = smp_group_limit_apply(intervals->quota, taken, 1);
    return status;
}

/* --- public: the sampler --- */

static size_t count_waiting(struct smp_interval_queue *intervals)
{
    smp_lock_acquire(&intervals->lock);
    const size_t count = intervals->count;
    smp_lock_release(&intervals->lock);
    return count;
}

bool smp_interval_queue_has_room(struct smp_interval_queue *intervals)
{
    return count_waiting(intervals) < SMP_MAX_WAITING;
}

uint64_t smp_interval_queue_append(struct smp_interval_queue *intervals,
                                   struct smp_profile *interval, unsigned mark)
{
    struct held_profiles unwanted = { .count = 0 };
    const int64_t now_ns = smp_clock_ns();

    smp_lock_acquire(&intervals->lock);
    const uint64_t number = intervals->next++;
    intervals->entries[intervals->count++] = (struct queue_entry){
        .profile = interval,
        .first = number,
        .last = number,
        .mark = mark,
        .from_ns = intervals->till_ns,
        .till_ns = now_ns,
    };
    intervals->till_ns = now_ns;
    trim_entries(intervals, &unwanted);
    smp_lock_release(&intervals->lock);
    release_held(&unwanted);
    return number;
}

/* --- public: keeping it short --- */

static bool are_windows_over_share(struct smp_interval_queue *intervals)
{
    smp_lock_acquire(&intervals->lock);
    const bool is_over = is_over_share(intervals);
    smp_lock_release(&intervals->lock);
    return is_over;
}

bool smp_interval_queue_is_long(struct smp_interval_queue *intervals)
{
    size_t count = 0;
    size_t at = 0;

    smp_lock_acquire(&intervals->lock);
    const bool is_long =
        (intervals->count > SMP_MAX_APART && find_run(intervals, MERGE_FOR_LENGTH, &at, &count)) ||
        is_over_share(intervals);
    smp_lock_release(&intervals->lock);
    return is_long;
}

static bool begin_compact(struct smp_interval_queue *intervals, enum merge_reason reason,
                          struct held_profiles *run)
{
    smp_lock_acquire(&intervals->lock);
    while (intervals->is_compacting)
        smp_lock_wait(&intervals->lock);
    const bool begins = hold_run(intervals, reason, run);
    intervals->is_compacting = begins;
    smp_lock_release(&intervals->lock);
    return begins;
}

/* Merges a run. Returns whether the number of entries is lower now. */
static bool compact_run(struct smp_interval_queue *intervals, enum merge_reason reason)
{
    struct held_profiles run = { .count = 0 };
    struct held_profiles unwanted = { .count = 0 };
    struct smp_profile *merged = NULL;
    bool is_shorter;

    if (!begin_compact(intervals, reason, &run))
        return false;
    const enum smp_status status = merge_held(intervals, &run, waiting_limits(intervals), &merged);
    if (status == SMP_OK)
        merged = smp_group_limit_apply(intervals->quota, merged, SMP_WAITING_GROUPS_TIMES);
    smp_lock_acquire(&intervals->lock);
    intervals->is_compacting = false;
    is_shorter = status == SMP_OK && replace_run(intervals, &run, merged, &unwanted);
    smp_lock_notify(&intervals->lock);
    smp_lock_release(&intervals->lock);
    release_held(&run);
    release_held(&unwanted);
    if (!is_shorter)
        smp_profile_release(merged);
    return is_shorter;
}

/* Drops the oldest entry; its readers continue with the next one. If a take had to be awaited,
 * drops nothing, because that may have released enough. Returns whether memory was released. */
static bool drop_oldest(struct smp_interval_queue *intervals)
{
    struct smp_profile *oldest = NULL;

    smp_lock_acquire(&intervals->lock);
    const bool has_waited = await_takes_of_oldest(intervals);
    if (!has_waited && intervals->count > 0) {
        const struct queue_entry entry = intervals->entries[0];
        remove_entries(intervals, 0, 1);
        for (size_t i = 0; i < SMP_MAX_READERS; i++) {
            if (intervals->readers[i].next <= entry.last)
                intervals->readers[i].next = entry.last + 1;
        }
        if (intervals->recent != 0 && intervals->recent <= entry.last)
            intervals->recent = entry.last + 1;
        intervals->dropped += entry.last - entry.first + 1;
        oldest = entry.profile;
    }
    smp_lock_release(&intervals->lock);
    smp_profile_release(oldest);
    return has_waited || oldest != NULL;
}

bool smp_interval_queue_evict(struct smp_interval_queue *intervals)
{
    return compact_run(intervals, MERGE_FOR_MEMORY) || drop_oldest(intervals);
}

void smp_interval_queue_request_eviction(struct smp_interval_queue *intervals)
{
    smp_lock_acquire(&intervals->lock);
    intervals->is_to_evict = true;
    smp_lock_release(&intervals->lock);
}

static bool take_eviction_request(struct smp_interval_queue *intervals)
{
    smp_lock_acquire(&intervals->lock);
    const bool is_to_evict = intervals->is_to_evict;
    intervals->is_to_evict = false;
    smp_lock_release(&intervals->lock);
    return is_to_evict;
}

void smp_interval_queue_compact(struct smp_interval_queue *intervals)
{
    while (count_waiting(intervals) > SMP_MAX_APART && compact_run(intervals, MERGE_FOR_LENGTH))
        ;
    while (are_windows_over_share(intervals) && compact_run(intervals, MERGE_FOR_MEMORY))
        ;
    if (take_eviction_request(intervals))
        (void)smp_interval_queue_evict(intervals);
}

void smp_interval_queue_get_figures(struct smp_interval_queue *intervals,
                                    struct smp_interval_queue_figures *out)
{
    smp_lock_acquire(&intervals->lock);
    *out = (struct smp_interval_queue_figures){
        .waiting = intervals->count,
        .has_windows = intervals->recent != 0,
        .dropped = intervals->dropped,
        .coarse = intervals->coarse,
    };
    for (size_t i = 0; i < SMP_MAX_READERS; i++)
        out->readers += intervals->readers[i].id != 0 ? 1 : 0;
    smp_lock_release(&intervals->lock);
}
