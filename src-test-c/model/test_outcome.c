/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/tally_sum.h"
#include <stdio.h>
#include <string.h>

#include "model/outcome.h"

static void test_a_poll_has_one_outcome(void **state)
{
    struct smp_tally tally = { 0 };

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++) {
        for (unsigned times = 0; times <= i; times++)
            smp_tally_note(&tally, (enum smp_outcome)i);
    }
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++)
        assert_int_equal(tally.outcomes[i], i + 1);
    assert_int_equal(tally.polls, SMP_OUTCOME_COUNT * (SMP_OUTCOME_COUNT + 1) / 2);
    assert_int_equal(tally_sum(&tally), tally.polls);
}

static void test_adding_keeps_the_sums_equal(void **state)
{
    struct smp_tally total = { 0 };
    struct smp_tally group = { 0 };

    (void)state;
    smp_tally_note(&group, SMP_OUTCOME_WALKED);
    smp_tally_note(&group, SMP_OUTCOME_THREAD_ENDED_IN_WALK);
    smp_tally_add(&total, &group);
    smp_tally_add(&total, &group);
    assert_int_equal(total.polls, 4);
    assert_int_equal(total.outcomes[SMP_OUTCOME_WALKED], 2);
    assert_int_equal(total.outcomes[SMP_OUTCOME_THREAD_ENDED_IN_WALK], 2);
    assert_int_equal(tally_sum(&total), 4);
    assert_int_equal(group.polls, 2);
}

static void test_samples_are_polls_with_a_stack(void **state)
{
    struct smp_tally tally = { 0 };
    uint64_t samples = 0;

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++) {
        const enum smp_outcome_kind kind = smp_outcome_kind_of((enum smp_outcome)i);
        smp_tally_note_all(&tally, (enum smp_outcome)i, i + 5);
        if (kind != SMP_KIND_FAILED && kind != SMP_KIND_SKIPPED)
            samples += i + 5;
    }
    assert_int_equal(smp_tally_samples(&tally), samples);
    assert_true(smp_outcome_is_sample(SMP_OUTCOME_IDLE));
    assert_true(smp_outcome_is_sample(SMP_OUTCOME_NO_JAVA_FRAMES));
    assert_false(smp_outcome_is_sample(SMP_OUTCOME_UNKNOWN_JAVA));
    assert_false(smp_outcome_is_sample(SMP_OUTCOME_OVER_OVERHEAD_LIMIT));
}

/* Each failed outcome needs a frame for its time. */
static void test_every_failure_has_a_pseudo_frame(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++) {
        const enum smp_outcome outcome = (enum smp_outcome)i;
        const char *frame = smp_outcome_frame(outcome);

        if (smp_outcome_kind_of(outcome) == SMP_KIND_FAILED ||
            smp_outcome_kind_of(outcome) == SMP_KIND_SKIPPED)
            assert_non_null(frame);
        if (frame != NULL) {
            assert_int_equal(frame[0], '[');
            assert_int_equal(frame[strlen(frame) - 1], ']');
        }
    }
    assert_null(smp_outcome_frame(SMP_OUTCOME_WALKED));
    assert_string_equal(smp_outcome_frame(SMP_OUTCOME_NO_JAVA_FRAMES), "[no Java frames]");
    assert_int_equal(smp_outcome_kind_of(SMP_OUTCOME_THREAD_ENDED), SMP_KIND_SKIPPED);
    assert_int_equal(smp_outcome_kind_of(SMP_OUTCOME_OVER_MEMORY_LIMIT), SMP_KIND_FAILED);
}

static void assert_distinct(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(names[i] != NULL && names[i][0] != '\0');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
}

/* Texts are lines of the account and codes are keys of maps, so all must differ. */
static void test_texts_and_codes_are_distinct(void **state)
{
    const char *texts[SMP_OUTCOME_COUNT + SMP_COUNTER_COUNT] = { NULL };
    const char *codes[SMP_OUTCOME_COUNT + SMP_COUNTER_COUNT] = { NULL };
    size_t count = 0;

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++, count++) {
        texts[count] = smp_outcome_text((enum smp_outcome)i);
        codes[count] = smp_outcome_code((enum smp_outcome)i);
    }
    for (unsigned i = 0; i < SMP_COUNTER_COUNT; i++, count++) {
        texts[count] = smp_counter_text((enum smp_counter)i);
        codes[count] = smp_counter_code((enum smp_counter)i);
    }
    assert_distinct(texts, count);
    assert_distinct(codes, count);
    assert_string_equal(smp_counter_text(SMP_COUNTER_LATE_TICKS), "late ticks");
}

/* Programs search for these codes, so none may be renamed. A new one goes to the end of its
 * line. */
static void test_codes_are_stable(void **state)
{
    static const char expected[] =
        "WALKED DEEP_STACK_CUT NO_JAVA_FRAMES VIRTUAL_THREAD_CUT METHOD_WITHOUT_ID "
        "WALKED_BY_HANDSHAKE UNMOUNTED_WALKED IDLE RECOVERED_IN_STUB RECOVERED_AT_ENTRY "
        "RECOVERED_AT_RETURN "
        "RECOVERED_REGISTERS_PUSHED "
        "RECOVERED_BY_RETRY GC_ACTIVE UNKNOWN_NOT_JAVA "
        "NOT_WALKABLE_NOT_JAVA UNKNOWN_JAVA NOT_WALKABLE_JAVA UNKNOWN_THREAD_STATE "
        "DEOPTIMISATION FOREIGN_STACK THREAD_ENDED_IN_WALK JVM_NOT_LIVE JVM_OUT_OF_MEMORY "
        "REFUSED_BY_JVM "
        "OVER_MEMORY_LIMIT THREAD_ENDED OVER_OVERHEAD_LIMIT SIGNAL_QUEUE_FULL "
        "THREAD_UNIDENTIFIED SIGNAL_UNANSWERED WALK_BUFFER_FULL NO_CPU_TIMER "
        "PROCESS_STOPPED "
        "TICKS LATE_TICKS THROTTLED_TICKS IDLE_TICKS FRAMES_OMITTED UNLOADED_METHODS "
        "UNNAMED_METHODS UNSEEN_THREADS NAME_MANIPULATOR_FAILURES MERGED_REPORTS "
        "FAILED_REPORTS CUT_RECORDS DROPPED_INTERVALS COARSE_WINDOWS DEMAND_CPU_US "
        "REPEATED_WINDOWS UNMOUNTED_DRAWS UNMOUNTED_POPULATION "
        "UNMOUNTED_FOUND_MOUNTED STOPPED_MILLIS FOLDED_ROWS LOST_STATES LOST_ERRORS LOST_SECONDS "
        "LOST_COUNTED_TIMES RUNNABLE_UNKNOWN "
        "THROTTLED_MS STOLEN_MS OWNER_READS OWNERS_UNKNOWN LOST_HOLDERS DEADLOCKS ";
    char codes[sizeof(expected) + 256] = "";
    size_t length = 0;

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++)
        length += (size_t)snprintf(codes + length, sizeof(codes) - length, "%s ",
                                   smp_outcome_code((enum smp_outcome)i));
    for (unsigned i = 0; i < SMP_COUNTER_COUNT; i++)
        length += (size_t)snprintf(codes + length, sizeof(codes) - length, "%s ",
                                   smp_counter_code((enum smp_counter)i));
    assert_string_equal(codes, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_poll_has_one_outcome),
        cmocka_unit_test(test_adding_keeps_the_sums_equal),
        cmocka_unit_test(test_samples_are_polls_with_a_stack),
        cmocka_unit_test(test_every_failure_has_a_pseudo_frame),
        cmocka_unit_test(test_texts_and_codes_are_distinct),
        cmocka_unit_test(test_codes_are_stable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
