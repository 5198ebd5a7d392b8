/* SPDX-License-Identifier: Apache-2.0 */
/*
 * super_types.h - goes through the super classes and interfaces of a loaded class, upwards.
 *
 * Threads  any attached one. No safepoint.
 * Errors   no function fails. Super types that the JVM does not name, or more than
 *          SMP_SUPER_TYPES_DEPTH levels up, are left out.
 * Cost     some microseconds for each super type that is gone through.
 */
#ifndef SMP_JVM_CALLS_SUPER_TYPES_H
#define SMP_JVM_CALLS_SUPER_TYPES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

#include "jvm/calls/loaded_classes.h"

enum { SMP_SUPER_TYPES_DEPTH = 64 };

/* False: not above this one. */
typedef bool smp_on_super_type(void *self, const struct smp_loaded_class *super);

/* type is prepared. One that is reached on several ways is offered on each. */
void smp_super_types_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                          jclass type, smp_on_super_type *each, void *self);

#endif
