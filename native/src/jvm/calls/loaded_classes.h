/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_classes.h - describes classes of the JVM: each that can be changed (no arrays, no hidden
 * classes), one, or the super types of one.
 *
 * Threads  any attached one. No safepoint, no lock that others wait for.
 * Errors   each: SMP_ENOMEM, SMP_EPHASE, SMP_EVM. A class that is unloaded meanwhile is left out;
 *          so are super types that the JVM does not name, and those past
 *          SMP_SUPER_TYPES_WAITING whose own super types are to be met.
 * Cost     each: half a microsecond for each class of the JVM. Some for each super type.
 */
#ifndef SMP_JVM_CALLS_LOADED_CLASSES_H
#define SMP_JVM_CALLS_LOADED_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

#include "base/status.h"
#include "counting/class_summary.h"
#include "jvm/calls/class_loaders.h"

struct smp_loaded_class {
    jclass type;           /* a local reference, for the call */
    struct smp_slice name; /* borrowed for the call */
    uint64_t loader;       /* its number */
    bool is_lambda;        /* hidden: it has the name of a summary only */
};

/* The name in a signature `Lcom/acme/Order;`. Length 0: an array, a primitive type or a hidden
 * class, which cannot be changed. */
struct smp_slice smp_loaded_class_name(const char *signature);
/* Fills in name and is_lambda. False: it is a class that never matters. */
bool smp_loaded_class_describe(const char *signature, bool with_lambdas,
                               struct smp_loaded_class *out);

typedef void smp_on_loaded_class(void *self, const struct smp_loaded_class *loaded);

/* Without lambdas no hidden class is offered. */
SMP_CHECKED enum smp_status smp_loaded_classes_each(struct smp_class_loaders *loaders,
                                                    jvmtiEnv *jvmti, JNIEnv *env, bool with_lambdas,
                                                    smp_on_loaded_class *each, void *self);
/* The class itself, a lambda's as well. */
void smp_loaded_classes_offer(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                              jclass type, smp_on_loaded_class *each, void *self);

enum { SMP_SUPER_TYPES_WAITING = 256 };

/* False: not above this one. */
typedef bool smp_on_super_type(void *self, const struct smp_loaded_class *super);

/* Its super classes and interfaces, upwards. type is prepared. One that is reached on several ways
 * is offered on each. */
void smp_super_types_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                          jclass type, smp_on_super_type *each, void *self);

#endif
