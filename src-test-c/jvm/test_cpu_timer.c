/* SPDX-License-Identifier: Apache-2.0 */
/* Artificial signals of timers, and the calculation of a timer's first expiration. */
#include "handler/cpu_timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "jvm/walk/cpu_timers.h"

enum { FRAMES = 16, METHOD = 0x1230 };

static _Atomic bool is_open = true;
static struct smp_cpu_pool pool;
static struct smp_jvm_frame frames[SMP_CPU_SAMPLES][FRAMES];
static struct smp_thread thread;
static unsigned walks;
static struct smp_cpu_timer *set_meanwhile;

static void fake_walk(struct smp_jvm_trace *trace, int32_t depth, void *context)
{
    (void)depth;
    (void)context;
    walks++;
    assert_true(smp_cpu_timer_is_busy());
    if (set_meanwhile != NULL)
        assert_false(smp_cpu_timer_set(set_meanwhile));
    trace->frames[0] = (struct smp_jvm_frame){ .bci = 5, .method = (void *)METHOD };
    trace->frames[1] = (struct smp_jvm_frame){ .bci = 6, .method = (void *)(METHOD + 1) };
    trace->count = 2;
}

static int setup(void **state)
{
    (void)state;
    memset(&pool, 0, sizeof(pool));
    atomic_store(&pool.free, UINT64_MAX);
    for (size_t i = 0; i < SMP_CPU_SAMPLES; i++) {
        pool.samples[i].frames = frames[i];
        pool.samples[i].capacity = FRAMES;
    }
    thread = (struct smp_thread){ 0 };
    walks = 0;
    atomic_store(&is_open, true);
    return 0;
}

static struct smp_cpu_timer *armed(uint64_t *cookie)
{
    struct smp_cpu_timer *timer = smp_cpu_timer_take(cookie);

    assert_non_null(timer);
    timer->target =
        (struct smp_walk_target){ .walk = fake_walk, .env = &pool, .ended_ns = &thread.ended_ns };
    timer->thread = &thread;
    timer->pool = &pool;
    smp_cpu_timer_arm(timer);
    return timer;
}

static void release(struct smp_cpu_timer *timer)
{
    smp_cpu_timer_close(timer);
    smp_cpu_timer_free(timer);
}

static bool signal_with(uint64_t cookie, int overrun)
{
    ucontext_t context;
    siginfo_t info;

    memset(&context, 0, sizeof(context));
    memset(&info, 0, sizeof(info));
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (void *)(uintptr_t)cookie;
    info.si_overrun = overrun;
    assert_true(smp_cpu_timer_is_for(&info));
    return smp_cpu_timer_sample(&info, &context, &is_open);
}

static void only_signals_of_our_timers_are_accepted(void **state)
{
    uint64_t cookie = 0;
    struct smp_cpu_timer *timer = armed(&cookie);
    siginfo_t info;

    (void)state;
    memset(&info, 0, sizeof(info));
    info.si_value.sival_ptr = (void *)(uintptr_t)cookie;
    info.si_code = SI_QUEUE;
    assert_false(smp_cpu_timer_is_for(&info));
    info.si_code = SI_TIMER;
    assert_true(smp_cpu_timer_is_for(&info));
    info.si_timerid = -1; /* as for a request */
    assert_false(smp_cpu_timer_is_for(&info));
    info.si_timerid = INT32_MAX;
    assert_true(smp_cpu_timer_is_for(&info));
    info.si_value.sival_ptr = (void *)(uintptr_t)(cookie ^ 1ULL << 60);
    assert_false(smp_cpu_timer_is_for(&info));
    info.si_value.sival_ptr = (void *)(uintptr_t)(cookie | 0xffffULL << 32);
    assert_false(smp_cpu_timer_is_for(&info));
    release(timer);
}

static void a_sample_has_the_weight_of_its_overruns(void **state)
{
    uint64_t cookie = 0;
    struct smp_cpu_timer *timer = armed(&cookie);

    (void)state;
    set_meanwhile = timer;
    assert_true(signal_with(cookie, 3));
    set_meanwhile = NULL;
    assert_false(smp_cpu_timer_is_busy());
    assert_int_equal(pool.done, 1);
    assert_int_equal(pool.free, UINT64_MAX - 1);
    assert_int_equal(pool.samples[0].weight, 4);
    assert_ptr_equal(pool.samples[0].timer, timer);
    assert_int_equal(pool.samples[0].answer.answer, SMP_ANSWER_WHOLE);
    assert_int_equal(pool.samples[0].answer.count, 2);
    assert_true(signal_with(cookie, 0)); /* continues into the next sample */
    assert_int_equal(pool.samples[1].weight, 1);
    release(timer);
}

static void without_room_the_weight_is_kept_for_the_next_sample(void **state)
{
    uint64_t cookie = 0;
    struct smp_cpu_timer *timer = armed(&cookie);

    (void)state;
    for (int i = 0; i < SMP_CPU_SAMPLES; i++)
        assert_true(signal_with(cookie, 0));
    assert_true(signal_with(cookie, 1));
    assert_true(signal_with(cookie, 0));
    assert_int_equal(walks, SMP_CPU_SAMPLES);
    assert_int_equal(timer->dropped, 2);
    assert_int_equal(timer->carried, 3);
    assert_int_equal(pool.dropped, 2);
    assert_int_equal(pool.done, UINT64_MAX);
    atomic_store(&pool.done, ~(UINT64_C(1) << 7));
    atomic_store(&pool.free, UINT64_C(1) << 7);
    assert_true(signal_with(cookie, 0));
    assert_int_equal(pool.samples[7].weight, 4);
    assert_int_equal(pool.done, UINT64_MAX);
    assert_int_equal(pool.free, 0);
    assert_int_equal(timer->carried, 0);
    release(timer);
}

/* A thread is not walked in a closed process, after its end, or while its timer is being set. */
static void threads_that_must_not_be_walked_are_not(void **state)
{
    uint64_t cookie = 0;
    struct smp_cpu_timer *timer = armed(&cookie);

    (void)state;
    atomic_store(&is_open, false);
    assert_true(signal_with(cookie, 0));
    atomic_store(&is_open, true);
    atomic_store(&thread.ended_ns, 1);
    assert_true(signal_with(cookie, 0));
    atomic_store(&thread.ended_ns, 0);
    assert_true(smp_cpu_timer_set(timer));
    assert_true(signal_with(cookie, 0));
    assert_int_equal(walks, 0);
    assert_int_equal(timer->carried, 3);
    assert_int_equal(timer->dropped, 3);
    smp_cpu_timer_arm(timer);
    assert_true(signal_with(cookie, 0));
    assert_int_equal(pool.samples[0].weight, 4);
    release(timer);
}

/* A signal that comes after its timer was stopped matches no timer. */
static void outdated_signals_are_ignored(void **state)
{
    uint64_t cookie = 0;
    uint64_t other = 0;
    struct smp_cpu_timer *timer = armed(&cookie);

    (void)state;
    smp_cpu_timer_close(timer);
    assert_false(signal_with(cookie, 0));
    smp_cpu_timer_free(timer);
    assert_false(signal_with(cookie, 0));
    for (size_t i = 0; i < SMP_CPU_TIMERS; i++) { /* by now each entry serves another thread */
        timer = armed(&other);
        assert_false(signal_with(cookie, 0));
        assert_int_equal(timer->carried, 0);
        release(timer);
    }
    assert_int_equal(walks, 0);
}

static void the_number_of_timers_is_limited(void **state)
{
    static struct smp_cpu_timer *taken[SMP_CPU_TIMERS];
    uint64_t cookie = 0;

    (void)state;
    for (size_t i = 0; i < SMP_CPU_TIMERS; i++) {
        taken[i] = smp_cpu_timer_take(&cookie);
        assert_non_null(taken[i]);
    }
    assert_null(smp_cpu_timer_take(&cookie));
    for (size_t i = 0; i < SMP_CPU_TIMERS; i++)
        release(taken[i]);
}

/* Over all phases the expirations add up to the used time. */
static void the_random_phase_of_a_timer_is_unbiased(void **state)
{
    enum { INTERVAL = 100 };
    uint64_t missed = 0;

    (void)state;
    for (int64_t used = 0; used <= 350; used += 7) {
        uint64_t expired = 0;
        for (uint64_t phase = 0; phase < INTERVAL; phase++) {
            const int64_t first =
                smp_jvm_cpu_timers_first_ns(INTERVAL, 1000, 1000 + used, phase, &missed);
            assert_in_range(first, 1, INTERVAL);
            expired += missed;
        }
        assert_int_equal(expired, used); /* times INTERVAL, over INTERVAL phases */
    }
    assert_int_equal(smp_jvm_cpu_timers_first_ns(INTERVAL, -1, 5000, 41, &missed), 42);
    assert_int_equal(missed, 0);
}

/* Samples of an earlier timer have covered more than the thread has used: that time must not count
 * twice. */
static void time_already_covered_does_not_count_again(void **state)
{
    enum { INTERVAL = 100, AHEAD = 60 };
    const int64_t now = 1000 - AHEAD;

    (void)state;
    for (int64_t used = 0; used <= 350; used += 7) {
        uint64_t expired = 0;
        uint64_t missed = 0;
        for (uint64_t phase = 0; phase < INTERVAL; phase++) {
            const int64_t first = smp_jvm_cpu_timers_first_ns(INTERVAL, 1000, now, phase, &missed);
            assert_int_equal(missed, 0);
            expired += smp_jvm_cpu_timers_due(now + first, INTERVAL, 1000 + used);
        }
        assert_int_equal(expired, used);
    }
}

/* The expirations left at a thread's end: all of them less those reported by signals. */
static void reported_expirations_are_not_counted_again(void **state)
{
    enum { INTERVAL = 100, FIRST = 1040 };
    uint64_t cookie = 0;
    struct smp_cpu_timer *timer = armed(&cookie);

    (void)state;
    assert_true(signal_with(cookie, 2));
    assert_true(smp_cpu_timer_set(timer));
    assert_true(signal_with(cookie, 0));
    assert_int_equal(timer->signalled, 4);
    release(timer);
    assert_false(signal_with(cookie, 7));
    assert_int_equal(timer->signalled, 4);
    timer = armed(&cookie);
    assert_int_equal(timer->signalled, 0);
    release(timer);

    assert_int_equal(smp_jvm_cpu_timers_due(-1, INTERVAL, 5000), 0);
    for (int64_t cpu_ns = 0; cpu_ns < 2000; cpu_ns++) {
        uint64_t due = 0;
        for (int64_t at = FIRST; at <= cpu_ns; at += INTERVAL)
            due++;
        assert_int_equal(smp_jvm_cpu_timers_due(FIRST, INTERVAL, cpu_ns), due);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_signals_of_our_timers_are_accepted, setup),
        cmocka_unit_test_setup(a_sample_has_the_weight_of_its_overruns, setup),
        cmocka_unit_test_setup(without_room_the_weight_is_kept_for_the_next_sample, setup),
        cmocka_unit_test_setup(threads_that_must_not_be_walked_are_not, setup),
        cmocka_unit_test_setup(outdated_signals_are_ignored, setup),
        cmocka_unit_test_setup(the_number_of_timers_is_limited, setup),
        cmocka_unit_test_setup(the_random_phase_of_a_timer_is_unbiased, setup),
        cmocka_unit_test_setup(time_already_covered_does_not_count_again, setup),
        cmocka_unit_test_setup(reported_expirations_are_not_counted_again, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
