/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting_account.h - what the counting of calls did, left alone and lost in an interval: a figure
 * for each code, and names or reasons behind it.
 *
 *   left alone: 3 (too large: com.acme.Big.run, too large: com.acme.Huge.go, ... 1 more)
 *   calls without a place: 12 (over the limit of depth (maxCallDepth): 10, over the memory limit:
 *   2)
 *
 * A profile without counted calls has no account.
 *
 * Owns     the names.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   name, add_for: false without memory: the name is missing, the figure is not.
 *          merge: SMP_ENOMEM, and to can only be destroyed.
 * Cost     figures: constant. A name: a comparison with the listed names of its code.
 */
#ifndef SMP_MODEL_COUNTING_ACCOUNT_H
#define SMP_MODEL_COUNTING_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/outcome.h"

enum {
    SMP_MAX_COUNTING_NAMES = 20,       /* listed for each code */
    SMP_MAX_COUNTING_NAME_BYTES = 240, /* longer names end in an ellipsis */
};

/* clang-format off */

/*
 * X(code, merges, shown, text, words)
 * merges: how the figures of two intervals become one. SUM: the figure counts events. HIGHEST: it
 * only grows. LAST: it describes the end of the interval. code: stable, the key in JSON. text: of
 * the line in the report. shown, words: as in outcome.h.
 */
#define SMP_COUNTING_MAP(X)                                                                     \
    X(INSTRUMENTED, HIGHEST, NEVER, "methods counted", "Methods that have a probe.")            \
    X(BATCHES, SUM, NEVER, "batches of methods that began to be counted",                       \
      "How often loaded classes got probes. Each batch stops all threads for some tens of "     \
      "milliseconds.")                                                                          \
    X(ROOTS_WITHOUT_CALLS, LAST, ALWAYS, "roots without a call",                                \
      "Each with the reason. `not loaded yet`: not needed yet, or misspelt; `$` stands "        \
      "before a nested class. `not found in its class`: name the class that declares the "      \
      "method, and check the parameter types. `not entered since it is counted`: calls "        \
      "that began earlier do not count, so a loop that runs for ever is no good root; "         \
      "name what it calls. As long as no root was entered, nothing is counted.")                \
    X(EXCLUDED, HIGHEST, NEVER, "excluded by filter",                                           \
      "Counted methods may call them, and `instrumentationFilter` leaves out their class: "     \
      "add it if its calls matter. The JDK's methods are not listed.")                          \
    X(TRIVIAL, HIGHEST, NEVER, "left alone, trivial",                                           \
      "Empty methods, getters and setters, unless they are roots. Methods that compilers "      \
      "add (bridges, `access$`, `$default`, `_aroundBody`): the method of the source is "       \
      "counted.")                                                                               \
    X(LEFT_ALONE, HIGHEST, ALWAYS, "left alone",                                                \
      "Methods and classes without a probe, each with the reason. `too large`: with "           \
      "probes past 65,535 bytes, the JVM's limit, or past 8,000, its compilers'. `native "      \
      "or abstract`: name the methods that implement such a root. `over the memory "            \
      "limit`: counting has half of `memoryLimitBytes`. `another agent adds members`: its "     \
      "transformer adds other ones each time. `calls by reflection are not found`: a "          \
      "method that only reflection calls is counted as a root, or with "                        \
      "`instrumentation=TOTAL`. A class that the JVM refuses to change has JVMTI's error; "     \
      "probes of an earlier sampler stay there and count. `Thread`, `Unsafe`, "                 \
      "`java.lang.invoke` and this library never have probes.")                                 \
    X(OVER_METHOD_LIMIT, HIGHEST, ALWAYS, "left alone, over the limit of methods",              \
      "`maxCountedMethods` have a probe: roots, and the methods that are called most. "         \
      "Each other method was tried for some seconds, or waits for its trial. Raise the "        \
      "limit, or narrow `instrumentationFilter`.")                                              \
    X(DROPPED, HIGHEST, ALWAYS, "not counted any more, short and called often",                 \
      "Their probes cost more than `overheadLimitPercent`; with 100 none is lost. A line "      \
      "for each of the first 20 follows: `not counted since <time>: <method>`. Their "          \
      "callees are shown below their callers from then on. Roots that are named without a "     \
      "star stay.")                                                                             \
    X(CALLS_WITHOUT_PLACE, SUM, ALWAYS, "calls without a place",                                \
      "Calls that are in no row, with their number for each reason. `over the limit of "        \
      "nodes (maxCallNodes)`, `over the limit of depth (maxCallDepth)`, `over the memory "      \
      "limit`: raise it, or begin further down. `below calls that began before their "          \
      "probes came`: a method ran when its probe came; its calls have no place until it "       \
      "ends.")                                                                                  \
    X(NO_CPU_TIME, HIGHEST, NEVER,                                                              \
      "methods counted without CPU time, methodTiming is not SAMPLED",                          \
      "Reading a thread's CPU clock at each call would cost about a microsecond.")              \
    X(SAMPLED, HIGHEST, ALWAYS, "methods seen by samples before they were counted",             \
      "A sample had them below a root before their probe came, or the counter does not "        \
      "follow what calls them. Their earlier calls are missing. `instrumentation=TOTAL` "       \
      "counts them all.")

/* clang-format on */

enum smp_counting {
#define X(code, merges, shown, text, words) SMP_COUNTING_##code,
    SMP_COUNTING_MAP(X)
#undef X
        SMP_COUNTING_COUNT
};

const char *smp_counting_code(enum smp_counting counting);
const char *smp_counting_text(enum smp_counting counting);
enum smp_shown smp_counting_shown(enum smp_counting counting);

struct smp_counting_account;

SMP_CHECKED enum smp_status smp_counting_account_create(struct smp_quota *quota,
                                                        struct smp_counting_account **out);
void smp_counting_account_destroy(struct smp_counting_account *account); /* NULL is fine */

/* Reasons of CALLS_WITHOUT_PLACE: why a call has no place. */
#define SMP_CALL_LOSS_MAP(X)                                \
    X(OVER_NODES, "over the limit of nodes (maxCallNodes)") \
    X(OVER_DEPTH, "over the limit of depth (maxCallDepth)") \
    X(OVER_MEMORY, "over the memory limit")                 \
    X(BEGAN_BEFORE, "below calls that began before their probes came")

enum smp_call_loss {
#define X(loss, text) SMP_LOST_##loss,
    SMP_CALL_LOSS_MAP(X)
#undef X
        SMP_LOST_COUNT
};

const char *smp_call_loss_text(enum smp_call_loss loss);

/* Adds to the figure. */
void smp_counting_account_add(struct smp_counting_account *account, enum smp_counting counting,
                              uint64_t amount);
/* As add, for a reason, which is listed with its own figure: "reason: 12". */
bool smp_counting_account_add_for(struct smp_counting_account *account, enum smp_counting counting,
                                  const char *reason, uint64_t amount);
/* Lists a name for the figure, to which the caller adds separately. A name is listed once, and only
 * the first SMP_MAX_COUNTING_NAMES names are listed. text: UTF-8. */
bool smp_counting_account_name(struct smp_counting_account *account, enum smp_counting counting,
                               const char *text);

uint64_t smp_counting_account_figure(const struct smp_counting_account *account,
                                     enum smp_counting counting);
/* Returns the part of the figure that no listed name or reason accounts for. */
uint64_t smp_counting_account_unlisted(const struct smp_counting_account *account,
                                       enum smp_counting counting);
size_t smp_counting_account_listed(const struct smp_counting_account *account,
                                   enum smp_counting counting);
const char *smp_counting_account_name_at(const struct smp_counting_account *account,
                                         enum smp_counting counting, size_t index);

/* from is the later one. */
SMP_CHECKED enum smp_status smp_counting_account_merge(struct smp_counting_account *to,
                                                       const struct smp_counting_account *from);

#endif
