/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_counts.h - adds up the deltas of counting/call_reader.h, one row per node.
 *
 * Owns     rows in a fixed array.
 * Threads  one.
 * Errors   a node that is reported before its caller, or too many rows, fail the test.
 */
#ifndef SMP_TEST_CALL_COUNTS_H
#define SMP_TEST_CALL_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "counting/call_reader.h"

enum { CALL_COUNTS_ROWS = 8192, CALL_COUNTS_KEPT = 64 };

/* All timed calls of a node that have ended. */
struct call_extremes {
    int64_t ended;
    int64_t ended_ns;
    int64_t least_ns;
    int64_t most_ns;
};

/* The sums of a node's deltas. */
struct call_counts {
    size_t count;
    struct smp_call_delta rows[CALL_COUNTS_ROWS];
    struct call_extremes extremes[CALL_COUNTS_ROWS]; /* of the row with the same index */
    int64_t reads;
    int64_t uncounted;
    int64_t over[SMP_LOST_COUNT]; /* the part of uncounted that has this reason */
    uint64_t ended;               /* trees that ended */
    bool kept[CALL_COUNTS_KEPT];  /* ids that still had a tree at the last read */
};

/* A zeroed struct has read nothing yet. */
void call_counts_read(struct call_counts *counts);

/* Asserts for each row that the mean of its calls is between the shortest and the longest one. No
 * timed call may have ended during the last read, because its time and its count may then be in
 * different reads; and there must have been no reset. */
void call_counts_assert_means(const struct call_counts *counts);

/* Returns NULL if there is no such row. */
const struct smp_call_delta *call_counts_row(const struct call_counts *counts, uint64_t tree,
                                             uint32_t ordinal);
int64_t call_counts_of(const struct call_counts *counts, int32_t method);
int64_t call_counts_of_thread(const struct call_counts *counts, int64_t tid);
int64_t call_counts_sum(const struct call_counts *counts);

#endif
