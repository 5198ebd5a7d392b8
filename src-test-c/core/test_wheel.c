/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever is due is taken once, in time, and nobody else is. */
#include "core/wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define QUANTUM INT64_C(1000)

struct entry {
    struct smp_due due; /* first */
    int64_t at_ns;
    bool is_in;
};

static size_t take_all(struct smp_wheel *wheel, int64_t now_ns)
{
    size_t count = 0;

    smp_wheel_begin(wheel, now_ns);
    for (struct smp_due *due = smp_wheel_next(wheel); due != NULL; due = smp_wheel_next(wheel)) {
        struct entry *entry = (struct entry *)(void *)due;
        assert_true(entry->is_in);
        assert_true(entry->at_ns <= now_ns);
        entry->is_in = false;
        count++;
    }
    return count;
}

static void put(struct smp_wheel *wheel, struct entry *entry, int64_t at_ns)
{
    entry->at_ns = at_ns;
    entry->is_in = true;
    smp_wheel_put(wheel, &entry->due, at_ns);
}

static void equals_come_in_the_order_they_were_put(void **state)
{
    static struct smp_wheel wheel;
    struct entry entries[10] = { 0 };

    (void)state;
    smp_wheel_init(&wheel, QUANTUM);
    for (int i = 0; i < 10; i++)
        put(&wheel, &entries[i], 5000);
    smp_wheel_begin(&wheel, 4999);
    assert_null(smp_wheel_next(&wheel));
    smp_wheel_begin(&wheel, 5000);
    for (int i = 0; i < 10; i++)
        assert_ptr_equal(smp_wheel_next(&wheel), &entries[i].due);
    assert_null(smp_wheel_next(&wheel));
    smp_wheel_begin(&wheel, 5000);
    assert_null(smp_wheel_next(&wheel));
}

/* Stopping early leaves the rest first in line; what is put or removed meanwhile harms nobody. */
static void a_taking_may_stop_early(void **state)
{
    static struct smp_wheel wheel;
    struct entry entries[6] = { 0 };

    (void)state;
    smp_wheel_init(&wheel, QUANTUM);
    for (int i = 0; i < 5; i++)
        put(&wheel, &entries[i], 5000 + i * QUANTUM / 2);
    smp_wheel_begin(&wheel, 8000);
    assert_ptr_equal(smp_wheel_next(&wheel), &entries[0].due);
    /* The next one in the same slot is removed, another is put for later, one is put back. */
    smp_wheel_remove(&wheel, &entries[1].due);
    smp_wheel_put(&wheel, &entries[0].due, 8001);
    assert_ptr_equal(smp_wheel_next(&wheel), &entries[2].due);
    smp_wheel_put(&wheel, &entries[2].due, entries[2].at_ns);
    put(&wheel, &entries[5], 8500);
    /* Much later: those that were left come first, in their order. */
    smp_wheel_begin(&wheel, 9000);
    assert_ptr_equal(smp_wheel_next(&wheel), &entries[3].due);
    assert_ptr_equal(smp_wheel_next(&wheel), &entries[2].due);
    assert_ptr_equal(smp_wheel_next(&wheel), &entries[4].due);
    assert_ptr_equal(smp_wheel_next(&wheel), &entries[0].due);
    assert_ptr_equal(smp_wheel_next(&wheel), &entries[5].due);
    assert_null(smp_wheel_next(&wheel));
}

static void what_is_due_in_the_past_is_due_now(void **state)
{
    static struct smp_wheel wheel;
    struct entry entry = { .is_in = false };

    (void)state;
    smp_wheel_init(&wheel, QUANTUM);
    assert_int_equal(take_all(&wheel, 900 * QUANTUM), 0);
    put(&wheel, &entry, 5 * QUANTUM);
    assert_int_equal(take_all(&wheel, 900 * QUANTUM), 1);
    put(&wheel, &entry, 900 * QUANTUM + 1);
    assert_int_equal(take_all(&wheel, 900 * QUANTUM), 0);
    assert_int_equal(take_all(&wheel, 900 * QUANTUM + 1), 1);
}

static void what_has_not_been_taken_is_due_now(void **state)
{
    static struct smp_wheel wheel;
    struct entry entry = { .is_in = false };
    const int64_t now_ns = 90000 * QUANTUM;

    (void)state;
    smp_wheel_init(&wheel, QUANTUM);
    put(&wheel, &entry, now_ns);
    assert_int_equal(smp_wheel_first_ns(&wheel, now_ns, now_ns + QUANTUM), now_ns);
    assert_int_equal(take_all(&wheel, now_ns), 1);
    assert_int_equal(smp_wheel_first_ns(&wheel, now_ns, now_ns + QUANTUM), now_ns + QUANTUM);
    put(&wheel, &entry, now_ns + QUANTUM / 2);
    assert_int_equal(smp_wheel_first_ns(&wheel, now_ns, now_ns + QUANTUM), now_ns + QUANTUM / 2);
}

static void random_entries_are_taken_when_they_are_due(void **state)
{
    enum { ENTRIES = 500, ROUNDS = 20000 };
    static struct smp_wheel wheel;
    static struct entry entries[ENTRIES];
    uint64_t random = 12345;
    int64_t now_ns = 77777;
    int exact = 0;

    (void)state;
    smp_wheel_init(&wheel, QUANTUM);
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct entry *entry = &entries[(random >> 33) % ENTRIES];
        if (entry->is_in && (random >> 50) % 4 == 0) {
            smp_wheel_remove(&wheel, &entry->due);
            smp_wheel_remove(&wheel, &entry->due); /* harmless */
            entry->is_in = false;
        } else {
            /* From the past to three turns ahead. */
            put(&wheel, entry,
                now_ns - QUANTUM +
                    (int64_t)((random >> 20) % (3 * SMP_WHEEL_SLOTS * (uint64_t)QUANTUM)));
        }
        now_ns += (int64_t)((random >> 45) % 300) *
                  ((random >> 60) == 0 ? SMP_WHEEL_SLOTS * QUANTUM / 100 : 1);
        (void)take_all(&wheel, now_ns);
        /* Nobody is due before, and where none was removed somebody is due then. */
        const int64_t most_ns = now_ns + (SMP_WHEEL_SLOTS - 1) * QUANTUM;
        int64_t first_ns = most_ns;
        for (int i = 0; i < ENTRIES; i++) {
            assert_false(entries[i].is_in && entries[i].at_ns <= now_ns);
            if (entries[i].is_in && entries[i].at_ns < first_ns)
                first_ns = entries[i].at_ns;
        }
        const int64_t told_ns = smp_wheel_first_ns(&wheel, now_ns, most_ns);
        assert_true(told_ns <= first_ns);
        assert_true(told_ns / QUANTUM >= now_ns / QUANTUM);
        exact += told_ns == first_ns;
    }
    assert_true(exact > ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_come_in_the_order_they_were_put),
        cmocka_unit_test(a_taking_may_stop_early),
        cmocka_unit_test(what_is_due_in_the_past_is_due_now),
        cmocka_unit_test(what_has_not_been_taken_is_due_now),
        cmocka_unit_test(random_entries_are_taken_when_they_are_due),
    };
    return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}
