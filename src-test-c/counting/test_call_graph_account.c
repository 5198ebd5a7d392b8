/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "counting/worklist.h"
#include "support/class_text.h"
#include "support/graph_fixture.h"

#define NOT_ENTERED(count, roots) \
    "ROOTS_WITHOUT_CALLS " count " not entered since it is counted: " roots "\n"

/* Returns the call graph's part of the account, one line per figure: "EXCLUDED 1
 * com.acme.Big.big". */
static const char *account_of(const struct graph_fixture *fixture)
{
    static char text[8192];
    struct smp_counting_account *account = NULL;
    size_t length = 0;

    assert_int_equal(smp_counting_account_create(NULL, &account), SMP_OK);
    smp_call_graph_account(fixture->graph, account);
    text[0] = '\0';
    for (int i = 0; i < SMP_COUNTING_COUNT; i++) {
        const enum smp_counting code = (enum smp_counting)i;
        const uint64_t figure = smp_counting_account_figure(account, code);
        if (figure == 0)
            continue;
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %d",
                                   smp_counting_code(code), (int)figure);
        for (size_t at = 0; at < smp_counting_account_listed(account, code); at++)
            length +=
                (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", at == 0 ? " " : ", ",
                                 smp_counting_account_name_at(account, code, at));
        length += (size_t)snprintf(text + length, sizeof(text) - length, "\n");
    }
    smp_counting_account_destroy(account);
    return text;
}

static void test_roots_are_loaded_probed_or_entered(void **state)
{
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_LAZY,
                        "com.acme.R.r, com.acme.R.typo, com.acme.N.n, java.lang.Thread.run, "
                        "com.acme.Later.go",
                        "", 0, 0);
    assert_string_equal(account_of(&fixture),
                        "ROOTS_WITHOUT_CALLS 5 not loaded yet: com.acme.R.r, "
                        "not loaded yet: com.acme.R.typo, not loaded yet: com.acme.N.n, "
                        "not loaded yet: java.lang.Thread.run, "
                        "not loaded yet: com.acme.Later.go\n");
    graph_load(&fixture, "com/acme/N | native n()V");
    graph_load(&fixture, "java/lang/Thread | run()V");
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V com/acme/A#b()V");
    assert_string_equal(account_of(&fixture),
                        "ROOTS_WITHOUT_CALLS 3 not entered since it is counted: com.acme.R.r, "
                        "not found in its class: com.acme.R.typo, "
                        "not loaded yet: com.acme.Later.go\n"
                        "LEFT_ALONE 2 native or abstract: com.acme.N.n, the probes themselves run "
                        "through it: java.lang.Thread.run\n");
    assert_int_equal(fixture.graph->rule_states[0], SMP_RULE_FOUND);
    smp_call_graph_entered(fixture.graph, graph_id(&fixture, "com/acme/R.r()V"));
    assert_int_equal(fixture.graph->rule_states[0], SMP_RULE_ENTERED);
    assert_null(strstr(account_of(&fixture), "not entered"));
    graph_fixture_end(&fixture);
}

static void test_methods_that_wait_for_a_root(void **state)
{
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.R.r", "", 0, 0);
    graph_load(&fixture, "com/acme/A | a()V | b()V");
    graph_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V com/acme/A#b()V");
    assert_string_equal(account_of(&fixture), NOT_ENTERED("1", "com.acme.R.r"));
    graph_fixture_end(&fixture);

    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_TOTAL, "", "", 0, 0);
    graph_load(&fixture, "com/acme/A | a()V");
    assert_string_equal(account_of(&fixture),
                        "ROOTS_WITHOUT_CALLS 1 not loaded yet: main(String[]) or run()\n");
    graph_load(&fixture, "com/acme/B | run()V");
    assert_string_equal(account_of(&fixture), NOT_ENTERED("1", "main(String[]) or run()"));
    graph_fixture_end(&fixture);
}

/* It was loaded and entered, so nothing is missing. */
/* Also a root whose probe was removed before its entry was noticed. */
static void test_roots_whose_probes_were_removed(void **state)
{
    static const char *const RULES[] = { "", "com.acme.**" };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(RULES) / sizeof(RULES[0]); i++) {
        struct graph_fixture fixture;

        graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_TOTAL, RULES[i / 2], "", 0, 0);
        graph_load(&fixture, "com/acme/B | run()V");
        if (i % 2 == 0)
            smp_call_graph_entered(fixture.graph, graph_id(&fixture, "com/acme/B.run()V"));
        assert_true(
            smp_call_graph_drop(fixture.graph, graph_id(&fixture, "com/acme/B.run()V"), 1000));
        assert_string_equal(account_of(&fixture),
                            "DROPPED 1 since 1970-01-01T00:00:01Z: com.acme.B.run\n");
        graph_fixture_end(&fixture);
    }
}

static void test_missing_methods_are_named(void **state)
{
    struct graph_fixture fixture;
    char line[2048];
    size_t length = 0;
    uint32_t big = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.R.r",
                        "com.acme, -com.acme.util", 3, 0);
    length = (size_t)snprintf(line, sizeof(line), "com/acme/util/U | u0()V");
    for (unsigned i = 1; i < SMP_MAX_COUNTING_NAMES + 3; i++)
        length += (size_t)snprintf(line + length, sizeof(line) - length, " | u%u()V", i);
    graph_load(&fixture, line);
    length = (size_t)snprintf(line, sizeof(line),
                              "com/acme/R | r()V -> java/util/List*size()I com/acme/Big#big()V "
                              "com/acme/Hot#hot()V com/acme/Hot#get()I");
    for (unsigned i = 0; i < SMP_MAX_COUNTING_NAMES + 3; i++)
        length +=
            (size_t)snprintf(line + length, sizeof(line) - length, " com/acme/util/U#u%u()V", i);
    graph_load(&fixture, line);
    graph_load(&fixture, "java/util/List | size()I");
    big = graph_load(&fixture, "com/acme/Big | big()V");
    for (int i = 0; i < 2; i++) /* seen twice, counted once */
        graph_load(&fixture, "com/acme/Hot | hot()V -> com/acme/Last#last()V | trivial get()I");
    graph_load(&fixture, "com/acme/Last | last()V");
    smp_call_graph_leave_alone(fixture.graph, big, 0, SMP_COUNTING_LEFT_ALONE, "too large");
    assert_true(smp_call_graph_drop(fixture.graph, graph_id(&fixture, "com/acme/Hot.hot()V"),
                                    INT64_C(1700000000123)));
    smp_call_graph_entered(fixture.graph, graph_id(&fixture, "com/acme/R.r()V"));
    const char *const text = account_of(&fixture);
    assert_non_null(strstr(text, "LEFT_ALONE 1 too large: com.acme.Big.big\n"));
    assert_non_null(strstr(text, "EXCLUDED 23 com.acme.util.U.u"));
    assert_non_null(strstr(text, "TRIVIAL 1 com.acme.Hot.get\n"));
    assert_non_null(strstr(text, "OVER_METHOD_LIMIT 1 com.acme.Last.last\n"));
    assert_non_null(strstr(text, "DROPPED 1 since 2023-11-14T22:13:20Z: com.acme.Hot.hot\n"));
    graph_fixture_end(&fixture);
}

static void test_a_class_that_is_refused_is_named_with_the_reason(void **state)
{
    struct graph_fixture fixture;
    uint32_t refused = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.R.r", "", 0, 0);
    refused = graph_load(&fixture, "com/acme/R | r()V");
    smp_call_graph_refuse_class(fixture.graph, refused, "invalid class format");
    assert_string_equal(account_of(&fixture), "LEFT_ALONE 1 invalid class format: com.acme.R.r\n");
    graph_fixture_end(&fixture);
}

/* A root without a probe cannot be entered, so nothing waits for it. */
static void test_no_method_waits_for_a_root_without_a_probe(void **state)
{
    struct graph_fixture fixture;
    uint32_t loaded = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_LAZY,
                        "com.acme.R.big, com.acme.R.r, com.acme.R.b*, com.acme.**", "", 0, 0);
    loaded = graph_load(&fixture, "com/acme/R | big()V | r()V");
    smp_call_graph_leave_alone(fixture.graph, loaded, 0, SMP_COUNTING_LEFT_ALONE, "too large");
    assert_string_equal(account_of(&fixture),
                        NOT_ENTERED("2", "com.acme.R.r, not entered since it is counted: "
                                         "com.acme.**") "LEFT_ALONE 1 too large: com.acme.R.big\n");
    /* Another method that matches the pattern has a probe. */
    graph_load(&fixture, "com/acme/R2 | r()V");
    graph_load_by(&fixture, 2, "com/acme/R | big()V | r()V | bit()V");
    assert_non_null(strstr(account_of(&fixture), "ROOTS_WITHOUT_CALLS 4 "));
    graph_fixture_end(&fixture);
}

/* Each time its class is transformed the method gets no probe, unless it fits by then. */
static void test_methods_wait_for_a_root_that_fits_later(void **state)
{
    struct graph_fixture fixture;
    uint32_t loaded = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_LAZY, "com.acme.R.big", "", 0, 0);
    for (int i = 0; i < 2; i++) {
        loaded = graph_load(&fixture, "com/acme/R | big()V");
        assert_non_null(strstr(account_of(&fixture), NOT_ENTERED("1", "com.acme.R.big")));
        smp_call_graph_leave_alone(fixture.graph, loaded, 0, SMP_COUNTING_LEFT_ALONE, "too large");
        assert_null(strstr(account_of(&fixture), "not entered"));
    }
    graph_load(&fixture, "com/acme/R | big()V");
    assert_non_null(strstr(account_of(&fixture), NOT_ENTERED("1", "com.acme.R.big")));
    graph_fixture_end(&fixture);
}

static void test_no_method_waits_for_a_root_over_the_limit(void **state)
{
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_LAZY, "com.acme.A.a, com.acme.B.b", "", 1, 0);
    graph_load(&fixture, "com/acme/A | a()V");
    graph_load(&fixture, "com/acme/B | b()V");
    assert_string_equal(account_of(&fixture),
                        NOT_ENTERED("1", "com.acme.A.a") "OVER_METHOD_LIMIT 1 com.acme.B.b\n");
    graph_fixture_end(&fixture);
}

/* No call is known to lead to the missed methods; but a filter that excludes everything is
 * reported. */
static void test_total_names_what_the_filter_excludes(void **state)
{
    struct graph_fixture fixture;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_TOTAL, "com.acme.R.r", "org.nowhere", 0, 0);
    for (int i = 0; i < 2; i++) /* seen twice, counted once */
        graph_load(&fixture, "com/acme/R | r()V -> com/acme/R#q()V | q()V | native n()V");
    graph_load(&fixture, "com/acme/A | main()V");
    assert_string_equal(account_of(&fixture),
                        NOT_ENTERED("1", "com.acme.R.r") "EXCLUDED 1 com.acme.R.q\n");
    graph_fixture_end(&fixture);

    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_TOTAL, "", "org.nowhere", 0, 0);
    graph_load(&fixture, "com/acme/Main | static main([Ljava/lang/String;)V | run()V | a()V");
    graph_load(&fixture, "sun/Main | static main([Ljava/lang/String;)V");
    assert_string_equal(account_of(&fixture),
                        "ROOTS_WITHOUT_CALLS 1 not loaded yet: main(String[]) or run()\n"
                        "EXCLUDED 1 com.acme.Main.main\n");
    graph_fixture_end(&fixture);
}

static void test_classes_without_memory_are_named(void **state)
{
    struct graph_fixture fixture;
    struct class_text text;
    uint32_t loaded = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.R.r", "", 0, 64);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(smp_call_graph_load(fixture.graph,
                                             class_text_read(&text, 1, "com/acme/R | r()V"),
                                             &loaded),
                         SMP_ENOMEM);
    /* Its method is not reported as missing. */
    assert_string_equal(account_of(&fixture), "LEFT_ALONE 3 over the memory limit: com.acme.R\n");
    graph_fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_are_loaded_probed_or_entered),
        cmocka_unit_test(test_methods_that_wait_for_a_root),
        cmocka_unit_test(test_roots_whose_probes_were_removed),
        cmocka_unit_test(test_missing_methods_are_named),
        cmocka_unit_test(test_a_class_that_is_refused_is_named_with_the_reason),
        cmocka_unit_test(test_no_method_waits_for_a_root_without_a_probe),
        cmocka_unit_test(test_methods_wait_for_a_root_that_fits_later),
        cmocka_unit_test(test_no_method_waits_for_a_root_over_the_limit),
        cmocka_unit_test(test_total_names_what_the_filter_excludes),
        cmocka_unit_test(test_classes_without_memory_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
