/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "base/alloc.h"
#include "base/random.h"
#include "jvm/threads/registry.h"
#include "support/failing_alloc.h"

enum { MANY = 1000 };

static struct smp_registry registry = SMP_REGISTRY_INIT;

static struct smp_jvm_thread *make(int64_t java_id)
{
    struct smp_jvm_thread *entry = smp_alloc(NULL, sizeof(*entry));

    if (entry != NULL)
        entry->java_id = java_id;
    return entry;
}

static struct smp_jvm_thread *add(int64_t java_id)
{
    struct smp_jvm_thread *entry = make(java_id);

    assert_non_null(entry);
    assert_true(smp_registry_add(&registry, entry));
    return entry;
}

static void end(int64_t java_id)
{
    smp_free(NULL, smp_registry_end(&registry, java_id, 5, 0));
}

static void release(struct smp_jvm_thread *entry)
{
    smp_free(NULL, smp_registry_release(&registry, entry));
}

static void close_all(void)
{
    struct smp_jvm_thread *entry = smp_registry_close(&registry);

    while (entry != NULL) {
        struct smp_jvm_thread *next = entry->next;
        smp_free(NULL, entry);
        entry = next;
    }
}

static int setup(void **state)
{
    (void)state;
    return smp_registry_open(&registry) == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    close_all();
    return smp_alloc_live_bytes() == 0 ? 0 : -1;
}

static void threads_come_in_order_of_their_starts(void **state)
{
    struct smp_jvm_thread *batch[8];
    uint64_t newest = 0;

    (void)state;
    const struct smp_jvm_thread *first = add(30);
    const struct smp_jvm_thread *second = add(10);
    const struct smp_jvm_thread *third = add(20);
    assert_int_equal(smp_registry_collect(&registry, 0, batch, 8, &newest), 3);
    assert_ptr_equal(batch[0], first);
    assert_ptr_equal(batch[1], second);
    assert_ptr_equal(batch[2], third);
    assert_int_equal(newest, third->thread.serial);
    assert_int_equal(smp_registry_collect(&registry, second->thread.serial, batch + 3, 5, &newest),
                     1);
    assert_ptr_equal(batch[3], third);
    for (int i = 0; i < 4; i++)
        release(batch[i]);
}

static void a_full_batch_holds_the_oldest(void **state)
{
    struct smp_jvm_thread *batch[2];
    uint64_t newest = 0;

    (void)state;
    const struct smp_jvm_thread *first = add(1);
    const struct smp_jvm_thread *second = add(2);
    (void)add(3);
    assert_int_equal(smp_registry_collect(&registry, first->thread.serial - 1, batch, 2, &newest),
                     2);
    assert_ptr_equal(batch[0], first);
    assert_ptr_equal(batch[1], second);
    release(batch[0]);
    release(batch[1]);
}

/* Indexed by serial since the start of the test; NULL: it has ended. */
enum { ROUNDS = 6000, BATCH = 7 };
static struct smp_jvm_thread *living[ROUNDS + 1];

static void check_collect(uint64_t base, uint64_t after, size_t capacity)
{
    struct smp_jvm_thread *batch[BATCH];
    uint64_t newest = 0;
    uint64_t at = after;
    const size_t count = smp_registry_collect(&registry, base + after, batch, capacity, &newest);

    for (size_t i = 0; i < count; i++) {
        do {
            at++;
        } while (living[at] == NULL);
        assert_ptr_equal(batch[i], living[at]);
        release(batch[i]);
    }
    for (at++; count < capacity && base + at <= newest; at++)
        assert_null(living[at]);
}

/* Readers begin anywhere, and threads end anywhere, also at the end of a batch. */
static void each_batch_has_the_oldest_above_the_cursor(void **state)
{
    const uint64_t base = registry.newest_serial;
    uint64_t random = 42;
    uint64_t made = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t which = made == 0 ? 1 : smp_random_next(&random) % made + 1;
        switch (smp_random_next(&random) % 4) {
        case 0:
            made++;
            living[made] = add((int64_t)(1000 + made));
            break;
        case 1:
            if (made > 0 && living[which] != NULL) {
                end((int64_t)(1000 + which));
                living[which] = NULL;
            }
            break;
        case 2:
            check_collect(base, made == 0 ? 0 : which - 1, 1 + which % BATCH);
            break;
        default: /* one batch after the other */
            for (uint64_t after = 0; after <= made; after += 1 + made / 8)
                check_collect(base, after, BATCH);
        }
    }
}

static void a_thread_is_registered_once(void **state)
{
    struct smp_jvm_thread *second = make(7);

    (void)state;
    struct smp_jvm_thread *known = add(7);
    second->thread.os_tid = 4711;
    assert_false(smp_registry_add(&registry, second));
    assert_int_equal(known->thread.os_tid, 4711); /* a scan could not know it */
    smp_free(NULL, second);
}

static void fields_that_readers_may_read_do_not_change(void **state)
{
    struct smp_jvm_thread *second = make(7);
    struct smp_jvm_thread *batch[1];
    uint64_t newest = 0;

    (void)state;
    struct smp_jvm_thread *known = add(7);
    assert_int_equal(smp_registry_collect(&registry, known->thread.serial - 1, batch, 1, &newest),
                     1);
    second->thread.os_tid = 4711;
    assert_false(smp_registry_add(&registry, second));
    assert_int_equal(known->thread.os_tid, 0);
    smp_free(NULL, second);
    release(batch[0]);
}

static void an_ended_thread_lives_as_long_as_it_is_held(void **state)
{
    struct smp_jvm_thread *batch[2];
    uint64_t newest = 0;

    (void)state;
    struct smp_jvm_thread *entry = add(7);
    const uint64_t before = entry->thread.serial - 1;
    assert_int_equal(smp_registry_collect(&registry, before, batch, 1, &newest), 1);
    assert_int_equal(smp_registry_collect(&registry, before, batch + 1, 1, &newest), 1);
    assert_null(smp_registry_end(&registry, 7, 99, 0));
    assert_int_equal(entry->thread.ended_ns, 99);
    assert_null(smp_registry_end(&registry, 7, 100, 0));
    assert_int_equal(entry->thread.ended_ns, 99);
    assert_null(smp_registry_release(&registry, batch[0]));
    assert_ptr_equal(smp_registry_release(&registry, batch[1]), entry);
    smp_free(NULL, entry);
}

static void a_thread_held_over_close_is_freed_by_its_release(void **state)
{
    struct smp_jvm_thread *batch[1];
    uint64_t newest = 0;

    (void)state;
    struct smp_jvm_thread *entry = add(7);
    assert_int_equal(smp_registry_collect(&registry, entry->thread.serial - 1, batch, 1, &newest),
                     1);
    close_all();
    assert_ptr_equal(smp_registry_release(&registry, batch[0]), entry);
    smp_free(NULL, entry);
}

static void a_closed_registry_accepts_no_thread(void **state)
{
    struct smp_jvm_thread *entry = make(7);

    (void)state;
    close_all();
    assert_false(smp_registry_add(&registry, entry));
    assert_null(smp_registry_end(&registry, 7, 1, 0));
    smp_free(NULL, entry);
}

static void serials_increase_over_close_and_open(void **state)
{
    (void)state;
    const uint64_t before = add(7)->thread.serial;
    close_all();
    assert_int_equal(smp_registry_open(&registry), SMP_OK);
    assert_int_equal(add(7)->thread.serial, before + 1);
}

static void each_of_many_threads_is_found(void **state)
{
    (void)state;
    for (int64_t id = 1; id <= MANY; id++)
        (void)add(id);
    for (int64_t id = 1; id <= MANY; id += 2)
        end(id);
    for (int64_t id = 1; id <= MANY; id++) {
        struct smp_jvm_thread *entry = make(id);
        assert_int_equal(smp_registry_add(&registry, entry), id % 2);
        if (id % 2 == 0)
            smp_free(NULL, entry);
    }
    assert_int_equal(registry.count, MANY);
}

static void the_registry_works_without_memory_for_more_buckets(void **state)
{
    struct smp_jvm_thread *entries[MANY];
    struct failing_alloc failing;

    (void)state;
    for (int i = 0; i < MANY; i++)
        entries[i] = make(i + 1);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    for (int i = 0; i < MANY; i++)
        assert_true(smp_registry_add(&registry, entries[i]));
    assert_true(failing_alloc_disarm(&failing) > 0);
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(smp_registry_end(&registry, i + 1, 1, 0), entries[i]);
    for (int i = 0; i < MANY; i++)
        smp_free(NULL, entries[i]);
}

static void a_failed_open_leaves_nothing(void **state)
{
    struct failing_alloc failing;

    (void)state;
    close_all();
    failing_alloc_arm(&failing, 1, 1);
    assert_int_equal(smp_registry_open(&registry), SMP_ENOMEM);
    (void)failing_alloc_disarm(&failing);
    assert_false(registry.open);
}

static void internal_threads_are_known_by_tid_and_by_id(void **state)
{
    (void)state;
    assert_int_equal(smp_registry_enter(&registry, 100), SMP_OK);
    assert_int_equal(smp_registry_hide(&registry, 7), SMP_OK);
    assert_true(smp_registry_is_internal(&registry, 100, 55));
    assert_true(smp_registry_is_internal(&registry, 0, 7));
    assert_false(smp_registry_is_internal(&registry, 0, 55));
    assert_false(smp_registry_is_internal(&registry, 7, 100));
    smp_registry_leave(&registry, 100);
    assert_false(smp_registry_is_internal(&registry, 100, 55));
    end(7);
    assert_false(smp_registry_is_internal(&registry, 0, 7));
}

static void hiding_marks_the_registered_thread(void **state)
{
    (void)state;
    struct smp_jvm_thread *entry = add(7);
    assert_int_equal(smp_registry_hide(&registry, 7), SMP_OK);
    assert_true(entry->thread.is_hidden);
    assert_int_equal(smp_registry_hide(&registry, 7), SMP_OK); /* a second time has no effect */
    assert_int_equal(registry.internal_count, 1);
    end(7);
    assert_int_equal(registry.internal_count, 0);
}

static void internal_threads_have_a_limit(void **state)
{
    (void)state;
    for (int32_t tid = 1; tid <= SMP_INTERNAL_THREADS_MAX; tid++)
        assert_int_equal(smp_registry_enter(&registry, tid), SMP_OK);
    assert_int_equal(smp_registry_enter(&registry, 9999), SMP_EQUOTA);
    assert_int_equal(smp_registry_hide(&registry, 7), SMP_EQUOTA);
    for (int32_t tid = 1; tid <= SMP_INTERNAL_THREADS_MAX; tid++)
        smp_registry_leave(&registry, tid);
    assert_int_equal(registry.internal_count, 0);
}

static void hidden_threads_that_ended_unnoticed_are_purged(void **state)
{
    (void)state;
    assert_int_equal(smp_registry_hide(&registry, 7), SMP_OK);
    assert_int_equal(smp_registry_hide(&registry, 8), SMP_OK);
    close_all();
    assert_int_equal(smp_registry_open(&registry), SMP_OK);
    assert_true(smp_registry_is_internal(&registry, 0, 7)); /* a scan found it */
    smp_registry_purge(&registry);
    assert_true(smp_registry_is_internal(&registry, 0, 7));
    assert_false(smp_registry_is_internal(&registry, 0, 8));
    end(7);
}

/* -------------------------------------------------------------------------------------- threads */

enum { MAKERS = 4, STARTS = 2000, READERS = 2 };

static _Atomic int makers_left;

/* Each one starts threads with its own ids, twice as scan and event would, and ends them. */
static void *make_and_end(void *arg)
{
    const int64_t base = (int64_t)(intptr_t)arg * STARTS * 10 + 1;

    for (int64_t id = base; id < base + STARTS; id++) {
        struct smp_jvm_thread *entry = make(id);
        struct smp_jvm_thread *second = make(id);
        if (!smp_registry_add(&registry, entry))
            smp_free(NULL, entry);
        if (!smp_registry_add(&registry, second))
            smp_free(NULL, second);
        end(id);
    }
    makers_left--;
    return NULL;
}

struct reader {
    uint64_t first;
    uint64_t last;
    uint64_t disorder;
    uint64_t seen;
};

static void *read_all(void *arg)
{
    struct reader *reader = arg;
    struct smp_jvm_thread *batch[16];
    uint64_t newest = 0;
    uint64_t cursor = reader->first;

    while (makers_left > 0) {
        const size_t count = smp_registry_collect(&registry, cursor, batch, 16, &newest);
        for (size_t i = 0; i < count; i++) {
            if (batch[i]->thread.serial <= cursor)
                reader->disorder++;
            cursor = batch[i]->thread.serial;
            reader->seen += batch[i]->thread.ended_ns == 0;
            release(batch[i]);
        }
        if (count == 0)
            cursor = newest;
        sched_yield();
    }
    reader->last = cursor;
    return NULL;
}

static void starts_and_ends_on_many_threads(void **state)
{
    pthread_t makers[MAKERS];
    pthread_t threads[READERS];
    struct reader readers[READERS] = { { 0 } };

    (void)state;
    const uint64_t before = registry.newest_serial;
    makers_left = MAKERS;
    for (int i = 0; i < READERS; i++) {
        readers[i].first = before;
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (intptr_t i = 0; i < MAKERS; i++)
        assert_int_equal(pthread_create(&makers[i], NULL, make_and_end, (void *)i), 0);
    for (int i = 0; i < MAKERS; i++)
        assert_int_equal(pthread_join(makers[i], NULL), 0);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readers[i].disorder, 0);
    }
    /* one start each, not two: the second one was recognised; and no thread is left */
    assert_int_equal(registry.newest_serial - before, MAKERS * STARTS);
    assert_int_equal(registry.count, 0);
}

static void a_start_calls_each_listener_once(void **state)
{
    struct smp_event events[2] = { 0 };
    struct smp_start_listener listeners[2] = { { .event = &events[0] }, { .event = &events[1] } };

    (void)state;
    assert_true(smp_registry_listen(&registry, registry.newest_serial, &listeners[0]));
    assert_true(smp_registry_listen(&registry, registry.newest_serial, &listeners[1]));
    assert_true(smp_registry_listen(&registry, registry.newest_serial, &listeners[1]));
    (void)add(1);
    (void)add(2);
    assert_int_equal(smp_event_calls(&events[0]), 1);
    assert_int_equal(smp_event_calls(&events[1]), 1);
    end(1);
    end(2);
}

static void a_reader_that_is_behind_cannot_become_a_listener(void **state)
{
    struct smp_event event = { 0 };
    struct smp_start_listener listen = { .event = &event };
    const uint64_t before = registry.newest_serial;

    (void)state;
    (void)add(1);
    assert_false(smp_registry_listen(&registry, before, &listen));
    smp_registry_unlisten(&registry, &listen); /* no effect */
    (void)add(2);
    assert_int_equal(smp_event_calls(&event), 0);
    /* A removed listener is not called, wherever it was in the list. */
    struct smp_start_listener others[2] = { { .event = &event }, { .event = &event } };
    assert_true(smp_registry_listen(&registry, registry.newest_serial, &others[0]));
    assert_true(smp_registry_listen(&registry, registry.newest_serial, &listen));
    assert_true(smp_registry_listen(&registry, registry.newest_serial, &others[1]));
    smp_registry_unlisten(&registry, &listen);
    smp_registry_unlisten(&registry, &others[0]);
    (void)add(3);
    assert_int_equal(smp_event_calls(&event), 1);
    end(1);
    end(2);
    end(3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_start_calls_each_listener_once),
        TEST(a_reader_that_is_behind_cannot_become_a_listener),
        TEST(threads_come_in_order_of_their_starts),
        TEST(a_full_batch_holds_the_oldest),
        TEST(each_batch_has_the_oldest_above_the_cursor),
        TEST(a_thread_is_registered_once),
        TEST(fields_that_readers_may_read_do_not_change),
        TEST(an_ended_thread_lives_as_long_as_it_is_held),
        TEST(a_thread_held_over_close_is_freed_by_its_release),
        TEST(a_closed_registry_accepts_no_thread),
        TEST(serials_increase_over_close_and_open),
        TEST(each_of_many_threads_is_found),
        TEST(the_registry_works_without_memory_for_more_buckets),
        TEST(a_failed_open_leaves_nothing),
        TEST(internal_threads_are_known_by_tid_and_by_id),
        TEST(hiding_marks_the_registered_thread),
        TEST(internal_threads_have_a_limit),
        TEST(hidden_threads_that_ended_unnoticed_are_purged),
        TEST(starts_and_ends_on_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
