/* SPDX-License-Identifier: Apache-2.0 */
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
#include "support/class_text.h"
#include "support/failing_alloc.h"
#include "support/graph_fixture.h"

/* --- the limit of methods --- */

static bool is_never_used(void *self, int32_t id)
{
    (void)self;
    (void)id;
    return false;
}

static void test_retired_ids_do_not_count_for_the_limit(void **state)
{
    struct graph_fixture fixture;
    struct smp_call_graph_figures figures;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_TOTAL, "", "", 2, 0);
    for (int i = 0; i < REACH_IDS; i++) {
        graph_load(&fixture, "com/acme/A | a()V | b()V");
        smp_call_graph_unload(fixture.graph, graph_find(&fixture, "com/acme/A"));
    }
    graph_load(&fixture, "com/acme/A | a()V | b()V");
    smp_call_graph_figures(fixture.graph, &figures);
    assert_int_equal(figures.ids, 2 * REACH_IDS);
    assert_int_equal(figures.methods, 0);
    assert_int_equal(figures.waiting, 2); /* waiting for ids */
    assert_int_equal(smp_call_graph_recycle(fixture.graph, is_never_used, NULL), 2 * REACH_IDS);
    graph_load(&fixture, "com/acme/A | a()V | b()V");
    smp_call_graph_figures(fixture.graph, &figures);
    assert_int_equal(figures.methods, 2);
    assert_int_equal(figures.waiting, 0);
    graph_fixture_end(&fixture);
}

static void test_a_limit_out_of_range_is_refused(void **state)
{
    struct graph_fixture fixture;
    struct smp_call_graph *graph = NULL;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_LAZY, "", "", 0, 0);
    assert_int_equal(smp_call_graph_create(fixture.plan, 0, &graph), SMP_EINVAL);
    assert_int_equal(smp_call_graph_create(fixture.plan, SMP_PLAN_METHODS_LIMIT + 1, &graph),
                     SMP_EINVAL);
    fixture.plan->look_ahead = 0;
    assert_int_equal(smp_call_graph_create(fixture.plan, 1, &graph), SMP_EINVAL);
    fixture.plan->look_ahead = SMP_PLAN_LOOK_AHEAD_LIMIT + 1;
    assert_int_equal(smp_call_graph_create(fixture.plan, 1, &graph), SMP_EINVAL);
    assert_null(graph);
    graph_fixture_end(&fixture);
}

/* --- the limit of memory --- */

static enum smp_status load_numbered(struct graph_fixture *fixture, unsigned number)
{
    struct class_text text;
    char line[200];
    uint32_t loaded = 0;

    (void)snprintf(line, sizeof(line),
                   "com/acme/C%u : com/acme/C%u | go%u()V -> com/acme/C%u#go%u()V", number,
                   number / 2, number, number + 1, number + 1);
    return smp_call_graph_load(fixture->graph, class_text_read(&text, 1, line), &loaded);
}

static void test_classes_that_do_not_fit_are_counted_and_named(void **state)
{
    struct graph_fixture fixture;
    struct smp_call_graph_figures figures;
    unsigned lost = 0;
    unsigned number = 0;
    char expected[64];

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.C1.go1", "", 0, 128 * 1024);
    while (lost < 20) {
        const enum smp_status status = load_numbered(&fixture, ++number);

        assert_true(status == SMP_OK || status == SMP_ENOMEM);
        if (status == SMP_ENOMEM && lost++ == 0)
            (void)snprintf(expected, sizeof(expected), "over the memory limit: com.acme.C%u",
                           number);
    }
    assert_int_equal(smp_counting_account_figure(fixture.graph->account, SMP_COUNTING_LEFT_ALONE),
                     lost);
    assert_int_equal(smp_counting_account_listed(fixture.graph->account, SMP_COUNTING_LEFT_ALONE),
                     SMP_MAX_COUNTING_NAMES);
    assert_string_equal(
        smp_counting_account_name_at(fixture.graph->account, SMP_COUNTING_LEFT_ALONE, 0), expected);
    smp_call_graph_figures(fixture.graph, &figures);
    assert_int_equal(figures.classes, number - lost);
    assert_true(figures.used_bytes <= 128 * 1024);
    /* Unloading classes makes room for others. */
    smp_call_graph_unload_loader(fixture.graph, 1);
    assert_int_equal(load_numbered(&fixture, 1), SMP_OK);
    graph_fixture_end(&fixture);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* Names of unloaded classes take no memory; otherwise a program that creates classes for ever
 * would fill it. */
static void test_loading_and_unloading_classes_does_not_fill_the_memory(void **state)
{
    struct graph_fixture fixture;
    struct smp_call_graph_figures figures;
    size_t after_warm_up = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.**", "", 0, 0);
    for (unsigned number = 1; number <= 20000; number++) {
        assert_int_equal(load_numbered(&fixture, number), SMP_OK);
        if (number > 100) {
            char name[32];

            (void)snprintf(name, sizeof(name), "com/acme/C%u", number - 100);
            smp_call_graph_unload(fixture.graph, graph_find(&fixture, name));
            assert_int_equal(smp_call_graph_recycle(fixture.graph, is_never_used, NULL), 1);
        }
        smp_call_graph_figures(fixture.graph, &figures);
        if (number == 1000)
            after_warm_up = figures.used_bytes;
    }
    /* Names get longer by a digit. */
    assert_in_range(figures.used_bytes, 1, after_warm_up + after_warm_up / 20);
    assert_int_equal(figures.classes, 100);
    graph_fixture_end(&fixture);
}

/* --- refused allocations --- */

/* Loads, enters, reloads and unloads classes. A failure leaks nothing. */
static enum smp_status use_graph(void *self)
{
    static const char *const LINES[] = {
        "com/acme/R : com/acme/S com/acme/I | r()V -> com/acme/A#a()V com/acme/I*i()V",
        "com/acme/A | a()V -> com/acme/B#b()V | b()V",
        "com/acme/I | abstract i()V",
        "com/acme/J : com/acme/S com/acme/I | i()V -> com/acme/A#b()V",
        "com/acme/R : com/acme/S com/acme/I | q()V | r()V -> com/acme/A#b()V",
    };
    const enum smp_instrumentation scheme = *(const enum smp_instrumentation *)self;
    struct smp_counting_plan *counting = NULL;
    struct smp_call_graph *graph = NULL;
    enum smp_status status =
        smp_counting_plan_create(NULL, "com.acme.R.r", "com.acme, -com.acme.util", &counting);

    if (status == SMP_OK) {
        counting->instrumentation = scheme;
        counting->max_bytes = GRAPH_AMPLE_BYTES;
        status = smp_call_graph_create(counting, 100, &graph);
    }
    for (size_t i = 0; status == SMP_OK && i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        struct class_text text;
        uint32_t loaded = 0;
        struct smp_method_probe plan[2];

        status = smp_call_graph_load(graph, class_text_read(&text, 1, LINES[i]), &loaded);
        if (status != SMP_OK) {
            assert_int_equal(status, SMP_ENOMEM);
            assert_int_equal(smp_call_graph_find(graph, 1, text.summary.name), 0);
            assert_int_equal(smp_counting_account_figure(graph->account, SMP_COUNTING_LEFT_ALONE),
                             1);
            /* Once there is memory again, the graph works as before. */
            status = smp_call_graph_load(graph, class_text_read(&text, 1, LINES[i]), &loaded);
            assert_int_equal(status, SMP_OK);
            status = SMP_ENOMEM;
            break;
        }
        (void)smp_call_graph_plan(graph, loaded, plan, 2);
        smp_call_graph_entered(graph, 0);
    }
    if (status == SMP_OK)
        smp_call_graph_unload_loader(graph, 1);
    smp_call_graph_destroy(graph);
    smp_counting_plan_release(counting);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    static enum smp_instrumentation schemes[] = { SMP_INSTRUMENTATION_LAZY,
                                                  SMP_INSTRUMENTATION_EAGER,
                                                  SMP_INSTRUMENTATION_TOTAL };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct failing_alloc_steps steps = failing_alloc_each_step(use_graph, &schemes[i]);

        assert_true(steps.refused > 30);
        /* A method without an id is counted; only longer lists replace more buckets. */
        assert_true(steps.survived <= 2);
    }
}

/* --- cost --- */

enum { MANY = 20000, METHODS = 10, PER_PACKAGE = 200 };

/* Packages of 200 classes below one base class each. Each class calls methods of the next one. */
static void load_many(struct graph_fixture *fixture)
{
    struct smp_method_summary methods[METHODS];
    struct smp_call_summary calls[METHODS][4];
    char names[4][64];
    char method_names[METHODS][16];

    for (unsigned number = 0; number < MANY; number++) {
        struct smp_class_summary summary = { .loader = 1, .methods = methods };
        uint32_t loaded = 0;
        const unsigned package = number / PER_PACKAGE;
        const unsigned next = number + 1 < MANY ? number + 1 : 0;

        (void)snprintf(names[0], sizeof(names[0]), "com/acme/p%u/C%u", package, number);
        (void)snprintf(names[1], sizeof(names[1]), "com/acme/p%u/C%u", package,
                       package * PER_PACKAGE);
        (void)snprintf(names[2], sizeof(names[2]), "com/acme/p%u/C%u", next / PER_PACKAGE, next);
        summary.name = slice_of(names[0]);
        if (number % PER_PACKAGE != 0)
            summary.super_name = slice_of(names[1]);
        for (unsigned m = 0; m < METHODS; m++) {
            (void)snprintf(method_names[m], sizeof(method_names[m]), "method%u", m);
            methods[m] = (struct smp_method_summary){ .name = slice_of(method_names[m]),
                                                      .descriptor = slice_of("()V"),
                                                      .calls = calls[m],
                                                      .call_count = 4 };
            for (unsigned c = 0; c < 4; c++)
                calls[m][c] = (struct smp_call_summary){ .owner = slice_of(names[1 + c % 2]),
                                                         .name = slice_of(method_names[m]),
                                                         .descriptor = slice_of("()V"),
                                                         .is_dispatched = c < 2 };
        }
        summary.method_count = METHODS;
        assert_int_equal(smp_call_graph_load(fixture->graph, &summary, &loaded), SMP_OK);
    }
}

static void test_cost_of_twenty_thousand_classes(void **state)
{
    struct graph_fixture fixture;
    struct smp_call_graph_figures figures;
    uint32_t batch[1024];
    size_t taken = 0;
    size_t classes = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.p0.C0.method0", "",
                        MANY * METHODS, 256 * 1024 * 1024);
    load_many(&fixture);
    smp_call_graph_figures(fixture.graph, &figures);
    assert_int_equal(figures.classes, MANY);
    assert_int_equal(figures.methods, MANY); /* method0 of each class */
    /* A class is visited for itself, for its super types, and for each reached target in them:
     * here two, one found by name and one in the base class. */
    assert_in_range(figures.steps, MANY, 40 * MANY);
    assert_in_range(figures.used_bytes, MANY * METHODS * 20, MANY * METHODS * 300);
    while ((taken = smp_call_graph_take_batch(fixture.graph, batch, 1024)) > 0)
        classes += taken;
    assert_int_equal(classes, MANY);
    graph_fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retired_ids_do_not_count_for_the_limit),
        cmocka_unit_test(test_a_limit_out_of_range_is_refused),
        cmocka_unit_test(test_classes_that_do_not_fit_are_counted_and_named),
        cmocka_unit_test(test_loading_and_unloading_classes_does_not_fill_the_memory),
        cmocka_unit_test(test_each_allocation_may_fail),
        cmocka_unit_test(test_cost_of_twenty_thousand_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
