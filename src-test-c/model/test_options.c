/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "model/options.h"
#include "support/failing_alloc.h"
#include "support/option_text.h"

static struct smp_options parsed(const char *text)
{
    struct smp_options options = { 0 };

    option_text_read(NULL, text, &options);
    return options;
}

static void test_defaults(void **state)
{
    struct smp_options options = parsed("");

    (void)state;
    assert_int_equal(options.sampling_frequency_millis, 50);
    assert_int_equal(options.report_frequency_seconds, 900);
    assert_int_equal(options.memory_limit_bytes, 64 * 1024 * 1024);
    assert_int_equal(options.max_depth_frames, 1024);
    assert_true(options.active);
    assert_false(options.skip_daemon_threads);
    assert_false(options.report_zero_time_packages);
    assert_true(options.default_name_rule);
    assert_int_equal(options.idle_lookback_millis, 1000);
    assert_int_equal(options.overhead_limit_per_mille, 10);
    assert_int_equal(options.sampling_signal, 38);
    assert_false(options.report_cpu_time);
    assert_true(options.report_jvm_threads);
    assert_false(options.sample_unmounted_virtual_threads);
    assert_int_equal(options.report_order, SMP_ORDER_BY_NAME);
    assert_int_equal(options.engine, SMP_ENGINE_AUTO);
    assert_int_equal(options.clock, SMP_CLOCK_WALL);
    assert_string_equal(options.monitored_packages, "");
    assert_string_equal(options.root_methods, "");
    assert_string_equal(options.instrumentation_filter, "");
    assert_int_equal(options.instrumentation, SMP_INSTRUMENTATION_AUTO);
    assert_int_equal(options.method_timing, SMP_METHOD_TIMING_SAMPLED);
    assert_true(options.error_bars);
    assert_false(options.discard_warm_up);
    assert_int_equal(options.max_counted_methods, 32768);
    assert_int_equal(options.max_call_nodes, 100000);
    assert_int_equal(options.max_call_depth, 1000);
    assert_int_equal(options.max_groups, 500);
    assert_int_equal(options.report_min_per_mille, 5);
    assert_int_equal(options.report_account, SMP_ACCOUNT_SHORT);
    assert_false(smp_options_count_calls(&options));
    smp_options_fini(&options);
    assert_null(options.monitored_packages);
}

static void test_every_option_can_be_given(void **state)
{
    struct smp_options options = parsed("samplingFrequencyMillis=1\n"
                                        "reportFrequencySeconds=0\n"
                                        "memoryLimitBytes=1099511627776\n"
                                        "maxDepthFrames=65536\n"
                                        "active=false\n"
                                        "skipDaemonThreads=true\n"
                                        "\n"
                                        "reportZeroTimePackages=true\n"
                                        "defaultThreadNameRule=false\n"
                                        "idleLookbackMillis=60000\n"
                                        "overheadLimitPerMille=1000\n"
                                        "samplingSignal=64\n"
                                        "reportCpuTime=true\n"
                                        "reportJvmThreads=false\n"
                                        "sampleUnmountedVirtualThreads=true\n"
                                        "reportOrder=BY_TIME\n"
                                        "reportMinPerMille=0\n"
                                        "reportAccount=FULL\n"
                                        "engine=JVMTI\n"
                                        "rootMethods=com.acme.A.run\n"
                                        "instrumentationFilter=-com.acme\n"
                                        "instrumentation=TOTAL\n"
                                        "methodTiming=NONE\n"
                                        "discardWarmUp=true\n"
                                        "errorBars=false\n"
                                        "maxCountedMethods=1048576\n"
                                        "maxCallNodes=64\n"
                                        "maxCallDepth=1\n"
                                        "monitoredPackages=com.acme, a=b,\xc3\xb6");

    (void)state;
    assert_int_equal(options.sampling_frequency_millis, 1);
    assert_int_equal(options.report_frequency_seconds, 0);
    assert_int_equal(options.memory_limit_bytes, 1099511627776);
    assert_int_equal(options.max_depth_frames, 65536);
    assert_false(options.active);
    assert_true(options.skip_daemon_threads);
    assert_true(options.report_zero_time_packages);
    assert_false(options.default_name_rule);
    assert_int_equal(options.idle_lookback_millis, 60000);
    assert_int_equal(options.overhead_limit_per_mille, 1000);
    assert_int_equal(options.sampling_signal, 64);
    assert_true(options.report_cpu_time);
    assert_false(options.report_jvm_threads);
    assert_true(options.sample_unmounted_virtual_threads);
    assert_int_equal(options.report_order, SMP_ORDER_BY_TIME);
    assert_int_equal(options.report_min_per_mille, 0);
    assert_int_equal(options.report_account, SMP_ACCOUNT_FULL);
    assert_int_equal(options.engine, SMP_ENGINE_JVMTI);
    assert_string_equal(options.monitored_packages, "com.acme, a=b,\xc3\xb6");
    assert_string_equal(options.root_methods, "com.acme.A.run");
    assert_string_equal(smp_options_text(&options, 1), "com.acme.A.run");
    assert_string_equal(options.instrumentation_filter, "-com.acme");
    assert_int_equal(options.instrumentation, SMP_INSTRUMENTATION_TOTAL);
    assert_int_equal(options.method_timing, SMP_METHOD_TIMING_NONE);
    assert_false(options.error_bars);
    assert_true(options.discard_warm_up);
    assert_int_equal(options.max_counted_methods, 1048576);
    assert_int_equal(options.max_call_nodes, 64);
    assert_int_equal(options.max_call_depth, 1);
    assert_true(smp_options_count_calls(&options));
    smp_options_fini(&options);
}

/* Users see these texts as messages of an IllegalArgumentException. */
static void test_messages(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "samplingFrequencyMillis=0",
          "samplingFrequencyMillis must be between 1 and 3600000, got 0" },
        { "samplingFrequencyMillis=3600001",
          "samplingFrequencyMillis must be between 1 and 3600000, got 3600001" },
        { "reportFrequencySeconds=-1",
          "reportFrequencySeconds must be between 0 and 31536000, got -1" },
        { "idleLookbackMillis=0", "idleLookbackMillis must be between 1 and 60000, got 0" },
        { "overheadLimitPerMille=0", "overheadLimitPerMille must be between 1 and 1000, got 0" },
        { "overheadLimitPerMille=1001",
          "overheadLimitPerMille must be between 1 and 1000, got 1001" },
        { "samplingSignal=33", "samplingSignal must be between 34 and 64, got 33" },
        { "memoryLimitBytes=1",
          "memoryLimitBytes must be between 4194304 and 1099511627776, got 1" },
        { "maxDepthFrames=9223372036854775807",
          "maxDepthFrames must be between 16 and 65536, got 9223372036854775807" },
        { "maxDepthFrames=-9223372036854775808",
          "maxDepthFrames must be between 16 and 65536, got -9223372036854775808" },
        { "reportCpuTime=2", "reportCpuTime must be true or false, got 2" },
        { "active=-1", "active must be true or false, got -1" },
        { "reportOrder=2", "reportOrder must be BY_NAME or BY_TIME, got 2" },
        { "reportAccount=2", "reportAccount must be SHORT or FULL, got 2" },
        { "reportMinPerMille=1001", "reportMinPerMille must be between 0 and 1000, got 1001" },
        { "engine=-1", "engine must be AUTO or JVMTI, got -1" },
        { "clock=2", "clock must be WALL or CPU, got 2" },
        { "instrumentation=4", "instrumentation must be AUTO, LAZY, EAGER or TOTAL, got 4" },
        { "methodTiming=-1", "methodTiming must be SAMPLED, EXACT or NONE, got -1" },
        { "maxCallDepth=0", "maxCallDepth must be between 1 and 1000000, got 0" },
        { "clock=CPU\nengine=JVMTI", "clock CPU needs engine AUTO, got JVMTI" },
        { "clock=CPU\nmethodTiming=EXACT\nrootMethods=a.B.c",
          "clock CPU needs methodTiming SAMPLED or NONE, got EXACT: to read a thread's CPU clock "
          "at "
          "each call takes longer than most calls" },
        { "clock=CPU\nmethodTiming=EXACT\ninstrumentation=TOTAL",
          "clock CPU needs methodTiming SAMPLED or NONE, got EXACT: to read a thread's CPU clock "
          "at "
          "each call takes longer than most calls" },
    };
    char message[SMP_OPTIONS_MESSAGE_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct smp_options options = { .max_depth_frames = 77 };

        assert_int_equal(option_text_try(NULL, cases[i].text, &options, message), SMP_EINVAL);
        assert_string_equal(message, cases[i].message);
        assert_int_equal(options.max_depth_frames, 77);
        assert_null(options.monitored_packages);
        assert_int_equal(option_text_try(NULL, cases[i].text, &options, NULL), SMP_EINVAL);
    }
}

/* Each row reads and writes its own field only. */
static void test_each_integer_has_its_field(void **state)
{
    int64_t integers[SMP_OPTION_INTEGER_COUNT];
    const struct smp_option_values values = {
        .integers = integers,
        .integer_count = SMP_OPTION_INTEGER_COUNT,
        .texts = (const char *const[SMP_OPTION_TEXT_COUNT]){ "", "", "", "", "", "" },
        .text_count = SMP_OPTION_TEXT_COUNT
    };

    (void)state;
    for (size_t changed = 0; changed < SMP_OPTION_INTEGER_COUNT; changed++) {
        struct smp_options options = { 0 };

        for (size_t i = 0; i < SMP_OPTION_INTEGER_COUNT; i++)
            integers[i] = smp_option_at(i)->standard;
        integers[changed] = smp_option_at(changed)->standard == smp_option_at(changed)->max
                                ? smp_option_at(changed)->min
                                : smp_option_at(changed)->max;
        assert_int_equal(smp_options_read(NULL, &values, &options, NULL), SMP_OK);
        for (size_t i = 0; i < SMP_OPTION_INTEGER_COUNT; i++)
            assert_int_equal(smp_options_integer(&options, i), integers[i]);
        smp_options_fini(&options);
    }
}

static void test_a_table_of_another_size_is_refused(void **state)
{
    const int64_t integers[SMP_OPTION_INTEGER_COUNT + 1] = { 0 };
    struct smp_option_values values = {
        .integers = integers,
        .integer_count = SMP_OPTION_INTEGER_COUNT + 1,
        .texts = (const char *const[SMP_OPTION_TEXT_COUNT]){ "", "", "", "", "", "" },
        .text_count = SMP_OPTION_TEXT_COUNT
    };
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES];
    char expected[SMP_OPTIONS_MESSAGE_BYTES];

    (void)state;
    assert_int_equal(smp_options_read(NULL, &values, &options, message), SMP_EINVAL);
    (void)snprintf(expected, sizeof(expected),
                   "options must be %d integers and 6 texts, got %d and 6",
                   SMP_OPTION_INTEGER_COUNT, SMP_OPTION_INTEGER_COUNT + 1);
    assert_string_equal(message, expected);
    values.integer_count = SMP_OPTION_INTEGER_COUNT;
    values.text_count = 0;
    assert_int_equal(smp_options_read(NULL, &values, &options, message), SMP_EINVAL);
    (void)snprintf(expected, sizeof(expected),
                   "options must be %d integers and 6 texts, got %d and 0",
                   SMP_OPTION_INTEGER_COUNT, SMP_OPTION_INTEGER_COUNT);
    assert_string_equal(message, expected);
}

static void test_lengths(void **state)
{
    static const char name[] = "monitoredPackages=";
    const size_t begin = sizeof(name) - 1;
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES];
    char *text = malloc(begin + SMP_OPTION_TEXT_MAX_BYTES + 2);

    (void)state;
    assert_non_null(text);
    memcpy(text, name, begin);
    memset(text + begin, ',', SMP_OPTION_TEXT_MAX_BYTES + 1);
    text[begin + SMP_OPTION_TEXT_MAX_BYTES + 1] = '\0';
    assert_int_equal(option_text_try(NULL, text, &options, message), SMP_EINVAL);
    assert_string_equal(message, "monitoredPackages must be at most 1048576 bytes, got 1048577");
    text[begin + SMP_OPTION_TEXT_MAX_BYTES] = '\0';
    assert_int_equal(option_text_try(NULL, text, &options, message), SMP_OK);
    smp_options_fini(&options);
    memset(text + begin, 'a', SMP_MAX_PREFIX_BYTES + 1);
    assert_int_equal(option_text_try(NULL, text, &options, message), SMP_EINVAL);
    assert_string_equal(message, "monitoredPackages must be at most 1000 prefixes of at most 1000 "
                                 "bytes each");
    free(text);
}

static void test_fixed_options(void **state)
{
    struct smp_options running = parsed("");
    struct smp_options same = parsed("samplingFrequencyMillis=10\nactive=false\n"
                                     "monitoredPackages=a\nreportOrder=BY_TIME");
    struct smp_options memory = parsed("memoryLimitBytes=8388608\nmaxDepthFrames=16");
    struct smp_options depth = parsed("maxDepthFrames=16");
    struct smp_options engine = parsed("engine=JVMTI");
    struct smp_options cpu_clock = parsed("clock=CPU");
    struct smp_options roots = parsed("rootMethods=a.B.c");

    (void)state;
    assert_null(smp_options_fixed_difference(&running, &same));
    assert_string_equal(smp_options_fixed_difference(&running, &memory), "memoryLimitBytes");
    assert_string_equal(smp_options_fixed_difference(&running, &depth), "maxDepthFrames");
    assert_string_equal(smp_options_fixed_difference(&running, &engine), "engine");
    assert_int_equal(cpu_clock.clock, SMP_CLOCK_CPU);
    assert_string_equal(smp_options_fixed_difference(&running, &cpu_clock), "clock");
    assert_string_equal(smp_options_fixed_difference(&running, &roots), "rootMethods");
    assert_string_equal(smp_options_fixed_difference(&roots, &running), "rootMethods");
    assert_null(smp_options_fixed_difference(&roots, &roots));
    smp_options_fini(&roots);
    smp_options_fini(&cpu_clock);
    smp_options_fini(&running);
    smp_options_fini(&same);
    smp_options_fini(&memory);
    smp_options_fini(&depth);
    smp_options_fini(&engine);
}

static enum smp_status read_copy_and_fini(void *self)
{
    static const char text[] = "monitoredPackages=com.acme,org.x\nactive=false\n"
                               "rootMethods=com.acme.A.run";
    struct smp_options options = { 0 };
    struct smp_options copy = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES] = "old";
    enum smp_status status = option_text_try(self, text, &options, message);

    assert_string_equal(message, "");
    assert_true((status == SMP_OK) == (options.monitored_packages != NULL));
    if (status == SMP_OK)
        status = smp_options_copy(self, &options, &copy);
    if (status == SMP_OK) {
        assert_string_equal(copy.monitored_packages, "com.acme,org.x");
        assert_string_equal(copy.root_methods, "com.acme.A.run");
        assert_false(copy.active);
        smp_options_fini(&copy);
    }
    smp_options_fini(&options);
    return status;
}

static void test_no_memory_at_any_step(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 1 << 20);
    assert_int_equal(failing_alloc_each_step(read_copy_and_fini, &quota).refused, 18);
    assert_int_equal(smp_quota_used(&quota), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_option_can_be_given),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_each_integer_has_its_field),
        cmocka_unit_test(test_a_table_of_another_size_is_refused),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_fixed_options),
        cmocka_unit_test(test_no_memory_at_any_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
