/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_record.h - the record of a report about the sampler itself: what it did, missed and used.
 *
 * Threads  any; the profile is immutable.
 * Errors   out remembers a failure (bytes.h).
 * Cost     constant; a short account also visits each outermost node.
 */
#ifndef SMP_EXPORT_ACCOUNT_RECORD_H
#define SMP_EXPORT_ACCOUNT_RECORD_H

#include "base/bytes.h"
#include "model/profile.h"

#define SMP_ACCOUNT_RECORD_TITLE "Sampler account."
/* clang-format off */

/*
 * The lines besides outcomes and counters, which come after the first three.
 * X(line, shown, text, words): shown and words as in outcome.h.
 */
#define SMP_ACCOUNT_LINE_MAP(X)                                                                  \
    X(CLOCK, ALWAYS, "clock: CPU, all times are CPU times",                                      \
      "`clock` is CPU.")                                                                         \
    X(POLLS, ALWAYS, "polls",                                                                    \
      "Checks of a thread that had time to credit: all lines `samples taken`, `credited "        \
      "as idle`, `recovered`, `failed` and `skipped`.")                                          \
    X(SAMPLES, NEVER, "samples",                                                                 \
      "Polls that found where the thread was: `samples taken`, `credited as idle` and "          \
      "`recovered`. `getSamples()` and exports have this number.")                               \
    X(NAMES_LOST, ALWAYS, "thread names lost for lack of memory",                                \
      "The list in a group's title is shorter than it could be.")                                \
    X(APPLICATION, NEVER, "application guessed: all but the JDK and known frameworks",           \
      "No packages are monitored. The packages of the main class are the application's in "      \
      "any case.")                                                                               \
    X(MISSED_PACKAGES, ALWAYS, "no frame of the monitored packages was seen",                    \
      "`monitoredPackages`, behind the colon, names nothing that ran: every stack is its "       \
      "root frame alone.")                                                                       \
    X(LONGEST_HANDSHAKE, ALWAYS, "longest handshake",                                            \
      "The longest time the JVM took to stop a thread and read its stack, from 10 ms on, "       \
      "for all samplers of the process.")                                                        \
    X(LONGEST_HANDLER, ALWAYS, "longest walk in a signal handler",                               \
      "The longest time a thread took to walk its own stack, waits for a CPU included, "         \
      "from 10 ms on, for all samplers of the process.")                                         \
    X(SIGNAL_TAKEN, ALWAYS, "another library took the sampler's signal",                         \
      "Its handler for `samplingSignal` did not call the sampler's; its file follows the "       \
      "colon. Taken back: the sampler's handler is above it again. Not taken back: "             \
      "handshakes walk running threads; with `clock` CPU their time is under `[no CPU "          \
      "timer]`.")                                                                                \
    X(MEMORY_USED, ALWAYS, "memory used", "Now, of `memoryLimitBytes`.")                         \
    X(OWN_CPU, ALWAYS, "sampler's own CPU",                                                      \
      "The CPU time of the threads `threads-sampler`, `threads-sampler-report` and "             \
      "`threads-sampler-calls`.")

/* clang-format on */

/* Returns an upper bound of the length of all lines. */
size_t smp_account_record_limit(const struct smp_profile *profile);

/* Writes a line "<text>: <value>" for each figure that is not zero, or, in a short account, whose
 * level is reached; the last two lines always. In a short account the line of polls continues with
 * "99.8 % of the time with a stack", for sampled groups, rounded down. If calls are counted, their
 * figures (counting_account.h) follow the counters, with up to 20 names: "left alone: 2 (too large:
 * a.B.c, too large: a.B.d)", then ", … 3 more". Methods that are no longer counted have lines of
 * their own: "not counted since <time>: a.B.c". */
void smp_account_record_rows(const struct smp_profile *profile, bool is_short,
                             struct smp_bytes *out);

#endif
