/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP, decoded by field numbers: every length, reference and sample. OtlpIT compares a real
 * document with the rows of its report, using the published schema. */
#include "export/exporters.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_output.h"
#include "support/protobuf_reader.h"
#include "support/report_fixture.h"

enum { MAX_ROWS = 32, MAX_PROFILES = 8, TABLES = 8, TEXT_BYTES = 4096 };
enum { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS };

struct rows {
    struct slice all[MAX_ROWS];
    size_t count;
};

struct document {
    struct slice profiles[MAX_PROFILES];
    size_t profile_count;
    struct rows tables[TABLES];
    char text[TEXT_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void print(struct document *document,
                                                        const char *format, ...)
{
    va_list values;

    va_start(values, format);
    document->length += (size_t)vsnprintf(document->text + document->length,
                                          TEXT_BYTES - document->length, format, values);
    va_end(values);
    assert_true(document->length < TEXT_BYTES);
}

/* Returns a field of a message: its bytes or its number. Packed numbers are not unpacked. */
static uint64_t field_of(struct slice in, unsigned wanted, struct slice *bytes)
{
    while (in.at < in.end) {
        uint64_t value;
        struct slice found = { 0 };
        if (read_field(&in, &value, &found) == wanted) {
            *bytes = found;
            return value;
        }
    }
    *bytes = (struct slice){ 0 };
    return 0;
}

static uint64_t number_of(struct slice in, unsigned wanted)
{
    return field_of(in, wanted, &(struct slice){ 0 });
}

static struct slice bytes_of(struct slice in, unsigned wanted)
{
    struct slice bytes;

    (void)field_of(in, wanted, &bytes);
    return bytes;
}

/* Returns the only number of a packed field. */
static uint64_t only_of(struct slice in, unsigned wanted)
{
    struct slice bytes = bytes_of(in, wanted);
    const uint64_t value = read_varint(&bytes);

    assert_ptr_equal(bytes.at, bytes.end);
    return value;
}

static struct slice row_of(const struct document *document, int table, uint64_t row)
{
    assert_true(row < document->tables[table].count);
    return document->tables[table].all[row];
}

static void read_dictionary(struct document *document, struct slice in)
{
    while (in.at < in.end) {
        uint64_t value;
        struct slice bytes = { 0 };
        const unsigned table = read_field(&in, &value, &bytes);
        assert_in_range(table, MAPPINGS, STACKS);
        struct rows *const rows = &document->tables[table];
        assert_true(rows->count < MAX_ROWS);
        rows->all[rows->count++] = bytes;
    }
}

static void read_scope_profiles(struct document *document, struct slice in)
{
    while (in.at < in.end) {
        uint64_t value;
        struct slice bytes = { 0 };
        const unsigned field = read_field(&in, &value, &bytes);
        if (field == 1) {
            assert_int_equal(slice_length(bytes_of(bytes, 1)), strlen("threads-sampler"));
            assert_true(slice_length(bytes_of(bytes, 2)) >= strlen("1.0.0"));
            continue;
        }
        assert_int_equal(field, 2);
        assert_true(document->profile_count < MAX_PROFILES);
        document->profiles[document->profile_count++] = bytes;
    }
}

/* resource_profiles comes first, then the dictionary, and nothing else. */
static void read_document(struct document *document, struct slice in)
{
    uint64_t value;
    struct slice bytes = { 0 };
    struct slice scope = { 0 };

    *document = (struct document){ 0 };
    assert_int_equal(read_field(&in, &value, &bytes), 1);
    assert_int_equal(read_field(&bytes, &value, &scope), 2);
    assert_ptr_equal(bytes.at, bytes.end);
    read_scope_profiles(document, scope);
    assert_int_equal(read_field(&in, &value, &bytes), 2);
    assert_ptr_equal(in.at, in.end);
    read_dictionary(document, bytes);
}

static void print_string(struct document *document, uint64_t number)
{
    const struct slice text = row_of(document, STRINGS, number);

    print(document, "%.*s", (int)slice_length(text), (const char *)text.at);
}

static void print_attribute(struct document *document, uint64_t number)
{
    const struct slice attribute = row_of(document, ATTRIBUTES, number);
    const struct slice value = bytes_of(bytes_of(attribute, 2), 1);

    print_string(document, number_of(attribute, 1));
    print(document, "=%.*s", (int)slice_length(value), (const char *)value.at);
}

/* "name (system name) file@start:line" */
static void print_location(struct document *document, uint64_t number)
{
    const struct slice location = row_of(document, LOCATIONS, number);
    const struct slice line = bytes_of(location, 3);
    const struct slice function = row_of(document, FUNCTIONS, number_of(line, 1));

    print_string(document, number_of(function, 1));
    print(document, " (");
    print_string(document, number_of(function, 2));
    print(document, ") ");
    print_string(document, number_of(function, 3));
    print(document, "@%" PRIu64 ":%" PRIu64, number_of(function, 4), number_of(line, 2));
    if (slice_length(bytes_of(location, 4)) > 0) {
        print(document, " ");
        print_attribute(document, only_of(location, 4));
    }
}

/* "5 threadsampler.thread.group=hot: leaf < root" */
static void print_otlp_sample(struct document *document, struct slice sample)
{
    struct slice stack = bytes_of(row_of(document, STACKS, number_of(sample, 1)), 1);

    print(document, "%" PRIu64 " ", only_of(sample, 4));
    print_attribute(document, only_of(sample, 2));
    for (const char *before = ": "; stack.at < stack.end; before = " < ") {
        print(document, "%s", before);
        print_location(document, read_varint(&stack));
    }
    print(document, "\n");
}

static void print_type(struct document *document, struct slice type)
{
    print_string(document, number_of(type, 1));
    print(document, "/");
    print_string(document, number_of(type, 2));
}

static void print_profile(struct document *document, struct slice profile)
{
    print_type(document, bytes_of(profile, 1));
    print(document, " from %" PRIu64 " for %" PRIu64 " each %" PRIu64 " of ", number_of(profile, 3),
          number_of(profile, 4), number_of(profile, 6));
    print_type(document, bytes_of(profile, 5));
    print(document, "\n");
    while (profile.at < profile.end) {
        uint64_t value;
        struct slice bytes = { 0 };
        if (read_field(&profile, &value, &bytes) == 2)
            print_otlp_sample(document, bytes);
    }
}

static void read_and_print(struct document *document, const struct smp_profile *profile)
{
    const struct smp_export_style style = { .period_ns = 50 * MS };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(smp_export(profile, SMP_FORMAT_OTLP, &style, NULL, &to), SMP_OK);
    read_document(document, protobuf_slice(output.bytes, output.length));
    for (size_t i = 0; i < document->profile_count; i++)
        print_profile(document, document->profiles[i]);
    for (int table = MAPPINGS; table <= STACKS; table++) {
        const struct slice zero = row_of(document, table, 0);
        if (table == LINKS)
            assert_int_equal(slice_length(zero), 2 + 16 + 2 + 8);
        else
            assert_int_equal(slice_length(zero), 0);
    }
    memory_output_fini(&output);
}

/* --- tests --- */

static int set_up(void **state)
{
    *state = report_fixture_create();
    return 0;
}

static int tear_down(void **state)
{
    report_fixture_destroy(*state);
    return 0;
}

static void each_measure_has_a_profile_and_the_main_time_is_first(void **state)
{
    const uint32_t run = report_fixture_add(*state, "hot", 0, "a.A.run(A.java:1)", 0);
    const uint32_t work = report_fixture_add(*state, "hot", run, "a.B.work(B.java:7)", 300);
    struct document document;

    report_fixture_ran(*state, work, 200, 2);
    (void)report_fixture_add(*state, "cold", 0, "[thread ended]", 5);
    read_and_print(&document, report_fixture_finish(*state));
    assert_string_equal(
        document.text,
        "wall/nanoseconds from 1000000000 for 1000000000 each 50000000 of wall/nanoseconds\n"
        "300 threadsampler.thread.group=hot: a.B.work (a/B.work) a/B.java@7:7 "
        "profile.frame.type=jvm < "
        "a.A.run (a/A.run) a/A.java@1:1 profile.frame.type=jvm\n"
        "5 threadsampler.thread.group=cold: [thread ended] ([thread ended]) @0:0\n"
        "cpu/nanoseconds from 1000000000 for 1000000000 each 50000000 of cpu/nanoseconds\n"
        "200 threadsampler.thread.group=hot: a.B.work (a/B.work) a/B.java@7:7 "
        "profile.frame.type=jvm < "
        "a.A.run (a/A.run) a/A.java@1:1 profile.frame.type=jvm\n"
        "samples/count from 1000000000 for 1000000000 each 50000000 of wall/nanoseconds\n"
        "1 threadsampler.thread.group=hot: a.A.run (a/A.run) a/A.java@1:1 profile.frame.type=jvm\n"
        "3 threadsampler.thread.group=hot: a.B.work (a/B.work) a/B.java@7:7 profile.frame.type=jvm "
        "< "
        "a.A.run (a/A.run) a/A.java@1:1 profile.frame.type=jvm\n"
        "1 threadsampler.thread.group=cold: [thread ended] ([thread ended]) @0:0\n");
}

static void by_the_cpu_clock_there_is_no_wall_time(void **state)
{
    struct document document;

    (void)report_fixture_add(*state, "hot", 0, "a.A.run(A.java:1)", 7);
    struct smp_profile profile = *report_fixture_finish(*state);
    profile.is_cpu_clock = true;
    read_and_print(&document, &profile);
    assert_string_equal(
        document.text,
        "samples/count from 1000000000 for 1000000000 each 50000000 of cpu/nanoseconds\n"
        "1 threadsampler.thread.group=hot: a.A.run (a/A.run) a/A.java@1:1 "
        "profile.frame.type=jvm\n");
}

static void counted_trees_have_calls_and_no_time(void **state)
{
    struct document document;

    report_fixture_begin_counting(*state);
    (void)report_fixture_count(*state, "g", "a.A.run(A.java)", 42, 5, 3);
    report_fixture_credit(*state, "g", "g", "a.A.run(A.java:1)", 7);
    read_and_print(&document, report_fixture_finish(*state));
    assert_non_null(strstr(document.text,
                           "wall/nanoseconds from 1000000000 for 1000000000 each "
                           "50000000 of wall/nanoseconds\n7 threadsampler.thread.group=g: "));
    assert_non_null(strstr(document.text,
                           "calls/count from 1000000000 for 1000000000 each "
                           "50000000 of wall/nanoseconds\n42 threadsampler.thread.group=g: "));
    assert_int_equal(document.profile_count, 3); /* wall, samples and calls; there is no CPU time */
}

static void names_are_on_one_line(void **state)
{
    struct document document;

    report_fixture_credit(*state, "a\nb", "a\nb", "a.A.run(A.java:1)", 7);
    report_fixture_credit(*state, "", "x", "a.A.run(A.java:1)", 6);
    read_and_print(&document, report_fixture_finish(*state));
    assert_non_null(strstr(document.text, "\n7 threadsampler.thread.group=a\\nb: a.A.run "));
    assert_non_null(strstr(document.text, "\n6 threadsampler.thread.group=[unnamed]: a.A.run "));
}

static void an_empty_interval_has_no_profile(void **state)
{
    struct document document;

    read_and_print(&document, report_fixture_finish(*state));
    assert_int_equal(document.profile_count, 0);
    assert_int_equal(document.tables[STACKS].count, 1);
    assert_int_equal(document.tables[ATTRIBUTES].count, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_measure_has_a_profile_and_the_main_time_is_first),
        TEST(by_the_cpu_clock_there_is_no_wall_time),
        TEST(counted_trees_have_calls_and_no_time),
        TEST(names_are_on_one_line),
        TEST(an_empty_interval_has_no_profile),
    };

    return cmocka_run_group_tests_name("otlp", tests, NULL, NULL);
}
