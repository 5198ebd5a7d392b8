/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - a sampler's configuration: parsed from text, checked, immutable.
 *
 * The text is what Java hands over: lines "name=value", names as the setters of ThreadsSampler
 * spell them. Unknown or repeated names, missing '=' and values out of range are refused with a
 * message that names the property, the value and the range. A name that is absent keeps its
 * default.
 *
 * Owns     monitored_packages.
 * Threads  immutable after parse.
 * Errors   SMP_EINVAL with message filled; SMP_ENOMEM, SMP_EQUOTA.
 * Cost     O(length).
 */
#ifndef SMP_MODEL_OPTIONS_H
#define SMP_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

enum smp_report_order { SMP_ORDER_BY_NAME, SMP_ORDER_BY_TIME };
/* AUTO: running threads are walked asynchronously where this JVM lets them. */
enum smp_engine { SMP_ENGINE_AUTO, SMP_ENGINE_JVMTI };
/* CPU: threads are sampled as they use CPU time, and that is the time of a report. */
enum smp_clock { SMP_CLOCK_WALL, SMP_CLOCK_CPU };

/*
 * X(field, "text name", default, min, max, fixed): numbers. fixed: may not change while the sampler
 * runs.
 */
#define SMP_OPTION_NUMBERS(X)                                                         \
    X(sampling_frequency_millis, "samplingFrequencyMillis", 50, 1, 3600000, false)    \
    X(report_frequency_seconds, "reportFrequencySeconds", 900, 0, 31536000, false)    \
    X(memory_limit_bytes, "memoryLimitBytes", 67108864, 4194304, 1099511627776, true) \
    X(max_depth_frames, "maxDepthFrames", 1024, 16, 65536, true)                      \
    X(idle_lookback_millis, "idleLookbackMillis", 1000, 1, 60000, false)              \
    X(overhead_limit_per_mille, "overheadLimitPerMille", 10, 1, 1000, false)          \
    X(sampling_signal, "samplingSignal", 38, 34, 64, true)

/* X(field, "text name", default, fixed): "true" or "false". */
#define SMP_OPTION_FLAGS(X)                                              \
    X(active, "active", true, false)                                     \
    X(skip_daemon_threads, "skipDaemonThreads", false, false)            \
    X(report_zero_time_packages, "reportZeroTimePackages", false, false) \
    X(report_percent, "reportPercent", false, false)                     \
    X(default_name_rule, "defaultThreadNameRule", true, false)           \
    X(report_cpu_time, "reportCpuTime", false, false)                    \
    X(report_jvm_threads, "reportJvmThreads", true, false)

struct smp_options {
#define X(field, name, standard, min, max, fixed) int64_t field;
    SMP_OPTION_NUMBERS(X)
#undef X
#define X(field, name, standard, fixed) bool field;
    SMP_OPTION_FLAGS(X)
#undef X
    enum smp_report_order report_order; /* "reportOrder": BY_NAME or BY_TIME */
    enum smp_engine engine;             /* "engine": AUTO or JVMTI; fixed */
    enum smp_clock clock;               /* "clock": WALL or CPU, which needs AUTO; fixed */
    char *monitored_packages; /* "monitoredPackages": the list as filter.h reads it; never NULL */
    struct smp_quota *quota;
};

enum { SMP_OPTIONS_MESSAGE_BYTES = 256, SMP_OPTIONS_MAX_BYTES = 1024 * 1024 };

/* out is untouched on failure. message may be NULL. */
SMP_CHECKED enum smp_status smp_options_parse(struct smp_quota *quota, const char *text,
                                              size_t length, struct smp_options *out,
                                              char message[SMP_OPTIONS_MESSAGE_BYTES]);
void smp_options_fini(struct smp_options *options);

/* The name of the first fixed option in which the two differ, or NULL. Static storage. */
const char *smp_options_fixed_difference(const struct smp_options *running,
                                         const struct smp_options *wanted);

#endif
