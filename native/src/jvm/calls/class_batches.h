/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_batches.h - changes classes that are loaded: those whose plan has changed, in batches; at
 * the end all that have probes.
 *
 *   call graph: dirty classes ─► found among the loaded ones, prepared ─► RetransformClasses ─► the
 *   load └─► not found, or not prepared: wait for that (counted_classes.h: meet)
 *
 * A class that is not prepared is never retransformed: the JVM would link it on this thread, which
 * may run the class loaders of the application.
 *
 * How many classes a batch has follows from how long the stops are: about SMP_BATCH_STOP_NS.
 *
 * Owns     the size of the next batch, figures.
 * Threads  one at a time, attached, no lock held. left_hook: any.
 * Errors   a class that the JVM refuses is left alone, with the reason; one for which the JVM has
 *          no memory is tried again some times. So is a batch where the loaded classes could not be
 *          listed; after SMP_BATCH_FAILED_LISTS times in a row its classes are left alone.
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
    unsigned failed_lists;        /* of the loaded classes, one after the other */
    _Atomic uint64_t batches;     /* that have ended */
    _Atomic int64_t hook_left_ns; /* from the last one of a batch to its end it stops, about */
    bool gives_back;              /* the classes get what they have without us */
    size_t count;                 /* of the batch that is under way */
    uint32_t indexes[SMP_BATCH_MOST];
    jclass types[SMP_BATCH_MOST]; /* global; NULL: not found, or not to be changed now */
};

void smp_class_batches_init(struct smp_class_batches *batches, struct smp_counted_classes *counted,
                            struct smp_class_loaders *loaders);
/* Runs one batch. False: nothing is to be changed now. */
bool smp_class_batches_run(struct smp_class_batches *batches, jvmtiEnv *jvmti, JNIEnv *env);
/* With a load hook that changes nothing: all classes get the bytes they have without it. What
 * cannot be given back now is remembered (counted_classes.h: leftovers). */
void smp_class_batches_give_back(struct smp_class_batches *batches, jvmtiEnv *jvmti, JNIEnv *env);
/* The load hook has returned for a class that is retransformed. */
void smp_class_batches_left_hook(struct smp_class_batches *batches);

/* classes[which] was refused by itself. */
typedef void smp_on_class_refused(void *self, size_t which, jvmtiError error);
/*
 * RetransformClasses. The JVM refuses a batch as a whole. It is halved then, until the refused
 * classes are alone: the others get their bytes all the same. Refusals come before the JVM stops at
 * a safepoint, so what that costs is the parsing. The JVM that is about to die refuses all.
 */
void smp_retransform(jvmtiEnv *jvmti, const jclass *classes, size_t count,
                     smp_on_class_refused *refused, void *self);
/* For the account: static storage, follows "left alone, ". */
const char *smp_retransform_text(jvmtiError error);

#define SMP_BATCH_LEAST_PAUSE_NS 100000000LL
#define SMP_BATCH_MOST_PAUSE_NS 1000000000LL
#define SMP_BATCH_CALM_NS 5000000000LL

enum {
    SMP_BATCH_PAUSE_SHARE = 4, /* of the time since the first batch */
    SMP_BATCH_RUN_SHARE = 3 /* the program runs at least so many times as long as it was stopped */
};

/*
 * When the next batch may be. A program that starts, or that is attached to, calls new methods for
 * seconds, and each batch stops all its threads and discards compiled code. So batches come ever
 * more rarely: each after a quarter of the time since the first one, so that some twenty are made
 * within ten seconds. Once no batch was needed for SMP_BATCH_CALM_NS the next one comes soon again.
 * Zeroed: no batch was made.
 */
struct smp_batch_pace {
    int64_t first_ns; /* the first batch of those that followed each other */
    int64_t ended_ns; /* the last one */
    bool has_any;
};

/* After a batch: how long to wait before the next one. */
int64_t smp_batch_pace_wait_ns(struct smp_batch_pace *pace, int64_t start_ns, int64_t end_ns);

#endif
