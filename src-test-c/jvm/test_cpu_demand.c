/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/cpu_demand.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "support/one_cpu.h"

static void demand_means_more_threads_than_half_of_the_other_cpus(void **state)
{
    (void)state;
    /* The one thread that is always runnable is the reader. */
    assert_false(smp_cpu_demand_exceeds("0.20 0.18 0.12 1/80 11206\n", 1));
    assert_true(smp_cpu_demand_exceeds("0.20 0.18 0.12 2/80 11206\n", 1));
    assert_false(smp_cpu_demand_exceeds("0.20 0.18 0.12 1/80 11206\n", 2));
    assert_true(smp_cpu_demand_exceeds("0.20 0.18 0.12 2/80 11206\n", 2));
    assert_false(smp_cpu_demand_exceeds("0.20 0.18 0.12 8/80 11206\n", 16));
    assert_true(smp_cpu_demand_exceeds("0.20 0.18 0.12 9/80 11206\n", 16));
    assert_true(smp_cpu_demand_exceeds("100.20 0.18 0.12 1000/8000 11206\n", 1024));
}

static void an_unknown_text_means_maybe(void **state)
{
    static const char *const texts[] = {
        "",
        "0.20",
        "0.20 0.18 0.12",
        "0.20 0.18 0.12 ",
        "0.20 0.18 0.12 x/80",
        "\n",
        "0.1 0.1 0.1 1 80",
        "0.1 0.1 0.1 0/80 1",
        "0.1 0.1 0.1 -1/80",
        "0.1 0.1 0.1  1/80",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_true(smp_cpu_demand_exceeds(texts[i], 64));
    assert_true(smp_cpu_demand_exceeds("0.20 0.18 0.12 1/80 11206\n", 0));
}

static void *spin(void *over)
{
    while (!atomic_load((atomic_bool *)over))
        ;
    return NULL;
}

static int64_t fake_ns;

static int64_t read_fake_ns(void *self)
{
    (void)self;
    return fake_ns;
}

/* Two threads share a CPU, so one waits. The result is not read again before its time. */
static void a_thread_that_shares_the_cpu_is_demand(void **state)
{
    static const struct smp_clock_fake clock = { .ns = read_fake_ns };
    struct smp_cpu_demand demand;
    atomic_bool over = false;
    cpu_set_t before;
    pthread_t other;

    (void)state;
    confine_to_one_cpu(&before);
    smp_clock_set_fake(&clock);
    smp_cpu_demand_init(&demand);
    assert_true(demand.fd >= 0);
    assert_int_equal(pthread_create(&other, NULL, spin, &over), 0);
    assert_true(smp_cpu_demand_may_wait(&demand));
    demand.may_wait = false;
    fake_ns += SMP_CPU_DEMAND_US * 1000 - 1;
    assert_false(smp_cpu_demand_may_wait(&demand));
    fake_ns++;
    assert_true(smp_cpu_demand_may_wait(&demand));
    atomic_store(&over, true);
    (void)pthread_join(other, NULL);
    smp_cpu_demand_fini(&demand);
    smp_clock_set_fake(NULL);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void a_missing_file_means_maybe(void **state)
{
    struct smp_cpu_demand demand = { .fd = -1 };

    (void)state;
    assert_true(smp_cpu_demand_may_wait(&demand));
    smp_cpu_demand_fini(&demand);
    int ends[2];
    assert_int_equal(pipe(ends), 0); /* a pipe cannot be read at a position */
    demand.fd = ends[0];
    assert_true(smp_cpu_demand_may_wait(&demand));
    smp_cpu_demand_fini(&demand);
    (void)close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demand_means_more_threads_than_half_of_the_other_cpus),
        cmocka_unit_test(an_unknown_text_means_maybe),
        cmocka_unit_test(a_thread_that_shares_the_cpu_is_demand),
        cmocka_unit_test(a_missing_file_means_maybe),
    };
    return cmocka_run_group_tests_name("cpu_demand", tests, NULL, NULL);
}
