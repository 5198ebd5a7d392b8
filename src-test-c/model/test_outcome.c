/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/outcome.h"

static void test_an_attempt_has_one_outcome(void **state)
{
    struct smp_tally tally = { 0 };

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++) {
        for (unsigned times = 0; times <= i; times++)
            smp_tally_note(&tally, (enum smp_outcome)i);
    }
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++)
        assert_int_equal(tally.outcomes[i], i + 1);
    assert_int_equal(tally.attempts, SMP_OUTCOME_COUNT * (SMP_OUTCOME_COUNT + 1) / 2);
    assert_int_equal(smp_tally_sum(&tally), tally.attempts);
}

static void test_adding_keeps_the_sums_equal(void **state)
{
    struct smp_tally total = { 0 };
    struct smp_tally group = { 0 };

    (void)state;
    smp_tally_note(&group, SMP_OUTCOME_WALKED);
    smp_tally_note(&group, SMP_OUTCOME_GONE);
    smp_tally_add(&total, &group);
    smp_tally_add(&total, &group);
    assert_int_equal(total.attempts, 4);
    assert_int_equal(total.outcomes[SMP_OUTCOME_WALKED], 2);
    assert_int_equal(total.outcomes[SMP_OUTCOME_GONE], 2);
    assert_int_equal(smp_tally_sum(&total), 4);
    assert_int_equal(group.attempts, 2);
}

static void test_kinds_add_up(void **state)
{
    struct smp_tally tally = { 0 };
    uint64_t sum = 0;

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++)
        smp_tally_note_all(&tally, (enum smp_outcome)i, i + 5);
    for (unsigned kind = SMP_KIND_WALKED; kind <= SMP_KIND_SKIPPED; kind++)
        sum += smp_tally_kind(&tally, (enum smp_outcome_kind)kind);
    assert_int_equal(sum, tally.attempts);
    assert_int_equal(smp_tally_sum(&tally), tally.attempts);
    assert_int_equal(smp_tally_kind(&tally, SMP_KIND_IDLE), SMP_OUTCOME_IDLE + 5);
}

static void test_samples_are_attempts_with_a_stack(void **state)
{
    struct smp_tally tally = { 0 };

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++)
        smp_tally_note_all(&tally, (enum smp_outcome)i, i + 5);
    assert_int_equal(smp_tally_samples(&tally), smp_tally_kind(&tally, SMP_KIND_WALKED) +
                                                    smp_tally_kind(&tally, SMP_KIND_IDLE) +
                                                    smp_tally_kind(&tally, SMP_KIND_RECOVERED));
    assert_true(smp_outcome_is_sample(SMP_OUTCOME_IDLE));
    assert_true(smp_outcome_is_sample(SMP_OUTCOME_EMPTY));
    assert_false(smp_outcome_is_sample(SMP_OUTCOME_UNKNOWN_JAVA));
    assert_false(smp_outcome_is_sample(SMP_OUTCOME_BUDGET));
}

/* A failed attempt's time must have somewhere to go. */
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
    assert_string_equal(smp_outcome_frame(SMP_OUTCOME_EMPTY), "[no Java frames]");
    assert_int_equal(smp_outcome_kind_of(SMP_OUTCOME_ENDED), SMP_KIND_SKIPPED);
    assert_int_equal(smp_outcome_kind_of(SMP_OUTCOME_OVER_LIMIT), SMP_KIND_FAILED);
}

/* The texts name lines of the account and statistics: two alike could not be told apart. */
static void test_texts_are_distinct(void **state)
{
    const char *texts[SMP_OUTCOME_COUNT + SMP_COUNTER_COUNT] = { NULL };
    size_t count = 0;

    (void)state;
    for (unsigned i = 0; i < SMP_OUTCOME_COUNT; i++)
        texts[count++] = smp_outcome_text((enum smp_outcome)i);
    for (unsigned i = 0; i < SMP_COUNTER_COUNT; i++)
        texts[count++] = smp_counter_text((enum smp_counter)i);
    for (size_t i = 0; i < count; i++) {
        assert_true(texts[i] != NULL && texts[i][0] != '\0');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(texts[i], texts[j]);
    }
    assert_string_equal(smp_counter_text(SMP_COUNTER_LATE_TICKS), "late ticks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_attempt_has_one_outcome),
        cmocka_unit_test(test_adding_keeps_the_sums_equal),
        cmocka_unit_test(test_kinds_add_up),
        cmocka_unit_test(test_samples_are_attempts_with_a_stack),
        cmocka_unit_test(test_every_failure_has_a_pseudo_frame),
        cmocka_unit_test(test_texts_are_distinct),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
