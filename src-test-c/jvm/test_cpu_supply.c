/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/threads/cpu_supply.h"

enum { NS_PER_TICK = 10000000 };

static void the_folder_of_the_control_group_is_found(void **state)
{
    static const struct {
        const char *groups;
        const char *path; /* NULL: none */
    } cases[] = {
        { "0::/system.slice/app.service\n", "/sys/fs/cgroup/system.slice/app.service" },
        { "0::/\n", "/sys/fs/cgroup/" },
        { "4:memory:/a\n3:cpu,cpuacct:/docker/1\n0::/x\n", "/sys/fs/cgroup/cpu,cpuacct/docker/1" },
        { "0::/x\n3:cpu:/docker/1\n", "/sys/fs/cgroup/cpu/docker/1" },
        { "4:cpuset:/a\n", NULL },
        { "4:memory:/a", NULL },
        { "nonsense\n\n:\n", NULL },
        { "", NULL },
    };
    char path[SMP_CPU_QUOTA_PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(smp_cpu_quota_folder(cases[i].groups, path, sizeof(path)),
                         cases[i].path != NULL);
        if (cases[i].path != NULL)
            assert_string_equal(path, cases[i].path);
    }
}

static void a_quota_is_relative_to_its_period(void **state)
{
    (void)state;
    assert_int_equal(smp_cpu_quota_parse_milli("150000 100000\n", " 100000\n"), 1500);
    assert_int_equal(smp_cpu_quota_parse_milli("50000\n", "100000\n"), 500);
    assert_int_equal(smp_cpu_quota_parse_milli("max 100000\n", " 100000\n"), 0);
    assert_int_equal(smp_cpu_quota_parse_milli("-1\n", "100000\n"), 0);
    assert_int_equal(smp_cpu_quota_parse_milli("150000", ""), 0);
    assert_int_equal(smp_cpu_quota_parse_milli("150000", "0"), 0);
    assert_int_equal(smp_cpu_quota_parse_milli("9999999999999", "100000"), 0);
    (void)smp_cpu_quota_milli(); /* its value on this machine does not matter */
}

static void both_versions_of_control_groups_are_read(void **state)
{
    (void)state;
    assert_int_equal(smp_cpu_quota_parse("usage_usec 9\nnr_throttled 3\nthrottled_usec 1500\n"),
                     1500000);
    assert_int_equal(smp_cpu_quota_parse("nr_periods 4\nthrottled_time 4450000000\n"), 4450000000);
    assert_int_equal(smp_cpu_quota_parse("usage_usec 9\n"), 0);
    assert_int_equal(smp_cpu_quota_parse(""), 0);
    assert_true(smp_cpu_quota_throttled_ns() >= 0);
}

static void the_first_line_covers_all_cpus(void **state)
{
    struct smp_machine_time time;

    (void)state;
    smp_machine_time_parse("cpu  400 10 50 1000 20 3 7 90 5 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n",
                           NS_PER_TICK, &time);
    assert_int_equal(time.worked_ns, INT64_C(470) * NS_PER_TICK);
    assert_int_equal(time.stolen_ns, INT64_C(90) * NS_PER_TICK);
}

static void other_texts_give_zeros(void **state)
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

static void this_machine_reports_its_cpu_time(void **state)
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
        cmocka_unit_test(the_folder_of_the_control_group_is_found),
        cmocka_unit_test(a_quota_is_relative_to_its_period),
        cmocka_unit_test(both_versions_of_control_groups_are_read),
        cmocka_unit_test(the_first_line_covers_all_cpus),
        cmocka_unit_test(other_texts_give_zeros),
        cmocka_unit_test(this_machine_reports_its_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
