/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_batches.h - changes loaded classes in batches: pending ones while calls are counted, at the
 * end all that have probes.
 *
 *   call graph: pending classes ─► loaded and prepared ─► RetransformClasses ─► load hook
 *                      └─► not found, or not prepared: they wait for that (counted_classes.h: meet)
 *
 * A class that is not prepared is never retransformed: the JVM would link it on this thread, which
 * may run class loaders of the application.
 *
 * The size of a batch adapts so that the program is stopped for about SMP_BATCH_STOP_NS.
 *
 * Owns     the size of the next batch, figures.
 * Threads  one at a time, attached, no lock held. left_hook: any.
 * Errors   a class that the JVM refuses is left alone, with the reason. A class for which the JVM
 *          has no memory is tried again some times, and so is a batch if the loaded classes cannot
 *          be listed; after SMP_BATCH_FAILED_LISTS times in a row its classes are left alone.
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
    _Atomic uint64_t batches;     /* that have ended */
    _Atomic int64_t hook_left_ns; /* the program is stopped about from then to the batch's end */
    bool removes_probes;          /* the batches remove all probes */
    size_t count;                 /* of the running batch */
    uint32_t indexes[SMP_BATCH_MOST];
    jclass types[SMP_BATCH_MOST]; /* global references; NULL: not found or not prepared */
};

void smp_class_batches_init(struct smp_class_batches *batches, struct smp_counted_classes *counted,
                            struct smp_class_loaders *loaders);
/* Runs one batch. Returns false if no class can be changed now. */
bool smp_class_batches_run(struct smp_class_batches *batches, jvmtiEnv *jvmti, JNIEnv *env);
/* With a load hook that adds no probes: all classes get the bytes that they have without probes.
 * Classes that keep their probes are remembered (leftovers.h). */
void smp_class_batches_remove_probes(struct smp_class_batches *batches, jvmtiEnv *jvmti,
                                     JNIEnv *env);
/* The load hook has returned for a class that is retransformed. */
void smp_class_batches_left_hook(struct smp_class_batches *batches);

/* The JVM refuses to change classes[which]. */
typedef void smp_on_class_refused(void *self, size_t which, jvmtiError error);
/*
 * Calls RetransformClasses. The JVM refuses a batch as a whole; the batch is then halved until the
 * refused classes are alone, so the other classes get their bytes. The JVM refuses before it stops
 * at a safepoint, so only the parsing is repeated. A JVM that is about to end refuses all classes.
 */
void smp_retransform(jvmtiEnv *jvmti, const jclass *classes, size_t count,
                     smp_on_class_refused *refused, void *self);
/* The reason for the account: static storage. */
const char *smp_retransform_text(jvmtiError error);

#define SMP_BATCH_LEAST_PAUSE_NS 100000000LL
#define SMP_BATCH_MOST_PAUSE_NS 1000000000LL
#define SMP_BATCH_CALM_NS 5000000000LL

enum {
    SMP_BATCH_PAUSE_SHARE = 4, /* the pause is this part of the time since the first batch */
    SMP_BATCH_RUN_SHARE = 3    /* it runs at least so many times as long as it stood still */
};

/*
 * When the next batch may begin. A program that starts, or that was attached to, calls new methods
 * for seconds, and each batch stops all its threads and discards compiled code. So batches become
 * rarer: each comes after a quarter of the time since the first one, about twenty within ten
 * seconds. After SMP_BATCH_CALM_NS without a batch the next one comes soon again. Zeroed: no batch
 * was made.
 */
struct smp_batch_pace {
    int64_t first_ns; /* start of the first batch since the last calm */
    int64_t ended_ns; /* end of the last batch */
    bool has_any;
};

/* After a batch: returns how long to wait before the next one. */
int64_t smp_batch_pace_wait_ns(struct smp_batch_pace *pace, int64_t start_ns, int64_t end_ns);

#endif
