/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spot.h - what is known of a hot spot, and of those that a list has (hot_spots.h).
 *
 * Threads  any: plain values.
 */
#ifndef SMP_EXPORT_HOT_SPOT_H
#define SMP_EXPORT_HOT_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/error_range.h"
#include "model/measure.h"

enum {
    SMP_MAX_HOT_SPOTS = 64,
    SMP_SUMMARY_SPOTS = 10,   /* of the summary */
    SMP_HOT_SPOT_SHARE = 100, /* of the active time: a smaller part is not listed there */
    SMP_MAX_HOT_PACKAGES = 3
};

/* The key of a spot. */
enum smp_spot_key {
    SMP_SPOT_STATE, /* a place and a state */
    SMP_SPOT_PLACE, /* a place, with all of its active time */
    SMP_SPOT_METHOD /* the method that ran or waited, of any code, with what it has itself */
};

/* Which spots are listed. */
struct smp_spot_choice {
    enum smp_spot_key key;
    size_t most;              /* at most SMP_MAX_HOT_SPOTS */
    int64_t share;            /* a spot shorter than one part of so many of the whole is not */
    bool by_group;            /* STATE only: each is of one group, and waits has nothing */
    enum smp_measure measure; /* what their ns are of; WALL: active time. STATE: always WALL */
};

struct smp_hot_spot {
    uint32_t place;             /* a location, also of a method; 0: no row of the user's code */
    enum smp_measure measure;   /* its state, the one with most of it; WALL: states are not known */
    int64_t ns;                 /* or what the measure counts */
    struct smp_amounts amounts; /* all that it has */
    struct smp_error error;     /* variance below 0: not known */
    int64_t calls;              /* of its method; 0: not counted */
    /* By STATE only. */
    int64_t all_ns;       /* of the groups that have some of it, which is exact; below 0: is not */
    uint32_t callee;      /* a line of the method it called that has most of it; 0: itself has */
    uint32_t group;       /* the index of the thread group with most of it */
    uint32_t group_count; /* so many have some */
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
    int64_t active_ns; /* the whole: of another measure than WALL, all of that */
    struct smp_hot_spot list[SMP_MAX_HOT_SPOTS];
    size_t count;
    int64_t others_ns;
    size_t others;
    struct smp_hot_spot outside; /* ns 0: there is none */
    struct smp_hot_spot waits;   /* likewise */
    /* The packages of all spots: that of the main class first, the others in descending time. */
    struct smp_hot_package packages[SMP_MAX_HOT_PACKAGES];
    size_t package_count;
    size_t other_packages; /* as far as they were counted */
};

#endif
