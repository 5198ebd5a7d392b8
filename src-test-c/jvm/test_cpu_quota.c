/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/threads/cpu_quota.h"

static void the_file_of_the_group_is_found(void **state)
{
    static const struct {
        const char *groups;
        const char *path; /* NULL: none */
    } cases[] = {
        { "0::/system.slice/app.service\n", "/sys/fs/cgroup/system.slice/app.service/cpu.stat" },
        { "0::/\n", "/sys/fs/cgroup//cpu.stat" },
        { "4:memory:/a\n3:cpu,cpuacct:/docker/1\n0::/x\n",
          "/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.stat" },
        { "0::/x\n3:cpu:/docker/1\n", "/sys/fs/cgroup/cpu/docker/1/cpu.stat" },
        { "4:cpuset:/a\n", NULL },
        { "4:memory:/a", NULL },
        { "nonsense\n\n:\n", NULL },
        { "", NULL },
    };
    char path[SMP_CPU_QUOTA_PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(smp_cpu_quota_path(cases[i].groups, path, sizeof(path)),
                         cases[i].path != NULL);
        if (cases[i].path != NULL)
            assert_string_equal(path, cases[i].path);
    }
}

static void both_versions_are_read(void **state)
{
    (void)state;
    assert_int_equal(smp_cpu_quota_parse("usage_usec 9\nnr_throttled 3\nthrottled_usec 1500\n"),
                     1500000);
    assert_int_equal(smp_cpu_quota_parse("nr_periods 4\nthrottled_time 4450000000\n"), 4450000000);
    assert_int_equal(smp_cpu_quota_parse("usage_usec 9\n"), 0);
    assert_int_equal(smp_cpu_quota_parse(""), 0);
    assert_true(smp_cpu_quota_throttled_ns() >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_of_the_group_is_found),
        cmocka_unit_test(both_versions_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
