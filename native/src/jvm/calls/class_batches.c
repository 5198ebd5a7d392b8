/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/class_batches.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/lower_bound.h"
#include "counting/call_past.h"
#include "jvm/calls/loaded_summary.h"
#include "jvm/calls/retransform.h"

enum { MOST_MEMORY_REFUSALS = 3 };

/* What goes through the loaded classes. */
struct batch_search {
    struct smp_class_batches *batches;
    jvmtiEnv *jvmti;
    JNIEnv *env;
    size_t first; /* of the classes that are being changed */
};

void smp_class_batches_init(struct smp_class_batches *batches, struct smp_counted_classes *counted,
                            struct smp_class_loaders *loaders)
{
    batches->counted = counted;
    batches->loaders = loaders;
    batches->size = SMP_BATCH_FIRST;
    batches->memory_refusals = 0;
    batches->failed_lists = 0;
    batches->batches = 0;
    batches->classes = 0;
    batches->longest_stop_ns = 0;
    batches->count = 0;
}

void smp_class_batches_left_hook(struct smp_class_batches *batches)
{
    atomic_store_explicit(&batches->hook_left_ns, smp_clock_ns(), memory_order_relaxed);
}

/* --- which classes --- */

static void sort_indexes(uint32_t *indexes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t index = indexes[i];
        size_t place = i;
        for (; place > 0 && indexes[place - 1] > index; place--)
            indexes[place] = indexes[place - 1];
        indexes[place] = index;
    }
}

static void take_dirty(struct smp_class_batches *batches)
{
    struct smp_counted_classes *const counted = batches->counted;

    smp_lock_acquire(&counted->lock);
    batches->count = smp_call_graph_take_batch(counted->graph, batches->indexes, batches->size);
    for (size_t i = 0; i < batches->count; i++) {
        smp_counted_classes_mark(counted, batches->indexes[i])->flags |= SMP_COUNTED_WAITING;
        batches->types[i] = NULL;
    }
    smp_lock_release(&counted->lock);
    sort_indexes(batches->indexes, batches->count);
}

static uint64_t index_at(const void *indexes, size_t index)
{
    return ((const uint32_t *)indexes)[index];
}

/* batches->count: the index is not in the batch. */
static size_t place_of(const struct smp_class_batches *batches, uint32_t index)
{
    const size_t at = smp_lower_bound(batches->indexes, batches->count, index_at, index);

    return at < batches->count && batches->indexes[at] == index ? at : batches->count;
}

static bool is_prepared(jvmtiEnv *jvmti, jclass type)
{
    jint status = 0;

    return (*jvmti)->GetClassStatus(jvmti, type, &status) == JVMTI_ERROR_NONE &&
           (status & JVMTI_CLASS_STATUS_PREPARED) != 0 && (status & JVMTI_CLASS_STATUS_ERROR) == 0;
}

/* A local one would be among those of other agents' load hooks, which run inside of the batch:
 * -Xcheck:jni of JDK 17 adds up all that a thread has, and complains where they expect less. */
static jclass hold_class(JNIEnv *env, jclass type)
{
    jclass held = (*env)->NewGlobalRef(env, type);

    if (held == NULL)
        (*env)->ExceptionClear(env);
    return held;
}

static void release_classes(struct smp_class_batches *batches, JNIEnv *env)
{
    for (size_t i = 0; i < batches->count; i++)
        (*env)->DeleteGlobalRef(env, batches->types[i]);
}

static void refuse_dirty(struct smp_class_batches *batches, uint32_t index, jvmtiError error)
{
    struct smp_call_graph *const graph = batches->counted->graph;

    if (error == JVMTI_ERROR_OUT_OF_MEMORY && batches->memory_refusals < MOST_MEMORY_REFUSALS) {
        batches->memory_refusals++;
        smp_call_graph_put_back(graph, index);
    } else if (error != JVMTI_ERROR_WRONG_PHASE) {
        smp_call_graph_refuse_class(graph, index, smp_retransform_text(error));
    }
}

/* It waits for its preparation no more. held NULL: the JVM has no memory for it. */
static void end_waiting(struct smp_class_batches *batches, uint32_t index, jclass held)
{
    struct smp_counted_classes *const counted = batches->counted;

    smp_lock_acquire(&counted->lock);
    smp_counted_classes_mark(counted, index)->flags &= (uint8_t)~SMP_COUNTED_WAITING;
    if (held == NULL)
        refuse_dirty(batches, index, JVMTI_ERROR_OUT_OF_MEMORY);
    smp_lock_release(&counted->lock);
}

/* Its mark says "waiting" before its status is read, so a class that is prepared in between is met
 * with that mark, and is due again. */
static void find_dirty(void *self, const struct smp_loaded_class *loaded)
{
    const struct batch_search *const search = self;
    struct smp_class_batches *const batches = search->batches;
    struct smp_counted_classes *const counted = batches->counted;

    smp_lock_acquire(&counted->lock);
    const uint32_t index = smp_call_graph_find(counted->graph, loaded->loader, loaded->name);
    smp_lock_release(&counted->lock);
    const size_t place = index != 0 ? place_of(batches, index) : batches->count;
    if (place == batches->count || batches->types[place] != NULL ||
        !is_prepared(search->jvmti, loaded->type))
        return;
    batches->types[place] = hold_class(search->env, loaded->type);
    end_waiting(batches, index, batches->types[place]);
}

/* Leaves out those that were not found. */
static void close_gaps(struct smp_class_batches *batches)
{
    size_t count = 0;

    for (size_t i = 0; i < batches->count; i++) {
        if (batches->types[i] == NULL)
            continue;
        batches->types[count] = batches->types[i];
        batches->indexes[count++] = batches->indexes[i];
    }
    batches->count = count;
}

/* The loaded classes could not be listed: none was found, though they may be there. */
static void put_batch_back(struct smp_class_batches *batches)
{
    struct smp_counted_classes *const counted = batches->counted;
    const bool is_over = ++batches->failed_lists >= SMP_BATCH_FAILED_LISTS;

    smp_lock_acquire(&counted->lock);
    for (size_t i = 0; i < batches->count; i++) {
        struct smp_class_mark *const mark = smp_counted_classes_mark(counted, batches->indexes[i]);
        /* No flag: the class was prepared meanwhile, or its index became another's. */
        if ((mark->flags & SMP_COUNTED_WAITING) == 0 ||
            !smp_call_graph_is_loaded(counted->graph, batches->indexes[i]))
            continue;
        mark->flags &= (uint8_t)~SMP_COUNTED_WAITING;
        if (is_over)
            smp_call_graph_refuse_class(counted->graph, batches->indexes[i],
                                        "the JVM has no memory for the list of its classes");
        else
            smp_call_graph_put_back(counted->graph, batches->indexes[i]);
    }
    smp_lock_release(&counted->lock);
    batches->count = 0;
}

/* --- changing them --- */

/* Those that were changed have the probes of their plan, and no others. A class that is due again
 * may be one that the JVM has not changed: its batch is yet to come. Who sees the new number of
 * batches finds the time of their probes. */
static void end_batch(struct smp_class_batches *batches)
{
    struct smp_counted_classes *const counted = batches->counted;
    const int64_t wall_ms = smp_clock_wall_ms();

    smp_lock_acquire(&counted->lock);
    for (size_t i = 0; i < batches->count; i++) {
        const uint32_t index = batches->indexes[i];
        if (!smp_call_graph_is_loaded(counted->graph, index) ||
            smp_call_graph_is_dirty(counted->graph, index))
            continue;
        smp_call_graph_probed(counted->graph, index, wall_ms);
        if (!smp_call_graph_is_refused(counted->graph, index))
            smp_counted_classes_mark(counted, index)->flags &= (uint8_t)~SMP_COUNTED_LEFTOVER;
    }
    smp_lock_release(&counted->lock);
    batches->batches++;
}

/* The class may have been lost meanwhile, for lack of memory, and its index be another's. */
static void on_dirty_refused(void *self, size_t which, jvmtiError error)
{
    const struct batch_search *const search = self;
    struct smp_class_batches *const batches = search->batches;
    struct smp_counted_classes *const counted = batches->counted;
    const uint32_t index = batches->indexes[search->first + which];
    char *signature = NULL;

    if ((*search->jvmti)
            ->GetClassSignature(search->jvmti, batches->types[search->first + which], &signature,
                                NULL) != JVMTI_ERROR_NONE)
        return;
    smp_lock_acquire(&counted->lock);
    if (smp_counted_classes_is_named(counted, index, smp_loaded_class_name(signature)))
        refuse_dirty(batches, index, error);
    smp_lock_release(&counted->lock);
    (void)(*search->jvmti)->Deallocate(search->jvmti, (unsigned char *)signature);
}

/* Stops get as long as they may: a batch costs nearly the same, however many classes it has. */
static void adapt_size(struct smp_class_batches *batches, size_t count, int64_t stop_ns)
{
    if (stop_ns > SMP_BATCH_STOP_NS && batches->size > SMP_BATCH_LEAST)
        batches->size /= 2;
    else if (stop_ns < SMP_BATCH_STOP_NS / 2 && count == batches->size &&
             batches->size < SMP_BATCH_MOST)
        batches->size *= 2;
}

/* As many as fit one stop, from first on. Returns how many that were. */
static size_t change_some(struct batch_search *search, size_t first, smp_on_class_refused *refused)
{
    struct smp_class_batches *const batches = search->batches;
    const size_t left = batches->count - first;
    const size_t count = left < batches->size ? left : batches->size;

    search->first = first;
    smp_class_batches_left_hook(batches);
    smp_call_past_begin_probes();
    batches->classes +=
        smp_retransform(search->jvmti, batches->types + first, count, refused, search);
    smp_call_past_end_probes();
    const int64_t stop_ns = smp_clock_ns() - batches->hook_left_ns;
    if (stop_ns > batches->longest_stop_ns)
        batches->longest_stop_ns = stop_ns;
    adapt_size(batches, count, stop_ns);
    return count;
}

bool smp_class_batches_run(struct smp_class_batches *batches, jvmtiEnv *jvmti, JNIEnv *env)
{
    struct batch_search search = { .batches = batches, .jvmti = jvmti, .env = env };

    take_dirty(batches);
    if (batches->count > 0 && smp_loaded_classes_each(batches->loaders, jvmti, env, false,
                                                      find_dirty, &search) == SMP_OK) {
        batches->failed_lists = 0;
        close_gaps(batches);
    } else if (batches->count > 0) {
        put_batch_back(batches);
    }
    if (batches->count == 0)
        return false;
    (void)change_some(&search, 0, on_dirty_refused);
    end_batch(batches);
    release_classes(batches, env);
    return true;
}

/* --- giving back --- */

static void keep_probes(struct smp_counted_classes *counted, uint32_t index)
{
    smp_lock_acquire(&counted->lock);
    smp_counted_classes_mark(counted, index)->flags |= SMP_COUNTED_KEPT;
    smp_lock_release(&counted->lock);
}

static void find_probed(void *self, const struct smp_loaded_class *loaded)
{
    const struct batch_search *const search = self;
    struct smp_class_batches *const batches = search->batches;
    struct smp_counted_classes *const counted = batches->counted;
    bool is_probed = false;

    smp_lock_acquire(&counted->lock);
    const uint32_t index = smp_call_graph_find(counted->graph, loaded->loader, loaded->name);
    const uint8_t flags = index != 0 ? smp_counted_classes_mark(counted, index)->flags : 0;
    is_probed = (flags & (SMP_COUNTED_PROBED | SMP_COUNTED_LEFTOVER)) != 0 &&
                (flags & SMP_COUNTED_KEPT) == 0;
    smp_lock_release(&counted->lock);
    if (!is_probed || batches->count == SMP_BATCH_MOST || !is_prepared(search->jvmti, loaded->type))
        return;
    const jclass held = hold_class(search->env, loaded->type);
    if (held == NULL) {
        keep_probes(counted, index);
        return;
    }
    batches->indexes[batches->count] = index;
    batches->types[batches->count++] = held;
}

static void on_probed_refused(void *self, size_t which, jvmtiError error)
{
    const struct batch_search *const search = self;

    (void)error;
    keep_probes(search->batches->counted, search->batches->indexes[search->first + which]);
}

static void forget_probes(const struct smp_class_batches *batches)
{
    struct smp_counted_classes *const counted = batches->counted;

    smp_lock_acquire(&counted->lock);
    for (size_t i = 0; i < batches->count; i++) {
        struct smp_class_mark *const mark = smp_counted_classes_mark(counted, batches->indexes[i]);
        if ((mark->flags & SMP_COUNTED_KEPT) == 0)
            mark->flags &= (uint8_t) ~(SMP_COUNTED_PROBED | SMP_COUNTED_LEFTOVER);
    }
    smp_lock_release(&counted->lock);
}

static bool give_some_back(struct batch_search *search)
{
    struct smp_class_batches *const batches = search->batches;
    JNIEnv *const env = search->env;
    uint64_t changes = 0;

    batches->count = 0;
    if (smp_loaded_classes_each(batches->loaders, search->jvmti, env, false, find_probed, search) !=
            SMP_OK ||
        batches->count == 0)
        return false;
    for (size_t done = 0; done < batches->count; changes++)
        done += change_some(search, done, on_probed_refused);
    forget_probes(batches);
    batches->batches += changes;
    release_classes(batches, env);
    return true;
}

void smp_class_batches_give_back(struct smp_class_batches *batches, jvmtiEnv *jvmti, JNIEnv *env)
{
    struct batch_search search = { .batches = batches, .jvmti = jvmti, .env = env };

    while (give_some_back(&search))
        continue;
    smp_counted_classes_keep_leftovers(batches->counted);
}

/* --- when --- */

int64_t smp_batch_pace_wait_ns(struct smp_batch_pace *pace, int64_t start_ns, int64_t end_ns)
{
    int64_t wait_ns;

    if (!pace->has_any || start_ns - pace->ended_ns > SMP_BATCH_CALM_NS)
        pace->first_ns = start_ns;
    pace->has_any = true;
    pace->ended_ns = end_ns;
    wait_ns = (end_ns - pace->first_ns) / SMP_BATCH_PAUSE_SHARE;
    if (wait_ns > SMP_BATCH_MOST_PAUSE_NS)
        wait_ns = SMP_BATCH_MOST_PAUSE_NS;
    if (wait_ns < SMP_BATCH_LEAST_PAUSE_NS)
        wait_ns = SMP_BATCH_LEAST_PAUSE_NS;
    if (wait_ns < (end_ns - start_ns) * SMP_BATCH_RUN_SHARE)
        wait_ns = (end_ns - start_ns) * SMP_BATCH_RUN_SHARE;
    return wait_ns;
}
