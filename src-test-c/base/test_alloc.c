/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "support/failing_alloc.h"

enum { KIB = 1024, MIB = 1024 * 1024, RACERS = 4, LAPS = 1000, PLENTY = 1000000 };

/* Long enough for the racing threads to lose and regain their CPUs many times. */
#define RACE_NS 300000000LL

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_zero(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;

    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Each test ends with nothing charged to any quota. */
static int nothing_is_left(void **state)
{
    (void)state;
    return smp_alloc_live_bytes() == 0 ? 0 : -1;
}

static void a_quota_refuses_at_its_limit_and_not_before(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 100);
    assert_int_equal(smp_quota_used(&quota), 0);
    assert_true(smp_quota_take(&quota, 60));
    assert_false(smp_quota_take(&quota, 41));
    assert_false(smp_quota_take(&quota, SIZE_MAX));
    assert_int_equal(smp_quota_used(&quota), 60);
    assert_true(smp_quota_take(&quota, 40));
    assert_false(smp_quota_take(&quota, 1));
    assert_true(smp_quota_take(&quota, 0));
    smp_quota_give(&quota, 100);
    assert_int_equal(smp_quota_used(&quota), 0);
    assert_int_equal(atomic_load(&quota.peak), 100);
    assert_int_equal(atomic_load(&quota.refused), 3);
}

static void bytes_taken_count_for_the_process(void **state)
{
    struct smp_quota one;
    struct smp_quota other;

    (void)state;
    smp_quota_init(&one, KIB);
    smp_quota_init(&other, KIB);
    assert_true(smp_quota_take(&one, 300));
    assert_true(smp_quota_take(&other, 500));
    assert_int_equal(smp_alloc_live_bytes(), 800);
    smp_quota_give(&one, 300);
    assert_int_equal(smp_alloc_live_bytes(), 500);
    smp_quota_give(&other, 500);
}

static void a_piece_is_zeroed_and_charged_with_its_real_size(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, MIB);
    for (size_t size = 1; size < 5000; size += 37) {
        void *piece = smp_alloc(&quota, size);
        assert_non_null(piece);
        assert_true(is_zero(piece, size));
        assert_int_equal(smp_quota_used(&quota), malloc_usable_size(piece));
        assert_int_equal(smp_alloc_live_bytes(), smp_quota_used(&quota));
        memset(piece, 0xFF, size); /* the next piece may get this memory again */
        smp_free(&quota, piece);
        assert_int_equal(smp_quota_used(&quota), 0);
    }
    smp_free(&quota, NULL);
}

static void without_a_quota_only_the_process_total_changes(void **state)
{
    (void)state;
    char *piece = smp_alloc(NULL, 100);
    assert_non_null(piece);
    assert_int_equal(smp_alloc_live_bytes(), malloc_usable_size(piece));
    piece = smp_realloc(NULL, piece, 10000);
    assert_non_null(piece);
    assert_int_equal(smp_alloc_live_bytes(), malloc_usable_size(piece));
    smp_free(NULL, piece);
}

static void a_full_quota_refuses_pieces_and_changes_nothing(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 1000);
    void *piece = smp_alloc(&quota, 600);
    assert_non_null(piece);
    const size_t used = smp_quota_used(&quota);
    assert_null(smp_alloc(&quota, 600));
    assert_null(smp_alloc(&quota, 2000));
    assert_null(smp_alloc(&quota, SIZE_MAX));
    assert_null(smp_strndup(&quota, "x", SIZE_MAX));
    assert_null(smp_realloc(&quota, NULL, SIZE_MAX / 2));
    assert_int_equal(smp_quota_used(&quota), used);
    assert_int_equal(smp_alloc_live_bytes(), used);
    assert_int_equal(atomic_load(&quota.refused), 4);
    smp_free(&quota, piece);
    piece = smp_alloc(&quota, 600);
    assert_non_null(piece);
    smp_free(&quota, piece);
}

static void fill_pattern(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
}

static void assert_pattern(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], (unsigned char)(i * 7 + 1));
}

static void realloc_keeps_the_content_and_charges_the_new_size(void **state)
{
    static const size_t sizes[] = { 1, 24, 25, 1000, 999, 300000, 4000, 2000000, 10, 11 };
    struct smp_quota quota;
    unsigned char *piece = NULL;
    size_t size = 0;

    (void)state;
    smp_quota_init(&quota, 4 * MIB);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        piece = smp_realloc(&quota, piece, sizes[i]);
        assert_non_null(piece);
        assert_pattern(piece, size < sizes[i] ? size : sizes[i]);
        size = sizes[i];
        fill_pattern(piece, size);
        assert_int_equal(smp_quota_used(&quota), malloc_usable_size(piece));
        assert_int_equal(smp_alloc_live_bytes(), smp_quota_used(&quota));
    }
    smp_free(&quota, piece);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void realloc_refused_leaves_the_old_piece(void **state)
{
    struct failing_alloc failing;
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 1000);
    unsigned char *piece = smp_alloc(&quota, 600);
    assert_non_null(piece);
    fill_pattern(piece, 600);
    const size_t used = smp_quota_used(&quota);

    assert_null(smp_realloc(&quota, piece, 900)); /* both pieces would exist for a moment */
    assert_null(smp_realloc(&quota, piece, 5000));
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_null(smp_realloc(&quota, piece, 700));
    assert_null(smp_realloc(&quota, piece, 10));
    assert_int_equal(failing_alloc_disarm(&failing), 2);
    assert_int_equal(smp_quota_used(&quota), used);
    assert_pattern(piece, 600);

    piece = smp_realloc(&quota, piece, 10); /* shrinking needs no room */
    assert_non_null(piece);
    assert_pattern(piece, 10);
    assert_true(smp_quota_used(&quota) < used);
    smp_free(&quota, piece);
}

static void strndup_copies_and_ends_with_nul(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, KIB);
    char *copy = smp_strndup(&quota, "threads", 6);
    assert_string_equal(copy, "thread");
    char *empty = smp_strndup(&quota, NULL, 0);
    assert_string_equal(empty, "");
    char *embedded = smp_strndup(&quota, "a\0b", 3);
    assert_memory_equal(embedded, "a\0b", 4);
    smp_free(&quota, copy);
    smp_free(&quota, empty);
    smp_free(&quota, embedded);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* Returns whether a read of the byte would succeed. A system call tests it without a fault. */
static bool is_readable(const void *at)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool readable = false;

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        char *rest = line; /* from-to mode ... */
        const uintptr_t from = (uintptr_t)strtoull(rest, &rest, 16);
        const uintptr_t to = (uintptr_t)strtoull(rest + 1, &rest, 16);
        if ((uintptr_t)at >= from && (uintptr_t)at < to)
            readable = rest[1] == 'r';
    }
    (void)fclose(maps);
    return readable;
}

static void a_reserved_range_costs_nothing_until_committed(void **state)
{
    const size_t reserved = (size_t)1 << 32;
    const size_t step = 16 * page();
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 4 * step);
    char *base = smp_map_reserve(reserved);
    assert_non_null(base);
    assert_int_equal((uintptr_t)base % page(), 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    assert_false(is_readable(base));

    assert_true(smp_map_commit(&quota, base, step));
    assert_int_equal(smp_quota_used(&quota), step);
    assert_int_equal(smp_alloc_live_bytes(), step);
    assert_true(is_zero(base, step));
    memset(base, 0xAA, step);
    assert_false(is_readable(base + step));

    smp_map_release(&quota, base, reserved, step);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void commit_refused_changes_nothing(void **state)
{
    struct failing_alloc failing;
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 2 * page());
    char *base = smp_map_reserve(8 * page());
    assert_non_null(base);
    assert_true(smp_map_commit(&quota, base, page()));
    assert_false(smp_map_commit(&quota, base + page(), 2 * page()));
    failing_alloc_arm(&failing, 1, 1);
    assert_false(smp_map_commit(&quota, base + page(), page()));
    failing_alloc_disarm(&failing);
    assert_int_equal(smp_quota_used(&quota), page());
    assert_false(is_readable(base + page()));
    assert_true(smp_map_commit(&quota, base + page(), page()));

    base[page()] = 1;
    assert_true(smp_map_decommit(&quota, base + page(), page()));
    assert_int_equal(smp_quota_used(&quota), page());
    assert_false(is_readable(base + page()));
    assert_false(smp_map_decommit(&quota, base + 1, page())); /* the system fails: no page */
    assert_int_equal(smp_quota_used(&quota), page());
    assert_true(smp_map_commit(&quota, base + page(), page()));
    assert_int_equal(base[page()], 0);

    assert_false(smp_map_commit(&quota, base + 1, page())); /* the system fails: no page */
    assert_int_equal(smp_quota_used(&quota), 2 * page());
    smp_map_release(&quota, base, 8 * page(), 2 * page());
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void reserve_refused_gives_null(void **state)
{
    struct failing_alloc failing;

    (void)state;
    assert_null(smp_map_reserve(SIZE_MAX - page()));
    assert_null(smp_map_reserve(0));
    failing_alloc_arm(&failing, 1, 1);
    assert_null(smp_map_reserve(page()));
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    smp_map_release(NULL, NULL, 0, 0);
}

static enum smp_status allocate_three(void *self)
{
    struct smp_quota *quota = self;
    void *first = smp_alloc(quota, 10);
    void *second = smp_realloc(quota, NULL, 20);
    char *third = smp_strndup(quota, "abc", 3);
    const bool all = first != NULL && second != NULL && third != NULL;

    smp_free(quota, first);
    smp_free(quota, second);
    smp_free(quota, third);
    return all ? SMP_OK : SMP_ENOMEM;
}

static void the_refuser_is_called_before_each_allocation(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, KIB);
    const struct failing_alloc_steps steps = failing_alloc_each_step(allocate_three, &quota);
    assert_int_equal(steps.refused, 3);
    assert_int_equal(steps.survived, 0);
    assert_int_equal(smp_quota_used(&quota), 0);
    assert_int_equal(atomic_load(&quota.refused), 0); /* the quota did not refuse */
}

struct race {
    struct smp_quota quota;
    pthread_barrier_t start;
    int64_t end_ns;
    _Atomic size_t laps;
    _Atomic size_t over; /* how often used was seen above the limit */
    _Atomic size_t taken;
};

static void run_race(struct race *race, void *(*racer)(void *))
{
    pthread_t threads[RACERS];

    assert_int_equal(pthread_barrier_init(&race->start, NULL, RACERS), 0);
    for (size_t i = 0; i < RACERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, racer, race), 0);
    for (size_t i = 0; i < RACERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&race->start), 0);
}

/* Only takes and returns bytes, so that the threads often collide. The peak shows whether the
 * limit was exceeded. */
static void *race_for_the_quota(void *self)
{
    struct race *race = self;
    size_t laps = 0;
    size_t taken = 0;
    size_t over = 0;

    (void)pthread_barrier_wait(&race->start);
    while (laps % LAPS != 0 || smp_clock_ns() < race->end_ns) {
        const size_t bytes = 5 + laps++ % 4;
        if (!smp_quota_take(&race->quota, bytes))
            continue;
        if (smp_quota_used(&race->quota) > race->quota.limit_bytes)
            over++;
        taken++;
        smp_quota_give(&race->quota, bytes);
    }
    atomic_fetch_add(&race->laps, laps);
    atomic_fetch_add(&race->taken, taken);
    atomic_fetch_add(&race->over, over);
    return NULL;
}

static void racing_threads_never_pass_the_limit(void **state)
{
    static struct race race;

    (void)state;
    smp_quota_init(&race.quota, 9); /* room for one thread at a time */
    race.end_ns = smp_clock_ns() + RACE_NS;
    run_race(&race, race_for_the_quota);
    assert_int_equal(atomic_load(&race.over), 0);
    assert_int_equal(smp_quota_used(&race.quota), 0);
    assert_true(atomic_load(&race.quota.peak) <= 9);
    assert_int_equal(atomic_load(&race.taken) + atomic_load(&race.quota.refused),
                     atomic_load(&race.laps));
}

static void *fill_the_quota(void *self)
{
    struct race *race = self;

    (void)pthread_barrier_wait(&race->start);
    while (smp_quota_take(&race->quota, 1)) {
        if (atomic_fetch_add(&race->taken, 1) >= PLENTY)
            break; /* a quota that was exceeded may never refuse again */
    }
    return NULL;
}

static void racing_threads_can_use_the_whole_quota(void **state)
{
    static struct race race;

    (void)state;
    smp_quota_init(&race.quota, PLENTY);
    run_race(&race, fill_the_quota);
    assert_int_equal(atomic_load(&race.taken), PLENTY);
    assert_int_equal(smp_quota_used(&race.quota), PLENTY);
    assert_int_equal(atomic_load(&race.quota.peak), PLENTY);
    assert_int_equal(atomic_load(&race.quota.refused), RACERS);
    smp_quota_give(&race.quota, PLENTY);
}

#define TEST(function) cmocka_unit_test_teardown(function, nothing_is_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_quota_refuses_at_its_limit_and_not_before),
        TEST(bytes_taken_count_for_the_process),
        TEST(a_piece_is_zeroed_and_charged_with_its_real_size),
        TEST(without_a_quota_only_the_process_total_changes),
        TEST(a_full_quota_refuses_pieces_and_changes_nothing),
        TEST(realloc_keeps_the_content_and_charges_the_new_size),
        TEST(realloc_refused_leaves_the_old_piece),
        TEST(strndup_copies_and_ends_with_nul),
        TEST(a_reserved_range_costs_nothing_until_committed),
        TEST(commit_refused_changes_nothing),
        TEST(reserve_refused_gives_null),
        TEST(the_refuser_is_called_before_each_allocation),
        TEST(racing_threads_never_pass_the_limit),
        TEST(racing_threads_can_use_the_whole_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
