/* SPDX-License-Identifier: Apache-2.0 */
#include "model/root_times.h"

#include <string.h>

#include "model/measure.h"
#include "model/tree_fold.h"

enum { FIRST_ROWS = 16 };

struct smp_root_times {
    struct smp_quota *quota;
    struct smp_root_time *rows;
    size_t count;
    size_t capacity;
    uint32_t *places; /* by node: its row + 1; 0: none */
    size_t place_count;
};

static enum smp_status grow_rows(struct smp_root_times *times)
{
    const size_t capacity = times->capacity == 0 ? FIRST_ROWS : 2 * times->capacity;
    struct smp_root_time *rows = NULL;

    if (times->count == SMP_MAX_ROOT_TIMES)
        return SMP_EQUOTA;
    if (times->rows != NULL && times->count < times->capacity)
        return SMP_OK;
    rows = smp_realloc(times->quota, times->rows, capacity * sizeof(*rows));
    if (rows == NULL)
        return SMP_ENOMEM;
    times->rows = rows;
    times->capacity = capacity;
    return SMP_OK;
}

static enum smp_status grow_places(struct smp_root_times *times, uint32_t node)
{
    const size_t least = (size_t)node + 1;
    const size_t twice = times->place_count == 0 ? FIRST_ROWS : 2 * times->place_count;
    const size_t count = least > twice ? least : twice;
    uint32_t *places = NULL;

    if (least <= times->place_count)
        return SMP_OK;
    places = smp_realloc(times->quota, times->places, count * sizeof(*places));
    if (places == NULL)
        return SMP_ENOMEM;
    memset(&places[times->place_count], 0, (count - times->place_count) * sizeof(*places));
    times->places = places;
    times->place_count = count;
    return SMP_OK;
}

static struct smp_root_time *find_row(const struct smp_root_times *times, uint32_t node)
{
    const uint32_t place = node < times->place_count ? times->places[node] : 0;

    return place == 0 ? NULL : &times->rows[place - 1];
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
    smp_free(times->quota, times->places);
    smp_free(times->quota, times->rows);
    smp_free(times->quota, times);
}

enum smp_status smp_root_times_add(struct smp_root_times *times, const struct smp_root_time *time)
{
    struct smp_root_time *const row = find_row(times, time->node);
    enum smp_status status = SMP_OK;

    if (time->calls == 0)
        return SMP_OK;
    if (row != NULL) {
        add_calls(row, time);
        return SMP_OK;
    }
    status = grow_rows(times);
    if (status == SMP_OK)
        status = grow_places(times, time->node);
    if (status != SMP_OK)
        return status;
    times->rows[times->count] = *time;
    times->places[time->node] = (uint32_t)++times->count;
    return SMP_OK;
}

void smp_root_times_renumber(struct smp_root_times *times, const uint32_t *places)
{
    size_t kept = 0;

    memset(times->places, 0, times->place_count * sizeof(*times->places));
    for (size_t i = 0; i < times->count; i++) {
        struct smp_root_time row = times->rows[i];
        row.node = places[row.node];
        if ((row.node & SMP_PLACE_FOLDED) != 0)
            continue;
        times->rows[kept++] = row;
        times->places[row.node] = (uint32_t)kept;
    }
    times->count = kept;
}

const struct smp_root_time *smp_root_times_find(const struct smp_root_times *times, uint32_t node)
{
    return times == NULL ? NULL : find_row(times, node);
}

size_t smp_root_times_count(const struct smp_root_times *times)
{
    return times == NULL ? 0 : times->count;
}

const struct smp_root_time *smp_root_times_at(const struct smp_root_times *times, size_t index)
{
    return &times->rows[index];
}
