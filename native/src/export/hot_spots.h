/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spots.h - where the active time of a profile was spent, by lines of the user's code.
 *
 *   Thread.run ── Orders.handle:31 ── Store.find:77 ─┬─ Thread.sleep ── sleep0     waiting
 *                 (user's code)       (user's code)  └─ Map.get                    running
 *
 *   two hot spots: Store.find:77 waiting in Thread.sleep, Store.find:77 running in Map.get
 *
 * The place of a stack is its innermost row of the user's code (wait_rules.h). A hot spot is a
 * place and a state, over all sampled groups: the time that the place and what it called had in
 * that state. Idle time is in none, and neither is [JVM]. Where states are not known, a hot spot is
 * a place, and its time is all of its time.
 *
 *   sum of list + others_ns + outside.ns = active_ns
 *
 * Listed are the longest, in descending time, ties in the order of their texts. A spot that is
 * shorter than a part of the active time (the summary: a hundredth) is not listed. By group, a hot
 * spot is a place, a state and a group. outside: stacks without a row of the user's code; its
 * callee is the method that ran.
 *
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA; there is nothing to fini in any case.
 * Cost     init: a few passes over the nodes, a sort of the distinct spots. Working memory: 12
 *          bytes a node, and 51 for each {place, state, callee, group}.
 */
#ifndef SMP_EXPORT_HOT_SPOTS_H
#define SMP_EXPORT_HOT_SPOTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/error_range.h"
#include "model/profile.h"

enum {
    SMP_MAX_HOT_SPOTS = 64,
    SMP_SUMMARY_SPOTS = 10,   /* of the summary */
    SMP_HOT_SPOT_SHARE = 100, /* of the active time: a smaller part is not listed there */
    SMP_MAX_HOT_PACKAGES = 3
};

/* Which spots are listed. */
struct smp_spot_choice {
    size_t most;   /* at most SMP_MAX_HOT_SPOTS */
    int64_t share; /* one that is shorter than one part of so many of the active time is not */
    bool by_group; /* each is of one group */
};

struct smp_hot_spot {
    uint32_t place;           /* a location; 0: no row of the user's code */
    enum smp_measure measure; /* of its state; WALL: all of its time, or all that is active */
    int64_t ns;
    /* Of the place's time, whatever its state; not known without error bars. */
    struct smp_error error;
    int64_t all_ns;       /* of the groups that have some of it, which is exact; below 0: is not */
    uint32_t callee;      /* a line of the method it called that has most of it; 0: itself has */
    uint32_t group;       /* the index of the thread group with most of it */
    uint32_t group_count; /* so many have some */
    int64_t calls;        /* of its method; 0: not counted */
    /* BLOCKED only: the lock with most of the time, the line that held it, both 0 if not known; the
     * group of holders with that line, and whether it is known. */
    uint32_t lock;
    uint32_t holding;
    uint32_t holder;
    bool has_holder;
};

/* The first two parts of the names of places' packages: "com.acme". */
struct smp_hot_package {
    const char *class_name; /* of a class in it; borrowed */
    size_t length;          /* of the package in it; 0: no package */
    int64_t ns;
};

struct smp_hot_spots {
    bool has_states;
    int64_t active_ns;
    struct smp_hot_spot list[SMP_MAX_HOT_SPOTS];
    size_t count;
    int64_t others_ns;
    size_t others;
    struct smp_hot_spot outside; /* ns 0: there is none */
    /* Of all spots, in descending time. */
    struct smp_hot_package packages[SMP_MAX_HOT_PACKAGES];
    size_t package_count;
    size_t other_packages; /* as far as they were counted */
};

/* Those of the summary. quota: of the working memory; may be NULL. */
SMP_CHECKED enum smp_status smp_hot_spots_init(struct smp_hot_spots *spots, struct smp_quota *quota,
                                               const struct smp_profile *profile);
SMP_CHECKED enum smp_status smp_hot_spots_choose(struct smp_hot_spots *spots,
                                                 struct smp_quota *quota,
                                                 const struct smp_profile *profile,
                                                 const struct smp_spot_choice *choice);

#endif
