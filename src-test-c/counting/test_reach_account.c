/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "counting/reach_account.h"
#include "support/outline_text.h"
#include "support/reach_fixture.h"

struct lines {
    char text[8192];
    size_t length;
    uint64_t counts[SMP_REACH_NOTE_COUNT];
    int64_t since_ms;
};

static void add_line(void *self, const struct smp_reach_line *line)
{
    struct lines *const lines = self;

    assert_true(line->count > 0);
    if (line->note == SMP_NOTE_NOT_ENTERED)
        assert_null(line->about);
    else
        assert_string_equal(line->text + strlen(line->text) - strlen(line->about), line->about);
    lines->counts[line->note] += line->count;
    if (line->since_ms != 0)
        lines->since_ms = line->since_ms;
    lines->length += (size_t)snprintf(lines->text + lines->length,
                                      sizeof(lines->text) - lines->length, "%s\n", line->text);
}

static struct lines account(struct reach_fixture *fixture)
{
    struct lines lines = { .length = 0 };

    smp_reach_account(fixture->reach, add_line, &lines);
    return lines;
}

static void test_how_far_the_roots_have_come(void **state)
{
    struct reach_fixture fixture;

    (void)state;
    reach_fixture_begin(&fixture, SMP_SCHEME_LAZY,
                        "com.acme.R.r, com.acme.R.typo, com.acme.N.n, java.lang.Thread.run, "
                        "com.acme.Later.go",
                        "", 0, 0);
    assert_string_equal(account(&fixture).text, "root not loaded yet: com.acme.R.r\n"
                                                "root not loaded yet: com.acme.R.typo\n"
                                                "root not loaded yet: com.acme.N.n\n"
                                                "root not loaded yet: java.lang.Thread.run\n"
                                                "root not loaded yet: com.acme.Later.go\n");
    reach_load(&fixture, "com/acme/N | native n()V");
    reach_load(&fixture, "java/lang/Thread | run()V");
    reach_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V com/acme/A#b()V");
    assert_string_equal(account(&fixture).text,
                        "root not found in its class: com.acme.R.typo\n"
                        "root left alone, native or abstract: com.acme.N.n\n"
                        "root never instrumented, the probes themselves run through it: "
                        "java.lang.Thread.run\n"
                        "root not loaded yet: com.acme.Later.go\n"
                        "1 method instrumented, root not entered since\n");
    assert_int_equal(smp_reach_rule_state(fixture.reach, 0), SMP_RULE_FOUND);
    smp_reach_entered(fixture.reach, reach_id(&fixture, "com/acme/R.r()V"));
    assert_int_equal(smp_reach_rule_state(fixture.reach, 0), SMP_RULE_ENTERED);
    assert_null(strstr(account(&fixture).text, "not entered since"));
    reach_fixture_end(&fixture);
}

static void test_methods_that_wait_for_a_root(void **state)
{
    struct reach_fixture fixture;
    struct lines lines;

    (void)state;
    reach_fixture_begin(&fixture, SMP_SCHEME_EAGER, "com.acme.R.r", "", 0, 0);
    reach_load(&fixture, "com/acme/A | a()V | b()V");
    reach_load(&fixture, "com/acme/R | r()V -> com/acme/A#a()V com/acme/A#b()V");
    lines = account(&fixture);
    assert_string_equal(lines.text, "3 methods instrumented, root not entered since\n");
    assert_int_equal(lines.counts[SMP_NOTE_NOT_ENTERED], 3);
    reach_fixture_end(&fixture);

    reach_fixture_begin(&fixture, SMP_SCHEME_TOTAL, "", "", 0, 0);
    reach_load(&fixture, "com/acme/A | a()V");
    assert_string_equal(account(&fixture).text, "root not loaded yet: main(String[]) or run()\n");
    reach_load(&fixture, "com/acme/B | run()V");
    assert_string_equal(account(&fixture).text, "2 methods instrumented, root not entered since\n");
    reach_fixture_end(&fixture);
}

static void test_what_is_missing_is_named(void **state)
{
    struct reach_fixture fixture;
    struct lines lines;
    char line[1024];
    size_t length = 0;
    uint32_t big = 0;

    (void)state;
    reach_fixture_begin(&fixture, SMP_SCHEME_EAGER, "com.acme.R.r", "com.acme, -com.acme.util", 3,
                        0);
    length = (size_t)snprintf(line, sizeof(line), "com/acme/util/U | u0()V");
    for (unsigned i = 1; i < 11; i++)
        length += (size_t)snprintf(line + length, sizeof(line) - length, " | u%u()V", i);
    reach_load(&fixture, line);
    length = (size_t)snprintf(line, sizeof(line),
                              "com/acme/R | r()V -> java/util/List*size()I com/acme/Big#big()V "
                              "com/acme/Hot#hot()V");
    for (unsigned i = 0; i < 11; i++)
        length +=
            (size_t)snprintf(line + length, sizeof(line) - length, " com/acme/util/U#u%u()V", i);
    reach_load(&fixture, line);
    reach_load(&fixture, "java/util/List | size()I");
    big = reach_load(&fixture, "com/acme/Big | big()V");
    reach_load(&fixture, "com/acme/Hot | hot()V -> com/acme/Last#last()V");
    reach_load(&fixture, "com/acme/Last | last()V");
    smp_reach_leave_alone(fixture.reach, big, 0, "too large");
    assert_true(smp_reach_drop(fixture.reach, reach_id(&fixture, "com/acme/Hot.hot()V"), 99));
    smp_reach_entered(fixture.reach, reach_id(&fixture, "com/acme/R.r()V"));
    lines = account(&fixture);
    assert_non_null(strstr(lines.text, "left alone, too large: com.acme.Big.big\n"));
    assert_non_null(strstr(lines.text, "excluded by filter: com.acme.util.U.u"));
    assert_non_null(strstr(lines.text, "excluded by filter: 3 more methods\n"));
    assert_non_null(
        strstr(lines.text, "not instrumented, over the limit of methods: com.acme.Last.last\n"));
    assert_non_null(
        strstr(lines.text, "not counted any more, called often and short: com.acme.Hot.hot\n"));
    assert_int_equal(lines.counts[SMP_NOTE_EXCLUDED], 11);
    assert_int_equal(lines.counts[SMP_NOTE_DROPPED], 1);
    assert_int_equal(lines.since_ms, 99);
    assert_int_equal(lines.counts[SMP_NOTE_METHOD_LIMIT], 1);
    reach_fixture_end(&fixture);
}

static void test_classes_without_memory_are_named(void **state)
{
    struct reach_fixture fixture;
    struct outline_text text;
    uint32_t loaded = 0;

    (void)state;
    reach_fixture_begin(&fixture, SMP_SCHEME_EAGER, "com.acme.R.r", "", 0, 64);
    for (unsigned i = 0; i < SMP_LOSSES_NAMED + 2; i++)
        assert_int_equal(smp_reach_load(fixture.reach,
                                        outline_text_read(&text, 1, "com/acme/R | r()V"), &loaded),
                         SMP_ENOMEM);

    const struct lines lines = account(&fixture);

    assert_non_null(strstr(lines.text, "class not known, over the memory limit: com.acme.R\n"));
    assert_non_null(strstr(lines.text, "class not known, over the memory limit: 2 more classes\n"));
    reach_fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_far_the_roots_have_come),
        cmocka_unit_test(test_methods_that_wait_for_a_root),
        cmocka_unit_test(test_what_is_missing_is_named),
        cmocka_unit_test(test_classes_without_memory_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
