/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads the options, the filter and the name rule choose, and the events that sources
 * receive. */
#include "engine/sources/sampled_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/fake_clock.h"
#include "support/fake_jvm.h"
#include "support/option_text.h"

enum { LIMIT = 4 << 20 };

struct fixture {
    struct fake_clock clock;
    struct smp_quota quota;
    struct fake_jvm *vm;
    struct smp_jvm jvm;
    struct smp_attribution attribution;
    struct smp_options options;
    struct smp_sampled_threads threads;
    unsigned ended;
    unsigned named;
    unsigned left_out;
    unsigned leaving;
    unsigned filtered;
    unsigned filters_destroyed;
    int32_t java_ended; /* the last tid */
    unsigned java_ends;
};

static void on_started(void *context, struct smp_thread_record *record, int64_t from_ns,
                       bool is_new)
{
    struct fixture *f = context;

    (void)from_ns;
    (void)is_new;
    smp_sampled_threads_set_sampled(&f->threads, record, true);
}

static void on_ended(void *context, struct smp_thread_record *record, int64_t ended_ns)
{
    struct fixture *f = context;

    assert_int_equal(ended_ns, record->thread->ended_ns);
    f->ended++;
}

static void on_left_out(void *context, struct smp_thread_record *record)
{
    struct fixture *f = context;

    (void)record;
    f->left_out++;
}

static void on_leaves_group(void *context, struct smp_thread_record *record)
{
    struct fixture *f = context;

    (void)record;
    f->leaving++;
}

static bool contains_none(void *self, struct smp_thread *thread)
{
    struct fixture *f = self;

    (void)thread;
    f->filtered++;
    return false;
}

static void count_destroyed(void *self)
{
    struct fixture *f = self;

    f->filters_destroyed++;
}

static void on_named(void *context, struct smp_thread_record *record)
{
    struct fixture *f = context;

    (void)record;
    f->named++;
}

static void open_threads(struct fixture *f, const char *options)
{
    option_text_read(&f->quota, options, &f->options);
    assert_int_equal(smp_sampled_threads_init(&f->threads, &f->quota, &f->jvm, &f->attribution,
                                              &f->options, sizeof(struct smp_thread_record)),
                     SMP_OK);
    f->threads.events = (struct smp_sampled_threads_events){ .started = on_started,
                                                             .ended = on_ended,
                                                             .left_out = on_left_out,
                                                             .leaves_group = on_leaves_group,
                                                             .named = on_named,
                                                             .context = f };
    smp_sampled_threads_mark(&f->threads, smp_clock_ns());
}

static int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){ .vm = fake_jvm_create() };
    fake_clock_install(&f.clock);
    f.jvm = fake_jvm_interface(f.vm);
    smp_quota_init(&f.quota, LIMIT);
    f.attribution = (struct smp_attribution){
        .names = &f.jvm.names,
        .budget = { .quota = &f.quota, .max_bytes = LIMIT },
        .tree_epoch = 1,
        .stack_epoch = 1,
    };
    assert_int_equal(smp_methods_create(&f.quota, LIMIT / 4, NULL, &f.attribution.methods), SMP_OK);
    assert_int_equal(smp_interval_create(&f.quota, f.attribution.methods, SMP_SAMPLED_MEASURES,
                                         &f.attribution.interval),
                     SMP_OK);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_sampled_threads_fini(&f->threads);
    assert_int_equal(f->filters_destroyed, f->filtered > 0);
    smp_options_fini(&f->options);
    smp_interval_destroy(f->attribution.interval);
    smp_methods_release(f->attribution.methods);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    fake_jvm_destroy(f->vm);
    fake_clock_remove();
    return 0;
}

static void tick(struct fixture *f)
{
    fake_clock_advance(&f->clock, 50 * INT64_C(1000000));
    smp_sampled_threads_poll_starts(&f->threads, smp_clock_ns());
}

/* Skips threads whose names begin with "skip". */
static enum smp_naming same_or_skip(void *self, const struct fake_thread *thread, char *out,
                                    size_t size)
{
    (void)self;
    assert_int_equal(thread->thread.ended_ns, 0);
    if (strncmp(thread->name, "skip", 4) == 0)
        return SMP_NAMING_SKIP;
    (void)snprintf(out, size, "%s", thread->name);
    return SMP_NAMING_NAMED;
}

static void open_with_rule(struct fixture *f)
{
    fake_jvm_set_rule(f->vm, same_or_skip, NULL);
    open_threads(f, "defaultThreadNameRule=false\nskipDaemonThreads=true\n");
}

static void the_rule_is_not_called_for_threads_that_have_ended(void **state)
{
    struct fixture *f = *state;
    struct fake_thread *gone = fake_jvm_start(f->vm, "gone");

    fake_jvm_start(f->vm, "stays");
    open_with_rule(f);
    tick(f);
    fake_jvm_end(f->vm, gone);
    tick(f);
    smp_sampled_threads_name_all(&f->threads);
    assert_int_equal(f->ended, 1);
    assert_int_equal(f->named, 1);
    assert_int_equal(f->threads.table.count, 1);
    assert_int_equal(f->threads.sampled, 1);
    assert_string_equal(f->threads.table.records[0]->group_name, "stays");
}

static void without_ticks_ended_threads_are_released(void **state)
{
    struct fixture *f = *state;
    struct fake_thread *ends = fake_jvm_start(f->vm, "ends");

    fake_jvm_start(f->vm, "stays");
    open_with_rule(f);
    tick(f);
    smp_sampled_threads_name_all(&f->threads);
    fake_jvm_end(f->vm, ends);
    assert_int_equal(fake_jvm_threads_held(f->vm), 2);
    assert_int_equal(fake_jvm_get_counts(f->vm).rule_rests, 0);
    smp_sampled_threads_remove_all_ended(&f->threads, smp_clock_ns());
    assert_int_equal(fake_jvm_threads_held(f->vm), 1);
    assert_int_equal(fake_jvm_get_counts(f->vm).rule_rests, 1);
    assert_int_equal(f->ended, 1);
}

static void note_java_ended(void *self, int32_t tid)
{
    struct fixture *f = self;

    f->java_ended = tid;
    f->java_ends++;
}

/* Its OS thread may continue. */
static void the_end_of_a_java_thread_is_reported_with_its_tid(void **state)
{
    struct fixture *f = *state;
    struct fake_thread *native = fake_jvm_start(f->vm, "native");
    struct fake_thread *unknown = fake_jvm_start(f->vm, "unknown");

    f->jvm.os_threads = (struct smp_os_thread_source){ .java_ended = note_java_ended, .self = f };
    fake_jvm_identify(native, 4711);
    open_with_rule(f);
    tick(f);
    smp_sampled_threads_name_all(&f->threads);
    assert_int_equal(f->java_ends, 0);
    fake_jvm_end(f->vm, native);
    fake_jvm_end(f->vm, unknown);
    tick(f);
    smp_sampled_threads_name_all(&f->threads);
    assert_int_equal(f->ended, 2);
    assert_int_equal(f->java_ends, 1);
    assert_int_equal(f->java_ended, 4711);
}

static void threads_excluded_by_options_are_not_sampled(void **state)
{
    struct fixture *f = *state;

    fake_jvm_start_as(f->vm, "daemon", true, false);
    fake_jvm_start(f->vm, "chosen");
    open_with_rule(f);
    tick(f);
    assert_int_equal(f->threads.sampled, 2);
    smp_sampled_threads_name_all(&f->threads);
    assert_int_equal(f->left_out, 1);
    assert_int_equal(f->threads.sampled, 1);
}

/* The first thread in the table is one of them. */
static void threads_skipped_by_the_rule_are_not_sampled(void **state)
{
    struct fixture *f = *state;

    fake_jvm_start(f->vm, "skip-1");
    fake_jvm_start(f->vm, "named");
    fake_jvm_start(f->vm, "skip-2");
    open_with_rule(f);
    tick(f);
    smp_sampled_threads_name_all(&f->threads);
    assert_int_equal(f->named, 3);
    assert_int_equal(f->left_out, 2);
    assert_int_equal(f->threads.sampled, 1);
}

static bool would_change(struct fixture *f, const char *options)
{
    struct smp_options wanted;
    bool would;

    option_text_read(&f->quota, options, &wanted);
    would = smp_sampled_threads_would_change(&f->threads, &wanted);
    smp_options_fini(&wanted);
    return would;
}

static void only_two_options_change_the_threads(void **state)
{
    struct fixture *f = *state;

    fake_jvm_set_rule(f->vm, same_or_skip, NULL);
    open_threads(f, "");
    assert_false(would_change(f, "samplingFrequencyMillis=7\n"));
    assert_true(would_change(f, "skipDaemonThreads=true\n"));
    assert_true(would_change(f, "defaultThreadNameRule=false\n"));
    assert_true(would_change(f, "defaultThreadNameRule=false\nskipDaemonThreads=true\n"));
    /* without a callback there is only the default rule */
    f->jvm.name_callback.group_names = NULL;
    assert_false(would_change(f, "defaultThreadNameRule=false\n"));
}

static void names_are_read_again_only_for_a_new_rule(void **state)
{
    struct fixture *f = *state;

    fake_jvm_start(f->vm, "name-1");
    open_threads(f, "");
    tick(f);
    assert_true(smp_sampled_threads_choose(&f->threads, f->threads.table.records[0]));
    assert_true(smp_sampled_threads_name(&f->threads, f->threads.table.records[0]));
    smp_sampled_threads_use_options(&f->threads);
    assert_true(smp_sampled_threads_name(&f->threads, f->threads.table.records[0]));
    assert_int_equal(fake_jvm_get_counts(f->vm).names_read, 1);
    f->options.default_name_rule = false;
    smp_sampled_threads_use_options(&f->threads);
    assert_true(smp_sampled_threads_name(&f->threads, f->threads.table.records[0]));
    assert_int_equal(fake_jvm_get_counts(f->vm).names_read, 2);
}

static struct smp_thread_record *only_record(struct fixture *f)
{
    assert_int_equal(f->threads.table.count, 1);
    return f->threads.table.records[0];
}

/* The filter is called once for each thread; it is destroyed with the sampled threads. */
static void a_filter_is_called_once_for_a_thread(void **state)
{
    struct fixture *f = *state;
    const struct smp_thread_filter filter = { contains_none, count_destroyed, f };

    fake_jvm_start(f->vm, "name-1");
    open_threads(f, "");
    tick(f);
    smp_sampled_threads_set_filter(&f->threads, filter, true);
    for (int i = 0; i < 3; i++)
        assert_false(smp_sampled_threads_choose(&f->threads, only_record(f)));
    assert_int_equal(f->filtered, 1);
    assert_int_equal(f->left_out, 3);
    assert_int_equal(f->threads.sampled, 0);
}

/* name_all has already chosen. */
static void with_a_rule_threads_are_chosen_only_by_its_calls(void **state)
{
    struct fixture *f = *state;

    fake_jvm_start_as(f->vm, "daemon", true, false);
    open_with_rule(f);
    tick(f);
    only_record(f)->is_candidate = true;
    assert_true(smp_sampled_threads_choose(&f->threads, only_record(f)));
    assert_int_equal(f->left_out, 0);
}

static void sources_are_notified_of_names(void **state)
{
    struct fixture *f = *state;
    struct fake_thread *thread = fake_jvm_start(f->vm, "name-1");

    open_threads(f, "");
    tick(f);
    assert_true(smp_sampled_threads_choose(&f->threads, only_record(f)));
    assert_true(smp_sampled_threads_name(&f->threads, only_record(f)));
    assert_int_equal(f->named, 1);
    assert_int_equal(f->leaving, 1);
    fake_jvm_rename(f->vm, thread, "other-1");
    assert_true(smp_sampled_threads_name(&f->threads, only_record(f)));
    assert_int_equal(f->named, 2);
    assert_int_equal(f->leaving, 2);
}

static void a_thread_that_started_and_ended_is_not_sampled(void **state)
{
    struct fixture *f = *state;
    struct fake_thread *thread = fake_jvm_start(f->vm, "name-1");

    open_threads(f, "");
    tick(f);
    fake_jvm_fail_name(f->vm, thread, SMP_EGONE);
    assert_true(smp_sampled_threads_choose(&f->threads, only_record(f)));
    assert_false(smp_sampled_threads_name(&f->threads, only_record(f)));
    assert_int_equal(f->left_out, 1);
    assert_int_equal(f->threads.sampled, 0);
}

static void all_last_stacks_can_be_forgotten(void **state)
{
    struct fixture *f = *state;
    struct smp_frame frame = { .method = 1 };
    const struct smp_sample sample = {
        .frames = &frame, .capacity = 1, .count = 1, .leaf_count = 1
    };

    fake_jvm_start(f->vm, "one");
    fake_jvm_start(f->vm, "two");
    fake_jvm_start(f->vm, "three");
    open_threads(f, "");
    tick(f);
    assert_int_equal(f->threads.table.count, 3);
    for (size_t i = 0; i < 3; i++)
        smp_last_stack_keep(&f->threads.table.records[i]->last, &f->attribution.budget, 1, &sample,
                            1, SMP_OUTCOME_WALKED);
    assert_true(f->attribution.budget.used_bytes > 0);
    smp_sampled_threads_forget_stacks(&f->threads);
    assert_int_equal(f->attribution.budget.used_bytes, 0);
}

static void a_mounted_thread_is_named_without_a_failure(void **state)
{
    struct fixture *f = *state;
    const struct smp_mounted_thread mounted = { .name = "request-17" };

    open_threads(f, "");
    assert_string_equal(smp_sampled_threads_key_of_mounted(&f->threads, &mounted).name, "request-");
    assert_int_equal(f->attribution.interval->counters[SMP_COUNTER_NAME_MANIPULATOR_FAILURES], 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_rule_is_not_called_for_threads_that_have_ended),
        TEST(the_end_of_a_java_thread_is_reported_with_its_tid),
        TEST(without_ticks_ended_threads_are_released),
        TEST(threads_excluded_by_options_are_not_sampled),
        TEST(threads_skipped_by_the_rule_are_not_sampled),
        TEST(only_two_options_change_the_threads),
        TEST(names_are_read_again_only_for_a_new_rule),
        TEST(a_filter_is_called_once_for_a_thread),
        TEST(with_a_rule_threads_are_chosen_only_by_its_calls),
        TEST(sources_are_notified_of_names),
        TEST(a_thread_that_started_and_ended_is_not_sampled),
        TEST(all_last_stacks_can_be_forgotten),
        TEST(a_mounted_thread_is_named_without_a_failure),
    };
#undef TEST
    return cmocka_run_group_tests_name("sampled_threads", tests, NULL, NULL);
}
