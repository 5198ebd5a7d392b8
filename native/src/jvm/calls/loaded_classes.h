/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_classes.h - describes classes of the JVM: all classes that can be changed (no arrays, no
 * hidden classes), one class, or the super types of one; and makes the summary of a class.
 *
 * A summary is made by JVMTI, because the class's bytes are not available before it is
 * retransformed. The calls of its methods, and which of them are trivial, are not known. There are
 * two exceptions: all methods of a java.lang.reflect.Proxy call its handler, and the constants of a
 * lambda's class, which is hidden and never changed, name the methods that it stands for.
 *
 * Owns     the tables of a summary and its texts, except the name of the class.
 * Threads  any attached thread. No safepoint, no lock that others wait for.
 * Errors   each: SMP_ENOMEM, SMP_EPHASE, SMP_EVM. A class that is unloaded meanwhile is skipped. So
 *          are super types that the JVM does not name, and types past SMP_SUPER_TYPES_WAITING that
 *          wait for a visit. make: SMP_EGONE: the class is not prepared yet, or a super type has no
 *          name. SMP_ENOMEM, SMP_EPHASE, SMP_EVM. Nothing is held then.
 * Cost     each: half a microsecond for each class of the JVM. Some microseconds for each super
 *          type. A summary: likewise, and one for each method.
 */
#ifndef SMP_JVM_CALLS_LOADED_CLASSES_H
#define SMP_JVM_CALLS_LOADED_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "counting/class_summary.h"
#include "jvm/calls/class_loaders.h"

struct smp_loaded_class {
    jclass type;           /* a local reference, for the call */
    struct smp_slice name; /* borrowed for the call */
    uint64_t loader;       /* its number */
    bool is_lambda;        /* hidden: the name is good for a summary only */
};

/* The name in a signature `Lcom/acme/Order;`. Length 0: an array, a primitive type or a hidden
 * class, which cannot be changed. */
struct smp_slice smp_loaded_class_name(const char *signature);
/* Fills in name and is_lambda. Returns false if the class does not matter to counting. */
bool smp_loaded_class_describe(const char *signature, bool with_lambdas,
                               struct smp_loaded_class *out);

typedef void smp_on_loaded_class(void *self, const struct smp_loaded_class *loaded);

/* Without lambdas no hidden class is offered. */
SMP_CHECKED enum smp_status smp_loaded_classes_each(struct smp_class_loaders *loaders,
                                                    jvmtiEnv *jvmti, JNIEnv *env, bool with_lambdas,
                                                    smp_on_loaded_class *each, void *self);
/* Offers this class, also if it is a lambda's. */
void smp_loaded_classes_offer(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                              jclass type, smp_on_loaded_class *each, void *self);

enum { SMP_SUPER_TYPES_WAITING = 256 };

/* After false the super types of this one are not visited. */
typedef bool smp_on_super_type(void *self, const struct smp_loaded_class *super);

/* Offers its super classes and interfaces, upwards. type is prepared. A type that is reached on
 * several ways is offered on each of them. */
void smp_super_types_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                          jclass type, smp_on_super_type *each, void *self);

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
