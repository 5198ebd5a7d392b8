/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_loaders.h - a number for each class loader, as long as it lives.
 *
 * A loader is found by its identity hash and compared with weak references, so none is kept alive.
 * Numbers rise and are never used again; 0 is the boot loader's.
 *
 *   purge ─► the loader is gone: its entry leaves the table, is reported, kept on the list of
 *   deferred frees bury  ─► no thread that may have seen the entry is inside any more: its
 *   reference is deleted
 *
 * No lock is held across a call to the JVM, so a reference may be compared after its entry was
 * taken out. Callers count those that are inside of number(), and call bury with the count at 0.
 *
 * Owns     a weak global reference for each entry.
 * Threads  number: any attached one. purge, bury, close: one at a time.
 * Errors   number: SMP_CLASS_LOADERS_UNKNOWN at the limit, or where there is no memory.
 * Cost     number: the identity hash, one comparison by JNI. purge: a comparison for each loader.
 */
#ifndef SMP_JVM_CALLS_CLASS_LOADERS_H
#define SMP_JVM_CALLS_CLASS_LOADERS_H

#include <jni.h>
#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

enum { SMP_CLASS_LOADERS_LIMIT = 256 * 1024, SMP_CLASS_LOADERS_BUCKETS = 1024 };

#define SMP_CLASS_LOADERS_BOOT UINT64_C(0)
#define SMP_CLASS_LOADERS_UNKNOWN UINT64_MAX

struct smp_class_loader;

/* Visible so that it can be static. */
struct smp_class_loaders {
    struct smp_lock lock; /* guards all below */
    uint64_t last;        /* the number given last */
    uint64_t added;       /* how often a loader was added */
    size_t count;
    struct smp_class_loader *buckets[SMP_CLASS_LOADERS_BUCKETS];
    struct smp_class_loader *deferred;
};

#define SMP_CLASS_LOADERS_INIT \
    {                          \
        .lock = SMP_LOCK_INIT  \
    }

/* loader NULL: the boot loader. */
uint64_t smp_class_loaders_number(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                                  jobject loader);

/* Calls gone with the number of each loader that is no more. */
void smp_class_loaders_purge(struct smp_class_loaders *loaders, JNIEnv *env,
                             void (*gone)(void *self, uint64_t number), void *self);
/* No other thread is inside of number. */
void smp_class_loaders_free_deferred(struct smp_class_loaders *loaders, JNIEnv *env);
/* Forgets all. No other thread is inside of number. env NULL: the JVM is not live. */
void smp_class_loaders_close(struct smp_class_loaders *loaders, JNIEnv *env);

#endif
