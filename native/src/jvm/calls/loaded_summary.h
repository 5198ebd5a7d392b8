/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_summary.h - the summary of a class that is loaded already, by JVMTI: its bytes are not at
 * hand before it is retransformed. What its methods call, and which of them are trivial, is not
 * known, but of a java.lang.reflect.Proxy: all of them call its handler.
 *
 * A lambda's class is hidden and never changed: which methods it stands for is in its constants.
 *
 * Owns     the tables of the summary and all its texts.
 * Threads  any attached one.
 * Errors   make: SMP_EGONE: the class has no summary (an array, a hidden class, not prepared yet).
 *          SMP_ENOMEM, SMP_EPHASE, SMP_EVM. Nothing is held then.
 * Cost     some microseconds, and one for each method.
 */
#ifndef SMP_JVM_CALLS_LOADED_CLASS_SUMMARY_H
#define SMP_JVM_CALLS_LOADED_CLASS_SUMMARY_H

#include <jni.h>
#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "counting/class_summary.h"

/* Visible so that it can live on a stack. */
struct smp_loaded_summary {
    struct smp_class_summary summary;
    struct smp_slice *interfaces;
    struct smp_method_summary *methods;
    struct smp_call_summary *calls; /* of a lambda */
    uint8_t *constants;             /* likewise */
    char **texts;                   /* of JVMTI */
    size_t text_count;
    size_t text_capacity;
};

/* The name in a signature `Lcom/acme/Order;`. Length 0: an array, a primitive type or a hidden
 * class, which cannot be changed. */
struct smp_slice smp_loaded_class_name(const char *signature);

/* The name in `Lcom/acme/Order$$Lambda.0x0123;`, which begins as that of the class that made the
 * lambda. Length 0: it is no lambda's class. */
struct smp_slice smp_lambda_class_name(const char *signature);

/* Of a lambda's class. */
SMP_CHECKED enum smp_status smp_loaded_summary_make_lambda(struct smp_loaded_summary *made,
                                                           jvmtiEnv *jvmti, JNIEnv *env,
                                                           jclass type, uint64_t loader);
/* with_methods false: its super types only. loader: a token of its class loader. */
SMP_CHECKED enum smp_status smp_loaded_summary_make(struct smp_loaded_summary *made,
                                                    jvmtiEnv *jvmti, JNIEnv *env, jclass type,
                                                    uint64_t loader, bool with_methods);
void smp_loaded_summary_free(struct smp_loaded_summary *made, jvmtiEnv *jvmti);

#endif
