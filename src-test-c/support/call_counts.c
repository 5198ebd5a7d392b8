/* SPDX-License-Identifier: Apache-2.0 */
#include "support/call_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

const struct smp_call_delta *call_counts_row(const struct call_counts *counts, uint64_t tree,
                                             uint32_t ordinal)
{
    for (size_t i = 0; i < counts->count; i++) {
        if (counts->rows[i].tree == tree && counts->rows[i].ordinal == ordinal)
            return &counts->rows[i];
    }
    return NULL;
}

/* The shortest and the longest of all calls that have ended since the last read, whatever the
 * thread does meanwhile: their mean lies between the two. The time may have one call more than
 * ended, or one less, which the time of the last read had. */
static void assert_extremes(const struct smp_call_delta *delta)
{
    if (delta->ended == 0) {
        assert_int_equal(delta->least_ns, 0);
        assert_int_equal(delta->most_ns, 0);
        return;
    }
    assert_true(delta->least_ns <= delta->most_ns);
    assert_true((delta->least_ns - 1) * (delta->ended - 1) <= delta->ended_ns);
    assert_true(delta->ended_ns <= (delta->most_ns + 1) * (delta->ended + 1));
}

static void add_delta(void *self, const struct smp_call_delta *delta)
{
    struct call_counts *counts = self;
    const struct smp_call_delta *known = NULL;

    assert_true(delta->calls >= 0 && delta->time_ns >= 0);
    assert_extremes(delta);
    if (delta->method == SMP_CALL_UNCOUNTED) {
        counts->uncounted += delta->calls;
        counts->over[delta->loss] += delta->calls;
        return;
    }
    known = call_counts_row(counts, delta->tree, delta->ordinal);
    assert_int_equal(known == NULL, delta->is_new);
    if (known == NULL) {
        assert_true(counts->count < CALL_COUNTS_ROWS);
        if (delta->parent != 0)
            assert_non_null(call_counts_row(counts, delta->tree, delta->parent));
        counts->rows[counts->count++] = *delta;
        return;
    }
    struct smp_call_delta *row = &counts->rows[known - counts->rows];
    assert_int_equal(row->method, delta->method);
    assert_int_equal(row->parent, delta->parent);
    row->calls += delta->calls;
    row->time_ns += delta->time_ns;
    row->least_ns = delta->least_ns;
    row->most_ns = delta->most_ns;
}

static void end_of_tree(void *self, uint64_t tree)
{
    struct call_counts *counts = self;

    (void)tree;
    counts->ended++;
}

static void note_kept(void *self, int32_t id)
{
    struct call_counts *counts = self;

    if (id < CALL_COUNTS_KEPT)
        counts->kept[id] = true;
}

void call_counts_read(struct call_counts *counts)
{
    const struct smp_call_visitor visitor = {
        .self = counts, .on_delta = add_delta, .on_end = end_of_tree, .on_kept = note_kept
    };

    memset(counts->kept, 0, sizeof(counts->kept));
    smp_call_read(&visitor);
}

int64_t call_counts_of(const struct call_counts *counts, int32_t method)
{
    int64_t calls = 0;

    for (size_t i = 0; i < counts->count; i++)
        calls += counts->rows[i].method == method ? counts->rows[i].calls : 0;
    return calls;
}

int64_t call_counts_of_thread(const struct call_counts *counts, int64_t tid)
{
    int64_t calls = 0;

    for (size_t i = 0; i < counts->count; i++)
        calls += counts->rows[i].tid == tid ? counts->rows[i].calls : 0;
    return calls;
}

int64_t call_counts_sum(const struct call_counts *counts)
{
    int64_t calls = 0;

    for (size_t i = 0; i < counts->count; i++)
        calls += counts->rows[i].calls;
    return calls;
}
