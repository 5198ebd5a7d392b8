/* SPDX-License-Identifier: Apache-2.0 */
/* Each format, byte for byte for a small profile; sums, failing outputs and failing memory for a
 * large one. checks/exporters.sh reads the formats with other tools. */
#include "export/exporters.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/memory_output.h"
#include "support/protobuf_reader.h"
#include "support/report_fixture.h"

static enum smp_status export_to(struct memory_output *output, const struct smp_profile *profile,
                                 enum smp_format format, const struct smp_export_style *style)
{
    const struct smp_output to = memory_output_functions(output);

    return smp_export(profile, format, style, NULL, &to);
}

static void assert_exported(const struct smp_profile *profile, enum smp_format format,
                            struct smp_export_style style, const char *expected)
{
    struct memory_output output = { 0 };

    assert_int_equal(export_to(&output, profile, format, &style), SMP_OK);
    assert_string_equal(memory_output_text(&output), expected);
    memory_output_fini(&output);
}

/* --- profiles --- */

/*
 * hot:   run 0/0 ─┬─ work 3 ms 200 ns wall, 1 ms cpu, 3 samples
 *                 └─ [thread ended] 1 ms 900 ns, 1 sample
 * cold:  nat 500 ns, 1 sample
 */
static struct smp_profile *make_small(struct report_fixture *fixture)
{
    uint32_t run = report_fixture_add(fixture, "hot", 0, "a.A.run(A.java:1)", 0);
    uint32_t work = report_fixture_add(fixture, "hot", run, "a.B.work(B.java:7)", 3 * MS + 200);
    struct smp_profile *profile;

    report_fixture_ran(fixture, work, 1 * MS, 2);
    (void)report_fixture_add(fixture, "hot", run, "[thread ended]", 1 * MS + 900);
    (void)report_fixture_add(fixture, "cold", 0, "c.C.nat(Native Method)", 500);
    for (int i = 0; i < 4; i++)
        report_fixture_note(fixture, "hot", SMP_OUTCOME_WALKED);
    report_fixture_note(fixture, "cold", SMP_OUTCOME_THREAD_ENDED_IN_WALK);
    report_fixture_see(fixture, "hot", "hot-1");
    report_fixture_see(fixture, "hot", "hot-2");
    report_fixture_see(fixture, "cold", "cold");
    profile = report_fixture_finish(fixture);
    profile->own_cpu_ns = 77;
    profile->memory_used_bytes = 5;
    profile->memory_limit_bytes = 6;
    profile->counters[SMP_COUNTER_TICKS] = 9;
    return profile;
}

/* Has so many stacks that every format is written in several pieces. */
static struct smp_profile *make_large(struct report_fixture *fixture)
{
    char stack[400];
    char group[32];

    for (int i = 0; i < 4000; i++) {
        (void)snprintf(group, sizeof(group), "pool %d", i % 3);
        (void)snprintf(stack, sizeof(stack),
                       "p.Root.run(Root.java:1)|p.Class%d.method%d(Class%d.java:%d)|"
                       "q.Leaf%d.call(Leaf.java:%d)",
                       i % 400, i % 13, i % 400, 1 + i % 17, i, 1 + i % 5);
        report_fixture_credit(fixture, group, group, stack, 1000 + i);
    }
    return report_fixture_finish(fixture);
}

/* --- to the byte --- */

static void collapsed_has_a_line_per_stack(void **state)
{
    const struct smp_profile *profile = make_small(*state);

    assert_exported(profile, SMP_FORMAT_COLLAPSED,
                    (struct smp_export_style){ .measure = SMP_MEASURE_WALL },
                    "hot;a.A.run(A.java:1);a.B.work(B.java:7) 3000200\n"
                    "hot;a.A.run(A.java:1);[thread ended] 1000900\n"
                    "cold;c.C.nat(Native Method) 500\n");
    assert_exported(profile, SMP_FORMAT_COLLAPSED,
                    (struct smp_export_style){ .measure = SMP_MEASURE_CPU },
                    "hot;a.A.run(A.java:1);a.B.work(B.java:7) 1000000\n");
    assert_exported(profile, SMP_FORMAT_COLLAPSED,
                    (struct smp_export_style){ .measure = SMP_MEASURE_SAMPLES },
                    "hot;a.A.run(A.java:1) 1\n"
                    "hot;a.A.run(A.java:1);a.B.work(B.java:7) 3\n"
                    "hot;a.A.run(A.java:1);[thread ended] 1\n"
                    "cold;c.C.nat(Native Method) 1\n");
}

static void collapsed_escapes_separators_in_names(void **state)
{
    report_fixture_credit(*state, "a;b \n", "x", "p.Q;.r;s(T;.java:3)", 1 * MS);
    report_fixture_credit(*state, ";", "x", "p.Q.r(;)", 3 * MS);
    report_fixture_credit(*state, "", "x", "p.Q.\tr(\xf0\x9f\x90\x8d 7:3)", 2 * MS);
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_COLLAPSED,
                    (struct smp_export_style){ 0 },
                    "\\u003b;p.Q.r(\\u003b) 3000000\n"
                    "[unnamed];p.Q.\\tr(\xf0\x9f\x90\x8d 7:3) 2000000\n"
                    "a\\u003bb \\n;p.Q\\u003b.r\\u003bs(T\\u003b.java:3) 1000000\n");
}

/* Readers add up the amounts of equal lines. */
static void collapsed_has_separate_lines_for_frames_of_equal_text(void **state)
{
    static const struct {
        const char *name;
        const char *written;
    } names[] = {
        { "a,b", "a,b" },
        { "a;b", "a\\u003bb" },
        { "a;;b", "a\\u003b\\u003bb" },
        { "a\nb", "a\\nb" },
        { "a\rb", "a\\rb" },
        { "a\tb", "a\\tb" },
        { "a\x1b_b", "a\\u001b_b" },
        { "a\x1f_b", "a\\u001f_b" },
        { "a\xc2\x85_b", "a\\u0085_b" },
        { "a\xe2\x80\xa8_b", "a\\u2028_b" },
        { "a\xe2\x80\xae_b", "a\\u202e_b" },
        { "a_b", "a_b" },
    };
    struct smp_bytes expected;
    int64_t time = 100; /* groups are ordered by their time */

    smp_bytes_init(&expected, NULL, 10000);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        report_fixture_credit(*state, names[i].name, "x", "p.Q.r(;)|p.Q.r(,)|p.Q.r(\t)", --time);
        smp_bytes_printf(&expected, "%s;p.Q.r(\\u003b);p.Q.r(,);p.Q.r(\\t) %d\n", names[i].written,
                         (int)time);
    }
    assert_exported(report_fixture_finish(*state), SMP_FORMAT_COLLAPSED,
                    (struct smp_export_style){ 0 }, smp_bytes_text(&expected));
    smp_bytes_fini(&expected);
}

static void collapsed_marks_java_frames_for_colouring(void **state)
{
    const struct smp_export_style slashes = { .java_slashes = true };
    const struct smp_export_style types = { .frame_types = true };
    const struct smp_export_style both = { .java_slashes = true, .frame_types = true };
    const struct smp_profile *profile;

    report_fixture_credit(*state, "a.b", "x",
                          "a.b.C$D.run(C.x.java:1)|Top.x(Unknown Source)|e.F.n(Native Method)", 3);
    report_fixture_credit(*state, "a.b", "x", "a\n.b;.C.run(C.java)|[a.b stub]", 2);
    profile = report_fixture_finish(*state);
    assert_exported(profile, SMP_FORMAT_COLLAPSED, slashes,
                    "a.b;a/b/C$D.run(C.x.java:1);Top.x(Unknown Source);e/F.n(Native Method) 3\n"
                    "a.b;a\\n/b\\u003b/C.run(C.java);[a.b stub] 2\n");
    assert_exported(profile, SMP_FORMAT_COLLAPSED, types,
                    "a.b;a.b.C$D.run(C.x.java:1)_[j];Top.x(Unknown Source)_[j];"
                    "e.F.n(Native Method)_[j] 3\n"
                    "a.b;a\\n.b\\u003b.C.run(C.java)_[j];[a.b stub] 2\n");
    assert_exported(profile, SMP_FORMAT_COLLAPSED, both,
                    "a.b;a/b/C$D.run(C.x.java:1)_[j];Top.x(Unknown Source)_[j];"
                    "e/F.n(Native Method)_[j] 3\n"
                    "a.b;a\\n/b\\u003b/C.run(C.java)_[j];[a.b stub] 2\n");
}

static void speedscope_has_a_profile_per_group(void **state)
{
    assert_exported(make_small(*state), SMP_FORMAT_SPEEDSCOPE, (struct smp_export_style){ 0 },
                    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                    "\"exporter\":\"threads-sampler\",\"name\":\"wall time\","
                    "\"activeProfileIndex\":0,\"shared\":{\"frames\":["
                    "{\"name\":\"a.A.run\",\"file\":\"A.java\",\"line\":1},\n"
                    "{\"name\":\"a.B.work\",\"file\":\"B.java\",\"line\":7},\n"
                    "{\"name\":\"[thread ended]\"},\n"
                    "{\"name\":\"c.C.nat\"}]},\n"
                    "\"profiles\":[{\"type\":\"sampled\",\"name\":\"hot\",\"unit\":\"nanoseconds\","
                    "\"samples\":[[0,1],[0,2]],\"weights\":[3000200,1000900],"
                    "\"startValue\":0,\"endValue\":4001100},\n"
                    "{\"type\":\"sampled\",\"name\":\"cold\",\"unit\":\"nanoseconds\","
                    "\"samples\":[[3]],\"weights\":[500],\"startValue\":0,\"endValue\":500}]}\n");
}

static void json_has_everything(void **state)
{
    assert_exported(
        make_small(*state), SMP_FORMAT_JSON, (struct smp_export_style){ 0 },
        "{\"format\":\"threads-sampler/1\",\"fromMillis\":1000,\"tillMillis\":2000,"
        "\"zone\":\"UTC\",\"zoneOffsetSeconds\":0,"
        "\"elapsedNanos\":1000000000,\"ownCpuNanos\":77,\"memoryUsedBytes\":5,"
        "\"memoryLimitBytes\":6,\"account\":{\"polls\":5,\"samples\":4,\"outcomes\":{"
        "\"WALKED\":4,"
        "\"THREAD_ENDED_IN_WALK\":1},\"counters\":{\"TICKS\":9}},\n"
        "\"frames\":[{\"class\":\"a.A\",\"method\":\"run\",\"file\":\"A.java\",\"line\":1},\n"
        "{\"class\":\"a.B\",\"method\":\"work\",\"file\":\"B.java\",\"line\":7},\n"
        "{\"pseudo\":\"[thread ended]\"},\n"
        "{\"class\":\"c.C\",\"method\":\"nat\",\"native\":true}],\n"
        "\"groups\":[{\"name\":\"hot\",\"threads\":2,\"threadNames\":[\"hot-1\",\"hot-2\"],"
        "\"maxDepth\":0,\"polls\":4,\"outcomes\":{\"WALKED\":4},\n"
        "\"parent\":[-1,0,0],\n\"frame\":[0,1,2],\n\"wall\":[0,3000200,1000900],\n"
        "\"cpu\":[0,1000000,0],\n\"samples\":[1,3,1]},\n"
        "{\"name\":\"cold\",\"threads\":1,\"threadNames\":[\"cold\"],\"maxDepth\":0,"
        "\"polls\":1,\"outcomes\":{\"THREAD_ENDED_IN_WALK\":1},\n"
        "\"parent\":[-1],\n\"frame\":[3],\n\"wall\":[500],\n\"cpu\":[0],\n\"samples\":[1]}]}\n");
}

static void json_has_the_zone_of_the_text_report(void **state)
{
    struct memory_output output = { 0 };

    assert_int_equal(setenv("TZ", "IST-5:30", 1), 0);
    tzset();
    assert_int_equal(
        export_to(&output, make_small(*state), SMP_FORMAT_JSON, &(struct smp_export_style){ 0 }),
        SMP_OK);
    assert_non_null(strstr(output.bytes, ",\"zone\":\"IST\",\"zoneOffsetSeconds\":19800,"));
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    tzset();
    free(output.bytes);
}

enum { SECONDS_BEGIN = 1700000000 };

static void add_second(struct smp_second_times *times, uint32_t row, enum smp_thread_state state,
                       int64_t second, int64_t ms)
{
    const int64_t from_ns = (SECONDS_BEGIN + second) * 1000 * MS;

    smp_second_times_add(times, row, state,
                         (struct smp_span){ .from_ns = from_ns, .till_ns = from_ns + 1000 * MS },
                         ms * MS);
}

/* Two groups with a row, one without time, and the row of all other groups. */
static void json_has_the_states_of_each_second(void **state)
{
    const struct smp_second_range range = { .from = SECONDS_BEGIN,
                                            .till = SECONDS_BEGIN + 4,
                                            .width = 1 };
    const struct smp_profile *const made = make_small(*state);
    struct smp_profile *const profile = report_fixture_finish(*state);
    struct memory_output output = { 0 };
    struct smp_second_times *times = NULL;

    assert_ptr_equal(made, profile);
    assert_int_equal(smp_second_times_create(NULL, range, &times), SMP_OK);
    const uint32_t hot = smp_second_times_new_row(times, 1);
    const uint32_t cold = smp_second_times_new_row(times, 2);
    add_second(times, hot, SMP_STATE_RUNNING, 0, 800);
    add_second(times, hot, SMP_STATE_RUNNING, 2, 1500);
    add_second(times, hot, SMP_STATE_BLOCKED, 1, 7);
    add_second(times, cold, SMP_STATE_IDLE, 3, 1000);
    add_second(times, 0, SMP_STATE_IO, 1, 12);
    profile->seconds = times;
    assert_int_equal(export_to(&output, profile, SMP_FORMAT_JSON, &(struct smp_export_style){ 0 }),
                     SMP_OK);
    const char *const seconds = strstr(output.bytes, ",\n\"seconds\":");
    assert_non_null(seconds);
    golden_check("seconds.json", seconds + 2, strlen(seconds + 2));
    free(output.bytes);
}

static void json_escapes_markup_in_names(void **state)
{
    struct memory_output output = { 0 };

    report_fixture_credit(*state, "</script>\x01\"\\\xe2\x80\xa8\xe2\x81\xa6", "&",
                          "<b>.>(\xc3\xa9.java:1)", 1);
    assert_int_equal(export_to(&output, report_fixture_finish(*state), SMP_FORMAT_JSON,
                               &(struct smp_export_style){ 0 }),
                     SMP_OK);
    assert_non_null(strstr(output.bytes, "\"\\u003c/script\\u003e\\u0001\\\"\\\\\\u2028\\u2066\""));
    assert_non_null(strstr(output.bytes, "[\"\\u0026\"]"));
    assert_non_null(strstr(output.bytes, "{\"class\":\"\\u003cb\\u003e\",\"method\":\"\\u003e\","
                                         "\"file\":\"\xc3\xa9.java\",\"line\":1}"));
    free(output.bytes);
}

static void the_text_format_is_the_report_of_a_print_stream(void **state)
{
    static const char title[] = "\nReport interval: from Thu Jan 01 00:00:01 UTC 1970 till "
                                "Thu Jan 01 00:00:02 UTC 1970\nSampler account.\npolls: 5\n";
    struct memory_output output = { 0 };

    assert_int_equal(export_to(&output, make_small(*state), SMP_FORMAT_TEXT,
                               &(struct smp_export_style){ .percent = true }),
                     SMP_OK);
    assert_int_equal(strncmp(output.bytes, title, strlen(title)), 0);
    assert_non_null(strstr(output.bytes, " Cumulative time(ms): 4, Method time(ms): 0, "
                                         "Percent: 100.0\n"));
    assert_non_null(strstr(output.bytes, " Cumulative time(ms): 3, Method time(ms): 3, "
                                         "Percent: 75.0\n"));
    assert_non_null(strstr(output.bytes, "\n\nAggregated thread: cold. "));
    assert_non_null(strstr(output.bytes, "\n\nAggregated thread: hot. "));
    assert_string_equal(output.bytes + output.length - 2, "\n\n");
    free(output.bytes);
}

/* --- pprof, read back --- */

enum { MAX_STRINGS = 64, MAX_LOCATIONS = 32 };

struct decoded {
    struct slice strings[MAX_STRINGS];
    size_t string_count;
    uint64_t function_of[MAX_LOCATIONS]; /* indexed by location id */
    uint64_t line_of[MAX_LOCATIONS];
    uint64_t name_of[MAX_LOCATIONS]; /* indexed by function id: a string */
    uint64_t system_name_of[MAX_LOCATIONS];
    uint64_t file_of[MAX_LOCATIONS];
    uint64_t start_of[MAX_LOCATIONS];
    uint64_t types[8];
    size_t type_count;
    uint64_t numbers[16]; /* indexed by field number */
    struct slice samples[16];
    size_t sample_count;
};

static void read_location(struct decoded *decoded, struct slice in)
{
    uint64_t id = 0;

    while (in.at < in.end) {
        uint64_t value;
        struct slice bytes = { 0 };
        const unsigned field = read_field(&in, &value, &bytes);
        if (field == 1)
            id = value;
        else if (field == 2)
            assert_int_equal(value, 1);
        while (field == 4 && bytes.at < bytes.end) {
            const unsigned member = read_field(&bytes, &value, &(struct slice){ 0 });
            *(member == 1 ? &decoded->function_of[id] : &decoded->line_of[id]) = value;
        }
    }
}

static void read_function(struct decoded *decoded, struct slice in)
{
    uint64_t values[6] = { 0 };

    while (in.at < in.end) {
        uint64_t value;
        const unsigned field = read_field(&in, &value, &(struct slice){ 0 });
        assert_in_range(field, 1, 5);
        values[field] = value;
    }
    decoded->name_of[values[1]] = values[2];
    decoded->system_name_of[values[1]] = values[3];
    decoded->file_of[values[1]] = values[4];
    decoded->start_of[values[1]] = values[5];
}

static void read_profile(struct decoded *decoded, struct slice in)
{
    while (in.at < in.end) {
        uint64_t value;
        struct slice bytes = { 0 };
        const unsigned field = read_field(&in, &value, &bytes);
        assert_in_range(field, 1, 14);
        if (field == 1)
            (void)read_field(&bytes, &decoded->types[decoded->type_count++], &(struct slice){ 0 });
        else if (field == 2)
            decoded->samples[decoded->sample_count++] = bytes;
        else if (field == 4)
            read_location(decoded, bytes);
        else if (field == 5)
            read_function(decoded, bytes);
        else if (field == 6)
            decoded->strings[decoded->string_count++] = bytes;
        else
            decoded->numbers[field] = value;
    }
}

static void put_string(const struct decoded *decoded, uint64_t number, char *out, size_t size)
{
    const size_t length = strlen(out);

    assert_true(number < decoded->string_count);
    (void)snprintf(out + length, size - length, "%.*s",
                   (int)(decoded->strings[number].end - decoded->strings[number].at),
                   (const char *)decoded->strings[number].at);
}

/* "leaf file:line < root file:line < samples cpu wall key=value" */
static void print_sample(const struct decoded *decoded, struct slice in, char *out, size_t size)
{
    out[0] = '\0';
    while (in.at < in.end) {
        uint64_t value;
        struct slice bytes = { 0 };
        const unsigned field = read_field(&in, &value, &bytes);
        if (field == 3) {
            (void)read_field(&bytes, &value, &(struct slice){ 0 });
            put_string(decoded, value, out, size);
            (void)read_field(&bytes, &value, &(struct slice){ 0 });
            (void)snprintf(out + strlen(out), size - strlen(out), "=");
            put_string(decoded, value, out, size);
            continue;
        }
        while (bytes.at < bytes.end) {
            value = read_varint(&bytes);
            if (field == 1) {
                put_string(decoded, decoded->name_of[decoded->function_of[value]], out, size);
                (void)snprintf(out + strlen(out), size - strlen(out), " ");
                put_string(decoded, decoded->file_of[decoded->function_of[value]], out, size);
                (void)snprintf(out + strlen(out), size - strlen(out), ":%" PRIu64 " < ",
                               decoded->line_of[value]);
            } else {
                (void)snprintf(out + strlen(out), size - strlen(out), "%" PRIu64 " ", value);
            }
        }
    }
}

static void assert_sample(const struct decoded *decoded, size_t number, const char *expected)
{
    char text[512];

    assert_true(number < decoded->sample_count);
    print_sample(decoded, decoded->samples[number], text, sizeof(text));
    assert_string_equal(text, expected);
}

static void pprof_can_be_read_back(void **state)
{
    const struct smp_profile *profile = make_small(*state);
    struct decoded decoded = { 0 };
    struct memory_output output = { 0 };
    char text[64] = "";

    assert_int_equal(export_to(&output, profile, SMP_FORMAT_PPROF,
                               &(struct smp_export_style){ .period_ns = 50 * MS }),
                     SMP_OK);
    read_profile(&decoded, protobuf_slice(output.bytes, output.length));
    assert_int_equal(decoded.sample_count, 4);
    assert_sample(&decoded, 0, "a.A.run a/A.java:1 < 1 0 0 thread=hot");
    assert_sample(&decoded, 1,
                  "a.B.work a/B.java:7 < a.A.run a/A.java:1 < 3 1000000 3000200 thread=hot");
    assert_sample(&decoded, 2, "[thread ended] :0 < a.A.run a/A.java:1 < 1 0 1000900 thread=hot");
    assert_sample(&decoded, 3, "c.C.nat :0 < 1 0 500 thread=cold");
    assert_int_equal(decoded.strings[0].end - decoded.strings[0].at, 0);
    assert_int_equal(decoded.numbers[9], 1000 * MS);
    assert_int_equal(decoded.numbers[10], 1000 * MS);
    assert_int_equal(decoded.numbers[12], 50 * MS);
    put_string(&decoded, decoded.numbers[14], text, sizeof(text));
    assert_string_equal(text, "wall");
    /* A reader that knows no default shows the last one. */
    assert_int_equal(decoded.type_count, 3);
    assert_int_equal(decoded.types[2], decoded.numbers[14]);
    free(output.bytes);
}

struct expected_function {
    const char *name;
    const char *system_name;
    const char *file;
    uint64_t start_line;
};

static void assert_functions(const struct decoded *decoded,
                             const struct expected_function *expected, size_t count)
{
    for (size_t id = 1; id <= count; id++) {
        char texts[3][128] = { "" };
        put_string(decoded, decoded->name_of[id], texts[0], sizeof(texts[0]));
        put_string(decoded, decoded->system_name_of[id], texts[1], sizeof(texts[1]));
        put_string(decoded, decoded->file_of[id], texts[2], sizeof(texts[2]));
        assert_string_equal(texts[0], expected[id - 1].name);
        assert_string_equal(texts[1], expected[id - 1].system_name);
        assert_string_equal(texts[2], expected[id - 1].file);
        assert_int_equal(decoded->start_of[id], expected[id - 1].start_line);
    }
    assert_int_equal(decoded->name_of[count + 1], 0);
}

/* One file name in two packages and without a package; overloads, of which the later one has the
 * smaller first line; a file with folders; no file. */
static void pprof_has_file_names_and_first_lines(void **state)
{
    static const struct expected_function expected[] = {
        { "com.acme.Foo$1.run", "com/acme/Foo$1.run", "com/acme/Foo.java", 7 },
        { "com.acme.Foo.go", "com/acme/Foo.go", "com/acme/Foo.java", 9 },
        { "org.x.Foo.<init>", "org/x/Foo.<init>", "org/x/Foo.java", 4 },
        { "Foo.main", "Foo.main", "Foo.java", 1 },
        { "a.b.c$d.invoke", "a/b/c$d.invoke", "a/b/c.clj", 3 },
        { "p.Q\\n.nat", "p/Q\\n.nat", "", 0 },
        { "[thread ended]", "[thread ended]", "", 0 },
    };
    struct decoded decoded = { 0 };
    struct memory_output output = { 0 };

    report_fixture_credit(*state, "g", "g",
                          "com.acme.Foo$1.run(Foo.java:7)|com.acme.Foo.go(Foo.java:12)|"
                          "org.x.Foo.<init>(Foo.java:4)|Foo.main(Foo.java:1)|"
                          "com.acme.Foo.go(Foo.java:9)|a.b.c$d.invoke(a/b/c.clj:3)|"
                          "p.Q\n.nat(Native Method)|[thread ended]",
                          1 * MS);
    assert_int_equal(export_to(&output, report_fixture_finish(*state), SMP_FORMAT_PPROF,
                               &(struct smp_export_style){ 0 }),
                     SMP_OK);
    read_profile(&decoded, protobuf_slice(output.bytes, output.length));
    assert_functions(&decoded, expected, sizeof(expected) / sizeof(expected[0]));
    free(output.bytes);
}

static void json_names_missed_packages(void **state)
{
    struct memory_output output = { 0 };

    report_fixture_monitor(*state, "com.foo,com.bar");
    report_fixture_credit(*state, "g", "g", "a.R.r(R.java:1)", 2 * MS);
    assert_int_equal(export_to(&output, report_fixture_finish(*state), SMP_FORMAT_JSON,
                               &(struct smp_export_style){ 0 }),
                     SMP_OK);
    assert_non_null(
        strstr(output.bytes, "\"counters\":{},\"missedPackages\":\"com.foo, com.bar\"},\n"));
    free(output.bytes);
}

static void pprof_by_the_cpu_clock_has_no_wall_time(void **state)
{
    struct smp_profile profile = *make_small(*state);
    struct decoded decoded = { 0 };
    struct memory_output output = { 0 };
    char text[64] = "";

    profile.is_cpu_clock = true;
    assert_int_equal(
        export_to(&output, &profile, SMP_FORMAT_PPROF, &(struct smp_export_style){ 0 }), SMP_OK);
    read_profile(&decoded, protobuf_slice(output.bytes, output.length));
    assert_int_equal(decoded.sample_count, 4);
    assert_sample(&decoded, 1, "a.B.work a/B.java:7 < a.A.run a/A.java:1 < 3 1000000 thread=hot");
    put_string(&decoded, decoded.numbers[14], text, sizeof(text));
    assert_string_equal(text, "cpu");
    free(output.bytes);
}

static void pprof_of_one_measure_has_only_that_measure(void **state)
{
    const struct smp_profile *profile = make_small(*state);
    struct decoded decoded = { 0 };
    struct memory_output output = { 0 };
    char text[64] = "";

    assert_int_equal(
        export_to(&output, profile, SMP_FORMAT_PPROF,
                  &(struct smp_export_style){ .measure = SMP_MEASURE_CPU, .measure_alone = true }),
        SMP_OK);
    read_profile(&decoded, protobuf_slice(output.bytes, output.length));
    assert_int_equal(decoded.sample_count, 1); /* the other stacks have no CPU time */
    assert_sample(&decoded, 0, "a.B.work a/B.java:7 < a.A.run a/A.java:1 < 1000000 thread=hot");
    put_string(&decoded, decoded.numbers[14], text, sizeof(text));
    assert_string_equal(text, "cpu");
    free(output.bytes);
}

/* --- all formats --- */

static void a_report_by_the_cpu_clock_says_so(void **state)
{
    struct smp_profile *profile = report_fixture_finish(*state);

    profile->is_cpu_clock = true;
    assert_exported(profile, SMP_FORMAT_SPEEDSCOPE, (struct smp_export_style){ 0 },
                    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                    "\"exporter\":\"threads-sampler\",\"name\":\"CPU time\","
                    "\"activeProfileIndex\":0,\"shared\":{\"frames\":[]},\n\"profiles\":[]}\n");
    assert_exported(
        profile, SMP_FORMAT_JSON, (struct smp_export_style){ 0 },
        "{\"format\":\"threads-sampler/1\",\"fromMillis\":1000,\"tillMillis\":2000,"
        "\"zone\":\"UTC\",\"zoneOffsetSeconds\":0,"
        "\"elapsedNanos\":1000000000,\"clock\":\"CPU\",\"ownCpuNanos\":0,"
        "\"memoryUsedBytes\":0,\"memoryLimitBytes\":0,\"account\":{\"polls\":0,"
        "\"samples\":0,\"outcomes\":{},\"counters\":{}},\n\"frames\":[],\n\"groups\":[]}\n");
}

static void an_empty_profile_is_a_valid_document(void **state)
{
    const struct smp_profile *profile = report_fixture_finish(*state);

    assert_exported(profile, SMP_FORMAT_TEXT, (struct smp_export_style){ 0 }, "");
    assert_exported(profile, SMP_FORMAT_COLLAPSED, (struct smp_export_style){ 0 }, "");
    assert_exported(profile, SMP_FORMAT_JSON, (struct smp_export_style){ 0 },
                    "{\"format\":\"threads-sampler/1\",\"fromMillis\":1000,\"tillMillis\":2000,"
                    "\"zone\":\"UTC\",\"zoneOffsetSeconds\":0,"
                    "\"elapsedNanos\":1000000000,\"ownCpuNanos\":0,\"memoryUsedBytes\":0,"
                    "\"memoryLimitBytes\":0,\"account\":{\"polls\":0,\"samples\":0,\"outcomes\":{},"
                    "\"counters\":{}},\n\"frames\":[],\n\"groups\":[]}\n");
    for (int format = 0; format < SMP_FORMAT_COUNT; format++) {
        struct memory_output output = { 0 };
        assert_int_equal(
            export_to(&output, profile, (enum smp_format)format, &(struct smp_export_style){ 0 }),
            SMP_OK);
        free(output.bytes);
    }
}

static void unknown_formats_and_measures_are_refused(void **state)
{
    const struct smp_profile *profile = make_small(*state);
    const struct smp_export_style style = { 0 };
    const struct smp_export_style odd = { .measure = SMP_MEASURE_COUNT };
    struct memory_output output = { 0 };

    assert_int_equal(export_to(&output, profile, SMP_FORMAT_COUNT, &style), SMP_EINVAL);
    assert_int_equal(export_to(&output, profile, (enum smp_format) - 1, &style), SMP_EINVAL);
    assert_int_equal(export_to(&output, profile, SMP_FORMAT_COLLAPSED, &odd), SMP_EINVAL);
    assert_int_equal(output.calls, 0);
}

static void an_output_that_fails_is_not_called_again(void **state)
{
    const struct smp_profile *profile = make_large(*state);
    const struct smp_export_style style = { .measure = SMP_MEASURE_SAMPLES };

    for (int format = 0; format < SMP_FORMAT_COUNT; format++) {
        struct memory_output whole = { 0 };
        assert_int_equal(export_to(&whole, profile, (enum smp_format)format, &style), SMP_OK);
        assert_true(whole.calls > 1 || format == SMP_FORMAT_TOP || format == SMP_FORMAT_CALLS);
        for (size_t fail_at = 1; fail_at <= whole.calls; fail_at++) {
            struct memory_output output = { .fail_at = fail_at };
            assert_int_equal(export_to(&output, profile, (enum smp_format)format, &style), SMP_EIO);
            assert_int_equal(output.calls, fail_at);
            assert_memory_equal(output.bytes == NULL ? "" : output.bytes, whole.bytes,
                                output.length);
            free(output.bytes);
        }
        free(whole.bytes);
    }
}

struct attempt {
    const struct smp_profile *profile;
    enum smp_format format;
    struct memory_output expected;
};

static enum smp_status export_again(void *self)
{
    struct attempt *attempt = self;
    struct memory_output output = { 0 };
    const enum smp_status status =
        export_to(&output, attempt->profile, attempt->format, &(struct smp_export_style){ 0 });

    /* Only a text report may be cut for lack of memory. */
    if (status == SMP_OK && attempt->format != SMP_FORMAT_TEXT) {
        assert_int_equal(output.length, attempt->expected.length);
        assert_memory_equal(output.bytes, attempt->expected.bytes, output.length);
    }
    free(output.bytes);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct attempt attempt = { .profile = make_large(*state) };

    for (int format = 0; format < SMP_FORMAT_COUNT; format++) {
        attempt.format = (enum smp_format)format;
        attempt.expected = (struct memory_output){ 0 };
        assert_int_equal(export_to(&attempt.expected, attempt.profile, attempt.format,
                                   &(struct smp_export_style){ 0 }),
                         SMP_OK);
        /* Without calls, CALLS is one line; test_calls has larger ones. */
        assert_true(failing_alloc_each_step(export_again, &attempt).refused >=
                    (format == SMP_FORMAT_CALLS ? 2 : 5));
        free(attempt.expected.bytes);
    }
}

/* Each node has a sample, and so a stack of its own: some formats take quadratic time in the
 * depth. */
static void very_deep_stacks_are_written(void **state)
{
    enum { DEPTH = 5000 };
    uint32_t node = 0;

    for (int i = 0; i < DEPTH; i++)
        node = report_fixture_add(*state, "deep", node, "d.D.d(D.java:1)", i + 1 == DEPTH ? MS : 0);
    report_fixture_note(*state, "deep", SMP_OUTCOME_WALKED);
    for (int format = 0; format < SMP_FORMAT_COUNT; format++) {
        struct memory_output output = { 0 };
        assert_int_equal(export_to(&output, report_fixture_finish(*state), (enum smp_format)format,
                                   &(struct smp_export_style){ 0 }),
                         SMP_OK);
        if (format == SMP_FORMAT_COLLAPSED)
            assert_int_equal(output.length, 4 + DEPTH * 16 + 9);
        free(output.bytes);
    }
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(collapsed_has_a_line_per_stack),
        TEST(collapsed_escapes_separators_in_names),
        TEST(collapsed_has_separate_lines_for_frames_of_equal_text),
        TEST(collapsed_marks_java_frames_for_colouring),
        TEST(speedscope_has_a_profile_per_group),
        TEST(json_has_everything),
        TEST(json_has_the_zone_of_the_text_report),
        TEST(json_has_the_states_of_each_second),
        TEST(json_escapes_markup_in_names),
        TEST(the_text_format_is_the_report_of_a_print_stream),
        TEST(pprof_can_be_read_back),
        TEST(pprof_has_file_names_and_first_lines),
        TEST(json_names_missed_packages),
        TEST(pprof_by_the_cpu_clock_has_no_wall_time),
        TEST(pprof_of_one_measure_has_only_that_measure),
        TEST(a_report_by_the_cpu_clock_says_so),
        TEST(an_empty_profile_is_a_valid_document),
        TEST(unknown_formats_and_measures_are_refused),
        TEST(an_output_that_fails_is_not_called_again),
        TEST(each_allocation_may_be_refused),
        TEST(very_deep_stacks_are_written),
    };
#undef TEST
    if (setenv("TZ", "UTC", 1) != 0)
        return 1;
    return cmocka_run_group_tests_name("exporters", tests, NULL, NULL);
}
