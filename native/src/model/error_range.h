/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_range.h - error bars: the range that has the true figure in 95 of 100 intervals.
 *
 * Polls find a row, and each find stands for some of its time. So a figure is like a count of
 * independent events of one weight, and its range follows from a gamma distribution: 1.96 standard
 * deviations to either side with many finds, and longer upwards with few. A row with most of its
 * group's time has the range of the group's other time.
 *
 *   wall   The variance comes from the tree's error sums. The longer a thread has slept, the more
 *          time a find of it stands for. A row with only light finds could as well have had heavy
 *          ones, so it gets at least its share of the variance of the group's running time.
 *   cpu    As wall, but only polls that found the thread running count. The group's sum comes from
 *          the clocks and is exact; only its division among the rows is a matter of chance.
 *
 * Figures that no poll has changed are exact: rows without variance, samples and calls.
 *
 * Owns     plain data, valid as long as the profile.
 * Threads  any.
 * Errors   an unknown error has a variance below 0, and no range.
 * Cost     init: O(1). The others: about 20 ns; own also O(children).
 */
#ifndef SMP_MODEL_ERROR_RANGE_H
#define SMP_MODEL_ERROR_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

/* Both ends are the figure itself if that is exact. */
struct smp_error_range {
    int64_t lower;
    int64_t upper;
};

struct smp_error {
    double variance; /* in square nanoseconds; below 0: not known */
    double find_ns;  /* the smallest weight of a find; 0: follows from the variance */
};

/* Adds an error to the error of a sum. */
static inline void smp_error_add(struct smp_error *sum, struct smp_error more)
{
    const bool is_known = sum->variance >= 0 && more.variance >= 0;

    sum->variance = is_known ? sum->variance + more.variance : -1;
    if (more.find_ns > sum->find_ns)
        sum->find_ns = more.find_ns;
}

/* Returns the range of an amount in nanoseconds. all: the exact amount that it is a part of; below
 * 0: none. The error must be known. */
struct smp_error_range smp_error_range_of(int64_t amount, int64_t all, struct smp_error error);

/* The error figures of a group. */
struct smp_group_errors {
    const struct smp_profile *profile; /* NULL: all figures are exact */
    bool is_sampled;                   /* trees of other kinds have no errors */
    int64_t wall_ns;                   /* of the group; below 0: not exact */
    int64_t cpu_ns;                    /* of the group; always exact */
    double running_variance;           /* of found_ns, in square nanoseconds */
    double found_ns;                   /* running time that polls have found */
};

/* root: the root of the group. */
struct smp_group_errors smp_group_errors_of(const struct smp_profile *profile, uint32_t root);

/* Returns the error of the node's total WALL or CPU time. */
struct smp_error smp_group_errors_total(const struct smp_group_errors *errors, uint32_t node,
                                        enum smp_measure measure);
/* Returns the error of the node's own time: never too small; too large if children alternate. */
struct smp_error smp_group_errors_own(const struct smp_group_errors *errors, uint32_t node,
                                      enum smp_measure measure);

/* Computes the range of a node's total, or of its own amount if the measure adds up as OWN. Returns
 * false if the range is not known. */
SMP_CHECKED bool smp_group_errors_range(const struct smp_group_errors *errors, uint32_t node,
                                        enum smp_measure measure, struct smp_error_range *out);

#endif
