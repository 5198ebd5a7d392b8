/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "model/options.h"
#include "support/failing_alloc.h"

static struct smp_options parsed(const char *text)
{
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES];
    const enum smp_status status = smp_options_parse(NULL, text, strlen(text), &options, message);

    if (status != SMP_OK)
        fail_msg("%s: %s", smp_status_name(status), message);
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
    assert_int_equal(options.report_order, SMP_ORDER_BY_NAME);
    assert_int_equal(options.engine, SMP_ENGINE_AUTO);
    assert_int_equal(options.clock, SMP_CLOCK_WALL);
    assert_string_equal(options.monitored_packages, "");
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
                                        "reportOrder=BY_TIME\n"
                                        "engine=JVMTI\n"
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
    assert_int_equal(options.report_order, SMP_ORDER_BY_TIME);
    assert_int_equal(options.engine, SMP_ENGINE_JVMTI);
    assert_string_equal(options.monitored_packages, "com.acme, a=b,\xc3\xb6");
    smp_options_fini(&options);
}

/* Users read these texts as the message of an IllegalArgumentException. */
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
        { "reportCpuTime=1", "reportCpuTime must be true or false, got 1" },
        { "memoryLimitBytes=1",
          "memoryLimitBytes must be between 4194304 and 1099511627776, got 1" },
        { "maxDepthFrames=9223372036854775807",
          "maxDepthFrames must be between 16 and 65536, got 9223372036854775807" },
        { "maxDepthFrames=9223372036854775808",
          "maxDepthFrames must be between 16 and 65536, got 9223372036854775808" },
        { "maxDepthFrames=-9223372036854775809",
          "maxDepthFrames must be between 16 and 65536, got -9223372036854775809" },
        /* 2^64 + 50 must not come round to 50. */
        { "samplingFrequencyMillis=18446744073709551666",
          "samplingFrequencyMillis must be between 1 and 3600000, got 18446744073709551666" },
        { "maxDepthFrames=", "maxDepthFrames must be between 16 and 65536, got " },
        { "maxDepthFrames=-", "maxDepthFrames must be between 16 and 65536, got -" },
        { "maxDepthFrames=+20", "maxDepthFrames must be between 16 and 65536, got +20" },
        { "maxDepthFrames= 20", "maxDepthFrames must be between 16 and 65536, got  20" },
        { "maxDepthFrames=20x", "maxDepthFrames must be between 16 and 65536, got 20x" },
        { "maxDepthFrames=0x20", "maxDepthFrames must be between 16 and 65536, got 0x20" },
        { "active=yes", "active must be true or false, got yes" },
        { "active=True", "active must be true or false, got True" },
        { "reportOrder=BY_SIZE", "reportOrder must be BY_NAME or BY_TIME, got BY_SIZE" },
        { "engine=FAST", "engine must be AUTO or JVMTI, got FAST" },
        { "clock=REAL", "clock must be WALL or CPU, got REAL" },
        { "clock=CPU\nengine=JVMTI", "clock CPU needs engine AUTO, got JVMTI" },
        { "x=1", "unknown option 'x'" },
        { "=1", "unknown option ''" },
        { "Active=true", "unknown option 'Active'" },
        { "activ=true", "unknown option 'activ'" },
        { "active", "option without '=': 'active'" },
        { "active=true\nactive=true", "option 'active' is given twice" },
        { "monitoredPackages=a\nmonitoredPackages=b", "option 'monitoredPackages' is given twice" },
        { "active=true\r", "active must be true or false, got true?" },
        { "a\tb\x7f=1", "unknown option 'a?b?'" },
        { "active=aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff\xc3\xb6xxxx",
          "active must be true or false, got "
          "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff..." },
    };
    char message[SMP_OPTIONS_MESSAGE_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct smp_options options = { .max_depth_frames = 77 };

        assert_int_equal(
            smp_options_parse(NULL, cases[i].text, strlen(cases[i].text), &options, message),
            SMP_EINVAL);
        assert_string_equal(message, cases[i].message);
        assert_int_equal(options.max_depth_frames, 77);
        assert_null(options.monitored_packages);
        assert_int_equal(
            smp_options_parse(NULL, cases[i].text, strlen(cases[i].text), &options, NULL),
            SMP_EINVAL);
    }
}

static void test_a_nul_is_refused(void **state)
{
    static const char text[] = "monitoredPackages=a\0b";
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES];

    (void)state;
    assert_int_equal(smp_options_parse(NULL, text, sizeof(text) - 1, &options, message),
                     SMP_EINVAL);
    assert_string_equal(message, "options must not contain a NUL character");
}

static void test_lengths(void **state)
{
    static const char name[] = "monitoredPackages=";
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES];
    char *text = malloc(SMP_OPTIONS_MAX_BYTES + 1);

    (void)state;
    assert_non_null(text);
    memset(text, ',', SMP_OPTIONS_MAX_BYTES + 1);
    memcpy(text, name, sizeof(name) - 1);
    assert_int_equal(smp_options_parse(NULL, text, SMP_OPTIONS_MAX_BYTES, &options, message),
                     SMP_OK);
    smp_options_fini(&options);
    assert_int_equal(smp_options_parse(NULL, text, SMP_OPTIONS_MAX_BYTES + 1, &options, message),
                     SMP_EINVAL);
    assert_string_equal(message, "options must be at most 1048576 bytes, got 1048577");
    memset(text + sizeof(name) - 1, 'a', SMP_MAX_PREFIX_BYTES + 1);
    assert_int_equal(smp_options_parse(NULL, text, SMP_OPTIONS_MAX_BYTES, &options, message),
                     SMP_EINVAL);
    assert_string_equal(message, "monitoredPackages must be at most 1000 prefixes of at most 1000 "
                                 "bytes each");
    free(text);
}

static void test_the_longest_name_is_quoted_within_the_message(void **state)
{
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES];
    char text[2000];

    (void)state;
    memset(text, 'n', sizeof(text));
    assert_int_equal(smp_options_parse(NULL, text, sizeof(text), &options, message), SMP_EINVAL);
    assert_true(strlen(message) < 100);
    assert_string_equal(message + strlen(message) - 4, "...'");
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

    (void)state;
    assert_null(smp_options_fixed_difference(&running, &same));
    assert_string_equal(smp_options_fixed_difference(&running, &memory), "memoryLimitBytes");
    assert_string_equal(smp_options_fixed_difference(&running, &depth), "maxDepthFrames");
    assert_string_equal(smp_options_fixed_difference(&running, &engine), "engine");
    assert_int_equal(cpu_clock.clock, SMP_CLOCK_CPU);
    assert_string_equal(smp_options_fixed_difference(&running, &cpu_clock), "clock");
    smp_options_fini(&cpu_clock);
    smp_options_fini(&running);
    smp_options_fini(&same);
    smp_options_fini(&memory);
    smp_options_fini(&depth);
    smp_options_fini(&engine);
}

static enum smp_status parse_and_fini(void *self)
{
    static const char text[] = "monitoredPackages=com.acme,org.x\nactive=false";
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES] = "old";
    const enum smp_status status =
        smp_options_parse(self, text, sizeof(text) - 1, &options, message);

    assert_string_equal(message, "");
    assert_true((status == SMP_OK) == (options.monitored_packages != NULL));
    smp_options_fini(&options);
    return status;
}

static void test_no_memory_at_any_step(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 1 << 20);
    assert_int_equal(failing_alloc_each_step(parse_and_fini, &quota).refused, 4);
    assert_int_equal(smp_quota_used(&quota), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_option_can_be_given),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_a_nul_is_refused),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_the_longest_name_is_quoted_within_the_message),
        cmocka_unit_test(test_fixed_options),
        cmocka_unit_test(test_no_memory_at_any_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
