/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_summary.h - the summary of a loaded class, made by JVMTI: its bytes are not available
 * before it is retransformed. The calls of its methods, and which of them are trivial, are not
 * known, except that all methods of a java.lang.reflect.Proxy call its handler.
 *
 * A lambda's class is hidden and is never changed. Its constants name the methods that it stands
 * for.
 *
 * Owns     the tables of the summary and its texts, except the name of the class.
 * Threads  any attached thread.
 * Errors   make: SMP_EGONE: the class is not prepared yet, or a super type has no name. SMP_ENOMEM,
 *          SMP_EPHASE, SMP_EVM. Nothing is held then.
 * Cost     some microseconds, and one for each method.
 */
#ifndef SMP_JVM_CALLS_LOADED_SUMMARY_H
#define SMP_JVM_CALLS_LOADED_SUMMARY_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "counting/class_summary.h"
#include "jvm/calls/loaded_classes.h"

/* Visible so that it can live on a stack. */
struct smp_loaded_summary {
    struct smp_class_summary summary;
    struct smp_method_summary *methods;
    struct smp_slice *interfaces;
    char **texts; /* of JVMTI */
    size_t text_count;
    struct smp_call_summary *calls; /* of a lambda */
};

/* loaded: its name is borrowed. with_methods false: its super types only. */
SMP_CHECKED enum smp_status smp_loaded_summary_make(struct smp_loaded_summary *made,
                                                    jvmtiEnv *jvmti, JNIEnv *env,
                                                    const struct smp_loaded_class *loaded,
                                                    bool with_methods);
void smp_loaded_summary_free(struct smp_loaded_summary *made, jvmtiEnv *jvmti);

#endif
