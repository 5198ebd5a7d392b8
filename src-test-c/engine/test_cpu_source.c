/* SPDX-License-Identifier: Apache-2.0 */
/* The source of CPU time: which threads have timers, and where their samples are credited. */
#include "engine/sources/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/threads/throttle.h"
#include "support/sampler_fixture.h"
#include "support/tree_amounts.h"

#define MS FIXTURE_MS
#define TICK (50 * MS) /* the default interval */
#define MAIN_LOOP "app.Main.main|app.Work.loop"
#define LOOP "app.Main.main(F.java:1)|app.Work.loop(F.java:1)"

static int setup(void **state)
{
    *state = sampler_fixture_create("clock=CPU\n");
    return 0;
}

static int teardown(void **state)
{
    sampler_fixture_destroy(*state);
    return 0;
}

static struct fake_thread *started(struct sampler_fixture *f, const char *name)
{
    struct fake_thread *thread = fake_jvm_start(f->vm, name);

    fake_jvm_run(f->vm, thread, MAIN_LOOP);
    return thread;
}

static void make_ticks(struct sampler_fixture *f, int ticks)
{
    for (int i = 0; i < ticks; i++)
        sampler_fixture_tick(f, TICK);
}

static uint64_t outcomes(const struct sampler_fixture *f, enum smp_outcome outcome)
{
    return f->profile->tally.outcomes[outcome];
}

static void cpu_time_is_measured_by_timers(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    started(f, "waiting");
    sampler_fixture_start(f);
    assert_int_equal(fake_jvm_timers(f->vm), 2);
    fake_jvm_expire(f->vm, busy, 1);
    fake_jvm_expire(f->vm, busy, 3); /* a timer with overruns */
    make_ticks(f, 100);
    fake_jvm_expire(f->vm, busy, 2); /* collected at the end of the interval */
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", LOOP), 6 * TICK);
    assert_int_equal(sampler_fixture_sum(f), 6 * TICK);
    assert_int_equal(sampler_fixture_total(f, "waiting", ""), -1);
    assert_int_equal(f->profile->tally.polls, 3);
    assert_int_equal(outcomes(f, SMP_OUTCOME_WALKED), 3);
    assert_int_equal(tree_cpu(f->profile->tree, sampler_fixture_group(f, "busy")->root), 6 * TICK);
    assert_int_equal(fake_jvm_get_counts(f->vm).walks, 0); /* no walk from outside */
}

static void the_time_of_a_dropped_sample_is_added_to_the_next_one(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    sampler_fixture_start(f);
    fake_jvm_expire_without_room(f->vm, busy, 2);
    fake_jvm_expire_without_room(f->vm, busy, 1);
    make_ticks(f, 1);
    fake_jvm_expire(f->vm, busy, 1);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", LOOP), 4 * TICK);
    assert_int_equal(sampler_fixture_sum(f), 4 * TICK);
    assert_int_equal(f->profile->tally.polls, 3);
    assert_int_equal(outcomes(f, SMP_OUTCOME_WALK_BUFFER_FULL), 2);
    assert_int_equal(sampler_fixture_total(f, "busy", "[walk buffer full]"), -1);
}

static void a_timer_ends_with_its_thread(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *one = NULL;

    sampler_fixture_start(f);
    one = started(f, "one");
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
    fake_jvm_expire(f->vm, one, 1);
    fake_jvm_expire_without_room(f->vm, one, 2); /* the thread gets no other sample */
    fake_jvm_end(f->vm, one);
    make_ticks(f, 2); /* a young thread is visited at every tick */
    assert_int_equal(fake_jvm_timers(f->vm), 0);
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "one", LOOP), TICK);
    assert_int_equal(sampler_fixture_self(f, "one", "[thread ended]"), 2 * TICK);
    assert_int_equal(f->profile->counters[SMP_COUNTER_UNSEEN_THREADS], 0);
}

static void a_pause_has_no_timers(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    started(f, "other");
    started(f, "third");
    sampler_fixture_start(f);
    fake_jvm_expire(f->vm, busy, 1);
    fake_jvm_expire_without_room(f->vm, busy, 1);
    sampler_fixture_pause(f);
    assert_int_equal(fake_jvm_timers(f->vm), 0);
    sampler_fixture_start(f);
    assert_int_equal(fake_jvm_timers(f->vm), 3);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", LOOP), TICK);
    assert_int_equal(sampler_fixture_self(f, "busy", "[walk buffer full]"), TICK);
}

/* The samples so far belong to the old interval. */
static void a_new_interval_starts_new_timers(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    sampler_fixture_start(f);
    fake_jvm_expire(f->vm, busy, 1);
    sampler_fixture_configure(f, "clock=CPU\nsamplingFrequencyMillis=10\n");
    assert_int_equal(fake_jvm_timers(f->vm), 0);
    sampler_fixture_tick(f, 10 * MS);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
    fake_jvm_expire(f->vm, busy, 1);
    sampler_fixture_tick(f, 10 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", LOOP), TICK + 10 * MS);
}

static void a_thread_that_is_not_sampled_has_no_timer(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *daemon = NULL;

    sampler_fixture_configure(f, "clock=CPU\nskipDaemonThreads=true\n");
    daemon = fake_jvm_start_as(f->vm, "daemon", true, false);
    started(f, "other");
    fake_jvm_run(f->vm, daemon, MAIN_LOOP);
    sampler_fixture_start(f);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
    sampler_fixture_configure(f, "clock=CPU\nskipDaemonThreads=false\n");
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 2);
    fake_jvm_expire(f->vm, daemon, 1);
    sampler_fixture_configure(f, "clock=CPU\nskipDaemonThreads=true\n"); /* after its sample */
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_sum(f), TICK);
}

static void a_timer_that_cannot_be_created_is_tried_again(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "busy");
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    sampler_fixture_start(f);
    make_ticks(f, 3);
    assert_int_equal(fake_jvm_timers(f->vm), 0);
    fake_jvm_fail_timers(f->vm, SMP_OK);
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
}

/* A thread's clock, which fake_clock_spend_cpu moves. */
static bool read_used(void *self, int32_t tid, int64_t *out)
{
    const struct fake_clock *clock = self;

    (void)tid;
    *out = atomic_load(&clock->own_cpu_ns);
    return true;
}

static void start_without_timers(struct sampler_fixture *f)
{
    f->clock.seam.thread_cpu_ns = read_used;
    fake_jvm_identify(started(f, "busy"), 1);
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    fake_clock_spend_cpu(&f->clock, 1000 * MS); /* CPU time before the start */
    sampler_fixture_start(f);
}

static void time_without_a_timer_is_read_from_the_clock(void **state)
{
    struct sampler_fixture *f = *state;

    start_without_timers(f);
    fake_clock_spend_cpu(&f->clock, 7 * MS);
    make_ticks(f, 1);
    fake_clock_spend_cpu(&f->clock, 5 * MS); /* read at the end of the interval */
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", "[no CPU timer]"), 12 * MS);
    assert_int_equal(sampler_fixture_sum(f), 12 * MS);
}

static void an_ended_thread_without_a_timer_has_its_last_time(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *one = NULL;

    start_without_timers(f);
    make_ticks(f, 1);
    one = started(f, "one");
    fake_jvm_identify(one, 2);
    one->thread.started_cpu_ns = 1000 * MS;
    make_ticks(f, 1);
    one->thread.ended_cpu_ns = 1009 * MS;
    fake_jvm_end(f->vm, one);
    make_ticks(f, 2);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "one", "[no CPU timer]"), 9 * MS);
}

/* There is no visit between the end of the thread and the last report. */
static void the_last_report_has_the_remaining_time_of_timers(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *ended = started(f, "ended");
    struct fake_thread *alive = started(f, "alive");

    sampler_fixture_start(f);
    fake_jvm_expire_without_room(f->vm, ended, 2);
    fake_jvm_expire_without_room(f->vm, alive, 3);
    fake_jvm_end(f->vm, ended);
    assert_int_equal(smp_sampler_finish_last(f->sampler, sampler_fixture_now(f),
                                             smp_clock_wall_ms(), &f->profile),
                     SMP_OK);
    assert_int_equal(sampler_fixture_self(f, "ended", "[thread ended]"), 2 * TICK);
    assert_int_equal(sampler_fixture_self(f, "alive", "[walk buffer full]"), 3 * TICK);
    assert_int_equal(fake_jvm_timers(f->vm), 0);
}

/* A thread whose clock can be read. */
static struct fake_thread *start_with_timer(struct sampler_fixture *f, const char *name)
{
    struct fake_thread *thread = NULL;

    f->clock.seam.thread_cpu_ns = read_used;
    sampler_fixture_start(f);
    thread = started(f, name);
    fake_jvm_identify(thread, 1);
    make_ticks(f, 1);
    assert_true(thread->has_timer);
    return thread;
}

/* The clock has already reported this time, so the timer's remainder is nothing new. */
static void time_read_from_the_clock_is_not_attributed_twice_at_the_end(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *one = start_with_timer(f, "one");

    fake_clock_spend_cpu(&f->clock, 3000 * MS);
    make_ticks(f, 100);
    fake_jvm_expire_without_room(f->vm, one, 3000 * MS / TICK + 1);
    one->thread.ended_cpu_ns = 3000 * MS + TICK;
    fake_jvm_end(f->vm, one);
    make_ticks(f, 100); /* until its next visit */
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "one", "[thread ended]"), TICK);
    assert_int_equal(sampler_fixture_sum(f), 3000 * MS + TICK);
}

static void a_thread_without_a_tid_has_no_cpu_time(void **state)
{
    struct sampler_fixture *f = *state;

    f->clock.seam.thread_cpu_ns = read_used;
    started(f, "busy");
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    sampler_fixture_start(f);
    fake_clock_spend_cpu(&f->clock, 7 * MS);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.polls, 0);
}

/* A poll is counted only if there is time. */
static void without_cpu_time_there_is_no_sample(void **state)
{
    struct sampler_fixture *f = *state;

    start_without_timers(f);
    make_ticks(f, 3);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.polls, 0);
}

/* So no CPU time is counted twice. */
static void a_timer_continues_from_the_last_clock_reading(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    f->clock.seam.thread_cpu_ns = read_used;
    fake_jvm_identify(busy, 1);
    fake_clock_spend_cpu(&f->clock, 1000 * MS);
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    sampler_fixture_start(f);
    fake_clock_spend_cpu(&f->clock, 7 * MS);
    make_ticks(f, 1);
    fake_clock_spend_cpu(&f->clock, 5 * MS);
    fake_jvm_fail_timers(f->vm, SMP_OK);
    make_ticks(f, 1);
    assert_true(busy->has_timer);
    assert_int_equal(busy->timer_from_ns, 1007 * MS);
    sampler_fixture_configure(f, "clock=CPU\nsamplingFrequencyMillis=10\n");
    sampler_fixture_tick(f, 10 * MS);
    assert_true(busy->has_timer);
    /* now, because the last timer has delivered all time before */
    assert_int_equal(busy->timer_from_ns, 1012 * MS);
}

/* The system provides no more timers (ulimit -i), or all timers of this process are used. */
static void thousands_of_threads_without_timers_cost_little(void **state)
{
    enum { THREADS = 1000, TICKS = 100, LOOKBACK_TICKS = 20 };
    struct sampler_fixture *f = *state;
    struct fake_jvm_counts before;
    struct fake_jvm_counts after;

    f->clock.seam.thread_cpu_ns = read_used;
    for (int32_t i = 0; i < THREADS; i++)
        fake_jvm_identify(started(f, "busy"), 1 + i);
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    sampler_fixture_start(f);
    before = fake_jvm_get_counts(f->vm);
    for (int i = 0; i < TICKS; i++) {
        fake_clock_spend_cpu(&f->clock, MS);
        make_ticks(f, 1);
    }
    after = fake_jvm_get_counts(f->vm);
    assert_in_range(after.timer_starts - before.timer_starts, TICKS / 2, TICKS);
    assert_in_range(after.name_reads - before.name_reads, THREADS * TICKS / LOOKBACK_TICKS,
                    THREADS * TICKS / 10);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", "[no CPU timer]"), THREADS * TICKS * MS);
    fake_jvm_fail_timers(f->vm, SMP_OK);
    make_ticks(f, LOOKBACK_TICKS);
    assert_int_equal(fake_jvm_timers(f->vm), THREADS);
}

/* Native code uses the CPU clock of its thread and then attaches the thread. */
static void time_before_a_thread_was_attached_is_not_attributed(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *attached = NULL;

    sampler_fixture_start(f);
    make_ticks(f, 1);
    attached = started(f, "native-1");
    attached->thread.started_cpu_ns = 3600 * 1000 * MS;
    make_ticks(f, 1);
    assert_true(attached->has_timer);
    assert_int_equal(attached->timer_from_ns, 3600 * 1000 * MS);
}

static void time_before_a_thread_was_attached_is_not_attributed_without_a_timer(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *attached = NULL;

    f->clock.seam.thread_cpu_ns = read_used;
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    sampler_fixture_start(f);
    make_ticks(f, 1);
    fake_clock_spend_cpu(&f->clock, 1000 * MS);
    attached = started(f, "native-1");
    attached->thread.started_cpu_ns = 1000 * MS;
    fake_jvm_identify(attached, 1);
    fake_clock_spend_cpu(&f->clock, 7 * MS);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "native-", "[no CPU timer]"), 7 * MS);
}

/* The clock is read meanwhile only if a timer may follow later. */
static void clocks_are_read_if_timers_are_short(void **state)
{
    static const struct {
        enum smp_status status;
        bool is_read;
    } cases[] = {
        { SMP_EQUOTA, true }, { SMP_ENOMEM, true }, { SMP_EVM, true }, { SMP_EGONE, false }
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sampler_fixture *f = sampler_fixture_create("clock=CPU\n");
        f->clock.seam.thread_cpu_ns = read_used;
        fake_jvm_identify(started(f, "busy"), 1);
        fake_jvm_fail_timers(f->vm, cases[i].status);
        sampler_fixture_start(f);
        fake_clock_spend_cpu(&f->clock, 7 * MS);
        make_ticks(f, 1);
        sampler_fixture_finish(f);
        assert_int_equal(sampler_fixture_sum(f), cases[i].is_read ? 7 * MS : 0);
        sampler_fixture_destroy(f);
    }
    (void)state;
}

static enum smp_naming by_name(void *self, const struct fake_thread *thread, char *out, size_t size)
{
    (void)self;
    (void)snprintf(out, size, "%s", thread->name);
    return SMP_NAMING_NAMED;
}

static size_t name_reads_of_a_tick(struct sampler_fixture *f)
{
    const size_t before = fake_jvm_get_counts(f->vm).name_reads;

    make_ticks(f, 1);
    return fake_jvm_get_counts(f->vm).name_reads - before;
}

/* The rule has already read the names of all threads. */
static void with_a_users_rule_a_sample_reads_no_name(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");
    size_t reads;

    fake_jvm_set_rule(f->vm, by_name, NULL);
    sampler_fixture_configure(f, "clock=CPU\ndefaultThreadNameRule=false\n");
    sampler_fixture_start(f);
    make_ticks(f, 1);
    reads = name_reads_of_a_tick(f);
    fake_jvm_expire(f->vm, busy, 1);
    assert_int_equal(name_reads_of_a_tick(f), reads);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_sum(f), TICK);
}

static enum smp_naming by_expensive_rule(void *self, const struct fake_thread *thread, char *out,
                                         size_t size)
{
    fake_clock_spend_cpu(self, MS / 200);
    return by_name(NULL, thread, out, size);
}

/* The rule takes 5 ms at each tick, ten times the limit. */
static void a_name_rule_for_a_thousand_threads_obeys_the_limit(void **state)
{
    enum { THREADS = 1000, SECONDS = 100, LIMIT_SHARE = 100 };
    /* The credit for a start, a full bucket, and the overdraft of the last tick. */
    const int64_t start_ms = SMP_THROTTLE_START_CPU_MS + 3 * SMP_THROTTLE_BUCKET_MS / LIMIT_SHARE;
    struct sampler_fixture *f = *state;
    int64_t from_ns = 0;

    for (int i = 0; i < THREADS; i++)
        started(f, "busy");
    fake_jvm_set_rule(f->vm, by_expensive_rule, &f->clock);
    sampler_fixture_configure(f, "clock=CPU\ndefaultThreadNameRule=false\n");
    sampler_fixture_start(f);
    from_ns = sampler_fixture_now(f);
    while (sampler_fixture_now(f) - from_ns < SECONDS * 1000 * MS) {
        const int64_t gap_ns = smp_sampler_tick_gap_ns(f->sampler);
        sampler_fixture_tick(f, gap_ns > TICK ? gap_ns : TICK);
    }
    assert_in_range(smp_clock_own_cpu_ns(), SECONDS * 1000 * MS / LIMIT_SHARE / 2,
                    SECONDS * 1000 * MS / LIMIT_SHARE + start_ms * MS);
    sampler_fixture_configure(f, "clock=CPU\n");
    sampler_fixture_tick(f, TICK);
    assert_int_equal(smp_sampler_tick_gap_ns(f->sampler), 0);
}

static enum smp_naming all_but_secret(void *self, const struct fake_thread *thread, char *out,
                                      size_t size)
{
    return strcmp(thread->name, "secret") == 0 ? SMP_NAMING_SKIP : by_name(self, thread, out, size);
}

static void use_rule(struct sampler_fixture *f)
{
    fake_jvm_set_rule(f->vm, all_but_secret, NULL);
    sampler_fixture_configure(f, "clock=CPU\ndefaultThreadNameRule=false\n");
}

/* An old thread is visited rarely, but at once if the rule begins or ceases to skip it. */
static void a_thread_that_the_rule_skips_has_no_timer(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    use_rule(f);
    sampler_fixture_start(f);
    make_ticks(f, 500);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
    for (int i = 0; i < 3; i++) {
        fake_jvm_rename(f->vm, busy, "secret");
        make_ticks(f, 1);
        assert_int_equal(fake_jvm_timers(f->vm), 0);
        fake_jvm_rename(f->vm, busy, "busy");
        make_ticks(f, 1);
        assert_int_equal(fake_jvm_timers(f->vm), 1);
        make_ticks(f, 10);
    }
}

static void time_that_the_rule_skips_is_not_attributed(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    use_rule(f);
    f->clock.seam.thread_cpu_ns = read_used;
    fake_jvm_identify(busy, 1);
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    sampler_fixture_start(f);
    fake_clock_spend_cpu(&f->clock, 7 * MS);
    make_ticks(f, 1);
    fake_jvm_rename(f->vm, busy, "secret");
    make_ticks(f, 1);
    fake_clock_spend_cpu(&f->clock, 500 * MS);
    make_ticks(f, 1);
    fake_jvm_rename(f->vm, busy, "busy");
    make_ticks(f, 1);
    fake_clock_spend_cpu(&f->clock, 3 * MS);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_sum(f), 10 * MS);
}

/* It is released before the rule is called, long before its next visit. */
static void an_ended_thread_is_not_visited_with_a_users_rule(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *one = started(f, "one");

    use_rule(f);
    sampler_fixture_start(f);
    make_ticks(f, 500);
    fake_jvm_end(f->vm, one);
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
    assert_int_equal(fake_jvm_timers(f->vm), 0);
    started(f, "two");
    make_ticks(f, 100);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
}

/* A visit reads the name. The older the thread, the rarer the visits, within the limit that the
 * option sets less the random spread of visits. */
static void old_threads_are_visited_rarely(void **state)
{
    static const struct {
        const char *options;
        size_t least; /* visits in 100 ticks */
        size_t most;
    } cases[] = { { "clock=CPU\nidleLookbackMillis=100\n", 50, 50 },   /* 2 ticks */
                  { "clock=CPU\nidleLookbackMillis=1000\n", 5, 7 },    /* 15 to 20 */
                  { "clock=CPU\nidleLookbackMillis=60000\n", 2, 3 } }; /* of 500, a twelfth */

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sampler_fixture *f = sampler_fixture_create(cases[i].options);
        size_t reads = 0;
        started(f, "busy");
        sampler_fixture_start(f);
        make_ticks(f, 500);
        for (int tick = 0; tick < 100; tick++)
            reads += name_reads_of_a_tick(f);
        assert_in_range(reads, cases[i].least, cases[i].most);
        sampler_fixture_destroy(f);
    }
}

/* Returns the largest number of skipped ticks if the system delivers a thread's timers at this
 * distance. */
static uint64_t most_idle_ticks(int64_t apart_ns)
{
    struct sampler_fixture *f;
    uint64_t most = 0;

    fake_jvm_timers_apart_ns = apart_ns;
    f = sampler_fixture_create("clock=CPU\nsamplingFrequencyMillis=1\nidleLookbackMillis=60000\n");
    fake_jvm_timers_apart_ns = 0;
    started(f, "old");
    sampler_fixture_start(f);
    /* a young thread, which may end soon */
    assert_int_equal(smp_sampler_idle_ticks(f->sampler), 0);
    for (int i = 0; i < 5000; i++) {
        sampler_fixture_tick(f, MS);
        const uint64_t idle = smp_sampler_idle_ticks(f->sampler);
        most = idle > most ? idle : most;
    }
    sampler_fixture_destroy(f);
    return most;
}

/* No more than fit into the memory for samples, and not so many that a sample waits too long. */
static void ticks_that_only_read_samples_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(most_idle_ticks(0), FAKE_SAMPLES_PER_CPU - 1);
    assert_int_equal(most_idle_ticks(4 * MS), 4 * FAKE_SAMPLES_PER_CPU - 1);
    assert_int_equal(most_idle_ticks(10 * MS), 50 - 1);
}

/* Whatever the number of threads, visits come at ticks that read samples anyway. */
static void visits_of_old_threads_cause_no_additional_ticks(void **state)
{
    struct sampler_fixture *f =
        sampler_fixture_create("clock=CPU\nsamplingFrequencyMillis=1\nidleLookbackMillis=60000\n");
    uint64_t wakes = 0;

    (void)state;
    for (int i = 0; i < 50; i++)
        started(f, "old");
    sampler_fixture_start(f);
    for (int i = 0; i < 6000; i++)
        sampler_fixture_tick(f, MS);
    for (int i = 0; i < 800; i++) {
        wakes += smp_sampler_idle_ticks(f->sampler) == 0;
        sampler_fixture_tick(f, MS);
    }
    assert_int_equal(wakes, 800 / FAKE_SAMPLES_PER_CPU);
    sampler_fixture_destroy(f);
}

/* A thread that waits for a timer is tried at each tick, however old it is. */
static void an_old_thread_gets_its_timer_at_once(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "busy");
    fake_jvm_fail_timers(f->vm, SMP_EQUOTA);
    sampler_fixture_start(f);
    make_ticks(f, 500);
    fake_jvm_fail_timers(f->vm, SMP_OK);
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
}

/* The thread keeps its timer until the next visit; a sample that comes before it is dropped. */
static void a_sample_of_a_thread_that_is_no_longer_chosen_reads_no_name(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");
    struct fake_thread *other = started(f, "other");
    unsigned destroyed = 0;
    size_t reads;

    sampler_fixture_start(f);
    make_ticks(f, 500);
    fake_jvm_end(f->vm, other);
    reads = fake_jvm_get_counts(f->vm).name_reads;
    smp_sampler_set_filter(f->sampler, fake_jvm_filter(f->vm, &other, 1, &destroyed), true);
    fake_jvm_expire(f->vm, busy, 1);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(fake_jvm_get_counts(f->vm).name_reads, reads);
    assert_int_equal(sampler_fixture_sum(f), 0);
}

static void cpu_time_in_a_pause_is_not_attributed(void **state)
{
    struct sampler_fixture *f = *state;

    start_without_timers(f);
    fake_clock_spend_cpu(&f->clock, 7 * MS);
    sampler_fixture_pause(f);
    fake_clock_spend_cpu(&f->clock, 500 * MS);
    sampler_fixture_start(f);
    fake_clock_spend_cpu(&f->clock, 3 * MS);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", "[no CPU timer]"), 10 * MS);
}

static void cpu_time_of_a_thread_that_ends_in_a_pause_is_not_attributed(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = start_with_timer(f, "busy");

    sampler_fixture_pause(f);
    busy->thread.ended_cpu_ns = 500 * MS;
    fake_jvm_end(f->vm, busy);
    smp_sampler_forget_ended(f->sampler, smp_clock_ns());
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
    sampler_fixture_start(f);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", "[no CPU timer]"), -1);
}

/* Old threads are visited rarely, but at once after this. */
static void a_new_filter_applies_at_the_next_tick(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *chosen = started(f, "chosen");
    unsigned destroyed = 0;

    started(f, "other");
    sampler_fixture_start(f);
    make_ticks(f, 500);
    assert_int_equal(fake_jvm_timers(f->vm), 2);
    smp_sampler_set_filter(f->sampler, fake_jvm_filter(f->vm, &chosen, 1, &destroyed), true);
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 1);
    assert_true(chosen->has_timer);
    smp_sampler_set_filter(f->sampler, (struct smp_thread_filter){ 0 }, false);
    make_ticks(f, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 2);
    assert_int_equal(destroyed, 1);
}

/* CPU time of a renamed thread since the last tick goes to its new name. */
static void a_sample_goes_to_the_current_name_of_its_thread(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "before");

    sampler_fixture_start(f);
    fake_jvm_expire(f->vm, busy, 1);
    make_ticks(f, 1);
    fake_jvm_rename(f->vm, busy, "after");
    fake_jvm_expire(f->vm, busy, 2);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "before", LOOP), TICK);
    assert_int_equal(sampler_fixture_self(f, "after", LOOP), 2 * TICK);
}

/* One thread has the CPU clock of the test thread, which advances; the other one has none. */
static void sampling_once_walks_only_threads_that_run(void **state)
{
    struct sampler_fixture *f = *state;

    fake_jvm_identify(started(f, "running"), gettid());
    started(f, "waiting");
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), TICK);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "running", LOOP), TICK);
    assert_int_equal(f->profile->tally.polls, 1);
    assert_int_equal(fake_jvm_timers(f->vm), 0);
}

/* Its signals do not arrive. A sample that comes later covers time that is already credited. */
static void time_without_samples_has_a_row(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *busy = started(f, "busy");

    f->clock.seam.thread_cpu_ns = read_used;
    fake_jvm_identify(busy, 1);
    sampler_fixture_start(f);
    fake_clock_spend_cpu(&f->clock, 2 * TICK);
    fake_jvm_expire(f->vm, busy, 2);
    make_ticks(f, 1);
    fake_clock_spend_cpu(&f->clock, 3000 * MS);
    make_ticks(f, 100);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "busy", LOOP), 2 * TICK);
    assert_int_equal(sampler_fixture_self(f, "busy", "[signal not answered]"), 3000 * MS);
    fake_jvm_expire(f->vm, busy, 60); /* the signal that was blocked, with its overruns */
    fake_clock_spend_cpu(&f->clock, TICK);
    fake_jvm_expire(f->vm, busy, 1);
    make_ticks(f, 1);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_sum(f), TICK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cpu_time_is_measured_by_timers, setup, teardown),
        cmocka_unit_test_setup_teardown(the_time_of_a_dropped_sample_is_added_to_the_next_one,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_ends_with_its_thread, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pause_has_no_timers, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_interval_starts_new_timers, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_is_not_sampled_has_no_timer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_that_cannot_be_created_is_tried_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(time_without_a_timer_is_read_from_the_clock, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_ended_thread_without_a_timer_has_its_last_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_last_report_has_the_remaining_time_of_timers, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(time_read_from_the_clock_is_not_attributed_twice_at_the_end,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_without_a_tid_has_no_cpu_time, setup, teardown),
        cmocka_unit_test_setup_teardown(without_cpu_time_there_is_no_sample, setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_continues_from_the_last_clock_reading, setup,
                                        teardown),
        cmocka_unit_test(clocks_are_read_if_timers_are_short),
        cmocka_unit_test_setup_teardown(with_a_users_rule_a_sample_reads_no_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_the_rule_skips_has_no_timer, setup, teardown),
        cmocka_unit_test_setup_teardown(time_that_the_rule_skips_is_not_attributed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_ended_thread_is_not_visited_with_a_users_rule, setup,
                                        teardown),
        cmocka_unit_test(old_threads_are_visited_rarely),
        cmocka_unit_test(ticks_that_only_read_samples_are_skipped),
        cmocka_unit_test(visits_of_old_threads_cause_no_additional_ticks),
        cmocka_unit_test_setup_teardown(a_name_rule_for_a_thousand_threads_obeys_the_limit, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(thousands_of_threads_without_timers_cost_little, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(time_before_a_thread_was_attached_is_not_attributed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            time_before_a_thread_was_attached_is_not_attributed_without_a_timer, setup, teardown),
        cmocka_unit_test_setup_teardown(an_old_thread_gets_its_timer_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sample_of_a_thread_that_is_no_longer_chosen_reads_no_name,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(cpu_time_in_a_pause_is_not_attributed, setup, teardown),
        cmocka_unit_test_setup_teardown(cpu_time_of_a_thread_that_ends_in_a_pause_is_not_attributed,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_filter_applies_at_the_next_tick, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sample_goes_to_the_current_name_of_its_thread, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(time_without_samples_has_a_row, setup, teardown),
        cmocka_unit_test_setup_teardown(sampling_once_walks_only_threads_that_run, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
