/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_poll.h - one look at one thread: what its clock says, how it is walked, where its time goes, and
 * when the next look is. The looker's other half: wall.h chooses whom.
 *
 * Owns     nothing: all is the looker's.
 * Threads  the sampler thread only.
 * Errors   none: whatever goes wrong is an outcome.
 * Cost     of an idle thread: its clock. Of one that waits: a walk. Of one that runs: a request.
 */
#ifndef SMP_ENGINE_SOURCES_WALL_POLL_H
#define SMP_ENGINE_SOURCES_WALL_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall.h"

/* The pass that looks are part of: looker->look. */
struct smp_poll {
    int64_t now_ns;
    int64_t span_ns;  /* credited to each; -1: the time since it was last looked at */
    bool is_settling; /* the sampler stops: answers come now or never */
    int64_t begun_ns; /* on the clock, which goes on while now_ns stands still */
};

/* Looks at it, and says when it is due again. Its answer may come with collect. False: the thread
 * has ended, and the record is gone. */
bool smp_poll_at(struct smp_wall *wall, struct smp_thread_record *record);
/* Throttling began after this poll was scheduled: draws whether to skip it. True: skip. */
bool smp_poll_pass_over(struct smp_wall *wall, struct smp_thread_record *record);
/* Takes the answers to all that was asked. */
void smp_poll_collect(struct smp_wall *wall);
/* The thread has ended: credits its last time. True: the record is gone. */
bool smp_poll_remove_ended(struct smp_wall *wall, struct smp_thread_record *record);

/* The outcome of an asynchronous walk. */
enum smp_outcome smp_poll_outcome(enum smp_answer answer, const struct smp_sample *sample);

/* The group a virtual thread belongs to, by the rule for names; NULL: its time is nobody's. */
const char *smp_poll_group_of_mounted(struct smp_wall *wall,
                                      const struct smp_mounted_thread *mounted);

/* It is one of those that are sampled, or is not any more. */
void smp_poll_count_as_sampled(struct smp_wall *wall, struct smp_thread_record *record,
                               bool is_sampled);
/* Its time begins at now_ns; what was known of it, or asked, is no more. */
void smp_poll_begin(struct smp_thread_record *record, int64_t now_ns);
/* It is not sampled now, and its time up to now is nobody's. */
void smp_poll_leave_out(struct smp_wall *wall, struct smp_thread_record *record);
/* Due so many ticks from the last one, whatever its state; 0: at the next taking. */
void smp_poll_put_in(struct smp_wall *wall, struct smp_thread_record *record, uint64_t ticks);
/* So many ticks that fit into the time, at least one. */
uint64_t smp_poll_ticks_in(const struct smp_wall *wall, int64_t ns);

/* The time and the CPU time that is kept for it up to the last tick is credited by what is known.
 */
void smp_poll_credit_kept(struct smp_wall *wall, struct smp_thread_record *record);
/* It is about to leave its group (thread_names.h); what is kept is credited by credit_left, when
 * the JVM may be called again. */
void smp_poll_leaving(void *wall, struct smp_thread_record *record);
void smp_poll_credit_left(struct smp_wall *wall, struct smp_thread_record *record);

#endif
