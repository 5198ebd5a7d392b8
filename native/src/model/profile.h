/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - one finished interval: trees, groups, names, accounting. Immutable.
 *
 * Owns     its tree, groups and counts. Holds its names. Reference counted.
 * Threads  any number of readers, on any thread; hold and release are atomic.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from create: nothing was adopted, and tree and groups have not
 *          changed. The sampler continues the interval, so no time is lost.
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
#include "model/overloads.h"
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
    bool is_cpu_clock;        /* all times but elapsed_ns are CPU times */
    uint32_t cpus;            /* CPUs that the process may use; 0: unknown */
    uint32_t cpu_quota_milli; /* the quota in thousandths of a CPU; 0: none */
    /* The monitored packages, for people. "": all are, and every frame was kept. SMP_FILTER_AUTO:
     * the packages of the guessed application. */
    char packages[SMP_PROFILE_PACKAGES_BYTES];
    char main_package[SMP_PROFILE_PACKAGES_BYTES]; /* package of the main class; "": not known */
    uint32_t max_groups; /* groups of each kind that readers want; 0: any number (group_limit.h) */
    /* The library that took over the sampler's signal, for people; "": none. */
    char signal_taker[SMP_SIGNAL_TAKER_BYTES];
    int64_t own_cpu_ns;           /* CPU the sampler's own threads used in the interval */
    int64_t longest_handshake_ns; /* 0: none was long */
    int64_t longest_handler_ns;   /* as above */
    size_t memory_used_bytes;
    size_t memory_limit_bytes;
    struct smp_tally tally; /* the sum over all groups */
    uint64_t counters[SMP_COUNTER_COUNT];
    struct smp_tree *tree; /* finished */
    struct smp_thread_groups *groups;
    /* The sampler that numbered the groups' threads, as in smp_methods_family; 0: several samplers
     * did, so threads cannot be matched with those of another profile. */
    uint64_t family;
    struct smp_profile_counts counts;  /* empty, until counted figures are added */
    struct smp_lock_times *lock_times; /* NULL: no thread was blocked, or that is not known */
    struct smp_second_times *seconds;  /* NULL: not known; its rows refer to groups */
    struct smp_methods *methods;
    struct smp_overloads overloads; /* how smp_profile_view names them */
    uint32_t *levels;        /* by node: as smp_profile_levels; NULL: recursions are not folded */
    uint32_t location_count; /* locations with ids below this may be read */
    struct smp_quota *quota; /* held */
    _Atomic unsigned holders;
};

/* Returns the measure of which the amount really is: with the CPU clock wall time is CPU time. */
static inline enum smp_measure smp_profile_measure(const struct smp_profile *profile,
                                                   enum smp_measure measure)
{
    return profile->is_cpu_clock && measure == SMP_MEASURE_WALL ? SMP_MEASURE_CPU : measure;
}

/*
 * On success adopts tree and groups, holds methods, finishes the tree, sums the groups' tallies and
 * copies the monitored packages. Called by the writer of methods, who must fill in the times,
 * counters and memory figures of the result.
 */
SMP_CHECKED enum smp_status smp_profile_create(struct smp_quota *quota, struct smp_tree *tree,
                                               struct smp_thread_groups *groups,
                                               struct smp_methods *methods,
                                               struct smp_profile **out);
/* As above, for callers that are not the writer of methods: they may read locations with ids below
 * location_count, and must fill in packages, too. */
SMP_CHECKED enum smp_status smp_profile_create_for(struct smp_quota *quota, struct smp_tree *tree,
                                                   struct smp_thread_groups *groups,
                                                   struct smp_methods *methods,
                                                   uint32_t location_count,
                                                   struct smp_profile **out);
/* As smp_methods_view, but the name of an overload has its parameters if several overloads were
 * counted: "add(Item, int)". */
void smp_profile_view(const struct smp_profile *profile, uint32_t location,
                      struct smp_location_view *out);
/* As smp_methods_frame_text and smp_methods_method_text, with the names of smp_profile_view. */
void smp_profile_frame_text(const struct smp_profile *profile, uint32_t location,
                            struct smp_bytes *out);
void smp_profile_method_text(const struct smp_profile *profile, uint32_t location,
                             struct smp_bytes *out);
/* Returns the kind of groups that a sum of this measure includes (measure.h). */
static inline enum smp_group_kind smp_profile_kind_of(enum smp_measure measure)
{
    return smp_measure_info(measure)->adding == SMP_ADDING_OWN ? SMP_GROUP_COUNTED
                                                               : SMP_GROUP_SAMPLED;
}

/* Returns the group with this index. */
static inline struct smp_group_info *smp_profile_group_info(const struct smp_profile *profile,
                                                            uint32_t index)
{
    return smp_thread_groups_info(profile->groups, (struct smp_group){ .index = index });
}

/* Returns whether this is the group of the JVM's own threads. */
bool smp_profile_group_is_jvm(const struct smp_profile *profile, uint32_t index);
/* Returns the total of the group's tree; 0 without a tree. */
int64_t smp_profile_group_total(const struct smp_profile *profile, uint32_t index,
                                enum smp_measure measure);
/* Returns the group's wall time that is not idle. */
int64_t smp_profile_group_active(const struct smp_profile *profile, uint32_t index);
/* Returns the sum over all groups of the measure's kind. O(groups). */
int64_t smp_profile_total(const struct smp_profile *profile, enum smp_measure measure);
/* Returns the kind of the tree with this node, which is not 0. O(depth); O(1) if all trees are
 * sampled ones. */
enum smp_group_kind smp_profile_node_kind(const struct smp_profile *profile, uint32_t node);
/* Returns since when all calls of methods with probes are counted, by the wall clock. */
static inline int64_t smp_profile_counted_from(const struct smp_profile *profile)
{
    return profile->counts.begin_ms > profile->from_wall_ms ? profile->counts.begin_ms
                                                            : profile->from_wall_ms;
}

/* Returns whether the application is guessed because no packages are set. */
bool smp_profile_guesses_application(const struct smp_profile *profile);
/* Returns whether no frame of the set packages was sampled, although stacks have Java frames: each
 * stack is then its root frame alone. O(nodes) at most. */
bool smp_profile_misses_packages(const struct smp_profile *profile);
struct smp_profile *smp_profile_hold(struct smp_profile *profile);
void smp_profile_release(struct smp_profile *profile); /* NULL is fine */

/* Returns the depth of the node's recursion, if recursions are folded (profile_merge.h); 0 without
 * one, or if its calls are nodes of their own. */
static inline uint32_t smp_profile_levels(const struct smp_profile *profile, uint32_t node)
{
    return profile->levels != NULL && profile->levels[node] > 1 ? profile->levels[node] : 0;
}

/* Returns the memory of trees, groups and times by second, without names, which may be shared. */
size_t smp_profile_bytes(const struct smp_profile *profile);

/* Returns true if there is nothing to report: no poll was made, no thread group but [JVM] has time
 * or calls, no interval was dropped since the last one, and no library took over the signal. */
bool smp_profile_is_empty(const struct smp_profile *profile);

#endif
