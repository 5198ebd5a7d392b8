/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of options. What is accepted lies in its ranges, and written down again it is read as
 * the same; what is refused leaves one readable line and the target untouched.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_ranges(const struct smp_options *options)
{
#define X(field, name, standard, min, max, fixed) \
    check(options->field >= (min) && options->field <= (max));
    SMP_OPTION_NUMBERS(X)
#undef X
    check(options->report_order == SMP_ORDER_BY_NAME || options->report_order == SMP_ORDER_BY_TIME);
    check(strchr(options->monitored_packages, '\n') == NULL);
}

static void check_same(const struct smp_options *one, const struct smp_options *other)
{
#define X(field, name, standard, min, max, fixed) check(one->field == other->field);
    SMP_OPTION_NUMBERS(X)
#undef X
#define X(field, name, standard, fixed) check(one->field == other->field);
    SMP_OPTION_FLAGS(X)
#undef X
    check(one->report_order == other->report_order);
    check(one->engine == other->engine);
    check(one->clock == other->clock);
    check(strcmp(one->monitored_packages, other->monitored_packages) == 0);
    check(smp_options_fixed_difference(one, other) == NULL);
}

static void check_round_trip(const struct smp_options *options)
{
    struct smp_options again = { 0 };
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    check(out != NULL);
#define X(field, name, standard, min, max, fixed) \
    (void)fprintf(out, "%s=%lld\n", (name), (long long)options->field);
    SMP_OPTION_NUMBERS(X)
#undef X
#define X(field, name, standard, fixed) \
    (void)fprintf(out, "%s=%s\n", (name), options->field ? "true" : "false");
    SMP_OPTION_FLAGS(X)
#undef X
    (void)fprintf(out, "engine=%s\n", options->engine == SMP_ENGINE_JVMTI ? "JVMTI" : "AUTO");
    (void)fprintf(out, "clock=%s\n", options->clock == SMP_CLOCK_CPU ? "CPU" : "WALL");
    (void)fprintf(out, "reportOrder=%s\nmonitoredPackages=%s",
                  options->report_order == SMP_ORDER_BY_TIME ? "BY_TIME" : "BY_NAME",
                  options->monitored_packages);
    (void)fclose(out);
    check(smp_options_parse(NULL, text, length, &again, NULL) == SMP_OK);
    check_same(options, &again);
    smp_options_fini(&again);
    free(text);
}

static void check_refusal(const struct smp_options *options, const char *message)
{
    check(options->monitored_packages == NULL && options->max_depth_frames == 0);
    check(message[0] != '\0' && strnlen(message, SMP_OPTIONS_MESSAGE_BYTES) < 200);
    for (const char *c = message; *c != '\0'; c++)
        check((unsigned char)*c >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES];
    const enum smp_status status =
        smp_options_parse(NULL, (const char *)data, size, &options, message);

    if (status == SMP_OK) {
        check_ranges(&options);
        check_round_trip(&options);
        check(message[0] == '\0');
    } else {
        check(status == SMP_EINVAL);
        check_refusal(&options, message);
    }
    smp_options_fini(&options);
    check(smp_alloc_live_bytes() == 0);
    return 0;
}
