/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attribution/stack_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The bounds are powers of two, so that a recursion makes one row for each doubling. */
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

/* Returns whether Java code waits in this method for the end of a thread. */
static bool waits_for_thread(struct smp_methods *methods, uint32_t location)
{
    static const struct {
        const char *class_name;
        const char *method_name;
    } waits[] = {
        { "java.lang.Object", "wait0" },
        { "java.lang.Object", "wait" },
        { "java.lang.Thread", "join" },
        { "java.util.concurrent.TimeUnit", "timedJoin" },
    };
    struct smp_location_view view;
    bool does = false;

    smp_methods_view(methods, location, &view);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        does = does || (strcmp(view.class_name, waits[i].class_name) == 0 &&
                        strcmp(view.method_name, waits[i].method_name) == 0);
    return does;
}

/*
 * Counts the library's own frames at the leaf's end, with the pseudo-frames on top of them and the
 * JDK's frames in which they wait for a thread. These are removed, so that a thread that waits in
 * close() is at the user's line.
 */
static size_t count_own_frames(struct smp_methods *methods, const struct smp_sample *sample,
                               const struct smp_stack_path *path)
{
    size_t own = 0;

    for (size_t i = 0; i < sample->leaf_count; i++) {
        if (smp_methods_own(methods, path->locations[i]))
            own = i + 1;
        else if (sample->frames[i].bci != SMP_BCI_PSEUDO &&
                 (own > 0 || !waits_for_thread(methods, path->locations[i])))
            break;
    }
    return own;
}

/* Returns the index of the first monitored method behind the own frames, or SIZE_MAX without one. A
 * pseudo-frame belongs to the frame below it. */
static size_t find_monitored(const struct smp_methods *methods, const struct smp_sample *sample,
                             const struct smp_stack_path *path, size_t own)
{
    for (size_t i = own; i < sample->count; i++) {
        const size_t at = i + (i >= sample->leaf_count && sample->omitted > 0 ? 1 : 0);
        if (sample->frames[i].bci != SMP_BCI_PSEUDO &&
            smp_methods_monitored(methods, path->locations[at]))
            return at;
    }
    return SIZE_MAX;
}

void smp_stack_path_find(struct smp_stack_path *path, struct smp_methods *methods,
                         const struct smp_name_source *names, const struct smp_sample *sample)
{
    const uint32_t over_limit = smp_methods_over_limit(methods);

    path->count = 0;
    path->over_limit = false;
    for (size_t i = 0; i < sample->count; i++) {
        if (i == sample->leaf_count && sample->omitted > 0)
            append_location(path, over_limit, omitted_location(methods, sample->omitted));
        append_location(path, over_limit, smp_methods_locate(methods, names, &sample->frames[i]));
    }
    const size_t own = count_own_frames(methods, sample, path);
    const size_t monitored = find_monitored(methods, sample, path, own);
    if (smp_sample_lacks_root(sample))
        append_location(path, over_limit, smp_methods_pseudo(methods, "[frames omitted]"));
    if (monitored == SIZE_MAX)
        path->first = path->count - 1;
    else
        path->first = monitored > own ? monitored - 1 : monitored;
}
