/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_range.h - between which figures the true one lies, in 95 of 100 intervals.
 *
 * A row has its time from finds, each of which stands for some of it. So a figure is like a count
 * of independent events of one weight, whose range is that of a gamma distribution: 1.96 standard
 * deviations to either side where finds are many, and longer upwards where they are few. Of a row
 * that has most of its group's time, it is the rest that is counted so.
 *
 *   wall   The variance is that of the tree's error sums. A find of a thread that seldom runs
 *          stands for the more time the longer the thread had slept. A row that only light ones
 *          have found might have been found by heavy ones: it has its share of the variance of the
 *          group's running time, if that is more.
 *   cpu    As wall, but only polls that found the thread running count. The group's sum is what the
 *          clocks say: only how rows share it is a matter of chance.
 *
 * What has changed in no poll is exact: a row without variance, samples and calls.
 *
 * Owns     plain data, valid as long as the profile.
 * Threads  any.
 * Errors   where an error is not known, the variance is below 0, and there is no range.
 * Cost     init: O(1). The others: some 20 ns; own: and O(children).
 */
#ifndef SMP_MODEL_ERROR_RANGE_H
#define SMP_MODEL_ERROR_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

/* Both are the figure itself where that is exact. */
struct smp_error_range {
    int64_t lower;
    int64_t upper;
};

struct smp_error {
    double variance; /* in square nanoseconds; below 0: not known */
    double find_ns;  /* what a find stands for, at least; 0: that follows from the variance */
};

/* The error of a sum. */
static inline void smp_error_add(struct smp_error *sum, struct smp_error more)
{
    const bool is_known = sum->variance >= 0 && more.variance >= 0;

    sum->variance = is_known ? sum->variance + more.variance : -1;
    if (more.find_ns > sum->find_ns)
        sum->find_ns = more.find_ns;
}

/* Of an amount in nanoseconds. all: what it is a part of, which is exact; below 0: none. The error
 * is known. */
struct smp_error_range smp_error_range_of(int64_t amount, int64_t all, struct smp_error error);

/* What is known of the errors in a group. */
struct smp_group_errors {
    const struct smp_profile *profile; /* NULL: nothing */
    bool is_sampled;                   /* trees of other kinds have none */
    int64_t wall_ns;                   /* of the group; below 0: not exact itself */
    int64_t cpu_ns;                    /* likewise, and always exact */
    double running_variance;           /* of found_ns, in square nanoseconds */
    double found_ns;                   /* how much running time polls have found */
};

/* root: the group's. */
struct smp_group_errors smp_group_errors_of(const struct smp_profile *profile, uint32_t root);

/* Of the node's WALL or CPU time, with that of all below it. */
struct smp_error smp_group_errors_total(const struct smp_group_errors *errors, uint32_t node,
                                        enum smp_measure measure);
/* The same of what the node has itself: never too small, and too large where its children take
 * turns. */
struct smp_error smp_group_errors_own(const struct smp_group_errors *errors, uint32_t node,
                                      enum smp_measure measure);

/* The range of a node's total, or, of a measure that adds up as OWN, of what it has itself. False:
 * not known. */
SMP_CHECKED bool smp_group_errors_range(const struct smp_group_errors *errors, uint32_t node,
                                        enum smp_measure measure, struct smp_error_range *out);

#endif
