/* SPDX-License-Identifier: Apache-2.0 */
/* If several methods of the same name are counted, all formats show their parameters. The same
 * holds for sums and differences of profiles that disagree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/difference.h"
#include "export/exporters.h"
#include "export/hot_lines.h"
#include "model/methods.h"
#include "model/profile_merge.h"
#include "support/failing_alloc.h"
#include "support/memory_output.h"
#include "support/report_fixture.h"

#define ADD_INT "a.Shop.add#I#"
#define ADD_ITEM "a.Shop.add#La/Item;I#"
#define ROOT "a.Shop.root#[J#(Shop.java)"

static char *exported(const struct smp_profile *profile, enum smp_format format,
                      enum smp_measure measure)
{
    const struct smp_export_style style = { .measure = measure };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(smp_export(profile, format, &style, NULL, &to), SMP_OK);
    return output.bytes != NULL ? output.bytes : strdup("");
}

static bool has_bytes(const struct smp_profile *profile, enum smp_format format, const char *text)
{
    const struct smp_export_style style = { .measure = SMP_MEASURE_WALL };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    bool has = false;

    assert_int_equal(smp_export(profile, format, &style, NULL, &to), SMP_OK);
    has = memmem(output.bytes, output.length, text, strlen(text)) != NULL;
    memory_output_fini(&output);
    return has;
}

/* Both overloads are sampled; the second one is counted if with_both. */
static struct smp_profile *make_shop(struct report_fixture *f, bool with_both)
{
    report_fixture_credit(f, "g", "g", "a.Shop.root#[J#(Shop.java:3)|" ADD_INT "(Shop.java:7)",
                          30 * MS);
    report_fixture_credit(f, "g", "g", "a.Shop.root#[J#(Shop.java:4)|" ADD_ITEM "(Shop.java:9)",
                          50 * MS);
    (void)report_fixture_count(f, "g", ROOT, 2, 0, 0);
    (void)report_fixture_count(f, "g", ROOT "|" ADD_INT "(Shop.java)", 3, 30 * MS, 0);
    if (with_both)
        (void)report_fixture_count(f, "g", ROOT "|" ADD_ITEM "(Shop.java)", 5, 50 * MS, 0);
    return report_fixture_finish(f);
}

static void a_descriptor_is_written_as_in_the_source(void **state)
{
    static const struct {
        const char *descriptor;
        const char *text;
    } cases[] = {
        { "()V", "()" },
        { "(I)V", "(int)" },
        { "(ILjava/lang/String;)Ljava/lang/Object;", "(int, String)" },
        { "([[J[La/b/C$D;BCDFSZ)V",
          "(long[][], C$D[], byte, char, double, float, short, boolean)" },
        { "(LDefault;)V", "(Default)" },
        { "(L\xc3\xb6/\xc3\xa4;)V", "(\xc3\xa4)" },
        { "", NULL },
        { "I", NULL },
        { "(", NULL },
        { "(I", NULL },
        { "(La/B", NULL },
        { "(V)V", NULL },
        { "([)V", NULL },
        { "(I, Str\xe2\x80\xa6", NULL },
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const bool is_known = smp_method_parameters(text, sizeof(text), cases[i].descriptor);
        assert_int_equal(is_known, cases[i].text != NULL);
        if (is_known)
            assert_string_equal(text, cases[i].text);
    }
    for (size_t size = 0; size <= sizeof("(int, String)"); size++) {
        char *const exact = malloc(size + 1);
        assert_int_equal(smp_method_parameters(exact, size, "(ILjava/lang/String;)V"),
                         size >= sizeof("(int, String)"));
        free(exact);
    }
}

static void counted_overloads_have_their_parameters(void **state)
{
    const struct smp_profile *const shop = make_shop(*state, true);
    static const struct {
        enum smp_format format;
        const char *text;
    } cases[] = {
        { SMP_FORMAT_TEXT, "  a.Shop.add(Item, int)(Shop.java:9)  " },
        { SMP_FORMAT_TEXT, "  a.Shop.add(int)(Shop.java)  " },
        { SMP_FORMAT_TEXT, "\na.Shop.root(Shop.java)  " },
        { SMP_FORMAT_JSON,
          "{\"class\":\"a.Shop\",\"method\":\"add(int)\",\"file\":\"Shop.java\"}" },
        { SMP_FORMAT_JSON, "\"method\":\"add(Item, int)\",\"file\":\"Shop.java\",\"line\":9}" },
        { SMP_FORMAT_JSON, "\"method\":\"root\"," },
        { SMP_FORMAT_COLLAPSED,
          "g;a.Shop.root(Shop.java:4);a.Shop.add(Item, int)(Shop.java:9) 50" },
        { SMP_FORMAT_SPEEDSCOPE, "a.Shop.add(int)" },
        { SMP_FORMAT_TOP, "  a.Shop.add(Item, int)\n" },
        { SMP_FORMAT_TOP, "  a.Shop.add(int)\n" },
        { SMP_FORMAT_PPROF, "a.Shop.add(Item, int)" },
        { SMP_FORMAT_PPROF, "a/Shop.add(int)" },
        { SMP_FORMAT_CALLS, "a.Shop.add(Item, int)" },
        { SMP_FORMAT_OTLP, "a.Shop.add(Item, int)" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!has_bytes(shop, cases[i].format, cases[i].text))
            fail_msg("format %d lacks: %s", (int)cases[i].format, cases[i].text);
    }
    assert_false(has_bytes(shop, SMP_FORMAT_TOP, "  a.Shop.add\n"));
}

/* The line identifies the overload of a sampled row, so parameters are not needed for it. */
static void a_single_overload_has_no_parameters(void **state)
{
    const struct smp_profile *const shop = make_shop(*state, false);

    for (int format = 0; format < SMP_FORMAT_COUNT; format++) {
        assert_false(has_bytes(shop, (enum smp_format)format,
                               "add("
                               "int)"));
        assert_false(has_bytes(shop, (enum smp_format)format, "Item"));
    }
    assert_true(has_bytes(shop, SMP_FORMAT_TEXT, "  a.Shop.add(Shop.java)  "));
    assert_true(has_bytes(shop, SMP_FORMAT_TOP, "  a.Shop.add\n"));
}

static void without_counted_calls_names_have_no_parameters(void **state)
{
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", ADD_INT "(Shop.java:7)", 30 * MS);
    report_fixture_credit(*state, "g", "g", ADD_ITEM "(Shop.java:9)", 40 * MS);
    const struct smp_profile *const shop = report_fixture_finish(*state);

    for (int format = 0; format < SMP_FORMAT_COUNT; format++)
        assert_false(has_bytes(shop, (enum smp_format)format, "add(int"));
    /* A single method is shown without parameters. */
    assert_true(has_bytes(shop, SMP_FORMAT_TOP, "methods of 1,"));
}

/* A line is one location, whether its parameters are known or not. */
static void a_line_of_two_overloads_is_one_row(void **state)
{
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", "a.Shop.<init>#I#(Shop.java:7)", 1 * MS);
    report_fixture_credit(*state, "g", "g", "a.Shop.<init>#J#(Shop.java:7)", 2 * MS);
    report_fixture_credit(*state, "g", "g", "a.Shop.<init>(Shop.java:7)", 4 * MS);
    const struct smp_profile *const shop = report_fixture_finish(*state);
    char *const text = exported(shop, SMP_FORMAT_COLLAPSED, SMP_MEASURE_WALL);

    assert_string_equal(text, "g;a.Shop.<init>(Shop.java:7) 7000000\n");
    free(text);
}

/* A sampled row shows the calls of its own overload. */
static void a_sampled_row_shows_the_calls_of_its_overload(void **state)
{
    const struct smp_profile *const shop = make_shop(*state, true);

    assert_true(has_bytes(shop, SMP_FORMAT_TEXT,
                          "Cumulative time(ms): 50, Method time(ms): 50, Calls: 5\n"));
    assert_true(has_bytes(shop, SMP_FORMAT_TEXT,
                          "Cumulative time(ms): 30, Method time(ms): 30, Calls: 3\n"));
}

static struct smp_profile *make_other_shop(struct report_fixture **other, bool with_both)
{
    void *made = NULL;

    assert_int_equal(report_fixture_setup_counting(&made), 0);
    *other = made;
    return make_shop(*other, with_both);
}

static void a_merged_profile_decides_anew_about_parameters(void **state)
{
    struct report_fixture *other = NULL;
    struct smp_profile *merged = NULL;
    const struct smp_profile *const both = make_shop(*state, true);
    const struct smp_profile *const one = make_other_shop(&other, false);

    assert_int_equal(smp_profile_merge(NULL, both, one, &merged), SMP_OK);
    char *const text = exported(merged, SMP_FORMAT_COLLAPSED, SMP_MEASURE_CALLS);
    assert_string_equal(text, "g;a.Shop.root(Shop.java) 4\n"
                              "g;a.Shop.root(Shop.java);a.Shop.add(int)(Shop.java) 6\n"
                              "g;a.Shop.root(Shop.java);a.Shop.add(Item, int)(Shop.java) 5\n");
    free(text);
    smp_profile_release(merged);
    report_fixture_destroy(other);
}

/* If only one side shows a method with parameters, it is still the same method on the other
 * side. */
static void a_difference_compares_the_same_overload(void **state)
{
    struct report_fixture *other = NULL;
    const struct smp_profile *const sides[SMP_DIFF_SIDES] = { make_shop(*state, false),
                                                              make_other_shop(&other, true) };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(
        smp_export_difference(sides, SMP_FORMAT_COLLAPSED, SMP_MEASURE_CALLS, NULL, &to), SMP_OK);
    assert_string_equal(memory_output_text(&output),
                        "g;a.Shop.root(Shop.java) 2 2\n"
                        "g;a.Shop.root(Shop.java);a.Shop.add(int)(Shop.java) 3 3\n"
                        "g;a.Shop.root(Shop.java);a.Shop.add(Item, int)(Shop.java) 0 5\n");
    memory_output_fini(&output);
    output = (struct memory_output){ 0 };
    assert_int_equal(
        smp_export_difference(sides, SMP_FORMAT_COLLAPSED, SMP_MEASURE_WALL, NULL, &to), SMP_OK);
    assert_non_null(
        strstr(memory_output_text(&output), "add(Item, int)(Shop.java:9) 50000000 50000000\n"));
    memory_output_fini(&output);
    report_fixture_destroy(other);
}

/* --- memory --- */

static enum smp_status merge_shop(void *self)
{
    struct smp_profile *merged = NULL;
    const enum smp_status status = smp_profile_merge(NULL, self, self, &merged);

    smp_profile_release(merged);
    return status;
}

static enum smp_status compare_shop(void *self)
{
    const struct smp_profile *const sides[SMP_DIFF_SIDES] = { self, self };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    const enum smp_status status =
        smp_export_difference(sides, SMP_FORMAT_JSON, SMP_MEASURE_WALL, NULL, &to);

    memory_output_fini(&output);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct smp_profile *const shop = make_shop(*state, true);

    /* Four of the allocations are for names with parameters. */
    assert_true(failing_alloc_each_step(merge_shop, shop).refused >= 12);
    assert_int_equal(failing_alloc_each_step(merge_shop, shop).survived, 0);
    assert_true(failing_alloc_each_step(compare_shop, shop).refused >= 12);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_counting, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_is_written_as_in_the_source),
        TEST(counted_overloads_have_their_parameters),
        TEST(a_single_overload_has_no_parameters),
        TEST(without_counted_calls_names_have_no_parameters),
        TEST(a_line_of_two_overloads_is_one_row),
        TEST(a_sampled_row_shows_the_calls_of_its_overload),
        TEST(a_merged_profile_decides_anew_about_parameters),
        TEST(a_difference_compares_the_same_overload),
        TEST(each_allocation_may_be_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
