/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/alloc.h"
#include "counting/call_graph.h"
#include "counting/worklist.h"
#include "support/class_text.h"
#include "support/graph_fixture.h"

enum { WANTED_BYTES = 4096 };

/* The program that most tests load: handle calls save, which two classes have. */
static const char HANDLER[] =
    "com/acme/Handler | handle()V -> com/acme/Store*save()V com/acme/Tax#of()I | other()V";
static const char STORE[] = "com/acme/Store | save()V -> com/acme/Log#log()V";
static const char FAST_STORE[] = "com/acme/FastStore : com/acme/Store | save()V";
static const char TAX[] = "com/acme/Tax | static of()I | static <clinit>()V";
static const char LOG[] = "com/acme/Log | static log()V";

static const char *wanted_of(struct graph_fixture *fixture)
{
    static char text[WANTED_BYTES];

    return graph_wanted(fixture, text, sizeof(text));
}

static struct graph_fixture begin(enum smp_instrumentation scheme, const char *rules)
{
    struct graph_fixture fixture;

    graph_fixture_begin(&fixture, scheme, rules, "", 0, 0);
    return fixture;
}

static void enter(struct graph_fixture *fixture, const char *method)
{
    const int32_t id = graph_id(fixture, method);

    assert_true(id >= 0);
    smp_call_graph_entered(fixture->graph, id);
}

static void test_lazy_follows_calls_of_entered_methods(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.Handler.handle");

    (void)state;
    graph_load(&fixture, STORE);
    graph_load(&fixture, FAST_STORE);
    graph_load(&fixture, TAX);
    graph_load(&fixture, LOG);
    assert_string_equal(wanted_of(&fixture), "");
    graph_load(&fixture, HANDLER);
    assert_string_equal(wanted_of(&fixture), "com/acme/Handler.handle()V");
    enter(&fixture, "com/acme/Handler.handle()V");
    /* save of both classes; Tax is used for the first time, so its initialiser runs. */
    assert_true(graph_id(&fixture, "com/acme/Store.save()V") >= 0);
    assert_true(graph_id(&fixture, "com/acme/FastStore.save()V") >= 0);
    assert_true(graph_id(&fixture, "com/acme/Tax.of()I") >= 0);
    assert_true(graph_id(&fixture, "com/acme/Tax.<clinit>()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/Log.log()V"), -1);
    assert_int_equal(graph_id(&fixture, "com/acme/Handler.other()V"), -1);
    enter(&fixture, "com/acme/FastStore.save()V");
    assert_int_equal(graph_id(&fixture, "com/acme/Log.log()V"), -1);
    enter(&fixture, "com/acme/Store.save()V");
    assert_true(graph_id(&fixture, "com/acme/Log.log()V") >= 0);
    graph_fixture_end(&fixture);
}

/* A chain a -> b -> c -> d -> e. The last class is loaded late. */
static void test_lazy_looks_some_calls_ahead(void **state)
{
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin_ahead(&fixture, 3, "com.acme.A.a", "");
    graph_load(&fixture, "com/acme/A | a()V -> com/acme/B*b()V");
    graph_load(&fixture, "com/acme/B | b()V -> com/acme/C#c()V");
    graph_load(&fixture, "com/acme/C | c()V -> com/acme/D#d()V");
    graph_load(&fixture, "com/acme/D | d()V -> com/acme/E#e()V");
    enter(&fixture, "com/acme/A.a()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/A.a()V com/acme/B.b()V com/acme/C.c()V "
                                             "com/acme/D.d()V");
    /* An override has the same distance as the method that it overrides. */
    graph_load(&fixture, "com/acme/Bb : com/acme/B | b()V -> com/acme/F#f()V");
    graph_load(&fixture, "com/acme/F | f()V -> com/acme/G#g()V");
    graph_load(&fixture, "com/acme/G | g()V -> com/acme/H#h()V");
    graph_load(&fixture, "com/acme/H | h()V");
    assert_true(graph_id(&fixture, "com/acme/G.g()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/H.h()V"), -1);
    graph_load(&fixture, "com/acme/E | e()V");
    assert_int_equal(graph_id(&fixture, "com/acme/E.e()V"), -1);
    enter(&fixture, "com/acme/B.b()V");
    assert_true(graph_id(&fixture, "com/acme/E.e()V") >= 0);
    graph_fixture_end(&fixture);
}

static void test_eager_is_the_closure_of_the_loaded_classes(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.Handler.handle");

    (void)state;
    graph_load(&fixture, LOG);
    graph_load(&fixture, HANDLER);
    assert_string_equal(wanted_of(&fixture), "com/acme/Handler.handle()V");
    graph_load(&fixture, STORE);
    assert_string_equal(wanted_of(&fixture),
                        "com/acme/Handler.handle()V com/acme/Store.save()V com/acme/Log.log()V");
    /* A class that is loaded later and overrides a method. */
    graph_load(&fixture, FAST_STORE);
    assert_true(graph_id(&fixture, "com/acme/FastStore.save()V") >= 0);
    graph_fixture_end(&fixture);
}

static void test_total_wants_all_methods_that_pass_the_filter(void **state)
{
    struct graph_fixture fixture;
    struct smp_method_probe plan[3];

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_TOTAL, "com.acme.A.go",
                        "com.acme, -com.acme.util", 0, 0);
    graph_load(&fixture, "com/acme/util/U | u()V");
    graph_load(&fixture, "org/lib/L | l()V");
    const uint32_t loaded =
        graph_load(&fixture, "com/acme/A | go()V -> com/acme/util/U#u()V | native n()V | b()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/A.go()V com/acme/A.b()V");
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 3), 2);
    assert_true(plan[0].id == 0 && plan[0].is_root);
    assert_true(plan[1].id == -1 && !plan[1].is_root);
    assert_true(plan[2].id == 1 && !plan[2].is_root);
    graph_fixture_end(&fixture);
}

static void test_total_without_rules_begins_with_main_and_run(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_TOTAL, "");
    struct smp_method_probe plan[5];
    const uint32_t loaded =
        graph_load(&fixture, "com/acme/Main | static main([Ljava/lang/String;)V | run()V | main()V "
                             "| static run()V | run(I)V");

    (void)state;
    graph_load(&fixture, "java/util/TimerTask | run()V");
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 5), 5);
    assert_true(plan[0].is_root);
    assert_true(plan[1].is_root);
    for (size_t i = 2; i < 5; i++)
        assert_false(plan[i].is_root);
    assert_int_equal(graph_id(&fixture, "java/util/TimerTask.run()V"), -1);
    graph_fixture_end(&fixture);
}

/* Without rules there is no root, and no class costs anything. */
static void test_without_rules_there_are_no_methods(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "");

    (void)state;
    graph_load(&fixture, HANDLER);
    graph_load(&fixture, "com/acme/Main | static main([Ljava/lang/String;)V -> com/acme/B#b()V");
    assert_string_equal(wanted_of(&fixture), "");
    assert_false(smp_call_graph_has_pending(fixture.graph));
    graph_fixture_end(&fixture);
}

static void test_methods_that_are_not_instrumented(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.A.*");

    (void)state;
    /* A root counts even if it is trivial or the filter excludes its class. */
    graph_load(&fixture,
               "com/acme/A | a()V -> com/acme/B#trivial()V com/acme/B#native()V com/acme/B#b()V "
               "java/util/Map*get()V java/lang/Thread#run()V com/acme/sub/X#x()V | trivial t()V");
    graph_load(&fixture, "com/acme/B | trivial trivial()V | native native()V | b()V");
    graph_load(&fixture, "java/util/Map | get()V");
    graph_load(&fixture, "java/lang/Thread | run()V");
    graph_load(&fixture, "com/incapsula/sampler/ThreadsSampler | init()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/A.a()V com/acme/A.t()V com/acme/B.b()V");
    graph_fixture_end(&fixture);

    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER,
                        "java.util.Timer.run, java.lang.Thread.run", "", 0, 0);
    graph_load(&fixture, "java/util/Timer | run()V -> java/util/Timer#next()V com/acme/T*t()V "
                         "| next()V -> com/acme/T*u()V");
    graph_load(&fixture, "java/lang/Thread | run()V");
    graph_load(&fixture, "com/acme/T | t()V | u()V");
    assert_string_equal(wanted_of(&fixture), "java/util/Timer.run()V com/acme/T.t()V");
    assert_int_equal(fixture.graph->rule_states[0], SMP_RULE_FOUND);
    assert_int_equal(fixture.graph->rule_states[1], SMP_RULE_NEVER);
    graph_fixture_end(&fixture);
}

static void test_inherited_and_default_methods_are_found(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/I*go()V com/acme/D#inherited()V");
    graph_load(&fixture, "com/acme/I | abstract go()V");
    graph_load(&fixture, "com/acme/Other | go()V");
    assert_int_equal(graph_id(&fixture, "com/acme/Other.go()V"), -1);
    /* Other does not implement I, but D inherits its go() for I. */
    graph_load(&fixture, "com/acme/D : com/acme/Other com/acme/I");
    assert_true(graph_id(&fixture, "com/acme/Other.go()V") >= 0);
    graph_load(&fixture, "com/acme/Base | inherited()V");
    assert_int_equal(graph_id(&fixture, "com/acme/Base.inherited()V"), -1);
    /* D gets another super class, as if it were loaded again. */
    graph_load(&fixture, "com/acme/D : com/acme/Base com/acme/I");
    assert_true(graph_id(&fixture, "com/acme/Base.inherited()V") >= 0);
    graph_fixture_end(&fixture);

    fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/D*go()V");
    graph_load(&fixture, "com/acme/I | go()V");
    graph_load(&fixture, "com/acme/D : java/lang/Object com/acme/I");
    assert_true(graph_id(&fixture, "com/acme/I.go()V") >= 0);
    graph_fixture_end(&fixture);
}

static void test_virtual_calls_reach_only_overriding_methods(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/A*go()V com/acme/A#only()V");
    graph_load(&fixture, "com/acme/A | private go()V | only()V");
    graph_load(&fixture, "com/acme/B : com/acme/A | static go()V | only()V");
    graph_load(&fixture, "com/acme/C : com/acme/B | private go()V");
    graph_load(&fixture, "com/acme/D : com/acme/C | go()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/R.r()V com/acme/A.only()V "
                                             "com/acme/A.go()V com/acme/D.go()V");
    graph_fixture_end(&fixture);
}

/* The JVM reports a class before its super class is loaded. */
static void test_a_super_class_may_be_loaded_last(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/I*go()V");
    graph_load(&fixture, "com/acme/Leaf : com/acme/Middle | go()V");
    assert_int_equal(graph_id(&fixture, "com/acme/Leaf.go()V"), -1);
    graph_load(&fixture, "com/acme/Middle : java/lang/Object com/acme/J");
    assert_int_equal(graph_id(&fixture, "com/acme/Leaf.go()V"), -1);
    graph_load(&fixture, "com/acme/J : java/lang/Object com/acme/I");
    assert_true(graph_id(&fixture, "com/acme/Leaf.go()V") >= 0);
    graph_fixture_end(&fixture);
}

static void test_classes_of_one_name_are_all_found(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");
    uint32_t second = 0;
    uint32_t first = 0;
    struct smp_method_probe plan[1];

    (void)state;
    first = graph_load_by(&fixture, 1, "com/acme/A | go()V");
    second = graph_load_by(&fixture, 2, "com/acme/A | go()V");
    assert_int_not_equal(first, second);
    graph_load_by(&fixture, 3, "com/acme/R | r()V -> com/acme/A#go()V");
    assert_int_equal(smp_call_graph_plan(fixture.graph, first, plan, 1), 1);
    assert_true(plan[0].id >= 0);
    const int32_t id = plan[0].id;
    assert_int_equal(smp_call_graph_plan(fixture.graph, second, plan, 1), 1);
    assert_int_not_equal(plan[0].id, id);
    smp_call_graph_unload_loader(fixture.graph, 1);
    assert_int_equal(graph_find(&fixture, "com/acme/A"), 0);
    assert_int_equal(smp_call_graph_find(fixture.graph, 2, slice_of("com/acme/A")), second);
    graph_fixture_end(&fixture);
}

static void test_batches_are_limited_and_repeated_after_a_failure(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.**");
    uint32_t loaded[3];
    uint32_t batch[3];
    struct smp_method_probe plan[1];
    struct smp_call_graph_figures figures;

    (void)state;
    loaded[0] = graph_load(&fixture, "com/acme/A | a()V");
    loaded[1] = graph_load(&fixture, "com/acme/B | b()V");
    loaded[2] = graph_load(&fixture, "com/acme/C | c()V");
    assert_int_equal(smp_call_graph_take_batch(fixture.graph, batch, 2), 2);
    assert_int_equal(batch[0], loaded[0]);
    assert_int_equal(batch[1], loaded[1]);
    smp_call_graph_put_back(fixture.graph, loaded[0]);
    assert_int_equal(smp_call_graph_take_batch(fixture.graph, batch, 3), 2);
    assert_int_equal(batch[0], loaded[2]);
    assert_int_equal(batch[1], loaded[0]);
    assert_int_equal(smp_call_graph_take_batch(fixture.graph, batch, 3), 0);
    smp_call_graph_put_back(fixture.graph, loaded[1]);
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded[1], plan, 1), 1);
    assert_false(smp_call_graph_has_pending(fixture.graph));
    smp_call_graph_figures(fixture.graph, &figures);
    assert_int_equal(figures.batches, 2);
    assert_int_equal(figures.classes, 3);
    assert_int_equal(figures.methods, 3);
    assert_int_equal(figures.roots, 3);
    graph_fixture_end(&fixture);
}

/* A class gets new bytes: its methods keep their ids, and the methods that it calls now are
 * reached. */
static void test_redefinition(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.R.r");
    struct smp_method_probe plan[3];
    const uint32_t loaded = graph_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V");
    const int32_t id = graph_id(&fixture, "com/acme/R.r()V");

    (void)state;
    enter(&fixture, "com/acme/R.r()V");
    assert_int_equal(
        graph_load(&fixture, "com/acme/R | private n()V | r()V -> com/acme/B#b()V | m()V"), loaded);
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 3), 1);
    assert_int_equal(plan[1].id, id);
    assert_true(plan[1].is_root);
    graph_load(&fixture, "com/acme/A | a()V");
    graph_load(&fixture, "com/acme/B | b()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/R.r()V com/acme/B.b()V");
    /* The method is removed: its id is retired, and not given to another method. */
    graph_load(&fixture, "com/acme/R | m()V");
    graph_load(&fixture, "com/acme/R | r()V");
    assert_int_not_equal(graph_id(&fixture, "com/acme/R.r()V"), id);
    assert_int_equal(smp_method_ids_at(smp_call_graph_ids(fixture.graph), id)->state,
                     SMP_METHOD_RETIRED);
    graph_fixture_end(&fixture);
}

static bool is_in_use(void *self, int32_t id)
{
    return *(const int32_t *)self == id;
}

static void test_unloading_retires_ids_and_forgets_calls(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r, com.acme.S.s");
    int32_t kept = 0;
    char text[64];

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V");
    graph_load(&fixture, "com/acme/A | a()V -> com/acme/B#b()V");
    kept = graph_id(&fixture, "com/acme/R.r()V");
    smp_call_graph_unload(fixture.graph, graph_find(&fixture, "com/acme/R"));
    smp_call_graph_unload(fixture.graph, graph_find(&fixture, "com/acme/A"));
    assert_false(smp_call_graph_has_pending(fixture.graph));
    /* No loaded class calls these methods any more. */
    graph_load(&fixture, "com/acme/A | a()V -> com/acme/B#b()V");
    graph_load(&fixture, "com/acme/B | b()V");
    assert_string_equal(wanted_of(&fixture), "");
    /* Trees still refer to retired methods. */
    smp_method_text(text, sizeof(text),
                    smp_method_ids_name(smp_call_graph_ids(fixture.graph), kept).class_name,
                    smp_method_ids_name(smp_call_graph_ids(fixture.graph), kept).method_name);
    assert_string_equal(text, "com.acme.R.r");
    smp_call_graph_entered(fixture.graph, kept);
    graph_load(&fixture, "com/acme/S | s()V");
    assert_int_equal(graph_id(&fixture, "com/acme/S.s()V"), 2);
    assert_int_equal(smp_call_graph_recycle(fixture.graph, is_in_use, &kept), 1);
    assert_null(smp_method_ids_at(smp_call_graph_ids(fixture.graph), 1));
    assert_int_equal(smp_call_graph_recycle(fixture.graph, is_in_use, &(int32_t){ -1 }), 1);
    assert_null(smp_method_ids_at(smp_call_graph_ids(fixture.graph), kept));
    graph_load(&fixture, "com/acme/R | r()V");
    assert_true(graph_id(&fixture, "com/acme/R.r()V") < 2);
    graph_fixture_end(&fixture);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* A method without a probe reports no entry, so the methods that it calls are reached at once. */
static void test_a_method_without_a_probe_is_passed_through(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.R.r");
    struct smp_method_probe plan[1];
    uint32_t big = 0;

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/Big#big()V");
    big = graph_load(&fixture, "com/acme/Big | big()V -> com/acme/A#a()V");
    graph_load(&fixture, "com/acme/A | a()V");
    enter(&fixture, "com/acme/R.r()V");
    assert_int_equal(graph_id(&fixture, "com/acme/A.a()V"), -1);
    smp_call_graph_leave_alone(fixture.graph, big, 0, SMP_COUNTING_LEFT_ALONE, "too large");
    smp_call_graph_leave_alone(fixture.graph, big, 0, SMP_COUNTING_LEFT_ALONE, "too large");
    smp_call_graph_leave_alone(fixture.graph, big, 7, SMP_COUNTING_LEFT_ALONE, "too large");
    assert_true(graph_id(&fixture, "com/acme/A.a()V") >= 0);
    assert_int_equal(smp_call_graph_plan(fixture.graph, big, plan, 1), 0);
    assert_int_equal(smp_counting_account_figure(fixture.graph->account, SMP_COUNTING_LEFT_ALONE),
                     1);
    assert_string_equal(
        smp_counting_account_name_at(fixture.graph->account, SMP_COUNTING_LEFT_ALONE, 0),
        "too large: com.acme.Big.big");
    /* New bytes may fit. */
    graph_load(&fixture, "com/acme/Big | big()V -> com/acme/A#a()V");
    assert_int_equal(smp_call_graph_plan(fixture.graph, big, plan, 1), 1);
    smp_call_graph_leave_alone(fixture.graph, big, 0, SMP_COUNTING_LEFT_ALONE, "too large");
    assert_int_equal(smp_call_graph_plan(fixture.graph, big, plan, 1), 0);
    assert_int_equal(smp_counting_account_figure(fixture.graph->account, SMP_COUNTING_LEFT_ALONE),
                     1);
    graph_fixture_end(&fixture);
}

static void test_a_refused_class_is_passed_through(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.R.r");
    struct smp_method_probe plan[2];
    uint32_t refused = 0;

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/H#h()V com/acme/H#i()V");
    refused = graph_load(&fixture, "com/acme/H | h()V -> com/acme/A#a()V | i()V -> com/acme/A#b()V "
                                   "| j()V -> com/acme/A#c()V");
    graph_load(&fixture, "com/acme/A | a()V -> com/acme/H#j()V | b()V | c()V");
    enter(&fixture, "com/acme/R.r()V");
    smp_call_graph_refuse_class(fixture.graph, refused,
                                "the JVM does not let its class be changed");
    assert_true(graph_id(&fixture, "com/acme/A.a()V") >= 0);
    assert_true(graph_id(&fixture, "com/acme/A.b()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/A.c()V"), -1);
    enter(&fixture, "com/acme/A.a()V");
    assert_true(graph_id(&fixture, "com/acme/A.c()V") >= 0);
    assert_int_equal(smp_call_graph_plan(fixture.graph, refused, plan, 2), 0);
    assert_int_equal(smp_counting_account_figure(fixture.graph->account, SMP_COUNTING_LEFT_ALONE),
                     3);
    graph_fixture_end(&fixture);
}

static void test_removed_probes_stay_removed(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");
    struct smp_method_probe plan[1];
    uint32_t loaded = 0;
    int32_t id = 0;

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V");
    loaded = graph_load(&fixture, "com/acme/A | a()V");
    id = graph_id(&fixture, "com/acme/A.a()V");
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 1), 1);
    assert_true(smp_call_graph_drop(fixture.graph, id, 1234));
    assert_false(smp_call_graph_drop(fixture.graph, id, 1235));
    assert_false(smp_call_graph_drop(fixture.graph, graph_id(&fixture, "com/acme/R.r()V"), 1));
    assert_false(smp_call_graph_drop(fixture.graph, 99, 1));
    assert_false(smp_call_graph_drop(fixture.graph, -1, 1));
    assert_int_equal(smp_call_graph_take_batch(fixture.graph, &loaded, 1), 1);
    assert_string_equal(
        smp_counting_account_name_at(fixture.graph->account, SMP_COUNTING_DROPPED, 0),
        "since 1970-01-01T00:00:01Z: com.acme.A.a");
    loaded = graph_load(&fixture, "com/acme/A | a()V");
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 1), 0);
    graph_load(&fixture, "com/acme/Q : com/acme/R | q()V -> com/acme/A#a()V");
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 1), 0);
    graph_fixture_end(&fixture);
}

/* A rule without stars takes precedence, whatever the order. */
static void test_roots_of_a_pattern_can_lose_their_probes(void **state)
{
    static const char *const RULES[] = { "com.acme.R.r, com.acme.**",
                                         "com.acme.R.*, com.acme.R.r" };

    (void)state;
    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++) {
        struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, RULES[i]);
        const uint32_t loaded = graph_load(&fixture, "com/acme/R | r()V | s()V -> com/acme/A#a()V");
        const int32_t named = graph_id(&fixture, "com/acme/R.r()V");
        const int32_t matched = graph_id(&fixture, "com/acme/R.s()V");
        struct smp_method_probe plan[2];
        struct smp_call_graph_figures figures;

        assert_true(smp_call_graph_is_kept(fixture.graph, named));
        assert_false(smp_call_graph_is_kept(fixture.graph, matched));
        assert_false(smp_call_graph_is_kept(fixture.graph, -1));
        assert_false(smp_call_graph_is_kept(fixture.graph, 99));
        assert_false(smp_call_graph_drop(fixture.graph, named, 1));
        assert_true(smp_call_graph_drop(fixture.graph, matched, 1));
        smp_call_graph_figures(fixture.graph, &figures);
        assert_int_equal(figures.roots, 1);
        assert_int_equal(figures.methods, 1);
        assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 2), 1);
        assert_int_equal(plan[0].id, named);
        assert_true(plan[0].is_root);
        /* Its class is loaded again: a removed probe stays removed, a kept one is kept. */
        graph_load(&fixture, "com/acme/R | s()V -> com/acme/A#a()V | r()V");
        assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 2), 1);
        assert_int_equal(plan[1].id, named);
        assert_true(smp_call_graph_is_kept(fixture.graph, named));
        smp_call_graph_figures(fixture.graph, &figures);
        assert_int_equal(figures.roots, 1);
        /* The id of an unloaded class belongs to no root. */
        smp_call_graph_unload(fixture.graph, loaded);
        assert_false(smp_call_graph_is_kept(fixture.graph, named));
        assert_false(smp_call_graph_drop(fixture.graph, named, 1));
        graph_fixture_end(&fixture);
    }
}

/* Below another root, the callees of the removed root belong to its caller: they must be found
 * without its entry. */
static void test_a_root_without_a_probe_is_visited(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.R.*");

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V");
    graph_load(&fixture, "com/acme/A | a()V");
    assert_true(graph_id(&fixture, "com/acme/A.a()V") < 0);
    assert_true(smp_call_graph_drop(fixture.graph, graph_id(&fixture, "com/acme/R.r()V"), 1));
    assert_true(graph_id(&fixture, "com/acme/A.a()V") >= 0);
    graph_fixture_end(&fixture);
}

static uint32_t load_with_source(struct graph_fixture *fixture, const char *line, const char *file)
{
    struct class_text text;
    struct smp_class_summary summary = *class_text_read(&text, 1, line);
    uint32_t loaded = 0;

    summary.source_file = slice_of(file);
    assert_int_equal(smp_call_graph_load(fixture->graph, &summary, &loaded), SMP_OK);
    return loaded;
}

static void assert_source(struct graph_fixture *fixture, int32_t id, const char *file)
{
    const struct smp_slice source =
        smp_method_ids_name(smp_call_graph_ids(fixture->graph), id).source_file;

    assert_int_equal(source.length, strlen(file));
    assert_memory_equal(source.bytes, file, source.length);
}

/* JVMTI does not report it for a class: it comes with the class file, and is kept when the class
 * is unloaded. */
static void test_methods_have_the_source_file_of_their_class(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");
    uint32_t loaded = 0;
    int32_t root = 0;
    int32_t called = 0;

    (void)state;
    graph_load(&fixture, "com/acme/R | r()V");
    root = graph_id(&fixture, "com/acme/R.r()V");
    assert_source(&fixture, root, "");
    load_with_source(&fixture, "com/acme/R | r()V -> com/acme/A#a()V", "R.java");
    assert_source(&fixture, root, "R.java");
    loaded = load_with_source(&fixture, "com/acme/A | a()V | b()V", "B.java");
    called = graph_id(&fixture, "com/acme/A.a()V");
    assert_source(&fixture, called, "B.java");
    graph_load(&fixture, "com/acme/A | a()V | b()V");
    assert_source(&fixture, called, "B.java");
    load_with_source(&fixture, "com/acme/A | b()V | a()V", "C.java");
    assert_source(&fixture, called, "C.java");
    smp_call_graph_unload(fixture.graph, loaded);
    assert_source(&fixture, called, "C.java");
    graph_fixture_end(&fixture);
}

/* Arrays have clone(); names in different loaders can form cycles. */
static void test_arrays_and_cyclic_types(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");

    (void)state;
    graph_load_by(&fixture, 1, "com/acme/A : com/acme/B | go()V");
    graph_load_by(&fixture, 2, "com/acme/B : com/acme/A | go()V");
    graph_load(&fixture, "com/acme/R : com/acme/R com/acme/R com/acme/R | r()V -> "
                         "[Lcom/acme/A;*clone()V com/acme/A*go()V com/acme/A*stop()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/R.r()V com/acme/A.go()V com/acme/B.go()V");
    /* go() and stop() of A; no class has the name of an array, so its target is not kept. */
    assert_int_equal(fixture.graph->index.targets.count, 2);
    graph_load(&fixture, "java/lang/Object | toString()V");
    graph_fixture_end(&fixture);
}

static void call_by_reflection(struct graph_fixture *fixture, const char *class_name,
                               const char *signature)
{
    smp_call_graph_called(fixture->graph, slice_of(class_name), slice_of(signature));
}

static void test_reflective_calls_are_wanted_permanently(void **state)
{
    static const char USER[] = "com/acme/User : com/acme/Base com/acme/Named | own()V";
    static const char BASE[] = "com/acme/Base | base()V -> com/acme/Log#log()V | own()V";
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.Handler.handle");

    (void)state;
    graph_load(&fixture, HANDLER);
    graph_load(&fixture, LOG);
    graph_load(&fixture, BASE);
    graph_load(&fixture, "com/acme/Named | name()V | abstract own()V");
    graph_load(&fixture, USER);
    graph_load(&fixture, "com/acme/Sub : com/acme/User | own()V | base()V");
    graph_load(&fixture, "org/lib/Lib | lib()V");
    call_by_reflection(&fixture, "com/acme/User", "own.()V");
    assert_true(graph_id(&fixture, "com/acme/User.own()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/Base.own()V"), -1);
    assert_int_equal(graph_id(&fixture, "com/acme/Sub.own()V"), -1);
    call_by_reflection(&fixture, "com/acme/User", "base.()V"); /* inherited, as is the next one */
    call_by_reflection(&fixture, "com/acme/User", "name.()V");
    assert_true(graph_id(&fixture, "com/acme/Base.base()V") >= 0);
    assert_true(graph_id(&fixture, "com/acme/Named.name()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/Sub.base()V"), -1);
    assert_int_equal(graph_id(&fixture, "com/acme/Log.log()V"), -1);
    enter(&fixture, "com/acme/Base.base()V");
    assert_true(graph_id(&fixture, "com/acme/Log.log()V") >= 0);
    const int32_t id = graph_id(&fixture, "com/acme/User.own()V");
    graph_load(&fixture, USER); /* new bytes */
    assert_int_equal(graph_id(&fixture, "com/acme/User.own()V"), id);
    call_by_reflection(&fixture, "com/acme/Nowhere", "own.()V");
    call_by_reflection(&fixture, "com/acme/User", "nothing.()V");
    graph_fixture_end(&fixture);
}

static void test_eager_follows_reflective_calls(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.Handler.other");

    (void)state;
    graph_load(&fixture, HANDLER);
    graph_load(&fixture, STORE);
    graph_load(&fixture, LOG);
    assert_int_equal(graph_id(&fixture, "com/acme/Log.log()V"), -1);
    call_by_reflection(&fixture, "com/acme/Store", "save.()V");
    assert_true(graph_id(&fixture, "com/acme/Log.log()V") >= 0);
    graph_fixture_end(&fixture);
}

/* A proxy that the filter excludes is passed through without a probe of its own. */
static void test_a_proxy_leads_to_the_handlers(void **state)
{
    static const char PROXY[] =
        "jdk/proxy1/$Proxy3 : java/lang/reflect/Proxy com/acme/Api | get()V -> "
        "java/lang/reflect/InvocationHandler*invoke(LX;)LX; | put()V -> com/acme/Log#log()V";
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.Root.go");

    (void)state;
    graph_load(&fixture, "com/acme/Root | go()V -> com/acme/Api*get()V");
    graph_load(&fixture, LOG);
    graph_load(&fixture, "com/acme/H : java/lang/Object java/lang/reflect/InvocationHandler | "
                         "invoke(LX;)LX;");
    graph_load(&fixture, PROXY);
    assert_int_equal(graph_id(&fixture, "com/acme/H.invoke(LX;)LX;"), -1);
    enter(&fixture, "com/acme/Root.go()V");
    assert_true(graph_id(&fixture, "com/acme/H.invoke(LX;)LX;") >= 0);
    assert_int_equal(graph_id(&fixture, "jdk/proxy1/$Proxy3.get()V"), -1);
    assert_int_equal(graph_id(&fixture, "com/acme/Log.log()V"), -1);
    graph_load(&fixture, PROXY);
    smp_call_graph_unload(fixture.graph, graph_find(&fixture, "jdk/proxy1/$Proxy3"));
    /* The name alone does not make a class a proxy. */
    graph_load(&fixture, "jdk/proxy1/$Proxy4 : java/lang/Object com/acme/Api | get()V -> "
                         "com/acme/Log#log()V");
    assert_int_equal(graph_id(&fixture, "com/acme/Log.log()V"), -1);
    graph_fixture_end(&fixture);
}

/* The class of a lambda leads to the lambda's body, wherever it was created; it is never a
 * root. */
static void test_a_lambda_leads_to_its_body(void **state)
{
    struct graph_fixture fixture =
        begin(SMP_INSTRUMENTATION_LAZY, "com.acme.Root.go, com.acme.*.run");
    struct class_text text;
    struct smp_class_summary lambda;
    uint32_t loaded = 0;

    (void)state;
    graph_load(&fixture, "com/acme/Root | go()V -> java/lang/Runnable*run()V");
    graph_load(&fixture, "com/acme/Made | private static lambda$0()V | other()V");
    lambda = *class_text_read(&text, 1,
                              "com/acme/Made$$Lambda.0x12 : java/lang/Object java/lang/Runnable "
                              "| run()V -> com/acme/Made*lambda$0()V");
    lambda.is_hidden = true;
    assert_int_equal(smp_call_graph_load(fixture.graph, &lambda, &loaded), SMP_OK);
    assert_string_equal(wanted_of(&fixture), "com/acme/Root.go()V");
    assert_int_equal(fixture.graph->rule_states[1], SMP_RULE_NO_METHOD);
    enter(&fixture, "com/acme/Root.go()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/Root.go()V com/acme/Made.lambda$0()V");
    smp_call_graph_unload(fixture.graph, loaded);
    assert_string_equal(wanted_of(&fixture), "com/acme/Root.go()V com/acme/Made.lambda$0()V");
    graph_fixture_end(&fixture);
}

static void load_lambda(struct graph_fixture *fixture, const char *line)
{
    struct class_text text;
    struct smp_class_summary lambda = *class_text_read(&text, 1, line);
    uint32_t loaded = 0;

    lambda.is_hidden = true;
    assert_int_equal(smp_call_graph_load(fixture->graph, &lambda, &loaded), SMP_OK);
}

/* Go -> (lambda) -> lambda$0 -> (lambda) -> lambda$1 -> (lambda) -> lambda$2: a lambda that is
 * found must not restart the look-ahead, or everything that lambdas lead to is wanted. */
static void test_lambdas_neither_use_nor_restart_the_look_ahead(void **state)
{
    static const char GET[] = "com/acme/Made$$Lambda.0x2 : java/lang/Object "
                              "java/util/function/Supplier | get()LX; -> com/acme/Made*lambda$1()V";
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin_ahead(&fixture, 2, "com.acme.Root.go", "");
    graph_load(&fixture, "com/acme/Root | go()V -> java/lang/Runnable*run()V");
    graph_load(&fixture, "com/acme/Made | lambda$0()V -> java/util/function/Supplier*get()LX; | "
                         "lambda$1()V -> java/lang/Iterable*all()V | lambda$2()V | lambda$3()V");
    load_lambda(&fixture, "com/acme/Made$$Lambda.0x1 : java/lang/Object java/lang/Runnable | "
                          "run()V -> com/acme/Made*lambda$0()V");
    load_lambda(&fixture, GET);
    load_lambda(&fixture, "com/acme/Made$$Lambda.0x3 : java/lang/Object java/lang/Iterable | "
                          "all()V -> com/acme/Made*lambda$2()V");
    enter(&fixture, "com/acme/Root.go()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/Root.go()V com/acme/Made.lambda$0()V "
                                             "com/acme/Made.lambda$1()V");
    /* A lambda that is created later has the same distance. */
    load_lambda(&fixture, "com/acme/Made$$Lambda.0x4 : java/lang/Object "
                          "java/util/function/Supplier | get()LX; -> com/acme/Made*lambda$3()V");
    assert_true(graph_id(&fixture, "com/acme/Made.lambda$3()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/Made.lambda$2()V"), -1);
    enter(&fixture, "com/acme/Made.lambda$0()V");
    assert_true(graph_id(&fixture, "com/acme/Made.lambda$2()V") >= 0);
    graph_fixture_end(&fixture);
}

/* Order has its own compare and inherits equals; nothing calls sum. */
static const char COMPARATOR[] = "java/util/Comparator | abstract compare(LO;LO;)I | reversed()LC;";
static const char OBJECT_CLASS[] =
    "java/lang/Object | <init>()V | equals(LO;)Z | private secret()V "
    "| static make()V";
static const char BASE_CLASS[] = "com/acme/Base | equals(LO;)Z -> com/acme/Log#log()V | secret()V "
                                 "| make()V";
static const char ORDER_CLASS[] =
    "com/acme/Order : com/acme/Base java/util/Comparator | <init>()V "
    "| bridge compare(LO;LO;)I -> com/acme/Order*compare(LOrder;)I | compare(LOrder;)I | sum()V";

static void load_callbacks(struct graph_fixture *fixture)
{
    graph_load(fixture, OBJECT_CLASS);
    graph_load(fixture, COMPARATOR);
    graph_load(fixture, LOG);
    graph_load(fixture, BASE_CLASS);
    graph_load(fixture, ORDER_CLASS);
}

static void assert_callbacks_are_wanted(struct graph_fixture *fixture)
{
    assert_true(graph_id(fixture, "com/acme/Order.compare(LO;LO;)I") >= 0);
    assert_true(graph_id(fixture, "com/acme/Order.compare(LOrder;)I") >= 0);
    assert_true(graph_id(fixture, "com/acme/Base.equals(LO;)Z") >= 0);
    assert_int_equal(graph_id(fixture, "com/acme/Order.sum()V"), -1);
    assert_int_equal(graph_id(fixture, "com/acme/Base.secret()V"), -1);
    assert_int_equal(graph_id(fixture, "com/acme/Base.make()V"), -1);
}

/* The order in which its super types and the code that creates it are loaded does not matter. */
static void test_callbacks_of_objects_that_code_creates(void **state)
{
    static const char ROOT[] = "com/acme/R | static r()V -> com/acme/Order+<new>.";
    static const char *const lines[] = { ROOT,       OBJECT_CLASS, COMPARATOR,
                                         BASE_CLASS, ORDER_CLASS,  LOG };
    enum { LINES = sizeof(lines) / sizeof(lines[0]) };

    (void)state;
    for (size_t first = 0; first < LINES; first++) {
        struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");

        for (size_t i = 0; i < LINES; i++)
            graph_load(&fixture, lines[(first + i) % LINES]);
        assert_callbacks_are_wanted(&fixture);
        assert_true(graph_id(&fixture, "com/acme/Log.log()V") >= 0);
        graph_fixture_end(&fixture);
    }
}

static void test_lazy_wants_callbacks_once_their_class_may_have_objects(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.R.r");

    (void)state;
    load_callbacks(&fixture);
    graph_load(&fixture, "com/acme/R | static r()V -> com/acme/Order+<new>.");
    assert_string_equal(wanted_of(&fixture), "com/acme/R.r()V");
    enter(&fixture, "com/acme/R.r()V");
    assert_callbacks_are_wanted(&fixture);
    assert_int_equal(graph_id(&fixture, "com/acme/Log.log()V"), -1);
    enter(&fixture, "com/acme/Base.equals(LO;)Z");
    assert_true(graph_id(&fixture, "com/acme/Log.log()V") >= 0);
    graph_fixture_end(&fixture);
}

/* The object was created long ago, and no counted method creates one: a call of its own method
 * shows that it exists. */
static void test_a_call_of_a_method_shows_that_its_object_exists(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.Order.sum");

    (void)state;
    load_callbacks(&fixture);
    assert_string_equal(wanted_of(&fixture), "com/acme/Order.sum()V");
    enter(&fixture, "com/acme/Order.sum()V");
    assert_true(graph_id(&fixture, "com/acme/Order.compare(LO;LO;)I") >= 0);
    assert_true(graph_id(&fixture, "com/acme/Base.equals(LO;)Z") >= 0);
    graph_fixture_end(&fixture);
}

/* A template method: an excluded class calls back into whichever subtype it was called for. */
static void test_an_inherited_uninstrumented_method_calls_back(void **state)
{
    static const char TEMPLATE[] = "org/lib/Servlet | service()V | doGet()V | abstract init()V";
    static const char LATE[] = "com/acme/Late : org/lib/Servlet | doGet()V";
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.R.*", "com.acme", 0, 0);
    graph_load(&fixture, TEMPLATE);
    graph_load(&fixture, "com/acme/Mine : org/lib/Servlet | doGet()V | init()V | other()V");
    graph_load(&fixture, "com/acme/R | static q()V -> org/lib/Servlet*init()V");
    assert_int_equal(graph_id(&fixture, "com/acme/Mine.other()V"), -1);
    assert_true(graph_id(&fixture, "com/acme/Mine.init()V") >= 0);
    graph_fixture_end(&fixture);

    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.R.*", "com.acme", 0, 0);
    graph_load(&fixture, TEMPLATE);
    graph_load(&fixture, "com/acme/Mine : org/lib/Servlet | doGet()V | other()V");
    graph_load(&fixture, "com/acme/R | static r()V -> org/lib/Servlet*service()V");
    assert_true(graph_id(&fixture, "com/acme/Mine.doGet()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/Mine.other()V"), -1);
    graph_load(&fixture, LATE);
    assert_true(graph_id(&fixture, "com/acme/Late.doGet()V") >= 0);
    /* Too many classes inherit from classes of the JDK. */
    graph_load(&fixture, "java/util/AbstractList | size()I | indexOf(LO;)I");
    graph_load(&fixture, "com/acme/Plain : java/util/AbstractList | size()I");
    graph_load(&fixture, "com/acme/R | static r()V -> java/util/List*indexOf(LO;)I");
    assert_int_equal(graph_id(&fixture, "com/acme/Plain.size()I"), -1);
    graph_fixture_end(&fixture);
}

/* Constructors and static initialisers of a used class have run. Only the objects that they create
 * matter, in a used class or in a super type of an object. */
static void test_objects_created_by_initialisers_exist(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.Service.serve");

    (void)state;
    load_callbacks(&fixture);
    graph_load(&fixture,
               "com/acme/Holder | <init>()V -> com/acme/Order+<new>. com/acme/Order#sum()V");
    graph_load(&fixture, "com/acme/Top | <init>()V -> com/acme/Holder+<new>.");
    graph_load(&fixture, "com/acme/Service : com/acme/Top "
                         "| static <clinit>()V -> com/acme/Service+lambda$0()V "
                         "| serve()V | private static lambda$0()V");
    assert_true(graph_id(&fixture, "com/acme/Service.lambda$0()V") >= 0);
    assert_int_equal(graph_id(&fixture, "com/acme/Order.compare(LO;LO;)I"), -1);
    enter(&fixture, "com/acme/Service.serve()V");
    assert_callbacks_are_wanted(&fixture);
    graph_fixture_end(&fixture);
}

/* A class whose bytes were not seen yet is planned again, so that the JVM hands them out. */
static void test_bytes_of_a_used_class_are_requested(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.Sub.go");
    struct class_text text;
    struct smp_class_summary top = *class_text_read(&text, 1, "com/acme/Top | <init>()V");
    uint32_t loaded = 0;

    (void)state;
    top.lacks_calls = true;
    assert_int_equal(smp_call_graph_load(fixture.graph, &top, &loaded), SMP_OK);
    assert_false(smp_call_graph_is_pending(fixture.graph, loaded));
    graph_load(&fixture, "com/acme/Sub : com/acme/Top | go()V");
    assert_true(smp_call_graph_is_pending(fixture.graph, loaded));
    graph_fixture_end(&fixture);
}

static void test_a_reflective_constructor_call_creates_an_object(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_LAZY, "com.acme.R.r");

    (void)state;
    load_callbacks(&fixture);
    graph_load(&fixture, "com/acme/R | static r()V");
    call_by_reflection(&fixture, "com/acme/Order", "<init>.()V");
    assert_callbacks_are_wanted(&fixture);
    graph_fixture_end(&fixture);
}

static void test_a_name_stands_for_all_methods_of_its_class(void **state)
{
    struct graph_fixture fixture = begin(SMP_INSTRUMENTATION_EAGER, "com.acme.R.r");

    (void)state;
    graph_load(&fixture, "com/acme/R | static r()V -> com/acme/A+go.");
    graph_load(&fixture, "com/acme/A | go()V | go(I)V | gone()V");
    graph_load(&fixture, "com/acme/B : com/acme/A | go()V");
    assert_string_equal(wanted_of(&fixture), "com/acme/R.r()V com/acme/A.go()V com/acme/A.go(I)V");
    graph_fixture_end(&fixture);
}

static struct smp_sampled_method sample(struct graph_fixture *fixture, const char *class_name,
                                        const char *method, bool is_called)
{
    return smp_call_graph_sampled(fixture->graph, slice_of(class_name), slice_of(method),
                                  is_called);
}

static void test_methods_sampled_below_a_root_are_wanted(void **state)
{
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_LAZY, "com.acme.R.r", "com.acme", 0, 0);
    graph_load(&fixture, "com/acme/R | static r()V");
    graph_load(&fixture, "com/acme/A | go()V | go(I)V | other()V");
    graph_load(&fixture, "org/lib/L | go()V");
    graph_load(&fixture, "com/acme/A$$SpringCGLIB$$0 | go()V");
    assert_true(sample(&fixture, "com/acme/R", "r", false).is_root);
    assert_true(sample(&fixture, "com/acme/R", "r", false).is_inside);
    assert_false(sample(&fixture, "com/acme/R", "r", false).is_followed);
    enter(&fixture, "com/acme/R.r()V");
    assert_true(sample(&fixture, "com/acme/R", "r", false).is_followed);
    assert_true(sample(&fixture, "com/acme/A", "go", false).is_inside);
    assert_false(sample(&fixture, "org/lib/L", "go", false).is_inside);
    assert_false(sample(&fixture, "com/acme/A", "go", false).is_root);
    assert_string_equal(wanted_of(&fixture), "com/acme/R.r()V");
    assert_false(sample(&fixture, "org/lib/L", "go", true).is_root);
    assert_false(sample(&fixture, "com/acme/Nowhere", "go", true).is_root);
    assert_false(sample(&fixture, "com/acme/A", "g", true).is_root);
    assert_int_equal(smp_counting_account_figure(fixture.graph->account, SMP_COUNTING_SAMPLED), 0);
    for (int i = 0; i < 2; i++) {
        assert_false(sample(&fixture, "com/acme/A", "go", true).is_root);
        assert_string_equal(wanted_of(&fixture),
                            "com/acme/R.r()V com/acme/A.go()V com/acme/A.go(I)V");
        assert_int_equal(smp_counting_account_figure(fixture.graph->account, SMP_COUNTING_SAMPLED),
                         2);
    }
    assert_string_equal(
        smp_counting_account_name_at(fixture.graph->account, SMP_COUNTING_SAMPLED, 0),
        "com.acme.A.go");
    /* A report shows its name without the number. */
    assert_false(sample(&fixture, "com/acme/A$$SpringCGLIB", "go", true).is_root);
    assert_true(graph_id(&fixture, "com/acme/A$$SpringCGLIB$$0.go()V") >= 0);
    assert_int_equal(smp_counting_account_figure(fixture.graph->account, SMP_COUNTING_SAMPLED), 3);
    graph_fixture_end(&fixture);
}

static void test_names_of_proxies(void **state)
{
    (void)state;
    assert_true(smp_call_filter_is_proxy(slice_of("com/acme/$Proxy7")));
    assert_true(smp_call_filter_is_proxy(slice_of("$Proxy0")));
    assert_false(smp_call_filter_is_proxy(slice_of("com/acme/$Proxy")));
    assert_false(smp_call_filter_is_proxy(slice_of("com/$Proxy7/A")));
    assert_false(smp_call_filter_is_proxy(slice_of("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reflective_calls_are_wanted_permanently),
        cmocka_unit_test(test_eager_follows_reflective_calls),
        cmocka_unit_test(test_a_proxy_leads_to_the_handlers),
        cmocka_unit_test(test_a_lambda_leads_to_its_body),
        cmocka_unit_test(test_lambdas_neither_use_nor_restart_the_look_ahead),
        cmocka_unit_test(test_callbacks_of_objects_that_code_creates),
        cmocka_unit_test(test_lazy_wants_callbacks_once_their_class_may_have_objects),
        cmocka_unit_test(test_a_call_of_a_method_shows_that_its_object_exists),
        cmocka_unit_test(test_an_inherited_uninstrumented_method_calls_back),
        cmocka_unit_test(test_objects_created_by_initialisers_exist),
        cmocka_unit_test(test_bytes_of_a_used_class_are_requested),
        cmocka_unit_test(test_a_reflective_constructor_call_creates_an_object),
        cmocka_unit_test(test_a_name_stands_for_all_methods_of_its_class),
        cmocka_unit_test(test_methods_sampled_below_a_root_are_wanted),
        cmocka_unit_test(test_names_of_proxies),
        cmocka_unit_test(test_lazy_follows_calls_of_entered_methods),
        cmocka_unit_test(test_lazy_looks_some_calls_ahead),
        cmocka_unit_test(test_eager_is_the_closure_of_the_loaded_classes),
        cmocka_unit_test(test_total_wants_all_methods_that_pass_the_filter),
        cmocka_unit_test(test_total_without_rules_begins_with_main_and_run),
        cmocka_unit_test(test_without_rules_there_are_no_methods),
        cmocka_unit_test(test_methods_that_are_not_instrumented),
        cmocka_unit_test(test_inherited_and_default_methods_are_found),
        cmocka_unit_test(test_virtual_calls_reach_only_overriding_methods),
        cmocka_unit_test(test_a_super_class_may_be_loaded_last),
        cmocka_unit_test(test_classes_of_one_name_are_all_found),
        cmocka_unit_test(test_batches_are_limited_and_repeated_after_a_failure),
        cmocka_unit_test(test_redefinition),
        cmocka_unit_test(test_methods_have_the_source_file_of_their_class),
        cmocka_unit_test(test_unloading_retires_ids_and_forgets_calls),
        cmocka_unit_test(test_a_method_without_a_probe_is_passed_through),
        cmocka_unit_test(test_a_refused_class_is_passed_through),
        cmocka_unit_test(test_removed_probes_stay_removed),
        cmocka_unit_test(test_roots_of_a_pattern_can_lose_their_probes),
        cmocka_unit_test(test_a_root_without_a_probe_is_visited),
        cmocka_unit_test(test_arrays_and_cyclic_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
