/* SPDX-License-Identifier: Apache-2.0 */
/* The summary: line by line, compared with files, and within its limits. */
#include "export/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/exported.h"
#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/memory_output.h"
#include "support/random_profile.h"
#include "support/rounds.h"

enum { ROUNDS = 300, NAME_BYTES = 1024 };

#define S (1000 * MS)

static const struct smp_export_style with_summary = { .order = SMP_ORDER_BY_NAME, .summary = true };

static char *lines_of(struct report_fixture *fixture)
{
    struct smp_summary summary;
    struct smp_bytes lines;
    char *text;

    smp_bytes_init(&lines, NULL, SMP_SUMMARY_BYTES);
    assert_int_equal(smp_summary_init(&summary, NULL, report_fixture_finish(fixture)), SMP_OK);
    smp_summary_lines(&summary, &lines);
    assert_int_equal(lines.status, SMP_OK);
    text = strdup(smp_bytes_text(&lines));
    smp_bytes_fini(&lines);
    return text;
}

static void assert_line_in(struct report_fixture *fixture, const char *line)
{
    char *const text = lines_of(fixture);
    char whole[NAME_BYTES];

    (void)snprintf(whole, sizeof(whole), "%s\n", line);
    if (strncmp(text, whole, strlen(whole)) != 0) {
        (void)snprintf(whole, sizeof(whole), "\n%s\n", line);
        if (strstr(text, whole) == NULL)
            fail_msg("no line\n%s\nin\n%s", line, text);
    }
    free(text);
}

/* --- a service --- */

#define WORKER "java.lang.Thread.run(Thread.java:840)|com.acme."
#define MAIN "com.acme.Main.main(Main.java:9)"

static void fill_locks(struct report_fixture *fixture)
{
    static const char nio[] = "http-nio--exec-";

    report_fixture_wait(fixture, nio, "http-nio-8080-exec-1",
                        WORKER "StockLedger.audit(StockLedger.java:52)|"
                               "java.lang.Thread.sleep(Thread.java:450)|"
                               "java.lang.Thread.sleep0(Native Method)",
                        SMP_STATE_WAITING, 13 * S);
    report_fixture_wait(fixture, nio, "http-nio-8080-exec-2",
                        WORKER "StockLedger.reserve(StockLedger.java:41)", SMP_STATE_BLOCKED,
                        12100 * MS);
    report_fixture_hold(fixture, "com.acme.StockLedger",
                        "com.acme.StockLedger.reserve(StockLedger.java:41)", nio,
                        WORKER "StockLedger.audit(StockLedger.java:52)", 12 * S);
    report_fixture_wait(fixture, nio, "http-nio-8080-exec-2",
                        WORKER
                        "Cart.add(Cart.java:5)|"
                        "java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:3)",
                        SMP_STATE_BLOCKED, 900 * MS);
    report_fixture_hold(fixture, "java.util.concurrent.locks.ReentrantLock$Sync",
                        "com.acme.Cart.add(Cart.java:5)", "timer",
                        WORKER "CartSweep.sweep(CartSweep.java:77)", 900 * MS);
    report_fixture_wait(
        fixture, nio, "http-nio-8080-exec-1",
        "java.lang.Thread.run(Thread.java:840)|"
        "java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1)",
        SMP_STATE_IDLE, 600 * S);
}

static void fill_service(struct report_fixture *fixture)
{
    struct smp_profile *profile;

    fill_locks(fixture);
    report_fixture_wait(fixture, "main", "main", MAIN, SMP_STATE_IDLE, 20 * S);
    for (int i = 0; i < 2; i++) {
        const char *const group = i == 0 ? "[virtual threads]" : "main";
        const uint32_t node =
            report_fixture_wait(fixture, group, group,
                                WORKER "Imports.importOne(Imports.java:95)|"
                                       "java.security.MessageDigest.update(MessageDigest.java:355)",
                                SMP_STATE_RUNNING, (i == 0 ? 4300 : 1000) * MS);
        report_fixture_ran(fixture, node, 2 * S, 0);
    }
    report_fixture_wait(fixture, "main", "main", MAIN "|com.acme.A.x(A.java:1)", SMP_STATE_RUNNABLE,
                        300 * MS);
    report_fixture_wait(fixture, "main", "main", MAIN "|com.acme.A.y(A.java:2)", SMP_STATE_RUNNABLE,
                        200 * MS);
    for (int i = 0; i < 9; i++) {
        char stack[NAME_BYTES];
        (void)snprintf(stack, sizeof(stack), MAIN "|com.acme.Small.s(Small.java:%d)", i + 1);
        report_fixture_wait(fixture, "main", "main", stack, SMP_STATE_RUNNING, 300 * MS);
    }
    report_fixture_wait(fixture, "http-acceptor", "http-acceptor",
                        "java.lang.Thread.run(Thread.java:840)|"
                        "org.apache.coyote.Http.parse(Http.java:12)",
                        SMP_STATE_IO, 3200 * MS);
    report_fixture_add(fixture, SMP_JVM_THREADS_NAME, 0, SMP_JVM_GC_NAME, 410 * MS);
    report_fixture_add(fixture, SMP_JVM_THREADS_NAME, 0, SMP_JVM_JIT_NAME, 1260 * MS);
    profile = report_fixture_finish(fixture);
    profile->elapsed_ns = 20700 * MS;
    profile->own_cpu_ns = 140 * MS;
    profile->cpus = 2;
}

static void a_report_begins_with_the_summary(void **state)
{
    fill_service(*state);
    const char *const text = report_fixture_print(*state, with_summary);

    assert_memory_equal(text, "title 1000 2000\n== Summary.\n20.7 s, ", 36);
    const char *const end = strstr(text, "== Sampler account.");
    assert_non_null(end);
    golden_check("summary.txt", text, (size_t)(end - text));
}

static void without_the_summary_the_report_is_otherwise_the_same(void **state)
{
    fill_service(*state);
    char *const without = strdup(
        report_fixture_print(*state, (struct smp_export_style){ .order = SMP_ORDER_BY_NAME }));
    const char *const with = report_fixture_print(*state, with_summary);

    assert_string_equal(strstr(with, "== Sampler account."),
                        strstr(without, "== Sampler account."));
    assert_null(strstr(without, "Summary"));
    free(without);
}

static void the_table_of_methods_begins_with_the_summary(void **state)
{
    const struct smp_export_style style = { .summary = true };

    fill_service(*state);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_TOP, style,
                    " of a CPU).\n\nTop 15 hot spots of 15", true);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_TOP,
                    (struct smp_export_style){ .summary = false }, "Summary", false);
}

static void json_has_the_summary_as_an_object(void **state)
{
    const struct smp_export_style style = { .summary = true };

    fill_service(*state);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_JSON, style,
                    "\"state\":\"blocked\",\"nanos\":12100000000,"
                    "\"class\":\"com.acme.StockLedger\",\"method\":\"reserve\","
                    "\"file\":\"StockLedger.java\",\"line\":41,\"group\":\"http-nio--exec-\","
                    "\"groups\":1,\"lock\":\"com.acme.StockLedger\","
                    "\"holding\":\"com.acme.StockLedger.audit(StockLedger.java:52)\","
                    "\"holder\":\"http-nio--exec-\"}",
                    true);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_JSON, style,
                    "\"packages\":[\"com.acme\"],\"guessed\":true,\n", true);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_JSON,
                    (struct smp_export_style){ .summary = false }, "summary", false);
}

/* --- lines that are left out --- */

static void with_the_cpu_clock_there_are_no_states(void **state)
{
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", "a.b.A.run(A.java:1)", 2 * S);
    report_fixture_finish(*state)->is_cpu_clock = true;
    assert_line_in(*state, "1.0 s, 1 thread in 1 group.");
    assert_line_in(*state, "CPU time 2.0 s; your code: a.b (guessed)");
    assert_line_in(*state, " 1. 2.0 s CPU       A.run(A.java:1)  g");
}

static void unknown_states_are_not_shown(void **state)
{
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", "a.b.A.run(A.java:1)", 2 * S);
    assert_line_in(*state, "wall time 2.0 s (states are not known); your code: a.b (guessed)");
    assert_line_in(*state, " 1. 2.0 s wall      A.run(A.java:1)  g");
}

static void an_empty_interval_says_so(void **state)
{
    report_fixture_note(*state, "g", SMP_OUTCOME_OVER_MEMORY_LIMIT);
    char *const text = lines_of(*state);

    assert_string_equal(text, "1.0 s, 0 threads in 1 group. Active: 0 s. Idle: 0 s.\n"
                              "No time was sampled.\n"
                              "Sampler 0 s (0.00 % of a CPU).\n");
    free(text);
}

static void counted_calls_alone_are_counted(void **state)
{
    report_fixture_begin_counting(*state);
    report_fixture_count(*state, "g", "a.b.A.run(A.java)", 12345, 0, 0);
    assert_line_in(*state, "No time was sampled.");
    assert_line_in(*state, "12,345 calls counted, most of a.b.A.run: 1.0 for each of 12,345 root "
                           "calls.");
}

static void the_method_with_most_calls_is_named_per_root_call(void **state)
{
    report_fixture_begin_counting(*state);
    report_fixture_count(*state, "g", "a.b.A.run(A.java)", 4, 0, 0);
    report_fixture_count(*state, "h", "a.b.A.run(A.java)|a.b.B.x(B.java)", 1000, 0, 0);
    report_fixture_count(*state, "g", "a.b.A.run(A.java)|a.b.C.y(C.java)|a.b.B.x(B.java)", 3000, 0,
                         0);
    assert_line_in(*state, "4,004 calls counted, most of a.b.B.x: 1,000 for each of 4 root calls.");
}

/* The root was entered before the interval. */
static void without_a_root_call_there_is_no_ratio(void **state)
{
    report_fixture_begin_counting(*state);
    report_fixture_count(*state, "g", "a.b.A.run(A.java)|a.b.B.x(B.java)", 1000, 0, 0);
    assert_line_in(*state, "1,000 calls counted, most of a.b.B.x: 1,000.");
}

static void a_hot_spot_has_its_calls(void **state)
{
    report_fixture_begin_with(*state, REPORT_FIXTURE_STATES | SMP_MEASURE_BIT(SMP_MEASURE_CALLS));
    report_fixture_wait(*state, "g", "g", "a.b.A.run(A.java:1)|java.B.b(B.java:1)",
                        SMP_STATE_RUNNING, 2 * S);
    report_fixture_count(*state, "g", "a.b.A.run(A.java)", 12345, 0, 0);
    assert_line_in(*state, " 1. 2.0 s running   A.run(A.java:1)  B.b  g, 12,345 calls");
}

static void a_runnable_hot_spot_has_the_share_of_that_state(void **state)
{
    report_fixture_wait(*state, "g", "g", "a.b.A.run(A.java:1)", SMP_STATE_RUNNING, 600 * MS);
    report_fixture_wait(*state, "g", "g", "a.b.A.run(A.java:1)", SMP_STATE_RUNNABLE, 400 * MS);
    report_fixture_wait(*state, "g", "g", "a.b.B.b(B.java:1)", SMP_STATE_RUNNABLE, 500 * MS);
    report_fixture_wait(*state, "g", "g", "a.b.C.c(C.java:1)", SMP_STATE_RUNNABLE, 298 * MS);
    report_fixture_wait(*state, "g", "g", "a.b.C.c(C.java:1)", SMP_STATE_RUNNING, 1 * MS);
    assert_line_in(*state, " 1.  1.0 s running 60 %  A.run(A.java:1)  g");
    assert_line_in(*state, " 2. 0.50 s runnable      B.b(B.java:1)    g");
    assert_line_in(*state, " 3. 0.30 s runnable      C.c(C.java:1)    g");
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_JSON,
                    (struct smp_export_style){ .summary = true },
                    "{\"state\":\"running\",\"nanos\":1000000000,\"runnableNanos\":400000000,",
                    true);
}

static void threads_that_only_wait_for_others_are_one_line(void **state)
{
    report_fixture_wait(*state, "main", "main",
                        "a.b.A.main(A.java:9)|java.lang.Thread.join(Thread.java:1)",
                        SMP_STATE_WAITING, 4 * S);
    report_fixture_wait(*state, "g", "g", "a.b.B.b(B.java:1)", SMP_STATE_RUNNING, 1 * S);
    assert_line_in(*state, " 1. 1.0 s running   B.b(B.java:1)  g");
    assert_line_in(*state, "    4.0 s by threads that only wait for others, most of it in "
                           "A.main(A.java:9), main");
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_JSON,
                    (struct smp_export_style){ .summary = true },
                    "\"waits\":{\"nanos\":4000000000,\"line\":\"a.b.A.main(A.java:9)\","
                    "\"group\":\"main\",\"groups\":1}",
                    true);
}

static void a_cpu_quota_below_the_cpu_count_is_shown(void **state)
{
    const uint32_t node =
        report_fixture_wait(*state, "g", "g", "a.b.B.b(B.java:1)", SMP_STATE_RUNNING, 1 * S);
    struct smp_profile *profile;

    report_fixture_ran(*state, node, 400 * MS, 0);
    profile = report_fixture_finish(*state);
    profile->cpus = 2;
    profile->cpu_quota_milli = 1500;
    assert_line_in(*state, "1.0 s, 1 thread in 1 group. CPU: 0.40 of 1.5 (quota) "
                           "(Java threads only). Active: 1.0 s. Idle: 0 s.");
    profile->cpu_quota_milli = 2000;
    assert_line_in(*state, "1.0 s, 1 thread in 1 group. CPU: 0.40 of 2 "
                           "(Java threads only). Active: 1.0 s. Idle: 0 s.");
    profile->cpus = 0;
    assert_line_in(*state, "1.0 s, 1 thread in 1 group. CPU: 0.40 of 2.0 (quota) "
                           "(Java threads only). Active: 1.0 s. Idle: 0 s.");
}

static void packages_without_a_sample_are_named(void **state)
{
    report_fixture_wait(*state, "g", "g", "java.A.run(A.java:1)", SMP_STATE_RUNNING, 2 * S);
    assert_line_in(*state, "running 2.0 s, runnable 0 s, blocked 0 s, I/O 0 s, waiting 0 s; "
                           "your code: not seen");
    assert_line_in(*state, "    2.0 s in no code of yours, most of it in A.run, g");
    strcpy(report_fixture_finish(*state)->packages, "com.acme, org.x");
    assert_line_in(*state, "running 2.0 s, runnable 0 s, blocked 0 s, I/O 0 s, waiting 0 s; "
                           "your code: com.acme, org.x (not seen)");
    memset(report_fixture_finish(*state)->packages, 'p', SMP_PROFILE_PACKAGES_BYTES - 1);
    char *const text = lines_of(*state);
    assert_non_null(strstr(text, "ppp… (not seen)\n"));
    free(text);
}

/* --- error bars --- */

static void wide_error_bars_are_shown(void **state)
{
    report_fixture_begin_with(*state, REPORT_FIXTURE_STATES | SMP_WITH_ERRORS);
    report_fixture_wait(*state, "g", "g", "a.b.A.a(A.java:1)", SMP_STATE_RUNNING, 100 * S);
    report_fixture_wait(*state, "g", "g", "a.b.B.b(B.java:1)", SMP_STATE_RUNNING, 1 * S);
    report_fixture_wait(*state, "g", "g", "a.b.B.b(B.java:1)", SMP_STATE_WAITING, 1 * S);
    report_fixture_wait(*state, "g", "g", "a.b.C.c(C.java:1)", SMP_STATE_RUNNING, 1050 * MS);
    report_fixture_wait(*state, "g", "g", "a.b.C.c(C.java:1)", SMP_STATE_IO, 1050 * MS);
    report_fixture_finish(*state)->period_ns = 50 * MS;
    char *const text = lines_of(*state);

    assert_non_null(strstr(text, "100 s running   A.a(A.java:1)  g\n"));
    /* About twenty polls found C in each of its states. */
    assert_non_null(strstr(text, " 2. 1.1 ± 0.5 s running   C.c(C.java:1)  g\n"));
    assert_non_null(strstr(text, " 3. 1.1 ± 0.5 s I/O       C.c(C.java:1)  g\n"));
    free(text);
}

/* --- limits --- */

static size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)line[i] & 0xC0) != 0x80;
    return columns;
}

static void assert_within_limits(const char *text)
{
    size_t lines = 1; /* the title */

    for (const char *at = text; *at != '\0'; lines++) {
        const size_t length = strcspn(at, "\n");
        assert_int_equal(at[length], '\n');
        assert_true(columns_of(at, length) <= SMP_SUMMARY_WIDTH);
        assert_true(length == 0 || at[length - 1] != ' ');
        at += length + 1;
    }
    assert_true(lines <= SMP_SUMMARY_LINES);
}

static void long_names_keep_their_file_and_line(void **state)
{
    char class_name[NAME_BYTES] = "com.acme.";
    char stack[3 * NAME_BYTES];
    char *text;

    for (int i = 0; i < 20; i++)
        strcat(class_name, "VeryLongName\xc3\xa9");
    (void)snprintf(stack, sizeof(stack),
                   "%s.run(AFileWithANameThatIsQuiteLongButNotLongerThanALine.java:12345)|"
                   "java.util.%s.call(X.java:1)",
                   class_name, class_name + strlen("com.acme."));
    report_fixture_wait(*state, class_name, "t", stack, SMP_STATE_BLOCKED, 2 * S);
    report_fixture_wait(*state, "g\n", "t", "c.C.c(C.java:7)", SMP_STATE_BLOCKED, 1 * S);
    report_fixture_hold(*state, class_name, "c.C.c(C.java:7)", class_name, "c.C.d(C.java:8)", S);
    text = lines_of(*state);
    assert_within_limits(text);
    assert_non_null(
        strstr(text, "(AFileWithANameThatIsQuiteLongButNotLongerThanALine.java:12345)  …"));
    assert_non_null(strstr(text, "  C.c(C.java:7) "));
    free(text);
}

static void a_long_lock_class_is_cut_before_the_line_that_holds_it(void **state)
{
    char *text;

    report_fixture_wait(*state, "g", "t",
                        "c.TheControllerOfOrders.checkout(TheControllerOfOrders.java:57)",
                        SMP_STATE_BLOCKED, 1 * S);
    report_fixture_hold(*state, "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync",
                        "c.TheControllerOfOrders.checkout(TheControllerOfOrders.java:57)",
                        "a group of workers", "c.D.d(KeeperOfOrders.java:8)", S);
    text = lines_of(*state);
    assert_within_limits(text);
    assert_non_null(strstr(text, "  lock of Reentra…, held in KeeperOfOrders.java:8…\n"));
    free(text);
}

/* A name in a class file may have 65,535 bytes, and each of them may be a control character. */
static void names_of_control_characters_do_not_fail_the_summary(void **state)
{
    enum { LENGTH = 65000 };
    static char name[LENGTH + 1];
    static char stack[5 * LENGTH];
    const struct smp_export_style style = { .summary = true };
    char *text;

    memset(name, '\x01', LENGTH);
    (void)snprintf(stack, sizeof(stack), "c.C%s.c%s(C%s.java:7)", name, name, name);
    report_fixture_wait(*state, "g", "t", stack, SMP_STATE_RUNNING, 1 * S);
    text = lines_of(*state);
    assert_within_limits(text);
    assert_non_null(strstr(text, "\\u0001.java:7)  g\n"));
    assert_null(strchr(text, '\x01'));
    free(text);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_TOP, style, "Top 1 method", true);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_JSON, style, "\\u0001.java:7)  g\"",
                    true);
}

static void a_lock_without_a_known_holder_says_why(void **state)
{
    char *text;

    report_fixture_wait(*state, "g", "t", "c.C.c(C.java:7)", SMP_STATE_BLOCKED, 1 * S);
    report_fixture_hold(*state, "java.util.concurrent.Semaphore", "c.C.c(C.java:7)", "[unknown]",
                        "[permits of the semaphore]", S);
    text = lines_of(*state);
    assert_non_null(strstr(text, "lock of Semaphore, [permits of the semaphore]\n"));
    free(text);
}

static void random_summaries_are_within_their_limits(void **state)
{
    static const int64_t factors[] = { 1, MS, 1000 * S, 1000000 * S };

    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        unsigned seed = (unsigned)round * 7919 + 1;
        const unsigned stacks = next_random(&seed) % 60;
        for (unsigned i = 0; i < stacks; i++) {
            char stack[NAME_BYTES];
            const unsigned pad = next_random(&seed) % (next_random(&seed) % 4 == 0 ? 150 : 10);
            (void)snprintf(
                stack, sizeof(stack), "a.A%.*s.a%u(A%.*s.java:%u)|java.B%u.b(B.java:1)", (int)pad,
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                next_random(&seed) % 9, (int)(pad / (1 + i % 2)),
                "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
                next_random(&seed) % 99999, next_random(&seed) % 5);
            (void)report_fixture_wait(
                *state, next_random(&seed) % 2 == 0 ? "main" : "a group with a longer name", "t",
                stack, (enum smp_thread_state)(next_random(&seed) % SMP_THREAD_STATE_COUNT),
                next_random(&seed) % 1000 * factors[next_random(&seed) % 4]);
        }
        char *const text = lines_of(*state);
        assert_within_limits(text);
        free(text);
        report_fixture_begin_with(*state, REPORT_FIXTURE_STATES);
    }
}

static enum smp_status print_report(void *self)
{
    struct recording recording = { 0 };
    const struct smp_outputer outputer = recording_outputer(&recording);
    unsigned cut = 0;
    const enum smp_status status =
        smp_report_text(report_fixture_finish(self), with_summary, NULL, &outputer, &cut);

    assert_int_equal(recording.calls > 0, status == SMP_OK); /* either all of the output or none */
    if (status == SMP_OK && strstr(recording.text, "== Summary.\n20.7 s, 5 threads") == NULL)
        assert_non_null(strstr(recording.text, "== Summary.\nnot made: out of memory\n"));
    recording_fini(&recording);
    return status;
}

/* With the summary or with a line instead of it; the other records are always printed. */
static enum smp_status export_with_summary(struct report_fixture *fixture, enum smp_format format,
                                           const char *rest)
{
    const struct smp_export_style style = { .summary = true };
    struct memory_output out = { 0 };
    const struct smp_output output = memory_output_functions(&out);
    const enum smp_status status =
        smp_export(report_fixture_finish(fixture), format, &style, NULL, &output);
    const char *const text = memory_output_text(&out);

    if (status == SMP_OK) {
        assert_true((strstr(text, "20.7 s, 5 threads") != NULL) !=
                    (strstr(text, "not made: out of memory") != NULL));
        assert_non_null(strstr(text, rest));
    }
    memory_output_fini(&out);
    return status;
}

static enum smp_status export_json(void *self)
{
    return export_with_summary(self, SMP_FORMAT_JSON, "\"groups\":[");
}

static enum smp_status export_top(void *self)
{
    return export_with_summary(self, SMP_FORMAT_TOP, " methods of ");
}

static void each_allocation_may_be_refused(void **state)
{
    struct failing_alloc_steps steps;

    fill_service(*state);
    steps = failing_alloc_each_step(print_report, *state);
    assert_true(steps.refused >= 15);
    assert_true(steps.survived >= 8); /* the report without the summary */
    steps = failing_alloc_each_step(export_json, *state);
    assert_true(steps.survived >= 8 && steps.survived < steps.refused);
    steps = failing_alloc_each_step(export_top, *state);
    assert_true(steps.survived >= 8 && steps.survived < steps.refused);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_states, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_report_begins_with_the_summary),
        TEST(without_the_summary_the_report_is_otherwise_the_same),
        TEST(the_table_of_methods_begins_with_the_summary),
        TEST(json_has_the_summary_as_an_object),
        TEST(with_the_cpu_clock_there_are_no_states),
        TEST(unknown_states_are_not_shown),
        TEST(an_empty_interval_says_so),
        TEST(counted_calls_alone_are_counted),
        TEST(the_method_with_most_calls_is_named_per_root_call),
        TEST(without_a_root_call_there_is_no_ratio),
        TEST(a_hot_spot_has_its_calls),
        TEST(a_runnable_hot_spot_has_the_share_of_that_state),
        TEST(threads_that_only_wait_for_others_are_one_line),
        TEST(a_cpu_quota_below_the_cpu_count_is_shown),
        TEST(packages_without_a_sample_are_named),
        TEST(wide_error_bars_are_shown),
        TEST(long_names_keep_their_file_and_line),
        TEST(a_long_lock_class_is_cut_before_the_line_that_holds_it),
        TEST(names_of_control_characters_do_not_fail_the_summary),
        TEST(a_lock_without_a_known_holder_says_why),
        TEST(random_summaries_are_within_their_limits),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
