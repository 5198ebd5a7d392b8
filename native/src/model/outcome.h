/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - how polls end. Every poll of a thread has exactly one outcome, so the sums agree.
 *
 * A poll is one check of one thread in one tick that has time to credit (all but the first check).
 * Outcomes are counted per thread group and interval. Counters count events that are not polls.
 *
 * A sample is a poll that found where the thread was: its kind is WALKED, IDLE or RECOVERED. Failed
 * and skipped polls are not samples, but the tree has their time under a frame that names the
 * reason. The samples of a group's nodes add up to the group's samples here, so every format shows
 * the same number.
 *
 * Codes are keys in getOutcomes() and getCounters(), JMX, the JSON export, flight recordings and
 * the page. A released code never changes its meaning: codes may be removed or added, but not
 * renamed or reused. Texts are for people, and may change.
 *
 * These two lists are the only ones: texts, codes, the glossary of the reference and the table of
 * the page come from them (checks/tables.sh).
 *
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
 * X(level, per mille, words): the share of the polls from which on a figure that is not 0 is a line
 * of a short account. words: for the glossary.
 *
 * Losses, failures and things that need the user's attention are ALWAYS shown. Ordinary outcomes
 * are NEVER shown: the share of the time that has a stack says more.
 */
#define SMP_SHOWN_MAP(X)       \
    X(ALWAYS, 0, "yes")        \
    X(PERCENT, 10, "from 1 %") \
    X(NEVER, -1, "")

enum smp_shown {
#define X(level, per_mille, words) SMP_SHOWN_##level,
    SMP_SHOWN_MAP(X)
#undef X
};

/* clang-format off */

/*
 * X(code, kind, shown, text, frame, words)
 * shown: when the line is in a short account, see above.
 * text:  the line in the account record.
 * frame: the pseudo-frame that gets the time of such a poll; NULL if there is a real stack.
 * words: what it means, for the glossary and the page; `code` between backticks.
 */
#define SMP_OUTCOME_MAP(X) \
    X(WALKED, WALKED, NEVER, "samples taken", NULL,                                           \
      "The whole stack was walked.")                                                          \
    X(DEEP_STACK_CUT, WALKED, PERCENT, "samples taken, part of a deep stack omitted", NULL,   \
      "The stack is deeper than `maxDepthFrames`: its middle is omitted, or its root if a "   \
      "handshake walked it or it has more than 65,536 frames.")                               \
    X(NO_JAVA_FRAMES, WALKED, NEVER, "samples taken, no Java frames", "[no Java frames]",     \
      "The thread had no Java code on its stack.")                                            \
    X(VIRTUAL_THREAD_CUT, WALKED, PERCENT,                                                    \
      "samples taken, virtual thread cut where it was parked",                                \
      NULL,                                                                                   \
      "A virtual thread's stack was walked down to where it was last parked: the frames "     \
      "below are in the heap and could not be read.")                                         \
    X(METHOD_WITHOUT_ID, WALKED, PERCENT, "samples taken, a method without an id", NULL,      \
      "The stack is complete, but one of its methods had no id yet: `[method without an "     \
      "id]`.")                                                                                \
    X(WALKED_BY_HANDSHAKE, WALKED, PERCENT, "samples taken, by a handshake", NULL,            \
      "JVMTI's handshake walked the whole stack: the thread had just run, or is older "       \
      "than the sampler and was not in sleep, park or Object.wait at its first walk.")        \
    X(UNMOUNTED_WALKED, WALKED, NEVER, "samples taken, virtual thread not mounted", NULL,     \
      "A virtual thread that was drawn at random. Its time is that of all those it stands "   \
      "for (`sampleUnmountedVirtualThreads`).")                                               \
    X(IDLE, IDLE, NEVER, "credited as idle", NULL,                                            \
      "The thread's CPU clock had not moved, so its stack is that of its last sample.")       \
    X(RECOVERED_IN_STUB, RECOVERED, NEVER, "recovered, in a runtime stub", NULL,              \
      "The thread was in machine code of the JVM: a frame in brackets below its Java "        \
      "caller. As in all recovered samples, the walk began without a complete frame; the "    \
      "stack is right.")                                                                      \
    X(RECOVERED_AT_ENTRY, RECOVERED, NEVER, "recovered, at the entry of a method", NULL,      \
      "The thread was entering a method; its frame was not complete yet.")                    \
    X(RECOVERED_AT_RETURN, RECOVERED, NEVER, "recovered, at the return of a method", NULL,    \
      "The thread was leaving a method; its frame was partly gone.")                          \
    X(RECOVERED_REGISTERS_PUSHED, RECOVERED, NEVER,                                           \
      "recovered, in a method with registers pushed",                                         \
      NULL,                                                                                   \
      "The method's frame was found below registers that it had pushed.")                     \
    X(RECOVERED_BY_RETRY, RECOVERED, NEVER, "recovered, by a second try", NULL,               \
      "The first walk failed or did not reach the root; a second one succeeded.")             \
    X(GC_ACTIVE, WALKED, PERCENT, "samples taken, stopped for garbage collection", "[GC active]", \
      "The collector had stopped the JVM, and `AsyncGetCallTrace` walks no stack then. "      \
      "The sampler's own walks do.")                                                          \
    X(UNKNOWN_NOT_JAVA, FAILED, ALWAYS, "failed, not in Java, caller in Java unknown (-3)",   \
      "[unknown, not Java]",                                                                  \
      "The thread ran code that is not Java, and its Java caller was not found. The "         \
      "number is the code of `AsyncGetCallTrace`.")                                           \
    X(NOT_WALKABLE_NOT_JAVA, FAILED, ALWAYS, "failed, not in Java, stack not walkable (-4)",  \
      "[not walkable, not Java]",                                                             \
      "The thread ran code that is not Java, and the stack below it could not be walked.")    \
    X(UNKNOWN_JAVA, FAILED, ALWAYS, "failed, in Java, topmost frame unknown (-5)",            \
      "[unknown, Java]",                                                                      \
      "The thread ran Java code, but its topmost frame was not found.")                       \
    X(NOT_WALKABLE_JAVA, FAILED, ALWAYS, "failed, in Java, stack not walkable (-6)",          \
      "[not walkable, Java]",                                                                 \
      "The thread ran Java code, but its stack could not be walked.")                         \
    X(UNKNOWN_THREAD_STATE, FAILED, ALWAYS, "failed, thread state unknown (-7)",              \
      "[unknown thread state]",                                                               \
      "The thread was changing its state, or the bounds of its stack are unknown.")           \
    X(DEOPTIMISATION, FAILED, ALWAYS, "failed, deoptimisation (-9)", "[deoptimisation]",      \
      "The JVM was replacing compiled code of this stack by interpreted code.")               \
    X(FOREIGN_STACK, FAILED, ALWAYS, "failed, on a stack of another library",                 \
      "[stack of another library]",                                                           \
      "The thread ran on a stack that is not its own (a goroutine's), or its signal stack "   \
      "was too small. If Java code had called a native method, its stack is walked all "      \
      "the same.")                                                                            \
    X(THREAD_ENDED_IN_WALK, FAILED, ALWAYS, "failed, thread ended during the walk",           \
      "[thread ended]",                                                                       \
      "The thread ended during the walk.")                                                    \
    X(JVM_NOT_LIVE, FAILED, ALWAYS, "failed, JVM starting or ending", "[JVM not live]",       \
      "The JVM was starting or ending.")                                                      \
    X(JVM_OUT_OF_MEMORY, FAILED, ALWAYS, "failed, JVM out of memory", "[JVM out of memory]",  \
      "The JVM had no memory for the walk.")                                                  \
    X(REFUSED_BY_JVM, FAILED, ALWAYS, "failed, refused by the JVM", "[refused by the JVM]",   \
      "The JVM gave no stack.")                                                               \
    X(OVER_MEMORY_LIMIT, FAILED, ALWAYS, "failed, over the memory limit", "[over memory limit]", \
      "There was no memory for a new stack: raise `memoryLimitBytes`.")                       \
    X(THREAD_ENDED, SKIPPED, PERCENT, "skipped, thread ended since its last sample",          \
      "[thread ended]",                                                                       \
      "The thread ended between two polls, so its last stack is not known.")                  \
    X(OVER_OVERHEAD_LIMIT, SKIPPED, PERCENT, "skipped, over the overhead limit",              \
      "[over the overhead limit]",                                                            \
      "The sampler had used its share of a core. The polls that are made count for those "    \
      "that are not; the frame has threads that were never polled.")                          \
    X(SIGNAL_QUEUE_FULL, SKIPPED, ALWAYS, "skipped, signal queue full", "[signal queue full]", \
      "The user's limit of queued signals was reached (`ulimit -i`).")                        \
    X(THREAD_UNIDENTIFIED, SKIPPED, PERCENT, "skipped, thread not identified yet",            \
      "[thread not identified yet]",                                                          \
      "The thread is older than the sampler, and its id in the system is not proven yet.")    \
    X(SIGNAL_UNANSWERED, SKIPPED, PERCENT, "skipped, signal not answered in time",            \
      "[signal not answered]",                                                                \
      "The thread got no CPU to answer. It answers when it gets one, and the time goes to "   \
      "the stack it waited in, or at the end of a report to its last stack. The frame has "   \
      "threads that run for a second without answering, those whose stack was never seen "    \
      "and, with `clock` CPU, those that block the signal.")                                  \
    X(WALK_BUFFER_FULL, SKIPPED, PERCENT, "skipped, buffer for walks full", "[walk buffer full]", \
      "(`clock` CPU) Earlier samples were not fetched yet. The thread's next sample "         \
      "counts for this one, too.")                                                            \
    X(NO_CPU_TIMER, SKIPPED, ALWAYS, "skipped, no CPU timer available", "[no CPU timer]",     \
      "(`clock` CPU) The system gave the thread no timer (`ulimit -i`, or a filter of "       \
      "system calls), or another library has taken the signal.")                              \
    X(PROCESS_STOPPED, SKIPPED, ALWAYS, "skipped, process stopped", "[process stopped]",      \
      "The process had no CPU for more than a second: `SIGSTOP`, a debugger, a frozen "       \
      "container. The time is runnable.")

enum smp_outcome {
#define X(code, kind, shown, text, frame, words) SMP_OUTCOME_##code,
    SMP_OUTCOME_MAP(X)
#undef X
    SMP_OUTCOME_COUNT
};

/* X(code, shown, text, words): as above. Counters count events of the interval. */
#define SMP_COUNTER_MAP(X) \
    X(TICKS, NEVER, "ticks",                                                                  \
      "Rounds of the sampler.")                                                               \
    X(LATE_TICKS, PERCENT, "late ticks",                                                      \
      "Ticks that began more than half an interval late. They are credited with their "       \
      "real length.")                                                                         \
    X(THROTTLED_TICKS, PERCENT, "ticks skipped, over the overhead limit",                     \
      "Waking up that often would exceed `overheadLimitPercent`. The next poll credits "      \
      "the time.")                                                                            \
    X(IDLE_TICKS, NEVER, "ticks skipped, no thread was due",                                  \
      "All threads were idle and none was due, so the sampler slept on.")                     \
    X(FRAMES_OMITTED, NEVER, "frames omitted from deep stacks",                               \
      "Frames that `maxDepthFrames` omitted, in all samples; at least so many, if stacks "    \
      "were not walked to their root.")                                                       \
    X(UNLOADED_METHODS, ALWAYS, "methods of unloaded classes",                                \
      "Their class was unloaded before their name was read: `[unloaded]`.")                   \
    X(UNNAMED_METHODS, ALWAYS, "methods without a name",                                      \
      "The JVM did not give their name: `[unknown method]`.")                                 \
    X(UNSEEN_THREADS, PERCENT, "threads that started and ended between two ticks",            \
      "Lives too short to be seen.")                                                          \
    X(NAME_MANIPULATOR_FAILURES, ALWAYS, "failures of the thread name manipulator",           \
      "It threw an exception. Such threads are under their own names; `printError` got "      \
      "the first failure.")                                                                   \
    X(MERGED_REPORTS, ALWAYS, "reports merged with the next because output was slow",         \
      "The outputer took longer than the interval, or there was no memory for a report. "     \
      "No sample is lost.")                                                                   \
    X(FAILED_REPORTS, ALWAYS, "reports that failed",                                          \
      "The outputer threw an exception, which `printError` got, or blocked until "            \
      "`closeTimeoutSeconds` were over.")                                                     \
    X(CUT_RECORDS, ALWAYS, "report records cut at their size limit",                          \
      "A group's text was too long for `memoryLimitBytes`: its last rows are missing, but "   \
      "not in exports.")                                                                      \
    X(DROPPED_INTERVALS, ALWAYS, "intervals dropped for lack of memory",                      \
      "There was no memory to keep the oldest interval until it was read. It is lost.")       \
    X(COARSE_WINDOWS, ALWAYS, "parts of the last minutes merged for lack of memory",          \
      "There was no memory to keep them apart: a window begins earlier than its length "      \
      "says. No time is lost.")                                                               \
    X(DEMAND_CPU_US, NEVER, "CPU time for reports on demand (us)",                            \
      "The sampler thread's CPU time for the server, the actuator, MCP, JMX and other "       \
      "readers, which has a limit of its own.")                                               \
    X(REPEATED_WINDOWS, NEVER, "windows that were read again too soon",                       \
      "The last minutes were read more than once a second, or past the limit for reports "    \
      "on demand: the answer ends where the last one did.")                                   \
    X(UNMOUNTED_DRAWS, NEVER, "draws of virtual threads",                                     \
      "About ten a second (`sampleUnmountedVirtualThreads`).")                                \
    X(UNMOUNTED_POPULATION, NEVER, "virtual threads alive at these draws, added up",          \
      "Mounted ones included. Divided by the draws: how many there were on average.")         \
    X(UNMOUNTED_FOUND_MOUNTED, NEVER, "virtual threads drawn that were mounted",              \
      "The polls of their carriers count their time.")                                        \
    X(STOPPED_MILLIS, ALWAYS, "milliseconds in which the process was stopped",                \
      "Gaps of more than a second: `[process stopped]` has them in each thread, with "        \
      "`clock` CPU no row.")                                                                  \
    X(FOLDED_ROWS, ALWAYS, "rows folded into their callers for lack of memory",               \
      "At `memoryLimitBytes` the smallest rows, none with 0.1 % of its group, become "        \
      "`[folded]` below their caller. No time is lost.")                                      \
    X(LOST_STATES, ALWAYS, "times whose state found no memory",                               \
      "There was no room for a row's time by state: it has another state, or the interval "   \
      "has no states.")                                                                       \
    X(LOST_ERRORS, ALWAYS, "intervals whose error bars found no memory",                      \
      "There was no room for them, or a merged one was without: the sum has none.")           \
    X(LOST_SECONDS, ALWAYS, "times by second that found no memory",                           \
      "There was no room for a group's times by second, or it had more than four million "    \
      "threads: the page's strip lacks them.")                                                \
    X(LOST_COUNTED_TIMES, ALWAYS, "times of counted rows that found no memory",               \
      "There was no room to give counted rows the time of their samples. They have an "       \
      "earlier one, or none.")                                                                \
    X(RUNNABLE_UNKNOWN, ALWAYS, "polls without the time in the run queue",                    \
      "The system did not say how long threads waited for a CPU (`schedstat`). Such time "    \
      "is in other states.")                                                                  \
    X(THROTTLED_MS, ALWAYS, "throttled by the CPU quota (ms)",                                \
      "The kernel stopped threads of the process's control group, which had used its "        \
      "quota. The time is part of runnable.")                                                 \
    X(STOLEN_MS, ALWAYS, "taken from all CPUs by the machine's host (ms)",                    \
      "The host had the CPUs for something else. The part of sampled threads is in "          \
      "runnable.")                                                                            \
    X(OWNER_READS, NEVER, "owners of locks read",                                             \
      "How often the holder of a lock was read: once for each wait, and again where it "      \
      "may have changed.")                                                                    \
    X(OWNERS_UNKNOWN, NEVER, "owners of locks that were not known",                           \
      "Reads that found no thread: the rows of the group `[unknown]`.")                       \
    X(LOST_HOLDERS, ALWAYS, "times of lock holders that found no memory",                     \
      "There was no room for a group of holders, or for a row of the locks. The time is "     \
      "only in the rows of the threads that waited.")                                         \
    X(DEADLOCKS, ALWAYS, "deadlocks",                                                         \
      "Cycles of threads that wait for each other's locks, each counted once.")

enum smp_counter {
#define X(code, shown, text, words) SMP_COUNTER_##code,
    SMP_COUNTER_MAP(X)
#undef X
    SMP_COUNTER_COUNT
};

/* clang-format on */

struct smp_tally {
    uint64_t polls; /* the sum of the outcomes */
    uint64_t outcomes[SMP_OUTCOME_COUNT];
};

/* Counts the outcome of one poll. */
void smp_tally_note(struct smp_tally *tally, enum smp_outcome outcome);
void smp_tally_note_all(struct smp_tally *tally, enum smp_outcome outcome, uint64_t polls);
void smp_tally_add(struct smp_tally *to, const struct smp_tally *from);
/* Returns the sum of the outcomes that are samples. */
uint64_t smp_tally_samples(const struct smp_tally *tally);

/* Returns the stable code: "THREAD_UNIDENTIFIED". */
const char *smp_outcome_code(enum smp_outcome outcome);
const char *smp_outcome_text(enum smp_outcome outcome);
const char *smp_outcome_frame(enum smp_outcome outcome); /* may be NULL */
enum smp_shown smp_outcome_shown(enum smp_outcome outcome);
enum smp_outcome_kind smp_outcome_kind_of(enum smp_outcome outcome);
bool smp_outcome_is_sample(enum smp_outcome outcome);
const char *smp_counter_code(enum smp_counter counter); /* as smp_outcome_code */
const char *smp_counter_text(enum smp_counter counter);
enum smp_shown smp_counter_shown(enum smp_counter counter);
/* Returns whether a short account has a line for this figure of this level; never for 0. */
bool smp_shown_in_short(enum smp_shown shown, uint64_t figure, uint64_t polls);

#endif
