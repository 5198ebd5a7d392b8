/* SPDX-License-Identifier: Apache-2.0 */
#include "model/second_times.h"

#include "base/memory_budget.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

enum { FIRST_SLOTS = 64, ROWS = 1 + SMP_MAX_SECOND_GROUPS };

struct column {
    uint32_t *slots;
    uint32_t capacity;
    uint32_t used;    /* later slots are 0 */
    int64_t carry_ns; /* below a millisecond, in no slot yet; negative: more was subtracted */
    bool has_lost;
};

struct row {
    uint32_t group;
    struct column columns[SMP_THREAD_STATE_COUNT];
};

struct smp_second_times {
    struct smp_memory_budget budget;
    int64_t width; /* seconds */
    int64_t first; /* slot 0 begins at the second first * width */
    uint32_t used; /* slots in use, over all rows */
    /* The slot that was used last, and its span. */
    uint32_t at;
    struct smp_span at_span;
    uint64_t lost;
    uint32_t row_count;
    struct row rows[ROWS];
};

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* --- life --- */

static struct column *column_of(struct smp_second_times *times, uint32_t row,
                                enum smp_thread_state state)
{
    return &times->rows[row].columns[state];
}

enum smp_status smp_second_times_create(struct smp_quota *quota, struct smp_second_range range,
                                        struct smp_second_times **out)
{
    struct smp_second_times *times = smp_alloc(quota, sizeof(*times));

    if (times == NULL)
        return SMP_ENOMEM;
    times->budget = (struct smp_memory_budget){
        .quota = quota,
        .max_bytes = quota == NULL ? SIZE_MAX : quota->limit_bytes / SMP_SECONDS_LIMIT_SHARE,
    };
    times->row_count = 1;
    times->width = range.width;
    while (divide_down(range.till - 1, times->width) - divide_down(range.from, times->width) >=
           SMP_MAX_SECOND_SLOTS)
        times->width *= 2;
    times->first = divide_down(range.from, times->width);
    *out = times;
    return SMP_OK;
}

void smp_second_times_destroy(struct smp_second_times *times)
{
    if (times == NULL)
        return;
    for (uint32_t row = 0; row < times->row_count; row++) {
        for (int state = 0; state < SMP_THREAD_STATE_COUNT; state++) {
            struct column *const column = &times->rows[row].columns[state];
            smp_memory_budget_give(&times->budget, column->slots,
                                   column->capacity * sizeof(*column->slots));
        }
    }
    smp_free(times->budget.quota, times);
}

uint32_t smp_second_times_new_row(struct smp_second_times *times, uint32_t group)
{
    if (times->row_count == ROWS)
        return 0;
    times->rows[times->row_count].group = group;
    return times->row_count++;
}

/* --- slots --- */

static uint32_t add_clamped(uint32_t a, uint64_t b)
{
    return b > UINT32_MAX - a ? UINT32_MAX : a + (uint32_t)b;
}

static void lose(struct smp_second_times *times, struct column *column)
{
    times->lost++;
    column->has_lost = true;
}

static void put_millis(struct smp_second_times *times, struct column *column, uint32_t slot,
                       uint64_t ms)
{
    if (ms > UINT32_MAX - column->slots[slot])
        lose(times, column);
    column->slots[slot] = add_clamped(column->slots[slot], ms);
}

static uint32_t folded(const struct smp_second_times *times, uint32_t slot)
{
    return (uint32_t)(divide_down(times->first + slot, 2) - divide_down(times->first, 2));
}

static void fold_column(struct smp_second_times *times, struct column *column)
{
    for (uint32_t slot = 0; slot < column->used; slot++) {
        const uint32_t to = folded(times, slot);
        const uint32_t ms = column->slots[slot];
        column->slots[slot] = 0;
        put_millis(times, column, to, ms);
    }
    column->used = column->used == 0 ? 0 : folded(times, column->used - 1) + 1;
}

/* Doubles the width of the slots. */
static void widen_slots(struct smp_second_times *times)
{
    for (uint32_t row = 0; row < times->row_count; row++) {
        for (int state = 0; state < SMP_THREAD_STATE_COUNT; state++)
            fold_column(times, &times->rows[row].columns[state]);
    }
    times->used = times->used == 0 ? 0 : folded(times, times->used - 1) + 1;
    times->first = divide_down(times->first, 2);
    times->width *= 2;
}

/* Returns the slot of this time, or the first one for earlier times. */
static uint32_t second_slot(struct smp_second_times *times, int64_t at_ns)
{
    int64_t slot;

    if (at_ns >= times->at_span.from_ns && at_ns < times->at_span.till_ns)
        return times->at;
    slot = divide_down(divide_down(at_ns, NS_PER_SECOND), times->width) - times->first;
    for (; slot >= SMP_MAX_SECOND_SLOTS; widen_slots(times))
        slot = divide_down(times->first + slot, 2) - divide_down(times->first, 2);
    slot = slot < 0 ? 0 : slot;
    times->at = (uint32_t)slot;
    times->at_span.from_ns = (times->first + slot) * times->width * NS_PER_SECOND;
    times->at_span.till_ns = times->at_span.from_ns + times->width * NS_PER_SECOND;
    if (times->used <= times->at)
        times->used = times->at + 1;
    return times->at;
}

/* Returns false without memory. */
static bool grow_to(struct smp_second_times *times, struct column *column, uint32_t slot)
{
    uint32_t capacity = column->capacity == 0 ? FIRST_SLOTS : column->capacity;
    uint32_t *grown;

    while (capacity <= slot)
        capacity *= 2;
    capacity = capacity < SMP_MAX_SECOND_SLOTS ? capacity : SMP_MAX_SECOND_SLOTS;
    if (capacity > column->capacity) {
        grown =
            smp_memory_budget_grow(&times->budget, column->slots, column->capacity * sizeof(*grown),
                                   capacity * sizeof(*grown));
        if (grown == NULL)
            return false;
        column->slots = grown;
        column->capacity = capacity;
    }
    if (column->used <= slot)
        column->used = slot + 1;
    return true;
}

/* --- add, take --- */

static void put_ns(struct smp_second_times *times, struct column *column, uint32_t slot, int64_t ns)
{
    column->carry_ns += ns;
    if (column->carry_ns < NS_PER_MS)
        return;
    put_millis(times, column, slot, (uint64_t)(column->carry_ns / NS_PER_MS));
    column->carry_ns %= NS_PER_MS;
}

/* Returns the part of ns before at_ns, if ns is spread evenly over the span. */
static int64_t part_until(struct smp_span span, int64_t at_ns, int64_t ns)
{
    const int64_t length_ns = span.till_ns - span.from_ns;

    if (at_ns <= span.from_ns)
        return 0;
    if (ns == length_ns)
        return at_ns - span.from_ns;
    return (int64_t)((double)ns * ((double)(at_ns - span.from_ns) / (double)length_ns));
}

void smp_second_times_add(struct smp_second_times *times, uint32_t row, enum smp_thread_state state,
                          struct smp_span span, int64_t ns)
{
    struct column *const column = column_of(times, row, state);
    const uint32_t last = second_slot(times, span.till_ns - 1);
    const int64_t slot_ns = times->width * NS_PER_SECOND;
    int64_t done_ns = 0;

    if (ns <= 0)
        return;
    if (!grow_to(times, column, last)) {
        lose(times, column);
        return;
    }
    if (span.from_ns < times->at_span.from_ns) {
        const int64_t last_ns = times->at_span.from_ns;
        const uint32_t first = second_slot(times, span.from_ns);
        for (uint32_t slot = first; slot < last; slot++) {
            const int64_t until_ns =
                part_until(span, last_ns - (int64_t)(last - slot - 1) * slot_ns, ns);
            put_ns(times, column, slot, until_ns - done_ns);
            done_ns = until_ns;
        }
    }
    put_ns(times, column, last, ns - done_ns);
}

void smp_second_times_take(struct smp_second_times *times, uint32_t row,
                           enum smp_thread_state state, int64_t till_ns, int64_t ns)
{
    struct column *const column = column_of(times, row, state);
    uint32_t slot = second_slot(times, till_ns - 1) + 1;

    column->carry_ns -= ns;
    slot = slot < column->used ? slot : column->used;
    while (column->carry_ns < 0 && slot-- > 0) {
        const int64_t wanted_ms = (-column->carry_ns + NS_PER_MS - 1) / NS_PER_MS;
        const int64_t has_ms = column->slots[slot];
        const int64_t taken_ms = wanted_ms < has_ms ? wanted_ms : has_ms;
        column->slots[slot] -= (uint32_t)taken_ms;
        column->carry_ns += taken_ms * NS_PER_MS;
    }
}

/* --- the end of an interval --- */

static uint64_t sum_of(const struct column *column)
{
    uint64_t sum = 0;

    for (uint32_t slot = 0; slot < column->used; slot++)
        sum += column->slots[slot];
    return sum;
}

/* Scales each prefix sum of the slots, so that the whole sum is exactly total_ms. */
static void scale(struct smp_second_times *times, struct column *column, uint64_t sum_ms,
                  uint64_t total_ms)
{
    uint64_t before_ms = 0;
    uint64_t done_ms = 0;

    for (uint32_t slot = 0; slot < column->used; slot++) {
        uint64_t until_ms = total_ms;
        before_ms += sum_ms == 0 ? 1 : column->slots[slot];
        if (before_ms < (sum_ms == 0 ? column->used : sum_ms))
            until_ms =
                (uint64_t)((double)total_ms *
                           ((double)before_ms / (double)(sum_ms == 0 ? column->used : sum_ms)));
        until_ms = until_ms < total_ms ? until_ms : total_ms;
        column->slots[slot] = 0;
        put_millis(times, column, slot, until_ms - done_ms);
        done_ms = until_ms;
    }
}

void smp_second_times_fit(struct smp_second_times *times, uint32_t row, enum smp_thread_state state,
                          int64_t total_ns)
{
    struct column *const column = column_of(times, row, state);
    const uint64_t total_ms = (uint64_t)(total_ns / NS_PER_MS);
    const uint64_t sum_ms = sum_of(column);

    column->carry_ns = 0;
    if (column->has_lost || sum_ms == total_ms)
        return;
    if (sum_ms == 0 && !grow_to(times, column, times->used == 0 ? 0 : times->used - 1)) {
        lose(times, column);
        return;
    }
    scale(times, column, sum_ms, total_ms);
}

void smp_second_times_shift(struct smp_second_times *times, int64_t seconds)
{
    times->first = divide_down(times->first * times->width + seconds, times->width);
    times->at_span = (struct smp_span){ 0 };
}

void smp_second_times_add_row(struct smp_second_times *times, uint32_t row,
                              const struct smp_second_times *from, uint32_t from_row)
{
    for (int state = 0; state < SMP_THREAD_STATE_COUNT; state++) {
        const struct column *const more = &from->rows[from_row].columns[state];
        struct column *const column = column_of(times, row, (enum smp_thread_state)state);
        if (more->has_lost)
            column->has_lost = true;
        for (uint32_t slot = 0; slot < more->used; slot++) {
            const int64_t second = (from->first + slot) * from->width;
            const uint32_t to = second_slot(times, second * NS_PER_SECOND);
            if (more->slots[slot] == 0)
                continue;
            if (grow_to(times, column, to))
                put_millis(times, column, to, more->slots[slot]);
            else
                lose(times, column);
        }
    }
}

/* --- reading --- */

size_t smp_second_times_bytes(const struct smp_second_times *times)
{
    return times == NULL ? 0 : sizeof(*times) + times->budget.used_bytes;
}

uint64_t smp_second_times_lost(const struct smp_second_times *times)
{
    return times == NULL ? 0 : times->lost;
}

struct smp_second_range smp_second_times_range(const struct smp_second_times *times)
{
    return (struct smp_second_range){
        .from = times->first * times->width,
        .till = (times->first + times->used) * times->width,
        .width = times->width,
    };
}

uint32_t smp_second_times_rows(const struct smp_second_times *times)
{
    return times->row_count;
}

uint32_t smp_second_times_group(const struct smp_second_times *times, uint32_t row)
{
    return times->rows[row].group;
}

const uint32_t *smp_second_times_slots(const struct smp_second_times *times, uint32_t row,
                                       enum smp_thread_state state, size_t *count)
{
    const struct column *const column = &times->rows[row].columns[state];
    uint32_t used = column->used;

    while (used > 0 && column->slots[used - 1] == 0)
        used--;
    *count = used;
    return column->slots;
}
