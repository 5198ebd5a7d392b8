/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_classes.h - describes classes of the JVM: all that can be changed (no arrays, no hidden
 * classes), one class, or its super types. Also makes the summary of a class.
 *
 * The summary is made by JVMTI, because the bytes of a class are not available until it is
 * retransformed. It lacks the calls of methods and whether they are trivial. There are two
 * exceptions: all methods of a java.lang.reflect.Proxy call its handler; and the class of a
 * lambda, which is hidden and never changed, has its target in its constant pool.
 *
 * Owns     the tables of a summary and its texts, except the name of the class.
 * Threads  any attached thread. Needs no safepoint and no contended lock.
 * Errors   each: SMP_ENOMEM, SMP_EPHASE, SMP_EVM. Skips classes that are unloaded meanwhile, super
 *          types without a name, and super types beyond SMP_SUPER_TYPES_WAITING. make: SMP_EGONE:
 *          the class is not prepared, or a super type has no name. SMP_ENOMEM, SMP_EPHASE,
 *          SMP_EVM. Nothing is allocated then.
 * Cost     each: half a microsecond for each class of the JVM. A super type: some microseconds. A
 *          summary: likewise, and one microsecond for each method.
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
    jclass type;           /* a local reference, valid during the call */
    struct smp_slice name; /* valid during the call */
    uint64_t loader;       /* the loader's number */
    bool is_lambda;        /* a hidden class, whose name is only for its summary */
};

/* Returns the name in a signature `Lcom/acme/Order;`. Length 0: an array, a primitive type or a
 * hidden class. These cannot be changed. */
struct smp_slice smp_loaded_class_name(const char *signature);
/* Fills in name and is_lambda. Returns false if the class does not matter to counting. */
bool smp_loaded_class_describe(const char *signature, bool with_lambdas,
                               struct smp_loaded_class *out);

typedef void smp_on_loaded_class(void *self, const struct smp_loaded_class *loaded);

/* Calls `each` for each class that is not hidden, and with_lambdas also for lambdas. */
SMP_CHECKED enum smp_status smp_loaded_classes_each(struct smp_class_loaders *loaders,
                                                    jvmtiEnv *jvmti, JNIEnv *env, bool with_lambdas,
                                                    smp_on_loaded_class *each, void *self);
/* Calls `each` for this class, which may be a lambda. */
void smp_loaded_classes_offer(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                              jclass type, smp_on_loaded_class *each, void *self);

enum { SMP_SUPER_TYPES_WAITING = 256 };

/* If it returns false, the super types of this type are not visited. */
typedef bool smp_on_super_type(void *self, const struct smp_loaded_class *super);

/* Calls `each` for all super classes and interfaces of a prepared type, from the bottom up. Calls
 * it again for a type that is reached in several ways. */
void smp_super_types_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                          jclass type, smp_on_super_type *each, void *self);

/* Visible so that it can live on a stack. */
struct smp_loaded_summary {
    struct smp_class_summary summary;
    struct smp_method_summary *methods;
    struct smp_slice *interfaces;
    char **texts; /* allocated by JVMTI */
    size_t text_count;
    struct smp_call_summary *calls; /* only for a lambda */
};

/* Borrows loaded->name. Without methods it has only the super types. */
SMP_CHECKED enum smp_status smp_loaded_summary_make(struct smp_loaded_summary *made,
                                                    jvmtiEnv *jvmti, JNIEnv *env,
                                                    const struct smp_loaded_class *loaded,
                                                    bool with_methods);
void smp_loaded_summary_free(struct smp_loaded_summary *made, jvmtiEnv *jvmti);

#endif
