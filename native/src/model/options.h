/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - a sampler's configuration: one table of options, and values that are checked against
 * it.
 *
 * Java's class Option is compared with this table (OptionIT), and so are the rows of
 * java/REFERENCE.md (checks/tables.sh). Values come in the table's order: numbers, flags (0 or 1)
 * and choices (from 0 up) as integers, then texts. A value out of range is refused with a message
 * that names the property, the value and the range. The syntax of rootMethods and
 * instrumentationFilter is checked by counting/counting_plan.h.
 *
 * Owns     its texts.
 * Threads  immutable after read and copy.
 * Errors   SMP_EINVAL with message filled; SMP_ENOMEM, SMP_EQUOTA.
 * Cost     O(length of the texts).
 */
#ifndef SMP_MODEL_OPTIONS_H
#define SMP_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

enum smp_report_order { SMP_ORDER_BY_NAME, SMP_ORDER_BY_TIME };
enum smp_report_account { SMP_ACCOUNT_SHORT, SMP_ACCOUNT_FULL };
/* AUTO: running threads are walked asynchronously if this JVM supports it. */
enum smp_engine { SMP_ENGINE_AUTO, SMP_ENGINE_JVMTI };
/* CPU: threads are sampled as they use CPU time, and a report has CPU time only. */
enum smp_clock { SMP_CLOCK_WALL, SMP_CLOCK_CPU };
/* Which methods below the roots get probes, and when (counting/call_graph.h). AUTO: EAGER for the
 * classes that are loaded at the start, if they are few, LAZY for everything else. */
enum smp_instrumentation {
    SMP_INSTRUMENTATION_AUTO,
    SMP_INSTRUMENTATION_LAZY,
    SMP_INSTRUMENTATION_EAGER,
    SMP_INSTRUMENTATION_TOTAL
};
/* SAMPLED: ticks charge time to the call that runs. EXACT: probes take time stamps at each entry
 * and exit. */
enum smp_method_timing {
    SMP_METHOD_TIMING_SAMPLED,
    SMP_METHOD_TIMING_EXACT,
    SMP_METHOD_TIMING_NONE
};

/*
 * fixed: the option may not change while the sampler runs. words: the text in the reference; NULL
 * if the option is no property of its own, but follows from another one or from the process. A name
 * with PerMille is a property in percent there.
 */

/* clang-format off */

/* X(field, name, unit, default, min, max, fixed, words): int64_t. */
#define SMP_OPTION_NUMBERS(X)                                                                    \
    X(sampling_frequency_millis, "samplingFrequencyMillis", "ms", 50, 1, 3600000, false,         \
      "The mean time between two ticks. A gap is 0.5 to 1.5 times that, at random.")             \
    X(report_frequency_seconds, "reportFrequencySeconds", "s", 900, 0, 31536000, false,          \
      "0: one report, when the sampler is closed.")                                              \
    X(memory_limit_bytes, "memoryLimitBytes", "bytes", 67108864, 4194304, 1099511627776, true,   \
      "The limit of trees, names and reports together.")                                         \
    X(max_depth_frames, "maxDepthFrames", "frames", 1024, 16, 65536, true,                       \
      "A deeper stack keeps both ends, with `[n..m frames omitted]` between them. One "          \
      "that a handshake has walked, or of more than 65,536 frames, keeps its leaf's end.")       \
    X(idle_lookback_millis, "idleLookbackMillis", "ms", 1000, 1, 60000, false,                   \
      "The longest time between two polls of an idle thread; the more there are, the more "      \
      "rarely each is polled. Figures are right on average for every value; with rare "          \
      "polls, short work takes longer to appear.")                                               \
    X(overhead_limit_per_mille, "overheadLimitPerMille", "of one core", 10, 1, 1000, false,      \
      "The CPU time that sampling may use, without the writing of reports. Past the limit "      \
      "the sampler polls a random part of the threads at each tick; these polls count for "      \
      "those it skips. A start may use the limit of ten seconds more, at most 100 ms, "          \
      "once. Probes have a limit of the same size: [what loses "                                 \
      "them](#cost-of-counted-calls).")                                                          \
    X(sampling_signal, "samplingSignal", "", 38, 34, 64, true,                                   \
      "The real-time signal for threads that run Java code; not 62, which the JDK uses. "        \
      "Change it only if native code of yours uses this one. A handler that is installed "       \
      "for it later must pass unknown signals on to the one before, with all three "             \
      "arguments; otherwise the sampler puts its own in front again and warns.")                 \
    X(max_counted_methods, "maxCountedMethods", "methods", 32768, 1, 1048576, true,              \
      "How many methods may be counted.")                                                        \
    X(max_call_nodes, "maxCallNodes", "nodes of a thread", 100000, 64, 100000000, true,          \
      "The size of a thread's tree of calls, 96 bytes a node, 160 with `EXACT`.")                \
    X(max_call_depth, "maxCallDepth", "calls", 1000, 1, 1000000, true,                           \
      "The depth of a thread's tree of calls.")                                                  \
    X(max_groups, "maxGroups", "groups", 500, 1, 20000, false,                                   \
      "If there are more thread groups, those with the least active time are one, `[other "      \
      "threads]`.")                                                                              \
    X(report_min_per_mille, "reportMinPerMille", "of a group's active time", 5, 0, 1000, false,  \
      "Smaller rows are one row, `[<n> rows below 0.5 %]`, in the text report. 0 shows "         \
      "all.")

/* X(field, name, default, fixed, words): bool. */
#define SMP_OPTION_FLAGS(X)                                                                      \
    X(active, "active", true, false,                                                             \
      "false: the sampler runs but samples nothing. A switch for production.")                   \
    X(skip_daemon_threads, "skipDaemonThreads", false, false,                                    \
      "Daemon threads are not sampled, unless they are chosen.")                                 \
    X(report_zero_time_packages, "reportZeroTimePackages", false, false,                         \
      "Keeps rows without own time where the package changes.")                                  \
    X(report_percent, "reportPercent", false, false,                                             \
      "Rows end with `, Percent: <P>` of their group.")                                          \
    X(report_summary, "reportSummary", true, false,                                              \
      "A report begins with the [summary](#summary).")                                           \
    X(fold_recursion, "foldRecursion", true, false,                                              \
      "A recursion is one row, `, Recursion depth: <d>`, in the text report and on the "         \
      "page; other formats have a row for each depth.")                                          \
    X(default_name_rule, "defaultThreadNameRule", true, false, NULL)                             \
    X(report_cpu_time, "reportCpuTime", false, false,                                            \
      "Rows end with `, CPU time(ms): <U>`, from the threads' CPU clocks.")                      \
    X(report_states, "reportStates", false, false,                                               \
      "Rows end with their time by state, if it is not 0: `, Running time(ms): <R>, "            \
      "Runnable <Q>, Blocked <B>, I/O <I>, Waiting <W>, Idle <D>`.")                             \
    X(report_jvm_threads, "reportJvmThreads", true, false,                                       \
      "Adds a group `[JVM]` with the CPU time of the collector, the compilers and the sampler "  \
      "itself. Omitted if threads are chosen.")                                                  \
    X(sample_unmounted_virtual_threads, "sampleUnmountedVirtualThreads", false, false,           \
      "Virtual threads that are not mounted are sampled as well, [as "                           \
      "estimates](#limits-of-what-is-seen). Needs JDK 25 or later. No effect with `clock` "      \
      "CPU or `skipDaemonThreads`, or while threads are chosen.")                                \
    X(error_bars, "errorBars", true, false,                                                      \
      "Measures [error bars](#error-bars), at 12 bytes a row.")                                  \
    X(discard_warm_up, "discardWarmUp", false, false,                                            \
      "Calls `resetCollectedResults()` once, when no method has got a probe for three "          \
      "seconds.")

/* X(field, name, type, first, second, third, fourth, fixed, words): an enum of two to four values,
 * NULL in place of the others. The first is the default. */
#define SMP_OPTION_CHOICES(X)                                                                    \
    X(engine, "engine", smp_engine, "AUTO", "JVMTI", NULL, NULL, true,                           \
      "AUTO: threads that run Java code get a signal and walk their own stacks; others "         \
      "are read from outside. If a JVM does not allow that, handshakes take over "               \
      "([reasons](#engine-and-limitations)). JVMTI: handshakes only; a running thread is "       \
      "shown at its next safepoint.")                                                            \
    X(clock, "clock", smp_clock, "WALL", "CPU", NULL, NULL, true,                                \
      "CPU: threads are sampled by timers on their CPU time. Waiting threads are not in "        \
      "the report, and all its times are CPU times. Needs `engine` AUTO. Each timer "            \
      "counts against `ulimit -i`.")                                                             \
    X(report_order, "reportOrder", smp_report_order, "BY_NAME", "BY_TIME", NULL, NULL, false,    \
      "The order of rows below the same row.")                                                   \
    X(report_account, "reportAccount", smp_report_account, "SHORT", "FULL", NULL, NULL, false,   \
      "SHORT: polls, memory, CPU time, and what needs attention. FULL: all figures that "        \
      "are not 0.")                                                                              \
    X(instrumentation, "instrumentation", smp_instrumentation, "AUTO", "LAZY", "EAGER",          \
      "TOTAL", true,                                                                             \
      "Which methods get a probe, and when ([what each misses](#what-is-counted)). AUTO "        \
      "does at `init()` what EAGER does, if at most 300 loaded classes pass the filter, "        \
      "and is LAZY for all else. LAZY: a method's callees, and theirs, when it first "           \
      "runs. EAGER: all that can be reached, as classes are loaded. TOTAL: all methods "         \
      "that pass the filter.")                                                                   \
    X(method_timing, "methodTiming", smp_method_timing, "SAMPLED", "EXACT", "NONE", NULL, true,  \
      "SAMPLED: the time of each tick goes to the call that runs. EXACT: a time stamp at "       \
      "each entry and exit, no CPU time, not with `clock` CPU. NONE: counts only.")

/* X(field, name, unit, empty, fixed, words): char *, UTF-8, never NULL. The default is "", whose
 * meaning `empty` describes. */
#define SMP_OPTION_TEXTS(X)                                                                      \
    X(monitored_packages, "monitoredPackages", "prefixes, comma-separated", "all", false,        \
      "Your code. The time of a library call is added to the library method that your "          \
      "code called. `com.acme` matches `com.acme.X` and `com.acme.sub.X`, not "                  \
      "`com.acmetools.X`; a prefix that ends in `.` or `*` is used as written. `auto` "          \
      "alone: all but the JDK and known frameworks.")                                            \
    X(root_methods, "rootMethods", "methods, comma-separated", "none", true,                     \
      "Calls are counted from [these methods](README.md#how-often) down. One sampler of a "      \
      "JVM counts.")                                                                             \
    X(instrumentation_filter, "instrumentationFilter", "prefixes, comma-separated",              \
      "all but the JDK", true,                                                                   \
      "Methods of these classes are counted where a root calls them. Prefixes as in "            \
      "`monitoredPackages`; a minus leaves classes out: `com.acme, -com.acme.util`.")            \
    X(io_methods, "ioMethods", "methods, comma-separated", "none", false,                        \
      "A thread that waits in one of these methods, or in what they call, does I/O: "            \
      "`com.acme.Driver.read`, or a class or package.")                                          \
    X(idle_methods, "idleMethods", "methods, comma-separated", "none", false,                    \
      "The same for waiting for work.")                                                          \
    X(main_packages, "mainPackages", "prefixes, comma-separated", "none", true, NULL)

/* clang-format on */

struct smp_options {
#define X(field, name, unit, standard, min, max, fixed, words) int64_t field;
    SMP_OPTION_NUMBERS(X)
#undef X
#define X(field, name, standard, fixed, words) bool field;
    SMP_OPTION_FLAGS(X)
#undef X
#define X(field, name, type, first, second, third, fourth, fixed, words) enum type field;
    SMP_OPTION_CHOICES(X)
#undef X
#define X(field, name, unit, empty, fixed, words) char *field;
    SMP_OPTION_TEXTS(X)
#undef X
    struct smp_quota *quota;
};

enum smp_option_type { SMP_OPTION_NUMBER, SMP_OPTION_FLAG, SMP_OPTION_CHOICE, SMP_OPTION_TEXT };

enum {
#define X(...) +1
    SMP_OPTION_INTEGER_COUNT = 0 SMP_OPTION_NUMBERS(X) SMP_OPTION_FLAGS(X) SMP_OPTION_CHOICES(X),
    SMP_OPTION_TEXT_COUNT = 0 SMP_OPTION_TEXTS(X),
#undef X
    SMP_OPTION_COUNT = SMP_OPTION_INTEGER_COUNT + SMP_OPTION_TEXT_COUNT,
    SMP_OPTIONS_MESSAGE_BYTES = 512,
    SMP_OPTION_TEXT_MAX_BYTES = 1024 * 1024,
    SMP_OPTION_MAX_CHOICES = 4
};

/* A row of the table. */
struct smp_option {
    const char *name;
    enum smp_option_type type;
    int64_t standard; /* default of a flag: 0 or 1; of a choice: 0 */
    int64_t min;
    int64_t max;
    const char *choices[SMP_OPTION_MAX_CHOICES]; /* of a choice; NULL behind the last one */
    bool fixed;
    bool is_derived; /* follows from a property that is not an option */
};

/* index < SMP_OPTION_COUNT: integers first, then texts. */
const struct smp_option *smp_option_at(size_t index);

/* Valid during the call. Texts are NUL-terminated. */
struct smp_option_values {
    const int64_t *integers;
    size_t integer_count; /* must be SMP_OPTION_INTEGER_COUNT; otherwise Java has another table */
    const char *const *texts;
    size_t text_count; /* must be SMP_OPTION_TEXT_COUNT */
};

/* On failure out is unchanged. message may be NULL. */
SMP_CHECKED enum smp_status smp_options_read(struct smp_quota *quota,
                                             const struct smp_option_values *values,
                                             struct smp_options *out,
                                             char message[SMP_OPTIONS_MESSAGE_BYTES]);
/* Copies options; out is charged to quota. */
SMP_CHECKED enum smp_status smp_options_copy(struct smp_quota *quota,
                                             const struct smp_options *options,
                                             struct smp_options *out);
/* Returns an integer option by its index. */
int64_t smp_options_integer(const struct smp_options *options, size_t index);
/* Returns a text option by its index among the texts. */
const char *smp_options_text(const struct smp_options *options, size_t index);
void smp_options_fini(struct smp_options *options);
/* Called after a copy by assignment, because its texts belong to the original. */
void smp_options_forget_texts(struct smp_options *options);

/* Returns whether calls are counted. TOTAL needs no roots. */
static inline bool smp_options_count_calls(const struct smp_options *options)
{
    return options->root_methods[0] != '\0' ||
           options->instrumentation == SMP_INSTRUMENTATION_TOTAL;
}

static inline int64_t smp_options_interval_ns(const struct smp_options *options)
{
    return options->sampling_frequency_millis * INT64_C(1000000);
}

static inline int64_t smp_options_lookback_ns(const struct smp_options *options)
{
    return options->idle_lookback_millis * INT64_C(1000000);
}

/* Returns the name of the first fixed option that differs, or NULL. Static storage. */
const char *smp_options_fixed_difference(const struct smp_options *running,
                                         const struct smp_options *wanted);

#endif
