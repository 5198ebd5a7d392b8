/* SPDX-License-Identifier: Apache-2.0 */
/* CALLS in its styles; and tables of random trees, compared with sums made by a recursion over all
 * nodes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/exporters.h"
#include "export/method_table.h"
#include "support/exported.h"
#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/memory_output.h"
#include "support/random_profile.h"
#include "support/rounds.h"

enum { ROUNDS = 200, MAX_STACKS = 40, MAX_DEPTH = 8, STACK_BYTES = 512, NAME_BYTES = 128 };

#define US INT64_C(1000)
#define SHOP "com.acme.Shop.checkout(Shop.java)"

static char *calls_of(const struct smp_profile *profile, struct smp_export_style style)
{
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(smp_export(profile, SMP_FORMAT_CALLS, &style, NULL, &to), SMP_OK);
    return output.bytes != NULL ? output.bytes : strdup("");
}

/* --- a shop --- */

static struct smp_profile *make_shop(struct report_fixture *f)
{
    const uint32_t root = report_fixture_count(f, "http-", SHOP, 100, 9 * MS, 0);
    const struct smp_root_time time = {
        .node = root, .calls = 100, .total_ns = 100 * MS, .min_ns = 90 * US, .max_ns = 3 * MS
    };

    (void)report_fixture_count(f, "http-", SHOP "|com.acme.db.Dao.find(Dao.java)", 2500, 50 * MS,
                               0);
    (void)report_fixture_count(f, "http-", SHOP "|com.acme.Price.of(Price.java)", 2500, 5 * MS, 0);
    /* A recursive method. */
    (void)report_fixture_count(f, "http-",
                               SHOP "|com.acme.Price.of(Price.java)|com.acme.Price.of(Price.java)",
                               7500, 15 * MS, 0);
    (void)report_fixture_count(f, "jobs", "com.acme.Audit.run(Audit.java)", 3, MS, 0);
    (void)report_fixture_count(
        f, "jobs", "com.acme.Audit.run(Audit.java)|com.acme.db.Dao.find(Dao.java)", 30, 6 * MS, 0);
    for (int i = 0; i < 6; i++) {
        char stack[STACK_BYTES];
        (void)snprintf(stack, sizeof(stack), "R%d.run(R.java)|Util.log(Util.java)", i);
        (void)report_fixture_count(f, "many", stack, 10 + i, 0, 0);
    }
    report_fixture_credit(f, "http-", "http-1", "com.acme.Main.main(Main.java:9)", 500 * MS);
    assert_int_equal(smp_root_times_add(report_fixture_root_times(f), &time), SMP_OK);
    return report_fixture_finish(f);
}

static void the_table_of_a_shop_matches_the_file(void **state)
{
    char *const text = calls_of(make_shop(*state), (struct smp_export_style){ 0 });

    golden_check("calls.txt", text, strlen(text));
    free(text);
}

static char *table_of(const struct smp_profile *profile, enum smp_format format, bool is_folded)
{
    const struct smp_export_style style = { .fold_recursion = is_folded };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(smp_export(profile, format, &style, NULL, &to), SMP_OK);
    const char *const table = strstr(memory_output_text(&output), "Counted methods: ");
    assert_non_null(table);
    char *const copy = strdup(table);
    memory_output_fini(&output);
    return copy;
}

/* A row has the calls of all levels and the number of recursive calls. */
static void a_folded_recursion_has_the_same_table(void **state)
{
    static const enum smp_format formats[] = { SMP_FORMAT_CALLS, SMP_FORMAT_TOP };
    const struct smp_profile *const profile = make_shop(*state);

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        char *const folded = table_of(profile, formats[i], true);
        char *const whole = table_of(profile, formats[i], false);
        assert_string_equal(folded, whole);
        assert_non_null(strstr(folded, "<- com.acme.Price.of 7500"));
        free(whole);
        free(folded);
    }
}

static void rows_can_be_ordered_by_calls(void **state)
{
    char *const text =
        calls_of(make_shop(*state), (struct smp_export_style){ .measure = SMP_MEASURE_CALLS });
    const char *const first = strchr(strchr(text, '\n') + 1, '\n') + 1;
    static const char title[] = "Counted methods: 5 of 5, by calls, over 1000 ms: 12708 calls, 103 "
                                "of them by no counted method\n";
    static const char row[] = "         10000       20.000       20.000        8.000"
                              "                            com.acme.Price.of"
                              " <- com.acme.Price.of 7500, com.acme.Shop.checkout 2500\n";

    assert_memory_equal(text, title, sizeof(title) - 1);
    assert_memory_equal(first, row, sizeof(row) - 1);
    free(text);
}

static void a_class_has_the_calls_of_its_methods(void **state)
{
    const struct smp_profile *const profile = make_shop(*state);

    assert_exported(profile, SMP_FORMAT_CALLS, (struct smp_export_style){ .per = SMP_PER_CLASS },
                    "  class <- callers\n"
                    "           100       79.000        9.000      790.000       90.000     "
                    "3000.000  com.acme.Shop <- [root] 100\n",
                    true);
    assert_exported(profile, SMP_FORMAT_CALLS, (struct smp_export_style){ .per = SMP_PER_PACKAGE },
                    "  package <- callers\n"
                    "         10103       86.000       30.000      834.951       90.000     "
                    "3000.000  com.acme <- com.acme 10000, [root] 103\n"
                    "          2530       56.000       56.000       22.134                         "
                    "   com.acme.db <- com.acme 2530\n",
                    true);
}

static void callers_beyond_three_are_one_line(void **state)
{
    const struct smp_profile *const profile = make_shop(*state);

    assert_exported(profile, SMP_FORMAT_CALLS, (struct smp_export_style){ 0 },
                    "  Util.log <- R5.run 15, R4.run 14, R3.run 13, 3 more 33\n", true);
}

static void a_focus_shows_only_the_calls_inside_it(void **state)
{
    const struct smp_profile *const profile = make_shop(*state);
    char *text = calls_of(profile, (struct smp_export_style){ .focus = "com.acme.Audit.run" });

    assert_string_equal(
        text, "Counted methods: 2 of 2, by total time, over 1000 ms, inside of com.acme.Audit.run: "
              "33 calls, 3 of them by no counted method\n"
              "         calls     total ms       own ms      us/call       min us       max us  "
              "method <- callers\n"
              "             3        7.000        1.000     2333.333                            "
              "com.acme.Audit.run <- [root] 3\n"
              "            30        6.000        6.000      200.000                            "
              "com.acme.db.Dao.find <- com.acme.Audit.run 30\n");
    free(text);
    assert_exported(profile, SMP_FORMAT_CALLS,
                    (struct smp_export_style){ .focus = "com.acme.Price.of" },
                    ", inside of com.acme.Price.of: 10000 calls, 0 of them by no counted", true);
    assert_exported(profile, SMP_FORMAT_CALLS,
                    (struct smp_export_style){ .focus = "com.acme.Shop" },
                    "No counted row is called com.acme.Shop; names are as this table has them "
                    "without a focus.\n",
                    true);
    assert_exported(
        profile, SMP_FORMAT_CALLS,
        (struct smp_export_style){ .focus = "com.acme.Shop", .per = SMP_PER_CLASS },
        "Counted classes: 3 of 3, by total time, over 1000 ms, inside of com.acme.Shop: 12600",
        true);
}

/* The row shows the time of its latest node; the other nodes were counted for the whole
 * interval. */
static void a_row_with_a_late_probe_says_since_when(void **state)
{
    report_fixture_since(*state, "a.A.walk(A.java)", 1500);
    (void)report_fixture_count(*state, "g", "a.A.run(A.java)", 3, 0, 0);
    (void)report_fixture_count(*state, "g", "a.A.run(A.java)|a.A.walk(A.java)", 5, 0, 0);
    char *const text = calls_of(report_fixture_finish(*state), (struct smp_export_style){ 0 });

    assert_non_null(strstr(text, "  a.A.walk <- a.A.run 5; counted since "));
    assert_non_null(strstr(text, "  a.A.run <- [root] 3\n"));
    free(text);
}

static void without_times_their_columns_are_missing(void **state)
{
    (void)report_fixture_count(*state, "g", "a.A.run(A.java)", 3, 0, 0);
    (void)report_fixture_count(*state, "g", "a.A.run(A.java)|a.A.walk(A.java)", 5, 0, 0);
    char *const text = calls_of(report_fixture_finish(*state), (struct smp_export_style){ 0 });

    assert_string_equal(text, "Counted methods: 2 of 2, by calls, over 1000 ms: 8 calls, 3 of them "
                              "by no counted method\n"
                              "         calls  method <- callers\n"
                              "             5  a.A.walk <- a.A.run 5\n"
                              "             3  a.A.run <- [root] 3\n");
    free(text);
}

static void without_counting_a_line_explains_it(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.A.run(A.java:1)", MS);
    char *const text = calls_of(report_fixture_finish(*state), (struct smp_export_style){ 0 });

    assert_string_equal(
        text, "No calls were counted: rootMethods names the methods from which on they are.\n");
    free(text);
}

static void an_unknown_kind_of_rows_is_refused(void **state)
{
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    const struct smp_export_style style = { .per = (enum smp_report_per)3 };

    assert_int_equal(smp_export(make_shop(*state), SMP_FORMAT_CALLS, &style, NULL, &to),
                     SMP_EINVAL);
    assert_int_equal(output.calls, 0);
}

/* --- the reference implementation --- */

struct naive_row {
    int64_t calls;
    int64_t own_ns;
    int64_t total_ns;
    int64_t entries;
    int64_t by_a; /* calls made by methods named a.A.a, or by class a.A */
};

static void naive_name(const struct smp_profile *profile, uint32_t node, enum smp_report_per per,
                       char name[NAME_BYTES])
{
    const uint32_t location = smp_tree_nodes(profile->tree)[node].location;
    struct smp_location_view view;

    smp_methods_view(profile->methods, location, &view);
    (void)snprintf(name, NAME_BYTES, "%s%s%s", view.class_name, per == SMP_PER_METHOD ? "." : "",
                   per == SMP_PER_METHOD ? view.method_name : "");
    if (per == SMP_PER_PACKAGE)
        *strrchr(name, '.') = '\0';
}

/* Returns whether a node above it, up to the group, has this name. */
static bool is_below(const struct smp_profile *profile, uint32_t node, enum smp_report_per per,
                     const char *name)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    char above[NAME_BYTES];

    for (node = nodes[node].parent; !smp_node_is_group(&nodes[node]); node = nodes[node].parent) {
        naive_name(profile, node, per, above);
        if (strcmp(above, name) == 0)
            return true;
    }
    return false;
}

static bool is_naively_in(const struct smp_profile *profile, uint32_t node, enum smp_report_per per,
                          const char *focus)
{
    char name[NAME_BYTES];

    naive_name(profile, node, per, name);
    return focus == NULL || strcmp(name, focus) == 0 || is_below(profile, node, per, focus);
}

/* A call from outside the focus does not count as an outer call, because nodes above the focus are
 * ignored. */
static bool is_naively_outer(const struct smp_profile *profile, uint32_t node,
                             enum smp_report_per per, const char *focus)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    char name[NAME_BYTES];
    char above[NAME_BYTES];

    naive_name(profile, node, per, name);
    for (node = nodes[node].parent; !smp_node_is_group(&nodes[node]); node = nodes[node].parent) {
        naive_name(profile, node, per, above);
        if (strcmp(above, name) == 0 && is_naively_in(profile, node, per, focus))
            return false;
    }
    return true;
}

static void add_node_naively(const struct smp_profile *profile, uint32_t node,
                             enum smp_report_per per, const char *focus, struct naive_row *row)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const int64_t calls = smp_tree_self(profile->tree, node, SMP_MEASURE_CALLS);
    const uint32_t parent = nodes[node].parent;
    char above[NAME_BYTES] = "";

    if (!smp_node_is_group(&nodes[parent]))
        naive_name(profile, parent, per, above);
    row->calls += calls;
    row->own_ns += smp_tree_self(profile->tree, node, SMP_MEASURE_WALL);
    if (strncmp(above, "a.A", 3) == 0 && (above[3] == '\0' || strcmp(above + 3, ".a") == 0))
        row->by_a += calls;
    if (is_naively_outer(profile, node, per, focus)) {
        row->entries += calls;
        row->total_ns += smp_column_at(smp_tree_column(profile->tree, SMP_MEASURE_WALL), node);
    }
}

static struct naive_row row_naively(const struct smp_profile *profile, const char *wanted,
                                    enum smp_report_per per, const char *focus)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    struct naive_row row = { 0 };
    char name[NAME_BYTES];

    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        if (smp_node_is_group(&nodes[node]) ||
            smp_profile_node_kind(profile, node) != SMP_GROUP_COUNTED)
            continue;
        naive_name(profile, node, per, name);
        if (strcmp(name, wanted) == 0 && is_naively_in(profile, node, per, focus))
            add_node_naively(profile, node, per, focus, &row);
    }
    return row;
}

static int64_t calls_by_a(const struct smp_method_table *table, const struct smp_method_row *row)
{
    int64_t calls = 0;
    int64_t all = 0;

    for (size_t i = 0; i < row->caller_count; i++) {
        const struct smp_method_edge *const edge = &table->edges[row->callers + i];
        const char *const name =
            edge->caller == SMP_NO_CALLER ? "" : smp_method_row_name(table, edge->caller);
        all += edge->calls;
        if (i > 0)
            assert_true(edge[-1].calls >= edge->calls);
        if (strcmp(name, "a.A.a") == 0 || strcmp(name, "a.A") == 0)
            calls += edge->calls;
    }
    assert_int_equal(all, row->calls);
    return calls;
}

static void assert_sums(const struct smp_profile *profile, const struct smp_method_table *table,
                        const struct smp_table_choice *choice)
{
    int64_t own_ns = 0;
    int64_t calls = 0;

    for (size_t i = 0; i < table->count; i++) {
        own_ns += table->rows[table->order[i]].own_ns;
        calls += table->rows[table->order[i]].calls;
    }
    assert_int_equal(calls, table->calls);
    if (choice->focus != NULL)
        return;
    assert_int_equal(calls, smp_profile_total(profile, SMP_MEASURE_CALLS));
    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        if (smp_node_is_group(&smp_tree_nodes(profile->tree)[node]))
            own_ns -= smp_column_at(smp_tree_column(profile->tree, SMP_MEASURE_WALL), node);
    }
    assert_int_equal(own_ns, 0);
}

static void assert_naive_table(const struct smp_profile *profile,
                               const struct smp_table_choice *choice)
{
    struct smp_method_table table;

    assert_int_equal(smp_method_table_init(&table, NULL, profile, choice), SMP_OK);
    for (size_t i = 0; i < table.row_count; i++) {
        const struct smp_method_row *const row = &table.rows[i];
        const char *const name = smp_method_row_name(&table, (uint32_t)i);
        const struct naive_row naive = row_naively(profile, name, choice->per, choice->focus);
        assert_int_equal(row->calls, naive.calls);
        assert_int_equal(row->own_ns, naive.own_ns);
        assert_int_equal(row->total_ns, naive.total_ns);
        assert_int_equal(row->entries, naive.entries);
        assert_int_equal(calls_by_a(&table, row), naive.by_a);
    }
    for (size_t i = 1; i < table.count; i++) {
        const struct smp_method_row *const before = &table.rows[table.order[i - 1]];
        const struct smp_method_row *const row = &table.rows[table.order[i]];
        assert_true(choice->by_calls ? before->calls >= row->calls
                                     : before->total_ns >= row->total_ns);
    }
    assert_sums(profile, &table, choice);
    smp_method_table_fini(&table);
}

static void draw_calls(struct report_fixture *fixture, unsigned *seed)
{
    static const char *const methods[] = { "a.A.a(A.java)", "a.A.b(A.java)", "a.B.a(B.java)",
                                           "a.b.C.x(C.java)", "d.D.d(Unknown Source)" };

    for (unsigned left = next_random(seed) % MAX_STACKS; left > 0; left--) {
        char stack[STACK_BYTES] = "";
        for (unsigned depth = 1 + next_random(seed) % MAX_DEPTH; depth > 0; depth--) {
            strcat(stack, methods[next_random(seed) % 5]);
            strcat(stack, depth > 1 ? "|" : "");
        }
        (void)report_fixture_count(fixture, next_random(seed) % 2 == 0 ? "main" : "pool", stack,
                                   next_random(seed) % 5, next_random(seed) % 100, 0);
    }
}

static void random_tables_match_a_recursive_sum(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        unsigned seed = (unsigned)round * 7919 + 3;
        report_fixture_begin_counting(*state);
        draw_calls(*state, &seed);
        const struct smp_profile *const profile = report_fixture_finish(*state);
        for (int per = SMP_PER_METHOD; per <= SMP_PER_PACKAGE; per++) {
            static const char *const focuses[] = { "a.A.b", "a.A", "a" };
            struct smp_table_choice choice = { .per = (enum smp_report_per)per,
                                               .by_calls = round % 2 == 0 };
            assert_naive_table(profile, &choice);
            choice.focus = focuses[per];
            assert_naive_table(profile, &choice);
        }
    }
}

/* --- memory --- */

static enum smp_status export_shop(void *self)
{
    const struct smp_export_style style = { 0 };
    struct memory_output out = { 0 };
    const struct smp_output output = memory_output_functions(&out);
    const enum smp_status status = smp_export(self, SMP_FORMAT_CALLS, &style, NULL, &output);

    memory_output_fini(&out);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    const struct failing_alloc_steps steps =
        failing_alloc_each_step(export_shop, make_shop(*state));

    assert_true(steps.refused >= 15);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_counting, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_table_of_a_shop_matches_the_file),
        TEST(a_folded_recursion_has_the_same_table),
        TEST(rows_can_be_ordered_by_calls),
        TEST(a_class_has_the_calls_of_its_methods),
        TEST(callers_beyond_three_are_one_line),
        TEST(a_focus_shows_only_the_calls_inside_it),
        TEST(a_row_with_a_late_probe_says_since_when),
        TEST(without_times_their_columns_are_missing),
        TEST(without_counting_a_line_explains_it),
        TEST(an_unknown_kind_of_rows_is_refused),
        TEST(random_tables_match_a_recursive_sum),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
