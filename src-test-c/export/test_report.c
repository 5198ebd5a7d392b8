/* SPDX-License-Identifier: Apache-2.0 */
/* Each property of a report that its readers rely on; whole reports compared with files; and
 * random intervals compared with a naive version. SMP_TEST_ROUNDS sets the total number of their
 * parts. */
#include "export/report.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/reference_report.h"
#include "support/report_fixture.h"
#include "support/rounds.h"

static const struct smp_export_style by_name = { .order = SMP_ORDER_BY_NAME };
static const struct smp_export_style by_time = { .order = SMP_ORDER_BY_TIME };
static const struct smp_export_style short_by_time = { .order = SMP_ORDER_BY_TIME,
                                                       .min_per_mille = 5,
                                                       .short_account = true };
static const struct smp_export_style with_packages = { .order = SMP_ORDER_BY_NAME,
                                                       .zero_time_packages = true };

/* --- reading a report --- */

enum { MAX_LINE = 400 };

/* Returns the start of the first line that contains the text; fails if there is none. */
static const char *line_with(const char *text, const char *what)
{
    const char *found = strstr(text, what);

    if (found == NULL)
        fail_msg("no '%s' in\n%s", what, text);
    while (found > text && found[-1] != '\n')
        found--;
    return found;
}

static size_t lines_between(const char *from, const char *to)
{
    size_t lines = 0;

    for (; from < to; from++)
        lines += *from == '\n';
    return lines;
}

static void assert_line(const char *text, const char *what, const char *expected)
{
    const char *line = line_with(text, what);
    char actual[MAX_LINE];

    (void)snprintf(actual, sizeof(actual), "%.*s", (int)strcspn(line, "\n"), line);
    assert_string_equal(actual, expected);
}

/* Checks that the texts occur in this order. The list ends with NULL. */
static void assert_in_order(const char *text, const char *const *what)
{
    for (const char *at = text; *what != NULL; what++) {
        const char *found = strstr(at, *what);
        if (found == NULL)
            fail_msg("'%s' is missing or too early in\n%s", *what, text);
        at = found + 1;
    }
}

/* The rows without their figures, one per line: indent and frame. */
static void assert_frames(const char *text, const char *expected)
{
    char actual[8192] = "";
    size_t length = 0;

    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const char *figures = strstr(line, " Cumulative time(ms)");
        if (figures == NULL || figures > line + strcspn(line, "\n"))
            continue;
        while (figures[-1] == ' ')
            figures--;
        length += (size_t)snprintf(actual + length, sizeof(actual) - length, "%.*s\n",
                                   (int)(figures - line), line);
    }
    assert_string_equal(actual, expected);
}

/* --- calls --- */

static void title_then_account_then_groups_then_flush(void **state)
{
    report_fixture_credit(*state, "cold", "cold", "a.A.run(A.java:1)", 1 * MS);
    report_fixture_credit(*state, "hot", "hot", "a.A.run(A.java:1)", 2 * MS);
    const char *text = report_fixture_print(*state, by_name);

    assert_int_equal(strncmp(text, "title 1000 2000\n== Sampler account.\n", 36), 0);
    assert_in_order(text, (const char *const[]){ "title ", "== Sampler account.\n",
                                                 "== Aggregated thread: hot",
                                                 "== Aggregated thread: cold", "flush\n", NULL });
    assert_string_equal(text + report_fixture_printed(*state) - 6, "flush\n");
    assert_null(strstr(strstr(text, "title") + 1, "title"));
}

static void nothing_is_sent_when_nothing_was_sampled(void **state)
{
    (void)report_fixture_group(*state, "made but never looked at");
    assert_string_equal(report_fixture_print(*state, by_name), "");
}

static void a_failing_call_ends_the_report(void **state)
{
    struct recording recording = { 0 };
    const struct smp_outputer outputer = recording_outputer(&recording);
    unsigned cut = 0;

    report_fixture_credit(*state, "a", "a", "a.A.run(A.java:1)", 1 * MS);
    report_fixture_credit(*state, "b", "b", "a.A.run(A.java:1)", 2 * MS);
    /* title, account, two groups, flush */
    for (recording.fail_at = 1; recording.fail_at <= 5; recording.fail_at++) {
        recording_clear(&recording);
        assert_int_equal(
            smp_report_text(report_fixture_finish(*state), by_name, NULL, &outputer, &cut),
            SMP_EIO);
        assert_int_equal(recording.calls, recording.fail_at);
    }
    recording_clear(&recording);
    assert_int_equal(smp_report_text(report_fixture_finish(*state), by_name, NULL, &outputer, &cut),
                     SMP_OK);
    assert_int_equal(recording.calls, 5);
    recording_fini(&recording);
}

/* --- groups --- */

static void groups_are_ordered_by_time_then_by_name(void **state)
{
    report_fixture_credit(*state, "b", "b", "a.A.run(A.java:1)", 5 * MS);
    report_fixture_credit(*state, "a", "a", "a.A.run(A.java:1)", 1 * MS);
    report_fixture_credit(*state, "c", "c", "a.A.run(A.java:1)", 9 * MS);
    report_fixture_credit(*state, "B", "B", "a.A.run(A.java:1)", 5 * MS);
    report_fixture_credit(*state, "\xc3\xa9", "e", "a.A.run(A.java:1)", 5 * MS);
    assert_in_order(report_fixture_print(*state, by_name),
                    (const char *const[]){ "thread: c.", "thread: B.", "thread: b.",
                                           "thread: \xc3\xa9.", "thread: a.", NULL });
}

static void a_group_that_was_only_polled_is_printed_without_rows(void **state)
{
    report_fixture_see(*state, "unlucky", "unlucky-1");
    report_fixture_note(*state, "unlucky", SMP_OUTCOME_OVER_MEMORY_LIMIT);
    (void)report_fixture_group(*state, "never looked at");
    const char *text = report_fixture_print(*state, by_name);

    assert_non_null(strstr(text, "== Aggregated thread: unlucky. Max depth: 0. Distinct threads: "
                                 "1 [unlucky-1]\nflush\n"));
    assert_null(strstr(text, "never looked at"));
    assert_null(strstr(text, "[over group limit]"));
}

static void up_to_twenty_names_are_listed(void **state)
{
    char expected[2000] = "== Aggregated thread: w-. Max depth: 1. Distinct threads: 20 [";
    char name[20];

    for (int i = 1; i <= 20; i++) {
        (void)snprintf(name, sizeof(name), "w-%d", i);
        report_fixture_credit(*state, "w-", name, "a.A.run(A.java:1)", 1 * MS);
        strcat(expected, i == 1 ? "" : ", ");
        strcat(expected, name);
    }
    strcat(expected, "]\n");
    assert_non_null(strstr(report_fixture_print(*state, by_name), expected));
}

static void names_beyond_twenty_are_counted(void **state)
{
    char name[20];

    for (int i = 1; i <= 20000; i++) {
        (void)snprintf(name, sizeof(name), "w-%d", i);
        report_fixture_credit(*state, "w-", name, "a.A.run(A.java:1)", 1 * MS);
    }
    assert_line(report_fixture_print(*state, by_name), "Aggregated",
                "== Aggregated thread: w-. Max depth: 1. Distinct threads: 20000 [w-1, w-2, w-3, "
                "w-4, w-5, w-6, w-7, w-8, w-9, w-10, w-11, w-12, w-13, w-14, w-15, w-16, w-17, "
                "w-18, w-19, w-20, \xe2\x80\xa6 19980 more]");
}

static void threads_without_a_kept_name_are_counted(void **state)
{
    report_fixture_credit(*state, "w-", "w-1", "a.A.run(A.java:1)", 1 * MS);
    struct smp_group_info *group = report_fixture_group(*state, "w-");
    group->listed = 0;
    group->thread_count = 7;
    assert_line(
        report_fixture_print(*state, by_name), "Aggregated",
        "== Aggregated thread: w-. Max depth: 1. Distinct threads: 7 [\xe2\x80\xa6 7 more]");
}

static void names_stay_on_one_line(void **state)
{
    report_fixture_credit(*state,
                          "a, b\n\xe2\x80\xa8"
                          "c\xc2\x85",
                          "tab\there\r\x7f\x01", "a.A.run(A.java:1)", 1 * MS);
    report_fixture_credit(*state,
                          "a, b\n\xe2\x80\xa8"
                          "c\xc2\x85",
                          "C:\\dir \xc3\xbc \xe2\x80\xa6", "a.A.run(A.java:1)", 1 * MS);
    assert_line(report_fixture_print(*state, by_name), "Aggregated",
                "== Aggregated thread: a, b\\n\\u2028c\\u0085. Max depth: 1. Distinct threads: 2 "
                "[tab\\there\\r\\u007f\\u0001, C:\\dir \xc3\xbc \xe2\x80\xa6]");
}

static void a_name_of_64_kb_is_printed(void **state)
{
    enum { NAME_BYTES = 64 * 1024 - 1 };
    char *name = malloc(NAME_BYTES + 1);

    assert_non_null(name);
    memset(name, '\x01', NAME_BYTES);
    name[NAME_BYTES] = '\0';
    report_fixture_credit(*state, name, "a", "a.A.run(A.java:1)", 1 * MS);
    const char *line = line_with(report_fixture_print(*state, by_name), "Aggregated");
    assert_true(strcspn(line, "\n") > 6 * NAME_BYTES - 100);
    assert_true(strcspn(line, "\n") < 6 * NAME_BYTES + 200);
    free(name);
}

/* --- rows --- */

static const char *frame_of_width(char *frame, size_t width)
{
    memset(frame, 'x', width);
    memcpy(frame, "a.A.", 4);
    strcpy(frame + width - 11, "(A.java:12)");
    return frame;
}

static void the_figures_start_in_column_152_for_rows_up_to_150_columns(void **state)
{
    char frame[MAX_LINE];
    struct report_fixture *fixture = *state;

    for (size_t width = 148; width <= 153; width++) {
        report_fixture_begin(fixture);
        report_fixture_credit(fixture, "g", "g", frame_of_width(frame, width), 3 * MS);
        const char *line = line_with(report_fixture_print(fixture, by_name), "Cumulative");
        const size_t column = (size_t)(strstr(line, "Cumulative") - line);
        assert_int_equal(column, width <= 150 ? 152 : width + 2);
        assert_int_equal(line[width], ' ');
    }
}

static void the_indent_counts_for_the_column(void **state)
{
    char frame[MAX_LINE];
    const uint32_t root = report_fixture_add(*state, "g", 0, "a.A.run(A.java:1)", 1 * MS);

    report_fixture_note(*state, "g", SMP_OUTCOME_WALKED);
    (void)report_fixture_add(*state, "g", root, frame_of_width(frame, 148), 2 * MS);
    (void)report_fixture_add(*state, "g", root, frame_of_width(frame, 149), 4 * MS);
    const char *text = report_fixture_print(*state, by_name);
    const char *fits = line_with(text, "Cumulative time(ms): 2,");
    const char *exceeds = line_with(text, "Cumulative time(ms): 4,");

    assert_int_equal(strncmp(fits, "  a.A.x", 7), 0);
    assert_int_equal(strstr(fits, "Cumulative") - fits, 152);
    assert_int_equal(strstr(exceeds, "Cumulative") - exceeds, 153);
}

static void columns_are_counted_in_characters(void **state)
{
    report_fixture_credit(*state, "g", "g",
                          "a.A.gr\xc3\xb6\xc3\x9f"
                          "e\xf0\x9f\x98\x80(A.java:12)",
                          3 * MS);
    const char *line = line_with(report_fixture_print(*state, by_name), "Cumulative");

    assert_int_equal(strstr(line, "Cumulative") - line, 152 + 1 + 1 + 3);
}

static void a_row_ends_with_its_figures_in_whole_milliseconds(void **state)
{
    const uint32_t root = report_fixture_add(*state, "g", 0, "a.A.run(A.java:1)", 1999999);
    report_fixture_note(*state, "g", SMP_OUTCOME_WALKED);
    (void)report_fixture_add(*state, "g", root, "a.A.b(A.java:2)", 1999999);
    (void)report_fixture_add(*state, "g", root, "a.A.c(A.java:3)", 1999999);
    const char *text = report_fixture_print(*state, by_name);

    assert_non_null(strstr(text, " Cumulative time(ms): 5, Method time(ms): 1\n  a.A.b"));
    assert_non_null(strstr(text, " Cumulative time(ms): 1, Method time(ms): 1\n  a.A.c"));
}

static void times_of_years_are_printed(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.A.run(A.java:1)", INT64_MAX);
    assert_non_null(strstr(report_fixture_print(*state, by_name),
                           "Cumulative time(ms): 9223372036854, Method time(ms): 9223372036854\n"));
}

static void siblings_are_in_text_order(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.B.f(B.java:9)", 1 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.B.f(B.java:10)", 2 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.B$C.f(B.java:1)", 3 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.b.f(B.java:1)", 4 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|[thread ended]", 5 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|[thread", 5 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.\xc3\x89.f(B.java:1)", 5 * MS);
    report_fixture_credit(*state, "g", "g", "a.B.first(B.java:1)", 1 * MS);
    assert_frames(report_fixture_print(*state, by_name), "a.B.first(B.java:1)\n"
                                                         "a.R.r(R.java:1)\n"
                                                         "  [thread\n"
                                                         "  [thread ended]\n"
                                                         "  a.B$C.f(B.java:1)\n"
                                                         "  a.B.f(B.java:10)\n"
                                                         "  a.B.f(B.java:9)\n"
                                                         "  a.b.f(B.java:1)\n"
                                                         "  a.\xc3\x89.f(B.java:1)\n");
}

static void by_time_the_hottest_sibling_is_first(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.A.f(A.java:1)", 1 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.C.f(C.java:1)", 2 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.B.f(B.java:1)", 2 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.D.f(D.java:1)", 9 * MS);
    report_fixture_credit(*state, "g", "g", "a.S.r(S.java:1)", 20 * MS);
    assert_frames(report_fixture_print(*state, by_time), "a.S.r(S.java:1)\n"
                                                         "a.R.r(R.java:1)\n"
                                                         "  a.D.f(D.java:1)\n"
                                                         "  a.B.f(B.java:1)\n"
                                                         "  a.C.f(C.java:1)\n"
                                                         "  a.A.f(A.java:1)\n");
}

/* --- pruning --- */

static void an_only_child_without_own_time_is_replaced_by_its_children(void **state)
{
    const char *common = "a.R.r(R.java:1)|java.A.a(A.java:1)|java.B.b(B.java:1)|";
    char stack[MAX_LINE];

    (void)snprintf(stack, sizeof(stack), "%s%s", common, "a.X.x(X.java:1)");
    report_fixture_credit(*state, "g", "g", stack, 5 * MS);
    (void)snprintf(stack, sizeof(stack), "%s%s", common, "a.Y.y(Y.java:1)");
    report_fixture_credit(*state, "g", "g", stack, 5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "a.R.r(R.java:1)\n"
                                                         "  a.X.x(X.java:1)\n"
                                                         "  a.Y.y(Y.java:1)\n");
}

static void a_gap_in_a_deep_stack_is_printed(void **state)
{
    report_fixture_credit(
        *state, "g", "g",
        "a.R.r(R.java:1)|[64..127 frames omitted]|a.B.b(B.java:1)|a.X.x(X.java:1)", 5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "a.R.r(R.java:1)\n"
                                                         "  [64..127 frames omitted]\n"
                                                         "    a.B.b(B.java:1)\n"
                                                         "      a.X.x(X.java:1)\n");
}

static void a_row_with_own_time_is_printed(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.A.a(A.java:1)", 5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "a.R.r(R.java:1)\n"
                                                         "  a.A.a(A.java:1)\n");
}

static void a_row_with_less_time_than_its_parent_is_printed(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 5 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.A.a(A.java:1)|a.B.b(B.java:1)",
                          5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "a.R.r(R.java:1)\n"
                                                         "  a.A.a(A.java:1)\n"
                                                         "    a.B.b(B.java:1)\n");
}

static void the_only_root_is_printed(void **state)
{
    report_fixture_credit(*state, "g", "g", "java.R.r(R.java:1)|sun.A.a(A.java:1)|a.B.b(B.java:1)",
                          5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "java.R.r(R.java:1)\n"
                                                         "  a.B.b(B.java:1)\n");
}

static void a_row_is_not_printed_for_less_than_a_millisecond(void **state)
{
    const uint32_t root = report_fixture_add(*state, "g", 0, "a.R.r(R.java:1)", 0);
    const uint32_t middle = report_fixture_add(*state, "g", root, "jdk.M.m(M.java:1)", 999999);
    report_fixture_note(*state, "g", SMP_OUTCOME_WALKED);
    (void)report_fixture_add(*state, "g", middle, "a.Z.z(Z.java:1)", 7 * MS);
    (void)report_fixture_add(*state, "g", root, "a.P.p(P.java:1)", 0);
    /* z moved up and is after p. */
    assert_frames(report_fixture_print(*state, by_name), "a.R.r(R.java:1)\n"
                                                         "  a.P.p(P.java:1)\n"
                                                         "  a.Z.z(Z.java:1)\n");
}

static void a_row_with_a_change_of_package_is_printed_if_chosen(void **state)
{
    const char *stack = "a.b.R.r(R.java:1)|a.b.A.a(A.java:1)|a.b.c.B.b(B.java:1)|"
                        "a.b.c.C$D.c(C.java:1)|Plain.p(Plain.java:1)|Other.o(Other.java:1)|"
                        "a.b.Z.z(Z.java:1)";

    report_fixture_credit(*state, "g", "g", stack, 5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "a.b.R.r(R.java:1)\n"
                                                         "  Other.o(Other.java:1)\n"
                                                         "    a.b.Z.z(Z.java:1)\n");
    assert_frames(report_fixture_print(*state, with_packages), "a.b.R.r(R.java:1)\n"
                                                               "  a.b.A.a(A.java:1)\n"
                                                               "    a.b.c.B.b(B.java:1)\n"
                                                               "      a.b.c.C$D.c(C.java:1)\n"
                                                               "        Plain.p(Plain.java:1)\n"
                                                               "          Other.o(Other.java:1)\n"
                                                               "            a.b.Z.z(Z.java:1)\n");
}

/* Time in a stub of the JVM or in a method of the JDK is shown with the line that calls it. */
static void the_caller_of_a_stub_is_printed(void **state)
{
#define CRC32                                                          \
    "java.lang.Thread.run(Thread.java:840)|Blind$$Lambda.run(Unknown " \
    "Source)|Blind.work(B.java:9)|"                                    \
    "Blind.crc32(B.java:20)|java.util.zip.CRC32.update(CRC32.java:84)"

    report_fixture_credit(*state, "g", "g", CRC32, 5 * MS);
    assert_frames(report_fixture_print(*state, by_name),
                  "java.lang.Thread.run(Thread.java:840)\n"
                  "  Blind.crc32(B.java:20)\n"
                  "    java.util.zip.CRC32.update(CRC32.java:84)\n");
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", CRC32 "|[updateBytesCRC32]", 5 * MS);
    report_fixture_credit(*state, "g", "g", "java.lang.Thread.run(Thread.java:840)", 5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "java.lang.Thread.run(Thread.java:840)\n"
                                                         "  Blind$$Lambda.run(Unknown Source)\n"
                                                         "    Blind.crc32(B.java:20)\n"
                                                         "      [updateBytesCRC32]\n");
    report_fixture_begin(*state);
    report_fixture_monitor(*state, "Blind");
    report_fixture_credit(*state, "g", "g", CRC32 "|[updateBytesCRC32]", 5 * MS);
    assert_frames(report_fixture_print(*state, by_name), "java.lang.Thread.run(Thread.java:840)\n"
                                                         "  Blind.crc32(B.java:20)\n"
                                                         "    [updateBytesCRC32]\n");
}

/* The original's rule keeps the row of a pool's worker instead of the application's row. */
#define POOL                                                          \
    "java.lang.Thread.run(Thread.java:840)|"                          \
    "java.util.concurrent.ThreadPoolExecutor$Worker.run(T.java:642)|" \
    "java.util.concurrent.ThreadPoolExecutor.runWorker(T.java:1136)"
#define HANDLE "|shop.Orders.handle(Orders.java:20)|shop.Orders.store(Orders.java:31)"

static void credit_pool(struct report_fixture *fixture)
{
    report_fixture_credit(fixture, "g", "g", "java.lang.Thread.run(Thread.java:840)", 3 * MS);
    report_fixture_credit(fixture, "g", "g", POOL HANDLE "|lib.Query.run(Query.java:1)", 50 * MS);
    report_fixture_credit(fixture, "g", "g", POOL HANDLE "|lib.Query.read(Query.java:9)", 20 * MS);
}

static void the_innermost_monitored_row_of_a_chain_is_printed(void **state)
{
    credit_pool(*state);
    report_fixture_monitor(*state, "shop");
    assert_frames(report_fixture_print(*state, by_name), "java.lang.Thread.run(Thread.java:840)\n"
                                                         "  shop.Orders.store(Orders.java:31)\n"
                                                         "    lib.Query.read(Query.java:9)\n"
                                                         "    lib.Query.run(Query.java:1)\n");
}

static void without_packages_the_innermost_row_outside_the_jdk_is_also_printed(void **state)
{
    credit_pool(*state);
    assert_frames(report_fixture_print(*state, by_name),
                  "java.lang.Thread.run(Thread.java:840)\n"
                  "  java.util.concurrent.ThreadPoolExecutor$Worker.run(T.java:642)\n"
                  "    shop.Orders.store(Orders.java:31)\n"
                  "      lib.Query.read(Query.java:9)\n"
                  "      lib.Query.run(Query.java:1)\n");
}

static void the_outermost_row_of_an_unmonitored_chain_is_printed(void **state)
{
    report_fixture_monitor(*state, "other");
    credit_pool(*state);
    assert_frames(report_fixture_print(*state, by_name),
                  "java.lang.Thread.run(Thread.java:840)\n"
                  "  java.util.concurrent.ThreadPoolExecutor$Worker.run(T.java:642)\n"
                  "    lib.Query.read(Query.java:9)\n"
                  "    lib.Query.run(Query.java:1)\n");
}

/* The root is kept, and so is a row kept by a change of package. */
static void a_root_and_the_innermost_monitored_row_are_both_printed(void **state)
{
    report_fixture_monitor(*state, "shop");
    report_fixture_credit(*state, "g", "g", POOL HANDLE "|lib.Query.run(Query.java:1)", 50 * MS);
    assert_frames(report_fixture_print(*state, by_name), "java.lang.Thread.run(Thread.java:840)\n"
                                                         "  shop.Orders.store(Orders.java:31)\n"
                                                         "    lib.Query.run(Query.java:1)\n");
    assert_frames(report_fixture_print(*state, with_packages),
                  "java.lang.Thread.run(Thread.java:840)\n"
                  "  java.util.concurrent.ThreadPoolExecutor$Worker.run(T.java:642)\n"
                  "    shop.Orders.handle(Orders.java:20)\n"
                  "      shop.Orders.store(Orders.java:31)\n"
                  "        lib.Query.run(Query.java:1)\n");
}

static void kinds_of_jvm_threads_without_a_millisecond_are_left_out(void **state)
{
    (void)report_fixture_add(*state, "[JVM]", 0, "[GC]", 999999);
    (void)report_fixture_add(*state, "[JVM]", 0, "[JIT compiler]", 1 * MS);
    report_fixture_credit(*state, "g", "g", "[no Java frames]", 400000);
    const char *text = report_fixture_print(*state, by_time);
    assert_frames(text, "[no Java frames]\n[JIT compiler]\n");
    assert_in_order(text, (const char *const[]){ "thread: g.", "thread: [JVM].", NULL });
}

static void very_deep_stacks_are_printed(void **state)
{
    enum { DEPTH = 3000 };
    uint32_t node = 0;
    char frame[MAX_LINE];

    report_fixture_note(*state, "g", SMP_OUTCOME_WALKED);
    for (int i = 0; i < DEPTH; i++) {
        (void)snprintf(frame, sizeof(frame), "a.A.a(A.java:%d)", i % 7 + 1);
        node = report_fixture_add(*state, "g", node, frame, 1 * MS);
    }
    const char *text = report_fixture_print(*state, by_name);
    assert_int_equal(lines_between(line_with(text, "Cumulative"), strstr(text, "flush\n")), DEPTH);
    const char *last = line_with(text, "Cumulative time(ms): 1,");
    assert_int_equal(strspn(last, " "), 2 * (DEPTH - 1));
}

static void a_comma_in_a_frame_does_not_move_the_figures(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.A.odd, name(A,B.java:1)", 2 * MS);
    assert_line(report_fixture_print(*state, by_name), "odd",
                "  a.A.odd, name(A,B.java:1)                                                       "
                "                                                                      Cumulative "
                "time(ms): 2, Method time(ms): 2");
}

/* --- the account --- */

static void the_account_names_each_figure_that_is_not_zero(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    struct smp_profile *profile = report_fixture_finish(*state);
    profile->memory_used_bytes = 1234567;
    profile->memory_limit_bytes = 67108864;
    profile->elapsed_ns = 900000 * MS;
    profile->own_cpu_ns = 1234567890;
    assert_non_null(strstr(report_fixture_print(*state, by_name),
                           "== Sampler account.\n"
                           "polls: 1\n"
                           "samples: 1\n"
                           "samples taken: 1\n"
                           "memory used: 1234567 of 67108864 bytes\n"
                           "sampler's own CPU: 1234 ms, 0.14 % of the interval\n== Aggregated"));
    profile->longest_handshake_ns = 12 * MS + 1;
    profile->longest_handler_ns = 10 * MS;
    assert_non_null(strstr(report_fixture_print(*state, by_name),
                           "samples taken: 1\n"
                           "longest handshake: 12 ms\n"
                           "longest walk in a signal handler: 10 ms\n"
                           "memory used"));
}

static void packages_without_a_sample_are_named(void **state)
{
    report_fixture_monitor(*state, " com.foo., com.bar* ,");
    report_fixture_credit(*state, "g", "g", "[no Java frames]", 2 * MS);
    assert_null(strstr(report_fixture_print(*state, by_name), "no frame of"));
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", "[no Java frames]", 2 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    assert_non_null(strstr(report_fixture_print(*state, by_name),
                           "no frame of the monitored packages was seen: com.foo., com.bar\n"));
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|com.bars.X.x(X.java:1)", 2 * MS);
    assert_null(strstr(report_fixture_print(*state, by_name), "no frame of"));
    report_fixture_begin(*state);
    report_fixture_monitor(*state, "com.f\noo");
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    assert_non_null(strstr(report_fixture_print(*state, by_name), " was seen: com.f\\noo\n"));
    report_fixture_begin(*state);
    report_fixture_monitor(*state, "");
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    assert_null(strstr(report_fixture_print(*state, by_name), "no frame of"));
}

static void a_library_that_took_the_signal_is_named(void **state)
{
    struct smp_profile *profile = report_fixture_finish(*state);

    (void)snprintf(profile->signal_taker, sizeof(profile->signal_taker), "/lib\n.so (signal 38)");
    assert_non_null(strstr(report_fixture_print(*state, by_name),
                           "another library took the sampler's signal: /lib\\n.so (signal 38)\n"));
}

static void the_percentage_has_two_decimals(void **state)
{
    static const struct {
        int64_t own_cpu_ns;
        int64_t elapsed_ns;
        const char *line;
    } cases[] = {
        { 0, 0, "sampler's own CPU: 0 ms, 0.00 % of the interval\n" },
        { 5 * MS, 0, "sampler's own CPU: 5 ms, 0.00 % of the interval\n" },
        { 1 * MS, 1000 * MS, "sampler's own CPU: 1 ms, 0.10 % of the interval\n" },
        { 49999, 1000 * MS, "sampler's own CPU: 0 ms, 0.00 % of the interval\n" },
        { 50000, 1000 * MS, "sampler's own CPU: 0 ms, 0.01 % of the interval\n" },
        { 2500 * MS, 1000 * MS, "sampler's own CPU: 2500 ms, 250.00 % of the interval\n" },
    };

    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        report_fixture_finish(*state)->own_cpu_ns = cases[i].own_cpu_ns;
        report_fixture_finish(*state)->elapsed_ns = cases[i].elapsed_ns;
        assert_non_null(strstr(report_fixture_print(*state, by_name), cases[i].line));
    }
}

static void every_figure_has_its_line_in_order(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    for (int outcome = 0; outcome < SMP_OUTCOME_COUNT; outcome++)
        report_fixture_note(*state, "g", (enum smp_outcome)outcome);
    report_fixture_group(*state, "g")->names_lost = 3;
    struct smp_profile *profile = report_fixture_finish(*state);
    for (int counter = 0; counter < SMP_COUNTER_COUNT; counter++)
        profile->counters[counter] = (uint64_t)counter + 100;
    profile->memory_used_bytes = SIZE_MAX;
    profile->memory_limit_bytes = SIZE_MAX;
    const char *text = report_fixture_print(*state, by_name);
    golden_check("account.txt", text, report_fixture_printed(*state));
}

/* --- whole reports --- */

/* The tree in the original's description, with its figures. */
static void the_report_of_the_original(void **state)
{
#define RUN "java.lang.Thread.run(Thread.java:744)"
#define COUNT "|models.site.SiteCustomRule.updateRulesRequestsCount(SiteCustomRule.java:"
#define READ                                                                            \
    "|play.classloading.enhancers.PropertiesEnhancer$FieldAccessor.invokeReadProperty(" \
    "PropertiesEnhancer.java:"
#define FIND "|models.site.SiteCustomRule.find(SiteCustomRule.java)"
#define SAVE "|play.db.jpa.GenericModel.validateAndSave(GenericModel.java:"
    static const struct {
        const char *stack;
        int64_t ms;
    } samples[] = {
        { RUN COUNT "667)" SAVE "189)|models.attributes.AttributeModel.save(AttributeModel.java:99)"
                    "|play.db.jpa.GenericModel.save(GenericModel.java:206)",
          240342 },
        { RUN COUNT "667)" SAVE
                    "189)|models.attributes.AttributeModel.save(AttributeModel.java:100)" READ
                    "255)",
          50 },
        { RUN COUNT "667)" SAVE "188)", 3634 },
        { RUN COUNT "664)|play.db.jpa.GenericModel$JPAQuery.first(GenericModel.java:340)", 5444 },
        { RUN COUNT "664)" READ "260)", 101 },
        { RUN COUNT "664)" READ "255)", 100 },
        { RUN COUNT "664)" FIND "|play.db.jpa.JPQL.find(JPQL.java:56)", 50 },
        { RUN COUNT "664)" FIND "|play.db.jpa.JPQL.find(JPQL.java:54)", 200 },
        { RUN COUNT "646)|play.db.jpa.GenericModel$JPAQuery.fetch(GenericModel.java:380)", 248 },
    };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        report_fixture_credit(*state, "jobs-thread-", "jobs-thread-1", samples[i].stack,
                              samples[i].ms * MS);
    const char *text = report_fixture_print(
        *state, (struct smp_export_style){ .order = SMP_ORDER_BY_NAME, .min_per_mille = 0 });
    golden_check("original.txt", text, report_fixture_printed(*state));
}

static void fill_service(struct report_fixture *fixture)
{
    char name[40];

    for (int i = 1; i <= 24; i++) {
        (void)snprintf(name, sizeof(name), "http-nio-8080-exec-%d", i);
        report_fixture_credit(fixture, "http-nio--exec-", name,
                              "java.lang.Thread.run(Thread.java:840)", 37400 * MS);
    }
#define WORKER "java.lang.Thread.run(Thread.java:840)|shop.web.Orders.handle(Orders.java:31)"
#define STORE "|shop.store.Store.find(Store.java:77)"
    report_fixture_credit(
        fixture, "http-nio--exec-", "http-nio-8080-exec-1",
        WORKER STORE "|org.h2.jdbc.JdbcStatement.executeQuery(JdbcStatement.java:81)", 1250 * MS);
    report_fixture_credit(fixture, "http-nio--exec-", "http-nio-8080-exec-2",
                          WORKER STORE "|sun.nio.ch.Net.poll(Native Method)", 50 * MS);
    report_fixture_credit(fixture, "http-nio--exec-", "http-nio-8080-exec-2",
                          WORKER "|shop.web.Json$Writer.write(Unknown Source)", 349999999);
    report_fixture_credit(fixture, "http-nio--exec-", "http-nio-8080-exec-3", "[thread ended]",
                          12 * MS);
    report_fixture_credit(fixture, "main", "main",
                          "shop.Main.main(Main.java:12)|shop.core.Loop.serve(Loop.java:40)"
                          "|java.lang.Object.wait(Native Method)",
                          900000 * MS);
    report_fixture_credit(fixture, "[unnamed]", "42", "[no Java frames]", 3 * MS);
    report_fixture_note(fixture, "http-nio--exec-", SMP_OUTCOME_THREAD_ENDED_IN_WALK);
    struct smp_profile *profile = report_fixture_finish(fixture);
    profile->counters[SMP_COUNTER_TICKS] = 18000;
    profile->counters[SMP_COUNTER_LATE_TICKS] = 2;
    profile->memory_used_bytes = 2097152;
    profile->memory_limit_bytes = 67108864;
    profile->elapsed_ns = 900000 * MS;
    profile->own_cpu_ns = 4321 * MS;
}

static void a_service_by_name_by_time_and_with_packages(void **state)
{
    fill_service(*state);
    const char *text = report_fixture_print(*state, by_name);
    golden_check("service_by_name.txt", text, report_fixture_printed(*state));
    text = report_fixture_print(*state, by_time);
    golden_check("service_by_time.txt", text, report_fixture_printed(*state));
    text = report_fixture_print(*state, with_packages);
    golden_check("service_zero_time_packages.txt", text, report_fixture_printed(*state));
}

/* --- limits and failures --- */

enum { SIZE_ROWS = 20000 };

/* Rows of about 200 bytes, all below one root. */
static void fill_rows(struct report_fixture *fixture, int count)
{
    char frame[MAX_LINE];
    const uint32_t root = report_fixture_add(fixture, "g", 0, "a.R.r(R.java:1)", 0);

    report_fixture_note(fixture, "g", SMP_OUTCOME_WALKED);
    for (int i = 0; i < count; i++) {
        (void)snprintf(frame, sizeof(frame), "a.A.a(A.java:%d)", i + 1);
        (void)report_fixture_add(fixture, "g", root, frame, 1 * MS);
    }
}

/* Checks that the record of the only group ends in a line with the number of missing rows out of
 * total. */
static void assert_cut(const char *text, size_t total)
{
    const char *tail = line_with(text, " more rows: over the size limit]");
    const size_t rows = lines_between(line_with(text, " Cumulative time(ms)"), tail);
    size_t missing = 0;

    assert_int_equal(sscanf(tail, "[%zu more rows: over the size limit]\nflush", &missing), 1);
    assert_int_equal(rows + missing, total);
    assert_non_null(strstr(tail, "limit]\nflush\n"));
}

static void rows_beyond_the_memory_limit_are_counted(void **state)
{
    struct recording recording = { 0 };
    const struct smp_outputer outputer = recording_outputer(&recording);
    struct smp_quota quota;
    unsigned cut = 0;
    unsigned cuts = 0;

    fill_rows(*state, SIZE_ROWS);
    struct smp_profile *profile = report_fixture_finish(*state);
    for (size_t limit = 1 << 20; limit < 16 << 20; limit += 500001) {
        smp_quota_init(&quota, limit);
        recording_clear(&recording);
        const enum smp_status status = smp_report_text(profile, by_name, &quota, &outputer, &cut);
        assert_int_equal(smp_quota_used(&quota), 0);
        assert_int_equal(recording.calls, status == SMP_OK ? 4 : 0);
        cuts += cut;
        if (cut > 0)
            assert_cut(recording.text, SIZE_ROWS + 1);
    }
    assert_true(cuts > 0);
    assert_int_equal(cut, 0); /* the last limit was large enough */
    recording_fini(&recording);
}

static void rows_beyond_the_size_of_a_record_are_counted(void **state)
{
    struct recording recording = { 0 };
    const struct smp_outputer outputer = recording_outputer(&recording);
    uint32_t node = 0;
    unsigned cut = 0;
    const char *const frame = "a.A.a(A.java:1)";
    enum { DEPTH = 12000 }; /* indentation alone takes 144 MB */

    report_fixture_note(*state, "g", SMP_OUTCOME_WALKED);
    for (int i = 0; i < DEPTH; i++)
        node = report_fixture_add(*state, "g", node, frame, 1 * MS);
    assert_int_equal(smp_report_text(report_fixture_finish(*state), by_name, NULL, &outputer, &cut),
                     SMP_OK);
    assert_int_equal(cut, 1);
    assert_in_range(recording.length, SMP_MAX_RECORD_BYTES - 3 * DEPTH,
                    SMP_MAX_RECORD_BYTES + 4096);
    assert_cut(recording.text, DEPTH);
    recording_fini(&recording);
}

struct attempt {
    const struct smp_profile *profile;
    struct recording *recording;
    const char *expected;
};

/* A refused allocation before the first output fails the report; a later one may only cut it. */
static enum smp_status attempt_report(void *self)
{
    struct attempt *attempt = self;
    const struct smp_outputer outputer = recording_outputer(attempt->recording);
    unsigned cut = 0;

    recording_clear(attempt->recording);
    const enum smp_status status =
        smp_report_text(attempt->profile, short_by_time, NULL, &outputer, &cut);
    if (status != SMP_OK)
        assert_int_equal(attempt->recording->calls, 0);
    else if (cut == 0)
        assert_string_equal(attempt->recording->text, attempt->expected);
    else
        assert_non_null(strstr(attempt->recording->text, " more rows: over the size limit]\n"));
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct recording recording = { 0 };

    fill_rows(*state, 150);
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)|a.B.b(B.java:1)", MS / 2);
    report_fixture_credit(*state, "h", "h", "a.A.run(A.java:1)", 5 * MS);
    struct attempt attempt = { .recording = &recording };
    attempt.expected = strdup(report_fixture_print(*state, short_by_time));
    assert_non_null(strstr(attempt.expected, "  [1 row below 0.5 %] "));
    attempt.profile = report_fixture_finish(*state);
    const struct failing_alloc_steps steps = failing_alloc_each_step(attempt_report, &attempt);
    assert_true(steps.refused >= 10);
    assert_true(steps.survived >= 1);
    free((char *)attempt.expected);
    recording_fini(&recording);
}

/* From some allocation on, all memory is refused. Rows have every width, so that the last row that
 * fits may end anywhere in the buffer. */
static void the_line_with_the_number_of_missing_rows_always_fits(void **state)
{
    enum { ROWS = 60, FIRST_WIDTH = 20, LAST_WIDTH = 270 };
    struct recording recording = { 0 };
    const struct smp_outputer outputer = recording_outputer(&recording);
    char frame[MAX_LINE];
    unsigned cuts = 0;

    for (size_t width = FIRST_WIDTH; width <= LAST_WIDTH; width++) {
        uint32_t node = 0;
        report_fixture_begin(*state);
        report_fixture_note(*state, "g", SMP_OUTCOME_WALKED);
        for (int i = 0; i < ROWS; i++)
            node = report_fixture_add(*state, "g", node, frame_of_width(frame, width), 1 * MS);
        const struct smp_profile *profile = report_fixture_finish(*state);
        for (size_t first = 1, refused = 1; refused > 0; first++) {
            struct failing_alloc failing;
            unsigned cut = 0;
            recording_clear(&recording);
            failing_alloc_arm(&failing, first, SIZE_MAX);
            const enum smp_status status = smp_report_text(profile, by_name, NULL, &outputer, &cut);
            refused = failing_alloc_disarm(&failing);
            assert_int_equal(recording.calls, status == SMP_OK ? 4 : 0);
            if (cut > 0)
                assert_cut(recording.text, ROWS);
            cuts += cut;
        }
    }
    assert_true(cuts > LAST_WIDTH - FIRST_WIDTH);
    recording_fini(&recording);
}

/* --- random intervals --- */

enum { ROUNDS = 30000, PARTS = 25, MAX_SAMPLES = 24, MAX_DEPTH = 12, STACK_BYTES = 4096 };

/* xorshift64*: the same numbers on every machine. */
static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (uint32_t)((*seed * UINT64_C(2685821657736338717)) >> 33) % below;
}

static void draw_stack(uint64_t *seed, char stack[STACK_BYTES])
{
    static const char *const frames[] = {
        "a.A.a(A.java:1)",
        "a.A.a(A.java:10)",
        "a.A.a(A.java:2)",
        "a.b.B.b(B.java:1)",
        "a.b.B$C.c(B.java:1)",
        "Plain.p(Plain.java)",
        "a.b.N.n(Native Method)",
        "x.U.u(Unknown Source)",
        "[2..3 frames omitted]",
        "[thread ended]",
        "\xc3\xa9.E.e(E.java:5)",
        "a.very.long.package.name.that.goes.on.and.on.until.it.is.wider.than.most."
        "VeryLongClassName$"
        "WithAnInnerClass$AndAnother.andAMethodThatIsLong(VeryLongFile.java:1)",
    };
    enum { FRAMES = sizeof(frames) / sizeof(frames[0]) };
    const uint32_t depth = 1 + draw(seed, MAX_DEPTH);
    /* Few different frames make common paths, many make bushes. */
    const uint32_t variety = 1 + draw(seed, draw(seed, 2) == 0 ? 2 : FRAMES);

    for (uint32_t i = 0; i < depth; i++) {
        if (i > 0)
            *stack++ = '|';
        stack = stpcpy(stack, frames[draw(seed, draw(seed, 4) == 0 ? FRAMES : variety)]);
    }
}

static int64_t draw_ns(uint64_t *seed)
{
    static const int64_t spans[] = { 0, 1, 400000, 600000, 999999, 1 * MS, 50 * MS, 50 * MS };

    return draw(seed, 5) == 0 ? (int64_t)draw(seed, 100000000)
                              : spans[draw(seed, sizeof(spans) / sizeof(spans[0]))];
}

/* A part of a report: samples in groups that belong to no other part. */
struct part {
    char groups[4][16];
    char stacks[MAX_SAMPLES][STACK_BYTES];
    struct reference_sample samples[MAX_SAMPLES];
    uint32_t count;
    char actual[REFERENCE_REPORT_BYTES];
    size_t length;
};

static void draw_part(uint64_t *seed, unsigned index, bool has_states, struct part *part)
{
    static const char *const groups[] = { "main", "pool-", "[unnamed]", "z" };
    static char threads[25][8];
    const uint32_t group_count = 1 + draw(seed, 4);
    const uint32_t idle_of_four = draw(seed, 5);

    part->length = 0;
    part->count = 1 + draw(seed, MAX_SAMPLES);
    for (uint32_t i = 0; i < group_count; i++)
        (void)snprintf(part->groups[i], sizeof(part->groups[i]), "%u %s", index, groups[i]);
    for (uint32_t i = 0; i < part->count; i++) {
        const uint32_t thread = draw(seed, 25);
        (void)snprintf(threads[thread], sizeof(threads[thread]), "t-%u", (unsigned)thread);
        if (i > 0 && draw(seed, 3) == 0)
            strcpy(part->stacks[i], part->stacks[draw(seed, i)]);
        else
            draw_stack(seed, part->stacks[i]);
        part->samples[i] =
            (struct reference_sample){ .group = part->groups[draw(seed, group_count)],
                                       .thread = threads[thread],
                                       .stack = part->stacks[i],
                                       .wall_ns = draw_ns(seed),
                                       .is_idle = has_states && draw(seed, 4) < idle_of_four };
    }
}

/* Assigns to each part the records of its groups, in the order of the report. */
static void take_apart(const char *text, struct part parts[PARTS])
{
    static const char title[] = "== Aggregated thread: ";
    const char *const flush = strstr(text, "\nflush\n") + 1;

    for (const char *record = strstr(text, title); record < flush;) {
        const char *next = strstr(record, "\n== ");
        const char *end = next != NULL ? next + 1 : flush;
        struct part *part = &parts[atoi(record + sizeof(title) - 1)];
        memcpy(part->actual + part->length, record, (size_t)(end - record));
        part->length += (size_t)(end - record);
        part->actual[part->length] = '\0';
        record = end;
    }
}

/* A row whose children are being read. */
struct open_row {
    int64_t left_ms; /* its time less its own time and that of the children read so far */
    bool has_hidden;
};

static void close_rows(const struct open_row *rows, size_t from, size_t to)
{
    for (size_t depth = from; depth < to; depth++) {
        assert_true(rows[depth].left_ms >= 0);
        if (rows[depth].has_hidden)
            assert_int_equal(rows[depth].left_ms, 0);
    }
}

/* Each row has at least the sum of its own time and the rows below it, and exactly that sum unless
 * rows are hidden. */
static void assert_sums(const char *text)
{
    struct open_row rows[MAX_DEPTH + 2];
    size_t depths = 0;

    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const char *figures = strstr(line, " Cumulative time(ms): ");
        const size_t depth = strspn(line, " ") / 2;
        int64_t total_ms = 0;
        int64_t own_ms = 0;
        if (figures == NULL || figures > line + strcspn(line, "\n"))
            continue;
        assert_int_equal(sscanf(figures,
                                " Cumulative time(ms): %" SCNd64 ", Method time(ms): %" SCNd64,
                                &total_ms, &own_ms),
                         2);
        assert_true(depth <= depths && depth < MAX_DEPTH + 2);
        close_rows(rows, depth, depths);
        if (depth > 0) {
            rows[depth - 1].left_ms -= total_ms;
            rows[depth - 1].has_hidden |=
                strstr(line, " below ") != NULL && strstr(line, " below ") < figures;
        }
        rows[depth] = (struct open_row){ .left_ms = total_ms - own_ms };
        depths = depth + 1;
    }
    close_rows(rows, 0, depths);
}

/* A report has several parts, because creating an interval is the most expensive step. Each part
 * is compared separately, because the naive version sorts in quadratic time. */
static void run_round(struct report_fixture *fixture, uint64_t first_seed)
{
    static struct part parts[PARTS];
    static char expected[REFERENCE_REPORT_BYTES];
    enum { LIMITS = 6 };
    static const uint32_t limits[LIMITS] = { 0, 0, 5, 100, 333, 1000 };
    uint64_t seed = first_seed;
    const struct smp_export_style style = { .order = draw(&seed, 2) == 0 ? SMP_ORDER_BY_NAME
                                                                         : SMP_ORDER_BY_TIME,
                                            .zero_time_packages = draw(&seed, 2) == 0,
                                            .min_per_mille = limits[draw(&seed, LIMITS)] };
    const bool has_states = draw(&seed, 2) == 0;
    static const char *const packages[] = { NULL, "a.b", "a", "x", "no.such" };
    const char *const package = packages[draw(&seed, sizeof(packages) / sizeof(packages[0]))];

    if (has_states)
        report_fixture_begin_with(fixture, REPORT_FIXTURE_STATES);
    else
        report_fixture_begin(fixture);
    report_fixture_monitor(fixture, package == NULL ? "" : package);
    for (unsigned i = 0; i < PARTS; i++) {
        draw_part(&seed, i, has_states, &parts[i]);
        for (uint32_t j = 0; j < parts[i].count; j++) {
            const struct reference_sample *sample = &parts[i].samples[j];
            (void)report_fixture_wait(fixture, sample->group, sample->thread, sample->stack,
                                      sample->is_idle ? SMP_STATE_IDLE : SMP_STATE_BLOCKED,
                                      sample->wall_ns);
        }
    }
    assert_sums(report_fixture_print(fixture, style));
    take_apart(report_fixture_print(fixture, style), parts);
    for (unsigned i = 0; i < PARTS; i++) {
        reference_report(parts[i].samples, parts[i].count,
                         (struct reference_style){ .by_time = style.order == SMP_ORDER_BY_TIME,
                                                   .zero_time_packages = style.zero_time_packages,
                                                   .package = package,
                                                   .min_per_mille = (int)style.min_per_mille },
                         expected);
        if (strcmp(parts[i].actual, expected) == 0)
            continue;
        print_error("seed %" PRIu64 ", part %u, %s, %s, monitored %s, min %u; expected:\n",
                    first_seed, i, style.order == SMP_ORDER_BY_TIME ? "by time" : "by name",
                    style.zero_time_packages ? "with packages" : "without packages",
                    package == NULL ? "all" : package, (unsigned)style.min_per_mille);
        /* cmocka cuts long messages. */
        (void)fputs(expected, stderr);
        (void)fputs("actual:\n", stderr);
        (void)fputs(parts[i].actual, stderr);
        fail();
    }
}

static void random_reports_match_the_naive_version(void **state)
{
    const long rounds = test_rounds(ROUNDS);

    for (long round = 1; round * PARTS <= rounds; round++)
        run_round(*state, UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)round);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup, report_fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(title_then_account_then_groups_then_flush),
        CASE(nothing_is_sent_when_nothing_was_sampled),
        CASE(a_failing_call_ends_the_report),
        CASE(groups_are_ordered_by_time_then_by_name),
        CASE(a_group_that_was_only_polled_is_printed_without_rows),
        CASE(up_to_twenty_names_are_listed),
        CASE(names_beyond_twenty_are_counted),
        CASE(threads_without_a_kept_name_are_counted),
        CASE(names_stay_on_one_line),
        CASE(a_name_of_64_kb_is_printed),
        CASE(the_figures_start_in_column_152_for_rows_up_to_150_columns),
        CASE(the_indent_counts_for_the_column),
        CASE(columns_are_counted_in_characters),
        CASE(a_row_ends_with_its_figures_in_whole_milliseconds),
        CASE(times_of_years_are_printed),
        CASE(siblings_are_in_text_order),
        CASE(by_time_the_hottest_sibling_is_first),
        CASE(an_only_child_without_own_time_is_replaced_by_its_children),
        CASE(a_gap_in_a_deep_stack_is_printed),
        CASE(a_row_with_own_time_is_printed),
        CASE(a_row_with_less_time_than_its_parent_is_printed),
        CASE(the_only_root_is_printed),
        CASE(a_row_is_not_printed_for_less_than_a_millisecond),
        CASE(a_row_with_a_change_of_package_is_printed_if_chosen),
        CASE(the_innermost_monitored_row_of_a_chain_is_printed),
        CASE(without_packages_the_innermost_row_outside_the_jdk_is_also_printed),
        CASE(the_outermost_row_of_an_unmonitored_chain_is_printed),
        CASE(the_caller_of_a_stub_is_printed),
        CASE(a_root_and_the_innermost_monitored_row_are_both_printed),
        CASE(kinds_of_jvm_threads_without_a_millisecond_are_left_out),
        CASE(very_deep_stacks_are_printed),
        CASE(a_comma_in_a_frame_does_not_move_the_figures),
        CASE(the_account_names_each_figure_that_is_not_zero),
        CASE(packages_without_a_sample_are_named),
        CASE(a_library_that_took_the_signal_is_named),
        CASE(the_percentage_has_two_decimals),
        CASE(every_figure_has_its_line_in_order),
        CASE(the_report_of_the_original),
        CASE(a_service_by_name_by_time_and_with_packages),
        CASE(rows_beyond_the_memory_limit_are_counted),
        CASE(rows_beyond_the_size_of_a_record_are_counted),
        CASE(each_allocation_may_be_refused),
        CASE(the_line_with_the_number_of_missing_rows_always_fits),
        CASE(random_reports_match_the_naive_version),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
