/* SPDX-License-Identifier: Apache-2.0 */
/* There are more methods than probes. In the end the most called methods have a probe, the account
 * names the others, and together these are all methods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "counting/call_graph.h"
#include "counting/worklist.h"
#include "support/failing_alloc.h"
#include "support/graph_fixture.h"

enum { LINE_BYTES = 8192, BATCH = 64, ROUNDS = 400, NAMES = 1000 };

static struct graph_fixture fixture;
static struct smp_call_graph *graph;
static unsigned changes; /* number of exchanges that changed something */
static int64_t now_ms;   /* a round is a millisecond */
/* methods called by roots are called, and the roots are not called again */
static bool are_roots_inside;

/* --- a program --- */

/* Returns the calls per round: 17 for a method m17, the maximum for "most", and 3 for others. */
static uint64_t calls_of(struct smp_slice name)
{
    unsigned number = 0;
    char text[32] = "";

    memcpy(text, name.bytes, name.length < sizeof(text) ? name.length : sizeof(text) - 1);
    if (strcmp(text, "most") == 0)
        return UINT64_MAX / 4;
    return sscanf(text, "m%u", &number) == 1 ? number : 3;
}

static void clean_all(void)
{
    uint32_t batch[BATCH];
    struct smp_method_probe probes[NAMES];
    size_t count = 0;

    while ((count = smp_call_graph_take_batch(graph, batch, BATCH)) > 0) {
        for (size_t i = 0; i < count; i++) {
            (void)smp_call_graph_plan(graph, batch[i], probes, NAMES);
            smp_call_graph_probed(graph, batch[i], now_ms);
        }
    }
}

/* Runs each method with a probe: it is entered and counted. */
static void run_all(void)
{
    const struct smp_method_ids *const ids = smp_call_graph_ids(graph);

    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);
        if (record == NULL || record->state != SMP_METHOD_INSTRUMENTED ||
            (are_roots_inside &&
             (smp_worklist_method_of(graph, record)->flags & SMP_MARK_ROOT) != 0))
            continue;
        smp_call_graph_note_calls(graph, id, calls_of(smp_method_ids_name(ids, id).method_name));
        smp_call_graph_entered(graph, id);
    }
}

static struct smp_call_graph_figures figures(void)
{
    struct smp_call_graph_figures now;

    smp_call_graph_figures(graph, &now);
    return now;
}

static void run(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        now_ms++;
        run_all();
        changes += smp_call_graph_judge_places(graph);
        assert_true(figures().methods <= fixture.plan->max_methods);
        clean_all();
    }
}

/* Returns how many methods the account names: "com.acme.A.m1", ... */
static size_t named(void)
{
    struct smp_counting_account *account = NULL;
    size_t count = 0;

    assert_int_equal(smp_counting_account_create(NULL, &account), SMP_OK);
    smp_call_graph_account(graph, account);
    count = smp_counting_account_listed(account, SMP_COUNTING_OVER_METHOD_LIMIT);
    assert_int_equal(smp_counting_account_figure(account, SMP_COUNTING_OVER_METHOD_LIMIT),
                     figures().waiting);
    for (size_t i = 0; i < count; i++)
        assert_non_null(
            strchr(smp_counting_account_name_at(account, SMP_COUNTING_OVER_METHOD_LIMIT, i), '.'));
    smp_counting_account_destroy(account);
    return count;
}

/* Writes a class: "com/acme/A | m1()V | m2()V ..." */
static const char *line_of(const char *class_name, unsigned from, unsigned to)
{
    static char line[LINE_BYTES];
    size_t at = (size_t)snprintf(line, sizeof(line), "%s", class_name);

    for (unsigned i = from; i <= to; i++)
        at += (size_t)snprintf(line + at, sizeof(line) - at, " | m%u()V", i);
    assert_true(at < sizeof(line));
    return line;
}

/* NULL: the method has no probe. */
static const struct smp_method_record *record_of(const char *class_name, unsigned number)
{
    char method[64];

    (void)snprintf(method, sizeof(method), "%s.m%u()V", class_name, number);
    return smp_method_ids_at(smp_call_graph_ids(graph), graph_id(&fixture, method));
}

static bool has_place(const char *class_name, unsigned number)
{
    return record_of(class_name, number) != NULL;
}

static void begin(enum smp_instrumentation scheme, const char *rules, uint32_t max_methods)
{
    graph_fixture_begin(&fixture, scheme, rules, "", max_methods, 0);
    graph = fixture.graph;
    changes = 0;
    now_ms = 1;
    are_roots_inside = false;
}

static int end(void **state)
{
    (void)state;
    graph_fixture_end(&fixture);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

/* --- tests --- */

static void below_the_limit_nothing_is_exchanged(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 10);
    graph_load(&fixture, line_of("com/acme/A", 1, 10));
    run(ROUNDS);
    assert_int_equal(changes, 0);
    assert_int_equal(figures().methods, 10);
    assert_int_equal(figures().waiting, 0);
    assert_int_equal(named(), 0);
}

/* The busiest methods were loaded last. */
static void the_busiest_methods_have_the_probes(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 16);
    graph_load(&fixture, line_of("com/acme/A", 1, 30));
    graph_load(&fixture, line_of("com/acme/B", 31, 60));
    assert_int_equal(figures().methods, 16);
    assert_int_equal(figures().waiting, 44);
    assert_int_equal(named(), SMP_MAX_COUNTING_NAMES);
    run(ROUNDS);
    for (unsigned i = 1; i <= 60; i++)
        assert_int_equal(has_place(i <= 30 ? "com/acme/A" : "com/acme/B", i), i > 44);
    assert_int_equal(figures().methods, 16);
    assert_int_equal(figures().waiting, 44);
    assert_int_equal(named(), SMP_MAX_COUNTING_NAMES);
}

static void once_all_were_tried_nothing_changes(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 8);
    graph_load(&fixture, line_of("com/acme/A", 1, 24));
    run(ROUNDS);
    changes = 0;
    run(ROUNDS);
    assert_int_equal(changes, 0);
    graph_load(&fixture, line_of("com/acme/B", 30, 31));
    run(ROUNDS);
    assert_true(changes > 0);
    assert_true(has_place("com/acme/B", 30) && has_place("com/acme/B", 31));
    assert_true(has_place("com/acme/A", 19) && !has_place("com/acme/A", 18));
    assert_int_equal(figures().methods + figures().waiting, 26);
}

/* Trials of methods that are not called take the probes of others. */
static void a_method_is_counted_from_the_time_its_probe_is_back(void **state)
{
    int64_t lost_ms[9] = { 0 };
    unsigned given_back = 0;

    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 8);
    graph_load(&fixture, line_of("com/acme/A", 1, 8));
    graph_load(&fixture, "com/acme/B | m0()V | m00()V | m000()V | m0000()V");
    for (unsigned round = 0; round < ROUNDS; round++) {
        run(1);
        for (unsigned i = 1; i <= 8; i++) {
            const struct smp_method_record *const record = record_of("com/acme/A", i);
            if (record == NULL) {
                lost_ms[i] = now_ms;
            } else if (lost_ms[i] != 0) {
                assert_int_equal(record->since_ms, now_ms);
                lost_ms[i] = 0;
                given_back++;
            }
        }
    }
    assert_true(given_back > 0);
}

/* Rates measured in earlier rounds can be compared with rates measured now. */
static void roots_that_do_not_end_do_not_affect_the_rates(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "com.acme.Root.root", 8);
    graph_load(&fixture, "com/acme/Root | root()V");
    graph_load(&fixture, line_of("com/acme/A", 1, 24));
    run(ROUNDS);
    for (unsigned i = 1; i <= 24; i++)
        assert_int_equal(has_place("com/acme/A", i), i > 17);
    are_roots_inside = true;
    graph_load(&fixture, line_of("com/acme/B", 30, 31));
    run(ROUNDS);
    assert_true(has_place("com/acme/B", 30) && has_place("com/acme/B", 31));
    for (unsigned i = 1; i <= 24; i++)
        assert_int_equal(has_place("com/acme/A", i), i > 19);
}

static void the_most_called_method_does_not_overflow_the_rates(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 8);
    graph_load(&fixture, "com/acme/Most | most()V");
    graph_load(&fixture, line_of("com/acme/A", 1, 24));
    run(ROUNDS);
    for (unsigned i = 1; i <= 24; i++)
        assert_int_equal(has_place("com/acme/A", i), i > 17);
}

/* Other methods lose probes for its trial and get them back. */
static void a_method_that_is_not_called_gets_no_probe(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 8);
    graph_load(&fixture, line_of("com/acme/A", 1, 8));
    graph_load(&fixture, "com/acme/B | m0()V | m00()V | m000()V | m0000()V");
    run(ROUNDS);
    for (unsigned i = 1; i <= 8; i++)
        assert_true(has_place("com/acme/A", i));
    assert_int_equal(named(), 4);
}

/* A method that is called once an hour must not displace the earlier ones. */
static void without_calls_nothing_is_exchanged(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 4);
    graph_load(&fixture, "com/acme/A | m0()V | m00()V | m000()V | m0000()V");
    graph_load(&fixture, line_of("com/acme/B", 5, 9));
    run(ROUNDS);
    assert_int_equal(changes, 0);
    assert_int_equal(figures().waiting, 5);
}

static void roots_keep_their_probes_and_are_tried_first(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "com.acme.Root.*", 8);
    graph_load(&fixture, line_of("com/acme/A", 10, 30));
    graph_load(&fixture, line_of("com/acme/Root", 1, 3));
    assert_false(has_place("com/acme/Root", 1));
    run(SMP_PLACES_APPLIED + SMP_PLACES_PATIENCE + 1);
    assert_true(has_place("com/acme/Root", 1));
    run(ROUNDS);
    for (unsigned i = 1; i <= 3; i++)
        assert_true(has_place("com/acme/Root", i));
    for (unsigned i = 26; i <= 30; i++)
        assert_true(has_place("com/acme/A", i));
    assert_int_equal(figures().roots, 3);
    assert_int_equal(figures().methods + figures().waiting, 24);
}

/* There are as many roots as probes: none is removed, so none is added. */
static void roots_are_not_exchanged(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "com.acme.*.*", 4);
    graph_load(&fixture, line_of("com/acme/A", 1, 8));
    run(ROUNDS);
    assert_int_equal(changes, 0);
    assert_int_equal(figures().roots, 4);
    assert_int_equal(named(), 4);
}

/* As in R5 of issue 32: many callers have taken all probes. */
static void a_busy_callee_of_many_methods_gets_a_probe(void **state)
{
    char line[LINE_BYTES];

    (void)state;
    begin(SMP_INSTRUMENTATION_LAZY, "com.acme.Root.root", 32);
    graph_load(&fixture, "com/acme/Work | m100000()V");
    size_t at = (size_t)snprintf(line, sizeof(line), "com/acme/Root | root()V ->");
    for (unsigned i = 0; i < 60; i++) {
        char one[200];
        (void)snprintf(one, sizeof(one), "com/acme/C%u | m2()V -> com/acme/Work#m100000()V", i);
        graph_load(&fixture, one);
        at += (size_t)snprintf(line + at, sizeof(line) - at, " com/acme/C%u#m2()V", i);
    }
    graph_load(&fixture, line);
    run(ROUNDS);
    assert_true(has_place("com/acme/Work", 100000));
    assert_int_equal(figures().methods, 32);
    assert_int_equal(figures().methods + figures().waiting, 62);
    assert_int_equal(named(), SMP_MAX_COUNTING_NAMES);
}

static void free_probes_go_to_waiting_methods(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 4);
    graph_load(&fixture, line_of("com/acme/A", 1, 2));
    graph_load(&fixture, line_of("com/acme/B", 3, 4));
    graph_load(&fixture, line_of("com/acme/C", 5, 6));
    smp_call_graph_unload(graph, graph_find(&fixture, "com/acme/A"));
    run(ROUNDS);
    for (unsigned i = 3; i <= 6; i++)
        assert_true(has_place(i < 5 ? "com/acme/B" : "com/acme/C", i));
    assert_int_equal(figures().waiting, 0);
}

static void waiting_methods_of_an_unloaded_class_are_forgotten(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 4);
    graph_load(&fixture, line_of("com/acme/A", 1, 4));
    graph_load(&fixture, line_of("com/acme/B", 5, 9));
    run(ROUNDS);
    assert_int_equal(figures().waiting, 5);
    graph_load(&fixture, line_of("com/acme/A", 1, 4)); /* the same class again */
    graph_load(&fixture, line_of("com/acme/B", 5, 9));
    assert_int_equal(figures().waiting, 5);
    smp_call_graph_unload(graph, graph_find(&fixture, "com/acme/A"));
    assert_int_equal(figures().waiting, 1);
    smp_call_graph_unload(graph, graph_find(&fixture, "com/acme/B"));
    assert_int_equal(figures().waiting, 0);
    assert_int_equal(figures().methods, 0);
}

/* It has another reason for having no probe then. */
static void waiting_methods_of_a_refused_class_are_not_tried(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 4);
    const uint32_t a = graph_load(&fixture, line_of("com/acme/A", 1, 4));
    const uint32_t b = graph_load(&fixture, line_of("com/acme/B", 5, 9));
    run(ROUNDS);
    smp_call_graph_refuse_class(graph, a, "no"); /* all methods were tried */
    assert_int_equal(figures().waiting, 1);
    assert_int_equal(smp_counting_account_figure(graph->account, SMP_COUNTING_LEFT_ALONE), 4);
    smp_call_graph_refuse_class(graph, b, "no");
    assert_int_equal(figures().waiting, 0);
    assert_int_equal(figures().methods, 0);
    assert_int_equal(smp_counting_account_figure(graph->account, SMP_COUNTING_LEFT_ALONE), 9);
}

static void without_memory_nothing_is_exchanged(void **state)
{
    struct failing_alloc failing = { 0 };

    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 16);
    graph_load(&fixture, line_of("com/acme/A", 1, 40));
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    run(ROUNDS);
    assert_int_equal(changes, 0);
    (void)failing_alloc_disarm(&failing);
    run(1 + SMP_PLACES_APPLIED);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    run(ROUNDS);
    assert_int_equal(changes, 0);
    (void)failing_alloc_disarm(&failing);
    assert_int_equal(figures().methods, 16);
    assert_int_equal(figures().waiting, 24);
}

/* Each trial needs an id; the remaining methods are named without a trial. */
static void methods_without_an_id_are_named_without_a_trial(void **state)
{
    (void)state;
    begin(SMP_INSTRUMENTATION_TOTAL, "", 4);
    graph_load(&fixture, line_of("com/acme/A", 1, 40));
    run(ROUNDS);
    assert_int_equal(figures().ids, 4 * REACH_IDS);
    assert_int_equal(figures().methods, 4);
    assert_int_equal(figures().waiting, 36);
    for (unsigned i = 1; i <= 40; i++)
        assert_int_equal(has_place("com/acme/A", i), i > 12 && i <= 16);
    changes = 0;
    run(ROUNDS);
    assert_int_equal(changes, 0);
}

#define TEST(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(below_the_limit_nothing_is_exchanged),
        TEST(the_busiest_methods_have_the_probes),
        TEST(once_all_were_tried_nothing_changes),
        TEST(a_method_is_counted_from_the_time_its_probe_is_back),
        TEST(roots_that_do_not_end_do_not_affect_the_rates),
        TEST(the_most_called_method_does_not_overflow_the_rates),
        TEST(a_method_that_is_not_called_gets_no_probe),
        TEST(without_calls_nothing_is_exchanged),
        TEST(roots_keep_their_probes_and_are_tried_first),
        TEST(roots_are_not_exchanged),
        TEST(a_busy_callee_of_many_methods_gets_a_probe),
        TEST(free_probes_go_to_waiting_methods),
        TEST(waiting_methods_of_an_unloaded_class_are_forgotten),
        TEST(waiting_methods_of_a_refused_class_are_not_tried),
        TEST(without_memory_nothing_is_exchanged),
        TEST(methods_without_an_id_are_named_without_a_trial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
