/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_thread_sets.h - where the JDK keeps the virtual threads that live: sets of threads.
 *
 *   ThreadContainers$RootContainer$TrackingRootContainer.VTHREADS      started by Thread's methods
 *   ThreadContainers.CONTAINER_REGISTRY ─► SharedThreadContainer.virtualThreads      of pools
 *                                     └─► ThreadPerTaskExecutor.threads      of executors
 *
 * An executor has the threads that its factory makes. Unless that is the JDK's own factory of
 * virtual threads, platform threads may be among them.
 *
 * Threads forked in a StructuredTaskScope are not found: they are in no registry.
 *
 * Owns     references to the two sets and to classes, until fini.
 * Threads  one, attached; fini: any attached one.
 * Errors   init: SMP_EUNSUPPORTED with a reason, if this JDK keeps its threads in another way or
 *          not at all; SMP_ENOMEM.
 * Cost     visit: microseconds, and one for each executor; past SMP_VIRTUAL_SETS_VISITED executors
 *          some are drawn.
 */
#ifndef SMP_JVM_THREADS_VIRTUAL_THREAD_SETS_H
#define SMP_JVM_THREADS_VIRTUAL_THREAD_SETS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "jvm/threads/key_set.h"

enum { SMP_VIRTUAL_SETS_VISITED = 256 /* slots of the registry, at one visit */ };

struct smp_virtual_thread_sets {
    struct smp_key_set known;
    jobject root;     /* global references, as all */
    jobject registry; /* of weak references to containers */
    jclass container;
    jclass executor;
    jclass key_set;
    jclass reference;
    jclass virtual_factory; /* NULL: not known */
    jfieldID container_threads;
    jfieldID executor_threads;
    jfieldID executor_factory; /* NULL: not known */
    jmethodID get;             /* of a weak reference */
};

struct smp_virtual_thread_set {
    jobject threads; /* valid during the call */
    bool is_mixed;   /* platform threads may be among them */
    double share;    /* the probability with which this set was found */
};

typedef void smp_on_virtual_thread_set(void *context, JNIEnv *env,
                                       const struct smp_virtual_thread_set *set);

/* If it fails, *out is zeroed. *reason: for SMP_EUNSUPPORTED, static. */
SMP_CHECKED enum smp_status
smp_virtual_thread_sets_init(JNIEnv *env, struct smp_virtual_thread_sets *out, const char **reason);
/* A zeroed struct is fine. env NULL: the JVM is shutting down, which frees its references. */
void smp_virtual_thread_sets_fini(struct smp_virtual_thread_sets *sets, JNIEnv *env);

void smp_virtual_thread_sets_visit(const struct smp_virtual_thread_sets *sets, JNIEnv *env,
                                   uint64_t *random, smp_on_virtual_thread_set *on_set,
                                   void *context);

#endif
