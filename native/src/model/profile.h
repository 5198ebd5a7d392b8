/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - one finished interval: trees, groups, names, accounting. Immutable.
 *
 * Owns     its tree, groups and what it has of counting, holds its names. Reference counted.
 * Threads  any number of readers, on any thread; hold and release are atomic.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from create: nothing was adopted, tree and groups are as before
 *          (the sampler goes on with the interval, so that no time is lost).
 * Cost     create: one pass over the nodes. release of the last: O(1).
 */
#ifndef SMP_MODEL_PROFILE_H
#define SMP_MODEL_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/lock_times.h"
#include "model/methods.h"
#include "model/outcome.h"
#include "model/profile_counts.h"
#include "model/second_times.h"
#include "model/thread_groups.h"
#include "model/tree.h"

enum { SMP_PROFILE_PACKAGES_BYTES = 256, SMP_SIGNAL_TAKER_BYTES = 256 };

struct smp_profile {
    /* The wall clock at both ends, for titles; all amounts come from the monotonic clock. */
    int64_t from_wall_ms;
    int64_t till_wall_ms;
    int64_t elapsed_ns;       /* monotonic, without paused time */
    int64_t period_ns;        /* the mean time between two polls; 0: unknown */
    bool is_cpu_clock;        /* all times are CPU times, but elapsed_ns */
    uint32_t cpus;            /* that the process may use; 0: unknown */
    uint32_t cpu_quota_milli; /* CPU time per time, in thousandths: the quota; 0: none */
    /* The monitored packages, for people; "": all are, and every frame was kept; SMP_FILTER_AUTO:
     * those of the guessed application. */
    char packages[SMP_PROFILE_PACKAGES_BYTES];
    char main_package[SMP_PROFILE_PACKAGES_BYTES]; /* that of the main class; "": not known */
    uint32_t max_groups; /* of each kind that its readers want; 0: any number (group_limit.h) */
    /* The library that has taken the sampler's signal, for people; "": none. */
    char signal_taker[SMP_SIGNAL_TAKER_BYTES];
    int64_t own_cpu_ns;           /* CPU the sampler's own threads used in the interval */
    int64_t longest_handshake_ns; /* 0: none was long */
    int64_t longest_handler_ns;   /* of a walk; as above */
    size_t memory_used_bytes;
    size_t memory_limit_bytes;
    struct smp_tally tally; /* the sum over all groups */
    uint64_t counters[SMP_COUNTER_COUNT];
    struct smp_tree *tree; /* sealed */
    struct smp_thread_groups *groups;
    /* The sampler that has numbered the groups' threads, as smp_methods_family; 0: several have, so
     * no thread is the same as one of another profile. */
    uint64_t family;
    struct smp_profile_counts counts;  /* empty, until counted figures are added */
    struct smp_lock_times *lock_times; /* NULL: no thread was blocked, where that is known */
    struct smp_second_times *seconds;  /* NULL: not known; its rows' groups are those of groups */
    struct smp_methods *methods;
    uint32_t location_count; /* locations with ids below this may be read */
    struct smp_quota *quota; /* held */
    _Atomic unsigned holders;
};

/* What an amount of this measure is: by the CPU clock wall time is CPU time. */
static inline enum smp_measure smp_profile_measure(const struct smp_profile *profile,
                                                   enum smp_measure measure)
{
    return profile->is_cpu_clock && measure == SMP_MEASURE_WALL ? SMP_MEASURE_CPU : measure;
}

/*
 * On success adopts tree and groups, holds methods, seals the tree, sums the groups' tallies,
 * copies the monitored packages. Called by the writer of methods, which fills times, counters and
 * memory figures of the result before it hands it on.
 */
SMP_CHECKED enum smp_status smp_profile_create(struct smp_quota *quota, struct smp_tree *tree,
                                               struct smp_thread_groups *groups,
                                               struct smp_methods *methods,
                                               struct smp_profile **out);
/* As above, for callers that are not the writer of methods: they may read locations with ids below
 * location_count, and fill packages, too. */
SMP_CHECKED enum smp_status smp_profile_create_for(struct smp_quota *quota, struct smp_tree *tree,
                                                   struct smp_thread_groups *groups,
                                                   struct smp_methods *methods,
                                                   uint32_t location_count,
                                                   struct smp_profile **out);
/* The kind of the groups whose sum is the whole of a measure (measure.h). */
static inline enum smp_group_kind smp_profile_kind_of(enum smp_measure measure)
{
    return smp_measure_info(measure)->adding == SMP_ADDING_OWN ? SMP_GROUP_COUNTED
                                                               : SMP_GROUP_SAMPLED;
}

/* Of all groups; no time of a counted tree, which is in a sampled one, too. O(groups). */
int64_t smp_profile_total(const struct smp_profile *profile, enum smp_measure measure);
/* In a tree of which kind is the node, which is not 0? O(depth); O(1) where all are sampled. */
enum smp_group_kind smp_profile_node_kind(const struct smp_profile *profile, uint32_t node);
/* Wall clock: since when it counts all calls of methods that have their probes. */
static inline int64_t smp_profile_counted_from(const struct smp_profile *profile)
{
    return profile->counts.begin_ms > profile->from_wall_ms ? profile->counts.begin_ms
                                                            : profile->from_wall_ms;
}

/* Is the application guessed, and no packages set? */
bool smp_profile_guesses_application(const struct smp_profile *profile);
/* There is a list of monitored packages, and stacks with Java frames were seen, but no frame of
 * those packages: each stack is its root frame alone. Of sampled trees. O(nodes) at most. */
bool smp_profile_misses_packages(const struct smp_profile *profile);
struct smp_profile *smp_profile_hold(struct smp_profile *profile);
void smp_profile_release(struct smp_profile *profile); /* NULL is fine */

/* Memory of its tree, groups and times by second; names may be shared, and are not in it. */
size_t smp_profile_bytes(const struct smp_profile *profile);

/* Nothing was sampled or counted: no poll was made, and no thread group has time or calls; no
 * interval was dropped since the last one, and no library has taken the signal. The group [JVM]
 * does not count. */
bool smp_profile_is_empty(const struct smp_profile *profile);

#endif
