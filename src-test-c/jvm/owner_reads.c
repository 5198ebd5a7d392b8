/* SPDX-License-Identifier: Apache-2.0 */
/* The native library of OwnersProgram. It reads the holder of the lock for which a thread waits,
 * as the product does. */
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "jvm/agent/agent.h"
#include "jvm/loaded.h"
#include "jvm/locks/lock_owners.h"
#include "jvm/threads/gate.h"
#include "jvm/threads/threads.h"

enum { MAX_THREADS = 4096 };

static struct {
    struct smp_lock_owners owners;
    struct smp_lock_owner last;
    uint64_t cursor;
    uint64_t unseen;
    struct smp_thread *threads[MAX_THREADS];
    size_t count;
} reads;

static bool keep_thread(void *context, struct smp_thread *thread)
{
    (void)context;
    if (reads.count == MAX_THREADS)
        return false;
    reads.threads[reads.count++] = thread;
    return true;
}

static struct smp_thread *find_by_id(int64_t java_id)
{
    for (size_t i = 0; i < reads.count; i++) {
        if (smp_threads_java_id(reads.threads[i]) == java_id)
            return reads.threads[i];
    }
    return NULL;
}

static int64_t id_of_serial(uint64_t serial)
{
    for (size_t i = 0; i < reads.count; i++) {
        if (reads.threads[i]->serial == serial)
            return smp_threads_java_id(reads.threads[i]);
    }
    return 0;
}

/* javac writes no header for the tests. */
#define READS(name) JNICALL Java_com_incapsula_sampler_torture_OwnersProgram_##name

JNIEXPORT jboolean READS(open)(JNIEnv *env, jclass type);
JNIEXPORT jint READS(learnThreads)(JNIEnv *env, jclass type);
JNIEXPORT jlong READS(owner)(JNIEnv *env, jclass type, jlong waiter);
JNIEXPORT jstring READS(lockClass)(JNIEnv *env, jclass type);
JNIEXPORT jlong READS(nanosPerRead)(JNIEnv *env, jclass type, jlong waiter, jint times);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    (void)reserved;
    smp_jvm_loaded(java_vm);
    return SMP_AGENT_JNI_VERSION;
}

/* Returns whether owners of monitors can be read. */
JNIEXPORT jboolean READS(open)(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    if (smp_agent_open() != SMP_OK)
        return JNI_FALSE;
    smp_gate_open(&smp_gate_process);
    reads.owners = smp_jvm_lock_owners();
    return smp_jvm_lock_owners_reads_monitors() ? JNI_TRUE : JNI_FALSE;
}

/* Returns the number of known threads. */
JNIEXPORT jint READS(learnThreads)(JNIEnv *env, jclass type)
{
    const struct smp_thread_source source = smp_threads_source();

    (void)env;
    (void)type;
    (void)source.poll(source.self, &reads.cursor, &reads.unseen, keep_thread, NULL);
    return (jint)reads.count;
}

/* Returns the owner's Java id; -1 and below: -1 - the kind. */
JNIEXPORT jlong READS(owner)(JNIEnv *env, jclass type, jlong waiter)
{
    struct smp_thread *thread = find_by_id(waiter);

    (void)env;
    (void)type;
    if (thread == NULL)
        return -1 - SMP_OWNER_UNREAD;
    reads.owners.read(reads.owners.self, thread, -1, &reads.last);
    return reads.last.kind == SMP_OWNER_THREAD ? (jlong)id_of_serial(reads.last.serial)
                                               : -1 - (jlong)reads.last.kind;
}

/* Returns the lock class of the last read; "": not known. */
JNIEXPORT jstring READS(lockClass)(JNIEnv *env, jclass type)
{
    (void)type;
    return (*env)->NewStringUTF(env, reads.last.lock);
}

/* Returns the CPU time of one read. */
JNIEXPORT jlong READS(nanosPerRead)(JNIEnv *env, jclass type, jlong waiter, jint times)
{
    struct smp_thread *thread = find_by_id(waiter);
    const int64_t start_ns = smp_clock_own_cpu_ns();

    (void)env;
    (void)type;
    for (jint i = 0; thread != NULL && i < times; i++)
        reads.owners.read(reads.owners.self, thread, -1, &reads.last);
    return (smp_clock_own_cpu_ns() - start_ns) / times;
}
