/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - every attempt to sample a thread ends in exactly one outcome; the sums agree.
 *
 * An attempt is one look at one thread in one tick that has time to credit (all but the first
 * look). Outcomes are kept per thread group, for the interval; counters are things that are not
 * attempts.
 *
 * A sample is an attempt that found where the thread was: its kind is WALKED, IDLE or RECOVERED.
 * Failed and skipped attempts are no samples, though their time is in the tree under a frame that
 * names the reason. The samples of the nodes of a group add up to the group's samples here, so
 * every format shows the same number.
 *
 * Owns     nothing; plain data.
 * Threads  as the holder says.
 * Errors   none.
 * Cost     an addition.
 */
#ifndef SMP_MODEL_OUTCOME_H
#define SMP_MODEL_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

enum smp_outcome_kind {
    SMP_KIND_WALKED,
    SMP_KIND_IDLE,
    SMP_KIND_RECOVERED,
    SMP_KIND_FAILED,
    SMP_KIND_SKIPPED
};

/*
 * X(code, kind, text, frame)
 * text: the line in the account record and the name in SamplerStatistics.
 * frame: the pseudo-frame the time of such an attempt is credited to; NULL where there is a real
 * stack.
 */
#define SMP_OUTCOME_MAP(X)                                                                  \
    X(WALKED, WALKED, "samples taken", NULL)                                                \
    X(CUT, WALKED, "samples taken, middle of a deep stack omitted", NULL)                   \
    X(EMPTY, WALKED, "samples taken, no Java frames", "[no Java frames]")                   \
    X(VIRTUAL_CUT, WALKED, "samples taken, virtual thread cut where it was parked", NULL)   \
    X(NO_METHOD, WALKED, "samples taken, a method without an id", NULL)                     \
    X(IDLE, IDLE, "credited as idle", NULL)                                                 \
    X(IN_STUB, RECOVERED, "recovered, in a runtime stub", NULL)                             \
    X(AT_ENTRY, RECOVERED, "recovered, at the entry of a method", NULL)                     \
    X(AT_RETURN, RECOVERED, "recovered, at the return of a method", NULL)                   \
    X(PUSHED, RECOVERED, "recovered, in a method with registers pushed", NULL)              \
    X(FROM_CALLER, RECOVERED, "recovered, from the caller of native code", NULL)            \
    X(RETRIED, RECOVERED, "recovered, at a second look", NULL)                              \
    X(GC_ACTIVE, WALKED, "samples taken, stopped for garbage collection", "[GC active]")    \
    X(UNKNOWN_NOT_JAVA, FAILED, "failed, unknown_not_Java (-3)", "[unknown, not Java]")     \
    X(NOT_WALKABLE_NOT_JAVA, FAILED, "failed, not_walkable_not_Java (-4)",                  \
      "[not walkable, not Java]")                                                           \
    X(UNKNOWN_JAVA, FAILED, "failed, unknown_Java (-5)", "[unknown, Java]")                 \
    X(NOT_WALKABLE_JAVA, FAILED, "failed, not_walkable_Java (-6)", "[not walkable, Java]")  \
    X(UNKNOWN_STATE, FAILED, "failed, unknown_state (-7)", "[unknown thread state]")        \
    X(DEOPT, FAILED, "failed, deoptimisation (-9)", "[deoptimisation]")                     \
    X(GONE, FAILED, "failed, thread ended during the walk", "[thread ended]")               \
    X(PHASE, FAILED, "failed, JVM not in its live phase", "[JVM not live]")                 \
    X(NO_MEMORY, FAILED, "failed, JVM out of memory", "[JVM out of memory]")                \
    X(REFUSED, FAILED, "failed, refused by the JVM", "[refused by the JVM]")                \
    X(OVER_LIMIT, FAILED, "failed, over the memory limit", "[over memory limit]")           \
    X(ENDED, SKIPPED, "skipped, thread ended since its last sample", "[thread ended]")      \
    X(BUDGET, SKIPPED, "skipped, over the overhead limit", "[over the overhead limit]")     \
    X(QUEUE, SKIPPED, "skipped, signal queue full", "[signal queue full]")                  \
    X(UNIDENTIFIED, SKIPPED, "skipped, thread not told apart yet", "[not told apart yet]")  \
    X(UNANSWERED, SKIPPED, "skipped, signal not answered in time", "[signal not answered]") \
    X(DROPPED, SKIPPED, "skipped, no room for the walk", "[no room for the walk]")          \
    X(NO_TIMER, SKIPPED, "skipped, no CPU timer to be had", "[no CPU timer]")

enum smp_outcome {
#define X(code, kind, text, frame) SMP_OUTCOME_##code,
    SMP_OUTCOME_MAP(X)
#undef X
        SMP_OUTCOME_COUNT
};

/* X(code, text): text as above. All count events of the interval. */
#define SMP_COUNTER_MAP(X)                                                    \
    X(TICKS, "ticks")                                                         \
    X(LATE_TICKS, "late ticks")                                               \
    X(LEFT_OUT_TICKS, "ticks left out, over the overhead limit")              \
    X(IDLE_TICKS, "ticks left out, nobody was due")                           \
    X(FRAMES_OMITTED, "frames omitted from deep stacks")                      \
    X(UNLOADED, "methods of unloaded classes")                                \
    X(UNRESOLVED, "methods without a name")                                   \
    X(UNSEEN_THREADS, "threads that came and went between two samples")       \
    X(NAME_RULE_FAILURES, "failures of the thread name manipulator")          \
    X(MERGED_REPORTS, "reports merged with the next because output was slow") \
    X(FAILED_REPORTS, "reports that failed")                                  \
    X(CUT_REPORTS, "report records cut at their size limit")                  \
    X(DROPPED_INTERVALS, "intervals dropped for lack of memory")

enum smp_counter {
#define X(code, text) SMP_COUNTER_##code,
    SMP_COUNTER_MAP(X)
#undef X
        SMP_COUNTER_COUNT
};

struct smp_tally {
    uint64_t attempts;
    uint64_t outcomes[SMP_OUTCOME_COUNT];
};

void smp_tally_note(struct smp_tally *tally,
                    enum smp_outcome outcome); /* one attempt, one outcome */
void smp_tally_note_all(struct smp_tally *tally, enum smp_outcome outcome, uint64_t attempts);
void smp_tally_add(struct smp_tally *to, const struct smp_tally *from);
/* The sum over all outcomes; equal to attempts, always. */
uint64_t smp_tally_sum(const struct smp_tally *tally);

/* The sum over the outcomes of one kind. */
uint64_t smp_tally_kind(const struct smp_tally *tally, enum smp_outcome_kind kind);
/* The sum over the outcomes that are samples. */
uint64_t smp_tally_samples(const struct smp_tally *tally);

const char *smp_outcome_text(enum smp_outcome outcome);
const char *smp_outcome_frame(enum smp_outcome outcome); /* may be NULL */
enum smp_outcome_kind smp_outcome_kind_of(enum smp_outcome outcome);
bool smp_outcome_is_sample(enum smp_outcome outcome);
const char *smp_counter_text(enum smp_counter counter);

#endif
