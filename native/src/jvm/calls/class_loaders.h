/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_loaders.h - numbers the live class loaders.
 *
 * A loader is looked up by its identity hash and compared with weak references, so no loader is
 * kept alive. Numbers are never reused; the boot loader has 0.
 *
 *   purge ─► the loader was unloaded: its entry is removed from the bucket and reported
 *   free_deferred ─► no thread can still see the entry: it is freed
 *
 * There is no lock, because it would have to be held across calls to the JVM. Entries are added
 * only at the head of a bucket, and a removed entry keeps its link to the entries behind it.
 *
 * Owns     a weak global reference for each entry.
 * Threads  number: any attached thread. purge, free_deferred, close: one at a time. free_deferred
 *          and close: while no thread is inside of number.
 * Errors   number: SMP_CLASS_LOADERS_UNKNOWN at the limit, or without memory.
 * Cost     number: an identity hash and one JNI comparison. purge: a comparison for each loader.
 */
#ifndef SMP_JVM_CALLS_CLASS_LOADERS_H
#define SMP_JVM_CALLS_CLASS_LOADERS_H

#include <jni.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SMP_CLASS_LOADERS_LIMIT = 256 * 1024, SMP_CLASS_LOADERS_BUCKETS = 1024 };

#define SMP_CLASS_LOADERS_BOOT UINT64_C(0)
#define SMP_CLASS_LOADERS_UNKNOWN UINT64_MAX

struct smp_class_loader;

/* Zeroed: empty. Visible so that it can be static. */
struct smp_class_loaders {
    _Atomic uint64_t last; /* the number given last */
    _Atomic uint32_t count;
    _Atomic(struct smp_class_loader *) buckets[SMP_CLASS_LOADERS_BUCKETS];
    struct smp_class_loader *deferred; /* removed entries that are not freed yet */
};

/* A loader of NULL is the boot loader. */
uint64_t smp_class_loaders_number(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                                  jobject loader);

/* Calls gone for each loader that was unloaded. */
void smp_class_loaders_purge(struct smp_class_loaders *loaders, JNIEnv *env,
                             void (*gone)(void *self, uint64_t number), void *self);
void smp_class_loaders_free_deferred(struct smp_class_loaders *loaders, JNIEnv *env);
/* Frees all entries. env is NULL if the JVM is not live. */
void smp_class_loaders_close(struct smp_class_loaders *loaders, JNIEnv *env);

#endif
