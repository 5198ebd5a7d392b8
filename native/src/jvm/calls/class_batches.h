/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_batches.h - retransforms loaded classes in batches: pending classes while calls are
 * counted, and at the end all classes with probes.
 *
 *   call graph: pending classes ─► loaded and prepared ─► RetransformClasses ─► load hook
 *                      └─► not found, or not prepared: they wait for it (counted_classes.h: meet)
 *
 * A class that is not prepared is never retransformed: the JVM would link it on this thread and
 * might run class loaders of the application.
 *
 * The batch size adapts so that a batch stops the program for up to about SMP_BATCH_STOP_NS.
 *
 * Owns     the size of the next batch, figures.
 * Threads  one at a time, attached, without a lock. left_hook: any.
 * Errors   a class that the JVM refuses to change is left alone, and the account has the reason.
 *          If the JVM has no memory for a class or for the list of classes, the batch is retried;
 *          after SMP_BATCH_FAILED_LISTS failed lists in a row its classes are left alone.
 * Cost     run: a pass over the loaded classes, then a safepoint of 10 to 50 ms.
 */
#ifndef SMP_JVM_CALLS_CLASS_BATCHES_H
#define SMP_JVM_CALLS_CLASS_BATCHES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/calls/counted_classes.h"

enum {
    SMP_BATCH_LEAST = 16,
    SMP_BATCH_FIRST = 64,
    SMP_BATCH_MOST = 1024,
    SMP_BATCH_FAILED_LISTS = 20
};
#define SMP_BATCH_STOP_NS 100000000LL

/* Visible so that it can be static. */
struct smp_class_batches {
    struct smp_counted_classes *counted;
    struct smp_class_loaders *loaders;
    size_t size; /* of the next batch */
    unsigned memory_refusals;
    unsigned failed_lists;        /* failed attempts in a row to list the loaded classes */
    _Atomic uint64_t batches;     /* finished */
    _Atomic int64_t hook_left_ns; /* about the start of the program's stop, which the batch ends */
    bool removes_probes;          /* the batches remove all probes */
    size_t count;                 /* of the running batch */
    uint32_t indexes[SMP_BATCH_MOST];
    jclass types[SMP_BATCH_MOST]; /* global references; NULL: not found or not prepared */
};

void smp_class_batches_init(struct smp_class_batches *batches, struct smp_counted_classes *counted,
                            struct smp_class_loaders *loaders);
/* Runs one batch. Returns false if no class can be changed now. */
bool smp_class_batches_run(struct smp_class_batches *batches, jvmtiEnv *jvmti, JNIEnv *env);
/* Retransforms all classes with probes. The load hook must not add probes any more. Classes that
 * the JVM refuses to change are recorded as leftovers (leftovers.h). */
void smp_class_batches_remove_probes(struct smp_class_batches *batches, jvmtiEnv *jvmti,
                                     JNIEnv *env);
/* Called when the load hook is done with a class that is being retransformed. */
void smp_class_batches_left_hook(struct smp_class_batches *batches);

/* The JVM refuses to change classes[which]. */
typedef void smp_on_class_refused(void *self, size_t which, jvmtiError error);
/*
 * Calls RetransformClasses. One bad class makes the JVM refuse the whole call. The batch is then
 * halved until each refused class is alone, and all others are changed. The JVM refuses before its
 * safepoint, so only the parsing is repeated. During shutdown it refuses all classes.
 */
void smp_retransform(jvmtiEnv *jvmti, const jclass *classes, size_t count,
                     smp_on_class_refused *refused, void *self);
/* The reason for the account, in static storage. */
const char *smp_retransform_text(jvmtiError error);

#define SMP_BATCH_LEAST_PAUSE_NS 100000000LL
#define SMP_BATCH_MOST_PAUSE_NS 1000000000LL
#define SMP_BATCH_CALM_NS 5000000000LL

enum {
    SMP_BATCH_PAUSE_SHARE = 4, /* a pause is the time since the first batch divided by this, */
    SMP_BATCH_RUN_SHARE = 3    /* and at least the duration of the last batch times this */
};

/*
 * Decides when the next batch may begin. Each batch stops all threads and discards compiled code,
 * and a program calls new methods for seconds after its start. Therefore pauses grow with the time
 * since the first batch, to about twenty batches within ten seconds. After SMP_BATCH_CALM_NS
 * without a batch the pauses are short again. Starts zeroed.
 */
struct smp_batch_pace {
    int64_t first_ns; /* start of the first batch since the last calm */
    int64_t ended_ns; /* end of the last batch */
    bool has_any;
};

/* Called after a batch. Returns how long to wait before the next one. */
int64_t smp_batch_pace_wait_ns(struct smp_batch_pace *pace, int64_t start_ns, int64_t end_ns);

#endif
