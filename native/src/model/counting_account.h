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
      "How often classes that were loaded got their probes. Each batch stops all threads for "  \
      "some tens of milliseconds.")                                                             \
    X(ROOTS_WITHOUT_CALLS, LAST, ALWAYS, "roots without a call",                                \
      "Each with the reason before its name. `not loaded yet`: no class of this name was "      \
      "loaded since the JVM started: it was not needed yet, or the name in `rootMethods` is "   \
      "misspelt. A nested class is written with `$`. `not found in its class`: the class was "  \
      "loaded and has no such method, or none with these parameters. An inherited method "      \
      "belongs to the class that declares it. `not entered since it is counted`: the root has " \
      "its probe, and no thread has entered it since then. Calls of a root that began earlier " \
      "do not count. As long as no root was entered, nothing is counted.")                      \
    X(EXCLUDED, HIGHEST, NEVER, "excluded by filter",                                           \
      "Counted methods may call them, and `instrumentationFilter` leaves out their class. "     \
      "Methods of the JDK are not listed.")                                                     \
    X(TRIVIAL, HIGHEST, NEVER, "left alone, trivial",                                           \
      "Empty methods, getters and setters: a probe would cost more than they do. As a root "    \
      "such a method is counted. Methods that compilers add to pass a call on (bridges, "       \
      "`access$`, `$default`, `_aroundBody`) are left alone, too: the method of the source is " \
      "counted.")                                                                               \
    X(LEFT_ALONE, HIGHEST, ALWAYS, "left alone",                                                \
      "Methods and classes without a probe, each with the reason before its name. `too large`: "  \
      "with probes it would be longer than the 65,535 bytes that the JVM allows, or than the "    \
      "8,000 that its compilers take, and be interpreted from then on. `native or abstract`: "    \
      "in place of such a root, name the methods that implement it. `over the memory limit`: "    \
      "counting has half of `memoryLimitBytes`. A class that the JVM refuses to change has its "  \
      "reason and JVMTI's error; `another agent adds members`: its transformer adds other "       \
      "fields or methods each time. If an earlier sampler has put probes into such a class, they " \
      "stay there, and its methods are counted all the same. `calls by reflection are not "       \
      "found`: this JVM does not let the class hand out what it calls, so a method that is only " \
      "called by reflection is counted where it is a root, or with `instrumentation=TOTAL`. "     \
      "`Thread`, `Unsafe`, `java.lang.invoke` and this library never have probes.")               \
    X(OVER_METHOD_LIMIT, HIGHEST, ALWAYS, "left alone, over the limit of methods",              \
      "`maxCountedMethods` have a probe: roots, and the methods that are called most. Each "    \
      "other method was tried for some seconds, or waits for its trial. Methods counted and "   \
      "methods named here are all there are. Raise the limit, or narrow "                       \
      "`instrumentationFilter`.")                                                               \
    X(DROPPED, HIGHEST, ALWAYS, "not counted any more, short and called often",                 \
      "Their probes cost more than `overheadLimitPercent` and were taken out. For each of the " \
      "first 20 a line follows: `not counted since <time>: <method>`. What they call seems to " \
      "be called by their callers from then on; what an outermost root called is not counted "  \
      "there any more. Roots that are named without a star stay.")                              \
    X(CALLS_WITHOUT_PLACE, SUM, ALWAYS, "calls without a place",                                \
      "Calls that are in no row, with their number for each reason. `over the limit of nodes "  \
      "(maxCallNodes)`: the thread's tree is full; known places go on being counted. `over the " \
      "limit of depth (maxCallDepth)`: deeper calls have no rows. `over the memory limit`: "    \
      "there was no memory for a node, or for a thread's tree; raise `memoryLimitBytes`. "      \
      "`below calls that began before their probes came`: a recursion, or another method, ran " \
      "when its probe came. Which calls it had made by then is not known, so the calls that it " \
      "makes until it ends have no place.")                                                     \
    X(NO_CPU_TIME, HIGHEST, NEVER,                                                              \
      "methods counted without CPU time, methodTiming is not SAMPLED",                          \
      "To read a thread's CPU clock at each call takes about a microsecond, longer than most "  \
      "calls. So rows of counted groups have no CPU time.")                                     \
    X(SAMPLED, HIGHEST, ALWAYS, "methods seen by samples before they were counted",             \
      "A sample had them below a root. Something calls them that the counter does not follow: " \
      "code of the JDK or of a library, a look-up by name. Or a first call was sampled before " \
      "the probe came. Their calls until then are missing, and those of short methods that no " \
      "sample meets are still. `instrumentation=TOTAL` counts them all.")

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

/* Why a call has no place: reasons of CALLS_WITHOUT_PLACE. */
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
/* The same for a reason, which is listed with its own figure: "reason: 12". */
bool smp_counting_account_add_for(struct smp_counting_account *account, enum smp_counting counting,
                                  const char *reason, uint64_t amount);
/* Lists a name behind the figure, to which the caller adds separately. A name is listed once, and
 * only the first SMP_MAX_COUNTING_NAMES are. text: UTF-8. */
bool smp_counting_account_name(struct smp_counting_account *account, enum smp_counting counting,
                               const char *text);

uint64_t smp_counting_account_figure(const struct smp_counting_account *account,
                                     enum smp_counting counting);
/* How much of the figure is in no listed name or reason. */
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
