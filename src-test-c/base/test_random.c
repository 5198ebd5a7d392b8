/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROUNDS = 100000, BOXES = 10 };

static void assert_even(const int *boxes)
{
    for (int box = 0; box < BOXES; box++)
        assert_in_range(boxes[box], ROUNDS / BOXES * 95 / 100, ROUNDS / BOXES * 105 / 100);
}

static void every_seed_gives_numbers(void **state)
{
    const uint64_t seeds[] = { 0, 1, 42, UINT64_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        uint64_t random = seeds[i];
        int boxes[BOXES] = { 0 };
        for (int round = 0; round < ROUNDS; round++)
            boxes[smp_random_next(&random) % BOXES]++;
        assert_even(boxes);
    }
}

static void neighbouring_seeds_give_unrelated_numbers(void **state)
{
    int low[BOXES] = { 0 };
    int high[BOXES] = { 0 };

    (void)state;
    for (uint64_t value = 0; value < ROUNDS; value++) {
        const uint64_t random = smp_random_of(value);
        assert_int_equal(random, smp_random_of(value));
        low[random % BOXES]++;
        high[(random >> 32) * BOXES >> 32]++;
    }
    assert_even(low);
    assert_even(high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seed_gives_numbers),
        cmocka_unit_test(neighbouring_seeds_give_unrelated_numbers),
    };

    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
