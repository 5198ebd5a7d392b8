/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_measures.c - every export contains each measure in the list, without further code. Built
 * against a core whose list has one more measure: support/more_measures.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "export/difference.h"
#include "export/exporters.h"
#include "model/profile_merge.h"

enum { PART_BYTES = 1 << 20, MS = 1000000 };

#define WITHOUT_WAITS SMP_SAMPLED_MEASURES
#define WITH_WAITS (SMP_SAMPLED_MEASURES | SMP_MEASURE_BIT(SMP_MEASURE_WAITS))

static void on_resolve_end(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

/* Method 1 is a.A.outer, method 2 a.A.inner. */
static enum smp_status on_resolve(void *self, uint64_t method, struct smp_method_info *info)
{
    static const struct smp_line lines[] = { { .start_bci = 0, .line = 7 } };

    (void)self;
    *info = (struct smp_method_info){ .class_name = "a.A",
                                      .method_name = method == 1 ? "outer" : "inner",
                                      .file = "A.java",
                                      .lines = lines,
                                      .line_count = 1 };
    return SMP_OK;
}

static const struct smp_name_source source = { .resolve = on_resolve, .release = on_resolve_end };

/* outer: 10 ms wall, 4 ms CPU, 2 samples, 5 waits. outer, inner: 30 ms, 0, 1, 300. */
static struct smp_profile *make_profile(struct smp_methods *methods, uint32_t measures)
{
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;
    struct smp_tree *tree = NULL;
    uint32_t stack[2];
    uint32_t node = 0;

    assert_int_equal(smp_tree_create(NULL, measures, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "main" });
    struct smp_group_info *const info = smp_thread_groups_info(groups, group);
    smp_thread_groups_see(groups, group, 1, "main");
    for (int i = 0; i < 3; i++)
        smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    stack[1] = smp_methods_locate(methods, &source, &(struct smp_frame){ .method = 1 });
    stack[0] = smp_methods_locate(methods, &source, &(struct smp_frame){ .method = 2 });
    assert_int_equal(smp_tree_add(tree, info->root, &stack[1], 1, &node), SMP_OK);
    smp_tree_credit(tree, node, SMP_MEASURE_WALL, 10 * MS);
    smp_tree_credit(tree, node, SMP_MEASURE_CPU, 4 * MS);
    smp_tree_credit(tree, node, SMP_MEASURE_SAMPLES, 2);
    smp_tree_credit(tree, node, SMP_MEASURE_WAITS, 5);
    assert_int_equal(smp_tree_add(tree, info->root, stack, 2, &node), SMP_OK);
    smp_tree_credit(tree, node, SMP_MEASURE_WALL, 30 * MS);
    smp_tree_credit(tree, node, SMP_MEASURE_SAMPLES, 1);
    smp_tree_credit(tree, node, SMP_MEASURE_WAITS, 300);
    assert_int_equal(smp_profile_create(NULL, tree, groups, methods, &profile), SMP_OK);
    return profile;
}

static int set_up(void **state)
{
    struct smp_methods *methods = NULL;

    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &methods), SMP_OK);
    *state = methods;
    return 0;
}

static int tear_down(void **state)
{
    smp_methods_release(*state);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

static bool append(void *self, const char *bytes, size_t length)
{
    smp_bytes_put(self, bytes, length);
    return true;
}

static void export(const struct smp_profile *profile, enum smp_format format,
                   struct smp_export_style style, struct smp_bytes *out)
{
    const struct smp_output output = { .write = append, .self = out };

    smp_bytes_init(out, NULL, PART_BYTES);
    assert_int_equal(smp_export(profile, format, &style, NULL, &output), SMP_OK);
    assert_int_equal(out->status, SMP_OK);
}

static void assert_has(const struct smp_bytes *out, const char *text)
{
    if (memmem(smp_bytes_text(out), out->length, text, strlen(text)) == NULL)
        fail_msg("no \"%s\" in:\n%s", text, smp_bytes_text(out));
}

static void assert_lacks(const struct smp_bytes *out, const char *text)
{
    if (memmem(smp_bytes_text(out), out->length, text, strlen(text)) != NULL)
        fail_msg("\"%s\" in:\n%s", text, smp_bytes_text(out));
}

static void export_has(void **state, enum smp_format format, struct smp_export_style style,
                       const char *text)
{
    struct smp_profile *profile = make_profile(*state, WITH_WAITS);
    struct smp_bytes out;

    export(profile, format, style, &out);
    assert_has(&out, text);
    smp_bytes_fini(&out);
    smp_profile_release(profile);
}

/* --- the exports --- */

static void collapsed_can_show_the_new_measure(void **state)
{
    export_has(state, SMP_FORMAT_COLLAPSED,
               (struct smp_export_style){ .measure = SMP_MEASURE_WAITS },
               "main;a.A.outer(A.java:7) 5\nmain;a.A.outer(A.java:7);a.A.inner(A.java:7) 300\n");
}

static void speedscope_can_show_the_new_measure(void **state)
{
    const struct smp_export_style style = { .measure = SMP_MEASURE_WAITS };

    export_has(state, SMP_FORMAT_SPEEDSCOPE, style, "\"name\":\"lock waits\"");
    export_has(state, SMP_FORMAT_SPEEDSCOPE, style, "\"unit\":\"none\"");
    export_has(state, SMP_FORMAT_SPEEDSCOPE, style,
               "\"weights\":[5,300],\"startValue\":0,\"endValue\":305}");
}

static void json_has_a_column_for_the_new_measure(void **state)
{
    export_has(state, SMP_FORMAT_JSON, (struct smp_export_style){ .percent = false },
               ",\n\"samples\":[2,1],\n\"waits\":[5,300]}");
}

static void text_has_a_column_for_the_new_measure_if_chosen(void **state)
{
    const uint32_t both = SMP_MEASURE_BIT(SMP_MEASURE_CPU) | SMP_MEASURE_BIT(SMP_MEASURE_WAITS);

    export_has(state, SMP_FORMAT_TEXT, (struct smp_export_style){ .columns = both },
               " Cumulative time(ms): 40, Method time(ms): 10, CPU time(ms): 4, Lock waits: 305\n");
    export_has(state, SMP_FORMAT_TEXT,
               (struct smp_export_style){ .columns = SMP_MEASURE_BIT(SMP_MEASURE_WAITS) },
               " Cumulative time(ms): 30, Method time(ms): 30, Lock waits: 300\n");
    export_has(state, SMP_FORMAT_TEXT, (struct smp_export_style){ .columns = 0 },
               " Cumulative time(ms): 40, Method time(ms): 10\n");
}

static void top_can_be_ordered_by_the_new_measure(void **state)
{
    const struct smp_export_style style = { .measure = SMP_MEASURE_WAITS,
                                            .columns = SMP_MEASURE_BIT(SMP_MEASURE_WAITS) };

    export_has(state, SMP_FORMAT_TOP, style, "Top 2 methods of 2, by own lock waits, over");
    export_has(state, SMP_FORMAT_TOP, style,
               "percent      wall ms        waits  method\n"
               "   98.4           30          300  a.A.inner\n"
               "    1.6           10            5  a.A.outer\n");
}

/* Sample types: (waits, count), (samples, count), (cpu, nanoseconds), (wall, nanoseconds). */
static void pprof_has_the_new_measure(void **state)
{
    struct smp_profile *profile = make_profile(*state, WITH_WAITS);
    const char types[] = "\x0a\x04\x08\x01\x10\x02"
                         "\x0a\x04\x08\x03\x10\x02"
                         "\x0a\x04\x08\x04\x10\x05"
                         "\x0a\x04\x08\x06\x10\x05";
    const char strings[] = "\x32\x00\x32\x05waits\x32\x05"
                           "count\x32\x07samples\x32\x03"
                           "cpu\x32\x0bnanoseconds\x32\x04wall\x32\x03jvm\x32\x06thread";
    /* 300 waits, 1 sample, no CPU time, 30 ms: packed numbers in field 2. */
    const char values[] = "\x12\x08\xac\x02\x01\x00\x80\x87\xa7\x0e";
    struct smp_bytes out;

    export(profile, SMP_FORMAT_PPROF, (struct smp_export_style){ .percent = false }, &out);
    assert_memory_equal(smp_bytes_text(&out), types, sizeof(types) - 1);
    assert_non_null(memmem(smp_bytes_text(&out), out.length, strings, sizeof(strings) - 1));
    assert_non_null(memmem(smp_bytes_text(&out), out.length, values, sizeof(values) - 1));
    smp_bytes_fini(&out);
    smp_profile_release(profile);
}

static void difference_has(void **state, enum smp_format format, const char *text)
{
    struct smp_profile *profile = make_profile(*state, WITH_WAITS);
    const struct smp_profile *const sides[SMP_DIFF_SIDES] = { [SMP_DIFF_AFTER] = profile };
    struct smp_bytes out;
    const struct smp_output output = { .write = append, .self = &out };

    smp_bytes_init(&out, NULL, PART_BYTES);
    assert_int_equal(smp_export_difference(sides, format, SMP_MEASURE_WAITS, NULL, &output),
                     SMP_OK);
    assert_has(&out, text);
    smp_bytes_fini(&out);
    smp_profile_release(profile);
}

static void a_difference_has_the_new_measure(void **state)
{
    difference_has(state, SMP_FORMAT_COLLAPSED, "a.A.inner(A.java:7) 0 300\n");
    difference_has(state, SMP_FORMAT_JSON, "\"waits\":[0,0,0]},\n\"after\":");
    difference_has(state, SMP_FORMAT_JSON, "\"waits\":[0,5,300]}}");
}

/* --- profiles without it --- */

static void absent_measures_are_in_no_export(void **state)
{
    /* Samples, CPU, wall; then the type of the period. */
    const char types[] = "\x0a\x04\x08\x01\x10\x02"
                         "\x0a\x04\x08\x03\x10\x04"
                         "\x0a\x04\x08\x05\x10\x04\x5a";
    struct smp_profile *profile = make_profile(*state, WITHOUT_WAITS);
    const struct smp_export_style style = { .measure = SMP_MEASURE_WAITS,
                                            .columns = SMP_MEASURE_BIT(SMP_MEASURE_WAITS) };
    struct smp_bytes out;

    assert_int_equal(smp_column_at(smp_tree_column(profile->tree, SMP_MEASURE_WALL), 0), 40 * MS);
    assert_int_equal(smp_tree_self_all(profile->tree, 2).of[SMP_MEASURE_WAITS], 0);
    assert_int_equal(smp_tree_self(profile->tree, 2, SMP_MEASURE_WAITS), 0);
    for (int format = 0; format < SMP_FORMAT_COUNT; format++) {
        export(profile, (enum smp_format)format, style, &out);
        if (format == SMP_FORMAT_COLLAPSED)
            assert_int_equal(out.length, 0);
        /* their titles name the measure */
        if (format != SMP_FORMAT_SPEEDSCOPE && format != SMP_FORMAT_TOP)
            assert_lacks(&out, "waits");
        if (format == SMP_FORMAT_PPROF)
            assert_memory_equal(smp_bytes_text(&out), types, sizeof(types) - 1);
        smp_bytes_fini(&out);
    }
    smp_profile_release(profile);
}

static void a_merged_profile_has_each_measure_of_its_parts(void **state)
{
    struct smp_profile *with = make_profile(*state, WITH_WAITS);
    struct smp_profile *without = make_profile(*state, WITHOUT_WAITS);
    struct smp_profile *merged = NULL;
    struct smp_bytes out;

    for (int is_first = 0; is_first <= 1; is_first++) {
        assert_int_equal(
            smp_profile_merge(NULL, is_first ? with : without, is_first ? without : with, &merged),
            SMP_OK);
        export(merged, SMP_FORMAT_JSON, (struct smp_export_style){ .percent = false }, &out);
        assert_has(&out, ",\n\"samples\":[4,2],\n\"waits\":[5,300]}");
        smp_bytes_fini(&out);
        smp_profile_release(merged);
    }
    assert_int_equal(smp_profile_merge(NULL, without, without, &merged), SMP_OK);
    assert_int_equal(smp_tree_measures(merged->tree), WITHOUT_WAITS);
    smp_profile_release(merged);
    smp_profile_release(with);
    smp_profile_release(without);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(collapsed_can_show_the_new_measure),
        TEST(speedscope_can_show_the_new_measure),
        TEST(json_has_a_column_for_the_new_measure),
        TEST(text_has_a_column_for_the_new_measure_if_chosen),
        TEST(top_can_be_ordered_by_the_new_measure),
        TEST(pprof_has_the_new_measure),
        TEST(a_difference_has_the_new_measure),
        TEST(absent_measures_are_in_no_export),
        TEST(a_merged_profile_has_each_measure_of_its_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
