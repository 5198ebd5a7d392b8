/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.h - one look at one thread: what its clock says, how it is walked, where its time goes, and
 * when the next look is. The looker's other half: looker.h chooses whom.
 *
 * Owns     nothing: all is the looker's.
 * Threads  the sampler thread only.
 * Errors   none: whatever goes wrong is an outcome.
 * Cost     of an idle thread: its clock. Of one that waits: a walk. Of one that runs: a request.
 */
#ifndef SMP_CORE_LOOK_H
#define SMP_CORE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/looker.h"

/* The pass that looks are part of: looker->look. */
struct smp_look {
    int64_t now_ns;
    int64_t span_ns;  /* credited to each; -1: the time since it was last looked at */
    bool is_settling; /* the sampler stops: answers come now or never */
    int64_t begun_ns; /* on the clock, which goes on while now_ns stands still */
};

/* Looks at it, and says when it is due again. Its answer may come with collect. False: the thread
 * has ended, and the record is gone. */
bool smp_look_at(struct smp_looker *looker, struct smp_thread_record *record);
/* Throttling began after this poll was scheduled: draws whether to skip it. True: skip. */
bool smp_look_pass_over(struct smp_looker *looker, struct smp_thread_record *record);
/* Takes the answers to all that was asked. */
void smp_look_collect(struct smp_looker *looker);
/* The thread has ended: credits its last time. True: the record is gone. */
bool smp_look_remove_ended(struct smp_looker *looker, struct smp_thread_record *record);

/* The outcome of an asynchronous walk. */
enum smp_outcome smp_look_outcome(enum smp_answer answer, const struct smp_sample *sample);

/* The group a virtual thread belongs to, by the rule for names; NULL: its time is nobody's. */
const char *smp_look_group_of_guest(struct smp_looker *looker, const struct smp_guest *guest);

/* It is one of those that are sampled, or is not any more. */
void smp_look_count_as_sampled(struct smp_looker *looker, struct smp_thread_record *record,
                               bool is_sampled);
/* Its time begins at now_ns; what was known of it, or asked, is no more. */
void smp_look_begin(struct smp_thread_record *record, int64_t now_ns);
/* It is not sampled now, and its time up to now is nobody's. */
void smp_look_leave_out(struct smp_looker *looker, struct smp_thread_record *record);
/* Due so many ticks from the last one, whatever its state; 0: at the next taking. */
void smp_look_put_in(struct smp_looker *looker, struct smp_thread_record *record, uint64_t ticks);
/* So many ticks that fit into the time, at least one. */
uint64_t smp_look_ticks_in(const struct smp_looker *looker, int64_t ns);

/* The time and the CPU time that is kept for it up to the last tick is credited by what is known.
 */
void smp_look_credit_kept(struct smp_looker *looker, struct smp_thread_record *record);
/* It is about to leave its group (thread_names.h); what is kept is credited by credit_left, when
 * the JVM may be called again. */
void smp_look_leaving(void *looker, struct smp_thread_record *record);
void smp_look_credit_left(struct smp_looker *looker, struct smp_thread_record *record);

#endif
