/* SPDX-License-Identifier: Apache-2.0 */
/* Counted calls in every export: byte for byte for a small profile; and random profiles compared
 * with the same ones without counted trees, which must not change times and samples. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/difference.h"
#include "export/exporters.h"
#include "export/hot_groups.h"
#include "export/hot_lines.h"
#include "model/profile_merge.h"
#include "support/collapsed_lines.h"
#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/lost_calls.h"
#include "support/memory_output.h"
#include "support/random_profile.h"

enum { ROUNDS = 60 };

#define US INT64_C(1000)

static const enum smp_measure sampled_measures[] = { SMP_MEASURE_WALL, SMP_MEASURE_CPU,
                                                     SMP_MEASURE_SAMPLES };

static char *exported(const struct smp_profile *profile, enum smp_format format,
                      struct smp_export_style style)
{
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(smp_export(profile, format, &style, NULL, &to), SMP_OK);
    return output.bytes != NULL ? output.bytes : strdup("");
}

static void assert_exported(const struct smp_profile *profile, enum smp_format format,
                            struct smp_export_style style, const char *expected)
{
    char *text = exported(profile, format, style);

    assert_string_equal(text, expected);
    free(text);
}

/* --- a service and its report --- */

#define THREAD "java.lang.Thread.run(Thread.java:840)"

static void time_roots(struct report_fixture *fixture, uint32_t node, int64_t calls,
                       int64_t total_ns, int64_t min_ns, int64_t max_ns)
{
    const struct smp_root_time time = {
        .node = node, .calls = calls, .total_ns = total_ns, .min_ns = min_ns, .max_ns = max_ns
    };

    assert_int_equal(smp_root_times_add(report_fixture_root_times(fixture), &time), SMP_OK);
}

static void sample_service(struct report_fixture *f)
{
#define HANDLE "|com.acme.OrderHandler.handle(OrderHandler.java:"
#define FIND "|com.acme.OrderDao.find(OrderDao.java:77)"
    report_fixture_credit(f, "http-exec-", "http-exec-1", THREAD HANDLE "41)" FIND, 300 * MS);
    report_fixture_credit(f, "http-exec-", "http-exec-2",
                          THREAD HANDLE "52)|java.util.ArrayList.forEach(ArrayList.java:1511)"
                                        "|com.acme.Pricing.price(Pricing.java:12)",
                          100 * MS);
    report_fixture_credit(f, "http-exec-", "http-exec-2",
                          THREAD HANDLE "52)|java.util.ArrayList.forEach(ArrayList.java:1511)"
                                        "|com.acme.Pricing.price(Pricing.java:14)",
                          40 * MS);
    report_fixture_credit(f, "http-exec-", "http-exec-2", THREAD HANDLE "52)" FIND, 50 * MS);
    report_fixture_credit(f, "http-exec-", "http-exec-1", THREAD, 10 * MS);
    report_fixture_credit(f, "main", "main", "com.acme.Main.main(Main.java:9)", 500 * MS);
#undef HANDLE
#undef FIND
}

static void count_service(struct report_fixture *f)
{
#define HANDLE "com.acme.OrderHandler.handle(OrderHandler.java)"
    const uint32_t root = report_fixture_count(f, "http-exec-", HANDLE, 1200, 9 * MS, 8 * MS);

    (void)report_fixture_count(f, "http-exec-", HANDLE "|com.acme.OrderDao.find(OrderDao.java)",
                               3400, 350 * MS, 20 * MS);
    (void)report_fixture_count(f, "http-exec-", HANDLE "|com.acme.Pricing.price(Pricing.java)",
                               120000, 130 * MS, 130 * MS);
    (void)report_fixture_count(f, "http-exec-",
                               HANDLE "|com.acme.Pricing.price(Pricing.java)"
                                      "|com.acme.Tax.of(Tax.java)",
                               INT64_C(12000000000), 0, 0);
    /* The call began before the interval and has not ended. */
    (void)report_fixture_count(f, "http-exec-",
                               HANDLE "|com.acme.Audit.run(Audit.java)"
                                      "|com.acme.Audit.log(Audit.java)",
                               7, 11 * MS, 0);
    time_roots(f, root, 1198, INT64_C(499000123), 9 * US + 1, 80 * MS);
    report_fixture_counted_group(f, "http-exec-")->hook_ns = 70 * MS;
#undef HANDLE
}

static void account_service(struct report_fixture *f)
{
    struct smp_counting_account *const account = report_fixture_counting(f);

    smp_counting_account_add(account, SMP_COUNTING_INSTRUMENTED, 84);
    smp_counting_account_add(account, SMP_COUNTING_BATCHES, 3);
    smp_counting_account_add(account, SMP_COUNTING_LEFT_ALONE, 3);
    assert_true(
        smp_counting_account_name(account, SMP_COUNTING_LEFT_ALONE, "too large: com.acme.Big.run"));
    assert_true(smp_counting_account_name(account, SMP_COUNTING_LEFT_ALONE,
                                          "too large: com.acme.Huge\n.go"));
    smp_counting_account_add(account, SMP_COUNTING_DROPPED, 2);
    assert_true(smp_counting_account_name(account, SMP_COUNTING_DROPPED,
                                          "since 2026-11-23T09:41:07Z: com.acme.Tax.rate"));
    assert_true(smp_counting_account_name(account, SMP_COUNTING_DROPPED,
                                          "since 2026-11-23T09:41:08Z: com.acme.T\nx.of"));
    smp_counting_account_add(account, SMP_COUNTING_ROOTS_WITHOUT_CALLS, 1);
    assert_true(smp_counting_account_name(account, SMP_COUNTING_ROOTS_WITHOUT_CALLS,
                                          "not loaded yet: com.acme.batch.**"));
}

static struct smp_profile *make_service(struct report_fixture *fixture)
{
    sample_service(fixture);
    count_service(fixture);
    account_service(fixture);
    return report_fixture_finish(fixture);
}

static void the_report_matches_the_file(void **state)
{
    make_service(*state);
    const char *const text = report_fixture_print(
        *state, (struct smp_export_style){ .columns = SMP_MEASURE_BIT(SMP_MEASURE_CPU) });

    golden_check("counted.txt", text, report_fixture_printed(*state));
}

/* Without root times, hooks and an account their lines are missing. */
static void unknown_figures_are_not_printed(void **state)
{
    (void)report_fixture_count(*state, "g", "a.A.run(A.java)", 3, 0, 0);
    const char *const text = report_fixture_print(*state, (struct smp_export_style){ 0 });
    const char *const record = strstr(text, "== Counted thread: g. Max depth: 1. Distinct threads: "
                                            "1 [g]\na.A.run(A.java)");

    assert_non_null(record);
    assert_non_null(
        strstr(record, " Cumulative time(ms): 0, Method time(ms): 0, Calls: 3\nflush\n"));
    assert_null(strstr(text, "hook share"));
    assert_null(strstr(text, "methods counted"));
    assert_null(strstr(text, "Aggregated"));
}

/* With exact times there is no CPU time: a column of zeros would mean that the calls only wait. */
static void without_cpu_measurement_there_is_no_cpu_column(void **state)
{
    (void)report_fixture_count(*state, "g", "a.A.run(A.java)", 3, 5 * MS, 0);
    report_fixture_credit(*state, "g", "g", "a.A.run(A.java:1)", 7 * MS);
    smp_counting_account_add(report_fixture_counting(*state), SMP_COUNTING_NO_CPU_TIME, 17);
    const char *const text = report_fixture_print(
        *state, (struct smp_export_style){ .columns = SMP_MEASURE_BIT(SMP_MEASURE_CPU) });

    assert_non_null(strstr(text, " Cumulative time(ms): 7, Method time(ms): 7, CPU time(ms): 0, "
                                 "Calls: 3\n"));
    assert_non_null(strstr(text, " Cumulative time(ms): 5, Method time(ms): 5, Calls: 3, "
                                 "Time per call(us): 1666.666\n"));
    assert_non_null(
        strstr(text, "\nmethods counted without CPU time, methodTiming is not SAMPLED: 17\n"));
}

/* In a sampled tree a chain of nodes without own time is one row; here each node was called. */
static void rows_with_calls_are_always_printed(void **state)
{
    (void)report_fixture_count(*state, "g", "a.A.a(A.java)", 1, 0, 0);
    (void)report_fixture_count(*state, "g", "a.A.a(A.java)|a.A.b(A.java)", 2, 0, 0);
    (void)report_fixture_count(*state, "g", "a.A.a(A.java)|a.A.b(A.java)|a.A.c(A.java)", 3, 5 * MS,
                               0);
    const char *const text = report_fixture_print(*state, (struct smp_export_style){ 0 });

    for (int i = 1; i <= 3; i++) {
        char calls[32];
        (void)snprintf(calls, sizeof(calls), ", Calls: %d", i);
        assert_non_null(strstr(text, calls));
    }
}

static void collapsed_by_calls_has_counted_trees_only(void **state)
{
    const struct smp_profile *const profile = make_service(*state);

#define HANDLE "http-exec-;com.acme.OrderHandler.handle(OrderHandler.java)"
    assert_exported(profile, SMP_FORMAT_COLLAPSED,
                    (struct smp_export_style){ .measure = SMP_MEASURE_CALLS },
                    HANDLE " 1200\n" HANDLE ";com.acme.OrderDao.find(OrderDao.java) 3400\n" HANDLE
                           ";com.acme.Pricing.price(Pricing.java) 120000\n" HANDLE
                           ";com.acme.Pricing.price(Pricing.java);com.acme.Tax.of(Tax.java) "
                           "12000000000\n" HANDLE
                           ";com.acme.Audit.run(Audit.java);com.acme.Audit.log(Audit.java) 7\n");
#undef HANDLE
}

static void speedscope_by_calls_has_counted_trees_only(void **state)
{
    const struct smp_profile *const profile = make_service(*state);
    char *text = exported(profile, SMP_FORMAT_SPEEDSCOPE,
                          (struct smp_export_style){ .measure = SMP_MEASURE_CALLS });

    assert_non_null(strstr(text, "\"name\":\"calls\",\"activeProfileIndex\":0"));
    assert_non_null(strstr(text, "\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"http-exec-\","
                                 "\"unit\":\"none\",\"samples\":["));
    assert_non_null(strstr(text, "],\"weights\":[1200,3400,120000,12000000000,7],\"startValue\":0,"
                                 "\"endValue\":12000124607}]}\n"));
    free(text);
}

static void assert_has_bytes(const struct memory_output *output, const char *bytes, size_t count)
{
    assert_non_null(memmem(output->bytes, output->length, bytes, count));
}

/* Sample types: (calls, count), (samples, count), (cpu, nanoseconds), (wall, nanoseconds). Values
 * are packed numbers in field 2, in that order. */
static void pprof_has_calls_of_counted_trees_without_their_time(void **state)
{
    static const char types[] = "\x0a\x04\x08\x01\x10\x02"
                                "\x0a\x04\x08\x03\x10\x02"
                                "\x0a\x04\x08\x04\x10\x05"
                                "\x0a\x04\x08\x06\x10\x05";
    static const char counted[] = "\x12\x04\x2a\x00\x00\x00";
    static const char sampled[] = "\x12\x04\x00\x01\x00\x07";
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    const struct smp_export_style style = { 0 };

    (void)report_fixture_count(*state, "g", "a.A.run(A.java)", 42, 5, 3);
    report_fixture_credit(*state, "g", "g", "a.A.run(A.java:1)", 7);
    assert_int_equal(smp_export(report_fixture_finish(*state), SMP_FORMAT_PPROF, &style, NULL, &to),
                     SMP_OK);
    assert_memory_equal(output.bytes, types, sizeof(types) - 1);
    assert_has_bytes(&output,
                     "\x05"
                     "calls",
                     6);
    assert_has_bytes(&output, counted, sizeof(counted) - 1);
    assert_has_bytes(&output, sampled, sizeof(sampled) - 1);
    memory_output_fini(&output);
}

static void json_lists_counted_groups_separately(void **state)
{
    const struct smp_profile *const profile = make_service(*state);
    char *text = exported(profile, SMP_FORMAT_JSON, (struct smp_export_style){ 0 });
    const char *const counted = strstr(text, "],\n\"counted\":[{\"name\":\"http-exec-\"");

    assert_non_null(counted);
    assert_string_equal(
        counted,
        "],\n\"counted\":[{\"name\":\"http-exec-\",\"threads\":1,\"threadNames\":[\"http-exec-\"],"
        "\"maxDepth\":3,\"polls\":0,\"outcomes\":{},\"hookNanos\":70000000,\n"
        "\"parent\":[-1,0,0,2,0,4],\n\"frame\":[8,9,10,11,12,13],\n"
        "\"wall\":[9000000,350000000,130000000,0,0,11000000],\n"
        "\"cpu\":[8000000,20000000,130000000,0,0,0],\n\"samples\":[0,0,0,0,0,0],\n"
        "\"calls\":[1200,3400,120000,12000000000,0,7],\n"
        "\"rootTimes\":[[0,1198,499000123,9001,80000000]]}]}\n");
    assert_non_null(strstr(text, ",\n\"rowCalls\":[["));
    assert_null(strstr(strstr(text, "\"groups\":["), "\"calls\":[") < counted
                    ? strstr(strstr(text, "\"groups\":["), "\"calls\":[")
                    : NULL);
    assert_non_null(strstr(text, ",\"counting\":{\"INSTRUMENTED\":{\"text\":\"methods counted\","
                                 "\"count\":84,\"names\":[]}"));
    assert_non_null(strstr(text, "\"LEFT_ALONE\":{\"text\":\"left alone\",\"count\":3,"
                                 "\"names\":[\"too large: com.acme.Big.run\","
                                 "\"too large: com.acme.Huge\\u000a.go\"]}"));
    free(text);
}

#define CALLS_HEADS                                                                            \
    "         calls     total ms       own ms      us/call       min us       max us  method " \
    "<- callers\n"

static void top_by_calls_has_counted_methods_only(void **state)
{
    const struct smp_profile *const profile = make_service(*state);

    assert_exported(
        profile, SMP_FORMAT_TOP, (struct smp_export_style){ .measure = SMP_MEASURE_CALLS },
        "Counted methods: 6 of 6, by calls, over 1000 ms: 12000124607 calls, 1200 of them by no "
        "counted method\n" CALLS_HEADS
        "   12000000000        0.000        0.000                                         "
        "com.acme.Tax.of <- com.acme.Pricing.price 12000000000\n"
        "        120000      130.000      130.000        1.083                            "
        "com.acme.Pricing.price <- com.acme.OrderHandler.handle 120000\n"
        "          3400      350.000      350.000      102.941                            "
        "com.acme.OrderDao.find <- com.acme.OrderHandler.handle 3400\n"
        "          1200      500.000        9.000      416.666        9.001    80000.000  "
        "com.acme.OrderHandler.handle <- [root] 1200\n"
        "             7       11.000       11.000     1571.428                            "
        "com.acme.Audit.log <- com.acme.Audit.run 7\n"
        "             0       11.000        0.000                                         "
        "com.acme.Audit.run\n");
}

/* Hot spots and hot methods have no calls; the counted methods include the roots. */
static void top_by_time_has_a_table_of_counted_methods(void **state)
{
    const struct smp_profile *const profile = make_service(*state);
    char *const text = exported(profile, SMP_FORMAT_TOP, (struct smp_export_style){ 0 });
    static const char expected[] =
        "Top 4 hot spots of 4, by wall time, over 1000 ms\n"
        "percent      wall ms  line\n"
        "   50.0          500  com.acme.Main.main(Main.java:9)\n"
        "   35.0          350  com.acme.OrderDao.find(OrderDao.java:77)\n"
        "   10.0          100  com.acme.Pricing.price(Pricing.java:12)\n"
        "    4.0           40  com.acme.Pricing.price(Pricing.java:14)\n"
        "\n"
        "Top 4 methods of 4, by own wall time, over 1000 ms\n"
        "percent      wall ms  method\n"
        "   50.0          500  com.acme.Main.main\n"
        "   35.0          350  com.acme.OrderDao.find\n"
        "   14.0          140  com.acme.Pricing.price\n"
        "    1.0           10  java.lang.Thread.run\n"
        "\n"
        "Counted methods: 6 of 6, by total time, over 1000 ms: 12000124607 calls, 1200 of them by "
        "no counted method\n" CALLS_HEADS
        "          1200      500.000        9.000      416.666        9.001    80000.000  "
        "com.acme.OrderHandler.handle <- [root] 1200\n";

    assert_memory_equal(text, expected, sizeof(expected) - 1);
    free(text);
}

/* Java reads a group's figures: its calls are those of the counted group with the same name. */
static void a_group_has_the_calls_of_its_counted_group(void **state)
{
    const struct smp_profile *const profile = make_service(*state);
    struct smp_hot_groups groups;

    assert_int_equal(smp_hot_groups_init(&groups, NULL, profile, SMP_GROUP_SAMPLED), SMP_OK);
    assert_int_equal(groups.count, 2);
    for (size_t i = 0; i < groups.count; i++) {
        const uint32_t index = groups.indices[i];
        const bool is_main = strcmp(smp_profile_group_info(profile, index)->name, "main") == 0;
        assert_int_equal(smp_hot_group_whole(profile, index, SMP_MEASURE_WALL), 500 * MS);
        assert_int_equal(smp_hot_group_whole(profile, index, SMP_MEASURE_CALLS),
                         is_main ? 0 : INT64_C(12000124607));
    }
    smp_hot_groups_fini(&groups);
}

/* A counted method was not sampled, so the line about packages without a sample remains. */
static void counted_methods_do_not_count_as_sampled_packages(void **state)
{
    report_fixture_monitor(*state, "com.acme");
    (void)report_fixture_count(*state, "g", "com.acme.A.run(A.java)", 1, 0, 0);
    report_fixture_credit(*state, "g", "g", "java.lang.Thread.run(Thread.java:840)", MS);
    assert_true(smp_profile_misses_packages(report_fixture_finish(*state)));
}

/* --- with counted trees and without --- */

static void count_some(struct report_fixture *fixture, unsigned *seed)
{
    static const char *const methods[] = { "a.A.run(A.java)", "a.A.walk(A.java)", "b.B$1.x(B.java)",
                                           "o.O.o(Unknown Source)" };
    static const char *const groups[] = { "main", "pool", "only counted", "[JVM]" };
    char stack[256] = "";

    for (unsigned left = 1 + next_random(seed) % 5; left > 0; left--) {
        strcat(stack, methods[next_random(seed) % 4]);
        strcat(stack, left > 1 ? "|" : "");
    }
    (void)report_fixture_count(fixture, groups[next_random(seed) % 4], stack,
                               next_random(seed) % 50, next_random(seed) % 1000,
                               next_random(seed) % 500);
}

/* Both have the same sampled trees; calls is the sum over the counted trees. */
static void make_both(struct report_fixture *with, struct report_fixture *without, unsigned seed)
{
    unsigned random = seed;

    report_fixture_begin_counting(with);
    report_fixture_begin(without);
    for (unsigned i = seed % 20; i > 0; i--)
        count_some(with, &random);
    random = seed;
    (void)random_profile(with, seed % 30, &random);
    random = seed;
    (void)random_profile(without, seed % 30, &random);
}

static int64_t sum_of_lines(const struct smp_profile *profile, enum smp_measure measure)
{
    struct collapsed_lines lines = collapsed_lines_of(profile, measure);
    int64_t sum = 0;

    for (size_t i = 0; i < lines.count; i++)
        sum += lines.list[i].amount;
    collapsed_lines_fini(&lines);
    return sum;
}

/* Returns the sum of the own amounts of all counted nodes. */
static int64_t plain_calls(const struct smp_profile *profile)
{
    int64_t sum = 0;

    for (uint32_t i = 1; i < smp_tree_node_count(profile->tree); i++) {
        const int64_t own = smp_tree_self(profile->tree, i, SMP_MEASURE_CALLS);
        assert_true(own == 0 || smp_profile_node_kind(profile, i) == SMP_GROUP_COUNTED);
        sum += own;
    }
    return sum;
}

static void assert_same_lines(const struct smp_profile *with, const struct smp_profile *without)
{
    struct smp_hot_lines some = { 0 };
    struct smp_hot_lines all = { 0 };

    assert_int_equal(smp_hot_lines_init(&some, NULL, with, SIZE_MAX), SMP_OK);
    assert_int_equal(smp_hot_lines_init(&all, NULL, without, SIZE_MAX), SMP_OK);
    assert_int_equal(some.count, all.count);
    for (size_t i = 0; i < all.count; i++) {
        assert_string_equal(some.lines[i].text, all.lines[i].text);
        assert_memory_equal(&some.lines[i].self, &all.lines[i].self, sizeof(all.lines[i].self));
    }
    smp_hot_lines_fini(&some);
    smp_hot_lines_fini(&all);
}

static void assert_same_totals(const struct smp_profile *with, const struct smp_profile *without)
{
    for (size_t i = 0; i < 3; i++) {
        const enum smp_measure measure = sampled_measures[i];
        char *expected = exported(without, SMP_FORMAT_COLLAPSED,
                                  (struct smp_export_style){ .measure = measure });
        assert_exported(with, SMP_FORMAT_COLLAPSED, (struct smp_export_style){ .measure = measure },
                        expected);
        free(expected);
        assert_int_equal(smp_profile_total(with, measure), smp_profile_total(without, measure));
    }
    assert_int_equal(smp_profile_total(with, SMP_MEASURE_CALLS), plain_calls(with));
    assert_int_equal(sum_of_lines(with, SMP_MEASURE_CALLS), plain_calls(with));
    assert_int_equal(smp_profile_total(without, SMP_MEASURE_CALLS), 0);
}

static void counted_trees_change_no_time_and_no_sample(void **state)
{
    struct report_fixture *const without = report_fixture_create();

    for (unsigned round = 0; round < ROUNDS; round++) {
        make_both(*state, without, round);
        assert_same_totals(report_fixture_finish(*state), report_fixture_finish(without));
        assert_same_lines(report_fixture_finish(*state), report_fixture_finish(without));
    }
    report_fixture_destroy(without);
}

/* Removes the calls from rows and the records after the sampled groups; the remaining text must be
 * the same. */
static void without_calls(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0';) {
        if (strncmp(from, ", Calls: ", 9) == 0) {
            from += 9;
            from += strspn(from, "0123456789");
            if (strncmp(from, " over ", 6) == 0)
                from += strcspn(from, ",\n");
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* Returns the records of sampled groups, which come first. */
static char *sampled_records(const char *text)
{
    const char *const begin = strstr(text, "== Aggregated thread: ");
    char *const records = strdup(begin != NULL ? begin : "");
    char *end = strstr(records, "== Counted thread: ");

    if (end == NULL)
        end = strstr(records, "flush\n");
    if (end != NULL)
        *end = '\0';
    return records;
}

static void counting_does_not_change_the_sampled_records(void **state)
{
    struct report_fixture *const without = report_fixture_create();

    for (unsigned round = 0; round < ROUNDS; round++) {
        make_both(*state, without, round);
        char *text = sampled_records(report_fixture_print(*state, (struct smp_export_style){ 0 }));
        char *plain =
            sampled_records(report_fixture_print(without, (struct smp_export_style){ 0 }));
        without_calls(text);
        assert_string_equal(text, plain);
        free(plain);
        free(text);
    }
    report_fixture_destroy(without);
}

/* --- merged, compared --- */

static void merged_calls_and_root_times_add_up(void **state)
{
    const struct smp_profile *const one = make_service(*state);
    struct report_fixture *const second = report_fixture_create();
    struct smp_profile *merged = NULL;
    struct smp_hot_groups counted;

    report_fixture_begin_counting(second);
    count_service(second);
    const struct smp_profile *const other = report_fixture_finish(second);
    /* With another names table, nodes and locations have other numbers. */
    assert_int_equal(smp_profile_merge(NULL, other, one, &merged), SMP_OK);
    assert_int_equal(smp_hot_groups_init(&counted, NULL, merged, SMP_GROUP_COUNTED), SMP_OK);
    assert_int_equal(counted.count, 1);
    const struct smp_group_info *const info = smp_profile_group_info(merged, counted.indices[0]);
    assert_string_equal(info->name, "http-exec-");
    assert_int_equal(info->hook_ns, 140 * MS);
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_CALLS),
                     smp_profile_total(one, SMP_MEASURE_CALLS) +
                         smp_profile_total(other, SMP_MEASURE_CALLS));
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_WALL),
                     smp_profile_total(one, SMP_MEASURE_WALL));
    assert_int_equal(smp_root_times_count(merged->counts.root_times), 1);
    const struct smp_root_time *const time = smp_root_times_at(merged->counts.root_times, 0);
    assert_int_equal(smp_tree_nodes(merged->tree)[time->node].parent, info->root);
    assert_int_equal(time->calls, 2 * 1198);
    assert_int_equal(time->total_ns, 2 * INT64_C(499000123));
    assert_int_equal(time->min_ns, 9 * US + 1);
    assert_int_equal(smp_counting_account_figure(merged->counts.account, SMP_COUNTING_INSTRUMENTED),
                     84);
    smp_hot_groups_fini(&counted);
    smp_profile_release(merged);
    report_fixture_destroy(second);
}

static void note_misplaced(struct smp_profile *profile, uint64_t calls)
{
    if (profile->counts.account == NULL)
        assert_int_equal(smp_counting_account_create(NULL, &profile->counts.account), SMP_OK);
    assert_true(smp_counting_account_add_for(profile->counts.account,
                                             SMP_COUNTING_CALLS_WITHOUT_PLACE,
                                             smp_call_loss_text(SMP_LOST_BEGAN_BEFORE), calls));
}

/* A reset also affects finished intervals that a reader has not taken yet. */
static void counts_before_a_reset_are_not_merged(void **state)
{
    struct smp_profile *const before = make_service(*state);
    struct report_fixture *const second = report_fixture_create();
    struct smp_profile *after = NULL;
    struct smp_profile *merged = NULL;
    struct smp_profile *again = NULL;

    report_fixture_begin_counting(second);
    const uint32_t root = report_fixture_count(second, "http-exec-", "a.A.run(A.java)", 3, 5, 0);
    report_fixture_credit(second, "main", "main", "com.acme.Main.main(Main.java:9)", 7);
    time_roots(second, root, 2, 40, 10, 30);
    report_fixture_counted_group(second, "http-exec-")->hook_ns = 11;
    after = report_fixture_finish(second);
    after->counts.is_anew = true;
    note_misplaced(before, 7);
    note_misplaced(after, 2);
    const struct smp_profile *const parts[] = { before, after };
    assert_int_equal(
        smp_profile_merge_within(NULL, parts, 2, (struct smp_merge_limits){ 0 }, &merged), SMP_OK);
    const struct smp_profile *const older[] = { before, merged };
    assert_int_equal(
        smp_profile_merge_within(NULL, older, 2, (struct smp_merge_limits){ 0 }, &again), SMP_OK);
    for (int i = 0; i < 2; i++) {
        const struct smp_profile *const one = i == 0 ? merged : again;
        struct smp_hot_groups counted;
        assert_int_equal(smp_profile_total(one, SMP_MEASURE_CALLS), 3);
        assert_int_equal(smp_profile_total(one, SMP_MEASURE_WALL), (i + 1) * 1000 * MS + 7);
        assert_int_equal(smp_root_times_count(one->counts.root_times), 1);
        assert_int_equal(smp_root_times_at(one->counts.root_times, 0)->calls, 2);
        assert_int_equal(smp_hot_groups_init(&counted, NULL, one, SMP_GROUP_COUNTED), SMP_OK);
        assert_int_equal(counted.count, 1);
        assert_int_equal(smp_profile_group_info(one, counted.indices[0])->hook_ns, 11);
        assert_int_equal(lost_calls(one->counts.account, SMP_LOST_BEGAN_BEFORE), 2);
        smp_hot_groups_fini(&counted);
    }
    smp_profile_release(again);
    smp_profile_release(merged);
    /* Reports that a program merges by itself include counts from before a reset. */
    assert_int_equal(smp_profile_merge(NULL, before, after, &merged), SMP_OK);
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_CALLS),
                     smp_profile_total(before, SMP_MEASURE_CALLS) + 3);
    smp_profile_release(merged);
    report_fixture_destroy(second);
}

/* A group or nodes that do not fit keep their calls, and these remain counted ones. */
static void merging_within_a_maximum_loses_no_calls(void **state)
{
    struct report_fixture *const fixture = *state;
    struct smp_profile *merged = NULL;
    char name[64];

    for (int i = 0; i < 1500; i++) {
        (void)snprintf(name, sizeof(name), "group %c%c%c", 'a' + i % 26, 'a' + i / 26 % 26,
                       'a' + i / 676);
        (void)report_fixture_count(fixture, name, "a.A.run(A.java)|b.B.x(B.java)", 1, 10, 0);
        (void)report_fixture_add(fixture, name, 0, "a.A.run(A.java:1)", 10);
    }
    const struct smp_profile *const profile = report_fixture_finish(fixture);
    const struct smp_profile *const parts[] = { profile, profile };
    const struct smp_merge_limits limits = { .tree_bytes = 320 * 1024,
                                             .groups_bytes = 64 << 20,
                                             .names_bytes = 64 << 20 };
    assert_int_equal(smp_profile_merge_within(NULL, parts, 2, limits, &merged), SMP_OK);
    assert_true(smp_tree_node_count(merged->tree) < smp_tree_node_count(profile->tree));
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_CALLS), 3000);
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_WALL), 30000);
    smp_profile_release(merged);
}

static void a_difference_keeps_counted_groups_separate(void **state)
{
    const struct smp_profile *const profile = make_service(*state);
    const struct smp_profile *const sides[SMP_DIFF_SIDES] = { [SMP_DIFF_AFTER] = profile };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(
        smp_export_difference(sides, SMP_FORMAT_COLLAPSED, SMP_MEASURE_CALLS, NULL, &to), SMP_OK);
    assert_non_null(
        strstr(memory_output_text(&output), "com.acme.OrderDao.find(OrderDao.java) 0 3400\n"));
    assert_null(strstr(memory_output_text(&output), "OrderDao.java:77"));
    memory_output_fini(&output);
    output = (struct memory_output){ 0 };
    assert_int_equal(smp_export_difference(sides, SMP_FORMAT_JSON, SMP_MEASURE_WALL, NULL, &to),
                     SMP_OK);
    const char *const counted = strstr(memory_output_text(&output), ",\n\"counted\":{\"frames\":[");
    assert_non_null(counted);
    /* In JSON, frames and groups have their own numbers. */
    assert_non_null(strstr(counted, "\"groups\":[[-1,0]],\n\"parent\":[-1,0,1,1,3,1,5],\n"
                                    "\"frame\":[0,0,1,2,3,4,5],\n"));
    assert_non_null(strstr(counted, "\"calls\":[0,1200,3400,120000,12000000000,0,7]}}}\n"));
    const char *const calls = strstr(memory_output_text(&output), "\"calls\"");
    assert_true(calls > counted);
    memory_output_fini(&output);
}

/* By method, a root has the same text in both trees, but must have two places. */
static void a_difference_counts_no_time_twice(void **state)
{
    const struct smp_profile *sides[SMP_DIFF_SIDES] = { NULL };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    (void)report_fixture_count(*state, "g", "a.A.run(A.java)", 42, 5, 3);
    report_fixture_credit(*state, "g", "g", "a.A.run(A.java:1)", 7);
    sides[SMP_DIFF_AFTER] = report_fixture_finish(*state);
    assert_int_equal(smp_export_difference(sides, SMP_FORMAT_JSON, SMP_MEASURE_WALL, NULL, &to),
                     SMP_OK);
    assert_non_null(strstr(memory_output_text(&output),
                           "\"after\":{\"wall\":[0,7],\"cpu\":[0,0],\"samples\":[0,1]},\n"));
    assert_non_null(strstr(memory_output_text(&output),
                           "\"after\":{\"wall\":[0,5],\"cpu\":[0,3],\"samples\":[0,0],"
                           "\"calls\":[0,42]}}}\n"));
    memory_output_fini(&output);
}

/* --- memory --- */

struct attempt {
    const struct smp_profile *profile;
    enum smp_format format;
};

static enum smp_status export_calls(void *self)
{
    const struct attempt *const attempt = self;
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    const struct smp_export_style style = { .measure = SMP_MEASURE_CALLS };
    const enum smp_status status = smp_export(attempt->profile, attempt->format, &style, NULL, &to);

    memory_output_fini(&output);
    return status;
}

static enum smp_status merge_calls(void *self)
{
    const struct attempt *const attempt = self;
    struct smp_profile *merged = NULL;
    const enum smp_status status =
        smp_profile_merge(NULL, attempt->profile, attempt->profile, &merged);

    smp_profile_release(merged);
    return status;
}

static enum smp_status compare_calls(void *self)
{
    const struct attempt *const attempt = self;
    const struct smp_profile *const sides[] = { attempt->profile, attempt->profile };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    const enum smp_status status =
        smp_export_difference(sides, SMP_FORMAT_JSON, SMP_MEASURE_WALL, NULL, &to);

    memory_output_fini(&output);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct attempt attempt = { .profile = make_service(*state) };

    for (int format = 0; format < SMP_FORMAT_COUNT; format++) {
        attempt.format = (enum smp_format)format;
        assert_true(failing_alloc_each_step(export_calls, &attempt).refused >= 5);
    }
    assert_true(failing_alloc_each_step(merge_calls, &attempt).refused >= 12);
    assert_true(failing_alloc_each_step(compare_calls, &attempt).refused >= 12);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_counting, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_report_matches_the_file),
        TEST(unknown_figures_are_not_printed),
        TEST(without_cpu_measurement_there_is_no_cpu_column),
        TEST(rows_with_calls_are_always_printed),
        TEST(collapsed_by_calls_has_counted_trees_only),
        TEST(speedscope_by_calls_has_counted_trees_only),
        TEST(pprof_has_calls_of_counted_trees_without_their_time),
        TEST(json_lists_counted_groups_separately),
        TEST(top_by_calls_has_counted_methods_only),
        TEST(top_by_time_has_a_table_of_counted_methods),
        TEST(a_group_has_the_calls_of_its_counted_group),
        TEST(counted_methods_do_not_count_as_sampled_packages),
        TEST(counted_trees_change_no_time_and_no_sample),
        TEST(counting_does_not_change_the_sampled_records),
        TEST(merged_calls_and_root_times_add_up),
        TEST(counts_before_a_reset_are_not_merged),
        TEST(merging_within_a_maximum_loses_no_calls),
        TEST(a_difference_keeps_counted_groups_separate),
        TEST(a_difference_counts_no_time_twice),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("counted", tests, NULL, NULL);
}
