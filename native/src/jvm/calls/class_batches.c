/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/class_batches.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "counting/call_path.h"
#include "jvm/calls/loaded_classes.h"

enum {
    MOST_MEMORY_REFUSALS = 3,
    MOST_RANGES = 64 /* more than the number of halvings; each leaves one half on this stack */
};

/* The search for the classes of a batch among the loaded classes. */
struct batch_search {
    struct smp_class_batches *batches;
    jvmtiEnv *jvmti;
    JNIEnv *env;
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
    batches->count = 0;
    batches->removes_probes = false;
}

void smp_class_batches_left_hook(struct smp_class_batches *batches)
{
    atomic_store_explicit(&batches->hook_left_ns, smp_clock_ns(), memory_order_relaxed);
}

/* --- retransformation, which the JVM may refuse --- */

struct class_range {
    size_t first;
    size_t count;
};

#define ADDS_MEMBERS "another agent adds members"
#define CHANGES "another agent changes its class"

/* Probes only add code and constants: unsupported changes come from another agent. */
const char *smp_retransform_text(jvmtiError error)
{
    static const struct {
        jvmtiError error;
        const char *text;
    } refusals[] = {
#define REFUSED(name, why) { JVMTI_ERROR_##name, why ", JVMTI error " #name }
        REFUSED(UNMODIFIABLE_CLASS, "the JVM does not let its class be changed"),
        REFUSED(FAILS_VERIFICATION, "its class did not pass the verifier"),
        REFUSED(OUT_OF_MEMORY, "the JVM has no memory for its class"),
        REFUSED(UNSUPPORTED_REDEFINITION_METHOD_ADDED, ADDS_MEMBERS),
        REFUSED(UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED, ADDS_MEMBERS),
        REFUSED(UNSUPPORTED_REDEFINITION_METHOD_DELETED, "another agent removes members"),
        REFUSED(UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_VERSION, CHANGES),
        REFUSED(INVALID_CLASS_FORMAT, CHANGES),
        REFUSED(CIRCULAR_CLASS_DEFINITION, CHANGES),
        REFUSED(NAMES_DONT_MATCH, CHANGES),
        REFUSED(INTERNAL, "the JVM refuses to change its class"),
#undef REFUSED
    };

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (refusals[i].error == error)
            return refusals[i].text;
    }
    return "the JVM refuses to change its class";
}

void smp_retransform(jvmtiEnv *jvmti, const jclass *classes, size_t count,
                     smp_on_class_refused *refused, void *self)
{
    struct class_range ranges[MOST_RANGES];
    size_t waiting = 0;

    if (count > 0)
        ranges[waiting++] = (struct class_range){ 0, count };
    while (waiting > 0) {
        const struct class_range range = ranges[--waiting];
        const jvmtiError error =
            (*jvmti)->RetransformClasses(jvmti, (jint)range.count, classes + range.first);
        if (error == JVMTI_ERROR_NONE)
            continue;
        if (range.count == 1 || error == JVMTI_ERROR_WRONG_PHASE) {
            for (size_t i = 0; i < range.count; i++)
                refused(self, range.first + i, error);
        } else {
            const size_t half = range.count / 2;
            ranges[waiting++] = (struct class_range){ range.first + half, range.count - half };
            ranges[waiting++] = (struct class_range){ range.first, half };
        }
    }
}

/* --- which classes --- */

static void take_pending(struct smp_class_batches *batches)
{
    struct smp_counted_classes *const counted = batches->counted;

    smp_lock_acquire(&counted->lock);
    batches->count = smp_call_graph_take_batch(counted->graph, batches->indexes, batches->size);
    for (size_t i = 0; i < batches->count; i++) {
        struct smp_class_mark *const mark = &counted->marks[batches->indexes[i]];
        mark->flags |= SMP_COUNTED_WAITING;
        mark->place = (uint16_t)i;
        batches->types[i] = NULL;
    }
    smp_lock_release(&counted->lock);
}

/* Returns batches->count if the class is not in the batch. */
static size_t place_of(const struct smp_class_batches *batches,
                       const struct smp_loaded_class *loaded)
{
    struct smp_counted_classes *const counted = batches->counted;
    size_t place = batches->count;

    smp_lock_acquire(&counted->lock);
    const uint32_t index = smp_call_graph_find(counted->graph, loaded->loader, loaded->name);
    if (index != 0)
        place = counted->marks[index].place;
    smp_lock_release(&counted->lock);
    return place < batches->count && batches->indexes[place] == index ? place : batches->count;
}

static bool is_prepared(jvmtiEnv *jvmti, jclass type)
{
    jint status = 0;

    return (*jvmti)->GetClassStatus(jvmti, type, &status) == JVMTI_ERROR_NONE &&
           (status & JVMTI_CLASS_STATUS_PREPARED) != 0 && (status & JVMTI_CLASS_STATUS_ERROR) == 0;
}

/* Returns a global reference. With local references -Xcheck:jni of JDK 17 warns: load hooks of
 * other agents run on this thread during the batch, and it counts our references as theirs. */
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

/* The class keeps its present bytes. The caller holds the lock. */
static void leave_class(struct smp_class_batches *batches, uint32_t index, const char *why)
{
    if (batches->removes_probes)
        batches->counted->marks[index].flags |= SMP_COUNTED_KEPT;
    else
        smp_call_graph_refuse_class(batches->counted->graph, index, why);
}

/* The caller holds the lock. */
static void refuse_pending(struct smp_class_batches *batches, uint32_t index, jvmtiError error)
{
    struct smp_class_mark *const mark = &batches->counted->marks[index];
    /* Another agent may just have changed the class (counted_classes.c: is_outdated). */
    const bool may_be_outdated =
        mark->foreign_hash != 0 && (mark->flags & SMP_COUNTED_RETRIED) == 0;

    mark->foreign_hash = 0;
    if (may_be_outdated) {
        mark->flags |= SMP_COUNTED_RETRIED;
        smp_call_graph_put_back(batches->counted->graph, index);
    } else if (error == JVMTI_ERROR_OUT_OF_MEMORY && !batches->removes_probes &&
               batches->memory_refusals < MOST_MEMORY_REFUSALS) {
        batches->memory_refusals++;
        smp_call_graph_put_back(batches->counted->graph, index);
    } else if (error != JVMTI_ERROR_WRONG_PHASE || batches->removes_probes) {
        leave_class(batches, index, smp_retransform_text(error));
    }
}

/* The class no longer waits until it is prepared. held is NULL if the JVM had no memory. */
static void end_waiting(struct smp_class_batches *batches, uint32_t index, jclass held)
{
    struct smp_counted_classes *const counted = batches->counted;

    smp_lock_acquire(&counted->lock);
    counted->marks[index].flags &= (uint8_t)~SMP_COUNTED_WAITING;
    if (held == NULL)
        refuse_pending(batches, index, JVMTI_ERROR_OUT_OF_MEMORY);
    smp_lock_release(&counted->lock);
}

/* The class was marked as waiting before its status is read here. If it is prepared in between,
 * smp_counted_classes_meet sees the mark and makes the class pending again. */
static void find_pending(void *self, const struct smp_loaded_class *loaded)
{
    const struct batch_search *const search = self;
    struct smp_class_batches *const batches = search->batches;
    const size_t place = place_of(batches, loaded);

    if (place == batches->count || batches->types[place] != NULL ||
        !is_prepared(search->jvmti, loaded->type))
        return;
    batches->types[place] = hold_class(search->env, loaded->type);
    end_waiting(batches, batches->indexes[place], batches->types[place]);
}

/* Removes classes that were not found from the batch. */
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

/* The JVM has not listed its classes. The batch's may be loaded though none was found. */
static void put_batch_back(struct smp_class_batches *batches)
{
    struct smp_counted_classes *const counted = batches->counted;
    const bool is_over = ++batches->failed_lists >= SMP_BATCH_FAILED_LISTS;

    smp_lock_acquire(&counted->lock);
    for (size_t i = 0; i < batches->count; i++) {
        struct smp_class_mark *const mark = &counted->marks[batches->indexes[i]];
        /* Without the flag it was prepared meanwhile, or its index belongs to another class. */
        if ((mark->flags & SMP_COUNTED_WAITING) == 0 ||
            !smp_call_graph_is_loaded(counted->graph, batches->indexes[i]))
            continue;
        mark->flags &= (uint8_t)~SMP_COUNTED_WAITING;
        if (is_over)
            leave_class(batches, batches->indexes[i],
                        "the JVM has no memory for the list of its classes");
        else
            smp_call_graph_put_back(counted->graph, batches->indexes[i]);
    }
    smp_lock_release(&counted->lock);
    batches->count = 0;
}

/* --- changing them --- */

/* Makes a class pending again that was changed, but not as planned: a load hook after ours has
 * replaced the bytes of smp_make_jvm_refuse. The caller holds the lock. */
static bool put_outdated_back(struct smp_class_batches *batches, uint32_t index)
{
    struct smp_class_mark *const mark = &batches->counted->marks[index];

    if (mark->foreign_hash == 0 ||
        (batches->removes_probes && (mark->flags & SMP_COUNTED_RETRIED) != 0))
        return false;
    mark->foreign_hash = 0;
    if (batches->removes_probes)
        mark->flags |= SMP_COUNTED_RETRIED;
    smp_call_graph_put_back(batches->counted->graph, index);
    return true;
}

/* Updates the marks and stores the time of the new probes. Skips classes that are pending again,
 * which may be unchanged. Increments the number of batches last: its readers rely on the times. */
static void end_batch(struct smp_class_batches *batches)
{
    struct smp_counted_classes *const counted = batches->counted;
    const int64_t wall_ms = smp_clock_wall_ms();

    smp_lock_acquire(&counted->lock);
    for (size_t i = 0; i < batches->count; i++) {
        const uint32_t index = batches->indexes[i];
        struct smp_class_mark *const mark = &counted->marks[index];
        if (!smp_call_graph_is_loaded(counted->graph, index) ||
            smp_call_graph_is_pending(counted->graph, index) ||
            (mark->flags & SMP_COUNTED_KEPT) != 0)
            continue;
        if (put_outdated_back(batches, index))
            continue;
        mark->flags &= (uint8_t)~SMP_COUNTED_RETRIED;
        if (batches->removes_probes)
            mark->flags &= (uint8_t) ~(SMP_COUNTED_PROBED | SMP_COUNTED_LEFTOVER);
        else
            smp_call_graph_probed(counted->graph, index, wall_ms);
        if (!smp_call_graph_is_refused(counted->graph, index))
            mark->flags &= (uint8_t)~SMP_COUNTED_LEFTOVER;
    }
    smp_lock_release(&counted->lock);
    batches->batches++;
}

/* Compares names, because the call graph may have dropped the class and reused its index. */
static void on_pending_refused(void *self, size_t which, jvmtiError error)
{
    const struct batch_search *const search = self;
    struct smp_class_batches *const batches = search->batches;
    struct smp_counted_classes *const counted = batches->counted;
    const uint32_t index = batches->indexes[which];
    char *signature = NULL;

    if ((*search->jvmti)
            ->GetClassSignature(search->jvmti, batches->types[which], &signature, NULL) !=
        JVMTI_ERROR_NONE)
        return;
    smp_lock_acquire(&counted->lock);
    if (smp_counted_classes_is_named(counted, index, smp_loaded_class_name(signature)))
        refuse_pending(batches, index, error);
    smp_lock_release(&counted->lock);
    (void)(*search->jvmti)->Deallocate(search->jvmti, (unsigned char *)signature);
}

/* Doubles or halves the next batch to approach the longest allowed stop, because the cost of a
 * batch hardly depends on the number of its classes. */
static void adapt_size(struct smp_class_batches *batches, size_t count, int64_t stop_ns)
{
    if (stop_ns > SMP_BATCH_STOP_NS && batches->size > SMP_BATCH_LEAST)
        batches->size /= 2;
    else if (stop_ns < SMP_BATCH_STOP_NS / 2 && count == batches->size &&
             batches->size < SMP_BATCH_MOST)
        batches->size *= 2;
}

static void change_batch(struct batch_search *search)
{
    struct smp_class_batches *const batches = search->batches;

    smp_class_batches_left_hook(batches);
    smp_call_begin_probes();
    smp_retransform(search->jvmti, batches->types, batches->count, on_pending_refused, search);
    smp_call_end_probes();
    adapt_size(batches, batches->count, smp_clock_ns() - batches->hook_left_ns);
}

bool smp_class_batches_run(struct smp_class_batches *batches, jvmtiEnv *jvmti, JNIEnv *env)
{
    struct batch_search search = { .batches = batches, .jvmti = jvmti, .env = env };

    take_pending(batches);
    if (batches->count > 0 && smp_loaded_classes_each(batches->loaders, jvmti, env, false,
                                                      find_pending, &search) == SMP_OK) {
        batches->failed_lists = 0;
        close_gaps(batches);
    } else if (batches->count > 0) {
        put_batch_back(batches);
    }
    if (batches->count == 0)
        return false;
    change_batch(&search);
    end_batch(batches);
    release_classes(batches, env);
    return true;
}

void smp_class_batches_remove_probes(struct smp_class_batches *batches, jvmtiEnv *jvmti,
                                     JNIEnv *env)
{
    batches->removes_probes = true;
    smp_counted_classes_make_probed_pending(batches->counted);
    while (smp_counted_classes_has_pending(batches->counted))
        (void)smp_class_batches_run(batches, jvmti, env);
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
