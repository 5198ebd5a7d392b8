/* SPDX-License-Identifier: Apache-2.0 */
/* Each deadline is taken exactly once, and in time. */
#include "engine/threads/timer_wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct entry {
    struct smp_deadline due; /* first */
    uint64_t at;
    bool is_in;
};

static size_t take_all(struct smp_timer_wheel *wheel, uint64_t now)
{
    size_t count = 0;

    smp_timer_wheel_begin(wheel, now);
    for (struct smp_deadline *due = smp_timer_wheel_next(wheel); due != NULL;
         due = smp_timer_wheel_next(wheel)) {
        struct entry *entry = (struct entry *)(void *)due;
        assert_true(entry->is_in);
        assert_true(entry->at <= now);
        entry->is_in = false;
        count++;
    }
    return count;
}

static void put(struct smp_timer_wheel *wheel, struct entry *entry, uint64_t at)
{
    entry->at = at;
    entry->is_in = true;
    smp_timer_wheel_put(wheel, &entry->due, at);
}

static void equal_deadlines_are_first_in_first_out(void **state)
{
    static struct smp_timer_wheel wheel;
    struct entry entries[10] = { 0 };

    (void)state;
    wheel = (struct smp_timer_wheel){ 0 };
    for (int i = 0; i < 10; i++)
        put(&wheel, &entries[i], 5000);
    smp_timer_wheel_begin(&wheel, 4999);
    assert_null(smp_timer_wheel_next(&wheel));
    smp_timer_wheel_begin(&wheel, 5000);
    for (int i = 0; i < 10; i++)
        assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[i].due);
    assert_null(smp_timer_wheel_next(&wheel));
    smp_timer_wheel_begin(&wheel, 5000);
    assert_null(smp_timer_wheel_next(&wheel));
}

/* After an early stop the remaining entries are first; entries put or removed meanwhile change
 * nothing. */
static void taking_may_stop_early(void **state)
{
    static struct smp_timer_wheel wheel;
    struct entry entries[6] = { 0 };

    (void)state;
    wheel = (struct smp_timer_wheel){ 0 };
    for (unsigned i = 0; i < 5; i++)
        put(&wheel, &entries[i], 5 + i / 2);
    smp_timer_wheel_begin(&wheel, 8);
    assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[0].due);
    /* The next entry in the same slot is removed, another one is put for later, and one is put
     * again. */
    smp_timer_wheel_remove(&wheel, &entries[1].due);
    smp_timer_wheel_put(&wheel, &entries[0].due, 9);
    assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[2].due);
    smp_timer_wheel_put(&wheel, &entries[2].due, entries[2].at);
    put(&wheel, &entries[5], 9);
    /* Much later, the entries that were left come first, in their order. */
    smp_timer_wheel_begin(&wheel, 12);
    assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[3].due);
    assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[2].due);
    assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[4].due);
    assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[0].due);
    assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[5].due);
    assert_null(smp_timer_wheel_next(&wheel));
}

/* Takes one of many entries at each tick: after more than a turn of the wheel, the first ones are
 * still first. */
static void the_line_keeps_its_order_for_longer_than_a_turn(void **state)
{
    enum { ENTRIES = 3 * SMP_TIMER_WHEEL_SLOTS };
    static struct smp_timer_wheel wheel;
    static struct entry entries[ENTRIES];
    struct entry later[SMP_TIMER_WHEEL_SLOTS] = { 0 };

    (void)state;
    wheel = (struct smp_timer_wheel){ 0 };
    for (unsigned i = 0; i < ENTRIES; i++)
        put(&wheel, &entries[i], 5);
    for (unsigned i = 0; i < SMP_TIMER_WHEEL_SLOTS; i++)
        put(&wheel, &later[i], 6 + i);
    for (unsigned i = 0; i < ENTRIES; i++) {
        smp_timer_wheel_begin(&wheel, 5 + i);
        assert_ptr_equal(smp_timer_wheel_next(&wheel), &entries[i].due);
    }
    assert_int_equal(take_all(&wheel, 5 + ENTRIES), SMP_TIMER_WHEEL_SLOTS);
}

static void past_deadlines_are_taken_now(void **state)
{
    static struct smp_timer_wheel wheel;
    struct entry entry = { .is_in = false };

    (void)state;
    wheel = (struct smp_timer_wheel){ 0 };
    assert_int_equal(take_all(&wheel, 900), 0);
    put(&wheel, &entry, 5);
    assert_int_equal(take_all(&wheel, 900), 1);
    put(&wheel, &entry, 901);
    assert_int_equal(take_all(&wheel, 900), 0);
    assert_int_equal(take_all(&wheel, 901), 1);
}

static void entries_that_were_not_taken_are_taken_now(void **state)
{
    static struct smp_timer_wheel wheel;
    struct entry entry = { .is_in = false };
    const uint64_t now = 90000;

    (void)state;
    wheel = (struct smp_timer_wheel){ 0 };
    put(&wheel, &entry, now);
    assert_int_equal(smp_timer_wheel_first(&wheel, now, now + 9), now);
    assert_int_equal(take_all(&wheel, now), 1);
    assert_int_equal(smp_timer_wheel_first(&wheel, now, now + 9), now + 9);
    put(&wheel, &entry, now + 5);
    assert_int_equal(smp_timer_wheel_first(&wheel, now, now + 9), now + 5);
    put(&wheel, &entry, now - 5);
    assert_int_equal(smp_timer_wheel_first(&wheel, now, now + 9), now);
}

static void random_entries_are_taken_at_their_deadlines(void **state)
{
    enum { ENTRIES = 100, ROUNDS = 20000 };
    static struct smp_timer_wheel wheel;
    static struct entry entries[ENTRIES];
    uint64_t random = 12345;
    uint64_t now = 77777;
    int exact = 0;

    (void)state;
    wheel = (struct smp_timer_wheel){ 0 };
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct entry *entry = &entries[(random >> 33) % ENTRIES];
        if (entry->is_in && (random >> 50) % 4 == 0) {
            smp_timer_wheel_remove(&wheel, &entry->due);
            smp_timer_wheel_remove(&wheel, &entry->due); /* no effect */
            entry->is_in = false;
        } else {
            /* From the past up to three turns ahead. */
            put(&wheel, entry, now - 1 + (random >> 20) % (UINT64_C(3) * SMP_TIMER_WHEEL_SLOTS));
        }
        now += (random >> 45) % 3 * ((random >> 60) == 0 ? SMP_TIMER_WHEEL_SLOTS / 2 : 1);
        (void)take_all(&wheel, now);
        /* No entry is taken early; if none was removed, one is taken at the reported time. */
        const uint64_t most = now + SMP_TIMER_WHEEL_SLOTS - 1;
        uint64_t first = most;
        for (int i = 0; i < ENTRIES; i++) {
            assert_false(entries[i].is_in && entries[i].at <= now);
            if (entries[i].is_in && entries[i].at < first)
                first = entries[i].at;
        }
        const uint64_t found = smp_timer_wheel_first(&wheel, now, most);
        assert_true(found <= first && found >= now);
        exact += found == first;
    }
    assert_true(exact > ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_deadlines_are_first_in_first_out),
        cmocka_unit_test(taking_may_stop_early),
        cmocka_unit_test(the_line_keeps_its_order_for_longer_than_a_turn),
        cmocka_unit_test(past_deadlines_are_taken_now),
        cmocka_unit_test(entries_that_were_not_taken_are_taken_now),
        cmocka_unit_test(random_entries_are_taken_at_their_deadlines),
    };
    return cmocka_run_group_tests_name("timer_wheel", tests, NULL, NULL);
}
