/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/machine_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { NS_PER_TICK = 10000000 };

static void the_first_line_is_of_all_cpus(void **state)
{
    struct smp_machine_time time;

    (void)state;
    smp_machine_time_parse("cpu  400 10 50 1000 20 3 7 90 5 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n",
                           NS_PER_TICK, &time);
    assert_int_equal(time.worked_ns, INT64_C(470) * NS_PER_TICK);
    assert_int_equal(time.stolen_ns, INT64_C(90) * NS_PER_TICK);
}

static void other_texts_say_nothing(void **state)
{
    static const char *const texts[] = {
        "",
        "cpu",
        "cpu ",
        "cpu  1 2 3 4 5 6 7",
        "cpu  1 2 3 4 5 6 seven 8",
        "cpu0 1 2 3 4 5 6 7 8",
        "intr 1 2 3 4 5 6 7 8",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct smp_machine_time time = { .worked_ns = 1, .stolen_ns = 1 };
        smp_machine_time_parse(texts[i], NS_PER_TICK, &time);
        assert_int_equal(time.worked_ns, 0);
        assert_int_equal(time.stolen_ns, 0);
    }
}

static void this_machine_has_worked(void **state)
{
    struct smp_machine_time time;

    (void)state;
    smp_machine_time_read(&time);
    assert_true(time.worked_ns > 0);
    assert_true(time.stolen_ns >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_is_of_all_cpus),
        cmocka_unit_test(other_texts_say_nothing),
        cmocka_unit_test(this_machine_has_worked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
