/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_classes.h - goes through the loaded classes that can be changed: no arrays, no hidden
 * classes.
 *
 * Threads  any attached one. No safepoint, no lock that others wait for.
 * Errors   SMP_ENOMEM, SMP_EPHASE, SMP_EVM. A class that is unloaded meanwhile is left out.
 * Cost     half a microsecond for each class of the JVM.
 */
#ifndef SMP_JVM_CALLS_LOADED_CLASSES_H
#define SMP_JVM_CALLS_LOADED_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

#include "base/status.h"
#include "counting/class_outline.h"
#include "jvm/calls/class_loaders.h"

struct smp_loaded_class {
    jclass type;           /* a local reference, for the call */
    struct smp_slice name; /* borrowed for the call */
    uint64_t loader;       /* its number */
    bool is_lambda;        /* hidden: it has the name of an outline only */
};

/* Fills in name and is_lambda. False: it is a class that never matters. */
bool smp_loaded_class_describe(const char *signature, bool with_lambdas,
                               struct smp_loaded_class *out);

typedef void smp_on_loaded_class(void *self, const struct smp_loaded_class *loaded);

/* Without lambdas no hidden class is offered. */
SMP_CHECKED enum smp_status smp_loaded_classes_each(struct smp_class_loaders *loaders,
                                                    jvmtiEnv *jvmti, JNIEnv *env, bool with_lambdas,
                                                    smp_on_loaded_class *each, void *self);

#endif
