/* SPDX-License-Identifier: Apache-2.0 */
#include "model/root_times.h"

#include <string.h>

#include "base/lower_bound.h"
#include "model/measure.h"

enum { FIRST_ROWS = 16 };

struct smp_root_times {
    struct smp_quota *quota;
    struct smp_root_time *rows; /* ascending nodes */
    size_t count;
    size_t capacity;
};

static uint64_t node_at(const void *rows, size_t index)
{
    return ((const struct smp_root_time *)rows)[index].node;
}

/* The first row whose node is not below this one. */
static size_t find_row(const struct smp_root_times *times, uint32_t node)
{
    return smp_lower_bound(times->rows, times->count, node_at, node);
}

static enum smp_status grow_rows(struct smp_root_times *times)
{
    const size_t capacity = times->capacity == 0 ? FIRST_ROWS : 2 * times->capacity;
    struct smp_root_time *rows = NULL;

    if (times->count == SMP_MAX_ROOT_TIMES)
        return SMP_EQUOTA;
    if (times->count < times->capacity)
        return SMP_OK;
    rows = smp_realloc(times->quota, times->rows, capacity * sizeof(*rows));
    if (rows == NULL)
        return SMP_ENOMEM;
    times->rows = rows;
    times->capacity = capacity;
    return SMP_OK;
}

static void add_calls(struct smp_root_time *row, const struct smp_root_time *more)
{
    row->calls = smp_add_clamped(row->calls, more->calls);
    row->total_ns = smp_add_clamped(row->total_ns, more->total_ns);
    if (more->min_ns < row->min_ns)
        row->min_ns = more->min_ns;
    if (more->max_ns > row->max_ns)
        row->max_ns = more->max_ns;
}

enum smp_status smp_root_times_create(struct smp_quota *quota, struct smp_root_times **out)
{
    struct smp_root_times *times = smp_alloc(quota, sizeof(*times));

    if (times == NULL)
        return SMP_ENOMEM;
    times->quota = quota;
    *out = times;
    return SMP_OK;
}

void smp_root_times_destroy(struct smp_root_times *times)
{
    if (times == NULL)
        return;
    smp_free(times->quota, times->rows);
    smp_free(times->quota, times);
}

enum smp_status smp_root_times_add(struct smp_root_times *times, const struct smp_root_time *time)
{
    const size_t at = find_row(times, time->node);
    enum smp_status status;

    if (time->calls == 0)
        return SMP_OK;
    if (at < times->count && times->rows[at].node == time->node) {
        add_calls(&times->rows[at], time);
        return SMP_OK;
    }
    status = grow_rows(times);
    if (status != SMP_OK)
        return status;
    memmove(&times->rows[at + 1], &times->rows[at], (times->count - at) * sizeof(*times->rows));
    times->rows[at] = *time;
    times->count++;
    return SMP_OK;
}

const struct smp_root_time *smp_root_times_find(const struct smp_root_times *times, uint32_t node)
{
    size_t at;

    if (times == NULL)
        return NULL;
    at = find_row(times, node);
    return at < times->count && times->rows[at].node == node ? &times->rows[at] : NULL;
}

size_t smp_root_times_count(const struct smp_root_times *times)
{
    return times == NULL ? 0 : times->count;
}

const struct smp_root_time *smp_root_times_at(const struct smp_root_times *times, size_t index)
{
    return &times->rows[index];
}
