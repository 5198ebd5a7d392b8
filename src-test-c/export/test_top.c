/* SPDX-License-Identifier: Apache-2.0 */
/* TOP, compared with a file and in its styles; and its tables of random profiles, compared with
 * sums by a recursion that searches all nodes for children. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/exporters.h"
#include "model/measure.h"
#include "support/exported.h"
#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/memory_output.h"
#include "support/random_profile.h"
#include "support/rounds.h"

enum {
    ROUNDS = 200,
    MAX_STACKS = 60,
    MAX_DEPTH = 6,
    STACK_BYTES = 512,
    NAME_BYTES = 128,
    MAX_SUMS = 64,
    MAX_ROWS = 20,
    TABLE_BYTES = 16384
};

#define S (1000 * MS)
#define WORKER "java.lang.Thread.run(Thread.java:840)|com.acme."

static char *top_of_profile(const struct smp_profile *profile, struct smp_export_style style)
{
    struct memory_output out = { 0 };
    const struct smp_output output = memory_output_functions(&out);
    char *text;

    assert_int_equal(smp_export(profile, SMP_FORMAT_TOP, &style, NULL, &output), SMP_OK);
    text = strdup(memory_output_text(&out));
    memory_output_fini(&out);
    return text;
}

/* --- a service --- */

static struct smp_profile *make_service(struct report_fixture *fixture)
{
    report_fixture_begin_with(fixture, REPORT_FIXTURE_STATES | SMP_WITH_ERRORS);
    report_fixture_wait(fixture, "main", "main",
                        "com.acme.Main.main(Main.java:9)|java.lang.Thread.join(Thread.java:1)",
                        SMP_STATE_WAITING, 10 * S);
    report_fixture_wait(fixture, "worker-", "worker-1", WORKER "Shop.sum(Shop.java:31)",
                        SMP_STATE_RUNNING, 4 * S);
    report_fixture_wait(fixture, "worker-", "worker-1",
                        WORKER "Shop.sum(Shop.java:31)|java.util.HashMap.get(HashMap.java:5)",
                        SMP_STATE_RUNNABLE, 1500 * MS);
    report_fixture_wait(fixture, "worker-", "worker-2",
                        WORKER "Shop.sell(Shop.java:52)|java.lang.Thread.sleep(Native Method)",
                        SMP_STATE_WAITING, 3 * S);
    report_fixture_wait(fixture, "worker-", "worker-2",
                        "java.lang.Thread.run(Thread.java:840)|java.lang.Thread.sleep(Native "
                        "Method)",
                        SMP_STATE_IDLE, 20 * S);
    report_fixture_wait(fixture, "worker-", "worker-3",
                        WORKER "Mail.send(Mail.java:7)|java.net.Socket.read(Native Method)",
                        SMP_STATE_IO, 800 * MS);
    report_fixture_wait(fixture, "worker-", "worker-3", WORKER "Shop.lock(Shop.java:77)",
                        SMP_STATE_BLOCKED, 700 * MS);
    struct smp_profile *const profile = report_fixture_finish(fixture);
    profile->elapsed_ns = 10 * S;
    profile->period_ns = 50 * MS;
    profile->own_cpu_ns = 40 * MS;
    return profile;
}

static void the_table_of_a_service_matches_the_file(void **state)
{
    char *const text =
        top_of_profile(make_service(*state), (struct smp_export_style){ .summary = true });

    golden_check("top.txt", text, strlen(text));
    free(text);
}

static void idle_time_is_one_line(void **state)
{
    char *const text = top_of_profile(make_service(*state), (struct smp_export_style){ 0 });

    assert_non_null(strstr(text, "\nIdle, in no row: 20000 ms\n"));
    assert_null(strstr(text, "idle ms"));
    free(text);
}

static void if_states_are_chosen_idle_is_a_column(void **state)
{
    assert_exported(make_service(*state), SMP_FORMAT_TOP,
                    (struct smp_export_style){ .columns = SMP_STATE_MEASURES },
                    "  waiting ms      idle ms  method\n", true);
}

static void rows_can_be_ordered_by_a_state(void **state)
{
    const struct smp_profile *const profile = make_service(*state);
    const struct smp_export_style style = { .measure = SMP_MEASURE_WAITING };

    assert_exported(
        profile, SMP_FORMAT_TOP, style,
        "Top 2 methods of 2, by own waiting time, over 10000 ms\n"
        "percent    active ms   running ms  runnable ms   blocked ms       I/O ms   "
        "waiting ms  method\n"
        "   76.9        10000            0            0            0            0       "
        " 10000  java.lang.Thread.join\n"
        "   23.1         3000            0            0            0            0       "
        "  3000  java.lang.Thread.sleep\n",
        true);
    assert_exported(profile, SMP_FORMAT_TOP, style, "Idle", false);
    assert_exported(profile, SMP_FORMAT_TOP,
                    (struct smp_export_style){ .measure = SMP_MEASURE_IDLE },
                    "Top 1 methods of 1, by own idle time, over 10000 ms\n", true);
}

/* --- without states --- */

static struct smp_profile *make_stateless(struct report_fixture *fixture)
{
    uint32_t node;

    report_fixture_begin(fixture);
    node =
        report_fixture_credit(fixture, "a", "a", "java.T.run(T.java:1)|a.B.work(B.java:7)", 3 * MS);
    report_fixture_ran(fixture, node, MS, 2);
    report_fixture_credit(fixture, "b", "b", "[thread ended]", MS);
    return report_fixture_finish(fixture);
}

static void without_states_all_time_is_shown(void **state)
{
    const struct smp_profile *const profile = make_stateless(*state);
    const struct smp_export_style with_cpu = { .columns = SMP_MEASURE_BIT(SMP_MEASURE_CPU) };

    assert_exported(profile, SMP_FORMAT_TOP, with_cpu,
                    "Top 1 hot spots of 1, by wall time, over 1000 ms\n"
                    "percent      wall ms       CPU ms  line\n"
                    "   75.0            3            1  a.B.work(B.java:7)\n"
                    "\n"
                    "Top 2 methods of 2, by own wall time, over 1000 ms\n"
                    "percent      wall ms       CPU ms  method\n"
                    "   75.0            3            1  a.B.work\n"
                    "   25.0            1            0  [thread ended]\n",
                    true);
    assert_exported(profile, SMP_FORMAT_TOP,
                    (struct smp_export_style){ .measure = SMP_MEASURE_CPU },
                    "Top 1 methods of 1, by own CPU time, over 1000 ms\n"
                    "percent      wall ms       CPU ms  method\n"
                    "  100.0            3            1  a.B.work\n",
                    true);
}

static void by_the_cpu_clock_time_is_cpu_time(void **state)
{
    struct smp_profile *const profile = make_stateless(*state);

    profile->is_cpu_clock = true;
    assert_exported(profile, SMP_FORMAT_TOP, (struct smp_export_style){ 0 },
                    "Top 2 methods of 2, by own CPU time, over 1000 ms\n"
                    "percent       CPU ms  method\n"
                    "   75.0            3  a.B.work\n",
                    true);
}

/* Names of hot spots are in brackets, so that no name is a part of another one. */
static void only_the_hottest_of_many_are_listed(void **state)
{
    char stack[64];
    char *text;

    /* Each new spot is inserted at another position; each method has two lines. */
    for (int i = 0; i < 200; i++) {
        const int number = i * 37 % 100;
        (void)snprintf(stack, sizeof(stack), "m.M%c%c.x(M.java:%d)", 'a' + number / 10,
                       'a' + number % 10, 1 + i / 100);
        report_fixture_wait(*state, "g", "g", stack, SMP_STATE_RUNNING, (number + 1) * MS);
    }
    text = top_of_profile(report_fixture_finish(*state), (struct smp_export_style){ 0 });
    assert_non_null(strstr(text, "Top 20 hot spots of 200, "));
    const char *at = strstr(text, "Top 20 methods of 100, ");
    assert_non_null(at);
    for (int number = 99; number >= 80; number--) {
        (void)snprintf(stack, sizeof(stack), "  m.M%c%c.x\n", 'a' + number / 10, 'a' + number % 10);
        at = strstr(at, stack);
        assert_non_null(at);
    }
    assert_null(strstr(text, "m.Mhj.x"));
    free(text);
}

/* --- the reference implementation --- */

struct naive_sum {
    char name[NAME_BYTES];
    int64_t ns[SMP_THREAD_STATE_COUNT];
    int64_t active_ns;
};

struct naive_sums {
    const struct smp_profile *profile;
    bool by_method;
    struct naive_sum list[MAX_SUMS];
    size_t count;
};

static void naive_name(const struct smp_methods *methods, uint32_t location, bool by_method,
                       char name[NAME_BYTES])
{
    struct smp_bytes text;

    smp_bytes_init(&text, NULL, SMP_MAX_FRAME_TEXT_BYTES);
    if (by_method)
        smp_methods_method_text(methods, location, &text);
    else
        smp_methods_frame_text(methods, location, &text);
    (void)snprintf(name, NAME_BYTES, "%s", smp_bytes_text(&text));
    smp_bytes_fini(&text);
}

static struct naive_sum *find_sum(struct naive_sums *sums, const char *name)
{
    for (size_t i = 0; i < sums->count; i++) {
        if (strcmp(sums->list[i].name, name) == 0)
            return &sums->list[i];
    }
    assert_true(sums->count < MAX_SUMS);
    strcpy(sums->list[sums->count].name, name);
    return &sums->list[sums->count++];
}

/* Credits the node's own amounts to its name, or to the innermost frame of the user's code, or to
 * "" if there is none. */
static void add_naively(struct naive_sums *sums, uint32_t node, const char *place)
{
    const struct smp_tree *const tree = sums->profile->tree;
    const struct smp_node *const nodes = smp_tree_nodes(tree);
    int64_t self[SMP_THREAD_STATE_COUNT];
    char name[NAME_BYTES] = "";

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++)
        self[i] = smp_column_at(
            smp_tree_column(tree, smp_measure_of_state((enum smp_thread_state)i)), node);
    if (!smp_node_is_group(&nodes[node])) {
        naive_name(sums->profile->methods, nodes[node].location, sums->by_method, name);
        if (!sums->by_method && name[0] != 'a' && name[0] != 'u')
            strcpy(name, place);
    }
    for (uint32_t child = 1; child < smp_tree_node_count(tree); child++) {
        if (smp_node_is_group(&nodes[child]) || nodes[child].parent != node)
            continue;
        add_naively(sums, child, name);
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++)
            self[i] -= smp_column_at(
                smp_tree_column(tree, smp_measure_of_state((enum smp_thread_state)i)), child);
    }
    if (name[0] == '\0')
        return;
    struct naive_sum *const sum = find_sum(sums, name);
    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
        sum->ns[i] += self[i];
        sum->active_ns += i == SMP_STATE_IDLE ? 0 : self[i];
    }
}

/* In descending order of time; equal times in the order of names with their bracket. */
static int compare_sums(const void *left, const void *right)
{
    const struct naive_sum *const a = left;
    const struct naive_sum *const b = right;
    char a_name[NAME_BYTES + 1];
    char b_name[NAME_BYTES + 1];

    if (a->active_ns != b->active_ns)
        return a->active_ns > b->active_ns ? -1 : 1;
    (void)snprintf(a_name, sizeof(a_name), "%s(", a->name);
    (void)snprintf(b_name, sizeof(b_name), "%s(", b->name);
    return strcmp(a_name, b_name);
}

static void print_naively(struct naive_sums *sums, int64_t all_ns, char table[TABLE_BYTES])
{
    size_t count = 0;
    size_t length;

    qsort(sums->list, sums->count, sizeof(sums->list[0]), compare_sums);
    while (count < sums->count && sums->list[count].active_ns > 0)
        count++;
    length = (size_t)snprintf(
        table, TABLE_BYTES,
        "Top %zu %s of %zu, by %sactive time, over 1000 ms\n"
        "percent    active ms   running ms  runnable ms   blocked ms       I/O ms   waiting ms  "
        "%s\n",
        count < MAX_ROWS ? count : MAX_ROWS, sums->by_method ? "methods" : "hot spots", count,
        sums->by_method ? "own " : "", sums->by_method ? "method" : "line");
    for (size_t i = 0; i < count && i < MAX_ROWS; i++) {
        const struct naive_sum *const sum = &sums->list[i];
        const unsigned tenths = (unsigned)((double)sum->active_ns / (double)all_ns * 1000 + 0.5);
        length += (size_t)snprintf(table + length, TABLE_BYTES - length,
                                   "%5u.%u %12lld %12lld %12lld %12lld %12lld %12lld  %s\n",
                                   tenths / 10, tenths % 10, (long long)(sum->active_ns / MS),
                                   (long long)(sum->ns[0] / MS), (long long)(sum->ns[1] / MS),
                                   (long long)(sum->ns[2] / MS), (long long)(sum->ns[3] / MS),
                                   (long long)(sum->ns[4] / MS), sum->name);
    }
}

static void assert_table(const struct smp_profile *profile, const char *text, bool by_method)
{
    static struct naive_sums sums;
    static char table[TABLE_BYTES];
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    int64_t all_ns = 0;

    sums = (struct naive_sums){ .profile = profile, .by_method = by_method };
    for (uint32_t root = 1; root < smp_tree_node_count(profile->tree); root++) {
        if (!smp_node_is_group(&nodes[root]))
            continue;
        add_naively(&sums, root, "");
        all_ns += smp_column_at(smp_tree_column(profile->tree, SMP_MEASURE_WALL), root) -
                  smp_column_at(smp_tree_column(profile->tree, SMP_MEASURE_IDLE), root);
    }
    print_naively(&sums, all_ns, table);
    if (strstr(text, table) == NULL)
        fail_msg("no\n%s\nin\n%s", table, text);
}

static void draw_states(struct report_fixture *fixture, unsigned *seed)
{
    static const char *const frames[] = {
        "a.A.run(A.java:1)",
        "a.A.run(A.java:2)",
        "a.A.run$1(A.java:2)",
        "u.U.u(Unknown Source)",
        "java.util.B$1.x(B.java:7)",
        "java.util.N.n(Native Method)",
        "[thread ended]",
        "java.lang.Thread.run(Thread.java:840)",
    };
    enum { FRAMES = sizeof(frames) / sizeof(frames[0]) };
    const unsigned stacks = 1 + next_random(seed) % MAX_STACKS;

    for (unsigned i = 0; i < stacks; i++) {
        const unsigned depth = 1 + next_random(seed) % MAX_DEPTH;
        char stack[STACK_BYTES] = "";
        for (unsigned at = 0; at < depth; at++) {
            strcat(stack, at > 0 ? "|" : "");
            strcat(stack, frames[next_random(seed) % FRAMES]);
        }
        (void)report_fixture_wait(
            fixture, next_random(seed) % 2 == 0 ? "main" : "pool", "t", stack,
            (enum smp_thread_state)(next_random(seed) % SMP_THREAD_STATE_COUNT),
            next_random(seed) % 3 * MS + (next_random(seed) % 2 == 0 ? 0 : next_random(seed)));
    }
}

static void random_tables_match_a_recursive_sum(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        unsigned seed = (unsigned)round * 104729 + 1;
        report_fixture_begin_with(*state, REPORT_FIXTURE_STATES);
        draw_states(*state, &seed);
        const struct smp_profile *const profile = report_fixture_finish(*state);
        char *const text = top_of_profile(profile, (struct smp_export_style){ 0 });
        assert_table(profile, text, true);
        if (strstr(text, "hot spots") != NULL)
            assert_table(profile, text, false);
        free(text);
    }
}

/* --- memory --- */

static enum smp_status export_service(void *self)
{
    const struct smp_export_style style = { 0 };
    struct memory_output out = { 0 };
    const struct smp_output output = memory_output_functions(&out);
    const enum smp_status status = smp_export(self, SMP_FORMAT_TOP, &style, NULL, &output);

    memory_output_fini(&out);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    const struct failing_alloc_steps steps =
        failing_alloc_each_step(export_service, make_service(*state));

    assert_true(steps.refused >= 10);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_states, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_table_of_a_service_matches_the_file), TEST(idle_time_is_one_line),
        TEST(if_states_are_chosen_idle_is_a_column),   TEST(rows_can_be_ordered_by_a_state),
        TEST(without_states_all_time_is_shown),        TEST(by_the_cpu_clock_time_is_cpu_time),
        TEST(only_the_hottest_of_many_are_listed),     TEST(random_tables_match_a_recursive_sum),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
