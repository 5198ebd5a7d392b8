/* SPDX-License-Identifier: Apache-2.0 */
/* A reader takes exactly the time since it opened, whatever other readers do. Tested step by step,
 * at random against a reference that keeps sums, and with all threads at once. SMP_TEST_ROUNDS
 * sets the number of random runs. */
#include "engine/session/interval_queue.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/thread.h"
#include "support/failing_alloc.h"
#include "support/fake_clock.h"
#include "support/next_random.h"
#include "support/rounds.h"
#include "support/sleeping_thread.h"
#include "support/tree_amounts.h"

enum { PART_BYTES = 1 << 20, ROUNDS = 40, LIMIT_BYTES = 64 << 20 };

struct fixture {
    struct smp_quota *quota;
    struct smp_methods *methods;
    struct smp_interval_queue *intervals;
    unsigned locations; /* number of locations so far */
    struct fake_clock clock;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    fake_clock_install(&f->clock);
    f->quota = smp_quota_create(LIMIT_BYTES);
    assert_int_equal(smp_methods_create(f->quota, 4 * PART_BYTES, NULL, &f->methods), SMP_OK);
    assert_int_equal(smp_interval_queue_create(f->quota, &f->intervals), SMP_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_interval_queue_destroy(f->intervals);
    smp_methods_release(f->methods);
    assert_int_equal(smp_quota_used(f->quota), 0);
    smp_quota_release(f->quota);
    fake_clock_remove();
    free(f);
    return 0;
}

static struct smp_interval_queue_figures figures_of(struct smp_interval_queue *intervals)
{
    struct smp_interval_queue_figures figures;

    smp_interval_queue_get_figures(intervals, &figures);
    return figures;
}

/* --- intervals --- */

/* wall_ns below one frame, or spread over this many different nodes. */
static struct smp_profile *make_interval(struct fixture *f, int64_t wall_ns, unsigned nodes)
{
    struct smp_tree *tree = NULL;
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;

    assert_int_equal(smp_tree_create(f->quota, SMP_SAMPLED_MEASURES, 4 * PART_BYTES, &tree),
                     SMP_OK);
    assert_int_equal(smp_thread_groups_create(f->quota, PART_BYTES, &groups), SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "main" });
    struct smp_group_info *info = smp_thread_groups_info(groups, group);
    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    for (unsigned i = 0; i < nodes; i++) {
        char text[32];
        uint32_t leaf = 0;
        (void)snprintf(text, sizeof(text), "[%u]", nodes == 1 ? 0 : ++f->locations);
        const uint32_t location = smp_methods_pseudo(f->methods, text);
        assert_int_equal(smp_tree_add(tree, info->root, &location, 1, &leaf), SMP_OK);
        tree_credit(tree, leaf, wall_ns, 0, 1);
    }
    smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
    assert_int_equal(smp_profile_create(f->quota, tree, groups, f->methods, &profile), SMP_OK);
    return profile;
}

/* --- many short-lived threads --- */

enum { SHORT_LIVES = 2000, POOL = 50 };

/* Creates the pool and this many threads that end during the interval; serials start at *serial
 * and increase. */
static struct smp_profile *make_crowd(struct fixture *f, uint64_t *serial)
{
    struct smp_profile *const profile = make_interval(f, 1, 1);
    const struct smp_group group =
        smp_thread_groups_find(profile->groups, (struct smp_group_key){ .name = "main" });
    uint64_t living[POOL];

    for (unsigned i = 0; i < POOL; i++) {
        living[i] = i + 1;
        smp_thread_groups_see(profile->groups, group, living[i], "pool-1");
    }
    for (unsigned i = 0; i < SHORT_LIVES; i++)
        smp_thread_groups_see(profile->groups, group, ++*serial, "request");
    smp_thread_groups_set_living(profile->groups, living, POOL, UINT64_MAX);
    return profile;
}

/* Without calls of snapshot(), and with a thread for each request. */
static void unread_intervals_do_not_grow_with_ended_threads(void **state)
{
    enum { INTERVALS = 400 };
    struct fixture *f = *state;
    unsigned reader = 0;
    uint64_t serial = POOL;
    struct smp_profile *taken = NULL;
    size_t most = 0;

    assert_int_equal(smp_interval_queue_open(f->intervals, &reader), SMP_OK);
    for (unsigned i = 0; i < INTERVALS; i++) {
        (void)smp_interval_queue_append(f->intervals, make_crowd(f, &serial), 0);
        smp_interval_queue_compact(f->intervals);
        most = smp_quota_used(f->quota) > most ? smp_quota_used(f->quota) : most;
    }
    assert_in_range(most, 1, 2 << 20);
    assert_int_equal(smp_interval_queue_take(f->intervals, reader, SMP_INTERVAL_QUEUE_END, &taken),
                     SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(taken->groups, (struct smp_group_key){ .name = "main" });
    assert_int_equal(smp_thread_groups_info(taken->groups, group)->thread_count,
                     POOL + INTERVALS * SHORT_LIVES);
    assert_int_equal(tree_wall(taken->tree, 0), INTERVALS);
    smp_profile_release(taken);
}

static uint64_t append(struct fixture *f, int64_t wall_ns)
{
    return smp_interval_queue_append(f->intervals, make_interval(f, wall_ns, 1), 0);
}

static unsigned open_one(struct fixture *f)
{
    unsigned reader = 0;

    assert_int_equal(smp_interval_queue_open(f->intervals, &reader), SMP_OK);
    assert_int_not_equal(reader, 0);
    return reader;
}

/* Returns the time of the taken profile; -1: nothing is waiting. */
static int64_t take_until(struct fixture *f, unsigned reader, uint64_t until)
{
    struct smp_profile *taken = NULL;
    const enum smp_status status = smp_interval_queue_take(f->intervals, reader, until, &taken);

    if (status == SMP_ESTATE)
        return -1;
    assert_int_equal(status, SMP_OK);
    const int64_t wall_ns = tree_wall(taken->tree, 0);
    smp_profile_release(taken);
    return wall_ns;
}

static int64_t take(struct fixture *f, unsigned reader)
{
    return take_until(f, reader, SMP_INTERVAL_QUEUE_END);
}

/* --- cursors --- */

static void readers_are_independent_of_each_other(void **state)
{
    struct fixture *f = *state;
    const unsigned slow = open_one(f);

    append(f, 1);
    const unsigned quick = open_one(f);
    append(f, 10);
    assert_int_equal(take(f, quick), 10);
    append(f, 100);
    assert_int_equal(take(f, quick), 100);
    assert_int_equal(take(f, slow), 111);
    assert_int_equal(take(f, slow), -1);
    assert_int_equal(take(f, quick), -1);
    append(f, 1000);
    assert_int_equal(take(f, slow), 1000);
    assert_int_equal(take(f, quick), 1000);
}

static void a_take_may_end_earlier(void **state)
{
    struct fixture *f = *state;
    const unsigned reader = open_one(f);
    const uint64_t first = append(f, 1);
    const uint64_t second = append(f, 10);

    append(f, 100);
    assert_int_equal(take_until(f, reader, second), 11);
    assert_int_equal(take_until(f, reader, first), -1);
    assert_int_equal(take_until(f, reader, second), -1);
    assert_int_equal(take(f, reader), 100);
}

static void intervals_that_all_readers_have_taken_are_released(void **state)
{
    struct fixture *f = *state;
    const size_t before = smp_quota_used(f->quota);

    append(f, 1); /* no reader wants it */
    assert_int_equal(smp_quota_used(f->quota), before);
    const unsigned one = open_one(f);
    const unsigned other = open_one(f);
    append(f, 1);
    assert_int_equal(take(f, one), 1);
    assert_true(smp_quota_used(f->quota) > before);
    smp_interval_queue_close(f->intervals, other);
    assert_int_equal(smp_quota_used(f->quota), before);
}

static void an_unknown_reader_gets_nothing(void **state)
{
    struct fixture *f = *state;
    struct smp_profile *taken = NULL;
    const unsigned reader = open_one(f);

    smp_interval_queue_close(f->intervals, reader);
    smp_interval_queue_close(f->intervals, reader);
    append(f, 1);
    assert_int_equal(smp_interval_queue_take(f->intervals, reader, SMP_INTERVAL_QUEUE_END, &taken),
                     SMP_EINVAL);
    assert_int_equal(smp_interval_queue_take(f->intervals, 0, SMP_INTERVAL_QUEUE_END, &taken),
                     SMP_EINVAL);
    assert_int_not_equal(open_one(f), reader);
    assert_null(taken);
}

static void the_number_of_readers_is_limited(void **state)
{
    struct fixture *f = *state;
    unsigned readers[SMP_MAX_READERS];
    unsigned reader = 0;

    for (int i = 0; i < SMP_MAX_READERS; i++)
        readers[i] = open_one(f);
    assert_int_equal(smp_interval_queue_open(f->intervals, &reader), SMP_EQUOTA);
    smp_interval_queue_close(f->intervals, readers[7]);
    assert_int_equal(smp_interval_queue_open(f->intervals, &reader), SMP_OK);
}

/* --- keeping it short --- */

static void waiting_intervals_are_merged_between_cursors(void **state)
{
    struct fixture *f = *state;
    const unsigned slow = open_one(f);
    size_t used;

    for (int i = 0; i < 3; i++)
        append(f, 1);
    const unsigned quick = open_one(f);
    for (int i = 0; i < 3; i++)
        append(f, 10);
    assert_true(smp_interval_queue_is_long(f->intervals));
    used = smp_quota_used(f->quota);
    smp_interval_queue_compact(f->intervals);
    assert_false(smp_interval_queue_is_long(f->intervals));
    assert_true(smp_quota_used(f->quota) < used);
    assert_int_equal(take(f, quick), 30);
    assert_int_equal(take(f, slow), 33);
}

static void nothing_is_merged_across_a_mark(void **state)
{
    struct fixture *f = *state;
    const unsigned reporter = open_one(f);
    const unsigned page = open_one(f);
    uint64_t marks[2];

    append(f, 1);
    marks[0] = smp_interval_queue_append(f->intervals, make_interval(f, 1, 1), reporter);
    append(f, 10);
    append(f, 10);
    marks[1] = smp_interval_queue_append(f->intervals, make_interval(f, 10, 1), reporter);
    append(f, 100);
    append(f, 100);
    smp_interval_queue_compact(f->intervals);
    assert_false(smp_interval_queue_is_long(f->intervals));
    assert_int_equal(take_until(f, reporter, marks[0]), 2);
    assert_int_equal(take_until(f, reporter, marks[1]), 30);
    /* A mark that all readers have passed no longer counts: the first five intervals become
     * one. */
    for (int i = 0; i < 3; i++)
        append(f, 1000);
    smp_interval_queue_compact(f->intervals);
    assert_false(smp_interval_queue_is_long(f->intervals));
    assert_int_equal(take(f, page), 3232);
    assert_int_equal(take(f, reporter), 3200);
}

static void the_queue_holds_its_maximum_of_intervals(void **state)
{
    struct fixture *f = *state;
    const unsigned reader = open_one(f);

    for (int i = 0; i < SMP_MAX_WAITING; i++) {
        assert_true(smp_interval_queue_has_room(f->intervals));
        append(f, 1);
    }
    assert_false(smp_interval_queue_has_room(f->intervals));
    append(f, 1); /* the last one for which there is room */
    assert_int_equal(take(f, reader), SMP_MAX_WAITING + 1);
    assert_true(smp_interval_queue_has_room(f->intervals));
}

/* --- memory --- */

static struct smp_profile *take_snapshot(struct fixture *f, unsigned reader)
{
    struct smp_profile *taken = NULL;

    assert_int_equal(smp_interval_queue_take(f->intervals, reader, SMP_INTERVAL_QUEUE_END, &taken),
                     SMP_OK);
    return taken;
}

/* Returns the time of the frame in all groups. */
static int64_t time_of(const struct smp_profile *profile, uint32_t location)
{
    const struct smp_node *nodes = smp_tree_nodes(profile->tree);
    int64_t wall_ns = 0;

    for (uint32_t i = 1; i < smp_tree_node_count(profile->tree); i++)
        wall_ns += nodes[i].location == location ? tree_wall(profile->tree, i) : 0;
    return wall_ns;
}

static void time_that_does_not_fit_goes_to_over_memory_limit(void **state)
{
    enum { NODES = 14000 }; /* a few of them take more than a sixth of the limit */
    struct fixture *f = *state;
    const unsigned reader = open_one(f);
    int64_t wall_ns = 0;

    f->quota->limit_bytes = 16 << 20;
    for (int i = 0; i < 6; i++) {
        (void)smp_interval_queue_append(f->intervals, make_interval(f, 1000, NODES), 0);
        smp_interval_queue_compact(f->intervals);
        wall_ns += (int64_t)NODES * 1000;
    }
    struct smp_profile *taken = take_snapshot(f, reader);
    struct smp_profile *rest = NULL;
    const int64_t over_ns = time_of(taken, smp_methods_over_limit(f->methods));
    int64_t taken_ns = tree_wall(taken->tree, 0);
    while (smp_interval_queue_take(f->intervals, reader, SMP_INTERVAL_QUEUE_END, &rest) == SMP_OK) {
        taken_ns += tree_wall(rest->tree, 0);
        smp_profile_release(rest);
    }
    assert_int_equal(taken_ns, wall_ns);
    assert_true(over_ns > 0 && over_ns < wall_ns / 2);
    assert_int_equal(figures_of(f->intervals).dropped, 0);
    smp_profile_release(taken);
}

static void without_memory_a_take_comes_in_parts(void **state)
{
    struct fixture *f = *state;
    const unsigned reader = open_one(f);
    struct failing_alloc failing;

    append(f, 1);
    append(f, 10);
    append(f, 100);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_int_equal(take(f, reader), 1);
    assert_int_equal(take(f, reader), 10);
    (void)failing_alloc_disarm(&failing);
    append(f, 1000);
    assert_int_equal(take(f, reader), 1100);
}

static void a_failed_merge_changes_nothing(void **state)
{
    struct fixture *f = *state;
    const unsigned reader = open_one(f);

    for (size_t step = 1; step < 8; step++) {
        struct failing_alloc failing;
        for (int i = 0; i < 3; i++)
            append(f, 1);
        failing_alloc_arm(&failing, step, SIZE_MAX);
        smp_interval_queue_compact(f->intervals);
        (void)failing_alloc_disarm(&failing);
    }
    assert_int_equal(take(f, reader), 21);
}

static void the_oldest_is_dropped_when_nothing_can_be_merged(void **state)
{
    struct fixture *f = *state;
    const unsigned slow = open_one(f);
    struct failing_alloc failing;

    assert_false(smp_interval_queue_evict(f->intervals));
    append(f, 1);
    append(f, 10);
    assert_true(smp_interval_queue_evict(f->intervals)); /* merges two intervals */
    assert_int_equal(figures_of(f->intervals).dropped, 0);
    const unsigned quick = open_one(f);
    append(f, 100);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_true(smp_interval_queue_evict(f->intervals)); /* drops the first two */
    (void)failing_alloc_disarm(&failing);
    assert_int_equal(figures_of(f->intervals).dropped, 2);
    assert_int_equal(take(f, quick), 100);
    assert_int_equal(take(f, slow), 100);
}

/* --- calls while profiles are merged: no mutex is held, so any call may come in between --- */

/* Makes a call during the first merge, once; refuse: without memory. */
struct intruder {
    struct fixture *f;
    void (*intrude)(struct intruder *intruder);
    unsigned reader;
    bool is_inside;
    bool is_done;
    bool refuse;
};

static bool on_allocation(void *self, size_t bytes)
{
    struct intruder *intruder = self;

    (void)bytes;
    if (intruder->is_inside)
        return intruder->refuse;
    if (!intruder->is_done) {
        intruder->is_inside = true;
        intruder->intrude(intruder);
        intruder->is_inside = false;
        intruder->is_done = true;
    }
    return false;
}

static void take_a_part(struct intruder *intruder)
{
    intruder->refuse = true;
    assert_int_equal(take(intruder->f, intruder->reader), 1);
}

static void a_part_of_a_run_may_be_taken_during_its_merge(void **state)
{
    struct fixture *f = *state;
    struct intruder intruder = { .f = f, .intrude = take_a_part, .reader = open_one(f) };
    const unsigned other = open_one(f);

    for (int64_t wall_ns = 1; wall_ns <= 10000; wall_ns *= 10)
        append(f, wall_ns);
    smp_alloc_set_refuser(on_allocation, &intruder);
    smp_interval_queue_compact(f->intervals);
    smp_alloc_set_refuser(NULL, NULL);
    assert_true(intruder.is_done);
    assert_int_equal(take(f, intruder.reader), 11110);
    assert_int_equal(take(f, other), 11111);
}

static void append_and_compact(struct intruder *intruder)
{
    for (int64_t wall_ns = 100; wall_ns <= 10000; wall_ns *= 10)
        append(intruder->f, wall_ns);
    smp_interval_queue_compact(intruder->f->intervals);
}

static void a_run_may_be_merged_while_its_begin_is_taken(void **state)
{
    struct fixture *f = *state;
    struct intruder intruder = { .f = f, .intrude = append_and_compact, .reader = open_one(f) };
    const unsigned other = open_one(f);

    append(f, 1);
    append(f, 10);
    smp_alloc_set_refuser(on_allocation, &intruder);
    assert_int_equal(take(f, intruder.reader), 11);
    smp_alloc_set_refuser(NULL, NULL);
    assert_true(intruder.is_done);
    assert_int_equal(take(f, intruder.reader), 11100);
    assert_int_equal(take(f, other), 11111);
}

/* This thread gets no memory, so it cannot merge. */
static _Thread_local bool is_without_memory;

/* Evicts on its own thread, which the first allocation of a take starts. */
struct evictor {
    struct fixture *f;
    pthread_t thread;
    bool is_started;
    _Atomic int32_t tid;
    _Atomic bool was_refused;
    _Atomic bool is_done;
    bool has_evicted;
};

static void *evict(void *self)
{
    struct evictor *evictor = self;

    is_without_memory = true;
    atomic_store(&evictor->tid, smp_thread_own_tid());
    evictor->has_evicted = smp_interval_queue_evict(evictor->f->intervals);
    atomic_store(&evictor->is_done, true);
    return NULL;
}

/* During a take: refuses memory to the other thread, and waits until that thread waits for the end
 * of the take, or has dropped the intervals being taken, if it would. */
static bool on_allocation_beside_evictor(void *self, size_t bytes)
{
    struct evictor *evictor = self;

    (void)bytes;
    if (is_without_memory) {
        atomic_store(&evictor->was_refused, true);
        return true;
    }
    if (evictor->is_started)
        return false;
    evictor->is_started = true;
    assert_int_equal(pthread_create(&evictor->thread, NULL, evict, evictor), 0);
    while (!atomic_load(&evictor->was_refused))
        sched_yield();
    do
        usleep(1000);
    while (!thread_sleeps(atomic_load(&evictor->tid)) && !atomic_load(&evictor->is_done));
    return false;
}

/* Returns true if the eviction came in time and had to wait for the take, which has released both
 * intervals. */
static bool evict_beside_take(struct fixture *f, unsigned reader)
{
    struct evictor evictor = { .f = f };

    append(f, 1);
    append(f, 10);
    smp_alloc_set_refuser(on_allocation_beside_evictor, &evictor);
    assert_int_equal(take(f, reader), 11);
    assert_true(evictor.is_started);
    assert_int_equal(pthread_join(evictor.thread, NULL), 0);
    smp_alloc_set_refuser(NULL, NULL);
    assert_int_equal(figures_of(f->intervals).dropped, 0);
    assert_int_equal(take(f, reader), -1);
    assert_false(smp_interval_queue_evict(f->intervals));
    return evictor.has_evicted;
}

static void intervals_being_taken_are_not_dropped(void **state)
{
    enum { TRIES = 1000 }; /* one is enough except under tools in which threads take turns */
    struct fixture *f = *state;
    const unsigned reader = open_one(f);
    bool has_waited = false;

    for (int i = 0; i < TRIES && !has_waited; i++)
        has_waited = evict_beside_take(f, reader);
    assert_true(has_waited);
}

/* --- random steps, compared with a reference --- */

enum { CONSUMERS = 4 };

struct reference {
    unsigned id; /* 0: closed */
    int64_t expected_ns;
};

static void take_for(struct fixture *f, struct reference *reference)
{
    const int64_t taken_ns = take(f, reference->id);

    assert_int_equal(taken_ns < 0 ? 0 : taken_ns, reference->expected_ns);
    reference->expected_ns = 0;
}

static void do_something(struct fixture *f, struct reference references[CONSUMERS], unsigned *seed)
{
    struct reference *reference = &references[next_random(seed) % CONSUMERS];
    const unsigned what = next_random(seed) % 16;

    if (what < 9 && smp_interval_queue_has_room(f->intervals)) {
        const int64_t wall_ns = next_random(seed) % 1000;
        append(f, wall_ns);
        for (int i = 0; i < CONSUMERS; i++)
            references[i].expected_ns += references[i].id != 0 ? wall_ns : 0;
    } else if (what < 12 && reference->id != 0) {
        take_for(f, reference);
    } else if (what == 12 && reference->id != 0) {
        smp_interval_queue_close(f->intervals, reference->id);
        *reference = (struct reference){ 0 };
    } else if (what == 13 && reference->id == 0) {
        reference->id = open_one(f);
    } else if (what >= 14) {
        smp_interval_queue_compact(f->intervals);
    }
}

static void random_steps_match_the_reference(void **state)
{
    const long rounds = test_rounds(ROUNDS);
    struct fixture *f = *state;
    unsigned seed = 4711;

    for (int round = 0; round < rounds; round++) {
        struct reference references[CONSUMERS] = { 0 };
        for (int step = 0; step < 200; step++)
            do_something(f, references, &seed);
        for (int i = 0; i < CONSUMERS; i++) {
            if (references[i].id == 0)
                continue;
            take_for(f, &references[i]);
            smp_interval_queue_close(f->intervals, references[i].id);
        }
    }
}

/* --- all at once --- */

enum { TAKERS = 3, INTERVALS = 400 };

struct crowd {
    struct fixture *f;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned news;  /* guarded by mutex: how often there may have been work */
    bool has_ended; /* guarded by mutex: the sampler has ended */
};

static void wake(struct crowd *crowd, bool has_ended)
{
    (void)pthread_mutex_lock(&crowd->mutex);
    crowd->news++;
    crowd->has_ended = has_ended;
    (void)pthread_cond_broadcast(&crowd->changed);
    (void)pthread_mutex_unlock(&crowd->mutex);
}

/* Waits instead of trying again at once, which would keep threads with work off a small number of
 * CPUs. Returns false if there is nothing new and never will be. */
static bool await_news(struct crowd *crowd, unsigned *seen)
{
    bool is_new;

    (void)pthread_mutex_lock(&crowd->mutex);
    while (crowd->news == *seen && !crowd->has_ended)
        (void)pthread_cond_wait(&crowd->changed, &crowd->mutex);
    is_new = crowd->news != *seen;
    *seen = crowd->news;
    (void)pthread_mutex_unlock(&crowd->mutex);
    return is_new;
}

struct taker {
    pthread_t thread;
    struct crowd *crowd;
    unsigned reader;
    int64_t taken_ns;
};

/* Without assertions of cmocka, which work only on the test's own thread. */
static void *take_all(void *self)
{
    struct taker *taker = self;
    struct smp_interval_queue *intervals = taker->crowd->f->intervals;
    struct smp_profile *taken = NULL;
    unsigned seen = 0;

    while (await_news(taker->crowd, &seen)) {
        while (smp_interval_queue_take(intervals, taker->reader, SMP_INTERVAL_QUEUE_END, &taken) ==
               SMP_OK) {
            taker->taken_ns += tree_wall(taken->tree, 0);
            smp_profile_release(taken);
        }
    }
    return NULL;
}

static bool refuse_some_threads(void *self, size_t bytes)
{
    (void)self;
    (void)bytes;
    return is_without_memory;
}

static void *evict_all(void *self)
{
    struct crowd *crowd = self;
    unsigned seen = 0;

    is_without_memory = true;
    while (await_news(crowd, &seen))
        (void)smp_interval_queue_evict(crowd->f->intervals);
    return NULL;
}

static void *compact_all(void *self)
{
    struct crowd *crowd = self;
    unsigned seen = 0;

    while (await_news(crowd, &seen))
        smp_interval_queue_compact(crowd->f->intervals);
    return NULL;
}

static void readers_and_sampler_may_run_at_the_same_time(void **state)
{
    struct crowd crowd = { .f = *state,
                           .mutex = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER };
    struct taker takers[TAKERS];
    pthread_t compactor;
    int64_t wall_ns = 0;

    const unsigned late = open_one(crowd.f);
    for (int i = 0; i < TAKERS; i++) {
        /* The last two threads share a reader. */
        takers[i] = (struct taker){ .crowd = &crowd };
        takers[i].reader = i == TAKERS - 1 ? takers[i - 1].reader : open_one(crowd.f);
        assert_int_equal(pthread_create(&takers[i].thread, NULL, take_all, &takers[i]), 0);
    }
    assert_int_equal(pthread_create(&compactor, NULL, compact_all, &crowd), 0);
    for (int i = 0; i < INTERVALS; i++) {
        while (!smp_interval_queue_has_room(crowd.f->intervals)) {
            wake(&crowd, false); /* threads that had given up try again */
            sched_yield();
        }
        append(crowd.f, i);
        wake(&crowd, false);
        wall_ns += i;
    }
    wake(&crowd, true);
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
    assert_int_equal(pthread_join(compactor, NULL), 0);
    assert_int_equal(takers[0].taken_ns, wall_ns);
    assert_int_equal(takers[1].taken_ns + takers[2].taken_ns, wall_ns);
    assert_int_equal(take(crowd.f, late), wall_ns);
}

static void each_interval_is_taken_or_counted_as_dropped(void **state)
{
    struct crowd crowd = { .f = *state,
                           .mutex = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER };
    struct taker taker = { .crowd = &crowd, .reader = open_one(crowd.f) };
    pthread_t evictor;

    smp_alloc_set_refuser(refuse_some_threads, NULL);
    assert_int_equal(pthread_create(&taker.thread, NULL, take_all, &taker), 0);
    assert_int_equal(pthread_create(&evictor, NULL, evict_all, &crowd), 0);
    for (int i = 0; i < INTERVALS; i++) {
        while (!smp_interval_queue_has_room(crowd.f->intervals)) {
            wake(&crowd, false);
            sched_yield();
        }
        append(crowd.f, 1);
        wake(&crowd, false);
    }
    wake(&crowd, true);
    assert_int_equal(pthread_join(taker.thread, NULL), 0);
    assert_int_equal(pthread_join(evictor, NULL), 0);
    smp_alloc_set_refuser(NULL, NULL);
    const int64_t rest_ns = take(crowd.f, taker.reader);
    const int64_t taken_ns = taker.taken_ns + (rest_ns > 0 ? rest_ns : 0);
    assert_int_equal(taken_ns + (int64_t)figures_of(crowd.f->intervals).dropped, INTERVALS);
}

/* --- windows --- */

#define SECOND_NS INT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

static int64_t window(struct fixture *f, enum smp_window length)
{
    struct smp_profile *taken = NULL;
    const enum smp_status status = smp_interval_queue_take_window(f->intervals, length, &taken);

    if (status == SMP_ESTATE)
        return -1;
    assert_int_equal(status, SMP_OK);
    const int64_t wall_ns = tree_wall(taken->tree, 0);
    smp_profile_release(taken);
    return wall_ns;
}

static size_t count_waiting_ones(struct fixture *f)
{
    return figures_of(f->intervals).waiting;
}

static void append_after(struct fixture *f, int64_t ns, int64_t wall_ns)
{
    fake_clock_advance(&f->clock, ns);
    append(f, wall_ns);
    smp_interval_queue_compact(f->intervals);
}

static void reading_a_window_takes_nothing(void **state)
{
    struct fixture *f = *state;
    const unsigned reader = open_one(f);

    append(f, 1);
    assert_int_equal(window(f, SMP_WINDOW_START), -1);
    smp_interval_queue_keep_windows(f->intervals);
    assert_int_equal(window(f, SMP_WINDOW_START), -1);
    append_after(f, SECOND_NS, 10);
    append_after(f, SECOND_NS, 100);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(window(f, SMP_WINDOW_1_MINUTE), 110);
        assert_int_equal(window(f, SMP_WINDOW_START), 110);
    }
    assert_int_equal(take(f, reader), 111);
    assert_int_equal(window(f, SMP_WINDOW_15_MINUTES), 110);
    smp_interval_queue_keep_windows(f->intervals); /* already kept */
    assert_int_equal(window(f, SMP_WINDOW_START), 110);
    smp_interval_queue_forget_windows(f->intervals);
    assert_int_equal(count_waiting_ones(f), 0);
    assert_int_equal(window(f, SMP_WINDOW_START), -1);
}

static void a_window_covers_the_last_minutes_only(void **state)
{
    struct fixture *f = *state;

    smp_interval_queue_keep_windows(f->intervals);
    append_after(f, 15 * SECOND_NS, 1);
    append_after(f, 15 * SECOND_NS, 10);
    append_after(f, 30 * SECOND_NS, 100);
    assert_int_equal(window(f, SMP_WINDOW_1_MINUTE), 111);
    append_after(f, 15 * SECOND_NS, 1000);
    assert_int_equal(window(f, SMP_WINDOW_1_MINUTE), 1110);
    append_after(f, 15 * SECOND_NS, 10000);
    assert_int_equal(window(f, SMP_WINDOW_1_MINUTE), 11100);
    append_after(f, 40 * MINUTE_NS, 100000); /* as after a pause */
    assert_int_equal(window(f, SMP_WINDOW_1_MINUTE), 100000);
    assert_int_equal(window(f, SMP_WINDOW_15_MINUTES), 100000);
    assert_int_equal(window(f, SMP_WINDOW_START), 111111);
}

/* All intervals as they came: the reference. */
struct piece {
    int64_t from_ns;
    int64_t till_ns;
    int64_t wall_ns;
};

/* Returns the sum of the intervals that end after from_ns. */
static int64_t sum_after(const struct piece *pieces, size_t count, int64_t from_ns)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += pieces[i].till_ns > from_ns ? pieces[i].wall_ns : 0;
    return sum;
}

/* Returns how much earlier than the window its first interval may begin. */
static int64_t slack_of(enum smp_window length)
{
    return length == SMP_WINDOW_1_MINUTE ? 15 * SECOND_NS : MINUTE_NS;
}

static int64_t begin_of(enum smp_window length, int64_t now_ns)
{
    static const int64_t minutes[] = { 1, 5, 15 };

    return length == SMP_WINDOW_START ? INT64_MIN : now_ns - minutes[length] * MINUTE_NS;
}

static void check_window(struct fixture *f, enum smp_window length, const struct piece *pieces,
                         size_t count)
{
    const int64_t now_ns = pieces[count - 1].till_ns;
    const int64_t from_ns = begin_of(length, now_ns);
    const int64_t found = window(f, length);

    if (length == SMP_WINDOW_START) {
        assert_int_equal(found, sum_after(pieces, count, INT64_MIN));
        return;
    }
    /* The window begins at the end of an interval, so it is exactly one of the sums of the
     * reference. */
    for (size_t i = 0; i < count; i++) {
        const int64_t begin_ns = pieces[i].from_ns;
        if ((begin_ns <= from_ns || i == 0) && begin_ns >= from_ns - slack_of(length) &&
            found == sum_after(pieces, count, begin_ns))
            return;
        if (i == 0 && begin_ns > from_ns && found == sum_after(pieces, count, INT64_MIN))
            return;
    }
    fail_msg("window %d of %zu intervals has %" PRId64, (int)length, count, found);
}

static void windows_are_the_sums_of_their_intervals(void **state)
{
    enum { COUNT = 400, LONGEST_SECONDS = 15 };
    struct fixture *f = *state;
    static struct piece pieces[COUNT];
    uint64_t random = 42;
    size_t most = 0;

    for (long round = 0; round < test_rounds(4); round++) {
        const unsigned reader = open_one(f);
        int64_t unread = 0;
        smp_interval_queue_forget_windows(f->intervals);
        smp_interval_queue_keep_windows(f->intervals);
        for (size_t i = 0; i < COUNT; i++) {
            const int64_t ns =
                (int64_t)(1 + smp_random_next(&random) % LONGEST_SECONDS) * SECOND_NS;
            pieces[i].from_ns = i > 0 ? pieces[i - 1].till_ns : smp_clock_ns();
            pieces[i].till_ns = pieces[i].from_ns + ns;
            pieces[i].wall_ns = 1 + (int64_t)(smp_random_next(&random) % 1000);
            append_after(f, ns, pieces[i].wall_ns);
            unread += pieces[i].wall_ns;
            for (int length = 0; length < SMP_WINDOW_COUNT; length++)
                check_window(f, (enum smp_window)length, pieces, i + 1);
            most = count_waiting_ones(f) > most ? count_waiting_ones(f) : most;
            if (smp_random_next(&random) % 20 == 0) {
                assert_int_equal(take(f, reader), unread);
                unread = 0;
            }
        }
        smp_interval_queue_close(f->intervals, reader);
    }
    assert_in_range(most, 10, SMP_MAX_WAITING * 3 / 4);
    assert_int_equal(figures_of(f->intervals).coarse, 0);
}

static void windows_keep_to_their_share_of_memory(void **state)
{
    enum { COUNT = 100, NODES = 2000, FEW_BYTES = 8 << 20 };
    struct fixture *f = *state;
    struct smp_interval_queue *const usual = f->intervals;
    struct smp_quota *const quota = smp_quota_create(FEW_BYTES);
    size_t most = 0;

    assert_int_equal(smp_interval_queue_create(quota, &f->intervals), SMP_OK);
    smp_interval_queue_keep_windows(f->intervals);
    for (int i = 0; i < COUNT; i++) {
        fake_clock_advance(&f->clock, 15 * SECOND_NS);
        f->locations = 0; /* the same locations */
        (void)smp_interval_queue_append(f->intervals, make_interval(f, 1, NODES), 0);
        smp_interval_queue_compact(f->intervals);
        const size_t used = smp_quota_used(f->quota) + smp_quota_used(quota);
        most = used > most ? used : most;
    }
    assert_in_range(most, 1, FEW_BYTES / SMP_WINDOWS_SHARE + PART_BYTES);
    assert_int_equal(window(f, SMP_WINDOW_START), COUNT * NODES);
    assert_in_range(figures_of(f->intervals).coarse, 1, COUNT);
    assert_int_equal(figures_of(f->intervals).dropped, 0);
    smp_interval_queue_destroy(f->intervals);
    f->intervals = usual;
    assert_int_equal(smp_quota_used(quota), 0);
    smp_quota_release(quota);
}

static void a_window_that_finds_no_memory_is_read_later(void **state)
{
    struct fixture *f = *state;
    struct smp_profile *taken = NULL;

    smp_interval_queue_keep_windows(f->intervals);
    append_after(f, SECOND_NS, 1);
    append_after(f, SECOND_NS, 10);
    for (size_t step = 1; taken == NULL; step++) {
        struct failing_alloc failing;
        failing_alloc_arm(&failing, step, SIZE_MAX);
        const enum smp_status status =
            smp_interval_queue_take_window(f->intervals, SMP_WINDOW_START, &taken);
        (void)failing_alloc_disarm(&failing);
        assert_true(status == SMP_ENOMEM || status == SMP_EQUOTA || (status == SMP_OK && step > 3));
    }
    assert_int_equal(tree_wall(taken->tree, 0), 11);
    smp_profile_release(taken);
}

/* The sampler gets the memory that it needs; the windows lose their oldest part. */
static void an_eviction_drops_windows_last(void **state)
{
    struct fixture *f = *state;

    smp_interval_queue_keep_windows(f->intervals);
    append_after(f, 15 * SECOND_NS, 1);
    append_after(f, 15 * SECOND_NS, 10);
    append_after(f, 15 * SECOND_NS, 100);
    assert_true(smp_interval_queue_evict(f->intervals));
    assert_true(smp_interval_queue_evict(f->intervals));
    assert_int_equal(figures_of(f->intervals).coarse, 2);
    assert_int_equal(window(f, SMP_WINDOW_START), 111);
    assert_true(smp_interval_queue_evict(f->intervals));
    assert_int_equal(figures_of(f->intervals).dropped, 3);
    assert_int_equal(window(f, SMP_WINDOW_START), -1);
    append_after(f, SECOND_NS, 7);
    assert_int_equal(window(f, SMP_WINDOW_START), 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(readers_are_independent_of_each_other),
        TEST(a_take_may_end_earlier),
        TEST(intervals_that_all_readers_have_taken_are_released),
        TEST(an_unknown_reader_gets_nothing),
        TEST(the_number_of_readers_is_limited),
        TEST(waiting_intervals_are_merged_between_cursors),
        TEST(nothing_is_merged_across_a_mark),
        TEST(the_queue_holds_its_maximum_of_intervals),
        TEST(unread_intervals_do_not_grow_with_ended_threads),
        TEST(time_that_does_not_fit_goes_to_over_memory_limit),
        TEST(without_memory_a_take_comes_in_parts),
        TEST(a_failed_merge_changes_nothing),
        TEST(the_oldest_is_dropped_when_nothing_can_be_merged),
        TEST(a_part_of_a_run_may_be_taken_during_its_merge),
        TEST(a_run_may_be_merged_while_its_begin_is_taken),
        TEST(intervals_being_taken_are_not_dropped),
        TEST(random_steps_match_the_reference),
        TEST(readers_and_sampler_may_run_at_the_same_time),
        TEST(each_interval_is_taken_or_counted_as_dropped),
        TEST(reading_a_window_takes_nothing),
        TEST(a_window_covers_the_last_minutes_only),
        TEST(windows_are_the_sums_of_their_intervals),
        TEST(windows_keep_to_their_share_of_memory),
        TEST(a_window_that_finds_no_memory_is_read_later),
        TEST(an_eviction_drops_windows_last),
    };
#undef TEST
    return cmocka_run_group_tests_name("interval_queue", tests, NULL, NULL);
}
