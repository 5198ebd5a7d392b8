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
        if (counts->rows[i].tree == tree && counts->rows[i].call.ordinal == ordinal)
            return &counts->rows[i];
    }
    return NULL;
}

static void add_extremes(struct call_extremes *sum, const struct smp_counted_call *call)
{
    if (call->ended == 0) {
        assert_int_equal(call->least_ns, 0);
        assert_int_equal(call->most_ns, 0);
        return;
    }
    assert_true(call->least_ns <= call->most_ns);
    if (sum->ended == 0 || call->least_ns < sum->least_ns)
        sum->least_ns = call->least_ns;
    if (call->most_ns > sum->most_ns)
        sum->most_ns = call->most_ns;
    sum->ended += call->ended;
    sum->ended_ns += call->ended_ns;
}

static void add_delta(void *self, const struct smp_call_delta *delta)
{
    struct call_counts *counts = self;
    const struct smp_call_delta *known = NULL;

    assert_true(delta->call.calls >= 0 && delta->call.time_ns >= 0);
    if (delta->call.method == SMP_METHOD_UNCOUNTED) {
        counts->uncounted += delta->call.calls;
        counts->over[delta->call.loss] += delta->call.calls;
        return;
    }
    known = call_counts_row(counts, delta->tree, delta->call.ordinal);
    assert_int_equal(known == NULL, delta->is_new);
    if (known == NULL) {
        assert_true(counts->count < CALL_COUNTS_ROWS);
        if (delta->call.parent != 0)
            assert_non_null(call_counts_row(counts, delta->tree, delta->call.parent));
        add_extremes(&counts->extremes[counts->count], &delta->call);
        counts->rows[counts->count++] = *delta;
        return;
    }
    struct smp_call_delta *row = &counts->rows[known - counts->rows];
    add_extremes(&counts->extremes[known - counts->rows], &delta->call);
    assert_int_equal(row->call.method, delta->call.method);
    assert_int_equal(row->call.parent, delta->call.parent);
    row->call.calls += delta->call.calls;
    row->call.time_ns += delta->call.time_ns;
    row->call.least_ns = delta->call.least_ns;
    row->call.most_ns = delta->call.most_ns;
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
    counts->reads++;
    smp_call_read(&visitor);
}

/* Each read rounds its times down, and measures the clock's tick anew: so a nanosecond of each read
 * and of each call, and one in a hundred. */
void call_counts_assert_means(const struct call_counts *counts)
{
    for (size_t i = 0; i < counts->count; i++) {
        const struct call_extremes *const row = &counts->extremes[i];
        const int64_t most_ns = (row->most_ns + 1) * row->ended;
        const int64_t least_ns = (row->least_ns - 1) * row->ended - counts->reads;
        assert_true(row->ended_ns <= most_ns + most_ns / 100);
        assert_true(row->ended_ns >= least_ns - least_ns / 100);
    }
}

int64_t call_counts_of(const struct call_counts *counts, int32_t method)
{
    int64_t calls = 0;

    for (size_t i = 0; i < counts->count; i++)
        calls += counts->rows[i].call.method == method ? counts->rows[i].call.calls : 0;
    return calls;
}

int64_t call_counts_of_thread(const struct call_counts *counts, int64_t tid)
{
    int64_t calls = 0;

    for (size_t i = 0; i < counts->count; i++)
        calls += counts->rows[i].tid == tid ? counts->rows[i].call.calls : 0;
    return calls;
}

int64_t call_counts_sum(const struct call_counts *counts)
{
    int64_t calls = 0;

    for (size_t i = 0; i < counts->count; i++)
        calls += counts->rows[i].call.calls;
    return calls;
}
