/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spots.h - where the active time of a profile was spent, by lines of the user's code.
 *
 *   Thread.run ── Orders.handle:31 ── Store.find:77 ─┬─ Thread.sleep ── sleep0     waiting
 *                 (user's code)       (user's code)  └─ Map.get                    running
 *
 *   two hot spots: Store.find:77 waiting in Thread.sleep, Store.find:77 running in Map.get
 *
 * A hot spot is a place (spot_places.h) and a state, over all sampled groups: the time that the
 * place and what it called had in that state. Running and runnable are one state here: a thread
 * that wants a CPU computes as soon as it gets one. The one with more of the time names it. Idle
 * time is in none, and neither is [JVM]. If states are not known, a hot spot is a place, and its
 * time is all of its time.
 *
 *   sum of list + others_ns + outside.ns + waits.ns = active_ns
 *
 * outside: stacks without a row of the user's code; its callee is the method that ran.
 *
 * waits: a thread that only waits for others to finish (wait_rules.h), as main does in Thread.join,
 * is no cause of anything: the others are. So such waits are no spots in groups that have nine
 * tenths of their active time in them; the callee is the line with most of it. In other groups, as
 * one of requests, a wait for a result is a hot spot like any other.
 *
 * Listed are the longest, in descending time, ties in the order of their texts. A spot that is
 * shorter than a part of the active time (the summary: a hundredth) is not listed.
 *
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA; there is nothing to fini in any case.
 * Cost     init: a few passes over the nodes, a sort of the distinct parts. Working memory: 12
 *          bytes a node, and some 130 for each {place, callee, group}.
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

/* What makes a spot. */
enum smp_spot_key {
    SMP_SPOT_STATE, /* a place and a state */
    SMP_SPOT_PLACE, /* a place, with all of its active time */
    SMP_SPOT_METHOD /* the method that ran or waited, of any code, with what it has itself */
};

/* Which spots are listed. */
struct smp_spot_choice {
    enum smp_spot_key key;
    size_t most;             /* at most SMP_MAX_HOT_SPOTS */
    int64_t share;           /* a spot shorter than one part of so many of the whole is not */
    bool by_group;           /* each is of one group, and waits has nothing */
    enum smp_measure weight; /* what their ns are of; WALL: active time. STATE: always WALL */
};

struct smp_hot_spot {
    uint32_t place;             /* a location, also of a method; 0: no row of the user's code */
    enum smp_measure measure;   /* its state, the one with most of it; WALL: states are not known */
    int64_t ns;                 /* or what the weight counts */
    struct smp_amounts amounts; /* all that it has */
    struct smp_error error;     /* variance below 0: not known */
    int64_t all_ns;       /* of the groups that have some of it, which is exact; below 0: is not */
    uint32_t callee;      /* a line of the method it called that has most of it; 0: itself has */
    uint32_t group;       /* the index of the thread group with most of it */
    uint32_t group_count; /* so many have some */
    int64_t calls;        /* of its method; 0: not counted */
    int64_t calls_ns;     /* wall time of the method itself in counted trees */
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
    int64_t active_ns; /* the whole: of another weight than WALL, all of that */
    struct smp_hot_spot list[SMP_MAX_HOT_SPOTS];
    size_t count;
    int64_t others_ns;
    size_t others;
    struct smp_hot_spot outside; /* ns 0: there is none */
    struct smp_hot_spot waits;   /* likewise */
    /* Of all spots: first that of the main class, the others in descending time. */
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
