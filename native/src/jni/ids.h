/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - the JDK's classes and methods that the core calls, looked up once, when the first copy of
 * the Java classes joins it.
 *
 * The core holds only classes of the JDK, because a reference to a class of a copy would keep the
 * copy's class loader alive. callbacks.h has the methods of a session.
 *
 * Owns     global references to the classes.
 * Threads  load and unload with the core; in between any thread reads.
 * Errors   load: SMP_EVM with a pending Java exception that names what is missing.
 * Cost     none after load.
 */
#ifndef SMP_JNI_IDS_H
#define SMP_JNI_IDS_H

#include <jni.h>

#include "base/status.h"

/* X(field, class name): classes of the JDK */
#define SMP_JNI_CLASS_MAP(X)                                  \
    X(illegal_argument, "java/lang/IllegalArgumentException") \
    X(illegal_state, "java/lang/IllegalStateException")       \
    X(out_of_memory, "java/lang/OutOfMemoryError")            \
    X(unsupported, "java/lang/UnsupportedOperationException") \
    X(output_stream, "java/io/OutputStream")                  \
    X(string, "java/lang/String")                             \
    X(thread, "java/lang/Thread")

struct smp_jni_ids {
#define X(field, name) jclass field;
    SMP_JNI_CLASS_MAP(X)
#undef X
    jmethodID current_thread; /* Thread.currentThread() */
    jmethodID write_bytes;    /* OutputStream.write(byte[], int, int) */
};

SMP_CHECKED enum smp_status smp_jni_ids_load(JNIEnv *env);
void smp_jni_ids_unload(JNIEnv *env);
const struct smp_jni_ids *smp_jni_ids_get(void);

#endif
