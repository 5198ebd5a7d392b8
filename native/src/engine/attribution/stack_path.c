/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attribution/stack_path.h"

#include <inttypes.h>
#include <stdio.h>

/* The range is between powers of two, so that a recursion makes one row for each doubling. */
static uint32_t omitted_location(struct smp_methods *methods, size_t omitted)
{
    char text[64];
    uint64_t from = 1;

    while (from <= omitted / 2)
        from *= 2;
    (void)snprintf(text, sizeof(text), "[%" PRIu64 "..%" PRIu64 " frames omitted]", from,
                   from + (from - 1));
    return smp_methods_pseudo(methods, text);
}

static void append_location(struct smp_stack_path *path, uint32_t over_limit, uint32_t location)
{
    path->locations[path->count++] = location;
    if (location == over_limit)
        path->over_limit = true;
}

/* The library's own frames at the leaf's end, with the pseudo-frames on them. They are not kept: a
 * thread that waits in close() is at the user's line. */
struct own_run {
    bool is_over;
    size_t count; /* of locations */
};

static void extend_own_run(struct own_run *run, const struct smp_methods *methods,
                           const struct smp_sample *sample, const struct smp_stack_path *path,
                           size_t frame)
{
    if (run->is_over)
        return;
    if (frame < sample->leaf_count && smp_methods_own(methods, path->locations[path->count - 1]))
        run->count = path->count;
    else
        run->is_over = sample->frames[frame].bci != SMP_BCI_PSEUDO;
}

void smp_stack_path_find(struct smp_stack_path *path, struct smp_methods *methods,
                         const struct smp_name_source *names, const struct smp_sample *sample)
{
    const uint32_t over_limit = smp_methods_over_limit(methods);
    size_t monitored = SIZE_MAX;
    struct own_run own = { 0 };

    path->count = 0;
    path->over_limit = false;
    for (size_t i = 0; i < sample->count; i++) {
        if (i == sample->leaf_count && sample->omitted > 0)
            append_location(path, over_limit, omitted_location(methods, sample->omitted));
        append_location(path, over_limit, smp_methods_locate(methods, names, &sample->frames[i]));
        extend_own_run(&own, methods, sample, path, i);
        /* A pseudo-frame belongs to the frame below it. */
        if (monitored == SIZE_MAX && own.is_over && sample->frames[i].bci != SMP_BCI_PSEUDO &&
            smp_methods_monitored(methods, path->locations[path->count - 1]))
            monitored = path->count - 1;
    }
    if (smp_sample_lacks_root(sample))
        append_location(path, over_limit, smp_methods_pseudo(methods, "[frames omitted]"));
    if (monitored == SIZE_MAX)
        path->first = path->count - 1;
    else
        path->first = monitored > own.count ? monitored - 1 : monitored;
}
