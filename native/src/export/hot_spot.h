/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spot.h - a hot spot and a list of them, made by hot_spots.h and spot_details.h.
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
    SMP_SUMMARY_SPOTS = 10,   /* in the summary */
    SMP_HOT_SPOT_SHARE = 100, /* part of the active time: shorter spots are not listed there */
    SMP_MAX_HOT_PACKAGES = 3
};

/* The key of a spot. */
enum smp_spot_key {
    SMP_SPOT_STATE, /* a place in one state */
    SMP_SPOT_PLACE, /* a place, with all of its active time */
    SMP_SPOT_METHOD /* the innermost method, of any code, with its own time */
};

/* The choice of the spots to be listed. */
struct smp_spot_choice {
    enum smp_spot_key key;
    size_t most; /* at most SMP_MAX_HOT_SPOTS */
    /* A spot is listed if it has at least 1 / share of the whole */
    int64_t share;
    bool by_group;            /* STATE only: each spot is of one group, and waits is empty */
    enum smp_measure measure; /* the measure of ns; WALL: active time. STATE: always WALL */
};

struct smp_hot_spot {
    uint32_t place;             /* a location, also for a method; 0: no row of the user's code */
    enum smp_measure measure;   /* its state with the most time; WALL: states are not known */
    int64_t ns;                 /* or another unit of the measure */
    struct smp_amounts amounts; /* all its amounts */
    struct smp_error error;     /* variance below 0: not known */
    int64_t calls;              /* of its method; 0: not counted */
    /* With the key STATE only: */
    /* Exact wall time of the groups that have some of it; below 0: not exact */
    int64_t all_ns;
    uint32_t callee;      /* a line of the called method with most of it; 0: the place itself */
    uint32_t group;       /* index of the thread group with most of it */
    uint32_t group_count; /* groups that have some of it */
    /* BLOCKED only: the lock with most of the time and the line that held it, both 0 if not known;
     * the group of holders with that line, if known. */
    uint32_t lock;
    uint32_t holding;
    uint32_t holder;
    bool has_holder;
};

/* The first two parts of the package name of places: "com.acme". */
struct smp_hot_package {
    const char *class_name; /* a class in it; borrowed */
    size_t length;          /* of the package within class_name; 0: no package */
    int64_t ns;
};

struct smp_hot_spots {
    bool has_states;
    int64_t active_ns; /* the whole; the total if the measure is not WALL */
    struct smp_hot_spot list[SMP_MAX_HOT_SPOTS];
    size_t count;
    int64_t others_ns;
    size_t others;
    struct smp_hot_spot outside; /* ns 0: none */
    struct smp_hot_spot waits;   /* likewise */
    /* The packages of all spots: that of the main class first, the others by descending time. */
    struct smp_hot_package packages[SMP_MAX_HOT_PACKAGES];
    size_t package_count;
    size_t other_packages; /* a lower bound */
};

#endif
