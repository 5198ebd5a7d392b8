/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/stack_bounds.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, HEXADECIMAL = 16 };

struct smp_stack_bounds smp_stack_bounds_own(void)
{
    struct smp_stack_bounds bounds = { 0 };
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return bounds;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        bounds = (struct smp_stack_bounds){ (uintptr_t)low, (uintptr_t)low + size };
    (void)pthread_attr_destroy(&attributes);
    return bounds;
}

static void match_range(struct smp_stack_bounds range, const uintptr_t *sps,
                        struct smp_stack_bounds *bounds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sps[i] >= range.low && sps[i] < range.high)
            bounds[i] = range;
    }
}

/* "low-high rw..." in hexadecimal digits. False: another kind of memory, or no such line. */
static bool read_map_range(const char *line, struct smp_stack_bounds *range)
{
    char *end = NULL;

    range->low = strtoul(line, &end, HEXADECIMAL);
    if (end == line || *end != '-')
        return false;
    line = end + 1;
    range->high = strtoul(line, &end, HEXADECIMAL);
    return end != line && strncmp(end, " rw", 3) == 0;
}

void smp_stack_bounds_find(const uintptr_t *sps, struct smp_stack_bounds *bounds, size_t count)
{
    char line[LINE_BYTES];
    struct smp_stack_bounds range;
    FILE *maps = fopen("/proc/self/maps", "re");

    memset(bounds, 0, count * sizeof(*bounds));
    if (maps == NULL)
        return;
    /* The rest of a line that is too long does not look like a range. */
    while (fgets(line, sizeof(line), maps) != NULL) {
        if (read_map_range(line, &range))
            match_range(range, sps, bounds, count);
    }
    (void)fclose(maps);
}
