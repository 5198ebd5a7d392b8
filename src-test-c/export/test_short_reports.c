/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that a report omits by default: small rows, the rows of idle groups, and ordinary
 * figures of the account. test_report.c compares random reports with a naive version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/report_fixture.h"

enum { TEXT_BYTES = 8192 };

static const struct smp_export_style by_default = { .min_per_mille = 5, .short_account = true };
static const struct smp_export_style whole = { .min_per_mille = 0 };

/* Compares the titles' groups, and the rows without their padding and labels: "  a.A.a(A.java:1)
 * 5/2". */
static void assert_rows(const char *text, const char *expected)
{
    char actual[TEXT_BYTES] = "";
    size_t length = 0;

    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const int line_length = (int)strcspn(line, "\n");
        const char *figures = strstr(line, " Cumulative time(ms): ");
        const char *group = strstr(line, "hread: ");
        long long total = 0;
        long long own = 0;
        if (figures != NULL && figures < line + line_length) {
            assert_int_equal(
                sscanf(figures, " Cumulative time(ms): %lld, Method time(ms): %lld", &total, &own),
                2);
            while (figures[-1] == ' ')
                figures--;
            length += (size_t)snprintf(actual + length, sizeof(actual) - length, "%.*s %lld/%lld\n",
                                       (int)(figures - line), line, total, own);
        } else if (group != NULL && group < line + line_length) {
            length += (size_t)snprintf(actual + length, sizeof(actual) - length, "%.*s:\n",
                                       (int)strcspn(group + 7, "."), group + 7);
        }
    }
    assert_string_equal(actual, expected);
}

static void credit(struct report_fixture *fixture, const char *group, const char *stack,
                   enum smp_thread_state spent, int64_t ns)
{
    (void)report_fixture_wait(fixture, group, group, stack, spent, ns);
}

/* --- order --- */

static void groups_are_ordered_by_active_time(void **state)
{
    credit(*state, "waits long", "a.A.a(A.java:1)", SMP_STATE_IDLE, 900 * MS);
    credit(*state, "works little", "a.A.a(A.java:1)", SMP_STATE_RUNNING, 10 * MS);
    credit(*state, "waits and works", "a.A.a(A.java:1)", SMP_STATE_IDLE, 500 * MS);
    credit(*state, "waits and works", "a.A.a(A.java:1)", SMP_STATE_BLOCKED, 30 * MS);
    credit(*state, "looks around", "a.A.a(A.java:1)", SMP_STATE_IDLE, 950 * MS);
    credit(*state, "looks around", "a.A.a(A.java:1)", SMP_STATE_RUNNING, MS - 1);
    credit(*state, "waits longer", "a.A.a(A.java:1)", SMP_STATE_IDLE, 990 * MS);
    (void)report_fixture_add(*state, "[JVM]", 0, "[GC]", 2000 * MS);
    assert_rows(report_fixture_print(*state, whole), "waits and works:\n"
                                                     "a.A.a(A.java:1) 530/530\n"
                                                     "works little:\n"
                                                     "a.A.a(A.java:1) 10/10\n"
                                                     "waits longer:\n"
                                                     "a.A.a(A.java:1) 990/990\n"
                                                     "looks around:\n"
                                                     "a.A.a(A.java:1) 950/950\n"
                                                     "waits long:\n"
                                                     "a.A.a(A.java:1) 900/900\n"
                                                     "[JVM]:\n"
                                                     "[GC] 2000/2000\n");
}

static void without_states_all_time_is_active(void **state)
{
    report_fixture_begin(*state);
    report_fixture_credit(*state, "short", "t", "a.A.a(A.java:1)", 10 * MS);
    report_fixture_credit(*state, "long", "t", "a.A.a(A.java:1)", 20 * MS);
    assert_rows(report_fixture_print(*state, by_default), "long:\n"
                                                          "a.A.a(A.java:1) 20/20\n"
                                                          "short:\n"
                                                          "a.A.a(A.java:1) 10/10\n");
}

/* --- rows --- */

#define ROOT "a.R.run(R.java:1)"

/* 1000 ms of active time: the limit is 5 ms. */
static void fill_small(struct report_fixture *fixture)
{
    credit(fixture, "g", ROOT, SMP_STATE_RUNNING, 10 * MS);
    credit(fixture, "g", ROOT "|a.A.a(A.java:1)", SMP_STATE_RUNNING, 900 * MS);
    credit(fixture, "g", ROOT "|a.A.small(A.java:2)", SMP_STATE_RUNNING, 1 * MS);
    credit(fixture, "g", ROOT "|a.A.small(A.java:2)|a.B.b(B.java:2)", SMP_STATE_IO, 3 * MS);
    credit(fixture, "g", ROOT "|a.C.limit(C.java:2)", SMP_STATE_RUNNING, 5 * MS);
    credit(fixture, "g", ROOT "|a.Z.idle(Z.java:2)|a.Z.poll(Z.java:3)", SMP_STATE_IDLE, 5000 * MS);
    credit(fixture, "g", ROOT "|a.D.d(D.java:1)", SMP_STATE_BLOCKED, 81 * MS);
}

static void small_rows_become_one_row_at_the_end(void **state)
{
    fill_small(*state);
    assert_rows(report_fixture_print(*state, by_default), "g:\n" ROOT " 6000/10\n"
                                                          "  a.A.a(A.java:1) 900/900\n"
                                                          "  a.C.limit(C.java:2) 5/5\n"
                                                          "  a.D.d(D.java:1) 81/81\n"
                                                          "  [4 rows below 0.5 %] 5004/5004\n");
    assert_rows(report_fixture_print(*state, whole), "g:\n" ROOT " 6000/10\n"
                                                     "  a.A.a(A.java:1) 900/900\n"
                                                     "  a.A.small(A.java:2) 4/1\n"
                                                     "    a.B.b(B.java:2) 3/3\n"
                                                     "  a.C.limit(C.java:2) 5/5\n"
                                                     "  a.D.d(D.java:1) 81/81\n"
                                                     "  a.Z.idle(Z.java:2) 5000/0\n"
                                                     "    a.Z.poll(Z.java:3) 5000/5000\n");
}

static void the_row_of_small_rows_is_last_in_order_of_time(void **state)
{
    fill_small(*state);
    assert_rows(report_fixture_print(*state, (struct smp_export_style){ .order = SMP_ORDER_BY_TIME,
                                                                        .min_per_mille = 120 }),
                "g:\n" ROOT " 6000/10\n"
                "  a.A.a(A.java:1) 900/900\n"
                "  [6 rows below 12 %] 5090/5090\n");
}

static void the_row_of_small_rows_has_the_sums_of_all_columns(void **state)
{
    fill_small(*state);
    const char *const text = report_fixture_print(
        *state, (struct smp_export_style){
                    .min_per_mille = 5,
                    .percent = true,
                    .columns = SMP_STATE_MEASURES | SMP_MEASURE_BIT(SMP_MEASURE_CPU),
                });

    assert_non_null(strstr(text, "Cumulative time(ms): 5004, Method time(ms): 5004, CPU time(ms): "
                                 "0, Running time(ms): 1, I/O 3, Idle 5000, Percent: 83.4\n"));
}

/* Each row shown loses 0.9 ms by rounding. */
static void the_row_of_small_rows_has_the_rounding_of_the_others(void **state)
{
    credit(*state, "g", ROOT, SMP_STATE_RUNNING, 2 * MS + 100000);
    credit(*state, "g", ROOT "|a.A.a(A.java:1)", SMP_STATE_RUNNING, 399 * MS + 900000);
    credit(*state, "g", ROOT "|a.B.b(B.java:1)", SMP_STATE_RUNNING, 399 * MS + 900000);
    credit(*state, "g", ROOT "|a.C.c(C.java:1)", SMP_STATE_RUNNING, 100000);
    assert_rows(report_fixture_print(*state, by_default), "g:\n" ROOT " 802/2\n"
                                                          "  a.A.a(A.java:1) 399/399\n"
                                                          "  a.B.b(B.java:1) 399/399\n"
                                                          "  [1 row below 0.5 %] 2/2\n");
}

static void small_outermost_rows_become_one_row(void **state)
{
    credit(*state, "g", ROOT, SMP_STATE_RUNNING, 1000 * MS);
    credit(*state, "g", "[thread ended]", SMP_STATE_RUNNING, 3 * MS);
    credit(*state, "g", "a.S.s(S.java:1)|a.S.t(S.java:1)", SMP_STATE_RUNNING, 1 * MS);
    assert_rows(report_fixture_print(*state, by_default), "g:\n" ROOT " 1000/1000\n"
                                                          "[3 rows below 0.5 %] 4/4\n");
}

/* The application's row of a chain is printed; small rows below and beside it become one row. */
static void chains_keep_the_applications_rows(void **state)
{
#define CHAIN                                                         \
    "java.lang.Thread.run(Thread.java:840)|"                          \
    "java.util.concurrent.ThreadPoolExecutor$Worker.run(T.java:642)|" \
    "shop.Orders.handle(Orders.java:20)|shop.Orders.store(Orders.java:31)"

    credit(*state, "g", CHAIN "|java.lang.Thread.sleep(Native Method)", SMP_STATE_WAITING,
           800 * MS);
    credit(*state, "g", CHAIN "|java.util.HashMap.get(HashMap.java:1)", SMP_STATE_RUNNING, 1 * MS);
    credit(*state, "g",
           "java.lang.Thread.run(Thread.java:840)|java.lang.Thread.exit(Thread.java:1)",
           SMP_STATE_RUNNING, 1 * MS);
    assert_rows(report_fixture_print(*state, by_default),
                "g:\n"
                "java.lang.Thread.run(Thread.java:840) 802/0\n"
                "  java.util.concurrent.ThreadPoolExecutor$Worker.run(T.java:642) 801/0\n"
                "    shop.Orders.store(Orders.java:31) 801/0\n"
                "      java.lang.Thread.sleep(Native Method) 800/800\n"
                "      [1 row below 0.5 %] 1/1\n"
                "  [1 row below 0.5 %] 1/1\n");
}

static void small_rows_of_holders_become_one_row_but_not_those_of_calls_and_jvm(void **state)
{
    report_fixture_begin_counting(*state);
    (void)report_fixture_count(*state, "g", "a.A.a(A.java)", 5, 1000 * MS, 0);
    (void)report_fixture_count(*state, "g", "a.A.a(A.java)|a.B.b(B.java)", 7, 1 * MS, 0);
    (void)report_fixture_add(*state, "[JVM]", 0, "[GC]", 1 * MS);
    (void)report_fixture_add(*state, "[JVM]", 0, "[JIT compiler]", 1000 * MS);
    report_fixture_hold(*state, "a.Lock", "a.W.wait(W.java:1)", "h", "a.H.h(H.java:1)", 1000 * MS);
    report_fixture_hold(*state, "a.Lock", "a.W.wait(W.java:1)", "h", "a.H.small(H.java:1)", 1 * MS);
    assert_rows(report_fixture_print(*state, by_default), "[JVM]:\n"
                                                          "[GC] 1/1\n"
                                                          "[JIT compiler] 1000/1000\n"
                                                          "g:\n"
                                                          "a.A.a(A.java) 1001/1000\n"
                                                          "  a.B.b(B.java) 1/1\n"
                                                          "a.H.h(H.java:1) 1000/1000\n"
                                                          "[1 row below 0.5 %] 1/1\n");
}

/* Three years of a thousand threads do not overflow. */
static void very_large_times_do_not_overflow(void **state)
{
    const int64_t years = INT64_C(4000000000000000000);

    credit(*state, "g", "a.A.a(A.java:1)", SMP_STATE_RUNNING, years);
    credit(*state, "g", "a.B.b(B.java:1)", SMP_STATE_RUNNING, years / 100);
    credit(*state, "g", "a.C.c(C.java:1)", SMP_STATE_RUNNING, years / 300);
    assert_rows(report_fixture_print(*state, by_default),
                "g:\n"
                "a.A.a(A.java:1) 4000000000000/4000000000000\n"
                "a.B.b(B.java:1) 40000000000/40000000000\n"
                "[1 row below 0.5 %] 13333333333/13333333333\n");
}

/* --- idle groups --- */

static void an_idle_group_has_its_outermost_row(void **state)
{
    credit(*state, "idle", ROOT "|a.P.poll(P.java:1)", SMP_STATE_IDLE, 500 * MS);
    credit(*state, "idle", ROOT "|a.Q.poll(Q.java:1)|a.Q.park(Q.java:2)", SMP_STATE_IDLE, 300 * MS);
    credit(*state, "idle", ROOT, SMP_STATE_RUNNING, MS - 1);
    assert_rows(report_fixture_print(*state, by_default), "idle:\n" ROOT " 800/800\n");
    assert_rows(report_fixture_print(*state, whole), "idle:\n" ROOT " 800/0\n"
                                                     "  a.P.poll(P.java:1) 500/500\n"
                                                     "  a.Q.poll(Q.java:1) 300/0\n"
                                                     "    a.Q.park(Q.java:2) 300/300\n");
}

static void an_idle_group_shows_its_longest_outermost_row(void **state)
{
    credit(*state, "idle", "a.A.a(A.java:1)|a.P.poll(P.java:1)", SMP_STATE_IDLE, 100 * MS);
    credit(*state, "idle", "a.B.b(B.java:1)|a.P.poll(P.java:1)", SMP_STATE_IDLE, 300 * MS);
    credit(*state, "idle", "[no Java frames]", SMP_STATE_IDLE, 200 * MS);
    assert_rows(report_fixture_print(*state, by_default), "idle:\n"
                                                          "a.B.b(B.java:1) 300/300\n"
                                                          "[3 rows below 0.5 %] 300/300\n");
}

static void time_without_a_stack_does_not_count_as_work(void **state)
{
    credit(*state, "idle", ROOT "|a.P.poll(P.java:1)", SMP_STATE_IDLE, 500 * MS);
    credit(*state, "idle", "[thread ended]", SMP_STATE_RUNNING, 30 * MS);
    credit(*state, "works", ROOT, SMP_STATE_RUNNING, 1 * MS);
    assert_rows(report_fixture_print(*state, by_default), "works:\n" ROOT " 1/1\n"
                                                          "idle:\n" ROOT " 500/500\n"
                                                          "[1 row below 0.5 %] 30/30\n");
}

static void a_group_that_worked_a_millisecond_is_not_idle(void **state)
{
    credit(*state, "g", ROOT "|a.P.poll(P.java:1)", SMP_STATE_IDLE, 500 * MS);
    credit(*state, "g", ROOT "|a.W.work(W.java:1)", SMP_STATE_RUNNING, 1 * MS);
    assert_rows(report_fixture_print(*state, by_default), "g:\n" ROOT " 501/0\n"
                                                          "  a.W.work(W.java:1) 1/1\n"
                                                          "  [1 row below 0.5 %] 500/500\n");
}

/* --- the account --- */

/* The lines of the account, up to the first group. */
static void assert_account(void **state, const char *expected)
{
    const char *const text = report_fixture_print(*state, by_default);
    const char *const from = strstr(text, "== Sampler account.\n");
    char actual[TEXT_BYTES];

    assert_non_null(from);
    const char *const lines = strchr(from, '\n') + 1;
    (void)snprintf(actual, sizeof(actual), "%.*s", (int)(strstr(lines, "== ") - lines), lines);
    assert_string_equal(actual, expected);
}

static void note(struct report_fixture *fixture, enum smp_outcome outcome, unsigned times)
{
    while (times-- > 0)
        report_fixture_note(fixture, "g", outcome);
}

#define LAST_LINES "memory used: 0 of 0 bytes\nsampler's own CPU: 0 ms, 0.00 % of the interval\n"

static void a_short_account_has_three_lines(void **state)
{
    credit(*state, "g", ROOT, SMP_STATE_RUNNING, 997 * MS + 1);
    credit(*state, "g", "[thread ended]", SMP_STATE_RUNNING, 3 * MS);
    credit(*state, "g", "[no Java frames]", SMP_STATE_RUNNING, 10 * MS);
    note(*state, SMP_OUTCOME_IDLE, 500);
    note(*state, SMP_OUTCOME_RECOVERED_IN_STUB, 400);
    note(*state, SMP_OUTCOME_THREAD_ENDED, 5);
    struct smp_profile *const profile = report_fixture_finish(*state);
    profile->counters[SMP_COUNTER_TICKS] = 1000;
    profile->counters[SMP_COUNTER_LATE_TICKS] = 9;
    assert_account(state, "polls: 908, 99.7 % of the time with a stack\n" LAST_LINES);
}

static void without_time_there_is_no_share(void **state)
{
    note(*state, SMP_OUTCOME_WALKED, 1);
    assert_account(state, "polls: 1\n" LAST_LINES);
}

static void some_figures_are_shown_from_one_percent_of_the_polls(void **state)
{
    credit(*state, "g", ROOT, SMP_STATE_RUNNING, 1000 * MS);
    note(*state, SMP_OUTCOME_IDLE, 989);
    note(*state, SMP_OUTCOME_THREAD_ENDED, 10);
    assert_account(state, "polls: 1000, 100.0 % of the time with a stack\n"
                          "skipped, thread ended since its last sample: 10\n" LAST_LINES);
}

/* One of each kind of loss is shown, at any number of polls. */
static void losses_are_always_shown(void **state)
{
    static const enum smp_counter losses[] = {
        SMP_COUNTER_MERGED_REPORTS,    SMP_COUNTER_FAILED_REPORTS, SMP_COUNTER_CUT_RECORDS,
        SMP_COUNTER_DROPPED_INTERVALS, SMP_COUNTER_STOPPED_MILLIS, SMP_COUNTER_LOST_STATES,
        SMP_COUNTER_RUNNABLE_UNKNOWN,  SMP_COUNTER_THROTTLED_MS,   SMP_COUNTER_STOLEN_MS,
        SMP_COUNTER_LOST_HOLDERS,      SMP_COUNTER_DEADLOCKS,      SMP_COUNTER_COARSE_WINDOWS,
        SMP_COUNTER_FOLDED_ROWS,
    };
    char expected[TEXT_BYTES] = "";

    credit(*state, "g", ROOT, SMP_STATE_RUNNING, 1000 * MS);
    note(*state, SMP_OUTCOME_IDLE, 5000);
    for (int i = 0; i < SMP_OUTCOME_COUNT; i++) {
        if (smp_outcome_kind_of((enum smp_outcome)i) == SMP_KIND_FAILED)
            note(*state, (enum smp_outcome)i, 1);
    }
    struct smp_profile *const profile = report_fixture_finish(*state);
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
        profile->counters[losses[i]] = 1;
    (void)snprintf(profile->signal_taker, sizeof(profile->signal_taker), "/lib.so");
    const char *const text = report_fixture_print(*state, by_default);
    for (int i = 0; i < SMP_OUTCOME_COUNT; i++) {
        const enum smp_outcome outcome = (enum smp_outcome)i;
        (void)snprintf(expected, sizeof(expected), "\n%s: 1\n", smp_outcome_text(outcome));
        if (smp_outcome_kind_of(outcome) == SMP_KIND_FAILED)
            assert_non_null(strstr(text, expected));
    }
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        (void)snprintf(expected, sizeof(expected), "\n%s: 1\n", smp_counter_text(losses[i]));
        assert_non_null(strstr(text, expected));
    }
    assert_non_null(strstr(text, "\nanother library took the sampler's signal: /lib.so\n"));
}

static void packages_that_match_nothing_are_always_shown(void **state)
{
    report_fixture_monitor(*state, "com.foo");
    credit(*state, "g", ROOT, SMP_STATE_RUNNING, 1000 * MS);
    assert_account(state, "polls: 1, 100.0 % of the time with a stack\n"
                          "no frame of the monitored packages was seen: com.foo\n" LAST_LINES);
}

static void a_short_account_shows_losses_of_counting(void **state)
{
    struct smp_counting_account *const counting = report_fixture_counting(*state);

    credit(*state, "g", ROOT, SMP_STATE_RUNNING, 1000 * MS);
    smp_counting_account_add(counting, SMP_COUNTING_INSTRUMENTED, 7);
    smp_counting_account_add(counting, SMP_COUNTING_TRIVIAL, 3);
    assert_true(smp_counting_account_add_for(counting, SMP_COUNTING_CALLS_WITHOUT_PLACE,
                                             smp_call_loss_text(SMP_LOST_OVER_DEPTH), 2));
    assert_true(smp_counting_account_add_for(counting, SMP_COUNTING_CALLS_WITHOUT_PLACE,
                                             smp_call_loss_text(SMP_LOST_OVER_MEMORY), 7));
    assert_account(state, "polls: 1, 100.0 % of the time with a stack\n"
                          "calls without a place: 9 (over the limit of depth (maxCallDepth): 2, "
                          "over the memory limit: 7)\n" LAST_LINES);
}

static void warning_levels_are_shares_of_the_polls(void **state)
{
    (void)state;
    assert_false(smp_shown_in_short(SMP_SHOWN_ALWAYS, 0, 100));
    assert_true(smp_shown_in_short(SMP_SHOWN_ALWAYS, 1, UINT64_MAX));
    assert_false(smp_shown_in_short(SMP_SHOWN_PERCENT, 99, 10000));
    assert_true(smp_shown_in_short(SMP_SHOWN_PERCENT, 100, 10000));
    assert_true(smp_shown_in_short(SMP_SHOWN_PERCENT, 1, 0));
    assert_false(smp_shown_in_short(SMP_SHOWN_PERCENT, 0, 0));
    assert_false(smp_shown_in_short(SMP_SHOWN_NEVER, UINT64_MAX, 1));
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_states, report_fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(groups_are_ordered_by_active_time),
        CASE(without_states_all_time_is_active),
        CASE(small_rows_become_one_row_at_the_end),
        CASE(the_row_of_small_rows_is_last_in_order_of_time),
        CASE(the_row_of_small_rows_has_the_sums_of_all_columns),
        CASE(the_row_of_small_rows_has_the_rounding_of_the_others),
        CASE(small_outermost_rows_become_one_row),
        CASE(chains_keep_the_applications_rows),
        CASE(small_rows_of_holders_become_one_row_but_not_those_of_calls_and_jvm),
        CASE(very_large_times_do_not_overflow),
        CASE(an_idle_group_has_its_outermost_row),
        CASE(an_idle_group_shows_its_longest_outermost_row),
        CASE(time_without_a_stack_does_not_count_as_work),
        CASE(a_group_that_worked_a_millisecond_is_not_idle),
        CASE(a_short_account_has_three_lines),
        CASE(without_time_there_is_no_share),
        CASE(some_figures_are_shown_from_one_percent_of_the_polls),
        CASE(losses_are_always_shown),
        CASE(packages_that_match_nothing_are_always_shown),
        CASE(a_short_account_shows_losses_of_counting),
        CASE(warning_levels_are_shares_of_the_polls),
    };
    return cmocka_run_group_tests_name("short_reports", tests, NULL, NULL);
}
