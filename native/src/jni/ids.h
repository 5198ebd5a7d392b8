/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - the Java classes and methods the library calls, looked up once when it is loaded.
 *
 * Only the JDK's own classes are held. A reference to one of the library's would keep its class
 * loader from ever being collected, and with it the library loaded: the ids of NativeCallbacks'
 * methods stay valid without it, because the library is unloaded together with that class.
 *
 * Owns     global references to the classes.
 * Threads  load and unload with the library; read by all in between.
 * Errors   load: SMP_EVM with the Java exception that says what is missing pending.
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

/* X(field, Java name, signature): the methods of NativeCallbacks */
#define SMP_JNI_CALLBACKS_CLASS "com/incapsula/sampler/internal/engine/NativeCallbacks"
#define SMP_JNI_CALLBACK_MAP(X)                                    \
    X(title, "title", "(JJ)Z")                                     \
    X(record, "record", "(Ljava/lang/String;Ljava/lang/String;)Z") \
    X(flush, "flush", "()Z")                                       \
    X(message, "message", "(ILjava/lang/String;)V")                \
    X(group_names, "groupNames", "([Ljava/lang/Thread;I[Ljava/lang/String;[Z)V")

struct smp_jni_ids {
#define X(field, name) jclass field;
    SMP_JNI_CLASS_MAP(X)
#undef X
    struct {
#define X(field, name, signature) jmethodID field;
        SMP_JNI_CALLBACK_MAP(X)
#undef X
    } callback;
    jmethodID current_thread; /* Thread.currentThread() */
    jmethodID write_bytes;    /* OutputStream.write(byte[], int, int) */
};

SMP_CHECKED enum smp_status smp_jni_ids_load(JNIEnv *env);
void smp_jni_ids_unload(JNIEnv *env);
const struct smp_jni_ids *smp_jni_ids_get(void);

#endif
