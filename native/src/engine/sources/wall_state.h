/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_state.h - what the parts of the wall source share.
 *
 * Owns     plain data.
 * Threads  the sampler thread only.
 */
#ifndef SMP_ENGINE_SOURCES_WALL_STATE_H
#define SMP_ENGINE_SOURCES_WALL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/blocked_waits.h"
#include "engine/sources/cpu_loss.h"
#include "engine/sources/poll_schedule.h"
#include "engine/sources/roster.h"
#include "engine/sources/walks.h"
#include "engine/sources/wall_thread.h"

/* A round of polls. */
struct smp_poll {
    int64_t now_ns;
    bool is_last;        /* sampling stops: answers come now or never */
    unsigned polls;      /* made so far */
    unsigned idle_polls; /* of these, of threads that had not run */
};

struct smp_wall {
    struct smp_quota *quota;
    struct smp_roster *roster;
    struct smp_attribution *attribution;
    struct smp_walks walks;
    struct smp_poll_schedule schedule;
    struct smp_holders holders;
    int64_t covered_ns; /* the last tick */
    struct smp_cpu_loss loss;
    struct smp_poll *poll; /* the running one; NULL between ticks */
};

static inline struct smp_wall_thread *smp_wall_thread_at(const struct smp_wall *wall, size_t index)
{
    return smp_wall_thread_of(wall->roster->table.records[index]);
}

#endif
