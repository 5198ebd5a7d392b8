/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the name source: what JVMTI knows of a method id.
 *
 * An id whose class has been unloaded answers INVALID_METHODID, which is told as SMP_EGONE. The
 * first question yields the declaring class, and its reference keeps the class loaded for the rest.
 *
 * Owns     one buffer for the answer, reused from method to method.
 * Threads  resolve and release on one attached thread at a time.
 * Errors   SMP_EGONE, SMP_ENOMEM, SMP_EPHASE, SMP_EVM. A file or lines that are not known, or not
 *          to be had from this JVM, are no error.
 * Cost     some calls of JVMTI, each with a malloc of the JVM's own.
 */
#ifndef SMP_JVM_CODE_METHODS_H
#define SMP_JVM_CODE_METHODS_H

#include <stdint.h>

#include "base/status.h"
#include "model/sample.h"

enum { SMP_JVM_METHODS_KEEP_BYTES = 64 * 1024 }; /* a larger buffer is given back at once */

/* The key of a method that has no id: no id is this number. */
#define SMP_METHODS_NO_ID UINT64_MAX

struct smp_jvm_methods;

SMP_CHECKED enum smp_status smp_jvm_methods_create(struct smp_jvm_methods **out);
void smp_jvm_methods_destroy(struct smp_jvm_methods *methods);
/* Borrows methods. */
struct smp_name_source smp_jvm_methods_source(struct smp_jvm_methods *methods);

#endif
